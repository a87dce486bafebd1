"""A replay in two steps, as the library offers it: a plan that says what will happen, and then
does it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from replay.changes.options import ScriptOptions
from replay.changes.position import Position
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.engine import local
from replay.errors import EXIT_ERROR, EXIT_OK, Refusal
from replay.live.replay import ReplayInput, ReplayPlan, ReplayRequest, plan_replay
from replay.live.route import Destination
from replay.logs.logmaster.opening import open_log
from replay.targets.postgres import POSTGRES as postgres
from sqlgen.render_options import RenderOptions
from tests.support.logbuilder import Col, LogBuilder, Tab, generation, lrsn
from tests.support.replayed import AT_PIT1, PIT1, START, position, rows, same

Replay = Callable[..., int]
Planned = Callable[..., ReplayPlan]


@pytest.fixture
def planned(database: str, sakila: Path, tmp_path: Path) -> Planned:
    """Plans a replay of the Sakila log into ``database``, to its first point in time."""

    def plan(commit: str = PIT1, apply: bool = False) -> ReplayPlan:
        log = open_log(sakila / "sakila.ctl", [sakila / "sakila.dat.gz"], scratch=tmp_path)
        options = ScriptOptions(names="lower", render=RenderOptions(where_columns="guard"))
        source = ReplayInput(log, Selection(), options, log.constraints, local.ENGINE)
        destination = Destination(Position.from_hex(commit))
        return plan_replay(source, ReplayRequest(database, apply, destination))

    return plan


def without_times(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("Estimated time")]


def test_a_plan_prints_what_the_command_prints(
    planned: Planned, replay: Replay, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replay("--until-lrsn", PIT1, apply=False) == EXIT_OK
    *printed, last = without_times(capsys.readouterr().out)
    assert last == "Nothing was written. Run with --apply to do this."
    with planned() as plan:
        assert without_times(str(plan)) == printed
        assert plan.problems == []
        assert plan.exit_code == EXIT_OK


def test_a_plan_is_applied(
    planned: Planned, database: str, sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[tuple[str, int, int]] = []
    with planned() as plan:
        assert rows(database, "SELECT 1 FROM pg_namespace WHERE nspname = 'logreplay'") == []
        with closing(postgres.connect(database)) as other:
            assert other.lock(), "a plan alone takes no lock"
        report = plan.apply(lambda *step: done.append(step))
    assert (report.units, report.statements, report.rejected) == (*AT_PIT1, 0)
    assert report.exit_code == EXIT_OK
    assert report.position is not None
    assert str(report).endswith(f"The target stands at {report.position}")
    assert done[-1] == ("applying", AT_PIT1[1], AT_PIT1[1])
    assert position(database)[:2] == (
        report.position.commit.hexadecimal,
        report.position.unit.hexadecimal,
    )
    assert same(database, sakila, "pit1")
    assert capsys.readouterr().out == ""
    with planned() as plan, closing(postgres.connect(database)) as other:
        assert plan.is_empty is False
        assert other.lock(), "the lock is given back"
    with planned(START) as plan:
        assert "backward (undo)" in str(plan)
        plan.apply()
    assert same(database, sakila, "initial")


def test_a_target_that_moved_since_the_plan_was_made(
    planned: Planned, replay: Replay, database: str
) -> None:
    with planned() as plan:
        assert replay("--until-lrsn", PIT1) == EXIT_OK
        with pytest.raises(Refusal, match="replayed into since the plan was made") as refused:
            plan.apply()
        assert refused.value.code == "LR4007"
    assert position(database)[2:4] == AT_PIT1


def test_a_plan_is_applied_once(planned: Planned, database: str) -> None:
    with planned(apply=True) as plan:
        with closing(postgres.connect(database)) as other:
            assert not other.lock(), "a plan that is to be applied holds the lock"
        plan.apply()
        with pytest.raises(Refusal, match="LR4007"):
            plan.apply()
    assert position(database)[2:4] == AT_PIT1


def test_problems_are_in_the_plan_and_refuse_it(
    planned: Planned, database: str, replay: Replay, capsys: pytest.CaptureFixture[str]
) -> None:
    rows(database, "ALTER TABLE sakila.film DROP COLUMN title CASCADE")
    with planned() as plan:
        (problem,) = plan.problems
        assert problem.startswith("SAKILA.FILM: the target's table has no column TITLE. Add it")
        assert f"refused: {plan.problems[0]}" in str(plan)
        assert plan.exit_code == EXIT_ERROR
        with pytest.raises(Refusal, match="LR4008"):
            plan.apply()
    assert replay("--until-lrsn", PIT1, apply=False) == EXIT_ERROR
    assert capsys.readouterr().out.endswith("Nothing was written. --apply would be refused.\n")
    assert rows(database, "SELECT 1 FROM pg_namespace WHERE nspname = 'logreplay'") == []


def test_nothing_to_do(planned: Planned, replay: Replay, database: str) -> None:
    assert replay("--until-lrsn", PIT1) == EXIT_OK
    rows(database, "UPDATE logreplay.position SET commit_lrsn = repeat('F', 20)")
    with planned("FF" * 10) as plan:
        assert plan.is_empty
        assert str(plan).startswith("Nothing to do: the target stands at commit LRSN")
        assert str(plan.apply()) == ""


def two_logs(folder: Path, known: str, changed: str = "T") -> tuple[list[str], list[str]]:
    """Log Master: words for a log with changes of a table and for one of another table of its name,
    which was made between the two; ``known``: the tables that the second control file has,
    ``changed``: the table that the first log has changes of."""
    columns = (Col("K", "INT", 4, key=1), Col("A", "INT", 4))
    first = Tab("T", columns)
    second = generation(first, 1, psid=110, obid=111, created=lrsn(2000), dropped=bytes(10))
    gone = replace(first, dropped=lrsn(2000))
    found = []
    for number, tables in enumerate([(first,), (gone, second) if known == "both" else (second,)]):
        log = LogBuilder((*tables, Tab("U", columns, obid=99)))
        log.clock = 3000 * number
        for key in (1, 2):
            table = tables[-1] if number or changed == "T" else Tab(changed, columns, obid=99)
            log.unit(commit=log.clock + 1000).insert(table, (key + number, 10 * number))
        place = folder / f"log{number}"
        place.mkdir()
        control, data = log.write(place, seed=number)
        found.append(["--control", str(control), "--data", *map(str, data), "--engine", "local"])
    return found[0], found[1]


def test_a_table_without_changes_is_made_again_between_two_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rows that it had before the first log are in the target."""
    redo = ["--dialect", "sqlite", "--schema", "none", "--gaps", "warn"]
    one, two = (["redo", *words, *redo] for words in two_logs(tmp_path, "both", "U"))
    assert main([*one, "--out", f"{tmp_path}/one", "--after", "none"]) == 0
    assert main([*two, "--out", f"{tmp_path}/two", "--after", f"{tmp_path}/one"]) == 8
    assert "which was dropped at" in capsys.readouterr().err


