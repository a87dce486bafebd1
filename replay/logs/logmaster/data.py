"""DATA: where row images lie in a data record, how segments join, and what an exchange says of the
other table (format notes, sections 6.1, 6.2 and 9).

The page allows three readings of the lengths around row images, and several of the row images of a
table with ROWIDs, large objects or graphic columns. Which one a log uses is settled once, from its
own records, and never guessed per record.

What the first blocks of a log do not tell of rows is learned while all of its records are indexed
anyway, or, where somebody asks before that, from as much of the log as it takes. Whether the
lengths of expanded columns (EXPANDVAR, section 6.3) tell how long their values were is asked of the
first records, too: the notes leave open whether a length is that of the value or that of the
column. Where it is that of the column, values seem to have the filler at their ends: then all are
as long as they can be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from replay.arrays import Bytes, Index, Mask, Records
from replay.changes.catalog import RowFormat, TableVersion
from replay.changes.envelope import ROW_CHANGES, Change, Envelope, opaque
from replay.changes.order import run_starts
from replay.decoding import codecs, images
from replay.decoding.image_layouts import layouts
from replay.decoding.images import ImageWalk
from replay.errors import InputError, Where
from replay.logs import Images
from replay.logs.logmaster.framing import Block
from replay.logs.logmaster.headers import DAMAGED_OR_FOREIGN

if TYPE_CHECKING:
    from replay.logs.logmaster.reader import LogmasterLog


class Reading(Enum):
    """Lengths around row images: A: outer halfword (inclusive) and a length before each image
    (exclusive); B: a length before each image, inclusive; B': the same, exclusive."""

    A = "A"
    B = "B"
    B_EXCLUSIVE = "B'"


@dataclass(frozen=True)
class Bounds:
    """(start, end) of the images in a buffer; ``second`` only of updates. ``bad`` rows do not
    close; ``reason`` says why."""

    first: tuple[Index, Index]
    second: tuple[Index, Index] | None
    bad: Mask
    reason: Callable[[int], tuple[str, str]]


def halfwords(buffer: Bytes, place: Index) -> Index:
    """The big-endian halfword at each place; 0 where the buffer ends before it."""
    if len(place) and int(place.min()) >= 0 and int(place.max()) + 2 <= len(buffer):
        return codecs.halfwords(buffer, place)
    safe = np.clip(place, 0, max(len(buffer) - 2, 0))
    return np.where(safe == place, codecs.halfwords(buffer, safe), 0)


def find_images(
    buffer: Bytes, start: Index, end: Index, kind: Change, reading: Reading, outer: bool
) -> Bounds:
    """Bounds of the images in DATA from ``start`` to ``end``. ``outer``: the halfword of the data
    segment is still there (reading A only)."""
    inclusive = 2 if reading is Reading.B else 0
    place = start + (2 if reading is Reading.A and outer else 0)
    total = halfwords(buffer, start)
    length = halfwords(buffer, place) - inclusive
    first = (place + 2, place + 2 + length)
    last = first[1]
    second = None
    if kind is Change.UPDATE:
        following = halfwords(buffer, last) - inclusive
        second = (last + 2, last + 2 + following)
        last = second[1]
    bad = (last != end) | (length < 0)
    if second is not None:
        bad |= second[0] > second[1]
    if reading is Reading.A and outer:
        bad |= total != end - start

    def reason(row: int) -> tuple[str, str]:
        size = int(end[row] - start[row])
        if size <= 0:
            return "a record without DATA", "DATA with the images of the change"
        lengths = f"segment length {int(total[row])}, " if reading is Reading.A and outer else ""
        lengths += f"image lengths {int(length[row])}" + (
            "" if second is None else f" and {int(second[1][row] - second[0][row])}"
        )
        return f"{lengths} in {size} bytes of DATA", "lengths that fill DATA exactly"

    return Bounds(first, second, bad, reason)


def closing_bounds(
    buffer: Bytes, start: Index, end: Index, two: Mask, reading: Reading, outer: bool
) -> Index | None:
    """(start, end) of the images of changes of several kinds, and of those with ``two`` of the
    second ones (int64[4, n]; of the others they are empty); int64[2, n] where none has two. None
    where one does not close."""
    own, inclusive = 2 * (reading is Reading.A and outer), 2 * (reading is Reading.B)
    first = start + own + 2
    last = first + halfwords(buffer, start + own) - inclusive
    bounds = [first, last]
    if two.any():
        second = np.where(two, last + 2, last)
        size = np.where(two, halfwords(buffer, last) - inclusive, 0)
        bounds += [second, second + size]
    closing = (start >= 0) & (end <= len(buffer)) & (bounds[-1] == end)
    for begin, stop in pairwise(bounds):
        closing &= begin <= stop
    if own:
        closing &= halfwords(buffer, start) == end - start
    return np.stack(bounds) if closing.all() else None


