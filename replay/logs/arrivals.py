"""Which logs of a folder have arrived: pairs (or files) that nobody writes any more."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from replay.changes.catalog import Catalog
from replay.changes.choices import Arrival
from replay.changes.position import HIGHEST, LOWEST, Position
from replay.logs import Family, LogPair
from replay.logs.files import whole
from replay.logs.logmaster.control import read_control
from replay.logs.named import MARKS_BESIDE, fitting, is_control, natural

#: What marks a file that is whole, and what one that is not.
MARKER, UNDERWAY = ".done", (".part", ".tmp", ".filepart")
_OTHERS = (".toml", ".md", ".json", ".txt")


@dataclass(frozen=True)
class Arrived:
    """What is whole: ``pairs`` of Log Master, ``log`` files of other families; ``waiting``: files
    that are not, or lack their other half. ``state`` changes whenever a whole file does."""

    pairs: tuple[LogPair, ...]
    log: tuple[str, ...]
    waiting: tuple[str, ...]
    state: tuple[tuple[str, int, int], ...]


def arrived(folder: str, family: Family, how: Arrival, settle: float, now: float) -> Arrived:
    """Look at a folder. ``how`` files are known to be whole: by ``NAME.done`` beside the control
    file or the file, by not having been changed for ``settle`` seconds before ``now`` (since 1970),
    or by their name alone, where they are renamed when they are whole."""
    whole_files: dict[str, tuple[int, int]] = {}
    waiting: list[str] = []
    entries = {entry.name: entry for entry in os.scandir(folder) if entry.is_file()}
    for name, entry in entries.items():
        lower = name.lower()
        if name.startswith(".") or lower.endswith((MARKER, *_OTHERS)) or name == MARKS_BESIDE:
            continue
        status = entry.stat()
        still = how is not Arrival.STABLE or now - status.st_mtime >= settle
        if lower.endswith(UNDERWAY) or not still:
            waiting.append(entry.path)
        else:
            whole_files[entry.path] = (status.st_size, status.st_mtime_ns)
    names = sorted(whole_files, key=natural)
    if "control" not in family.takes:
        files = [name for name in names if _marked(name, how, entries)]
        known = set(files)
        waiting += [name for name in names if name not in known]
        state = tuple((name, *whole_files[name]) for name in files)
        return Arrived((), tuple(files), tuple(waiting), state)
    controls = [name for name in names if is_control(name) and _marked(name, how, entries)]
    known = set(controls)
    data = [name for name in names if name not in known]
    found = fitting(controls, data)
    pairs = [LogPair(control, tuple(files)) for control, files in found.items() if files]
    taken = {name for pair in pairs for name in (pair.control, *pair.data)}
    waiting += [name for name in names if name not in taken]
    state = tuple((name, *whole_files[name]) for name in names if name in taken)
    return Arrived(tuple(pairs), (), tuple(waiting), state)


def _marked(path: str, how: Arrival, entries: dict[str, os.DirEntry[str]]) -> bool:
    """Whether a file is marked as whole, where files are: ``NAME.done`` with its name, with or
    without what is behind the dot."""
    if how is not Arrival.MARKER:
        return True
    name = os.path.basename(path)
    return name + MARKER in entries or name.partition(".")[0] + MARKER in entries


def stated_end(pair: LogPair, known: dict[bytes, Catalog]) -> Position | None:
    """Where the control file of a log states that it ends. ``known`` keeps what logs tell of their
    tables, which is mostly the same. InputError as
    :func:`replay.logs.logmaster.control.read_control`."""
    end = read_control(whole(pair.control), pair.control, None, {}, known).end.get("ENDRBA")
    return None if end in (None, LOWEST, HIGHEST) else Position(end)


def still_needed(
    ends: Sequence[Position | None], position: Position | None, pending: bool
) -> list[bool]:
    """Which logs, by where they end, a target at a position still needs: those that go beyond it,
    the last one before it (which shows that nothing is missing between), those that do not say, and
    all of them while units are set aside."""
    if position is None or pending:
        return [True] * len(ends)
    before = [end for end in ends if end is not None and end <= position]
    last = max(before, default=None)
    return [end is None or end > position or end == last for end in ends]
