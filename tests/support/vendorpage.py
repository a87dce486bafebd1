"""A reader of logical logs that walks the two files by the vendor's pages alone: offsets as they
are printed there, one record after the other, nothing of the program under test."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

#: Octets that a unit of the length of a varying value has: of graphic ones, a character.
_VARYING = {"VCHR": 1, "LVCH": 1, "VGRF": 2, "LVGR": 2}
#: Ids of a table in both files.
_Ids = tuple[int, int]


def records_in(path: Path) -> list[bytes]:
    """The records of a file of variable blocked records: each behind its length (with the word
    itself) and two zeros."""
    raw, place, found = path.read_bytes(), 0, []
    while place < len(raw):
        size = int.from_bytes(raw[place : place + 2], "big")
        assert raw[place + 2 : place + 4] == b"\0\0", f"no descriptor word at {place}"
        assert 4 < size <= 32_760
        assert place + size <= len(raw), f"the record at {place} goes on behind the file"
        found.append(raw[place + 4 : place + size])
        place += size
    return found


def text(record: bytes, offset: int, length: int) -> str:
    """A field of EBCDIC characters."""
    return record[offset : offset + length].decode("cp037").rstrip()


@dataclass(frozen=True)
class Column:
    """As the DLCI page has it."""

    number: int
    name: str
    code: str
    length: int
    scale: int
    nullable: bool
    subtype: str


@dataclass(frozen=True)
class TableOfLog:
    """As the DTBI page has it: ``columns`` in their order."""

    name: str
    scheme: str
    sequence: int
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class ControlOfLog:
    """What a control file says: the first tag, how many records of each kind, the tables by DBID
    and TBOBID, the flags of the DLDS record, the three fields of DLGE, the filters."""

    first: str
    counts: dict[str, int]
    tables: dict[_Ids, list[TableOfLog]]
    flags: dict[str, str]
    end: tuple[str, str, str]
    filters: list[str]


def read_control_file(path: Path) -> ControlOfLog:
    """Walk a control file."""
    records = records_in(path)
    counts: dict[str, int] = defaultdict(int)
    columns: dict[tuple[int, int, int], list[Column]] = defaultdict(list)
    heads: list[tuple[_Ids, str, str, int, int]] = []
    flags: dict[str, str] = {}
    end, filters = ("", "", ""), []
    for record in records:
        tag = text(record, 0, 4)
        counts[tag] += 1
        if tag == "DLCI":
            ids = int(text(record, 8, 4), 16), int(text(record, 12, 4), 16)
            columns[(*ids, int(text(record, 56, 3)))].append(
                Column(
                    int(text(record, 16, 3)),
                    text(record, 62, 128),
                    text(record, 19, 4),
                    int(text(record, 23, 5)),
                    int(text(record, 28, 2) or 0),
                    text(record, 30, 1) in ("Y", "L"),
                    text(record, 36, 1),
                )
            )
        elif tag == "DTBI":
            ids = int(text(record, 8, 4), 16), int(text(record, 16, 4), 16)
            name = f"{text(record, 151, 128)}.{text(record, 290, 128)}"
            sequence, count = int(text(record, 39, 3)), int(text(record, 30, 3))
            heads.append((ids, name, text(record, 66, 1), sequence, count))
        elif tag == "DLDS":
            for name, place in (
                ("SEGMENTED", 60),
                ("DDLOBJECTS", 61),
                ("MERGED", 65),
                ("CMDS", 66),
            ):
                flags[name] = text(record, place, 1)
        elif tag == "DLGE":
            parts = record[4:14], record[16:33], record[36:46]
            end = tuple(part.hex().upper() for part in parts)  # type: ignore[assignment]
        elif tag == "DFDS":
            filters.append(text(record, 8, 64))
    tables: dict[_Ids, list[TableOfLog]] = defaultdict(list)
    for ids, name, scheme, sequence, count in heads:
        mine = tuple(sorted(columns[(*ids, sequence)], key=lambda column: column.number))
        assert len(mine) == count, f"{name} has {len(mine)} DLCI records, LLNUMCOL says {count}"
        tables[ids].append(TableOfLog(name, scheme, sequence, mine))
    return ControlOfLog(text(records[0], 0, 4), counts, tables, flags, end, filters)


@dataclass(frozen=True)
class ChangeOfLog:
    """One change, its segments joined: header fields as hexadecimal digits or text, and the values
    of its images."""

    table: str
    kind: str
    commit: str
    unit: str
    member: int
    rba: str
    unit_disposition: str
    disposition: str
    source: str
    incomplete: str
    images: tuple[dict[str, Any], ...]

    @property
    def order(self) -> tuple[str, str, int, str]:
        """As the data file page sorts: by commit, unit, and place in the log."""
        return self.commit, self.unit, self.member, self.rba


def read_log(control: Path, data: Path) -> list[ChangeOfLog]:
    """All changes of a log in the order of its file; a segmented change stands where its first
    segment does."""
    tables = read_control_file(control).tables
    pieces: dict[tuple[Any, ...], list[bytes]] = {}
    for record in records_in(data):
        assert int.from_bytes(record[0:2], "big") == 288
        key = record[97:99], record[172:182], record[87:97], record[6:12], record[99:106]
        pieces.setdefault(key, []).append(record)
    found = []
    for records in pieces.values():
        total = max(int.from_bytes(records[0][184:186], "big"), 1)
        numbers = [max(int.from_bytes(record[186:188], "big"), 1) for record in records]
        assert sorted(numbers) == list(range(1, total + 1)), f"segments {numbers} of {total}"
        body = b""
        for _, record in sorted(zip(numbers, records, strict=True)):
            data_part = record[288:]
            if data_part:
                assert int.from_bytes(data_part[:2], "big") == len(data_part)
            body += data_part[2:]
        found.append(_change(records[0], body, tables))
    return found


def _change(head: bytes, body: bytes, tables: dict[_Ids, list[TableOfLog]]) -> ChangeOfLog:
    kind, ids = text(head, 104, 2), (_number(head, 6), _number(head, 10))
    images, name = [], ""
    if kind in ("I", "IL", "D", "UB"):
        (table,) = tables[ids]  # tests with several generations look at the records alone
        name, place = table.name, 0
        for _ in range(2 if kind == "UB" else 1):
            size = _number(body, place)
            images.append(_row(table, body[place + 2 : place + 2 + size]))
            place += 2 + size
        assert place == len(body), f"{len(body) - place} bytes behind the images of {name}"
    return ChangeOfLog(
        name,
        kind,
        head[192:202].hex().upper(),
        head[172:182].hex().upper(),
        _number(head, 97),
        head[87:97].hex().upper(),
        text(head, 161, 1),
        text(head, 107, 1),
        text(head, 108, 1),
        text(head, 274, 1) + text(head, 275, 1),
        tuple(images),
    )


def _number(raw: bytes, place: int) -> int:
    return int.from_bytes(raw[place : place + 2], "big")


def _row(table: TableOfLog, image: bytes) -> dict[str, Any]:
    """Columns one behind the other: null byte, length of varying ones, value."""
    place, row = 0, {}
    for column in table.columns:
        null = False
        if column.nullable:
            null = image[place] == 0xFF
            place += 1
        if column.code in _VARYING:
            size = _number(image, place) * _VARYING[column.code]
            place += 2
        else:
            size = column.length
        raw = image[place : place + size]
        assert len(raw) == size
        place += size
        row[column.name] = None if null else _value(column, raw, table.scheme)
    assert place == len(image), f"a row of {table.name} ends at {place} of {len(image)}"
    return row


def _value(column: Column, raw: bytes, scheme: str) -> Any:
    if column.code == "INT":
        return int.from_bytes(raw, "big", signed=True)
    if column.code == "DEC":
        digits = raw.hex()
        sign = -1 if digits[-1] == "d" else 1
        return sign * Decimal(int(digits[:-1])).scaleb(-column.scale)
    if column.code in ("DATE", "TIME", "DTTM"):
        return raw.decode("cp037")
    if column.subtype == "B" or column.code not in ("CHAR", "VCHR", "LVCH"):
        return raw
    return raw.decode({"E": "cp037", "A": "latin-1", "U": "utf-8"}[scheme])
