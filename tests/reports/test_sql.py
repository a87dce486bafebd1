"""Queries of a user over a log: what they see, how exact it is, and what they cannot reach."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from replay.cli.main import main
from tests.support.logbuilder import Col, LogBuilder, Tab

NUMBER = "12345678901234567890123456.12345"
MOMENT = "2024-05-01-10.00.00.123456789012"
SHOWN = "2024-05-01 10:00:00.123456789012"
ITEM = Tab(
    "ITEM",
    (
        *(Col("ID", "INT", 4, key=1), Col("N", "DEC", 16, scale=5)),
        *(Col("T", "DTTM", 32), Col("D", "DATE", 10)),
    ),
    obid=20,
)
OTHER = Tab("OTHER", (Col("ID", "INT", 4, key=1),), obid=21)
TWIN = Tab("Other", (Col("ID", "INT", 4, key=1),), obid=22)

Ask = Callable[..., tuple[int, str, str]]


def asker(folder: Path, capsys: pytest.CaptureFixture[str], *tables: Tab) -> Ask:
    log = LogBuilder(tables)
    unit = log.unit()
    unit.insert(ITEM, (1, NUMBER, MOMENT, "2024-05-01"))
    unit.insert(OTHER, (7,))
    row = (1, NUMBER, MOMENT, "2024-05-01")
    log.unit().update(ITEM, row, (1, "-0.00001", MOMENT, "2024-05-02"))
    control, data = log.write(folder)
    words = ["--control", str(control), "--data", *map(str, data), "--engine", "local"]

    def ask(*options: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["sql", *words, *options])
        return code, *capsys.readouterr()

    return ask


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    return asker(tmp_path, capsys, ITEM, OTHER)


def rows(ask: Ask, query: str, *options: str) -> list[dict[str, Any]]:
    code, out, err = ask("--query", query, "--format", "json", *options)
    assert code == 0, err
    return json.loads(out)  # type: ignore[no-any-return]


def test_values_are_exact_and_have_the_types_of_their_columns(ask: Ask) -> None:
    query = """SELECT op, typeof(after_n) AS n_type, after_n AS n, after_t AS t,
    typeof(after_t) AS t_type, after_d AS d, after_n + before_n AS total
    FROM testown.item ORDER BY commit_position"""
    insert, update = rows(ask, query)
    assert insert == {
        "op": "insert",
        "n_type": "DECIMAL(31,5)",
        "n": NUMBER,
        "total": None,
        "t": SHOWN,
        "t_type": "VARCHAR",
        "d": "2024-05-01",
    }
    assert update["total"] == "12345678901234567890123456.12344"
    image = rows(ask, "SELECT key, before FROM changes WHERE op = 'update'")[0]
    assert image["key"] == {"ID": "1"}
    assert image["before"] == {"ID": "1", "N": NUMBER, "T": SHOWN, "D": "2024-05-01"}


def test_relations_are_joined_with_each_other_and_with_themselves(ask: Ask) -> None:
    query = """SELECT u.changes, count(*) AS pairs FROM units AS u JOIN changes AS a USING (unit)
    JOIN changes AS b USING (unit) GROUP BY ALL ORDER BY ALL"""
    assert rows(ask, query) == [{"changes": 1, "pairs": 1}, {"changes": 2, "pairs": 4}]
    query = "SELECT a.after_id FROM testown.item a NATURAL JOIN testown.item b"
    # an insert has no image before it, and nothing is equal to NULL
    assert rows(ask, query) == [{"after_ID": 1}]
    assert rows(ask, "SELECT i FROM testown.item i WHERE op = 'update'")[0]["i"]["after_ID"] == 1
    assert rows(ask, "SELECT op FROM changes", "--table", "OTHER") == [{"op": "insert"}]
    code, out, err = ask("--query", "SELECT after_id FROM testown.other", "--op", "delete")
    assert (code, out) == (4, "after_ID\n")
    assert "nothing is left" in err


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM glob('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM query('SELECT * FROM read_text(''{file}'')')",
        "COPY (SELECT 1) TO '{file}'",
        "ATTACH '{file}' AS other",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SELECT 1; SELECT 2",
        "DROP TABLE units",
        "SELECT * FROM nothing",
        "SELECT * FROM",
    ],
)
def test_a_query_reaches_nothing_but_the_log(ask: Ask, tmp_path: Path, query: str) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("secret\n", encoding="utf-8")
    code, out, err = ask("--query", query.format(file=file))
    assert code == 12
    assert "LR1001 found" in err
    assert not out
    assert file.read_text(encoding="utf-8") == "secret\n"


def test_formats_files_and_the_list_of_relations(ask: Ask, tmp_path: Path) -> None:
    query = tmp_path / "query.sql"
    query.write_text("SELECT after_id AS id, after_n FROM testown.item -- all\n", encoding="utf-8")
    assert (
        ask("--file", str(query), "--format", "csv")[1] == f"id,after_N\n1,{NUMBER}\n1,-0.00001\n"
    )
    out = tmp_path / "rows.parquet"
    assert ask("--file", str(query), "--format", "parquet", "--out", str(out))[0] == 0
    assert str(pq.read_table(out)["after_N"][0]) == NUMBER
    assert ask("--query", "SELECT 1", "--format", "parquet")[0] == 12
    assert ask("--query", "SELECT 1", "--file", str(query))[0] == 12
    assert ask("--query", "SELECT 1", "--where", "after.ID = 1")[0] == 12
    listed = ask()[1]
    assert re.search(r"^TESTOWN\.ITEM +after_N +DECIMAL\(31, 5\)$", listed, re.M)


def test_names_of_columns_can_be_typed_back(
    sakila_small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And units that did not commit are not counted unsaid."""
    words = ["sql", str(sakila_small / "small.ctl"), "--engine", "local"]
    assert main([*words, "SELECT count(*), min(begin_position) AS first_one FROM units"]) == 0
    said = capsys.readouterr()
    assert said.out.split()[:2] == ["count_star()", "first_one"]
    assert said.err == "note: units has 4 units that did not commit: WHERE state = 'committed'\n"
    assert main([*words, "SELECT count(*) FROM units WHERE state = 'committed'"]) == 0
    assert "note:" not in capsys.readouterr().err


def test_tables_that_differ_in_case_only_are_asked_one_at_a_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = asker(tmp_path, capsys, ITEM, OTHER, TWIN)
    assert "differ in case only" in ask("--query", "SELECT * FROM changes")[2]
    query = "SELECT after_id FROM testown.other"
    assert rows(ask, query, "--table", "TESTOWN.OTHER") == [{"after_ID": 7}]
