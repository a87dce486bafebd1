"""Selections by logical unit of work and by where rows lie: database, table space, partition, page
and row identifier."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.changes.notation import range_of, rid_of
from replay.cli.main import main
from replay.errors import Refusal, UsageError
from tests.logs.db2luw.test_damage import row
from tests.support.logbuilder import ACCT, OLD_HEADER, LogBuilder, Tab, acct
from tests.support.luwbuilder import PLAIN, catalog_csv
from tests.support.luwbuilder import LogBuilder as LuwBuilder

FAR = Tab("FAR", ACCT.columns, dbid=0x0206, psid=7, obid=9)


def luw(name: str, instance: int, sequence: int) -> dict[str, Any]:
    return {
        "LUWNETWORKID": "NETA",
        "LUWNAME": name,
        "LUWINSTANCENO": instance.to_bytes(6, "big"),
        "LUWSEQUENCENO": sequence,
    }


def place(database: str, space: str, partition: int, rid: str) -> dict[str, Any]:
    return {"DBNAME": database, "TSNAME": space, "PARTNUM": partition, "RID": bytes.fromhex(rid)}


def written(folder: Path, builder: LogBuilder) -> dict[str, Any]:
    """Rows 1 to 4 of four units, each in its own place."""
    first = builder.unit(**luw("LUA", 0x1023, 1))
    first.insert(ACCT, acct(1), **place("DACCT", "SACCT", 1, "0000000201"), cuts=(20,))
    second = builder.unit(**luw("LUA", 0x1023, 2))
    second.insert(ACCT, acct(2), **place("DACCT", "SACCT", 2, "0000000202"))
    third = builder.unit(**luw("LUB", 0xA5F2B1C03E22, 0x1F))
    third.insert(FAR, acct(3), **place("DFAR", "SACCT", 2, "0000001001"))
    third.insert(FAR, acct(4), **place("DFAR", "SFAR", 4, "0000002001"))
    control, data = builder.write(folder)
    return {"control": control, "data": data}


@contextmanager
def opened(folder: Path) -> Iterator[replay.Log]:
    with replay.open_log(**written(folder, LogBuilder((ACCT, FAR)))) as log:
        yield log


def taken(log: replay.Log, **options: Any) -> list[int]:
    rows = log.select(**options).changes().read_all()["after"].to_pylist()
    return sorted((json.loads(row) if isinstance(row, str) else row)["id"] for row in rows)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"luws": "NETA.LUA.*"}, [1, 2]),
        ({"luws": "neta.lua.000000001023"}, [1, 2]),
        ({"luws": "NETA.LUA.000000001023.0002"}, [2]),
        ({"luws": ["NETA.LUB.A5F2B1C03E22.001F", "NETA.*.0001"]}, [1, 3, 4]),
        ({"databases": "DACCT"}, [1, 2]),
        ({"databases": "d*r"}, [3, 4]),
        ({"databases": str(0x0206)}, [3, 4]),
        ({"tablespaces": "SACCT"}, [1, 2, 3]),
        ({"tablespaces": "DFAR.SACCT"}, [3]),
        ({"tablespaces": ["2", "SFAR"]}, [1, 2, 4]),
        ({"partitions": 2}, [2, 3]),
        ({"partitions": ["1", "3-4"]}, [1, 4]),
        ({"pages": "2"}, [1, 2]),
        ({"pages": "0x10-X'20'"}, [3, 4]),
        ({"rids": "0000000202"}, [2]),
        ({"rids": ["X'0000000201'", bytes.fromhex("0000001001")]}, [1, 3]),
        ({"rids": "000000000201"}, []),
        ({"tablespaces": "SACCT", "partitions": 2, "databases": "DFAR"}, [3]),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_lies_there_is_taken(
    tmp_path: Path, options: dict[str, Any], found: list[int]
) -> None:
    with opened(tmp_path) as log:
        assert taken(log, **options) == found


@pytest.mark.usefixtures("as_a_user")
def test_the_command_line_and_files_of_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = written(tmp_path, LogBuilder((ACCT, FAR)))
    words = [
        "--dialect",
        "postgres",
        "--control",
        str(files["control"]),
        "--data",
        *map(str, files["data"]),
    ]
    assert main(["redo", *words, "--out", "-", "--page", "0x10", "--luw", "*.LUB.*"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("INSERT INTO") == 1
    assert "testown.far" in printed
    (tmp_path / "logreplay.toml").write_text(
        "[selections.hot]\nrid = ['0000000201', '0000000202']\npartition = 2\n", encoding="utf-8"
    )
    assert main(["redo", *words, "--out", "-", "--selection", "hot"]) == 0
    assert "VALUES (2," in capsys.readouterr().out
    assert main(["redo", *words, "--out", "-", "--rid", "00000002FF"]) == 4
    assert "--rid 00000002FF leaves out" in capsys.readouterr().err


def test_an_excepted_logical_unit_stays_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = written(tmp_path, LogBuilder((ACCT, FAR)))
    words = ["--control", str(files["control"]), "--data", *map(str, files["data"])]
    words += ["--schema", "none", "--out", "-"]
    assert main(["redo", *words, "--except", "luw=NETA.LUA.*"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("INSERT INTO") == 2
    assert "testown.acct" not in printed


def test_a_history_shows_what_lies_there(tmp_path: Path) -> None:
    builder = LogBuilder((ACCT,))
    builder.unit(**luw("LUA", 1, 1)).insert(ACCT, acct(1), **place("D", "S", 1, "0000000201"))
    builder.unit(**luw("LUB", 2, 1)).update(
        ACCT, acct(1), acct(1, "Bea"), **place("D", "S", 2, "0000000301")
    )
    control, data = builder.write(tmp_path)
    with replay.open_log(control=control, data=data) as log:
        assert len(log.history("ACCT", "1").versions) == 2
        (only,) = log.history("ACCT", "1", pages=3).versions
        assert only.changed["NAME"][1] == "Bea"
        (only,) = log.history("ACCT", where="id = 1", luws="*.LUA.*").versions
        assert only.before is None
        assert len(log.history(partitions=2).versions) == 1


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"luws": "*"}, "LUWNETWORKID, LUWNAME, LUWINSTANCENO, LUWSEQUENCENO"),
        ({"databases": "D*"}, "DBNAME"),
        ({"tablespaces": "S*"}, "TSNAME"),
        ({"partitions": 1}, "PARTNUM"),
    ],
)
def test_a_header_without_the_field_is_refused(
    tmp_path: Path, options: dict[str, Any], field: str
) -> None:
    """Headers that XHDF records describe have what was asked for when the log was made."""
    builder = LogBuilder((ACCT,), header=OLD_HEADER, base=1)
    builder.unit().insert(ACCT, acct(1), RID=bytes.fromhex("0000000201"))
    control, data = builder.write(tmp_path)
    with replay.open_log(control=control, data=data) as log:
        with pytest.raises(Refusal, match=f"LR3020.*XHDF.* have no {field}"):
            log.select(**options)
        assert taken(log, pages=2, rids="0000000201", tablespaces="2") == [1]


@pytest.mark.parametrize("text", ["", "x", "5-3", "1-", "0x", "-1", "1-2-3"])
def test_numbers_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="LR1001"):
        range_of(text)


@pytest.mark.parametrize("text", ["", "201", "00000002G1", "0x"])
def test_row_identifiers_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="LR1001.*RID"):
        rid_of(text)


@pytest.mark.parametrize("big", [True, False])
@pytest.mark.parametrize("dialect", ["v7", "v97"])
def test_db2_luw_knows_table_spaces_and_rows(tmp_path: Path, dialect: str, big: bool) -> None:
    builder = LuwBuilder(dialect, big, "raw")
    unit = builder.begin()
    for number, rid in ((1, (1, 4)), (2, (1, 5)), (3, (9, 4))):
        unit.insert(PLAIN, row(number), rid)
    # the row outgrows its page: its own place keeps a pointer, and is where the row lies
    unit.insert(PLAIN, row(3, "Cora"), (20, 1), outer=4)
    unit.update(PLAIN, PLAIN.row(row(3), big), unit.pointer(), (9, 4))
    unit.commit()
    (tmp_path / "x.log").write_bytes(builder.bytes())
    (tmp_path / "catalog.csv").write_text(catalog_csv((PLAIN,)), encoding="utf-8")

    def octets(page: int, slot: int) -> str:
        return unit.rid((page, slot)).hex()

    with replay.open_log(
        source="db2luw", log=tmp_path / "x.log", catalog=tmp_path / "catalog.csv"
    ) as log:
        assert taken(log, rids=octets(1, 5)) == [2]
        assert taken(log, rids=[octets(1, 4), octets(9, 4)]) == [1, 3, 3]
        assert taken(log, tablespaces="3") == [1, 2, 3, 3]
        with pytest.warns(UserWarning, match="--tablespace 4 leaves out"):
            assert taken(log, tablespaces="4") == []
        for option in ("databases", "luws"):
            with pytest.raises(Refusal, match="LR3020"):
                log.select(**{option: "D"})
        for option in ("pages", "partitions"):
            with pytest.raises(Refusal, match="LR3020"):
                log.select(**{option: 1})
        with pytest.raises(Refusal, match="LR3020 found --tablespace USERSPACE1"):
            log.select(tablespaces="USERSPACE1")
