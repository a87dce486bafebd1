"""The separate bundle of units that stay out: their statements, why, the path that leads to each,
and what would complete them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.changes.balance import SHOWN
from replay.changes.position import (
    POSITION,
    UNIT,
    UNIT_FIELDS,
    UNIT_POSITION_FIELDS,
    sortable,
)
from replay.changes.units import UnitSet, Verdicts, as_sorted, unit_texts
from replay.dependencies.analysis import Resolution, resolve_incomplete
from replay.dependencies.cascade import written_dependents
from replay.dependencies.graph import ranges
from replay.dependencies.links import Link
from replay.dependencies.why_held import key_texts
from replay.engine.contract import Engine
from replay.errors import counted
from replay.logs import LogFile
from replay.output.run_plan import CompletedRun, analysis_of, write
from replay.output.whole_folder import StoredFolder, write_manifest
from replay.pipeline.plan import BucketResult, Plan, UnitDecisions
from replay.pipeline.scan import INCOMPLETE_UNIT, UNPROVEN_UNIT
from replay.spill import spilled

#: Records that are looked at together for the tables of a missing input.
_TOGETHER = 65_536


def described_units(
    resolution: Resolution, aside: Verdicts, units: Records, commits: Records
) -> list[dict[str, Any]]:
    """Units that are set ``aside``, with the ``commits`` of each: why, the path that leads to each,
    and its keys. A unit that only the log's flags set aside has no path."""
    nodes, there = resolution.paths.nodes_of(units)
    ways = iter(zip(_steps(resolution, nodes[there]), _keys(resolution, nodes[there]), strict=True))
    columns = (
        unit_texts(units),
        _hexadecimal(commits),
        aside.said(aside.rows_of(units)[0]),
        there.tolist(),
    )
    found = []
    for unit, commit, reason, reached in zip(*columns, strict=True):
        (path, more), keys = next(ways) if reached else (([], 0), [])
        found.append(
            {
                "unit": unit,
                "commit_lrsn": commit,
                "reason": reason,
                "path": path,
                **({"steps_left_out": more} if more else {}),
                "keys": keys,
            }
        )
    return found


def _hexadecimal(positions: Records) -> list[str]:
    return [one.tobytes().hex().upper() for one in positions]


def _steps(resolution: Resolution, nodes: Index) -> Iterator[tuple[list[dict[str, str]], int]]:
    """The steps of the path to each of some nodes that are shown, and how many more there are."""
    subgraph, graph = resolution.subgraph, resolution.subgraph.graph
    shown = [resolution.paths.shown(node) for node in nodes.tolist()]
    known = np.array(sorted({step for _, steps, _ in shown for step in steps}), np.int64)
    known = known.reshape(-1, 2)
    links = graph.first_links(known[:, 0], known[:, 1])
    keys = key_texts(subgraph, links)
    each = {
        (one, other): {
            "unit": str(graph.unit(one)),
            "key": key,
            "link": Link(kind).name.lower(),
            "next": str(graph.unit(other)),
        }
        for (one, other), key, kind in zip(
            known.tolist(), keys, links["kind"].tolist(), strict=True
        )
    }
    for _, steps, more in shown:
        yield [each[step] for step in steps], more


def _keys(resolution: Resolution, nodes: Index) -> list[list[str]]:
    """The different keys that tie each of some nodes to what it builds on, sorted."""
    subgraph = resolution.subgraph
    links, ends = subgraph.graph.links_into(nodes)
    texts = key_texts(subgraph, links)
    return [sorted({*texts[low:high]}) for low, high in pairwise(ends.tolist())]


def missing_inputs(resolution: Resolution) -> tuple[list[dict[str, Any]], int]:
    """What would complete the held units, the input that releases most first, and how many more of
    them there are than are shown: per unit that started it, the log of its member from its first
    record to its commit, its tables, and how many units it holds back, with itself (``holds``;
    ``holds_more_than`` where there are more than were counted)."""
    subgraph, graph = resolution.subgraph, resolution.subgraph.graph
    nodes = resolution.paths.begins()
    known = subgraph.unproven.units() | subgraph.followers.units()
    nodes = nodes[~known.mask(graph.unit_column(nodes))]
    commits = sortable(graph.units.view(UNIT_POSITION_FIELDS)["commit"][nodes])
    counts, more = graph.reach_counts(nodes)
    order = np.lexsort([commits, -counts])
    shown = order[:SHOWN]
    inputs = _described_inputs(resolution, nodes[shown], counts[shown], more[shown])
    return inputs, len(nodes) - len(shown)


