"""The steps of a script: where each statement stands in its text and which change of the log it
comes from, for those who run it.

Two files of fixed-width rows lie beside a script: ``.steps`` (dtype :data:`STEP`, one row a
statement, in order) and ``.records`` (dtype :data:`replay.changes.envelope.RECORD`, the log records
behind them, all segments of a change in a row). Both are written as the script is and mapped when
they are read, so that a unit of any size takes no memory. A third, ``.shapes``, holds the
statements that the script executes by name, as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from replay.arrays import Bytes, Index, Mask, Records, Versions, take_rows
from replay.changes.envelope import RECORD, WHOLE_TABLE
from replay.changes.position import UNIT_POSITION, UnitPosition, unit_positions
from replay.dependencies.unique_order import OF_TWO
from replay.pipeline.partition import ChunkChanges

#: ``start``/``size`` are bytes of the script (without the line's end), ``version`` and ``change``
#: as in :class:`replay.pipeline.partition.ChunkChanges`, ``head``/``weight`` rows of the records
#: file, ``part`` what it does of the change
#: (:class:`replay.dependencies.unique_order.StatementPart`). The rows of the last change that a
#: statement stands for follow those of its first: ``last_weight`` of them, of the kind
#: ``last_change``; both are 0 for every statement of one change.
STEP = np.dtype(
    [
        ("key", UNIT_POSITION),
        ("start", "<i8"),
        ("size", "<i4"),
        ("version", "<i4"),
        ("change", "u1"),
        ("weight", "<u2"),
        ("head", "<i8"),
        ("part", "u1"),
        ("last_change", "u1"),
        ("last_weight", "<u2"),
    ]
)

#: By kind of change: whether its statement must touch exactly one row.
_COUNTED = ~np.isin(np.arange(256), WHOLE_TABLE)
#: Steps looked at together where unit boundaries are searched.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Sources:
    """The changes behind a batch of statements, in their order: ``records`` with all segments,
    ``weight`` how many each change has; the others as in :data:`STEP`."""

    records: Records
    weight: Index
    version: Versions
    change: Bytes
    part: Bytes
    last_change: Bytes
    last_weight: Index


def sources_of(
    changes: ChunkChanges, first: Index, last: Index | None, part: Bytes | None
) -> Sources:
    """Gather the records behind statements. ``first``: their changes; ``part`` as in :data:`STEP`,
    and ``last`` the last change of those that are a net change (None both where every change is one
    statement)."""
    head, weight = changes.head[first], changes.weight[first].astype(np.int64)
    if part is None or last is None:
        none = np.zeros(len(first), np.uint8)
        return Sources(
            take_rows(changes.records, _stretches(head, weight)),
            weight,
            changes.version[first],
            changes.change[first],
            none,
            none,
            none.astype(np.int64),
        )
    net = np.isin(part, OF_TWO)
    further = np.where(net, changes.weight[last], 0).astype(np.int64)
    heads = np.stack([head, changes.head[last]], axis=1).ravel()
    weights = np.stack([weight, further], axis=1).ravel()
    return Sources(
        take_rows(changes.records, _stretches(heads, weights)),
        weight,
        changes.version[first],
        changes.change[first],
        part,
        np.where(net, changes.change[last], 0).astype(np.uint8),
        further,
    )


def _stretches(head: Index, weight: Index) -> Index:
    """The numbers ``head … head + weight - 1`` of each stretch, one after the other."""
    first = np.cumsum(weight) - weight
    return np.repeat(head - first, weight) + np.arange(int(weight.sum()))


class StepWriter:
    """Writes the two files beside ``script``; they can be cut back as the script can."""

    def __init__(self, script: Path) -> None:
        self.paths = (script.with_suffix(".steps"), script.with_suffix(".records"))
        self.files: tuple[IO[bytes], IO[bytes]] | None = None
        self.shapes: dict[str, str] = {}
        self._written = (0, 0)
        self._marked = (0, 0)

    def write(self, start: Index, size: Index, sources: Sources) -> None:
        """Append the places of statements and the records behind them."""
        if self.files is None:
            self.files = (self.paths[0].open("wb"), self.paths[1].open("wb"))
        steps = np.zeros(len(start), STEP)
        records = sources.weight + sources.last_weight
        first = np.cumsum(records) - records
        heads = sources.records[first]
        steps["key"] = unit_positions(heads["commit"], heads["unit"])
        steps["start"], steps["size"] = start, size
        steps["version"], steps["change"] = sources.version, sources.change
        steps["part"] = sources.part
        steps["weight"], steps["head"] = sources.weight, first + self._written[1]
        steps["last_change"], steps["last_weight"] = sources.last_change, sources.last_weight
        self.files[0].write(steps.tobytes())
        self.files[1].write(sources.records.tobytes())
        self._written = (self._written[0] + len(steps), self._written[1] + len(sources.records))

    def mark(self) -> None:
        """Remember this place: :meth:`cut_back` returns to it."""
        self._marked = self._written

    def cut_back(self) -> None:
        """Forget everything written since :meth:`mark`."""
        self._written = self._marked
        for file, rows, kind in zip(self.files or (), self._written, (STEP, RECORD), strict=False):
            file.seek(rows * kind.itemsize)
            file.truncate()

    def close(self) -> None:
        """Close the files; nothing is left of them when they are empty."""
        for file, path in zip(self.files or (), self.paths, strict=False):
            file.close()
            if not self._written[0]:
                path.unlink()
        if self._written[0]:
            self.paths[0].with_suffix(".shapes").write_text(
                json.dumps(self.shapes, sort_keys=True), encoding="utf-8"
            )


@dataclass(frozen=True, slots=True)
class ScriptUnit:
    """One unit of recovery in a script: its commit position and id, and its rows of the steps."""

    script: int
    key: UnitPosition
    start: int
    stop: int

    @property
    def count(self) -> int:
        """Number of statements."""
        return self.stop - self.start


def script_units(number: int, keys: Records, starts: Index, stops: Index) -> Iterator[ScriptUnit]:
    """The units of the ``number``-th script of a folder, of columns as
    :meth:`Script.unit_blocks` gives them."""
    octets, size = keys.tobytes(), UNIT_POSITION.itemsize
    for place, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        key = UnitPosition(octets[place * size : (place + 1) * size])
        yield ScriptUnit(number, key, start, stop)


class Script:
    """A script with its steps, mapped. ``name`` is that of its file; ``shapes`` are the statements
    that it executes by name."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.steps: Records = _mapped(path.with_suffix(".steps"), STEP)
        self.text: Bytes = _mapped(path, np.dtype(np.uint8))
        self._records: Records = _mapped(path.with_suffix(".records"), RECORD)
        self.shapes: dict[str, str] = json.loads(
            path.with_suffix(".shapes").read_text(encoding="utf-8")
        )

    @property
    def span(self) -> tuple[UnitPosition, UnitPosition]:
        """The lowest and the highest of its units."""
        ends = [UnitPosition(self.steps["key"][row].tobytes()) for row in (0, -1)]
        return min(ends), max(ends)

    def unit_blocks(self) -> Iterator[tuple[Records, Index, Index]]:
        """(keys of dtype UNIT_POSITION, first steps, steps behind the last) of the units in the
        order of the script, some at a time."""
        start, count = 0, len(self.steps)
        key = self.steps["key"]
        for low in range(0, count, _BLOCK):
            # with the step before, so that a unit may end between two blocks
            before = max(low - 1, 0)
            here = np.ascontiguousarray(key[before : low + _BLOCK])
            last = low + _BLOCK >= count
            ends = np.flatnonzero(np.append(here[1:] != here[:-1], last))
            if len(ends):
                stops = ends + before + 1
                yield here[ends], np.concatenate([[start], stops[:-1]]), stops
                start = int(stops[-1])

    def units(self, number: int) -> Iterator[ScriptUnit]:
        """The units in the order of the script, which is the ``number``-th of its folder."""
        for keys, starts, stops in self.unit_blocks():
            yield from script_units(number, keys, starts, stops)

    def size(self, start: int, stop: int) -> int:
        """How many bytes of text the statements ``start:stop`` take, with what is between them."""
        last = self.steps[stop - 1]
        return int(last["start"]) + int(last["size"]) - int(self.steps["start"][start])

    def batches(self, start: int, stop: int, size: int) -> Iterator[tuple[int, int]]:
        """``start:stop`` cut into runs of statements of at most about ``size`` bytes of text."""
        begin = self.steps["start"]
        while start < stop:
            end = stop
            if int(begin[stop - 1]) - int(begin[start]) > size:
                end = start + max(
                    1,
                    int(np.searchsorted(begin[start:stop], int(begin[start]) + size, side="left")),
                )
            yield start, end
            start = end

    def rows(self, steps: Index) -> Records:
        """Some rising steps (dtype :data:`STEP`), not to be written to."""
        if len(steps) and int(steps[-1]) - int(steps[0]) + 1 == len(steps):
            return self.steps[int(steps[0]) : int(steps[-1]) + 1]
        rows: Records = self.steps.view(f"V{STEP.itemsize}")[steps].view(STEP)
        return rows

    def counted(self, start: int, stop: int) -> Mask:
        """Which of the statements must touch exactly one row: all but those about a table as a
        whole."""
        counted: Mask = _COUNTED[self.steps["change"][start:stop]]
        return counted

    def kinds(self, start: int, stop: int) -> dict[tuple[int, int], int]:
        """How many of the statements there are of each (table version, kind of change)."""
        rows = self.steps[start:stop]
        values, counts = np.unique(
            rows["version"].astype(np.int64) * 16 + rows["change"], return_counts=True
        )
        return {
            (int(value) // 16, int(value) % 16): int(count)
            for value, count in zip(values, counts, strict=True)
        }

    def slice(self, start: int, stop: int) -> bytes:
        """The text of the statements ``start:stop``, which are neighbours in the script."""
        first = int(self.steps["start"][start])
        last = self.steps[stop - 1]
        return self.text[first : int(last["start"]) + int(last["size"])].tobytes()

    def records(self, step: int) -> Records:
        """The log records behind one statement; of a net change, those of its first change."""
        row = self.steps[step]
        return np.array(self._records[int(row["head"]) : int(row["head"]) + int(row["weight"])])

    def records_of(self, steps: Index) -> tuple[Records, Index]:
        """(records, head): the log records behind rising steps, not to be written to, and those
        of each begin at ``records[head]``."""
        first, last = self.steps[steps[0]], self.steps[steps[-1]]
        low = int(first["head"])
        high = int(last["head"]) + int(last["weight"]) + int(last["last_weight"])
        return self._records[low:high], self.rows(steps)["head"] - low


def _mapped(path: Path, kind: np.dtype[Any]) -> Any:
    return np.asarray(np.memmap(path, kind, "r"))


def scripts_of_folder(folder: Path) -> list[Path]:
    """Where those scripts are."""
    return [path for path in sorted(folder.glob("*.sql")) if path.with_suffix(".steps").exists()]
