"""PostgreSQL."""

from __future__ import annotations

from sqlgen.dialects import Profile

#: Words that PostgreSQL reserves (``pg_get_keywords()`` categories R and T, PostgreSQL 15 to 18); as a name they need quotes.
RESERVED = frozenset(
    """
    all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column concurrently
    constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user default
    deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having ilike in initially inner
    intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null offset on only or order
    outer overlaps placing primary references returning right select session_user similar some symmetric system_user table tablesample then
    to trailing true union unique user using variadic verbose when where window with
    """.split()
)

PROFILE = Profile(
    name="postgres",
    sqlglot="postgres",
    fold="lower",
    name_bytes=63,
    reserved=RESERVED,
    row_locator="ctid",
    time_digits=6,
    zone_hours=15,
    null_byte=False,
    session=(
        "SET client_encoding = 'UTF8';",
        "SET standard_conforming_strings = on;",
        "SET DateStyle = 'ISO, YMD';",
        "SET client_min_messages = warning;",
    ),
)
