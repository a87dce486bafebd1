"""How far a target has been replayed, kept in the target itself and changed in the transactions that change its data.

Six tables of ours, in a schema ``logreplay`` (or with that prefix): ``position`` (one row), ``run`` (history), ``pending`` (units of recovery that a run
set aside, so that a later log may still bring them), ``ahead`` (units that parallel sessions committed and the position has not come to yet),
``reject`` (changes that were not applied as the log says), ``mark`` (named points).
The SQL here is what all targets understand; a session spells the names.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replay.changes import unit_text
from replay.errors import Refusal, TargetError
from replay.targets import Session

#: A key is a commit position (10 bytes) and a unit (12 bytes); this unit comes after every one of its commit position.
LAST_UNIT = b"\xff" * 12

_TABLES = {
    "position": """id integer NOT NULL PRIMARY KEY, source varchar(100) NOT NULL, options text NOT NULL, digest varchar(64) NOT NULL,
        commit_lrsn varchar(20) NOT NULL, unit varchar(24) NOT NULL, units bigint NOT NULL, statements bigint NOT NULL, rejected bigint NOT NULL,
        run bigint NOT NULL, changed_at timestamp NOT NULL""",
    "run": """id bigint NOT NULL PRIMARY KEY, program varchar(40) NOT NULL, direction varchar(10) NOT NULL, inputs text NOT NULL,
        from_commit varchar(20) NOT NULL, from_unit varchar(24) NOT NULL, until_commit varchar(20) NOT NULL, started_at timestamp NOT NULL,
        ended_at timestamp, outcome varchar(200), units bigint, statements bigint, seconds double precision""",
    "pending": "unit varchar(24) NOT NULL PRIMARY KEY, reason text NOT NULL, run bigint NOT NULL",
    "ahead": "first_key varchar(44) NOT NULL PRIMARY KEY, last_key varchar(44) NOT NULL, unit_keys text NOT NULL",
    "reject": """commit_lrsn varchar(20) NOT NULL, unit varchar(24) NOT NULL, step integer NOT NULL, run bigint NOT NULL, entry text NOT NULL,
        PRIMARY KEY (commit_lrsn, unit, step)""",
    "mark": "name varchar(100) NOT NULL PRIMARY KEY, commit_lrsn varchar(20) NOT NULL, made_at timestamp NOT NULL",
}
#: Length of YYYY-MM-DD HH:MM:SS, with which moments begin in every target.
_SECONDS = 19
CLEAN = "Bring the target to a known state first, for example from a copy; then forget the old position with: {}"


@dataclass(frozen=True)
class Position:
    """The position row. Every committed unit of ``source`` up to ``key`` is in the target, but for those that are pending."""

    source: str
    options: Mapping[str, Any]
    digest: str
    key: bytes
    units: int
    statements: int
    rejected: int
    run: int
    changed_at: str

    @property
    def commit(self) -> bytes:
        """The commit position."""
        return self.key[:10]


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


def digest_of(options: Mapping[str, Any]) -> str:
    """Digest of what decides which statements a change becomes."""
    return hashlib.sha256(json.dumps(options, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def point_text(key: bytes) -> str:
    """A position for people."""
    unit = "all units of this commit LRSN" if key[10:] == LAST_UNIT else f"unit {unit_text(key[10:])}"
    return f"commit LRSN {key[:10].hex().upper()}, {unit}"


class Store:
    """Reads and writes our tables through a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.name = {table: session.own(table) for table in _TABLES}

    def make(self) -> None:
        """Make our tables where they are not there."""
        self.session.begin()
        self.session.make_home()
        for table, columns in _TABLES.items():
            spelled = re.sub(r" (text|timestamp)\b", lambda kind: f" {self.session.types.get(kind[1], kind[1])}", columns)
            self.session.execute(f"CREATE TABLE IF NOT EXISTS {self.name[table]} ({spelled})")
        self.session.commit()

    def position(self) -> Position | None:
        """The position, None where nothing was replayed yet."""
        if not self.session.has_home():
            return None
        columns = "source, options, digest, commit_lrsn, unit, units, statements, rejected, run, changed_at"
        for row in self.session.query(f"SELECT {columns} FROM {self.name['position']} WHERE id = 1"):
            source, options, digest, commit, unit, units, count, rejected, run, changed = row
            key = bytes.fromhex(commit + unit)
            return Position(source, json.loads(options), digest, key, units, count, rejected, run, str(changed)[:_SECONDS])
        return None

    def begin_at(self, source: str, options: Mapping[str, Any], key: bytes) -> None:
        """Make the position row of a target that has none."""
        values = (source, json.dumps(options, ensure_ascii=False), digest_of(options), key[:10].hex().upper(), key[10:].hex().upper())
        columns = "id, source, options, digest, commit_lrsn, unit, units, statements, rejected, run, changed_at"
        self.session.execute(
            f"INSERT INTO {self.name['position']} ({columns}) VALUES (1, %s, %s, %s, %s, %s, 0, 0, 0, 0, CURRENT_TIMESTAMP)", values
        )

    def move(self, before: bytes, after: bytes, units: int, statements: int, rejected: int) -> None:
        """Move the position inside a transaction, which must find it where it was. Raises Refusal (LR4007)."""
        (commit, unit), (old_commit, old_unit) = ((key[:10].hex().upper(), key[10:].hex().upper()) for key in (after, before))
        statement = (
            f"UPDATE {self.name['position']} SET commit_lrsn = '{commit}', unit = '{unit}', units = units + {units}, "
            f"statements = statements + {statements}, rejected = rejected + {rejected}, changed_at = CURRENT_TIMESTAMP "
            f"WHERE id = 1 AND commit_lrsn = '{old_commit}' AND unit = '{old_unit}';"
        )
        outcome = self.session.run(statement.encode())
        if outcome.failure is not None:
            raise TargetError("LR4001", f"the position cannot be moved: {outcome.failure}")
        if outcome.counts != [1]:
            raise Refusal(
                "LR4007", f"the target's position is no longer {point_text(before)}: somebody else moved it", hint="Run replay again"
            )

    # -- several sessions -----------------------------------------------------------------------------------------------------------------

    def note(self, run: int, keys: Sequence[bytes], statements: int) -> None:
        """Note units (keys, rising) that this transaction commits ahead of the position, and count them. Raises Refusal (LR4007) when another run
        has begun since."""
        counts = f"units = units + {len(keys)}, statements = statements + {statements}, changed_at = CURRENT_TIMESTAMP"
        if self.session.execute(f"UPDATE {self.name['position']} SET {counts} WHERE id = 1 AND run = {run}") != 1:
            raise Refusal("LR4007", f"the target's position no longer belongs to run {run}", hint="Run replay again")
        texts = [key.hex().upper() for key in keys]
        statement = f"INSERT INTO {self.name['ahead']} (first_key, last_key, unit_keys) VALUES (%s, %s, %s)"
        self.session.execute(statement, (texts[0], texts[-1], " ".join(texts)))

    def ahead(self) -> frozenset[bytes]:
        """Keys of the units that are in the target ahead of its position."""
        if not self.session.has_home():
            return frozenset()
        return frozenset(
            bytes.fromhex(key) for (keys,) in self.session.query(f"SELECT unit_keys FROM {self.name['ahead']}") for key in keys.split()
        )

    def fence(self, run: int) -> None:
        """Wait until no transaction that this run began elsewhere can still be committed."""
        self.session.begin()
        self.session.execute(f"UPDATE {self.name['position']} SET run = run WHERE id = 1 AND run = {run}")
        self.session.commit()

    def passed(self, key: bytes) -> None:
        """Forget units ahead of the position that a transaction moves to ``key``."""
        self.session.execute(f"DELETE FROM {self.name['ahead']} WHERE last_key <= %s", (key.hex().upper(),))

    # -- history ------------------------------------------------------------------------------------------------------------------------

    def start_run(self, program: str, direction: str, inputs: Sequence[Mapping[str, Any]], key: bytes, until: bytes | None) -> int:
        """Write a line of history; its number."""
        number = int(self.session.query(f"SELECT coalesce(max(id), 0) + 1 FROM {self.name['run']}")[0][0])
        columns = "id, program, direction, inputs, from_commit, from_unit, until_commit, started_at"
        values = (
            number,
            program,
            direction,
            json.dumps(list(inputs)),
            key[:10].hex().upper(),
            key[10:].hex().upper(),
            (until or b"").hex().upper(),
        )
        self.session.execute(f"INSERT INTO {self.name['run']} ({columns}) VALUES (%s, %s, %s, %s, %s, %s, %s, CURRENT_TIMESTAMP)", values)
        self.session.execute(f"UPDATE {self.name['position']} SET run = %s WHERE id = 1", (number,))
        return number

    def end_run(self, number: int, outcome: str, units: int, statements: int, seconds: float) -> None:
        """Complete a line of history."""
        statement = f"UPDATE {self.name['run']} SET ended_at = CURRENT_TIMESTAMP, outcome = %s, units = %s, statements = %s, seconds = %s WHERE id = %s"
        self.session.execute(statement, (outcome[:200], units, statements, seconds, number))

    def runs(self, latest: int) -> list[Run]:
        """The latest lines of history, newest first."""
        columns = "id, direction, started_at, ended_at, outcome, units, statements, seconds"
        rows = self.session.query(f"SELECT {columns} FROM {self.name['run']} ORDER BY id DESC LIMIT {latest}")
        return [Run(row[0], row[1], str(row[2])[:_SECONDS], None if row[3] is None else str(row[3])[:_SECONDS], *row[4:]) for row in rows]

    # -- units set aside, rejects, marks ----------------------------------------------------------------------------------------------------

    def pending(self) -> dict[bytes, str]:
        """Units that were set aside (12 bytes each), with the reason."""
        return {bytes.fromhex(unit): reason for unit, reason in self.session.query(f"SELECT unit, reason FROM {self.name['pending']}")}

    def set_aside(self, units: Mapping[bytes, str], run: int) -> None:
        """Note units that this run leaves out."""
        for unit, reason in units.items():
            self.session.execute(f"DELETE FROM {self.name['pending']} WHERE unit = %s", (unit.hex().upper(),))
            self.session.execute(
                f"INSERT INTO {self.name['pending']} (unit, reason, run) VALUES (%s, %s, %s)", (unit.hex().upper(), reason, run)
            )

    def arrived(self, units: Iterable[bytes]) -> None:
        """Units that had been set aside and are applied in this transaction."""
        for unit in units:
            self.session.execute(f"DELETE FROM {self.name['pending']} WHERE unit = %s", (unit.hex().upper(),))

    def rejects(self) -> list[dict[str, Any]]:
        """All changes that were not applied as the log says, in log order."""
        rows = self.session.query(f"SELECT entry FROM {self.name['reject']} ORDER BY commit_lrsn, unit, step")
        return [json.loads(entry) for (entry,) in rows]

    def rejects_of(self, key: bytes) -> list[dict[str, Any]]:
        """The rejects of one unit."""
        where = (key[:10].hex().upper(), key[10:].hex().upper())
        rows = self.session.query(f"SELECT entry FROM {self.name['reject']} WHERE commit_lrsn = %s AND unit = %s ORDER BY step", where)
        return [json.loads(entry) for (entry,) in rows]

    def reject(self, key: bytes, step: int, run: int, entry: Mapping[str, Any]) -> None:
        """Note a change that this transaction does not apply as the log says."""
        values = (key[:10].hex().upper(), key[10:].hex().upper(), step, run, json.dumps(entry, ensure_ascii=False))
        self.session.execute(f"INSERT INTO {self.name['reject']} (commit_lrsn, unit, step, run, entry) VALUES (%s, %s, %s, %s, %s)", values)

    def forget_rejects(self, key: bytes) -> int:
        """Remove the rejects of a unit that is taken back; how many there were."""
        where = (key[:10].hex().upper(), key[10:].hex().upper())
        return self.session.execute(f"DELETE FROM {self.name['reject']} WHERE commit_lrsn = %s AND unit = %s", where)

    def marks(self) -> dict[str, bytes]:
        """Named points."""
        if not self.session.has_home():
            return {}
        rows = self.session.query(f"SELECT name, commit_lrsn FROM {self.name['mark']} ORDER BY commit_lrsn, name")
        return {name: bytes.fromhex(commit) for name, commit in rows}

    def mark(self, name: str, commit: bytes) -> None:
        """Name a point; a mark of that name is moved."""
        self.session.begin()
        self.session.execute(f"DELETE FROM {self.name['mark']} WHERE name = %s", (name,))
        self.session.execute(
            f"INSERT INTO {self.name['mark']} (name, commit_lrsn, made_at) VALUES (%s, %s, CURRENT_TIMESTAMP)", (name, commit.hex().upper())
        )
        self.session.commit()
