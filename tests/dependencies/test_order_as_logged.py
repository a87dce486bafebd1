"""Scripts keep the order of the log but for what keys and references force, and no row is removed
for a moment that others may refer to. Run on SQLite, redo and then undo."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.errors import LogReplayError
from sqlgen.choices import Assertion, WhereColumns
from sqlgen.ddl.ddl_reader import parse_constraints
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Column, Constraints, ForeignKey, SqlType, Table
from tests.support.history import CHILD, LOOSE, PARENT
from tests.support.logbuilder import LogBuilder, statements, text_of

#: A table without a key refers to one, and a child to its parent.
FK = Constraints(
    foreign_keys=(
        ForeignKey("F1", "TESTOWN.LOOSE", ("N",), "TESTOWN.PARENT"),
        ForeignKey("F2", "TESTOWN.CHILD", ("PID",), "TESTOWN.PARENT", on_delete="CASCADE"),
    ),
    complete=True,
)
NONE = Constraints()
Changes = list[tuple[Any, ...]]
Rows = dict[str, list[tuple[Any, ...]]]
TABLES = {
    "parent": "id INTEGER PRIMARY KEY, code, a, b",
    "child": "id INTEGER PRIMARY KEY, pid REFERENCES parent (id) ON DELETE CASCADE, x",
    "loose": "t, n REFERENCES parent (id)",
}


def parent(key: int, code: str | None, a: int = 0) -> tuple[Any, ...]:
    return (key, code, a, 0)


def written(
    changes: Changes, mode: str, folder: Path, known: Constraints, **more: Any
) -> list[str]:
    tables = {change[1].name: change[1] for change in changes}
    log = LogBuilder(tuple({"PARENT": PARENT, **tables}.values()))
    unit = log.unit()
    for verb, table, *rows in changes:
        *images, rid = rows if isinstance(rows[-1], bytes) else (*rows, None)
        told = {} if rid is None else {"RID": rid}
        getattr(unit, verb)(table, *images, **told)
    control, data = log.write(folder)
    render = RenderOptions(**more)
    options = ScriptOptions("sqlite", render=render, asserts=Assertion.NONE)
    return statements(
        replay.write_script(
            control,
            data,
            folder / mode,
            mode=mode,
            constraints=known,
            options=options,
            overwrite=True,
        )
    )


def carried_out(rows: Rows, lines: list[str], unique: str = "") -> Rows:
    with closing(sqlite3.connect(":memory:")) as target:
        target.execute("ATTACH ':memory:' AS testown")
        for name, columns in TABLES.items():
            target.execute(f"CREATE TABLE testown.{name} ({columns})")
            for row in rows[name]:
                target.execute(
                    f"INSERT INTO testown.{name} VALUES ({', '.join('?' * len(row))})", row
                )
        if unique:
            target.execute(f"CREATE UNIQUE INDEX testown.more ON parent ({unique})")
        target.commit()
        target.execute("PRAGMA foreign_keys = ON")
        target.executescript("\n".join(lines))
        return {
            name: target.execute(f"SELECT * FROM testown.{name} ORDER BY 1, 2").fetchall()
            for name in TABLES
        }


def both_ways(
    changes: Changes, first: Rows, last: Rows, folder: Path, known: Constraints, **more: Any
) -> list[str]:
    """Redo and undo give the right rows; the statements of both."""
    unique = ", ".join(columns[0] for _, columns in known.keys)
    redo = written(changes, "redo", folder, known, **more)
    assert carried_out(first, redo, unique) == last
    undo = written(changes, "undo", folder, known, **more)
    assert carried_out(last, undo, unique) == first
    return [*redo, *undo]


def rows(parents: Changes = (), children: Changes = (), loose: Changes = ()) -> Rows:  # type: ignore[assignment]
    return {"parent": [*parents], "child": [*children], "loose": [*loose]}


#: Keys of children that move on, in the log before they are free.
MOVES: Changes = [
    ("update", CHILD, (1, None, 0), (2, None, 0)),
    ("update", CHILD, (2, None, 7), (3, None, 7)),
]
CHAINED = rows([parent(1, "P")], [(1, None, 0), (2, None, 7)])
MOVED = rows([parent(1, "P")], [(2, None, 0), (3, None, 7)])
COMES_AND_GOES: Changes = [("insert", LOOSE, ("A", 1)), ("delete", LOOSE, ("A", 1))]
MOVES_ON: Changes = [
    ("insert", LOOSE, ("A", 1)),
    ("update", LOOSE, ("A", 1), ("B", 1)),
    ("update", LOOSE, ("B", 1), ("C", 1)),
]


@pytest.mark.parametrize("known", [FK, NONE], ids=["keys", "none"])
@pytest.mark.parametrize("columns", WhereColumns)
@pytest.mark.parametrize(
    ("loose", "left"), [(COMES_AND_GOES, []), (MOVES_ON, [("C", 1)])], ids=["gone", "moved"]
)
def test_rows_without_a_key_keep_their_order_beside_keys_that_move(
    loose: Changes,
    left: list[tuple[Any, ...]],
    columns: WhereColumns,
    known: Constraints,
    tmp_path: Path,
) -> None:
    both_ways([*MOVES, *loose], CHAINED, {**MOVED, "loose": left}, tmp_path, known,
              where_columns=columns)  # fmt: skip
    both_ways([*loose, *MOVES], CHAINED, {**MOVED, "loose": left}, tmp_path, known,
              where_columns=columns)  # fmt: skip


def test_what_no_key_forces_stays_where_it_is(tmp_path: Path) -> None:
    """Only the two moves change places, and what stands between them does not."""
    between: Changes = [
        ("insert", LOOSE, ("A", 1)),
        ("update", PARENT, parent(1, "P"), parent(1, "Q")),
        ("insert", CHILD, (9, 1, 0)),
    ]
    lines = written([MOVES[0], *between, MOVES[1]], "redo", tmp_path, FK)
    words = [" ".join(line.split()[:3]) for line in lines]
    assert words == [
        "INSERT INTO testown.loose",
        "UPDATE testown.parent SET",
        "INSERT INTO testown.child",
        "UPDATE testown.child SET",
        "UPDATE testown.child SET",
    ]
    assert "SET id = 3" in lines[3]


#: Rows of parents that take each other's keys; children refer to two of them.
CIRCLES = {
    "swap": [(1, "A", 2), (2, "B", 1)],
    "rotation": [(1, "A", 9), (9, "A", 5), (5, "B", 1)],
    "two": [(1, "A", 2), (2, "B", 1), (5, "A", 9), (9, "A", 5)],
}


@pytest.mark.parametrize("known", [FK, NONE], ids=["keys", "none"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"where_columns": WhereColumns.GUARD},
        {"where_columns": WhereColumns.ALL},
        {"upsert": True},
    ],
    ids=["key", "guard", "all", "upsert"],
)
@pytest.mark.parametrize("places", [True, False], ids=["RIDs", "none"])
@pytest.mark.parametrize("name", CIRCLES)
def test_a_circle_of_keys_changes_values_and_removes_no_row(
    name: str, places: bool, more: dict[str, Any], known: Constraints, tmp_path: Path
) -> None:
    """On a target whose foreign key cascades: the children stay."""
    circle = CIRCLES[name]
    changes: Changes = [
        ("update", PARENT, parent(key, code), parent(to, code),
         *([bytes([0, 0, 0, 1, number + 1])] if places else []))
        for number, (key, code, to) in enumerate(circle)
    ]  # fmt: skip
    children = [(1, 1, 0), (2, 9 if name == "rotation" else 2, 0)]
    first = rows(sorted(parent(key, code) for key, code, _ in circle), children)
    last = rows(sorted(parent(to, code) for _, code, to in circle), children)
    lines = both_ways(changes, first, last, tmp_path, known, **more)
    assert not [line for line in lines if line.startswith("DELETE")]


def of_code(column: str = "CODE", foreign: tuple[ForeignKey, ...] = FK.foreign_keys) -> Constraints:
    keys = (("TESTOWN.PARENT", (column,)),)
    return Constraints(keys=keys, foreign_keys=foreign, complete=True)


PARENT_TABLE = [
    Table(
        "TESTOWN", "PARENT", tuple(Column(name, SqlType.INTEGER) for name in "ID CODE A B".split())
    )
]
#: (key, code, key then, code then) of parents whose codes are unique, too.
SECOND = {
    "swap": [(1, "A", 1, "B"), (2, "B", 2, "A")],
    "rotation": [(1, "A", 1, "B"), (2, "B", 2, "C"), (3, "C", 3, "A")],
    "with its key": [(1, "A", 2, "A"), (2, "B", 1, "B")],
    "both": [(1, "A", 2, "C"), (2, "B", 3, "A"), (3, "C", 1, "B")],
    "apart": [(1, "A", 2, "C"), (2, "B", 1, "B"), (3, "C", 3, "A")],
}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"where_columns": WhereColumns.GUARD},
        {"where_columns": WhereColumns.ALL},
        {"upsert": True},
    ],
    ids=["key", "guard", "all", "upsert"],
)
@pytest.mark.parametrize("name", SECOND)
def test_second_keys_of_rows_that_others_refer_to(
    name: str, more: dict[str, Any], tmp_path: Path
) -> None:
    """One of the rows gets a value that no row has, until its new one is free."""
    changes: Changes = [
        ("update", PARENT, parent(key, code), parent(to, new))
        for key, code, to, new in SECOND[name]
    ]
    children = [(1, 1, 0), (2, 2, 0)]
    first = rows([parent(key, code) for key, code, *_ in SECOND[name]], children)
    last = rows(sorted(parent(to, new) for _, _, to, new in SECOND[name]), children)
    lines = both_ways(changes, first, last, tmp_path, of_code(), **more)
    assert not [line for line in lines if line.startswith("DELETE")]
    assert [line for line in lines if "code = NULL" in line] or more


def test_a_second_key_without_nulls(tmp_path: Path) -> None:
    """Its lowest values are those that no row has, one for each row."""
    swapped = [(1, "A", 7, 0), (2, "B", 8, 0), (3, "C", 9, 0), (4, "D", 5, 0)]
    after = [(1, "A", 8, 0), (2, "B", 7, 0), (3, "C", 5, 0), (4, "D", 9, 0)]
    changes: Changes = [
        ("update", PARENT, one, other) for one, other in zip(swapped, after, strict=True)
    ]
    first, last = rows(swapped, [(1, 1, 0)]), rows(after, [(1, 1, 0)])
    lines = both_ways(changes, first, last, tmp_path, of_code("A"))
    assert [line for line in lines if line.endswith("SET a = -2147483648 WHERE id = 1;")]
    assert [line for line in lines if line.endswith("SET a = -2147483646 WHERE id = 3;")]


def test_rows_that_tables_outside_of_the_log_refer_to_are_not_removed(tmp_path: Path) -> None:
    schema = """
        CREATE TABLE testown.parent (id int PRIMARY KEY, code varchar(8) UNIQUE, a int, b int);
        CREATE TABLE testown.child (id int, pid int REFERENCES testown.parent ON DELETE CASCADE);
    """
    changes: Changes = [
        ("update", PARENT, parent(1, "A"), parent(1, "B")),
        ("update", PARENT, parent(2, "B"), parent(2, "A")),
    ]
    first = rows([parent(1, "A"), parent(2, "B")], [(1, 1, 0)])
    last = rows([parent(1, "B"), parent(2, "A")], [(1, 1, 0)])
    known = parse_constraints(schema, "postgres", PARENT_TABLE)
    assert known.referred == (("TESTOWN.PARENT", ()),)
    both_ways(changes, first, last, tmp_path, known)


def test_a_second_key_that_others_refer_to_is_refused(tmp_path: Path) -> None:
    foreign = ForeignKey("F", "TESTOWN.CHILD", ("X",), "TESTOWN.PARENT", ("CODE",), "CASCADE")
    changes: Changes = [
        ("update", PARENT, parent(1, "A"), parent(1, "B")),
        ("update", PARENT, parent(2, "B"), parent(2, "A")),
    ]
    with pytest.raises(LogReplayError, match="LR3012"):
        written(changes, "redo", tmp_path, of_code(foreign=(foreign,)))


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize(
    "more",
    [{}, {"where_columns": WhereColumns.GUARD}, {"upsert": True}],
    ids=["key", "guard", "upsert"],
)
def test_work_that_is_only_shown_changes_no_statement(
    mode: str, more: dict[str, Any], tmp_path: Path
) -> None:
    """What was rolled back to a savepoint takes no part in order, keys and net changes."""
    log = LogBuilder((PARENT,))
    unit = log.unit()
    unit.update(PARENT, parent(10, "A"), parent(9, "A"))
    unit.update(PARENT, parent(9, "A"), parent(7, "A"), LOGRECDISP="S")
    unit.update(PARENT, parent(9, "A"), parent(10, "B"))
    unit.insert(PARENT, parent(3, "A"), LOGRECDISP="S")
    unit.update(PARENT, parent(1, "C"), parent(2, "C"))
    unit.update(PARENT, parent(2, "D"), parent(1, "D"))
    control, data = log.write(tmp_path)
    found = []
    for shown in (False, True):
        bundle = replay.write_script(
            control,
            data,
            tmp_path / str(shown),
            mode=mode,
            selection=Selection(include_aborted=shown),
            options=ScriptOptions("sqlite", render=RenderOptions(**more)),
        )
        found.append(statements(bundle))
        remarks = text_of(bundle).count("-- rolled back, not applied: ")
        assert (remarks > 1) == shown
    assert found[0] == found[1]
