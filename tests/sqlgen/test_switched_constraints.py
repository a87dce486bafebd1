"""Constraints that a schema file switches off or drops after it has stated them: they are not used
any more, even where it switches them on again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sqlgen.ddl.ddl_reader import parse_constraints
from sqlgen.schema import Column, Constraints, SqlType, Table
from tests.support.few import few

TABLES = [
    Table("P", name, (Column("A", SqlType.INTEGER), Column("B", SqlType.INTEGER)), ("A",))
    for name in ("T", "C")
]
STATED = """
CREATE TABLE p.t (a int NOT NULL, b int, CONSTRAINT pk PRIMARY KEY (a));
CREATE TABLE p.c (a int NOT NULL, b int, CONSTRAINT pc PRIMARY KEY (a),
    CONSTRAINT ck CHECK (a > 0), CONSTRAINT f FOREIGN KEY (b) REFERENCES p.t (a),
    CONSTRAINT g FOREIGN KEY (a) REFERENCES p.t (a));
"""
OFF = [
    ("tsql", "NOCHECK CONSTRAINT f"),
    ("oracle", "DISABLE CONSTRAINT f"),
    ("oracle", "DISABLE NOVALIDATE CONSTRAINT f"),
    ("oracle", "MODIFY CONSTRAINT f DISABLE"),
    ("postgres", "ALTER CONSTRAINT f NOT ENFORCED"),
    ("mysql", "ALTER CONSTRAINT f NOT ENFORCED"),
    ("snowflake", "ALTER CONSTRAINT f NOT ENFORCED"),
    ("tsql", "DROP CONSTRAINT f"),
    ("postgres", "DROP CONSTRAINT f"),
    ("oracle", "DROP CONSTRAINT f"),
]


def after(actions: str, dialect: str) -> Constraints:
    """What is known after ALTER TABLE c with each of some actions, a line each."""
    text = STATED + "".join(f"ALTER TABLE p.c {action};\n" for action in actions.splitlines())
    return parse_constraints(text, dialect, TABLES)


def names(found: Constraints) -> str:
    return " ".join(sorted(key.name for key in found.foreign_keys))


@pytest.mark.parametrize(
    ("dialect", "actions", "left"),
    [
        *((dialect, action, "g") for dialect, action in OFF),
        ("tsql", "NOCHECK CONSTRAINT f, g", ""),
        ("tsql", "NOCHECK CONSTRAINT f\nNOCHECK CONSTRAINT ck", "g"),
        ("tsql", "NOCHECK CONSTRAINT f\nWITH CHECK CHECK CONSTRAINT ALL", "g"),
        ("tsql", "WITH NOCHECK CHECK CONSTRAINT f", "f g"),
        ("oracle", "DISABLE CONSTRAINT f\nENABLE NOVALIDATE CONSTRAINT f", "g"),
        ("oracle", "ENABLE CONSTRAINT f", "f g"),
        ("postgres", "ALTER CONSTRAINT f DEFERRABLE INITIALLY DEFERRED", "g"),
        ("postgres", "VALIDATE CONSTRAINT f", "f g"),
        ("tsql", "DISABLE TRIGGER x\nSET (LOCK_ESCALATION = TABLE)\nREBUILD", "f g"),
        ("oracle", "DISABLE ROW MOVEMENT\nMODIFY (b CONSTRAINT n NOT NULL)", "f g"),
        ("mysql", "DISABLE KEYS", "f g"),
        ("postgres", "DISABLE TRIGGER USER", "f g"),
    ],
)
def test_what_is_left(dialect: str, actions: str, left: str) -> None:
    found = after(actions, dialect)
    assert (names(found), found.unread) == (left, ())
    assert len(found.keys) == 2


def spoilt(text: str) -> Iterator[str]:
    """A statement's words cut off, left out and misspelt."""
    words = text.split()
    for place, word in enumerate(words):
        yield " ".join(words[:place])
        yield " ".join([*words[:place], *words[place + 1 :]])
        if word not in ("f", "p.c"):  # another name is that of something else
            for at in range(len(word)):
                letters = word[:at] + word[at + 1 :], word[:at] + "X" + word[at:]
                yield from (" ".join([*words[:place], one, *words[place + 1 :]]) for one in letters)


@pytest.mark.parametrize(("dialect", "action"), few(OFF, *OFF[:3], OFF[-2]))
def test_what_is_spoilt_is_never_passed_over(dialect: str, action: str) -> None:
    """A foreign key that a spoilt statement switches off is not taken for an enforced one."""
    head = "ALTER TABLE p.c"
    for text in spoilt(f"{head} {action}"):
        if not text or text.endswith((" DROP f", " f ENFORCED")):  # which says something else
            continue
        found = parse_constraints(f"{STATED}{text};\n", dialect, TABLES)
        if "f" in names(found).split():
            assert found.unread, text


@pytest.mark.parametrize(
    ("dialect", "action"),
    [
        ("tsql", "NOCHECK CONSTRAINT ff"),
        ("tsql", "NOCHECK CONSTRAINT ALL"),
        ("oracle", "DISABLE CONSTRAINT f CASCADE"),
        ("oracle", "DROP CONSTRAINT ff"),
    ],
)
def test_what_cannot_be_told_is_named_and_no_key_is_used(dialect: str, action: str) -> None:
    found = after(action, dialect)
    (said,) = found.unread
    assert action in said
    assert "this is not followed, so no key of it is used" in said
    assert (found.keys, found.foreign_keys) == ((("P.T", ("A",)),), ())
