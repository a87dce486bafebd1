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
    arguments = parse(with_config(words).words)
    assert (arguments.control, arguments.data) == (
        (str(folder / "small.ctl"),),
        (str(folder / "small.dat"),),
    )
    assert (arguments.dialect, arguments.engine, arguments.strict) == ("mariadb", "local", False)
    given = with_config([*words, "--dialect", "sqlite", "--eng=spark"]).words
    arguments = parse(given)
    assert (arguments.dialect, arguments.engine) == ("sqlite", "spark")
    arguments = parse(with_config(["export", *words[1:]]).words)
    assert (arguments.format, arguments.strict) == ("jsonl", True)


def test_stored_selections(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = str(folder / "logreplay.toml")
    words = ["redo", "--config", config, "--selection", "clerk", "--out", "x"]
    assert parse(with_config(words).words).authids == ("CLERK0", "CLERK1")
    alone = with_config([*words, "--authid", "CLERK2"]).words
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
    arguments = parse(with_config(given).words)
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
        for word in with_config([command, "--config", str(file)]).words[1:]:
            option, _, value = word.partition("=")
            found |= {option[2:]} if value == str(tmp_path / "there") else set()
    assert found == set(names)


def test_the_file_beside_the_log_is_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = ["--control", str(folder / "small.ctl")]
    assert main(["report", "summary", *log, "--json"]) == 0
    every = json.loads(capsys.readouterr().out)["totals"]["units"]
    assert main(["report", "summary", *log, "--json", "--selection", "clerk"]) == 0
    assert 0 < json.loads(capsys.readouterr().out)["totals"]["units"] < every


def test_a_file_that_nobody_named_is_said_with_what_it_selects(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each answer is another one with it. One that is named is known."""
    path = folder / "logreplay.toml"
    text = 'engine = "local"\nuser = ["CLERK0"]\ndialect = "mariadb"\n'
    path.write_text(text, encoding="utf-8")
    log, out = str(folder / "small.ctl"), ["--out", str(folder / "out")]
    chosen = f"note: options from {path}: --engine local --user CLERK0"
    for words, noted in (
        (["history", log, "--json"], chosen),
        (["report", "summary", log, "--json"], chosen),
        (["sql", log, "SELECT count(*) FROM units", "--format", "json"], chosen),
        (["redo", log, *out], f"{chosen} --dialect mariadb"),
        (["ddl", log], f"note: options from {path}: --dialect mariadb"),
        (["report", "summary", log, "--user", "CLERK1"], chosen[: chosen.index(" --user")]),
    ):
        assert main(words) == 0
        said, told = capsys.readouterr()
        assert told.splitlines()[0] == noted
        assert "note: options" not in said
        if words[-1] == "json" or "--json" in words:
            json.loads(said)
    path.write_text(f'logs = "small.ctl"\n{text}', encoding="utf-8")
    monkeypatch.chdir(folder)
    assert main(["report", "summary"]) == 0
    log_too = chosen.replace(f"{path}:", "logreplay.toml: --logs small.ctl")
    assert capsys.readouterr().err == f"{log_too}\n"
    path.write_text(text, encoding="utf-8")
    monkeypatch.chdir("/")
    monkeypatch.setenv("LOGREPLAY_CONFIG", str(path.rename(folder / "mine.toml")))
    assert main(["report", "summary", log]) == 0
    assert capsys.readouterr().err == chosen.replace("logreplay.toml", "mine.toml") + "\n"
    assert main(["report", "summary", log, "--config", str(folder / "mine.toml")]) == 0
    assert capsys.readouterr().err == ""


def test_a_note_has_no_password(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'to = "postgresql://app:geheim@localhost:1/shop"\n'
    (folder / "logreplay.toml").write_text(text, encoding="utf-8")
    assert main(["replay", str(folder / "small.ctl")]) == 12
    told = capsys.readouterr().err
    assert told.startswith(f"note: options from {folder}/logreplay.toml: --to postgresql://app@loc")
    assert "geheim" not in told


@pytest.mark.parametrize(
    ("text", "words", "origin"),
    [
        ('[history]\ntable = "GONE"', ["history"], "GONE is in F, line 2"),
        ('where = "after.gone = 1"', ["redo", "--out", "x"], None),
        ("gaps = 'warn'\nschema = 'gone.sql'", ["check"], "P/gone.sql is in F, line 2"),
    ],
)
def test_what_is_wrong_with_a_value_later_on_has_its_line(
    text: str,
    words: list[str],
    origin: str | None,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Which tables and users there are, no kind of value says."""
    path = folder / "logreplay.toml"
    path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder.parent)
    assert main([words[0], str(folder / "small.ctl"), *words[1:]]) == 12
    told = capsys.readouterr().err
    expected = (origin or "is in F, line 1").replace("F", str(path)).replace("P", str(folder))
    assert f"{expected}\n" in told


def test_a_dialect_that_there_is_not_has_its_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "logreplay.toml"
    path.write_text('\ndialect = "postgress"', encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["redo", str(folder / "small.ctl"), "--out", "x"])
    assert f"{path}, line 2: dialect: found dialect 'postgress'" in capsys.readouterr().err


def test_what_is_given_excludes_its_opposite_in_the_file(folder: Path) -> None:
    (folder / "logreplay.toml").write_text("apply = true\n", encoding="utf-8")
    words = ["replay", str(folder / "small.ctl"), "--to", "x"]
    assert "--apply" in with_config(words).words
    assert "--apply" not in with_config([*words, "--dry-run"]).words


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
        ('\n[redo]\nnames = "lowr"', "line 3: names: found 'lowr'; expected one of: auto"),
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
    assert with_config(["status", "--to", "x"]).words == ["status", "--to", "x"]


def test_a_folder_that_may_not_be_looked_into(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What follows says that the log cannot be read there."""
    words = ["redo", "--control", str(folder / "small.ctl"), "--out", "x"]

    def denied(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", denied)
    assert with_config(words).words == words
