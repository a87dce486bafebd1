"""Verify on every kind of target: the same value is the same in whatever type it lies there, and
one that was rounded, padded, re-encoded or cut is named with both values."""

from __future__ import annotations

import contextlib
import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replay.cli.main import main
from replay.csv_states.state_values import family_of
from replay.live.comparable import of_state, of_texts, of_values
from replay.targets import Target, target_named
from sqlgen import ddl
from sqlgen.dialects import profile_named
from sqlgen.render_options import RenderOptions
from sqlgen.schema import ARROW_TYPES, Op, Rows, SqlType, Table
from sqlgen.statements import render
from tests.support.examples import examples
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.servers import kinds, of_kind, server_of
from tests.support.words import of_log_master
from tests.targets.test_values import COLUMNS, row

TRIP = Table("ROUND", "TRIP", COLUMNS, ("ID",))
EDGES: list[tuple[Any, ...]] = [
    (1, -32768, "-9999999999999.99", "0.00001", 0.1, 0.1, "a", "a  ", b"", "0001-01-01",
     "00:00:00", "0001-01-01 00:00:00.000000", True, "1E+6144", "it's"),
    (2, 32767, "0.10", "99999999999999999999999999.99999", 16777216.0, 5e-300, "", "", b"\0\xff",
     "9999-12-31", "23:59:59", "9999-12-31 23:59:59.999999", False, "-0.00", "\u00e9\U0001f600"),
    (3, *[None] * 14),
    (4, 0, "-0.01", "-1.50000", 3.4028235e38, 1.7976931348623157e308, "x y", "\\N", b"\\x41",
     "2024-02-29", "12:00:00", "2024-02-29 12:34:56.100000", True, "123.4500", '"\\,\n'),
    (5, *[None] * 3, -3.8676994588608415e-29, *[None] * 10),
]  # fmt: skip
#: Tables of two schemas.
OWNED = [("ONE", "A"), ("TWO", "B")]


@pytest.fixture(
    params=kinds("postgres", "duckdb", "sqlite", "mariadb"),
)
def place(request: pytest.FixtureRequest) -> Iterator[tuple[Target, str]]:
    """A target and the URL of an empty database of its kind."""
    target = target_named(request.param)
    if request.param == "postgres":
        yield target, request.getfixturevalue("fresh_database")
        return
    with target.scratch(server_of(request, request.param)) as url:
        yield target, url


def run(target: Target, url: str, *statements: str) -> None:
    with closing(target.connect(url)) as session:
        for statement in statements:
            session.begin()
            found = session.run(statement.encode() + b"\n")
            assert found.failure is None, found.failure
            session.commit()


def make(target: Target, url: str, schema: str, *statements: str) -> None:
    """Make a schema and what lies in it."""
    with closing(target.connect(url)) as session:
        session.make_schema(schema)
    run(target, url, *statements)


