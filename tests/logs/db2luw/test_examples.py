"""The worked examples: bytes put together by hand, and those that were published."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.changes.envelope import Change
from replay.logs.db2luw import layouts, rows
from replay.logs.db2luw.layouts import DIALECTS, FRAMINGS
from replay.logs.db2luw.reader import LuwLog
from replay.logs.db2luw.tables import read_export
from tests.support.luwbuilder import Col, LogBuilder, Tab, catalog_csv
from tests.support.scripted import opened_luw

EMPX = Tab(
    2, 5, "DB2INST1", "EMPX",
    (
        Col("ID", "INTEGER", key=1),
        Col("NAME", "VARCHAR", 20, null=True),
        Col("SALARY", "DECIMAL", 9, 2, null=True),
        Col("HIRED", "DATE"),
        Col("TS", "TIMESTAMP", scale=6, null=True),
        Col("CODE", "CHARACTER", 3),
    ),
)  # fmt: skip
SMITH = (10, "Smith", "52750.00", "1996-04-03", "1999-12-31 23:59:58.123456", "A01")
SMITHSON = (10, "Smithson", "-1.25", "1996-04-03", None, "A02")


RESUME = Tab(
    2, 5, "DB2INST1", "EMP_RESUME",
    (Col("EMPNO", "CHARACTER", 6, key=1), Col("RESUME_FORMAT", "VARCHAR", 10, key=2),
        Col("RESUME", "CLOB", 5120, null=True)),
)  # fmt: skip


def examples(fixtures: Path) -> dict[str, bytes]:
    text = (fixtures / "db2luw" / "examples.txt").read_text(encoding="ascii")
    return {
        name: bytes.fromhex(digits)
        for name, digits in re.findall(r"\[([\w-]+)\]\n([0-9A-F\n]+)", text)
    }


def opened(folder: Path, log: bytes, table: Tab = EMPX, **settings: Any) -> LuwLog:
    return opened_luw(folder, log, tables=(table,), scratch=str(folder), **settings)


def images(log: LuwLog) -> list[tuple[str, str, list[Any]]]:
    """(change, side, values) of every row image that counts, in log order."""
    found = []
    for entry in log.entries():
        if entry["cancelled"] or entry["change"] not in (
            Change.INSERT,
            Change.UPDATE,
            Change.DELETE,
        ):
            continue
        for side in ("before", "after"):
            if entry[side] >= 0:
                start = np.array([entry[side]], np.int64)
                walk = log.walk(
                    int(entry["version"]),
                    log.buffer(int(entry[f"{side}_file"])),
                    start,
                    start + entry[f"{side}_size"],
                )
                assert not walk.bad[0], walk.reason(0)
                values = [walk.decode(index) for index in range(len(walk.format.columns))]
                assert all(bad is None for _, bad in values)
                found.append(
                    (
                        Change(int(entry["change"])).name,
                        side,
                        [value[0].as_py() for value, _ in values],
                    )
                )
    return found


def padded(row: tuple[Any, ...]) -> list[Any]:
    return [*row[:5], str(row[5]).ljust(3)]


EXPECTED = [
    ("INSERT", "after", padded(SMITH)),
    ("UPDATE", "before", padded(SMITH)),
    ("UPDATE", "after", padded(SMITHSON)),
    ("DELETE", "before", padded(SMITHSON)),
]


def v97_little(fixtures: Path, framing: str) -> bytes:
    known = examples(fixtures)
    position, stream = 0xBB8, b""
    for name in ("insert", "update", "insert2", "undoinsert2", "delete", "commit"):
        record = known[f"v97-little-{name}"]
        stream += LogBuilder("v97", False, framing).frame(position, 0, 0, len(record)) + record
        position += len(record)
    return stream


@pytest.mark.parametrize("framing", ["raw", "lsn8", "flt16", "lri48", "flt56"])
def test_v97_little_endian(fixtures: Path, tmp_path: Path, framing: str) -> None:
    log = opened(tmp_path, v97_little(fixtures, framing))
    assert log.files[0].shape.framing.name == framing
    assert images(log) == EXPECTED


def test_value_compression(fixtures: Path, tmp_path: Path) -> None:
    image = examples(fixtures)["value-compression-little"]
    table = Tab(
        2,
        6,
        "S",
        "V",
        (
            Col("ID", "INTEGER"),
            Col("NOTE", "VARCHAR", 10, null=True),
            Col("ZERO", "INTEGER"),
            Col("NAME", "VARCHAR", 10),
        ),
    )
    (tmp_path / "catalog.csv").write_text(catalog_csv([table]))
    known = read_export(str(tmp_path / "catalog.csv"), 1208)[2, 6]
    buffer = np.frombuffer(image, np.uint8)
    walk = rows.walk(
        known.format, buffer, np.array([0]), np.array([len(image)]), False, DIALECTS["v97"]
    )
    assert not walk.bad[0], walk.reason(0)
    assert [walk.decode(index)[0][0].as_py() for index in range(4)] == [42, None, 0, "alpha"]


def test_published_records(fixtures: Path, tmp_path: Path) -> None:
    known = examples(fixtures)
    stream = b"".join(
        known[f"published-{name}"] for name in ("RV0", "RV1", "RV2", "RV3", "RV4", "RV5")
    )
    log = opened(tmp_path, stream, RESUME)
    assert log.files[0].shape.dialect.name == "v97"
    assert images(log) == [
        ("INSERT", "after", ["000030", "ascii", "This is the first resume"]),
        ("INSERT", "after", ["000030", "ascii", "This is another new resume"]),
        ("DELETE", "before", ["000120", "ascii", "This is a new resume."]),
        ("DELETE", "before", ["000030", "ascii", "This is another new resume"]),
    ]
    assert [change.note for change in log.changes.values()] == ["data capture on"]
    times = {
        bytes(unit["time"]).hex()[:14] for unit in log.units() if unit["disposition"] == ord("C")
    }
    assert times == {"20100731174837"}


def test_every_layout_lies_in_a_row() -> None:
    for dialect in DIALECTS.values():
        for parts in (
            dialect.header,
            dialect.row,
            dialect.undo_row,
            *dialect.commits,
            *dialect.aborts,
        ):
            ends = [part.offset + part.size for part in parts.values()]
            assert sorted(ends) == ends or parts is dialect.row
        assert max(part.offset + part.size for part in dialect.row.values()) == dialect.row_size
        assert (
            max(part.offset + part.size for part in dialect.compensation.values())
            == dialect.sizes[2]
        )
    assert {framing.size for framing in FRAMINGS.values()} == {0, 6, 8, 16, 48, 56}
    assert layouts.KIND_OF_TYPE[0x43] == layouts.RecordKind.COMPONENT
