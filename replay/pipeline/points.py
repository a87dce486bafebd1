"""Points of a log as people name them: the one reader, for states, reports and replays."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from replay.changes.notation import position_of, time_of
from replay.changes.position import HIGHEST, LOWEST, Position
from replay.engine.contract import Engine
from replay.errors import UsageError
from replay.logs import LogFile
from replay.logs.record_facts import resolve_position
from replay.pipeline.extent import log_extent
from replay.pipeline.resolve_positions import check_zone, marks_with

_DIGITS = re.compile(r"(?:X'|0[Xx])?[0-9A-Fa-f]{12,56}'?")
_TIME = re.compile(r"\d{4}-\d\d-\d\d")

#: Gives the marks of a live database; None: there is none.
Marks = Callable[[], Mapping[str, Position] | None]


@dataclass(frozen=True)
class Point:
    """A point of a log: everything that committed at ``position`` or before. ``text``: as it was
    asked for. ``outside``: what is said of one that the log does not reach. ``time``: 17 packed
    bytes, where a time was asked for."""

    position: Position
    text: str
    outside: tuple[str, ...] = ()
    time: bytes | None = None

    @property
    def hexadecimal(self) -> str:
        """The position as changes have it."""
        return self.position.hexadecimal

    @property
    def in_words(self) -> str:
        """The point as it was asked for, and its position where that says more."""
        at = self.hexadecimal
        same = at.lstrip("0") == self.text.upper().lstrip("0")
        is_end = self.position in (LOWEST, HIGHEST)
        return self.text if same or is_end else f"{self.text} ({at})"


def read_point(
    log: LogFile,
    text: str,
    marks: str | None = None,
    engine: Engine | None = None,
    split_bytes: int | None = None,
    kept: Marks = lambda: None,
    reached: bool = True,
) -> Point:
    """A point as people name it: a commit position, a time, ``start``, ``end``, or a mark: of a
    live database (``kept``), or of the file ``marks`` (None: the one beside the log). ``reached``:
    whether the log reaches a position is asked, for which all headers are read. UsageError
    (LR1001, LR1004) for other text; errors as :func:`replay.logs.marks.mark_of`."""
    words = text.strip()
    if words.lower() in ("start", "end"):
        return Point(LOWEST if words.lower() == "start" else HIGHEST, words)
    if _TIME.match(words):
        moment = time_of(words, True)
        check_zone(moment, log)
        return _at_time(log, moment, words, engine, split_bytes)
    if _DIGITS.fullmatch(words):
        placed = resolve_position(log, position_of(words), True)
    else:
        placed = _mark(log, text, marks, kept)
    assert placed is not None
    if not reached:
        return Point(placed, words)
    extent = log_extent(log, None, engine, split_bytes)
    return Point(placed, words, extent.outside(words, placed))


def _mark(log: LogFile, text: str, marks: str | None, kept: Marks) -> Position:
    """The position of a mark; errors as :func:`read_point`."""
    words = text.strip()
    try:
        return marks_with(kept(), words, log, marks)[words]
    except UsageError as error:
        if error.code != "LR1004":
            raise
        raise UsageError(
            "LR1001",
            f"found the point {text!r}; expected a commit position (20 digits), a time (YYYY-MM-DD"
            " HH:MM:SS), start, end, or a mark",
            hint=f"{error.message[0].upper()}{error.message[1:]}. {error.hint}",
        ) from None


def _at_time(
    log: LogFile, moment: bytes, text: str, engine: Engine | None, split_bytes: int | None
) -> Point:
    """The last position of which all that committed is not later than a time."""
    extent = log_extent(log, moment, engine, split_bytes)
    if extent.earliest is None:
        raise UsageError(
            "LR1001", "found a time with a log that has no commit times; expected a commit position"
        )
    position = HIGHEST if extent.late is None else extent.late.below
    return Point(position, text, extent.outside(text, None, moment), moment)
