"""Loads of values at the bounds of their types, on a live PostgreSQL: the end is that of single
statements."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from replay.live import bulk
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.replayed import rows

#: Types with values at their bounds and in between.
VALUES: dict[Col, tuple[Any, ...]] = {
    Col("S", "INT", 2, nulls="Y"): (None, 0, -1, 2**15 - 1, -(2**15)),
    Col("I", "INT", 4): (0, 7, -1, 2**31 - 1, -(2**31)),
    Col("B", "INT", 8, nulls="Y"): (None, 0, -1, 2**63 - 1, -(2**63)),
    Col("D", "DEC", 16, scale=5, nulls="Y"): (
        *(None, "0", "-0.00001", "1", "99999999999999999999999999.99999"),
        *("-99999999999999999999999999.99999", "0.1", "100"),
    ),
    Col("W", "DEC", 2, scale=3): ("0", "-0.999", "0.001"),
    Col("C", "CHAR", 6, nulls="Y"): (None, "", "ab", "a\\b", "'q'", "\\N", " x ", "é¢"),
    Col("V", "VCHR", 20, nulls="Y"): (
        *(None, "", " ", "\\N", "\\.", "a\tb", "a\nb", "a\rb", "a\\", "it's", "\x01\x7f", "¢é"),
        "x" * 20,
    ),
    Col("DAY", "DATE", 10, nulls="Y"): (None, "0001-01-01", "9999-12-31", "2024-02-29"),
    Col("CLOCK", "TIME", 8): ("00:00:00", "23:59:59"),
    Col("TS", "DTTM", 26, nulls="Y"): (
        *(None, "0001-01-01 00:00:00.000000", "9999-12-31 23:59:59.999999"),
        "2024-03-15 10:20:30.123456",
    ),
}
TABLE = Tab("PLAIN", (Col("K", "INT", 4, key=1), Col("K2", "VCHR", 8, key=2), *VALUES))
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
#: Values that few rows have.
ODD = {"CLOCK": "24:00:00", "V": "\x7f¬"}


def drawn(dice: random.Random, key: int) -> tuple[Any, ...]:
    return (key, dice.choice(["a", "b\t", "\\"]), *(dice.choice(some) for some in VALUES.values()))


def changed(dice: random.Random, row: tuple[Any, ...], columns: list[int]) -> tuple[Any, ...]:
    """A row with other values in some of the columns, and in one at least."""
    fresh = list(row)
    while fresh == list(row):
        for column in columns:
            if dice.random() < 0.5:
                fresh[column + 2] = dice.choice(list(VALUES.values())[column])
    return tuple(fresh)


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
    monkeypatch.setattr(bulk, "WORTH", 1)
    control, (data,) = log_of(tmp_path, len(where) + odd, odd)
    ends: dict[str, Any] = {}
    for mode in ("strict", "bulk"):
        rows(fresh_database, DDL)
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
        together = re.search(r"([\d,]+) changes came in together", said)
        assert (together is not None) == (mode != "strict")
        if every == "1" and together is not None:
            assert int(together[1].replace(",", "")) >= ROWS * 7 // 4  # all of the plain table
    assert len(ends["strict"][0]) == ROWS * 3 // 4
    assert ends["bulk"] == ends["strict"]
