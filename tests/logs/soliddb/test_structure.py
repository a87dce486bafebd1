"""Tables that change within a SYS_LOG export: which columns rows have at each place, and what goes
into scripts for the DDL."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.errors import Refusal
from replay.logs.soliddb.reader import SolidLog
from sqlgen.soliddb.table_shape import created
from tests.support.scripted import opened_solid, script
from tests.support.solidbuilder import (
    Col,
    Foreign,
    LogBuilder,
    Tab,
)
from tests.support.words import of_family

ID, NAME, MORE = (
    Col("ID", "INTEGER", null=False),
    Col("NAME", "VARCHAR", 20),
    Col("MORE", "INTEGER"),
)
VERSION = Col("RS_ANAME_TUPLE_VERSION", "BIGINT", attr=2)
OLD = Tab(10_300, "DBA", "T", (ID, NAME, VERSION), key=("ID",))
NEW = Tab(10_300, "DBA", "T", (ID, NAME, VERSION, MORE), key=("ID",))
GONE = Tab(
    10_300,
    "DBA",
    "T",
    (ID, Col("$SYS_DELETED_3_NAME", "VARCHAR", 20, attr=8), VERSION, MORE),
    key=("ID",),
)


def unit(log: LogBuilder, work: Any) -> bytes:
    made = log.begin()
    work(made)
    return made.commit()


def altered(
    text: str | None = "ALTER TABLE T ADD COLUMN MORE INTEGER",
    after: Tab = NEW,
    last: tuple[Any, ...] = (2, "b", 5),
) -> LogBuilder:
    """A row before and a row after an ALTER TABLE."""
    log = LogBuilder()
    unit(log, lambda made: made.insert(OLD, (1, "a")))
    unit(log, lambda made: made.ddl(22, "T", OLD.relid, text))
    unit(log, lambda made: made.insert(after, last))
    return log


def opened(folder: Path, log: LogBuilder, *tables: Tab, **more: Any) -> SolidLog:
    return opened_solid(folder, log, tables=tables, **more)


@pytest.mark.parametrize("text", ["ALTER TABLE T DROP COLUMN NAME", None])
def test_a_column_is_dropped(tmp_path: Path, text: str | None) -> None:
    log = LogBuilder()
    unit(log, lambda made: made.insert(NEW, (1, "a", 5)))
    unit(log, lambda made: made.ddl(22, "T", OLD.relid, text))
    unit(log, lambda made: made.insert(GONE, (2, 6)))
    found = opened(tmp_path, log, GONE)
    assert script(found, tmp_path)[1] == [
        "INSERT INTO dba.t (id, name, more) VALUES (1, 'a', 5);",
        "ALTER TABLE dba.t DROP COLUMN name;",
        "INSERT INTO dba.t (id, more) VALUES (2, 6);",
    ]
    with pytest.raises(Refusal, match="LR3002"):
        script(found, tmp_path, "undo")


def test_a_key_column_is_renamed(tmp_path: Path) -> None:
    after = Tab(10_300, "DBA", "T", (Col("NO", "INTEGER", null=False), NAME, VERSION), key=("NO",))
    log = altered("ALTER TABLE T RENAME COLUMN ID NO", after, (2, "b"))
    unit(log, lambda made: made.delete(after, (1, "a")))
    assert (
        script(opened(tmp_path, log, after), tmp_path)[1][-1] == "DELETE FROM dba.t WHERE no = 1;"
    )


def test_a_type_is_changed(tmp_path: Path) -> None:
    """What the type was before is not in the log, so rows before are set aside and named."""
    log = opened(
        tmp_path, altered("ALTER TABLE T MODIFY COLUMN NAME LONG VARCHAR", OLD, (2, "b")), OLD
    )
    bundle, lines = script(log, tmp_path)
    assert lines == [
        "ALTER TABLE dba.t ALTER COLUMN name TYPE TEXT;",
        "INSERT INTO dba.t (id, name) VALUES (2, 'b');",
    ]
    assert bundle.manifest["findings"]["shown"][0].startswith("LR2011")
    assert any(
        "its columns before 'ALTER TABLE T MODIFY" in warning for warning in log.warnings([])
    )


def test_a_renaming_without_its_statement_is_told(tmp_path: Path) -> None:
    after = Tab(10_300, "DBA", "N", OLD.columns, key=("ID",))
    log = LogBuilder()
    unit(log, lambda made: made.insert(OLD, (1, "a")))
    unit(log, lambda made: made.ddl(47, "SHOP.DBA.N", OLD.relid))
    found = opened(tmp_path, log, after)
    assert script(found, tmp_path)[1][0].startswith("INSERT INTO dba.n")
    assert any("its former name is not in the log" in warning for warning in found.warnings([]))
    assert any("noted and not repeated" in warning for warning in found.warnings([]))


def test_the_export_of_system_tables_may_be_older_than_the_log(tmp_path: Path) -> None:
    log = altered()
    manifest = {"metadata_logaddr": log.commits[0].hex()}
    assert (
        script(opened(tmp_path, log, OLD, manifest=manifest), tmp_path)[1][-1]
        == "INSERT INTO dba.t (id, name, more) VALUES (2, 'b', 5);"
    )
    silent = altered(None)
    manifest = {"metadata_logaddr": silent.commits[0].hex()}
    bundle, lines = script(
        opened(tmp_path / "silent", silent, OLD, manifest=manifest), tmp_path / "silent"
    )
    assert lines[0] == "INSERT INTO dba.t (id, name) VALUES (1, 'a');"
    assert not any(line.startswith("INSERT") for line in lines[1:])
    assert bundle.manifest["findings"]["shown"][0].startswith("LR2011")


@pytest.mark.parametrize(
    ("text", "last", "expected"),
    [
        (
            "ALTER TABLE T DROP COLUMN NAME",
            Tab(10_300, "DBA", "T", (ID, VERSION), key=("ID",)),
            "INSERT INTO dba.t (id) VALUES (2);",
        ),
        (
            "ALTER TABLE T RENAME NAME TITLE",
            Tab(10_300, "DBA", "T", (ID, Col("TITLE", "VARCHAR", 20), VERSION), key=("ID",)),
            "INSERT INTO dba.t (id, title) VALUES (2, 'b');",
        ),
        ("ALTER TABLE T SET TABLE NAME N", OLD, "INSERT INTO dba.n (id, name) VALUES (2, 'b');"),
        ("ALTER TABLE T MODIFY SCHEMA S", OLD, "INSERT INTO s.t (id, name) VALUES (2, 'b');"),
        ("ALTER TABLE T SET STORE MEMORY", OLD, "INSERT INTO dba.t (id, name) VALUES (2, 'b');"),
    ],
)
def test_statements_lead_on_from_an_older_export(
    tmp_path: Path, text: str, last: Tab, expected: str
) -> None:
    log = altered(text, last, (2, "b")[: len(last.user())])
    found = opened(tmp_path, log, OLD, manifest={"metadata_logaddr": log.commits[0].hex()})
    assert script(found, tmp_path)[1][-1] == expected


def test_rows_of_a_dropped_table_without_its_create_are_set_aside(tmp_path: Path) -> None:
    log = LogBuilder()
    unit(log, lambda made: made.insert(OLD, (1, "a")))
    unit(log, lambda made: made.ddl(17, "T", OLD.relid, "DROP TABLE T"))
    other = Tab(10_301, "DBA", "U", (ID, NAME, VERSION), key=("ID",))
    unit(log, lambda made: made.insert(other, (3, "c")))
    bundle, lines = script(opened(tmp_path, log, other), tmp_path)
    assert lines == [
        "-- .T: drop table: DROP TABLE T",
        "INSERT INTO dba.u (id, name) VALUES (3, 'c');",
    ]
    assert bundle.manifest["findings"]["shown"][0].startswith("LR2011")


def test_several_forms_that_close_are_refused_not_guessed(tmp_path: Path) -> None:
    """Before an ALTER without text, two columns of which one was dropped: either may have been
    there."""
    former = Tab(10_300, "DBA", "T", (ID, NAME), key=("ID",))
    twice = (
        ID,
        Col("$SYS_DELETED_3_A", "VARCHAR", 20, attr=8),
        Col("$SYS_DELETED_4_B", "VARCHAR", 20, attr=8),
        VERSION,
    )
    log = LogBuilder()
    unit(log, lambda made: made.insert(former, (1, "a")))
    unit(log, lambda made: made.ddl(22, "T", former.relid))
    now = Tab(10_300, "DBA", "T", twice, key=("ID",))
    other = Tab(10_301, "DBA", "U", (ID, NAME, VERSION), key=("ID",))
    unit(log, lambda made: made.insert(now, (2,)))
    unit(log, lambda made: made.insert(other, (2, "x")))
    found = opened(tmp_path, log, now, other)
    bundle, lines = script(found, tmp_path)
    assert [line for line in lines if line.startswith("INSERT")] == [
        "INSERT INTO dba.t (id) VALUES (2);",
        "INSERT INTO dba.u (id, name) VALUES (2, 'x');",
    ]
    assert any("close with several sets of columns" in warning for warning in found.warnings([]))
    assert bundle.exit_code == 8


def test_truncation(tmp_path: Path) -> None:
    log = LogBuilder()
    unit(log, lambda made: made.insert(OLD, (1, "a")))
    unit(log, lambda made: made.ddl(73, "T", OLD.relid, "TRUNCATE TABLE T"))
    found = opened(tmp_path, log, OLD)
    assert script(found, tmp_path)[1][-1] == "TRUNCATE TABLE dba.t;"
    with pytest.raises(Refusal, match=r"LR3002.*DBA\.T.*a committed truncate"):
        script(found, tmp_path, "undo")


def test_rows_before_and_after_a_truncation_in_one_transaction(tmp_path: Path) -> None:
    """A row may come with the key of one that went with its table; none that went may change."""
    log = LogBuilder()
    made = log.begin()
    made.insert(OLD, (1, "a"))
    made.next_statement().ddl(73, "T", OLD.relid, "TRUNCATE TABLE T")
    made.next_statement().insert(OLD, (1, "b"))
    made.next_statement().update(OLD, (1, "b"), (1, "c"))
    made.commit()
    bundle, lines = script(opened(tmp_path, log, OLD), tmp_path)
    assert bundle.exit_code == 0
    assert lines == [
        "INSERT INTO dba.t (id, name) VALUES (1, 'a');",
        "TRUNCATE TABLE dba.t;",
        "INSERT INTO dba.t (id, name) VALUES (1, 'b');",
        "UPDATE dba.t SET name = 'c' WHERE id = 1;",
    ]
    made = log.begin()
    made.insert(OLD, (2, "a"))
    made.next_statement().ddl(73, "T", OLD.relid, "TRUNCATE TABLE T")
    made.next_statement().delete(OLD, (2, "a"))
    made.commit()
    bundle, more = script(opened(tmp_path, log, OLD), tmp_path / "more")
    assert bundle.exit_code == 8
    assert "contradicts record" in str(bundle.manifest["findings"]["shown"][0])
    assert more == lines


@pytest.mark.parametrize(
    ("kind", "info", "text", "expected"),
    [
        (16, "T_I", "CREATE INDEX T_I ON T (NAME)", "CREATE INDEX t_i ON dba.t(name"),
        (18, "DBA.T_I", "DROP INDEX T_I", "DROP INDEX dba.t_i;"),
        (46, "SHOP.DBA.V", "CREATE VIEW V AS SELECT ID FROM T", "CREATE VIEW dba.v AS SELECT "),
        (20, "DBA.V", "DROP VIEW V", "DROP VIEW dba.v;"),
        (28, "DBA.S", "CREATE SEQUENCE S", "CREATE SEQUENCE dba.s"),
        (30, "DBA.S", "DROP SEQUENCE S", "DROP SEQUENCE dba.s;"),
        (27, "DBA.C", None, "-- DBA.C: create counter (its statement is not in the log)"),
        (29, "C", None, "-- .C: drop counter (its statement is not in the log)"),
        (16, "T_I", None, "-- .T_I: create index (its statement is not in the log)"),
        (28, "S", "CREATE SEQUENCE S", "-- .S: create sequence: CREATE SEQUENCE S"),
    ],
)  # fmt: skip
def test_other_objects(
    tmp_path: Path, kind: int, info: str, text: str | None, expected: str
) -> None:
    log = LogBuilder()
    unit(log, lambda made: made.ddl(kind, info, None, text))
    found = opened(tmp_path, log, OLD)
    (line,) = script(found, tmp_path)[1]
    assert line.startswith(expected), line
    told = any("noted and not repeated" in warning for warning in found.warnings([]))
    assert told == (expected.startswith("-- .") and kind not in (27, 29))


def test_a_statement_that_is_not_understood_is_refused_by_name(tmp_path: Path) -> None:
    log = opened(tmp_path, altered("ALTER TABLE T FROBNICATE EVERYTHING", OLD, (2, "b")), OLD)
    with pytest.raises(Refusal, match="LR3021.*ALTER TABLE T FROBNICATE EVERYTHING"):
        script(log, tmp_path)
    assert script(log, tmp_path, selection=Selection(exclude_tables=("DBA.T",)))[1] == []


def test_a_ddl_record_in_no_known_layout_sets_its_unit_aside(tmp_path: Path) -> None:
    log = altered(None, OLD, (2, "b"))
    log.rows[4]["DATA"] = b"\0\0\0\x2c\0\0\0\1A"
    bundle, lines = script(opened(tmp_path, log, OLD), tmp_path)
    assert len(lines) == 2
    assert bundle.manifest["findings"]["shown"][0].startswith("LR2018")


@pytest.mark.parametrize(
    ("text", "names", "key"),
    [
        ("CREATE TABLE T (A INT, B CHAR(3) NOT NULL, PRIMARY KEY (A, B))", ["A", "B"], ("A", "B")),
        (
            'CREATE TABLE "my t" ("a b" DECIMAL(5,2) DEFAULT 1.5, C DOUBLE PRECISION PRIMARY KEY)',
            ["a b", "C"],
            ("C",),
        ),
        (
            (
                "CREATE TABLE T (A INT, CONSTRAINT K PRIMARY KEY (A), CHECK (A > (1)), UNIQUE (A))"
                " STORE DISK"
            ),
            ["A"],
            ("A",),
        ),
        ("CREATE TABLE T (A GEOMETRY)", None, None),
        ("CREATE VIEW V AS SELECT 1", None, None),
        ("CREATE TABLE T", None, None),
    ],
)
def test_what_create_table_makes(
    text: str, names: list[str] | None, key: tuple[str, ...] | None
) -> None:
    found = created(text)
    if names is None:
        assert found is None
        return
    assert found is not None
    assert [column.name for column in found[0]] == names
    assert found[1] == key


@pytest.mark.parametrize("words", [["redo"], ["replay", "--table", "DBA.CHILD"]])
def test_what_refers_to_a_masked_key_gets_its_mask(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the target has no foreign key, and the parent is not selected."""
    parent = Tab(10_310, "DBA", "PARENT", (ID,), key=("ID",))
    refers = Foreign(("UP",), 10_310, ("ID",))
    child = Tab(10_311, "DBA", "CHILD", (ID, Col("UP", "INTEGER")), key=("ID",), foreign=(refers,))
    log = LogBuilder()
    unit(log, lambda made: made.insert(parent, (1,)))
    unit(log, lambda made: made.insert(child, (7, 1)))
    opened(tmp_path, log, parent, child)
    (tmp_path / "map.toml").write_text('[tables."DBA.PARENT"]\nmask = ["ID"]\n')
    (tmp_path / "key").write_text("nobody knows this text")
    target = tmp_path / "target.db"
    with closing(sqlite3.connect(target)) as made:
        made.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
        made.execute("CREATE TABLE child (id INTEGER PRIMARY KEY, up INTEGER)")
    place = ["--out", str(tmp_path / "out")]
    if words[0] == "replay":
        place = ["--to", f"sqlite:///{target}?schema=dba"]
    named = of_family("soliddb", tmp_path / "syslog0.parquet", tmp_path)
    named += ["--mapping", str(tmp_path / "map.toml"), "--mask-key-file", str(tmp_path / "key")]
    assert main([*words, *named, *place, "--engine", "local"]) == 12
    assert "LR1011 found DBA.CHILD.UP not masked" in "".join(capsys.readouterr())


