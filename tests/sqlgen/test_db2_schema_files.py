"""Schema files as Db2's tools write them: what they say of keys is read, what says nothing of keys
is passed over and counted, what is not understood is named and costs nothing else."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlgen.ddl.ddl_reader import parse_constraints
from sqlgen.ddl.ddl_tokens import statements
from sqlgen.ddl.schema_file import defined_tables, parse_declared
from sqlgen.errors import SqlgenError
from sqlgen.schema import Column, Constraints, SqlType, Table
from tests.support.examples import examples
from tests.support.places import FIXTURES

FILES = sorted((FIXTURES / "db2ddl").glob("*.sql"))
COLUMNS = {
    "BERTH": "BERTH_ID NAME DEPTH",
    "VESSEL": "IMO NAME FLAG OWNER_ID",
    "PORTCALL": "CALL_ID IMO BERTH_ID ARRIVED",
    "CARGO": "CALL_ID LINE_NO GOODS",
}
HARBOR = [
    Table("HARBOR", name, tuple(Column(column, SqlType.INTEGER) for column in columns.split()))
    for name, columns in COLUMNS.items()
]
KEYS = {
    ("HARBOR.BERTH", "BERTH_ID"),
    ("HARBOR.BERTH", "NAME"),
    ("HARBOR.VESSEL", "IMO"),
    ("HARBOR.PORTCALL", "CALL_ID"),
    ("HARBOR.PORTCALL", "IMO ARRIVED"),
    ("HARBOR.CARGO", "CALL_ID LINE_NO"),
}
OF_VESSEL = ("HARBOR.PORTCALL", "IMO", "HARBOR.VESSEL", "CASCADE")
AT_BERTH = ("HARBOR.PORTCALL", "BERTH_ID", "HARBOR.BERTH", "SET NULL")
OF_CALL = ("HARBOR.CARGO", "CALL_ID", "HARBOR.PORTCALL", "CASCADE")
FOREIGN_KEYS = {OF_VESSEL, AT_BERTH, OF_CALL}
NOT_ENFORCED = "NOT ENFORCED, so the database neither checks it nor acts on it"
#: Of a file: the foreign key that it loses, what is not understood, and what is not used.
PECULIAR = {
    "byhand.sql": (None, [], ["unique index part on HARBOR.VESSEL: it is over an expression"]),
    "look-10.5.sql": (
        None,
        [],
        ["unique index PAPERNO on HARBOR.VESSEL: it is over parts of values"],
    ),
    "look-11.1.sql": (
        None,
        [],
        [
            f"foreign key OWNED of HARBOR.VESSEL: {NOT_ENFORCED}",
            f"key NAMES of HARBOR.VESSEL: {NOT_ENFORCED}",
        ],
    ),
    "look-12.1.sql": (AT_BERTH, ['line 95: CONSTRAINT "ATBERTH" FOREIGN KEY'], []),
}


def foreign(found: Constraints) -> set[tuple[str, str, str, str]]:
    return {
        (key.table, " ".join(key.columns), key.parent, key.on_delete) for key in found.foreign_keys
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_shape_states_the_same_keys(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = parse_constraints(path.read_text(encoding="utf-8"), "db2", HARBOR)
    lost, unread, unused = PECULIAR.get(path.name, (None, [], []))
    assert {(table, " ".join(columns)) for table, columns in found.keys} == KEYS
    assert foreign(found) == FOREIGN_KEYS - {lost}
    assert len(found.unread) == len(unread)
    assert all(map(str.startswith, found.unread, unread))
    assert list(found.unused) == unused
    assert found.outside == ()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("name", "passed"), [("look-9.7", 21), ("zos-job", 5), ("byhand", 10)])
def test_what_names_no_table_of_the_log_is_counted(name: str, passed: int) -> None:
    text = (FIXTURES / "db2ddl" / f"{name}.sql").read_text(encoding="utf-8")
    assert parse_constraints(text, "db2", HARBOR).passed == passed


ODD = [
    "FROBNICATE THE PIER",
    "ALTER TABLE HARBOR.BERTH SWING ROUND (1, 2)",
    "CREATE TABLE HARBOR.BERTH (A INTEGER MADE OF WOOD)",
    "CREATE TABLE NOTHING",
    "CREATE FUNCTION F() RETURNS INT LANGUAGE SQL BEGIN ATOMIC DECLARE X INT; RETURN X; END",
    "CREATE TRIGGER T AFTER INSERT ON X FOR EACH ROW BEGIN ATOMIC CASE WHEN 1 = 1 THEN SET A = 1;"
    " END CASE; END",
    "CREATE PROCEDURE P() L: BEGIN DECLARE X INT; IF X = 1 THEN CALL Q(); END IF; END L",
    "CREATE PROCEDURE P() BEGIN NEVER ENDS; AT ALL",
    "GRANT ALL ON HARBOR.BERTH TO PUBLIC",
    "CREATE VIEW V AS SELECT ((1 FROM",
    "COMMENT ON TABLE HARBOR.BERTH IS 'it''s; one'",
    "-- no; statement's end",
    "/* nor /* here; */ ' */ COMMIT",
    ")",
    "(((",
]


@settings(max_examples=examples(25))
@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from(ODD)), max_size=4))
def test_nothing_else_is_lost_for_what_is_not_understood(odd: list[tuple[int, str]]) -> None:
    text = (FIXTURES / "db2ddl" / "look-8.2.sql").read_text(encoding="utf-8")
    parts = [statement.text for statement in statements(text, "db2")]
    for place, more in odd:
        parts.insert(place, more + "\n")
    found = parse_constraints(";\n".join(parts) + ";\n", "db2", HARBOR)
    assert foreign(found) == FOREIGN_KEYS
    assert {(table, " ".join(columns)) for table, columns in found.keys} == KEYS


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("a;b;", ["a", "b"]),
        ("a\n@\nb; c@", ["a", "b", "c"]),
        ("CREATE TRIGGER t BEGIN x; y; END@\nb@", ["CREATE TRIGGER t BEGIN x; y; END", "b"]),
        ("a;\n--#SET TERMINATOR !\nBEGIN x; END!\n--#SET TERMINATOR ;\nb;c", None),
        ("a\n/\nb\n/\n", ["a", "b"]),
        ("a # b#\nc#", ["a # b", "c"]),
        ("a -- ; x\n, b;", ["a -- ; x\n, b"]),
        ("a \"x;\"\"y\" 'it''s;' b; c", ["a \"x;\"\"y\" 'it''s;' b", "c"]),
        ("a /* ; /* ; */ ; */ b; c", ["a /* ; /* ; */ ; */ b", "c"]),
        ("ECHO it's;\na;", ["a"]),
        ("!ls it's\na;", ["a"]),
        ("a 'never closed; b", ["a 'never closed", "b"]),
        ("BEGIN x;-- y\n;-- z\nEND;\nb", ["BEGIN x;-- y\n;-- z\nEND", "b"]),
        ("create schema s create table t (a int) grant x;", None),
        ("//JOB\r\n//X DD *\r\na;\r\n/*\r\n//Y\r\n", ["a"]),
        ("\ufeffa;\r\nb", ["a", "b"]),
        ("", []),
        (";;-- nothing\n;", []),
    ],
)
def test_statements_of_a_script(text: str, texts: list[str] | None) -> None:
    wanted = texts or {
        "a": ["a", "BEGIN x; END", "b", "c"],
        "c": ["create schema s", "create table t (a int)", "grant x"],
    }.get(text[:1], [])
    assert [statement.text for statement in statements(text, "db2")] == wanted


def keys_of(text: str, *schemas: str) -> Constraints:
    columns = (Column("A", SqlType.INTEGER), Column("B", SqlType.INTEGER))
    tables = [Table(schema, name, columns) for schema in schemas for name in ("T", "U")]
    return parse_constraints(text, "db2", tables)


def test_a_table_of_another_schema_is_another_table() -> None:
    """Where the file has the log's own table, or two others, its name alone is not enough."""
    stated = "CREATE TABLE {0}.T (A INT UNIQUE); CREATE TABLE {0}.U (A INT REFERENCES {0}.T);"
    alone = keys_of(stated.format("Q"), "P")
    assert [(key.table, key.parent) for key in alone.foreign_keys] == [("P.U", "P.T")]
    both = keys_of("CREATE TABLE P.T (B INT UNIQUE); " + stated.format("Q"), "P")
    assert both.keys == (("P.T", ("B",)),)
    doubtful = keys_of(stated.format("Q") + stated.format("R"), "P")
    assert doubtful.keys == doubtful.foreign_keys == ()
    assert [entry.partition(" have")[0] for entry in doubtful.unread] == ["the schemas Q, R"] * 2


