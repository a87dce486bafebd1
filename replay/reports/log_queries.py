"""From a question about an open log to the arguments of this folder's pure functions: requests, the
tables behind their generations, and the changes of their rows."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from replay.changes.catalog import names_apart, shown_name
from replay.changes.choices import Derived
from replay.changes.options import Export, ScriptOptions
from replay.changes.position import Position
from replay.changes.selection import Selection, limits
from replay.dependencies.baseline import StateBefore
from replay.dependencies.key_spaces import KeySpaces
from replay.engine.contract import Engine
from replay.errors import UsageError, counted
from replay.live.position_store import Store
from replay.logs import LogFile
from replay.output.bundle import selection_warnings
from replay.output.formats import ROW_BATCHES, Dataset, export_request
from replay.output.row_changes import RowChanges, fate_text, row_changes
from replay.pipeline.mapped_catalog import MappingFile, mapped_log, table_map
from replay.pipeline.points import Point, read_point
from replay.pipeline.request import Demand, KeySource, OpenLog, Request
from replay.redaction import command
from replay.reports.history import (
    DatasetChanges,
    RowHistory,
    Version,
    dataset_changes,
    hidden_notes,
    lives,
    reached_keys,
    version_of,
)
from replay.reports.images import key_text, literal
from replay.reports.undo_commands import after_history
from replay.targets import target_of
from sqlgen.choices import Names
from sqlgen.names import alike
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Column, Table

#: Records of a bucket, and so of the rows that are looked at together.
_RECORDS_TOGETHER = 100_000


@dataclass(frozen=True)
class Asked:
    """An open log, and how it is asked: ``engine`` carries out passes in ``folder()``s that last as
    long as the log, ``keys`` knows of keys that the log does not, ``words`` name the log on the
    command line (for commands that are proposed), ``chosen`` what is asked for (a field of a
    selection, and its option as it was typed), ``marks`` is its file of marks (None: the one
    beside it), ``mapping`` says what the answers call tables and columns, and masks values."""

    opened: OpenLog
    engine: Engine
    folder: Callable[[], Path]
    split_bytes: int
    keys: KeySource = None
    words: tuple[str, ...] = ()
    marks: str | None = None
    chosen: tuple[tuple[str, tuple[str, ...]], ...] = ()
    mapping: MappingFile | None = None

    @property
    def log(self) -> LogFile:
        """The log."""
        return self.opened.log

    @cached_property
    def shown(self) -> LogFile:
        """The log with the tables that the answers show. UsageError (LR1011) for the mapping."""
        if self.mapping is None:
            return self.log
        exact = ScriptOptions("duckdb", Names.EXACT)
        return mapped_log(self.log, table_map(self.mapping, self.log, exact, False, False))

    def command(self, name: str, *words: str) -> str:
        """A command of ours about this log, as it is typed."""
        return command(name, *self.words, *words)


def point_of(asked: Asked, text: str, url: str | None = None) -> Point:
    """A point of the log as people name it (:func:`replay.pipeline.points.read_point`), the marks
    of the database ``url`` among them."""

    def kept() -> Mapping[str, Position] | None:
        if url is None:
            return None
        with closing(target_of(url).connect(url)) as session:
            return Store(session).marks()

    return read_point(asked.log, text, asked.marks, asked.engine, asked.split_bytes, kept)


def knows_undone(opened: OpenLog) -> bool:
    """Whether a log has the changes of units that were not committed."""
    return "rolled-back work" not in opened.family.capabilities.unknown


class Tables:
    """The tables of a log behind their names and generations: what they are called, and which
    columns tell their rows apart."""

    def __init__(self, request: Request) -> None:
        catalog = request.log.catalog
        apart = names_apart(version.name for version in catalog.versions)
        self.spaces = KeySpaces(catalog, request.constraints)
        self.request = request
        self.identities: dict[str, str] = {}
        self._shown: dict[Table, tuple[str, list[Column]]] = {}
        for version in catalog.versions:
            space = self.spaces.spaces[self.spaces.table_space[version.index]]
            self.identities[apart[version.name]] = space.table
            names = self.spaces.row_space(version.index).columns
            key = [version.table.column(name) for name in names]
            self._shown[version.table] = space.table, key

    def identity(self, name: str) -> str:
        """The one name of a table, whatever it was called at the time."""
        return self.identities.get(name) or self.identities.get(name.upper(), name.upper())

    def identity_of(self, dataset: Dataset) -> str:
        """The same of the table of a dataset, which a mapping may call otherwise."""
        known = self._shown.get(dataset.table)
        return self.identity(shown_name(dataset.table)) if known is None else known[0]

    def key(self, dataset: Dataset) -> Sequence[Column]:
        """The columns that tell rows apart; none where only their content does."""
        known = self._shown.get(dataset.table)
        return [] if known is None else known[1]

    def key_texts(self, index: int, keys: Sequence[str]) -> set[str] | None:
        """The texts of keys, in the log's words, of a table version; None where it has no key."""
        version = self.request.log.catalog.versions[index]
        names = [version.source_name(name) for name in self.spaces.row_space(index).columns]
        columns = [version.source.column(name) for name in names]
        mapping = self.request.options.mapping
        mask = None if mapping is None else partial(mapping.mask, version.source)
        return {key_text(key, columns, mask) for key in keys} if names else None

    def same(self, selection: Selection) -> tuple[str, ...]:
        """Globs of all names that the tables of a selection have in the log."""
        names = list(self.identities)
        mask = selection.takes_tables(names).tolist()
        taken = {self.identity(name) for name, wanted in zip(names, mask, strict=True) if wanted}
        return tuple(
            glob.escape(name) for name, identity in self.identities.items() if identity in taken
        )


