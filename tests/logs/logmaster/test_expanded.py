"""Logs with EXPANDVAR whose lengths may be those of the columns, not of the values."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.cli.main import main
from tests.support.logbuilder import ACCT, LogBuilder, acct

SAYS = "every value of the expanded columns (EXPANDVAR) is as long as its column"


@pytest.mark.parametrize(
    ("names", "warned"),
    [
        (["ABC", "", "DEFG", "H", "IJ", "K"], False),
        (["ABC".ljust(10), "DE".ljust(10), "FGHIJKLMNO", "P".ljust(10), "Q".ljust(10)], True),
        (["ABC".ljust(10), "DE".ljust(10), "", "P".ljust(10), "Q".ljust(10)], False),
        (["ABCDEFGHIJ", "KLMNOPQRST", "ABCDEFGHIJ", "KLMNOPQRST", "ABCDEFGHIJ"], False),
        (["ABC".ljust(10), None, None, None, None], False),
    ],
    ids=["their own", "full", "one is not", "letters to the end", "too few"],
)
def test_lengths_that_do_not_tell_how_long_values_were(
    names: list[str | None], warned: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = LogBuilder(expanded=True)
    for number, name in enumerate(names):
        log.unit().insert(ACCT, acct(number, name=name))
    control, data = log.write(tmp_path)
    argv = ["redo", "--control", str(control), "--data", str(data[0]), "--engine", "local"]
    assert main([*argv, "--out", str(tmp_path / "out")]) == (4 if warned else 0)
    assert (f"{ACCT.owner}.{ACCT.name}: {SAYS}" in capsys.readouterr().err) is warned
