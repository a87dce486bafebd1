"""Moved rows are paired, wherever the stretches of records begin that are looked at together."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from replay.arrays import Records
from replay.logs.db2luw.layouts import RecordRole
from replay.logs.db2luw.row_moves import Moves, Pairing
from replay.logs.db2luw.scan import INTERNAL, NONE, NORMAL, OVERFLOWN, POINTS, SCANNED

#: Role, what the images are.
OVERFLOW_IN = (RecordRole.INSERT, NONE, OVERFLOWN)
OVERFLOW_OUT = (RecordRole.DELETE, OVERFLOWN, NONE)
POINTER_OUT = (RecordRole.DELETE, POINTS, NONE)
AWAY, BACK, ON = (
    (RecordRole.UPDATE, NORMAL, POINTS),
    (RecordRole.UPDATE, POINTS, NORMAL),
    (RecordRole.UPDATE, POINTS, POINTS),
)
OTHERS = [
    (RecordRole.UPDATE, OVERFLOWN, OVERFLOWN),
    (RecordRole.UPDATE, INTERNAL, POINTS),
    (RecordRole.INSERT, NONE, NORMAL),
    (RecordRole.TRUNCATE, NONE, NONE),
]
MOVES = [
    [OVERFLOW_IN, AWAY],
    [BACK, OVERFLOW_OUT],
    [POINTER_OUT, OVERFLOW_OUT],
    [OVERFLOW_IN, OVERFLOW_OUT, ON],
]


def drawn(draw: random.Random) -> tuple[Records, list[int]]:
    """Records of some units and tables, those of each one move after the other, where nothing is
    between or lost; and their units."""
    keys = [(draw.randrange(3), draw.randrange(2), draw.randrange(2)) for _ in range(5)]
    waiting: dict[int, list[tuple[int, int, int]]] = {}
    records, units = np.zeros(draw.randrange(1, 120), SCANNED), []
    for record in records:
        number = draw.randrange(len(keys))
        left = waiting.setdefault(number, [])
        if not left:
            left += draw.sample(move := draw.choice(MOVES), len(move))
        made = (
            left.pop(0)
            if draw.random() < 0.97
            else draw.choice(OTHERS + [one for move in MOVES for one in move])
        )
        record["role"], record["before_is"], record["after_is"] = made
        unit, record["space"], record["table"] = keys[number]
        units.append(unit)
        if draw.random() < 0.02:
            record["role"], record["moves"] = draw.choice([RecordRole.INSERT, RecordRole.DELETE]), 1
            record["before_is"], record["after_is"] = NORMAL, NONE
    return records, units


def shown(part: Pairing) -> list[Any]:
    """The changes of some."""
    return [(one["records"].tolist(), int(one["before"]), int(one["after"])) for one in part.moved]


def outcome(parts: list[Pairing]) -> tuple[list[Any], list[int], list[int]]:
    return (
        sorted(one for part in parts for one in shown(part)),
        sorted(row for part in parts for row in part.half.tolist()),
        sorted(row for part in parts for row in part.single.tolist()),
    )


@pytest.mark.parametrize("seed", range(60))
def test_stretches_do_not_matter(seed: int) -> None:
    draw = random.Random(f"moves {seed}")
    records, units = drawn(draw)
    unit, live = np.array(units), np.array([draw.random() < 0.98 for _ in units])

    def paired(width: int) -> tuple[list[Any], list[int], list[int]]:
        moves = Moves()
        parts = [
            moves.pair(records[at : at + width], unit[at : at + width], live[at : at + width], at)
            for at in range(0, len(records), width)
        ]
        return outcome([*parts, moves.rest()])

    one_by_one = paired(1)
    assert paired(len(records)) == one_by_one
    assert paired(draw.randrange(2, 40)) == one_by_one


def test_moves_are_what_they_seem() -> None:
    records = np.zeros(9, SCANNED)
    made = [one for move in MOVES for one in move]
    for record, (role, before, after) in zip(records, made, strict=True):
        record["role"], record["before_is"], record["after_is"] = role, before, after
    found = Moves().pair(records, np.zeros(9, np.int64), np.ones(9, bool), 100)
    assert shown(found) == [
        ([100, 101, -1], 101, 100),
        ([102, 103, -1], 103, 102),
        ([104, 105, -1], 105, -1),
        ([106, 107, 108], 107, 106),
    ]
    assert not len(found.half)
    assert not len(found.single)
