"""``--where`` at work: the predicate evaluated by DuckDB on the decoded columns it names."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from replay.arrays import Mask
from replay.changes.catalog import Catalog, TableVersion
from replay.changes.envelope import Change
from replay.errors import UsageError, optional_library
from sqlgen.errors import SqlgenError

_SIDES = {Change.INSERT: ("after",), Change.DELETE: ("before",), Change.UPDATE: ("before", "after")}


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
        duckdb = optional_library("duckdb", "duckdb", "--where")
        self._error: type[Exception] = duckdb.Error
        self._connection = duckdb.connect(":memory:", config={"threads": 1})
        self._connection.execute(
            "SET TimeZone = 'UTC'"
        )  # a comparison must not depend on where it is made

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
        names = {column.name.upper(): column.name for column in version.table.columns}
        wanted = {name for _, name in self.predicate.columns}
        columns: dict[str, pa.Array] = {}
        for name in sorted(wanted):
            for side in ("before", "after"):
                known = side in _SIDES[kind]
                like = decode(names[name], _SIDES[kind][0])
                columns[f"{side}.{names[name]}"] = (
                    decode(names[name], side) if known else pa.nulls(count, like.type)
                )
        conditions = " OR ".join(
            f"coalesce({self.predicate.duckdb_sql(version.table, side)}, false)"
            for side in _SIDES[kind]
        )
        rows = pa.table(columns)
        try:
            self._connection.register("rows", rows)
            chosen = self._connection.sql(f"SELECT {conditions} AS chosen FROM rows").fetchnumpy()[
                "chosen"
            ]
        except self._error as error:
            message = str(error).splitlines()[0]
            raise UsageError(
                "LR1003",
                f"--where cannot be evaluated on {version.name}: {message}",
                hint="Compare each column with values of its own type",
            ) from None
        return np.asarray(chosen, bool)
