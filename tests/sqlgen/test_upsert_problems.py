"""Problems of ``--upsert``: of rows that are written, each once, and of no others."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from sqlgen.dialects import profile_named
from sqlgen.errors import SqlgenError
from sqlgen.render import upsert
from sqlgen.render_options import RenderOptions
from sqlgen.schema import ARROW_TYPES, Column, Op, Rows, SqlType, Table
from sqlgen.statements import NO_CHANGE, PROBLEM, Rendered

#: NUL cannot be said in PostgreSQL; every ODD value is a problem where it is written.
ODD = "x\0"
COLUMNS = (
    Column("K", SqlType.VARCHAR, False, 4),
    Column("A", SqlType.VARCHAR, True, 9),
    Column("B", SqlType.INTEGER),
)
ITEM = Table("SHOP", "ITEM", COLUMNS, ("K",))
Row = tuple[str, str | None, int | None]


def render(
    before: list[Row], after: list[Row], whole: list[bool] | None = None, **options: object
) -> Rendered:
    sides = [
        {column.name: pa.array([row[at] for row in rows]) for at, column in enumerate(COLUMNS)}
        for rows in (before, after)
    ]
    changed = {
        column.name: pa.array([one[at] != two[at] for one, two in zip(before, after, strict=True)])
        for at, column in enumerate(COLUMNS)
    }
    rows = Rows(
        ITEM, Op.UPDATE, len(before), *sides, changed, pa.array(whole or [True] * len(before))
    )
    chosen = replace(RenderOptions(upsert=True), **options)  # type: ignore[arg-type]
    return upsert.render(rows, profile_named("postgres"), chosen)


def rows_of(rendered: Rendered) -> list[tuple[int, str]]:
    return sorted((problem.row, problem.column) for problem in rendered.problems)


@pytest.mark.parametrize("whole", [True, False])
def test_a_row_that_did_not_change_has_no_problem(whole: bool) -> None:
    same, other = ("k", ODD, 1), ("l", "y", 1)
    rendered = render([same, other], [same, ("l", "y", 2)], [whole, True])
    assert rendered.outcome.tolist() == [NO_CHANGE, 0]
    assert rows_of(rendered) == []


@pytest.mark.parametrize("whole", [[True, True], [True, False], [False, True], [False, False]])
def test_a_row_that_is_written_has_each_problem_once(whole: list[bool]) -> None:
    rendered = render([("k", "a", 1), ("l", "b", 1)], [("k", ODD, 1), ("l", ODD, 1)], whole)
    assert rendered.outcome.tolist() == [PROBLEM, PROBLEM]
    assert rows_of(rendered) == [(0, "A"), (1, "A")]


def test_an_old_key_that_cannot_be_said_matters_where_it_is_deleted() -> None:
    """Of three rows with such keys, one stays as it is, one keeps its key, one gets another."""
    before: list[Row] = [(ODD, "a", 1), ("l", "a", 1), (ODD, "a", 1)]
    after: list[Row] = [(ODD, "a", 1), ("l", "a", 2), ("m", "a", 1)]
    rendered = render(before, after)
    assert rendered.outcome.tolist() == [NO_CHANGE, 0, PROBLEM]
    assert rows_of(rendered) == [(2, "K")]


def test_a_key_that_changes_needs_the_whole_row() -> None:
    """Only where the row is written, and only where a part of it is known."""
    before: list[Row] = [("k", "a", 1), ("l", "a", 1), ("m", "a", 1), ("n", "a", 1)]
    after: list[Row] = [("k", "a", 1), ("l", "a", 2), ("x", "a", 1), ("y", "a", 1)]
    rendered = render(before, after, [False, False, False, True])
    assert rendered.outcome.tolist() == [NO_CHANGE, 0, PROBLEM, 0]
    assert [(problem.row, problem.code) for problem in rendered.problems] == [(2, "LR3013")]
    nothing_whole = render(before[:3], after[:3], [False, False, False])
    (problem,) = nothing_whole.problems
    assert (problem.row, problem.code) == (2, "LR3013")
    assert problem.hint == (
        "Leave --upsert away, or select all columns and changes of the table, or leave the table"
        " out (--exclude-table)"
    )


def test_without_any_whole_row_changes_of_left_out_columns_are_no_problem() -> None:
    before: list[Row] = [("k", "a", 1), ("l", "a", 1)]
    after: list[Row] = [("k", ODD, 1), ("l", "a", 2)]
    rendered = render(before, after, exclude_columns=("A",))
    assert rendered.problems == []
    assert rendered.text.to_pylist()[1] == "UPDATE shop.item SET b = 2 WHERE k = 'l';"


@pytest.mark.parametrize(("count", "more"), [(1, ""), (20, ""), (21, " and 1 more")])
def test_tables_without_a_key_are_named_up_to_twenty(count: int, more: str) -> None:
    names = [f"T{number:02}" for number in range(count)]
    keyless = [Table("SHOP", name, COLUMNS, ()) for name in names]
    with pytest.raises(SqlgenError) as refused:
        upsert.check_keys([ITEM, *reversed(keyless), keyless[0]])
    shown = ", ".join(f"SHOP.{name}" for name in names[:20])
    assert refused.value.message.startswith(f"found {shown}{more} without a key; expected a key in")
    assert refused.value.hint.count("--exclude-table SHOP.T") == min(count, 20)
    upsert.check_keys([ITEM])


def test_a_null_in_the_key_says_what_to_do() -> None:
    rows = Rows(
        ITEM,
        Op.INSERT,
        1,
        {},
        {column.name: pa.array([None], ARROW_TYPES[column.type]) for column in COLUMNS},
        {},
    )
    (problem,) = upsert.render(rows, profile_named("postgres"), RenderOptions(upsert=True)).problems
    assert (problem.row, problem.column, problem.found) == (0, "K", "NULL in the key")
    assert problem.expected.startswith("a value in every column of the key")
    assert "--exclude-table" in problem.hint
