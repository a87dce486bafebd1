"""How the columns of a row image lie, by the readings of a format, and the values of one column
(format notes, sections 6.3 to 6.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from itertools import product

import numpy as np
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import ColumnFormat, RowFormat
from replay.decoding import code_pages, codecs
from replay.errors import InputError
from sqlgen.schema import ARROW_TYPES, SqlType

#: Type codes whose length counts double-byte characters in some logs and bytes in others (the notes
#: leave it open).
_GRAPHIC_VARYING, _GRAPHIC_FIXED = frozenset({"VGRF", "LVGR"}), frozenset({"GRPH"})
#: What a column that may be null begins with.
NULL_BYTE = "a null byte X'00' (value) or X'FF' (null)"


@dataclass(frozen=True)
class Cell:
    """How one column lies in an image: ``width`` bytes (of a varying column: what an expanded one
    takes), ``unit`` bytes per length unit. ``filled``: what lies behind the value in an expanded
    column must be one filler, for nothing else tells of which unit its length is."""

    nullable: bool
    variable: bool
    width: int
    unit: int = 1
    expanded: bool = False
    filled: bool = False


def layouts(fmt: RowFormat) -> Iterator[tuple[Cell, ...]]:
    """The readings of a format to try, the likeliest first: graphic lengths in characters, large
    objects as the catalog describes them. In expanded columns bytes come first: what counts
    characters has something else than filler behind half of them, and the other way round it
    has not."""
    codes = {column.code for column in fmt.columns}
    units = (2, 1) if codes & _GRAPHIC_VARYING else (2,)
    padded = any(column.expanded and column.code in _GRAPHIC_VARYING for column in fmt.columns)
    if padded:
        units = units[::-1]
    fixed_units = (1, 2) if codes & _GRAPHIC_FIXED or padded else (1,)
    flips = (
        (False, True)
        if any(column.lob or column.code == "ROWI" for column in fmt.columns)
        else (False,)
    )
    for flip, fixed_unit, unit in product(flips, fixed_units, units):
        yield tuple(_cell(column, unit, fixed_unit, flip) for column in fmt.columns)


def _cell(column: ColumnFormat, unit: int, fixed_unit: int, flip: bool) -> Cell:
    variable = column.variable != (flip and (column.lob or column.code == "ROWI"))
    graphic = column.code in _GRAPHIC_VARYING
    width = column.length * (fixed_unit if graphic or column.code in _GRAPHIC_FIXED else 1)
    if variable:
        filled = graphic and column.expanded
        return Cell(column.nullable, True, width, unit if graphic else 1, column.expanded, filled)
    return Cell(column.nullable, False, width)


# -- rows for machine code
# -------------------------------------------------------------------------------------------------
# How row images lie and how their values are written, as far as machine code takes them: those of
# Log Master's logical logs, as data for one kernel (:mod:`replay.native.fast_path`).
#
# A row that is not as described here is no damaged one: it is left to the family's own walk
# (:class:`replay.logs.Walk`), which every rule belongs to.


class ValueForm(Enum):
    """How the bytes of a value say it: two's complement, packed decimals, text in the column's
    character set, moments as characters."""

    INTEGER = auto()
    PACKED = auto()
    TEXT = auto()
    MOMENT = auto()


@dataclass(frozen=True)
class PlainCell:
    """One column. ``form`` is None where machine code cannot say its values, which may be looked
    at all the same. ``width`` bytes has a value that is not ``variable``; an ``expanded`` varying
    value takes them, too."""

    nullable: bool
    variable: bool
    width: int
    form: ValueForm | None
    expanded: bool = False


@dataclass(frozen=True)
class PlainRows:
    """The columns of a table's row images in their order: one after the other, each behind a null
    byte (X'00', or X'FF' for null) where it is nullable, and behind its size (two bytes, the
    higher one first) where it is variable."""

    cells: tuple[PlainCell, ...]


_FORMS = {
    SqlType.CHAR: ValueForm.TEXT,
    SqlType.VARCHAR: ValueForm.TEXT,
    SqlType.SMALLINT: ValueForm.INTEGER,
    SqlType.INTEGER: ValueForm.INTEGER,
    SqlType.BIGINT: ValueForm.INTEGER,
    SqlType.DECIMAL: ValueForm.PACKED,
    SqlType.DATE: ValueForm.MOMENT,
    SqlType.TIME: ValueForm.MOMENT,
    SqlType.TIMESTAMP: ValueForm.MOMENT,
}


def plain_rows(fmt: RowFormat, reading: int) -> PlainRows | None:
    """The images of a reading of a format, for machine code; None where that cannot take them."""
    cells = tuple(layouts(fmt))[reading]
    if any(column.lob for column in fmt.columns):
        return None
    if any(cell.unit != 1 or cell.filled for cell in cells):
        return None
    pairs = zip(cells, fmt.columns, strict=True)
    return PlainRows(
        tuple(
            PlainCell(
                cell.nullable, cell.variable, cell.width, _form(column, cell),
                expanded=cell.expanded,
            )
            for cell, column in pairs
        ),
    )  # fmt: skip


def _form(column: ColumnFormat, cell: Cell) -> ValueForm | None:
    """How the bytes of a column say its values."""
    form = None if column.raw else _FORMS.get(column.column.type)
    if form is ValueForm.TEXT:
        return form
    return None if cell.variable or unusable(column, cell.width) else form


# -- the values of one column
# -------------------------------------------------------------------------------------------------

_INTEGERS = frozenset({SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT})
_TEXTS = frozenset({SqlType.CHAR, SqlType.VARCHAR})
_BINARY = frozenset({SqlType.BINARY, SqlType.VARBINARY})
#: Hexadecimal digits of a value shown in a finding.
_SHOWN = 128


def decode(
    column: ColumnFormat, buffer: Bytes, start: Index, null: Mask | None, length: Index | int
) -> codecs.Decoded:
    """The values, by the contract of :mod:`sqlgen.schema`, bad ones as null; and which of them
    cannot be decoded (None: all can). ``InputError`` when the column's character set is not
    known."""
    if column.lob:
        kind = ARROW_TYPES[column.column.type]
        return pa.nulls(len(start), kind), np.ones(len(start), bool) if null is None else ~null
    if isinstance(length, int):
        return decode_fixed(column, codecs.gather(buffer, start, length), null)
    if null is not None:
        length = np.where(null, 0, length)
    data, offsets = codecs.gather_varying(buffer, start, length)
    if is_binary(column):
        return codecs.binary_values(data, offsets, null), None
    return codecs.decode_text(data, offsets, ccsid_of(column), null)


def decode_fixed(column: ColumnFormat, block: Bytes, null: Mask | None) -> codecs.Decoded:
    """As :func:`decode` of ``n`` values of one length, each a row of ``block`` (``uint8[n,
    width]``); ``null`` (``bool[n]``) marks those that are none. Errors as there."""
    kind, width = column.column.type, block.shape[1]
    if is_binary(column):
        return (
            codecs.binary_values(block.reshape(-1), np.arange(len(block) + 1) * width, null),
            None,
        )
    if unusable(column, width):
        wrong = np.ones(len(block), bool) if null is None else ~null
        return pa.nulls(len(block), ARROW_TYPES[kind]), wrong if wrong.any() else None
    if kind in _INTEGERS:
        return codecs.decode_integer(block, null)
    if kind is SqlType.DECIMAL:
        return codecs.decode_packed(block, column.scale, null)
    if kind is SqlType.REAL:
        return codecs.decode_real(block, null)
    if kind is SqlType.DOUBLE:
        return codecs.decode_hfp(block, null)
    if kind is SqlType.DATE:
        return codecs.decode_date(block, null)
    if kind is SqlType.TIME:
        return codecs.decode_time(block, null)
    if kind in (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ):
        return codecs.decode_timestamp(block, kind is SqlType.TIMESTAMP_TZ, null)
    return codecs.decode_fixed_text(block, ccsid_of(column), null)


def readable(column: ColumnFormat) -> bool:
    """Whether any bytes are a value: integers and long floats of a possible length, bit data, and
    text of which every byte is a character. ``InputError`` when the character set is not known."""
    kind = column.column.type
    if column.lob:
        return False
    if is_binary(column):
        return True
    if kind in _TEXTS:
        return code_pages.is_complete(ccsid_of(column))
    fixed = not column.variable and (kind in _INTEGERS or kind is SqlType.DOUBLE)
    return fixed and not unusable(column, column.length)


def is_binary(column: ColumnFormat) -> bool:
    """Whether values are bytes and no text."""
    return column.column.type in _BINARY or column.raw


def ccsid_of(column: ColumnFormat) -> int:
    """The character set of a column; ``InputError`` when it is not known."""
    if column.ccsid is None:
        message = (
            f"found no CCSID for column {column.column.name} with encoding {column.encoding};"
            " expected one in the XTYP record"
        )
        raise InputError("LR2015", message, hint="Name one with --ccsid")
    return column.ccsid


def unusable(column: ColumnFormat, width: int) -> bool:
    """A length that the type cannot have (the catalog should have refused it)."""
    kind = column.column.type
    if kind in _INTEGERS:
        return width not in (2, 4, 8)
    if kind is SqlType.DECIMAL:
        return not 1 <= width <= 16
    if kind in (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ):
        width -= 6 if kind is SqlType.TIMESTAMP_TZ else 0
        return width != 19 and not 21 <= width <= 32
    if column.wide:
        return width != 4
    return width != {SqlType.REAL: 4, SqlType.DOUBLE: 8, SqlType.DATE: 10, SqlType.TIME: 8}.get(
        kind, width
    )


_EXPECTED = {
    SqlType.DECIMAL: "packed digits 0 to 9 and a sign A to F",
    SqlType.REAL: "a short hexadecimal float that an IEEE single can hold (1.4E-45 to 3.4E+38)",
    SqlType.DATE: "a date YYYY-MM-DD",
    SqlType.TIME: "a time HH.MM.SS",
    SqlType.TIMESTAMP: "a timestamp YYYY-MM-DD-HH.MM.SS",
    SqlType.TIMESTAMP_TZ: "a timestamp YYYY-MM-DD-HH.MM.SS with a time zone",
}


def explain(column: ColumnFormat, data: Bytes) -> tuple[str, str]:
    """Of the bytes of a value that cannot be decoded: what was found and what was expected."""
    kind = column.column.type
    if column.lob:
        return (
            f"a value in large object column {column.column.name}",
            "NULL: a row holds no more of a large object than that there is one",
        )
    text = f"X'{_hex(data)}' in {kind.value} column {column.column.name}"
    if kind is SqlType.REAL and len(data) == 4:
        text += f" = {float(codecs.hfp_values(data.reshape(1, 4))[0])!r}"
    return text, expected(column, len(data))


def expected(column: ColumnFormat, size: int) -> str:
    """What a value of ``size`` bytes should have been that cannot be decoded."""
    kind = column.column.type
    if unusable(column, size):
        return f"a length that {kind.value} can have, not {size} bytes"
    return _EXPECTED.get(kind, f"characters of CCSID {column.ccsid}")


def _hex(data: Bytes) -> str:
    digits = data[: _SHOWN // 2].tobytes().hex().upper()
    return digits + ("…" if len(data) > _SHOWN // 2 else "")
