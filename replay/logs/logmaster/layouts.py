"""The records of a Log Master logical log, as their pages print them (seeds 000 to 002; control
records: format notes, section 4), and the headers of data records, as the XHDF records of a control
file describe them.

Columns of a table: field, decimal offset, kind (U unsigned, B bytes, C text, N decimal text, X
hexadecimal text, P LRSN or RBA, T packed timestamp, R reserved), length in bytes. Offsets start
after the record descriptor word.
"""

from __future__ import annotations

from typing import NamedTuple

from replay.decoding.layout import Field, FieldKind, Layout, layout
from replay.errors import InputError, Where

#: First byte of six from which on a position is an LRSN, a reading of a clock that began in 1900:
#: it was this in 1971. No RBA has come so far.
CLOCK = 0x80

#: Data change record header, v11.1 and later (seed 002).
LLDF = layout(
    "LLDF",
    "Data change record header, v11.1 and later",
    """
    LENGTH               0 U 2
    SYSTEMID             2 C 4
    DBID                 6 U 2
    PSID                 8 U 2
    TBOBID              10 U 2
    TBOWNERLEN          12 U 2
    TBNAMELEN           14 U 2
    DBNAME              16 C 8
    TSNAME              24 C 8
    TABLEOWNER          32 C 8
    TABLENAME           40 C 18
    PARTNUM             58 U 2
    TIMESTAMP           60 T 17
    LOGLRSN             77 P 10
    LOGRBA              87 P 10
    MEMBERID            97 U 2
    RID                 99 B 5
    CHANGE TYPE        104 C 2
    SQLTYPE            106 C 1
    LOGRECDISP         107 C 1
    SQLSRCTYPE         108 C 1
    LOGBYTES           109 U 4
    LOGDELTA           113 U 2
    ANOMALYROWID       115 U 1
    ANOMALYTYPE        116 C 1
    ANOMALYRBA         117 P 10
    UORTIMESTAMP       127 T 17
    UORCOMMITTIMESTAMP 144 T 17
    UORDISP            161 C 1
    UORIDLRSN          162 P 10
    UORID              172 P 10
    SEGLEN             182 U 2
    TOTALSEGS          184 U 2
    SEGNUM             186 U 2
    -                  188 R 4
    UORCOMMITLRSN      192 P 10
    UORCOMMITPOINT     202 P 10
    CONNECTIONTYPE     212 C 2
    CONNECTID          214 C 8
    CORRELATIONID      222 C 12
    AUTHID             234 C 8
    PLAN               242 C 8
    LUWNETWORKID       250 C 8
    LUWNAME            258 C 8
    LUWINSTANCENO      266 B 6
    LUWSEQUENCENO      272 U 2
    INCOMPLETETRANS    274 C 1
    INCOMPLETEDEP      275 C 1
    UORHASCOMP         276 C 1
    SQLRIRBA           277 P 10
    PAGENUMFMT         287 C 1
    """,
)

XTYP = layout(
    "XTYP",
    "Type record",
    """
    CNTLRECORDTYPE       0 C 4
    CNTLFILETYPE         4 C 4
    CNTLFILETYPEVERSION  8 C 6
    CNTLFILESYSID       14 C 4
    SQLDELIMITER        18 C 1
    MIXED               19 C 1
    DECIMALPOINT        20 C 1
    EBCDICSINGLECCSID   21 N 5
    EBCDICDOUBLECCSID   26 N 5
    EBCDICMIXEDCCSID    31 N 5
    ASCIISINGLECCSID    36 N 5
    ASCIIDOUBLECCSID    41 N 5
    ASCIIMIXEDCCSID     46 N 5
    UNICODESINGLECCSID  51 N 5
    UNICODEDOUBLECCSID  56 N 5
    UNICODEMIXEDCCSID   61 N 5
    """,
)

XHDF = layout(
    "XHDF",
    "Data change header description record",
    """
    CNTLRECORDTYPE   0 C 4
    HEADFIELDNAME    4 C 18
    HEADFIELDTYPE   22 C 4
    HEADFIELDSUBTYPE 26 C 1
    HEADFIELDLEN    27 N 5
    HEADFIELDPOS    32 N 5
    """,
)

