"""The lines of a script, put together by machine code: statements are picked from where they were
made, and get the heads of units, what is noted behind them, and their checks in the same pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.changes.envelope import Envelope
from replay.logs import LogFile
from replay.native import script_lines_tables as tables
from replay.native.kernels import PUT_LINES
from replay.native.machine_code import available
from sqlgen.dialects import Profile
from sqlgen.lazy_imports import when_used
from sqlgen.script import unit_comments, unit_names

with when_used():
    from sqlgen import row_checks

Places = npt.NDArray[np.int32]

#: What a comment of a unit begins with, and one of a change.
_BEGIN, _TRACE = "-- unit", " --"


@dataclass(frozen=True)
class UnitComments:
    """The comment line of each of ``n`` units, and where in their bytes the names of the units
    end (``int32[n]``): they begin behind the words ``-- unit``."""

    text: pa.StringArray
    name_ends: Places

    def names(self) -> tuple[Places, Places]:
        """Where in the bytes of the comments the names lie that
        :func:`sqlgen.script.unit_names` makes."""
        _, places = parts_of(self.text)
        return places[:-1] + np.int32(len(_BEGIN) + 1), self.name_ends


def comments_of(log: LogFile, first: Envelope) -> UnitComments:
    """The comments of units, from the ``first`` record of each."""
    text = log.unit_fields(first)
    comments = unit_comments(text)
    return UnitComments(comments, _name_ends(comments, text))


def traces_of(log: LogFile, changes: Envelope) -> pa.StringArray:
    """What ``--trace`` says behind each of some changes."""
    return pc.binary_join_element_wise(f"{_TRACE} ", log.trace(changes), "")


def _name_ends(comments: pa.StringArray, fields: Mapping[str, pa.Array]) -> Places:
    _, places = parts_of(comments)
    sizes = pc.binary_length(unit_names(fields)).to_numpy().astype(np.int32)
    return np.asarray(places[:-1] + np.int32(len(_BEGIN) + 1) + sizes)


def parts_of(text: pa.StringArray) -> tuple[Bytes, Places]:
    """The bytes of a string array, and where in them each text begins (``int32[n + 1]``)."""
    _, offsets, data = text.buffers()
    places: Places = np.frombuffer(offsets, np.int32)
    octets = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return octets, places[text.offset : text.offset + len(text) + 1]


_SLOTS = {"": tables.NOTHING, "unit": tables.UNIT, "statement": tables.NUMBER}
#: Bytes of lines that are put together at a time: they are still near the processor when they are
#: digested and written.
_AT_ONCE = 1 << 21
#: Digits of a number at most.
_DIGITS = 20
_NONE: Bytes = np.zeros(0, np.uint8)
_NO_PIECES: Index = np.zeros((0, tables.PIECE), np.int64)


class _Pieces(NamedTuple):
    """What stands beside the statements of a dialect: the table of pieces and the pool of their
    texts, and how often the name of a unit is in it."""

    table: Index
    pool: Bytes
    names: int


@lru_cache(maxsize=64)
def _pieces_of(profile: Profile) -> _Pieces:
    """Those of a dialect that checks statements."""
    texts = row_checks.check_texts(profile)
    assert texts is not None
    rows, pool = [], b""
    for part, pieces in (
        (tables.OPENING, texts.opening),
        (tables.LABEL, texts.label),
        (tables.CHECK, texts.check),
        (tables.CLOSING, texts.closing),
    ):
        for text, slot in pieces:
            start, pool = len(pool), pool + text.encode()
            rows.append((part, start, len(pool), _SLOTS[slot]))
    table = np.array(rows, np.int64).reshape(len(rows), tables.PIECE)
    names = int((table[:, tables.SLOT] == tables.UNIT).sum())
    return _Pieces(table, np.frombuffer(pool, np.uint8), names)


@dataclass(frozen=True)
class Checks:
    """What says that statements touch one row (:mod:`sqlgen.row_checks`): what each of ``n`` lines
    ``needs`` (bits of :mod:`replay.native.script_lines_tables`), and the number of each in its
    unit (``int64[n]``)."""

    needs: Bytes
    numbers: Index
    profile: Profile

    @classmethod
    def of(cls, checked: Mask, numbers: Index, profile: Profile) -> Checks | None:
        """Those of the lines that are ``checked``; None where the dialect has none."""
        if profile.row_check is None:
            return None
        opens, closes = row_checks.block_ends(checked, numbers, profile)
        needs = checked * np.uint8(tables.CHECKED) | opens * np.uint8(tables.OPENS)
        needs |= closes * np.uint8(tables.CLOSES)
        return cls(needs, np.ascontiguousarray(numbers), profile)


@dataclass(frozen=True)
class Begins:
    """Where units begin (``starts``, rising rows), their comments, and which of the texts of
    ``frame`` stand before each, by the masks :attr:`commits`, ``told`` (the comment), ``begins``
    and ``defers``. ``frame``: the end of a transaction, its begin, and what has foreign keys
    wait, a line each or nothing."""

    starts: Index
    comments: UnitComments
    frame: tuple[str, str, str]
    commits: Mask
    told: Mask
    begins: Mask
    defers: Mask

    def texts(self) -> pa.StringArray:
        """What stands before each."""
        commit, begin, defer = self.frame
        return pc.binary_join_element_wise(
            pc.if_else(self.commits, commit, ""),
            pc.if_else(self.told, pc.binary_join_element_wise(self.comments.text, "\n", ""), ""),
            pc.if_else(self.begins, begin, ""),
            pc.if_else(self.defers, defer, ""),
            "",
        )

    def bits(self) -> Bytes:
        """The masks as :mod:`replay.native.script_lines_tables` has them."""
        bits: Bytes = self.commits * np.uint8(tables.COMMITS) | self.told * np.uint8(tables.TOLD)
        return bits | self.begins * np.uint8(tables.BEGINS) | self.defers * np.uint8(tables.DEFERS)


class ScriptLines:
    """Puts lines together, again and again in the same place."""

    def __init__(self) -> None:
        self._room = np.empty(0, np.uint8)

    def put(
        self,
        text: pa.StringArray,
        picked: Index,
        begins: Begins,
        notes: pa.StringArray | None,
        checks: Checks | None,
    ) -> Iterator[Bytes]:
        """The texts ``picked`` as lines, each with its ``notes`` and ``checks``, and what stands
        before units, some lines at a time; each time what was put together before is gone."""
        put = available(PUT_LINES)
        assert put is not None
        texts, places = parts_of(text)
        comments, comment_places = parts_of(begins.comments.text)
        frame = [part.encode() for part in begins.frame]
        starts, before = np.ascontiguousarray(begins.starts), begins.bits()
        room = (places[picked + 1] - places[picked]).astype(np.int64) + 1
        room[starts] += np.diff(comment_places) + 1 + sum(map(len, frame))
        nowhere = np.zeros(0, np.int32)
        behind = _NONE, nowhere
        if notes is not None:
            behind = parts_of(notes)
            room += np.diff(behind[1])
        beside: tuple[object, ...]
        beside = _NONE, np.zeros(0, np.int64), nowhere, nowhere, _NO_PIECES, _NONE
        if checks is not None:
            low, high = begins.comments.names()
            table, pool, slots = _pieces_of(checks.profile)
            longest = int((high - low).max(initial=0))
            room += len(pool) + slots * longest + len(table) * _DIGITS
            beside = checks.needs, checks.numbers, low, high, table, pool
        framed = np.frombuffer(b"".join(frame), np.uint8), np.cumsum([len(part) for part in frame])
        of_units = (starts, before, *framed, comments, comment_places)
        ends = np.cumsum(room)
        first, reached = 0, 0
        while first < len(picked):
            last = max(int(np.searchsorted(ends, reached + _AT_ONCE, side="right")), first + 1)
            needed = int(ends[last - 1]) - reached
            if len(self._room) < needed:
                self._room = np.empty(max(needed, min(int(ends[-1]), _AT_ONCE)), np.uint8)
            rows = first, last, int(np.searchsorted(starts, first))
            size = put(texts, places, picked, *of_units, *behind, *beside, *rows, self._room)
            assert size <= needed
            yield self._room[:size]
            first, reached = last, int(ends[last - 1])


def available_here() -> bool:
    """Whether there is the machine code."""
    return available(PUT_LINES) is not None
