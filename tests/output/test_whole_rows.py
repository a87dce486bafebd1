"""An upsert puts a row in place under its new key as the log shows it, unless a unit that stays out
may have written what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from tests.support.logbuilder import ACCT, LogBuilder, acct

LATE = "2024-03-15 10:22:00"
BY_FLAGS = ("--incomplete", "quarantine"), ("--incomplete", "dependentrba")
UNTIL = ("--until-time", "2024-03-15-10.21.30")
FROM = ("--from-time", "2024-03-15-10.20.50")


def told(folder: Path, mode: str, *more: str, later: bool = False, **first: Any) -> tuple[int, str]:
    """(exit code, statements) of a row of which one unit writes a value and the next the key, and
    one that comes ``later`` another value."""
    log = LogBuilder()
    log.unit(**first).update(ACCT, acct(1, "A", "1.00"), acct(1, "A", "2.00"))
    log.unit().update(ACCT, acct(1, "A", "2.00"), acct(2, "A", "2.00"))
    if later:
        unit = log.unit(UORCOMMITTIMESTAMP=LATE)
        unit.update(ACCT, acct(2, "A", "2.00"), acct(2, "B", "2.00"))
    control, data = log.write(folder)
    files = ["--control", str(control), "--data", *map(str, data), "--schema", "none"]
    out = folder / "out"
    code = main([mode, *files, "--upsert", *more, "--out", str(out), "--overwrite"])
    return code, "".join(path.read_text() for path in out.glob("*.sql"))


@pytest.mark.parametrize("more", [*BY_FLAGS, UNTIL, FROM])
def test_where_nothing_stays_out_rows_are_whole(more: tuple[str, ...], tmp_path: Path) -> None:
    code, text = told(tmp_path, "redo", *more)
    assert code == 0
    assert "DELETE FROM testown.acct WHERE id = 1;\nINSERT" in text
    code, text = told(tmp_path, "undo", *more)
    assert code == 0
    assert "DELETE FROM testown.acct WHERE id = 2;\nINSERT" in text


def test_what_is_beyond_a_time_comes_later(tmp_path: Path) -> None:
    assert told(tmp_path, "redo", *UNTIL, later=True)[0] == 0


def test_later_work_on_other_columns_stays(tmp_path: Path) -> None:
    assert told(tmp_path, "undo", *UNTIL, later=True)[0] == 8


@pytest.mark.parametrize("more", BY_FLAGS)
def test_what_is_set_aside_by_the_flags_alone_is_not_put_in_place(
    more: tuple[str, ...], tmp_path: Path
) -> None:
    code, text = told(tmp_path, "redo", *more, INCOMPLETETRANS="Y")
    assert code == 8
    assert "2.00" not in text


def test_commit_times_that_go_back_part_no_log(tmp_path: Path) -> None:
    code, text = told(tmp_path, "redo", *UNTIL, UORCOMMITTIMESTAMP=LATE)
    assert code == 8
    assert "2.00" not in text
    assert told(tmp_path, "undo", *FROM, later=True)[0] == 0
