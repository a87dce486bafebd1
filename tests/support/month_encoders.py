"""How the logs of the simulated month of :mod:`tests.support.month` are written: by the encoder of
:mod:`tests.independent`, which was made from the published layouts alone and shares no code with
logreplay. So nothing that both sides misread in the same way can hide.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from tests.independent import zos_headers as independent
from tests.independent.tables import Column, Table
from tests.independent.zos_headers import NO_POSITION, Form
from tests.independent.zos_records import Generation, Log, framed
from tests.support.month import Encoded, Written


class IndependentEncoder:
    """Logs of :mod:`tests.independent`: of each month it is drawn whether its source shares data,
    and its encoding scheme; of each log the framing, the order of the records, whether its control
    file describes the header, and which records are cut into segments."""

    _columns = (Column("K", "INTEGER", nullable=False), Column("V", "INTEGER", nullable=False))

    def __init__(self, draw: random.Random) -> None:
        self.edge: int | None = None
        # of its own, so that the month does not depend on how it is written
        self.draw = random.Random(draw.getstate()[1][0])
        self.sharing, self.scheme = self.draw.random() < 0.7, self.draw.randrange(3)

    def _form(self) -> Form:
        framing = self.draw.choice(("rdw", "rdw", "bdw", "ftp", "none"))
        header = self.draw.choice(("plain", "described", "shuffled"))
        cut = self.draw.random() < 0.5
        return Form(framing, header=header, sharing=self.sharing, wide=False, segments=cut)

    def _tables(self) -> dict[tuple[str, int], tuple[Table, Generation]]:
        """The generations of the tables, by the name and the width of a row."""
        edge = self.edge or 0

        def made(name: str, number: int, columns: tuple[Column, ...]) -> Table:
            ids = (0x105, 3 * number + self.scheme)
            return Table("TESTOWN", name, ids, columns, (0,), len(columns))

        stock = made("STOCK", 2, self._columns)
        found = {
            ("LEDGER", 2): (made("LEDGER", 1, self._columns), Generation(1, 0, 0, 2)),
            ("STOCK", 2): (stock, Generation(1, 0, edge, 2)),
        }
        if edge:
            wider = made("STOCK", 3, (*self._columns, Column("W", "INTEGER")))
            found["STOCK", 3] = (wider, Generation(2, edge, 0, 3))
        return found

    def encoded(self, records: Sequence[Written], high: int, dependent: int | None) -> Encoded:
        log, tables = Log(self._form(), self.draw), self._tables()
        head, form = log.headers, log.form
        listed = [part for one in records for part in log.records(self._change(log, one, tables))]
        first = listed[0] if listed else b""
        self.draw.shuffle(listed)
        end = NO_POSITION if dependent is None else head.lrsn(dependent)
        parts = log.control_of(tables.values(), high, end)
        control = framed(parts, form.framing, self.draw)
        # blocks are the same ones each time
        data = framed(listed, form.framing, random.Random(1))
        ends = (
            len(framed(listed[:n], form.framing, random.Random(1))) for n in range(len(listed) + 1)
        )
        return Encoded(control, data, data.index(first) + head.length, frozenset(ends))

    def _change(
        self, log: Log, record: Written, tables: Mapping[tuple[str, int], tuple[Table, Generation]]
    ) -> independent.Change:
        work = record.work
        name, before, after = work.rows[record.number]
        table, _ = tables[name, len(before or after or ())]
        images = tuple(
            log.rows.row(table, row, len(row)) for row in (before, after) if row is not None
        )
        member = 1 + work.number % 2 if self.sharing else 0

        def rba(place: int) -> int:
            return 0xA1B2_0000 + 0x3000_0000 * member + 0x68 * place if self.sharing else place

        unit = independent.UnitFacts(
            *(rba(work.begin), work.begin, member, work.commit, rba(work.commit)),
            incomplete=record.flagged,
        )
        kind = "UB" if len(images) > 1 else "I " if before is None else "D "
        rid = (2, (before or after or (0,))[0] or 0)
        place = record.place
        return independent.Change(table, kind, images, unit, place, rba(place), rid)