def test_keys_of_the_export_order_the_rows_of_a_transaction(tmp_path: Path) -> None:
    """What a foreign key deletes is logged behind what made it do so; a target that enforces the
    key wants it the other way round."""
    parent = Tab(10_310, "DBA", "PARENT", (ID, NAME), key=("ID",), unique=(("NAME",),))
    cascade = Foreign(("UP",), 10_310, ("ID",), 0x0001)
    child = Tab(10_311, "DBA", "CHILD", (ID, Col("UP", "INTEGER")), key=("ID",), foreign=(cascade,))
    log = LogBuilder()

    def work(made: Any) -> None:
        made.delete(parent, (1, "a"))
        made.delete(child, (7, 1))
        made.delete(child, (8, 1))

    unit(log, work)
    found = opened(tmp_path, log, parent, child)
    (key,) = found.constraints.foreign_keys
    assert (key.table, key.columns, key.parent, key.parent_columns, key.on_delete) == (
        "DBA.CHILD",
        ("UP",),
        "DBA.PARENT",
        ("ID",),
        "CASCADE",
    )
    assert found.constraints.keys == (("DBA.PARENT", ("NAME",)),)
    named = [*of_family("soliddb", tmp_path / "syslog0.parquet", tmp_path), "--engine", "local"]
    for mode, words in (
        ("redo", ["CHILD", "CHILD", "PARENT"]),
        ("undo", ["PARENT", "CHILD", "CHILD"]),
    ):
        assert main([mode, *named, "--out", str(tmp_path / mode)]) == 0
        text = (tmp_path / mode / f"0000-{mode}.sql").read_text()
        assert [word.upper() for word in re.findall(r"(?:FROM|INTO) dba\.(\w+)", text)] == words
    assert (
        main(
            [
                "redo",
                *named,
                "--out",
                str(tmp_path / "plain"),
                "--log-option",
                "foreign-keys=ignore",
            ]
        )
        == 0
    )
    text = (tmp_path / "plain" / "0000-redo.sql").read_text()
    assert [word.upper() for word in re.findall(r"FROM dba\.(\w+)", text)] == [
        "PARENT",
        "CHILD",
        "CHILD",
    ]


