"""Warehouses and lakes: BigQuery (GoogleSQL), Snowflake (where a backslash always escapes, so it is
written as ``CHR(92)``), and with tables that can be changed row by row (Delta Lake, Iceberg) Spark
SQL and Databricks, and Trino."""

from __future__ import annotations

from sqlgen.dialects import (
    ANY_COLUMN,
    DEFAULT,
    LOSSY,
    SET_DATA_TYPE,
    WIDENED,
    ZONE_LOST,
    Abilities,
    CheckKind,
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

_BIGQUERY_TYPES = (
    TypeRule(SqlType.SMALLINT, "INT64", 0, WIDENED, "64 bits"),
    TypeRule(SqlType.INTEGER, "INT64", 0, WIDENED, "64 bits"),
    TypeRule(SqlType.BIGINT, "INT64"),
    *decimals("BIGNUMERIC"),
    TypeRule(SqlType.REAL, "FLOAT64", 0, WIDENED, "a double"),
    TypeRule(SqlType.DOUBLE, "FLOAT64", 0, LOSSY, "cannot be part of a key; NaN is refused"),
    TypeRule(SqlType.CHAR, "STRING({length})", 0, WIDENED, "not padded"),
    TypeRule(SqlType.VARCHAR, "STRING({length})"),
    TypeRule(SqlType.BINARY, "BYTES({length})", 0, WIDENED, "may be shorter"),
    TypeRule(SqlType.VARBINARY, "BYTES({length})"),
    TypeRule(SqlType.DATE, "DATE"),
    TypeRule(SqlType.TIME, "TIME", 0, LOSSY, "no 24:00:00"),
    *timestamps(SqlType.TIMESTAMP, "DATETIME", 6),
    TypeRule(SqlType.TIMESTAMP_TZ, "TIMESTAMP", 0, LOSSY, ZONE_LOST),
    *large_types("BOOL", "STRING", "STRING", "BYTES", "STRING"),
)
_BIGQUERY_FLOAT = FloatForm("CAST('", "' AS FLOAT64)", infinity="inf", nan="", widen=True)

BIGQUERY = Profile(
    name="bigquery",
    sqlglot="bigquery",
    fold="lower",
    one_case=frozenset({"columns"}),
    name_length=300,
    name_characters=True,
    reserved=RESERVED,
    time_digits=6,
    one_row=OneRow(""),
    upsert=Upsert("merge", joined=True),
    client="bq query --use_legacy_sql=false < this-file",
    forms={
        **forms(
            Form("FROM_HEX('", "')"),
            date=Form("CAST('", "' AS DATE)"),
            time=Form("CAST('", "' AS TIME)"),
            timestamp=Form("CAST('", "' AS DATETIME)"),
            zoned=Form("CAST('", "' AS TIMESTAMP)"),
        ),
        SqlType.DECIMAL: Form("CAST('", "' AS BIGNUMERIC)"),
    },
    types=_BIGQUERY_TYPES,
    indexes="",
    keys=" NOT ENFORCED",
    text=TextForm(
        quote="\\'", special="\\", escaped=Form(), escaped_quote="\\'", control="\\u{:04x}"
    ),
    floats={SqlType.REAL: _BIGQUERY_FLOAT, SqlType.DOUBLE: _BIGQUERY_FLOAT},
    zone_minutes=(14 * 60, 14 * 60),
    begin="BEGIN TRANSACTION;",
    commit="COMMIT TRANSACTION;",
    delete_all="TRUE",
    quirks=("Primary and foreign keys are not enforced.", "A schema is a dataset."),
    abilities=Abilities(
        default=DEFAULT,
        alter={
            "type": SET_DATA_TYPE,
            **altering("drop not null", "set default", "drop default"),
        },
    ),
    row_check=RowCheck(
        CheckKind.AFTER,
        "ASSERT @@row_count = 1 AS '{unit}: statement {statement} touched another number of rows"
        " than 1';",
    ),
)


_SNOWFLAKE_TYPES = (
    TypeRule(SqlType.SMALLINT, "SMALLINT", 0, WIDENED, "a NUMBER(38, 0)"),
    TypeRule(SqlType.INTEGER, "INT", 0, WIDENED, "a NUMBER(38, 0)"),
    TypeRule(SqlType.BIGINT, "BIGINT", 0, WIDENED, "a NUMBER(38, 0)"),
    *decimals("DECIMAL"),
    TypeRule(SqlType.REAL, "FLOAT", 0, WIDENED, "a double"),
    TypeRule(SqlType.DOUBLE, "FLOAT"),
    TypeRule(SqlType.CHAR, "VARCHAR({length})", 0, WIDENED, "not padded"),
    TypeRule(SqlType.VARCHAR, "VARCHAR({length})"),
    TypeRule(SqlType.BINARY, "BINARY({length})", 0, WIDENED, "may be shorter"),
    TypeRule(SqlType.VARBINARY, "BINARY({length})"),
    TypeRule(SqlType.DATE, "DATE"),
    TypeRule(SqlType.TIME, "TIME(0)", 0, LOSSY, "no 24:00:00"),
    *timestamps(SqlType.TIMESTAMP, "TIMESTAMP_NTZ({digits})", 9),
    *timestamps(SqlType.TIMESTAMP_TZ, "TIMESTAMP_TZ({digits})", 9),
    *large_types("BOOLEAN", "VARCHAR(42)", "VARCHAR", "BINARY", "VARCHAR"),
)
_SNOWFLAKE_FLOAT = FloatForm("CAST('", "' AS DOUBLE)", infinity="inf", widen=True)

SNOWFLAKE = Profile(
    name="snowflake",
    sqlglot="snowflake",
    default_schema="PUBLIC",
    fold="upper",
    name_length=255,
    name_characters=True,
    reserved=RESERVED,
    time_digits=9,
    one_row=OneRow(""),
    upsert=Upsert("merge"),
    client="snowsql -o exit_on_error=true -o variable_substitution=false -f this-file",
    forms=forms(
        Form("TO_BINARY('", "', 'HEX')"),
        date=Form("CAST('", "' AS DATE)"),
        time=Form("CAST('", "' AS TIME)"),
        timestamp=Form("CAST('", "' AS TIMESTAMP_NTZ)"),
        zoned=Form("CAST('", "' AS TIMESTAMP_TZ)"),
    ),
    types=_SNOWFLAKE_TYPES,
    indexes="",
    text=TextForm(special="\\"),
    floats={SqlType.REAL: _SNOWFLAKE_FLOAT, SqlType.DOUBLE: _SNOWFLAKE_FLOAT},
    zone_space=True,
    session=(
        (
            "ALTER SESSION SET TIMESTAMP_INPUT_FORMAT = 'AUTO', DATE_INPUT_FORMAT = 'AUTO',"
            " TIME_INPUT_FORMAT = 'AUTO';"
        ),
    ),
    rename_in_schema=True,
    quirks=("Primary and foreign keys are not enforced.",),
    abilities=Abilities(
        constraints=frozenset({"unique", "foreign key"}),
        added=frozenset({"unique", "foreign key"}),
        default=DEFAULT,
        add_column=ANY_COLUMN,
        sequences=True,
        alter={
            "type": SET_DATA_TYPE,
            **altering("set not null", "drop not null", "drop default", "drop constraint"),
            "schema": "ALTER TABLE {table} RENAME TO {schema}.{name}",
        },
    ),
    row_check=RowCheck(
        CheckKind.AFTER,
        "SELECT TO_NUMBER('{unit}: statement {statement} touched ' || $1 || ' rows instead of 1')"
        " FROM TABLE(RESULT_SCAN(LAST_QUERY_ID())) WHERE $1 <> 1;",
    ),
)


_TEXT = "lengths are not enforced"

_SPARK_TYPES = (
    *named("SMALLINT", "BIGINT", "DOUBLE", "DATE"),
    TypeRule(SqlType.INTEGER, "INT"),
    *decimals("DECIMAL"),
    TypeRule(SqlType.REAL, "FLOAT"),
    TypeRule(SqlType.CHAR, "STRING", 0, WIDENED, f"not padded; {_TEXT}"),
    TypeRule(SqlType.VARCHAR, "STRING", 0, WIDENED, _TEXT),
    TypeRule(SqlType.BINARY, "BINARY", 0, WIDENED, _TEXT),
    TypeRule(SqlType.VARBINARY, "BINARY", 0, WIDENED, _TEXT),
    TypeRule(SqlType.TIME, "STRING", 0, WIDENED, "text HH:MM:SS"),
    *timestamps(SqlType.TIMESTAMP, "TIMESTAMP_NTZ", 6),
    TypeRule(SqlType.TIMESTAMP_TZ, "TIMESTAMP", 0, LOSSY, ZONE_LOST),
    *large_types("BOOLEAN", "STRING", "STRING", "BINARY", "STRING"),
)

SPARK = Profile(
    name="spark",
    sqlglot="spark",
    default_schema="default",
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
    types=_SPARK_TYPES,
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
    abilities=Abilities(alter=altering("type", "set not null", "drop not null")),
    row_check=RowCheck(
        CheckKind.BEFORE, "RAISE_ERROR(CONCAT('{label} finds ', COUNT(*), ' rows instead of 1'))"
    ),
)


_TRINO_TYPES = (
    TypeRule(SqlType.SMALLINT, "INTEGER", 0, WIDENED, "32 bits, as Iceberg has no smaller one"),
    *named("INTEGER", "BIGINT", "REAL", "DOUBLE", "DATE"),
    *decimals("DECIMAL"),
    TypeRule(SqlType.CHAR, "VARCHAR", 0, WIDENED, "not padded; lengths are not enforced"),
    TypeRule(SqlType.VARCHAR, "VARCHAR", 0, WIDENED, "lengths are not enforced"),
    TypeRule(SqlType.BINARY, "VARBINARY", 0, WIDENED, "lengths are not enforced"),
    TypeRule(SqlType.VARBINARY, "VARBINARY", 0, WIDENED, "lengths are not enforced"),
    TypeRule(SqlType.TIME, "TIME(6)", 0, LOSSY, "no 24:00:00"),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP(6)", 6),
    TypeRule(
        SqlType.TIMESTAMP, "TIMESTAMP(6)", 0, LOSSY, "six fraction digits, as Iceberg has no more"
    ),
    TypeRule(SqlType.TIMESTAMP_TZ, "TIMESTAMP(6) WITH TIME ZONE", 0, LOSSY, ZONE_LOST),
    *large_types("BOOLEAN", "VARCHAR", "VARCHAR", "VARBINARY", "VARCHAR"),
)

TRINO = Profile(
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
    types=_TRINO_TYPES,
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
    abilities=Abilities(alter={"type": SET_DATA_TYPE, **altering("drop not null")}),
    row_check=RowCheck(
        CheckKind.BEFORE,
        "CAST('{label} finds ' || CAST(COUNT(*) AS VARCHAR) || ' rows instead of 1' AS INTEGER)",
    ),
)
