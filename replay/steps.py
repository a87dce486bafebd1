"""The steps of a script: where each statement stands in its text and which change of the log it comes from, for those who run it.

Two files of fixed-width rows lie beside a script: ``.steps`` (dtype :data:`STEP`, one row a statement, in order) and ``.records`` (dtype
:data:`replay.changes.RECORD`, the log records behind them, all segments of a change in a row). Both are written as the script is and mapped when
they are read, so that a unit of any size takes no memory. A third, ``.shapes``, holds the statements that the script executes by name, as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from replay.changes import RECORD, WHOLE_TABLE, take_records

#: ``start``/``size`` are bytes of the script (without the line's end), ``version`` and ``change`` as in :class:`replay.render.Changes`,
#: ``head``/``weight`` rows of the records file.
STEP = np.dtype(
    [
        ("key", "V22"),
        ("start", "<i8"),
        ("size", "<i4"),
        ("version", "<i4"),
        ("change", "u1"),
        ("weight", "<u2"),
        ("head", "<i8"),
    ]
)

#: By kind of change: whether its statement must touch exactly one row.
_COUNTED = ~np.isin(np.arange(256), WHOLE_TABLE)
#: Steps looked at together where unit boundaries are searched.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Sources:
    """The changes behind a batch of statements, in their order: ``records`` with all segments, ``weight`` how many each change has."""

    records: npt.NDArray[np.void]
    weight: npt.NDArray[np.int64]
    version: npt.NDArray[np.int32]
    change: npt.NDArray[np.uint8]


def sources_of(
    records: npt.NDArray[np.void],
    head: npt.NDArray[np.int64],
    weight: npt.NDArray[np.int64],
    version: npt.NDArray[np.int32],
    change: npt.NDArray[np.uint8],
) -> Sources:
    """Gather the records of changes whose first records are ``records[head]``."""
    first = np.concatenate([[0], np.cumsum(weight)[:-1]]).astype(np.int64)
    rows = np.repeat(head - first, weight) + np.arange(int(weight.sum()))
    return Sources(take_records(records, rows), weight, version, change)


class StepWriter:
    """Writes the two files beside ``script``; they can be cut back as the script can."""

    def __init__(self, script: Path) -> None:
        self.paths = (script.with_suffix(".steps"), script.with_suffix(".records"))
        self.files: tuple[IO[bytes], IO[bytes]] | None = None
        self.shapes: dict[str, str] = {}
        self._written = (0, 0)
        self._marked = (0, 0)

    def write(self, start: npt.NDArray[np.int64], size: npt.NDArray[np.int64], sources: Sources) -> None:
        """Append the places of statements and the records behind them."""
        if self.files is None:
            self.files = (self.paths[0].open("wb"), self.paths[1].open("wb"))
        steps = np.zeros(len(start), STEP)
        first = np.concatenate([[0], np.cumsum(sources.weight)[:-1]]).astype(np.int64)
        steps["key"] = unit_keys(sources.records[first])
        steps["start"], steps["size"] = start, size
        steps["version"], steps["change"] = sources.version, sources.change
        steps["weight"], steps["head"] = sources.weight, first + self._written[1]
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
            self.paths[0].with_suffix(".shapes").write_text(json.dumps(self.shapes, sort_keys=True), encoding="utf-8")


def unit_keys(records: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Commit position and unit of records as one value of 22 bytes; bytewise order is the order of the log."""
    parts = [np.ascontiguousarray(records[name]).view(np.uint8).reshape(len(records), -1) for name in ("commit", "unit")]
    return np.ascontiguousarray(np.concatenate(parts, axis=1)).view("V22").reshape(-1)


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of recovery in a script: its key (commit position and unit, 22 bytes) and its rows of the steps."""

    script: int
    key: bytes
    start: int
    stop: int

    @property
    def count(self) -> int:
        """Number of statements."""
        return self.stop - self.start


class Script:
    """A script with its steps, mapped."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.text, self.steps, self._records = (
            np.asarray(np.memmap(path.with_suffix(suffix), kind, "r"))
            for suffix, kind in ((path.suffix, np.dtype(np.uint8)), (".steps", STEP), (".records", RECORD))
        )
        self.shapes: dict[str, str] = json.loads(path.with_suffix(".shapes").read_text(encoding="utf-8"))

    def units(self, number: int) -> Iterator[Unit]:
        """The units in the order of the script, which is the ``number``-th of its folder."""
        start, count = 0, len(self.steps)
        key = self.steps["key"]
        for low in range(0, count, _BLOCK):
            high = min(low + _BLOCK, count)
            here = np.ascontiguousarray(key[low:high])
            ends = np.flatnonzero(here[1:] != here[:-1]) + low + 1
            for end in ends.tolist():
                yield Unit(number, key[start].tobytes(), start, end)
                start = end
            if high < count and key[high].tobytes() != key[high - 1].tobytes():
                yield Unit(number, key[start].tobytes(), start, high)
                start = high
        if count:
            yield Unit(number, key[start].tobytes(), start, count)

    def slice(self, start: int, stop: int) -> bytes:
        """The text of the statements ``start:stop``, which are neighbours in the script."""
        first, last = self.steps[start], self.steps[stop - 1]
        return self.text[int(first["start"]) : int(last["start"]) + int(last["size"])].tobytes()

    def batches(self, start: int, stop: int, size: int) -> Iterator[tuple[int, int]]:
        """``start:stop`` cut into runs of statements of at most about ``size`` bytes of text."""
        begin = self.steps["start"]
        while start < stop:
            end = stop
            if int(begin[stop - 1]) - int(begin[start]) > size:
                end = start + max(1, int(np.searchsorted(begin[start:stop], int(begin[start]) + size, side="left")))
            yield start, end
            start = end

    def counted(self, start: int, stop: int) -> npt.NDArray[np.bool_]:
        """Which of the statements must touch exactly one row: all but those about a table as a whole."""
        counted: npt.NDArray[np.bool_] = _COUNTED[self.steps["change"][start:stop]]
        return counted

    def kinds(self, start: int, stop: int) -> dict[tuple[int, int], int]:
        """How many of the statements there are of each (table version, kind of change)."""
        rows = self.steps[start:stop]
        values, counts = np.unique(rows["version"].astype(np.int64) * 16 + rows["change"], return_counts=True)
        return {(int(value) // 16, int(value) % 16): int(count) for value, count in zip(values, counts, strict=True)}

    def records(self, step: int) -> npt.NDArray[np.void]:
        """The log records behind one statement."""
        row = self.steps[step]
        return np.array(self._records[int(row["head"]) : int(row["head"]) + int(row["weight"])])

    def records_of(self, steps: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
        """(records, head): the log records behind rising steps, and those of each begin at ``records[head]``."""
        first, last = self.steps[steps[0]], self.steps[steps[-1]]
        low, high = int(first["head"]), int(last["head"]) + int(last["weight"])
        return np.array(self._records[low:high]), self.steps["head"][steps] - low


def open_scripts(folder: Path) -> list[Script]:
    """The scripts of a folder that have steps, in the order to run them."""
    return [Script(path) for path in sorted(folder.glob("*.sql")) if path.with_suffix(".steps").exists()]
