"""Strict order: statement by statement, as the log says, under an error policy.

A transaction in which a statement is bad is taken again unit by unit, so that all units before the
bad one are applied and nothing of it is; one in which a statement was cancelled is not. Where the
policy has another response than to stop, or a unit with rejects is taken back, a single unit runs
under savepoints: its bad statement can be answered, and the unit goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from replay.changes.choices import Enforcement
from replay.dependencies.unique_order import StatementPart
from replay.errors import TargetError, Where
from replay.live.diagnosis import Diagnoser, Diagnosis, abridged
from replay.live.error_policy import ErrorPolicy, Response
from replay.live.position_store import Store
from replay.live.route import UnitGroup
from replay.live.target_transactions import BadStatement, Transactions, first_bad
from replay.output.steps import ScriptUnit
from replay.targets import Condition, ConnectionLost, Session, StatementFailure, Transient
from sqlgen.schema import Op

#: A savepoint covers this much text.
_WATCHED_BYTES = 32 << 10
#: How often a unit is applied again in which a row that is found by its place was not there.
_MOVED_ON = 3

# Hints have a place for what may be done all the same. What waits for the end of a unit can be laid
# to no change, so that --on leaves none out for it.
_OF_A_STATEMENT = "say what to do with --on"
_OF_A_UNIT = "keep foreign keys from acting (--enforcement off)"
_HINT = (
    "Nothing of this unit was applied. Find out who changed the row, or which log in between was"
    " not replayed, or {way_out}; then run replay again, it goes on here"
)
#: Where no log from before this one was replayed into the target.
_FIRST_LOG = (
    "Nothing of this unit was applied. No earlier log was replayed into this target, so it must"
    " have had the rows as they were before this log"
)
_FIRST_LOG_HINT = (
    f"{_FIRST_LOG}. If an earlier log changes them, give that one as well: the plan then says how"
    " to begin with it. If its rows are those of a later point, say so with --at-position (in a"
    " fresh target). If rows were not loaded, load them. Else find out who changed the row, or"
    " {way_out}; then run replay again, it goes on here"
)
_LATER_ROWS_HINT = (
    f"{_FIRST_LOG}; it may have later ones. Load the earlier ones, or begin with a fresh target and"
    " say with --at-position where its rows are from. Else find out who made the row, or"
    " whether the source has this key, or {way_out}; then run replay again, it goes on here"
)
_REFUSED_HINT = (
    "Nothing of this unit was applied. What the target refuses may be a rule that the source does"
    " not have: take that away, or {way_out}; then run replay again, it goes on here"
)
_SERVER_HINT = (
    "Nothing of this unit was applied. The reason is the database's, not the change's, which --on"
    " does not leave out. Remove the cause; then run replay again, it goes on here"
)
#: Whose key is a duplicate all the same.
_TAKEN_OTHERWISE = (
    "; what has it is another unique key, a row that a trigger wrote in this transaction, or a key"
    " that the column's collation takes for the same (upper and lower case, accents, blanks at the"
    " end)"
)
_HINTS = {Condition.OTHER: _REFUSED_HINT, Condition.SERVER: _SERVER_HINT}
_FIRST_LOG_HINTS = {
    Condition.NO_ROW: _FIRST_LOG_HINT,
    Condition.FOREIGN_KEY: _FIRST_LOG_HINT,
    Condition.DUPLICATE_KEY: _LATER_ROWS_HINT,
}


class StrictOrder:
    """A strategy: applies groups in commit order. ``policy`` answers bad statements that
    ``diagnoser`` explains. ``first_log``: no log from before this one was replayed into the
    target; ``enforcement``: whether triggers and foreign keys act."""

    def __init__(
        self,
        transactions: Transactions,
        policy: ErrorPolicy,
        diagnoser: Diagnoser,
        first_log: bool = False,
        enforcement: Enforcement = Enforcement.ON,
    ) -> None:
        self.first_log, self.enforcement = first_log, enforcement
        self.transactions, self.policy, self.diagnoser = transactions, policy, diagnoser
        self.pace = transactions.pace

    def apply_each(self, groups: Iterable[UnitGroup]) -> Iterator[None]:
        """Apply groups; errors as those of :meth:`apply`."""
        return map(self.apply, groups)

    def apply(self, group: UnitGroup) -> None:
        """Apply a group, unit by unit where it cannot be applied as a whole. Raises TargetError
        (LR4006) with everything that is known about the statement that stops the replay."""
        bad = self.transactions.apply(group, self._body(group))
        if bad is None:
            return
        if (cancelled := self._cancelled(group, bad)) is not None:
            raise self.error_of(cancelled, bad)
        if len(group.units) > 1:
            for single in self.transactions.route.split(group, self.pace.unit_by_unit()):
                self.apply(single)
            return
        for _ in range(_MOVED_ON):
            if not self._may_have_moved(group.units[0], bad):
                break
            bad = self.transactions.apply(group, self._body(group))
            if bad is None:
                return
        raise self.error_of(group.units[0], bad)

    def _may_have_moved(self, unit: ScriptUnit, bad: BadStatement) -> bool:
        """Whether a statement may have found no row because another session wrote the row between
        the look for its place and the change there: rows without a key are found by their place,
        which PostgreSQL changes with every update."""
        if bad.condition is not Condition.NO_ROW or bad.step is None:
            return False
        rows = self.diagnoser.diagnose(self.transactions.scripts[unit.script], bad.step).rows
        return rows is not None and not rows.table.key

    def _cancelled(self, group: UnitGroup, bad: BadStatement) -> ScriptUnit | None:
        """The unit of a group whose statement somebody cancelled, who would have to do so again if
        its changes were taken one by one, for the policy has no other response to it; None where
        none was, or nobody knows which."""
        if bad.step is None or bad.script is None or not bad.is_cancelled:
            return None
        op = self.diagnoser.op(self.transactions.scripts[bad.script], bad.step)
        if self.policy.response_to(op, bad.condition, bad.sqlstate) is not Response.STOP:
            return None
        at = bad.script, bad.step
        those = (
            one for one in group.units if (one.script, one.start) <= at < (one.script, one.stop)
        )
        return next(those, None)

    def _body(
        self, group: UnitGroup
    ) -> Callable[[Session, UnitGroup], tuple[BadStatement | None, int]]:
        if len(group.units) == 1 and (
            self.policy.watches or group.units[0].key in self._units_with_rejects()
        ):
            return self._watched
        return self.transactions.run_group

    def _units_with_rejects(self) -> frozenset[bytes]:
        route = self.transactions.route
        return frozenset() if route.forward else route.rejected

    def _watched(self, session: Session, group: UnitGroup) -> tuple[BadStatement | None, int]:
        unit, store = group.units[0], Store(session)
        rejects = store.rejects(unit.key) if unit.key in self._units_with_rejects() else []
        earlier = {
            tuple(reject.content["identity"]): Response(reject.content["response"])
            for reject in rejects
        }
        return WatchedUnit(self, session, store, unit, earlier).run()

    def error_of(self, unit: ScriptUnit, bad: BadStatement) -> TargetError:
        """What stops a replay, with everything that is known about the statement."""
        commit = f"commit LRSN {unit.key.commit.hexadecimal}"
        hint = _HINTS.get(bad.condition, _HINT)
        if self.first_log and self.transactions.route.forward:
            hint = _FIRST_LOG_HINTS.get(bad.condition, hint)
        if bad.step is None:
            assert bad.failure is not None
            said = str(bad.failure).rstrip(".")  # a sentence of the server's
            hint = hint.format(way_out=_OF_A_UNIT)
            reason = f"the check at the end of the unit failed: {said}"
            where = Where(unit=str(unit.key.unit))
            return TargetError("LR4006", f"{commit}: {bad.condition}: {reason}", where, hint)
        diagnosis = self.diagnoser.diagnose(self.transactions.scripts[unit.script], bad.step)
        place = f"statement {bad.step - unit.start + 1} of {unit.count}"
        reason = bad.explained(diagnosis.op, diagnosis.table)
        lines = [
            f"{commit}, {place}: {bad.condition}: {reason}",
            f"  statement: {abridged(diagnosis.statement)}",
        ]
        lines += [
            f"  {side} image: {image}"
            for side, image in diagnosis.images().items()
            if image is not None
        ]
        if diagnosis.rows is not None and diagnosis.rows.table.key:
            lines += self._found(diagnosis, bad.condition)
        hint = hint.format(way_out=_OF_A_STATEMENT)
        return TargetError("LR4006", "\n".join(lines), diagnosis.where, hint)

    def _found(self, diagnosis: Diagnosis, condition: Condition) -> list[str]:
        """What the target has in the place of a statement's row, as lines of a message."""
        try:
            rows = self.diagnoser.target_rows(self.transactions.session(), diagnosis)
        except (ConnectionLost, Transient):
            raise
        except TargetError as error:
            return [f"  in the target: cannot be asked: {error.message}"]
        none = "  in the target: no row with this key"
        if condition is Condition.DUPLICATE_KEY:
            none += _TAKEN_OTHERWISE
        return [f"  in the target: {row}" for row in rows] or [none]


