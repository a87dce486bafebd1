"""How records lie in a file: framing, byte order and dialect, found out together; then the place of
every record.

The three are tried in all combinations on the first records; what is required of a record is in
section 2 of the format notes. The best combination that reads on to the end wins, and two that do
equally well are an error, never a guess.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index, Lengths
from replay.errors import InputError, Where
from replay.logs.db2luw import layouts
from replay.logs.db2luw.layouts import (
    DIALECTS,
    DMS,
    FRAMINGS,
    Dialect,
    Parts,
    RecordFraming,
    RecordKind,
    RecordRole,
    number,
)
from replay.logs.files import mapped, size_of
from replay.storage import is_url

#: Records looked at to find out the shape.
_SAMPLE = 200
#: A record with rows that closes counts for so much more; a shape with so high a score that fails
#: later fails because the file is damaged.
_CLOSURE, _SURE = 3, 20
#: What a record of an unknown type counts (section 5: it is passed over by its length), and how
#: many others must stand before each further one.
_UNKNOWN, _KNOWN = -2, 4
_OR_ZEROS = "expected a record, or nothing but zeros"
#: Records that are told together.
_TOGETHER = 1 << 18
#: Bytes of a file in a store that are read at a time.
RANGE = 64 << 20
_AGAIN = "Collect the log again, or copy the file again in binary mode"
_NAME_IT = (
    "Name what you know: --framing NAME, --log-option byte-order=big|little, --log-option"
    " dialect=v7|v95|v97|v10"
)


@dataclass(frozen=True)
class LuwShape:
    """Framing, byte order and dialect of a file, and where its first record's framing begins."""

    framing: RecordFraming
    big: bool
    dialect: Dialect
    start: int = 0

    def __str__(self) -> str:
        return (
            f"framing {self.framing.name}, {'big' if self.big else 'little'}-endian, dialect"
            f" {self.dialect.name}"
        )


@dataclass(frozen=True)
class OpenedFile:
    """A log file: its ``name`` as the user gave it, the ``path`` of its (unpacked) bytes, its
    shape, and where an incomplete record at its end begins (``tail``; None: it ends with a whole
    one)."""

    name: str
    path: str
    shape: LuwShape
    tail: int | None = None

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return size_of(self.path)

    def buffer(
        self,
        start: npt.NDArray[Any] | int | None = None,
        stop: npt.NDArray[Any] | int | None = None,
    ) -> Bytes:
        """Its bytes, of which those of ``start:stop`` are there: as
        :func:`replay.logs.files.mapped`."""
        return mapped(self.path, start, stop)

    def steps(self) -> Iterator[tuple[Index, Lengths]]:
        """(offsets of records, behind their framing; their lengths), many at a time: a walk through
        the file, for all of them are more than memory should hold. Of a file in a store one range
        is read after the other. InputError LR2005 where a length in the middle is impossible."""
        count, place, size, lead = 0, self.shape.start, self.size, self.shape.framing.size
        step = RANGE if is_url(self.path) else size
        while place < size:
            stop = min(place + step, size)
            for offsets, lengths in walked(self.buffer(place, stop + lead + 4), self.shape, place):
                mine = int(np.searchsorted(offsets, stop + lead))
                if mine:
                    count, place = count + mine, int(offsets[mine - 1]) + int(lengths[mine - 1])
                    yield offsets[:mine], lengths[:mine]
                if mine < len(offsets):
                    break
            if place < stop:
                self._check_end(count, place)
                return

    def _check_end(self, count: int, place: int) -> None:
        """Whether the file may end at ``place``, behind ``count`` records: with an incomplete
        record, or zeros. InputError LR2005 where it may not."""
        begin, size = place + self.shape.framing.size, self.size
        if begin + 4 > size:
            return
        head = self.buffer(begin, begin + 4)[begin : begin + 4].tobytes()
        length = number(head, 0, layouts.Part(0, 4), self.shape.big)
        least, most = self.shape.dialect.sizes[0], layouts.LONGEST_RECORD
        found = ""
        if length == 0:
            if any(
                self.buffer(low, low + RANGE)[low : low + RANGE].any()
                for low in range(begin, size, RANGE)
            ):
                found = f"0 and more data after it; {_OR_ZEROS}"
        elif not least <= length <= most:
            found = f"{length}; expected {least} to {most}"
        if found:
            where = Where(self.name, count + 1, begin, "length")
            raise InputError("LR2005", f"found record length {found}", where, _AGAIN)


