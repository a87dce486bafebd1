"""Values that no row has, for unique keys that rows exchange. Where no row may be removed for a
moment, because others refer to it, one of the rows gets such a value until its new one is free. A
unique key that had the value already would refuse it: the script stops, and no row is wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from replay.arrays import Index
from replay.dependencies.key_spaces import KeySpaces
from sqlgen.schema import ARROW_TYPES, Column, SqlType, Table

#: In a longer unit no row is parked: so many values each type has.
MOST = 36**3
_LOWEST = {SqlType.SMALLINT: 15, SqlType.INTEGER: 31, SqlType.BIGINT: 63}


def parking(
    spaces: KeySpaces, version: int, table: Table, nulls_equal: bool
) -> Iterator[tuple[frozenset[str], Column, bool]]:
    """(columns, the one that gets another value, whether that is null) of each unique key of a
    table version whose rows may be parked: no other row refers to it."""
    uses = spaces.uses[version]
    name = spaces.spaces[spaces.table_space[version]].table
    known = spaces.constraints
    referred = [
        {*map(str.upper, one.parent_columns)} for one in known.foreign_keys if one.parent == name
    ]
    referred += [{*columns} for parent, columns in known.referred if parent == name]
    unique = [use for use in uses if use.how == "unique"]
    free = [use for use in unique if {*map(str.upper, use.columns)} not in referred]
    fixed = {column for use in uses if use not in free for column in use.columns}
    for use in free:
        for column in map(table.column, use.columns):
            others = [other for other in unique if other is not use]
            alone = len(use.columns) == 1 and not any(column.name in one.columns for one in others)
            null = column.nullable and alone and not nulls_equal
            if column.name not in fixed and (null or _has_values(column)):
                yield frozenset(use.columns), column, null
                break


def _has_values(column: Column) -> bool:
    if column.type is SqlType.DECIMAL:
        return column.length - column.scale > 5
    text = column.type in (SqlType.CHAR, SqlType.VARCHAR) and not column.bit_data
    return column.type in _LOWEST or (text and column.length > 3)


def parked_values(column: Column, null: bool, numbers: Index) -> pa.Array:
    """A value of its own by number: none, or the lowest ones of the type."""
    kind = ARROW_TYPES[column.type]
    if null:
        return pa.nulls(len(numbers), kind)
    if column.type in _LOWEST:
        return pa.array(numbers - 2 ** _LOWEST[column.type], kind)
    if column.type is SqlType.DECIMAL:
        low = 10 ** (column.length - column.scale) - 1
        end = "." + "0" * column.scale if column.scale else ""
        return pa.array([f"{number - low}{end}" for number in numbers.tolist()], kind)
    return pa.array([f"~{np.base_repr(number, 36):0>3}" for number in numbers.tolist()], kind)
