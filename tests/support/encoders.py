"""Scalar encoders of numbers and moments, the inverse of :mod:`replay.decoding.codecs`."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction


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
