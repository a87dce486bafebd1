"""Chunks: records of a bucket that are worked on together, the changes that they are, and where
units of recovery begin."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Mask, Records, Versions
from replay.changes.envelope import RECORD, Envelope, field_slice
from replay.decoding import codecs

#: Outcome of a change that is damaged itself; other outcomes are indexes of
#: :data:`replay.changes.selection.REASONS`, 0 = emitted.
FAILED = 251


@dataclass
class ChunkChanges:
    """The changes of a chunk in log order. ``head`` is the row of a change's first record in
    ``records``, ``weight`` its number of segments; ``change``, ``version`` and ``origin`` are those
    of the first record."""

    records: Records
    head: Index
    weight: Index
    unit: Index
    change: Bytes
    version: Versions
    origin: Bytes
    outcome: Bytes
    uncommitted: Bytes

    def part(self, rows: Index) -> ChunkChanges:
        """Some of the changes."""
        names = [one.name for one in fields(self) if one.name != "records"]
        return replace(self, **{name: getattr(self, name)[rows] for name in names})


@dataclass(frozen=True)
class Chunk:
    """Rows ``start:stop`` of a bucket: whole units, or one piece of a unit too long for a chunk
    (``piece`` k of ``pieces``, in emission order)."""

    start: int
    stop: int
    piece: int = 0
    pieces: int = 1


def each_alone(records: Records, unit: Index) -> ChunkChanges:
    """The changes of records of which none is odd: each is one."""
    count = len(records)
    change, version, origin = (
        np.ascontiguousarray(records[name]) for name in ("change", "version", "origin")
    )
    every, ones = np.arange(count), np.ones(count, np.int64)
    outcome, uncommitted = (np.zeros(count, np.uint8) for _ in range(2))
    return ChunkChanges(records, every, ones, unit, change, version, origin, outcome, uncommitted)


def joined(records: Records, unit: Index) -> ChunkChanges:
    """The changes of records in order, segments joined; ``unit`` numbers the unit of each."""
    change, version, segments = (
        np.ascontiguousarray(records[name]) for name in ("change", "version", "segments")
    )
    follows = np.zeros(len(records), bool)
    follows[1:] = (
        (segments[1:] > 1)
        & (segments[1:] == segments[:-1])
        & (unit[1:] == unit[:-1])
        & (change[1:] == change[:-1])
        & (version[1:] == version[:-1])
        & (records["position"][1:] == records["position"][:-1])
    )
    head = np.flatnonzero(~follows)
    outcome, uncommitted = (np.zeros(len(head), np.uint8) for _ in range(2))
    return ChunkChanges(
        records,
        head,
        np.diff(np.append(head, len(records))),
        unit[head],
        change[head],
        version[head],
        records["origin"][head],
        outcome,
        uncommitted,
    )


def uncommitted_of(envelope: Envelope) -> Bytes:
    """For ``--include-aborted``: the reason each change would have been left out for, 0 for
    committed work."""
    result = np.zeros(len(envelope), np.uint8)
    disposition = envelope.disposition()
    result[disposition != ord("C")] = 4
    result[disposition == ord("S")] = 3
    result[disposition == ord("A")] = 2
    result[envelope.unit_disposition() != ord("C")] = 1
    return result


# -- where units and chunks begin
# -------------------------------------------------------------------------------------------------

#: Records that are walked along together, and of which it is told together whether some are odd.
STEP, BLOCK = 1 << 16, 64
#: What tells units apart, which a record begins with, and what tells the changes of one apart.
_UNIT, _CHANGE = ("commit", "unit"), ("position", "segment")


class WalkedRecords(NamedTuple):
    """The first record of each unit, rising, and of each :data:`BLOCK` records whether some are not
    a whole change of their own: segments, records with damaged headers, those that are the same
    change as the one before, and those that say something else of their unit than its first one.
    """

    unit_start: Index
    odd: Mask

    def each_alone(self, start: int, stop: int) -> bool:
        """Whether each of some records is a whole change of its own; False too where it is not
        known."""
        return not self.odd[start // BLOCK : -(-stop // BLOCK)].any()


def walked(records: Records) -> WalkedRecords:
    """What a walk along ``records``, which are in commit order, finds."""
    starts, odd = [np.arange(min(len(records), 1))], [np.zeros(0, bool)]
    facts = records["unit_facts"][:1].copy()
    for low in range(0, len(records), STEP):
        first = max(low - 1, 0)
        some = np.ascontiguousarray(records[first : low + STEP])
        strange = np.empty(len(some), bool)
        strange[0] = _alone(some[:1])[0]
        begun, strange[1:], facts = _compared(some, facts)
        starts.append(begun + first)
        places_of_blocks = np.arange(0, len(some) - (low - first), BLOCK)
        odd.append(np.logical_or.reduceat(strange[low - first :], places_of_blocks))
    return WalkedRecords(np.concatenate(starts), np.concatenate(odd))


def _alone(records: Records) -> Mask:
    """Which records are segments, or damaged."""
    odd: Mask = records["damaged"] | (records["segment"] > 1) | (records["segments"] > 1)
    return odd


def _compared(records: Records, facts: Hashes) -> tuple[Index, Mask, Hashes]:
    """Which of some records but the first begin a unit, and which of these are odd. ``facts``
    (uint64[1]) are those of the first one's unit; the last result is those of the last one's."""
    same = like_the_one_before(records, *_UNIT)
    again = same & like_the_one_before(records, *_CHANGE)
    starts = np.flatnonzero(~same) + 1
    own = np.ascontiguousarray(records["unit_facts"])
    lengths = np.diff(np.concatenate([[1], starts, [len(records)]]))
    of_units = np.concatenate([facts, own[starts]])
    of_unit = np.repeat(of_units, lengths)
    odd = _alone(records[1:]) | again | (own[1:] != of_unit)
    return starts, odd, of_units[-1:]


def like_the_one_before(records: Records, *names: str) -> Mask:
    """Which records but the first are the same as their neighbour in some fields."""
    rows = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), RECORD.itemsize)
    same = np.ones(max(len(rows) - 1, 0), bool)
    for name in names:
        field = rows[:, field_slice(name)]
        same &= codecs.equal_rows(field[1:], field[:-1])
    return same
