"""Schema files that rename tables and columns, move tables and drop columns: what is renamed is
named, and its keys are not used; a key that loses a column is none, and is named."""

from __future__ import annotations

import pytest

from sqlgen.ddl.ddl_reader import parse_constraints
from sqlgen.ddl.schema_file import defined_tables, parse_declared
from sqlgen.schema import Column, Constraints, SqlType, Table

PAIR = {"P.T": "A B", "P.U": "A B"}


def tables(columns: dict[str, str]) -> list[Table]:
    return [
        Table(*name.split("."), tuple(Column(one, SqlType.INTEGER) for one in said.split()))
        for name, said in columns.items()
    ]


def of(text: str, dialect: str, log: dict[str, str] | None = None) -> Constraints:
    return parse_constraints(text, dialect, tables(log or PAIR))


OLD = "CREATE TABLE p.old (x int UNIQUE, b int);"


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("CREATE TABLE P.OLD (A INT UNIQUE, B INT); RENAME TABLE P.OLD TO T", "db2"),
        ("CREATE TABLE P.OLD (A INT UNIQUE, B INT); RENAME P.OLD TO T", "db2"),
        ("SET SCHEMA Q; CREATE TABLE P.OLD (A INT UNIQUE); RENAME TABLE P.OLD TO T", "db2"),
        ("CREATE TABLE P.T (X INT UNIQUE, B INT); ALTER TABLE P.T RENAME COLUMN X TO A", "db2"),
        (
            "CREATE TABLE P.T (X INT UNIQUE, B INT); ALTER TABLE P.T RENAME COLUMN X TO Y;"
            " ALTER TABLE P.T RENAME COLUMN Y TO A",
            "db2",
        ),
        (f"{OLD} ALTER TABLE p.old RENAME TO t; ALTER TABLE p.t RENAME x TO a", "postgres"),
        (f"{OLD} ALTER TABLE IF EXISTS p.old RENAME COLUMN x TO a, RENAME TO t", "duckdb"),
        (f"{OLD} ALTER TABLE p.old RENAME TO t; ALTER TABLE t RENAME COLUMN x TO a", "sqlite"),
        ("CREATE TABLE q.t (a int UNIQUE); ALTER TABLE q.t SET SCHEMA p", "postgres"),
        (f"{OLD} RENAME TABLE p.old TO p.t; ALTER TABLE p.t CHANGE x a bigint NOT NULL", "mysql"),
        (f"{OLD} ALTER TABLE p.old RENAME AS t, RENAME COLUMN x TO a", "mysql"),
        ("CREATE TABLE p.old (a int UNIQUE); ALTER TABLE p.old RENAME t", "mysql"),
        (f"{OLD} RENAME old TO t; ALTER TABLE t RENAME COLUMN x TO a", "oracle"),
        (f"{OLD}\nGO\nEXEC sp_rename 'p.old', 't'\nGO\nsp_rename N't.[x]', N'a', 'COLUMN'", "tsql"),
        ("CREATE TABLE dbo.t (a int UNIQUE)\nGO\nALTER SCHEMA p TRANSFER OBJECT::dbo.t", "tsql"),
        (
            f"{OLD} ALTER TABLE p.old RENAME COLUMN x a; ALTER TABLE p.old SET TABLE NAME t",
            "soliddb",
        ),
        ("CREATE TABLE q.t (a int UNIQUE); ALTER TABLE q.t MODIFY SCHEMA p", "soliddb"),
    ],
)
def test_a_rename_is_named_and_its_keys_are_not_used(text: str, dialect: str) -> None:
    others = "CREATE TABLE p.u (a int, b int UNIQUE);".replace("int", "INT")
    found = of(f"{others}\n{text}", dialect)
    assert found.keys == (("P.U", ("B",)),)
    assert found.unread
    assert all("this is not followed" in said for said in found.unread)


def test_foreign_keys_of_what_is_renamed_are_not_used() -> None:
    stated = (
        "CREATE TABLE P.T (A INT UNIQUE, B INT); CREATE TABLE P.U (A INT UNIQUE, B INT);"
        " ALTER TABLE P.U ADD FOREIGN KEY (A) REFERENCES P.T (A);"
        " ALTER TABLE P.T ADD FOREIGN KEY (B) REFERENCES P.U (A);"
    )
    assert len(of(stated, "db2").foreign_keys) == 2
    table = of(f"{stated} RENAME TABLE P.T TO NEW", "db2")
    assert (table.keys, table.foreign_keys) == ((("P.U", ("A",)),), ())
    assert len(table.unread) == 1
    column = of(f"{stated} ALTER TABLE P.T RENAME COLUMN A TO C", "db2")
    assert column.keys == (("P.U", ("A",)),)
    assert [key.table for key in column.foreign_keys] == ["P.T"]


