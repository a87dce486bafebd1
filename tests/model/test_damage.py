"""Damaged logs of a fixed seed: how many pass with exit code 0 and other SQL, at most.

``python -m tests.model.luw_damage``, ``solid_damage`` and ``logmaster_damage`` try every byte of
several seeds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.model import logmaster_damage, luw_damage, luw_encoder, solid_damage, solid_encoder

#: What passes: a commit at the very end of the log that is lost, or has the type of a prepare.
LUW = {("v97", "raw"): 2, ("v10", "flt56"): 2}
#: Bits in values of rows that are mentioned once, and rows that are lost where no address says
#: so.
SOLID = 4


@pytest.mark.long
@pytest.mark.parametrize(("dialect", "framing"), LUW)
def test_damaged_logs_of_db2_luw(tmp_path: Path, dialect: str, framing: str) -> None:
    form = luw_encoder.Form(dialect, True, framing)
    tally = luw_damage.damage(form, 0, 190, tmp_path, each=9)
    assert sum(tally.passes.values()) <= LUW[dialect, framing], "\n".join(tally.lines())
    assert not tally.crashes
    assert sum(tally.runs.values()) > 20


@pytest.mark.long
def test_damaged_exports_of_soliddb(tmp_path: Path) -> None:
    tally = solid_damage.damage(solid_encoder.Form(), 0, 190, tmp_path, each=9)
    assert sum(tally.passes.values()) <= SOLID, "\n".join(tally.lines())
    assert not tally.crashes
    assert sum(tally.runs.values()) > 30


@pytest.mark.long
def test_damaged_logs_of_log_master() -> None:
    """Segments tell of each other, and every byte of a header is held against others."""
    tally, _ = logmaster_damage.damage("segments", 1, 900, each=7)
    assert not sum(tally.passes.values()), "\n".join(tally.lines())
    assert not tally.crashes
    assert sum(tally.runs.values()) > 25
