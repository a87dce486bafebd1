"""Exports read by libraries that share nothing: what DuckDB, polars and fastparquet find is the
same, value for value. ``LOGREPLAY_JUDGED_LOG=sakila`` takes the whole Sakila log."""

from __future__ import annotations

import os
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import fastparquet
import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.support.exported import export, files_of
from tests.support.places import FIXTURES

WHOLE = os.environ.get("LOGREPLAY_JUDGED_LOG") == "sakila"
CONTROL, DATA = (
    ("sakila/log/sakila.ctl", "sakila/log/sakila.dat.gz")
    if WHOLE
    else ("sakila/small/small.ctl", "sakila/small/small.dat")
)
LOG = ["--control", str(FIXTURES / CONTROL), "--data", str(FIXTURES / DATA), "--engine", "local"]
IMAGES = ("before", "after")
Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    out = tmp_path_factory.mktemp("exports") / "parquet"
    manifest = export(LOG, out, "--format", "parquet")
    return out, [dataset["name"] for dataset in manifest["datasets"]]


def by_duckdb(out: Path, dataset: str) -> tuple[list[str], Rows]:
    files = f"read_parquet({files_of(out, dataset, 'parquet')}, hive_partitioning=true)"
    with duckdb.connect() as connection:
        found = connection.sql(f"SELECT * EXCLUDE (before, after), before.*, after.* FROM {files}")
        described = connection.sql(f"SELECT * FROM {files}")
        inside = [
            f"{name}.{field}"
            for name, kind in zip(described.columns, described.types, strict=True)
            if name in IMAGES
            for field, _ in kind.children
        ]
        names = [name for name in described.columns if name not in IMAGES] + inside
        return names, found.fetchall()


def by_polars(out: Path, dataset: str) -> tuple[list[str], Rows]:
    found = pl.read_parquet(out / dataset / "**/*.parquet", hive_partitioning=True)
    flat = [pl.col(name) for name in found.columns if name not in IMAGES]
    flat += [
        pl.col(name).struct.field(field.name).alias(f"{name}.{field.name}")
        for name in IMAGES
        for field in found.schema[name].fields  # type: ignore[attr-defined]
    ]
    table = found.select(flat)
    return table.columns, table.rows()


def by_fastparquet(out: Path, dataset: str) -> tuple[list[str], Rows]:
    frames = []
    for path in sorted((out / dataset).rglob("*.parquet")):
        with path.open("rb") as file:
            frame = fastparquet.ParquetFile(file).to_pandas()
        day = path.parent.name.partition("=")[2]
        for name in frame.columns[frame.dtypes == "datetime64[ns]"]:  # a day; 9999-12-31 wraps
            frame[name] = frame[name].where(frame[name] == frame[name].dt.normalize(), pd.NaT)
        frame["commit_date"] = None if day.startswith("__") else date.fromisoformat(day)
        frames.append(frame.astype(object))
    table = pd.concat(frames)
    return list(table.columns), list(table.itertuples(index=False, name=None))


def plain(value: Any) -> Any:
    """A value as all three can say it: fastparquet has decimals as floats, days as midnights."""
    if value is None or (not isinstance(value, bytes | str) and pd.isna(value)):
        return None
    if isinstance(value, pd.Timestamp | np.datetime64):
        return pd.Timestamp(value).to_pydatetime()
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    if isinstance(value, Decimal | float | np.floating):
        return round(float(value), 6)
    return value.item() if isinstance(value, np.generic) else value


def beyond(value: Any) -> bool:
    """A day that does not fit the nanoseconds in which fastparquet has days."""
    day = isinstance(value, date) and not isinstance(value, datetime)
    return day and not 1678 <= value.year <= 2261


def sorted_rows(names: list[str], found: Rows) -> list[tuple[tuple[str, Any], ...]]:
    every = [
        tuple(sorted((name, plain(value)) for name, value in zip(names, row, strict=True)))
        for row in found
    ]
    return sorted(every, key=lambda row: [str(value) for name, value in row if "." not in name])


@pytest.mark.parametrize(
    "judge",
    [
        pytest.param(by_polars, id="polars"),
        pytest.param(by_fastparquet, id="fastparquet", marks=pytest.mark.long),
    ],
)
def test_other_readers_find_what_duckdb_finds(exported: tuple[Path, list[str]], judge: Any) -> None:
    out, datasets = exported
    total = 0
    for dataset in datasets:
        names, found = by_duckdb(out, dataset)
        if judge is by_fastparquet:
            found = [tuple(None if beyond(value) else value for value in row) for row in found]
        expected = sorted_rows(names, found)
        assert sorted_rows(*judge(out, dataset)) == expected
        total += len(expected)
    assert total >= 259


def test_decimals_have_all_their_digits(exported: tuple[Path, list[str]]) -> None:
    """In DuckDB and polars a decimal is one, of the same value."""
    out, datasets = exported
    decimals = 0
    for dataset in datasets:
        found = [
            {
                name: [row[place] for row in rows]
                for place, name in enumerate(names)
                if any(isinstance(row[place], Decimal) for row in rows)
            }
            for names, rows in (by_duckdb(out, dataset), by_polars(out, dataset))
        ]
        assert found[0].keys() == found[1].keys()
        for name, column in found[0].items():
            assert sorted(map(str, column)) == sorted(map(str, found[1][name]))
            decimals += len(column)
    assert decimals