def test_renames_of_other_tables_and_of_partitions_do_not_matter() -> None:
    text = (
        "CREATE TABLE P.T (A INT UNIQUE); ALTER TABLE P.OTHER RENAME TO NEXT;"
        " ALTER TABLE P.T RENAME PARTITION A TO B; RENAME TABLE X TO Y"
    )
    found = of(text, "postgres")
    assert (found.keys, found.unread) == ((("P.T", ("A",)),), ())


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("CREATE UNIQUE INDEX P.I ON P.T (A); RENAME INDEX P.I TO J; DROP INDEX P.J", "db2"),
        ("CREATE UNIQUE INDEX i ON t (a); ALTER INDEX i RENAME TO j; DROP INDEX j", "postgres"),
        (
            "ALTER TABLE t ADD CONSTRAINT k UNIQUE (a); ALTER TABLE t RENAME CONSTRAINT k TO l;"
            " ALTER TABLE t DROP CONSTRAINT l",
            "postgres",
        ),
        (
            "CREATE TABLE t (a int, UNIQUE KEY k (a)); ALTER TABLE t RENAME KEY k TO l;"
            " ALTER TABLE t DROP KEY l",
            "mysql",
        ),
        (
            "CREATE TABLE t (a int CONSTRAINT k UNIQUE, b int CONSTRAINT l UNIQUE)\nGO\n"
            "ALTER TABLE t DROP CONSTRAINT k, l",
            "tsql",
        ),
    ],
)
def test_keys_are_dropped_by_their_last_names(text: str, dialect: str) -> None:
    found = of(text, dialect)
    assert (found.keys, found.unread) == ((), ())


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("RENAME TABLE P.T TO", "db2"),
        ("RENAME P.T AS U", "db2"),
        ("ALTER TABLE t RENAME ALL a TO b", "postgres"),
        ("RENAME TABLE t TO u, v", "mysql"),
        ("EXEC sp_rename 't.k', 'l'", "tsql"),
        ("EXEC sp_rename @old, 'l'", "tsql"),
    ],
)
def test_a_rename_that_is_not_plain_is_named(text: str, dialect: str) -> None:
    found = of(f"CREATE TABLE t (a int UNIQUE);\n{text};", dialect)
    assert len(found.unread) == 1
    assert found.unread[0].startswith("line 2: ")
    assert "RENAME" in found.unread[0].upper()


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("ALTER TABLE P.T DROP COLUMN C CASCADE", "db2"),
        ("ALTER TABLE P.T DROP C", "db2"),
        ("ALTER TABLE P.T DROP COLUMN C RESTRICT ADD COLUMN D INT", "db2"),
        ("ALTER TABLE p.t DROP COLUMN IF EXISTS c CASCADE", "postgres"),
        ("ALTER TABLE p.t DROP c", "postgres"),
        ("ALTER TABLE p.t DROP (b, c) CASCADE CONSTRAINTS", "oracle"),
        ("ALTER TABLE p.t SET UNUSED COLUMN c", "oracle"),
        ("ALTER TABLE p.t DROP COLUMN b, c", "tsql"),
        ("ALTER TABLE p.t DROP COLUMN c", "sqlite"),
        ("ALTER TABLE p.t DROP COLUMN c", "soliddb"),
        ("ALTER TABLE p.t DROP COLUMNS (c)", "spark"),
    ],
)
def test_the_keys_of_a_dropped_column_are_no_more_and_named(text: str, dialect: str) -> None:
    made = (
        "CREATE TABLE p.t (a int UNIQUE, b int, c int NOT NULL PRIMARY KEY,"
        " CONSTRAINT k UNIQUE (a, c), CONSTRAINT f FOREIGN KEY (c) REFERENCES p.u (a));"
    )
    found = of(f"{made} CREATE TABLE p.u (a int UNIQUE);\n{text};", dialect)
    assert found.keys == (("P.T", ("A",)), ("P.U", ("A",)))
    assert found.foreign_keys == found.unread == ()
    said = [entry.partition(":")[0].upper() for entry in found.unused]
    assert sorted(said) == [
        "FOREIGN KEY F OF P.T",
        "KEY (UNNAMED) OF P.T",
        "KEY K OF P.T",
    ]


def test_indexes_references_and_checks_go_with_a_column() -> None:
    made = (
        "CREATE TABLE P.U (A INT, B INT UNIQUE); CREATE TABLE P.T (A INT REFERENCES P.U (B), B INT,"
        " CONSTRAINT C CHECK (A > B)); CREATE UNIQUE INDEX P.I ON P.T (A, B);"
        " ALTER TABLE P.T DROP COLUMN B CASCADE; ALTER TABLE P.U DROP COLUMN B CASCADE;"
    )
    found = of(made, "db2")
    assert (found.keys, found.foreign_keys, found.outside) == ((), (), ())
    assert sorted(found.unused) == [
        "foreign key (unnamed) of P.T: the file drops column B",
        "key (unnamed) of P.U: the file drops column B",
        "key I of P.T: the file drops column B",
    ]
    declared = parse_declared(made, "db2", tables(PAIR))
    assert declared["P.T"].checks == ()
    assert declared["P.T"].unused == ("check C of P.T: the file drops column B",)