DLDS = layout(
    "DLDS",
    "Logical log data set record",
    """
    CNTLRECORDTYPE     0 C 4
    ORIGDATADSNAME     4 C 44
    RECORDFORMAT      48 C 3
    DATEFORMAT        51 C 8
    EXPANDVAR         59 C 1
    SEGMENTED         60 C 1
    DDLOBJECTS        61 C 1
    LOBSINCLUDED      62 C 1
    XMLINCLUDED       63 C 1
    XMLSTRINGINCLUDED 64 C 1
    MERGED            65 C 1
    CMDSINCLUDED      66 C 1
    """,
)

DLGE = layout(
    "DLGE",
    "Log information end record",
    """
    CNTLRECORDTYPE 0 C 4
    ENDRBA         4 P 10
    -             14 R 2
    ENDTIME       16 T 17
    -             33 R 3
    DEPENDENTRBA  36 P 10
    -             46 R 2
    """,
)

DFID = layout(
    "DFID",
    "Filter ID record",
    """
    CNTLRECORDTYPE  0 C 4
    FILTERUSERID    4 C 8
    FILTERNAME     12 C 18
    FILTERID       30 C 4
    DATEFORMAT     34 C 3
    """,
)

DFDS = layout(
    "DFDS",
    "Filter description record",
    """
    CNTLRECORDTYPE 0 C 4
    FILTERID       4 C 4
    DESCRIPTION    8 C 64
    """,
)

#: Seed 001. The page prints two fields at decimal 54; their hexadecimal offsets (34 and 36) say 52
#: and 54.
DTBI = layout(
    "DTBI",
    "Table information record",
    """
    CNTLRECORDTYPE    0 C 4
    SYSID             4 C 4
    DBID              8 X 4
    PSID             12 X 4
    TBOBID           16 X 4
    OBJECTTYPE       20 C 2
    DB2NUMCOL        22 N 3
    DB2MAXROWLEN     25 N 5
    LLNUMCOL         30 N 3
    LLMAXROWLEN      33 N 5
    ROWTYPE          38 C 1
    SEQUENCENUMBER   39 N 3
    CREATERBA        42 P 10
    -                52 R 2
    DROPRBA          54 P 10
    -                64 R 2
    ENCODINGSCHEME   66 C 1
    EDITPROCNAMELEN  67 N 3
    EDITPROCNAME     70 C 24
    DBNAMELEN        94 N 3
    DBNAME           97 C 24
    TSNAMELEN       121 N 3
    TSNAME          124 C 24
    TABLEOWNERLEN   148 N 3
    TABLEOWNER      151 C 128
    SHORTOWNER      279 C 8
    TABLENAMELEN    287 N 3
    TABLENAME       290 C 128
    SHORTNAME       418 C 18
    VERSION         436 N 3
    UNTRANOWNERFLAG 439 C 1
    UNITABLEOWNERLEN 440 N 3
    UNITABLEOWNER   443 B 128
    UNTRANNAMEFLAG  571 C 1
    UNITABLENAMELEN 572 N 3
    UNITABLENAME    575 B 128
    LOBSINCLUDED    703 C 1
    XMLINCLUDED     704 C 1
    """,
)

#: Seed 000. The page's hexadecimal offset of VERSION (B4) contradicts its decimal one; 190 closes
#: with the total of 193.
DLCI = layout(
    "DLCI",
    "Logical log column information record",
    """
    CNTLRECORDTYPE    0 C 4
    SYSID             4 C 4
    DBID              8 X 4
    TBOBID           12 X 4
    LLCOLUMNNUM      16 N 3
    LLCOLUMNTYPE     19 C 4
    LLCOLUMNLEN      23 N 5
    LLSCALE          28 N 2
    LLNULLS          30 C 1
    LLCOLUMNPOS      31 N 5
    LLCOLUMNSUBTYPE  36 C 1
    KEYSEQ           37 N 3
    KEYORDERING      40 C 1
    DB2ROWBYTES      41 N 5
    FLDPROCBYTES     46 N 5
    LOGLOGBYTES      51 N 5
    SEQUENCENUMBER   56 N 3
    COLUMNNAMELEN    59 N 3
    COLUMNNAME       62 C 128
    VERSION         190 N 3
    """,
)

