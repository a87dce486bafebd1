"""A small log of two units, and databases of every kind that have its table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from replay.cli.main import main
from replay.targets import Session, target_named, target_of
from tests.support.logbuilder import Col, LogBuilder, Tab

TABLE = Tab("T", (Col("K", "VCHR", 8, key=1), Col("V", "VCHR", 8)))
BEFORE = [("a", "one"), ("b", "two"), ("c", "three")]
AFTER = [("a", "uno"), ("c", "three")]
#: The log's table with its rows; {text} is the type of a text.
SCHEMA = (
    "CREATE TABLE testown.t (k varchar(8) NOT NULL PRIMARY KEY, v varchar(8) NOT NULL)",
    "INSERT INTO testown.t VALUES ('a', 'one'), ('b', 'two'), ('c', 'three')",
)


def write_log(folder: Path) -> list[str]:
    """A log of changes of two of the three rows; the options that name it."""
    log = LogBuilder([TABLE])
    log.unit().update(TABLE, ("a", "one"), ("a", "uno"))
    log.unit().delete(TABLE, ("b", "two"))
    control, data = log.write(folder, seed=1)
    return ["--control", str(control), "--data", str(data[0])]


def replay(log: list[str], url: str, *options: str) -> int:
    """The exit code of a replay of a log."""
    return main(["replay", *log, "--engine", "local", "--to", url, "--apply", *options])


@contextmanager
def session_of(url: str) -> Iterator[Session]:
    """A session of ours."""
    with closing(target_of(url).connect(url)) as session:
        yield session


def run(url: str, *statements: str) -> None:
    """Run statements."""
    with session_of(url) as session:
        for statement in statements:
            session.execute(statement.replace("%", "%%"))


def state(url: str) -> list[tuple[Any, ...]]:
    """The rows of the log's table."""
    with session_of(url) as session:
        return sorted(session.query("SELECT k, v FROM testown.t"))


@contextmanager
def small_target(kind: str, server: str | None) -> Iterator[str]:
    """The URL of a scratch database of a kind that has the log's table."""
    with target_named(kind).scratch(server) as url:
        with session_of(url) as session:
            session.make_schema("testown")
            for statement in SCHEMA:
                session.execute(statement)
        yield url
