"""Random histories of a small database with keys, a unique column and foreign keys: as a log, and
as a model that can be replayed without some units.

Units commit one after the other and every change is valid when it happens, so what really depends
on what follows from trying: replay the history without some units and see whether the others still
find what they need.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.logbuilder import Col, LogBuilder, Tab

PARENT = Tab(
    "PARENT",
    (
        Col("ID", "INT", 4, key=1),
        Col("CODE", "VCHR", 8, nulls="Y"),
        Col("A", "INT", 4),
        Col("B", "INT", 4),
    ),
    obid=5,
)
CHILD = Tab(
    "CHILD",
    (Col("ID", "INT", 4, key=1), Col("PID", "INT", 4, nulls="Y"), Col("X", "INT", 4)),
    obid=6,
)
#: A table without a key: rows may be there twice.
LOOSE = Tab("LOOSE", (Col("T", "VCHR", 8), Col("N", "INT", 4)), obid=7)
#: Tables of which each may refer to the other, and one to itself.
EMP = Tab(
    "EMP",
    (
        Col("ID", "INT", 4, key=1),
        Col("BOSS", "INT", 4, nulls="Y"),
        Col("DEPT", "INT", 4, nulls="Y"),
    ),
    obid=8,
)
DEPT = Tab("DEPT", (Col("ID", "INT", 4, key=1), Col("HEAD", "INT", 4, nulls="Y")), obid=9)
TABLES = {table.name: table for table in (PARENT, CHILD, LOOSE)}

SCHEMA = """
CREATE SCHEMA testown;
CREATE TABLE testown.parent (id integer PRIMARY KEY, code varchar(8) UNIQUE, a integer NOT NULL, b
integer NOT NULL);
CREATE TABLE testown.child (id integer PRIMARY KEY, pid integer REFERENCES testown.parent, x
integer NOT NULL);
CREATE TABLE testown.loose (t varchar(8) NOT NULL, n integer NOT NULL);
"""


@dataclass(frozen=True)
class Step:
    """One change: ``before`` and ``after`` rows, None where there is none."""

    table: str
    before: tuple[Any, ...] | None
    after: tuple[Any, ...] | None


@dataclass
class History:
    """Units of steps in commit order."""

    units: list[list[Step]] = field(default_factory=list)

    def log(
        self,
        folder: Path,
        incomplete: frozenset[int] = frozenset(),
        flagged: frozenset[int] = frozenset(),
        seed: int = 0,
    ) -> tuple[Path, list[Path]]:
        """The history as a log, records shuffled; some units marked."""
        log = LogBuilder(tuple(TABLES.values()))
        for number, steps in enumerate(self.units):
            flags: dict[str, Any] = {
                "INCOMPLETETRANS": "Y" if number in incomplete else "N",
                "INCOMPLETEDEP": "Y" if number in flagged else "N",
            }
            unit = log.unit(member=1 + number % 2, **flags)
            for step in steps:
                table = TABLES[step.table]
                if step.before is None:
                    unit.insert(table, step.after or ())
                elif step.after is None:
                    unit.delete(table, step.before)
                else:
                    unit.update(table, step.before, step.after)
        return log.write(folder, seed=seed)

    def state(self, without: frozenset[int] = frozenset()) -> dict[str, list[tuple[Any, ...]]]:
        """The rows of each table after the units but some. Updates set what they changed. KeyError
        where a row is missing."""
        rows: dict[str, dict[Any, tuple[Any, ...]]] = {"PARENT": {}, "CHILD": {}}
        loose: list[tuple[Any, ...]] = []
        for number, steps in enumerate(self.units):
            for step in steps if number not in without else ():
                if step.table == "LOOSE":
                    if step.before is not None:
                        loose.remove(step.before)
                    if step.after is not None:
                        loose.append(step.after)
                    continue
                table = rows[step.table]
                if step.before is None:
                    assert step.after is not None
                    assert step.after[0] not in table
                    table[step.after[0]] = step.after
                    continue
                old = table.pop(step.before[0])
                if step.after is not None:
                    new = tuple(
                        a if a != b else o
                        for o, b, a in zip(old, step.before, step.after, strict=True)
                    )
                    assert new[0] not in table
                    table[new[0]] = new
        return {
            "parent": sorted(rows["PARENT"].values()),
            "child": sorted(rows["CHILD"].values()),
            "loose": sorted(loose),
        }


class Maker:
    """Makes a random history; ``spread`` is the number of different keys, so a small one makes many
    conflicts."""

    def __init__(self, seed: int, units: int, spread: int = 12) -> None:
        self.random = random.Random(seed)
        self.spread = spread
        self.parents: dict[int, tuple[Any, ...]] = {}
        self.children: dict[int, tuple[Any, ...]] = {}
        self.loose: list[tuple[Any, ...]] = []
        self.history = History()
        while len(self.history.units) < units:
            steps = [
                step for _ in range(self.random.randint(1, 4)) if (step := self._step()) is not None
            ]
            if steps:
                self.history.units.append(steps)

    def _step(self) -> Step | None:
        kind = self.random.choice(
            (
                self._parent_in,
                self._parent_change,
                self._parent_out,
                self._child_in,
                self._child_change,
                self._child_out,
                self._loose,
            )
        )
        return kind()

    def _code(self) -> str | None:
        code = self.random.choice([None, *"ABCDEFGH"])
        return None if code in {row[1] for row in self.parents.values()} else code

    def _parent_in(self) -> Step | None:
        key = self.random.randrange(self.spread)
        if key in self.parents:
            return None
        self.parents[key] = (key, self._code(), self.random.randrange(3), self.random.randrange(3))
        return Step("PARENT", None, self.parents[key])

    def _parent_change(self) -> Step | None:
        if not self.parents:
            return None
        key = self.random.choice(sorted(self.parents))
        before = self.parents[key]
        after = list(before)
        what = self.random.choice(("code", "a", "b", "key"))
        if what == "code":
            after[1] = self._code()
        elif what == "key":
            after[0] = self.random.randrange(self.spread)
            if after[0] in self.parents or any(row[1] == key for row in self.children.values()):
                return None
        else:
            after[2 if what == "a" else 3] = self.random.randrange(3)
        if tuple(after) == before:
            return None
        del self.parents[key]
        self.parents[after[0]] = tuple(after)
        return Step("PARENT", before, tuple(after))

    def _parent_out(self) -> Step | None:
        free = sorted(set(self.parents) - {row[1] for row in self.children.values()})
        return Step("PARENT", self.parents.pop(self.random.choice(free)), None) if free else None

    def _child_in(self) -> Step | None:
        key = self.random.randrange(self.spread)
        if key in self.children:
            return None
        parent = self.random.choice([None, *sorted(self.parents)])
        self.children[key] = (key, parent, self.random.randrange(3))
        return Step("CHILD", None, self.children[key])

    def _child_change(self) -> Step | None:
        if not self.children:
            return None
        before = self.children[self.random.choice(sorted(self.children))]
        parent = self.random.choice([None, before[1], *sorted(self.parents)])
        after = (before[0], parent, self.random.randrange(3))
        self.children[before[0]] = after
        return None if after == before else Step("CHILD", before, after)

    def _child_out(self) -> Step | None:
        if not self.children:
            return None
        return Step("CHILD", self.children.pop(self.random.choice(sorted(self.children))), None)

    def _loose(self) -> Step:
        if self.loose and self.random.random() < 0.5:
            row = self.random.choice(self.loose)
            self.loose.remove(row)
            if self.random.random() < 0.5:
                return Step("LOOSE", row, None)
            after = (row[0], row[1] + 1)
            self.loose.append(after)
            return Step("LOOSE", row, after)
        row = (self.random.choice("pqr"), self.random.randrange(3))
        self.loose.append(row)
        return Step("LOOSE", None, row)
