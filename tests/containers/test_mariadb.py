"""What only MariaDB and MySQL do to a replay: columns that change by themselves, engines without
transactions, triggers; and locks, a killed server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

from replay.cli.main import main
from replay.errors import TargetError, UsageError
from replay.live.position_store import Store
from replay.targets import Condition, ConnectionLost, Transient, target_named, target_of
from replay.targets.mysql import MysqlSession
from tests.support.replayed import AT_END, START
from tests.support.servers import ONLY_MARIADB, kinds, server_of
from tests.support.states import compare_states
from tests.support.words import of_log_master


@pytest.fixture(params=kinds("mariadb", each=True))
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty server of each kind, emptied afterwards."""
    with target_named(request.param).scratch(server_of(request, request.param)) as url:
        yield url


def kind_of(url: str) -> str:
    return urlsplit(url).scheme


@pytest.fixture
def session(server: str) -> Iterator[MysqlSession]:
    with closing(MysqlSession(server, kind_of(server))) as session:
        session.make_schema("s")
        yield session


@pytest.fixture
def loaded(server: str, sakila: Path, tmp_path: Path) -> str:
    """The URL of a server in the state before the Sakila log."""
    script = tmp_path / "tables.sql"
    log = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    assert main(["ddl", *log, "--dialect", kind_of(server), "--out", str(script)]) == 0
    target_of(server).run_scripts(server, [script])
    with closing(MysqlSession(server, kind_of(server))) as session:
        tables = {
            table
            for (table,) in session.query(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'sakila'"
            )
        }
    for state in ("initial", "final"):
        (tmp_path / state).mkdir()
        for path in (sakila / state).iterdir():
            if path.name.split(".csv")[0] in tables:
                (tmp_path / state / path.name).symlink_to(path)
    target_of(server).load_state(server, "sakila", tmp_path / "initial")
    return server


