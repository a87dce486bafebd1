"""``--where`` of rows whose images machine code finds: only the columns that it names are
decoded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from replay.arrays import Mask
from replay.changes.catalog import TableVersion
from replay.changes.envelope import Change
from replay.changes.value_filter import ValueFilter
from replay.decoding.plain_rows import PlainRows
from replay.pipeline.fast_path import FastPath
from replay.pipeline.fast_program import KernelInput
from sqlgen.rows import Op

#: The kind of statement that a change of a row needs.
OPS = {Change.INSERT: Op.INSERT, Change.UPDATE: Op.UPDATE, Change.DELETE: Op.DELETE}


class Filtered(NamedTuple):
    """Which changes satisfy a condition (``wanted``), and of which nothing is said (``odd``): an
    image that was looked at does not fit the table, or a value cannot be decoded."""

    wanted: Mask
    odd: Mask


def filtered(
    way: FastPath,
    condition: ValueFilter,
    version: TableVersion,
    kind: Change,
    rows: KernelInput,
    plain: PlainRows,
) -> Filtered | None:
    """Changes of one table version and kind; None for a table that needs the other way. Raises as
    :meth:`replay.changes.value_filter.ValueFilter.select`."""
    names = condition.columns(version)
    if not condition.predicate.applies_to(version.table):
        nothing = np.zeros(len(rows.unusable), bool)
        return Filtered(nothing, nothing)
    found = way.columns(version, OPS[kind], rows, plain, names)
    if found is None:
        return None
    sides = {"before": 0, "after": len(found.walks) - 1}

    def decode(name: str, side: str) -> pa.Array:
        return found.decode(sides[side], version.index_of(name))

    wanted = condition.select(version, decode, kind, len(rows.unusable))
    return Filtered(wanted, found.odd)
