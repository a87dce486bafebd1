"""Rows of a lake's tables as sets, whatever their columns are called.

Arrow reads a name that begins with a dot as a path, and what is computed needs names that no column
has: so columns have numbers meanwhile.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def _numbered(rows: pa.Table) -> pa.Table:
    return rows.rename_columns([str(place) for place in range(rows.num_columns)])


def distinct(rows: pa.Table) -> pa.Table:
    """Each row once, in no order."""
    numbered = _numbered(rows)
    found = numbered.group_by(numbered.column_names).aggregate([])
    return found.select(numbered.column_names).rename_columns(rows.column_names)


def balance(came: pa.Table, went: pa.Table) -> tuple[pa.Table, pa.Table]:
    """(what is left of the rows that came, and of those that went) once equal ones of both sides
    cancel out: multisets of rows with the columns of ``came``, in no order."""
    columns = _numbered(came).column_names
    both = pa.concat_tables(
        [
            _numbered(part).append_column("balance", pa.array(np.full(len(part), value, np.int64)))
            for part, value in ((came, 1), (went.select(came.column_names), -1))
        ]
    )
    sums = both.group_by(columns).aggregate([("balance", "sum")])
    left = sums["balance_sum"].to_numpy()
    rows = sums.select(columns).rename_columns(came.column_names)

    def more(counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Table:
        return rows.take(pa.array(np.repeat(np.arange(len(counts)), counts)))

    return more(np.maximum(left, 0)), more(np.maximum(-left, 0))


def with_keys(rows: pa.Table, keys: pa.Table, there: bool = True) -> pa.Table:
    """Those of ``rows`` that have one of some ``keys`` in the columns of these names, or that have
    none (``there`` is False), in their order."""
    mine = rows.select(keys.column_names)
    theirs = _numbered(distinct(keys.cast(mine.schema)))
    places = pa.array(np.arange(len(rows)))
    kind = "left semi" if there else "left anti"
    found = _numbered(mine).append_column("place", places)
    left = found.join(theirs, keys=theirs.column_names, join_type=kind)["place"]
    return rows.take(pa.array(np.sort(left.to_numpy())))
