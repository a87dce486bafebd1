"""A first look at the values of a log: which row each image is of, and what a user should know of
its text and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pyarrow.compute as pc

from replay.arrays import Index
from replay.changes.catalog import ColumnFormat, TableVersion
from replay.decoding import codecs
from replay.decoding.hashes import hash_ranges, mixed
from replay.errors import InputError, Where, counted
from replay.logs.soliddb import layouts
from replay.logs.soliddb.layouts import InternalType
from replay.logs.soliddb.rows import Cells, SolidRowWalk, years
from replay.spill import Spill
from sqlgen.schema import SqlType

#: Values of wide text needed to judge its byte order, and the share of characters that decides.
_ENOUGH, _MOST = 20, 0.9
#: Two hashes of each key, and what stands for a null in one.
_SEEDS, _NULL = (0, 1), np.uint64(0xA4093822299F31D0)
#: The highest signed value of the types of which higher ones are let through.
_SIGNED = {"TINYINT": 127, "SMALLINT": 32_767}


#: What is said of a number of values, where there are some ({}: the type of their column).
_NOTES = {
    "doubles": "of REAL with more digits than single precision; the nearest single is taken",
    "above": "above the signed range of {}",
    "time": "of {} with a time of day, which is not looked at",
    "date": "of {} with a date, which is not looked at",
    "cut": "as long as one of which only the beginning is logged; compare one with the table",
}


class Keys:
    """Which row each image is of: two images of a table are of the same one when their key columns
    hold the same bytes, which hashes of 128 bits tell. ``count``: rows of the log."""

    def __init__(self, arrays: Spill, count: int) -> None:
        self.hashes = tuple(arrays.zeros(count, np.uint64) for _ in _SEEDS)
        self.known = arrays.zeros(count, bool)
        #: How many key columns the versions of a table have.
        self.widths: dict[int, set[int]] = {}

    def add(self, table: int, rows: Index, images: SolidRowWalk, version: TableVersion) -> None:
        """Images of a table version, and the rows of the log that hold them."""
        good = np.flatnonzero(~images.bad)
        if not version.table.key or not len(good):
            return
        chosen = rows[good]
        self.widths.setdefault(table, set()).add(len(version.table.key))
        self.known[chosen] = True
        for name in version.table.key:
            cells = images.columns[version.index_of(name)]
            null, length = cells.null[good], cells.length[good]
            place = np.where(null, 0, cells.place[good])
            for seed, hashes in zip(_SEEDS, self.hashes, strict=True):
                value = hash_ranges(images.buffer, place, place + length, seed)
                value = np.where(null, _NULL, value)
                hashes[chosen] = mixed(hashes[chosen] ^ value)

    def codes(self, rows: Index, table: Index) -> Index:
        """A number for each of some images, of tables ``table``, which is the same for those of one
        row of a table; -1 without key."""
        without = [one for one, widths in self.widths.items() if len(widths) > 1]
        codes = np.full(len(rows), -1, np.int64)
        mine = np.flatnonzero(self.known[rows] & ~np.isin(table, without))
        one, other = (hashes[rows[mine]] for hashes in self.hashes)
        order = np.argsort(one)
        new = np.append(False, one[order[1:]] != one[order[:-1]])[: len(order)]
        more = np.append(False, other[order[1:]] != other[order[:-1]])[: len(order)]
        if (more & ~new).any():  # the same first hash of two keys: it is the second that tells
            order = np.lexsort((other, one))
            new[1:] = one[order[1:]] != one[order[:-1]]
            new[1:] |= other[order[1:]] != other[order[:-1]]
        codes[mine[order]] = np.cumsum(new)
        return codes


@dataclass
class ValueNotes:
    """What of the values of a table version is to be told: ``counts`` by column and what it is,
    and the ``first`` row of the log in which a column has wide text."""

    counts: Counter[tuple[int, str]] = field(default_factory=Counter)
    first: dict[int, int] = field(default_factory=dict)

    def add(self, other: ValueNotes) -> None:
        """Take those of images that come behind."""
        self.counts.update(other.counts)
        for column, row in other.first.items():
            self.first.setdefault(column, row)


def look_at(
    images: SolidRowWalk,
    version: TableVersion,
    where: Callable[[int, str | None], Where],
    rows: Index,
    named: bool,
) -> ValueNotes:
    """Look at the values of images, which are in ``rows``. ``named``: the user named the character
    set. InputError LR2015 where text is not of the character set and nobody named it."""
    notes = ValueNotes()
    for number, (column, cells) in enumerate(
        zip(images.format.columns, images.columns, strict=True)
    ):
        kind = InternalType[column.subtype]
        there = np.flatnonzero(~images.bad & ~cells.null)
        found: dict[str, int] = {}
        if kind is InternalType.CHAR and not named:
            name = f"{version.name}.{column.column.name}"
            _check_text(images, number, there, where, rows, name)
        elif kind is InternalType.UNICODE:
            filled = there[cells.length[there] > 0]
            if len(filled):
                found = _octets_of(images, cells, filled)
                notes.first[number] = int(rows[filled[0]])
        elif kind is InternalType.DATE:
            found = _unused(images, column, cells, there)
        elif column.column.type is SqlType.REAL:
            found = {"doubles": _doubles(images, number, cells, there)}
        elif column.code in _SIGNED:
            values, _ = images.decode(number, there)
            above = pc.sum(pc.greater(values, _SIGNED[column.code])).as_py()
            found = {"above": int(above or 0)}
        if column.column.type in (SqlType.CLOB, SqlType.BLOB):
            found["cut"] = int(np.isin(cells.length[there], layouts.CUT_LENGTHS).sum())
        notes.counts.update({(number, what): count for what, count in found.items() if count})
    return notes


def words_of(
    notes: ValueNotes, version: TableVersion, where: Callable[[int, str | None], Where]
) -> list[str]:
    """Warnings about the values of a table version. InputError LR2015 where wide text seems to be
    LSB first."""
    texts = []
    for number, column in enumerate(version.format.columns):
        name, of = f"{version.name}.{column.column.name}", notes.counts
        if of[number, "wide"] >= _ENOUGH:
            _check_order(notes, number, where, name)
        for what, text in _NOTES.items():
            if of[number, what]:
                values = counted(of[number, what], "value")
                texts.append(f"{name}: {values} {text.format(column.code)}")
        if of[number, "zeros"] and of[number, "biased"]:
            texts.append(
                f"{name}: zeros only in {counted(of[number, 'zeros'], 'value')}, where others have"
                " the year's bias; taken as 00:00:00, and may be none"
            )
    return texts


def _check_text(
    images: SolidRowWalk,
    number: int,
    there: Index,
    where: Callable[[int, str | None], Where],
    rows: Index,
    name: str,
) -> None:
    _, bad = images.decode(number, there)
    if bad is None:
        return
    row = int(there[np.flatnonzero(bad)[0]])
    text, _ = images.explain(number, row)
    hint = (
        "Name the database's character set: --log-option charset=latin-1, or char_encoding in the"
        " manifest"
    )
    raise InputError(
        "LR2015",
        f"found {text}; expected UTF-8, because no other character set is named",
        where(int(rows[row]), name),
        hint,
    )


def _octets_of(images: SolidRowWalk, cells: Cells, filled: Index) -> dict[str, int]:
    """How many values of wide text there are, and characters of them that are like Latin ones with
    or without their bytes swapped."""
    data, _ = codecs.gather_varying(images.buffer, cells.place[filled], cells.length[filled])
    high, low = data[0::2], data[1::2]
    return {
        "wide": len(filled), "characters": len(high), "latin": int((high == 0).sum()),
        "swapped": int(((low == 0) & (high[: len(low)] > 31)).sum()),
    }  # fmt: skip


def _check_order(
    notes: ValueNotes, number: int, where: Callable[[int, str | None], Where], name: str
) -> None:
    """Wide text that is Latin when read LSB first, and is not when read as it must be."""
    of = notes.counts
    characters = of[number, "characters"]
    latin, swapped = of[number, "latin"] / characters, of[number, "swapped"] / characters
    if swapped > _MOST and latin < 1 - _MOST:
        message = (
            "found wide text that reads as Latin letters with its bytes swapped; expected UTF-16"
            " MSB first"
        )
        raise InputError(
            "LR2015",
            message,
            where(notes.first[number], name),
            "Export the log without swapping bytes; report it if nothing swaps them",
        )


def _doubles(images: SolidRowWalk, number: int, cells: Cells, there: Index) -> int:
    """A REAL is logged as a double; how many have more digits than single precision has."""
    wide = there[cells.length[there] == 8]
    values, bad = images.decode(number, wide)
    near = pc.fill_null(values, 0).to_numpy(zero_copy_only=False)
    logged = (
        codecs.gather_padded(images.buffer, cells.place[wide], cells.length[wide], 8)
        .view(">f8")
        .reshape(-1)
    )
    differ = (near != logged) & (near.astype(str).astype(np.float64) != logged)
    return int((differ if bad is None else differ & ~bad).sum())


def _unused(
    images: SolidRowWalk, column: ColumnFormat, cells: Cells, there: Index
) -> dict[str, int]:
    kind = column.column.type
    if kind not in (SqlType.DATE, SqlType.TIME):
        return {}
    block = codecs.gather_padded(images.buffer, cells.place[there], cells.length[there], 11)
    hour = layouts.MOMENT["hour"][0]
    if kind is SqlType.DATE:
        return {"time": int(block[:, hour:].any(axis=1).sum())}
    return {
        "date": int((block[:, 2:hour].any(axis=1) | (years(block) > 0)).sum()),
        "zeros": int((~block.any(axis=1)).sum()), "biased": int((block[:, 0] > 0).sum()),
    }  # fmt: skip
