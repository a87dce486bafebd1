"""A chunk: records of a bucket that are worked on together, and the changes that they are."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from replay.arrays import Bytes, Index, Records, Versions
from replay.changes.envelope import Envelope

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
