"""The fast way for row changes of plain types: :mod:`replay.native.fast_path_kernel` writes their
statements straight from the images.

What this module makes for a table version and a kind of change are tables of numbers: how the
columns lie (from the row format), the elements of the statement (from
:mod:`sqlgen.render.templates`), how each character is written. The statements are those of
:mod:`replay.pipeline.rows`, byte for byte;
rows that the kernel leaves out are decoded there. Of calls of prepared statements the kernel writes
the values and a code for each row; which statement a code calls is settled here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import TableVersion
from replay.decoding import codecs
from replay.decoding.image_layouts import PlainRows
from replay.native import fast_path_tables as tables
from replay.native.fast_program import (
    MOST,
    KernelInput,
    KernelOutput,
    KernelTables,
    Program,
    Room,
    RowImages,
    characters_of,
    table_of_cells,
)
from replay.native.kernels import RENDER_ROWS
from replay.native.machine_code import MachineCode, loaded
from sqlgen.dialects import Profile
from sqlgen.render import templates
from sqlgen.render_options import RenderOptions, lacking_identity, shows_whole
from sqlgen.schema import INVERSE, Op
from sqlgen.shapes import NAME_LENGTH

#: Bytes of statements that room is made for at first, for each byte of images and each row.
_ROOM = 2
_PICTURES = "0000-00-00 00:00:00.000000000000"


@dataclass(frozen=True)
class FastStatements:
    """What the kernel made of the images of one batch. ``outcome`` of :mod:`sqlgen.statements`,
    which updates change a watched column (``moved``), the rows that were left out (``odd``), and
    how many of the others are to call each prepared statement, by its name (``callers``)."""

    outcome: Bytes
    moved: Mask
    odd: Index
    callers: Mapping[str, int]
    program: Program
    output: KernelOutput
    in_full: Callable[[Program, Index], KernelOutput]

    def texts(self, prepared: Collection[str]) -> tuple[pa.StringArray, Mapping[str, str]] | None:
        """One statement a row ('' for none), and the prepared ones among those with the names of
        ``prepared`` that rows call (``shapes`` of :class:`sqlgen.shapes.Shaped`); rows that are to
        call others are in full. None where the kernel cannot write a row so."""
        program, output = self.program, self.output
        rows = np.flatnonzero(output.offsets[1:] - output.offsets[:-1])
        if program.calls is None or not len(rows):
            return output.strings(), {}
        codes, inverse = np.unique(output.codes[rows], return_inverse=True)
        called = [program.called(code) for code in codes.tolist()]
        letters = np.frombuffer("".join(name for name, _ in called).encode(), np.uint8)
        place = output.offsets[rows] + templates.NAMED
        output.text[place[:, None] + np.arange(NAME_LENGTH)] = letters.reshape(
            len(called), NAME_LENGTH
        )[inverse]
        shapes = {name: text for name, text in called if name in prepared}
        rare = rows[np.array([name not in shapes for name, _ in called])[inverse]]
        text = output.strings()
        if not len(rare):
            return text, shapes
        assert program.in_full is not None
        in_full = self.in_full(program.in_full, rare)
        if (in_full.status == tables.ODD).any():
            return None
        mask = np.zeros(len(output.status), bool)
        mask[rare] = True
        return pc.replace_with_mask(text, pa.array(mask), in_full.strings()), shapes


class FastPath:
    """Statements of one plan, as far as the fast way goes."""

    def __init__(
        self,
        undo: bool,
        profile: Profile,
        options: RenderOptions,
        watched: Callable[[TableVersion], frozenset[str]] = lambda _: frozenset(),
        prepared: bool = False,
        masked: frozenset[str] = frozenset(),
        whole: bool = False,
    ) -> None:
        """``watched``: the columns of a table version whose change is told of. ``prepared``:
        statements are calls of prepared ones. ``masked``: columns (OWNER.NAME.COLUMN) whose
        values are masked. ``whole``: upserts may write the whole of an image."""
        self.undo, self.profile, self.options, self.watched = undo, profile, options, watched
        self.prepared, self.masked, self.whole = prepared, masked, whole
        self._programs: dict[tuple[int, Op], Program | None] = {}

    def statements(
        self,
        version: TableVersion,
        op: Op,
        image: RowImages,
        plain: PlainRows,
    ) -> FastStatements | None:
        """Statements of changes of kind ``op``; None for a table that needs the other way.
        ``plain``: how the row images lie."""
        render = compiled()
        if render is None:
            return None
        program = self.program(version, op, plain)
        if program is None:
            return None
        rows = KernelInput.of(image)
        output = _rows(render, program, rows)
        if output.offsets[-1] > MOST:
            return None
        odd, moved = output.status == tables.ODD, output.status >= tables.MOVED
        status = np.where(odd, 0, output.status & (tables.MOVED - 1)).astype(np.uint8)

        def in_full(whole: Program, some: Index) -> KernelOutput:
            return _rows(render, whole, rows.take(some))

        callers = _callers(program, output)
        return FastStatements(status, moved, np.flatnonzero(odd), callers, program, output, in_full)

    def program(self, version: TableVersion, op: Op, plain: PlainRows) -> Program | None:
        """The program of a table version and a kind of change, made once; None where there is
        none."""
        if (version.index, op) not in self._programs:
            self._programs[version.index, op] = self._program(version, op, plain)
            self._watch(version, self._programs[version.index, op])
        return self._programs[version.index, op]

    def _program(self, version: TableVersion, op: Op, plain: PlainRows) -> Program | None:
        """The program of a table version and a kind of change; None where there is none."""
        written = INVERSE[op] if self.undo else op
        if version.constants or any(column.lob for column in version.format.columns):
            return None
        if written is not Op.INSERT and lacking_identity(version.table, self.options):
            return None
        how = (version.table, written, self.profile, self.options)
        whole = self.whole and shows_whole(version.table, self.options)
        elements = templates.skeleton(*how, whole, self.whole)
        calls = templates.calls(*how) if self.prepared else None
        if elements is None or (self.prepared and calls is None):
            return None
        texts = templates.texts(self.profile)
        cells = table_of_cells(version, plain, self.profile, self.options, self.masked)
        if cells is None:
            return None
        table, (lengths, codes) = cells[0], characters_of(cells[1], texts)
        places = {column.name: version.index_of(column.name) for column in version.table.columns}
        alone = op is not Op.UPDATE
        made = _elements(elements, places, alone, self.undo)
        program = Program(table, *made, lengths, codes, times=_times(made[0]))
        if calls is None:
            return program
        made = _elements(calls.elements, places, alone, self.undo)
        called, pool = made
        return replace(
            program, elements=called, pool=pool, times=_times(called), calls=calls,
            in_full=program, known={},
        )  # fmt: skip

    def _watch(self, version: TableVersion, program: Program | None) -> None:
        """Mark the columns whose change the kernel tells of."""
        if program is not None:
            names = self.watched(version)
            for place, column in enumerate(version.format.columns):
                program.cells[place, tables.WATCHED] = column.column.name in names


def _callers(program: Program, output: KernelOutput) -> Mapping[str, int]:
    """How many rows are to call each statement, by its name; nothing of statements without values,
    which are not prepared."""
    if program.calls is None:
        return {}
    there = output.offsets[1:] > output.offsets[:-1]
    codes, counts = np.unique(output.codes[there], return_counts=True)
    callers: Counter[str] = Counter()
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        name, text = program.called(code)
        callers[name] += count if "$1" in text else 0
    return +callers


def _rows(render: MachineCode, program: Program, rows: KernelInput) -> KernelOutput:
    """Have the kernel write rows of one program."""
    bounds, count = rows.bounds, rows.bounds.shape[1]
    known = KernelTables.of([program], [len(bounds) // 2])
    return written(render, known, np.zeros(count, np.int64), rows.buffer, bounds, Room())


def written(
    render: MachineCode,
    known: KernelTables,
    program_of: Index,
    buffer: Bytes,
    bounds: Index,
    place: Room,
) -> KernelOutput:
    """Have the kernel write all rows, each by its program, into ``place``, making room as it is
    needed."""
    count, programs = bounds.shape[1], known.programs
    sizes = (bounds[1::2] - bounds[0::2]).sum(axis=0)
    times, fixed = (programs[:, column] for column in (tables.TIMES, tables.FIXED))
    room = _ROOM * int(sizes.sum())
    pools = fixed - tables.ROOM * (programs[:, tables.ELEMENTS_END] - programs[:, tables.ELEMENTS])
    room += int(np.bincount(program_of, minlength=len(programs)) @ pools) + len(known.pool)
    if len(place.out) < room:
        place.out = np.empty(room, np.uint8)
    columns = int((programs[:, tables.CELLS_END] - programs[:, tables.CELLS]).max(initial=0))
    work = np.zeros((4, 2 * columns), np.int64)
    offsets, status, row = np.zeros(count + 1, np.int64), np.zeros(count, np.uint8), 0
    codes = np.zeros(count, np.int64)
    rows = (buffer, bounds, programs, program_of)
    how = (known.cells, known.elements, known.pool, known.lengths, known.codes, *_moments())
    behind = (offsets, status, codes)
    while (row := render(*rows, *how, row, work, place.out, *behind)) < count:
        program = program_of[row]
        needed = int(fixed[program] + times[program] * 4 * int(sizes[row]))
        larger = np.empty(len(place.out) + max(len(place.out) // 2, needed), np.uint8)
        larger[: offsets[row]] = place.out[: offsets[row]]
        place.out = larger
    return KernelOutput(place.out[: offsets[-1]], offsets, status, codes)


def _times(elements: Index) -> int:
    """How often a value of one image stands in a statement at most."""
    of = elements[elements[:, tables.COLUMN] >= 0][:, [tables.COLUMN, tables.SIDE]]
    most = int(np.unique(of, axis=0, return_counts=True)[1].max(initial=1))
    return most * (1 + int((elements[:, tables.WHEN] == tables.AGAIN).sum()))


@cache
def compiled() -> MachineCode | None:
    """The kernel; None where Numba is not installed or does not work, for whatever reason: the
    other way is always there."""
    try:
        render = loaded(RENDER_ROWS)
        _trial(render)
    except Exception:  # noqa: BLE001  Numba, llvmlite and a disk that is full say so in many ways
        return None
    return render


def _trial(render: MachineCode) -> None:
    """Have the kernel write one row. RuntimeError when the row comes out wrong."""
    cells, elements = (
        np.zeros((1, tables.CELL), np.int64),
        np.zeros((1, tables.ELEMENT), np.int64),
    )
    cells[0, tables.WIDTH] = 2
    elements[0, tables.PREFIX_END] = elements[0, tables.SUFFIX] = 1
    elements[0, tables.SUFFIX_END] = 2
    program = Program(
        cells,
        elements,
        np.frombuffer(b"();", np.uint8),
        *characters_of((), templates.Texts("", ())),
    )
    buffer = np.frombuffer(b"\xff\x85", np.uint8)
    rows = KernelInput(buffer, np.array([[0], [2]], np.int64))
    literal = _rows(render, program, rows)
    if literal.text.tobytes() != b"(-123)" or literal.status.tolist() != [tables.EMITTED]:
        raise RuntimeError(f"found {literal.text!r}; expected what the row says")


def _elements(
    elements: tuple[templates.Element, ...],
    places: Mapping[str, int],
    alone: bool,
    undo: bool,
) -> tuple[Index, Bytes]:
    """The elements as numbers, and the pool of their texts. ``places``: where in the format the
    columns are; ``alone``: there is one image, whatever its side is called."""
    table = np.zeros((len(elements), tables.ELEMENT), np.int64)
    pool = b""
    when = {
        "always": tables.ALWAYS,
        "changed": tables.CHANGED,
        "assigned": tables.ASSIGNED,
        "moving": tables.MOVING,
        "staying": tables.STAYING,
        "noted": tables.NOTED,
        "again": tables.AGAIN,
    }
    for row, element in enumerate(elements):
        after = (element.side == "after") != undo
        table[row, tables.COLUMN] = places[element.column] if element.column else -1
        table[row, tables.SIDE] = tables.AFTER if after and not alone else tables.BEFORE
        table[row, tables.WHEN] = when[element.when]
        table[row, tables.LISTED] = element.listed
        table[row, tables.STANDS], table[row, tables.EMPTY] = element.bits
        for place, text in (
            (tables.PREFIX, element.prefix),
            (tables.NULL, element.null),
            (tables.SUFFIX, element.suffix),
        ):
            table[row, place] = len(pool)
            pool += text.encode()
            table[row, place + 1] = len(pool)
    return table, np.frombuffer(pool, np.uint8)


@cache
def _moments() -> tuple[Bytes, Mask]:
    """How moments are written, and by separator what may stand in its place (256 more entries for
    EBCDIC)."""
    accepted = np.zeros((128, 512), bool)
    for separator, bytes_of in codecs.ACCEPTED_BYTES.items():
        accepted[ord(separator)] = bytes_of
    return np.frombuffer(_PICTURES.encode(), np.uint8), accepted
