"""Worked examples of the format notes on SYS_LOG, bytes as they stand there, and every value that
is called for, under every framing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from replay.errors import InputError
from replay.logs import Inputs
from replay.logs.soliddb import ddl, layouts
from replay.logs.soliddb.layouts import Ddl
from replay.logs.soliddb.reader import SolidLog, open_log
from sqlgen.soliddb.table_shape import Alter, DeclaredColumn, alter
from tests.support.few import few
from tests.support.scripted import opened_solid, script
from tests.support.solidbuilder import (
    CUSTOMER,
    Col,
    Framing,
    LogBuilder,
    Tab,
    write_catalog,
    write_rows,
)
from tests.support.words import of_family

LEN32 = (
    "00000004000003E9000000034164610000000600C5007300610000000531322E35300000000B87E8"
    "021D0D0509075BCA000000000800000001A13B8600FFFFFFFF"
)
LEN32_VIP = (
    "00000004000003E9000000034164610000000600C500730061000000052D302E37350000000B87E8021D0D05"
    "09075BCA000000000800000001A13B8600"
    "00000003766970"
)


DDL_CREATE = "0000002D0000001153484F502E4442412E435553544F4D4552"
DDL_ALTER = "0000001600000008435553544F4D4552"
SQL_ALTER = (
    "414C544552205441424C4520435553544F4D45522041444420434F4C554D4E205449455220534D414C4C494E54"
)
PROFILES = [
    Framing(profile, count, nul or profile in ("len32z", "va"))
    for profile in ("len32", "len32z", "va", "ind0", "ind1", "ind0p", "len16", "len32le")
    for count in (0, 2, 4)
    for nul in (False, True)
    if nul or profile not in ("len32z", "va")
]
#: A table with a column of every type, rows with every value that is called for, and their text
#: where it is not that of the value.
EVERYTHING = Tab(
    10020, "DBA", "EVERYTHING",
    (
        Col("ID", "INTEGER", null=False), Col("T", "TINYINT"), Col("S", "SMALLINT"),
        Col("B", "BIGINT"), Col("R", "REAL"), Col("F", "FLOAT"),
        Col("D", "DOUBLE PRECISION"), Col("N", "DECIMAL", 20, 4), Col("FREE", "DECIMAL"),
        Col("C", "CHAR", 10), Col("V", "VARCHAR", 300),
        Col("L", "LONG VARCHAR"), Col("WC", "WCHAR", 10), Col("WV", "WVARCHAR", 300),
        Col("X", "VARBINARY", 300), Col("LX", "LONG VARBINARY"),
        Col("DT", "DATE"), Col("TM", "TIME"), Col("TS", "TIMESTAMP"),
    ),
    key=("ID",),
)  # fmt: skip
VALUES: list[tuple[Any, ...]] = [
    (1, *(None,) * 18),
    (2, -128, -32768, -(2**63), 0.5, -0.75, 1e300, "12.", "-.5", "A", "v" * 253, "", "W", "Ä", b"",
        b"\0", "0001-01-01", "00:00:00",
     "0001-01-01 00:00:00"),
    (3, 127, 32767, 2**63 - 1, -0.25, 0.1, 0.1, "-0.0", "1e0"[:1], "", "w" * 254, "x" * 60_000, "",
        "", b"\0\0", b"\1" * 255, "1999-12-31",
     "23:59:59", "9999-12-31 23:59:59.999999999"),
    (4, 0, 0, 0, 0.0, 0.0, 0.0, "+7.25", "123456789012345678901234567890.5", "Åé€", "u" * 255, " ",
        "😀", "é" * 40, b"ab", b"", "2024-02-29",
     "12:00:00", "2024-02-29 13:05:09.123456"),
]  # fmt: skip


def opened(folder: Path, log: LogBuilder, *tables: Tab, **more: Any) -> SolidLog:
    return opened_solid(folder, log, tables=tables or (CUSTOMER,), **more)


def written(framing: Framing, bias: bool = True) -> LogBuilder:
    log = LogBuilder(framing, bias=bias)
    for values in VALUES:
        unit = log.begin()
        unit.insert(EVERYTHING, values)
        unit.commit()
    return log


def decoded(log: SolidLog) -> list[tuple[Any, ...]]:
    entries = log.entries()[log.entries()["recid"] == 1]
    start = entries["start"].astype("int64")
    found = log.walk(int(entries["version"][0]), log.data(), start, start + entries["size"])
    assert not found.bad.any()
    columns = []
    for number in range(len(found.format.columns)):
        values, bad = found.decode(number)
        assert bad is None, found.explain(number, 0)
        columns.append(values.to_pylist())
    return list(zip(*columns, strict=True))


def whole_transaction(log: LogBuilder) -> None:
    """Section 15.2."""
    for recid, statement, relid, data in (
        (7, 661, None, None), (5, 662, 10012, LEN32), (3, 662, 10012, LEN32_VIP),
        (4, 663, 10012, LEN32_VIP), (12, 661, None, None),
    ):  # fmt: skip
        log.add(recid, 661, statement, relid, 1, bytes.fromhex(data) if data else None)


def test_a_whole_transaction(tmp_path: Path) -> None:
    log = LogBuilder()
    whole_transaction(log)
    found = opened(tmp_path, log, framing="len32")
    where = "WHERE id = 1001;"
    assert script(found, tmp_path)[1] == [
        f"UPDATE dba.customer SET balance = -0.75, note = 'vip' {where}",
        f"DELETE FROM dba.customer {where}",
    ]
    assert script(found, tmp_path, "undo")[1] == [
        (
            "INSERT INTO dba.customer (id, name, wname, balance, created, credit, note) VALUES "
            "(1001, 'Ada', 'Åsa', -0.75, '2024-02-29 13:05:09.123456', 7000000000, 'vip');"
        ),
        f"UPDATE dba.customer SET balance = 12.50, note = NULL {where}",
    ]


@pytest.mark.parametrize("framing", PROFILES, ids=str)
@pytest.mark.parametrize("bias", few([True, False], True))
def test_every_framing_is_found_and_every_value_read(
    tmp_path: Path, framing: Framing, bias: bool
) -> None:
    log = opened(tmp_path, written(framing, bias), EVERYTHING)
    assert (log.shape.framing.lengths.name, log.shape.framing.count, log.shape.framing.nul) == (
        framing.profile,
        framing.count,
        framing.nul,
    )
    rows = decoded(log)
    assert rows[0] == (1, *(None,) * 18)
    assert rows[1] == (
        *VALUES[1][:7],
        "12.0000",
        "-0.5",
        *VALUES[1][9:18],
        "0001-01-01 00:00:00.000000000",
    )
    assert rows[2] == (*VALUES[2][:7], "0.0000", *VALUES[2][8:])
    assert rows[3] == (*VALUES[3][:7], "7.2500", *VALUES[3][8:18], "2024-02-29 13:05:09.123456000")


@pytest.mark.parametrize(
    ("table", "value", "raw"),
    [("INTEGER", -1, "FFFFFFFF"), ("BIGINT", -2, "FFFFFFFFFFFFFFFE"),
        ("DOUBLE PRECISION", -0.75, "BFE8000000000000"),
     ("REAL", pytest.approx(0.1, rel=1e-7), "3FB999999999999A"), ("REAL", 0.5, "3FE0000000000000"),
     ("REAL", 0.5, "3F000000"),
     ("DECIMAL", "12.50", "31322E353000"),
     ("DATE", "1999-12-31", "87CF0C1F00000000000000"),
     ("DATE", "1999-12-31", "07CF0C1F00000000000000"),
     ("TIME", "23:59:00", "80000000173B0000000000")],
)  # fmt: skip
def test_single_values(tmp_path: Path, table: str, value: Any, raw: str) -> None:
    tab = Tab(10030, "DBA", "ONE", (Col("ID", "INTEGER", null=False), Col("V", table)), key=("ID",))
    log = LogBuilder()
    unit = log.begin()
    log.add(
        1,
        unit.id,
        unit.id,
        tab.relid,
        1,
        log.framing.row([b"\0\0\0\1", bytes.fromhex(raw)], [1, 1]),
    )
    unit.commit()
    assert decoded(opened(tmp_path, log, tab, framing="len32")) == [(1, value)]


@pytest.mark.parametrize(
    ("table", "raw", "found"),
    [
        (
            "DATE",
            "7FD50101000000000000000000000000"[:22],
            "a date of the years 1 to 9999 \\(a year beyond may be a negative one\\)",
        ),
        ("TIMESTAMP", "0000000000000000000000", "a date of the years"),
        ("DECIMAL", "232323", "at most 52 decimal digits"),
        ("DECIMAL", "312E32333435", "at most 2 of them after the point"),
        ("REAL", "7FE0000000000000", "single precision"),
        ("DOUBLE PRECISION", "7FF8000000000000", "a number"),
        ("TINYINT", "00000100", "a TINYINT"),
        ("WVARCHAR", "D83D", "characters of the column's character set"),
    ],
)
def test_values_that_cannot_be_are_named(tmp_path: Path, table: str, raw: str, found: str) -> None:
    tab = Tab(
        10030, "DBA", "ONE", (Col("ID", "INTEGER", null=False), Col("V", table, 10, 2)), key=("ID",)
    )
    log = LogBuilder()
    unit = log.begin()
    log.add(
        1,
        unit.id,
        unit.id,
        tab.relid,
        1,
        log.framing.row([b"\0\0\0\1", bytes.fromhex(raw)], [1, 1]),
    )
    unit.commit()
    opened_log = opened(tmp_path, log, tab, framing="len32")
    bundle, _ = script(opened_log, tmp_path)
    assert bundle.exit_code == 8
    finding = bundle.manifest["findings"]["shown"][0]
    assert finding.startswith("LR2015")
    assert raw in finding
    assert re.search(found, finding), finding
    assert ("charset=" in finding) is (table == "WVARCHAR")


def test_a_real_that_is_stored_as_a_double_keeps_its_digits(tmp_path: Path) -> None:
    log = LogBuilder()
    tab = Tab(
        10030, "DBA", "ONE", (Col("ID", "INTEGER", null=False), Col("V", "REAL")), key=("ID",)
    )
    unit = log.begin()
    unit.insert(tab, (1, 0.1))
    unit.commit()
    write_catalog(tmp_path, [tab])
    path = tmp_path / "meta" / "sys_columns.csv"
    path.write_text(path.read_text().replace(",REAL,7,2,", ",REAL,7,3,"))
    rows = write_rows(tmp_path / "syslog.parquet", log.rows)
    assert decoded(open_log(Inputs(log=(str(rows),), catalog=str(tmp_path), framing="len32"))) == [
        (1, 0.1)
    ]


def test_ddl_records() -> None:
    framing = layouts.FRAMINGS["len32"]
    made = ddl.read(bytes.fromhex(DDL_CREATE), 1208, framing)
    assert made == ddl.Event(Ddl.CREATE_TABLE, ddl.Name("CUSTOMER", "DBA", "SHOP"))
    assert ddl.read(bytes.fromhex(DDL_ALTER), 1208, framing) == ddl.Event(
        Ddl.ALTER_TABLE, ddl.Name("CUSTOMER")
    )
    text = ddl.read_text(bytes.fromhex(SQL_ALTER), 1208)
    assert text == "ALTER TABLE CUSTOMER ADD COLUMN TIER SMALLINT"
    assert alter(text) == Alter("add", "CUSTOMER", "TIER", added=DeclaredColumn("TIER", "SMALLINT"))


@pytest.mark.parametrize("kind", list(Ddl))
@pytest.mark.parametrize("layout", ["D1", "D2", "D3", "D4"])
@pytest.mark.parametrize("framing", [Framing(), Framing("va"), Framing("len32", 2, True)], ids=str)
def test_every_ddl_record_in_every_layout(kind: Ddl, layout: str, framing: Framing) -> None:
    log = LogBuilder(framing)
    unit = log.begin()
    sql = "tail" if layout == "D4" else "record"
    unit.ddl(
        kind, "SHOP.DBA.THING", None, "SOME STATEMENT", "D1" if layout == "D4" else layout, sql
    )
    shape = next(
        f
        for f in layouts.framings()
        if (f.lengths.name, f.count, f.nul)
        == (framing.profile, framing.count, framing.nul or f.lengths.always_nul)
    )
    event = ddl.read(log.rows[1]["DATA"], 1208, shape)
    assert event == ddl.Event(
        kind, ddl.Name("THING", "DBA", "SHOP"), "SOME STATEMENT" if sql == "tail" else ""
    )


@pytest.mark.parametrize(
    ("info", "name"),
    [
        (b"THING", ddl.Name("THING")),
        (b'DBA."My Thing"', ddl.Name("My Thing", "DBA")),
        (b"THING\0DBA\0SHOP\0", ddl.Name("THING", "DBA", "SHOP")),
        ("SHOP.DBA.ÄRGER".encode("utf-16-be"), ddl.Name("ÄRGER", "DBA", "SHOP")),
    ],
)
def test_names_of_ddl_records(info: bytes, name: ddl.Name) -> None:
    event = ddl.read((17).to_bytes(4, "big") + len(info).to_bytes(4, "big") + info, 1208, None)
    assert event is not None
    assert event.name == name


@pytest.mark.parametrize(
    "data", ["", "0000", "0000002C0000000141", "0000002D000000020001", "0000002D00000001"]
)
def test_what_is_no_ddl_record(data: str) -> None:
    assert ddl.read(bytes.fromhex(data), 1208, layouts.FRAMINGS["len32"]) is None


@pytest.mark.parametrize(
    ("text", "does"),
    [
        (
            "ALTER TABLE T ADD c INTEGER NOT NULL",
            Alter("add", "T", "C", added=DeclaredColumn("C", "INTEGER", nullable=False)),
        ),
        ('alter table shop.dba.t drop column "c"', Alter("drop", "T", "c")),
        ("ALTER TABLE T RENAME COLUMN A B", Alter("rename", "T", "A", "B")),
        ("ALTER TABLE T MODIFY COLUMN A VARCHAR(20)", Alter("modify", "T", "A")),
        ("ALTER TABLE T ALTER COLUMN A DROP NOT NULL", Alter("null", "T", "A")),
        ("ALTER TABLE T ALTER COLUMN A SET DEFAULT 5", Alter("other", "T", "A")),
        ("ALTER TABLE T SET TABLE NAME N", Alter("name", "T", new="N")),
        ("ALTER TABLE T MODIFY SCHEMA S", Alter("schema", "T", new="S")),
        ("ALTER TABLE T SET STORE MEMORY", Alter("other", "T")),
        ("ALTER TABLE T ADD CONSTRAINT K UNIQUE (A)", Alter("other", "T")),
        ("DROP TABLE T", None),
        ("ALTER TABLE T", None),
        ("ALTER TABLE T FROBNICATE C", None),
    ],
)
def test_what_alter_table_does_to_rows(text: str, does: Alter | None) -> None:
    assert alter(text) == does


def test_hexadecimal_digits_in_every_spelling(tmp_path: Path) -> None:
    log = LogBuilder()
    whole_transaction(log)
    write_catalog(tmp_path, [CUSTOMER])
    path = write_rows(tmp_path / "syslog.csv", log.rows)
    text = path.read_text()
    path.write_text(
        text.replace(f",{LEN32}\n", f",0x{LEN32.lower()}\n").replace(
            f",{LEN32_VIP}\n", f",X'{LEN32_VIP}'\n"
        )
    )
    assert "0x" in path.read_text()
    assert len(script(open_log(Inputs(log=(str(path),), catalog=str(tmp_path))), tmp_path)[1]) == 2


def test_one_row_fits_several_framings_and_says_so(tmp_path: Path) -> None:
    tab = Tab(10040, "DBA", "BYTES", (Col("A", "VARBINARY", 20, null=False),))
    log = LogBuilder()
    unit = log.begin()
    unit.insert(tab, (b"\1\0",))
    unit.commit()
    with pytest.raises(
        InputError,
        match=(
            r"LR2018.*len32 and len32/nul read differently.*scripts/calibrate_soliddb.py.*--framing"
        ),
    ):
        opened(tmp_path, log, tab)
    assert decoded(opened(tmp_path, log, tab, framing="len32")) == [(b"\1\0",)]


def test_no_framing_fits_and_says_where(tmp_path: Path) -> None:
    log = LogBuilder()
    unit = log.begin()
    log.add(1, unit.id, unit.id, CUSTOMER.relid, 1, bytes(range(40)))
    unit.commit()
    with pytest.raises(
        InputError,
        match=(
            r"LR2004.*1 row image and no known framing that fits \(.*record 2,"
            r" DBA.CUSTOMER.*another time"
        ),
    ):
        opened(tmp_path, log)


@pytest.mark.parametrize("columns", ["A", "B", "C"])
def test_hidden_and_dropped_columns_are_found(tmp_path: Path, columns: str) -> None:
    hidden = (
        Col("$SYS_DELETED_7_X", "VARCHAR", attr=8),
        Col("V", "VARCHAR", 9),
        Col("TV", "BIGINT", attr=2),
    )
    tab = Tab(10050, "DBA", "HID", (Col("ID", "INTEGER", null=False), *hidden), key=("ID",))
    log = LogBuilder()
    for number in range(9):
        unit = log.begin()
        unit.columns = columns
        unit.insert(tab, (number, f"v{number}"))
        unit.commit()
    found = opened(tmp_path, log, tab)
    assert found.shape.columns == columns
    assert script(found, tmp_path)[1][3] == "INSERT INTO dba.hid (id, v) VALUES (3, 'v3');"


@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_the_bundled_log(fixtures: Path, tmp_path: Path, mode: str) -> None:
    """A log put together by hand, with the scripts that were read like code."""
    folder = fixtures / "soliddb"
    named = [
        *of_family("soliddb", folder / "syslog.csv", folder),
        "--schema",
        "none",
        "--engine",
        "local",
    ]
    assert main([mode, *named, "--out", str(tmp_path / mode)]) == 0
    assert (tmp_path / mode / f"0000-{mode}.sql").read_bytes() == (
        folder / f"{mode}.sql"
    ).read_bytes()
    assert LEN32 in (folder / "syslog.csv").read_text()
