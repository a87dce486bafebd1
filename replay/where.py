"""``--where``: a SQL predicate over before and after values, evaluated by DuckDB on the decoded columns it names."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from replay.catalog import Catalog, TableVersion
from replay.changes import Change
from replay.errors import UsageError
from sqlgen.errors import SqlgenError
from sqlgen.predicate import parse_predicate

_SIDES = {Change.INSERT: ("after",), Change.DELETE: ("before",), Change.UPDATE: ("before", "after")}


class ValueFilter:
    """One predicate for all tables of a log. Tables that lack one of its columns have no row that satisfies it.

    Raises UsageError when the text is no predicate, or no table has all its columns.
    """

    def __init__(self, text: str, catalog: Catalog) -> None:
        try:
            self.predicate = parse_predicate(text, [version.table for version in catalog.versions])
        except SqlgenError as error:
            raise UsageError(error.code, error.message, hint=error.hint) from None

    def select(self, version: TableVersion, decode: Callable[[str, str], pa.Array], kind: Change) -> npt.NDArray[np.bool_]:
        """Which rows satisfy the predicate. ``decode(column, side)`` gives a column of one image."""
        raise NotImplementedError