class WatchedUnit:
    """Runs one unit under savepoints. ``earlier``: the responses that the unit's changes had when
    they were applied (identity -> response), where they are taken back."""

    def __init__(
        self,
        strategy: StrictOrder,
        session: Session,
        store: Store,
        unit: ScriptUnit,
        earlier: Mapping[tuple[str, ...], Response],
    ) -> None:
        self.strategy = strategy
        self.transactions, self.diagnoser = strategy.transactions, strategy.diagnoser
        self.policy, self.session, self.store = strategy.policy, session, store
        self.unit, self.earlier = unit, earlier
        self.script = self.transactions.scripts[unit.script]
        self.rejected = 0
        #: Changes whose row was to be removed and put back (file and number of the first record),
        #: and was not there.
        self.not_removed: set[tuple[int, int]] = set()

    def run(self) -> tuple[BadStatement | None, int]:
        """The bad statement that ends the unit, if any, and the number of rejects."""
        for start, stop in self.script.batches(self.unit.start, self.unit.stop, _WATCHED_BYTES):
            if not self.earlier and not self.not_removed:
                self.session.savepoint()
                bad = self._run(start, stop)
                if bad is None:
                    continue
                if bad.condition is Condition.SERVER and self._response(bad) is Response.STOP:
                    return bad, self.rejected  # SQLite has no savepoint any more
                self.session.back_to_savepoint()
            for step in range(start, stop):
                if (bad := self.one(step)) is not None:
                    return bad, self.rejected
        return None, self.rejected

    def _run(self, start: int, stop: int) -> BadStatement | None:
        result = self.session.run(self.script.slice(start, stop))
        return first_bad(self.script, start, stop, result)

    def one(self, step: int) -> BadStatement | None:
        """Run one statement and answer what comes of it."""
        if self.earlier:
            earlier = self.earlier.get(self.diagnoser.diagnose(self.script, step).identity())
            if earlier is Response.SKIP:
                return None
            if earlier is Response.OVERWRITE:
                text = (
                    "this change overwrote a row that was not the log's; the row it found is in the"
                    " rejects, and undo cannot bring it back"
                )
                return BadStatement(
                    step, Condition.OTHER, StatementFailure(Condition.OTHER, "", text)
                )
        if self._half(step) is StatementPart.PUT and self._change(step) in self.not_removed:
            text = "the row that it puts back was not there to be removed"
            failure = StatementFailure(Condition.NO_ROW, "00000", text)
            return self._answer(step, BadStatement(step, failure.condition, failure), Response.SKIP)
        pace, waited = self.transactions.pace, 0.0
        for attempt in range(pace.tries):
            self.session.savepoint()
            bad = self._run(step, step + 1)
            if bad is None:
                return None
            response = self._response(bad)
            if bad.condition is Condition.SERVER and response is Response.STOP:
                return bad
            self.session.back_to_savepoint()
            if response is not Response.RETRY or attempt + 1 == pace.tries:
                break
            waited = min(pace.longest, waited * 2 or pace.wait)
            time.sleep(waited)
        assert bad is not None
        if response in (Response.STOP, Response.RETRY):
            return bad
        if response is Response.SKIP and self._half(step) is StatementPart.REMOVE:
            self.not_removed.add(self._change(step))
        return self._answer(step, bad, response)

    def _response(self, bad: BadStatement) -> Response:
        assert bad.step is not None
        op = self.diagnoser.op(self.script, bad.step)
        return self.policy.response_to(op, bad.condition, bad.sqlstate)

    def _half(self, step: int) -> StatementPart:
        return StatementPart(int(self.script.steps[step]["part"]))

    def _change(self, step: int) -> tuple[int, int]:
        first = self.script.records(step)[0]
        return int(first["file"]), int(first["number"])

    def _answer(self, step: int, bad: BadStatement, response: Response) -> BadStatement | None:
        """Skip or overwrite, and note the change among the rejects; or the bad statement, where it
        could not be overwritten."""
        diagnosis = self.diagnoser.diagnose(self.script, step)
        rows = self.diagnoser.target_rows(self.session, diagnosis)
        whole = self._half(step) is StatementPart.WHOLE
        done = whole and self.diagnoser.is_done(self.session, diagnosis)
        if response is Response.OVERWRITE and not self._overwrite(diagnosis):
            return bad
        entry: dict[str, Any] = {
            "unit": str(self.unit.key.unit),
            "commit_lrsn": self.unit.key.commit.hexadecimal,
            "direction": "forward" if self.transactions.route.forward else "backward",
            "table": diagnosis.table,
            "operation": diagnosis.op.value,
            "condition": bad.condition,
            "response": response,
            "sqlstate": bad.failure.sqlstate if bad.failure else "00000",
            "reason": bad.explained(diagnosis.op, diagnosis.table),
            "place": str(diagnosis.where),
            "statement": diagnosis.statement,
            **diagnosis.images(),
            "found": rows,
            "checked": self.diagnoser.checked(
                diagnosis, f"unit {self.unit.key.unit}", step - self.unit.start + 1
            ),
            "done": done,
            "enforcement": self.strategy.enforcement,
            "identity": list(diagnosis.identity()),
        }
        self.rejected += 1
        self.store.reject(self.unit.key, step - self.unit.start, self.transactions.run, entry)
        return None

    def _overwrite(self, diagnosis: Diagnosis) -> bool:
        """Put the log's row in place; whether that worked."""
        texts = self.diagnoser.overwrite(diagnosis)
        for text in texts:
            self.session.savepoint()
            result = self.session.run(text.encode())
            if result.failure is not None:
                if result.failure.condition is Condition.SERVER:
                    raise TargetError("LR4001", str(result.failure), hint=_SERVER_HINT)
                self.session.back_to_savepoint()
                return False
            if result.counts[0] >= 1:
                return True
        return bool(texts) and diagnosis.op is Op.DELETE
