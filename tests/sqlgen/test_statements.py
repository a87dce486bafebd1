"""A row's statement does not depend on the other rows of its batch, and each statement sets and
finds what it must."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlgen.dialects import profile_named
from sqlgen.literals import Policy
from sqlgen.render_options import RenderOptions, columns_needed
from sqlgen.schema import ARROW_TYPES, INVERSE, Column, Op, Rows, SqlType, Table
from sqlgen.statements import EMITTED, EXCLUDED_COLUMNS, NO_CHANGE, PROBLEM, render

POSTGRES = profile_named("postgres")
COLUMNS = (
    Column("ID", SqlType.INTEGER, False),
    Column("NAME", SqlType.VARCHAR, True, 9),
    Column("CODE", SqlType.CHAR, True, 3),
    Column("RATE", SqlType.REAL),
    Column("RAW", SqlType.BINARY, True, 2),
    Column("MADE", SqlType.TIMESTAMP, True, 12),
)
VALUES = {
    "ID": st.integers(1, 3),
    "NAME": st.sampled_from([None, "", "a'b", "x\n\\", "a\0b", "é"]),
    "CODE": st.sampled_from([None, "A  ", "\x01  "]),
    "RATE": st.sampled_from([None, 0.5, -0.0, float("nan"), float("inf")]),
    "RAW": st.sampled_from([None, b"", b"\x00\xff"]),
    "MADE": st.sampled_from(
        [None, "2024-02-29 10:00:00.000000000000", "2024-02-29 10:00:00.000000000001"]
    ),
}
IMAGE = st.tuples(*VALUES.values())
KEYS = st.sampled_from([("ID",), ("NAME", "RATE"), ()])
OPTIONS = st.builds(
    RenderOptions,
    where_columns=st.sampled_from(["key", "guard", "all"]),
    exclude_columns=st.sampled_from([(), ("CODE", "MADE")]),
    policy=st.builds(
        Policy,
        nul=st.sampled_from(["refuse", "space"]),
        timestamps=st.sampled_from(["refuse", "round"]),
    ),
)


def rows_of(
    table: Table,
    op: Op,
    images: list[tuple[tuple[Any, ...], tuple[Any, ...]]],
    options: RenderOptions,
) -> Rows:
    """Rows as they are decoded: only the columns that are needed, and of an update only the values
    that changed."""
    before, after = columns_needed(table, op, options)

    def column(side: int, place: int, mask: list[bool] | None = None) -> pa.Array:
        values = [
            pair[side][place] if mask is None or mask[row] else None
            for row, pair in enumerate(images)
        ]
        return pa.array(values, ARROW_TYPES[COLUMNS[place].type])

    place_of = {c.name: place for place, c in enumerate(COLUMNS)}
    masks = (
        {
            c.name: [repr(b[place]) != repr(a[place]) for b, a in images]
            for place, c in enumerate(COLUMNS)
        }
        if op is Op.UPDATE
        else {}
    )
    masks = {name: mask for name, mask in masks.items() if any(mask)}
    befores = {name: column(0, place_of[name]) for name in before}
    afters = {
        name: column(1, place_of[name], masks.get(name))
        for name in after
        if op is Op.INSERT or name in masks
    }
    return Rows(
        table,
        op,
        len(images),
        befores,
        afters,
        {name: pa.array(mask) for name, mask in masks.items()},
    )


@given(
    st.lists(st.tuples(IMAGE, IMAGE), min_size=1, max_size=5),
    st.sampled_from(Op),
    KEYS,
    OPTIONS,
)
def test_a_row_alone_reads_as_in_its_batch(
    images: list[tuple[tuple[Any, ...], tuple[Any, ...]]],
    op: Op,
    key: tuple[str, ...],
    options: RenderOptions,
) -> None:
    table = Table("S", "T", COLUMNS, key)
    batch = render(rows_of(table, op, images, options), POSTGRES, options)
    alone = [render(rows_of(table, op, [pair], options), POSTGRES, options) for pair in images]
    assert batch.text.to_pylist() == [one.text[0].as_py() for one in alone]
    assert batch.outcome.tolist() == [int(one.outcome[0]) for one in alone]
    assert {problem.row for problem in batch.problems} == set(
        (batch.outcome == PROBLEM).nonzero()[0].tolist()
    )
    for text, outcome in zip(batch.text.to_pylist(), batch.outcome.tolist(), strict=True):
        assert (text != "") == (outcome == EMITTED)
        assert "\n" not in text
        assert " SET ," not in text
        assert "SET  WHERE" not in text


def test_what_becomes_of_an_update() -> None:
    table, options = Table("S", "T", COLUMNS, ("ID",)), RenderOptions(exclude_columns=("CODE",))
    same = (1, "a", "A  ", 0.5, b"", None)
    images = [
        (same, same),
        (same, (1, "a", "B  ", 0.5, b"", None)),
        (same, (1, None, "B  ", 0.5, b"", None)),
        (same, (1, "a\0", "A  ", 0.5, b"", None)),
    ]
    rendered = render(rows_of(table, Op.UPDATE, images, options), POSTGRES, options)
    assert rendered.outcome.tolist() == [NO_CHANGE, EXCLUDED_COLUMNS, EMITTED, PROBLEM]
    assert rendered.text.to_pylist() == ["", "", "UPDATE s.t SET name = NULL WHERE id = 1;", ""]


def test_a_value_that_is_not_written_is_no_problem() -> None:
    table, options = Table("S", "T", COLUMNS, ("ID",)), RenderOptions()
    names = pa.array(["a\0", "b"])
    rows = Rows(
        table,
        Op.UPDATE,
        2,
        {"ID": pa.array([1, 2])},
        {"NAME": names},
        {"NAME": pa.array([False, True])},
    )
    rendered = render(rows, POSTGRES, options)
    assert rendered.problems == []
    assert rendered.text.to_pylist() == ["", "UPDATE s.t SET name = 'b' WHERE id = 2;"]


@pytest.mark.parametrize("schema", ["S", "ÄÖÜ x", ""])
@pytest.mark.parametrize("names", ["lower", "exact"])
def test_the_first_comma_goes_whatever_the_name(schema: str, names: str) -> None:
    table = Table(schema, "Tä", COLUMNS, ("ID",))
    rows = Rows(
        table,
        Op.UPDATE,
        1,
        {"ID": pa.array([1])},
        {"NAME": pa.array(["ß"])},
        {"NAME": pa.array([True])},
    )
    text = render(rows, POSTGRES, RenderOptions(names=names)).text[0].as_py()
    set_list = '"NAME" = \'ß\' WHERE "ID" = 1;' if names == "exact" else "name = 'ß' WHERE id = 1;"
    assert text.endswith(f'ä" SET {set_list}')


@pytest.mark.parametrize("op", list(Op))
def test_inverse_changes_places(op: Op) -> None:
    rows = Rows(
        Table("S", "T", COLUMNS),
        op,
        1,
        {"ID": pa.array([1])},
        {"ID": pa.array([2])},
        {"ID": pa.array([True])},
    )
    assert rows.inverse().op is INVERSE[op]
    assert (rows.inverse().before, rows.inverse().after) == (rows.after, rows.before)
    assert rows.inverse().changed == rows.changed
    assert rows.inverse().inverse() == rows
