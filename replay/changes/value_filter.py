"""``--where`` at work: the predicate evaluated by DuckDB on the decoded columns it names."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from replay.arrays import Mask
from replay.changes.catalog import Catalog, TableVersion
from replay.changes.envelope import Change
from replay.errors import UsageError, optional_library
from sqlgen.errors import SqlgenError

_SIDES = {Change.INSERT: ("after",), Change.DELETE: ("before",), Change.UPDATE: ("before", "after")}


@cache
def _database(duckdb: Any, process: int) -> Any:
    """A database in memory without tables, one for a process: it takes 20 ms to make."""
    return duckdb.connect(":memory:", config={"threads": 1})


class ValueFilter:
    """One predicate for all tables of a log. A table that lacks one of its columns has no row that
    satisfies it.

    Raises UsageError when the text is no predicate, no table has its columns, or DuckDB is not
    installed (LR1005).
    """

    def __init__(self, text: str, catalog: Catalog) -> None:
        from sqlgen.predicate import parse_predicate

        try:
            self.predicate = parse_predicate(text, [version.table for version in catalog.versions])
        except SqlgenError as error:
            raise UsageError(error.code, error.message, hint=error.hint) from None
        self._duckdb = optional_library("duckdb", "duckdb", "--where")
        self._conditions: dict[tuple[int, Change], str] = {}

    @cached_property
    def _connection(self) -> Any:
        """A connection of its own to the database of this process."""
        connection = _database(self._duckdb, os.getpid()).cursor()
        connection.execute("SET TimeZone = 'UTC'")  # a comparison must not depend on where it is
        return connection

    def columns(self, version: TableVersion) -> list[str]:
        """The columns of a table that the predicate is about; none where it is not about the
        table."""
        if not self.predicate.applies_to(version.table):
            return []
        wanted = {name for _, name in self.predicate.columns}
        return sorted(c.name for c in version.table.columns if c.name.upper() in wanted)

    def select(
        self,
        version: TableVersion,
        decode: Callable[[str, str], pa.Array],
        kind: Change,
        count: int,
    ) -> Mask:
        """Which of ``count`` rows satisfy the predicate. ``decode(column, side)`` gives a column of
        an image the change has; an image it does not have is NULL. UsageError when the predicate
        cannot be evaluated on the values (comparing text with a number, for example).
        """
        if not self.predicate.applies_to(version.table):
            return np.zeros(count, bool)
        columns: dict[str, pa.Array] = {}
        for name in self.columns(version):
            for side in ("before", "after"):
                known = side in _SIDES[kind]
                like = decode(name, _SIDES[kind][0])
                columns[f"{side}.{name}"] = (
                    decode(name, side) if known else pa.nulls(count, like.type)
                )
        if (version.index, kind) not in self._conditions:
            self._conditions[version.index, kind] = " OR ".join(
                f"coalesce({self.predicate.duckdb_sql(version.table, side)}, false)"
                for side in _SIDES[kind]
            )
        query = f"SELECT {self._conditions[version.index, kind]} AS chosen FROM rows"
        rows = pa.table(columns)  # noqa: F841  DuckDB finds it by its name, faster than registered
        try:
            chosen = self._connection.execute(query).fetchnumpy()["chosen"]
        except self._duckdb.Error as error:
            message = str(error).splitlines()[0]
            raise UsageError(
                "LR1003",
                f"--where cannot be evaluated on {version.name}: {message}",
                hint="Compare each column with values of its own type",
            ) from None
        return np.asarray(chosen, bool)
