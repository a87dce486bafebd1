"""Replays random workloads into databases while things go wrong, and looks whether the databases
hold what they should.

    scripts/run python scripts/soak.py --seeds 20            seeds 0 to 19
    scripts/run python scripts/soak.py --seed 4711           one seed again, with what it did
    scripts/run python scripts/soak.py --seeds 500 --mariadb mariadb://root:pw@127.0.0.1:3306/

Each seed draws a workload, a target, and moves: a point of the log (forward or back), a mode, how
many sessions, how large transactions are, and a fault. After each move, whatever became of it, and
again after the same move without a fault, a checker reads the database with its own driver and
compares rows, position, history and rejects with a model of the workload. It shares no code with
replay. Seeds are repeatable but for what the clock decides (whose lock comes first).

Runs are forks of this process, so that they can be killed and need no start-up. The PostgreSQL is
an embedded one with ``fsync`` off: what is killed is a process, not the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import re
import resource
import select
import shutil
import signal
import socket
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import psycopg
import pymysql
import sqlglot

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import replay.cli.commands  # what runs import, so that forks need not
import replay.cli.live_commands  # noqa: F401
from replay.cli.main import main as logreplay
from replay.targets import duckdb as duckdb_target
from replay.targets import embedded, mysql, postgres_session, sqlite
from tests.support.history import SCHEMA, TABLES, History, Maker
from tests.support.logbuilder import LogBuilder

#: Seconds that a run may take, that a database may be away, and that waits last.
LONGEST, AWAY, SHORT = 120, 60, 0.02
#: Seeds that may go wrong before the rest is left.
MOST_WRONG = 5
#: What a person changes a value to; no workload has it.
STRANGE = 77

#: Users whose sessions are the server's own (MySQL's scheduler has one from its start).
_SERVERS_OWN = "('system user', 'event_scheduler')"

Row = tuple[Any, ...]
State = dict[str, list[Row]]


# -- the workload
# -------------------------------------------------------------------------------------------------


@dataclass
class Workload:
    """A history, its log, and the commit position and unit (hexadecimal) of each of its units."""

    history: History
    options: list[str]
    keys: list[str]

    def applied(self, commit: str, unit: str, ahead: set[str]) -> set[int]:
        """The units that are in a target which stands there."""
        return {n for n, key in enumerate(self.keys) if key <= commit + unit or key in ahead}

    def state(self, applied: set[int]) -> State:
        """The rows after these units."""
        return self.history.state(frozenset(range(len(self.keys))) - applied)

    def idle(self) -> set[int]:
        """The units that leave everything as it was: they may have no statement."""
        states = [self.state(set(range(count))) for count in range(len(self.keys) + 1)]
        return {
            n for n, (before, after) in enumerate(itertools.pairwise(states)) if before == after
        }


def make_workload(rng: random.Random, folder: Path) -> Workload:
    """A random history as a log."""
    maker = Maker(rng.randrange(1 << 30), rng.randint(10, 40), rng.choice([4, 8, 12, 20]))
    history = maker.history
    log = LogBuilder(tuple(TABLES.values()))
    keys = []
    for number, steps in enumerate(history.units):
        unit = log.unit(member=1 + number % 2)
        for step in steps:
            table = TABLES[step.table]
            if step.before is None:
                unit.insert(table, step.after)
            elif step.after is None:
                unit.delete(table, step.before)
            else:
                unit.update(table, step.before, step.after)
        member = unit.more["MEMBERID"].to_bytes(2)
        keys.append((unit.more["UORCOMMITLRSN"] + unit.more["UORID"] + member).hex().upper())
    control, data = log.write(folder, seed=rng.randrange(1 << 30), files=rng.choice([1, 2]))
    options = ["--control", str(control), "--data", *map(str, data), "--engine", "local"]
    return Workload(history, options, keys)


# -- databases
# -------------------------------------------------------------------------------------------------


class Database:
    """A database of one kind: how it is made, asked by its own driver, and hurt."""

    kind = ""
    url = ""
    parallel = False
    merges = False
    #: The classes and methods by which replay sends requests.
    requests: tuple[tuple[Any, str], ...] = ()

    def make(self) -> None:
        """Make the tables, empty."""

    def read(self, queries: list[str]) -> list[list[Row]]:
        """The rows of some queries at one moment; [] for a table that is not there."""
        raise NotImplementedError

    def execute(self, statement: str) -> int:
        """Run a statement as somebody else; rows touched."""
        raise NotImplementedError

    def own(self, table: str) -> str:
        """What replay's own table is called."""
        return f"logreplay.{table}"

    def crash(self, session: Any) -> None:
        """End the server, or the connection, of a session of replay's in the middle of it."""

    def quiet(self) -> None:
        """Wait until no session of a run that was killed is left."""

    def drop(self) -> None:
        """Remove the database."""


