"""Databases in a state of the Sakila workload, and its log replayed into them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.targets import target_named

Replay = Callable[..., int]


@pytest.fixture
def log(sakila: Path) -> list[str]:
    """The options that name the Sakila log."""
    return ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]


@pytest.fixture
def database(fresh_database: str, sakila: Path) -> str:
    """A database in the state before the Sakila log, without foreign keys."""
    target = target_named("postgres")
    target.run_scripts(fresh_database, [sakila / "schema.sql"])
    target.load_state(fresh_database, "sakila", sakila / "initial")
    return fresh_database


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
