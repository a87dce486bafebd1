"""The model's histories as logs of Db2 for z/OS (Log Master), Db2 LUW and solidDB.

The bytes are those of :mod:`tests.independent`, one encoder for each family. A site draws how its
log is written, writes it, and says how the command is told of it and how it names the units.
"""

from __future__ import annotations

import json
import random
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count, pairwise
from pathlib import Path
from typing import Any, ClassVar

from tests.independent import luw_history, solid_export, tables, zos_headers, zos_history
from tests.independent.luw_records import Log, Record, RowWriter, write_catalog
from tests.independent.solid_export import (
    AFTER,
    BEFORE,
    COMMIT,
    DELETE,
    INSERT,
    START,
    Export,
    Keys,
    write_system_tables,
)
from tests.independent.zos_headers import UnitFacts
from tests.independent.zos_records import Generation, framed
from tests.independent.zos_records import Log as ZosLog
from tests.independent.zos_text import UNKNOWN, Pages
from tests.model import rows
from tests.model.rows import Change, History, Row, Table, Unit

#: The first transaction of Db2 LUW; the n-th unit has this plus n.
FIRST_TID = 0xA1F
#: Commit times of Db2 LUW, in seconds.
FIRST_SECOND = 1_700_000_000


def translated(
    table: Table, number: tuple[int, int], kinds: Mapping[str, str], bits: Sequence[str] = ()
) -> tables.Table:
    """A table of the model as the encoders have it; ``bits``: kinds that are FOR BIT DATA."""
    schema, name = table.name.split(".")
    columns = tuple(
        tables.Column(
            column.name,
            kinds[column.kind],
            column.length,
            6 if column.kind == "timestamp" else column.scale,
            column.nullable,
            column.kind in bits,
        )
        for column in table.columns
    )
    key = tuple(table.names.index(name) for name in table.key)
    return tables.Table(schema, name, number, columns, key, len(columns))


def plain(table: Table, row: Row) -> tables.Row:
    return tuple(row[name] for name in table.names)


def maybe_spelled_anew(change: Change) -> frozenset[str]:
    """Packed decimals of one value, whose signs an encoder draws for each image."""
    before, after = change.before or {}, change.after or {}
    return frozenset(
        column.name
        for column in change.table.columns
        if column.kind == "decimal" and before.get(column.name) is not None
        if before[column.name] == after.get(column.name)
    )


class Site(ABC):
    """A history that is written as a log. ``source``: how the command is told of it."""

    family: ClassVar[str]
    #: How scripts name a unit: a pattern of one group.
    pattern: ClassVar[re.Pattern[str]]
    #: Whether the log's description has unique and foreign keys.
    tells_keys: ClassVar[bool] = False
    #: Whether records say that a foreign key caused them.
    tells_causes: ClassVar[bool] = False
    #: Whether a row whose key changes is one row in the log, and no delete and insert.
    follows_rows: ClassVar[bool] = True
    source: list[str]
    form: object

    def __init__(self, history: History, rng: random.Random, folder: Path) -> None:
        self.history, self.rng, self.folder = history, rng, folder

    @abstractmethod
    def name(self, unit: Unit) -> str:
        """A unit as scripts name it."""

    def urid(self, unit: Unit) -> str:
        """A unit as options name it."""
        return self.name(unit)

    def commit(self, unit: Unit) -> str | None:
        """Where it commits, if the site knows that without a look at a script."""
        return None

    def time(self, unit: Unit) -> datetime | None:
        """When it commits, if the log says so."""
        return None


