"""Tables whose names differ in case only: what is asked of one is not answered with the other."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.support.logbuilder import Col, LogBuilder, Tab

_COLUMNS = (Col("ID", "INT", 4, key=1), Col("A", "INT", 4))
UPPER = Tab("ITEM", _COLUMNS, obid=20)
MIXED = Tab("Item", (*_COLUMNS, Col("C", "INT", 4)), obid=21)
TWIN = Tab("Item", _COLUMNS, obid=21)


def written(log: LogBuilder, folder: Path) -> list[str]:
    control, (data,) = log.write(folder)
    return ["--control", str(control), "--data", str(data), "--engine", "local"]


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    log = LogBuilder((UPPER, MIXED))
    unit = log.unit()
    unit.insert(UPPER, (1, 10))
    unit.insert(MIXED, (1, 11, 12))
    log.unit().update(UPPER, (1, 10), (1, 20))
    log.unit().update(MIXED, (1, 11, 12), (1, 21, 22))
    return written(log, tmp_path)


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("TESTOWN.ITEM", {"TESTOWN.ITEM": [10, 20]}),
        ("Item", {"TESTOWN.Item": [11, 21]}),
        ("testown.item", {"TESTOWN.ITEM": [10, 20], "TESTOWN.Item": [11, 21]}),
    ],
)
def test_history(
    log: list[str],
    capsys: pytest.CaptureFixture[str],
    table: str,
    values: dict[str, list[int]],
) -> None:
    assert main(["history", *log, "--table", table, "--key", "ID=1", "--json"]) == 0
    found: dict[str, list[int]] = {}
    for version in json.loads(capsys.readouterr().out)["versions"]:
        found.setdefault(version["table"], []).append(version["after"]["A"])
    assert found == values


def test_state(log: list[str], tmp_path: Path) -> None:
    out = tmp_path / "state"
    assert main(["state", *log, "--at", "end", "--format", "csv", "--out", str(out)]) == 4
    text = {path.name: path.read_text().split() for path in out.glob("*.csv")}
    assert text == {"ITEM.csv": ["ID,A", "1,20"], "Item.csv": ["ID,A,C", "1,21,22"]}


def test_state_goes_on_from_its_own_files(log: list[str], tmp_path: Path) -> None:
    """Each of the tables has the file that is spelled as it is."""
    start = tmp_path / "start"
    start.mkdir()
    for name, row in (("ITEM", "ID,A\n7,70\n"), ("TESTOWN.Item", "ID,A,C\n8,80,81\n")):
        (start / f"{name}.csv").write_text(row)
    out = tmp_path / "state"
    words = ["--at", "end", "--initial", str(start), "--format", "csv", "--out", str(out)]
    assert main(["state", *log, *words]) == 0
    text = {path.name: sorted(path.read_text().split()[1:]) for path in out.glob("*.csv")}
    assert text == {"ITEM.csv": ["1,20", "7,70"], "Item.csv": ["1,21,22", "8,80,81"]}
    (start / "Item.csv").write_text("ID,A,C\n")
    assert main(["state", *log, *words, "--overwrite"]) == 12


def test_report(log: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "audit", *log, "--columns", "table,before,after", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["table"].rpartition(".")[2] for row in rows] == ["ITEM", "Item"] * 2


@pytest.mark.parametrize("option", ["--initial", "--to"])
def test_a_database_that_takes_them_for_one_is_refused(
    log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    path = tmp_path / "testown.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE item (id integer PRIMARY KEY, a integer, c integer)")
    url, out = f"sqlite:///{path}", str(tmp_path / "out")
    other = ["--out", out] if option == "--initial" else []
    assert main(["state", *log, "--at", "end", option, url, *other]) in (8, 12)
    assert "LR3005 found tables TESTOWN.ITEM and TESTOWN.Item" in capsys.readouterr().err


@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_scripts_of_one(log: list[str], tmp_path: Path, mode: str) -> None:
    out = tmp_path / "out"
    options = ["--names", "exact", "--table", "TESTOWN.Item", "--out", str(out)]
    assert main([mode, *log, *options]) in (0, 4)
    text = "".join(path.read_text() for path in out.glob("*.sql"))
    assert '"Item"' in text
    assert '"ITEM"' not in text


def test_a_key_of_one_finds_no_rows_of_the_other(tmp_path: Path) -> None:
    bare = Tab("ITEM", (Col("ID", "INT", 4), Col("A", "INT", 4)), obid=20)
    log, out, schema = LogBuilder((bare, TWIN)), tmp_path / "out", tmp_path / "schema.sql"
    unit = log.unit()
    unit.insert(bare, (1, 5))
    unit.insert(bare, (1, 10))
    unit.delete(bare, (1, 5))
    unit.update(bare, (1, 10), (1, 20))
    log.unit().update(TWIN, (1, 10), (1, 20))
    schema.write_text('CREATE TABLE "TESTOWN"."Item" ("ID" int PRIMARY KEY, "A" int);')
    words = ["--names", "exact", "--schema", str(schema), "--out", str(out)]
    assert main(["redo", *written(log, tmp_path), *words]) in (0, 4)
    lines = "".join(path.read_text() for path in out.glob("*.sql")).splitlines()
    done = [line for line in lines if '"TESTOWN"."ITEM"' in line]
    assert [line.partition(" ")[0] for line in done] == ["INSERT", "INSERT", "DELETE", "UPDATE"]
    assert '"ID" = 1 AND "A" = 10' in done[-1]


@pytest.mark.parametrize("proven", [False, True])
def test_rows_of_one_prove_what_a_flagged_unit_finds_there_alone(
    tmp_path: Path, proven: bool
) -> None:
    log = LogBuilder((UPPER, TWIN))
    log.unit().insert(TWIN if proven else UPPER, (1, 10))
    log.unit().insert(UPPER if proven else TWIN, (1, 50))
    log.unit(INCOMPLETETRANS="Y").insert(UPPER, (2, 10))
    log.unit(INCOMPLETEDEP="Y").update(TWIN, (1, 10), (1, 20))
    out = tmp_path / "out"
    options = ["--names", "exact", "--out", str(out)]
    assert main(["redo", *written(log, tmp_path), *options]) == 4
    manifest = json.loads((out / "manifest.json").read_text())
    assert len(manifest["quarantined_units"]) == (1 if proven else 2)


def test_a_row_that_contradicts_its_own_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = LogBuilder((UPPER, TWIN))
    log.unit().insert(TWIN, (1, 10))
    log.unit().insert(UPPER, (1, 50))
    log.unit().update(TWIN, (1, 30), (1, 20))
    assert main(["check", *written(log, tmp_path)]) == 8
    assert "LR2036" in capsys.readouterr().out