@pytest.mark.parametrize("later", [True, False])
def test_old_images_that_were_widened(tmp_path: Path, later: bool) -> None:
    """Rows from before ADD COLUMN that hold a value for the new column: it is not there yet, so it
    is not written."""
    log = LogBuilder()
    for number in range(3):
        unit(log, lambda made, number=number: made.insert(NEW, (number, "a", None)))
    unit(log, lambda made: made.ddl(22, "T", OLD.relid, "ALTER TABLE T ADD COLUMN MORE INTEGER"))
    if later:
        unit(log, lambda made: made.insert(NEW, (7, "b", 5)))
    lines = script(opened(tmp_path, log, NEW), tmp_path)[1]
    assert lines[:4] == [
        *(f"INSERT INTO dba.t (id, name) VALUES ({number}, 'a');" for number in range(3)),
        "ALTER TABLE dba.t ADD COLUMN more INTEGER;",
    ]
    assert lines[4:] == ["INSERT INTO dba.t (id, name, more) VALUES (7, 'b', 5);"] * later


def test_old_images_that_were_widened_by_several_statements(tmp_path: Path) -> None:
    """Nothing was changed between the statements, so nothing shows the columns of that time."""
    most = replace(NEW, columns=(*NEW.columns, Col("LAST", "VARCHAR", 20)))
    log = LogBuilder()
    unit(log, lambda made: made.insert(most, (1, "a", None, None)))
    for text in ("MORE INTEGER", "LAST VARCHAR(20)"):
        unit(
            log,
            lambda made, text=text: made.ddl(
                22, "T", OLD.relid, f"ALTER TABLE T ADD COLUMN {text}"
            ),
        )
    unit(log, lambda made: made.insert(most, (2, "b", 5, "c")))
    assert script(opened(tmp_path, log, most), tmp_path)[1] == [
        "INSERT INTO dba.t (id, name) VALUES (1, 'a');",
        "ALTER TABLE dba.t ADD COLUMN more INTEGER;",
        "ALTER TABLE dba.t ADD COLUMN last VARCHAR(20);",
        "INSERT INTO dba.t (id, name, more, last) VALUES (2, 'b', 5, 'c');",
    ]


