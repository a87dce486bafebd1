"""``logreplay check`` on logs of the other families: sound ones agree."""

from __future__ import annotations

from pathlib import Path

import replay
from tests.logs.db2luw.test_damage import row
from tests.support.luwbuilder import PLAIN, LogBuilder, catalog_csv


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
    assert "1 unit lacks records" in str(found)
    outcome = tmp_path / "out"
    with replay.open_log(source="db2luw", log=log, catalog=catalog) as part:
        manifest = part.select().redo().write(outcome).manifest
    reasons = str(manifest["quarantined_units"]) + str(manifest["balance"])
    assert "LR2041" in reasons
    assert "INCOMPLETETRANS" not in reasons
    assert "LOGRECDISP" not in reasons
