"""Decimals that SQLite holds as doubles: it makes the next double of some digits, which stands for
the same decimal of up to 15 digits; a driver that gives it doubles does not."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.support.logbuilder import Col, LogBuilder, Tab

PRICE = Tab("PRICE", (Col("K", "INT", 4, key=1), Col("N", "DEC", 8, scale=6)))
KEYED = Tab("PRICE", (Col("K", "INT", 4), Col("N", "DEC", 8, scale=6, key=1)))
#: Of which SQLite 3.40 makes the next double, and some of which it does not.
NUMBERS = ["98.289161", "86.690334", "-0.128372", "67.710292", "1.500000", "0.000000"]


def words_of(log: LogBuilder, folder: Path) -> list[str]:
    control, data = log.write(folder)
    words = ["--control", str(control), "--data", str(data[0]), "--engine", "local"]
    return [*words, "--to", f"sqlite:///{folder}/testown.db"]


def make(folder: Path, kind: str, rows: list[tuple[int, float | str]]) -> None:
    with closing(sqlite3.connect(folder / "testown.db")) as made:
        made.execute(f"CREATE TABLE price (k integer NOT NULL UNIQUE, n {kind} NOT NULL UNIQUE)")
        made.executemany("INSERT INTO price VALUES (?, ?)", rows)
        made.commit()


def rows(folder: Path) -> list[tuple[int, float | str]]:
    with closing(sqlite3.connect(folder / "testown.db")) as made:
        return made.execute("SELECT k, n FROM price ORDER BY k").fetchall()


@pytest.mark.parametrize("table", [PRICE, KEYED], ids=["old value", "key"])
@pytest.mark.parametrize(
    ("kind", "bound"),
    [("numeric", float), ("numeric", str), ("real", float), ("real", str), ("text", str)],
)
def test_a_row_is_found_whatever_made_its_double(
    tmp_path: Path, kind: str, bound: type, table: Tab
) -> None:
    """A driver gave doubles, or digits (as text only these: a double's has no zeros at its end)."""
    make(tmp_path, kind, [(k, bound(number)) for k, number in enumerate(NUMBERS)])
    log = LogBuilder((table,))
    for k, number in enumerate(NUMBERS):
        log.unit().update(table, (k, number), (k + 10, f"{k}.250000"))
    assert main(["replay", *words_of(log, tmp_path), "--apply"]) == 0
    made = [(k + 10, f"{k}.250000" if kind == "text" else k + 0.25) for k in range(len(NUMBERS))]
    assert rows(tmp_path) == made


def test_what_replay_wrote_is_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(tmp_path, "numeric", [])
    log = LogBuilder((PRICE,))
    for k, number in enumerate(NUMBERS):
        log.unit().insert(PRICE, (k, number))
    words = words_of(log, tmp_path)
    assert main(["replay", *words, "--apply"]) == 0
    (tmp_path / "before").mkdir()
    (tmp_path / "before" / "PRICE.csv").write_text("K,N\n")
    verify = ["verify", *words, "--expected", str(tmp_path / "before")]
    assert main(verify) == 0, capsys.readouterr()
    with closing(sqlite3.connect(tmp_path / "testown.db")) as made:
        made.execute("UPDATE price SET n = 98.2891610000001 WHERE k = 0")
        made.commit()
    assert main(verify) == 8
    assert "expected '98.289161', found '98.2891610000001'" in capsys.readouterr().out