def settle_reading(
    buffer: Bytes,
    start: Index,
    end: Index,
    update: Mask,
    name: str,
    walked: Callable[[Reading], float] | None = None,
) -> Reading:
    """The reading under which the images of these records close. InputError (LR2018) when none or
    several do equally well.

    One damaged record among many must not decide: the reading that closes for most records wins, if
    it is most of them. A single image that closes under A always closes under B too; ``walked``
    says for how many records the columns end exactly as well, and decides then.
    """
    if not len(start):
        return Reading.A
    scores: dict[Reading, int] = {}
    for reading in Reading:
        good = ~find_images(buffer, start[update], end[update], Change.UPDATE, reading, True).bad
        single = ~find_images(
            buffer, start[~update], end[~update], Change.INSERT, reading, True
        ).bad
        scores[reading] = int(good.sum()) + int(single.sum())
    best = max(scores.values())
    likely = [reading for reading in Reading if scores[reading] == best]
    if len(likely) > 1 and best * 2 > len(start) and walked is not None:
        fits = {reading: walked(reading) for reading in likely}
        likely = [reading for reading in likely if fits[reading] == max(fits.values())]
    if best * 2 <= len(start) or len(likely) > 1:
        message = ", ".join(
            f"{scores[reading]} of {len(start)} under reading {reading.value}"
            for reading in Reading
        )
        hint = (
            "Is the transfer binary, and is this the control file that was written with the data?"
        )
        raise InputError(
            "LR2018",
            f"found row images that close in {message}; expected nearly all under one",
            Where(name, field="DATA"),
            hint,
        )
    return likely[0]


def payload(
    buffer: Bytes,
    start: Index,
    end: Index,
    reading: Reading,
    later_have_length: bool,
    number: Index,
) -> tuple[Index, Index, Mask]:
    """(start, length) of what each segment contributes, and which segments' own length (if they
    have one) is wrong."""
    has_length = (number <= number.min(initial=1)) | later_have_length
    length = np.where(has_length & (reading is Reading.A), 2, 0).astype(np.int64)
    bad = (length > 0) & (halfwords(buffer, start) != end - start)
    begin = np.minimum(start + length, end)
    return begin, np.maximum(end - begin, 0), bad


def join_segments(
    buffers: list[tuple[Index, Bytes]], start: Index, length: Index
) -> tuple[Bytes, Index]:
    """The payloads of all segments one after the other, with ``offsets[n+1]``. ``buffers`` pairs
    rows with the file they lie in."""
    offsets = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    if len(buffers) == 1:
        return codecs.gather_varying(buffers[0][1], start, length)[0], offsets
    joined = np.zeros(int(offsets[-1]), np.uint8)
    for rows, buffer in buffers:
        data, places = codecs.gather_varying(buffer, start[rows], length[rows])
        into = np.repeat(offsets[rows] - places[:-1], length[rows]) + np.arange(len(data))
        joined[into] = data
    return joined, offsets


def closing_in_segments(
    buffer: Bytes,
    start: Index,
    end: Index,
    envelope: Envelope,
    change: Bytes,
    later_have_length: bool,
) -> int:
    """How many changes whose segments all lie between these bounds have images that fill what the
    segments contribute, under reading A."""
    number = envelope.segment().astype(np.int64)
    begin, length, bad = payload(buffer, start, end, Reading.A, later_have_length, number)
    keys = opaque(np.hstack([envelope.unit(), envelope.log_position(), change[:, None]]))
    _, of = np.unique(keys, return_inverse=True)
    order = np.lexsort((number, of))
    joined, offsets = join_segments([(order, buffer)], begin[order], length[order])
    first = run_starts(of[order])
    ends = np.append(first[1:], len(order))
    whole = ends - first == envelope.segments()[order[first]]
    whole &= ~np.logical_or.reduceat(bad[order], first)
    count = 0
    for kind in ROW_CHANGES:
        mine = whole & (change[order[first]] == kind)
        bounds = offsets[first[mine]], offsets[ends[mine]]
        count += int((~find_images(joined, *bounds, kind, Reading.A, False).bad).sum())
    return count


