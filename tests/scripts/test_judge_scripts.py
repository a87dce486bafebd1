"""The judges that are no part of the tests, because what they compare with is large or not ours:
their own rules."""

from __future__ import annotations

import io
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

from tests.support.places import ROOT


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    yield
    for name in ("judge_sql", "judge_flink"):
        sys.modules.pop(name, None)


@pytest.fixture
def sql(scripts: None) -> ModuleType:
    import judge_sql

    return judge_sql  # type: ignore[no-any-return]


@pytest.fixture
def flink(scripts: None) -> ModuleType:
    import judge_flink

    return judge_flink  # type: ignore[no-any-return]


def archives(folder: Path, statements: str, expression: str) -> tuple[str, str]:
    source, wheel = folder / "sqlglot.tar.gz", folder / "superset.whl"
    with tarfile.open(source, "w:gz") as archive:
        entry = tarfile.TarInfo("sqlglot-1/tests/fixtures/identity.sql")
        entry.size = len(statements)
        archive.addfile(entry, io.BytesIO(statements.encode()))
    with ZipFile(wheel, "w") as zipped:
        zipped.writestr("superset/db_engine_specs/db2.py", f"GRAIN = {{1: {expression!r}}}")
    return str(source), str(wheel)


def test_sql_of_others(sql: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = archives(tmp_path, "-- one\nSELECT 1\nSELECT (\n", "DATE({col})")
    assert sql.main(*given) == 0
    said = capsys.readouterr().out
    assert "sqlglot's identities as db2: 2 statements\n      1 same\n      1 refused" in said
    assert "Superset's times as db2: 1 statements\n      1 same" in said


def test_sql_that_is_not_understood(sql: ModuleType, tmp_path: Path) -> None:
    assert sql.main(*archives(tmp_path, "SELECT 1\n", "DATE({col}")) == 8


def test_an_error_that_must_not_be(
    sql: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(text: str, dialect: object) -> None:
        raise KeyError(text)

    monkeypatch.setattr(sql.sqlglot, "parse", broken)
    assert sql.outcome("SELECT 1", "db2") == "KeyError: SELECT 1"
    assert sql.main(*archives(tmp_path, "SELECT 1\n", "DATE({col})")) == 8


DECIMAL = {"type": "bytes", "name": "x.data.Decimal", "parameters": {"scale": "2"}}
VALUES = {
    "decimal": (DECIMAL, "+x4=", "-12.50"),
    "small decimal": (DECIMAL, "BQ==", "0.05"),
    "date": ({"type": "int32", "name": "io.debezium.time.Date"}, "-719162", "0001-01-01"),
    "time": ({"type": "int32", "name": "io.debezium.time.Time"}, "86399000", "23:59:59"),
    "timestamp": (
        {"type": "int64", "name": "io.debezium.time.MicroTimestamp"},
        "1500000",
        "1970-01-01 00:00:01.5",
    ),
    "bytes": ({"type": "bytes"}, "AP8=", "\\x00ff"),
    "double": ({"type": "double"}, "0.5", 0.5),
    "text": ({"type": "string"}, "a  ", "a"),
    "null": ({"type": "string"}, None, None),
}


@pytest.mark.parametrize(("field", "value", "said"), VALUES.values(), ids=VALUES)
def test_values_as_flink_gives_them(
    flink: ModuleType, field: dict[str, object], value: str | None, said: object
) -> None:
    assert flink.told(field, value) == said


def test_states_tell_null_from_the_empty_text(
    flink: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "final").mkdir()
    text = 'a,b\n,""\n"x\ny",\n'
    (tmp_path / "final" / "t.csv").write_text(text, encoding="utf-8")
    monkeypatch.setattr(flink, "LOG", tmp_path)
    fields = [{"field": name, "type": "string"} for name in "ab"]
    assert flink.state("t", "final", fields) == {(None, ""): 1, ("x\ny", None): 1}
