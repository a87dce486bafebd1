"""Oracle Database 12.2 and later. ``&`` is written as ``CHR(38)``, because SQL*Plus would ask for a substitution variable."""

from __future__ import annotations

from sqlgen.dialects import LOSSY, WIDENED, FloatForm, Form, OneRow, Profile, TextForm, TypeRule, Upsert, forms, large_types
from sqlgen.dialects.abilities import ALL, ANY_COLUMN, DEFAULT, Abilities
from sqlgen.dialects.words import RESERVED
from sqlgen.schema import SqlType

_EMPTY = "an empty text is NULL"

TYPES = (
    TypeRule(SqlType.SMALLINT, "NUMBER(5)", 0, WIDENED, "up to 99,999"),
    TypeRule(SqlType.INTEGER, "NUMBER(10)", 0, WIDENED, "up to 9,999,999,999"),
    TypeRule(SqlType.BIGINT, "NUMBER(19)", 0, WIDENED, "19 digits"),
    TypeRule(SqlType.DECIMAL, "NUMBER({length}, {scale})", 38),
    TypeRule(SqlType.DECIMAL, "NUMBER(38, {scale})", 0, LOSSY, "38 digits at most", 38),
    TypeRule(SqlType.REAL, "BINARY_FLOAT"),
    TypeRule(SqlType.DOUBLE, "BINARY_DOUBLE"),
    TypeRule(SqlType.CHAR, "CHAR({length} CHAR)", 500),
    TypeRule(SqlType.CHAR, "VARCHAR2({length} CHAR)", 1000, WIDENED, "not padded"),
    TypeRule(SqlType.VARCHAR, "VARCHAR2({length} CHAR)", 1000, LOSSY, _EMPTY),
    TypeRule(SqlType.VARCHAR, "VARCHAR2({length} CHAR)", 4000, LOSSY, f"{_EMPTY}; 4,000 bytes unless MAX_STRING_SIZE is EXTENDED"),
    TypeRule(SqlType.VARCHAR, "VARCHAR2({length} CHAR)", 32767, LOSSY, f"{_EMPTY}; needs MAX_STRING_SIZE EXTENDED"),
    TypeRule(SqlType.BINARY, "RAW({length})", 2000),
    TypeRule(SqlType.BINARY, "BLOB", 0, WIDENED, "cannot be compared, nor be part of a key"),
    TypeRule(SqlType.VARBINARY, "RAW({length})", 2000, LOSSY, "an empty value is NULL"),
    TypeRule(SqlType.VARBINARY, "BLOB", 0, WIDENED, "cannot be compared, nor be part of a key"),
    TypeRule(SqlType.DATE, "DATE", 0, WIDENED, "has a time, which is midnight"),
    TypeRule(SqlType.TIME, "CHAR(8 CHAR)", 0, WIDENED, "text HH:MM:SS: there is no such type"),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP({digits})", 9),
    TypeRule(SqlType.TIMESTAMP, "TIMESTAMP({digits})", 0, LOSSY, "nine fraction digits"),
    TypeRule(SqlType.TIMESTAMP_TZ, "TIMESTAMP({digits}) WITH TIME ZONE", 9),
    TypeRule(SqlType.TIMESTAMP_TZ, "TIMESTAMP({digits}) WITH TIME ZONE", 0, LOSSY, "nine fraction digits"),
    *large_types("NUMBER(1)", "VARCHAR2(42 CHAR)", "CLOB", "BLOB", "CLOB"),
)

PROFILE = Profile(
    name="oracle",
    sqlglot="oracle",
    fold="upper",
    name_length=128,
    reserved=RESERVED,
    time_digits=9,
    one_row=OneRow("rownum"),
    upsert=Upsert("merge", source="DUAL"),
    client="sqlplus with WHENEVER SQLERROR EXIT FAILURE ROLLBACK, then @this-file",
    forms=forms(
        Form("HEXTORAW('", "')"),
        date=Form("DATE '", "'"),
        time=Form(),
        timestamp=Form("TIMESTAMP '", "'"),
    ),
    types=TYPES,
    schemas="",
    indexes="both",
    booleans=("1", "0"),
    text=TextForm(special="&", most_bytes=4000),
    floats={
        SqlType.REAL: FloatForm("TO_BINARY_FLOAT('", "')", infinity="INF"),
        SqlType.DOUBLE: FloatForm("TO_BINARY_DOUBLE('", "')", infinity="INF"),
    },
    zone_hours=(12, 14),
    zone_space=True,
    as_text=frozenset({SqlType.TIME}),
    empty_is_null=True,
    pads_char=True,
    session=("ALTER SESSION SET NLS_NUMERIC_CHARACTERS = '.,';", "ALTER SESSION SET NLS_COMP = 'BINARY';"),
    begin="SET TRANSACTION READ WRITE;",
    defer="SET CONSTRAINTS ALL DEFERRED;",
    quirks=("An empty text is NULL: say what to do with it (--empty-text).",),
    abilities=Abilities(
        constraints=ALL,
        added=ALL,
        on_delete=frozenset({"CASCADE", "SET NULL"}),
        default=DEFAULT,
        add_column=ANY_COLUMN,
        sequences=True,
        check_option=True,
        drop_constraints="CASCADE CONSTRAINTS",
        alter={
            "type": "ALTER TABLE {table} MODIFY ({column} {type})",
            "set not null": "ALTER TABLE {table} MODIFY ({column} NOT NULL)",
            "drop not null": "ALTER TABLE {table} MODIFY ({column} NULL)",
            "set default": "ALTER TABLE {table} MODIFY ({column} DEFAULT {default})",
            "drop default": "ALTER TABLE {table} MODIFY ({column} DEFAULT NULL)",
            "drop constraint": "ALTER TABLE {table} DROP CONSTRAINT {constraint}",
        },
    ),
)
