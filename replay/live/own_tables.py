"""Our tables in a target: what they look like, the statements that make them, and whether what is
there is ours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from replay.errors import Refusal, TargetError
from replay.targets import ConnectionLost, OwnTable, Session, Transient

#: Our tables by name.
TABLES: Mapping[str, OwnTable] = {
    "position": OwnTable(
        (
            ("id", "integer", True),
            ("source", "varchar(100)", True),
            ("options", "text", True),
            ("digest", "varchar(64)", True),
            ("commit_lrsn", "varchar(20)", True),
            ("unit", "varchar(24)", True),
            ("units", "bigint", True),
            ("statements", "bigint", True),
            ("rejected", "bigint", True),
            ("run", "bigint", True),
            ("changed_at", "timestamp", True),
        ),
        ("id",),
    ),
    "run": OwnTable(
        (
            ("id", "bigint", True),
            ("program", "varchar(40)", True),
            ("direction", "varchar(10)", True),
            ("inputs", "text", True),
            ("position_before", "text", True),
            ("position_after", "text", True),
            ("until_commit", "varchar(20)", True),
            ("started_at", "timestamp", True),
            ("ended_at", "timestamp", False),
            ("outcome", "varchar(200)", False),
            ("units", "bigint", False),
            ("statements", "bigint", False),
            ("seconds", "double precision", False),
        ),
        ("id",),
    ),
    "pending": OwnTable(
        (("unit", "varchar(24)", True), ("reason", "text", True), ("run", "bigint", True)),
        ("unit",),
    ),
    "reject": OwnTable(
        (
            ("commit_lrsn", "varchar(20)", True),
            ("unit", "varchar(24)", True),
            ("step", "integer", True),
            ("run", "bigint", True),
            ("entry", "text", True),
        ),
        ("commit_lrsn", "unit", "step"),
    ),
    "mark": OwnTable(
        (
            ("name", "varchar(100)", True),
            ("commit_lrsn", "varchar(20)", True),
            ("made_at", "timestamp", True),
        ),
        ("name",),
    ),
}

_PREPARE = "Ask a user with the CREATE right to run: logreplay prepare --to URL --role USER"


def statements(session: Session, missing: bool = True) -> list[str]:
    """The statements (without ``;``) that make the place for our tables and our tables: those that
    are not there, or all of them."""
    there = session.own_tables() if missing else frozenset()
    setting_up = [] if not session.home or (missing and session.has_place()) else [session.home]
    return setting_up + [_definition(session, name) for name in TABLES if name not in there]


def make(session: Session, grants: Sequence[str] = ()) -> None:
    """Make what is missing of our tables, then run ``grants``; nothing is asked of a user's rights
    where all are there. Raises TargetError (LR4001) with the way out where this user may not,
    Refusal (LR4010)."""
    refuse_strange(session, writes=True)
    wanted = [*statements(session), *grants]
    if not wanted:
        return
    try:
        session.begin()
        for statement in wanted:
            session.execute(statement)
        session.commit()
    except (ConnectionLost, Transient):
        raise
    except TargetError as error:
        session.rollback()
        raise TargetError(
            error.code,
            f"the tables for the position cannot be made: {error.message}",
            error.where,
            f"{_PREPARE}; logreplay prepare --print shows the statements",
        ) from error


#: What is said of a target whose position this user may not see.
HIDDEN = (
    "this user is not shown logreplay's own tables, so whether a replay moved this target, and how"
    " far, is not known (GRANT SELECT ON logreplay.* shows it)"
)


#: What servers say of a right that lacks, in whatever language: PostgreSQL; MariaDB and MySQL of a
#: database, a table, a column and a routine.
_DENIED = re.compile(r"\b(SQLSTATE 42501|error (1044|1142|1143|1370)):")


def is_denied(error: TargetError) -> bool:
    """Whether a statement failed for want of a right."""
    return _DENIED.search(error.message) is not None


@contextmanager
def rights_told() -> Iterator[None]:
    """What a user may not do with our tables comes with the way out."""
    try:
        yield
    except (ConnectionLost, Transient):
        raise
    except TargetError as error:
        if not is_denied(error):
            raise
        said = error.message.partition("\n")[0]
        raise TargetError(
            error.code,
            f"the tables for the position cannot be used by this user: {said}",
            error.where,
            f"{_PREPARE}. To look only, USAGE on the schema logreplay and SELECT on its tables are"
            " enough",
        ) from error


def refuse_strange(session: Session, writes: bool) -> None:
    """Raises Refusal (LR4010) where tables under our names are not as we make them; with
    ``writes``, also where somebody else owns them, who could have them act."""
    if strange := session.strange_tables(TABLES, writes):
        more = f" ({len(strange) - 1} more)" if len(strange) > 1 else ""
        raise Refusal(
            "LR4010",
            f"found tables for the position that logreplay did not make: {strange[0]}{more};"
            " expected those that logreplay makes, or none",
            hint="They would be used with this user's rights. Find out who made them; then"
            f" {session.forget}",
        )


def _definition(session: Session, name: str) -> str:
    table = TABLES[name]
    columns = [
        f"{column} {spelled(session, kind)}{' NOT NULL' if strict else ''}"
        for column, kind, strict in table.columns
    ]
    key = f"PRIMARY KEY ({', '.join(table.key)})"
    return f"CREATE TABLE {session.own(name)} ({', '.join([*columns, key])})"


def spelled(session: Session, kind: str) -> str:
    """A type of ours as the target calls it."""
    return re.sub(
        r"^(text|timestamp)$", lambda kind_name: session.types.get(kind_name[0], kind_name[0]), kind
    )
