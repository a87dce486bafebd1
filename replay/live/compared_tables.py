"""Which tables and columns of a target are compared, by what types, and what is not compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.changes.catalog import TableVersion
from replay.errors import TargetError, Where
from replay.live.comparable import ComparedColumn, family_of, of_texts
from replay.live.expected import LogChanges, TableChanges, excluded_columns, large_columns
from replay.live.replay_request import ReplayInput
from replay.live.row_sums import RowHash, SignedRows
from replay.targets import Session, TableFacts
from replay.targets.states import state_header
from sqlgen.schema import Column, SqlType

#: What to do about a table that the target lacks, where nobody said what is expected of it.
_UNCHANGED = (
    "The log has no change of it: take its file out of the state, or write one of the log's tables"
    " alone (logreplay state … --at start --initial DIR --format csv --out BEFORE)"
)
_OTHER_KEYS = "rows get other keys, and only a part of the log's changes is expected"
#: Types of targets that keep a moment and not the zone it was written in.
_MOMENT_TYPES = ("timestamp with time zone", "timestamptz")


@dataclass(frozen=True)
class ComparedTable:
    """A table as it is compared: its name in the target, the file of its state (None: it begins
    empty) with the name of each column there, what the log says of it, and how rows are hashed."""

    name: str
    path: Path | None
    header: Mapping[str, str]
    columns: tuple[ComparedColumn, ...]
    form: RowHash
    changes: TableChanges | None

    @property
    def types(self) -> dict[str, SqlType]:
        """The columns' types, by name."""
        return {column.name: column.type for column in self.columns}

    def describe(self) -> dict[str, Any]:
        """What the digests of its rows are of, as JSON-able data."""
        return {
            "columns": [{"name": name, "type": kind.value} for name, kind in self.types.items()],
            "key": list(self.form.key),
            "cells": self.form.cells,
        }


def named_rows(schema: str, table: str, types: Mapping[str, SqlType]) -> str:
    """What a digest of rows is of: a table and its columns."""
    columns = [f"{name} {kind.value}" for name, kind in sorted(types.items())]
    return f"{schema}.{table}({', '.join(columns)})"


@dataclass(frozen=True)
class Comparison:
    """What is compared, and what is not, in words. ``gone``: tables that the log drops."""

    tables: tuple[ComparedTable, ...]
    not_compared: tuple[str, ...]
    gone: tuple[str, ...] = ()


def found_rows(
    session: Session, schema: str, table: str, types: Mapping[str, SqlType]
) -> Iterator[SignedRows]:
    """The rows of a table of the target, with the columns of ``types``."""
    decimals = [name for name, kind in types.items() if kind is SqlType.DECIMAL]
    for batch in session.texts(schema, table, list(types), decimals):
        columns = {
            name: of_texts(values, kind)
            for (name, kind), values in zip(types.items(), batch.columns, strict=True)
        }
        yield SignedRows(columns, batch.num_rows)


def compared_tables(
    session: Session,
    schema: str,
    folder: Path,
    files: Mapping[str, Path],
    log: LogChanges | None,
) -> Comparison:
    """What of a schema can be compared with the state ``files`` (by table) and the log. Raises
    TargetError (LR4002) where the target lacks a table or column of the state."""
    changes = {} if log is None else log.tables(schema)
    present = session.tables_of(schema)
    paths = {_named(name, schema, present, changes): path for name, path in files.items()}
    tables, notes, gone = [], [], []
    for name in sorted({*paths, *(n for n, c in changes.items() if c.emptied is not None)}):
        expected = changes.get(name)
        if expected is not None and expected.dropped:
            gone.append(name)
            continue
        facts = session.facts(schema, name)
        if facts is None and name not in paths:
            notes.append(f"table {name}: the log makes it, and it is not there")
            continue
        if facts is None:
            raise TargetError(
                "LR4002",
                "the database lacks a table of the expected state",
                Where(table=f"{schema}.{name}"),
                "" if log is None or expected is not None else _UNCHANGED,
            )
        if expected is not None and expected.unknown:
            notes.append(f"table {name}: {expected.unknown}")
            continue
        table, more = _table(session, schema, name, paths.get(name), facts, expected, log)
        notes += more
        tables += [] if table is None else [table]
    for name in sorted({*present, *changes} - {*paths} - {table.name for table in tables}):
        if name in gone or (name not in present and not changes[name].changes):
            continue
        why = "has changes of it" if name in changes and changes[name].changes else "does not"
        notes.append(f"table {name}: {folder} has no file of it (the log {why})")
    return Comparison(tuple(tables), tuple(notes), tuple(gone))


