"""What the values of options look like, and what they become."""

from __future__ import annotations

import argparse
import math
import re
import textwrap
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, TypeVar

from replay.changes.notation import choice_of, position_of, range_of, rid_of, time_of, unit_of
from replay.errors import UsageError
from replay.storage import Place, at, refuse_secrets

Value = TypeVar("Value")


class HelpLayout(argparse.RawDescriptionHelpFormatter):
    """A help whose lines end between words: an option or file name is never parted at its hyphens.
    Text of several lines stays as it is."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.splitlines() if "\n" in text else self._split_lines(text, width)
        return "".join(f"{indent}{line}\n" for line in lines)


#: Options whose values are URLs with what a server asks for, or settings of Spark.
_WITH_SECRETS = frozenset({"to", "schema", "baseline", "initial", "scratch", "dry_run"})
_WITH_SECRETS |= {"master", "conf"}
#: What options call values that are data, and may look like anything.
_DATA = re.compile(r"GLOB|SQL|TEXT|WHO|^K$")


def takes_anything(option: argparse.Action) -> bool:
    """Whether a value of an option is data, which is shown as it is: an id, a note, a condition."""
    return bool(_DATA.search(str(option.metavar)))


class Parser(argparse.ArgumentParser):
    """A parser whose options for one value are not given several: the last would win in silence."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._words: list[str] = []
        for name in (None, "store"):
            self.register("action", name, _StoreOnce)
        # Keys of several columns (-9,5) are values too, as with Python 3.14.
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """What a command does not know is told of by itself, not by ``logreplay`` alone, with the
        option that is spelled like it."""
        self._words = [] if args is None else list(args)
        found, others = super().parse_known_args(args, namespace)
        if others:
            self.error(self._unknown(others))
        return found, others

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """UsageError (LR1001) for something secret where none is asked for: messages and files name
        what is given there."""
        of_command = action.nargs == argparse.PARSER  # its words are read by its own parser
        if not of_command and action.dest not in _WITH_SECRETS and not takes_anything(action):
            refuse_secrets(arg_string)
        return super()._get_value(action, arg_string)

    def _unknown(self, words: list[str]) -> str:
        from difflib import get_close_matches

        known = [option for option in self._option_string_actions if len(option) > 2]
        like = [get_close_matches(word.partition("=")[0], known, 1, 0.75) for word in words]
        meant = ", ".join(dict.fromkeys(option for options in like for option in options))
        message = f"unrecognized arguments: {' '.join(words)}"
        return f"{message} (did you mean {meant}?)" if meant else message

    def _misspelt(self) -> list[str]:
        """Options among the words that no option begins with."""
        names = {word: word.partition("=")[0] for word in self._words if word[2:].strip("-")}
        return [
            word
            for word, name in names.items()
            if name.startswith("--")
            and not any(known.startswith(name) for known in self._option_string_actions)
        ]

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line, and where the options are listed. An option that is
        missing may be there under another name, so that is told first."""
        if "required" in message and (misspelt := self._misspelt()):
            message = self._unknown(misspelt)
        if message.endswith("expected one argument"):
            message += " (a value that begins with - stands behind a =, as in --key=-A)"
        self.exit(2, f"{self.prog}: {message}\nSee: {self.prog} --help\n")


class _StoreOnce(argparse._StoreAction):
    """UsageError (LR1001) for a second value that is not the first."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        given = vars(namespace).setdefault("_given", {})
        if given.setdefault(self.dest, values) != values:
            one, other = (
                value.hex().upper() if isinstance(value, bytes) else value
                for value in (given[self.dest], values)
            )
            raise UsageError(
                "LR1001",
                f"found {option_string or self.dest} twice, with {one} and {other}; expected it"
                " once",
                hint="These cannot be combined: leave one out",
            )
        super().__call__(parser, namespace, values, option_string)


