"""A site that writes an hourly log for a month, and what must be in a target then: units of
recovery drawn by a seed, the logs that have them, and the rows that they leave behind.

A model of rows is kept beside the log and never read from it: each unit knows which rows it wrote,
and a unit is due in a target as soon as logs have arrived that have all of its changes.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

#: Positions that an hour has.
HOUR = 100_000

Row = tuple[int | None, ...]
Changes = Counter[tuple[str, Row | None, Row | None]]


@dataclass
class Work:
    """A unit of recovery: the positions of its records, and the rows that it takes away and leaves,
    in their order: (table, before, after)."""

    number: int
    begin: int
    commit: int
    places: list[int] = field(default_factory=list)
    rows: list[tuple[str, Row | None, Row | None]] = field(default_factory=list)


class Written(NamedTuple):
    """A record of a log: change ``number`` of a unit; ``flagged``: marked as incomplete."""

    place: int
    work: Work
    number: int
    flagged: bool


class Encoded(NamedTuple):
    """The octets of a log, where in them the row images of its first record begin, and where its
    records end."""

    control: bytes
    data: bytes
    images: int
    ends: frozenset[int]


class Encoder(Protocol):
    """Writes logs of a site that has LEDGER and STOCK, which have K and V; from position ``edge``
    on there is another generation of STOCK, with W as well."""

    edge: int | None

    def encoded(self, records: Sequence[Written], high: int, dependent: int | None) -> Encoded:
        """A log that ends at ``high``; units from ``dependent`` on may come again."""


@dataclass
class HourLog:
    """A log as it arrives, and what it ``has``: (number of a unit, number of its change).
    ``images``: where in ``data`` the row images of its first record begin; ``ends``: where its
    records (and the words before them) end."""

    name: str
    control: bytes
    data: bytes
    has: frozenset[tuple[int, int]]
    images: int = 0
    ends: frozenset[int] = frozenset()

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

    def __init__(self, draw: random.Random, encoder: Encoder) -> None:
        self.draw, self.encoder = draw, encoder
        #: Columns that a row has now.
        self.widths = {"LEDGER": 2, "STOCK": 2}
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
            self._unit(begin, (hour + 1) * HOUR + 500 + 400 * number, lane)
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
        work = Work(len(self.units), begin, commit, list(places))
        for name, key in keys:
            before = self.rows[name].get(key)
            after = (
                None if before is not None and self.draw.random() < 0.3 else self._row(key, name)
            )
            if after is None:
                del self.rows[name][key]
            else:
                self.rows[name][key] = after
            work.rows.append((name, before, after))
            if commit // HOUR > begin // HOUR:
                self._busy.add((name, key))
        self.units.append(work)

    def _row(self, key: int, table: str) -> Row:
        self._serial += 1
        return (key, self._serial, key % 7)[: self.widths[table]]

    def new_generation(self, hour: int) -> None:
        """STOCK is emptied, dropped, and created again with one column more."""
        place = hour * HOUR + 10
        keys = sorted(self.rows["STOCK"])
        assert not self._busy
        work = Work(len(self.units), place, place + 16 * len(keys) + 16)
        for number, key in enumerate(keys, 1):
            work.places.append(place + 16 * number)
            work.rows.append(("STOCK", self.rows["STOCK"].pop(key), None))
        if keys:
            self.units.append(work)
        self.widths["STOCK"] = 3
        self.encoder.edge = hour * HOUR + 2900

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
        found = []
        for work in self.units:
            is_open = work.commit >= high
            for number, place in enumerate(work.places):
                if not (low <= place < high or (work.number in whole and place < high)):
                    continue
                if not is_open or later in ("split", "flagged"):
                    flagged = is_open and later == "flagged"
                    found.append(Written(place, work, number, flagged))
        found.sort(key=lambda record: record.place)
        starts = [record.work.places[0] for record in found if record.flagged]
        control, data, images, ends = self.encoder.encoded(found, high, min(starts, default=None))
        has = frozenset((one.work.number, one.number) for one in found if not one.flagged)
        return HourLog(name, control, data, has, images, ends)

    def open_at(self, position: int) -> list[int]:
        """The units that have begun below a position and are open there."""
        return [work.number for work in self.units if work.places[0] < position <= work.commit]

    # -- what must be in a target
    # ---------------------------------------------------------------------------------------------

    def due(self) -> list[Work]:
        """The units of which all records have arrived, in their order of commit."""
        whole = [
            work
            for work in self.units
            if all((work.number, number) in self.arrived for number in range(len(work.places)))
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

    def exported(self) -> Changes:
        """The changes of an export that has the units that are due."""
        return Counter(change for work in self.due() for change in work.rows)


def plain_row(values: Iterable[Any] | None) -> Row | None:
    """A row without a column that its generation lacks."""
    if values is None:
        return None
    row = tuple(values)
    return row[:-1] if row[-1] is None else row


def exported(out: Path) -> Changes:
    """The changes in the JSON lines of an export."""
    found: Changes = Counter()
    for path in out.glob("testown.*/**/*.jsonl"):
        name = path.relative_to(out).parts[0].partition(".")[2].partition("@")[0]
        for line in path.read_text().splitlines():
            row = json.loads(line)
            before, after = (
                plain_row(one.values() if one else None) for one in (row["before"], row["after"])
            )
            found[name.partition(".")[0].upper(), before, after] += 1
    return found
