"""Makes a Log Master logical log of any size, from nothing but the layout tables and a seed.

    scripts/run python scripts/generate_log.py --records 2400000 --dir /tmp/bench

Three tables of eight columns in EBCDIC 037; 40 % inserts, 40 % updates (of one to three columns),
20 % deletes; units of recovery of about eight records on two members, with rising commit LRSNs; the
records lie in the file in random order. About 433 bytes a record, 330 with ``--columns 2``. Equal
records, seed and :data:`EDITION` give equal bytes. Memory does not grow with the image data:
only a few numbers per record are kept.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index, Mask
from replay.decoding.layout import Field, FieldKind
from replay.logs.logmaster.layouts import DLCI, DLDS, DLGE, DTBI, LLDF, XHDF, XTYP

Rng = np.random.Generator

#: Counts up when the same seed begins to give other bytes, so that logs made before are not taken
#: for new ones.
EDITION = 1
CHUNK = 32_768
SYSTEM = "DB2P"
OWNER = "BENCH"
DATABASE = "DBENCH"
DBID = 300

#: Records per unit of recovery: 1 to 15, evenly, hence 8 on average.
UNIT_RECORDS = 15
INSERT, UPDATE, DELETE = 0, 1, 2
SHARES = (0.4, 0.4, 0.2)
CHANGE_TYPES = ("I", "UB", "D")

_EBCDIC = np.frombuffer(bytes(range(128)).decode("ascii").encode("cp037"), np.uint8)
#: What text is made of: mostly letters and blanks, and of 256 characters one apostrophe and one
#: letter that is not ASCII.
_ALPHABET = np.frombuffer(
    ("'é" + "etaoin shrdlu cmfwyp ETAOIN 0123456789" * 7)[:256].encode("cp037"), np.uint8
)
_BLANK = 0x40

#: First moment and LRSN of the log, microseconds between commits at most, and where an LRSN and an
#: RBA lie in a field of 10 bytes (seed 002).
START = np.datetime64("2026-03-02T06:00:00", "us")
FIRST_LRSN = 0xDECBEB000000
COMMIT_GAP = 2000
LRSN_AT, RBA_AT = 1, 4


@dataclass(frozen=True)
class ColumnSpec:
    """A column as DLCI describes it. ``make`` gives ``n`` values: the padded bytes, and how many of
    each row count."""

    name: str
    code: str
    length: int
    make: Callable[[Rng, int, int], tuple[Bytes, Index]]
    scale: int = 0
    nullable: bool = False
    key: bool = False

    @property
    def varying(self) -> bool:
        """Whether a length stands before the value."""
        return self.code == "VCHR"

    @property
    def room(self) -> int:
        """Bytes in a row image at most."""
        return self.nullable + 2 * self.varying + self.length


@dataclass(frozen=True)
class TableSpec:
    """A table: its name, its PSID and OBID, its columns."""

    name: str
    psid: int
    obid: int
    columns: tuple[ColumnSpec, ...]


def _all(block: npt.NDArray[Any]) -> tuple[Bytes, Index]:
    return block, np.full(len(block), block.shape[1], np.int64)


def _characters(rng: Rng, count: int, width: int) -> Bytes:
    return _ALPHABET[rng.integers(0, 256, (count, width), dtype=np.uint8)]


def _integer(rng: Rng, count: int, width: int) -> tuple[Bytes, Index]:
    return _all(rng.integers(0, 256, (count, width), dtype=np.uint8))


def _char(rng: Rng, count: int, width: int) -> tuple[Bytes, Index]:
    block = _characters(rng, count, width)
    block[np.arange(width) >= rng.integers(1, width + 1, count)[:, None]] = _BLANK
    return _all(block)


def _varchar(rng: Rng, count: int, width: int) -> tuple[Bytes, Index]:
    return _characters(rng, count, width), rng.integers(0, width + 1, count)


def _packed(rng: Rng, count: int, width: int) -> tuple[Bytes, Index]:
    digits = rng.integers(0, 10, (count, 2 * width), dtype=np.uint8)
    digits[:, : width - 2] *= rng.random((count, 1)) < 0.1
    digits[:, -1] = np.where(rng.random(count) < 0.2, 0xD, 0xC)
    return _all((digits[:, 0::2] << 4) | digits[:, 1::2])


def moment_text(microseconds: Index) -> Bytes:
    """``YYYY-MM-DDTHH:MM:SS.ffffff`` in ASCII, of microseconds after :data:`START`."""
    text = np.datetime_as_string(START + microseconds.astype("timedelta64[us]"), unit="us")
    return np.ascontiguousarray(text.astype("S26")).view(np.uint8).reshape(len(microseconds), 26)


def _moments(rng: Rng, count: int) -> Bytes:
    """Ten years of moments as Db2 writes them, ``YYYY-MM-DD-HH.MM.SS.ffffff``."""
    text = moment_text(rng.integers(0, 10 * 365 * 86_400_000_000, count)).copy()
    text[:, [10, 13, 16]] = np.frombuffer(b"-..", np.uint8)
    return _EBCDIC[text]


def _timestamp(rng: Rng, count: int, width: int) -> tuple[Bytes, Index]:
    return _all(_moments(rng, count)[:, :width])


TABLES = (
    TableSpec(
        "ORDERS",
        10,
        11,
        (
            ColumnSpec("ORDER_ID", "INT", 4, _integer, key=True),
            ColumnSpec("STATUS", "CHAR", 12, _char),
            ColumnSpec("TITLE", "VCHR", 40, _varchar),
            ColumnSpec("AMOUNT", "DEC", 6, _packed, scale=2),
            ColumnSpec("PLACED", "DATE", 10, _timestamp),
            ColumnSpec("CHANGED", "DTTM", 26, _timestamp),
            ColumnSpec("PRIORITY", "INT", 2, _integer, nullable=True),
            ColumnSpec("REMARK", "VCHR", 30, _varchar, nullable=True),
        ),
    ),
    TableSpec(
        "ITEMS",
        20,
        21,
        (
            ColumnSpec("ITEM_ID", "INT", 4, _integer, key=True),
            ColumnSpec("RESTOCKED", "DTTM", 26, _timestamp),
            ColumnSpec("PRICE", "DEC", 5, _packed, scale=2),
            ColumnSpec("SHELF", "INT", 2, _integer, nullable=True),
            ColumnSpec("CODE", "CHAR", 16, _char),
            ColumnSpec("SINCE", "DATE", 10, _timestamp),
            ColumnSpec("HINT", "VCHR", 24, _varchar, nullable=True),
            ColumnSpec("NAME", "VCHR", 48, _varchar),
        ),
    ),
    TableSpec(
        "PAYMENTS",
        30,
        31,
        (
            ColumnSpec("PAYMENT_ID", "INT", 4, _integer, key=True),
            ColumnSpec("PAYER", "VCHR", 36, _varchar),
            ColumnSpec("DUE", "DATE", 10, _timestamp),
            ColumnSpec("CURRENCY", "CHAR", 8, _char),
            ColumnSpec("TOTAL", "DEC", 8, _packed, scale=3),
            ColumnSpec("NOTE", "VCHR", 32, _varchar, nullable=True),
            ColumnSpec("BRANCH", "INT", 2, _integer, nullable=True),
            ColumnSpec("BOOKED", "DTTM", 26, _timestamp),
        ),
    ),
)


# -- control file
# -------------------------------------------------------------------------------------------------


def _framed(record: bytes) -> bytes:
    return (len(record) + 4).to_bytes(2, "big") + b"\0\0" + record


def _described(entry: Field) -> bytes:
    kind, subtype = {FieldKind.TEXT: ("CHAR", ""), FieldKind.UNSIGNED: ("BIN", "U")}.get(
        entry.kind, ("BIN", "B")
    )
    return XHDF.build(
        CNTLRECORDTYPE="XHDF",
        HEADFIELDNAME=entry.name,
        HEADFIELDTYPE=kind,
        HEADFIELDSUBTYPE=subtype,
        HEADFIELDLEN=entry.length,
        HEADFIELDPOS=entry.offset,
    )


def _table_record(table: TableSpec) -> bytes:
    return DTBI.build(
        CNTLRECORDTYPE="DTBI",
        SYSID=SYSTEM,
        DBID=DBID,
        PSID=table.psid,
        TBOBID=table.obid,
        OBJECTTYPE="TB",
        DB2NUMCOL=len(table.columns),
        LLNUMCOL=len(table.columns),
        LLMAXROWLEN=sum(column.room for column in table.columns),
        ROWTYPE="V",
        SEQUENCENUMBER=1,
        ENCODINGSCHEME="E",
        DBNAMELEN=len(DATABASE),
        DBNAME=DATABASE,
        TSNAMELEN=len(table.name),
        TSNAME=table.name,
        TABLEOWNERLEN=len(OWNER),
        TABLEOWNER=OWNER,
        SHORTOWNER=OWNER,
        TABLENAMELEN=len(table.name),
        TABLENAME=table.name,
        SHORTNAME=table.name,
        UNTRANOWNERFLAG="N",
        UNTRANNAMEFLAG="N",
        LOBSINCLUDED="N",
        XMLINCLUDED="N",
    )


def _column_records(table: TableSpec) -> Iterator[bytes]:
    place = 4  # in DATA: its own length and the image's come first
    for number, column in enumerate(table.columns, 1):
        text = column.code in ("CHAR", "VCHR")
        yield DLCI.build(
            CNTLRECORDTYPE="DLCI",
            SYSID=SYSTEM,
            DBID=DBID,
            TBOBID=table.obid,
            SEQUENCENUMBER=1,
            LLCOLUMNNUM=number,
            LLCOLUMNTYPE=column.code,
            LLCOLUMNLEN=column.length,
            LLSCALE=column.scale,
            LLNULLS="Y" if column.nullable else "N",
            LLCOLUMNPOS=place,
            LLCOLUMNSUBTYPE="S" if text else "",
            KEYSEQ=int(column.key),
            KEYORDERING="A" if column.key else "",
            LOGLOGBYTES=column.room,
            COLUMNNAMELEN=len(column.name),
            COLUMNNAME=column.name,
        )
        place = -1 if column.varying or place < 0 else place + column.room


def _idle_tables(count: int) -> Iterator[TableSpec]:
    """Tables that no record is of."""
    for number in range(count):
        yield TableSpec(f"IDLE{number:05d}", 100 + number, 100 + number, TABLES[0].columns)


def narrow_tables(columns: int) -> tuple[TableSpec, ...]:
    """The tables with their first ``columns`` columns each (0: with all)."""
    if not columns:
        return TABLES
    return tuple(replace(table, columns=table.columns[:columns]) for table in TABLES)


def control_file(
    last_lrsn: bytes, dependent: bytes, idle: int = 0, tables: tuple[TableSpec, ...] = TABLES
) -> bytes:
    """The control file of every log made here; ``last_lrsn`` goes into its end record. ``idle``:
    how many tables it describes beside ``tables``, those that the log changes."""
    records = [
        XTYP.build(
            CNTLRECORDTYPE="XTYP",
            CNTLFILETYPE="DB2",
            CNTLFILETYPEVERSION="V1210",
            CNTLFILESYSID=SYSTEM,
            SQLDELIMITER="'",
            MIXED="N",
            DECIMALPOINT=".",
            EBCDICSINGLECCSID=37,
            EBCDICMIXEDCCSID=65534,
            ASCIISINGLECCSID=819,
            UNICODESINGLECCSID=1208,
            UNICODEDOUBLECCSID=1200,
            UNICODEMIXEDCCSID=1208,
        ),
        DLDS.build(
            CNTLRECORDTYPE="DLDS",
            ORIGDATADSNAME="BENCH.LLOG.DATA",
            RECORDFORMAT="VB",
            DATEFORMAT="DB2I",
            EXPANDVAR="N",
            SEGMENTED="N",
            DDLOBJECTS="N",
            LOBSINCLUDED="N",
            XMLINCLUDED="N",
            XMLSTRINGINCLUDED="N",
            MERGED="N",
            CMDSINCLUDED="N",
        ),
        *(_described(entry) for entry in LLDF.names.values()),
    ]
    for table in (*tables, *_idle_tables(idle)):
        records += [_table_record(table), *_column_records(table)]
    records.append(DLGE.build(CNTLRECORDTYPE="DLGE", ENDRBA=last_lrsn, DEPENDENTRBA=dependent))
    return b"".join(map(_framed, records))


# -- data file
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class History:
    """What happened, in log order: the unit and the row of each record, and of each unit its first
    record, member, commit LRSN and commit time, and whether it is incomplete."""

    unit: Index
    key: Index
    first: Index
    member: Index
    commit: Index
    committed: Index
    incomplete: Mask


def make_history(
    records: int, seed: int, rows: int = 0, incomplete: int = 0, unit_size: int = 0
) -> History:
    """Units of 1 to 15 records (or of ``unit_size``) whose commit LRSNs rise. ``rows``: how many
    rows there are to choose from (0: each record has its own)."""
    rng = np.random.default_rng([seed, EDITION])
    if unit_size:
        sizes = np.full(-(-records // unit_size), unit_size)
    else:
        sizes = rng.integers(1, UNIT_RECORDS + 1, records // 4 + 16)
    first = np.concatenate([[0], np.cumsum(sizes)])
    first = first[first < records]
    committed = np.cumsum(rng.integers(1, COMMIT_GAP, len(first)))
    unit = np.zeros(records, np.int64)
    unit[first[1:]] = 1
    marked = np.zeros(len(first), bool)
    marked[np.linspace(0, len(first) - 1, incomplete, dtype=np.int64)] = True
    member = rng.integers(1, 3, len(first))
    key = rng.integers(1, rows + 1, records) if rows else np.arange(1, records + 1)
    return History(np.cumsum(unit), key, first, member, FIRST_LRSN + committed, committed, marked)


class _Headers:
    """Headers of a chunk: a prototype from the layout, then the fields that differ."""

    def __init__(self, count: int) -> None:
        prototype = LLDF.build(
            LENGTH=LLDF.size,
            SYSTEMID=SYSTEM,
            DBID=DBID,
            TBOWNERLEN=len(OWNER),
            DBNAME=DATABASE,
            TABLEOWNER=OWNER,
            SQLTYPE="U",
            LOGRECDISP="C",
            UORDISP="C",
            ANOMALYTYPE="N",
            TOTALSEGS=1,
            SEGNUM=1,
            CONNECTID="SERVER",
            AUTHID="CLERK",
            PLAN="DISTSERV",
            LUWNETWORKID="NETA",
            LUWNAME="LUDB2",
            LUWSEQUENCENO=1,
            INCOMPLETETRANS="N",
            INCOMPLETEDEP="N",
            UORHASCOMP="N",
            PAGENUMFMT="A",
        )
        self.block = np.tile(np.frombuffer(prototype, np.uint8), (count, 1))

    def put(self, name: str, block: npt.NDArray[Any], rows: Any = slice(None)) -> None:
        entry = LLDF.names[name]
        self.block[rows, entry.offset : entry.end] = block

    def number(self, name: str, values: npt.NDArray[Any]) -> None:
        self.put(name, big_endian(values, LLDF.names[name].length))

    def position(self, name: str, values: Index, at: int) -> None:
        self.put(name, wide(values, at))


def big_endian(values: npt.NDArray[Any], width: int) -> Bytes:
    """Unsigned big-endian numbers, ``uint8[n, width]``."""
    return np.ascontiguousarray(values).astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - width :]


def wide(values: npt.NDArray[Any], at: int) -> Bytes:
    """6-byte positions in fields of 10 bytes."""
    block = np.zeros((len(values), 10), np.uint8)
    block[:, at : at + 6] = big_endian(values, 6)
    return block


def _packed_time(microseconds: Index) -> Bytes:
    text = moment_text(microseconds)
    digits = text[:, [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, *range(20, 26)]] & 0x0F
    block = np.zeros((len(text), 17), np.uint8)
    block[:, :10] = (digits[:, 0::2] << 4) | digits[:, 1::2]
    return block


def _headers(history: History, sequence: Index, operation: Index, table: Index, rng: Rng) -> Bytes:
    headers = _Headers(len(sequence))
    unit = history.unit[sequence]
    begin, committed = history.first[unit], history.committed[unit]
    headers.number("PSID", np.array([entry.psid for entry in TABLES])[table])
    headers.number("TBOBID", np.array([entry.obid for entry in TABLES])[table])
    headers.number("TBNAMELEN", np.array([len(entry.name) for entry in TABLES])[table])
    for number, entry in enumerate(TABLES):
        for name in ("TSNAME", "TABLENAME"):
            headers.put(
                name, np.frombuffer(LLDF.names[name].encode(entry.name), np.uint8), table == number
            )
    for number, code in enumerate(CHANGE_TYPES):
        headers.put(
            "CHANGE TYPE",
            np.frombuffer(LLDF.names["CHANGE TYPE"].encode(code), np.uint8),
            operation == number,
        )
    headers.number("MEMBERID", history.member[unit])
    headers.put(
        "RID", rng.integers(0, 256, (len(sequence), LLDF.names["RID"].length), dtype=np.uint8)
    )
    headers.position("LOGRBA", 1_000_000 + sequence * 500, RBA_AT)
    headers.position("UORID", 1_000_000 + begin * 500 - 100, RBA_AT)
    headers.position("UORCOMMITPOINT", 1_000_000 + begin * 500 + 500 * UNIT_RECORDS, RBA_AT)
    lrsn = history.commit[unit] - (UNIT_RECORDS + 1 - (sequence - begin))
    headers.position("LOGLRSN", lrsn, LRSN_AT)
    headers.position("UORIDLRSN", history.commit[unit] - UNIT_RECORDS - 2, LRSN_AT)
    headers.position("UORCOMMITLRSN", history.commit[unit], LRSN_AT)
    headers.put("UORCOMMITTIMESTAMP", _packed_time(committed))
    headers.put("UORTIMESTAMP", _packed_time(committed - UNIT_RECORDS - 2))
    headers.put("TIMESTAMP", _packed_time(committed - 1))
    job = np.char.mod("JOB%05d", unit % 100_000).astype("S12")
    text = (
        np.char.ljust(job, LLDF.names["CORRELATIONID"].length).view(np.uint8).reshape(len(unit), -1)
    )
    headers.put("CORRELATIONID", _EBCDIC[text])
    headers.put(
        "INCOMPLETETRANS",
        np.where(history.incomplete[unit], _EBCDIC[ord("Y")], _EBCDIC[ord("N")])[:, None],
    )
    return headers.block


@dataclass
class _Image:
    """Images of ``n`` rows with room for the longest: ``keep`` says which bytes belong to them."""

    block: Bytes
    keep: Mask


def _cell(column: ColumnSpec, rng: Rng, count: int) -> tuple[Bytes, Mask]:
    """One column of ``count`` images: null byte, length, value."""
    value, length = column.make(rng, count, column.length)
    null = (rng.random(count) < 0.2) if column.nullable else np.zeros(count, bool)
    parts: list[Bytes] = []
    if column.nullable:
        parts.append(np.where(null, 0xFF, 0).astype(np.uint8)[:, None])
    if column.varying:
        length = np.where(null, 0, length)
        parts.append(big_endian(length, 2))
    head = sum(part.shape[1] for part in parts)
    block = np.concatenate([*parts, value], axis=1)
    return block, np.arange(block.shape[1]) < (head + length)[:, None]


def _pair(table: TableSpec, keys: Index, rng: Rng) -> tuple[_Image, _Image]:
    """Before and after images that differ in one to three columns beside the key."""
    count = len(keys)
    free = sum(not column.key for column in table.columns)
    rank = rng.random((count, free)).argsort(axis=1).argsort(axis=1)
    changed = rank < rng.integers(1, 4, count)[:, None]
    before: list[tuple[Bytes, Mask]] = []
    after: list[tuple[Bytes, Mask]] = []
    for column in table.columns:
        if column.key:
            cell = big_endian(keys, column.length), np.ones((count, column.length), bool)
            before.append(cell)
            after.append(cell)
            continue
        old, new = _cell(column, rng, count), _cell(column, rng, count)
        other, changed = changed[:, :1], changed[:, 1:]
        before.append(old)
        after.append((np.where(other, new[0], old[0]), np.where(other, new[1], old[1])))
    return _joined(before), _joined(after)


def _joined(parts: list[tuple[Bytes, Mask]]) -> _Image:
    return _Image(
        np.concatenate([block for block, _ in parts], axis=1),
        np.concatenate([keep for _, keep in parts], axis=1),
    )


def _data(table: TableSpec, operation: Index, keys: Index, rng: Rng) -> _Image:
    """DATA as the notes' reading A has it: its length, then each image with its own; inserts have
    the after image, deletes the before image."""
    before, after = _pair(table, keys, rng)
    parts: list[tuple[Bytes, Mask]] = []
    size = np.full(len(keys), 2, np.int64)
    for image, unwanted in ((before, INSERT), (after, DELETE)):
        wanted = operation != unwanted
        length = image.keep.sum(axis=1)
        size += np.where(wanted, length + 2, 0)
        parts.append((big_endian(length, 2), np.repeat(wanted[:, None], 2, axis=1)))
        parts.append((image.block, image.keep & wanted[:, None]))
    return _joined([(big_endian(size, 2), np.ones((len(keys), 2), bool)), *parts])


def _chunk(
    history: History, sequence: Index, rng: Rng, tables: tuple[TableSpec, ...] = TABLES
) -> bytes:
    """The records with these numbers, in this order, each after its descriptor word."""
    count = len(sequence)
    operation = rng.choice(3, count, p=SHARES)
    table = rng.integers(0, len(tables), count)
    headers = _headers(history, sequence, operation, table, rng)
    rows_of = [(np.flatnonzero(table == number), entry) for number, entry in enumerate(tables)]
    images = [
        (rows, _data(entry, operation[rows], history.key[sequence[rows]], rng))
        for rows, entry in rows_of
    ]
    room = max(image.block.shape[1] for _, image in images)
    block, keep = np.zeros((count, room), np.uint8), np.zeros((count, room), bool)
    for rows, image in images:
        block[rows, : image.block.shape[1]] = image.block
        keep[rows, : image.block.shape[1]] = image.keep
    length = keep.sum(axis=1)
    seglen = LLDF.names["SEGLEN"]
    headers[:, seglen.offset : seglen.end] = big_endian(length + LLDF.size, 2)
    descriptor = np.concatenate(
        [big_endian(length + LLDF.size + 4, 2), np.zeros((count, 2), np.uint8)], axis=1
    )
    whole = np.concatenate([descriptor, headers, block], axis=1)
    kept: Bytes = whole[np.concatenate([np.ones((count, 4 + LLDF.size), bool), keep], axis=1)]
    return kept.tobytes()


def _places(records: int, seed: int, window: int) -> Index:
    """Numbers of the records in the order of the file, random within each ``window`` (0: all)."""
    place = np.arange(records)
    rng = np.random.default_rng([seed, EDITION, 1])
    for start in range(0, records, window or records):
        rng.shuffle(place[start : start + (window or records)])
    return place


def generate(
    folder: Path,
    records: int,
    seed: int = 1,
    rows: int = 0,
    incomplete: int = 0,
    unit_size: int = 0,
    idle: int = 0,
    columns: int = 0,
    window: int = 0,
) -> tuple[Path, Path]:
    """Control and data file of a log in ``folder``; made when they are not there yet. ``rows``,
    ``incomplete`` and ``unit_size`` as for :func:`make_history`, ``idle`` as for
    :func:`control_file`, ``columns`` as for :func:`narrow_tables`; ``window``: within how many
    neighbours the order is random (0: within all)."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"log-{EDITION}-{seed}-{records}" + (
        f"-{rows}-{incomplete}" if rows or incomplete else ""
    )
    name += f"-u{unit_size}-t{idle}" if unit_size or idle else ""
    name += f"-c{columns}-w{window}" if columns or window else ""
    control, data = folder / f"{name}.ctl", folder / f"{name}.dat"
    if control.exists() and data.exists():
        return control, data
    history = make_history(records, seed, rows, incomplete, unit_size)
    place, tables = _places(records, seed, window), narrow_tables(columns)
    unfinished = data.with_suffix(".part")
    with unfinished.open("wb") as file:
        for start in range(0, records, CHUNK):
            file.write(
                _chunk(
                    history,
                    place[start : start + CHUNK],
                    np.random.default_rng([seed, EDITION, 2, start]),
                    tables,
                )
            )
    unfinished.rename(data)
    first = history.commit[history.incomplete][:1] - UNIT_RECORDS - 2
    dependent = wide(first, LRSN_AT).tobytes() if incomplete else b"\xff" * 10
    last = wide(history.commit[-1:], LRSN_AT).tobytes()
    control.write_bytes(control_file(last, dependent, idle, tables))
    return control, data


def main() -> None:
    """Make a log and print where it is."""
    parser = argparse.ArgumentParser(description="make a Log Master logical log of any size")
    parser.add_argument("--records", type=int, default=2_400_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--rows",
        type=int,
        default=0,
        help="how many rows are changed again and again (default: each record has its own)",
    )
    parser.add_argument(
        "--incomplete", type=int, default=0, help="how many units are marked as incomplete"
    )
    parser.add_argument(
        "--unit-size", type=int, default=0, help="records of each unit (default: 1 to 15)"
    )
    parser.add_argument(
        "--columns", type=int, default=0, help="how many columns each table has (default: 8)"
    )
    parser.add_argument(
        "--window",
        type=int,
        default=0,
        help="within how many neighbours the records' order is random (default: all)",
    )
    parser.add_argument(
        "--dir", type=Path, default=Path(), help="folder for the two files (default: this one)"
    )
    arguments = parser.parse_args()
    for path in generate(
        arguments.dir,
        arguments.records,
        arguments.seed,
        arguments.rows,
        arguments.incomplete,
        unit_size=arguments.unit_size,
        columns=arguments.columns,
        window=arguments.window,
    ):
        print(f"{path}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
