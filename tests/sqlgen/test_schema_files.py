"""Schema files as the tools of other databases write them: each key is read, or what may state one
is named. A key that is lost in silence is a wrong row later."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sqlgen.ddl.ddl_reader import parse_constraints
from sqlgen.ddl.ddl_tokens import decoded, statements
from sqlgen.ddl.schema_file import parse_declared
from sqlgen.dialects import BUILT_IN, profile_named
from sqlgen.errors import SqlgenError
from sqlgen.schema import Column, Constraints, SqlType, Table
from tests.support.examples import examples
from tests.support.places import FIXTURES

COLUMNS = {
    "BERTH": "BERTH_ID NAME DEPTH",
    "VESSEL": "IMO NAME FLAG OWNER_ID",
    "PORTCALL": "CALL_ID IMO BERTH_ID ARRIVED DEPARTED DURATION",
    "CARGO": "CALL_ID LINE_NO GOODS WEIGHT",
    "OWNER": "OWNER_ID NAME TAXNO COUNTRY",
    "LOGBOOK": "ENTRY_ID CALL_ID AT NOTE",
}
HARBOR = [
    Table("HARBOR", name, tuple(Column(column, SqlType.INTEGER) for column in columns.split()))
    for name, columns in COLUMNS.items()
]
#: Keys that all four files state, then those of each.
COMMON = {
    ("BERTH", "BERTH_ID"),
    ("BERTH", "NAME"),
    ("VESSEL", "IMO"),
    ("OWNER", "OWNER_ID"),
    ("OWNER", "TAXNO"),
    ("CARGO", "CALL_ID LINE_NO"),
}
KEYS = {
    "pg-dump": {
        ("OWNER", "NAME COUNTRY"),
        ("LOGBOOK", "CALL_ID AT"),
        ("PORTCALL", "CALL_ID ARRIVED"),
    },
    "mysqldump": {
        ("VESSEL", "NAME"),
        ("VESSEL", "NAME FLAG"),
        ("PORTCALL", "CALL_ID"),
        ("PORTCALL", "IMO ARRIVED"),
        ("LOGBOOK", "ENTRY_ID"),
        ("LOGBOOK", "CALL_ID AT"),
    },
    "oracle-metadata": {("PORTCALL", "CALL_ID"), ("LOGBOOK", "ENTRY_ID")},
    "sqlserver-script": {
        ("OWNER", "NAME COUNTRY"),
        ("PORTCALL", "CALL_ID"),
        ("LOGBOOK", "ENTRY_ID"),
        ("LOGBOOK", "CALL_ID AT"),
    },
}
FOREIGN_KEYS = {
    "pg-dump": {
        ("CARGO", "CALL_ID", "PORTCALL", "CASCADE", True),
        ("PORTCALL", "IMO", "VESSEL", "RESTRICT", False),
        ("PORTCALL", "BERTH_ID", "BERTH", "SET DEFAULT", False),
        ("VESSEL", "OWNER_ID", "OWNER", "SET NULL", False),
    },
    "mysqldump": {
        ("VESSEL", "OWNER_ID", "OWNER", "SET NULL", False),
        ("PORTCALL", "IMO", "VESSEL", "CASCADE", False),
        ("PORTCALL", "BERTH_ID", "BERTH", "NO ACTION", False),
        ("CARGO", "CALL_ID", "PORTCALL", "CASCADE", False),
        ("LOGBOOK", "CALL_ID", "PORTCALL", "NO ACTION", False),
    },
    "oracle-metadata": {
        ("VESSEL", "OWNER_ID", "OWNER", "SET NULL", False),
        ("PORTCALL", "IMO", "VESSEL", "CASCADE", True),
        ("CARGO", "CALL_ID", "PORTCALL", "CASCADE", False),
    },
    "sqlserver-script": {
        ("VESSEL", "OWNER_ID", "OWNER", "SET NULL", False),
        ("CARGO", "CALL_ID", "PORTCALL", "NO ACTION", False),
    },
}
NO_KEY = "NOT ENFORCED, so the database neither checks it nor acts on it"
UNUSED = {
    "pg-dump": [
        "unique index vessel_lower on HARBOR.VESSEL: it is over an expression",
        "unique index vessel_named on HARBOR.VESSEL: it is over a part of the rows",
        f"foreign key log_call of HARBOR.LOGBOOK: {NO_KEY}",
    ],
    "mysqldump": [
        "unique index name_prefix on HARBOR.OWNER: it is over parts of values",
        "unique index lowered on HARBOR.OWNER: it is over an expression",
    ],
    "oracle-metadata": [
        f"foreign key PORTCALL_BERTH of HARBOR.PORTCALL: {NO_KEY}",
        "unique index OWNER_UP on HARBOR.OWNER: it is over an expression",
        f"key CARGO_U of HARBOR.CARGO: {NO_KEY}",
    ],
    "sqlserver-script": [
        "unique index UX_VESSEL on HARBOR.VESSEL: it is over a part of the rows",
        f"foreign key FK_PV of HARBOR.PORTCALL: {NO_KEY}",
    ],
}
UNREAD = {
    "pg-dump": [
        "line 142: CONSTRAINT berth_free EXCLUDE USING gist",
        "line 152: CONSTRAINT logbook_pk PRIMARY KEY USING INDEX",
    ],
}
PASSED = {"pg-dump": 31, "mysqldump": 16, "oracle-metadata": 6, "sqlserver-script": 13}
DIALECTS = {
    "pg-dump": "postgres",
    "mysqldump": "mysql",
    "oracle-metadata": "oracle",
    "sqlserver-script": "tsql",
}
PATHS = {name: FIXTURES / "ddl" / f"{name}.sql" for name in DIALECTS}
DB2 = sorted((FIXTURES / "db2ddl").glob("*.sql"))
OTHERS = sorted({*BUILT_IN, "soliddb", "clickhouse", "databricks"} - {"db2", "db2zos"})


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def keys(found: Constraints) -> set[tuple[str, str]]:
    return {(table.partition(".")[2], " ".join(columns)) for table, columns in found.keys}


def foreign(found: Constraints) -> set[tuple[str, str, str, str, bool]]:
    return {
        (
            key.table.partition(".")[2],
            " ".join(key.columns),
            key.parent.partition(".")[2],
            key.on_delete,
            key.deferrable,
        )
        for key in found.foreign_keys
    }


@pytest.mark.parametrize("name", DIALECTS)
def test_what_each_vendors_file_states(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    found = parse_constraints(text_of(PATHS[name]), DIALECTS[name], HARBOR)
    assert keys(found) == COMMON | KEYS[name]
    assert foreign(found) == FOREIGN_KEYS[name]
    assert list(found.unused) == UNUSED[name]
    wanted = UNREAD.get(name, [])
    assert len(found.unread) == len(wanted)
    assert all(map(str.startswith, found.unread, wanted))
    assert found.passed == PASSED[name]  # what is about other things
    assert capfd.readouterr() == ("", "")


GENERATED = {
    "pg-dump": "how HARBOR.PORTCALL.DURATION is generated",
    "mysqldump": "how HARBOR.PORTCALL.ARRIVED is generated",
    "oracle-metadata": "how HARBOR.PORTCALL.DURATION is generated",
    "sqlserver-script": "how HARBOR.PORTCALL.ARRIVED is generated",
}


@pytest.mark.parametrize("name", DIALECTS)
def test_a_generated_column_is_said(name: str) -> None:
    declared = parse_declared(text_of(PATHS[name]), DIALECTS[name], HARBOR)["HARBOR.PORTCALL"]
    assert any(said.startswith(GENERATED[name]) for said in declared.unused)


def test_how_db2_generates_columns_is_said() -> None:
    text = (
        "CREATE TABLE HARBOR.PORTCALL (IMO INT, DURATION INT GENERATED ALWAYS AS (IMO + 1), ARRIVED"
        " TIMESTAMP(12) NOT NULL GENERATED ALWAYS AS ROW BEGIN, CALL_ID INT GENERATED ALWAYS AS"
        " IDENTITY)"
    )
    declared = parse_declared(text, "db2", HARBOR)["HARBOR.PORTCALL"]
    assert list(declared.unused) == [
        f"how HARBOR.PORTCALL.{name} is generated: it becomes an ordinary column with the log's"
        " values"
        for name in ("DURATION", "ARRIVED")
    ]
    assert list(declared.identities) == ["CALL_ID"]


def test_what_alter_table_says_of_values() -> None:
    text = text_of(PATHS["pg-dump"])
    assert list(parse_declared(text, "postgres", HARBOR)["HARBOR.BERTH"].identities) == ["BERTH_ID"]
    declared = parse_declared(text_of(PATHS["sqlserver-script"]), "tsql", HARBOR)
    assert set(declared["HARBOR.BERTH"].defaults) == {"DEPTH"}


@pytest.mark.long
@pytest.mark.parametrize("dialect", [*OTHERS, "db2"])
@pytest.mark.parametrize("path", [*PATHS.values(), *DB2], ids=lambda path: path.stem)
def test_no_key_is_lost_in_silence_in_the_wrong_dialect(path: Path, dialect: str) -> None:
    """A file read as one of another database is refused, has parts that are named, or all keys."""
    text = text_of(path)
    own = parse_constraints(text, DIALECTS.get(path.stem, "db2"), HARBOR)
    try:
        found = parse_constraints(text, dialect, HARBOR, lenient=True)
    except SqlgenError:
        return
    stated = {(table, frozenset(columns)) for table, columns in own.keys}
    seen = {(table, frozenset(columns)) for table, columns in found.keys}
    lost = len(stated - seen) + len(foreign(own) - foreign(found))
    assert not lost or found.unread


WORDS = ["SOMEHOW", ")", "(", ",", ";", "'", '"', "UNIQUE", "ADD", "NOT", "BEGIN", "END;"]


@pytest.mark.long
@settings(max_examples=examples(60))
@given(st.sampled_from(sorted(DIALECTS)), st.integers(0, 4000), st.sampled_from(WORDS))
@example("sqlserver-script", 478, ")")
@example("oracle-metadata", 407, "NOT")
@example("oracle-metadata", 739, "ADD")
@example("oracle-metadata", 740, "(")
@example("oracle-metadata", 741, "END;")
@example("pg-dump", 922, ";")
@example("pg-dump", 922, "END;")
@example("sqlserver-script", 480, ";")
@example("sqlserver-script", 409, ")")
@example("sqlserver-script", 480, "END;")
def test_a_word_too_many_costs_no_key_in_silence(name: str, place: int, word: str) -> None:
    text = text_of(PATHS[name])
    blanks = [at for at, character in enumerate(text) if character in " \n"]
    at = blanks[place % len(blanks)]
    odd = f"{text[:at]} {word} {text[at:]}"
    try:
        found = parse_constraints(odd, DIALECTS[name], HARBOR, lenient=True)
    except SqlgenError:
        return
    known = [entry.partition(": ")[2] for entry in UNREAD.get(name, [])]
    said = [entry for entry in found.unread if not entry.partition(": ")[2].startswith((*known,))]
    said += set(found.unused) - set(UNUSED[name])
    lost = len((COMMON | KEYS[name]) - keys(found)) + len(FOREIGN_KEYS[name] - foreign(found))
    assert not lost or said or found.outside


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("CREATE TABLE p.t (a int, b int, PRIMARY KEY (a, ))", "postgres"),
        ("CREATE TABLE p.t (a int, b int, UNIQUE (, a))", "mysql"),
        ("CREATE UNIQUE INDEX i ON p.t (a, , b)", "db2"),
        ("CREATE TABLE p.t (a int, b int DEFAULT 1 PRIMARY KEY (a))", "mysql"),
        ("CREATE TABLE p.t (a int, b int NULL CONSTRAINT k PRIMARY KEY CLUSTERED (a))", "tsql"),
        ("CREATE TABLE p.t (a int, PRIMARY KEY (a) (b))", "db2"),
        ("ALTER TABLE p. ADD PRIMARY KEY (a)", "postgres"),
        ('ALTER TABLE "P". ADD CONSTRAINT k UNIQUE (a)', "db2"),
        ("CREATE TABLE p. (a int PRIMARY KEY)", "oracle"),
        ("CREATE UNIQUE INDEX i ON p. USING btree (a)", "postgres"),
        (
            "CREATE TABLE p.t (a int, SUPPLEMENTAL LOG DATA (PRIMARY KEY) COLUMNS"
            " CONSTRAINT f FOREIGN KEY (a) REFERENCES p.u (a))",
            "oracle",
        ),
    ],
)
def test_a_word_too_few_gives_no_other_key_in_silence(text: str, dialect: str) -> None:
    found = of_pair(f"CREATE TABLE p.u (a int);\n{text};", dialect)
    assert (found.keys, found.foreign_keys) == ((), ())
    assert [entry[:7] for entry in found.unread] == ["line 2:"]


PAIR = [Table("P", name, tuple(Column(c, SqlType.INTEGER) for c in "AB")) for name in ("T", "U")]


def of_pair(text: str, dialect: str) -> Constraints:
    return parse_constraints(text, dialect, PAIR)


@pytest.mark.parametrize("dialect", ["db2", "postgres", "mysql"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("CREATE TABLE p.t (a int NOT NULL PRIMARY KEY, b int)", "PRIMARY KEY"),
        ("CREATE TABLE p.t (a int NOT NULL UNIQUE, b int)", "UNIQUE"),
        ("CREATE TABLE p.t (a int, b int, PRIMARY KEY (a))", "PRIMARY KEY"),
        ("CREATE TABLE p.t (a int, b int, UNIQUE (a))", "UNIQUE"),
        ("CREATE TABLE p.t (a int, b int, CONSTRAINT k PRIMARY KEY (a))", "CONSTRAINT PRIMARY KEY"),
        ("CREATE UNIQUE INDEX p.k ON p.t (a)", "UNIQUE"),
        ("ALTER TABLE p.t ADD UNIQUE (a)", "UNIQUE"),
        ("ALTER TABLE p.t ADD CONSTRAINT k UNIQUE (a)", "CONSTRAINT UNIQUE"),
        ("ALTER TABLE p.t ADD PRIMARY KEY (a)", "PRIMARY KEY"),
        ("CREATE TABLE q.x (n int, a int REFERENCES p.t (a))", "REFERENCES"),
        ("CREATE TABLE q.x (n int, a int, FOREIGN KEY (a) REFERENCES p.t (a))", "KEY REFERENCES"),
        ("ALTER TABLE q.x ADD FOREIGN KEY (a) REFERENCES p.t (a)", "FOREIGN KEY REFERENCES"),
        ("ALTER TABLE p.t ADD FOREIGN KEY (a) REFERENCES q.x (a)", "FOREIGN KEY REFERENCES"),
    ],
)
def test_a_slip_in_a_word_of_keys_is_named(text: str, words: str, dialect: str) -> None:
    """A letter that is missing, or two that are turned: in tables of the log, and in those that
    refer to them."""
    for word in words.split():
        at = text.index(word)
        for place in range(len(word) - 1):
            for slip in (word[place + 1] + word[place] + word[place + 2 :], word[place + 1 :]):
                odd = word[:place] + slip
                if odd != word:
                    said = text[:at] + odd + text[at + len(word) :]
                    found = of_pair(f"CREATE TABLE p.u (a int);\n{said}", dialect)
                    assert found.unread or found.referred or found.outside, said


@pytest.mark.parametrize("dialect", [*OTHERS, "db2"])
def test_a_key_in_words_that_nobody_knows_is_named(dialect: str) -> None:
    for odd in (
        "SELECT 'open" * (dialect != "db2") or "IMPOSE UNIQUE (A)",
        "IMPOSE PRIMARY KEY (A) UPON p.t",
        "ALTER TABLE p.t MOOR UNIQUE (a)",
        "ALTER TABLE p.t ADD UNIQUE (b) SOMEHOW",
        "CREATE UNIQUE SOMEHOW INDEX i ON p.t (a) SOMEHOW",
        "CREATE TABLE p.u (a int, PRIMARY KEY (a) SOMEHOW)",
        "CREATE TABLE p.u (a int) SOMEHOW UNIQUE (a)",
        "ALTER TABLE p.t ADD PRIMARY KEY (b) ASC",
        "WHERE (a IS NULL)" * (dialect != "db2") or "IMPOSE UNIQUE (A)",
        "CREATE UNIQUE",
        "CREATE UNIQUE CLUSTERED",
        "BEGIN EXECUTE IMMEDIATE 'ALTER TABLE p.t ADD UNIQUE (b)'",
    ):
        found = of_pair(f"CREATE TABLE p.t (a int, b int);\n{odd};", dialect)
        assert [entry[:7] for entry in found.unread] == ["line 2:"], odd
        assert found.keys == ()


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("CREATE TABLE t (a int, CONSTRAINT k UNIQUE (a)); ALTER TABLE t DROP CONSTRAINT k", ""),
        ("CREATE UNIQUE INDEX k ON t (a); DROP INDEX k", ""),
        ("CREATE UNIQUE INDEX k ON t (a); DROP INDEX IF EXISTS p.k", ""),
        ("CREATE UNIQUE INDEX k ON t (a)\nDROP INDEX k ON t", "tsql"),
        ("CREATE TABLE t (a int CONSTRAINT k UNIQUE)\nALTER TABLE t DROP k", "tsql"),
        ("CREATE TABLE t (a int, UNIQUE KEY k (a)); ALTER TABLE t DROP INDEX k", "mysql"),
        ("CREATE TABLE t (a int UNIQUE); DROP TABLE IF EXISTS t", ""),
        ("CREATE TABLE t (a int CONSTRAINT k UNIQUE DISABLE)", "oracle"),
        ("CREATE TABLE t (a int REFERENCES u (a) DISABLE)", "oracle"),
        ("CREATE TABLE t (a int, UNIQUE (a) DISABLE)", "oracle"),
        ("CREATE UNIQUE INDEX k ON t (a); DROP INDEX k", "db2"),
    ],
)
def test_keys_that_are_no_more(text: str, dialect: str) -> None:
    found = of_pair(text, dialect or "postgres")
    assert (found.keys, found.foreign_keys, found.unread) == ((), (), ())


def test_a_foreign_key_to_another_table_is_dropped_too() -> None:
    made = "ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES elsewhere (x);"
    assert of_pair(made, "postgres").outside == (("P.T", "foreign key f of P.T to ELSEWHERE"),)
    assert of_pair(f"{made} ALTER TABLE t DROP CONSTRAINT g", "postgres").outside != ()
    assert of_pair(f"{made} ALTER TABLE t DROP CONSTRAINT F", "postgres").outside == ()


REFERS = "ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (a, b) REFERENCES u (a, b) "


@pytest.mark.parametrize(
    ("said", "action", "some"),
    [
        ("ON DELETE SET NULL (a)", "SET NULL", ("A",)),
        ('ON UPDATE CASCADE ON DELETE SET DEFAULT ("b") DEFERRABLE', "SET DEFAULT", ("B",)),
        ("ON DELETE SET NULL (b, a)", "SET NULL", ()),
    ],
)  # fmt: skip
def test_columns_that_a_delete_sets(said: str, action: str, some: tuple[str, ...]) -> None:
    found = of_pair(f"CREATE TABLE u (a int, b int, UNIQUE (a, b)); {REFERS}{said}", "postgres")
    assert [(key.on_delete, key.set_columns) for key in found.foreign_keys] == [(action, some)]
    assert found.unread == ()


@pytest.mark.parametrize(
    "said",
    [
        "ON DELETE CASCADE (a)",
        "ON UPDATE SET NULL (a)",
        "ON DELETE SET NULL ()",
        "ON DELETE SET NULL (a",
        "ON DELETE SET NULL (lower(a))",
        "ON DELETE SET NULL (a) ON DELETE SET NULL (b)",
    ],
)
def test_columns_that_a_delete_cannot_set(said: str) -> None:
    found = of_pair(f"CREATE TABLE u (a int, b int); {REFERS}{said}", "postgres")
    assert found.foreign_keys == ()
    assert found.unread


def test_a_column_that_a_delete_sets_and_that_is_not_there() -> None:
    with pytest.raises(SqlgenError, match="found column z in a key of P.T"):
        of_pair(f"{REFERS}ON DELETE SET NULL (z)", "postgres")


def test_an_index_of_another_table_stays() -> None:
    found = of_pair(
        "CREATE TABLE t (a int, UNIQUE KEY k (a)); CREATE TABLE u (a int); DROP INDEX k ON u",
        "mysql",
    )
    assert found.keys == (("P.T", ("A",)),)


@pytest.mark.parametrize(
    ("text", "dialect", "wanted"),
    [
        ("CREATE TABLE t (a int KEY)", "mysql", ("A",)),
        ("CREATE TABLE t (a int, b int, UNIQUE k USING BTREE (a, b DESC))", "mysql", ("A", "B")),
        ("CREATE TABLE t (`a` int COMMENT 'no KEY', `b` int UNIQUE KEY)", "mysql", ("B",)),
        ('CREATE TABLE t ([a] int PRIMARY KEY, "b" int) WITHOUT ROWID', "sqlite", ("A",)),
        ("CREATE TABLE t (a int UNIQUE ON CONFLICT IGNORE)", "sqlite", ("A",)),
        ("ALTER TABLE t ADD (a int, b int PRIMARY KEY)", "oracle", ("B",)),
        ("ALTER TABLE t ADD a int, CONSTRAINT k UNIQUE (b, a)", "tsql", ("B", "A")),
        ("CREATE TABLE t (a int, b int, CONSTRAINT UNIQUE (b))", "mysql", ("B",)),
        ("CREATE TABLE IF NOT EXISTS t (a int DEFAULT (1) PRIMARY KEY)", "duckdb", ("A",)),
        ("CREATE UNIQUE INDEX IF NOT EXISTS i ON ONLY t USING btree (b)", "postgres", ("B",)),
        ("ALTER TABLE IF EXISTS ONLY t ADD PRIMARY KEY (a) INCLUDE (b)", "postgres", ("A",)),
    ],
)
def test_keys_in_many_words(text: str, dialect: str, wanted: tuple[str, ...]) -> None:
    found = of_pair(text, dialect)
    assert found.keys == (("P.T", wanted),)
    assert found.unread == ()


@pytest.mark.parametrize(
    ("dialect", "text", "texts"),
    [
        ("postgres", "a $x$ ; $$ ; $x$; b 'it''s;' E'\\';'; c", 3),
        ("postgres", "\\connect x;\nCOPY t FROM stdin;\n1\t'\n\\.\na; b", 3),
        ("postgres", "BEGIN; a; END; b", 4),
        ("postgres", "CREATE FUNCTION f() BEGIN ATOMIC x; y; END; b", 2),
        ("mysql", "/*!40101 a */; b '\\';' \"it's;\"; # ;\nc -- ;\n;", 3),
        ("mysql", "DELIMITER ;;\nCREATE TRIGGER x BEGIN a; b; END ;;\nDELIMITER ;\nc; d", 3),
        ("mysql", "CREATE TRIGGER x BEGIN IF a THEN b; END IF; END; c", 2),
        ("tsql", "a [x;]]] b\nGO\nc\ngo 5\nCREATE TABLE t (a int)\nCREATE TABLE u (a int)", 4),
        ("tsql", "IF x\nBEGIN\nCREATE TABLE t (a int)\nEND", 4),
        ("tsql", "CREATE PROC x AS\nCREATE TABLE #t (a int);\nEND\nGO\nb", 2),
        (
            "oracle",
            "SET PAGESIZE 0\nPROMPT it's\na;\nCREATE TRIGGER x BEGIN y; END;\n/\nb;\nc\n/",
            4,
        ),
        ("oracle", "ALTER TRIGGER x ENABLE; b;\nBEGIN c; END;\n/", 3),
        ("sqlite", ".mode list\nCREATE TRIGGER t BEGIN a; CASE WHEN 1 THEN 2 END; END; b", 2),
        ("duckdb", "a 'never closed; b", 2),
        ("trino", "CREATE FUNCTION f BEGIN NEVER ENDS; b; c", 3),
    ],
)
def test_statements_of_a_script(dialect: str, text: str, texts: int) -> None:
    found = list(statements(text, dialect))
    assert len(found) == texts, [statement.text for statement in found]


def test_lines_are_those_of_the_file() -> None:
    for path in (*PATHS.values(), FIXTURES / "db2ddl" / "zos-job.sql"):
        lines = text_of(path).split("\n")
        dialect = DIALECTS.get(path.stem, "db2")
        found = [s for s in statements(text_of(path), dialect) if s.text.strip()]
        assert len(found) > 5, path
        for statement in found:
            first = statement.text.split("\n")[0]
            assert first
            assert first in lines[statement.line() - 1]


def test_all_profiles_have_a_reader() -> None:
    for name in BUILT_IN:
        dialect = profile_named(name).sqlglot
        found = of_pair("CREATE TABLE t (a int, PRIMARY KEY (a))", str(dialect))
        assert found.keys == (("P.T", ("A",)),)


def test_a_dialect_that_there_is_none_of_is_refused() -> None:
    with pytest.raises(SqlgenError, match="found the dialect db3") as caught:
        of_pair("CREATE TABLE t (a int)", "db3")
    assert caught.value.code == "LR1010"
    assert all(name in caught.value.hint for name in ("db2", "soliddb", "postgres", "mariadb"))


MADE = "CREATE TABLE t (a int UNIQUE, b char(9) DEFAULT 'größe'); -- für später\n"


@pytest.mark.parametrize(
    ("raw", "encoding", "notes"),
    [
        (MADE.encode(), "", 0),
        (codecs.BOM_UTF8 + MADE.encode(), "cp037", 0),
        (MADE.encode("utf-16"), "", 0),
        (MADE.encode("cp1252"), "cp1252", 0),
        (MADE.encode("cp273"), "cp273", 0),
        (MADE.encode("latin-1"), "", 1),
    ],
)
def test_encodings_of_a_file(raw: bytes, encoding: str, notes: int) -> None:
    text, said = decoded(raw, "postgres", encoding)
    assert text.removeprefix("\ufeff") == MADE
    assert len(said) == notes
    assert of_pair(text, "postgres").keys == (("P.T", ("A",)),)


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("", "line 2 of the schema is no UTF-8, and a name depends on it"),
        ("ascii", "line 1 of the schema is no text in ascii"),
        ("cp99", "found the code page cp99"),
    ],
)
def test_an_encoding_that_cannot_be(encoding: str, said: str) -> None:
    raw = "CREATE TABLE t (a int);\nCREATE TABLE größe (a int)".encode("latin-1")
    with pytest.raises(SqlgenError, match=said) as caught:
        decoded(raw, "postgres", encoding)
    assert caught.value.code == "LR1010"
    assert "--schema-encoding" in caught.value.hint


def test_history_tables_of_sql_server() -> None:
    on = "SYSTEM_VERSIONING = ON (HISTORY_TABLE = HARBOR.{}, DATA_CONSISTENCY_CHECK = ON)"
    text = f"""CREATE TABLE HARBOR.OWNER (OWNER_ID int PRIMARY KEY) WITH ({on.format("CARGO")});
        ALTER TABLE HARBOR.OWNER SET (SYSTEM_VERSIONING = OFF);
        CREATE TABLE HARBOR.BERTH (BERTH_ID int PRIMARY KEY) WITH (SYSTEM_VERSIONING = ON);
        ALTER TABLE HARBOR.VESSEL SET ({on.format("[LOGBOOK]")});"""
    found = parse_constraints(text, "tsql", HARBOR)
    assert found.history == (("HARBOR.LOGBOOK", "HARBOR.VESSEL"),)
    assert found.unread == ()
