"""Texts that are put together in columns are those that are put together one by one."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from replay.changes.position import UnitId
from replay.changes.text_columns import (
    GrowingTexts,
    Texts,
    beside,
    column_from,
    ends_of,
    formatted,
    hexadecimal,
    octets_of,
    pooled,
    runs,
    taken,
    texts_of,
    unit_texts,
)
from replay.changes.units import unit_column

TEXTS = [
    "",
    "a",
    "ä\u2028",
    'q"uote',
    "back\\slash",
    "line\n",
    "\x00\x1f\x7f",
    "\udc80",
    "long " * 9,
]


def read(texts: Texts) -> list[str]:
    return [one.decode("utf-8", "surrogatepass") for one in texts.to_pylist()]


@pytest.mark.parametrize("seed", range(10))
def test_put_together(seed: int) -> None:
    chance = random.Random(seed)
    texts = chance.choices(TEXTS, k=chance.randrange(9))
    column = texts_of(texts)
    assert read(column) == texts
    rows = [chance.randrange(len(texts)) for _ in range(7)] if texts else []
    some = taken(column, np.array(rows, np.int64))
    assert read(some) == [texts[row] for row in rows]
    assert read(beside(b"<", some, b"=", some)) == [f"<{texts[row]}={texts[row]}" for row in rows]
    ends = sorted(chance.choices(range(len(rows) + 1), k=4))
    joined = ["".join(texts[row] for row in rows[a:b]) for a, b in pairwise(ends)]
    assert read(runs(some, np.array(ends))) == joined
    both, (_, begin) = pooled(some, column)
    assert read(both.slice(begin)) == texts
    later = both.slice(begin)
    assert ends_of(later)[-1] - ends_of(later)[0] == len(octets_of(later))
    assert read(column_from(ends_of(later) - ends_of(later)[0], octets_of(later))) == texts


def test_values() -> None:
    units = [UnitId(bytes(range(10)) + number.to_bytes(2)) for number in (0, 9, 10, 65535, 9)]
    assert read(unit_texts(unit_column(units))) == [str(unit) for unit in units]
    assert read(hexadecimal(np.frombuffer(b"\x00\xabCD", "V2"))) == ["00AB", "4344"]
    assert read(formatted("({:,})", np.array([1234, 0, 1234]))) == ["(1,234)", "(0)", "(1,234)"]
    assert read(unit_texts(unit_column([]))) == []


@pytest.mark.parametrize("budget", [4, 1 << 20])
def test_kept_together_and_one_by_one(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("replay.spill.BUDGET", budget)
    kept, judge = GrowingTexts(), list[str]()
    for at in range(6):
        judge.append(f"alone {at}")
        assert kept.add(judge[-1]) == len(judge) - 1
        assert kept.add_all(texts_of(TEXTS).slice(at)).tolist() == list(
            range(len(judge), len(judge) + len(TEXTS) - at)
        )
        judge += TEXTS[at:]
        assert read(kept.all()) == judge
    assert [kept[number] for number in range(len(kept))] == judge
