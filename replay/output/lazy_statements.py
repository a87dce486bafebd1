"""Scripts whose statements are made when somebody runs them.

Where rows come in as loads, hardly a statement is run. A plan for that (:attr:`Plan.texts_later`)
looks at the values of all changes as any other does, so what cannot be written is found before
anything is, and keeps the steps and the log records behind them, but no text of the changes of
rows: their steps have no place in the script (:data:`replay.output.steps.LATER`). Texts that are no
statement of one change are written there as ever, and so are those of long units, which would need
memory.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Index, Mask
from replay.changes.envelope import Change, distinct
from replay.errors import InputError, Where
from replay.logs import LogFile
from replay.output.steps import LATER, Script, scripts_of_folder
from replay.pipeline.plan import Plan
from replay.pipeline.rows import RowDecoder
from sqlgen.dialects import profile_named

#: Statements that are made together where some of them are asked for in order.
TOGETHER = 8192


@dataclass(frozen=True)
class MadeTexts:
    """The statements of some rising ``steps``, each a line of ``text``, between ``bounds[i]`` and
    ``bounds[i + 1]`` (int64[n + 1]); ``shapes`` are those that they execute by name."""

    steps: Index
    text: bytes
    bounds: Index
    shapes: Mapping[str, str]

    @classmethod
    def none(cls) -> MadeTexts:
        """Those of no steps."""
        return cls(np.zeros(0, np.int64), b"", np.zeros(1, np.int64), MappingProxyType({}))

    def place(self, steps: Index) -> Index | None:
        """Where some steps are among these; None where one is not."""
        place = np.searchsorted(self.steps, steps)
        if not len(steps):
            return place
        if place[-1] >= len(self.steps) or (self.steps[place] != steps).any():
            return None
        return place

    def between(self, first: int, last: int) -> bytes:
        """The lines from place ``first`` to place ``last``, without the end of the last one."""
        return self.text[int(self.bounds[first]) : int(self.bounds[last + 1]) - 1]


@dataclass
class TextMaker:
    """Makes statements of a plan that was carried out without them, for one thread at a time."""

    plan: Plan
    log: LogFile
    _one: threading.Lock = field(default_factory=threading.Lock)
    _decoders: dict[tuple[bool, int], RowDecoder] = field(default_factory=dict)

    def make(self, script: Script, steps: Index, prepared: bool) -> MadeTexts:
        """The statements of rising steps of a script, each a change of a row; ``prepared``: calls
        of prepared ones, where the plan has those. Raises InputError (LR2001) where the log is not
        as it was when the plan was made, others of :mod:`replay.errors` where it cannot be read."""
        if not len(steps):
            return MadeTexts.none()
        with self._one:
            return self._made(script, steps, prepared)

    def _made(self, script: Script, steps: Index, prepared: bool) -> MadeTexts:
        rows = script.rows(steps)
        records, head = script.records_of(steps)
        weight = rows["weight"].astype(np.int64)
        group = rows["version"].astype(np.int64) * 16 + rows["change"]
        decoder = self._decoder(prepared, len(script.steps))
        texts: list[pa.Array] = []
        places: list[Index] = []
        shapes: dict[str, str] = {}
        for value in distinct(group).tolist():
            version, kind = value // 16, Change(value % 16)
            mine = np.flatnonzero(group == value)
            for part, image in self.log.images(records, head[mine], weight[mine], kind):
                made = decoder.statements(version, kind, image)
                if made.failed.any() or made.outcome.any():
                    table = self.log.catalog.versions[version].name
                    raise InputError(
                        "LR2001",
                        "found changes of rows that cannot be written; expected those that the plan"
                        " looked at",
                        Where(table=table),
                        "The log was changed meanwhile: run replay again",
                    )
                texts.append(made.text)
                places.append(mine[part])
                shapes |= made.shapes
        order = pa.array(np.argsort(np.concatenate(places), kind="stable"))
        lines = pc.binary_join_element_wise(pa.concat_arrays(texts).take(order), "\n", "")
        _, offsets, data = lines.buffers()
        bounds = np.frombuffer(offsets, np.int32)[: len(lines) + 1].astype(np.int64)
        text = memoryview(data)[int(bounds[0]) : int(bounds[-1])].tobytes()
        return MadeTexts(steps, text, bounds - bounds[0], shapes)

    def _decoder(self, prepared: bool, expected: int) -> RowDecoder:
        if (prepared, expected) not in self._decoders:
            plan = self.plan if prepared else replace(self.plan, prepared=False)
            profile = profile_named(plan.options.dialect)
            self._decoders[prepared, expected] = RowDecoder(plan, self.log, profile, expected)
        return self._decoders[prepared, expected]


class LateScript(Script):
    """A script some of whose statements are made when they are asked for. What was made last is
    held; only one thread may ask for :meth:`slice` and :meth:`ready`, any for :meth:`make`."""

    later = True

    def __init__(self, path: Path, maker: TextMaker) -> None:
        super().__init__(path)
        self.maker = maker
        self.held = MadeTexts.none()

    def size(self, start: int, stop: int) -> int:
        """As in a script that has all its statements, without what is between them."""
        return int(self._sizes(start, stop).sum())

    def batches(self, start: int, stop: int, size: int) -> Iterator[tuple[int, int]]:
        """``start:stop`` cut into runs of statements of at most about ``size`` bytes of text."""
        ends = np.cumsum(self._sizes(start, stop))
        low = 0
        while low < len(ends):
            before = int(ends[low - 1]) if low else 0
            high = max(low + 1, int(np.searchsorted(ends, before + size, side="right")))
            yield start + low, start + high
            low = high

    def slice(self, start: int, stop: int) -> bytes:
        """The text of the statements ``start:stop``: as calls of prepared ones where :meth:`ready`
        was asked for them, else in full."""
        later = self._later(np.arange(start, stop))
        if not later.any():
            return super().slice(start, stop)
        steps = start + np.flatnonzero(later)
        made, place = self.held, self.held.place(steps)
        if place is None:
            made, place = self.make(steps, prepared=False), np.arange(len(steps))
        pieces, count = [], 0
        edges = np.flatnonzero(np.diff(later, prepend=not later[0])).tolist()
        for low, high in zip(edges, [*edges[1:], len(later)], strict=True):
            if later[low]:
                pieces.append(made.between(int(place[count]), int(place[count + high - low - 1])))
                count += high - low
            else:
                pieces.append(super().slice(start + low, start + high))
        return b"\n".join(pieces)

    def ready(self, steps: Index) -> Mapping[str, str]:
        """Have the statements of rising steps at hand, and where they are all that lie between the
        first and the last also some behind them; the statements that they, and those that are in
        the script, execute by name."""
        wanted = steps[self._later(steps)]
        if len(wanted) and self.held.place(wanted) is None:
            first, last = int(steps[0]), int(steps[-1])
            if last - first + 1 == len(steps):
                behind = min(max(last + 1, first + TOGETHER), len(self.steps))
                steps = np.arange(first, behind)
                wanted = steps[self._later(steps)]
            self.held = self.make(wanted)
        return {**self.shapes, **self.held.shapes}

    def make(self, steps: Index, prepared: bool = True) -> MadeTexts:
        """The statements of those of some rising steps that the script does not have. Raises as
        :meth:`TextMaker.make`."""
        return self.maker.make(self, steps[self._later(steps)], prepared)

    def _later(self, steps: Index) -> Mask:
        return np.asarray(self.steps["start"][steps] == LATER)

    def _sizes(self, start: int, stop: int) -> Index:
        """Octets of statements, each with the end of its line."""
        return self.steps["size"][start:stop].astype(np.int64) + 1


def open_scripts(folder: Path, plan: Plan, log: LogFile) -> list[Script]:
    """The scripts of a plan that was carried out in a folder, in the order to run them."""
    paths = scripts_of_folder(folder)
    if not plan.texts_later:
        return list(map(Script, paths))
    maker = TextMaker(plan, log)
    return [LateScript(path, maker) for path in paths]
