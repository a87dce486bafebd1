"""The control file: what it says, in any framing, and what it must not lack. Headers of older
releases are read by their description."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.decoding.layout import Field, FieldKind, Layout
from replay.errors import InputError
from replay.logs.logmaster.control import ControlFile, read_control
from replay.logs.logmaster.control_catalog import column_warnings
from replay.logs.logmaster.framing import Framing
from replay.logs.logmaster.layouts import DFDS, DIXI, DLCI, DLGE, DTBI, LLDF, XHDF, XTYP
from replay.logs.logmaster.opening import open_log
from sqlgen.schema import SqlType
from tests.support.logbuilder import (
    ACCT,
    OLD_HEADER,
    Col,
    LogBuilder,
    Tab,
    acct,
    frame,
    generation,
    lrsn,
    rba,
    statements,
)
from tests.support.words import of_log_master

Records = list[bytes]


def read(records: Records, framing: str = "rdw") -> ControlFile:
    return read_control(frame(records, framing), "x.ctl", None, {})


def tag(record: bytes) -> str:
    return record[:4].decode("cp037")


def put(record: bytes, table: Layout, field: str, value: bytes | str) -> bytes:
    entry = table.names[field]
    raw = value.encode("cp037") if isinstance(value, str) else value
    assert len(raw) == entry.length
    return record[: entry.offset] + raw + record[entry.end :]


def fails(
    records: Records, code: str, says: str, number: int | None = None, field: str | None = None
) -> InputError:
    with pytest.raises(InputError) as raised:
        read(records)
    error = raised.value
    assert error.code == code
    assert says in error.message, error.message
    assert error.where.file == "x.ctl"
    assert error.hint
    if number is not None:
        place = sum(len(record) + 4 for record in records[: number - 1]) + 4
        start = error.where.offset
        assert start is not None
        assert (error.where.record, place <= start < place + len(records[number - 1])) == (
            number,
            True,
        )
    assert error.where.field == field
    return error


# -- what it says
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("framing", ["rdw", "bdw", "ftp", "none"])
def test_the_same_in_every_framing(framing: str) -> None:
    control = read(LogBuilder().control_records(), framing)
    assert control.framing is Framing(framing)
    assert dict(control.counts) == {"XTYP": 1, "DLDS": 1, "DTBI": 1, "DLCI": 6, "DLGE": 1}
    assert control.unknown == {}
    assert control.system_id == "DB2P".encode("cp037")
    assert control.dependent_position is None
    (table,) = control.catalog.versions
    assert (table.name, table.dbid, table.psid, table.obid, table.table.key) == (
        "TESTOWN.ACCT",
        0x0105,
        2,
        3,
        ("ID",),
    )
    assert [(column.name, column.type, column.nullable) for column in table.table.columns] == [
        ("ID", SqlType.INTEGER, False), ("BAL", SqlType.DECIMAL, True),
        ("OPEN_DT", SqlType.DATE, False),
        ("NAME", SqlType.VARCHAR, True), ("RATE", SqlType.DOUBLE, False),
        ("UPD", SqlType.TIMESTAMP, False),
    ]  # fmt: skip


@pytest.mark.parametrize("framing", ["rdw", "bdw", "ftp"])
def test_unknown_records_are_kept_and_counted(framing: str) -> None:
    records = LogBuilder().control_records()
    strange = ["DTSI" + "X" * 50, "DCLI", "QQQQ something", "QQQQ"]
    for place, text in enumerate(strange):
        records.insert(2 + place * 2, text.encode("cp037"))
    control = read(records, framing)
    assert control.unknown == {"DTSI": 1, "DCLI": 1, "QQQQ": 2}
    assert control.counts["QQQQ"] == 2
    assert control.catalog == read(LogBuilder().control_records()).catalog


def test_records_may_be_longer_or_shorter_than_the_pages() -> None:
    """DTBI of 704 bytes (without XMLINCLUDED, as its page's total says), and fields appended by a
    newer release."""
    plain = LogBuilder().control_records()
    short = [record[:-1] if tag(record) == "DTBI" else record for record in plain]
    long = [
        record + b"\xab\xcd" if tag(record) in ("DTBI", "DLCI", "XTYP") else record
        for record in plain
    ]
    expected = read(plain).catalog
    assert read(short).catalog == expected
    assert read(short, "none").catalog == expected
    assert read(long).catalog == expected


@pytest.mark.parametrize("seed", range(6))
def test_many_tables_are_read_as_each_is(seed: int) -> None:
    rng = random.Random(seed)
    columns = [Col("ID", "INT", 4, key=1), Col("A", "CHAR", 9), Col("B", "VCHR", 20, nulls="Y")]
    tables = [
        Tab(f"T{number}", tuple(rng.sample(columns, rng.randint(1, 3))), obid=number + 2)
        for number in range(90)
    ]
    records = LogBuilder(tuple(tables)).control_records()
    if seed % 2:  # columns lie among those of other tables
        head, tail = records[:2], records[2:]
        rng.shuffle(tail)
        records = head + tail
    if seed >= 4:  # a later release appends fields to some
        records = [
            record + b"\0" * 5 if tag(record) == "DLCI" and not number % 7 else record
            for number, record in enumerate(records)
        ]
    found = read(records).catalog.versions
    assert len(found) == len(tables)
    for table in found:
        (alone,) = read(LogBuilder((tables[table.obid - 2],)).control_records()).catalog.versions
        assert replace(table, index=0) == alone


@pytest.mark.parametrize("field", ["DBID", "TBOBID", "LLCOLUMNLEN", "SEQUENCENUMBER"])
@pytest.mark.parametrize("kind", ["DLCI", "DTBI"])
def test_one_damaged_number_among_many_tables(kind: str, field: str) -> None:
    field = "LLNUMCOL" if (kind, field) == ("DTBI", "LLCOLUMNLEN") else field
    tables = tuple(
        Tab(f"T{number}", (Col("ID", "INT", 4, key=1),), obid=number + 2) for number in range(90)
    )
    records = LogBuilder(tables).control_records()
    number = [place for place, record in enumerate(records) if tag(record) == kind][70]
    of_kind = {"DLCI": DLCI, "DTBI": DTBI}[kind]
    size = of_kind.names[field].length
    records[number] = put(records[number], of_kind, field, "?" * size)
    fails(records, "LR2009", "expected", number + 1, field)


def test_filters_indexes_and_dependent_position() -> None:
    records = LogBuilder().control_records()[:-1]
    records.append(DFDS.build(CNTLRECORDTYPE="DFDS", FILTERID="0001", DESCRIPTION="all of it"))
    records.append(
        DIXI.build(
            CNTLRECORDTYPE="DIXI",
            SYSID="DB2P",
            DBID=0x105,
            PSID=9,
            TBOBID=3,
            SEQUENCENUMBER=1,
            IXCREATOR="TESTOWN",
            IXNAME="X1",
        )
    )
    records.append(DLGE.build(CNTLRECORDTYPE="DLGE", DEPENDENTRBA=lrsn(5)))
    control = read(records)
    assert control.filters == ("all of it",)
    assert control.catalog.versions[0].indexes == ("TESTOWN.X1",)
    assert control.dependent_position == lrsn(5)


@pytest.mark.parametrize(
    "none", [bytes(10), b"\xff" * 10, b"\0" + b"\xff" * 6 + bytes(3), bytes(4) + b"\xff" * 6]
)
def test_every_form_of_no_dependent_position(none: bytes) -> None:
    records = LogBuilder().control_records()[:-1] + [
        DLGE.build(CNTLRECORDTYPE="DLGE", DEPENDENTRBA=none)
    ]
    assert read(records).dependent_position is None


# -- names
# -------------------------------------------------------------------------------------------------


def test_untranslatable_names_come_from_their_unicode_original(tmp_path: Path) -> None:
    table = replace(
        ACCT,
        more=(
            ("TABLENAME", b"\x3f\x3f".ljust(128, b"\x40")), ("UNTRANNAMEFLAG", "Y"),
            ("UNITABLENAMELEN", len("賬戶Ω".encode())),
            ("UNITABLENAME", "賬戶Ω".encode().ljust(128, b" ")),
            ("TABLEOWNER", b"\x3f".ljust(128, b"\x40")), ("UNTRANOWNERFLAG", "Y"),
            ("UNITABLEOWNERLEN", len("ЖÉ".encode())),
            ("UNITABLEOWNER", "ЖÉ".encode().ljust(128, b"\0")),
        ),
    )  # fmt: skip
    log = LogBuilder((table,))
    log.unit().delete(table, acct(7))
    assert read(log.control_records()).catalog.versions[0].name == "ЖÉ.賬戶Ω"
    assert statements(log.script(tmp_path)) == ['DELETE FROM "жé"."賬戶ω" WHERE id = 7;']


def test_a_unicode_name_without_its_flag_is_not_taken() -> None:
    table = replace(ACCT, more=(("UNITABLENAMELEN", 3), ("UNITABLENAME", b"XYZ".ljust(128))))
    assert read(LogBuilder((table,)).control_records()).catalog.versions[0].name == "TESTOWN.ACCT"


def test_long_names(tmp_path: Path) -> None:
    table = replace(
        ACCT,
        name="A_VERY_LONG_TABLE_NAME_OF_A_NEWER_RELEASE",
        owner="LONGOWNERNAME",
        more=(("SHORTNAME", "A_VERY_LONG_T#0001"),),
    )
    log = LogBuilder((table,))
    log.unit().delete(table, acct(7), TABLENAME="A_VERY_LONG_T#0001")
    assert statements(log.script(tmp_path)) == [
        "DELETE FROM longownername.a_very_long_table_name_of_a_newer_release WHERE id = 7;"
    ]


# -- what it must not lack
# -------------------------------------------------------------------------------------------------


def test_missing_records() -> None:
    records = LogBuilder().control_records()
    fails(records[1:], "LR2008", "found a DLDS record; expected the XTYP record first", 1)
    with pytest.raises(InputError, match="LR2008 x.ctl, record 1, .* found a DLDS record"):
        read_control(frame(records[1:], "rdw"), "x.ctl", Framing.RDW, {})
    fails([record for record in records if tag(record) != "DTBI"], "LR2008", "found no DTBI record")
    fails(
        [record for record in records if tag(record) != "DLCI"],
        "LR2008",
        "found 0 DLCI records; expected 6 (LLNUMCOL)",
        3,
    )
    for number in range(6):
        place = 3 + number
        fails(
            records[:place] + records[place + 1 :],
            "LR2008",
            "found 5 DLCI records; expected 6 (LLNUMCOL)",
            3,
        )
    two = LogBuilder((ACCT, replace(ACCT, name="B", obid=4))).control_records()
    fails(two[:9] + two[10:], "LR2008", "1 table generation without a DTBI record", 10)


@pytest.mark.parametrize("number", [5, 7, 0, 999])
def test_wrong_number_of_columns(number: int) -> None:
    records = LogBuilder().control_records()
    records[2] = put(records[2], DTBI, "LLNUMCOL", f"{number:03d}")
    fails(records, "LR2008", f"found 6 DLCI records; expected {number} (LLNUMCOL)", 3)


@pytest.mark.parametrize(
    ("place", "table", "field", "value", "says"),
    [
        (3, DTBI, "DBID", "01G5", "found X'F0F1C7F5'; expected a hexadecimal number in EBCDIC"),
        (3, DTBI, "PSID", b"\0\2\0\2", "found X'00020002'"),
        (3, DTBI, "TBOBID", "    ", "found X'40404040'"),
        (4, DLCI, "DBID", b"0105", "found X'30313035'"),
        (4, DLCI, "TBOBID", "XXXX", "found X'E7E7E7E7'"),
        (3, DTBI, "SEQUENCENUMBER", "0 1", "expected a decimal number in EBCDIC"),
        (5, DLCI, "LLSCALE", "0?", "expected a decimal number in EBCDIC"),
        (5, DLCI, "LLSCALE", "  ", "found no number"),
        (4, DLCI, "KEYSEQ", "\x010X", "expected a decimal number in EBCDIC"),
        (4, DLCI, "LLCOLUMNNUM", "   ", "found no number"),
        (4, DLCI, "LLCOLUMNLEN", "0000Q", "expected a decimal number in EBCDIC"),
        (5, DLCI, "LLCOLUMNPOS", "-?   ", "expected a decimal number in EBCDIC"),
        # a name ends where its length says
        (3, DTBI, "TABLEOWNERLEN", "004", "expected blanks after the TABLEOWNER of"),
        (3, DTBI, "TABLENAMELEN", "001", "expected blanks after the TABLENAME of"),
        (4, DLCI, "COLUMNNAMELEN", "001", "expected blanks after the COLUMNNAME of"),
    ],
)
def test_numbers_that_are_none(
    place: int, table: Layout, field: str, value: bytes | str, says: str
) -> None:
    """A number that cannot be read must never pass for zero: a scale of 0 would multiply amounts, a
    KEYSEQ of 0 would lose a key column."""
    records = LogBuilder().control_records()
    records[place - 1] = put(records[place - 1], table, field, value)
    fails(records, "LR2009", says, place, field)


@pytest.mark.parametrize(
    ("place", "table", "field", "value", "says", "named"),
    [
        (3, DTBI, "ENCODINGSCHEME", "X", "found ENCODINGSCHEME 'X'; expected A, E or U", None),
        (
            4,
            DLCI,
            "LLCOLUMNLEN",
            "00003",
            "found length 3 for column ID; expected 2 or 4 or 8",
            "LLCOLUMNLEN",
        ),
        (
            8,
            DLCI,
            "LLCOLUMNLEN",
            "00005",
            "found length 5 for column RATE; expected 4 or 8",
            "LLCOLUMNLEN",
        ),
        (5, DLCI, "LLCOLUMNNUM", "001", "two columns of the same name or number", None),
        (5, DLCI, "COLUMNNAME", "ID".ljust(128), "two columns of the same name or number", None),
    ],
)
def test_columns_that_contradict(
    place: int, table: Layout, field: str, value: str, says: str, named: str | None
) -> None:
    records = LogBuilder().control_records()
    records[place - 1] = put(records[place - 1], table, field, value)
    if value.startswith("ID"):
        records[place - 1] = put(records[place - 1], DLCI, "COLUMNNAMELEN", "002")
    fails(records, "LR2009", says, None, named)


def test_other_product() -> None:
    records = LogBuilder().control_records()
    records[0] = records[0][:4] + "IMS ".encode("cp037") + records[0][8:]
    fails(records, "LR2009", "found 'IMS'; expected 'DB2'", 1, "CNTLFILETYPE")


def test_truncated_control_files() -> None:
    raw = frame(LogBuilder().control_records(), "rdw")
    with pytest.raises(InputError, match=r"LR2006 x.ctl, record 10"):
        read_control(raw[:-5], "x.ctl", None, {})
    bare = frame(LogBuilder().control_records(), "none")
    with pytest.raises(InputError, match=r"LR2006 x.ctl, record 10.*expected record DLGE"):
        read_control(bare[:-5], "x.ctl", None, {})


def bare_ending_with_tables(lengths: tuple[int, ...]) -> bytes:
    """A control file without descriptor words whose last records are those of tables, so long."""
    records = LogBuilder((ACCT, replace(ACCT, name="OTHER", obid=9))).control_records()
    tables = [record for record in records if record[:4] == "DTBI".encode("cp037")]
    others = [record for record in records if record not in tables]
    cut = [table[:length] for table, length in zip(tables, lengths, strict=True)]
    return frame([*others, *cut], "none")


@pytest.mark.parametrize("lengths", [(703, 703), (704, 704), (705, 705)])
def test_shorter_records_of_tables_without_descriptor_words(lengths: tuple[int, ...]) -> None:
    """The page ends DTBI at 703, 704 and 705 bytes (4.6); the last one ends with the file."""
    found = read_control(bare_ending_with_tables(lengths), "x.ctl", None, {})
    assert [version.name for version in found.catalog.versions] == ["TESTOWN.ACCT", "TESTOWN.OTHER"]
    assert found.counts["DTBI"] == 2


@pytest.mark.parametrize("lengths", [(705, 703), (705, 704), (704, 703), (703, 702)])
def test_the_last_record_of_a_table_is_as_long_as_the_others(lengths: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"LR2006.*expected record DTBI to go on to"):
        read_control(bare_ending_with_tables(lengths), "x.ctl", None, {})


# -- described headers
# -------------------------------------------------------------------------------------------------


def described(base: int = 0) -> Records:
    return LogBuilder(base=base).control_records()


@pytest.mark.parametrize("base", [0, 1])
def test_positions_count_from_zero_or_one_in_any_order(base: int) -> None:
    records = described(base)
    head, places = (
        records[:2],
        [place for place, record in enumerate(records) if tag(record) == "XHDF"],
    )
    shuffled = [records[place] for place in places]
    random.Random(3).shuffle(shuffled)
    control = read([*head, *shuffled, *records[places[-1] + 1 :]])
    assert control.header_described
    assert control.header.fields == LLDF.fields


def test_names_with_and_without_blanks() -> None:
    records = [
        put(r, XHDF, "HEADFIELDNAME", "CHANGETYPE".ljust(18)) if b"\xc7\xc5\x40\xe3\xe8" in r else r
        for r in described()
    ]
    assert records != described()
    assert read(records).header.fields == LLDF.fields


def xhdf(records: Records, name: str) -> int:
    return next(
        n
        for n, r in enumerate(records)
        if tag(r) == "XHDF" and XHDF.read(r)["HEADFIELDNAME"] == name
    )


@pytest.mark.parametrize(
    "name", ["LENGTH", "LOGRBA", "UORCOMMITLRSN", "CHANGE TYPE", "SEGNUM", "UORID"]
)
def test_needed_fields(name: str) -> None:
    records = described()
    del records[xhdf(records, name)]
    fails(records, "LR2008", f"found no XHDF record for {name.replace(' ', '')}")


def test_fields_that_are_not_needed_may_lack(tmp_path: Path) -> None:
    wanted = (
        "LENGTH SYSTEMID DBID PSID TBOBID LOGLRSN LOGRBA MEMBERID SQLTYPE LOGRECDISP SQLSRCTYPE"
        " UORCOMMITTIMESTAMP UORDISP UORIDLRSN UORID TOTALSEGS SEGNUM UORCOMMITLRSN UORCOMMITPOINT"
    ).split() + ["CHANGE TYPE"]
    fields, place = [], 0
    for entry in LLDF.fields:
        if entry.name in wanted:
            fields.append(replace(entry, offset=place))
            place += entry.length
    log = LogBuilder(header=Layout("LLDF", "least", place, tuple(fields)), base=0)
    log.unit().delete(ACCT, acct(7))
    bundle = log.script(tmp_path)
    assert statements(bundle) == ["DELETE FROM testown.acct WHERE id = 7;"]
    assert bundle.exit_code == 0


def test_descriptions_that_contradict() -> None:
    for name, field, value, says in (
        (
            "LOGRBA",
            "HEADFIELDPOS",
            "00080",
            "found LOGRBA at 80, inside the field before it; expected 87 or more",
        ),
        ("LOGRBA", "HEADFIELDPOS", "     ", "found no length or position for LOGRBA"),
        ("LOGRBA", "HEADFIELDLEN", "00000", "found no length or position for LOGRBA"),
    ):
        records = described()
        number = xhdf(records, name)
        records[number] = put(records[number], XHDF, field, value)
        fails(records, "LR2009", says, None, "HEADFIELDPOS")
    records = described()
    again = put(records[xhdf(records, "LOGRBA")], XHDF, "HEADFIELDPOS", "00300")
    fails(
        [*records, again],
        "LR2009",
        "found a second XHDF record for LOGRBA",
        len(records) + 1,
        "HEADFIELDNAME",
    )


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("LOGLRSN", 8),
        ("UORID", 4),
        ("UORCOMMITTIMESTAMP", 16),
        ("MEMBERID", 1),
        ("CHANGE TYPE", 1),
        ("LENGTH", 1),
        ("UORDISP", 0),
    ],
)
def test_lengths_that_a_field_cannot_have(name: str, length: int) -> None:
    records = described()
    number = xhdf(records, name)
    records[number] = put(records[number], XHDF, "HEADFIELDLEN", f"{length:05d}")
    error = "HEADFIELDLEN" if length else "HEADFIELDPOS"
    says = (
        f"found length {length} for {name.replace(' ', '')}; expected"
        if length
        else "found no length"
    )
    fails(records, "LR2009", says, number + 1, error)


def test_an_older_header_without_its_description(tmp_path: Path) -> None:
    log = LogBuilder(header=OLD_HEADER)
    log.unit().insert(ACCT, acct(1))
    with pytest.raises(
        InputError,
        match=r"LR2010.*found header length 212; expected 288 or more.*needs the XHDF records",
    ):
        log.script(tmp_path)


def test_a_record_that_stands_nowhere_takes_its_unit_with_it(tmp_path: Path) -> None:
    """Nothing says which change of its unit came first."""
    log = LogBuilder()
    log.unit().insert(ACCT, acct(1))
    lost = log.unit()
    lost.insert(ACCT, acct(2))
    lost.insert(ACCT, acct(3), LOGRBA=bytes(10))
    log.unit().insert(ACCT, acct(4))
    bundle = log.script(tmp_path)
    assert bundle.exit_code == 8
    assert [line.split("VALUES (")[1][:1] for line in statements(bundle)] == ["1", "4"]
    (shown,) = bundle.manifest["findings"]["shown"]
    assert "field LOGRBA" in shown
    assert "found X'00000000000000000000'; expected the RBA of the change" in shown


def test_a_committed_record_of_an_aborted_unit_is_damage(tmp_path: Path) -> None:
    """One of both flags is wrong: were it the unit's, half a unit would be written."""
    log = LogBuilder()
    unit = log.unit()
    unit.insert(ACCT, acct(1))
    unit.insert(ACCT, acct(2), UORDISP="A")
    log.unit().insert(ACCT, acct(3))
    for mode in ("redo", "undo"):
        bundle = log.script(tmp_path, mode)
        assert bundle.exit_code == 8
        assert len(statements(bundle)) == 1
        assert len(bundle.manifest["quarantined_units"]) == 1
        assert "A, S or O in an aborted unit of recovery" in str(
            bundle.manifest["findings"]["shown"]
        )


def test_what_is_no_change_of_a_table_needs_no_unit(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit().insert(ACCT, acct(1))
    blank = {
        "UORDISP": " ",
        "LOGRECDISP": " ",
        "SQLTYPE": " ",
        "UORCOMMITTIMESTAMP": "",
        "LOGRBA": bytes(10),
        "LOGLRSN": bytes(10),
    }
    for code in ("CO", "CM", "SC"):
        log.unit(
            UORID=bytes(10), UORIDLRSN=bytes(10), UORCOMMITLRSN=bytes(10), UORCOMMITPOINT=bytes(10)
        ).event(ACCT, code, **blank)
    bundle = log.script(tmp_path)
    assert (bundle.exit_code, len(statements(bundle))) == (0, 1)
    assert sum(bundle.manifest["balance"]["skipped"].values()) == 3


def test_columns_that_the_log_lacks_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = replace(ACCT, more=(("DB2NUMCOL", len(ACCT.columns) + 2),))
    log = LogBuilder((table,))
    log.unit().insert(table, acct(1))
    control, data = log.write(tmp_path)
    assert (
        main(
            [
                "redo",
                *of_log_master(control, data[0]),
                "--engine",
                "local",
                "--out",
                str(tmp_path / "out"),
            ]
        )
        == 4
    )
    assert (
        "TESTOWN.ACCT: the log lacks 2 of its columns: undo does not bring their values back"
        in capsys.readouterr().err
    )
    assert main(["inspect", "--control", str(control), "--data", str(data[0])]) == 4
    assert "the log lacks 2 columns of the table" in capsys.readouterr().out


def test_order_value(tmp_path: Path) -> None:
    """A header that names ORDERVALUE is ordered by it, whatever LOGRBA says, and however the
    records are cut into batches."""
    fields = tuple(
        (
            replace(entry, name="ORDERVALUE", kind=LLDF.names["LOGBYTES"].kind)
            if entry.offset == 188
            else entry
        )
        for entry in LLDF.fields
    )
    log = LogBuilder(header=replace(LLDF, fields=fields), base=0)
    unit = log.unit()
    changes = [unit.delete(ACCT, acct(number)) for number in range(5)]
    for change, value in zip(changes, (4, 0, 3, 1, 2), strict=True):
        change.fields["ORDERVALUE"] = value
    expected = [f"DELETE FROM testown.acct WHERE id = {number};" for number in (1, 3, 4, 2, 0)]
    assert statements(log.script(tmp_path)) == expected
    assert statements(log.script(tmp_path, files=5)) == expected
    for change in changes:
        change.fields["ORDERVALUE"] = 0
    assert statements(log.script(tmp_path, seed=3)) == [
        f"DELETE FROM testown.acct WHERE id = {number};" for number in range(5)
    ]


# -- generations
# -------------------------------------------------------------------------------------------------

WIDER = Tab("ACCT", (*ACCT.columns[:4], Col("CITY", "CHAR", 6, subtype="S"), *ACCT.columns[4:]))


def two_generations(
    position: Callable[[int], bytes], reverse: bool = False, dropped: bool = True
) -> tuple[Tab, Tab]:
    first = generation(
        ACCT, 1, created=position(0), dropped=position(500) if dropped else bytes(10)
    )
    return first, generation(WIDER, 2, created=position(500))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dropped", [True, False])
@pytest.mark.parametrize("sharing", [True, False])
def test_generations(tmp_path: Path, sharing: bool, dropped: bool, reverse: bool) -> None:
    """LRSNs choose in data sharing, RBAs without it; the order of the control records does not
    matter."""
    first, second = two_generations(lrsn if sharing else rba, dropped=dropped)
    log = LogBuilder((second, first) if reverse else (first, second), sharing=sharing)
    unit = log.unit(start=16)
    unit.insert(first, acct(1))
    log.clock = 600
    unit.insert(second, (2, None, "2024-03-15", None, "BERNER", 1.0, "2024-03-15 10:20:30.000001"))
    bundle = log.script(tmp_path)
    assert bundle.exit_code == 4  # the log has several generations of a table
    assert statements(bundle) == [
        (
            "INSERT INTO testown.acct (id, bal, open_dt, name, rate, upd) VALUES (1, -123.45,"
            " '2024-03-15', 'ABCDE', '1', '2024-03-15 10:20:30.123456');"
        ),
        (
            "INSERT INTO testown.acct (id, bal, open_dt, name, city, rate, upd) "
            "VALUES (2, NULL, '2024-03-15', NULL, 'BERNER', '1', '2024-03-15 10:20:30.000001');"
        ),
    ]


def test_a_record_between_generations_belongs_to_no_table(tmp_path: Path) -> None:
    first = generation(ACCT, 1, created=lrsn(0), dropped=lrsn(100))
    second = generation(WIDER, 2, created=lrsn(5000))
    log = LogBuilder((first, second))
    log.unit(start=1).insert(first, acct(1))
    log.clock = 2000
    log.unit().insert(first, acct(2))
    bundle = log.script(tmp_path)
    assert len(statements(bundle)) == 1
    assert bundle.exit_code == 8
    assert "LR2011" in bundle.manifest["findings"]["shown"][0]


def test_generations_that_cannot_be_told_apart() -> None:
    records = LogBuilder((ACCT, generation(WIDER, 2))).control_records()
    number = [place for place, record in enumerate(records, 1) if tag(record) == "DTBI"][1]
    fails(
        records,
        "LR2009",
        "found generations 1 and 2 of a table with the same CREATERBA",
        number,
        "CREATERBA",
    )
    assert (
        len(read(LogBuilder((ACCT, generation(ACCT, 2))).control_records()).catalog.versions) == 2
    ), "of the same columns it does not matter"


@pytest.mark.parametrize(
    ("code", "length", "scale", "nulls", "field", "says"),
    [
        ("DEC", 0, 0, "N", "LLCOLUMNLEN", "found 0 for column C; expected 1 to 16 bytes"),
        ("DEC", 17, 0, "N", "LLCOLUMNLEN", "found 17 for column C; expected 1 to 16 bytes"),
        (
            "DEC",
            3,
            6,
            "N",
            "LLSCALE",
            "found 6 for column C; expected 0 to 5, the digits of 3 bytes",
        ),
        ("DATE", 8, 0, "N", "LLCOLUMNLEN", "found 8 for column C; expected 10"),
        ("TIME", 10, 0, "N", "LLCOLUMNLEN", "found 10 for column C; expected 8"),
        ("DTTM", 20, 0, "N", "LLCOLUMNLEN", "found 20 for column C; expected 19, or 21 to 32"),
        ("DTTM", 33, 0, "N", "LLCOLUMNLEN", "found 33 for column C; expected 19, or 21 to 32"),
        ("DTTZ", 26, 0, "N", "LLCOLUMNLEN", "found 26 for column C; expected 25, or 27 to 38"),
        ("CHAR", 5, 0, "X", "LLNULLS", "found 'X' for column C; expected Y, N or L"),
    ],
)
def test_columns_that_cannot_be(
    code: str, length: int, scale: int, nulls: str, field: str, says: str
) -> None:
    table = Tab("T", (Col("C", code, length, scale=scale, nulls=nulls),))
    fails(LogBuilder((table,)).control_records(), "LR2009", says, 4, field)


@pytest.mark.parametrize("text", ["1_0", "+ 1", "--1", "\u0661", "0x1", "1e1", "1.0"])
def test_what_is_no_number_of_digits(text: str) -> None:
    entry = Field("N", 0, 6, FieldKind.NUMBER)
    assert entry.value(text.encode("cp037", "replace").ljust(6, b"\x40")) is None
    assert entry.value("  +12 ".encode("cp037")) == 12
    assert entry.value("-1    ".encode("cp037")) == -1


@pytest.mark.parametrize(
    ("field", "old", "new"),
    [
        ("DEPENDENTRBA", "CA670FBBF3D3", "00CA670FBBF3D3000000"),
        ("DEPENDENTRBA", "FFFFFFFFFFFF", None),
        ("ENDRBA", "CA670FBBF3D3", "00CA670FBBF3D3000000"),
        ("DEPENDENTRBA", "123456789ABC", "00000000123456789ABC"),
        ("ENDRBA", "123456789ABC", "00000000123456789ABC"),
    ],
)
def test_positions_of_the_end_as_text(field: str, old: str, new: str | None) -> None:
    records = LogBuilder().control_records()
    place = DLGE.names[field].offset
    records[-1] = records[-1][:place] + old.encode("cp037") + records[-1][place + 12 :]
    control = read(records)
    found = control.end["ENDRBA"] if field == "ENDRBA" else control.dependent_position
    assert (None if found is None else found.hex().upper()) == new


def of_a_column(code: str, subtype: str, mixed: str = "Y") -> Records:
    """The control file of a table with one column, on a system that has mixed data."""
    table = Tab("T", (Col("C", code, 10, subtype=subtype),))
    records = LogBuilder(tables=[table]).control_records()
    records[0] = put(records[0], XTYP, "MIXED", mixed)
    records[0] = put(records[0], XTYP, "EBCDICSINGLECCSID", "01027")
    records[0] = put(records[0], XTYP, "EBCDICMIXEDCCSID", "00939")
    return records


@pytest.mark.parametrize("code", ["CHAR", "VCHR", "LVCH"])
def test_text_that_does_not_say_what_it_is(code: str) -> None:
    """Text of one byte is the same as mixed data, and mixed data are nothing else. ``--ccsid``
    names the page that counts."""

    def page(subtype: str, mixed: str, named: dict[str, int]) -> int | None:
        raw = frame(of_a_column(code, subtype, mixed), "rdw")
        (version,) = read_control(raw, "x.ctl", None, named).catalog.versions
        return version.format.columns[0].ccsid

    assert [page(subtype, "Y", {}) for subtype in " MSB"] == [939, 939, 1027, None]
    assert page(" ", "N", {}) == 1027
    assert page(" ", "Y", {"E": 37}) == 37


def test_long_columns_may_hold_bits() -> None:
    (version,) = read(of_a_column("LVCH", " ")).catalog.versions
    assert any("FOR BIT DATA" in text for text in column_warnings(version))
    (version,) = read(of_a_column("VCHR", " ")).catalog.versions
    assert not list(column_warnings(version))


def test_a_subtype_that_is_not_described() -> None:
    says = "found 'X' for column C; expected B, S, M or I"
    fails(of_a_column("VCHR", "X"), "LR2009", says, field="LLCOLUMNSUBTYPE")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("CA670FBBF3D3", "00CA670FBBF3D3000000"),
        ("0123456789AB", "000000000123456789AB"),
        ("000000000000", "00" * 10),
        ("FFFFFFFFFFFF", "FF" * 10),
    ],
)
def test_begin_and_end_of_a_generation_as_text(old: str, new: str) -> None:
    """An LRSN is a reading of a clock, which an RBA without data sharing cannot be taken for."""
    builder = LogBuilder()
    builder.unit().insert(ACCT, acct(1))
    records = builder.control_records()
    number = next(n for n, raw in enumerate(records) if raw.startswith("DTBI".encode("cp037")))
    for name in ("CREATERBA", "DROPRBA"):
        place = DTBI.names[name].offset
        raw = records[number]
        records[number] = raw[:place] + old.encode("cp037") + raw[place + 12 :]
    (version,) = read(records).catalog.versions
    assert version.created.hex().upper() == version.dropped.hex().upper() == new


