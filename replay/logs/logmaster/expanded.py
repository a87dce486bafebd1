"""Whether the lengths of expanded columns (EXPANDVAR, section 6.3) tell how long their values were.

The notes leave open whether a length is that of the value or that of the column. Where it is that
of the column, values seem to have the filler at their ends: then all are as long as they can be.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from replay.changes.catalog import RowFormat
from replay.changes.envelope import Change
from replay.decoding.images import ImageWalk
from replay.errors import InputError
from replay.logs.logmaster.data import find_images
from replay.logs.logmaster.framing import Block

if TYPE_CHECKING:
    from replay.logs.logmaster.reader import LogmasterLog

#: Records of a file that are looked at, and bytes of the log that are walked for them.
_SAMPLE, _BLOCK = 2000, 4 << 20
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
            for block in log.blocks(file, _BLOCK):
                found += _of_block(log, file, block, versions)
                break
    values, full, filled = found.tolist()
    return values >= _ENOUGH and full == values and 4 * filled >= values


def _of_block(
    log: LogmasterLog, file: int, block: Block, versions: Collection[int]
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many values there are, are full, and end in what may be filler."""
    offsets, lengths = block.offsets[:_SAMPLE], block.lengths[:_SAMPLE]
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
