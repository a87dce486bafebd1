"""Tasks in threads: their results come in order, and what one raises is raised in order."""

from __future__ import annotations

import threading
import time
from functools import partial
from pathlib import Path

import pytest

from replay import machine as threads_module
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.logs.logmaster.opening import open_log
from replay.machine import Task, in_threads
from replay.output.run_plan import write
from replay.pipeline.plan import make_plan
from tests.support.logbuilder import ACCT, LogBuilder, acct


def slow(number: int) -> int:
    """The later, the sooner it ends."""
    time.sleep(0.02 if number % 2 else 0)
    return number


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_come_in_the_order_of_the_tasks(threads: int) -> None:
    tasks = (Task(partial(slow, number), 1) for number in range(20))
    assert list(in_threads(tasks, threads)) == list(range(20))


def test_two_tasks_run_at_the_same_time() -> None:
    met = threading.Barrier(2, timeout=120)
    assert len(list(in_threads((Task(met.wait) for _ in range(2)), 2))) == 2


def test_what_was_given_much_runs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_module, "TOGETHER", 10)
    running: list[int] = []
    most: list[int] = []

    def noted() -> None:
        running.append(1)
        most.append(len(running))
        time.sleep(0.005)
        running.pop()

    list(in_threads((Task(noted, 6) for _ in range(6)), 4))
    assert max(most) == 1


@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_error_in_order_is_raised_and_the_others_have_ended(threads: int) -> None:
    ended: list[int] = []

    def failing(number: int) -> int:
        try:
            time.sleep(0.01 * (5 - number))
            if number >= 2:
                raise ValueError(number)
            return number
        finally:
            ended.append(number)

    seen = []
    found = in_threads((Task(partial(failing, number), 1) for number in range(5)), threads)
    with pytest.raises(ValueError, match="2"):
        seen.extend(found)
    count = len(ended)
    time.sleep(0.06)
    assert len(ended) == count
    assert seen == [0, 1]


def test_threads_write_the_same_bytes(tmp_path: Path) -> None:
    log = LogBuilder((ACCT,))
    for number in range(400):
        log.unit().insert(ACCT, acct(number))
    control, data = log.write(tmp_path)
    opened = open_log(control, data)
    plan = make_plan(opened, "undo", Selection(), ScriptOptions(records_per_file=64), 20_000)
    assert len(plan.splits) > 2
    assert plan.buckets > 2
    found = []
    for threads in (1, 2, 5):
        out = tmp_path / str(threads)
        out.mkdir()
        tally, results = write(local.LocalEngine(threads=threads), plan, opened, out)
        found.append((tally, [result.files for result in results]))
    assert found[0] == found[1] == found[2]
