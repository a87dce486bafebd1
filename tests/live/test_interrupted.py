"""A replay that somebody interrupts in the middle of a statement ends: what it waits for is not
tried again, and nothing of it holds the target afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from tests.support.few import few
from tests.support.places import ROOT
from tests.support.replayed import rows, same

#: Waits for a lock as long as it is held, so that nothing but the signal ends that.
_CODE = """
import sys
from replay.cli.main import main
from replay.targets.postgres_settings import SETTINGS
SETTINGS["lock_timeout"] = "1h"
sys.exit(main(sys.argv[1:]))
"""
_WAITING = (
    "SELECT 1 FROM pg_stat_activity WHERE application_name = 'logreplay' AND"
    " datname = current_database() AND wait_event_type = 'Lock'"
)
_THERE = _WAITING.replace("wait_event_type = 'Lock'", "true")
#: In which a process starts, and ends, on a busy machine.
_SECONDS = 300


def _comes(database: str, query: str, count: bool) -> bool:
    """Whether there come to be rows of a query, or none."""
    ends = time.monotonic() + _SECONDS
    while bool(rows(database, query)) is not count:
        if time.monotonic() > ends:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize(
    ("mode", "number"),
    few(
        [("strict", signal.SIGINT), ("strict", signal.SIGKILL), ("bulk", signal.SIGTERM)],
        ("strict", signal.SIGKILL),
        ("bulk", signal.SIGTERM),
    ),
)
def test_a_replay_that_waits_for_a_lock(
    database: str, sakila: Path, mode: str, number: signal.Signals
) -> None:
    command = [
        *("replay", "--to", database, "--apply", "--engine", "local", "--mode", mode),
        *("--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")),
    ]
    run = [sys.executable, "-c", _CODE, *command]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with psycopg.connect(database) as other:
        other.execute("LOCK TABLE sakila.rental IN EXCLUSIVE MODE")
        with subprocess.Popen(
            run,
            cwd=ROOT,
            env=environment,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            # behind a shell's & it would be ignored
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as process:
            try:
                assert _comes(database, _WAITING, True)
                process.send_signal(number)
                said = process.communicate(timeout=_SECONDS)[1].decode()
            finally:
                process.kill()
        if number is not signal.SIGKILL:
            assert "interrupted" in said
            assert process.returncode == (128 + number)
        assert _comes(database, _THERE, False)  # though the lock is still held
    subprocess.run(run, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    assert same(database, sakila, "final")
