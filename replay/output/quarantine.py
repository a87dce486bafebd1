"""The separate bundle of units that stay out: their statements, why, and what would complete
them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from replay.arrays import Records
from replay.changes.balance import SHOWN
from replay.changes.position import (
    UNIT,
    UNIT_FIELDS,
    UNIT_POSITION_FIELDS,
    sortable,
)
from replay.changes.units import UnitSet
from replay.dependencies.analysis import (
    DependencyAnalysis,
    resolve_incomplete,
)
from replay.dependencies.cascade import written_dependents
from replay.dependencies.key_spaces import key_spaces
from replay.engine.contract import Engine
from replay.logs import LogFile
from replay.output.carry_out import CompletedRun
from replay.output.jobs import write
from replay.output.quarantined_units import described_units, missing_inputs
from replay.output.whole_folder import StoredFolder, write_manifest
from replay.pipeline.bucket_result import BucketResult
from replay.pipeline.plan import Plan, UnitDecisions
from replay.pipeline.scan import INCOMPLETE_UNIT, UNPROVEN_UNIT
from sqlgen.choices import StatementForm

#: The folder of quarantined units inside a bundle.
FOLDER = "quarantine"
#: Units of many that are named.
_SHOWN = 5


def write_quarantine(
    outcome: CompletedRun,
    log: LogFile,
    engine: Engine,
    work: Path,
    stored: StoredFolder | None = None,
) -> dict[str, Any] | None:
    """The bundle of the units that were held, or set aside by the log's flags, in ``work`` (or
    ``stored``): their scripts or datasets, for reading, and a manifest with reasons and missing
    inputs.

    Returns what the main manifest says about it, with the units that build on those (``taken``)
    where the flags alone decided; None when there is no such unit, or only damaged ones (whose
    statements nobody can know).
    """
    plan, resolution, aside = outcome.plan, outcome.resolution, outcome.tally.quarantined_units
    held = plan.held.units().mask(aside.units().column())
    units_aside = aside.only(held | aside.of_code(INCOMPLETE_UNIT))
    if not units_aside:
        return None
    if resolution is None or not plan.flags_resolved:
        resolution = resolve_incomplete(_analysis(plan, log, engine))
    folder = work / FOLDER
    folder.mkdir()
    options = replace(
        plan.options,
        render=replace(plan.options.render, upsert=False, assert_rows=False, free_keys=False),
        statements=StatementForm.LITERALS,
    )  # these are for reading, with tables without key too
    apart = replace(
        plan,
        options=options,
        decisions=UnitDecisions(only=units_aside.units()),
        flags_resolved=True,
    )
    inner = None if stored is None else stored.below(FOLDER)
    tally, results = write(engine, apart, log, folder, inner)
    for result in results:
        tally.add(result.tally)
    parts, counted = ("scripts", "statements") if plan.export is None else ("files", "changes")
    units, commits = _by_commit(units_aside.units(), results)
    inputs, more = missing_inputs(resolution)
    manifest = {
        "what": (
            f"Units of recovery that are not in the {parts} of this bundle. They may lack changes:"
            " for reading, not for running"
        ),
        parts: sorted(file.name for result in results for file in result.files),
        counted: tally.statements,
        "refused": [str(finding) for finding in tally.refusals],
        "units": described_units(resolution, units_aside, units[:SHOWN], commits[:SHOWN]),
        **({"more_units": len(units) - SHOWN} if len(units) > SHOWN else {}),
        "missing_inputs": inputs,
        **({"more_missing_inputs": more} if more else {}),
    }
    if stored is not None and inner is not None and manifest[parts]:
        stored.add(FOLDER, inner)
    if not manifest[parts]:
        shutil.rmtree(folder)
        folder.mkdir()
    write_manifest(manifest, folder / "manifest.json")
    released = len(resolution.released - units_aside.units())
    unproven = int(units_aside.of_code(UNPROVEN_UNIT).sum())
    taken = taken_by_flags(outcome, log, engine)
    return {
        "folder": FOLDER,
        "units": len(units_aside),
        **({"taken": described(taken)} if taken else {}),
        **({"unproven": unproven} if unproven else {}),
        counted: tally.statements,
        "released": released,
    }


def described(units: UnitSet) -> dict[str, Any]:
    """Units as the manifest has many of them: how many, and the first."""
    return {"units": len(units), "first": [str(unit) for unit in islice(units, _SHOWN)]}


def taken_by_flags(outcome: CompletedRun, log: LogFile, engine: Engine) -> UnitSet:
    """The units that a run writes although they build on units that it sets aside by the log's
    flags alone."""
    plan, aside = outcome.plan, outcome.tally.quarantined_units
    flagged = aside.only(aside.of_code(INCOMPLETE_UNIT))
    if plan.flags_resolved or not flagged:
        return UnitSet()
    return written_dependents(_analysis(plan, log, engine), plan, flagged.units()) - aside.units()


def flags_alone(plan: Plan, taken: dict[str, Any] | None) -> list[str]:
    """What a user must know where units are set aside by the log's flags alone, and others that
    build on them (as :func:`described` has them) are written."""
    if taken is None:
        return []
    return [
        f"{taken['units']:,} units build on units that are set aside, and are taken, for"
        f" --incomplete {plan.selection.incomplete} goes by the log's flags alone:"
        f" {', '.join(taken['first'])}{', …' * (taken['units'] > len(taken['first']))}."
        " --incomplete resolve sets aside what builds on incomplete units, and nothing else"
    ]


def _analysis(plan: Plan, log: LogFile, engine: Engine) -> DependencyAnalysis:
    spaces = key_spaces(log.catalog, plan.constraints, plan.options.masked)
    return DependencyAnalysis(engine.execute, log, plan.splits, spaces)


def _by_commit(units: UnitSet, results: Sequence[BucketResult]) -> tuple[Records, Records]:
    """(units, commit positions that results have of them), in the order of their texts. ValueError
    where there is none of one."""
    written = np.concatenate([result.units for result in results]).view(UNIT_POSITION_FIELDS)
    found = written[units.mask(written["unit"])][::-1]
    ids = np.ascontiguousarray(found["unit"]).view(f"S{UNIT.itemsize}")
    found = found[np.unique(ids, return_index=True)[1]]  # the last of each
    if len(found) != len(units):
        raise ValueError(f"{len(units)} units are set aside, and {len(found)} were written")
    commit, unit = (np.ascontiguousarray(found[name]) for name in ("commit", "unit"))
    urid, member = (
        np.ascontiguousarray(unit.view(UNIT_FIELDS)[name]) for name in ("urid", "member")
    )
    order = np.lexsort([member.astype("U5"), sortable(urid), sortable(commit)])
    return unit[order], commit[order]