def closing_changes(
    version: TableVersion,
    buffer: Bytes,
    start: Index,
    end: Index,
    update: Mask,
    reading: Reading,
    row_reading: int | None,
    outer: bool = True,
) -> int:
    """How many changes of a table version have images that end exactly where their columns do;
    ``outer`` as in :func:`find_images`."""
    count = 0
    for kind, of_kind in ((Change.UPDATE, update), (Change.INSERT, ~update)):
        bounds = find_images(buffer, start[of_kind], end[of_kind], kind, reading, outer)
        bad = bounds.bad
        for image in (bounds.first, bounds.second):
            if image is not None and len(bad):
                begin, stop = (np.where(bad, 0, edge) for edge in image)
                bad = bad | images.walk(version.format, buffer, begin, stop, row_reading).bad
        count += int((~bad).sum())
    return count


# -- images of changes
# -------------------------------------------------------------------------------------------------


def joined_images(
    owner: Callable[[int], tuple[LogmasterLog, int]],
    log: LogmasterLog,
    records: Records,
    heads: Index,
    weights: Index,
    kind: Change,
) -> Images:
    """The images of ``n`` changes of one kind whose records are ``records[heads]`` and the
    ``weights - 1`` behind each, joined in memory. ``owner`` gives the log of a file and the file's
    number in it (:meth:`replay.logs.logmaster.reader.LogmasterLog.owner`), ``log`` the reading of
    the lengths around images."""
    change = np.repeat(np.arange(len(heads)), weights)
    first = np.concatenate([[0], np.cumsum(weights)[:-1]])
    rows = np.repeat(heads - first, weights) + np.arange(int(weights.sum()))
    start = np.ascontiguousarray(records["offset"][rows])
    end = start + records["length"][rows]
    number = np.ascontiguousarray(records["segment"][rows]).astype(np.int64)
    files = np.ascontiguousarray(records["file"][rows]).astype(np.int64)
    begin, length, bad = np.zeros_like(start), np.zeros_like(start), np.zeros(len(start), bool)
    parts = []
    for here in by_value(files, np.arange(len(files))):
        of_file, file = owner(int(files[here[0]]))
        buffer = of_file.buffer(file, start[here], end[here])
        begin[here], length[here], bad[here] = payload(
            buffer,
            start[here] + of_file.shape.header,
            end[here],
            of_file.reading,
            of_file.later_segments_have_length,
            number[here],
        )
        parts.append((here, buffer))
    joined, offsets = join_segments(parts, begin, length)
    change_start = offsets[:-1][first]
    change_end = np.append(change_start[1:], offsets[-1])
    images = placed_images(joined, change_start, change_end, kind, log.reading, False)
    wrong = np.zeros(len(heads), bool)
    wrong[change[bad]] = True
    return Images(images.buffer, images.before, images.after, images.bad | wrong, images.reason)


def placed_images(
    buffer: Bytes, start: Index, end: Index, kind: Change, reading: Reading, outer: bool
) -> Images:
    """The images of changes of one kind whose DATA lies in ``buffer[start:end]`` (``int64[n]``
    each), with an outer length before it or without."""
    bounds = find_images(buffer, start, end, kind, reading, outer)

    def reason(row: int) -> tuple[str, str, str]:
        return (*bounds.reason(row), DAMAGED_OR_FOREIGN)

    if kind is Change.UPDATE:
        return Images(buffer, bounds.first, bounds.second, bounds.bad, reason)
    if kind is Change.INSERT:
        return Images(buffer, None, bounds.first, bounds.bad, reason)
    return Images(buffer, bounds.first, None, bounds.bad, reason)


def by_value(values: Index, rows: Index) -> Iterator[Index]:
    """``rows`` in groups that have one value each, in the order of the values."""
    if not len(rows):
        return
    of_rows = values[rows]
    if (of_rows == of_rows[0]).all():
        yield rows
        return
    order = rows[np.argsort(of_rows, kind="stable")]
    yield from np.split(order, np.flatnonzero(np.diff(values[order])) + 1)


# -- exchanges
# -------------------------------------------------------------------------------------------------

_PAGE = "cp037"


def clone_of(data: bytes) -> str | None:
    """OWNER.NAME of the clone that DATA names, behind the halfword of its own length or without
    one; None where it cannot be told."""
    size = int.from_bytes(data[:2], "big")
    forms = [data]
    if size in (len(data), len(data) - 2):
        forms.insert(0, data[2:])
    for form in forms:
        owner, rest = _item(form)
        name, rest = _item(rest)
        if owner and name and not rest:
            text = f"{owner}.{name}"
            return text if text.isascii() and text.isprintable() else None
    return None