def spelling_of(log: LogFile) -> Names:
    """How names are spelled: upper and lower case count only where they tell tables apart."""
    return Names.EXACT if alike(one.name for one in log.catalog.versions) else Names.LOWER


def row_request(asked: Asked, selection: Selection, unchanged: bool = False) -> Request:
    """A request for the changes of rows (:func:`replay.output.row_changes.row_changes`), also for
    updates of rows that stay as they are (``unchanged``). Large objects are not in logs, so their
    columns are left out. UsageError as :func:`replay.pipeline.request.make_request`."""
    large = tuple(
        glob.escape(f"{version.name}.{column.column.name}")
        for version in asked.log.catalog.versions
        for column in version.format.columns
        if column.lob
    )
    excluded = (*selection.exclude_columns, *large)
    wanted = replace(selection, exclude_columns=excluded)
    spelling = spelling_of(asked.log)
    options = ScriptOptions(
        "duckdb",
        spelling,
        records_per_file=_RECORDS_TOGETHER,
        render=RenderOptions(spelling, columns=wanted.columns, exclude_columns=excluded),
    )
    export = Export(ROW_BATCHES, unchanged=unchanged)
    demand = Demand(options=options, mapping=asked.mapping, export=export)
    try:
        return export_request(asked.opened, wanted, demand, asked.keys)
    except UsageError as error:
        if error.code != "LR3005":
            raise
        hint = "Upper and lower case do not count here. Leave the table out: --exclude-table"
        raise UsageError(error.code, error.message, error.where, hint) from error


def rows_of(
    asked: Asked, request: Request, with_quarantined: bool = True, state: StateBefore | None = None
) -> RowChanges:
    """The changes of a request; ``state``: what proves flagged units."""
    log, engine = request.log, asked.engine
    plan = request.plan(asked.split_bytes, engine)
    changes = row_changes(plan, log, engine, asked.folder(), with_quarantined, state)
    told = selection_warnings(changes.plan, log, changes.tally, engine)
    return replace(changes, warnings=(*request.warnings, *told))


def left_out_columns(request: Request) -> list[str]:
    """A note on each table with large objects."""
    notes = []
    for version in {version.name: version for version in request.versions}.values():
        large = [column.column.name for column in version.format.columns if column.lob]
        if large:
            notes.append(f"{version.name}: not in the log, and so not here: {', '.join(large)}")
    return notes


