"""``logreplay doctor``: counts that can be checked against what was written, no values in the
report, and two reports held against each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from replay.logs import FAMILIES, Inputs, source_named
from replay.logs.readings import PAGE, open_points
from replay.reports.doctor import doctor_report, doctor_text
from tests.support import luwbuilder
from tests.support.logbuilder import ACCT, Col, LogBuilder, Tab, acct, frame
from tests.support.places import FIXTURES


def readings(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in report["readings"]}


def log_of(folder: Path, builder: LogBuilder) -> list[str]:
    unit = builder.unit()
    unit.insert(ACCT, acct(1))
    unit.update(ACCT, acct(1), acct(1, None, None))
    unit.delete(ACCT, acct(1, None, None))
    control, data = builder.write(folder)
    return ["--control", str(control), "--data", *map(str, data)]


def report_of(words: list[str], out: Path, *more: str) -> tuple[int, dict[str, Any]]:
    code = main(["doctor", *words, "--out", str(out), *more])
    return code, json.loads(out.read_text(encoding="utf-8"))


@pytest.mark.parametrize("reading", ["A", "B", "B'"])
def test_each_reading_has_its_count(reading: str, tmp_path: Path) -> None:
    code, report = report_of(log_of(tmp_path, LogBuilder(reading=reading)), tmp_path / "r.json")
    assert code == 0
    entry = readings(report)["data-lengths"]
    assert (entry["taken"], entry["looked_at"], entry["verdict"]) == (reading, 3, "fits all")
    assert entry["fits"][reading] == 3
    assert sum(count < 3 for count in entry["fits"].values()) == 2
    # four images of ACCT: two with a name and a balance, two without
    assert report["types"]["VCHR (varchar)"] == {
        "values": 4,
        "nulls": 2,
        "not_decoded": 0,
        "not in the log": 0,
    }
    assert report["counts"]["CHANGE TYPE"] == {"D": 1, "I": 1, "UB": 1}
    assert readings(report)["segments"]["verdict"] == "not exercised"
    assert readings(report)["null-columns"]["fits"] == {"other bytes": 0, "zeros": 1}


@pytest.mark.parametrize("own", [True, False])
def test_parts_of_a_change_are_joined(own: bool, tmp_path: Path) -> None:
    builder = LogBuilder(own_lengths=own)
    builder.unit().insert(ACCT, acct(1), cuts=(20, 40))
    builder.unit().insert(ACCT, acct(2))
    control, data = builder.write(tmp_path)
    words = ["--control", str(control), "--data", *map(str, data)]
    code, report = report_of(words, tmp_path / "r.json")
    assert code == 0
    entry = readings(report)["segments"]
    assert (entry["verdict"], entry["looked_at"]) == ("fits all", 2)
    assert entry["taken"] == ("own length" if own else "no length")
    assert report["types"]["INT (integer)"]["values"] == 2


def test_a_report_holds_no_values(sakila_small: Path, tmp_path: Path) -> None:
    words = [
        *("--control", str(sakila_small / "small.ctl")),
        *("--data", str(sakila_small / "small.dat")),
    ]
    code, report = report_of(words, tmp_path / "r.json")
    assert code == 0
    text = json.dumps(report)
    family = source_named("logmaster")
    log = family.open_log(Inputs(control=words[1], data=(words[3],)))
    described = family.describe(log).values
    names = {entry["name"] for kind in described["names"].values() for entry in kind["most"]}
    names |= {table["name"].partition(".")[2] for table in described["tables"]}
    names |= {column["name"] for table in described["tables"] for column in table["columns"]}
    names |= {described["control"]["XTYP"]["CNTLFILESYSID"], "SAKILA", "small.dat"}
    names |= {described["ranges"]["commit"]["first"], described["ranges"]["LOGRBA"]["last"]}
    assert not {name for name in names if len(name) > 2 and name != "LENGTH" and f'"{name}' in text}
    assert "SAKILA" not in doctor_text(family, report)


def test_a_value_that_cannot_be_decoded_is_a_contradiction(tmp_path: Path) -> None:
    table = Tab("T", (Col("ID", "INT", 4, key=1), Col("AMOUNT", "DEC", 3, scale=2)))
    builder = LogBuilder(tables=(table,))
    builder.unit().insert(table, (1, b"\xab\xcd\xef"))
    control, data = builder.write(tmp_path)
    words = ["--control", str(control), "--data", *map(str, data)]
    code, report = report_of(words, tmp_path / "r.json")
    assert code == 8
    assert report["types"]["DEC (decimal)"]["not_decoded"] == 1
    assert "abcdef" not in json.dumps(report).lower()


def test_a_log_that_cannot_be_opened_has_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = LogBuilder()
    words = log_of(tmp_path, builder)
    neither = [raw[:288] + b"\xff\xff" + raw[290:] for raw in builder.records()]
    Path(words[3]).write_bytes(frame(neither, "rdw"))
    code, report = report_of(words, tmp_path / "r.json")
    assert code == 12
    assert report["not_opened"]["code"] == "LR2018"
    assert len(report["files"]) == 2
    assert "could not be opened" in capsys.readouterr().out


def test_a_report_can_be_signed(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = tmp_path / "key.pem"
    key.write_bytes(
        Ed25519PrivateKey.generate().private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    path = tmp_path / "r.json"
    _, report = report_of(log_of(tmp_path, LogBuilder()), path, "--sign-key", str(key))
    assert report["signature"]["algorithm"] == "Ed25519"


@pytest.mark.parametrize("compressed", [False, True])
def test_db2_luw(compressed: bool, tmp_path: Path) -> None:
    table = luwbuilder.Tab(
        2,
        5,
        "APP",
        "T",
        (luwbuilder.Col("ID", "INTEGER", key=1), luwbuilder.Col("NAME", "VARCHAR", 20)),
        compressed=compressed,
    )
    builder = luwbuilder.LogBuilder()
    unit = builder.begin()
    unit.insert(table, (1, "SECRETNAME"), (1, 1))
    unit.update(table, (1, "SECRETNAME"), (1, "OTHERNAME"), (1, 1))
    unit.commit(authid="CLERK")
    log, catalog = tmp_path / "one.log", tmp_path / "catalog.csv"
    log.write_bytes(builder.bytes())
    catalog.write_text(luwbuilder.catalog_csv([table]), encoding="utf-8")
    words = ["--source", "db2luw", "--log", str(log), "--catalog", str(catalog)]
    code, report = report_of(words, tmp_path / "r.json")
    assert code == 0
    told = readings(report)
    assert told["row-place"]["fits"] == {"closes": 3}
    assert told["row-form"]["fits"] == {f"inner type {2 if compressed else 1:02X}": 3}
    assert told["commit-records"]["fits"]["plain"] == 1
    assert report["types"]["VARCHAR (varchar)"]["values"] == 3
    text = json.dumps(report)
    assert not [name for name in ("SECRET", "OTHER", "CLERK", '"T"') if name in text]


def test_soliddb(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = FIXTURES / "soliddb"
    words = ["--source", "soliddb", "--log", str(folder / "syslog.csv")]
    code, report = report_of([*words, "--catalog", str(folder / "meta")], tmp_path / "r.json")
    assert code == 0
    entry = readings(report)["framing"]
    assert (entry["taken"], entry["looked_at"], entry["fits"]["len32"]) == ("len32", 5, 5)
    assert sum(count for name, count in entry["fits"].items() if name != "len32") == 0
    assert "CUSTOMER" not in json.dumps(report)


def test_the_page_has_the_unconfirmed_readings_of_every_family() -> None:
    points = {name: open_points(name) for name in FAMILIES}
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if "| `" in line]
    assert len(rows) == sum(map(len, points.values()))
    assert all(points.values())
    assert points["logmaster"]["sort-key"] == "What SQLRIRBA holds."
    assert not open_points("another")


def test_evidence_is_about_listed_readings(sakila_small: Path) -> None:
    family = source_named("logmaster")
    log = family.open_log(
        Inputs(control=str(sakila_small / "small.ctl"), data=(str(sakila_small / "small.dat"),))
    )
    told = {entry.name for entry in family.checkup(log).evidence}
    assert told <= open_points("logmaster").keys()
    assert doctor_report(family, log)["source"] == "logmaster"
