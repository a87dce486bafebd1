"""One hierarchy of errors, one table of codes, and what they mean for the exit code.

Two channels. A problem of the whole run is an exception (:class:`LogReplayError` and its four
kinds). A problem of one record is a :class:`Finding`: data that travels with the change into
quarantine and the balance sheet.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from types import ModuleType

from sqlgen.errors import CodedError, SqlgenError

#: So many of several things are named in a message.
NAMED = 20
#: Exit codes of every command.
EXIT_OK, EXIT_WARNING, EXIT_ERROR, EXIT_UNUSABLE = 0, 4, 8, 12
#: An option is not understood; Ctrl-C ended the run.
EXIT_USAGE = 2

#: Every code with the sentence that heads its help. LR1xxx usage, LR2xxx input, LR3xxx refusal,
#: LR4xxx target.
CODES: dict[str, str] = {
    "LR1001": "options contradict each other or have an unusable value",
    "LR1002": "the output folder exists and is not empty",
    "LR1003": "a --where predicate cannot be used",
    "LR1004": "a selection names something that is not in the log",
    "LR1005": "a needed program or library cannot be started",
    "LR1006": "a file or folder cannot be written or used",
    "LR1007": "there is no memory left",
    "LR1010": "a schema file cannot be used",
    "LR1011": "a mapping file cannot be used",
    "LR2001": "a file cannot be read",
    "LR2002": "a file is empty",
    "LR2003": "a file was transferred in text mode",
    "LR2004": "the framing of a file cannot be recognised",
    "LR2005": "a record length in the framing is impossible",
    "LR2006": "a file ends in the middle of a record",
    "LR2007": "control and data file do not belong together",
    "LR2008": "the control file lacks a record that is needed",
    "LR2009": "a control record has an unusable field",
    "LR2010": "a data record's header has an impossible value",
    "LR2011": "a data record names a table that the control file does not describe",
    "LR2012": "a data record has a change type that is not known",
    "LR2013": "segments of a change are missing or there are too many",
    "LR2014": "a row image does not end where its record says",
    "LR2015": "a value in a row image cannot be decoded",
    "LR2016": "records of one unit of recovery contradict each other",
    "LR2017": "the same change is in the log twice",
    "LR2018": "the way DATA is laid out cannot be determined",
    "LR2030": "records of a log are out of order",
    "LR2031": "the catalog export is unusable",
    "LR2032": "a compensation record undoes a change that is not in the log",
    "LR2033": "no setting says what to do with changes that are flagged as not to be propagated",
    "LR2034": "read sessions of a log do not continue one another",
    "LR2035": "a file of the initial state is unusable",
    "LR2036": "a row is not as the log last left it",
    "LR2037": "a gap lies between the logs of a set",
    "LR2038": "control files of a log set contradict each other",
    "LR2039": "a new log has units that commit before the position where the last run ended",
    "LR2040": "a file of marks is unusable",
    "LR2041": "a unit of recovery began before the files that are given",
    "LR2042": "the data file is of another run than the control file",
    "LR3001": "a value cannot be represented in the target dialect",
    "LR3002": "a change cannot be undone from the log",
    "LR3003": "a change cannot be expressed in the target dialect",
    "LR3004": "a unit of recovery is marked as incomplete",
    "LR3005": "a name cannot be used in the target dialect",
    "LR3006": "a column that identifies rows is excluded",
    "LR3010": "later changes depend on what is to be undone",
    "LR3011": "a unit of recovery depends on one that is incomplete, damaged or not written",
    "LR3012": "foreign keys refer to each other in a circle",
    "LR3013": "an upsert lacks a key, or the whole row",
    "LR3014": "nothing proves that a unit of recovery does not depend on an incomplete one",
    "LR3020": "the log family cannot know what the command needs",
    "LR3021": "a DDL statement of the log is not understood",
    "LR3022": "records cannot form one log, or would be read differently in a copy",
    "LR4001": "the database refused a statement",
    "LR4002": "the database's state differs from what was expected",
    "LR4003": "the database cannot be started or reached",
    "LR4004": "another run is at work on the target or the folder",
    "LR4005": "the target was replayed from another source or with other options",
    "LR4006": "a change does not fit the target as it stands",
    "LR4007": "the log and the target's position do not meet",
    "LR4008": "the target would repeat, refuse or alter changes by itself",
    "LR4009": "the mode of the replay cannot do this",
    "LR4010": "the server, the connection or logreplay's own tables cannot be used for a replay",
}


@dataclass(frozen=True, slots=True)
class Where:
    """The place of a problem. ``offset`` is the byte offset in the file, ``record`` and ``line``
    count from 1; None where it does not apply."""

    file: str | None = None
    record: int | None = None
    offset: int | None = None
    field: str | None = None
    table: str | None = None
    unit: str | None = None
    line: int | None = None
    column: str | None = None

    def __str__(self) -> str:
        parts = [
            self.file,
            None if self.line is None else f"line {self.line}",
            None if self.column is None else f"column {self.column}",
            None if self.record is None else f"record {self.record}",
            None if self.offset is None else f"offset {self.offset} (X'{self.offset:X}')",
            None if self.field is None else f"field {self.field}",
            None if self.table is None else f"table {self.table}",
            None if self.unit is None else f"unit {self.unit}",
        ]
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of one record: ``found`` and ``expected`` as a DBA would say them, ``hint`` what to
    do."""

    code: str
    where: Where
    found: str
    expected: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f" {self.hint}" if self.hint else ""
        return f"{self.code} {self.where}: found {self.found}; expected {self.expected}.{hint}"


