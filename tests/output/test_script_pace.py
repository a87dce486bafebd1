"""How scripts are cut into transactions by their statements: at ends of units only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.cli.main import main
from replay.pipeline import partition
from tests.support.logbuilder import ACCT, LogBuilder, acct, text_of

#: Statements of the units of the log.
SIZES = [1, 2, 5, 1, 1, 1, 3, 1]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    log, number = LogBuilder(), 0
    for size in SIZES:
        unit = log.unit()
        for _ in range(size):
            number += 1
            unit.insert(ACCT, acct(number))
    control, data = log.write(tmp_path)
    return ["--control", str(control), "--data", *map(str, data), "--schema", "none"]


def transactions(text: str) -> list[int]:
    """Statements of rows in each transaction."""
    return [
        len(re.findall(r"(?m)^(?:INSERT|DELETE)", part))
        for part in re.findall(r"(?ms)^BEGIN;$(.*?)^COMMIT;$", text)
    ]


@pytest.mark.parametrize(
    ("options", "cut"),
    [
        ([], SIZES),
        (["--commit-statements", "1"], SIZES),
        (["--commit-statements", "3"], [3, 5, 3, 3, 1]),
        (["--commit-statements", "4"], [8, 6, 1]),
        (["--commit-statements", "1000"], [15]),
        (["--commit-statements", "4", "--commit-every", "2"], [3, 5, 2, 4, 1]),
        (["--commit-statements", "1000", "--commit-every", "5"], [10, 5]),
    ],
)
@pytest.mark.parametrize("asserts", ["none", "rows"])
def test_a_transaction_ends_with_a_unit(
    files: list[str],
    options: list[str],
    cut: list[int],
    asserts: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["redo", *files, "--out", "-", "--assert", asserts, *options]) == 0
    assert transactions(capsys.readouterr().out) == cut


def test_an_undo_is_cut_from_its_own_beginning(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["undo", *files, "--out", "-", "--commit-statements", "4"]) == 0
    assert transactions(capsys.readouterr().out) == [4, 8, 3]


@pytest.mark.long
def test_pieces_and_damage_do_not_shift_the_cuts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units of 60 statements are rendered in pieces of 50; the last statement of one is damaged, so
    that what was written of it is cut off again."""
    monkeypatch.setattr(partition, "CHUNK", 50)
    log = LogBuilder()
    for number in range(40):
        unit = log.unit()
        for row in range(60):
            change = unit.insert(ACCT, acct(100 * number + row))
        if number == 7:
            change.images[0] += b"\0"
    control, data = log.write(tmp_path)
    options = ScriptOptions(commit_statements=150)
    bundle = replay.write_script(control, data, tmp_path / "out", options=options)
    assert bundle.exit_code == 8
    assert bundle.manifest["balance"]["emitted"] == 39 * 60
    assert transactions(text_of(bundle)) == [180] * 13
    assert bundle.manifest["options"]["commit_statements"] == 150
