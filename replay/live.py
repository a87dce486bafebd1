"""Brings a live database to a point in time: decides the way from the target's position, the log and the request, says what will happen, and with
``apply`` does it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tenacity

import replay
from replay.apply import Ahead, Applier, Journey, Pace, Progress, nothing, rejected_keys
from replay.bundle import Digests, changes_by_table, nothing_left, raise_for
from replay.changes import Change, unit_text
from replay.crew import Crew, Splitter
from replay.errors import EXIT_OK, EXIT_WARNING, InputError, LogReplayError, Refusal, TargetError, UsageError
from replay.evidence import EvidenceRoom
from replay.fold import Folder
from replay.logs import LogFile
from replay.plan import Plan, ScriptOptions, make_plan
from replay.position import CLEAN, LAST_UNIT, Position, Run, Store, digest_of, point_text
from replay.report import Tally, balance_text
from replay.responses import Responses
from replay.run import carry_out
from replay.selection import Selection
from replay.stages import Engine
from replay.steps import Script, open_scripts
from replay.survey import Survey, survey
from replay.targets import ConnectionLost, Session, TableFacts, Target, Transient, target_of
from sqlgen.constraints import Constraints
from sqlgen.dialects import profile_named
from sqlgen.names import target_name

#: Statements a second where the target has no history yet: those of a database on the same machine, by dialect; and of one that was not measured.
_USUAL_RATES = {"postgres": 50_000, "sqlite": 100_000, "duckdb": 2_000, "mariadb": 8_000, "mysql": 8_000}
_UNMEASURED = 1_000
#: Statements folded together in merged mode, unless told otherwise.
MERGED = 200_000
#: How long to wait for a lock that a killed replay's connection may still hold.
_LOCK_SECONDS = 10.0

Echo = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What a user asks of a replay. ``until`` and ``at`` are commit positions (10 bytes), ``until_time`` 17 packed bytes, ``until_key`` a position
    with its unit (22 bytes); at most one ``until`` is given. ``at``: where a target stands that was never replayed. ``enforcement``: whether the
    target's triggers and foreign keys act."""

    url: str
    apply: bool = False
    until: bytes | None = None
    until_time: bytes | None = None
    until_mark: str | None = None
    until_key: bytes | None = None
    at: bytes | None = None
    adjoining: bool = False
    enforcement: bool = True
    responses: Responses = field(default_factory=Responses)
    pace: Pace = field(default_factory=Pace)
    reached: Callable[[str], None] = nothing


@dataclass(frozen=True)
class Way:
    """From where to where: ``key`` is the position now, ``until`` the last commit position that shall be applied (None: all of the log), ``last`` the
    last unit forward (22 bytes) where that lies among several of one commit position."""

    forward: bool
    key: bytes
    until: bytes | None
    last: bytes | None = None

    def __str__(self) -> str:
        to = "the end of the log" if self.until is None else point_text(self.until + LAST_UNIT)
        return f"{'forward' if self.forward else 'backward (undo)'} from {point_text(self.key)} to {to}"

    def journey(self, run: int, pending: frozenset[bytes], rejected: frozenset[bytes] = frozenset()) -> Journey:
        """The units on this way."""
        return Journey(self.forward, self.key, run, None if self.forward else self.until, self.last, pending, rejected)


@dataclass(frozen=True)
class Work:
    """A log, what is to be taken of it and how it is written, what is known of the tables' keys, and the engine that does it."""

    log: LogFile
    selection: Selection
    options: ScriptOptions
    constraints: Constraints
    engine: Engine


