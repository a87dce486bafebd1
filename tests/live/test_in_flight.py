"""A COMMIT that a killed run left under way: whoever replays next waits for it, and asks then."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import replay
from replay.cli.main import main
from replay.errors import Refusal
from replay.targets import embedded
from tests.support.logbuilder import Col, LogBuilder, Tab, lrsn
from tests.support.places import ROOT
from tests.support.replayed import START, rows

TABLE = Tab("T", (Col("K", "INT", 4, key=1),))
MADE = "CREATE SCHEMA testown; CREATE TABLE testown.t (k integer PRIMARY KEY)"
#: Replays, and has commits wait for a standby that never comes, from the first one on.
HOLDING = """
import sys, time
import psycopg
from replay.cli.main import main
from replay.live.position_store import Store

move = Store.move
def moved(*given):
    move(*given)
    with psycopg.connect(sys.argv[1], autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        connection.execute("SELECT pg_reload_conf()")
    time.sleep(1)
Store.move = moved
sys.exit(main(sys.argv[2:]))
"""
WAITING = "SELECT 1 FROM pg_stat_activity WHERE {} AND backend_type = 'client backend'"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server whose commits can be made to wait."""
    settings = {"wal_level": "replica", "max_wal_senders": "2", "synchronous_commit": "on"}
    with embedded.server(**settings) as url:
        yield url


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    """A log of sixteen units that insert a row each."""
    log = LogBuilder([TABLE])
    for number in range(16):
        log.unit(commit=1000 + number).insert(TABLE, (number,))
    control, data = log.write(tmp_path, seed=1)
    return ["--control", str(control), "--data", str(data[0])]


def arguments(log: list[str], url: str, *options: str) -> list[str]:
    return ["replay", *log, "--engine", "local", "--to", url, "--apply", *options]


def wait_for(url: str, condition: str) -> None:
    """Wait until some session waits in this way."""
    deadline = time.monotonic() + 120
    while not rows(url, WAITING.format(condition)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.long
def test_a_commit_in_flight_is_waited_for(server: str, log: list[str]) -> None:
    """Eight units are in the target, and a killed run is about to commit the others. On the way
    back they are not overlooked."""
    rows(server, f"DROP SCHEMA IF EXISTS testown, logreplay CASCADE; {MADE}")
    assert main(arguments(log, server, "--until-lrsn", lrsn(1007).hex())) == 0
    killed = subprocess.Popen(
        [sys.executable, "-c", HOLDING, server, *arguments(log, server)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
    )
    wait_for(server, "wait_event = 'SyncRep'")
    killed.kill()
    killed.wait()
    assert rows(server, "SELECT count(*) FROM testown.t") == [(8,)]

    def let_go() -> None:
        wait_for(server, "query LIKE '%pg_try_advisory_lock%' AND application_name = 'logreplay'")
        rows(server, "ALTER SYSTEM RESET synchronous_standby_names")
        rows(server, "SELECT pg_reload_conf()")

    releasing = threading.Thread(target=let_go)
    releasing.start()
    assert main(arguments(log, server, "--until-lrsn", START)) == 0
    releasing.join()
    assert rows(server, "SELECT count(*) FROM testown.t") == [(0,)]
    assert rows(server, "SELECT units FROM logreplay.position") == [(0,)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE logreplay.position SET commit_lrsn = '{0}'", "the target stands at"),
        ("INSERT INTO logreplay.pending VALUES ('{1}', 'x', 1)", "quarantined since"),
    ],
)
def test_what_was_asked_before_the_plan_is_asked_again(
    fresh_database: str, log: list[str], change: str, said: str
) -> None:
    """A plan that was made without the lock, and a transaction that ends while the first one of the
    run begins."""
    rows(fresh_database, MADE)
    with replay.open_log(control=log[1], data=log[3]) as opened:
        opened.select().replay(fresh_database, until=lrsn(1007).hex()).apply()
        plan = opened.select().replay(fresh_database, until=START)
        with psycopg.connect(fresh_database) as other:
            other.execute("UPDATE logreplay.position SET units = units WHERE id = 1")
            other.execute(change.format(lrsn(1003).hex().upper(), "0" * 24).encode())

            def commit() -> None:
                wait_for(fresh_database, "wait_event_type = 'Lock'")
                other.commit()

            committing = threading.Thread(target=commit)
            committing.start()
            with pytest.raises(Refusal, match=said):
                plan.apply()
            committing.join()
    assert rows(fresh_database, "SELECT count(*) FROM testown.t") == [(8,)]
