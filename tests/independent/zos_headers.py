"""Logical logs of BMC AMI Log Master for Db2 as somebody wrote them by the format notes alone
(logmaster.md, whose sections are named here): the choices that they leave, positions, and the
header of a record.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.independent.tables import Table
from tests.independent.zos_text import UNICODE, UNKNOWN, Pages

PAGE = "cp037"
SYSTEM = "DB2P"
#: The moment of tick 0; a tick is a microsecond.
EPOCH = datetime(2024, 3, 15, 8)
NO_POSITION = b"\xff" * 10

#: The header of section 5: name, offset, length, and what it holds: a number or bytes (B),
#: characters (C), a time (T), a position that is an LRSN (L) or an RBA (R).
HEADER = (
    *(("LENGTH", 0, 2, "B"), ("SYSTEMID", 2, 4, "C"), ("DBID", 6, 2, "B"), ("PSID", 8, 2, "B")),
    *(("TBOBID", 10, 2, "B"), ("TBOWNERLEN", 12, 2, "B"), ("TBNAMELEN", 14, 2, "B")),
    *(("DBNAME", 16, 8, "C"), ("TSNAME", 24, 8, "C"), ("TABLEOWNER", 32, 8, "C")),
    *(("TABLENAME", 40, 18, "C"), ("PARTNUM", 58, 2, "B"), ("TIMESTAMP", 60, 17, "T")),
    *(("LOGLRSN", 77, 10, "L"), ("LOGRBA", 87, 10, "R"), ("MEMBERID", 97, 2, "B")),
    *(("RID", 99, 5, "B"), ("CHANGE TYPE", 104, 2, "C"), ("SQLTYPE", 106, 1, "C")),
    *(("LOGRECDISP", 107, 1, "C"), ("SQLSRCTYPE", 108, 1, "C"), ("LOGBYTES", 109, 4, "B")),
    *(("LOGDELTA", 113, 2, "B"), ("ANOMALYROWID", 115, 1, "B"), ("ANOMALYTYPE", 116, 1, "C")),
    *(("ANOMALYRBA", 117, 10, "R"), ("UORTIMESTAMP", 127, 17, "T")),
    *(("UORCOMMITTIMESTAMP", 144, 17, "T"), ("UORDISP", 161, 1, "C"), ("UORIDLRSN", 162, 10, "L")),
    *(("UORID", 172, 10, "R"), ("SEGLEN", 182, 2, "B"), ("TOTALSEGS", 184, 2, "B")),
    *(("SEGNUM", 186, 2, "B"), ("ORDERVALUE", 188, 4, "B"), ("UORCOMMITLRSN", 192, 10, "L")),
    *(("UORCOMMITPOINT", 202, 10, "R"), ("CONNECTIONTYPE", 212, 2, "C")),
    *(("CONNECTID", 214, 8, "C"), ("CORRELATIONID", 222, 12, "C"), ("AUTHID", 234, 8, "C")),
    *(("PLAN", 242, 8, "C"), ("LUWNETWORKID", 250, 8, "C"), ("LUWNAME", 258, 8, "C")),
    *(("LUWINSTANCENO", 266, 6, "B"), ("LUWSEQUENCENO", 272, 2, "B")),
    *(("INCOMPLETETRANS", 274, 1, "C"), ("INCOMPLETEDEP", 275, 1, "C")),
    *(("UORHASCOMP", 276, 1, "C"), ("SQLRIRBA", 277, 10, "R"), ("PAGENUMFMT", 287, 1, "C")),
)
#: Fields that a log can do without.
INFORMATION = (
    *("DBNAME", "TSNAME", "LOGBYTES", "LOGDELTA", "ANOMALYROWID", "ANOMALYTYPE", "ANOMALYRBA"),
    *("SQLRIRBA", "LUWNETWORKID", "LUWNAME", "LUWINSTANCENO", "LUWSEQUENCENO", "PAGENUMFMT"),
    *("CONNECTIONTYPE", "CONNECTID", "UORTIMESTAMP", "SEGLEN", "UORHASCOMP"),
)
Field = tuple[str, int, int, str]
PAGE_37, PAGE_819 = Pages(37, UNKNOWN, UNKNOWN), Pages(819, UNKNOWN, UNKNOWN)


@dataclass(frozen=True)
class Form:
    """Choices that the notes leave, the same in all of a log. ``header``: plain, described (by XHDF
    records, whose positions count from ``base``), shuffled, or old, as before version 11.1;
    ``extra`` bytes follow it. ``zero_lrsn``: without data sharing, LRSN fields are empty."""

    framing: str = "rdw"
    reading: str = "A"
    header: str = "plain"
    base: int = 0
    extra: int = 0
    sharing: bool = True
    zero_lrsn: bool = False
    #: Positions of ten bytes, and not of six in ten.
    wide: bool = True
    expand: bool = False
    #: What fills expanded columns up: ``blank`` of the encoding, ``zero``, or X'40'.
    filler: str = "blank"
    segments: bool = False
    #: Which segments begin with a length: each or the first.
    heads: str = "each"
    #: Bytes of one unit in the lengths of graphic columns.
    graphic: int = 1
    #: How numbers in text are padded.
    numbers: str = "0>"
    #: DATA of records without rows.
    nothing: bytes = b""
    ordervalue: bool = False
    #: DIXI and DICL records.
    index: bool = False
    ebcdic: Pages = PAGE_37
    ascii: Pages = PAGE_819
    #: Signs of decimals that are not below zero.
    plus: str = "C"
    #: Dates in the table's encoding and not in EBCDIC.
    dates_follow: bool = False

    def pages(self, table: Table) -> Pages:
        return {"E": self.ebcdic, "A": self.ascii, "U": UNICODE}[scheme(table)]


def scheme(table: Table) -> str:
    """Its encoding scheme, which its number tells."""
    return "EAU"[table.number[1] % 3]


@dataclass
class UnitFacts:
    """What headers say of a unit of recovery."""

    urid: int
    lrsn: int
    member: int
    commit_lrsn: int = 0
    commit_rba: int = 0
    commits: bool = True
    compensated: bool = False
    incomplete: bool = False
    depends: bool = False
    authid: str = "CLERK0"
    plan: str = "PLAN1"
    correlation: str = "JOB1"


@dataclass
class Change:
    """A change: what its header says, and its images."""

    table: Table | None
    kind: str
    images: tuple[bytes, ...]
    unit: UnitFacts
    lrsn: int
    rba: int
    rid: tuple[int, int] = (0, 0)
    order: int = 0
    partition: int = 0
    disposition: str = "C"
    source: str = " "
    sqltype: str = "U"


def packed_time(tick: int) -> bytes:
    """17 bytes of packed digits (1.1)."""
    moment = EPOCH + timedelta(microseconds=tick)
    return bytes.fromhex(moment.strftime("%Y%m%d%H%M%S%f") + "0" * 14)


def text_time(tick: int) -> bytes:
    """The 26 characters that times were before version 11.1."""
    moment = EPOCH + timedelta(microseconds=tick)
    return moment.strftime("%Y-%m-%d-%H.%M.%S.%f").encode(PAGE)


def characters(value: str, size: int = 0) -> bytes:
    """EBCDIC, with blanks behind it."""
    return value.encode(PAGE, "replace").ljust(size, b"\x40")


def short_name(table: Table) -> str:
    """The name of at most 18 bytes that no other table has (4.6)."""
    return table.name if len(table.name) <= 18 else f"{table.name[:12]}#{table.number[1]:05}"


class Headers:
    """Headers of records, and positions, as a form has them."""

    def __init__(self, form: Form, pick: random.Random) -> None:
        self.form, self.pick = form, pick
        self.fields: list[Field] = list(HEADER)
        if form.header in ("shuffled", "old"):
            self.fields = self._others()
        self.length = max(at + size for _, at, size, _ in self.fields) + form.extra

    def _others(self) -> list[Field]:
        """Fields in another order, or of the lengths that they had before version 11.1; with holes
        between them."""
        rest = list(HEADER[2:])
        if self.form.header == "shuffled":
            self.pick.shuffle(rest)
        found, at = list(HEADER[:2]), 6
        for name, _, size, sort in rest:
            if self.form.header == "old":
                size = {"T": 26, "L": 6, "R": 6}.get(sort, size)
            at += self.pick.randint(1, 4) if self.pick.random() < 0.1 else 0
            found.append((name, at, size, sort))
            at += size
        return found

    def lrsn(self, number: int) -> bytes:
        """A position of the axis that units commit on."""
        if not self.form.sharing:
            return bytes(10) if self.form.zero_lrsn else self.rba(number)
        if self.form.wide:
            return b"\0" + (0xDECBEC00_00000000 + number * 0x1000 + 7).to_bytes(8, "big") + b"\0"
        return b"\0" + (0xDECBEC000000 + number).to_bytes(6, "big") + bytes(3)

    def rba(self, number: int) -> bytes:
        return (0x1_0000_0000_0000 * self.form.wide + number).to_bytes(10, "big")

    def edge(self, number: int) -> bytes:
        """A position in a control record, of 12 bytes: 10 and 2, or hexadecimal digits before
        version 11.1 (4.4)."""
        found = bytes(10)
        if number:
            found = self.lrsn(number) if self.form.sharing else self.rba(number)
        if self.form.header != "old":
            return found + bytes(2)
        return characters((found[1:7] if self.form.sharing else found[4:]).hex().upper())

    def header(self, change: Change, total: int, number: int, data: int) -> bytes:
        """The header of segment ``number`` of ``total``, with ``data`` bytes behind it."""
        facts = self._facts(change) | {"LENGTH": self.length, "SEGLEN": self.length + data}
        facts |= {"TOTALSEGS": total, "SEGNUM": number}
        form = self.form
        found = bytearray(self.pick.randbytes(self.length) if form.extra else bytes(self.length))
        for name, at, size, sort in self.fields:
            value = facts.get(name, "" if sort == "C" else 0)
            found[at : at + size] = self._field(value, size, sort)
        return bytes(found)

    def _facts(self, change: Change) -> dict[str, int | str | bytes]:
        unit, table = change.unit, change.table
        facts: dict[str, int | str | bytes] = {
            "SYSTEMID": SYSTEM,
            "PARTNUM": change.partition,
            "TIMESTAMP": change.lrsn,
            "LOGLRSN": self.lrsn(change.lrsn),
            "LOGRBA": self.rba(change.rba),
            "MEMBERID": unit.member,
            "RID": change.rid[0] << 8 | change.rid[1],
            "CHANGE TYPE": change.kind,
            "SQLTYPE": change.sqltype,
            "LOGRECDISP": change.disposition,
            "SQLSRCTYPE": change.source,
            "ANOMALYTYPE": "N",
            "ANOMALYRBA": bytes(10),
            "UORTIMESTAMP": unit.lrsn,
            "UORCOMMITTIMESTAMP": unit.commit_lrsn,
            "UORDISP": "AC"[unit.commits],
            "UORIDLRSN": self.lrsn(unit.lrsn),
            "UORID": self.rba(unit.urid),
            "ORDERVALUE": change.order,
            "UORCOMMITLRSN": self.lrsn(unit.commit_lrsn),
            "UORCOMMITPOINT": self.rba(unit.commit_rba),
            "CONNECTID": "BATCH",
            "CORRELATIONID": unit.correlation,
            "AUTHID": unit.authid,
            "PLAN": unit.plan,
            "INCOMPLETETRANS": "NY"[unit.incomplete],
            "INCOMPLETEDEP": "NY"[unit.depends],
            "UORHASCOMP": "NY"[unit.compensated],
            "SQLRIRBA": bytes(10),
            "PAGENUMFMT": "A",
        }
        if table is not None:
            facts |= {
                "DBID": table.number[0],
                "PSID": 2 * table.number[1],
                "TBOBID": 2 * table.number[1] + 1,
                "TBOWNERLEN": len(table.schema.encode()),
                "TBNAMELEN": len(table.name.encode()),
                "DBNAME": "DB1",
                "TSNAME": f"TS{table.number[1]}",
                "TABLEOWNER": table.schema[:8],
                "TABLENAME": short_name(table),
            }
        return facts

    def _field(self, value: int | str | bytes, size: int, sort: str) -> bytes:
        if isinstance(value, str):
            return characters(value, size)[:size]
        if isinstance(value, int):
            if sort == "T":
                return packed_time(value) if size == 17 else text_time(value)
            return value.to_bytes(size, "big")
        if size == 6:
            return value[1:7] if sort == "L" and self.form.sharing else value[4:]
        return value
