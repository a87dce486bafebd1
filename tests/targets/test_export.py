"""The Sakila log as datasets: DuckDB reads them, and applying their changes to the state before the
log gives the state after it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.support.engines import state_file
from tests.support.exported import export, files_of, rebuilt, relation, rows
from tests.support.luwbuilder import catalog_csv
from tests.support.luwsakila import encode
from tests.support.solidbuilder import Framing, write_catalog, write_rows
from tests.support.solidsakila import encode as encode_solid

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


def test_a_change_that_is_left_out_is_missed(
    parquet: Path, log: list[str], sakila: Path, tmp_path: Path
) -> None:
    """The comparison above can fail."""
    last = rows(parquet, "sakila.payment", "urid")[-1][0]
    manifest = export(log, tmp_path / "out", "--table", "*.PAYMENT", "--except", last)
    (dataset,) = manifest["datasets"]
    assert rebuilt(
        tmp_path / "out",
        dataset,
        *(state_file(sakila / state, "payment") for state in ("initial", "final")),
    )


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


@pytest.mark.long
def test_formats_agree(log: list[str], parquet: Path, tmp_path: Path) -> None:
    """What DuckDB reads from JSON lines and CSV, given the types of the Parquet files, is what it
    reads from these."""
    for form in ("jsonl", "csv"):
        manifest = export(log, tmp_path / form, "--format", form)
        for dataset in manifest["datasets"]:
            name = dataset["name"]
            with duckdb.connect() as connection:
                changes = relation(parquet, name)
                described = connection.sql(f"SELECT * EXCLUDE (commit_date) FROM {changes} LIMIT 0")
                files = files_of(tmp_path / form, name, form)
                images = connection.sql(f"SELECT before FROM {changes} LIMIT 0").types[0].children
                fields = {
                    field: "VARCHAR" if str(kind) == "BLOB" else str(kind) for field, kind in images
                }
                facts = {
                    column: str(kind)
                    for column, kind in zip(described.columns, described.types, strict=True)
                }
                if form == "csv":
                    flat = {
                        f"{side}_{field}": kind
                        for side in ("before", "after")
                        for field, kind in fields.items()
                    }
                    types = {
                        column: kind
                        for column, kind in facts.items()
                        if column not in ("before", "after")
                    } | flat
                    wanted = ", ".join(
                        f'{side}."{field}"' for side in ("before", "after") for field in fields
                    )
                    read = (
                        f"read_csv({files}, hive_partitioning=true, columns={types},"
                        " allow_quoted_nulls=false)"
                    )
                    shown = ", ".join(f'"{column}"' for column in flat)
                else:
                    struct = (
                        "STRUCT("
                        + ", ".join(f'"{field}" {kind}' for field, kind in fields.items())
                        + ")"
                    )
                    read = (
                        f"read_json({files}, hive_partitioning=true,"
                        f" columns={facts | {'before': struct, 'after': struct}})"
                    )
                    shown = wanted = ", ".join(
                        f'{side}."{field}"' for side in ("before", "after") for field in fields
                    )
                for field, kind in images:
                    if str(kind) == "BLOB":
                        for side in ("before", "after"):
                            wanted = wanted.replace(
                                f'{side}."{field}"', f'lower(hex({side}."{field}"))'
                            )
                known = ", ".join(column for column in facts if column not in ("before", "after"))
                one = f"SELECT {known}, commit_date, {shown} FROM {read}"
                other = f"SELECT {known}, commit_date, {wanted} FROM {changes}"
                count = connection.sql(f"SELECT count(*) FROM ({one})").fetchall()[0][0]
                assert count == dataset["changes"]
                assert connection.sql(f"({one}) EXCEPT ALL ({other})").fetchall() == []


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


@pytest.mark.long
def test_the_same_from_a_db2_luw_log(sakila: Path, tmp_path: Path) -> None:
    encoded = encode(sakila, "v10", True, "raw")
    (tmp_path / "sakila.log").write_bytes(encoded.data)
    (tmp_path / "catalog.csv").write_text(catalog_csv(encoded.tables), encoding="utf-8")
    source = [
        "--source",
        "db2luw",
        "--log",
        str(tmp_path / "sakila.log"),
        "--catalog",
        str(tmp_path / "catalog.csv"),
        *LOG,
    ]
    manifest = export(source, tmp_path / "out")
    assert manifest["exit_code"] == 0
    wrong = []
    for dataset in manifest["datasets"]:
        table = dataset["table"].partition(".")[2].lower()
        wrong += rebuilt(
            tmp_path / "out",
            dataset,
            *(state_file(sakila / state, table) for state in ("initial", "final")),
        )
    assert len(manifest["datasets"]) == 11
    assert wrong == []


@pytest.mark.long
def test_the_same_from_a_soliddb_log(sakila: Path, tmp_path: Path) -> None:
    encoded = encode_solid(sakila, Framing("len32"))
    write_catalog(tmp_path, encoded.tables)
    path = write_rows(tmp_path / "syslog.parquet", encoded.log.rows)
    manifest = export(
        ["--source", "soliddb", "--log", str(path), "--catalog", str(tmp_path), *LOG],
        tmp_path / "out",
    )
    assert manifest["exit_code"] == 0
    wrong = []
    for dataset in manifest["datasets"]:
        table = dataset["table"].partition(".")[2].lower()
        wrong += rebuilt(
            tmp_path / "out",
            dataset,
            *(state_file(sakila / state, table) for state in ("initial", "final")),
        )
    assert len(manifest["datasets"]) == 11
    assert wrong == []
