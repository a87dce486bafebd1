"""Db2 LUW log records as data: framings, log manager headers, record types, functions and their
layouts, by release dialect.

No other module states an offset. Index are in the byte order of the server that wrote the log.
Sources: vendor's pages on data manager records (seed 003, tables 96 to 109) for dialect v7; the
format notes, by section, for everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Hashes, Index


@dataclass(frozen=True, slots=True)
class Part:
    """A field: ``offset`` from the start of its structure, ``size`` in bytes."""

    offset: int
    size: int


Parts = Mapping[str, Part]


def parts(page: str) -> Parts:
    """Fields from a table like the vendor's page: one line a field, ``NAME offset size``."""
    fields = {}
    for line in page.strip().splitlines():
        name, offset, size = line.split()
        fields[name] = Part(int(offset), int(size))
    return fields


# -- framings (section 2)
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecordFraming:
    """The ``size`` bytes before each record. ``lsn``: position in log order; ``lso``: what a v10
    compensation record names; ``code``: its number in the header of a collected file."""

    name: str
    size: int
    code: int
    parts: Parts


FRAMINGS: dict[str, RecordFraming] = {
    framing.name: framing
    for framing in (
        RecordFraming("raw", 0, 1, {}),
        RecordFraming("lsn6", 6, 2, parts("lsn 0 6")),
        RecordFraming("lsn8", 8, 3, parts("lsn 0 8")),
        RecordFraming("flt16", 16, 4, parts("lsn 0 8\nreal 8 4\nsqlcode 12 4")),
        RecordFraming("flt16/6", 16, 5, parts("lsn 0 6\nreal 8 4\nsqlcode 12 4")),
        RecordFraming("lri48", 48, 6, parts("lfs 8 8\nlsn 16 8\nstream 32 8\nlso 40 8")),
        RecordFraming(
            "flt56",
            56,
            7,
            parts("lfs 8 8\nlsn 16 8\nstream 32 8\nlso 40 8\nreal 48 4\nsqlcode 52 4"),
        ),
    )
}

#: Header of a file made by our collector: magic, byte order (1 big, 2 little), dialect, framing (0:
#: find out), reserved.
FILE_MAGIC = b"DB2RLOG1"
FILE_HEADER = parts("magic 0 8\norder 8 1\ndialect 9 1\nframing 10 1\nreserved 11 5")
FILE_HEADER_SIZE = 16

# -- record types (section 5)
# -------------------------------------------------------------------------------------------------


class RecordKind(IntEnum):
    """What a record type means for a unit of recovery."""

    UNKNOWN = 0
    COMPONENT = 1
    COMMIT = 2
    ABORT = 3
    PREPARE = 4
    LOAD = 5
    IGNORED = 6


_TYPES: dict[RecordKind, tuple[int, ...]] = {
    RecordKind.COMPONENT: (0x4E, 0x52, 0x55, 0x43, 0x53, 0x69),
    RecordKind.COMMIT: (0x4D, 0x84, 0x59, 0x87, 0x63, 0x86, 0x73, 0x85, 0x45, 0x8A, 0x47, 0x51),
    RecordKind.ABORT: (0x41, 0x49),
    RecordKind.PREPARE: (0x58, 0x7D, 0x5A, 0x7C, 0x7A, 0x7B),
    RecordKind.LOAD: (0x4A,),
    RecordKind.IGNORED: (
        0x46, 0x54, 0x42, 0x8B, 0x61, 0x67, 0x4C, 0x50, 0x48, 0x4B, 0x6F, 0x4F, 0x44, 0x70, 0x89,
        0x71, 0x56, 0x57,
    ),
}  # fmt: skip
#: Record type -> :class:`RecordKind`.
KIND_OF_TYPE: Bytes = np.zeros(256, np.uint8)
for _kind, _codes in _TYPES.items():
    KIND_OF_TYPE[list(_codes)] = _kind