def lsns_rise(shape: LuwShape) -> bool:
    """6-byte LSNs of little-endian servers have no known byte order, so nothing is concluded from
    them (section 3)."""
    return shape.big or shape.dialect.header["previous"].size == 8


def settle(name: str, fitting: list[LuwShape], others: list[LuwShape]) -> LuwShape:
    """Which of the shapes that fit a file equally well it has: of several, that of another file of
    the log (``others``: their shapes, as far as each shows its own).

    InputError LR2004 where neither says.
    """
    if len(fitting) == 1:
        return fitting[0]
    same = [
        shape
        for shape in fitting
        if any(
            (shape.framing, shape.big, shape.dialect) == (one.framing, one.big, one.dialect)
            for one in others
        )
    ]
    if len(same) == 1:
        return same[0]
    fits = "; ".join(map(str, fitting[:4]))
    raise InputError(
        "LR2004",
        f"found records that fit {len(fitting)} shapes equally well ({fits}); expected one",
        Where(name, 1, fitting[0].start),
        _NAME_IT,
    )


def fitting_shapes(
    head: bytes, size: int, name: str, framing: str | None, order: str | None, dialect: str | None
) -> list[LuwShape]:
    """The shapes that fit a file of ``size`` bytes that begins with ``head`` best, equally well;
    what is given is taken as it is.

    InputError LR2002 for an empty file, LR2004 when nothing fits.
    """
    if not size:
        raise InputError("LR2002", "found an empty file; expected Db2 log records", Where(name))
    start = 0
    if head[:8] == layouts.FILE_MAGIC:
        start = layouts.FILE_HEADER_SIZE
        framing, order, dialect = _of_header(head, name, framing, order, dialect)
    framings = [FRAMINGS[framing]] if framing else list(FRAMINGS.values())
    orders = [order == "big"] if order else [True, False]
    dialects = [DIALECTS[dialect]] if dialect else [DIALECTS[known] for known in layouts.DETECTED]
    shapes = [LuwShape(*combination, start) for combination in product(framings, orders, dialects)]
    if not (framing and dialect):  # positions are as wide as those that headers hold
        shapes = [
            shape
            for shape in shapes
            if _lsn_bytes(shape) in (0, shape.dialect.header["previous"].size)
        ]
    if len(shapes) == 1:
        return shapes
    for passed_over in (False, True):
        tried = [(shape, *_score(head, size, shape, passed_over)) for shape in shapes]
        highest = max((score for _, score, stop in tried if stop is None), default=0)
        least = _KNOWN if passed_over else 0
        best = [
            shape
            for shape, score, stop in tried
            if stop is None and score == highest and score > least
        ]
        if best:
            break
    furthest = max(tried, key=lambda attempt: attempt[1])
    if furthest[1] > max(highest, _SURE):
        message = (
            f"found a record that does not fit {furthest[0]}, as the records before it do; expected"
            " one that does"
        )
        raise InputError(
            "LR2010",
            message,
            Where(name, None, furthest[2]),
            f"The file is damaged there. {_AGAIN}",
        )
    if not best:
        message = (
            f"found X'{head[start : start + 16].hex().upper()}' …, which no known framing, byte"
            " order and dialect explain"
        )
        raise InputError(
            "LR2004",
            f"{message}; expected Db2 log records",
            Where(name, 1, start),
            f"{_NAME_IT}. {_AGAIN}",
        )
    # the framings that tell an LSO are those of 10.1 and later (section 2)
    usual = [
        shape
        for shape in best
        if "lso" not in shape.framing.parts or "stream" in shape.dialect.header
    ]
    return usual or best