@dataclass
class LogReplayError(CodedError):
    """Base of every error the program raises on purpose. ``message`` says what was found and what
    was expected."""

    code: str
    message: str
    where: Where = field(default_factory=Where)
    hint: str = ""

    exit_code = EXIT_UNUSABLE

    def __post_init__(self) -> None:
        super().__init__(str(self))

    def __reduce__(self) -> tuple[type[LogReplayError], tuple[str, str, Where, str]]:
        """Errors come home from worker processes as they were raised."""
        return type(self), (self.code, self.message, self.where, self.hint)

    def __str__(self) -> str:
        place = str(self.where)
        between = "\n" if "\n" in self.message else ". "
        return (
            f"{self.code} {place + ': ' if place else ''}{self.message}"
            f"{between + self.hint if self.hint else ''}"
        )


class UsageError(LogReplayError):
    """The options contradict each other or name something that does not exist."""


class InputError(LogReplayError):
    """The log is not what its format says."""


class Refusal(LogReplayError):
    """The input is well-formed, and doing what was asked would be a guess."""

    exit_code = EXIT_ERROR


class TargetError(LogReplayError):
    """The database said no, or (LR4003) cannot be reached, as an input that cannot be read."""

    exit_code = EXIT_ERROR

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.code == "LR4003":
            self.exit_code = EXIT_UNUSABLE


def optional_library(module: str, extra: str, needed_by: str) -> ModuleType:
    """Import a library that only some installations have; ``extra`` of this package brings it.
    UsageError (LR1005) with the command that installs it where it is missing."""
    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(
            "LR1005",
            f"{needed_by} needs the library {module}, which cannot be imported: {error}",
            hint=f"Install it with: pip install 'logreplay-sql[{extra}]'",
        ) from error


def cause_of(error: Exception) -> str:
    """What an error of the system, or of reading text or JSON, says: in words, without the name of
    the file, which stands before them."""
    if isinstance(error, UnicodeDecodeError):
        return (
            f"found X'{error.object[error.start]:02X}' at offset {error.start}; expected text in"
            " UTF-8"
        )
    if isinstance(error, json.JSONDecodeError):
        return f"found no JSON at line {error.lineno}, column {error.colno}; expected it"
    return (isinstance(error, OSError) and error.strerror) or str(error)


def cut_to(text: str, most: int, end: str = "…") -> str:
    """A text of at most so many characters, the last of which say that it went on."""
    return text if len(text) <= most else f"{text[: most - len(end)]}{end}"


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things: ``1 unit``, ``2 units``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def some_of(things: Iterable[object], count: int, between: str = ", ") -> str:
    """The first of ``count`` things, and how many more there are: ``A, B and 3 more``."""
    more = f" and {count - NAMED:,} more" if count > NAMED else ""
    return between.join(map(str, islice(things, NAMED))) + more


def first_finding_error(finding: Finding) -> InputError:
    """The exception that ``--strict`` raises for the first finding."""
    return InputError(
        finding.code,
        f"found {finding.found}; expected {finding.expected}",
        finding.where,
        finding.hint,
    )


@contextmanager
def usage_errors() -> Iterator[None]:
    """What cannot be said in SQL, as the UsageError of the option that asked for it."""
    try:
        yield
    except SqlgenError as error:
        raise UsageError(error.code, error.message, hint=error.hint) from error
