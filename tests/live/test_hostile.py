"""What somebody else put into the database is never called, read or written with the rights of
whoever replays: operators and functions of other schemas, a schema ``logreplay``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from replay.cli.main import main
from replay.live import own_tables
from replay.targets import target_named
from replay.targets.postgres import POSTGRES as postgres
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.replayed import position, rows
from tests.support.states import compare_states

TABLE = Tab("T", (Col("K", "VCHR", 8, key=1), Col("V", "VCHR", 8)))
HOSTILE = """
CREATE TABLE public.called (by name, what text);
GRANT ALL ON public.called TO PUBLIC;
CREATE FUNCTION public.spy(varchar, varchar) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.called VALUES (current_user, 'equals'); RETURN true; END $$;
CREATE OPERATOR public.= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = public.spy);
CREATE FUNCTION public.spy(name, varchar) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.called VALUES (current_user, 'name'); RETURN true; END $$;
CREATE OPERATOR public.= (LEFTARG = name, RIGHTARG = varchar, FUNCTION = public.spy);
CREATE FUNCTION public.spy_sum(bigint, integer) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.called VALUES (current_user, 'plus'); RETURN 7; END $$;
CREATE FUNCTION public.max(bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.called VALUES (current_user, 'max'); RETURN 7; END $$;
"""


@pytest.fixture
def target(fresh_database: str) -> str:
    """A database with the log's table, and with somebody's operators in ``public``."""
    rows(
        fresh_database,
        "CREATE SCHEMA testown; CREATE TABLE testown.t (k varchar(8) PRIMARY KEY, v varchar(8));"
        "INSERT INTO testown.t VALUES ('a', 'one'), ('b', 'two'), ('c', 'three'); " + HOSTILE,
    )
    return fresh_database


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    """Changes of two of the three rows."""
    log = LogBuilder([TABLE])
    log.unit().update(TABLE, ("a", "one"), ("a", "uno"))
    log.unit().delete(TABLE, ("b", "two"))
    control, data = log.write(tmp_path, seed=1)
    return ["--control", str(control), "--data", str(data[0])]


Apply = Callable[..., int]


@pytest.fixture
def apply(target: str, log: list[str]) -> Apply:
    """Replays the log."""

    def run(*options: str, url: str = target) -> int:
        return main(["replay", *log, "--engine", "local", "--to", url, "--apply", *options])

    return run


def state(url: str) -> list[tuple[str, str]]:
    return sorted(rows(url, "SELECT k, v FROM testown.t"))


@pytest.mark.parametrize("mode", ["strict", "bulk"])
def test_operators_of_others_are_not_called(apply: Apply, target: str, mode: str) -> None:
    """Before, `=` of ``public`` answered for every key, and ran as the superuser."""
    assert apply("--mode", mode) == 0
    assert rows(target, "SELECT * FROM public.called") == []
    assert state(target) == [("a", "uno"), ("c", "three")]
    assert apply("--until-lrsn", "0" * 20) == 0
    assert rows(target, "SELECT * FROM public.called") == []
    assert state(target) == [("a", "one"), ("b", "two"), ("c", "three")]


def test_nor_by_scripts_nor_by_what_reads(target: str, log: list[str], tmp_path: Path) -> None:
    postgres = target_named("postgres")
    out = tmp_path / "out"
    assert main(["redo", *log, "--engine", "local", "--schema", "none", "--out", str(out)]) == 0
    postgres.run_scripts(target, sorted(out.glob("*.sql")))
    assert state(target) == [("a", "uno"), ("c", "three")]
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "t.csv").write_text("k,v\na,uno\nc,three\n")
    assert compare_states(target, "testown", tmp_path / "state") == []
    assert "UNIQUE (k)" in postgres.keys(target, ["T"])
    assert rows(target, "SELECT * FROM public.called") == []


def ours(url: str) -> None:
    """Our tables, as a run makes them."""
    session = postgres.connect(url)
    own_tables.make(session)
    session.close()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE TABLE logreplay.position (id integer)", "logreplay.position has other columns"),
        ("CREATE VIEW logreplay.position AS SELECT 1 AS id", "logreplay.position is not a table"),
        ("CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;"
         " CREATE FOREIGN TABLE logreplay.mark (name text) SERVER s", "mark is not a table"),
    ],
)  # fmt: skip
def test_tables_of_others_under_our_names(
    apply: Apply, target: str, statement: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows(target, f"CREATE SCHEMA logreplay; {statement}")
    assert apply() == 8
    told = capsys.readouterr().err
    assert "LR4010" in told
    assert said in told
    assert "DROP SCHEMA logreplay CASCADE" in told
    assert state(target)[0] == ("a", "one")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE TRIGGER t BEFORE UPDATE ON logreplay.position FOR EACH ROW EXECUTE FUNCTION"
         " public.act()", "the trigger t"),
        ("CREATE RULE r AS ON INSERT TO logreplay.run DO ALSO NOTIFY x", "the rule r"),
        ("ALTER TABLE logreplay.reject ALTER entry SET DEFAULT public.word()", "a default"),
        ("ALTER TABLE logreplay.mark ADD CHECK (public.word() = name)", "the constraint"),
        ("CREATE INDEX i ON logreplay.pending (reason)", "the index logreplay.i"),
        ("ALTER TABLE logreplay.position ENABLE ROW LEVEL SECURITY", "row-level security"),
        ("ALTER TABLE logreplay.position SET UNLOGGED", "UNLOGGED"),
        ("CREATE TABLE public.more () INHERITS (logreplay.run)", "inheritance"),
        ("ALTER TABLE logreplay.reject ADD extra integer", "other columns (extra integer)"),
        ("ALTER TABLE logreplay.run ALTER units TYPE public.mine", "(units foreign public.mine)"),
        ("GRANT TRIGGER ON logreplay.run TO PUBLIC", "everybody may make triggers"),
    ],
)  # fmt: skip
def test_our_tables_act_by_themselves(
    apply: Apply, target: str, statement: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ours(target)
    rows(
        target,
        "CREATE FUNCTION public.act() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END"
        " $$; CREATE FUNCTION public.word() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'x'"
        " $$; CREATE DOMAIN public.mine AS bigint;" + statement,
    )
    assert apply() == 8
    told = capsys.readouterr().err
    assert "LR4010" in told
    assert said in told
    assert state(target)[0] == ("a", "one")


def test_a_schema_that_somebody_else_owns(
    apply: Apply, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its owner could make it act later. To read what is in it is no harm."""
    ours(target)
    try:
        rows(target, "CREATE ROLE mallory; ALTER SCHEMA logreplay OWNER TO mallory")
        assert apply() == 8
        told = capsys.readouterr().err
        assert "LR4010" in told
        assert "the schema logreplay belongs to mallory" in told
        assert main(["status", "--to", target]) == 0
        rows(target, "ALTER SCHEMA logreplay OWNER TO postgres")
        rows(target, "ALTER TABLE logreplay.run OWNER TO mallory")
        assert apply() == 8
        assert "logreplay.run belongs to mallory" in capsys.readouterr().err
        rows(target, "ALTER TABLE logreplay.run OWNER TO postgres")
        assert apply() == 0
        assert position(target)[2:] == (2, 2, 0)
    finally:
        rows(target, "DROP OWNED BY mallory; DROP ROLE mallory")


def test_temporary_tables_come_last(target: str) -> None:
    """A name of the catalog is the catalog's, whatever the session made."""
    session = postgres.connect(target)
    try:
        session.execute("CREATE TEMPORARY TABLE pg_class (relname name)")
        assert session.query("SELECT count(*) FROM pg_class")[0][0] > 0
    finally:
        session.close()
    with psycopg.connect(target) as connection:
        assert connection.execute("SELECT count(*) FROM testown.t").fetchone() == (3,)
