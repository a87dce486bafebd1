"""Byte blocks -> Arrow columns.

Decoders take a block ``uint8[n, w]`` (or bytes and offsets) and an optional mask of null rows,
whose bytes mean nothing: they come out null and are never bad.

Layout facts: sections 1.1, 6.4, 6.5 and 10 of the format notes (IBM's "decoding numeric data" table
for numbers, CCSID tables for text).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.decoding import code_pages
from replay.decoding.code_pages import charset_of
from replay.errors import InputError

#: What a decoder returns: the values, and which rows are bad (their value is null), or None when
#: none is.
Decoded = tuple[pa.Array, Mask | None]

#: Values up to this many bytes are cut with one fixed-width gather and a mask; longer ones are
#: copied one by one by Arrow.
_SHORT = 24
#: Arrow string views address a data buffer with an int32: bigger files are offered as several
#: overlapping buffers, one per this many bytes.
_VIEW_STEP = 1 << 30
_VIEW_REACH = (1 << 31) - 1


def gather(buf: Bytes, start: Index, width: int) -> Bytes:
    """``width`` bytes from every ``start``, as ``uint8[n, width]``. ``ValueError`` when one would
    lie outside ``buf``."""
    count = len(start)
    if count == 0 or width == 0:
        return np.empty((count, width), np.uint8)
    if int(start.min()) < 0 or int(start.max()) + width > len(buf):
        raise ValueError(f"gather of {width} bytes outside a buffer of {len(buf)}")
    windows = np.ndarray((len(buf) - width + 1,), f"V{width}", buf, 0, (1,))
    return windows[start].view(np.uint8).reshape(count, width)


def halfwords(buf: Bytes, start: Index) -> Index:
    """The big-endian halfword at every ``start``. ``IndexError`` when one would lie outside
    ``buf``."""
    # byte by byte: words that are not aligned take NumPy twice as long
    words: Index = buf.take(start).astype(np.int64)
    words <<= 8
    words |= buf[1:].take(start)
    return words


def word_places(width: int) -> tuple[int, Sequence[int]]:
    """Machine words that cover ``width`` bytes, at least 1: their size and where they begin. The
    last one may overlap the one before."""
    word = max(size for size in (1, 2, 4, 8) if size <= width)
    return word, (*range(0, width - word, word), width - word)


def equal_rows(one: Bytes, other: Bytes) -> Mask:
    """Which rows of two blocks ``uint8[n, w]`` are equal, ``w`` at least 1; ``other`` may have one
    row for all."""
    same = np.ones(len(one), bool)
    word, places = word_places(one.shape[1])
    for place in places:
        mine, theirs = (
            block[:, place : place + word].view(f"u{word}")[:, 0] for block in (one, other)
        )
        same &= mine == theirs
    return same


def gather_padded(buf: Bytes, start: Index, length: Index, width: int) -> Bytes:
    """The first ``min(length, width)`` bytes from every ``start``, padded with zeros to ``uint8[n,
    width]``.

    ``ValueError`` when one would lie outside ``buf``.
    """
    if len(start) == 0 or width == 0:
        return np.zeros((len(start), width), np.uint8)
    short = np.minimum(length, width)
    if int(short.min()) < 0 or int(start.min()) < 0 or int((start + short).max()) > len(buf):
        raise ValueError(f"gather outside a buffer of {len(buf)} bytes")
    place = np.arange(width)
    late = np.flatnonzero(start > len(buf) - width)
    block = np.zeros((len(start), width), np.uint8)
    if len(late) == len(start):
        if len(buf):
            block[:] = buf[np.minimum(start[:, None] + place, len(buf) - 1)]
    else:
        block = gather(buf, np.minimum(start, len(buf) - width), width)
        if len(late):
            block[late] = buf[np.minimum(start[late, None] + place, len(buf) - 1)]
    if int(short.min()) < width:
        block *= place < short[:, None]
    return block


def gather_varying(buf: Bytes, start: Index, length: Index) -> tuple[Bytes, Index]:
    """``length`` bytes from every ``start``, joined: the bytes ``uint8[total]`` and the ``n + 1``
    offsets into them.

    ``ValueError`` when a piece would lie outside ``buf``.
    """
    count = len(start)
    offsets = np.zeros(count + 1, np.int64)
    if count == 0:
        return np.empty(0, np.uint8), offsets
    np.cumsum(length, out=offsets[1:])
    longest = int(length.max())
    if int(length.min()) < 0 or int(start.min()) < 0 or int((start + length).max()) > len(buf):
        raise ValueError(f"gather outside a buffer of {len(buf)} bytes")
    if offsets[-1] == 0:
        return np.empty(0, np.uint8), offsets
    if longest <= _SHORT:
        return (
            gather_padded(buf, start, length, longest)[np.arange(longest) < length[:, None]],
            offsets,
        )
    views = np.zeros((count, 4), np.int32)
    views[:, 0] = length
    views[:, 1:] = gather_padded(buf, start, length, 12).view(np.int32)
    far = length > 12
    views[far, 2] = start[far] // _VIEW_STEP
    views[far, 3] = start[far] % _VIEW_STEP
    pieces = [pa.py_buffer(buf[at : at + _VIEW_REACH]) for at in range(0, len(buf), _VIEW_STEP)]
    joined = pa.Array.from_buffers(
        pa.binary_view(), count, [None, pa.py_buffer(views), *pieces]
    ).cast(pa.large_binary())
    return np.frombuffer(joined.buffers()[2], np.uint8)[: int(offsets[-1])], offsets


# -- building Arrow arrays
# -------------------------------------------------------------------------------------------------


def same_bytes(one: Bytes, first: Index, other: Bytes, second: Index, length: Index) -> Mask:
    """Whether pieces of ``length`` bytes from ``first`` and ``second`` on are the same."""
    ours, offsets = gather_varying(one, first, length)
    theirs, _ = gather_varying(other, second, length)
    same = np.ones(len(length), bool)
    differ = np.flatnonzero(ours != theirs)
    same[np.searchsorted(offsets, differ, side="right") - 1] = False
    return same


def _validity(null: Mask | None, bad: Mask | None) -> pa.Buffer | None:
    missing = bad if null is None else null if bad is None else null | bad
    if missing is None or not missing.any():
        return None
    return pa.py_buffer(np.packbits(~missing, bitorder="little"))


def _numbers(kind: pa.DataType, values: npt.NDArray[Any], null: Mask | None) -> pa.Array:
    return pa.Array.from_buffers(
        kind, len(values), [_validity(null, None), pa.py_buffer(np.ascontiguousarray(values))]
    )


def _strings(
    kind: pa.DataType, data: Bytes, offsets: Index, null: Mask | None, bad: Mask | None = None
) -> pa.Array:
    if int(offsets[-1]) > _VIEW_REACH:
        raise InputError(
            "LR2015",
            f"found {int(offsets[-1])} bytes in one column of a batch; expected less than 2 GB",
        )
    buffers = [
        _validity(null, bad),
        pa.py_buffer(offsets.astype(np.int32)),
        pa.py_buffer(np.ascontiguousarray(data)),
    ]
    return pa.Array.from_buffers(kind, len(offsets) - 1, buffers)


def _fixed_strings(block: Bytes, null: Mask | None, bad: Mask | None) -> pa.Array:
    count, width = block.shape
    return _strings(pa.string(), block.reshape(-1), np.arange(count + 1) * width, null, bad)


def _ragged_strings(
    block: Bytes, start: npt.NDArray[Any], null: Mask | None, bad: Mask | None
) -> pa.Array:
    """The characters of every row from ``start`` on."""
    width = block.shape[1]
    offsets = np.zeros(len(block) + 1, np.int64)
    np.cumsum(width - start.astype(np.int64), out=offsets[1:])
    if not start.any():
        return _fixed_strings(block, null, bad)
    return _strings(
        pa.string(),
        block[np.arange(width, dtype=np.uint8) >= start.astype(np.uint8)[:, None]],
        offsets,
        null,
        bad,
    )


def _some(bad: Mask, null: Mask | None) -> Mask | None:
    """Null rows are never bad; None when no row is."""
    if null is not None:
        bad = bad & ~null
    return bad if bad.any() else None


# -- numbers
# -------------------------------------------------------------------------------------------------


def decode_integer(block: Bytes, null: Mask | None = None) -> Decoded:
    """Two's complement, big-endian, ``uint8[n, 2 | 4 | 8]`` -> ``int64``. Every pattern is a
    number; ``ValueError`` for other widths."""
    count, width = block.shape
    if width not in (2, 4, 8):
        raise ValueError(f"integers have 2, 4 or 8 bytes, not {width}")
    values = np.ascontiguousarray(block).view(f">i{width}").reshape(count).astype(np.int64)
    return _numbers(pa.int64(), values, null), None


#: Two digits as two ASCII characters, for every byte that holds two nibbles.
_PAIR = (
    np.array([[48 + (byte >> 4), 48 + (byte & 15)] for byte in range(256)], np.uint8)
    .view(np.uint16)
    .reshape(256)
)
_NOT_DIGITS = np.array([byte >> 4 > 9 or byte & 15 > 9 for byte in range(256)])
_NOT_LAST = np.array([byte >> 4 > 9 or byte & 15 < 10 for byte in range(256)])
_NEGATIVE = np.array([byte & 15 in (0xB, 0xD) for byte in range(256)])


def decode_packed(block: Bytes, scale: int, null: Mask | None = None) -> Decoded:
    """Packed decimal, ``uint8[n, w]`` with 1 <= w <= 16, -> canonical digits (``string``) with
    exactly ``scale`` of them after the point.

    Sign nibbles A, C, E, F are plus, B, D are minus, and minus zero is zero. Other signs and digits
    above 9 are bad.
    """
    count, width = block.shape
    digits = 2 * width - 1
    whole = max(digits - scale, 1)
    shape = whole + (scale + 1 if scale else 0)
    characters = _PAIR[block].view(np.uint8).reshape(count, 2 * width)
    text = np.full((count, shape + 1), 48, np.uint8)
    text[:, shape + 1 - min(scale, digits) : shape + 1] = characters[
        :, digits - min(scale, digits) : digits
    ]
    if digits > scale:
        text[:, 1 : 1 + whole] = characters[:, : digits - scale]
    if scale:
        text[:, 1 + whole] = 46
    start = np.ones(count, np.uint8)
    leading = np.ones(count, bool)
    for place in range(1, whole):
        leading &= text[:, place] == 48
        start += leading
    last = block[:, -1]
    negative = _NEGATIVE[last]
    if negative.any():
        rows = np.flatnonzero(negative)
        rows = rows[(block[rows, :-1] != 0).any(axis=1) | (last[rows] > 15)]
        start[rows] -= 1
        text[rows, start[rows]] = 45
    bad = _NOT_LAST[last]
    for place in range(width - 1):
        bad |= _NOT_DIGITS[block[:, place]]
    wrong = _some(bad, null)
    return _ragged_strings(text, start, null, wrong), wrong


def hfp_values(block: Bytes) -> npt.NDArray[np.float64]:
    """Hexadecimal floating point, ``uint8[n, 4 | 8]``: ±0.F × 16**(e - 64), rounded to nearest,
    ties to even.

    Short values are exact; long ones lose up to 3 of their 56 bits. Unnormalised fractions count,
    zero keeps its sign. Every pattern is a number; ``ValueError`` for other widths. Rounding the
    fraction alone is right: no long value comes near the ends of the double range.
    """
    count, width = block.shape
    if width not in (4, 8):
        raise ValueError(f"hexadecimal floats have 4 or 8 bytes, not {width}")
    bits = 8 * width - 8
    raw = np.ascontiguousarray(block).view(f">u{width}").reshape(count).astype(np.uint64)
    fraction = (raw & np.uint64((1 << bits) - 1)).astype(np.int64).astype(np.float64)
    exponent = 4 * ((block[:, 0] & 0x7F).astype(np.int32) - 64) - bits
    values = np.ldexp(fraction, exponent)
    return np.asarray(np.where(block[:, 0] >= 0x80, -values, values))


def decode_hfp(block: Bytes, null: Mask | None = None) -> Decoded:
    """:func:`hfp_values` of ``uint8[n, 4 | 8]`` as ``float64``, of short values as well; all can be
    decoded. ``ValueError`` as there."""
    return _numbers(pa.float64(), hfp_values(block), null), None


def decode_real(block: Bytes, null: Mask | None = None) -> Decoded:
    """Short hexadecimal floats, ``uint8[n, 4]``, as ``float32``; those that a single cannot hold
    are bad."""
    values = hfp_values(block)
    wrong = _some(outside_real(values), null)
    with np.errstate(over="ignore", under="ignore"):
        single = values.astype(np.float32)
    return (
        pa.Array.from_buffers(
            pa.float32(), len(single), [_validity(null, wrong), pa.py_buffer(single)]
        ),
        wrong,
    )


def outside_real(values: npt.NDArray[np.float64]) -> Mask:
    """Which doubles are no IEEE single: a short hexadecimal float reaches from 5.4E-79 to 7.2E+75,
    ``float32`` from 1.4E-45 to 3.4E+38."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(values.astype(np.float32).astype(np.float64) != values)


