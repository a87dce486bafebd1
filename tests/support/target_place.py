"""A database of each kind of target, empty for each test, and what the contract suite does with
it. A server is started once and serves all tests; databases of files are temporary ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from replay.targets import Session, Target, target_named, target_of
from tests.conftest import database_on
from tests.support.logbuilder import LogBuilder
from tests.support.servers import kinds, server_of

#: Before every log.
START = "0" * 20
#: Name -> the fixture that has the URL of a PostgreSQL server.
POSTGRES = {"postgres": "postgres", "postgres in a container": "container_postgres"}


def places(*names: str) -> list[Any]:
    """Parameters of tests; what is for PostgreSQL or MariaDB is for all servers of the kind."""
    found = []
    for name in names:
        found += kinds(name, each=True) if name != "postgres" else [
            pytest.param("postgres", marks=pytest.mark.live),
            pytest.param("postgres in a container", marks=pytest.mark.containers),
        ]  # fmt: skip
    return found


ALL = places("postgres", "sqlite", "duckdb", "mariadb")


def of(*names: str) -> pytest.MarkDecorator:
    """A test of these kinds of targets alone."""
    return pytest.mark.parametrize("place", places(*names), indirect=True)


@contextmanager
def empty_place(request: pytest.FixtureRequest, name: str, folder: Path) -> Iterator[Place]:
    """An empty database with the schema ``testown``."""
    if name in POSTGRES:
        opened = contextmanager(database_on)(request.getfixturevalue(POSTGRES[name]))
    else:
        opened = target_named(name).scratch(server_of(request, name))
    with opened as url:
        place = Place(url, folder)
        with place.session() as session:
            session.make_schema("testown")
        yield place


@dataclass
class Place:
    """A database, and the folder for the logs that are replayed into it."""

    url: str
    folder: Path

    @cached_property
    def target(self) -> Target:
        return target_of(self.url)

    @property
    def dialect(self) -> str:
        return self.target.dialect

    @property
    def kind(self) -> str:
        """The dialect; of MySQL that of MariaDB, which has the same words."""
        return "mariadb" if self.dialect == "mysql" else self.dialect

    @contextmanager
    def session(self) -> Iterator[Session]:
        with closing(self.target.connect(self.url)) as session:
            yield session

    def do(self, *statements: str) -> None:
        """Run statements, in one transaction where the database has it so."""
        with self.session() as session:
            session.begin()
            for statement in statements:
                session.execute(statement.replace("%", "%%"))
            session.commit()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query, sorted, NULL last."""
        with self.session() as session:
            found = session.query(query.replace("%", "%%"))
        return sorted(found, key=lambda row: [(value is None, value) for value in row])

    def written(self, log: LogBuilder, name: str = "t") -> list[str]:
        """The options that name a log."""
        control, data = log.write(self.folder, seed=1, name=name)
        return ["--control", str(control), "--data", str(data[0]), "--engine", "local"]

    def replay(self, log: list[str], *options: str, apply: bool = True) -> int:
        """The exit code of a replay of a log."""
        return main(["replay", *log, "--to", self.url, *["--apply"] * apply, *options])

    def position(self) -> tuple[Any, ...] | None:
        """Units, statements and rejects of the position; None where there is none."""
        with self.session() as session:
            if not session.own_tables():
                return None
            found = session.query(
                f"SELECT units, statements, rejected FROM {session.own('position')}"
            )
        return tuple(found[0]) if found else None

    def tables_of(self, log: list[str]) -> None:
        """Make the tables that a log describes, and their schema (there, it is a file: SQLite),
        as ``logreplay ddl`` writes them."""
        if self.dialect != "sqlite":
            self.do("DROP SCHEMA testown")
        script = self.folder / "tables.sql"
        words = ["ddl", *log[: log.index("--engine")], "--dialect", self.dialect]
        assert main([*words, "--out", str(script)]) == 0
        self.target.run_scripts(self.url, [script])

    def script(self, mode: str, log: list[str], *options: str) -> list[Path]:
        """A log's scripts for this target."""
        out = self.folder / f"{mode}-{len(list(self.folder.iterdir()))}"
        words = [mode, *log, "--dialect", self.dialect, "--schema", "none", "--out", str(out)]
        assert main([*words, *options]) == 0
        return sorted(out.glob("*.sql"))

    def verify(self, log: list[str], state: dict[str, str], *options: str) -> int:
        """The exit code of a comparison with what a log makes of a state: table -> its lines."""
        folder = self.folder / "state"
        folder.mkdir(exist_ok=True)
        for table, text in state.items():
            (folder / f"{table}.csv").write_text(text, encoding="utf-8")
        words = ["verify", *log, "--to", self.url, "--expected", str(folder), "--schema", "none"]
        return main([*words, *options])
