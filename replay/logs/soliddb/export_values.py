"""Values of exported rows: whole numbers, and VARBINARY as bytes or as hexadecimal digits
(section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.errors import InputError, Where

#: A number that is NULL.
NONE = -(1 << 63)
_HEX = "bytes in hexadecimal digits"
#: Characters of an unusable value in a message.
_SHOWN = 64


@dataclass(frozen=True)
class SomeRows:
    """Some rows of a file, of which the first has the number ``first``, from 0."""

    path: str
    table: pa.Table
    first: int

    def _column(self, name: str) -> pa.Array:
        """A column; nulls where it is not there."""
        if name not in self.table.column_names:
            return pa.nulls(self.table.num_rows)
        return self.table[name].combine_chunks()

    def _cast(self, column: pa.Array, name: str, kind: pa.DataType, expected: str) -> pa.Array:
        try:
            return column.cast(kind)
        except pa.ArrowException:
            raise InputError(
                "LR2010",
                f"found {column.type} values; expected {expected}",
                Where(self.path, field=name),
                "Export it again",
            ) from None

    def numbers(self, name: str) -> Index:
        """A column of numbers. InputError LR2010."""
        column = self._column(name)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            digits = pc.utf8_trim_whitespace(column)
            wrong = np.flatnonzero(
                ~pc.fill_null(pc.match_substring_regex(digits, r"^-?\d{1,18}$"), True).to_numpy(
                    zero_copy_only=False
                )
            )
            if len(wrong):
                raise unusable(
                    self.path,
                    self.first + int(wrong[0]),
                    name,
                    repr(column[int(wrong[0])].as_py()[:_SHOWN]),
                    "a whole number",
                )
            column = digits
        values = self._cast(column, name, pa.int64(), "whole numbers")
        return np.asarray(_filled(values, NONE).to_numpy(zero_copy_only=False), np.int64)

    def octets(self, name: str) -> tuple[Bytes, Index, Mask]:
        """(bytes, ``n + 1`` offsets, nulls) of a binary column."""
        column = self._column(name)
        null = np.asarray(column.is_null().to_numpy(zero_copy_only=False), bool)
        if pa.types.is_null(column.type):
            return np.zeros(0, np.uint8), np.zeros(len(column) + 1, np.int64), null
        text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if text:
            column = _bare(column.cast(pa.large_string()))
        values = _filled(self._cast(column, name, pa.large_binary(), "bytes"), b"")
        offsets = np.frombuffer(values.buffers()[1], np.int64)[
            values.offset : values.offset + len(values) + 1
        ]
        raw = values.buffers()[2]
        data = (
            np.frombuffer(raw, np.uint8)[offsets[0] : offsets[-1]]
            if raw is not None
            else np.zeros(0, np.uint8)
        )
        offsets = offsets - offsets[0]
        if not text:
            return data, offsets, null
        odd = np.flatnonzero(np.diff(offsets) % 2)
        nibbles = _NIBBLE[data]
        wrong = np.flatnonzero(nibbles > 15)
        bad = [*odd[:1].tolist(), *(np.searchsorted(offsets, wrong[:1], side="right") - 1).tolist()]
        if bad:
            row = min(bad)
            raise unusable(
                self.path,
                self.first + row,
                name,
                repr(self.table[name][row].as_py()[:_SHOWN]),
                _HEX,
            )
        return np.asarray((nibbles[0::2] << 4) | nibbles[1::2], np.uint8), offsets // 2, null


_NIBBLE = np.full(256, 255, np.uint8)
for _value in range(16):
    _NIBBLE[ord(f"{_value:x}")] = _NIBBLE[ord(f"{_value:X}")] = _value


def _filled(column: pa.Array, missing: int | bytes) -> pa.Array:
    """A column with ``missing`` for its nulls; itself where it has none, of which Arrow makes a
    copy."""
    return pc.fill_null(column, missing) if column.null_count else column


def _bare(column: pa.Array) -> pa.Array:
    """Hexadecimal digits without ``0x`` or ``X'…'`` around them."""
    if not pc.any(pc.match_substring_regex(column, "^(0[xX]|[xX]')")).as_py():
        return column
    return pc.replace_substring_regex(
        column, "^0[xX]([0-9a-fA-F]*)$|^[xX]'([0-9a-fA-F]*)'$", r"\1\2"
    )


def unusable(path: str, row: int, field: str, found: str, expected: str) -> InputError:
    """LR2010 for a value of the ``row``, counted from 0."""
    return InputError(
        "LR2010",
        f"found {found}; expected {expected}",
        Where(path, row + 1, None, field),
        "Export it again",
    )
