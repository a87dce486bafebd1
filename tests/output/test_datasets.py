"""Exports of small logs: values, order, numbering, files, and what is refused."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq
import pytest

from replay.cli import main
from replay.output import datasets
from tests.support.exported import export, rows
from tests.support.logbuilder import ACCT, Col, LogBuilder, Tab, acct, generation, lrsn

KINDS = Tab(
    "KINDS",
    (
        Col("ID", "INT", 8, key=1),
        Col("SMALL", "INT", 2, nulls="Y"),
        Col("AMOUNT", "DEC", 16, scale=6, nulls="Y"),
        Col("RATIO", "FLOT", 8, nulls="Y"),
        Col("DAY", "DATE", 10, nulls="Y"),
        Col("AT", "TIME", 8, nulls="Y"),
        Col("STAMP", "DTTM", 26, nulls="Y"),
        Col("FINE", "DTTM", 32, nulls="Y"),
        Col("ZONED", "DTTZ", 38, nulls="Y"),
        Col("CODE", "CHAR", 4, nulls="Y"),
        Col("NAME", "VCHR", 40, nulls="Y"),
        Col("RAW", "VCHR", 20, nulls="Y", subtype="B"),
    ),
)
STAMP, FINE, ZONED = (
    "2024-02-29 23:59:59.123456",
    "2024-02-29 23:59:59.123456000000",
    "2024-02-29-23.59.59.123456000000+05:30",
)
FULL = (
    1, -32768, "-1234567890123456789012345.678901", 0.1, "0001-01-01", "23:59:58", STAMP, FINE,
    ZONED, "AB", 'a "b", \\ c\n', b"\0\1\xff\xfe",
)  # fmt: skip
EMPTY = (
    2,
    None,
    "0.000001",
    -1e60,
    "9999-12-31",
    "00:00:00",
    "0001-01-01 00:00:00.000000",
    FINE,
    ZONED,
    "",
    "",
    b"",
)
NULLS = (3, *[None] * 11)


@pytest.fixture
def kinds(tmp_path: Path) -> list[str]:
    log = LogBuilder((KINDS,))
    unit = log.unit()
    for row in (FULL, EMPTY, NULLS):
        unit.insert(KINDS, row)
    log.unit().update(KINDS, NULLS, (3, *FULL[1:]))
    log.unit().delete(KINDS, FULL)
    return written(log, tmp_path)


def written(log: LogBuilder, folder: Path, **how: Any) -> list[str]:
    control, data = log.write(folder, **how)
    return ["--control", str(control), "--data", *map(str, data), "--engine", "local"]


def lines(out: Path, dataset: str) -> list[dict[str, Any]]:
    text = "".join(
        path.read_text(encoding="utf-8") for path in sorted((out / dataset).rglob("*.jsonl"))
    )
    return [json.loads(line) for line in text.splitlines()]


def test_parquet_holds_every_kind_of_value(kinds: list[str], tmp_path: Path) -> None:
    manifest = export(kinds, tmp_path / "out", "--exclude-columns", "ZONED")
    assert manifest["balance"] == {
        "read": 5,
        "emitted": 5,
        "skipped": {},
        "quarantined": 0,
        "failed": 0,
        "closes": True,
    }
    found = rows(tmp_path / "out", "testown.kinds", "op, before, after")
    full = {
        "id": 1, "small": -32768, "amount": Decimal("-1234567890123456789012345.678901"),
        "ratio": 0.1, "day": date(1, 1, 1), "at": "23:59:58",
        "stamp": datetime.fromisoformat(STAMP), "fine": datetime.fromisoformat(STAMP), "code": "AB",
        "name": FULL[10], "raw": FULL[11],
    }  # fmt: skip
    nulls = {**dict.fromkeys(full), "id": 3}
    assert found[0] == ("insert", None, full)
    assert found[1][2] == {
        **full, "id": 2, "small": None, "amount": Decimal("0.000001"),
        "ratio": pytest.approx(-1e60, rel=1e-15), "day": date(9999, 12, 31),
        "at": "00:00:00", "stamp": datetime(1, 1, 1), "code": "", "name": "", "raw": b"",
    }  # fmt: skip
    assert found[2:] == [
        ("insert", None, nulls),
        ("update", nulls, {**full, "id": 3}),
        ("delete", full, None),
    ]
    (file,) = (tmp_path / "out").rglob("*.parquet")
    assert (
        str(file.relative_to(tmp_path / "out"))
        == "testown.kinds/commit_date=2024-03-15/part-0000.parquet"
    )
    types = {field.name: str(field.type) for field in pq.read_schema(file).field("after").type}
    assert types == manifest["datasets"][0]["types"] | {}
    assert types["amount"] == "decimal128(31, 6)"
    assert types["small"] == "int16"


def test_native_types(kinds: list[str], tmp_path: Path) -> None:
    export(kinds, tmp_path / "out", "--parquet-types", "native")
    (file,) = (tmp_path / "out").rglob("*.parquet")
    after = pq.read_schema(file).field("after").type
    assert [str(after.field(name).type) for name in ("at", "stamp", "fine", "zoned")] == [
        "time64[us]", "timestamp[us]", "timestamp[ns]", "timestamp[ns, tz=UTC]",
    ]  # fmt: skip
    found = rows(
        tmp_path / "out", "testown.kinds", "after.at, epoch_us(CAST(after.zoned AS TIMESTAMPTZ))"
    )
    assert found[0] == (
        time(23, 59, 58),
        int(datetime(2024, 2, 29, 18, 29, 59, 123456, UTC).timestamp()) * 1_000_000 + 123456,
    )


def test_json_lines_hold_every_kind_of_value(kinds: list[str], tmp_path: Path) -> None:
    export(kinds, tmp_path / "out", "--format", "jsonl", "--names", "exact")
    found = lines(tmp_path / "out", "TESTOWN.KINDS")
    full = {
        "ID": 1, "SMALL": -32768, "AMOUNT": "-1234567890123456789012345.678901", "RATIO": 0.1,
        "DAY": "0001-01-01", "AT": "23:59:58",
        "STAMP": STAMP, "FINE": FINE, "ZONED": "2024-02-29 23:59:59.123456000000+05:30",
        "CODE": "AB", "NAME": FULL[10], "RAW": "0001fffe",
    }  # fmt: skip
    assert found[0]["after"] == full
    assert found[0]["before"] is None
    assert [found[1]["after"][name] for name in ("AMOUNT", "CODE", "NAME", "RAW")] == [
        "0.000001",
        "",
        "",
        "",
    ]
    assert found[3]["before"] == {**dict.fromkeys(full), "ID": 3}
    facts = {
        "op": "delete", "commit_time": "2024-03-15 10:21:00.500000", "member": 1, "authid": "CLERK",
        "plan": "PLANA", "correlation_id": "CORR01",
        "connection_id": "CICSA", "origin": "direct", "sequence": 1, "log_file": "t0.dat",
        "log_record": 5,
    }  # fmt: skip
    assert {name: found[4][name] for name in facts} == facts
    assert [line["sequence"] for line in found] == [1, 2, 3, 1, 1]
    assert [line["commit_lrsn"] for line in found] == sorted(line["commit_lrsn"] for line in found)


def test_csv_tells_null_from_empty(kinds: list[str], tmp_path: Path) -> None:
    export(kinds, tmp_path / "out", "--format", "csv")
    (file,) = (tmp_path / "out").rglob("*.csv")
    text = file.read_text(encoding="utf-8")
    assert text.startswith('"op","commit_lrsn","commit_time",')
    assert ',"a ""b"", \\ c\n","0001fffe"\n' in text
    second = next(line for line in text.splitlines() if ",2,,0.000001," in line)
    assert second.endswith(
        ",,,,,,,,,,,,2,,0.000001,-1e+60,9999-12-31,00:00:00,0001-01-01 00:00:00.000000,"
        "2024-02-29 23:59:59.123456000000,2024-02-29 23:59:59.123456000000+05:30,"
        '"","",""'
    )
    assert next(line for line in text.splitlines() if line.endswith(",3" + "," * 11))


def test_csv_with_a_word_for_null(kinds: list[str], tmp_path: Path) -> None:
    columns = [word for name in ("ID", "NAME", "SMALL") for word in ("--columns", name)]
    export(kinds, tmp_path / "out", "--format", "csv", "--csv-null", "\\N", *columns)
    (file,) = (tmp_path / "out").rglob("*.csv")
    ends = [
        line.rpartition('"t0.dat",')[2] for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert [end for end in ends if end.startswith(("2,", "3,"))] == [
        '2,\\N,\\N,\\N,2,\\N,""',
        "3,\\N,\\N,\\N,3,\\N,\\N",
    ]


def test_a_commit_time_that_is_not_known(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit(UORCOMMITTIMESTAMP="0000-00-00 00:00:00").insert(ACCT, acct(1))
    source = written(log, tmp_path)
    manifest = export(source, tmp_path / "out")
    assert [file["name"] for file in manifest["datasets"][0]["files"]] == [
        "testown.acct/commit_date=__HIVE_DEFAULT_PARTITION__/part-0000.parquet"
    ]
    assert rows(tmp_path / "out", "testown.acct", "after.id, commit_time, commit_date") == [
        (1, None, None)
    ]
    export(source, tmp_path / "events", "--format", "debezium")
    payload = lines(tmp_path / "events", "testown.acct")[0]["value"]["payload"]
    assert (payload["ts_ms"], payload["source"]["ts_ms"]) == (None, None)


def one_row(folder: Path, **values: Any) -> list[str]:
    """A log whose second unit inserts a row with other values."""
    log = LogBuilder((KINDS,))
    log.unit().insert(KINDS, EMPTY)
    named = dict(zip((column.name.lower() for column in KINDS.columns), FULL, strict=True)) | values
    log.unit().insert(KINDS, tuple(named.values()))
    return written(log, folder)


LATE = "2024-02-29 24:00:00.000000"
FINER = "2024-02-29 23:59:59.123456789500"
POLICIES = [
    ("parquet", {"fine": FINER}, [], None),
    ("parquet", {"fine": FINER}, ["--timestamps", "truncate"], datetime.fromisoformat(STAMP)),
    (
        "parquet",
        {"fine": FINER},
        ["--timestamps", "round"],
        datetime(2024, 2, 29, 23, 59, 59, 123457),
    ),
    ("parquet", {"stamp": LATE}, [], None),
    ("parquet", {"stamp": LATE}, ["--midnight", "next"], datetime(2024, 3, 1)),
    ("parquet", {"at": "24:00:00"}, [], "24:00:00"),
    ("parquet native", {"at": "24:00:00"}, [], None),
    ("parquet native", {"at": "24:00:00"}, ["--midnight", "next"], time(0)),
    ("parquet native", {"fine": FINER}, [], None),
    ("parquet native", {"fine": "2400-01-01 00:00:00.000000000000"}, [], None),
    ("parquet", {"name": "a\0b"}, [], "a\0b"),
    ("jsonl", {"fine": FINER}, [], FINER),
    ("jsonl", {"stamp": LATE}, [], LATE),
    ("jsonl", {"name": "a\0b"}, [], "a\0b"),
    ("csv", {"name": "a\0b"}, [], None),
    ("debezium", {"stamp": LATE}, [], None),
    ("debezium", {"stamp": LATE}, ["--midnight", "next"], 1709251200_000_000),
    ("debezium", {"at": "24:00:00"}, [], None),
    ("debezium", {"fine": FINER}, [], None),
    ("debezium", {"fine": FINER}, ["--timestamps", "truncate"], 1709251199_123456789),
    ("debezium", {"fine": "2400-01-01 00:00:00.000000000000"}, [], None),
]


@pytest.mark.parametrize(
    ("form", "values", "options", "expected"),
    POLICIES,
    ids=[f"{p[0]} {p[1]} {p[2]}" for p in POLICIES],
)
def test_what_a_format_cannot_hold(
    tmp_path: Path, form: str, values: dict[str, Any], options: list[str], expected: Any
) -> None:
    """It is held exactly, or changed as a policy says, or its unit is set aside; other units are
    not."""
    name, _, native = form.partition(" ")
    more = ["--parquet-types", native] if native else []
    manifest = export(
        one_row(tmp_path, **values), tmp_path / "out", "--format", name, *more, *options
    )
    (column,) = values
    if expected is None:
        assert manifest["exit_code"] == 8
        assert (manifest["changes"], len(manifest["quarantined_units"])) == (1, 1)
        assert "LR3001" in manifest["findings"]["shown"][0]
        assert f"field {column.upper()}" in manifest["findings"]["shown"][0]
        return
    assert manifest["exit_code"] == 0
    if name == "parquet":
        found = rows(tmp_path / "out", "testown.kinds", f"after.{column}")[1][0]
    else:
        line = lines(tmp_path / "out", "testown.kinds")[1]
        found = (line["value"]["payload"] if name == "debezium" else line)["after"][column]
    assert found == expected


def test_generations_have_datasets_of_their_own(tmp_path: Path) -> None:
    narrow = generation(ACCT, 1, columns=ACCT.columns[:2], dropped=bytes(10))
    log = LogBuilder((narrow,))
    log.unit().insert(narrow, acct(1)[:2])
    middle = log.tick()
    narrow = generation(narrow, 1, dropped=lrsn(middle))
    wide = generation(ACCT, 2, created=lrsn(middle))
    same = generation(ACCT, 3, created=lrsn(1 << 22), psid=9, obid=9)
    log.tables = (narrow, wide, same)
    log.unit().insert(wide, acct(2))
    log.unit().insert(same, acct(3))
    manifest = export(written(log, tmp_path), tmp_path / "out")
    assert [(entry["name"], entry["generation"],
        entry["changes"]) for entry in manifest["datasets"]] == [
        ("testown.acct@1", 1, 1), ("testown.acct@2", 2, 2),
    ]  # fmt: skip
    assert rows(tmp_path / "out", "testown.acct@1", "after") == [
        ({"id": 1, "bal": Decimal("-123.45")},)
    ]
    assert [row[0] for row in rows(tmp_path / "out", "testown.acct@2", "after.id")] == [2, 3]


def test_names_make_folders_that_stay_where_they_are(tmp_path: Path) -> None:
    odd = generation(ACCT, 1, name="../A.B@C/D=E", owner="X Y")
    log = LogBuilder((odd,))
    log.unit().insert(odd, acct(1))
    manifest = export(written(log, tmp_path), tmp_path / "out")
    (entry,) = manifest["datasets"]
    assert entry["name"] == "x y.%2E%2E%2Fa%2Eb%40c%2Fd%3De"
    assert entry["table"] == "X Y.../A.B@C/D=E"
    assert [path.name for path in (tmp_path / "out").iterdir() if path.is_dir()] == [entry["name"]]


def test_names_of_many_letters_beyond_ascii_make_folders(tmp_path: Path) -> None:
    """Each is six characters of a folder's name, of which file systems take 255."""
    tables = tuple(
        generation(ACCT, 1, name="É" * 60 + end, owner="Ü" * 40, psid=number, obid=number)
        for number, end in enumerate("AB", 5)
    )
    log = LogBuilder(tables)
    for number, table in enumerate(tables):
        log.unit().insert(table, acct(number))
    entries = export(written(log, tmp_path), tmp_path / "out")["datasets"]
    names = [entry["name"] for entry in entries]
    assert [len(name) for name in names] == [241, 241]
    assert len(set(names)) == 2
    assert [rows(tmp_path / "out", name, "after.id") for name in names] == [[(0,)], [(1,)]]


