"""Changes of whole tables -> statements: a table that is emptied, made, altered or dropped. In a
script with the changes of rows, or as a script of their own: in commit order, or what takes them
back, in reverse. Rows are no part of that one: a table that was dropped comes back empty, and the
script says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from replay.arrays import Bytes, Mask, Records, Versions
from replay.changes import order
from replay.changes.catalog import EndedTable, TableVersion, ended_tables
from replay.changes.envelope import RECORD, Change, as_bytes, bounds_of, compare
from replay.changes.position import HIGHEST, LOWEST, POSITION, Position, unit_of
from replay.changes.selection import (
    AFTER_RANGE,
    BEFORE_RANGE,
    REASON,
    TAKEN_BEFORE,
    Selection,
    balance_of,
)
from replay.errors import Finding, InputError, Refusal, Where
from replay.logs import LogFile
from replay.pipeline.extent import nothing_left
from replay.pipeline.plan import Plan
from replay.pipeline.scan import judged_headers, sort_records
from sqlgen import structure
from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.schema import Table
from sqlgen.script import script_prologue, unit_comments
from sqlgen.statements import delete_all_statement, truncate_statement
from sqlgen.structure import Action, StructureChange


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
    without those that it makes, or gives their name, and with the columns from before the first
    change of their columns."""
    before, seen = dict(tables), set[str]()
    for change in log.structure(_records(log, selection)) if log.has_structure else ():
        if not _is_forming(change):
            continue
        old, new = _before(change), change.table
        if old is not None and _name(old) not in seen and _name(old) in before:
            before[_name(old)] = old
        if (old is None or _name(old) != _name(new)) and _name(new) not in seen:
            before.pop(_name(new), None)
        seen |= {_name(table) for table in (old, new) if table is not None}
    return before


@dataclass(frozen=True)
class ColumnMove:
    """A change of structure, in the unit that commits at ``commit`` (hexadecimal), after which a
    name is no longer that of the same values: ``again`` are columns of ``table`` (OWNER.NAME) that
    have the name of one that went before. ``former``: what the table was called before."""

    table: str
    former: str
    commit: str
    again: frozenset[str]


def column_moves(log: LogFile, selection: Selection) -> Iterator[ColumnMove]:
    """Those of the tables of a log, in commit order, under the name that a table has then."""
    gone: dict[str, frozenset[str]] = {}
    if not log.has_structure:
        return
    for record, change in _pairs(log, _records(log, selection), False):
        if not _is_forming(change):
            continue
        old, new = _before(change), change.table
        commit = record["commit"].tobytes()[:10].hex().upper()
        if old is None or change.does is Action.DROP_TABLE:
            gone[_name(new)] = frozenset()
            if change.does is Action.RENAME_TABLE:
                yield ColumnMove(_name(new), "a table", commit, frozenset())
            continue
        had, has = (frozenset(column.name for column in table.columns) for table in (old, new))
        lost = gone.get(_name(old), frozenset())
        gone[_name(new)] = (lost | had) - has
        again = (has - had) & lost
        if again or _name(old) != _name(new):
            yield ColumnMove(_name(new), _name(old), commit, again)


def added_defaults(log: LogFile, selection: Selection) -> dict[str, dict[str, str | None]]:
    """By table (OWNER.NAME): what rows got in columns that were added when they were there, as
    constants of SQL; None where that is not known."""
    found: dict[str, dict[str, str | None]] = {}
    for change in log.structure(_records(log, selection)) if log.has_structure else ():
        old = _before(change) if _is_forming(change) else None
        if old is not None and change.does is not Action.DROP_TABLE:
            had = {column.name for column in old.columns}
            more = [column.name for column in change.table.columns if column.name not in had]
            values = change.defaults or ("NULL",) * len(more)
            found.setdefault(_name(change.table), {}).update(zip(more, values, strict=False))
    return found


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
_FORMING = (
    Action.CREATE_TABLE,
    Action.RENAME_TABLE,
    Action.ADD_COLUMNS,
    Action.DROP_COLUMNS,
    Action.DROP_TABLE,
)


