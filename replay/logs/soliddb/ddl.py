"""DDL records (section 8): what happened to which object, and the statement that did it, where the
log has its text.

How the two values of a DDL record are laid out is not published: D1 to D4 are tried in turn, and
one is taken where it gives a known LOGRECID and a printable name and ends with the record. Of ALTER
TABLE only so much is read as the layout of rows depends on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from replay.changes.catalog import RowFormat
from replay.decoding import codecs
from replay.errors import InputError
from replay.logs.soliddb import layouts
from replay.logs.soliddb.layouts import Ddl, InternalType, ValueFraming
from replay.logs.soliddb.rows import walk
from replay.logs.soliddb.tables import Attribute, column_format

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
        names = [_plain(token) for token in _TOKEN.findall(text) if token not in (".", " ")]
    else:
        names = text.split(".")  # as it is stored, so in its own case
    return Name(*names[::-1]) if names and len(names) <= 3 and all(names) else None


# -- statements
# -------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r'"(?:[^"]|"")*"|\'(?:[^\']|\'\')*\'|[\w$#]+|[^\s\w]')


def _plain(token: str) -> str:
    """A name as it is stored: unquoted ones in upper case (section 13)."""
    return token[1:-1].replace('""', '"') if token.startswith('"') else token.upper()


@dataclass(frozen=True)
class Alter:
    """What ALTER TABLE does to rows: ``add``, ``drop``, ``rename``, ``modify`` a column; ``name``
    or ``schema`` the table; ``null`` (a column may be null, or may not); or ``other``, which leaves
    rows as they are. ``table``: what the statement calls it; ``rest``: the words after the column;
    ``schema``: that of the table, where the statement says it."""

    what: str
    table: str
    column: str = ""
    new: str = ""
    rest: tuple[str, ...] = ()
    schema: str = ""


#: What follows ADD or DROP and is no column.
_NOT_COLUMNS = {"CONSTRAINT", "PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "CACHE"}


def alter(text: str) -> Alter | None:
    """What an ALTER TABLE statement does; None where it cannot be read."""
    tokens = [token for token in _TOKEN.findall(text) if token != ";"]
    words = [token.upper() for token in tokens]
    if words[:2] != ["ALTER", "TABLE"] or len(words) < 5:
        return None
    at = 3
    while at + 1 < len(words) and words[at] == ".":
        at += 2
    if at >= len(words):
        return None
    table = _plain(tokens[at - 1])
    verb, words, tokens = words[at], words[at + 1 :], tokens[at + 1 :]
    if verb == "SET":
        named = words[:2] == ["TABLE", "NAME"] and len(words) > 2
        return (
            Alter("name", table, new=_plain(tokens[-1]), schema=home(text))
            if named
            else Alter("other", table)
        )
    if verb == "MODIFY" and words[:1] == ["SCHEMA"] and len(words) == 2:
        return Alter("schema", table, new=_plain(tokens[1]), schema=home(text))
    if verb not in ("ADD", "DROP", "RENAME", "MODIFY", "ALTER") or not words:
        return None
    if verb in ("ADD", "DROP") and words[0] in _NOT_COLUMNS:
        return Alter("other", table)
    if words[0] == "COLUMN" and len(words) > 1:
        tokens = tokens[1:]
    column, rest = _plain(tokens[0]), tuple(tokens[1:])
    if verb == "ALTER":
        return Alter(
            "null" if [word.upper() for word in rest[-2:]] == ["NOT", "NULL"] else "other",
            table,
            column,
        )
    if verb == "RENAME":
        return Alter("rename", table, column, _plain(rest[0])) if len(rest) == 1 else None
    return Alter(verb.lower(), table, column, rest=rest)


#: Words of types in DDL -> SQL_DATA_TYPE_NUM and internal type (section 12).
_TYPE_WORDS: dict[str, tuple[int, InternalType]] = {
    "TINYINT": (-6, InternalType.INTEGER), "SMALLINT": (5, InternalType.INTEGER),
    "INTEGER": (4, InternalType.INTEGER), "INT": (4, InternalType.INTEGER),
    "BIGINT": (-5, InternalType.BIGINT), "REAL": (7, InternalType.FLOAT),
    "FLOAT": (6, InternalType.DOUBLE), "DOUBLE PRECISION": (8, InternalType.DOUBLE),
    "DECIMAL": (3, InternalType.DFLOAT), "DEC": (3, InternalType.DFLOAT),
    "NUMERIC": (2, InternalType.DFLOAT), "CHAR": (1, InternalType.CHAR),
    "CHARACTER": (1, InternalType.CHAR), "VARCHAR": (12, InternalType.CHAR),
    "CHAR VARYING": (12, InternalType.CHAR), "CHARACTER VARYING": (12, InternalType.CHAR),
    "LONG VARCHAR": (-1, InternalType.CHAR), "CLOB": (-1, InternalType.CHAR),
    "WCHAR": (-8, InternalType.UNICODE), "NCHAR": (-8, InternalType.UNICODE),
    "WVARCHAR": (-9, InternalType.UNICODE), "NVARCHAR": (-9, InternalType.UNICODE),
    "LONG WVARCHAR": (-10, InternalType.UNICODE), "LONG NVARCHAR": (-10, InternalType.UNICODE),
    "NCLOB": (-10, InternalType.UNICODE), "BINARY": (-2, InternalType.BINARY),
    "VARBINARY": (-3, InternalType.BINARY), "LONG VARBINARY": (-4, InternalType.BINARY),
    "BLOB": (-4, InternalType.BINARY), "DATE": (9, InternalType.DATE),
    "TIME": (10, InternalType.DATE), "TIMESTAMP": (11, InternalType.DATE),
}  # fmt: skip


def added(change: Alter, number: int, charset: int) -> Attribute | None:
    """The column that ADD COLUMN makes; None where its type is not known."""
    words = [word.upper() for word in change.rest]
    spelled = (
        " ".join(words[:2]) if " ".join(words[:2]) in _TYPE_WORDS else words[0] if words else ""
    )
    if spelled not in _TYPE_WORDS:
        return None
    after = words[len(spelled.split()) :]
    sizes = re.match(r"\( (\d+)(?: , (\d+))? \)", " ".join(after))
    length, scale = (int(sizes[1]), int(sizes[2] or 0)) if sizes else (0, None)
    sql, kind = _TYPE_WORDS[spelled]
    if sql == 2 and sizes is None:
        length, scale = layouts.MOST_DIGITS, 2
    nullable = " ".join(after).find("NOT NULL") < 0
    return Attribute(
        number,
        layouts.ATTR_USER,
        column_format(change.column, sql, kind, length, length, scale, nullable, charset, number),
    )


def words(text: str) -> list[str]:
    """The names and words of a statement, as they are stored."""
    return [
        _plain(token) for token in _TOKEN.findall(text) if token[0] == '"' or token[0].isalnum()
    ]


def home(text: str) -> str:
    """The schema that a statement states for the table, view or sequence that it makes, changes or
    drops; empty where it states none."""
    tokens = _TOKEN.findall(text)
    at = next(
        (
            place + 1
            for place, token in enumerate(tokens)
            if token.upper() in ("TABLE", "VIEW", "SEQUENCE")
        ),
        len(tokens),
    )
    names = tokens[at : at + 1]
    while at + 2 < len(tokens) and tokens[at + 1] == ".":
        at += 2
        names.append(tokens[at])
    return _plain(names[-2]) if len(names) > 1 else ""


def created(text: str, charset: int) -> tuple[tuple[Attribute, ...], tuple[str, ...]] | None:
    """The columns and the key that a CREATE TABLE makes; None where they cannot be read."""
    tokens = _TOKEN.findall(text)
    upper = [token.upper() for token in tokens]
    if upper[:1] != ["CREATE"] or "TABLE" not in upper or "(" not in upper:
        return None
    attributes: list[Attribute] = []
    key: tuple[str, ...] = ()
    for entry in _entries(tokens[upper.index("(") :]):
        words_ = [token.upper() for token in entry]
        if words_[0] == "CONSTRAINT":
            entry, words_ = entry[2:], words_[2:]
        if words_[:2] == ["PRIMARY", "KEY"]:
            key = tuple(_plain(token) for token in entry[2:] if token not in "(),")
        elif words_ and words_[0] not in ("UNIQUE", "FOREIGN", "CHECK"):
            column = _plain(entry[0])
            attribute = added(
                Alter("add", "", column, rest=tuple(entry[1:])), len(attributes), charset
            )
            if attribute is None:
                return None
            attributes.append(attribute)
            key = (column,) if "PRIMARY KEY" in " ".join(words_) else key
    names = [entry.format.column.name for entry in attributes]
    if not attributes or not set(key) <= set(names):
        return None
    return (
        tuple(
            _required(entry) if name in key else entry
            for name, entry in zip(names, attributes, strict=True)
        ),
        key,
    )


def _required(entry: Attribute) -> Attribute:
    return replace(
        entry,
        format=replace(
            entry.format, nullable=False, column=replace(entry.format.column, nullable=False)
        ),
    )


def _entries(tokens: list[str]) -> list[list[str]]:
    """What stands between the first parenthesis and its end, cut at its commas."""
    entries: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token == "(") - (token == ")")
        if depth == 0:
            break
        if depth == 1 and token == ",":
            entries.append([])
        elif depth > 1 or token != "(":
            entries[-1].append(token)
    return [entry for entry in entries if entry]
