"""MariaDB: MySQL but for the collation that compares text without padding, and for the new row, which has no alias there."""

from __future__ import annotations

from dataclasses import replace

from sqlgen.dialects import Upsert
from sqlgen.dialects.mysql import PROFILE as MYSQL
from sqlgen.schema import SqlType

PROFILE = replace(
    MYSQL,
    name="mariadb",
    upsert=Upsert("duplicate"),
    abilities=replace(MYSQL.abilities, sequences=True),
    client="mariadb --default-character-set=utf8mb4 < this-file",
    exact={SqlType.CHAR: ("", " COLLATE utf8mb4_nopad_bin"), SqlType.VARCHAR: ("", " COLLATE utf8mb4_nopad_bin")},
)
