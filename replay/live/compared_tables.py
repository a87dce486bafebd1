"""Which tables and columns of a target are compared with a state and a log, by what types, and what
is not compared; and the rows of both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from replay.changes.catalog import TableVersion
from replay.csv_states import CsvForm
from replay.csv_states.state_csv import StateCsv
from replay.csv_states.state_values import family_of, state_values, strange, unreadable
from replay.errors import TargetError, UsageError, Where
from replay.live.comparable import ComparedColumn, of_state, of_texts, of_values
from replay.live.differences import RowHash, SignedRows
from replay.live.expected import (
    LogChanges,
    TableChanges,
    excluded_columns,
    large_columns,
    target_columns,
)
from replay.live.replay_request import ReplayInput
from replay.targets import Session, TableFacts
from sqlgen.schema import Column, SqlType

#: Tables of PostgreSQL that inherit from one, but for its partitions.
_HEIRS = """SELECT h.relname FROM pg_catalog.pg_inherits i
    JOIN pg_catalog.pg_class h ON h.oid = i.inhrelid
    JOIN pg_catalog.pg_class p ON p.oid = i.inhparent
    JOIN pg_catalog.pg_namespace n ON n.oid = p.relnamespace
    WHERE NOT h.relispartition AND n.nspname = %s AND p.relname = %s ORDER BY 1"""
#: Types of targets that keep a moment and not the zone it was written in.
_MOMENT_TYPES = ("timestamp with time zone", "timestamptz")


@dataclass(frozen=True)
class StateFile:
    """A file of a state, the name in it of each column of the target, and those that a mapping adds
    (``constants``), by their names in the target."""

    file: StateCsv
    header: Mapping[str, str]
    constants: Mapping[str, Column]

    def lacks(self, column: str) -> bool:
        """Whether nothing says what rows have in a column of the target."""
        return column not in self.header and column not in self.constants


#: Files of a table of the target, each with the table of the log that it is of, where a mapping
#: says so.
_Files = Sequence[tuple[Path, TableVersion | None]]


@dataclass(frozen=True)
class ComparedTable:
    """A table as it is compared: schema and name in the target, the files of its state (none: it
    begins empty), what the log says of it, and how rows are hashed. ``loose``: columns hold values
    of any type."""

    schema: str
    name: str
    files: tuple[StateFile, ...]
    loose: bool
    columns: tuple[ComparedColumn, ...]
    form: RowHash
    changes: TableChanges | None

    @property
    def place(self) -> str:
        """Schema and name."""
        return f"{self.schema}.{self.name}"

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


def named_rows(place: str, types: Mapping[str, SqlType]) -> str:
    """What a digest of rows is of: a table and its columns."""
    columns = [f"{name} {kind.value}" for name, kind in sorted(types.items())]
    return f"{place}({', '.join(columns)})"


@dataclass(frozen=True)
class Comparison:
    """What is compared, and what is not, in words. ``gone``: schema and name of tables that the
    log drops; ``torn``: those whose rows cannot be told, because they move to other keys and a part
    of their changes is left out."""

    tables: tuple[ComparedTable, ...]
    not_compared: tuple[str, ...]
    gone: tuple[tuple[str, str], ...] = ()
    torn: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is compared, so that nothing can be said to be the same."""
        return not (self.tables or self.gone)


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
    schemas: Sequence[str],
    folder: Path,
    files: Mapping[str, Path],
    log: LogChanges | None,
    csv: CsvForm | None = None,
) -> Comparison:
    """What of some schemas can be compared with the state ``files`` (by table) and the log. Raises
    TargetError (LR4002) where the target lacks a table or column of the state, UsageError (LR1001)
    for a file that is of tables of several schemas."""
    changes = {one: {} if log is None else log.tables(one) for one in schemas}
    present = {one: session.tables_of(one) for one in schemas}
    known = {one: [*present[one], *changes[one]] for one in schemas}
    paths: dict[str, dict[str, list[tuple[Path, TableVersion | None]]]]
    paths = {one: {} for one in schemas}
    notes: list[str] = []
    for stem, path in files.items():
        version = None if log is None else _mapped_version(stem, log)
        if version is not None and log is not None:
            place = log.work.options.place(version.table)
        else:
            home = _home(stem, path, schemas, known)
            place = home, _named(stem, home, present[home], changes[home])
        if place[0] in paths:
            paths[place[0]].setdefault(place[1], []).append((path, version))
        else:
            notes.append(f"file {path.name}: its table is {'.'.join(place)}, in another schema")
    found = [
        _of_schema(session, one, folder, (paths[one], present[one], changes[one]), log, csv)
        for one in schemas
    ]
    for one, comparison in zip(schemas, found, strict=True):
        label = f"{one}: " if len(schemas) > 1 else ""
        notes += [f"{label}{note}" for note in comparison.not_compared]
    tables = tuple(table for one in found for table in one.tables)
    if tables and session.dialect == "sqlite":
        notes.append("how SQLite stores values: 1, 1.0 and '1' count as the same")
    gone = tuple(place for one in found for place in one.gone)
    return Comparison(tables, tuple(notes), gone, tuple(name for one in found for name in one.torn))


