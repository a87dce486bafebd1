"""Servers and connections that a replay cannot use are refused by name: pools that share sessions
between transactions, and standbys."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from replay.cli.main import main
from replay.targets import embedded
from tests.support.pooling import pool
from tests.support.replayed import rows
from tests.support.small_target import AFTER, BEFORE, SCHEMA, replay, write_log
from tests.support.small_target import state as rows_of


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    return write_log(tmp_path)


@pytest.fixture
def target(fresh_database: str) -> str:
    for statement in ("CREATE SCHEMA testown", *SCHEMA):
        rows(fresh_database, statement)
    return fresh_database


def test_a_pool_that_shares_sessions(
    target: str,
    log: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing was set in the session that somebody else gets next, and nothing locked."""
    monkeypatch.setattr("replay.targets.postgres_settings._ANSWER_SECONDS", 300.0)
    with pool(target, "transaction") as url:
        for command in (
            ["replay", *log, "--engine", "local", "--to", url],
            ["replay", *log, "--engine", "local", "--to", url, "--apply"],
            ["status", "--to", url],
            ["mark", "here", "--to", url],
        ):
            assert main(command) == 8
            told = capsys.readouterr().err
            assert "LR4010" in told
            assert "a pool of connections (such as pgbouncer)" in told
        with psycopg.connect(url) as other:
            path = other.execute("SHOW search_path").fetchone()
        assert path == ('"$user", public',)
    assert rows(target, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory'") == []
    assert rows_of(target) == BEFORE


def test_a_pool_that_keeps_sessions(target: str, log: list[str]) -> None:
    with pool(target, "session") as url:
        assert replay(log, url) == 0
    assert rows_of(target) == AFTER


#: What a server needs to have a standby, and the standby as well.
STREAMS = {"wal_level": "replica", "max_wal_senders": "4"}


@contextmanager
def standby_of(primary: str, folder: Path) -> Iterator[str]:
    """A standby of a server, made from a copy of it; the URL of its database ``postgres``."""
    account = embedded._account(embedded.programs(), folder)
    data = folder / "data"
    with embedded._guard(account, data, folder):
        account.run("pg_basebackup", "-d", primary, "-D", data, "-c", "fast", "-R", "--no-sync")
        port = embedded._start(account, folder, data, {**embedded.SETTINGS, **STREAMS})
        parts = urlsplit(primary)
        user = parts.netloc.rpartition("@")[0]
        yield urlunsplit(parts._replace(netloc=f"{user}@127.0.0.1:{port}"))


@pytest.mark.long
def test_a_standby(log: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(tempfile.mkdtemp(prefix="logreplay-pg-"))
    with embedded.server(**STREAMS) as primary:
        for statement in ("CREATE SCHEMA testown", *SCHEMA):
            rows(primary, statement)
        with standby_of(primary, folder) as url:
            for options in ([], ["--apply"]):
                assert main(["replay", *log, "--engine", "local", "--to", url, *options]) == 8
                told = capsys.readouterr().err
                assert "LR4010" in told
                assert "the server is a standby" in told
            assert main(["status", "--to", url]) == 0
        assert replay(log, primary) == 0
        assert rows_of(primary) == AFTER