@pytest.mark.parametrize(
    "setting",
    [
        "SET CURRENT SCHEMA = 'Q'",
        "SET SCHEMA Q",
        'SET CURRENT_SCHEMA "Q   "',
        "SET CURRENT SQLID = 'Q'",
        "CREATE SCHEMA Q AUTHORIZATION X",
    ],
)
def test_tables_without_a_schema_get_the_one_that_is_set(setting: str) -> None:
    found = keys_of(f"{setting}; CREATE TABLE T (A INT UNIQUE, B INT REFERENCES U)", "P", "Q")
    assert found.keys == (("Q.T", ("A",)),)
    assert [(key.table, key.parent) for key in found.foreign_keys] == [("Q.T", "Q.U")]
    assert (
        keys_of(f"{setting}; SET SCHEMA USER; CREATE TABLE T (A INT UNIQUE)", "P", "Q").keys == ()
    )


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE P.T (A INT, CONSTRAINT K UNIQUE (A) NOT ENFORCED)",
        "ALTER TABLE P.T ADD CONSTRAINT K FOREIGN KEY (A) REFERENCES P.U (B); ALTER TABLE P.T ALTER"
        " FOREIGN KEY K NOT ENFORCED",
        "ALTER TABLE P.T FOREIGN KEY K (A) REFERENCES P.U (B); ALTER TABLE P.T DROP FOREIGN KEY K",
    ],
)
def test_keys_that_are_no_more(text: str) -> None:
    found = keys_of(text, "P")
    assert (found.keys, found.foreign_keys, found.unread) == ((), (), ())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("CREATE UNIQUE INDEX P.I ON P.T (B RANDOM, A)", [("B", "A")]),
        (
            "CREATE TABLE P.T (A INT NOT NULL) IN D.S ORGANIZE BY HASH UNIQUE (A) HASH SPACE 1 M",
            "A",
        ),
        ("ALTER TABLE P.T ADD ORGANIZE BY HASH UNIQUE (A, B) HASH SPACE 64 M", [("A", "B")]),
        (
            "ALTER TABLE P.T ADD PRIMARY KEY (A); ALTER TABLE P.T DROP PRIMARY KEY;"
            " ALTER TABLE P.T ADD PRIMARY KEY (B)",
            "B",
        ),
        (
            "CREATE TABLE P.T (A INT NOT NULL PRIMARY KEY); CREATE UNIQUE INDEX P.I ON P.T (B);"
            " ALTER TABLE P.T DROP PRIMARY KEY",
            "B",
        ),
    ],
)
def test_keys_in_words_of_db2(text: str, wanted: Sequence[tuple[str, ...] | str]) -> None:
    found = keys_of(text, "P")
    assert [columns for _, columns in found.keys] == [tuple(one) for one in wanted]
    assert (found.unread, found.unused) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE P.T OF P.X (REF IS OID USER GENERATED, UNIQUE (A))",
        "ALTER TABLE P.T ALTER UNIQUE K NOT ENFORCED",
        "ALTER TABLE P.T ALTER PRIMARY KEY NOT ENFORCED",
    ],
)
def test_what_may_state_a_key_of_a_table_is_named(text: str) -> None:
    found = keys_of(f"CREATE TABLE P.U (A INT); {text}", "P")
    assert found.keys == ()
    assert [entry[:8] for entry in found.unread] == ["line 1: "]


