"""Tables that come, change and go amid their rows, in logs of Db2 LUW and of solidDB.

Columns come with defaults that a statement, a record, the type or only the catalog tells; columns
get wider, other names and other defaults, or go; tables are emptied, dropped and made again, in Db2
with the numbers of the one before. Statements may be missing, units are taken back, wholly or in
part. Rows and columns have an identity of their own, so that no name can confuse them.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from tests.independent import tables as encoded
from tests.independent.luw_history import ORDERS
from tests.independent.luw_records import FRAMINGS, Log, RowWriter, write_catalog
from tests.independent.luw_records import Form as LuwForm
from tests.independent.solid_export import (
    AFTER,
    BEFORE,
    COMMIT,
    DDL,
    DELETE,
    INSERT,
    START,
    STATEMENT,
    Export,
    Form,
    form_of,
    write_system_tables,
)
from tests.model.compare import literal as quoted
from tests.model.rows import Column

Cells = dict[int, Any]
"""A row: values by the identity of their columns."""
Family = Literal["db2luw", "soliddb"]
SCHEMA = "APP"
FIRST = 0xA00
NAMES = tuple("ABCDEFGHI")
#: What rows have in a column that comes with the default of its type.
OF_TYPE: dict[str, Any] = {
    "integer": 0, "bigint": 0, "varchar": "", "decimal": Decimal("0.00"), "date": "0001-01-01",
}  # fmt: skip
LENGTHS = {"varchar": (20, 0), "decimal": (9, 2), "varbinary": (20, 0), "timestamp": (0, 6)}


def said(value: Any) -> str:
    """A value as statements and catalogs have it."""
    return str(value) if isinstance(value, Decimal) else quoted(value, "")


@dataclass(frozen=True)
class Part(Column):
    """A column. ``how`` its default is declared: not at all, by a value, or by its type; ``later``:
    what the catalog has by now."""

    ident: int = 0
    how: str = ""
    later: Any = None

    @property
    def text(self) -> str:
        """As a statement declares it."""
        sizes = {"varchar": f"({self.length})", "varbinary": f"({self.length})"}
        sizes["decimal"] = f"({self.length},{self.scale})"
        text = f"{self.name} {self.kind.upper()}{sizes.get(self.kind, '')}"
        if self.how == "value":
            text += f" DEFAULT {said(self.default)}"
        text += "" if self.nullable else " NOT NULL"
        return text + " WITH DEFAULT" * (self.how == "type")


@dataclass(frozen=True)
class Shape:
    """A table as it is for a while. ``columns``: all that it ever had, in the order of their
    coming; ``gone`` are those that were dropped, ``first`` how many it was made with."""

    number: int
    name: str
    columns: tuple[Part, ...]
    key: tuple[int, ...]
    first: int
    gone: frozenset[int] = frozenset()

    @property
    def shown(self) -> tuple[Part, ...]:
        return tuple(one for one in self.columns if one.ident not in self.gone)

    def with_part(self, part: Part) -> Shape:
        parts = tuple(part if one.ident == part.ident else one for one in self.columns)
        return replace(self, columns=parts)


State = dict[int, tuple[Shape, dict[int, Cells]]]


@dataclass(frozen=True)
class Act:
    """A row that changes (``rid``), or a table (``old``, ``new``) with the statement for it;
    ``empty``: all its rows go."""

    number: int
    rid: int = 0
    before: Cells | None = None
    after: Cells | None = None
    old: Shape | None = None
    new: Shape | None = None
    empty: bool = False
    text: str = ""
    kind: int = 22
    told: bool = True

    @property
    def of_row(self) -> bool:
        return self.rid > 0


@dataclass
class Unit:
    """``taken``: what it did first, and took back."""

    number: int
    acts: list[Act] = field(default_factory=list)
    taken: list[Act] = field(default_factory=list)
    committed: bool = True


def apply(state: State, act: Act) -> None:
    """Raises KeyError where the row or the table is not there."""
    if not act.of_row:
        held = {} if act.old is None else state.pop(act.number)[1]
        if act.new is not None:
            rows = {} if act.empty else {rid: _widened(row, act.new) for rid, row in held.items()}
            state[act.number] = act.new, rows
        return
    shape, rows = state[act.number]
    if act.before is None:
        rows[act.rid] = _widened(act.after or {}, shape)
    elif act.after is None:
        del rows[act.rid]
    else:
        changed = {n: v for n, v in act.after.items() if act.before.get(n, ...) != v}
        rows[act.rid] = _widened(rows[act.rid] | changed, shape)


def _widened(row: Cells, shape: Shape) -> Cells:
    return {one.ident: row.get(one.ident, one.default) for one in shape.shown}


def copied(state: State) -> State:
    return {number: (shape, dict(rows)) for number, (shape, rows) in state.items()}


class Structures:
    """Draws a history: what was ``before`` the log, its ``units``, and where it ``stands`` behind
    each of those that commit. ``told``: how likely a statement is in the log."""

    def __init__(self, seed: object, family: Family, told: float = 1, units: int = 12) -> None:
        self.pick = pick = random.Random(f"structures {family} {seed}")
        self.family, self.told = family, told
        self.idents = self.rids = self.tables = 0
        #: Whether tables go, which no undo brings back, and columns change as not every target can.
        self.drops, self.hard = pick.random() < 0.5, family == "soliddb" and pick.random() < 0.4
        self.state: State = {}
        self.units: list[Unit] = []
        #: Every table that there was, as it was last.
        self.ever: dict[int, Shape] = {}
        for _ in range(2):
            shape = self.shape()
            self.state[shape.number] = self.ever[shape.number] = shape, {}
            self.ever[shape.number] = shape
            for _ in range(pick.randint(1, 5)):
                act = self.insertion(shape.number)
                apply(self.state, act) if act else None
        self.before = copied(self.state)
        self.stands: list[State] = []
        while len(self.stands) < units:
            self.unit()

    # -- tables and values

    def part(self, name: str) -> Part:
        pick = self.pick
        kinds = ["integer", "bigint", "varchar", "decimal", "date"]
        kinds += ["timestamp", "varbinary"] * (self.family == "soliddb")
        kind = pick.choice(kinds)
        self.idents += 1
        return Part(name, kind, *LENGTHS.get(kind, (0, 0)), True, None, self.idents)

    def shape(self, name: str | None = None) -> Shape:
        pick = self.pick
        self.tables += 1
        names = pick.sample(NAMES[:5], pick.randint(2, 4))
        parts = [self.part(one) for one in names]
        key: tuple[int, ...] = ()
        if pick.random() < 0.85:
            kind = pick.choice(("integer", "varchar", "bigint"))
            length = LENGTHS.get(kind, (0, 0))[0]
            parts[0] = replace(parts[0], kind=kind, length=length, scale=0, nullable=False)
            key = (parts[0].ident,)
        name = name or f"T{self.tables}"
        return Shape(self.tables, name, tuple(parts), key, len(parts))

    def value(self, part: Part) -> Any:
        pick = self.pick
        if part.nullable and pick.random() < 0.2:
            return None
        match part.kind:
            case "integer":
                return pick.randint(-5, 300)
            case "bigint":
                return pick.randint(-(2**40), 2**40)
            case "decimal":
                return Decimal(pick.randint(-99_999, 99_999)).scaleb(-2)
            case "date":
                return f"20{pick.randint(10, 40)}-0{pick.randint(1, 9)}-{pick.randint(10, 28)}"
            case "timestamp":
                return f"20{pick.randint(10, 40)}-02-11 10:20:30.{pick.randint(0, 999_999):06}"
            case "varbinary":
                return pick.randbytes(pick.randint(1, 5))
        return pick.choice(("a", "", "b c", "x'y", "é", str(pick.randint(0, 99))))

    def row(self, number: int, old: Cells | None = None, keep: int = 0) -> Cells | None:
        shape, rows = self.state[number]
        for _ in range(9):
            row = {
                one.ident: self.value(one)
                if old is None or (one.ident not in shape.key and self.pick.random() < 0.5)
                or (one.ident in shape.key and self.pick.random() < 0.1)
                else old[one.ident]
                for one in shape.shown
            }  # fmt: skip
            others = [other for rid, other in rows.items() if rid != keep]
            keys = [tuple(one[ident] for ident in shape.key) for one in (row, *others)]
            if row != old and (not shape.key or keys[0] not in keys[1:]):
                return row
        return None

    # -- units

    def unit(self) -> None:
        pick, unit = self.pick, Unit(FIRST + len(self.units) + 1)
        start, ever = copied(self.state), dict(self.ever)
        fate = pick.random() if self.family == "db2luw" else 1
        for _ in range(pick.randint(1, 5)):
            act = self.act()
            if act is not None:
                apply(self.state, act)
                if act.new is not None:
                    self.ever[act.number] = act.new
                unit.acts.append(act)
        if not unit.acts:
            return
        self.units.append(unit)
        if fate < 0.25:  # to the start; and on from there, or not at all
            self.state, self.ever = start, ever
            unit.taken, unit.acts = unit.acts, []
            act = self.change() if fate < 0.12 and self.state else None
            unit.committed = act is not None
            if act is not None:
                apply(self.state, act)
                unit.acts.append(act)
        if unit.committed:
            self.stands.append(copied(self.state))

    def act(self) -> Act | None:
        if not self.state or self.pick.random() < 0.25:
            return self.structure()
        return self.change()

    def insertion(self, number: int) -> Act | None:
        row = self.row(number)
        if row is None:
            return None
        self.rids += 1
        return Act(number, self.rids, None, row)

    def change(self) -> Act | None:
        pick = self.pick
        number = pick.choice([*self.state])
        rows = self.state[number][1]
        what = pick.random()
        if what < 0.4 or not rows:
            return self.insertion(number)
        rid = pick.choice([*rows])
        if what < 0.6:
            return Act(number, rid, rows[rid], None)
        new = self.row(number, rows[rid], rid)
        return Act(number, rid, rows[rid], new) if new else None

    # -- statements

    def structure(self) -> Act | None:
        pick, solid = self.pick, self.family == "soliddb"
        told = pick.random() < self.told
        acts = ["add", "add", "add", "create", *["gone", "create"] * self.drops]
        acts += ["drop", "name", "move"] * solid + ["wider", "default", "empty"] * self.hard
        act = pick.choice(acts) if self.state else "create"
        if act == "create":
            there = {shape.name for shape, _ in self.state.values()}
            gone = sorted({one.name for one in self.ever.values()} - there)
            again = solid and gone and pick.random() < 0.6
            shape = self.shape(name=pick.choice(gone) if again else f"N{self.tables}")
            return self._create(shape, told)
        number = pick.choice([*self.state])
        shape = self.state[number][0]
        if act == "gone":
            return self._drop(shape, told)
        if act == "empty":
            text = f"TRUNCATE TABLE {shape.name}"
            return Act(number, old=shape, new=shape, empty=True, text=text, kind=73, told=told)
        if act == "move":
            name = f"M{len(self.units)}{shape.number}"
            if any(one.name == name for one in self.ever.values()):
                return None
            text = f"ALTER TABLE {shape.name} SET TABLE NAME {name}"
            new = replace(shape, name=name)
            return Act(number, old=shape, new=new, text=text, kind=47, told=told)
        found = self._altered(shape, act)
        if found is None:
            return None
        text = f"ALTER TABLE {shape.name} {found[1]}"
        return Act(number, old=shape, new=found[0], text=text, told=told)

    def _create(self, shape: Shape, told: bool) -> Act:
        texts = [part.text for part in shape.columns]
        key = [part.name for part in shape.columns if part.ident in shape.key]
        texts += [f"PRIMARY KEY ({', '.join(key)})"] if key else []
        text = f"CREATE TABLE {shape.name} ({', '.join(texts)})"
        return Act(shape.number, new=shape, text=text, kind=45, told=told)

    def _drop(self, shape: Shape, told: bool) -> Act | None:
        """Of solidDB the system tables must have been read while the table was there."""
        last = self.stands[-1] if self.stands else self.before
        if self.family == "soliddb" and last.get(shape.number, (None,))[0] != shape:
            return None
        if len(self.state) < 2:
            return None
        return Act(shape.number, old=shape, text=f"DROP TABLE {shape.name}", kind=17, told=told)

    def _altered(self, shape: Shape, act: str) -> tuple[Shape, str] | None:
        pick = self.pick
        used = {one.name for one in shape.columns}
        free = [name for name in NAMES if name not in used]
        if act == "add":
            return self._added(shape, pick.choice(free)) if free else None
        able = [one for one in shape.shown if one.ident not in shape.key]
        part = pick.choice(able) if able else None
        if part is None:
            return None
        match act:
            case "drop" if len(able) > 1:
                return replace(shape, gone=shape.gone | {part.ident}), f"DROP COLUMN {part.name}"
            case "name" if free:
                new = replace(part, name=pick.choice(free))
                return shape.with_part(new), f"RENAME COLUMN {part.name} {new.name}"
            case "wider" if part.kind in ("varchar", "integer"):
                sizes = (part.length + 10, "varchar") if part.kind == "varchar" else (0, "bigint")
                new = replace(part, length=sizes[0], kind=sizes[1])
                declared = replace(new, how="", nullable=True).text.split(" ", 1)[1]
                return shape.with_part(new), f"MODIFY COLUMN {part.name} {declared}"
            case "default":
                value = self.value(replace(part, nullable=False))
                new = replace(part, later=value)
                text = said(value) if not isinstance(value, bytes) else "NULL"
                new = replace(new, later=None) if text == "NULL" else new
                return shape.with_part(new), f"ALTER COLUMN {part.name} SET DEFAULT {text}"
        return None

    def _added(self, shape: Shape, name: str) -> tuple[Shape, str]:
        pick, part = self.pick, self.part(name)
        how = pick.choice(("", "value", "value", "type" if self.family == "db2luw" else "value"))
        if part.kind in ("varbinary", "timestamp"):
            how = ""
        if how == "value":
            value = self.value(replace(part, nullable=False))
            part = replace(part, how=how, default=value, later=value, nullable=pick.random() < 0.5)
        elif how == "type":
            value = OF_TYPE[part.kind]
            part = replace(part, how=how, default=value, later=value, nullable=False)
        text = part.text
        if self.family == "soliddb" and part.kind == "integer" and pick.random() < 0.2:
            text += f" CHECK ({part.name} > -99999)"
        columns = (*shape.columns, part)
        return replace(shape, columns=columns), f"ADD COLUMN {text}"


def known(part: Part, luw: bool, told: bool = True) -> encoded.Column:
    """A column as the encoders have it."""
    kinds = {"varbinary": "VARCHAR" if luw else "VARBINARY"}
    flags = {"": 0, "type": 4, "value": 8}[part.how]
    text = "" if part.later is None or not told else said(part.later)
    return encoded.Column(
        part.name, kinds.get(part.kind, part.kind.upper()), part.length, part.scale, part.nullable,
        luw and part.kind == "varbinary", default=text, flags=flags,
    )  # fmt: skip


def as_table(
    shape: Shape, number: tuple[int, int], luw: bool, width: int | None = None, told: bool = True
) -> encoded.Table:
    """A table as the encoders have it; dropped columns keep their places."""
    columns = []
    for part in shape.columns[:width]:
        column = known(part, luw, told)
        if part.ident in shape.gone:
            name = f"$SYS_DELETED_{part.ident}_{part.name}"
            column = replace(column, name=name, nullable=True, removed=True)
        columns.append(column)
    key = tuple(n for n, part in enumerate(shape.columns) if part.ident in shape.key)
    return encoded.Table(SCHEMA, shape.name, number, tuple(columns), key, shape.first)


def cells(shape: Shape, row: Cells) -> encoded.Row:
    return tuple(row.get(part.ident) for part in shape.columns)


class LuwStructures:
    """The log of a history of Db2 LUW, and its catalog, which was exported at the end; it may lack
    the defaults (``defaults``)."""

    def __init__(self, made: Structures, form: LuwForm | None = None) -> None:
        pick = self.pick = made.pick
        release = pick.choice([*FRAMINGS])
        self.form = form or LuwForm(release, pick.choice(ORDERS), pick.choice(FRAMINGS[release]))
        self.made, self.log, self.writer = made, Log(self.form, pick), RowWriter(self.form, pick)
        self.defaults = pick.random() < 0.7
        #: How many columns a row was stored with.
        self.width: dict[int, int] = {}
        self.ids: dict[int, tuple[int, int]] = {}
        self.shapes = {number: shape for number, (shape, _) in made.before.items()}
        for number in range(made.tables + 1):
            self.ids[number] = (2 + number % 2, 4 + number)
        for _, (shape, rows) in made.before.items():
            self.width |= dict.fromkeys(rows, len(shape.columns))
        #: Tables that are gone, whose numbers may come again; those whose numbers another one has.
        self.free: list[int] = []
        self.lost: set[int] = set()
        self.images: dict[int, bytes] = {}
        for unit in made.units:
            self._unit(unit)

    def _unit(self, unit: Unit) -> None:
        if unit.taken:
            kept = dict(self.width), dict(self.shapes), dict(self.ids), [*self.free], {*self.lost}
            done = [(act, self._do(unit.number, act)) for act in unit.taken]
            places = [0] + [place for _, some in done for place in some]
            for act, some in reversed(done):
                for number, place in reversed([*enumerate(some)]):
                    before = places[places.index(place) - 1]
                    self._undo(unit.number, act, number, (before, place))
            self.width, self.shapes, self.ids, self.free, self.lost = kept
        for act in unit.acts:
            self._do(unit.number, act)
        (self.log.commit if unit.committed else self.log.abort)(unit.number)

    def _place(self, act: Act) -> tuple[int, int]:
        return act.rid // 50 + 1, 4 + act.rid % 50

    def _image(self, act: Act, row: Cells, width: int) -> bytes:
        shape = self.shapes[act.number]
        table = as_table(shape, self.ids[act.number], True, width)
        return self.writer.row(table, cells(shape, row)[:width], False, 0, False)

    def _do(self, unit: int, act: Act) -> list[int]:
        """Write an act, and say where its records lie."""
        log = self.log
        if not act.of_row:
            return self._structure(unit, act)
        shape = self.shapes[act.number]
        table, full = as_table(shape, self.ids[act.number], True), len(shape.columns)
        place, width = self._place(act), self.width.get(act.rid, full)
        if act.after is None:
            assert act.before is not None
            self.images[id(act)] = old = self._image(act, act.before, width)
            return [log.delete(unit, table, place, old)]
        self.width[act.rid] = full
        new = self._image(act, act.after, full)
        if act.before is None:
            return [log.insert(unit, table, place, new)]
        self.images[id(act)] = old = self._image(act, act.before, width)
        return [log.update(unit, table, place, old, new)]

    def _structure(self, unit: int, act: Act) -> list[int]:
        log, number = self.log, act.number
        if act.old is None:
            assert act.new is not None
            if self.free:
                self.lost.add(self.free[-1])
                self.ids[number] = self.ids[self.free.pop()]
            self.shapes[number] = act.new
            table = as_table(act.new, self.ids[number], True)
            found = [log.create(unit, table)]
            if self.form.early or self.pick.random() < 0.5:
                log.table(unit, table)
            return found
        if act.new is None:
            del self.shapes[number]
            self.free += [number] * (self.pick.random() < 0.5)
            return [log.drop(unit, as_table(act.old, self.ids[number], True))]
        self.shapes[number] = act.new
        old, new = (as_table(shape, self.ids[number], True) for shape in (act.old, act.new))
        found = []
        if self.form.release == "v10" and act.told:
            found.append(log.statement(unit, act.text, SCHEMA))
        found.append(log.columns(unit, new, old.columns, new.columns))
        return found

    def _undo(self, unit: int, act: Act, number: int, undone: tuple[int, int]) -> None:
        log, ids = self.log, self.ids[act.number]
        if not act.of_row:
            if act.old is None or act.new is None:
                table = as_table(act.new or act.old, ids, True)  # type: ignore[arg-type]
                (log.create if act.old is None else log.drop)(unit, table, undone)
            elif number == 0 and self.form.release == "v10" and act.told:
                log.statement(unit, act.text, SCHEMA, undone)
            else:
                old, new = (as_table(shape, ids, True) for shape in (act.old, act.new))
                log.columns(unit, new, new.columns, old.columns, undone)
            return
        table, place = encoded.Table(SCHEMA, "", ids, (), (), 0), self._place(act)
        if act.before is None:
            log.no_insert(unit, table, place, 40, undone)
        elif act.after is None:
            log.no_delete(unit, table, place, self.images[id(act)], undone)
        else:
            log.no_update(unit, table, place, self.images[id(act)], undone)

    def name(self, unit: Unit) -> str:
        return f"{unit.number:012X}"

    def write(self, folder: Path) -> list[str]:
        (folder / "log").write_bytes(b"".join(record.bytes for record in self.log.records))
        there = [n for n in self.made.ever if n not in self.lost]
        some = [
            as_table(self.made.ever[n], self.ids[n], True, told=self.defaults)
            for n in sorted(there)
        ]
        write_catalog(some, folder / "catalog.csv", self.defaults)
        source = ["--source", "db2luw", "--log", str(folder / "log")]
        source += ["--catalog", str(folder / "catalog.csv")]
        if self.form.release == "v95":
            source += ["--log-option", "dialect=v95"]
        return source


class SolidStructures:
    """The export of a history of solidDB, of which the system tables were read at the end."""

    def __init__(self, made: Structures, form: Form | None = None) -> None:
        self.made = made
        self.form = form or replace(form_of(made.pick.randrange(1000)), hidden=False, nothing=False)
        self.export, self.number = Export(self.form), 700
        self.shapes = {number: shape for number, (shape, _) in made.before.items()}
        self.trx: dict[int, int] = {}
        #: The lines behind each unit; of tables that were dropped how they were at a line before.
        self.ends: list[int] = [0]
        self.dropped: dict[int, tuple[Shape, int, int]] = {}
        for unit in made.units:
            trx = self.trx[unit.number] = self._next()
            self.export.put(START, trx, trx)
            for act in unit.acts:
                self._do(trx, act)
            self.export.put(COMMIT, trx, trx)
            self.ends.append(len(self.export.lines))

    def _next(self) -> int:
        self.number += 1
        return self.number

    def relid(self, number: int) -> int:
        return 10_012 + 7 * number

    def table(self, shape: Shape) -> encoded.Table:
        return as_table(shape, (self.relid(shape.number), 0), False)

    def _do(self, trx: int, act: Act) -> None:
        statement = self._next()
        if not act.of_row:
            shape = act.new or act.old
            assert shape is not None
            name = shape.name if act.kind != 47 else f"CAT.{SCHEMA}.{shape.name}"
            name = f"CAT.{SCHEMA}.{shape.name}" if act.kind == 45 else name
            data = struct.pack(">iI", act.kind, len(name)) + name.encode()
            self.export.put(DDL, trx, statement, self.relid(act.number), data)
            if act.told:
                text = act.text.encode()
                self.export.put(STATEMENT, trx, statement, self.relid(act.number), text)
            if act.new is None:
                assert act.old is not None
                at = len(self.export.lines), self.ends[-1] - 1
                self.dropped[act.number] = act.old, *at
            else:
                self.shapes[act.number] = act.new
            return
        shape = self.shapes[act.number]
        before, after = act.before, act.after
        recids = BEFORE, AFTER
        if before is None or after is None or any(before[n] != after[n] for n in shape.key):
            recids = DELETE, INSERT
        for recid, row in zip(recids, (before, after), strict=True):
            if row is not None:
                table = self.table(shape)
                self.export.row(recid, trx, statement, table, cells(shape, row))

    def name(self, unit: Unit) -> str:
        return str(self.trx[unit.number])

    def write(self, folder: Path, low: int = 0, high: int | None = None) -> list[str]:
        """The units from ``low`` up to ``high``, as one read session."""
        high = len(self.made.units) if high is None else high
        lines, (start, end) = self.export.lines, (self.ends[low], self.ends[high])
        log = Export(self.form, lines[start:end]).write(folder)
        stand = self.made.stands[high - 1] if high else self.made.before
        gone = {n: one for n, one in self.dropped.items() if start < one[1] <= end}
        shapes = [shape for shape, _ in stand.values()] + [shape for shape, *_ in gone.values()]
        write_system_tables([self.table(shape) for shape in shapes], folder)
        ends = [lines[at - 1].address.hex().upper() if at else None for at in (start, end)]
        read = {
            str(self.relid(n)): lines[max(at, 0)].address.hex().upper()
            for n, (*_, at) in gone.items()
        }
        session = {"start_logaddr": ends[0], "last_commit_logaddr": ends[1]}
        manifest = {"char_encoding": "UTF8", "sessions": [session], "dropped_tables": read}
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        source = ["--source", "soliddb", "--log", str(log), "--catalog", str(folder)]
        return [*source, "--framing", self.form.name]


def after(made: Structures, some: Iterable[Unit]) -> tuple[State, State]:
    """The rows before the log, and with what these units leave, in their order."""
    state = copied(made.before)
    for unit in some:
        for act in unit.acts:
            apply(state, act)
    return copied(made.before), state


def without(made: Structures, gone: Sequence[Unit]) -> tuple[State, State]:
    """The rows without these units, as they are taken back, the latest first; and all rows."""
    state = copied(made.state)
    for unit in reversed(gone):
        for act in reversed(unit.acts):
            turned = replace(act, before=act.after, after=act.before, old=act.new, new=act.old)
            apply(state, turned)
    return state, copied(made.state)