def long_unit(tables: tuple[Tab, ...] = (ACCT,)) -> LogBuilder:
    log = LogBuilder(tables)
    log.unit().insert(ACCT, acct(100))
    unit = log.unit()
    for number in range(1, 12):
        unit.insert(ACCT, acct(number))
    log.unit().insert(ACCT, acct(200))
    return log


@pytest.mark.parametrize("form", ["parquet", "debezium"])
def test_a_long_unit_goes_on_where_its_last_piece_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    log = written(long_unit(), tmp_path)
    monkeypatch.setattr("replay.pipeline.partition.CHUNK", 4)
    manifest = export(log, tmp_path / "out", "--format", form)
    assert (manifest["changes"], manifest["units"]) == (13, 3)
    if form == "parquet":
        found = rows(tmp_path / "out", "testown.acct", "after.id, sequence")
    else:
        values = [line["value"]["payload"] for line in lines(tmp_path / "out", "testown.acct")]
        found = sorted(
            (value["after"]["id"], value["transaction"]["total_order"]) for value in values
        )
        assert all(
            value["transaction"]["total_order"] == value["transaction"]["data_collection_order"]
            for value in values
        )
    assert sorted(found) == [*((number, number) for number in range(1, 12)), (100, 1), (200, 1)]
    assert len(manifest["datasets"][0]["files"]) == 2


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_a_long_unit_with_a_damaged_record_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    builder = long_unit()
    builder.changes[10].images[0] = builder.changes[10].images[0][:-3]
    log = written(builder, tmp_path)
    whole = export(log, tmp_path / "whole", "--format", form)
    monkeypatch.setattr("replay.pipeline.partition.CHUNK", 4)
    manifest = export(log, tmp_path / "out", "--format", form)
    assert manifest["exit_code"] == whole["exit_code"] == 8
    assert manifest["balance"] == whole["balance"]
    assert (
        manifest["balance"]["emitted"],
        manifest["balance"]["quarantined"],
        manifest["balance"]["failed"],
    ) == (2, 10, 1)
    assert rows(tmp_path / "out", "testown.acct", "after.id", form) == [(100,), (200,)]
    named = {file["name"] for file in manifest["datasets"][0]["files"]}
    assert {
        str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("part-*")
    } == named