@pytest.mark.parametrize("framing", [None, "len32"])
def test_ddl_that_one_framing_reads_tells_the_columns_of_rows_before_it(
    tmp_path: Path, framing: str | None
) -> None:
    log = LogBuilder()
    unit(log, lambda made: made.insert(OLD, (1, "a")))
    text = "ALTER TABLE T ADD COLUMN MORE INTEGER"
    unit(log, lambda made: made.ddl(22, "T", OLD.relid, text, "D3"))
    assert script(opened(tmp_path, log, NEW, framing=framing), tmp_path)[1] == [
        "INSERT INTO dba.t (id, name) VALUES (1, 'a');",
        "ALTER TABLE dba.t ADD COLUMN more INTEGER;",
    ]


def test_old_images_without_a_column_that_was_dropped_are_set_aside(tmp_path: Path) -> None:
    """What the column held is not known, so a state from before the drop would be wrong."""
    log = LogBuilder()
    unit(log, lambda made: made.insert(GONE, (1, 5)))
    unit(log, lambda made: made.ddl(22, "T", OLD.relid, "ALTER TABLE T DROP COLUMN NAME"))
    unit(log, lambda made: made.insert(GONE, (2, 6)))
    bundle, lines = script(opened(tmp_path, log, GONE), tmp_path)
    assert lines == []  # and with it what builds on it
    assert bundle.manifest["findings"]["shown"][0].startswith("LR2014")


