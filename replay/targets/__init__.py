"""Targets: databases that scripts are run on, changes are replayed into, and whose states are
compared. One module each, found by name.

A target is an object (of this package, or in the entry-point group ``logreplay.targets``) with the
methods of :class:`replay.targets.target.SqlTarget`. Drivers are imported inside functions, so that
writing scripts needs none of them. What its ``connect`` gives is a
:class:`replay.targets.session.SqlSession`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from replay.errors import UsageError
from replay.redaction import is_readable
from replay.targets.outcomes import (
    LOST,
    CommitRefused,
    Condition,
    ConnectionLost,
    OwnTable,
    StatementCounts,
    StatementFailure,
    TableFacts,
    TargetForeignKey,
    Transient,
)
from replay.targets.session import SqlSession as Session
from replay.targets.target import SqlTarget as Target
from sqlgen.errors import did_you_mean

__all__ = [
    "BUILT_IN",
    "LOST",
    "CommitRefused",
    "Condition",
    "ConnectionLost",
    "OwnTable",
    "Session",
    "StatementCounts",
    "StatementFailure",
    "TableFacts",
    "Target",
    "TargetForeignKey",
    "Transient",
    "target_named",
    "target_of",
    "undone_where_it_fails",
]


@contextmanager
def undone_where_it_fails(session: Session) -> Iterator[None]:
    """Undo the transaction of a session where what is done in it ends in an error. Somebody who
    interrupts comes amid an answer: nothing can be asked of the session then (the error of that
    would hide the interruption, and be tried again), and its end undoes the transaction."""
    try:
        yield
    except ConnectionLost:
        raise
    except Exception:
        session.rollback()
        raise
    except BaseException:
        session.interrupt()
        session.close()
        raise


#: Targets of this package, by name; others are entry points of this group.
_GROUP = "logreplay.targets"
BUILT_IN = {
    "postgres": "replay.targets.postgres:POSTGRES",
    "duckdb": "replay.targets.duckdb:DUCKDB",
    "sqlite": "replay.targets.sqlite:SQLITE",
    "mariadb": "replay.targets.mysql:MARIADB",
    "mysql": "replay.targets.mysql:MYSQL",
}
#: URL scheme -> target, where they differ.
_SCHEMES = {"postgresql": "postgres"}


def target_named(name: str) -> Target:
    """The target of this name; UsageError (LR1001) when there is none."""
    from importlib.metadata import EntryPoint, entry_points

    if name in BUILT_IN:
        return cast(Target, EntryPoint(name, BUILT_IN[name], _GROUP).load())
    points = {point.name: point for point in entry_points(group=_GROUP)}
    if name in points:
        return cast(Target, points[name].load())
    known = sorted({*BUILT_IN, *_SCHEMES, *points})
    message = f"found target {name!r}; expected one of: {', '.join(known)}"
    raise UsageError("LR1001", message + did_you_mean(name, known))


def target_of(url: str) -> Target:
    """The target for a URL, by its scheme; UsageError (LR1001) for one that no installed target
    knows."""
    scheme = url.partition(":")[0] if ":" in url.partition("/")[0] else ""
    target = target_named(_SCHEMES.get(scheme, scheme)) if scheme else None
    if target is None or not url.startswith(f"{scheme}://"):
        begins = f"URL that begins with {scheme}: without two slashes"
        raise UsageError(
            "LR1001",
            f"found a {begins if scheme else 'target without a scheme'}; expected a URL such as"
            " postgresql://user@host/database or sqlite:///shop.db",
        )
    if not is_readable(url):
        raise UsageError(
            "LR1001",
            "found a URL that cannot be read; expected user, password, host and port each as URLs"
            " write them",
            hint="In a user or password write / as %2F, ? as %3F, # as %23, @ as %40, [ as %5B and"
            " ] as %5D; or leave the password to the environment",
        )
    return target
