"""A sample of the commit positions of what is selected, by which the bounds of output files are
placed.

Of so many records one is looked at, by its number in its file: a sample is that of the log, however
the log was cut for reading, and whoever read it.
"""

from __future__ import annotations

import numpy as np

from replay.arrays import Hashes, Index, Lengths, Mask
from replay.changes.envelope import opaque
from replay.changes.position import leading_words
from replay.changes.selection import INCOMPLETE, RecordFacts, Selection, decide
from replay.logs import LogFile, Split

#: Of this many records one is looked at to place the bounds of the buckets.
SAMPLE_EVERY = 64
#: Up to so many records; of more, every second, fourth … of these, so that a sample has 4 million
#: positions at most.
_ALL_OF = 1 << 28


def stride_of(records: int) -> int:
    """Of how many records one is looked at in a log of so many."""
    return SAMPLE_EVERY << max(0, (-(-records // _ALL_OF) - 1).bit_length())


def sampled(
    log: LogFile,
    selection: Selection,
    taken: Mask,
    split: Split,
    offsets: Index,
    lengths: Lengths,
    stride: int,
) -> tuple[Index, Hashes]:
    """Of the records of a split (all of them are given), those that a sample looks at and the
    selection takes: their numbers, and the leading words of their commit positions."""
    phase = -(split.first_record - 1) % stride
    chosen, chosen_lengths = offsets[phase::stride], lengths[phase::stride]
    if not len(chosen):
        return np.zeros(0, np.int64), np.zeros(0, np.uint64)
    envelope = log.envelope(split.file, chosen, chosen_lengths)
    change, version = log.classify(envelope)
    facts = RecordFacts(change, version, taken, log.dependent_position)
    verdict = decide(selection, envelope, facts)
    kept = (verdict == 0) & (verdict != INCOMPLETE)
    numbers = split.first_record + phase + np.flatnonzero(kept) * stride
    return numbers, leading_words(opaque(envelope.commit()[kept]))


class CommitSample:
    """The sample of a log that is read from beginning to end, whose number of records is not known
    before."""

    def __init__(self, log: LogFile, selection: Selection, taken: Mask) -> None:
        self.log, self.selection, self.taken = log, selection, taken
        self.records, self.stride = 0, SAMPLE_EVERY
        self._parts: list[tuple[Index, Hashes]] = []

    def look(self, split: Split, offsets: Index, lengths: Lengths) -> None:
        """Look at the records of a split."""
        self.records += len(offsets)
        part = sampled(self.log, self.selection, self.taken, split, offsets, lengths, self.stride)
        self._parts.append(part)
        wider = stride_of(self.records)
        if wider > self.stride:
            self.stride = wider
            self._parts = [_thinned(part, wider) for part in self._parts]

    def words(self) -> Hashes:
        """The leading words of the positions, rising."""
        return np.sort(np.concatenate([np.zeros(0, np.uint64), *(w for _, w in self._parts)]))


def _thinned(part: tuple[Index, Hashes], stride: int) -> tuple[Index, Hashes]:
    numbers, words = part
    kept = (numbers - 1) % stride == 0
    return numbers[kept], words[kept]