def _lsn_bytes(shape: LuwShape) -> int:
    part = shape.framing.parts.get("lsn")
    return part.size if part else 0


def _of_header(
    head: bytes, name: str, framing: str | None, order: str | None, dialect: str | None
) -> tuple[str | None, str | None, str | None]:
    """What the header of a collected file says, where the user did not."""
    codes = {
        field: number(head, 0, layouts.FILE_HEADER[field], True)
        for field in ("order", "dialect", "framing")
    }
    framings = {
        "order": {1: "big", 2: "little"},
        "dialect": {entry.code: entry.name for entry in DIALECTS.values()},
        "framing": {entry.code: entry.name for entry in FRAMINGS.values()},
    }
    for field, code in codes.items():
        if code and code not in framings[field]:
            where = Where(name, None, layouts.FILE_HEADER[field].offset, field)
            raise InputError(
                "LR2004",
                f"found code {code} in the file header; expected 0 to {max(framings[field])}",
                where,
                _NAME_IT,
            )
    return (
        framing or framings["framing"].get(codes["framing"]),
        order or framings["order"].get(codes["order"]),
        dialect or framings["dialect"].get(codes["dialect"]),
    )


def _score(head: bytes, size: int, shape: LuwShape, passed_over: bool) -> tuple[int, int | None]:
    """(records that fit, those with rows counted more; the offset of the first one that does not,
    None where the sample or the file ends first). ``passed_over``: records of unknown types fit, as
    long as there are few."""
    place, score, last, unknown = shape.start, 0, -1, 0
    for seen in range(_SAMPLE):
        if place == size:
            break
        begin = place + shape.framing.size
        if begin + 4 > len(head):
            break
        length = number(head, begin, shape.dialect.header["length"], shape.big)
        if length == 0 and not any(head[begin:]):
            break
        if not shape.dialect.sizes[0] <= length <= layouts.LONGEST_RECORD:
            return score, begin
        if begin + length > len(head):
            break
        value = _fits(head[begin : begin + length], shape)
        if value == _UNKNOWN and passed_over and seen >= _KNOWN * unknown:
            unknown, value = unknown + 1, 0
        if value < 0:
            return score, begin
        if "lsn" in shape.framing.parts:
            position = number(head, place, shape.framing.parts["lsn"], shape.big)
            if shape.framing.parts["lsn"].size == 8 or shape.big:
                if position < last or not _plausible_framing(head, place, length, shape):
                    return score, place
                last = position
            score += 1
        score += value
        place = begin + length
    return score, None


def _plausible_framing(head: bytes, place: int, length: int, shape: LuwShape) -> bool:
    """An LSN that is not zero and, where the framing repeats the length, one of the right size."""
    framing = shape.framing.parts
    position = number(head, place, framing["lsn"], shape.big)
    if position >> 60 or (position == 0 and place > shape.start):
        return False
    return (
        "real" not in framing
        or number(head, place, framing["real"], shape.big) <= layouts.LONGEST_RECORD
    )


