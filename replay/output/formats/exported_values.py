"""Values by the contract of :mod:`sqlgen.schema` -> typed Arrow arrays, and -> text for JSON and
CSV. Column by column, never row by row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Mask
from replay.output.formats import Dataset, ImageColumns
from sqlgen.dialects import Profile, profile_named
from sqlgen.literals import Policy, ValueProblem, as_bytes, plain_texts
from sqlgen.schema import FLOATS, Column, SqlType

TEXTS = frozenset({SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB, SqlType.XML})
MOMENTS = frozenset({SqlType.TIME, SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ})
BYTES = frozenset({SqlType.BINARY, SqlType.VARBINARY, SqlType.BLOB})
NUMBERS = frozenset({SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT})

#: What 64 bits of nanoseconds reach.
_MOMENTS = (
    "a moment from 1677-09-21 to 2262-04-11, as far as nanoseconds reach in this format (jsonl and"
    " csv hold all)"
)
_LEAVE_OUT = "Leave the column out (--exclude-columns)"

#: What a formula begins with, to one spreadsheet or another; wide forms too.
_FORMULA = "^[=+\\-@\\t\\r\\n\\x{ff1d}\\x{ff0b}\\x{ff0d}\\x{ff20}]"


def profile_of(
    name: str, digits: int, hour_24: Iterable[SqlType], null_byte: bool = True
) -> Profile:
    """What a format can hold, as far as the policies for values ask: fraction digits of a
    timestamp, hour 24, X'00' in text."""
    profile = replace(
        profile_named("duckdb"),
        name=name,
        time_digits=digits,
        hour_24=frozenset(hour_24),
        one_case=frozenset(),
        null_byte=null_byte,
    )
    return replace(profile, zone_minutes=(6000, 6000), zone_space=False)


def shaped(
    values: pa.Array, column: Column, profile: Profile, policy: Policy
) -> tuple[pa.Array, list[ValueProblem]]:
    """Texts and moments as the policy wants them for a format, and those that it cannot hold (null
    then); other values as they are."""
    if column.type not in TEXTS and column.type not in MOMENTS:
        return values, []
    values, problems = plain_texts(values, column, profile, policy)
    if problems:
        bad = np.zeros(len(values), bool)
        bad[[problem.row for problem in problems]] = True
        values = pc.if_else(pa.array(bad), pa.scalar(None, values.type), values)
    return values, problems


def cast(values: pa.Array, kind: pa.DataType) -> tuple[pa.Array, Mask | None]:
    """Values as another type, and which of them it cannot hold (those are null; None: it holds
    all)."""
    try:
        return pc.cast(values, kind), None
    except pa.ArrowInvalid:
        single = [_cast_one(values[row], kind) for row in range(len(values))]
    converted = pa.array(single, kind)
    return converted, np.logical_and(
        converted.is_null().to_numpy(zero_copy_only=False),
        values.is_valid().to_numpy(zero_copy_only=False),
    )


def _cast_one(value: pa.Scalar, kind: pa.DataType) -> pa.Scalar:
    try:
        return value.cast(kind)
    except pa.ArrowInvalid:
        return pa.scalar(None, kind)


def held(
    values: pa.Array, column: Column, kind: pa.DataType
) -> tuple[pa.Array, list[ValueProblem]]:
    """As :func:`cast`, with a problem for each value that does not fit."""
    converted, bad = cast(values, kind)
    if bad is None:
        return converted, []
    fine = pa.types.is_timestamp(kind) and kind.unit == "ns"
    expected = _MOMENTS if fine else f"a value that {kind} can hold"
    return converted, [
        ValueProblem(int(row), column.name, str(values[int(row)].as_py()), expected, _LEAVE_OUT)
        for row in np.flatnonzero(bad)
    ]


def seconds_of(times: pa.Array) -> pa.Array:
    """Seconds since midnight (``int64``) of ``HH:MM:SS``."""
    parts = [
        pc.cast(pc.utf8_slice_codeunits(times, place, place + 2), pa.int64()) for place in (0, 3, 6)
    ]
    return pc.add(pc.add(pc.multiply(parts[0], 3600), pc.multiply(parts[1], 60)), parts[2])


# -- text
# -------------------------------------------------------------------------------------------------


def number_text(values: pa.Array, column: Column) -> pa.Array:
    """Index and booleans as text (null stays null): decimals with all their digits, floats so that
    they read back the same."""
    if column.type is SqlType.BOOLEAN:
        return pc.if_else(values, "true", "false")
    text = values if pa.types.is_string(values.type) else pc.cast(values, pa.string())
    if column.type in FLOATS and not pc.all(pc.is_finite(values)).as_py():
        text = pc.replace_substring(pc.replace_substring(text, "inf", "Infinity"), "nan", "NaN")
    return text


_ALPHABET = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8
)


def base64_of(values: pa.Array) -> pa.Array:
    """Bytes in base64 (RFC 4648, section 4, with padding); null stays null."""
    size = pc.fill_null(pc.binary_length(values), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    groups = -(-size // 3)
    begin = np.concatenate([[0], np.cumsum(groups)])
    raw = as_bytes(pc.fill_null(values, b""))
    padded = np.zeros(int(begin[-1]) * 3, np.uint8)
    starts = np.cumsum(size) - size
    padded[np.arange(len(raw)) + np.repeat(begin[:-1] * 3 - starts, size)] = raw
    one, two, three = padded.reshape(-1, 3).T
    text = np.empty((len(one), 4), np.uint8)
    text[:, 0] = _ALPHABET[one >> 2]
    text[:, 1] = _ALPHABET[(one & 3) << 4 | two >> 4]
    text[:, 2] = _ALPHABET[(two & 15) << 2 | three >> 6]
    text[:, 3] = _ALPHABET[three & 63]
    last = begin[1:] - 1
    text[last[size % 3 == 1], 2:] = ord("=")
    text[last[size % 3 == 2], 3] = ord("=")
    encoded = pa.StringArray.from_buffers(
        len(values), pa.py_buffer((begin * 4).astype(np.int32)), pa.py_buffer(text)
    )
    return (
        pc.if_else(values.is_null(), pa.scalar(None, pa.string()), encoded)
        if values.null_count
        else encoded
    )


#: Characters that end a line for some readers, by the first byte of their UTF-8.
_LINE_ENDS = {0xC2: "\x85", 0xE2: "\u2028\u2029"}


def json_text(values: pa.Array) -> pa.Array:
    """Text as JSON strings with their quotes; null stays null. Everything that could end a line is
    escaped."""
    present = np.bincount(as_bytes(values), minlength=256)
    for code in (92, 34, *range(32)):
        if present[code]:
            values = pc.replace_substring(
                values, chr(code), f"\\{chr(code)}" if code > 31 else f"\\u{code:04x}"
            )
    for first, ends in _LINE_ENDS.items():
        for character in ends if present[first] else "":
            values = pc.replace_substring(values, character, f"\\u{ord(character):04x}")
    return pc.binary_join_element_wise('"', values, '"', "")


def csv_text(values: pa.Array) -> pa.Array:
    """Text in quotes for CSV (RFC 4180); null stays null, which is nothing between two commas,
    while empty text is ``""``."""
    if (as_bytes(values) == 34).any():
        values = pc.replace_substring(values, '"', '""')
    return pc.binary_join_element_wise('"', values, '"', "")


def harmless(values: pa.Array) -> pa.Array:
    """Text that no spreadsheet takes for a formula: behind an apostrophe where it begins like
    one."""
    begins = pc.fill_null(pc.match_substring_regex(values, _FORMULA), False)
    if not pc.any(begins).as_py():
        return values
    return pc.if_else(begins, pc.binary_join_element_wise("'", values, ""), values)


def quoted_floats(text: pa.Array) -> pa.Array:
    """Index as JSON has them; those that it does not have (NaN, Infinity) as strings. A negative
    zero has a point: without, it is a whole number to readers, and these have none."""
    text = pc.if_else(pc.equal(text, "-0"), "-0.0", text)
    odd = pc.match_substring_regex(text, "[NI]")
    return (
        pc.if_else(odd, pc.binary_join_element_wise('"', text, '"', ""), text)
        if pc.any(odd).as_py()
        else text
    )


class StructImages(ABC):
    """A format whose images are structs, one value after the other."""

    @abstractmethod
    def fields(self, dataset: Dataset) -> list[pa.Field]:
        """The fields of an image, one for each column of a dataset."""

    @abstractmethod
    def values(
        self, values: pa.Array, column: Column, kind: pa.DataType
    ) -> tuple[pa.Array, list[ValueProblem]]:
        """Values of a column as those of its field, and what is wrong with them."""

    def images(
        self, dataset: Dataset, before: ImageColumns | None, after: ImageColumns | None, count: int
    ) -> tuple[pa.Table, list[ValueProblem]]:
        """The columns ``before`` and ``after`` of ``count`` changes, and what is wrong with their
        values."""
        problems: list[ValueProblem] = []
        fields, sides = self.fields(dataset), []
        for side in (before, after):
            if side is None:
                sides.append(pa.nulls(count, pa.struct(fields)))
                continue
            columns = []
            for column, field in zip(dataset.columns, fields, strict=True):
                values, wrong = self.values(side[column.name], column, field.type)
                columns.append(values)
                problems += wrong
            sides.append(pa.StructArray.from_arrays(columns, fields=fields))
        return pa.table(sides, ["before", "after"]), problems
