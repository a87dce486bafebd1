"""MySQL 8.0.19 and later; and MariaDB, but for the collation that compares text without padding.

Nothing hangs on ``sql_mode``: a backslash is written as ``CHAR(92 ...)``, because it escapes or not
as NO_BACKSLASH_ESCAPES says. The session is set to strict all the same, because otherwise values
that do not fit are cut without an error, and to take a 0 for a 0 where a column numbers itself.
"""

from __future__ import annotations

from dataclasses import replace

from sqlgen.dialects import (
    ALL,
    ANY_COLUMN,
    AUTO_INCREMENT,
    DEFAULT_EXPRESSION,
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
    forms,
    large_types,
)
from sqlgen.dialects.reserved_words import RESERVED
from sqlgen.schema import SqlType

_NUMBER = FloatForm("", "", infinity="", nan="", exponent=True, widen=True)


def _types(collation: str, most_scale: int = 30) -> tuple[TypeRule, ...]:
    """Types with text compared by code points, as Db2 compares it; ``most_scale``: of a decimal."""
    return (
        TypeRule(SqlType.SMALLINT, "SMALLINT"),
        TypeRule(SqlType.INTEGER, "INT"),
        TypeRule(SqlType.BIGINT, "BIGINT"),
        TypeRule(SqlType.DECIMAL, "DECIMAL({length}, {scale})", 65, most_scale=most_scale),
        TypeRule(SqlType.REAL, "FLOAT"),
        TypeRule(SqlType.DOUBLE, "DOUBLE"),
        TypeRule(SqlType.CHAR, f"CHAR({{length}}) CHARACTER SET utf8mb4 COLLATE {collation}", 255),
        TypeRule(
            SqlType.CHAR,
            f"VARCHAR({{length}}) CHARACTER SET utf8mb4 COLLATE {collation}",
            0,
            WIDENED,
            "not padded",
        ),
        TypeRule(
            SqlType.VARCHAR, f"VARCHAR({{length}}) CHARACTER SET utf8mb4 COLLATE {collation}", 4000
        ),
        TypeRule(
            SqlType.VARCHAR,
            f"LONGTEXT CHARACTER SET utf8mb4 COLLATE {collation}",
            0,
            WIDENED,
            "a row has 65,535 bytes",
        ),
        TypeRule(SqlType.BINARY, "VARBINARY({length})", 16000),
        TypeRule(SqlType.BINARY, "LONGBLOB", 0, WIDENED, "a row has 65,535 bytes"),
        TypeRule(SqlType.VARBINARY, "VARBINARY({length})", 16000),
        TypeRule(SqlType.VARBINARY, "LONGBLOB", 0, WIDENED, "a row has 65,535 bytes"),
        TypeRule(SqlType.DATE, "DATE"),
        TypeRule(SqlType.TIME, "TIME"),
        TypeRule(SqlType.TIMESTAMP, "DATETIME({digits})", 6),
        TypeRule(SqlType.TIMESTAMP, "DATETIME({digits})", 0, LOSSY, "six fraction digits"),
        TypeRule(
            SqlType.TIMESTAMP_TZ,
            "VARCHAR(39)",
            0,
            WIDENED,
            "text with its offset: there is no such type",
        ),
        *large_types(
            "BOOLEAN",
            "VARCHAR(42)",
            f"LONGTEXT CHARACTER SET utf8mb4 COLLATE {collation}",
            "LONGBLOB",
            "LONGTEXT CHARACTER SET utf8mb4",
        ),
    )


def _exact(collation: str) -> dict[SqlType, Exact]:
    """Comparisons by code points, whatever a column's character set. ``collation``: one that does
    not pad; blanks at the end of a CHAR are none of its value."""
    padded, plain = (
        Exact("CONVERT(", f" USING utf8mb4) COLLATE {name}") for name in ("utf8mb4_bin", collation)
    )
    return {
        SqlType.CHAR: padded,
        SqlType.VARCHAR: plain,
        SqlType.CLOB: plain,
        SqlType.XML: plain,
    }


MYSQL = Profile(
    name="mysql",
    sqlglot="mysql",
    fold="lower",
    one_case=frozenset({"columns"}),
    name_length=64,
    name_characters=True,
    reserved=RESERVED,
    time_digits=6,
    one_row=OneRow("limit"),
    upsert=Upsert("pair", source="DUAL"),
    client="mysql --default-character-set=utf8mb4 < this-file",
    forms=forms(Form("X'", "'")),
    types=_types("utf8mb4_bin"),
    indexes="of table",
    schemas="DATABASE",
    text=TextForm(
        special="\\", character="CHAR({} USING utf8mb4)", joiner=", ", joined=Form("CONCAT(", ")")
    ),
    floats={SqlType.REAL: _NUMBER, SqlType.DOUBLE: _NUMBER},
    exact=_exact("utf8mb4_0900_bin"),
    exact_keys=True,
    folds=True,
    hour_24=frozenset({SqlType.TIME}),
    as_text=frozenset({SqlType.TIMESTAMP_TZ}),
    null_byte=True,
    session=(
        "SET NAMES utf8mb4;",
        (
            "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,"
            "NO_AUTO_VALUE_ON_ZERO';"
        ),
        "SET SESSION time_zone = '+00:00';",
    ),
    rename_in_schema=True,
    begin="START TRANSACTION;",
    quirks=(
        (
            "Tables of an engine without transactions (MyISAM) keep half a unit of recovery when a"
            " script fails."
        ),
    ),
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
    row_check=RowCheck(
        CheckKind.AFTER,
        # an error that tells a text which an expression made
        "SELECT GET_LOCK(RPAD(CONCAT('{unit}: statement {statement} touched ', ROW_COUNT(),"
        " ' rows instead of 1'), 200, ' '), 0) FROM DUAL WHERE ROW_COUNT() <> 1;",
        note="a row that already is as the statement would make it counts as not touched",
    ),
)

MARIADB = replace(
    MYSQL,
    name="mariadb",
    types=_types("utf8mb4_bin", most_scale=38),
    abilities=replace(MYSQL.abilities, sequences=True),
    client="mariadb --default-character-set=utf8mb4 < this-file",
    exact=_exact("utf8mb4_nopad_bin"),
    row_check=RowCheck(
        CheckKind.AFTER,
        "EXECUTE IMMEDIATE IF(ROW_COUNT() = 1, 'DO 0', CONCAT('SIGNAL SQLSTATE ''45000'' SET"
        " MESSAGE_TEXT = ''{unit}: statement {statement} touched ', ROW_COUNT(), ' rows instead"
        " of 1'''));",
        note="a row that already is as the statement would make it counts as not touched",
    ),
)
