"""Conditions of many tables and kinds of change at once: what one query for those of which the same
is asked says is what a query for each says."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from replay.changes.catalog import Catalog, RowFormat, TableVersion
from replay.changes.envelope import Change
from replay.changes.value_filter import AskedChanges, ValueFilter
from replay.errors import UsageError
from sqlgen.schema import ARROW_TYPES, Column, SqlType, Table

SIDES = {Change.INSERT: ("after",), Change.DELETE: ("before",), Change.UPDATE: ("before", "after")}
#: T and U are alike in N and S; in W N has another type, in X another name in capitals, Y has none.
COLUMNS = {
    "T": (("N", SqlType.INTEGER), ("S", SqlType.VARCHAR)),
    "U": (("N", SqlType.INTEGER), ("S", SqlType.VARCHAR), ("M", SqlType.SMALLINT)),
    "W": (("N", SqlType.DOUBLE), ("S", SqlType.VARCHAR)),
    "X": (("n", SqlType.INTEGER), ("S", SqlType.VARCHAR)),
    "Y": (("K", SqlType.INTEGER),),
}
TEXTS = ("", "a", "b ", "1", "7", "12")


def version_of(index: int, name: str) -> TableVersion:
    """A table version of :data:`COLUMNS`."""
    columns = tuple(Column(column, kind, True, 9) for column, kind in COLUMNS[name])
    table = Table("S", name, columns, ())
    return TableVersion(
        index, table, 1, 1, 1, 1, 0, bytes(10), bytes(10), "", "", RowFormat(())
    )  # fmt: skip


VERSIONS = tuple(version_of(index, name) for index, name in enumerate(COLUMNS))


def asked_of(pick: random.Random, version: TableVersion, kind: Change, texts: Any) -> AskedChanges:
    """Some changes of random values and nulls."""
    count = pick.randrange(1, 30)
    known: dict[tuple[str, str], pa.Array] = {}
    for column in version.table.columns:
        for side in SIDES[kind]:
            choice = texts if column.type is SqlType.VARCHAR else range(-3, 9)
            values = [pick.choice((None, pick.choice(choice))) for _ in range(count)]
            known[column.name, side] = pa.array(values, ARROW_TYPES[column.type])
    return AskedChanges(version, lambda name, side: known[name, side], kind, count)


def each_alone(chosen: ValueFilter, asked: Sequence[AskedChanges]) -> list[list[bool]] | str:
    """What a query for each says, or the first error."""
    try:
        return [chosen.select(*one).tolist() for one in asked]
    except UsageError as error:
        return error.message


def together(chosen: ValueFilter, asked: Sequence[AskedChanges]) -> list[list[bool]] | str:
    """What is said of all together."""
    try:
        return [mask.tolist() for mask in chosen.select_each(asked)]
    except UsageError as error:
        return error.message


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each query is about."""
    counts: list[int] = []
    real = ValueFilter._evaluated

    def told(self: ValueFilter, conditions: Any, rows: pa.Table) -> Any:
        counts.append(len(rows))
        return real(self, conditions, rows)

    monkeypatch.setattr(ValueFilter, "_evaluated", told)
    return counts


@pytest.mark.parametrize("where", [
    "N > 2", "N IS NULL", "before.N = after.N", "before.N IS NULL OR after.S = 'a'", "S LIKE '1%'",
    "N % 2 = 0 AND NOT (before.S = S)", "coalesce(before.N, -1) < coalesce(after.N, 4)", "K = 3",
    "coalesce(S, 'none') = 'none'",
])  # fmt: skip
def test_together_as_each_alone(where: str, queries: list[int]) -> None:
    chosen, counts, satisfied = ValueFilter(where, Catalog(VERSIONS)), queries, 0
    for seed in range(20):
        pick = random.Random(seed)
        asked = [
            asked_of(pick, version, kind, TEXTS)
            for version in VERSIONS
            for kind in SIDES
            if pick.random() < 0.8
        ]
        pick.shuffle(asked)
        expected = each_alone(chosen, asked)
        counts.clear()
        assert together(chosen, asked) == expected
        assert len(counts) <= 3  # T and U, W, X; or Y alone
        satisfied += sum(sum(mask) for mask in expected if not isinstance(mask, str))
    assert satisfied > 10


def test_where_one_cannot_be_evaluated_the_same_is_said_as_of_each_alone(
    queries: list[int],
) -> None:
    """A cast that some rows do not stand: the first table of which that is so is named."""
    chosen, counts = ValueFilter("cast(S AS INT) > 2", Catalog(VERSIONS)), queries
    said = set()
    for seed in range(30):
        pick = random.Random(seed)
        asked = [
            asked_of(pick, version, kind, TEXTS if pick.random() < 0.1 else TEXTS[-3:])
            for version in VERSIONS
            for kind in SIDES
        ]
        pick.shuffle(asked)
        expected = each_alone(chosen, asked)
        assert together(chosen, asked) == expected
        said.add(expected if isinstance(expected, str) else "")
    assert len({text.partition(":")[0] for text in said}) > 2
    assert any(counts)


def test_an_image_that_changes_do_not_have_is_not_what_one_query_fails_for(
    queries: list[int],
) -> None:
    """Of nulls the cast fails, which are those of images that are not there: no change is asked."""
    chosen = ValueFilter("cast(coalesce(S, 'none') AS INT) > 2", Catalog(VERSIONS))
    counts = queries
    values = {"S": pa.array(["1", "7"])}
    asked = [
        AskedChanges(VERSIONS[0], lambda name, _: values[name], kind, 2)
        for kind in (Change.INSERT, Change.DELETE)
    ]
    assert [mask.tolist() for mask in chosen.select_each(asked)] == [[False, True]] * 2
    assert counts == [4, 2, 2]


def test_nothing_is_asked_of_a_table_without_the_columns(queries: list[int]) -> None:
    chosen, counts = ValueFilter("N > 2", Catalog(VERSIONS)), queries
    asked = [AskedChanges(VERSIONS[4], lambda *_: pytest.fail("asked"), Change.INSERT, 3)]
    [mask] = chosen.select_each(asked)
    assert mask.dtype == np.bool_
    assert mask.tolist() == [False] * 3
    assert not counts
