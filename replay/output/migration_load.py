"""The rows from before a log as scripts that load them, by COPY where psql reads files beside the
script, else inserts of many rows; and the script that compares what is there in the end."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.csv as pa_csv

from replay.changes.options import ScriptOptions
from replay.csv_states import CsvForm
from replay.errors import InputError, UsageError
from replay.output.initial_load import state_file, state_rows
from replay.output.state_files import RowsLeft, TableRows, state_csv
from replay.storage import Place, file_name
from replay.temp_folders import WorkFolder
from sqlgen import ddl, statements
from sqlgen.dialects import Profile, profile_named
from sqlgen.hidden import ESCAPES
from sqlgen.literals import ValueProblem, plain_texts
from sqlgen.mapping import TableMap, TableMapping
from sqlgen.names import identifier, table_expression
from sqlgen.render_options import RenderOptions, shown_columns
from sqlgen.row_checks import ExpectedRows, difference_queries
from sqlgen.schema import Column, Rows, SqlType, Table
from sqlgen.script import script_prologue, search_path

#: Rows in a transaction of the load, and in one statement where a dialect takes several.
_TOGETHER = 10_000
_IN_A_STATEMENT = 500
#: Dialects whose INSERT takes many rows, as tried.
_MANY_ROWS = frozenset({"mysql", "mariadb", "sqlite", "duckdb"})
_COPIES = "postgres"


def load_steps(profile: Profile) -> str:
    """What is said of how the rows get in."""
    if profile.name != _COPIES:
        return ""
    return " psql reads the `.csv` files beside the scripts (`\\copy`), from this folder."


@dataclass(frozen=True)
class Loaded:
    """The rows of each table (OWNER.NAME), and why tables beside the log have none; where they come
    from, and the scripts that load them."""

    rows: dict[str, int]
    unfit: dict[str, InputError]
    sources: dict[Table, _Source]
    scripts: dict[Table, Path]


def write_load(
    folder: Path,
    files: Mapping[Table, Place],
    options: ScriptOptions,
    mapping: TableMap,
    form: CsvForm | None,
    beside: Collection[Table],
) -> Loaded:
    """Write a script for each table of the state into a new folder. InputError for a value that is
    not one of its column, or that the target cannot hold; of tables ``beside`` the log, a file that
    is not as the schema defines them is told in the result."""
    _check_padding(files, options.render, mapping)
    folder.mkdir()
    loaded = Loaded({}, {}, {}, {})
    for number, (table, path) in enumerate(files.items(), 1):
        name = f"{table.schema}.{table.name}"
        place = folder / f"{number:04d}-{file_name(table.name.lower())}.sql"
        try:
            source = _Source(table, path, mapping, form)
            _scripted(place, source, options)
            loaded.rows[name] = source.count
            loaded.sources[table], loaded.scripts[table] = source, place
        except InputError as error:
            if table not in beside or error.code != "LR2035":
                raise
            loaded.unfit[name] = error
            for written in (place, place.with_suffix(".csv")):
                written.unlink(missing_ok=True)
    return loaded


class _Source:
    """The rows of a table as the target has them, counted on the way."""

    def __init__(
        self,
        table: Table,
        path: Place,
        mapping: TableMap,
        form: CsvForm | None,
    ) -> None:
        self.masked = mapping.masked_columns(table)
        self.path, self.form = path, form
        self.file = state_file(path, table, form, self.masked)
        self.logged, self.mapping, self.count = table, mapping, 0
        #: The table in the target.
        self.table = mapping.table(table)

    def parts(self) -> Iterator[Rows]:
        """The rows."""
        for part in state_rows(self.file, self.logged, self.masked):
            yield self.mapping.rows(part)
            self.count += part.count

    def refuse(self, problems: list[ValueProblem]) -> None:
        """InputError for the first value of a part that the target cannot hold."""
        if problems:
            problem = problems[0]
            raise InputError(
                problem.code,
                f"found {problem.found}; expected {problem.expected}",
                self.file.where(self.count + problem.row, problem.column),
                problem.hint,
            )


def _scripted(
    place: Path, source: _Source, options: ScriptOptions, made: Path | None = None
) -> None:
    """A script that loads rows: it has psql read a file beside it (that of the script ``made``, if
    there is one), or inserts them."""
    profile, columns = profile_named(options.dialect), shown_columns(source.table, options.render)
    with place.open("w", encoding="utf-8", newline="\n") as script:
        script.write(script_prologue(profile, "load"))
        if profile.name != _COPIES:
            for rows in source.parts():
                rendered = statements.render(rows, profile, options.render)
                source.refuse(rendered.problems)
                _write(script, rendered.text, profile)
            return
        csv = (made or place).with_suffix(".csv")
        names = ", ".join(_spelled(column.name, profile, options) for column in columns)
        target = table_expression(source.table, profile, options.names).sql(dialect=profile.sqlglot)
        beside = f"{csv.parent.name}/{csv.name}".replace("'", "''")
        script.write(
            f"\\copy {target} ({names}) FROM '{beside}' WITH (FORMAT csv, ENCODING 'UTF8')\n"
        )
    if made is None:
        _write_csv(csv, source, columns, options)


def _write_csv(
    csv: Path, source: _Source, columns: Sequence[Column], options: ScriptOptions
) -> None:
    plainly = pa_csv.WriteOptions(include_header=False)  # texts in quotes, nothing for NULL
    profile, policy = profile_named(options.dialect), options.render.policy
    with csv.open("wb") as file:
        for rows in source.parts():
            texts = []
            for column in columns:
                values, problems = plain_texts(
                    rows.after[column.name],
                    column,
                    profile,
                    policy,
                    column.name in source.table.key,
                )
                source.refuse(problems)
                texts.append(values)
            named = pa.RecordBatch.from_arrays(texts, [column.name for column in columns])
            pa_csv.write_csv(named, file, plainly)


def write_check(
    script: Path,
    loaded: Loaded,
    left: Sequence[RowsLeft],
    options: ScriptOptions,
    mapping: TableMap,
) -> list[str]:
    """Write the script that compares each table with the rows that it must hold: those from before
    the log that it did not touch, and those that it left, which lie in tables of the script's own.
    What it does not compare, in words."""
    profile, names = profile_named(options.dialect), options.names
    befores = {f"{table.schema}.{table.name}": table for table in loaded.sources}
    expected, said = [], list[str]()
    with script.open("w", encoding="utf-8", newline="\n") as file, WorkFolder() as scratch:
        own = _OwnTables(file, script.with_suffix(""), Path(scratch), options, mapping)
        for one in left:
            table = one.rows.dataset.table
            name = f"{table.schema}.{table.name}"
            before = befores.pop(name, None)
            if one.whole or (before and _names(before) != _names(table)):
                before = None
            whole = one.whole or before is not None
            said += [] if whole else [f"rows of {name} that the log does not touch"]
            if not (whole or len(one.touched.rows) or len(one.rows.rows)):
                continue
            key = tuple(mapping.names(table)[column] for column in one.key)
            sides = (
                before and own.filled(loaded.sources[before], one.key, loaded.scripts[before]),
                own.left(one.rows, one.key, False),
                None if one.whole else own.left(one.touched, one.key, bool(one.key)),
            )
            expected.append(
                ExpectedRows(name, mapping.table(table).in_target(), key, *sides, whole)
            )
        for name, table in befores.items():
            rows = own.filled(loaded.sources[table], table.key, loaded.scripts[table])
            target = mapping.table(table).in_target()
            expected.append(ExpectedRows(name, target, (), rows, None, None, True))
        for entry in expected:
            columns = {column.name for column in entry.table.columns}
            unknown = sorted(columns - {column.name for column in entry.columns(profile)})
            said += [f"{entry.name}: {', '.join(unknown)}"] if unknown else []
        same = "SAME, as far as compared: PLAN.md" if said else "SAME"
        own.write(*(f"-- not compared: {one}".translate(ESCAPES) for one in said))
        own.write(*difference_queries(expected, (same, "DIFFERENT"), profile, names))
        own.write(*(ddl.drop_table(table, profile, names) for table in own.tables))
    if not expected:
        script.unlink()
    return said


def _names(table: Table) -> list[str]:
    return [column.name for column in table.columns]


class _OwnTables:
    """The tables that a script makes to compare with, and drops. ``folder``: of files beside it."""

    def __init__(
        self, file: TextIO, folder: Path, scratch: Path, options: ScriptOptions, mapping: TableMap
    ) -> None:
        self.file, self.folder, self.scratch = file, folder, scratch
        self.options, self.mapping, self.profile = options, mapping, profile_named(options.dialect)
        self.tables: list[Table] = []
        title = f"-- logreplay verification for {self.profile.name}. {self.profile.client}"
        quiet = ["SET client_min_messages = warning;"] if self.profile.name == _COPIES else []
        self.write(title, *search_path(self.profile), *quiet)

    def write(self, *lines: str) -> None:
        """Write lines of the script."""
        self.file.writelines(f"{line}\n" for line in lines)

    def left(self, rows: TableRows, key: Sequence[str], only_keys: bool) -> Table | None:
        """A table with rows that the log left, or the keys of rows; None without any."""
        if not len(rows.rows):
            return None
        form = rows.dataset
        pairs = zip(form.columns, form.names, strict=True)
        columns, names = zip(*(p for p in pairs if p[0].name in key or not only_keys), strict=True)
        table = replace(form.table, columns=columns, key=())
        path = self.scratch / "rows.csv"
        form = replace(form, columns=columns, names=names)
        path.write_text(state_csv(TableRows(form, rows.rows)), encoding="utf-8", newline="")
        return self.filled(_Source(table, path, self.mapping, None), key)

    def filled(self, source: _Source, key: Sequence[str], made: Path | None = None) -> Table:
        """Make a table of the rows of a source (``made``: a script that loads them elsewhere)."""
        mapping, logged, number = self.mapping, source.logged, len(self.tables) + 1
        name = f"{logged.schema}.{logged.name}"
        entry = mapping.tables.get(name, TableMapping())
        own = replace(entry, name=f"{mapping.name(logged)[0]}.LOGREPLAY_{number}")
        mapping = replace(mapping, tables={**mapping.tables, name: own})
        source = _Source(logged, source.path, mapping, source.form)
        found_by = tuple(mapping.names(logged)[column] for column in key)
        columns = tuple(
            column if column.name in found_by else replace(column, nullable=True)
            for column in source.table.in_target().columns
        )
        table = replace(source.table.in_target(), columns=columns, key=found_by)
        self.tables.append(table)
        gone = ddl.drop_table(table, self.profile, self.options.names)
        self.write(gone.replace("TABLE", "TABLE IF EXISTS", 1))
        self.write(ddl.create_table(table, self.profile, self.options.names))
        self.folder.mkdir(exist_ok=True)
        piece = self.folder / f"{number:04d}.sql"
        _scripted(piece, source, self.options, made)
        with piece.open(encoding="utf-8", newline="") as text:
            shutil.copyfileobj(text, self.file)
        piece.unlink()
        return table


def _write(script: Any, text: pa.StringArray, profile: Profile) -> None:
    begin, commit = (f"{words}\n" if words else "" for words in (profile.begin, profile.commit))
    for start in range(0, len(text), _TOGETHER):
        lines = text[start : start + _TOGETHER].to_pylist()
        if profile.name in _MANY_ROWS:
            lines = _joined(lines)
        script.write(f"{begin}{chr(10).join(lines)}\n{commit}")


def _joined(lines: list[str]) -> list[str]:
    """Inserts of one table with many rows each, a line a statement."""
    head, found, _ = lines[0].partition(" VALUES (")
    head += found[:-1]
    if not found or not all(line.startswith(head) and line.endswith(");") for line in lines):
        return lines
    values = [line[len(head) : -1] for line in lines]
    return [
        f"{head}{', '.join(values[start : start + _IN_A_STATEMENT])};"
        for start in range(0, len(values), _IN_A_STATEMENT)
    ]


def _check_padding(files: Mapping[Table, Place], render: RenderOptions, mapping: TableMap) -> None:
    """UsageError (LR1001) where the blanks at the end of a CHAR are to be kept."""
    padded = [
        column.name
        for table in files
        for column in shown_columns(table, mapping.shown)
        if column.type is SqlType.CHAR
    ]
    if padded and render.policy.char_padding == "keep":
        message = (
            "found --char-padding keep with --initial; a file of rows does not tell how many"
            f" blanks a CHAR has (column {padded[0]})"
        )
        raise UsageError(
            "LR1001", message, hint="Leave --char-padding out, or load the rows by other means"
        )


def _spelled(name: str, profile: Profile, options: ScriptOptions) -> str:
    return identifier(name, profile, options.names).sql(dialect=profile.sqlglot)
