"""What a program gives to the library's functions, checked by the kinds that these declare: a
command line takes text only, and refuses what it does not understand before anything begins."""

from __future__ import annotations

import inspect
import re
import sys
import typing
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache, partial, wraps
from types import FrameType, GenericAlias, SimpleNamespace
from typing import Any, ParamSpec, TypeVar

from replay.options.keywords import check_words
from replay.pipeline.request import usage_errors
from sqlgen.errors import checked_kinds, kinds_of

Given = ParamSpec("Given")
Result = TypeVar("Result")


def checked(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """``function``, which raises UsageError (LR1001) for an argument that is not of the kind its
    annotation says, before it does anything; TypeError, as any function, for one that it does not
    have. Keywords of a ``TypedDict`` (``**options: Unpack[…]``) are checked by that."""
    signature = inspect.signature(function)

    @wraps(function)
    def first_checked(*arguments: Given.args, **keywords: Given.kwargs) -> Result:
        bound = signature.bind(*arguments, **keywords)
        kinds, rest, words = declared_kinds(function)
        if words is not None:
            check_words(bound.arguments.get(rest, {}), words)
        with usage_errors():
            given = checked_kinds(bound.arguments, kinds)
            if words is not None and rest in given:
                given[rest] = checked_kinds(given[rest], kinds_of(words))
        bound.arguments.update(given)
        return function(*bound.args, **bound.kwargs)

    first_checked.__signature__ = _in_full(function, signature)  # type: ignore[attr-defined]
    return first_checked


def warn(text: str) -> None:
    """A UserWarning at the line of the program that called the library."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "replay":
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


class _NotGiven:
    """The default of a keyword that counts only where it is given."""

    def __repr__(self) -> str:
        return "…"


def _in_full(function: Callable[..., Any], signature: inspect.Signature) -> inspect.Signature:
    """A signature with the keywords of a ``TypedDict`` in place of ``**options``, for ``help()``
    and editors."""
    named = list(signature.parameters.values())
    found = named and re.fullmatch(r"Unpack\[(\w+)\]", str(named.pop().annotation))
    if not found:
        return signature
    taken = {one.name for one in named}
    words = function.__globals__[found[1]].__annotations__
    keyword = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY, default=_NotGiven())
    more = [
        keyword(name, annotation=getattr(kind, "__forward_arg__", kind))
        for name, kind in words.items()
        if name not in taken
    ]
    return signature.replace(parameters=[*named, *more])


@lru_cache(maxsize=256)
def declared_kinds(function: Callable[..., Any]) -> tuple[Mapping[str, Any], str, type | None]:
    """The kinds of a function's parameters by name; the name of the one that takes further
    keywords, and their TypedDict, where it declares one."""
    given = dict(function.__annotations__)
    given.pop("return", None)  # what is only returned need not be loaded
    scope = getattr(function, "__globals__", {})
    kinds = dict(typing.get_type_hints(SimpleNamespace(__annotations__=given), globalns=scope))
    rest = ""
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL and name in kinds:
            kinds[name] = GenericAlias(tuple, (kinds[name], ...))
        rest = name if parameter.kind is parameter.VAR_KEYWORD else rest
    further = kinds.pop(rest, None)
    words = typing.get_args(further)[0] if typing.get_origin(further) is typing.Unpack else None
    return kinds, rest, words