def _home(stem: str, path: Path, schemas: Sequence[str], known: Mapping[str, Sequence[str]]) -> str:
    """The schema of the table that a file is of, TABLE or OWNER.TABLE."""
    owned = [one for one in schemas if stem.lower().startswith(f"{one.lower()}.")]
    having = [one for one in schemas if stem.lower() in map(str.lower, known[one])]
    homes = owned or having or schemas[:1]
    if len(homes) > 1:
        message = f"found {path.name}, which is of a table of {', '.join(homes)}; expected one"
        hint = f"Call it {homes[0]}.{path.name}, or name the schema with --target-schema"
        raise UsageError("LR1001", message, hint=hint)
    return homes[0]


def _of_schema(
    session: Session,
    schema: str,
    folder: Path,
    known: tuple[Mapping[str, _Files], Sequence[str], Mapping[str, TableChanges]],
    log: LogChanges | None,
    csv: CsvForm | None,
) -> Comparison:
    """What of a schema can be compared; known are files, tables of the target and changes of the
    log, by names in the target."""
    paths, present, changes = known
    tables: list[ComparedTable] = []
    notes, gone, torn = list[str](), list[str](), list[str]()
    names = sorted({*paths, *(n for n, c in changes.items() if c.emptied is not None)})
    found = session.facts_of([(schema, name) for name in names])
    for name in names:
        expected = changes.get(name)
        if expected is not None and expected.dropped:
            gone.append(name)
            continue
        facts = found[schema, name]
        if facts is None and name not in paths:
            notes.append(f"table {name}: the log makes it, and it is not there")
            continue
        if facts is None and log is not None and expected is None:
            notes.append(f"table {name}: neither the log nor the database has it")
            continue
        if facts is None:
            raise TargetError(
                "LR4002",
                "the database lacks a table of the expected state",
                Where(table=f"{schema}.{name}"),
                session.otherwise_called(schema),
            )
        if expected is not None and expected.unknown:
            notes.append(f"table {name}: {expected.unknown}")
            continue
        lacking = {one.name for one in _versions(expected)}
        lacking -= {version.name for _, version in paths.get(name, ()) if version is not None}
        if lacking and any(version is not None for _, version in paths.get(name, ())):
            notes.append(f"table {name}: no file of {', '.join(sorted(lacking))}")
            continue
        table, more = _table(session, schema, name, paths.get(name, ()), facts, expected, log, csv)
        notes += more
        if table is not None and log is not None and _is_torn(table, log):
            torn.append(name)
            notes.append(
                f"table {name}: changes of its rows are left out, and others give them new keys"
            )
        elif table is not None:
            tables.append(table)
    for name in sorted({*present, *changes} - {*paths} - {table.name for table in tables}):
        if name in (*gone, *torn) or (name not in present and not changes[name].changes):
            continue
        why = "has changes of it" if name in changes and changes[name].changes else "does not"
        notes.append(f"table {name}: {folder} has no file of it (the log {why})")
    dropped = tuple((schema, name) for name in gone)
    return Comparison(tuple(tables), tuple(notes), dropped, tuple(torn))