class Postgres(Database):
    kind, parallel, merges = "postgres", True, True
    requests = tuple((postgres_session.PostgresSession, name) for name in ("run", "copy", "_do"))

    def __init__(self, server: str, name: str) -> None:
        self.server, self.name = server, name
        parts = urlsplit(server)
        self.url = server.removesuffix(parts.path) + f"/{name}"

    def make(self) -> None:
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {self.name}".encode())
        self.execute(SCHEMA)

    def read(self, queries: list[str]) -> list[list[Row]]:
        with psycopg.connect(self.url) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            found = []
            for query in queries:
                table = query.rpartition(" FROM ")[2].partition(" ")[0]
                there = connection.execute("SELECT to_regclass(%s)", (table,)).fetchone()
                known = there is not None and there[0] is not None
                found.append(connection.execute(query.encode()).fetchall() if known else [])
            return found

    def execute(self, statement: str) -> int:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(statement.encode()).rowcount

    def crash(self, session: Any) -> None:
        """A server process that dies takes all others with it, and the server recovers."""
        os.kill(session.connection.info.backend_pid, signal.SIGKILL)
        time.sleep(0.05)

    def quiet(self) -> None:
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'logreplay' AND"
            f" datname = '{self.name}'"
        )
        for _ in patient():
            with suppress(psycopg.OperationalError), psycopg.connect(self.url) as connection:
                if connection.execute(query.encode()).fetchone() == (0,):
                    return

    def drop(self) -> None:
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {self.name} WITH (FORCE)".encode())


