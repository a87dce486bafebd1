"""Calls of prepared statements say what the statements in full say."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sqlgen.dialects import profile_named
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Column, Op, Rows, SqlType, Table
from sqlgen.shapes import render_shaped
from sqlgen.statements import render
from tests.sqlgen.test_statements import COLUMNS, IMAGE, KEYS, OPTIONS, rows_of

POSTGRES = profile_named("postgres")


def in_full(text: str, shapes: dict[str, str], plain: str) -> str:
    """``plain`` when the call hands over exactly its literals, in their order; else what is
    wrong."""
    call = re.fullmatch(r"EXECUTE (lr_[0-9a-f]{16})\((.*)\);", text)
    if call is None:
        return text
    pieces = re.split(r"\$\d+", shapes[call[1]])
    match = re.fullmatch("(.*?)".join(map(re.escape, pieces)), plain)
    if match is None or ", ".join(match.groups()) != call[2]:
        return f"{shapes[call[1]]} with {call[2]}"
    return plain


@given(
    st.lists(st.tuples(IMAGE, IMAGE), min_size=1, max_size=6),
    st.sampled_from(Op),
    KEYS,
    OPTIONS,
    st.sampled_from([1, 2, 8]),
)
def test_a_call_is_the_statement(
    images: list[tuple[tuple[Any, ...], tuple[Any, ...]]],
    op: Op,
    key: tuple[str, ...],
    options: RenderOptions,
    worth: int,
) -> None:
    rows = rows_of(Table("S", "T", COLUMNS, key), op, images, options)
    plain, shaped = render(rows, POSTGRES, options), render_shaped(rows, POSTGRES, options, worth)
    assert shaped.rendered.outcome.tolist() == plain.outcome.tolist()
    assert {(p.row, p.column, p.found) for p in shaped.rendered.problems} == {
        (p.row, p.column, p.found) for p in plain.problems
    }
    called = [
        in_full(text, dict(shaped.shapes), full)
        for text, full in zip(shaped.rendered.text.to_pylist(), plain.text.to_pylist(), strict=True)
    ]
    assert called == plain.text.to_pylist()


def test_many_shapes_are_few_prepared_statements() -> None:
    """A hundred columns changed at random make as many shapes as rows: those are statements in
    full, and what is common is prepared."""
    columns = (
        Column("ID", SqlType.INTEGER, False),
        *(Column(f"C{n}", SqlType.INTEGER) for n in range(100)),
    )
    table, count = Table("S", "T", columns, ("ID",)), 300
    values = {column.name: pa.array(range(count), pa.int64()) for column in columns}
    changed = {
        f"C{n}": pa.array([row % 100 == n or row % 7 == n or row >= 200 for row in range(count)])
        for n in range(100)
    }
    rows = Rows(table, Op.UPDATE, count, values, values, changed)
    shaped = render_shaped(rows, POSTGRES, RenderOptions())
    assert len(shaped.shapes) == 1
    texts = shaped.rendered.text.to_pylist()
    assert [text.startswith("EXECUTE ") for text in texts] == [row >= 200 for row in range(count)]
    assert texts[:200] == render(rows, POSTGRES, RenderOptions()).text.to_pylist()[:200]
