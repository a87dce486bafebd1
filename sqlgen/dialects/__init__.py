"""Dialects as data: a :class:`Profile` says how a database spells names, values and transactions. Found by name, like any plug-in."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points

from sqlgen.errors import SqlgenError


@dataclass(frozen=True)
class Profile:
    """One dialect. ``sqlglot`` names the sqlglot dialect that writes the skeletons; ``name_bytes`` is the longest identifier; ``fold`` is how
    an unquoted identifier is stored (``lower`` or ``upper``); ``reserved`` words need quotes; ``row_locator`` is the pseudo-column that names one row
    physically; ``time_digits`` the fraction digits of its timestamps; ``zone_hours`` the largest offset of a timestamp with zone;
    ``null_byte`` whether text may hold X'00'."""

    name: str
    sqlglot: str
    fold: str
    name_bytes: int
    reserved: frozenset[str]
    row_locator: str
    time_digits: int
    zone_hours: int
    null_byte: bool
    session: tuple[str, ...]
    begin: str = "BEGIN;"
    commit: str = "COMMIT;"


def profile_named(name: str) -> Profile:
    """The profile of a dialect. SqlgenError (LR1001) for a name that no installed package offers."""
    from sqlgen.dialects.postgres import PROFILE

    if name == PROFILE.name:
        return PROFILE
    points = {point.name: point for point in entry_points(group="logreplay.profiles")}
    if name not in points:
        known = ", ".join(sorted({PROFILE.name, *points}))
        raise SqlgenError("LR1001", f"found dialect {name!r}; expected one of: {known}")
    profile: Profile = points[name].load()
    return profile
