"""Logs of Db2 LUW and solidDB that arrive in many files, against the model."""

from __future__ import annotations

import pytest

from tests.model import chains
from tests.model.luw_run import Options


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", chains.KINDS_BY_DEFAULT)
def test_each_unit_once_however_the_files_arrive(kind: str, seed: int) -> None:
    verdicts, story = chains.run_case(seed, kind, (), Options())
    assert verdicts
    wrong = [f"{one.check}: {one.result}: {one.detail}" for one in verdicts if one.bad]
    assert not wrong, "\n".join([*wrong, story])
