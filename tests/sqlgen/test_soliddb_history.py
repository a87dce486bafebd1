"""What takes a DDL statement of solidDB back: said where the former state is known, refused where
it is not."""

from __future__ import annotations

import pytest
from sqlglot import exp

from sqlgen.ddl.expressions import Place
from sqlgen.dialects import profile_named
from sqlgen.errors import SqlgenError
from sqlgen.schema import Column, SqlType, Table
from sqlgen.soliddb.history import History
from sqlgen.soliddb.table_shape import column_of, read, type_text
from sqlgen.structure import StructureChange, statements

TABLE = Table("DBA", "T", ())
POSTGRES, MARIADB, SQLITE = (profile_named(name) for name in ("postgres", "mariadb", "sqlite"))
BASE = """CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(40) DEFAULT 'x' NOT NULL,
    QTY SMALLINT, CONSTRAINT CK CHECK (QTY > 0)) STORE MEMORY"""


def history(*texts: str) -> tuple[History, StructureChange]:
    """The history after all statements, and the change of the last one."""
    made = History(Place("DBA", "SHOP"))
    changes = [made.change(text, TABLE) for text in texts]
    return made, changes[-1]


def back(change: StructureChange, values: bool = True) -> list[str] | None:
    inverse = change.inverse(values)
    if inverse is None:
        return None
    return [text for text in statements(inverse, POSTGRES, "lower") if not text.startswith("--")]


@pytest.mark.parametrize(
    ("text", "undone"),
    [
        (BASE, "DROP TABLE dba.t;"),
        ("CREATE UNIQUE INDEX I ON OTHER.T (A)", "DROP INDEX other.i;"),
        ("CREATE SEQUENCE S", "DROP SEQUENCE dba.s;"),
        ("CREATE VIEW V AS SELECT A FROM T", "DROP VIEW dba.v;"),
        ("ALTER TABLE T ADD COLUMN B INTEGER", "ALTER TABLE dba.t DROP COLUMN b;"),
        ("ALTER TABLE T RENAME COLUMN A B", "ALTER TABLE dba.t RENAME COLUMN b TO a;"),
        ("ALTER TABLE T SET TABLE NAME U", "ALTER TABLE dba.u RENAME TO t;"),
        ("ALTER TABLE T MODIFY SCHEMA S2", "ALTER TABLE s2.t SET SCHEMA dba;"),
        ("ALTER TABLE T ADD CONSTRAINT C CHECK (A > 0)", "ALTER TABLE dba.t DROP CONSTRAINT c;"),
    ],
)
def test_a_statement_that_says_all_by_itself(text: str, undone: str) -> None:
    assert back(history(text)[1]) == [undone]


@pytest.mark.parametrize(
    ("text", "undone"),
    [
        (
            "ALTER TABLE T MODIFY COLUMN NAME VARCHAR(80)",
            "ALTER TABLE dba.t ALTER COLUMN name TYPE VARCHAR(40);",
        ),
        (
            "ALTER TABLE T ALTER COLUMN NAME SET DEFAULT 'y'",
            "ALTER TABLE dba.t ALTER COLUMN name SET DEFAULT 'x';",
        ),
        (
            "ALTER TABLE T ALTER COLUMN NAME DROP DEFAULT",
            "ALTER TABLE dba.t ALTER COLUMN name SET DEFAULT 'x';",
        ),
        (
            "ALTER TABLE T ALTER COLUMN QTY SET DEFAULT 1",
            "ALTER TABLE dba.t ALTER COLUMN qty DROP DEFAULT;",
        ),
        (
            "ALTER TABLE T ALTER COLUMN NAME DROP NOT NULL",
            "ALTER TABLE dba.t ALTER COLUMN name SET NOT NULL;",
        ),
        (
            "ALTER TABLE T ALTER COLUMN QTY ADD NOT NULL",
            "ALTER TABLE dba.t ALTER COLUMN qty DROP NOT NULL;",
        ),
        (
            "ALTER TABLE T DROP CONSTRAINT CK",
            "ALTER TABLE dba.t ADD CONSTRAINT ck CHECK (qty > 0);",
        ),
    ],
)
def test_a_former_state_that_the_log_told(text: str, undone: str) -> None:
    assert back(history(BASE, text)[1]) == [undone]
    unknown = history(text)[1]
    assert back(unknown) is None
    assert unknown.note == "what T was before the statement is not known"