@settings(
    max_examples=examples(8),
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(drawn=st.lists(row, min_size=5, max_size=20))
def test_a_value_is_the_same_wherever_it_lies(
    place: tuple[Target, str], drawn: list[tuple[Any, ...]]
) -> None:
    """What a statement of ours wrote is read back as what it said, for every type."""
    target, url = place
    profile = profile_named(target.dialect)
    options = RenderOptions()
    table = replace(TRIP, columns=COLUMNS)
    rows = [*EDGES, *((at, *values) for at, values in enumerate(drawn, 100))]
    values = {
        column.name: pa.array([one[at] for one in rows], ARROW_TYPES[column.type])
        for at, column in enumerate(COLUMNS)
    }
    rendered = render(Rows(table, Op.INSERT, len(rows), {}, values, {}), profile, options)
    bad = {problem.row for problem in rendered.problems}
    good = [at for at in range(len(rows)) if at not in bad]
    assert len(good) >= 2
    create = ddl.create_table(table, profile, options.names).rstrip().rstrip(";")
    make(target, url, "round")
    with closing(target.connect(url)) as session:
        if session.facts("round", "trip") is not None:
            run(target, url, "DROP TABLE round.trip;")
    run(target, url, " ".join(create.split("\n")) + ";")
    run(target, url, *(rendered.text[at].as_py() for at in good))
    with closing(target.connect(url)) as session:
        session.snapshot()
        names = [column.name.lower() for column in COLUMNS]
        batches = list(session.texts("round", "trip", names))
        found = pa.Table.from_batches(batches).combine_chunks()
    order = pa.array([int(text) for text in found["id"].to_pylist()])
    found = found.take(pa.compute.sort_indices(order))
    for column in COLUMNS:
        wanted = of_values(
            values[column.name].take(pa.array(good)), column, profile, options.policy
        )
        texts = found[column.name.lower()].combine_chunks()
        assert of_texts(texts, column.type).to_pylist() == wanted.to_pylist(), column
        state = of_state(wanted, column, profile, options.policy)
        assert state.to_pylist() == wanted.to_pylist(), column


NARROW = Tab(
    "NARROW",
    (
        Col("ID", "INT", 4, key=1),
        Col("D", "DEC", 5, scale=2, nulls="Y"),
        Col("R", "FLOT", 8, nulls="Y"),
        Col("V", "VCHR", 10, nulls="Y", subtype="S"),
        Col("N", "VCHR", 10, nulls="Y", subtype="S"),
        Col("P", "VCHR", 10, nulls="Y", subtype="S"),
        Col("TS", "DTTM", 26, nulls="Y"),
    ),
)
WROTE = ("1.55", 0.1, "h\u00e9llo", "007", "ab", "2024-03-15 10:20:30.123456")
#: Types that hold less than the log's, and what becomes of :data:`WROTE` in them.
TYPES: dict[str, tuple[str, ...]] = {
    "postgres": ("numeric(9,1)", "real", "varchar(9)", "integer", "char(4)", "timestamp(0)"),
    "mariadb": ("decimal(9,1)", "float", "varchar(9)", "integer", "binary(4)", "datetime(0)"),
    "duckdb": ("decimal(9,1)", "real", "varchar", "integer", "varchar", "timestamp_s"),
    "sqlite": ("real", "real", "text", "integer", "text", "text"),
}
FOUND: dict[str, tuple[str, ...]] = {
    "postgres": ("1.6", "0.10000000149011612", "h?llo", "7", "ab  ", "2024-03-15 10:20:30"),
    "mariadb": ("1.6", "0.10000000149011612", "h?llo", "7", "\\x61620000", "2024-03-15 10:20:30"),
    "duckdb": ("1.6", "0.10000000149011612", "h?llo", "7", "ab  ", "2024-03-15 10:20:30"),
    "sqlite": ("1.6", "0.10000000149011612", "h?llo", "7", "ab  ", "2024-03-15 10:20:30"),
}


def narrow_log(folder: Path) -> list[str]:
    """A log that inserts one row, changes another, and changes the key of a third."""
    log = LogBuilder((NARROW,))
    unit = log.unit()
    unit.insert(NARROW, (1, *WROTE))
    unit.update(NARROW, (2, "0.00", 1.0, "x", "y", "z", WROTE[5]), (2, *WROTE))
    unit.update(NARROW, (3, *[None] * 6), (4, *[None] * 6))
    control, (data,) = log.write(folder)
    return ["--control", str(control), "--data", str(data), "--engine", "local"]


def narrow_state(folder: Path) -> Path:
    (folder / "state").mkdir()
    lines = ["id,d,r,v,n,p,ts", f"2,0.00,1.0,x,y,z,{WROTE[5]}", "3" + "," * 6]
    (folder / "state" / "narrow.csv").write_text("\n".join(lines) + "\n")
    return folder / "state"


def narrow_table(target: Target, url: str, values: tuple[str, ...]) -> None:
    """The table in types that hold less, with rows 1 and 2 of these values."""
    names = ("d", "r", "v", "n", "p", "ts")
    columns = ", ".join(
        f"{n} {t}" for n, t in zip(names, of_kind(TYPES, target.dialect), strict=True)
    )
    written = ", ".join(f"'{value}'" for value in values)
    make(
        target,
        url,
        "testown",
        f"CREATE TABLE testown.narrow (id integer PRIMARY KEY, {columns}, more integer);",
        *(f"INSERT INTO testown.narrow VALUES ({at}, {written}, 5);" for at in (1, 2)),
        "INSERT INTO testown.narrow (id) VALUES (4);",
    )


def test_values_that_the_target_changed_are_named_with_both(
    place: tuple[Target, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The types of the target round what the log says; tables shaped like the target's would round
    alike, and see nothing."""
    target, url = place
    sent = ("1.55", "0.1", "h?llo", "007", "ab", "2024-03-15 10:20:30.123456")
    if target.dialect in ("duckdb", "sqlite"):  # no type of theirs pads, or cuts a time
        sent = of_kind(FOUND, target.dialect)
    narrow_table(target, url, sent)
    log, state = narrow_log(tmp_path), narrow_state(tmp_path)
    out = tmp_path / "certificate.json"
    arguments = ["verify", *log, "--to", url, "--expected", str(state), "--certificate", str(out)]
    assert main(arguments) == 8
    said = capsys.readouterr().out
    assert "testown.narrow: 3 rows, 2 DIFFER" in said
    assert "not compared: column narrow.more: it is in the target only" in said
    wanted = ("1.55", "0.1", "h\u00e9llo", "007", "ab", "2024-03-15 10:20:30.123456")
    differ = [
        f"{name}: expected {expected!r}, found {found!r}"
        for name, expected, found in zip(
            ("d", "r", "v", "n", "p", "ts"), wanted, of_kind(FOUND, target.dialect), strict=True
        )
        if expected != found
    ]
    for at in (1, 2):
        assert f"id = {at}: {'; '.join(differ)}\n" in said
    assert "id = 4" not in said
    found = json.loads(out.read_text())
    assert found["holds"] is False
    (table,) = found["tables"]
    assert table["expected"] != table["found"]
    assert main(["verify", "--certificate", str(out)]) == 8
    assert "the claim did NOT hold when it was made" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "dialect", "kind"),
    [
        ("character varying(9)", "postgres", SqlType.VARCHAR),
        ("character(9)", "postgres", SqlType.CHAR),
        ("numeric", "postgres", SqlType.DECIMAL),
        ("timestamp with time zone", "postgres", SqlType.TIMESTAMP_TZ),
        ("time without time zone", "postgres", SqlType.TIME),
        ("interval", "postgres", SqlType.VARCHAR),
        ("point", "postgres", SqlType.VARCHAR),
        ("float", "mariadb", SqlType.REAL),
        ("REAL", "sqlite", SqlType.DOUBLE),
        ("", "sqlite", SqlType.VARCHAR),
        ("tinyint", "mariadb", SqlType.BOOLEAN),
        ("HUGEINT", "duckdb", SqlType.DECIMAL),
        ("TIMESTAMP_NS", "duckdb", SqlType.TIMESTAMP),
    ],
)
def test_families_of_types(name: str, dialect: str, kind: SqlType) -> None:
    assert family_of(name, dialect) is kind


@pytest.mark.parametrize(
    ("kind", "one", "other", "same"),
    [
        (SqlType.DECIMAL, "1.50", "1.5", True),
        (SqlType.DECIMAL, "-0.00", "0", True),
        (SqlType.DECIMAL, "1e2", "100", True),
        (SqlType.DECIMAL, "12300000000000000000000000000.45", "1.23e+28", False),
        (SqlType.VARCHAR, "007", "7", False),
        (SqlType.VARCHAR, "a ", "a", False),
        (SqlType.CHAR, "a ", "a", True),
        (SqlType.REAL, "0.1", "0.10000000149011612", True),
        (SqlType.REAL, "0.1", "0.10000001", False),
        (SqlType.DOUBLE, "0.1", "0.10000000149011612", False),
        (SqlType.DOUBLE, "-0.0", "0", True),
        (SqlType.DATE, "2024-03-15", "2024-03-15 00:00:00", True),
        (SqlType.TIMESTAMP, "2024-03-15 10:00:00.500000", "2024-03-15 10:00:00.5", True),
        (SqlType.TIMESTAMP, "2024-03-15 10:00:00.5", "2024-03-15 10:00:00", False),
        (SqlType.TIMESTAMP_TZ, "2024-03-15 10:00:00+02:00", "2024-03-15 08:00:00+00", True),
        (SqlType.TIMESTAMP_TZ, "0001-01-01 10:00:00.5-01:30", "0001-01-01 11:30:00.50Z", True),
        (SqlType.TIMESTAMP_TZ, "2024-03-15 10:00:00+02:00", "2024-03-15 10:00:00+00", False),
        (SqlType.BOOLEAN, "t", "1", True),
        (SqlType.BLOB, "\\xAB", "\\xab", True),
        (SqlType.TIME, "10:00:00.000", "10:00:00", True),
    ],
)
def test_forms(kind: SqlType, one: str, other: str, same: bool) -> None:
    texts = of_texts(pa.array([one, other, None]), kind).to_pylist()
    assert (texts[0] == texts[1]) is same
    assert texts[2] is None


def test_many_rows_that_differ_are_all_counted(tmp_path: Path) -> None:
    """Buckets, groups of buckets and keys lead to the same count as looking at every row."""
    from replay.live import differences

    rng = random.Random(7)
    wanted = {number: rng.randrange(1000) for number in range(20_000)}
    here = dict(wanted)
    for number in rng.sample(range(20_000), 500):
        here[number] += 1
    for number in rng.sample(range(20_000), 300):
        del here[number]
    here |= dict.fromkeys(range(30000, 30070), 1)
    differing = sum(wanted.get(number) != here.get(number) for number in {*wanted, *here})
    form = differences.RowHash(("k", "v"), ("k",))

    def side(rows: dict[int, int]) -> Iterator[differences.SignedRows]:
        columns = {
            "k": pa.array([str(number) for number in rows]),
            "v": pa.array([str(value) for value in rows.values()]),
        }
        yield differences.SignedRows(columns, len(rows))

    for held in (4_000_000, 2_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(differences, "_HELD_ROWS", held)
            found = differences.differences_of(
                form, lambda: side(wanted), lambda: side(here), 20_000
            )
        assert found.differing == differing
        assert len(found.examples) == 20
    assert not differences.differences_of(form, lambda: side(here), lambda: side(here), 1).differing


def test_tables_of_several_schemas_are_compared_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file is told by its owner, or by its table where one schema has it."""
    columns = (Col("ID", "INT", 4, key=1),)
    tables = [Tab(name, columns, owner, obid=n) for n, (owner, name) in enumerate(OWNED, 3)]
    log = LogBuilder(tuple(tables))
    for table in tables:
        log.unit().insert(table, (7,))
    control, data = log.write(tmp_path)
    argv = ["verify", "--control", str(control), "--data", *map(str, data)]
    to = ["--to", f"duckdb:///{tmp_path}/base"]
    argv += [*to, "--schema", "none", "--expected"]
    states = {name: tmp_path / name for name in ("whole", "alone")}
    for folder in states.values():
        folder.mkdir()
    with duckdb.connect(str(tmp_path / "base")) as base:
        for owner, name in OWNED:
            base.execute(f"CREATE SCHEMA {owner.lower()}")
            base.execute(f"CREATE TABLE {owner}.{name} AS SELECT 7 AS id".lower())
            (states["whole"] / f"{owner}.{name}.csv").write_text("ID\n")
            (states["alone"] / f"{name}.csv").write_text("ID\n")
    certificate = tmp_path / "proof.json"
    assert main([*argv, str(states["whole"]), "--certificate", str(certificate)]) == 0
    said = capsys.readouterr().out
    assert all(f"{owner}.{name}: 1 row, all as expected".lower() in said for owner, name in OWNED)
    one = ["--target-schema", OWNED[0][0].lower()]
    assert main([*argv, str(states["alone"]), *one]) == 0
    assert f"{OWNED[1][0]}.".lower() not in capsys.readouterr().out
    check = ["verify", "--certificate", str(certificate), *to]
    assert main(check) == 0
    owner, name = OWNED[1]
    with duckdb.connect(str(tmp_path / "base")) as base:
        base.execute(f"INSERT INTO {owner}.{name} VALUES (8)")
        base.execute(f"CREATE TABLE {OWNED[0][0]}.{name} AS SELECT 7 AS id")
    assert main(check) == 8
    assert f"the rows of {owner.lower()}.{name.lower()} are others now" in capsys.readouterr().out
    assert main([*argv, str(states["whole"])]) == 8
    assert f"{owner}.{name}: 2 rows, 1 DIFFER".lower() in capsys.readouterr().out.lower()
    assert main([*argv, str(states["alone"])]) == 12
    assert f"found {name}.csv, which is of a table of" in capsys.readouterr().err


def checked(target: Target, url: str, script: Path) -> list[tuple[Any, ...]]:
    """The rows that the queries of a verification give."""
    text = script.read_text(encoding="utf-8")
    begin = text.index("\nSELECT ") + 1
    queries = [line for line in text[begin:].splitlines() if line.startswith("SELECT ")]
    filled = script.with_name("filled.sql")
    filled.write_text(text[:begin], encoding="utf-8")
    target.run_scripts(url, [filled])
    with closing(target.connect(url)) as session:
        found = [row for query in queries for row in session.query(query.replace("%", "%%"))]
        for line in text[begin:].splitlines()[len(queries) :]:
            session.execute(line)
    return found


@pytest.mark.parametrize("known", [True, False], ids=["initial", "log alone"])
def test_the_check_of_a_migration_names_rows(
    place: tuple[Target, str], known: bool, sakila: Path, tmp_path: Path
) -> None:
    """Two rows that swap a value, one that is not there, one that should not be: each is shown
    as often as it is there and should be. Rows that the log did not touch are compared only where
    they are known."""
    (target, url), out, loaded = place, tmp_path / "out", tmp_path / "loaded"
    dialect, small = target.dialect, sakila.parent / "small"
    if dialect == "sqlite":  # whose schemas are files
        url = f"sqlite:///{tmp_path}/sakila.db"
        target.make(url)
    words = ["migrate", *of_log_master(small / "small.ctl", small / "small.dat"), "--dialect"]
    words += [dialect, "--schema", "none"]
    for name in ("ADDRESS", "CUSTOMER_NOTE", "KIOSK_SCAN", "FILM_STOCK"):
        words += ["--table", name]
    whole = ["--initial", str(sakila / "initial")]
    assert main([*words, *whole, "--out", str(loaded)]) in (0, 4)
    assert main([*words, *(whole if known else ()), "--out", str(out)]) in (0, 4)
    steps = [loaded / "10-schema.sql", *sorted((loaded / "20-load").glob("*.sql"))]
    steps += [*(out / "30-redo").glob("*.sql")]
    with contextlib.chdir(loaded):  # psql reads files from there
        target.run_scripts(url, steps)

    def check() -> list[tuple[Any, ...]]:
        with contextlib.chdir(out):
            return checked(target, url, out / "50-verify.sql")

    def do(*statements: str) -> None:
        with closing(target.connect(url)) as session:
            for statement in statements:
                session.execute(statement)

    def short() -> list[tuple[str, ...]]:
        return [tuple(map(str, row[:4])) for row in check()]

    assert check() == [("SAME" if known else "SAME, as far as compared: PLAN.md",)]
    with closing(target.connect(url)) as session:
        phones = "SELECT address_id, phone FROM sakila.address WHERE address_id IN (117, 403)"
        (one, first), (other, second) = session.query(phones)
    change = "UPDATE sakila.address SET phone = '{}' WHERE address_id = {}"
    do(change.format(second, one), change.format(first, other))
    do("DELETE FROM sakila.address WHERE address_id = 606")
    do("UPDATE sakila.customer_note SET note_id = 262 WHERE note_id = 1")
    note = "SAKILA.CUSTOMER_NOTE"
    wrong = [("SAKILA.ADDRESS", *one) for one in (("0", "1"), ("1", "0"))]
    assert Counter(short()) == Counter(
        [
            *((*one, key) for one in wrong for key in ("117", "403")),
            ("SAKILA.ADDRESS", "0", "1", "606"),
            *([(note, "0", "1", "1")] if known else []),
            (note, "1", "0", "262"),
            ("DIFFERENT",),
        ]
    )
    do("DELETE FROM sakila.kiosk_scan")
    assert {row[1] for row in short() if row[0] == "SAKILA.KIOSK_SCAN"} == {"0"}