def test_few_files_are_open_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = LogBuilder()
    for day in (1, 2, 1, 3, 2):
        log.unit(UORCOMMITTIMESTAMP=f"2024-03-0{day} 10:00:00").insert(ACCT, acct(log.clock))
    source = written(log, tmp_path)
    monkeypatch.setattr("replay.pipeline.partition.CHUNK", 1)
    plain = export(source, tmp_path / "plain")
    monkeypatch.setattr(datasets, "OPEN", 1)
    monkeypatch.setattr(datasets, "WAITING", 1)
    export(source, tmp_path / "out")
    names = sorted(
        str(path.relative_to(tmp_path / "out" / "testown.acct"))
        for path in (tmp_path / "out").rglob("*.parquet")
    )
    assert names == [
        "commit_date=2024-03-01/part-0000-1.parquet", "commit_date=2024-03-01/part-0000.parquet",
        "commit_date=2024-03-02/part-0000-1.parquet",
        "commit_date=2024-03-02/part-0000.parquet", "commit_date=2024-03-03/part-0000.parquet",
    ]  # fmt: skip
    assert len(plain["datasets"][0]["files"]) == 3
    assert rows(tmp_path / "out", "testown.acct") == rows(tmp_path / "plain", "testown.acct")
    assert [row[0] for row in rows(tmp_path / "out", "testown.acct", "day(commit_date)")] == [
        1,
        2,
        1,
        3,
        2,
    ]