def test_the_named_framing_is_held_to_what_the_file_shows(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit().insert(ACCT, acct(1))
    control, data = log.write(tmp_path)
    assert len(list(open_log(control, data, framed=Framing.RDW).splits(1 << 20))) == 1
    with pytest.raises(
        InputError, match="LR2004 .*found framing rdw; expected bdw, as --framing says"
    ):
        open_log(control, data, framed=Framing.BDW)
    with pytest.raises(InputError, match="LR2007 .*swapped"):
        open_log(data[0], [control], framed=Framing.RDW)
    other = LogBuilder(system="DBXX")
    other.unit().insert(ACCT, acct(1))
    with pytest.raises(InputError, match="LR2007 .*DBXX"):
        open_log(control, other.write(tmp_path, name="o")[1], framed=Framing.RDW)


@pytest.mark.parametrize("damage", ["cut", "flip", "checksum"])
def test_damaged_gzip_files(tmp_path: Path, damage: str) -> None:
    log = LogBuilder()
    for number in range(200):
        log.unit().insert(ACCT, acct(number))
    control, data = log.write(tmp_path)
    for path, code in ((control, "LR2001"), (data[0], "LR2006")):
        packed = bytearray(gzip.compress(path.read_bytes()))
        if damage == "cut":
            del packed[len(packed) // 2 :]
        else:
            packed[len(packed) // 2 if damage == "flip" else -6] ^= 0xFF
        bad = tmp_path / f"{path.name}.gz"
        bad.write_bytes(packed)
        with pytest.raises(InputError, match=code):
            open_log(
                bad if path is control else control,
                data if path is control else [bad],
                scratch=tmp_path,
            )
