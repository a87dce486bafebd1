"""Spark's Python workers share the modules that their tasks need, imported once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from replay.logs import LogFile, Split
from tests.support.places import ROOT
from tests.support.words import of_log_master

#: In place of the daemon's work: says what a worker would inherit, and what it imports for a task.
WORKER = """
import runpy, sys
from pyspark import daemon

def manager():
    inherited = set(sys.modules)
    import replay.output.datasets, replay.output.run_plan, replay.output.scripts
    import replay.engine.spark_tasks
    import sqlglot, numpy.ma, dateutil.relativedelta  # which are imported where they are used
    print(len(inherited), *sorted(set(sys.modules) - inherited | {"pandas"} & inherited))

daemon.manager = manager
runpy.run_module("replay.engine.spark_tasks", run_name="__main__")
"""


def test_a_worker_inherits_all_that_its_tasks_import() -> None:
    done = subprocess.run([sys.executable, "-c", WORKER], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    inherited, *imported = done.stdout.split()
    assert int(inherited) > 0
    assert imported == []


@pytest.mark.spark
@pytest.mark.long
def test_modules_that_lie_where_the_user_is(sakila_small: Path, tmp_path: Path) -> None:
    """Python would look there first, and did: a program of the user's, and numbers of none."""
    here = tmp_path / "here"
    here.mkdir()
    for name in ("replay.py", "numpy.py"):
        (here / name).touch()
    words = of_log_master(sakila_small / "small.ctl", sakila_small / "small.dat")
    words += ["--engine", "spark", "--master", "local[1]", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, str(ROOT / "logreplay_command.py"), "redo", *words],
        cwd=here,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "manifest.json").exists()


@dataclass(frozen=True)
class Imported:
    """Says which modules of the engine a worker has."""

    title: str = "imported"
    buckets: int = 1

    def scan(self, log: Any, split: Split) -> Iterator[tuple[int, bytes]]:
        yield 0, b""

    def reduce(self, log: Any, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        yield from (name.encode() for name in sys.modules if name.startswith("replay.engine.s"))


def test_workers_import_what_tasks_do_and_not_the_engine(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor what starts Java or looks after a job, all of which they had to wait for. An environment
    of its own has Spark start workers anew: others may have had to do with the engine itself."""
    from replay.engine.spark import SparkEngine

    monkeypatch.setitem(spark.sparkContext.environment, "WORKERS_OF", "this test")
    log, splits = cast(LogFile, None), [Split(0, 0, 1, 1)]
    names = SparkEngine(started=lambda: spark.sparkContext).execute(Imported(), log, splits)
    here = {name.decode() for name in names}
    assert here == {"replay.engine.spark_tasks"}
