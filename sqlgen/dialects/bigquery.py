"""BigQuery (GoogleSQL)."""

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
from sqlgen.dialects.ddl_support import DEFAULT, POSTGRES_ALTER, Abilities
from sqlgen.dialects.reserved_words import RESERVED
from sqlgen.dialects.row_checks import CheckKind, RowCheck
from sqlgen.schema import SqlType

TYPES = (
    TypeRule(SqlType.SMALLINT, "INT64", 0, WIDENED, "64 bits"),
    TypeRule(SqlType.INTEGER, "INT64", 0, WIDENED, "64 bits"),
    TypeRule(SqlType.BIGINT, "INT64"),
    TypeRule(SqlType.DECIMAL, "BIGNUMERIC({length}, {scale})", 38),
    TypeRule(SqlType.DECIMAL, "BIGNUMERIC(38, {scale})", 0, LOSSY, "38 digits at most", 38),
    TypeRule(SqlType.REAL, "FLOAT64", 0, WIDENED, "a double"),
    TypeRule(SqlType.DOUBLE, "FLOAT64", 0, LOSSY, "cannot be part of a key; NaN is refused"),
    TypeRule(SqlType.CHAR, "STRING({length})", 0, WIDENED, "not padded"),
    TypeRule(SqlType.VARCHAR, "STRING({length})"),
    TypeRule(SqlType.BINARY, "BYTES({length})", 0, WIDENED, "may be shorter"),
    TypeRule(SqlType.VARBINARY, "BYTES({length})"),
    TypeRule(SqlType.DATE, "DATE"),
    TypeRule(SqlType.TIME, "TIME", 0, LOSSY, "no 24:00:00"),
    TypeRule(SqlType.TIMESTAMP, "DATETIME", 6),
    TypeRule(SqlType.TIMESTAMP, "DATETIME", 0, LOSSY, "six fraction digits"),
    TypeRule(
        SqlType.TIMESTAMP_TZ,
        "TIMESTAMP",
        0,
        LOSSY,
        "the moment is kept, its time zone is not; six fraction digits",
    ),
    *large_types("BOOL", "STRING", "STRING", "BYTES", "STRING"),
)
_FLOAT = FloatForm("CAST('", "' AS FLOAT64)", infinity="inf", nan="", widen=True)

PROFILE = Profile(
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
    types=TYPES,
    indexes="",
    keys=" NOT ENFORCED",
    text=TextForm(
        quote="\\'", special="\\", escaped=Form(), escaped_quote="\\'", control="\\u{:04x}"
    ),
    floats={SqlType.REAL: _FLOAT, SqlType.DOUBLE: _FLOAT},
    zone_minutes=(14 * 60, 14 * 60),
    begin="BEGIN TRANSACTION;",
    commit="COMMIT TRANSACTION;",
    delete_all="TRUE",
    quirks=("Primary and foreign keys are not enforced.", "A schema is a dataset."),
    abilities=Abilities(
        default=DEFAULT,
        alter={
            "type": "ALTER TABLE {table} ALTER COLUMN {column} SET DATA TYPE {type}",
            "drop not null": POSTGRES_ALTER["drop not null"],
            "set default": POSTGRES_ALTER["set default"],
            "drop default": POSTGRES_ALTER["drop default"],
        },
    ),
    row_check=RowCheck(
        CheckKind.AFTER,
        "ASSERT @@row_count = 1 AS '{unit}: statement {statement} touched another number of rows"
        " than 1';",
    ),
)
