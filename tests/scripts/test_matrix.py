"""The matrix of versions: its rows, what is installed for each, and what is told of those that
cannot be had."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.other_postgres import as_programs
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


def test_what_another_packager_has_counts(
    matrix: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(matrix.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(matrix.os, "geteuid", lambda: 0)
    found = {row.name: row for row in matrix.rows(False)}
    assert (found["python3.14"].debian, found["python3.14"].lack) == ("forky", "")
    assert found["python3.12"].lack
    servers = [found[f"postgres{major}"] for major in (14, 15, 16, 17)]
    assert [row.server.partition(".")[0] for row in servers] == ["14", "", "16", "17"]
    inside = matrix.command_of(found["python3.14"], tmp_path, "python", "-V")
    assert inside[:2] == ["unshare", "--mount"]
    assert inside[-5:] == [str(tmp_path / "forky"), str(ROOT), str(tmp_path), "python", "-V"]
    assert matrix.command_of(found["python3.11"], tmp_path, "python", "-V") == ["python", "-V"]


def test_a_name_that_does_not_run_is_no_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A shim of pyenv stands on PATH for releases that are not chosen; those it keeps count."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import matrix

    shims, kept = tmp_path / "shims", tmp_path / "root" / "versions" / "3.12.1" / "bin"
    for folder, said in ((shims, "exit 127"), (kept, "echo Python 3.12.1")):
        folder.mkdir(parents=True)
        (folder / "python3.12").write_text(f"#!/bin/sh\n{said}\n", encoding="utf-8")
        (folder / "python3.12").chmod(0o755)
    monkeypatch.setenv("PATH", f"{shims}:/usr/bin:/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "root"))
    assert matrix.python_of(12) == str(kept / "python3.12")
    assert matrix.python_of(99) is None


def test_a_row_has_the_tested_versions_of_all_others(matrix: ModuleType, tmp_path: Path) -> None:
    spark = next(row for row in matrix.rows(False) if row.name == "spark4.2")
    held = matrix.constraints(spark, tmp_path).read_text(encoding="utf-8").splitlines()
    tested = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert {line.partition("==")[0] for line in set(tested) - set(held)} == {"pyspark"}


@pytest.mark.parametrize(("code", "said"), [(0, "passed: 3 passed"), (1, "FAILED: 1 failed")])
def test_what_came_of_a_row(
    code: int,
    said: str,
    matrix: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    def ran(command: Any, **how: Any) -> subprocess.CompletedProcess[str]:
        assert how["env"]["PYTHONPATH"] == str(ROOT)
        return subprocess.CompletedProcess(command, code, f"..\n== {said.partition(': ')[2]} ==\n")

    monkeypatch.setattr(matrix, "environment_of", lambda row, work: Path(sys.executable))
    monkeypatch.setattr(matrix.subprocess, "run", ran)
    assert matrix.main(["--work", str(tmp_path), "python3.11"]) == (8 if code else 0)
    assert said in capsys.readouterr().out


def test_packages_that_cannot_be_had_fail_a_row(
    matrix: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    def offline(row: Any, work: Path) -> Path:
        raise subprocess.CalledProcessError(1, "pip")

    monkeypatch.setattr(matrix, "environment_of", offline)
    assert matrix.main(["--work", str(tmp_path), "spark4.2"]) == 8
    assert "spark4.2     FAILED: its packages cannot be installed" in capsys.readouterr().out


def test_servers_of_before_17_get_locales_of_the_c_library(tmp_path: Path) -> None:
    folder, made = tmp_path / "bin", tmp_path / "made"
    folder.mkdir()
    made.mkdir()
    (folder / "postgres").touch()
    (folder / "initdb").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    (folder / "initdb").chmod(0o755)
    programs = as_programs(folder, made)
    assert (programs / "postgres").resolve() == folder / "postgres"
    words = ["-D", "a b", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    said = subprocess.check_output([programs / "initdb", *words], text=True).splitlines()
    assert said == ["-D", "a b", "--locale=C", "--locale=C.UTF-8"]
