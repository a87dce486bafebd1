"""``--dry-run URL``: which statements of a script would not touch one row, and nothing written."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from replay.cli import main
from replay.targets import target_named
from tests.support.logbuilder import Col, LogBuilder, Tab

ITEM = Tab(
    "ITEM", (Col("N", "INT", 4, key=1), Col("WORD", "VCHR", 20, nulls="Y", subtype="S")), "SHOP"
)
POSTGRES = target_named("postgres")
ROWS = "(1, 'b'), (3, 'y')"


def options(folder: Path) -> list[str]:
    """Unit 1 changes row 1 and row 2, unit 2 deletes row 3, unit 3 inserts row 4."""
    log = LogBuilder((ITEM,))
    unit = log.unit()
    unit.update(ITEM, (1, "a"), (1, "b"))
    unit.update(ITEM, (2, "a"), (2, "b"))
    log.unit().delete(ITEM, (3, "x"))
    log.unit().insert(ITEM, (4, "z"))
    control, data = log.write(folder)
    return ["--control", str(control), "--data", *map(str, data), "--schema", "none"]


def tried(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main.main([*words, "--engine", "local"])
    return code, capsys.readouterr().out


def test_statements_that_do_not_fit_are_named_and_nothing_is_written(
    fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    setup = tmp_path / "setup.sql"
    setup.write_text(
        "CREATE SCHEMA shop; CREATE TABLE shop.item (n int PRIMARY KEY, word varchar(20));"
        f"INSERT INTO shop.item VALUES {ROWS};"
    )
    POSTGRES.run_scripts(fresh_database, [setup])
    log = options(tmp_path)
    code, said = tried(capsys, "undo", *log, "--dry-run", fresh_database)
    assert code == 8
    lines = said.split("\n")
    why = [line.split(": ", 1)[1] for line in lines[:5:2]]
    assert why[::2] == ["statement 1 touches 0 rows"] * 2  # rows 4 and 2 are not there
    assert why[1].startswith("statement 1 fails: SQLSTATE 23505: duplicate key")  # row 3 is
    assert lines[1] == "  DELETE FROM shop.item WHERE n = 4;"
    assert "3 would stop the script; nothing was written there" in said
    assert tried(capsys, "undo", *log, "--dry-run", fresh_database)[1] == said
    forced = tried(capsys, "undo", *log, "--dry-run", fresh_database, "--cascade", "force")[1]
    assert "1 would stop the script; 2 would not touch exactly one row" in forced
    check = tmp_path / "check.sql"
    check.write_text(
        "SELECT 1 / (CASE WHEN (SELECT array_agg((n, word)::text ORDER BY n) FROM shop.item)"
        " = ARRAY['(1,b)', '(3,y)'] THEN 1 ELSE 0 END);"
    )
    POSTGRES.run_scripts(fresh_database, [check])


@pytest.mark.usefixtures("as_a_user")
def test_a_script_that_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "shop.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE item (n INTEGER PRIMARY KEY, word TEXT)")
        database.execute("INSERT INTO item VALUES (1, 'b'), (2, 'b'), (4, 'z')")
    database.close()
    log, url = options(tmp_path), f"sqlite:///{file}"
    code = main.main(["undo", *log, "--dry-run", url, "--engine", "local"])
    said, told = capsys.readouterr()
    assert (code, said.startswith("4 statements in 3 units of recovery tried")) == (0, True)
    assert ": all fit; nothing was written there" in said
    assert "manifest.json" not in told  # no folder is named that is gone
    code, said = tried(capsys, "redo", *log, "--dry-run", url)
    assert code == 8
    assert said.count(": statement ") == 2  # row 3 is gone, row 4 is there already
    assert (
        "1 would stop the script; 1 would not touch exactly one row, and the script would run on,"
        " because it has no checks"
    ) in said
    assert (
        "2 would stop the script"
        in tried(capsys, "redo", *log, "--assert", "rows", "--dry-run", url)[1]
    )


def test_what_it_cannot_be_combined_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = options(tmp_path)
    url = f"sqlite:///{tmp_path}/x.db"
    assert main.main(["undo", *log, "--dry-run", url, "--dialect", "oracle"]) == 12
    assert "found --dialect oracle" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main.main(["undo", *log, "--dry-run", url, "--out", str(tmp_path / "out")])
