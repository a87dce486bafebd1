"""What a target says about itself: how far it has been replayed, its runs, marks, units set aside
and rejects; and these as a script that its user runs once their cause is gone.

Above each statement of that script stands the reason, in it the check of its row. With each
statement its entry leaves the rejects, in one transaction for each unit of recovery: so it is
applied once, and taken back as any other. What no check can look at, and what needs nothing, stands
as a comment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from replay import storage
from replay.changes.balance import SHOWN
from replay.changes.position import Position
from replay.errors import InputError, UsageError, Where, counted
from replay.live import own_tables
from replay.live.error_policy import Response
from replay.live.own_tables import HIDDEN
from replay.live.position_store import Reject, Store
from replay.logs import LogFile
from replay.logs.words import said_of
from replay.pipeline.extent import commit_times
from replay.pipeline.positions import LogPosition
from replay.redaction import public
from replay.targets import Session, target_of
from sqlgen.dialects import CheckKind, profile_named
from sqlgen.row_checks import with_check
from sqlgen.script import escape_comment, script_prologue, search_path

#: The file in a folder that is followed whose presence pauses that.
_PAUSE = ".logreplay-paused"


@contextmanager
def _connected(url: str) -> Iterator[Store]:
    """Our tables in a target, through a session of their own."""
    with closing(target_of(url).connect(url)) as session:
        yield Store(session)


def of(url: str, runs: int) -> dict[str, Any]:
    """Everything that is kept in the target, as JSON-able data; nothing is written."""
    with _connected(url) as store:
        row = store.position()
        report: dict[str, Any] = {
            "target": public(url),
            "position": None,
            "marks": {n: c.hexadecimal for n, c in store.marks().items()},
        }
        if row is None:
            report |= {"hidden": True} if store.is_hidden() else {}
            return {**report, "runs": [], "set_aside": [], "rejects": []}
        report["position"] = {
            "source": row.source,
            "commit_lrsn": row.position.commit.hexadecimal,
            "unit": row.position.unit.hexadecimal,
            "text": str(row.position),
            "changed_at": row.changed_at,
            "units": row.units,
            "statements": row.statements,
            "rejected": row.rejected,
            "options": row.options,
            "accepted": list(row.accepted),
        }
        report["runs"] = [
            {
                "run": run.number,
                "direction": run.direction,
                "started_at": run.started_at,
                "ended_at": run.ended_at,
                "outcome": (
                    run.outcome
                    or ("under way or interrupted" if run.number == row.run else "interrupted")
                ),
                "units": run.units,
                "statements": run.statements,
                "seconds": run.seconds,
            }
            for run in store.runs(runs)
        ]
        pending = store.pending()
        report["set_aside"] = [
            {"unit": str(unit), "reason": reason}
            for unit, reason in sorted(pending.items())[:SHOWN]
        ]
        if len(pending) > SHOWN:
            report["more_set_aside"] = len(pending) - SHOWN
        report["rejects"] = [dict(reject.content) for reject in store.rejects()]
        return report


def with_times(report: Mapping[str, Any], log: LogFile) -> dict[str, Any]:
    """A report (:func:`of`) with the commit times that a log tells of the position and the marks:
    ``committed`` of the position (None: not in this log), ``mark_times`` by name. UsageError
    (LR1001) for a log of another source."""
    position = report["position"]
    if position is not None and position["source"] != log.source:
        raise UsageError(
            "LR1001",
            f"found a log of {log.source}; expected one of {position['source']}, which the target"
            " was replayed from",
        )
    texts = list(report["marks"].values())
    texts += [] if position is None else [position["commit_lrsn"]]
    times = commit_times(log, (Position(bytes.fromhex(text)) for text in texts))
    told = {place.hexadecimal: time for place, time in times.items()}
    marks = {name: told.get(text) for name, text in report["marks"].items()}
    if position is not None:
        position = {**position, "committed": told.get(position["commit_lrsn"])}
    return {**report, "position": position, "mark_times": marks}


@dataclass(frozen=True)
class Stand:
    """How far a target is: its ``position`` (None: nothing was replayed), what is in it, why each
    unit that is set aside (``pending``) is, and its marks. ``logs``: those that were read;
    ``pending_logs``: those that these units are in or hang on (None: not known)."""

    position: Position | None
    units: int
    statements: int
    pending: tuple[str, ...]
    marks: Mapping[str, Position]
    logs: frozenset[str] = frozenset()
    pending_logs: frozenset[str] | None = None

    @classmethod
    def of(
        cls, place: LogPosition, units: int, statements: int, marks: Mapping[str, Position] = {}
    ) -> Stand:
        """That of a target or a dataset at a position."""
        at = None if place.position is None else place.position.commit
        pending = tuple(map(str, place.pending.values()))
        logs = frozenset(place.logs)
        return cls(at, units, statements, pending, marks, logs, place.pending_logs)


def stand(url: str) -> Stand:
    """How far a target is; nothing is written."""
    with _connected(url) as store:
        row, place, marks = store.position(), store.log_position(), store.marks()
        if row is None or place is None:
            return Stand(None, 0, 0, (), marks)
        return Stand.of(place, row.units, row.statements, marks)


def is_paused(folder: str) -> bool:
    """Whether those who follow a folder shall do nothing."""
    return (storage.at(folder) / _PAUSE).exists()


@contextmanager
def _pausing(folder: str) -> Iterator[storage.Place]:
    """The file that pauses those who follow a folder."""
    place = storage.at(folder)
    if isinstance(place, Path) and not place.is_dir():
        raise UsageError("LR1004", f"found no folder {folder}; expected the one that is followed")
    try:
        yield place / _PAUSE
    except OSError as error:
        if isinstance(place, Path):
            raise
        said = str(error).partition("\n")[0]
        message = f"the store cannot be reached, or written to: {said}"
        raise InputError("LR2001", message, Where(folder)) from None


def pause(folder: str) -> str:
    """Tell those who follow a folder, or a place in a store, to do nothing; a sentence that says
    so, and whether nothing else is there. UsageError (LR1004) where there is no such folder,
    InputError (LR2001) where a store cannot be written to."""
    with _pausing(folder) as file:
        file.write_text("")
        named = not any(letter in folder for letter in "*?[")
        alone = named and all(other.name == _PAUSE for other in file.parent.iterdir())
    said = f"{folder}: paused; go on with: logreplay resume {folder}"
    return f"{said} (nothing else is there yet, or the name is mistyped)" if alone else said


def resume(folder: str) -> str:
    """Tell those who follow a folder to go on; a sentence that says so, or that it was not paused.
    Errors as :func:`pause`."""
    with _pausing(folder) as file:
        paused = file.exists()
        file.unlink(missing_ok=True)
    return f"{folder}: goes on" if paused else f"{folder}: was not paused"


def text(report: Mapping[str, Any]) -> str:
    """The status for the terminal."""
    lines = [f"Target {report['target']}"]
    position = report["position"]
    if position is None:
        said = f"warning: {HIDDEN}" if report.get("hidden") else "Nothing was replayed into it."
        return "\n".join([*lines, said, *_marks(report)])
    lines += [
        (
            f"Replayed from {position['source']} up to"
            f" {said_of(position['source'], position['text'])} ({_committed(position)}changed"
            f" {position['changed_at']})"
        ),
        f"  {_amount(position)}, {position['rejected']:,} not as the log says",
        f"  options: {_options(position['options'])}",
    ]
    if position["accepted"]:
        lines.append(f"  accepted: {', '.join(position['accepted'])}")
    lines += [
        f"quarantined: unit {unit['unit']}: {unit['reason']}" for unit in report["set_aside"][:20]
    ]
    more = len(report["set_aside"]) - 20 + report.get("more_set_aside", 0)
    if more > 0:
        lines.append(f"… {more} more units quarantined; see --json")
    for entry in report["rejects"][:20]:
        lines.append(
            f"not as logged: unit {entry['unit']}: {entry['condition']}, {entry['response']}:"
            f" {entry['reason']}"
        )
    if len(report["rejects"]) > 20:
        lines.append(f"… {len(report['rejects']) - 20} more; see --rejects F")
    lines += _marks(report)
    for run in report["runs"]:
        amount = (
            ""
            if run["units"] is None
            else (
                f", {counted(run['units'], 'unit')}, {counted(run['statements'], 'statement')}"
                f" in {run['seconds']:.1f} s"
            )
        )
        lines.append(
            f"run {run['run']}: {run['direction']}, {run['started_at']}: {run['outcome']}{amount}"
        )
    return "\n".join(lines)


def _amount(position: Mapping[str, Any]) -> str:
    """What replays put into a target, or took out of what it held before them."""
    units, statements = position["units"], position["statements"]
    amount = f"{counted(abs(units), 'unit')} and {counted(abs(statements), 'statement')}"
    if min(units, statements) < 0:
        return f"{amount} that it held before the first replay are undone"
    return f"{amount} are in it"


def _options(options: Mapping[str, Any]) -> str:
    """The options of a replay that say more than nothing."""
    return ", ".join(
        f"{name.replace('_', '-')} {_option(value)}"
        for name, value in options.items()
        if value not in (None, False, "", [], {})
    )


def _option(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"({_options(value)})"
    if isinstance(value, list):
        return " ".join(map(_option, value))
    return "yes" if value is True else str(value)


def _marks(report: Mapping[str, Any]) -> list[str]:
    source = report["position"]["source"] if report["position"] else "logmaster"
    at = said_of(source, "commit LRSN")
    times = report.get("mark_times", {})
    return [
        f"mark {name}: {at} {commit}" + (f", committed {times[name]}" if times.get(name) else "")
        for name, commit in report["marks"].items()
    ]


def _committed(position: Mapping[str, Any]) -> str:
    """When what a target holds last was committed, where a log was asked."""
    if "committed" not in position:
        return ""
    time = position["committed"]
    return f"committed {time}, " if time else "commit time not in this log, "


def rejects_text(report: Mapping[str, Any]) -> str:
    """The rejects, one JSON object a line."""
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in report["rejects"])


def prepare(url: str, role: str | None, only_print: bool) -> str:
    """Make our tables where they are not there, and grant ``role`` what a replay needs on them; the
    statements for that with ``only_print``, else a sentence."""
    with closing(target_of(url).connect(url)) as session:
        own_tables.refuse_strange(session, writes=True)
        grants = [] if role is None else session.grants(role, own_tables.TABLES)
        if only_print:
            wanted = [*own_tables.statements(session), *grants]
            path = search_path(profile_named(session.dialect))
            return "\n".join([*path, *(f"{statement};" for statement in wanted)])
        own_tables.make(session, grants)
    granted = "" if role is None else f", and {role} may use them"
    return f"the tables of the position are in {public(url)}{granted}"


def way_back(url: str, role: str | None, schema: str | None) -> str:
    """The statements that have a target's changes recorded from now on; nothing is written."""
    with closing(target_of(url).connect(url)) as session:
        wanted = [*own_tables.statements(session), *session.way_back(role, schema)]
    return "\n".join(f"{statement};" for statement in wanted)


