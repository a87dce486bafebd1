"""Objects and lists of JSON as columns of texts: the bytes of ``json.dumps`` with an indent of 1.

``indent`` is that of the line on which an object or a list begins.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from replay.arrays import Index
from replay.changes.text_columns import (
    Texts,
    beside,
    ends_of,
    octets_of,
    pooled,
    runs,
    taken,
    texts_of,
)

_said = json.JSONEncoder(ensure_ascii=False).encode


def json_strings(texts: Texts) -> Texts:
    """Texts as strings, in which what must be is escaped."""
    octets = octets_of(texts)
    odd = np.flatnonzero((octets < 0x20) | (octets == ord('"')) | (octets == ord("\\")))
    quoted = beside(b'"', texts, b'"')
    if not len(odd):
        return quoted
    ends = ends_of(texts)
    rows = np.unique(np.searchsorted(ends, odd + ends[0], "right") - 1)
    escaped = texts_of(
        _said(text.decode("utf-8", "surrogatepass")) for text in taken(texts, rows).to_pylist()
    )
    both, (_, begin) = pooled(quoted, escaped)
    numbers = np.arange(len(texts))
    numbers[rows] = begin + np.arange(len(rows))
    return taken(both, numbers)


def json_objects(indent: int, values: Mapping[str, Texts]) -> Texts:
    """An object for each row, with the values (in JSON) of columns under their names. A value that
    is empty is left out; the first one never is."""
    parts: list[Texts | bytes] = []
    for name, column in values.items():
        lead = f'{"," if parts else "{"}\n{" " * (indent + 1)}"{name}": '
        ends = ends_of(column)
        there = ends[1:] > ends[:-1]
        parts += [taken(texts_of(["", lead]), there.astype(np.int64)), column]
    return beside(*parts, f"\n{' ' * indent}}}".encode())


def json_lists(indent: int, items: Texts, ends: Index) -> Texts:
    """A list for each run of items (in JSON): ``ends`` (``int64[n + 1]``) says where each run
    begins, and the last one ends."""
    line = "\n" + " " * (indent + 1)
    first = np.zeros(len(items), np.int64)
    empty = ends[1:] == ends[:-1]
    first[ends[:-1][~empty]] = 1
    led = beside(taken(texts_of(["," + line, "[" + line]), first), items)
    closed = taken(texts_of([f"\n{' ' * indent}]", "[]"]), empty.astype(np.int64))
    return beside(runs(led, ends), closed)


def json_items(indent: int, items: Texts) -> str:
    """Items (in JSON) of a list one behind the other, each on a line of its own.
    UnicodeDecodeError for half a character."""
    line = f",\n{' ' * indent}".encode()
    octets = octets_of(beside(items, line))
    return octets[: max(len(octets) - len(line), 0)].tobytes().decode()
