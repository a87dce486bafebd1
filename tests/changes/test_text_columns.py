"""Texts that are put together in columns are those that are put together one by one."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import numpy as np
import pytest

from replay.changes.json_columns import json_items, json_lists, json_objects, json_strings
from replay.changes.kept import KeptTexts
from replay.changes.position import UnitId
from replay.changes.text_columns import (
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
    monkeypatch.setattr("replay.changes.kept.BUDGET", budget)
    kept, judge = KeptTexts(), list[str]()
    for at in range(6):
        judge.append(f"alone {at}")
        assert kept.add(judge[-1]) == len(judge) - 1
        assert kept.add_all(texts_of(TEXTS).slice(at)).tolist() == list(
            range(len(judge), len(judge) + len(TEXTS) - at)
        )
        judge += TEXTS[at:]
        assert read(kept.all()) == judge
    assert [kept[number] for number in range(len(kept))] == judge


@pytest.mark.parametrize("indent", [1, 2, 5])
@pytest.mark.parametrize("seed", range(10))
def test_json(seed: int, indent: int) -> None:
    """As ``json.dumps`` has it, at any depth."""
    chance = random.Random(seed)
    sound = [text for text in TEXTS if text.isprintable() or "\udc80" not in text]
    items: list[dict[str, object]] = []
    for _ in range(chance.randrange(6)):
        more = {"more": chance.randrange(1, 9)} if chance.random() < 0.5 else {}
        keys = chance.choices(sound, k=chance.randrange(4))
        items.append({"name": chance.choice(sound), **more, "keys": keys})
    ends = np.cumsum([0, *(len(item["keys"]) for item in items)])  # type: ignore[arg-type]
    keys = json_strings(texts_of(key for item in items for key in item["keys"]))  # type: ignore[attr-defined]
    objects = json_objects(
        indent,
        {
            "name": json_strings(texts_of(str(item["name"]) for item in items)),
            "more": texts_of(str(item.get("more", "")) for item in items),
            "keys": json_lists(indent + 1, keys, ends),
        },
    )
    made = json_items(indent, objects)
    outer: object = items
    for _ in range(indent - 1):
        outer = [outer]
    expected = json.dumps(outer, indent=1, ensure_ascii=False)
    line = "\n" + " " * indent
    assert (line + made in expected) if items else (made == "")
    assert [json.loads(f"[{made}]")] == [items]
