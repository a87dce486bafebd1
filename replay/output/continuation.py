"""Where a bundle ended, so that another one can go on from there: ``--after``.

The manifest of a bundle of redo scripts or of data says up to which commit position units of
recovery were taken, which of those that commit there, and which were set aside. A bundle that goes
on takes the units behind that position, and of those that were set aside the ones that its logs
have whole.
"""

from __future__ import annotations

import json
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from replay.arrays import Records
from replay.changes.balance import Tally
from replay.changes.choices import CascadeMode, Late, Mode
from replay.changes.position import (
    LOWEST,
    POSITION,
    UNIT_POSITION,
    UNIT_POSITION_FIELDS,
    Position,
    UnitId,
    UnitPosition,
    highest_of,
)
from replay.changes.units import UnitSet
from replay.changes.verdicts import Verdict, Verdicts
from replay.engine.contract import Engine
from replay.errors import InputError, UsageError, Where
from replay.logs import LogFile
from replay.logs.indexed_log import IndexedLog
from replay.pipeline.bucket_result import BucketResult
from replay.pipeline.extent import log_extent
from replay.pipeline.late import (
    Before,
    LateUnits,
    digests_of_logs,
    late_units,
    named_units,
)
from replay.pipeline.pending_logs import logs_of_pending
from replay.pipeline.plan import Continued, Plan
from replay.pipeline.request import usage_errors
from replay.pipeline.taken import TakenUnits
from replay.storage import Place, readable
from sqlgen.errors import choice

#: Parts of a manifest that must stay the same from one bundle to the next.
_SAME = ("mode", "dialect", "format", "options")
#: Parts of a selection that say where a bundle ends.
_ENDS = ("until_position",)
#: What ``--after`` says of the first bundle of a chain.
NOTHING = "none"
_WAY = "Give the options of the bundle that this one goes on from"


@dataclass(frozen=True)
class Continuation:
    """Where a bundle ended. ``position`` is the highest commit position that was taken (None: none
    was), ``units`` are the units that commit there, ``pending`` those that were set aside, and
    why, ``logs`` the digests of all logs that were read (None: nothing tells), ``taken`` which
    units were, as far as that is known, ``pending_logs`` the digests of the logs that ``pending``
    units are in or hang on (None: not known), ``reaches``: where the logs that were read ended
    (None: at ``position``, as far as is known)."""

    path: Place
    manifest: Mapping[str, Any]
    source: str
    position: Position | None
    units: frozenset[UnitId]
    pending: Mapping[UnitId, str]
    logs: frozenset[str] | None = None
    taken: TakenUnits = field(default_factory=TakenUnits)
    pending_logs: frozenset[str] | None = None
    reaches: Position | None = None

    @property
    def continued(self) -> Continued | None:
        """What a plan leaves out."""
        if self.position is None:
            return None
        return Continued(self.position, self.units, frozenset(self.pending))

    @classmethod
    def of(cls, path: Place, manifest: Mapping[str, Any]) -> Continuation:
        """Where a bundle with this manifest ended, which has ``continuation``."""
        ended = manifest["continuation"]
        position = ended["position"]
        return cls(
            path,
            manifest,
            ended["source"],
            None if position is None else Position.from_hex(position),
            frozenset(map(UnitId.of, ended["units"])),
            {UnitId.of(unit): reason for unit, reason in ended["pending"].items()},
            frozenset(ended["logs"]) if "logs" in ended else None,
            TakenUnits.of(ended.get("taken", ())),
            logs_named(ended),
            Position.from_hex(ended["reaches"]) if "reaches" in ended else None,
        )


def logs_named(ended: Mapping[str, Any]) -> frozenset[str] | None:
    """The digests of the logs that units set aside are in or hang on, as the ``continuation`` of a
    manifest has them; None where it does not."""
    return frozenset(ended["pending_logs"]) if "pending_logs" in ended else None


def read_manifest(path: Place) -> Any:
    """What a manifest holds. InputError (LR2001) for one that cannot be read."""
    with readable(path, "the manifest"):
        return json.loads(path.read_bytes())


