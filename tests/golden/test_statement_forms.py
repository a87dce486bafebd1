"""What goes with statements, in every dialect, as text to be read: checks of how many rows they
touch, comparisons of texts to the letter, queries for the row that a statement finds, comments in
place of updates of excluded columns only. ``REWRITE_GOLDEN=1`` writes the file again; look at the
difference before you keep it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sqlgen.dialects import BUILT_IN, Profile, profile_named
from sqlgen.literals import Policy
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Op
from sqlgen.statements import counting_queries, left_out_comments, lookups
from tests.golden.test_shapes import TABLES, rows_of, shown

GOLDEN = Path(__file__).parent / "statement_forms.txt"
POLICY = Policy(empty_text="null", midnight="next")
TEXTS = Policy(empty_text="null", char_padding="keep")


def checked(profile: Profile) -> Iterator[str]:
    """Statements that fail where they would touch another number of rows."""
    for title, table in TABLES.items():
        for op, where in ((Op.INSERT, "key"), (Op.UPDATE, "guard"), (Op.DELETE, "key")):
            yield f"-- checked, {title}: {op.value}, --where-columns {where}"
            options = RenderOptions(
                names="exact" if title == "no key" else "lower",
                where_columns=where,
                policy=POLICY,
                assert_rows=True,
            )
            yield from shown(rows_of(table, op), profile, options)


def to_the_letter(profile: Profile) -> Iterator[str]:
    """Keys that are texts, compared by the characters they have, and as the target compares."""
    table = replace(TABLES["key"], key=("User", "ID"))
    for exact in (True, False, None):
        yield f"-- exact keys: {exact}"
        options = RenderOptions(policy=TEXTS, exact_keys=exact)
        yield from shown(rows_of(table, Op.DELETE), profile, options)


def asked(profile: Profile) -> Iterator[str]:
    """Queries for the row that is there, and for how many there are."""
    for title, table in TABLES.items():
        rows = rows_of(table, Op.DELETE)
        for names in ("lower", "exact"):
            options = RenderOptions(names=names, policy=POLICY)
            yield f"-- queries, {title}, --names {names}"
            yield from lookups(rows, profile, options).to_pylist()
            yield from counting_queries(rows, profile, options).to_pylist()


def left_out(profile: Profile) -> Iterator[str]:
    """Comments in place of updates."""
    options = RenderOptions(exclude_columns=("*.USER", "*.AMOUNT", "*.BIG", "*.RAW"), policy=POLICY)
    for table in (TABLES["key"], TABLES["key of a time and a float"]):
        yield f"-- left out, {table.name}"
        rows = rows_of(table, Op.UPDATE)
        yield from left_out_comments(rows, profile, options).to_pylist()


def lines() -> Iterator[str]:
    for dialect in BUILT_IN:
        profile = profile_named(dialect)
        yield f"== {dialect}"
        for part in (checked, to_the_letter, asked, left_out):
            yield from part(profile)


def test_forms_are_as_reviewed() -> None:
    text = "".join(f"{line}\n" for line in lines())
    if os.environ.get("REWRITE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text.splitlines() == GOLDEN.read_text(encoding="utf-8").splitlines()
