"""``--also KIND:DIR``: several outputs of one command are those of several commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.cli.request import LogInput


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
    kinds = ("redo", "undo", "export", "extract")
    for kind in kinds:
        assert main([kind, *log, *HOW, *chosen, "--out", str(tmp_path / kind)]) == 0
    opened: list[object] = []
    really = LogInput.open
    monkeypatch.setattr(LogInput, "open", lambda *a: opened.append(a) or really(*a))
    also = [word for kind in kinds[1:] for word in ("--also", f"{kind}:{tmp_path}/also/{kind}")]
    assert main(["redo", *log, *HOW, *chosen, *also, "--out", str(tmp_path / "also/redo")]) == 0
    assert len(opened) == 1
    for kind in kinds:
        found = files_of(tmp_path / "also" / kind)
        assert found
        assert found == files_of(tmp_path / kind)


def test_reports_beside_scripts_are_those_of_their_command(
    log: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = ["--table", "SAKILA.[F-R]*"]
    for kind, form in (("audit", "csv"), ("who", "json")):
        words = ["report", kind] if kind == "audit" else [kind]
        given = [*words, *log, *HOW, *chosen, "--format", form]
        assert main([*given, "--out", str(tmp_path / f"{kind}.{form}")]) == 0
    opened: list[object] = []
    really = LogInput.open
    monkeypatch.setattr(LogInput, "open", lambda *a: opened.append(a) or really(*a))
    files = {kind: tmp_path / f"also-{kind}" for kind in ("audit.csv", "who.json")}
    also = [f"--also=report:{kind.partition('.')[0]}:{path}" for kind, path in files.items()]
    assert main(["undo", *log, *HOW, *chosen, *also, "--out", str(tmp_path / "undo")]) == 0
    assert len(opened) == 1
    for kind, path in files.items():
        assert path.read_bytes() == (tmp_path / kind).read_bytes()


STORED = """
[selections.films]
table = "SAKILA.FILM*"
[selections.dear]
where = "after.rental_rate > 3"
[selections.all]
cascade = "all"
[selections.form]
dialect = "oracle"
"""


def test_outputs_of_other_selections_are_those_of_their_commands(
    log: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stored.toml").write_text(STORED)
    how = [*log, *HOW, f"--config={tmp_path}/stored.toml"]
    asked = [("redo", "films"), ("undo", "dear"), ("export", "films"), ("extract", "films")]
    alone = [[kind, *how, f"--selection={name}"] for kind, name in asked]
    alone.append(["report", "audit", *how, "--selection=films", "--format=csv"])
    for number, words in enumerate(alone):
        assert main([*words, "--out", str(tmp_path / f"alone{number}")]) == 0
    opened: list[object] = []
    really = LogInput.open
    monkeypatch.setattr(LogInput, "open", lambda *a: opened.append(a) or really(*a))
    kinds = [f"{kind}@{name}" for kind, name in asked] + ["report:audit@films"]
    also = [f"--also={kind}:{tmp_path}/also{at}" for at, kind in enumerate(kinds)]
    also[-1] += ".csv"
    named = [log[0].partition("=")[2], *how[len(log) :]]  # as most people name a log
    assert main(["undo", *named, *also, "--out", str(tmp_path / "undo")]) == 0
    assert len(opened) == 1
    for at in range(len(asked)):
        found = files_of(tmp_path / f"also{at}")
        assert found
        assert found == files_of(tmp_path / f"alone{at}")
    assert (tmp_path / "also4.csv").read_bytes() == (tmp_path / "alone4").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["undo", "--also", "undo@none:{t}/b"], "found no selection none"),
        (["undo", "--also", "undo@form:{t}/b"], "found --dialect in a selection, and --also"),
        (
            ["undo", "--table", "X", "--also", "undo@films:{t}/b"],
            "found --table beside the selection films",
        ),
        (["redo", "--also", "undo@all:{t}/b"], "found cascade in the selection all, which redo"),
        (
            ["redo", "--after", "none", "--also", "redo@films:{t}/b"],
            "found --also redo@films with --after",
        ),
        (["redo", "--also", "report:page:{t}/b"], "found --also report 'page'; expected one of"),
        (["redo", "--also", "report:audit:{t}/used/letter.txt"], "letter.txt exists"),
        (["redo", "--also", "report:audit:{t}/no/b"], "found no folder {t}/no"),
        (["redo", "--also", "report:audit:{t}/out"], "for two outputs"),
        (
            ["redo", "--after", "none", "--also", "report:audit:{t}/b"],
            "found --also report:audit with --after",
        ),
        (["redo", "--also", "undo:{t}/out"], "found {t}/out for two outputs"),
        (["redo", "--also", "undo:{t}/out/undo"], "for two outputs"),
        (["redo", "--also", "undo:{t}/used"], "is not empty"),
        (["redo", "--after", "none", "--also", "undo:{t}/b"], "found --also undo with --after"),
        (["redo", "--after", "{t}/m", "--also", "export:{t}/b"], "--also-after export:MANIFEST"),
        (
            ["redo", "--after", "none", "--also-after", "export:none"],
            "found --also-after export without --also export:DIR",
        ),
        (
            ["redo", "--also", "export:{t}/b", "--also-after", "export:none"],
            "found --also-after export without --after",
        ),
        (["redo", "--columns", "ID", "--also", "extract:{t}/b"], "found --columns with"),
        (["undo", "--mapping", "{t}/m", "--also", "extract:{t}/b"], "found --mapping with"),
        (["undo", "--cascade", "all", "--also", "extract:{t}/b"], "found --cascade of undo"),
        (
            ["redo", "--source", "soliddb", "--log", "{t}/l", "--also", "extract:{t}/b"],
            "LR3020 found --source soliddb",
        ),
        (["redo", "--except", "authid=CLERK", "--also", "undo:{t}/b"], "found --except of redo"),
        (["undo", "--cascade", "all", "--also", "redo:{t}/b"], "found --cascade of undo"),
        (["undo", "--upsert", "--also", "export:{t}/b"], "found --upsert of undo"),
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
    log = [] if "--source" in given else [*log, f"--config={tmp_path}/stored.toml"]
    (tmp_path / "l").touch()
    (tmp_path / "stored.toml").write_text(STORED)
    code = 8 if said.startswith("LR3") else 12
    assert main([*given, *log, *HOW, "--out", str(tmp_path / "out")]) == code
    assert said.format(t=tmp_path) in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "b").exists()


def test_a_chain_of_copies_keeps_its_options(log: list[str], tmp_path: Path) -> None:
    words = ["extract", *log, "--engine", "local"]
    assert main([*words, "--out", str(tmp_path / "a"), "--after", "none"]) == 0
    more = [*words, "--after", str(tmp_path / "a")]
    assert main([*more, "--out", str(tmp_path / "b")]) == 0
    kept = json.loads((tmp_path / "b/manifest.json").read_text())
    assert (kept["changes"], kept["balance"]["skipped"]) == (
        0,
        {"taken by the output folder before (--after)": kept["balance"]["read"]},
    )
    for other in (["--whole-units"], ["--table", "SAKILA.FILM"], ["--until-time", "2030-01-01"]):
        assert main([*more, *other, "--out", str(tmp_path / "c")]) == 12
    redo = ["redo", *log, *HOW, "--after", str(tmp_path / "a"), "--out", str(tmp_path / "c")]
    assert main(redo) == 12


def test_another_kind_is_not_understood(log: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["redo", *log, *HOW, "--also", "report:x", "--out", str(tmp_path / "out")])
