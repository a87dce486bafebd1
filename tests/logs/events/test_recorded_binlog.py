"""What the real connector recorded of a real MySQL and a real MariaDB (scripts/record_events.py):
scripts are run in other ones, and the rows of the database are the truth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from replay.cli.main import main
from replay.targets import target_named
from replay.targets.mysql import MysqlSession
from tests.support.servers import kinds, server_of

FOLDER = Path(__file__).parents[3] / "fixtures" / "events"
SCHEMA = str(FOLDER / "mysql.sql")
#: Tables that change in a way that events do not tell: structure, TRUNCATE, values of which events
#: have another or none.
APART = ("app.grown", "app.plain", "app.odd")
#: Unique keys alone: what MySQL's log has of cascades is in no order that acting keys allow.
KEYS = """
CREATE TABLE app.account (code CHAR(4) PRIMARY KEY, slot INT UNIQUE, amount DECIMAL(30,10));
CREATE TABLE app.item (id BIGINT UNSIGNED PRIMARY KEY, name VARCHAR(20) UNIQUE, n INT);
"""
LEAVE_OUT = [word for name in APART for word in ("--exclude-table", name)]


def log(kind: str) -> str:
    """The recording of a kind of database."""
    return str(FOLDER / f"{kind}.jsonl.gz")


def script(kind: str, folder: Path, mode: str, *words: str) -> tuple[int, list[Path]]:
    """(exit code, scripts) of a run over a recording, for its own database."""
    out = folder / f"out-{mode}"
    code = main([mode, log(kind), "--dialect", kind, "--out", str(out), *words])
    return code, sorted(out.glob("*.sql"))


@pytest.fixture(params=kinds("mariadb", each=True))
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty server of each kind, emptied afterwards."""
    with target_named(request.param).scratch(server_of(request, request.param)) as url:
        yield url


@contextmanager
def prepared(url: str) -> Iterator[MysqlSession]:
    """A database as it was when recording began, without the trigger: its work is in the log."""
    with closing(MysqlSession(url, urlsplit(url).scheme)) as session:
        session.make_schema("app")
        for statement in (FOLDER / "mysql.sql").read_text("utf-8").split(";\n"):
            if statement.strip() and "CREATE TRIGGER" not in statement:
                session.execute(statement)
        yield session


def rows(session: MysqlSession) -> dict[str, list[str]]:
    """All rows of each table but those apart, as text."""
    names = [f"app.{name}" for (name,) in session.query("SHOW TABLES FROM app")]
    return {
        name: sorted(repr(tuple(row)) for row in session.query(f"SELECT * FROM {name}"))
        for name in sorted(names)
        if name not in APART
    }


def test_redo_makes_the_database_that_the_source_became(server: str, tmp_path: Path) -> None:
    """MySQL's log has what its foreign keys cascade, MariaDB's lets those of the target do it."""
    kind = urlsplit(server).scheme
    truth = json.loads((FOLDER / f"{kind}.json").read_text(encoding="utf-8"))
    (tmp_path / "keys.sql").write_text(KEYS, encoding="utf-8")
    schema = str(tmp_path / "keys.sql") if kind == "mysql" else SCHEMA
    code, made = script(kind, tmp_path, "redo", *LEAVE_OUT, "--schema", schema)
    assert code in (0, 4)
    with prepared(server) as session:
        if kind == "mysql":
            session.execute("SET SESSION foreign_key_checks = 0")
        for path in made:
            session.script(path)
        assert rows(session) == {name: truth[name] for name in truth if name not in APART}


def test_a_snapshot_and_the_changes_make_the_database(server: str, tmp_path: Path) -> None:
    kind = urlsplit(server).scheme
    truth = json.loads((FOLDER / f"{kind}.json").read_text(encoding="utf-8"))
    (tmp_path / "keys.sql").write_text(KEYS, encoding="utf-8")
    words = [*LEAVE_OUT, "--schema", str(tmp_path / "keys.sql") if kind == "mysql" else SCHEMA]
    made = script(kind, tmp_path, "redo", *words, "--log-option", "snapshot=insert")[1]
    with prepared(server) as session:
        session.execute("SET SESSION foreign_key_checks = 0")
        for name in truth:
            session.execute(f"DELETE FROM {name}")
        if kind == "mariadb":
            session.execute("SET SESSION foreign_key_checks = 1")
        for path in made:
            session.script(path)
        assert rows(session) == {name: truth[name] for name in truth if name not in APART}


def test_undo_makes_the_database_that_was_there_before(server: str, tmp_path: Path) -> None:
    kind = urlsplit(server).scheme
    (tmp_path / "keys.sql").write_text(KEYS, encoding="utf-8")
    words = [*LEAVE_OUT, "--log-option", "cascades=logged", "--schema", str(tmp_path / "keys.sql")]
    if kind == "mariadb":  # its log does not have what became of the children
        words += ["--exclude-table", "app.dept", "--exclude-table", "app.emp"]
    with prepared(server) as session:
        session.execute("SET SESSION foreign_key_checks = 0")
        before = rows(session)
        for path in script(kind, tmp_path, "redo", *words)[1]:
            session.script(path)
        assert rows(session) != before
        for path in script(kind, tmp_path, "undo", "--where-columns", "key", *words)[1]:
            session.script(path)
        assert rows(session) == before
