"""The plan of a run, as data: what is selected, in which mode, cut into which splits (to read) and buckets (to write).

A plan is made before anything is rendered and does not depend on the number of cores or partitions; two engines that follow one plan
write the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from replay.logs import LogFile, Split
from replay.selection import INCOMPLETE, Facts, Selection, decide
from sqlgen.statements import RenderOptions

#: Of this many records one is looked at to place the bounds of the buckets.
SAMPLE_EVERY = 64


@dataclass(frozen=True)
class ScriptOptions:
    """How scripts are written. ``commit_every`` units share a target transaction; a file holds about ``records_per_file`` records."""

    dialect: str = "postgres"
    names: str = "lower"
    commit_every: int = 1
    records_per_file: int = 250_000
    trace: bool = False
    strict: bool = False
    render: RenderOptions = field(default_factory=RenderOptions)


@dataclass(frozen=True)
class Plan:
    """``mode`` is ``redo`` (forward) or ``undo`` (inverse, reverse order). ``bounds`` are the first 8 bytes of the highest commit position of
    each bucket but the last, rising. ``quarantine`` holds units known to be contradictory. ``version_taken`` says per table version
    whether ``--table`` and ``--exclude-table`` take it. ``steps``: each script gets what :mod:`replay.steps` describes beside it."""

    mode: str
    selection: Selection
    options: ScriptOptions
    splits: tuple[Split, ...]
    bounds: npt.NDArray[np.uint64]
    version_taken: npt.NDArray[np.bool_]
    quarantine: frozenset[bytes] = frozenset()
    steps: bool = False

    @property
    def buckets(self) -> int:
        """Number of output files at most (a bucket without statements writes none)."""
        return len(self.bounds) + 1

    def bucket_of(self, commit: npt.NDArray[np.void]) -> npt.NDArray[np.int64]:
        """The bucket of each commit position. Units that share a commit position share a bucket."""
        return np.searchsorted(self.bounds, commit_prefix(commit), side="left").astype(np.int64)

    def file_name(self, bucket: int) -> str:
        """Name of a bucket's script; sorted names are the order to run them in."""
        place = bucket if self.mode == "redo" else self.buckets - 1 - bucket
        return f"{place:04d}-{self.mode}.sql"


def commit_prefix(commit: npt.NDArray[np.void]) -> npt.NDArray[np.uint64]:
    """The first 8 of the 10 bytes of commit positions, as integers that sort alike."""
    raw = np.ascontiguousarray(commit).view(np.uint8).reshape(len(commit), commit.dtype.itemsize)
    return np.ascontiguousarray(raw[:, :8]).view(">u8").astype(np.uint64).reshape(-1)


def make_plan(log: LogFile, mode: str, selection: Selection, options: ScriptOptions, split_bytes: int = 64 << 20) -> Plan:
    """Index the data files, sample the commit positions of what is selected, and cut.

    Raises InputError where a file's framing is damaged.
    """
    taken = np.array([selection.takes_table(f"{v.table.schema}.{v.table.name}") for v in log.catalog.versions] or [False], bool)
    samples: list[npt.NDArray[np.uint64]] = []
    splits: list[Split] = []
    for split, offsets, lengths in log.splits(split_bytes):
        splits.append(split)
        phase = -(split.first_record - 1) % SAMPLE_EVERY
        chosen, chosen_lengths = offsets[phase::SAMPLE_EVERY], lengths[phase::SAMPLE_EVERY]
        if not len(chosen):
            continue
        envelope = log.envelope(split.file, chosen, chosen_lengths)
        change, version = log.classify(envelope)
        verdict = decide(selection, envelope, Facts(change, version, taken, log.dependent_position))
        kept = (verdict == 0) & (verdict != INCOMPLETE)
        commit = np.ascontiguousarray(envelope.commit()[kept])
        samples.append(commit_prefix(commit.view("V10").reshape(-1)))
    sample = np.sort(np.concatenate(samples)) if samples else np.zeros(0, np.uint64)
    files = max(1, -(-len(sample) * SAMPLE_EVERY // options.records_per_file))
    cuts = sample[[len(sample) * k // files for k in range(1, files)]] if len(sample) else sample
    return Plan(mode, selection, options, tuple(splits), np.unique(cuts), taken)
