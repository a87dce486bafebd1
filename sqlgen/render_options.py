"""How statements are written: what a user chose, and the columns that this shows and finds rows
by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from sqlgen.choices import Names, WhereColumns
from sqlgen.errors import SqlgenError, settle_choices, settle_kinds
from sqlgen.literals import Policy
from sqlgen.schema import Column, Op, Table


@dataclass(frozen=True)
class RenderOptions:
    """``names``: lower or exact; ``where_columns``: key, guard (key and the changed columns'
    values) or all; ``columns`` and ``exclude_columns``: globs on column names or
    OWNER.TABLE.COLUMN; ``policy``: values the target cannot hold; ``keep_identity``: inserts give
    the values of columns that the target would number itself; ``upsert``: rows are put in place by
    :mod:`sqlgen.render.upsert`; ``exact_keys``: whether keys are compared character by character as
    well (:attr:`sqlgen.dialects.Profile.exact`), None: as the dialect needs it where nobody knows
    the columns' collations; ``assert_rows``: a statement that does not touch exactly one row
    stops the script; ``free_keys``: a row takes a key only where no row has it
    (:mod:`sqlgen.statements`).
    """

    names: Names = Names.LOWER
    where_columns: WhereColumns = WhereColumns.KEY
    columns: tuple[str, ...] = ()
    exclude_columns: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)
    keep_identity: bool = False
    upsert: bool = False
    exact_keys: bool | None = None
    assert_rows: bool = False
    free_keys: bool = False

    def __post_init__(self) -> None:
        settle_choices(self, names=Names, where_columns=WhereColumns)
        settle_kinds(self)

    def describe(self) -> dict[str, Any]:
        """The options as JSON-able data."""
        return {
            "where_columns": self.where_columns,
            "upsert": self.upsert,
            "nul": self.policy.nul,
            "timestamps": self.policy.timestamps,
            "char_padding": self.policy.char_padding,
            "midnight": self.policy.midnight,
            "empty_text": self.policy.empty_text,
            **({} if self.policy.reals == "single" else {"reals": self.policy.reals}),
            **({"assert": "rows"} if self.assert_rows else {}),
            **({"keys": "free"} if self.free_keys else {}),
        }


@lru_cache(maxsize=4096)
def shown_columns(table: Table, options: RenderOptions) -> tuple[Column, ...]:
    """The columns that SQL may name: ``--columns`` without ``--exclude-columns``, and without those
    that the target does not have. Of columns whose names differ in case only, a glob that fits
    some as they are spelled takes these alone."""

    def fits(column: Column, glob: str, folded: Callable[[str], str]) -> bool:
        names = column.name, f"{table.schema}.{table.name}.{column.name}"
        return any(fnmatchcase(folded(name), folded(glob)) for name in names)

    def as_spelled(column: Column, glob: str) -> bool:
        alike = [one for one in table.columns if one.name.upper() == column.name.upper()]
        return fits(column, glob, str) or not any(fits(one, glob, str) for one in alike)

    def matches(column: Column, globs: tuple[str, ...]) -> bool:
        return any(fits(column, glob, str.upper) and as_spelled(column, glob) for glob in globs)

    return tuple(
        c
        for c in table.columns
        if (not options.columns or matches(c, options.columns))
        and not matches(c, options.exclude_columns)
        and c.name not in table.left_out
        and c.name not in table.hidden
    )


def shows_whole(table: Table, options: RenderOptions) -> bool:
    """Whether rows are written with every column that the target has."""
    return len(shown_columns(table, options)) + len(table.left_out) == len(table.columns)


@lru_cache(maxsize=4096)
def identity(table: Table, options: RenderOptions) -> tuple[Column, ...]:
    """The columns that find a row: the key, or all shown columns where there is no key or
    ``where_columns`` says all.

    SqlgenError (LR3006) when a key column is excluded, or nothing is left to find a row by.
    """
    shown = shown_columns(table, options)
    missing = [name for name in table.key if name not in {column.name for column in shown}]
    if missing or not shown:
        what = f"key column {missing[0]}" if missing else "every column"
        message = (
            f"found {what} of {table.schema}.{table.name} excluded; expected what finds a row to"
            " stay"
        )
        hint = "Name key columns in --columns too, and none of them in --exclude-columns"
        raise SqlgenError("LR3006", message, hint)
    if not table.key or options.where_columns == "all":
        return shown
    return tuple(table.column(name) for name in table.key)


def columns_needed(table: Table, op: Op, options: RenderOptions) -> tuple[list[str], list[str]]:
    """(columns of the before image, columns of the after image) that a statement looks at."""
    shown = [column.name for column in shown_columns(table, options)]
    if op is Op.INSERT:
        return [], shown
    found_by = [column.name for column in identity(table, options)]
    if op is Op.DELETE:
        return (shown if options.where_columns != "key" else found_by), []
    return (shown if options.where_columns == "guard" else found_by), shown


def lacking_identity(table: Table, options: RenderOptions) -> str:
    """The first hidden column of a table without a key, '' where none is: rows are found by all of
    its columns, and without one of them two that differ look the same."""
    if table.key:
        return ""
    shown = {column.name for column in shown_columns(table, options)}
    return next((column.name for column in table.columns if column.name not in shown), "")
