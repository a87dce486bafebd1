"""DATA: where row images lie in a data record, how segments join, and what an exchange says of the
other table (format notes, sections 6.1, 6.2 and 9).

The page allows three readings of the lengths around row images. Which one a log uses is settled
once, from its own records, and never guessed per record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from replay.arrays import Bytes, Index, Mask, Records
from replay.changes.catalog import TableVersion
from replay.changes.envelope import ROW_CHANGES, Change, Envelope, opaque
from replay.changes.order import run_starts
from replay.decoding import codecs, images
from replay.errors import InputError, Where
from replay.logs import Images
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
