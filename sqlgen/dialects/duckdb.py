"""DuckDB."""

from __future__ import annotations

from sqlgen.dialects import (
    LOSSY,
    WIDENED,
    Exact,
    Form,
    OneRow,
    Profile,
    TypeRule,
    Upsert,
    forms,
    large_types,
)
from sqlgen.dialects.ddl_support import ALL, DEFAULT, POSTGRES_ALTER, Abilities
from sqlgen.dialects.reserved_words import RESERVED
from sqlgen.dialects.row_checks import CheckKind, RowCheck
from sqlgen.schema import SqlType

_TEXT = "lengths are not enforced"
_COLLATED = (SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB, SqlType.XML)

TYPES = (
    TypeRule(SqlType.SMALLINT, "SMALLINT"),
    TypeRule(SqlType.INTEGER, "INTEGER"),
    TypeRule(SqlType.BIGINT, "BIGINT"),
    TypeRule(SqlType.DECIMAL, "DECIMAL({length}, {scale})", 38),
    TypeRule(SqlType.DECIMAL, "DECIMAL(38, {scale})", 0, LOSSY, "38 digits at most", 38),
    TypeRule(SqlType.REAL, "REAL"),
    TypeRule(SqlType.DOUBLE, "DOUBLE"),
    TypeRule(SqlType.CHAR, "TEXT", 0, WIDENED, f"not padded; {_TEXT}"),
    TypeRule(SqlType.VARCHAR, "TEXT", 0, WIDENED, _TEXT),
    TypeRule(SqlType.BINARY, "BLOB", 0, WIDENED, _TEXT),
    TypeRule(SqlType.VARBINARY, "BLOB", 0, WIDENED, _TEXT),
    TypeRule(SqlType.DATE, "DATE"),
    TypeRule(SqlType.TIME, "TIME"),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP", 6),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP", 0, LOSSY, "six fraction digits"),
    TypeRule(
        SqlType.TIMESTAMP_TZ,
        "TIMESTAMPTZ",
        0,
        LOSSY,
        "the moment is kept, its time zone is not; six fraction digits",
    ),
    *large_types("BOOLEAN", "TEXT", "TEXT", "BLOB", "TEXT"),
)

PROFILE = Profile(
    name="duckdb",
    sqlglot="duckdb",
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
    types=TYPES,
    hour_24=frozenset({SqlType.TIME}),
    null_byte=True,
    truncate=True,
    abilities=Abilities(
        constraints=ALL,
        default=DEFAULT,
        add_column=frozenset({"default"}),
        sequences=True,
        alter={what: text for what, text in POSTGRES_ALTER.items() if what != "drop constraint"},
    ),
    row_check=RowCheck(
        CheckKind.BEFORE, "ERROR('{label} finds ' || COUNT(*) || ' rows instead of 1')"
    ),
)
