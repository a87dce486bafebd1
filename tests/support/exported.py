"""Exports read back with DuckDB, which knows nothing of logreplay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb

from replay.cli import main

_READ = {
    "parquet": "read_parquet({}, hive_partitioning=true)",
    "jsonl": "read_json({}, hive_partitioning=true)",
}


def export(log: list[str], out: Path, *options: str) -> dict[str, Any]:
    """Run ``logreplay export`` in this process and give its manifest, with the ``exit_code`` that
    the command returned."""
    code = main.main(["export", *log, "--out", str(out), *options])
    manifest: dict[str, Any] = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["exit_code"] == code
    return manifest


def files_of(out: Path, dataset: str, suffix: str) -> str:
    """The files of a dataset as SQL names them."""
    return f"'{out / dataset}/**/*.{suffix}'"


def relation(out: Path, dataset: str, form: str = "parquet") -> str:
    """A dataset as SQL reads it."""
    return _READ[form].format(files_of(out, dataset, form))


def rows(out: Path, dataset: str, what: str = "*", form: str = "parquet") -> list[tuple[Any, ...]]:
    """Rows of a dataset in the order of the changes."""
    with duckdb.connect() as connection:
        query = (
            f"SELECT {what} FROM {relation(out, dataset, form)} ORDER BY commit_lrsn, urid, member,"
            " sequence"
        )
        return connection.sql(query).fetchall()
