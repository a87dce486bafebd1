"""Range-partitioned tables of Db2 LUW: one table under several ids, and what the log says of one
data partition is not said of the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from replay.changes.envelope import Change
from replay.errors import Refusal
from replay.logs.db2luw.inspect import dump_record
from replay.logs.db2luw.layouts import PARTITION_MOVE
from replay.logs.db2luw.reader import LuwLog
from tests.logs.db2luw.test_damage import opened
from tests.support.luwbuilder import Col, LogBuilder, Tab, Transaction
from tests.support.scripted import script

DIALECTS = [("v97", "flt16"), ("v10", "flt56")]
COLUMNS = (Col("ID", "INTEGER", key=1), Col("V", "VARCHAR", 20, null=True))
WIDE = (*COLUMNS, Col("N", "INTEGER", null=True))
#: Its rows lie under the ids of its partitions.
TABLE = Tab(-6, -32768, "S", "T", COLUMNS)
EAST, WEST = replace(TABLE, space=2, id=7), replace(TABLE, space=2, id=8)
Work = Callable[[Transaction], object]


def log_of(
    folder: Path, form: tuple[str, str], works: Sequence[Work], table: Tab = TABLE
) -> LuwLog:
    """The log of one unit for each of ``works``, of a table of the partitions EAST and WEST."""
    builder = LogBuilder(form[0], True, form[1])
    for number, work in enumerate(works):
        unit = builder.begin()
        work(unit)
        unit.commit(1_000_000_000 + number)
    partitions = folder / "partitions.csv"
    lines = ["TBSPACEID,PARTITIONOBJECTID,TABSCHEMA,TABNAME", "2,7,S,T", "2,8,S,T", ""]
    partitions.write_text("\n".join(lines), encoding="utf-8")
    return opened(folder, builder.bytes(), tables=(table,), options={"partitions": str(partitions)})


def both(work: Callable[[Transaction, Tab], object], columns: tuple[Col, ...] = COLUMNS) -> Work:
    """``work`` on each partition, in one unit."""

    def run(unit: Transaction) -> None:
        for part in (EAST, WEST):
            work(unit, replace(part, columns=columns))

    return run


def rows(unit: Transaction) -> None:
    unit.insert(EAST, (1, "a"), (1, 1))
    unit.insert(WEST, (2, "b"), (1, 1))


def more(unit: Transaction) -> None:
    unit.insert(WEST, (3, "c"), (1, 2))


@pytest.mark.parametrize("form", DIALECTS)
@pytest.mark.parametrize("work", [Transaction.truncate, Transaction.drop])
def test_a_partition_that_goes_takes_no_other_with_it(
    tmp_path: Path, form: tuple[str, str], work: Callable[[Transaction, Tab], None]
) -> None:
    log = log_of(tmp_path, form, [rows, lambda unit: work(unit, WEST)])
    with pytest.raises(Refusal, match="LR3003.*S.T.*a committed truncate of one partition"):
        script(log, tmp_path)
    (place,) = np.flatnonzero(log.entries()["change"] == Change.TRUNCATE)
    text = dump_record(log, int(place) + 1)
    assert "empties one data partition of the table" in text


@pytest.mark.parametrize("form", DIALECTS)
@pytest.mark.parametrize(
    ("work", "said"),
    [(Transaction.truncate, "TRUNCATE TABLE s.t;"), (Transaction.drop, "DROP TABLE s.t;")],
)
def test_a_table_that_goes_is_said_to_go_once(
    tmp_path: Path,
    form: tuple[str, str],
    work: Callable[[Transaction, Tab], None],
    said: str,
) -> None:
    _, lines = script(log_of(tmp_path, form, [rows, both(work)]), tmp_path)
    assert [line for line in lines if not line.startswith("INSERT")] == [said]


@pytest.mark.parametrize("form", DIALECTS)
def test_a_table_is_created_once(tmp_path: Path, form: tuple[str, str]) -> None:
    _, lines = script(log_of(tmp_path, form, [both(Transaction.create), rows]), tmp_path)
    assert [line.split(" (")[0] for line in lines] == [
        "CREATE TABLE s.t", "INSERT INTO s.t", "INSERT INTO s.t",
    ]  # fmt: skip


@pytest.mark.parametrize("form", DIALECTS)
@pytest.mark.parametrize("first", [[], [lambda unit: unit.create(EAST)]])
def test_a_partition_that_a_table_gets_is_no_table(
    tmp_path: Path, form: tuple[str, str], first: list[Work]
) -> None:
    works = [*first, lambda unit: unit.insert(EAST, (1, "a"), (1, 1)),
             lambda unit: unit.create(WEST), more]  # fmt: skip
    _, lines = script(log_of(tmp_path, form, works), tmp_path)
    assert [line.split(" (")[0] for line in lines] == [
        *["CREATE TABLE s.t"] * len(first), "INSERT INTO s.t", "INSERT INTO s.t",
    ]  # fmt: skip


@pytest.mark.parametrize("form", DIALECTS)
def test_columns_are_added_once(tmp_path: Path, form: tuple[str, str]) -> None:
    def wider(unit: Transaction) -> None:
        unit.insert(replace(WEST, columns=WIDE), (4, "d", 5), (1, 4))

    add = both(lambda unit, part: unit.add_columns(part, 2), WIDE)
    log = log_of(tmp_path, form, [rows, add, wider], replace(TABLE, columns=WIDE))
    _, lines = script(log, tmp_path)
    assert [line for line in lines if line.startswith("ALTER")] == [
        "ALTER TABLE s.t ADD COLUMN n INTEGER;"
    ]
    assert lines[-1] == "INSERT INTO s.t (id, v, n) VALUES (4, 'd', 5);"


@pytest.mark.parametrize("form", DIALECTS)
def test_a_partition_whose_state_changes_is_warned_of(
    tmp_path: Path, form: tuple[str, str]
) -> None:
    log = log_of(tmp_path, form, [rows, lambda unit: unit.dms(137, WEST, bytes(20)), more])
    (warning,) = log.opening_warnings
    assert warning.startswith("S.T: a data partition is attached or detached")


@pytest.mark.parametrize("form", DIALECTS)
def test_partitions_of_records_that_are_looked_at_apart(
    tmp_path: Path, form: tuple[str, str]
) -> None:
    works = [*[rows] * 40, lambda unit: unit.truncate(WEST), both(Transaction.truncate), rows,
             lambda unit: unit.drop(EAST), more, lambda unit: unit.drop(WEST)]  # fmt: skip
    log = log_of(tmp_path, form, works)
    changes = log.entries()["change"]
    assert [int((changes == kind).sum()) for kind in (Change.TRUNCATE, Change.STRUCTURE)] == [3, 1]


def test_a_row_that_moves_between_partitions_is_one_update(tmp_path: Path) -> None:
    """A delete and the insert after it, both marked; one of them alone is what it is."""

    def moved(unit: Transaction) -> None:
        unit.delete(EAST, (1, "a"), (1, 1), flags=PARTITION_MOVE)
        unit.insert(WEST, (1, "z"), (1, 2), flags=PARTITION_MOVE)
        unit.delete(WEST, (2, "b"), (1, 1), flags=PARTITION_MOVE)

    _, lines = script(log_of(tmp_path, ("v10", "flt56"), [rows, moved]), tmp_path)
    assert lines[2:] == [
        "UPDATE s.t SET v = 'z' WHERE id = 1;",
        "DELETE FROM s.t WHERE id = 2;",
    ]
