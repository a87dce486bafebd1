"""solidDB 7, 100 and 200, as the vendor's manuals (https://support.unicomsi.com/manuals/soliddb)
say: values "Data type formats" (200/solidDB/PGGettingStartedSQL1126712), bytes "BLOBs (or binary
data types)" (PGGettingStartedSQL1126745), types "SQL: Data types" (RFSQLDataTypes1183751), the end
of a transaction "COMMIT WORK" (7/SQL_Guide/A_SQLStatements.09.014).

What none of these says is refused: control characters in text, a row among equal ones, upserts. A
statement of the log's own that changes the structure is written again in its own words
(:mod:`sqlgen.soliddb.translate`).
"""

from __future__ import annotations

from sqlgen.dialects import (
    ALL,
    ANY_COLUMN,
    DEFAULT,
    LOSSY,
    POSTGRES_ALTER,
    REFUSED,
    RULES,
    WIDENED,
    Abilities,
    FloatForm,
    Form,
    OneRow,
    Profile,
    TextForm,
    TypeRule,
    Upsert,
    forms,
    named,
    timestamps,
)
from sqlgen.dialects.reserved_words import RESERVED
from sqlgen.schema import SqlType

_NUMBER = FloatForm("", "", infinity="", nan="", exponent=True, widen=True)

_SOLIDDB_TYPES = (
    *named("SMALLINT", "INTEGER", "BIGINT", "REAL", "DATE"),
    TypeRule(SqlType.DECIMAL, "NUMERIC({length}, {scale})", 52),
    TypeRule(SqlType.DECIMAL, "", 0, REFUSED, "a decimal has 52 digits at most"),
    TypeRule(SqlType.DOUBLE, "DOUBLE PRECISION"),
    TypeRule(SqlType.CHAR, "WCHAR({length})"),
    TypeRule(SqlType.VARCHAR, "WVARCHAR({length})"),
    TypeRule(SqlType.BINARY, "BINARY({length})"),
    TypeRule(SqlType.VARBINARY, "VARBINARY({length})"),
    TypeRule(SqlType.TIME, "TIME", 0, LOSSY, "no 24:00:00"),
    *timestamps(SqlType.TIMESTAMP, "TIMESTAMP", 9),
    TypeRule(SqlType.TIMESTAMP_TZ, "WVARCHAR(42)", 0, WIDENED, "text: no type has a time zone"),
    TypeRule(SqlType.BOOLEAN, "SMALLINT", 0, WIDENED, "a number"),
    TypeRule(SqlType.DECFLOAT, "DECIMAL", 0, LOSSY, "52 digits at most, and no NaN"),
    TypeRule(SqlType.CLOB, "LONG WVARCHAR", 0, WIDENED, "the length is not kept"),
    TypeRule(SqlType.BLOB, "LONG VARBINARY", 0, WIDENED, "the length is not kept"),
    TypeRule(SqlType.XML, "LONG WVARCHAR", 0, LOSSY, "text: not checked to be XML"),
)

SOLIDDB = Profile(
    name="soliddb",
    sqlglot="soliddb",
    fold="upper",
    name_length=254,
    reserved=RESERVED,
    time_digits=9,
    one_row=OneRow(""),
    upsert=Upsert(""),
    client="solsql (it commits nothing by itself)",
    forms={
        **forms(Form("CAST('", "' AS VARBINARY)")),
        SqlType.DECFLOAT: Form("CAST('", "' AS DECIMAL)"),
    },
    types=_SOLIDDB_TYPES,
    text=TextForm(character=""),
    floats={SqlType.REAL: _NUMBER, SqlType.DOUBLE: _NUMBER},
    as_text=frozenset({SqlType.TIMESTAMP_TZ}),
    booleans=("1", "0"),
    begin="",
    commit="COMMIT WORK;",
    quirks=(
        "Tables are named without their catalog: SET CATALOG first where it is not the session's.",
        "Text becomes WCHAR and WVARCHAR, which hold it in a database of any encoding.",
        "Refused, for no manual says how: control characters in text, a row of a table without a"
        " key, --upsert.",
        "An undo that leaves units out does not ask whether a key is free: a row that has it stops"
        " the script.",
    ),
    abilities=Abilities(
        constraints=ALL,
        added=ALL,
        on_delete=RULES,
        on_update=RULES,
        default=DEFAULT,
        add_column=ANY_COLUMN,
        sequences=True,
        check_option=True,
        alter={
            **POSTGRES_ALTER,
            "type": "ALTER TABLE {table} MODIFY COLUMN {column} {type}",
            "set not null": "ALTER TABLE {table} ALTER COLUMN {column} ADD NOT NULL",
            "schema": "ALTER TABLE {table} MODIFY SCHEMA {schema}",
        },
    ),
)
