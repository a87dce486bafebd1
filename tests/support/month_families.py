"""The simulated month of :mod:`tests.support.month` in the logs of the other families, and what can
be brought up to it: tables of families and receivers for ``tests/live/test_month.py``.
"""

from __future__ import annotations

import json
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from tests.support import luwbuilder, solidbuilder
from tests.support.month import HOUR, HourLog, Month, Row, Work

Changes = Counter[tuple[str, Row | None, Row | None]]


@dataclass
class FileLog(HourLog):
    """A log of one file, without a control file."""

    suffix: str = ".LOG"

    def arrive(self, folder: Path, name: str | None = None, data: bytes | None = None) -> None:
        """Write it under its name at once."""
        work = folder / f"{name or self.name}{self.suffix}.part"
        work.write_bytes(self.data if data is None else data)
        work.rename(work.with_suffix(""))


class FileMonth(Month, ABC):
    """A site whose log comes in files that follow one another. What stands in a file is decided
    when it is written: each record is in one. A unit is due when its commit has arrived too."""

    def __init__(self, draw: random.Random, folder: Path) -> None:
        super().__init__(draw)
        self.folder = folder
        self.written: set[tuple[int, int]] = set()
        #: From which position on STOCK has W, and whether a file says so.
        self.edge: int | None = None
        self.told = False

    def _add(
        self, begin: int, commit: int, places: Sequence[int], keys: Sequence[tuple[str, int]]
    ) -> None:
        super()._add(begin, commit, places, keys)
        self.units[-1].places.append(commit)

    def log(
        self, name: str, low: int, high: int, later: str, before: Iterable[int] = ()
    ) -> HourLog:
        """All that is below ``high`` and in no file yet."""
        found = sorted(
            (place, work.number, number)
            for work in self.units
            for number, place in enumerate(work.places)
            if self.written_at(work, place) < high and (work.number, number) not in self.written
        )
        has = frozenset((unit, number) for _, unit, number in found)
        self.written |= has
        data, ends = self.file_of(found)
        return FileLog(name, b"", data, has, ends=ends, suffix=self.suffix)

    def new_generation(self, hour: int) -> None:
        """STOCK is emptied, dropped, and created again with one column more; the catalog is
        exported again."""
        super().new_generation(hour)
        if self.units and len(self.units[-1].places) == len(self.units[-1].rows):
            self.units[-1].places.append(self.units[-1].commit)
        self.edge = hour * HOUR + 2900
        self.export_catalog()

    def stock_of(self, work: Work) -> str:
        """Which STOCK a unit changes."""
        return "STOCK" if self.edge is None or work.begin < self.edge else "STOCK2"

    suffix = ".LOG"

    @abstractmethod
    def export_catalog(self) -> None:
        """Write what describes the tables that there are now."""

    @abstractmethod
    def longer(self, first: HourLog, second: HourLog) -> HourLog:
        """A log of what two logs have that follow one another."""

    def written_at(self, work: Work, place: int) -> int:
        """When a record that was made at a position is written."""
        return place

    @abstractmethod
    def file_of(self, records: Sequence[tuple[int, int, int]]) -> tuple[bytes, frozenset[int]]:
        """A file with some records, and where its records end: (position, number of the unit,
        number of the record in it), of which the last one of a unit is its commit."""


