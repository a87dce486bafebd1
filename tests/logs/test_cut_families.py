"""Logs of the other families, cut into many files at drawn places, read as one log."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import replay
from tests.support import luwsakila, solidsakila
from tests.support.luwbuilder import catalog_csv
from tests.support.solidbuilder import Framing, write_catalog, write_rows

_PARTS = 40


def bounds(count: int, seed: int) -> list[tuple[int, int]]:
    """Where to cut ``count`` records into parts."""
    edges = sorted(random.Random(seed).sample(range(1, count), _PARTS - 1))
    return list(pairwise([0, *edges, count]))


def framed(data: bytes) -> Iterator[bytes]:
    """The records of a log with 16 octets before each, the size among them (little-endian)."""
    place = 0
    while place < len(data):
        (size,) = struct.unpack_from("<I", data, place + 8)
        yield data[place : place + 16 + size]
        place += 16 + size


def scripts_of(log: replay.Log, out: Path) -> list[tuple[str, bytes]]:
    """The redo scripts of a log."""
    folder = Path(log.select().redo(schema="none").write(out).folder)
    return [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.sql"))]


@pytest.mark.long
def test_a_db2_luw_log_in_many_files_gives_the_scripts_of_one(sakila: Path, tmp_path: Path) -> None:
    encoded = luwsakila.encode(sakila, "v97", False, "flt16")
    records = list(framed(encoded.data))
    whole, catalog = tmp_path / "whole.log", tmp_path / "catalog.csv"
    whole.write_bytes(encoded.data)
    catalog.write_text(catalog_csv(encoded.tables), encoding="utf-8")
    parts = []
    for number, (low, high) in enumerate(bounds(len(records), 11)):
        parts.append(tmp_path / f"S{number:07d}.LOG")
        parts[-1].write_bytes(b"".join(records[low:high]))
    with replay.open_log("db2luw", log=whole, catalog=catalog) as log:
        one = scripts_of(log, tmp_path / "one")
    with replay.open_log("db2luw", log=parts, catalog=catalog) as log:
        many = scripts_of(log, tmp_path / "many")
    assert len(one[0][1]) > 1 << 20
    assert many == one


@pytest.mark.long
def test_a_soliddb_log_in_many_files_gives_the_scripts_of_one(sakila: Path, tmp_path: Path) -> None:
    encoded = solidsakila.encode(sakila, Framing("len32"), 20)
    write_catalog(tmp_path, encoded.tables)
    rows = encoded.log.rows
    whole = write_rows(tmp_path / "whole.parquet", rows)
    parts = [
        write_rows(tmp_path / f"part-{number:02d}.parquet", rows[low:high])
        for number, (low, high) in enumerate(bounds(len(rows), 12))
    ]
    with replay.open_log("soliddb", log=whole, catalog=tmp_path) as log:
        one = scripts_of(log, tmp_path / "one")
    with replay.open_log("soliddb", log=parts, catalog=tmp_path) as log:
        many = scripts_of(log, tmp_path / "many")
    assert len(one[0][1]) > 1 << 20
    assert many == one