def read_continuation(path: Place) -> Continuation | None:
    """Read a manifest, or that of a bundle's folder; None for ``none``, where nothing was before.
    InputError (LR2001) where it cannot be read, UsageError (LR1001) where nothing can go on from
    it."""
    if str(path) == NOTHING:
        return None
    path = path / "manifest.json" if path.is_dir() else path
    manifest = read_manifest(path)
    ended = manifest.get("continuation") if isinstance(manifest, dict) else None
    if not isinstance(ended, dict):
        raise UsageError(
            "LR1001",
            "found no position at which the bundle ended; expected the manifest.json of redo"
            " scripts or"
            " of an export without --until-time and --except",
            Where(str(path)),
        )
    return Continuation.of(path, manifest)


def can_continue(plan: Plan) -> bool:
    """Whether another bundle can go on from where one with this plan ends: a time is no place in
    the order of commits, and what builds on excluded units may lie in any log."""
    selection = plan.selection
    return (
        plan.mode is Mode.REDO
        and selection.until_time is None
        and selection.excepted is None
        and selection.cascade is CascadeMode.NONE
    )


def check_continuation(
    before: Continuation, plan: Plan, log: LogFile, adjoining: bool, engine: Engine | None = None
) -> None:
    """UsageError (LR1001) where a plan cannot go on from a bundle, InputError (LR2037) where
    nothing shows that its logs reach back to where that ended (``adjoining``: the user says so).
    ``engine``: whose tasks read a large log."""
    where = Where(str(before.path))
    if not can_continue(plan):
        raise UsageError(
            "LR1001",
            "found --after with undo, --until-time or --except; expected redo or export without"
            " them",
            where,
        )
    if before.source != log.source:
        raise UsageError(
            "LR1001", f"found a log of {log.source}; expected one of {before.source}", where, _WAY
        )
    if adjoining or before.position is None:
        return
    low = log_extent(log, engine=engine).low
    if low is not None and low > max(before.position, before.reaches or before.position):
        raise InputError(
            "LR2037",
            f"found logs that begin at {low.hexadecimal}; expected them to reach back to"
            f" {before.position.hexadecimal}, where the bundle ended: a log may be missing"
            " between them",
            where,
            "Give the log that the bundle ended with as well (no unit is taken twice), or say that"
            " nothing lies between: --gaps warn",
        )


def refuse_other_options(before: Continuation, manifest: Mapping[str, Any]) -> None:
    """UsageError (LR1001) for a bundle with other options than the one that it goes on from."""
    for name in _SAME:
        was, now = (_asked(entry, name) for entry in (before.manifest, manifest))
        if was != now:
            if isinstance(was, dict) and isinstance(now, dict):
                name, was, now = next(
                    (key, was.get(key), now.get(key))
                    for key in sorted({*was, *now})
                    if was.get(key) != now.get(key)
                )
            _refuse(before, name, now, was)
    was, now = (
        {key: value for key, value in entry.get("selection", {}).items() if key not in _ENDS}
        for entry in (before.manifest, manifest)
    )
    for name in sorted({*was, *now}):
        if was.get(name) != now.get(name):
            _refuse(before, name, now.get(name), was.get(name))


def _asked(manifest: Mapping[str, Any], name: str) -> Any:
    """A part of a manifest as it was asked for."""
    return manifest["continuation"].get(name, manifest.get(name))


def _refuse(before: Continuation, name: str, now: object, was: object) -> None:
    raise UsageError(
        "LR1001",
        f"found {name} {now!r}; expected {was!r}, as in the bundle before",
        Where(str(before.path)),
        _WAY,
    )


