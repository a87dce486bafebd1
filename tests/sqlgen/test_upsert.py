"""``--upsert``: what a statement of each dialect says, read back, and what cannot be put in
place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import replay
from replay.changes.notation import time_of
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from sqlgen.dialects import BUILT_IN, Profile, profile_named
from sqlgen.errors import SqlgenError
from sqlgen.render import upsert
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Column, Op, Rows, SqlType, Table
from sqlgen.statements import EXCLUDED_COLUMNS, NO_CHANGE, PROBLEM
from tests.support.logbuilder import Col, LogBuilder, Tab, lrsn, text_of

EVERY_DIALECT = pytest.mark.parametrize(
    "dialect", [name for name in BUILT_IN if profile_named(name).upsert.kind]
)
OPTIONS = RenderOptions(upsert=True)
COLUMNS = (
    Column("REGION", SqlType.VARCHAR, False, 4),
    Column("N", SqlType.INTEGER, False),
    Column("A", SqlType.VARCHAR, True, 9),
    Column("B", SqlType.INTEGER),
)
STOCK = Table("SHOP", "STOCK", COLUMNS, ("REGION", "N"))


def images(*rows: tuple[object, ...]) -> dict[str, pa.Array]:
    return {
        column.name: pa.array([row[place] for row in rows]) for place, column in enumerate(COLUMNS)
    }


def updates(before: dict[str, pa.Array], after: dict[str, pa.Array], table: Table = STOCK) -> Rows:
    changed = {
        name: pa.array(
            [b != a for b, a in zip(values.to_pylist(), after[name].to_pylist(), strict=True)]
        )
        for name, values in before.items()
    }
    return Rows(
        table,
        Op.UPDATE,
        len(before["N"]),
        before,
        after,
        changed,
        pa.array([True] * len(before["N"])),
    )


def parsed(text: str, profile: Profile) -> list[exp.Expr]:
    return [tree for tree in sqlglot.parse(text, dialect=profile.sqlglot) if tree is not None]


@EVERY_DIALECT
def test_a_row_that_is_absent_is_inserted_and_no_other_is_touched(dialect: str) -> None:
    profile = profile_named(dialect)
    rows = Rows(STOCK, Op.INSERT, 2, {}, images(("EU", 7, "a", None), ("EU", 8, "b\0", None)), {})
    rendered = upsert.inserts_of_absent(rows, profile, OPTIONS)
    assert rendered.outcome.tolist() == [0, 0 if profile.null_byte else PROBLEM]
    (tree,) = parsed(rendered.text[0].as_py(), profile)
    assert tree.find(exp.Update) is None
    if isinstance(tree, exp.Merge):
        (when,) = tree.args["whens"].expressions
        assert when.args["matched"] is False
    else:
        assert isinstance(tree, exp.Insert)
        (there,) = tree.find_all(exp.Exists)
        assert {each.name.upper() for each in there.find_all(exp.Column)} == {"REGION", "N"}


def test_what_is_not_written() -> None:
    rows = updates(
        images(("EU", 1, "x", 1), ("EU", 2, "x", 1)), images(("EU", 1, "x", 1), ("EU", 2, "x", 2))
    )
    every = upsert.render(rows, profile_named("postgres"), OPTIONS)
    assert every.outcome.tolist() == [NO_CHANGE, 0]
    assert every.text[0].as_py() == ""
    some = upsert.render(
        rows, profile_named("postgres"), RenderOptions(upsert=True, exclude_columns=("B",))
    )
    assert some.outcome.tolist() == [NO_CHANGE, EXCLUDED_COLUMNS]
    other = upsert.render(
        rows, profile_named("postgres"), RenderOptions(upsert=True, exclude_columns=("A",))
    )
    assert other.text.to_pylist() == [
        "",
        "UPDATE shop.stock SET b = 2 WHERE region = 'EU' AND n = 2;",
    ]


def test_an_empty_text_in_the_key_is_refused_where_it_becomes_null() -> None:
    options = replace(OPTIONS, policy=replace(OPTIONS.policy, empty_text="null"))
    rendered = upsert.render(
        Rows(STOCK, Op.INSERT, 2, {}, images(("", 1, "", 1), ("EU", 1, "", 1)), {}),
        profile_named("oracle"),
        options,
    )
    assert rendered.outcome.tolist() == [PROBLEM, 0]
    assert [(problem.row, problem.code, problem.column) for problem in rendered.problems] == [
        (0, "LR3013", "REGION")
    ]
    assert (
        rendered.text[1]
        .as_py()
        .startswith(
            "MERGE INTO SHOP.STOCK t USING DUAL ON (t.REGION = 'EU' AND t.N = 1) WHEN MATCHED"
        )
    )


@pytest.mark.parametrize("op", Op)
def test_a_table_without_a_key_is_refused(op: Op) -> None:
    with pytest.raises(SqlgenError, match=r"found SHOP\.STOCK without a key") as refused:
        upsert.render(
            Rows(
                replace(STOCK, key=()),
                op,
                1,
                images(("EU", 1, "", 1)),
                images(("EU", 1, "", 1)),
                {},
            ),
            profile_named("mysql"),
            OPTIONS,
        )
    assert refused.value.code == "LR3013"
    assert "--exclude-table SHOP.STOCK" in refused.value.hint


def test_tables_to_leave_out_are_named_as_a_shell_takes_them() -> None:
    with pytest.raises(SqlgenError) as refused:
        upsert.check_keys([replace(STOCK, key=(), name="LOST & FOUND")])
    assert "--exclude-table 'SHOP.LOST & FOUND'" in str(refused.value.hint)


def test_rolled_back_work_stays_a_comment_line_by_line(tmp_path: Path) -> None:
    table = Tab("T", (Col("ID", "INT", 4, key=1), Col("N", "INT", 4)))
    log = LogBuilder((table,))
    unit = log.unit()
    unit.update(table, (1, 1), (2, 1), LOGRECDISP="S")
    unit.update(table, (3, 1), (4, 1))
    options = ScriptOptions(trace=True, render=OPTIONS)
    control, data = log.write(tmp_path)
    bundle = replay.write_script(
        control, data, tmp_path / "out", selection=Selection(include_aborted=True), options=options
    )
    lines = [line for line in text_of(bundle).splitlines() if "testown.t" in line]
    assert [line.split(" testown.t")[0] for line in lines] == [
        "-- rolled back, not applied: DELETE FROM", "-- rolled back, not applied: INSERT INTO",
        "DELETE FROM", "INSERT INTO",
    ]  # fmt: skip
    assert bundle.manifest["statements"] == 2


PAIR = Tab("T", (Col("ID", "INT", 4, key=1), Col("A", "INT", 4), Col("B", "INT", 4)))


@pytest.mark.parametrize("later", ["stays", "has an earlier time", "is damaged", "is undone"])
def test_undo_leaves_what_a_later_unit_wrote(tmp_path: Path, later: str) -> None:
    """A whole row from before a change would take back a later one to another column, where that
    stays. A selection by time may leave one that committed later, on a member whose clock is
    behind."""
    log = LogBuilder((PAIR,))
    log.unit(commit=100).update(PAIR, (1, 1, 1), (1, 2, 1))
    early = {"UORCOMMITTIMESTAMP": "2024-03-15 10:19:00"} if later == "has an earlier time" else {}
    damaged = {"LOGRECDISP": "A"} if later == "is damaged" else {}
    log.unit(commit=200, **early).update(PAIR, (1, 2, 1), (1, 2, 2), **damaged)
    control, data = log.write(tmp_path)
    selection = {
        "stays": Selection(until_position=lrsn(150)),
        "has an earlier time": Selection(from_time=time_of("2024-03-15 10:20:00", False)),
    }.get(later, Selection())
    options = ScriptOptions(render=OPTIONS)
    bundle = replay.write_script(
        control, data, tmp_path / "out", mode="undo", selection=selection, options=options
    )
    lines = [line for line in text_of(bundle).splitlines() if "testown.t" in line]
    if later == "is undone":
        assert [line.partition(" ON CONFLICT")[0] for line in lines] == [
            "INSERT INTO testown.t (id, a, b) VALUES (1, 2, 1)",
            "INSERT INTO testown.t (id, a, b) VALUES (1, 1, 1)",
        ]  # fmt: skip
    else:
        assert lines == ["UPDATE testown.t SET a = 1 WHERE id = 1;"]
