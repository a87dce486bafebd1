"""The first stage: records of one split -> narrow sort records by bucket, and the outcome of every record that goes no further.

A *bucket* is a range of commit positions and becomes one output file. Images are not touched here. Records leave as packed blocks of
:data:`replay.changes.RECORD`, one block per bucket and batch, because an engine moves one blob of a thousand records for the price of one row.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from replay.changes import RECORD, TABLE_EVENTS, Change, Envelope, opaque, place_of, take_records, unit_facts
from replay.errors import Finding
from replay.logs import LogFile, Split, where_of
from replay.plan import Plan
from replay.report import Tally
from replay.selection import INCOMPLETE, Facts, Verdicts, balance_of, decide

#: Records looked at together; large enough to spread the cost of a NumPy call, small enough for the cache.
BATCH = 16_384
#: The code of a unit that is set aside because the log marks it.
INCOMPLETE_UNIT = "LR3004"


def scan_split(plan: Plan, log: LogFile, split: Split, tally: Tally) -> Iterator[tuple[int, bytes]]:
    """Yield ``(bucket, block)`` for the records of ``split`` that go on; count the others in ``tally``.

    Records whose header is damaged in a way that still names their unit go on, so that the unit is quarantined where it is rendered.
    """
    for first_record, offsets, lengths in log.records(split, BATCH):
        envelope = log.envelope(split.file, offsets, lengths)
        change, version = log.classify(envelope)
        damaged = log.check(envelope, lengths, change, version)
        facts = Facts(change, version, plan.version_taken, log.dependent_position, plan.flags_resolved)
        verdict = decide(plan.selection, envelope, facts)
        if plan.resolved is not None:
            verdict = plan.resolved.judge(verdict, envelope, split.file, offsets)
        verdict[damaged] = 0
        tally.read += len(offsets)
        tally.skipped.update(balance_of(verdict))
        _count_incomplete(plan, tally, envelope, verdict)
        _report_untrusted(log, split.file, first_record, offsets, lengths, envelope, damaged, tally)
        kept = np.flatnonzero(verdict == 0)
        if len(kept):
            records = sort_records(split.file, first_record, offsets, lengths, envelope, change, version, kept)
            records["damaged"] = damaged[kept]
            if plan.mode == "undo":
                committed = (envelope.unit_disposition()[kept] == ord("C")) & (envelope.disposition()[kept] == ord("C"))
                events = np.flatnonzero(committed & np.isin(change[kept], TABLE_EVENTS))
                _refuse_events(log, records[events], change[kept][events], version[kept][events], tally)
            yield from _by_bucket(plan, records)


def _count_incomplete(plan: Plan, tally: Tally, envelope: Envelope, verdict: Verdicts) -> None:
    held = verdict == INCOMPLETE
    count = int(held.sum())
    if not count:
        return
    tally.quarantined += count
    tally.incomplete_records += count
    units, first = np.unique(opaque(envelope.unit()[held]), return_index=True)
    own = envelope.incomplete_unit()[held][first]
    for unit, incomplete in zip(units, own, strict=True):
        dependent = "may depend on an incomplete unit (INCOMPLETEDEP or DEPENDENTRBA)"
        reason = f"{INCOMPLETE_UNIT} " + ("a record could not be completed (INCOMPLETETRANS)" if incomplete else dependent)
        known = plan.resolved.held if plan.resolved else {}
        tally.quarantined_units[unit.tobytes()] = known.get(unit.tobytes(), reason)


def _report_untrusted(
    log: LogFile,
    file: int,
    first_record: int,
    offsets: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int32],
    envelope: Envelope,
    damaged: npt.NDArray[np.bool_],
    tally: Tally,
) -> None:
    """A damaged header that does not even name its unit makes every unit suspect: that is fatal for the run, not a finding of one record."""
    if not damaged.any():
        return
    rows = np.flatnonzero(damaged)
    for row in rows[~log.names_its_unit(envelope, lengths)[rows]]:
        tally.fatal.append(log.header_finding(file, first_record + int(row), int(offsets[row]), int(lengths[row])))


def sort_records(
    file: int,
    first_record: int,
    offsets: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int32],
    envelope: Envelope,
    change: npt.NDArray[np.uint8],
    version: npt.NDArray[np.int32],
    kept: npt.NDArray[np.int64],
) -> npt.NDArray[np.void]:
    """The rows ``kept`` of a batch as sort records (dtype :data:`replay.changes.RECORD`)."""
    octets = np.zeros((len(kept), RECORD.itemsize), np.uint8)
    rows: slice | npt.NDArray[np.int64] = slice(None) if len(kept) == len(envelope) else kept
    for name, raw in (("commit", envelope.commit()), ("unit", envelope.unit()), ("position", envelope.log_position())):
        octets[:, place_of(name)] = raw[rows]
    records = octets.reshape(-1).view(RECORD)
    records["segment"] = envelope.segment()[rows]
    records["segments"] = envelope.segments()[rows]
    records["change"] = change[rows]
    records["version"] = version[rows]
    records["origin"] = envelope.origin()[rows]
    records["unit_facts"] = unit_facts(envelope)[rows]
    records["file"] = file
    records["offset"] = offsets[rows]
    records["length"] = lengths[rows]
    records["number"] = first_record + kept
    return records


def _by_bucket(plan: Plan, records: npt.NDArray[np.void]) -> Iterator[tuple[int, bytes]]:
    bucket = plan.bucket_of(records["commit"])
    order = np.argsort(bucket.astype(np.uint16), kind="stable")  # sorting 16 bits is counting
    starts = np.searchsorted(bucket[order], np.arange(plan.buckets + 1))
    ordered = take_records(records, order)
    for index in range(plan.buckets):
        if starts[index] < starts[index + 1]:
            yield index, ordered[starts[index] : starts[index + 1]].tobytes()


def _refuse_events(
    log: LogFile, records: npt.NDArray[np.void], change: npt.NDArray[np.uint8], version: npt.NDArray[np.int32], tally: Tally
) -> None:
    """Undo of a mass delete, truncate or exchange would need rows that the log does not hold: refuse by name."""
    for row in range(len(records)):
        record = records[row]
        table = log.catalog.versions[version[row]].table if version[row] >= 0 else None
        name = f"{table.schema}.{table.name}" if table else None
        where = where_of(log, record, table=name)
        kind = Change(int(change[row])).name.lower().replace("_", " ")
        hint = "Undo only what came after it (--from-lrsn), or leave the table out (--exclude-table) and restore it from an image copy"
        tally.refusals.append(Finding("LR3002", where, f"a committed {kind}", "changes whose row images are in the log", hint))
