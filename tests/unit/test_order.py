"""Order by machine words against NumPy's own, and what all records of a unit must agree in."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from replay import order
from replay.changes import RECORD, unit_facts

small = st.integers(0, 3)
wide = st.sampled_from([0, 1, 2**31, 2**40 + 7, 2**63, 2**64 - 1])


@given(st.lists(st.tuples(small, wide, small, wide), max_size=60))
def test_lexical_order_is_lexsort(rows: list[tuple[int, ...]]) -> None:
    columns = [np.array([row[place] for row in rows], np.uint64) for place in range(4)]
    found = order.lexical_order(columns)
    assert sorted(found.tolist()) == list(range(len(rows)))
    assert [rows[row] for row in found] == sorted(rows)


@given(st.lists(st.tuples(st.binary(min_size=10, max_size=10), small, st.binary(min_size=10, max_size=10), small, small), max_size=40))
def test_commit_order_compares_bytes(rows: list[tuple[bytes, int, bytes, int, int]]) -> None:
    records = np.zeros(len(rows), RECORD)
    for number, (commit, unit, position, segment, file) in enumerate(rows):
        records[number]["commit"], records[number]["position"] = np.void(commit), np.void(position)
        records[number]["unit"] = np.void(unit.to_bytes(12, "big"))
        records[number]["segment"], records[number]["file"], records[number]["offset"] = segment, file, 100 * number
    expected = sorted(range(len(rows)), key=lambda number: (*rows[number], number))
    assert order.commit_order(records).tolist() == expected


class Header:
    """As much of an envelope as the facts of its unit need."""

    def __init__(self, facts: bytes) -> None:
        self.block = np.frombuffer(facts, np.uint8).reshape(1, 28)

    def unit_disposition(self) -> np.ndarray:  # type: ignore[type-arg]
        return self.block[:, 0]

    def unit_position(self) -> np.ndarray:  # type: ignore[type-arg]
        return self.block[:, 1:11]

    def commit_time(self) -> np.ndarray:  # type: ignore[type-arg]
        return self.block[:, 11:]


@given(st.binary(min_size=28, max_size=28), st.integers(0, 27), st.integers(1, 255))
def test_a_byte_that_differs_is_seen(facts: bytes, place: int, flip: int) -> None:
    other = bytearray(facts)
    other[place] ^= flip
    one, two = (int(unit_facts(Header(bytes(made)))[0]) for made in (facts, other))  # type: ignore[arg-type]
    assert one != two
