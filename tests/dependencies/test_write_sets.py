"""Which keys count, and how many changes could not be read."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.arrays import Records
from replay.changes.envelope import RECORD, Change
from replay.decoding.hashes import hash_ranges
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.passes import EdgeJob
from replay.dependencies.write_sets import ChangeBatch, ImagesSeen, KeyRole, WriteSets, row_hashes
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from sqlgen.schema import Constraints, ForeignKey
from tests.support.history import CHILD, LOOSE, PARENT
from tests.support.logbuilder import Col, LogBuilder, Tab


def foreign(columns: tuple[str, ...], parent_columns: tuple[str, ...] = ()) -> Constraints:
    return Constraints(
        foreign_keys=(ForeignKey("FK", "TESTOWN.CHILD", columns, "TESTOWN.PARENT", parent_columns),)
    )


def log_of(folder: Path, damaged: int = 0) -> LogmasterLog:
    """A parent and two children; the images of the last so many changes lack a byte."""
    log = LogBuilder((PARENT, CHILD))
    unit = log.unit()
    unit.insert(PARENT, (1, "A", 0, 0))
    unit.insert(CHILD, (7, 1, 0))
    unit.insert(CHILD, (8, 1, 0))
    for change in log.changes[len(log.changes) - damaged :]:
        change.images[0] = change.images[0][:-1]
    control, data = log.write(folder)
    return open_log(control, data)


def batches_of(log: LogmasterLog, spaces: KeySpaces) -> Iterator[ChangeBatch]:
    job = EdgeJob(spaces, frozenset(), np.zeros(0, RECORD))
    for split, _, _ in log.splits(1 << 20):
        for records, _, change, version in job.batches(log, split):
            every = np.arange(len(records), dtype=np.int64)
            yield ChangeBatch(records, every, np.ones_like(every), change, version)


def touches_of(
    log: LogmasterLog, spaces: KeySpaces, seen: Callable[[ImagesSeen], None] | None = None
) -> tuple[Records, int]:
    """All touches of a log, and how many changes could not be read."""
    write_sets = WriteSets(log, spaces)
    parts = [write_sets.touches(batch, seen) for batch in batches_of(log, spaces)]
    return np.concatenate(parts), write_sets.unreadable


@pytest.mark.parametrize(
    ("constraints", "counts"),
    [
        (foreign(("PID",)), True),
        (foreign(("NOPE",)), False),
        (foreign(("PID", "NOPE"), ("ID", "CODE")), False),
        (foreign(("PID", "X")), False),  # two columns for a key of one
    ],
    ids=["known", "unknown", "half known", "too many"],
)
def test_a_foreign_key_counts_where_its_columns_are_known(
    tmp_path: Path, constraints: Constraints, counts: bool
) -> None:
    log = log_of(tmp_path)
    spaces = KeySpaces(log.catalog, constraints)
    names = [version.name for version in log.catalog.versions]
    child = spaces.uses[names.index("TESTOWN.CHILD")]
    assert [use.how for use in child] == (["row", "child"] if counts else ["row"])
    roles = {KeyRole(role) for role in touches_of(log, spaces)[0]["role"].tolist()}
    assert (KeyRole.REFER in roles) is counts


@pytest.mark.parametrize("damaged", [0, 1, 2])
def test_changes_that_cannot_be_read_are_counted(tmp_path: Path, damaged: int) -> None:
    log = log_of(tmp_path, damaged)
    touches, unreadable = touches_of(log, KeySpaces(log.catalog))
    assert unreadable == damaged
    assert len(touches) == 3 - damaged


# -- against a model
# -------------------------------------------------------------------------------------------------

Row = tuple[Any, ...]
#: Unit, table, row before and after.
Step = tuple[int, Tab, Row | None, Row | None]
#: Table -> how its rows touch which key, as (table, columns); where its values stand in the row,
#: None for the whole row.
USES: dict[str, tuple[tuple[str, tuple[str, tuple[str, ...]], int | None], ...]] = {
    "PARENT": (("row", ("PARENT", ("ID",)), 0), ("unique", ("PARENT", ("CODE",)), 1)),
    "CHILD": (("row", ("CHILD", ("ID",)), 0), ("child", ("PARENT", ("ID",)), 1)),
    "LOOSE": (("row", ("LOOSE", ()), None),),
}
KEYS = Constraints(
    keys=(("TESTOWN.PARENT", ("CODE",)),),
    foreign_keys=(ForeignKey("FK", "TESTOWN.CHILD", ("PID",), "TESTOWN.PARENT"),),
)


def drawn(seed: int) -> tuple[LogBuilder, list[Step]]:
    """A log of changes of few values, and what they are."""
    dice = random.Random(seed)
    log = LogBuilder((PARENT, CHILD, LOOSE))
    steps: list[Step] = []

    def row(table: Tab) -> Row:
        few = dice.randrange(3)
        return {
            "PARENT": (few, dice.choice([None, "", "A"]), dice.randrange(2), 0),
            "CHILD": (few, dice.choice([None, 0, 1]), dice.randrange(2)),
            "LOOSE": (dice.choice(["a", "b"]), few),
        }[table.name]

    for number in range(3):
        unit = log.unit()
        for _ in range(8):
            table, kind = dice.choice([PARENT, CHILD, LOOSE]), dice.choice("IUUD")
            before = None if kind == "I" else row(table)
            after = None if kind == "D" else row(table)
            steps.append((number, table, before, after))
            if before is None and after is not None:
                unit.insert(table, after)
            elif after is None and before is not None:
                unit.delete(table, before)
            elif before is not None and after is not None:
                unit.update(table, before, after)
    return log, steps


def key_of(row: Row | None, how: str, place: int | None) -> Row | None:
    """A key's values; None where there is no row, or a null in what is not the row itself."""
    if row is None:
        return None
    key = row if place is None else (row[place],)
    return None if how != "row" and None in key else key


