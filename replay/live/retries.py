"""Trying again what a replay skipped (``--on …=skip``): its rejects, where they fit now.

A change is applied and its entry removed in one transaction, so each is applied exactly once. One
that still does not fit stays among the rejects, with what it met this time. A change is left alone
where later work on its row is in the target: to apply it now would put an older value in the place
of a newer one. Such work is asked of the log, by column.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from replay.arrays import Mask
from replay.changes.balance import Tally
from replay.changes.position import UnitId, UnitPosition, unit_of
from replay.dependencies.analysis import DependencyAnalysis, Subgraph
from replay.dependencies.baseline import StateBefore
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.links import (
    Link,
)
from replay.dependencies.passes import StartUnits
from replay.dependencies.proof import AppliedUnits
from replay.errors import EXIT_OK, EXIT_WARNING, LogReplayError, Refusal, TargetError, UsageError
from replay.leftovers import WorkFolder
from replay.live.diagnosis import Diagnoser
from replay.live.error_policy import ErrorPolicy, Response
from replay.live.messages import LINES, moved_lines
from replay.live.position_store import Reject, RunNotes, Store, TargetPosition, outcome_of
from replay.live.preflight import (
    check_identity,
    identity_of,
    limits_of,
    problems_of,
    refuse_altered,
    refuse_problems,
    table_facts,
)
from replay.live.replay import plan_of_route
from replay.live.replay_request import ReplayInput, ReplayRequest
from replay.live.replay_run import Progress, target_tables
from replay.live.rights import missing_rights, refuse_read_only
from replay.live.route import Destination, Route, UnitGroup
from replay.live.strict import StrictOrder, WatchedUnit
from replay.live.target_state import TargetState
from replay.live.transactions import BadStatement, Transactions
from replay.live.units import UnitColumns
from replay.output.bundle import raise_for
from replay.output.carry_out import carry_out
from replay.output.steps import Scripts, ScriptUnit
from replay.output.stored_scripts import exchange_of, scripts_in
from replay.pipeline.input_digests import Digests
from replay.pipeline.plan import Plan
from replay.public import public
from replay.targets import Condition, ConnectionLost, Session, target_of, undone_where_it_fails
from replay.targets.hazards import HazardKind
from replay.version import __version__
from sqlgen.rows import Op

#: Links over which a change of a row reaches a later one.
_OF_A_ROW = (Link.ROW, Link.KEY, Link.TABLE)


class RetriedUnits(Transactions):
    """Transactions of units that are in the target already: what is counted there are rejects."""

    #: How many rejects the unit of this transaction had that are tried.
    tried = 0

    def _move(self, store: Store, group: UnitGroup, rejected: int) -> None:
        store.move(group.before, group.after, 0, 0, rejected - self.tried)


@dataclass
class _Found:
    """What becomes of the rejects of a target: those to be tried by unit, in order; of the others
    how many there are ``elsewhere`` (not in this log, or from a way back), were overwritten, and
    those that are left alone with the unit that wrote to the row later."""

    wanted: dict[UnitPosition, list[Reject]]
    held: list[tuple[Reject, UnitId]]
    overwritten: int = 0
    elsewhere: int = 0
    backward: int = 0

    @property
    def count(self) -> int:
        """How many are to be tried."""
        return sum(map(len, self.wanted.values()))


class Retries:
    """The rejects of a target, planned and tried. A context manager: until its end it holds a
    session and a temporary folder."""

    def __init__(self, source: ReplayInput, request: ReplayRequest) -> None:
        refuse_destination(request)
        self.source, self.request = source, request
        self.target = target_of(request.url)
        self._digests = Digests(source.log)
        self._resources = ExitStack()
        self._resources.callback(self._digests.abandon)
        self.session = request.connect(self.target)
        self._resources.callback(self.session.close)
        self.lines: list[str] = []
        self.problems: list[str] = []
        self.found = _Found({}, [])
        self.left = 0

    def __enter__(self) -> Retries:
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    # -- the plan
    # ---------------------------------------------------------------------------------------------

    def make(self, split_bytes: int) -> bool:
        """Find out what can be tried; whether there is anything."""
        log, selection, options = self.source.log, self.source.selection, self.source.options
        refuse_read_only(self.session)
        store = Store(self.session)
        stored = store.position()
        identity = identity_of(selection, options)
        check_identity(stored, log.source, identity, self.session)
        entries = store.all_rejects() if stored is not None else []
        if stored is None or not entries:
            self.lines.append("Nothing to do: the target has no change that was not applied")
            return False
        if not self.session.savepoints:
            raise Refusal(
                "LR4009",
                f"found --retry-rejects for a target of kind {self.session.dialect}, which has no"
                " savepoints; expected one that has",
            )
        self.stored, self.identity = stored, identity
        self.left = skipped_in(entries)
        self.facts = table_facts(self.session, log, selection, options)
        self.plan, self.tally, self.scripts = self._statements(stored, entries, split_bytes)
        self.diagnoser = Diagnoser(self.plan, log)
        self._settle(store, entries)
        if self.found.count:
            self.problems = problems_of(
                self.plan,
                log,
                self.tally,
                self.facts,
                self.session,
                options,
                self.request.enforced,
                self.request.accepted,
            )
            self.problems += missing_rights(self.session, self.plan, log, self.tally)
        self.lines += self._planned(len(entries), len({entry.position for entry in entries}))
        return bool(self.found.count)

    def _statements(
        self, stored: TargetPosition, entries: Iterable[Reject], split_bytes: int
    ) -> tuple[Plan, Tally, Scripts]:
        """The statements of the units with rejects, as the replay made them."""
        log, selection, options = self.source.log, self.source.selection, self.source.options
        units = sorted({entry.position.unit for entry in entries})
        chosen = replace(selection, units=tuple((unit.urid, unit.member) for unit in units))
        route = Route(True, stored.position, stored.position.commit, pending=frozenset(units))
        plan = replace(
            plan_of_route(
                replace(self.source, selection=chosen), options, route, self.facts, split_bytes
            ),
            constraints=self.source.constraints,
        )
        if HazardKind.TYPE not in self.request.accepted:
            plan = replace(plan, limits=limits_of(log, self.facts, plan.options))
        folder = Path(self._resources.enter_context(WorkFolder()))
        name = public(self.request.url)
        state = StateBefore(TargetState(self.session, name, options), AppliedUnits(every=True))
        stored_at = exchange_of(self.source.engine, self._resources)
        outcome = carry_out(plan, log, self.source.engine, folder, state, stored_at)
        if outcome.tally.read:  # else none of the units is in this log
            raise_for(outcome.plan, outcome.tally)
        return outcome.plan, outcome.tally, scripts_in(folder, stored_at, self._resources)

    def _settle(self, store: Store, entries: list[Reject]) -> None:
        """Decide what becomes of each entry."""
        found = self.found
        self.units = {
            unit.key: unit for number, script in enumerate(self.scripts.outlines())
            for unit in script.units(number)
        }  # fmt: skip
        skipped: list[Reject] = []
        for entry in entries:
            if entry.content["direction"] != "forward":
                found.backward += 1
            elif entry.content["response"] != Response.SKIP:
                found.overwritten += 1
            elif self._in_log(entry):
                skipped.append(entry)
            else:
                found.elsewhere += 1
        held = self._held(store, skipped)
        for entry in skipped:
            if (later := held.get((entry.position, entry.step))) is None:
                found.wanted.setdefault(entry.position, []).append(entry)
            else:
                found.held.append((entry, later))

    def _in_log(self, entry: Reject) -> bool:
        """Whether a script has the very change of an entry in its place."""
        unit = self.units.get(entry.position)
        if unit is None or entry.step >= unit.count:
            return False
        diagnosis = self.diagnoser.diagnose(self.scripts[unit.script], unit.start + entry.step)
        return bool(list(diagnosis.identity()) == entry.content["identity"])

    def _held(
        self, store: Store, skipped: list[Reject]
    ) -> Mapping[tuple[UnitPosition, int], UnitId]:
        """The entries on whose rows later work is in the target, and whose that is."""
        if not skipped:
            return {}
        log, render = self.source.log, self.plan.options.render
        spaces = KeySpaces(log.catalog, self.source.constraints)
        engine = self.source.engine
        analysis = DependencyAnalysis(engine.execute, log, self.plan.splits, spaces)
        units = frozenset(entry.position.unit for entry in skipped)
        some = bool(render.columns or render.exclude_columns)
        subgraph = analysis.reached(
            analysis.survey(StartUnits(units=units)),
            by_column=True,
            written=render if some else None,
        )
        heads = subgraph.batch.records[subgraph.batch.head]
        places = {
            spot: change
            for change, spot in enumerate(
                zip(heads["file"].tolist(), heads["offset"].tolist(), strict=True)
            )
        }
        change_of: dict[tuple[UnitPosition, int], int] = {}
        for entry in skipped:
            unit = self.units[entry.position]
            first = self.scripts[unit.script].records(unit.start + entry.step)[0]
            spot = int(first["file"]), int(first["offset"])
            change_of[entry.position, entry.step] = places[spot]
        rejected = np.zeros(len(heads), bool)
        rejected[list(change_of.values())] = True
        after = self._covered(store, subgraph, heads, rejected)
        return {
            key: unit_of(heads[after[change]])
            for key, change in change_of.items()
            if after[change] >= 0
        }

    def _covered(
        self, store: Store, subgraph: Subgraph, heads: np.ndarray[Any, Any], rejected: Mask
    ) -> np.ndarray[Any, np.dtype[np.int64]]:
        """For each rejected change a later one of its row that is in the target, or is itself held
        by one that is; -1 for none."""
        there = np.array(
            [
                self._applied(subgraph, unit_of(head), pending)
                for pending in [frozenset(store.pending())]
                for head in heads
            ],
            bool,
        )
        links = subgraph.links[np.isin(subgraph.links["kind"], _OF_A_ROW)]
        source = np.ascontiguousarray(links["source"]).astype(np.int64)
        target = np.ascontiguousarray(links["target"]).astype(np.int64)
        later = np.full(len(heads), -1, np.int64)
        while True:
            covering = (there & ~rejected) | (rejected & (later >= 0))
            rows = np.flatnonzero(rejected[source] & (later[source] < 0) & covering[target])
            if not len(rows):
                return later
            later[source[rows]] = target[rows]

    def _applied(
        self,
        subgraph: Subgraph,
        unit: UnitId,
        pending: frozenset[UnitId],
    ) -> bool:
        """Whether a unit is in the target."""
        position = UnitPosition(bytes(subgraph.graph.commit(unit)) + bytes(unit))
        return position <= self.stored.position and unit not in pending

    def _planned(self, count: int, units: int) -> Iterator[str]:
        """The plan in words."""
        found, url = self.found, public(self.request.url)
        yield f"Rejects of {self.source.log.source} in {url}"
        yield f"{count:,} changes of {units:,} units were not applied as the log says"
        yield f"  {found.count:,} of them are to be tried again"
        if found.held:
            yield f"  {len(found.held):,} of them stay: a later change of the row is in the target"
        if found.overwritten:
            yield f"  {found.overwritten:,} of them overwrote a row: the log's row is there"
        if found.elsewhere:
            yield f"  {found.elsewhere:,} of them are of units that this log does not have"
        if found.backward:
            yield f"  {found.backward:,} of them were skipped on a way back, and stay"
        for entry, later in found.held[:LINES]:
            yield (
                f"stays: unit {entry.position.unit}, {_words(entry)}: a later change of the row is"
                f" in the target, of unit {later}"
            )
        wanted = [entry for entries in found.wanted.values() for entry in entries]
        for entry in wanted[:LINES]:
            yield (
                f"to be tried: unit {entry.position.unit}, {_words(entry)} (was"
                f" {entry.content['condition']})"
            )
        for listed in (found.held, wanted):
            if len(listed) > LINES:
                yield f"… {len(listed) - LINES:,} more"
        for problem in self.problems:
            yield f"refused: {problem}"

    # -- carrying it out
    # ---------------------------------------------------------------------------------------------

    def apply(self, progress: Progress) -> tuple[list[str], int]:
        """Try what can be tried; what came of it in words, and how many changes a user must look
        at: those that are not in the target, and rows that were overwritten. Raises TargetError
        (LR4006) where a response is to stop."""
        refuse_problems(self.tally, self.problems)
        run = self._begin()
        transactions = RetriedUnits(
            lambda: self.request.connect_locked(self.target),
            self.scripts,
            Route(True, self.stored.position),
            run,
            self.request.pace,
            self.request.reached,
            self.session,
        )
        strict = StrictOrder(transactions, kept_unless_told(self.request.policy), self.diagnoser)
        began = time.perf_counter()
        done, overwritten, stay, lines = 0, 0, Counter[str](), list[str]()
        try:
            for number, (key, entries) in enumerate(self.found.wanted.items(), 1):
                before = {entry.step for entry in entries}
                bad = self._unit(transactions, strict, self.units[key], entries)
                if bad is not None:
                    stay[f"the check at the end of unit {key.unit} failed: {bad.failure}"] += 1
                    continue
                now = [entry for entry in self._entries(key) if entry.step in before]
                replaced = [e for e in now if e.content["response"] == Response.OVERWRITE]
                overwritten += len(replaced)
                done += len(before) - len(now)
                stay.update(
                    f"unit {key.unit}: {entry.content['reason']}"
                    for entry in now
                    if entry.content["response"] == Response.SKIP
                )
                progress("trying again", number, len(self.found.wanted))
            sequences = self._move_sequences()
            store, seconds = Store(self.session), time.perf_counter() - began
            store.end_run(run, "done", 0, done + overwritten, seconds)
        except ConnectionLost:  # the line of history stays open: the run was interrupted
            raise
        except LogReplayError as error:
            outcome, seconds = outcome_of(error), time.perf_counter() - began
            with suppress(TargetError):
                store = Store(transactions.session())
                store.end_run(run, outcome, 0, done + overwritten, seconds)
            raise
        left = skipped_in(Store(self.session).all_rejects())
        more = f", {overwritten:,} overwrote a row" if overwritten else ""
        lines.append(
            f"{done:,} changes are in the target now as the log says{more}, {left:,} still not"
        )
        lines += list(stay)[:LINES]
        lines += [f"… {len(stay) - LINES:,} more; see status --rejects"] * (len(stay) > LINES)
        lines += moved_lines(sequences)
        return lines, left + overwritten

    def _begin(self) -> int:
        """Write the line of history under the position's lock; its number."""
        store = Store(self.session)
        with undone_where_it_fails(self.session):
            self.session.begin()
            store.hold()
            if store.position() != self.stored:
                raise Refusal(
                    "LR4007",
                    "another replay has changed the target since its position was read",
                    hint="Run replay again",
                )
            log, options = self.source.log, self.plan.options
            refuse_altered(self.session, log, self.tally, options, self.facts)
            self.session.durable()
            run = store.start_run(
                f"logreplay {__version__}",
                "retry",
                self._digests.wait(),
                self.stored.position,
                None,
                RunNotes(numbered=tuple(filter(self._has_sequences, self._tables()))),
            )
            self.session.commit()
        return run

    def _unit(
        self,
        transactions: RetriedUnits,
        strict: StrictOrder,
        unit: ScriptUnit,
        entries: list[Reject],
    ) -> BadStatement | None:
        """Try the rejects of a unit in one transaction; what failed at its end."""
        transactions.tried = len(entries)

        def body(session: Session, _: UnitGroup) -> tuple[BadStatement | None, int]:
            store = Store(session)
            watched = WatchedUnit(strict, session, store, unit, {})
            for entry in entries:
                store.forget_reject(unit.key, entry.step)
            for entry in entries:
                if (bad := watched.one(unit.start + entry.step)) is not None:
                    return bad, 0
            return None, watched.rejected

        group = UnitGroup(UnitColumns.of([unit]), self.stored.position, self.stored.position)
        bad = transactions.apply(group, body, np.zeros(0, np.int64))
        if bad is not None and bad.step is not None:
            raise strict.error_of(unit, bad)
        return bad

    def _entries(self, key: UnitPosition) -> list[Reject]:
        return [entry for entry in Store(self.session).all_rejects() if entry.position == key]

    def _move_sequences(self) -> dict[str, int]:
        """Move the sequences behind the tables; those that were, and to where."""
        moved: dict[str, int] = {}
        for schema, table in self._tables():
            moved.update(self.session.move_sequences(schema, table))
        return moved

    def _tables(self) -> list[tuple[str, str]]:
        return target_tables(self.source.log, self.plan, self.tally)

    def _has_sequences(self, place: tuple[str, str]) -> bool:
        return bool(self.session.sequences(*place))


