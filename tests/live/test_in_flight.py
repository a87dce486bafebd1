"""What a target says before a plan is made may change until the plan is carried out."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import psycopg
import pytest

import replay
from replay.errors import Refusal
from tests.support.logbuilder import Col, LogBuilder, Tab, lrsn
from tests.support.replayed import START, rows

TABLE = Tab("T", (Col("K", "INT", 4, key=1),))
MADE = "CREATE SCHEMA testown; CREATE TABLE testown.t (k integer PRIMARY KEY)"
#: Whether a session of a client waits for a lock.
WAITING = (
    "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND backend_type = 'client"
    " backend'"
)


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    """A log of sixteen units that insert a row each."""
    log = LogBuilder([TABLE])
    for number in range(16):
        log.unit(commit=1000 + number).insert(TABLE, (number,))
    control, data = log.write(tmp_path, seed=1)
    return ["--control", str(control), "--data", str(data[0])]


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
                deadline = time.monotonic() + 120
                while not rows(fresh_database, WAITING):
                    assert time.monotonic() < deadline
                    time.sleep(0.05)
                other.commit()

            committing = threading.Thread(target=commit)
            committing.start()
            with pytest.raises(Refusal, match=said):
                plan.apply()
            committing.join()
    assert rows(fresh_database, "SELECT count(*) FROM testown.t") == [(8,)]
