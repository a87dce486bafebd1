"""The bench of looks runs, and sees every log."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tests.support.places import ROOT


def test_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = runpy.run_path(str(ROOT / "scripts" / "bench_looks.py"))
    assert bench["main"](["--logs", "3", "7", "--dir", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["logs", "3", "7"]
