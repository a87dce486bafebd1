"""Db2's constants of dates, times and timestamps, in all forms that Db2 takes for texts of them
(ISO, USA, EUR, JIS): the same values by the contract of :mod:`sqlgen.schema`.

Facts are those of "String representations of datetime values" in the SQL references of Db2 for z/OS
12 and Db2 LUW 11.5.
"""

from __future__ import annotations

import re

from sqlgen.schema import SqlType

_DATES = (
    re.compile(r"(?P<y>\d{4})-(?P<m>\d\d?)-(?P<d>\d\d?)\Z"),
    re.compile(r"(?P<m>\d\d?)/(?P<d>\d\d?)/(?P<y>\d{4})\Z"),
    re.compile(r"(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{4})\Z"),
)
_TIME = re.compile(r"(\d\d?)[.:](\d\d)(?:[.:](\d\d))?\Z")
_USA_TIME = re.compile(r"(\d\d?)(?::(\d\d))?\s*([AP])\.?M\.?\Z", re.I)
_TIMESTAMP = re.compile(
    r"(\d{4}-\d\d?-\d\d?)(?:[- T](\d\d?)[.:](\d\d)[.:](\d\d)(?:\.(\d{1,12}))?)?\Z"
)


def moment(text: str, kind: SqlType) -> str:
    """A text of Db2 as a DATE, TIME or TIMESTAMP, most significant part first; the text itself
    where it is none that Db2 takes."""
    said = text.strip(" ")
    if kind is SqlType.DATE:
        return _date(said) or text
    if kind is SqlType.TIME:
        return _time(said) or text
    found = _TIMESTAMP.match(said)
    day = _date(found[1]) if found is not None else ""
    if found is None or not day:
        return text
    hour, minute, second, fraction = (found[place] or "0" for place in (2, 3, 4, 5))
    rest = f".{fraction}" if found[5] else ""
    return f"{day} {int(hour):02}:{int(minute):02}:{int(second):02}{rest}"


def _date(said: str) -> str:
    for form in _DATES:
        if found := form.match(said):
            return f"{found['y']}-{int(found['m']):02}-{int(found['d']):02}"
    return ""


def _time(said: str) -> str:
    if found := _TIME.match(said):
        return f"{int(found[1]):02}:{found[2]}:{found[3] or '00'}"
    found = _USA_TIME.match(said)
    if found is None or int(found[1]) > 12 or (int(found[1]) == 0 and found[3].upper() == "P"):
        return ""
    minute = found[2] or "00"
    if (found[1], minute, found[3].upper()) == ("12", "00", "A"):
        return "24:00:00"  # 00:00 AM is the beginning of the day, 12:00 AM its end
    return f"{int(found[1]) % 12 + 12 * (found[3].upper() == 'P'):02}:{minute}:00"
