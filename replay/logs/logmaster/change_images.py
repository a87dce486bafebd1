"""The row images of changes, where they lie in a file or joined from segments (format notes,
sections 6.2 and 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from replay.arrays import Bytes, Index, Records
from replay.changes.envelope import Change
from replay.logs import Images
from replay.logs.logmaster.data import Reading, find_images, join_segments, payload
from replay.logs.logmaster.header_checks import DAMAGED_OR_FOREIGN

if TYPE_CHECKING:
    from replay.logs.logmaster.reader import LogmasterLog


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
