"""What changes a whole table in one record, and units of which nothing is left to write."""

from __future__ import annotations

from pathlib import Path

import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.errors import Refusal
from sqlgen.schema import Constraints
from tests.support.logbuilder import ACCT, LogBuilder, acct, rba, statements


@pytest.mark.parametrize(
    ("kind", "statement"),
    [
        ("DM", "DELETE FROM testown.acct;"),
        ("DT", "TRUNCATE TABLE testown.acct;"),
        ("DR", "TRUNCATE TABLE testown.acct;"),
    ],
)
def test_table_events(tmp_path: Path, kind: str, statement: str) -> None:
    log = LogBuilder()
    log.unit().event(ACCT, kind)
    assert statements(log.script(tmp_path)) == [statement]
    with pytest.raises(Refusal, match="LR3002"):
        log.script(tmp_path, "undo")


def test_what_a_statement_cannot_repeat_is_refused(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit().event(ACCT, "DM", PARTNUM=3)
    with pytest.raises(Refusal, match="LR3003"):
        log.script(tmp_path)
    with pytest.raises(
        Refusal, match=r"LR3002.*expected changes whose row images are in the log\. Undo only"
    ):  # one change, counted once
        log.script(tmp_path, "undo")


def test_a_trace_of_nothing(tmp_path: Path) -> None:
    """Nothing is left to trace where every unit is set aside."""
    log = LogBuilder()
    log.unit().insert(ACCT, acct(1), LOGRECDISP="A")
    bundle = replay.write_script(
        *log.write(tmp_path),
        tmp_path / "out",
        constraints=Constraints(),
        options=ScriptOptions(trace=True),
    )
    assert bundle.manifest["scripts"] == []
    assert bundle.manifest["balance"]["failed"] == 1


def test_several_changes_of_one_place_in_a_file_that_is_given_twice(tmp_path: Path) -> None:
    """Records that are the same do not stand beside each other then."""
    log = LogBuilder()
    unit = log.unit()
    for number in range(3):
        unit.insert(ACCT, acct(number), LOGRBA=rba(7))
    control, (data,) = log.write(tmp_path)
    copy = tmp_path / "copy.dat"
    copy.write_bytes(data.read_bytes())
    bundle = replay.write_script(control, [data, copy], tmp_path / "twice")
    assert (bundle.exit_code, statements(bundle)) == (8, [])
