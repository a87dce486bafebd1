"""Changes that are left out of a unit still say which of the others are of one row: what the target
does by itself (foreign keys, triggers), and what a selection leaves out."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from replay.changes.options import ScriptOptions
from replay.output.bundle import Bundle
from sqlgen.schema import Constraints, ForeignKey
from tests.support.history import CHILD, LOOSE, PARENT
from tests.support.logbuilder import ACCT, LogBuilder, acct, statements

FK = Constraints(
    foreign_keys=(
        ForeignKey("FK", "TESTOWN.CHILD", ("PID",), "TESTOWN.PARENT", on_delete="CASCADE"),
    ),
    complete=True,
)


def bundle_of(log: LogBuilder, folder: Path, mode: str, **chosen: Any) -> Bundle:
    """A script for SQLite."""
    return log.selected(folder, mode, FK, ScriptOptions("sqlite"), **chosen)


def written(log: LogBuilder, folder: Path, mode: str = "redo", **chosen: Any) -> list[str]:
    """The statements of a script; every record is accounted for."""
    cascade = "force" if mode == "undo" else "none"
    bundle = bundle_of(log, folder, mode, cascade=cascade, **chosen)
    assert bundle.manifest["balance"]["closes"]
    left = bundle.manifest["balance"]["skipped"]
    assert bundle.manifest["balance"]["read"] == len(statements(bundle)) + sum(left.values())
    return statements(bundle)


def passing() -> LogBuilder:
    """A row that comes, is changed by a trigger, and goes; and one that was there before."""
    log = LogBuilder()
    unit = log.unit()
    unit.insert(ACCT, acct(1, "A", "1.00"))
    unit.update(ACCT, acct(1, "A", "1.00"), acct(1, "A", "2.00"), SQLSRCTYPE="T")
    unit.delete(ACCT, acct(1, "A", "2.00"))
    return log


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize(
    "chosen",
    [{"triggers": "skip"}, {"ops": ("insert", "delete")}, {}],
    ids=["triggers", "op", "all"],
)
def test_a_row_that_came_and_went_is_not_there(
    tmp_path: Path, mode: str, chosen: dict[str, Any]
) -> None:
    kinds = [line.split()[0] for line in written(passing(), tmp_path, mode, **chosen)]
    assert kinds == (["INSERT", "DELETE"] if chosen else ["INSERT", "UPDATE", "DELETE"])


def test_a_row_that_goes_before_its_key_is_taken_goes_first(tmp_path: Path) -> None:
    """The other way round: what a trigger did to the old row is no reason to keep the log's order
    of one statement (insert before delete)."""
    log = LogBuilder()
    unit = log.unit()
    unit.update(ACCT, acct(1, "OLD", "1.00"), acct(1, "OLD", "2.00"), SQLSRCTYPE="T")
    unit.insert(ACCT, acct(1, "NEW", "5.00"))
    unit.delete(ACCT, acct(1, "OLD", "2.00"))
    kinds = [line.split()[0] for line in written(log, tmp_path, triggers="skip")]
    assert kinds == ["DELETE", "INSERT"]


def test_what_a_trigger_moves_on_is_not_written_in_its_place(tmp_path: Path) -> None:
    """1→2 by the user, 2→3 by a trigger of the target: one statement of both would leave nothing
    for the trigger."""
    log = LogBuilder()
    unit = log.unit()
    unit.update(ACCT, acct(1), acct(2))
    unit.update(ACCT, acct(2), acct(3), SQLSRCTYPE="T")
    (line,) = written(log, tmp_path, triggers="skip")
    assert line.startswith("UPDATE testown.acct SET id = 2 WHERE id = 1")


def test_a_cascade_frees_keys_with_the_delete_that_causes_it(tmp_path: Path) -> None:
    """The log shows the row that takes the key before the cascade that frees it; a child that was
    inserted goes with its parent. Run with foreign keys that cascade."""
    log = LogBuilder((PARENT, CHILD))
    unit = log.unit()
    unit.insert(CHILD, (11, 1, 7))
    unit.insert(CHILD, (10, None, 5))
    unit.delete(PARENT, (1, "A", 0, 0))
    for child in ((10, 1, 0), (11, 1, 7)):
        unit.delete(CHILD, child, SQLSRCTYPE="R")
    lines = written(log, tmp_path, ri="skip")
    assert len(lines) == 3
    with closing(sqlite3.connect(":memory:")) as target:
        target.execute("ATTACH ':memory:' AS testown")
        target.execute("PRAGMA foreign_keys = ON")
        target.executescript(
            "CREATE TABLE testown.parent (id PRIMARY KEY, code, a, b);"
            "CREATE TABLE testown.child (id PRIMARY KEY,"
            " pid REFERENCES parent (id) ON DELETE CASCADE, x);"
            "INSERT INTO testown.parent VALUES (1, 'A', 0, 0);"
            "INSERT INTO testown.child VALUES (10, 1, 0);" + "\n".join(lines)
        )
        assert target.execute("SELECT * FROM testown.child").fetchall() == [(10, None, 5)]
        assert target.execute("SELECT * FROM testown.parent").fetchall() == []


def test_rows_that_a_condition_leaves_out_are_not_part_of_a_net_change(tmp_path: Path) -> None:
    log = LogBuilder()
    unit = log.unit()
    unit.insert(ACCT, acct(1, "A", "1.00"))
    unit.update(ACCT, acct(1, "A", "1.00"), acct(1, "A", "2.00"))
    unit.delete(ACCT, acct(1, "A", "2.00"))
    lines = written(log, tmp_path, where="BAL = 2.00")
    assert [line.split()[0] for line in lines] == ["UPDATE", "DELETE"]


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize(("place", "kept"), [(b"\0\0\0\2\1", True), (b"\0\0\0\2\2", False)])
def test_where_a_row_lies_tells_more_than_its_images(
    tmp_path: Path, mode: str, place: bytes, kept: bool
) -> None:
    """A log that was made without updates: what was inserted and what was deleted is one row where
    both lie at one place, else two, of which the first goes before its key is taken."""
    log = LogBuilder()
    unit = log.unit()
    unit.insert(ACCT, acct(7), RID=b"\0\0\0\2\7")
    unit.insert(ACCT, acct(1, "A", "1.00"), RID=b"\0\0\0\2\1")
    unit.delete(ACCT, acct(1, "A", "2.00"), RID=place)
    kinds = [line.split()[0] for line in written(log, tmp_path, mode)]
    if mode == "undo":
        kinds = [{"INSERT": "DELETE", "DELETE": "INSERT"}[kind] for kind in kinds[::-1]]
    assert kinds == (["INSERT", "INSERT", "DELETE"] if kept else ["INSERT", "DELETE", "INSERT"])


def test_one_place_in_two_partitions_is_two_places(tmp_path: Path) -> None:
    log = LogBuilder()
    unit = log.unit()
    place = b"\0\0\0\2\1"
    unit.insert(ACCT, acct(7), RID=b"\0\0\0\2\7")
    unit.insert(ACCT, acct(1, "A", "1.00"), RID=place, PARTNUM=2)
    unit.delete(ACCT, acct(1, "B", "1.00"), RID=place, PARTNUM=1)
    kinds = [line.split()[0] for line in written(log, tmp_path)]
    assert kinds == ["INSERT", "DELETE", "INSERT"]


LEFT = [
    ("undo", {}, "do not come back"),
    ("redo", {}, ""),
    ("redo", {"tables": ("*.CHILD",)}, "whose cause is not written"),
    ("redo", {"tables": ("*.PARENT",)}, ""),
    ("redo", {"where": "before.x = 7"}, "whose cause is not written"),
    ("redo", {"exclude_tables": ("*.LOOSE",)}, ""),
]


@pytest.mark.parametrize(("mode", "chosen", "told"), LEFT)
def test_what_no_foreign_key_of_the_target_will_do_is_told(
    mode: str, chosen: dict[str, Any], told: str, tmp_path: Path
) -> None:
    log = LogBuilder((PARENT, CHILD, LOOSE))
    unit = log.unit()
    unit.insert(LOOSE, ("a", 1))
    unit.delete(PARENT, (1, "A", 0, 0))
    unit.delete(CHILD, (11, 1, 7), SQLSRCTYPE="R")
    bundle = bundle_of(log, tmp_path, mode, ri="skip", **chosen)
    said = "".join(
        line for line in bundle.manifest["warnings"] if not line.startswith("nothing is left")
    )
    assert told in said
    assert bool(told) == ("--ri" in said), said
