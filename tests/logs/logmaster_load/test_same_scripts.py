"""The same work as a logical log and as LOAD files gives the same scripts: the LOAD files are
written from the known contents of the log, so the two ways in share nothing."""

from __future__ import annotations

import csv
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from tests.support import loadbuilder

SMALL = Path(__file__).parents[3] / "fixtures" / "sakila" / "small"
LOGICAL = ["--control", str(SMALL / "small.ctl"), "--data", str(SMALL / "small.dat")]
SEVERAL = ["FILM_STOCK", "INVENTORY", "PAYMENT_AUDIT", "RENTAL"]
#: Rows of this table exchange keys; a logical log tells them apart by their RID, a LOAD file does
#: not, so the scripts reach the same rows in other steps.
OTHERS = ["--exclude-table", "SAKILA.LOYALTY_CARD"]
DDL = ["--schema", str(SMALL / "db2-tables.sql"), "--schema-dialect", "db2"]


def script(out: Path, mode: str, *options: str) -> str:
    """What a command writes, without names that the known contents do not hold."""
    forced = ["--cascade", "force"] if mode == "undo" else []
    code = main([mode, "--out", str(out), "--engine", "local", *DDL, *forced, *options])
    assert code in ((0, 4) if forced else (0,))
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(out.glob("*.sql")))
    return re.sub(r" plan=\S+ correlation=\S+| plan= correlation=", "", text)


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize("options", [[], ["--char-padding", "keep"]], ids=["", "padded"])
def test_csv(mode: str, options: list[str], tmp_path: Path) -> None:
    loaded = loadbuilder.write_csv(SMALL, tmp_path)
    made = script(tmp_path / "load", mode, *options, *OTHERS, *loaded)
    assert made == script(tmp_path / "log", mode, *options, *OTHERS, *LOGICAL)
    assert made.count("\nUPDATE") > 80


def test_rows_that_exchange_their_keys(tmp_path: Path) -> None:
    loaded = loadbuilder.write_csv(SMALL, tmp_path)
    chosen = ["--table", "SAKILA.LOYALTY_CARD", "--dialect", "sqlite", "--assert", "none"]
    states = [
        cards(script(tmp_path / name, "redo", *chosen, *inputs))
        for name, inputs in (("load", loaded), ("log", LOGICAL))
    ]
    assert states[0] == states[1]
    assert states[0] != cards("")


def cards(text: str) -> list[Any]:
    """The table after a script."""
    initial = SMALL.parent / "log" / "initial" / "loyalty_card.csv"
    with initial.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("ATTACH ':memory:' AS sakila")
        connection.execute(
            f"CREATE TABLE sakila.loyalty_card (card_no TEXT PRIMARY KEY, {', '.join(names[1:])})"
        )
        marks = ", ".join("?" * len(names))
        values = [[value or None for value in row] for row in rows]
        connection.executemany(f"INSERT INTO sakila.loyalty_card VALUES ({marks})", values)
        connection.executescript(text)
        found = connection.execute("SELECT * FROM sakila.loyalty_card ORDER BY 1").fetchall()
        return [tuple(map(str, row)) for row in found]


@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_one_file_of_several_tables(mode: str, tmp_path: Path) -> None:
    loaded = loadbuilder.write_one(SMALL, tmp_path, SEVERAL)
    tables = [word for table in SEVERAL for word in ("--table", f"SAKILA.{table}")]
    made = script(tmp_path / "load", mode, *tables, *loaded)
    assert made == script(tmp_path / "log", mode, *tables, *LOGICAL)
    assert "return_date = NULL" in made or mode == "redo"


@pytest.mark.parametrize("skipped", ["--ri", "--triggers"])
def test_changes_of_foreign_keys_and_triggers(skipped: str, tmp_path: Path) -> None:
    loaded = loadbuilder.write_csv(SMALL, tmp_path)
    made = script(tmp_path / "load", "redo", skipped, "skip", *OTHERS, *loaded)
    assert made == script(tmp_path / "log", "redo", skipped, "skip", *OTHERS, *LOGICAL)
    assert made != script(tmp_path / "all", "redo", *OTHERS, *LOGICAL)


def test_images_in_the_other_order(tmp_path: Path) -> None:
    loaded = loadbuilder.write_csv(
        SMALL, tmp_path, lambda before, after: [one for one in (before, after) if one is not None]
    )
    loaded += ["--log-option", "images=before-after", *OTHERS]
    made = script(tmp_path / "load", "redo", *loaded)
    assert made == script(tmp_path / "log", "redo", *OTHERS, *LOGICAL)
