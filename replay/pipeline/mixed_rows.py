"""Row changes of several tables and kinds, written together: one pass of machine code
(:mod:`replay.native.fast_path_kernel`) for a chunk of a script, in place of one for each table
version and kind of change. What it does not settle is left to :mod:`replay.pipeline.rows`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask, Records, of_rows
from replay.changes.envelope import ROW_CHANGES, Change, distinct
from replay.decoding.image_layouts import PlainRows
from replay.logs import LogFile
from replay.logs.log_file import FoundImages, PlainImages
from replay.native import fast_path, fast_program
from replay.native import fast_path_tables as tables
from replay.pipeline.row_batch import OPS


class MixedChanges(NamedTuple):
    """Changes of rows: the place of the first record of each in ``records``, its number of records
    (int64[n]), and the table version and :class:`replay.changes.envelope.Change` of each as one
    number (``version * 16 + change``, int64[n])."""

    records: Records
    heads: Index
    weights: Index
    group: Index


@dataclass(frozen=True)
class MixedStatements:
    """Statements of the changes ``images.changes``, one each ('' for none). ``outcome`` of
    :mod:`sqlgen.statements`, and which updates change a watched column (``moved``). Of changes that
    are not ``settled`` nothing is said. ``text`` counts until statements of others are made."""

    images: FoundImages
    text: pa.StringArray
    outcome: Bytes
    moved: Mask
    settled: Mask


class MixedRows:
    """Writes the row changes of one plan, as far as they can be written together."""

    def __init__(
        self,
        log: LogFile,
        source: PlainImages,
        way: fast_path.FastPath,
        others: Collection[int],
    ) -> None:
        """``source``: the same log. The table versions ``others`` are left to the other way."""
        self.log, self.source, self.way, self.others = log, source, way, others
        self._programs: dict[int, fast_program.Program | None] = {}
        self._plains: dict[int, PlainRows | None] = {}
        self._last: tuple[tuple[int, ...], fast_program.KernelTables] | None = None
        self._room = fast_program.Room()

    def statements(self, changes: MixedChanges) -> Iterator[MixedStatements]:
        """Statements of changes, in parts; those that are in none need the other way."""
        render = fast_path.compiled()
        if render is None:
            return
        known = [value for value in distinct(changes.group).tolist() if self._program(value)]
        if not known:
            return
        number = np.full(int(changes.group.max()) + 1, -1, np.int64)
        number[known] = np.arange(len(known))
        program_of = number[changes.group]
        rows = np.flatnonzero(program_of >= 0)
        program_of, group, heads, weights = (
            of_rows(column, rows)
            for column in (program_of, changes.group, changes.heads, changes.weights)
        )
        known_tables = self._tables_of(tuple(known))
        updates = group & 15 == Change.UPDATE
        room = self._room
        for found in self.source.plain_images(changes.records, heads, weights, updates):
            part = found.changes
            own = of_rows(program_of, part)
            made = fast_path.written(render, known_tables, own, found.buffer, found.bounds, room)
            room = fast_program.Room()  # what was written stays there until the next call
            if (text := made.strings_if_few()) is None:
                continue
            outcome = made.status & np.uint8(tables.MOVED - 1)
            settled = outcome != tables.ODD
            moved = made.status >= tables.MOVED
            images = replace(found, changes=of_rows(rows, part))
            yield MixedStatements(images, text, outcome, moved, settled)

    def _plain(self, version: int) -> PlainRows | None:
        """How the images of a table version lie, looked up once."""
        if version not in self._plains:
            self._plains[version] = self.log.plain_rows(version)
        return self._plains[version]

    def _program(self, value: int) -> fast_program.Program | None:
        """How the changes of a table version and kind are written; None: the other way."""
        if value not in self._programs:
            self._programs[value] = self._made(value // 16, Change(value % 16))
        return self._programs[value]

    def _made(self, version: int, kind: Change) -> fast_program.Program | None:
        plain = self._plain(version) if kind in ROW_CHANGES else None
        if plain is None or version in self.others:
            return None
        return self.way.program(self.log.catalog.versions[version], OPS[kind], plain)

    def _tables_of(self, known: tuple[int, ...]) -> fast_program.KernelTables:
        """The tables of some programs, those of the last time where they are the same."""
        if self._last is None or self._last[0] != known:
            programs = [program for value in known if (program := self._program(value))]
            images = [2 if value % 16 == Change.UPDATE else 1 for value in known]
            self._last = known, fast_program.KernelTables.of(programs, images)
        return self._last[1]