def _named(stem: str, schema: str, present: list[str], changes: Mapping[str, TableChanges]) -> str:
    """The table that a file is of: TABLE or OWNER.TABLE, in any case."""
    short = stem.rpartition(".")[2] if stem.lower().startswith(f"{schema.lower()}.") else stem
    for known in (present, list(changes)):
        for wanted in (stem, short):
            if wanted in known:
                return wanted
            alike = [name for name in known if name.lower() == wanted.lower()]
            if len(alike) == 1:
                return alike[0]
    return short


def _table(
    session: Session,
    schema: str,
    name: str,
    path: Path | None,
    facts: TableFacts,
    changes: TableChanges | None,
    log: LogChanges | None,
) -> tuple[ComparedTable | None, list[str]]:
    work = None if log is None else log.work
    header = _header(path, facts, schema, name)
    left_out = _left_out(work, changes)
    notes, columns = [], []
    types = dict(zip(facts.columns, facts.types, strict=True)) if facts.types else {}
    logged = _logged(work, changes)
    for column in facts.columns:
        why = left_out.get(column, "")
        if column in facts.generated:
            why = "the target computes it"
        elif path is not None and column not in header:
            why = "it is in the target only" if column not in logged else f"{path.name} lacks it"
        elif path is None and column not in logged:
            why = "it is in the target only"
        if why:
            notes.append(f"column {name}.{column}: {why}")
            continue
        kind = types.get(column, "")
        if column in logged:
            columns.append(ComparedColumn(column, logged[column]))
        else:
            family = family_of(kind, session.dialect)
            columns.append(ComparedColumn(column, Column(column, family), False))
        if columns[-1].type is SqlType.TIMESTAMP_TZ and kind.lower().startswith(_MOMENT_TYPES):
            notes.append(f"zone of {name}.{column}: the target keeps the moment only")
    if not columns:
        return None, [*notes, f"table {name}: none of its columns can be compared"]
    form = _form(facts, columns, work, changes, log is not None and log.partial)
    if form.cells and log is not None and changes is not None:
        key = [column for column in columns if column.name in form.key]
        if log.changes_keys(changes, key):  # what was left out may have changed their other values
            return None, [*notes, f"table {name}: {_OTHER_KEYS}"]
    return ComparedTable(name, path, header, tuple(columns), form, changes), notes


def _header(path: Path | None, facts: TableFacts, schema: str, name: str) -> dict[str, str]:
    """The name in the file of each column of the target."""
    spellings: dict[str, str] = {}
    by_case = {column.lower(): column for column in facts.columns}
    for text in [] if path is None else state_header(path):
        column = text if text in facts.columns else by_case.get(text.lower())
        if column is None:
            raise TargetError(
                "LR4002",
                f"the database lacks what the state has: column {text}",
                Where(table=f"{schema}.{name}"),
            )
        spellings[column] = text
    return spellings


def _versions(changes: TableChanges | None) -> tuple[TableVersion, ...]:
    return () if changes is None else changes.versions


def _logged(work: ReplayInput | None, changes: TableChanges | None) -> dict[str, Column]:
    """The log's column of each column of the target, of the latest form of the table."""
    if work is None:
        return {}
    spelled = work.options.spelled
    return {
        spelled(column.name): column
        for version in sorted(_versions(changes), key=lambda version: version.created)
        for column in version.table.columns
    }


def _left_out(work: ReplayInput | None, changes: TableChanges | None) -> dict[str, str]:
    """Why columns cannot be compared after the log's changes of their table."""
    if work is None or changes is None or not changes.changes:
        return {}
    spelled = work.options.spelled
    reasons: dict[str, str] = {}
    every = [{column.name for column in version.table.columns} for version in changes.versions]
    for version in changes.versions:
        for column in version.table.columns:
            if not all(column.name in names for names in every):
                reasons[spelled(column.name)] = "not every form of the table in the log has it"
        for one in large_columns(version):
            reasons[spelled(one)] = "its values are not in the log"
        for one in excluded_columns(work, version):
            reasons[spelled(one)] = "it is left out (--columns, --exclude-columns)"
    return reasons


def _form(
    facts: TableFacts,
    columns: list[ComparedColumn],
    work: ReplayInput | None,
    changes: TableChanges | None,
    partial: bool,
) -> RowHash:
    """How rows are hashed: by the log's key where it has one, else by a unique key of the target
    that is compared as a whole."""
    names = tuple(column.name for column in columns)
    key: tuple[str, ...] = ()
    if work is not None and changes is not None:
        spelled = work.options.spelled
        keys = {tuple(map(spelled, version.table.key)) for version in changes.versions}
        key = keys.pop() if len(keys) == 1 else ()
    else:
        key = facts.unique_keys[0] if facts.unique_keys else ()
    if not set(key) <= set(names):
        key = ()
    cells = partial and bool(key) and changes is not None and changes.changes
    return RowHash(names, key, cells)
