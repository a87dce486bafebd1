"""Rows of tables without a primary key are found by a unique key, where one tells them apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.cli.main import main
from tests.support.logbuilder import Col, LogBuilder, Tab

COLUMNS = (
    Col("A", "INT", 4),
    Col("B", "CHAR", 4),
    Col("MAYBE", "INT", 4, nulls="Y"),
    Col("RATE", "FLOT", 8),
)
BARE = Tab("BARE", COLUMNS)


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    builder = LogBuilder((BARE,))
    builder.unit().update(BARE, (1, "x", 5, 1.5), (1, "x", None, 2.5))
    builder.unit().delete(BARE, (2, "y", None, 1.0))
    control, data = builder.write(tmp_path)
    return ["--control", str(control), "--data", *map(str, data)]


def written(log: list[str], folder: Path, schema: str, *more: str) -> list[str]:
    file = folder / "schema.sql"
    file.write_text(schema, encoding="utf-8")
    out = folder / "out"
    main(["redo", *log, "--schema", str(file), "--out", str(out), "--overwrite", *more])
    lines = "".join(path.read_text() for path in sorted(out.glob("*.sql"))).splitlines()
    return [line for line in lines if line.startswith(("UPDATE", "DELETE"))]


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE UNIQUE INDEX ux ON testown.bare (a, b);",
        "CREATE TABLE testown.bare (a int, b char(4), maybe int, rate float, UNIQUE (a, b));",
        "CREATE UNIQUE INDEX n ON testown.bare (maybe); CREATE UNIQUE INDEX u ON bare (a, b);",
    ],
)
def test_a_unique_key_without_nulls_finds_rows(
    log: list[str], tmp_path: Path, schema: str, capsys: pytest.CaptureFixture[str]
) -> None:
    update, delete = written(log, tmp_path, schema)
    assert update.endswith(" WHERE a = 1 AND b = 'x';")
    assert delete == "DELETE FROM testown.bare WHERE a = 2 AND b = 'y';"
    assert "found by its unique key (A, B)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("schema", "more"),
    [
        ("CREATE INDEX ux ON testown.bare (a, b);", ()),
        ("CREATE UNIQUE INDEX ux ON testown.bare (a, maybe);", ()),
        ("CREATE UNIQUE INDEX ux ON testown.bare (rate);", ()),
        ("CREATE UNIQUE INDEX ux ON testown.bare (a) WHERE b = 'x';", ()),
        ("CREATE UNIQUE INDEX ux ON testown.other (a, b);", ()),
        ("CREATE UNIQUE INDEX ux ON testown.bare (a, b);", ("--where-columns", "all")),
    ],
)
def test_elsewhere_all_columns_do(
    log: list[str], tmp_path: Path, schema: str, more: tuple[str, ...]
) -> None:
    update, delete = written(log, tmp_path, schema, *more)
    assert "maybe" in update.partition("WHERE")[2]
    assert "maybe" in delete.partition("WHERE")[2]


@pytest.mark.parametrize("columns", ["a, b", "a, maybe"])
def test_upserts_put_rows_in_place_by_it(
    log: list[str], tmp_path: Path, columns: str, capsys: pytest.CaptureFixture[str]
) -> None:
    unique = f"CREATE UNIQUE INDEX ux ON testown.bare ({columns});"
    words = ["--dialect", "postgres", "--upsert"]
    assert len(written(log, tmp_path, unique, *words)) == ("maybe" not in columns)
    text = "".join(path.read_text() for path in (tmp_path / "out").glob("0000-redo.sql"))
    assert ("ON CONFLICT(a, b) DO UPDATE" in text) is ("maybe" not in columns)
    refused = "LR3013 found TESTOWN.BARE without a key" in capsys.readouterr().err
    assert refused is ("maybe" in columns)


MAPPING = '[tables."TESTOWN.BARE"]\nname = "bald"\ncolumns = { A = "one" }\n'


def test_a_mapping_keeps_the_unique_key(log: list[str], tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(MAPPING)
    schema = "CREATE UNIQUE INDEX ux ON testown.bare (a, b);"
    update, delete = written(log, tmp_path, schema, "--mapping", str(mapping))
    assert update.endswith(" WHERE one = 1 AND b = 'x';")
    assert delete == "DELETE FROM testown.bald WHERE one = 2 AND b = 'y';"


@pytest.mark.parametrize(
    "more",
    [("--exclude-columns", "B"), ("--columns", "A", "--columns", "MAYBE"), ("--mapping", "B")],
)
def test_a_row_is_not_found_by_a_part_of_its_columns(
    log: list[str], tmp_path: Path, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows that differ in the column that is left out look the same: the wrong one would go."""
    if more[0] == "--mapping":
        mapping = tmp_path / "mapping.toml"
        mapping.write_text('[tables."TESTOWN.BARE"]\nexclude = ["B"]\n')
        more = ("--mapping", str(mapping))
    unique = "CREATE UNIQUE INDEX ux ON testown.bare (a, b);"
    assert written(log, tmp_path, unique, *more) == []
    text = (tmp_path / "out" / "manifest.json").read_text()
    assert "LR3006" in text
    assert "without B" in text
    update, delete = written(log, tmp_path, "CREATE UNIQUE INDEX ux ON testown.bare (a);", *more)
    assert update.endswith(" WHERE a = 1;")
    assert delete.endswith(" WHERE a = 2;")


def test_a_row_that_is_put_in_needs_no_column_that_is_left_out(tmp_path: Path) -> None:
    builder = LogBuilder((BARE,))
    builder.unit().insert(BARE, (1, "x", 5, 1.5))
    control, data = builder.write(tmp_path)
    files = ["--control", str(control), "--data", *map(str, data), "--schema", "none"]
    out = ["--out", str(tmp_path / "out"), "--exclude-columns", "B"]
    assert main(["redo", *files, *out]) == 0
    assert "INSERT" in (tmp_path / "out" / "0000-redo.sql").read_text()
    assert main(["undo", *files, *out, "--overwrite"]) == 8
