"""Several sessions that apply the units of a wave side by side, for ``replay --sessions N``.

A wave is some units that follow one another in commit order. Units that have to do with each other
(:mod:`replay.dependencies.graph`: the same row, the same value of a unique key, a row and the one
it refers to, a table that is emptied) stay together in commit order in one transaction; the others
go to whoever is free. Each transaction notes its units in the target beside the position
(:meth:`replay.live.position_store.Store.note`), so that what was committed is known wherever it
stops; when a wave is done, the position moves over it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.changes.envelope import ROW_CHANGES, Change, distinct
from replay.changes.position import UnitId
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.links import links, touch_order
from replay.dependencies.write_sets import ChangeBatch, WriteSets
from replay.live.position_store import Store
from replay.live.route import UnitGroup
from replay.live.strict import StrictOrder
from replay.live.transactions import BATCH_BYTES, BadStatement, shapes_of
from replay.live.units import UnitColumns
from replay.logs import LogFile
from replay.logs.unchanged import seen_unchanged
from replay.output.steps import Script, Scripts, ScriptUnit
from replay.targets import (
    Condition,
    ConnectionLost,
    Session,
    StatementFailure,
    Transient,
    undone_where_it_fails,
)
from sqlgen.constraints import Constraints

#: Statements of one unit that are shared out whatever the pace; beyond that, memory counts more
#: than speed.
LONGEST_UNIT = 200_000
#: Units that hang together are large where they take more than such a part of a share.
_SMALL = 16
#: Seconds after which sessions that are still at work are interrupted again.
_AGAIN = 0.5


@dataclass(frozen=True)
class Share:
    """Units for one transaction, in commit order."""

    units: tuple[ScriptUnit, ...]

    @property
    def statements(self) -> int:
        """Number of statements."""
        return sum(unit.count for unit in self.units)


class Partitioner:
    """Parts the units of a wave into shares. ``constraints`` are the target's keys and foreign
    keys."""

    def __init__(
        self, log: LogFile, scripts: Scripts, constraints: Constraints, statements: int
    ) -> None:
        self.log, self.scripts, self.statements = log, scripts, statements
        self.spaces = KeySpaces(log.catalog, constraints)
        self.keyless = np.array(
            [not version.table.key for version in log.catalog.versions] or [False], bool
        )

    def shares(self, units: Sequence[ScriptUnit]) -> list[Share]:
        """The shares of a wave, large ones first; no unit of one has to do with a unit of another.
        Neighbours stay together where nothing else is said: their statements are one text."""
        label = self._labels(units)
        groups: dict[int, list[ScriptUnit]] = {}
        for unit, number in zip(units, label.tolist(), strict=True):
            groups.setdefault(number, []).append(unit)
        shares: list[list[ScriptUnit]] = [[]]
        count = 0
        sizes = {number: sum(unit.count for unit in group) for number, group in groups.items()}
        # what takes a small part of a share comes in commit order
        for number in sorted(
            groups, key=lambda number: -(sizes[number] * _SMALL // self.statements)
        ):
            group, size = groups[number], sizes[number]
            if shares[-1] and count + size > self.statements:
                shares.append([])
                count = 0
            shares[-1] += group
            count += size
        return [Share(tuple(sorted(units, key=lambda unit: unit.key))) for units in shares if units]

    def _labels(self, units: Sequence[ScriptUnit]) -> Index:
        """A number for each unit, the same for those that hang together."""
        touches = np.concatenate(
            [self._touches(number, units) for number in sorted({unit.script for unit in units})]
        )
        sorted_: Records = touches[touch_order(touches)]
        unit = sorted_["change"]
        arrows = links(sorted_, np.zeros(len(self.spaces.spaces), bool), idle=False)
        real = arrows.source >= 0
        pairs = np.stack([unit[arrows.source[real]], unit[arrows.target[real]]], axis=1)
        return _joined(len(units), np.concatenate([pairs, self._chains(units)]))

    def _touches(self, script: int, units: Sequence[ScriptUnit]) -> Records:
        """The touches of the units of a script; ``change`` is the number of the unit."""
        steps, of_unit = self._steps(script, units)
        batch, step = self.scripts[script].changes_of(steps)
        kept = np.flatnonzero(np.isin(batch.change, ROW_CHANGES) & ~self.keyless[batch.version])
        batch = ChangeBatch(
            batch.records,
            batch.head[kept],
            batch.weight[kept],
            batch.change[kept],
            batch.version[kept],
        )
        write_sets = WriteSets(self.log, self.spaces)
        with seen_unchanged(self.log):
            touches = np.array(write_sets.touches(batch))
        if write_sets.unreadable:
            raise Inseparable("keys that cannot be read")
        touches["change"] = of_unit[step[kept]][touches["change"]]
        return touches

    def _chains(self, units: Sequence[ScriptUnit]) -> Index:
        """Pairs of units that touch the same table where rows cannot be told apart: without a key,
        emptied as a whole among them, or in another form."""
        number, version, change = self._kinds(units)
        if (change == Change.STRUCTURE).any():
            raise Inseparable("a table's structure changes among them")
        eventful = self.keyless[version] | ~np.isin(change, ROW_CHANGES)
        tables: dict[str, list[int]] = {}
        forms: dict[int, dict[int, list[int]]] = {}
        for index in distinct(version).tolist():
            tables.setdefault(self.log.catalog.versions[index].name, []).append(index)
            for space, form in self.spaces.forms[index]:
                forms.setdefault(space, {}).setdefault(form, []).append(index)
        seen = set(distinct(version[eventful]).tolist())
        chained = [indexes for indexes in tables.values() if not seen.isdisjoint(indexes)]
        chained += [
            [index for indexes in several.values() for index in indexes]
            for several in forms.values()
            if len(several) > 1
        ]
        pairs = [np.zeros((0, 2), np.int64)]
        for indexes in chained:
            members = distinct(number[np.isin(version, indexes)])
            pairs.append(np.stack([members[:-1], members[1:]], axis=1))
        return np.concatenate(pairs)

    def _kinds(self, units: Sequence[ScriptUnit]) -> tuple[Index, Index, Index]:
        """(unit, table version, kind of change) of all statements, each once."""
        count = len(self.log.catalog.versions)
        codes = [np.zeros(0, np.int64)]
        for script in sorted({unit.script for unit in units}):
            steps, of_unit = self._steps(script, units)
            rows = self.scripts[script].rows(steps)
            codes.append(np.unique((of_unit * count + rows["version"]) * 256 + rows["change"]))
        of_kind, change = np.divmod(np.concatenate(codes), 256)
        number, version = np.divmod(of_kind, count)
        return number, version, change

    def _steps(self, script: int, units: Sequence[ScriptUnit]) -> tuple[Index, Index]:
        """The steps of the units of a script, and the number of the unit of each."""
        mine = [(number, unit) for number, unit in enumerate(units) if unit.script == script]
        numbers, counts = zip(*((number, unit.count) for number, unit in mine), strict=True)
        return UnitColumns.of(unit for _, unit in mine).steps(), np.repeat(numbers, counts)


class Inseparable(Exception):
    """A wave that only one session can apply; the reason, in words."""


def _joined(count: int, pairs: Index) -> Index:
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


class SessionPool:
    """``count`` sessions beside the one that holds the lock. ``run`` is the run's number,
    ``retried`` how often a transaction was tried again."""

    def __init__(
        self,
        connect: Callable[[], Session],
        scripts: Scripts,
        count: int,
        run: int,
        reached: Callable[[str], None],
        tries: int,
    ) -> None:
        self.connect, self.scripts, self.run, self.reached, self.tries = (
            connect,
            scripts,
            run,
            reached,
            tries,
        )
        self.retried = 0
        self.stopped = Event()
        self.sessions: list[Session | None] = [None] * count
        self.ready: list[set[int]] = [set() for _ in range(count)]

    def apply(
        self, shares: Sequence[Share], pending: frozenset[UnitId]
    ) -> tuple[list[Share], list[BadStatement]]:
        """Apply shares; those that were committed, and why others were not. None is begun after
        somebody cancelled a statement. Raises ConnectionLost when a session broke, after all have
        come to rest."""
        queue: SimpleQueue[Share] = SimpleQueue()
        for share in shares:
            queue.put(share)
        done: list[Share] = []
        reasons: list[BadStatement] = []
        with ThreadPoolExecutor(len(self.sessions)) as pool:
            futures = [
                pool.submit(self._work, number, queue, pending, done, reasons)
                for number in range(len(self.sessions))
            ]
            try:
                wait(futures)
            except BaseException:
                self._interrupt(futures)
                raise
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

    def _interrupt(self, futures: Sequence[Future[None]]) -> None:
        """Somebody interrupts the run: end what the sessions are doing, and wait until they are at
        rest. One that was between two statements begins another, so they are told again."""
        self.stopped.set()
        running = True
        while running:
            for session in self.sessions:
                if session is not None:
                    session.interrupt()
            running = bool(wait(futures, _AGAIN).not_done)

    def close(self) -> None:
        """End the sessions."""
        for number, session in enumerate(self.sessions):
            if session is not None:
                session.close()
            self.sessions[number], self.ready[number] = None, set()

    def _work(
        self,
        number: int,
        queue: SimpleQueue[Share],
        pending: frozenset[UnitId],
        done: list[Share],
        reasons: list[BadStatement],
    ) -> None:
        while not any(bad.is_cancelled for bad in reasons):
            try:
                share = queue.get_nowait()
            except Empty:
                return
            reason = None
            for _ in range(self.tries):
                if self.stopped.is_set():
                    return
                try:
                    reason = self._transact(number, share, pending)
                except Transient as error:
                    reason = _bad("", error.message)
                    self.retried += 1
                    continue
                break
            if reason is None:
                done.append(share)
            else:
                reasons.append(reason)

    def _session(self, number: int, scripts: Mapping[int, Script]) -> Session:
        session = self.sessions[number]
        if session is None:
            session = self.sessions[number] = self.connect()
        if not scripts.keys() <= self.ready[number]:
            session.prepare(shapes_of(scripts))
            self.ready[number] = set(scripts)
        return session

    def _transact(
        self, number: int, share: Share, pending: frozenset[UnitId]
    ) -> BadStatement | None:
        """Apply a share in a transaction; why it could not be, None when it was committed."""
        # held on to, so that none is fetched while the transaction is open
        scripts = {unit.script: self.scripts[unit.script] for unit in share.units}
        session = self._session(number, scripts)
        with undone_where_it_fails(session):
            session.begin()
            self.reached("begun")
            reason = self._run(session, share)
            self.reached("statements run")
            if reason is None and (failure := session.settle()) is not None:
                reason = BadStatement(None, failure.condition, failure)
            if reason is not None:
                session.rollback()
                return reason
            store = Store(session)
            store.arrived([unit.key.unit for unit in share.units if unit.key.unit in pending])
            store.note(self.run, [unit.key for unit in share.units], share.statements)
            self.reached("position moved")
            session.commit()
            self.reached("committed")
        return None

    def _run(self, session: Session, share: Share) -> BadStatement | None:
        for text, counted in self._batches(share):
            result = session.run(text)
            self.reached("batch run")
            if result.failure is not None:
                return BadStatement(None, result.failure.condition, result.failure)
            counts = np.array(result.counts, np.int64)
            if len(counts) != len(counted):
                said = f"{len(counted)} statements were sent and {len(counts)} answered"
                return _bad("", said)
            wrong = np.flatnonzero((counts != 1) & counted)
            if len(wrong):
                said = f"a statement touched {int(counts[wrong[0]]):,} rows; expected one"
                return _bad("00000", said)
        return None

    def _batches(self, share: Share) -> Iterator[tuple[bytes, Mask]]:
        """Texts of about :data:`BATCH_BYTES`, and which of their statements must touch exactly one
        row."""
        texts: list[bytes] = []
        counted: list[Mask] = []
        size = 0
        for run in UnitColumns.of(share.units).runs():
            script = self.scripts[run.script]
            for low, high in script.batches(run.start, run.stop, BATCH_BYTES):
                texts.append(script.slice(low, high))
                counted.append(script.counted(low, high))
                size += len(texts[-1])
                if size >= BATCH_BYTES:
                    yield b"\n".join(texts), np.concatenate(counted)
                    texts, counted, size = [], [], 0
        if texts:
            yield b"\n".join(texts), np.concatenate(counted)


def _bad(sqlstate: str, said: str) -> BadStatement:
    return BadStatement(None, Condition.OTHER, StatementFailure(Condition.OTHER, sqlstate, said))


class ParallelSessions:
    """A strategy: shares the units of a wave out among the sessions of ``pool``, and applies in
    strict order (``strict``) what they could not."""

    def __init__(self, strict: StrictOrder, pool: SessionPool, partitioner: Partitioner) -> None:
        self.strict, self.pool, self.partitioner = strict, pool, partitioner
        self.transactions = strict.transactions
        self.pace = self.transactions.pace.wave()
        self.prepares_ahead = True

    def prepare(self, group: UnitGroup) -> Callable[[], None]:
        """Part the group into shares; what applies them."""
        try:
            longest = group.units.longest
            if longest > LONGEST_UNIT:
                raise Inseparable(f"a unit of {longest:,} statements among them")
            shares = self.partitioner.shares(tuple(group.units))
        except Inseparable as reason:
            self.transactions.committed.note_in_order(group, str(reason))
            return partial(self.strict.apply_in_order, group)
        return partial(self._apply, group, shares)

    def close(self) -> None:
        """End the sessions; they are made anew where they are needed again."""
        self.pool.close()

    def _apply(self, group: UnitGroup, shares: list[Share]) -> None:
        """Have the sessions apply a group; what they could not is applied in strict order, which
        says what is wrong with it."""
        transactions = self.transactions
        committed, before = transactions.committed, self.pool.retried
        done, reasons = self.pool.apply(shares, transactions.route.pending)
        committed.retried += self.pool.retried - before
        committed.units += sum(len(share.units) for share in done)
        committed.statements += sum(share.statements for share in done)
        applied = {unit.key for share in done for unit in share.units}
        left = UnitColumns.of(unit for unit in group.units if unit.key not in applied)
        if not left:
            transactions.skip_over(group.before, group.after)
            return
        rest = replace(group, units=left)
        for bad in reasons:
            self.strict.end_where_cancelled(rest, bad)
        first = reasons[0].failure
        assert first is not None
        committed.note_in_order(rest, first.message)
        self.strict.apply_in_order(rest)