def run(work: Work, request: Request, echo: Echo, told: Callable[[str, int, int], None], split_bytes: int = 32 << 20) -> int:
    """Plan a replay and, with ``request.apply``, carry it out; the exit code. ``told`` hears (stage, done, total).

    Raises the errors of :mod:`replay.errors`; what was committed before one stays, and the position in the target says how far that is.
    """
    log, selection, options = work.log, work.selection, work.options
    target = target_of(request.url)
    digests = Digests(log)
    session = _connect(target, request)
    try:
        store = Store(session)
        position = store.position()
        identity = identity_of(log, selection, options)
        _same(position, log.source, identity, CLEAN.format(session.forget))
        marks = store.marks()
        found = survey(log, request.until_time)
        pending = store.pending() if position is not None else {}
        way = find_way(request, position, found, marks, bool(pending))
        if way is None:
            echo(f"Nothing to do: {f'the target stands at {point_text(position.key)}' if position else 'this log has no committed unit'}")
            return EXIT_OK
        ahead_of = store.ahead() if position is not None else frozenset()
        _refuse_ahead(way, ahead_of)
        _refuse_mode(session, way, selection, request)
        facts = _facts(session, log, selection, options)
        plan = replace(
            _plan(log, selection, options, way, pending, facts, split_bytes), prepared=session.prepares and not log.has_structure
        )
        runs = store.runs(20) if position is not None else []
        with tempfile.TemporaryDirectory(prefix="logreplay-replay-") as folder:
            began = time.perf_counter()
            outcome = carry_out(replace(plan, constraints=work.constraints), log, work.engine, Path(folder))
            plan, tally = outcome.plan, outcome.tally
            raise_for(plan, tally)
            _refuse_halves(way, tally, pending)
            problems = _problems(plan, log, tally, facts, request)
            if _altered(log, tally) and not session.alters:
                problems.append("the log changes tables' structure, and the target ends its transaction at such a statement")
            scripts = open_scripts(Path(folder))
            ahead = replace(way.journey(0, frozenset(pending)), ahead_of=ahead_of).ahead(scripts)
            _tell_plan(log, target, request, way, tally, ahead, problems, runs, time.perf_counter() - began, echo)
            for warning in nothing_left(plan, tally):
                echo(f"warning: {warning}")
            if not request.apply:
                echo("Nothing was written. Run with --apply to do this.")
                return EXIT_WARNING if problems or tally.exit_code([]) else EXIT_OK
            _refuse(tally, problems)
            folder_ = Folder(plan, log, facts) if request.pace.merged else None
            doing = _Doing(log, plan, scripts, ahead, request, way, target, session, folder_)
            return doing.run(identity, tally, digests.wait(), echo, told)
    finally:
        session.close()


# -- deciding -------------------------------------------------------------------------------------------------------------------------------


def identity_of(log: LogFile, selection: Selection, options: ScriptOptions) -> dict[str, Any]:
    """What must stay the same from one replay of a target to the next: everything that decides which changes come, and as what."""
    chosen = replace(selection, from_position=None, until_position=None, from_time=None, until_time=None).describe()
    policy = options.render.policy
    return {
        "selection": chosen,
        "names": options.names,
        "nul": policy.nul,
        "timestamps": policy.timestamps,
        "char_padding": policy.char_padding,
    }


def _same(position: Position | None, source: str, identity: Mapping[str, Any], clean: str) -> None:
    if position is None:
        return
    if position.source != source:
        raise Refusal("LR4005", f"found a log of {source}; the target was replayed from {position.source}", hint=clean)
    if position.digest != digest_of(identity):
        before, now = _flat(position.options), _flat(identity)
        changed = [f"{name}: {before.get(name, 'not given')} before, {now.get(name, 'not given')} now" for name in sorted({*before, *now})]
        different = [line for line, name in zip(changed, sorted({*before, *now}), strict=True) if before.get(name) != now.get(name)]
        raise Refusal(
            "LR4005", f"found other options than the target was replayed with: {'; '.join(different)}", hint=f"Use the same. {clean}"
        )


def _flat(options: Mapping[str, Any]) -> dict[str, Any]:
    flat = {name: value for name, value in options.items() if not isinstance(value, dict)}
    for value in options.values():
        flat |= value if isinstance(value, dict) else {}
    return flat


