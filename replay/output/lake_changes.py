"""What changes of a table leave of its rows, for tables of a lake that are merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.errors import Refusal, Where
from replay.output.lake_columns import conformed, united, widened
from replay.output.lake_rows import balance, distinct, with_keys

#: The facts that put changes into the order of the log.
ORDER = ["commit_lrsn", "urid", "member", "sequence"]


@dataclass(frozen=True)
class NetEffect:
    """Rows that are there now, keys whose rows are gone, whether all rows went before, and the
    images that went."""

    rows: pa.Table
    gone: pa.Table
    empty: bool
    went: pa.Table


def net_effect(
    name: str,
    parts: Sequence[pa.Table],
    key: Sequence[str],
    small: bool,
    known: pa.Schema | None,
    initial: pa.Table | None,
) -> NetEffect:
    """What a run leaves of each row. Images that come and go balance, whatever the order of keys
    that shift within a statement; of each key one image at most is left that came. ``initial`` are
    the rows before; ``known`` and ``small`` as in :func:`replay.output.lake_columns.united`.

    Refusal LR2036 for changes that contradict each other or the rows before, LR4006 for a column
    of two types.
    """
    ordered = in_order(united(parts, None, name, small))
    truncated = np.flatnonzero(pc.equal(ordered["op"], "truncate").to_numpy(False))
    if len(truncated):
        ordered = ordered.slice(int(truncated[-1]) + 1)
    came, went = (side_of(ordered, side) for side in ("after", "before"))
    if initial is not None and not len(truncated):
        came = pa.concat_tables([came, conformed(initial, came.schema)])
    rows, went = balance(came, went)
    gone = went.select(list(key))
    if initial is not None and len(gone):
        raise Refusal(
            "LR2036",
            f"found {len(gone)} rows that are not as the log found them; expected the state before"
            " the log",
            Where(table=name),
            "logreplay redo --baseline names them",
        )
    keys = rows.select(list(key))
    if len(distinct(keys)) < len(keys):
        raise Refusal(
            "LR2036",
            "found two rows of one key that are there at the end; expected one",
            Where(table=name),
            "logreplay check says where the log contradicts itself",
        )
    gone = with_keys(distinct(gone), keys, there=False)
    wanted = widened(known, rows.schema, name)
    return NetEffect(conformed(rows, wanted), gone, len(truncated) > 0, conformed(went, wanted))


def in_order(rows: pa.Table) -> pa.Table:
    """Changes in the order of the log."""
    return rows.sort_by([(column, "ascending") for column in ORDER])


def side_of(rows: pa.Table, side: str) -> pa.Table:
    """The images of one side that are there, as columns."""
    there = rows.filter(rows[side].is_valid())[side].combine_chunks()
    fields = list(there.type)
    return pa.table([pc.struct_field(there, place) for place in range(len(fields))],
                    names=[entry.name for entry in fields])  # fmt: skip