def tables_within(log: LogFile, versions: Sequence[TableVersion], first: bool) -> dict[str, Table]:
    """The tables of ``versions`` (by OWNER.NAME) in the form that was committed first, or last;
    tables and forms that were there only in work that was taken back are none."""
    if not log.has_structure:
        ordered = reversed(versions) if first else versions
        return {version.name: version.table for version in ordered}
    everything = Selection()
    lasting = [c for c in log.structure(_records(log, everything)) if _is_forming(c)]
    in_vain = log.structure(_records(log, everything, committed=False))
    gone = _made_by(change for change in in_vain if _is_forming(change))
    gone -= {_form(change.table) for change in lasting}
    lasts = [version for version in versions if _form(version.table) not in gone]
    tables = {version.name: version.table for version in (reversed(lasts) if first else lasts)}
    for change in reversed(lasting) if first else lasting:
        sides = [_before(change), change.table]
        for table in sides[::-1] if first else sides:
            if table is not None and _name(table) in tables:
                tables[_name(table)] = table
    return tables


def _made_by(changes: Iterable[StructureChange]) -> set[tuple[str, ...]]:
    """The forms of tables that some changes make, and that were not there before them."""
    made, there = set(), set()
    for change in changes:
        former = _before(change)
        if former is not None and _form(former) not in made:
            there.add(_form(former))
        if change.does is not Action.DROP_TABLE:
            made.add(_form(change.table))
    return made - there


def _is_forming(change: StructureChange) -> bool:
    return change.does in _FORMING or change.former is not None


def _name(table: Table) -> str:
    return f"{table.schema}.{table.name}"


def _form(table: Table) -> tuple[str, ...]:
    return (table.schema, table.name, *(column.name for column in table.columns))


def _before(change: StructureChange) -> Table | None:
    """The table before a change that forms it; None where that made it, or its former name is not
    known."""
    if change.former is not None or change.does in (Action.CREATE_TABLE, Action.RENAME_TABLE):
        return change.former
    columns = change.table.columns
    if change.does is Action.ADD_COLUMNS:
        added = {column.name for column in change.columns}
        columns = tuple(column for column in columns if column.name not in added)
    elif change.does is Action.DROP_COLUMNS:
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
    for some, change, version, verdict in judged_headers(log, None, selection, taken):
        split, first, offsets, lengths, envelope = some
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


def event_statement(plan: Plan, profile: Profile, kind: Change, table: Table) -> str:
    """What empties ``table``, '' for an exchange, which scripts do not repeat."""
    if kind == Change.EXCHANGE:
        return ""
    options = plan.options
    make = truncate_statement if kind == Change.TRUNCATE else delete_all_statement
    return make(table, profile, options.names)


def structure_statements(
    plan: Plan, profile: Profile, change: StructureChange, where: Where
) -> str | Finding:
    """What happened to the structure of the table that ``where`` names, or (undo) its inverse, a
    line for each statement; a finding where the former state is not known, where the target cannot
    say it, in scripts that may be applied again, and under a mapping.
    """
    wanted = change.inverse() if plan.mode == "undo" else change
    found = f"a committed {change.action.value}{f' ({change.note})' if change.note else ''}"
    if change.action is not Action.NOTE:
        hint = (
            "Write the part of the log with it alone (--from-position, --until-position), without"
            " {}, or leave the table out (--exclude-table)"
        )
        if plan.options.render.upsert:
            expected = (
                "changes of rows only: an upsert script may be applied again, and a table is made"
                " or altered once"
            )
            return Finding("LR3003", where, found, expected, hint.format("--upsert"))
        if plan.options.mapping is not None:
            expected = (
                "changes of rows only: a mapping says what a table becomes, not what its changes do"
            )
            return Finding("LR3003", where, found, expected, hint.format("--mapping"))
    if wanted is None:
        hint = (
            "Undo only what came after it (--from-position), or leave the table out"
            " (--exclude-table) and restore it from a backup"
        )
        return Finding("LR3002", where, found, "a former state that the log holds", hint)
    try:
        statements = structure.statements(wanted, profile, plan.options.names)
    except SqlgenError as error:
        found, _, expected = error.message.removeprefix("found ").partition("; expected ")
        expected = expected or f"what {profile.name} can say"
        return Finding(error.code, where, found, expected, error.hint)
    if not statements:
        return f"-- {where.table}: nothing to do ({change.action.value})"
    return "\n".join(statements)


