"""Scripts and states on a live PostgreSQL."""

from __future__ import annotations

import gzip
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from replay.cli.main import main
from replay.errors import InputError, TargetError, UsageError
from replay.targets import ConnectionLost, postgres_session, target_named
from replay.targets.postgres import POSTGRES as postgres
from sqlgen.ddl.schema_file import parse_declared
from sqlgen.ddl.schema_script import schema_script
from sqlgen.dialects import profile_named
from sqlgen.schema import Column, Constraints, SqlType, Table
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.states import compare_states

SCHEMA = """
CREATE SCHEMA s;
CREATE TABLE s.t (id integer PRIMARY KEY, n numeric(9, 3), c char(5), v text, b bytea);
CREATE TABLE s.bag (v text);
INSERT INTO s.t VALUES (1, 1.5, 'ab', '', NULL), (2, NULL, NULL, '\\N', '\\x00ff');
INSERT INTO s.bag VALUES ('twice'), ('twice'), (NULL);
"""

T = """id,n,c,v,b
1,1.500,ab,"",
2,,,"\\N",\\x00ff
"""

BAG = "v\ntwice\ntwice\n\n"


@pytest.fixture
def database(fresh_database: str) -> str:
    with psycopg.connect(fresh_database) as connection:
        connection.execute(SCHEMA)
    return fresh_database


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / "t.csv.gz").write_bytes(gzip.compress(T.encode()))
    (folder / "bag.csv").write_text(BAG)
    return folder


def test_a_state_is_loaded_parents_after_children(fresh_database: str, sakila: Path) -> None:
    postgres.run_scripts(fresh_database, [sakila / "schema-ri.sql"])

    assert postgres.load_state(fresh_database, "sakila", sakila / "initial") == 41_890
    assert compare_states(fresh_database, "sakila", sakila / "initial") == []


def test_loading_a_state_twice_is_refused_by_the_database(database: str, state: Path) -> None:
    with pytest.raises(TargetError, match="23505") as raised:
        postgres.load_state(database, "s", state)

    assert raised.value.code == "LR4001"


