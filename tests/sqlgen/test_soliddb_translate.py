"""DDL of solidDB for other databases, trap by trap: what is said as the target says it, what is
left out by name, and what is refused."""

from __future__ import annotations

import random
import re

import pytest

from sqlgen.ddl.expressions import Place
from sqlgen.dialects import BUILT_IN
from sqlgen.errors import SqlgenError
from sqlgen.soliddb.translate import is_qualified, target_statements, translate
from tests.support.places import GOLDEN

DBA = Place("DBA", "SHOP")
TABLE = (
    "CREATE TABLE T (A INTEGER NOT NULL, B VARCHAR(5) DEFAULT 'x', C DECIMAL(9, 2), D DATE, E"
    " VARBINARY(4))"
)


def one(text: str, dialect: str = "postgres", names: str = "lower", before: str = "") -> str:
    (statement,) = translate(text, dialect, names, DBA, before).statements
    return statement


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        (
            "CREATE TABLE T (A WCHAR DEFAULT 'it''s  -- x', B NUMERIC) STORE MEMORY",
            "CREATE TABLE DBA.T (A WCHAR DEFAULT 'it''s  -- x', B NUMERIC) STORE MEMORY;",
        ),
        (
            "ALTER TABLE SHOP.DBA.ORDERS SET TABLE NAME ELDER",
            "ALTER TABLE DBA.ORDERS SET TABLE NAME ELDER;",
        ),
        ("CREATE UNIQUE INDEX I ON T (A DESC)", "CREATE UNIQUE INDEX DBA.I ON DBA.T(A DESC);"),
        ("CREATE DENSE SEQUENCE S", "CREATE DENSE SEQUENCE DBA.S;"),
        ('ALTER TABLE "t x" DROP COLUMN A', 'ALTER TABLE DBA."t x" DROP COLUMN A;'),
        ("CREATE TRANSIENT TABLE T (A INT)", "CREATE TRANSIENT TABLE DBA.T (A INTEGER);"),
    ],
)
def test_soliddb_has_its_own_words_again(text: str, statement: str) -> None:
    assert one(text, "soliddb") == statement.replace("DBA.", '"DBA".')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("CREATE TABLE T (A CHAR(9) DEFAULT 'a\nb')", "control character"),
        ("DROP TABLE OTHER.DBA.T", "the catalog OTHER"),
        ("SET SCHEMA DBA", "no change of a table"),
    ],
)
def test_what_soliddb_cannot_be_told_either(text: str, words: str) -> None:
    with pytest.raises(SqlgenError, match=words):
        one(text, "soliddb")


