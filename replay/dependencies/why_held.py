"""Why units are held, in words: of as many as are shown, the first in the order of units. Of the
others it is said in short; which units are held is exact in any number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.changes.balance import SHOWN
from replay.changes.catalog import MASKED_KEY, any_masked
from replay.changes.envelope import Change
from replay.changes.position import UnitId
from replay.changes.units import DAMAGED, UnitSet, Verdict, Verdicts, as_sorted
from replay.dependencies.graph import STEPS_SHOWN, Paths
from replay.dependencies.key_spaces import KeySpace
from replay.dependencies.passes import change_places
from replay.dependencies.preconditions import ASK_WORDS, Ask
from replay.dependencies.write_sets import WriteSets
from replay.pipeline.scan import INCOMPLETE_UNIT, UNPROVEN_UNIT

if TYPE_CHECKING:
    from replay.dependencies.analysis import Subgraph

#: The code of a unit that is set aside because of what it builds on.
DEPENDENT_UNIT = "LR3011"
_IN_SHORT = f"why is said in full of the first {SHOWN:,} units only"


def verdicts(subgraph: Subgraph, paths: Paths, damaged: UnitSet, damage: str = DAMAGED) -> Verdicts:
    """Why each unit is held to which a path leads; ``damaged`` ones are what ``damage`` says."""
    held, nodes, graph = Verdicts(), paths.nodes(), subgraph.graph
    units = graph.unit_column(nodes)
    begin = paths.begins_of(nodes)
    starts = graph.unit_column(begin)
    unproven = subgraph.unproven.units().mask(starts)
    started = subgraph.survey.start.units().mask(starts) & ~unproven
    of_damaged = damaged.mask(starts)
    alone = begin == nodes
    for code, which in ((UNPROVEN_UNIT, unproven), (DEPENDENT_UNIT, ~unproven)):
        held.set_all(units[which], Verdict(code, _IN_SHORT))
    incomplete = _incomplete(subgraph)
    for which, state in ((of_damaged, damage), (~of_damaged, incomplete)):
        rows = alone & started & which
        held.set_all(units[rows], Verdict(INCOMPLETE_UNIT, f"the unit is {state}"))
    told = np.argsort(as_sorted(units), kind="stable")[:SHOWN]
    asked = told[(alone & unproven)[told]]
    held.set_each(units[asked], UNPROVEN_UNIT, _open_questions(subgraph, units[asked]))
    others = told[~(alone & (started | unproven))[told]]
    heads = _Heads(subgraph, starts, started, of_damaged, unproven, alone, damage)
    texts = [
        head + path
        for head, path in zip(
            heads.texts(others), _in_words(subgraph, paths, nodes[others]), strict=True
        )
    ]
    for code, which in ((UNPROVEN_UNIT, unproven), (DEPENDENT_UNIT, ~unproven)):
        rows = others[which[others]]
        some = [text for text, one in zip(texts, which[others].tolist(), strict=True) if one]
        held.set_each(units[rows], code, some)
    return held


def _incomplete(subgraph: Subgraph) -> str:
    return subgraph.log.in_words("incomplete (INCOMPLETETRANS)")


@dataclass
class _Heads:
    """What paths begin with: the unit at which each starts, whether that is a starting point of the
    question, damaged, or unproven, and whether it is the held unit itself (``alone``). Of units
    that are damaged, incomplete or unproven themselves it is not asked."""

    subgraph: Subgraph
    first: Records
    started: Mask
    damaged: Mask
    unproven: Mask
    alone: Mask
    damage: str

    def texts(self, rows: Index) -> Iterator[str]:
        """Those of some paths."""
        followers = self.subgraph.followers
        places, behind = followers.rows_of(self.first[rows])
        incomplete = _incomplete(self.subgraph)
        for row, place, is_behind in zip(
            rows.tolist(), places.tolist(), behind.tolist(), strict=True
        ):
            unit = UnitId(self.first[row].tobytes())
            if self.unproven[row]:
                yield f"it depends on a unit that may depend on an incomplete one: {unit}"
            elif self.started[row]:
                state = self.damage if self.damaged[row] else incomplete
                yield f"it depends on a unit that is {state}: {unit}"
            elif is_behind:
                space = int(followers.columns()[1]["space"][place])
                table = table_text(self.subgraph.spaces.spaces[space])
                may = f"a unit that changed {table} after a damaged record whose row is not known"
                yield f"it is {may}" if self.alone[row] else f"it depends on {may}: {unit}"
            elif self.alone[row]:
                yield "a record is missing before its change of a row that the log left otherwise"
            else:
                yield f"it depends on a unit before which a record is missing: {unit}"


def _in_words(subgraph: Subgraph, paths: Paths, nodes: Index) -> Iterator[str]:
    """The steps of the path to each of some nodes, each with what leads to it."""
    graph = subgraph.graph
    shown = [paths.shown(node) for node in nodes.tolist()]
    known = np.array(sorted({step for _, steps, _ in shown for step in steps}), np.int64)
    known = known.reshape(-1, 2)
    texts = key_texts(subgraph, graph.first_links(known[:, 0], known[:, 1]))
    said = {
        (one, other): f" -> {text} -> {graph.unit(other)}"
        for (one, other), text in zip(known.tolist(), texts, strict=True)
    }
    for _, steps, more in shown:
        words = [said[step] for step in steps]
        if more:
            words.insert(STEPS_SHOWN, f" -> ({more:,} more steps)")
        yield "".join(words)


def _open_questions(subgraph: Subgraph, units: Records) -> list[str]:
    """What nothing proves of units that are flagged."""
    found = [""] * len(units)
    if not len(units):
        return found
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
    for number in range(int(group.max()) + 1):
        rows = np.flatnonzero(group.reshape(-1) == number)
        rows = rows[np.argsort(change[rows], kind="stable")]
        texts = _asked_alike(subgraph, asked[rows[0]], change[rows])
        for row, text in zip(rows.tolist(), texts, strict=True):
            found[row] = text
    return found


def _asked_alike(subgraph: Subgraph, question: np.void, changes: Index) -> list[str]:
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
    head = f"{flag}: {ASK_WORDS[Ask(int(question['ask']))]}, "
    if use.columns and not is_masked(subgraph, version, use.columns):
        side = "after" if question["after"] else "before"
        values = values_in_words(subgraph, key_space, changes, side, use.columns)
    else:
        same = masked(key_space) if use.columns else without_key(key_space)
        values = [same] * len(changes)
    return [head + value for value in values]


# -- keys in words
# -------------------------------------------------------------------------------------------------
# Keys of changes in words: those of many links at a time, each image looked at once.

#: A key of a change that is in the image before it, and one in that after it.
_SIDES = ("after", "before")


def key_texts(subgraph: Subgraph, links: Records) -> list[str]:
    """The keys of links (:data:`replay.dependencies.links.LINK`), ``table/value`` each, as the
    later change has it, or the table alone for an event of a whole table."""
    batch = subgraph.batch
    target, space = (np.ascontiguousarray(links[name]) for name in ("target", "space"))
    version, kind = batch.version[target], batch.change[target]
    side = links["gone"] | (kind == Change.DELETE)
    # who is of one group has one number
    spaces, versions = len(subgraph.spaces.spaces), len(subgraph.spaces.uses)
    group = ((kind.astype(np.int64) * 2 + side) * spaces + space) * versions + version
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(group[order]) != 0))[: len(group)]
    found = [""] * len(links)
    for rows in np.split(order, starts[1:]) if len(order) else ():
        one = int(rows[0])
        of_space, of_version = subgraph.spaces.spaces[int(space[one])], int(version[one])
        columns = _used_columns(subgraph, of_version, of_space.number)
        same = _said_of_all(subgraph, of_space, of_version, columns)
        changes, place = np.unique(target[rows], return_inverse=True)
        texts = (
            [same] * len(changes)
            if same is not None
            else values_in_words(subgraph, of_space, changes, _SIDES[int(side[one])], columns)
        )
        for row, at in zip(rows.tolist(), place.reshape(-1).tolist(), strict=True):
            found[row] = texts[at]
    return found


def _used_columns(subgraph: Subgraph, version: int, space: int) -> Sequence[str]:
    """The columns of a table version that are the key of a space."""
    uses = subgraph.spaces.uses[version]
    return next((use for use in uses if use.space == space), uses[0]).columns


def _said_of_all(
    subgraph: Subgraph, space: KeySpace, version: int, columns: Sequence[str]
) -> str | None:
    """What is said of all keys of a space and a table version; None where that is their values."""
    if space.kind == "table":
        return table_text(space)
    if space.kind == "image":
        return without_key(space)
    if is_masked(subgraph, version, columns):
        return masked(space)
    return None


def without_key(space: KeySpace) -> str:
    """What is said of a row without a key."""
    return f"{table_text(space)}/(row without key)"


def masked(space: KeySpace) -> str:
    """What is said of a key that is masked."""
    return f"{table_text(space)}/{MASKED_KEY}"


def is_masked(subgraph: Subgraph, version: int, columns: Sequence[str]) -> bool:
    """Whether one of some columns of a table version is masked."""
    name = subgraph.log.catalog.versions[version].name
    return any_masked(subgraph.spaces.masked, name, columns)


def values_in_words(
    subgraph: Subgraph, space: KeySpace, changes: Index, side: str, columns: Sequence[str]
) -> list[str]:
    """``table/value`` of changes of one table version and kind, from the images of one side."""
    write_sets = WriteSets(subgraph.log, subgraph.spaces)
    values = write_sets.values_of_all(subgraph.batch, changes, side, columns)
    table = table_text(space)
    return [f"{table}/{','.join(one)}" for one in values]


def table_text(space: KeySpace) -> str:
    """The name of a key space's table as messages have it."""
    return space.table.partition(".")[2].lower()