# -- text
# -------------------------------------------------------------------------------------------------


def decode_text(data: Bytes, offsets: Index, ccsid: int, null: Mask | None = None) -> Decoded:
    """``n`` values lying in ``data`` between ``offsets`` -> ``string``. A value with a byte that
    has no character is bad.

    ``InputError`` LR2015 when the CCSID is not known, LR1005 when the library for it is missing.
    """
    text, begin, bad = code_pages.decode(charset_of(ccsid), data, offsets)
    wrong = None if bad is None else _some(bad, null)
    return _strings(pa.string(), text, begin, null, wrong), wrong


def decode_fixed_text(block: Bytes, ccsid: int, null: Mask | None = None) -> Decoded:
    """As :func:`decode_text` for ``uint8[n, w]``; blanks at the end stay."""
    count, width = block.shape
    return decode_text(
        np.ascontiguousarray(block).reshape(-1), np.arange(count + 1) * width, ccsid, null
    )


def ebcdic_text(block: Bytes) -> pa.Array:
    """Header text, ``uint8[n, w]`` in code page 037, without the blanks at the end. Control
    characters stay: escaping is the caller's."""
    values, _ = decode_fixed_text(block, 37)
    return pc.utf8_rtrim(values, " ")


def binary_values(data: Bytes, offsets: Index, null: Mask | None = None) -> pa.Array:
    """Bit data, as it is: ``n`` values in ``data`` between ``offsets`` (``n + 1``)."""
    return _strings(pa.binary(), data, offsets, null)


