"""The layouts of the log's records against the vendor's pages, and against bytes worked out by hand
(format notes, section 10)."""

from __future__ import annotations

import re

import pytest

from replay.decoding.layout import Layout
from replay.logs.logmaster import layouts
from replay.logs.logmaster.layouts import CONTROL, DICL, DICL_ENTRY, DLCI, DTBI, LLDF, XHDF, XTYP
from tests.support import encoders

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


def test_where_a_page_contradicts_itself_the_offsets_that_leave_no_gap_are_right() -> None:
    wrong = [
        (tag, name)
        for tag, page in (("LLDF", LLDF_PAGE), ("DTBI", DTBI_PAGE), ("DLCI", DLCI_PAGE))
        for name, decimal, hexadecimal, _ in printed(page)
        if decimal != hexadecimal
    ]
    assert wrong == list(MISPRINTS)


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


# -- worked examples
# -------------------------------------------------------------------------------------------------

HEADER = bytearray(b"\0" * 288)
for _offset, _bytes in (
    (0, "0120"), (2, "C4C2F2D7"), (6, "010500020003"), (12, "00070004"), (32, "E3C5E2E3D6E6D540"),
    (40, "C1C3C3E3" + "40" * 14),
    (60, "2024031510203012345600000000000000"), (77, "00CA670FBBF3D3000000"),
    (87, "00000000123456789ABC"), (99, "0000000201"),
    (104, "E4C2"), (106, "E4C340"), (182, "019D00010001"), (287, "C1"),
):  # fmt: skip
    HEADER[_offset : _offset + len(_bytes) // 2] = bytes.fromhex(_bytes)


def test_header_of_the_worked_example() -> None:
    values = LLDF.read(HEADER)
    assert {name: values[name] for name in ("LENGTH", "SYSTEMID", "DBID", "PSID", "TBOBID",
        "TBOWNERLEN", "TBNAMELEN")} == {
        "LENGTH": 288, "SYSTEMID": "DB2P", "DBID": 0x0105, "PSID": 2, "TBOBID": 3, "TBOWNERLEN": 7,
        "TBNAMELEN": 4,
    }  # fmt: skip
    assert (values["TABLEOWNER"], values["TABLENAME"], values["CHANGE TYPE"]) == (
        "TESTOWN",
        "ACCT",
        "UB",
    )
    assert (values["SQLTYPE"], values["LOGRECDISP"], values["SQLSRCTYPE"]) == ("U", "C", "")
    assert values["LOGLRSN"].hex() == "00ca670fbbf3d3000000"
    assert values["LOGRBA"].hex() == "00000000123456789abc"
    assert values["RID"] == b"\0\0\0\2\1"
    assert (values["SEGLEN"], values["TOTALSEGS"], values["SEGNUM"], values["PAGENUMFMT"]) == (
        413,
        1,
        1,
        "A",
    )
    assert values["TIMESTAMP"] == encoders.encode_log_timestamp("2024-03-15 10:20:30.123456")


def test_built_header_is_the_worked_example() -> None:
    built = LLDF.build(
        **{
            "LENGTH": 288, "SYSTEMID": "DB2P", "DBID": 0x0105, "PSID": 2, "TBOBID": 3,
            "TBOWNERLEN": 7, "TBNAMELEN": 4,
            "TABLEOWNER": "TESTOWN", "TABLENAME": "ACCT",
            "TIMESTAMP": bytes.fromhex("2024031510203012345600000000000000"),
            "LOGLRSN": bytes.fromhex("00CA670FBBF3D3000000"),
            "LOGRBA": bytes.fromhex("00000000123456789ABC"), "RID": b"\0\0\0\2\1",
            "CHANGE TYPE": "UB", "SQLTYPE": "U", "LOGRECDISP": "C", "SEGLEN": 0x019D,
            "TOTALSEGS": 1, "SEGNUM": 1, "PAGENUMFMT": "A",
        }
    )  # fmt: skip
    blank = {
        entry.name
        for entry in LLDF.fields
        if built[entry.offset : entry.end] == b"\x40" * entry.length
    }
    for entry in LLDF.fields:
        if entry.name not in blank:
            assert built[entry.offset : entry.end] == HEADER[entry.offset : entry.end], entry.name
    assert {"DBNAME", "SQLSRCTYPE", "AUTHID", "PLAN"} < blank


def test_twelve_digit_timestamp_and_its_text() -> None:
    packed = bytes.fromhex("2024031510203012345678901234500000")
    assert LLDF.names["TIMESTAMP"].length == len(packed)
    assert encoders.encode_log_timestamp("2024-03-15 10:20:30.123456789012345") == packed


@pytest.mark.parametrize(
    ("layout", "start", "values"),
    [
        (
            XTYP, "E7E3E8D7 C4C2F240 E5F1F2F1F040 C4C2F2D7",
            {"CNTLRECORDTYPE": "XTYP", "CNTLFILETYPE": "DB2", "CNTLFILETYPEVERSION": "V1210",
                "CNTLFILESYSID": "DB2P"},
        ),
        (
            DTBI, "C4E3C2C9 C4C2F2D7 F0F1F0F5 F0F0F0F2 F0F0F0F3 E3C2 F0F0F6",
            {"CNTLRECORDTYPE": "DTBI", "SYSID": "DB2P", "DBID": 0x0105, "PSID": 2, "TBOBID": 3,
                "OBJECTTYPE": "TB", "DB2NUMCOL": 6},
        ),
        (
            XHDF, "E7C8C4C6 E4D6D9C3D6D4D4C9E3D3D9E2D54040404040 C2C9D540 E4 F0F0F0F1F0 F0F0F1F9F2",
            {
                "CNTLRECORDTYPE": "XHDF", "HEADFIELDNAME": "UORCOMMITLRSN", "HEADFIELDTYPE": "BIN",
                "HEADFIELDSUBTYPE": "U",
                "HEADFIELDLEN": 10, "HEADFIELDPOS": 192,
            },
        ),
        (
            DLCI,
            "C4D3C3C9 C4C2F2D7 F0F1F0F5 F0F0F0F3 F0F0F1 C9D5E340 F0F0F0F0F4 F0F0 D5 F0F0F0F0F4 "
            "40 F0F0F1 C1 F0F0F0F0F4 F0F0F0F0F4"
            "F0F0F0F0F4 F0F0F1 F0F0F2",
            {
                "CNTLRECORDTYPE": "DLCI", "SYSID": "DB2P", "DBID": 0x0105, "TBOBID": 3,
                "LLCOLUMNNUM": 1, "LLCOLUMNTYPE": "INT",
                "LLCOLUMNLEN": 4, "LLSCALE": 0, "LLNULLS": "N", "LLCOLUMNPOS": 4,
                "LLCOLUMNSUBTYPE": "", "KEYSEQ": 1, "KEYORDERING": "A",
                "DB2ROWBYTES": 4, "FLDPROCBYTES": 4, "LOGLOGBYTES": 4, "SEQUENCENUMBER": 1,
                "COLUMNNAMELEN": 2,
            },
        ),
    ],
    ids=["XTYP", "DTBI", "XHDF", "DLCI"],
)  # fmt: skip
def test_control_records_of_the_worked_examples(
    layout: Layout, start: str, values: dict[str, object]
) -> None:
    raw = bytes.fromhex(start)
    found = layout.read(raw)
    assert {name: value for name, value in found.items() if value is not None} == values
    padded = {entry.name for entry in layout.names.values() if entry.end <= len(raw)}
    assert padded == set(values)
    assert layout.build(**values)[: len(raw)] == raw


def test_minus_one_in_a_number_field() -> None:
    """LLCOLUMNPOS is -1 after the first varying column; how it is padded is not printed."""
    entry = DLCI.names["LLCOLUMNPOS"]
    for text in ("-1   ", "   -1", "-0001"):
        assert entry.value(text.encode("cp037")) == -1
    assert entry.value("     ".encode("cp037")) is None
    assert entry.value("1 2  ".encode("cp037")) is None


def test_every_control_layout_is_found_by_its_tag() -> None:
    assert all(
        layout.tag == tag and layout.names["CNTLRECORDTYPE"].offset == 0
        for tag, layout in CONTROL.items()
    )
    entries = b"".join(DICL_ENTRY.build(KEYCOL=number, KEYCOLORDER="A") for number in (3, 1))
    assert DICL.build(CNTLRECORDTYPE="DICL", IXCOLRECKEYCOUNT=2)[
        18:20
    ] + entries == "02003A001A".encode("cp037")
