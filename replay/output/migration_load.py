"""The rows from before a log as scripts that load them: by COPY where psql reads files beside the
script, else inserts of many rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from replay.changes.options import ScriptOptions
from replay.csv_states import CsvForm
from replay.errors import InputError, UsageError
from replay.output.initial_load import state_file, state_rows
from replay.storage import Place, file_name
from sqlgen import statements
from sqlgen.dialects import Profile, profile_named
from sqlgen.literals import ValueProblem, plain_texts
from sqlgen.mapping import TableMap
from sqlgen.names import identifier, table_expression
from sqlgen.render_options import RenderOptions, shown_columns
from sqlgen.rows import Rows
from sqlgen.schema import SqlType, Table
from sqlgen.script import script_prologue

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
    """The rows of each table (OWNER.NAME), and why tables beside the log have none."""

    rows: dict[str, int]
    unfit: dict[str, InputError]


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
    profile = profile_named(options.dialect)
    write = _copied if profile.name == _COPIES else _inserted
    loaded = Loaded({}, {})
    for number, (table, path) in enumerate(files.items(), 1):
        name = f"{table.schema}.{table.name}"
        place = folder / f"{number:04d}-{file_name(table.name.lower())}.sql"
        try:
            source = _Source(table, path, mapping, form)
            write(place, source, options, profile)
            loaded.rows[name] = source.count
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


def _copied(place: Path, source: _Source, options: ScriptOptions, profile: Profile) -> None:
    """A script that has psql read a file beside it."""
    columns = shown_columns(source.table, options.render)
    csv = place.with_suffix(".csv")
    names = ", ".join(_spelled(column.name, profile, options) for column in columns)
    target = table_expression(source.table, profile, options.names).sql(dialect=profile.sqlglot)
    beside = f"{place.parent.name}/{csv.name}".replace("'", "''")
    place.write_text(
        f"{script_prologue(profile, 'load')}"
        f"\\copy {target} ({names}) FROM '{beside}' WITH (FORMAT csv, ENCODING 'UTF8')\n",
        encoding="utf-8",
    )
    plainly = pa_csv.WriteOptions(include_header=False)  # texts in quotes, nothing for NULL
    with csv.open("wb") as file:
        for rows in source.parts():
            texts = []
            for column in columns:
                values, problems = plain_texts(
                    rows.after[column.name],
                    column,
                    profile,
                    options.render.policy,
                    column.name in source.table.key,
                )
                source.refuse(problems)
                texts.append(values)
            named = pa.RecordBatch.from_arrays(texts, [column.name for column in columns])
            pa_csv.write_csv(named, file, plainly)


def _inserted(place: Path, source: _Source, options: ScriptOptions, profile: Profile) -> None:
    """A script of inserts."""
    with place.open("w", encoding="utf-8", newline="\n") as script:
        script.write(script_prologue(profile, "load"))
        for rows in source.parts():
            rendered = statements.render(rows, profile, options.render)
            source.refuse(rendered.problems)
            _write(script, rendered.text, profile)


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