class Mariadb(Database):
    kind, parallel = "mariadb", True
    requests = tuple((mysql.MysqlSession, name) for name in ("run", "_do"))

    def __init__(self, url: str) -> None:
        self.url = url

    def _connect(self) -> Any:
        parts = urlsplit(self.url)
        return pymysql.connect(
            host=parts.hostname,
            port=parts.port or 3306,
            user=parts.username,
            password=parts.password or "",
            autocommit=True,
        )

    def make(self) -> None:
        self.drop()
        for statement in filter(
            str.strip, SCHEMA.replace("CREATE SCHEMA", "CREATE DATABASE").split(";")
        ):
            self.execute(
                statement.replace("REFERENCES testown.parent", "REFERENCES testown.parent (id)")
            )

    def read(self, queries: list[str]) -> list[list[Row]]:
        with closing(self._connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            found = []
            for query in queries:
                rows: list[Row] = []
                with suppress(pymysql.ProgrammingError, pymysql.OperationalError):
                    cursor.execute(query)
                    rows = list(cursor.fetchall())
                found.append(rows)
            return found

    def execute(self, statement: str) -> int:
        with closing(self._connect()) as connection, connection.cursor() as cursor:
            return int(cursor.execute(statement))

    def crash(self, session: Any) -> None:
        with suppress(pymysql.MySQLError):
            self.execute(f"KILL CONNECTION {session.connection.thread_id()}")

    def quiet(self) -> None:
        query = "SELECT count(*) FROM information_schema.processlist WHERE id <> connection_id()"
        for _ in patient():
            if self.read([f"{query} AND user NOT IN {_SERVERS_OWN}"])[0] == [(0,)]:
                return

    def drop(self) -> None:
        for name in ("testown", "logreplay"):
            self.execute(f"DROP DATABASE IF EXISTS {name}")


class Sqlite(Database):
    kind = "sqlite"
    requests = tuple((sqlite.SqliteSession, name) for name in ("run", "_do"))

    def __init__(self, folder: Path) -> None:
        self.path = folder / "testown.db"
        self.url = f"sqlite:///{self.path}"

    def make(self) -> None:
        text = SCHEMA.replace("CREATE SCHEMA testown;", "").replace("testown.", "")
        with closing(sqlite3.connect(self.path)) as connection:
            connection.executescript(text)

    def read(self, queries: list[str]) -> list[list[Row]]:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            found = []
            for query in queries:
                rows: list[Row] = []
                with suppress(sqlite3.OperationalError):
                    rows = connection.execute(query.replace("testown.", "")).fetchall()
                found.append(rows)
            return found

    def execute(self, statement: str) -> int:
        with closing(sqlite3.connect(self.path, timeout=30)) as connection:
            count = connection.execute(statement.replace("testown.", "")).rowcount
            connection.commit()
            return count

    def own(self, table: str) -> str:
        return f"logreplay_{table}"


class Duckdb(Database):
    kind = "duckdb"
    requests = tuple((duckdb_target.DuckdbSession, name) for name in ("run", "do"))

    def __init__(self, folder: Path) -> None:
        self.path = folder / "shop.duckdb"
        self.url = f"duckdb:///{self.path}"

    def make(self) -> None:
        # DuckDB checks keys at once, also where a row goes and comes back: none but the first
        text = SCHEMA.replace(" UNIQUE", "").replace(" REFERENCES testown.parent", "")
        with closing(duckdb.connect(str(self.path))) as connection:
            connection.execute(text)

    def read(self, queries: list[str]) -> list[list[Row]]:
        with closing(duckdb.connect(str(self.path))) as connection:
            connection.execute("BEGIN")
            found = []
            for query in queries:
                rows: list[Row] = []
                with suppress(duckdb.CatalogException):
                    rows = connection.execute(query).fetchall()
                found.append(rows)
            return found

    def execute(self, statement: str) -> int:
        with closing(duckdb.connect(str(self.path))) as connection:
            row = connection.execute(statement).fetchone()
            return int(row[0]) if row and isinstance(row[0], int) else 0


def patient() -> Iterator[None]:
    """Asks again for a while. TimeoutError at its end."""
    end = time.monotonic() + AWAY
    while time.monotonic() < end:
        yield
        time.sleep(SHORT)
    raise TimeoutError("a session of a run that has ended is still there")


# -- the checker
# -------------------------------------------------------------------------------------------------

_ROWS = {
    "parent": "SELECT id, code, a, b FROM testown.parent",
    "child": "SELECT id, pid, x FROM testown.child",
    "loose": "SELECT t, n FROM testown.loose",
}


class Wrong(Exception):
    """The database does not hold what it should."""


@dataclass(frozen=True)
class Seen:
    """What the checker saw: the units that are there, and the target's last position ('' none)."""

    applied: set[int]
    commit: str


def check(
    database: Database, workload: Workload, edit: Callable[[State], None] = lambda _: None
) -> Seen:
    """Compare rows, position, history and rejects with the model; ``edit`` makes somebody's change
    in the model. Raises Wrong."""
    queries = [
        *_ROWS.values(),
        f"SELECT commit_lrsn, unit, units, rejected FROM {database.own('position')}",
        f"SELECT unit_keys FROM {database.own('ahead')}",
        f"SELECT outcome, ended_at FROM {database.own('run')} ORDER BY id",
        f"SELECT count(*) FROM {database.own('reject')}",
    ]
    *tables, position, ahead, runs, rejects = database.read(queries)
    rows_of = {name: sorted(rows, key=repr) for name, rows in zip(_ROWS, tables, strict=True)}
    commit, unit, units, rejected = position[0] if position else ("", "", 0, 0)
    early = {key for (text,) in ahead for key in re.findall("[0-9A-F]{44}", text)}
    applied = workload.applied(commit, unit, early) if position else set()
    wanted = workload.state(applied)
    edit(wanted)
    for name, rows in wanted.items():
        if rows_of[name] != sorted(rows, key=repr):
            extra = [row for row in rows_of[name] if row not in rows]
            missing = [row for row in rows if row not in rows_of[name]]
            raise Wrong(
                f"{name} after {len(applied)} units at {commit}: {extra[:3]} too much,"
                f" {missing[:3]} too few ({len(rows_of[name])} rows for {len(rows)})"
            )
    if not len(applied - workload.idle()) <= units <= len(applied):
        raise Wrong(f"the position counts {units} units; there are {len(applied)}")
    if rejected or rejects not in ([], [(0,)]):
        raise Wrong(f"{rejected} rejects in the position, {rejects} in the table; none were")
    if any(outcome == "done" and ended is None for outcome, ended in runs):
        raise Wrong("a run is done and has not ended")
    return Seen(applied, commit)


# -- faults
# -------------------------------------------------------------------------------------------------


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


# -- one seed
# -------------------------------------------------------------------------------------------------


class Soak:
    """One seed: its draws, and what it did."""

    def __init__(self, seed: int, databases: list[Callable[[Path], Database]]) -> None:
        self.seed, self.rng = seed, random.Random(seed)
        self.folder = Path(tempfile.mkdtemp(prefix="logreplay-soak-"))
        self.log = self.folder / "said.txt"
        self.workload = make_workload(self.rng, self.folder)
        self.database = self.rng.choice(databases)(self.folder)
        self.at = 0
        self.story: list[str] = [
            f"seed {seed}: {self.database.kind}, {len(self.workload.keys)} units"
        ]

    def run(self) -> None:
        """Make all moves. Raises Wrong and TimeoutError."""
        self.database.make()
        try:
            for _ in range(self.rng.randint(2, 4)):
                self._move(self._drawn())
            self._clean(Move(0, [], "none", 0))
            self._clean(Move(len(self.workload.keys), self._how(True), "none", 0))
        finally:
            self.database.quiet()
            self.database.drop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _drawn(self) -> Move:
        until = self.rng.randint(0, len(self.workload.keys))
        forward = until >= self.at and until > 0  # to before the first unit is a way back
        kinds = [fault for fault, known in FAULTS.items() if self.database.kind in known]
        fault = self.rng.choice(kinds)
        at = int(self.rng.expovariate(1 / 40)) + 1
        drawn = random.Random(self.rng.randrange(1 << 30))
        return Move(until, self._how(forward), fault, at, drawn)

    def _how(self, forward: bool) -> list[str]:
        how = []
        mode = self.rng.choice(["strict", "strict", "merged", "sessions"]) if forward else "strict"
        if mode == "merged" and self.database.merges:
            how += ["--mode", "merged", "--commit-statements", str(self.rng.choice([5, 20, 1000]))]
        elif mode == "sessions" and self.database.parallel:
            how += ["--sessions", str(self.rng.choice([2, 3]))]
            how += ["--commit-statements", str(self.rng.choice([1, 3, 10]))]
        else:
            how += ["--commit-every", str(self.rng.choice([1, 2, 7, 1000]))]
        return how

    def _move(self, move: Move) -> None:
        """One move with its fault, and again without."""
        self.story.append(
            f"  from {self.at} to {move.until} {' '.join(move.how)}: {move.fault}"
            + (f" at request {move.at}" if "killed" in move.fault or "full" in move.fault else "")
        )
        edit, back = self._before(move)
        began = time.monotonic()
        try:
            code = self._faulty(move)
        finally:
            self._after(move)
        self.story.append(f"    exit code {code}, {time.monotonic() - began:.1f} s")
        self.database.quiet()
        seen = check(self.database, self.workload, edit)
        self._check_code(move, code, seen)
        self.at = len(seen.applied)
        back()
        check(self.database, self.workload)
        self._clean(move)

    def _clean(self, move: Move) -> None:
        """A move without a fault: it must come to its end. Units ahead of the position must be
        reached first."""
        until = move.until
        code = ended(self._start(Move(until, move.how, "none", 0), self.database.url))
        if code == 8 and "ahead of its position" in self._said():
            whole = Move(len(self.workload.keys), [], "none", 0)
            self._expect(0, ended(self._start(whole, self.database.url)))
            check(self.database, self.workload)
            code = ended(self._start(Move(until, [], "none", 0), self.database.url))
        if code == 8 and "LR4009" in self._said():  # drawn for the other direction
            code = ended(self._start(Move(until, [], "none", 0), self.database.url))
        self._expect(0, code)
        self.database.quiet()
        seen = check(self.database, self.workload)
        if seen.applied != set(range(until)):
            raise Wrong(f"exit code 0, and the target has {sorted(seen.applied)} for {until} units")
        self.at = until

    def _start(self, move: Move, url: str) -> int:
        commit = self.workload.keys[move.until - 1][:20] if move.until else "0" * 20
        arguments = ["replay", *self.workload.options, "--to", url, "--apply", *move.how]
        arguments += ["--until-position", commit]
        self.log.write_text("")

        def action() -> int:
            arm(self.database, move)
            return logreplay(arguments)

        return forked(action, self.log)

    def _faulty(self, move: Move) -> int:
        beside_it = self.folder / "beside.txt"
        if move.fault.startswith("network"):
            with proxied(self.database, move, beside_it) as url:
                return ended(self._start(move, url))
        if move.fault in ("lock timeout", "deadlocks", "locked rows", "statement timeout"):
            with beside(lambda: locking(self.database, move.drawn), beside_it):
                return ended(self._start(move, self.database.url))
        if move.fault == "second replay":
            other = Move(move.drawn.randint(0, len(self.workload.keys)), [], "none", 0)
            first = self._start(move, self.database.url)
            time.sleep(move.drawn.uniform(0, 0.5))
            second = self._start(other, self.database.url)
            codes = {ended(first), ended(second)}
            if not codes <= {0, 8}:
                raise Wrong(f"two replays ended with {codes}: {self._said()}")
            return max(codes)
        return ended(self._start(move, self.database.url))

    def _before(self, move: Move) -> tuple[Callable[[State], None], Callable[[], None]]:
        """What is done to the database before a run: how that shows in the model, and what takes it
        back."""
        database, name = self.database, getattr(self.database, "name", "")
        if move.fault in ("lock timeout", "statement timeout"):
            setting = move.fault.replace(" ", "_")
            database.execute(f"ALTER DATABASE {name} SET {setting} = '20ms'")
        if move.fault == "ddl":
            database.execute("ALTER TABLE testown.child ADD COLUMN more integer")
        rows = self.workload.state(set(range(self.at)))["child"]
        if move.fault != "user changes a row" or not rows:
            return lambda _: None, lambda: None
        key, _, old = move.drawn.choice(rows)
        database.execute(f"UPDATE testown.child SET x = {STRANGE} WHERE id = {key}")

        def edit(state: State) -> None:
            state["child"] = [
                (row[0], row[1], STRANGE) if row[0] == key else row for row in state["child"]
            ]

        def back() -> None:
            database.execute(
                f"UPDATE testown.child SET x = {old} WHERE id = {key} AND x = {STRANGE}"
            )

        return edit, back

    def _after(self, move: Move) -> None:
        if move.fault in ("lock timeout", "statement timeout"):
            setting = move.fault.replace(" ", "_")
            name = getattr(self.database, "name", "")
            self.database.execute(f"ALTER DATABASE {name} RESET {setting}")
        if move.fault == "ddl":
            self.database.execute("ALTER TABLE testown.child DROP COLUMN more")

    def _check_code(self, move: Move, code: int, seen: Seen) -> None:
        said = self._said()
        if "Traceback" in said or "defect of logreplay" in said:
            raise Wrong(f"a defect came up: {said[-2000:]}")
        fine = {"none": {0}, "ddl": {0}, "network slow": {0}}.get(move.fault, {0, 8})
        if move.fault.startswith("client killed"):
            fine = {0, 8, -signal.SIGKILL}
        if code not in fine:
            raise Wrong(f"exit code {code}: {said[-2000:]}")
        reached = seen.applied == set(range(move.until))
        if code == 0 and not reached and move.fault != "second replay":
            raise Wrong(f"exit code 0 with {len(seen.applied)} units for {move.until}")

    def _expect(self, wanted: int, code: int) -> None:
        if code != wanted:
            raise Wrong(f"exit code {code} without a fault: {self._said()[-2000:]}")

    def _said(self) -> str:
        return self.log.read_text(errors="replace")


def rehearse() -> None:
    """A replay that is no seed's: what it imports, the forks need not import again and again."""
    for name in ("postgres", "mysql", "sqlite", "duckdb"):
        sqlglot.Dialect.get_or_raise(name)
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as hole:
        workload, database = make_workload(random.Random(0), Path(folder)), Sqlite(Path(folder))
        database.make()
        with contextlib.redirect_stdout(hole), contextlib.redirect_stderr(hole):
            code = logreplay(["replay", *workload.options, "--to", database.url, "--apply"])
    if code != 0:
        raise Wrong(f"the rehearsal ended with {code}")


def soak(seed: int, databases: list[Callable[[Path], Database]], loud: bool) -> bool:
    """Run one seed; whether all was as it should be."""
    began = time.monotonic()
    one = Soak(seed, databases)
    try:
        one.run()
    except (Wrong, TimeoutError) as error:
        print("\n".join(one.story))
        print(f"  WRONG: {error}")
        print(f"  again: scripts/run python scripts/soak.py --seed {seed}; kept: {one.folder}")
        return False
    finally:
        sys.stdout.flush()
    if loud:
        print("\n".join(one.story))
    print(f"seed {seed}: {one.database.kind}, as it should be ({time.monotonic() - began:.1f} s)")
    return True


def main() -> int:
    """Run the seeds that were asked for; 1 when one went wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seeds", type=int, metavar="N", help="run the seeds from --first on")
    which.add_argument("--seed", type=int, metavar="S", help="run one seed, and say what it did")
    parser.add_argument("--first", type=int, default=0, metavar="S", help="the first seed")
    what = "an EMPTY server (or a MySQL's URL), for seeds that draw one"
    parser.add_argument("--mariadb", metavar="URL", help=what)
    arguments = parser.parse_args()
    one = arguments.seed is not None
    first = arguments.seed if one else arguments.first
    seeds = range(first, first + (1 if one else arguments.seeds))
    wrong = []
    rehearse()
    with embedded.server() as server:
        numbers = itertools.count()
        databases: list[Callable[[Path], Database]] = [
            lambda _: Postgres(server, f"soak_{next(numbers)}"),
            lambda _: Postgres(server, f"soak_{next(numbers)}"),
            Sqlite,
            Duckdb,
        ]
        if arguments.mariadb:
            databases += [lambda _: Mariadb(arguments.mariadb)] * 2
        for seed in seeds:
            if not soak(seed, databases, one):
                wrong.append(seed)
            if len(wrong) == MOST_WRONG:
                print(f"stopped: {MOST_WRONG} seeds went wrong")
                break
    print(f"{len(seeds)} seeds, {len(wrong)} wrong{': ' if wrong else ''}{wrong or ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
