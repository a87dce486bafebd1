"""Row images as texts that are equal where the values are, and as values to be shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from replay.errors import UsageError
from sqlgen.literals import hexadecimal
from sqlgen.schema import ARROW_TYPES, Column, SqlType
from sqlgen.statements import joined, one_array
from sqlgen.value_texts import unquoted, value_of

_BYTES = (SqlType.BINARY, SqlType.VARBINARY, SqlType.BLOB)
_WHOLE = (SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT)
_FRACTIONS = (SqlType.DECIMAL, SqlType.TIMESTAMP)
_TEXTS = (SqlType.CHAR, SqlType.VARCHAR)


def image_texts(images: pa.Array, columns: Sequence[Column], loose: bool = False) -> pa.Array:
    """A text for each image (struct) by the values of ``columns``, null where there is no image.
    Each value stands behind its length, so different values never make one text. ``loose``: as
    Db2 compares keys; blanks at the end and zeros at the end of a fraction do not count, and whole
    numbers equal decimals."""
    if pa.types.is_null(images.type) or not len(images):
        return pa.nulls(len(images), pa.string())
    parts: list[str | pa.Array] = [""]
    for column in columns:
        values = _text(field_of(images, column.name), column, loose)
        size = pc.cast(pc.binary_length(values), pa.string())
        parts.append(pc.fill_null(pc.binary_join_element_wise(size, ":", values, ""), "-"))
    return pc.if_else(pc.is_valid(images), joined(parts, len(images)), pa.scalar(None, pa.string()))


def with_texts(rows: pa.Table, columns: Sequence[Column], key: Sequence[Column]) -> pa.Table:
    """Changes with the texts of their images (``image_before``, ``image_after``) and of their keys
    (``key_before``, ``key_after``: the loose ones; without a ``key`` those of the images)."""
    for side in ("before", "after"):
        images = one_array(rows[side])
        whole = image_texts(images, columns)
        key_texts = image_texts(images, key, loose=True) if key else whole
        rows = rows.append_column(f"key_{side}", key_texts)
        rows = rows.append_column(f"image_{side}", whole)
    return rows


def field_of(images: pa.Array, name: str) -> pa.Array:
    """The values of a field of structs; Arrow takes a name that begins with a dot for a path."""
    return pc.struct_field(images, images.type.get_field_index(name))


def _text(values: pa.Array, column: Column, loose: bool) -> pa.Array:
    if column.type in _BYTES:
        return hexadecimal(values)
    text = values if pa.types.is_string(values.type) else pc.cast(values, pa.string())
    if loose and column.type in _FRACTIONS:
        text = pc.replace_substring_regex(text, r"(\.\d*?)0+$", r"\1")
        return pc.replace_substring_regex(text, r"\.$", "")
    return pc.utf8_rtrim(text, " ") if loose and column.type in _TEXTS else text


def key_text(
    given: str,
    columns: Sequence[Column],
    mask: Callable[[str, pa.Array], pa.Array] | None = None,
) -> str:
    """The loose text (:func:`image_texts`) of a key as people write it: a value, or of several
    columns the values with commas between, or ``COLUMN=VALUE`` each; ``mask``: what becomes of the
    values of a column. UsageError (LR1001) for one that is none of these columns."""
    values = _values_of(given, columns)
    parts = []
    for column, value in zip(columns, values, strict=True):
        plain = value.strip() if column.type not in _TEXTS else value
        typed = _typed(plain, column, len(columns) == 1)
        typed = typed if mask is None else mask(column.name, typed)
        text = str(_text(typed, column, True)[0].as_py())
        parts.append(f"{len(text.encode())}:{text}")
    return "".join(parts)


def _values_of(given: str, columns: Sequence[Column]) -> list[str]:
    names = [column.name for column in columns]
    shown = ",".join(f"{name}=…" for name in names)
    named = _named_values(given, names)
    if named is not None:
        if sorted(named) != sorted(names):
            raise UsageError("LR1001", f"found --key {given}; expected {shown}")
        return [named[name] for name in names]
    if len(columns) == 1:
        return [given]
    parts = given.split(",")
    if len(parts) != len(columns):
        raise UsageError(
            "LR1001",
            f"found --key {given} with {len(parts)} values; expected {len(columns)}: {shown}",
        )
    return parts


def _named_values(given: str, names: Sequence[str]) -> dict[str, str] | None:
    """``A=1,B=2`` by name, None where the text does not begin with the name of a column."""
    pattern = "|".join(re.escape(name) for name in names)
    starts = list(re.finditer(rf"(?:^|,)\s*({pattern})\s*=", given, re.IGNORECASE))
    if not starts or starts[0].start() != 0:
        return None
    ends = [*(match.start() for match in starts[1:]), len(given)]
    return {
        match.group(1).upper() if match.group(1).upper() in names else match.group(1): given[
            match.end() : end
        ].strip()
        for match, end in zip(starts, ends, strict=True)
    }


def _typed(value: str, column: Column, alone: bool) -> pa.Array:
    value = unquoted(value)
    try:
        found = value_of(value, column)
    except ValueError:
        what = "a whole number" if column.type in _WHOLE else f"a value of {_words(column)}"
        raise UsageError(
            "LR1001",
            f"found {value!r}; expected {what} for key column {column.name}",
            hint=f"The key has this column alone: --key VALUE, or --key {column.name}=VALUE"
            if alone
            else "",
        ) from None
    return pa.array([found], ARROW_TYPES[column.type])


def _words(column: Column) -> str:
    sizes = [column.length, column.scale] if column.type is SqlType.DECIMAL else [column.length]
    shown = ", ".join(map(str, sizes)) if column.length else ""
    return f"{column.type.value}({shown})" if shown else column.type.value


def shown_value(value: Any) -> Any:
    """A value as JSON has it: bytes as ``\\x`` and hexadecimal digits, floats that are no numbers
    as text."""
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value


def shown_image(image: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """An image with values as :func:`shown_value` has them."""
    return None if image is None else {name: shown_value(value) for name, value in image.items()}


def literal(value: Any) -> str:
    """A value as a condition or a person would write it; control characters are shown as
    ``\\x…``."""
    if value is None:
        return "NULL"
    if isinstance(value, bool | int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    text = "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in str(value)
    )
    return "'" + text.replace("'", "''") + "'"
