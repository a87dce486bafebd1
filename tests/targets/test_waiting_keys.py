"""Keys that foreign keys refer to change hands within a unit: rows that the log does not show may
refer to them, so the checks wait where the target lets them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.support.history import CHILD, PARENT
from tests.support.logbuilder import LogBuilder

DDL = """CREATE TABLE testown.parent (id integer PRIMARY KEY, code text, a integer, b integer);
CREATE TABLE testown.child (id integer PRIMARY KEY, pid integer, x integer,
 CONSTRAINT of_parent FOREIGN KEY (pid) REFERENCES testown.parent (id));
"""


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """A log of two units: of the second, the row 2 goes, and row 1 takes its key; the child of 2 is
    not in it."""
    log = LogBuilder((PARENT, CHILD))
    log.unit().insert(PARENT, (3, "C", 0, 0))
    unit = log.unit()
    unit.delete(PARENT, (2, "B", 0, 0))
    unit.update(PARENT, (1, "A", 0, 0), (2, "A", 0, 0))
    control, data = log.write(tmp_path)
    return ["--control", str(control), "--data", *map(str, data), "--engine", "local"]


def made(tmp_path: Path, schema: str) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:" if schema else tmp_path / "testown.db")
    connection.execute("PRAGMA foreign_keys = ON")
    if schema:
        connection.execute("ATTACH ':memory:' AS testown")
    connection.execute(f"CREATE TABLE {schema}parent (id integer PRIMARY KEY, code, a, b)")
    connection.execute(
        f"CREATE TABLE {schema}child (id integer PRIMARY KEY, pid integer REFERENCES parent, x)"
    )
    connection.execute(f"INSERT INTO {schema}parent VALUES (1, 'A', 0, 0), (2, 'B', 0, 0)")
    connection.execute(f"INSERT INTO {schema}child VALUES (7, 2, 0)")
    connection.commit()
    return connection


@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_a_script_lets_the_checks_wait(tmp_path: Path, words: list[str], mode: str) -> None:
    ddl = tmp_path / "ddl.sql"
    ddl.write_text(DDL)
    out = tmp_path / mode
    more = ["--dialect", "sqlite", "--schema", str(ddl), "--out", str(out)]
    assert main([mode, *words, *more]) == 0
    script = next(out.glob("*.sql")).read_text()
    assert script.count("PRAGMA defer_foreign_keys = ON;") == 1
    with closing(made(tmp_path, "testown.")) as connection:
        if mode == "undo":
            connection.executescript(
                "PRAGMA foreign_keys = OFF; DELETE FROM testown.parent WHERE id = 2;"
                "UPDATE testown.parent SET id = 2 WHERE id = 1; PRAGMA foreign_keys = ON;"
                "INSERT INTO testown.parent VALUES (3, 'C', 0, 0);"
            )
        connection.executescript(script)
        rows = connection.execute("SELECT id, code FROM testown.parent ORDER BY id").fetchall()
        assert rows == ([(2, "A"), (3, "C")] if mode == "redo" else [(1, "A"), (2, "B")])


def test_a_replay_counts_statements_alone(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """What waits is no statement of a unit: the target answers as many as were sent. Where a child
    refers to the row that goes, the target refuses it, and the unit is named."""
    connection = made(tmp_path, "")
    replay = ["replay", *words, "--to", f"sqlite:///{tmp_path}/testown.db", "--apply"]
    assert main(replay) == 8
    shown = capsys.readouterr()
    assert "foreign key" in (shown.out + shown.err).lower()
    assert "defect" not in shown.out + shown.err
    connection.execute("DELETE FROM child")
    connection.commit()
    assert main(replay) == 0, capsys.readouterr()
    assert connection.execute("SELECT id, code FROM parent").fetchall() == [
        (2, "A"), (3, "C"),
    ]  # fmt: skip
    connection.close()


@pytest.mark.parametrize("mode", ["forward", "back"])
def test_a_replay_exchanges_second_keys_under_foreign_keys_that_do_not_wait(
    tmp_path: Path, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row that others refer to is not removed for a moment, as in a script that may let checks
    wait: its second key gets a value that no row has until the new one is free."""
    log = LogBuilder((PARENT, CHILD))
    log.unit().insert(PARENT, (3, "C", 0, 0))
    unit = log.unit()
    unit.update(PARENT, (1, "A", 0, 0), (1, "B", 0, 0))
    unit.update(PARENT, (2, "B", 0, 0), (2, "A", 0, 0))
    control, data = log.write(tmp_path)
    with closing(made(tmp_path, "")) as connection:
        connection.execute("CREATE UNIQUE INDEX codes ON parent (code)")
        connection.execute("INSERT INTO child VALUES (8, 1, 0)")
        connection.commit()
        words = ["--control", str(control), "--data", *map(str, data), "--engine", "local"]
        replay = ["replay", *words, "--to", f"sqlite:///{tmp_path}/testown.db", "--apply"]
        assert main(replay) == 0, capsys.readouterr()
        if mode == "back":
            assert main([*replay, "--until-position", "0" * 20]) == 0, capsys.readouterr()
        rows = connection.execute("SELECT id, code FROM parent ORDER BY id").fetchall()
        forward = [(1, "B"), (2, "A"), (3, "C")]
        assert rows == (forward if mode == "forward" else [(1, "A"), (2, "B")])
