"""Of what kind a value must be, taken from the types that a function or a class declares: so that
a library refuses what a command line could not even say, such as ``strict="no"``."""

from __future__ import annotations

import reprlib
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Union

from sqlgen.errors import SqlgenError

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