def binary_rows(block: Bytes) -> pa.Array:
    """The rows of ``uint8[n, width]`` as bit data."""
    packed = np.ascontiguousarray(block)
    return binary_values(
        packed.reshape(-1), np.arange(0, packed.size + 1, packed.shape[1], dtype=np.int64), None
    )


_HEX = np.frombuffer("".join(f"{byte:02X}" for byte in range(256)).encode(), np.uint16)


def hex_text(block: Bytes) -> pa.Array:
    """``uint8[n, w]`` as upper-case hexadecimal digits."""
    return _fixed_strings(
        _HEX[block].view(np.uint8).reshape(len(block), 2 * block.shape[1]), None, None
    )


# -- dates and times
# -------------------------------------------------------------------------------------------------

_DATE, _TIME, _ZONE = "0000-00-00", "00:00:00", "+00:00"
#: Separators are accepted in many forms, and written in one: what may stand where the written form
#: has this character.
_ACCEPTED = {"-": "-/.:", ":": ".:-/", ".": ".:-/", " ": "- T./:", "+": "+-"}
#: The same by byte; 256 more entries for values in EBCDIC.
ACCEPTED_BYTES = {
    kind: np.array(
        [code in characters.encode(codec) for codec in ("ascii", "cp037") for code in range(256)]
    )
    for kind, characters in _ACCEPTED.items()
}
_DAYS = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, *([0] * 243)], np.uint8)


