"""``replay --retry-rejects``: changes that a replay skipped are tried again, each exactly once, and
only where no later work on their rows is in the target."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.cli.main import main
from replay.live import retries
from replay.targets import ConnectionLost
from tests.support.logbuilder import Col, LogBuilder, Tab

ITEM = Tab(
    "ITEM",
    (
        Col("N", "INT", 4, key=1),
        Col("A", "INT", 4),
        Col("B", "INT", 4),
    ),
    "SHOP",
)
SKIP = ["--on", "no-row=skip", "--on", "duplicate-key=skip", "--on", "other=skip"]


class Place:
    """A log and an SQLite target."""

    def __init__(
        self, folder: Path, log: LogBuilder, rows: list[tuple[int, int, int]], check: str = ""
    ) -> None:
        control, data = log.write(folder)
        self.file, self.folder = folder / "t.db", folder
        self.url = f"sqlite:///{self.file}?schema=shop"
        self.words = ["--control", str(control), "--data", *map(str, data), "--to", self.url]
        self.sql(f"CREATE TABLE item (n integer PRIMARY KEY, a integer, b integer{check})")
        for row in rows:
            self.sql(f"INSERT INTO item VALUES {row}")

    def sql(self, text: str) -> list[Any]:
        with closing(sqlite3.connect(self.file)) as connection, connection:
            return connection.execute(text).fetchall()

    def free(self) -> None:
        """Without the check."""
        self.sql("ALTER TABLE item RENAME TO old")
        self.sql("CREATE TABLE item (n integer PRIMARY KEY, a integer, b integer)")
        self.sql("INSERT INTO item SELECT * FROM old")
        self.sql("DROP TABLE old")

    def rows(self) -> list[Any]:
        return self.sql("SELECT * FROM item ORDER BY n")

    def replay(self, *words: str) -> int:
        tail = ["--engine", "local", "--schema", "none", "--apply"]
        return main(["replay", *self.words, *words, *tail])

    def retry(self, *words: str, apply: bool = True) -> int:
        tail = ["--engine", "local", "--schema", "none", *(["--apply"] if apply else [])]
        return main(["replay", *self.words, "--retry-rejects", *words, *tail])

    def rejects(self) -> list[dict[str, Any]]:
        path = self.folder / "rejects.jsonl"
        assert main(["status", "--to", self.url, "--rejects", str(path)]) == 0
        return [json.loads(line) for line in path.read_text().splitlines()]

    def status(self) -> dict[str, Any]:
        ((units, statements, rejected),) = self.sql(
            "SELECT units, statements, rejected FROM logreplay_position"
        )
        return {"units": units, "statements": statements, "rejected": rejected}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Of row 1 both changes were skipped, of row 2 one, and 3 is there as the log says."""
    log = LogBuilder((ITEM,))
    one, two = log.unit(), log.unit()
    one.update(ITEM, (1, 10, 0), (1, 11, 0))
    one.insert(ITEM, (2, 20, 0))
    one.insert(ITEM, (3, 30, 0))
    two.update(ITEM, (1, 11, 0), (1, 12, 0))
    made = Place(tmp_path, log, [(1, 99, 0), (2, 0, 7)])
    assert made.replay(*SKIP) == 4
    assert made.rows() == [(1, 99, 0), (2, 0, 7), (3, 30, 0)]
    assert len(made.rejects()) == 3
    return made