def _is_torn(table: ComparedTable, log: LogChanges) -> bool:
    """Whether rows move to other keys, with values that their images do not tell: what was left out
    may have changed them."""
    if not table.form.cells or table.changes is None:
        return False
    return log.moves_rows(table.changes, table.columns, table.form.key)


def _mapped_version(stem: str, log: LogChanges) -> TableVersion | None:
    """The latest form of the table of the log that a file is of; None where no mapping says it."""
    options = log.work.options
    if options.mapping is None:
        return None
    versions = log.log.catalog.versions
    for whole in (True, False):
        names = [one.name if whole else one.source.name for one in versions]
        wanted = {name for name in names if name == stem}
        wanted = wanted or {name for name in names if name.lower() == stem.lower()}
        found = [one for one, name in zip(versions, names, strict=True) if name in wanted]
        if len({options.place(version.table) for version in found}) == 1:
            return max(found, key=lambda version: version.created)
    return None


def _heirs(session: Session, schema: str, name: str) -> str:
    """Tables that inherit from one of PostgreSQL, but for its partitions; empty for none."""
    if session.dialect != "postgres":
        return ""
    rows = session.query(_HEIRS, (schema, name))
    return ", ".join(str(heir) for (heir,) in rows)


def _named(
    stem: str, schema: str, present: Sequence[str], changes: Mapping[str, TableChanges]
) -> str:
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
    paths: _Files,
    facts: TableFacts,
    changes: TableChanges | None,
    log: LogChanges | None,
    csv: CsvForm | None,
) -> tuple[ComparedTable | None, list[str]]:
    work = None if log is None else log.work
    left_out = _left_out(work, changes)
    notes, columns = [], []
    types = dict(zip(facts.columns, facts.types, strict=True)) if facts.types else {}
    logged = _logged(work, changes)
    known = [
        replace(logged[column], name=column)
        if column in logged
        else Column(column, family_of(types.get(column, ""), session.dialect))
        for column in facts.columns
    ]
    files = []
    for path, version in paths:
        wanted = _of_file(version, known, logged)
        file = StateCsv(path, f"{schema}.{name}", wanted, csv, partial=True, logged=False)
        renamed, constants = dict[str, str](), dict[str, Column]()
        if work is not None and version is not None:
            renamed = _renamed(work, version)
            constants = {work.options.spelled(n): one for n, one in version.constants.items()}
        files.append(StateFile(file, _header(file, renamed), constants))
    for column, one in zip(facts.columns, known, strict=True):
        why = left_out.get(column, "")
        if column in facts.generated:
            why = "the target computes it"
        elif lacking := [one.file for one in files if one.lacks(column)]:
            short = f"{lacking[0].path.name} lacks it"
            why = "it is in the target only" if column not in logged else short
        elif not paths and column not in logged:
            why = "it is in the target only"
        if why:
            notes.append(f"column {name}.{column}: {why}")
            continue
        kind = types.get(column, "")
        if column in logged:
            mask = _mask(work, changes, logged[column])
            columns.append(ComparedColumn(column, logged[column], mask=mask))
            notes += [f"values of {name}.{column}: their masks are compared"] if mask else []
        else:
            columns.append(ComparedColumn(column, one, False))
        if columns[-1].type is SqlType.TIMESTAMP_TZ and kind.lower().startswith(_MOMENT_TYPES):
            notes.append(f"zone of {name}.{column}: the target keeps the moment only")
        elif columns[-1].type in (SqlType.REAL, SqlType.DOUBLE):
            notes.append(f"sign of zeros in {name}.{column}: -0.0 and 0.0 count as the same")
    if heirs := _heirs(session, schema, name):
        notes.append(
            f"rows of {name} that are in {heirs}, which inherits from it: they count as its own"
        )
    if not columns:
        return None, [*notes, f"table {name}: none of its columns can be compared"]
    loose = session.dialect == "sqlite"
    form = _form(facts, columns, work, changes, log is not None and log.partial)
    compared = ComparedTable(schema, name, tuple(files), loose, tuple(columns), form, changes)
    return compared, notes


