"""``--where`` at work: the predicate evaluated by DuckDB on the decoded columns it names."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from replay.arrays import Mask
from replay.changes.catalog import Catalog, TableVersion
from replay.changes.envelope import Change
from replay.changes.masked import any_masked
from replay.errors import UsageError, optional_library
from sqlgen.errors import SqlgenError

_SIDES = {Change.INSERT: ("after",), Change.DELETE: ("before",), Change.UPDATE: ("before", "after")}


#: Gives a column of an image that the changes have, by its name and its side (before, after).
Decode = Callable[[str, str], pa.Array]


class AskedChanges(NamedTuple):
    """``size`` changes of one table version and kind, of which it is asked whether they satisfy a
    condition."""

    version: TableVersion
    decode: Decode
    kind: Change
    size: int


@cache
def _database(duckdb: Any, process: int) -> Any:
    """A database in memory without tables, one for a process: it takes 20 ms to make."""
    return duckdb.connect(":memory:", config={"threads": 1})


class ValueFilter:
    """One predicate for all tables of a log. A table that lacks one of its columns has no row that
    satisfies it. Values of ``masked`` columns (OWNER.NAME.COLUMN) are not told.

    Raises UsageError when the text is no predicate, no table has its columns, or DuckDB is not
    installed (LR1005).
    """

    def __init__(self, text: str, catalog: Catalog, masked: frozenset[str] = frozenset()) -> None:
        self.masked = masked
        from sqlgen.predicate import parse_predicate

        try:
            self.predicate = parse_predicate(text, [version.table for version in catalog.versions])
        except SqlgenError as error:
            raise UsageError(error.code, error.message, hint=error.hint) from None
        self._duckdb = optional_library("duckdb", "duckdb", "--where")
        self._conditions: dict[int, Mapping[str, str]] = {}

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

    def select(self, version: TableVersion, decode: Decode, kind: Change, count: int) -> Mask:
        """Which of ``count`` rows satisfy the predicate. ``decode(column, side)`` gives a column of
        an image the change has; an image it does not have is NULL. UsageError when the predicate
        cannot be evaluated on the values (comparing text with a number, for example).
        """
        return self.select_each([AskedChanges(version, decode, kind, count)])[0]

    def select_each(self, asked: Sequence[AskedChanges]) -> list[Mask]:
        """As :meth:`select` of each, with one query for those of which the same is asked: a query
        takes as long as some thousand rows."""
        tables: dict[int, pa.Table] = {}
        alike: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        for number, one in enumerate(asked):
            if self.predicate.applies_to(one.version.table):
                tables[number] = pa.table(self._columns_of(one))
                conditions = self._conditions_of(one.version)
                alike[(*conditions.items(), *tables[number].schema)].append(number)
        masks: dict[int, Mask] = {}
        for numbers in alike.values():
            if len(numbers) > 1:
                found = self._together([(asked[number], tables[number]) for number in numbers])
                masks.update(zip(numbers, found, strict=False))
        for number, rows in tables.items():
            if number not in masks:
                masks[number] = self._alone(asked[number], rows)
        return [
            masks[number] if number in masks else np.zeros(one.size, bool)
            for number, one in enumerate(asked)
        ]

    def _alone(self, asked: AskedChanges, rows: pa.Table) -> Mask:
        """Which changes of one table version and kind satisfy the predicate. UsageError as
        :meth:`select`."""
        conditions = self._conditions_of(asked.version)
        chosen = " OR ".join(conditions[side] for side in _SIDES[asked.kind])
        try:
            return self._evaluated({"chosen": chosen}, rows)["chosen"]
        except self._duckdb.Error as error:
            message = str(error).splitlines()[0]
            name, asked_for = asked.version.name, self.columns(asked.version)
            if any_masked(self.masked, name, asked_for):
                message = "values that are masked are not what it takes them for"
            raise UsageError(
                "LR1003",
                f"--where cannot be evaluated on {asked.version.name}: {message}",
                hint="Compare each column with values of its own type",
            ) from None

    def _together(self, some: Sequence[tuple[AskedChanges, pa.Table]]) -> list[Mask]:
        """The same of several of which the same is asked; none where one query for all of them
        fails: :meth:`_alone` finds whose rows it is, and whether those are asked at all."""
        conditions = self._conditions_of(some[0][0].version)
        try:
            found = self._evaluated(conditions, pa.concat_tables([rows for _, rows in some]))
        except self._duckdb.Error:
            return []
        masks, start = [], 0
        for one, _ in some:
            stop = start + one.size
            masks.append(
                np.logical_or.reduce([found[side][start:stop] for side in _SIDES[one.kind]])
            )
            start = stop
        return masks

    def _conditions_of(self, version: TableVersion) -> Mapping[str, str]:
        """The condition in DuckDB's words, for bare columns of each image."""
        if version.index not in self._conditions:
            self._conditions[version.index] = {
                side: f"coalesce({self.predicate.duckdb_sql(version.table, side)}, false)"
                for side in ("before", "after")
            }
        return self._conditions[version.index]

    def _columns_of(self, asked: AskedChanges) -> Mapping[str, pa.Array]:
        """The columns that the predicate is about, of both images."""
        columns: dict[str, pa.Array] = {}
        for name in self.columns(asked.version):
            like = asked.decode(name, _SIDES[asked.kind][0])
            for side in ("before", "after"):
                columns[f"{side}.{name}"] = (
                    asked.decode(name, side)
                    if side in _SIDES[asked.kind]
                    else pa.nulls(asked.size, like.type)
                )
        return columns

    def _evaluated(self, conditions: Mapping[str, str], rows: pa.Table) -> Mapping[str, Mask]:
        """Which rows satisfy each condition, by its name. Raises DuckDB's errors."""
        query = ", ".join(f"{text} AS {name}" for name, text in conditions.items())
        # DuckDB finds ``rows`` by its name, faster than registered
        found = self._connection.execute(f"SELECT {query} FROM rows").fetchnumpy()
        return {name: np.asarray(found[name], bool) for name in conditions}
