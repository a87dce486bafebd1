"""The Sakila log as datasets: DuckDB reads them, and applying their changes to the state before the
log gives the state after it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.support.engines import state_file
from tests.support.exported import export, rebuilt, relation

pytestmark = pytest.mark.long

LOG = ("--engine", "local")


@pytest.fixture(scope="module")
def log(sakila: Path) -> list[str]:
    return ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz"), *LOG]


@pytest.fixture(scope="module")
def parquet(log: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("parquet") / "out"
    export(log, out, "--records-per-file", "4000")
    return out


@pytest.mark.long
def test_the_final_state_comes_out_of_the_changes(
    parquet: Path, log: list[str], sakila: Path, tmp_path: Path
) -> None:
    manifest = export(log, tmp_path / "out")
    assert manifest["balance"]["closes"]
    assert manifest["exit_code"] == 0
    assert len(manifest["datasets"]) == 11
    for out in (tmp_path / "out", parquet):
        wrong = []
        for dataset in manifest["datasets"]:
            table = dataset["table"].partition(".")[2].lower()
            states = [state_file(sakila / state, table) for state in ("initial", "final")]
            wrong += rebuilt(out, dataset, *states)
            assert rebuilt(out, dataset, states[0], states[0]) != []
        assert wrong == []


def test_types(parquet: Path) -> None:
    with duckdb.connect() as connection:
        found = connection.sql(
            f"SELECT after.* FROM {relation(parquet, 'sakila.customer_note')} LIMIT 0"
        )
        types = dict(zip(found.columns, map(str, found.types), strict=True))
    kinds = set(types.values())
    assert {"BLOB", "DATE", "TIMESTAMP", "DOUBLE", "BIGINT", "INTEGER", "VARCHAR"} <= kinds
    assert "FLOAT" not in kinds, "a REAL of Db2 for z/OS reaches beyond an IEEE single"
    with duckdb.connect() as connection:
        found = connection.sql(
            f"SELECT after.amount FROM {relation(parquet, 'sakila.payment')} LIMIT 0"
        )
        assert str(found.types[0]) == "DECIMAL(5,2)"


def test_the_order_of_a_unit(parquet: Path) -> None:
    """Numbers within a unit run from 1 over all datasets, in the order of the log."""
    names = sorted(path.name for path in parquet.iterdir() if path.is_dir())
    with duckdb.connect() as connection:
        parts = " UNION ALL ".join(
            f"SELECT urid, member, sequence, log_position FROM {relation(parquet, name)}"
            for name in names
        )
        odd = connection.sql(f"""
            SELECT urid FROM (SELECT *, row_number() OVER (PARTITION BY urid, member ORDER BY
            log_position) AS place FROM ({parts}))
            WHERE place <> sequence""").fetchall()
        count, units = connection.sql(
            f"SELECT count(*), count(DISTINCT (urid, member)) FROM ({parts})"
        ).fetchall()[0]
    assert odd == []
    assert (count, units) == (19_549, 2_598)