def _described_inputs(
    resolution: Resolution, nodes: Index, counts: Index, more: Mask
) -> list[dict[str, Any]]:
    subgraph = resolution.subgraph
    positions = np.ascontiguousarray(subgraph.graph.units[nodes]).view(UNIT_POSITION_FIELDS)
    units = np.ascontiguousarray(positions["unit"])
    gap = ~subgraph.survey.start.units().mask(units)
    first, tables = _extents(resolution, units)
    columns = (
        unit_texts(units),
        gap.tolist(),
        units.view(UNIT_FIELDS)["member"].tolist(),
        _hexadecimal(first),
        _hexadecimal(positions["commit"]),
        tables,
        counts.tolist(),
        more.tolist(),
    )
    return [
        {
            "unit": unit,
            "why": "gap" if is_gap else f"incomplete or {resolution.damage}",
            "log_of_member": member,
            "from": begin,
            "until": until,
            "tables": names,
            "holds_more_than" if is_more else "holds": count,
        }
        for unit, is_gap, member, begin, until, names, count, is_more in zip(*columns, strict=True)
    ]


def _extents(resolution: Resolution, units: Records) -> tuple[Records, list[list[str]]]:
    """The UORIDLRSN of each unit (:data:`replay.changes.position.POSITION`), and the names of the
    tables that it changed, sorted."""
    log, records = resolution.subgraph.log, resolution.subgraph.batch.records
    of_records = as_sorted(records["unit"])
    order = spilled(np.argsort(of_records, kind="stable"))
    heads, asked = spilled(of_records[order]), as_sorted(units)
    low, high = (np.searchsorted(heads, asked, side) for side in ("left", "right"))
    firsts, tables = np.zeros(len(units), POSITION), list[list[str]]()
    sizes, at = np.cumsum(high - low), 0
    while at < len(units):
        before = int(sizes[at - 1]) if at else 0
        end = max(at + 1, int(np.searchsorted(sizes, before + _TOGETHER, "right")))
        some, ends = ranges(low[at:end], high[at:end])
        rows = order[some]
        envelope = log.envelope(*(records[name][rows] for name in ("file", "offset", "length")))
        _, version = log.classify(envelope)
        first = np.ascontiguousarray(envelope.unit_position()[ends[:-1]])
        firsts[at:end] = first.view(POSITION).reshape(-1)
        names = {one: log.catalog.versions[one].name for one in np.unique(version).tolist()}
        tables += [
            sorted({names[one] for one in np.unique(version[begin:stop]).tolist()})
            for begin, stop in pairwise(ends.tolist())
        ]
        at = end
    return firsts, tables


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
        resolution = resolve_incomplete(analysis_of(plan, log, engine))
    folder = work / FOLDER
    folder.mkdir()
    options = replace(
        plan.options,
        render=replace(plan.options.render, upsert=False, assert_rows=False, free_keys=False),
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
            f"Units of recovery that are not in the {parts} of this output folder. They may"
            f" lack changes:"
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
    return written_dependents(analysis_of(plan, log, engine), plan, flagged.units()) - aside.units()


def flags_alone(plan: Plan, taken: dict[str, Any] | None) -> list[str]:
    """What a user must know where units are set aside by the log's flags alone, and others that
    build on them (as :func:`described` has them) are written."""
    if taken is None:
        return []
    return [
        f"taken although quarantined units come before: {counted(taken['units'], 'unit')}, for"
        f" --incomplete {plan.selection.incomplete} goes by the log's flags alone:"
        f" {', '.join(taken['first'])}{', …' * (taken['units'] > len(taken['first']))}."
        " --incomplete resolve quarantines what depends on incomplete units, and nothing else"
    ]


def _by_commit(units: UnitSet, results: Sequence[BucketResult]) -> tuple[Records, Records]:
    """(units, commit positions that results have of them), in the order of their texts. ValueError
    where there is none of one."""
    written = np.concatenate([result.units for result in results]).view(UNIT_POSITION_FIELDS)
    found = written[units.mask(written["unit"])][::-1]
    ids = np.ascontiguousarray(found["unit"]).view(f"S{UNIT.itemsize}")
    found = found[np.unique(ids, return_index=True)[1]]  # the last of each
    if len(found) != len(units):
        raise ValueError(f"{len(units)} units are quarantined, and {len(found)} were written")
    commit, unit = (np.ascontiguousarray(found[name]) for name in ("commit", "unit"))
    urid, member = (
        np.ascontiguousarray(unit.view(UNIT_FIELDS)[name]) for name in ("urid", "member")
    )
    order = np.lexsort([member.astype("U5"), sortable(urid), sortable(commit)])
    return unit[order], commit[order]
