"""Histories, states and reports on logs of the other families, of the same workload as the Sakila
log, and by Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import replay
from replay.engine.spark import SparkEngine


def counts(state: Any) -> dict[str, int]:
    return {table.dataset.table.name: len(table.rows) for table in state.tables}


def test_structure_changes_are_part_of_a_life(fixtures: Path) -> None:
    folder = fixtures / "soliddb"
    with replay.open_log(source="soliddb", log=folder / "syslog.csv", catalog=folder) as log:
        history = log.history("CUSTOMER", 1001)
        assert [version.facts["op"] for version in history.versions] == [
            *("insert", "update", "delete", "schema", "insert"),
        ]
        assert [version.row for version in history.versions] == [1, 1, 1, 0, 2]
        assert "TIER" in (history.versions[-1].after or {})
        assert "TIER" not in (history.versions[0].after or {})
        assert "ADD COLUMN" in str(history)
        (structure,) = log.report("catalog").rows
        assert structure["statement"] == "ALTER TABLE CUSTOMER ADD COLUMN TIER SMALLINT"
        assert structure["table"] == "DBA.CUSTOMER"
        state = log.state("end")
        (table,) = state.tables
        assert table.rows["TIER"].to_pylist() == [7]
        before = log.state("00000000000000030000")
        assert "TIER" not in before.tables[0].rows.column_names
        audit = log.report("audit")
        assert {row["table"] for row in audit.rows} == {"DBA.CUSTOMER"}


def test_incomplete_units_are_shown_and_marked(incomplete: Path) -> None:
    control, data = incomplete / "incomplete.ctl", incomplete / "incomplete.dat"
    with replay.open_log(control=control, data=data) as log:
        aside = log.report("open").rows[0]["unit"]
        history = log.history(units=aside)
        assert history.versions
        assert {version.fate for version in history.versions} == {"quarantined"}
        assert history.exit_code == 4
        assert any(
            "incomplete unit, or dependent on such" in warning for warning in history.warnings
        )


def test_spark_says_the_same(spark: Any, sakila_small: Path) -> None:
    told: list[list[str]] = []
    files = {"control": sakila_small / "small.ctl", "data": sakila_small / "small.dat"}
    with (
        replay.open_log(**files) as log,
        replay.open_log(**files, engine=SparkEngine(started=lambda: spark.sparkContext)) as other,
    ):
        key = log.report("audit", table="RENTAL").rows[0]["key"]["RENTAL_ID"]
        for one in (log, other):
            told.append(
                [
                    str(one.history("RENTAL", key)),
                    str(one.report("summary")),
                    str(one.report("audit", table="RENTAL")),
                    str(counts(one.state("end"))),
                ]
            )
    assert told[0] == told[1]
