"""REAL of Db2 for z/OS, hexadecimal floating point of 4 bytes, reaches further than an IEEE
single."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import replay
from replay.cli.main import main
from tests.support.logbuilder import Col, LogBuilder, Tab

REALS = Tab("REALS", (Col("ID", "INT", 4, key=1), Col("R", "FLOT", 4, nulls="Y")))
#: 16 ** 50 and 16 ** -60 are no singles; 0.1 has the 21 bits that the hexadecimal digits leave it.
LARGE, SMALL = 16.0**50, 16.0**-60
TENTH = 0x19999A / 2**24
VALUES = [1.5, TENTH, LARGE, SMALL, -LARGE, 0.0, None]


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    """One unit of recovery a row."""
    built = LogBuilder([REALS])
    for number, value in enumerate(VALUES):
        built.unit().insert(REALS, (number, value))
    control, data = built.write(tmp_path)
    return ["--control", str(control), "--data", *map(str, data)]


def script(log: list[str], out: Path, *options: str) -> tuple[int, str]:
    code = main(["redo", *log, "--engine", "local", "--out", str(out), *options])
    return code, "".join(path.read_text() for path in out.glob("*.sql"))


def test_what_no_single_holds_is_set_aside_with_the_right_hint(
    log: list[str], tmp_path: Path
) -> None:
    code, text = script(log, tmp_path / "out")
    assert code == 8
    assert text.count("INSERT") == 4
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["findings"]["count"] == 3
    for finding in manifest["findings"]["shown"]:
        assert "--reals double" in finding
        assert "damaged" not in finding
        assert "code page" not in finding


@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb", "oracle", "tsql", "db2"])
def test_as_doubles_all_are_written(log: list[str], tmp_path: Path, dialect: str) -> None:
    code, text = script(log, tmp_path / "out", "--reals", "double", "--dialect", dialect)
    assert code == 0
    assert text.count("INSERT") == len(VALUES)
    for value in (LARGE, SMALL, TENTH):
        assert value in numbers(text), value
    assert "real" not in text.lower().replace("reals", "")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["options"]["reals"] == "double"


def numbers(text: str) -> list[float]:
    """What may be a number in a script: digits, and what SQLite makes of a number and powers."""
    with closing(sqlite3.connect(":memory:")) as engine:
        products = [
            float(engine.execute(f"SELECT {found}").fetchone()[0])
            for found in re.findall(r"\(-?[0-9.]+(?:[*/][0-9.]+)+\)", text)
        ]
    words = "".join(c if c.isalnum() or c in ".+-" else " " for c in text).split()
    return products + [float(word) for word in words if is_number(word)]


def is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def test_the_tables_have_doubles_then(log: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ddl", *log]) == 0
    assert "r real" in capsys.readouterr().out.lower()
    assert main(["ddl", *log, "--reals", "double"]) == 0
    assert "r double precision" in capsys.readouterr().out.lower()


def test_exports_are_exact(log: list[str], tmp_path: Path) -> None:
    for form in ("parquet", "jsonl", "csv"):
        out = ["--engine", "local", "--out", str(tmp_path / form), "--format", form]
        assert main(["export", *log, *out]) == 0
    (file,) = (tmp_path / "parquet").rglob("*.parquet")
    after = [tuple(row.values()) for row in pq.read_table(file)["after"].to_pylist()]
    assert sorted(after, key=lambda row: row[0]) == list(enumerate(VALUES))
    (file,) = (tmp_path / "jsonl").rglob("*.jsonl")
    rows = [json.loads(line)["after"] for line in file.read_text().splitlines()]
    assert dict(tuple(row.values()) for row in rows) == dict(enumerate(VALUES))


def test_the_library_too(log: list[str], tmp_path: Path) -> None:
    with replay.open_log(control=log[1], data=log[3:]) as opened:
        changes = opened.select().changes("TESTOWN.REALS").read_all()
        assert [list(row.values())[1] for row in changes["after"].to_pylist()] == VALUES
        written = opened.select().redo("postgres", reals="double").write(tmp_path / "out")
        assert (written.exit_code, written.tally.statements) == (0, len(VALUES))
