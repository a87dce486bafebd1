"""Small logical logs made in a test: tables, units of recovery, inserts, updates and deletes, in
any framing, header and layout of DATA.

Records are built from the layout tables and the encoders, never by hand, so a test states only what
it is about::

    log = LogBuilder(ACCT)
    with_unit = log.unit()
    with_unit.insert(ACCT, row)
    control, data = log.write(folder)
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import replay
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.decoding.layout import FieldKind, Layout, layout
from replay.logs.logmaster.layouts import DLCI, DLDS, DLGE, DTBI, LLDF, XHDF, XTYP
from replay.output.bundle import Bundle
from sqlgen.schema import Constraints
from tests.support import encoders

Row = Sequence[Any]

_LRSN, _RBA = 0xCA670FBBF3D3, 0x123456789ABC
_VARYING = ("VCHR", "LVCH")


def lrsn(number: int) -> bytes:
    """A 6-byte LRSN in its 10-byte form (at byte 1)."""
    return b"\0" + (_LRSN + number).to_bytes(6, "big") + bytes(3)


def rba(number: int) -> bytes:
    """A 6-byte RBA in its 10-byte form (at byte 4)."""
    return bytes(4) + (_RBA + number).to_bytes(6, "big")


@dataclass(frozen=True)
class Col:
    """A column as DLCI describes it."""

    name: str
    code: str
    length: int
    scale: int = 0
    nulls: str = "N"
    key: int = 0
    subtype: str = " "

    def cell(self, value: Any, expanded: bool) -> bytes:
        """The column's bytes in a row image (format notes, section 6.3)."""
        flag = b"" if self.nulls == "N" else b"\xff" if value is None else b"\0"
        if self.code in _VARYING:
            data = b"" if value is None else self._value(value)
            pad = b"\x40" * (self.length - len(data)) if expanded else b""
            return flag + len(data).to_bytes(2, "big") + data + pad
        return flag + (bytes(self.length) if value is None else self._value(value))

    def _value(self, value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        match self.code:
            case "INT":
                return encoders.encode_integer(value, self.length)
            case "DEC":
                return encoders.encode_packed(value, self.length, self.scale)
            case "FLOT":
                return encoders.encode_hfp(value, self.length)
            case "DATE":
                return encoders.encode_date(value)
            case "TIME":
                return encoders.encode_time(value)
            case "DTTM":
                return encoders.encode_timestamp(value)
            case "CHAR":
                return encoders.encode_text(value, 37, self.length)
        return encoders.encode_text(value, 37)


@dataclass(frozen=True)
class Tab:
    """A generation of a table as DTBI describes it; ``more`` overrides fields of its DTBI
    record."""

    name: str
    columns: tuple[Col, ...]
    owner: str = "TESTOWN"
    dbid: int = 0x0105
    psid: int = 2
    obid: int = 3
    sequence: int = 1
    created: bytes = bytes(10)
    dropped: bytes = bytes(10)
    more: tuple[tuple[str, Any], ...] = ()

    def image(self, row: Row, expanded: bool = False) -> bytes:
        """A row image."""
        return b"".join(
            column.cell(value, expanded) for column, value in zip(self.columns, row, strict=True)
        )

    def records(self, system: str = "DB2P") -> list[bytes]:
        """The DTBI record and the DLCI records."""
        values: dict[str, Any] = {
            "CNTLRECORDTYPE": "DTBI", "SYSID": system, "DBID": self.dbid, "PSID": self.psid,
            "TBOBID": self.obid, "OBJECTTYPE": "TB",
            "DB2NUMCOL": len(self.columns), "LLNUMCOL": len(self.columns), "ROWTYPE": "V",
            "SEQUENCENUMBER": self.sequence,
            "CREATERBA": self.created, "DROPRBA": self.dropped, "ENCODINGSCHEME": "E",
            "TABLEOWNERLEN": len(self.owner),
            "TABLEOWNER": self.owner, "SHORTOWNER": self.owner[:8], "TABLENAMELEN": len(self.name),
            "TABLENAME": self.name,
            "SHORTNAME": self.name[:18], "UNTRANOWNERFLAG": "N", "UNTRANNAMEFLAG": "N",
            "LOBSINCLUDED": "N", "XMLINCLUDED": "N",
        }  # fmt: skip
        records = [DTBI.build(**{**values, **dict(self.more)})]
        for number, column in enumerate(self.columns, 1):
            records.append(
                DLCI.build(
                    CNTLRECORDTYPE="DLCI", SYSID=system, DBID=self.dbid, TBOBID=self.obid,
                    LLCOLUMNNUM=number, LLCOLUMNTYPE=column.code,
                    LLCOLUMNLEN=column.length, LLSCALE=column.scale, LLNULLS=column.nulls,
                    LLCOLUMNPOS="-1   ".encode("cp037"),
                    LLCOLUMNSUBTYPE=column.subtype, KEYSEQ=column.key,
                    KEYORDERING="A" if column.key else " ",
                    SEQUENCENUMBER=self.sequence, COLUMNNAMELEN=len(column.name),
                    COLUMNNAME=column.name,
                )
            )  # fmt: skip
        return records


#: A header of a release before 11.1, as its XHDF records would describe it: own order of fields,
#: 6-byte positions, 26-character timestamps.
OLD_HEADER = layout(
    "OLD",
    "Data change record header before v11.1",
    """
    LENGTH               0 U 2
    SYSTEMID             2 C 4
    DBID                 6 U 2
    PSID                 8 U 2
    TBOBID              10 U 2
    TABLEOWNER          12 C 8
    TABLENAME           20 C 18
    TIMESTAMP           38 C 26
    LOGRBA              64 B 6
    LOGLRSN             70 B 6
    MEMBERID            76 U 2
    RID                 78 B 5
    CHANGE TYPE         83 C 2
    SQLTYPE             85 C 1
    LOGRECDISP          86 C 1
    SQLSRCTYPE          87 C 1
    UORTIMESTAMP        88 C 26
    UORCOMMITTIMESTAMP 114 C 26
    UORDISP            140 C 1
    UORIDLRSN          141 B 6
    UORID              147 B 6
    -                  153 R 3
    SEGLEN             156 U 2
    TOTALSEGS          158 U 2
    SEGNUM             160 U 2
    UORCOMMITLRSN      162 B 6
    UORCOMMITPOINT     168 B 6
    CONNECTID          174 C 8
    CORRELATIONID      182 C 12
    AUTHID             194 C 8
    PLAN               202 C 8
    INCOMPLETETRANS    210 C 1
    INCOMPLETEDEP      211 C 1
    """,
)

#: TESTOWN.ACCT of the format notes, section 10.
ACCT = Tab(
    "ACCT",
    (
        Col("ID", "INT", 4, key=1),
        Col("BAL", "DEC", 5, scale=2, nulls="Y"),
        Col("OPEN_DT", "DATE", 10),
        Col("NAME", "VCHR", 10, nulls="Y", subtype="S"),
        Col("RATE", "FLOT", 8),
        Col("UPD", "DTTM", 26),
    ),
)


def acct(number: int, name: str | None = "ABCDE", balance: str | None = "-123.45") -> Row:
    """A row of :data:`ACCT`."""
    return (number, balance, "2024-03-15", name, 1.0, "2024-03-15 10:20:30.123456")


@dataclass
class Change:
    """A change before it becomes records: header fields, images, and where its payload is cut into
    segments."""

    fields: dict[str, Any]
    images: list[bytes]
    cuts: tuple[int, ...] = ()


@dataclass
class Unit:
    """A unit of recovery; ``more`` overrides header fields of all its records."""

    log: LogBuilder
    more: dict[str, Any]

    @property
    def key(self) -> tuple[bytes, int]:
        """What selections call it."""
        return self.more["UORID"], self.more["MEMBERID"]

    @property
    def name(self) -> str:
        """What messages call it."""
        urid, member = self.key
        return f"{urid.hex().upper()}/{member}"

    def insert(self, table: Tab, row: Row, cuts: tuple[int, ...] = (), **more: Any) -> Change:
        """An insert. ``cuts`` are places in the payload where segments begin."""
        return self._add(table, "I ", [table.image(row, self.log.expanded)], cuts, more)

    def delete(self, table: Tab, row: Row, cuts: tuple[int, ...] = (), **more: Any) -> Change:
        """A delete."""
        return self._add(table, "D ", [table.image(row, self.log.expanded)], cuts, more)

    def update(
        self, table: Tab, before: Row, after: Row, cuts: tuple[int, ...] = (), **more: Any
    ) -> Change:
        """An update."""
        return self._add(
            table,
            "UB",
            [table.image(row, self.log.expanded) for row in (before, after)],
            cuts,
            more,
        )

    def event(self, table: Tab, code: str, **more: Any) -> Change:
        """A change without row images."""
        return self._add(table, code, [], (), more)

    def _add(
        self,
        table: Tab,
        code: str,
        images: list[bytes],
        cuts: tuple[int, ...],
        more: dict[str, Any],
    ) -> Change:
        place = self.log.tick()
        fields = {
            "SYSTEMID": self.log.system, "DBID": table.dbid, "PSID": table.psid,
            "TBOBID": table.obid, "TBOWNERLEN": len(table.owner),
            "TBNAMELEN": len(table.name), "TABLEOWNER": table.owner[:8],
            "TABLENAME": table.name[:18],
            "TIMESTAMP": "2024-03-15 10:20:30.123456", "LOGLRSN": lrsn(place), "LOGRBA": rba(place),
            "RID": place.to_bytes(5, "big"), "CHANGE TYPE": code, "SQLTYPE": "U", "LOGRECDISP": "C",
            "SQLSRCTYPE": " ",
            "ANOMALYTYPE": "N", "PAGENUMFMT": "A", "INCOMPLETETRANS": "N", "INCOMPLETEDEP": "N",
            "UORHASCOMP": "N",
        }  # fmt: skip
        change = Change({**fields, **self.more, **more}, images, cuts)
        self.log.changes.append(change)
        return change


@dataclass
class LogBuilder:
    """A log. ``reading`` is A, B or B' of the format notes; ``own_lengths`` says whether later
    segments repeat the halfword; ``header`` and ``base`` give another header and the position that
    its XHDF records count from (None: no XHDF records); ``sharing`` is False for RBAs in the LRSN
    fields and None for commit LRSNs of zero."""

    tables: Sequence[Tab] = (ACCT,)
    reading: str = "A"
    own_lengths: bool = True
    expanded: bool = False
    sharing: bool | None = True
    header: Layout = LLDF
    base: int | None = None
    system: str = "DB2P"
    changes: list[Change] = field(default_factory=list)
    clock: int = 0

    def tick(self) -> int:
        """The next position in the Db2 log."""
        self.clock += 16
        return self.clock

    def unit(
        self, member: int = 1, commit: int | None = None, start: int | None = None, **more: Any
    ) -> Unit:
        """A unit of recovery that commits at ``commit`` (a tick; the units' order of commit is that
        of their making when it is not given)."""
        begin = self.tick() if start is None else start
        end = (1 << 24) + begin if commit is None else commit
        fields = {
            "MEMBERID": member, "UORTIMESTAMP": "2024-03-15 10:20:00",
            "UORCOMMITTIMESTAMP": "2024-03-15 10:21:00.5", "UORDISP": "C",
            "UORIDLRSN": lrsn(begin), "UORID": rba(begin), "UORCOMMITLRSN": lrsn(end),
            "UORCOMMITPOINT": rba(end),
            "CONNECTID": "CICSA", "CORRELATIONID": "CORR01", "AUTHID": "CLERK", "PLAN": "PLANA",
        }  # fmt: skip
        return Unit(self, {**fields, **more})

    # -- bytes
    # ---------------------------------------------------------------------------------------------

    def control_records(self) -> list[bytes]:
        """The control file's records."""
        common = {"CNTLRECORDTYPE": "XTYP", "CNTLFILETYPE": "DB2", "CNTLFILETYPEVERSION": "V1310",
            "CNTLFILESYSID": self.system,
                  "SQLDELIMITER": "'", "MIXED": "N", "DECIMALPOINT": ".", "EBCDICSINGLECCSID": 37,
                  "ASCIISINGLECCSID": 819,
                  "UNICODESINGLECCSID": 367, "UNICODEDOUBLECCSID": 1200,
                  "UNICODEMIXEDCCSID": 1208}  # fmt: skip
        data_set = {"CNTLRECORDTYPE": "DLDS", "ORIGDATADSNAME": "TEST.LOG", "RECORDFORMAT": "VB",
            "DATEFORMAT": "DB2I",
                    "EXPANDVAR": "Y" if self.expanded else "N", "SEGMENTED": "Y"}  # fmt: skip
        end = DLGE.build(CNTLRECORDTYPE="DLGE", ENDRBA=self.end, DEPENDENTRBA=b"\xff" * 10)
        described = [] if self.base is None else described_header(self.header, self.base)
        tables = [record for table in self.tables for record in table.records(self.system)]
        return [XTYP.build(**common), DLDS.build(**data_set), *described, *tables, end]

    @property
    def end(self) -> bytes:
        """Where the control file says that the log ends: 18 minutes after the last commit."""
        clock = "UORCOMMITLRSN" if self.sharing else "UORCOMMITPOINT"
        commits = [change.fields[clock] for change in self.changes]
        last = max((one for one in commits if isinstance(one, bytes)), default=lrsn(0))
        place = 7 if self.sharing else 10
        return (int.from_bytes(last[:place]) + (1 << 26)).to_bytes(place) + last[place:]

    def records(self) -> list[bytes]:
        """The data file's records, in the order of the changes."""
        return [record for change in self.changes for record in self._records(change)]

    def _records(self, change: Change) -> list[bytes]:
        if not change.images:
            return [self.build_header(change.fields, 0, 1, 1)]
        extra = 2 if self.reading == "B" else 0
        payload = b"".join(
            (len(image) + extra).to_bytes(2, "big") + image for image in change.images
        )
        edges = [0, *change.cuts, len(payload)]
        pieces = [payload[low:high] for low, high in pairwise(edges)]
        records = []
        for number, piece in enumerate(pieces, 1):
            own = self.reading == "A" and (number == 1 or self.own_lengths)
            data = ((len(piece) + 2).to_bytes(2, "big") if own else b"") + piece
            records.append(self.build_header(change.fields, len(data), len(pieces), number) + data)
        return records

    def build_header(self, fields: dict[str, Any], size: int, total: int, number: int) -> bytes:
        """One header; positions and timestamps in the widths of the layout."""
        values = dict(fields)
        if self.sharing is not True:
            values.update(
                MEMBERID=0,
                LOGLRSN=values["LOGRBA"],
                UORIDLRSN=values["UORID"],
                UORCOMMITLRSN=values["UORCOMMITPOINT"],
            )
        if self.sharing is None:
            values["UORCOMMITLRSN"] = bytes(10)
        values.update(
            LENGTH=self.header.size,
            SEGLEN=(self.header.size + size) & 0xFFFF,
            TOTALSEGS=total,
            SEGNUM=number,
        )
        known = {
            name: fit(value, name, self.header.names[name].length)
            for name, value in values.items()
            if name in self.header.names
        }
        return self.header.build(**known)

    def write(
        self,
        folder: Path,
        framing: str = "rdw",
        files: int = 1,
        seed: int | None = None,
        name: str = "t",
    ) -> tuple[Path, list[Path]]:
        """Write control and data files; with ``seed`` the records are shuffled. (control path, data
        paths)."""
        records = self.records()
        if seed is not None:
            random.Random(seed).shuffle(records)
        control = folder / f"{name}.ctl"
        control.write_bytes(frame(self.control_records(), framing))
        parts = [part for part in (records[number::files] for number in range(files)) if part]
        paths = [folder / f"{name}{number}.dat" for number in range(len(parts))]
        for path, part in zip(paths, parts, strict=True):
            path.write_bytes(frame(part, framing))
        return control, paths

    def selected(
        self,
        folder: Path,
        mode: str = "redo",
        constraints: Constraints | None = None,
        options: ScriptOptions | None = None,
        **which: Any,
    ) -> Bundle:
        """Write the log, its records shuffled, and the script of what is selected."""
        return replay.write_script(
            *self.write(folder, seed=1),
            folder / "out",
            mode=mode,
            selection=Selection(**which),
            options=options or ScriptOptions(),
            constraints=constraints,
            overwrite=True,
        )

    def script(self, folder: Path, mode: str = "redo", **how: Any) -> Bundle:
        """Write the log and its script."""
        control, data = self.write(folder, **how)
        return replay.write_script(
            control,
            data,
            folder / f"out-{len(list(folder.iterdir()))}",
            mode=mode,
            constraints=Constraints(),
        )


@lru_cache(maxsize=1 << 14)
def fit(value: Any, name: str, length: int) -> Any:
    """A header value in the width that a layout has for it."""
    kind = LLDF.names[name].kind if name in LLDF.names else FieldKind.BYTES
    if kind is FieldKind.PACKED_TIME:
        if length == 17:
            return encoders.encode_log_timestamp(value)
        return encoders.encode_timestamp(value if "." in value else value + ".000000").ljust(
            26, b"\xf0"
        )
    if kind is FieldKind.POSITION and length == 6 and isinstance(value, bytes):
        return value[4:] if value[:4] == bytes(4) else value[1:7]
    return value


def described_header(layout: Layout, base: int) -> list[bytes]:
    """XHDF records of a layout."""
    types = {FieldKind.TEXT: "CHAR", FieldKind.UNSIGNED: "INT"}
    return [
        XHDF.build(
            CNTLRECORDTYPE="XHDF", HEADFIELDNAME=entry.name,
            HEADFIELDTYPE="DTTM" if entry.length == 26 else types.get(entry.kind, "BIN"),
            HEADFIELDLEN=entry.length, HEADFIELDPOS=entry.offset + base,
        )
        for entry in layout.names.values()
    ]  # fmt: skip


def generation(table: Tab, sequence: int, **changed: Any) -> Tab:
    """Another generation of a table."""
    return replace(table, sequence=sequence, **changed)


# -- framing
# -------------------------------------------------------------------------------------------------


def frame(records: Iterable[bytes], framing: str, block: int = 20_000) -> bytes:
    """Records as they look after a transfer: rdw, bdw, ftp or none."""
    listed = list(records)
    if framing == "none" or not listed:
        return b"".join(listed)
    if framing == "ftp":
        marks = [0x80] * (len(listed) - 1) + [0x40]
        return b"".join(
            bytes([mark]) + len(record).to_bytes(2, "big") + record
            for mark, record in zip(marks, listed, strict=True)
        )
    words = [(len(record) + 4).to_bytes(2, "big") + b"\0\0" + record for record in listed]
    if framing == "rdw":
        return b"".join(words)
    blocks: list[bytes] = []
    current = b""
    for word in words:
        if current and len(current) + len(word) > block:
            blocks.append(current)
            current = b""
        current += word
    return b"".join(
        (len(entry) + 4).to_bytes(2, "big") + b"\0\0" + entry for entry in [*blocks, current]
    )


def unframe(raw: bytes) -> list[bytes]:
    """The records of a file with record descriptor words."""
    records, place = [], 0
    while place < len(raw):
        size = int.from_bytes(raw[place : place + 2], "big")
        records.append(raw[place + 4 : place + size])
        place += size
    return records


# -- scripts
# -------------------------------------------------------------------------------------------------


def text_of(bundle: Bundle) -> str:
    """All scripts of a bundle, in order."""
    return "".join(path.read_text() for path in sorted(Path(str(bundle.folder)).glob("*.sql")))


def statements(bundle: Bundle) -> list[str]:
    """The changes of a bundle's scripts."""
    return re.findall(r"(?m)^(?:INSERT|UPDATE|DELETE|TRUNCATE) .*$", text_of(bundle))


def units_of(bundle: Bundle) -> dict[str, str]:
    """The text of each unit, by ``URID/member`` as the manifest names units."""
    found: dict[str, str] = {}
    for block in re.split(r"(?m)^(?=-- unit )", text_of(bundle))[1:]:
        key = re.match(r"-- unit URID=(\S+) member=(\d+) ", block)
        assert key
        name = f"{key[1]}/{key[2]}"
        assert name not in found, f"unit {name} is in the script twice"
        found[name] = block
    return found
