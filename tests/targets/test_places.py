"""Files that cannot be replayed into, and names that come near, in SQLite, DuckDB and MariaDB."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from replay.targets import target_of
from replay.targets.states import path_of
from tests.support.engines import Place
from tests.support.servers import of_kind
from tests.support.small_target import BEFORE, replay, run, session_of, small_target, write_log

pytestmark = pytest.mark.long

#: Kind -> what is said of the table in another place, and of one in another case.
NEAR = {
    "sqlite": "the target has no such table (testown.t); there is other.t. Say so: ?schema=testown",
    "duckdb": "the target has no such table (testown.t); there is other.t. Make it",
    "mariadb": "no such table (testown.t), or this user has no right on it and is not shown it;"
    " there is other.t. Make it",
}


@pytest.fixture
def target(place: Place) -> Iterator[str]:
    with small_target(place.dialect, place.url or None) as url:
        yield url


def test_a_name_that_comes_near(
    place: Place, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = target
    if place.dialect == "sqlite":
        url = f"{target}testown.db?schema=other"
    else:
        run(target, "CREATE SCHEMA other", "CREATE TABLE other.t (k varchar(8))", "DROP TABLE"
            " testown.t")  # fmt: skip
    assert replay(write_log(tmp_path), url) == 8
    assert of_kind(NEAR, place.dialect) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///{}?shema=t", "found the option 'shema' in sqlite:///"),
        ("duckdb:///{}?schema=t", "found the option 'schema' in duckdb:///"),
    ],
)
def test_a_parameter_that_a_url_does_not_have(
    url: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.db").touch()
    assert replay(write_log(tmp_path), url.format(tmp_path / "t.db")) == 12
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "encoding", "said", "more"),
    [
        ("temp.db", "UTF-8", "Name the schema, ?schema=NAME", "?schema=testown"),
        ("testown.db", "UTF-16", "LR4010 found text in UTF-16 in sqlite://", ""),
    ],
)
def test_a_file_that_cannot_be_attached_as_it_is(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    encoding: str,
    said: str,
    more: str,
) -> None:
    path = tmp_path / name
    with closing(sqlite3.connect(path)) as made:
        made.execute(f"PRAGMA encoding = '{encoding}'")
        made.execute("CREATE TABLE t (k varchar(8) NOT NULL PRIMARY KEY, v varchar(8) NOT NULL)")
        made.executemany("INSERT INTO t VALUES (?, ?)", BEFORE)
        made.commit()
    log, url = write_log(tmp_path), f"sqlite:///{path}"
    assert replay(log, url) == (8 if "LR4010" in said else 12)
    assert said in capsys.readouterr().err
    if more:
        assert replay(log, f"{url}{more}") == 0


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Not root, whom no file's mode keeps from writing."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    yield
    os.seteuid(before)


def test_a_file_that_cannot_be_written() -> None:
    """It is refused by its name, before any plan."""
    with small_target("sqlite", None) as url, session_of(url) as session:
        folder = path_of(url)
        (path,) = folder.glob("*.db")
        folder.chmod(0o755)
        assert session.read_only() == ""
        path.chmod(0o444)
        with ordinary_user():
            assert session.read_only() == f"the file {path} cannot be written by this user"
        path.chmod(0o666)
        folder.chmod(0o555)
        with ordinary_user():
            assert "the folder of its journal" in session.read_only()
        folder.chmod(0o755)


def test_a_schema_that_sqlite_has_itself(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as made:
        made.execute("CREATE TABLE t (k)")
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    with closing(target_of(url).connect(url)) as session:
        assert "keeps the name temp for itself" in session.otherwise_called("temp")
        assert session.otherwise_called("main") == "Say so: ?schema=main after the URL"
