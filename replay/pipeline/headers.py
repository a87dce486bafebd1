"""One walk along the headers of a log's records, a block of records at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from replay.arrays import Bytes, Index, Lengths, Mask, Versions
from replay.changes.envelope import Envelope
from replay.changes.selection import RecordFacts, Selection, VerdictCodes, decide
from replay.logs import LogFile, Split

#: Records looked at together; large enough to spread the cost of a NumPy call, small enough for the
#: cache.
BATCH = 16_384
#: Bytes of a log whose framing is walked together.
SPLIT = 64 << 20


class HeaderBlock(NamedTuple):
    """The headers of some records of the file of a ``split``; ``first`` is the number of the first
    record, ``offsets`` and ``lengths`` say where each lies."""

    split: Split
    first: int
    offsets: Index
    lengths: Lengths
    envelope: Envelope

    def committed(self) -> Mask:
        """Which records are of units that committed at a position: a record of no unit has none."""
        envelope = self.envelope
        done: Mask = envelope.unit_disposition() == ord("C")
        return done & envelope.commit().any(axis=1)


class JudgedHeaders(NamedTuple):
    """``headers`` with the ``change`` and the table ``version`` of each record, and the ``verdict``
    of a selection."""

    headers: HeaderBlock
    change: Bytes
    version: Versions
    verdict: VerdictCodes


def headers(log: LogFile, splits: Iterable[Split]) -> Iterator[HeaderBlock]:
    """The headers of all records of some splits. InputError (LR2002) where framing is damaged."""
    for split in splits:
        for first, offsets, lengths in log.records(split, BATCH):
            yield HeaderBlock(
                split, first, offsets, lengths, log.envelope(split.file, offsets, lengths)
            )


def all_headers(log: LogFile, split_bytes: int = SPLIT) -> Iterator[HeaderBlock]:
    """The headers of a log whose splits, of so many bytes, are not known yet."""
    for split, offsets, lengths in log.splits(split_bytes):
        for start in range(0, len(offsets), BATCH):
            some = offsets[start : start + BATCH], lengths[start : start + BATCH]
            envelope = log.envelope(split.file, *some)
            yield HeaderBlock(split, split.first_record + start, *some, envelope)


def judged_headers(
    log: LogFile, splits: Iterable[Split] | None, selection: Selection, taken: Mask
) -> Iterator[JudgedHeaders]:
    """HeaderBlock (of all splits: None) with what a selection says of each record; ``taken``: the
    table versions that it takes. Units that the log marks as incomplete are not left out."""
    for found in all_headers(log) if splits is None else headers(log, splits):
        change, version = log.classify(found.envelope)
        facts = RecordFacts(change, version, taken, log.dependent_position, True)
        yield JudgedHeaders(found, change, version, decide(selection, found.envelope, facts))
