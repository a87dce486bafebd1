"""What is left of many changes: the net change of each row, against a model; where the loads stand;
what stays as it was logged, and what cannot be folded. No database has a part in it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.arrays import Mask, Records
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.dependencies import write_sets
from replay.dependencies.raw_keys import RawKeys
from replay.dependencies.write_sets import ChangeBatch
from replay.live import net_changes
from replay.live.net_changes import Folded, MakeLoad, NetChanges
from replay.logs.logmaster.opening import open_log
from replay.output.bundle import write_bundle
from replay.output.steps import open_scripts
from replay.pipeline import local
from replay.pipeline.plan import Mode, make_plan
from replay.targets import TableFacts
from sqlgen.constraints import Constraints, ForeignKey
from sqlgen.render_options import RenderOptions
from sqlgen.rows import Op, Rows
from sqlgen.staged_merge import Load, Unmergeable
from tests.support.history import CHILD, LOOSE, PARENT
from tests.support.logbuilder import Col, LogBuilder, Tab

GRAND = Tab("GRAND", (Col("ID", "INT", 4, key=1), Col("CID", "INT", 4, nulls="Y")), obid=11)
OTHER = Tab("OTHER", (Col("ID", "INT", 4, key=1), Col("F", "FLOT", 8)), obid=12)
TABLES = (PARENT, CHILD, LOOSE, GRAND, OTHER)
FACTS = {f"TESTOWN.{table.name}": table for table in TABLES}
Row = tuple[Any, ...]
#: Table -> key -> row.
State = dict[str, dict[Any, Row]]


def facts_of(**more: Mapping[str, Any]) -> dict[str, TableFacts | None]:
    """What the target says: the log's columns in small letters; ``more``: by table."""
    return {
        name: replace(
            TableFacts(
                tuple(column.name.lower() for column in table.columns),
                types=tuple("text" for _ in table.columns),
            ),
            **more.get(table.name, {}),
        )
        for name, table in FACTS.items()
    }


def refer(*pairs: tuple[str, str]) -> Constraints:
    """Foreign keys from the second column of a table to another table's key."""
    return Constraints(
        foreign_keys=tuple(
            ForeignKey(
                f"FK{number}",
                f"TESTOWN.{table}",
                (FACTS[f"TESTOWN.{table}"].columns[1].name,),
                f"TESTOWN.{parent}",
            )
            for number, (table, parent) in enumerate(pairs)
        )
    )


@dataclass
class Merged:
    """What was folded, and the rows of the loads before and after; ``passing``: the rows whose keys
    must be free."""

    folded: Folded
    before: list[Rows]
    after: list[Rows]
    steps: Records
    passing: list[Rows]

    @property
    def all(self) -> list[Rows]:
        return [*self.before, *self.after]

    @property
    def net(self) -> int:
        return sum(rows.count for rows in self.all if rows.op is not Op.UPDATE or rows.changed)

    def places(self) -> tuple[list[str], list[str]]:
        """The loads before and after, as ``operation TABLE``."""
        before, after = (
            [f"{rows.op.value} {rows.table.name}" for rows in loads]
            for loads in (self.before, self.after)
        )
        return before, after


@dataclass
class Keeping:
    """Keeps the rows of loads, in place of their text for PostgreSQL."""

    types: list[Mapping[str, str]] = field(default_factory=list)
    loads: dict[int, Rows] = field(default_factory=dict)
    passing: list[Rows] = field(default_factory=list)

    def __call__(self, profile: Any, options: Any, types: Mapping[str, str]) -> Keeping:
        self.types.append(types)
        return self

    def load(self, rows: Rows, number: int) -> Load:
        assert number not in self.loads  # names of staging tables differ
        self.loads[number] = rows
        return Load(rows.op, rows.table, rows.count, "", f"{number}", b"", ())

    def absent(self, rows: Rows, number: int) -> Load:
        self.passing.append(rows)
        return Load(rows.op, rows.table, 0, "", "", b"", ())

    def made(self, makers: Sequence[MakeLoad]) -> list[Rows]:
        """The rows of loads."""
        loads = [load for make in makers if (load := make()) is not None]
        return [self.loads[int(load.copy)] for load in loads if load.copy]


