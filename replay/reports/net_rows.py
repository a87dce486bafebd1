"""What a stretch of a log did to the rows of a table in the end: the row of each key before and
after it.

The order of changes inside of a unit of recovery does not count, because keys may shift within one
statement (1 to 2 and 2 to 3, in any order): images that a key had in between balance, and what is
left over is where the unit found the key and where it leaves it. A key of which nothing is left
over is as it was, if the first that the unit says of it is what it found there. Between units every
row must be as the unit before left it; where it is not, that is a contradiction, and no state is
made up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Index, Mask
from sqlgen.statements import one_array

#: Contradictions that are named.
_NAMED = 5


@dataclass
class NetRows:
    """Rows of one table by key: ``keys`` (texts), ``begin`` and ``end`` (structs, null where there
    is no row), ``begin_text`` and ``end_text`` (the images as texts), ``any`` image of the key."""

    keys: pa.Array
    begin: pa.Array
    end: pa.Array
    begin_text: pa.Array
    end_text: pa.Array
    any: pa.Array

    def __len__(self) -> int:
        return len(self.keys)


@dataclass
class NetChange:
    """The net change of a stretch of the log to one table, part by part. ``emptied``: all rows that
    were there before went in one go; ``contradictions`` name keys whose images do not follow one
    another. ``keyed``: rows have a key; else only what they hold tells them apart. ``ids_part``:
    two places are two rows (:attr:`replay.logs.LogFile.ids_part`)."""

    keyed: bool
    parts: list[NetRows] = field(default_factory=list)
    lost: list[NetRows] = field(default_factory=list)
    emptied: bool = False
    contradictions: list[str] = field(default_factory=list)
    ids_part: bool = True

    def add(self, rows: pa.Table) -> None:
        """Take the next changes in commit order: a table with ``commit_lrsn``, ``urid``,
        ``member``, ``op``, ``rid``, the images ``before`` and ``after`` of one type, their texts
        ``image_before`` and ``image_after``, and the texts of their keys ``key_before`` and
        ``key_after``."""
        gone = np.flatnonzero(pc.equal(rows["op"], "truncate").to_numpy(zero_copy_only=False))
        start = 0
        for stop in [*gone.tolist(), len(rows)]:
            part = rows.slice(start, stop - start)
            if len(part):
                self.parts.append(_net_of(part, self.keyed, self.contradictions, self.ids_part))
            if stop < len(rows):
                self.empty()
            start = stop + 1

    def empty(self) -> None:
        """All rows that are there go in one go."""
        if not self.emptied:
            self.lost = self.parts
        self.emptied, self.parts = True, []

    def rows(self) -> NetRows | None:
        """The net rows of all parts (after the last time that the table was emptied)."""
        return _joined(self.parts, self.keyed, self.contradictions)

    def rows_before(self) -> NetRows | None:
        """The net rows up to where the table was emptied first, or of all parts."""
        return _joined(self.lost if self.emptied else self.parts, self.keyed, self.contradictions)


def _units(rows: pa.Table) -> Index:
    """The number of the unit of each change."""
    new = np.zeros(len(rows), bool)
    for name in ("commit_lrsn", "urid", "member"):
        codes = pc.fill_null(one_array(rows[name]).dictionary_encode().indices, -1)
        values = codes.to_numpy(zero_copy_only=False)
        new[1:] |= values[1:] != values[:-1]
    return np.cumsum(new)


def _codes(texts: pa.Array) -> Index:
    indices = texts.dictionary_encode().indices
    return np.asarray(indices.to_numpy(zero_copy_only=False), np.int64)


def _net_of(rows: pa.Table, keyed: bool, wrong: list[str], ids_part: bool) -> NetRows:
    before, after = (one_array(rows[name]) for name in ("before", "after"))
    texts = {
        name: one_array(rows[name])
        for name in ("key_before", "key_after", "image_before", "image_after")
    }
    unit = _units(rows)
    turn = 2 * np.arange(len(rows))
    images = texts["image_before"], texts["image_after"]
    placed, found, left = _by_place(rows, unit, *images, ids_part)
    texts["image_before"] = pc.if_else(pa.array(found), texts["image_before"], None)
    texts["image_after"] = pc.if_else(pa.array(left), texts["image_after"], None)
    return _balance(
        (texts["key_before"], texts["image_before"], before, unit, np.where(placed, -1, turn)),
        (texts["key_after"], texts["image_after"], after, unit, turn + 1),
        keyed,
        wrong,
    )


def _by_place(
    rows: pa.Table, unit: Index, before: pa.Array, after: pa.Array, ids_part: bool
) -> tuple[Mask, Mask, Mask]:
    """Of each change: whether the places of rows (RIDs) say what its unit found and left, and
    whether its images are of that. They say it where all rows of the unit have one, each is found
    as the change before left it, and none may have moved (``ids_part``): is found at one place as
    another one was left before that. A row keeps its place within a unit, not for ever."""
    rid = _codes(pc.fill_null(one_array(rows["rid"]), 0))
    there = [
        np.flatnonzero(side.is_valid().to_numpy(zero_copy_only=False)) for side in (before, after)
    ]
    image = _codes(pa.concat_arrays([before, after]).drop_null())
    change = np.concatenate(there)
    come = np.repeat([False, True], [len(side) for side in there])
    order = np.lexsort([2 * change + come, rid[change], unit[change]])
    change, come, image = change[order], come[order], image[order]
    same = (unit[change[1:]] == unit[change[:-1]]) & (rid[change[1:]] == rid[change[:-1]])
    wrong = same & (come[1:] == come[:-1])
    wrong |= same & come[:-1] & (image[1:] != image[:-1])
    torn = unit[change[1:][wrong]]
    first, last = np.append(True, ~same) & ~come, np.append(~same, True) & come
    if not ids_part and len(change):
        state = unit[change] * (int(image.max()) + 1) + image
        state = np.unique(state, return_inverse=True)[1]
        soonest = np.full(len(state), len(rows))
        np.minimum.at(soonest, state[last], change[last])
        torn = np.append(torn, unit[change[first][soonest[state[first]] < change[first]]])
    nowhere = unit[rows["rid"].is_null().to_numpy()]
    placed = ~np.isin(unit, np.concatenate([torn, nowhere]))
    found, left = ~placed, ~placed
    found[change[first]] = True
    left[change[last]] = True
    return placed, found, left


#: Texts of keys and images, images, the number of the unit, and the order of mentions.
Side = tuple[pa.Array, pa.Array, pa.Array, Index, Index]


def _balance(gone: Side, come: Side, keyed: bool, wrong: list[str]) -> NetRows:
    """Rows that go and come: the net rows."""
    there = [
        np.flatnonzero(side[1].is_valid().to_numpy(zero_copy_only=False)) for side in (gone, come)
    ]
    keys = pa.concat_arrays(
        [side[0].take(pa.array(rows)) for side, rows in zip((gone, come), there, strict=True)]
    )
    images = pa.concat_arrays(
        [side[1].take(pa.array(rows)) for side, rows in zip((gone, come), there, strict=True)]
    )
    structs = pa.concat_arrays(
        [side[2].take(pa.array(rows)) for side, rows in zip((gone, come), there, strict=True)]
    )
    unit, turn = (
        np.concatenate([side[at][rows] for side, rows in zip((gone, come), there, strict=True)])
        for at in (3, 4)
    )
    sign = np.repeat(np.array([-1, 1]), [len(rows) for rows in there])
    key, image = _codes(keys), _codes(images)
    if not keyed:
        return _counted(images, structs, image, sign, np.lexsort([turn, unit, image]))
    order = np.lexsort([image, unit, key])
    head = _heads(key[order], unit[order], image[order])
    total = np.add.reduceat(sign[order], head) if len(head) else sign
    left = np.flatnonzero(total)
    place, total = order[head][left], total[left]
    same = _unchanged(key, unit, sign, turn, place)
    place = np.concatenate([place, same, same])
    total = np.concatenate([total, np.full(len(same), -1), np.full(len(same), 1)])
    again = np.lexsort([unit[place], key[place]])
    place, total = place[again], total[again]
    key, unit, image = key[place], unit[place], image[place]
    if len(total) and (np.abs(total) > 1).any():
        _blame(wrong, keys, place[np.abs(total) > 1], "is there twice within a unit")
    visit = _heads(key, unit)
    begin = _pick(visit, total < 0, len(key), wrong, keys, place, "is found in two states")
    end = _pick(visit, total > 0, len(key), wrong, keys, place, "is left in two states")
    key = key[visit]
    follows = np.zeros(len(key), bool)
    follows[1:] = key[1:] == key[:-1]
    at_begin = np.where(begin >= 0, image[np.maximum(begin, 0)], -1) if len(image) else begin
    leaves = np.where(end >= 0, image[np.maximum(end, 0)], -1) if len(image) else end
    torn = np.flatnonzero(follows)[at_begin[follows] != leaves[:-1][follows[1:]]]
    _blame(wrong, keys, place[visit[torn]], "is not as the unit before left it")
    first = np.flatnonzero(~follows)
    last = np.append(first[1:], len(key)) - 1 if len(first) else first
    return NetRows(
        keys.take(pa.array(place[visit[first]])),
        _take(structs, place, begin[first]),
        _take(structs, place, end[last]),
        _take(images, place, begin[first]),
        _take(images, place, end[last]),
        structs.take(pa.array(place[visit[first]])),
    )


def _unchanged(key: Index, unit: Index, sign: Index, turn: Index, left: Index) -> Index:
    """The first mention of each key in each unit that found it and leaves it as it was: none of
    those that are ``left`` over is of the two. ``turn``: the order of mentions."""
    order = np.lexsort([turn, unit, key])
    first = order[_heads(key[order], unit[order])] if len(order) else order
    first = first[sign[first] < 0]
    both = key * (int(unit.max(initial=0)) + 1) + unit
    return np.asarray(first[~np.isin(both[first], both[left])])


def _heads(*columns: Index) -> Index:
    """Where runs of equal values begin."""
    new = np.ones(len(columns[0]), bool)
    new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(new)


def _pick(
    visit: Index, mask: Mask, count: int, wrong: list[str], keys: pa.Array, place: Index, what: str
) -> Index:
    """Of each run that begins at ``visit``, the one place where ``mask`` is set; -1 for none."""
    if not count:
        return np.zeros(0, np.int64)
    number = np.add.reduceat(mask.astype(np.int64), visit)
    _blame(wrong, keys, place[visit[number > 1]], what)
    at = np.where(mask, np.arange(count), -1)
    return np.asarray(np.maximum.reduceat(at, visit), np.int64)


def _blame(wrong: list[str], keys: pa.Array, places: Index, what: str) -> None:
    wrong += [f"{keys[int(place)].as_py()} {what}" for place in places[:_NAMED]]
    wrong += ["…"] * (len(places) > _NAMED)


def _take(values: pa.Array, place: Index, rows: Index) -> pa.Array:
    """``values[place[rows]]``, null where a row is -1."""
    if not len(place):
        return pa.nulls(len(rows), values.type)
    at = pa.array(place[np.maximum(rows, 0)], mask=rows < 0)
    return values.take(at)


def _counted(
    images: pa.Array, structs: pa.Array, image: Index, sign: Index, order: Index
) -> NetRows:
    """Rows without a key: of each content as many as must have been there when it is first found,
    and as many as are there in the end. ``order``: by content, and then as they go and come."""
    image, sign = image[order], sign[order]
    head = _heads(image)[: len(image)]
    run = np.cumsum(np.isin(np.arange(len(image)), head)) - 1
    total = np.bincount(run, sign, len(head)).astype(np.int64)
    lacking = -np.cumsum(sign) + (np.cumsum(total) - total)[run]
    begin = np.maximum(np.maximum.reduceat(lacking, head) if len(head) else head, 0)
    count = np.maximum(begin, begin + total)
    rows = np.repeat(order[head], count)
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    at = pa.array(rows)
    found = pa.array(rows, mask=rank >= np.repeat(begin, count))
    left = pa.array(rows, mask=rank >= np.repeat(begin + total, count))
    return NetRows(
        images.take(at),
        structs.take(found),
        structs.take(left),
        images.take(found),
        images.take(left),
        structs.take(at),
    )


def _joined(parts: list[NetRows], keyed: bool, wrong: list[str]) -> NetRows | None:
    if len(parts) <= 1:
        return parts[0] if parts else None
    number = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    turn = 2 * np.arange(len(number))
    gone = (
        pa.concat_arrays([part.keys for part in parts]),
        pa.concat_arrays([part.begin_text for part in parts]),
        pa.concat_arrays([part.begin for part in parts]),
        number,
        turn,
    )
    come = (
        gone[0],
        pa.concat_arrays([part.end_text for part in parts]),
        pa.concat_arrays([part.end for part in parts]),
        number,
        turn + 1,
    )
    return _balance(gone, come, keyed, wrong)
