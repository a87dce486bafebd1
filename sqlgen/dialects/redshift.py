"""Amazon Redshift. A backslash may escape there, so it is written as ``CHR(92)``."""

from __future__ import annotations

from sqlgen.dialects import LOSSY, REFUSED, WIDENED, FloatForm, Form, OneRow, Profile, TextForm, TypeRule, Upsert, forms, large_types
from sqlgen.dialects.abilities import ANY_COLUMN, DEFAULT, POSTGRES_ALTER, Abilities
from sqlgen.dialects.words import RESERVED
from sqlgen.schema import SqlType

_BYTES = "lengths are bytes: four for each character are reserved"

TYPES = (
    TypeRule(SqlType.SMALLINT, "SMALLINT"),
    TypeRule(SqlType.INTEGER, "INTEGER"),
    TypeRule(SqlType.BIGINT, "BIGINT"),
    TypeRule(SqlType.DECIMAL, "DECIMAL({length}, {scale})", 38),
    TypeRule(SqlType.DECIMAL, "DECIMAL(38, {scale})", 0, LOSSY, "38 digits at most", 38),
    TypeRule(SqlType.REAL, "REAL"),
    TypeRule(SqlType.DOUBLE, "DOUBLE PRECISION"),
    TypeRule(SqlType.CHAR, "VARCHAR({bytes})", 16383, WIDENED, f"CHAR holds single bytes only; {_BYTES}"),
    TypeRule(SqlType.VARCHAR, "VARCHAR({bytes})", 16383, WIDENED, _BYTES),
    TypeRule(SqlType.VARCHAR, "VARCHAR(65535)", 0, LOSSY, "65,535 bytes at most"),
    TypeRule(SqlType.BINARY, "VARBYTE({length})", 1024000, WIDENED, "may be shorter"),
    TypeRule(SqlType.VARBINARY, "VARBYTE({length})", 1024000),
    TypeRule(SqlType.VARBINARY, "", 0, REFUSED, "1,024,000 bytes at most"),
    TypeRule(SqlType.DATE, "DATE"),
    TypeRule(SqlType.TIME, "TIME"),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP", 6),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP", 0, LOSSY, "six fraction digits"),
    TypeRule(SqlType.TIMESTAMP_TZ, "TIMESTAMPTZ", 0, LOSSY, "the moment is kept, its time zone is not; six fraction digits"),
    *large_types(
        "BOOLEAN", "VARCHAR(42)", "VARCHAR(65535)", "VARBYTE(1024000)", "VARCHAR(65535)", "65,535 characters, 1,024,000 bytes at most"
    ),
)
_TEXT = (" || '.'", " || '.'")

PROFILE = Profile(
    name="redshift",
    sqlglot="redshift",
    fold="lower",
    name_length=127,
    reserved=RESERVED,
    time_digits=6,
    one_row=OneRow(""),
    upsert=Upsert("replace"),
    client="psql -v ON_ERROR_STOP=1 -f this-file",
    forms=forms(Form("FROM_HEX('", "')")),
    types=TYPES,
    indexes="",
    text=TextForm(special="\\"),
    floats={
        SqlType.REAL: FloatForm("CAST('", "' AS REAL)", nan=""),
        SqlType.DOUBLE: FloatForm("CAST('", "' AS DOUBLE PRECISION)", nan=""),
    },
    exact={SqlType.VARCHAR: _TEXT},
    hour_24=frozenset({SqlType.TIME}),
    session=("SET client_encoding TO 'UTF8';", "SET datestyle TO 'ISO, YMD';"),
    quirks=("Primary and foreign keys are not enforced.",),
    abilities=Abilities(
        constraints=frozenset({"unique", "foreign key"}),
        added=frozenset({"unique", "foreign key"}),
        default=DEFAULT,
        add_column=ANY_COLUMN,
        alter={"drop constraint": POSTGRES_ALTER["drop constraint"]},
    ),
)
