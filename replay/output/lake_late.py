"""Units of recovery that come late to a merged table of a lake: what was taken before them may have
changed their rows, and must not be overwritten by older values."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.errors import Refusal, Where


def check_rows(
    name: str,
    found: pa.Table,
    went: pa.Table,
    came: pa.Table,
    keys: pa.Table,
    late: Collection[str],
) -> None:
    """Refusal LR4002 where a table of a lake has rows (``found``) of some ``keys`` other than
    changes that are to be merged found them: the net images that ``went``, and of keys without one
    that ``came``, no row at all. ``late``: the units that changed these keys. A row that is not
    there where one went is let pass: nothing says that the table has the rows from before its first
    log."""
    names = keys.column_names
    columns = went.column_names
    found = found.select(columns).cast(went.schema)
    images = pa.concat_tables(
        [
            part.append_column("balance", pa.array(np.full(len(part), value, np.int64)))
            for part, value in ((found, 1), (went, -1))
        ]
    )
    left = images.group_by(columns).aggregate([("balance", "sum")])
    other = left.filter(pc.greater(left["balance_sum"], 0)).select(names)
    for touched in (keys, pa.concat_tables([went.select(names), came.select(names)])):
        touched = touched.cast(other.schema).group_by(names).aggregate([])
        other = other.join(touched, keys=names, join_type="left semi")
    wrong = other
    if not len(wrong):
        return
    row = ", ".join(f"{column} {wrong[column][0].as_py()!r}" for column in names)
    raise Refusal(
        "LR4002",
        f"found {len(wrong):,} row(s) of keys that {len(late):,} late unit(s) of recovery changed"
        f" other than these found them ({row}; {min(late)}); expected rows that nobody changed"
        " since",
        Where(table=name),
        "Units that commit behind them were taken before. Make the table anew, from its --initial"
        " and with all logs (--behind-damage hold keeps units in order)",
    )
