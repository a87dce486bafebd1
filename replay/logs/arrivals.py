"""Which logs of a folder have arrived: pairs (or files) that nobody writes any more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

from replay import storage
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


class Ahead:
    """Files with a time of change ahead of this machine's clock, as a sender's clock or a clock
    that was set back leaves them: since when each was seen as it is, by ``clock`` (seconds), a
    clock that nobody sets."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since: dict[str, tuple[tuple[int, int], float]] = {}

    def still(self, place: str, state: tuple[int, int], settle: float) -> bool:
        """Whether a file was seen in this state (size, time) for so many seconds."""
        now = self._clock()
        known = self._since.get(place)
        if known is None or known[0] != state:
            known = self._since[place] = (state, now)
        return now - known[1] >= settle


def arrived(
    folder: str,
    family: Family,
    how: Arrival,
    settle: float,
    now: float,
    ahead: Ahead | None = None,
    wait: Callable[[float], object] | None = None,
) -> Arrived:
    """Look at a folder. ``how`` files are known to be whole: by ``NAME.done`` beside the control
    file or the file, by not having been changed for ``settle`` seconds before ``now`` (since 1970),
    or by their name alone, where they are renamed when they are whole. A ``folder`` may be the
    beginning of names in a store, whose objects appear whole; one that tells no times of changes
    has no others. Of files whose time is later than ``now``, looks that share ``ahead`` tell
    whether they change; ``wait``: wait so many seconds for that, and look once more. Raises
    OSError."""
    ahead = ahead or Ahead(lambda: 0.0)
    whole_files: dict[str, tuple[int, int]] = {}
    waiting: list[str] = []
    unsure = False
    entries = {file.name: file for file in storage.files_in(storage.at(folder))}
    for name, file in entries.items():
        lower, place = name.lower(), str(file.place)
        if name.startswith(".") or lower.endswith((MARKER, *_OTHERS)) or name == MARKS_BESIDE:
            continue
        as_it_is = file.size, file.changed_ns or 0
        age = now - as_it_is[1] / 1e9
        if lower.endswith(UNDERWAY):
            still = False
        elif how is not Arrival.STABLE:
            still = True
        elif age < 0:
            still = ahead.still(place, as_it_is, settle)
            unsure |= not still
        else:
            still = age >= settle
        if still:
            whole_files[place] = as_it_is
        else:
            waiting.append(place)
    if unsure and wait is not None:
        wait(settle)
        return arrived(folder, family, how, settle, now + settle, ahead)
    names = sorted(whole_files, key=natural)
    if "control" not in family.takes:
        files = [name for name in names if _marked(name, how, entries)]
        known = set(files)
        waiting += [name for name in names if name not in known]
        state = tuple((name, *whole_files[name]) for name in files)
        return Arrived((), tuple(files), tuple(waiting), state)
    with ThreadPoolExecutor(storage.REQUESTS) as pool:
        begun = pool.map(_is_control, names, (whole_files[name] for name in names))
        known_controls = [name for name, control in zip(names, begun, strict=True) if control]
    controls = [name for name in known_controls if _marked(name, how, entries)]
    known = set(controls)
    data = [name for name in names if name not in known]
    found = fitting(controls, data)
    pairs = [LogPair(control, tuple(files)) for control, files in found.items() if files]
    taken = {name for pair in pairs for name in (pair.control, *pair.data)}
    waiting += [name for name in names if name not in taken]
    state = tuple((name, *whole_files[name]) for name in names if name in taken)
    return Arrived(tuple(pairs), (), tuple(waiting), state)


@lru_cache(maxsize=1 << 17)
def _is_control(path: str, state: tuple[int, int]) -> bool:
    """Whether a file is a control file, asked once as long as it is the same one."""
    return is_control(path)


def _marked(path: str, how: Arrival, entries: Collection[str]) -> bool:
    """Whether a file is marked as whole, where files are: ``NAME.done`` with its name, with or
    without what is behind the dot."""
    if how is not Arrival.MARKER:
        return True
    name = storage.name_of(path)
    return name + MARKER in entries or name.partition(".")[0] + MARKER in entries


def stated_end(pair: LogPair, known: dict[bytes, Catalog]) -> Position | None:
    """Where the control file of a log states that it ends. ``known`` keeps what logs tell of their
    tables, which is mostly the same. InputError as
    :func:`replay.logs.logmaster.control.read_control`."""
    end = read_control(whole(pair.control), pair.control, None, {}, known).end.get("ENDRBA")
    return None if end in (None, LOWEST, HIGHEST) else Position(end)


def still_needed(
    ends: Sequence[Position | None],
    position: Position | None,
    held: Collection[int] | None,
) -> list[bool]:
    """Which logs, by where they end, a target at a position still needs: those that go beyond it,
    the last one before it (which shows that nothing is missing between), those that do not say, and
    all from the first one on that holds what is set aside. ``held``: the places of these among the
    logs (None: not known, so that all are needed)."""
    if position is None or held is None:
        return [True] * len(ends)
    since: list[Position] = []
    for place in held:
        end = ends[place]
        if end is None:  # nothing tells which logs come before it
            return [True] * len(ends)
        since.append(end)
    last = max((end for end in ends if end is not None and end <= position), default=None)
    first = min(since if last is None else [*since, last], default=None)
    return [end is None or end > position or (first is not None and end >= first) for end in ends]


def places_held(
    digests: Sequence[str], pending: bool, named: frozenset[str] | None
) -> list[int] | None:
    """Which logs, by their digests, hold what is set aside: those that are ``named``. None where
    that is not known: nothing names them, or one of them is gone."""
    if not pending:
        return []
    if not named or not named <= set(digests):
        return None
    return [place for place, digest in enumerate(digests) if digest in named]
