"""Units of recovery that come late: they commit at or below the position that a bundle or a target
is at, and were not taken.

Position alone says that such a unit was taken. Which units were is known one by one, as far back as
runs keep that (:mod:`replay.pipeline.taken`). Of what commits before, it is known by the digests of
the logs that were read: a log that is new is told from one that is there again, and a unit of a new
log that is in a known one too, because logs overlap or a scan was repeated, was there to be taken.
A new log that has a unit which was taken overlaps what was read, or repeats it in a longer scan: of
what it has from so long ago, nothing tells a late unit from one that was taken, so it counts as
taken.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from replay import storage
from replay.arrays import Mask, Records
from replay.changes.choices import Late
from replay.changes.envelope import CANCELLED, Envelope, opaque
from replay.changes.position import (
    UNIT,
    UNIT_POSITION,
    UNIT_POSITION_FIELDS,
    Position,
    UnitId,
    UnitPosition,
    unit_positions,
)
from replay.changes.selection import INCOMPLETE, RecordFacts, decide
from replay.changes.units import UnitSet
from replay.errors import InputError, Where
from replay.logs import LogFile, MadeOfLogs, Split
from replay.logs.indexed_log import IndexedLog
from replay.pipeline.input_digests import digests_of_starts
from replay.pipeline.plan import Plan
from replay.pipeline.scan import BATCH
from replay.pipeline.taken import TakenUnits

#: Tells which records count as taken.
Covers = Callable[[Envelope], Mask]
#: Hexadecimal digits of a digest that logs are known by.
DIGITS = 16
#: Why a unit that came late is noted as set aside, until it is applied.
REASON_OF_LATE = "LR2039 it came late"
_READ = 1 << 20


def digest_of_log(path: str) -> str:
    """What a log is known by: the digest of its control file, or of the file itself where its
    family has none. A local file is read again when it has changed. Raises OSError."""
    if storage.is_url(path):
        return _digest(path, 0, 0)
    status = os.stat(path)
    return _digest(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=1 << 14)
def _digest(path: str, size: int, changed: int) -> str:
    digest = hashlib.sha256()
    with storage.opened(path) as file:
        while block := file.read(_READ):
            digest.update(block)
    return digest.hexdigest()[:DIGITS]


def digests_of_logs(log: LogFile) -> frozenset[str]:
    """The digests of the logs that a log is made of; empty where its family tells none apart."""
    if not isinstance(log, MadeOfLogs):
        return frozenset()
    return frozenset(digest_of_log(name) for name, _ in log.arrived_logs())


def read_before(inputs: Iterable[Mapping[str, object]]) -> frozenset[str]:
    """The digests of logs among inputs of runs, as manifests and histories name them."""
    return frozenset(str(entry["sha256"])[:DIGITS] for entry in inputs if "sha256" in entry)


@dataclass(frozen=True)
class Before:
    """What a run goes on from. ``covers``: which records count as taken, up to ``position``;
    ``units``: those that commit there; ``known``: the digests of the logs that were read;
    ``taken``: which units were, as far as that is known; ``inputs``: the files that were read, as
    manifests and histories name them."""

    covers: Covers
    position: Position
    units: frozenset[UnitId]
    known: frozenset[str]
    taken: TakenUnits
    inputs: Sequence[Mapping[str, object]] = ()


@dataclass(frozen=True)
class LateUnits:
    """Units that came late: those that are ``taken`` now, and those that count as taken from now on
    (``skipped``, :data:`UNIT_POSITION`)."""

    taken: frozenset[UnitId] = frozenset()
    skipped: Records = field(default_factory=lambda: np.zeros(0, UNIT_POSITION))


def skipped_in_words(count: int) -> str:
    """What a user must know who skipped so many units that came late."""
    return (
        f"{count:,} unit(s) that come late count as in the target: --late skip says that they are"
        " there"
    )


def late_units(plan: Plan, log: LogFile, before: Before, late: Late) -> LateUnits:
    """The units of a plan that come late. InputError (LR2039) for ``late`` ``refuse``, where there
    are some, and where new files stand before known ones in a log whose commit positions are places
    in its files."""
    if not isinstance(log, MadeOfLogs):
        return LateUnits()
    indexed = isinstance(log, IndexedLog)
    if indexed and not before.taken.pools:
        return LateUnits()  # an older version noted which files were read, or nothing
    logs = [(name, files, digest_of_log(name)) for name, files in log.arrived_logs()]
    if isinstance(log, IndexedLog) and log.positions_are_places:
        _check_places([(name, digest in before.known) for name, _, digest in logs])
    changed = set() if indexed else _changed(log, logs, before.inputs)
    for name, files, _ in logs:
        # a unit of which a part was cut off counts as taken, and nothing tells its rest from it
        if name in changed and late is Late.REFUSE and _below(plan, log, before.covers, set(files)):
            _check_starts([log.files[file].name for file in files], before.inputs)
    # what was read of those is not what is there
    known_logs = before.known - {digest for name, _, digest in logs if name in changed}
    before = replace(before, known=known_logs)
    new = {file for _, files, digest in logs if digest not in before.known for file in files}
    if not new:
        return LateUnits()
    moved = _Moved(log, before, late) if before.taken.knows_ids else None
    found: dict[UnitPosition, str] = {}
    old: dict[UnitPosition, str] = {}
    for _, files, digest in logs:
        # a unit of an indexed log may have its changes in a known file, and its commit in a new one
        if digest not in before.known or indexed:
            below, damaged = _below_and_damaged(plan, log, before.covers, set(files), moved)
            _check_damaged(log, damaged, before)
            units = named_units(log, np.frombuffer(b"".join(below), UNIT_POSITION))
            was_taken, known = before.taken.has(units), before.taken.known(units)
            fresh = digest not in before.known
            overlaps = was_taken.any() or any(one.unit in before.units for one in below)
            places = zip(below.items(), was_taken.tolist(), known.tolist(), strict=True)
            for (unit, place), there, certain in places:
                if certain and not there:
                    found[unit] = place
                elif not certain and fresh and not there and not overlaps:
                    old[unit] = place
    for split in plan.splits:
        if old and split.file not in new:
            _leave_known(log, split, old)
    found |= old
    if found and late is Late.REFUSE:
        _refuse(found, before.position)
    if late is Late.TAKE:
        return LateUnits(frozenset(unit.unit for unit in found))
    return LateUnits(skipped=np.frombuffer(b"".join(found), UNIT_POSITION))


def positions_of(log: LogFile, splits: Iterable[Split], units: UnitSet) -> Records:
    """Where units commit (:data:`replay.changes.position.UNIT_POSITION`), each once, by all records
    that the log has of them. Reads all headers."""
    wanted, found = units.column(), [np.zeros(0, UNIT_POSITION)]
    for split in splits if len(wanted) else ():
        for _, offsets, lengths in log.records(split, BATCH):
            envelope = log.envelope(split.file, offsets, lengths)
            of = opaque(envelope.unit())
            rows = np.flatnonzero(np.isin(of, wanted))
            found.append(np.unique(unit_positions(opaque(envelope.commit()[rows]), of[rows])))
    return np.unique(np.concatenate(found))


def named_units(log: LogFile, units: Records) -> Records:
    """Units with their commit positions (:data:`UNIT_POSITION`) as they are called whatever files
    are given: where a commit position has one unit, by it alone, for ids are numbered there."""
    if not isinstance(log, IndexedLog) or not log.numbers_units:
        return units
    named = units.copy().view(UNIT_POSITION_FIELDS)
    named["unit"] = np.zeros(len(units), UNIT)
    return named.view(UNIT_POSITION)


def _changed(
    log: LogFile,
    logs: Sequence[tuple[str, Sequence[int], str]],
    inputs: Sequence[Mapping[str, object]],
) -> set[str]:
    """Logs, by name, whose control file was read, but with data files of other sizes. A file that
    was renamed is not found: logs of scans without an end of their own have the same control
    file, and one may begin as another one does."""
    controls = read_before(inputs)
    found = set()
    for name, files, digest in logs:
        for file in files if digest in controls else ():
            path = log.files[file].name
            before = {entry.get("size") for entry in _of_name(path, inputs)}
            if before and storage.size_of(path) not in before:
                found.add(name)
    return found


def _of_name(path: str, inputs: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    return [entry for entry in inputs if entry.get("name") == storage.name_of(path)]


def _check_starts(paths: Sequence[str], inputs: Sequence[Mapping[str, object]]) -> None:
    """InputError (LR2039) for a file that begins with all that was read of a shorter one of its
    name."""
    for path in paths:
        there = storage.size_of(path)
        named = _of_name(path, inputs)
        sizes = {size for entry in named if isinstance(size := entry.get("size"), int)}
        shorter = [size for size in sizes if 0 < size < there]
        for start in digests_of_starts(path, shorter) if shorter else ():
            if any(start.describe().items() <= entry.items() for entry in named):
                raise InputError(
                    "LR2039",
                    f"found {there:,} bytes, which begin with those that were read before; expected"
                    f" {start.size:,}: this log was cut then",
                    Where(path),
                    "Of units that were cut then, a part was taken, and the rest counts as taken."
                    " Go back to before that run, and take the whole log. Else say what becomes of"
                    " units that were not there at all: --late take (they come now) or --late skip",
                )


def _check_places(logs: Sequence[tuple[str, bool]]) -> None:
    """InputError (LR2039) for a new file before a known one, where commit positions are places."""
    known = [place for place, (_, there) in enumerate(logs) if there]
    for place, (name, there) in enumerate(logs):
        if not there and known and place < known[-1]:
            raise InputError(
                "LR2039",
                f"found a file that was not read before, in front of {logs[known[-1]][0]}, which"
                " was; expected new files behind all others: commit positions of this log are"
                " places in its files, so those behind it move",
                Where(name),
                "Name the files in the order in which they were read, the new ones last; where the"
                " file belongs in between, begin anew with all of them",
            )


def _check_damaged(log: LogFile, damaged: Mapping[UnitPosition, str], before: Before) -> None:
    """InputError (LR2010) for a damaged record of a unit that was not taken where the record says
    that it commits. It would count as taken, and the rest of its unit would come without it."""
    units = named_units(log, np.frombuffer(b"".join(damaged), UNIT_POSITION))
    lacking = before.taken.known(units) & ~before.taken.has(units)
    places = [place for place, lacks in zip(damaged.items(), lacking, strict=True) if lacks]
    if not places:
        return
    unit, place = min(places, key=lambda one: one[1])
    file, _, record = place.rpartition(" record ")
    raise InputError(
        "LR2010",
        f"found a damaged record of a unit that commits at or below {before.position.hexadecimal}"
        " and was not taken; expected none there: everything up to that position counts as"
        " applied, and where the record belongs is not known",
        Where(file, int(record), unit=str(unit.unit)),
        "Make or transfer the log again",
    )


@dataclass(frozen=True)
class _Moved:
    """Looks for a unit that was taken as one that commits elsewhere: it would be taken again, for
    a field of a record of it is damaged. For ``late`` ``skip``, those that count as taken are
    there."""

    log: LogFile
    before: Before
    late: Late

    def check(self, file: int, first: int, envelope: Envelope, whole: Mask, covered: Mask) -> None:
        """InputError (LR2010) for one among the ``whole`` records of a block of which ``first`` is
        the number of the first one."""
        rows = np.flatnonzero(whole & ~covered if self.late is Late.SKIP else whole)
        both = unit_positions(opaque(envelope.commit()[rows]), opaque(envelope.unit()[rows]))
        heads = np.flatnonzero(both[1:] != both[:-1]) + 1 if len(rows) else rows
        rows, both = (np.concatenate([one[:1], one[heads]]) for one in (rows, both))
        moved = np.flatnonzero(self.before.taken.moved(named_units(self.log, both)))
        if not len(moved):
            return
        place = UnitPosition(both[moved[0]].tobytes())
        raise InputError(
            "LR2010",
            f"found a unit of recovery that commits at {place.commit.hexadecimal}; expected it to"
            " commit where it did when it was taken: a record of it is damaged, here or in the log"
            " that was read then",
            Where(self.log.files[file].name, int(rows[moved[0]]) + first, unit=str(place.unit)),
            "Make or transfer the log again. Where the other log was the damaged one, go back to"
            " before the run that took it",
        )


def _below(plan: Plan, log: LogFile, covers: Covers, files: set[int]) -> dict[UnitPosition, str]:
    """The units of some files that count as taken before, though a plan selects them, with the
    place of the first record of each."""
    return _below_and_damaged(plan, log, covers, files)[0]


def _below_and_damaged(
    plan: Plan, log: LogFile, covers: Covers, files: set[int], moved: _Moved | None = None
) -> tuple[dict[UnitPosition, str], dict[UnitPosition, str]]:
    """As :func:`_below`; and the same of records with a damaged header. ``moved`` looks at all
    others."""
    found: dict[UnitPosition, str] = {}
    damaged: dict[UnitPosition, str] = {}
    for split in plan.splits:
        if split.file not in files:
            continue
        for first, offsets, lengths in log.records(split, BATCH):
            envelope = log.envelope(split.file, offsets, lengths)
            change, version = log.classify(envelope)
            facts = RecordFacts(change, version, plan.version_taken, log.dependent_position, True)
            verdict = decide(plan.selection, envelope, facts)
            selected = (verdict == 0) | (verdict == INCOMPLETE)
            selected &= envelope.disposition() != CANCELLED
            whole = ~log.check(envelope, lengths, change, version)
            covered = selected & covers(envelope)
            if moved is not None:
                complete = selected & whole & (verdict == 0)
                moved.check(split.file, first, envelope, complete, covered)
            for kind, those in ((found, covered & whole), (damaged, covered & ~whole)):
                rows = np.flatnonzero(those)
                commits = opaque(envelope.commit()[rows])
                both = unit_positions(commits, opaque(envelope.unit()[rows]))
                units, places = np.unique(both, return_index=True)
                for unit, place in zip(units, rows[places].tolist(), strict=True):
                    where = f"{log.files[split.file].name} record {first + place}"
                    kind.setdefault(UnitPosition(unit.tobytes()), where)
    return found, damaged


def _leave_known(log: LogFile, split: Split, found: dict[UnitPosition, str]) -> None:
    """Take away the units that a split of a known log has."""
    wanted = np.frombuffer(b"".join(unit.unit for unit in found), UNIT)
    named = {unit.unit: unit for unit in found}
    for _, offsets, lengths in log.records(split, BATCH):
        units = opaque(log.envelope(split.file, offsets, lengths).unit())
        for unit in wanted[np.isin(wanted, units)]:
            found.pop(named[UnitId(unit.tobytes())], None)


def _refuse(found: Mapping[UnitPosition, str], position: Position) -> None:
    unit = min(found, key=lambda one: found[one])
    file, _, record = found[unit].rpartition(" record ")
    raise InputError(
        "LR2039",
        f"found {len(found):,} unit(s) of recovery that commit at or below"
        f" {position.hexadecimal} and were not taken, in logs that were not read before; expected"
        " none there: everything up to that position counts as applied",
        Where(file, int(record), unit=str(unit.unit)),
        "A log came late, or repeats one that is not given: give that too. Else say what becomes of"
        " these units: --late take (they come now, behind later ones) or --late skip (they are"
        " there)",
    )