class LuwMonth(FileMonth):
    """Files of a Db2 LUW log: units are interleaved as their records are written."""

    def __init__(self, draw: random.Random, folder: Path) -> None:
        super().__init__(draw, folder)
        columns = (luwbuilder.Col("K", "INTEGER", key=1), luwbuilder.Col("V", "INTEGER"))
        self.tables = {
            name: luwbuilder.Tab(2, number, "TESTOWN", name, columns)
            for number, name in enumerate(("LEDGER", "STOCK"), 5)
        }
        more = luwbuilder.Col("W", "INTEGER")
        self.tables["STOCK2"] = luwbuilder.Tab(2, 7, "TESTOWN", "STOCK", (*columns, more))
        self.files = luwbuilder.LogBuilder()
        self.open: dict[int, luwbuilder.Transaction] = {}
        self.places: dict[tuple[str, int], tuple[int, int]] = {}
        self.export_catalog()

    def export_catalog(self) -> None:
        names = ("LEDGER", "STOCK") if self.edge is None else ("LEDGER", "STOCK", "STOCK2")
        catalog = luwbuilder.catalog_csv([self.tables[name] for name in names])
        (self.folder / "catalog.csv").write_text(catalog, encoding="utf-8")

    def longer(self, first: HourLog, second: HourLog) -> HourLog:
        ends = first.ends | {len(first.data) + end for end in second.ends}
        data, has = first.data + second.data, first.has | second.has
        return FileLog(f"{first.name}-again", b"", data, has, ends=ends, suffix=self.suffix)

    def words(self) -> list[str]:
        return ["--source", "db2luw", "--catalog", str(self.folder / "catalog.csv")]

    def file_of(self, records: Sequence[tuple[int, int, int]]) -> tuple[bytes, frozenset[int]]:
        for _, number, record in records:
            work = self.units[number]
            if not self.told and self.stock_of(work) == "STOCK2":
                change = self.files.begin()
                change.drop(self.tables["STOCK"])
                change.create(self.tables["STOCK2"])
                change.commit()
                self.told = True
            unit = self.open.setdefault(number, self.files.begin())
            if record == len(work.rows):
                unit.commit()
                continue
            name, before, after = work.rows[record]
            name = self.stock_of(work) if name == "STOCK" else name
            key = (name, (before or after or (0,))[0] or 0)
            rid = self.places.setdefault(key, (1 + len(self.places) // 200, len(self.places) % 200))
            if before is None:
                unit.insert(self.tables[name], after or (), rid)
            elif after is None:
                unit.delete(self.tables[name], before, rid)
            else:
                unit.update(self.tables[name], before, after, rid)
        data, ends = self.files.bytes(), frozenset(accumulate(map(len, self.files.records)))
        self.files.records.clear()
        return data, ends


class SolidMonth(FileMonth):
    """Read sessions of a solidDB log, which has units whole, in the order of their commits."""

    suffix = ".csv"

    def __init__(self, draw: random.Random, folder: Path) -> None:
        super().__init__(draw, folder)
        columns = (solidbuilder.Col("K", "INTEGER"), solidbuilder.Col("V", "INTEGER"))
        self.tables = {
            name: solidbuilder.Tab(number, "TESTOWN", name, columns, ("K",))
            for number, name in enumerate(("LEDGER", "STOCK"), 10_001)
        }
        more = solidbuilder.Col("W", "INTEGER")
        self.tables["STOCK2"] = solidbuilder.Tab(
            10_003, "TESTOWN", "STOCK", (*columns, more), ("K",)
        )
        self.files = solidbuilder.LogBuilder()
        self.export_catalog()

    def export_catalog(self) -> None:
        names = ("LEDGER", "STOCK") if self.edge is None else tuple(self.tables)
        solidbuilder.write_catalog(self.folder, [self.tables[name] for name in names])

    def longer(self, first: HourLog, second: HourLog) -> HourLog:
        """A read session that begins where the first one does."""
        heading, line, rows = second.data.partition(b"\n")
        assert first.data.startswith(heading + line)
        count = len(first.data.splitlines()) - 1
        numbered = (line.partition(b",") for line in rows.splitlines(keepends=True))
        rows = b"".join(b"%d,%s" % (count + int(number), rest) for number, _, rest in numbered)
        data, has = first.data + rows, first.has | second.has
        return FileLog(f"{first.name}-again", b"", data, has, suffix=self.suffix)

    def words(self) -> list[str]:
        where = ["--source", "soliddb", "--catalog", str(self.folder)]
        return [*where, "--log-option", "gaps=accept"]

    def written_at(self, work: Work, place: int) -> int:
        return work.commit

    def file_of(self, records: Sequence[tuple[int, int, int]]) -> tuple[bytes, frozenset[int]]:
        whole = {number for _, number, _ in records}
        self.files.rows.clear()
        for work in sorted((self.units[number] for number in whole), key=lambda one: one.commit):
            if not self.told and self.stock_of(work) == "STOCK2":
                self._new_stock()
            unit = self.files.begin()
            for name, before, after in work.rows:
                name = self.stock_of(work) if name == "STOCK" else name
                if before is None:
                    unit.insert(self.tables[name], after or ())
                elif after is None:
                    unit.delete(self.tables[name], before)
                else:
                    unit.update(self.tables[name], before, after)
            unit.commit()
        path = self.folder / "session.csv"
        solidbuilder.write_rows(path, self.files.rows)
        data = path.read_bytes()
        # a row is whole without what ends its line
        ends = (at for at, octet in enumerate(data) if octet in b"\r\n")
        return data, frozenset(one + more for one in ends for more in (0, 1))

    def _new_stock(self) -> None:
        self.told = True
        unit = self.files.begin()
        unit.ddl(17, "STOCK", self.tables["STOCK"].relid, "DROP TABLE STOCK")
        unit.commit()
        unit = self.files.begin()
        unit.ddl(
            45,
            "SHOP.TESTOWN.STOCK",
            self.tables["STOCK2"].relid,
            "CREATE TABLE STOCK (K INTEGER NOT NULL PRIMARY KEY, V INTEGER, W INTEGER)",
        )
        unit.commit()


#: What goes wrong with logs that come in files.
FILE_FAULTS = (
    *("plain", "at_once", "killed", "late", "repeated", "repeated_longer", "target_crashes"),
    *("disk_full", "paused", "pruned", "generation"),
)
#: A read session that lacks its end, or of which the first line is damaged, is told by its columns.
SESSION_FAULTS = (*FILE_FAULTS, "truncated", "damaged")
#: The months of the other families.
FAMILIES: Mapping[str, Callable[[random.Random, Path], FileMonth]] = {
    "db2luw": LuwMonth,
    "soliddb": SolidMonth,
}


# -- what is brought up to date
# -------------------------------------------------------------------------------------------------


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
