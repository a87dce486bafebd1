"""Bytes of a code page <-> UTF-8, for whole columns: code points are looked up in the tables of
:mod:`replay.decoding.code_pages` and written as UTF-8, for all values of a column at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask
from replay.decoding.code_pages import (
    SHIFT_IN,
    SHIFT_OUT,
    UNDEFINED,
    Charset,
    Points,
    charset_of,
    icu,
    table,
)


def decode(charset: Charset, data: Bytes, offsets: Index) -> tuple[Bytes, Index, Mask | None]:
    """UTF-8 of ``n`` values lying in ``data`` between ``offsets`` (``n + 1``): bytes, offsets, and
    which values cannot be decoded.

    What stands at an undecodable value is unspecified (but valid UTF-8 only after the caller has
    made it null).
    """
    return _DECODERS[charset.kind](charset, data, offsets)


def encode(text: str, ccsid: int) -> bytes:
    """The bytes of ``text``; ``ValueError`` when a character is not in the set. The inverse of
    :func:`decode`."""
    charset = charset_of(ccsid)
    if charset.kind == "utf8":
        return text.encode("utf-8")
    if charset.kind == "utf16":
        return text.encode("utf-16-be")
    if charset.kind == "library":
        return bytes(icu().UnicodeString(text).encode(charset.codec))
    return _encode_by_table(charset, text)


def _utf8(narrow: Bytes, wide: Index, points: Points, offsets: Index) -> tuple[Bytes, Index]:
    """UTF-8 of one character per element of ``narrow``: ASCII as it stands, except at ``wide``
    where ``points`` says what is there."""
    if not len(wide):
        return narrow, offsets
    extra = 1 + (points >= 0x800).astype(np.int64) + (points >= 0x10000)
    grown = np.zeros(len(wide) + 1, np.int64)
    np.cumsum(extra, out=grown[1:])
    lead = wide + grown[:-1]
    first = np.ones(len(narrow) + int(grown[-1]), bool)
    for place in (1, 2, 3):
        first[lead[extra >= place] + place] = False
    out = np.empty(len(first), np.uint8)
    out[first] = narrow
    for count, mark in ((1, 0xC0), (2, 0xE0), (3, 0xF0)):
        rows = np.flatnonzero(extra == count)
        at, value = lead[rows], points[rows]
        out[at] = mark | (value >> np.uint32(6 * count))
        for place in range(1, count + 1):
            out[at + place] = 0x80 | ((value >> np.uint32(6 * (count - place))) & 0x3F)
    return out, offsets + grown[np.searchsorted(wide, offsets)]


def _rows_of(places: Index, offsets: Index, count: int) -> Mask:
    """Which of ``count`` values hold one of these places."""
    mask = np.zeros(count, bool)
    mask[np.searchsorted(offsets, places, side="right") - 1] = True
    return mask


def _finish(
    narrow: Bytes, wide: Index, points: Points, offsets: Index, bad: Mask | None = None
) -> tuple[Bytes, Index, Mask | None]:
    """As :func:`_utf8`; undefined characters make their value bad."""
    wrong = points == UNDEFINED
    if wrong.any():
        rows = _rows_of(wide[wrong], offsets, len(offsets) - 1)
        bad = rows if bad is None else bad | rows
        points = np.where(wrong, np.uint32(0xFFFD), points)
    return *_utf8(narrow, wide, points, offsets), bad


def _finish_points(
    points: Points, offsets: Index, bad: Mask | None
) -> tuple[Bytes, Index, Mask | None]:
    """:func:`_finish` where every character is given as a code point."""
    wide = np.flatnonzero(points >= 0x80)
    return _finish(points.astype(np.uint8), wide, points[wide], offsets, bad)


@cache
def _narrow(ccsid: int) -> bytes:
    """The table as bytes for ``bytes.translate``: ASCII characters, X'FF' for anything else."""
    points = charset_of(ccsid).single
    return (
        bytes(int(point) if point < 0x80 else 0xFF for point in points)
        if points is not None
        else b""
    )


def _decode_single(
    charset: Charset, data: Bytes, offsets: Index
) -> tuple[Bytes, Index, Mask | None]:
    narrow = np.frombuffer(data.tobytes().translate(_narrow(charset.ccsid)), np.uint8)
    if not len(narrow) or int(narrow.max()) < 0x80:
        return narrow, offsets, None
    wide = np.flatnonzero(narrow >= 0x80)
    return _finish(narrow, wide, table(charset.single)[data[wide]], offsets)


def _decode_utf8(charset: Charset, data: Bytes, offsets: Index) -> tuple[Bytes, Index, Mask | None]:
    if not len(data) or int(data.max()) < 0x80:
        return data, offsets, None
    offsets = offsets.astype(np.int64)
    values = pa.Array.from_buffers(
        pa.large_binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )
    try:
        values.cast(pa.large_string())
        return data, offsets, None
    except pa.ArrowInvalid:
        bad = np.zeros(len(offsets) - 1, bool)
    view = memoryview(data.tobytes())
    for row in np.flatnonzero(_rows_of(np.flatnonzero(data >= 0x80), offsets, len(bad))).tolist():
        try:
            str(view[offsets[row] : offsets[row + 1]], "utf-8")
        except UnicodeDecodeError:
            bad[row] = True
    return data, offsets, bad if bad.any() else None


def _decode_utf16(
    charset: Charset, data: Bytes, offsets: Index
) -> tuple[Bytes, Index, Mask | None]:
    data, offsets, bad = _even(data, offsets)
    units = data.view(">u2").astype(np.uint32)
    offsets = offsets // 2
    high = np.flatnonzero((units & 0xFC00) == 0xD800)
    low = (units & 0xFC00) == 0xDC00
    if not len(high) and not low.any():
        return _finish_points(units, offsets, bad)
    end_of_row = np.zeros(len(units) + 1, bool)
    end_of_row[offsets] = True
    paired = high[(high + 1 < len(units))]
    paired = paired[low[paired + 1] & ~end_of_row[paired + 1]]
    points = np.where((units & 0xF800) == 0xD800, np.uint32(UNDEFINED), units)
    points[paired] = (
        0x10000 + ((units[paired] & 0x3FF) << np.uint32(10)) + (units[paired + 1] & 0x3FF)
    )
    keep = np.ones(len(units), bool)
    keep[paired + 1] = False
    return _finish_points(*_kept(points, keep, offsets), bad)


def _decode_double(
    charset: Charset, data: Bytes, offsets: Index
) -> tuple[Bytes, Index, Mask | None]:
    data, offsets, bad = _even(data, offsets)
    codes = data.view(">u2").astype(np.int64)
    points, offsets = _with_second(charset, codes, table(charset.double)[codes], offsets // 2)
    return _finish_points(points, offsets, bad)


def _decode_mixed(
    charset: Charset, data: Bytes, offsets: Index
) -> tuple[Bytes, Index, Mask | None]:
    shifts = np.flatnonzero((data == SHIFT_OUT) | (data == SHIFT_IN))
    if not len(shifts):
        return _decode_single(charset, data, offsets)
    row = np.searchsorted(offsets, shifts, side="right") - 1
    rank = np.arange(len(shifts)) - np.searchsorted(shifts, offsets[:-1])[row]
    bad = np.zeros(len(offsets) - 1, bool)
    bad[row[(data[shifts] == SHIFT_OUT) != (rank % 2 == 0)]] = True  # not in turn
    bad |= np.bincount(row, minlength=len(bad)) % 2 == 1  # no shift-in at the end
    fine = shifts[~bad[row]]
    out, back = fine[0::2], fine[1::2]
    odd = (back - out) % 2 == 0
    bad[np.searchsorted(offsets, out[odd], side="right") - 1] = True
    pairs = (back - out - 1) // 2
    turn = np.zeros(len(data) + 1, np.int8)
    turn[out] += 1
    turn[back + 1] -= 1
    keep = np.cumsum(turn[:-1], dtype=np.int8) == 0
    lead = np.repeat(out + 1 - 2 * (np.cumsum(pairs) - pairs), pairs) + 2 * np.arange(
        int(pairs.sum())
    )
    keep[lead] = True
    codes = np.zeros(len(data), np.int64)
    codes[lead] = data[lead].astype(np.int64) << 8 | data[lead + 1]
    points = table(charset.single)[data]
    points[lead] = table(charset.double)[codes[lead]]
    kept, offsets = _kept(points, keep, offsets)
    kept, offsets = _with_second(charset, codes[keep], kept, offsets)
    return _finish_points(kept, offsets, bad if bad.any() else None)


def _decode_library(
    charset: Charset, data: Bytes, offsets: Index
) -> tuple[Bytes, Index, Mask | None]:
    """Value by value: only for ASCII double-byte sets, which Db2 for z/OS tables hardly ever
    have."""
    library = icu()
    bad = np.zeros(len(offsets) - 1, bool)
    raw, values = data.tobytes(), []
    for row in range(len(bad)):
        text = b""
        try:
            text = str(
                library.UnicodeString(raw[offsets[row] : offsets[row + 1]], charset.codec)
            ).encode("utf-8")
        except (library.ICUError, ValueError):
            bad[row] = True
        values.append(text)
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    return (
        np.frombuffer(b"".join(values), np.uint8),
        np.concatenate([[0], np.cumsum(lengths)]),
        bad if bad.any() else None,
    )


_Decoder = Callable[[Charset, Bytes, Index], tuple[Bytes, Index, "Mask | None"]]
_DECODERS: dict[str, _Decoder] = {
    "single": _decode_single,
    "mixed": _decode_mixed,
    "double": _decode_double,
    "utf8": _decode_utf8,
    "utf16": _decode_utf16,
    "library": _decode_library,
}


def _even(data: Bytes, offsets: Index) -> tuple[Bytes, Index, Mask | None]:
    """Values of two-byte characters, contiguous; odd ones are bad and lose their last byte."""
    odd = np.diff(offsets) % 2 == 1
    if not odd.any():
        return np.ascontiguousarray(data[: offsets[-1]]), offsets, None
    keep = np.ones(len(data), bool)
    keep[offsets[1:][odd] - 1] = False
    return data[keep], offsets - np.concatenate([[0], np.cumsum(odd)]), odd


def _kept(points: Points, keep: Mask, offsets: Index) -> tuple[Points, Index]:
    """Only the points marked, with the offsets that follow from it."""
    before = np.zeros(len(keep) + 1, np.int64)
    np.cumsum(keep, out=before[1:])
    return points[keep], before[offsets]


def _with_second(
    charset: Charset, codes: Index, points: Points, offsets: Index
) -> tuple[Points, Index]:
    """Add the second code point of the double-byte characters that have one."""
    twice = (
        np.isin(codes, np.fromiter(charset.second, np.int64, len(charset.second)))
        if charset.second
        else None
    )
    if twice is None or not twice.any():
        return points, offsets
    count = 1 + twice
    begin = np.concatenate([[0], np.cumsum(count)])
    wide = np.repeat(points, count)
    wide[begin[:-1][twice] + 1] = [charset.second[code] for code in codes[twice].tolist()]
    return wide, begin[offsets]


@cache
def _reverse(ccsid: int) -> tuple[dict[str, int], dict[str, int]]:
    charset = charset_of(ccsid)
    single: dict[str, int] = {}
    double: dict[str, int] = {}
    for points, codes in ((charset.single, single), (charset.double, double)):
        if points is not None:
            for code in np.flatnonzero(points != UNDEFINED).tolist():
                follows = charset.second.get(code, 0) if points is charset.double else 0
                codes.setdefault(chr(points[code]) + (chr(follows) if follows else ""), code)
    if charset.codec:  # several codes may be one character: one of them is written
        for text, code in double.items():
            data = bytes(icu().UnicodeString(text).encode(charset.codec))
            written = int.from_bytes(data, "big") if len(data) == 2 else code
            if charset.double is not None and charset.double[written] == ord(text):
                double[text] = written
    return single, double


def _encode_by_table(charset: Charset, text: str) -> bytes:
    single, double = _reverse(charset.ccsid)
    out = bytearray()
    shifted = charset.kind == "double"
    place = 0
    while place < len(text):
        size = 2 if text[place : place + 2] in double and place + 1 < len(text) else 1
        piece = text[place : place + size]
        place += size
        if piece in single:
            if shifted and charset.kind == "mixed":
                out.append(SHIFT_IN)
                shifted = False
            out.append(single[piece])
        elif piece in double:
            if not shifted:
                out.append(SHIFT_OUT)
                shifted = True
            out += bytes(divmod(double[piece], 256))
        else:
            raise ValueError(f"CCSID {charset.ccsid} has no character {piece!r}")
    if shifted and charset.kind == "mixed":
        out.append(SHIFT_IN)
    return bytes(out)
