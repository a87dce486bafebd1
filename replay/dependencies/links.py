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

from replay.arrays import Bytes, Index, Mask, Records
from replay.changes import order
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
    Link.ROW: "wrote the row after it",
    Link.KEY: "took the key after it",
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
    counting = images[~_idle(touches[images])]
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


def _idle(touches: Records) -> Mask:
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