_INDEX = """
    CNTLRECORDTYPE   0 C 4
    SYSID            4 C 4
    DBID             8 X 4
    PSID            12 X 4
    TBOBID          16 X 4
    NUMCOLSINKEY    20 N 3
    SEQUENCENUMBER  23 N 3
    TYPE            26 C 1
    IXCREATORLEN    27 N 3
    IXCREATOR       30 C 128
    IXNAMELEN      158 N 3
    IXNAME         161 C 128
    """
DIXI = layout("DIXI", "Index information record", _INDEX)
DCXI = layout("DCXI", "Clustering index information record", _INDEX)

#: The fixed part; IXCOLRECKEYCOUNT entries of :data:`DICL_ENTRY` follow.
DICL = layout(
    "DICL",
    "Index column description record",
    """
    CNTLRECORDTYPE    0 C 4
    SYSID             4 C 4
    DBID              8 X 4
    PSID             12 X 4
    IXCOLRECNUM      16 N 2
    IXCOLRECKEYCOUNT 18 N 2
    SEQUENCENUMBER   20 N 3
    """,
)
DICL_ENTRY = layout("DICLKEYINFO", "Key column entry of DICL", "KEYCOL 0 N 3\nKEYCOLORDER 3 C 1")

_LARGE = """
    CNTLRECORDTYPE   0 C 4
    NOLOGGING        4 C 1
    NULLCOL          5 C 1
    DBNAME           6 C 8
    TSNAME          14 C 8
    BASETSNAME      22 C 8
    NPART           30 N 5
    DSNUM           35 N 5
    PGSIZE          40 C 10
    DSSIZE          50 C 10
    DBID            60 X 4
    PSID            64 X 4
    OBID            68 X 4
    BASEDBID        72 X 4
    BASEPSID        76 X 4
    BASEOBID        80 X 4
    TBCREATOR       84 C 128
    TBNAME         212 C 128
    """
DLOB = layout("DLOB", "LOB column description record", _LARGE)
DXML = layout("DXML", "XML column description record", _LARGE)
DXSF = layout("DXSF", "XMLSTRING data set name record", "CNTLRECORDTYPE 0 C 4\nDSNAME 4 C 44")

#: Control records by tag. Tags that are not here are kept and counted.
CONTROL: dict[str, Layout] = {
    entry.tag: entry
    for entry in (
        XTYP,
        XHDF,
        DLDS,
        DLGE,
        DFID,
        DFDS,
        DTBI,
        DLCI,
        DIXI,
        DCXI,
        DICL,
        DLOB,
        DXML,
        DXSF,
    )
}

#: Tags whose record length is known for certain, so that a control file without record descriptor
#: words can be walked (section 2.3).
FIXED_LENGTH = frozenset({"XHDF", "DLGE", "DFID", "DFDS", "DTBI", "DLCI", "DCXI", "DXSF"})

#: Tags that exist but whose layout is not published (section 4.0).
NAMED_ONLY = frozenset({"DTSI", "DCLI", "DCL2"})


# -- the layout of headers
# -------------------------------------------------------------------------------------------------

#: Header fields without which nothing can be ordered or decoded.
NEEDED = (
    "LENGTH", "SYSTEMID", "DBID", "PSID", "TBOBID", "LOGLRSN", "LOGRBA", "MEMBERID", "CHANGETYPE",
    "SQLTYPE", "LOGRECDISP", "SQLSRCTYPE", "UORCOMMITTIMESTAMP", "UORDISP", "UORIDLRSN", "UORID",
    "TOTALSEGS", "SEGNUM", "UORCOMMITLRSN", "UORCOMMITPOINT",
)  # fmt: skip
REMAKE_CONTROL = "Make the control file again with the log, or give the right one"


class ControlRecord(NamedTuple):
    """One control record: its bytes, its tag, and where it stands."""

    tag: str
    raw: bytes
    number: int
    offset: int


