"""The Db2 profile on Apache Derby, which comes with Spark and speaks Db2's SQL. It has no RID,
BX'…', BINARY and DECFLOAT, so tables have a key and bytes are FOR BIT DATA; CHR is made."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import replay
from replay.cli.main import main
from sqlgen import ddl
from sqlgen.dialects import profile_named
from sqlgen.render import upsert
from sqlgen.render_options import RenderOptions
from sqlgen.schema import ARROW_TYPES, Column, Op, Rows, SqlType, Table
from sqlgen.statements import render
from tests.support.client_readers import (
    inlined_compound,
    records_of,
    statements_of,
    statements_of_clp,
)
from tests.support.logbuilder import Col, LogBuilder, Tab

DB2 = profile_named("db2")
EDGES: dict[Column, tuple[Any, ...]] = {
    Column("S", SqlType.SMALLINT): (-(2**15), 2**15 - 1),
    Column("I", SqlType.INTEGER): (-(2**31), 2**31 - 1),
    Column("BIG", SqlType.BIGINT): (-(2**63) + 1, 2**63 - 1),
    Column("D", SqlType.DECIMAL, True, 31, 5): (f"-{'9' * 26}.99999", "0.00001"),
    Column("R", SqlType.REAL): (0.1, -3.4028234663852886e38),
    Column("F", SqlType.DOUBLE): (0.1, 1.7976931348623157e308),
    Column("C", SqlType.CHAR, True, 20): ("it's", "ünï"),
    Column("V", SqlType.VARCHAR, True, 200): (
        "back\\slash -- /* ;\ttab\nline",
        "\U0001f600 trailing  ",
    ),
    Column("DAY", SqlType.DATE): ("0001-01-01", "9999-12-31"),
    Column("CLOCK", SqlType.TIME): ("00:00:00", "23:59:59"),
    Column("TS", SqlType.TIMESTAMP, True, 6): (
        "0001-01-01 00:00:00.000000",
        "9999-12-31 23:59:59.999999",
    ),
    Column("B", SqlType.VARBINARY, True, 50): (b"", b"\x00\xff'"),
}
TABLE = Table("TRIP", "ORDER", (Column("ID", SqlType.INTEGER, False), *EDGES), ("ID",))


class Derby:
    """A database in memory."""

    def __init__(self, spark: Any) -> None:
        jvm = spark._jvm
        jvm.java.lang.System.setProperty("derby.stream.error.file", os.devnull)
        driver = jvm.org.apache.derby.jdbc.EmbeddedDriver()
        self.connection = driver.connect(
            f"jdbc:derby:memory:{secrets.token_hex(6)};create=true", jvm.java.util.Properties()
        )
        self.connection.setAutoCommit(False)
        self.run(
            "CREATE FUNCTION CHR(N INTEGER) RETURNS VARCHAR(1) PARAMETER STYLE JAVA NO SQL LANGUAGE"
            " JAVA EXTERNAL NAME 'java.lang.Character.toString'"
        )

    def run(self, text: str) -> int:
        """Run a statement of ours; the rows it touched."""
        text = re.sub(
            r"\b(?:VAR)?BINARY\((\d+)\)",
            r"VARCHAR(\1) FOR BIT DATA",
            text.removesuffix(";").replace("BX'", "X'"),
        )
        text = re.sub(r"TIMESTAMP\(\d+\)", "TIMESTAMP", text)
        if text == "COMMIT":
            self.connection.commit()
            return 0
        statement = self.connection.createStatement()
        try:
            return int(statement.executeUpdate(text))
        finally:
            statement.close()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query, values as text."""
        statement = self.connection.createStatement()
        found = statement.executeQuery(query)
        width = found.getMetaData().getColumnCount()
        rows = []
        while found.next():
            rows.append(tuple(found.getString(place + 1) for place in range(width)))
        statement.close()
        return rows


@pytest.fixture
def derby(spark: Any) -> Iterator[Derby]:
    made = Derby(spark)
    yield made
    made.connection.rollback()
    made.connection.close()


def image(row: int) -> dict[str, pa.Array]:
    values = {column.name: values[row] for column, values in EDGES.items()}
    return {
        column.name: pa.array([values.get(column.name, 1)], ARROW_TYPES[column.type])
        for column in TABLE.columns
    }