def wanted(steps: list[Step], images: bool) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """The touches of rows: (change, role, key) -> (values of the key, row before and after)."""
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for change, (_, table, before, after) in enumerate(steps):
        for how, space, place in USES[table.name]:
            if place is None and not images:
                continue
            old, new = key_of(before, how, place), key_of(after, how, place)
            gone, come = (
                (KeyRole.RELEASE, KeyRole.REFER)
                if how == "child"
                else (KeyRole.DESTROY, KeyRole.CREATE)
            )
            if old == new and before is not None and after is not None:
                if how == "row":
                    found[change, KeyRole.CHANGE, space] = old, before, after
                continue
            if old is not None:
                found[change, gone, space] = old, before, None
            if new is not None:
                found[change, come, space] = new, None, after
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "how",
    [{}, {"by_value": True}, {"with_images": False}, {"each": True}],
    ids=["as it is", "by value", "keys alone", "each"],
)
def test_touches_are_those_of_a_model(tmp_path: Path, how: dict[str, bool], seed: int) -> None:
    builder, steps = drawn(seed)
    log = open_log(*builder.write(tmp_path))
    spaces = KeySpaces(log.catalog, KEYS)
    names = [version.table.name for version in log.catalog.versions]
    evented = spaces.table_space[names.index("CHILD")]
    write_sets = WriteSets(log, spaces, frozenset({evented}), **how)
    assert write_sets.unread == []
    ((split, _, _),) = log.splits(1 << 20)
    job = EdgeJob(spaces, frozenset(), np.zeros(0, RECORD))
    ((records, _, change, version),) = job.batches(log, split)
    every = np.arange(len(records), dtype=np.int64)
    touches = write_sets.touches(ChangeBatch(records, every, np.ones_like(every), change, version))
    images = how.get("with_images", True)
    expected = wanted(steps, images)
    member = touches["role"] == KeyRole.MEMBER
    found = {}
    for touch in touches[~member]:
        space = spaces.spaces[touch["space"]]
        place = space.table.removeprefix("TESTOWN."), space.columns
        found[int(touch["change"]), KeyRole(touch["role"]), place] = touch
    assert len(found) == (~member).sum()
    assert found.keys() == expected.keys()
    #: What is hashed -> its hash, and back: equal things alone have equal hashes.
    hashes: dict[Any, Any] = {}
    things: dict[Any, Any] = {}
    for (place, role, key), touch in found.items():
        values, before, after = expected[place, role, key]
        table = steps[place][1].name
        assert names[touch["version"]] == table
        for field in ("commit", "unit", "position"):
            assert touch[field].tobytes() == records[field][place].tobytes()
        pairs = [((key, values), (int(touch["key"]), int(touch["check"])))]
        for side, row in (("before", before), ("after", after)):
            if row is None or not images:
                assert touch[side] == 0
            else:
                assert touch[side] > 0
                pairs.append(((table, row), int(touch[side])))
        for thing, value in pairs:
            assert hashes.setdefault(thing, value) == value
            assert things.setdefault(value, thing) == thing
    units = [(one, before is None, after is None) for one, t, before, after in steps if t is CHILD]
    # of each kind of change that a unit makes
    assert member.sum() == (len(units) if how.get("each") else len(set(units)))
    assert set(touches[member]["space"].tolist()) == {evented}
    assert set(touches[member]["version"].tolist()) == {-1}
    assert (write_sets.unreadable, write_sets.unread) == (0, [])


