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


@pytest.mark.parametrize("seed", [9910000, 9910003])
def test_a_unit_that_is_open_at_the_end_of_an_old_log_without_data_sharing(seed: int) -> None:
    """The 6 digits of DLGE.ENDRBA are an RBA there, which lies otherwise than an LRSN (section 3);
    taken for one, no unit was behind it."""
    verdicts = chains.run_case("logmaster", "redo", "link", seed)
    assert verdicts
    assert not [f"{one.check}: {one.result}: {one.detail}" for one in verdicts if one.bad]


@pytest.mark.parametrize(("seed", "kind"), [(9930005, "cascade"), (9920007, "keyless")])
def test_the_last_unit_comes_again_in_a_log_that_has_more_of_it_than_any_had(
    seed: int, kind: str
) -> None:
    """Those that were read are given with it, and have all of its records between them."""
    verdicts = chains.run_case("logmaster", "redo", kind, seed)
    assert verdicts
    assert not [f"{one.check}: {one.result}: {one.detail}" for one in verdicts if one.bad]
