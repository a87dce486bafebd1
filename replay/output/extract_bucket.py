"""The second stage of a copy: the sorted records of one bucket -> the same records, as a log has
them.

Records are passed on as they are, damaged ones too: whoever reads the copy sets their units aside
as with the log itself. So headers alone decide, and row images are looked at for ``--where`` only.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from replay.arrays import Mask, Records, take_rows
from replay.changes import order
from replay.changes.balance import Tally
from replay.changes.envelope import ROW_CHANGES, Change
from replay.changes.position import UNIT, UNIT_POSITION, UNIT_POSITION_FIELDS, unit_positions
from replay.changes.selection import BESIDE_CHANGES, REASON, UNSATISFIED
from replay.logs import LogFile, LogWriter, source_named
from replay.pipeline.partition import FAILED, BucketReader, Chunk, ChunkChanges
from replay.pipeline.plan import BucketResult, Plan, WrittenFile
from replay.pipeline.scan import packed, unpacked_together
from sqlgen.dialects import profile_named

#: Records without changes that are written together.
_TOGETHER = 16_384


@dataclass
class CopyCounts:
    """What the records of a copy are: how many of each kind, ``damaged``, in ``segmented``
    changes; ``versions``: the table versions that they are of, ``images`` those with row
    images."""

    kinds: Counter[Change] = field(default_factory=Counter)
    damaged: int = 0
    segmented: int = 0
    versions: set[int] = field(default_factory=set)
    images: set[int] = field(default_factory=set)

    def count(self, records: Records) -> None:
        """Count some records."""
        counts = np.bincount(records["change"], minlength=1).tolist()
        self.kinds.update({Change(code): n for code, n in enumerate(counts) if code and n})
        self.damaged += int(records["damaged"].sum())
        self.segmented += int((records["segments"] > 1).sum())
        known = records[records["version"] >= 0]
        rows = np.isin(known["change"], ROW_CHANGES)
        self.versions.update(np.unique(known["version"]).tolist())
        self.images.update(np.unique(known["version"][rows]).tolist())

    def add(self, other: CopyCounts) -> None:
        """Add what another task counted."""
        self.kinds.update(other.kinds)
        self.damaged += other.damaged
        self.segmented += other.segmented
        self.versions |= other.versions
        self.images |= other.images


@dataclass(frozen=True)
class CopyResult(BucketResult):
    """What became of one bucket of a copy; ``taken``: the units of recovery with a change in it
    (:data:`replay.changes.position.UNIT`), ``copied``: those with any record in it that are
    whole, where they commit (:data:`replay.changes.position.UNIT_POSITION`), ``incomplete``: those
    that another log may have more of (UNIT)."""

    counts: CopyCounts = field(default_factory=CopyCounts)
    taken: Records = field(default_factory=lambda: np.zeros(0, UNIT))
    copied: Records = field(default_factory=lambda: np.zeros(0, UNIT_POSITION))
    incomplete: Records = field(default_factory=lambda: np.zeros(0, UNIT))


class CopySink:
    """A file of records; ``counts`` is what is in it. Nothing is ever cut off again. To be used in
    a ``with`` statement."""

    def __init__(self, path: Path, log: LogFile, writer: LogWriter, proven: bool) -> None:
        self.path, self.log, self.writer, self.proven = path, log, writer, proven
        self.counts, self.records, self.size = CopyCounts(), 0, 0
        self._copied, self._incomplete = [np.zeros(0, UNIT_POSITION)], [np.zeros(0, UNIT)]
        self._digest = hashlib.sha256()
        self._file = path.open("wb")

    def __enter__(self) -> CopySink:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, records: Records) -> None:
        """Write records, in their order."""
        octets = self.writer.records(self.log, records, self.proven)
        self._file.write(octets.data)
        self._digest.update(octets.data)
        self.counts.count(records)
        self._note(records)
        self.records += len(records)
        self.size += len(octets)

    def _note(self, records: Records) -> None:
        """Note the units of some records, and which of them are incomplete."""
        self._copied.append(np.unique(unit_positions(records["commit"], records["unit"])))
        envelope = self.log.envelope(records["file"], records["offset"], records["length"])
        self._incomplete.append(np.unique(records["unit"][envelope.incomplete_unit()]))

    def units(self) -> tuple[Records, Records]:
        """The whole units that were written, where they commit, and those that are incomplete."""
        copied, incomplete = (
            np.unique(np.concatenate(p)) for p in (self._copied, self._incomplete)
        )
        units = np.ascontiguousarray(copied.view(UNIT_POSITION_FIELDS)["unit"])
        return copied[~np.isin(units, incomplete)], incomplete

    def mark(self) -> None:
        """Nothing: a unit is never taken back."""

    def cut_back(self) -> None:
        """Nothing: a unit is never taken back."""

    def close(self) -> None:
        """End the file."""
        self._file.close()

    def files(self) -> tuple[WrittenFile, ...]:
        """What was written."""
        digest = self._digest.hexdigest()
        return (WrittenFile(self.path.name, self.size, digest, self.records),)


class BucketCopier(BucketReader[None]):
    """Copies one bucket into ``sink``."""

    def __init__(self, plan: Plan, log: LogFile, blocks: Iterable[bytes], sink: CopySink) -> None:
        super().__init__(plan, log, blocks, sink, profile_named(plan.options.dialect))
        self.sink = sink
        self.bad_units[:] = False  # what is wrong with them is told, and passed on
        self.tally.quarantined_units.clear()
        self.taken = np.zeros(len(self.unit_heads), bool)

    def _make(self, changes: ChunkChanges) -> None:
        changes.uncommitted[:] = 0
        if self.plan.selection.where is None:
            return
        for rows, kind, version in self._groups(changes):
            if kind not in ROW_CHANGES:
                continue
            for chosen, images in self._images(changes, rows, kind):
                wanted, unreadable, problems = self.decoder.judged(version, kind, images)
                self._blame(changes, chosen, version, problems)
                left = ~wanted & ~unreadable & ~self.whole[changes.unit[chosen]]
                changes.outcome[chosen[left]] = REASON[UNSATISFIED]

    def _settle(self, changes: ChunkChanges, content: None, chunk: Chunk) -> None:
        """Copy what is damaged too, which has been told; it counts as no change of a table."""
        damaged = changes.outcome == FAILED
        changes.outcome[damaged] = 0
        kept = changes.outcome == 0
        self._emit(changes, content, kept, chunk)
        self.taken[changes.unit[kept]] = True
        self.tally.emitted += int(changes.weight[damaged].sum())
        self._count(changes, kept & ~damaged, 0, chunk)

    def _emit(self, changes: ChunkChanges, content: None, emitted: Mask, chunk: Chunk) -> int:
        rows = np.flatnonzero(np.repeat(emitted, changes.weight))
        if len(rows):
            self.sink.write(take_rows(changes.records, rows))
        return 0


def _beside(log: LogFile, records: Records) -> Tally:
    """The tally of records that are no changes, of which all are copied."""
    tally = Tally(emitted=len(records))
    for record in records[records["damaged"]]:
        place = (int(record[name]) for name in ("file", "number", "offset", "length"))
        tally.find(log.header_finding(*place))
    return tally


def copy_bucket(
    plan: Plan, log: LogFile, bucket: int, blocks: Iterable[bytes], folder: Path
) -> CopyResult:
    """Copy the blocks of one bucket into ``folder``: first the records that are no changes."""
    assert plan.copies is not None
    made = source_named(plan.copies).writer
    assert made is not None
    writer = made()
    records = unpacked_together(blocks)
    beside = np.isin(records["change"], BESIDE_CHANGES)
    proven = plan.flags_resolved and plan.selection.incomplete == "resolve"
    others = take_rows(records, np.flatnonzero(beside))
    others = take_rows(others, order.commit_order(others)) if len(others) else others
    tally = _beside(log, others)
    changes = take_rows(records, np.flatnonzero(~beside))
    part = folder / f"{plan.part_name(bucket)}.records"
    with CopySink(part, log, writer, proven) as sink:
        for start in range(0, len(others), _TOGETHER):
            sink.write(others[start : start + _TOGETHER])
        if not len(changes):
            return _result(sink, tally)
        copier = BucketCopier(plan, log, [packed(changes.view(np.uint8))], sink)
        tally.add(copier.run())
    taken = np.ascontiguousarray(copier.unit_heads["unit"][copier.taken])
    return replace(_result(sink, tally), taken=taken)


def _result(sink: CopySink, tally: Tally) -> CopyResult:
    none, (copied, incomplete) = np.zeros(0, UNIT_POSITION), sink.units()
    return CopyResult(sink.files(), tally, none, sink.counts, copied=copied, incomplete=incomplete)