# -- tables that move to another schema
# -------------------------------------------------------------------------------------------------

MOVED = Tab(10_300, "OTHER", "T", OLD.columns, key=("ID",))
MOVE = "ALTER TABLE DBA.T MODIFY SCHEMA OTHER"


def moved(
    text: str | None = MOVE, info: str = "T", relid: int | None = OLD.relid, kind: int = 22
) -> LogBuilder:
    """A row before and a row after a table goes from DBA to OTHER."""
    log = LogBuilder()
    unit(log, lambda made: made.insert(OLD, (1, "a")))
    unit(log, lambda made: made.ddl(kind, info, relid, text))
    unit(log, lambda made: made.insert(OLD, (2, "b")))
    return log


@pytest.mark.parametrize(
    ("text", "info", "relid", "kind"),
    [
        (MOVE, "T", OLD.relid, 22),
        (MOVE, "T", OLD.relid, 47),
        (MOVE, "T", None, 22),
        (MOVE, "SHOP.DBA.T", None, 22),
        ("ALTER TABLE SHOP.DBA.T MODIFY SCHEMA OTHER", "T", OLD.relid, 22),
        ("ALTER TABLE T MODIFY SCHEMA OTHER", "SHOP.DBA.T", OLD.relid, 22),
    ],
)
def test_a_table_moves_to_another_schema(
    tmp_path: Path, text: str, info: str, relid: int | None, kind: int
) -> None:
    log = opened(tmp_path, moved(text, info, relid, kind), MOVED)
    assert log.warnings([]) == []
    assert script(log, tmp_path)[1] == [
        "INSERT INTO dba.t (id, name) VALUES (1, 'a');",
        "ALTER TABLE dba.t SET SCHEMA other;",
        "INSERT INTO other.t (id, name) VALUES (2, 'b');",
    ]
    assert script(log, tmp_path, "undo")[1] == [
        "DELETE FROM other.t WHERE id = 2;",
        "ALTER TABLE other.t SET SCHEMA dba;",
        "DELETE FROM dba.t WHERE id = 1;",
    ]


