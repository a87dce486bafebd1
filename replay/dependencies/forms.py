"""Dependencies across the forms of a table.

A generation of a table may tell its rows by other values than the one before: by another key, or by
the whole row in another layout. Which row of the one is which row of the other cannot be known, so
whoever touches the table in one form builds on all who touched it before in another form. Rows of
generations that share their key are followed one by one (:mod:`replay.dependencies.graph`), and
the edges here are the only coarse ones beside those of events of a whole table.
"""

from __future__ import annotations

import numpy as np

from replay.arrays import Hashes, Index, Records
from replay.changes.envelope import octets
from replay.decoding.hashes import mixed, unit_hash
from replay.dependencies.links import (
    Link,
    Links,
)
from replay.dependencies.write_sets import KeyRole

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
    """The edges between units for :class:`replay.dependencies.graph.Edges`, 16 octets each: every
    unit of a run leads to a knot between this run and the next one of the table, and from there to
    the units of the next run and to its knot, so that their number grows as the touches do."""
    place, run, space = _runs(touches)
    follows = np.append(space[1:] == space[:-1], False)
    if not follows.any():
        return b""
    unit = unit_hash(octets(np.ascontiguousarray(touches["unit"])[place]))
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