def test_words_of_keys_that_say_nothing_of_them_are_not_named() -> None:
    found = keys_of(
        "CREATE TABLE P.T (A INT UNIQUE) WITH RESTRICT ON DROP;"
        " ALTER TABLE P.T DROP RESTRICT ON DROP;"
        " ALTER TABLE P.T ADD PARTITION X ENDING 2; ALTER TABLE P.T ALTER COLUMN A DROP DEFAULT;"
        " GRANT REFERENCES ON P.T TO X; TRUNCATE TABLE P.T DROP STORAGE IMMEDIATE; DROP VIEW P.V",
        "P",
    )
    assert (found.keys, found.unread) == ((("P.T", ("A",)),), ())


def test_what_is_not_understood_of_other_tables_does_not_matter() -> None:
    text = "CREATE TABLE P.T (A INT UNIQUE); ALTER TABLE P.V ADD UNIQUE (A) SOMEHOW;"
    assert keys_of(text, "P").unread == ()
    assert len(keys_of(text.replace("V", "U"), "P").unread) == 1


def test_nothing_understood_is_refused_and_the_dialect_that_was_named_is_not_asked_for() -> None:
    tables = [Table("P", "T", (Column("A", SqlType.INTEGER),))]
    for text, dialect in (
        ("CREATE TABLE S.T IN A.B (A INTEGER UNIQUE)", "postgres"),
        ("CREATE TABLE (", "db2"),
        ("ALTER TABLE P.T ADD UNIQUE (A) SOMEHOW", "db2"),
    ):
        with pytest.raises(SqlgenError, match=f"not understood as {dialect} SQL") as caught:
            parse_constraints(text, dialect, tables)
        assert caught.value.code == "LR1010"
        assert f"read as {dialect}: --schema-dialect names another" in caught.value.hint


