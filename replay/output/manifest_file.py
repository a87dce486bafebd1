"""Manifests, written item by item."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

#: ``json.dumps`` makes an encoder for each value that it is asked about.
_JSON = json.JSONEncoder(ensure_ascii=False)


def write_manifest(contents: Mapping[str, Any], path: Path) -> None:
    """Write a manifest, the bytes of ``json.dumps`` with an indent of 1 and a line's end, item by
    item: units that are pending may be many. Raises OSError."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(_pieces(contents, "\n"))
        file.write("\n")


def _pieces(value: Any, line: str) -> Iterator[str]:
    """A value as JSON; ``line`` ends a line and indents the next one."""
    is_object = isinstance(value, Mapping)
    if not (is_object or isinstance(value, (list, tuple))) or not value:
        yield _JSON.encode({} if is_object else value)
        return
    before = "{" if is_object else "["
    for item in value.items() if is_object else value:
        yield f"{before}{line} "
        if is_object:
            yield f"{_JSON.encode(str(item[0]))}: "
        yield from _pieces(item[1] if is_object else item, f"{line} ")
        before = ","
    yield f"{line}}}" if is_object else f"{line}]"
