"""Which tests are run together: the lanes, by rule and not by test."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b
from pathlib import Path, PurePath
from types import ModuleType

#: Folders and files of tests that are about whole runs and not about one rule: what is published,
#: byte by byte; drawn histories against a model; errands of the docs; databases and stores; streams
#: of many logs; logs that are written and then read again by other commands.
WHOLE_RUNS = ("bytes", "docs", "live", "model", "scripts", "storage", "targets")
WHOLE_RUN_FILES = ("test_histories.py", "test_stream.py", "test_extract.py", "test_same_scripts.py")
#: Files of these folders that are about rules all the same.
RULES = ("live/test_net_changes.py",)
#: The fixture that is the whole Sakila log: 22,811 records, and 45,000 rows of states.
WHOLE_LOG = "sakila"
#: Of tests that are made in both directions (an argument ``mode``), redo is in the fast lane.
TWIN = "undo"
#: A folder that many systems keep in memory, and the octets that must be free there: the files of
#: the fast lane are some 150 MB, if nothing is removed; other lanes have servers and larger logs.
MEMORY, ROOM, ROOM_OF_OTHERS = Path("/dev/shm"), 1 << 30, 6 << 30
#: Of tests that are drawn (with an argument ``seed``), how many are in the fast lane; and of those
#: in a folder whose first seeds have all releases of a format.
FIRST = 1
DRAWN, OF_ALL_RELEASES = 3, "independent"
#: Files of tests that take a minute each, or that have a cluster for all of theirs. They are begun
#: first: so what workers end with is short, and no file's cluster is started by two of them.
LONG = (
    *("pipeline/test_standalone.py", "pipeline/test_kubernetes.py", "pipeline/test_yarn.py"),
    *("live/test_month.py", "live/test_kill.py", "live/test_lost.py", "live/test_merged.py"),
    *("storage/test_outputs.py", "scripts/test_bench.py", "targets/test_replay_targets.py"),
)
#: How a file begins that :func:`starts_programs`.
_STARTS_PROGRAMS = re.compile("^import subprocess$", re.MULTILINE)


def lanes_of(
    markers: set[str],
    path: PurePath,
    programs: bool,
    fixtures: Collection[str],
    given: Mapping[str, object],
) -> list[str]:
    """The lanes of a test: of its ``markers``, its file in ``tests``, whether that starts
    ``programs``, the ``fixtures`` that it uses, directly or through another, and the arguments that
    are ``given`` to it by parametrization. Every test is in ``whole`` but those of ``containers``,
    which is a lane and a need at once; ``fast`` has unit rules alone."""
    if "containers" in markers:
        return []
    seed = given.get("seed")
    drawn = isinstance(seed, int) and seed >= seeds_of(path)
    twin = given.get("mode") == TWIN
    is_run = is_whole_run(path) or WHOLE_LOG in fixtures
    return (
        ["whole"]
        if is_run or programs or drawn or twin or markers & {"slow", "spark", "live"}
        else ["whole", "fast"]
    )


def is_beyond(given: Mapping[str, object], environment: Mapping[str, str]) -> bool:
    """Whether a test is of a seed beyond those that a slow machine has time for
    (``LOGREPLAY_SEEDS``)."""
    seed, most = given.get("seed"), environment.get("LOGREPLAY_SEEDS")
    return most is not None and isinstance(seed, int) and seed >= int(most)


def untried(names: Iterable[str], forms: int, share: int, draw: str = "") -> frozenset[str]:
    """Of tests (their names, ``file::function[form]``) those that a very slow machine has no time
    for: ``share`` per cent of the functions stay (``LOGREPLAY_SHARE``), and ``forms`` of each
    (``LOGREPLAY_FORMS``). Which ones is drawn by ``draw`` (``LOGREPLAY_DRAW``), so that each draw
    tries others."""
    functions = defaultdict[str, list[str]](list)
    for name in names:
        functions[name.partition("[")[0]].append(name)

    def lot(name: str) -> bytes:
        return blake2b(f"{draw} {name}".encode()).digest()

    kept = sorted(functions, key=lot)[: math.ceil(len(functions) * share / 100)]
    return frozenset(
        name
        for function, those in functions.items()
        for name in sorted(those, key=lot)[forms if function in kept else 0 :]
    )


def is_long(path: PurePath) -> bool:
    """Whether the tests of a file in ``tests`` are begun first."""
    return path.as_posix() in LONG


def seeds_of(path: PurePath) -> int:
    """How many seeds of the drawn tests of a file in ``tests`` are in the fast lane."""
    return DRAWN if path.parts[0] == OF_ALL_RELEASES else FIRST


def is_whole_run(path: PurePath) -> bool:
    """Whether no test of a file in ``tests`` is about one rule, by where it lies."""
    is_run = path.parts[0] in WHOLE_RUNS and path.as_posix() not in RULES
    return is_run or path.name in WHOLE_RUN_FILES


def has_nothing_for(lane: str, path: PurePath, text: str) -> bool:
    """Whether a file of tests (its place in ``tests`` and its text) has none for a lane, so that it
    need not be imported: a third of the files have none for the fast lane."""
    return lane == "fast" and (is_whole_run(path) or _STARTS_PROGRAMS.search(text) is not None)


def place_for(lane: str, given: Mapping[str, str], memory: Path = MEMORY) -> str | None:
    """Where the tests of a lane write: in ``memory``, where that is a folder with room whose
    programs start, for a third of their time was making, syncing and removing small files. None:
    where the system says, or ``given``, the environment."""
    if "TMPDIR" in given or not os.access(memory, os.W_OK | os.X_OK):
        return None
    if os.statvfs(memory).f_flag & os.ST_NOEXEC:
        return None
    room = ROOM if lane == "fast" else ROOM_OF_OTHERS
    return str(memory) if shutil.disk_usage(memory).free >= room else None


def starts_programs(module: ModuleType | None) -> bool:
    """Whether a file of tests starts programs."""
    return any(value is subprocess for value in vars(module).values()) if module else False
