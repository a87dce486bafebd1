"""The layouts of the log's records against the vendor's pages."""

from __future__ import annotations

import re

import pytest

from replay.decoding.layout import Layout
from replay.logs.logmaster import layouts
from replay.logs.logmaster.layouts import CONTROL, DICL, DICL_ENTRY, DLCI, DTBI, LLDF

# Field, decimal offset, hexadecimal offset, definition: as the pages print them, mistakes included.
DLCI_PAGE = """
    CNTLRECORDTYPE      |   0 |  00 | CHAR(4)
    SYSID               |   4 |  04 | CHAR(4)
    DBID                |   8 |  08 | CHAR(4)
    TBOBID              |  12 |  0C | CHAR(4)
    LLCOLUMNNUM         |  16 |  10 | CHAR(3)
    LLCOLUMNTYPE        |  19 |  13 | CHAR(4)
    LLCOLUMNLEN         |  23 |  17 | CHAR(5)
    LLSCALE             |  28 |  1C | CHAR(2)
    LLNULLS             |  30 |  1E | CHAR(1)
    LLCOLUMNPOS         |  31 |  1F | CHAR(5)
    LLCOLUMNSUBTYPE     |  36 |  24 | CHAR(1)
    KEYSEQ              |  37 |  25 | CHAR(3)
    KEYORDERING         |  40 |  28 | CHAR(1)
    DB2ROWBYTES         |  41 |  29 | CHAR(5)
    FLDPROCBYTES        |  46 |  2E | CHAR(5)
    LOGLOGBYTES         |  51 |  33 | CHAR(5)
    SEQUENCENUMBER      |  56 |  38 | CHAR(3)
    COLUMNNAMELEN       |  59 |  3B | CHAR(3)
    COLUMNNAME          |  62 |  3E | CHAR(128)
    VERSION             | 190 |  B4 | CHAR(3)
"""

DTBI_PAGE = """
    CNTLRECORDTYPE      |   0 |  00 | CHAR(4)
    SYSID               |   4 |  04 | CHAR(4)
    DBID                |   8 |  08 | CHAR(4)
    PSID                |  12 |  0C | CHAR(4)
    TBOBID              |  16 |  10 | CHAR(4)
    OBJECTTYPE          |  20 |  14 | CHAR(2)
    DB2NUMCOL           |  22 |  16 | CHAR(3)
    DB2MAXROWLEN        |  25 |  19 | CHAR(5)
    LLNUMCOL            |  30 |  1E | CHAR(3)
    LLMAXROWLEN         |  33 |  21 | CHAR(5)
    ROWTYPE             |  38 |  26 | CHAR(1)
    SEQUENCENUMBER      |  39 |  27 | CHAR(3)
    CREATERBA           |  42 |  2A | BIN(10)
    (reserved)          |  54 |  34 | BIN(2)
    DROPRBA             |  54 |  36 | BIN(10)
    (reserved)          |  64 |  40 | BIN(2)
    ENCODINGSCHEME      |  66 |  42 | CHAR(1)
    EDITPROCNAMELEN     |  67 |  43 | CHAR(3)
    EDITPROCNAME        |  70 |  46 | CHAR(24)
    DBNAMELEN           |  94 |  5E | CHAR(3)
    DBNAME              |  97 |  61 | CHAR(24)
    TSNAMELEN           | 121 |  79 | CHAR(3)
    TSNAME              | 124 |  7C | CHAR(24)
    TABLEOWNERLEN       | 148 |  94 | CHAR(3)
    TABLEOWNER          | 151 |  97 | CHAR(128)
    SHORTOWNER          | 279 | 117 | CHAR(8)
    TABLENAMELEN        | 287 | 11F | CHAR(3)
    TABLENAME           | 290 | 122 | CHAR(128)
    SHORTNAME           | 418 | 1A2 | CHAR(18)
    VERSION             | 436 | 1B4 | CHAR(3)
    UNTRANOWNERFLAG     | 439 | 1B7 | CHAR(1)
    UNITABLEOWNERLEN    | 440 | 1B8 | CHAR(3)
    UNITABLEOWNER       | 443 | 1BB | CHAR(128)
    UNTRANNAMEFLAG      | 571 | 23B | CHAR(1)
    UNITABLENAMELEN     | 572 | 23C | CHAR(3)
    UNITABLENAME        | 575 | 23F | CHAR(128)
    LOBSINCLUDED        | 703 | 2BF | CHAR(1)
    XMLINCLUDED         | 704 | 2C0 | CHAR(1)
"""

