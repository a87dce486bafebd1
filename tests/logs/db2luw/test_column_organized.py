"""Tables organized by column write no rows to the log: a log with such tables says so by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.errors import InputError
from replay.logs import Inputs
from replay.logs.db2luw.reader import LuwLog, open_log
from tests.support.luwbuilder import Col, LogBuilder, Tab, catalog_csv

ROWS = Tab(2, 5, "APP", "ROWS", (Col("ID", "INTEGER", key=1),))
COLUMNS = Tab(2, 6, "APP", "FACTS", (Col("ID", "INTEGER", key=1),))


def opened(folder: Path, organization: str) -> LuwLog:
    builder = LogBuilder()
    unit = builder.begin()
    unit.insert(ROWS, (1,), (1, 1))
    unit.commit()
    (folder / "x.log").write_bytes(builder.bytes())
    head, *lines = catalog_csv((ROWS, COLUMNS)).splitlines()
    with_organization = [f"{line},{organization if ',FACTS,' in line else 'R'}" for line in lines]
    text = "\n".join([f"{head},TABLEORG", *with_organization]) + "\n"
    (folder / "catalog.csv").write_text(text, encoding="utf-8")
    return open_log(Inputs(log=(str(folder / "x.log"),), catalog=str(folder / "catalog.csv")))


def test_tables_organized_by_column_are_warned_of(tmp_path: Path) -> None:
    log = opened(tmp_path, "C")
    assert log.by_column == {"APP.FACTS"}
    (warning,) = log.warnings(log.catalog.versions)
    assert warning.startswith("APP.FACTS: organized by column")
    others = [version for version in log.catalog.versions if version.name != "APP.FACTS"]
    assert log.warnings(others) == []


@pytest.mark.parametrize("organization", ["R", "N", ""])
def test_other_tables_are_not(organization: str, tmp_path: Path) -> None:
    log = opened(tmp_path, organization)
    assert log.warnings(log.catalog.versions) == []


def test_another_organization_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="LR2031.*TABLEORG.*'X'"):
        opened(tmp_path, "X")
