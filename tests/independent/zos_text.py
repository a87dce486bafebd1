"""Text as Db2 for z/OS keeps it: a code page for each encoding scheme, by the tables of ICU."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

import icu

from tests.independent.values import ODD, PLAIN

#: Single-byte code pages of EBCDIC and ASCII.
SINGLE_E = (
    *(37, 500, 273, 277, 278, 280, 284, 285, 297, 871, 1047, 1140, 1141, 1148, 870, 875, 1025),
    *(1026, 1112, 1122, 424, 1153),
)
SINGLE_A = (819, 1252, 437, 850, 912, 915)
#: Single-byte, double-byte and mixed code pages that belong together.
MIXED_E = (
    *((8482, 16684, 1390), (5123, 16684, 1399), (1027, 300, 939), (290, 300, 930)),
    *((833, 834, 933), (836, 837, 935), (28709, 835, 937), (13121, 4930, 1364)),
    *((1159, 9027, 1371), (1027, 4396, 5035), (290, 300, 5026)),
    (13124, 4933, 1388),
)
MIXED_A = ((897, 941, 943), (1088, 951, 949), (1126, 1362, 1363), (897, 301, 932))
#: A code page that ICU has in place of one that it lacks: its single bytes are the same.
SINGLES_OF = {1027: 939, 833: 933, 836: 935, 28709: 937, 1159: 1371, 13124: 1388, 13121: 1364} | {
    897: 943,
    1088: 949,
    1126: 1363,
}
_ASCII = (*SINGLE_A, *(page for pages in MIXED_A for page in pages))
WIDE = "漢字仮名カナひらがな日本中國国한글가나！？Ａｂ１２　①αβЖя"
SHIFT_OUT, SHIFT_IN = b"\x0e", b"\x0f"
UNKNOWN = 65534


def _encoded(text: str, page: int) -> bytes:
    return bytes(icu.UnicodeString(text).encode(f"ibm-{page}"))


def _decoded(data: bytes, page: int) -> str:
    """Nothing where the page does not have it."""
    try:
        return str(icu.UnicodeString(data, f"ibm-{page}"))
    except ValueError:
        return ""


def encoded(text: str, page: int, double: int = 0) -> bytes:
    """``text`` in a code page. ``double``: the mixed code page that ``page`` is the double-byte
    half of."""
    if page == 1200:
        return text.encode("utf-16-be", "surrogatepass")
    if page == 1208:
        return text.encode()
    if double:
        return _encoded(text, double).replace(SHIFT_OUT, b"").replace(SHIFT_IN, b"")
    return _encoded(text, SINGLES_OF.get(page, page))


@cache
def letters(page: int, double: int = 0) -> tuple[str, ...]:
    """Letters that a code page has, each of which comes back as itself. Those of a double-byte one
    are two bytes long, those of a single-byte one are one."""
    if page == 1208:
        return tuple(PLAIN) + ODD + tuple(WIDE)
    if page == 1200:
        return tuple(PLAIN) + ODD + tuple(WIDE)
    real = double or SINGLES_OF.get(page, page)
    size = 2 if double else 1 if page in SINGLES_OF or _is_single(real) else 0
    found = list[str]()
    tried: list[str] = list(PLAIN) + [c for c in (*ODD, *WIDE) if len(c) == 1]
    if size == 1:
        tried += [letter for n in range(256) if (letter := _decoded(bytes([n]), real))]
    for letter in tried:
        data = encoded(letter, page, double)
        if letter in "\x00\x0e\x0f\x1a\ufffd" or (size and len(data) != size):
            continue
        if page in _ASCII and (ord(letter) in (*range(32), *range(127, 160), 0xB5, 0x3BC)):
            continue  # tables of IBM and others differ there
        if _decoded(_encoded(letter, real), real) == letter and letter not in found:
            found.append(letter)
    return tuple(found)


def _is_single(page: int) -> bool:
    return page in SINGLE_E or page in SINGLE_A or page in (290, 8482, 5123, 833)


@dataclass(frozen=True)
class Pages:
    """The code pages of an encoding scheme, as XTYP has them."""

    single: int
    double: int
    mixed: int

    def page(self, sort: str) -> tuple[int, int]:
        """The page of text, and for the double-byte one the mixed page that it is a part of. Sort:
        S, M, or G for graphic."""
        if sort == "G":
            return self.double, 0 if self.double == 1200 else self.mixed
        return (self.mixed if sort == "M" else self.single), 0

    def text(self, pick: random.Random, sort: str, most: int) -> str:
        """A text of at most ``most`` bytes, in which no letter stands alone that cannot."""
        page, double = self.page(sort)
        if self.double == 1200 and sort == "S":
            page = 1208
        some = letters(page, double)
        what = pick.random()
        if what < 0.1:
            return ""
        if what < 0.15 and sort != "G":
            return " " * pick.randint(1, max(1, min(3, most)))
        if what < 0.5:
            some = tuple(c for c in some if c in PLAIN) or some
        count, found = pick.choice((1, 2, 3, 5, 8, most, most)), ""
        while len(found) < count:
            longer = found + pick.choice(some)
            if len(encoded(longer, page, double)) > most:
                break
            found = longer
        return found

    def bytes(self, text: str, sort: str) -> bytes:
        page, double = self.page(sort)
        if self.double == 1200 and sort == "S":
            page = 1208
        return encoded(text, page, double)


UNICODE = Pages(367, 1200, 1208)
