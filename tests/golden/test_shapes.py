"""Every statement shape as text, to be read like code. ``REWRITE_GOLDEN=1`` writes the file again; look at the difference before you keep it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import sqlglot

from sqlgen.dialects import profile_named
from sqlgen.literals import Policy
from sqlgen.rows import Op, Rows
from sqlgen.schema import ARROW_TYPES, Column, SqlType, Table
from sqlgen.script import script_prologue, unit_comments
from sqlgen.statements import RenderOptions, delete_all_statement, render, truncate_statement

GOLDEN = Path(__file__).parent / "shapes.postgres.sql"
POSTGRES = profile_named("postgres")

ORDERS = (
    Column("ID", SqlType.INTEGER, False),
    Column("User", SqlType.VARCHAR, True, 20),
    Column("STATE", SqlType.CHAR, True, 4),
    Column("AMOUNT", SqlType.DECIMAL, True, 9, 2),
    Column("RATE", SqlType.DOUBLE),
)
MEASURES = (
    Column("AT", SqlType.TIMESTAMP, False, 6),
    Column("SPAN", SqlType.REAL, False),
    Column("DAY", SqlType.DATE),
    Column("CLOCK", SqlType.TIME),
    Column("ZONED", SqlType.TIMESTAMP_TZ, True, 6),
    Column("RAW", SqlType.VARBINARY, True, 8),
    Column("SMALL-1", SqlType.SMALLINT),
    Column("BIG", SqlType.BIGINT),
)
TABLES = {
    "key": Table("SHOP", "ORDER", ORDERS, ("ID",)),
    "no key": Table("SHOP", "ORDER#LOG", ORDERS),
    "key of a time and a float": Table("", "MEASURE", MEASURES, ("AT", "SPAN")),
}
IMAGES: dict[tuple[Column, ...], tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {
    ORDERS: (
        [(1, "o'neil", "NEW ", "1.50", 0.1), (2, None, None, None, None), (3, "a", "OLD ", "0.00", float("inf"))],
        [(1, "tab\tback\\", "NEW ", "-2.50", 0.1), (9, "", "", "0.01", float("nan")), (3, "a", "OLD ", "0.00", float("inf"))],
    ),
    MEASURES: (
        [("0001-01-01 00:00:00.000000", 0.1, "0001-01-01", "24:00:00", "2024-02-29 10:00:00.500000+05:30", b"", -1, 2**63 - 1)],
        [("0001-01-01 00:00:00.000000", 1e-5, "9999-12-31", None, None, b"\x00\xff", None, 0)],
    ),
}


def rows_of(table: Table, op: Op) -> Rows:
    before, after = (
        {c.name: pa.array([row[place] for row in image], ARROW_TYPES[c.type]) for place, c in enumerate(table.columns)}
        for image in IMAGES[table.columns]
    )
    pairs = list(zip(*IMAGES[table.columns], strict=True))
    masks = {c.name: pa.array([b[place] != a[place] for b, a in pairs]) for place, c in enumerate(table.columns)}
    changed = {name: mask for name, mask in masks.items() if any(mask.to_pylist())}
    return Rows(
        table, op, len(pairs), {} if op is Op.INSERT else before, {} if op is Op.DELETE else after, changed if op is Op.UPDATE else {}
    )


def lines() -> Iterator[str]:
    yield script_prologue(POSTGRES, "redo").rstrip("\n")
    yield from unit_comments({"URID": pa.array(["00AB"]), "authid": pa.array(["A\n\u202eB"]), "plan": pa.array([""])}).to_pylist()
    for (title, table), names, op, where in product(TABLES.items(), ("lower", "exact"), Op, ("key", "guard", "all")):
        if op is Op.INSERT and where != "key":
            continue
        yield f"-- {title}: {op.value}, --names {names}" + ("" if op is Op.INSERT else f", --where-columns {where}")
        rendered = render(rows_of(table, op), POSTGRES, RenderOptions(names=names, where_columns=where))
        assert rendered.problems == []
        yield from (text or "-- (nothing)" for text in rendered.text.to_pylist())
    table = TABLES["key"]
    yield "-- excluded columns, blanks of CHAR kept"
    options = RenderOptions(exclude_columns=("USER", "*.AMOUNT"), policy=Policy(char_padding="keep"))
    for op in Op:
        yield from (text or "-- (nothing)" for text in render(rows_of(table, op), POSTGRES, options).text.to_pylist())
    yield "-- whole tables"
    for names in ("lower", "exact"):
        yield truncate_statement(table, POSTGRES, names)
        yield delete_all_statement(table, POSTGRES, names)


def test_shapes_are_as_reviewed() -> None:
    text = "".join(f"{line}\n" for line in lines())
    if os.environ.get("REWRITE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text.splitlines() == GOLDEN.read_text(encoding="utf-8").splitlines()


def test_every_line_is_one_statement_or_a_comment() -> None:
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        assert line.startswith("--") or len(sqlglot.parse(line, dialect="postgres")) == 1, line
        assert line.startswith("--") or line.endswith(";"), line
