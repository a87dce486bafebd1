"""Logs of Db2 LUW and solidDB that are cut, repeated, oddly described or oddly asked for."""

from __future__ import annotations

import pytest

from tests.model.special import SPECIAL
from tests.support.seeds import FIXED, seeds


@pytest.mark.parametrize("seed", seeds(long=20))
@pytest.mark.parametrize("kind", SPECIAL)
def test_a_special_log(kind: str, seed: int) -> None:
    bad = [f"{one.check}: {one.result}: {one.detail}" for one in SPECIAL[kind](seed) if one.bad]
    assert not bad


@pytest.mark.parametrize("kind", SPECIAL)
def test_the_fixed_seeds_find_something_to_ask(kind: str) -> None:
    assert any(True for seed in range(2 * FIXED) for _ in SPECIAL[kind](seed))
