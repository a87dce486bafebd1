"""What an undo of some units must leave, by a model that knows versions of rows and nothing of the
program: which later changes build on a change, and the rows that each choice of ``--cascade`` ends
in."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.independent.locks import Holder
from tests.independent.luw_history import History, Unit
from tests.independent.tables import Column, Row, Table
from tests.independent.values import Value


class First(random.Random):
    """Draws what comes first."""

    def choice(self, seq: Any) -> Any:
        return seq[0]

    def random(self) -> float:
        return 0.0

    def randbytes(self, n: int) -> bytes:
        return bytes(n)


class Undoable(History):
    """A history of tables with keys that do not change, and updates of few columns, that remembers
    what each unit did. Of the ways to write a value there is one, so that a value that stays is
    the same octets."""

    def __init__(self, *given: object, **named: object) -> None:
        self.ledger: list[tuple[int, list[tuple[Table, object, Row | None, Row | None]]]] = []
        super().__init__(*given, **named)  # type: ignore[arg-type]

    def _table(self, number: int) -> Table:
        while True:
            table = super()._table(number)
            kinds = {column.kind for column in table.columns}
            if table.key and len(table.columns) > 2 and not kinds & {"CLOB", "REAL", "DOUBLE"}:
                return table

    def _value(self, table: Table, number: int, column: Column) -> Value:
        value = super()._value(table, number, column)
        if number in table.key and isinstance(value, str):
            return value.strip(" ") or "x"
        return value

    def _row(
        self,
        table: Table,
        unit: Holder | None,
        old: Row | None = None,
        rate: float = 1,
        rekey: bool = True,
    ) -> Row | None:
        if old is None:
            return super()._row(table, unit, old, rate, rekey)
        plain = [number for number in range(len(table.columns)) if number not in table.key]
        row = list(old)
        for number in self.pick.sample(plain, min(len(plain), self.pick.choice((1, 1, 2)))):
            row[number] = self._value(table, number, table.columns[number])
        return tuple(row)

    def _shift(self, *_: object) -> None:
        """Keys stay."""

    def _bytes(self, table: Table, row: Row, short: bool = False, outer: int = 0) -> bytes:
        drawn, self.writer.pick = self.writer.pick, First()
        try:
            return super()._bytes(table, row, short, outer)
        finally:
            self.writer.pick = drawn

    def _finish(self, unit: Unit, commits: bool) -> None:
        done = [
            (statement.table, changed.place, changed.before, changed.after)
            for statement in unit.statements
            for changed in statement.changed
        ]
        super()._finish(unit, commits)
        if commits and done:
            self.ledger.append((unit.number, done))


@dataclass(frozen=True, eq=False)
class Step:
    """A change that committed: of a row (a number for as long as it lives), and which columns it
    changed; all of them where the row came or went."""

    unit: int
    table: Table
    row: int
    before: Row | None
    after: Row | None
    columns: frozenset[int]


def steps_of(history: Undoable) -> list[Step]:
    """All that committed and changed anything, in the order of commits, which is that of changes
    of one row."""
    rows: dict[tuple[str, object], int] = {}
    steps, count = [], 0
    for unit, done in history.ledger:
        for table, place, before, after in done:
            where = table.name, place
            if before is None or where not in rows:
                count += 1
                rows[where] = count
            columns = frozenset(
                number
                for number in range(len(table.columns))
                if before is None or after is None or repr(before[number]) != repr(after[number])
            )
            if columns:
                steps.append(Step(unit, table, rows[where], before, after, columns))
            if after is None:
                del rows[where]
    return steps


def builds_on(later: Step, earlier: Step) -> bool:
    """Whether a change needs one before it: of a column of its row, or of the key that it took."""
    if later.table is not earlier.table:
        return False
    if later.row == earlier.row:
        return bool(later.columns & earlier.columns)
    if later.before is not None or later.after is None or earlier.after is not None:
        return False
    freed = earlier.before
    return freed is not None and later.table.key_of(later.after) == later.table.key_of(freed)


def built_on(steps: Sequence[Step], units: set[int]) -> list[tuple[Step, Step]]:
    """(change of one of the units, later change of another one that builds on it)."""
    return [
        (step, later)
        for place, step in enumerate(steps)
        if step.unit in units
        for later in steps[place + 1 :]
        if later.unit not in units and builds_on(later, step)
    ]


def left_out(steps: Sequence[Step], units: set[int]) -> set[Step]:
    """The changes of the units that stay where nothing else may go: those that others built on,
    those that a change builds on that stays, and of a row all that units did to it up to one of
    which a change stays."""
    place = {step: number for number, step in enumerate(steps)}
    order = {unit: number for number, unit in enumerate(dict.fromkeys(s.unit for s in steps))}
    stay = {step for step, _ in built_on(steps, units)}
    while True:
        last: dict[int, int] = {}
        for step in stay:
            last[step.row] = max(last.get(step.row, -1), order[step.unit])
        more = {
            step
            for step in steps
            if step.unit in units
            and step not in stay
            and (
                order[step.unit] <= last.get(step.row, -1)
                or any(place[step] < place[one] and builds_on(one, step) for one in stay)
            )
        }
        if not more:
            return stay
        stay |= more


def closure(steps: Sequence[Step], units: set[int]) -> set[int]:
    """The units, and all that must go with them."""
    found = set(units)
    while more := {later.unit for _, later in built_on(steps, found)}:
        found |= more
    return found


def rows_without(
    history: Undoable, steps: Sequence[Step], taken: Iterable[Step]
) -> dict[str, list[Row]]:
    """The rows at the end, when some changes are taken back, the latest first."""
    ends = {step.row: (step.table.name, step.after) for step in steps}
    rest = {name: list(rows) for name, rows in history.after.items()}
    for name, row in ends.values():
        if row is not None:
            rest[name].remove(row)
    gone = set(taken)
    for step in reversed(steps):
        if step not in gone:
            continue
        name, row = ends[step.row]
        if step.before is None or step.after is None:
            ends[step.row] = name, step.before
        elif row is not None:
            values = [
                step.before[number] if number in step.columns else value
                for number, value in enumerate(row)
            ]
            ends[step.row] = name, tuple(values)
    for name, row in ends.values():
        if row is not None:
            rest[name].append(row)
    return rest
