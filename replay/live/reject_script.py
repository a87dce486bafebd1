"""The changes that a target does not have as the log says, as a script that its user runs once
their cause is gone: above each statement the reason, in it the check of its row.

With each statement its entry leaves the rejects, in one transaction for each unit of recovery: so
it is applied once, and taken back as any other. What no check can look at, and what needs nothing,
stands as a comment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import groupby

import pyarrow as pa

from replay.live.error_policy import Response
from replay.live.position_store import Reject, Store
from replay.public import public
from replay.targets import Session, target_of
from sqlgen.dialects import profile_named
from sqlgen.dialects.row_checks import CheckKind
from sqlgen.row_checks import with_check
from sqlgen.script import escape_comment, script_prologue

#: What has triggers and foreign keys act as in the replay; (on, off), by dialect.
_ENFORCEMENT = {
    "postgres": (
        "SET session_replication_role = origin;",
        "SET session_replication_role = replica;",
    ),
    "mariadb": ("SET SESSION foreign_key_checks = 1;", "SET SESSION foreign_key_checks = 0;"),
    "mysql": ("SET SESSION foreign_key_checks = 1;", "SET SESSION foreign_key_checks = 0;"),
    "sqlite": ("PRAGMA foreign_keys = ON;", "PRAGMA foreign_keys = OFF;"),
}


def script_of(url: str) -> str:
    """The script for all rejects of a target; nothing is written to it."""
    with closing(target_of(url).connect(url)) as session:
        store = Store(session)
        rejects = store.rejects() if store.position() is not None else []
        lines = _RejectScript(session).lines(rejects, public(url))
        return "".join(f"{line}\n" for line in lines)


class _RejectScript:
    """Writes the script for the database of a session."""

    def __init__(self, session: Session) -> None:
        self.profile = profile_named(session.dialect)
        self.reject, self.position = session.own("reject"), session.own("position")
        self.enforced = session.dialect != "sqlite"  # its clients leave foreign keys off

    def lines(self, rejects: Sequence[Reject], url: str) -> Iterator[str]:
        """The whole script."""
        yield from script_prologue(self.profile, "rejects", True).splitlines()
        yield _comment(f"{len(rejects):,} changes that are not in {url} as the log says.")
        yield "-- Each leaves the rejects of the target with the transaction that applies it."
        for _, entries in groupby(rejects, lambda entry: entry.position):
            yield from self._unit(list(entries))

    def _unit(self, entries: Sequence[Reject]) -> Iterator[str]:
        """The transaction of a unit, or comments where nothing is to be run."""
        first = entries[0]
        yield ""
        yield _comment(
            f"unit {first.position.unit}, commit LRSN {first.position.commit.hexadecimal}"
        )
        enforced = first.content.get("enforcement") != "off"
        runs = any(_why_not(entry) is None for entry in entries)
        if runs and enforced is not self.enforced:
            yield _ENFORCEMENT[self.profile.name][not enforced]
            self.enforced = enforced
        if runs:
            yield from filter(None, (self.profile.begin, self.profile.defer))
        for entry in entries:
            yield from self._entry(entry)
        if runs:
            yield from filter(None, (self.profile.commit,))

    def _entry(self, entry: Reject) -> Iterator[str]:
        content = entry.content
        yield _comment(
            f"statement {entry.step + 1} ({content['condition']}, {content['response']}):"
            f" {content['reason']}"
        )
        reason = _why_not(entry)
        if reason is not None:
            yield _comment(f"not run: {reason}")
        block = self._block(entry) if content.get("checked") else [content["statement"]]
        yield from block if reason is None else map(_comment, block)

    def _block(self, entry: Reject) -> list[str]:
        """The statements that remove an entry, and that of the change with its check."""
        commit, unit = entry.position.commit.hexadecimal, entry.position.unit.hexadecimal
        condition = f"commit_lrsn = '{commit}' AND unit = '{unit}' AND step = {entry.step}"
        label = f"unit {entry.position.unit}", entry.step + 1
        forget = f"DELETE FROM {self.reject} WHERE {condition};"
        check = self.profile.row_check
        assert check is not None  # else there is no statement with one
        if check.kind is CheckKind.BEFORE:
            what = check.check.replace("{label}", f"{label[0]}: statement {label[1]}")
            query = f"SELECT {what} FROM {self.reject} WHERE {condition} HAVING COUNT(*) <> 1;"
            forget = f"{query}\n{forget}"
        else:
            forget = with_check(forget, *label, self.profile)
        count = f"UPDATE {self.position} SET rejected = rejected - 1 WHERE id = 1;"
        return [*f"{count}\n{forget}\n{entry.content['checked']}".split("\n")]


def _why_not(entry: Reject) -> str | None:
    """Why a change is not to be run; None where it is."""
    content = entry.content
    if content["response"] == Response.OVERWRITE:
        return "the log's row was put in the place of the one that was there"
    if content["direction"] != "forward":
        return "it was to be taken back, on a way back"
    if not content.get("checked"):
        return "it has no check of its row; look whether it is to be run"
    if content["done"]:
        return (
            "the target was as this change leaves it. Run it, without the comment marks, if that"
            " was undone since"
        )
    return None


def _comment(text: str) -> str:
    return f"-- {escape_comment(pa.array([text]))[0].as_py()}"
