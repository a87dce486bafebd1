"""Where tasks find the records of a large log, no command with an engine looks for them by itself,
and each says the same as with the local engine."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.changes.choices import EngineName
from replay.cli import main, request
from replay.engine.contract import Engine
from replay.engine.local import LocalEngine
from replay.errors import UsageError
from replay.logs.logmaster.reader import LogmasterLog
from replay.pipeline import range_walk
from tests.live.test_dry_run import options
from tests.support.made_engine import MadeEngine

TIME = "2099-01-01 00:00:00"
#: Words of commands; ``{}`` is a folder that each run has for itself.
COMMANDS = [
    ["redo", "--out", "{}/redo"],
    ["redo", "--out", "{}/none", "--from-time", TIME],
    ["redo", "--out", "{}/more", "--after", "{}/redo"],
    ["undo", "--out", "{}/undo"],
    ["export", "--out", "{}/data"],
    ["migrate", "--out", "{}/migration"],
    ["graph", "--out", "{}/graph.json", "--format", "json"],
    ["graph", "--out", "{}/empty.json", "--format", "json", "--from-time", TIME],
    ["check"],
    ["inspect"],
    ["state", "--at", TIME],
    ["state", "--diff", "start", "end"],
    ["whatif", "--plan", "*"],
    ["history", "--table", "SHOP.ITEM", "--key", "1"],
    ["report", "audit"],
    ["report", "open", "--at", "start"],
    ["report", "page", "--out", "{}/page.html"],
    ["replay", "--to", "sqlite:///{}/shop.db", "--until-time", TIME, "--apply"],
    ["replay", "--to", "sqlite:///{}/shop.db", "--apply"],
    ["verify", "--to", "sqlite:///{}/shop.db", "--expected", "{}/before"],
]


def carried_out(words: Sequence[str], top: Path, engine: str, capsys: Any) -> tuple[int, str]:
    """The exit code, and what is said, without what names the engine or a time."""
    capsys.readouterr()
    code = main.main([*(word.format(top / engine) for word in words), "--engine", engine])
    told = capsys.readouterr()
    return code, re.sub(
        rf"{top}/{engine}|--engine {engine}|.* s(?:econd)?\b.*", "", told.out + told.err
    )


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of splits for which this process walked a log to its end; tasks are its own, as if
    they were Spark's."""
    found: list[int] = []
    walked = LogmasterLog.splits

    def splits(log: LogmasterLog, split_bytes: int) -> Any:
        yield from walked(log, split_bytes)
        found.append(split_bytes)

    def engine(*_: object) -> Engine:
        def execute(*job: Any) -> Any:
            return LocalEngine(threads=1).execute(*job)

        return MadeEngine(execute, EngineName.SPARK)

    monkeypatch.setattr(LogmasterLog, "splits", splits)
    monkeypatch.setattr(range_walk, "TASKS_FROM", 0)
    monkeypatch.setattr(request.LogInput, "_spark", engine)
    return found


@pytest.mark.long
def test_no_command_does(
    tmp_path: Path, walks: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    log = options(tmp_path)[:-2]  # not each command has --schema
    for name in ("local", "spark"):
        before = tmp_path / name / "before"
        before.mkdir(parents=True)
        (before / "item.csv").write_text("n,word\n1,a\n2,a\n3,x\n", encoding="utf-8")
        with closing(sqlite3.connect(tmp_path / name / "shop.db")) as database:
            database.execute("CREATE TABLE item (n INTEGER PRIMARY KEY, word TEXT)")
            database.execute("INSERT INTO item VALUES (1, 'a'), (2, 'a'), (3, 'x')")
            database.commit()
    for command in COMMANDS:
        words = [*command, *log]
        expected = carried_out(words, tmp_path, "local", capsys)
        assert expected[0] in (0, 4), expected
        walks.clear()
        assert carried_out(words, tmp_path, "spark", capsys) == expected, command
        assert walks == [], command


@pytest.mark.parametrize(
    ("where", "query", "values"),
    [
        (
            "authid <> 'CLERK0' AND plan IN ('SAKPLAN')",
            "authid <> 'CLERK0' AND plan = 'SAKPLAN'",
            "",
        ),
        ("NOT (correlation LIKE '%1' OR connection = 'X')", "correlation NOT LIKE '%1'", ""),
        (
            "(AUTHID='CLERK1' AND after.amount > 5 AND payment_date > DATE('2006-1-1') + 1 DAY)",
            "authid = 'CLERK1'",
            "after.amount > 5 AND payment_date > '2006-01-02'",
        ),
    ],
)
def test_a_condition_may_say_who_did_the_work(
    sakila: Path, where: str, query: str, values: str
) -> None:
    """As units are asked for that, and rows for the rest."""
    log = replay.open_log(sakila / "sakila.ctl")
    asked = log.select(unit_query=f"SELECT unit FROM units WHERE {query}", where=values or None)
    found, same = (
        one.changes("SAKILA.PAYMENT").read_all() for one in (log.select(where=where), asked)
    )
    assert 0 < found.num_rows < log.select().changes("SAKILA.PAYMENT").read_all().num_rows
    assert found.equals(same)


def test_a_condition_of_units_and_rows_at_once_is_refused(sakila: Path) -> None:
    log = replay.open_log(sakila / "sakila.ctl")
    with pytest.raises(UsageError, match=r"names column 'authid' .* AND joins it"):
        log.select(where="authid = 'CLERK1' OR after.amount > 5")
