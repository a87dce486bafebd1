"""Every statement shape in every dialect as text, to be read like code. ``REWRITE_GOLDEN=1`` writes
the files again; look at the difference before you keep them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from sqlgen.dialects import BUILT_IN, Profile, profile_named
from sqlgen.literals import Policy
from sqlgen.render import upsert
from sqlgen.render_options import RenderOptions
from sqlgen.schema import ARROW_TYPES, INVERSE, Column, Op, Rows, SqlType, Table
from sqlgen.script import script_prologue, unit_comments
from sqlgen.statements import Rendered, delete_all_statement, render, truncate_statement

EVERY_DIALECT = pytest.mark.parametrize("dialect", BUILT_IN)

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
PAIRS = Table("SHOP", "PAIR", ORDERS[:1] + ORDERS[3:4], ("ID", "AMOUNT"))
IMAGES: dict[tuple[Column, ...], tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {
    ORDERS: (
        [
            (1, "o'neil", "NEW ", "1.50", 0.1),
            (2, None, None, None, None),
            (3, "a", "OLD ", "0.00", float("inf")),
        ],
        [
            (1, "tab\tback\\", "NEW ", "-2.50", 0.1),
            (9, "", "", "0.01", float("nan")),
            (3, "a", "OLD ", "0.00", float("inf")),
        ],
    ),
    MEASURES: (
        [
            (
                "0001-01-01 00:00:00.000000",
                0.1,
                "0001-01-01",
                "24:00:00",
                "2024-02-29 10:00:00.500000+05:30",
                b"",
                -1,
                2**63 - 1,
            )
        ],
        [("0001-01-01 00:00:00.000000", 1e-5, "9999-12-31", None, None, b"\x00\xff", None, 0)],
    ),
    PAIRS.columns: ([(1, "1.50"), (2, "2.00")], [(1, "2.50"), (2, None)]),
}
Renderer = Callable[[Rows, Profile, RenderOptions], Rendered]


def golden(dialect: str) -> Path:
    return Path(__file__).parent / f"shapes.{dialect}.sql"


def rows_of(table: Table, op: Op) -> Rows:
    before, after = (
        {
            c.name: pa.array([row[place] for row in image], ARROW_TYPES[c.type])
            for place, c in enumerate(table.columns)
        }
        for image in IMAGES[table.columns]
    )
    pairs = list(zip(*IMAGES[table.columns], strict=True))
    masks = {
        c.name: pa.array([b[place] != a[place] for b, a in pairs])
        for place, c in enumerate(table.columns)
    }
    changed = {name: mask for name, mask in masks.items() if any(mask.to_pylist())}
    if op is Op.UPDATE:
        return Rows(table, op, len(pairs), before, after, changed, pa.array([True] * len(pairs)))
    return Rows(
        table,
        op,
        len(pairs),
        {} if op is Op.INSERT else before,
        {} if op is Op.DELETE else after,
        {},
    )


def shown(
    rows: Rows, profile: Profile, options: RenderOptions, make: Renderer = render
) -> Iterator[str]:
    rendered = make(rows, profile, options)
    problems = {problem.row: problem for problem in rendered.problems}
    for row, text in enumerate(rendered.text.to_pylist()):
        if row in problems:
            problem = problems[row]
            yield (
                f"-- {problem.code} {problem.column}: found {problem.found}; expected"
                f" {problem.expected}".replace(" : ", ": ")
            )
        else:
            yield text or "-- (nothing)"


def lines(profile: Profile) -> Iterator[str]:
    policy = Policy(empty_text="null", midnight="next")
    yield script_prologue(profile, "redo").rstrip("\n")
    yield from unit_comments(
        {"URID": pa.array(["00AB"]), "authid": pa.array(["A\n\u202eB"]), "plan": pa.array([""])}
    ).to_pylist()
    for (title, table), names, op, where in product(
        TABLES.items(), ("lower", "exact"), Op, ("key", "guard", "all")
    ):
        if op is Op.INSERT and where != "key":
            continue
        yield f"-- {title}: {op.value}, --names {names}" + (
            "" if op is Op.INSERT else f", --where-columns {where}"
        )
        yield from shown(
            rows_of(table, op),
            profile,
            RenderOptions(names=names, where_columns=where, policy=policy),
        )
        yield f"-- its inverse: {INVERSE[op].value}"
        yield from shown(
            rows_of(table, op).inverse(),
            profile,
            RenderOptions(names=names, where_columns=where, policy=policy),
        )
    table = TABLES["key"]
    yield "-- excluded columns, blanks of CHAR kept"
    options = RenderOptions(
        exclude_columns=("USER", "*.AMOUNT"), policy=Policy(char_padding="keep")
    )
    for op in Op:
        yield from shown(rows_of(table, op), profile, options)
    yield "-- whole tables"
    for names in ("lower", "exact"):
        yield truncate_statement(table, profile, names)
        yield delete_all_statement(table, profile, names)
    if profile.upsert.kind:
        yield from upserts(profile, policy)


def upserts(profile: Profile, policy: Policy) -> Iterator[str]:
    """``--upsert``: every shape of it, and what it refuses."""
    tables = {title: table for title, table in TABLES.items() if table.key} | {
        "nothing but key": PAIRS
    }
    for (title, table), names, op in product(tables.items(), ("lower", "exact"), Op):
        options = RenderOptions(names=names, policy=policy, upsert=True)
        yield f"-- upsert, {title}: {op.value}, --names {names}"
        yield from shown(rows_of(table, op), profile, options, upsert.render)
        yield f"-- its inverse: {INVERSE[op].value}"
        yield from shown(rows_of(table, op).inverse(), profile, options, upsert.render)
    yield "-- upsert: updates of which a part is known, and with excluded columns"
    rows = rows_of(TABLES["key"], Op.UPDATE)
    yield from shown(
        replace(rows, whole=pa.array([False, False, True])),
        profile,
        RenderOptions(policy=policy),
        upsert.render,
    )
    yield from shown(
        rows, profile, RenderOptions(exclude_columns=("*.AMOUNT",), policy=policy), upsert.render
    )


@EVERY_DIALECT
def test_shapes_are_as_reviewed(dialect: str) -> None:
    text = "".join(f"{line}\n" for line in lines(profile_named(dialect)))
    if os.environ.get("REWRITE_GOLDEN"):
        golden(dialect).write_text(text, encoding="utf-8")
    assert text.splitlines() == golden(dialect).read_text(encoding="utf-8").splitlines()


@EVERY_DIALECT
def test_every_line_is_one_statement_or_a_comment(dialect: str) -> None:
    profile = profile_named(dialect)
    for line in dict.fromkeys(golden(dialect).read_text(encoding="utf-8").splitlines()):
        assert line.startswith("--") or line.endswith(";"), line
        if line.startswith(("INSERT", "UPDATE", "DELETE", "TRUNCATE", "MERGE")):
            (tree,) = sqlglot.parse(line.replace(" TOP (1)", ""), dialect=profile.sqlglot)
            assert isinstance(
                tree, exp.Insert | exp.Update | exp.Delete | exp.TruncateTable | exp.Merge
            ), line
        else:
            assert line.startswith("--") or line in (profile.search_path, *profile.session), line
