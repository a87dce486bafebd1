"""What the kernel of the fast way (:mod:`replay.native.fast_path_kernel`) takes: programs and
their tables, row images. And what it gives: the texts that it wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask
from replay.native import fast_path_tables as tables
from sqlgen.render import templates
from sqlgen.shapes import shape_name

#: Bytes that an Arrow string array can address.
MOST = (1 << 31) - 1


@dataclass(frozen=True)
class Program:
    """What the kernel needs to know of one table version, kind of change and direction. ``calls``:
    its statements are calls, and ``in_full`` is the program of the same statements in full (None
    both where they are in full anyway)."""

    cells: Index
    elements: Index
    pool: Bytes
    lengths: Bytes
    codes: Bytes
    calls: templates.Calls | None = None
    in_full: Program | None = None
    #: How often a value of one image stands in a statement at most.
    times: int = 1
    #: The statements that are called, with their names, by code.
    known: dict[int, tuple[str, str]] = field(default_factory=dict)

    def called(self, code: int) -> tuple[str, str]:
        """The name and the text of the statement that rows of a code call."""
        if code not in self.known:
            assert self.calls is not None
            statement = self.calls.statement(code)
            self.known[code] = shape_name(statement), statement
        return self.known[code]


@dataclass(frozen=True)
class KernelTables:
    """The tables of some programs, one behind the other, as the kernel takes them. ``programs``
    (int64[p, :data:`replay.native.fast_path_tables.PROGRAM`]) says which are whose."""

    programs: Index
    cells: Index
    elements: Index
    pool: Bytes
    lengths: Bytes
    codes: Bytes

    @classmethod
    def of(cls, programs: Sequence[Program], images: Sequence[int]) -> KernelTables:
        """Those of ``programs``, of rows with so many ``images`` each."""
        table = np.zeros((len(programs), tables.PROGRAM), np.int64)
        cells, elements = ([getattr(one, of) for one in programs] for of in ("cells", "elements"))
        pool = charset = 0
        for row, program in enumerate(programs):
            table[row, tables.CELLS : tables.FIXED] = 0, len(cells[row]), 0, len(elements[row]), 0
            table[row, tables.IMAGES], table[row, tables.TIMES] = images[row], program.times
            table[row, tables.FIXED] = len(program.pool) + tables.ROOM * len(elements[row])
            if row:
                table[row, [tables.CELLS, tables.CELLS_END]] += table[row - 1, tables.CELLS_END]
                before = table[row - 1, tables.ELEMENTS_END]
                table[row, [tables.ELEMENTS, tables.ELEMENTS_END]] += before
                cells[row], elements[row] = _moved(cells[row], elements[row], charset, pool)
            pool, charset = pool + len(program.pool), charset + len(program.lengths)
        if len(programs) == 1:
            only = programs[0]
            return cls(table, only.cells, only.elements, only.pool, only.lengths, only.codes)
        pools, lengths, codes = (
            np.concatenate([getattr(one, of) for one in programs])
            for of in ("pool", "lengths", "codes")
        )
        return cls(table, np.concatenate(cells), np.concatenate(elements), pools, lengths, codes)


def _moved(cells: Index, elements: Index, charset: int, pool: int) -> tuple[Index, Index]:
    """The tables of a program whose character sets begin at number ``charset`` and whose texts at
    place ``pool``."""
    cells, elements = cells.copy(), elements.copy()
    texts = np.isin(cells[:, tables.KIND], tables.TEXTS)
    cells[texts, tables.CHARSET] += charset
    elements[:, tables.PREFIX : tables.SUFFIX_END + 1] += pool
    return cells, elements


class RowImages(Protocol):
    """As :class:`replay.logs.Images`, which is one. No member raises an error."""

    @property
    def buffer(self) -> Bytes:
        """What they lie in (uint8[m])."""
        ...

    @property
    def before(self) -> tuple[Index, Index] | None:
        """(start, end) of the before images (int64[n] each), where there are some."""
        ...

    @property
    def after(self) -> tuple[Index, Index] | None:
        """(start, end) of the after images (int64[n] each), where there are some."""
        ...

    @property
    def bad(self) -> Mask:
        """Which have no usable bounds (bool[n])."""
        ...


@dataclass(frozen=True)
class KernelInput:
    """Row images as the kernel takes them: a plain buffer, and (start, end) of each image
    (int64[2 | 4, n]); those that do not lie in it are empty."""

    buffer: Bytes
    bounds: Index

    @classmethod
    def of(cls, image: RowImages) -> KernelInput:
        """The images of some changes."""
        sides = [bounds for bounds in (image.before, image.after) if bounds is not None]
        bounds = np.ascontiguousarray([edge for side in sides for edge in side], np.int64)
        unusable = image.bad.copy()
        for start, end in zip(bounds[0::2], bounds[1::2], strict=True):
            unusable |= (start < 0) | (end < start) | (end > len(image.buffer))
        bounds[:, unusable] = 0
        return cls(np.ascontiguousarray(image.buffer), bounds)

    def take(self, rows: Index) -> KernelInput:
        """Those of some rows."""
        return KernelInput(self.buffer, np.ascontiguousarray(self.bounds[:, rows]))


@dataclass(frozen=True)
class KernelOutput:
    """What the kernel made of ``n`` rows: their texts, one after the other, between ``offsets``
    (``n + 1``), what became of each, and the codes of those that have a text."""

    text: Bytes
    offsets: Index
    status: Bytes
    codes: Index

    def strings_if_few(self) -> pa.StringArray | None:
        """The texts as an array; None where they are more than one can hold."""
        return None if self.offsets[-1] > MOST else self.strings()

    def strings(self) -> pa.StringArray:
        """The texts as an array."""
        offsets = pa.py_buffer(self.offsets.astype(np.int32))
        return pa.StringArray.from_buffers(len(self.status), offsets, pa.py_buffer(self.text))


@dataclass
class Room:
    """Where the kernel writes, for one call after the other: what it wrote for one is gone with the
    next."""

    out: Bytes = field(default_factory=lambda: np.zeros(0, np.uint8))