def test_rolled_back_work_is_apart(tmp_path: Path) -> None:
    log = LogBuilder()
    unit = log.unit()
    unit.insert(ACCT, acct(1))
    unit.insert(ACCT, acct(2), LOGRECDISP="S")
    unit.insert(ACCT, acct(3))
    source = written(log, tmp_path)
    manifest = export(source, tmp_path / "out", "--include-aborted")
    assert manifest["balance"]["skipped"] == {"rolled back to savepoint (LOGRECDISP S)": 1}
    assert [entry["name"] for entry in manifest["datasets"]] == [
        "rolled-back/testown.acct",
        "testown.acct",
    ]
    assert rows(tmp_path / "out", "testown.acct", "after.id, sequence") == [(1, 1), (3, 2)]
    assert rows(tmp_path / "out", "rolled-back/testown.acct", "after.id, sequence") == [(2, 1)]
    export(source, tmp_path / "plain")
    assert not (tmp_path / "plain" / "rolled-back").exists()
    other = generation(ACCT, 1, name="OTHER", obid=9)
    log.tables = (ACCT, other)
    unit.insert(other, acct(4), LOGRECDISP="S")
    manifest = export(
        written(log, tmp_path), tmp_path / "both", "--include-aborted", "--names", "exact"
    )
    assert [entry["name"] for entry in manifest["datasets"]] == [
        "TESTOWN.ACCT",
        "rolled-back/TESTOWN.ACCT",
        "rolled-back/TESTOWN.OTHER",
    ]