def test_a_column_that_is_added_again_is_another() -> None:
    found = of(
        "CREATE TABLE P.T (A INT, B INT UNIQUE); ALTER TABLE P.T DROP COLUMN B;"
        " ALTER TABLE P.T ADD COLUMN B INT; CREATE UNIQUE INDEX P.I ON P.T (A, B)",
        "db2",
    )
    assert found.keys == (("P.T", ("A", "B")),)


def test_what_mysql_leaves_of_a_key_is_not_known() -> None:
    found = of("CREATE TABLE t (a int, b int, UNIQUE KEY k (a, b)); ALTER TABLE t DROP b", "mysql")
    assert found.keys == ()
    assert found.unread == (
        "line 1: DROP b (table t): this is not followed, so no key of it is used",
    )


def test_a_default_stays_where_the_log_has_the_column() -> None:
    text = "CREATE TABLE P.T (B INT DEFAULT 8 UNIQUE); ALTER TABLE P.T DROP COLUMN B CASCADE"
    defaults = parse_declared(text, "db2", tables(PAIR))["P.T"].defaults
    assert {name: tree.sql() for name, tree in defaults.items()} == {"B": "8"}


def test_what_is_declared_of_what_is_renamed_is_not_known() -> None:
    text = "CREATE TABLE P.T (X INT DEFAULT 7); ALTER TABLE P.T RENAME COLUMN X TO A"
    declared = parse_declared(text, "db2", tables(PAIR))["P.T"]
    assert declared.defaults == {}
    assert declared.unused == ("line 1: RENAME COLUMN X TO A (table P.T): not understood",)


def test_defined_tables_have_the_columns_of_the_end() -> None:
    (table,) = defined_tables(
        "CREATE TABLE P.T (A INT NOT NULL PRIMARY KEY, B INT); ALTER TABLE P.T DROP COLUMN B",
        "db2",
    )
    assert (table.schema, table.name, table.key) == ("P", "T", ("A",))
    assert [column.name for column in table.columns] == ["A"]


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ('CREATE TABLE P."Emp" (A INT, B INT); CREATE TABLE P.EMP (A INT, B INT UNIQUE)', False),
        ('CREATE TABLE P.EMP (A INT UNIQUE); ALTER TABLE P."Emp" ADD UNIQUE (B)', False),
        ('CREATE TABLE P."Emp" (A INT, B INT UNIQUE); CREATE TABLE Q.EMP (A INT)', True),
        ('CREATE TABLE P."EMP" (A INT, B INT); ALTER TABLE P.emp ADD UNIQUE (B)', True),
        ('CREATE TABLE P."emp" (A INT, B INT); ALTER TABLE P.emp ADD UNIQUE (B)', True),
    ],
)
@pytest.mark.parametrize("dialect", ["db2", "postgres"])
def test_of_tables_whose_names_differ_in_case_only_no_key_is_used(
    text: str, used: bool, dialect: str
) -> None:
    found = of(text, dialect, {"P.Emp": "A B"})
    assert found.keys == ((("P.EMP", ("B",)),) if used else ())
    assert [one for one in found.unread if "EMP, Emp differ in case only" in one] == (
        [] if used else list(found.unread)
    )
    assert bool(found.unread) is not used


@pytest.mark.parametrize("quote", ["", "`"])
def test_tables_of_mysql_are_two_without_quotes_too(quote: str) -> None:
    columns = f"CREATE TABLE p.{quote}%s{quote} (a int, b int%s);"
    text = columns % ("Emp", "") + columns % ("emp", " UNIQUE")
    found = of(text, "mysql", {"p.Emp": "a b"})
    assert found.keys == ()
    assert "EMP, Emp differ in case only" in found.unread[0]
    assert of(columns % ("Emp", " UNIQUE"), "mysql", {"p.Emp": "a b"}).keys == (("P.EMP", ("b",)),)


def test_quotes_do_not_count_where_names_are_the_same_in_any_case() -> None:
    text = "CREATE TABLE [p].[Emp] (a int, b int);\nALTER TABLE p.emp ADD UNIQUE (b);"
    assert of(text, "tsql", {"P.Emp": "A B"}).keys == (("P.EMP", ("B",)),)


@pytest.mark.parametrize("key", ['"Id"', "ID", "id", 'ID, "V"'])
def test_of_columns_whose_names_differ_in_case_only_no_key_is_used(key: str) -> None:
    text = f'CREATE TABLE P.T ("Id" INT NOT NULL, ID INT DEFAULT 7, V INT, UNIQUE ({key}))'
    log = {"P.T": "Id ID V"}
    found = of(text, "db2", log)
    assert found.keys == ()
    assert [one.partition(":")[0] for one in found.unused] == ["a key of P.T"]
    declared = parse_declared(text, "db2", tables(log))["P.T"]
    assert declared.defaults == {}
    assert any("differ in case only" in one for one in declared.unused)
    assert of(text.replace(f"({key})", "(V)"), "db2", log).keys == (("P.T", ("V",)),)
