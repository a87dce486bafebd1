"""Snowflake. A backslash always escapes there, so it is written as ``CHR(92)``."""

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
from sqlgen.dialects.ddl_support import ANY_COLUMN, DEFAULT, POSTGRES_ALTER, Abilities
from sqlgen.dialects.reserved_words import RESERVED
from sqlgen.dialects.row_checks import CheckKind, RowCheck
from sqlgen.schema import SqlType

TYPES = (
    TypeRule(SqlType.SMALLINT, "SMALLINT", 0, WIDENED, "a NUMBER(38, 0)"),
    TypeRule(SqlType.INTEGER, "INT", 0, WIDENED, "a NUMBER(38, 0)"),
    TypeRule(SqlType.BIGINT, "BIGINT", 0, WIDENED, "a NUMBER(38, 0)"),
    TypeRule(SqlType.DECIMAL, "DECIMAL({length}, {scale})", 38),
    TypeRule(SqlType.DECIMAL, "DECIMAL(38, {scale})", 0, LOSSY, "38 digits at most", 38),
    TypeRule(SqlType.REAL, "FLOAT", 0, WIDENED, "a double"),
    TypeRule(SqlType.DOUBLE, "FLOAT"),
    TypeRule(SqlType.CHAR, "VARCHAR({length})", 0, WIDENED, "not padded"),
    TypeRule(SqlType.VARCHAR, "VARCHAR({length})"),
    TypeRule(SqlType.BINARY, "BINARY({length})", 0, WIDENED, "may be shorter"),
    TypeRule(SqlType.VARBINARY, "BINARY({length})"),
    TypeRule(SqlType.DATE, "DATE"),
    TypeRule(SqlType.TIME, "TIME(0)", 0, LOSSY, "no 24:00:00"),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP_NTZ({digits})", 9),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP_NTZ({digits})", 0, LOSSY, "nine fraction digits"),
    TypeRule(SqlType.TIMESTAMP_TZ, "TIMESTAMP_TZ({digits})", 9),
    TypeRule(SqlType.TIMESTAMP_TZ, "TIMESTAMP_TZ({digits})", 0, LOSSY, "nine fraction digits"),
    *large_types("BOOLEAN", "VARCHAR(42)", "VARCHAR", "BINARY", "VARCHAR"),
)
_FLOAT = FloatForm("CAST('", "' AS DOUBLE)", infinity="inf", widen=True)

PROFILE = Profile(
    name="snowflake",
    sqlglot="snowflake",
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
    types=TYPES,
    indexes="",
    text=TextForm(special="\\"),
    floats={SqlType.REAL: _FLOAT, SqlType.DOUBLE: _FLOAT},
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
            "type": "ALTER TABLE {table} ALTER COLUMN {column} SET DATA TYPE {type}",
            "set not null": POSTGRES_ALTER["set not null"],
            "drop not null": POSTGRES_ALTER["drop not null"],
            "drop default": POSTGRES_ALTER["drop default"],
            "schema": "ALTER TABLE {table} RENAME TO {schema}.{name}",
            "drop constraint": POSTGRES_ALTER["drop constraint"],
        },
    ),
    row_check=RowCheck(
        CheckKind.AFTER,
        "SELECT TO_NUMBER('{unit}: statement {statement} touched ' || $1 || ' rows instead of 1')"
        " FROM TABLE(RESULT_SCAN(LAST_QUERY_ID())) WHERE $1 <> 1;",
    ),
)
