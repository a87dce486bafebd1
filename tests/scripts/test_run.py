"""``scripts/run``: which of its words are commands of logreplay, and which its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from replay.options.command_table import BY_NAME
from tests.support.places import ROOT


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The script, beside a set-up whose programs say how they were called."""
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("logreplay", "python", "ruff", "mypy"):
        program = programs / name
        program.write_text(f'#!/bin/sh\necho {name} "$@"\n', encoding="ascii")
        program.chmod(0o755)
    (programs.parent / ".ready").touch()
    script = tmp_path / "scripts" / "run"
    script.parent.mkdir()
    return Path(shutil.copy(ROOT / "scripts" / "run", script))


def said(run: Path, *words: str) -> list[str]:
    told = subprocess.run([run, *words], capture_output=True, text=True, check=True)
    return told.stdout.splitlines()


@pytest.mark.parametrize("command", sorted(set(BY_NAME) - {"docs"}))
def test_commands_of_logreplay(run: Path, command: str) -> None:
    """``docs`` builds what ``logreplay docs`` shows, as README says."""
    assert said(run, command, "--config", "a b") == [f"logreplay {command} --config a b"]


def test_words_of_its_own(run: Path) -> None:
    assert said(run) == ["logreplay demo"]
    of_scripts = "mypy --config-file ../pyproject.toml --cache-dir ../.mypy_cache --"
    assert said(run, "check") == ["ruff check .", "mypy", f"{of_scripts} *.py"]
    assert said(run, "test", "-m", "unit") == ["python -m pytest -m unit"]


@pytest.mark.parametrize(
    ("made", "words", "installed"),
    [
        ("demo", ["demo"], []),
        ("demo", ["redo"], ["all"]),
        ("demo", ["test"], ["test"]),
        ("all", ["check"], ["test"]),
        ("all", ["check", "--json"], []),
        ("test", ["demo"], []),
        (None, ["demo"], ["demo"]),
    ],
)
def test_what_a_command_needs_is_installed(
    run: Path, made: str | None, words: list[str], installed: list[str]
) -> None:
    ready = run.parent.parent / ".venv" / ".ready"
    ready.unlink() if made is None else ready.write_text(f"{made}\n", encoding="ascii")
    quiet = ready.parent / "bin" / "quiet"
    quiet.write_text("#!/bin/sh\n", encoding="ascii")
    quiet.chmod(0o755)
    env = {"PATH": "/usr/bin:/bin", "PYTHON": str(quiet)}
    told = subprocess.run([run, *words], capture_output=True, text=True, check=True, env=env)
    asked = [line.rpartition(" ")[2] for line in told.stderr.splitlines() if " pip " in line]
    assert asked == [f".[{extra}]" for extra in installed]
    assert ready.read_text(encoding="ascii").strip() == (installed or [made])[0]


def test_the_long_suite_is_more_than_tests(run: Path) -> None:
    """Each step is run, and an option after ``--long`` is one of pytest."""
    (run.parent / "mutate.py").touch()
    steps = [line for line in said(run, "test", "--long") if line.startswith("== ")]
    assert len(steps) == 7
    assert steps[0] == "== scripts/run test --long --durations=20"
    assert said(run, "test", "--long", "-x") == ["python -m pytest --long -x"]
