"""What SQLite, DuckDB, MariaDB and MySQL are asked before a replay: types that would not keep the
log's values, and what acts by itself, each with its refusal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.cli.main import main
from replay.errors import Refusal, UsageError
from replay.targets import Target, target_named
from tests.support.hazards import PARTITIONED, POSTGRES_ACTS, table_of, text_key_log, write_log
from tests.support.servers import kinds, of_kind, server_of


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return write_log(tmp_path_factory.mktemp("log"))


class Place:
    """A database of one kind, and what a test does with it."""

    def __init__(self, target: Target, url: str, log: list[str]) -> None:
        self.target, self.url, self.log = target, url, log

    def do(self, *statements: str) -> list[tuple[Any, ...]]:
        """The rows of the last statement."""
        found: list[tuple[Any, ...]] = []
        with closing(self.target.connect(self.url)) as session:
            for statement in statements:
                if statement.startswith("SELECT"):
                    found = session.query(statement)
                else:
                    session.execute(statement)
        return found

    def make(self, changed: dict[str, str] | None = None, tail: str = "", **how: Any) -> None:
        """The table of the log, with other types of columns."""
        with closing(self.target.connect(self.url)) as session:
            session.make_schema("testown")
        columns = table_of(self.target.dialect, changed or {}, **how)
        self.do(f"CREATE TABLE testown.things ({columns}){tail}")

    def replay(self, *options: str) -> int:
        act = [] if "--dry-run" in options else ["--apply"]
        return main(["replay", *self.log, "--to", self.url, *act, *options])


@pytest.fixture
def place(request: pytest.FixtureRequest, log: list[str]) -> Iterator[Place]:
    target = target_named(request.param)
    if request.param == "postgres":
        yield Place(target, request.getfixturevalue("fresh_database"), log)
        return
    with target.scratch(server_of(request, request.param)) as url:
        yield Place(target, url, log)


#: What MySQL lacks, or knows how to refuse by itself, and MariaDB does not.
OTHERWISE = {("mysql", "versioned"), ("mysql", "ts"), ("mysql", "Aria")}


def of(*names: str) -> Any:
    """A test of these kinds of targets."""
    return pytest.mark.parametrize("place", kinds(*names), indirect=True)


def cases_of(cases: dict[str, dict[str, Any]]) -> Any:
    """A test of each case of each kind of target."""
    return pytest.mark.parametrize(
        ("place", "case"),
        [
            pytest.param(*kind.values, case, id=f"{kind.values[0]}-{name}", marks=kind.marks)
            for named, some in cases.items()
            for kind in kinds(named)
            for name, case in some.items()
            if (kind.values[0], name) not in OTHERWISE
        ],
        indirect=["place"],
    )


#: Column -> (type that is too narrow, words of the refusal).
NARROW = {
    "postgres": {
        "n": ("numeric(9,1)", "it rounds to 1 digits after the point"),
        "t": ("name", "it holds values of a kind that logreplay does not know"),
        "c": ("bytea", "it holds bytes, not text"),
        "d": ("text", "it holds text, not dates"),
        "ts": ("timestamp(0)", "it rounds to 0 digits of a second"),
        "f": ("real", "it keeps 24 binary digits, not 53"),
        "r": ("numeric(9,1)", "it rounds"),
        "b": ("double precision", "it keeps 53 binary digits of a number"),
        "s": ("text", "it holds text, not whole numbers"),
        "x": ("text", "it holds text, not bytes"),
        "c2": ("timetz", "it holds values of a kind that logreplay does not know"),
    },
    "sqlite": {
        "t": ("INTEGER", "text that looks like a number becomes one"),
        "c": ("NUMERIC", "text that looks like a number becomes one"),
        "b": ("REAL", "it keeps 53 binary digits of a number"),
        "s": ("TEXT", "it holds text, not whole numbers"),
        "f": ("TEXT", "it holds text, not binary floating-point numbers"),
    },
    "duckdb": {
        "n": ("DECIMAL(9,1)", "it rounds to 1 digits after the point"),
        "t": ("UUID", "of a kind that logreplay does not know"),
        "c": ("BIT", "of a kind that logreplay does not know"),
        "d": ("VARCHAR", "it holds text, not dates"),
        "ts": ("TIMESTAMP_MS", "it rounds to 3 digits of a second"),
        "f": ("FLOAT", "it keeps 24 binary digits, not 53"),
        "r": ("INTEGER", "it holds whole numbers, not binary floating-point numbers"),
        "b": ("DOUBLE", "it keeps 53 binary digits of a number"),
        "s": ("BOOLEAN", "it holds truth values, not whole numbers"),
        "x": ("VARCHAR", "it holds text, not bytes"),
    },
    "mariadb": {
        "n": ("decimal(9,1)", "it rounds to 1 digits after the point"),
        "t": ("enum('abc')", "of a kind that logreplay does not know"),
        "c": ("binary(5)", "it holds bytes, not text"),
        "d": ("year", "of a kind that logreplay does not know"),
        "ts": ("datetime", "it rounds to 0 digits of a second"),
        "f": ("float", "it keeps 24 binary digits, not 53"),
        "r": ("float(7,2)", "of a kind that logreplay does not know"),
        "b": ("double", "it keeps 53 binary digits of a number"),
        "s": ("bit(8)", "of a kind that logreplay does not know"),
        "x": ("binary(6)", "it pads with zero bytes"),
        "c2": ("datetime", "it holds timestamps, not times of day"),
    },
}


@of("postgres", "sqlite", "duckdb", "mariadb")
def test_types_that_round_or_cut(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    narrow = of_kind(NARROW, place.target.dialect)
    place.make({name: kind for name, (kind, _) in narrow.items()})
    assert place.replay() == 8
    said = capsys.readouterr()
    for name, (_, words) in narrow.items():
        assert re.search(rf"column {name} is [^:]*: [^:]*{re.escape(words)}", said.out), name
    assert "--accept type" in said.err
    assert place.do("SELECT count(*) FROM testown.things") == [(0,)]


@of("sqlite")
def test_strict_tables_and_long_decimals(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    strict = {"n": "REAL", "b": "REAL", "r": "REAL", "d": "ANY", "s": "INT"}
    place.make(strict, " STRICT")
    assert place.replay() == 8
    said = capsys.readouterr().out
    assert "column b is REAL, BIGINT in the log: it keeps 53 binary digits of a number" in said
    assert "column n is REAL, DECIMAL(9,2) in the log: it holds binary" in said
    assert "column d" not in said


#: Column -> (type that holds some values, what is expected of them).
SMALLER = {
    "postgres": {
        "n": ("numeric(5,2)", "at most 3 digits before the point"),
        "t": ("varchar(4)", "at most 4 characters"),
        "b": ("integer", "2147483647 or less"),
        "s": ("numeric(2)", "99 or less"),
    },
    "duckdb": {
        "n": ("DECIMAL(5,2)", "at most 3 digits before the point"),
        "b": ("INTEGER", "2147483647 or less"),
        "s": ("UTINYINT", "255 or less"),
    },
    "mariadb": {
        "n": ("decimal(5,2)", "at most 3 digits before the point"),
        "t": ("varchar(4)", "at most 4 characters"),
        "s": ("tinyint unsigned", "255 or less"),
        "ts": ("timestamp(6) NOT NULL", "no NULL"),
        "x": ("varbinary(1)", "at most 1 bytes"),
    },
}


@cases_of({k: {name: (name, *case) for name, case in some.items()} for k, some in SMALLER.items()})
def test_values_are_looked_at_where_the_type_does_not_decide(
    place: Place, capsys: pytest.CaptureFixture[str], case: tuple[str, str, str]
) -> None:
    name, kind, expected = case
    place.make({name: kind})
    assert place.replay() == 8
    said = capsys.readouterr().err
    assert re.search(r"LR4008 the target does not hold a value of the log: LR3001 .*record", said)
    assert expected in said
    assert place.do("SELECT count(*) FROM testown.things") == [(0,)]


@of("mariadb")
def test_characters_that_a_character_set_lacks(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place.make({"t": "varchar(10) CHARACTER SET ascii", "c": "char(5) CHARACTER SET latin1"})
    assert place.replay() == 0
    place.do("DROP DATABASE logreplay", "DROP DATABASE testown")
    place.log = write_log(tmp_path, text="añd")
    place.make({"t": "varchar(10) CHARACTER SET ascii"})
    assert place.replay() == 8
    assert "expected characters of ascii" in capsys.readouterr().err


OTHER = "CREATE TABLE testown.other (k int, FOREIGN KEY (k) REFERENCES {}things (k) ON {})"
#: Name -> (types of columns, what follows the table's columns, statements, code, words).
ACTS: dict[str, dict[str, Any]] = {
    "postgres": {
        name: ({}, " PARTITION BY RANGE (k)" * text.startswith(PARTITIONED), [text], code, words)
        for name, (text, code, words) in POSTGRES_ACTS.items()
    },
    "sqlite": {
        "trigger": ({}, "", ["CREATE TRIGGER testown.w AFTER UPDATE ON things BEGIN SELECT 1; END"],
            "trigger", "triggers of the target would fire again: w."),
        "action": ({}, "", [OTHER.format("", "DELETE CASCADE")],
            "foreign-key-action", "other (k) to things (ON DELETE CASCADE)"),
        "ignore": ({"s": "INTEGER /* ' */ UNIQUE ON\nCONFLICT ignore"}, "", [],
            "conflict-clause", "in place of an error: ON CONFLICT IGNORE"),
        "rtrim": ({"c": "TEXT COLLATE RTRIM"}, "", [],
            "comparison", "its column c takes different texts for equal (blanks at the end)"),
    },
    "duckdb": {
        "trigger": ({}, "", ["CREATE TABLE testown.other (k int)",
            "CREATE TRIGGER w AFTER UPDATE ON testown.things FOR EACH STATEMENT INSERT INTO"
            " testown.other VALUES (1)"],
            "trigger", "triggers of the target would fire again: w."),
        "noaccent": ({"t": "VARCHAR COLLATE NOACCENT"}, "", [],
            "comparison", "its column t takes different texts for equal (accents)"),
    },
    "mariadb": {
        "trigger": ({}, "", ["CREATE TRIGGER testown.w AFTER UPDATE ON testown.things FOR EACH ROW"
            " SET @n = 1"],
            "trigger", "triggers of the target would fire again: w."),
        "action": ({}, "", [OTHER.format("testown.", "DELETE SET NULL")],
            "foreign-key-action", "other (k) to things (ON DELETE SET NULL)"),
        "elsewhere": ({}, "", ["CREATE DATABASE away", OTHER.replace("testown.", "away.").format(
            "testown.", "UPDATE CASCADE")],
            "foreign-key-action", "away.other (k) to things (ON UPDATE CASCADE)"),
        "on update": ({"ts": "timestamp(6) NULL ON UPDATE current_timestamp(6)"}, "", [],
            "changes-itself", "its column ts changes by itself: with every UPDATE"),
        "versioned": ({}, " WITH SYSTEM VERSIONING", [],
            "versioned", "it keeps its own history"),
        "computed": ({"s": "smallint AS (k * 2) STORED"}, "", [],
            "generated", "the target computes its column s"),
    },
}  # fmt: skip


@cases_of(ACTS)
def test_what_acts_by_itself(
    place: Place, capsys: pytest.CaptureFixture[str], case: tuple[Any, ...]
) -> None:
    changed, tail, statements, code, words = case
    place.make(changed, tail)
    place.do(*statements)
    # a table that others inherit from is one by itself
    beside = ("--accept", "inherited") if code != "inherited" else ()
    assert place.replay(*beside) == 8
    said = capsys.readouterr()
    assert words in said.out
    assert f"--accept {code}" in said.err
    assert place.replay("--dry-run", *beside, "--accept", code) == 0


@of("sqlite", "duckdb", "mariadb")
def test_triggers_fire_with_enforcement_off_as_well(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.make()
    place.do(*of_kind(ACTS, place.target.dialect)["trigger"][2])
    assert place.replay("--enforcement", "off") == 8
    assert "triggers of the target would fire again: w." in capsys.readouterr().out


@cases_of({"mariadb": {name: name for name in ("MEMORY", "Aria")}})
def test_engines_without_transactions(
    place: Place, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    place.make(tail=f" ENGINE = {case}")
    assert place.replay() == 8
    assert f"its engine {case} has no transactions" in (capsys.readouterr().out)


#: What hides, or takes away, the row id that equal rows are told apart by.
ROW_IDS = {
    "sqlite": {
        "without": ({"f": "REAL PRIMARY KEY"}, " WITHOUT ROWID", [], "it is WITHOUT ROWID"),
        "column": ({"_rowid_": "INTEGER"}, "", [], "a column of it is called _rowid_"),
    },
    "duckdb": {"column": ({"rowid": "INTEGER"}, "", [], "a column of it is called rowid")},
}


@cases_of(ROW_IDS)
def test_tables_without_a_row_id(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], case: tuple[Any, ...]
) -> None:
    changed, tail, _, words = case
    place.log = write_log(tmp_path, key=False)
    extra = {name: kind for name, kind in changed.items() if "rowid" in name}
    place.make({n: k for n, k in changed.items() if n not in extra}, tail, key="")
    for name, kind in extra.items():
        place.do(f"ALTER TABLE testown.things ADD COLUMN {name} {kind}")
    assert place.replay() == 8
    said = capsys.readouterr()
    assert words in said.out
    assert "--accept" not in said.err


@of("sqlite")
def test_a_key_of_the_target_does_without_a_row_id(place: Place, tmp_path: Path) -> None:
    """The log knows no key of the table; the target does, and its rows are found by that."""
    place.log = write_log(tmp_path, key=False)
    place.make({"k": "INTEGER PRIMARY KEY"}, " WITHOUT ROWID", key="")
    assert place.replay() == 0
    assert place.do("SELECT k, n, t FROM testown.things") == [(1, 2.5, "abcd")]


def user(place: Place, *grants: str) -> str:
    """The URL of a user who may change the table, and has these privileges as well."""
    rights = ["INSERT, UPDATE, DELETE, SELECT ON testown.*", "ALL ON logreplay.*", *grants]
    place.do("DROP USER IF EXISTS clerk", "CREATE USER clerk IDENTIFIED BY 'x'")
    for right in rights:
        place.do(f"GRANT {right} TO clerk")
    return re.sub("//[^@]*@", "//clerk:x@", place.url)


#: Privileges beside those on the rows -> what this user cannot see.
HIDDEN = {
    "none": ([], ["its triggers", "what refers to it in all databases"]),
    "triggers of another table": (["TRIGGER ON testown.other"], ["its triggers"]),
    "triggers": (["TRIGGER ON `test___`.*"], ["what refers to it in all databases"]),
    "all": (["TRIGGER ON testown.things", "PROCESS ON *.*"], []),
    "everything": (["ALL ON *.*"], []),
}


@pytest.mark.parametrize("rights", HIDDEN)
@of("mariadb")
def test_what_a_user_may_not_see_is_no_absence(
    place: Place, capsys: pytest.CaptureFixture[str], rights: str
) -> None:
    grants, unseen = HIDDEN[rights]
    place.make()
    place.do("CREATE TABLE testown.other (k int)")
    place.url = user(place, *grants)
    assert place.replay("--dry-run") == (8 if unseen else 0)
    said = capsys.readouterr().out
    for what in unseen:
        assert what in said
    assert ("--accept unseen" in said) is bool(unseen)
    if unseen:
        assert place.replay("--dry-run", "--accept", "unseen") == 0


@of("mariadb")
def test_children_out_of_a_users_sight_are_found(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.make()
    place.do(
        "CREATE DATABASE `a-way`",
        OTHER.replace("testown.", "`a-way`.").format("testown.", "DELETE CASCADE"),
    )
    place.url = user(place, "PROCESS ON *.*", "TRIGGER ON testown.*")
    assert place.replay() == 8
    assert "a-way.other to things (ON DELETE CASCADE)" in capsys.readouterr().out


@of("mariadb")
def test_zero_stays_zero_where_a_column_numbers_itself(place: Place, tmp_path: Path) -> None:
    place.log = write_log(tmp_path, number=0)
    place.make({"k": "int AUTO_INCREMENT"})
    assert place.replay() == 0
    assert place.do("SELECT k FROM testown.things") == [(0,)]
    place.do("DROP DATABASE logreplay", "DELETE FROM testown.things")
    assert main(["redo", *place.log, "--dialect", "mariadb", "--out", str(tmp_path / "out")]) == 0
    place.target.run_scripts(place.url, sorted((tmp_path / "out").glob("*.sql")))
    assert place.do("SELECT k FROM testown.things") == [(0,)]


@pytest.mark.parametrize("key", [True, False])
@of("mariadb")
def test_another_row_that_the_collation_takes_for_the_same(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], key: bool
) -> None:
    """A row of somebody else, whose key differs in case or in blanks at its end, is not touched."""
    place.log = text_key_log(tmp_path, key)
    with closing(place.target.connect(place.url)) as session:
        session.make_schema("testown")
    place.do(
        "CREATE TABLE testown.names (n varchar(10) COLLATE utf8mb4_general_ci, v int"
        f"{', UNIQUE (n)' if key else ''})",
        "INSERT INTO testown.names VALUES ('A', 1)",
    )
    assert place.replay() == 8
    assert "the update in TESTOWN.NAMES touched 0 rows" in capsys.readouterr().err
    place.do("UPDATE testown.names SET n = 'a '")
    assert place.replay() == 8
    assert place.do("SELECT concat(n, '|'), v FROM testown.names") == [("a |", 1)]
    place.do("UPDATE testown.names SET n = 'a'")
    assert place.replay() == 0
    assert place.do("SELECT n, v FROM testown.names") == [("a", 2)]


@of("mariadb")
def test_a_key_that_the_collation_takes_for_another(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says why a key is a duplicate that no row of the target has."""
    place.log = text_key_log(tmp_path, new="A")
    with closing(place.target.connect(place.url)) as session:
        session.make_schema("testown")
    place.do(
        "CREATE TABLE testown.names (n varchar(10) COLLATE utf8mb4_general_ci PRIMARY KEY, v int)",
        "INSERT INTO testown.names VALUES ('a', 1)",
    )
    assert place.replay() == 8
    told = capsys.readouterr().err
    assert "in the target: no row with this key; what has it is another unique key" in told
    assert "that the column's collation takes for the same" in told


