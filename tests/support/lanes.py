"""The suite that judges each commit, in lanes, and the long suite, which is run by hand.

A test is of the long suite where it has the marker ``long``, and only there. All others judge each
commit; their lanes, by rule and not by test, say what they need and how long they may take.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from types import ModuleType

from xdist.scheduler import LoadFileScheduling

from tests.support.places import ROOT


@dataclass(frozen=True)
class Lane:
    """``seconds`` that its tests may take together where three at a time run on two idle cores, and
    what it ``holds``."""

    seconds: int
    holds: str


#: In the order in which they are begun: what waits and what has a server of its own comes first,
#: so that what workers end with is short.
LANES = {
    "containers": Lane(320, "databases in containers, and the page in a browser"),
    "spark": Lane(340, "Spark: one session, one cluster of two workers"),
    "live": Lane(600, "databases of this machine, and stores"),
    "models": Lane(220, "drawn histories against independent models"),
    "documented": Lane(60, "commands of the documentation, with what they print"),
    "bytes": Lane(60, "what is published, byte by byte"),
    "programs": Lane(220, "whole runs, and programs that are started"),
    "unit": Lane(360, "rules: no process, no server, no large log"),
}
#: Folders of tests that are a lane, whatever their tests need.
_FOLDERS = {
    "bytes": "bytes",
    "docs": "documented",
    "independent": "models",
    "live": "live",
    "model": "models",
    "scripts": "programs",
    "storage": "live",
    "targets": "live",
}
#: The fixture that is the whole Sakila log: 22,811 records, and 45,000 rows of states.
_WHOLE_LOG = "sakila"
#: Files that take longest, or have a cluster for all of their tests: begun before all others.
FIRST = ("targets/test_contract.py", "engine/test_cluster.py", "live/test_exactly_once.py")
#: A folder that many systems keep in memory, and the bytes that must be free there.
_MEMORY, _ROOM = Path("/dev/shm"), 6 << 30
#: What one worker runs, for servers and a session of Spark take longer to start than most tests.
_WITH_SERVERS, _WITH_SPARK = re.compile(r"tests/(targets|containers)/"), re.compile(r"\bspark: ")
#: How a file of tests begins that are all of the long suite.
_ALL_LONG = re.compile(r"^pytestmark = pytest\.mark\.long$", re.MULTILINE)


def lane_of(
    markers: Collection[str], path: PurePath, programs: bool, fixtures: Collection[str]
) -> str:
    """The lane of a test: of its ``markers``, its file in ``tests``, whether that starts
    ``programs``, and the ``fixtures`` that it uses, directly or through another."""
    for need in ("containers", "spark"):
        if need in markers:
            return need
    if path.parts[0] in _FOLDERS:
        return _FOLDERS[path.parts[0]]
    if "live" in markers:
        return "live"
    return "programs" if programs or _WHOLE_LOG in fixtures else "unit"


def turn_of(path: PurePath, lane: str) -> tuple[int, int]:
    """A number for each test by which they are begun, of its file in ``tests`` and its lane."""
    name = path.as_posix()
    first = FIRST.index(name) if name in FIRST else len(FIRST)
    return first, list(LANES).index(lane)


@cache
def group_of(path: str) -> str:
    """The group of a file of tests: one worker runs all of it."""
    if _WITH_SERVERS.match(path):
        return "databases"
    return "spark" if _WITH_SPARK.search((ROOT / path).read_text(encoding="utf-8")) else path


class Scheduling(LoadFileScheduling):
    """Groups of files go to workers, in the order in which they are begun."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(super()._split_scope(nodeid))


def is_all_long(text: str) -> bool:
    """Whether all tests of a file, of which this is the text, are of the long suite."""
    return _ALL_LONG.search(text) is not None


def place_in_memory(given: Mapping[str, str], memory: Path = _MEMORY) -> str | None:
    """Where tests write: in ``memory``, where that is a folder with room whose programs start, for
    a third of their time was making, syncing and removing small files. None: where the system
    says, or ``given``, the environment."""
    if "TMPDIR" in given or not os.access(memory, os.W_OK | os.X_OK):
        return None
    if os.statvfs(memory).f_flag & os.ST_NOEXEC:
        return None
    return str(memory) if shutil.disk_usage(memory).free >= _ROOM else None


def starts_programs(module: ModuleType | None) -> bool:
    """Whether a file of tests starts programs."""
    return any(value is subprocess for value in vars(module).values()) if module else False


def summary(taken: Mapping[str, list[tuple[float, str]]]) -> list[str]:
    """Lines about the lanes: how many tests, how many seconds they took together (``taken``, with
    the names), how many they may take, and the slowest of those that took longer."""
    lines = [f"{'lane':<12}{'tests':>7}{'seconds':>9}{'aim':>6}  holds"]
    for name, lane in LANES.items():
        if tests := taken.get(name):
            seconds = sum(took for took, _ in tests)
            lines.append(
                f"{name:<12}{len(tests):>7,}{seconds:>9.0f}{lane.seconds:>6}  {lane.holds}"
            )
            if seconds > lane.seconds:
                lines.append("  longer than its aim; its slowest tests:")
                slowest = sorted(tests, reverse=True)[:10]
                lines += [f"  {took:>7.1f} s  {test}" for took, test in slowest]
    return lines