@pytest.mark.parametrize(
    ("text", "dialect", "statement"),
    [
        # a text of hexadecimal digits that is cast is bytes, and a text in a binary column is its
        # characters
        ("CREATE TABLE T (E VARBINARY(4) DEFAULT CAST('01FF' AS VARBINARY))", "tsql",
            "CREATE TABLE [dba].t (e VARBINARY(4) DEFAULT 0x01ff);"),
        ("CREATE TABLE T (E VARBINARY(4) DEFAULT 'ab')", "postgres",
            "CREATE TABLE dba.t (e BYTEA DEFAULT '\\x6162'::bytea);"),
        # FLOAT is a double whatever it says, DECIMAL(p) has 52 digits, NUMERIC scale 2 by itself,
        # CHAR length 1
        ("CREATE TABLE T (A FLOAT(5), B DECIMAL(5), C NUMERIC, D CHAR)", "postgres",
         "CREATE TABLE dba.t (a DOUBLE PRECISION, b DECIMAL(52, 0), c DECIMAL(52, 2), d CHAR(1));"),
        # constants are the column's, in the target's words
        ("CREATE TABLE T (A REAL DEFAULT 1, B DECIMAL(5, 2) DEFAULT 1.5,"
         " C TIMESTAMP DEFAULT '2024-02-29 10:00:00.5')", "duckdb",
         "CREATE TABLE \"dba\".t (a REAL DEFAULT '1', b DECIMAL(38, 2) DEFAULT 1.50,"
         " c TIMESTAMP DEFAULT '2024-02-29 10:00:00.500000');"),
        ("CREATE TABLE T (D DATE DEFAULT {d '2024-02-29'})", "oracle",
            "CREATE TABLE \"DBA\".T (D DATE DEFAULT DATE '2024-02-29');"),
        ("CREATE TABLE T (B VARCHAR(5) DEFAULT 'a\\b')", "mysql",
         "CREATE TABLE `dba`.t (b VARCHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
         " DEFAULT (CONCAT('a', CHAR(92 USING utf8mb4), 'b')));"),
        # what stands at a column stands alone, because some take a REFERENCES there for a comment
        ("CREATE TABLE T (A INTEGER CONSTRAINT FK REFERENCES P (B) ON DELETE RESTRICT)", "tsql",
         "CREATE TABLE [dba].t (a INTEGER, CONSTRAINT fk FOREIGN KEY (a) REFERENCES [dba].p (b));"),
        # a constant is written as the column it is compared with
        ("CREATE TABLE T (D DATE CHECK (D > '2024-02-29' AND '2024-03-01' > D))", "oracle",
         "CREATE TABLE \"DBA\".T (D DATE,"
         " CHECK (D > DATE '2024-02-29' AND DATE '2024-03-01' > D));"),
        # a statement that must be alone in its batch
        ("CREATE VIEW V AS SELECT A FROM T WHERE B = 'it''s'", "tsql",
            "EXEC('CREATE VIEW [dba].v AS SELECT a FROM [dba].t WHERE b = N''it''''s''');"),
        # NULL is the lowest value of the source
        ("CREATE VIEW V AS SELECT A FROM T ORDER BY A DESC LIMIT 5, 10", "postgres",
         "CREATE VIEW dba.v AS SELECT a FROM dba.t ORDER BY a DESC NULLS LAST LIMIT 10 OFFSET 5;"),
        # a foreign key of SQLite stays in its database and does not name it
        ("CREATE TABLE T (A INTEGER REFERENCES DBA.P (B))", "sqlite",
         'CREATE TABLE "dba".t (a INTEGER, FOREIGN KEY (a) REFERENCES p (b));'),
        ("ALTER TABLE T ADD COLUMN N SMALLINT DEFAULT 1 NOT NULL", "sqlite",
            'ALTER TABLE "dba".t ADD COLUMN n INTEGER DEFAULT (1) NOT NULL;'),
        ("ALTER TABLE T ALTER COLUMN A SET DEFAULT 5", "postgres",
            "ALTER TABLE dba.t ALTER COLUMN a SET DEFAULT 5;"),
        # no CASCADE where it would take more than foreign keys along
        ("DROP TABLE T CASCADE", "oracle", 'DROP TABLE "DBA".T CASCADE CONSTRAINTS;'),
        ("DROP TABLE T CASCADE CONSTRAINTS", "postgres", "DROP TABLE dba.t;"),
    ],
)  # fmt: skip
def test_said_as_the_target_says_it(text: str, dialect: str, statement: str) -> None:
    assert one(text, dialect) == statement


def test_names() -> None:
    text = 'CREATE TABLE shop.other."Odd Name" (a INTEGER, "b" INTEGER, PRIMARY KEY (a))'
    assert (
        one(text)
        == 'CREATE TABLE other."odd name" (a INTEGER NOT NULL, b INTEGER, PRIMARY KEY (a));'
    )
    assert (
        one(text, names="exact")
        == 'CREATE TABLE "OTHER"."Odd Name" ("A" INTEGER NOT NULL, b INTEGER, PRIMARY KEY ("A"));'
    )
    assert translate("DROP TABLE X.S.T", "postgres").notes == (
        "the catalog X is not part of names",
    )
    assert translate("DROP TABLE T", "postgres").statements == ("DROP TABLE t;",)


