"""A row that moves on within its unit, and rows that referred to it in between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replay.output.bundle import Bundle
from sqlgen.schema import Constraints, ForeignKey
from tests.logs.events import test_rules as events
from tests.logs.events.builder import Topic
from tests.logs.events.test_rules import log
from tests.support.history import CHILD, PARENT
from tests.support.logbuilder import LogBuilder, Tab, statements

__all__ = ["log"]
FK = Constraints(foreign_keys=(ForeignKey("FK", "TESTOWN.CHILD", ("PID",), "TESTOWN.PARENT"),))
INVERSE = {"INSERT": "DELETE", "DELETE": "INSERT", "UPDATE": "UPDATE"}

#: (verb, table, rows) of each change of a unit.
Changes = list[tuple[Any, ...]]


def parent(key: int, code: str | None = None) -> tuple[Any, ...]:
    return (key, code, 0, 0)


def child(of: int | None) -> tuple[Any, ...]:
    return (7, of, 0)


CHILD_BETWEEN: Changes = [
    ("INSERT", PARENT, parent(1)),
    ("INSERT", CHILD, child(1)),
    ("DELETE", CHILD, child(1)),
    ("UPDATE", PARENT, parent(1), parent(2)),
]
MOVED_TWICE: Changes = [
    ("UPDATE", PARENT, parent(1), parent(3)),
    ("INSERT", CHILD, child(3)),
    ("DELETE", CHILD, child(3)),
    ("UPDATE", PARENT, parent(3), parent(2)),
]
CHILD_MOVED: Changes = [
    ("INSERT", PARENT, parent(1)),
    ("INSERT", CHILD, child(1)),
    ("INSERT", PARENT, parent(3)),
    ("UPDATE", CHILD, child(1), child(3)),
    ("UPDATE", PARENT, parent(1), parent(2)),
]
MADE_ANEW: Changes = [
    ("DELETE", CHILD, child(1)),
    ("DELETE", PARENT, parent(1)),
    ("INSERT", PARENT, parent(1, "x")),
    ("INSERT", CHILD, child(1)),
    ("UPDATE", CHILD, child(1), child(None)),
    ("UPDATE", PARENT, parent(1, "x"), parent(2, "x")),
]


def written(changes: Changes, mode: str, folder: Path) -> Bundle:
    log = LogBuilder((PARENT, CHILD))
    unit = log.unit()
    for verb, table, *rows in changes:
        getattr(unit, verb.lower())(table, *rows)
    return log.selected(folder, mode, FK)


def said(text: str) -> tuple[str, str]:
    """The verb and the table of a statement."""
    verb, *words = text.split()
    name = words[0] if verb == "UPDATE" else words[1]
    return verb, name.rpartition(".")[2].upper()


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize("changes", [CHILD_BETWEEN, MOVED_TWICE, CHILD_MOVED, MADE_ANEW])
def test_a_key_that_rows_referred_to_was_held(changes: Changes, mode: str, tmp_path: Path) -> None:
    """The order of the log is kept, for it is right, and nothing is left out of its midst."""
    tables: list[tuple[str, Tab]] = [(verb, table) for verb, table, *_ in changes]
    expected = [(verb, table.name) for verb, table in tables]
    if mode == "undo":
        expected = [(INVERSE[verb], name) for verb, name in reversed(expected)]
    assert [said(text) for text in statements(written(changes, mode, tmp_path))] == expected


def test_without_them_only_the_net_change_is_certain(tmp_path: Path) -> None:
    """A MERGE logs an insert of 1 and the move of another row from 1 to 2 in any order."""
    changes: Changes = [
        ("INSERT", PARENT, parent(1)),
        ("INSERT", CHILD, child(None)),
        ("UPDATE", PARENT, parent(1), parent(2)),
    ]
    found = [said(text) for text in statements(written(changes, "redo", tmp_path))]
    assert found == [("INSERT", "PARENT"), ("INSERT", "CHILD")]


def test_keys_that_rows_take_over_are_not_undone_where_the_target_passes_them_on(
    log: events.Log,
) -> None:
    """What refers to one row would be taken along with the other."""
    topic = Topic()
    one, two, three = (events.row(key, "a") for key in (9, 1, 2))
    moves = [("d", two, None), ("c", None, one), ("d", three, None), ("c", None, two)]
    passed_on = (events.CHILD, "u", {"id": 5, "up": 1}, {"id": 5, "up": 9})
    topic.transaction(1, *((events.T, *move) for move in moves), passed_on)
    schema = log.schema(events.referring("ON UPDATE CASCADE DEFERRABLE"))
    words = ["--schema", schema, "--log-option", "identity=full"]
    assert log.run(topic, *words)[0] == 0
    code, said, statements = log.run(topic, *words, mode="undo")
    assert (code, statements, "pass both on" in said) == (8, [], True), said
