"""Rows that are known beside a log: those of a folder, or of a database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

import pyarrow as pa

from replay.changes.options import ScriptOptions
from replay.csv_states.state_csv import StateCsv
from replay.csv_states.state_values import spelled, state_values
from replay.errors import InputError, TargetError, UsageError, Where
from replay.output.formats import Dataset
from replay.output.formats.batches import row_type, row_values
from replay.output.initial_load import StateFiles, state_file, state_rows
from replay.redaction import public
from replay.reports.rows_at import TableNet
from replay.targets import target_of
from sqlgen.schema import Column, SqlType

#: The rows of a table as the value contract has them: (columns, structs).
Known = Callable[[TableNet, Sequence[Dataset]], pa.Array]


def rows_of_folder(files: StateFiles, forms: Mapping[str, Sequence[Dataset]]) -> Known:
    """Those of the files of a folder; ``forms``: the generations of all tables that are wanted.
    InputError where a file is not as the log has its table."""
    among = [form.table for each in forms.values() for form in each]

    def rows(net: TableNet, forms: Sequence[Dataset]) -> pa.Array:
        problem: InputError | None = None
        for form in forms:
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


def rows_of_database(url: str, own: str) -> Known:
    """Those of the tables of a database; ``own``: the dialect of the log's. TargetError (LR4002)
    for a table that is not there, UsageError (LR3005) for two that are one there."""
    target = target_of(url)
    options = ScriptOptions(target.dialect).of_log(own)
    asked: dict[tuple[str, str], str] = {}

    def rows(net: TableNet, forms: Sequence[Dataset]) -> pa.Array:
        form = net.form
        schema, name = options.place(form.table)
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
            names = [options.spelled(column.name) for column in form.columns]
            missing = [one for one in names if one not in facts.columns]
            if missing:
                raise TargetError(
                    "LR4002",
                    f"found {schema}.{name} without {', '.join(missing)} in {public(url)};"
                    " expected the columns of the log's table",
                    hint="Leave columns out with --exclude-columns",
                )
            kinds = dict(zip(names, (column.type for column in form.columns), strict=True))
            decimals = [one for one, kind in kinds.items() if kind is SqlType.DECIMAL]
            place = Where(public(url), table=net.name)
            session.snapshot()
            parts = []
            for batch in session.texts(schema, name, names, decimals):
                values = {
                    column.name: state_values(
                        spelled(texts, column.type),
                        column,
                        _everywhere(replace(place, field=column.name)),
                    )
                    for column, texts in zip(form.columns, batch.columns, strict=True)
                }
                parts.append(_structs(form.columns, values, batch.num_rows))
            session.rollback()
        return pa.concat_arrays(parts) if parts else pa.nulls(0, row_type(form.columns))

    return rows


def _everywhere(where: Where) -> Callable[[int], Where]:
    return lambda row: where