# -- in words
# -------------------------------------------------------------------------------------------------


def _words(entry: Reject) -> str:
    """A reject in words."""
    content = entry.content
    return f"the {content['operation']} in {content['table']} ({content['place']})"


def skipped_in(entries: Iterable[Reject]) -> int:
    """How many of the entries are changes that are not in the target."""
    return sum(entry.content["response"] == Response.SKIP for entry in entries)


def kept_unless_told(policy: ErrorPolicy) -> ErrorPolicy:
    """A policy by which what still does not fit stays among the rejects, where the user's does not
    say otherwise."""
    table: dict[tuple[Op, str], Response] = {
        (op, condition): Response.SKIP for op in Op for condition in Condition
    }
    for key, response in policy.table.items():
        table.pop(key, None)
        table[key] = response
    return ErrorPolicy(table)


def refuse_destination(request: ReplayRequest) -> None:
    """UsageError (LR1001) for options that say how a replay goes on from where the target
    stands."""
    found = [
        name
        for name, given in (
            ("an end (--until-…)", request.destination != Destination()),
            ("--at-position", request.at is not None),
            ("--adjoining", request.adjoining),
            ("--mode bulk", request.pace.in_bulk),
            ("--mode merged", request.pace.merged),
        )
        if given
    ]
    if found:
        raise UsageError(
            "LR1001",
            f"found {found[0]} with --retry-rejects; expected neither an end nor another way"
            " of applying: skipped changes are retried at the target's position, unit by unit",
        )


def run(
    source: ReplayInput,
    request: ReplayRequest,
    out: Callable[[str], None],
    progress: Progress,
    split_bytes: int = 32 << 20,
) -> int:
    """Plan to try the rejects of a target again and, with ``request.apply``, do it; the exit code:
    0 where the target has every change of the log, EXIT_WARNING where not. ``out`` takes lines for
    the user.

    Raises Refusal (LR4005, LR4007, LR4008, LR4009), TargetError (LR4003, LR4004, LR4006) and
    UsageError (LR1001).
    """
    with Retries(source, request) as retries:
        some = retries.make(split_bytes)
        out(source.log.in_words("\n".join(retries.lines)))
        if not some:
            return EXIT_WARNING if retries.left else EXIT_OK
        if not request.apply:
            out("Nothing was written. Run with --apply to do this.")
            return EXIT_WARNING
        lines, left = retries.apply(progress)
        out(source.log.in_words("\n".join(lines)))
        return EXIT_WARNING if left else EXIT_OK