def shown(derby: Derby) -> list[tuple[Any, ...]]:
    texts = [f'"{name}"' for name in (column.name for column in TABLE.columns)]
    return derby.rows(f'SELECT {", ".join(texts)} FROM TRIP."ORDER"')


@pytest.mark.parametrize("where", ["key", "guard", "all"])
def test_edge_values_there_and_back(derby: Derby, where: str) -> None:
    derby.run(ddl.create_table(TABLE, DB2))
    options = RenderOptions(where_columns=where)
    changed = {name: pa.array([True]) for name in image(0) if name != "ID"}
    insert, update = (
        Rows(TABLE, Op.INSERT, 1, {}, image(0), {}),
        Rows(TABLE, Op.UPDATE, 1, image(0), image(1), changed),
    )
    seen = []
    for rows in (insert, update, update.inverse(), insert.inverse()):
        rendered = render(rows, DB2, options)
        assert rendered.problems == []
        assert derby.run(rendered.text[0].as_py()) == 1
        seen.append(shown(derby))
    assert seen[2] == seen[0] != seen[1]
    assert seen[3] == []
    (first,), (second,) = seen[0], seen[1]
    assert first[4] == f"-{'9' * 26}.99999"
    assert (first[9], second[9]) == ("0001-01-01", "9999-12-31")
    assert second[8] == "\U0001f600 trailing  "
    assert (first[12], second[12]) == ("", "00ff27")
    assert float(second[6]) == 1.7976931348623157e308


def test_upserts(derby: Derby) -> None:
    derby.run(ddl.create_table(TABLE, DB2))
    options = RenderOptions(upsert=True)
    changed = {name: pa.array([True]) for name in image(0) if name != "ID"}
    insert = Rows(TABLE, Op.INSERT, 1, {}, image(0), {})
    update = Rows(TABLE, Op.UPDATE, 1, image(0), image(1), changed, pa.array([True]))
    texts = [upsert.render(rows, DB2, options).text[0].as_py() for rows in (insert, update)]
    ends = []
    for _ in range(2):
        for text in texts:
            derby.run(text)
        ends.append(shown(derby))
    assert ends[0] == ends[1]
    assert len(ends[0]) == 1


def test_tables_and_their_changes(derby: Derby) -> None:
    parent = Table(
        "TRIP",
        "PARENT",
        (Column("ID", SqlType.INTEGER, False), Column("NAME", SqlType.VARCHAR, True, 20)),
        ("ID",),
    )
    index = ddl.TableIndex("BY_NAME", parent, (("NAME", True),))
    for text in (
        ddl.create_table(parent, DB2),
        ddl.create_index(index, DB2),
        *ddl.add_columns(parent, [Column("MORE", SqlType.DECIMAL, True, 9, 2)], DB2),
        *ddl.drop_columns(parent, [Column("MORE", SqlType.DECIMAL, True, 9, 2)], DB2),
        ddl.drop_index(index, DB2),
        ddl.rename_table(parent, "ELDER", DB2),
        ddl.drop_table(replace(parent, name="ELDER"), DB2),
    ):
        derby.run(text)


#: The table of the log that has no key.
KEYLESS = "SAKILA.KIOSK_SCAN"


@pytest.mark.long
def test_a_log_there_and_back(spark: Any, sakila_small: Path, tmp_path: Path) -> None:
    """The rows that the log shows at its beginning, its redo for Db2, and its undo for z/OS, as
    records of 80 bytes; each statement touches one row, of a table without a key too."""
    words = [str(sakila_small / "small.ctl"), "--schema", str(sakila_small / "schema.sql")]
    seen = []
    for at in ("start", "end"):
        rows, moved = tmp_path / at, tmp_path / f"moved-{at}"
        out = ["--format", "csv", "--out", str(rows)]
        assert main(["state", *words, "--at", at, *out]) in (0, 4)
        to = ["--dialect", "db2", "--initial", str(rows), "--out", str(moved)]
        assert main(["migrate", *words, *to]) in (0, 4)
        derby = Derby(spark)
        for script in (moved / "10-schema.sql", *sorted((moved / "20-load").glob("*.sql"))):
            carry_out(derby, statements_of_clp(script.read_text(), ";"))
        tables = sorted(path.stem for path in rows.glob("*.csv"))
        seen.append((derby, moved, {name: all_of(derby, name) for name in tables}))
    (derby, moved, before), (_, _, after) = seen
    redo = (moved / "30-redo" / "0000-redo.sql").read_text()
    carry_out(derby, statements_of_clp(redo, ";"))
    assert {name: all_of(derby, name) for name in after} == after != before
    out = ["--dialect", "db2zos", "--encoding", "cp037", "--out", str(tmp_path / "back")]
    assert main(["undo", *words, *out]) in (0, 4)
    for path in sorted((tmp_path / "back").glob("*.sql")):
        carry_out(derby, statements_of(records_of(path.read_bytes(), "cp037"), ""))
    assert {name: all_of(derby, name) for name in before} == before


