"""Rows that are known beside a log: those of a folder, or of a database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from replay.errors import InputError, TargetError, UsageError, Where
from replay.output.formats import Dataset
from replay.output.formats.batches import row_type, row_values
from replay.output.initial_load import StateFiles, state_file, state_rows
from replay.redaction import public
from replay.reports.rows_at import TableNet
from replay.storage.state_csv import StateCsv
from replay.storage.state_values import state_values
from replay.targets import target_of
from sqlgen.dialects import profile_named
from sqlgen.names import identifier, table_expression, target_name
from sqlgen.schema import Column, SqlType

#: The rows of a table as the value contract has them: (columns, structs).
Known = Callable[[TableNet, Sequence[Dataset]], pa.Array]


def rows_of_folder(files: StateFiles, forms: Mapping[str, Sequence[Dataset]]) -> Known:
    """Those of the files of a folder; ``forms``: the generations of all tables that are wanted.
    InputError where a file is not as the log has its table."""
    among = [form.table for each in forms.values() for form in each]

    def rows(net: TableNet, forms: Sequence[Dataset]) -> pa.Array:
        problem: InputError | None = None
        for form in sorted(forms, key=lambda form: form is not net.form):
            path = next(iter(files.of([form.table], among).values()))
            try:
                file = state_file(path, form.table, files.form)
                if not file.headed and len({one.columns for one in forms}) > 1:
                    raise _several_generations(file)
                parts = [
                    _structs(form.columns, part.after, part.count)
                    for part in state_rows(file, form.table)
                ]
            except InputError as error:
                problem = problem or error
                continue
            kind = row_type(form.columns)
            images = pa.concat_arrays(parts) if parts else pa.nulls(0, kind)
            return net.images(form, images)
        assert problem is not None
        raise problem

    return rows


def _several_generations(file: StateCsv) -> InputError:
    """What is raised for a file without names that could be of several generations of its table."""
    return InputError(
        "LR2035",
        "found no names in the first line, and a table whose columns the log changes; expected"
        " names that tell which columns these are",
        Where(str(file.path), line=1, table=file.table),
    )


def _structs(columns: Sequence[Column], values: Mapping[str, pa.Array], count: int) -> pa.Array:
    kind = row_type(tuple(columns))
    arrays = [
        row_values(values[column.name], column).cast(field.type)
        for column, field in zip(columns, kind, strict=True)
    ]
    return (
        pa.StructArray.from_arrays(arrays, fields=list(kind)) if arrays else pa.nulls(count, kind)
    )


def rows_of_database(url: str) -> Known:
    """Those of the tables of a database. TargetError (LR4002) for a table that is not there,
    UsageError (LR3005) for two that are one there."""
    target = target_of(url)
    profile = profile_named(target.dialect)
    asked: dict[tuple[str, str], str] = {}

    def rows(net: TableNet, forms: Sequence[Dataset]) -> pa.Array:
        form = net.form
        schema, name = (
            target_name(part, profile, "lower") for part in (form.table.schema, form.table.name)
        )
        if asked.setdefault((schema, name), net.name) != net.name:
            raise UsageError(
                "LR3005",
                f"found tables {asked[schema, name]} and {net.name}, which are both {schema}.{name}"
                f" in {public(url)}; expected a table for each",
                hint="Ask for one of them: --table, with its name as it is spelled",
            )
        with closing(target.connect(url)) as session:
            facts = session.facts(schema, name)
            if facts is None:
                raise TargetError(
                    "LR4002",
                    f"found no table {schema}.{name} in {public(url)}; expected the"
                    " tables whose rows are wanted",
                    hint="Leave a table out with --exclude-table",
                )
            dialect = profile.sqlglot
            shown = ", ".join(
                identifier(column.name, profile, "lower").sql(dialect=dialect)
                for column in form.columns
            )
            place = table_expression(form.table, profile, "lower").sql(dialect=dialect)
            session.snapshot()
            fetched = session.query(f"SELECT {shown} FROM {place}")
            session.rollback()
        values = {}
        for at, column in enumerate(form.columns):
            texts = pa.array([_state_text(row[at], column) for row in fetched], pa.string())
            where = Where(public(url), field=column.name, table=net.name)
            values[column.name] = state_values(texts, column, _everywhere(where))
        return _structs(form.columns, values, len(fetched))

    return rows


def _everywhere(where: Where) -> Callable[[int], Where]:
    return lambda row: where


def _state_text(value: Any, column: Column) -> str | None:
    """A value as a driver gives it, as states have it."""
    if value is None:
        return None
    if column.type is SqlType.BOOLEAN:
        return "t" if value else "f"
    if isinstance(value, bytes | bytearray | memoryview):
        raw = bytes(value)
        binary = column.type in (SqlType.BINARY, SqlType.VARBINARY, SqlType.BLOB)
        return f"\\x{raw.hex()}" if binary else raw.decode("utf-8", "replace")
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, timedelta):
        seconds = int(value.total_seconds())
        return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if isinstance(value, datetime):
        return value.isoformat(" ", "microseconds")
    if isinstance(value, date | time):
        return value.isoformat()
    return repr(value) if isinstance(value, float) else str(value)
