"""How people write positions, times and units of recovery; the same in the command line and in the
library. Nothing heavy is imported here."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from replay.errors import UsageError

_POSITION = re.compile(r"[0-9A-F]{12}|[0-9A-F]{16}|[0-9A-F]{20}|[0-9A-F]{40}|[0-9A-F]{56}")
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T \-](\d\d)[:.](\d\d)(?:[:.](\d\d)(?:[.,](\d{1,12}))?)?)?"
)
#: The end of an id that has 20 digits, or a number where units have numbers.
_LAST_DIGITS = re.compile(r"[0-9A-F]{4,19}|\d{1,3}")
#: What a time in UTC ends with, and one with any zone.
_UTC = re.compile(r"(.*:\d\d(?:\.\d+)?)(?:Z|\+00:00)", re.IGNORECASE)
_ZONED = re.compile(r":\d\d(?:\.\d+)?\s*(?:Z|UTC|GMT|[+-]\d\d:?\d\d)$", re.IGNORECASE)
#: Of a day: times are HHMMSS, the last one 240000.
_TIME_OF_DAY = re.compile(r"([01]\d|2[0-3])[0-5]\d[0-5]\d|240000")
#: Bytes of a time as headers have it.
TIME_SIZE = 17


def position_of(text: str) -> bytes:
    """A position as the log places it (:meth:`replay.logs.LogFile.placed`): the bytes of an LRSN,
    RBA or LSN (20, 12 or 16 hexadecimal digits, with or without ``X'…'`` or ``0x``), or of a
    LOGADDR (40 or 56). UsageError (LR1001) for other text."""
    digits = text.upper().removeprefix("X'").removesuffix("'").removeprefix("0X")
    if not _POSITION.fullmatch(digits):
        expected = (
            "an LRSN, RBA or LSN of 20 (or 12, or 16) hexadecimal digits, or a LOGADDR of 40 or 56"
        )
        raise UsageError("LR1001", f"found {text!r}; expected {expected}")
    return bytes.fromhex(digits)


def time_text(time: bytes) -> str:
    """A time of 17 packed bytes as it is given on the command line, to the microsecond."""
    digits = time.hex()
    parts = (digits[0:4], digits[4:6], digits[6:8], digits[8:10], digits[10:12], digits[12:14])
    year, month, day, hour, minute, second = parts
    return f"{year}-{month}-{day} {hour}:{minute}:{second}.{digits[14:20]}"


class UtcTime(bytes):
    """A time that a user gave in UTC."""


def time_of(text: str, last: bool) -> bytes:
    """A time as 17 bytes of packed digits. What is left out counts as the first or the ``last``
    moment. UsageError (LR1001) for other text than YYYY-MM-DD[ HH:MM[:SS[.ffffff]]], and for
    another zone than UTC (Z: :class:`UtcTime`)."""
    plain = text.strip()
    if found := _UTC.fullmatch(plain):
        return UtcTime(time_of(found[1], last))
    match = _TIME.fullmatch(plain)
    if not match:
        why = ", without a zone or with Z for UTC" if _ZONED.search(text) else ""
        raise UsageError(
            "LR1001", f"found {text!r}; expected YYYY-MM-DD[ HH:MM[:SS[.ffffff]]]{why}"
        )
    parts = [part or "" for part in match.groups()]
    if not _is_real(parts):
        raise UsageError("LR1001", f"found {text!r}; expected a real date and time")
    fill = ["", "", "", "23", "59", "59"] if last else ["", "", "", "00", "00", "00"]
    digits = "".join(part or other for part, other in zip(parts[:6], fill, strict=True))
    return bytes.fromhex((digits + parts[6]).ljust(2 * TIME_SIZE, "9" if last else "0"))


def first_of_time(time: bytes) -> bytes:
    """The first moment that a time may mean whose last one is given: that of its second, minute or
    day where all that follows is full."""
    digits = time.hex()
    fraction = digits[14:].rstrip("9").ljust(len(digits) - 14, "0")
    parts = [digits[12:14], digits[10:12], digits[8:10]]
    for place, full in enumerate(("59", "59", "23")):
        if digits[14:].strip("9") or parts[place] != full:
            break
        parts[place] = "00"
    return bytes.fromhex(digits[:8] + "".join(reversed(parts)) + fraction)


def _is_real(parts: list[str]) -> bool:
    """Whether there is such a day and such a time of it; what is left out is 0."""
    year, month, day, *time, _ = parts
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return _TIME_OF_DAY.fullmatch("".join(part or "00" for part in time)) is not None


def unit_of(text: str) -> tuple[bytes | str, int | None]:
    """A unit of recovery, ``URID`` or ``URID/MEMBER``: its id as the log places it
    (:meth:`replay.logs.LogFile.placed_unit`), or the last digits of its id, or its number, as text;
    and its member.
    UsageError (LR1001) for other text."""
    urid, _, member = text.partition("/")
    if member and not member.isdigit():
        raise UsageError("LR1001", f"found member {member!r}; expected a number")
    if _LAST_DIGITS.fullmatch(urid.upper()) and not _POSITION.fullmatch(urid.upper()):
        return urid.upper(), int(member) if member else None
    try:
        unit = position_of(urid)
    except UsageError:
        unit = b""
    if not 0 < len(unit) <= 10:
        raise UsageError(
            "LR1001",
            f"found {urid!r}; expected the id of a unit, of 20 hexadecimal digits, or its last"
            " digits (4 or more); a time is for --from-time and --until-time",
        )
    return unit, int(member) if member else None


def range_of(text: str) -> tuple[int, int]:
    """First and last of some numbers, ``N`` or ``FIRST-LAST``, decimal or hexadecimal (``0x…``,
    ``X'…'``). UsageError (LR1001) for other text, and for an end before the beginning."""
    first, dash, last = text.partition("-")
    low = _number(first, text)
    high = _number(last, text) if dash else low
    if high < low:
        raise UsageError("LR1001", f"found {text!r}; expected the lower number first")
    return low, high


def _number(text: str, whole: str) -> int:
    plain = text.strip()
    digits = plain.upper().removeprefix("X'").removesuffix("'").removeprefix("0X")
    base = 16 if digits != plain.upper() else 10
    allowed = r"[0-9A-F]{1,15}" if base == 16 else r"[0-9]{1,18}"
    if not re.fullmatch(allowed, digits):
        raise UsageError(
            "LR1001", f"found {whole!r}; expected N or FIRST-LAST, decimal or hexadecimal (0x1F)"
        )
    return int(digits, base)


def rid_of(text: str) -> bytes:
    """The bytes of a row identifier from its hexadecimal digits, with or without ``X'…'`` or
    ``0x``. UsageError (LR1001) for other text."""
    digits = text.strip().upper().removeprefix("X'").removesuffix("'").removeprefix("0X")
    if not re.fullmatch(r"(?:[0-9A-F]{2}){4,8}", digits):
        raise UsageError(
            "LR1001", f"found {text!r}; expected the hexadecimal digits of a RID, as in the log"
        )
    return bytes.fromhex(digits)


#: Kinds of units that ``--except`` takes, and the fields of a selection that name them.
CHOICES = {
    "ur": "units",
    "user": "authids",
    "job": "correlations",
    "plan": "plans",
    "authid": "authids",
    "correlation": "correlations",
    "connection": "connections",
    "luw": "luws",
}


def choice_of(text: str) -> tuple[str, Any]:
    """``URID[/MEMBER]`` or ``KIND=VALUE``, of which units of recovery are chosen: a field of a
    selection, and one value of it. UsageError (LR1001) for what is neither."""
    kind, sign, value = text.partition("=")
    if not sign:
        return "units", unit_of(text)
    if kind not in CHOICES or not value:
        raise UsageError(
            "LR1001",
            f"found {text!r}; expected URID[/MEMBER], or KIND=VALUE with KIND one of"
            f" {', '.join(CHOICES)}",
        )
    return CHOICES[kind], unit_of(value) if kind == "ur" else value
