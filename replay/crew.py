"""Several sessions that apply the units of a wave side by side, for ``replay --sessions N``.

A wave is some units that follow one another in commit order. Units that have to do with each other (:mod:`replay.graph`: the same row, the same
value of a unique key, a row and the one it refers to, a table that is emptied) stay together in commit order in one transaction; the others go
to whoever is free. Each transaction notes its units in the target beside the position (:meth:`replay.position.Store.note`), so that what was
committed is known wherever it stops; when a wave is done, the position moves over it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue

import numpy as np
import numpy.typing as npt

from replay.changes import ROW_CHANGES, Change
from replay.graph import links, touch_order
from replay.keys import Batch, Index, KeySpaces, Toucher
from replay.logs import LogFile
from replay.position import Store
from replay.steps import Script, Unit
from replay.targets import ConnectionLost, Session, Transient
from sqlgen.constraints import Constraints

#: Text sent at once.
BATCH_BYTES = 256 << 10


@dataclass(frozen=True)
class Job:
    """Units for one transaction, in commit order."""

    units: tuple[Unit, ...]

    @property
    def statements(self) -> int:
        """Number of statements."""
        return sum(unit.count for unit in self.units)


class Splitter:
    """Parts the units of a wave into jobs. ``constraints`` are the target's keys and foreign keys."""

    def __init__(self, log: LogFile, scripts: list[Script], constraints: Constraints, statements: int) -> None:
        self.log, self.scripts, self.statements = log, scripts, statements
        self.spaces = KeySpaces(log.catalog, constraints)
        self.keyless = np.array([not version.table.key for version in log.catalog.versions] or [False], bool)

    def jobs(self, units: Sequence[Unit]) -> list[Job]:
        """The jobs of a wave, the largest first; no unit of one has to do with a unit of another."""
        label = self._labels(units)
        groups: dict[int, list[Unit]] = {}
        for unit, number in zip(units, label.tolist(), strict=True):
            groups.setdefault(number, []).append(unit)
        found: list[list[Unit]] = [[]]
        count = 0
        for group in sorted(groups.values(), key=lambda group: -sum(unit.count for unit in group)):
            size = sum(unit.count for unit in group)
            if found[-1] and count + size > self.statements:
                found.append([])
                count = 0
            found[-1] += group
            count += size
        return [Job(tuple(sorted(job, key=lambda unit: unit.key))) for job in found if job]

    def _labels(self, units: Sequence[Unit]) -> Index:
        """A number for each unit, the same for those that hang together."""
        touches = np.concatenate([self._touches(number, units) for number in sorted({unit.script for unit in units})])
        sorted_: npt.NDArray[np.void] = touches[touch_order(touches)]
        unit = sorted_["change"]
        found = links(sorted_, np.zeros(len(self.spaces.spaces), bool))
        real = found.source >= 0
        pairs = np.stack([unit[found.source[real]], unit[found.target[real]]], axis=1)
        return _joined(len(units), np.concatenate([pairs, self._chains(units)]))

    def _touches(self, script: int, units: Sequence[Unit]) -> npt.NDArray[np.void]:
        """The touches of the units of a script; ``change`` is the number of the unit."""
        mine = [(number, unit) for number, unit in enumerate(units) if unit.script == script]
        steps = np.concatenate([np.arange(unit.start, unit.stop) for _, unit in mine])
        of_unit = np.concatenate([np.full(unit.count, number, np.int64) for number, unit in mine])
        rows = self.scripts[script].steps[steps]
        records, head = self.scripts[script].records_of(steps)
        version, change = np.ascontiguousarray(rows["version"]), np.ascontiguousarray(rows["change"])
        kept = np.flatnonzero(np.isin(change, ROW_CHANGES) & ~self.keyless[version])
        batch = Batch(records, head[kept], rows["weight"].astype(np.int64)[kept], change[kept], version[kept])
        toucher = Toucher(self.log, self.spaces)
        touches = np.array(toucher.touches(batch))
        if toucher.unreadable:
            raise Inseparable("keys that cannot be read")
        touches["change"] = of_unit[kept][touches["change"]]
        return touches

    def _chains(self, units: Sequence[Unit]) -> npt.NDArray[np.int64]:
        """Pairs of units that touch the same table where rows cannot be told apart: without a key, or emptied as a whole among them."""
        names = [version.name for version in self.log.catalog.versions]
        last: dict[str, int] = {}
        members: dict[str, list[int]] = {}
        eventful = set()
        for number, unit in enumerate(units):
            for version, change in self.scripts[unit.script].kinds(unit.start, unit.stop):
                if change == Change.STRUCTURE:
                    raise Inseparable("a table's structure changes among them")
                members.setdefault(names[version], []).append(number)
                if self.keyless[version] or change not in ROW_CHANGES:
                    eventful.add(names[version])
        pairs = []
        for name in eventful:
            for number in members[name]:
                if name in last:
                    pairs.append((last[name], number))
                last[name] = number
        return np.array(pairs, np.int64).reshape(-1, 2)


class Inseparable(Exception):
    """A wave that only one session can apply; the reason, in words."""


