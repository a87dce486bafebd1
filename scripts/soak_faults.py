"""What goes wrong while the soak replays, on either side and on the way between them."""

from __future__ import annotations

import itertools
import os
import random
import resource
import select
import signal
import socket
import sqlite3
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pymysql
from soak_databases import Database

#: Seconds that a run may take.
LONGEST = 120


@dataclass
class Move:
    """One replay: where to, how, and what goes wrong. ``drawn``: numbers for the fault."""

    until: int
    how: list[str]
    fault: str
    at: int
    drawn: random.Random = field(repr=False, default_factory=random.Random)


#: Fault -> the kinds of database that know it.
FAULTS = {
    "none": ("postgres", "mariadb", "sqlite", "duckdb"),
    "client killed": ("postgres", "mariadb", "sqlite", "duckdb"),
    "client killed after": ("postgres", "mariadb", "sqlite", "duckdb"),
    "server killed": ("postgres", "mariadb"),
    "server killed after": ("postgres", "mariadb"),
    "network cut": ("postgres", "mariadb"),
    "network slow": ("postgres", "mariadb"),
    "lock timeout": ("postgres",),
    "statement timeout": ("postgres",),
    "deadlocks": ("postgres", "mariadb"),
    "locked rows": ("postgres", "mariadb", "sqlite"),
    "disk full": ("sqlite", "duckdb"),
    "second replay": ("postgres", "mariadb", "sqlite", "duckdb"),
    "user changes a row": ("postgres", "mariadb", "sqlite", "duckdb"),
    "ddl": ("postgres", "mariadb", "sqlite", "duckdb"),
}


def around_requests(database: Database, act: Callable[[int, Any, bool], None]) -> None:
    """In a run: ``act`` hears of every request before and after, with its number and session."""
    numbers = itertools.count(1)

    def wrap(kind: Any, name: str) -> None:
        plain = getattr(kind, name)

        def asked(self: Any, *given: Any, **more: Any) -> Any:
            number = next(numbers)
            act(number, self, False)
            answer = plain(self, *given, **more)
            act(number, self, True)
            return answer

        setattr(kind, name, asked)

    for kind, name in database.requests:
        wrap(kind, name)


def arm(database: Database, move: Move) -> None:
    """In a run: make the faults of the client's side."""
    late = move.fault.endswith(" after")

    def act(number: int, session: Any, done: bool) -> None:
        if number != move.at or done != late:
            return
        if move.fault.startswith("client killed"):
            os.kill(os.getpid(), signal.SIGKILL)
        if move.fault.startswith("server killed"):
            with suppress(AttributeError, TypeError):  # a session that is not connected yet
                database.crash(session)
        if move.fault == "disk full":
            path = database.path  # type: ignore[attr-defined]
            files = [entry for entry in path.parent.iterdir() if entry.name.startswith(path.name)]
            size = max(entry.stat().st_size for entry in files)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    if move.fault.startswith(("client killed", "server killed")) or move.fault == "disk full":
        around_requests(database, act)


def forked(action: Callable[[], int], log: Path) -> int:
    """Run an action in a fork of this process; its process id."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        code = action()
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def ended(child: int) -> int:
    """The exit code of a fork, or minus the signal. TimeoutError when it takes too long."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise TimeoutError(f"a run took more than {LONGEST} seconds")


@contextmanager
def beside(action: Callable[[], int], log: Path) -> Iterator[None]:
    """Something that goes on beside a run, and is ended with it."""
    child = forked(action, log)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def network(listener: socket.socket, server: tuple[str, int], cut: int, slow: float) -> int:
    """Pass connections on; the first that sent ``cut`` bytes is cut (0: none), ``slow`` seconds
    between pieces."""
    pairs: dict[socket.socket, socket.socket] = {}
    sent: dict[socket.socket, int] = {}
    while True:
        for ready in select.select([listener, *pairs], [], [])[0]:
            if ready is listener:
                client, _ = listener.accept()
                other = socket.create_connection(server)
                pairs |= {client: other, other: client}
                sent[client] = 0
                continue
            if ready not in pairs:
                continue
            other = pairs[ready]
            data = b""
            with suppress(OSError):
                data = ready.recv(4096)
            if ready in sent:
                sent[ready] += len(data)
                if cut and sent[ready] > cut:
                    cut, data = 0, b""
            time.sleep(slow)
            try:
                if data:
                    other.sendall(data)
                    continue
            except OSError:
                pass
            for one in (ready, other):
                pairs.pop(one, None)
                sent.pop(one, None)
                one.close()


@contextmanager
def proxied(database: Database, move: Move, log: Path) -> Iterator[str]:
    """The URL of the database by way of a network that is slow, or cut once."""
    parts = urlsplit(database.url)
    assert parts.hostname is not None
    assert parts.port is not None
    listener = socket.create_server(("127.0.0.1", 0))
    cut = move.drawn.randrange(200, 40_000) if move.fault == "network cut" else 0
    slow = 0.002 if move.fault == "network slow" else 0.0
    server = (parts.hostname, parts.port)
    url = database.url.replace(f":{parts.port}/", f":{listener.getsockname()[1]}/")
    with listener, beside(lambda: network(listener, server, cut, slow), log):
        yield url


def locking(database: Database, rng: random.Random) -> int:
    """Somebody takes locks of rows one after the other, in any order, and lets them go."""
    if database.kind == "sqlite":
        with closing(sqlite3.connect(database.path, isolation_level=None)) as held:  # type: ignore[attr-defined]
            while True:
                with suppress(sqlite3.OperationalError):
                    held.execute("BEGIN IMMEDIATE")
                    time.sleep(rng.uniform(0.05, 0.3))
                    held.execute("ROLLBACK")
                time.sleep(0.1)
    connect = (
        (lambda: psycopg.connect(database.url))
        if database.kind == "postgres"
        else database._connect  # type: ignore[attr-defined]
    )
    while True:
        with suppress(psycopg.Error, pymysql.MySQLError), closing(connect()) as connection:
            cursor = connection.cursor()
            while True:
                cursor.execute("BEGIN")
                for _ in range(rng.randint(2, 5)):
                    table = rng.choice(["parent", "child"])
                    key = rng.randrange(12)
                    cursor.execute(f"SELECT 1 FROM testown.{table} WHERE id = {key} FOR UPDATE")
                    time.sleep(rng.uniform(0.005, 0.05))
                cursor.execute("ROLLBACK")
