"""Chunks: records of a bucket that are worked on together, the changes that they are, and where
units of recovery begin."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from replay.arrays import Bytes, Index, Mask, Records, Versions
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


# -- where units begin
# -------------------------------------------------------------------------------------------------

#: Records that are walked along together.
STEP = 1 << 16
#: What tells units apart, which a record begins with.
_UNIT = ("commit", "unit")


def unit_starts(records: Records) -> Index:
    """The first record of each unit, rising, among ``records``, which are in commit order."""
    starts = [np.arange(min(len(records), 1))]
    for low in range(0, len(records), STEP):
        first = max(low - 1, 0)
        same = like_the_one_before(records[first : low + STEP], *_UNIT)
        starts.append(np.flatnonzero(~same) + first + 1)
    return np.concatenate(starts)


def like_the_one_before(records: Records, *names: str) -> Mask:
    """Which records but the first are the same as their neighbour in some fields."""
    rows = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), RECORD.itemsize)
    same = np.ones(max(len(rows) - 1, 0), bool)
    for name in names:
        field = rows[:, field_slice(name)]
        same &= codecs.equal_rows(field[1:], field[:-1])
    return same
