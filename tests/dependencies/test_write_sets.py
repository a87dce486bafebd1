"""Exchanged tables, rows that are the same, and updates that may be of another row; the rest is in
tests/golden/test_write_sets.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from replay.changes.envelope import RECORD, Change
from replay.decoding.hashes import hash_ranges
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.passes import EdgeJob
from replay.dependencies.write_sets import ChangeBatch, ImagesSeen, KeyRole, WriteSets, row_hashes
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from sqlgen.schema import Constraints
from tests.support.history import PARENT
from tests.support.logbuilder import Col, LogBuilder, Tab


def batches_of(log: LogmasterLog, spaces: KeySpaces) -> Iterator[ChangeBatch]:
    job = EdgeJob(spaces, frozenset(), np.zeros(0, RECORD))
    for split, _, _ in log.splits(1 << 20):
        for records, _, change, version in job.batches(log, split):
            every = np.arange(len(records), dtype=np.int64)
            yield ChangeBatch(records, every, np.ones_like(every), change, version)


BASE, CLONE, OTHER = (
    Tab(name, (Col("ID", "INT", 4, key=1),), obid=20 + number, psid=2 + number)
    for number, name in enumerate(("BASE", "CLONE", "OTHER"))
)


@pytest.mark.parametrize(
    ("clone", "tables"),
    [
        (("TESTOWN", "CLONE"), {"BASE", "CLONE"}),
        (("TESTOWN", "BASE"), {"BASE"}),
        (("DAMAGE",), {"BASE", "CLONE", "OTHER"}),
    ],
)
def test_an_exchange_is_an_event_of_both_tables(
    tmp_path: Path, clone: tuple[str, ...], tables: set[str]
) -> None:
    """Where the other one cannot be read, of all."""
    builder = LogBuilder((BASE, CLONE, OTHER))
    builder.unit().insert(BASE, (1,))
    builder.unit()._add(BASE, "E ", [name.encode("cp037") for name in clone], (), {})
    log = open_log(*builder.write(tmp_path))
    spaces = KeySpaces(log.catalog)
    names = {
        spaces.table_space[at]: version.table.name
        for at, version in enumerate(log.catalog.versions)
    }
    (batch,) = batches_of(log, spaces)
    touches = WriteSets(log, spaces, frozenset(names)).touches(batch)
    events = touches[touches["role"] == KeyRole.EVENT]
    (exchanged,) = np.flatnonzero(batch.change == Change.EXCHANGE)
    assert set(events["change"].tolist()) == {exchanged}
    assert sorted(names[space] for space in events["space"].tolist()) == sorted(tables)


def hashes_of(folder: Path, table: Tab, images: list[bytes]) -> list[int]:
    """The hashes of rows that these images insert."""
    log = LogBuilder((table,))
    unit = log.unit()
    for image in images:
        unit.insert(table, tuple(None if c.nulls == "Y" else 0 for c in table.columns))
        log.changes[-1].images[0] = image
    opened = open_log(*log.write(folder))
    found: dict[int, int] = {}

    def look(seen: ImagesSeen) -> None:
        walk, images = seen.walks["after"], seen.images
        rows = np.arange(len(seen.rows))
        hashes = hash_ranges(images.buffer, *images.after)
        version = opened.catalog.versions[seen.version]
        of_rows = row_hashes(walk, version, rows, hashes)
        found.update(zip(seen.rows.tolist(), of_rows.tolist(), strict=True))

    spaces = KeySpaces(opened.catalog, Constraints())
    (batch,) = batches_of(opened, spaces)
    WriteSets(opened, spaces).touches(batch, look)
    return [found[number] for number in range(len(images))]


@pytest.mark.parametrize("key", [0, 1])
def test_rows_are_the_same_where_their_values_are(tmp_path: Path, key: int) -> None:
    """Not what stands under a null, nor which sign of a packed decimal is plus; blanks at the end
    of text do count."""
    number, text = Col("N", "DEC", 2, key=key), Col("T", "VCHR", 4, nulls="Y")
    small, other = Col("S", "INT", 2, nulls="Y"), Col("M", "DEC", 1)
    table = Tab("THING", (number, other, small, text))

    def image(decimal: str, least: str, word: str) -> bytes:
        texts = word.encode("cp037")
        return bytes.fromhex(f"{decimal}2C{least}") + b"\0" + len(texts).to_bytes(2, "big") + texts

    images = [
        image("001C", "FF0000", "A"),
        image("001C", "FF0007", "A"),
        image("001F", "FF0000", "A"),
        image("001D", "FF0000", "A"),
        image("001C", "000000", "A"),
        image("001C", "FF0000", "A "),
        image("001C", "000007", "A"),
        image("001F", "000007", "A"),
        image("001D", "000007", "A"),
    ]
    hashes = hashes_of(tmp_path, table, images)
    assert [hashes.index(one) for one in hashes] == [0, 0, 0, 3, 4, 5, 6, 6, 8]


def test_an_update_that_may_be_of_another_row_changes_every_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogBuilder((PARENT,))
    unit = log.unit()
    for number in (1, 2):
        unit.update(PARENT, (number, "A", 0, 0), (number, "A", 0, 5))
    opened = open_log(*log.write(tmp_path))
    monkeypatch.setattr(opened, "new_values", lambda envelope: np.array([False, True]))
    spaces = KeySpaces(opened.catalog)
    (batch,) = batches_of(opened, spaces)
    places = [1 << place for place in spaces.column_places[0]]
    changed = WriteSets(opened, spaces).changed_columns(batch)
    assert changed == {0: places[3], 1: sum(places)}
