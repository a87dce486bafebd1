"""Commands whose Spark driver runs at the hub of a network (:mod:`tests.support.networks`), as
processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.networks import HUB, Network, children, stop
from tests.support.places import ROOT
from tests.support.s3 import SECRET

#: One process that runs several commands, each a list of words.
_SEVERAL = (
    "import json, sys; from replay.cli.main import main;"
    " sys.exit(any(main(words) not in (0, 4) for words in json.loads(sys.argv[1])))"
)

#: A driver says what its threads do when it is asked, as Java does.
_SAYS = "import faulthandler, signal; faulthandler.register(signal.SIGUSR1)"
#: Drivers that a test started, and that may still run.
_STARTED: list[subprocess.Popen[str]] = []

_OF_SPARK = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")


def driver(
    network: Network,
    folder: Path,
    environment: Mapping[str, str],
    commands: Sequence[list[str]],
) -> subprocess.Popen[str]:
    """Start commands in a folder, which see other machines by the network alone."""
    program = f"{_SAYS}\n{_SEVERAL}"
    python = [*network.inside(), sys.executable, "-c", program, json.dumps(commands)]
    more = {"PYTHONPATH": str(ROOT), "TMPDIR": str(folder), "SPARK_LOCAL_IP": HUB}
    # what a Spark of this process has set for its own workers
    mine = {name: value for name, value in os.environ.items() if name not in _OF_SPARK}
    process = subprocess.Popen(
        python,
        cwd=folder,
        env={**mine, **more, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    _STARTED.append(process)
    return process


def end_all() -> None:
    """No driver outlives its test."""
    while _STARTED:
        process = _STARTED.pop()
        stop(process)
        assert process.stdout is not None
        process.stdout.close()


def said(process: subprocess.Popen[str], seconds: float = 600) -> str:
    """What commands say, which end within so many seconds. Fails with what their threads do."""
    try:
        return process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        for child in children(process.pid):
            os.kill(child, signal.SIGQUIT)  # Java says it, others end
        time.sleep(5)
        process.send_signal(signal.SIGUSR1)
        time.sleep(1)
        stop(process)
        told = process.communicate()[0]
    pytest.fail(f"a driver went on after {seconds:.0f} seconds:\n{told}")


def ended(process: subprocess.Popen[str]) -> str:
    """What commands say that end well."""
    told = said(process, 900)
    assert process.returncode == 0, told
    assert SECRET not in told
    return told


#: What Spark's own log may say before an error, or not: which comes first, that executors are lost
#: or that the driver ends, is chance.
_OF_SPARK_ITSELF = re.compile(
    r"\d\d:\d\d:\d\d spark ERROR (?:TaskSetManager: Task \d+ in stage [\d.]+ failed 4 times;"
    r" aborting job|\w+: Lost (?:an )?executor .*)"
)


def only_line(told: str) -> str:
    """The one line that a command says itself, beside its notes. Fails where it says more."""
    lines = [
        line
        for line in told.splitlines()
        if not line.startswith("note: ") and not _OF_SPARK_ITSELF.fullmatch(line)
    ]
    assert len(lines) == 1, told
    return lines[0]


def wait_until(holds: Callable[[], bool], seconds: float = 300) -> None:
    """Fails where that does not hold in time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)
