"""The quick way for headers that are plain: :mod:`replay.native.scan_kernel` makes their sort
records.

It has no rules of its own. Headers are of one *class* where they are the same in all octets that
decide what becomes of a record; a class is known when a header of it was judged by the rules
(:mod:`replay.pipeline.scan`) and its record goes on as a change of a row. What a record's own
positions and times must be is asked of each header. Whatever is not plain, or of a class that is
not known, is left to the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Hashes, Index, Lengths, Mask, Versions, one_of
from replay.changes.envelope import FACTS_FACTOR, RECORD, ROW_CHANGES, Envelope
from replay.changes.selection import Selection, VerdictCodes
from replay.decoding import codecs
from replay.logs import LogFile, Split
from replay.logs.plain import PlainHeaders, PlainLog
from replay.native import scan_tables as tables
from replay.native.kernels import SCAN_PLAIN
from replay.native.machine_code import MachineCode, once_worth
from replay.pipeline.packed_records import packed
from replay.pipeline.plan import Plan

#: Bytes of a split that make it worth to load machine code.
WORTH = 8 << 20
#: Headers that are judged to learn their classes, how often that is tried in a split, and the
#: classes that are kept at most.
_LEARNED_FROM, _TRIES, _MOST = 1024, 16, 1 << 12
#: What a selection may say without asking more than the class of a header.
_BY_CLASS = (
    *("tables", "exclude_tables", "ops", "where", "columns", "exclude_columns", "include_aborted"),
    *(
        "ri",
        "triggers",
        "incomplete",
        "behind_damage",
        "from_recovery_point",
        "cascade",
    ),
)


@dataclass(frozen=True)
class Judged:
    """What the rules say of some records: their headers, what they are, which headers are
    ``damaged``, and the verdicts."""

    envelope: Envelope
    change: Bytes
    version: Versions
    damaged: Mask
    verdict: VerdictCodes


#: Offsets and lengths of records of a file -> what the rules say of them.
Judge = Callable[[Index, Lengths], Judged]


class PlainScan:
    """Sort records of plain headers of one split, for one plan."""

    def __init__(
        self, plan: Plan, log: PlainLog, headers: PlainHeaders, scan: MachineCode, judge: Judge
    ) -> None:
        self.plan, self.log, self.headers, self.scan, self.judge = plan, log, headers, scan, judge
        self.places, self.masks = _words(headers)
        self.spec = _spec(headers)
        self.filled = np.array(headers.filled, np.int64)
        self.rising = np.array(headers.rising, np.int64).reshape(-1, 2)
        self.keys: Hashes = np.zeros((0, len(self.places)), np.uint64)
        self.facts: npt.NDArray[np.int64] = np.zeros((0, tables.FACTS), np.int64)
        self.slots = np.full(1, -1, np.int64)
        self.tries = _TRIES
        self._room: Bytes = np.empty((2, 0), np.uint8)

    def take(
        self, file: int, first_record: int, offsets: Index, lengths: Lengths
    ) -> tuple[list[tuple[int, bytes]], Index]:
        """(blocks by bucket, rows left) of some records of a file, of which the first one has the
        number ``first_record``."""
        buffer = self.log.buffer(file, offsets, offsets + self.headers.size)
        blocks, left = self._taken(buffer, file, first_record, offsets, lengths)
        if self.tries and len(left) > len(offsets) // 8:
            self.tries -= 1
            some = left[:_LEARNED_FROM]
            if self._learn(buffer, offsets[some], lengths[some]):
                blocks, left = self._taken(buffer, file, first_record, offsets, lengths)
        return blocks, left

    def _taken(
        self, buffer: Bytes, file: int, first_record: int, offsets: Index, lengths: Lengths
    ) -> tuple[list[tuple[int, bytes]], Index]:
        count, size = len(offsets), RECORD.itemsize
        if not len(self.keys):
            return [], np.arange(count)
        self.spec[tables.FILE], self.spec[tables.FIRST] = file, first_record
        bucket, ends = np.empty(count, np.int64), np.zeros(self.plan.buckets + 1, np.int64)
        if self._room.shape[1] < count * size:
            self._room = np.empty((2, count * size), np.uint8)
        rows, out = self._room
        self.scan(
            *(np.ascontiguousarray(buffer), np.ascontiguousarray(offsets)),
            *(np.ascontiguousarray(lengths), self.spec, self.places, self.masks, self.keys),
            *(self.slots, self.facts, self.filled, self.rising, np.array([FACTS_FACTOR])),
            *(self.plan.bounds, size, bucket, ends, rows, out),
        )
        blocks, start = [], 0
        for number, end in enumerate(ends[:-1].tolist()):
            if end > start:
                blocks.append((number, packed(out[start * size : end * size])))
            start = end
        return blocks, np.flatnonzero(bucket < 0)

    def _learn(self, buffer: Bytes, offsets: Index, lengths: Lengths) -> bool:
        """Have some headers judged, and keep the classes of those that are plain; whether there
        are any."""
        whole = (lengths >= self.headers.size) & (offsets + self.headers.size <= len(buffer))
        offsets, lengths = offsets[whole], lengths[whole]
        judged = self.judge(offsets, lengths)
        good = (judged.verdict == 0) & ~judged.damaged & one_of(judged.change, ROW_CHANGES)
        envelope = judged.envelope
        facts = np.zeros((len(offsets), tables.FACTS), np.int64)
        facts[:, tables.CHANGE], facts[:, tables.VERSION] = judged.change, judged.version
        facts[:, tables.ORIGIN] = envelope.origin()
        facts[:, tables.SEGMENT] = envelope.segment()
        facts[:, tables.SEGMENTS] = envelope.segments()
        facts[:, tables.UNIT_DISPOSITION] = envelope.unit_disposition()
        block = codecs.gather(np.ascontiguousarray(buffer), offsets, self.headers.size)
        words = [block[:, place : place + 8].copy().view("<u8")[:, 0] for place in self.places]
        keys = np.stack(words, axis=1)[good] & self.masks
        before = len(self.keys)
        keys, first = np.unique(np.concatenate([self.keys, keys]), axis=0, return_index=True)
        facts = np.concatenate([self.facts, facts[good]])[first]
        if len(keys) > _MOST:
            self.tries = 0
            return False
        self.keys, self.facts = np.ascontiguousarray(keys), np.ascontiguousarray(facts)
        self.slots = _slots(self.keys)
        return len(keys) > before


def plain_scan(plan: Plan, log: LogFile, split: Split, judge: Judge) -> PlainScan | None:
    """The quick way for a split; None where there is none."""
    if split.stop - split.start < WORTH or not isinstance(log, PlainLog):
        return None
    if plan.decisions is not None or plan.continued is not None or plan.copies is not None:
        return None
    asked = plan.selection
    usual = {name: getattr(_PLAIN_SELECTION, name) for name in _BY_CLASS}
    if asked.incomplete == "dependentrba" or replace(asked, **usual) != _PLAIN_SELECTION:
        return None
    headers = log.plain_headers()
    scan = once_worth(SCAN_PLAIN, split.stop - split.start, WORTH)
    if plan.parts_units or headers is None or scan is None:
        return None
    return PlainScan(plan, log, headers, scan, judge)


_PLAIN_SELECTION = Selection()


def _words(headers: PlainHeaders) -> tuple[Index, Hashes]:
    """Words of 8 octets that hold all octets by which headers are judged, and the masks of
    these."""
    octets = {place + more for place, size in headers.judged for more in range(size)}
    words: dict[int, int] = {}
    for octet in sorted(octets):
        place = next((at for at in words if at <= octet < at + 8), min(octet, headers.size - 8))
        words[place] = words.get(place, 0) | 0xFF << 8 * (octet - place)
    return np.array(list(words), np.int64), np.array(list(words.values()), np.uint64)


def _spec(headers: PlainHeaders) -> Index:
    """What the kernel must know of headers, but for their class."""
    spec = {
        tables.LEAST: headers.size,
        tables.COMMIT: headers.commit,
        tables.COMMIT_ELSE: headers.commit_else,
        tables.UNIT: headers.unit,
        tables.MEMBER: headers.member,
        tables.POSITION: headers.position,
        tables.BEGIN: headers.begin,
        tables.TIME: headers.time,
        tables.COUNTED: headers.counted,
        tables.EXCESS: headers.excess[0],
        tables.EXCESS_LATER: headers.excess[1],
    }
    table = np.zeros(tables.SPEC, np.int64)
    table[list(spec)] = [-1 if number is None else number for number in spec.values()]
    return table


def _slots(keys: Hashes) -> Index:
    """The table in which the kernel looks for keys: at the slot that a key's hash names, or behind
    it, its number; more than half of the slots are empty (-1)."""
    count = 1 << max(4, (2 * len(keys)).bit_length())
    slots = np.full(count, -1, np.int64)
    mixed = np.zeros(len(keys), np.uint64)
    for word in keys.T:
        mixed = (mixed ^ word) * _HASH
        mixed ^= mixed >> np.uint64(29)
    for number, slot in enumerate((mixed & np.uint64(count - 1)).tolist()):
        while slots[slot] >= 0:
            slot = (slot + 1) % count
        slots[slot] = number
    return slots


_HASH = np.uint64(0x9E37_79B9_7F4A_7C15)
