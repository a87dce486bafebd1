"""Where the text of one script goes: a file that begins a target transaction where a unit (or a
group of units) begins.

The commit of a transaction is written when the next one begins or the file ends, so a unit that
turns out to be damaged can be cut off again as if it had never been there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Index, Mask
from replay.changes.options import ScriptOptions
from replay.errors import Refusal
from replay.output.script_lines import Begins, Checks, ScriptLines, UnitComments, available_here
from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import when_used

if TYPE_CHECKING:
    from sqlgen.clients.form import ScriptForm

with when_used():  # what some scripts alone need
    from replay.output import steps as step_files


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