@of("mariadb")
def test_the_servers_modes_do_not_count(place: Place) -> None:
    """With a server that cuts values, numbers zeros and pads, sessions are strict all the same."""
    (before,) = place.do("SELECT @@GLOBAL.sql_mode")[0]
    place.do("SET GLOBAL sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'")
    try:
        with closing(place.target.connect(place.url)) as session:
            modes = set(session.query("SELECT @@SESSION.sql_mode")[0][0].split(","))
    finally:
        place.do(f"SET GLOBAL sql_mode = '{before}'")
    assert modes == {"STRICT_ALL_TABLES", "NO_ENGINE_SUBSTITUTION", "NO_AUTO_VALUE_ON_ZERO"}


#: What somebody does to the table between plan and apply, and what is said of it.
MEANWHILE: dict[str, list[tuple[str, str]]] = {
    "postgres": [
        (
            "CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
            " CREATE TRIGGER act BEFORE INSERT ON testown.things FOR EACH ROW EXECUTE FUNCTION"
            " act()",
            "what the table does by itself changed (trigger: act came)",
        ),
        (
            "CREATE RULE act AS ON DELETE TO testown.things DO INSTEAD NOTHING",
            "what the table does by itself changed (rule: ",
        ),
        ("ALTER TABLE testown.things ALTER n TYPE numeric(9,1)", "the table's types changed"),
        (
            "ALTER TABLE testown.things DROP CONSTRAINT things_pkey",
            "the table's unique keys changed",
        ),
        ("ALTER TABLE testown.things SET UNLOGGED", "(unlogged: "),
        ("DROP TABLE testown.things", "the table went"),
    ],
    "sqlite": [
        (
            "CREATE TRIGGER testown.act AFTER INSERT ON things BEGIN DELETE FROM things; END",
            "what the table does by itself changed (trigger: act came)",
        ),
        ("ALTER TABLE testown.things DROP COLUMN c2", "the table's columns changed"),
        ("DROP TABLE testown.things", "the table went"),
    ],
    "duckdb": [
        ("ALTER TABLE testown.things ALTER n TYPE DECIMAL(9,1)", "the table's types changed"),
        ("ALTER TABLE testown.things ADD more INTEGER", "the table's columns changed"),
        ("DROP TABLE testown.things", "the table went"),
    ],
    "mariadb": [
        (
            "CREATE TRIGGER testown.act BEFORE INSERT ON testown.things FOR EACH ROW SET NEW.s = 7",
            "what the table does by itself changed (trigger: act came)",
        ),
        ("ALTER TABLE testown.things MODIFY n decimal(9,1)", "the table's types changed"),
        ("ALTER TABLE testown.things DROP PRIMARY KEY", "the table's unique keys changed"),
        (
            OTHER.format("testown.", "DELETE CASCADE"),
            "what the table does by itself changed (foreign-key-action",
        ),
    ],
}


