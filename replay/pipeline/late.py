"""Units of recovery that come late: they commit below the position that a bundle or a target is
at, and no log that was read before has them.

Position alone says that such a unit was taken. What was read before is known by the digests of the
control files, so a log that is new is told from one that is there again; and a unit of a new log
that is in a known one too, because logs overlap or a scan was repeated, was there to be taken. A
new log that has a unit of the position itself overlaps what was taken, or repeats it in a longer
scan: nothing in it tells a late unit from one that was taken, so its units count as taken.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from replay import storage
from replay.arrays import Mask
from replay.changes.choices import Late
from replay.changes.envelope import Envelope, opaque
from replay.changes.position import UNIT, Position, UnitId
from replay.changes.selection import INCOMPLETE, RecordFacts, decide
from replay.errors import InputError, Where
from replay.logs import LogFile, MadeOfLogs, Split
from replay.pipeline.plan import Plan
from replay.pipeline.scan import BATCH

#: Tells which records count as taken.
Covers = Callable[[Envelope], Mask]
#: Hexadecimal digits of a digest that logs are known by.
DIGITS = 16
#: Why a unit that came late is noted as set aside, until it is applied.
REASON_OF_LATE = "LR2039 it came late"
_READ = 1 << 20


def digest_of_log(path: str) -> str:
    """What a log is known by: the digest of its control file. Raises OSError."""
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


def late_units(
    plan: Plan,
    log: LogFile,
    covers: Covers,
    position: Position,
    units: frozenset[UnitId],
    known: frozenset[str],
    late: Late,
) -> Mapping[UnitId, str]:
    """The units of a plan that come late, and the place of the first record of each. ``covers``:
    which records count as taken, up to ``position``; ``units``: those that commit there; ``known``:
    the digests of the logs that were read before. Empty for ``late`` ``skip``, where they count as
    taken. InputError (LR2039) for ``refuse``, where there are some."""
    if late is Late.SKIP or not isinstance(log, MadeOfLogs):
        return {}
    found: dict[UnitId, str] = {}
    new: set[int] = set()
    for name, files in log.arrived_logs():
        if digest_of_log(name) not in known:
            below = _below(plan, log, covers, set(files))
            if not units & below.keys():
                new.update(files)
                found |= below
    for split in plan.splits:
        if found and split.file not in new:
            _leave_known(log, split, found)
    if found and late is Late.REFUSE:
        _refuse(found, position)
    return found


def _below(plan: Plan, log: LogFile, covers: Covers, files: set[int]) -> dict[UnitId, str]:
    """The units of some files that count as taken before, though a plan selects them."""
    found: dict[UnitId, str] = {}
    for split in plan.splits:
        if split.file not in files:
            continue
        for first, offsets, lengths in log.records(split, BATCH):
            envelope = log.envelope(split.file, offsets, lengths)
            change, version = log.classify(envelope)
            facts = RecordFacts(change, version, plan.version_taken, log.dependent_position, True)
            verdict = decide(plan.selection, envelope, facts)
            selected = (verdict == 0) | (verdict == INCOMPLETE)
            whole = ~log.check(envelope, lengths, change, version)
            rows = np.flatnonzero(selected & whole & covers(envelope))
            units, places = np.unique(opaque(envelope.unit()[rows]), return_index=True)
            for unit, place in zip(units, rows[places].tolist(), strict=True):
                where = f"{log.files[split.file].name} record {first + place}"
                found.setdefault(UnitId(unit.tobytes()), where)
    return found


def _leave_known(log: LogFile, split: Split, found: dict[UnitId, str]) -> None:
    """Take away the units that a split of a known log has."""
    wanted = np.frombuffer(b"".join(found), UNIT)
    for _, offsets, lengths in log.records(split, BATCH):
        units = opaque(log.envelope(split.file, offsets, lengths).unit())
        for unit in wanted[np.isin(wanted, units)]:
            found.pop(UnitId(unit.tobytes()), None)


def _refuse(found: Mapping[UnitId, str], position: Position) -> None:
    unit = min(found, key=lambda one: found[one])
    file, _, record = found[unit].rpartition(" record ")
    raise InputError(
        "LR2039",
        f"found {len(found):,} unit(s) of recovery that commit at or below"
        f" {position.hexadecimal}, in logs that were not read before; expected none there:"
        " everything up to that position counts as applied",
        Where(file, int(record), unit=str(unit)),
        "A log came late, or repeats one that is not given: give that too. Else say what becomes of"
        " these units: --late take (they come now, behind later ones) or --late skip (they are"
        " there)",
    )
