"""The dependency graph as data: units of recovery, the rows they touched, and which unit depends on
which (:mod:`replay.reports.page` has the page)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from replay.changes import order
from replay.changes.envelope import ROW_CHANGES, Change
from replay.changes.position import UnitId, unit_of
from replay.dependencies.analysis import Subgraph
from replay.dependencies.links import (
    LINK_WORDS,
    Link,
)
from replay.dependencies.reasons import key_texts
from replay.dependencies.write_sets import WriteSets
from replay.pipeline.plan import Plan
from replay.pipeline.rows import RowDecoder
from sqlgen.dialects import profile_named


def describe(
    subgraph: Subgraph, chosen: frozenset[UnitId], plan: Plan, warnings: Sequence[str] = ()
) -> dict[str, Any]:
    """The graph as JSON-able data: ``warnings``, ``units`` in commit order, ``rows``, ``changes``
    (unit × row, with statements), and ``edges`` between units, each with the links that prove it
    and the two statements of each."""
    statements = _statements(subgraph, plan)
    rows = _rows(subgraph)
    units = _units(subgraph, chosen)
    name = {entry["unit"]: number for number, entry in enumerate(units)}
    row_names = sorted(set(rows))
    row_number = {row: number for number, row in enumerate(row_names)}
    changes = []
    for change in range(len(subgraph.batch.head)):
        kind = Change(int(subgraph.batch.change[change])).name.lower().replace("_", " ")
        number = name[str(subgraph.unit(change))]
        changes.append(
            {
                "unit": number,
                "row": row_number[rows[change]],
                "change": kind,
                "statement": statements[change],
            }
        )
    edges: dict[tuple[int, int], list[dict[str, Any]]] = {}
    keys = key_texts(subgraph, subgraph.links)
    for (source, target, kind, _, _), key in zip(subgraph.links.tolist(), keys, strict=True):
        one, other = changes[source]["unit"], changes[target]["unit"]
        if one != other:
            link = {
                "link": Link(kind).name.lower(),
                "why": LINK_WORDS[Link(kind)],
                "key": key,
                "first": source,
                "second": target,
            }
            edges.setdefault((one, other), []).append(link)
    return {
        "warnings": list(warnings),
        "units": units,
        "rows": row_names,
        "changes": changes,
        "edges": [
            {"from": one, "to": other, "links": links}
            for (one, other), links in sorted(edges.items())
        ],
    }


def _statements(subgraph: Subgraph, plan: Plan) -> list[str]:
    batch, log = subgraph.batch, subgraph.log
    decoder = RowDecoder(plan, log, profile_named(plan.options.dialect))
    texts = [""] * len(batch.head)
    for version in np.unique(batch.version).tolist():
        for kind in ROW_CHANGES:
            rows = np.flatnonzero((batch.version == version) & (batch.change == kind))
            for part, images in (
                log.images(batch.records, batch.head[rows], batch.weight[rows], kind)
                if len(rows)
                else ()
            ):
                for row, text in zip(
                    rows[part].tolist(),
                    decoder.statements(version, kind, images).text.to_pylist(),
                    strict=True,
                ):
                    texts[row] = text
    return texts


def _rows(subgraph: Subgraph) -> list[str]:
    """The row each change is about, ``table/key``: where the key changed, the old one."""
    batch, write_sets = subgraph.batch, WriteSets(subgraph.log, subgraph.spaces)
    names = []
    for change in range(len(batch.head)):
        version, kind = int(batch.version[change]), Change(int(batch.change[change]))
        table = subgraph.log.catalog.versions[version].source.name.lower()
        columns = subgraph.spaces.row_space(version).columns
        if kind not in ROW_CHANGES:
            names.append(table)
        elif columns:
            side = "after" if kind is Change.INSERT else "before"
            names.append(f"{table}/{','.join(write_sets.values_of(batch, change, side, columns))}")
        else:
            names.append(f"{table}/(row without key)")
    return names


def _units(subgraph: Subgraph, chosen: frozenset[UnitId]) -> list[dict[str, Any]]:
    heads = subgraph.batch.records[subgraph.batch.head]
    starts = order.run_starts(np.ascontiguousarray(heads["unit"]))
    count = np.diff(np.append(starts, len(heads)))
    first = heads[starts]
    envelope = subgraph.log.envelope(first["file"], first["offset"], first["length"])
    fields = {key: values.to_pylist() for key, values in subgraph.log.unit_fields(envelope).items()}
    units = []
    for number, record in enumerate(first):
        unit = unit_of(record)
        facts = {
            key: values[number] for key, values in fields.items() if key not in ("URID", "member")
        }
        units.append(
            {
                "unit": str(unit),
                "chosen": unit in chosen,
                "changes": int(count[number]),
                **facts,
            }
        )
    return units