#: Backup, rollforward and migration: no transaction's records.
OUTSIDE_TRANSACTIONS = (0x6F, 0x4F, 0x44, 0x70, 0x89, 0x71, 0x56, 0x57)
COMPENSATION, BACKOUT_FREE, SUBTRANSACTION = 0x43, 0x42, 0x46
#: Commit-class records that hold only a time and an authorization id (section 14).
PLAIN_COMMITS = (0x4D, 0x84, 0x59, 0x87)
#: Those that go on with entries (local, load, global): without a length, the id has 9 bytes. The
#: global one has no time.
PENDING_LISTS, GLOBAL_PENDING = (0x45, 0x8A, 0x47, 0x51), 0x51
LOCAL_PENDING = (0x45, 0x8A)
NAME_SIZE = 9
#: Those of partitioned databases: a global transaction id stands before the authorization id, and
#: in a coordinator's the highest node and a list of nodes (a bit each) as well.
MPP_COMMITS, COORDINATORS = (0x63, 0x86, 0x73, 0x85), (0x63, 0x86)
GXID_SIZE = 20
TYPE_NAMES: dict[int, str] = {
    0x4E: "normal", 0x52: "redo", 0x55: "undo", 0x43: "compensation", 0x53: "compensation required",
    0x69: "information only",
    0x4D: "normal commit", 0x84: "normal commit", 0x59: "heuristic commit",
    0x87: "heuristic commit", 0x63: "MPP coordinator commit",
    0x86: "MPP coordinator commit", 0x73: "MPP subordinator commit",
    0x85: "MPP subordinator commit", 0x45: "local pending list",
    0x8A: "local pending list", 0x47: "load pending list", 0x51: "global pending list",
    0x41: "normal abort", 0x49: "heuristic abort",
    0x58: "TM prepare", 0x7D: "TM prepare", 0x5A: "XA prepare", 0x7C: "XA prepare",
    0x7A: "MPP prepare", 0x7B: "MPP prepare",
    0x46: "forget transaction, or subtransaction (v10)", 0x54: "partial abort",
    0x42: "backout free", 0x8B: "application information",
    0x61: "datalink manager", 0x67: "MPP log synchronisation", 0x4C: "lock description",
    0x50: "table quiesce", 0x4A: "load start",
    0x48: "load delete start", 0x4B: "undo load delete start", 0x6F: "backup start",
    0x4F: "backup end", 0x44: "table space rolled forward",
    0x70: "rollforward to point in time starts", 0x89: "rollforward to point in time starts",
    0x71: "rollforward to point in time ends",
    0x56: "migration begin", 0x57: "migration end",
}  # fmt: skip

#: General flags of the header (section 4.4).
PROPAGATABLE, TEMPORARY_TABLE, SINGULAR, FLAGS_UNUSED = 0x0002, 0x0004, 0x0010, 0xF000

#: Component -> (owner, bytes of its header) (section 6).
COMPONENTS = {1: ("data manager", 6), 3: ("long field manager", 10), 4: ("object manager", 12),
    5: ("LOB manager", 11),
              8: ("datalink manager", 4), 11: ("relation manager", 8),
              15: ("XML serialiser", 12)}  # fmt: skip
DMS, DOM, RELATION = 1, 4, 11

# -- functions (sections 7 and 8)
# -------------------------------------------------------------------------------------------------


class RecordRole(IntEnum):
    """What a component record does. ``OTHER`` changes nothing that matters here; ``FOREIGN`` are
    the functions by which other releases change rows."""

    OTHER = 0
    INSERT = 1
    DELETE = 2
    UPDATE = 3
    UNDO_INSERT = 4
    UNDO_DELETE = 5
    UNDO_UPDATE = 6
    INSERT_ROWS = 7
    UNDO_INSERT_ROWS = 8
    INITIALIZE = 9
    ADD_COLUMNS = 10
    UNDO_ADD_COLUMNS = 11
    ATTRIBUTE = 12
    CREATE = 13
    UNDO_CREATE = 14
    DROP = 15
    UNDO_DROP = 16
    TRUNCATE = 17
    REORG = 18
    NOT_LOGGED = 19
    PARTIAL_UPDATE = 20
    SCHEMA = 21
    UNKNOWN = 22
    FOREIGN = 23
    DROP_COLUMNS = 24
    UNDO_DROP_COLUMNS = 25
    STATEMENT = 26
    UNDO_STATEMENT = 27