# -- tables that only the catalog of a log knows to be dropped
# -------------------------------------------------------------------------------------------------


class CatalogDrop:
    """A ``table`` that was dropped, of which a log has no record: its rows are there up to the
    commit position ``there``, and are gone from ``gone`` on, behind the unit that commits there
    where ``by_unit`` (which changed them and dropped it); ``amid`` the log. ``over``: a selection
    goes over that to changes of the table that has the name then; ``before``: it has changes of
    this one. Without data sharing the catalog has RBAs, also where units commit at LRSNs: then it
    went between two of them."""

    def __init__(self, table: EndedTable) -> None:
        self.table = table
        self.there, self.gone = Position(LOWEST), Position(HIGHEST)
        self.by_unit = self.amid = self.over = self.before = False
        self._latest, self._again = LOWEST, HIGHEST

    def look(self, commit: Bytes, point: Bytes, version: Versions, done: Mask, taken: Mask) -> None:
        """At some records: where their units commit, and the RBAs of that."""
        own, later = (done & np.isin(version, some) for some in self.table[2:])
        early = compare(point, self.table.at) < 0
        self.there = Position(max(self.there, _last(commit[done & early])))
        self.gone = Position(min(self.gone, _first(commit[done & ~early])))
        self._latest = Position(max(self._latest, _last(commit[own])))
        self._again = Position(min(self._again, _first(commit[later & taken])))
        self.before |= bool((own & taken).any())

    def settle(self, first: bytes, last: bytes, begin: bytes, goes_on: bytes) -> None:
        """All records were looked at; where the log begins and ends, and a selection does
        (``begin``), and what was taken before it (``goes_on``)."""
        at = Position(self.table.at)
        if any(at[1:4]) == any(last[1:4]):
            self.there, self.gone = at.below, at
            begin = min(begin, goes_on)
        self.by_unit = self._latest >= self.gone
        if self.by_unit:
            self.there = self.gone = self._latest
        self.amid = (first < self.gone or self.by_unit) and self.gone <= last
        self.over = self._again != HIGHEST and (self.before or begin < self.gone)


def catalog_drops(log: LogFile, plan: Plan | None = None) -> list[CatalogDrop]:
    """What the catalog of a log has of tables that are dropped; ``plan``: whose selection is asked
    about, of tables that are made again. Reads all headers, where there is such a table."""
    ended = [one for one in ended_tables(log.catalog.versions) if plan is None or one.later]
    seen = [CatalogDrop(one) for one in ended]
    first: bytes = HIGHEST
    last, begin = bytes(LOWEST), first
    chosen = Selection() if plan is None else plan.selection
    taken = log.catalog.taken_by(chosen.takes_tables)
    splits = None if plan is None else plan.splits
    for some, _, version, verdict in judged_headers(log, splits, chosen, taken) if ended else ():
        done = some.committed()
        if plan is not None:
            verdict = plan.without_taken(verdict, some.envelope)
        commit = some.envelope.commit()
        keys = as_bytes(log.commit_keys(some.envelope))
        point = keys[:, POSITION.itemsize : 2 * POSITION.itemsize]
        within = done & ~np.isin(verdict, _OUTSIDE)
        first, last = min(first, _first(commit[done])), max(last, _last(commit[done]))
        begin = min(begin, _first(commit[within]))
        for one in seen:
            one.look(commit, point, version, done, verdict == 0)
    goes_on = None if plan is None or plan.continued is None else plan.continued.position
    starts = begin, HIGHEST if goes_on is None else goes_on.commit
    for one in seen:
        one.settle(first, last, *starts if chosen.whole_tables else (HIGHEST, HIGHEST))
    return seen


#: Why records lie beyond the range of a run.
_OUTSIDE = tuple(REASON[name] for name in (BEFORE_RANGE, AFTER_RANGE, TAKEN_BEFORE))


def _first(commit: Bytes) -> bytes:
    return bounds_of(commit)[0] if len(commit) else HIGHEST


def _last(commit: Bytes) -> bytes:
    return bounds_of(commit)[1] if len(commit) else LOWEST
