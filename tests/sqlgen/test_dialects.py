"""What differs between dialects, value by value: each line is a way in which a script would have
been wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
import sqlglot

from sqlgen import ddl
from sqlgen.dialects import BUILT_IN, REFUSED, Profile, profile_named
from sqlgen.errors import SqlgenError
from sqlgen.literals import Policy, ValueProblem, literals
from sqlgen.names import check_collisions, identifier
from sqlgen.render_options import RenderOptions
from sqlgen.schema import ARROW_TYPES, Column, Op, Rows, SqlType, Table
from sqlgen.statements import render
from sqlgen.structure import Action, StructureChange, statements
from tests.support.places import ROOT

EVERY_DIALECT = pytest.mark.parametrize("dialect", BUILT_IN)


def written(
    dialect: str, value: Any, kind: SqlType, length: int = 6, policy: Policy | None = None
) -> tuple[str, list[ValueProblem]]:
    column = Column("C", kind, True, length)
    text, problems = literals(
        pa.array([value], ARROW_TYPES[kind]), column, profile_named(dialect), policy or Policy()
    )
    return text[0].as_py(), problems


@pytest.mark.parametrize(
    ("dialect", "value", "kind"),
    [
        ("mysql", float("inf"), SqlType.DOUBLE),
        ("sqlite", float("nan"), SqlType.DOUBLE),
        ("tsql", float("-inf"), SqlType.REAL),
        ("bigquery", float("nan"), SqlType.REAL),
        ("oracle", "", SqlType.VARCHAR),
        ("oracle", b"", SqlType.VARBINARY),
        ("oracle", "é" * 2001, SqlType.VARCHAR),
        ("oracle", bytes(2001), SqlType.VARBINARY),
        ("tsql", "a\0b", SqlType.VARCHAR),
        ("tsql", "24:00:00", SqlType.TIME),
        ("trino", "24:00:00", SqlType.TIME),
        ("mysql", "2024-02-29 24:00:00.000000", SqlType.TIMESTAMP),
        ("oracle", "2024-02-29 10:00:00.000000-13:00", SqlType.TIMESTAMP_TZ),
    ],
)
def test_what_cannot_be_said_is_refused(dialect: str, value: Any, kind: SqlType) -> None:
    _, problems = written(dialect, value, kind)
    assert [(problem.row, problem.code) for problem in problems] == [(0, "LR3001")]
    assert problems[0].hint


def test_names_that_differ_in_case_only() -> None:
    """Where quotes do not keep them apart, rows of two tables would end in one."""
    columns = (Column("ID", SqlType.INTEGER), Column("Id", SqlType.INTEGER))
    pair, two = Table("S", "T", columns), [Table("S", n, columns[:1]) for n in "Tt"]
    refused: dict[str, list[str]] = {"columns": [], "tables": []}
    for dialect in BUILT_IN:
        for what, tables in (("columns", [pair]), ("tables", two)):
            with pytest.raises(SqlgenError, match=f"found {what}"):
                check_collisions(tables, profile_named(dialect), "lower")
            try:
                check_collisions(tables, profile_named(dialect), "exact")
            except SqlgenError as error:
                refused[what] += [dialect] * ("another name (--mapping" in error.hint)
    assert refused == {
        "columns": ["sqlite", "duckdb", "mysql", "mariadb", "bigquery", "spark", "trino"],
        "tables": ["sqlite", "duckdb", "spark", "trino"],
    }


def test_blanks_at_the_end_of_char() -> None:
    """U+3000, which fills graphic columns of EBCDIC and ASCII tables up, stays."""
    for text, stripped in (
        ("a  ", "a"),
        ("漢\u3000\u3000", "漢\u3000\u3000"),
        ("漢\u3000 ", "漢\u3000"),
    ):
        assert written("postgres", text, SqlType.CHAR, 3) == (f"'{stripped}'", [])
        assert written("postgres", text, SqlType.VARCHAR, 3) == (f"'{text}'", [])
        kept = Policy(char_padding="keep")
        assert written("postgres", text, SqlType.CHAR, 3, kept) == (f"'{text}'", [])


def test_empty_values_that_become_null() -> None:
    for kind in (SqlType.VARBINARY, SqlType.BLOB):
        assert written("oracle", b"", kind, 6, Policy(empty_text="null")) == ("NULL", [])
        for policy in (Policy(), Policy(empty_text="space")):
            (problem,) = written("oracle", b"", kind, 6, policy)[1]
            assert problem.hint.startswith("Take it for NULL (--empty-text null), or leave")
    table = Table(
        "S", "T", (Column("ID", SqlType.INTEGER, False), Column("V", SqlType.VARCHAR, True, 9))
    )
    bits = replace(table, columns=(table.columns[0], Column("B", SqlType.VARBINARY, True, 9)))
    rows = Rows(bits, Op.DELETE, 2, {"ID": pa.array([1, 2]), "B": pa.array([b"", b"x"])}, {}, {})
    options = RenderOptions(policy=Policy(empty_text="null"))
    assert render(rows, profile_named("oracle"), options).text.to_pylist() == [
        "DELETE FROM S.T WHERE ID = 1 AND B IS NULL AND ROWNUM = 1;",
        "DELETE FROM S.T WHERE ID = 2 AND B = HEXTORAW('78') AND ROWNUM = 1;",
    ]
    rows = Rows(table, Op.DELETE, 2, {"ID": pa.array([1, 2]), "V": pa.array(["", "x"])}, {}, {})
    text = render(
        rows, profile_named("oracle"), RenderOptions(policy=Policy(empty_text="null"))
    ).text.to_pylist()
    assert text == [
        "DELETE FROM S.T WHERE ID = 1 AND V IS NULL AND ROWNUM = 1;",
        "DELETE FROM S.T WHERE ID = 2 AND V = 'x' AND ROWNUM = 1;",
    ]


@EVERY_DIALECT
def test_long_texts_are_joined_in_a_tree(dialect: str) -> None:
    """No database takes an expression that is thousands of operators deep."""
    text, problems = written(dialect, "a\n" * 1900, SqlType.VARCHAR, 4000)
    if dialect == "soliddb":  # which has no page that says how
        assert "control characters" in problems[0].expected
        return
    assert problems == []
    depth = deepest = 0
    inside = False
    for character in text:
        inside ^= character == "'"
        depth += 0 if inside else (character == "(") - (character == ")")
        deepest = max(deepest, depth)
    assert deepest < 12


@EVERY_DIALECT
def test_names(dialect: str) -> None:
    profile = profile_named(dialect)
    for word in ("ORDER", "SELECT", "TABLE", "USER", "GROUP"):
        assert identifier(word, profile, "lower").args["quoted"], word
    assert not identifier("AMOUNT", profile, "lower").args["quoted"]
    if profile.name_length < 1000:
        identifier("A" * profile.name_length, profile, "lower")
        with pytest.raises(SqlgenError, match="LR3005|takes") as refused:
            identifier("A" * (profile.name_length + 1), profile, "lower")
        assert refused.value.code == "LR3005"


@EVERY_DIALECT
def test_every_type_has_a_form_and_a_type(dialect: str) -> None:
    profile = profile_named(dialect)
    for kind in SqlType:
        assert ddl.type_rule(Column("C", kind, True, 6, 2), profile).fidelity != REFUSED, kind
        assert literals(
            pa.nulls(1, ARROW_TYPES[kind]), Column("C", kind, True, 6), profile, Policy()
        )[0].to_pylist() == ["NULL"]
    assert {rule.fidelity for rule in profile.types} <= {"exact", "widened", "lossy", "refused"}
    assert all(rule.note for rule in profile.types if rule.fidelity != "exact"), (
        "what is not exact says why"
    )


COLUMNS = tuple(
    Column(f"{kind.value}_C", kind, place % 2 == 1, 6, 2) for place, kind in enumerate(SqlType)
)
TABLE = Table("SHOP", "ORDER", COLUMNS, ("SMALLINT_C",))
INDEX = ddl.TableIndex("ORDER_IX", TABLE, (("INTEGER_C", True), ("DATE_C", False)))
EVENTS = [
    StructureChange(Action.CREATE_TABLE, TABLE),
    StructureChange(Action.ADD_COLUMNS, TABLE, COLUMNS[:2]),
    StructureChange(Action.DROP_COLUMNS, TABLE, COLUMNS[3:4]),
    StructureChange(Action.RENAME_TABLE, TABLE, old_name="ORDER", new_name="ORDERS"),
    StructureChange(Action.RENAME_COLUMN, TABLE, old_name="DATE_C", new_name="DAY"),
    StructureChange(Action.CREATE_INDEX, TABLE, index=INDEX),
    StructureChange(Action.DROP_TABLE, TABLE),
]


def parses(text: str, profile: Profile) -> bool:
    if profile.indexes in ("index", "both"):
        text = text.replace(
            "INDEX shop.", "INDEX "
        )  # sqlglot knows no schema at an index's name; a live test runs the statement
    if profile.sqlglot == "db2":  # a golden file has the statements
        if text.startswith("RENAME TABLE "):
            return True
        text = re.sub(r"INDEX \w+\.", "INDEX ", text)
    (tree,) = sqlglot.parse(text, dialect=profile.sqlglot)
    return tree is not None


@EVERY_DIALECT
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.action.value)
def test_ddl_and_its_inverse_parse_back(dialect: str, event: StructureChange) -> None:
    profile = profile_named(dialect)
    inverse = event.inverse()
    assert inverse is not None
    for one in (event, inverse):
        for text in statements(one, profile, "lower"):
            assert text.endswith(";")
            assert text.count("\n") == 0
            assert parses(text, profile), text
    back = inverse.inverse()
    assert back is not None
    assert statements(back, profile, "lower") == statements(event, profile, "lower")


def test_a_type_that_does_not_fit_is_refused() -> None:
    table = Table("SHOP", "ITEM", (Column("B", SqlType.VARBINARY, True, 2_000_000),))
    with pytest.raises(SqlgenError) as refused:
        ddl.create_table(table, profile_named("redshift"))
    assert refused.value.code == "LR3003"
    assert [str(note) for note in ddl.type_notes(table, profile_named("redshift"))] == [
        "SHOP.ITEM.B: VARBINARY(2000000) -> nothing: refused, 1,024,000 bytes at most"
    ]


def test_db2_is_spoken_where_the_package_is_not_installed() -> None:
    """In a worker that has the files alone no entry point tells sqlglot of the dialect."""
    program = (
        "import importlib.metadata as found; found.entry_points = lambda **how: ();"
        "from sqlgen.dialects import profile_named; from sqlglot import exp;"
        "print(exp.select('a').from_('t').sql(dialect=profile_named('db2').sqlglot))"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (said.stdout, said.stderr) == ("SELECT a FROM t\n", "")
