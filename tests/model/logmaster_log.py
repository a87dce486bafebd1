"""Writes a history as a logical log of BMC AMI Log Master: a control file and data files.

The layouts are those of the published pages. What the pages leave open (framing, order of the
records, XHDF or none, where long rows are cut) is a `Form`, and is drawn by the seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.model.rows import Column, History, Record, Row, Table, Unit

SYSTEM = "DB2P"
HEADER_LENGTH = 288
START = datetime(2024, 3, 15, 8, 0, 0)
NO_RBA = b"\xff" * 10

# name, type, length, in the order of the header
HEADER: tuple[tuple[str, str, int], ...] = (
    ("LENGTH", "BIN", 2), ("SYSTEMID", "CHAR", 4), ("DBID", "BIN", 2), ("PSID", "BIN", 2),
    ("TBOBID", "BIN", 2), ("TBOWNERLEN", "BIN", 2), ("TBNAMELEN", "BIN", 2),
    ("DBNAME", "CHAR", 8), ("TSNAME", "CHAR", 8), ("TABLEOWNER", "CHAR", 8),
    ("TABLENAME", "CHAR", 18), ("PARTNUM", "BIN", 2), ("TIMESTAMP", "BIN", 17),
    ("LOGLRSN", "BIN", 10), ("LOGRBA", "BIN", 10), ("MEMBERID", "BIN", 2), ("RID", "BIN", 5),
    ("CHANGE TYPE", "CHAR", 2), ("SQLTYPE", "CHAR", 1), ("LOGRECDISP", "CHAR", 1),
    ("SQLSRCTYPE", "CHAR", 1), ("LOGBYTES", "BIN", 4), ("LOGDELTA", "BIN", 2),
    ("ANOMALYROWID", "BIN", 1), ("ANOMALYTYPE", "CHAR", 1), ("ANOMALYRBA", "BIN", 10),
    ("UORTIMESTAMP", "BIN", 17), ("UORCOMMITTIMESTAMP", "BIN", 17), ("UORDISP", "CHAR", 1),
    ("UORIDLRSN", "BIN", 10), ("UORID", "BIN", 10), ("SEGLEN", "BIN", 2),
    ("TOTALSEGS", "BIN", 2), ("SEGNUM", "BIN", 2), ("reserved", "BIN", 4),
    ("UORCOMMITLRSN", "BIN", 10), ("UORCOMMITPOINT", "BIN", 10), ("CONNECTIONTYPE", "CHAR", 2),
    ("CONNECTID", "CHAR", 8), ("CORRELATIONID", "CHAR", 12), ("AUTHID", "CHAR", 8),
    ("PLAN", "CHAR", 8), ("LUWNETWORKID", "CHAR", 8), ("LUWNAME", "CHAR", 8),
    ("LUWINSTANCENO", "BIN", 6), ("LUWSEQUENCENO", "BIN", 2), ("INCOMPLETETRANS", "CHAR", 1),
    ("INCOMPLETEDEP", "CHAR", 1), ("UORHASCOMP", "CHAR", 1), ("SQLRIRBA", "BIN", 10),
    ("PAGENUMFMT", "CHAR", 1),
)  # fmt: skip


@dataclass(frozen=True)
class Form:
    """What the format leaves open."""

    framing: str = "rdw"
    encoding: str = "U"
    """E, A or U: the character set of all tables."""
    sharing: bool = True
    """Two members and LRSNs; else one, and RBAs in the place of LRSNs."""
    shuffled: bool = True
    headers_described: bool = True
    files: int = 1
    cut: float = 0.0
    """How likely a record is cut into segments."""


def draw_form(rng: random.Random, cut: float = 0.0) -> Form:
    """A form of the log; every one of them holds the same changes."""
    return Form(
        framing=rng.choice(("rdw", "rdw", "bdw", "none")),
        encoding=rng.choice("UUE"),
        sharing=rng.random() < 0.7,
        shuffled=rng.random() < 0.7,
        headers_described=rng.random() < 0.7,
        files=rng.choice((1, 1, 1, 2)),
        cut=cut,
    )


def ebcdic(text: str, length: int | None = None) -> bytes:
    """EBCDIC 037, padded with blanks."""
    coded = text.encode("cp037")
    if length is None:
        return coded
    assert len(coded) <= length, (text, length)
    return coded.ljust(length, b"\x40")


def digits(number: int, length: int) -> bytes:
    """A number as decimal text."""
    return ebcdic(str(number).zfill(length))


def packed_time(moment: datetime) -> bytes:
    """A BIN(17) timestamp: 34 packed digits."""
    text = moment.strftime("%Y%m%d%H%M%S%f").ljust(34, "0")
    return bytes.fromhex(text)


class Positions:
    """Times, LRSNs and RBAs of the moments of a history."""

    def __init__(self, form: Form) -> None:
        self.form = form

    def member(self, unit: Unit) -> int:
        return 1 + unit.number % 2 if self.form.sharing else 0

    def time(self, moment: int) -> datetime:
        return START + timedelta(milliseconds=7 * moment)

    def rba(self, moment: int, unit: Unit | None) -> bytes:
        """Each member has a log of its own, and so RBAs of its own."""
        base = 0x0000_A1B2_0000
        if unit is not None and self.form.sharing:
            base += 0x0000_3000_0000 * self.member(unit)
        return b"\0\0\0\0" + (base + 0x68 * moment).to_bytes(6, "big")

    def lrsn(self, moment: int) -> bytes:
        if not self.form.sharing:
            return self.rba(moment, None)
        return b"\0" + (0xDECB_EAE1_0000 + 0x1B * moment).to_bytes(6, "big") + b"\0\0\0"

    def urid(self, unit: Unit) -> str:
        """The name of a unit, as options and scripts have it."""
        return self.rba(unit.begin, unit).hex().upper()

    def commit(self, unit: Unit) -> str:
        return self.lrsn(unit.commit).hex().upper()


# ---------------------------------------------------------------------------------------------
# Values


def float_bytes(value: float, size: int) -> bytes:
    """A number as hexadecimal floating point; it must fit exactly."""
    if value == 0:
        return bytes(size)
    places = 4 * (2 * size - 2)
    exact = abs(Fraction(value))
    exponent = 0
    while exact >= 1:
        exact /= 16
        exponent += 1
    while exact < Fraction(1, 16):
        exact *= 16
        exponent -= 1
    scaled = exact * 2**places
    assert scaled.denominator == 1, value
    assert 0 <= exponent + 64 <= 127, value
    sign = 0x80 if value < 0 else 0
    return bytes([sign | (exponent + 64)]) + int(scaled).to_bytes(size - 1, "big")


def packed_decimal(value: Decimal, size: int, scale: int) -> bytes:
    """A packed number with the sign C or D."""
    whole = int(Fraction(value) * 10**scale)
    assert Fraction(whole, 10**scale) == Fraction(value)
    text = str(abs(whole)).zfill(2 * size - 1) + ("D" if whole < 0 else "C")
    return bytes.fromhex(text)


def text_bytes(text: str, encoding: str) -> bytes:
    return text.encode({"U": "utf-8", "E": "cp037", "A": "cp1252"}[encoding])


@dataclass(frozen=True)
class Stored:
    """How a column stands in the log: its type code, length, scale and subtype."""

    code: str
    length: int
    scale: int = 0
    subtype: str = " "

    @property
    def varying(self) -> bool:
        return self.code == "VCHR"


def stored(column: Column) -> Stored:
    """The log's words for a column."""
    match column.kind:
        case "smallint" | "integer" | "bigint":
            return Stored("INT ", {"smallint": 2, "integer": 4, "bigint": 8}[column.kind])
        case "decimal":
            return Stored("DEC ", column.length // 2 + 1, column.scale)
        case "char":
            return Stored("CHAR", column.length, 0, "S")
        case "varchar":
            return Stored("VCHR", column.length, 0, "S")
        case "varbinary":
            return Stored("VCHR", column.length, 0, "B")
        case "real" | "double":
            return Stored("FLOT", {"real": 4, "double": 8}[column.kind])
        case "date":
            return Stored("DATE", 10)
        case "time":
            return Stored("TIME", 8)
        case "timestamp":
            return Stored("DTTM", 26)
    raise ValueError(column.kind)


def value_bytes(column: Column, value: Any, encoding: str) -> bytes:
    """A value that is not NULL, without its null byte."""
    how = stored(column)
    match column.kind:
        case "smallint" | "integer" | "bigint":
            return int(value).to_bytes(how.length, "big", signed=True)
        case "decimal":
            return packed_decimal(value, how.length, how.scale)
        case "char":
            blank = text_bytes(" ", encoding)
            coded = text_bytes(value, encoding)
            assert len(coded) <= how.length, value
            return coded.ljust(how.length, blank)
        case "varchar" | "varbinary":
            coded = value if column.kind == "varbinary" else text_bytes(value, encoding)
            assert len(coded) <= how.length, value
            return len(coded).to_bytes(2, "big") + coded
        case "real" | "double":
            return float_bytes(value, how.length)
        case "date":
            return ebcdic(value)
        case "time":
            return ebcdic(value.replace(":", "."))
        case "timestamp":
            return ebcdic(value.replace(" ", "-").replace(":", "."), 26)
    raise ValueError(column.kind)


def row_image(table: Table, row: Row, encoding: str) -> bytes:
    """A row, column after column."""
    out = bytearray()
    for column in table.columns:
        value = row[column.name]
        if column.nullable:
            out += b"\xff" if value is None else b"\0"
        if value is None:
            how = stored(column)
            out += b"\0\0" if how.varying else bytes(how.length)
        else:
            out += value_bytes(column, value, encoding)
    return bytes(out)


# ---------------------------------------------------------------------------------------------
# Ids


class Ids:
    """The numbers by which the log knows a table: one object for each time it was created."""

    def __init__(self, history: History) -> None:
        self.names: list[str] = []
        for table in history.generations:
            if table.name not in self.names:
                self.names.append(table.name)

    def of(self, table: Table) -> tuple[int, int, int]:
        """DBID, PSID and OBID."""
        place = self.names.index(table.name)
        return 0x0105, 2 + 0x10 * place, 3 + 0x10 * place + 0x100 * (table.incarnation - 1)


# ---------------------------------------------------------------------------------------------
# The control file


def control_records(history: History, form: Form, dependent: bytes = NO_RBA) -> Iterator[bytes]:
    """All records of the control file, the type record first."""
    ids, positions = Ids(history), Positions(form)
    codes = [37, 0, 37, 1252, 0, 1252, 1208, 1200, 1208]
    yield (
        ebcdic("XTYP") + ebcdic("DB2 ") + ebcdic("V1210", 6) + ebcdic(SYSTEM) + ebcdic("'N.")
        + b"".join(digits(code or 65534, 5) for code in codes)
    )  # fmt: skip
    yield (
        ebcdic("DLDS") + ebcdic("MODEL.LLOG.DATA", 44) + ebcdic("VB ") + ebcdic("DB2I", 8)
        + ebcdic("N" + ("Y" if form.cut else "N") + "NNNNNN")
    )  # fmt: skip
    if form.headers_described:
        at = 0
        for name, kind, length in HEADER:
            if name != "reserved":
                yield (
                    ebcdic("XHDF") + ebcdic(name, 18) + ebcdic(kind, 4)
                    + ebcdic("U" if kind == "BIN" else " ") + digits(length, 5) + digits(at, 5)
                )  # fmt: skip
            at += length
    for table, created, dropped in lifetimes(history, positions):
        yield from table_records(table, ids, form, created, dropped)
    end = history.moment + 1
    yield (
        ebcdic("DLGE") + positions.lrsn(end) + bytes(2) + packed_time(positions.time(end))
        + bytes(3) + dependent + bytes(2)
    )  # fmt: skip


def lifetimes(history: History, positions: Positions) -> Iterator[tuple[Table, bytes, bytes]]:
    """Each form of each table, with the positions between which it was valid."""
    moments = {(a.table.name, a.table.generation): a.moment for a in history.alterations}
    for table in history.generations:
        began = moments.get((table.name, table.generation))
        ended = moments.get((table.name, table.generation + 1))
        yield (
            table,
            positions.lrsn(began) if began is not None else bytes(10),
            positions.lrsn(ended) if ended is not None else bytes(10),
        )


def table_records(
    table: Table, ids: Ids, form: Form, created: bytes, dropped: bytes
) -> Iterator[bytes]:
    """DTBI, its columns, and the index of its primary key."""
    dbid, psid, obid = ids.of(table)
    owner, name = table.name.split(".")
    sequence = digits(table.generation, 3)
    longest = sum(stored(c).length + 2 * stored(c).varying + c.nullable for c in table.columns)
    varying = any(stored(c).varying for c in table.columns)
    out = ebcdic("DTBI") + ebcdic(SYSTEM) + ebcdic(f"{dbid:04X}{psid:04X}{obid:04X}TB")
    out += digits(len(table.columns), 3) + digits(longest, 5)
    out += digits(len(table.columns), 3) + digits(longest, 5)
    out += ebcdic("V" if varying else "F") + sequence
    out += created + bytes(2) + dropped + bytes(2) + ebcdic(form.encoding)
    out += digits(0, 3) + ebcdic("", 24)
    out += digits(6, 3) + ebcdic("DMODEL", 24) + digits(6, 3) + ebcdic("SMODEL", 24)
    out += digits(len(owner), 3) + ebcdic(owner, 128) + ebcdic(owner[:8], 8)
    out += digits(len(name), 3) + ebcdic(name, 128) + ebcdic(name[:18], 18)
    out += digits(table.generation - 1, 3)
    for part in (owner, name):
        out += ebcdic("N") + digits(len(part), 3) + part.encode().ljust(128)
    yield out + ebcdic("NN")
    at: int | None = 4
    for number, column in enumerate(table.columns, 1):
        how = stored(column)
        logged = how.length + 2 * how.varying + column.nullable
        sequence_in_key = table.key.index(column.name) + 1 if column.name in table.key else 0
        out = ebcdic("DLCI") + ebcdic(SYSTEM) + ebcdic(f"{dbid:04X}{obid:04X}")
        out += digits(number, 3) + ebcdic(how.code) + digits(how.length, 5)
        out += digits(how.scale, 2) + ebcdic("Y" if column.nullable else "N")
        out += digits(at, 5) if at is not None else ebcdic("-1", 5)
        out += ebcdic(how.subtype) + digits(sequence_in_key, 3)
        out += ebcdic("A" if sequence_in_key else " ")
        out += digits(logged, 5) + digits(how.length, 5) + digits(logged, 5) + sequence
        out += digits(len(column.name), 3) + ebcdic(column.name, 128)
        yield out + digits(table.generation - 1, 3)
        at = None if at is None or how.varying else at + logged
    if table.key:
        index = 0xCA + psid
        out = ebcdic("DIXI") + ebcdic(SYSTEM) + ebcdic(f"{dbid:04X}{index:04X}{obid:04X}")
        out += digits(len(table.key), 3) + sequence + ebcdic("2")
        out += digits(len(owner), 3) + ebcdic(owner, 128)
        yield out + digits(len("PK_" + name), 3) + ebcdic("PK_" + name, 128)
        out = ebcdic("DICL") + ebcdic(SYSTEM) + ebcdic(f"{dbid:04X}{index:04X}")
        out += digits(1, 2) + digits(len(table.key), 2) + sequence
        for column_name in table.key:
            out += digits(table.names.index(column_name) + 1, 3) + ebcdic("A")
        yield out


# ---------------------------------------------------------------------------------------------
# The data files


def data_records(history: History, form: Form, rng: random.Random) -> list[bytes]:
    """The records that the log has, each as one or more segments."""
    ids, positions = Ids(history), Positions(form)
    out: list[bytes] = []
    for record in history.records:
        if record.missing or record.unit.open:
            continue
        out.extend(segments(record, ids, positions, form, rng))
    if form.shuffled:
        rng.shuffle(out)
    return out


def segments(
    record: Record, ids: Ids, positions: Positions, form: Form, rng: random.Random
) -> Iterator[bytes]:
    """Cut the images of a change anywhere, also inside a value."""
    images = [
        row_image(record.change.table, row, form.encoding)
        for row in (record.change.before, record.change.after)
        if row is not None
    ]
    payload = b"".join(len(image).to_bytes(2, "big") + image for image in images)
    cuts = [0, len(payload)]
    if form.cut and rng.random() < form.cut and len(payload) > 2:
        cuts = sorted({*cuts, *(rng.randrange(1, len(payload)) for _ in range(rng.randint(1, 3)))})
    total = len(cuts) - 1
    for number in range(total):
        piece = payload[cuts[number] : cuts[number + 1]]
        data = (len(piece) + 2).to_bytes(2, "big") + piece
        yield header(record, ids, positions, len(data), total, number + 1) + data


def header(
    record: Record, ids: Ids, positions: Positions, data: int, total: int, number: int
) -> bytes:
    """The 288 bytes before the data of a record."""
    unit, change = record.unit, record.change
    owner, name = change.table.name.split(".")
    dbid, psid, obid = ids.of(change.table)
    compensated = any(r.disposition in "SO" for r in unit.records)
    facts: dict[str, Any] = {
        "LENGTH": HEADER_LENGTH, "SYSTEMID": SYSTEM, "DBID": dbid, "PSID": psid, "TBOBID": obid,
        "TBOWNERLEN": len(owner), "TBNAMELEN": len(name), "DBNAME": "DMODEL",
        "TSNAME": "SMODEL", "TABLEOWNER": owner[:8], "TABLENAME": name[:18],
        "TIMESTAMP": packed_time(positions.time(record.moment)),
        "LOGLRSN": positions.lrsn(record.moment),
        "LOGRBA": positions.rba(record.moment, unit), "MEMBERID": positions.member(unit),
        "RID": (2 + change.rid // 200).to_bytes(4, "big") + bytes([1 + change.rid % 200]),
        "CHANGE TYPE": {"I": "I", "U": "UB", "D": "D"}[change.op], "SQLTYPE": "U",
        "LOGRECDISP": record.disposition, "SQLSRCTYPE": change.origin, "LOGBYTES": 1600,
        "LOGDELTA": 20, "ANOMALYTYPE": "N", "UORTIMESTAMP": packed_time(positions.time(unit.begin)),
        "UORCOMMITTIMESTAMP": packed_time(positions.time(unit.commit)),
        "UORDISP": "A" if unit.aborted else "C", "UORIDLRSN": positions.lrsn(unit.begin),
        "UORID": positions.rba(unit.begin, unit), "SEGLEN": HEADER_LENGTH + data,
        "TOTALSEGS": total, "SEGNUM": number, "UORCOMMITLRSN": positions.lrsn(unit.commit),
        "UORCOMMITPOINT": positions.rba(unit.commit, unit), "CONNECTIONTYPE": "",
        "CONNECTID": "DB2CALL", "CORRELATIONID": f"MODEL{unit.number % 5:02d}",
        "AUTHID": unit.user, "PLAN": "DISTSERV", "LUWNETWORKID": "NETA", "LUWNAME": "LUDB1",
        "LUWINSTANCENO": 0x1000 + unit.number, "LUWSEQUENCENO": 1,
        "INCOMPLETETRANS": "Y" if unit.incomplete else "N",
        "INCOMPLETEDEP": "Y" if unit.dependent else "N",
        "UORHASCOMP": "Y" if compensated or unit.aborted else "N", "PAGENUMFMT": "A",
    }  # fmt: skip
    out = bytearray()
    for field, kind, length in HEADER:
        fact = facts.get(field, 0 if kind == "BIN" else "")
        if isinstance(fact, bytes):
            assert len(fact) == length, field
            out += fact
        elif kind == "BIN":
            out += int(fact).to_bytes(length, "big")
        else:
            out += ebcdic(fact, length)
    assert len(out) == HEADER_LENGTH
    return bytes(out)


def framed(records: Sequence[bytes], framing: str) -> bytes:
    """Records as a transfer program leaves them."""
    if framing == "none":
        return b"".join(records)
    with_rdw = [(len(record) + 4).to_bytes(2, "big") + b"\0\0" + record for record in records]
    if framing == "rdw":
        return b"".join(with_rdw)
    out = bytearray()
    for place in range(0, len(with_rdw), 7):
        block = b"".join(with_rdw[place : place + 7])
        out += (len(block) + 4).to_bytes(2, "big") + b"\0\0" + block
    return bytes(out)


def write_log(
    history: History, form: Form, rng: random.Random, folder: Any, dependent: bytes = NO_RBA
) -> tuple[str, list[str]]:
    """Write the log below `folder`; the names of the control file and the data files."""
    control = folder / "model.ctl"
    records = list(control_records(history, form, dependent))
    control.write_bytes(framed(records, form.framing))
    data = data_records(history, form, rng)
    files: list[str] = []
    each = -(-len(data) // form.files) if data else 1
    for number in range(form.files):
        part = data[number * each : (number + 1) * each]
        if number and not part:
            continue
        path = folder / f"model{number}.dat"
        path.write_bytes(framed(part, form.framing))
        files.append(str(path))
    return str(control), files