@pytest.mark.parametrize(
    ("text", "dialect", "words"),
    [
        (
            "CREATE TABLE T (A INTEGER DEFAULT 'x')",
            "postgres",
            "expected a constant of type INTEGER",
        ),
        (
            "CREATE TABLE T (A INTEGER DEFAULT 1.5)",
            "postgres",
            "expected a constant of type INTEGER",
        ),
        (
            "CREATE TABLE T (A DECIMAL(9, 2) DEFAULT 1.555)",
            "postgres",
            "expected a constant of type DECIMAL",
        ),
        ("CREATE TABLE T (A DATE DEFAULT '29.02.2024')", "postgres", "most significant part first"),
        (
            "CREATE TABLE T (A TIMESTAMP DEFAULT '2024-02-29 10:00:00.123456789')",
            "postgres",
            "2024-02-29",
        ),
        (
            "CREATE TABLE T (E VARBINARY DEFAULT 'ä')",
            "postgres",
            "expected a constant of type BLOB",
        ),
        ("CREATE TABLE T (A INTEGER, PRIMARY KEY (B))", "postgres", "no column B"),
        ("CREATE TABLE T (A INTEGER PRIMARY KEY, PRIMARY KEY (A))", "postgres", "two primary keys"),
        ("CREATE TABLE T (A INTEGER, a SMALLINT)", "postgres", "two columns of one name"),
        (
            "CREATE TABLE T (A INTEGER CHECK (A / 2 = 1))",
            "postgres",
            "'A / 2' may mean something else",
        ),
        (
            "CREATE TABLE T (B CHAR(3) CHECK (B LIKE 'a\\%'))",
            "postgres",
            "the backslash escapes elsewhere",
        ),
        ("CREATE TABLE T (B CHAR(3) CHECK (B || 'x' = 'ax'))", "oracle", "NULL for empty text"),
        (
            "CREATE TABLE T (C DECIMAL(9, 2) CHECK (C > 10))",
            "sqlite",
            "the number C is a text in sqlite",
        ),
        (
            "CREATE TABLE T (A INTEGER REFERENCES P)",
            "mysql",
            "needs the columns that a foreign key refers to",
        ),
        (
            "CREATE TABLE T (A INTEGER REFERENCES OTHER.P (A))",
            "sqlite",
            "no foreign keys into another schema",
        ),
        (
            "CREATE TABLE T (A INTEGER REFERENCES P (A) ON UPDATE CASCADE)",
            "oracle",
            "no foreign keys with ON UPDATE CASCADE",
        ),
        (
            "CREATE TABLE T (A INTEGER REFERENCES P (A) ON DELETE SET DEFAULT)",
            "mariadb",
            "ON DELETE SET DEFAULT",
        ),
        ("CREATE TABLE T (A INTEGER) LIKE U", "postgres", "LIKE beside a list of columns"),
        ("CREATE TABLE X.DBA.T (A INTEGER)", "postgres", "the catalog X is not the log's SHOP"),
        ("CREATE TABLE T (A DECIMAL(52, 45))", "duckdb", "has no type for it"),
        ("CREATE VIEW V AS SELECT LOCATE('a', B) FROM T", "postgres", "may mean something else"),
        ("CREATE VIEW V AS SELECT ROWNUM FROM T", "postgres", "the pseudo column ROWNUM"),
        (
            "CREATE VIEW V AS SELECT A FROM T NATURAL JOIN U",
            "postgres",
            "which columns are compared",
        ),
        ("CREATE VIEW V AS SELECT A FROM T FOR UPDATE", "postgres", "rows that are locked"),
        ("CREATE VIEW V AS SELECT A FROM T WITH CHECK OPTION", "duckdb", "no WITH CHECK OPTION"),
        ("ALTER TABLE T ADD COLUMN N INTEGER NOT NULL", "sqlite", "make a column NOT NULL"),
        (
            "ALTER TABLE T ADD COLUMN N INTEGER DEFAULT 1",
            "bigquery",
            "adds no columns with a default value",
        ),
        ("ALTER TABLE T MODIFY COLUMN N BIGINT", "mariadb", "needs the whole definition"),
        (
            "ALTER TABLE T ALTER COLUMN B SET DEFAULT 'x'",
            "postgres",
            "the type of the column is not known",
        ),
        ("ALTER TABLE T MODIFY SCHEMA S", "sqlite", "move a table to another schema"),
        ("DROP INDEX I", "mysql", "needs the table of an index"),
        ("SELECT A FROM T", "postgres", "no change of a table"),
        ("INSERT INTO T (A) VALUES (1)", "postgres", "no change of a table"),
    ],
)
def test_refused_by_name(text: str, dialect: str, words: str) -> None:
    with pytest.raises(SqlgenError) as refused:
        translate(text, dialect, "lower", DBA)
    assert refused.value.code == "LR3003"
    assert f"the statement {text}" in refused.value.message
    assert words in refused.value.message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  -- nothing\n",
        "DROP TABLE T; DROP TABLE U",
        "DROP THE TABLE",
        "CREATE TABLE T ('",
        "\x00",
    ],
)
def test_what_is_not_one_statement(text: str) -> None:
    with pytest.raises(SqlgenError) as refused:
        translate(text, "postgres")
    assert refused.value.code == "LR3021"


