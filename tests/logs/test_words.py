"""Messages speak the words of the log's own family."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.changes.selection import REASONS
from replay.cli.main import main
from replay.logs.words import said_of
from tests.support.luwbuilder import Col, LogBuilder, Tab, catalog_csv

KEYED = Tab(2, 5, "APP", "T", [Col("K", "INTEGER", key=1), Col("V", "INTEGER")])


@pytest.mark.parametrize("source", ["db2luw", "db2luw:SAMPLE", "soliddb"])
def test_no_field_or_option_of_log_master_is_left(source: str) -> None:
    for reason in REASONS:
        said = said_of(source, reason)
        assert "LRSN" not in said.upper()
        assert not any(name in said for name in ("LOGRECDISP", "SQLTYPE", "INCOMPLETE", "by Db2"))
    assert said_of(source, "commit LRSN 12, --until-lrsn 12") == (
        "commit position 12, --until-position 12"
    )
    assert said_of(source, "UORCOMMITLRSN") == "commit position"
    assert said_of(source, "found INCOMPLETE and LRSNS") == "found INCOMPLETE and LRSNS"


def test_log_master_keeps_its_words() -> None:
    for reason in REASONS:
        assert said_of("logmaster DB2A", reason) == reason


def test_a_history_of_another_family_says_why_in_its_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = LogBuilder("v10", True, "flt56")
    unit = builder.begin()
    unit.insert(KEYED, (1, 1), (1, 1))
    mark = len(unit.written)
    unit.insert(KEYED, (2, 2), (1, 2))
    unit.rollback_to(mark)
    unit.commit()
    (tmp_path / "luw.log").write_bytes(builder.bytes())
    (tmp_path / "catalog.csv").write_text(catalog_csv([KEYED]), encoding="utf-8")
    source = ["--source", "db2luw", "--log", str(tmp_path / "luw.log")]
    source += ["--catalog", str(tmp_path / "catalog.csv"), "--engine", "local"]
    row = ["--table", "APP.T", "--key", "2", "--include-aborted"]
    assert main(["history", *source, *row]) == 0
    assert "[rolled back to savepoint]" in capsys.readouterr().out
    late = ["--from-position", "F" * 16, "--out", str(tmp_path / "out")]
    assert main(["redo", *source, *late]) == 4
    printed = capsys.readouterr()
    said = printed.out + printed.err
    assert "before the range (--from-*)" in said
    assert "lrsn" not in said.lower()