@pytest.mark.parametrize("whole", [True, False])
def test_records_without_relid_mean_the_table_that_had_their_name_then(
    tmp_path: Path, whole: bool
) -> None:
    """With the system tables of the end, and of the beginning."""
    log = LogBuilder()
    first = unit(log, lambda made: made.insert(OLD, (1, "a")))
    for number, text in enumerate(
        (
            "ALTER TABLE DBA.T SET TABLE NAME A",
            "ALTER TABLE DBA.A MODIFY SCHEMA OTHER",
            "ALTER TABLE OTHER.A SET TABLE NAME B",
        )
    ):
        unit(log, lambda made, text=text: made.ddl(22, text.split()[2], None, text))  # type: ignore[misc]
        unit(log, lambda made, number=number: made.insert(OLD, (number + 2, "b")))  # type: ignore[misc]
    table = Tab(10_300, "OTHER", "B", OLD.columns, key=("ID",)) if whole else OLD
    found = opened(
        tmp_path, log, table, manifest={} if whole else {"metadata_logaddr": first.hex()}
    )
    assert found.warnings([]) == []
    assert script(found, tmp_path)[1] == [
        "INSERT INTO dba.t (id, name) VALUES (1, 'a');",
        "ALTER TABLE dba.t RENAME TO a;",
        "INSERT INTO dba.a (id, name) VALUES (2, 'b');",
        "ALTER TABLE dba.a SET SCHEMA other;",
        "INSERT INTO other.a (id, name) VALUES (3, 'b');",
        "ALTER TABLE other.a RENAME TO b;",
        "INSERT INTO other.b (id, name) VALUES (4, 'b');",
    ]


def test_what_came_before_a_move_tells_where_the_table_was(tmp_path: Path) -> None:
    log = LogBuilder()
    unit(
        log,
        lambda made: made.ddl(
            45,
            "T",
            OLD.relid,
            "CREATE TABLE DBA.T (ID INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(20))",
        ),
    )
    unit(log, lambda made: made.insert(OLD, (1, "a")))
    unit(log, lambda made: made.ddl(16, "IX", OLD.relid, "CREATE INDEX IX ON T (NAME)"))
    unit(log, lambda made: made.ddl(22, "T", OLD.relid, "ALTER TABLE T MODIFY SCHEMA MIDDLE"))
    unit(log, lambda made: made.insert(OLD, (2, "b")))
    unit(log, lambda made: made.ddl(22, "T", OLD.relid, "ALTER TABLE T MODIFY SCHEMA OTHER"))
    unit(log, lambda made: made.insert(OLD, (3, "c")))
    assert script(opened(tmp_path, log, MOVED), tmp_path)[1] == [
        "CREATE TABLE dba.t (id INTEGER NOT NULL, name VARCHAR(20), PRIMARY KEY (id));",
        "INSERT INTO dba.t (id, name) VALUES (1, 'a');",
        "CREATE INDEX ix ON dba.t(name);",
        "ALTER TABLE dba.t SET SCHEMA middle;",
        "INSERT INTO middle.t (id, name) VALUES (2, 'b');",
        "ALTER TABLE middle.t SET SCHEMA other;",
        "INSERT INTO other.t (id, name) VALUES (3, 'c');",
    ]


