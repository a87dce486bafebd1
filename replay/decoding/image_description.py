"""One row image column by column, for people."""

from __future__ import annotations

import numpy as np

from replay.changes.catalog import ColumnFormat, RowFormat
from replay.decoding import codecs
from replay.decoding.image_layouts import NULL_BYTE, Cell, layouts
from replay.decoding.image_values import ccsid_of, decode_fixed, expected, is_binary
from replay.errors import InputError


def describe_image(fmt: RowFormat, image: bytes) -> list[tuple[str, int, str, str]]:
    """One image column by column: name, offset in the image, bytes in hexadecimal (null byte and
    length included), value or what is wrong.

    Never raises: a damaged image is shown as far as it can be read, and what is left over comes
    last. Walks on its own, one column after the other, and so serves as the referee of
    :func:`replay.decoding.images.walk`.
    """
    attempts = [_describe(fmt, cells, image) for cells in layouts(fmt)]
    return min(attempts, key=lambda attempt: attempt[1])[0]


def _describe(
    fmt: RowFormat, cells: tuple[Cell, ...], image: bytes
) -> tuple[list[tuple[str, int, str, str]], int]:
    """The lines, and how many bytes are missing or left over."""
    lines: list[tuple[str, int, str, str]] = []
    place = 0
    for column, cell in zip(fmt.columns, cells, strict=True):
        head = cell.nullable + (2 if cell.variable else 0)
        prefix = image[place : place + head]
        size = cell.width
        if cell.variable and len(prefix) == head:
            length = (prefix[-2] * 256 + prefix[-1]) * cell.unit
            size, value_size = (
                (cell.width, min(length, cell.width)) if cell.expanded else (length, length)
            )
        else:
            value_size = size
        piece = image[place : place + head + size]
        missing = head + size - len(piece)
        if missing > 0:
            lines.append(
                (column.column.name, place, piece.hex().upper(), f"*** {missing} bytes are missing")
            )
            return lines, missing
        text = _describe_value(
            column, cell, piece[0] if cell.nullable else 0, piece[head : head + value_size]
        )
        lines.append((column.column.name, place, piece.hex().upper(), text))
        place += head + size
    left = len(image) - place
    if left:
        lines.append(("", place, image[place:].hex().upper(), f"*** {left} bytes are left over"))
    return lines, left


def _describe_value(column: ColumnFormat, cell: Cell, flag: int, value: bytes) -> str:
    if flag == 0xFF:
        return "NULL"
    if flag:
        return f"*** null byte X'{flag:02X}'; expected {NULL_BYTE}"
    if column.lob:
        return "(its value is not in the log)"
    block = np.frombuffer(value, np.uint8).reshape(1, len(value))
    try:
        if cell.variable and not is_binary(column):
            values, bad = codecs.decode_fixed_text(block, ccsid_of(column))
        else:
            values, bad = decode_fixed(column, block, None)
    except InputError as error:
        return f"*** {error}"
    if bad is not None:
        return f"*** cannot be decoded; expected {expected(column, len(value))}"
    shown = values[0].as_py()
    return f"X'{shown.hex().upper()}'" if isinstance(shown, bytes) else str(shown)
