"""Single columns of many row images, found by machine code: for values that decide about a row or
become others before :mod:`replay.pipeline.fast_path` writes it.

:func:`replay.decoding.images.walk` finds all columns of the images, and says what is wrong with one
that does not fit. Here nothing is said of such a row: it is left to the other way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from replay.arrays import Index, Mask
from replay.decoding.machine_code import ArrayOf, Kernel, available
from replay.decoding.plain_rows import ColumnPlaces, ColumnWalk, PlainRows
from replay.pipeline import fast_path_tables as tables
from replay.pipeline.fast_program import KernelInput, Program

_TABLE = ArrayOf("int64", 2)
_KERNEL = Kernel(
    "replay.pipeline.fast_path_kernel",
    "locate_rows",
    (
        *(ArrayOf("uint8", fixed=True), _TABLE, ArrayOf("int64"), _TABLE, ArrayOf("int64")),
        *(_TABLE, _TABLE, _TABLE, ArrayOf("bool", 2), ArrayOf("bool")),
    ),
    tables.SOURCES,
)


class Columns:
    """Some columns of both images of ``n`` changes, or of the one they have. ``odd`` (bool[n]) are
    those of which an image does not fit the table, or a value that was asked for cannot be
    decoded."""

    def __init__(self, walks: Sequence[ColumnWalk], odd: Mask) -> None:
        self.walks, self.odd = walks, odd
        self._decoded: dict[tuple[int, int], pa.Array] = {}

    def changed(self, index: int) -> Mask:
        """Where an update changes a column."""
        return ~self.walks[0].equal(self.walks[1], index) & ~self.odd

    def decode(self, side: int, index: int, rows: Index | None = None) -> pa.Array:
        """A column of the first or the second image, of some rows or of all."""
        known = self._decoded.get((side, index))
        if known is not None and rows is None:
            return known
        values, bad = self.walks[side].decode(index, rows)
        if bad is not None:
            wrong = np.flatnonzero(bad)
            self.odd[wrong if rows is None else rows[wrong]] = True
        if rows is None:
            self._decoded[side, index] = values
        return values


def locate(
    plain: PlainRows, program: Program, rows: KernelInput, chosen: Sequence[int]
) -> Columns | None:
    """The columns with the indexes ``chosen`` of the rows of one program; those that are unusable
    are not looked at. None where there is no machine code."""
    find = available(_KERNEL)
    if find is None:
        return None
    buffer, bounds, cells = rows.buffer, rows.bounds, program.cells
    sides, count = len(bounds) // 2, bounds.shape[1]
    size = (sides * len(chosen), count)
    places, sizes = np.zeros(size, np.int64), np.zeros(size, np.int64)
    nulls, bad = np.zeros(size, bool), rows.unusable.copy()
    work = np.zeros((4, 2 * len(cells)), np.int64)
    laid_out = np.zeros(tables.PROGRAM, np.int64)
    laid_out[tables.SHAPE : tables.SHAPE + len(program.shape)] = program.shape
    columns = np.array(chosen, np.int64)
    find(buffer, bounds, laid_out, cells, columns, work, places, sizes, nulls, bad)
    walks = []
    for side in range(sides):
        found = {
            index: ColumnPlaces(places[row], sizes[row], nulls[row])
            for row, index in enumerate(chosen, side * len(chosen))
        }
        start, end = bounds[2 * side], bounds[2 * side + 1]
        walks.append(plain.placed(buffer, start, end, bad.copy(), found))
    return Columns(walks, bad)