def test_events_of_whole_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = LogBuilder()
    unit = log.unit()
    unit.insert(ACCT, acct(1))
    unit.event(ACCT, "DM")
    source = written(log, tmp_path)
    export(source, tmp_path / "out")
    assert rows(tmp_path / "out", "testown.acct", "op, before, after IS NULL, sequence") == [
        ("insert", None, False, 1),
        ("truncate", None, True, 2),
    ]
    export(source, tmp_path / "events", "--format", "debezium")
    last = lines(tmp_path / "events", "testown.acct")[-1]
    assert (last["key"], last["value"]["payload"]["op"], last["value"]["payload"]["before"]) == (
        None,
        "t",
        None,
    )
    unit.event(ACCT, "E ")
    assert main.main(["export", *written(log, tmp_path), "--out", str(tmp_path / "exchange")]) == 8
    assert "LR3003" in capsys.readouterr().err
    assert not (tmp_path / "exchange").exists()


def test_updates_of_nothing_that_is_exported_are_counted(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit().update(ACCT, acct(1), acct(1))
    log.unit().update(ACCT, acct(1), acct(1, "NEW"))
    log.unit().update(ACCT, acct(1, "NEW"), acct(1, "NEW", "7.00"))
    manifest = export(
        written(log, tmp_path),
        tmp_path / "out",
        "--exclude-columns",
        "NAME",
        "--exclude-columns",
        "ID",
    )
    assert manifest["balance"]["skipped"] == {
        "update changes nothing": 1,
        "update touches excluded columns only": 1,
    }
    (found,) = rows(tmp_path / "out", "testown.acct", "before, after.bal")
    assert set(found[0]) == {"bal", "open_dt", "rate", "upd"}
    assert found[1] == Decimal("7.00")


def test_values_select(kinds: list[str], tmp_path: Path) -> None:
    manifest = export(kinds, tmp_path / "out", "--where", "after.id = 3", "--table", "testown.*")
    assert manifest["balance"]["skipped"] == {"does not satisfy --where": 3}
    assert rows(tmp_path / "out", "testown.kinds", "op") == [("insert",), ("update",)]
    assert manifest["selection"]["where"] == "after.id = 3"


def test_large_objects_are_never_made_up(tmp_path: Path) -> None:
    note = Tab(
        "NOTE",
        (Col("ID", "INT", 4, key=1), Col("TEXT", "CLOB", 4, nulls="L"), Col("SIZE", "INT", 4)),
    )
    log = LogBuilder((note,))
    log.unit().insert(note, (1, b"\0\0\0\1", 10))
    log.unit().insert(note, (2, None, 20))
    source = written(log, tmp_path)
    manifest = export(source, tmp_path / "out")
    assert manifest["exit_code"] == 8
    assert "LR2015" in manifest["findings"]["shown"][0]
    assert "--exclude-columns TESTOWN.NOTE.TEXT" in manifest["findings"]["shown"][0]
    assert rows(tmp_path / "out", "testown.note", "after.id, after.text") == [(2, None)]
    assert export(source, tmp_path / "without", "--exclude-columns", "TEXT")["changes"] == 2


REFUSED = [
    (["--table", "NOBODY.*"], "LR1004"),
    (["--exclude-columns", "*"], "LR3006"),
    (["--exclude-columns", "ID", "--format", "debezium"], "LR3006"),
    (["--where", "after.nothing = 1"], "LR1003"),
]


@pytest.mark.parametrize(
    ("options", "code"), REFUSED, ids=[code + options[0] for options, code in REFUSED]
)
def test_refused_before_anything_is_read(
    kinds: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    code: str,
) -> None:
    assert main.main(["export", *kinds, "--out", str(tmp_path / "out"), *options]) == 12
    assert code in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_name_that_nobody_asked_for_is_no_obstacle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = generation(ACCT, 1, name="A\tB", obid=9)
    log = LogBuilder((ACCT, odd))
    log.unit().insert(ACCT, acct(1))
    source = written(log, tmp_path)
    assert export(source, tmp_path / "out", "--table", "*.ACCT")["changes"] == 1
    assert main.main(["export", *source, "--out", str(tmp_path / "all")]) == 12
    assert "LR3005" in capsys.readouterr().err


def test_a_unit_with_two_commits_is_left_out_of_what_was_written(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit().insert(ACCT, acct(1))
    unit = log.unit()
    unit.insert(ACCT, acct(2))
    unit.insert(ACCT, acct(3), UORCOMMITLRSN=lrsn(1 << 25))
    log.unit(commit=1 << 26).insert(ACCT, acct(4))
    manifest = export(written(log, tmp_path), tmp_path / "out", "--records-per-file", "1")
    assert manifest["exit_code"] == 8
    assert "LR2016" in manifest["findings"]["shown"][0]
    assert rows(tmp_path / "out", "testown.acct", "after.id") == [(1,), (4,)]
    assert {file["changes"] for file in manifest["datasets"][0]["files"]} <= {1, 2}


def test_names_that_become_the_same_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twins = generation(ACCT, 1, columns=(Col("ID", "INT", 4, key=1), Col("id", "INT", 4)))
    log = LogBuilder((twins,))
    log.unit().insert(twins, (1, 2))
    source = written(log, tmp_path)
    assert main.main(["export", *source, "--out", str(tmp_path / "out")]) == 12
    assert "LR3005" in capsys.readouterr().err
    export(source, tmp_path / "exact", "--names", "exact", "--format", "jsonl")
    assert lines(tmp_path / "exact", "TESTOWN.ACCT")[0]["after"] == {"ID": 1, "id": 2}


def test_strict_stops_at_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = long_unit()
    log.changes[10].images[0] = log.changes[10].images[0][:-3]
    source = written(log, tmp_path)
    assert main.main(["export", *source, "--out", str(tmp_path / "out"), "--strict"]) == 12
    assert "LR2014" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_order_does_not_depend_on_the_files(tmp_path: Path) -> None:
    builder = long_unit()
    export(written(builder, tmp_path), tmp_path / "one")
    export(written(builder, tmp_path, files=3, seed=5, name="s"), tmp_path / "three")
    shown = "* EXCLUDE (log_file, log_record)"
    assert rows(tmp_path / "one", "testown.acct", shown) == rows(
        tmp_path / "three", "testown.acct", shown
    )


def test_the_folder_of_an_attempt_is_not_made_anew(tmp_path: Path) -> None:
    """A run that was interrupted has removed it, while its tasks still wrote."""
    sink = datasets.DatasetSink(tmp_path / "attempt", cast(Any, None), "0000")
    with pytest.raises(FileNotFoundError):
        sink._make_folders("SAKILA.FILM/commit_date=2024-03-15")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "attempt").mkdir()
    sink._make_folders("SAKILA.FILM/commit_date=2024-03-15")
    assert (tmp_path / "attempt" / "SAKILA.FILM" / "commit_date=2024-03-15").is_dir()