def test_what_takes_values_along_comes_back_as_structure_only() -> None:
    index = "CREATE INDEX I ON T (QTY DESC)"
    _, dropped = history(BASE, index, "DROP TABLE T")
    assert back(dropped) is None
    assert dropped.note == "the rows of the table"
    assert back(dropped, values=False) == [
        (
            "CREATE TABLE dba.t (id INTEGER NOT NULL, name VARCHAR(40) DEFAULT 'x' NOT NULL, qty"
            " SMALLINT, PRIMARY KEY (id), CONSTRAINT ck CHECK (qty > 0));"
        ),
        "CREATE INDEX i ON dba.t(qty DESC);",
    ]
    _, column = history(BASE, "ALTER TABLE T DROP COLUMN NAME")
    assert back(column) is None
    assert back(column, values=False) == [
        "ALTER TABLE dba.t ADD COLUMN name VARCHAR(40) DEFAULT 'x' NOT NULL;"
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("DROP TABLE T", "the definition of the table DBA.T is not known"),
        ("DROP INDEX I", "the definition of the index DBA.I is not known"),
        ("DROP VIEW V", "the definition of the view DBA.V is not known"),
        ("ALTER TABLE T DROP COLUMN A", "what T was before the statement is not known"),
        ("TRUNCATE TABLE T", "the rows that TRUNCATE took are not in the log"),
    ],
)
def test_what_is_not_known_does_not_come_back(text: str, why: str) -> None:
    change = history(text)[1]
    assert change.note == why
    assert back(change, values=False) is None


FORMER = Table(
    "DBA",
    "T",
    (
        Column("ID", SqlType.INTEGER, False),
        Column("odd", SqlType.VARCHAR, True, 20),
        Column("PRICE", SqlType.DECIMAL, True, 52, 2),
        Column("AT", SqlType.TIMESTAMP, False, 9, unsized=True),
        Column("NOTE", SqlType.CLOB),
    ),
    ("ID",),
)


@pytest.mark.parametrize(
    ("text", "undone", "lost"),
    [
        (
            "DROP TABLE T",
            (
                "CREATE TABLE dba.t (id INTEGER NOT NULL, odd VARCHAR(20), price DECIMAL(52, 2), at"
                " TIMESTAMP(6) NOT NULL, note TEXT, PRIMARY KEY (id));"
            ),
            True,
        ),
        ('ALTER TABLE T DROP COLUMN "odd"', "ALTER TABLE dba.t ADD COLUMN odd VARCHAR(20);", True),
        (
            "ALTER TABLE T MODIFY COLUMN PRICE DECIMAL(9, 4)",
            "ALTER TABLE dba.t ALTER COLUMN price TYPE DECIMAL(52, 2);",
            False,
        ),
        (
            "ALTER TABLE T ALTER COLUMN NOTE ADD NOT NULL",
            "ALTER TABLE dba.t ALTER COLUMN note DROP NOT NULL;",
            False,
        ),
        (
            "ALTER TABLE T ALTER COLUMN AT DROP NOT NULL",
            "ALTER TABLE dba.t ALTER COLUMN at SET NOT NULL;",
            False,
        ),
    ],
)
def test_a_former_state_that_a_catalog_told(text: str, undone: str, lost: bool) -> None:
    change = History(Place("DBA")).change(text, TABLE, former=FORMER)
    assert back(change, values=False) == [undone]
    assert (back(change) is None) == lost
    assert bool(change.note) == lost


@pytest.mark.parametrize(
    "text",
    [
        "DROP TABLE T CASCADE",
        "ALTER TABLE T ALTER COLUMN ID DROP DEFAULT",
        "ALTER TABLE T DROP COLUMN Z",
        "ALTER TABLE T DROP CONSTRAINT C",
        "TRUNCATE TABLE T",
    ],
)
def test_what_a_catalog_does_not_tell(text: str) -> None:
    assert back(History(Place("DBA")).change(text, TABLE, former=FORMER), values=False) is None


def test_a_target_that_repeats_definitions_does_not_go_by_a_catalog() -> None:
    change = History(Place("DBA")).change(
        "ALTER TABLE T MODIFY COLUMN PRICE DECIMAL(9, 4)", TABLE, former=FORMER
    )
    inverse = change.inverse()
    assert inverse is not None
    with pytest.raises(SqlgenError, match="whole definition"):
        statements(inverse, MARIADB, "lower")


