"""What a user asks of a replay, and of which log, made of the words of a program or of a command
line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from replay.changes.choices import ApplyMode, Enforcement
from replay.changes.options import ScriptOptions
from replay.changes.position import LOWEST, Position
from replay.changes.selection import Selection
from replay.engine.contract import Engine
from replay.errors import UsageError, usage_errors
from replay.live.error_policy import ErrorPolicy, error_policy_of
from replay.live.hazard_refusals import accepted_kinds
from replay.live.preflight import connect_locked
from replay.live.route import Destination
from replay.live.target_transactions import nothing
from replay.live.transaction_size import USUAL, Pace
from replay.logs import LogFile
from replay.logs.record_facts import resolve_position
from replay.options.keywords import (
    POLICIES,
    LiveOptions,
    PositionText,
    ReplayOptions,
    octets_of_position,
    script_options,
)
from replay.pipeline.points import read_point
from replay.pipeline.request import Request
from replay.targets import Session, Target, target_of
from sqlgen.errors import choice
from sqlgen.schema import Constraints


@dataclass(frozen=True)
class ReplayRequest:
    """What a user asks of a replay.

    ``apply``: the plan is to be carried out at once, so that it is made under the lock (else the
    lock is taken when it is carried out). ``at``: where a target stands that was never replayed.
    ``accepted``: codes (:class:`replay.targets.hazards.HazardKind`) of what the user answers for.
    ``adjoining``: the log begins, or ends, where the target stands. ``reached`` hears of every
    point where a kill is interesting.
    """

    url: str
    apply: bool = False
    destination: Destination = field(default_factory=Destination)
    at: Position | None = None
    adjoining: bool = False
    enforcement: Enforcement = Enforcement.ON
    policy: ErrorPolicy = field(default_factory=ErrorPolicy)
    pace: Pace = field(default_factory=Pace)
    reached: Callable[[str], None] = nothing
    accepted: frozenset[str] = frozenset()

    @property
    def enforced(self) -> bool:
        """Whether the target's triggers and foreign keys act."""
        return self.enforcement is Enforcement.ON

    def connect(self, target: Target) -> Session:
        """A session for what is asked: to apply it, one that holds the lock."""
        return self.connect_locked(target) if self.apply else target.connect(self.url)

    def connect_locked(self, target: Target) -> Session:
        """A session that holds the lock of all replays into the target."""
        return connect_locked(target, self.url, self.enforced)


@dataclass(frozen=True)
class ReplayInput:
    """A log, what is to be taken of it and how it is written, what is known of the tables' keys,
    and the engine that does it."""

    log: LogFile
    selection: Selection
    options: ScriptOptions
    constraints: Constraints
    engine: Engine


def without_end(
    selection: Selection, until: bytes | None, until_time: bytes | None, until_mark: str | None
) -> tuple[Selection, bytes | None, bytes | None, str | None]:
    """A selection without its end, and the end of a replay (position, time, mark): its own, where
    the selection has none. UsageError (LR1001) for several ends."""
    ends: list[bytes | str | None] = [until, until_time, until_mark, selection.until_position]
    ends = [end for end in (*ends, selection.until_time, selection.until_mark) if end is not None]
    if len(ends) > 1:
        raise UsageError("LR1001", f"found {len(ends)} ends of a replay; expected at most one")
    chosen = replace(selection, until_position=None, until_time=None, until_mark=None)
    return (
        chosen,
        until or selection.until_position,
        until_time or selection.until_time,
        until_mark or selection.until_mark,
    )


def replay_options(url: str, selection: Selection, options: LiveOptions) -> ScriptOptions:
    """How the statements for a live database are written; rows are found by their key and the old
    values of what changes, unless told otherwise."""
    mine = {
        name: value
        for name, value in options.items()
        if name in (*POLICIES, "names", "where_columns")
    }
    given: dict[str, Any] = {"where_columns": "guard", **mine}
    return script_options(target_of(url).dialect, selection, **given)


def input_of(request: Request, engine: Engine) -> ReplayInput:
    """A request as a live database takes it. UsageError (LR1001) for a range: where a replay begins
    is up to the target, and where it ends is said to it."""
    selection = request.selection
    for name in ("from_position", "until_position", "from_time", "until_time"):
        if getattr(selection, name) is not None:
            raise UsageError(
                "LR1001",
                f"found {name} in a selection for a live database; expected changes of the whole"
                " log",
                hint="Give replay() its end (until, until_time, until_mark)",
            )
    return ReplayInput(request.log, selection, request.options, request.constraints, engine)


def placed(request: Request, position: bytes | None) -> Position | None:
    """A position of a replay, as the log places it (the last that it may mean)."""
    return resolve_position(request.log, position, True)


def _standing(request: Request, at: PositionText | None) -> Position | None:
    """Where the data of a target stand that was never replayed: a point of the log as states have
    it; None, and the start of the log: before it. UsageError as of
    :func:`replay.pipeline.points.read_point`."""
    if not isinstance(at, str):
        return placed(request, octets_of_position(at))
    point = read_point(request.log, at, request.selection.marks, reached=False)
    return None if point.position == LOWEST else point.position


def request_for(
    request: Request,
    url: str,
    destination: Destination,
    options: ReplayOptions,
    apply: bool = False,
) -> ReplayRequest:
    """The request of a replay. UsageError (LR1001) for option values that do not exist."""
    on = options.get("on", ())
    with usage_errors():
        enforcement = choice(Enforcement, options.get("enforcement", "on"), "--enforcement")
    return ReplayRequest(
        url,
        apply,
        destination,
        _standing(request, options.get("at")),
        options.get("adjoining", False),
        enforcement,
        error_policy_of([on] if isinstance(on, str) else on),
        pace=pace_of(options),
        accepted=accepted_kinds(options.get("accept", ())),
    )


def pace_of(options: ReplayOptions) -> Pace:
    """How a replay is cut into transactions. UsageError (LR1001) for words and numbers that no
    option has."""
    with usage_errors():
        mode = choice(ApplyMode, options.get("mode", ApplyMode.STRICT), "--mode")
        named = options.get("commit_every"), options.get("commit_statements")
        units, statements = (
            usual if one is None else one for one, usual in zip(named, USUAL[mode], strict=True)
        )
        return Pace(
            units,
            statements,
            options.get("tries", Pace.tries),
            mode=mode,
        )
