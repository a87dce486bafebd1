"""Errors of the SQL language package: what cannot be said in SQL, and why.

``sqlgen`` knows nothing about logs or files; ``replay`` adds the place (file, record, unit) when it
reports one of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from enum import Enum
from typing import TypeVar


class CodedError(Exception):
    """The root of every error that ``replay`` and ``sqlgen`` raise on purpose.

    ``code`` is one of :data:`replay.errors.CODES`; ``message`` says what was found and what was
    expected; ``hint`` says what the user can do, naming the option.
    """

    code: str
    message: str
    hint: str


class SqlgenError(CodedError):
    """A statement, name or option that cannot be said in SQL."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[type[SqlgenError], tuple[str, str, str]]:
        """Errors come home from worker processes as they were raised."""
        return type(self), (self.code, self.message, self.hint)


Choice = TypeVar("Choice", bound=Enum)


def choice(kind: type[Choice], value: object, option: str) -> Choice:
    """``value`` as a member of a closed set of choices; SqlgenError LR1001 that lists them."""
    try:
        return kind(value)
    except ValueError:
        known = [str(member.value) for member in kind]
        message = f"found {option} {value!r}; expected one of: {', '.join(known)}"
        raise SqlgenError("LR1001", message + did_you_mean(str(value), known)) from None


def did_you_mean(words: str | Iterable[str], known: Iterable[str], least: float = 0.6) -> str:
    """What is spelled like a word, or each of several, as a question; '' if nothing is."""
    names = list(known)
    asked = [words] if isinstance(words, str) else words
    like = [name for word in asked for name in get_close_matches(word, names, 1, least)]
    return f" (did you mean {', '.join(like)}?)" if like else ""


def settle_choices(options: object, **kinds: type[Enum]) -> None:
    """Make members of their closed sets of some fields of a frozen dataclass: to be called where it
    is made. SqlgenError LR1001, with the option named as the field is."""
    for name, kind in kinds.items():
        member = choice(kind, getattr(options, name), f"--{name.replace('_', '-')}")
        object.__setattr__(options, name, member)


def settle_counts(options: object, **names: str) -> None:
    """Refuse fields (name -> the option) that are no whole number of at least 1: to be called where
    a dataclass is made. SqlgenError LR1001."""
    for name, option in names.items():
        value = getattr(options, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise SqlgenError(
                "LR1001", f"found {option} {value!r}; expected a number of at least 1"
            )