def test_a_name_that_the_target_cannot_have() -> None:
    with pytest.raises(SqlgenError, match="the statement DROP TABLE") as refused:
        translate(f"DROP TABLE {'A' * 64}", "postgres")
    assert refused.value.code == "LR3005"


@pytest.mark.parametrize(
    ("text", "qualified"),
    [
        ("CREATE SEQUENCE DBA.S", True),
        ("CREATE SEQUENCE S", False),
        ("CREATE INDEX DBA.I ON T (A)", False),
        ("CREATE INDEX DBA.I ON DBA.T (A)", True),
        ("CREATE VIEW DBA.V AS SELECT A FROM T", False),
        ("CREATE TABLE DBA.T (A INTEGER REFERENCES P)", False),
        ("ALTER TABLE DBA.T SET TABLE NAME U", True),
        ("DROP INDEX I", False),
        ("DROP DBA.T", True),
    ],
)
def test_names_that_need_no_session(text: str, qualified: bool) -> None:
    assert is_qualified(text) == qualified


def test_a_table_that_is_known() -> None:
    assert one("ALTER TABLE T MODIFY COLUMN C DECIMAL(9, 4)", "tsql", before=TABLE).endswith(
        "ALTER COLUMN c DECIMAL(38, 4) NULL;"
    )
    assert one("ALTER TABLE T MODIFY COLUMN A BIGINT", "tsql", before=TABLE).endswith(
        "ALTER COLUMN a BIGINT NOT NULL;"
    )
    assert one(
        "ALTER TABLE T ALTER COLUMN D SET DEFAULT '2024-02-29'", "oracle", before=TABLE
    ).endswith("MODIFY (D DEFAULT DATE '2024-02-29');")
    assert one(
        "ALTER TABLE T ADD CONSTRAINT CK CHECK (D > '2024-02-29')", "oracle", before=TABLE
    ).endswith("CHECK (D > DATE '2024-02-29');".replace(");", ");"))
    with pytest.raises(SqlgenError, match="no column Z"):
        one("ALTER TABLE T ALTER COLUMN Z SET DEFAULT 1", before=TABLE)


def test_notes_are_comments_of_one_line() -> None:
    made = target_statements(
        'CREATE TABLE T (A INTEGER) STORE MEMORY PARTITION BY ("\u202eA\u2028")',
        "postgres",
        "lower",
        DBA,
    )
    assert made == [
        "-- left out: STORE MEMORY",
        '-- left out: PARTITION BY ("\\u202EA\\u2028")',
        "CREATE TABLE dba.t (a INTEGER);",
    ]


TOKEN = re.compile(r'"(?:[^"]|"")*"|\'(?:[^\']|\'\')*\'|[\w$#]+|[^\s\w]')


@pytest.mark.parametrize("seed", range(3))
def test_damaged_statements_are_said_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    texts = [
        line
        for name in ("same", "spelled", "ddl")
        for line in (GOLDEN / f"soliddb.{name}.sql").read_text(encoding="utf-8").splitlines()
    ]
    words = [word for text in texts for word in TOKEN.findall(text)]
    said, codes = 0, set()
    for _ in range(400):
        damaged = TOKEN.findall(chance.choice(texts))
        for _ in range(chance.choice((1, 1, 2))):
            place = chance.randrange(len(damaged) + 1)
            damaged[place : place + chance.choice((0, 1, 1))] = chance.choice(
                ([], [chance.choice(words)])
            )
        try:
            made = translate(" ".join(damaged), chance.choice(list(BUILT_IN)), "lower", DBA)
        except SqlgenError as error:
            codes.add(error.code)
        else:
            said += 1
            assert all("\n" not in line for line in (*made.statements, *made.notes))
    assert 5 < said < 200
    assert codes == {"LR3003", "LR3021"}
