"""Spark SQL and Databricks, with tables that can be changed row by row (Delta Lake, Iceberg)."""

from __future__ import annotations

from sqlgen.dialects import (
    LOSSY,
    WIDENED,
    FloatForm,
    Form,
    OneRow,
    Profile,
    TextForm,
    TypeRule,
    Upsert,
    forms,
    large_types,
)
from sqlgen.dialects.ddl_support import POSTGRES_ALTER, Abilities
from sqlgen.dialects.reserved_words import RESERVED
from sqlgen.dialects.row_checks import CheckKind, RowCheck
from sqlgen.schema import SqlType

_TEXT = "lengths are not enforced"

TYPES = (
    TypeRule(SqlType.SMALLINT, "SMALLINT"),
    TypeRule(SqlType.INTEGER, "INT"),
    TypeRule(SqlType.BIGINT, "BIGINT"),
    TypeRule(SqlType.DECIMAL, "DECIMAL({length}, {scale})", 38),
    TypeRule(SqlType.DECIMAL, "DECIMAL(38, {scale})", 0, LOSSY, "38 digits at most", 38),
    TypeRule(SqlType.REAL, "FLOAT"),
    TypeRule(SqlType.DOUBLE, "DOUBLE"),
    TypeRule(SqlType.CHAR, "STRING", 0, WIDENED, f"not padded; {_TEXT}"),
    TypeRule(SqlType.VARCHAR, "STRING", 0, WIDENED, _TEXT),
    TypeRule(SqlType.BINARY, "BINARY", 0, WIDENED, _TEXT),
    TypeRule(SqlType.VARBINARY, "BINARY", 0, WIDENED, _TEXT),
    TypeRule(SqlType.DATE, "DATE"),
    TypeRule(SqlType.TIME, "STRING", 0, WIDENED, "text HH:MM:SS"),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP_NTZ", 6),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP_NTZ", 0, LOSSY, "six fraction digits"),
    TypeRule(
        SqlType.TIMESTAMP_TZ,
        "TIMESTAMP",
        0,
        LOSSY,
        "the moment is kept, its time zone is not; six fraction digits",
    ),
    *large_types("BOOLEAN", "STRING", "STRING", "BINARY", "STRING"),
)

PROFILE = Profile(
    name="spark",
    sqlglot="spark",
    fold="lower",
    one_case=frozenset({"tables", "columns"}),
    name_length=255,
    name_characters=True,
    reserved=RESERVED,
    time_digits=6,
    one_row=OneRow(""),
    upsert=Upsert("merge"),
    client="spark-sql -f this-file",
    forms=forms(
        Form("X'", "'"),
        date=Form("CAST('", "' AS DATE)"),
        time=Form(),
        timestamp=Form("CAST('", "' AS TIMESTAMP_NTZ)"),
        zoned=Form("CAST('", "' AS TIMESTAMP)"),
    ),
    types=TYPES,
    indexes="",
    keys=None,
    text=TextForm(
        quote="\\'", special="\\$", escaped=Form(), escaped_quote="\\'", control="\\u{:04x}"
    ),
    floats={
        SqlType.REAL: FloatForm("CAST('", "' AS FLOAT)"),
        SqlType.DOUBLE: FloatForm("CAST('", "' AS DOUBLE)"),
    },
    as_text=frozenset({SqlType.TIME}),
    null_byte=True,
    session=(
        "SET spark.sql.parser.escapedStringLiterals = false;",
        "SET spark.sql.ansi.enabled = true;",
    ),
    rename_in_schema=True,
    begin="",
    commit="",
    quirks=(
        (
            "Each statement is a transaction of its own: a script that stops leaves a part of a"
            " unit of recovery."
        ),
        "Keys are not enforced. Tables must be of a format that takes UPDATE and DELETE.",
    ),
    abilities=Abilities(
        alter={
            "type": POSTGRES_ALTER["type"],
            "set not null": POSTGRES_ALTER["set not null"],
            "drop not null": POSTGRES_ALTER["drop not null"],
        }
    ),
    row_check=RowCheck(
        CheckKind.BEFORE, "RAISE_ERROR(CONCAT('{label} finds ', COUNT(*), ' rows instead of 1'))"
    ),
)
