"""Random histories as upsert statements, and what must become of them: the same state, however
often and over whatever part they are applied."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from sqlgen.dialects import Profile
from sqlgen.render import upsert
from sqlgen.render_options import RenderOptions
from sqlgen.schema import ARROW_TYPES, Column, Op, Rows, SqlType, Table
from tests.support.history import History, Step

PARENT = Table(
    "TESTOWN",
    "PARENT",
    (
        Column("ID", SqlType.INTEGER, False),
        Column("CODE", SqlType.VARCHAR, True, 8),
        Column("A", SqlType.INTEGER, False),
        Column("B", SqlType.INTEGER, False),
    ),
    ("ID",),
)
CHILD = Table(
    "TESTOWN",
    "CHILD",
    (
        Column("ID", SqlType.INTEGER, False),
        Column("PID", SqlType.INTEGER),
        Column("X", SqlType.INTEGER, False),
    ),
    ("ID",),
)
TABLES = {"PARENT": PARENT, "CHILD": CHILD}
TITLES = {name: name.lower() for name in TABLES}
OPTIONS = RenderOptions(upsert=True)


def rows_of(step: Step) -> Rows:
    """One change as rows."""
    table = TABLES[step.table]
    before, after = (
        (
            {}
            if row is None
            else {
                c.name: pa.array([value], ARROW_TYPES[c.type])
                for c, value in zip(table.columns, row, strict=True)
            }
        )
        for row in (step.before, step.after)
    )
    if step.before is None or step.after is None:
        return Rows(table, Op.INSERT if step.before is None else Op.DELETE, 1, before, after, {})
    differ = {
        c.name: old != new
        for c, old, new in zip(table.columns, step.before, step.after, strict=True)
    }
    masks = {name: pa.array([True]) for name, changed in differ.items() if changed}
    return Rows(table, Op.UPDATE, 1, before, after, masks, pa.array([True]))


def statements(history: History, profile: Profile, mode: str) -> list[str]:
    """The statements of a history, in the order of the mode."""
    rows = [rows_of(step) for unit in history.units for step in unit if step.table in TABLES]
    if mode == "undo":
        rows = [each.inverse() for each in reversed(rows)]
    found = []
    for each in rows:
        rendered = upsert.render(each, profile, OPTIONS)
        assert rendered.problems == []
        found += [line for line in rendered.text[0].as_py().split("\n") if line]
    return found


def check(
    history: History,
    profile: Profile,
    run: Callable[[Sequence[str]], Any],
    state: Callable[[], dict[str, list[Any]]],
    seed: int,
) -> None:
    """From empty tables: redo, also over a part of itself and again, leads to the end of the
    history; so does undo, to its beginning."""
    final = {name: rows for name, rows in history.state().items() if name != "loose"}
    empty: dict[str, list[Any]] = {"parent": [], "child": []}
    redo, undo = statements(history, profile, "redo"), statements(history, profile, "undo")
    choice = random.Random(seed)
    for way, end in ((redo, final), (redo, final), (undo, empty), (undo, empty)):
        for part in (choice.randrange(len(way)), choice.randrange(len(way)), len(way)):
            run(way[:part])
        assert state() == end
