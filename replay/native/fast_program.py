"""What the kernel of the fast way (:mod:`replay.native.fast_path_kernel`) takes: programs and
their tables, row images. And what it gives: the texts that it wrote.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import ColumnFormat, TableVersion
from replay.decoding import code_pages
from replay.decoding.image_layouts import PlainCell, PlainRows, ValueForm
from replay.errors import InputError
from replay.native import fast_path_tables as tables
from sqlgen.dialects import Profile
from sqlgen.render import templates
from sqlgen.render_options import RenderOptions, shown_columns
from sqlgen.schema import SqlType
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


# -- columns as numbers
# -------------------------------------------------------------------------------------------------
# Columns as :mod:`replay.native.fast_path` and its kernel know them: how each lies in an image, and
# how its values are written, as numbers.


_TEXTS = {"single": tables.TEXT, "utf8": tables.UTF8, "utf16": tables.UTF16}
_ASCII = 367
_KINDS_OF_MOMENT = (SqlType.DATE, SqlType.TIME, SqlType.TIMESTAMP)
_NUMBERS = {ValueForm.INTEGER: tables.INTEGER, ValueForm.PACKED: tables.PACKED}


def table_of_cells(
    version: TableVersion,
    plain: PlainRows,
    profile: Profile,
    options: RenderOptions,
    masked: Collection[str],
) -> tuple[Index, tuple[int, ...]] | None:
    """The table of cells, and the character sets that it refers to by their places
    (:func:`characters_of`); None where a column that is shown needs the other way, as those do that
    are ``masked`` (OWNER.NAME.COLUMN)."""
    exported = {column.name for column in shown_columns(version.table, options)}
    own = {column.name for column in version.table.columns}
    charsets: list[int] = []
    table = np.zeros((len(plain.cells), tables.CELL), np.int64)
    columns = zip(plain.cells, version.format.columns, strict=True)
    for place, (cell, column) in enumerate(columns):
        name, row = column.column.name, table[place]
        row[[tables.NULLABLE, tables.WIDTH]] = cell.nullable, cell.width
        row[[tables.VARIABLE, tables.EXPANDED]] = cell.variable, cell.expanded
        if version.index_of(name) != place or name not in own:
            if name in own:
                return None  # two columns of one name
            continue
        row[tables.KEYED], row[tables.COMPARED] = name in version.table.key, True
        if name not in exported:
            continue
        row[tables.SHOWN] = 1
        hidden = bool(masked) and f"{version.name}.{name}" in masked
        if hidden or not _say(row, column, cell, profile, options, charsets):
            return None
    return table, tuple(charsets)


def _say(
    row: Index,
    column: ColumnFormat,
    cell: PlainCell,
    profile: Profile,
    options: RenderOptions,
    charsets: list[int],
) -> bool:
    """Note how the values of a column are said; False where the kernel cannot."""
    kind = column.column.type
    row[tables.SCALE] = column.scale
    if cell.form is ValueForm.TEXT:
        known = _charset(column.ccsid)
        if known is None:
            return False
        stripped = kind is SqlType.CHAR and options.policy.char_padding == "strip"
        row[tables.KIND] = _TEXTS[known.kind] + stripped
        number = charset_number(known.ccsid)
        charsets += [] if number in charsets else [number]
        row[tables.CHARSET] = charsets.index(number)
        row[tables.LEAST] = _empty_text(kind, profile, options)
    elif cell.form is ValueForm.MOMENT and kind in _KINDS_OF_MOMENT:
        row[tables.KIND] = tables.DATE + _KINDS_OF_MOMENT.index(kind)
        row[tables.KEPT] = templates.fraction_digits(column.column, profile)
    elif cell.form in _NUMBERS:
        row[tables.KIND] = _NUMBERS[cell.form]
        if kind is SqlType.DECIMAL and not 0 <= column.scale <= 31:
            return False
    else:
        return False
    return True


def _empty_text(kind: SqlType, profile: Profile, options: RenderOptions) -> int:
    """What becomes of a text without characters, as :mod:`sqlgen.literals` says."""
    if not profile.empty_is_null:
        return tables.NONE_AS_IT_IS
    blank = kind is SqlType.CHAR or options.policy.empty_text == "space"
    return tables.BLANK_FOR_NONE if blank else tables.NONE_ODD


def _charset(number: int | None) -> code_pages.Charset | None:
    """The character set of a CCSID, where the kernel knows it."""
    try:
        known = None if number is None else code_pages.charset_of(number)
    except InputError:
        return None
    return known if known is not None and known.kind in _TEXTS else None


def charset_number(ccsid: int | None) -> int:
    """The character set whose bytes machine code looks up: the characters of ASCII are written
    alike in UTF-8 and UTF-16. Only of CCSIDs that it knows."""
    known = _charset(ccsid)
    assert known is not None
    return _ASCII if known.kind == "utf16" else known.ccsid


def points_of(number: int) -> list[int]:
    """The character of each byte that is one; of UTF-8, whose other bytes are looked at together,
    those of ASCII."""
    points = code_pages.charset_of(number).single
    return list(range(128)) if points is None else [int(point) for point in points]


@lru_cache(maxsize=256)
def characters_of(charsets: tuple[int, ...], texts: templates.Texts) -> tuple[Bytes, Bytes]:
    """``uint8[c, 256]`` and ``uint8[c, 256, 4]``: what each byte of each character set is written
    as in literals of a dialect; the first says how long that is, as
    :data:`replay.native.fast_path_tables.SEVERAL` does."""
    lengths, codes = (
        np.full((len(charsets), 256), tables.SEVERAL, np.uint8),
        np.zeros((len(charsets), 256, 4), np.uint8),
    )
    for place, number in enumerate(charsets):
        for byte, point in enumerate(points_of(number)):
            written = b"" if point == code_pages.UNDEFINED else _spelled(chr(point), texts)
            if not 0 < len(written) <= codes.shape[2]:
                continue
            alone = len(written) == 1
            lengths[place, byte] = written[0] if alone else tables.SEVERAL + len(written)
            codes[place, byte, : len(written)] = list(written)
    return lengths, codes


def _spelled(letter: str, texts: templates.Texts) -> bytes:
    """What a character is written as in literals of a dialect; nothing: it is not plain."""
    if letter < "\x80" and texts.special[ord(letter)]:
        return b""
    return (texts.quote if letter == "'" else letter).encode()
