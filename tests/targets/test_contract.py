"""What holds for every target alike: PostgreSQL, SQLite, DuckDB, MariaDB and MySQL."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from replay.errors import TargetError
from tests.support.logbuilder import Col, LogBuilder, Tab, lrsn
from tests.support.target_place import ALL, START, Place, empty_place, of

ITEM = Tab("ITEM", (Col("K", "INT", 4, key=1), Col("U", "INT", 4), Col("V", "VCHR", 20)))
ITEMS = "CREATE TABLE testown.item (k int PRIMARY KEY, u int NOT NULL UNIQUE, v varchar(20))"
SHOWN = "SELECT k, u, v FROM testown.item"


@pytest.fixture(params=ALL)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with empty_place(request, request.param, tmp_path) as made:
        yield made


def item(number: int, text: str = "as it was") -> tuple[Any, ...]:
    return (number, 100 + number, text)


def stocked(place: Place, *numbers: int) -> None:
    """The table of items with these."""
    values = [f"({number}, {100 + number}, 'as it was')" for number in numbers]
    place.do(ITEMS, f"INSERT INTO testown.item VALUES {', '.join(values)}")


def four_units() -> LogBuilder:
    """Of items 1 to 3: one is changed, one comes, one goes, one is changed twice in its unit. The
    units commit at 1000 to 1003."""
    log = LogBuilder((ITEM,))
    log.unit(commit=1000).update(ITEM, item(1), item(1, "first"))
    log.unit(commit=1001).insert(ITEM, item(4, "came"))
    log.unit(commit=1002).delete(ITEM, item(2))
    last = log.unit(commit=1003)
    last.update(ITEM, item(3), item(3, "then"))
    last.update(ITEM, item(3, "then"), item(3, "at last"))
    return log


#: The rows after each of these units.
STEPS = [
    [item(1), item(2), item(3)],
    [item(1, "first"), item(2), item(3)],
    [item(1, "first"), item(2), item(3), item(4, "came")],
    [item(1, "first"), item(3), item(4, "came")],
    [item(1, "first"), item(3, "at last"), item(4, "came")],
]


def test_forward_and_back_to_every_point(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """Without ``--apply`` nothing is written; with it, rows and position are those of the point,
    and what is there is not applied again, or taken back as another part of the log."""
    log = place.written(four_units())
    stocked(place, 1, 2, 3)
    assert place.replay(log, apply=False) == 0
    said = capsys.readouterr().out
    assert "5 statements in 4 units of recovery" in said
    assert "Nothing was written" in said
    assert place.rows(SHOWN) == STEPS[0]
    assert place.position() is None
    ends = [START, *(lrsn(1000 + unit).hex() for unit in range(4))]
    for point in (2, 4, 3, 1, 4, 0, 4):
        assert place.replay(log, "--until-position", ends[point]) == 0
        assert place.rows(SHOWN) == STEPS[point]
        statements = point + (point == 4)
        assert place.position() == (point, statements, 0)
    capsys.readouterr()
    assert place.replay(log) == 0
    assert "Nothing is to be applied" in capsys.readouterr().out
    nowhere = f"{place.dialect}://127.0.0.1:1/x" if "@" in place.url else f"{place.url}x"
    assert main(["replay", *log, "--to", nowhere, "--apply"]) == 12
    assert "LR4003" in capsys.readouterr().err
    assert place.replay(log, "--op", "update", "--until-position", START) == 8
    assert "LR4005" in capsys.readouterr().err
    assert place.rows(SHOWN) == STEPS[4]
    assert place.position() == (4, 5, 0)


@of("postgres", "sqlite", "mariadb")  # one process opens a file of DuckDB
def test_one_replay_at_a_time(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two would apply units twice; whoever only looks need not wait."""
    monkeypatch.setattr("replay.live.preflight.LOCK_SECONDS", 0.1)
    log = place.written(four_units())
    stocked(place, 1, 2, 3)
    with place.session() as other:
        assert other.lock()
        assert place.replay(log) == 8
        assert "LR4004" in capsys.readouterr().err
        assert place.replay(log, apply=False) == 0
    assert place.rows(SHOWN) == STEPS[0]
    # the server ends a session after its client
    monkeypatch.setattr("replay.live.preflight.LOCK_SECONDS", 300.0)
    assert place.replay(log, "--until-position", lrsn(1000).hex()) == 0
    assert place.rows(SHOWN) == STEPS[1]


