"""Which logs of a folder have arrived: pairs (or files) that nobody writes any more, and that none
which is still on its way comes before."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache

from replay import storage
from replay.changes.catalog import Catalog
from replay.changes.choices import Arrival
from replay.changes.position import HIGHEST, LOWEST, Position
from replay.logs import Family, LogPair
from replay.logs.files import control_names, whole
from replay.logs.logmaster.control import read_control
from replay.logs.named import MARKS_BESIDE, fitting, is_control, natural

#: What marks a file that is whole, and what one that is not.
MARKER, UNDERWAY = ".done", (".part", ".tmp", ".filepart")
_OTHERS = (".toml", ".md", ".json", ".txt")


@dataclass(frozen=True)
class Arrived:
    """What is whole: ``pairs`` of Log Master, ``log`` files of other families; ``waiting``: files
    that are not, or lack their other half. ``state`` changes whenever a whole file does.
    ``under_way``: (control file, time of change) of pairs of which it is there and something else
    is not whole, ``held``: whole logs that come behind one of these."""

    pairs: tuple[LogPair, ...]
    log: tuple[str, ...]
    waiting: tuple[str, ...]
    state: tuple[tuple[str, int, int], ...]
    under_way: tuple[tuple[str, int], ...] = ()
    held: tuple[str, ...] = ()


def arrived(
    folder: str,
    family: Family,
    how: Arrival,
    settle: float,
    now: float,
) -> Arrived:
    """Look at a folder. ``how`` files are known to be whole: by ``NAME.done`` beside the control
    file or the file, by not having been changed for ``settle`` seconds before ``now`` (since 1970),
    or by their name alone, where they are renamed when they are whole. A ``folder`` may be the
    beginning of names in a store, whose objects appear whole; one that tells no times of changes
    has no others. A file whose time is later than ``now`` is not whole before it (unless ``settle``
    is 0). Raises OSError."""
    whole_files: dict[str, tuple[int, int]] = {}
    underway: dict[str, tuple[int, int]] = {}
    entries = {file.name: file for file in storage.files_in(storage.at(folder))}
    for name, file in entries.items():
        lower, place = name.lower(), str(file.place)
        if name.startswith(".") or lower.endswith((MARKER, *_OTHERS)) or name == MARKS_BESIDE:
            continue
        as_it_is = file.size, file.changed_ns or 0
        is_still = how is not Arrival.STABLE or not settle or now - as_it_is[1] / 1e9 >= settle
        if is_still and not lower.endswith(UNDERWAY):
            whole_files[place] = as_it_is
        else:
            underway[place] = as_it_is
    names = sorted(whole_files, key=natural)
    if "control" not in family.takes:
        marked = {name for name in names if _marked(name, how, entries)}
        waiting = [*underway, *(name for name in names if name not in marked)]
        held = {name for name in marked if any(_comes_before(one, name) for one in waiting)}
        files = [name for name in names if name in marked - held]
        state = tuple((name, *whole_files[name]) for name in files)
        return Arrived((), tuple(files), (*waiting, *sorted(held)), state, (), tuple(sorted(held)))
    states = {**whole_files, **underway}
    every = sorted(states, key=natural)
    with ThreadPoolExecutor(storage.REQUESTS) as pool:
        begun = pool.map(_is_control, every, (states[name] for name in every))
        controls = [name for name, control in zip(every, begun, strict=True) if control]
    known = set(controls)
    found = fitting(controls, [name for name in every if name not in known])
    pairs, partial = [], []
    for control, data in found.items():
        there = all(name in whole_files for name in (control, *data))
        if data and there and _marked(control, how, entries):
            pairs.append(LogPair(control, tuple(data)))
        else:
            partial.append((control, states[control][1]))
    taken = {name for pair in pairs for name in (pair.control, *pair.data)}
    state = tuple((name, *whole_files[name]) for name in names if name in taken)
    waiting = [*underway, *(name for name in names if name not in taken)]
    return Arrived(tuple(pairs), (), tuple(waiting), state, tuple(partial))


def _comes_before(one: str, other: str) -> bool:
    """Whether a file that is on its way comes before another one: their names differ in numbers
    alone, and the numbers say so."""
    names = [_underway_name(one), storage.name_of(other)]
    shapes = {re.sub(r"\d+", "0", name) for name in names}
    return len(shapes) == 1 and natural(names[0]) < natural(names[1])


def _underway_name(place: str) -> str:
    name = storage.name_of(place)
    ending = next((ending for ending in UNDERWAY if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)]


def in_turn(found: Arrived, ends: Mapping[str, Position | None]) -> Arrived:
    """The same without the pairs that end behind one that is not whole: logs are taken in the order
    of their positions. ``ends``: where control files say that their logs end."""
    low = min((end for one, _ in found.under_way if (end := ends[one]) is not None), default=None)
    if low is None:
        return found
    held = [pair for pair in found.pairs if (end := ends[pair.control]) is not None and end > low]
    files = {name for pair in held for name in (pair.control, *pair.data)}
    return replace(
        found,
        pairs=tuple(pair for pair in found.pairs if pair.control not in files),
        waiting=(*found.waiting, *sorted(files)),
        state=tuple(entry for entry in found.state if entry[0] not in files),
        held=tuple(pair.control for pair in held),
    )


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


def stated_end(control: str, known: dict[bytes, Catalog]) -> Position | None:
    """Where a control file states that its log ends. ``known`` keeps what logs tell of their
    tables, which is mostly the same. InputError as
    :func:`replay.logs.logmaster.control.read_control`."""
    end = read_control(whole(control), control, None, {}, known).end.get("ENDRBA")
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
    logs: Sequence[str], pending: bool, named: Collection[str] | None
) -> list[int] | None:
    """Which logs, by how their names begin, hold what is quarantined: those that are ``named``.
    None where that is not known: nothing names them, or one of them is gone."""
    if not pending:
        return []
    known = control_names(named or ())
    found = [place for place, name in enumerate(logs) if known[name]]
    return found if named and len(found) >= len(named) else None
