"""Trying the statements of scripts in a database, in a transaction that is rolled back: which of
them would not touch exactly one row, or fail."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from replay.errors import EXIT_ERROR, EXIT_OK, UsageError, counted
from replay.redaction import public
from replay.targets import Session, StatementFailure, target_of
from sqlgen.dialects import Profile, profile_named

#: Statements sent together.
_TOGETHER = 1000
#: Statements that take effect, and of them those that must touch one row.
_CHANGES = re.compile(r"(INSERT|UPDATE|DELETE|REPLACE|MERGE) ")
_OF_A_ROW = re.compile(r"INSERT |UPDATE |DELETE .* WHERE ")


@dataclass(frozen=True)
class Misfit:
    """A statement that does not touch one row, or ``fails``: ``number`` counts from the beginning
    of its unit (0: its end, where constraints are checked), ``why`` is what the database says of
    it."""

    unit: str
    number: int
    why: str
    statement: str
    fails: bool = False

    def __str__(self) -> str:
        place = f"statement {self.number}" if self.number else "end"
        return f"{self.unit}: {place} {self.why}\n  {self.statement}".rstrip()


@dataclass(frozen=True)
class DryRun:
    """``statements`` of ``units`` were tried in ``target``; ``whole``: to the end; ``checked``: the
    scripts stop at a statement that does not touch one row."""

    target: str
    units: int
    statements: int
    misfits: tuple[Misfit, ...]
    whole: bool
    checked: bool = True

    @property
    def exit_code(self) -> int:
        """Whether each statement would do what it should."""
        return EXIT_ERROR if self.misfits else EXIT_OK

    def __str__(self) -> str:
        shown = [str(misfit) for misfit in self.misfits[:20]]
        if len(self.misfits) > len(shown):
            shown.append(f"… {len(self.misfits) - len(shown):,} more")
        statements, units = counted(self.statements, "statement"), counted(self.units, "unit")
        tried = f"{statements} in {units} of recovery tried"
        found = self._found()
        end = "" if self.whole else " (the rest was not tried: this database has no savepoints)"
        return "\n".join(
            [*shown, f"{tried} in {self.target}: {found}{end}; nothing was written there"]
        )

    def _found(self) -> str:
        """What the script would do at its misfits."""
        stopping = sum(misfit.fails or self.checked for misfit in self.misfits)
        passed = len(self.misfits) - stopping
        parts = [f"{stopping:,} would stop the script"] if stopping else []
        if passed:
            parts.append(
                f"{passed:,} would not touch exactly one row, and the script would run on, because"
                " it has no checks"
            )
        return "; ".join(parts) or "all fit"


def dry_run(
    scripts: Iterable[Path], url: str, counted: bool = True, checked: bool = True
) -> DryRun:
    """Try scripts without checks. ``counted``: their statements must touch one row each;
    ``checked``: the scripts that would be written check that. A unit that fails is left out, and
    the next is tried as if it had not been there.

    TargetError as of :class:`replay.targets.Session`; UsageError (LR1001) for statements that the
    database would not take back.
    """
    target = target_of(url)
    session = target.connect(url)
    try:
        session.begin()
        attempt = _Attempt(session, counted)
        for unit, statements in units_of(scripts, profile_named(session.dialect)):
            if not attempt.unit(unit, statements):
                break
        return DryRun(
            public(url),
            attempt.units,
            attempt.statements,
            tuple(attempt.misfits),
            attempt.whole,
            checked,
        )
    finally:
        session.rollback()
        session.close()


def units_of(scripts: Iterable[Path], profile: Profile) -> Iterator[tuple[str, Iterator[str]]]:
    """The units of scripts: what names each, and its statements; these must be read first."""
    words = {profile.begin, profile.commit, ""}
    for script in scripts:
        with script.open(encoding="utf-8", newline="\n") as file:
            lines = (line.rstrip("\n") for line in file)
            head = next((line for line in lines if line.startswith("-- unit ")), None)
            while head is not None:
                following: list[str | None] = [None]
                name = " ".join(head.split(" ")[2:4])
                yield name, _statements(lines, words, following)
                head = following[0]


def _statements(
    lines: Iterator[str], words: set[str], following: list[str | None]
) -> Iterator[str]:
    """The statements of a unit; the comment of the next one is put into ``following``."""
    for line in lines:
        if line.startswith("-- unit "):
            following[0] = line
            return
        if line not in words and not line.startswith("--"):
            yield line


class _Attempt:
    """Statements tried so far."""

    def __init__(self, session: Session, counted: bool) -> None:
        self.session, self.counted = session, counted
        self.units = self.statements = 0
        self.misfits: list[Misfit] = []
        self.whole = True

    def unit(self, name: str, statements: Iterator[str]) -> bool:
        """Try a unit; whether the next one can be tried."""
        if self.session.savepoints:
            self.session.savepoint()
        number = 0
        failure: StatementFailure | None = None
        statement = ""
        batch: list[str] = []
        for line in statements:
            self._refuse(line)
            batch.append(line)
            if failure is None and len(batch) == _TOGETHER:
                failure, number, statement = self._run(name, number, batch)
                batch = []
            elif failure is not None:
                batch = []  # read to the end of the unit
        if failure is None:
            failure, number, statement = self._run(name, number, batch)
        if failure is None:
            failure, number, statement = self.session.settle(), 0, ""
        self.units += 1
        if failure is None:
            return True
        self.misfits.append(Misfit(name, number, f"fails: {failure}", statement, True))
        if self.session.savepoints:
            self.session.back_to_savepoint()
            return True
        self.whole = False
        return False

    def _refuse(self, line: str) -> None:
        """Refuse what the database would not take back with its transaction."""
        if not (self.session.alters or _CHANGES.match(line) or line.startswith("SET ")):
            raise UsageError(
                "LR1001",
                f"found {line[:60]!r}; expected changes of rows only: this database cannot"
                " roll back structure changes",
                hint="Try it in a copy of the database",
            )

    def _run(
        self, name: str, number: int, lines: list[str]
    ) -> tuple[StatementFailure | None, int, str]:
        """Run statements: (the failure, its number and statement), or (None, the last number)."""
        if not lines:
            return None, number, ""
        outcome = self.session.run("".join(f"{line}\n" for line in lines).encode())
        for line, count in zip(lines, outcome.counts, strict=False):
            if _CHANGES.match(line):
                number += 1
                self.statements += 1
                if self.counted and count != 1 and _OF_A_ROW.match(line):
                    self.misfits.append(Misfit(name, number, f"touches {count} rows", line))
        if outcome.failure is None:
            return None, number, ""
        failed = lines[len(outcome.counts)] if len(outcome.counts) < len(lines) else ""
        return outcome.failure, number + 1, failed