def find_way(request: Request, position: Position | None, found: Survey, marks: Mapping[str, bytes], pending: bool) -> Way | None:
    """The way to go; None when the target is there already (``pending``: unless the log may bring units that were set aside).

    Raises Refusal (LR4007) when the log cannot bring it there.
    """
    if found.first is None or found.last is None:
        return None
    until = _until(request, found, marks)
    key = _stand(request, position, found)
    if until is not None and until + LAST_UNIT < key[:10] + bytes(12):
        return _way_back(key, until, found, request.adjoining)
    if position is not None and key[:10] < found.first and not request.adjoining and key[:10] != below(found.first):
        raise Refusal(
            "LR4007",
            f"the target stands at {point_text(key)}, and the first unit of this log commits at {found.first.hex().upper()}; "
            "nothing shows that no unit lies between them",
            hint="Replay the log between first. If there is none because this log continues where the last one ended, say so with --adjoining",
        )
    if found.last < key[:10] and position is not None and not pending:
        return None
    return Way(True, key, until, request.until_key)


def _until(request: Request, found: Survey, marks: Mapping[str, bytes]) -> bytes | None:
    if request.until_mark is not None:
        if request.until_mark not in marks:
            raise UsageError("LR1004", f"found no mark {request.until_mark!r} in the target", hint=f"Marks: {', '.join(marks) or 'none'}")
        return marks[request.until_mark]
    if request.until_key is not None:
        return request.until_key[:10]
    if request.until_time is not None:
        return None if found.late is None else below(found.late)
    return request.until


def _stand(request: Request, position: Position | None, found: Survey) -> bytes:
    if position is not None:
        if request.at is not None:
            raise UsageError("LR1001", f"the target has a position ({point_text(position.key)}); --at-lrsn is for targets without one")
        return position.key
    assert found.first is not None
    assert found.last is not None
    return (below(found.first) if request.at is None else min(request.at, found.last)) + LAST_UNIT


def _way_back(key: bytes, until: bytes, found: Survey, adjoining: bool) -> Way:
    assert found.first is not None
    assert found.last is not None
    if found.last < key[:10] and not adjoining:
        message = f"the target stands at {point_text(key)}, after the last unit of this log, which commits at {found.last.hex().upper()}"
        hint = "Go back through the later log first, to where it begins; where that is done, say so with --adjoining"
        raise Refusal("LR4007", message, hint=hint)
    start = below(found.first)
    if until < start and until != bytes(10):
        message = f"the first unit of this log commits at {found.first.hex().upper()}; nothing shows what lies between that and {until.hex().upper()}"
        raise Refusal(
            "LR4007", message, hint=f"Go back to the start of this log (--until-lrsn {start.hex().upper()}), then on with the log before it"
        )
    return Way(False, key, max(until, start))


def below(commit: bytes) -> bytes:
    """The position just before a commit position."""
    digits = list(commit)
    for place in reversed(range(len(digits))):
        if digits[place]:
            digits[place] -= 1
            break
        digits[place] = 255
    return bytes(digits)


def above(commit: bytes) -> bytes:
    """The position just after a commit position."""
    return bytes(255 - digit for digit in below(bytes(255 - digit for digit in commit)))


def _plan(
    log: LogFile,
    selection: Selection,
    options: ScriptOptions,
    way: Way,
    pending: Mapping[bytes, str],
    facts: Mapping[str, TableFacts | None],
    split_bytes: int,
) -> Plan:
    """The plan of the changes that lie on the way. Back, everything is taken back, also what RI and triggers did."""
    profile = profile_named(options.dialect)
    computed = []
    for version in log.catalog.versions:
        known = facts.get(version.name)
        for column in version.table.columns:
            if known is not None and target_name(column.name, profile, options.names) in known.generated:
                computed.append(f"{version.name}.{column.name}")
    render = replace(
        options.render,
        exclude_columns=(*options.render.exclude_columns, *computed),
        keep_identity=any(known is not None and known.identity for known in facts.values()),
    )
    options = replace(options, render=render, commit_every=1 << 62, trace=False)
    if way.forward:
        start = None if pending else way.key[:10]
        chosen = replace(selection, from_position=start, until_position=way.until)
    else:
        assert way.until is not None
        chosen = replace(selection, from_position=above(way.until), until_position=way.key[:10], ri="apply", triggers="apply")
    plan = make_plan(log, "redo" if way.forward else "undo", chosen, options, split_bytes)
    return replace(plan, steps=True)


