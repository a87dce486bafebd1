"""Units with changes that cannot be read: named wherever somebody asks what builds on what, and
never counted as if they did nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import replay
from replay.changes.selection import Selection
from replay.cli import main
from replay.output.bundle import Bundle
from tests.support.logbuilder import Change, Col, LogBuilder, Tab, frame, statements, unframe

TABLE = Tab("T", (Col("ID", "INT", 4, key=1), Col("NAME", "CHAR", 5), Col("MORE", "INT", 4)))
NO_KEYS = ["--schema", "none"]


def short_after(change: Change) -> None:
    change.images[1] = change.images[1][:-1]


def short_before(change: Change) -> None:
    change.images[0] = change.images[0][:-1]


def no_images(change: Change) -> None:
    change.images = [b"", b""]


def no_place(change: Change) -> None:
    change.fields["LOGRBA"] = bytes(10)


ANY = pytest.mark.parametrize("damage", [short_after, short_before, no_images, no_place])
ONE_IMAGE = pytest.mark.parametrize("damage", [short_after, short_before])


def damaged(folder: Path, damage: Callable[[Change], None]) -> tuple[list[str], list[str]]:
    """A row that is made, changed twice, and another one; the first change is damaged. (the log on
    a command line, the units)."""
    log = LogBuilder((TABLE,))
    units = [log.unit() for _ in range(4)]
    units[0].insert(TABLE, (1, "A", 0))
    change = units[1].update(TABLE, (1, "A", 0), (1, "B", 0))
    units[2].update(TABLE, (1, "B", 0), (1, "B", 7))
    units[3].insert(TABLE, (2, "Z", 0))
    damage(change)
    control, data = log.write(folder)
    return ["--control", str(control), "--data", str(data[0])], [unit.name for unit in units]


def torn(folder: Path) -> tuple[list[str], list[str]]:
    """The same log, of which a segment of the first change is missing."""
    log = LogBuilder((TABLE,))
    units = [log.unit() for _ in range(2)]
    units[0].insert(TABLE, (1, "A", 0), cuts=(5,))
    units[1].update(TABLE, (1, "A", 0), (1, "B", 0))
    control, data = log.write(folder)
    first, _, *rest = unframe(data[0].read_bytes())
    data[0].write_bytes(frame([first, *rest], "rdw"))
    return ["--control", str(control), "--data", str(data[0])], [unit.name for unit in units]


def bundle(log: list[str], mode: str, folder: Path) -> Bundle:
    with replay.open_log(control=log[1], data=[log[3]]) as opened:
        selected = opened.take(Selection())
        wanted = selected.redo if mode == "redo" else selected.undo
        return wanted("postgres", schema="none").write(folder)


@ANY
def test_a_what_if_names_what_it_cannot_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[Change], None]
) -> None:
    log, units = damaged(tmp_path, damage)
    for unit in (units[0], units[3]):
        assert main.main(["whatif", *log, *NO_KEYS, "--ur", unit, "--json"]) == 4
        answer = json.loads(capsys.readouterr().out)
        assert answer["unread"] == [units[1]]
        assert units[1] in answer["warnings"][0]
    assert main.main(["whatif", *log, *NO_KEYS, "--ur", units[3]]) == 4
    assert "nothing in the log that can be read depends on it" in capsys.readouterr().out


@ANY
def test_a_unit_that_cannot_be_read_is_not_taken_for_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[Change], None]
) -> None:
    log, units = damaged(tmp_path, damage)
    code = main.main(["whatif", *log, *NO_KEYS, "--ur", units[1]])
    printed = capsys.readouterr()
    assert code == (12 if damage is no_place else 4)
    assert units[1] in (printed.err if damage is no_place else printed.out)


@ANY
@pytest.mark.parametrize("command", ["graph", "undo"])
def test_a_graph_and_an_undo_name_it(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[Change], None],
    command: str,
) -> None:
    log, units = damaged(tmp_path, damage)
    out = ["--out", str(tmp_path / "out")]
    assert main.main([command, *log, *NO_KEYS, "--ur", units[3], *out]) in (4, 8)
    assert f"what depends on them, is not known: {units[1]}" in capsys.readouterr().err


@ONE_IMAGE
def test_the_image_that_can_be_read_tells_the_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[Change], None]
) -> None:
    log, units = damaged(tmp_path, damage)
    assert main.main(["whatif", *log, *NO_KEYS, "--ur", units[0], "--json"]) == 4
    answer = json.loads(capsys.readouterr().out)
    assert [entry["unit"] for entry in answer["dependents"]] == [units[1], units[2]]
    assert {entry["key"] for entry in answer["dependents"]} == {"1"}


@ONE_IMAGE
def test_a_redo_sets_aside_what_builds_on_it(
    tmp_path: Path, damage: Callable[[Change], None]
) -> None:
    log, units = damaged(tmp_path, damage)
    done = bundle(log, "redo", tmp_path / "out")
    assert done.exit_code == 8
    aside = {entry["unit"] for entry in done.manifest["quarantined_units"]}
    assert aside == {units[1], units[2]}
    assert [line.partition(" ")[0] for line in statements(done)] == ["INSERT", "INSERT"]


@pytest.mark.parametrize(
    ("damage", "excepted"),
    [(short_after, 0), (short_after, 1), (short_before, 0), (short_before, 1), (no_images, 1)],
)
def test_it_is_not_left_out_by_a_guess(
    tmp_path: Path, damage: Callable[[Change], None], excepted: int
) -> None:
    log, units = damaged(tmp_path, damage)
    out = ["--out", str(tmp_path / "out")]
    assert main.main(["redo", *log, *NO_KEYS, "--except", units[excepted], *out]) == 8
    assert not (tmp_path / "out").exists()


def test_a_change_that_lacks_a_segment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, units = torn(tmp_path)
    assert main.main(["whatif", *log, *NO_KEYS, "--ur", units[1], "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["unread"] == [units[0]]
