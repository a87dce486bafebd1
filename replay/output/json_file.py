"""JSON files with lists and objects of any length, which are written item by item."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

#: ``json.dumps`` makes an encoder for each value that it is asked about.
_said = json.JSONEncoder(ensure_ascii=False).encode


@runtime_checkable
class ItemsAsJson(Protocol):
    """A list, or an object, whose items are in JSON already. UnicodeDecodeError where a text of
    them is none; OSError where there is no room for what they are made from."""

    #: What stands around it.
    brackets: ClassVar[str]

    def written(self, indent: int) -> Iterator[str]:
        """Items, one or more at a time, with a comma and a line's end with ``indent`` blanks
        between them."""
        ...


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write an object, the bytes of ``json.dumps`` with an indent of 1 and a line's end. Of the
    objects and lists in it, also those of other classes, and iterators (as lists), items are made
    as they are written. Raises OSError."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(_pieces(content, 0))
        file.write("\n")


def plain(value: Any) -> Any:
    """A value as ``json.dumps`` takes it: with dictionaries and lists for what is of other
    classes."""
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if _is_list(value):
        return [plain(item) for item in value]
    return value


def _key(name: Any) -> str:
    """The name of an item as ``json.dumps`` has it, which takes numbers too."""
    return _said(name if isinstance(name, str) else json.dumps(name))


def _is_list(value: Any) -> bool:
    return isinstance(value, (Sequence, Iterator)) and not isinstance(value, (str, bytes))


def _pieces(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):  # most are
        yield _said(value)
    elif isinstance(value, ItemsAsJson):
        before, begins, ends = "", value.brackets[0], value.brackets[1]
        for items in value.written(depth + 1):
            yield f"{before or begins}\n{' ' * (depth + 1)}"
            before = ","
            yield items
        yield f"\n{' ' * depth}{ends}" if before else value.brackets
    elif isinstance(value, Mapping):
        before = "{"
        for name, item in value.items():
            yield f"{before}\n{' ' * (depth + 1)}{_key(name)}: "
            before = ","
            yield from _pieces(item, depth + 1)
        yield "{}" if before == "{" else f"\n{' ' * depth}}}"
    elif _is_list(value):
        before = "["
        for item in value:
            yield f"{before}\n{' ' * (depth + 1)}"
            before = ","
            yield from _pieces(item, depth + 1)
        yield "[]" if before == "[" else f"\n{' ' * depth}]"
    else:
        yield _said(value)
