"""Cases that undo scripts of other tools got wrong, each as a log: redone on a live PostgreSQL in
strict order and in bulk, and taken back to the state before, row for row. Others of them are tried
on every target (:mod:`tests.targets.test_contract`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg

from replay.cli.main import main
from tests.support.logbuilder import Col, LogBuilder, Row, Tab
from tests.support.replayed import rows

State = dict[str, list[tuple[Any, ...]]]


def state(url: str, tables: tuple[str, ...]) -> State:
    """All rows as text; of equal rows, each."""
    return {name: sorted(rows(url, f"SELECT whole::text FROM {name} AS whole")) for name in tables}


def there_and_back(
    url: str, folder: Path, log: LogBuilder, tables: tuple[str, ...], *options: str
) -> State:
    """Redo the log in strict order, undo it, redo it in bulk, undo it; both ends are the same each
    time. The state after redo."""
    control, data = log.write(folder, seed=1)
    log_options = ["--control", str(control), "--data", str(data[0]), "--engine", "local"]
    before = state(url, tables)
    found = []
    for mode in ("strict", "bulk"):
        assert main(["replay", *log_options, "--to", url, "--apply", "--mode", mode, *options]) == 0
        found.append(state(url, tables))
        assert found[-1] != before
        assert (
            main(
                ["replay", *log_options, "--to", url, "--apply", "--until-lrsn", "0" * 20, *options]
            )
            == 0
        )
        assert state(url, tables) == before
    assert found[0] == found[1]
    return found[0]


def insert(url: str, table: str, *values: Row) -> None:
    """Put rows into a table of the target."""
    with psycopg.connect(url, autocommit=True) as connection:
        for row in values:
            connection.execute(
                f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(row))})".encode(), row
            )


def test_json(fresh_database: str, tmp_path: Path) -> None:
    table = Tab("DOCS", (Col("K", "INT", 4, key=1), Col("DOC", "VCHR", 200, nulls="Y")))
    rows(
        fresh_database,
        "CREATE SCHEMA testown; CREATE TABLE testown.docs (k int PRIMARY KEY, doc jsonb)",
    )
    one = '{"b": "it\'s \\"quoted\\"", "a": [1, null, {"deep": "\\u00e9\\\\"}]}'
    two = '{"a": 12345678901234567890.123456789, "b": null}'
    insert(fresh_database, "testown.docs", (1, one), (2, "null"), (3, None))
    log = LogBuilder((table,))
    unit = log.unit()
    unit.update(table, (1, one), (1, two))
    unit.update(table, (2, "null"), (2, None))
    unit.update(table, (3, None), (3, "null"))
    unit.insert(table, (4, one))
    after = there_and_back(fresh_database, tmp_path, log, ("testown.docs",), "--accept", "type")
    assert len(after["testown.docs"]) == 4


def test_generated_columns(fresh_database: str, tmp_path: Path) -> None:
    table = Tab(
        "ITEMS",
        (
            Col("K", "INT", 4, key=1),
            Col("N", "INT", 4),
            Col("TWICE", "INT", 4),
            Col("THRICE", "INT", 4),
        ),
    )
    rows(
        fresh_database,
        "CREATE SCHEMA testown; CREATE TABLE testown.items (k int PRIMARY KEY GENERATED ALWAYS AS"
        " IDENTITY, n int, twice int GENERATED ALWAYS AS (n * 2) STORED, thrice int GENERATED"
        " ALWAYS AS (n * 3) VIRTUAL)",
    )
    rows(fresh_database, "INSERT INTO testown.items (n) VALUES (10), (20), (30)")
    log = LogBuilder((table,))
    unit = log.unit()
    unit.update(table, (1, 10, 20, 30), (1, 11, 22, 33))
    unit.delete(table, (2, 20, 40, 60))
    unit.insert(table, (9, 90, 180, 270))
    after = there_and_back(
        fresh_database, tmp_path, log, ("testown.items",), "--accept", "generated"
    )
    assert after["testown.items"] == [("(1,11,22,33)",), ("(3,30,60,90)",), ("(9,90,180,270)",)]
    assert rows(fresh_database, "INSERT INTO testown.items (n) VALUES (1) RETURNING k") == [(10,)]


def test_names_that_need_quotes(fresh_database: str, tmp_path: Path) -> None:
    names = ("order", "A-B", "two words", 'quote"d', "back`tick", "$1", "%s")
    table = Tab(
        'SELECT-"X" %s',
        tuple(Col(name, "INT", 4, key=int(number == 0)) for number, name in enumerate(names)),
        owner="TEST-OWN",
    )
    quoted = ", ".join('"' + name.lower().replace('"', '""') + '" int' for name in names)
    rows(
        fresh_database,
        f'CREATE SCHEMA "test-own"; CREATE TABLE "test-own"."select-""x"" %s" ({quoted}, PRIMARY'
        ' KEY ("order"))',
    )
    rows(
        fresh_database,
        'INSERT INTO "test-own"."select-""x"" %s" SELECT g, g, g, g, g, g, g FROM'
        " generate_series(1, 3) AS g",
    )
    log = LogBuilder((table,))
    unit = log.unit()
    unit.update(table, (1,) * 7, (1, 2, 3, 4, 5, 6, 7))
    unit.delete(table, (2,) * 7)
    unit.insert(table, (4,) * 7)
    unit.update(table, (3,) * 7, (30, *(3,) * 6))
    after = there_and_back(fresh_database, tmp_path, log, ('"test-own"."select-""x"" %s"',))
    assert after['"test-own"."select-""x"" %s"'] == [
        ("(1,2,3,4,5,6,7)",),
        ("(30,3,3,3,3,3,3)",),
        ("(4,4,4,4,4,4,4)",),
    ]


def test_a_trigger_that_writes_an_audit_row(fresh_database: str, tmp_path: Path) -> None:
    """The audit rows are in the log; the target's own trigger must not write them again, neither on
    the way there nor back."""
    table = Tab("ACCOUNT", (Col("K", "INT", 4, key=1), Col("BAL", "INT", 4)))
    audit = Tab("AUDIT", (Col("WHAT", "VCHR", 20), Col("BAL", "INT", 4)), obid=8)
    rows(
        fresh_database,
        """CREATE SCHEMA testown; CREATE TABLE testown.account (k int PRIMARY KEY, bal int); CREATE
        TABLE testown.audit (what varchar(20), bal int);
        INSERT INTO testown.account VALUES (1, 10), (2, 20);
        CREATE FUNCTION testown.note() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN INSERT INTO testown.audit VALUES (TG_OP, coalesce(NEW.bal, OLD.bal)); RETURN NULL;
        END$$;
        CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON testown.account FOR EACH ROW
        EXECUTE FUNCTION testown.note()""",
    )
    log = LogBuilder((table, audit))
    unit = log.unit()
    unit.update(table, (1, 10), (1, 11))
    unit.insert(audit, ("UPDATE", 11), SQLSRCTYPE="T")
    unit.delete(table, (2, 20))
    unit.insert(audit, ("DELETE", 20), SQLSRCTYPE="T")
    after = there_and_back(
        fresh_database, tmp_path, log, ("testown.account", "testown.audit"), "--enforcement", "off"
    )
    assert after == {
        "testown.account": [("(1,11)",)],
        "testown.audit": [("(DELETE,20)",), ("(UPDATE,11)",)],
    }