def mark(url: str, name: str, commit: Position | None) -> str:
    """Name a commit position (None: where the target stands) in the target; a sentence that says
    so."""
    with _connected(url) as store:
        row = store.position()
        if commit is None:
            if row is None:
                raise UsageError(
                    "LR1001",
                    "the target has no position",
                    hint="Say which point is meant (--position)",
                )
            commit = row.position.commit
        store.make()
        store.mark(name, commit)
    said = f"mark {name}: commit LRSN {commit.hexadecimal} in {public(url)}"
    return said if row is None else said_of(row.source, said)


def forget_mark(url: str, name: str) -> str:
    """Take back a mark of the target; a sentence that says so. UsageError (LR1004) where it is not
    there."""
    with _connected(url) as store:
        known = store.marks()
        if name not in known:
            raise UsageError(
                "LR1004",
                f"found no mark {name!r} in {public(url)}",
                hint=f"Marks: {', '.join(sorted(known)) or 'none'}",
            )
        store.forget_mark(name)
    return f"mark {name} is no more; it was commit LRSN {known[name].hexadecimal}"


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


def reject_script(url: str) -> str:
    """The script for all rejects of a target; nothing is written to it."""
    with _connected(url) as store:
        rejects = store.rejects() if store.position() is not None else []
        lines = _RejectScript(store.session).lines(rejects, public(url))
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
        yield _comment(f"{counted(len(rejects), 'change')} not in {url} as the log says.")
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
        return "it was to be undone, on a way back"
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
