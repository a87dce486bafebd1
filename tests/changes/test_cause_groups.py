"""Which direct changes are one cause, and what that does to the order of an undo; against a referee
that goes change by change."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from replay.changes import order
from replay.changes.envelope import Change

IN, UP, DE = Change.INSERT, Change.UPDATE, Change.DELETE

#: (unit begins, origin, kind, table, first segment).
Step = tuple[bool, str, Change, int, bool]
steps = st.lists(
    st.tuples(
        st.booleans(),
        st.sampled_from(" R"),
        st.sampled_from([IN, UP, DE]),
        st.integers(0, 1),
        st.booleans(),
    ),
    min_size=1,
    max_size=30,
)


def one_cause(before: Step, after: Step) -> bool:
    """Whether two neighbours of one unit may be of one statement that has followers."""
    same = (before[2], before[3]) == (after[2], after[3])
    return before[1] == after[1] == " " and same and after[2] != IN


def columns(log: list[Step]) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    return {
        "unit": np.cumsum([step[0] for step in log]),
        "direct": np.array([step[1] == " " for step in log]),
        "change": np.array([step[2] for step in log], np.int64),
        "table": np.array([step[3] for step in log], np.int64),
    }


@example([(True, "R", DE, 1, True), (False, " ", DE, 0, True), (False, " ", DE, 0, True)])
@example([(True, " ", DE, 0, True), (False, "R", DE, 0, True), (False, " ", DE, 0, True)])
@given(steps)
def test_groups_are_those_of_the_referee(log: list[Step]) -> None:
    expected = [0]
    for before, after in pairwise(log):
        begins = after[0] or (after[1] == " " and not one_cause(before, after))
        expected.append(expected[-1] + begins)
    group, cause = order.cause_groups(**columns(log))
    assert group.tolist() == expected
    assert group.dtype == np.int64
    assert cause.tolist() == [step[1] == " " for step in log]


@given(steps)
def test_units_are_cut_where_a_cause_begins_with_its_first_segment(log: list[Step]) -> None:
    named = columns(log)
    cuts = order.unit_safe_cuts(
        named["direct"], named["change"], named["table"], np.array([step[4] for step in log])
    )
    assert cuts.tolist() == [
        False,
        *(
            after[1] == " " and after[4] and not one_cause(before, after)
            for before, after in pairwise(log)
        ),
    ]


def test_nothing_has_no_cut() -> None:
    none = np.zeros(0, np.int64)
    assert order.unit_safe_cuts(none > 0, none, none, none > 0).tolist() == []


UNDONE: list[tuple[str, list[tuple[int, Change, str, int]], list[int]]] = [
    (
        "one statement deletes two parents, then their children go",
        [(0, DE, " ", 0), (0, DE, " ", 0), (0, DE, "R", 1), (0, DE, "R", 1)],
        [1, 0, 2, 3],
    ),
    (
        "parents of two tables are two causes: the first has no followers",
        [(0, DE, " ", 1), (0, DE, " ", 0), (0, DE, "R", 2)],
        [1, 2, 0],
    ),
    (
        "an update and a delete of a table are two causes",
        [(0, UP, " ", 0), (0, DE, " ", 0), (0, DE, "R", 1)],
        [1, 2, 0],
    ),
    (
        "two updates of a table are one cause",
        [(0, UP, " ", 0), (0, UP, " ", 0), (0, UP, "R", 1)],
        [1, 0, 2],
    ),
    (
        "deletes of two units are two causes",
        [(0, DE, " ", 0), (1, DE, " ", 0), (1, DE, "R", 1)],
        [1, 2, 0],
    ),
    (
        "followers of two causes stay with their own, table by table",
        [
            *((0, DE, " ", 0), (0, DE, "R", 1), (0, UP, "R", 2), (0, DE, "R", 1)),
            *((0, DE, " ", 3), (0, DE, "R", 1), (0, DE, "R", 2)),
        ],
        [4, 5, 6, 0, 1, 3, 2],
    ),
    (
        "followers that are not all deletes are undone in reverse",
        [(0, DE, " ", 0), (0, UP, "R", 1), (0, DE, "R", 1), (0, DE, "R", 2), (0, DE, "R", 2)],
        [0, 2, 1, 3, 4],
    ),
]


@pytest.mark.parametrize(("log", "expected"), [case[1:] for case in UNDONE], ids=lambda _: "")
def test_causes_come_back_before_their_followers(
    log: list[tuple[int, Change, str, int]], expected: list[int]
) -> None:
    unit, kind, origin, table = (np.array(column) for column in zip(*log, strict=True))
    undone = order.undo_order(
        unit.astype(np.int64), origin == " ", origin == "R", kind.astype(np.int64), table
    )
    assert undone.tolist() == expected
    assert undone.dtype == np.int64


@pytest.mark.parametrize("width", [1, 2, 4, 8, 10, 12, 16])
def test_words_compare_as_their_bytes_do(width: int) -> None:
    """One word where the bytes that differ fit one, else two."""
    octets = np.random.default_rng(width).integers(0, 256, (200, width), np.uint8)
    octets[:50, : width // 2] = octets[50, : width // 2]
    rows = [row.tobytes() for row in octets]
    columns = order.words(np.frombuffer(octets.tobytes(), f"V{width}"))
    assert len(columns) == (1 if width <= 8 else 2)
    assert all(column.dtype == np.uint64 and column.shape == (200,) for column in columns)
    keys = list(zip(*(column.tolist() for column in columns), strict=True))
    assert sorted(range(200), key=keys.__getitem__) == sorted(range(200), key=rows.__getitem__)


@pytest.mark.parametrize(("differ", "words"), [(1, 1), (5, 1), (6, 1), (7, 2), (10, 2)])
def test_ten_octets_that_hardly_differ_are_one_word(differ: int, words: int) -> None:
    """The last two bytes take 16 bits, which leaves 48 for what differs before them."""
    low, high = bytes(10), bytes(8 - min(differ, 8)) + b"\xff" * (2 + min(differ, 8))
    columns = order.words(np.frombuffer(low + high, "V10"))
    assert len(columns) == words
    assert columns[0].tolist() == [0, int.from_bytes(high[: 10 if words == 1 else 8], "big")]


def test_no_rows_have_no_order() -> None:
    assert [column.tolist() for column in order.words(np.zeros(0, "V10"))] in ([[]], [[], []])
    assert order.run_starts(np.zeros(0, np.int64)).tolist() == []
    assert order.run_starts(np.array([5, 5, 6, 5, 5])).tolist() == [0, 2, 3]
