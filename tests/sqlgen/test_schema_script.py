"""The script that makes the tables of a log: what is in it, what cannot be said, and what is
refused."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlglot

from replay.cli.main import main
from sqlgen.ddl.schema_script import schema_script
from sqlgen.dialects import BUILT_IN, profile_named
from sqlgen.errors import SqlgenError
from sqlgen.schema import Column, Constraints, ForeignKey, SqlType, Table

DEPT = Table(
    "APP",
    "DEPT",
    (Column("ID", SqlType.INTEGER, False), Column("NAME", SqlType.VARCHAR, False, 30)),
    ("ID",),
)
EMP = Table(
    "APP",
    "EMP",
    (
        Column("ID", SqlType.INTEGER, False),
        Column("DEPT", SqlType.INTEGER),
        Column("MADE", SqlType.TIMESTAMP, True, 12),
    ),
    ("ID",),
)
KEYS = Constraints(
    (("APP.DEPT", ("ID",)), ("APP.DEPT", ("NAME",))),
    (ForeignKey("WORKS", "APP.EMP", ("DEPT",), "APP.DEPT", (), "SET NULL"),),
)


def statements(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("--")]


def test_keys_and_notes() -> None:
    made = schema_script([EMP, DEPT], KEYS, profile_named("postgres"))
    assert statements(made.text) == [
        "SET search_path = pg_catalog, pg_temp;",
        "CREATE SCHEMA app;",
        (
            "CREATE TABLE app.emp (id INTEGER NOT NULL, dept INTEGER, made TIMESTAMP(6), PRIMARY"
            " KEY (id));"
        ),
        "CREATE TABLE app.dept (id INTEGER NOT NULL, name VARCHAR(30) NOT NULL, PRIMARY KEY (id));",
        "CREATE UNIQUE INDEX dept_u1 ON app.dept(name);",
        (
            "ALTER TABLE app.emp ADD CONSTRAINT works FOREIGN KEY (dept) REFERENCES app.dept (id)"
            " ON DELETE SET NULL;"
        ),
    ]
    assert [(note.column, note.fidelity) for note in made.notes] == [("MADE", "lossy")]
    assert "-- MADE: TIMESTAMP(12) becomes TIMESTAMP(6), lossy: six fraction digits" in made.text
    assert made.left_out == ()


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "tsql", "oracle", "db2"])
def test_a_foreign_key_that_sets_some_columns(dialect: str) -> None:
    """Only PostgreSQL has such ones: elsewhere it would set all of them."""
    pair = ("ID", "DEPT")
    some = ForeignKey("f", "APP.EMP", pair, "APP.DEPT", pair, "SET NULL", set_columns=("DEPT",))
    dept = Table("APP", "DEPT", EMP.columns, pair)
    made = schema_script([EMP, dept], Constraints((), (some,)), profile_named(dialect))
    if dialect == "postgres":
        assert "(id, dept) ON DELETE SET NULL (dept);" in made.text
        assert made.left_out == ()
    else:
        assert "SET NULL" not in made.text
        said = "foreign key f of APP.EMP to APP.DEPT, which sets DEPT alone on a delete"
        assert made.left_out == (said,)


@pytest.mark.parametrize("dialect", sorted(BUILT_IN))
def test_every_dialect_writes_what_it_reads_or_says_what_it_left_out(dialect: str) -> None:
    profile = profile_named(dialect)
    if not profile.indexes and profile.keys != " NOT ENFORCED":
        with pytest.raises(SqlgenError, match="does not enforce keys"):
            schema_script([EMP, DEPT], KEYS, profile)
        return
    made = schema_script([EMP, DEPT], KEYS, profile)
    trees = [
        sqlglot.parse_one(line.rstrip(";").replace("INDEX APP.", "INDEX "), dialect=profile.sqlglot)
        for line in statements(made.text)
    ]
    foreign = [tree for tree in trees if tree.find(sqlglot.exp.ForeignKey)]
    assert len(foreign) + len(made.left_out) == 1
    assert not made.left_out or "-- not available in " in made.text


def test_names_that_collide() -> None:
    other = Table("APP", "emp", EMP.columns, ("ID",))
    with pytest.raises(SqlgenError, match="both become app.emp"):
        schema_script([EMP, other], Constraints(), profile_named("postgres"))


def test_foreign_keys_are_part_of_the_tables_of_sqlite(sakila: Path, tmp_path: Path) -> None:
    script = tmp_path / "x.sql"
    log = ["ddl", str(sakila / "sakila.ctl"), "--schema", str(sakila / "schema-ri.sql")]
    assert main([*log, "--dialect", "sqlite", "--out", str(script)]) == 0
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript("ATTACH ':memory:' AS sakila; PRAGMA foreign_keys = ON;")
        connection.executescript(script.read_text(encoding="utf-8"))
        keys = connection.execute("PRAGMA sakila.foreign_key_list(customer_note)").fetchall()
        assert [key[2:7] for key in keys] == [
            ("customer", "customer_id", "customer_id", "NO ACTION", "CASCADE")
        ]
        lone = "INSERT INTO sakila.inventory VALUES (1, 7, 1, '')"
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            connection.execute(lone)


def test_the_command(sakila: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = ["ddl", "--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    assert main([*log, "--table", "*.FILM"]) == 0
    shown = capsys.readouterr()
    assert shown.out.count("CREATE TABLE") == 1
    assert (
        main(
            [
                *log,
                "--dialect",
                "duckdb",
                "--schema",
                str(sakila / "schema-ri.sql"),
                "--out",
                str(tmp_path / "x.sql"),
            ]
        )
        == 4
    )
    shown = capsys.readouterr()
    assert "11 tables in" in shown.out
    assert (
        "warning: not available in duckdb: foreign key fk_rental_customer_id of SAKILA.RENTAL to"
        " SAKILA.CUSTOMER" in shown.err
    )
    assert main([*log, "--out", str(tmp_path / "x.sql")]) == 12
    assert "LR1002" in capsys.readouterr().err
    assert main([*log, "--out", str(tmp_path / "x.sql"), "--overwrite", "--names", "exact"]) == 0
    assert '"SAKILA"."FILM"' in (tmp_path / "x.sql").read_text()
    assert main([*log, "--table", "NO.SUCH"]) == 12
    assert "LR1004" in capsys.readouterr().err


def limited(target: str, *columns: Column, key: tuple[str, ...] = (), unique: str = "") -> str:
    table = Table("S", "T", columns, key)
    keys = ((("S.T", (unique,)),)) if unique else ()
    return schema_script([table], Constraints(keys), profile_named(target)).text


def wide(name: str, length: int, kind: SqlType = SqlType.VARCHAR) -> Column:
    return Column(name, kind, False, length)


@pytest.mark.parametrize("target", ["mysql", "mariadb"])
def test_keys_and_rows_that_are_too_long_are_refused(target: str) -> None:
    assert "CREATE TABLE" in limited(target, wide("A", 768), key=("A",))
    assert "CREATE TABLE" in limited(target, *(wide(f"C{number}", 4000) for number in range(4)))
    for columns, key, unique, said in (
        ([wide("A", 769)], ("A",), "", "key (A) of S.T, of up to 3,076 bytes"),
        ([wide("A", 500), wide("B", 269)], ("A", "B"), "", "key (A, B) of S.T, of up to 3,076"),
        ([wide("A", 5000)], ("A",), "", "key (A) of S.T, with a column of large values"),
        ([wide(f"C{n}", 4000) for n in range(5)], (), "", "of up to 80,010 bytes a row"),
    ):
        with pytest.raises(SqlgenError, match=re.escape(said)) as caught:
            limited(target, *columns, key=key, unique=unique)
        assert caught.value.code == "LR3003"
    assert "CREATE TABLE" in limited("postgres", wide("A", 5000), key=("A",))


def test_mariadb_takes_long_unique_keys_by_their_hash() -> None:
    columns = wide("A", 9), wide("B", 769)
    assert "CREATE UNIQUE INDEX" in limited("mariadb", *columns, key=("A",), unique="B")
    with pytest.raises(SqlgenError, match=re.escape("key (B) of S.T, of up to 3,076 bytes")):
        limited("mysql", *columns, key=("A",), unique="B")


@pytest.mark.parametrize(("target", "most"), [("mysql", 30), ("mariadb", 38)])
def test_digits_of_decimals(target: str, most: int) -> None:
    held = Column("A", SqlType.DECIMAL, True, 65, most)
    assert f"DECIMAL(65, {most})" in limited(target, held)
    with pytest.raises(SqlgenError) as caught:
        limited(target, Column("A", SqlType.DECIMAL, True, 65, most + 1))
    assert caught.value.code == "LR3003"


@pytest.mark.parametrize("name", ["CTID", "XMIN", "TABLEOID"])
def test_columns_that_a_target_has_of_its_own(name: str) -> None:
    with pytest.raises(SqlgenError, match=f"found column {name} of S.T; postgres has") as caught:
        limited("postgres", wide(name, 9))
    assert caught.value.code == "LR3005"
    table = Table("S", "T", (wide(name, 9),))
    exact = schema_script([table], Constraints(), profile_named("postgres"), "exact").text
    assert f'"{name}" VARCHAR(9)' in exact


def test_tables_whose_names_differ_in_case_only_are_both_made() -> None:
    """What a schema states of one of them is for neither."""
    columns = (Column("A", SqlType.INTEGER, False),)
    tables = [Table("APP", name, columns) for name in ("ITEM", "Item")]
    script = schema_script(tables, Constraints(), profile_named("postgres"), "exact")
    assert [line.split(" (")[0] for line in script.tables if "TABLE" in line] == [
        'CREATE TABLE "APP"."ITEM"',
        'CREATE TABLE "APP"."Item"',
    ]
    assert script.left_out == ()
    stated = Constraints((("APP.ITEM", ("A",)),))
    script = schema_script(tables, stated, profile_named("postgres"), "exact")
    assert "UNIQUE" not in script.text
    assert [one.split(",")[0] for one in script.left_out] == [
        "what the schema states of APP.ITEM",
        "what the schema states of APP.Item",
    ]