# -- looking at the target --------------------------------------------------------------------------------------------------------------------


def _connect(target: Target, request: Request) -> Session:
    """A session; to apply, one that holds the lock. Raises TargetError (LR4004) when another replay has it."""
    session = target.connect(request.url)
    if not request.apply:
        return session
    try:
        session.enforce(request.enforcement)
        waiting = tenacity.Retrying(
            retry=tenacity.retry_if_result(lambda got: not got),
            stop=tenacity.stop_after_delay(_LOCK_SECONDS),
            wait=tenacity.wait_fixed(0.2),
            retry_error_callback=lambda _: False,
        )
        if not waiting(session.lock):
            hint = "Wait until it has ended. The database's list of sessions shows it with the application name logreplay"
            raise TargetError("LR4004", f"another replay holds the lock of {target.shown(request.url)}", hint=hint)
    except BaseException:
        session.close()
        raise
    return session


def _facts(session: Session, log: LogFile, selection: Selection, options: ScriptOptions) -> dict[str, TableFacts | None]:
    """What the target says about the selected tables of the log, by OWNER.NAME; None for a table that it lacks."""
    profile = profile_named(options.dialect)
    found: dict[str, TableFacts | None] = {}
    for version in log.catalog.versions:
        if selection.takes_table(version.name) and version.name not in found:
            schema, table = (target_name(name, profile, options.names) for name in (version.table.schema, version.table.name))
            found[version.name] = session.facts(schema, table)
    return found


def _problems(plan: Plan, log: LogFile, tally: Tally, facts: Mapping[str, TableFacts | None], request: Request) -> list[str]:
    """Why the target as it is would not take the changes, or change them: one line for each reason. Of tables that the changes themselves make or alter
    nothing is asked that they bring about."""
    profile, names = profile_named(plan.options.dialect), plan.options.names
    problems: list[str] = []
    altered = _altered(log, tally)
    for version in sorted({version for version, _ in tally.changes}):
        found = log.catalog.versions[version]
        known = facts.get(found.name)
        if known is None:
            problems += [] if found.name in altered else [f"{found.name}: the target has no such table"]
            continue
        missing = [c.name for c in found.table.columns if target_name(c.name, profile, names) not in known.columns]
        excluded = {name.rpartition(".")[2] for name in plan.options.render.exclude_columns}
        if (absent := [name for name in missing if name not in excluded]) and found.name not in altered:
            problems.append(f"{found.name}: the target's table has no column {', '.join(absent)}")
        key = {target_name(name, profile, names) for name in found.table.key}
        if key and not any(set(unique) <= key for unique in known.unique_keys):
            problems.append(
                f"{found.name}: no unique key of the target lies within {', '.join(sorted(key))}, which identifies rows in the log"
            )
        problems += [f"{found.name}: {reason}" for reason in known.unfit]
        if known.missing_privileges:
            problems.append(f"{found.name}: this user may not {', '.join(known.missing_privileges)}")
        if request.enforcement:
            problems += _would_act(found.name, known, plan)
    return list(dict.fromkeys(problems))


def _altered(log: LogFile, tally: Tally) -> frozenset[str]:
    """The tables whose structure the changes of a run change."""
    return frozenset(log.catalog.versions[version].name for version, change in tally.changes if change == Change.STRUCTURE)