LLDF_PAGE = """
    LENGTH              |   0 |  00 | BIN(2)
    SYSTEMID            |   2 |  02 | CHAR(4)
    DBID                |   6 |  06 | BIN(2)
    PSID                |   8 |  08 | BIN(2)
    TBOBID              |  10 |  0A | BIN(2)
    TBOWNERLEN          |  12 |  0C | BIN(2)
    TBNAMELEN           |  14 |  0E | BIN(2)
    DBNAME              |  16 |  10 | CHAR(8)
    TSNAME              |  24 |  18 | CHAR(8)
    TABLEOWNER          |  32 |  20 | CHAR(8)
    TABLENAME           |  40 |  28 | CHAR(18)
    PARTNUM             |  58 |  3A | BIN(2)
    TIMESTAMP           |  60 |  3C | BIN(17)
    LOGLRSN             |  77 |  4D | BIN(10)
    LOGRBA              |  87 |  57 | BIN(10)
    MEMBERID            |  97 |  61 | BIN(2)
    RID                 |  99 |  63 | BIN(5)
    CHANGE TYPE         | 104 |  68 | CHAR(2)
    SQLTYPE             | 106 |  6A | CHAR(1)
    LOGRECDISP          | 107 |  6B | CHAR(1)
    SQLSRCTYPE          | 108 |  6C | CHAR(1)
    LOGBYTES            | 109 |  6D | BIN(4)
    LOGDELTA            | 113 |  71 | BIN(2)
    ANOMALYROWID        | 115 |  73 | BIN(1)
    ANOMALYTYPE         | 116 |  74 | CHAR(1)
    ANOMALYRBA          | 117 |  75 | BIN(10)
    UORTIMESTAMP        | 127 |  7F | BIN(17)
    UORCOMMITTIMESTAMP  | 144 |  90 | BIN(17)
    UORDISP             | 161 |  A1 | CHAR(1)
    UORIDLRSN           | 162 |  A2 | BIN(10)
    UORID               | 172 |  AC | BIN(10)
    SEGLEN              | 182 |  B6 | BIN(2)
    TOTALSEGS           | 184 |  B8 | BIN(2)
    SEGNUM              | 186 |  BA | BIN(2)
    (reserved)          | 188 |  BC | BIN(4)
    UORCOMMITLRSN       | 192 |  C0 | BIN(10)
    UORCOMMITPOINT      | 202 |  CA | BIN(10)
    CONNECTIONTYPE      | 212 |  D4 | CHAR(2)
    CONNECTID           | 214 |  D6 | CHAR(8)
    CORRELATIONID       | 222 |  DE | CHAR(12)
    AUTHID              | 234 |  EA | CHAR(8)
    PLAN                | 242 |  F2 | CHAR(8)
    LUWNETWORKID        | 250 |  FA | CHAR(8)
    LUWNAME             | 258 | 102 | CHAR(8)
    LUWINSTANCENO       | 266 | 10A | BIN(6)
    LUWSEQUENCENO       | 272 | 110 | BIN(2)
    INCOMPLETETRANS     | 274 | 112 | CHAR(1)
    INCOMPLETEDEP       | 275 | 113 | CHAR(1)
    UORHASCOMP          | 276 | 114 | CHAR(1)
    SQLRIRBA            | 277 | 115 | BIN(10)
    PAGENUMFMT          | 287 | 11F | CHAR(1)
"""

#: (page, field) -> offset, where a page's decimal and hexadecimal offsets contradict each other.
MISPRINTS = {("DTBI", "(reserved)"): 0x34, ("DLCI", "VERSION"): 190}


def printed(page: str) -> list[tuple[str, int, int, int]]:
    """(field, decimal offset, hexadecimal offset, length) of each line."""
    rows = []
    for line in page.strip().splitlines():
        name, decimal, hexadecimal, definition = (part.strip() for part in line.split("|"))
        length = re.fullmatch(r"(?:CHAR|BIN)\((\d+)\)", definition)
        assert length, line
        rows.append((name, int(decimal), int(hexadecimal, 16), int(length[1])))
    return rows


@pytest.mark.parametrize(
    ("layout", "page", "size", "count"),
    [(LLDF, LLDF_PAGE, 288, 51), (DTBI, DTBI_PAGE, 705, 38), (DLCI, DLCI_PAGE, 193, 20)],
    ids=["LLDF", "DTBI", "DLCI"],
)
def test_layouts_are_those_of_the_pages(layout: Layout, page: str, size: int, count: int) -> None:
    rows = printed(page)
    assert len(rows) == count
    expected = []
    for name, decimal, hexadecimal, length in rows:
        if decimal == hexadecimal:
            expected.append((name, decimal, length))
        else:
            expected.append((name, MISPRINTS[layout.tag, name], length))
    assert [
        (entry.name or "(reserved)", entry.offset, entry.length) for entry in layout.fields
    ] == expected
    assert layout.size == size


@pytest.mark.parametrize(
    ("layout", "size"),
    [
        (layouts.XHDF, 37), (layouts.DLGE, 48), (layouts.DFID, 37), (layouts.DFDS, 72),
        (layouts.DCXI, 289), (layouts.DIXI, 289),
        (layouts.DICL, 23), (layouts.DXSF, 48), (layouts.DICL_ENTRY, 4), (layouts.DLOB, 340),
        (layouts.DXML, 340),
    ],
    ids=lambda value: value.tag if isinstance(value, Layout) else "",
)  # fmt: skip
def test_totals_of_the_other_records(layout: Layout, size: int) -> None:
    assert layout.size == size


def test_every_control_layout_is_found_by_its_tag() -> None:
    assert all(
        layout.tag == tag and layout.names["CNTLRECORDTYPE"].offset == 0
        for tag, layout in CONTROL.items()
    )
    entries = b"".join(DICL_ENTRY.build(KEYCOL=number, KEYCOLORDER="A") for number in (3, 1))
    assert DICL.build(CNTLRECORDTYPE="DICL", IXCOLRECKEYCOUNT=2)[
        18:20
    ] + entries == "02003A001A".encode("cp037")