#: DMS functions that mean the same in every dialect.
_DMS_COMMON = {
    102: RecordRole.ADD_COLUMNS, 104: RecordRole.UNDO_ADD_COLUMNS, 110: RecordRole.UNDO_INSERT,
    111: RecordRole.UNDO_DELETE, 112: RecordRole.UNDO_UPDATE, 113: RecordRole.SCHEMA,
    115: RecordRole.SCHEMA, 124: RecordRole.ATTRIBUTE, 128: RecordRole.INITIALIZE,
}  # fmt: skip
_DMS_V7 = _DMS_COMMON | {
    106: RecordRole.DELETE, 118: RecordRole.INSERT, 120: RecordRole.UPDATE,
    121: RecordRole.PARTIAL_UPDATE, 103: RecordRole.OTHER, 105: RecordRole.OTHER,
    107: RecordRole.OTHER, 108: RecordRole.OTHER, 109: RecordRole.OTHER, 114: RecordRole.OTHER,
    117: RecordRole.OTHER, 131: RecordRole.OTHER, 132: RecordRole.OTHER,
} | dict.fromkeys(range(161, 169), RecordRole.FOREIGN)  # fmt: skip
_DMS_V9 = _DMS_COMMON | {
    161: RecordRole.DELETE, 162: RecordRole.INSERT, 163: RecordRole.UPDATE, 164: RecordRole.DELETE,
    165: RecordRole.INSERT, 166: RecordRole.UNDO_DELETE, 131: RecordRole.UNDO_INSERT,
    167: RecordRole.INSERT_ROWS, 168: RecordRole.UNDO_INSERT_ROWS, 116: RecordRole.SCHEMA,
    119: RecordRole.SCHEMA, 122: RecordRole.SCHEMA, 123: RecordRole.SCHEMA,
    169: RecordRole.DROP_COLUMNS, 170: RecordRole.UNDO_DROP_COLUMNS, 108: RecordRole.OTHER,
    137: RecordRole.SCHEMA, 171: RecordRole.OTHER,
    211: RecordRole.OTHER, 212: RecordRole.OTHER, 213: RecordRole.OTHER,
    121: RecordRole.PARTIAL_UPDATE,
} | dict.fromkeys((106, 118, 120), RecordRole.FOREIGN)  # fmt: skip
_DOM = {
    2: RecordRole.OTHER, 3: RecordRole.OTHER, 4: RecordRole.DROP, 5: RecordRole.UNDO_DROP,
    11: RecordRole.TRUNCATE, 12: RecordRole.NOT_LOGGED, 35: RecordRole.REORG,
    101: RecordRole.CREATE, 130: RecordRole.UNDO_CREATE,
}  # fmt: skip
#: The (component, function) that attaches or detaches a data partition (12.1).
PARTITION_STATE = (DMS, 137)
#: DMS functions whose row begins 6 bytes later (section 9.5), told from the usual place by which of
#: the two closes the record.
EMPTY_PAGE = (164, 165, 166)

FUNCTION_NAMES = {
    (1, 102): "add columns", (1, 104): "undo add columns", (1, 106): "delete record",
    (1, 110): "undo insert record", (1, 111): "undo delete record",
    (1, 112): "undo update record", (1, 113): "alter column length",
    (1, 115): "undo alter column length", (1, 118): "insert record",
    (1, 120): "update record", (1, 121): "update, changed bytes only",
    (1, 124): "alter table attribute", (1, 128): "initialize table",
    (1, 131): "undo insert to empty page", (1, 161): "delete record", (1, 162): "insert record",
    (1, 163): "update record",
    (1, 164): "delete to empty page", (1, 165): "insert to empty page",
    (1, 166): "undo delete to empty page", (1, 167): "insert records",
    (1, 168): "undo insert records", (1, 116): "alter LOB column",
    (1, 119): "undo alter LOB column", (1, 122): "rename", (1, 123): "undo rename",
    (1, 137): "update partition state",
    (1, 169): "drop columns", (1, 170): "undo drop columns", (4, 2): "create index",
    (4, 3): "drop index", (4, 4): "drop table",
    (4, 5): "undo drop table", (4, 11): "truncate table", (4, 12): "activate not logged initially",
    (4, 35): "reorg table",
    (4, 101): "create table", (4, 130): "undo create table",
    (11, 4): "DDL statement", (11, 5): "undo DDL statement",
}  # fmt: skip