def _would_act(name: str, known: TableFacts, plan: Plan) -> list[str]:
    problems = []
    off = "--enforcement off keeps the target's triggers and foreign keys from acting in this session"
    forward = plan.mode == "redo"
    if known.triggers and plan.selection.triggers == "apply":
        other = ", or leave what triggers did to the target (--triggers skip)" if forward else ""
        problems.append(f"{name}: triggers of the target would fire again: {', '.join(known.triggers)}. {off}{other}")
    if known.cascades and forward and plan.selection.ri == "apply":
        text = f"{name}: foreign keys of the target would change rows that the log changes as well: {', '.join(known.cascades)}"
        problems.append(f"{text}. {off}, or leave what foreign keys did to the target (--ri skip)")
    return problems


def _refuse_halves(way: Way, tally: Tally, pending: Mapping[bytes, str]) -> None:
    """Units that were applied cannot be taken back when this log has them incomplete."""
    if not way.forward:
        for unit, reason in tally.quarantined_units.items():
            if unit not in pending:
                message = f"unit {unit_text(unit)} is in the target, and this log cannot take it back: {reason}"
                raise Refusal("LR4007", message, hint="Use the log that it was applied from")


def _refuse_ahead(way: Way, ahead_of: frozenset[bytes]) -> None:
    """Raises Refusal (LR4007) where an interrupted replay with several sessions left units beyond the way's end."""
    last = max(ahead_of, default=b"")
    end = None if way.until is None else max(way.last or b"", way.until + LAST_UNIT)
    if last and (not way.forward or (end is not None and last > end)):
        message = f"an interrupted replay with several sessions left {len(ahead_of):,} units in the target ahead of its position, up to {point_text(last)}"
        raise Refusal("LR4007", message, hint=f"Replay forward first, at least to there (--until-lrsn {last[:10].hex().upper()})")


def _refuse_mode(session: Session, way: Way, selection: Selection, request: Request) -> None:
    """Raises Refusal (LR4009) where changes cannot be folded, or be made side by side, without another end."""
    pace = request.pace
    if request.responses.careful and not session.savepoints:
        raise Refusal(
            "LR4009", f"found --on for a target of kind {session.dialect}, which has no savepoints; expected none", hint="Leave --on away"
        )
    asked = "--mode merged" if pace.merged else "--sessions"
    if not pace.merged and pace.sessions == 1:
        return
    if pace.merged and pace.sessions > 1:
        raise Refusal("LR4009", "found --mode merged with --sessions; expected one of them", hint="Merged mode uses one session")
    hint = f"Leave {asked} away: one session in strict order does it"
    if not (session.merges if pace.merged else session.parallel):
        raise Refusal(
            "LR4009",
            f"found {asked} for a target of kind {session.dialect}; expected one that can do this, such as a PostgreSQL",
            hint=hint,
        )
    if not way.forward:
        raise Refusal("LR4009", f"found {asked} on a way back; expected one forward", hint=hint)
    for name, chosen in (("--ri", selection.ri), ("--triggers", selection.triggers)):
        if chosen != "apply":
            more = "or have the target do nothing by itself (--enforcement off) and apply all that the log says"
            raise Refusal(
                "LR4009", f"found {name} {chosen} with {asked}: what the target does by itself would differ", hint=f"{hint}; {more}"
            )


def _refuse(tally: Tally, problems: list[str]) -> None:
    if problems:
        more = f" ({len(problems) - 1} more, shown above)" if len(problems) > 1 else ""
        raise Refusal("LR4008", f"{problems[0]}{more}", hint="Nothing was written")
    if tally.failed or tally.finding_count or tally.outcomes != tally.read:
        finding = str(tally.findings[0]) if tally.findings else "the balance sheet does not close"
        hint = "Nothing was written. Make or transfer the log again, or leave the units out by a selection that you can answer for"
        raise InputError("LR2016", f"the log is damaged, and later changes may need what its damaged units did: {finding}", hint=hint)


# -- saying -----------------------------------------------------------------------------------------------------------------------------------


