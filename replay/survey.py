"""A look over the headers of a log before a replay: from where to where its committed units reach, and where a time lies among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from replay.changes import compare
from replay.logs import LogFile
from replay.scan import BATCH


@dataclass(frozen=True)
class Survey:
    """``first`` and ``last`` commit position of committed records (None: there are none), and ``late``, the lowest one whose commit time is later
    than what was asked."""

    first: bytes | None
    last: bytes | None
    late: bytes | None


def survey(log: LogFile, time: bytes | None = None, split_bytes: int = 64 << 20) -> Survey:
    """Read all headers. ``time``: 17 packed bytes, as in the header."""
    first: bytes | None = None
    last: bytes | None = None
    late: bytes | None = None
    for split, offsets, lengths in log.splits(split_bytes):
        for start in range(0, len(offsets), BATCH):
            envelope = log.envelope(split.file, offsets[start : start + BATCH], lengths[start : start + BATCH])
            position = envelope.commit()
            committed = (envelope.unit_disposition() == ord("C")) & position.any(axis=1)  # a record of no unit has no position
            commit = position[committed]
            if not len(commit):
                continue
            low, high = _bounds(commit)
            first = low if first is None else min(first, low)
            last = high if last is None else max(last, high)
            if time is not None:
                later = commit[compare(envelope.commit_time()[committed], time) > 0]
                if len(later):
                    low = _bounds(later)[0]
                    late = low if late is None else min(late, low)
    return Survey(first, last, late)


def _bounds(commit: npt.NDArray[np.uint8]) -> tuple[bytes, bytes]:
    """The lowest and the highest of some positions (``uint8[n, 10]``, n > 0)."""
    prefix = np.ascontiguousarray(commit[:, :8]).view(">u8").reshape(-1)
    low, high = commit[prefix == prefix.min()], commit[prefix == prefix.max()]
    return min(map(bytes, low)), max(map(bytes, high))
