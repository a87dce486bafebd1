"""Tables under our names in SQLite, DuckDB and MariaDB that are not as we make them are refused
(PostgreSQL's are in tests/live/test_hostile.py)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.live import own_tables
from tests.support.engines import Place
from tests.support.servers import of_kind
from tests.support.small_target import (
    AFTER,
    BEFORE,
    replay,
    run,
    session_of,
    small_target,
    write_log,
)
from tests.support.small_target import state as rows_of

#: Kind -> statements that make our tables act, and what is said of them.
ODD = {
    "sqlite": [
        (
            "CREATE TRIGGER testown.act AFTER UPDATE ON logreplay_position BEGIN"
            " DELETE FROM t; END",
            "logreplay_position has the trigger act",
        ),
        ("ALTER TABLE testown.logreplay_run ADD extra integer", "logreplay_run has other columns"),
        ("CREATE VIEW testown.logreplay_extra AS SELECT 1", "logreplay_extra is a view"),
    ],
    "duckdb": [
        ("ALTER TABLE logreplay.run ADD extra integer", "logreplay.run has other columns"),
        (
            "ALTER TABLE logreplay.run ALTER program SET DEFAULT 'x'",
            "logreplay.run has constraints or columns that compute",
        ),
    ],
    "mariadb": [
        (
            "CREATE TRIGGER logreplay.act AFTER UPDATE ON logreplay.position FOR EACH ROW"
            " DELETE FROM testown.t",
            "logreplay.position has the trigger act",
        ),
        ("ALTER TABLE logreplay.run ADD extra integer", "logreplay.run has other columns"),
        ("ALTER TABLE logreplay.mark ENGINE = MyISAM", "logreplay.mark is a table of the engine"),
        ("ALTER TABLE logreplay.mark ADD CHECK (name <> '')", "has the CHECK"),
        ("ALTER TABLE logreplay.run ALTER program SET DEFAULT 'x'", "a column that computes"),
    ],
}


@pytest.fixture
def target(place: Place) -> Iterator[str]:
    with small_target(place.dialect, place.url or None) as url:
        yield url


def test_tables_that_act_are_refused(
    place: Place, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write_log(tmp_path)
    for statement, said in of_kind(ODD, place.dialect):
        with session_of(target) as session:
            own_tables.make(session)
        run(target, statement)
        assert replay(log, target) == 8
        told = capsys.readouterr().err
        assert "LR4010" in told
        assert said in told
        forget(place.dialect, target)
    assert rows_of(target) == BEFORE
    assert replay(log, target) == 0
    assert rows_of(target) == AFTER


def test_tables_of_others_are_refused(
    place: Place, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with session_of(target) as session:
        if session.home:
            session.execute(session.home)
        session.execute(f"CREATE VIEW {session.own('position')} AS SELECT 1 AS id")
    assert replay(write_log(tmp_path), target) == 8
    assert "LR4010" in capsys.readouterr().err
    assert rows_of(target) == BEFORE


@pytest.mark.parametrize("missing", own_tables.TABLES)
def test_tables_that_a_killed_run_made_in_part(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], missing: str
) -> None:
    """MariaDB and MySQL make each table in a transaction of its own: what a run lacks that was
    killed between two is made by the next one."""
    with session_of(target) as session:
        own_tables.make(session)
        session.execute(f"DROP TABLE {session.own(missing)}")
    assert main(["status", "--to", target]) == 0
    assert replay(write_log(tmp_path), target) == 0
    assert rows_of(target) == AFTER
    assert main(["status", "--to", target]) == 0
    assert "2 units" in capsys.readouterr().out


def forget(kind: str, url: str) -> None:
    with session_of(url) as session:
        if kind != "sqlite":
            session.execute(session.forget)
            return
        for name in session.own_tables():
            what = "VIEW" if name == "extra" else "TABLE"
            session.execute(f"DROP {what} {session.own(name)}")
