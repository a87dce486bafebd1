"""Trino, with a connector whose tables can be changed row by row (Iceberg, Delta Lake, a
database)."""

from __future__ import annotations

from sqlgen.dialects import (
    LOSSY,
    WIDENED,
    FloatForm,
    Form,
    OneRow,
    Profile,
    TypeRule,
    Upsert,
    forms,
    large_types,
)
from sqlgen.dialects.ddl_support import POSTGRES_ALTER, Abilities
from sqlgen.dialects.reserved_words import RESERVED
from sqlgen.dialects.row_checks import CheckKind, RowCheck
from sqlgen.schema import SqlType

TYPES = (
    TypeRule(SqlType.SMALLINT, "INTEGER", 0, WIDENED, "32 bits, as Iceberg has no smaller one"),
    TypeRule(SqlType.INTEGER, "INTEGER"),
    TypeRule(SqlType.BIGINT, "BIGINT"),
    TypeRule(SqlType.DECIMAL, "DECIMAL({length}, {scale})", 38),
    TypeRule(SqlType.DECIMAL, "DECIMAL(38, {scale})", 0, LOSSY, "38 digits at most", 38),
    TypeRule(SqlType.REAL, "REAL"),
    TypeRule(SqlType.DOUBLE, "DOUBLE"),
    TypeRule(SqlType.CHAR, "VARCHAR", 0, WIDENED, "not padded; lengths are not enforced"),
    TypeRule(SqlType.VARCHAR, "VARCHAR", 0, WIDENED, "lengths are not enforced"),
    TypeRule(SqlType.BINARY, "VARBINARY", 0, WIDENED, "lengths are not enforced"),
    TypeRule(SqlType.VARBINARY, "VARBINARY", 0, WIDENED, "lengths are not enforced"),
    TypeRule(SqlType.DATE, "DATE"),
    TypeRule(SqlType.TIME, "TIME(6)", 0, LOSSY, "no 24:00:00"),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP(6)", 6),
    TypeRule(
        SqlType.TIMESTAMP, "TIMESTAMP(6)", 0, LOSSY, "six fraction digits, as Iceberg has no more"
    ),
    TypeRule(
        SqlType.TIMESTAMP_TZ,
        "TIMESTAMP(6) WITH TIME ZONE",
        0,
        LOSSY,
        "the moment is kept, its time zone is not; six fraction digits",
    ),
    *large_types("BOOLEAN", "VARCHAR", "VARCHAR", "VARBINARY", "VARCHAR"),
)

PROFILE = Profile(
    name="trino",
    sqlglot="trino",
    fold="lower",
    one_case=frozenset({"tables", "columns"}),
    name_length=255,
    name_characters=True,
    reserved=RESERVED,
    time_digits=6,
    one_row=OneRow(""),
    upsert=Upsert("merge"),
    client="trino --file this-file",
    forms={
        **forms(
            Form("X'", "'"),
            date=Form("CAST('", "' AS DATE)"),
            time=Form("CAST('", "' AS TIME(6))"),
            timestamp=Form("CAST('", "' AS TIMESTAMP(6))"),
            zoned=Form("CAST('", "' AS TIMESTAMP(6) WITH TIME ZONE)"),
        ),
        SqlType.BIGINT: Form("CAST('", "' AS BIGINT)"),
    },
    types=TYPES,
    indexes="",
    keys=None,
    floats={
        SqlType.REAL: FloatForm("CAST('", "' AS REAL)", nan=""),
        SqlType.DOUBLE: FloatForm("CAST('", "' AS DOUBLE)", nan=""),
    },
    zone_minutes=(14 * 60, 14 * 60),
    zone_space=True,
    rename_in_schema=True,
    begin="START TRANSACTION;",
    quirks=(
        (
            "Most connectors have no keys, and no transactions of several writes: run their scripts"
            " with one statement in a transaction."
        ),
    ),
    abilities=Abilities(
        alter={
            "type": "ALTER TABLE {table} ALTER COLUMN {column} SET DATA TYPE {type}",
            "drop not null": POSTGRES_ALTER["drop not null"],
        }
    ),
    row_check=RowCheck(
        CheckKind.BEFORE,
        "CAST('{label} finds ' || CAST(COUNT(*) AS VARCHAR) || ' rows instead of 1' AS INTEGER)",
    ),
)
