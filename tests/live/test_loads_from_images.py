"""Loads whose lines are written from row images, on a live PostgreSQL: the end is that of single
statements, for values at the bounds of their types and for those that must be decoded."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from replay.live import bulk
from replay.native import machine_code
from replay.pipeline.copy_lines import CopyLines
from tests.pipeline.test_copy_lines import TABLE, VALUES, changed, drawn
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.replayed import rows

OTHER = Tab(
    "OTHER",
    (
        Col("K", "INT", 4, key=1),
        Col("F", "FLOT", 8, nulls="Y"),
        Col("B", "VCHR", 40, nulls="Y", subtype="B"),
    ),
    obid=9,
)
DDL = (
    "DROP SCHEMA IF EXISTS testown, logreplay CASCADE; CREATE SCHEMA testown; CREATE TABLE"
    " testown.plain (k int, k2 varchar(8), s smallint, i int NOT NULL, b bigint, d numeric(31, 5),"
    " w numeric(3, 3), c char(6), v varchar(20), day date, clock time, ts timestamp(6), PRIMARY KEY"
    " (k, k2)); CREATE TABLE testown.other (k int PRIMARY KEY, f double precision, b bytea)"
)
ROWS = 120
#: Values that lines cannot be written with from images.
ODD = {"CLOCK": "24:00:00", "V": "\x7f¬"}


def log_of(folder: Path, seed: int, odd: bool) -> tuple[Path, list[Path]]:
    """A log of rows that are inserted in one unit, changed in another, and partly deleted."""
    dice = random.Random(seed)
    log = LogBuilder((TABLE, OTHER))
    names = [column.name for column in TABLE.columns]
    first = [list(drawn(dice, key)) for key in range(ROWS)]
    if odd:
        for row in first[::9]:
            for name, value in ODD.items():
                row[names.index(name)] = value
    unit = log.unit()
    for row in first:
        unit.insert(TABLE, row)
    floats = [(key, dice.choice([None, 0.0, 1.5, -2.25]), None) for key in range(ROWS)]
    for one in floats:
        unit.insert(OTHER, one)
    unit = log.unit()
    for number, row in enumerate(first[: ROWS // 2]):
        columns = [dice.randrange(len(VALUES)) for _ in range(3)]
        unit.update(TABLE, row, changed(dice, tuple(row), columns))
        other = floats[number]
        unit.update(OTHER, other, (number, other[1], dice.choice([b"", b"\\\0\n\t", bytes(9)])))
    for row in first[ROWS // 2 : ROWS * 3 // 4]:
        unit.delete(TABLE, row)
    return log.write(folder, seed=seed)


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("every", ["1", "1000"])
@pytest.mark.parametrize("where", ["key", "guard", "all"])
def test_the_end_is_that_of_single_statements(
    fresh_database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    every: str,
    where: str,
    odd: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for module, name in ((machine_code, "WORTH"), (bulk, "WORTH")):
        monkeypatch.setattr(module, name, 1)
    written: list[int] = []
    lines = CopyLines.rows

    def watched(self: CopyLines, *arguments: Any) -> Any:
        found = lines(self, *arguments)
        written.append(0 if found is None else found.count)
        return found

    monkeypatch.setattr(CopyLines, "rows", watched)
    control, (data,) = log_of(tmp_path, len(where) + odd, odd)
    ends: dict[str, Any] = {}
    for mode in ("strict", "bulk"):
        rows(fresh_database, DDL)
        before = len(written)
        pace = "--commit-every", every
        arguments = ["--control", str(control), "--data", str(data), "--to", fresh_database]
        more = ("--engine", "local", "--apply", "--where-columns", where, "--mode", mode, *pace)
        assert main(["replay", *arguments, *more]) == 0
        said = capsys.readouterr().out
        ends[mode] = [
            rows(fresh_database, f"SELECT t::text FROM testown.{table} AS t ORDER BY k")
            for table in ("plain", "other")
        ]
        assert "in strict order:" not in said
        assert (sum(written[before:]) > 0) == (mode != "strict")
        if every == "1" and mode != "strict":
            assert sum(written[before:]) >= ROWS * 7 // 4  # all of the plain table
    assert len(ends["strict"][0]) == ROWS * 3 // 4
    assert ends["bulk"] == ends["strict"]
