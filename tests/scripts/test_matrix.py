"""The matrix of versions: its rows, what is installed for each, and what is told of those that
cannot be had."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.places import ROOT


@pytest.fixture
def matrix(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import matrix

    monkeypatch.setattr(matrix.shutil, "which", lambda name: None)
    monkeypatch.setattr(matrix, "python_of", lambda minor: sys.executable if minor == 11 else None)
    monkeypatch.setattr(matrix, "INSTALLED", "/no/such/{}")
    yield matrix
    for name in ("matrix", "package"):
        sys.modules.pop(name, None)


def test_every_supported_version_has_a_row(matrix: ModuleType) -> None:
    found = {row.name: row for row in matrix.rows(False)}
    assert {"python3.11", "python3.14", "java17", "java25", "spark4.2", "postgres14"} <= set(found)
    assert found["python3.11"].tests == ("-m", "unit")
    assert all(
        (ROOT / word).exists()
        for core in (False, True)
        for row in matrix.rows(core)
        for word in row.tests
        if word.startswith("tests/")
    )


def test_what_is_not_here_is_named(
    matrix: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert matrix.main(["--work", str(tmp_path), "python3.12", "postgres14"]) == 0
    said = capsys.readouterr().out
    assert "python3.12   not here: no python3.12 on PATH or of pyenv" in said
    assert "postgres14   not here: no /no/such/14, nor npm" in said


def test_a_row_has_the_tested_versions_of_all_others(matrix: ModuleType, tmp_path: Path) -> None:
    spark = next(row for row in matrix.rows(False) if row.name == "spark4.2")
    held = matrix.constraints(spark, tmp_path).read_text(encoding="utf-8").splitlines()
    tested = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert {line.partition("==")[0] for line in set(tested) - set(held)} == {"pyspark"}
