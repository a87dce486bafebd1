"""What the soak replays, and what a database should then hold: a random history as a log, and a
checker that compares rows, position, history and rejects with it. It shares no code with replay."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from soak_databases import Database, Row

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.history import TABLES, History, Maker
from tests.support.logbuilder import LogBuilder

State = dict[str, list[Row]]

_ROWS = {
    "parent": "SELECT id, code, a, b FROM testown.parent",
    "child": "SELECT id, pid, x FROM testown.child",
    "loose": "SELECT t, n FROM testown.loose",
}


@dataclass
class Workload:
    """A history, its log, and the commit position and unit (hexadecimal) of each of its units."""

    history: History
    options: list[str]
    keys: list[str]

    def applied(self, commit: str, unit: str) -> set[int]:
        """The units that are in a target which stands there."""
        return {n for n, key in enumerate(self.keys) if key <= commit + unit}

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
                assert step.after is not None
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
        f"SELECT outcome, ended_at FROM {database.own('run')} ORDER BY id",
        f"SELECT count(*) FROM {database.own('reject')}",
    ]
    *tables, position, runs, rejects = database.read(queries)
    rows_of = {name: sorted(rows, key=repr) for name, rows in zip(_ROWS, tables, strict=True)}
    commit, unit, units, rejected = position[0] if position else ("", "", 0, 0)
    applied = workload.applied(commit, unit) if position else set()
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