def decode_date(block: Bytes, null: Mask | None = None) -> Decoded:
    """``uint8[n, 10]``, EBCDIC or ASCII, year first, separators ``- / . :`` -> ``YYYY-MM-DD``.
    Dates that do not exist are bad."""
    return _decode_moment(block, _DATE, null)


def decode_time(block: Bytes, null: Mask | None = None) -> Decoded:
    """``uint8[n, 8]``, EBCDIC or ASCII -> ``HH:MM:SS``; 24:00:00 is a time."""
    return _decode_moment(block, _TIME, null)


def decode_timestamp(block: Bytes, zone: bool = False, null: Mask | None = None) -> Decoded:
    """``uint8[n, 19 | 20 + p]`` (6 more with ``zone``), 1 <= p <= 12 -> ``YYYY-MM-DD
    HH:MM:SS[.f][+HH:MM]`` with all ``p`` digits.

    ``ValueError`` for other widths.
    """
    width = block.shape[1] - (len(_ZONE) if zone else 0)
    if width != 19 and not 21 <= width <= 32:
        raise ValueError(
            f"timestamps have 19 or 21 to 32 characters{' and 6 of time zone' if zone else ''}, not"
            f" {block.shape[1]}"
        )
    fraction = ".".ljust(width - 19, "0") if width > 19 else ""
    return _decode_moment(block, f"{_DATE} {_TIME}{fraction}{_ZONE if zone else ''}", null)


