"""The first stage: records of one split -> narrow sort records by bucket, and the outcome of every
record that goes no further.

A *bucket* is a range of commit positions and becomes one output file. Images are not touched here.
Records leave as packed blocks of :data:`replay.changes.envelope.RECORD`, one block per bucket and
batch, because an engine moves one blob of a thousand records for the price of one row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index, Lengths, Mask, Records, Versions, one_of, take_rows
from replay.changes.balance import Tally
from replay.changes.envelope import (
    CANCELLED,
    RECORD,
    ROW_CHANGES,
    TABLE_EVENTS,
    Change,
    Envelope,
    field_slice,
    opaque,
    unit_facts,
)
from replay.changes.order import commit_order
from replay.changes.selection import (
    CANCELLED_OUT,
    INCOMPLETE,
    OTHER_TABLE,
    REASON,
    UNWRITTEN,
    RecordFacts,
    Selection,
    VerdictCodes,
    balance_of,
    decide,
    decide_copy,
    held_by_flags,
)
from replay.changes.units import Verdict
from replay.errors import Finding
from replay.logs import LogFile, LosesCascades, Split, where_of
from replay.logs.record_facts import other_versions
from replay.pipeline.plan import Plan
from replay.spill import merged

# -- headers
# -------------------------------------------------------------------------------------------------
# One walk along the headers of a log's records, a block of records at a time.


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
    """The headers of all records of some splits. Errors as :meth:`replay.logs.LogFile.records`."""
    for split in splits:
        for first, offsets, lengths in log.records(split, BATCH):
            yield HeaderBlock(
                split, first, offsets, lengths, log.envelope(split.file, offsets, lengths)
            )


def all_headers(log: LogFile, split_bytes: int = SPLIT) -> Iterator[HeaderBlock]:
    """The headers of a log whose splits, of so many bytes, are not known yet. Errors as
    :meth:`replay.logs.LogFile.splits`."""
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


#: The code of a unit that is set aside because the log marks it.
INCOMPLETE_UNIT = "LR3004"
#: The code of a unit that may depend on an incomplete one, which nothing proves or refutes.
UNPROVEN_UNIT = "LR3014"
_INCOMPLETE = Verdict(
    INCOMPLETE_UNIT,
    "a record could not be completed (INCOMPLETETRANS), or is not in the log",
)
#: Of a unit that lacks records which lie before or between the files.
HEADLESS = Verdict(
    "LR2041", "it began before the files, or between two of them: give the files where it began too"
)
_DEPENDENT = Verdict(
    INCOMPLETE_UNIT, "may depend on an incomplete unit (INCOMPLETEDEP or DEPENDENTRBA)"
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


def scan_split(plan: Plan, log: LogFile, split: Split, tally: Tally) -> Iterator[tuple[int, bytes]]:
    """Yield ``(bucket, block)`` for the records of ``split`` that go on; count the others in
    ``tally``.

    Records whose header is damaged in a way that still names their unit go on, so that the unit is
    quarantined where it is rendered; and those that lie between others of their unit and are left
    out (:data:`replay.changes.selection.UNWRITTEN`), which are counted there.
    """

    for first_record, offsets, lengths in log.records(split, BATCH):
        tally.read += len(offsets)
        numbers = first_record + np.arange(len(offsets))
        yield from _by_the_rules(plan, log, split.file, numbers, offsets, lengths, tally)


def _by_the_rules(
    plan: Plan,
    log: LogFile,
    file: int,
    numbers: Index,
    offsets: Index,
    lengths: Lengths,
    tally: Tally,
) -> Iterator[tuple[int, bytes]]:
    """(bucket, block) of some records of a file, which the rules judge."""
    judged = _judged(plan, log, file, offsets, lengths)
    envelope, change, version = judged.envelope, judged.change, judged.version
    tally.clock.look(plan.selection, envelope)
    skipped = balance_of(judged.verdict)
    tally.skipped.update({log.in_words(reason): skipped[reason] for reason in skipped})
    if not plan.flags_resolved:
        held = held_by_flags(plan.selection, envelope, log.dependent_position)
        tally.flagged_records += int((held & (envelope.unit_disposition() == ord("C"))).sum())
    _count_incomplete(plan, log, tally, envelope, judged)
    _report_untrusted(log, file, numbers, offsets, lengths, envelope, judged.damaged, tally)
    kept = np.flatnonzero(judged.verdict == 0)
    if len(kept):
        records = sort_records(file, numbers, offsets, lengths, envelope, change, version, kept)
        records["damaged"] = judged.damaged[kept]
        if plan.mode == "undo" and isinstance(log, LosesCascades):
            records["damaged"] |= log.passed_on(records) & plan.version_taken[version[kept]]
        if plan.mode == "undo":
            committed = (envelope.unit_disposition()[kept] == ord("C")) & (
                envelope.disposition()[kept] == ord("C")
            )
            events = np.flatnonzero(committed & one_of(change[kept], TABLE_EVENTS))
            _refuse_events(log, records[events], change[kept][events], version[kept][events], tally)
        yield from _by_bucket(plan, records)


def _judged(plan: Plan, log: LogFile, file: int, offsets: Index, lengths: Lengths) -> Judged:
    """What the rules say of some records of a file."""
    envelope = log.envelope(file, offsets, lengths)
    change, version = log.classify(envelope)
    damaged = log.check(envelope, lengths, change, version)
    facts = RecordFacts(
        change, version, plan.version_taken, log.dependent_position, plan.flags_resolved
    )
    verdict = _verdict(plan, plan.selection, envelope, facts, file, offsets)
    if plan.parts_units:
        taken = _verdict(plan, plan.selection.of_whole_units(), envelope, facts, file, offsets)
        unwritten = one_of(verdict, UNWRITTEN) & one_of(change, ROW_CHANGES)
        verdict[unwritten & (taken == 0)] = 0
    _meet_clones(plan, log, envelope, facts, verdict, file, offsets, lengths)
    verdict[damaged] = 0
    verdict = plan.without_taken(verdict, envelope)
    return Judged(envelope, change, version, damaged, verdict)


def _meet_clones(
    plan: Plan,
    log: LogFile,
    envelope: Envelope,
    facts: RecordFacts,
    verdict: VerdictCodes,
    file: int,
    offsets: Index,
    lengths: Lengths,
) -> None:
    """Take committed exchanges whose other table is selected, where their own is not."""
    if plan.copies is not None:
        return
    left = (facts.change == Change.EXCHANGE) & (verdict == REASON[OTHER_TABLE])
    if not left.any():
        return
    rows = np.flatnonzero(left & (envelope.unit_disposition() == ord("C")))
    others = other_versions(log, np.full(len(rows), file), offsets[rows], lengths[rows])
    rows = rows[[bool(plan.version_taken[versions].any()) for versions in others]]
    every = np.ones_like(plan.version_taken)
    both = replace(
        facts, change=facts.change[rows], version=facts.version[rows], version_taken=every
    )
    verdict[rows] = _verdict(plan, plan.selection, envelope.take(rows), both, file, offsets[rows])


def _verdict(
    plan: Plan,
    selection: Selection,
    envelope: Envelope,
    facts: RecordFacts,
    file: int,
    offsets: Index,
) -> VerdictCodes:
    judge = decide if plan.copies is None else decide_copy
    verdict = judge(selection, envelope, facts)
    if plan.decisions is not None:
        verdict = plan.decisions.judge(verdict, envelope, file, offsets)
    verdict[(verdict == 0) & (envelope.disposition() == CANCELLED)] = REASON[CANCELLED_OUT]
    return verdict


def _count_incomplete(
    plan: Plan, log: LogFile, tally: Tally, envelope: Envelope, judged: Judged
) -> None:
    held = judged.verdict == INCOMPLETE
    count = int(held.sum())
    if not count:
        return
    tally.quarantined += count
    units, first, records = np.unique(
        opaque(envelope.unit()[held]), return_index=True, return_counts=True
    )
    own = envelope.incomplete_unit()[held][first]
    rows, decided = plan.held.rows_of(units)
    unproven = plan.held.of_code(UNPROVEN_UNIT)[rows[decided]]
    tally.unproven += int(records[decided][unproven].sum())
    tally.held.put(units[decided])
    ends = held & (judged.change == Change.HEADLESS)
    headless = np.isin(units, opaque(envelope.unit()[ends]))
    tally.quarantined_units.set_all(units[headless], HEADLESS)
    own, decided = own & ~headless, decided | headless
    for flag, some in ((_INCOMPLETE, own & ~decided), (_DEPENDENT, ~own & ~decided)):
        if some.any():
            told = Verdict(flag.code, log.in_words(flag.text))
            tally.quarantined_units.set_all(units[some], told)


def _report_untrusted(
    log: LogFile,
    file: int,
    numbers: Index,
    offsets: Index,
    lengths: Lengths,
    envelope: Envelope,
    damaged: Mask,
    tally: Tally,
) -> None:
    """A damaged header that does not even name its unit makes every unit suspect: that is fatal for
    the run, not a finding of one record."""
    if not damaged.any():
        return
    rows = np.flatnonzero(damaged)
    for row in rows[~log.names_its_unit(envelope, lengths)[rows]]:
        tally.fatal.append(
            log.header_finding(file, int(numbers[row]), int(offsets[row]), int(lengths[row]))
        )


def sort_records(
    file: int,
    first_record: int | Index,
    offsets: Index,
    lengths: Lengths,
    envelope: Envelope,
    change: Bytes,
    version: Versions,
    kept: Index,
) -> Records:
    """The rows ``kept`` of a batch as sort records (dtype
    :data:`replay.changes.envelope.RECORD`). ``first_record`` is the number of the first one, or
    ``int64[n]`` those of all."""
    octets = np.zeros((len(kept), RECORD.itemsize), np.uint8)
    rows: slice | Index = slice(None) if len(kept) == len(envelope) else kept
    for name, raw in (
        ("commit", envelope.commit()),
        ("unit", envelope.unit()),
        ("position", envelope.log_position()),
    ):
        octets[:, field_slice(name)] = raw[rows]
    records = octets.reshape(-1).view(RECORD)
    number, total = envelope.segment()[rows], envelope.segments()[rows]
    records["segment"] = np.where(total <= 1, 1, number)  # a whole one has 0, too
    records["segments"] = total
    records["change"] = change[rows]
    records["version"] = version[rows]
    records["origin"] = envelope.origin()[rows]
    records["unit_facts"] = unit_facts(envelope)[rows]
    records["file"] = file
    records["offset"] = offsets[rows]
    records["length"] = lengths[rows]
    if isinstance(first_record, int):
        records["number"] = first_record + kept
    else:
        records["number"] = first_record[kept]
    return records


def _by_bucket(plan: Plan, records: Records) -> Iterator[tuple[int, bytes]]:
    bucket = plan.bucket_of(records["commit"])
    if plan.buckets <= 1 << 16:
        bucket = bucket.astype(np.uint16)  # sorting 16 bits is counting
    order = np.argsort(bucket, kind="stable")
    starts = np.searchsorted(bucket[order], np.arange(plan.buckets + 1))
    ordered = take_rows(records, order)
    for index in range(plan.buckets):
        if starts[index] < starts[index + 1]:
            yield index, packed(ordered[starts[index] : starts[index + 1]].view(np.uint8))


def _refuse_events(
    log: LogFile, records: Records, change: Bytes, version: Versions, tally: Tally
) -> None:
    """Undo of a mass delete, truncate or exchange would need rows that the log does not hold:
    refuse by name."""
    for row in range(len(records)):
        record = records[row]
        name = log.catalog.versions[version[row]].name if version[row] >= 0 else None
        where = where_of(log, record, table=name)
        kind = Change(int(change[row])).name.lower().replace("_", " ")
        which = "both tables" if change[row] == Change.EXCHANGE else "the table"
        hint = (
            f"Undo only what came after it (--from-position), or leave {which} out"
            " (--exclude-table) and restore from an image copy"
        )
        tally.refusals.append(
            Finding(
                "LR3002",
                where,
                f"a committed {kind}",
                "changes whose row images are in the log",
                hint,
            )
        )


# -- packed records
# -------------------------------------------------------------------------------------------------
# Sort records as they go from task to task: what all records of a block have in common stands there
# once. Of 75 bytes of a record some 30 are left, for positions begin alike. Those that come
# together in a task are sorted, in a file where they are many (:func:`in_commit_order`).
#
# A packed block is: how many records there are (4 bytes), how many bytes differ (1), their places
# in a record (1 each), the first record, then of each record the bytes that differ. Few records,
# which are not worth the time, stand there as they are, behind the bytes that say so.


#: Records from which on those that came are sorted as one run; runs are merged.
RUN = 1 << 19
#: Records that are worth to be packed: less than half a microsecond each.
FEW = 32
#: Bytes that say how many records there are; how a block begins whose records are as they are.
_COUNT = 4
_WHOLE = b"\0\0\0\0\xff"
_SIZE = RECORD.itemsize


def packed(octets: Bytes) -> bytes:
    """The records (:data:`replay.changes.envelope.RECORD`) that ``octets`` are, packed."""
    count = len(octets) // _SIZE
    if count < FEW:
        return b"".join((_WHOLE, octets.data))
    rows = octets.reshape(count, _SIZE)
    columns = np.flatnonzero(np.bitwise_or.reduce(rows ^ rows[0], axis=0))
    rest = np.empty((count, len(columns)), np.uint8)
    for place, at, size in _stretches(columns):
        _column(rest, place, size)[:] = _column(rows, at, size)
    head = count.to_bytes(_COUNT, "little") + bytes([len(columns), *columns.tolist()])
    return b"".join((head, octets[:_SIZE].data, rest.data))


def unpacked(block: bytes) -> Records:
    """The records of a packed block."""
    return unpacked_together([block])


def unpacked_together(blocks: Iterable[bytes]) -> Records:
    """The records of packed blocks, as they come."""
    each = list(blocks)
    ends = np.cumsum([0, *map(count_of, each)]).tolist()
    out = np.empty((ends[-1], _SIZE), np.uint8)
    for block, (begin, end) in zip(each, pairwise(ends), strict=True):
        _unpack(block, out[begin:end])
    return out.reshape(-1).view(RECORD)


def count_of(block: bytes) -> int:
    """How many records a packed block has."""
    if block.startswith(_WHOLE):
        return (len(block) - len(_WHOLE)) // _SIZE
    return int(np.frombuffer(block, "<u4", 1)[0])


def _unpack(block: bytes, out: Bytes) -> None:
    octets = np.frombuffer(block, np.uint8)
    if block.startswith(_WHOLE):
        out[:] = octets[len(_WHOLE) :].reshape(out.shape)
        return
    start = _COUNT + 1 + block[_COUNT]
    columns = octets[_COUNT + 1 : start].astype(np.int64)
    rest = octets[start + _SIZE :].reshape(len(out), len(columns))
    _column(out, 0, _SIZE)[:] = octets[start : start + _SIZE].view(f"V{_SIZE}")
    for place, at, size in _stretches(columns):
        _column(out, at, size)[:] = _column(rest, place, size)


def _stretches(columns: Index) -> Iterator[tuple[int, int, int]]:
    """(place among ``columns``, byte of a record, bytes) of columns that follow one another."""
    ends = np.append(np.flatnonzero(np.diff(columns) > 1) + 1, len(columns)).tolist()
    start = 0
    for end in ends if len(columns) else ():
        yield start, int(columns[start]), end - start
        start = end


def _column(rows: Bytes, at: int, size: int) -> npt.NDArray[Any]:
    """``size`` bytes of each row, which lie together, as one value: NumPy copies them as such."""
    count, width = rows.shape
    return np.ndarray((count,), f"V{size}", rows, at, (width,))


def in_commit_order(blocks: Iterable[bytes]) -> Records:
    """The records of packed blocks in the order of :func:`replay.changes.order.commit_order`; in a
    file where they are more than :data:`RUN`, so that a unit of recovery may be of any size.
    OSError where that cannot be written."""
    return merged(_runs(blocks), commit_order, _key)


def _runs(blocks: Iterable[bytes]) -> Iterator[Records]:
    """Sorted runs of the records as they come, one at least; the last one may be shorter."""
    held, count = list[bytes](), 0
    for block in blocks:
        if count >= RUN:
            yield _sorted(held)
            held, count = [], 0
        held.append(block)
        count += count_of(block)
    yield _sorted(held)


def _sorted(blocks: Sequence[bytes]) -> Records:
    records = unpacked_together(blocks)
    return take_rows(records, commit_order(records))


def _key(records: Records, row: int) -> tuple[bytes | int, ...]:
    """What :func:`replay.changes.order.commit_order` compares of a record."""
    record = records[row]
    fields = (record[name].tobytes() for name in ("commit", "unit", "position"))
    return *fields, *(int(record[name]) for name in ("segment", "file", "offset"))
