"""Carries the scripts of a plan out on a target, unit by unit, exactly once.

Each target transaction holds the statements of whole units of recovery and the move of the position row. What was committed is therefore what the
position says, wherever the client or the server is killed; after any interruption the position is read again and the work goes on behind it.
Every statement must touch exactly one row (but for those that empty a table). A transaction in which one does not is undone and taken again
unit by unit, so that all units before the bad one are applied and nothing of it is.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import tenacity

from replay.changes import unit_text
from replay.crew import Crew, Inseparable, Job, Splitter
from replay.errors import Refusal, TargetError
from replay.evidence import Evidence, EvidenceRoom, shown_statement
from replay.fold import Folded, Folder
from replay.position import LAST_UNIT, Position, Store
from replay.responses import OVERWRITE, RETRY, SKIP, STOP, Responses
from replay.steps import Script, Unit
from replay.targets import NO_ROW, OTHER, SEVERAL_ROWS, ConnectionLost, Failure, Outcome, Session, Transient
from sqlgen.merging import Load, Unmergeable

#: Text sent at once: large enough to make the round trip disappear, small enough for any memory.
BATCH_BYTES = 256 << 10
#: Under watch (another response than to stop is possible) a savepoint covers this much.
_CAREFUL_BYTES = 32 << 10

#: Statements of one unit that are folded or shared out whatever the pace; beyond that, memory counts more than speed.
_LONGEST_FOLD = 200_000
#: Transactions that each of several sessions gets from a wave.
_SHARES = 4

Key = bytes


def nothing(_: str) -> None:
    """Where nobody watches."""


@dataclass(frozen=True)
class Pace:
    """How much goes into a transaction, and how long to try again: ``units`` or ``statements``, whichever comes first; ``tries`` in all, with
    waits that begin at ``wait`` seconds and double up to ``longest``. ``merged``: in merged mode, statements folded together; 0 else.
    ``sessions``: how many apply a wave of units side by side."""

    units: int = 1000
    statements: int = 10_000
    tries: int = 8
    wait: float = 0.2
    longest: float = 30.0
    merged: int = 0
    sessions: int = 1

    def retrying(self, *errors: type[TargetError]) -> tenacity.Retrying:
        """Calls again, or goes round again, after these errors; raises the last one in the end."""
        return tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(errors),
            stop=tenacity.stop_after_attempt(self.tries),
            wait=tenacity.wait_exponential(multiplier=self.wait, max=self.longest) + tenacity.wait_random(0, self.wait),
            reraise=True,
        )

    def wave(self) -> Pace:
        """The pace of what several sessions share out among them."""
        return replace(self, units=self.units * self.sessions * _SHARES, statements=self.statements * self.sessions * _SHARES)

    def in_order(self) -> Pace:
        """The pace of one session in strict order."""
        return replace(self, merged=0, sessions=1)

    def full(self, units: int, statements: int, last: Unit, following: Unit) -> bool:
        """Whether a group of so much, which ends with ``last``, is full. What is folded together is of one script."""
        if self.merged:
            return statements + following.count > self.merged or following.script != last.script
        return units >= self.units or statements >= self.statements


@dataclass(frozen=True)
class Group:
    """Units that share a transaction, and the position before and after it."""

    units: tuple[Unit, ...]
    before: Key
    after: Key

    @property
    def statements(self) -> int:
        """Number of statements."""
        return sum(unit.count for unit in self.units)


@dataclass
class Ahead:
    """What lies on a journey: units, statements, and changes by (table version, kind)."""

    units: int = 0
    statements: int = 0
    changes: Counter[tuple[int, int]] = field(default_factory=Counter)


@dataclass
class Journey:
    """One way to go: forward, up to the unit ``last``, or backward down to the commit position ``floor``. ``position`` is where the target stands;
    ``pending`` are units that it lacks although they lie before the position, ``ahead_of`` are keys of units that it has although they lie after it
    (forward only); ``rejected`` are keys of units with rejects (backward only), which go alone."""

    forward: bool
    position: Key
    run: int
    floor: bytes | None = None
    last: Key | None = None
    pending: frozenset[bytes] = frozenset()
    rejected: frozenset[Key] = frozenset()
    ahead_of: frozenset[Key] = frozenset()

    def groups(self, scripts: list[Script], pace: Pace) -> Iterator[Group]:
        """The units that are still to be applied, in order, in groups."""
        return self._grouped(self._units(scripts), self.position, pace, None)

    def split(self, group: Group, pace: Pace) -> Iterator[Group]:
        """The units of a group in smaller ones."""
        return self._grouped(iter(group.units), group.before, pace, group.after)

    def _grouped(self, units: Iterator[Unit], at: Key, pace: Pace, end: Key | None) -> Iterator[Group]:
        """Units in groups, the first of which begins ``at`` and the last of which comes to ``end`` (None: to the last unit)."""
        held: list[Unit] = []
        count = 0
        following = next(units, None)
        while following is not None:
            held.append(following)
            count += following.count
            following = next(units, None)
            full = following is None or pace.full(len(held), count, held[-1], following)
            if full or held[-1].key in self.rejected or (following is not None and following.key in self.rejected):
                after = end if following is None and end is not None else self._after(held[-1], following, at)
                yield Group(tuple(held), at, after)
                held, count, at = [], 0, after

    def ahead(self, scripts: list[Script]) -> Ahead:
        """What is still to be applied."""
        found = Ahead()
        runs = runs_of(self._counted(scripts, found))
        for run in runs:
            found.changes.update(scripts[run.script].kinds(run.start, run.stop))
        return found

    def _counted(self, scripts: list[Script], found: Ahead) -> Iterator[Unit]:
        for unit in self._units(scripts):
            found.units += 1
            found.statements += unit.count
            yield unit

    def _units(self, scripts: list[Script]) -> Iterator[Unit]:
        for number, script in enumerate(scripts):
            for unit in script.units(number):
                late = unit.key[10:] in self.pending
                if self.forward and (unit.key > self.position or late) and (self.last is None or unit.key <= self.last):
                    yield from () if unit.key in self.ahead_of else (unit,)
                if not self.forward and unit.key <= self.position and not late and (self.floor is None or unit.key[:10] > self.floor):
                    yield unit

    def _after(self, last: Unit, following: Unit | None, before: Key) -> Key:
        if self.forward:
            return max(last.key, before)
        return following.key if following is not None else (self.floor or bytes(10)) + LAST_UNIT


def runs_of(units: Iterable[Unit]) -> Iterator[Unit]:
    """Units that follow one another without a gap, taken together (under the key of the first)."""
    run: Unit | None = None
    for unit in units:
        if run is not None and (run.script, run.stop) == (unit.script, unit.start):
            run = replace(run, stop=unit.stop)
            continue
        if run is not None:
            yield run
        run = unit
    if run is not None:
        yield run


@dataclass
class Progress:
    """What has been committed. In merged mode, ``folded`` statements became ``net`` row changes, and groups were applied ``in_order`` (key of the
    first unit -> why)."""

    units: int = 0
    statements: int = 0
    rejected: int = 0
    retried: int = 0
    folded: int = 0
    net: int = 0
    in_order: dict[Key, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Bad:
    """The statement that did not do what it should (None: the check at the end of the unit)."""

    step: int | None
    condition: str
    failure: Failure | None
    count: int = 0


class Applier:
    """Applies groups through a session. ``connect`` opens a session that holds the lock, ``session`` is the first one; ``reached`` hears of
    every point where a kill is interesting. With a ``folder`` groups are merged; a
    ``crew`` shares them out as a ``splitter`` parts them."""

    def __init__(
        self,
        connect: Callable[[], Session],
        scripts: list[Script],
        journey: Journey,
        room: EvidenceRoom,
        responses: Responses,
        pace: Pace,
        reached: Callable[[str], None] = nothing,
        session: Session | None = None,
        folder: Folder | None = None,
        crew: Crew | None = None,
        splitter: Splitter | None = None,
    ) -> None:
        self.connect, self.scripts, self.journey, self.room = connect, scripts, journey, room
        self.responses, self.pace, self.reached, self.folder = responses, pace, reached, folder
        self.crew, self.splitter = crew, splitter
        self.done = Progress()
        self._session = session
        self._base: Position | None = None
        self._ready: set[int] = set()

    def run(self, told: Callable[[int], None] = lambda _: None, last: Callable[[Session], None] = lambda _: None) -> Progress:
        """Apply everything; ``told`` hears the statements committed so far. ``last`` is done in the end, and again where the database interrupts it:
        after a lost connection, after what the server lost with it.

        Raises TargetError (LR4006) with the first change that does not fit, Refusal (LR4007) when somebody else moves the position, ConnectionLost
        or Transient when trying again did not help. What was committed before stays, and the position says so.
        """
        losses, seen = 0, -1
        while True:
            try:
                if self._base is None:
                    self._base = self.position()
                for group, prepared in self._groups():
                    if isinstance(prepared, list):
                        self._share(group, prepared)
                    elif prepared is None or self._tried(group, prepared) is not None:
                        self._settle_in_order(group)
                    told(self.done.statements)
                self._catch_up()
                self.pace.retrying(Transient)(last, self.session())
            except ConnectionLost:
                losses = losses + 1 if self.done.units == seen else 1
                seen = self.done.units
                if losses >= self.pace.tries:
                    raise
                self._resume()
            else:
                return self.done

    def session(self) -> Session:
        """The session in use, made where there is none."""
        if self._session is None:
            self._session = self.connect()
        return self._session

    def position(self) -> Position:
        """The position row of this run. Raises Refusal (LR4007) when it is gone or another run has begun since."""
        position = Store(self.session()).position()
        if position is None or position.run != self.journey.run:
            at = "is gone" if position is None else f"belongs to run {position.run}"
            raise Refusal("LR4007", f"the target's position {at}; expected that of run {self.journey.run}", hint="Run replay again")
        return position

    # -- once, and again ----------------------------------------------------------------------------------------------------------------

    def _resume(self) -> None:
        """After a lost connection: connect again and go on behind what the position says. That may lie before what was believed to be committed,
        where the server does not wait for its disk."""
        if self.crew is not None:
            self.crew.close()
        self._ready = set()
        self.done.retried += 1
        for attempt in self.pace.retrying(TargetError):
            with attempt:
                if self._session is not None:
                    self._session.close()
                self._session = None
                self._session = self.connect()
                Store(self._session).fence(self.journey.run)
                position = self.position()
                store = Store(self._session)
                pending, ahead_of = store.pending().keys() & self.journey.pending, store.ahead()
        self.journey = replace(self.journey, position=position.key, pending=frozenset(pending), ahead_of=ahead_of)
        base = self._base = self._base or position
        self.done.units = abs(position.units - base.units)
        self.done.statements = abs(position.statements - base.statements)
        self.done.rejected = position.rejected - base.rejected

    def _groups(self) -> Iterator[tuple[Group, Folded | list[Job] | None]]:
        """The groups still to be applied; those to be merged or shared out are made ready while the one before is applied."""
        if self.folder is None and self.crew is None:
            yield from ((group, None) for group in self.journey.groups(self.scripts, self.pace))
            return
        pace = self.pace if self.crew is None else self.pace.wave()
        with ThreadPoolExecutor(1) as pool:
            waiting: tuple[Group, Future[Folded | list[Job] | None]] | None = None
            for group in self.journey.groups(self.scripts, pace):
                following = group, pool.submit(self._prepared, group)
                if waiting is not None:
                    yield waiting[0], waiting[1].result()
                waiting = following
            if waiting is not None:
                yield waiting[0], waiting[1].result()

    def _prepared(self, group: Group) -> Folded | list[Job] | None:
        if self.folder is not None:
            return self._fold(self.folder, group)
        assert self.splitter is not None
        try:
            longest = max(unit.count for unit in group.units)
            if longest > _LONGEST_FOLD:
                raise Inseparable(f"a unit of {longest:,} statements among them")
            return self.splitter.jobs(group.units)
        except Inseparable as reason:
            self._note(group, str(reason))
            return None

    def _share(self, group: Group, jobs: list[Job]) -> None:
        """Have the crew apply a group; what they could not is applied in strict order, which says what is wrong with it."""
        assert self.crew is not None
        before = self.crew.retried
        done, reasons = self.crew.apply(jobs, self.journey.pending)
        self.done.retried += self.crew.retried - before
        self.done.units += sum(len(job.units) for job in done)
        self.done.statements += sum(job.statements for job in done)
        applied = {unit.key for job in done for unit in job.units}
        left = tuple(unit for unit in group.units if unit.key not in applied)
        if not left:
            self._pass(group.before, group.after)
            return
        rest = replace(group, units=left)
        self._note(rest, reasons[0])
        self._settle_in_order(rest)

    def _pass(self, before: Key, after: Key) -> None:
        """Move the position over units that are in the target."""
        for attempt in self.pace.retrying(Transient):
            with attempt:
                session = self.session()
                session.begin()
                try:
                    store = Store(session)
                    store.move(before, after, 0, 0, 0)
                    store.passed(after)
                    session.commit()
                except ConnectionLost:
                    raise
                except BaseException:
                    session.rollback()
                    raise

    def _catch_up(self) -> None:
        """Move the position over units that lie ahead of it, where nothing is left before them."""
        store = Store(self.session())
        ahead = store.ahead() if self.journey.forward else frozenset()
        position = store.position()
        if ahead and position is not None:
            self._pass(position.key, max(*ahead, position.key))

    def _fold(self, folder: Folder, group: Group) -> Folded | None:
        if group.statements > max(self.pace.merged, _LONGEST_FOLD):
            self._note(group, f"a unit of {group.statements:,} statements is too long to be folded")
            return None
        try:
            steps = np.concatenate([np.arange(run.start, run.stop) for run in runs_of(group.units)])
            return folder.fold(self.scripts[group.units[0].script], steps)
        except Unmergeable as reason:
            self._note(group, str(reason))
            return None

    def _note(self, group: Group, reason: str) -> None:
        """Remember that a group is applied in strict order, and why."""
        self.done.in_order[group.units[0].key] = reason

    def _settle_in_order(self, group: Group) -> None:
        """Apply a group in strict order."""
        if not self.pace.merged and self.crew is None:
            self._settle(group)
            return
        for part in self.journey.split(group, self.pace.in_order()):
            self._settle(part)

    def _settle(self, group: Group) -> None:
        """Apply a group, again after what passes by itself, unit by unit after what does not."""
        bad = self._tried(group)
        if bad is None:
            return
        if len(group.units) > 1:
            for single in self.journey.split(group, replace(self.pace.in_order(), units=1)):
                self._settle(single)
            return
        self._stop(group.units[0], bad)

    def _tried(self, group: Group, folded: Folded | None = None) -> _Bad | None:
        try:
            return self._once(group, folded)
        except Transient:
            self.done.retried += 1
        return self.pace.retrying(Transient)(self._once, group, folded)

    def _once(self, group: Group, folded: Folded | None) -> _Bad | None:
        session = self.session()
        try:
            bad, rejected = self._transact(session, group, folded)
        except ConnectionLost:
            raise
        except BaseException:
            session.rollback()
            raise
        if bad is None:
            self.done.units += len(group.units)
            self.done.statements += group.statements
            self.done.rejected += rejected
            if folded is not None:
                self.done.folded += group.statements - len(folded.loose)
                self.done.net += folded.net
        elif folded is not None:
            assert bad.failure is not None
            self._note(group, bad.failure.message)
        return bad

    # -- one transaction ------------------------------------------------------------------------------------------------------------------

    def _transact(self, session: Session, group: Group, folded: Folded | None) -> tuple[_Bad | None, int]:
        """Run a group and move the position; or, where a statement is bad, undo it all and say which (in single units: after the responses)."""
        store, single = Store(session), len(group.units) == 1
        scripts = {unit.script for unit in group.units}
        if not scripts <= self._ready and (folded is None or len(folded.loose)):
            session.prepare({name: text for number in scripts for name, text in self.scripts[number].shapes.items()})
            self._ready = scripts
        watched = single and (self.responses.careful or (not self.journey.forward and group.units[0].key in self.journey.rejected))
        session.begin()
        self.reached("begun")
        rejected = 0
        if folded is not None:
            bad = self._merge(session, group, folded)
        elif watched:
            bad, rejected = _Watch(self, session, store, group.units[0]).run()
        else:
            bad = next((bad for run in runs_of(group.units) if (bad := self._run(session, run)) is not None), None)
        self.reached("statements run")
        if bad is not None:
            session.rollback()
            return bad, 0
        failure = session.settle()
        if failure is not None:
            session.rollback()
            return _Bad(None, failure.condition, failure), 0
        self._move(store, group, rejected)
        self.reached("position moved")
        session.commit()
        self.reached("committed")
        return None, rejected

    def _merge(self, session: Session, group: Group, folded: Folded) -> _Bad | None:
        """Bring the net changes in, and run the loose statements between them."""
        number = group.units[0].script
        for load in folded.before:
            if (bad := self._load(session, load)) is not None:
                return bad
        ends = np.flatnonzero(np.diff(folded.loose, append=-1) != 1)
        starts = np.concatenate([[0], ends[:-1] + 1])
        for start, stop in zip(folded.loose[starts].tolist(), folded.loose[ends].tolist(), strict=True) if len(folded.loose) else ():
            bad = self._run(session, Unit(number, group.units[0].key, start, stop + 1))
            if bad is not None:
                what = bad.failure.message if bad.failure else f"a statement touched {bad.count:,} rows"
                return _Bad(None, bad.condition, bad.failure or Failure(bad.condition, "", what))
        return next((bad for load in folded.after if (bad := self._load(session, load)) is not None), None)

    def _load(self, session: Session, load: Load) -> _Bad | None:
        """Bring the rows of one load in; why that failed, or that it touched more or fewer rows than there are."""
        outcome = session.run(f"{load.make};".encode()) if load.make else Outcome([])
        if outcome.failure is None:
            outcome = session.copy(load.copy, load.text)
            self.reached("rows copied")
        for statement in load.merge:
            if outcome.failure is None:
                outcome = session.run(f"{statement};".encode())
        if outcome.failure is not None:
            return _Bad(None, outcome.failure.condition, outcome.failure)
        count = outcome.counts[0]
        if count == load.count:
            return None
        condition = NO_ROW if count < load.count else SEVERAL_ROWS
        what = f"the {load.op.value}s in {load.table.schema}.{load.table.name} touched {count:,} rows; expected {load.count:,}"
        return _Bad(None, condition, Failure(condition, "", what))

    def _run(self, session: Session, run: Unit) -> _Bad | None:
        script = self.scripts[run.script]
        for low, high in script.batches(run.start, run.stop, BATCH_BYTES):
            bad = verdict(script, low, high, session.run(script.slice(low, high)))
            self.reached("batch run")
            if bad is not None:
                return bad
        return None

    def _move(self, store: Store, group: Group, rejected: int) -> None:
        late = [unit.key[10:] for unit in group.units if unit.key[10:] in self.journey.pending]
        if self.journey.forward:
            store.arrived(late)
            store.move(group.before, group.after, len(group.units), group.statements, rejected)
            if self.crew is not None or self.journey.ahead_of:
                store.passed(group.after)
            return
        forgotten = sum(store.forget_rejects(unit.key) for unit in group.units if unit.key in self.journey.rejected)
        store.move(group.before, group.after, -len(group.units), -group.statements, rejected - forgotten)

    # -- the end ------------------------------------------------------------------------------------------------------------------------

    def _stop(self, unit: Unit, bad: _Bad) -> None:
        """Raise TargetError (LR4006) with everything that is known about a bad statement."""
        script = self.scripts[unit.script]
        head = f"unit {unit_text(unit.key[10:])}, commit LRSN {unit.key[:10].hex().upper()}"
        hint = "Nothing of this unit was applied. Find out who changed the row, or say what to do with --on; then run replay again, it goes on here"
        if bad.step is None:
            assert bad.failure is not None
            found = f"the check at the end of the unit failed: {bad.failure}"
            raise TargetError("LR4006", f"{head}: {bad.condition}: {found}", hint=hint)
        evidence = self.room.of(script, bad.step)
        place = f"statement {bad.step - unit.start + 1} of {unit.count}"
        lines = [f"{head}, {place}: {bad.condition}: {explained(evidence, bad)}", f"  statement: {shown_statement(evidence.statement)}"]
        lines += [f"  {side} image: {image}" for side, image in evidence.images().items() if image is not None]
        rows = self.room.found(self.session(), evidence)
        lines += (
            [f"  in the target: {row}" for row in rows] or ["  in the target: no row with this key"] if evidence.rows is not None else []
        )
        raise TargetError("LR4006", "\n".join(lines), evidence.where, hint)


def verdict(script: Script, low: int, high: int, outcome: Outcome) -> _Bad | None:
    """The first of the statements ``low:high`` that failed or did not touch exactly one row."""
    counts = np.array(outcome.counts, np.int64)
    done = low + len(counts)
    if done > high or (outcome.failure is None and done != high):
        raise TargetError("LR4001", f"{high - low} statements were sent and {len(counts)} answered", hint="This is a defect; report it")
    wrong = np.flatnonzero((counts != 1) & script.counted(low, done))
    if len(wrong):
        count = int(counts[wrong[0]])
        return _Bad(low + int(wrong[0]), NO_ROW if count == 0 else SEVERAL_ROWS, None, count)
    return None if outcome.failure is None else _Bad(done, outcome.failure.condition, outcome.failure)


def explained(evidence: Evidence, bad: _Bad) -> str:
    """What happened, in words."""
    if bad.failure is not None:
        return f"the {evidence.op.value} in {evidence.table} failed: {bad.failure}"
    return f"the {evidence.op.value} in {evidence.table} touched {bad.count:,} rows; expected exactly one (SQLSTATE 00000)"


class _Watch:
    """Runs one unit under savepoints, so that a bad statement can be answered and the unit go on."""

    def __init__(self, applier: Applier, session: Session, store: Store, unit: Unit) -> None:
        self.applier, self.session, self.store, self.unit = applier, session, store, unit
        self.script = applier.scripts[unit.script]
        self.rejected = 0
        forward = applier.journey.forward
        entries = [] if forward or unit.key not in applier.journey.rejected else store.rejects_of(unit.key)
        self.known = {tuple(entry["identity"]): entry["response"] for entry in entries}

    def run(self) -> tuple[_Bad | None, int]:
        """The bad statement that ends the unit, if any, and the number of rejects."""
        for low, high in self.script.batches(self.unit.start, self.unit.stop, _CAREFUL_BYTES):
            if self.known:
                bad = next((bad for step in range(low, high) if (bad := self._one(step)) is not None), None)
            else:
                self.session.savepoint()
                bad = verdict(self.script, low, high, self.session.run(self.script.slice(low, high)))
                if bad is not None:
                    self.session.back_to_savepoint()
                    bad = next((bad for step in range(low, high) if (bad := self._one(step)) is not None), None)
            if bad is not None:
                return bad, self.rejected
        return None, self.rejected

    def _one(self, step: int) -> _Bad | None:
        """Run one statement and answer what comes of it."""
        if self.known:
            earlier = self.known.get(self.applier.room.of(self.script, step).identity())
            if earlier == SKIP:
                return None
            if earlier == OVERWRITE:
                text = (
                    "this change overwrote a row that was not the log's; the row it found is in the rejects, and undo cannot bring it back"
                )
                return _Bad(step, OTHER, Failure(OTHER, "", text))
        pace, waited = self.applier.pace, 0.0
        for attempt in range(pace.tries):
            self.session.savepoint()
            bad = verdict(self.script, step, step + 1, self.session.run(self.script.slice(step, step + 1)))
            if bad is None:
                return None
            self.session.back_to_savepoint()
            response = self.applier.responses.to(self.applier.room.op(self.script, step), bad.condition)
            if response != RETRY or attempt + 1 == pace.tries:
                break
            waited = min(pace.longest, waited * 2 or pace.wait)
            time.sleep(waited)
        assert bad is not None
        return bad if response in (STOP, RETRY) else self._answer(step, bad, response)

    def _answer(self, step: int, bad: _Bad, response: str) -> _Bad | None:
        evidence = self.applier.room.of(self.script, step)
        found = self.applier.room.found(self.session, evidence)
        if response == OVERWRITE and not self._overwrite(evidence):
            return bad
        entry: dict[str, Any] = {
            "unit": unit_text(self.unit.key[10:]),
            "commit_lrsn": self.unit.key[:10].hex().upper(),
            "direction": "forward" if self.applier.journey.forward else "backward",
            "table": evidence.table,
            "operation": evidence.op.value,
            "condition": bad.condition,
            "response": response,
            "sqlstate": bad.failure.sqlstate if bad.failure else "00000",
            "reason": explained(evidence, bad),
            "place": str(evidence.where),
            "statement": evidence.statement,
            **evidence.images(),
            "found": found,
            "identity": list(evidence.identity()),
        }
        self.rejected += 1
        self.store.reject(self.unit.key, step - self.unit.start, self.applier.journey.run, entry)
        return None

    def _overwrite(self, evidence: Evidence) -> bool:
        """Put the log's row in place; whether that worked."""
        texts = self.applier.room.overwrite(evidence)
        for text in texts:
            self.session.savepoint()
            outcome = self.session.run(text.encode())
            if outcome.failure is not None:
                self.session.back_to_savepoint()
                return False
            if outcome.counts[0] >= 1:
                return True
        return bool(texts) and evidence.op.value == "delete"


def rejected_keys(entries: Iterable[dict[str, Any]]) -> frozenset[Key]:
    """Keys of the units that reject entries belong to."""
    found = set()
    for entry in entries:
        urid, _, member = entry["unit"].partition("/")
        found.add(bytes.fromhex(entry["commit_lrsn"] + urid) + int(member).to_bytes(2, "big"))
    return frozenset(found)