def _joined(count: int, pairs: npt.NDArray[np.int64]) -> Index:
    """The least number among those that hang together by pairs, for each of ``0 … count-1``."""
    label = np.arange(count, dtype=np.int64)
    one, other = pairs[:, 0], pairs[:, 1]
    while True:
        low = np.minimum(label[one], label[other])
        following = label.copy()
        for side in (one, other):
            np.minimum.at(following, label[side], low)
            np.minimum.at(following, side, low)
        following = following[following]
        if (following == label).all():
            return label
        label = following


class Crew:
    """``count`` sessions beside the one that holds the lock. ``run`` is the run's number, ``retried`` how often a transaction was tried again."""

    def __init__(
        self, connect: Callable[[], Session], scripts: list[Script], count: int, run: int, reached: Callable[[str], None], tries: int
    ) -> None:
        self.connect, self.scripts, self.run, self.reached, self.tries = connect, scripts, run, reached, tries
        self.retried = 0
        self.sessions: list[Session | None] = [None] * count
        self.ready: list[set[int]] = [set() for _ in range(count)]

    def apply(self, jobs: Sequence[Job], pending: frozenset[bytes]) -> tuple[list[Job], list[str]]:
        """Apply jobs; those that were committed, and why others were not. Raises ConnectionLost when a session broke, after all have come to rest."""
        queue: SimpleQueue[Job] = SimpleQueue()
        for job in jobs:
            queue.put(job)
        done: list[Job] = []
        reasons: list[str] = []
        with ThreadPoolExecutor(len(self.sessions)) as pool:
            futures = [pool.submit(self._work, number, queue, pending, done, reasons) for number in range(len(self.sessions))]
        lost = None
        for future in futures:
            error = future.exception()
            if isinstance(error, ConnectionLost):
                lost = error
            elif error is not None:
                raise error
        if lost is not None:
            raise lost
        return done, reasons

    def close(self) -> None:
        """End the sessions."""
        for number, session in enumerate(self.sessions):
            if session is not None:
                session.close()
            self.sessions[number], self.ready[number] = None, set()

    def _work(self, number: int, queue: SimpleQueue[Job], pending: frozenset[bytes], done: list[Job], reasons: list[str]) -> None:
        while True:
            try:
                job = queue.get_nowait()
            except Empty:
                return
            reason = None
            for _ in range(self.tries):
                try:
                    reason = self._transact(number, job, pending)
                except Transient as error:
                    reason = error.message
                    self.retried += 1
                    continue
                break
            if reason is None:
                done.append(job)
            else:
                reasons.append(reason)

    def _session(self, number: int, scripts: set[int]) -> Session:
        session = self.sessions[number]
        if session is None:
            session = self.sessions[number] = self.connect()
        if not scripts <= self.ready[number]:
            session.prepare({name: text for script in scripts for name, text in self.scripts[script].shapes.items()})
            self.ready[number] = scripts
        return session

    def _transact(self, number: int, job: Job, pending: frozenset[bytes]) -> str | None:
        """Apply a job in a transaction; why it could not be, None when it was committed."""
        session = self._session(number, {unit.script for unit in job.units})
        try:
            session.begin()
            self.reached("begun")
            reason = self._run(session, job)
            self.reached("statements run")
            if reason is None and (failure := session.settle()) is not None:
                reason = failure.message
            if reason is not None:
                session.rollback()
                return reason
            store = Store(session)
            store.arrived([unit.key[10:] for unit in job.units if unit.key[10:] in pending])
            store.note(self.run, [unit.key for unit in job.units], job.statements)
            self.reached("position moved")
            session.commit()
            self.reached("committed")
        except ConnectionLost:
            raise
        except BaseException:
            session.rollback()
            raise
        return None

    def _run(self, session: Session, job: Job) -> str | None:
        for text, counted in self._batches(job):
            outcome = session.run(text)
            self.reached("batch run")
            if outcome.failure is not None:
                return outcome.failure.message
            counts = np.array(outcome.counts, np.int64)
            if len(counts) != len(counted):
                return f"{len(counted)} statements were sent and {len(counts)} answered"
            wrong = np.flatnonzero((counts != 1) & counted)
            if len(wrong):
                return f"a statement touched {int(counts[wrong[0]]):,} rows; expected one"
        return None

    def _batches(self, job: Job) -> Iterator[tuple[bytes, npt.NDArray[np.bool_]]]:
        """Texts of about :data:`BATCH_BYTES`, and which of their statements must touch exactly one row."""
        texts: list[bytes] = []
        counted: list[npt.NDArray[np.bool_]] = []
        size = 0
        for unit in job.units:
            script = self.scripts[unit.script]
            for low, high in script.batches(unit.start, unit.stop, BATCH_BYTES):
                texts.append(script.slice(low, high))
                counted.append(script.counted(low, high))
                size += len(texts[-1])
                if size >= BATCH_BYTES:
                    yield b"\n".join(texts), np.concatenate(counted)
                    texts, counted, size = [], [], 0
        if texts:
            yield b"\n".join(texts), np.concatenate(counted)