@pytest.mark.parametrize("column", FORMER.columns)
def test_a_column_in_words_is_the_column(column: Column) -> None:
    tree = read(f"CREATE TABLE T (C {type_text(column)})")
    kind = tree.find(exp.DataType)
    assert kind is not None
    assert column_of(column.name, kind, column.nullable) == column


def test_a_drop_that_took_foreign_keys_along() -> None:
    named = (
        "CREATE TABLE C (A INTEGER CONSTRAINT FK REFERENCES T (ID), B INTEGER, CONSTRAINT FK2"
        " FOREIGN KEY (B) REFERENCES T ON DELETE CASCADE)"
    )
    made, dropped = history(BASE, named, "DROP TABLE T CASCADE CONSTRAINTS")
    assert [
        line for line in statements(dropped, POSTGRES, "lower") if not line.startswith("--")
    ] == [
        "ALTER TABLE dba.c DROP CONSTRAINT fk;",
        "ALTER TABLE dba.c DROP CONSTRAINT fk2;",
        "DROP TABLE dba.t;",
    ]
    assert dropped.note == "the rows of the table, and foreign keys of tables that are not known"
    again = back(dropped, values=False)
    assert again is not None
    assert again[1:] == [
        "ALTER TABLE dba.c ADD CONSTRAINT fk FOREIGN KEY (a) REFERENCES dba.t (id);",
        "ALTER TABLE dba.c ADD CONSTRAINT fk2 FOREIGN KEY (b) REFERENCES dba.t ON DELETE CASCADE;",
    ]
    assert back(made.change("DROP TABLE C", TABLE), values=False) == [
        "CREATE TABLE dba.c (a INTEGER, b INTEGER);"
    ]
    with pytest.raises(
        SqlgenError,
        match=(
            r"DROP CONSTRAINT FK \(for the statement DROP TABLE T CASCADE CONSTRAINTS\); expected"
            r" what duckdb can say"
        ),
    ):
        statements(dropped, profile_named("duckdb"), "lower")


def test_a_drop_that_took_a_foreign_key_without_name_along() -> None:
    child = "CREATE TABLE C (A INTEGER REFERENCES T (ID))"
    _, dropped = history(BASE, child, "DROP TABLE T CASCADE CONSTRAINTS")
    assert back(dropped, values=False) is None
    assert dropped.note == "a foreign key without name that referred to DBA.T went with it"
    assert back(history(child, BASE, "DROP TABLE C CASCADE")[1], values=False) is not None


def test_definitions_follow_every_change() -> None:
    _, change = history(
        BASE,
        "ALTER TABLE T ADD COLUMN NOTE LONG VARCHAR",
        "ALTER TABLE T RENAME COLUMN QTY AMOUNT",
        "ALTER TABLE T MODIFY COLUMN AMOUNT BIGINT",
        "ALTER TABLE T DROP COLUMN NAME",
        "ALTER TABLE T ADD CONSTRAINT UQ UNIQUE (AMOUNT)",
        "ALTER TABLE T ALTER COLUMN AMOUNT ADD NOT NULL",
        "ALTER TABLE T SET PESSIMISTIC",
        "ALTER TABLE T SET TABLE NAME U",
        "ALTER TABLE U MODIFY SCHEMA S2",
        "DROP TABLE S2.U",
    )
    assert back(change, values=False) == [
        "CREATE TABLE s2.u (id INTEGER NOT NULL, amount BIGINT NOT NULL, note TEXT, PRIMARY KEY"
        " (id), CONSTRAINT ck CHECK (amount > 0), CONSTRAINT uq UNIQUE (amount));"
    ]


def test_indexes_of_a_table_go_with_it_and_views_of_a_renamed_one_are_forgotten() -> None:
    view = "CREATE VIEW V AS SELECT ID FROM T"
    assert (
        back(
            history(BASE, "CREATE INDEX I ON T (QTY)", "DROP TABLE T", "DROP INDEX I")[1],
            values=False,
        )
        is None
    )
    assert back(history(BASE, view, "ALTER TABLE T SET TABLE NAME U", "DROP VIEW V")[1]) is None
    assert back(history(BASE, "CREATE INDEX I ON T (QTY)", "DROP INDEX I")[1]) == [
        "CREATE INDEX i ON dba.t(qty);"
    ]
    assert back(history("CREATE SEQUENCE S", "DROP SEQUENCE S")[1]) is None
    assert back(history(view, "DROP VIEW V")[1]) == ["CREATE VIEW dba.v AS SELECT id FROM dba.t;"]


