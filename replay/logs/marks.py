"""Named marks in a file beside a log: points of it that redo, undo, states, reports and replays
take by name.

The file has a line of JSON for each mark, in the order in which they were made. Of several marks of
one name, ``NAME`` and ``NAME(0)`` are the last one, ``NAME(-1)`` the one before it, and so on;
``NAME.1`` is the first that was made, and keeps its number when others are taken back. In a
store, where nothing can be added to a file, each mark is an object below ``FILE.d``. A mark that is
taken back is another line, so nothing is written twice, and numbers stay.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from replay import storage
from replay.changes.position import Position
from replay.errors import InputError, UsageError, Where, counted
from replay.logs import LogFile
from replay.logs.named import MARKS_BESIDE
from replay.storage import Place, StoredPath

#: What is behind the name of a file in a store, for the folder of the marks that were added.
ADDED = ".d"
_RELATIVE = re.compile(r"(?P<name>.*?)\s*\((?P<back>0|-\d{1,6})\)")
_ABSOLUTE = re.compile(r"(?P<name>.*)\.(?P<number>[1-9]\d{0,5})")
_NAME = re.compile(r"[^\W\d_][\w.@#$ -]{0,62}[\w.@#$]|[^\W\d_]")
_DIGITS = re.compile(r"[0-9A-Fa-f]{12,56}")
_TAKEN = ("start", "end", "before", "after", "none")
_TEXTS = ("source", "kind", "committed", "unit", "made", "by", "note", "removed")
#: Marks that a message names.
_NAMED = 20
_MEND = "Mend or remove the line, or name another file of marks (--marks)"


@runtime_checkable
class KnowsItsPositions(Protocol):
    """A log that says what its commit positions are. Raises no error."""

    @property
    def position_kind(self) -> str:
        """What positions of the log are called: LRSN, RBA, LSN or LOGADDR."""
        ...


@dataclass(frozen=True)
class Mark:
    """A name for a commit position: all that committed there or before lies before the mark.
    ``source`` and ``kind``: of which log it is a position, and what it is; ``unit``: the unit of
    recovery that it was named by, ``committed`` when that was; ``made``: when the mark was made,
    ``by`` whom, with what ``note``; ``number``: among those of its name, from 1 on. ``removed``: a
    line that takes back the mark of this name and number."""

    name: str
    position: Position
    source: str
    kind: str
    committed: str = ""
    unit: str = ""
    made: str = ""
    by: str = ""
    note: str = ""
    removed: str = ""
    number: int = 0

    def line(self) -> str:
        """The mark as a line of its file."""
        told = {"mark": self.name, "position": self.position.hexadecimal}
        told |= {name: text for name in _TEXTS if (text := getattr(self, name))}
        return json.dumps(told, ensure_ascii=False) + "\n"


def check_mark_name(name: str) -> None:
    """UsageError (LR1001) for a name that would be read as something else."""
    if not _NAME.fullmatch(name) or _DIGITS.fullmatch(name) or name.lower() in _TAKEN:
        raise UsageError(
            "LR1001",
            f"found the name {name!r} for a mark; expected up to 64 letters, digits, blanks and"
            f" . _ - @ # $, a letter first, no position, and none of: {', '.join(_TAKEN)}",
        )


def marks_place(log: LogFile, named: str | None) -> Place:
    """The file of marks that a user ``named``, or the one beside the first data file of a log."""
    if named is not None:
        return storage.at(named)
    first = storage.at(log.files[0].name)
    return first.parent / MARKS_BESIDE


def position_kind(log: LogFile) -> str:
    """What the commit positions of a log are."""
    return log.position_kind if isinstance(log, KnowsItsPositions) else "commit position"


def read_marks(place: Place) -> list[Mark]:
    """All marks of a file in the order in which they were made; none where there is no file.
    InputError (LR2040) names the line that is no mark, LR2001 a file that cannot be read."""
    with storage.readable(place, "the marks"):
        parts: list[Place] = [place] if place.is_file() else []
        folder = place.parent / f"{place.name}{ADDED}"
        if isinstance(folder, StoredPath) and folder.is_dir():
            parts += sorted(folder.iterdir(), key=lambda part: part.name)
        marks = [mark for part in parts for mark in _of_text(part, part.read_bytes())]
    gone = {(mark.name, mark.removed) for mark in marks if mark.removed}
    made: Counter[str] = Counter()
    numbered = []
    for mark in marks:
        made[mark.name] += not mark.removed
        if not mark.removed and (mark.name, str(made[mark.name])) not in gone:
            numbered.append(replace(mark, number=made[mark.name]))
    return numbered


def _of_text(place: Place, content: bytes) -> list[Mark]:
    lines = content.split(b"\n")
    if lines[-1]:
        raise _unusable(place, len(lines), "a line without an end", "a whole line for each mark")
    return [_mark(place, number, line) for number, line in enumerate(lines[:-1], 1)]


def _mark(place: Place, number: int, line: bytes) -> Mark:
    try:
        told = json.loads(line)
    except ValueError:
        raise _unusable(place, number, f"{line[:60]!r}", "an object of JSON") from None
    if not isinstance(told, dict) or not isinstance(told.get("mark"), str):
        raise _unusable(place, number, f"{line[:60]!r}", 'an object with "mark": NAME')
    texts: dict[str, Any] = {
        name: value for name, value in told.items() if name not in ("mark", "position")
    }
    for name, value in texts.items():
        if name not in _TEXTS or not isinstance(value, str):
            raise _unusable(place, number, f'"{name}": {value!r}', f"text for {', '.join(_TEXTS)}")
    position = told.get("position")
    if not isinstance(position, str) or not re.fullmatch("[0-9A-Fa-f]{20}", position):
        raise _unusable(place, number, f'"position": {position!r}', "20 hexadecimal digits")
    if not texts.get("source"):
        raise _unusable(place, number, "no source", 'the log that it is of ("source")')
    return Mark(
        told["mark"],
        Position.from_hex(position),
        **{"kind": "commit position", **texts},
    )


def _unusable(place: Place, number: int, found: str, expected: str) -> InputError:
    where = Where(str(place), record=number)
    return InputError("LR2040", f"found {found}; expected {expected}", where, _MEND)


def mark_of(log: LogFile, words: str, place: Place) -> Mark:
    """The mark that ``NAME``, ``NAME(0)``, ``NAME(-1)``, ``NAME.1`` … means. UsageError (LR1004)
    for one that is not there, LR1001 for one of another log or of two readings; errors as
    :func:`read_marks`."""
    known = read_marks(place)
    mark = known[named_mark(known, words, place)]
    for what, its, mine in (
        ("of another log", mark.source, log.source),
        ("of positions of another kind", mark.kind, position_kind(log)),
    ):
        if its != mine:
            raise UsageError(
                "LR1001",
                f"found the mark {words!r} {what} ({its}); expected one of {mine}",
                Where(str(place)),
            )
    return mark


def named_mark(known: Sequence[Mark], words: str, place: Place) -> int:
    """Which of the marks of a file ``NAME``, ``NAME(0)``, ``NAME(-1)``, ``NAME.1`` … means.
    UsageError (LR1004) for one that is not there, LR1001 for what two readings have."""
    name, back = words.strip(), 0
    match = _RELATIVE.fullmatch(name)
    if match:
        name, back = match["name"].strip(), -int(match["back"])
    same = [number for number, mark in enumerate(known) if mark.name == name]
    if not match and (absolute := _ABSOLUTE.fullmatch(name)):
        wanted = (absolute["name"], absolute["number"])
        numbered = [at for at, one in enumerate(known) if (one.name, str(one.number)) == wanted]
        if same and numbered:
            raise UsageError(
                "LR1001",
                f"found {words!r}, which is the name of a mark in {place} and a number of the mark"
                f" {wanted[0]!r}; expected one of them",
                hint=f"Say '{name}(0)' for the mark of that name, '{wanted[0]}(-1)' … for others",
            )
        same = same or numbered
    if back >= len(same):
        raise UsageError("LR1004", _not_there(words, name, len(same), place), hint=_those(known))
    return same[-1 - back]


def _not_there(words: str, name: str, count: int, place: Place) -> str:
    if not count:
        return f"found no mark {name!r} in {place}"
    return f"found {words!r}, and {counted(count, 'mark')} {name!r} in {place}; expected no more"


def _those(known: Sequence[Mark]) -> str:
    counts: dict[str, int] = {}
    for mark in known:
        counts[mark.name] = counts.get(mark.name, 0) + 1
    shown = [f"{name} ({n})" if n > 1 else name for name, n in sorted(counts.items())]
    more = f", … ({len(shown) - _NAMED} more)" if len(shown) > _NAMED else ""
    return f"Marks: {', '.join(shown[:_NAMED]) or 'none'}{more}"


# -- adding and taking back
# -------------------------------------------------------------------------------------------------


def add_mark(place: Place, mark: Mark) -> None:
    """Write a mark behind those that are there. UsageError (LR1001) for its name, LR1002 for a
    place that is a folder; InputError (LR2040) where what is there is no file of marks: nothing is
    added to it then. Raises OSError."""
    check_mark_name(mark.name)
    if place.is_dir():
        raise UsageError("LR1002", "found a folder; expected a file of marks", Where(str(place)))

    def checked() -> Mark:
        read_marks(place)
        return mark

    _write(place, checked)


def remove_mark(place: Place, words: str) -> Mark:
    """Take back the mark that ``NAME``, ``NAME(-1)``, ``NAME.1`` … means; the mark. Those of that
    name that are older are nearer then. UsageError (LR1004) where it is not there; InputError as
    :func:`read_marks`. Raises OSError."""

    def chosen() -> Mark:
        known = read_marks(place)
        mark = known[named_mark(known, words, place)]
        return replace(mark, removed=str(mark.number))

    chosen()  # before a file is made
    return _write(place, chosen)


def _write(place: Place, made: Callable[[], Mark]) -> Mark:
    """Write a mark, behind a lock where there are files; without a buffer, so a reader sees a line
    whole or not at all."""
    if isinstance(place, StoredPath):
        mark = made()
        moment = "".join(letter for letter in mark.made if letter.isalnum())
        name = f"{moment}-{os.urandom(8).hex()}.jsonl"
        storage.put(mark.line().encode(), place.parent / f"{place.name}{ADDED}" / name)
        return mark
    with place.open("ab", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        mark = made()
        file.write(mark.line().encode())
        os.fsync(file.fileno())
    return mark
