"""What an export would write, found out without writing it: which units of recovery stay out, what
becomes of every record, and where in the log the changes of each bucket lie."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from replay.arrays import Records
from replay.changes.balance import Tally
from replay.changes.envelope import distinct
from replay.changes.position import leading_words, unit_positions
from replay.dependencies.baseline import StateBefore
from replay.logs import LogFile, Split
from replay.output.carry_out import CompletedRun, carry_out
from replay.output.datasets import export_bucket
from replay.output.stored_folder import StoredFolder
from replay.pipeline.bucket_result import BucketResult
from replay.pipeline.engine import Engine
from replay.pipeline.packed_records import unpacked, unpacked_together
from replay.pipeline.plan import Plan
from replay.pipeline.scan import scan_split


@dataclass(frozen=True)
class BucketPlace:
    """Where the records of a bucket lie, and what they are: the numbers of the ``splits`` among
    those of the plan, the first 8 octets of their lowest and highest commit position as a number
    (``low``, ``high``), their kinds of ``changes``, their table ``versions`` (-1: none) and how
    many ``records`` there are. ``written``: how many changes become rows (None: nobody looked)."""

    bucket: int
    splits: tuple[int, ...]
    low: int
    high: int
    changes: frozenset[int]
    versions: frozenset[int]
    records: int
    written: int | None


@dataclass(frozen=True)
class Trial:
    """An export that was tried: the plan in the end, what came of it, and where its buckets lie, in
    the order of commits."""

    outcome: CompletedRun
    places: tuple[BucketPlace, ...]

    @property
    def plan(self) -> Plan:
        """The plan: whoever carries it out once more writes what the trial found."""
        return self.outcome.plan


@dataclass
class _Seen:
    """What one split has of a bucket."""

    low: int = 2**64 - 1
    high: int = 0
    records: int = 0
    changes: set[int] = field(default_factory=set)
    versions: set[int] = field(default_factory=set)

    def add(self, records: Records) -> None:
        words = leading_words(records["commit"])
        self.low, self.high = min(self.low, int(words.min())), max(self.high, int(words.max()))
        self.records += len(records)
        self.changes.update(distinct(records["change"]).tolist())
        self.versions.update((distinct(records["version"] + 1) - 1).tolist())


@dataclass(frozen=True)
class TrialJob:
    """Carries out a plan's export without writing. ``images``: row images are read, so that
    damaged ones are found; else headers alone. Results are (split, tally, what it has of each
    bucket) of each split, and (-1, :class:`replay.pipeline.bucket_result.BucketResult`, bucket) of
    each bucket."""

    title = "try what would be written"

    plan: Plan
    images: bool

    @property
    def buckets(self) -> int:
        """Those of the plan."""
        return self.plan.buckets

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """The blocks of a split, and what they are."""
        tally, seen = Tally(), dict[int, _Seen]()
        for bucket, block in scan_split(self.plan, log, split, tally):
            seen.setdefault(bucket, _Seen()).add(unpacked(block))
            yield bucket, block
        yield self.buckets, pickle.dumps((split, tally, seen))

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """What would be written of a bucket."""
        if self.images:
            result = export_bucket(self.plan, log, bucket, blocks, None)
        else:
            records = unpacked_together(blocks)
            units = np.unique(unit_positions(records["commit"], records["unit"]))
            result = BucketResult((), Tally(), units)
        yield pickle.dumps((-1, result, bucket))


def try_export(
    plan: Plan,
    log: LogFile,
    engine: Engine,
    images: bool = True,
    state: StateBefore | None = None,
) -> Trial:
    """Find out what an export would write. ``images``: whether row images are read, without which
    damage in them is not found; ``state``: the rows before the log. Raises what
    :func:`replay.output.carry_out.carry_out` raises."""
    last: list[tuple[BucketPlace, ...]] = []

    def tried(
        engine: Engine, plan: Plan, log: LogFile, folder: Path, stored: StoredFolder | None
    ) -> tuple[Tally, list[BucketResult]]:
        tally, results, places = look_through(plan, log, engine, images)
        last[:] = [places]
        return tally, results

    with TemporaryDirectory() as nothing:
        outcome = carry_out(plan, log, engine, Path(nothing), state, write=tried)
    return Trial(outcome, last[0])


def look_through(
    plan: Plan, log: LogFile, engine: Engine, images: bool
) -> tuple[Tally, list[BucketResult], tuple[BucketPlace, ...]]:
    """Carry out a plan once, as it is, without writing: the tally of what was read, what would be
    written of each bucket, and where the buckets lie. Raises what the engine raises."""
    tally, results, found = Tally(), dict[int, BucketResult](), dict[int, dict[int, _Seen]]()
    numbers = {split: number for number, split in enumerate(plan.splits)}
    for blob in engine.results(TrialJob(plan, images), log, plan.splits):
        place, what, more = pickle.loads(blob)
        if place == -1:
            results[more] = what
        else:
            tally.add(what)
            found[numbers[place]] = more
    written = {bucket: result.tally.statements for bucket, result in results.items() if images}
    return tally, [results[key] for key in sorted(results)], tuple(_places(found, written))


def _places(
    found: Mapping[int, Mapping[int, _Seen]], written: Mapping[int, int]
) -> Iterator[BucketPlace]:
    by_bucket: dict[int, dict[int, _Seen]] = {}
    for split, buckets in found.items():
        for bucket, seen in buckets.items():
            by_bucket.setdefault(bucket, {})[split] = seen
    for bucket, splits in sorted(by_bucket.items()):
        every = splits.values()
        yield BucketPlace(
            bucket,
            tuple(sorted(splits)),
            min(seen.low for seen in every),
            max(seen.high for seen in every),
            frozenset().union(*(seen.changes for seen in every)),
            frozenset().union(*(seen.versions for seen in every)),
            sum(seen.records for seen in every),
            written.get(bucket),
        )
