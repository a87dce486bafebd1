"""The links between the changes of a question, of any number of them.

Touches come from the tasks that collect the changes (those of changes in segments are taken here,
some at a time) and wait in files, those of one key in one part; a part is sorted and linked in
memory, and the links wait in files likewise until they are sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.dependencies.forms import form_links
from replay.dependencies.links import (
    LINK,
    Link,
    Links,
    column_links,
    joined,
    links,
    others,
    touch_order,
)
from replay.dependencies.passes import change_places
from replay.dependencies.write_sets import TOUCH, ChangeBatch, KeyRole, WriteSets
from replay.spill import PARTS, Growing, in_parts, spilled

#: Changes whose touches are taken together, and links that are sorted together.
TOGETHER = 1 << 18


@dataclass
class ChangeLinks:
    """Finds the links between the changes of ``batch``. ``known`` are touches of those that are in
    one piece, numbered by :func:`replay.dependencies.passes.change_places`; ``rows`` as in
    :func:`replay.dependencies.links.links`; ``masks``: with which columns changed and written of
    each update (:meth:`replay.dependencies.write_sets.WriteSets.column_masks`) the versions of rows
    are linked, None: whatever the columns. ``chains`` are then those whatever the columns, along
    rows and keys. OSError where there is no room for files."""

    write_sets: WriteSets
    batch: ChangeBatch
    known: Records
    rows: Mask
    masks: tuple[Mapping[int, int], Mapping[int, int]] | None = None
    chains: list[Links] = field(default_factory=list)

    def sorted(self) -> Records:
        """The links (:data:`replay.dependencies.links.LINK`) by target, source, kind, space, and
        whether the key is gone."""
        count = len(self.batch.head)
        parts = min(-(-count // TOGETHER) or 1, PARTS)
        whole = Growing(LINK)
        for linked in in_parts(
            self._links(parts), lambda some: some["target"] * parts // count, parts, LINK
        ):
            names = ("gone", "space", "kind", "source", "target")
            opened = np.ascontiguousarray(linked).view(f"V{LINK.itemsize}")
            rising = np.lexsort([np.ascontiguousarray(linked[name]) for name in names])
            whole.add(opened[rising].view(LINK))
        return whole.array()

    def _links(self, parts: int) -> Iterator[Records]:
        for touches in in_parts(self._touches(), lambda some: _part(some, parts), parts, TOUCH):
            if len(touches):
                opened = touches.view(f"V{TOUCH.itemsize}")
                yield self._linked(opened[touch_order(touches)].view(TOUCH))

    def _touches(self) -> Iterator[Records]:
        """Those that are known, and those of changes in segments; each change has all of its own
        together."""
        places = change_places(self.batch.records[self.batch.head])
        order = spilled(np.argsort(places, kind="stable"))
        places = spilled(places[order])
        for low in range(0, len(self.known) if len(places) else 0, TOGETHER):
            touches = self.known[low : low + TOGETHER]
            wanted = np.ascontiguousarray(touches["change"])
            place = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
            there = places[place] == wanted  # not those that damage put among segments
            touches = np.ascontiguousarray(touches).view(f"V{TOUCH.itemsize}")[there].view(TOUCH)
            touches["change"] = order[place[there]]
            yield touches
        cut = np.flatnonzero(self.batch.records["segments"][self.batch.head] > 1)
        for low in range(0, len(cut), TOGETHER):
            rows = cut[low : low + TOGETHER]
            touches = self.write_sets.touches(self.batch.part(rows)).copy()
            touches["change"] = rows[touches["change"]]
            yield touches

    def _linked(self, touches: Records) -> Records:
        """The links among sorted touches."""
        between = joined([links(touches, self.rows), form_links(touches)])
        change = np.ascontiguousarray(touches["change"])
        if self.masks is not None:
            chain = np.isin(between.kind, (Link.ROW, Link.KEY))
            self.chains.append(
                Links(
                    change[between.source[chain]],
                    change[between.target[chain]],
                    between.kind[chain],
                )
            )
            by_column = column_links(touches, self.rows, *self.masks)
            between = joined([others(between, Link.ROW), by_column])
        linked = np.zeros(len(between.kind), LINK)
        linked["source"], linked["target"] = change[between.source], change[between.target]
        linked["kind"], linked["space"] = between.kind, touches["space"][between.target]
        linked["gone"] = np.isin(
            touches["role"][between.target], (KeyRole.DESTROY, KeyRole.RELEASE)
        )
        return linked


def _part(touches: Records, parts: int) -> Index:
    """The part of each of some touches, by its key."""
    key = np.ascontiguousarray(touches["key"]) >> np.uint64(32)
    return (key % np.uint64(parts)).astype(np.int64)
