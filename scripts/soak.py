"""Replays random workloads into databases while things go wrong, and looks whether the databases
hold what they should.

    scripts/run python scripts/soak.py --seeds 20            seeds 0 to 19
    scripts/run python scripts/soak.py --seed 4711           one seed again, with what it did
    scripts/run python scripts/soak.py --seeds 500 --mariadb mariadb://root:pw@127.0.0.1:3306/

Each seed draws a workload, a target, and moves: a point of the log (forward or back), a mode, how
large transactions are, and a fault. After each move, whatever became of it, and again after the
same move without a fault, a checker reads the database with its own driver and compares rows,
position, history and rejects with a model of the workload. It shares no code with replay. Seeds are
repeatable but for what the clock decides (whose lock comes first).

Runs are forks of this process, so that they can be killed and need no start-up. The PostgreSQL is
an embedded one with ``fsync`` off: what is killed is a process, not the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import sqlglot
from soak_databases import Database, Duckdb, Mariadb, Postgres, Sqlite
from soak_faults import FAULTS, Move, arm, beside, ended, forked, locking, proxied
from soak_model import Seen, State, Wrong, check, make_workload

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import replay.cli.commands  # what runs import, so that forks need not
import replay.cli.live_commands  # noqa: F401
from replay.cli.main import main as logreplay
from replay.targets import embedded

#: Seeds that may go wrong before the rest is left.
MOST_WRONG = 5
#: What a person changes a value to; no workload has it.
STRANGE = 77


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
        mode = self.rng.choice(["strict", "strict", "bulk"]) if forward else "strict"
        if mode == "bulk" and self.database.merges:
            how += ["--mode", "bulk", "--commit-statements", str(self.rng.choice([5, 20, 1000]))]
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
        """A move without a fault: it must come to its end."""
        until = move.until
        code = ended(self._start(Move(until, move.how, "none", 0), self.database.url))
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
            if not codes <= {0, 8, 12}:
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
        lost = {12} if "LR4003" in said else set()
        fine = {"none": {0}, "ddl": {0}, "network slow": {0}}.get(move.fault, {0, 8} | lost)
        if move.fault.startswith("client killed"):
            fine = {0, 8, -signal.SIGKILL} | lost
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
