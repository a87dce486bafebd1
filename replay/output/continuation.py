"""Bundles and datasets that go on where another one ended: ``--after`` and ``--grow``.

The manifest of a bundle of redo scripts, of data, or of a log says under ``positions`` where it
began (``before``) and where it ended (``after``), as :class:`replay.pipeline.positions.LogPosition`
has it. A bundle that goes on takes the units behind that position, and of those that were set aside
the ones that its logs have whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from replay.arrays import Records
from replay.changes.choices import CascadeMode, Mode
from replay.changes.position import Position
from replay.changes.units import Verdicts
from replay.engine.contract import Engine
from replay.errors import InputError, Refusal, UsageError, Where
from replay.logs import LogFile
from replay.pipeline.plan import Plan
from replay.pipeline.positions import LogPosition, position_after, refuse_passed, refuse_rests
from replay.storage import Place, readable
from sqlgen.lazy_imports import when_used

with when_used():
    from replay.pipeline import extent

#: Parts of a manifest that must stay the same from one bundle to the next.
_SAME = ("mode", "dialect", "format", "options")
#: Parts of a selection that say where a bundle ends.
_ENDS = ("until_position",)
#: What ``--after`` says of the first bundle of a chain.
NOTHING = "none"
#: What the folder of a growing dataset has for its commits.
COMMITS = "_logreplay"
_WAY = "Give the options of the output folder that this one goes on from"


@dataclass(frozen=True)
class Continuation:
    """A bundle that another one goes on from: its manifest, and where it ended."""

    path: Place
    manifest: Mapping[str, Any]
    ended: LogPosition

    @property
    def folder(self) -> Place:
        """The folder of the bundle, or of the commit of a dataset."""
        return self.path.parent

    @property
    def is_commit(self) -> bool:
        """Whether it is a commit of a dataset."""
        return self.folder.parent.name == COMMITS

    def described(self) -> dict[str, Any]:
        """What the bundle that goes on says of it: its name, for a manifest holds no path."""
        return {"bundle": self.folder.name, **self.ended.place()}

    def before(self) -> Continuation | None:
        """The bundle that this one goes on from; None where it is not beside this one."""
        told = self.manifest["positions"]["before"]
        if told is None or told["bundle"] == self.folder.name:
            return None
        place = self.folder.parent / told["bundle"] / "manifest.json"
        return read_continuation(place) if place.exists() else None

    def way(self, lowest: Position) -> str:
        """How to start over from before a position: the last bundle of the chain, or commit of the
        dataset, that ended below it."""
        one: Continuation = self
        while (ended := one.ended.position) is not None and ended.commit >= lowest:
            if one.manifest["positions"]["before"] is None:
                begin = "--grow --back-to 0" if self.is_commit else f"--after {NOTHING}"
                break
            if (other := one.before()) is None:
                begin = f"--after the last output folder that ended below {lowest.hexadecimal}"
                break
            one = other
        else:
            number = int(one.folder.name) if self.is_commit else 0
            begin = f"--grow --back-to {number}" if self.is_commit else f"--after {one.folder}"
        return f"{begin}, with all logs since; what comes after that does not count"


def ended_at(manifest: Mapping[str, Any]) -> LogPosition:
    """Where a bundle with this manifest, which says so, ended."""
    return LogPosition.of(manifest["positions"]["after"])


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
    if not isinstance(manifest, dict) or not isinstance(manifest.get("positions"), dict):
        raise UsageError(
            "LR1001",
            "found no position at which the output folder ended; expected the manifest.json of redo"
            " scripts or"
            " of an export without --until-time and --except",
            Where(str(path)),
        )
    return Continuation(path, manifest, ended_at(manifest))


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
    ended = before.ended
    if ended.source != log.source:
        raise UsageError(
            "LR1001", f"found a log of {log.source}; expected one of {ended.source}", where, _WAY
        )
    if adjoining or ended.position is None:
        return
    low = extent.log_extent(log, engine=engine).low
    if low is not None and ended.reached is not None and low > ended.reached:
        raise InputError(
            "LR2037",
            f"found logs that begin at {low.hexadecimal}; expected them to reach back to"
            f" {ended.position.commit.hexadecimal}, where the output folder ended: a log may"
            f" be missing"
            " between them",
            where,
            "Give the log that the output folder ended with as well (no unit is taken twice),"
            " or say that"
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
    return manifest["positions"].get(name, manifest.get(name))


def _refuse(before: Continuation, name: str, now: object, was: object) -> None:
    raise UsageError(
        "LR1001",
        f"found {name} {now!r}; expected {was!r}, as in the output folder before",
        Where(str(before.path)),
        _WAY,
    )


def positions(
    before: Continuation | None,
    log: LogFile,
    plan: Plan,
    pending: Verdicts,
    units: Sequence[Records],
    goes_on: bool,
    changed: Iterable[tuple[int, int]] = (),
) -> dict[str, Any]:
    """What the manifest says of where a bundle began and ended that took ``units``
    (:data:`replay.changes.position.UNIT_POSITION`) and set ``pending`` ones aside. ``goes_on``: it
    is one of a chain; ``changed``: versions of tables and kinds of changes."""
    began = None if before is None else before.ended
    ended = position_after(began, log, plan, pending, units, goes_on, changed=changed)
    told = None if before is None else before.described()
    return {"before": told, "after": ended.describe()}


def plan_after(plan: Plan, log: LogFile, before: Continuation) -> Plan:
    """The plan of what a bundle lacks. Errors as those of
    :func:`replay.pipeline.positions.refuse_passed`."""
    applied = before.ended.applied(log)
    awaited = frozenset(applied.pending)
    refuse_rests(log, plan.splits, before.ended, awaited)
    if applied.position is None:
        return replace(plan, awaited=awaited)
    refuse_passed(plan, log, before.ended, applied, before.way)
    return replace(plan, continued=applied, awaited=awaited)


def refuse_other_types(
    manifest: Mapping[str, Any], before: Place, manifests: Iterable[Mapping[str, Any]]
) -> None:
    """Refusal (LR4006) where a dataset has a column of another type than in the folder ``before``
    that it goes on from, whose manifests are given, the newest first: a reader of both would take a
    moment of one unit for one of another."""
    new = {entry["name"]: entry["types"] for entry in manifest["datasets"] if entry.get("types")}
    for one in manifests if new else ():
        for entry in one["datasets"]:
            now, was = new.pop(entry["name"], {}), entry.get("types", {})
            for name in now:
                if was.get(name, now[name]) != now[name]:
                    raise Refusal(
                        "LR4006",
                        f"found column {name} as {now[name]}; expected {was[name]}, as another"
                        " version of logreplay or a table of another form had it before",
                        Where(file=str(before / entry["name"])),
                        "Export to another folder from here on, or all of it again; or leave the"
                        " column out (--exclude-columns)",
                    )
        if not new:
            return
