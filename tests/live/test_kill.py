"""Replay survives being killed: the client anywhere, the server under it. Afterwards the state is
right and nothing came twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from replay.targets import embedded, target_named
from tests.support.examples import examples
from tests.support.replayed import AT_END, AT_PIT1, PIT1, START, position, same

pytestmark = pytest.mark.long

POSTGRES = target_named("postgres")
POINTS = ("begun", "batch run", "statements run", "position moved", "committed")
SEED = 20261121
#: As many as that, or as a slow machine has time for.
KILLS = examples(50)
#: The process of a replay that has begun to write.
APPLYING = (
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'logreplay' AND"
    " to_regclass('logreplay.mark') IS NOT NULL"
)

Run = Callable[..., int]


@pytest.fixture
def run(replayer: subprocess.Popen[str], sakila: Path, tmp_path: Path) -> Run:
    """Replays in a child that dies at a point; how it ended."""

    def start(
        url: str, until: str | None = None, point: str | None = None, times: int = 0, **pace: int
    ) -> int:
        assert replayer.stdin is not None
        assert replayer.stdout is not None
        job = {
            "url": url,
            "control": str(sakila / "sakila.ctl"),
            "data": str(sakila / "sakila.dat.gz"),
            "scratch": str(tmp_path),
        }
        job |= {"until": until, "point": point, "times": times}  # type: ignore[dict-item]
        job |= {"commit_every": 100, **pace}  # type: ignore[dict-item]
        replayer.stdin.write(json.dumps(job) + "\n")
        replayer.stdin.flush()
        return int(replayer.stdout.readline())

    return start


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("times", [1, 7])
def test_the_client_is_killed_at_a_point(
    database: str, sakila: Path, run: Run, point: str, times: int
) -> None:
    assert run(database, PIT1, point, times) == -signal.SIGKILL
    assert run(database, PIT1) == 0
    assert same(database, sakila, "pit1")
    assert position(database)[2:4] == AT_PIT1
    assert run(database, START, point, times) == -signal.SIGKILL
    assert run(database, START) == 0
    assert same(database, sakila, "initial")
    assert position(database)[2:4] == (0, 0)


def test_the_client_is_killed_amid_loads(database: str, sakila: Path, run: Run) -> None:
    pace = {"bulk": 1, "commit_every": 1000}
    for times in (1, 3, 2):
        assert run(database, None, "rows copied", times, **pace) == -signal.SIGKILL
    assert run(database, None, **pace) == 0
    assert same(database, sakila, "final")
    assert position(database)[2:4] == AT_END


def test_many_kills(database: str, sakila: Path, run: Run) -> None:
    """There and back, killed somewhere each time; the position never disagrees with the data."""
    chance = random.Random(SEED)
    forward, kills = True, 0
    while kills < KILLS or not forward:
        way = chance.choice([{}, {"bulk": 1}]) if forward else {}
        times = chance.randint(1, 100 if way else 1200) if kills < KILLS else 0
        ended = run(
            database,
            PIT1 if forward else START,
            None,
            times,
            commit_every=chance.choice([1000] if way else [1, 10, 100]),
            **way,
        )
        if ended == 0:
            assert same(database, sakila, "pit1" if forward else "initial")
            assert position(database)[2:4] == (AT_PIT1 if forward else (0, 0))
            forward = not forward
        else:
            assert ended == -signal.SIGKILL
            kills += 1
    assert run(database) == 0
    assert same(database, sakila, "final")
    assert position(database)[2:4] == AT_END


@pytest.mark.long
def test_the_server_goes_away(sakila: Path, run: Run) -> None:
    """The server process of the connection is killed several times, on which PostgreSQL shuts all
    others down immediately and recovers; replay connects again and goes on. This server does not
    wait for its disk, so a crash loses transactions that were committed.
    """
    with embedded.server() as server:
        POSTGRES.run_scripts(server, [sakila / "schema.sql"])
        POSTGRES.load_state(server, "sakila", sakila / "initial")
        stopping = threading.Event()
        killed = []

        def killer() -> None:
            while not stopping.wait(0.15):
                # a server that recovers takes no connections; a process that was found may be gone
                with (
                    suppress(psycopg.OperationalError, ProcessLookupError),
                    psycopg.connect(server, autocommit=True) as connection,
                ):
                    found = connection.execute(APPLYING).fetchone()
                    if found is None or len(killed) >= 5:
                        continue
                    os.kill(found[0], signal.SIGKILL)
                    killed.append(found[0])
                time.sleep(0.3)

        thread = threading.Thread(target=killer)
        thread.start()
        try:
            ended = run(server, commit_every=1)
        finally:
            stopping.set()
            thread.join()
        assert ended == 0
        assert killed
        assert same(server, sakila, "final")
        assert position(server)[2:4] == AT_END