def carry_out(derby: Derby, statements: Iterable[str]) -> None:
    """Run statements that touch a row each; UX'…', CONCAT and RID(), which Derby has not, are the
    text, a double bar and a column of the table without a key."""
    numbered = (f"CREATE TABLE {KEYLESS} (", "RID BIGINT GENERATED ALWAYS AS IDENTITY, ")
    for statement in statements:
        plain = re.sub("UX'([0-9A-F]*)'", in_plain, statement)
        parts = re.split("('(?:[^']|'')*')", plain)
        parts[::2] = (
            re.sub(r"RID\(\s*(\w+)\s*\)", r"\1.RID", part.replace("CONCAT", "||"))
            for part in parts[::2]
        )
        text = "".join(parts).replace(numbered[0], "".join(numbered))
        changes = text.startswith(("INSERT ", "UPDATE ", "DELETE "))
        assert derby.run(text) == (1 if changes else 0), text


def in_plain(found: re.Match[str]) -> str:
    text = bytes.fromhex(found[1]).decode("utf-16-be")
    return "'" + text.replace("'", "''") + "'"


def all_of(derby: Derby, table: str) -> list[tuple[Any, ...]]:
    first = 1 if f"SAKILA.{table}".upper() == KEYLESS else 0  # behind what Derby lacks
    return sorted((row[first:] for row in derby.rows(f"SELECT * FROM SAKILA.{table}")), key=str)


def test_checks_stop_where_a_row_is_another(derby: Derby, tmp_path: Path) -> None:
    """A compound statement, which Derby has not, is carried out as its pages say."""
    item = Tab("ITEM", (Col("N", "INT", 4, key=1), Col("WORD", "VCHR", 20, subtype="S")), "SHOP")
    log = LogBuilder((item,))
    unit = log.unit()
    unit.update(item, (1, "it's; -- ';' END IF;"), (1, "b"))
    unit.update(item, (2, "x"), (2, "y"))
    control, data = log.write(tmp_path)
    opened = replay.open_log(control=control, data=data).select()
    opened.undo("db2", client="clp").write(tmp_path / "out")
    script = (tmp_path / "out" / "0000-undo.sql").read_text()
    derby.run("CREATE SCHEMA SHOP")
    derby.run("CREATE TABLE SHOP.ITEM (N INTEGER NOT NULL PRIMARY KEY, WORD VARCHAR(20))")
    derby.run("COMMIT")
    for there, stopped in (("(1, 'b'), (2, 'y')", 0), ("(2, 'y')", 2)):
        derby.run("DELETE FROM SHOP.ITEM")
        derby.run(f"INSERT INTO SHOP.ITEM VALUES {there}")
        derby.run("COMMIT")
        assert ran(derby, script) == (
            f"75001 URID={unit.key[0].hex().upper()} member=1: statement {stopped}: not 1 row"
            if stopped
            else ""
        )
        assert derby.rows("SELECT WORD FROM SHOP.ITEM ORDER BY N") == (
            [("y",)] if stopped else [("it's; -- ';' END IF;",), ("x",)]
        )


def ran(derby: Derby, script: str) -> str:
    """What a script signals that ``db2 +c -s`` runs, and ``db2 rollback`` behind it; '' where it
    comes to its end."""
    for statement in statements_of_clp(script, "@"):
        compound = inlined_compound(statement)
        if compound is None:
            derby.run(statement)
        elif derby.run(compound[0]) != 1:
            derby.connection.rollback()
            return f"{compound[1]} {compound[2]}"
    return ""
