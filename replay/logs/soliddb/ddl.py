"""DDL records (section 8): what happened to which object, and the statement that did it, where the
log has its text.

How the two values of a DDL record are laid out is not published: D1 to D4 are tried in turn, and
one is taken where it gives a known LOGRECID and a printable name and ends with the record.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from replay.changes.catalog import RowFormat
from replay.decoding import codecs
from replay.errors import InputError
from replay.logs.soliddb import layouts
from replay.logs.soliddb.layouts import Ddl, InternalType, ValueFraming
from replay.logs.soliddb.rows import walk
from replay.logs.soliddb.tables import Attribute, column_format
from sqlgen.soliddb.table_shape import DeclaredColumn

_NUMBER = 4


@dataclass(frozen=True)
class Name:
    """A name as INFO gives it; what it does not say is empty."""

    name: str
    schema: str = ""
    catalog: str = ""


@dataclass(frozen=True)
class Event:
    """A DDL record: what it says it did to ``name``, and the statement where DATA goes on with
    it."""

    kind: Ddl
    name: Name
    text: str = ""


def read(data: bytes, charset: int, framing: ValueFraming | None) -> Event | None:
    """What a DDL record says; None where no layout fits it."""
    if len(data) >= _NUMBER:
        number = int.from_bytes(data[:_NUMBER], "big")
        if number in list(Ddl):
            return _counted(number, data, charset) or _open(number, data, charset)
    return None if framing is None else _framed(data, charset, framing)


def _counted(number: int, data: bytes, charset: int) -> Event | None:
    """D1: LOGRECID, the length of INFO, INFO; then perhaps the statement (D4), by itself or behind
    its length."""
    size = int.from_bytes(data[_NUMBER : 2 * _NUMBER], "big")
    end = 2 * _NUMBER + size
    if len(data) < 2 * _NUMBER or size <= 0 or end > len(data):
        return None
    rest = data[end:]
    if int.from_bytes(rest[:_NUMBER], "big") == len(rest) - _NUMBER:
        rest = rest[_NUMBER:]
    return _event(number, data[2 * _NUMBER : end], rest, charset)


def _open(number: int, data: bytes, charset: int) -> Event | None:
    """D2: LOGRECID, INFO to the end."""
    return _event(number, data[_NUMBER:], b"", charset)


def _framed(data: bytes, charset: int, framing: ValueFraming) -> Event | None:
    """D3: both values as those of a row; then perhaps the statement, as a value or as it is
    (D4)."""
    columns = (
        column_format("LOGRECID", 4, InternalType.INTEGER, 0, 0, None, False, charset, 0),
        column_format("INFO", 12, InternalType.CHAR, 0, 0, None, False, charset, 1),
        column_format("SQL", 12, InternalType.CHAR, 0, 0, None, True, charset, 2),
    )
    buffer, start = np.frombuffer(data, np.uint8), np.zeros(1, np.int64)
    for count in (2, 3):
        columns_walk = walk(RowFormat(columns[:count]), buffer, start, start + len(data), framing)
        if columns_walk.bad[0]:
            continue
        pieces = [
            data[int(cells.place[0]) : int(cells.place[0] + cells.length[0])]
            for cells in columns_walk.columns
        ]
        number = int.from_bytes(pieces[0], "big")
        if number in list(Ddl):
            return _event(number, pieces[1], pieces[2] if count > 2 else b"", charset)
    return None


def _event(number: int, info: bytes, rest: bytes, charset: int) -> Event | None:
    name, text = _name(info, charset), read_text(rest, charset) if rest.rstrip(b"\0") else ""
    return None if name is None or text is None else Event(Ddl(number), name, text)


def read_text(raw: bytes, charset: int) -> str | None:
    """Printable text: UTF-16 where every even byte of the first 64 is zero, else the database's
    character set; None for anything else."""
    wide = len(raw) > 1 and not any(raw[:64:2])
    if wide:
        raw = raw.removesuffix(b"\0") if len(raw) % 2 else raw
        charset = 1200
    else:
        raw = raw.removesuffix(b"\0")
    try:
        values, bad = codecs.decode_text(
            np.frombuffer(raw, np.uint8), np.array([0, len(raw)]), charset
        )
    except InputError:
        return None
    text = values[0].as_py() if bad is None else None
    if text is None or any(
        ord(character) < 32 and character not in "\t\r\n" for character in text.rstrip("\0")
    ):
        return None
    return str(text).rstrip("\0")


def _name(info: bytes, charset: int) -> Name | None:
    bare = info.rstrip(b"\0")
    if bare and b"\0" in bare and any(info[:64:2]):
        parts = [
            read_text(part, charset) for part in bare.split(b"\0")
        ]  # the engine's own order: name, schema, catalog
        return (
            None
            if len(parts) > 3 or None in parts or not parts[0]
            else Name(*(part or "" for part in parts))
        )
    text = read_text(info, charset) or ""
    if '"' in text:
        names = [_plain(token) for token in _NAME.findall(text)]
    else:
        names = text.split(".")  # as it is stored, so in its own case
    return Name(*names[::-1]) if names and len(names) <= 3 and all(names) else None


_NAME = re.compile(r'"(?:[^"]|"")*"|[^\s".]+')


def _plain(token: str) -> str:
    """A name as it is stored: unquoted ones in upper case (section 13)."""
    return token[1:-1].replace('""', '"') if token.startswith('"') else token.upper()


# -- columns of statements
# -------------------------------------------------------------------------------------------------

_SQL_TYPES = {words: number for number, (words, _) in layouts.SQL_TYPES.items()}


def attribute(said: DeclaredColumn, number: int, charset: int) -> Attribute:
    """A column that a statement declares, with its number in the table."""
    sql = _SQL_TYPES[said.words]
    kinds = layouts.KINDS_OF[sql]
    kind = InternalType.FLOAT if said.words == "REAL" else kinds[0]
    length, scale = (*said.sizes, 0)[:2] if said.sizes else (0, None)
    if said.words == "NUMERIC" and not said.sizes:
        length, scale = layouts.MOST_DIGITS, 2
    return Attribute(
        number,
        layouts.ATTR_USER,
        column_format(said.name, sql, kind, length, length, scale, said.nullable, charset, number),
    )
