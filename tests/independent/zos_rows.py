"""Row images of Log Master's logs (6.3 and 6.4 of the format notes)."""

from __future__ import annotations

import random
import struct
from decimal import Decimal

from tests.independent.tables import Column, Row, Table
from tests.independent.values import Value
from tests.independent.zos_headers import PAGE, Form, scheme
from tests.independent.zos_text import UNKNOWN

#: Types of columns, and their codes in DLCI (6.4).
CODES = dict(
    entry.rsplit(" ", 1)
    for entry in (
        *("SMALLINT INT", "INTEGER INT", "BIGINT INT", "DECIMAL DEC", "REAL FLOT", "DOUBLE FLOT"),
        *("CHAR CHAR", "VARCHAR VCHR", "LONG VARCHAR LVCH", "GRAPHIC GRPH", "VARGRAPHIC VGRF"),
        *("LONG VARGRAPHIC LVGR", "DATE DATE", "TIME TIME", "TIMESTAMP DTTM", "TIMESTAMPTZ DTTZ"),
    )
)
VARYING = ("VARCHAR", "LONG VARCHAR", "VARGRAPHIC", "LONG VARGRAPHIC")
WHOLE = {"SMALLINT": 2, "INTEGER": 4, "BIGINT": 8}
_BLANKS = {"E": b"\x40", "A": b" ", "U": b" "}


def hfp(value: float, length: int) -> bytes:
    """A hexadecimal floating point number of 4 or 8 bytes, normalised; ``ValueError`` if none is
    exactly ``value``."""
    if value == 0:
        return bytes([0x80 if str(value)[0] == "-" else 0]) + bytes(length - 1)
    top, bottom = abs(value).as_integer_ratio()
    exponent = 64
    while top >= bottom:
        bottom, exponent = bottom * 16, exponent + 1
    while top * 16 < bottom:
        top, exponent = top * 16, exponent - 1
    fraction, rest = divmod(top << 8 * (length - 1), bottom)
    if rest or not 0 <= exponent < 128:
        raise ValueError(value)
    sign = 0x80 if value < 0 else 0
    return bytes([exponent | sign]) + fraction.to_bytes(length - 1, "big")


def hfp_value(data: bytes) -> float:
    """What a hexadecimal floating point number is, to the nearest double."""
    exponent = 4 * ((data[0] & 0x7F) - 64) - 8 * (len(data) - 1)
    fraction = int.from_bytes(data[1:], "big")
    found = float(fraction << exponent) if exponent >= 0 else fraction / (1 << -exponent)
    return -found if data[0] & 0x80 else found


def external(column: Column, value: str) -> str:
    """A moment as the log has it: 2024-03-15-10.20.30.5."""
    whole, zone = (value[:-6], value[-6:]) if column.kind == "TIMESTAMPTZ" else (value, "")
    return whole.replace(" ", "-").replace(":", ".") + zone


def sort_of(table: Table, column: Column, form: Form) -> str:
    """S for text of single bytes, M for mixed text. Columns of LVCH do not say which (4.7)."""
    mixed = column.mixed or column.kind == "LONG VARCHAR"
    return "M" if mixed and form.pages(table).mixed != UNKNOWN else "S"


class RowWriter:
    """Images of rows, as a form has them."""

    def __init__(self, form: Form, pick: random.Random) -> None:
        self.form, self.pick = form, pick

    def row(self, table: Table, row: Row, columns: int) -> bytes:
        """The image of a row in the first so many columns."""
        pairs = zip(table.columns[:columns], row, strict=False)
        return b"".join(self._column(table, column, value) for column, value in pairs)

    def unit(self, column: Column) -> int:
        """Bytes of one unit in the lengths of a column."""
        return self.form.graphic if "GRAPHIC" in column.kind else 1

    def length(self, column: Column) -> int:
        """LLCOLUMNLEN."""
        match column.kind:
            case "SMALLINT" | "INTEGER" | "BIGINT" as kind:
                return WHOLE[kind]
            case "DECIMAL":
                return column.length // 2 + 1
            case "REAL" | "DOUBLE" as kind:
                return 4 if kind == "REAL" else 8
            case "DATE" | "TIME" as kind:
                return 10 if kind == "DATE" else 8
            case "TIMESTAMP" | "TIMESTAMPTZ" as kind:
                zone = 6 if kind == "TIMESTAMPTZ" else 0
                return 19 + (column.scale + 1 if column.scale else 0) + zone
        if "GRAPHIC" in column.kind:
            return 2 * column.length // self.form.graphic
        return column.length

    def _column(self, table: Table, column: Column, value: Value) -> bytes:
        flag = (b"\xff" if value is None else b"\0") if column.nullable else b""
        width = self.length(column) * self.unit(column)
        if column.kind in VARYING:
            data = b"" if value is None else self._value(table, column, value)
            size = struct.pack(">H", len(data) // self.unit(column))
            if self.form.expand:
                data += (self._filler(table, column) * width)[: width - len(data)]
            return flag + size + data
        if value is None:  # what lies there is not said
            junk = self.pick.random() < 0.3
            return flag + (self.pick.randbytes(width) if junk else bytes(width))
        return flag + self._value(table, column, value)

    def _filler(self, table: Table, column: Column) -> bytes:
        if self.form.filler != "blank":
            return b"\0" if self.form.filler else b"\x40"
        return self._wide_blank(table) if "GRAPHIC" in column.kind else _BLANKS[scheme(table)]

    def _wide_blank(self, table: Table) -> bytes:
        """What fills graphic columns up: a blank of UTF-16, or the wide one of other pages."""
        if scheme(table) == "U":
            return b"\0 "
        return self.form.pages(table).bytes("\u3000", "G")

    def _value(self, table: Table, column: Column, value: Value) -> bytes:
        form, length = self.form, self.length(column)
        match column.kind, value:
            case (("SMALLINT" | "INTEGER" | "BIGINT"), int()):
                return value.to_bytes(length, "big", signed=True)
            case "DECIMAL", Decimal():
                digits = "".join(map(str, value.as_tuple().digits))
                sign = "D" if value < 0 else self.pick.choice(form.plus)
                return bytes.fromhex(digits.rjust(2 * length - 1, "0") + sign)
            case (("REAL" | "DOUBLE"), float()):
                return hfp(value, length)
            case (("DATE" | "TIME" | "TIMESTAMP" | "TIMESTAMPTZ"), str()):
                plain = form.dates_follow and scheme(table) != "E"
                return external(column, value).encode("ascii" if plain else PAGE)
            case _, bytes():
                return value
            case _, str():
                return self._text(table, column, value)
        raise TypeError(value)

    def _text(self, table: Table, column: Column, value: str) -> bytes:
        pages = self.form.pages(table)
        if "GRAPHIC" not in column.kind:
            data = pages.bytes(value, sort_of(table, column, self.form))
            if column.kind == "CHAR":
                data = data.ljust(column.length, _BLANKS[scheme(table)])
            return data
        data = pages.bytes(value, "G")
        if column.kind == "GRAPHIC":
            blank = self._wide_blank(table)
            data += blank * (column.length - len(data) // 2)
        return data
