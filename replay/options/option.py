"""What an option is, and what the values of options look like. The parser of the command line, its
help, files of options, the pages of reference and the library's keywords are made from these."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from replay.changes.notation import choice_of, position_of, range_of, rid_of, time_of, unit_of
from replay.errors import UsageError
from replay.storage import Place, place_of
from sqlgen.choices import Choices
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import when_used

with when_used():  # where a condition names the present
    from sqlgen import predicate


class Several(Enum):
    """What becomes of an option that is given again: a second value that is not the first is
    refused; each value counts; each of its words counts; the same, and how options took turns is
    kept (``in_turn``); each name of NAME=VALUE has one value."""

    REFUSED = auto()
    EACH = auto()
    WORDS = auto()
    IN_TURN = auto()
    NAMES = auto()


@dataclass(frozen=True)
class Kind:
    """Values of one kind. ``read`` makes one of text (UsageError for text that it does not
    understand); ``words``: how many words it takes (0: it is there or not). ``shown``: its values
    may be shown as they are, for they are data; ``secret``: they may hold a secret, which a
    database or Spark asks for. ``default``: what counts where none is given."""

    read: Callable[[str], Any] = str
    choices: tuple[str, ...] = ()
    several: Several = Several.REFUSED
    words: int = 1
    shown: bool = False
    secret: bool = False
    default: Any = None

    def value(self, text: str) -> Any:
        """The value that a text stands for. UsageError (LR1001) for one that none does."""
        value = self.read(text)
        if self.choices and value not in self.choices:
            expected = ", ".join(self.choices)
            raise UsageError("LR1001", f"found {text!r}; expected one of: {expected}")
        return value


@dataclass(frozen=True)
class Option:
    """One option of some ``commands`` (names with blanks between). ``spelled``: its names and what
    it takes, as a help shows them; without a name it is a word of the command line. ``group``: its
    heading in the help ('': the command's own). ``field``: what the value is called in the program
    and in the library, where it is not called as the option. Of options with one name in
    ``either``, one may be given. ``only``: what has to be given too for it to mean anything, an
    option or a value of one: ``--record``, ``kind=audit,detail``. ``beside``: a path that a file of
    options names begins at that file. ``brief``: what a short help says, where the first clause of
    ``help`` does not say enough by itself."""

    spelled: str
    kind: Kind
    help: str
    commands: str
    default: Any = None
    group: str = ""
    field: str = ""
    either: str = ""
    required: bool = False
    only: str = ""
    beside: bool = False
    brief: str = ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """How it is spelled on the command line; a word without a name is not."""
        return tuple(word for word in self.spelled.split() if word.startswith("-"))

    @property
    def name(self) -> str:
        """Its first spelling."""
        return self.spelled.split()[0]

    @property
    def dest(self) -> str:
        """What its value is called in the program."""
        return self.field or self.name.removeprefix("--").replace("-", "_").lower()

    @property
    def takes(self) -> str:
        """What a help calls its value."""
        rest = " ".join(word for word in self.spelled.split() if not word.startswith("-"))
        return rest or "|".join(self.kind.choices)

    @property
    def usual(self) -> Any:
        """What counts where it is not given."""
        if self.kind.several is not Several.REFUSED:
            return ()
        return self.kind.default if self.default is None else self.default


# -- texts and what they become
# -------------------------------------------------------------------------------------------------


def pair(what: str, text: str) -> tuple[str, str]:
    """``NAME=VALUE``."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise UsageError("LR1001", f"found {text!r}; expected {what}")
    return name, value


def ccsid(text: str) -> tuple[str, int]:
    """An encoding scheme and its single-byte CCSID."""
    scheme, value = pair("E=CCSID, A=CCSID or U=CCSID", text)
    if scheme.upper() not in ("E", "A", "U") or not value.isdigit():
        raise UsageError(
            "LR1001",
            f"found {text!r}; expected E=CCSID, A=CCSID or U=CCSID, for example E=1140",
        )
    return scheme.upper(), int(value)


def bare(text: str) -> str:
    """Text that needs no quotes in CSV."""
    if set(text) & set(',"') or not text.isprintable():
        raise UsageError(
            "LR1001",
            f"found {text!r}; expected text without commas, quotes and control characters",
        )
    return text


#: What ``--also`` writes, beside reports.
ALSO = ("redo", "undo", "export", "extract")
#: Before the kind of a report.
REPORT = "report:"


def also_output(text: str) -> tuple[str, Place]:
    """``KIND:DIR``, ``report:KIND:FILE``: another output, and its folder, manifest or file. A kind
    may name its selection: ``KIND@NAME``."""
    kind, _, folder = text.removeprefix(REPORT).partition(":")
    plain, sign, name = kind.partition("@")
    is_report = text.startswith(REPORT) and bool(plain)
    if not (is_report or plain in ALSO) or not folder or bool(sign) != bool(name):
        expected = ", ".join(f"{name}:DIR" for name in ALSO)
        raise UsageError("LR1001", f"found {text!r}; expected {expected} or report:KIND:FILE")
    kind = REPORT * is_report + kind
    return kind, place_of(folder)


def number(least: int, text: str) -> int:
    """A whole number of at least 0 or 1."""
    expected = "a number" if least == 0 else f"a number of at least {least}"
    if not text.isdigit() or int(text) < least:
        raise UsageError("LR1001", f"found {text!r}; expected {expected}")
    return int(text)


def port(text: str) -> int:
    """The number of a port of TCP, or 0."""
    found = number(0, text)
    if found > 65535:
        raise UsageError("LR1001", f"found {text!r}; expected a port, up to 65535")
    return found


def dialect(text: str) -> str:
    """The name of a SQL dialect; PostgreSQL's has two spellings."""
    return "postgres" if text.lower() == "postgresql" else text


def target_dialect(text: str) -> str:
    """The name of a SQL dialect that statements can be written in. UsageError (LR1001) for one that
    neither this nor another installed package offers."""
    from sqlgen.dialects import BUILT_IN, profile_named

    name = dialect(text)
    if name not in BUILT_IN:
        try:
            profile_named(name)
        except SqlgenError as error:
            raise UsageError(error.code, error.message) from None
    return name


def integer(text: str) -> int:
    """A whole number."""
    if not re.fullmatch(r"-?\d+", text):
        raise UsageError("LR1001", f"found {text!r}; expected a number")
    return int(text)


def seconds(text: str) -> float:
    """A number of seconds of at least 0, with a fraction or without."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:  # not a number is none of these
        raise UsageError("LR1001", f"found {text!r}; expected a number of seconds")
    return found


# -- kinds
# -------------------------------------------------------------------------------------------------


def one_of(*choices: str) -> Kind:
    """One of some words."""
    return Kind(choices=tuple(choices))


def first_of(choices: type[Choices]) -> Kind:
    """One of a closed set of words, of which the first is the default."""
    return Kind(choices=tuple(choices), default=next(iter(choices)))


def condition(text: str) -> str:
    """A condition on values, in which the present is a constant: the local time of this machine."""
    return predicate.at_time(text, datetime.now()) if "CURRENT" in text.upper() else text


def each(kind: Kind) -> Kind:
    """Values of a kind, of an option that can be repeated."""
    return replace(kind, several=Several.EACH)


#: It is there or not.
FLAG = Kind(words=0, default=False)
#: A name, or a file that is read by its name.
TEXT = Kind()
#: Text that is data and may look like anything: a glob, a condition, a note.
DATA = Kind(shown=True)
CONDITION = Kind(condition, shown=True)
#: URLs of databases, and settings of Spark.
URL = Kind(secret=True)
#: A file or folder: a path, or a URL of a store.
PLACE = Kind(place_of)
#: A folder of this machine.
FOLDER = Kind(Path)
NUMBER = Kind(partial(number, 0))
POSITIVE = Kind(partial(number, 1))
POSITION = Kind(position_of)
#: The first and the last moment that a time may mean.
FIRST_TIME, LAST_TIME = Kind(partial(time_of, last=False)), Kind(partial(time_of, last=True))
UNIT = Kind(unit_of)
NUMBERS = each(Kind(range_of))
UNIT_CHOICES = replace(each(Kind(choice_of)), shown=True)
ROW_IDS = each(Kind(rid_of))
GLOBS = each(DATA)
#: Some words after the option.
FILES = Kind(several=Several.WORDS)
IN_TURN = Kind(several=Several.IN_TURN)
PAIRS = Kind(partial(pair, "NAME=VALUE"), several=Several.NAMES)
WHOLE_NUMBER = Kind(integer)
DIALECT, TARGET_DIALECT = Kind(dialect), Kind(target_dialect)
PORT, SECONDS = Kind(port), Kind(seconds)
CSV_TEXT = Kind(bare, shown=True)
ALSO_OUTPUTS = each(Kind(also_output))