class _Described(NamedTuple):
    """A field of the header as one XHDF record describes it."""

    position: int
    length: int
    name: str
    kind: str
    record: ControlRecord


def header_layout(records: list[ControlRecord], name: str) -> Layout:
    """The header layout that XHDF records describe, or that of v11.1 when there are none. ``name``:
    the control file's. InputError LR2008 where fields are missing that are needed, LR2009
    for fields that cannot be used."""
    if not records:
        return LLDF
    standard = {entry.replace(" ", ""): field for entry, field in LLDF.names.items()}
    described = sorted((_read(record, name) for record in records), key=lambda one: one.position)
    _check_names(described, name)
    base = next(one.position for one in described if one.name == "LENGTH")
    fields: list[Field] = []
    place = 0
    for position, length, spelled, kind, record in described:
        start = position - base
        if start < place:
            message = (
                f"found {spelled} at {position}, inside the field before it; expected"
                f" {place + base} or more"
            )
            raise InputError(
                "LR2009",
                message,
                Where(name, record.number, record.offset, "HEADFIELDPOS"),
                REMAKE_CONTROL,
            )
        if start > place:
            fields.append(Field("", place, start - place, FieldKind.RESERVED))
        _check_length(
            standard.get(spelled),
            spelled,
            length,
            Where(name, record.number, record.offset, "HEADFIELDLEN"),
        )
        fields.append(_header_field(standard.get(spelled), spelled, start, length, kind))
        place = start + length
    return Layout(
        "LLDF", "Data change record header, as the XHDF records describe it", place, tuple(fields)
    )


def _read(record: ControlRecord, name: str) -> _Described:
    values = CONTROL["XHDF"].read(record.raw)
    spelled = str(values["HEADFIELDNAME"] or "").replace(" ", "")
    if values["HEADFIELDPOS"] is None or not values["HEADFIELDLEN"]:
        raise InputError(
            "LR2009",
            f"found no length or position for {spelled}; expected numbers",
            Where(name, record.number, record.offset, "HEADFIELDPOS"),
            REMAKE_CONTROL,
        )
    place = values["HEADFIELDPOS"], values["HEADFIELDLEN"]
    return _Described(*place, spelled, str(values["HEADFIELDTYPE"]), record)


def _check_names(described: list[_Described], name: str) -> None:
    """Each field is described once, and those that are needed are."""
    present: set[str] = set()
    for _, _, spelled, _, record in described:
        if spelled in present:
            raise InputError(
                "LR2009",
                f"found a second XHDF record for {spelled}; expected one",
                Where(name, record.number, record.offset, "HEADFIELDNAME"),
                REMAKE_CONTROL,
            )
        present.add(spelled)
    missing = [wanted for wanted in NEEDED if wanted not in present]
    if missing:
        raise InputError(
            "LR2008",
            f"found no XHDF record for {', '.join(missing)}; expected all fields that order and"
            " decode need",
            Where(name),
            REMAKE_CONTROL,
        )


#: Lengths that header fields of a kind may have, besides the one in the v11.1 layout.
_OTHER_LENGTHS = {
    FieldKind.POSITION: (6,),
    FieldKind.PACKED_TIME: (26,),
    FieldKind.UNSIGNED: (2, 4),
}


def _check_length(standard: Field | None, spelled: str, length: int, where: Where) -> None:
    if standard is None or spelled not in NEEDED:
        return
    usable = {
        standard.length,
        *(_OTHER_LENGTHS.get(standard.kind, ()) if spelled != "LENGTH" else ()),
    }
    if length not in usable:
        expected = " or ".join(map(str, sorted(usable)))
        raise InputError(
            "LR2009",
            f"found length {length} for {spelled}; expected {expected}",
            where,
            REMAKE_CONTROL,
        )


def _header_field(
    standard: Field | None, spelled: str, start: int, length: int, kind: str
) -> Field:
    if standard is not None:
        return Field(standard.name, start, length, standard.kind)
    return Field(
        spelled,
        start,
        length,
        FieldKind.TEXT
        if kind == "CHAR"
        else FieldKind.UNSIGNED
        if length <= 8
        else FieldKind.BYTES,
    )
