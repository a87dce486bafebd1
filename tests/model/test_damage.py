"""Damaged logs: which damage may pass with exit code 0 and other SQL, for no log can tell it.

``python -m tests.model.damage`` tries every byte of many forms.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.damage import damage

#: A commit at the very end of a log, one that has the type of a prepare, and a flag that makes a
#: record one of a temporary table.
LUW = {"drop commit", "type", "flags", "cut between"}
#: A bit of a value, and rows that are lost where no address and no other row says so.
SOLID = {"field data", "drop row", "drop start", "drop commit", "drop three", "cut between"}
#: Records stand for themselves, where they are no segments.
LOG_MASTER = {"bit in data", "drop row", "drop three", "cut between"}


@pytest.mark.parametrize(
    ("family", "form", "seed", "every", "each", "may_pass"),
    [
        ("db2luw", ("v97", "big", "raw"), 0, 190, 19, LUW),
        ("db2luw", ("v10", "little", "flt56"), 0, 190, 19, LUW),
        ("soliddb", ("len32", "", 20), 0, 190, 19, SOLID),
        ("logmaster", ("segments",), 0, 900, 11, LOG_MASTER),
    ],
)
def test_damage_is_told(
    family: str, form: tuple[Any, ...], seed: int, every: int, each: int, may_pass: set[str]
) -> None:
    tally = damage(family, form, seed, every, each)
    assert {step for step, count in tally.passes.items() if count} <= may_pass, tally.lines()
    assert not tally.crashes
    assert sum(tally.runs.values()) > 20