@pytest.mark.parametrize("server", ONLY_MARIADB, indirect=True)
def test_a_mariadb_is_no_mysql(
    loaded: str, sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Comparisons of text need a collation that it lacks: said before the first unit."""
    assert replay(sakila, loaded.replace("mariadb://", "mysql://")) == 8
    told = capsys.readouterr().err
    assert "LR4010" in told
    assert "mariadb://" in told
    with closing(MysqlSession(loaded, kind_of(loaded))) as session:
        assert not session.has_place()


def replay(sakila: Path, url: str, *more: str) -> int:
    log = [*of_log_master(sakila / "sakila.ctl", sakila / "sakila.dat.gz"), "--engine", "local"]
    return main(["replay", *log, "--to", url, "--apply", *more])


def execute(url: str, *statements: str) -> None:
    with closing(MysqlSession(url, kind_of(url))) as session:
        for statement in statements:
            session.execute(statement)


def test_the_whole_log_forward_and_back(loaded: str, sakila: Path, tmp_path: Path) -> None:
    """The Sakila log; :mod:`tests.targets.test_replay_targets` goes to the points between."""
    assert replay(sakila, loaded) == 0
    assert compare_states(loaded, "sakila", tmp_path / "final") == []
    assert replay(sakila, loaded, "--until-position", START) == 0
    assert compare_states(loaded, "sakila", tmp_path / "initial") == []


@pytest.mark.parametrize(
    "server",
    [*ONLY_MARIADB, pytest.param("mysql", marks=[pytest.mark.containers, pytest.mark.long])],
    indirect=True,
)
def test_what_was_skipped_is_a_script(loaded: str, sakila: Path, tmp_path: Path) -> None:
    changed = "UPDATE sakila.film_stock SET on_hand = {} WHERE film_id = 819 AND store_id = 1"
    with closing(MysqlSession(loaded, kind_of(loaded))) as session:
        query = "SELECT on_hand FROM sakila.film_stock WHERE film_id = 819 AND store_id = 1"
        ((held,),) = session.query(query)
    execute(loaded, changed.format(99))
    assert replay(sakila, loaded, "--on", "no-row=skip") == 4
    script = tmp_path / "rejects.sql"
    assert main(["status", "--to", loaded, "--rejects", str(script)]) == 0
    with pytest.raises(TargetError, match="touched 0 rows"):
        target_of(loaded).run_scripts(loaded, [script])
    execute(loaded, changed.format(held))
    target_of(loaded).run_scripts(loaded, [script])
    assert compare_states(loaded, "sakila", tmp_path / "final") == []
    with closing(MysqlSession(loaded, kind_of(loaded))) as session:
        position = Store(session).position()
        assert position is not None
        assert (position.units, position.statements, position.rejected) == (*AT_END, 0)
        assert not Store(session).rejects()


def test_conditions(session: MysqlSession) -> None:
    session.execute("CREATE TABLE s.p (a INT PRIMARY KEY)")
    session.execute("CREATE TABLE s.c (a INT, FOREIGN KEY (a) REFERENCES s.p (a))")
    session.begin()
    outcome = session.run(
        b"INSERT INTO s.p VALUES (1);\nUPDATE s.p SET a = 1 WHERE a = 1;\nINSERT INTO s.p VALUES"
        b" (1);\nINSERT INTO s.p VALUES (2);\n"
    )
    assert outcome.counts == [1, 1]  # rows found, not rows changed
    assert outcome.failure is not None
    assert (outcome.failure.condition, outcome.failure.sqlstate) == (
        Condition.DUPLICATE_KEY,
        "error 1062",
    )
    for text, condition in (
        (b"INSERT INTO s.c VALUES (7);", Condition.FOREIGN_KEY),
        (b"INSERT INTO s.p VALUES ('x');", Condition.OTHER),
    ):
        failure = session.run(text).failure
        assert failure is not None
        assert failure.condition == condition
    session.savepoint()
    session.run(b"INSERT INTO s.p VALUES (3);")
    session.back_to_savepoint()
    session.commit()
    assert session.query("SELECT a FROM s.p") == [(1,)]


def test_a_deadlock_is_transient(session: MysqlSession, server: str) -> None:
    session.execute("CREATE TABLE s.p (a INT PRIMARY KEY, b INT)")
    session.execute("INSERT INTO s.p VALUES (1, 0), (2, 0)")
    with closing(MysqlSession(server, kind_of(server))) as other:
        for one, key in ((session, 1), (other, 2)):
            one.begin()
            one.run(f"UPDATE s.p SET b = 1 WHERE a = {key};".encode())
        ended: list[Any] = []

        def crossing(one: MysqlSession, key: int) -> None:
            try:
                ended.append(one.run(f"UPDATE s.p SET b = 2 WHERE a = {key};".encode()).counts)
                one.rollback()
            except Transient:
                ended.append("transient")

        threads = [Thread(target=crossing, args=pair) for pair in ((session, 2), (other, 1))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(ended, key=str) == [[1], "transient"]


def test_a_killed_connection_is_lost(session: MysqlSession, server: str) -> None:
    (number,) = session.query("SELECT CONNECTION_ID()")[0]
    execute(server, f"KILL {number}")
    with pytest.raises(ConnectionLost, match="was lost"):
        session.run(b"SELECT 1;")
    with pytest.raises(ConnectionLost):
        session.commit()


def test_a_scratch_server_must_be_empty_and_named(session: MysqlSession, server: str) -> None:
    with (
        pytest.raises(TargetError, match="is not empty: found the databases s"),
        target_of(server).scratch(server),
    ):
        pass
    with (
        pytest.raises(UsageError, match="needs a server of its own"),
        target_of(server).scratch(None),
    ):
        pass
    assert session.databases() == ["s"]


def test_floats_and_bytes_that_differ_in_the_last_place_are_told_apart(
    session: MysqlSession,
) -> None:
    session.execute("CREATE TABLE s.f (a INT PRIMARY KEY, r FLOAT, d DOUBLE, b VARBINARY(4))")
    session.execute(
        "INSERT INTO s.f VALUES (1, 0.1e0, 0.1e0, X'00FF'), (2, 0.10000001e0,"
        " 0.10000000000000002e0, X'00FE')"
    )
    (batch,) = session.texts("s", "f", ["r", "d", "b"])
    assert [column.to_pylist() for column in batch.columns] == [
        ["0.10000000149011612", "0.10000000894069672"],
        ["0.1", "0.10000000000000002"],
        ["\\x00ff", "\\x00fe"],
    ]


def test_an_interrupted_session_is_ended_in_the_server_and_no_other_one(server: str) -> None:
    """Its number may be that of somebody else's, where the server was started again."""
    ends: list[TargetError] = []
    with closing(MysqlSession(server, kind_of(server))) as session:

        def wait() -> None:
            try:
                session.query("SELECT SLEEP(600)")
            except TargetError as error:
                ends.append(error)

        seen, session._seen_from = session._seen_from, [("elsewhere:1",)]
        waiting = Thread(target=wait, daemon=True)
        waiting.start()
        with closing(MysqlSession(server, kind_of(server))) as other:
            query = "SELECT 1 FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'"
            while not other.query(query):
                pass
            session.interrupt()
            assert other.query(query)
            session._seen_from = seen
            session.interrupt()
            waiting.join(300)
            assert not waiting.is_alive()
            assert len(ends) == 1
            while other.query(query):  # the server lists it until its thread is gone
                pass
