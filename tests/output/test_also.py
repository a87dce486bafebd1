"""``--also KIND:DIR``: several outputs of one command are those of several commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.cli import commands
from replay.cli.main import main


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a bundle but for its manifest, which names the options of the command."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    }


@pytest.fixture
def log(sakila_small: Path) -> list[str]:
    return [f"--control={sakila_small}/small.ctl", f"--data={sakila_small}/small.dat"]


HOW = ["--engine", "local", "--schema", "none"]


def test_outputs_of_one_command_are_those_of_three(
    log: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = ["--table", "SAKILA.[F-R]*"]
    for kind in ("redo", "undo", "export"):
        assert main([kind, *log, *HOW, *chosen, "--out", str(tmp_path / kind)]) == 0
    opened: list[object] = []
    really = commands.open_log
    monkeypatch.setattr(commands, "open_log", lambda *a: opened.append(a) or really(*a))
    also = ["--also", f"undo:{tmp_path}/also/undo", "--also", f"export:{tmp_path}/also/export"]
    assert main(["redo", *log, *HOW, *chosen, *also, "--out", str(tmp_path / "also/redo")]) == 0
    assert len(opened) == 1
    for kind in ("redo", "undo", "export"):
        found = files_of(tmp_path / "also" / kind)
        assert found
        assert found == files_of(tmp_path / kind)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["redo", "--also", "undo:{t}/out"], "found {t}/out for two outputs"),
        (["redo", "--also", "undo:{t}/out/undo"], "for two outputs"),
        (["redo", "--also", "undo:{t}/used"], "is not empty"),
        (["redo", "--after", "none", "--also", "undo:{t}/b"], "found --also with --after"),
        (["redo", "--except", "authid=CLERK", "--also", "undo:{t}/b"], "found --except of redo"),
        (["undo", "--cascade", "all", "--also", "redo:{t}/b"], "found --cascade of undo"),
        (["undo", "--upsert", "--also", "export:{t}/b"], "found --upsert of undo"),
        (["redo", "--mapping", "{t}/m", "--also", "export:{t}/b"], "would not be masked"),
    ],
)
def test_what_cannot_be_had_together(
    log: list[str],
    tmp_path: Path,
    words: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "letter.txt").touch()
    given = [word.format(t=tmp_path) for word in words]
    assert main([*given, *log, *HOW, "--out", str(tmp_path / "out")]) == 12
    assert said.format(t=tmp_path) in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "b").exists()


def test_another_kind_is_not_understood(log: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["redo", *log, *HOW, "--also", "report:x", "--out", str(tmp_path / "out")])