class InTurn(argparse.Action):
    """Values of an option that is repeated, and in ``in_turn`` how it took turns with others."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), *values])
        namespace.in_turn = [*getattr(namespace, "in_turn", ()), (self.dest, tuple(values))]


class OncePerName(argparse.Action):
    """Pairs NAME=VALUE, as a list. UsageError (LR1001) for two values of one name."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        pairs = list(getattr(namespace, self.dest))
        name, value = values
        known = dict(pairs).get(name, value)
        if known != value:
            raise UsageError(
                "LR1001",
                f"found {option_string} {name} twice, with {known} and {value}; expected it once",
                hint="These cannot be combined: leave one out",
            )
        setattr(namespace, self.dest, [*pairs, (name, value)])


def _read(reader: Callable[[str], Value], text: str) -> Value:
    """A value that the library reads too; what it does not understand is an option that is not
    understood (exit code 2)."""
    try:
        return reader(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(error.message) from None


def position(text: str) -> bytes:
    """A position, as the log places it."""
    return _read(position_of, text)


def time(last: bool, text: str) -> bytes:
    """A time as 17 octets of packed digits. What is left out counts as the first (``--from-time``)
    or last (``--until-time``) moment."""
    return _read(partial(time_of, last=last), text)


def unit(text: str) -> tuple[bytes, int | None]:
    """The id of a unit of recovery, and its member."""
    return _read(unit_of, text)


def numbers(text: str) -> tuple[int, int]:
    """First and last of some numbers."""
    return _read(range_of, text)


def rid(text: str) -> bytes:
    """A row identifier."""
    return _read(rid_of, text)


def pair(what: str, text: str) -> tuple[str, str]:
    """``NAME=VALUE``."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"found {text!r}; expected {what}")
    return name, value


def ccsid(text: str) -> tuple[str, int]:
    """An encoding scheme and its single-byte CCSID."""
    scheme, value = pair("E=CCSID, A=CCSID or U=CCSID", text)
    if scheme.upper() not in ("E", "A", "U") or not value.isdigit():
        raise argparse.ArgumentTypeError(
            f"found {text!r}; expected E=CCSID, A=CCSID or U=CCSID, for example E=1140"
        )
    return scheme.upper(), int(value)


def bare(text: str) -> str:
    """Text that needs no quotes in CSV."""
    if set(text) & set(',"') or not text.isprintable():
        raise argparse.ArgumentTypeError(
            f"found {text!r}; expected text without commas, quotes and control characters"
        )
    return text


def place(text: str) -> Place:
    """A file or folder: a path, or a URL."""
    return _read(at, text)


#: What ``--also`` writes.
ALSO = ("redo", "undo", "export", "extract")


def also_output(text: str) -> tuple[str, Place]:
    """``KIND:DIR``: another output, and its folder or manifest."""
    kind, _, folder = text.partition(":")
    if kind not in ALSO or not folder:
        expected = ", ".join(f"{name}:DIR" for name in ALSO[:-1])
        raise argparse.ArgumentTypeError(f"found {text!r}; expected {expected} or {ALSO[-1]}:DIR")
    return kind, place(folder)


def positive(text: str) -> int:
    """A number of at least 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}; expected a number of at least 1")
    return int(text)


def number(text: str) -> int:
    """A number of at least 0."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"found {text!r}; expected a number")
    return int(text)


def port(text: str) -> int:
    """The number of a port of TCP, or 0."""
    found = number(text)
    if found > 65535:
        raise argparse.ArgumentTypeError(f"found {text!r}; expected a port, up to 65535")
    return found


def seconds(text: str) -> float:
    """A number of seconds of at least 0, with a fraction or without."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:  # not a number is none of these
        raise argparse.ArgumentTypeError(f"found {text!r}; expected a number of seconds")
    return found


def unit_choice(text: str) -> tuple[str, Any]:
    """What ``--except`` and ``--without`` take: a field of a selection, and one value of it."""
    return _read(choice_of, text)
