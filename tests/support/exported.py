"""Exports read back with DuckDB, which knows nothing of logreplay: rows, and states rebuilt from
changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

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


def rebuilt(
    out: Path, dataset: dict[str, Any], before: pa.Table, after: pa.Table
) -> list[tuple[str, int]]:
    """Apply the changes of a dataset to the rows ``before`` (text, as in the files of a state) in
    SQL, and compare with ``after``: (what is wrong, how many rows)."""
    with duckdb.connect() as connection:
        changes = relation(out, dataset["name"])
        connection.execute(
            "CREATE VIEW changes AS SELECT *, commit_lrsn || urid || printf('%05d%09d',"
            f" coalesce(member, 0), sequence) AS place FROM {changes}"
        )
        types = connection.sql("SELECT after.* FROM changes LIMIT 0").types
        columns = [column["exported_as"] for column in dataset["columns"]]
        values = ", ".join(
            _value(column, str(kind))
            for column, kind in zip(dataset["columns"], types, strict=True)
        )
        for name, state in (("old", before), ("wanted", after)):
            connection.register("state", state)
            connection.execute(f"CREATE TABLE {name} AS SELECT {values} FROM state")
            connection.unregister("state")
        key = [
            column["exported_as"]
            for column in dataset["columns"]
            if column["name"] in dataset["key"]
        ]
        if key:
            keys = ", ".join(f'image."{name}"' for name in key)
            connection.execute(f"""
                CREATE TABLE last AS SELECT {
                ", ".join(f"{expression} AS k{n}" for n, expression in enumerate(keys.split(", ")))
            },
                    arg_max(image, (place, side)) AS image, arg_max(side, (place, side)) AS side
                FROM (SELECT before AS image, place, 0 AS side FROM changes WHERE before IS NOT NULL
                      UNION ALL SELECT after, place, 1 FROM changes WHERE after IS NOT NULL)
                GROUP BY {keys}""")
            same = " AND ".join(f'last.k{n} = old."{name}"' for n, name in enumerate(key))
            shown = ", ".join(f'image."{name}"' for name in columns)
            made = (
                f"SELECT * FROM old WHERE NOT EXISTS (FROM last WHERE {same}) UNION ALL SELECT"
                f" {shown} FROM last WHERE side = 1"
            )
        else:
            shown = ", ".join(f'{{0}}."{name}"' for name in columns)
            sides = {
                side: f"SELECT {shown.format(side)} FROM changes WHERE {side} IS NOT NULL"
                for side in ("before", "after")
            }
            made = f"(SELECT * FROM old UNION ALL {sides['after']}) EXCEPT ALL {sides['before']}"
        connection.execute(f"CREATE TABLE made AS {made}")
        lost, more = (
            connection.sql(f"SELECT count(*) FROM (FROM {one} EXCEPT ALL FROM {other})").fetchall()[
                0
            ][0]
            for one, other in (("wanted", "made"), ("made", "wanted"))
        )
        return [
            (what, count)
            for what, count in (
                (f"{dataset['name']} lacks", lost),
                (f"{dataset['name']} has too many", more),
            )
            if count
        ]


def _value(column: dict[str, Any], kind: str) -> str:
    name = f'"{column["exported_as"]}"'
    if kind == "BLOB":
        return f"unhex({name}[3:]) AS {name}"
    text = f"rtrim({name}, ' ')" if column["type"] == "CHAR" else name
    return f"CAST({text} AS {kind}) AS {name}"
