"""What the row records of a unit of recovery are together (section 9): updates out of their two
images, the order within a statement, and whether the images of a row follow from each other.

Everything here is about row records in log order, as arrays; ``key`` says which row of its table an
image is of (-1: the table has no key, or the image does not close).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from replay.arrays import Bytes, Index, Mask, Versions
from replay.decoding.codecs import same_bytes
from replay.logs.soliddb.layouts import Rec


@dataclass(frozen=True)
class RowRecords:
    """``n`` row records: RECID, unit, statement, table, version, key, how often the table was
    emptied before (``era``), and where the image lies in ``data``."""

    data: Bytes
    recid: Index
    unit: Index
    statement: Index
    table: Index
    version: Versions
    key: Index
    era: Index
    start: Index
    end: Index

    def __len__(self) -> int:
        return len(self.recid)

    def same(self, one: Index, other: Index) -> Mask:
        """Whether two images are the same bytes of the same version."""
        length = self.end[one] - self.start[one]
        same = (length == self.end[other] - self.start[other]) & (
            self.version[one] == self.version[other]
        )
        chosen = np.flatnonzero(same)
        same[chosen] = same_bytes(
            self.data, self.start[one[chosen]], self.data, self.start[other[chosen]], length[chosen]
        )
        return np.asarray(same)


@dataclass
class PairedChanges:
    """Of each row record: ``recid``, by which a delete and an insert that are a row's new values
    are both images of an update; ``partner`` (the other image of its update, else itself),
    ``place`` in the order of changes (the same for both images), whether it is ``cancelled`` (an
    insert and a delete of one image in one statement), and what is wrong: ``unpaired``,
    ``contradicts`` (the record it contradicts, -1 none).
    """

    recid: Index
    partner: Index
    place: Index
    unpaired: Mask
    contradicts: Index
    cancelled: Mask


def put_together(images: RowRecords) -> PairedChanges:
    """Pair, order and check row records."""
    count, images = len(images), replace(images, recid=images.recid.copy())
    partner = np.arange(count)
    unpaired, cancelled = np.zeros(count, bool), np.zeros(count, bool)
    _pair(images, partner, unpaired)
    place = np.minimum(np.arange(count), partner)
    _settle_statements(images, partner, place, cancelled)
    wrong = _contradictions(images, partner, place, cancelled)
    return PairedChanges(images.recid, partner, place, unpaired, wrong, cancelled)


def ordered(*keys: Index | Mask) -> Index:
    """Rows sorted by ``keys``, the first of them first, and by nothing else."""
    return np.lexsort(keys[::-1])


def _groups(*keys: Index) -> tuple[Index, Index]:
    """(rows sorted by ``keys`` and then log order, number of each one's group)."""
    order = ordered(*keys)
    new = np.zeros(len(order), bool)
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    return order, np.cumsum(new)


# -- updates (9.1)
# -------------------------------------------------------------------------------------------------


def _pair(images: RowRecords, partner: Index, unpaired: Mask) -> None:
    """Both images of each update: neighbours within their statement and table, in the one order or
    the other; where keys tell otherwise, by key."""
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
    fits = (images.recid[one] == images.recid[rows[np.repeat(begin, size)[first]]]) & (
        images.recid[one] != images.recid[other]
    )
    fits &= images.key[one] == images.key[other]
    good = size % 2 == 0
    good[group[first[~fits]]] = False
    chosen = good[group[first]]
    partner[one[chosen]], partner[other[chosen]] = other[chosen], one[chosen]
    for number in np.flatnonzero(~good).tolist():
        _pair_by_key(images, rows[begin[number] : begin[number] + size[number]], partner, unpaired)


def _pair_by_key(images: RowRecords, rows: Index, partner: Index, unpaired: Mask) -> None:
    """Images of one key that alternate belong together; those of rows without key cannot be told
    apart."""
    for key in np.unique(images.key[rows]).tolist():
        mine = rows[images.key[rows] == key]
        kinds = images.recid[mine]
        alternate = (
            len(mine) % 2 == 0
            and bool((kinds[0::2] == kinds[0]).all())
            and bool((kinds[1::2] != kinds[0]).all())
        )
        if key < 0 or not alternate:
            unpaired[mine] = True
            continue
        partner[mine[0::2]], partner[mine[1::2]] = mine[1::2], mine[0::2]


# -- changed keys (9.2)
# -------------------------------------------------------------------------------------------------
#
# Keys are unique at the end of a statement, not between its records: what a statement does to a key
# is the net of them. ``UPDATE T SET K = K + 1`` is D1 I2 D2 I3, and 2 is not free when it is taken.


def _settle_statements(images: RowRecords, partner: Index, place: Index, cancelled: Mask) -> None:
    """Inserts and deletes of one key in one statement. Those of one image cancel out where the
    insert is first, but for statements that move rows to other keys, in which the row stays. A key
    that is there before and after has a row with new values. Where inserts of a key came before its
    deletes, deletes come before inserts. All but what lies in ``data`` may be changed."""
    rows = np.flatnonzero(np.isin(images.recid, (Rec.INSERT, Rec.DELETE)) & (images.key >= 0))
    if not len(rows):
        return
    order, key_of = _groups(
        images.unit[rows], images.statement[rows], images.table[rows], images.key[rows]
    )
    rows = rows[order]
    inserts = images.recid[rows] == Rec.INSERT
    meets = (key_of[1:] == key_of[:-1]) & (inserts[:-1] != inserts[1:])
    both = np.isin(key_of, key_of[1:][meets])
    if not both.any():
        return
    statement = _statements(images)
    moving = _moving(images, statement, rows, key_of)
    crossed = np.isin(key_of, key_of[1:][meets & inserts[:-1]])[both]
    rows, key_of, inserts = rows[both], key_of[both], inserts[both]
    several = np.bincount(key_of) != 2
    plain = np.flatnonzero(inserts & crossed & ~several[key_of])
    one, other = rows[plain], rows[plain + 1]
    same = images.same(one, other)
    stays = same & np.isin(statement[one], moving)
    _become_update(images, partner, place, other[stays], one[stays])
    one, other = one[same & ~stays], other[same & ~stays]
    cancelled[one] = cancelled[other] = True
    for number in np.unique(key_of[several[key_of] & crossed]).tolist():
        _cancel(images, rows[key_of == number], cancelled)
    left = rows[crossed & ~cancelled[rows]]
    if len(left):
        _deletes_first(images, statement, partner, place, cancelled, left)
    _renew(images, statement, partner, place, cancelled, rows[~cancelled[rows]])


def _moving(images: RowRecords, statement: Index, rows: Index, key_of: Index) -> Index:
    """The statements that move rows to other keys, and were not taken back: in the end some keys
    are gone and others are there, or a key has a row with other values. ``rows`` are inserts and
    deletes by statement and key (``key_of``)."""
    size = np.bincount(key_of)[key_of]
    alone = rows[size == 1]
    gone = statement[alone[images.recid[alone] == Rec.DELETE]]
    come = statement[alone[images.recid[alone] == Rec.INSERT]]
    pairs = rows[size == 2]
    others = statement[pairs[0::2][~images.same(pairs[0::2], pairs[1::2])]]
    return np.union1d(np.intersect1d(gone, come), others)


def _cancel(images: RowRecords, rows: Index, cancelled: Mask) -> None:
    """Cancel inserts and deletes of one image, of several of one key in one statement."""
    waiting: dict[bytes, list[int]] = {}
    for row in rows.tolist():
        image = images.data[images.start[row] : images.end[row]].tobytes()
        others = waiting.setdefault(image, [])
        if others and images.recid[others[-1]] != images.recid[row]:
            cancelled[others.pop()] = cancelled[row] = True
        else:
            others.append(row)


def _statements(images: RowRecords) -> Index:
    """A number for each statement and table."""
    order, number = _groups(images.unit, images.statement, images.table)
    statement = np.empty(len(images), np.int64)
    statement[order] = number
    return statement


def _renew(
    images: RowRecords,
    statement: Index,
    partner: Index,
    place: Index,
    cancelled: Mask,
    rows: Index,
) -> None:
    """A delete that is followed by an insert of its key, in one of the statements of ``rows``, is
    an update of what the row with that key holds: what refers to the key is not touched, as the
    statement did not touch it."""
    mine = np.isin(statement, statement[rows]) & (images.key >= 0) & ~cancelled
    heads = np.flatnonzero(mine & (partner >= np.arange(len(images))))
    heads = heads[np.lexsort((place[heads], images.key[heads], statement[heads]))]
    gone, come = heads[:-1], heads[1:]
    fits = (images.recid[gone] == Rec.DELETE) & (images.recid[come] == Rec.INSERT)
    for same in (statement, images.key, images.version):
        fits &= same[gone] == same[come]
    _become_update(images, partner, place, gone[fits], come[fits])


def _become_update(
    images: RowRecords, partner: Index, place: Index, gone: Index, come: Index
) -> None:
    """Deletes and inserts of one key are both images of an update, in the place of the first."""
    images.recid[gone], images.recid[come] = Rec.BEFORE, Rec.UPDATE
    partner[gone], partner[come] = come, gone
    place[gone] = place[come] = np.minimum(place[gone], place[come])


def _deletes_first(
    images: RowRecords,
    statement: Index,
    partner: Index,
    place: Index,
    cancelled: Mask,
    crossed: Index,
) -> None:
    """Of the statements of the records ``crossed``: deletes, then updates, then inserts. Where one
    of them also updates a row that it inserts or deletes, each key by itself, its images in the
    order in which they follow one another."""
    mine = np.isin(statement, statement[crossed]) & ~cancelled
    heads = np.flatnonzero(mine & (partner >= np.arange(len(images))))
    heads = heads[np.lexsort((place[heads], statement[heads]))]
    order, key_of = _groups(statement[heads], images.key[heads])
    by_key = np.empty(len(heads), np.int64)
    by_key[order] = key_of
    kind = images.recid[heads]
    updates = np.bincount(by_key, ~np.isin(kind, (Rec.DELETE, Rec.INSERT)))
    deletes, inserts = (np.bincount(by_key, kind == one) for one in (Rec.DELETE, Rec.INSERT))
    mixed = (deletes > 1) | (inserts > 1) | ((updates > 0) & (deletes + inserts > 0))
    mixed[by_key[images.key[heads] < 0]] = False
    follow = np.isin(statement[heads], statement[heads[mixed[by_key]]])
    simple = heads[~follow]
    rank = np.select(
        [images.recid[simple] == Rec.DELETE, images.recid[simple] == Rec.INSERT], [0, 2], 1
    )
    slots = place[simple]
    place[simple[np.lexsort((slots, rank, statement[simple]))]] = slots
    for one in np.unique(by_key[follow & np.isin(heads, crossed)]).tolist():
        changes = heads[by_key == one]
        slots = np.sort(place[changes])
        place[_following(images, partner, changes)] = slots
    place[partner[heads]] = place[heads]


def _following(images: RowRecords, partner: Index, changes: Index) -> Index:
    """Changes of one key in an order in which each finds the row as the one before left it; as
    they are where there is none."""
    gone = b""

    def image(row: int) -> bytes:
        return images.data[images.start[row] : images.end[row]].tobytes()

    begins: dict[bytes, list[int]] = {}
    surplus: dict[bytes, int] = {}
    ends: dict[int, bytes] = {}
    for change in changes.tolist():
        row, recid = change, images.recid[change]
        before, after = gone, gone
        if recid == Rec.INSERT:
            after = image(row)
        elif recid == Rec.DELETE:
            before = image(row)
        else:
            pair = (row, int(partner[row]))
            first, last = pair if recid == Rec.BEFORE else pair[::-1]
            before, after = image(first), image(last)
        begins.setdefault(before, []).append(change)
        ends[change] = after
        surplus[before] = surplus.get(before, 0) + 1
        surplus[after] = surplus.get(after, 0) - 1
    starts = [state for state, count in surplus.items() if count > 0]
    state = starts[0] if starts else next(iter(begins))
    way: list[int] = []
    stack: list[tuple[bytes, int]] = [(state, -1)]
    while stack:  # Hierholzer's walk over all changes
        here = begins.get(stack[-1][0])
        if here:
            change = here.pop(0)
            stack.append((ends[change], change))
        else:
            way.append(stack.pop()[1])
    ordered = np.array(way[::-1][1:], np.int64)
    return ordered if len(ordered) == len(changes) else changes


# -- checks (9.3)
# -------------------------------------------------------------------------------------------------


def _contradictions(images: RowRecords, partner: Index, place: Index, cancelled: Mask) -> Index:
    """The earlier record of its unit and key that each record contradicts: an insert of a row that
    is there, a change of one that is gone, an image before a change that is not the one after the
    last; a change of a row that was there before its table was emptied. Those that cancel out are
    not looked at."""
    result = np.full(len(images), -1, np.int64)
    keyed = np.flatnonzero((images.key >= 0) & ~cancelled)
    if not len(keyed):
        return result
    after = images.recid[keyed] == Rec.UPDATE
    order = ordered(images.unit[keyed], images.table[keyed], images.key[keyed], place[keyed], after)
    rows = keyed[order]
    one, other = rows[:-1], rows[1:]
    same_row = np.ones(len(one), bool)
    for name in ("unit", "table", "key"):
        values = getattr(images, name)
        same_row &= values[one] == values[other]
    within = partner[one] == other
    there = np.isin(images.recid[one], (Rec.INSERT, Rec.UPDATE))
    makes = images.recid[other] == Rec.INSERT
    there &= images.era[one] == images.era[other]
    wrong = same_row & ~within & (there == makes)
    follows = np.flatnonzero(
        same_row & ~within & there & ~makes & (images.version[one] == images.version[other])
    )
    wrong[follows] = ~images.same(one[follows], other[follows])
    result[other[wrong]] = one[wrong]
    return result
