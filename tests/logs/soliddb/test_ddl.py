"""A SYS_LOG export with DDL, from the command line to statements: in order, back, and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.cli.main import main
from tests.support.solidbuilder import Col, LogBuilder, Tab, write_catalog, write_rows

COLUMNS = (
    Col("ID", "INTEGER", null=False),
    Col("NAME", "VARCHAR", 40),
    Col("PRICE", "DECIMAL", 9, 2),
)
ITEM = Tab(10_014, "DBA", "ITEM", COLUMNS, key=("ID",))
PART = Tab(10_015, "DBA", "PART", COLUMNS, key=("ID",))
#: (LOGRECID, INFO, the table whose RELID the record has, text)
DDL = [
    (16, "ITEM_IX", ITEM, "CREATE UNIQUE INDEX ITEM_IX ON ITEM (NAME DESC, ID)"),
    (
        46,
        "SHOP.DBA.NAMES",
        None,
        "CREATE VIEW DBA.NAMES AS SELECT ID, NAME FROM DBA.ITEM WHERE PRICE > 5",
    ),
    (28, "NUMBERS", None, "CREATE DENSE SEQUENCE DBA.NUMBERS"),
    (22, "ITEM", ITEM, "ALTER TABLE ITEM ADD CONSTRAINT DEAR CHECK (PRICE < 1000)"),
    (22, "ITEM", ITEM, "ALTER TABLE ITEM SET PESSIMISTIC"),
    (18, "ITEM_IX", ITEM, "DROP INDEX ITEM_IX"),
    (17, "PART", PART, "DROP TABLE PART"),
]


def written(folder: Path, *ddl: tuple[int, str, Tab | None, str]) -> list[str]:
    log = LogBuilder()
    for table, number in ((ITEM, 1), (PART, 2)):
        unit = log.begin()
        unit.insert(table, (number, "Ada", "1.50"))
        unit.commit()
    for kind, info, about, text in ddl:
        unit = log.begin()
        unit.ddl(kind, info, about.relid if about is not None else None, text)
        unit.commit()
    write_catalog(folder, [ITEM, PART])
    write_rows(folder / "syslog.csv", log.rows)
    return ["--source", "soliddb", "--log", str(folder / "syslog.csv"), "--catalog", str(folder)]


def said(text: str) -> list[str]:
    return [
        line
        for line in text.splitlines()
        if line.startswith(("CREATE", "ALTER", "DROP", "INSERT", "-- left", "-- not"))
    ]


def test_ddl_in_order_and_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = written(tmp_path, *DDL)
    assert main(["ddl", *log, "--changes", "redo"]) == 0
    made = [
        "CREATE UNIQUE INDEX item_ix ON dba.item(name DESC, id);",
        "CREATE VIEW dba.names AS SELECT id, name FROM dba.item WHERE price > 5;",
        "CREATE SEQUENCE dba.numbers START WITH 1;",
        "ALTER TABLE dba.item ADD CONSTRAINT dear CHECK (price < 1000);",
        "-- left out: ALTER TABLE ITEM SET PESSIMISTIC",
        "DROP INDEX dba.item_ix;",
        "DROP TABLE dba.part;",
    ]
    assert said(capsys.readouterr().out) == made
    assert main(["redo", *log, "--out", str(tmp_path / "redo"), "--engine", "local"]) == 0
    whole = said((tmp_path / "redo" / "0000-redo.sql").read_text(encoding="utf-8"))
    assert [line for line in whole if not line.startswith("INSERT")] == made
    assert main(["ddl", *log, "--changes", "undo"]) == 4
    assert said(capsys.readouterr().out) == [
        (
            "-- not brought back: the rows of the table, its default values, and all constraints"
            " and indexes but its key"
        ),
        (
            "CREATE TABLE dba.part (id INTEGER NOT NULL, name VARCHAR(40), price DECIMAL(52, 2),"
            " PRIMARY KEY (id));"
        ),
        "CREATE UNIQUE INDEX item_ix ON dba.item(name DESC, id);",
        "ALTER TABLE dba.item DROP CONSTRAINT dear;",
        "DROP SEQUENCE dba.numbers;",
        "DROP VIEW dba.names;",
        "DROP INDEX dba.item_ix;",
    ]
    assert main(["undo", *log, "--out", str(tmp_path / "undo"), "--engine", "local"]) == 8
    assert "LR3002" in capsys.readouterr().err
