"""Ten cases that undo scripts of other tools got wrong, each as a log: redone on a live PostgreSQL
in strict order and in bulk, and taken back to the state before, row for row."""

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


def test_no_key_floats_nulls_and_duplicate_rows(fresh_database: str, tmp_path: Path) -> None:
    table = Tab(
        "LOOSE",
        (
            Col("F", "FLOT", 4, nulls="Y"),
            Col("D", "FLOT", 8, nulls="Y"),
            Col("T", "VCHR", 10, nulls="Y"),
        ),
    )
    rows(
        fresh_database,
        "CREATE SCHEMA testown; CREATE TABLE testown.loose (f real, d double precision, t"
        " varchar(10))",
    )
    same = (0.3, 0.1 + 0.2, None)
    insert(
        fresh_database,
        "testown.loose",
        same,
        same,
        (None, None, "x"),
        (None, 1e-70, "y"),
        (1.5, None, None),
    )
    log = LogBuilder((table,))
    unit = log.unit()
    unit.update(table, same, (0.3, 0.1, None))
    unit.delete(table, same)
    unit.update(table, (None, None, "x"), (None, None, None))
    unit.delete(table, (None, 1e-70, "y"))
    unit.insert(table, (1.5, None, None))
    after = there_and_back(fresh_database, tmp_path, log, ("testown.loose",))
    assert after["testown.loose"] == [("(,,)",), ("(0.3,0.1,)",), ("(1.5,,)",), ("(1.5,,)",)]


def test_the_ends_of_numeric_ranges_and_bits(fresh_database: str, tmp_path: Path) -> None:
    columns = (
        Col("K", "INT", 8, key=1),
        Col("S", "INT", 2),
        Col("N", "DEC", 16, nulls="Y"),
        Col("P", "DEC", 16, scale=31, nulls="Y"),
    )
    table = Tab("ENDS", (*columns, Col("BITS", "CHAR", 2, subtype="B"), Col("CODES", "VCHR", 20)))
    rows(
        fresh_database,
        "CREATE SCHEMA testown; CREATE TABLE testown.ends (k bigint PRIMARY KEY, s smallint, n"
        " numeric(31), p numeric(31, 31), bits bytea, codes varchar(20))",
    )
    most, least = (
        (2**63 - 1, 32767, "9" * 31, "0." + "9" * 31),
        (
            -(2**63),
            -32768,
            "-" + "9" * 31,
            "-0." + "9" * 31,
        ),
    )
    insert(fresh_database, "testown.ends", (*most, b"\xff\xff", "a,b"), (*least, b"\0\0", ""))
    unsigned = (1, 0, "18446744073709551615", None, b"\x80\x01", "")
    log = LogBuilder((table,))
    unit = log.unit()
    unit.update(table, (*most, b"\xff\xff", "a,b"), (*most, b"\0\0", ""))
    unit.update(table, (*least, b"\0\0", ""), (least[0], *most[1:], b"\0\0", "a,b,c"))
    unit.insert(table, unsigned)
    unit.update(table, unsigned, (*unsigned[:3], "0." + "0" * 30 + "1", b"\x80\0", "c"))
    after = there_and_back(fresh_database, tmp_path, log, ("testown.ends",))
    assert ('(1,0,18446744073709551615,0.0000000000000000000000000000001,"\\\\x8000",c)',) in after[
        "testown.ends"
    ]


def test_bytes_quotes_controls_and_emoji(fresh_database: str, tmp_path: Path) -> None:
    table = Tab(
        "TEXTS",
        (
            Col("K", "INT", 4, key=1),
            Col("B", "VCHR", 300, nulls="Y", subtype="B"),
            Col("T", "VCHR", 120, nulls="Y", subtype="M"),
        ),
        more=(("ENCODINGSCHEME", "U"),),
    )
    rows(
        fresh_database,
        "CREATE SCHEMA testown; CREATE TABLE testown.texts (k int PRIMARY KEY, b bytea, t"
        " varchar(120))",
    )
    texts = [
        "it's",
        "a\\b \\' \\N",
        "two\nlines\r\n\ttab",
        "🐘 and 👩‍👩‍👧 and ﷽",
        "",
        "\x01\x1f\x7f",
        "NULL",
        "E'x'",
        "$$ $1 %s {0}",
        "--; DROP",
    ]
    data = [bytes(range(256)), b"\0", b"", b"'\\", None, b"\xff\xfe", b"\\x41", b"%s", b"\n", b"--"]
    insert(
        fresh_database,
        "testown.texts",
        *[
            (number, octets, text)
            for number, (octets, text) in enumerate(zip(data, texts, strict=True))
        ],
    )
    log = LogBuilder((table,))
    unit = log.unit()
    for number, (octets, text) in enumerate(zip(data, texts, strict=True)):
        before = (number, octets, text.encode())
        other = (number, data[number - 1], texts[number - 1].encode())
        unit.update(table, before, other)
        if number % 2:
            unit.delete(table, other)
            unit.insert(table, (100 + number, *before[1:]))
    after = there_and_back(fresh_database, tmp_path, log, ("testown.texts",))
    assert len(after["testown.texts"]) == len(texts)


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


