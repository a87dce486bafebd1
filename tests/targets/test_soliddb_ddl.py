"""A history of solidDB's DDL on SQLite, DuckDB and MariaDB, and back."""

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
from tests.support.servers import of_kind

pytestmark = pytest.mark.long

HISTORY = (GOLDEN / "soliddb.ddl.sql").read_text(encoding="utf-8").splitlines()
#: One schema (no reserved word), because not every engine can move a table to another; nor have all
#: of them WITH CHECK OPTION, which RICH is about.
TEXTS = [
    text.replace("DBA.", "ROUND.").replace("OTHER.", "ROUND.")
    for text in HISTORY
    if "MODIFY SCHEMA" not in text and "RICH" not in text
]
TABLES = {
    "sqlite": "SELECT name FROM round.sqlite_master",
    "duckdb": "SELECT table_name FROM duckdb_tables()",
    "mariadb": "SELECT table_name FROM information_schema.tables WHERE table_schema = 'round'",
}


def run(engine: engines.Engine, change: StructureChange) -> None:
    for statement in statements(change, engine.profile, "lower"):
        if not statement.startswith("--"):
            engine.run(statement)


def test_history_and_back(place: engines.Place) -> None:
    profile = profile_named(place.dialect)
    history = History(Place("ROUND", "SHOP"))
    changes = [history.change(text, Table("ROUND", "T", ())) for text in TEXTS]
    done = []
    with place.engine("round") as engine:
        for change in changes:
            try:
                statements(change, profile, "lower")
            except SqlgenError:
                continue
            run(engine, change)
            done.append(change)
        assert len(done) > len(TEXTS) / 2
        left = []
        for change in reversed(done):
            inverse = change.inverse(values=False)
            if inverse is None:
                left.append(change.source[0].text)
            else:
                run(engine, inverse)
        assert left == ["TRUNCATE TABLE ROUND.TYPES"]
        assert list(engine.rows(of_kind(TABLES, place.dialect))) == []
