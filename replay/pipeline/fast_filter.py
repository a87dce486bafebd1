"""``--where`` of rows whose images machine code finds: only the columns that it names are
decoded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from replay.arrays import Mask
from replay.changes.catalog import TableVersion
from replay.changes.envelope import Change
from replay.changes.value_filter import AskedChanges, ValueFilter
from replay.decoding.plain_rows import PlainRows
from replay.pipeline.fast_columns import Columns
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


class Group(NamedTuple):
    """Changes of one table version and kind: their images, and how these lie."""

    version: TableVersion
    kind: Change
    rows: KernelInput
    plain: PlainRows


def filtered(
    way: FastPath, condition: ValueFilter, groups: Sequence[Group]
) -> list[Filtered | None]:
    """Changes of some groups; None for one whose table needs the other way. Raises as
    :meth:`replay.changes.value_filter.ValueFilter.select`."""
    made: list[Filtered | None] = [None] * len(groups)
    asked: dict[int, tuple[AskedChanges, Columns]] = {}
    for number, group in enumerate(groups):
        version, kind, rows, plain = group
        names = condition.columns(version)
        if not names:
            nothing = np.zeros(len(rows.unusable), bool)
            made[number] = Filtered(nothing, nothing)
        elif (found := way.columns(version, OPS[kind], rows, plain, names)) is not None:
            decode = partial(_decoded, found, version)
            asked[number] = AskedChanges(version, decode, kind, len(rows.unusable)), found
    wanted = condition.select_each([one for one, _ in asked.values()])
    for (number, (_, found)), mask in zip(asked.items(), wanted, strict=True):
        made[number] = Filtered(mask, found.odd)
    return made


def _decoded(found: Columns, version: TableVersion, name: str, side: str) -> pa.Array:
    """A column of one image."""
    return found.decode(0 if side == "before" else len(found.walks) - 1, version.index_of(name))
