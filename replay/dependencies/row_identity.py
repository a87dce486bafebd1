"""Hashes of row images that are the same where the rows are: bytes that are no part of a value
(under a null, behind the end of a text, in the header of a row that moved) do not count, and +1 as
packed X'1C' is +1 as X'1F'."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from replay.arrays import Hashes, Index, Mask
from replay.changes.catalog import TableVersion
from replay.decoding import codecs
from replay.decoding.hashes import TEXT, hash_ranges, hash_values, mixed
from replay.decoding.images import ImageWalk
from replay.errors import InputError
from replay.logs import NullTelling, Walk
from sqlgen.schema import SqlType


def row_hashes(walk: Walk, version: TableVersion, rows: Index, of_bytes: Hashes) -> Hashes:
    """A hash of each of the images ``rows`` of a walk (``uint64[m]``); ``of_bytes`` are those of
    their bytes. Of tables without a key, whose rows are told by it, it is made of the
    values alone; of others only where a value is null, because that takes decoding them all. Text
    counts with the blanks at its end."""
    hashes = of_bytes.copy()
    if version.table.key and isinstance(walk, ImageWalk):
        _plus_alike(walk, rows, hashes)
    by_value = _any_null(walk, version, rows) if version.table.key else np.ones(len(rows), bool)
    chosen = np.flatnonzero(by_value)
    if len(chosen):
        try:
            hashes[chosen] = _of_values(walk, version, rows[chosen])
        except InputError:  # a character set that nobody knows: the bytes are all there is
            return hashes
    return hashes


def _plus_alike(walk: ImageWalk, rows: Index, hashes: Hashes) -> None:
    """Put the hash of an image with packed decimals of sign F to what it is with sign C."""
    ends = [
        walk.at(index)[rows] + length - 1
        for index, column in enumerate(walk.format.columns)
        if column.column.type is SqlType.DECIMAL and not column.raw
        if isinstance(length := walk.length[index], int) and length
    ]
    odd = np.zeros(len(rows), bool)
    for end in ends:
        odd |= walk.buffer[end] & 0x0F == 0x0F
    chosen = np.flatnonzero(odd)
    if not len(chosen):
        return
    start, stop = walk.start[rows[chosen]], walk.end[rows[chosen]]
    data, offsets = codecs.gather_varying(walk.buffer, start, stop - start)
    for end in ends:
        place = end[chosen] - start + offsets[:-1]
        signs = data[place]
        data[place] = np.where(signs & 0x0F == 0x0F, signs - 3, signs)
    hashes[chosen] = hash_ranges(data, offsets[:-1], offsets[1:])


def spelled_anew(walks: Mapping[str, Walk], columns: int, rows: Index, alike: Mask) -> Mask:
    """Which updates write a value in other bytes (a packed decimal with another sign that is plus,
    too), among those whose values are ``alike`` (both and the result ``bool[m]``): their statements
    are written as any others. ``rows``: which of the images of the two walks, with so many
    ``columns``."""
    if not alike.any():
        return alike
    before, after = walks["before"], walks["after"]
    differs = np.zeros(len(rows), bool)
    for index in range(columns):
        differs |= ~before.equal(after, index)[rows]
    return alike & differs


def _any_null(walk: Walk, version: TableVersion, rows: Index) -> Mask:
    missing = np.zeros(len(rows), bool)
    telling = walk if isinstance(walk, NullTelling) else None
    for index in range(len(version.format.columns)):
        if telling is not None:
            null = telling.nulls(index)
            if null is not None:
                missing |= null[rows]
        elif version.format.columns[index].nullable:
            missing |= np.asarray(walk.decode(index, rows)[0].is_null())
    return missing


def _of_values(walk: Walk, version: TableVersion, rows: Index) -> Hashes:
    hashes = np.zeros(len(rows), np.uint64)
    for index, column in enumerate(version.format.columns):
        values, _ = walk.decode(index, rows)
        kind = SqlType.VARBINARY if column.column.type in TEXT else column.column.type
        hashes = mixed(hashes) ^ hash_values(values, kind, 0)
    return mixed(hashes)