class LogMasterSite(Site):
    """A control file and data files."""

    family, tells_causes = "logmaster", True
    pattern = re.compile(r"^-- unit URID=([0-9A-F]+)", re.MULTILINE)
    KINDS: ClassVar = {
        **{kind: kind.upper() for kind in ("smallint", "integer", "bigint", "decimal", "char")},
        **{kind: kind.upper() for kind in ("varchar", "real", "double", "date", "time")},
        "timestamp": "TIMESTAMP",
        "varbinary": "VARCHAR",
    }

    def __init__(
        self,
        history: History,
        rng: random.Random,
        folder: Path,
        form: zos_headers.Form | None = None,
        wide: bool = True,
        cut: float = 0,
    ) -> None:
        super().__init__(history, rng, folder)
        self.form = form or log_master_form(rng, cut > 0)
        #: Unicode, EBCDIC or ASCII (1252), which the numbers of tables say.
        self.scheme = 2 if wide else rng.choice((0, 0, 1))
        self.log = ZosLog(self.form, rng)
        self.tables = self._tables()
        self.files = rng.choice((1, 1, 1, 2))
        facts = {unit.number: self._facts(unit) for unit in history.units if not unit.open}
        for order, record in enumerate(history.records, 1):
            if not record.missing and not record.unit.open:
                self.log.changes.append(self._change(record, facts[record.unit.number], order))
        self.write()

    def write(self) -> None:
        """The log on disk."""
        incomplete = [unit.begin for unit in self.history.committed if unit.incomplete]
        dependent = zos_headers.NO_POSITION
        if incomplete:
            dependent = self.position(min(incomplete))
        control = self.folder / "model.ctl"
        pairs = self._generations()
        end = self.number(self.history.moment + 1)
        parts = self.log.control_of(pairs, end, dependent)
        control.write_bytes(framed(parts, self.form.framing, self.rng))
        records = self.log.data(self.log.changes)
        each = -(-len(records) // self.files) if records else 1
        data = []
        for number in range(self.files):
            some = records[number * each : (number + 1) * each]
            if some or not number:
                data.append(self.folder / f"model{number}.dat")
                data[-1].write_bytes(framed(some, self.form.framing, self.rng))
        self.source = ["--control", str(control), "--data", *map(str, data)]

    # -- positions

    def number(self, moment: int) -> int:
        """A moment as the encoder counts them: microseconds."""
        return 1000 + 7000 * moment

    def position(self, moment: int) -> bytes:
        """On the axis that units commit on."""
        if self.form.zero_lrsn and not self.form.sharing:
            return self.log.headers.rba(self.number(moment))
        return self.log.headers.lrsn(self.number(moment))

    def member(self, unit: Unit) -> int:
        return 1 + unit.number % 2 if self.form.sharing else 0

    def rba(self, moment: int, unit: Unit) -> int:
        """Each member has a log of its own, and so RBAs of its own."""
        if not self.form.sharing:
            return self.number(moment)
        return 0xA1B2_0000 + 0x3000_0000 * self.member(unit) + 0x68 * moment

    def name(self, unit: Unit) -> str:
        return self.log.headers.rba(self.rba(unit.begin, unit)).hex().upper()

    def commit(self, unit: Unit) -> str:
        return self.position(unit.commit).hex().upper()

    def time(self, unit: Unit) -> datetime:
        return zos_headers.EPOCH + timedelta(microseconds=self.number(unit.commit))

    # -- what the log holds

    def _tables(self) -> dict[tuple[str, int], tables.Table]:
        """Each generation of each table. One that was created anew has a number of its own."""
        names = list(dict.fromkeys(table.name for table in self.history.generations))
        return {
            (table.name, table.generation): translated(
                table,
                (0x105, 3 * (10 * names.index(table.name) + table.incarnation) + self.scheme),
                self.KINDS,
                ("varbinary",),
            )
            for table in self.history.generations
        }

    def _generations(self) -> Iterator[tuple[tables.Table, Generation]]:
        moments = {(a.table.name, a.table.generation): a.moment for a in self.history.alterations}
        for (name, number), table in self.tables.items():
            edges = (moments.get((name, number + more)) for more in (0, 1))
            create, drop = (0 if at is None else self.number(at) for at in edges)
            yield table, Generation(number, create, drop, len(table.columns))

    def _facts(self, unit: Unit) -> UnitFacts:
        return UnitFacts(
            *(self.rba(unit.begin, unit), self.number(unit.begin), self.member(unit)),
            *(self.number(unit.commit), self.rba(unit.commit, unit), not unit.aborted),
            unit.aborted or any(record.disposition in "SO" for record in unit.records),
            *(unit.incomplete, unit.dependent, unit.user),
        )

    def _change(self, record: rows.Record, facts: UnitFacts, order: int) -> zos_headers.Change:
        change = record.change
        table = self.tables[change.table.name, change.table.generation]
        images = tuple(
            self.log.rows.row(table, plain(change.table, row), len(table.columns))
            for row in (change.before, change.after)
            if row is not None
        )
        if len(self.form.plus) > 1 and len({*images}) > 1:
            change.spelled_anew = maybe_spelled_anew(change)
        return zos_headers.Change(
            table,
            {"I": "I ", "U": "UB", "D": "D "}[change.op],
            images,
            facts,
            self.number(record.moment),
            self.rba(record.moment, record.unit),
            (2 + change.rid // 200, 1 + change.rid % 200),
            order,
            disposition=record.disposition,
            source=change.origin,
        )


def log_master_form(rng: random.Random, cut: bool = False) -> zos_headers.Form:
    """Any form of a log, with code pages that have all letters of the model; ``cut``: into
    segments."""
    form = zos_history.form_of(rng.randrange(10_000))
    while cut and not form.segments:
        form = zos_history.form_of(rng.randrange(10_000))
    pages = {"ebcdic": zos_headers.PAGE_37, "ascii": Pages(1252, UNKNOWN, UNKNOWN)}
    return replace(form, **pages)


class LuwSite(Site):
    """A log in one to three files, and a catalog."""

    family = "db2luw"
    pattern = re.compile(r"^-- unit TID=([0-9A-F]{12})", re.MULTILINE)
    KINDS: ClassVar = LogMasterSite.KINDS

    def __init__(
        self,
        history: History,
        rng: random.Random,
        folder: Path,
        form: luw_history.Form | None = None,
        kinds: Sequence[str] = ("normal",),
        files: int | None = None,
        told: bool | None = None,
    ) -> None:
        super().__init__(history, rng, folder)
        self.form = form or luw_form(rng)
        self.log = Log(self.form, rng)
        self.writer = RowWriter(self.form, rng)
        self.kinds = kinds
        self.kind_of: dict[int, str] = {}
        self.seconds: dict[int, int] = {}
        self.places: dict[int, tuple[int, int]] = {}
        self.free: dict[str, list[tuple[int, int]]] = {}
        self.tables = {
            table.name: translated(table, (2, 5 + number), self.KINDS, ("varbinary",))
            for number, table in enumerate(history.database.tables.values())
        }
        #: What each record is of: an event of the history.
        self.events: list[tuple[str, Any]] = []
        self.standing: dict[int, list[tuple[rows.Record, int]]] = {}
        for event in history.events:
            self.put(*event)
        files = files or rng.choice((1, 1, 2, 3))
        self.write(self.split(files), told)

    def split(self, files: int) -> list[list[Record]]:
        records = self.log.records
        inner = range(1, len(records))
        cuts = sorted(self.rng.sample(inner, min(files - 1, len(inner))))
        return [records[low:high] for low, high in pairwise([0, *cuts, len(records)])]

    def write(self, parts: Sequence[Sequence[Record]], told: bool | None = None) -> None:
        """The log in these files; ``told``: whether the command is told of its form."""
        paths = []
        for number, part in enumerate(parts):
            paths.append(self.folder / f"{number}.log")
            paths[-1].write_bytes(b"".join(record.bytes for record in part))
        write_catalog([*self.tables.values()], self.folder / "catalog.csv")
        self.source = ["--source", "db2luw", "--log", *map(str, paths)]
        self.source += ["--catalog", str(self.folder / "catalog.csv")]
        if told or (told is None and self.rng.random() < 0.7):
            self.source += ["--framing", self.form.framing]
            for name, value in (("dialect", self.form.release), ("byte-order", self.form.order)):
                self.source += ["--log-option", f"{name}={value}"]
        elif self.form.release == "v95":  # nothing tells it from v7
            self.source += ["--log-option", "dialect=v95"]

    def put(self, what: str, of: Any) -> None:
        """The records of an event."""
        before = len(self.log.records)
        if what == "end":
            self._end(of)
        elif what == "do":
            self._do(of)
        elif what == "undo" and (of.disposition != "A" or of.unit.number % 5 > 1):
            self._undo(of)
        self.events += [(what, of)] * (len(self.log.records) - before)

    def tid(self, unit: Unit) -> int:
        return FIRST_TID + unit.number

    def name(self, unit: Unit) -> str:
        return f"{self.tid(unit):012X}"

    def time(self, unit: Unit) -> datetime:
        return datetime(1970, 1, 1) + timedelta(seconds=self.seconds[unit.number])

    def bytes_of(self, change: Change, row: Row | None) -> bytes:
        table = self.tables[change.table.name]
        assert row is not None
        return self.writer.row(table, plain(change.table, row), False, 0, False)

    def _place(self, change: Change) -> tuple[int, int]:
        if change.rid not in self.places:
            spare = self.free.get(change.table.name)
            new = (1 + change.rid // 200, 4 + change.rid % 200)
            self.places[change.rid] = spare.pop() if spare else new
        return self.places[change.rid]

    def _do(self, record: rows.Record) -> None:
        change, tid, log = record.change, self.tid(record.unit), self.log
        table, place = self.tables[change.table.name], self._place(change)
        if change.op == "U":
            old, new = (self.bytes_of(change, row) for row in (change.before, change.after))
            if self.form.odd and old != new:
                change.spelled_anew = maybe_spelled_anew(change)
            at = log.update(tid, table, place, old, new)
        elif change.op == "I":
            at = log.insert(tid, table, place, self.bytes_of(change, change.after))
        else:
            at = log.delete(tid, table, place, self.bytes_of(change, change.before))
        self.standing.setdefault(record.unit.number, []).append((record, at))

    def _undo(self, record: rows.Record) -> None:
        change, tid, log = record.change, self.tid(record.unit), self.log
        table, place = self.tables[change.table.name], self._place(change)
        standing = self.standing[record.unit.number]
        at = next(place for one, place in standing if one is record)
        standing[:] = [one for one in standing if one[0] is not record]
        undone = (standing[-1][1] if standing else 0, at)
        if change.op == "I":
            log.no_insert(tid, table, place, len(self.bytes_of(change, change.after)), undone)
        elif change.op == "D":
            log.no_delete(tid, table, place, self.bytes_of(change, change.before), undone)
        else:
            log.no_update(tid, table, place, self.bytes_of(change, change.before), undone)

    def _end(self, unit: Unit) -> None:
        if self.tid(unit) not in self.log.previous:
            return
        if unit.aborted:
            self.log.abort(self.tid(unit), unit.user.encode())
            return
        self.log.time = FIRST_SECOND + 10 * unit.commit
        self.kind_of[unit.number] = kind = self.rng.choice(self.kinds)
        self.log.commit(self.tid(unit), unit.user.encode(), kind)
        self.seconds[unit.number] = self.log.time
        for change in unit.effective:  # others may lie there from now on
            if change.after is None and self.rng.random() < 0.5:
                self.free.setdefault(change.table.name, []).append(self.places[change.rid])


def luw_form(rng: random.Random, **fixed: Any) -> luw_history.Form:
    """Any form of a log; what is given stays as it is."""
    form = luw_history.form_of(rng.randrange(10_000))
    while any(getattr(form, name) != value for name, value in fixed.items()):
        form = luw_history.form_of(rng.randrange(10_000))
    return form


@dataclass(frozen=True)
class Files:
    """How an export is handed out: format, files, read sessions, and whether text is wide."""

    suffix: str = "csv"
    count: int = 1
    sessions: int = 1
    wide: bool = False

    @classmethod
    def drawn(cls, rng: random.Random) -> Files:
        suffix = rng.choice(("csv", "jsonl", "csv.gz", "jsonl.gz", "parquet"))
        return cls(suffix, rng.choice((1, 1, 2, 3)), rng.choice((1, 1, 2)), rng.random() < 0.3)


class SolidSite(Site):
    """An export of SYS_LOG, and system tables. What was rolled back is not in it, and transactions
    stand one behind the other."""

    family, tells_keys, follows_rows = "soliddb", True, False
    pattern = re.compile(r"^-- unit TRXID=(\d+)", re.MULTILINE)
    KINDS: ClassVar = {
        **{kind: kind.upper() for kind in ("smallint", "integer", "bigint", "decimal", "char")},
        **{kind: kind.upper() for kind in ("varchar", "real", "date", "time", "timestamp")},
        "double": "DOUBLE PRECISION",
        "varbinary": "VARBINARY",
    }

    def __init__(
        self,
        history: History,
        rng: random.Random,
        folder: Path,
        form: solid_export.Form | None = None,
        files: Files | None = None,
        told: bool = True,
    ) -> None:
        super().__init__(history, rng, folder)
        self.form = form or solid_export.form_of(rng.randrange(10_000))
        self.files, self.told = files or Files.drawn(rng), told
        self.export = Export(self.form)
        kinds = self.KINDS
        if self.files.wide:
            kinds = kinds | {"char": "WCHAR", "varchar": "WVARCHAR"}
        self.tables = {
            table.name: translated(table, (10_012 + 7 * number, 0), kinds)
            for number, table in enumerate(history.database.tables.values())
        }
        self.numbers = count(660)
        self.trx: dict[int, int] = {}
        #: The line of each unit's commit.
        self.ends: dict[int, int] = {}
        for unit in history.committed:
            self._transaction(unit)
        lines = self.export.lines
        some = sorted(self.ends.values())
        self.starts = [0]
        if self.files.sessions > 1 and len(some) > 1:
            self.starts.append(some[len(some) // 2 - 1] + 1)
        for line in lines[self.starts[-1] :]:
            line.session = len(self.starts) - 1
        self.write()

    def write(self, sessions: Sequence[Mapping[str, str | None]] | None = None) -> None:
        """The export on disk; ``sessions`` as the manifest tells of them."""
        lines = self.export.lines
        keys = {
            table.name.split(".")[1]: Keys(
                table.unique,
                tuple((f.columns, f.parent.split(".")[1], f.parent_columns, f.on_delete)
                      for f in table.foreign),
            )
            for table in self.history.database.tables.values()
        }  # fmt: skip
        write_system_tables([*self.tables.values()], self.folder, keys)
        parts = min(self.files.count, max(1, len(lines) - 1))
        cuts = sorted(self.rng.sample(range(1, len(lines)), parts - 1)) if parts > 1 else []
        for path in self.folder.glob("syslog*"):
            path.unlink()
        ends = [0, *cuts, len(lines)]
        paths = self.export.write_parts(self.folder, self.files.suffix, [*pairwise(ends)])
        manifest = self.folder / "manifest.json"
        told = json.loads(manifest.read_text(encoding="utf-8"))
        listed = self.sessions() if sessions is None else list(sessions)
        manifest.write_text(json.dumps({**told, "sessions": listed}), encoding="utf-8")
        self.source = ["--source", "soliddb", "--log", *map(str, paths)]
        self.source += ["--catalog", str(self.folder)]
        if self.told:
            self.source += ["--framing", self.form.name]

    def sessions(self) -> list[dict[str, str | None]]:
        """The read sessions of the manifest."""
        found, last = [], None
        for number in range(len(self.starts)):
            commits = [
                line.address.hex().upper()
                for line in self.export.lines
                if line.session == number and line.recid == COMMIT
            ]
            if commits:
                found.append({"start_logaddr": last, "last_commit_logaddr": commits[-1]})
                last = commits[-1]
        return found

    def name(self, unit: Unit) -> str:
        return str(self.trx[unit.number])

    def urid(self, unit: Unit) -> str:
        return f"{self.trx[unit.number]:020X}"

    def _transaction(self, unit: Unit) -> None:
        export, trx = self.export, next(self.numbers)
        self.trx[unit.number] = trx
        export.put(START, trx, trx)
        if self.form.nothing and self.rng.random() < 0.3:
            export.nothing()
        number, last = trx, -1
        for record in unit.records:
            if record.disposition != "C":
                continue
            if record.statement != last:
                number, last = next(self.numbers), record.statement
            self._row(trx, number, record.change)
        self.ends[unit.number] = len(export.lines)
        export.put(COMMIT, trx, trx)

    def _row(self, trx: int, number: int, change: Change) -> None:
        """A key that changes is a delete and an insert."""
        table = self.tables[change.table.name]
        old, new = (
            row if row is None else plain(change.table, row)
            for row in (change.before, change.after)
        )
        pairs = [(DELETE, old), (INSERT, new)]
        if old is not None and new is not None:
            if table.key_of(old) == table.key_of(new):
                pairs = [(BEFORE, old), (AFTER, new)]
            if self.form.after_first and table.key:
                pairs.reverse()
        for recid, row in pairs:
            if row is not None:
                self.export.row(recid, trx, number, table, row)
