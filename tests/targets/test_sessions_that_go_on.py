"""Logs of which each begins where the one before ended need no word of it, although transactions
without rows lie between their changes: a target knows how far its logs were read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.output.test_solid_chain import Sessions

START = "00" * 10


class Shop:
    """A database that sessions are replayed into."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "testown.db"
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute("CREATE TABLE t (k integer PRIMARY KEY, v integer)")

    def replay(self, words: list[str], *more: str) -> int:
        to = ["--to", f"sqlite:///{self.path}", "--apply", "--engine", "local"]
        return main(["replay", *words, "--schema", "none", *to, *more])

    def keys(self) -> list[int]:
        with closing(sqlite3.connect(self.path)) as connection:
            return [key for (key,) in connection.execute("SELECT k FROM t ORDER BY k")]

    def execute(self, statement: str) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute(statement)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.mark.parametrize("second", [(3, 4), (None, 3)])
@pytest.mark.parametrize("first", [(1, 2), (1, 2, None), (1, 2, None, None)])
def test_sessions_that_end_in_transactions_without_rows(
    shop: Shop, tmp_path: Path, first: tuple[int | None, ...], second: tuple[int | None, ...]
) -> None:
    sessions = Sessions(tmp_path)
    one, empty, two = sessions.session(*first), sessions.session(None), sessions.session(*second)
    assert shop.replay(one) == 0
    assert shop.replay(one) == 0
    assert shop.replay(empty) in (0, 4)
    assert shop.replay(empty) in (0, 4)
    assert shop.replay(two) == 0
    assert shop.keys() == [1, 2, *(key for key in second if key is not None)]


def test_a_session_that_is_missing_is_a_hole(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = Sessions(tmp_path)
    one, two, three, four = (sessions.session(*keys) for keys in ((1, None), (2,), (None,), (3,)))
    assert shop.replay(one) == 0
    for later in (three, four):
        assert shop.replay(later) == 8
        assert "LR4007" in capsys.readouterr().err
        assert shop.keys() == [1]
    for words in (two, three, four):
        assert shop.replay(words) in (0, 4)
    assert shop.keys() == [1, 2, 3]


@pytest.mark.parametrize("why", ["until", "back", "killed"])
def test_a_run_that_took_less_does_not_reach_the_end(
    shop: Shop, tmp_path: Path, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = Sessions(tmp_path)
    one, two = sessions.session(1, 2, None), sessions.session(3)
    if why == "until":
        first = int(sessions.said[0]["start_logaddr"][:16], 16) + 3  # start, row, commit
        assert shop.replay(one, "--until-position", f"{first:016x}0000") == 0
        assert shop.keys() == [1]
    else:
        assert shop.replay(one) == 0
    if why == "back":
        assert shop.replay(one, "--until-position", START) == 0
        assert shop.keys() == []
    if why == "killed":
        shop.execute("UPDATE logreplay_run SET outcome = NULL, ended_at = NULL")
    before = shop.keys()
    assert shop.replay(two) == 8
    assert "LR4007" in capsys.readouterr().err
    assert shop.keys() == before
    assert shop.replay(one) == 0
    if why != "killed":
        assert shop.replay(two) == 0
        assert shop.keys() == [1, 2, 3]
