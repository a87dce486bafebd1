"""What ``quarantine/manifest.json`` says of units that are set aside, and of what would complete
them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.changes.balance import SHOWN
from replay.changes.position import POSITION, UNIT_FIELDS, UNIT_POSITION_FIELDS, sortable
from replay.changes.text_columns import hexadecimal, strings, taken, unit_texts
from replay.changes.units import as_sorted
from replay.changes.verdicts import Verdicts
from replay.dependencies.analysis import Resolution
from replay.dependencies.graph import ranges
from replay.dependencies.key_words import key_texts
from replay.dependencies.links import Link
from replay.spill import spilled

#: Records that are looked at together for the tables of a missing input.
_TOGETHER = 65_536


def described_units(
    resolution: Resolution, aside: Verdicts, units: Records, commits: Records
) -> list[dict[str, Any]]:
    """Units that are set ``aside``, with the ``commits`` of each: why, the path that leads to each,
    and its keys. A unit that only the log's flags set aside has no path."""
    nodes, there = resolution.paths.nodes_of(units)
    place = np.cumsum(there) - 1
    steps, more = _steps(resolution, nodes[there])
    keys = _keys(resolution, nodes[there])
    columns = (
        strings(unit_texts(units)),
        strings(hexadecimal(commits)),
        strings(aside.said(aside.rows_of(units)[0])),
    )
    return [
        {
            "unit": unit,
            "commit_lrsn": commit,
            "reason": reason,
            "path": steps[at] if reached else [],
            **({"steps_left_out": more[at]} if reached and more[at] else {}),
            "keys": keys[at] if reached else [],
        }
        for unit, commit, reason, at, reached in zip(
            *columns, place.tolist(), there.tolist(), strict=True
        )
    ]


def _steps(resolution: Resolution, nodes: Index) -> tuple[list[list[dict[str, str]]], list[int]]:
    """The steps of the path to each of some nodes that are shown, and how many more there are."""
    subgraph, graph = resolution.subgraph, resolution.subgraph.graph
    steps = resolution.paths.steps(nodes)
    known, first, shown = np.unique(steps.target, return_index=True, return_inverse=True)
    source = steps.source[first]
    links = graph.first_links(source, known)
    columns = (
        strings(unit_texts(graph.unit_column(source))),
        strings(key_texts(subgraph, links)),
        [Link(kind).name.lower() for kind in links["kind"].tolist()],
        strings(unit_texts(graph.unit_column(known))),
    )
    names = ("unit", "key", "link", "next")
    each = [dict(zip(names, step, strict=True)) for step in zip(*columns, strict=True)]
    path = [each[number] for number in shown.reshape(-1).tolist()]
    return [path[low:high] for low, high in pairwise(steps.ends.tolist())], steps.more.tolist()


def _keys(resolution: Resolution, nodes: Index) -> list[list[str]]:
    """The different keys that tie each of some nodes to what it builds on, sorted."""
    subgraph = resolution.subgraph
    links, ends = subgraph.graph.links_into(nodes)
    number = subgraph.words.numbers(subgraph, links)
    known, place = np.unique(number, return_inverse=True)
    texts = strings(taken(subgraph.words.texts.all(), known))
    of_links = [texts[at] for at in place.reshape(-1).tolist()]
    return [sorted({*of_links[low:high]}) for low, high in pairwise(ends.tolist())]


def missing_inputs(resolution: Resolution) -> tuple[list[dict[str, Any]], int]:
    """What would complete the held units, the input that releases most first, and how many more of
    them there are than are shown: per unit that started it, the log of its member from its first
    record to its commit, its tables, and how many units it holds back, with itself (``holds``;
    ``holds_more_than`` where there are more than were counted:
    :func:`replay.dependencies.reach.reach_counts`)."""
    subgraph, graph = resolution.subgraph, resolution.subgraph.graph
    nodes = resolution.paths.begins()
    known = subgraph.unproven.units() | subgraph.followers.units()
    nodes = nodes[~known.mask(graph.unit_column(nodes))]
    commits = sortable(graph.units.view(UNIT_POSITION_FIELDS)["commit"][nodes])
    counts, more = graph.reach_counts(nodes)
    order = np.lexsort([commits, -counts[nodes]])
    shown = nodes[order[:SHOWN]]
    return _described_inputs(resolution, shown, counts[shown], more[shown]), len(nodes) - len(shown)


def _described_inputs(
    resolution: Resolution, nodes: Index, counts: Index, more: Mask
) -> list[dict[str, Any]]:
    subgraph = resolution.subgraph
    positions = np.ascontiguousarray(subgraph.graph.units[nodes]).view(UNIT_POSITION_FIELDS)
    units = np.ascontiguousarray(positions["unit"])
    gap = ~subgraph.survey.start.units().mask(units)
    first, tables = _extents(resolution, units)
    columns = (
        strings(unit_texts(units)),
        gap.tolist(),
        units.view(UNIT_FIELDS)["member"].tolist(),
        strings(hexadecimal(first)),
        strings(hexadecimal(np.ascontiguousarray(positions["commit"]))),
        tables,
        counts.tolist(),
        more.tolist(),
    )
    return [
        {
            "unit": unit,
            "why": "gap" if is_gap else "incomplete or damaged",
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
