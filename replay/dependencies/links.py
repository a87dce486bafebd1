"""Links between changes, found on sorted arrays of touches: why one change needs another.

A change builds on another one: it wrote a row or key that the other wrote before, its row refers to
a parent that the other inserted, it deleted a parent whose child the other deleted, or one of the
two emptied the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Hashes, Index, Mask, Records
from replay.changes import order
from replay.changes.envelope import as_bytes
from replay.decoding.hashes import mixed, unit_hash
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.write_sets import KeyRole


class Link(IntEnum):
    """Why one touch needs another: the same row, the same key value, a child its parent, a parent's
    delete its children's, the whole table. FORM: the table had another form then, so that rows
    cannot be told."""

    ROW = 1
    KEY = 2
    PARENT = 3
    CHILD = 4
    TABLE = 5
    FORM = 6


#: One link between two changes, given by their places in a batch. ``gone``: the key is in the
#: target's before image.
LINK = np.dtype(
    [("source", "<i8"), ("target", "<i8"), ("kind", "u1"), ("space", "<i8"), ("gone", "?")]
)

LINK_WORDS = {
    Link.ROW: "later changed the same row",
    Link.KEY: "later used the same key",
    Link.PARENT: "refers to the row it inserted",
    Link.CHILD: "deleted the parent of the row it deleted",
    Link.TABLE: "touched the table after or before it was emptied",
    Link.FORM: "touched the table after its form changed",
}


@dataclass(frozen=True)
class Links:
    """Links between touches of one sorted array: ``source`` and ``target`` are places in it,
    ``kind`` a :class:`Link`."""

    source: Index
    target: Index
    kind: Bytes


def touch_order(touches: Records) -> Index:
    """The order by key space, key, and then commit order."""
    names = [*_word_columns(touches, ("commit", "unit", "position"))]
    keys = [np.ascontiguousarray(touches[name]) for name in ("space", "key", "check")]
    return np.lexsort([np.ascontiguousarray(touches["change"]), *reversed([*keys, *names])])


def _word_columns(touches: Records, names: Sequence[str]) -> Iterable[npt.NDArray[Any]]:
    for name in names:
        yield from order.words(touches[name])


def links(touches: Records, row_spaces: Mask) -> Links:
    """The links in touches that stand in :func:`touch_order`. ``row_spaces`` says per key space
    whether it is a row identity without table events. Updates whose values stay the same count for
    nothing."""
    count = len(touches)
    if count == 0:
        return Links(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8))
    role, space = (np.ascontiguousarray(touches[name]) for name in ("role", "space"))
    place = np.arange(count, dtype=np.int64)
    begins = np.ones(count, bool)
    begins[1:] = space[1:] != space[:-1]
    for name in ("key", "check"):
        column = np.ascontiguousarray(touches[name])
        begins[1:] |= column[1:] != column[:-1]
    start = np.maximum.accumulate(np.where(begins, place, 0))
    parts: list[tuple[Index, Index, Link]] = []
    images = np.flatnonzero(role <= KeyRole.DESTROY)
    counting = images[~idle_updates(touches[images])]
    previous, following = _neighbours(counting, start)
    is_row = row_spaces[space[following]]
    parts.append((previous[is_row], following[is_row], Link.ROW))
    parts.append((previous[~is_row], following[~is_row], Link.KEY))
    parts += _nearest(role, start, KeyRole.CREATE, KeyRole.REFER, Link.PARENT, False)
    parts += _nearest(role, start, KeyRole.DESTROY, KeyRole.RELEASE, Link.CHILD, True)
    parts += _nearest(role, start, KeyRole.EVENT, KeyRole.MEMBER, Link.TABLE, False)
    parts += _nearest(role, start, KeyRole.EVENT, KeyRole.MEMBER, Link.TABLE, True)
    events = np.flatnonzero(role == KeyRole.EVENT)
    same = start[events[:-1]] == start[events[1:]]
    parts.append((events[:-1][same], events[1:][same], Link.TABLE))
    return joined(
        [
            Links(source, target, np.full(len(source), kind, np.uint8))
            for source, target, kind in parts
        ]
    )


def _neighbours(places: Index, start: Index) -> tuple[Index, Index]:
    """(previous, following): neighbours among ``places`` that are of one key."""
    same = start[places[:-1]] == start[places[1:]]
    return places[:-1][same], places[1:][same]


def idle_updates(touches: Records) -> Mask:
    """Updates that change nothing: nobody builds on them, and they build on nobody."""
    return np.asarray(
        (touches["role"] == KeyRole.CHANGE)
        & (touches["version"] >= 0)
        & (touches["before"] == touches["after"])
    )


def _nearest(
    role: Bytes, start: Index, anchor: KeyRole, other: KeyRole, kind: Link, ahead: bool
) -> list[tuple[Index, Index, Link]]:
    """Links from the last ``anchor`` before each ``other`` of the same key; with ``ahead`` from
    each ``other`` to the next ``anchor``."""
    place = np.arange(len(role), dtype=np.int64)
    rows = np.flatnonzero(role == other)
    anchors = np.flatnonzero(role == anchor)
    if not len(rows) or not len(anchors):
        return []
    at = np.searchsorted(anchors, rows) - (0 if ahead else 1)
    there = (at >= 0) & (at < len(anchors))
    rows, near = rows[there], anchors[at[there]]
    same = start[near] == start[rows]
    rows, near = place[rows[same]], near[same]
    return [(rows, near, kind)] if ahead else [(near, rows, kind)]


def column_links(
    touches: Records,
    rows: Mask,
    changed: Mapping[int, int],
    written: Mapping[int, int],
) -> Links:
    """Links of row version chains by column: an update is linked to the last change of each column
    it changed, an insert or delete to the last change of any. ``touches`` stand in
    :func:`touch_order`; ``changed``: change -> bit mask of the columns an update changed;
    ``written``: those of them that statements name.

    Each column's chain is whole, so everything that builds on a change can be reached from it, and
    updates of other columns cannot. An update of columns that no statement names builds on the
    insert of its row alone, which is taken back as a whole.
    """
    sources, targets = [], []
    last: dict[int, int] = {}
    whole, group = -1, None
    names = ("space", "key", "check", "role", "change")
    for place, (space, key, check, role, change) in enumerate(
        zip(*(touches[name].tolist() for name in names), strict=True)
    ):
        if not rows[space] or role > KeyRole.DESTROY:
            continue
        if (space, key, check) != group:
            group, last, whole = (space, key, check), {}, -1
        mask = written[change] if role == KeyRole.CHANGE else _EVERY_COLUMN
        if not mask:
            if changed[change] and whole >= 0:
                sources.append(whole)
                targets.append(place)
            continue
        before = [other for other, bits in last.items() if bits & mask]
        for other in before or [whole] * (whole >= 0):
            sources.append(other)
            targets.append(place)
        if role == KeyRole.CHANGE:
            last = {other: bits & ~mask for other, bits in last.items() if bits & ~mask}
            last[place] = mask
        else:
            last, whole = {place: _EVERY_COLUMN}, place
    return Links(
        np.array(sources, np.int64),
        np.array(targets, np.int64),
        np.full(len(targets), Link.ROW, np.uint8),
    )


#: A bit mask with every bit set.
_EVERY_COLUMN = -1


def others(between: Links, kind: Link) -> Links:
    """The links that are not of a kind."""
    kept = between.kind != kind
    return Links(between.source[kept], between.target[kept], between.kind[kept])


def joined(parts: Sequence[Links]) -> Links:
    """Several links as one."""
    return Links(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("source", "target", "kind")
        )
    )


def row_spaces(spaces: KeySpaces, evented: Iterable[int]) -> Mask:
    """Per key space: whether it is a row identity whose versions can be followed (a declared key,
    in a table that was never emptied)."""
    kinds = spaces.kinds
    emptied = np.isin(kinds.table, list(evented))
    return kinds.listed & ~emptied if len(emptied) else np.zeros(1, bool)


# -- across the forms of a table
# -------------------------------------------------------------------------------------------------
# Dependencies across the forms of a table.
#
# A generation of a table may tell its rows by other values than the one before: by another key, or
# by the whole row in another layout. Which row of the one is which row of the other cannot be
# known, so whoever touches the table in one form builds on all who touched it before in another
# form. Rows of generations that share their key are followed one by one
# (:mod:`replay.dependencies.graph`), and the edges here are the only coarse ones beside those of
# events of a whole table.

#: Up to how many links each change is tied to each one in another form. Beyond that, all are tied
#: through the first change in the later form, which then seems to be built on by more than it is.
_PAIRS = 1_000_000


def _runs(touches: Records) -> tuple[Index, Index, Index]:
    """(places of the touches of role FORM, the number of the run of one form that each is in, the
    key space of each run); ``touches`` stand in :func:`replay.dependencies.links.touch_order`."""
    place = np.flatnonzero(np.ascontiguousarray(touches["role"]) == KeyRole.FORM)
    space = np.ascontiguousarray(touches["space"])[place].astype(np.int64)
    form = np.ascontiguousarray(touches["version"])[place]
    begins = np.ones(len(place), bool)
    begins[1:] = (space[1:] != space[:-1]) | (form[1:] != form[:-1])
    return place, np.cumsum(begins) - 1, space[begins]


def form_edges(touches: Records) -> bytes:
    """The edges between units for :class:`replay.dependencies.graph.Edges`, 16 bytes each: every
    unit of a run leads to a knot between this run and the next one of the table, and from there to
    the units of the next run and to its knot, so that their number grows as the touches do."""
    place, run, space = _runs(touches)
    follows = np.append(space[1:] == space[:-1], False)
    if not follows.any():
        return b""
    unit = unit_hash(as_bytes(np.ascontiguousarray(touches["unit"])[place]))
    number = np.arange(len(space), dtype=np.uint64)
    knot: Hashes = mixed((space.astype(np.uint64) << np.uint64(40)) ^ number ^ _KNOT)
    into = follows[run]
    preceded = np.append(False, follows[:-1])
    out = preceded[run]
    chained = np.flatnonzero(follows & preceded)
    pairs = np.concatenate(
        [
            np.stack([unit[into], knot[run[into]]], axis=1),
            np.stack([knot[run[out] - 1], unit[out]], axis=1),
            np.stack([knot[chained - 1], knot[chained]], axis=1),
        ]
    )
    return bytes(np.unique(np.ascontiguousarray(pairs).view("V16").reshape(-1)).tobytes())


_KNOT = np.uint64(0x6A09_E667_F3BC_C908)


def form_links(touches: Records) -> Links:
    """The links between changes: each is tied to all before it of other runs of the same table."""
    place, run, space = _runs(touches)
    sources, targets = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number in np.unique(space):
        first, last = np.searchsorted(space[run], [number, number + 1])
        members, of_run = place[first:last], run[first:last]
        starts = np.flatnonzero(np.append(True, of_run[1:] != of_run[:-1]))
        if len(starts) < 2:
            continue
        earlier = np.repeat(starts, np.diff(np.append(starts, len(members))))
        if int(earlier.sum()) <= _PAIRS:
            target = np.repeat(np.arange(len(members)), earlier)
            source = np.arange(len(target)) - np.repeat(np.cumsum(earlier) - earlier, earlier)
        else:
            source, target = _through_first(starts, len(members))
        sources.append(members[source])
        targets.append(members[target])
    joined = np.concatenate(targets)
    return Links(np.concatenate(sources), joined, np.full(len(joined), Link.FORM, np.uint8))


def _through_first(starts: Index, count: int) -> tuple[Index, Index]:
    """(source, target): all of a run to the first of the next, and that one to the others of its
    run."""
    every = np.arange(count)
    run = np.searchsorted(starts, every, "right") - 1
    before_last = every[run < len(starts) - 1]
    within = every[(run > 0) & (every != starts[run])]
    return (
        np.concatenate([before_last, starts[run[within]]]),
        np.concatenate([starts[run[before_last] + 1], within]),
    )
