"""A history of solidDB's DDL on SQLite, DuckDB and MariaDB, with each step that can be taken back
taken twice."""

from __future__ import annotations

import pytest

from sqlgen.ddl.expressions import Place
from sqlgen.dialects import profile_named
from sqlgen.errors import SqlgenError
from sqlgen.schema import Table
from sqlgen.soliddb.history import History
from sqlgen.structure import StructureChange, statements
from tests.support import engines
from tests.support.places import GOLDEN

pytestmark = pytest.mark.long

HISTORY = (GOLDEN / "soliddb.ddl.sql").read_text(encoding="utf-8").splitlines()
#: One schema (no reserved word), because not every engine can move a table to another; nor have all
#: of them WITH CHECK OPTION, which RICH is about.
TEXTS = [
    text.replace("DBA.", "ROUND.").replace("OTHER.", "ROUND.")
    for text in HISTORY
    if "MODIFY SCHEMA" not in text and "RICH" not in text
]


def run(engine: engines.Engine, change: StructureChange) -> None:
    for statement in statements(change, engine.profile, "lower"):
        if not statement.startswith("--"):
            engine.run(statement)


def test_history_and_back(place: engines.Place) -> None:
    profile = profile_named(place.dialect)
    history = History(Place("ROUND", "SHOP"))
    done = taken_back = 0
    with place.engine("round") as engine:
        for text in TEXTS:
            change = history.change(text, Table("ROUND", "T", ()))
            try:
                statements(change, profile, "lower")
            except SqlgenError:
                continue
            run(engine, change)
            done += 1
            inverse = change.inverse(values=False)
            try:
                back = [] if inverse is None else statements(inverse, profile, "lower")
            except SqlgenError:
                continue
            if inverse is not None and back:
                run(engine, inverse)
                run(engine, change)
                taken_back += 1
        assert done > len(TEXTS) / 2
        assert taken_back > done / 3
