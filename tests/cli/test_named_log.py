"""LOG: files, folders and globs in any order, told apart by their content."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.cli.parser import parse
from replay.cli.request import settle_log
from replay.logs import FAMILIES, source_named
from replay.logs.named import recognized
from tests.support.family_logs import FamilyLog, db2luw, logmaster_load, soliddb

SMALL = ("small.ctl", "small.dat")


@pytest.fixture
def night(sakila_small: Path, tmp_path: Path) -> Path:
    """A folder with a log, DDL and files that nobody asked for."""
    for name in (*SMALL, "schema-ri.sql"):
        shutil.copy(sakila_small / name, tmp_path)
    (tmp_path / "a.sql").write_text("CREATE TABLE SHOP.OTHER (A INT);\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("What this is, and why.\n", encoding="utf-8")
    (tmp_path / "small.dat.sha256").write_text("00ff  small.dat\n", encoding="utf-8")
    return tmp_path


def pair(folder: Path) -> tuple[tuple[str, tuple[str, ...]], ...]:
    control, data = (str(folder / name) for name in SMALL)
    return (("control", (control,)), ("data", (data,)))


def test_files_are_told_apart_by_content_and_their_order_does_not_matter(night: Path) -> None:
    names = [str(night / name) for name in SMALL]
    swapped = night / "b"
    swapped.mkdir()
    shutil.copy(names[0], swapped / "night.dat")
    shutil.copy(names[1], swapped / "night.ctl")
    assert recognized(names).in_turn == recognized(names[::-1]).in_turn == pair(night)
    assert recognized([names[1]]).in_turn == pair(night)  # its control file is beside it
    assert recognized([names[0]]).logs == (names[0],)
    found = recognized([str(swapped)]).in_turn
    assert found == (
        ("control", (str(swapped / "night.dat"),)),
        ("data", (str(swapped / "night.ctl"),)),
    )


def test_a_folder_with_stray_files_is_taken_and_they_are_named(
    night: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = recognized([str(night)])
    assert found.in_turn == pair(night)
    assert [Path(name).name for name in found.strays] == [
        "README.md", "a.sql", "schema-ri.sql", "small.dat.sha256",
    ]  # fmt: skip
    words = ["whatif", str(night), "--user", "CLERK0", "--engine", "local"]
    assert main(words) == 4
    said, noted = capsys.readouterr()
    assert "note: no part of the log: README.md, a.sql, schema-ri.sql, small.dat.sha256" in noted
    assert f"note: DDL with tables of the log is beside it: --schema {night}/schema-ri.sql" in noted
    assert "a.sql" not in noted.partition("note: DDL")[2]  # its tables are others
    assert f"logreplay undo {night} --engine local --user CLERK0" in said  # what was typed, again


def without_end(control: bytes) -> bytes:
    """A control file without its DLGE record, each record behind its length."""
    kept, place = b"", 0
    while place < len(control):
        size = int.from_bytes(control[place : place + 2], "big")
        record, place = control[place : place + size], place + size
        kept += b"" if record[4:8] == "DLGE".encode("cp037") else record
    return kept


def test_an_empty_data_file_is_a_quiet_night_or_a_lost_transfer(
    night: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty, out = tmp_path / "nothing.bin", str(tmp_path / "out")
    empty.touch()
    log = [str(night / "small.ctl"), str(empty)]  # beside data that were not named
    for words in (["inspect"], ["check"], ["report", "summary"], ["redo", "--out", out]):
        assert main([*words, *log, *["--engine", "local"][: 2 * (words[0] != "inspect")]]) == 4
        said = "".join(capsys.readouterr())
        assert f"{empty} is empty, though {log[0]} is whole: no change was selected" in said
    cut = night / "small.ctl"
    cut.write_bytes(without_end(cut.read_bytes()))
    assert main(["check", *log]) == 12
    assert "LR2002" in capsys.readouterr().err


def test_a_log_and_options_may_stand_in_any_order(night: Path) -> None:
    for words in (
        ["history", "--table", "CUSTOMER", str(night), "--key", "511"],
        ["history", str(night), "--table", "CUSTOMER", "--key", "511"],
        ["history", "--whole", "--table=CUSTOMER", "--key", "511", str(night)],
    ):
        values = parse(words)
        settle_log(values)
        assert (values.named, values.in_turn) == ((str(night),), pair(night))
    assert parse(["report", "--json", "summary", str(night)]).kind == "summary"
    values = parse(["sql", str(night), "select 1", "--format", "csv"])
    assert (values.named, values.query) == ((str(night),), "select 1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["LOG", "--data", "x"], "found LOG (LOG) and --data; expected one of them"),
        (["nowhere"], "found no file or folder nowhere"),
        (["README.md"], "found no log in README.md"),
        (["."], "Folders in a folder are not read: name one of them, such as ./deep"),
    ],
)
def test_what_names_no_log(
    tmp_path: Path,
    words: list[str],
    said: str,
    night: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(night)
    if words == ["."]:
        (tmp_path / "above" / "deep").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / "above")
    assert main(["inspect", *words]) == 12
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("as_a_user")
def test_options_of_the_current_folder_name_the_log(
    night: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = night / "elsewhere"
    elsewhere.mkdir()
    text = f'logs = "{night}/small.ctl"\nengine = "local"\n'
    (elsewhere / "logreplay.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(elsewhere)
    assert main(["report", "summary"]) == 0
    one = capsys.readouterr().out
    monkeypatch.chdir("/")
    monkeypatch.setenv("LOGREPLAY_CONFIG", str(elsewhere / "logreplay.toml"))
    assert main(["report", "summary"]) == 0
    assert capsys.readouterr().out == one
    assert main(["report", "summary", str(night)]) == 0  # and not its own log as well
    assert capsys.readouterr().out == one


@pytest.mark.parametrize("family", [soliddb, logmaster_load, db2luw])
def test_logs_of_other_families_are_found_in_their_folder(
    family: Callable[[Path], FamilyLog], tmp_path: Path
) -> None:
    log = family(tmp_path)
    if not (catalog := Path(log["catalog"])).is_dir() and catalog.parent != tmp_path:
        shutil.copy(catalog, tmp_path)
    (tmp_path / "README.md").write_text("What this is, and why.\n", encoding="utf-8")
    found = recognized([str(tmp_path)])
    assert found.source == log["source"]
    assert [Path(name).name for name in found.strays if "sys_" not in name] == ["README.md"]
    assert Path(str(found.catalog)).name == catalog.name
    control = dict(found.in_turn).get("control", ())
    assert [*control, *found.log] == [log.get("control") or log["log"]]
    assert sorted(dict(found.in_turn).get("data", ())) == log.get("data", [])


def test_events_whose_texts_hold_characters_that_nobody_sees_are_found(tmp_path: Path) -> None:
    """A zero-width space is a character of a text, and no sign of a binary file."""
    row = {"ID": 1, "NAME": "zero\u200bwidth"}
    event = {"op": "c", "source": {"connector": "postgresql"}, "before": None, "after": row}
    file = tmp_path / "events.jsonl"
    file.write_text(json.dumps(event, ensure_ascii=False) + "\n", encoding="utf-8")
    assert recognized([str(tmp_path)]).log == (str(file),)


def test_a_schema_decides_the_precision_that_packed_numbers_leave_open(
    night: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = night / "kiosk.sql"
    schema.write_text("CREATE TABLE SAKILA.KIOSK_SCAN (PRICE DECIMAL(6,2));\n", encoding="utf-8")
    assert main(["ddl", str(night), "--schema", str(schema)]) in (0, 4)
    assert "price DECIMAL(6, 2)" in capsys.readouterr().out
    assert [name for name in FAMILIES if not source_named(name).exact_decimals] == ["logmaster"]
