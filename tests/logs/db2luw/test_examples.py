"""The worked examples: bytes put together by hand, read by the reader and made again by the encoder
of the tests."""

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
NOBODY = (11, None, None, "2000-02-29", None, "ZZ")
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


def unframed(framed: bytes) -> bytes:
    records, place = b"", 0
    while place < len(framed):
        size = int.from_bytes(framed[place + 6 : place + 10], "big")
        records += framed[place + 6 : place + 6 + size]
        place += 6 + size
    return records


@pytest.mark.parametrize("framing", ["lsn6", "raw"])
@pytest.mark.parametrize("told", [True, False])
def test_v7_big_endian(fixtures: Path, tmp_path: Path, framing: str, told: bool) -> None:
    data = examples(fixtures)["v7-big-framed"]
    data = data if framing == "lsn6" else unframed(data)
    log = opened(
        tmp_path,
        data,
        framing=framing if told else None,
        options={"byte-order": "big", "dialect": "v7"} if told else {},
    )
    shape = log.files[0].shape
    assert (shape.framing.name, shape.big, shape.dialect.name) == (framing, True, "v7")
    assert images(log) == EXPECTED
    unit = log.units()[0]
    assert len(log.units()) == 1
    assert bytes(unit["unit"]).hex() == "00000000" + "000000000a1f" + "0000"
    assert (unit["authid"], unit["disposition"]) == (b"DB2INST1", ord("C"))
    assert bytes(unit["time"]).hex()[:14] == "19991231235958"


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


def test_the_framed_stream_has_the_published_digest(fixtures: Path) -> None:
    import hashlib

    stream = v97_little(fixtures, "flt16")
    assert len(stream) == 623
    assert (
        hashlib.sha256(stream).hexdigest()
        == "7ca18bb2f574530d18f977f8e92dcc7c29a95ca56cbafcce10e563a346ef6195"
    )


@pytest.mark.parametrize(
    ("names", "count"),
    [
        (["v7-little-insert"], 1),
        (["v97-big-insert"], 1),
        (["v10-little-insert", "v10-little-compensation", "v10-little-commit"], 1),
    ],
)
def test_single_records_of_other_shapes(
    fixtures: Path, tmp_path: Path, names: list[str], count: int
) -> None:
    known = examples(fixtures)
    log = opened(tmp_path, b"".join(known[name] for name in names))
    dialect, order = names[0].split("-")[:2]
    assert (log.files[0].shape.dialect.name, log.files[0].shape.big) == (dialect, order == "big")
    assert images(log) == EXPECTED[:count]


def test_the_encoder_makes_the_v97_example(fixtures: Path) -> None:
    builder = LogBuilder("v97", False, "raw")
    unit = builder.begin()
    unit.insert(EMPX, SMITH, (1, 4))
    unit.update(EMPX, SMITH, SMITHSON, (1, 4))
    second = unit.insert(EMPX, NOBODY, (1, 5))
    builder.free = 3886 - 41
    unit.undo(second)
    builder.free = 3840
    unit.delete(EMPX, SMITHSON, (1, 4))
    unit.commit()
    known = examples(fixtures)
    assert builder.records == [
        known[f"v97-little-{name}"]
        for name in ("insert", "update", "insert2", "undoinsert2", "delete", "commit")
    ]


def test_the_encoder_makes_the_v7_example(fixtures: Path) -> None:
    builder = LogBuilder("v7", True, "lsn6")
    unit = builder.begin()
    unit.create(EMPX)
    del builder.records[:]
    builder.lsn, unit.previous = 0xBB8, 0
    unit.add(
        0x52,
        b"\x01\x80\x00\x02\x00\x05"
        + builder.six(0xBB8)
        + bytes(72 - 4)
        + bytes(4)
        + b"\0\0\0\x34"
        + b"\0\0\0\6"
        + EMPX.descriptors(True),
    )
    unit.insert(EMPX, SMITH, (1, 4))
    unit.update(EMPX, SMITH, SMITHSON, (1, 4))
    second = unit.insert(EMPX, NOBODY, (1, 5))
    builder.free = 3886 - 41
    unit.undo(second)
    builder.free = 3840
    unit.delete(EMPX, SMITHSON, (1, 4))
    unit.commit()
    expected = examples(fixtures)["v7-big-framed"]
    made = builder.bytes()
    index_flags = slice(
        6 + 20 + 12, 6 + 20 + 84
    )  # the table directory record, which only the example fills
    assert made[: index_flags.start] == expected[: index_flags.start]
    assert made[index_flags.stop :] == expected[index_flags.stop :]


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