def _item(data: bytes) -> tuple[str, bytes]:
    """A name behind its length, and what follows; ('', data) where there is none."""
    end = 2 + int.from_bytes(data[:2], "big")
    if len(data) < 3 or not 2 < end <= len(data):
        return "", data
    return data[2:end].decode(_PAGE).rstrip(), data[end:]


# -- readings, learned from the first images
# -------------------------------------------------------------------------------------------------

#: Images of a table that are looked at.
SAMPLE = 2000
#: Bytes of the log that are walked at once.
_BLOCK = 16 << 20


class FitCounts:
    """Counts, for each table version that allows several readings, how many of its first images
    fit each."""

    def __init__(self, log: LogmasterLog) -> None:
        self.log = log
        formats = {id(version.format): version.format for version in log.catalog.versions}
        readings = {known: len(list(layouts(one))) for known, one in formats.items()}
        #: By version, how many images fit each reading.
        self.fits = {
            version.index: np.zeros(count, np.int64)
            for version in log.catalog.versions
            if (count := readings[id(version.format)]) > 1
        }
        self._missing = dict.fromkeys(self.fits, SAMPLE)
        #: Segments of changes of which not all have been seen, by number.
        self._parts: dict[bytes, dict[int, bytes]] = {}

    @property
    def complete(self) -> bool:
        """Whether nothing more is to be learned."""
        return not any(wanted > 0 for wanted in self._missing.values())

    def readings(self) -> Mapping[int, int]:
        """The reading that most images fit, by version; the first one of those that most fit."""
        return {index: int(counts.argmax()) for index, counts in self.fits.items()}

    def look(self, file: int, block: Block) -> None:
        """Look at the records of a block, which comes after those before it."""
        if self.complete:
            return
        rows = self._candidates(file, block)
        if not len(rows):
            return
        log, buffer = self.log, self.log.buffer(file, block.start, block.stop)
        offsets, lengths = block.offsets[rows], block.lengths[rows]
        envelope = log.envelope(file, offsets, lengths)
        change, version = log.classify(envelope)
        usable = (change > 0) & (change <= Change.DELETE)
        whole = envelope.segments() <= 1
        start, end = offsets + log.shape.header, offsets + lengths
        for index in [index for index, wanted in self._missing.items() if wanted > 0]:
            here = np.flatnonzero(usable & whole & (version == index))[: self._missing[index]]
            update = change[here] == Change.UPDATE
            self._count(index, buffer, (start[here], end[here]), update, outer=True)
            here = np.flatnonzero(usable & ~whole & (version == index))
            if len(here) and self._missing[index] > 0:
                parts = start[here], end[here]
                self._join(index, buffer, parts, envelope.take(here), change[here])

    def _count(
        self, index: int, buffer: Bytes, bounds: tuple[Index, Index], update: Mask, outer: bool
    ) -> None:
        """Count changes of a table version whose images lie between ``bounds``."""
        version, reading = self.log.catalog.versions[index], self.log.reading
        self._missing[index] -= len(update)
        for number in range(len(self.fits[index])):
            self.fits[index][number] += closing_changes(
                version, buffer, *bounds, update, reading, number, outer
            )

    def _join(
        self,
        index: int,
        buffer: Bytes,
        parts: tuple[Index, Index],
        envelope: Envelope,
        change: Bytes,
    ) -> None:
        """Count changes of a table version that lie in segments, as soon as all of them are seen:
        rows may be so long that there are no others."""
        log, number, total = self.log, envelope.segment(), envelope.segments()
        begin, length, _ = payload(
            buffer, *parts, log.reading, log.later_segments_have_length, number
        )
        keys = np.hstack([envelope.unit(), envelope.log_position(), change[:, None]])
        found, kinds = list[bytes](), list[int]()
        for row in range(len(number)):
            key = keys[row].tobytes()
            if key not in self._parts and len(self._parts) >= SAMPLE:
                continue
            seen = self._parts.setdefault(key, {})
            seen[int(number[row])] = buffer[begin[row] : begin[row] + length[row]].tobytes()
            if len(seen) == total[row]:
                found.append(b"".join(data for _, data in sorted(self._parts.pop(key).items())))
                kinds.append(change[row])
        if not found:
            return
        ends = np.cumsum([len(data) for data in found], dtype=np.int64)
        bounds = np.concatenate([[0], ends[:-1]]).astype(np.int64)[: len(ends)], ends
        joined = np.frombuffer(b"".join(found), np.uint8)
        update = np.array(kinds, np.uint8) == Change.UPDATE
        self._count(index, joined, bounds, update, outer=False)

    def _candidates(self, file: int, block: Block) -> Index:
        """Records with the TBOBID of a table that is still to be learned of: most logs have few,
        and then their other headers are not touched."""
        place = self.log.control.header.names["TBOBID"]
        wanted = [index for index, missing in self._missing.items() if missing > 0]
        ids = np.unique([self.log.catalog.versions[index].obid for index in wanted])
        there = np.flatnonzero(block.lengths >= self.log.control.header.size)
        buffer = self.log.buffer(file, block.start, block.stop)
        raw = codecs.gather(buffer, block.offsets[there] + place.offset, place.length)
        number = np.zeros(len(raw), np.int64)
        for column in range(raw.shape[1]):
            number = (number << 8) | raw[:, column]
        return there[np.isin(number, ids)]


