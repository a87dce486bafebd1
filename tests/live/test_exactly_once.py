"""Exactly once, as one state machine: a target is replayed forward and back, in strict order or in
bulk, and interrupted at drawn points. After each step the rows are those that the log has at the
target's position, nothing is missing and nothing came twice.

The draws have fixed seeds. Nothing here waits for a time: what is interrupted, and where, is named
by a point of the replay (:mod:`tests.support.replayer`).
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from replay.live.position_store import Store
from replay.targets import Session, embedded, target_named, target_of
from tests.support.history import SCHEMA, History, Maker, Step
from tests.support.logbuilder import lrsn
from tests.support.replayed import START
from tests.support.servers import kinds, server_of

SEED = 20261128
#: Units of the log, and rows that each of them inserts into two tables beside its other changes:
#: in LOADED units enough for two loads in bulk.
UNITS, ROWS, LOADED = 48, 12, 25
COMMIT_EVERY = (1, 4, LOADED, 1000)
#: The points of a replay: what strikes in the first transaction at the latest, and what comes once
#: in each.
ONCE = ("told", "batch run", "rows copied")
IN_EACH = ("begun", "statements run", "position moved", "committed")
#: A commit of this server waits for a standby that never comes, where a session asks for that.
SETTINGS = {
    "synchronous_commit": "local",
    "synchronous_standby_names": "nobody",
    "wal_level": "replica",
    "max_wal_senders": "2",
}
#: Names of tables and columns in the target, of keys too, in one case.
MAPPING = """
[tables."TESTOWN.PARENT"]
name = "folk"
columns = { ID = "folk_id", CODE = "a", A = "code" }
[tables."TESTOWN.CHILD"]
name = "kid"
columns = { ID = "kid_id", PID = "id" }
"""
NAMES = {"parent": "folk", "child": "kid"}
RENAMINGS = (
    "ALTER TABLE testown.parent RENAME TO folk",
    "ALTER TABLE testown.folk RENAME COLUMN id TO folk_id",
    "ALTER TABLE testown.folk RENAME COLUMN a TO was_a",
    "ALTER TABLE testown.folk RENAME COLUMN code TO a",
    "ALTER TABLE testown.folk RENAME COLUMN was_a TO code",
    "ALTER TABLE testown.child RENAME TO kid",
    "ALTER TABLE testown.kid RENAME COLUMN id TO kid_id",
    "ALTER TABLE testown.kid RENAME COLUMN pid TO id",
)
WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


@dataclass(frozen=True)
class Blow:
    """An interruption: what happens (:mod:`tests.support.replayer`), at which point of a replay
    forward or back, which may be in bulk."""

    how: str
    point: str
    forward: bool
    bulk: bool = False

    @property
    def least(self) -> int:
        """So many units must be on the way."""
        return LOADED if self.bulk else 4


def both_ways(how: str, *points: str) -> list[Blow]:
    return [Blow(how, point, forward) for point in points for forward in (True, False)]


def blows_of(kind: str, chance: random.Random) -> list[Blow]:
    """All interruptions of a target, in a drawn order."""
    if kind == "postgres":
        connection = chance.choice(["begun", "position moved", "committed"])
        blows = [
            Blow("client", "told", True),
            *both_ways("client", "batch run", *IN_EACH),
            *both_ways("server", "statements run", "position moved"),
            *both_ways("connection", connection),
            *both_ways("answer", "position moved"),
            *both_ways("in flight", "position moved"),
        ]
        blows = [replace(blow, bulk=blow.forward and chance.random() < 0.4) for blow in blows]
        for point in ("rows copied", "rows copied", "position moved"):
            blows.append(Blow("client", point, True, bulk=True))
    else:
        blows = both_ways("client", "position moved")
        alone = kind in ("sqlite", "duckdb")  # no connection that could be lost
        blows += both_ways(*("client", "statements run") if alone else ("answer", "position moved"))
    chance.shuffle(blows)
    return blows


def history(rows: int) -> History:
    """Drawn changes of tables with keys, and in each unit ``rows`` that come into two of them, some
    of which change and go later."""
    made = Maker(SEED, UNITS).history

    def row(unit: int, number: int, a: int = 0) -> tuple[Any, ...]:
        return (1000 + unit * rows + number, None, a, unit)

    for unit, steps in enumerate(made.units):
        steps += [Step("PARENT", None, row(unit, number)) for number in range(rows)]
        children = ((row(unit, number)[0], None, unit) for number in range(rows))
        steps += [Step("CHILD", None, child) for child in children]
        if (old := unit - 5) >= 0:
            steps.append(Step("PARENT", row(old, 0), row(old, 0, 1)))
            steps.append(Step("PARENT", row(old, 1), None))
    return made


class Machine:
    """A target and the truth about it: ``at`` units of the log are in it."""

    def __init__(
        self,
        url: str,
        folder: Path,
        chance: random.Random,
        replayer: subprocess.Popen[str],
        mapped: bool,
    ) -> None:
        self.url, self.folder, self.chance, self.replayer = url, folder, chance, replayer
        self.at, self.names = 0, NAMES if mapped else {}
        with closing(self.session()) as session:
            self.bulk = session.merges
        self.history = history(ROWS if self.bulk else 2)
        sizes = [len(steps) for steps in self.history.units]
        self.statements = list(accumulate(sizes, initial=0))
        control, data = self.history.log(folder, seed=SEED)
        self.log = {"control": str(control), "data": str(data[0]), "scratch": str(folder)}
        if mapped:
            self.log["mapping"] = str(folder / "map.toml")
            (folder / "map.toml").write_text(MAPPING, encoding="utf-8")
        #: The positions at which 0, 1, … units are in the target.
        self.commits = [START] + [
            lrsn((1 << 24) + 16 * (1 + number + before)).hex().upper()
            for number, before in enumerate(self.statements[:-1])
        ]

    def session(self) -> Session:
        return target_of(self.url).connect(self.url)

    def go(self, to: int, blow: Blow | None = None) -> None:
        """Replay to where ``to`` units are in the target, and have a blow fall on the way."""
        distance = abs(to - self.at)
        bulk = blow.bulk if blow else self.bulk and to > self.at and self.chance.random() < 0.5
        every = self.chance.choice(COMMIT_EVERY[2:] if bulk else COMMIT_EVERY)
        times = 0
        if blow is not None:
            transactions = -(-distance // every)
            most = {"told": 1, "batch run": 1, "rows copied": 2}.get(blow.point, transactions)
            times = self.chance.randint(1, min(most, 5))
        sys.stdout.write(f"{self.at} to {to}, every {every}, bulk {bulk}, {blow}, time {times}\n")
        job: dict[str, Any] = {"url": self.url, **self.log, "until": self.commits[to]}
        job |= {"commit_every": every, "bulk": bulk}
        job |= {"point": None, "times": times}
        if blow is not None:
            job |= {"point": blow.point, "blow": blow.how}
        assert self.replayer.stdin is not None
        assert self.replayer.stdout is not None
        self.replayer.stdin.write(json.dumps(job) + "\n")
        self.replayer.stdin.flush()
        ended = int(self.replayer.stdout.readline())
        if blow is None or blow.how not in ("client", "in flight"):
            assert ended == 0
            self.at = to
        else:
            assert ended == -signal.SIGKILL
            if blow.how == "in flight":
                self.let_go()
            self.at = self.stopped(to, blow, every, times)
        self.check()

    def stopped(self, to: int, blow: Blow, every: int, times: int) -> int:
        """How many units are in the target when the client was killed on the way."""
        before = 0 if blow.point in ONCE else times - 1
        is_in = blow.point == "committed" or blow.how == "in flight"
        units = min(every * (before + is_in), abs(to - self.at))
        return self.at + (units if blow.forward else -units)

    def let_go(self) -> None:
        """Let a commit that waits for the standby end; come back when its session is gone."""
        with closing(self.session()) as session:
            ((number,),) = session.query(WAITING)
            session.execute(f"SELECT pg_terminate_backend({number})")
            while session.query(f"SELECT 1 FROM pg_stat_activity WHERE pid = {number}"):
                time.sleep(0.01)

    def check(self) -> None:
        """The rows and the position are those that the log has where the target is."""
        state = History(self.history.units[: self.at]).state()
        with closing(self.session()) as session:
            for name, rows in state.items():
                table = self.names.get(name, name)
                assert sorted(session.query(f"SELECT * FROM testown.{table}")) == rows, name
            store = Store(session)
            position = store.position()
            if position is None:
                assert self.at == 0
                return
            assert (position.units, position.statements, position.rejected) == (
                self.at,
                self.statements[self.at],
                0,
            )
            assert not self.at or position.position.commit.hexadecimal == self.commits[self.at]
            assert not store.pending()

    def strike(self, blow: Blow) -> None:
        """Replay with an interruption, from where there is room for it."""
        near, far = (0, UNITS - blow.least) if blow.forward else (blow.least, UNITS)
        if not near <= self.at <= far:
            self.go(self.chance.randint(near, far))
        if blow.forward:
            self.go(self.chance.randint(self.at + blow.least, UNITS), blow)
        else:
            self.go(self.chance.randint(0, self.at - blow.least), blow)


@pytest.fixture
def url(kind: str, mapped: bool, request: pytest.FixtureRequest) -> Iterator[str]:
    """A database with the empty tables of the log."""
    with ExitStack() as stack:
        if kind == "postgres":  # a server of its own: it is killed
            made = stack.enter_context(embedded.server(**SETTINGS))
        else:
            server = server_of(request, kind)
            made = stack.enter_context(target_named(kind).scratch(server))
        with closing(target_of(made).connect(made)) as session:
            session.make_schema("testown")
            for statement in SCHEMA.split(";")[1:]:
                if kind != "postgres":
                    statement = statement.replace(" REFERENCES testown.parent", "")
                if statement.strip():
                    session.execute(statement)
            for statement in RENAMINGS if mapped else ():
                if kind in ("mariadb", "mysql"):
                    statement = statement.replace("RENAME TO ", "RENAME TO testown.")
                session.execute(statement)
        yield made


@pytest.mark.live
@pytest.mark.parametrize(
    ("kind", "blows", "mapped"),
    [
        pytest.param(*kind.values, 4, False, marks=kind.marks)
        for kind in kinds("sqlite", "duckdb", "mariadb", each=True)
    ]
    + [("postgres", 24, False), ("postgres", 4, True)]
    + [
        pytest.param(*kind.values, 2, True, marks=[*kind.marks, pytest.mark.long])
        for kind in kinds("mariadb", "duckdb")
    ],
)
def test_every_change_comes_once(
    kind: str, blows: int, mapped: bool, url: str, replayer: subprocess.Popen[str], tmp_path: Path
) -> None:
    """``mapped``: into tables and columns with other names, when the client is killed."""
    sys.stdout.write(f"seed {SEED}\n")
    chance = random.Random(f"{SEED} {kind}")
    machine = Machine(url, tmp_path, chance, replayer, mapped)
    drawn = blows_of(kind, chance)
    if mapped:
        drawn = [blow for blow in drawn if blow.how == "client"][:blows]
    assert len(drawn) == blows
    assert {blow.forward for blow in drawn} == {True, False}
    for blow in drawn:
        machine.strike(blow)
    machine.go(0 if machine.at else UNITS)
    machine.go(UNITS if not machine.at else 0)
