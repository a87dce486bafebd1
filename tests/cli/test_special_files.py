"""Outputs that are no regular files: a file in their place would take them away."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from replay.cli.main import main


@pytest.mark.parametrize(
    "words",
    [
        ["report", "summary", "L"],
        ["report", "page", "L", "--schema", "none"],
        ["sql", "L", "SELECT 1"],
        ["graph", "L", "--schema", "none"],
        ["ddl", "L"],
        ["doctor", "L"],
        ["verify", "L", "--to", "sqlite:///none.db", "--expected", "."],
        ["redo", "L"],
        ["extract", "L"],
    ],
)
@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_no_regular_file_is_refused(
    words: list[str],
    overwrite: bool,
    sakila_small: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With --overwrite, too: it was replaced by a file, a device of the system among them."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    given = [str(sakila_small / "small.ctl") if word == "L" else word for word in words]
    option = "--certificate" if words[0] == "verify" else "--out"
    more = ["--overwrite"] if overwrite and words[0] != "verify" else []
    assert main([*given, option, str(pipe), *more]) == 12
    told = capsys.readouterr().err
    if words[0] != "verify":  # which looks at the database first
        assert f"LR1002 {pipe} is a" in told
        assert "or use --overwrite" not in told
    assert pipe.is_fifo()
