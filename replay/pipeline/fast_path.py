"""The fast way for row changes of plain types: :mod:`replay.pipeline.fast_path_kernel` writes their
statements straight from the images.

What this module makes for a table version and a kind of change are tables of numbers: how the
columns lie (from the row format), the elements of the statement (from :mod:`sqlgen.templates`), how
each character is written. The statements are those of :mod:`replay.pipeline.rows`, byte for byte;
rows that the kernel leaves out are decoded there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from types import ModuleType

import numpy as np
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import ColumnFormat, TableVersion
from replay.decoding import code_pages, codecs, images
from replay.errors import InputError
from replay.logs import Images
from sqlgen import templates
from sqlgen.dialects import Profile
from sqlgen.rows import INVERSE, Op
from sqlgen.schema import SqlType
from sqlgen.statements import RenderOptions, shown_columns

#: Records of a bucket that make it worth to load the kernel (and, once on a machine, to compile
#: it).
WORTH = 50_000
#: Bytes of statements that room is made for at first, for each byte of images and each row.
_ROOM = 2
#: Bytes that an Arrow string array can address.
_MOST = (1 << 31) - 1
_PICTURES = "0000-00-00 00:00:00.000000000000"


@dataclass(frozen=True)
class Program:
    """What the kernel needs to know of one table version, kind of change and direction."""

    cells: Index
    elements: Index
    pool: Bytes
    lengths: Bytes
    codes: Bytes


@dataclass(frozen=True)
class FastStatements:
    """``text`` one statement a row ('' for none), ``outcome`` of :mod:`sqlgen.statements`, which
    updates change a watched column, and the rows that were left out."""

    text: pa.StringArray
    outcome: Bytes
    moved: Mask
    odd: Index


@dataclass(frozen=True)
class KernelOutput:
    """What the kernel made of ``n`` rows: their texts, one after the other, between ``offsets``
    (``n + 1``), and what became of each."""

    text: Bytes
    offsets: Index
    status: Bytes


class FastPath:
    """Statements of one plan, as far as the fast way goes."""

    def __init__(
        self,
        undo: bool,
        profile: Profile,
        options: RenderOptions,
        watched: Callable[[TableVersion], frozenset[str]] = lambda _: frozenset(),
    ) -> None:
        """``watched``: the columns of a table version whose change is told of."""
        self.undo, self.profile, self.options, self.watched = undo, profile, options, watched
        self._programs: dict[tuple[int, Op], Program | None] = {}

    def statements(
        self, version: TableVersion, op: Op, image: Images, reading: int
    ) -> FastStatements | None:
        """Statements of changes of kind ``op``; None for a table that needs the other way.
        ``reading`` is that of the row images."""
        kernel = compiled()
        if kernel is None:
            return None
        if (version.index, op) not in self._programs:
            self._programs[version.index, op] = _program(
                kernel, version, op, self.undo, self.profile, self.options, reading
            )
            self._watch(kernel, version, self._programs[version.index, op])
        program = self._programs[version.index, op]
        if program is None:
            return None
        sides = [bounds for bounds in (image.before, image.after) if bounds is not None]
        bounds = np.ascontiguousarray([edge for side in sides for edge in side], np.int64)
        unusable = image.bad.copy()
        for start, end in zip(bounds[0::2], bounds[1::2], strict=True):
            unusable |= (start < 0) | (end < start) | (end > len(image.buffer))
        bounds[:, unusable] = 0
        count = bounds.shape[1]
        buffer = np.asarray(image.buffer).view()
        buffer.flags.writeable = False  # one kind of array, hence one compilation
        output = _rows(kernel, program, buffer, bounds)
        if output.offsets[-1] > _MOST:
            return None
        text = pa.StringArray.from_buffers(
            count, pa.py_buffer(output.offsets.astype(np.int32)), pa.py_buffer(output.text)
        )
        odd, moved = output.status == kernel.ODD, output.status >= kernel.MOVED
        status = np.where(odd, 0, output.status & (kernel.MOVED - 1)).astype(np.uint8)
        return FastStatements(text, status, moved, np.flatnonzero(odd))

    def _watch(self, kernel: ModuleType, version: TableVersion, program: Program | None) -> None:
        """Mark the columns whose change the kernel tells of."""
        if program is not None:
            names = self.watched(version)
            for place, column in enumerate(version.format.columns):
                program.cells[place, kernel.WATCHED] = column.column.name in names


def _rows(kernel: ModuleType, program: Program, buffer: Bytes, bounds: Index) -> KernelOutput:
    """Have the kernel write all rows, making room as it is needed."""
    count = bounds.shape[1]
    sizes = (bounds[1::2] - bounds[0::2]).sum(axis=0)
    out = np.empty(_ROOM * int(sizes.sum()) + (count + 1) * len(program.pool), np.uint8)
    work = np.zeros((4, 2 * len(program.cells)), np.int64)
    offsets, status, row = np.zeros(count + 1, np.int64), np.zeros(count, np.uint8), 0
    tables = (
        program.cells,
        program.elements,
        program.pool,
        program.lengths,
        program.codes,
        *_moments(),
    )
    while (
        row := kernel.render_rows(buffer, bounds, *tables, row, work, out, offsets, status)
    ) < count:
        needed = len(program.pool) + kernel.ROOM * len(program.elements) + 4 * int(sizes[row])
        more = np.empty(len(out) + max(len(out) // 2, needed), np.uint8)
        more[: offsets[row]] = out[: offsets[row]]
        out = more
    return KernelOutput(out[: offsets[-1]], offsets, status)


@cache
def compiled() -> ModuleType | None:
    """The kernel; None where Numba is not installed or does not work, for whatever reason: the
    other way is always there."""
    try:
        from replay.pipeline import fast_path_kernel as kernel

        _trial(kernel)
    except Exception:  # noqa: BLE001  a cache of Numba that is damaged, or on a full disk, says so in many ways
        return None
    return kernel


def _trial(kernel: ModuleType) -> None:
    """Have the kernel write one row, which compiles it or loads what was kept of it. RuntimeError
    when the row comes out wrong."""
    cells, elements = np.zeros((1, kernel.WATCHED + 1), np.int64), np.zeros((1, 9), np.int64)
    cells[0, kernel.WIDTH] = 2
    elements[0, kernel.PREFIX_END] = elements[0, kernel.SUFFIX] = 1
    elements[0, kernel.SUFFIX_END] = 2
    program = Program(
        cells, elements, np.frombuffer(b"();", np.uint8), *_characters((), templates.Texts("", ()))
    )
    buffer = np.frombuffer(b"\xff\x85", np.uint8)
    literal = _rows(kernel, program, buffer, np.array([[0], [2]], np.int64))
    if literal.text.tobytes() != b"(-123)" or literal.status.tolist() != [kernel.EMITTED]:
        raise RuntimeError(f"found {literal.text!r}; expected what the row says")


def _program(
    kernel: ModuleType,
    version: TableVersion,
    op: Op,
    undo: bool,
    profile: Profile,
    options: RenderOptions,
    reading: int,
) -> Program | None:
    elements = templates.skeleton(version.table, INVERSE[op] if undo else op, profile, options)
    cells = list(images.layouts(version.format))[reading]
    if (
        elements is None
        or any(column.lob for column in version.format.columns)
        or any(cell.unit != 1 for cell in cells)
    ):
        return None
    exported = {column.name for column in shown_columns(version.table, options)}
    charsets: list[int] = []
    table = np.zeros((len(cells), kernel.WATCHED + 1), np.int64)
    for place, (cell, column) in enumerate(zip(cells, version.format.columns, strict=True)):
        table[place, :4] = cell.nullable, cell.variable, cell.width, cell.expanded
        if column.column.name in exported:
            kind = _kind(kernel, column, cell, options)
            if kind is None:
                return None
            table[place, kernel.KIND], table[place, kernel.SCALE], table[place, kernel.SHOWN] = (
                kind,
                column.scale,
                1,
            )
            if kind in (kernel.TEXT, kernel.TEXT_STRIPPED):
                assert column.ccsid is not None
                charsets += [] if column.ccsid in charsets else [column.ccsid]
                table[place, kernel.CHARSET] = charsets.index(column.ccsid)
    lengths, codes = _characters(tuple(charsets), templates.texts(profile))
    return Program(
        table, *_elements(kernel, elements, version, op is not Op.UPDATE, undo), lengths, codes
    )


def _kind(
    kernel: ModuleType, column: ColumnFormat, cell: images.Cell, options: RenderOptions
) -> int | None:
    """How the kernel says a column's values; None where it cannot."""
    kind = column.column.type
    if column.raw:
        return None
    if kind in (SqlType.CHAR, SqlType.VARCHAR):
        if not _single(column.ccsid):
            return None
        stripped = kind is SqlType.CHAR and options.policy.char_padding == "strip"
        return int(kernel.TEXT_STRIPPED if stripped else kernel.TEXT)
    if cell.variable or images.unusable(column, cell.width):
        return None
    if kind is SqlType.DECIMAL and not 0 <= column.scale <= 31:
        return None
    known = {
        SqlType.DECIMAL: kernel.PACKED,
        SqlType.DATE: kernel.DATE,
        SqlType.TIME: kernel.TIME,
        SqlType.TIMESTAMP: kernel.TIMESTAMP,
    }
    return int(known.get(kind, kernel.INTEGER))