def test_where_a_table_was_that_nobody_tells_is_not_guessed(tmp_path: Path) -> None:
    log = LogBuilder()
    unit(log, lambda made: made.ddl(16, "IX", OLD.relid, "CREATE INDEX IX ON T (NAME)"))
    unit(log, lambda made: made.insert(OLD, (1, "a")))
    unit(log, lambda made: made.ddl(22, "T", OLD.relid, "ALTER TABLE T MODIFY SCHEMA OTHER"))
    unit(log, lambda made: made.insert(OLD, (2, "b")))
    found = opened(tmp_path, log, MOVED)
    bundle, lines = script(found, tmp_path)
    assert lines == [
        "-- .IX: create index: CREATE INDEX IX ON T (NAME)",
        "INSERT INTO other.t (id, name) VALUES (2, 'b');",
    ]
    assert bundle.exit_code == 8
    assert bundle.manifest["findings"]["shown"][0].startswith("LR2011")
    assert any("came from another schema" in warning for warning in found.warnings([]))


def test_a_move_without_its_statement_is_where_its_record_says(tmp_path: Path) -> None:
    found = opened(tmp_path, moved(None, "SHOP.DBA.T"), MOVED)
    lines = script(found, tmp_path)[1]
    assert lines[0] == "INSERT INTO dba.t (id, name) VALUES (1, 'a');"
    assert lines[1:] == ["INSERT INTO other.t (id, name) VALUES (2, 'b');"]
    assert any("its statement is not in the log" in warning for warning in found.warnings([]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MOVE, "ALTER TABLE dba.t SET SCHEMA other;"),
        ("ALTER TABLE T SET TABLE NAME N", "ALTER TABLE dba.t RENAME TO n;"),
    ],
)
def test_an_export_that_is_older_than_a_move_does_not_name_what_came_after(
    tmp_path: Path, text: str, said: str
) -> None:
    found = opened(tmp_path, moved(text), OLD)
    bundle, lines = script(found, tmp_path)
    assert lines == ["INSERT INTO dba.t (id, name) VALUES (1, 'a');", said]
    assert bundle.exit_code == 8
    assert any("metadata_logaddr" in warning for warning in found.warnings([]))


def test_a_table_that_moves_and_is_dropped_moves_from_where_the_statement_says(
    tmp_path: Path,
) -> None:
    log = LogBuilder()
    unit(log, lambda made: made.ddl(22, "T", OLD.relid, MOVE))
    unit(log, lambda made: made.ddl(17, "T", OLD.relid, "DROP TABLE OTHER.T"))
    found = opened(tmp_path, log, Tab(10_500, "DBA", "U", OLD.columns, key=("ID",)))
    assert found.warnings([]) == []
    assert script(found, tmp_path)[1] == [
        "ALTER TABLE dba.t SET SCHEMA other;",
        "DROP TABLE other.t;",
    ]


def test_a_view_is_dropped_where_it_was_made(tmp_path: Path) -> None:
    log = LogBuilder()
    unit(log, lambda made: made.insert(OLD, (1, "a")))
    unit(log, lambda made: made.ddl(46, "V", 10_400, "CREATE VIEW V AS SELECT ID FROM T"))
    unit(log, lambda made: made.ddl(20, "V", 10_400, "DROP VIEW V"))
    unit(log, lambda made: made.ddl(28, "S", 10_401, "CREATE SEQUENCE SHOP.DBA.S"))
    unit(log, lambda made: made.ddl(30, "S", 10_401, "DROP SEQUENCE S"))
    found = opened(tmp_path, log, OLD)
    assert script(found, tmp_path)[1][1:] == [
        "CREATE VIEW dba.v AS SELECT id FROM dba.t;",
        "DROP VIEW dba.v;",
        "CREATE SEQUENCE dba.s START WITH 1;",
        "DROP SEQUENCE dba.s;",
    ]
    assert found.warnings([]) == []


@pytest.mark.parametrize(
    ("more", "clause"),
    [
        (Col("MORE", "INTEGER", default="9"), "INTEGER DEFAULT 9"),
        (Col("MORE", "INTEGER", null=False, default="9"), "INTEGER DEFAULT 9"),
        (Col("MORE", "VARCHAR", 9, default="'it''s'"), "VARCHAR(9) DEFAULT 'it''s'"),
        (Col("MORE", "INTEGER"), "INTEGER"),
    ],
)
def test_a_column_without_its_statement_comes_with_the_default_of_the_export(
    tmp_path: Path, more: Col, clause: str
) -> None:
    now = replace(NEW, columns=tuple(more if one.name == "MORE" else one for one in NEW.columns))
    last = (2, "b", "5" if more.type == "VARCHAR" else 5)
    log = opened(tmp_path, altered(None, now, last), now)
    assert script(log, tmp_path)[1][1] == f"ALTER TABLE dba.t ADD COLUMN more {clause};"


