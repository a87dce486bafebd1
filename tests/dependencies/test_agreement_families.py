"""``logreplay check`` on logs of the other families: sound ones agree."""

from __future__ import annotations

from pathlib import Path

import pytest

import replay
from tests.logs.db2luw.test_damage import row
from tests.support import luwsakila, solidsakila
from tests.support.luwbuilder import PLAIN, LogBuilder, catalog_csv
from tests.support.solidbuilder import Framing, write_catalog, write_rows


@pytest.mark.long
@pytest.mark.parametrize(
    ("dialect", "big", "framing"), [("v97", False, "flt16"), ("v10", True, "raw")]
)
def test_db2_luw(sakila: Path, tmp_path: Path, dialect: str, big: bool, framing: str) -> None:
    encoded = luwsakila.encode(sakila, dialect, big, framing)
    data, catalog = tmp_path / "sakila.log", tmp_path / "catalog.csv"
    data.write_bytes(encoded.data)
    catalog.write_text(catalog_csv(encoded.tables), encoding="utf-8")
    with replay.open_log(source="db2luw", log=data, catalog=catalog) as log:
        found = log.check()
    assert found.count == 0, str(found)
    assert found.counts["compared"] > 1000


@pytest.mark.long
def test_soliddb(sakila: Path, tmp_path: Path) -> None:
    encoded = solidsakila.encode(sakila, Framing("len32"), 20)
    write_catalog(tmp_path, encoded.tables)
    path = write_rows(tmp_path / "syslog.parquet", encoded.log.rows)
    with replay.open_log(source="soliddb", log=path, catalog=tmp_path) as log:
        found = log.check()
    assert found.count == 0, str(found)
    assert found.counts["compared"] > 1000


def test_units_that_lack_records_are_no_contradiction(tmp_path: Path) -> None:
    builder = LogBuilder("v97", False, "flt16")
    first = builder.begin()
    first.insert(PLAIN, row(1), (1, 1))
    first.update(PLAIN, row(1), row(1, "Bea"), (1, 1))
    first.update(PLAIN, row(1, "Bea"), row(1, "Cora"), (1, 1))
    first.commit()
    second = builder.begin()
    second.update(PLAIN, row(1, "Dora"), row(1, "Eva"), (1, 1))
    second.commit()
    log, catalog = tmp_path / "part.log", tmp_path / "catalog.csv"
    catalog.write_text(catalog_csv((PLAIN,)), encoding="utf-8")
    log.write_bytes(b"".join(builder.records))
    with replay.open_log(source="db2luw", log=log, catalog=catalog) as whole:
        assert whole.check().count == 1
    log.write_bytes(b"".join(builder.records[1:]))  # without the first record
    with replay.open_log(source="db2luw", log=log, catalog=catalog) as part:
        found = part.check()
    assert (found.count, len(found.incomplete), found.exit_code) == (0, 1, 4)
    assert found.unchecked["incomplete"] == 1
    assert "1 units lack records" in str(found)
    outcome = tmp_path / "out"
    with replay.open_log(source="db2luw", log=log, catalog=catalog) as part:
        manifest = part.select().redo().write(outcome).manifest
    reasons = str(manifest["quarantined_units"]) + str(manifest["balance"])
    assert "LR2041" in reasons
    assert "INCOMPLETETRANS" not in reasons
    assert "LOGRECDISP" not in reasons
