"""Values of columns, drawn from a seed: edges of the types, odd characters, and plain ones."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

Value = None | int | float | str | bytes | Decimal

PLAIN = "abcdefgXYZ 0189"
ODD = (
    *("a", "B", " ", "'", "\\", '"', "\n", "\r", "\t", ";", "--", "é", "ß", "Ω", "漢", "😀", "𝄞"),
    *("%", "_", "$1", "{", "}", "/*", "*/", "\x01", "\x1f", "\x7f", "\x85", "\xa0", "\u2028"),
    *("\ufeff", "?", ":x", "E'", "$$", "NULL", "0", "`", "]", "|", "\u0301", "\x1b", "\ufffd"),
)
SINGLES = (
    *(0.0, 1.0, -1.0, 3.4028234663852886e38, -3.4028234663852886e38, 1.401298464324817e-45),
    *(1.1754943508222875e-38, 16777216.0, 33554432.0, 1e10, 0.0625),
)
DOUBLES = (
    *(0.0, 1.0, -1.0, 0.1, 1.7976931348623157e308, -1.7976931348623157e308, 5e-324, 2 / 3),
    *(2.2250738585072014e-308, 1e22, 1e23, 9007199254740993.0, 1e15, 1e16, 1e-5),
)
DAYS = ("0001-01-01", "9999-12-31", "2000-02-29", "1900-02-28", "1582-10-10", "1970-01-01")


def text(pick: random.Random, most: int, encoding: str = "utf-8") -> str:
    """A text of at most so many bytes; few of them are empty or blank."""
    what = pick.random()
    if what < 0.1 or most == 0:
        return ""
    if what < 0.15:
        return " " * pick.randint(1, max(1, min(3, most // len(" ".encode(encoding)))))
    letters: Sequence[str] = PLAIN if pick.random() < 0.4 else ODD
    count = pick.choice((1, 2, 3, 5, 8, most, most))
    found, size = "", 0
    while len(found) < count:
        letter = pick.choice(letters)
        size += len(letter.encode(encoding))
        if size > most:
            break
        found += letter
    return found


def whole(pick: random.Random, bits: int) -> int:
    """A number of two's complement with so many bits."""
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    what = pick.random()
    if what < 0.15:
        return pick.choice((low, high, 0, -1, 1, low + 1, high - 1))
    return pick.randint(-100, 100) if what < 0.6 else pick.randint(low, high)


def decimal(pick: random.Random, digits: int, scale: int) -> Decimal:
    """A number of at most so many digits, with all digits of its scale."""
    most = 10**digits - 1
    what = pick.random()
    some = min(most, 99_999)
    value = pick.randint(-most, most)
    if what < 0.6:
        value = pick.choice((0, most, -most, 1, -1)) if what < 0.1 else pick.randint(-some, some)
    return Decimal(f"{value}E-{scale}")


def single(pick: random.Random) -> float:
    """A number of 32 bits, as one of 64."""
    if pick.random() < 0.2:
        return pick.choice(SINGLES)
    return _finite(pick, 32, ">I", ">f")


def double(pick: random.Random) -> float:
    what = pick.random()
    if what < 0.6:
        return pick.choice(DOUBLES) if what < 0.2 else round(pick.uniform(-1000, 1000), 2)
    return _finite(pick, 64, ">Q", ">d")


def _finite(pick: random.Random, bits: int, whole_number: str, form: str) -> float:
    while True:
        value: float = struct.unpack(form, struct.pack(whole_number, pick.getrandbits(bits)))[0]
        if math.isfinite(value):
            return value


def day(pick: random.Random) -> str:
    if pick.random() < 0.1:
        return pick.choice(DAYS)
    return date.fromordinal(pick.randint(1, date.max.toordinal())).isoformat()


def hour(pick: random.Random) -> str:
    if pick.random() < 0.1:
        return pick.choice(("00:00:00", "23:59:59"))
    return f"{pick.randrange(24):02}:{pick.randrange(60):02}:{pick.randrange(60):02}"


def moment(pick: random.Random, digits: int) -> str:
    """A timestamp with so many digits of a fraction."""
    whole_seconds = f"{day(pick)} {hour(pick)}"
    if not digits:
        return whole_seconds
    fractions = ("0" * digits, "9" * digits, f"{pick.randrange(10)}".ljust(digits, "0"))
    drawn = f"{pick.randrange(10**digits):0{digits}}"
    return f"{whole_seconds}.{drawn if pick.random() < 0.6 else pick.choice(fractions)}"


def octets(pick: random.Random, length: int) -> bytes:
    """Bytes, many of which mean something to somebody."""
    return bytes(pick.choice((0, 32, 39, 92, 255, pick.getrandbits(8))) for _ in range(length))
