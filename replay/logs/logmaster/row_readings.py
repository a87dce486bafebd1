"""How the row images of a table lie, where the documents allow several readings: learned from its
first images, for the whole log.

Tables with ROWIDs, large objects or graphic columns are such. What the first blocks of a log do
not tell is learned while all of its records are indexed anyway, or, where somebody asks before
that, from as much of the log as it takes. Whether the lengths of expanded columns (EXPANDVAR,
section 6.3) tell how long their values were is asked of the first records, too: the notes leave
open whether a length is that of the value or that of the column. Where it is that of the column,
values seem to have the filler at their ends: then all are as long as they can be.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import RowFormat
from replay.changes.envelope import Change, Envelope
from replay.decoding import codecs
from replay.decoding.image_layouts import layouts
from replay.decoding.images import ImageWalk
from replay.errors import InputError
from replay.logs.logmaster.data import closing_changes, find_images, payload
from replay.logs.logmaster.framing import Block

if TYPE_CHECKING:
    from replay.logs.logmaster.reader import LogmasterLog

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
