"""The text of one script: its lines, put together by machine code (statements are picked from where
they were made, and get the heads of units, what is noted behind them, and their checks in the same
pass), and the file that begins a target transaction where a unit (or a group of units) begins.

The commit of a transaction is written when the next one begins or the file ends, so a unit that
turns out to be damaged can be cut off again as if it had never been there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.changes.envelope import Envelope
from replay.changes.options import ScriptOptions
from replay.errors import Refusal
from replay.logs import LogFile
from replay.native import script_lines_tables as tables
from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import when_used
from sqlgen.script import unit_comments, unit_names

if TYPE_CHECKING:
    from sqlgen.clients.form import ScriptForm

with when_used():  # what some scripts alone need
    from replay.native import kernels, machine_code
    from replay.output import steps as step_files
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
        put = machine_code.available(kernels.PUT_LINES)
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
    return machine_code.available(kernels.PUT_LINES) is not None


@dataclass(frozen=True)
class Written:
    """Statements in the order of the script: ``text`` one per row (of :attr:`Sink.quick` sinks,
    ``picked`` may be the places in ``text`` that are the rows, ``notes`` what stands behind the
    statement of each, and ``checks`` its checks), ``starts`` the rows where a unit begins,
    ``comments`` the comment line of each and ``defers`` whether its foreign keys must wait for its
    end, ``unit`` and ``group`` the number of the unit and of its target transaction per row,
    ``sources`` the changes behind the statements where the script gets steps; ``spoken``: which
    rows are statements, None where all are.
    """

    text: pa.Array
    starts: Index
    comments: UnitComments
    defers: Mask
    unit: Index
    group: Index
    sources: step_files.Sources | None = None
    spoken: Mask | None = None
    picked: Index | None = None
    notes: pa.StringArray | None = None
    checks: Checks | None = None


@dataclass
class _ScriptState:
    """The last unit and transaction, whether that is open, and how many units and statements it
    has."""

    unit: int = -1
    group: int = -1
    open: bool = False
    units: int = 0
    statements: int = 0


@dataclass(frozen=True)
class ScriptPace:
    """A transaction ends with the unit with which it has ``units`` or ``statements``."""

    units: int
    statements: int


def pace_of(options: ScriptOptions) -> ScriptPace | None:
    """The pace where statements count; None where each unit has the number of its transaction."""
    if options.commit_statements is None:
        return None
    units = options.commit_every if options.commit_every > 1 else 1 << 62
    return ScriptPace(units, options.commit_statements)


class Sink:
    """Writes one script file, made when the first statement arrives. ``prologue`` is the text at
    its head; ``steps``: also what :mod:`replay.output.steps` describes; ``pace``: how many units
    share a transaction, where their number does not say it; ``form``: that of the client that runs
    the script, None for plain SQL."""

    def __init__(
        self,
        path: Path,
        profile: Profile,
        prologue: str,
        steps: bool = False,
        pace: ScriptPace | None = None,
        form: ScriptForm | None = None,
    ) -> None:
        self.pace, self.form = pace, form
        self.path, self.profile, self.prologue = path, profile, prologue
        self.steps = step_files.StepWriter(path) if steps else None
        self.file: IO[bytes] | None = None
        self.digest = hashlib.sha256()
        self.size = 0
        self._state = _ScriptState()
        self._lines = ScriptLines()
        self._marked: tuple[int, Any, _ScriptState] = (0, self.digest.copy(), _ScriptState())

    @property
    def quick(self) -> bool:
        """Whether machine code may pick the statements from where they were made."""
        return self.steps is None and available_here()

    def write(self, part: Written) -> None:
        """Append statements."""
        begin, commit = (
            f"{words}\n" if words else "" for words in (self.profile.begin, self.profile.commit)
        )
        state = self._state
        unit, group = part.unit[part.starts], part.group[part.starts]
        units, statements = 0, 0
        if self.pace is not None:
            group, units, statements = self._paced(self.pace, part, unit)
        new_unit = np.ones(len(unit), bool)
        new_unit[0] = int(unit[0]) != state.unit
        new_group = np.ones(len(unit), bool)
        new_group[1:] = group[1:] != group[:-1]
        new_group[0] = int(group[0]) != state.group
        closes = new_group.copy()
        closes[0] &= state.open
        # a session of ours decides itself what waits, and counts what it is sent
        defers = part.defers if self.steps is None else np.zeros(len(unit), bool)
        frame = commit, begin, f"{self.profile.defer}\n"
        begins = Begins(part.starts, part.comments, frame, closes, new_unit, new_group, defers)
        state = _ScriptState(int(unit[-1]), int(group[-1]), True, units, statements)
        if part.picked is not None:
            for lines in self._lines.put(part.text, part.picked, begins, part.notes, part.checks):
                self._put(lines)
            self._state = state
            return
        heads = begins.texts()
        place = np.full(len(part.text), len(heads), np.int64)
        place[part.starts] = np.arange(len(heads))
        prefix = pa.concat_arrays([heads, pa.array([""])]).take(pa.array(place))
        if self.steps is not None and part.sources is not None:
            self._step(self.steps, prefix, part)
        self._put(_bytes_of(pc.binary_join_element_wise(prefix, part.text, "\n", "")))
        self._state = state

    def _paced(self, pace: ScriptPace, part: Written, unit: Index) -> tuple[Index, int, int]:
        """(the transaction of each unit of ``part``, units and statements of the last one)."""
        state = self._state
        spoken = np.ones(len(part.unit), bool) if part.spoken is None else part.spoken
        before = np.concatenate([[0], np.cumsum(spoken)])[np.append(part.starts, len(spoken))]
        lengths = np.diff(before)
        group = np.zeros(len(unit), np.int64)
        number, units, statements = max(state.group, 0), state.units, state.statements
        place = 0
        if int(unit[0]) == state.unit:
            group[0], statements, place = number, statements + int(lengths[0]), 1
        while place < len(unit):
            if units >= pace.units or statements >= pace.statements:
                number, units, statements = number + 1, 0, 0
            full = np.searchsorted(
                before[place + 1 :], before[place] + pace.statements - statements
            )
            end = min(place + int(full) + 1, place + pace.units - units, len(unit))
            group[place:end] = number
            units += end - place
            statements += int(before[end] - before[place])
            place = end
        return group, units, statements

    def knows(self, shapes: Mapping[str, str]) -> None:
        """Statements that the script executes by name."""
        if self.steps is not None:
            self.steps.shapes.update(shapes)

    def _step(self, steps: step_files.StepWriter, prefix: pa.Array, part: Written) -> None:
        before, size = (
            pc.binary_length(array).to_numpy().astype(np.int64) for array in (prefix, part.text)
        )
        base = self.size if self.file is not None else len(self.prologue.encode())
        end = base + np.cumsum(before + size + 1)
        rows = slice(None) if part.spoken is None else np.flatnonzero(part.spoken)
        if part.sources is not None and len(size[rows]):
            steps.write((end - 1 - size)[rows], size[rows], part.sources)

    def mark(self) -> None:
        """Remember this place: :meth:`cut_back` returns to it."""
        if self.steps is not None:
            self.steps.mark()
        self._marked = (self.size, self.digest.copy(), replace(self._state))

    def cut_back(self) -> None:
        """Forget everything written since :meth:`mark`."""
        size, digest, self._state = self._marked
        if self.steps is not None:
            self.steps.cut_back()
        self.digest = digest
        if self.file is not None:
            if size == 0:
                self.file.close()
                self.file = None
                self.path.unlink()
            else:
                self.file.seek(size)
                self.file.truncate()
        self.size = size

    def close(self) -> None:
        """Commit what is open and close the file."""
        if self._state.open and self.profile.commit:
            self._put((self.profile.commit + "\n").encode())
        if self.file is not None:
            self.file.close()
        if self.steps is not None:
            self.steps.close()

    def _put(self, data: Any) -> None:
        if self.file is None:
            self.file = self.path.open("wb")
            head = self.prologue.encode()
            self._append(head if self.form is None else self.form.head(self.prologue))
        self._append(data if self.form is None else self._formed(self.form, data))

    def _formed(self, form: ScriptForm, data: Any) -> bytes:
        """Lines as the client of the script reads them. Refusal (LR3001, LR3003) for what it
        cannot."""
        try:
            return form(bytes(data))
        except SqlgenError as error:
            assert self.file is not None
            self.file.close()
            raise Refusal(error.code, error.message, hint=error.hint) from error

    def _append(self, data: Any) -> None:
        assert self.file is not None
        self.file.write(data)
        self.digest.update(data)
        self.size += len(data)


def _bytes_of(text: pa.Array) -> memoryview:
    """The characters of a string array without copying: the data buffer of the array *is* the
    text."""
    _, offsets, data = text.buffers()
    if data is None:
        return memoryview(b"")
    bounds = np.frombuffer(offsets, np.int32)
    return memoryview(data)[int(bounds[text.offset]) : int(bounds[text.offset + len(text)])]
