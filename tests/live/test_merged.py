"""Merged mode: the net change of each row, on a live PostgreSQL. The end is the same as in strict
order, and so is what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.targets import target_named
from tests.support.history import SCHEMA, Maker
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.replayed import (
    AT_END,
    PIT1,
    START,
    position,
    rows,
    same,
    statements_of,
)

POSTGRES = target_named("postgres")
MERGED = ("--mode", "merged")
SEEDS = 25

Replay = Callable[..., int]


def replayed(log: tuple[Path, list[Path]], url: str, *options: str) -> int:
    arguments = [
        "--control",
        str(log[0]),
        *(part for path in log[1] for part in ("--data", str(path))),
    ]
    return main(["replay", *arguments, "--to", url, "--engine", "local", "--apply", *options])


def folded(said: str) -> list[tuple[int, int]]:
    """(statements, row changes) of each run."""
    return [
        (int(a.replace(",", "")), int(b.replace(",", "")))
        for a, b in re.findall(r"([\d,]+) statements were folded into ([\d,]+)", said)
    ]


@pytest.mark.parametrize("size", ["100", "200000"])
def test_every_point_and_back(
    replay: Replay, database: str, sakila: Path, size: str, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = json.loads((sakila / "manifest.json").read_text())
    for point in manifest["points_in_time"]:
        assert (
            replay(*MERGED, "--commit-statements", size, "--until-lrsn", point["commit_lrsn"]) == 0
        )
        assert same(database, sakila, point["dir"])
    assert replay(*MERGED, "--commit-statements", size) == 0
    assert same(database, sakila, "final")
    assert position(database)[2:] == (*AT_END, 0)
    said = capsys.readouterr().out
    assert "The states between are never in the target" in said
    assert "in strict order:" not in said
    statements, changes = (sum(column) for column in zip(*folded(said), strict=True))
    assert statements > 18_000
    assert changes < (17_500 if size == "200000" else 22_000)
    assert replay("--until-lrsn", START) == 0
    assert same(database, sakila, "initial")


@pytest.mark.parametrize("size", ["8", "200000"])
def test_random_histories(
    fresh_database: str, tmp_path: Path, size: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unique keys, foreign keys and rows without a key, all enforced: the end is that of the model.
    Few transactions need strict order."""
    in_order = parts = 0
    for seed in range(SEEDS):
        history = Maker(seed, 60).history
        folder = tmp_path / str(seed)
        folder.mkdir()
        rows(fresh_database, f"DROP SCHEMA IF EXISTS testown, logreplay CASCADE; {SCHEMA}")
        assert (
            replayed(
                history.log(folder, seed=seed), fresh_database, *MERGED, "--commit-statements", size
            )
            == 0
        )
        found = {
            name: sorted(rows(fresh_database, f"SELECT * FROM testown.{name}"))
            for name in ("parent", "child", "loose")
        }
        assert found == history.state()
        said = capsys.readouterr().out
        assert position(fresh_database)[2:] == (60, statements_of(said, history), 0)
        in_order += sum(map(int, re.findall(r"in strict order: (\d+) transactions", said)))
        parts += -(-sum(map(len, history.units)) // int(size))
    assert in_order < parts / 4


KEYED = Tab(
    "KEYED",
    (Col("K", "INT", 4, key=1), Col("U", "INT", 4, nulls="Y"), Col("T", "VCHR", 20, nulls="Y")),
)
KEYED_DDL = (
    "CREATE SCHEMA testown; CREATE TABLE testown.keyed (k int PRIMARY KEY, u int UNIQUE, t"
    " varchar(20));"
)


def keyed(url: str, more: str = "") -> None:
    rows(url, KEYED_DDL + more)
    rows(
        url,
        "INSERT INTO testown.keyed SELECT g, g * 10, 'row ' || g FROM generate_series(1, 5) AS g",
    )


def test_keys_that_change_places(
    fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two rows swap their keys, two swap a unique value, all keys move up by one, a row is deleted
    and inserted again as another. Where rows cross their keys within a unit, the table's statements
    run one by one."""
    keyed(fresh_database)
    log = LogBuilder((KEYED,))
    for steps in (
        [
            ((1, 10, "row 1"), (9, 10, "row 1")),
            ((2, 20, "row 2"), (1, 20, "row 2")),
            ((9, 10, "row 1"), (2, 10, "row 1")),
        ],
        [
            ((3, 30, "row 3"), (3, None, "row 3")),
            ((4, 40, "row 4"), (4, 30, "row 4")),
            ((3, None, "row 3"), (3, 40, "row 3")),
        ],
        [
            ((5, 50, "row 5"), (6, 50, "row 5")),
            ((4, 30, "row 4"), (5, 30, "row 4")),
            ((3, 40, "row 3"), (4, 40, "row 3")),
        ],
    ):
        unit = log.unit()
        for before, after in steps:
            unit.update(KEYED, before, after)
    unit = log.unit()
    unit.delete(KEYED, (6, 50, "row 5"))
    unit.insert(KEYED, (6, 60, "new"))
    unit.insert(KEYED, (7, 70, "fleeting"))
    unit.delete(KEYED, (7, 70, "fleeting"))
    assert replayed(log.write(tmp_path), fresh_database, *MERGED) == 0
    assert rows(fresh_database, "SELECT * FROM testown.keyed ORDER BY k") == [
        (1, 20, "row 2"), (2, 10, "row 1"), (4, 40, "row 3"), (5, 30, "row 4"), (6, 60, "new"),
    ]  # fmt: skip
    said = capsys.readouterr().out
    assert "in strict order:" not in said
    assert folded(said) == [(0, 0)]


def test_columns_that_only_the_target_has(fresh_database: str, tmp_path: Path) -> None:
    """A row that moves keeps what the target's own column says, as it does in strict order; a row
    deleted and inserted again loses it."""
    keyed(fresh_database, "ALTER TABLE testown.keyed ADD own text DEFAULT 'empty';")
    rows(fresh_database, "UPDATE testown.keyed SET own = 'own ' || k")
    log = LogBuilder((KEYED,))
    unit = log.unit()
    unit.update(KEYED, (1, 10, "row 1"), (9, 10, "row 1"))
    unit.update(KEYED, (2, 20, "row 2"), (2, 20, "changed"))
    unit.delete(KEYED, (3, 30, "row 3"))
    unit.insert(KEYED, (3, 30, "row 3"))
    assert replayed(log.write(tmp_path), fresh_database, *MERGED) == 0
    assert rows(fresh_database, "SELECT k, t, own FROM testown.keyed ORDER BY k") == [
        (2, "changed", "own 2"), (3, "row 3", "empty"), (4, "row 4", "own 4"),
        (5, "row 5", "own 5"), (9, "row 1", "own 1"),
    ]  # fmt: skip


TEXTS = [
    "",
    " ",
    "\\N",
    "\\.",
    "a\\b",
    "tab\there",
    "line\nfeed",
    "re\rturn",
    "it's",
    '"quoted"',
    "NULL",
    None,
    "\x01\x7f",
    "ends \\",
    "¢¬é",
]


def test_texts_and_bytes_travel_whole(fresh_database: str, tmp_path: Path) -> None:
    table = Tab(
        "TEXTS",
        (
            Col("K", "INT", 4, key=1),
            Col("V", "VCHR", 30, nulls="Y"),
            Col("C", "CHAR", 12, nulls="Y"),
        ),
    )
    bits = Tab(
        "BITS", (Col("K", "INT", 4, key=1), Col("B", "VCHR", 300, nulls="Y", subtype="B")), obid=9
    )
    log = LogBuilder((table, bits))
    unit = log.unit()
    data = [bytes(range(256)), b"", None, b"\\", b"\t\n"]
    for number, value in enumerate(TEXTS):
        unit.insert(table, (number, value, value))
    for number, octets in enumerate(data):
        unit.insert(bits, (number, octets))
    rows(
        fresh_database,
        "CREATE SCHEMA testown; CREATE TABLE testown.texts (k int PRIMARY KEY, v varchar(30), c"
        " char(12))",
    )
    rows(fresh_database, "CREATE TABLE testown.bits (k int PRIMARY KEY, b bytea)")
    (tmp_path / "one").mkdir()
    assert replayed(log.write(tmp_path / "one"), fresh_database, *MERGED) == 0
    found = rows(fresh_database, "SELECT v, rtrim(c) FROM testown.texts ORDER BY k")
    assert found == [(value, None if value is None else value.rstrip(" ")) for value in TEXTS]
    assert rows(fresh_database, "SELECT b FROM testown.bits ORDER BY k") == [
        (octets,) for octets in data
    ]
    log.changes.clear()
    later = log.unit()
    for number, value in enumerate(TEXTS):
        later.update(table, (number, value, value), (number, TEXTS[number - 1], value))
    for number, octets in enumerate(data):
        later.delete(bits, (number, octets))
    (tmp_path / "two").mkdir()
    assert replayed(log.write(tmp_path / "two"), fresh_database, *MERGED, "--adjoining") == 0
    assert [
        value for (value,) in rows(fresh_database, "SELECT v FROM testown.texts ORDER BY k")
    ] == [TEXTS[-1], *TEXTS[:-1]]
    assert rows(fresh_database, "SELECT * FROM testown.bits") == []


def test_tables_that_are_emptied_and_tables_without_key(
    fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keyed(fresh_database)
    loose = Tab("LOOSE", (Col("T", "VCHR", 8), Col("N", "INT", 4)), obid=7)
    other = Tab("OTHER", KEYED.columns, obid=8)
    rows(
        fresh_database,
        "CREATE TABLE testown.loose (t varchar(8), n int); INSERT INTO testown.loose VALUES ('a',"
        " 1), ('a', 1)",
    )
    rows(fresh_database, "CREATE TABLE testown.other (k int PRIMARY KEY, u int, t varchar(20))")
    log = LogBuilder((KEYED, loose, other))
    unit = log.unit()
    unit.update(KEYED, (1, 10, "row 1"), (1, 10, "x"))
    unit.event(KEYED, "DT")
    unit.insert(KEYED, (1, 1, "after"))
    unit.update(loose, ("a", 1), ("a", 2))
    unit.delete(loose, ("a", 2))
    for number in range(4):
        unit.insert(other, (number, number, "o"))
    for number in range(4):
        unit.update(other, (number, number, "o"), (number, None, "o"))
    assert replayed(log.write(tmp_path), fresh_database, *MERGED) == 0
    assert rows(fresh_database, "SELECT * FROM testown.keyed") == [(1, 1, "after")]
    assert rows(fresh_database, "SELECT * FROM testown.loose") == [("a", 1)]
    assert rows(fresh_database, "SELECT count(*), count(u) FROM testown.other") == [(4, 0)]
    assert folded(capsys.readouterr().out) == [(8, 4)]


@pytest.mark.parametrize(
    "change", ["UPDATE sakila.film SET last_update = '1999-01-01'", "DELETE FROM sakila.film"]
)
def test_a_row_that_somebody_changed(
    replay: Replay, database: str, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    """It is caught and named as in strict order, with all units before it applied and nothing of
    it."""
    rows(database, f"{change} WHERE film_id = 819")
    before = rows(database, "SELECT * FROM sakila.film WHERE film_id = 819")
    assert replay(*MERGED) == 8
    said = capsys.readouterr().err
    for part in (
        "LR4006",
        "no-row",
        "in SAKILA.FILM touched 0 rows",
        "before image: {'FILM_ID': '819'",
    ):
        assert part in said
    assert rows(database, "SELECT * FROM sakila.film WHERE film_id = 819") == before
    stood = position(database)
    assert 0 < stood[2] < 2598
    assert replay() == 8
    assert position(database) == stood


def test_responses_count_in_merged_mode_too(
    replay: Replay, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows(database, "INSERT INTO sakila.inventory VALUES (4583, 1, 1, '2001-01-01')")
    assert replay(*MERGED, "--until-lrsn", PIT1, "--on", "duplicate-key:insert=overwrite") == 4
    said = capsys.readouterr().out
    assert "in strict order: 1 transactions, the first from unit" in said
    assert "duplicate key value violates unique constraint" in said
    assert position(database)[4] == 1


#: A row as another program left it (SQL), and the units of the log that go over it.
OTHERS = {
    "gone and come again": (
        "UPDATE testown.keyed SET t = 'other' WHERE k = 1",
        [[("delete", (1, 10, "row 1"))], [("insert", (1, 11, "row 1"))]],
    ),
    "gone and come again as it was": (
        "DELETE FROM testown.keyed WHERE k = 1",
        [[("delete", (1, 10, "row 1")), ("insert", (1, 10, "row 1"))]],
    ),
    "there and back": (
        "UPDATE testown.keyed SET u = 99 WHERE k = 1",
        [[("update", (1, 10, "row 1"), (1, 11, "row 1"))]]
        + [[("update", (1, 11, "row 1"), (1, 10, "row 1"))]],
    ),
    "passed through": (
        "INSERT INTO testown.keyed VALUES (77, 0, 'other')",
        [[("insert", (77, 1, "row 77"))], [("delete", (77, 1, "row 77"))]],
    ),
    "a row twice for one that is gone": (
        "CREATE TABLE testown.child () INHERITS (testown.keyed); INSERT INTO testown.child SELECT *"
        " FROM ONLY testown.keyed WHERE k = 1; DELETE FROM ONLY testown.keyed WHERE k = 2",
        [
            [
                ("update", (1, 10, "row 1"), (1, 10, "one")),
                ("update", (2, 20, "row 2"), (2, 20, "2")),
            ]
        ],
    ),
    "a key that moves on": (
        "UPDATE testown.keyed SET t = 'other' WHERE k = 1",
        [[("update", (1, 10, "row 1"), (77, 10, "row 1"))]],
    ),
}


@pytest.mark.parametrize("where", ["guard", "key"])
@pytest.mark.parametrize("case", OTHERS)
def test_what_others_did_ends_as_in_strict_order(
    fresh_database: str, tmp_path: Path, case: str, where: str
) -> None:
    """A change that is only one on the way is checked as strict order would have checked it."""
    statement, units = OTHERS[case]
    log = LogBuilder((KEYED,))
    for changes in units:
        unit = log.unit()
        for kind, *images in changes:
            getattr(unit, kind)(KEYED, *images)
    files = log.write(tmp_path)
    ends = []
    for mode in ((), MERGED):
        rows(fresh_database, "DROP SCHEMA IF EXISTS testown, logreplay CASCADE")
        keyed(fresh_database)
        rows(fresh_database, statement)
        code = replayed(files, fresh_database, *mode, "--where-columns", where)
        ends.append((code, rows(fresh_database, "SELECT * FROM testown.keyed ORDER BY k")))
    assert ends[1] == ends[0]


def test_columns_left_out_and_values_that_do_not_fit(fresh_database: str, tmp_path: Path) -> None:
    """What differs from the log by the user's choice is no reason to write other rows than strict
    order does."""
    keyed(fresh_database)
    rows(fresh_database, "ALTER TABLE testown.keyed ALTER t TYPE varchar(6)")
    log = LogBuilder((KEYED,))
    unit = log.unit()
    unit.update(KEYED, (1, 10, "row 1"), (1, 11, "too long for it"))
    unit.update(KEYED, (2, 20, "row 2"), (2, 20, "neither"))
    unit.update(KEYED, (2, 20, "neither"), (2, 22, "x"))
    files = log.write(tmp_path)
    assert replayed(files, fresh_database, *MERGED) == 8
    assert rows(fresh_database, "SELECT to_regclass('logreplay.position')") == [(None,)]
    assert replayed(files, fresh_database, *MERGED, "--accept", "type") == 8
    assert position(fresh_database)[2] == 0
    rows(fresh_database, "DROP SCHEMA logreplay CASCADE")
    assert replayed(files, fresh_database, *MERGED, "--exclude-columns", "T") == 0
    assert rows(fresh_database, "SELECT * FROM testown.keyed WHERE k < 3 ORDER BY k") == [
        (1, 11, "row 1"),
        (2, 22, "row 2"),
    ]


def test_a_value_that_cannot_be_read_when_others_are_in(
    fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows are decoded while those before them are brought in. One that cannot be takes them back,
    and all are applied in strict order, which has no need of the value."""
    columns = (Col("K", "INT", 4, key=1), Col("V", "INT", 4), Col("AMOUNT", "DEC", 3, scale=2))
    table = Tab("PRICED", columns)
    ddl = "CREATE TABLE testown.priced (k int PRIMARY KEY, v int, amount numeric)"
    rows(fresh_database, f"CREATE SCHEMA testown; {ddl}")
    rows(fresh_database, "INSERT INTO testown.priced VALUES (1, 10, 1), (2, 20, 2)")
    log = LogBuilder((table,))
    unit = log.unit()
    unit.insert(table, (7, 70, "7.00"))
    change = unit.update(table, (1, 10, "1.00"), (1, 11, "1.00"))
    change.images[1] = change.images[1][:-1] + b"\xff"
    unit.delete(table, (2, 20, "2.00"))
    options = ("--exclude-columns", "AMOUNT")
    assert replayed(log.write(tmp_path), fresh_database, *MERGED, *options) == 0
    said = capsys.readouterr().out
    assert "in strict order: 1 transactions" in said
    assert "column TESTOWN.PRICED.AMOUNT cannot be read in every row" in said
    assert folded(said) == [(0, 0)]
    found = rows(fresh_database, "SELECT * FROM testown.priced ORDER BY k")
    assert found == [(1, 11, 1), (7, 70, None)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--until-lrsn", START], "found --mode merged for a replay backward"),
        (["--ri", "skip"], "found --ri skip with --mode merged"),
        (["--triggers", "skip"], "found --triggers skip with --mode merged"),
    ],
)
def test_what_merged_mode_refuses(
    replay: Replay, capsys: pytest.CaptureFixture[str], options: Sequence[str], said: str
) -> None:
    if options[0] == "--until-lrsn":
        assert replay(*MERGED) == 0
    assert replay(*MERGED, *options) == 8
    shown = capsys.readouterr().err
    assert "LR4009" in shown
    assert said in shown


def test_a_user_who_may_not_make_staging_tables(
    replay: Replay, database: str, sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where staging tables cannot be made, everything is applied in strict order, and the reason is
    said."""
    name = database.rsplit("/", 1)[1]
    rows(database, f"REVOKE TEMPORARY ON DATABASE {name} FROM PUBLIC")
    rows(database, "DROP ROLE IF EXISTS plain; CREATE ROLE plain LOGIN PASSWORD 'plain'")
    rows(
        database, f"GRANT CREATE ON DATABASE {name} TO plain; GRANT USAGE ON SCHEMA sakila TO plain"
    )
    rows(database, "GRANT ALL ON ALL TABLES IN SCHEMA sakila TO plain")
    log = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    url = database.replace(database.split("//")[1].split("@")[0], "plain:plain")
    assert main(["replay", *log, "--to", url, "--engine", "local", "--apply", *MERGED]) == 0
    assert "in strict order: 1 transactions" in capsys.readouterr().out
    assert same(database, sakila, "final")
    rows(database, "DROP OWNED BY plain; DROP ROLE plain")