def without_effect(changes: RowChanges) -> list[str]:
    """A note on updates that change nothing, which are no rows here and count in other reports."""
    count = changes.tally.skipped["update changes nothing"]
    return [f"not here: {counted(count, 'update')} that changed nothing"] if count else []


def quarantine_warnings(changes: RowChanges) -> list[str]:
    """What a user must know of quarantined units."""
    warnings = list(changes.warnings)
    for unit in sorted(changes.damaged)[:20]:
        warnings.append(
            f"unit {unit} cannot be read, so it is not here: {changes.quarantined[unit]}"
        )
    waiting = sorted(changes.quarantined.keys() - changes.damaged)
    if waiting:
        named = ", ".join(map(str, waiting[:5])) + (" …" if len(waiting) > 5 else "")
        warnings.append(
            f"{counted(len(waiting), 'incomplete unit')}, or dependent on such: {named}"
        )
    if len(changes.damaged) > 20:
        warnings.append(f"{len(changes.damaged) - 20} more units cannot be read")
    return warnings


def row_versions(changes: RowChanges, tables: Tables, log: LogFile) -> Iterator[Version]:
    """Each change as a version that is of no row, a bucket and dataset at a time."""
    for dataset, rows in changes.tables():
        key = tables.key(dataset)
        for change in rows.to_pylist():
            yield version_of({**change, "dataset": dataset, "row": 0}, key, log)


# -- history
# -------------------------------------------------------------------------------------------------


def history_of(
    asked: Asked, selection: Selection, keys: Sequence[str] = (), rolled_back: bool = False
) -> RowHistory:
    """The life of the rows of the selected tables that have one of ``keys`` or satisfy the
    selection's ``where``; with neither, what the selected units did to their rows. Other parts of
    the selection say which of their versions are shown.

    UsageError (LR1001) where neither rows nor changes are named, or a key does not fit; LR1004 for
    tables that are not in the log.
    """
    tables = Tables(row_request(asked, replace(selection, where=None)))
    if keys and not selection.tables:
        raise UsageError(
            "LR1001",
            "found --key without --table; expected the table that the key is of",
            hint=f"The log has: {', '.join(sorted(tables.identities)[:20])}",
        )
    same, of_rows = tables.same(selection), bool(keys) or selection.where is not None
    if not of_rows:
        _refuse_all(selection)
    if not of_rows or not same:
        return _of_changes(asked, selection, rolled_back)
    base = Selection(
        tables=same,
        include_aborted=knows_undone(asked.opened),
        incomplete=selection.incomplete,
    )
    matched: set[tuple[str, int]] = set()
    start: dict[str, set[str]] = {}
    if keys:
        start = _start_keys(asked, selection, tables, keys)
    if selection.where is not None:
        _match(
            asked,
            replace(base, tables=selection.tables, where=selection.where),
            tables,
            start if not keys else None,
            matched,
        )
    spots = _shown_places(asked, base, selection, tables)
    request = row_request(asked, base)
    changes = rows_of(asked, request)
    parts = _collected(changes, tables, start)
    wanted = _wanted(start, matched, bool(keys), selection.where is not None)
    lived = lives(parts, wanted)
    if spots is not None:
        lived = [change for change in lived if _spot(change) in spots]
    versions, hidden = _shown(lived, tables, rolled_back, asked.log)
    of = _of_what(selection, keys)
    total = changes.tally.statements
    changes.close()
    reason = "" if versions else _why_none(of, hidden, total, bool(lived))
    return RowHistory(
        of,
        tuple(versions),
        (*hidden_notes(hidden), *left_out_columns(request)),
        tuple(quarantine_warnings(changes)),
        reason,
        tuple(_commands(asked, versions)),
        bool(changes.damaged),
    )


def _shown_places(
    asked: Asked, base: Selection, selection: Selection, tables: Tables
) -> set[tuple[str, int]] | None:
    """The places of the changes that a selection takes beside its tables and rows; None: all."""
    wanted = replace(
        selection,
        tables=base.tables,
        exclude_tables=(),
        columns=(),
        exclude_columns=(),
        where=None,
        include_aborted=base.include_aborted,
    )
    whole = Derived.SKIP not in (selection.ri, selection.triggers)
    if whole and not limits(replace(wanted, tables=())):
        return None
    spots: set[tuple[str, int]] = set()
    _match(asked, wanted, tables, None, spots)
    return spots


