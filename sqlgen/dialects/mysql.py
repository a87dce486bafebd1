"""MySQL 8.0.19 and later.

Nothing hangs on ``sql_mode``: a backslash is written as ``CHAR(92 ...)``, because it escapes or not as NO_BACKSLASH_ESCAPES says. The session is set
to strict all the same, because otherwise values that do not fit are cut without an error.
"""

from __future__ import annotations

from sqlgen.dialects import LOSSY, WIDENED, FloatForm, Form, OneRow, Profile, TextForm, TypeRule, Upsert, forms, large_types
from sqlgen.dialects.abilities import ALL, ANY_COLUMN, AUTO_INCREMENT, DEFAULT_EXPRESSION, RULES, Abilities
from sqlgen.dialects.words import RESERVED
from sqlgen.schema import SqlType

NUMBER = FloatForm("", "", infinity="", nan="", exponent=True, widen=True)


def types(collation: str) -> tuple[TypeRule, ...]:
    """Types with text compared by code points, as Db2 compares it."""
    return (
        TypeRule(SqlType.SMALLINT, "SMALLINT"),
        TypeRule(SqlType.INTEGER, "INT"),
        TypeRule(SqlType.BIGINT, "BIGINT"),
        TypeRule(SqlType.DECIMAL, "DECIMAL({length}, {scale})", 65, most_scale=30),
        TypeRule(SqlType.REAL, "FLOAT"),
        TypeRule(SqlType.DOUBLE, "DOUBLE"),
        TypeRule(SqlType.CHAR, f"CHAR({{length}}) CHARACTER SET utf8mb4 COLLATE {collation}", 255),
        TypeRule(SqlType.CHAR, f"VARCHAR({{length}}) CHARACTER SET utf8mb4 COLLATE {collation}", 0, WIDENED, "not padded"),
        TypeRule(SqlType.VARCHAR, f"VARCHAR({{length}}) CHARACTER SET utf8mb4 COLLATE {collation}", 4000),
        TypeRule(SqlType.VARCHAR, f"LONGTEXT CHARACTER SET utf8mb4 COLLATE {collation}", 0, WIDENED, "a row has 65,535 bytes"),
        TypeRule(SqlType.BINARY, "VARBINARY({length})", 16000),
        TypeRule(SqlType.BINARY, "LONGBLOB", 0, WIDENED, "a row has 65,535 bytes"),
        TypeRule(SqlType.VARBINARY, "VARBINARY({length})", 16000),
        TypeRule(SqlType.VARBINARY, "LONGBLOB", 0, WIDENED, "a row has 65,535 bytes"),
        TypeRule(SqlType.DATE, "DATE"),
        TypeRule(SqlType.TIME, "TIME"),
        TypeRule(SqlType.TIMESTAMP, "DATETIME({digits})", 6),
        TypeRule(SqlType.TIMESTAMP, "DATETIME({digits})", 0, LOSSY, "six fraction digits"),
        TypeRule(SqlType.TIMESTAMP_TZ, "VARCHAR(39)", 0, WIDENED, "text with its offset: there is no such type"),
        *large_types(
            "BOOLEAN", "VARCHAR(42)", f"LONGTEXT CHARACTER SET utf8mb4 COLLATE {collation}", "LONGBLOB", "LONGTEXT CHARACTER SET utf8mb4"
        ),
    )


PROFILE = Profile(
    name="mysql",
    sqlglot="mysql",
    fold="lower",
    name_length=64,
    name_characters=True,
    reserved=RESERVED,
    time_digits=6,
    one_row=OneRow("limit"),
    upsert=Upsert("duplicate", row="new"),
    client="mysql --default-character-set=utf8mb4 < this-file",
    forms=forms(Form("X'", "'")),
    types=types("utf8mb4_bin"),
    indexes="of table",
    schemas="DATABASE",
    text=TextForm(special="\\", character="CHAR({} USING utf8mb4)", joiner=", ", joined=Form("CONCAT(", ")")),
    floats={SqlType.REAL: NUMBER, SqlType.DOUBLE: NUMBER},
    exact={SqlType.CHAR: ("", " COLLATE utf8mb4_0900_bin"), SqlType.VARCHAR: ("", " COLLATE utf8mb4_0900_bin")},
    hour_24=frozenset({SqlType.TIME}),
    as_text=frozenset({SqlType.TIMESTAMP_TZ}),
    null_byte=True,
    session=(
        "SET NAMES utf8mb4;",
        "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION';",
        "SET SESSION time_zone = '+00:00';",
    ),
    rename_in_schema=True,
    begin="START TRANSACTION;",
    quirks=("Tables of an engine without transactions (MyISAM) keep half a unit of recovery when a script fails.",),
    abilities=Abilities(
        constraints=ALL,
        added=ALL,
        on_delete=RULES - {"SET DEFAULT"},
        on_update=RULES - {"SET DEFAULT"},
        parent_columns=True,
        default=DEFAULT_EXPRESSION,
        identity=AUTO_INCREMENT,
        add_column=ANY_COLUMN,
        check_option=True,
        alter={
            "type": "ALTER TABLE {table} MODIFY COLUMN {column} {definition}",
            "set not null": "ALTER TABLE {table} MODIFY COLUMN {column} {definition}",
            "drop not null": "ALTER TABLE {table} MODIFY COLUMN {column} {definition}",
            "set default": "ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT ({default})",
            "drop default": "ALTER TABLE {table} ALTER COLUMN {column} DROP DEFAULT",
            "schema": "ALTER TABLE {table} RENAME TO {schema}.{name}",
            "drop constraint": "ALTER TABLE {table} DROP CONSTRAINT {constraint}",
        },
    ),
)