def _roles(dms: Mapping[int, RecordRole]) -> Bytes:
    table = np.zeros((16, 256), np.uint8)
    table[[DMS, DOM]] = RecordRole.UNKNOWN
    table[DMS, list(dms)] = list(dms.values())
    table[DOM, list(_DOM)] = list(_DOM.values())
    table[RELATION, [4, 5]] = RecordRole.STATEMENT, RecordRole.UNDO_STATEMENT
    return table


# -- dialects (sections 4 and 9)
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dialect:
    """The layouts of some releases. ``sizes`` are the header's bytes: plain, of compensation
    records, of propagatable ones. Other structures begin where the header ends. ``row`` is the
    prefix of a row image, ``row_size`` its bytes; ``undo_row`` that of an undone insert, which has
    no image; ``commits`` and ``aborts`` the forms of such records, the usual one first: the time,
    and the ``authid`` behind it, whose length is in ``authid_length`` (else it goes to the end of
    the record). ``inline_lobs``: a large object may lie in its row, with a mark before it;
    ``out_of_row``: any varying value may lie outside.
    """

    name: str
    title: str
    code: int
    sizes: tuple[int, int, int]
    header: Parts
    compensation: Parts
    row: Parts
    row_size: int
    undo_row: Parts
    initialize: Parts
    attribute: Parts
    commits: tuple[Parts, ...]
    aborts: tuple[Parts, ...]
    roles: Bytes
    inline_lobs: bool = False
    out_of_row: bool = False


_ROW_V7 = parts("rid 8 4\nlength 12 2\nfree 14 2\npage_offset 16 2")
_ROW_V9 = parts("flags 6 2\nlength 8 2\nfree 10 2\nrid 12 6\npage_offset 18 2")
_HEADER_V7 = parts("length 0 4\ntype 4 2\nflags 6 2\nprevious 8 6\ntid 14 6")
_DESCRIPTION_V7 = parts(
    "created 6 6\nrecord_type 12 1\nindex_flag 14 2\nindex_root 16 4\nflags 80 4\nsize 84"
    " 4\ndescription 88 0"
)
#: Commit and abort records (section 14). Releases with headers of 20 bytes have either form.
_COMMIT, _COMMIT_NAMED = (
    parts("time 0 4\nauthid 4 0"),
    parts("time 0 8\nauthid_length 8 2\nauthid 10 0"),
)
_ABORT, _ABORT_NAMED = parts("authid 0 0"), parts("authid_length 0 2\nauthid 2 0")

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "v7", "Db2 5 to 8", 1, (20, 26, 32),
            _HEADER_V7,
            parts("undo_next 20 6\ncompensated 26 6"),
            _ROW_V7, 18, parts("rid 8 4\nlength 12 2\nfree 14 2"),
            _DESCRIPTION_V7,
            parts("mask 8 4\nvalues 12 4"),
            (_COMMIT, _COMMIT_NAMED),
            (_ABORT, _ABORT_NAMED),
            _roles(_DMS_V7),
        ),
        Dialect(
            "v95", "Db2 9.1 and 9.5 (not verified)", 2, (20, 26, 32),
            _HEADER_V7,
            parts("undo_next 20 6\ncompensated 26 6"),
            _ROW_V9, 20, parts("length 8 2\nfree 10 2\nrid 12 6"),
            _DESCRIPTION_V7,
            parts("mask 6 8\nvalues 14 8"),
            (_COMMIT_NAMED, _COMMIT),
            (_ABORT_NAMED, _ABORT),
            _roles(_DMS_V9),
        ),
        Dialect(
            "v97", "Db2 9.7 and 9.8", 3, (24, 32, 40),
            parts("length 0 4\ntype 4 2\nflags 6 2\nprevious 8 8\ntid 16 6"),
            parts("undo_next 24 8\ncompensated 32 8"),
            _ROW_V9, 20, parts("length 8 2\nfree 10 2\nrid 12 6"),
            _DESCRIPTION_V7,
            parts("mask 6 8\nvalues 14 8"),
            (_COMMIT_NAMED,),
            (_ABORT_NAMED,),
            _roles(_DMS_V9), inline_lobs=True,
        ),
        Dialect(
            "v10", "Db2 10.1 to 12.1", 4, (40, 56, 64),
            parts("length 0 4\ntype 4 2\nflags 6 2\nlsn 8 8\nlfs 16 8\nprevious 24 8\ntid 32 "
                  "6\nstream 38 2"),
            parts("undo_next_stream 40 2\nundo_next 48 8\ncompensated 56 8"),
            _ROW_V9, 20, parts("length 8 2\nfree 10 2\nrid 12 6"),
            parts("created 6 6\nflags 84 4\nsize 88 4\ndescription 92 0"),
            parts("mask 6 8\nvalues 14 8"),
            (_COMMIT_NAMED,),
            (_ABORT_NAMED,),
            _roles(_DMS_V9), inline_lobs=True, out_of_row=True,
        ),
    )
}  # fmt: skip

