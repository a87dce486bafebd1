"""A few fixed seeds of the row model, for Log Master logs.

``python -m tests.model --seeds 1000`` runs as many as wanted, of all kinds, on more databases.
"""

from __future__ import annotations

import pytest

from tests.model.logmaster_checks import CHECKS_BY_DEFAULT, KINDS_BY_DEFAULT, Options, run_case

SEEDS = range(2)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS_BY_DEFAULT)
def test_rows_are_those_of_the_model(kind: str, seed: int) -> None:
    verdicts, story = run_case(seed, kind, CHECKS_BY_DEFAULT, Options(targets=("sqlite",)))
    bad = [f"{v.check}: {v.result}: {v.detail}" for v in verdicts if v.bad]
    assert not bad, "\n".join([*bad, story])


@pytest.mark.parametrize("kind", KINDS_BY_DEFAULT)
def test_the_rows_are_the_same_on_duckdb(kind: str) -> None:
    verdicts, story = run_case(0, kind, ("redo", "undo"), Options(targets=("duckdb",)))
    bad = [f"{v.check}: {v.result}: {v.detail}" for v in verdicts if v.bad]
    assert not bad, "\n".join([*bad, story])


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("cascade-takeover", 70000),  # a child refers to the parent whose key another one takes
        ("cascade-takeover", 70004),  # rows that the log does not show refer to a key that moves on
        ("parents-shift", 70000),
        ("parents-shift", 70016),  # a child comes and goes after its parent's key was taken again
    ],
)
def test_keys_that_others_refer_to_change_hands(kind: str, seed: int) -> None:
    verdicts, story = run_case(seed, kind, CHECKS_BY_DEFAULT, Options(targets=("sqlite",)))
    bad = [f"{v.check}: {v.result}: {v.detail}" for v in verdicts if v.bad]
    assert not bad, "\n".join([*bad, story])
