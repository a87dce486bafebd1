"""What the row records of a unit of recovery are together (section 9): updates out of their two images, the order within a statement, and whether the
images of a row follow from each other.

Everything here is about row records in log order, as arrays; ``key`` says which row of its table an image is of (-1: the table has no key, or the
image does not close).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from replay.logs.soliddb.layouts import Rec
from replay.logs.soliddb.rows import same_bytes

Bytes = npt.NDArray[np.uint8]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Images:
    """``n`` row records: RECID, unit, statement, table, version, key, and where the image lies in ``data``."""

    data: Bytes
    recid: Index
    unit: Index
    statement: Index
    table: Index
    version: npt.NDArray[np.int32]
    key: Index
    start: Index
    end: Index

    def __len__(self) -> int:
        return len(self.recid)

    def same(self, one: Index, other: Index) -> Mask:
        """Whether two images are the same bytes of the same version."""
        length = self.end[one] - self.start[one]
        same = (length == self.end[other] - self.start[other]) & (self.version[one] == self.version[other])
        chosen = np.flatnonzero(same)
        same[chosen] = same_bytes(self.data, self.start[one[chosen]], self.data, self.start[other[chosen]], length[chosen])
        return np.asarray(same)


@dataclass
class Changes:
    """Of each row record: ``partner`` (the other image of its update, else itself), ``place`` in the order of changes (the same for both images), and
    what is wrong: ``unpaired``, ``contradicts`` (the record it contradicts, -1 none), ``unclear`` order."""

    partner: Index
    place: Index
    unpaired: Mask
    contradicts: Index
    unclear: Mask


def put_together(images: Images) -> Changes:
    """Pair, order and check row records."""
    count = len(images)
    partner = np.arange(count)
    unpaired = np.zeros(count, bool)
    _pair(images, partner, unpaired)
    place = np.minimum(np.arange(count), partner)
    unclear = np.zeros(count, bool)
    _deletes_first(images, partner, place, unclear)
    return Changes(partner, place, unpaired, _contradictions(images, partner, place), unclear)


def _groups(*keys: Index) -> tuple[Index, Index]:
    """(rows sorted by ``keys`` and then log order, number of each one's group)."""
    order = np.lexsort((np.arange(len(keys[0])), *keys[::-1]))
    new = np.zeros(len(order), bool)
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    return order, np.cumsum(new)


# -- updates (9.1) -------------------------------------------------------------------------------------------------------------------------


def _pair(images: Images, partner: Index, unpaired: Mask) -> None:
    """Both images of each update: neighbours within their statement and table, in the one order or the other; where keys tell otherwise, by key."""
    rows = np.flatnonzero(np.isin(images.recid, (Rec.UPDATE, Rec.BEFORE)))
    if not len(rows):
        return
    order, group = _groups(images.unit[rows], images.statement[rows], images.table[rows])
    rows = rows[order]
    begin = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    size = np.diff(np.append(begin, len(rows)))
    rank = np.arange(len(rows)) - np.repeat(begin, size)
    first = np.flatnonzero((rank % 2 == 0) & (rank + 1 < np.repeat(size, size)))
    one, other = rows[first], rows[first + 1]
    fits = (images.recid[one] == images.recid[rows[np.repeat(begin, size)[first]]]) & (images.recid[one] != images.recid[other])
    fits &= images.key[one] == images.key[other]
    good = size % 2 == 0
    good[group[first[~fits]]] = False
    chosen = good[group[first]]
    partner[one[chosen]], partner[other[chosen]] = other[chosen], one[chosen]
    for number in np.flatnonzero(~good).tolist():
        _pair_by_key(images, rows[begin[number] : begin[number] + size[number]], partner, unpaired)


def _pair_by_key(images: Images, rows: Index, partner: Index, unpaired: Mask) -> None:
    """Images of one key that alternate belong together; those of rows without key cannot be told apart."""
    for key in np.unique(images.key[rows]).tolist():
        mine = rows[images.key[rows] == key]
        kinds = images.recid[mine]
        alternate = len(mine) % 2 == 0 and bool((kinds[0::2] == kinds[0]).all()) and bool((kinds[1::2] != kinds[0]).all())
        if key < 0 or not alternate:
            unpaired[mine] = True
            continue
        partner[mine[0::2]], partner[mine[1::2]] = mine[1::2], mine[0::2]


# -- changed keys (9.2) --------------------------------------------------------------------------------------------------------------------


def _deletes_first(images: Images, partner: Index, place: Index, unclear: Mask) -> None:
    """Statements that move keys onto each other: all their deletes come before their inserts. ``place`` is changed, ``unclear`` set where a statement
    does that and also inserts and deletes one row."""
    rows = np.flatnonzero(np.isin(images.recid, (Rec.INSERT, Rec.DELETE)) & (images.key >= 0))
    if not len(rows):
        return
    order, _ = _groups(images.unit[rows], images.statement[rows], images.table[rows], images.key[rows])
    rows = rows[order]
    one, other = rows[:-1], rows[1:]
    meets = (images.recid[one] == Rec.INSERT) & (images.recid[other] == Rec.DELETE)
    for name in ("unit", "statement", "table", "key"):
        values = getattr(images, name)
        meets &= values[one] == values[other]
    one, other = one[meets], other[meets]
    if not len(one):
        return
    same = images.same(one, other)
    everything, number = _groups(images.unit, images.statement, images.table)
    statement = np.empty(len(images), np.int64)
    statement[everything] = number
    moved, made_and_gone = statement[one[~same]], statement[one[same]]
    mine = np.isin(statement, moved)
    unclear[mine] = np.isin(statement[mine], made_and_gone)
    heads = np.flatnonzero(mine & (partner >= np.arange(len(images))))
    rank = np.select([images.recid[heads] == Rec.DELETE, images.recid[heads] == Rec.INSERT], [0, 2], 1)
    slots = place[heads[np.lexsort((place[heads], statement[heads]))]]
    place[heads[np.lexsort((place[heads], rank, statement[heads]))]] = slots
    place[partner[heads]] = place[heads]


# -- checks (9.3) --------------------------------------------------------------------------------------------------------------------------


def _contradictions(images: Images, partner: Index, place: Index) -> Index:
    """The earlier record of its unit and key that each record contradicts: an insert of a row that is there, a change of one that is gone, an image
    before a change that is not the one after the last."""
    result = np.full(len(images), -1, np.int64)
    keyed = np.flatnonzero(images.key >= 0)
    if not len(keyed):
        return result
    after = images.recid[keyed] == Rec.UPDATE
    order = np.lexsort((after, place[keyed], images.key[keyed], images.table[keyed], images.unit[keyed]))
    rows = keyed[order]
    one, other = rows[:-1], rows[1:]
    same_row = np.ones(len(one), bool)
    for name in ("unit", "table", "key"):
        values = getattr(images, name)
        same_row &= values[one] == values[other]
    within = partner[one] == other
    there = np.isin(images.recid[one], (Rec.INSERT, Rec.UPDATE))
    makes = images.recid[other] == Rec.INSERT
    wrong = same_row & ~within & (there == makes)
    follows = np.flatnonzero(same_row & ~within & there & ~makes & (images.version[one] == images.version[other]))
    wrong[follows] = ~images.same(one[follows], other[follows])
    result[other[wrong]] = one[wrong]
    return result
