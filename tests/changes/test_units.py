"""Columns of units hold what sets and dictionaries of them do."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

from replay import spill
from replay.changes import units
from replay.changes.position import POSITION, Position, UnitId
from replay.changes.units import UnitCommits, UnitSet, Verdict, Verdicts, unit_column

#: Zero bytes at the end must count.
UNITS = [
    UnitId(bytes(8) + number.to_bytes(2) + end)
    for number in range(20)
    for end in (b"\0\0", b"\0\1")
]


@pytest.mark.parametrize("seed", range(20))
def test_sets(seed: int) -> None:
    chance = random.Random(seed)
    one, other = (chance.sample(UNITS, chance.randrange(15)) for _ in range(2))
    mine, theirs = UnitSet(one + one[:3]), UnitSet(other)
    assert (len(mine), list(mine)) == (len(one), sorted(one))
    for right in (theirs, set(other), frozenset(other), dict.fromkeys(other).keys()):
        assert set(mine | right) == set(one) | set(other)
        assert set(mine - right) == set(one) - set(other)
        assert set(mine & right) == set(one) & set(other)
        assert (mine == right) == (set(one) == set(other))
    assert set(set(other) - mine) == set(other) - set(one)
    assert [unit in mine for unit in UNITS] == [unit in one for unit in UNITS]
    assert mine.mask(unit_column(UNITS)).tolist() == [unit in one for unit in UNITS]
    assert b"short" not in mine
    assert bool(mine) == bool(one)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_put_last_counts(seed: int) -> None:
    chance = random.Random(seed)
    table, judge = UnitCommits(), dict[UnitId, Position]()
    for _ in range(chance.randrange(8)):
        some = chance.choices(UNITS, k=chance.randrange(9))
        commits = [Position(chance.randbytes(10)) for _ in some]
        table.put(unit_column(some), np.frombuffer(b"".join(commits), POSITION))
        judge.update(zip(some, commits, strict=True))
    assert dict(table) == judge
    assert list(table) == sorted(judge)
    assert bool(table) == bool(judge)
    assert [unit in table for unit in UNITS] == [unit in judge for unit in UNITS]
    assert table.get(UNITS[0]) == judge.get(UNITS[0])


@pytest.mark.parametrize("budget", [8, 1 << 20])
@pytest.mark.parametrize("seed", range(10))
def test_verdicts(seed: int, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any length and any letters, as many as there are."""
    monkeypatch.setattr(spill, "BUDGET", budget)
    monkeypatch.setattr(units, "_TOGETHER", 3)
    chance = random.Random(seed)
    texts = ["", "ä", "\udc80 broken", "long " * 20, *map(str, range(30))]

    def drawn() -> Verdict:
        return Verdict(chance.choice(["", "LR3011", "LR3004"]), chance.choice(texts))

    found, judge = Verdicts(), dict[UnitId, Verdict]()
    for _ in range(30):
        unit, verdict = chance.choice(UNITS), drawn()
        match chance.randrange(4):
            case 0:
                found[unit] = verdict
                judge[unit] = verdict
            case 1:
                found.setdefault(unit, verdict)
                judge.setdefault(unit, verdict)
            case 2:
                some = chance.sample(UNITS, 4)
                found.set_all(unit_column(some), verdict)
                judge |= dict.fromkeys(some, verdict)
            case _:
                more = {unit: drawn() for unit in chance.sample(UNITS, 4)}
                found.update(Verdicts(more))
                judge |= more
    assert list(found.items()) == sorted(judge.items())
    assert dict(pickle.loads(pickle.dumps(found))) == judge
    held = {unit for unit in judge if judge[unit].code == "LR3011"}
    assert set(found.only(found.of_code("LR3011"))) == held
    assert dict(found.but(UnitSet(held))) == {u: v for u, v in judge.items() if u not in held}
    others = {unit: drawn() for unit in chance.sample(UNITS, 5)}
    assert dict(found.with_own(Verdicts(others))) == judge | others
    assert {v.text for v in found.without_texts().values()} <= {""}
    assert {u: v.code for u, v in found.without_texts().items()} == {
        u: v.code for u, v in judge.items()
    }
    found.clear()
    assert not found
    assert len(found) == 0
