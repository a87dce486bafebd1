"""What statements are put together from: which columns they name and find rows by, pieces and their
types, words of what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sqlgen import render_options, statements
from sqlgen.dialects import BUILT_IN, Profile, profile_named
from sqlgen.errors import SqlgenError
from sqlgen.literals import Policy, ValueProblem
from sqlgen.render_options import RenderOptions, columns_needed
from sqlgen.schema import ARROW_TYPES, Column, Op, Rows, SqlType, Table
from sqlgen.statements import heads, render

POSTGRES = profile_named("postgres")
COLUMNS = (
    Column("ID", SqlType.INTEGER, False),
    Column("Name", SqlType.VARCHAR, True, 9),
    Column("BAL", SqlType.DECIMAL, True, 5, 2),
    Column("RATE", SqlType.DOUBLE),
)
KEYED, BARE = Table("Own", "T", COLUMNS, ("ID",)), Table("Own", "T", COLUMNS)
ALL = ["ID", "Name", "BAL", "RATE"]


def rows_of(table: Table, op: Op, *pairs: tuple[tuple[Any, ...], tuple[Any, ...]]) -> Rows:
    """Rows with both images whole."""

    def image(side: int) -> dict[str, pa.Array]:
        return {
            c.name: pa.array([pair[side][place] for pair in pairs], ARROW_TYPES[c.type])
            for place, c in enumerate(table.columns)
        }

    changed = {
        c.name: pa.array([before[place] != after[place] for before, after in pairs], pa.bool_())
        for place, c in enumerate(table.columns)
    }
    return Rows(table, op, len(pairs), image(0), image(1), changed if op is Op.UPDATE else {})


ONE = (1, "a", "1.50", 0.5)
TWO = (1, "b", "2.50", 0.5)


# -- options and columns
# -------------------------------------------------------------------------------------------------


def test_options_as_data() -> None:
    plain = {
        "where_columns": "key", "upsert": False, "nul": "refuse", "timestamps": "refuse",
        "char_padding": "strip", "midnight": "refuse", "empty_text": "keep",
    }  # fmt: skip
    found = RenderOptions().describe()
    assert {**found, **dict.fromkeys(plain)} == dict.fromkeys(plain), "no others"
    assert (found["where_columns"], found["upsert"], found["nul"]) == ("key", False, "refuse")
    policy = Policy(
        nul="strip", timestamps="round", char_padding="keep", midnight="next", empty_text="null"
    )
    others = RenderOptions(
        where_columns="all", upsert=True, assert_rows=True, free_keys=True,
        policy=replace(policy, reals="double"),
    )  # fmt: skip
    assert others.describe() == {
        "where_columns": "all", "upsert": True, "nul": "strip", "timestamps": "round",
        "char_padding": "keep", "midnight": "next", "empty_text": "null", "reals": "double",
        "assert": "rows", "keys": "free",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "excluded", "shown"),
    [
        ((), (), ALL),
        (("id", "NAME"), (), ["ID", "Name"]),
        (("own.t.b*", "Id"), (), ["ID", "BAL"]),
        ((), ("name", "OWN.T.RATE"), ["ID", "BAL"]),
        (("*",), ("B*",), ["ID", "Name", "RATE"]),
        (("OTHER.T.*", "ID"), ("OWN.OTHER.*",), ["ID"]),
        (("T.BAL",), (), []),
    ],
)
def test_which_columns_are_shown(
    columns: tuple[str, ...], excluded: tuple[str, ...], shown: list[str]
) -> None:
    options = RenderOptions(columns=columns, exclude_columns=excluded)
    assert [column.name for column in render_options.shown_columns(KEYED, options)] == shown


@pytest.mark.parametrize(
    ("excluded", "shown"),
    [("ID", ["Id", "V"]), ("OWN.T.Id", ["ID", "V"]), ("id", ["V"]), ("*d", ["ID", "V"])],
)
def test_a_glob_takes_the_column_as_it_is_spelled(excluded: str, shown: list[str]) -> None:
    columns = tuple(Column(name, SqlType.INTEGER) for name in ("Id", "ID", "V"))
    options = RenderOptions(exclude_columns=(excluded,))
    found = render_options.shown_columns(Table("OWN", "T", columns), options)
    assert [column.name for column in found] == shown


@pytest.mark.parametrize(
    ("op", "where", "keyed", "bare"),
    [
        (Op.INSERT, "key", ([], ALL), ([], ALL)),
        (Op.INSERT, "all", ([], ALL), ([], ALL)),
        (Op.DELETE, "key", (["ID"], []), (ALL, [])),
        (Op.DELETE, "guard", (ALL, []), (ALL, [])),
        (Op.DELETE, "all", (ALL, []), (ALL, [])),
        (Op.UPDATE, "key", (["ID"], ALL), (ALL, ALL)),
        (Op.UPDATE, "guard", (ALL, ALL), (ALL, ALL)),
        (Op.UPDATE, "all", (ALL, ALL), (ALL, ALL)),
    ],
)
def test_which_columns_are_needed(
    op: Op, where: str, keyed: tuple[list[str], ...], bare: tuple[list[str], ...]
) -> None:
    options = RenderOptions(where_columns=where)
    assert columns_needed(KEYED, op, options) == keyed
    assert columns_needed(BARE, op, options) == bare
    fewer = RenderOptions(where_columns=where, exclude_columns=("BAL",))
    for table, wanted in ((KEYED, keyed), (BARE, bare)):
        assert columns_needed(table, op, fewer) == tuple(
            [name for name in side if name != "BAL"] for side in wanted
        )


@pytest.mark.parametrize(
    ("table", "excluded", "what"),
    [
        (KEYED, ("ID",), "key column ID"),
        (replace(KEYED, key=("BAL", "ID", "RATE")), ("RATE", "ID"), "key column ID"),
        (KEYED, ("*",), "key column ID"),
        (BARE, ("*",), "every column"),
    ],
)
def test_what_finds_a_row_must_stay(table: Table, excluded: tuple[str, ...], what: str) -> None:
    with pytest.raises(SqlgenError) as refused:
        render_options.identity(table, RenderOptions(exclude_columns=excluded))
    assert (refused.value.code, refused.value.message, refused.value.hint) == (
        "LR3006",
        f"found {what} of Own.T excluded; expected what finds a row to stay",
        "Name key columns in --columns too, and none of them in --exclude-columns",
    )


@pytest.mark.parametrize(
    ("table", "excluded", "hidden"),
    [
        (BARE, (), ""),
        (BARE, ("BAL", "RATE"), "BAL"),
        (BARE, ("NAME",), "Name"),
        (KEYED, ("BAL",), ""),
    ],
)
def test_what_a_row_without_a_key_lacks(
    table: Table, excluded: tuple[str, ...], hidden: str
) -> None:
    options = RenderOptions(exclude_columns=excluded)
    assert render_options.lacking_identity(table, options) == hidden


def _checks(profile: Profile, options: RenderOptions) -> bool:
    """Whether the check of a delete stands before or around it when it is rendered."""
    around = statements.checked_heads(KEYED, Op.DELETE, profile, options)
    usual = statements.heads(KEYED, Op.DELETE, False, profile, options.names)
    return around != usual or statements.query_before(KEYED, profile, options) is not None


def test_which_checks_are_written_with_a_statement() -> None:
    asked = RenderOptions(assert_rows=True)
    with_it = {dialect for dialect in BUILT_IN if _checks(profile_named(dialect), asked)}
    assert with_it == {"postgres", "duckdb", "db2", "redshift", "spark", "trino"}
    for dialect in BUILT_IN:
        assert not _checks(profile_named(dialect), RenderOptions())
    assert not _checks(replace(POSTGRES, row_check=None), asked)


@pytest.mark.parametrize("dialect", ["postgres", "db2"])
def test_a_statement_without_a_check(dialect: str) -> None:
    """Where nobody asked for one, and where the dialect has none."""
    profile = profile_named(dialect)
    rows = rows_of(KEYED, Op.DELETE, (ONE, ONE))
    (plain,) = render(rows, profile, RenderOptions()).text.to_pylist()
    assert plain.upper() == "DELETE FROM OWN.T WHERE ID = 1;"
    asked = RenderOptions(assert_rows=True)
    assert render(rows, replace(profile, row_check=None), asked).text.to_pylist() == [plain]
    assert plain.removesuffix(";") in render(rows, profile, asked).text[0].as_py() != plain


# -- statements
# -------------------------------------------------------------------------------------------------


def test_values_of_columns_that_the_target_would_number() -> None:
    (text,) = render(
        rows_of(KEYED, Op.INSERT, (ONE, ONE)), POSTGRES, RenderOptions(keep_identity=True)
    ).text
    assert text.as_py() == (
        "INSERT INTO own.t (id, name, bal, rate) OVERRIDING SYSTEM VALUE VALUES"
        " (1, 'a', 1.50, '0.5');"
    )


@pytest.mark.parametrize("op", list(Op))
@pytest.mark.parametrize("table", [KEYED, BARE])
def test_types_of_what_is_rendered(op: Op, table: Table) -> None:
    """Of several rows, of one and of none, also where one has no statement."""
    options = RenderOptions()
    bad = (2, "x\0", "1.00", 0.5)
    for pairs in ([(ONE, TWO), (ONE, TWO)], [(ONE, ONE), (bad, bad), (ONE, TWO)], []):
        rendered = render(rows_of(table, op, *pairs), POSTGRES, options)
        assert rendered.text.type == pa.string()
        assert rendered.outcome.dtype == np.uint8
        assert len(rendered.text) == len(rendered.outcome) == len(pairs)
        assert rendered.text.null_count == 0


@pytest.mark.parametrize("dialect", ["trino", "snowflake", "bigquery", "redshift", "spark"])
@pytest.mark.parametrize("op", [Op.UPDATE, Op.DELETE])
def test_rows_that_cannot_be_told_apart(dialect: str, op: Op) -> None:
    profile = profile_named(dialect)
    rendered = render(rows_of(BARE, op, (ONE, TWO), (TWO, ONE)), profile, RenderOptions())
    assert rendered.problems == [
        ValueProblem(
            row,
            "",
            "a row of Own.T, which has no key",
            f"a key: {dialect} has no way to change one of several equal rows",
            "Leave the table out (--exclude-table), or give it a unique index",
            "LR3003",
        )
        for row in (0, 1)
    ]
    assert rendered.text.to_pylist() == ["", ""]
    assert rendered.outcome.tolist() == [statements.PROBLEM] * 2
    assert render(rows_of(KEYED, op, (ONE, TWO)), profile, RenderOptions()).problems == []


def test_a_guard_says_nothing_of_values_that_did_not_change() -> None:
    """A problem of a value that stands in no statement is none; one that does is told once."""
    bad = (2, "a\0", "1.00", 0.5)
    options = RenderOptions(where_columns="guard")
    rows = rows_of(KEYED, Op.UPDATE, (ONE, TWO), (bad, (2, "a\0", "2.00", 0.5)))
    rendered = render(rows, POSTGRES, options)
    assert rendered.problems == []
    assert rendered.text.to_pylist() == [
        "UPDATE own.t SET name = 'b', bal = 2.50 WHERE id = 1 AND name = 'a' AND bal = 1.50;",
        "UPDATE own.t SET bal = 2.00 WHERE id = 2 AND bal = 1.00;",
    ]
    rows = rows_of(KEYED, Op.UPDATE, (bad, (2, "b", "1.00", 0.5)), (ONE, TWO))
    rendered = render(rows, POSTGRES, options)
    assert [(problem.row, problem.column) for problem in rendered.problems] == [(0, "Name")]
    assert rendered.outcome.tolist() == [statements.PROBLEM, statements.EMITTED]


# -- pieces
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["a", "b"], ["ab", "ab"]),
        (["a", pa.array(["x", "y"]), "b", "c", pa.array(["1", "2"])], ["axbc1", "aybc2"]),
        ([pa.array(["x", "y"])], ["x", "y"]),
        ([pa.array(["x", "y"]), "", "z"], ["xz", "yz"]),
        ([], ["", ""]),
    ],
)
def test_pieces_are_put_together(parts: list[Any], expected: list[str]) -> None:
    found = statements.joined(iter(parts), 2)
    assert found.type == pa.string()
    assert found.to_pylist() == expected


def test_no_rows_have_no_texts() -> None:
    for parts in ([], ["a"], [pa.array([], pa.string()), "a"]):
        found = statements.joined(parts, 0)
        assert (found.type, len(found)) == (pa.string(), 0)


def test_rows_with_a_problem_or_another_outcome_have_no_statement() -> None:
    codes = statements.EMITTED, statements.NO_CHANGE, statements.EXCLUDED_COLUMNS
    problem = ValueProblem(3, "C", "found", "expected", "hint", "LR3001")
    outcome = np.array([*codes, statements.EMITTED], np.uint8)
    found = statements.finish(pa.array(["a", "b", "c", "d"]), outcome, [problem])
    assert found.text.to_pylist() == ["a", "", "", ""]
    assert found.outcome.tolist() == [*codes, statements.PROBLEM]
    assert found.problems == [problem]


@pytest.mark.parametrize(
    ("dialect", "taken", "locator"),
    [
        ("sqlite", [], "_rowid_"),
        ("sqlite", ["_ROWID_"], "rowid"),
        ("sqlite", ["_rowid_", "ROWID"], "oid"),
        ("sqlite", ["_rowid_", "ROWID", "OID"], None),
        ("duckdb", [], "rowid"),
        ("duckdb", ["RowId"], None),
        ("db2", ["RID"], "RID(one)"),
        ("postgres", ["ROWID"], "ctid"),
    ],
)
def test_a_row_is_told_by_its_number_and_by_no_column_called_so(
    dialect: str, taken: list[str], locator: str | None
) -> None:
    columns = tuple(Column(name, SqlType.INTEGER) for name in (*taken, "N"))
    table = Table("S", "T", columns)
    if locator is None:
        with pytest.raises(SqlgenError, match=r"S\.T") as caught:
            heads(table, Op.DELETE, True, profile_named(dialect), "lower")
        assert caught.value.code == "LR3003"
    else:
        head = heads(table, Op.DELETE, True, profile_named(dialect), "lower")
        assert locator in head.begin


@pytest.mark.parametrize(
    ("kind", "length", "values", "policy"),
    [
        (SqlType.VARCHAR, 9, ("a\0", "a"), Policy(nul="strip")),
        (SqlType.VARCHAR, 9, ("a\0", "a "), Policy(nul="space")),
        (SqlType.TIME, 0, ("24:00:00", "00:00:00"), Policy(midnight="next")),
        (
            SqlType.TIMESTAMP,
            6,
            ("2024-03-15 24:00:00.000000", "2024-03-16 00:00:00.000000"),
            Policy(midnight="next"),
        ),
        (
            SqlType.TIMESTAMP,
            9,
            ("2024-03-15 10:20:30.000000001", "2024-03-15 10:20:30.000000000"),
            Policy(timestamps="truncate"),
        ),
        (
            SqlType.TIMESTAMP,
            9,
            ("2024-03-15 10:20:30.000000499", "2024-03-15 10:20:30.000000000"),
            Policy(timestamps="round"),
        ),
    ],
)
@pytest.mark.parametrize("op", [Op.INSERT, Op.UPDATE, Op.DELETE])
@pytest.mark.parametrize("upsert", [False, True])
def test_no_policy_makes_one_key_of_two(
    op: Op, upsert: bool, kind: SqlType, length: int, values: tuple[str, str], policy: Policy
) -> None:
    """The same values outside the key are changed as the policy says."""
    dialect = (
        "mysql" if kind is SqlType.TIMESTAMP else "tsql" if kind is SqlType.TIME else "postgres"
    )
    profile = profile_named(dialect)
    columns = Column("K", kind, False, length), Column("V", kind, True, length)
    table = Table("S", "T", columns, ("K",))
    odd, plain = values
    pairs = [((odd, plain), (odd, odd)), ((plain, plain), (plain, odd))]
    rows = rows_of(table, op, *pairs)
    made = render(rows, profile, RenderOptions(policy=policy, upsert=upsert))
    assert {problem.row for problem in made.problems} == {0}
    assert {problem.column for problem in made.problems} == {"K"}
    assert all("of a key" in problem.hint for problem in made.problems)
