"""A site that writes an hourly log for a month, and what must be in a target then: units of
recovery drawn by a seed, the logs that have them, and the rows that they leave behind.

A model of rows is kept beside the log and never read from it: each unit knows which rows it wrote,
and a unit is due in a target as soon as logs have arrived that have all of its changes.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.cutlogs import with_end
from tests.support.logbuilder import Change, Col, LogBuilder, Tab, frame, generation, lrsn

#: Positions that an hour has.
HOUR = 100_000
_COLUMNS = (Col("K", "INT", 4, key=1), Col("V", "INT", 4))
#: A table that stays as it is.
LEDGER = Tab("LEDGER", _COLUMNS)
#: A table of which there is another generation later, with one column more.
STOCK = Tab("STOCK", _COLUMNS, psid=4, obid=5)
_WIDER = (*_COLUMNS, Col("W", "INT", 4, nulls="Y"))

Row = tuple[int | None, ...]


@dataclass
class Work:
    """A unit of recovery: its records by position, and the rows that it takes away and leaves, in
    their order: (table, before, after)."""

    number: int
    commit: int
    records: list[tuple[int, Change]] = field(default_factory=list)
    rows: list[tuple[str, Row | None, Row | None]] = field(default_factory=list)


@dataclass
class HourLog:
    """A log as it arrives, and what it ``has``: (number of a unit, number of its change)."""

    name: str
    control: bytes
    data: bytes
    has: frozenset[tuple[int, int]]

    def arrive(self, folder: Path, name: str | None = None, data: bytes | None = None) -> None:
        """Write it: the control file last, and each under its name at once."""
        of_data = self.data if data is None else data
        for suffix, content in ((".dat", of_data), (".ctl", self.control)):
            path = folder / f"{name or self.name}{suffix}"
            work = path.with_suffix(f"{suffix}.part")
            work.write_bytes(content)
            work.rename(path)


class Month:
    """The source. ``due`` are the units that targets must have."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.stock = STOCK
        self.builder = LogBuilder(tables=(LEDGER, STOCK))
        self.units: list[Work] = []
        self.rows: dict[str, dict[int, Row]] = {"LEDGER": {}, "STOCK": {}}
        self.arrived: set[tuple[int, int]] = set()
        self._busy: set[tuple[str, int]] = set()
        self._serial = 0

    # -- what happens
    # ---------------------------------------------------------------------------------------------

    def work(self, hour: int, crossing: int, lane: int | None = None) -> None:
        """An hour of units; ``crossing`` of them are open at its end and commit in the next.
        ``lane``: units of this hour touch no rows of units of the other lane."""
        for number in range(self.draw.randrange(5, 12)):
            self._unit(hour * HOUR + 3000 + 5000 * number, None, lane)
        for number in range(crossing):
            begin = (hour + 1) * HOUR - 9000 + 3000 * number
            self._unit(begin, (hour + 1) * HOUR + 500 + 16 * number, lane)
        self._busy = {
            (name, (before or after or (0,))[0] or 0)
            for work in self.units
            if work.commit >= (hour + 1) * HOUR
            for name, before, after in work.rows
        }

    def _unit(self, begin: int, late: int | None, lane: int | None) -> None:
        count = self.draw.randrange(2, 6)
        step = 16 * self.draw.randrange(1, 4)
        places = [begin + 16 + step * number for number in range(count)]
        if late is not None:
            split = self.draw.randrange(1, count)
            places[split:] = [late - 300 + 16 * number for number in range(count - split)]
        commit = places[-1] + 16 if late is None else late
        self._add(begin, commit, places, [self._change(lane) for _ in places])

    def _change(self, lane: int | None) -> tuple[str, int]:
        name = self.draw.choice(sorted(self.rows))
        while True:
            key = self.draw.randrange(60)
            if lane is not None:
                key = 2 * key + lane
            if (name, key) not in self._busy:
                return name, key

    def _add(
        self, begin: int, commit: int, places: Sequence[int], keys: Sequence[tuple[str, int]]
    ) -> None:
        work = Work(len(self.units), commit)
        unit = self.builder.unit(start=begin, commit=commit)
        for place, (name, key) in zip(places, keys, strict=True):
            before = self.rows[name].get(key)
            table = LEDGER if name == "LEDGER" else self.stock
            after = (
                None if before is not None and self.draw.random() < 0.3 else self._row(key, table)
            )
            self.builder.clock = place - 16
            if before is None:
                change = unit.insert(table, after or ())
                self.rows[name][key] = after or ()
            elif after is None:
                change = unit.delete(table, before)
                del self.rows[name][key]
            else:
                change = unit.update(table, before, after)
                self.rows[name][key] = after
            work.records.append((place, change))
            work.rows.append((name, before, after))
            if commit // HOUR > begin // HOUR:
                self._busy.add((name, key))
        self.builder.changes.clear()
        self.units.append(work)

    def _row(self, key: int, table: Tab) -> Row:
        self._serial += 1
        return (key, self._serial) if len(table.columns) == 2 else (key, self._serial, key % 7)

    def new_generation(self, hour: int) -> None:
        """STOCK is emptied, dropped, and created again with one column more."""
        place = hour * HOUR + 10
        keys = [("STOCK", key) for key in sorted(self.rows["STOCK"])]
        assert not self._busy
        work = Work(len(self.units), place + 16 * len(keys) + 16)
        unit = self.builder.unit(start=place, commit=work.commit)
        for number, (name, key) in enumerate(keys, 1):
            self.builder.clock = place + 16 * (number - 1)
            row = self.rows[name].pop(key)
            work.records.append((self.builder.clock + 16, unit.delete(self.stock, row)))
            work.rows.append((name, row, None))
        self.builder.changes.clear()
        if keys:
            self.units.append(work)
        edge = lrsn(hour * HOUR + 2900)
        first = generation(STOCK, 1, dropped=edge)
        self.stock = generation(STOCK, 2, created=edge, columns=_WIDER)
        self.builder.tables = (LEDGER, first, self.stock)

    # -- its logs
    # ---------------------------------------------------------------------------------------------

    def log(
        self, name: str, low: int, high: int, later: str, before: Iterable[int] = ()
    ) -> HourLog:
        """The log of positions ``low`` to ``high``. What it has of units that are open at its end
        is ``later`` ``split`` (the rest comes in the next log), ``left`` (nothing is there, all of
        it comes) or ``flagged`` (marked as incomplete, and all of it comes). ``before``: units that
        it has as a whole, though they began below ``low``."""
        whole = set(before)
        found: list[tuple[int, Change, tuple[int, int] | None]] = []
        starts = []
        for work in self.units:
            is_open = work.commit >= high
            for number, (place, change) in enumerate(work.records):
                if not (low <= place < high or (work.number in whole and place < high)):
                    continue
                if not is_open or later == "split":
                    found.append((place, change, (work.number, number)))
                elif later == "flagged":
                    starts.append(work.records[0][0])
                    flagged = {**change.fields, "INCOMPLETETRANS": "Y"}
                    found.append((place, Change(flagged, change.images, change.cuts), None))
        found.sort(key=lambda entry: entry[0])
        self.builder.changes = [change for _, change, _ in found]
        raw = frame(self.builder.control_records(), "rdw")
        data = frame(self.builder.records(), "rdw")
        self.builder.changes = []
        dependent = lrsn(min(starts)) if starts else b"\xff" * 10
        has = frozenset(entry for _, _, entry in found if entry is not None)
        return HourLog(name, with_end(raw, lrsn(high), dependent), data, has)

    def open_at(self, position: int) -> list[int]:
        """The units that have begun below a position and are open there."""
        return [work.number for work in self.units if work.records[0][0] < position <= work.commit]

    # -- what must be in a target
    # ---------------------------------------------------------------------------------------------

    def due(self) -> list[Work]:
        """The units of which all records have arrived, in their order of commit."""
        whole = [
            work
            for work in self.units
            if all((work.number, number) in self.arrived for number in range(len(work.records)))
        ]
        return sorted(whole, key=lambda work: work.commit)

    def state(self) -> dict[str, dict[int, Row]]:
        """The rows of a target that has the units that are due."""
        tables: dict[str, dict[int, Row]] = {"LEDGER": {}, "STOCK": {}}
        for work in self.due():
            for name, before, after in work.rows:
                if before is not None:
                    assert tables[name].pop(before[0] or 0) == before
                if after is not None:
                    tables[name][after[0] or 0] = after
        return tables

    def exported(self) -> Counter[tuple[str, Row | None, Row | None]]:
        """The changes of an export that has the units that are due."""
        return Counter(change for work in self.due() for change in work.rows)
