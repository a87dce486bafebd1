"""Errors of the SQL language package: what cannot be said in SQL, and why; and the checks of values
that raise them, by choices and by the types that a function or a class declares: a library refuses
what a command line could not even say, such as ``strict="no"``.

``sqlgen`` knows nothing about logs or files; ``replay`` adds the place (file, record, unit) when it
reports one of these."""

from __future__ import annotations

import reprlib
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, Union


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


# -- kinds of values
# -------------------------------------------------------------------------------------------------


#: What kinds are called in messages; others have the names of their classes.
_WORDS: dict[object, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "text",
    bytes: "bytes",
    Path: "a path",
    type(None): "None",
}
_UNIONS = (Union, types.UnionType)


@lru_cache(maxsize=256)
def kinds_of(declared: type) -> Mapping[str, Any]:
    """The kinds of a class's fields by name, as its annotations say them."""
    return typing.get_type_hints(declared)


def checked_kinds(values: Mapping[str, Any], kinds: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` that are of their ``kinds``, both by name; iterators among them, which can be read
    once, as tuples. Values without a kind are not looked at.

    SqlgenError (LR1001) for the first one of another kind."""
    checked: dict[str, Any] = {}
    for name, value in values.items():
        value = tuple(value) if isinstance(value, Iterator) else value
        if name in kinds and not is_of(value, kinds[name]):
            shown, expected = reprlib.repr(value), words_of_kind(kinds[name])
            raise SqlgenError("LR1001", f"found {name} {shown}; expected {expected}")
        checked[name] = value
    return checked


def settle_kinds(options: object) -> None:
    """Refuse fields of a dataclass that are not of the kinds it declares: to be called where it is
    made, after closed choices are settled. SqlgenError LR1001."""
    declared: Any = type(options)
    checked_kinds(vars(options), kinds_of(declared))


def is_of(value: object, kind: Any) -> bool:
    """Whether a value is of a kind: a class, a union, a tuple, a mapping or a collection of kinds.
    ``bool`` is no number, and text and bytes are no collections of their parts."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return True
    if kind is None or kind is type(None):
        return value is None
    if origin in _UNIONS:
        return any(is_of(value, part) for part in parts)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if origin is None:
        return isinstance(value, kind)
    if origin is Callable:
        return callable(value)
    if origin is tuple and (len(parts) != 2 or parts[1] is not ...):
        return (
            isinstance(value, tuple) and len(value) == len(parts) and all(map(is_of, value, parts))
        )
    if issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            is_of(key, parts[0]) and is_of(held, parts[1]) for key, held in value.items()
        )
    return (
        isinstance(value, Collection)
        and isinstance(value, origin)
        and not isinstance(value, str | bytes | Mapping)
        and all(is_of(part, parts[0]) for part in value)
    )


def words_of_kind(kind: Any) -> str:
    """A kind in words, for a message: ``text or None``."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is None or kind in _WORDS:
        return _WORDS[type(None) if kind is None else kind]
    if origin in _UNIONS:
        return " or ".join(dict.fromkeys(words_of_kind(part) for part in parts))
    if origin is None:
        return f"a {kind.__name__}"
    if origin is Callable:
        return "a function"
    if origin is tuple and (len(parts) != 2 or parts[1] is not ...):
        return f"a pair ({', '.join(map(words_of_kind, parts))})"
    if issubclass(origin, Mapping):
        return f"a mapping of {words_of_kind(parts[0])} to {words_of_kind(parts[1])}"
    return f"several ({words_of_kind(parts[0])})"
