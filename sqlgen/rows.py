"""Rows: a batch of changes of one table and one kind, and its inverse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

import pyarrow as pa

from sqlgen.schema import Table


class Op(Enum):
    """What happened to a row."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


INVERSE = {Op.INSERT: Op.DELETE, Op.DELETE: Op.INSERT, Op.UPDATE: Op.UPDATE}


@dataclass(frozen=True)
class Rows:
    """``count`` changes of one ``table``, all of one ``op``.

    ``before`` and ``after`` map a column name to an Arrow array of ``count`` values (value
    contract: :mod:`sqlgen.schema`). An insert has only ``after``, a delete only ``before``. An
    update may carry fewer columns than the table has: a column that is *absent* was not needed or
    not logged, which is not the same as NULL. ``changed`` (updates only) maps a column name to a
    boolean array: True where before and after differ. Where it is False, the value of ``after`` (of
    ``before``, after :meth:`inverse`) in that row may be anything unless the column is needed to
    find the row; a column missing from ``changed`` is unchanged in every row. ``whole`` (updates
    only) says of which rows the image that a statement writes has every column's value; None: of
    none.
    """

    table: Table
    op: Op
    count: int
    before: Mapping[str, pa.Array]
    after: Mapping[str, pa.Array]
    changed: Mapping[str, pa.BooleanArray]
    whole: pa.BooleanArray | None = None

    def inverse(self) -> Rows:
        """The rows that take these back: insert and delete change places, an update's images do.
        ``inverse`` of ``inverse`` is the same."""
        return replace(self, op=INVERSE[self.op], before=self.after, after=self.before)