VALUES = Tab(
    "VALS",
    (
        Col("K", "INT", 4, key=1),
        Col("S", "INT", 2, nulls="Y"),
        Col("B", "INT", 8, nulls="Y"),
        Col("D", "DEC", 16, scale=5, nulls="Y"),
        Col("P", "DEC", 16, scale=30, nulls="Y"),
        Col("F", "FLOT", 8, nulls="Y"),
        Col("R", "FLOT", 4, nulls="Y"),
        Col("C", "CHAR", 6, nulls="Y", subtype="M"),
        Col("V", "VCHR", 90, nulls="Y", subtype="M"),
        Col("X", "VCHR", 260, nulls="Y", subtype="B"),
        Col("DAY", "DATE", 10, nulls="Y"),
        Col("CLOCK", "TIME", 8, nulls="Y"),
        Col("TS", "DTTM", 26, nulls="Y"),
    ),
    more=(("ENCODINGSCHEME", "U"),),
)
LONG, SMALL = "9" * 26 + "." + "9" * 5, "0." + "0" * 29 + "1"
ENDS: list[tuple[Any, ...]] = [
    (32767, 2**63 - 1, LONG, "9." + "9" * 30, 0.1, 0.5, "a", "it's \\' \"\" `", bytes(range(256)),
     "9999-12-31", "23:59:59", "9999-12-31 23:59:59.999999"),
    (-32768, -(2**63), "-" + LONG, "-9." + "9" * 30, -1.7e75, 2.0**127, "a b", "\\N", b"\0",
     "0001-01-01", "00:00:00", "0001-01-01 00:00:00.000000"),
    (0, 0, "0.00000", SMALL, 5e-70, -0.25, "\u00e9\u00df",
     "\U0001f418 \u202e\ufdfd\U0001f468\u200d\U0001f467",
     b"", "2024-02-29", "12:30:00", "2024-02-29 12:30:00.000001"),
    (-1, 1, "-0.00001", "0." + "0" * 30, 0.0, 0.0, "", "", b"\\x41'", "1582-10-15", "10:00:00",
     "1582-10-15 10:00:00.500000"),
    (1, 2**53 + 1, "0.10000", "-" + SMALL, 1 / 3, 1.5, "%s", "a\nb\r\n\t$1 %s {0} %%", b"%s\n",
     "2000-01-01", "01:02:03", "2000-01-01 01:02:03.123456"),
    (2, -1, "1.50000", "0.5" + "0" * 29, -2.5, 16777215.0, "--;", "NULL", b"NULL", "1970-01-01",
     "00:00:01", "1970-01-01 00:00:00.000000"),
    (None,) * 12,
]  # fmt: skip


