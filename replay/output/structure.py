"""The changes of table structure that a log holds, as a script of their own: in commit order, or
what takes them back, in reverse.

Rows are no part of it: a table that was dropped comes back empty, and the script says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from replay.arrays import Records
from replay.changes import order
from replay.changes.catalog import TableVersion
from replay.changes.envelope import RECORD, Change
from replay.changes.position import unit_of
from replay.changes.selection import REASON, RecordFacts, Selection, balance_of, decide
from replay.errors import InputError, Refusal, Where
from replay.logs import LogFile
from replay.pipeline.extent import nothing_left
from replay.pipeline.scan import BATCH, sort_records
from sqlgen import structure
from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.schema import Table
from sqlgen.script import script_prologue, unit_comments
from sqlgen.structure import Action, StructureChange

#: Bytes of a log that are read at a time.
_SPLIT = 64 << 20


@dataclass(frozen=True)
class StructureScript:
    """``text`` of the script, the number of ``changes`` it is about, ``lost``: what it does not
    bring back, in words, and ``warnings``: why a selection leaves nothing."""

    text: str
    changes: int
    lost: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def structure_script(
    log: LogFile, selection: Selection, profile: Profile, names: str, undo: bool
) -> StructureScript:
    """The script of the committed changes of structure that ``selection`` takes.

    Refusal LR3002 for a change whose former state is not known (``undo``), and the error of
    :mod:`sqlgen.structure` for one that the target cannot say; InputError for a record of such a
    change that is damaged.
    """
    skipped: Counter[str] = Counter()
    records = _records(log, selection, skipped)
    starts = order.run_starts(np.ascontiguousarray(records["unit"]))
    units = [records[start:end] for start, end in pairwise([*starts, len(records)])]
    lines = [script_prologue(profile, "undo" if undo else "redo").rstrip("\n")]
    lost: list[str] = []
    for unit in reversed(units) if undo else units:
        lines.append(_comment(log, unit))
        lines += [profile.begin] if profile.begin else []
        for record, change in _pairs(log, unit, undo):
            lines += _said(log, record, change, profile, names, undo, lost)
        lines += [profile.commit] if profile.commit else []
    warnings = () if len(records) else tuple(nothing_left(log, selection, skipped))
    text = "\n".join(lines) + "\n"
    return StructureScript(text, len(records), tuple(dict.fromkeys(lost)), warnings)


def tables_before(
    log: LogFile, selection: Selection, tables: Mapping[str, Table]
) -> dict[str, Table]:
    """The tables (by OWNER.NAME) as they are before the changes of structure that the log tells of:
    without those that it makes, and with the columns from before the first change of their
    columns."""
    before = dict(tables)
    first: dict[str, StructureChange] = {}
    if log.has_structure:
        for change in log.structure(_records(log, selection)):
            if change.action is not Action.NOTE:
                first.setdefault(f"{change.table.schema}.{change.table.name}", change)
    for name, change in first.items():
        if change.action is Action.CREATE_TABLE:
            before.pop(name, None)
        elif name in before and change.action in (Action.ADD_COLUMNS, Action.DROP_COLUMNS):
            before[name] = _before(change)
    return before


#: Why a change of structure was not committed.
_NOT_COMMITTED = tuple(
    REASON[reason]
    for reason in (
        "unit of recovery aborted",
        "record aborted (LOGRECDISP A)",
        "rolled back to savepoint (LOGRECDISP S)",
        "reversed by Db2 (LOGRECDISP O)",
        "unit of recovery in flight at the end of the log",
        "unit of recovery in doubt (prepared)",
    )
)
#: What gives a table other columns, or is the first or last of it.
_FORMING = (Action.CREATE_TABLE, Action.ADD_COLUMNS, Action.DROP_COLUMNS, Action.DROP_TABLE)


def tables_within(log: LogFile, versions: Sequence[TableVersion], first: bool) -> dict[str, Table]:
    """The tables of ``versions`` (by OWNER.NAME) in the form that was committed first, or last;
    tables and forms that were there only in work that was taken back are none."""
    if not log.has_structure:
        ordered = reversed(versions) if first else versions
        return {version.name: version.table for version in ordered}
    everything = Selection()
    lasting = list(log.structure(_records(log, everything)))
    in_vain = list(log.structure(_records(log, everything, committed=False)))
    gone = {_form(change.table) for change in in_vain if change.action in _FORMING[:3]}
    gone -= {_form(change.table) for change in lasting}
    lasts = [version for version in versions if _form(version.table) not in gone]
    tables = {version.name: version.table for version in (reversed(lasts) if first else lasts)}
    for change in reversed(lasting) if first else lasting:
        name = f"{change.table.schema}.{change.table.name}"
        if name in tables and change.action in _FORMING:
            tables[name] = _before(change) if first else change.table
    return tables


def _form(table: Table) -> tuple[str, ...]:
    return (table.schema, table.name, *(column.name for column in table.columns))


def _before(change: StructureChange) -> Table:
    """The table before a change of its columns."""
    columns = change.table.columns
    if change.action is Action.ADD_COLUMNS:
        added = {column.name for column in change.columns}
        columns = tuple(column for column in columns if column.name not in added)
    elif change.action is Action.DROP_COLUMNS:
        columns += change.columns
    return replace(change.table, columns=columns)


def _records(
    log: LogFile,
    selection: Selection,
    skipped: Counter[str] | None = None,
    committed: bool = True,
) -> Records:
    """The records of committed changes of structure (dtype :data:`replay.changes.envelope.RECORD`),
    in commit order, or of those that were not; ``skipped`` counts why others are left out."""
    taken = log.catalog.taken_by(selection.takes_tables)
    parts = [np.zeros(0, RECORD)]
    for split, _, _ in log.splits(_SPLIT):
        for first, offsets, lengths in log.records(split, BATCH):
            envelope = log.envelope(split.file, offsets, lengths)
            change, version = log.classify(envelope)
            ours = change == Change.STRUCTURE
            if not ours.any():
                continue
            for row in np.flatnonzero(ours & log.check(envelope, lengths, change, version)):
                finding = log.header_finding(
                    split.file, first + int(row), int(offsets[row]), int(lengths[row])
                )
                raise InputError(
                    finding.code,
                    f"found {finding.found}; expected {finding.expected}",
                    finding.where,
                    finding.hint,
                )
            verdict = decide(
                selection,
                envelope,
                RecordFacts(change, version, taken, log.dependent_position, True),
            )
            if skipped is not None:
                skipped.update(balance_of(verdict[ours]))
            kept = np.flatnonzero(ours & np.isin(verdict, (0,) if committed else _NOT_COMMITTED))
            parts.append(
                sort_records(split.file, first, offsets, lengths, envelope, change, version, kept)
            )
    records = np.concatenate(parts)
    return records[order.commit_order(records)]


def _comment(log: LogFile, unit: Records) -> str:
    first = unit[:1]
    envelope = log.envelope(
        first["file"], first["offset"].astype(np.int64), first["length"].astype(np.int32)
    )
    return str(unit_comments(log.unit_fields(envelope))[0].as_py())


def _pairs(log: LogFile, unit: Records, undo: bool) -> Iterator[tuple[np.void, StructureChange]]:
    pairs = list(zip(unit, log.structure(unit), strict=True))
    yield from reversed(pairs) if undo else pairs


def _said(
    log: LogFile,
    record: np.void,
    change: StructureChange,
    profile: Profile,
    names: str,
    undo: bool,
    lost: list[str],
) -> list[str]:
    """The statements of a change, or of what takes it back."""
    name = f"{change.table.schema}.{change.table.name}"
    where = Where(
        log.files[int(record["file"])].name,
        int(record["number"]),
        int(record["offset"]),
        table=name,
        unit=str(unit_of(record)),
    )
    wanted = change.inverse(values=False) if undo else change
    if wanted is None:
        found = (
            f"found {change.action.value}{f' ({change.note})' if change.note else ''}; expected a"
            " former state that the log holds"
        )
        raise Refusal(
            "LR3002",
            found,
            where,
            "Undo only what came after it (--from-position), or leave the table out"
            " (--exclude-table)",
        )
    lines = []
    if undo and not change.reversible:
        what = change.note or _LOST.get(change.action, "the values it took along")
        lines.append(f"-- not brought back: {what}")
        lost.append(f"{name}: {what}")
    try:
        return lines + structure.statements(wanted, profile, names)
    except SqlgenError as error:
        raise Refusal(error.code, error.message, where, error.hint) from error


_LOST = {
    Action.DROP_TABLE: "the rows of the table",
    Action.DROP_COLUMNS: "the values of the columns",
}