def test_a_state_is_read_as_what_it_is_whatever_the_database_has(
    database: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("id,v\n7,Ü\n", encoding="utf-8")
    with psycopg.connect(database) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET client_encoding = 'LATIN1'")
    assert postgres.load_state(database, "s", tmp_path) == 1
    with psycopg.connect(database, client_encoding="utf8") as connection:
        assert connection.execute("SELECT v FROM s.t WHERE id = 7").fetchall() == [("Ü",)]


def test_a_character_that_the_server_lacks_is_no_damage_of_the_log(
    fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Tab("T", (Col("K", "INT", 4, key=1), Col("V", "VCHR", 20)))
    log = LogBuilder((table,))
    log.unit().insert(table, (1, "ñ"))
    log.unit().update(table, (1, "ñ"), (1, "n"))
    control, (data,) = log.write(tmp_path)
    parts = urlsplit(fresh_database)
    name = f"{parts.path.strip('/')}_latin2"
    with psycopg.connect(fresh_database, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} ENCODING 'LATIN2' LOCALE_PROVIDER libc LOCALE 'C'"
            " TEMPLATE template0"
        )
        url = urlunsplit(parts._replace(path=f"/{name}"))
        try:
            with psycopg.connect(url) as other:
                other.execute("CREATE SCHEMA testown")
                other.execute("CREATE TABLE testown.t (k int PRIMARY KEY, v varchar(20))")
            words = ["--control", str(control), "--data", str(data), "--engine", "local"]
            assert main(["replay", *words, "--to", url, "--apply"]) == 8
            said = "".join(capsys.readouterr())
        finally:
            connection.execute(f"DROP DATABASE {name}")
    assert "LR3011 it depends on a unit that is not written (LR3001): " in said
    assert "LR4008 the target does not hold a value of the log: LR3001 " in said
    assert "expected characters of iso8859-2" in said
    assert "a unit that is damaged" not in said


def test_who_may_not_set_the_role_loads_what_does_not_act(database: str, tmp_path: Path) -> None:
    (tmp_path / "bag.csv").write_text("v\nseen\n")
    with psycopg.connect(database) as connection:
        connection.execute("DROP ROLE IF EXISTS loads; CREATE ROLE loads LOGIN PASSWORD 'loads'")
        connection.execute("ALTER TABLE s.bag OWNER TO loads; GRANT USAGE ON SCHEMA s TO loads")
    user = urlunsplit(urlsplit(database)._replace(netloc=_as(database, "loads:loads")))
    try:
        assert postgres.load_state(user, "s", tmp_path) == 1
        with psycopg.connect(database) as connection:
            connection.execute(
                "CREATE FUNCTION s.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
            )
            connection.execute(
                "CREATE TRIGGER b BEFORE INSERT ON s.bag FOR EACH ROW EXECUTE FUNCTION s.f()"
            )
        with pytest.raises(TargetError, match=r"s\.bag has triggers .*not to act") as raised:
            postgres.load_state(user, "s", tmp_path)
        assert raised.value.code == "LR4001"
    finally:
        with psycopg.connect(database) as connection:
            connection.execute("DROP OWNED BY loads CASCADE; DROP ROLE loads")


def _as(url: str, user: str) -> str:
    return f"{user}@{urlsplit(url).netloc.rpartition('@')[2]}"


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_without_a_state_is_an_error(database: str, tmp_path: Path, exists: bool) -> None:
    folder = tmp_path / "empty"
    if exists:
        folder.mkdir()

    with pytest.raises(InputError) as raised:
        postgres.load_state(database, "s", folder)

    assert raised.value.code == "LR2001"


def test_scripts_run_in_order_and_stop_at_the_first_error(database: str, tmp_path: Path) -> None:
    texts = [
        "INSERT INTO s.bag VALUES ('first');",
        "SELECT 1;\nSELECT 1 / 0;\nINSERT INTO s.bag VALUES ('no');",
        "INSERT INTO s.bag VALUES ('no');",
    ]
    scripts = [tmp_path / f"{number}.sql" for number in range(3)]
    for script, text in zip(scripts, texts, strict=True):
        script.write_text(text)

    with pytest.raises(TargetError, match=r"1\.sql:2: ERROR: +division by zero") as raised:
        postgres.run_scripts(database, scripts)

    assert raised.value.code == "LR4001"
    assert raised.value.where.file == "1.sql"
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT v FROM s.bag WHERE v IN ('first', 'no')").fetchall() == [
            ("first",)
        ]


