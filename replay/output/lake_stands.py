"""Where the runs of a lake ended: their manifests in ``_logreplay``, and which units of recovery
they took, so that one that comes late is seen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from replay.arrays import Records
from replay.changes.position import UNIT_POSITION, UnitId
from replay.errors import InputError, Where
from replay.logs import LogFile
from replay.output.continuation import Continuation, late_behind, logs_named, read_manifest
from replay.output.durable import rename_durably
from replay.output.json_file import write_json
from replay.pipeline.late import LateUnits, digests_of_logs
from replay.pipeline.plan import Plan

#: The folder of a lake in which manifests of runs and what was set aside are kept.
RUNS = "_logreplay"
#: Where :func:`last_run` keeps the manifest of the very last one.
_LAST = "last"


@dataclass(frozen=True)
class Stands:
    """Where the last run with the tables of a plan ``ended``; and ``killed``: where one was to end
    that was killed while it moved tables, so that some of them may stand there."""

    note: Path
    ended: Continuation | None
    killed: Continuation | None

    @classmethod
    def of(cls, out: Path, plan: Plan, log: LogFile) -> Stands:
        """Those of a lake. InputError LR2001 for a manifest that cannot be read, LR2037 where a
        log lacks those of a run that was killed."""
        wanted = _tables(plan.selection.describe())
        runs = out / RUNS
        name = hashlib.sha256(json.dumps(wanted).encode()).hexdigest()[:8]
        note = runs / f"under-way-{name}.json"
        killed = Continuation.of(note, read_manifest(note)) if note.exists() else None
        ended = None
        for path in sorted(runs.glob("*/manifest.json"), reverse=True) if runs.is_dir() else ():
            manifest = read_manifest(path)
            if (
                "taken" in manifest.get("continuation", {})
                and _tables(manifest["selection"]) == wanted
            ):
                ended = Continuation.of(path, manifest)
                break
        found = cls(note, ended, killed)
        found._refuse_other_logs(log)
        return found

    def _refuse_other_logs(self, log: LogFile) -> None:
        """A table that the killed run has moved must come to the others, and not they behind it."""
        if self.killed is None:
            return
        read = frozenset() if self.ended is None else self.ended.logs or frozenset()
        if (self.killed.logs or frozenset()) - read - digests_of_logs(log):
            names = ", ".join(str(entry["name"]) for entry in self.killed.manifest["inputs"])
            raise InputError(
                "LR2037",
                "found a run that ended while it moved tables, and not all of its logs; expected"
                f" them once more: {names}",
                Where(str(self.note)),
                "Give these logs too: tables that were moved stay as they are, the others follow",
            )

    @property
    def pending(self) -> frozenset[UnitId]:
        """The units of recovery that these runs set aside."""
        stands = [stand for stand in (self.ended, self.killed) if stand is not None]
        return frozenset[UnitId]().union(*(stand.pending for stand in stands))

    def late_units(self, plan: Plan, log: LogFile, late: str) -> LateUnits:
        """The units that come late for any table. Errors as those of
        :func:`replay.output.continuation.plan_after`."""
        taken: set[UnitId] = set()
        skipped: list[Records] = [np.zeros(0, UNIT_POSITION)]
        for ended in (self.ended, self.killed):
            found = LateUnits() if ended is None else late_behind(plan, log, ended, late)
            taken |= found.taken
            skipped.append(found.skipped)
        return LateUnits(frozenset(taken), np.concatenate(skipped))

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """Note where a run will end that is about to move tables."""
        if "continuation" in manifest:
            written = self.note.with_suffix(".part")
            write_json(manifest, written)
            rename_durably(written, self.note)

    def done(self) -> None:
        """The run has its manifest."""
        self.note.unlink(missing_ok=True)


def _tables(selection: Mapping[str, Any]) -> list[Any]:
    """What a selection says of tables."""
    return [sorted(selection.get(name) or ()) for name in ("tables", "exclude_tables")]


def last_run(out: Path) -> Mapping[str, Any]:
    """The manifest of the last run that took changes, with the units set aside as the very last
    one has them; empty where there is none. InputError (LR2001) for one that cannot be read."""
    runs = out / RUNS
    last: dict[str, Any] = {}
    for path in sorted(runs.glob("*/manifest.json"), reverse=True) if runs.is_dir() else ():
        manifest: dict[str, Any] = read_manifest(path)
        if not last:
            last = {"quarantined_units": manifest["quarantined_units"], _LAST: manifest}
        if manifest["last_commit_lrsn"] is not None:
            return {**manifest, **last}
    return last


def pending_logs(last: Mapping[str, Any], selection: Mapping[str, Any]) -> frozenset[str] | None:
    """The digests of the logs that the units set aside by the very last run, of :func:`last_run`,
    are in or hang on; None where it did not note that, or took other tables than ``selection``."""
    manifest = last.get(_LAST, {})
    if _tables(manifest.get("selection", {})) != _tables(selection):
        return None
    return logs_named(manifest.get("continuation", {}))
