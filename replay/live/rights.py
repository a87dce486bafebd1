"""What a target would refuse whatever the changes are: a server that only reads, rights that the
user lacks, tables under another name."""

from __future__ import annotations

from replay.changes.balance import Tally
from replay.changes.envelope import ROW_CHANGES, Change
from replay.errors import Refusal
from replay.live import own_tables
from replay.logs import LogFile
from replay.pipeline.plan import Plan
from replay.targets import Session


def refuse_read_only(session: Session) -> None:
    """Raises Refusal (LR4010) for a server, or a file, that takes no changes."""
    if reason := session.read_only():
        raise Refusal("LR4010", f"found a target that cannot be replayed into: {reason}")


def changed_versions(log: LogFile, tally: Tally) -> list[int]:
    """The table versions that changes are of, in their order. A table of which only a statement
    speaks that is noted has no schema, and is none of them: nothing of it reaches the target."""
    versions = sorted({version for version, _ in tally.changes})
    return [version for version in versions if log.catalog.versions[version].table.schema]


def missing_rights(session: Session, plan: Plan, log: LogFile, tally: Tally) -> list[str]:
    """The rights that this user lacks: one line for each table, and for our own."""
    problems = []
    emptied: dict[int, bool] = {}
    for version, change in tally.changes:
        empties = change not in ROW_CHANGES and change != Change.STRUCTURE
        emptied[version] = emptied.get(version, False) or empties
    for version in changed_versions(log, tally):
        empties = emptied[version]
        table = log.catalog.versions[version].table
        if missing := session.missing_rights(*plan.options.place(table), empties):
            problems.append(
                f"{log.catalog.versions[version].name}: this user lacks {', '.join(missing)}"
            )
    problems = list(dict.fromkeys(problems))
    if missing := session.missing_for_own(own_tables.TABLES):
        problems.append(
            f"the position: this user lacks {', '.join(missing)} (somebody who may has its tables"
            " made beforehand with logreplay prepare)"
        )
    return problems


def absence(session: Session, schema: str, table: str) -> str:
    """Why a target has no table of this name, and what it has that comes near."""
    alike = session.alike(table)
    others = ", ".join(f"{other}.{name}" for other, name in alike[:3])
    wanted = (schema.lower(), table.lower())
    if any((other.lower(), name.lower()) == wanted for other, name in alike):
        return (
            f"the target has {others}, and the log's table is {schema}.{table} there: upper and"
            " lower case differ (--names chooses)"
        )
    unseen = "" if session.shows_all else ", or this user has no right on it and is not shown it"
    there = f"; there is {others}" if others else ""
    remedy = "Make it (logreplay ddl has its definition), or leave it out (--exclude-table)"
    return f"the target has no such table ({schema}.{table}){unseen}{there}. {remedy}"