#: Dialects told apart by themselves. v95 shares its header with v7 and its rows with v97, and has
#: no evidence of its own.
DETECTED = ("v7", "v97", "v10")

DMS_HEADER = parts("component 0 1\nfunction 1 1\ntablespace 2 2\ntable 4 2")
DOM_HEADER = parts(
    "component 0 1\nfunction 1 1\nobject_space 2 2\nobject 4 2\ntablespace 6 2\ntable 8"
    " 2\nobject_type 10 1\nflags 11 1"
)
#: Index records (20 bytes), reorg (v7: 268 bytes), create and drop table (68 bytes): what follows
#: the header is internal (tables 101 to 103).
INDEX = parts("token 14 2\nroot 16 4")
REORG = parts("index_token 264 2\ntemporary_space 266 2")
#: 6 more bytes before the row of the empty-page functions.
EMPTY_PAGE_MORE = 6
#: Load start (section 15): the table that rows are loaded into.
LOAD_START = parts("id 0 4\ntablespace 4 2\ntable 6 2")
#: Many rows in one record (section 9.5): each is RID, length, row (undo: no row).
INSERT_ROWS = parts("count 8 2\nsum 12 2\nvariable 14 2\nrows 20 0")
ROW_ENTRY = parts("rid 0 6\nlength 6 2\nrow 8 0")
#: The second half of an update moved a row between partitions (v10).
PARTITION_MOVE = 0x8000
#: Add columns (section 9.8): two sets of arrays, each 8 bytes a column and then 12 a large object
#: column.
ADD_COLUMNS = parts("old 8 4\nnew 12 4\narrays 16 0")
ADD_COLUMNS_TAIL = 24
#: Initialize table: nothing is logged until the creating transaction commits.
NOT_LOGGED_INITIALLY = 0x20
#: DDL statement (section 15): entries, of which type 1 is the schema of names without one, their
#: texts, and the statement, which goes on in the next record where some of it is left.
STATEMENT = parts("entries 14 2\nleft 16 4\nlength 20 4\nlist 24 0")
STATEMENT_ENTRY, STATEMENT_ENTRY_SIZE = parts("type 0 2\nlength 2 2"), 4
DEFAULT_SCHEMA = 1
#: Alter table attribute (section 9.7).
ATTRIBUTES = {
    0x1: "data capture",
    0x2: "check pending",
    0x10000: "append mode",
    0x200000: "long field capture",
    0x400000: "LOB capture",
}

# -- rows (sections 10 to 12)
# -------------------------------------------------------------------------------------------------

