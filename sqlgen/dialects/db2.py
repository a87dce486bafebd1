"""Db2 for z/OS 12 and Db2 for Linux, UNIX and Windows 11.1, and later ones.

``CHR(0)`` is a blank there, so text with X'00' cannot be said. ``=`` pads with blanks: where only the very same text is meant, a full stop after
both sides makes blanks at the end count.
"""

from __future__ import annotations

from sqlgen.dialects import REFUSED, WIDENED, FloatForm, Form, OneRow, Profile, TextForm, TypeRule, Upsert, forms, large_types
from sqlgen.dialects.abilities import ALL, DEFAULT, Abilities
from sqlgen.dialects.words import RESERVED
from sqlgen.schema import SqlType

_NUMBER = FloatForm("", "", infinity="", nan="", exponent=True, widen=True)

TYPES = (
    TypeRule(SqlType.SMALLINT, "SMALLINT"),
    TypeRule(SqlType.INTEGER, "INTEGER"),
    TypeRule(SqlType.BIGINT, "BIGINT"),
    TypeRule(SqlType.DECIMAL, "DECIMAL({length}, {scale})", 31),
    TypeRule(SqlType.DECIMAL, "", 0, REFUSED, "a decimal has 31 digits at most"),
    TypeRule(SqlType.REAL, "REAL"),
    TypeRule(SqlType.DOUBLE, "DOUBLE"),
    TypeRule(SqlType.CHAR, "CHAR({length})", 254),
    TypeRule(SqlType.CHAR, "VARCHAR({length})", 0, WIDENED, "not padded"),
    TypeRule(SqlType.VARCHAR, "VARCHAR({length})", 32672),
    TypeRule(SqlType.VARCHAR, "CLOB(2G)", 0, WIDENED, "cannot be compared, nor be part of a key"),
    TypeRule(SqlType.BINARY, "BINARY({length})", 254),
    TypeRule(SqlType.BINARY, "VARBINARY({length})", 32672, WIDENED, "not padded"),
    TypeRule(SqlType.VARBINARY, "VARBINARY({length})", 32672),
    TypeRule(SqlType.BINARY, "BLOB(2G)", 0, WIDENED, "cannot be compared, nor be part of a key"),
    TypeRule(SqlType.VARBINARY, "BLOB(2G)", 0, WIDENED, "cannot be compared, nor be part of a key"),
    TypeRule(SqlType.DATE, "DATE"),
    TypeRule(SqlType.TIME, "TIME"),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP({digits})"),
    TypeRule(SqlType.TIMESTAMP_TZ, "TIMESTAMP({digits}) WITH TIME ZONE"),
    *large_types("SMALLINT", "DECFLOAT(34)", "CLOB(2G)", "BLOB(2G)", "XML"),
)

PROFILE = Profile(
    name="db2",
    sqlglot="db2",
    fold="upper",
    name_length=128,
    reserved=RESERVED,
    time_digits=12,
    one_row=OneRow("function", "RID"),
    upsert=Upsert("merge", source="SYSIBM.SYSDUMMY1"),
    client="db2 -s +c -tf this-file",
    forms=forms(Form("BX'", "'")),
    types=TYPES,
    schemas="",
    booleans=("1", "0"),
    text=TextForm(most_bytes=32672),
    floats={SqlType.REAL: _NUMBER, SqlType.DOUBLE: _NUMBER},
    exact={SqlType.VARCHAR: (" || '.'", " || '.'")},
    zone_hours=(12, 14),
    hour_24=frozenset({SqlType.TIME, SqlType.TIMESTAMP}),
    pads_char=True,
    begin="",
    indexes="both",
    quirks=(
        "Schemas are not made: they come to be with their first table.",
        "TIMESTAMP WITH TIME ZONE is there in Db2 for z/OS only.",
        "db2 -s stops at the first error, +c keeps it from committing each statement.",
    ),
    abilities=Abilities(
        constraints=ALL,
        added=ALL,
        on_delete=frozenset({"CASCADE", "SET NULL", "RESTRICT"}),
        on_update=frozenset({"RESTRICT"}),
        default=DEFAULT,
        add_column=frozenset({"default", "not null with default"}),
        sequences=True,
        check_option=True,
        alter={
            "type": "ALTER TABLE {table} ALTER COLUMN {column} SET DATA TYPE {type}",
            "set not null": "ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL",
            "drop not null": "ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL",
            "set default": "ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT {default}",
            "drop default": "ALTER TABLE {table} ALTER COLUMN {column} DROP DEFAULT",
            "drop constraint": "ALTER TABLE {table} DROP CONSTRAINT {constraint}",
        },
    ),
)