def _tell_plan(
    log: LogFile,
    target: Target,
    request: Request,
    way: Way,
    tally: Tally,
    ahead: Ahead,
    problems: list[str],
    runs: list[Run],
    seconds: float,
    echo: Echo,
) -> None:
    echo(f"Replay of {log.source} into {target.shown(request.url)}")
    echo(f"Way: {way}")
    echo(f"{ahead.units:,} units of recovery with {ahead.statements:,} statements are to be {'applied' if way.forward else 'taken back'}:")
    tables = changes_by_table(log, ahead.changes)
    width = max([len(name) for name in tables] or [0])
    for name, counts in tables.items():
        echo(f"  {name:<{width}}  " + ", ".join(f"{kind} {count:,}" for kind, count in counts.items()))
    echo(balance_text(tally))
    for unit, reason in list(tally.quarantined_units.items())[:20]:
        echo(f"set aside: unit {unit_text(unit)}: {reason}")
    if len(tally.quarantined_units) > 20:
        echo(f"… {len(tally.quarantined_units) - 20} more units set aside")
    for finding in tally.findings[:20]:
        echo(str(finding))
    if request.pace.sessions > 1:
        echo(f"Sessions: {request.pace.sessions}; a unit may be there before an earlier one that it has nothing to do with")
    if request.pace.merged:
        echo(
            f"Mode merged: up to {request.pace.merged:,} statements become one net change for each row. The states between are never in the "
            "target; old values are checked for what is different in the end"
        )
    for problem in problems:
        echo(f"refused: {problem}")
    rates = [run.statements / run.seconds for run in runs if run.statements and run.seconds and run.statements >= 1000]
    rate = rates[0] if rates else _USUAL_RATES.get(target.dialect, _UNMEASURED)
    source = "as in the last run" if rates else "as usual on one machine"
    echo(
        f"Estimated time: {ahead.statements / rate:.1f} s at {rate:,.0f} statements a second, {source}; the statements were made in {seconds:.1f} s"
    )


def _tell_in_order(done: Progress, echo: Echo) -> None:
    """What was applied in strict order although the mode was another one, and why."""
    reasons: dict[str, list[bytes]] = {}
    for key, reason in done.in_order.items():
        reasons.setdefault(reason, []).append(key)
    for reason, keys in list(reasons.items())[:20]:
        echo(f"in strict order: {len(keys):,} transactions, the first from unit {unit_text(keys[0][10:])} on: {reason}")
    if len(reasons) > 20:
        echo(f"… and for {len(reasons) - 20} more reasons")


# -- doing ------------------------------------------------------------------------------------------------------------------------------------