ROW_HEADER = parts("outer 0 1\nlength 2 2\ninner 4 1\nfixed 6 2")
ROW_HEADER_SIZE = 8
#: Bits of the outer type: an overflow row, and the pointer that a moved row leaves behind.
OVERFLOW, POINTER = 0x04, 0x02
NORMAL_OUTER = (0x00, 0x10)
#: Bits of the inner type.
FORMATTED, COMPRESSED = 0x01, 0x02
NULL_BIT = 0x01
PAIR = parts("offset 0 2\nlength 2 2")
#: Value compression: an offset with this bit has one attribute byte instead of a value.
ATTRIBUTE_BIT, ATTRIBUTE_NULL, ATTRIBUTE_DEFAULT = 0x8000, 0x01, 0x80
#: The offset of a value with this bit, and this length, is that of what says where outside the row
#: the value lies.
OUT_OF_ROW_BIT, OUT_OF_ROW_SIZE = 0x8000, 24
#: First byte of a large object in a row: the value itself follows (after 4 bytes), or it is empty.
LOB_INLINE, LOB_EMPTY, LOB_LEAD = 0x69, 0x80, 4

DESCRIPTION = parts("record_type 0 1\ncolumns 2 2\narray 4 0")
DESCRIPTOR = parts("type 0 2\nlength 2 2\nprecision 2 1\nscale 3 1\nnull 4 2\noffset 6 2")
DESCRIPTOR_SIZE, LOB_DESCRIPTOR_SIZE = 8, 12
NOT_NULLABLE, TYPE_DEFAULT, USER_DEFAULT = 0x02, 0x04, 0x08
#: Field type -> the name the catalog uses.
FIELD_TYPES = {
    0x0000: "SMALLINT", 0x0001: "INTEGER", 0x0002: "DECIMAL", 0x0003: "DOUBLE", 0x0004: "REAL",
    0x0005: "BIGINT", 0x0006: "DECFLOAT",
    0x0007: "DECFLOAT", 0x0100: "CHARACTER", 0x0101: "VARCHAR", 0x0104: "LONG VARCHAR",
    0x0105: "DATE", 0x0106: "TIME", 0x0107: "TIMESTAMP",
    0x0108: "BLOB", 0x0109: "CLOB", 0x010C: "DATALINK", 0x010F: "BOOLEAN", 0x0110: "BINARY",
    0x0111: "VARBINARY", 0x0112: "XML",
    0x0200: "GRAPHIC", 0x0201: "VARGRAPHIC", 0x0202: "LONG VARGRAPHIC", 0x0203: "DBCLOB",
}  # fmt: skip
#: Types of large objects, whose values may lie in rows; those of long fields, links and XML never
#: do: rows say where they lie.
LOB_TYPES = ("BLOB", "CLOB", "DBCLOB")
MOST_COLUMNS = 1012
LONGEST_RECORD = 16 << 20


# -- numbers
# -------------------------------------------------------------------------------------------------


def numbers(buffer: Bytes, base: Index, part: Part, big: bool) -> Hashes:
    """The unsigned number of a field (1, 2, 4, 6 or 8 bytes) of structures that begin at ``base``.
    Places outside the buffer read as 0."""
    if part.size in (1, 2, 4, 8):
        return _words(buffer, base + part.offset, part.size, big)
    high = _words(buffer, base + part.offset + (0 if big else 4), 2, big)
    low = _words(buffer, base + part.offset + (2 if big else 0), 4, big)
    return (high << np.uint64(32)) | low


def _words(buffer: Bytes, place: Index, size: int, big: bool) -> Hashes:
    count = len(buffer) - size + 1
    if count <= 0:
        return np.zeros(len(place), np.uint64)
    windows: npt.NDArray[np.unsignedinteger] = np.ndarray(
        (count,), f"{'>' if big else '<'}u{size}", buffer, 0, (1,)
    )
    inside = (place >= 0) & (place < count)
    if inside.all():
        return windows[place].astype(np.uint64)
    return np.where(inside, windows[np.where(inside, place, 0)].astype(np.uint64), np.uint64(0))


def number(record: bytes, base: int, part: Part, big: bool) -> int:
    """The same of one record; 0 where it ends before the field."""
    piece = record[base + part.offset : base + part.offset + part.size]
    return int.from_bytes(piece, "big" if big else "little") if len(piece) == part.size else 0
