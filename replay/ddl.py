"""The changes of table structure that a log holds, as a script of their own: in commit order, or what takes them back, in reverse.

Rows are no part of it: a table that was dropped comes back empty, and the script says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from replay import order
from replay.changes import RECORD, Change, unit_text
from replay.errors import InputError, Refusal, Where
from replay.logs import LogFile
from replay.scan import BATCH, sort_records
from replay.selection import Facts, Selection, decide
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
    """``text`` of the script, the number of ``changes`` it is about, and ``lost``: what it does not bring back, in words."""

    text: str
    changes: int
    lost: tuple[str, ...]


def structure_script(log: LogFile, selection: Selection, profile: Profile, names: str, undo: bool) -> StructureScript:
    """The script of the committed changes of structure that ``selection`` takes.

    Refusal LR3002 for a change whose former state is not known (``undo``), and the error of :mod:`sqlgen.structure` for one that the target cannot
    say; InputError for a record of such a change that is damaged.
    """
    records = _records(log, selection)
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
    return StructureScript("\n".join(lines) + "\n", len(records), tuple(dict.fromkeys(lost)))


def tables_before(log: LogFile, selection: Selection, tables: Mapping[str, Table]) -> dict[str, Table]:
    """The tables (by OWNER.NAME) as they are before the changes of structure that the log tells of: without those that it makes, and with the columns
    from before the first change of their columns."""
    found = dict(tables)
    first: dict[str, StructureChange] = {}
    if log.has_structure:
        for change in log.structure(_records(log, selection)):
            if change.action is not Action.NOTE:
                first.setdefault(f"{change.table.schema}.{change.table.name}", change)
    for name, change in first.items():
        if change.action is Action.CREATE_TABLE:
            found.pop(name, None)
        elif name in found and change.action is Action.ADD_COLUMNS:
            added = {column.name for column in change.columns}
            found[name] = replace(change.table, columns=tuple(column for column in change.table.columns if column.name not in added))
        elif name in found and change.action is Action.DROP_COLUMNS:
            found[name] = replace(change.table, columns=change.table.columns + change.columns)
    return found


def _records(log: LogFile, selection: Selection) -> npt.NDArray[np.void]:
    """The records of committed changes of structure (dtype :data:`replay.changes.RECORD`), in commit order."""
    taken = np.array([selection.takes_table(version.name) for version in log.catalog.versions], bool)
    found = [np.zeros(0, RECORD)]
    for split, _, _ in log.splits(_SPLIT):
        for first, offsets, lengths in log.records(split, BATCH):
            envelope = log.envelope(split.file, offsets, lengths)
            change, version = log.classify(envelope)
            ours = change == Change.STRUCTURE
            if not ours.any():
                continue
            for row in np.flatnonzero(ours & log.check(envelope, lengths, change, version)):
                finding = log.header_finding(split.file, first + int(row), int(offsets[row]), int(lengths[row]))
                raise InputError(finding.code, f"found {finding.found}; expected {finding.expected}", finding.where, finding.hint)
            verdict = decide(selection, envelope, Facts(change, version, taken, log.dependent_position, True))
            kept = np.flatnonzero(ours & (verdict == 0))
            found.append(sort_records(split.file, first, offsets, lengths, envelope, change, version, kept))
    records = np.concatenate(found)
    return records[order.commit_order(records)]


def _comment(log: LogFile, unit: npt.NDArray[np.void]) -> str:
    first = unit[:1]
    envelope = log.envelope_of(first["file"], first["offset"].astype(np.int64), first["length"].astype(np.int32))
    return str(unit_comments(log.unit_fields(envelope))[0].as_py())


def _pairs(log: LogFile, unit: npt.NDArray[np.void], undo: bool) -> Iterator[tuple[np.void, StructureChange]]:
    pairs = list(zip(unit, log.structure(unit), strict=True))
    yield from reversed(pairs) if undo else pairs


def _said(log: LogFile, record: np.void, change: StructureChange, profile: Profile, names: str, undo: bool, lost: list[str]) -> list[str]:
    """The statements of a change, or of what takes it back."""
    name = f"{change.table.schema}.{change.table.name}"
    where = Where(
        log.files[int(record["file"])].name,
        int(record["number"]),
        int(record["offset"]),
        table=name,
        unit=unit_text(record["unit"].tobytes()),
    )
    wanted = change.inverse(values=False) if undo else change
    if wanted is None:
        found = f"found {change.action.value}{f' ({change.note})' if change.note else ''}; expected a former state that the log holds"
        raise Refusal("LR3002", found, where, "Undo only what came after it (--from-lrsn), or leave the table out (--exclude-table)")
    lines = []
    if undo and not change.reversible:
        what = change.note or _LOST.get(change.action, "the values it took along")
        lines.append(f"-- not brought back: {what}")
        lost.append(f"{name}: {what}")
    try:
        return lines + structure.statements(wanted, profile, names)
    except SqlgenError as error:
        raise Refusal(error.code, error.message, where, error.hint) from error


_LOST = {Action.DROP_TABLE: "the rows of the table", Action.DROP_COLUMNS: "the values of the columns"}
