"""What a PostgreSQL is asked before a replay: types that would not keep the log's values, and what
acts by itself, each with its refusal and, where there is one, the way past it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import replay as logreplay
from replay.cli.main import main
from replay.errors import Refusal
from replay.live import own_tables
from replay.live.position_store import Store
from replay.targets import Session, target_named
from replay.targets.postgres_facts import table_facts
from tests.support.hazards import table_of, text_key_log, write_log
from tests.support.replayed import rows


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return write_log(tmp_path_factory.mktemp("log"))


def make(url: str, changed: dict[str, str] | None = None, more: str = "") -> None:
    columns = table_of("postgres", changed or {})
    rows(url, f"CREATE SCHEMA testown; CREATE TABLE testown.things ({columns}){more}")


def replay(url: str, log: list[str], *options: str) -> int:
    act = [] if "--dry-run" in options else ["--apply"]
    return main(["replay", *log, "--to", url, *act, *options])


#: Column -> (type that is too narrow, words of the refusal).
NARROW = {
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
}


def test_types_that_round_or_cut(
    fresh_database: str, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    make(fresh_database, {name: kind for name, (kind, _) in NARROW.items()})
    assert replay(fresh_database, log) == 8
    said = capsys.readouterr()
    for name, (_, words) in NARROW.items():
        assert re.search(rf"column {name} is [^:]*: {re.escape(words)}", said.out), name
    assert (
        "column n is numeric(9,1), DECIMAL(9,2) in the log: it rounds to 1 digits after the point,"
        " DECIMAL(9, 2) would do" in said.out
    )
    assert "LR4008 TESTOWN.THINGS" in said.err
    assert "--accept type" in said.err
    assert rows(fresh_database, "SELECT count(*) FROM testown.things") == [(0,)]


#: Types that hold all that the log's hold, and more.
WIDER = {
    "n": "numeric",
    "t": "text",
    "c": "varchar(5)",
    "d": "timestamp",
    "ts": "timestamp",
    "f": "numeric",
    "r": "double precision",
    "b": "numeric(19)",
    "s": "bigint",
    "k": "d",
}


def test_wider_types_and_domains_are_taken(fresh_database: str, log: list[str]) -> None:
    rows(fresh_database, "CREATE DOMAIN d AS bigint CHECK (VALUE > 0)")
    make(fresh_database, WIDER)
    assert replay(fresh_database, log) == 0


#: Column -> (type that holds some values, what is expected of them).
SMALLER = {
    "n": ("numeric(5,2)", "at most 3 digits before the point"),
    "t": ("varchar(4)", "at most 4 characters"),
    "b": ("integer", "2147483647 or less"),
    "s": ("numeric(2)", "99 or less"),
}


@pytest.mark.parametrize("name", SMALLER)
def test_values_are_looked_at_where_the_type_does_not_decide(
    fresh_database: str, log: list[str], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    kind, expected = SMALLER[name]
    make(fresh_database, {name: kind})
    assert replay(fresh_database, log) == 8
    said = capsys.readouterr().err
    assert re.search(r"LR4008 the target does not hold a value of the log: LR3001 .*record", said)
    assert expected in said
    assert rows(fresh_database, "SELECT to_regclass('logreplay.position')") == [(None,)]


def test_smaller_types_that_hold_all_values(fresh_database: str, log: list[str]) -> None:
    make(fresh_database, {"s": "numeric(3)", "t": "char(10)", "n": "numeric(9,2)"})
    assert replay(fresh_database, log) == 0


def test_what_was_accepted_is_kept(
    fresh_database: str, log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(fresh_database, {"d": "text"})
    assert replay(fresh_database, log, "--accept", "type") == 0
    assert rows(fresh_database, "SELECT d FROM testown.things") == [("2024-03-15",)]
    assert main(["status", "--to", fresh_database]) == 0
    assert "accepted: type" in capsys.readouterr().out
    (tmp_path / "things.csv").write_text("k\n1\n")
    state = ["--expected", str(tmp_path), "--target-schema", "testown"]
    certificate = tmp_path / "certificate.json"
    verify = ["verify", "--to", fresh_database, *state, "--certificate", str(certificate)]
    assert main(verify) == 0
    assert json.loads(certificate.read_text())["accepted"] == ["type"]
    ((inputs,),) = rows(fresh_database, "SELECT inputs::json FROM logreplay.run")
    assert {"accepted": ["type"]} in inputs
    assert replay(fresh_database, log, "--accept", "type", "--accept", "unlogged") == 0
    ((options,),) = rows(
        fresh_database, "SELECT options::json -> 'accepted' FROM logreplay.position"
    )
    assert options == ["type", "unlogged"]
    with pytest.raises(SystemExit):
        replay(fresh_database, log, "--accept", "no-table")


FUNCTION = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; "
PARTS = (
    "CREATE SCHEMA testown; CREATE TABLE testown.things ({0}) PARTITION BY RANGE (k);"
    " CREATE TABLE testown.leaf PARTITION OF testown.things FOR VALUES FROM (0) TO (100); "
)
CHILD = "CREATE TABLE testown.child () INHERITS (testown.things); "
OTHER = "CREATE TABLE testown.other (k int {0} testown.{1} (k) ON {2}); "
#: What is made in the target beside the table (or in its place) -> code and words of the refusal.
ACTS = {
    "a trigger": (
        FUNCTION + "CREATE TRIGGER w AFTER UPDATE ON testown.things FOR EACH ROW EXECUTE"
        " FUNCTION f()",
        "trigger",
        "triggers of the target would fire again: w.",
    ),
    "a trigger of a partition": (
        "PARTS"
        + FUNCTION
        + "CREATE TRIGGER w AFTER UPDATE ON testown.leaf FOR EACH ROW EXECUTE FUNCTION f()",
        "trigger",
        "w on testown.leaf",
    ),
    "a trigger of a child": (
        FUNCTION
        + CHILD
        + "CREATE TRIGGER w AFTER UPDATE ON testown.child FOR EACH ROW EXECUTE FUNCTION f()",
        "trigger",
        "w on testown.child",
    ),
    "an action on a partition": (
        "PARTS" + OTHER.format("REFERENCES", "leaf", "DELETE CASCADE"),
        "foreign-key-action",
        "other_k_fkey of testown.other (ON DELETE CASCADE)",
    ),
    "an action on a child": (
        CHILD
        + "ALTER TABLE testown.child ADD PRIMARY KEY (k);"
        + OTHER.format("REFERENCES", "child", "UPDATE SET NULL"),
        "foreign-key-action",
        "other_k_fkey of testown.other (ON UPDATE SET NULL)",
    ),
    "a rule that does more": (
        "CREATE TABLE testown.log (k int); CREATE RULE also AS ON INSERT TO testown.things DO ALSO"
        " INSERT INTO testown.log VALUES (NEW.k)",
        "rule",
        "rules of the target would do something else, or more: also",
    ),
    "a rule that does another thing": (
        "CREATE RULE never AS ON DELETE TO testown.things DO INSTEAD NOTHING",
        "rule",
        "never",
    ),
    "a computed column": (
        "ALTER TABLE testown.things DROP s; ALTER TABLE testown.things ADD s smallint GENERATED"
        " ALWAYS AS (k * 2) STORED",
        "generated",
        "the target computes its column s, and the log has values for it",
    ),
    "an exclusion constraint": (
        "ALTER TABLE testown.things ADD CONSTRAINT apart EXCLUDE USING gist"
        " (int4range(k, k + 1) WITH &&)",
        "exclusion",
        "apart",
    ),
    "a collation that ignores case": (
        # servers without ICU make no such collation
        'CREATE COLLATION testown.ci FROM "C"; UPDATE pg_collation SET collisdeterministic = false'
        " WHERE collname = 'ci'; ALTER TABLE testown.things ALTER t TYPE varchar(10) COLLATE"
        " testown.ci",
        "comparison",
        "its column t takes different texts for equal (collation ci)",
    ),
    "an unlogged table": (
        "ALTER TABLE testown.things SET UNLOGGED",
        "unlogged",
        "testown.things is UNLOGGED",
    ),
    "an unlogged child": (
        "CREATE UNLOGGED TABLE testown.child () INHERITS (testown.things)",
        "unlogged",
        "testown.child is UNLOGGED",
    ),
    "a publication": (
        "ALTER TABLE testown.things DROP CONSTRAINT things_pkey; CREATE UNIQUE INDEX u ON"
        " testown.things (k); CREATE PUBLICATION told FOR ALL TABLES;"
        " CREATE PUBLICATION more FOR TABLE testown.things WITH (publish = 'update');"
        " CREATE PUBLICATION others FOR TABLE testown.things WITH (publish = 'insert')",
        "published",
        "without a replica identity: testown.things in more, told. ALTER TABLE … REPLICA",
    ),
    "a column without a default": (
        "ALTER TABLE testown.things ADD COLUMN extra int NOT NULL",
        "required",
        "rows are inserted, and its column extra is NOT NULL and has no default",
    ),
    "a domain that is not null": (
        "CREATE DOMAIN testown.needed AS int NOT NULL;"
        " ALTER TABLE testown.things ADD COLUMN extra testown.needed",
        "required",
        "its column extra is NOT NULL",
    ),
    "a domain over one that is not null": (
        "CREATE DOMAIN testown.needed AS int NOT NULL;"
        " CREATE DOMAIN testown.over AS testown.needed;"
        " CREATE DOMAIN testown.twice AS testown.over;"
        " ALTER TABLE testown.things ADD COLUMN extra testown.twice",
        "required",
        "its column extra is NOT NULL",
    ),
    "a domain over one of citext": (
        "CREATE EXTENSION citext; CREATE DOMAIN testown.folds AS citext;"
        " CREATE DOMAIN testown.over AS testown.folds;"
        " CREATE DOMAIN testown.twice AS testown.over;"
        " ALTER TABLE testown.things ALTER t TYPE testown.twice",
        "comparison",
        "its column t takes different texts for equal (citext",
    ),
    "a partition's column": (
        "PARTSALTER TABLE testown.things ADD COLUMN extra int;"
        " ALTER TABLE testown.leaf ALTER extra SET NOT NULL",
        "required",
        "its column extra is NOT NULL",
    ),
    "a publication of the root": (
        "PARTSCREATE TABLE testown.second PARTITION OF testown.things DEFAULT;"
        " ALTER TABLE testown.leaf REPLICA IDENTITY NOTHING; CREATE PUBLICATION told FOR TABLE"
        " testown.things WITH (publish_via_partition_root)",
        "published",
        "testown.leaf in told",
    ),
}


@pytest.mark.parametrize("case", ACTS)
def test_what_acts_by_itself(
    fresh_database: str, log: list[str], capsys: pytest.CaptureFixture[str], case: str
) -> None:
    statements, code, words = ACTS[case]
    if statements.startswith("PARTS"):
        statements = PARTS.format(table_of("postgres", {})) + statements.removeprefix("PARTS")
    else:
        make(fresh_database)
    rows(fresh_database, statements)
    assert replay(fresh_database, log) == 8
    said = capsys.readouterr()
    assert words in said.out
    assert f"--accept {code}" in said.err
    assert replay(fresh_database, log, "--dry-run", "--accept", code) == 0


def test_columns_that_fill_themselves_are_no_hazard(fresh_database: str, log: list[str]) -> None:
    make(fresh_database)
    rows(
        fresh_database,
        "CREATE DOMAIN testown.seven AS int NOT NULL DEFAULT 7;"
        " CREATE DOMAIN testown.eight AS testown.seven; ALTER TABLE testown.things"
        " ADD d1 int NOT NULL DEFAULT 1, ADD d2 serial NOT NULL, ADD d3 testown.eight,"
        " ADD d4 int NOT NULL GENERATED ALWAYS AS (k * 2) STORED, ADD d5 int,"
        " ADD d6 int NOT NULL GENERATED BY DEFAULT AS IDENTITY;"
        " CREATE TABLE testown.child (own int NOT NULL) INHERITS (testown.things);"
        " ALTER TABLE testown.child ALTER d5 SET NOT NULL",
    )
    assert replay(fresh_database, log) == 0
    found = rows(fresh_database, "SELECT d1, d2, d3, d4, d5, d6 FROM testown.things")
    assert found == [(1, 1, 7, 2, None, 1)]


def test_a_column_is_required_where_rows_come_in(
    fresh_database: str, tmp_path: Path, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Updates need no values of other columns; on the way back deleted rows come in again."""
    updates = text_key_log(tmp_path)
    rows(
        fresh_database,
        "CREATE SCHEMA testown;"
        " CREATE TABLE testown.names (n varchar(10) PRIMARY KEY, v int, extra int NOT NULL);"
        " INSERT INTO testown.names VALUES ('a', 1, 5)",
    )
    assert replay(fresh_database, updates) == 0
    assert rows(fresh_database, "SELECT * FROM testown.names") == [("a", 2, 5)]
    rows(fresh_database, "DROP SCHEMA testown CASCADE; DROP SCHEMA logreplay CASCADE")
    make(fresh_database)
    rows(fresh_database, "ALTER TABLE testown.things ADD extra int NOT NULL DEFAULT 1")
    assert replay(fresh_database, log) == 0
    rows(fresh_database, "ALTER TABLE testown.things ALTER extra DROP DEFAULT")
    assert replay(fresh_database, log, "--until-position", "0" * 20) == 8
    assert "its column extra is NOT NULL and has no default" in capsys.readouterr().out


