"""SQLite and DuckDB. Values of SQLite keep their own types, so decimals, dates and times are text
there, which is exact whatever the column was declared as."""

from __future__ import annotations

from sqlgen.choices import Deferral
from sqlgen.dialects import (
    ALL,
    DEFAULT,
    DEFAULT_EXPRESSION,
    LOSSY,
    RULES,
    WIDENED,
    ZONE_LOST,
    Abilities,
    CheckKind,
    Exact,
    FloatForm,
    Form,
    OneRow,
    Profile,
    RowCheck,
    TextForm,
    TypeRule,
    Upsert,
    altering,
    decimals,
    forms,
    large_types,
    named,
    timestamps,
)
from sqlgen.dialects.reserved_words import RESERVED
from sqlgen.schema import SqlType

_NUMBER = FloatForm("", "", infinity="9e999", nan="", exponent=True, widen=True, powers=True)
_TEXT = "lengths are not enforced"
_COLLATED = (SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB, SqlType.XML)

_SQLITE_TYPES = (
    TypeRule(SqlType.SMALLINT, "INTEGER", 0, WIDENED, "64 bits"),
    TypeRule(SqlType.INTEGER, "INTEGER", 0, WIDENED, "64 bits"),
    TypeRule(SqlType.BIGINT, "INTEGER"),
    TypeRule(
        SqlType.DECIMAL,
        "NUMERIC",
        15,
        WIDENED,
        "stored as integer or double; up to 15 digits are exact",
    ),
    TypeRule(
        SqlType.DECIMAL,
        "TEXT",
        0,
        WIDENED,
        "text: SQLite keeps 15 digits of a number; compare and sum with care",
    ),
    TypeRule(SqlType.REAL, "REAL", 0, WIDENED, "a double"),
    TypeRule(
        SqlType.DOUBLE,
        "REAL",
        0,
        LOSSY,
        "no NaN, no -0.0",
    ),
    TypeRule(SqlType.CHAR, "TEXT", 0, WIDENED, f"not padded; {_TEXT}"),
    TypeRule(SqlType.VARCHAR, "TEXT", 0, WIDENED, _TEXT),
    TypeRule(SqlType.BINARY, "BLOB", 0, WIDENED, _TEXT),
    TypeRule(SqlType.VARBINARY, "BLOB", 0, WIDENED, _TEXT),
    TypeRule(SqlType.DATE, "TEXT", 0, WIDENED, "text YYYY-MM-DD"),
    TypeRule(SqlType.TIME, "TEXT", 0, WIDENED, "text HH:MM:SS"),
    TypeRule(SqlType.TIMESTAMP, "TEXT", 0, WIDENED, "text YYYY-MM-DD HH:MM:SS.f"),
    TypeRule(
        SqlType.TIMESTAMP_TZ,
        "TEXT",
        0,
        WIDENED,
        "text with its offset: equal timestamps in two zones are not equal",
    ),
    *large_types("INTEGER", "TEXT", "TEXT", "BLOB", "TEXT"),
)

SQLITE = Profile(
    name="sqlite",
    sqlglot="sqlite",
    fold="lower",
    one_case=frozenset({"tables", "columns"}),
    name_length=1_000_000,
    reserved=RESERVED,
    time_digits=12,
    one_row=OneRow("locator", "_rowid_", others=("rowid", "oid")),
    upsert=Upsert("conflict", folds=True),
    client="sqlite3 -bail DATABASE < this-file (ATTACH a file for each schema first)",
    forms={**forms(Form("X'", "'")), SqlType.DECIMAL: Form()},
    types=_SQLITE_TYPES,
    indexes="index",
    schemas="",
    exact={kind: Exact(after=" COLLATE BINARY") for kind in _COLLATED},
    exact_keys=True,
    booleans=("1", "0"),
    defer="PRAGMA defer_foreign_keys = ON;",
    deferral=Deferral.ANY,
    text=TextForm(character="CHAR({})"),
    floats={SqlType.REAL: _NUMBER, SqlType.DOUBLE: _NUMBER},
    as_text=frozenset({SqlType.DATE, SqlType.TIME, SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ}),
    null_byte=True,
    quirks=("A schema is an attached database: ATTACH 'file' AS schema before the script.",),
    abilities=Abilities(
        constraints=ALL,
        on_delete=RULES,
        on_update=RULES,
        default=DEFAULT_EXPRESSION,
        add_column=frozenset({"default", "not null with default"}),
    ),
    row_check=RowCheck(
        CheckKind.AFTER,
        # RAISE is for triggers; of a path that is none the error tells the text
        "SELECT JSON_EXTRACT('0', '{unit}: statement {statement} touched ' || CHANGES() ||"
        " ' rows instead of 1') WHERE CHANGES() <> 1;",
    ),
)

_DUCKDB_TYPES = (
    *named("SMALLINT", "INTEGER", "BIGINT", "REAL", "DOUBLE", "DATE", "TIME"),
    *decimals("DECIMAL"),
    TypeRule(SqlType.CHAR, "TEXT", 0, WIDENED, f"not padded; {_TEXT}"),
    TypeRule(SqlType.VARCHAR, "TEXT", 0, WIDENED, _TEXT),
    TypeRule(SqlType.BINARY, "BLOB", 0, WIDENED, _TEXT),
    TypeRule(SqlType.VARBINARY, "BLOB", 0, WIDENED, _TEXT),
    *timestamps(SqlType.TIMESTAMP, "TIMESTAMP", 6),
    TypeRule(SqlType.TIMESTAMP_TZ, "TIMESTAMPTZ", 0, LOSSY, ZONE_LOST),
    *large_types("BOOLEAN", "TEXT", "TEXT", "BLOB", "TEXT"),
)

DUCKDB = Profile(
    name="duckdb",
    sqlglot="duckdb",
    default_schema="main",
    fold="lower",
    one_case=frozenset({"tables", "columns"}),
    name_length=1_000_000,
    reserved=RESERVED,
    time_digits=6,
    one_row=OneRow("locator", "rowid"),
    upsert=Upsert("conflict", folds=True),
    client="duckdb -bail DATABASE < this-file",
    forms=forms(Form("FROM_HEX('", "')")),
    exact={kind: Exact(after=" COLLATE POSIX") for kind in _COLLATED},
    exact_keys=True,
    types=_DUCKDB_TYPES,
    hour_24=frozenset({SqlType.TIME}),
    null_byte=True,
    truncate=True,
    abilities=Abilities(
        constraints=ALL,
        default=DEFAULT,
        add_column=frozenset({"default"}),
        sequences=True,
        alter=altering("type", "set not null", "drop not null", "set default", "drop default"),
    ),
    row_check=RowCheck(
        CheckKind.BEFORE, "ERROR('{label} finds ' || COUNT(*) || ' rows instead of 1')"
    ),
)