def test_one_statement_of_another_dialect_does_not_cost_the_file() -> None:
    text = (
        "CREATE TABLE p.t (a int UNIQUE);\nCREATE TABLE p.u (a int (;\n"
        "ALTER TABLE p.t ADD UNIQUE (b);"
    )
    tables = [Table("P", "T", (Column("A", SqlType.INTEGER), Column("B", SqlType.INTEGER)))]
    found = parse_constraints(text, "postgres", tables)
    assert found.keys == (("P.T", ("A",)), ("P.T", ("B",)))
    found = parse_constraints(text.replace("(b)", "(b) SOMEHOW"), "postgres", tables)
    assert found.unread == ("line 3: UNIQUE (b) SOMEHOW (table p.t)",)


def test_what_a_column_says_that_is_not_understood_is_named() -> None:
    text = (
        "CREATE TABLE P.T (A INTEGER DEFAULT 5, B INTEGER MADE OF WOOD, CHECK (A > 0) NOT ENFORCED)"
    )
    table = Table("P", "T", (Column("A", SqlType.INTEGER), Column("B", SqlType.INTEGER)))
    declared = parse_declared(text, "db2", [table])["P.T"]
    assert list(declared.defaults) == ["A"]
    assert declared.checks == ()
    assert declared.unused == (
        f"check (unnamed) of P.T: {NOT_ENFORCED}",
        "line 1: B INTEGER MADE OF WOOD (table P.T): not understood",
    )


def test_a_key_over_a_period_is_named_and_costs_nothing_else() -> None:
    found = keys_of(
        "CREATE TABLE P.T (A DATE NOT NULL, B DATE NOT NULL, PERIOD BUSINESS_TIME (A, B),"
        " CONSTRAINT K PRIMARY KEY (A, BUSINESS_TIME WITHOUT OVERLAPS), UNIQUE (B))",
        "P",
    )
    assert found.keys == (("P.T", ("B",)),)
    assert [entry.partition(":")[0] for entry in found.unused] == ["key K of P.T"]