def whole_log(log: LogmasterLog) -> FitCounts:
    """Counts of as much of the log as it takes; damaged framing is left to the reader to report."""
    counts = FitCounts(log)
    for file in range(len(log.files)):
        with suppress(InputError):
            for block in log.blocks(file, _BLOCK):
                counts.look(file, block)
                if counts.complete:
                    return counts
    return counts


# -- expanded columns
# -------------------------------------------------------------------------------------------------

#: Records of a file that are looked at, and bytes of the log that are walked for them.
_FIRST, _FIRST_BYTES = 2000, 4 << 20
#: As many values must be there, at least, for all of them to be full by intent.
_ENOUGH = 5
_FILLERS = np.array([0, 0x20, 0x40], np.uint8)


def seem_full(log: LogmasterLog, versions: Collection[int]) -> bool:
    """Whether all values of expanded columns of some table versions (by index) are as long as their
    columns, and a quarter of them end in what would fill them up: in the first records of each data
    file. Damage is left to the reader to report."""
    found = np.zeros(3, np.int64)
    for file in range(len(log.files)):
        with suppress(InputError):
            for block in log.blocks(file, _FIRST_BYTES):
                found += _of_block(log, file, block, versions)
                break
    values, full, filled = found.tolist()
    return values >= _ENOUGH and full == values and 4 * filled >= values


def _of_block(
    log: LogmasterLog, file: int, block: Block, versions: Collection[int]
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many values there are, are full, and end in what may be filler."""
    offsets, lengths = block.offsets[:_FIRST], block.lengths[:_FIRST]
    fits = lengths > log.shape.header
    offsets, lengths = offsets[fits], lengths[fits]
    envelope = log.envelope(file, offsets, lengths)
    change, version = log.classify(envelope)
    whole = (change > 0) & (change <= Change.DELETE) & (envelope.segments() <= 1)
    buffer = log.buffer(file, offsets, offsets + lengths)
    found = np.zeros(3, np.int64)
    for index in versions:
        fmt = log.catalog.versions[index].format
        for kind in (Change.INSERT, Change.UPDATE, Change.DELETE):
            rows = np.flatnonzero(whole & (version == index) & (change == kind))
            if not len(rows):
                continue
            start, end = offsets[rows] + log.shape.header, offsets[rows] + lengths[rows]
            bounds = find_images(buffer, start, end, kind, log.reading, True)
            good = ~bounds.bad
            for image in (bounds.first, bounds.second):
                if image is not None and good.any():
                    walk = log.walk(index, buffer, image[0][good], image[1][good])
                    found += _of_images(fmt, walk)
    return found


def _of_images(fmt: RowFormat, walk: ImageWalk) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    found = np.zeros(3, np.int64)
    if walk.empty:
        return found
    for number, column in enumerate(fmt.columns):
        if not column.expanded or column.code in ("VGRF", "LVGR"):
            continue  # the order of their readings: replay.decoding.image_layouts.layouts
        length = np.broadcast_to(walk.length[number], walk.bad.shape)
        null = walk.nulls(number)
        there = ~walk.bad & (True if null is None else ~null)
        full = there & (length >= column.length) & (length > 0)
        last = walk.buffer[walk.at(number)[full] + length[full] - 1]
        found += (there.sum(), full.sum(), np.isin(last, _FILLERS).sum())
    return found
