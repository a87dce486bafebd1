"""A first look at the values of a log: which row each image is of, and what a user should know of
its text and times."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Index
from replay.changes.catalog import ColumnFormat, TableVersion
from replay.decoding import codecs
from replay.errors import InputError, Where
from replay.logs.soliddb import layouts
from replay.logs.soliddb.layouts import InternalType
from replay.logs.soliddb.rows import Cells, SolidRowWalk, years
from sqlgen.schema import SqlType

#: Values of wide text needed to judge its byte order, and the share of characters that decides.
_ENOUGH, _MOST = 20, 0.9
#: The highest signed value of the types of which higher ones are let through.
_SIGNED = {"TINYINT": 127, "SMALLINT": 32_767}


class Keys:
    """Index for rows: two images of a table have the same one when their key columns hold the same
    bytes."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.parts: dict[int, list[tuple[Index, list[pa.Array]]]] = {}

    def add(self, table: int, place: Index, images: SolidRowWalk, version: TableVersion) -> None:
        """Images of a table version; ``place`` says which of all images they are."""
        good = np.flatnonzero(~images.bad)
        if not version.table.key or not len(good):
            return
        columns = []
        for name in version.table.key:
            cells = images.columns[version.index_of(name)]
            data, offsets = codecs.gather_varying(
                images.buffer, np.where(cells.null, 0, cells.place)[good], cells.length[good]
            )
            columns.append(
                codecs.binary_values(
                    data, offsets, cells.null[good] if cells.null[good].any() else None
                )
            )
        self.parts.setdefault(table, []).append((place[good], columns))

    def codes(self) -> Index:
        """The number of each image, unique among those of its table; -1 without key."""
        codes = np.full(self.count, -1, np.int64)
        for parts in self.parts.values():
            place = np.concatenate([rows for rows, _ in parts])
            widths = {len(columns) for _, columns in parts}
            if len(widths) > 1:
                continue
            columns = [
                pa.chunked_array([each[number] for _, each in parts]).combine_chunks()
                for number in range(widths.pop())
            ]
            encoded = [
                pc.fill_null(column.dictionary_encode().indices, -1).to_numpy(zero_copy_only=False)
                for column in columns
            ]
            codes[place] = np.unique(np.stack(encoded, axis=1), axis=0, return_inverse=True)[
                1
            ].reshape(-1)
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
