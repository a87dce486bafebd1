"""What a manifest counts is what its script has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from replay.native import machine_code
from tests.support import solidsakila
from tests.support.solidbuilder import Framing, write_catalog, write_rows
from tests.support.stored import written


def test_changes_that_take_each_other_back_are_no_statements(
    sakila: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """solidDB writes updates of a key so; the manifest counts what the script has."""
    made = solidsakila.encode(sakila, Framing("len32"), 20)
    write_catalog(tmp_path / "catalog", made.tables)
    rows = write_rows(tmp_path / "syslog.parquet", made.log.rows)
    words = ["redo", "--source", "soliddb", "--log", str(rows)]
    found = []
    for worth in (0, 1 << 30):
        monkeypatch.setattr(machine_code, "WORTH", worth)
        out = tmp_path / f"out-{worth}"
        found.append(written(out, *words, "--catalog", str(tmp_path / "catalog")))
    assert found[0] == found[1]
    text = (out / "0000-redo.sql").read_text(encoding="utf-8")
    statements = re.findall("^(?:INSERT|UPDATE|DELETE) ", text, re.MULTILINE)
    assert json.loads((out / "manifest.json").read_text())["statements"] == len(statements)
