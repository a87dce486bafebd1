"""What Db2 LUW writes beyond the usual: commits of partitioned databases, columns in any order,
rows of temporary tables, bytes under a null."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.dependencies.key_spaces import KeySpaces
from replay.logs.db2luw.reader import LuwLog
from replay.output.bundle import Bundle
from tests.logs.db2luw.test_damage import opened, row, two_units, written
from tests.support.luwbuilder import PLAIN, Col, LogBuilder, Row, Tab
from tests.support.scripted import script

SECONDS = 1_000_000_000


@pytest.mark.parametrize("big", [True, False])
@pytest.mark.parametrize("dialect", ["v7", "v97", "v10"])
@pytest.mark.parametrize("kind", [0x63, 0x86, 0x73, 0x85, 0x45, 0x8A, 0x47])
def test_every_commit_names_who_it_was(tmp_path: Path, kind: int, dialect: str, big: bool) -> None:
    old = dialect == "v7"
    builder = LogBuilder(dialect, big, "raw")
    unit = builder.begin()
    unit.insert(PLAIN, row(1), (1, 1))
    name = b"ALICE" if old else builder.pack("H", 5) + b"ALICE"
    between = b""
    if kind in (0x63, 0x86, 0x73, 0x85):
        between += bytes(range(130, 150))
    if kind in (0x63, 0x86):
        between += builder.pack("H", 17) + b"\xff\x01\x02"
    if kind in (0x45, 0x8A, 0x47):
        name = (name.ljust(9) if old else name) + bytes(range(200, 220))
    unit.add(kind, builder.pack("I" if old else "Q", SECONDS) + between + name)
    shape = {"byte-order": "big" if big else "little", "dialect": dialect}
    log = opened(tmp_path, builder.bytes(), framing="raw", options=shape)
    assert log.units()["authid"].tolist() == [b"ALICE"]
    assert bytes(log.units()["time"][0]).hex()[:14] == "20010909014640"


class Scattered(Tab):
    """Its columns lie in the order B, A, V, with room between them and behind them."""

    PLACES = (6, 0, 12)
    FIXED = 18

    @property
    def fixed(self) -> int:
        return self.FIXED

    def _formatted(self, values: Row, big: bool) -> bytes:
        body, order = bytearray(self.FIXED), ">" if big else "<"
        struct.pack_into(f"{order}i", body, 6, values[0])
        struct.pack_into(f"{order}i", body, 0, values[1])
        struct.pack_into(f"{order}HH", body, 12, self.FIXED, len(values[2]))
        return bytes(body) + values[2].encode()

    def descriptors(self, big: bool, count: int | None = None) -> bytes:
        raw = bytearray(super().descriptors(big, count))
        for number, place in enumerate(self.PLACES):
            struct.pack_into(">H" if big else "<H", raw, 8 * number + 6, place)
        return bytes(raw)


@pytest.mark.parametrize("dialect", ["v7", "v97", "v10"])
def test_columns_lie_where_the_description_says(tmp_path: Path, dialect: str) -> None:
    columns = (Col("A", "INTEGER", key=1), Col("B", "INTEGER"), Col("V", "VARCHAR", 9))
    table = Scattered(2, 5, "S", "T", columns)
    builder = LogBuilder(dialect, True, "raw")
    unit = builder.begin()
    unit.create(table)
    unit.insert(table, (1, 2, "three"), (1, 1))
    unit.commit()
    log = opened(
        tmp_path,
        builder.bytes(),
        tables=(table,),
        framing="raw",
        options={"byte-order": "big", "dialect": dialect},
    )
    bundle, lines = script(log, tmp_path)
    assert lines[-1] == "INSERT INTO s.t (a, b, v) VALUES (1, 2, 'three');"
    assert bundle.manifest["balance"]["closes"]


def test_a_table_that_nobody_describes_is_named_with_its_ids(tmp_path: Path) -> None:
    other = Tab(3, 77, "APP", "OTHER", PLAIN.columns)
    bundle, _ = script(opened(tmp_path, written(two_units), tables=(other,)), tmp_path)
    ids = f"table space {PLAIN.space}, table {PLAIN.id}"
    finding = bundle.manifest["findings"]["shown"][0]
    assert ids in finding
    assert f"TS{PLAIN.space}.T{PLAIN.id}" in finding


def flagged(rid: tuple[int, int]) -> bytes:
    """A row of its own, or of a row that others change, with the flag of temporary tables."""
    builder = LogBuilder()
    unit = builder.begin()
    unit.insert(PLAIN, row(1), (1, 1))
    unit.add(
        0x4E,
        unit.prefix(162, PLAIN, rid, len(PLAIN.row(row(2), False))) + PLAIN.row(row(2), False),
        flags=6,
    )
    unit.commit()
    return builder.bytes()


def test_rows_of_temporary_tables_are_passed_over(tmp_path: Path) -> None:
    def written_of(rid: tuple[int, int]) -> tuple[Bundle, list[str]]:
        return script(opened(tmp_path, flagged(rid)), tmp_path / str(rid[1]))

    bundle, lines = written_of((9, 9))
    assert len(lines) == 1
    assert bundle.exit_code == 0
    bundle, lines = written_of((1, 1))
    assert lines == []
    assert bundle.exit_code == 8


LOOSE = Tab(2, 6, "APP", "LOOSE", (Col("N", "INTEGER"), Col("T", "TIME", null=True)))


class Garbage(Tab):
    """Whatever is under a null is other bytes each time."""

    def _formatted(self, values: Row, big: bool) -> bytes:
        raw = bytearray(super()._formatted(values, big))
        if values[1] is None:
            raw[4:7] = struct.pack(">I", len(GARBAGE) * 77)[1:]
            GARBAGE.append(1)
        return bytes(raw)


GARBAGE: list[int] = [1]


def test_bytes_under_a_null_tell_no_rows_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Garbage(2, 6, "APP", "LOOSE", LOOSE.columns)
    builder = LogBuilder()
    first, second = builder.begin(), builder.begin()
    first.insert(table, (1, None), (1, 1))
    first.commit()
    second.update(table, (1, None), (2, None), (1, 1))
    second.commit()
    log: LuwLog = opened(tmp_path, builder.bytes(), tables=(table,))
    *_, last = KeySpaces(log.catalog).spaces
    assert last.kind == "image"
    where = ["--source", "db2luw", "--log", str(tmp_path / "0.log")]
    where += ["--catalog", str(tmp_path / "catalog.csv"), "--engine", "local"]
    out = ["--out", str(tmp_path / "undo"), "--ur", "000000000A1F"]
    assert main(["undo", *where, *out]) == 8
    assert "LR3010" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "debezium"])
def test_an_export_of_times_that_do_not_change_is_written(tmp_path: Path, form: str) -> None:
    builder = LogBuilder()
    unit = builder.begin()
    unit.update(LOOSE, (1, "10.11.12"), (1, "10.11.12"), (1, 1))
    unit.commit()
    opened(tmp_path, builder.bytes(), tables=(LOOSE,))
    where = ["--source", "db2luw", "--log", str(tmp_path / "0.log")]
    where += ["--catalog", str(tmp_path / "catalog.csv"), "--engine", "local"]
    assert main(["export", *where, "--format", form, "--out", str(tmp_path / form)]) in (0, 4)
