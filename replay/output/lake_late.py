"""Units of recovery that come late to a merged table of a lake: what was taken before them may have
changed their rows, and must not be overwritten by older values."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from replay.errors import Refusal, Where
from replay.output.lake_rows import balance, distinct, with_keys


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
    other = balance(found, went)[0].select(names)
    for touched in (keys, pa.concat_tables([went.select(names), came.select(names)])):
        other = with_keys(other, touched)
    wrong = distinct(other)
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
