"""What a user asks of a replay, and of which log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from replay.changes.choices import Enforcement
from replay.changes.options import ScriptOptions
from replay.changes.position import Position
from replay.changes.selection import Selection
from replay.engine.contract import Engine
from replay.live.error_policy import ErrorPolicy
from replay.live.pace import Pace
from replay.live.preflight import connect_locked
from replay.live.route import Destination
from replay.live.transactions import nothing
from replay.logs import LogFile
from replay.targets import Session, Target
from sqlgen.constraints import Constraints


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
