"""What would complete the units that are set aside: of many inputs at a time, in columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from replay.arrays import Index, Mask, Records
from replay.changes.json_columns import json_items, json_lists, json_objects, json_strings
from replay.changes.kept import column_of
from replay.changes.position import POSITION, UNIT_FIELDS, UNIT_POSITION_FIELDS, sortable
from replay.changes.text_columns import Texts, formatted, hexadecimal, taken, texts_of, unit_texts
from replay.changes.units import as_sorted
from replay.dependencies.analysis import Resolution
from replay.dependencies.graph import ranges

#: Inputs that are put into words together, and records of theirs where one has fewer.
TOGETHER, RECORDS = 1024, 65_536


@dataclass(frozen=True)
class MissingInputs:
    """What would complete the held units, the input that releases most first: per unit that started
    it, the log of its member from its first record to its commit, its tables, and how many units it
    holds back, with itself (``holds``; ``holds_more_than`` where there are more than were counted:
    :func:`replay.dependencies.reach.reach_counts`)."""

    brackets = "[]"

    resolution: Resolution

    def written(self, indent: int) -> Iterator[str]:
        """As :class:`replay.output.json_file.ItemsAsJson` has it."""
        subgraph, graph = self.resolution.subgraph, self.resolution.subgraph.graph
        nodes = self.resolution.paths.begins()
        known = subgraph.unproven.units() | subgraph.followers.units()
        nodes = nodes[~known.mask(graph.unit_column(nodes))]
        commits = sortable(graph.units.view(UNIT_POSITION_FIELDS)["commit"][nodes])
        counts, more = graph.reach_counts(nodes)
        nodes = nodes[np.lexsort([commits, -counts[nodes]])]
        units = as_sorted(subgraph.batch.records["unit"])
        order = column_of(np.argsort(units, kind="stable"))
        heads = column_of(units[order])
        asked = as_sorted(graph.unit_column(nodes))
        low, high = (np.searchsorted(heads, asked, side) for side in ("left", "right"))
        at = 0
        while at < len(nodes):
            sizes = np.cumsum((high - low)[at : at + TOGETHER])
            end = at + max(1, int(np.searchsorted(sizes, RECORDS, "right")))
            rows, ends = ranges(low[at:end], high[at:end])
            some = nodes[at:end]
            yield self._json(indent, some, counts[some], more[some], order[rows], ends)
            at = end

    def _json(
        self, indent: int, nodes: Index, counts: Index, more: Mask, rows: Index, ends: Index
    ) -> str:
        """Some inputs, of which the ``rows`` of the records are given, and where those of each
        begin, and the last ones end."""
        subgraph = self.resolution.subgraph
        positions = np.ascontiguousarray(subgraph.graph.units[nodes]).view(UNIT_POSITION_FIELDS)
        units = np.ascontiguousarray(positions["unit"])
        gap = ~subgraph.survey.start.units().mask(units)
        holds = formatted("{}", counts)
        none = taken(texts_of([""]), np.zeros(len(nodes), np.int64))
        first, tables, table_ends = self._extents(rows, ends)
        columns = {
            "unit": json_strings(unit_texts(units)),
            "why": taken(texts_of(['"incomplete or damaged"', '"gap"']), gap.astype(np.int64)),
            "log_of_member": formatted("{}", units.view(UNIT_FIELDS)["member"]),
            "from": json_strings(hexadecimal(first)),
            "until": json_strings(hexadecimal(np.ascontiguousarray(positions["commit"]))),
            "tables": json_lists(indent + 1, tables, table_ends),
            "holds": pc.if_else(more, none, holds),
            "holds_more_than": pc.if_else(more, holds, none),
        }
        return json_items(indent, json_objects(indent, columns))

    def _extents(self, rows: Index, ends: Index) -> tuple[Records, Texts, Index]:
        """The UORIDLRSN of each unit (:data:`replay.changes.position.POSITION`), the names of
        tables that each changed, sorted, and where those of each begin, and the last ones end."""
        log, records = self.resolution.subgraph.log, self.resolution.subgraph.batch.records
        envelope = log.envelope(*(records[name][rows] for name in ("file", "offset", "length")))
        _, version = log.classify(envelope)
        known, place = np.unique(version, return_inverse=True)
        of_version = [log.catalog.versions[index].name for index in known.tolist()]
        names = sorted(set(of_version))
        number = {name: place for place, name in enumerate(names)}
        rank = np.array([number[name] for name in of_version])[place.reshape(-1)]
        of_unit = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        pairs = np.unique(of_unit * len(names) + rank)
        table_ends = np.searchsorted(pairs, np.arange(len(ends)) * len(names))
        first = np.ascontiguousarray(envelope.unit_position()[ends[:-1]])
        texts = taken(json_strings(texts_of(names)), pairs % len(names))
        return first.view(POSITION).reshape(-1), texts, table_ends
