"""Options from a file, and selections that it stores."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from replay.cli.config import with_config
from replay.cli.main import main
from replay.cli.parser import parse
from replay.errors import UsageError

pytestmark = pytest.mark.usefixtures("as_a_user")

TEXT = """
control = "small.ctl"
data = ["small.dat"]
engine = "local"
dialect = "mariadb"
[export]
format = "jsonl"
strict = true
[selections.clerk]
authid = ["CLERK0", "CLERK1"]
until-time = "2024-03-15 08:05"
"""


@pytest.fixture
def folder(tmp_path: Path, sakila_small: Path) -> Path:
    for name in ("small.ctl", "small.dat"):
        shutil.copy(sakila_small / name, tmp_path)
    (tmp_path / "logreplay.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_the_file_stands_before_what_is_given(folder: Path) -> None:
    words = ["redo", "--config", str(folder / "logreplay.toml"), "--out", "x"]
    arguments = parse(with_config(words))
    assert (arguments.control, arguments.data) == (
        (str(folder / "small.ctl"),),
        (str(folder / "small.dat"),),
    )
    assert (arguments.dialect, arguments.engine, arguments.strict) == ("mariadb", "local", False)
    given = with_config([*words, "--dialect", "sqlite", "--eng=spark"])
    arguments = parse(given)
    assert (arguments.dialect, arguments.engine) == ("sqlite", "spark")
    arguments = parse(with_config(["export", *words[1:]]))
    assert (arguments.format, arguments.strict) == ("jsonl", True)


def test_stored_selections(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = str(folder / "logreplay.toml")
    words = ["redo", "--config", config, "--selection", "clerk", "--out", "x"]
    assert parse(with_config(words)).authids == ("CLERK0", "CLERK1")
    alone = with_config([*words, "--authid", "CLERK2"])
    assert parse(alone).authids == ("CLERK2",)
    assert main(["redo", "--config", config, "--selection", "nobody", "--out", "x"]) == 12
    assert "found no selection nobody; expected one of: clerk" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--config", "F", "--select", "clerk"],
        ["--confi", "F", "--selectio=clerk"],
        ["--contr", "LOG", "--sel", "clerk"],
    ],
)
def test_options_that_are_cut_short_count_as_in_full(words: list[str], folder: Path) -> None:
    """One that went unseen had a whole log taken in place of the selection."""
    names = {"F": str(folder / "logreplay.toml"), "LOG": str(folder / "small.ctl")}
    given = ["undo", *(names.get(word, word) for word in words), "--out", "x"]
    arguments = parse(with_config(given))
    assert arguments.authids == ("CLERK0", "CLERK1")
    assert arguments.data == (str(folder / "small.dat"),)


def test_files_to_be_read_lie_beside_the_file(tmp_path: Path) -> None:
    names = (
        "baseline",
        "expected",
        "initial",
        "ddl",
        "sign-key",
        "public-key",
        "mapping",
        "schema",
    )
    file = tmp_path / "o.toml"
    file.write_text("".join(f'{name} = "there"\n' for name in names), encoding="utf-8")
    found = set()
    for command in ("redo", "migrate", "verify"):
        for word in with_config([command, "--config", str(file)])[1:]:
            option, _, value = word.partition("=")
            found |= {option[2:]} if value == str(tmp_path / "there") else set()
    assert found == set(names)


def test_the_file_beside_the_log_is_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = ["--control", str(folder / "small.ctl")]
    assert main(["report", "summary", *log, "--json"]) == 0
    every = json.loads(capsys.readouterr().out)["totals"]["units"]
    assert main(["report", "summary", *log, "--json", "--selection", "clerk"]) == 0
    assert 0 < json.loads(capsys.readouterr().out)["totals"]["units"] < every


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour = 'red'", "found colour; expected the name of an option"),
        ("[colours]\nred = 1", r"found \[colours\]"),
        ("dialect = ", "the options cannot be read"),
        ("config = 'x'", "found config"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "options.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=f"LR1001 .*{message}"):
        with_config(["redo", "--config", str(path)])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('\n[redo]\nnames = "lowr"', "line 3: names: found 'lowr'; expected one of: lower, exact"),
        ("commit_every = 0", "line 1: commit-every: found '0'; expected a number of at least 1"),
        ('[redo]\nstrict = "no"', "line 2: strict: found 'no'; expected true or false"),
    ],
)
def test_a_value_is_refused_with_its_line(
    tmp_path: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "options.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["redo", "--config", str(path), "--out", "x"])
    assert f"logreplay redo: {path}, {said}" in capsys.readouterr().err


def test_a_selection_needs_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="found --selection x without a file that has it"):
        with_config(["redo", "--control", str(tmp_path / "c"), "--selection", "x"])
    assert with_config(["status", "--to", "x"]) == ["status", "--to", "x"]


def test_a_folder_that_may_not_be_looked_into(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What follows says that the log cannot be read there."""
    words = ["redo", "--control", str(folder / "small.ctl"), "--out", "x"]

    def denied(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", denied)
    assert list(with_config(words)) == words
