"""A replay in two steps, as the library offers it: a plan that says what will happen, and then
does it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from replay.changes.options import ScriptOptions
from replay.changes.position import Position
from replay.changes.selection import Selection
from replay.engine import local
from replay.errors import EXIT_ERROR, EXIT_OK, Refusal
from replay.live.replay import ReplayInput, ReplayPlan, ReplayRequest, plan_replay
from replay.live.route import Destination
from replay.logs.logmaster.opening import open_log
from replay.targets.postgres import POSTGRES as postgres
from sqlgen.render_options import RenderOptions
from tests.support.replayed import AT_PIT1, PIT1, START, position, rows, same

Replay = Callable[..., int]
Planned = Callable[..., ReplayPlan]


@pytest.fixture
def planned(database: str, sakila: Path, tmp_path: Path) -> Planned:
    """Plans a replay of the Sakila log into ``database``, to its first point in time."""

    def plan(commit: str = PIT1, apply: bool = False) -> ReplayPlan:
        log = open_log(sakila / "sakila.ctl", [sakila / "sakila.dat.gz"], scratch=tmp_path)
        options = ScriptOptions(render=RenderOptions(where_columns="guard"))
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
