"""JSON files with lists of any length, which are written item by item."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write an object, the bytes of ``json.dumps`` with an indent of 1 and a line's end. An
    iterator among its values is a list whose items are made as they are written. Raises OSError."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(_pieces(content))


def _pieces(content: Mapping[str, Any]) -> Iterator[str]:
    before = "{"
    for name, value in content.items():
        yield f"{before}\n {json.dumps(name, ensure_ascii=False)}: "
        before = ","
        if isinstance(value, (list, tuple, Iterator)):
            yield from _items(iter(value))
        else:
            yield _indented(value, 1)
    yield "{}\n" if before == "{" else "\n}\n"


def _items(items: Iterator[Any]) -> Iterator[str]:
    before = "["
    for item in items:
        yield f"{before}\n  {_indented(item, 2)}"
        before = ","
    yield "[]" if before == "[" else "\n ]"


def _indented(value: Any, depth: int) -> str:
    # a line's end within text is escaped
    return json.dumps(value, indent=1, ensure_ascii=False).replace("\n", "\n" + depth * " ")
