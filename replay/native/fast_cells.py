"""Columns as :mod:`replay.native.fast_path` and its kernel know them: how each lies in an image,
and how its values are written, as numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache

import numpy as np

from replay.arrays import Bytes, Index
from replay.changes.catalog import ColumnFormat, TableVersion
from replay.decoding import code_pages
from replay.decoding.plain_rows import PlainCell, PlainRows, ValueForm
from replay.errors import InputError
from replay.native import fast_path_tables as tables
from sqlgen.dialects import Profile
from sqlgen.render import templates
from sqlgen.render_options import RenderOptions, shown_columns
from sqlgen.schema import SqlType

_TEXTS = {"single": tables.TEXT, "utf8": tables.UTF8, "utf16": tables.UTF16}
_ASCII = 367
_KINDS_OF_MOMENT = (SqlType.DATE, SqlType.TIME, SqlType.TIMESTAMP)
_NUMBERS = {ValueForm.INTEGER: tables.INTEGER, ValueForm.PACKED: tables.PACKED}


def table_of_cells(
    version: TableVersion,
    plain: PlainRows,
    profile: Profile,
    options: RenderOptions,
    masked: Collection[str],
) -> tuple[Index, tuple[int, ...]] | None:
    """The table of cells, and the character sets that it refers to by their places
    (:func:`characters_of`); None where a column that is shown needs the other way, as those do that
    are ``masked``."""
    exported = {column.name for column in shown_columns(version.table, options)}
    own = {column.name for column in version.table.columns}
    charsets: list[int] = []
    table = np.zeros((len(plain.cells), tables.CELL), np.int64)
    columns = zip(plain.cells, version.format.columns, strict=True)
    for place, (cell, column) in enumerate(columns):
        name, row = column.column.name, table[place]
        row[[tables.NULLABLE, tables.WIDTH]] = cell.nullable, cell.width
        row[[tables.VARIABLE, tables.EXPANDED]] = cell.variable, cell.expanded
        if version.index_of(name) != place or name not in own:
            if name in own:
                return None  # two columns of one name
            continue
        row[tables.KEYED], row[tables.COMPARED] = name in version.table.key, True
        if name not in exported:
            continue
        row[tables.SHOWN] = 1
        if name in masked or not _say(row, column, cell, profile, options, charsets):
            return None
    return table, tuple(charsets)


def _say(
    row: Index,
    column: ColumnFormat,
    cell: PlainCell,
    profile: Profile,
    options: RenderOptions,
    charsets: list[int],
) -> bool:
    """Note how the values of a column are said; False where the kernel cannot."""
    kind = column.column.type
    row[tables.SCALE] = column.scale
    if cell.form is ValueForm.TEXT:
        known = _charset(column.ccsid)
        if known is None:
            return False
        stripped = kind is SqlType.CHAR and options.policy.char_padding == "strip"
        row[tables.KIND] = _TEXTS[known.kind] + stripped
        number = charset_number(known.ccsid)
        charsets += [] if number in charsets else [number]
        row[tables.CHARSET] = charsets.index(number)
        row[tables.LEAST] = _empty_text(kind, profile, options)
    elif cell.form is ValueForm.MOMENT and kind in _KINDS_OF_MOMENT:
        row[tables.KIND] = tables.DATE + _KINDS_OF_MOMENT.index(kind)
        row[tables.KEPT] = templates.fraction_digits(column.column, profile)
    elif cell.form in _NUMBERS:
        row[tables.KIND] = _NUMBERS[cell.form]
        if kind is SqlType.DECIMAL and not 0 <= column.scale <= 31:
            return False
    else:
        return False
    return True


def _empty_text(kind: SqlType, profile: Profile, options: RenderOptions) -> int:
    """What becomes of a text without characters, as :mod:`sqlgen.literals` says."""
    if not profile.empty_is_null:
        return tables.NONE_AS_IT_IS
    blank = kind is SqlType.CHAR or options.policy.empty_text == "space"
    return tables.BLANK_FOR_NONE if blank else tables.NONE_ODD


def _charset(number: int | None) -> code_pages.Charset | None:
    """The character set of a CCSID, where the kernel knows it."""
    try:
        known = None if number is None else code_pages.charset_of(number)
    except InputError:
        return None
    return known if known is not None and known.kind in _TEXTS else None


def charset_number(ccsid: int | None) -> int:
    """The character set whose octets machine code looks up: the characters of ASCII are written
    alike in UTF-8 and UTF-16. Only of CCSIDs that it knows."""
    known = _charset(ccsid)
    assert known is not None
    return _ASCII if known.kind == "utf16" else known.ccsid


def points_of(number: int) -> list[int]:
    """The character of each octet that is one; of UTF-8, whose other octets are looked at together,
    those of ASCII."""
    points = code_pages.charset_of(number).single
    return list(range(128)) if points is None else [int(point) for point in points]


@lru_cache(maxsize=256)
def characters_of(charsets: tuple[int, ...], texts: templates.Texts) -> tuple[Bytes, Bytes]:
    """:func:`spelled_characters` in literals of a dialect."""

    def spelled(letter: str) -> str | None:
        if letter < "\x80" and texts.special[ord(letter)]:
            return None
        return texts.quote if letter == "'" else letter

    return spelled_characters(charsets, spelled)


def spelled_characters(
    charsets: tuple[int, ...], spelled: Callable[[str], str | None]
) -> tuple[Bytes, Bytes]:
    """``uint8[c, 256]`` and ``uint8[c, 256, 4]``: what each byte of each character set is written
    as; the first says how long that is, as :data:`replay.native.fast_path_tables.SEVERAL`
    does. ``spelled`` gives what a character is written as; None: it is not plain."""
    lengths, codes = (
        np.full((len(charsets), 256), tables.SEVERAL, np.uint8),
        np.zeros((len(charsets), 256, 4), np.uint8),
    )
    for place, number in enumerate(charsets):
        for byte, point in enumerate(points_of(number)):
            letters = None if point == code_pages.UNDEFINED else spelled(chr(point))
            written = b"" if letters is None else letters.encode()
            if not 0 < len(written) <= codes.shape[2]:
                continue
            alone = len(written) == 1
            lengths[place, byte] = written[0] if alone else tables.SEVERAL + len(written)
            codes[place, byte, : len(written)] = list(written)
    return lengths, codes