@dataclass
class _Doing:
    """One replay that is carried out."""

    log: LogFile
    plan: Plan
    scripts: list[Script]
    ahead: Ahead
    request: Request
    way: Way
    target: Target
    session: Session
    folder: Folder | None

    def run(
        self,
        identity: Mapping[str, Any],
        tally: Tally,
        inputs: list[dict[str, Any]],
        echo: Echo,
        told: Callable[[str, int, int], None],
    ) -> int:
        """Apply, and write the history; the exit code."""
        for attempt in self.request.pace.retrying(ConnectionLost, Transient):
            with attempt:
                if attempt.retry_state.attempt_number > 1:
                    self.session.close()
                    self.session = _connect(self.target, self.request)
                journey = self._begin(identity, tally, inputs)
        room = EvidenceRoom(self.plan, self.log)
        applier = Applier(
            lambda: _connect(self.target, self.request),
            self.scripts,
            journey,
            room,
            self.request.responses,
            self.request.pace,
            self.request.reached,
            self.session,
            self.folder,
            *self._crew(journey.run),
        )
        began = time.perf_counter()
        moved: list[str] = []
        stands: list[Position] = []

        def finish(session: Session) -> None:
            """What is left to do on the target when all is applied, and to be asked of it; may be done twice."""
            moved.extend(self._sequences(session, tally))
            store = Store(session)
            store.end_run(journey.run, "done", applier.done.units, applier.done.statements, time.perf_counter() - began)
            stands.append(applier.position())

        try:
            done = applier.run(lambda count: told("applying", count, self.ahead.statements), finish)
        except LogReplayError as error:
            self._fail(applier, journey, error, time.perf_counter() - began)
            raise
        finally:
            if applier.crew is not None:
                applier.crew.close()
        applier.session().close()
        self._tell_done(done, moved, stands[-1], time.perf_counter() - began, echo)
        return EXIT_WARNING if done.rejected or tally.quarantined else EXIT_OK

    def _tell_done(self, done: Progress, moved: list[str], stands: Position, seconds: float, echo: Echo) -> None:
        verb = "applied" if self.way.forward else "taken back"
        echo(
            f"{done.units:,} units and {done.statements:,} statements {verb} in {seconds:.1f} s ({done.statements / max(seconds, 1e-9):,.0f} a second)"
        )
        if self.folder is not None:
            echo(f"{done.folded:,} statements were folded into {done.net:,} row changes")
        _tell_in_order(done, echo)
        for text in moved:
            echo(f"moved sequence {text}")
        if done.rejected:
            echo(f"{done.rejected:,} changes were not applied as the log says; see status --rejects")
        if done.retried:
            echo(f"{done.retried} transactions were tried again")
        echo(f"The target stands at {point_text(stands.key)}")

    def _begin(self, identity: Mapping[str, Any], tally: Tally, inputs: list[dict[str, Any]]) -> Journey:
        """Write where the target stands, this run and the units that it sets aside, in one transaction. Raises Refusal (LR4007) when the target no
        longer stands where the plan began."""
        store = Store(self.session)
        store.make()
        position = store.position()
        if position is not None and position.key != self.way.key:
            raise Refusal(
                "LR4007", f"the target stands at {point_text(position.key)} now; it was {point_text(self.way.key)}", hint="Run again"
            )
        self.session.begin()
        self.session.durable()
        if position is None:
            store.begin_at(self.log.source, identity, self.way.key)
        program = f"logreplay {replay.__version__}"
        direction = "forward" if self.way.forward else "backward"
        run = store.start_run(program, direction, inputs, self.way.key, self.way.until)
        pending, ahead_of = frozenset(store.pending()), store.ahead()
        if self.way.forward:
            store.set_aside(tally.quarantined_units, run)
        rejected = frozenset() if self.way.forward else rejected_keys(store.rejects())
        self.session.commit()
        return replace(self.way.journey(run, pending, rejected), ahead_of=ahead_of)

    def _crew(self, run: int) -> tuple[Crew | None, Splitter | None]:
        """What ``--sessions`` needs."""
        pace = self.request.pace
        if pace.sessions == 1:
            return None, None

        def connect() -> Session:
            session = self.target.connect(self.request.url)
            session.enforce(self.request.enforcement)
            return session

        splitter = Splitter(self.log, self.scripts, self.plan.constraints, pace.statements)
        return Crew(connect, self.scripts, pace.sessions, run, self.request.reached, pace.tries), splitter

    def _sequences(self, session: Session, tally: Tally) -> list[str]:
        profile, names = profile_named(self.plan.options.dialect), self.plan.options.names
        moved = []
        for index in sorted({version for version, _ in tally.changes}):
            table = self.log.catalog.versions[index].table
            moved += session.move_sequences(target_name(table.schema, profile, names), target_name(table.name, profile, names))
        return moved

    def _fail(self, applier: Applier, journey: Journey, error: LogReplayError, seconds: float) -> None:
        """Complete the line of history with what ended the run. When the database is gone, the line stays open, and status calls the run
        interrupted."""
        outcome = str(error).partition("\n")[0]
        with suppress(TargetError):
            Store(applier.session()).end_run(journey.run, outcome, applier.done.units, applier.done.statements, seconds)
