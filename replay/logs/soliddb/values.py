"""A first look at the values of a log: which row each image is of, and what a user should know of
its text and times."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow.compute as pc

from replay.arrays import Index
from replay.changes.catalog import ColumnFormat, TableVersion
from replay.decoding import codecs
from replay.decoding.hashes import hash_ranges, mixed
from replay.errors import InputError, Where
from replay.logs.long_arrays import LongArrays
from replay.logs.soliddb import layouts
from replay.logs.soliddb.layouts import InternalType
from replay.logs.soliddb.rows import Cells, SolidRowWalk, years
from sqlgen.schema import SqlType

#: Values of wide text needed to judge its byte order, and the share of characters that decides.
_ENOUGH, _MOST = 20, 0.9
#: Two hashes of each key, and what stands for a null in one.
_SEEDS, _NULL = (0, 1), np.uint64(0xA4093822299F31D0)
#: The highest signed value of the types of which higher ones are let through.
_SIGNED = {"TINYINT": 127, "SMALLINT": 32_767}


class Keys:
    """Which row each image is of: two images of a table are of the same one when their key columns
    hold the same bytes, which hashes of 128 bits tell. ``count``: rows of the log."""

    def __init__(self, arrays: LongArrays, count: int) -> None:
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
        order = np.lexsort((other, one))
        new = np.zeros(len(order), bool)
        for hashes in (one[order], other[order]):
            new[1:] |= hashes[1:] != hashes[:-1]
        codes[mine[order]] = np.cumsum(new)
        return codes


def look_at(
    images: SolidRowWalk,
    version: TableVersion,
    where: Callable[[int, str | None], Where],
    rows: Index,
    named: bool,
) -> list[str]:
    """Warnings about the values of images. ``named``: the user named the character set.

    InputError LR2015 where text is not of the character set and nobody named it, or wide text seems
    to be LSB first.
    """
    warnings = []
    for number, (column, cells) in enumerate(
        zip(images.format.columns, images.columns, strict=True)
    ):
        kind = InternalType[column.subtype]
        there = np.flatnonzero(~images.bad & ~cells.null)
        name = f"{version.name}.{column.column.name}"
        if kind is InternalType.CHAR and not named:
            _check_text(images, number, there, where, rows, name)
        elif kind is InternalType.UNICODE:
            _check_order(images, cells, there, where, rows, name)
        elif kind is InternalType.DATE:
            warnings += _unused(images, column, cells, there, name)
        elif column.column.type is SqlType.REAL:
            warnings += _doubles(images, number, cells, there, name)
        elif column.code in _SIGNED:
            values, _ = images.decode(number, there)
            count = pc.sum(pc.greater(values, _SIGNED[column.code])).as_py()
            warnings += (
                [f"{name}: {count} value(s) are above the signed range of {column.code}"]
                if count
                else []
            )
        if column.column.type in (SqlType.CLOB, SqlType.BLOB):
            cut = np.isin(cells.length[there], layouts.CUT_LENGTHS).sum()
            warnings += (
                [
                    f"{name}: {cut} value(s) are as long as one of which only the beginning is"
                    " logged; compare one with the table"
                ]
                if cut
                else []
            )
    return warnings


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


def _check_order(
    images: SolidRowWalk,
    cells: Cells,
    there: Index,
    where: Callable[[int, str | None], Where],
    rows: Index,
    name: str,
) -> None:
    """Wide text that is Latin when read LSB first, and is not when read as it must be."""
    filled = there[cells.length[there] > 0]
    if len(filled) < _ENOUGH:
        return
    data, _ = codecs.gather_varying(images.buffer, cells.place[filled], cells.length[filled])
    high, low = data[0::2], data[1::2]
    if ((low == 0) & (high > 31)).mean() > _MOST and (high == 0).mean() < 1 - _MOST:
        message = (
            "found wide text that reads as Latin letters with its bytes swapped; expected UTF-16"
            " MSB first"
        )
        raise InputError(
            "LR2015",
            message,
            where(int(rows[filled[0]]), name),
            "Export the log without swapping bytes; report it if nothing swaps them",
        )


def _doubles(images: SolidRowWalk, number: int, cells: Cells, there: Index, name: str) -> list[str]:
    """A REAL is logged as a double; one with more digits than single precision has is told."""
    wide = there[cells.length[there] == 8]
    values, bad = images.decode(number, wide)
    near = pc.fill_null(values, 0).to_numpy(zero_copy_only=False)
    logged = (
        codecs.gather_padded(images.buffer, cells.place[wide], cells.length[wide], 8)
        .view(">f8")
        .reshape(-1)
    )
    differ = (near != logged) & (near.astype(str).astype(np.float64) != logged)
    count = int((differ if bad is None else differ & ~bad).sum())
    return (
        [
            f"{name}: {count} value(s) of REAL have more digits than single precision; the nearest"
            " single is taken"
        ]
        if count
        else []
    )


def _unused(
    images: SolidRowWalk, column: ColumnFormat, cells: Cells, there: Index, name: str
) -> list[str]:
    kind = column.column.type
    if kind not in (SqlType.DATE, SqlType.TIME):
        return []
    block = codecs.gather_padded(images.buffer, cells.place[there], cells.length[there], 11)
    hour = layouts.MOMENT["hour"][0]
    count = int(
        (
            block[:, hour:].any(axis=1)
            if kind is SqlType.DATE
            else block[:, 2:hour].any(axis=1) | (years(block) > 0)
        ).sum()
    )
    what = "a time of day" if kind is SqlType.DATE else "a date"
    signs = (
        [f"{name}: {count} value(s) of {column.code} hold {what} as well, which is not looked at"]
        if count
        else []
    )
    zero = int((~block.any(axis=1)).sum())
    if kind is SqlType.TIME and zero and (block[:, 0] > 0).any():
        signs.append(
            f"{name}: {zero} value(s) have zeros only, where others have the year's bias; they are"
            " taken as 00:00:00 and may be none"
        )
    return signs
