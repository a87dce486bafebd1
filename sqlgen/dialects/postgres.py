"""PostgreSQL."""

from __future__ import annotations

from sqlgen.dialects import LOSSY, WIDENED, FloatForm, Form, OneRow, Profile, TextForm, TypeRule, Upsert, forms, large_types
from sqlgen.dialects.abilities import ALL, ANY_COLUMN, DEFAULT, POSTGRES_ALTER, RULES, Abilities
from sqlgen.schema import SqlType

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

TYPES = (
    TypeRule(SqlType.SMALLINT, "SMALLINT"),
    TypeRule(SqlType.INTEGER, "INTEGER"),
    TypeRule(SqlType.BIGINT, "BIGINT"),
    TypeRule(SqlType.DECIMAL, "DECIMAL({length}, {scale})"),
    TypeRule(SqlType.REAL, "REAL"),
    TypeRule(SqlType.DOUBLE, "DOUBLE PRECISION"),
    TypeRule(SqlType.CHAR, "CHAR({length})"),
    TypeRule(SqlType.VARCHAR, "VARCHAR({length})"),
    TypeRule(SqlType.BINARY, "BYTEA", 0, WIDENED, "the length is not kept"),
    TypeRule(SqlType.VARBINARY, "BYTEA", 0, WIDENED, "the length is not kept"),
    TypeRule(SqlType.DATE, "DATE"),
    TypeRule(SqlType.TIME, "TIME(0)"),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP({digits})", 6),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP({digits})", 0, LOSSY, "six fraction digits"),
    TypeRule(SqlType.TIMESTAMP_TZ, "TIMESTAMPTZ({digits})", 0, LOSSY, "the moment is kept, its time zone is not; six fraction digits"),
    *large_types("BOOLEAN", "NUMERIC", "TEXT", "BYTEA", "XML"),
)

PROFILE = Profile(
    name="postgres",
    sqlglot="postgres",
    fold="lower",
    name_length=63,
    reserved=RESERVED,
    time_digits=6,
    one_row=OneRow("locator", "ctid", "tableoid"),
    upsert=Upsert("conflict"),
    client="psql -v ON_ERROR_STOP=1 -f this-file",
    forms=forms(Form("'\\x", "'::bytea")),
    types=TYPES,
    text=TextForm(special="\\", escaped=Form("E'", "'")),
    floats={SqlType.REAL: FloatForm(typed="::real"), SqlType.DOUBLE: FloatForm()},
    hour_24=frozenset({SqlType.TIME, SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ}),
    pads_char=True,
    session=(
        "SET client_encoding = 'UTF8';",
        "SET standard_conforming_strings = on;",
        "SET DateStyle = 'ISO, YMD';",
        "SET client_min_messages = warning;",
    ),
    truncate=True,
    defer="SET CONSTRAINTS ALL DEFERRED;",
    abilities=Abilities(
        constraints=ALL,
        added=ALL,
        on_delete=RULES,
        on_update=RULES,
        default=DEFAULT,
        add_column=ANY_COLUMN,
        sequences=True,
        check_option=True,
        alter={**POSTGRES_ALTER, "schema": "ALTER TABLE {table} SET SCHEMA {schema}"},
    ),
)