def test_what_fits_now_is_applied_in_order(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    before = place.status()
    place.sql("UPDATE item SET a = 10 WHERE n = 1")
    capsys.readouterr()
    assert place.retry() == 4
    said = capsys.readouterr().out
    assert "3 changes of 2 units were not applied as the log says" in said
    assert "2 changes are in the target now as the log says, 1 still not" in said
    assert place.rows() == [(1, 12, 0), (2, 0, 7), (3, 30, 0)]
    (left,) = place.rejects()
    assert (left["operation"], left["condition"]) == ("insert", "duplicate-key")
    assert place.status() == {**before, "rejected": 1}
    place.sql("DELETE FROM item WHERE n = 2")
    assert place.retry() == 0
    assert place.rows() == [(1, 12, 0), (2, 20, 0), (3, 30, 0)]
    assert place.rejects() == []
    assert place.status() == {**before, "rejected": 0}
    capsys.readouterr()
    assert place.retry() == 0
    assert "Nothing to do" in capsys.readouterr().out
    assert main(["status", "--to", place.url]) == 0
    assert "run 3: retry" in capsys.readouterr().out


def test_without_apply_nothing_is_written(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.sql("DELETE FROM item WHERE n = 2")
    before, entries = place.rows(), place.rejects()
    capsys.readouterr()
    assert place.retry(apply=False) == 4
    said = capsys.readouterr().out
    assert "3 of them are to be tried again" in said
    assert "Nothing was written" in said
    assert (place.rows(), place.rejects()) == (before, entries)


def test_a_retry_may_overwrite(place: Place) -> None:
    assert place.retry("--on", "duplicate-key:insert=overwrite") == 4
    assert (2, 20, 0) in place.rows()
    assert [entry["response"] for entry in place.rejects()] == ["skip", "overwrite", "skip"]


def test_a_retry_may_stop(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.sql("UPDATE item SET a = 10 WHERE n = 1")
    entries = place.rejects()
    assert place.retry("--on", "duplicate-key=stop") == 8
    assert "LR4006" in capsys.readouterr().err
    assert place.rows()[0] == (1, 10, 0)
    assert place.rejects() == entries
    (run,) = place.sql("SELECT direction, outcome LIKE 'LR4006%' FROM logreplay_run WHERE id = 2")
    assert run == ("retry", 1)


def test_a_row_with_later_work_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows are found by their key alone, so the later update was applied although the first was
    not: to apply that now would put the older value in its place. Another column is free."""
    log = LogBuilder((ITEM,))
    first, second = log.unit(), log.unit()
    first.update(ITEM, (1, 10, 0), (1, 11, 0))
    first.update(ITEM, (1, 11, 0), (1, 11, 5))
    second.update(ITEM, (1, 11, 5), (1, 12, 5))
    by_key = ["--where-columns", "key"]
    place = Place(tmp_path, log, [(1, 10, 0)], ", CHECK (a <> 11 AND b <> 5)")
    assert place.replay(*SKIP, *by_key) == 4
    assert place.rows() == [(1, 12, 0)]
    place.free()
    capsys.readouterr()
    assert place.retry(*by_key) == 4
    said = capsys.readouterr().out
    assert "a later change of the row is in the target" in said
    assert place.rows() == [(1, 12, 5)]
    (left,) = place.rejects()
    assert left["after"]["A"] == "11"


def test_what_follows_a_row_that_is_left_alone_is_left_too(tmp_path: Path) -> None:
    """The first of two skipped updates lies below one that is applied, as the second does."""
    log = LogBuilder((ITEM,))
    units = [log.unit() for _ in range(3)]
    for value, unit in enumerate(units, 10):
        unit.update(ITEM, (1, value, 0), (1, value + 1, 0))
    place = Place(tmp_path, log, [(1, 10, 0)], ", CHECK (a NOT IN (11, 12))")
    by_key = ["--where-columns", "key"]
    assert place.replay(*SKIP, *by_key) == 4
    place.free()
    entries = place.rejects()
    assert place.retry(*by_key) == 4
    assert (place.rows(), place.rejects()) == ([(1, 13, 0)], entries)


def test_a_lost_connection_leaves_all_or_nothing_of_a_unit(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.sql("UPDATE item SET a = 10 WHERE n = 1")
    before, entries = place.rows(), place.rejects()

    def lost(*_: Any) -> None:
        raise ConnectionLost("LR4003", "the connection is gone")

    with monkeypatch.context() as patched:
        patched.setattr(retries.RetriedUnits, "_move", lost)
        assert place.retry() == 8
    assert (place.rows(), place.rejects()) == (before, entries)
    assert place.retry() == 4
    assert place.rows()[0] == (1, 12, 0)


def test_of_another_log_or_other_options_nothing_is_tried(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.retry("--table", "*.ITEM") == 8
    assert "LR4005" in capsys.readouterr().err
    other = LogBuilder((ITEM,))
    other.unit(start=1 << 12).insert(ITEM, (9, 9, 9))
    (tmp_path / "other").mkdir()
    control, data = other.write(tmp_path / "other")
    place.words[1:4] = [str(control), "--data", str(data[0])]
    before = place.rows()
    assert place.retry() == 4
    assert "3 of them are of units that this log does not have" in capsys.readouterr().out
    assert place.rows() == before


@pytest.mark.parametrize(
    "words",
    [
        ["--until-position", "00CA670FBBF3D3000000"],
        ["--until-mark", "x"],
        ["--adjoining"],
        ["--mode", "merged"],
    ],
)
def test_what_says_where_to_go_is_refused(
    place: Place, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.retry(*words) == 12
    assert "--retry-rejects" in capsys.readouterr().err


def test_a_target_that_was_never_replayed_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = LogBuilder((ITEM,))
    log.unit().insert(ITEM, (1, 1, 1))
    place = Place(tmp_path, log, [])
    assert place.retry() == 0
    assert "Nothing to do" in capsys.readouterr().out


def test_a_program_can_ask_too(place: Place) -> None:
    place.sql("DELETE FROM item WHERE n = 2")
    control, data = place.words[1], place.words[3]
    with replay.open_log(control=control, data=data) as log:
        asked = log.select().retry_rejects(place.url, schema="none")
        assert (asked.exit_code, place.rows()[1][0]) == (4, 3)
        assert "3 of them are to be tried again" in str(asked)
        done = log.select().retry_rejects(place.url, apply=True, schema="none")
    assert "1 changes are in the target now" in str(done)
    assert (2, 20, 0) in place.rows()