def _spot(change: Mapping[str, Any]) -> tuple[str, int]:
    return change["log_file"], change["log_record"]


def _of_what(selection: Selection, keys: Sequence[str]) -> str:
    tables = ", ".join(selection.tables) or "all tables"
    conditions = [f"key {key}" for key in keys]
    conditions += [selection.where] if selection.where else []
    return f"{tables} {' or '.join(conditions)}".strip()


def _why_none(of: str, hidden: Counter[str], total: int, followed: bool) -> str:
    if sum(hidden.values()):
        return "nothing to show: every change of these rows is left out by the selection"
    if followed:
        return "nothing to show: the selection leaves out every version of these rows"
    return f"nothing found: none of {counted(total, 'committed change')} of the tables is of {of}"


def _start_keys(
    asked: Asked, selection: Selection, tables: Tables, keys: Sequence[str]
) -> dict[str, set[str]]:
    """Table -> the texts of ``keys``, in each form of the selected tables. UsageError (LR1001)
    where no table has such a key."""
    start: dict[str, set[str]] = {}
    problem: UsageError | None = None
    taken = asked.log.catalog.taken_by(selection.takes_tables)
    for version in asked.log.catalog.versions:
        if not taken[version.index]:
            continue
        try:
            texts = tables.key_texts(version.index, keys)
            if texts is None:
                raise UsageError(
                    "LR1001",
                    f"found --key for {version.name}, which has no key; expected a table with one",
                    hint="Say which rows with --where, or name a unique key with --schema",
                )
        except UsageError as error:
            problem = problem or error
            continue
        start.setdefault(tables.identity(version.name), set()).update(texts)
    if not start and problem is not None:
        raise problem
    return start


def _match(
    asked: Asked,
    selection: Selection,
    tables: Tables,
    start: dict[str, set[str]] | None,
    matched: set[tuple[str, int]],
) -> None:
    """Note the places of the changes that a selection takes, and (``start``) their rows' keys."""
    changes = rows_of(asked, row_request(asked, selection))
    for part in dataset_changes(changes, tables.key):
        places = (part.rows[name].to_pylist() for name in ("log_file", "log_record"))
        matched.update(zip(*places, strict=True))
        if start is not None and part.dataset.table.schema:
            identity = tables.identity_of(part.dataset)
            for side in ("key_before", "key_after"):
                texts = pc.unique(part.rows[side].drop_null()).to_pylist()
                start.setdefault(identity, set()).update(texts)
    changes.close()


def _collected(
    changes: RowChanges, tables: Tables, start: Mapping[str, set[str]]
) -> list[DatasetChanges]:
    """The changes that may be of the rows with these keys, whatever they had before and after."""
    every = set().union(*start.values()) if start else set()
    reached = pa.array(sorted(reached_keys(changes, tables.key, every)), pa.string())
    parts = []
    for part in dataset_changes(changes, tables.key):
        names = _identities(part, tables)
        rows = part.rows.append_column("identity", names)
        mask = pc.and_(
            DatasetChanges(part.dataset, rows).about(reached),
            pc.is_in(names, pa.array(sorted(start), pa.string())),
        )
        chosen = rows.filter(mask)
        if len(chosen):
            parts.append(DatasetChanges(part.dataset, chosen))
    return parts


def _identities(part: DatasetChanges, tables: Tables) -> pa.Array:
    """The table of each change by its one name."""
    table = part.dataset.table
    if table.schema:
        name = tables.identity_of(part.dataset)
        return pa.array([name] * len(part.rows), pa.string())
    images = part.rows["after"].combine_chunks().to_pylist()
    return pa.array(
        [tables.identity(f"{image['table_owner']}.{image['table_name']}") for image in images],
        pa.string(),
    )


