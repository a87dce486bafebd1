"""How the columns of a row image lie: the readings of a format (format notes, sections 6.3 to
6.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from replay.changes.catalog import ColumnFormat, RowFormat

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
