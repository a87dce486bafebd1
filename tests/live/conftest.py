"""Databases in a state of the Sakila workload, and its log replayed into them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.targets import target_named
from tests.conftest import database_on
from tests.support.places import ROOT, SUPPORT
from tests.support.replayed import rows

Replay = Callable[..., int]


@pytest.fixture(scope="module")
def replayer() -> Iterator[subprocess.Popen[str]]:
    """A child that replays in processes of its own, which can be killed."""
    command = [sys.executable, str(SUPPORT / "replayer.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def log(sakila: Path) -> list[str]:
    """The options that name the Sakila log."""
    return ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]


@pytest.fixture(scope="session")
def initial(postgres: str, sakila: Path) -> Iterator[str]:
    """The name of a database in the state before the Sakila log, which is there to be copied."""
    target = target_named("postgres")
    for url in database_on(postgres):
        target.run_scripts(url, [sakila / "schema.sql"])
        target.load_state(url, "sakila", sakila / "initial")
        name = url.rsplit("/", 1)[1]
        rows(postgres, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        yield name


@pytest.fixture
def database(postgres: str, initial: str) -> Iterator[str]:
    """A database in the state before the Sakila log, without foreign keys."""
    yield from database_on(postgres, initial)


@pytest.fixture
def replay(database: str, log: list[str]) -> Replay:
    """Replays the Sakila log into ``database``, with ``--apply`` unless told otherwise."""

    def run(*options: str, apply: bool = True) -> int:
        return main(
            [
                "replay",
                *log,
                "--to",
                database,
                "--engine",
                "local",
                *(["--apply"] if apply else []),
                *options,
            ]
        )

    return run
