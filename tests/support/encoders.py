"""Scalar encoders of numbers, moments and text, the inverse of :mod:`replay.decoding.codecs`."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np

from replay.decoding.code_pages import (
    _ASCII_DOUBLE,
    SHIFT_IN,
    SHIFT_OUT,
    UNDEFINED,
    Charset,
    charset_of,
    icu,
)


def encode_integer(value: int, width: int) -> bytes:
    """Two's complement, big-endian; ``ValueError`` when it does not fit."""
    if not -(1 << 8 * width - 1) <= value < 1 << 8 * width - 1:
        raise ValueError(f"{value} does not fit {width} bytes")
    return value.to_bytes(width, "big", signed=True)


def encode_packed(
    value: str | int | Decimal, width: int, scale: int = 0, sign: int | None = None
) -> bytes:
    """Packed decimal; ``sign`` instead of C or D. ``ValueError`` when digits would be lost."""
    exact = Decimal(value)
    minus = exact.is_signed()
    number = abs(Fraction(exact)) * Fraction(10) ** scale
    text = str(number)
    if number.denominator != 1 or len(text) > 2 * width - 1:
        raise ValueError(f"{value} does not fit DECIMAL({2 * width - 1},{scale})")
    return bytes.fromhex(
        text.zfill(2 * width - 1) + f"{(0xD if minus else 0xC) if sign is None else sign:X}"
    )


def encode_hfp(value: float | Fraction, width: int) -> bytes:
    """Hexadecimal floating point, normalised, rounded to nearest with ties to even; ``ValueError``
    above 7.2E+75, zero below 5.4E-79."""
    exact = abs(Fraction(value))
    sign = 0x80 if value < 0 or str(value).startswith("-") else 0
    if exact == 0:
        return bytes([sign]).ljust(width, b"\0")
    bits = 8 * width - 8
    power = 0
    while exact >= Fraction(16) ** power:
        power += 1
    while exact < Fraction(16) ** (power - 1):
        power -= 1
    fraction = round(exact * Fraction(2) ** bits / Fraction(16) ** power)
    if fraction >> bits:
        fraction, power = fraction >> 4, power + 1
    if power > 63:
        raise ValueError(f"{value} is too large for hexadecimal floating point")
    if power < -64:
        return bytes([sign]).ljust(width, b"\0")
    return bytes([sign | power + 64]) + fraction.to_bytes(width - 1, "big")


def encode_date(text: str, ebcdic: bool = True) -> bytes:
    """``YYYY-MM-DD`` as it stands in a log."""
    return text.encode("cp037" if ebcdic else "ascii")


def encode_time(text: str, ebcdic: bool = True) -> bytes:
    """``HH:MM:SS`` as ``HH.MM.SS``."""
    return text.replace(":", ".").encode("cp037" if ebcdic else "ascii")


def encode_timestamp(text: str, ebcdic: bool = True) -> bytes:
    """``YYYY-MM-DD HH:MM:SS[.f][+HH:MM]`` as ``YYYY-MM-DD-HH.MM.SS[.f][+HH:MM]``."""
    moment = text[:10] + "-" + text[11:19].replace(":", ".") + text[19:]
    return moment.encode("cp037" if ebcdic else "ascii")


def encode_log_timestamp(text: str | None) -> bytes:
    """``YYYY-MM-DD HH:MM:SS[.f]`` as 34 packed digits; None as zeros."""
    digits = "".join(character for character in text or "" if character.isdigit())
    return bytes.fromhex(digits.ljust(34, "0"))


def encode_text(text: str, ccsid: int, width: int | None = None) -> bytes:
    """Text in a CCSID, filled up with blanks to ``width`` bytes; ``ValueError`` when it has no such
    character or is too long."""
    charset = charset_of(ccsid)
    data = _encoded(charset, text)
    if width is None:
        return data
    if len(data) > width or (width - len(data)) % len(charset.blank):
        raise ValueError(f"{len(data)} bytes do not fill {width}")
    return data + charset.blank * ((width - len(data)) // len(charset.blank))


def _encoded(charset: Charset, text: str) -> bytes:
    if charset.kind == "utf8":
        return text.encode("utf-8")
    if charset.kind == "utf16":
        return text.encode("utf-16-be")
    if charset.kind == "library":
        return bytes(icu().UnicodeString(text).encode(charset.codec))
    return _encode_by_table(charset, text)


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
    if ccsid in _ASCII_DOUBLE:  # several codes may be one character: one of them is written
        for text, code in double.items():
            data = bytes(icu().UnicodeString(text).encode(f"ibm-{_ASCII_DOUBLE[ccsid]}"))
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