@pytest.mark.parametrize(
    "more", [Col("MORE", "INTEGER", null=False), Col("MORE", "VARCHAR", 9, default="USER")]
)
def test_a_column_without_its_statement_whose_default_nobody_says_is_refused(
    tmp_path: Path, more: Col
) -> None:
    now = replace(NEW, columns=tuple(more if one.name == "MORE" else one for one in NEW.columns))
    last = (2, "b", "5" if more.type == "VARCHAR" else 5)
    log = opened(tmp_path, altered(None, now, last), now)
    with pytest.raises(Refusal, match=r"LR3003.*default of DBA\.T\.MORE"):
        script(log, tmp_path)


def test_rows_before_a_statement_that_is_not_there_are_not_read_with_columns_of_later(
    tmp_path: Path,
) -> None:
    """The column had another type, or name: its bytes close all the same."""
    after = Tab(10_300, "DBA", "T", (ID, Col("NAME", "WVARCHAR", 20), VERSION), key=("ID",))
    log = LogBuilder()
    unit(log, lambda made: made.insert(OLD, (1, "abcd")))
    unit(log, lambda made: made.ddl(22, "T", OLD.relid, None))
    unit(log, lambda made: made.insert(after, (2, "b")))
    found = opened(tmp_path, log, after)
    bundle, lines = script(found, tmp_path)
    assert [line for line in lines if line.startswith("INSERT")] == [
        "INSERT INTO dba.t (id, name) VALUES (2, 'b');"
    ]
    assert bundle.manifest["findings"]["shown"][0].startswith("LR2011")
    assert any("may have had other types or names" in warning for warning in found.warnings([]))


WIDER = Tab(10_300, "DBA", "T", (ID, Col("NAME", "VARCHAR", 40), VERSION), key=("ID",))


@pytest.mark.parametrize("text", [None, "ALTER TABLE T MODIFY COLUMN NAME VARCHAR(40)"])
@pytest.mark.parametrize(
    ("name", "later", "kept"),
    [("abcd", "abcd", True), (None, None, False), ("abcd", "abce", False), ("abcd", "", False)],
    ids=["proof", "null", "another", "none"],
)
def test_rows_before_a_column_got_wider_are_kept_where_one_is_found_behind(
    tmp_path: Path, text: str | None, name: str | None, later: str | None, kept: bool
) -> None:
    """A row that lies in the log before and behind the statement, byte for byte, with a value in
    each column, has the columns of now. Without such a row nothing tells."""
    log = LogBuilder()
    unit(log, lambda made: made.insert(OLD, (1, name)))
    unit(log, lambda made: made.ddl(22, "T", OLD.relid, text))
    if later != "":
        unit(log, lambda made: made.update(WIDER, (1, later), (1, "x" * 40)))
    lines = script(opened(tmp_path, log, WIDER), tmp_path)[1]
    assert any(line.startswith("INSERT") for line in lines) is kept


def test_rows_before_two_statements_that_are_not_there_are_set_aside(tmp_path: Path) -> None:
    """Two columns may have exchanged their names."""
    log = LogBuilder()
    unit(log, lambda made: made.insert(OLD, (1, "abcd")))
    for _ in range(2):
        unit(log, lambda made: made.ddl(22, "T", OLD.relid, None))
    unit(log, lambda made: made.update(WIDER, (1, "abcd"), (1, "b")))
    lines = script(opened(tmp_path, log, WIDER), tmp_path)[1]
    assert not any(line.startswith("INSERT") for line in lines)


def test_a_default_is_set_in_a_column_that_the_export_describes(tmp_path: Path) -> None:
    log = opened(
        tmp_path, altered("ALTER TABLE T ALTER COLUMN NAME SET DEFAULT 'q'", OLD, (2, "b")), OLD
    )
    assert script(log, tmp_path)[1] == [
        "INSERT INTO dba.t (id, name) VALUES (1, 'a');",
        "ALTER TABLE dba.t ALTER COLUMN name SET DEFAULT 'q';",
        "INSERT INTO dba.t (id, name) VALUES (2, 'b');",
    ]


def test_a_column_that_is_added_keeps_its_constraints(tmp_path: Path) -> None:
    text = "ALTER TABLE T ADD COLUMN MORE INTEGER CHECK (MORE > 1) UNIQUE"
    log = opened(tmp_path, altered(text), NEW)
    assert script(log, tmp_path)[1][1:4] == [
        "ALTER TABLE dba.t ADD COLUMN more INTEGER;",
        "ALTER TABLE dba.t ADD CHECK (more > 1);",
        "ALTER TABLE dba.t ADD UNIQUE (more);",
    ]
    options = ScriptOptions(dialect="sqlite")
    with pytest.raises(Refusal, match=r"LR3003.*takes no check constraint there"):
        script(log, tmp_path / "lite", options=options)