def test_indexes_and_foreign_keys_follow_new_names() -> None:
    child = (
        "CREATE TABLE C (ID INTEGER, T INTEGER, CONSTRAINT ID FOREIGN KEY (T) REFERENCES T (ID))"
    )
    renames = (
        "ALTER TABLE T RENAME COLUMN ID NO",
        "ALTER TABLE T SET TABLE NAME U",
        "ALTER TABLE U MODIFY SCHEMA S2",
    )
    index = "CREATE INDEX T ON T (ID DESC, QTY)"
    assert back(history(BASE, child, index, *renames, "DROP INDEX T")[1]) == [
        "CREATE INDEX t ON s2.u(no DESC, qty);"
    ]
    assert back(history(BASE, child, *renames, "DROP TABLE C")[1], values=False) == [
        "CREATE TABLE dba.c (id INTEGER, t INTEGER, CONSTRAINT id FOREIGN KEY (t) REFERENCES s2.u"
        " (no));"
    ]
    itself = (
        "CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, UP INTEGER REFERENCES T (ID), CONSTRAINT"
        " ID CHECK (UP <> ID))"
    )
    assert back(history(itself, *renames, "DROP TABLE S2.U")[1], values=False) == [
        "CREATE TABLE s2.u (no INTEGER NOT NULL, up INTEGER, PRIMARY KEY (no), FOREIGN KEY (up)"
        " REFERENCES s2.u (no), CONSTRAINT id CHECK (up <> no));"
    ]


def test_a_statement_whose_text_is_not_known_ends_what_is_known() -> None:
    made, _ = history(BASE)
    made.forget()
    assert back(made.change("DROP TABLE T", TABLE), values=False) is None


def test_a_statement_that_is_not_understood_is_an_error_and_nothing_before_it_counts() -> None:
    made, change = history(BASE, "ALTER TABLE T FROBNICATE")
    assert made.objects == {}
    assert back(change) is None
    with pytest.raises(SqlgenError, match="FROBNICATE") as refused:
        statements(change, POSTGRES, "lower")
    assert refused.value.code == "LR3021"


def test_a_target_that_repeats_definitions_gets_them() -> None:
    _, change = history(BASE, "ALTER TABLE T MODIFY COLUMN NAME VARCHAR(80)")
    (text,) = (one for one in statements(change, MARIADB, "lower") if not one.startswith("--"))
    assert text.endswith(
        "MODIFY COLUMN name VARCHAR(80) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT ('x') NOT"
        " NULL;"
    )
    inverse = change.inverse()
    assert inverse is not None
    (text,) = (one for one in statements(inverse, MARIADB, "lower") if not one.startswith("--"))
    assert text.endswith(
        "MODIFY COLUMN name VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT ('x') NOT"
        " NULL;"
    )
    assert statements(change, SQLITE, "lower") == ["-- T.NAME stays TEXT"]
    _, index = history(BASE, "CREATE INDEX I ON T (QTY)", "DROP INDEX I")
    assert statements(index, MARIADB, "lower") == ["DROP INDEX i ON `dba`.t;"]


def test_undo_of_what_is_left_out_is_left_out() -> None:
    temporary = "CREATE TRANSIENT TABLE G (A INTEGER)"
    for texts in (
        (temporary,),
        (temporary, "CREATE INDEX I ON G (A)"),
        (temporary, "ALTER TABLE G ADD COLUMN B INTEGER"),
    ):
        assert back(history(*texts)[1]) == []


def test_tables_without_logged_rows_are_left_out_with_all_that_is_done_to_them() -> None:
    temporary = "CREATE GLOBAL TEMPORARY TABLE G (A INTEGER)"
    for text in ("ALTER TABLE G ADD COLUMN B INTEGER", "CREATE INDEX I ON G (A)", "DROP TABLE G"):
        made = statements(history(temporary, text)[1], POSTGRES, "lower")
        assert len(made) == 1
        assert made[0].startswith(
            f"-- left out: {text.replace('G (', 'G(') if 'INDEX' in text else text}"
        ), made