@pytest.mark.parametrize("known", ["both", "alone"])
def test_a_table_that_was_made_again_between_two_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], known: str
) -> None:
    """Redo goes on with another chain, a replay with an empty table; rows as data are warned of."""
    one, two = two_logs(tmp_path, known)
    sql = ["--dialect", "sqlite", "--schema", "none"]
    more = ["--gaps", "warn"]

    def chain(words: list[str], out: str, after: str) -> int:
        return main([*words, "--out", f"{tmp_path}/{out}", "--after", after])

    assert chain(["redo", *one, *sql], "redo0", "none") == 0
    capsys.readouterr()
    assert chain(["redo", *two, *sql, *more], "redo1", f"{tmp_path}/redo0") == 8
    said = capsys.readouterr().err
    assert re.search("LR3003 .*found changes of", said)
    part = re.findall(r"(--from-position) (\w+)", said)[0]
    assert chain(["redo", *two, *sql, *part], "redo2", "none") in (0, 4)
    for form, codes in (("csv", (0, 4)), ("debezium", (0, 8))):
        export = ["export", "--format", form, "--grow", "--out", f"{tmp_path}/{form}"]
        assert main([*export, *one]) == codes[0]
        capsys.readouterr()
        assert main([*export, *two, *more]) == codes[1]
        assert re.search("no .*takes away the rows", capsys.readouterr().err)
    with closing(sqlite3.connect(tmp_path / "testown.db", isolation_level=None)) as base:
        base.execute("CREATE TABLE t (k INTEGER PRIMARY KEY NOT NULL, a INTEGER)")
        more = ["--adjoining"]
        to = ["--to", f"sqlite:///{tmp_path}/testown.db?schema=testown", "--schema", "none"]
        assert main(["replay", *one, *to, "--apply"]) == 0
        assert main(["replay", *two, *to, *more, "--apply"]) == 8
        assert re.search("LR3003 .*found changes of", capsys.readouterr().err)
        base.execute("DELETE FROM t")
        assert main(["replay", *two, *to, *more, "--apply"]) in (0, 4)
        assert base.execute("SELECT * FROM t ORDER BY k").fetchall() == [(2, 10), (3, 10)]
        back = ["replay", *one, *to, *more, "--until-position", "0" * 20, "--apply"]
        capsys.readouterr()
        assert main(back) == 8
        assert re.search("LR3002 .*found changes of", capsys.readouterr().err)


@pytest.mark.parametrize("known", ["both", "alone"])
def test_a_table_that_is_made_again_between_two_logs_that_are_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], known: str
) -> None:
    """The log from after it is refused each time, until the table is empty."""
    two_logs(tmp_path, known)
    (tmp_path / "logs").mkdir()
    to = f"sqlite:///{tmp_path}/testown.db?schema=testown"
    words = ["follow", "--logs", f"{tmp_path}/logs", "--to", to, "--schema", "none", "--once"]

    def arrive(number: int) -> int:
        for file in (tmp_path / f"log{number}").iterdir():
            file.rename(tmp_path / "logs" / f"{number}{file.name}")
        return main([*words, "--settle", "0", "--engine", "local"])

    with closing(sqlite3.connect(tmp_path / "testown.db", isolation_level=None)) as base:
        base.execute("CREATE TABLE t (k INTEGER PRIMARY KEY NOT NULL, a INTEGER)")
        assert [arrive(0), arrive(1), arrive(1)] == [0, 8, 8]
        assert capsys.readouterr().err.count("LR3003") == 2
        assert base.execute("SELECT * FROM t ORDER BY k").fetchall() == [(1, 0), (2, 0)]
        base.execute("DELETE FROM t")
        assert arrive(1) == 0
        assert base.execute("SELECT * FROM t ORDER BY k").fetchall() == [(2, 10), (3, 10)]
