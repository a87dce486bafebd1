"""Keys compared as they lie in the images say the same as keys compared by value, or nothing."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from replay.changes.envelope import RECORD, ROW_CHANGES, Change
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.passes import assemble
from replay.dependencies.raw_keys import RawKeys
from replay.dependencies.unique_order import met_spans
from replay.dependencies.write_sets import ChangeBatch, KeyRole, WriteSets
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from replay.pipeline.scan import sort_records
from sqlgen.constraints import Constraints, ForeignKey
from tests.support.logbuilder import Col, LogBuilder, Tab, generation

TABLE = Tab(
    "T",
    (
        Col("A", "INT", 2, key=1),
        Col("N", "CHAR", 3, nulls="Y"),
        Col("B", "INT", 8, key=2),
        Col("U", "INT", 4),
        Col("V", "VCHR", 9),
        Col("W", "INT", 4),
    ),
    obid=5,
)
OTHER = Tab("OTHER", (Col("K", "INT", 4, key=1), Col("X", "INT", 4, nulls="Y")), obid=6)


def unique(*columns: str, table: str = "T") -> Constraints:
    return Constraints(keys=((f"TESTOWN.{table}", columns),))


def referring(*columns: str) -> Constraints:
    return Constraints(foreign_keys=(ForeignKey("F", "TESTOWN.T", columns, "TESTOWN.OTHER"),))


def history(folder: Path, seed: int, tables: tuple[Tab, ...] = (TABLE, OTHER)) -> LogmasterLog:
    """Units of random changes of few keys."""
    pick, log = random.Random(seed), LogBuilder(tables)

    def row(table: Tab) -> tuple[int | str | None, ...]:
        if table is OTHER:
            return pick.randrange(6), pick.choice((None, 1, 2))
        few = pick.randrange(-2, 2)
        return (few, pick.choice((None, "a")), pick.randrange(2), pick.randrange(9), "v" * few, 1)

    for _ in range(60):
        unit = log.unit()
        for _ in range(pick.randrange(1, 6)):
            table = pick.choice(tables)
            match pick.randrange(3):
                case 0:
                    unit.insert(table, row(table))
                case 1:
                    unit.delete(table, row(table))
                case _:
                    unit.update(table, row(table), row(table))
    return open_log(*log.write(folder))


def batch_of(log: LogmasterLog) -> ChangeBatch:
    records = np.zeros(0, RECORD)
    for split, offsets, lengths in log.splits(1 << 20):
        envelope = log.envelope(split.file, offsets, lengths)
        change, version = log.classify(envelope)
        every = np.arange(len(offsets))
        records = sort_records(split.file, 1, offsets, lengths, envelope, change, version, every)
    return assemble(records)


def both(log: LogmasterLog, constraints: Constraints) -> tuple[list[int] | None, list[int]]:
    """The stretches in which keys meet, by bytes and by values."""
    batch, spaces = batch_of(log), KeySpaces(log.catalog, constraints)
    units = batch.records["unit"][batch.head]
    span = np.cumsum(np.append(True, units[1:] != units[:-1]))
    rows = np.flatnonzero(np.isin(batch.change, ROW_CHANGES))
    touches = WriteSets(log, spaces, with_images=False).touches(batch)
    found = RawKeys(log, spaces).met_spans(batch, rows, span)
    return None if found is None else found.tolist(), met_spans(touches, span).tolist()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("constraints", [Constraints(), unique("U")], ids=["key", "unique too"])
def test_they_say_the_same(tmp_path: Path, seed: int, constraints: Constraints) -> None:
    quick, exact = both(history(tmp_path, seed), constraints)
    assert quick == exact
    assert 0 < len(exact) < 60


@pytest.mark.parametrize(
    "constraints",
    [unique("W"), unique("N", "U"), unique("X", table="OTHER")],
    ids=["behind text", "text", "may be null"],
)
def test_they_say_nothing_of_other_keys(tmp_path: Path, constraints: Constraints) -> None:
    assert both(history(tmp_path, 1), constraints)[0] is None


def test_they_say_nothing_of_several_generations(tmp_path: Path) -> None:
    later = generation(OTHER, 2, created=b"\xff" * 10, obid=7)
    assert both(history(tmp_path, 2, (OTHER,)), Constraints())[0] is not None
    log = LogBuilder((OTHER, later))
    log.unit().insert(OTHER, (1, 1))
    assert both(open_log(*log.write(tmp_path)), Constraints())[0] is None


def test_they_say_nothing_of_damaged_images(tmp_path: Path) -> None:
    log = LogBuilder((OTHER,))
    unit = log.unit()
    unit.insert(OTHER, (1, 1))
    unit.insert(OTHER, (2, 1)).images[0] = b"\0\0"
    assert both(open_log(*log.write(tmp_path)), Constraints())[0] is None


def test_a_key_that_is_given_up_and_taken_does_not_meet(tmp_path: Path) -> None:
    log = LogBuilder((OTHER,))
    for first, second in ((Change.DELETE, Change.INSERT), (Change.INSERT, Change.DELETE)):
        unit = log.unit()
        for kind in (first, second):
            (unit.insert if kind is Change.INSERT else unit.delete)(OTHER, (1, None))
    assert both(open_log(*log.write(tmp_path)), Constraints()) == ([2], [2])


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("missing", [False, True], ids=["all are known", "some are not"])
def test_images_that_are_known_are_not_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: bool, parts: int
) -> None:
    log = history(tmp_path, 3)
    plain, pick = batch_of(log), np.random.default_rng(parts)
    known = defaultdict(list)
    group = plain.version.astype(np.int64) * 16 + plain.change
    for value in np.unique(group).tolist():
        rows = np.flatnonzero(group == value)
        of_part = pick.integers(0, parts, len(rows))
        for number in range(parts):
            some = rows[of_part == number]
            head, weight = plain.head[some], plain.weight[some]
            for part, image in log.images(plain.records, head, weight, Change(value % 16)):
                known[value // 16, Change(value % 16)].append((some[part], image))
    if missing:
        for found in known.values():
            found[0] = found[0][0][:-1], found[0][1].take(np.arange(len(found[0][0]) - 1))
    keys = RawKeys(log, KeySpaces(log.catalog, unique("A", "U")))
    span, asked = np.arange(len(plain.head)) // 7, []
    real = LogmasterLog.images
    monkeypatch.setattr(LogmasterLog, "images", lambda *a: asked.append(a) or real(*a))
    for rows in (np.arange(len(group)), np.flatnonzero(pick.integers(0, 2, len(group)))):
        expected = keys.touches(plain, rows, span)
        asked.clear()
        found = keys.touches(replace(plain, images=known), rows, span)
        assert expected is not None
        assert found is not None
        assert bool(asked) is missing
        for one, other in zip(found, expected, strict=True):
            order = np.lexsort(found), np.lexsort(expected)
            assert one[order[0]].tolist() == other[order[1]].tolist()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("constraints", [Constraints(), unique("U")], ids=["key", "unique too"])
def test_what_no_other_change_touches(tmp_path: Path, seed: int, constraints: Constraints) -> None:
    log = history(tmp_path, seed)
    every, spaces = batch_of(log), KeySpaces(log.catalog, constraints)
    rows = np.flatnonzero(np.isin(every.change, ROW_CHANGES))
    seen: set[bool] = set()
    for start in range(0, len(rows), 6):
        batch = every.part(rows[start : start + 6])
        touches = WriteSets(log, spaces, with_images=False).touches(batch)
        of: dict[tuple[int, int, int], set[int]] = defaultdict(set)
        for touch in touches:
            of[touch["space"], touch["key"], touch["check"]].add(int(touch["change"]))
        met = {change for changes in of.values() if len(changes) > 1 for change in changes}
        kind = batch.change[touches["change"]]
        moved = (touches["role"] != KeyRole.CHANGE) & (kind == Change.UPDATE)
        met |= set(touches["change"][moved].tolist())
        alone = RawKeys(log, spaces).alone(batch)
        assert alone is not None
        assert set(np.flatnonzero(~alone).tolist()) == met
        seen |= set(alone.tolist())
    assert seen == {False, True}


@pytest.mark.parametrize(
    "constraints",
    [unique("W"), unique("N", "U"), referring("U")],
    ids=["behind text", "text", "a row refers to another"],
)
def test_what_is_not_said_of_keys_alone(tmp_path: Path, constraints: Constraints) -> None:
    log = history(tmp_path, 1)
    batch = batch_of(log)
    rows = batch.part(np.flatnonzero(np.isin(batch.change, ROW_CHANGES)))
    keys = RawKeys(log, KeySpaces(log.catalog, Constraints()))
    assert keys.alone(rows) is not None
    assert keys.alone(replace(rows, change=np.full_like(rows.change, Change.TRUNCATE))) is None
    assert RawKeys(log, KeySpaces(log.catalog, constraints)).alone(rows) is None
