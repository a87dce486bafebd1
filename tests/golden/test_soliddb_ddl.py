"""A history of solidDB's DDL in every dialect, and what takes it back, as text.
``REWRITE_GOLDEN=1`` writes the files again; look at the difference before you keep them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from sqlgen.ddl.expressions import Place
from sqlgen.dialects import BUILT_IN, Profile, profile_named
from sqlgen.errors import SqlgenError
from sqlgen.names import identifier
from sqlgen.schema import Table
from sqlgen.soliddb.history import History
from sqlgen.structure import StructureChange, statements

HERE = Path(__file__).parent
HISTORY = (HERE / "soliddb.ddl.sql").read_text(encoding="utf-8").splitlines()
EVERY_DIALECT = pytest.mark.parametrize("dialect", BUILT_IN)


@cache
def changes() -> tuple[StructureChange, ...]:
    history = History(Place("DBA", "SHOP"))
    return tuple(history.change(text, Table("DBA", "T", ())) for text in HISTORY)


def said(change: StructureChange, profile: Profile, text: str) -> list[str]:
    try:
        return statements(change, profile, "lower")
    except SqlgenError as error:
        return [f"!! {error.code} {error.message.replace(text, '…')}"]


@cache
def shown(dialect: str) -> tuple[str, ...]:
    return tuple(lines(profile_named(dialect)))


def lines(profile: Profile) -> Iterator[str]:
    for change in changes():
        text = change.source[-1].text
        yield f">> {text}"
        yield from said(change, profile, text)
        inverse = change.inverse(values=False)
        yield f"<< {change.note or 'all of it'}"
        if inverse is not None:
            yield from said(inverse, profile, text)


@EVERY_DIALECT
def test_history(dialect: str) -> None:
    path = HERE / f"soliddb.ddl.{dialect}.sql"
    text = "\n".join(shown(dialect)) + "\n"
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


#: What sqlglot can read of the statements made here.
_READ = (
    "CREATE TABLE ",
    "CREATE INDEX ",
    "CREATE UNIQUE INDEX ",
    "DROP TABLE ",
    "DROP VIEW ",
    "ALTER TABLE dba.customer ",
)


@EVERY_DIALECT
def test_every_statement_is_one_of_the_target(dialect: str) -> None:
    profile = profile_named(dialect)
    place = f"INDEX {identifier('DBA', profile, 'lower').sql(dialect=profile.sqlglot)}."
    texts = [
        line.replace(place, "INDEX ") if profile.indexes in ("index", "both") else line
        for line in shown(dialect)
        if line.startswith(_READ)
    ]
    assert len(texts) > 10
    for text in texts:
        (tree,) = (
            tree for tree in sqlglot.parse(text, dialect=profile.sqlglot) if tree is not None
        )
        assert not tree.find(exp.Command), text


@EVERY_DIALECT
def test_what_cannot_be_said_names_its_statement(dialect: str) -> None:
    refused = [line for line in shown(dialect) if line.startswith("!! ")]
    assert len(refused) >= (2 if dialect == "soliddb" else 4)
    assert all(line.startswith(("!! LR3003 ", "!! LR3021 ")) and "…" in line for line in refused), (
        refused
    )
