"""The statements of the how-to of a lake, as it has them: what they make of an export is the rows
that the logged work left behind."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from replay.cli.main import main
from tests.cli.test_docs import commands_in
from tests.support.places import FIXTURES, ROOT

PAGE = ROOT / "replay" / "docs" / "how-to" / "lake.md"
FINAL = FIXTURES / "sakila" / "small" / "final" / "rental.csv.gz"


def statements(heading: str) -> list[str]:
    """The SQL blocks of a section of the page."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"```sql\n(.*?)```", section, re.DOTALL)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The export of the page, in the folder in which this process then is."""
    (tmp_path / "fixtures").symlink_to(FIXTURES)
    monkeypatch.chdir(tmp_path)
    command, *_ = commands_in(PAGE)
    assert main(command) == 0
    return tmp_path


def final_rows(connection: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """The rows of the table in the end, with the types of the table ``rental``."""
    connection.execute("CREATE OR REPLACE TABLE final AS FROM rental LIMIT 0")
    connection.execute(f"COPY final FROM '{FINAL}' (HEADER)")
    return connection.sql("FROM final ORDER BY rental_id").fetchall()


def test_a_table_of_duckdb_follows_the_log(place: Path) -> None:
    begin, merge = statements("DuckDB")
    with duckdb.connect() as connection:
        connection.execute(begin)
        before = connection.sql("FROM rental ORDER BY rental_id").fetchall()
        expected = final_rows(connection)
        assert before != expected
        for _ in range(2):  # what came before changes nothing
            connection.execute(merge)
            assert connection.sql("FROM rental ORDER BY rental_id").fetchall() == expected


def changed_keys(place: Path) -> list[tuple[Any, ...]]:
    """The rows in the end of the keys that the log changed."""
    begin, _ = statements("DuckDB")
    with duckdb.connect() as connection:
        connection.execute(begin)
        final_rows(connection)
        changes = "read_parquet('out/lake/sakila.rental/**/*.parquet')"
        return connection.sql(
            "FROM final WHERE rental_id IN ("
            f"SELECT coalesce(after.rental_id, before.rental_id) FROM {changes}"
            f" UNION SELECT before.rental_id FROM {changes}) ORDER BY rental_id"
        ).fetchall()


def test_spark_finds_the_latest_rows(spark: Any, place: Path) -> None:
    view, query = (part for part in statements("Spark")[0].split(";\n") if part.strip())
    folder = place / "out" / "lake"
    spark.sql(view.replace("out/lake", str(folder)))  # Java is in a folder of its own
    found = spark.sql(query).orderBy("rental_id").collect()
    expected = changed_keys(place)
    assert len(expected) > 10
    assert [tuple(row) for row in found] == expected


def test_a_key_that_changed_and_one_that_came_again(tmp_path: Path) -> None:
    """The view takes the row of a key that no row has any more away, and keeps one that a later
    change gave to another row."""
    image = pa.struct([("rental_id", pa.int32()), ("note", pa.string())])
    rows = [
        ("update", {"rental_id": 1, "note": "a"}, {"rental_id": 2, "note": "a"}),
        ("insert", None, {"rental_id": 1, "note": "b"}),
        ("delete", {"rental_id": 2, "note": "a"}, None),
        ("update", {"rental_id": 3, "note": "c"}, {"rental_id": 3, "note": "d"}),
    ]
    folder = tmp_path / "sakila.rental"
    folder.mkdir()
    _, merge = statements("DuckDB")
    view = merge.split("MERGE")[0].replace("out/lake", str(tmp_path))
    with duckdb.connect() as connection:
        changes = pa.table(
            {
                "before": pa.array([row[1] for row in rows], image),
                "after": pa.array([row[2] for row in rows], image),
                "commit_lrsn": ["00"] * len(rows),
                "urid": ["01"] * len(rows),
                "member": [1] * len(rows),
                "sequence": list(range(1, len(rows) + 1)),
            }
        )
        connection.register("changes", changes)
        connection.execute(f"COPY changes TO '{folder}/part.parquet'")
        connection.execute(view)
        found = connection.sql("FROM latest ORDER BY rental_id").fetchall()
    assert found == [(1, "b", True), (2, "a", False), (3, "d", True)]


def test_a_program_on_spark_reads_changes(spark: Any, tmp_path: Path) -> None:
    """The examples of the page, on the small log."""
    page = ROOT / "replay" / "docs" / "how-to" / "library.md"
    section = page.read_text(encoding="utf-8").split("## In a Spark program\n")[1]
    small = FIXTURES / "sakila" / "small"
    text = "".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL))
    text = re.sub(r'"sakila\.(ctl|dat)(?:\.gz)?"', rf'"{small}/small.\1"', text)
    script = tmp_path / "example.py"
    script.write_text(text.replace("out/rental", f"{tmp_path}/rental"), encoding="utf-8")
    names = runpy.run_path(str(script), {"spark": spark})
    found = names["changes"].count()
    with duckdb.connect() as connection:
        parquet = f"read_parquet('{tmp_path}/rental/sakila.rental/**/*.parquet')"
        assert connection.sql(f"SELECT count(*) FROM {parquet}").fetchall() == [(found,)]
    assert found > 10
