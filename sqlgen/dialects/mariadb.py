"""MariaDB: MySQL but for the collation that compares text without padding."""

from __future__ import annotations

from dataclasses import replace

from sqlgen.dialects.mysql import PROFILE as MYSQL
from sqlgen.dialects.mysql import exact, types
from sqlgen.dialects.row_checks import CheckKind, RowCheck

PROFILE = replace(
    MYSQL,
    name="mariadb",
    types=types("utf8mb4_bin", most_scale=38),
    abilities=replace(MYSQL.abilities, sequences=True),
    client="mariadb --default-character-set=utf8mb4 < this-file",
    exact=exact("utf8mb4_nopad_bin"),
    row_check=RowCheck(
        CheckKind.AFTER,
        "EXECUTE IMMEDIATE IF(ROW_COUNT() = 1, 'DO 0', CONCAT('SIGNAL SQLSTATE ''45000'' SET"
        " MESSAGE_TEXT = ''{unit}: statement {statement} touched ', ROW_COUNT(), ' rows instead"
        " of 1'''));",
        note="a row that already is as the statement would make it counts as not touched",
    ),
)
