"""The bench of commits runs a command with two trees, and sees whether they wrote the same."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import ROOT


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return runpy.run_path(str(ROOT / "scripts" / "bench_commits.py"))


def test_two_commits(
    bench: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["HEAD", "HEAD", "--records", "300", "--runs", "1", "--cores", "1"]
    figures = tmp_path / "figures.json"
    words += ["--dir", str(tmp_path), "--json", str(figures), "--", "undo", "--engine", "local"]
    assert bench["main"](words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["old", "new", "ratio"]
    assert lines[-1] == "both wrote the same bytes"
    assert '"same": true' in figures.read_text()
    assert bench["main"](["no-such-commit", "--dir", str(tmp_path), "--records", "300"]) == 1
    assert "no-such-commit" in capsys.readouterr().err


def test_other_bytes_and_failures_are_told(
    bench: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "other" / "started.py"
    program.parent.mkdir()
    (program.parent / "pyproject.toml").write_text(
        '[project.scripts]\nlogreplay = "started:main"\n'
    )
    program.write_text(
        "import sys, pathlib\n"
        "def main(): pass\n"
        "out = pathlib.Path(sys.argv[sys.argv.index('--out') + 1])\n"
        "out.mkdir()\n"
        "(out / 'manifest.json').write_text('at another time')\n"
        "(out / '0001.sql').write_text('another statement')\n"
    )
    other = program.parent
    bench["main"].__globals__["tree_of"] = lambda commit, folder: (
        other if commit == "other" else ROOT
    )
    words = ["other", "--records", "300", "--runs", "1", "--dir", str(tmp_path / "logs")]
    assert bench["main"](words) == 1
    assert "did not write the same bytes" in capsys.readouterr().out

    program.write_text("raise ImportError('not this one')\n")
    assert bench["main"](words) == 1
    assert "not this one" in capsys.readouterr().err
