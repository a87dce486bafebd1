"""Subtransactions (10.1 and later): their records are those of the transaction that owns them, and
name each other."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from replay.logs.db2luw.reader import LuwLog, open_log
from tests.logs.db2luw.test_scan_in_ranges import as_log, with_subtransactions


@pytest.mark.parametrize("seed", range(6))
def test_units_are_the_same_in_all_framings(seed: int, tmp_path: Path) -> None:
    """Of records that are open side by side, each stands behind the one that it names."""
    opened: list[LuwLog] = []
    for framing_name in ("flt56", "lri48", "lsn8", "raw"):
        builder = with_subtransactions(random.Random(seed), framing_name, True)
        inputs = replace(as_log(tmp_path, builder), options={"dialect": "v10"})
        opened.append(open_log(inputs))
    first, *others = opened
    for log in others:
        for name in ("unit", "change", "cancelled", "fault"):
            assert log.entries()[name].tolist() == first.entries()[name].tolist()
        for name in ("unit", "disposition", "incomplete"):
            assert log.units()[name].tolist() == first.units()[name].tolist()