BASE, CLONE, OTHER = (
    Tab(name, (Col("ID", "INT", 4, key=1),), obid=20 + number, psid=2 + number)
    for number, name in enumerate(("BASE", "CLONE", "OTHER"))
)


@pytest.mark.parametrize(
    ("clone", "tables"),
    [
        (("TESTOWN", "CLONE"), {"BASE", "CLONE"}),
        (("TESTOWN", "BASE"), {"BASE"}),
        (("DAMAGE",), {"BASE", "CLONE", "OTHER"}),
    ],
)
def test_an_exchange_is_an_event_of_both_tables(
    tmp_path: Path, clone: tuple[str, ...], tables: set[str]
) -> None:
    """Where the other one cannot be read, of all."""
    builder = LogBuilder((BASE, CLONE, OTHER))
    builder.unit().insert(BASE, (1,))
    builder.unit()._add(BASE, "E ", [name.encode("cp037") for name in clone], (), {})
    log = open_log(*builder.write(tmp_path))
    spaces = KeySpaces(log.catalog)
    names = {
        spaces.table_space[at]: version.table.name
        for at, version in enumerate(log.catalog.versions)
    }
    ((split, _, _),) = log.splits(1 << 20)
    job = EdgeJob(spaces, frozenset(), np.zeros(0, RECORD))
    ((records, _, change, version),) = job.batches(log, split)
    every = np.arange(len(records), dtype=np.int64)
    batch = ChangeBatch(records, every, np.ones_like(every), change, version)
    touches = WriteSets(log, spaces, frozenset(names)).touches(batch)
    events = touches[touches["role"] == KeyRole.EVENT]
    (exchanged,) = np.flatnonzero(change == Change.EXCHANGE)
    assert set(events["change"].tolist()) == {exchanged}
    assert sorted(names[space] for space in events["space"].tolist()) == sorted(tables)


def hashes_of(folder: Path, table: Tab, images: list[bytes]) -> list[int]:
    """The hashes of rows that these images insert."""
    log = LogBuilder((table,))
    unit = log.unit()
    for image in images:
        unit.insert(table, tuple(None if c.nulls == "Y" else 0 for c in table.columns))
        log.changes[-1].images[0] = image
    opened = open_log(*log.write(folder))
    found: dict[int, int] = {}

    def look(seen: ImagesSeen) -> None:
        walk, images = seen.walks["after"], seen.images
        rows = np.arange(len(seen.rows))
        hashes = hash_ranges(images.buffer, *images.after)
        version = opened.catalog.versions[seen.version]
        of_rows = row_hashes(walk, version, rows, hashes)
        found.update(zip(seen.rows.tolist(), of_rows.tolist(), strict=True))

    touches_of(opened, KeySpaces(opened.catalog, Constraints()), look)
    return [found[number] for number in range(len(images))]


@pytest.mark.parametrize("key", [0, 1])
def test_rows_are_the_same_where_their_values_are(tmp_path: Path, key: int) -> None:
    """Not what stands under a null, nor which sign of a packed decimal is plus; blanks at the end
    of text do count."""
    number, text = Col("N", "DEC", 2, key=key), Col("T", "VCHR", 4, nulls="Y")
    small, other = Col("S", "INT", 2, nulls="Y"), Col("M", "DEC", 1)
    table = Tab("THING", (number, other, small, text))

    def image(decimal: str, least: str, word: str) -> bytes:
        texts = word.encode("cp037")
        return bytes.fromhex(f"{decimal}2C{least}") + b"\0" + len(texts).to_bytes(2, "big") + texts

    images = [
        image("001C", "FF0000", "A"),
        image("001C", "FF0007", "A"),
        image("001F", "FF0000", "A"),
        image("001D", "FF0000", "A"),
        image("001C", "000000", "A"),
        image("001C", "FF0000", "A "),
        image("001C", "000007", "A"),
        image("001F", "000007", "A"),
        image("001D", "000007", "A"),
    ]
    hashes = hashes_of(tmp_path, table, images)
    assert [hashes.index(one) for one in hashes] == [0, 0, 0, 3, 4, 5, 6, 6, 8]


def test_an_update_that_may_be_of_another_row_changes_every_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogBuilder((PARENT,))
    unit = log.unit()
    for number in (1, 2):
        unit.update(PARENT, (number, "A", 0, 0), (number, "A", 0, 5))
    opened = open_log(*log.write(tmp_path))
    monkeypatch.setattr(opened, "new_values", lambda envelope: np.array([False, True]))
    spaces = KeySpaces(opened.catalog)
    (batch,) = batches_of(opened, spaces)
    places = [1 << place for place in spaces.column_places[0]]
    changed = WriteSets(opened, spaces).changed_columns(batch)
    assert changed == {0: places[3], 1: sum(places)}
