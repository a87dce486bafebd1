"""How the columns of a row image lie: the readings of a format (format notes, sections 6.3 to
6.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from itertools import product

from replay.changes.catalog import ColumnFormat, RowFormat
from replay.decoding.image_values import unusable
from sqlgen.schema import SqlType

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
