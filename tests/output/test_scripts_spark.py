"""Scripts of the Spark profile on a live Spark, with UPDATE, DELETE and MERGE: the tables are in
memory, what becomes of a row is Spark's doing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

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
from tests.support.history import Maker
from tests.support.rowlevel import Spark


def play(engine: Spark, lines: Sequence[str]) -> None:
    for line in lines:
        engine.run(line)


@pytest.mark.long
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
