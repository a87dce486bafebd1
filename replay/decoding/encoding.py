"""Text into a code page: the way back of :mod:`replay.decoding.code_pages`."""

from __future__ import annotations

import re
from codecs import charmap_encode
from contextlib import suppress
from functools import cache

import numpy as np

from replay.decoding.code_pages import (
    SHIFT_IN,
    SHIFT_OUT,
    UNDEFINED,
    Charset,
    Points,
    charset_of,
    table,
)
from replay.errors import InputError, UsageError
from sqlgen.clients.form import Encoding, utf8

_NAMED = re.compile(r"(?:(?:ibm|cp|ccsid)-?)?0*(\d+)", re.IGNORECASE)
_UTF8 = ("utf-8", "utf8", "1208")


def encoding_named(name: str) -> Encoding:
    """The encoding of a name: a code page by its CCSID (``1140``, ``ibm037``, ``cp037``), or
    ``utf-8``. UsageError (LR1001) for one that is not known, or has no single bytes."""
    if name.lower() in _UTF8:
        return utf8()
    found = _NAMED.fullmatch(name)
    expected = "utf-8, or a code page by its CCSID, for example ibm037 or 1140"
    if found is None:
        raise UsageError("LR1001", f"found --encoding {name!r}; expected {expected}")
    try:
        charset = charset_of(int(found.group(1)))
    except InputError as error:
        raise UsageError("LR1001", f"found --encoding {name!r}; expected {expected}") from error
    if charset.kind not in ("single", "mixed") or charset.blank != b"\x40":
        raise UsageError(
            "LR1001", f"found --encoding {name!r}; expected utf-8 or a code page of EBCDIC"
        )
    return _encoding(charset)


def _encoding(charset: Charset) -> Encoding:
    """That of an EBCDIC code page with single bytes, and double bytes or none."""
    single, double = _codes(charset.ccsid)
    known = {*single, *double}
    numbers = {ord(character): code for character, code in single.items()}

    def encode(text: str) -> bytes:
        with suppress(UnicodeEncodeError):  # one has two bytes
            return charmap_encode(text, "strict", numbers)[0]
        data, wide = bytearray(), False
        for character in text:
            code = single.get(character)
            if wide != (code is None):
                wide = code is None
                data.append(SHIFT_OUT if wide else SHIFT_IN)
            data += double[character].to_bytes(2, "big") if code is None else bytes([code])
        return bytes(data) + (bytes([SHIFT_IN]) if wide else b"")

    def lacks(text: str) -> str:
        return "" if known.issuperset(text) else next(c for c in text if c not in known)

    def measure(text: str) -> int:
        if text.isascii():
            return len(text)
        wide = [character not in single for character in text]
        shifts = sum(
            now != before for now, before in zip([*wide, False], [False, *wide], strict=True)
        )
        return len(text) + sum(wide) + shifts

    return Encoding(f"ibm{charset.ccsid:03}", encode, measure, lacks, plain=False)


@cache
def _codes(ccsid: int) -> tuple[dict[str, int], dict[str, int]]:
    """The single and the double byte of each character; of several the first."""
    charset = charset_of(ccsid)
    double = {} if charset.double is None else _inverse(table(charset.double))
    for code in charset.second:  # two characters of Unicode: none of them alone is this one
        for character in [one for one, number in double.items() if number == code]:
            del double[character]
    return _inverse(table(charset.single)), double


def _inverse(points: Points) -> dict[str, int]:
    codes = np.flatnonzero(points != UNDEFINED)[::-1].tolist()
    return {chr(int(points[code])): code for code in codes}
