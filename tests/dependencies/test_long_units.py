"""Window by window a unit crosses where all of its changes together do."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.arrays import Index
from replay.changes.envelope import RECORD, ROW_CHANGES, Change
from replay.dependencies import long_units
from replay.dependencies.constraint_order import ConstraintOrder
from replay.dependencies.passes import assemble
from replay.dependencies.write_sets import ChangeBatch
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from replay.pipeline.scan import sort_records
from sqlgen.choices import Deferral
from sqlgen.schema import Constraints
from tests.support.logbuilder import Col, LogBuilder, Tab

TABLE = Tab(
    "T",
    (
        Col("A", "INT", 2, key=1),
        Col("N", "CHAR", 3, nulls="Y"),
        Col("B", "INT", 8, key=2),
        Col("U", "INT", 4),
        Col("V", "VCHR", 9),
    ),
    obid=5,
)
OTHER = Tab("OTHER", (Col("K", "INT", 4, key=1), Col("X", "INT", 4, nulls="Y")), obid=6)


U = ("TESTOWN.T", ("U",))
KEYS = (U, ("TESTOWN.OTHER", ("X",)), ("TESTOWN.T", ("V", "N")))


def history(folder: Path, draw: random.Random) -> LogmasterLog:
    """Units of a few random changes, of rows that agree with what was there before or do not; in
    some of them a table is emptied."""
    log = LogBuilder((TABLE, OTHER))
    for _ in range(10):
        # updates as a delete and an insert each
        unit, keys = log.unit(), draw.sample(range(9), 4)
        for before, after in zip(keys, [*keys[1:], keys[1]], strict=True):
            unit.delete(OTHER, (before, 1))
            unit.insert(OTHER, (after, 1))
    for _ in range(30):
        unit = log.unit()
        for _ in range(draw.randrange(2, 9)):
            table, rows = draw.choice(((TABLE, 3), (OTHER, 2)))
            keys = [draw.randrange(rows) for _ in range(2)]
            if table is OTHER:
                first, second = ((key, draw.choice((None, 1, 2))) for key in keys)
            else:
                first, second = ((key, None, 0, key, "v" * draw.randrange(2)) for key in keys)
            match draw.randrange(7):
                case 0 | 1:
                    unit.insert(table, first)
                case 2 | 3:
                    unit.delete(table, first)
                case 4 | 5:
                    unit.update(table, first, second)
                case _:
                    unit.event(table, "DM")
    return open_log(*log.write(folder))


def batch_of(log: LogmasterLog) -> ChangeBatch:
    records = np.zeros(0, RECORD)
    for split, offsets, lengths in log.splits(1 << 20):
        envelope = log.envelope(split.file, offsets, lengths)
        change, version = log.classify(envelope)
        every = np.arange(len(offsets))
        records = sort_records(split.file, 1, offsets, lengths, envelope, change, version, every)
    return assemble(records)


def windows(batch: ChangeBatch, rows: Index, size: int) -> Iterator[ChangeBatch]:
    """Some changes of a batch, a few at a time."""
    for low in range(0, len(rows), size):
        yield batch.part(rows[low : low + size])


@pytest.mark.long
@pytest.mark.parametrize("keys", [(), (U,), KEYS], ids=["key", "U", "all"])
@pytest.mark.parametrize("seed", range(3))
def test_they_say_the_same(
    tmp_path: Path, seed: int, keys: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    monkeypatch.setattr(long_units, "PART", 2)
    log = history(tmp_path, draw)
    batch = batch_of(log)
    order = ConstraintOrder(log, Constraints(keys=keys), False, Deferral.NONE)
    units = batch.records["unit"][batch.head]
    told: Counter[bool] = Counter()
    for unit in np.unique(units):
        rows = np.flatnonzero(units == unit)
        whole = batch.part(rows)
        stretch = np.cumsum(~np.isin(whole.change, ROW_CHANGES))
        moved = whole.change == Change.UPDATE
        expected = len(order._crossed(whole, stretch, whole.version >= 0, moved)[1]) > 0
        size = draw.randrange(1, 5)
        assert long_units.crosses(order, partial(windows, batch, rows, size)) == expected
        told[expected] += 1
    assert min(told[True], told[False]) > 3