def test_an_index_of_an_auxiliary_table_is_none_of_the_logs() -> None:
    text = "CREATE TABLE P.T (A INT UNIQUE); CREATE UNIQUE INDEX P.X ON P.{} USING STOGROUP S"
    assert keys_of(text.format("AUX"), "P").unread == ()
    assert len(keys_of(text.format("T"), "P").unread) == 1


JOB = """//DDL      JOB (ACCT),'TABLES',CLASS=A
/*JOBPARM  S=SYSA
/*ROUTE    PRINT R5
/*XEQ      NODE2
//* a comment
//STEP1    EXEC PGM=IKJEFT01
//SYSTSIN  DD *
 DSN SYSTEM(DB2X)
 RUN PROGRAM(DSNTEP2)
 END
//SYSIN    DD *
  SET CURRENT SQLID = 'P';
  CREATE TABLE T (A INTEGER NOT NULL UNIQUE, B INTEGER);
/*
//STEP2    EXEC PGM=IKJEFT01
//SYSIN    DD *
  CREATE TABLE P.U (A INTEGER NOT NULL UNIQUE, B INTEGER);
/*
"""


@pytest.mark.parametrize("numbered", [False, True])
def test_lines_of_a_job_are_no_comments(numbered: bool) -> None:
    lines = JOB.splitlines()
    text = "\n".join(f"{line:<72}{number:08}" for number, line in enumerate(lines, 1))
    found = keys_of(text if numbered else JOB, "P", "Q")
    assert found.keys == (("P.T", ("A",)), ("P.U", ("A",)))
    assert found.unread == ()


def test_outside_of_a_job_they_begin_comments() -> None:
    found = keys_of(
        "CREATE TABLE P.T (A INT UNIQUE);\n/*ROUTE\n x */\nCREATE TABLE P.U (A INT)", "P"
    )
    assert (found.keys, found.unread) == ((("P.T", ("A",)),), ())


@pytest.mark.parametrize("dialect", ["db2", "postgres", "mysql", "oracle", "tsql", "sqlite"])
def test_a_comment_that_never_ends_is_named(dialect: str) -> None:
    columns = (Column("A", SqlType.INTEGER), Column("B", SqlType.INTEGER))
    text = "CREATE TABLE P.T (A INT UNIQUE);\n/* open\nALTER TABLE P.T ADD UNIQUE (B);"
    found = parse_constraints(text, dialect, [Table("P", "T", columns)])
    assert found.keys == (("P.T", ("A",)),)
    assert [said[:38] for said in found.unread] == ["line 2: a comment that does not end: /"]


@pytest.mark.parametrize("name", ["#T", "@T", "T#1", "$T", "Ärger", "表", '"mixed Case"', '"a.b"'])
def test_names_with_letters_of_db2(name: str) -> None:
    own = name.strip('"')
    text = f"CREATE TABLE P.{name} ({name} INT NOT NULL, #B INT, PRIMARY KEY ({name}))"
    (table,) = defined_tables(text, "db2")
    spelled = own if name != own else own.upper()
    assert (table.name, table.key) == (spelled, (spelled,))
    assert [column.name for column in table.columns] == [spelled, "#B"]
    assert parse_constraints(text, "db2", [table]).keys == ((f"P.{own}".upper(), (spelled,)),)


def test_only_statements_about_tables_of_the_log_are_read() -> None:
    """4,000 tables take no more calls than a few for each statement where three matter."""
    made = "CREATE TABLE P.X{0} (A INT NOT NULL, B CHAR(9) DEFAULT 'x;', C INT);\n" * 3
    text = "".join(made.format(number) for number in range(1000))
    seen = 0

    def noted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal seen
        seen += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(noted)
    try:
        found = keys_of(f"CREATE TABLE P.T (A INT UNIQUE);\n{text}", "P")
    finally:
        sys.setprofile(before)
    assert found.keys == (("P.T", ("A",)),)
    assert found.passed == 0
    assert seen < 200 * 3000
