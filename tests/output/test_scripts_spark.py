"""Scripts of the Spark profile on a live Spark, with UPDATE, DELETE and MERGE: the tables are in
memory, what becomes of a row is Spark's doing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from sqlgen import ddl
from sqlgen.render import upsert
from sqlgen.render_options import RenderOptions
from sqlgen.rows import Op, Rows
from sqlgen.statements import render
from tests.output.test_spark_sql import (
    EDGES,
    SPARK,
    TRIP,
    edge_rows,
    expected,
    images,
    inserts,
    state,
)
from tests.support import upserts
from tests.support.engines import statements_of
from tests.support.history import Maker
from tests.support.rowlevel import Spark
from tests.targets.test_sakila import differences, load, log_tables

#: Tables that are small enough to be written anew by each statement.
SMALL = ("*.ADDRESS", "*.FILM_STOCK", "*.INVENTORY", "*.CUSTOMER*", "*.LOYALTY_CARD")


def play(engine: Spark, lines: Sequence[str]) -> None:
    for line in lines:
        engine.run(line)


@pytest.mark.parametrize("again", [False, True], ids=["plain", "upsert"])
def test_sakila(spark: Any, again: bool, sakila: Path, sakila_small: Path, tmp_path: Path) -> None:
    names = SMALL if again else (*SMALL, "*.FILM")
    tables = {
        name: table
        for name, table in log_tables(sakila, tmp_path).items()
        if Selection(tables=names).takes_table(f"S.{table.name}")
    }
    assert len(tables) == 6 + (not again)
    engine = Spark(spark, tmp_path, "sakila")
    load(engine, sakila / "initial", tables)
    assert differences(engine, sakila / "initial", tables) == []
    options = ScriptOptions(
        dialect="spark",
        render=RenderOptions(where_columns="key" if again else "guard", upsert=again),
    )
    for mode, folder in (("redo", sakila_small / "final"), ("undo", sakila / "initial")):
        control, data = sakila_small / "small.ctl", [sakila_small / "small.dat"]
        bundle = replay.write_script(
            control,
            data,
            tmp_path / mode,
            mode=mode,
            selection=Selection(tables=names),
            options=options,
        )
        lines = [
            line
            for line in statements_of(bundle.folder.glob("*.sql"))
            if not line.startswith("SET ")
        ]
        changes = [line for line in lines if not line.startswith("SELECT ")]  # checks of rows
        assert {line.split(" ")[0] for line in changes} == (
            {"MERGE", "DELETE"} if again else {"INSERT", "UPDATE", "DELETE"}
        )
        assert (len(changes) < len(lines)) == (not again)
        assert len(changes) == bundle.manifest["statements"] > 50
        for part in (len(lines) // 3, len(lines)) if again else (len(lines),):
            play(engine, lines[:part])
        assert differences(engine, folder, tables) == []


@pytest.mark.parametrize("where", ["key", "guard", "all", "upsert"])
def test_edge_values_are_found_and_changed(spark: Any, where: str, tmp_path: Path) -> None:
    """Rows of every type's edge values come, become other ones, become what they were, and go."""
    rows = edge_rows()
    other = [
        (row[0], *(values[(row[0] + 1) % len(values)] for values in EDGES.values())) for row in rows
    ]
    changed = {column.name: pa.array([True] * len(rows)) for column in EDGES}
    engine = Spark(spark, tmp_path, "round")
    engine.run("SET spark.sql.session.timeZone = UTC")
    engine.run(ddl.create_table(TRIP, SPARK))
    new = inserts(rows)
    update = Rows(
        TRIP,
        Op.UPDATE,
        len(rows),
        images(rows),
        images(other),
        changed,
        pa.array([True] * len(rows)),
    )
    options = RenderOptions(where_columns="key" if where == "upsert" else where)
    for each, end in ((new, rows), (update, other), (update.inverse(), rows), (new.inverse(), [])):
        rendered = (upsert.render if where == "upsert" else render)(each, SPARK, options)
        assert rendered.problems == []
        play(engine, rendered.text.to_pylist())
        assert state(engine.session, "round.trip") == expected(end)


def test_a_history_again_and_over_a_part(spark: Any, tmp_path: Path) -> None:
    engine = Spark(spark, tmp_path, "testown")
    for table in upserts.TABLES.values():
        engine.run(ddl.create_table(table, SPARK))

    def rows() -> dict[str, list[Any]]:
        return {
            name: sorted(engine.rows(f"SELECT * FROM testown.{name}"))
            for name in upserts.TITLES.values()
        }

    upserts.check(Maker(3, 6, spread=5).history, SPARK, lambda lines: play(engine, lines), rows, 3)
