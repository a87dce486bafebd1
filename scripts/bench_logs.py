"""What folders of many small logs cost: CPU seconds and memory of ``redo`` and ``inspect`` of all,
and of ``follow`` that is started anew when one more has come, with no unit set aside and with one
that never becomes whole. Called by ``bench.py logs``.

Each log has one unit of recovery of two changes. Each command runs in a process of its own, whose
start is in the figures; pages of the logs, which are mapped, count as memory too. Where all is as
it should be, ten times the logs cost ten times the CPU, and one more log the same however many were
there, but for the list of the folder and the control files.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.cutlogs import with_end
from tests.support.logbuilder import ACCT, LogBuilder, acct, frame, lrsn

#: Runs a command from a small process: what the kernel says of a child's memory is never less than
#: its parent had.
_MEASURED = """
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]))
sys.exit(code)
"""
#: Positions from the commit of one unit to that of the next.
STEP = 1000
#: Past logs behind the one whose unit lacks a record.
_SINCE = 10


@dataclass(frozen=True)
class Figures:
    """One command: its exit code, CPU seconds, and the most memory, in bytes."""

    what: str
    code: int
    cpu: float
    memory: int


def make_logs(folder: Path, count: int, lacking: int | None = None) -> None:
    """So many logs of one unit each; the unit of the log ``lacking`` is marked as incomplete."""
    folder.mkdir(parents=True)
    log = LogBuilder()
    for number in range(count):
        log.clock = number * STEP
        mark: dict[str, Any] = {"INCOMPLETETRANS": "Y"} if number == lacking else {}
        unit = log.unit(commit=(number + 1) * STEP, **mark)
        unit.insert(ACCT, acct(number))
        unit.update(ACCT, acct(number), acct(number, "ZZ"))
    control, records = frame(log.control_records(), "rdw"), log.records()
    for number in range(count):
        end = lrsn((number + 1) * STEP + 10)
        (folder / f"n{number:05d}.ctl").write_bytes(with_end(control, end))
        data = frame(records[2 * number : 2 * number + 2], "rdw")
        (folder / f"n{number:05d}.dat").write_bytes(data)


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of ``bench.py logs``."""
    command.add_argument("--logs", type=int, nargs="+", default=[100, 300], help="how many")


def run(what: str, *words: str) -> Figures:
    """Run a command of logreplay. RuntimeError where it ends with errors."""
    program = [sys.executable, "-c", _MEASURED, sys.executable, "-m", "replay", *words]
    done = subprocess.run(program, capture_output=True, text=True)
    if done.returncode not in (0, 4):
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
    seconds, kilobytes = json.loads(done.stdout)
    return Figures(what, done.returncode, seconds, kilobytes << 10)


def measure(folder: Path, count: int) -> Iterator[Figures]:
    """The commands, with ``count`` logs each."""
    whole = folder / "whole"
    make_logs(whole, count)
    local = ("--engine", "local")
    redo = ("redo", "--logs", str(whole), "--out", str(folder / "redo"), "--dialect", "postgres")
    yield run("redo", *redo, *local)
    yield run("inspect", "inspect", "--logs", str(whole))
    shutil.rmtree(whole)
    for name, lacking in (("follow", None), ("follow, one set aside", count - _SINCE)):
        made, logs = folder / f"made {name}", folder / name
        make_logs(made, count + 1, lacking)
        logs.mkdir()
        files = sorted(made.iterdir())
        for path in files[:-2]:
            path.rename(logs / path.name)
        out = ("--export", str(folder / f"out {name}"), "--format", "jsonl")
        follow = ("follow", "--logs", str(logs), *out, "--once", "--settle", "0", *local)
        yield run(f"{name}: all logs", *follow)
        for path in files[-2:]:
            path.rename(logs / path.name)
        yield run(f"{name}: one more", *follow)
        yield run(f"{name}: nothing new", *follow)


def logs(arguments: argparse.Namespace) -> int:
    """Measure folders of many small logs."""
    print(f"{'logs':>8}  {'':<36}  {'CPU':>9}  {'memory':>8}  exit code")
    for count in arguments.logs:
        folder = arguments.dir / f"{count} logs"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for one in measure(folder, count):
            memory = f"{one.memory >> 20} MB"
            print(
                f"{count:>8,}  {one.what:<36}  {one.cpu:>7.1f} s  {memory:>8}  {one.code}",
                flush=True,
            )
        shutil.rmtree(folder)
    return 0
