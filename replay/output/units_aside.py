"""The units of ``quarantine/manifest.json``, with what leads to each: pieces of columns, and the
text of a piece, which needs nothing but its columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Records
from replay.changes.json_columns import json_items, json_lists, json_objects, json_strings
from replay.changes.text_columns import (
    Texts,
    formatted,
    hexadecimal,
    taken,
    texts_of,
    unit_texts,
)
from replay.changes.verdicts import Verdicts
from replay.dependencies.analysis import Resolution
from replay.dependencies.key_words import key_texts
from replay.dependencies.links import Link

#: Units that are put into words together.
TOGETHER = 1024
_KINDS = [*(kind.name.lower() for kind in sorted(Link))]


@dataclass(frozen=True)
class AsidePiece:
    """Some units that are set aside: each one's commit position and reason; the steps of its path
    by their numbers among those of the piece (``shown``; ``step_ends`` says where those of each
    begin, and the last ones end), and how many ``more`` there are; its keys likewise. Of a step the
    units that it leads from and to, the key, and the kind of link."""

    units: Records
    commits: Records
    reasons: Texts
    shown: Index
    step_ends: Index
    more: Index
    source: Records
    target: Records
    step_keys: Texts
    kinds: Bytes
    keys: Texts
    held: Index
    key_ends: Index

    def json(self, indent: int) -> str:
        """The units as items of a list."""
        steps = {
            "unit": json_strings(unit_texts(self.source)),
            "key": json_strings(self.step_keys),
            "link": json_strings(taken(texts_of(_KINDS), self.kinds.astype(np.int64) - 1)),
            "next": json_strings(unit_texts(self.target)),
        }
        inner = indent + 1
        path = taken(json_objects(inner + 1, steps), self.shown)
        keys = taken(json_strings(self.keys), self.held)
        left_out = taken(texts_of([""]), np.zeros(len(self.units), np.int64))
        if self.more.any():
            said = formatted("{}", self.more)
            left_out = pc.if_else(self.more > 0, said, left_out)
        units = {
            "unit": json_strings(unit_texts(self.units)),
            "commit_lrsn": json_strings(hexadecimal(self.commits)),
            "reason": json_strings(self.reasons),
            "path": json_lists(inner, path, self.step_ends),
            "steps_left_out": left_out,
            "keys": json_lists(inner, keys, self.key_ends),
        }
        return json_items(indent, json_objects(indent, units))


@dataclass(frozen=True)
class UnitsAside:
    """Units that are set ``aside``, with the ``commits`` of each, in the order in which the
    manifest has them. A unit that only the log's flags set aside has no path."""

    brackets = "[]"

    resolution: Resolution
    aside: Verdicts
    units: Records
    commits: Records

    def pieces(self) -> Iterator[AsidePiece]:
        """All of them, some at a time."""
        for low in range(0, len(self.units), TOGETHER):
            some = slice(low, low + TOGETHER)
            yield self._piece(self.units[some], self.commits[some])

    def written(self, indent: int) -> Iterator[str]:
        """As :class:`replay.output.json_file.ItemsAsJson` has it."""
        return (piece.json(indent) for piece in self.pieces())

    def _piece(self, units: Records, commits: Records) -> AsidePiece:
        paths, subgraph = self.resolution.paths, self.resolution.subgraph
        graph = subgraph.graph
        nodes, there = paths.nodes_of(units)
        of_those = np.append(0, np.cumsum(there))
        steps = paths.steps(nodes[there])
        more = np.zeros(len(units), np.int64)
        more[there] = steps.more
        known, first, shown = np.unique(steps.target, return_index=True, return_inverse=True)
        source = steps.source[first]
        links = graph.first_links(source, known)
        keys, held, ends = self._keys(nodes[there])
        return AsidePiece(
            units=units,
            commits=commits,
            reasons=self.aside.said(self.aside.rows_of(units)[0]),
            shown=shown.reshape(-1),
            step_ends=steps.ends[of_those],
            more=more,
            source=graph.unit_column(source),
            target=graph.unit_column(known),
            step_keys=key_texts(subgraph, links),
            kinds=np.ascontiguousarray(links["kind"]),
            keys=keys,
            held=held,
            key_ends=ends[of_those],
        )

    def _keys(self, nodes: Index) -> tuple[Texts, Index, Index]:
        """The different keys that tie nodes to what they build on, sorted: texts, the numbers of
        those of each node, and where these begin, and the last ones end."""
        subgraph = self.resolution.subgraph
        links, ends = subgraph.graph.links_into(nodes)
        number = subgraph.words.numbers(subgraph, links)
        known, place = np.unique(number, return_inverse=True)
        texts = taken(subgraph.words.texts.all(), known)
        # one text may have several numbers
        rank = pc.rank(texts, tiebreaker="dense").to_numpy().astype(np.int64) - 1
        count = int(rank.max()) + 1 if len(rank) else 1
        row = np.repeat(np.arange(len(nodes)), np.diff(ends))
        pairs = np.unique(row * count + rank[place.reshape(-1)])
        of_rank = np.zeros(count if len(rank) else 0, np.int64)
        of_rank[rank] = np.arange(len(rank))
        held_ends = np.searchsorted(pairs, np.arange(len(nodes) + 1) * count)
        return taken(texts, of_rank), pairs % count, held_ends
