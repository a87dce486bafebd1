"""A few seeds of the Db2 LUW model in every run; ``python -m tests.model.luw_checks`` has more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.model.luw_checks import KINDS_BY_DEFAULT, case_of, run_case
from tests.model.luw_encoder import FRAMINGS
from tests.model.luw_run import CHECKS, Options, check_redo


@pytest.mark.parametrize("kind", KINDS_BY_DEFAULT)
def test_a_history_and_its_log_agree(kind: str) -> None:
    for seed in range(2):
        verdicts, story = run_case(seed, kind, tuple(CHECKS), Options())
        assert not [v for v in verdicts if v.bad], f"{kind} {seed}\n{story}"


def test_equal_rows_that_one_statement_puts_in_and_takes_out() -> None:
    """Only their places (RID) tell them apart: this history has two of them."""
    verdicts, story = run_case(70003, "takeover", tuple(CHECKS), Options())
    assert not [v for v in verdicts if v.bad], story


@pytest.mark.parametrize(
    ("dialect", "framing"), [(d, f) for d, names in FRAMINGS.items() for f in names]
)
@pytest.mark.parametrize("big", [True, False], ids=["big", "little"])
def test_every_form_of_a_log_is_read(dialect: str, framing: str, big: bool, tmp_path: Path) -> None:
    case = case_of("plain", 1, tmp_path, dialect=dialect, framing=framing, big=big)
    check_redo(case)
    assert not [v for v in case.verdicts if v.bad], case.describe()
