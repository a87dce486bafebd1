"""LOAD files for Db2: a change a line, delimited as Db2's LOAD utility reads it, with Log Master's
informational columns in front; the LOAD statements stand in a file beside them.

Nine names of columns, and that the image before an update follows the one after it, are published
(BMC, additional informational columns in load files); the other names are ours, those that
``--source logmaster-load`` looks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from replay.changes.envelope import ORIGINS
from replay.changes.options import Export
from replay.output.formats import Dataset, ImageColumns, Writer
from replay.output.formats.csv_and_json import LineWriter, line_table
from replay.output.formats.exported_values import (
    BYTES,
    MOMENTS,
    NUMBERS,
    csv_text,
    number_text,
    profile_of,
    shaped,
)
from sqlgen.literals import Policy, ValueProblem, hexadecimal
from sqlgen.render_options import RenderOptions
from sqlgen.schema import FLOATS, Column, SqlType
from sqlgen.statements import joined

#: The name of the file with the LOAD statements.
CONTROL = "load.ctl"
_PLAIN = frozenset({*NUMBERS, *FLOATS, SqlType.DECIMAL, SqlType.DECFLOAT, SqlType.DATE})
_ACTIONS = {"insert": "I", "update": "U", "delete": "D", "truncate": "DM"}
_CODES = {meaning: code for code, meaning in ORIGINS.items()}
#: Informational columns: name, type in the LOAD statement, and the fact that it holds ('': none).
_INFO = (
    ("#CONNECTION_TYPE", "CHAR(8)", ""),
    ("#CONNECTION_ID", "CHAR(8)", "connection_id"),
    ("#CORRELATION_ID", "CHAR(12)", "correlation_id"),
    ("#AUTH_ID", "CHAR(8)", "authid"),
    ("#PLAN_NAME", "CHAR(8)", "plan"),
    ("#URIDLRSN", "CHAR(20)", ""),
    ("#URIDBEGINPOINT", "CHAR(20)", "urid"),
    ("#URIDMEMBERID", "SMALLINT EXTERNAL", "member"),
    ("#URIDTIMESTAMP", "CHAR(26)", "commit_time"),
    ("#TABLE", "CHAR(257)", "table"),
    ("#COMMITLRSN", "CHAR(20)", "commit_lrsn"),
    ("#LOGRBA", "CHAR(20)", "log_position"),
    ("#SQLSRCTYPE", "CHAR(1)", "origin"),
    ("#RECORD_TYPE", "CHAR(2)", "op"),
)
_TYPES = {
    SqlType.CHAR: "CHAR({length})",
    SqlType.VARCHAR: "VARCHAR({length})",
    SqlType.BINARY: "BINARY({length})",
    SqlType.VARBINARY: "VARBINARY({length})",
    SqlType.REAL: "FLOAT EXTERNAL",
    SqlType.DOUBLE: "FLOAT EXTERNAL",
    SqlType.TIMESTAMP_TZ: "TIMESTAMP WITH TIME ZONE EXTERNAL",
}


class LoadFiles:
    """Fields in quotes but numbers and dates; null is nothing between two commas. Of an update the
    image before it stands behind the image after it."""

    suffix = "csv"

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.profile = profile_of("LOAD", 12, MOMENTS)

    def images(
        self, dataset: Dataset, before: ImageColumns | None, after: ImageColumns | None, count: int
    ) -> tuple[pa.Table, list[ValueProblem]]:
        """A column with all row images of a change."""
        problems: list[ValueProblem] = []
        sides = [
            self._fields(dataset, side, count, problems)
            for side in (after, before)
            if side is not None
        ]
        nothing = "," * (len(dataset.columns) - 1)
        both = pc.binary_join_element_wise(*sides, ",") if sides else pa.array([nothing] * count)
        return pa.table([both], ["images"]), problems

    def _fields(
        self, dataset: Dataset, side: ImageColumns, count: int, problems: list[ValueProblem]
    ) -> pa.Array:
        parts: list[str | pa.Array] = []
        for column in dataset.columns:
            values, value_problems = shaped(side[column.name], column, self.profile, self.policy)
            problems += value_problems
            parts += [*([","] if parts else []), pc.fill_null(_value(values, column), "")]
        return joined(parts, count)

    def rows(self, dataset: Dataset, facts: pa.Table, images: pa.Table) -> pa.Table:
        """Lines."""
        parts: list[str | pa.Array] = []
        for _, _, name in _INFO:
            parts += [_fact(dataset, facts, name), ","]
        return line_table([*parts, images["images"].combine_chunks()], len(facts))

    def open(self, path: Path, dataset: Dataset) -> Writer:
        """A new file."""
        return LineWriter(path)

    def describe(self, dataset: Dataset) -> dict[str, Any]:
        """The informational columns, in order."""
        names = [name for name, _, _ in _INFO]
        return {"informational_columns": names} if dataset.table.schema else {}

    def beside(self, files: Mapping[str, Sequence[tuple[Dataset, str]]]) -> dict[str, str]:
        """The LOAD statements of all files, in the order of their names."""
        named = [(name, dataset) for parts in files.values() for dataset, name in parts]
        statements = [
            _statement(number, dataset, name)
            for number, (name, dataset) in enumerate(sorted(named, key=lambda one: one[0]))
            if dataset.table.schema
        ]
        return {CONTROL: "\n".join(statements)}


def _value(values: pa.Array, column: Column) -> pa.Array:
    if column.type in BYTES:
        return csv_text(hexadecimal(values))
    if column.type in MOMENTS:
        moments = pc.replace_substring(values, ":", ".")
        moments = pc.replace_substring(moments, " ", "-")
        if column.type is SqlType.TIMESTAMP_TZ:  # the colon of the zone stays
            moments = pc.replace_substring_regex(moments, r"([+-]\d\d)\.(\d\d)$", r"\1:\2")
        return moments
    if column.type in _PLAIN or column.type is SqlType.BOOLEAN:
        return number_text(values, column)
    return csv_text(values)


def _fact(dataset: Dataset, facts: pa.Table, name: str) -> str | pa.Array:
    if not name:
        return ""
    if name == "table":
        return csv_text(pa.array([f"{dataset.table.schema}.{dataset.table.name}"]))[0].as_py()
    values = facts[name].combine_chunks()
    if name == "commit_time":
        text = pc.replace_substring(pc.cast(values, pa.string()), ":", ".")
        return pc.fill_null(pc.replace_substring(text, " ", "-"), "")
    if name in ("op", "origin"):
        codes = _ACTIONS if name == "op" else _CODES
        encoded = values.dictionary_encode()
        of_code = [codes.get(word, "") for word in encoded.dictionary.to_pylist()]
        return pc.fill_null(pa.array(of_code, pa.string()).take(encoded.indices), "")
    if pa.types.is_integer(values.type):
        return pc.fill_null(pc.cast(values, pa.string()), "")
    return pc.fill_null(csv_text(values), "")


def _statement(number: int, dataset: Dataset, name: str) -> str:
    fields = [f"{_quoted(name)} {kind}" for name, kind, _ in _INFO]
    fields += [f"{_quoted(column.name)} {_type(column)}" for column in dataset.columns]
    table = f"{_quoted(dataset.table.schema)}.{_quoted(dataset.table.name)}"
    return "\n".join(
        [
            f"--file {name}",
            f"LOAD DATA INDDN SYS{number:05d} LOG NO RESUME YES",
            "  UNICODE CCSID(1208,1208,1200)",
            "  FORMAT DELIMITED COLDEL ',' CHARDEL '\"' DECPT '.'",
            f"  INTO TABLE {table}",
            *_listed(fields),
            "",
        ]
    )


def _listed(fields: Sequence[str]) -> Iterator[str]:
    for number, one in enumerate(fields):
        end = ")" if number == len(fields) - 1 else ","
        yield f"  {'(' if number == 0 else ' '}{one}{end}"


def _type(column: Column) -> str:
    words = _TYPES.get(column.type, f"{column.type.value} EXTERNAL")
    return words.format(length=column.length)


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def format_of(export: Export, options: RenderOptions) -> LoadFiles:
    """The format as the options want it."""
    return LoadFiles(options.policy)