def fold(
    folder: Path,
    log: LogBuilder,
    constraints: Constraints | None = None,
    facts: Mapping[str, TableFacts | None] | None = None,
    chosen: slice = slice(None),
    render: RenderOptions | None = None,
) -> Merged:
    """Write a script of the log and fold its steps."""
    opened = open_log(*log.write(folder))
    options = ScriptOptions(render=render or RenderOptions(where_columns="guard"))
    plan = make_plan(opened, Mode.REDO, Selection(), options)
    plan = replace(plan, steps=True, constraints=constraints or Constraints())
    write_bundle(plan, opened, folder / "out", local.ENGINE)
    (script,) = open_scripts(folder / "out")
    keeping = Keeping()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(net_changes, "Merging", keeping)
        nets = NetChanges(plan, opened, facts or facts_of())
        steps = np.arange(len(script.steps))[chosen]
        folded = nets.fold(script, steps)
        before, after = keeping.made(folded.before), keeping.made(folded.after)
    for types in keeping.types:
        assert set(types.values()) == {"text"}
    return Merged(folded, before, after, script.steps[steps], keeping.passing)


# -- the model
# -------------------------------------------------------------------------------------------------


def draw_row(dice: random.Random, table: Tab, key: int) -> Row:
    if table is PARENT:
        return (key, dice.choice([None, "", "A"]), dice.randrange(2), dice.randrange(2))
    if table is OTHER:
        return (key, dice.choice([0.0, -0.0, 1.5]))
    return (key, dice.choice([None, 1, 2]), dice.randrange(2))


def drawn(seed: int) -> tuple[LogBuilder, State, State]:
    """A log of some changes of few keys, and the rows before and after; keys change hands."""
    dice = random.Random(seed)
    log = LogBuilder(TABLES)
    state: State = {
        table.name: {key: draw_row(dice, table, key) for key in range(0, 12, 2)}
        for table in (PARENT, CHILD, OTHER)
    }
    before = {name: dict(rows) for name, rows in state.items()}
    for _ in range(dice.randrange(1, 6)):
        unit = log.unit()
        for _ in range(dice.randrange(1, 12)):
            table = dice.choice([PARENT, PARENT, CHILD, OTHER])
            rows = state[table.name]
            free = sorted(set(range(12)) - rows.keys())
            kind = dice.choice("IUUUD")
            if kind == "I" and free:
                key = dice.choice(free)
                rows[key] = draw_row(dice, table, key)
                unit.insert(table, rows[key])
            elif kind == "D" and rows:
                unit.delete(table, rows.pop(dice.choice(sorted(rows))))
            elif rows:
                old = rows.pop(dice.choice(sorted(rows)))
                key = dice.choice(free) if free and dice.random() < 0.1 else old[0]
                rows[key] = draw_row(dice, table, key)
                unit.update(table, old, rows[key])
    return log, before, state


def tuples(rows: Rows, side: Mapping[str, Any]) -> list[Row]:
    columns = [side[column.name].to_pylist() for column in rows.table.columns]
    return list(zip(*columns, strict=True))