def _single(number: int | None) -> bool:
    """Whether a CCSID is known, with one byte for each character."""
    try:
        return number is not None and code_pages.charset_of(number).kind == "single"
    except InputError:
        return False


def _elements(
    kernel: ModuleType,
    elements: tuple[templates.Element, ...],
    version: TableVersion,
    alone: bool,
    undo: bool,
) -> tuple[Index, Bytes]:
    """The elements as numbers, and the pool of their texts. ``alone``: there is one image, whatever
    its side is called."""
    table = np.zeros((len(elements), 9), np.int64)
    pool = b""
    when = {"always": kernel.ALWAYS, "changed": kernel.CHANGED, "assigned": kernel.ASSIGNED}
    for row, element in enumerate(elements):
        after = (element.side == "after") != undo
        table[row, kernel.COLUMN] = version.index_of(element.column) if element.column else -1
        table[row, kernel.SIDE] = kernel.AFTER if after and not alone else kernel.BEFORE
        table[row, kernel.WHEN] = when[element.when]
        for place, text in (
            (kernel.PREFIX, element.prefix),
            (kernel.NULL, element.null),
            (kernel.SUFFIX, element.suffix),
        ):
            table[row, place] = len(pool)
            pool += text.encode()
            table[row, place + 1] = len(pool)
    return table, np.frombuffer(pool, np.uint8)


