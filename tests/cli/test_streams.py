"""Standard streams that are closed, full, or read in part."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WHO = "who fixtures/sakila/small/small.ctl --engine local"


def run(words: str, streams: str) -> tuple[int, str]:
    """The exit code of a command, and what stands on its standard error."""
    program = f"{sys.executable} {ROOT / 'logreplay_command.py'} {words} {streams}"
    done = subprocess.run(
        program, shell=True, capture_output=True, text=True, cwd=ROOT, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", ["-h", "--version", "report -h", "undo --help", "help undo", WHO])
@pytest.mark.parametrize("streams", ["> /dev/full", ">&-"])
def test_what_is_not_written_is_an_error_in_a_line(words: str, streams: str) -> None:
    code, told = run(words, streams)
    assert code == 12
    assert told.startswith("logreplay: LR1006 found ")
    assert "standard output" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("words", ["-h", "undo --help", "help undo"])
def test_a_reader_that_goes_is_no_defect(words: str) -> None:
    code, told = run(words, "| true")
    assert code == 0
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("words", "code"),
    [(WHO, 0), ("who nix", 12), ("undo fixtures/sakila/small/small.ctl --out -", 4), ("undo", 2)]
    + [("nix", 2)],
)
def test_messages_that_find_no_room_change_no_exit_code(words: str, code: int) -> None:
    assert run(words, "> /dev/null 2> /dev/full") == (code, "")


@pytest.mark.parametrize("streams", ["<&-", "2>&-"])
def test_other_streams_may_be_closed(streams: str) -> None:
    assert run(WHO, streams) == (0, "")
