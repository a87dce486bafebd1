"""CSV and JSON lines: a change a line. Decimals, moments and bytes are text with everything that
the log has of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from replay.changes.choices import CsvFormulas
from replay.changes.options import Export
from replay.output.formats import FACTS, Dataset, ImageColumns, Writer
from replay.output.formats.exported_values import (
    BYTES,
    MOMENTS,
    NUMBERS,
    csv_text,
    harmless,
    json_text,
    number_text,
    profile_of,
    quoted_floats,
    shaped,
)
from sqlgen.literals import Policy, ValueProblem, as_bytes, hexadecimal
from sqlgen.render_options import RenderOptions
from sqlgen.schema import FLOATS, Column, SqlType
from sqlgen.statements import joined

_PLAIN = frozenset({*NUMBERS, SqlType.BOOLEAN})


class LineWriter:
    """Writes the one column of its rows, each value with a line end."""

    def __init__(self, path: Path, header: str = "") -> None:
        self.file: IO[bytes] = path.open("wb")
        if header:
            self.file.write(f"{header}\n".encode())

    def write(self, rows: pa.Table) -> None:
        """Append rows."""
        for chunk in rows.column(0).chunks:
            self.file.write(as_bytes(pc.binary_join_element_wise(chunk, "\n", "")).data)

    def close(self) -> None:
        """End the file."""
        self.file.close()


def line_table(parts: list[str | pa.Array], count: int) -> pa.Table:
    """Rows of a line each."""
    return pa.table([joined(parts, count)], ["line"])


class JsonLines:
    """``{"op": …, facts …, "before": {…} or null, "after": {…} or null}``. Numbers that a reader
    may take for floating point are strings."""

    suffix = "jsonl"

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.profile = profile_of("JSON", 12, MOMENTS)

    def images(
        self, dataset: Dataset, before: ImageColumns | None, after: ImageColumns | None, count: int
    ) -> tuple[pa.Table, list[ValueProblem]]:
        """Two columns of JSON text."""
        problems: list[ValueProblem] = []
        sides = [self._object(dataset, side, count, problems) for side in (before, after)]
        return pa.table(sides, ["before", "after"]), problems

    def _object(
        self, dataset: Dataset, side: ImageColumns | None, count: int, problems: list[ValueProblem]
    ) -> pa.Array:
        if side is None:
            return pa.array(["null"] * count, pa.string())
        parts: list[str | pa.Array] = []
        for column, name in zip(dataset.columns, dataset.names, strict=True):
            values, value_problems = shaped(side[column.name], column, self.profile, self.policy)
            problems += value_problems
            parts += [
                f"{',' if parts else '{'}{json.dumps(name, ensure_ascii=False)}:",
                pc.fill_null(self._value(values, column), "null"),
            ]
        return joined([*parts, "}"], count)

    @staticmethod
    def _value(values: pa.Array, column: Column) -> pa.Array:
        if column.type in _PLAIN:
            return number_text(values, column)
        if column.type in FLOATS:
            return quoted_floats(number_text(values, column))
        return json_text(hexadecimal(values) if column.type in BYTES else values)

    def rows(self, dataset: Dataset, facts: pa.Table, images: pa.Table) -> pa.Table:
        """Lines."""
        parts: list[str | pa.Array] = []
        for name in FACTS.names:
            parts += [
                f"{',' if parts else '{'}{json.dumps(name)}:",
                pc.fill_null(_fact(facts, name, json_text), "null"),
            ]
        parts += [
            ',"before":',
            images["before"].combine_chunks(),
            ',"after":',
            images["after"].combine_chunks(),
            "}",
        ]
        return line_table(parts, len(facts))

    def open(self, path: Path, dataset: Dataset) -> Writer:
        """A new file."""
        return LineWriter(path)

    def describe(self, dataset: Dataset) -> dict[str, Any]:
        """Nothing more: names and types of the source are enough."""
        return {}


class Csv:
    """A header, then facts, columns ``before_…`` and columns ``after_…``. Null is ``null``, without
    quotes; text is in quotes, empty text too."""

    suffix = "csv"

    def __init__(self, null: str, policy: Policy, formulas: CsvFormulas) -> None:
        self.null, self.policy = null, policy
        self.tamed = formulas is CsvFormulas.TEXT
        self.profile = profile_of("CSV", 12, MOMENTS, null_byte=False)

    def images(
        self, dataset: Dataset, before: ImageColumns | None, after: ImageColumns | None, count: int
    ) -> tuple[pa.Table, list[ValueProblem]]:
        """Two columns with the fields of an image."""
        problems: list[ValueProblem] = []
        sides = [self._fields(dataset, side, count, problems) for side in (before, after)]
        return pa.table(sides, ["before", "after"]), problems

    def _fields(
        self, dataset: Dataset, side: ImageColumns | None, count: int, problems: list[ValueProblem]
    ) -> pa.Array:
        if side is None:
            return pa.array([",".join([self.null] * len(dataset.columns))] * count, pa.string())
        parts: list[str | pa.Array] = []
        for column in dataset.columns:
            values, value_problems = shaped(side[column.name], column, self.profile, self.policy)
            problems += value_problems
            parts += [
                *([","] if parts else []),
                pc.fill_null(self._value(values, column), self.null),
            ]
        return joined(parts, count)

    def _text(self, values: pa.Array) -> pa.Array:
        return csv_text(harmless(values) if self.tamed else values)

    def _value(self, values: pa.Array, column: Column) -> pa.Array:
        if column.type in BYTES:
            return csv_text(hexadecimal(values))
        plain = (
            column.type in _PLAIN
            or column.type in FLOATS
            or column.type in MOMENTS
            or column.type in (SqlType.DECIMAL, SqlType.DATE)
        )
        return number_text(values, column) if plain else self._text(values)

    def rows(self, dataset: Dataset, facts: pa.Table, images: pa.Table) -> pa.Table:
        """Lines."""
        parts: list[str | pa.Array] = []
        for name in FACTS.names:
            parts += [pc.fill_null(_fact(facts, name, self._text), self.null), ","]
        parts += [images["before"].combine_chunks(), ",", images["after"].combine_chunks()]
        return line_table(parts, len(facts))

    def open(self, path: Path, dataset: Dataset) -> Writer:
        """A new file with its header."""
        names = [
            *FACTS.names,
            *(f"{side}_{name}" for side in ("before", "after") for name in dataset.names),
        ]
        return LineWriter(path, ",".join(self._text(pa.array(names, pa.string())).to_pylist()))

    def describe(self, dataset: Dataset) -> dict[str, Any]:
        """Nothing more: names and types of the source are enough."""
        return {}


def _fact(facts: pa.Table, name: str, text: Any) -> pa.Array:
    values = facts[name].combine_chunks()
    if pa.types.is_integer(values.type):
        return pc.cast(values, pa.string())
    return text(values if pa.types.is_string(values.type) else pc.cast(values, pa.string()))


def format_of(export: Export, options: RenderOptions) -> JsonLines | Csv:
    """The format as the options want it."""
    return (
        Csv(export.null, options.policy, export.formulas)
        if export.format == "csv"
        else JsonLines(options.policy)
    )
