"""The separate bundle of units that stay out: their statements, why, and what would complete them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from replay.changes import unit_text
from replay.keys import KeySpaces
from replay.logs import LogFile
from replay.plan import Resolved
from replay.resolve import Answer, Asker, Resolution, key_text, resolve_incomplete
from replay.run import Outcome
from replay.scan import INCOMPLETE_UNIT
from replay.stages import Engine

#: The folder of quarantined units inside a bundle.
FOLDER = "quarantine"


def write_quarantine(outcome: Outcome, log: LogFile, engine: Engine, work: Path) -> dict[str, Any] | None:
    """The bundle of the units that were held, or set aside by the log's flags, in ``work``: their scripts or datasets, for reading, and a manifest with reasons
    and missing inputs.

    Returns what the main manifest says about it; None when there is no such unit, or only damaged ones (whose statements nobody can know).
    """
    plan, resolution, aside = outcome.plan, outcome.resolution, outcome.tally.quarantined_units
    held = plan.resolved.held if plan.resolved else {}
    shown = {unit: reason for unit, reason in aside.items() if unit in held or reason.startswith(INCOMPLETE_UNIT)}
    if not shown:
        return None
    if resolution is None or not plan.flags_resolved:
        resolution = resolve_incomplete(
            Asker(engine.execute, log, plan.splits, KeySpaces(log.catalog, plan.constraints, plan.options.masked))
        )
    folder = work / FOLDER
    folder.mkdir()
    options = replace(plan.options, render=replace(plan.options.render, upsert=False))  # these are for reading, with tables without key too
    apart = replace(plan, options=options, resolved=Resolved(only=frozenset(shown)), flags_resolved=True)
    tally, results = engine.render(apart, log, folder)
    for result in results:
        tally.add(result.tally)
    commits = {unit: commit for result in results for commit, unit in result.commits()}
    units = [_unit(resolution, unit, commits[unit], reason) for unit, reason in shown.items()]
    parts, counted = ("scripts", "statements") if plan.export is None else ("files", "changes")
    manifest = {
        "what": f"Units of recovery that are not in the {parts} of this bundle. They may lack changes: for reading, not for running",
        parts: sorted(file.name for result in results for file in result.files),
        counted: tally.statements,
        "refused": [str(finding) for finding in tally.refusals],
        "units": sorted(units, key=lambda entry: (entry["commit_lrsn"], entry["unit"])),
        "missing_inputs": missing_inputs(resolution),
    }
    if not manifest[parts]:
        shutil.rmtree(folder)
        folder.mkdir()
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    released = len(resolution.released - shown.keys())
    return {"folder": FOLDER, "units": len(shown), counted: tally.statements, "released": released}


def _unit(resolution: Resolution, unit: bytes, commit: bytes, reason: str) -> dict[str, Any]:
    """A unit with the path that holds it; a unit that only the log's flags set aside has none."""
    answer, path = resolution.answer, resolution.paths.get(unit, [])
    steps = []
    for source, target in pairwise(path):
        evidence = answer.graph.evidence(source, target)[0]
        steps.append(
            {"unit": unit_text(source), "key": key_text(answer, evidence), "link": evidence.kind.name.lower(), "next": unit_text(target)}
        )
    return {
        "unit": unit_text(unit),
        "commit_lrsn": commit.hex().upper(),
        "reason": reason,
        "path": steps,
        "keys": sorted(
            {key_text(answer, evidence) for source in answer.graph.sources(unit) for evidence in answer.graph.evidence(source, unit)}
        )
        if path
        else [],
    }


def missing_inputs(resolution: Resolution) -> list[dict[str, Any]]:
    """What would complete the held units, the input that releases most first: per unit that started it, the log of its member from its first
    record to its commit, its tables, and how many units it holds back."""
    answer = resolution.answer
    found = []
    for unit, path in resolution.paths.items():
        if len(path) > 1:
            continue
        first, commit, tables = _extent(answer, unit)
        found.append(
            {
                "unit": unit_text(unit),
                "why": "gap" if unit not in answer.survey.seeds else "incomplete or damaged",
                "log_of_member": int(unit_text(unit).partition("/")[2]),
                "from": first.hex().upper(),
                "until": commit.hex().upper(),
                "tables": tables,
                "holds": len(answer.graph.reach([unit])),
            }
        )
    return sorted(found, key=lambda entry: (-int(str(entry["holds"])), str(entry["until"])))


def _extent(answer: Answer, unit: bytes) -> tuple[bytes, bytes, list[str]]:
    """(UORIDLRSN, commit position, tables) of a unit."""
    records = answer.batch.records
    rows = np.flatnonzero(records["unit"] == np.frombuffer(unit, "V12")[0])
    envelope = answer.log.envelope_of(records["file"][rows], records["offset"][rows], records["length"][rows])
    _, version = answer.log.classify(envelope)
    tables = sorted({answer.log.catalog.versions[index].name for index in np.unique(version).tolist()})
    return envelope.unit_position()[0].tobytes(), answer.graph.commit(unit), tables
