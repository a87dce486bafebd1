"""How the logs of the simulated month of :mod:`tests.support.month` are written.

Two encoders write the same months: the builder of the other tests, which uses logreplay's layout
tables, and the encoder of :mod:`tests.model`, which was written from the published layouts alone
and shares no code with logreplay. So nothing that both sides misread in the same way can hide.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from tests.model import logmaster_log as independent
from tests.model.rows import Alteration, Column, Database, History, Record, Table, Unit
from tests.model.rows import Change as ModelChange
from tests.support.cutlogs import with_end
from tests.support.logbuilder import Change, Col, LogBuilder, Tab, frame, generation, lrsn
from tests.support.month import Encoded, Encoder, Row, Work, Written


class BuilderEncoder:
    """Logs of :class:`~tests.support.logbuilder.LogBuilder`: one member of a data sharing group,
    records in the order of the Db2 log, with RDWs."""

    _columns = (Col("K", "INT", 4, key=1), Col("V", "INT", 4))

    def __init__(self, draw: random.Random) -> None:
        self.edge: int | None = None
        self.builder = LogBuilder()

    def _tables(self) -> dict[tuple[str, int], Tab]:
        """The generations of the tables, by the name and the width of a row."""
        stock = Tab("STOCK", self._columns, psid=4, obid=5)
        tables = {("LEDGER", 2): Tab("LEDGER", self._columns), ("STOCK", 2): stock}
        if self.edge is not None:
            edge, wider = lrsn(self.edge), (*self._columns, Col("W", "INT", 4, nulls="Y"))
            tables["STOCK", 2] = generation(stock, 1, dropped=edge)
            tables["STOCK", 3] = generation(stock, 2, created=edge, columns=wider)
        return tables

    def encoded(self, records: Sequence[Written], high: int, dependent: int | None) -> Encoded:
        tables = self._tables()
        self.builder.tables = tuple(tables.values())
        self.builder.changes = []
        for record in records:
            self._change(record, tables)
        end = () if dependent is None else (lrsn(dependent),)
        control = with_end(frame(self.builder.control_records(), "rdw"), lrsn(high), *end)
        made = self.builder.records()
        ends = frozenset(accumulate(4 + len(record) for record in made))
        return Encoded(control, frame(made, "rdw"), 4 + self.builder.header.size, ends)

    def _change(self, record: Written, tables: Mapping[tuple[str, int], Tab]) -> Change:
        name, before, after = record.work.rows[record.number]
        table = tables[name, len(before or after or ())]
        unit = self.builder.unit(start=record.work.begin, commit=record.work.commit)
        self.builder.clock = record.place - 16
        flag = "Y" if record.flagged else "N"
        if before is None:
            return unit.insert(table, after or (), INCOMPLETETRANS=flag)
        if after is None:
            return unit.delete(table, before, INCOMPLETETRANS=flag)
        return unit.update(table, before, after, INCOMPLETETRANS=flag)


class ModelEncoder:
    """Logs of the model's encoder: of each month it is drawn whether its source shares data, and
    its encoding scheme; of each log the framing, the order of the records, whether its control file
    describes the header, and which records are cut into segments."""

    _columns = (Column("K", "integer"), Column("V", "integer"))

    def __init__(self, draw: random.Random) -> None:
        self.edge: int | None = None
        # of its own, so that the month is the same whoever writes it
        self.draw = random.Random(draw.getstate()[1][0])
        self.form = independent.draw_form(self.draw)

    def _history(self, high: int) -> History:
        """The generations of the tables, and the end of the log."""
        names = ("TESTOWN.LEDGER", "TESTOWN.STOCK")
        history = History(Database(Table(name, self._columns, ("K",)) for name in names))
        if self.edge is not None:
            wider = (*self._columns, Column("W", "integer", nullable=True))
            table = Table(names[1], wider, ("K",), generation=2, incarnation=2)
            history.generations.append(table)
            history.alterations.append(Alteration(self.edge, table))
        history.moment = high - 1
        return history

    def encoded(self, records: Sequence[Written], high: int, dependent: int | None) -> Encoded:
        drawn = independent.draw_form(self.draw, cut=self.draw.choice((0.0, 0.3)))
        form = independent.Form(
            drawn.framing, self.form.encoding, self.form.sharing, drawn.shuffled,
            drawn.headers_described, 1, drawn.cut,
        )  # fmt: skip
        history, positions = self._history(high), independent.Positions(form)
        ids = independent.Ids(history)
        tables = {(one.name, len(one.columns)): one for one in history.generations}
        written = [
            list(independent.segments(_recorded(one, tables), ids, positions, form, self.draw))
            for one in records
        ]
        first = written[0][0] if written else b""
        listed = [segment for segments in written for segment in segments]
        if form.shuffled:
            self.draw.shuffle(listed)
        end = independent.NO_RBA if dependent is None else positions.lrsn(dependent)
        control = independent.framed(
            list(independent.control_records(history, form, end)), form.framing
        )
        data = independent.framed(listed, form.framing)
        # a block of seven records has a word of its own
        framed = (len(independent.framed(listed[:n], form.framing)) for n in range(len(listed) + 1))
        images = data.index(first) + independent.HEADER_LENGTH
        return Encoded(control, data, images, frozenset(framed))


def _recorded(record: Written, tables: Mapping[tuple[str, int], Table]) -> Record:
    work: Work = record.work
    name, before, after = work.rows[record.number]
    table = tables[f"TESTOWN.{name}", len(before or after or ())]
    unit = Unit(1 + work.number, work.begin, commit=work.commit, incomplete=record.flagged)
    change = ModelChange(table, 0, _named(table, before), _named(table, after))
    change.rid = (before or after or (0,))[0] or 0
    return Record(unit, change, record.place, record.number)


def _named(table: Table, row: Row | None) -> dict[str, int | None] | None:
    return None if row is None else dict(zip(table.names, row, strict=True))


#: Encoders of Log Master by name.
ENCODERS: Mapping[str, Callable[[random.Random], Encoder]] = {
    "builder": BuilderEncoder,
    "model": ModelEncoder,
}