def imaged(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row as a log of Unicode tables has it."""
    *start, fixed, text = row[:9]
    short, long = (None if value is None else value.encode() for value in (fixed, text))
    return (*start, None if short is None else short.ljust(6), long, *row[9:])


def plain(column: Col, value: Any) -> Any:
    """A value that a driver gave, as :data:`ENDS` has it."""
    match column.code, value:
        case _, None:
            return None
        case "DEC", _:
            return f"{Decimal(str(value)):.{column.scale}f}"
        case "FLOT", _:
            return struct.unpack("f", struct.pack("f", value))[0] if column.length == 4 else value
        case "CHAR", _:
            return value.rstrip(" ")
        case "DTTM", datetime():
            return value.isoformat(" ", "microseconds")
        case "TIME", timedelta():
            return f"{datetime.min + value:%H:%M:%S}"
        case _, bytes() | memoryview():
            return bytes(value)
    return str(value) if column.code in ("DATE", "TIME", "DTTM") else value


def values_of(place: Place) -> list[tuple[Any, ...]]:
    # MariaDB shows six digits of a FLOAT
    digits = " + 0e0" if place.kind == "mariadb" else ""
    names = [column.name + digits * (column.code == "FLOT") for column in VALUES.columns]
    found = place.rows(f"SELECT {', '.join(names).lower()} FROM testown.vals")
    return [tuple(map(plain, VALUES.columns, row)) for row in found]


def test_values_of_every_type(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """The longest, the least, the empty and the hostile: into tables that ``logreplay ddl`` made,
    each changed to another one, away and back. What is written is found again by its value.
    PostgreSQL alone has no X'00' in a text, and says so before the first unit."""
    there = [(number, *row) for number, row in enumerate(ENDS)]
    turned = [(number, *ENDS[number - 1]) for number in range(len(ENDS))]
    log = LogBuilder((VALUES,))
    unit = log.unit(commit=1000)
    for row in there:
        unit.insert(VALUES, imaged(row))
    unit = log.unit(commit=1001)
    for before, after in zip(there, turned, strict=True):
        unit.update(VALUES, imaged(before), imaged(after))
    unit = log.unit(commit=1002)
    for row in turned[::2]:
        unit.delete(VALUES, imaged(row))
    nul = (99, *ENDS[-1][:7], "a\0b", *ENDS[-1][8:])
    log.unit(commit=1003).insert(VALUES, imaged(nul))
    words = place.written(log)
    place.tables_of(words)
    states = [[], there, turned, turned[1::2]]
    for point in (1, 3, 2, 0):
        until = lrsn(999 + point).hex() if point else START
        how = ["--until-position", until, "--where-columns", "all"]
        assert place.replay(words, *how) == 0
        assert values_of(place) == states[point]
        header = ",".join(column.name.lower() for column in VALUES.columns)
        assert point == 0 or place.verify(words, {"vals": f"{header}\n"}) == 0
    refused = place.kind == "postgres"
    assert place.replay(words, "--where-columns", "all") == 8 * refused
    assert ("LR4008" in capsys.readouterr().err) is refused
    assert values_of(place) == ([] if refused else [*states[3], nul])


LOOSE = Tab("LOOSE", (Col("A", "INT", 4, nulls="Y"), Col("B", "VCHR", 8, nulls="Y")))


def test_one_of_equal_rows_without_a_key(place: Place) -> None:
    """NULL is a value like others, and equal rows are changed one at a time."""
    twice: list[tuple[Any, ...]] = [(1, None), (None, "x"), (None, None)]
    start = sorted(twice * 2, key=repr)
    log = LogBuilder((LOOSE,))
    changed = log.unit(commit=1000)
    for row in twice:
        changed.update(LOOSE, row, (2, "new"))
    log.unit(commit=1001).delete(LOOSE, (None, None))
    log.unit(commit=1002).delete(LOOSE, (2, "new"))
    words = place.written(log)
    place.do("CREATE TABLE testown.loose (a int, b varchar(8))")
    for a, b in start:
        text = "NULL" if b is None else f"'{b}'"
        place.do(f"INSERT INTO testown.loose VALUES ({'NULL' if a is None else a}, {text})")
    one, two = [(2, "new")] * 3, [(2, "new")] * 2
    states = [start, [*twice, *one], [*twice[:2], *one], [*twice[:2], *two]]
    for point in (1, 2, 3, 0):
        until = lrsn(999 + point).hex() if point else START
        assert place.replay(words, "--until-position", until) == 0
        found = place.rows("SELECT a, b FROM testown.loose")
        assert sorted(found, key=repr) == sorted(states[point], key=repr)


def test_rows_that_take_each_others_keys(place: Place) -> None:
    """Within a unit, where the target checks each statement: up, round, an exchange, a key that a
    row gives up, and a unique value that goes round."""
    log = LogBuilder((ITEM,))
    rows = {number: item(number, f"row {number}") for number in range(1, 5)}
    states = [sorted(rows.values())]
    moves: list[dict[int, int | None]] = [
        {1: 2, 2: 3, 3: 4, 4: 5},
        {2: 4, 4: 3, 3: 2},
        {2: 3, 3: 2},
        {5: None, 4: 5},
    ]
    for at, moved in enumerate(moves):
        unit = log.unit(commit=1000 + at)
        before = {old: rows.pop(old) for old in moved}
        for old, new in moved.items():
            if new is None:
                unit.delete(ITEM, before[old])
            else:
                rows[new] = (new, *before[old][1:])
                unit.update(ITEM, before[old], rows[new])
        states.append(sorted(rows.values()))
    unit = log.unit(commit=1000 + len(moves))
    uniques = {key: row[1] for key, row in rows.items()}
    for key, other in zip(rows, [*list(rows)[1:], next(iter(rows))], strict=True):
        unit.update(ITEM, rows[key], (key, uniques[other], rows[key][2]))
        rows[key] = (key, uniques[other], rows[key][2])
    states.append(sorted(rows.values()))
    words = place.written(log)
    values = ", ".join(map(str, states[0]))
    place.do(ITEMS, f"INSERT INTO testown.item VALUES {values}")
    for point in (*range(1, len(states)), 2, 0):
        until = lrsn(999 + point).hex() if point else START
        assert place.replay(words, "--until-position", until) == 0, point
        assert place.rows(SHOWN) == states[point]


PARENT = Tab("PARENT", (Col("ID", "INT", 4, key=1), Col("A", "INT", 4)), obid=5)
CHILD = Tab("CHILD", (Col("ID", "INT", 4, key=1), Col("PID", "INT", 4)), obid=6)


def family(place: Place, action: str = "") -> list[str]:
    """Tables of which one refers to the other, and a log: a family comes, another one goes (its
    child by the foreign key), and a child comes that has no parent."""
    log = LogBuilder((PARENT, CHILD))
    unit = log.unit(commit=1000)
    unit.insert(CHILD, (30, 3))
    unit.insert(PARENT, (3, 0))
    unit = log.unit(commit=1001)
    unit.delete(PARENT, (1, 0))
    unit.delete(CHILD, (10, 1), SQLSRCTYPE="R")
    log.unit(commit=1002).insert(CHILD, (40, 4))
    parent = "parent" if place.dialect == "sqlite" else "testown.parent"
    place.do(
        "CREATE TABLE testown.parent (id int PRIMARY KEY, a int NOT NULL)",
        "CREATE TABLE testown.child (id int PRIMARY KEY, pid int NOT NULL,"
        f" FOREIGN KEY (pid) REFERENCES {parent} (id) {action})",
        "INSERT INTO testown.parent VALUES (1, 0), (2, 0)",
        "INSERT INTO testown.child VALUES (10, 1), (20, 2)",
    )
    return place.written(log)


def members(place: Place) -> list[list[tuple[Any, ...]]]:
    return [place.rows(f"SELECT * FROM testown.{name}") for name in ("parent", "child")]


MEMBERS = [[(1, 0), (2, 0)], [(10, 1), (20, 2)]]
LATER = [[(2, 0), (3, 0)], [(20, 2), (30, 3)]]


def test_foreign_keys_order_a_unit_and_stop_a_wrong_one(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    words = family(place)
    # DuckDB takes a parent to be referred to until its child's deletion is committed
    stops, state = (1, [[(1, 0), (2, 0), (3, 0)], [*MEMBERS[1], (30, 3)]])
    if place.dialect != "duckdb":
        stops, state = 2, LATER
        assert place.replay(words, "--until-position", lrsn(1001).hex()) == 0
        assert members(place) == LATER
    assert place.replay(words) == 8
    said = capsys.readouterr().err
    assert "LR4006" in said
    assert "foreign-key: " in said
    assert members(place) == state
    assert place.position() == (stops, 2 * stops, 0)
    assert place.replay(words, "--until-position", START) == 8 * (place.dialect == "duckdb")
    assert members(place) == (state if place.dialect == "duckdb" else MEMBERS)


@of("postgres", "sqlite", "mariadb")
def test_what_no_foreign_key_of_the_target_does_is_not_left_to_it(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    words = family(place)
    place.do("DROP TABLE testown.child", "CREATE TABLE testown.child (id int PRIMARY KEY, pid int)")
    place.do("INSERT INTO testown.child VALUES (10, 1), (20, 2)")
    assert place.replay(words, "--ri", "skip", "--until-position", lrsn(1001).hex()) == 8
    assert "LR4008" in (said := capsys.readouterr()).err
    assert "foreign key of it acts: rows would stay whose parents go" in said.out
    assert members(place) == MEMBERS


@of("postgres", "sqlite", "mariadb")  # DuckDB's foreign keys do nothing by themselves
def test_a_cascade_is_the_targets_or_the_logs(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both would take rows away that the log has again; one of them is chosen."""
    words = family(place, "ON DELETE CASCADE")
    assert place.replay(words) == 8
    said = capsys.readouterr()
    assert "(ON DELETE CASCADE)" in said.out
    assert "--accept foreign-key-action" in said.err
    assert members(place) == MEMBERS
    assert place.replay(words, "--enforcement", "off", apply=False) == 0
    assert place.replay(words, "--ri", "skip", "--until-position", lrsn(1001).hex()) == 0
    assert members(place) == LATER
    assert place.position() == (2, 3, 0)


def test_rows_that_are_not_as_the_log_has_them(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """The units before are applied, nothing of this one, and the row is named; once it is mended
    the same command goes on. On request a change is left out, or the log's row put in place."""
    log = place.written(four_units())
    stocked(place, 1, 3)
    mine = (4, 7, "mine")
    place.do(
        f"INSERT INTO testown.item VALUES {mine}", "UPDATE testown.item SET v = 'new' WHERE k = 3"
    )

    def stops(units: int, said: str, *rows: tuple[Any, ...]) -> None:
        assert place.replay(log) == 8
        told = capsys.readouterr().err
        assert "LR4006" in told
        assert said in told
        assert place.rows(SHOWN) == [item(1, "first"), item(3, "new"), *rows]
        assert place.position() == (units, units, 0)

    came = item(4, "came")
    stops(1, "duplicate-key: the insert in TESTOWN.ITEM failed", mine)
    place.do("DELETE FROM testown.item WHERE k = 4")
    stops(2, "no-row: the delete in TESTOWN.ITEM touched 0 rows", came)
    third = ["--until-position", lrsn(1002).hex(), "--on", "no-row=skip"]
    if place.dialect == "duckdb":  # it has no savepoints
        assert place.replay(log, *third) == 8
        assert "LR4009" in capsys.readouterr().err
        return
    assert place.replay(log, *third) == 4
    assert place.position() == (3, 3, 1)
    assert place.replay(log) == 8
    assert "'v': 'new'" in capsys.readouterr().err
    assert place.replay(log, "--on", "no-row=overwrite") == 4
    assert place.rows(SHOWN) == [item(1, "first"), item(3, "at last"), came]
    assert (place.position() or ())[:2] == (4, 5)


#: What is done to the table of items -> the code that accepts it ('': none does), what is said.
Cases = list[tuple[list[str], str, str]]
NO_TABLE = "DROP TABLE testown.item"


def as_type(column: str, other: str) -> list[str]:
    """The table again, with something else in its definition."""
    return [NO_TABLE, ITEMS.replace(column, other)]


LACKS: Cases = [
    ([NO_TABLE], "", "the target has no such table"),
    (["ALTER TABLE testown.item DROP COLUMN v"], "", "the target's table has no column V"),
    (as_type("PRIMARY", "NOT NULL, x int PRIMARY"), "", "no unique key of the target lies within"),
    (as_type("varchar(20)", "date"), "type", "column v is "),
    (as_type("v var", "more int NOT NULL, v var"), "required", "its column more is NOT NULL"),
    (
        as_type("u int NOT NULL UNIQUE", "u int GENERATED ALWAYS AS (k * 2) VIRTUAL"),
        "generated",
        "the target computes its column u",
    ),
    (
        [NO_TABLE, "CREATE VIEW testown.item AS SELECT 1 AS k, 2 AS u, 'x' AS v"],
        "",
        "it is not a table in the target but a view",
    ),
]


def test_what_is_refused_before_the_first_unit(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each with its reason, and with the code that has it done all the same. What a target does by
    itself is tried by :mod:`tests.targets.test_hazards`."""
    log = place.written(four_units())
    for statements, code, said in LACKS:
        stocked(place, 1, 2, 3)
        place.do(*statements)
        assert place.replay(log) == 8, said
        told = capsys.readouterr()
        assert "LR4008" in told.err, said
        assert said in told.out
        assert (f"--accept {code}" in told.err) is bool(code), said
        if code:
            assert place.replay(log, "--accept", code, apply=False) == 0
        if statements != [NO_TABLE]:
            place.do(f"DROP {'VIEW' if 'a view' in said else 'TABLE'} testown.item")
    assert place.position() is None


def test_columns_that_fill_themselves(place: Place) -> None:
    """Numbers of the log stay, zero too, and the target's own go on behind them; what it computes
    is computed."""
    log = LogBuilder((ITEM,))
    log.unit().insert(ITEM, item(0, "zero"))
    log.unit().insert(ITEM, item(41, "last"))
    words = place.written(log)
    key = {
        "postgres": "k int GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "sqlite": "k integer PRIMARY KEY AUTOINCREMENT",
        "duckdb": "k int PRIMARY KEY",
        "mariadb": "k int AUTO_INCREMENT PRIMARY KEY",
    }[place.kind]
    place.do(
        f"CREATE TABLE testown.item ({key}, u int NOT NULL, v varchar(20), n int NOT NULL DEFAULT"
        " 7, other int, twice int GENERATED ALWAYS AS (u * 2) VIRTUAL)"
    )
    assert place.replay(words) == 0
    own = []
    if place.dialect != "duckdb":  # its columns do not number themselves
        place.do("INSERT INTO testown.item (u) VALUES (5)")
        own = [(42, 5, None, 7, None, 10)]
    assert place.rows("SELECT k, u, v, n, other, twice FROM testown.item") == [
        (*item(0, "zero"), 7, None, 200),
        (*item(41, "last"), 7, None, 282),
        *own,
    ]


def test_verify_names_the_rows_that_differ(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """SAME wherever the target stands; a value, a missing row and one too many are named."""
    log = place.written(four_units())
    stocked(place, 1, 2, 3)
    lines = "".join(f"{k},{u},{v}\n" for k, u, v in STEPS[0])
    state = {"item": f"k,u,v\n{lines}"}
    certificate = ["--certificate", str(place.folder / "certificate.json")]
    assert place.replay(log, "--until-position", lrsn(1002).hex()) == 0
    assert place.verify(log, state) == 0
    assert place.replay(log) == 0
    assert place.verify(log, state, *certificate) == 0
    assert "DIFFER" not in capsys.readouterr().out
    again = ["verify", *certificate, *log, "--to", place.url]
    assert main(again) == 0
    place.do(
        "UPDATE testown.item SET v = 'At last' WHERE k = 3",
        "DELETE FROM testown.item WHERE k = 1",
        "INSERT INTO testown.item VALUES (9, 9, NULL)",
    )
    capsys.readouterr()
    assert place.verify(log, state) == 8
    said = capsys.readouterr().out
    assert "testown.item: 3 rows, 3 DIFFER" in said
    assert "k = 3: v: expected 'at last', found 'At last'" in said
    assert "k = 1: row missing" in said
    assert "k = 9: row not expected" in said
    assert main(again) == 8
    assert "WRONG: the rows of testown.item are others now" in capsys.readouterr().out


def test_an_undo_script_stops_at_a_row_that_changed(place: Place) -> None:
    """Its checks are the database's own; of the unit that it stops at nothing is undone."""
    log = LogBuilder((ITEM,))
    unit = log.unit()
    unit.update(ITEM, item(1), item(1, "first"))
    unit.update(ITEM, item(3), item(3, "at last"))
    log.unit().insert(ITEM, item(4, "came"))
    words = place.written(log)
    stocked(place, 1, 3)
    redo, undo = place.script("redo", words), place.script("undo", words)
    for _ in range(2):
        place.target.run_scripts(place.url, redo)
        assert place.rows(SHOWN) == [item(1, "first"), item(3, "at last"), item(4, "came")]
        place.target.run_scripts(place.url, undo)
        assert place.rows(SHOWN) == [item(1), item(3)]
    place.target.run_scripts(place.url, redo)
    place.do("DELETE FROM testown.item WHERE k = 1")
    with pytest.raises(TargetError, match="LR4001"):
        place.target.run_scripts(place.url, undo)
    assert place.rows(SHOWN) == [item(3, "at last")]


def test_upsert_scripts_over_a_part_and_again(place: Place) -> None:
    log = place.written(four_units())
    stocked(place, 1, 2, 3)
    place.do(
        "UPDATE testown.item SET v = 'first' WHERE k = 1", "DELETE FROM testown.item WHERE k = 2"
    )
    for mode, end in (("redo", STEPS[4]), ("undo", STEPS[0])):
        script = place.script(mode, log, "--upsert")
        for _ in range(2):
            place.target.run_scripts(place.url, script)
            assert place.rows(SHOWN) == end


@of("sqlite", "duckdb", "mariadb")
def test_a_target_that_takes_no_loads_says_so(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    log = place.written(four_units())
    stocked(place, 1, 2, 3)
    assert place.replay(log, "--mode", "bulk") == 8
    assert "LR4009" in capsys.readouterr().err
    assert place.rows(SHOWN) == STEPS[0]
