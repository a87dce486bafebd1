"""``--where`` at work: the predicate evaluated by DuckDB on the decoded columns it names."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from replay.arrays import Mask
from replay.changes.catalog import Catalog, TableVersion, any_masked
from replay.changes.envelope import Change
from replay.errors import UsageError
from sqlgen.errors import SqlgenError

_SIDES = {Change.INSERT: ("after",), Change.DELETE: ("before",), Change.UPDATE: ("before", "after")}


#: Gives a column of an image that the changes have, by its name and its side (before, after).
Decode = Callable[[str, str], pa.Array]


@cache
def _database(process: int) -> Any:
    """A database in memory without tables, one for a process: it takes 20 ms to make."""
    import duckdb

    return duckdb.connect(":memory:", config={"threads": 1})


class ValueFilter:
    """One predicate for all tables of a log. A table that lacks one of its columns has no row that
    satisfies it. Values of ``masked`` columns (OWNER.NAME.COLUMN) are not told.

    Raises UsageError when the text is no predicate, or no table has its columns.
    """

    def __init__(self, text: str, catalog: Catalog, masked: frozenset[str] = frozenset()) -> None:
        self.masked = masked
        from sqlgen.predicate import parse_predicate

        try:
            self.predicate = parse_predicate(text, [version.source for version in catalog.versions])
        except SqlgenError as error:
            raise UsageError(error.code, error.message, hint=error.hint) from None
        self._conditions: dict[tuple[int, bool], Mapping[str, str]] = {}

    @cached_property
    def _connection(self) -> Any:
        """A connection of its own to the database of this process."""
        connection = _database(os.getpid()).cursor()
        connection.execute("SET TimeZone = 'UTC'")  # a comparison must not depend on where it is
        return connection

    def columns(self, version: TableVersion) -> list[str]:
        """The columns of a table that the predicate is about; none where it is not about the
        table."""
        if not self.predicate.applies_to(version.source):
            return []
        wanted = {name for _, name in self.predicate.columns}
        return sorted(c.name for c in version.source.columns if c.name.upper() in wanted)

    def select(self, version: TableVersion, decode: Decode, kind: Change, count: int) -> Mask:
        """Which of ``count`` rows satisfy the predicate. ``decode(column, side)`` gives a column of
        an image the change has; conditions on an image that it lacks do not hold. UsageError when
        the predicate cannot be evaluated on the values (comparing text with a number, for example).
        """
        import duckdb

        if not self.predicate.applies_to(version.source):
            return np.zeros(count, bool)
        conditions = self._conditions_of(version, len(_SIDES[kind]) > 1)
        chosen = " OR ".join(conditions[side] for side in _SIDES[kind])
        try:
            return self._evaluated(chosen, pa.table(self._columns_of(version, decode, kind, count)))
        except duckdb.Error as error:
            message = str(error).splitlines()[0]
            name, asked_for = version.name, self.columns(version)
            if any_masked(self.masked, name, asked_for):
                message = "values that are masked are not what it takes them for"
            raise UsageError(
                "LR1003",
                f"--where cannot be evaluated on {version.name}: {message}",
                hint="Compare each column with values of its own type",
            ) from None

    def _conditions_of(self, version: TableVersion, update: bool) -> Mapping[str, str]:
        """The condition in DuckDB's words, for bare columns of each image."""
        if (version.index, update) not in self._conditions:
            self._conditions[version.index, update] = {
                side: f"coalesce({self.predicate.duckdb_sql(version.source, side, update)}, false)"
                for side in ("before", "after")
            }
        return self._conditions[version.index, update]

    def _columns_of(
        self, version: TableVersion, decode: Decode, kind: Change, count: int
    ) -> Mapping[str, pa.Array]:
        """The columns that the predicate is about, of both images."""
        columns: dict[str, pa.Array] = {}
        for name in self.columns(version):
            like = decode(name, _SIDES[kind][0])
            for side in ("before", "after"):
                there = side in _SIDES[kind]
                columns[f"{side}.{name}"] = (
                    decode(name, side) if there else pa.nulls(count, like.type)
                )
        return columns

    def _evaluated(self, condition: str, rows: pa.Table) -> Mask:
        """Which rows satisfy a condition. Raises DuckDB's errors."""
        # DuckDB finds ``rows`` by its name, faster than registered
        found = self._connection.execute(f"SELECT {condition} AS chosen FROM rows").fetchnumpy()
        return np.asarray(found["chosen"], bool)
