"""What tables of MySQL and MariaDB may be at most: how many bytes their keys and rows have.

Facts are those of "InnoDB limits" and "Limits on table column count and row size" in the manual of
MySQL 8.4, tried on MySQL 9 and MariaDB 10.11. MariaDB takes longer unique keys by their hash.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sqlgen.constraints import Constraints
from sqlgen.ddl import type_rule
from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.schema import Column, Table

_KEY_BYTES, _ROW_BYTES = 3_072, 65_535
#: Bytes of a character of utf8mb4.
_CHARACTER = 4
_SIZED = re.compile(r"(CHAR|VARCHAR|VARBINARY|BINARY|DECIMAL|DATETIME)\((\d+)(?:, (\d+))?\)")
_FIXED = {
    "SMALLINT": 2, "INT": 4, "BIGINT": 8, "FLOAT": 4, "DOUBLE": 8, "DATE": 3, "TIME": 3,
    "BOOLEAN": 1,
}  # fmt: skip
#: What a value that lies outside of its row takes inside of it.
_OUTSIDE = 12
#: Bytes of the digits of a DECIMAL that fill no group of nine.
_DIGITS = (0, 1, 1, 2, 2, 3, 3, 4, 4)


def check_limits(tables: Sequence[Table], constraints: Constraints, profile: Profile) -> None:
    """SqlgenError (LR3003) for a table that is longer than the target takes: before anything is
    written."""
    if profile.name not in ("mysql", "mariadb"):
        return
    for table in tables:
        name = f"{table.schema}.{table.name}"
        columns = {column.name: column for column in table.columns}
        unique = [] if profile.name == "mariadb" else constraints.keys_of(name.upper())
        for key in dict.fromkeys((table.key, *unique)):
            _check_key(name, key, columns, profile)
        size = sum(_in_row(column, profile) for column in table.columns)
        size += (sum(column.nullable for column in table.columns) + 7) // 8
        if size > _ROW_BYTES:
            raise SqlgenError(
                "LR3003",
                f"found table {name}, of up to {size:,} bytes a row; {profile.name} takes"
                f" {_ROW_BYTES:,}",
                "Give wide columns the type LONGTEXT or LONGBLOB (types in --mapping), or leave"
                " some out (--exclude-columns)",
            )


def _check_key(
    table: str, key: Sequence[str], columns: Mapping[str, Column], profile: Profile
) -> None:
    sizes = [_in_key(columns[name], profile) for name in key if name in columns]
    large = any(size is None for size in sizes)
    size = sum(size or 0 for size in sizes)
    if large or size > _KEY_BYTES:
        found = "with a column of large values" if large else f"of up to {size:,} bytes"
        raise SqlgenError(
            "LR3003",
            f"found the key ({', '.join(key)}) of {table}, {found}; {profile.name} takes"
            f" {_KEY_BYTES:,} bytes",
            "Give its columns types that are shorter there (types in --mapping)",
        )


def _in_key(column: Column, profile: Profile) -> int | None:
    """Bytes of a column in a key, None where it can be in none; 0 where a mapping gives a type of
    its own."""
    text = type_rule(column, profile).text
    if column.declared or not text:
        return 0
    if text.startswith(("LONGTEXT", "LONGBLOB")):
        return None
    sized = _SIZED.match(text)
    if sized is None:
        return _FIXED.get(text.partition(" ")[0], 0)
    kind, length = sized[1], int(sized[2])
    if kind == "DECIMAL":
        scale = int(sized[3] or 0)
        return sum(part // 9 * 4 + _DIGITS[part % 9] for part in (length - scale, scale))
    if kind == "DATETIME":
        return 5 + (length + 1) // 2
    return length * (_CHARACTER if kind in ("CHAR", "VARCHAR") else 1)


def _in_row(column: Column, profile: Profile) -> int:
    size = _in_key(column, profile)
    varies = type_rule(column, profile).text.startswith("VAR") and not column.declared
    return _OUTSIDE if size is None else size + varies * (2 if size > 255 else 1)