@pytest.fixture(params=[True, False], ids=["bytes tell", "values tell"])
def bytes_tell(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the bytes of keys tell which changes share one, or their values are needed."""
    asked, real = request.param, RawKeys.alone

    def alone(self: RawKeys, batch: ChangeBatch) -> Mask | None:
        found = real(self, batch)
        assert found is not None
        return found if asked else None

    monkeypatch.setattr(RawKeys, "alone", alone)


@pytest.mark.usefixtures("bytes_tell")
@pytest.mark.parametrize("seed", range(24))
def test_the_net_change_is_the_difference_of_two_states(tmp_path: Path, seed: int) -> None:
    log, before, after = drawn(seed)
    merged = fold(tmp_path, log)
    expected = {
        name: {
            key: (rows.get(key), after[name].get(key))
            for key in rows.keys() | after[name].keys()
            if repr(rows.get(key)) != repr(after[name].get(key))  # 0.0 and -0.0 are two
        }
        for name, rows in before.items()
    }
    found: dict[str, dict[Any, tuple[Row | None, Row | None]]] = {name: {} for name in before}
    for rows in merged.all:
        assert rows.count
        if rows.op is not Op.UPDATE:
            assert not rows.changed
        olds = tuples(rows, rows.before) if rows.op is not Op.INSERT else [None] * rows.count
        news = tuples(rows, rows.after) if rows.op is not Op.DELETE else [None] * rows.count
        assert len(olds) == len(news) == rows.count
        for place, (old, new) in enumerate(zip(olds, news, strict=True)):
            one = old or new
            assert one is not None
            assert one[0] not in found[rows.table.name]
            if repr(old) == repr(new):  # rows that were changed and changed back are looked at
                assert before[rows.table.name][one[0]] == after[rows.table.name][one[0]] == new
            else:
                found[rows.table.name][one[0]] = old, new
            if old and new:
                assert [
                    column.name
                    for column in rows.table.columns
                    if column.name in rows.changed and rows.changed[column.name][place].as_py()
                ] == [
                    column.name
                    for column, one, other in zip(rows.table.columns, old, new, strict=True)
                    if repr(one) != repr(other)
                ]
    # a change that runs in parts, for the sake of keys, is none that could be followed
    for rows in merged.passing:
        for one in tuples(rows, rows.before):
            assert one[0] not in before[rows.table.name].keys() | after[rows.table.name].keys()
    version = merged.steps["version"]
    parted = np.isin(version, version[merged.steps["part"] > 0])
    assert merged.folded.loose.tolist() == np.flatnonzero(parted).tolist()
    names = np.array([table.name for table in TABLES])[np.unique(version[parted])].tolist()
    assert found == {name: {} if name in names else rows for name, rows in expected.items()}
    assert len(names) < len(expected)


@pytest.mark.usefixtures("bytes_tell")
def test_rows_are_read_whole_where_several_changes_share_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a row held tells whether changes follow one another; of a single change nothing does."""
    log = LogBuilder(TABLES)
    unit = log.unit()
    for key in range(6):
        unit.update(PARENT, (key, "A", 0, 0), (key, "A", 1, 0))
    unit.update(PARENT, (3, "A", 1, 0), (3, "A", 2, 0))
    hashed: list[int] = []
    original = write_sets.row_hashes

    def counting(walk: Any, version: Any, rows: Any, of_bytes: Any) -> Any:
        hashed.append(len(rows))
        return original(walk, version, rows, of_bytes)

    monkeypatch.setattr(write_sets, "row_hashes", counting)
    merged = fold(tmp_path, log)
    assert merged.net == 6
    assert hashed == [2, 2]


def test_what_is_taken_back_is_only_looked_at(tmp_path: Path) -> None:
    """Strict order would have found out that a row is there where none should be, or another."""
    log = LogBuilder(TABLES)
    unit = log.unit()
    unit.insert(PARENT, (1, "A", 0, 0))
    unit.update(PARENT, (2, "B", 0, 0), (2, "C", 0, 0))
    unit.delete(PARENT, (1, "A", 0, 0))
    unit.update(PARENT, (2, "C", 0, 0), (2, "B", 0, 0))
    merged = fold(tmp_path, log)
    assert merged.net == 0
    (back,) = merged.all
    assert tuples(back, back.before) == tuples(back, back.after) == [(2, "B", 0, 0)]
    (passing,) = merged.passing
    assert tuples(passing, passing.before) == [(1, "A", 0, 0)]


@pytest.mark.parametrize("others", [0, 2])
def test_a_row_whose_values_are_as_they_were_is_only_looked_at(tmp_path: Path, others: int) -> None:
    """Its image is another one: what stands under a null means nothing."""
    log = LogBuilder(TABLES)
    unit = log.unit()
    unit.update(CHILD, (1, None, 0), (1, 5, 0))
    back = unit.update(CHILD, (1, 5, 0), (1, None, 0))
    place = back.images[1].index(b"\xff") + 1
    back.images[1] = back.images[1][:place] + b"\7" + back.images[1][place + 1 :]
    for number in range(others):
        unit.update(CHILD, (2 + number, None, 0), (2 + number, None, 1))
    merged = fold(tmp_path, log)
    assert merged.net == others
    assert [sorted(tuples(rows, rows.after)) for rows in merged.all] == (
        [[(2, None, 1), (3, None, 1)], [(1, None, 0)]] if others else [[(1, None, 0)]]
    )


# -- where loads stand
# -------------------------------------------------------------------------------------------------


def of_every_kind(*tables: Tab) -> LogBuilder:
    """An insert, an update and a delete of each table, in one unit."""
    log = LogBuilder(TABLES)
    unit = log.unit()
    for table in tables:
        rest = (0,) * (len(table.columns) - 2)
        unit.insert(table, (1, None, *rest))
        old = (2, "A" if table is PARENT else 5, *rest)
        unit.update(table, old, (2, None, *rest))
        unit.delete(table, (3, None, *rest))
    return log


FAMILY = (("CHILD", "PARENT"), ("GRAND", "CHILD"))


@pytest.mark.parametrize(
    "tables", [(GRAND, CHILD, PARENT), (PARENT, GRAND, CHILD)], ids=["upwards", "mixed"]
)
def test_parents_come_first_and_go_last(tmp_path: Path, tables: tuple[Tab, ...]) -> None:
    merged = fold(tmp_path, of_every_kind(*tables), refer(*FAMILY, ("CHILD", "CHILD")))
    assert merged.places() == (
        [
            *("insert PARENT", "update PARENT", "insert CHILD", "update CHILD"),
            *("insert GRAND", "update GRAND"),
        ],
        ["delete GRAND", "delete CHILD", "delete PARENT"],
    )


@pytest.mark.parametrize("unique", ["PARENT", "CHILD"])
def test_deletes_go_first_where_a_unique_key_may_be_taken(tmp_path: Path, unique: str) -> None:
    """And with them those of all tables that refer to it."""
    facts = facts_of(
        **{unique: {"unique_keys": (("id",), ("code" if unique == "PARENT" else "x",))}}
    )
    merged = fold(tmp_path, of_every_kind(PARENT, CHILD), refer(*FAMILY), facts)
    gone = ["delete CHILD", "delete PARENT"][: 2 if unique == "PARENT" else 1]
    before, after = merged.places()
    assert before[: len(gone)] == gone
    assert after == ([] if unique == "PARENT" else ["delete PARENT"])


def test_the_logs_own_key_crowds_nothing(tmp_path: Path) -> None:
    facts = facts_of(PARENT={"unique_keys": (("id",),)})
    assert fold(tmp_path, of_every_kind(PARENT), facts=facts).places() == (
        ["insert PARENT", "update PARENT"],
        ["delete PARENT"],
    )


def test_tables_in_a_circle_have_some_order(tmp_path: Path) -> None:
    constraints = refer(("CHILD", "GRAND"), ("GRAND", "CHILD"), ("CHILD", "PARENT"))
    before, after = fold(tmp_path, of_every_kind(PARENT, CHILD, GRAND), constraints).places()
    assert before[:2] == ["insert PARENT", "update PARENT"]
    assert after[-1] == "delete PARENT"
    assert len(before) == 6


# -- what stays as it was logged
# -------------------------------------------------------------------------------------------------


def test_a_table_without_a_key_stays(tmp_path: Path) -> None:
    log = LogBuilder(TABLES)
    unit = log.unit()
    unit.insert(LOOSE, ("a", 1))
    unit.insert(PARENT, (1, "A", 0, 0))
    unit.insert(LOOSE, ("a", 2))
    merged = fold(tmp_path, log)
    assert merged.folded.loose.tolist() == [0, 2]
    assert merged.places() == (["insert PARENT"], [])


def test_of_some_steps_those_are_named(tmp_path: Path) -> None:
    log = LogBuilder(TABLES)
    for number in range(3):
        unit = log.unit()
        unit.insert(PARENT, (number, "A", 0, 0))
        unit.insert(LOOSE, ("a", number))
    merged = fold(tmp_path, log, chosen=slice(2, None))
    assert merged.folded.loose.tolist() == [3, 5]
    (rows,) = merged.all
    assert sorted(rows.after["ID"].to_pylist()) == [1, 2]


def test_a_table_that_is_emptied_stays(tmp_path: Path) -> None:
    log = LogBuilder(TABLES)
    unit = log.unit()
    unit.insert(PARENT, (1, "A", 0, 0))
    unit.event(PARENT, "DM")
    unit.insert(CHILD, (1, None, 0))
    merged = fold(tmp_path, log)
    assert len(merged.folded.loose) == len(merged.steps) - 1 == 2
    assert merged.places() == (["insert CHILD"], [])


def test_a_row_that_is_not_as_it_was_left_stays(tmp_path: Path) -> None:
    """A change between is not in the log; other tables are folded."""
    log = LogBuilder(TABLES)
    unit = log.unit()
    unit.update(PARENT, (1, "A", 0, 0), (1, "A", 1, 0))
    unit.update(PARENT, (1, "A", 2, 0), (1, "A", 3, 0))
    unit.insert(PARENT, (2, "A", 2, 0))
    unit.insert(CHILD, (1, None, 0))
    merged = fold(tmp_path, log)
    assert merged.folded.loose.tolist() == [0, 1, 2]
    assert merged.places() == (["insert CHILD"], [])


MORE = {"columns": ("id", "code", "a", "b", "more"), "types": ("text",) * 5}


@pytest.mark.parametrize(
    ("facts", "stays"),
    [({}, False), (MORE, True), ({**MORE, "generated": ("more",)}, False)],
    ids=["as in the log", "one more", "one that the database computes"],
)
@pytest.mark.parametrize("how", ["moved", "renewed"])
def test_a_row_made_anew_would_lose_what_the_log_does_not_have(
    tmp_path: Path, how: str, facts: dict[str, Any], stays: bool
) -> None:
    log = LogBuilder(TABLES)
    unit = log.unit()
    if how == "moved":
        unit.update(PARENT, (1, "A", 0, 0), (2, "A", 0, 0))
    else:
        unit.delete(PARENT, (1, "A", 0, 0))
        unit.insert(PARENT, (1, "A", 0, 1))
    merged = fold(tmp_path, log, facts=facts_of(PARENT=facts))
    assert merged.folded.loose.tolist() == (list(range(len(merged.steps))) if stays else [])


def test_rows_that_come_go_or_stay_may_have_further_columns(tmp_path: Path) -> None:
    merged = fold(tmp_path, of_every_kind(PARENT), facts=facts_of(PARENT=MORE))
    assert not len(merged.folded.loose)


# -- further unique keys
# -------------------------------------------------------------------------------------------------

UNIQUE = {"unique_keys": (("id",), ("code",))}


def exchange() -> LogBuilder:
    log = LogBuilder(TABLES)
    unit = log.unit()
    unit.update(PARENT, (1, "A", 0, 0), (1, None, 0, 0))
    unit.update(PARENT, (2, "B", 0, 0), (2, "A", 0, 0))
    unit.update(PARENT, (1, None, 0, 0), (1, "B", 0, 0))
    unit.update(PARENT, (3, "C", 0, 0), (3, "C", 1, 0))
    return log


def test_rows_that_exchange_a_unique_value_go_and_come_again(tmp_path: Path) -> None:
    merged = fold(tmp_path, exchange(), facts=facts_of(PARENT=UNIQUE))
    kinds = [*["delete PARENT"] * 2, *["insert PARENT"] * 2, "update PARENT"]
    assert merged.places() == (kinds, [])
    *both, stay = merged.all
    gone, come = both[:2], both[2:]
    assert [tuples(rows, rows.before) for rows in gone] == [[(2, "B", 0, 0)], [(1, "A", 0, 0)]]
    assert [tuples(rows, rows.after) for rows in come] == [[(2, "A", 0, 0)], [(1, "B", 0, 0)]]
    assert [rows.after for rows in gone] == [rows.before for rows in come] == [{}, {}]
    assert [rows.changed for rows in both] == [{}] * 4
    assert tuples(stay, stay.after) == [(3, "C", 1, 0)]
    assert stay.changed["A"].to_pylist() == [True]


def test_updates_that_leave_it_alone_are_updates(tmp_path: Path) -> None:
    log = LogBuilder(TABLES)
    log.unit().update(PARENT, (3, "C", 0, 0), (3, "C", 1, 0))
    merged = fold(tmp_path, log, facts=facts_of(PARENT={**UNIQUE, **MORE}))
    assert merged.places() == (["update PARENT"], [])


@pytest.mark.parametrize(
    ("facts", "where"), [({**UNIQUE, **MORE}, "guard"), (UNIQUE, "key")], ids=["columns", "key"]
)
def test_rows_that_cannot_be_made_anew_are_refused(
    tmp_path: Path, facts: dict[str, Any], where: Any
) -> None:
    """Where the target has further columns, and where rows are found by their keys alone."""
    with pytest.raises(
        Unmergeable,
        match=r"^a unique key of TESTOWN\.PARENT changes, and its rows cannot be made anew from the"
        r" log alone$",
    ):
        fold(
            tmp_path,
            exchange(),
            facts=facts_of(PARENT=facts),
            render=RenderOptions(where_columns=where),
        )


# -- what cannot be read
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [0, 1])
def test_a_value_that_no_statement_has_and_cannot_be_read_is_refused(
    tmp_path: Path, side: int
) -> None:
    """Of an excluded column: statements are made without it, net changes compare whole rows."""
    table = replace(PARENT, columns=(*PARENT.columns, Col("AMOUNT", "DEC", 3, scale=2)))
    log = LogBuilder((table, *TABLES[1:]))
    rows = [(1, "A", 0, 0, "1.00"), (1, "A", 1, 0, "1.00")]
    change = log.unit().update(table, rows[0], rows[1])
    change.images[side] = change.images[side][:-1] + b"\xff"
    names = (*facts_of()["TESTOWN.PARENT"].columns, "amount")  # type: ignore[union-attr]
    facts = facts_of(PARENT={"columns": names, "types": ("text",) * 5})
    with pytest.raises(Unmergeable, match=r"^column TESTOWN\.PARENT\.AMOUNT cannot be read in"):
        fold(
            tmp_path,
            log,
            facts=facts,
            render=RenderOptions(where_columns="key", exclude_columns=("*.AMOUNT",)),
        )