def _wanted(
    start: Mapping[str, set[str]], matched: set[tuple[str, int]], by_key: bool, by_value: bool
) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a change makes its row one that was asked for."""

    def wanted(change: Mapping[str, Any]) -> bool:
        keys = start.get(change["identity"], set())
        has_key = not by_key or change["key_before"] in keys or change["key_after"] in keys
        return has_key and (not by_value or _spot(change) in matched)

    return wanted


def _shown(
    lived: Sequence[Mapping[str, Any]],
    tables: Tables,
    rolled_back: bool,
    log: LogFile,
) -> tuple[list[Version], Counter[str]]:
    """The versions that are shown, and how many are not because they were rolled back."""
    versions, hidden = [], Counter[str]()
    taken = {change["row"] for change in lived if change["wanted"] and change["fate"] <= 0}
    taken |= {-1} if taken else set()
    for change in lived:
        if not rolled_back and (change["fate"] > 0 or change["row"] not in taken):
            hidden.update([fate_text(change["fate"], log)] if change["fate"] > 0 else [])
            continue
        versions.append(version_of(change, tables.key(change["dataset"]), log))
    rows = dict.fromkeys(version.row for version in versions if version.row)
    numbers = {row: number for number, row in enumerate(rows, 1)}
    return [replace(version, row=numbers.get(version.row, 0)) for version in versions], hidden


def _refuse_all(selection: Selection) -> None:
    """UsageError (LR1001) for a selection of all changes of its tables."""
    if not limits(replace(selection, tables=(), exclude_tables=())):
        raise UsageError(
            "LR1001",
            "found neither --key nor --where; expected the rows whose history is wanted",
            hint="For example --table OWNER.NAME --key 4711, --where 'email is null', or --ur URID"
            " for what a unit did",
        )


def _of_changes(asked: Asked, selection: Selection, rolled_back: bool) -> RowHistory:
    """The versions that selected changes made, of whatever rows."""
    request = row_request(asked, replace(selection, include_aborted=knows_undone(asked.opened)))
    tables = Tables(request)
    changes = rows_of(asked, request)
    every: list[dict[str, Any]] = []
    for part in dataset_changes(changes, tables.key):
        names = _identities(part, tables)
        for change, identity in zip(part.rows.to_pylist(), names.to_pylist(), strict=True):
            every.append({**change, "dataset": part.dataset, "identity": identity})
    every.sort(
        key=lambda change: (
            change["commit_lrsn"],
            change["urid"],
            change["member"] or 0,
            change["log_position"],
        )
    )
    numbers: dict[tuple[str, str | None], int] = {}
    for change in every:
        key = change["key_before"] or change["key_after"]
        change["row"] = numbers.setdefault((change["identity"], key), len(numbers))
        change["wanted"] = True
        if change["key_after"] is not None:
            numbers[change["identity"], change["key_after"]] = change["row"]
    versions, hidden = _shown(every, tables, rolled_back, asked.log)
    changes.close()
    warnings = quarantine_warnings(changes)
    reason = "" if versions else "nothing found: the log has no change that the selection takes"
    if not versions and hidden:
        reason = "nothing to show: all of it was rolled back"
    return RowHistory(
        _selected(selection),
        tuple(versions),
        (*hidden_notes(hidden), *left_out_columns(request)),
        tuple(warnings),
        reason,
        tuple(_commands(asked, versions)),
        bool(changes.damaged),
    )


def _selected(selection: Selection) -> str:
    shown = selection.describe()
    for name in ("ri", "triggers", "incomplete", "exclude_columns"):
        shown.pop(name, None)
    return "changes of " + ", ".join(
        f"{name} {' '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in shown.items()
    )


def _commands(asked: Asked, versions: Sequence[Version]) -> list[tuple[str, str]]:
    """The commands that take back the last committed version, its unit, and all by its job."""
    last = next((v for v in reversed(versions) if v.fate == "committed" and v.row), None)
    if last is None:
        return []
    row: tuple[str, ...] = ()
    if last.key and asked.mapping is None:  # which selections do not know
        condition = " AND ".join(f"{name} = {literal(value)}" for name, value in last.key.items())
        row = ("--table", glob.escape(last.table), "--where", condition)
    return after_history(asked.command, last.unit, row, last.facts)
