"""Order by machine words against NumPy's own, and what all records of a unit must agree in."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from replay.changes import order
from replay.changes.envelope import RECORD, Change, unit_facts

small = st.integers(0, 3)
wide = st.sampled_from([0, 1, 2**31, 2**40 + 7, 2**63, 2**64 - 1])


@given(st.lists(st.tuples(small, wide, small, wide), max_size=60))
def test_lexical_order_is_lexsort(rows: list[tuple[int, ...]]) -> None:
    columns = [np.array([row[place] for row in rows], np.uint64) for place in range(4)]
    found = order.lexical_order(columns)
    assert sorted(found.tolist()) == list(range(len(rows)))
    assert [rows[row] for row in found] == sorted(rows)


@given(
    st.lists(
        st.tuples(
            st.binary(min_size=10, max_size=10),
            small,
            st.binary(min_size=10, max_size=10),
            small,
            small,
        ),
        max_size=40,
    )
)
def test_commit_order_compares_bytes(rows: list[tuple[bytes, int, bytes, int, int]]) -> None:
    records = np.zeros(len(rows), RECORD)
    for number, (commit, unit, position, segment, file) in enumerate(rows):
        records[number]["commit"], records[number]["position"] = np.void(commit), np.void(position)
        records[number]["unit"] = np.void(unit.to_bytes(12, "big"))
        records[number]["segment"], records[number]["file"], records[number]["offset"] = (
            segment,
            file,
            100 * number,
        )
    expected = sorted(range(len(rows)), key=lambda number: (*rows[number], number))
    assert order.commit_order(records).tolist() == expected


IN, UP, DE = Change.INSERT, Change.UPDATE, Change.DELETE
steps = st.tuples(
    st.sampled_from([IN, UP, DE]),
    st.sampled_from(" TRB"),
    st.integers(0, 2),
    st.integers(0, 2),
    st.integers(0, 2),
)


@given(st.lists(steps, max_size=40))
def test_rows_come_back_whatever_caused_their_changes(
    asked: list[tuple[Change, str, int, int, int]],
) -> None:
    """Any changes of any origin in a few units of three tables with three rows each: undone in the
    order found, each finds its row as it left it."""
    state: dict[tuple[int, int], int] = {(table, row): -1 for table in range(3) for row in range(2)}
    first = dict(state)
    done = []
    for number, (change, origin, table, row, unit) in enumerate(asked):
        key = (table, row)
        if (change == IN) == (key in state):
            continue
        done.append((unit, change, origin, key, state.get(key), None if change == DE else number))
        if change == DE:
            del state[key]
        else:
            state[key] = number
    units = np.cumsum(np.array([step[0] == 0 for step in done], np.int64))
    origins = np.array([step[2] for step in done], "U1")
    changes, tables = (
        np.array([value(step) for step in done], np.int64)
        for value in (lambda s: s[1], lambda s: s[3][0])
    )
    for step in (
        done[at]
        for at in order.undo_order(
            units, origins == " ", np.isin(origins, ["R", "B"]), changes, tables
        )
    ):
        _, _, _, key, before, after = step
        assert state.get(key) == after
        if before is None:
            del state[key]
        else:
            state[key] = before
    assert state == first


def test_parents_return_before_their_children_and_rows_as_they_were() -> None:
    """(change, origin, table) in log order -> the order of undoing."""
    cases: list[tuple[list[tuple[Change, str, int]], list[int]]] = [
        ([(DE, " ", 0), (DE, "R", 1), (DE, "R", 2)], [0, 1, 2]),  # a cascade
        ([(DE, " ", 0), (UP, "R", 0), (UP, "R", 0)], [0, 2, 1]),  # SET NULL within a table
        ([(DE, " ", 0), (DE, "R", 1), (IN, "T", 0)], [2, 0, 1]),  # the row is put there again
        ([(UP, " ", 0), (UP, "R", 1)], [0, 1]),  # ON UPDATE CASCADE
        (
            [(UP, " ", 0), (UP, "T", 0), (DE, "T", 1), (DE, "B", 2)],
            [1, 2, 3, 0],
        ),  # a trigger changes the row further
        (
            [(IN, " ", 0), (IN, "T", 1), (DE, "T", 2), (DE, "B", 3)],
            [1, 2, 3, 0],
        ),  # what refers to an inserted row goes before it
        ([(IN, " ", 0), (DE, " ", 1), (DE, "T", 2)], [2, 1, 0]),  # nothing of referential integrity
    ]
    for changes, expected in cases:
        kind, origin, table = (np.array(column) for column in zip(*changes, strict=True))
        found = order.undo_order(
            np.zeros(len(changes), np.int64),
            origin == " ",
            np.isin(origin, ["R", "B"]),
            kind.astype(np.int64),
            table,
        )
        assert found.tolist() == expected, changes


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
