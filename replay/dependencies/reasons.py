"""Why units are held, in words: of many at a time, in columns of texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.changes.text_columns import (
    Texts,
    beside,
    formatted,
    pooled,
    runs,
    taken,
    texts_of,
    unit_texts,
)
from replay.changes.units import UnitSet
from replay.changes.verdicts import Verdict, Verdicts
from replay.dependencies.graph import STEPS_SHOWN, Paths, Steps
from replay.dependencies.key_words import (
    is_masked,
    key_texts,
    masked,
    table_text,
    values_in_words,
    without_key,
)
from replay.dependencies.passes import change_places
from replay.dependencies.proof import ASK_WORDS, Ask
from replay.pipeline.scan import INCOMPLETE_UNIT, UNPROVEN_UNIT

if TYPE_CHECKING:
    from replay.dependencies.analysis import Subgraph

#: The code of a unit that is set aside because of what it builds on.
DEPENDENT_UNIT = "LR3011"
#: Units that are put into words together.
TOGETHER = 1024


def verdicts(subgraph: Subgraph, paths: Paths, damaged: UnitSet) -> Verdicts:
    """Why each unit is held to which a path leads."""
    held, nodes = Verdicts(), paths.nodes()
    for low in range(0, len(nodes), TOGETHER):
        _Some(subgraph, paths, damaged, nodes[low : low + TOGETHER]).put(held)
    return held


@dataclass
class _Some:
    """Some ``nodes`` to which paths lead."""

    subgraph: Subgraph
    paths: Paths
    damaged: UnitSet
    nodes: Index

    def put(self, held: Verdicts) -> None:
        """Say why they are held."""
        graph = self.subgraph.graph
        steps = self.paths.steps(self.nodes)
        units = graph.unit_column(self.nodes)
        first = graph.unit_column(steps.begin)
        alone = steps.begin == self.nodes
        unproven = self.subgraph.unproven.units().mask(first)
        started = self.subgraph.survey.start.units().mask(first) & ~unproven
        damaged = self.damaged.mask(first)
        for which, state in ((damaged, "damaged"), (~damaged, self._incomplete())):
            rows = alone & started & which
            held.set_all(units[rows], Verdict(INCOMPLETE_UNIT, f"the unit is {state}"))
        open_questions = alone & unproven
        asked = units[open_questions]
        held.set_each(asked, UNPROVEN_UNIT, _open_questions(self.subgraph, asked))
        others = np.flatnonzero(~(alone & (started | unproven)))
        heads = self._heads(first, started, damaged, unproven, alone)
        texts = beside(heads, _in_words(self.subgraph, steps))
        for code, which in ((UNPROVEN_UNIT, unproven), (DEPENDENT_UNIT, ~unproven)):
            rows = others[which[others]]
            held.set_each(units[rows], code, taken(texts, rows))

    def _incomplete(self) -> str:
        return self.subgraph.log.in_words("incomplete (INCOMPLETETRANS)")

    def _heads(
        self, first: Records, started: Mask, damaged: Mask, unproven: Mask, alone: Mask
    ) -> Texts:
        """What the paths begin with; of units that are damaged, incomplete or unproven themselves
        it is not true."""
        depends = "it depends on a unit"
        torn = "a record is missing before its change of a row that the log left otherwise"
        heads = [
            f"{depends} before which a record is missing: ",
            f"{depends} that is {self._incomplete()}: ",
            f"{depends} that is damaged: ",
            f"{depends} that may depend on an incomplete one: ",
            torn,
        ]
        said = np.where(alone, 4, 0)
        rows, behind = self.subgraph.followers.rows_of(first)
        behind &= ~started & ~unproven
        if behind.any():
            spaces = self.subgraph.followers.columns()[1]["space"][rows[behind]]
            known, place = np.unique(spaces, return_inverse=True)
            said[behind] = len(heads) + 2 * place.reshape(-1) + alone[behind]
            for space in known.tolist():
                table = table_text(self.subgraph.spaces.spaces[space])
                may = f"a unit that changed {table} after a damaged record whose row cannot be told"
                heads += [f"it depends on {may}: ", f"it is {may}"]
        said[started] = np.where(damaged[started], 2, 1)
        said[unproven] = 3
        names, begins = pooled(unit_texts(first), texts_of([""]))
        own = np.where(alone, begins[1], np.arange(len(first)))
        return beside(taken(texts_of(heads), said), taken(names, own))


def _in_words(subgraph: Subgraph, steps: Steps) -> Texts:
    """The steps of paths, each with what leads to it."""
    known, first, place = np.unique(steps.target, return_index=True, return_inverse=True)
    links = subgraph.graph.first_links(steps.source[first], known)
    units = unit_texts(subgraph.graph.unit_column(known))
    said = beside(b" -> ", key_texts(subgraph, links), b" -> ", units)
    cut = np.flatnonzero(steps.more)
    parts, begins = pooled(said, formatted(" -> ({:,} more steps)", steps.more[cut]))
    left_out = begins[1] + np.arange(len(cut))
    numbers = np.insert(place.reshape(-1), steps.ends[cut] + STEPS_SHOWN, left_out)
    ends = steps.ends + np.append(0, np.cumsum(steps.more > 0))
    return runs(taken(parts, numbers), ends)


def _open_questions(subgraph: Subgraph, units: Records) -> Texts:
    """What nothing proves of units that are flagged."""
    if not len(units):
        return texts_of([])
    batch, unproven = subgraph.batch, subgraph.unproven
    asked = unproven.columns()[1][unproven.rows_of(units)[0]]
    places = change_places(batch.records[batch.head])
    by_place = np.argsort(places, kind="stable")
    change = by_place[np.searchsorted(places, asked["change"], sorter=by_place)]
    groups = np.stack(
        [
            *(asked[name].astype(np.int64) for name in ("ask", "space", "after", "unflagged")),
            batch.version[change].astype(np.int64),
            batch.change[change].astype(np.int64),
        ]
    )
    _, group = np.unique(groups, axis=1, return_inverse=True)
    found, order = [], []
    for number in range(int(group.max()) + 1):
        rows = np.flatnonzero(group.reshape(-1) == number)
        rows = rows[np.argsort(change[rows], kind="stable")]
        found.append(_asked_alike(subgraph, asked[rows[0]], change[rows]))
        order.append(rows)
    return taken(pooled(*found)[0], np.argsort(np.concatenate(order)))


def _asked_alike(subgraph: Subgraph, question: np.void, changes: Index) -> Texts:
    """Questions that differ in nothing but the changes of one version and kind, rising."""
    space, version = int(question["space"]), int(subgraph.batch.version[changes[0]])
    uses = subgraph.spaces.uses[version]
    use = next((use for use in uses if use.space == space), uses[0])
    if question["ask"] == Ask.PARENT:
        use = next((use for use in uses if use.space == space and use.how == "child"), use)
    flag = subgraph.log.in_words("it may depend on an incomplete unit (INCOMPLETEDEP)")
    if question["unflagged"]:
        flag = "an incomplete unit commits before it"
    key_space = subgraph.spaces.spaces[space]
    head = f"{flag}: {ASK_WORDS[Ask(int(question['ask']))]}, ".encode()
    if use.columns and not is_masked(subgraph, version, use.columns):
        side = "after" if question["after"] else "before"
        return beside(head, values_in_words(subgraph, key_space, changes, side, use.columns))
    same = masked(key_space) if use.columns else without_key(key_space)
    return beside(head, texts_of([same] * len(changes)))
