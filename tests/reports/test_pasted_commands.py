"""The commands that answers propose, and the examples of help, run as they are printed."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.options.command_table import BY_NAME
from tests.support.places import ROOT

#: A unit that a later unit depends on.
UNIT = "00000000000093F5129D/2"


@pytest.fixture
def answer(
    sakila_small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., str]:
    """What a command answers, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def asked(command: str, *words: str) -> str:
        name, log = command.split(), str(sakila_small / "small.ctl")
        main([*name, log, "--engine", "local", "--schema", "none", *words])
        return capsys.readouterr().out

    return asked


def runs(commands: list[str]) -> None:
    """Each of some commands can be pasted, one after the other."""
    assert commands
    for command in commands:
        assert main(shlex.split(command)[1:]) in (0, 4), command


def test_those_of_a_history(answer: Callable[..., str]) -> None:
    found = re.findall("^ +(logreplay .*)", answer("history", "--ur", UNIT), re.MULTILINE)
    assert [words.split()[1] for words in found] == ["whatif", "undo", "undo", "undo"]
    runs(found)


def test_those_of_who(answer: Callable[..., str]) -> None:
    report = json.loads(answer("who", "--table", "FILM_STOCK", "--json"))
    runs(list(report["commands"].values()))


def test_those_of_what_if(answer: Callable[..., str]) -> None:
    runs(list(json.loads(answer("whatif", "--ur", UNIT, "--json"))["commands"].values()))


def test_those_of_the_page(answer: Callable[..., str]) -> None:
    """The page puts what is chosen, and the words that name the log, into the commands."""
    page = json.loads(answer("report page", "--format", "json", "--ur", UNIT))
    chosen = {"unit": ["--ur", UNIT], "marked": ["--ur", UNIT], "job": ["--user", "CLERK0"]}
    assert set(page["proposed"]) == set(chosen)
    commands = []
    for about, proposed in page["proposed"].items():
        for _, (name, *words) in proposed:
            options = [
                one for word in words for one in (chosen[about] if word == "{chosen}" else [word])
            ]
            commands.append(shlex.join(["logreplay", name, *page["command"], *options]))
    runs(commands)
    script = (ROOT / "replay" / "reports" / "page.js").read_text("utf-8")
    assert all(f'propose("{about}"' in script for about in chosen)


@pytest.mark.parametrize("command", ["history", "who", "report", "undo"])
def test_the_examples_of_a_help(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each finds something: exit code 4 is that of an undo, which lists what it left out."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(tmp_path)
    for words in BY_NAME[command].examples:
        assert main([command, *shlex.split(words)]) == (4 if command == "undo" else 0), words


def test_examples_do_not_write_into_the_folders_of_others() -> None:
    words = [line.split() for command in BY_NAME.values() for line in command.examples]
    outs = [line[line.index("--out") + 1] for line in words if "--out" in line]
    assert len(outs) == len({*outs} - {"-"}) + outs.count("-")
