"""Histories of the row model and what logreplay makes of their logs, for each family and direction.

A day's seeds are repeated with ``LOGREPLAY_SEEDS_DATE``.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from tests.model.checks import ALL_CHECKS, CHECKS_OF, KINDS_OF, Options, Verdict, run_case
from tests.support.seeds import FIXED, seeds

#: Kinds that a seed of the day tries; the fixed ones have all of them between them.
SOME = 2


def kinds_of(family: str, seed: int) -> list[str]:
    kinds = KINDS_OF[family]
    if seed < FIXED:
        return list(kinds[seed::FIXED])
    return random.Random(seed).sample(kinds, SOME)


def complaints(verdicts: Iterable[Verdict]) -> list[str]:
    return [f"{one.check}: {one.result}: {one.detail}" for one in verdicts if one.bad]


@pytest.mark.parametrize("seed", seeds())
@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize("family", KINDS_OF)
def test_rows_are_those_of_the_model(family: str, mode: str, seed: int) -> None:
    for kind in kinds_of(family, seed):
        options = Options(modes=(mode,))
        verdicts, story = run_case(family, seed, kind, CHECKS_OF[mode], options)
        bad = complaints(verdicts)
        assert not bad, "\n".join([kind, *bad, story])


@pytest.mark.parametrize(("seed", "kind"), [(46001, "takeover"), (4, "alike")])
def test_rows_of_soliddb_that_may_have_moved_to_a_key_that_was_given_up(
    seed: int, kind: str
) -> None:
    """A delete of key 7, and of key 6 and an insert of it: later values of row 6 go with these. So
    does a delete and insert of one key and the same values: it may be another row."""
    verdicts, story = run_case("soliddb", seed, kind, ["cascade"], Options())
    assert not complaints(verdicts), story


@pytest.mark.long
@pytest.mark.parametrize("seed", range(FIXED, FIXED + 8))
@pytest.mark.parametrize(
    ("family", "kind"), [(f, k) for f, kinds in KINDS_OF.items() for k in kinds]
)
def test_rows_of_more_histories(family: str, kind: str, seed: int) -> None:
    verdicts, story = run_case(family, seed, kind, [*ALL_CHECKS], Options())
    bad = complaints(verdicts)
    assert not bad, "\n".join([*bad, story])
