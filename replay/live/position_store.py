"""How far a target has been replayed, kept in the target itself and changed in the transactions
that change its data.

Five tables of ours, in a schema ``logreplay`` (or with that prefix): ``position`` (one row),
``run`` (history), ``pending`` (units of recovery that a run set aside, so that a later log may
still bring them), ``reject`` (changes that were not applied as the log says), ``mark`` (named
points). The SQL here is what all targets understand; a session spells the names.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from replay.changes.position import Position, UnitId, UnitPosition
from replay.changes.units import Verdict, Verdicts
from replay.errors import LogReplayError, Refusal, TargetError, Where, cut_to
from replay.live import own_tables
from replay.pipeline.positions import LogPosition
from replay.targets import ConnectionLost, Session, Transient, undone_where_it_fails

#: What was accepted stands beside the options and is none of them: it may differ from run to run.
_ACCEPTED = "accepted"
#: What stands among the inputs of a run: the tables (schema and name) whose sequences it moves
#: when it is done.
_NUMBERED = "numbered"
#: Characters that our table has for what became of a run.
_OUTCOME = 200
#: In place of a value: the time of the database.
_NOW = object()
#: Length of YYYY-MM-DD HH:MM:SS, with which moments begin in every target.
_SECONDS = 19


@dataclass(frozen=True)
class TargetPosition:
    """The position row. Every committed unit of ``source`` up to ``position`` is in the target, but
    for those that are pending. ``units``, ``statements`` and ``rejected`` are counts of what is in
    it, ``run`` is the number of the last run. ``accepted``: the kinds of refusals that users
    answered for (``--accept``) in any run."""

    source: str
    options: Mapping[str, Any]
    accepted: tuple[str, ...]
    digest: str
    position: UnitPosition
    units: int
    statements: int
    rejected: int
    run: int
    changed_at: str


@dataclass(frozen=True)
class Run:
    """One line of the history."""

    number: int
    direction: str
    started_at: str
    ended_at: str | None
    outcome: str | None
    units: int | None
    statements: int | None
    seconds: float | None


@dataclass(frozen=True)
class Reject:
    """A change that was not applied as the log says: statement ``step`` of the unit at
    ``position``, and what is noted of it."""

    position: UnitPosition
    step: int
    content: Mapping[str, Any]


def digest_of(options: Mapping[str, Any]) -> str:
    """Digest of what decides which statements a change becomes."""
    return hashlib.sha256(
        json.dumps(options, sort_keys=True, ensure_ascii=False).encode()
    ).hexdigest()


def outcome_of(error: LogReplayError) -> str:
    """What the history has of an error that ended a run: its first line; of a long one, without
    the place but for the unit."""
    said = str(error).partition("\n")[0]
    if len(said) > _OUTCOME:
        said = str(replace(error, where=Where(unit=error.where.unit))).partition("\n")[0]
    return said


class Store:
    """Reads and writes our tables through a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.name = {table: session.own(table) for table in own_tables.TABLES}
        self._looked_at = frozenset[str]()

    def make(self) -> None:
        """Make our tables where they are not there."""
        own_tables.make(self.session)

    def is_there(self, table: str = "position") -> bool:
        """Whether the target has a position's table and this one of ours: where making them is no
        transaction, a killed run may have made some. Raises Refusal (LR4010) for tables that
        somebody else made."""
        there = self.session.own_tables()
        self._looked_at &= there
        if not {"position", table} <= there:
            return False
        if there != self._looked_at:
            own_tables.refuse_strange(self.session, writes=False)
            with own_tables.rights_told():
                self._look()
            self._looked_at = there
        return True

    def is_hidden(self) -> bool:
        """Whether our tables may be there all the same, and this user is not shown them."""
        if self.session.shows_all or self.session.own_tables():
            return False
        try:
            self._look()
        except (ConnectionLost, Transient):
            raise
        except TargetError as error:
            return own_tables.is_denied(error)
        return False

    def _look(self) -> None:
        """Read the position's table, for what this user may. TargetError where it may not, or
        where there is none."""
        self.session.query(f"SELECT 1 FROM {self.name['position']} WHERE id = 1")

    def position(self) -> TargetPosition | None:
        """The position, None where nothing was replayed yet."""
        if not self.is_there():
            return None
        columns = (
            "source, options, digest, commit_lrsn, unit, units, statements, rejected, run,"
            " changed_at"
        )
        for row in self.session.query(
            f"SELECT {columns} FROM {self.name['position']} WHERE id = 1"
        ):
            source, options, digest, commit, unit, units, count, rejected, run, changed = row
            return TargetPosition(
                source,
                *_parted(options),
                digest,
                UnitPosition.from_hex(commit + unit),
                units,
                count,
                rejected,
                run,
                str(changed)[:_SECONDS],
            )
        return None

    def hold(self) -> None:
        """Take the position row's lock inside a transaction: whoever changed it and may still
        commit, such as a session of a killed run, is waited for."""
        with own_tables.rights_told():
            self.session.execute(f"UPDATE {self.name['position']} SET run = run WHERE id = 1")

    def settle(self) -> None:
        """Wait until nobody who changed the position can still commit that."""
        with undone_where_it_fails(self.session):
            self.session.begin()
            self.hold()
            self.session.commit()

    def begin_at(self, source: str, options: Mapping[str, Any], position: UnitPosition) -> None:
        """Make the position row of a target that has none."""
        commit, unit = _columns(position)
        text = json.dumps(options, ensure_ascii=False)
        digest = digest_of(options)
        self._insert("position", 1, source, text, digest, commit, unit, 0, 0, 0, 0, _NOW)

    def accept(self, codes: Iterable[str]) -> None:
        """Add to the kinds of refusals that users answered for."""
        stored = self.position()
        assert stored is not None
        accepted = sorted({*stored.accepted, *codes})
        if accepted != list(stored.accepted):
            text = json.dumps({**stored.options, _ACCEPTED: accepted}, ensure_ascii=False)
            self.session.execute(
                f"UPDATE {self.name['position']} SET options = %s WHERE id = 1", (text,)
            )

    def move(
        self, before: UnitPosition, after: UnitPosition, units: int, statements: int, rejected: int
    ) -> None:
        """Move the position inside a transaction, which must find it where it was. Raises Refusal
        (LR4007)."""
        (commit, unit), (old_commit, old_unit) = _columns(after), _columns(before)
        statement = (
            f"UPDATE {self.name['position']} SET commit_lrsn = '{commit}', unit = '{unit}', units ="
            f" units + {units}, statements = statements + {statements}, rejected = rejected +"
            f" {rejected}, changed_at = CURRENT_TIMESTAMP WHERE id = 1 AND commit_lrsn ="
            f" '{old_commit}' AND unit = '{old_unit}';"
        )
        result = self.session.run(statement.encode())
        if result.failure is not None:
            raise TargetError(
                "LR4001",
                f"the position cannot be moved: {result.failure}",
                hint="The units of this transaction are undone, those before it are in the target."
                " Remove the cause; then run replay again, it goes on there",
            )
        if result.counts != [1]:
            raise Refusal(
                "LR4007",
                f"the target's position is no longer {before}: another session moved it",
                hint="Run replay again",
            )

    def _insert(self, table: str, *values: Any) -> None:
        """Insert a row into one of our tables: values of its columns in order, as far as there are
        any."""
        columns = ", ".join(name for name, *_ in own_tables.TABLES[table].columns[: len(values)])
        marks = ", ".join("CURRENT_TIMESTAMP" if value is _NOW else "%s" for value in values)
        self.session.execute(
            f"INSERT INTO {self.name[table]} ({columns}) VALUES ({marks})",
            [value for value in values if value is not _NOW],
        )

    # -- history
    # ---------------------------------------------------------------------------------------------

    def start_run(
        self,
        program: str,
        direction: str,
        inputs: Sequence[Mapping[str, Any]],
        before: LogPosition,
        after: LogPosition,
        until: Position | None,
        numbered: Sequence[tuple[str, str]] = (),
    ) -> int:
        """Write a line of history; its number. ``before``: where the run begins, ``after``: what
        its logs say of where it leads; ``numbered``: the tables (schema and name) whose sequences
        it moves when it is done."""
        kept = [*inputs, *([{_NUMBERED: numbered}] if numbered else [])]
        number = int(
            self.session.query(f"SELECT coalesce(max(id), 0) + 1 FROM {self.name['run']}")[0][0]
        )
        end = "" if until is None else until.hexadecimal
        places = json.dumps(before.place()), _as_text(after, None), end
        self._insert("run", number, program, direction, json.dumps(kept), *places, _NOW)
        self.session.execute(f"UPDATE {self.name['position']} SET run = %s WHERE id = 1", (number,))
        return number

    def end_run(
        self, number: int, outcome: str, units: int, statements: int, seconds: float
    ) -> None:
        """Complete a line of history."""
        statement = (
            f"UPDATE {self.name['run']} SET ended_at = CURRENT_TIMESTAMP, outcome = %s, units = %s,"
            " statements = %s, seconds = %s WHERE id = %s"
        )
        short = cut_to(outcome, _OUTCOME, "...")  # a database may have no letter for more
        self.session.execute(statement, (short, units, statements, seconds, number))
        stored = self.position()
        for (told,) in self.session.query(
            f"SELECT position_after FROM {self.name['run']} WHERE id = {number}"
        ):
            if stored is not None:
                text = _as_text(LogPosition.of(json.loads(told)), stored.position)
                self.session.execute(
                    f"UPDATE {self.name['run']} SET position_after = %s WHERE id = %s",
                    (text, number),
                )

    def runs(self, latest: int) -> list[Run]:
        """The latest lines of history, newest first."""
        columns = "id, direction, started_at, ended_at, outcome, units, statements, seconds"
        rows = self.session.query(
            f"SELECT {columns} FROM {self.name['run']} ORDER BY id DESC LIMIT {latest}"
        )
        return [
            Run(
                row[0],
                row[1],
                str(row[2])[:_SECONDS],
                None if row[3] is None else str(row[3])[:_SECONDS],
                *row[4:],
            )
            for row in rows
        ]

    def numbered(self) -> list[tuple[str, str]]:
        """The tables whose sequences are yet to be moved: those of the runs that did not come to
        their end, since the last one that did."""
        if not self.is_there("run"):
            return []
        run = self.name["run"]
        done = f"SELECT max(id) FROM {run} WHERE outcome = 'done'"
        rows = self.session.query(
            f"SELECT inputs FROM {run} WHERE id > coalesce(({done}), 0)"
            " AND coalesce(outcome, '') <> 'done' ORDER BY id"
        )
        entries = (entry for (inputs,) in rows for entry in json.loads(inputs))
        places = (place for entry in entries for place in entry.get(_NUMBERED, ()))
        return list(dict.fromkeys((schema, table) for schema, table in places))

    def began(self) -> UnitPosition | None:
        """Where the first run began; None where there was none."""
        if not self.is_there("run"):
            return None
        rows = self.session.query(
            f"SELECT position_before FROM {self.name['run']} ORDER BY id LIMIT 1"
        )
        return LogPosition.of(json.loads(rows[0][0])).position if rows else None

    def log_position(self, placed: bool = False) -> LogPosition | None:
        """Where the target is in the log, with the logs that runs have read, forward or back (the
        last run, where positions are ``placed`` in files, all of which it was given); None where
        nothing was replayed yet. What the last run says of its logs holds where it came to
        its end, and not where it went back."""
        stored = self.position()
        if stored is None or not self.is_there("run"):
            return None
        pending = Verdicts({unit: Verdict("", why) for unit, why in self.pending().items()})
        logs: dict[str, str] = {}
        last, forward, done = LogPosition(stored.source), False, False
        stated: Position | None = None
        for direction, outcome, told in self.session.query(
            f"SELECT direction, outcome, position_after FROM {self.name['run']} ORDER BY id"
        ):
            last = LogPosition.of(json.loads(told))
            forward, done = direction == "forward", outcome == "done"
            logs = {**({} if placed else logs), **last.logs}
            stated = last.stated or stated
        return LogPosition(
            stored.source,
            stored.position,
            last.reaches if forward and done else None,
            stated,
            pending,
            logs,
            last.pending_logs if forward else None,
            last.last_records if last.position == stored.position else None,
            last.tables,
        )

    # -- units set aside, rejects, marks
    # ---------------------------------------------------------------------------------------------

    def pending(self) -> dict[UnitId, str]:
        """Units that were set aside, with the reason."""
        return {
            UnitId.from_hex(unit): reason
            for unit, reason in self.session.query(
                f"SELECT unit, reason FROM {self.name['pending']}"
            )
        }

    def set_aside(self, units: Mapping[UnitId, str], run: int) -> None:
        """Note units that this run leaves out."""
        for unit, reason in units.items():
            self.session.execute(
                f"DELETE FROM {self.name['pending']} WHERE unit = %s", (unit.hexadecimal,)
            )
            self._insert("pending", unit.hexadecimal, reason, run)

    def arrived(self, units: Iterable[UnitId]) -> None:
        """Units that had been set aside and are applied in this transaction."""
        for unit in units:
            self.session.execute(
                f"DELETE FROM {self.name['pending']} WHERE unit = %s", (unit.hexadecimal,)
            )

    def rejects(self, unit: UnitPosition | None = None) -> list[Reject]:
        """The changes that were not applied as the log says, in log order: all, or those of a
        unit."""
        chosen = "" if unit is None else " WHERE commit_lrsn = %s AND unit = %s"
        rows = self.session.query(
            f"SELECT commit_lrsn, unit, step, entry FROM {self.name['reject']}{chosen} ORDER BY"
            " commit_lrsn, unit, step",
            () if unit is None else _columns(unit),
        )
        return [
            Reject(UnitPosition.from_hex(commit + unit), step, json.loads(entry))
            for commit, unit, step, entry in rows
        ]

    def reject(self, position: UnitPosition, step: int, run: int, entry: Mapping[str, Any]) -> None:
        """Note a change that this transaction does not apply as the log says."""
        commit, unit = _columns(position)
        text = json.dumps(entry, ensure_ascii=False)
        self._insert("reject", commit, unit, step, run, text)

    def forget_rejects(self, position: UnitPosition) -> int:
        """Remove the rejects of a unit that is taken back; how many there were."""
        return self.session.execute(
            f"DELETE FROM {self.name['reject']} WHERE commit_lrsn = %s AND unit = %s",
            _columns(position),
        )

    def marks(self) -> dict[str, Position]:
        """Named points."""
        if not self.is_there("mark"):
            return {}
        rows = self.session.query(
            f"SELECT name, commit_lrsn FROM {self.name['mark']} ORDER BY commit_lrsn, name"
        )
        return {name: Position.from_hex(commit) for name, commit in rows}

    def mark(self, name: str, commit: Position) -> None:
        """Name a point; a mark of that name is moved."""
        self.session.begin()
        self.session.execute(f"DELETE FROM {self.name['mark']} WHERE name = %s", (name,))
        self._insert("mark", name, commit.hexadecimal, _NOW)
        self.session.commit()

    def forget_mark(self, name: str) -> None:
        """Take back the name of a point."""
        self.session.begin()
        self.session.execute(f"DELETE FROM {self.name['mark']} WHERE name = %s", (name,))
        self.session.commit()


def _as_text(place: LogPosition, at: UnitPosition | None) -> str:
    """What a line of history has of where its run leads; ``at``: the position there, once it is
    known. Units that are set aside have a table of their own."""
    told = replace(place, position=at, pending=Verdicts()).describe()
    return json.dumps({**told, "pending": {}})


def _parted(options: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The options of a position row, and what was accepted beside them."""
    values: dict[str, Any] = json.loads(options)
    return values, tuple(values.pop(_ACCEPTED, ()))


def _columns(position: UnitPosition) -> tuple[str, str]:
    """The columns ``commit_lrsn`` and ``unit``."""
    return position.commit.hexadecimal, position.unit.hexadecimal