@of("postgres", "sqlite", "duckdb", "mariadb")
def test_what_changes_after_the_plan_was_made_is_noticed(place: Place) -> None:
    control, data = place.log[1], place.log[3]
    for statement, words in of_kind(MEANWHILE, place.target.dialect):
        place.do("DROP TABLE IF EXISTS testown.other", "DROP TABLE IF EXISTS testown.things")
        place.make()
        with (
            replay.open_log(source="logmaster", control=control, data=[data]) as log,
            log.select().replay(place.url) as plan,
        ):
            assert plan.problems == []
            place.do(statement)
            with pytest.raises(Refusal, match="LR4007") as refused:
                plan.apply()
        assert "TESTOWN.THINGS: " in str(refused.value)
        assert words in str(refused.value)


@of("sqlite")
def test_words_of_a_conflict_clause_in_a_text_are_none(place: Place) -> None:
    place.make({"t": "TEXT DEFAULT 'a ON CONFLICT REPLACE' /* ON CONFLICT IGNORE */"})
    assert place.replay() == 0


@of("sqlite")
def test_codes_from_a_program(place: Place) -> None:
    place.make({"b": "REAL", "t": "TEXT COLLATE NOCASE"})
    control, data = place.log[1], place.log[3]
    with replay.open_log(source="logmaster", control=control, data=[data]) as log:
        work = log.select()
        with pytest.raises(UsageError, match="LR1001.*found --accept rubbish; expected one of"):
            work.replay(place.url, accept=("type", "rubbish"))
        for accept, left in ((), 2), ("type", 1), (("type", "comparison"), 0):
            with work.replay(place.url, accept=accept) as plan:
                assert len(plan.problems) == left


@of("sqlite")
def test_a_key_without_row_ids_does_not_number_itself(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    key = ", extra INTEGER {}, UNIQUE (k)"
    needed = key.format("") + ", PRIMARY KEY (extra)"
    descending = key.format("NOT NULL PRIMARY KEY DESC")
    for columns, tail in ((needed, " WITHOUT ROWID"), (descending, "")):
        place.make(key=columns, tail=tail)
        assert place.replay() == 8
        assert "its column extra is NOT NULL and has no default" in capsys.readouterr().out
        place.do("DROP TABLE testown.things")
    place.make(key=needed)
    assert place.replay() == 0
    assert place.do("SELECT k, extra FROM testown.things") == [(1, 1)]
