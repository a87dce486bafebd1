"""Text for a terminal: wrapped lines, aligned tables, counts, and the fields and bytes of one
record."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from replay.logs import Walk

#: Characters in one line of a report, bytes in one line of a hexadecimal dump.
_WIDTH, _DUMP = 120, 32

#: A field of a record: name, offset in the record, its bytes in hexadecimal, its value as text.
FieldRow = tuple[str, int, str, str]


def wrapped(line: str) -> str:
    """A line broken where it gets too long; what follows is indented more."""
    margin = " " * (len(line) - len(line.lstrip()) + 2)
    return (
        textwrap.fill(
            line, _WIDTH, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
        )
        if line
        else line
    )


def counted(counts: Mapping[str, int], meaning: Mapping[str, str] | None = None) -> str:
    """``code (meaning) count, …``."""
    meanings = meaning or {}
    return ", ".join(
        f"{code.strip()} {f'({meanings[code]}) ' if code in meanings else ''}{count:,}".strip()
        for code, count in counts.items()
    )


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table, its columns as wide as they need to be."""
    widths = [max(len(row[place]) for row in (heads, *rows)) for place in range(len(heads))]
    for row in (heads, *rows):
        yield "  ".join(
            value.ljust(width) for value, width in zip(row, widths, strict=True)
        ).rstrip()


def printable(value: str) -> str:
    """Text that is safe to show in a terminal."""
    return (
        value
        if value.isprintable()
        else "".join(char if char.isprintable() else ascii(char)[1:-1] for char in value)
    )


def hexadecimal(value: bytes) -> str:
    """Bytes in hexadecimal."""
    return value.hex().upper()


def field_lines(rows: Sequence[FieldRow], with_hex: bool) -> list[str]:
    """Fields one below the other; hexadecimal digits of a long field go on in lines of their
    own."""
    width = max((len(row[0]) for row in rows), default=0)
    lines = []
    for name, offset, raw, value in rows:
        head = f"  {name:<{width}}  {offset:>5} X'{offset:04X}'"
        if with_hex and len(raw) > 2 * _DUMP:
            lines.append(f"{head}  {printable(value)}")
            lines += [
                f"  {'':<{width}}  {'':>13}  {raw[at : at + 2 * _DUMP]}"
                for at in range(0, len(raw), 2 * _DUMP)
            ]
        elif with_hex:
            lines.append(f"{head}  {raw:<34}  {printable(value)}".rstrip())
        else:
            lines.append(f"{head}  {printable(value)}".rstrip())
    return lines


def byte_lines(record: bytes, start: int) -> list[str]:
    """Bytes from ``start`` on, in hexadecimal, with their offsets in the record."""
    return [
        f"  {at:>5} X'{at:04X}'  {hexadecimal(record[at : at + _DUMP])}"
        for at in range(start, len(record), _DUMP)
    ]


def image_lines(title: str, walk: Walk, columns: Sequence[str]) -> list[str]:
    """One row image, column by column in the order in which ``walk`` gives them."""
    lines = ["", title]
    if walk.bad[0]:
        name, what, expected = walk.reason(0)
        return [*lines, f"*** {name}: found {what}; expected {expected}"]
    for place, column in enumerate(columns):
        values, bad = walk.decode(place)
        value = values[0].as_py()
        value_text = (
            "*** " + walk.explain(place, 0)[0]
            if bad is not None and bad[0]
            else "NULL"
            if value is None
            else str(value)
        )
        lines.append(f"  {column}: {value_text}")
    return lines