def test_the_ends_of_time(fresh_database: str, tmp_path: Path) -> None:
    table = Tab(
        "TIMES",
        (
            Col("K", "INT", 4, key=1),
            Col("D", "DATE", 10),
            Col("C", "TIME", 8),
            Col("TS", "DTTM", 26, nulls="Y"),
        ),
    )
    rows(
        fresh_database,
        "CREATE SCHEMA testown; CREATE TABLE testown.times (k int PRIMARY KEY, d date, c time, ts"
        " timestamp)",
    )
    moments: list[Row] = [
        (1, "0001-01-01", "00:00:00", "0001-01-01 00:00:00.000000"),
        (2, "9999-12-31", "24:00:00", "9999-12-31 23:59:59.999999"),
        (3, "2024-03-10", "02:30:00", "2024-03-10 02:30:00.000001"),
        (4, "2024-02-29", "23:59:59", None),
        (5, "1582-10-10", "12:00:00", "1969-12-31 23:59:59.999999"),
    ]
    insert(fresh_database, "testown.times", *moments)
    log = LogBuilder((table,))
    unit = log.unit()
    for place, row in enumerate(moments):
        unit.update(table, row, (row[0], *moments[place - 1][1:]))
    unit.delete(table, (1, *moments[-1][1:]))
    unit.insert(table, (6, *moments[1][1:]))
    after = there_and_back(fresh_database, tmp_path, log, ("testown.times",))
    assert ('(6,9999-12-31,24:00:00,"9999-12-31 23:59:59.999999")',) in after["testown.times"]


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


def test_all_keys_moved_then_changed_deleted_and_inserted(
    fresh_database: str, tmp_path: Path
) -> None:
    table = Tab("KEYS", (Col("K", "INT", 4, key=1), Col("U", "INT", 4), Col("T", "VCHR", 10)))
    rows(
        fresh_database,
        "CREATE SCHEMA testown; CREATE TABLE testown.keys (k int PRIMARY KEY, u int UNIQUE, t"
        " varchar(10))",
    )
    before = [(number, number * 10, f"row {number}") for number in range(1, 21)]
    insert(fresh_database, "testown.keys", *before)
    log = LogBuilder((table,))
    unit = log.unit()
    for number, *more in reversed(before):
        unit.update(table, (number, *more), (number + 1, *more))
    unit = log.unit()
    unit.update(table, (5, 40, "row 4"), (5, 40, "changed"))
    unit.delete(table, (6, 50, "row 5"))
    unit.insert(table, (6, 60 + 1, "again"))
    unit.update(table, (8, 70, "row 7"), (1, 70, "row 7"))
    after = there_and_back(fresh_database, tmp_path, log, ("testown.keys",))
    assert {("(5,40,changed)",), ("(6,61,again)",), ('(1,70,"row 7")',)} <= set(
        after["testown.keys"]
    )
    assert len(after["testown.keys"]) == 20


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


def test_a_foreign_key_that_cascades(fresh_database: str, tmp_path: Path) -> None:
    """Db2 logs the deletes of the children; the target's own cascade must not act, and undo brings
    the children back."""
    parent = Tab("PARENT", (Col("K", "INT", 4, key=1),))
    child = Tab("CHILD", (Col("K", "INT", 4, key=1), Col("P", "INT", 4)), obid=8)
    rows(
        fresh_database,
        """CREATE SCHEMA testown; CREATE TABLE testown.parent (k int PRIMARY KEY);
        CREATE TABLE testown.child (k int PRIMARY KEY, p int REFERENCES testown.parent ON DELETE
        CASCADE);
        INSERT INTO testown.parent VALUES (1), (2); INSERT INTO testown.child VALUES (10, 1), (11,
        1), (20, 2)""",
    )
    log = LogBuilder((parent, child))
    unit = log.unit()
    unit.delete(parent, (1,))
    unit.delete(child, (10, 1), SQLSRCTYPE="R")
    unit.delete(child, (11, 1), SQLSRCTYPE="R")
    after = there_and_back(
        fresh_database, tmp_path, log, ("testown.parent", "testown.child"), "--enforcement", "off"
    )
    assert after == {"testown.parent": [("(2)",)], "testown.child": [("(20,2)",)]}
