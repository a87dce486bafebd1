"""SQL Server 2016 and later, and Azure SQL.

Its default collations take A and a, or X'00' and nothing, for the same: text is compared by code
points outside keys, and NUL is refused.
"""

from __future__ import annotations

from sqlgen.dialects import (
    ALL,
    ANY_COLUMN,
    DEFAULT,
    LOSSY,
    RULES,
    WIDENED,
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
    decimals,
    forms,
    large_types,
    named,
    timestamps,
)
from sqlgen.dialects.reserved_words import RESERVED
from sqlgen.schema import SqlType

_NUMBER = FloatForm("", "", infinity="", nan="", exponent=True, widen=True)
_BIN2 = "COLLATE Latin1_General_100_BIN2"

#: Blanks at the end do not count in a comparison, nor do zero bytes.
_TEXT = Exact("", " + N'.'", f" + N'.' {_BIN2}")
_BYTES = Exact("", " + 0x01", " + 0x01")

_TSQL_TYPES = (
    *named("SMALLINT", "INTEGER", "BIGINT", "REAL", "DATE"),
    *decimals("DECIMAL"),
    TypeRule(SqlType.DOUBLE, "FLOAT(53)"),
    TypeRule(SqlType.CHAR, f"NCHAR({{length}}) {_BIN2}", 4000),
    TypeRule(SqlType.VARCHAR, f"NVARCHAR({{length}}) {_BIN2}", 4000),
    TypeRule(
        SqlType.VARCHAR,
        f"NVARCHAR(MAX) {_BIN2}",
        0,
        WIDENED,
        "more than 4,000 characters cannot be part of a key",
    ),
    TypeRule(SqlType.BINARY, "VARBINARY({length})", 8000, WIDENED, "may be shorter"),
    TypeRule(SqlType.BINARY, "VARBINARY(MAX)", 0, WIDENED, "cannot be part of a key"),
    TypeRule(SqlType.VARBINARY, "VARBINARY({length})", 8000),
    TypeRule(SqlType.VARBINARY, "VARBINARY(MAX)", 0, WIDENED, "cannot be part of a key"),
    TypeRule(SqlType.TIME, "TIME(0)", 0, LOSSY, "no 24:00:00"),
    *timestamps(SqlType.TIMESTAMP, "DATETIME2({digits})", 7),
    *timestamps(SqlType.TIMESTAMP_TZ, "DATETIMEOFFSET({digits})", 7),
    *large_types("BIT", "NVARCHAR(42)", "NVARCHAR(MAX)", "VARBINARY(MAX)", "XML"),
)

TSQL = Profile(
    name="tsql",
    sqlglot="tsql",
    default_schema="dbo",
    fold="lower",
    name_length=128,
    name_characters=True,
    reserved=RESERVED,
    time_digits=7,
    one_row=OneRow("top"),
    upsert=Upsert("merge"),
    nulls_equal=True,
    client="sqlcmd -b -x -f 65001 -i this-file",
    forms=forms(Form("0x", "")),
    types=_TSQL_TYPES,
    indexes="of table",
    booleans=("1", "0"),
    text=TextForm(
        form=Form("N'", "'"),
        character="NCHAR({})",
        joiner=" + ",
        joined=Form("CAST(N'' AS NVARCHAR(MAX)) + ", ""),
    ),
    floats={SqlType.REAL: _NUMBER, SqlType.DOUBLE: _NUMBER},
    exact={
        SqlType.CHAR: Exact(literal=f" {_BIN2}"),
        SqlType.VARCHAR: _TEXT,
        SqlType.CLOB: _TEXT,
        SqlType.BINARY: _BYTES,
        SqlType.VARBINARY: _BYTES,
        SqlType.BLOB: _BYTES,
    },
    exact_keys=True,
    folds=True,
    zone_minutes=(14 * 60, 14 * 60),
    zone_space=True,
    pads_char=True,
    session=("SET XACT_ABORT ON;", "SET QUOTED_IDENTIFIER ON;", "SET ANSI_PADDING ON;"),
    begin="BEGIN TRANSACTION;",
    commit="COMMIT TRANSACTION;",
    truncate=True,
    abilities=Abilities(
        constraints=ALL,
        added=ALL,
        on_delete=RULES - {"RESTRICT"},
        on_update=RULES - {"RESTRICT"},
        default=DEFAULT,
        add_column=ANY_COLUMN,
        sequences=True,
        check_option=True,
        alter={
            "type": "ALTER TABLE {table} ALTER COLUMN {column} {type} {null}",
            "set not null": "ALTER TABLE {table} ALTER COLUMN {column} {type} NOT NULL",
            "drop not null": "ALTER TABLE {table} ALTER COLUMN {column} {type} NULL",
            "schema": "ALTER SCHEMA {schema} TRANSFER {table}",
            "drop constraint": "ALTER TABLE {table} DROP CONSTRAINT {constraint}",
        },
    ),
    row_check=RowCheck(
        CheckKind.AFTER,
        "IF @@ROWCOUNT <> 1 THROW 50001, N'{unit}: statement {statement} touched another number of"
        " rows than 1', 1;",
    ),
)
