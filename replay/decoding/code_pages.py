"""Code pages: the characters of each CCSID, as tables of code points.

Where the tables come from, always the same source for one CCSID, so that output never depends on
what else is installed:

* single byte: Python's codecs, or the ``ebcdic`` package (generated from Java's tables). Java maps
  X'15' to U+000A, the CCSIDs do not: in every EBCDIC CCSID, 1047 included, X'15' is NL (U+0085) and
  X'25' is LF (U+000A), as Db2 converts them. Windows' pages have C1 controls where Python has no
  character. More places where these tables differ from IBM's are corrected in :data:`_CORRECTIONS`;
  what differs still (tests/decoding/test_judges.py) are characters that Windows got later, and the
  controls that IBM's tables of PC pages exchange.
* EBCDIC with shift-out/shift-in and pure double byte: ICU (the extra ``dbcs``, which carries IBM's
  own tables on every platform), read once into two tables. The C library's iconv was the
  alternative: it knows fewer of these, is absent on some systems, and its tables differ from IBM's
  in places. ICU has no name for pure double-byte CCSIDs; each is the double-byte half of a mixed
  one.
* remaining single-byte CCSIDs and ASCII mixed ones: ICU as well. The halves of ASCII mixed ones are
  taken from these. Python's codecs (``cp932``, ``cp949``, ``cp950``, ``gbk``) are Windows' pages:
  some characters of IBM's are others there, and hundreds are missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask
from replay.errors import InputError

Points = npt.NDArray[np.uint32]

#: Code point of a byte that no character has.
UNDEFINED = 0xFFFF_FFFF
_IDEOGRAPHIC_BLANK = 0x3000
SHIFT_OUT, SHIFT_IN = 0x0E, 0x0F
_UTF8 = frozenset({1208, 1209})
_UTF16 = frozenset({1200, 1201, 13488, 17584})

#: Python's name of a codec by CCSID.
_PYTHON = {
    **{number: f"cp{number}" for number in (37, 273, 424, 500, 875, 1026, 1140)},
    **{
        number: f"cp{number}"
        for number in (
            437,
            737,
            775,
            850,
            852,
            855,
            857,
            858,
            860,
            861,
            862,
            863,
            864,
            865,
            866,
            869,
            874,
        )
    },
    **{number: f"cp{number}" for number in range(1250, 1259)},
    **{
        number: f"cp{number - 4096}"
        for number in (5346, 5347, 5348, 5349, 5350, 5351, 5352, 5353, 5354)
    },
    367: "ascii",
    813: "iso8859-7",
    819: "latin-1",
    912: "iso8859-2",
    915: "iso8859-5",
    920: "iso8859-9",
    923: "iso8859-15",
    37: "cp037",
    28709: "cp037",
    1162: "cp874",
}
#: Windows' code pages: bytes without a character are the C1 controls of the same number in IBM's
#: tables, and so in what Db2 stores and converts.
_WINDOWS = frozenset({1162, *range(1250, 1259), *range(5346, 5355)})
#: CCSIDs that the ``ebcdic`` package adds.
_EBCDIC_PACKAGE = (
    277,
    278,
    280,
    284,
    285,
    290,
    297,
    420,
    833,
    838,
    870,
    871,
    1025,
    1047,
    1097,
    1112,
    1122,
    1123,
    *range(1141, 1150),
)
_EBCDIC = frozenset({*_EBCDIC_PACKAGE, 37, 273, 424, 500, 875, 1026, 1140, 28709})
#: Where those tables and IBM's differ; None: the byte has no character.
_CORRECTIONS: dict[int, dict[int, int | None]] = {
    273: {0xBC: 0xAF},
    424: {0xB3: 0x2022, 0xBC: 0x203E},
    #: IBM's Thai, which Windows-874 (CCSID 1162) is not: tone marks twice, no quotation marks.
    874: dict.fromkeys((0x80, 0x85, *range(0x91, 0x98)))
    | dict(zip((0xA0, 0xDB, 0xDC, 0xDD, 0xDE), range(0xE48, 0xE4D), strict=True))
    | dict(zip((0xFC, 0xFD, 0xFE, 0xFF), (0xA2, 0xAC, 0xA6, 0xA0), strict=True)),
    1026: {0x9A: 0x20BA},  # the lira sign, as in 1155; Python has the older table
    1253: {0xAA: 0xAA},
    5349: {0xAA: 0xAA},
    875: dict.fromkeys((0xDC, 0xE1, 0xEC, 0xED, 0xFC, 0xFD)),
    1122: {0xBC: 0xAF},
}
#: EBCDIC with shift-out and shift-in, and the name of ICU's table.
_MIXED = {
    number: f"ibm-{number}" for number in (930, 933, 935, 937, 939, 1364, 1371, 1388, 1390, 1399)
} | {
    5026: "ibm-930",
    5035: "ibm-939",
}
#: Pure double-byte CCSIDs, and the mixed CCSID they are half of.
_DOUBLE = {
    300: 939,
    4396: 939,
    834: 933,
    835: 937,
    837: 935,
    4930: 1364,
    4933: 1388,
    9027: 1371,
    16684: 1390,
}
#: Single-byte halves that ICU has no name for, and the mixed CCSID they are half of.
_SINGLE_HALF = {836: 935, 1027: 939, 1159: 1371, 5123: 1399, 8482: 1390, 13121: 1364, 13124: 1388}
_ICU_SINGLE = (
    914,
    916,
    1089,
    1130,
    1137,
    1153,
    1154,
    1155,
    1156,
    1157,
    1158,
    1160,
    1164,
    4517,
    4971,
    12712,
    16804,
)
_ICU_ASCII_MIXED = (932, 943, 949, 950, 954, 970, 1363, 1386)
#: Pure double-byte CCSIDs of ASCII, and the mixed CCSID they are half of. Of 927 and 1380, of the
#: mixed ones that they are half of (948, 1381), and of 1114 and 1115 ICU has names, and no tables.
_ASCII_DOUBLE = {301: 932, 941: 943, 947: 950, 951: 949, 1362: 1363, 1385: 1386}
#: Single-byte ones. Not 1041, which ICU has with another page's backslash and tilde only, and not
#: 1114, which 950 and 1386 are said to have in common but do not.
_ASCII_HALF = {897: 943, 1088: 949, 1126: 1363}
_HINT = "Name the right one with --ccsid"


@dataclass(frozen=True)
class Charset:
    """How one CCSID reads. ``single`` uint32[256] and ``double`` uint32[65536] hold code points
    (:data:`UNDEFINED` where there is none); ``second`` the code points that follow, for the few
    double-byte characters that are two in Unicode; ``whole`` decodes one value.
    """

    ccsid: int
    kind: str
    single: Points | None = None
    double: Points | None = None
    second: dict[int, int] = field(default_factory=dict)
    codec: str = ""
    blank: bytes = b"\x20"


@cache
def is_complete(ccsid: int) -> bool:
    """Whether any bytes are text in a CCSID: each of its bytes is a character. ``InputError`` as
    :func:`charset_of`."""
    charset = charset_of(ccsid)
    return charset.kind == "single" and not bool((table(charset.single) == UNDEFINED).any())


@cache
def charset_of(ccsid: int) -> Charset:
    """The character set of a CCSID; ``InputError`` LR2015 when it is not known, LR1005 when the
    library for it is missing."""
    if ccsid in _UTF8:
        return Charset(ccsid, "utf8")
    if ccsid in _UTF16:
        return Charset(ccsid, "utf16", blank=b"\x00\x20")
    if ccsid in _PYTHON or ccsid in _EBCDIC_PACKAGE:
        return Charset(
            ccsid, "single", _python_table(ccsid), blank=b"\x40" if ccsid in _EBCDIC else b"\x20"
        )
    if ccsid in _MIXED:
        single, double, second = _icu_tables(_MIXED[ccsid])
        return Charset(ccsid, "mixed", single, double, second, blank=b"\x40")
    if ccsid in _DOUBLE:
        mixed = charset_of(_DOUBLE[ccsid])
        return Charset(ccsid, "double", None, mixed.double, mixed.second, blank=b"\x40\x40")
    if ccsid in _SINGLE_HALF:
        return Charset(ccsid, "single", charset_of(_SINGLE_HALF[ccsid]).single, blank=b"\x40")
    if ccsid in _ICU_SINGLE:
        single = _icu_single(f"ibm-{ccsid}")
        return Charset(ccsid, "single", single, blank=b"\x40" if single[0x40] == 0x20 else b"\x20")
    if ccsid in _ICU_ASCII_MIXED:
        return Charset(ccsid, "library", codec=f"ibm-{ccsid}")
    if ccsid in _ASCII_DOUBLE:
        name = f"ibm-{_ASCII_DOUBLE[ccsid]}"
        double = _ascii_double(name)
        blank = int(np.flatnonzero(double == _IDEOGRAPHIC_BLANK)[0])
        return Charset(ccsid, "double", None, double, blank=blank.to_bytes(2, "big"))
    if ccsid in _ASCII_HALF:
        single = _icu_single(f"ibm-{_ASCII_HALF[ccsid]}")
        controls = [0x1A, 0x1C, 0x7F]  # that ICU's tables of PC pages exchange
        single[controls] = controls
        return Charset(ccsid, "single", single)
    raise InputError("LR2015", f"found CCSID {ccsid}; expected one that is known", hint=_HINT)


def _python_table(ccsid: int) -> Points:
    if ccsid in _EBCDIC_PACKAGE:
        import ebcdic  # noqa: F401  (importing it registers its codecs, which takes 10 ms)
    codec = _PYTHON.get(ccsid, f"cp{ccsid}")
    points = np.full(256, UNDEFINED, np.uint32)
    for code in range(256):
        text = bytes([code]).decode(codec, "ignore")
        if text and text != "\ufffd":  # the ebcdic package's way to say undefined
            points[code] = ord(text)
    if ccsid in _EBCDIC:
        points[0x15], points[0x25] = 0x85, 0x0A
    if ccsid in _WINDOWS:
        controls = points[0x80:0xA0]
        controls[controls == UNDEFINED] = np.flatnonzero(controls == UNDEFINED) + 0x80
    for code, point in _CORRECTIONS.get(ccsid, {}).items():
        points[code] = UNDEFINED if point is None else point
    return points


def icu() -> Any:
    """The ICU library. ``InputError`` LR1005 where it is not installed."""
    try:
        # an optional dependency: only tables with double-byte characters and a few rare ones need
        # it
        import icu as library
    except ImportError as error:
        message = "this log's character set needs the ICU library"
        raise InputError(
            "LR1005", message, hint="Install it with: pip install 'logreplay-sql[dbcs]'"
        ) from error
    return library


def _icu_single(name: str) -> Points:
    library = icu()
    points = np.full(256, UNDEFINED, np.uint32)
    for code in range(256):
        try:
            text = str(library.UnicodeString(bytes([code]), name))
        except (library.ICUError, ValueError):
            continue
        if len(text) == 1 and text != "\ufffd":
            points[code] = ord(text)
    return points


def _icu_tables(name: str) -> tuple[Points, Points, dict[int, int]]:
    """Both tables of a mixed CCSID. All double-byte codes are decoded in one call, each followed by
    a single-byte NL to tell them apart."""
    single = _icu_single(name)
    single[[SHIFT_OUT, SHIFT_IN]] = UNDEFINED
    codes = [
        0x4040,
        *(lead << 8 | trail for lead in range(0x41, 0xFF) for trail in range(0x41, 0xFF)),
    ]
    probe = b"".join(bytes([SHIFT_OUT, code >> 8, code & 0xFF, SHIFT_IN, 0x15]) for code in codes)
    double = np.full(65536, UNDEFINED, np.uint32)
    second = {}
    for code, text in zip(
        codes, str(icu().UnicodeString(probe, name, "replace")).split("\x85"), strict=False
    ):
        if "\ufffd" in text or not 1 <= len(text) <= 2:
            continue
        double[code] = ord(text[0])
        if len(text) == 2:
            second[code] = ord(text[1])
    return single, double, second


def _ascii_double(name: str) -> Points:
    """The double-byte table of an ASCII mixed CCSID. All codes are decoded in one call, each
    followed by a line feed, which is no second byte."""
    codes = [lead << 8 | trail for lead in range(0x80, 0xFF) for trail in range(0x30, 0xFF)]
    probe = b"".join(code.to_bytes(2, "big") + b"\n" for code in codes)
    texts = str(icu().UnicodeString(probe, name, "replace")).split("\n")
    double = np.full(65536, UNDEFINED, np.uint32)
    for code, text in zip(codes, texts, strict=False):
        if len(text) == 1 and text not in "\ufffd\x1a\x1c":
            double[code] = ord(text)
    return double


def table(points: Points | None) -> Points:
    """A table that the character set has; ``ValueError`` where it has none."""
    if points is None:
        raise ValueError("this character set has no such table")
    return points


# -- bytes to text
# -------------------------------------------------------------------------------------------------
# Bytes of a code page to UTF-8, for whole columns: code points are looked up in the tables of
# :mod:`replay.decoding.code_pages` and written as UTF-8, for all values of a column at once.


def decode(charset: Charset, data: Bytes, offsets: Index) -> tuple[Bytes, Index, Mask | None]:
    """UTF-8 of ``n`` values lying in ``data`` between ``offsets`` (``n + 1``): bytes, offsets, and
    which values cannot be decoded.

    What stands at an undecodable value is unspecified (but valid UTF-8 only after the caller has
    made it null).
    """
    return _DECODERS[charset.kind](charset, data, offsets)


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