def test_the_users_own_psql_settings_do_not_matter(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGOPTIONS", "-c default_transaction_read_only=on")
    monkeypatch.setenv("PGSSLMODE", "require")
    script = tmp_path / "write.sql"
    script.write_text("INSERT INTO s.bag VALUES ('written');")

    postgres.run_scripts(database, [script])

    monkeypatch.undo()
    with psycopg.connect(database) as connection:
        found = connection.execute("SELECT COUNT(*) FROM s.bag WHERE v = 'written'").fetchall()
    assert found == [(1,)]


def test_a_server_that_is_not_there_is_named_without_its_password(tmp_path: Path) -> None:
    script = tmp_path / "a.sql"
    script.write_text("SELECT 1;")

    with pytest.raises(TargetError) as raised:
        postgres.run_scripts("postgresql://u:secret@127.0.0.1:1/d", [script])

    assert raised.value.code == "LR4003"
    assert "secret" not in str(raised.value)


def test_targets_are_found_by_name() -> None:
    assert target_named("postgres") is postgres
    with pytest.raises(UsageError, match="postgres") as raised:
        target_named("db1")
    assert raised.value.code == "LR1001"


def test_a_server_that_goes_away_while_it_is_asked_for_keys(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A follower waits for it, as for one that goes away at any other time."""
    monkeypatch.setattr(
        postgres_session, "_KEYS", "SELECT pg_terminate_backend(pg_backend_pid()), %s::text[]"
    )
    with pytest.raises(ConnectionLost, match=r"LR4003 .* Run the same command again"):
        postgres.keys(database, ["t"])
    lost = pytest.raises(ConnectionLost, match=r"was lost: (?s:.*)\. Run the same command again")
    with closing(postgres.connect(database)) as session, lost:
        session.query("SELECT pg_terminate_backend(pg_backend_pid())")


SEQUENCES = """
CREATE SCHEMA q;
CREATE TABLE q.down (id integer GENERATED ALWAYS AS IDENTITY (INCREMENT BY -1));
INSERT INTO q.down OVERRIDING SYSTEM VALUE VALUES (-1), (-2), (-3);
CREATE TABLE q.bounded (id numeric(9), other integer);
CREATE SEQUENCE q.few MAXVALUE 100 OWNED BY q.bounded.id;
INSERT INTO q.bounded VALUES (7), (1000000);
CREATE TABLE q.lettered (id text DEFAULT 'A' || nextval('q.few'), n integer);
CREATE SEQUENCE q.letters OWNED BY q.lettered.id;
INSERT INTO q.lettered VALUES ('A9', 9);
CREATE DOMAIN q.number AS bigint CHECK (VALUE > 0);
CREATE TABLE q.started (id q.number);
CREATE SEQUENCE q.ahead START 50 OWNED BY q.started.id;
SELECT nextval('q.ahead');
INSERT INTO q.started VALUES (50), (49);
CREATE TABLE q.nothing (id serial);
"""


@pytest.mark.parametrize(
    ("table", "moved", "following"),
    [
        ("down", {"q.down_id_seq": -3}, -4),
        ("bounded", {"q.few": 7}, 8),
        ("lettered", {}, 1),
        ("started", {}, 51),
        ("nothing", {}, 1),
    ],
)
def test_sequences_go_on_behind_the_rows(
    fresh_database: str, table: str, moved: dict[str, int], following: int
) -> None:
    with psycopg.connect(fresh_database) as connection:
        connection.execute(SEQUENCES)
    with closing(target_named("postgres").connect(fresh_database)) as session:
        named = {text.partition(" ")[0] for text in session.sequences("q", table)}
        assert named >= set(moved)
        assert not named or table != "lettered"
        assert session.move_sequences("q", table) == moved
        assert session.move_sequences("q", table) == {}
        session.commit()
    owner = {"bounded": "few", "lettered": "letters", "started": "ahead"}.get(table)
    owner = owner or f"{table}_id_seq"
    with psycopg.connect(fresh_database) as connection:
        assert connection.execute(f"SELECT nextval('q.{owner}')").fetchone() == (following,)


@pytest.mark.parametrize(
    ("start", "step", "rows", "following"),
    [
        (0, 1, (), 0),
        (-7, 2, (), -7),
        (9, -3, (), 9),
        (9, -3, (9, 6, 3), 0),
        (-1, -1, (-1, -2), -3),
        (0, 5, (0, 5), 10),
    ],
)
def test_identities_of_a_migration(
    fresh_database: str, start: int, step: int, rows: tuple[int, ...], following: int
) -> None:
    table = Table("S", "T", (Column("ID", SqlType.INTEGER, False),), ("ID",))
    text = (
        "CREATE TABLE S.T (ID INTEGER NOT NULL GENERATED ALWAYS AS IDENTITY"
        f" (START WITH {start} INCREMENT BY {step}))"
    )
    declared = parse_declared(text, "db2", [table])
    profile = profile_named("postgres")
    script = schema_script([table], Constraints(), profile, "lower", declared)
    with psycopg.connect(fresh_database) as connection:
        for line in script.tables:
            connection.execute(line)
        for row in rows:
            connection.execute("INSERT INTO s.t VALUES (%s)", (row,))
        for line in script.afterwards:
            connection.execute(line)
        found = connection.execute("INSERT INTO s.t VALUES (DEFAULT) RETURNING id").fetchone()
    assert found == (following,)
