"""Logs of all families that arrive in many files, against the model."""

from __future__ import annotations

import pytest

from tests.model import chains
from tests.support.seeds import seeds


@pytest.mark.parametrize("seed", seeds(fixed=1, of_the_day=0, long=8))
@pytest.mark.parametrize(
    ("family", "receiver"), [(one, to) for one, some in chains.RECEIVERS_OF.items() for to in some]
)
def test_each_unit_once_however_the_files_arrive(family: str, receiver: str, seed: int) -> None:
    kinds = chains.kinds_of(family)[seed % 3 :: 3]
    verdicts = [one for kind in kinds for one in chains.run_case(family, receiver, kind, seed)]
    assert verdicts
    assert not [f"{one.check}: {one.result}: {one.detail}" for one in verdicts if one.bad]