def test_row_level_security(
    fresh_database: str, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    make(fresh_database)
    rows(
        fresh_database,
        "ALTER TABLE testown.things ENABLE ROW LEVEL SECURITY; CREATE POLICY half ON testown.things"
        " USING (k > 1); CREATE ROLE clerk_rls LOGIN PASSWORD 'x'; GRANT ALL ON SCHEMA testown TO"
        " clerk_rls; GRANT ALL ON testown.things TO clerk_rls; GRANT CREATE ON DATABASE"
        f" {fresh_database.rsplit('/', 1)[1]} TO clerk_rls",
    )
    try:
        clerk = re.sub("//[^@]*@", "//clerk_rls:x@", fresh_database)
        assert replay(clerk, log) == 8
        said = capsys.readouterr()
        assert "row-level security hides rows from this user, or refuses them: half" in said.out
        assert "--accept" not in said.err
        with pytest.raises(SystemExit):
            replay(clerk, log, "--accept", "row-security")
    finally:
        rows(fresh_database, "DROP OWNED BY clerk_rls; DROP ROLE clerk_rls")
    assert replay(fresh_database, log) == 0  # a superuser is not concerned


@pytest.mark.parametrize("enable", ["ALWAYS", "REPLICA"])
def test_triggers_and_rules_that_enforcement_off_does_not_stop(
    fresh_database: str, log: list[str], capsys: pytest.CaptureFixture[str], enable: str
) -> None:
    make(fresh_database)
    rows(
        fresh_database,
        FUNCTION
        + "CREATE TRIGGER w AFTER UPDATE ON testown.things FOR EACH ROW EXECUTE FUNCTION f();"
        " CREATE RULE also AS ON DELETE TO testown.things DO ALSO NOTHING;"
        f" ALTER TABLE testown.things ENABLE {enable} TRIGGER w;"
        f" ALTER TABLE testown.things ENABLE {enable} RULE also",
    )
    assert replay(fresh_database, log, "--enforcement", "off") == 8
    said = capsys.readouterr()
    assert "triggers of the target would fire again: w" in said.out
    assert "something else, or more: also" in said.out
    if enable == "REPLICA":
        assert replay(fresh_database, log) == 0


@pytest.mark.parametrize("kind", ["VIEW", "MATERIALIZED VIEW", "FOREIGN TABLE"])
def test_what_is_no_table(
    fresh_database: str, log: list[str], capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    make(fresh_database)
    rows(fresh_database, "ALTER TABLE testown.things RENAME TO behind")
    made = f"CREATE {kind} testown.things AS TABLE testown.behind"
    if kind == "FOREIGN TABLE":
        made = (
            "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN"
            f" TABLE testown.things ({table_of('postgres', {}, '')}) SERVER s"
        )
    rows(fresh_database, made)
    assert replay(fresh_database, log) == 8
    said = capsys.readouterr()
    assert (
        f"LR4008 TESTOWN.THINGS: it is not a table in the target but a {kind.lower()}" in said.err
    )
    assert "unique key" not in said.out
    assert "--accept no-table" not in said.out


def test_foreign_partitions(
    fresh_database: str, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """What is written to another server is not part of the target's transaction."""
    rows(fresh_database, PARTS.format(table_of("postgres", {})))
    rows(
        fresh_database,
        "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;"
        " ALTER TABLE testown.things DROP CONSTRAINT things_pkey; CREATE FOREIGN TABLE"
        " testown.far PARTITION OF testown.things FOR VALUES FROM (100) TO (200) SERVER s",
    )
    assert replay(fresh_database, log) == 8
    said = capsys.readouterr().out
    assert "testown.far is a foreign table" in said
    assert "--accept no-transaction" not in said


def test_values_of_a_way_back_are_looked_at(
    fresh_database: str, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Taking back a DELETE puts a row in place again."""
    make(fresh_database, {"t": "varchar(4)"})
    assert replay(fresh_database, log, "--at-lrsn", "F" * 20, "--until-lrsn", "0" * 20) == 8
    said = capsys.readouterr().err
    assert "found 'longer one'; expected at most 4 characters" in said


def test_characters_that_the_database_lacks(
    postgres: str, log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows(
        postgres,
        "CREATE DATABASE narrow ENCODING 'KOI8R' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE"
        " 'C'",
    )
    try:
        url = f"{postgres.rsplit('/', 1)[0]}/narrow"
        make(url)
        assert replay(url, write_log(tmp_path, text="añd")) == 8
        assert "expected characters of koi8-r" in capsys.readouterr().err
        assert replay(url, log) == 0
    finally:
        rows(postgres, "DROP DATABASE narrow WITH (FORCE)")


#: What somebody does to the table between plan and apply, and what is said of it.
MEANWHILE = {
    "trigger": (
        "CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        " CREATE TRIGGER act BEFORE INSERT ON testown.things FOR EACH ROW EXECUTE FUNCTION act()",
        "what the table does by itself changed (trigger: act came)",
    ),
    "rule": (
        "CREATE RULE act AS ON DELETE TO testown.things DO INSTEAD NOTHING",
        "what the table does by itself changed (rule: ",
    ),
    "type": ("ALTER TABLE testown.things ALTER n TYPE numeric(9,1)", "the table's types changed"),
    "key": (
        "ALTER TABLE testown.things DROP CONSTRAINT things_pkey",
        "the table's unique keys changed",
    ),
    "unlogged": ("ALTER TABLE testown.things SET UNLOGGED", "(unlogged: "),
    "gone": ("DROP TABLE testown.things", "the table went"),
}


@pytest.mark.parametrize("case", MEANWHILE)
def test_what_changes_after_the_plan_was_made_is_noticed(
    fresh_database: str, log: list[str], case: str
) -> None:
    statement, words = MEANWHILE[case]
    make(fresh_database)
    with (
        logreplay.open_log("logmaster", control=log[1], data=[log[3]]) as opened,
        opened.select().replay(fresh_database) as plan,
    ):
        assert plan.problems == []
        rows(fresh_database, statement)
        with pytest.raises(Refusal, match="LR4007") as refused:
            plan.apply()
    assert "TESTOWN.THINGS: " in str(refused.value)
    assert words in str(refused.value)


def test_what_changes_while_the_connection_is_lost_is_noticed(
    fresh_database: str, log: list[str]
) -> None:
    """A trigger that is made before a run connects again."""
    make(fresh_database)
    statement, words = MEANWHILE["trigger"]
    begun = []

    def reached(point: str) -> None:
        begun.append(point)
        if begun.count("begun") == 2 and point == "begun":
            rows(fresh_database, statement)
            rows(
                fresh_database,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ="
                " 'logreplay'",
            )

    with (
        logreplay.open_log("logmaster", control=log[1], data=[log[3]]) as opened,
        opened.select().replay(fresh_database, commit_every=1) as plan,
    ):
        plan.request = replace(plan.request, reached=reached)
        with pytest.raises(Refusal, match="LR4007") as refused:
            plan.apply()
    assert words in str(refused.value)
    assert rows(fresh_database, "SELECT count(*) FROM testown.things") == [(2,)]


def test_a_table_is_asked_about_in_two_questions(fresh_database: str) -> None:
    """A target may be far away: a question takes as long as the way there and back."""
    make(fresh_database)
    session, asked = target_named("postgres").connect(fresh_database), list[str]()

    def query(statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        asked.append(statement)
        return session.query(statement, values)

    with closing(session):
        facts = table_facts(query, "testown", "things")
        assert facts is not None
        assert facts.columns[:2] == ("k", "n")
        assert len(asked) == 2
        assert table_facts(query, "testown", "others") is None
        assert len(asked) == 3


def test_our_own_tables_are_looked_at_once(
    fresh_database: str, log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And again once there are more of them."""
    make(fresh_database)
    assert replay(fresh_database, log) == 0
    looked, session = list[bool](), target_named("postgres").connect(fresh_database)
    refuse = own_tables.refuse_strange

    def counting(asked: Session, writes: bool) -> None:
        looked.append(writes)
        refuse(asked, writes)

    monkeypatch.setattr(own_tables, "refuse_strange", counting)
    with closing(session):
        store = Store(session)
        assert store.is_there()
        assert store.is_there("run")
        assert store.position() is not None
        assert looked == [False]
        session.execute(f"DROP TABLE {session.own('mark')}")
        assert not store.is_there("mark")
        assert store.is_there()
        assert looked == [False]
        store.make()
        assert store.is_there("mark")
        assert looked == [False, True, False]