def _fits(record: bytes, shape: LuwShape) -> int:
    """1 for a record that may be one, 1 + :data:`_CLOSURE` for one whose parts close, -1 for one
    that cannot be, :data:`_UNKNOWN` for one of a type that is not known."""
    dialect, big = shape.dialect, shape.big
    kind = number(record, 0, dialect.header["type"], big)
    flags = number(record, 0, dialect.header["flags"], big)
    if kind > 255 or flags & layouts.FLAGS_UNUSED:
        return -1
    if layouts.KIND_OF_TYPE[kind] == RecordKind.UNKNOWN:
        return _UNKNOWN
    begin = header_size(dialect, kind, flags)
    if len(record) < begin:
        return -1
    if layouts.KIND_OF_TYPE[kind] == RecordKind.COMPONENT:
        if len(record) < begin + 2 or record[begin] not in layouts.COMPONENTS:
            return -1
        return (
            1 + _CLOSURE
            if _closes(record[begin:], shape)
            else -1
            if _must_close(record[begin:], shape)
            else 1
        )
    one_name = kind in (*layouts.PLAIN_COMMITS, *layouts.LOCAL_PENDING)
    if one_name and "authid_length" in dialect.commits[0]:
        if name_closes(record, begin, dialect.commits[0], big):
            return 1 + _CLOSURE
        return 1 if kind in layouts.LOCAL_PENDING or len(dialect.commits) > 1 else -1
    return 1


def name_closes(record: bytes, begin: int, form: Parts, big: bool) -> bool:
    """Whether the name that a record says the length of ends where the record does."""
    named = number(record, begin, form["authid_length"], big)
    return begin + form["authid"].offset + named == len(record)


def header_size(dialect: Dialect, kind: int, flags: int) -> int:
    """Bytes of a record's log manager header (section 4)."""
    plain, middle, large = dialect.sizes
    if kind == layouts.COMPENSATION:
        return large if flags & layouts.PROPAGATABLE else middle
    return middle if kind == layouts.BACKOUT_FREE else plain


def _must_close(payload: bytes, shape: LuwShape) -> bool:
    return (
        payload[0] == DMS
        and shape.dialect.roles[DMS, payload[1]] in (RecordRole.INSERT, RecordRole.DELETE)
        and payload[1] not in layouts.EMPTY_PAGE
    )


def _closes(payload: bytes, shape: LuwShape) -> bool:
    """Whether the row of an insert or delete record (or both rows of an update) ends where the
    record does."""
    if payload[0] != DMS:
        return False
    dialect, big = shape.dialect, shape.big
    role = dialect.roles[DMS, payload[1]]
    length = number(payload, 0, dialect.row["length"], big)
    if role in (
        RecordRole.INSERT,
        RecordRole.DELETE,
        RecordRole.UNDO_DELETE,
        RecordRole.UNDO_UPDATE,
    ):
        return len(payload) in (
            dialect.row_size + length,
            dialect.row_size + layouts.EMPTY_PAGE_MORE + length,
        )
    if role == RecordRole.UPDATE:
        old = number(payload, dialect.row_size, layouts.ROW_HEADER["length"], big)
        second = dialect.row_size + old
        new = number(payload, second + dialect.row_size, layouts.ROW_HEADER["length"], big)
        return payload[second : second + 6] == payload[
            :6
        ] and second + dialect.row_size + new == len(payload)
    return False


def walked(buffer: Bytes, shape: LuwShape, start: int) -> Iterator[tuple[Index, Lengths]]:
    """Offsets and lengths of records as far as they follow one another from ``start`` on, where
    the framing of the first one begins, many at a time."""
    view = memoryview(np.ascontiguousarray(buffer).data)
    length_at = struct.Struct(f"{'>' if shape.big else '<'}I").unpack_from
    lead, least, size = shape.framing.size, shape.dialect.sizes[0], len(view)
    offsets: list[int] = []
    lengths: list[int] = []
    place = start
    while place + lead + 4 <= size:
        begin = place + lead
        length = length_at(view, begin)[0]
        if not least <= length <= layouts.LONGEST_RECORD or begin + length > size:
            break
        offsets.append(begin)
        lengths.append(length)
        place = begin + length
        if len(offsets) == _TOGETHER:
            yield np.array(offsets, np.int64), np.array(lengths, np.int32)
            offsets, lengths = [], []
    yield np.array(offsets, np.int64), np.array(lengths, np.int32)