def _renamed(work: ReplayInput, own: TableVersion) -> dict[str, str]:
    """What the target calls the log's columns (in lower case) of a table, of all of its forms,
    under a mapping; empty for those that it does not have."""
    names: dict[str, str] = {}
    for version in work.log.catalog.versions:
        there = target_columns(version.table) if version.name == own.name else ()
        for old, new in (
            zip(version.source.columns, version.in_images, strict=True) if there else ()
        ):
            names[old.name.lower()] = work.options.spelled(new.name) if new.name in there else ""
    return names


def _of_file(
    latest: TableVersion | None, known: Sequence[Column], logged: Mapping[str, Column]
) -> list[Column]:
    """The columns that a state's file may have, by their names in the log under a mapping."""
    if latest is None:
        return list(known)
    return [*latest.source.columns, *(column for column in known if column.name not in logged)]


def _header(file: StateCsv, renamed: Mapping[str, str]) -> dict[str, str]:
    """The name in the file of each column of the target."""
    names = {renamed.get(one.name.lower(), one.name): one.name for one in file.columns}
    return {target: name for target, name in names.items() if target}


def _mask(
    work: ReplayInput | None, changes: TableChanges | None, column: Column
) -> Callable[[pa.Array], pa.Array] | None:
    """What masks a column of the target; None where nothing does."""
    mapping = None if work is None else work.options.mapping
    for version in _versions(changes) if mapping is not None else ():
        name = version.source_name(column.name)
        if mapping is not None and name in mapping.masked_columns(version.source):
            return partial(mapping.mask, version.source, name)
    return None


def _versions(changes: TableChanges | None) -> tuple[TableVersion, ...]:
    return () if changes is None else changes.versions


def _logged(work: ReplayInput | None, changes: TableChanges | None) -> dict[str, Column]:
    """The log's column of each column of the target, of the latest form of the table."""
    if work is None:
        return {}
    spelled = work.options.spelled
    return {
        spelled(name): version.table.column(name)
        for version in sorted(_versions(changes), key=lambda version: version.created)
        for name in target_columns(version.table)
    }


def _left_out(work: ReplayInput | None, changes: TableChanges | None) -> dict[str, str]:
    """Why columns cannot be compared after the log's changes of their table."""
    if work is None or changes is None or not changes.changes:
        return {}
    spelled = work.options.spelled
    reasons: dict[str, str] = {}
    every = [set(target_columns(version.table)) for version in changes.versions]
    for version in changes.versions:
        for name in target_columns(version.table):
            if not all(name in names for names in every):
                reasons[spelled(name)] = "not every form of the table in the log has it"
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


def initial_rows(table: ComparedTable, work: ReplayInput | None) -> Iterator[SignedRows]:
    """The rows of a table's files. InputError (LR2035) for a text that no column of its type could
    hold, but for columns that the log does not know where types are loose."""
    for one in table.files:
        start = 0
        named = [column for column in table.columns if column.name not in one.constants]
        for batch in one.file.batches([one.header[column.name] for column in named]):
            rows = {}
            for column in table.columns:
                added = one.constants.get(column.name)
                if added is not None and work is not None:
                    how = column.column, work.options.profile, work.options.render.policy
                    rows[column.name] = of_values(added.constants(batch.num_rows), *how)
                else:
                    rows[column.name] = _of_column(table, one, column, batch, start, work)
            yield SignedRows(rows, batch.num_rows)
            start += batch.num_rows


def _of_column(
    table: ComparedTable,
    one: StateFile,
    column: ComparedColumn,
    batch: pa.RecordBatch,
    start: int,
    work: ReplayInput | None,
) -> pa.Array:
    """A column of rows of a file, of which ``start`` came before; errors as
    :func:`initial_rows`."""
    name = one.header[column.name]
    texts = batch.column(batch.schema.get_field_index(name))
    where = one.file.places(start, name)
    wrong = None if table.loose and not column.logged else strange(texts, column.type)
    if wrong is not None:
        hidden = column.mask is not None
        raise unreadable(texts[wrong].as_py(), column.column, where(wrong), hidden)
    if work is None or not column.logged:
        return of_texts(texts, column.type)
    how = work.options.profile, work.options.render.policy
    if column.mask is None:
        return of_state(texts, column.column, *how)
    values = column.mask(state_values(texts, column.column, where, True))
    return of_values(values, column.column, *how)
