"""Hashes of byte ranges, of values as Db2 compares them, and of units of recovery.

64 bits each; two with different seeds make the 96 bits that tell keys apart."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Hashes, Index
from replay.changes.position import UnitId
from replay.changes.units import unit_column
from replay.decoding.codecs import gather_padded
from sqlgen.schema import SqlType

_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SEEDS = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)
_NULL = np.uint64(0xA4093822299F31D0)
TEXT = (SqlType.CHAR, SqlType.VARCHAR)


def mixed(values: Hashes) -> Hashes:
    """The finaliser of splitmix64: a bijection that spreads every input bit over the word."""
    word = values + _MIX[0]
    shifted = word >> np.uint64(30)  # in place from here on: many values take many pages
    word ^= shifted
    word *= _MIX[1]
    np.right_shift(word, np.uint64(27), out=shifted)
    word ^= shifted
    word *= _MIX[2]
    np.right_shift(word, np.uint64(31), out=shifted)
    word ^= shifted
    return word


def hash_ranges(buffer: Bytes, start: Index, end: Index, seed: int = 0) -> Hashes:
    """A 64-bit hash of each byte range: the sum of its mixed 8-byte words (the last may overlap the
    one before) and of its length."""
    length = end - start
    result = mixed(length.astype(np.uint64) ^ _SEEDS[seed])
    long = np.flatnonzero(length >= 8)
    short = np.flatnonzero(length < 8)
    if len(short):
        words = gather_padded(buffer, start[short], length[short], 8).view(np.uint64).reshape(-1)
        result[short] += mixed(words ^ _SEEDS[seed])
    if len(long):
        count = (length[long] + 7) >> 3
        first = np.cumsum(count) - count
        place = np.arange(int(count.sum())) - np.repeat(first, count)
        at = np.repeat(start[long], count) + np.minimum(
            place << 3, np.repeat(length[long] - 8, count)
        )
        windows: Hashes = np.ndarray((len(buffer) - 7,), np.uint64, buffer, 0, (1,))
        words = mixed(windows[at] ^ mixed(place.astype(np.uint64) ^ _SEEDS[seed]))
        result[long] += np.add.reduceat(words, first)
    return mixed(result)


def hash_rows(rows: Bytes, seed: int = 0) -> Hashes:
    """:func:`hash_ranges` of rows of 8 bytes or more (``uint8[n, size]``), which need not be
    looked for one by one."""
    size = rows.shape[1]
    total = np.zeros(len(rows), np.uint64)
    for place in range((size + 7) >> 3):
        at = min(place << 3, size - 8)
        words = np.ascontiguousarray(rows[:, at : at + 8]).view(np.uint64).reshape(-1)
        total += mixed(words ^ mixed(np.array([place], np.uint64) ^ _SEEDS[seed]))
    return mixed(total + mixed(np.array([size], np.uint64) ^ _SEEDS[seed]))


def hash_values(values: pa.Array, kind: SqlType, seed: int = 0) -> Hashes:
    """A hash of each value of a column (value contract: :mod:`sqlgen.schema`) that is the same for
    values Db2 compares as equal."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    if pa.types.is_integer(values.type):
        numbers = np.asarray(values.fill_null(0)).astype(np.int64).view(np.uint64)
        hashes = mixed(numbers ^ _SEEDS[seed])
    elif pa.types.is_floating(values.type):
        numbers = (np.asarray(values.fill_null(0)).astype(np.float64) + 0.0).view(np.uint64)
        hashes = mixed(numbers ^ _SEEDS[seed])
    else:
        hashes = _hash_text(values, kind, seed)
    if values.null_count:
        hashes = np.where(np.asarray(values.is_null()), _NULL, hashes)
    return hashes


def hash_exactly(values: pa.Array, kind: SqlType) -> Hashes:
    """A hash of each value of a column that tells apart what Db2 compares as equal: blanks at the
    end of text, and the sign of a zero."""
    if pa.types.is_floating(values.type):
        bits = np.asarray(values.fill_null(0)).astype(np.float64).view(np.int64)
        return hash_values(pa.array(bits, mask=np.asarray(values.is_null())), SqlType.BIGINT)
    return hash_values(values, SqlType.VARBINARY if kind in TEXT else kind)


def hash_texts(values: pa.Array, seed: int = 0) -> Hashes:
    """A hash of each text (or binary value), by its bytes; NULL has one of its own."""
    hashes = _hash_octets(values, seed)
    if values.null_count:
        hashes = np.where(np.asarray(values.is_null()), _NULL, hashes)
    return hashes


def name_hash(name: str) -> np.uint64:
    """A hash of a name."""
    return np.uint64(hash_texts(pa.array([name]))[0])


def _hash_text(values: pa.Array, kind: SqlType, seed: int) -> Hashes:
    if kind in TEXT:
        values = pc.utf8_rtrim(values, " ")
    elif kind in (SqlType.DECIMAL, SqlType.TIMESTAMP):
        fraction = pc.match_substring(values, ".")
        values = pc.if_else(fraction, pc.utf8_rtrim(pc.utf8_rtrim(values, "0"), "."), values)
    return _hash_octets(values, seed)


def _hash_octets(values: pa.Array, seed: int) -> Hashes:
    wide = values.cast(pa.large_binary())
    offsets = np.frombuffer(wide.buffers()[1], np.int64)[wide.offset : wide.offset + len(wide) + 1]
    data = np.frombuffer(wide.buffers()[2] or b"", np.uint8)
    return hash_ranges(data, offsets[:-1], offsets[1:], seed)


def unit_hash(units: Bytes) -> Hashes:
    """A 64-bit hash of each unit (``uint8[n, 12]``)."""
    return hash_rows(units)


def unit_hashes(units: Iterable[UnitId]) -> Hashes:
    """:func:`unit_hash` of some units, ``uint64[n]``, rising."""
    return np.sort(unit_hash(unit_column(units).view(np.uint8).reshape(-1, 12)))