@lru_cache(maxsize=256)
def _characters(charsets: tuple[int, ...], texts: templates.Texts) -> tuple[Bytes, Bytes]:
    """``uint8[c, 256]`` and ``uint8[c, 256, 4]``: what each byte of each character set is written
    as; 0 bytes where the text is not plain."""
    lengths, codes = (
        np.zeros((len(charsets), 256), np.uint8),
        np.zeros((len(charsets), 256, 4), np.uint8),
    )
    for place, number in enumerate(charsets):
        points = code_pages.charset_of(number).single
        assert points is not None
        for byte, point in enumerate(points.tolist()):
            if point == code_pages.UNDEFINED or (point < 128 and texts.special[point]):
                continue
            written = (texts.quote if point == ord("'") else chr(point)).encode()
            if len(written) > codes.shape[2]:
                continue
            lengths[place, byte] = len(written)
            codes[place, byte, : len(written)] = list(written)
    return lengths, codes


@cache
def _moments() -> tuple[Bytes, Mask]:
    """How moments are written, and by separator what may stand in its place (256 more entries for
    EBCDIC)."""
    accepted = np.zeros((128, 512), bool)
    for separator, bytes_of in codecs.ACCEPTED_BYTES.items():
        accepted[ord(separator)] = bytes_of
    return np.frombuffer(_PICTURES.encode(), np.uint8), accepted
