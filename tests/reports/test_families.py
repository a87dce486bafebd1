"""Histories, states and reports on logs of the other families, of the same workload as the Sakila
log, and by Spark."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.engine.spark import SparkEngine
from replay.errors import Refusal
from tests.support import luwsakila, solidsakila
from tests.support.luwbuilder import catalog_csv
from tests.support.solidbuilder import Framing, write_catalog, write_rows


def story(history: Any) -> list[tuple[Any, ...]]:
    """What a history tells in every family: which row, what, which columns."""
    return [
        (version.row, version.facts["op"], tuple(version.key.values()), tuple(version.changed))
        for version in history.versions
    ]


def counts(state: Any) -> dict[str, int]:
    return {table.dataset.table.name: len(table.rows) for table in state.tables}


@pytest.mark.long
def test_the_same_rows_in_every_family(sakila: Path, tmp_path: Path) -> None:
    (tmp_path / "luw").mkdir()
    luw = luwsakila.encode(sakila, "v10", True, "raw")
    log_file, catalog = tmp_path / "luw" / "sakila.log", tmp_path / "luw" / "catalog.csv"
    log_file.write_bytes(luw.data)
    catalog.write_text(catalog_csv(luw.tables), encoding="utf-8")
    solid = solidsakila.encode(sakila, Framing("len32"), 20)
    write_catalog(tmp_path, solid.tables)
    rows = write_rows(tmp_path / "syslog.parquet", solid.log.rows)
    files = {"control": sakila / "sakila.ctl", "data": sakila / "sakila.dat.gz"}
    with (
        replay.open_log(**files) as log,
        replay.open_log(source="db2luw", log=log_file, catalog=catalog) as other,
        replay.open_log(source="soliddb", log=rows, catalog=tmp_path) as third,
    ):
        stories = [one.history("FILM_STOCK", "819,1") for one in (log, other, third)]
        assert len(stories[0].versions) == 6
        assert story(stories[1]) == story(stories[0])
        assert Counter(story(stories[2])) == Counter(story(stories[0]))
        point = bytes.fromhex("00DECBF4DD6635100000")
        at = f"{luw.until(point):016X}"
        initial = sakila / "initial"
        expected = counts(log.state("00DECBF4DD6635100000", initial))
        assert counts(other.state(at, initial)) == expected
        assert counts(third.state("end", initial)) == counts(log.state("end", initial))
        sums = [one.report("summary").totals for one in (log, other, third)]
        # solidDB logs a changed key as a delete and an insert
        assert len({total["inserts"] - total["deletes"] for total in sums}) == 1
        assert other.report("quiet", most_open=2).rows
        with pytest.raises(Refusal, match="LR3020 found a report about open units"):
            third.report("quiet")
        with pytest.raises(Refusal, match="LR3020 found --min"):
            other.report("quiet", least="5s", most_open=2)


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


@pytest.mark.long
def test_damage_is_said_and_is_exit_code_8(sakila_small: Path, tmp_path: Path) -> None:
    data = bytearray((sakila_small / "small.dat").read_bytes())
    data[3296] ^= 0xFF
    damaged = tmp_path / "small.dat"
    damaged.write_bytes(data)
    with replay.open_log(control=sakila_small / "small.ctl", data=damaged) as log:
        for answer in (
            log.history(authids="CLERK*"),
            log.state("end"),
            log.report("audit"),
        ):
            assert answer.exit_code == 8
            assert any("00000000000093F58A14/2 cannot be read" in w for w in answer.warnings)
