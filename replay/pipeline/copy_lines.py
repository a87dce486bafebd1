"""Row images -> lines of COPY's text format, written by the machine code that writes statements
(:mod:`replay.native.fast_path_kernel`): the same values, in another dress.

Rows that are not plain to it are nobody's here: the rows of a load are written as a whole by it, or
as a whole by :mod:`sqlgen.render.staged_merge` from decoded values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from replay.arrays import Bytes, Index, Records
from replay.changes.catalog import TableVersion
from replay.changes.envelope import Change
from replay.changes.options import ScriptOptions
from replay.logs import LogFile
from replay.native import fast_path, fast_program
from replay.native import fast_path_tables as tables
from replay.native.fast_program import charset_number, spelled_characters
from replay.pipeline.row_batch import OPS
from sqlgen.dialects import Profile
from sqlgen.render.staged_merge import COPY_ESCAPES, COPY_NULL, ImageRows, NotPlain, Slot, Value
from sqlgen.render_options import shown_columns
from sqlgen.rows import Op

_WHEN = {Value.ALWAYS: tables.ALWAYS, Value.CHANGED: tables.OR_NULL, Value.FLAG: tables.FLAG}
#: Bits of a row's code: a column each.
_MOST_COLUMNS = 62


class CopyLines:
    """Writes rows of one log for PostgreSQL."""

    def __init__(self, log: LogFile, profile: Profile, options: ScriptOptions) -> None:
        self.log, self.options = log, options.render
        self.way = fast_path.FastPath(False, profile, options.render, masked=options.masked)

    def rows(
        self, records: Records, heads: Index, weights: Index, version: int, kind: Change
    ) -> ImageRows | None:
        """Changes of one table version and kind, without updates that change nothing; None where
        that needs another way. ``heads`` and ``weights`` are as for
        :meth:`replay.logs.LogFile.images`. What writes the lines raises NotPlain."""
        of_table, op = self.log.catalog.versions[version], OPS[kind]
        plain = self.log.plain_rows(version)
        if plain is None or fast_path.compiled() is None:
            return None
        program = self.way.program(of_table, op, plain)
        shown = shown_columns(of_table.table, self.options)
        if program is None or len(shown) > _MOST_COLUMNS:
            return None
        parts: list[fast_program.KernelInput] = []
        places = [np.zeros(0, np.int64)]
        for place, image in self.log.images(records, heads, weights, kind):
            parts.append(fast_program.KernelInput.of(image))
            places.append(place)
        if not np.array_equal(np.concatenate(places), np.arange(len(heads))):
            return None  # their order would be another one
        writer = _Writer(of_table, op, program, tuple(parts))
        sides = [
            {column.name: Slot(column, side) for column in of_table.table.columns if there}
            for side, there in (("before", op is not Op.INSERT), ("after", op is not Op.DELETE))
        ]
        count, changed = len(heads), dict[str, pa.BooleanArray]()
        if op is Op.UPDATE:
            names = [column.name for column in shown]
            codes = writer.codes([Slot(column, "after", Value.FLAG) for column in shown])
            if codes is None:
                return None
            count = len(codes)
            for bit, name in enumerate(names):
                mask = codes >> bit & 1 > 0
                if mask.any():
                    changed[name] = pa.array(mask)
        return ImageRows(of_table.table, op, count, sides[0], sides[1], changed, lines=writer.lines)


@dataclass(frozen=True)
class _Writer:
    """Has the kernel write some rows of a table version, for which there is a ``program`` that
    writes statements."""

    version: TableVersion
    op: Op
    program: fast_program.Program
    parts: tuple[fast_program.KernelInput, ...]

    def lines(self, slots: Sequence[Slot]) -> bytes:
        """A line for each row. Raises NotPlain where the kernel cannot write one."""
        elements, pool = self._elements(slots, True)
        written = self._written(elements, pool)
        if any((one.status & (tables.MOVED - 1) > tables.NO_CHANGE).any() for one in written):
            raise NotPlain
        return b"".join(one.text.tobytes() for one in written)

    def codes(self, slots: Sequence[Slot]) -> Index | None:
        """Which of some columns change in each row that changes (bits, by their order); None where
        a row is not plain, or changes columns alone that are not shown."""
        elements, pool = self._elements(slots, False)
        found = [np.zeros(0, np.int64)]
        for one in self._written(elements, pool):
            status = one.status & (tables.MOVED - 1)
            if (status > tables.NO_CHANGE).any():
                return None
            found.append(one.codes[status == tables.EMITTED])
        return np.concatenate(found)

    def _written(self, elements: Index, pool: Bytes) -> list[fast_program.KernelOutput]:
        render = fast_path.compiled()
        assert render is not None
        lengths, codes = _characters(self._charsets())
        program = fast_program.Program(self.program.cells, elements, pool, lengths, codes)
        known = fast_program.KernelTables.of([program], [2 if self.op is Op.UPDATE else 1])
        made = []
        for rows in self.parts:
            count = rows.bounds.shape[1]
            room = fast_program.Room()
            of = np.zeros(count, np.int64)
            made.append(fast_path.written(render, known, of, rows.buffer, rows.bounds, room))
        return made

    def _charsets(self) -> tuple[int, ...]:
        """The character sets, by the numbers that the cells have for them."""
        found: dict[int, int] = {}
        for cell, column in zip(self.program.cells, self.version.format.columns, strict=True):
            if cell[tables.SHOWN] and cell[tables.KIND] in tables.TEXTS:
                found[int(cell[tables.CHARSET])] = charset_number(column.ccsid)
        return tuple(found[number] for number in range(len(found)))

    def _elements(self, slots: Sequence[Slot], texts: bool) -> tuple[Index, Bytes]:
        """The elements of a line, and the pool of their texts; without ``texts``, bits alone."""
        table = np.zeros((len(slots) + 1, tables.ELEMENT), np.int64)
        table[:, [tables.STANDS, tables.EMPTY]] = -1
        pool = b""
        for row, slot in enumerate(slots):
            tab = "\t" if row else ""
            flag = slot.when is Value.FLAG
            after = slot.side == "after" and self.op is Op.UPDATE
            table[row, tables.COLUMN] = self.version.index_of(slot.column.name)
            table[row, tables.SIDE] = tables.AFTER if after else tables.BEFORE
            table[row, tables.WHEN] = _WHEN[slot.when]
            table[row, tables.STANDS] = 0 if texts else row  # texts need no codes
            for place, text in (
                (tables.PREFIX, tab + "t" * flag),
                (tables.NULL, tab + ("f" if flag else COPY_NULL)),
            ):
                table[row, place] = len(pool)
                pool += text.encode() if texts else b""
                table[row, place + 1] = len(pool)
        table[-1, tables.COLUMN] = -1
        table[-1, tables.PREFIX] = len(pool)
        pool += b"\n" if texts else b""
        table[-1, tables.PREFIX_END] = len(pool)
        return table, np.frombuffer(pool or b"\n", np.uint8)


@lru_cache(maxsize=64)
def _characters(charsets: tuple[int, ...]) -> tuple[Bytes, Bytes]:
    """How each byte of each character set is written, as
    :class:`replay.native.fast_program.Program` has it."""
    escapes = {"\0": None, **dict(COPY_ESCAPES)}
    return spelled_characters(charsets, lambda letter: escapes.get(letter, letter))
