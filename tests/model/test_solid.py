"""A few seeds of the solidDB model in every run; ``python -m tests.model.solid_checks`` has
more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.model.luw_run import CHECKS, Options, check_redo
from tests.model.solid_checks import KINDS_BY_DEFAULT, case_of, run_case
from tests.model.solid_encoder import ALWAYS_NUL, PROFILES


@pytest.mark.parametrize("kind", KINDS_BY_DEFAULT)
def test_a_history_and_its_export_agree(kind: str) -> None:
    for seed in range(3):
        verdicts, story = run_case(seed, kind, tuple(CHECKS), Options())
        assert not [v for v in verdicts if v.bad], f"{kind} {seed}\n{story}"


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("count", [0, 2, 4])
def test_every_form_of_an_export_is_read(profile: str, count: int, tmp_path: Path) -> None:
    nul = profile in ALWAYS_NUL or count == 2
    case = case_of("plain", 1, tmp_path, profile=profile, count=count, nul=nul)
    assert case is not None
    check_redo(case)
    assert not [v for v in case.verdicts if v.bad], case.describe()