def where_it_ended(
    before: Continuation | None,
    log: LogFile,
    plan: Plan,
    tally: Tally,
    results: Sequence[BucketResult],
    skipped: Records | None = None,
) -> dict[str, Any]:
    """What the manifest says of where a bundle ended. ``skipped``: units that came late and count
    as taken."""
    seen = np.concatenate([np.zeros(0, UNIT_POSITION), *(result.units for result in results)])
    fields = seen.view(UNIT_POSITION_FIELDS)
    position = highest_of(np.ascontiguousarray(fields["commit"])) if len(seen) else None
    units: set[UnitId] = set()
    if before is not None and before.position is not None:
        if position is None or position < before.position:
            position = before.position
        units = set(before.units) if position == before.position else set()
    if position is not None:
        there = np.ascontiguousarray(fields["commit"]) == np.frombuffer(position, POSITION)
        units |= {UnitId(unit.tobytes()) for unit in fields["unit"][there]}
    waiting = Verdicts()
    if before is not None:
        waiting.update({unit: Verdict("", reason) for unit, reason in before.pending.items()})
        waiting = waiting.but(UnitSet.of(fields["unit"]))
    pending = tally.quarantined_units
    pending = pending if not waiting else waiting.with_own(pending)
    units -= {unit for unit in units if unit in pending}
    new = seen if skipped is None else np.concatenate([seen, skipped])
    taken = TakenUnits() if before is None else before.taken
    taken = taken.and_then(named_units(log, new), _behind(before), plan.named_behind)
    where = logs_of_pending(
        log,
        plan.splits,
        pending.units(),
        frozenset() if before is None or not before.pending else before.pending_logs,
        None if before is None else before.logs,
    )
    reaches = _reaches(before, log, plan)
    behind = reaches is not None and position is not None and reaches > position
    return {
        "source": log.source,
        "position": None if position is None else position.hexadecimal,
        **({"reaches": reaches.hexadecimal} if behind and reaches is not None else {}),
        "units": sorted(map(str, units)),
        "pending": Pending(pending),
        "logs": sorted(digests_of_logs(log) | (before.logs or frozenset() if before else set())),
        "taken": taken.describe(),
        **({"pending_logs": sorted(where)} if pending and where is not None else {}),
    }


def _reaches(before: Continuation | None, log: LogFile, plan: Plan) -> Position | None:
    """Up to where all of the logs was read: behind the last unit that was taken there may be
    transactions without rows. None where that is not known."""
    known = [
        place
        for place in (
            None if before is None else before.reaches,
            log.ends if plan.selection.until_position is None else None,
        )
        if place is not None
    ]
    return max(known, default=None)


class Pending(Mapping[str, str]):
    """Units that are pending, as texts, with the reason, in unit order; each is made when it is
    asked for."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts

    def __len__(self) -> int:
        return len(self._verdicts)

    def __iter__(self) -> Iterator[str]:
        return map(str, self._verdicts)

    def __getitem__(self, unit: str) -> str:
        try:
            return str(self._verdicts[UnitId.of(unit)])
        except ValueError:
            raise KeyError(unit) from None

    def items(self) -> ItemsView[str, str]:
        """As those of a dictionary."""
        return _PendingItems(self)

    def described(self) -> Iterator[tuple[str, str]]:
        """(unit, reason)."""
        return self._verdicts.described()


class _PendingItems(ItemsView[str, str]):
    def __init__(self, pending: Pending) -> None:
        super().__init__(pending)
        self._pending = pending

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return self._pending.described()


def _behind(before: Continuation | None) -> UnitPosition:
    """Behind what a bundle takes all units."""
    return LOWEST.start if before is None or before.position is None else before.position.end


def plan_after(plan: Plan, log: LogFile, before: Continuation, late: str) -> Plan:
    """The plan of what a bundle lacks. ``late``: what becomes of units that come late; errors as
    those of :func:`replay.pipeline.late.late_units`."""
    with usage_errors():
        how = choice(Late, late, "late")
    continued, awaited = _continued(log, before), frozenset(before.pending)
    if continued is not None:
        came = LateUnits()
        if before.logs is not None:
            covers, position = continued.covers, continued.position
            inputs = before.manifest.get("inputs", ())
            there = Before(covers, position, before.units, before.logs, before.taken, inputs)
            came = late_units(plan, log, there, how)
        awaited |= came.taken
        continued = replace(continued, pending=awaited, skipped=came.skipped)
    return replace(plan, continued=continued, awaited=awaited)


def _continued(log: LogFile, before: Continuation) -> Continued | None:
    """What a plan leaves out. Where ids of units are numbered in the files that are given, and a
    commit position has one unit, what committed at the last position is known by that alone."""
    continued = before.continued
    if continued is not None and isinstance(log, IndexedLog) and log.numbers_units:
        return replace(continued, units=None)
    return continued