def _decode_moment(block: Bytes, picture: str, null: Mask | None) -> Decoded:
    """``picture`` is the text to be made, with 0 for digits."""
    if block.shape[1] != len(picture):
        raise ValueError(f"{len(picture)} characters are needed, not {block.shape[1]}")
    ebcdic = block[:, 0] >= 0xF0
    if ebcdic.all():
        text = block - np.uint8(0xC0)
    else:
        text = block - np.where(ebcdic, np.uint8(0xC0), np.uint8(0))[:, None]
    digits = np.array([kind == "0" for kind in picture])
    outside = text - np.where(digits, 48, 0).astype(np.uint8) > np.where(digits, 9, 255).astype(
        np.uint8
    )
    bad = np.zeros(len(block), bool)
    if outside.any():
        bad |= outside.any(axis=1)
    if picture.startswith(_DATE):
        bad |= _wrong_date(text)
    clock = picture.find(_TIME)
    if clock >= 0:
        bad |= _wrong_time(
            text, clock, len(picture) - (len(_ZONE) if picture.endswith(_ZONE) else 0)
        )
    page = np.where(ebcdic, np.uint16(256), np.uint16(0))
    for place in np.flatnonzero(~digits).tolist():
        kind = picture[place]
        bad |= ~ACCEPTED_BYTES[kind][page + block[:, place]]
        if kind == "+":
            bad |= _wrong_zone(text, place)
            # as it stands, less X'C0' in EBCDIC
            text[:, place] = np.where((text[:, place] == 0x2D) | (text[:, place] == 0xA0), 45, 43)
        else:
            text[:, place] = ord(kind)
    wrong = _some(bad, null)
    return _fixed_strings(text, null, wrong), wrong


def _two_digits(text: Bytes, place: int) -> Bytes:
    """The number in two ASCII digits; rubbish where they are none."""
    return text[:, place] * np.uint8(10) + text[:, place + 1] - np.uint8(16)


def _wrong_date(text: Bytes) -> Mask:
    century, year, month, day = (_two_digits(text, place) for place in (0, 2, 5, 8))
    wrong: Mask = (day == 0) | (day > _DAYS[month]) | ((century | year) == 0)
    rows = np.flatnonzero((month == 2) & (day == 29))
    leap = np.where(year[rows] == 0, century[rows], year[rows]) % 4 == 0
    wrong[rows[~leap]] = True
    return wrong


def _wrong_time(text: Bytes, place: int, end: int) -> Mask:
    """Of the time at ``place``, whose fraction, if any, ends at ``end``."""
    hour, minute, second = (_two_digits(text, place + at) for at in (0, 3, 6))
    wrong: Mask = (hour > 24) | (minute > 59) | (second > 59)
    rows = np.flatnonzero(hour == 24)
    if len(rows):
        fraction = (text[rows, place + 9 : end] != 48).any(axis=1)
        wrong[rows[(minute[rows] != 0) | (second[rows] != 0) | fraction]] = True
    return wrong


def _wrong_zone(text: Bytes, place: int) -> Mask:
    hour, minute = _two_digits(text, place + 1), _two_digits(text, place + 4)
    return np.asarray((hour > 24) | (minute > 59) | ((hour == 24) & (minute != 0)))


def decode_log_timestamp(block: Bytes) -> Decoded:
    """BIN(17), 34 packed digits in ``uint8[n, 17]`` -> ``YYYY-MM-DD HH:MM:SS.`` and 6 digits, or 12
    where the rest of the fraction is not zero.

    All zero bytes are null. Femtoseconds, which no Db2 timestamp has, are cut off.
    """
    digits = _PAIR[block].view(np.uint8).reshape(len(block), 34)
    text = np.empty((len(block), 32), np.uint8)
    picture = f"{_DATE} {_TIME}."
    places = np.array([place for place, kind in enumerate(picture) if kind == "0"])
    text[:, places] = digits[:, :14]
    text[:, 20:] = digits[:, 14:26]
    bad = _wrong_date(text) | _wrong_time(text, 11, 32) | _NOT_DIGITS[block].any(axis=1)
    for place, kind in enumerate(picture):
        if kind != "0":
            text[:, place] = ord(kind)
    null = np.asarray(~block.any(axis=1))
    wrong = _some(bad, null)
    fine = (digits[:, 20:26] != 48).any(axis=1)
    if not fine.any():
        return _fixed_strings(np.ascontiguousarray(text[:, :26]), null, wrong), wrong
    width = np.where(fine, 32, 26)
    offsets = np.concatenate([[0], np.cumsum(width)])
    return _strings(pa.string(), text[np.arange(32) < width[:, None]], offsets, null, wrong), wrong
