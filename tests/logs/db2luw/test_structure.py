"""Changes of structure in Db2 LUW logs last as long as the unit of recovery that made them says:
undone, aborted, or without an end."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from replay.changes.notation import unit_of
from replay.changes.selection import Selection
from replay.errors import LogReplayError, UsageError
from replay.logs.db2luw.reader import LuwLog
from replay.pipeline.resolve_positions import place
from tests.logs.db2luw.test_damage import opened
from tests.support.luwbuilder import Col, LogBuilder, Tab, Transaction
from tests.support.scripted import script

DIALECTS = [("v7", "lsn6"), ("v97", "flt16"), ("v10", "flt56")]
SHORT = Tab(2, 5, "S", "T", (Col("ID", "INTEGER", key=1), Col("V", "VARCHAR", 20, null=True)))
LONG = Tab(
    2,
    5,
    "S",
    "T",
    (*SHORT.columns, Col("N", "DECIMAL", 7, 2, null=True), Col("W", "VARCHAR", 8, null=True)),
)
#: Fixed sections of both are equally long.
OTHER = Tab(
    2, 5, "S", "OTHER", (Col("A", "INTEGER"), Col("B", "SMALLINT"), Col("D", "SMALLINT", null=True))
)

UNNAMED = Tab(2, 6, "S", "UNNAMED", (Col("ID", "INTEGER", key=1),))


def begun(dialect: str, framing: str) -> LogBuilder:
    return LogBuilder(dialect, True, framing)


def insert(builder: LogBuilder, table: Tab, number: int, *rest: str | None) -> None:
    unit = builder.begin()
    unit.insert(table, (number, *rest), (1, number))
    unit.commit()


def aborted(work: Callable[[Transaction], object]) -> Callable[[LogBuilder], None]:
    def run(builder: LogBuilder) -> None:
        unit = builder.begin()
        work(unit)
        unit.abort()

    return run


def created_and_undone(builder: LogBuilder) -> None:
    unit = builder.begin()
    unit.create(OTHER)
    unit.undo_create(OTHER)
    unit.commit()


@pytest.mark.parametrize(("dialect", "framing"), DIALECTS)
@pytest.mark.parametrize(
    "change",
    [
        aborted(lambda unit: unit.create(OTHER)),
        created_and_undone,
        aborted(lambda unit: unit.add_columns(LONG, 2)),
        aborted(lambda unit: unit.drop(SHORT)),
        aborted(lambda unit: (unit.drop(SHORT), unit.create(OTHER), unit.add_columns(LONG, 2))),
        aborted(lambda unit: unit.attribute(SHORT, 1, 0)),
    ],
)
def test_a_change_of_an_aborted_unit_is_taken_back(
    tmp_path: Path, dialect: str, framing: str, change: Callable[[LogBuilder], None]
) -> None:
    builder = begun(dialect, framing)
    insert(builder, SHORT, 1, "a")
    change(builder)
    insert(builder, SHORT, 2, "")
    insert(builder, SHORT, 3, None)
    log = opened(tmp_path, builder.bytes(), tables=(SHORT,))
    assert not log.opening_warnings
    bundle, lines = script(log, tmp_path)
    assert lines == [
        f"INSERT INTO s.t (id, v) VALUES {row};" for row in ("(1, 'a')", "(2, '')", "(3, NULL)")
    ]
    assert bundle.manifest["balance"]["failed"] == 0


def test_columns_come_with_the_unit_that_keeps_them(tmp_path: Path) -> None:
    builder = begun("v7", "lsn6")
    insert(builder, SHORT, 1, "a")
    aborted(lambda unit: unit.add_columns(LONG, 2))(builder)
    insert(builder, SHORT, 2, "b")
    unit = builder.begin()
    unit.add_columns(LONG, 2)
    unit.commit()
    insert(builder, LONG, 3, "c", "1.25", "w")
    assert script(opened(tmp_path, builder.bytes(), tables=(LONG,)), tmp_path)[1] == [
        "INSERT INTO s.t (id, v) VALUES (1, 'a');",
        "INSERT INTO s.t (id, v) VALUES (2, 'b');",
        "ALTER TABLE s.t ADD COLUMN n DECIMAL(7, 2);",
        "ALTER TABLE s.t ADD COLUMN w VARCHAR(8);",
        "INSERT INTO s.t (id, v, n, w) VALUES (3, 'c', 1.25, 'w');",
    ]


def test_rows_before_a_table_is_created_are_not_its_own(tmp_path: Path) -> None:
    builder = begun("v10", "flt56")
    insert(builder, SHORT, 1, "a")
    aborted(lambda unit: unit.create(OTHER))(builder)
    insert(builder, SHORT, 2, "b")
    unit = builder.begin()
    unit.create(SHORT)
    unit.commit()
    insert(builder, SHORT, 3, "c")
    bundle, lines = script(opened(tmp_path, builder.bytes(), tables=(SHORT,)), tmp_path)
    assert [line.split(" (")[0] for line in lines] == ["CREATE TABLE s.t", "INSERT INTO s.t"]
    assert len(bundle.manifest["quarantined_units"]) == 2


@pytest.mark.parametrize("prepared", [False, True])
def test_a_change_whose_unit_has_no_end_sets_aside_what_others_change_later(
    tmp_path: Path, prepared: bool
) -> None:
    builder = begun("v97", "flt16")
    insert(builder, SHORT, 1, "a")
    unit = builder.begin()
    unit.add_columns(LONG, 2)
    if prepared:
        unit.prepare()
    insert(builder, SHORT, 2, "b")
    log = opened(tmp_path, builder.bytes(), tables=(LONG,))
    assert any(
        text.startswith(
            "S.T: its structure changes in a unit of recovery whose end is not in the log"
        )
        for text in log.opening_warnings
    )
    bundle, lines = script(log, tmp_path)
    assert lines == ["INSERT INTO s.t (id, v) VALUES (1, 'a');"]
    assert len(bundle.manifest["quarantined_units"]) == 1


def widen(builder: LogBuilder, table: Tab, old: int) -> None:
    unit = builder.begin()
    unit.add_columns(table, old)
    unit.commit()


def test_columns_that_an_older_export_lacks_are_those_of_the_same_table(tmp_path: Path) -> None:
    builder = begun("v7", "lsn6")
    insert(builder, SHORT, 1, "a")
    widen(builder, LONG, 2)
    insert(builder, LONG, 2, "b", "1.25", "w")
    longer = Tab(2, 5, "S", "T", (*LONG.columns, Col("E", "INTEGER", null=True)))
    widen(builder, longer, 4)
    unit = builder.begin()
    unit.delete(longer, (2, "b", "1.25", "w", None), (1, 2))
    unit.commit()
    log = opened(tmp_path, builder.bytes(), tables=(SHORT,))
    names = ("C3, C4", "C5")
    assert list(log.opening_warnings) == [
        f"S.T gets columns that the catalog export does not know, here called {name}: export the"
        " catalog again"
        for name in names
    ]
    assert script(log, tmp_path)[1] == [
        "INSERT INTO s.t (id, v) VALUES (1, 'a');",
        "ALTER TABLE s.t ADD COLUMN c3 DECIMAL(7, 2);",
        "ALTER TABLE s.t ADD COLUMN c4 VARCHAR(8);",
        "INSERT INTO s.t (id, v, c3, c4) VALUES (2, 'b', 1.25, 'w');",
        "ALTER TABLE s.t ADD COLUMN c5 INTEGER;",
        "DELETE FROM s.t WHERE id = 2;",
    ]


def test_added_columns_that_would_share_a_name_set_their_changes_aside(tmp_path: Path) -> None:
    short = Tab(2, 5, "S", "T", (SHORT.columns[0], Col("C3", "VARCHAR", 20, null=True)))
    builder = begun("v7", "lsn6")
    insert(builder, short, 1, "a")
    widen(builder, LONG, 2)
    insert(builder, LONG, 2, "b", "1.25", "w")
    bundle, lines = script(opened(tmp_path, builder.bytes(), tables=(short,)), tmp_path)
    assert lines == ["INSERT INTO s.t (id, c3) VALUES (1, 'a');"]
    assert len(bundle.manifest["quarantined_units"]) == 1


def test_columns_come_with_their_addition_after_a_change_that_was_taken_back(
    tmp_path: Path,
) -> None:
    builder = begun("v7", "lsn6")
    insert(builder, SHORT, 1, "a")
    aborted(lambda unit: unit.drop(SHORT))(builder)
    insert(builder, SHORT, 2, "b")
    widen(builder, LONG, 2)
    insert(builder, LONG, 3, "c", "1.25", "w")
    lines = script(opened(tmp_path, builder.bytes(), tables=(LONG,)), tmp_path)[1]
    assert [line.split(" VALUES")[0] for line in lines if line.startswith("INSERT")] == [
        "INSERT INTO s.t (id, v)", "INSERT INTO s.t (id, v)", "INSERT INTO s.t (id, v, n, w)",
    ]  # fmt: skip


@pytest.mark.parametrize(("dialect", "framing"), DIALECTS)
def test_a_table_that_is_dropped_and_has_no_name_is_warned_of(
    tmp_path: Path, dialect: str, framing: str
) -> None:
    """Its DROP cannot be written, and the table stays where it is."""
    builder = begun(dialect, framing)
    insert(builder, SHORT, 1, "a")
    aborted(lambda unit: unit.drop(UNNAMED))(builder)
    assert not opened(tmp_path, builder.bytes(), tables=(SHORT,)).opening_warnings
    unit = builder.begin()
    unit.drop(UNNAMED)
    unit.commit()
    log = opened(tmp_path, builder.bytes(), tables=(SHORT,))
    (warning,) = log.opening_warnings
    assert warning.startswith("table 6 of table space 2 is dropped, and neither the catalog export")
    assert len(script(log, tmp_path)[1]) == 1


@pytest.mark.parametrize(("dialect", "framing"), DIALECTS)
@pytest.mark.parametrize("kept", [True, False])
def test_a_table_that_added_columns_alone_describe_has_no_name(
    tmp_path: Path, dialect: str, framing: str, kept: bool
) -> None:
    """The log says what columns it has, also where its unit takes back that some are added."""
    builder = begun(dialect, framing)
    insert(builder, SHORT, 1, "a")
    unit = builder.begin()
    unit.add_columns(LONG, 2)
    (unit.commit if kept else unit.abort)()
    log = opened(tmp_path, builder.bytes(), tables=(UNNAMED,))
    (warning,) = log.opening_warnings
    assert "has columns that the catalog export does not name: it is called TS2.T5" in warning
    assert script(log, tmp_path)[1][0] == "INSERT INTO ts2.t5 (c1, c2) VALUES (1, 'a');"


def dropped_and_created(builder: LogBuilder, old: Tab, new: Tab) -> None:
    unit = builder.begin()
    unit.drop(old)
    unit.create(new)
    unit.commit()


@pytest.mark.parametrize(
    ("export", "old", "new", "warnings"),
    [
        (UNNAMED, UNNAMED, UNNAMED, ["table 6 of table space 2 is dropped, and its number used"]),
        (SHORT, SHORT, OTHER, ["table 5 of table space 2 is created with columns that the"]),
        (
            SHORT,
            UNNAMED,
            UNNAMED,
            [
                "table 6 of table space 2 is dropped, and neither the catalog export nor the log",
                "table 6 of table space 2 is created with columns that the catalog export does",
            ],
        ),
    ],
)
def test_a_number_that_another_table_had_before(
    tmp_path: Path, export: Tab, old: Tab, new: Tab, warnings: list[str]
) -> None:
    """A table that was dropped is none that the log has already."""
    builder = begun("v10", "flt56")
    dropped_and_created(builder, old, new)
    found = opened(tmp_path, builder.bytes(), tables=(export,)).opening_warnings
    assert [text[: len(start)] for text, start in zip(found, warnings, strict=True)] == warnings


def test_rows_of_a_table_that_was_dropped_are_not_those_of_one_with_its_number(
    tmp_path: Path,
) -> None:
    builder = begun("v10", "flt56")
    old = Tab(2, 5, "S", "OLD", (Col("ID", "INTEGER", key=1), Col("X", "INTEGER")))
    unit = builder.begin()
    unit.insert(old, (1, 2), (1, 1))
    unit.commit()
    dropped_and_created(builder, old, SHORT)
    insert(builder, SHORT, 1, "new")
    log = opened(tmp_path, builder.bytes(), tables=(SHORT,))
    (warning,) = log.opening_warnings
    assert warning.startswith("table 5 of table space 2 is dropped, and its number used again by S")
    bundle, lines = script(log, tmp_path)
    assert [line.split(" (")[0] for line in lines] == ["CREATE TABLE s.t", "INSERT INTO s.t"]
    assert lines[1].endswith("VALUES (1, 'new');")
    assert len(bundle.manifest["quarantined_units"]) == 1


def test_a_table_that_is_created_where_another_one_is_has_its_name_said(tmp_path: Path) -> None:
    builder = begun("v10", "flt56")
    for table in (OTHER, SHORT):
        unit = builder.begin()
        unit.create(table)
        unit.commit()
    found = opened(tmp_path, builder.bytes(), tables=(SHORT,)).opening_warnings
    assert any(text.startswith("TS2.T5 is created again as S.T, and nothing in") for text in found)


@pytest.mark.parametrize(("dialect", "framing"), DIALECTS[1:])
def test_the_digits_of_timestamps_are_those_of_the_description(
    tmp_path: Path, dialect: str, framing: str
) -> None:
    """A description has the bytes of a timestamp, two digits each behind the seconds."""
    table = Tab(
        2, 6, "S", "MOMENTS",
        tuple(Col(f"C{n}", "TIMESTAMP", scale=digits) for n, digits in enumerate((0, 4, 6, 12))),
    )  # fmt: skip
    builder = begun(dialect, framing)
    unit = builder.begin()
    unit.create(table)
    unit.commit()
    (version,) = [
        version
        for version in opened(tmp_path, builder.bytes(), tables=(SHORT,)).catalog.versions
        if version.name == "TS2.T6"
    ]
    assert [column.column.length for column in version.format.columns] == [0, 4, 6, 12]


@pytest.mark.parametrize(("dialect", "framing"), DIALECTS[1:])
@pytest.mark.parametrize("taken_back", [False, True])
def test_rows_before_columns_were_dropped_are_set_aside(
    tmp_path: Path, dialect: str, framing: str, taken_back: bool
) -> None:
    """The columns of then are not those of the export, though they may be as long: an integer was
    added and another one dropped."""
    builder = begun(dialect, framing)
    whole = Tab(2, 5, "S", "T", (*SHORT.columns, Col("N", "INTEGER", null=True)))
    unit = builder.begin()
    unit.insert(whole, (1, "a", 7), (1, 1))
    unit.commit()
    unit = builder.begin()
    unit.dms(169, whole, bytes(20))
    if taken_back:
        unit.abort()
    else:
        unit.commit()
    unit = builder.begin()
    unit.insert(whole, (2, "b", 8), (1, 2))
    unit.commit()
    log = opened(tmp_path, builder.bytes(), tables=(whole,))
    bundle, lines = script(log, tmp_path)
    last = "INSERT INTO s.t (id, v, n) VALUES (2, 'b', 8);"
    if taken_back:
        assert lines == ["INSERT INTO s.t (id, v, n) VALUES (1, 'a', 7);", last]
        assert log.opening_warnings == ()
        return
    assert lines == [last]
    assert [finding.code for finding in bundle.tally.findings] == ["LR2011"]
    (warning,) = log.opening_warnings
    assert warning.startswith("S.T: columns are dropped, and the log does not say which")


@pytest.mark.parametrize(("dialect", "framing"), DIALECTS[1:])
def test_columns_behind_a_drop_are_those_of_the_export(
    tmp_path: Path, dialect: str, framing: str
) -> None:
    """Not those that were added before, of which one may be the dropped one."""
    builder = begun(dialect, framing)
    both = (*SHORT.columns, Col("OLD", "INTEGER", null=True), Col("N", "SMALLINT", null=True))
    now = Tab(2, 5, "S", "T", (*SHORT.columns, both[-1]))
    unit = builder.begin()
    unit.add_columns(Tab(2, 5, "S", "T", both), 3)
    unit.commit()
    unit = builder.begin()
    unit.dms(169, now, bytes(20))
    unit.commit()
    unit = builder.begin()
    unit.insert(now, (2, "b", 8), (1, 2))
    unit.commit()
    _, lines = script(opened(tmp_path, builder.bytes(), tables=(now,)), tmp_path)
    assert lines[-1] == "INSERT INTO s.t (id, v, n) VALUES (2, 'b', 8);"


@pytest.mark.parametrize(
    ("dialect", "framing", "form"),
    [(*of, form) for of in DIALECTS for form in ("v7", "v10") if of[0] in ("v97", form)],
)
def test_a_table_created_without_logging_is_warned_of(
    tmp_path: Path, dialect: str, framing: str, form: str
) -> None:
    """The flags are the last field before the length of the description, wherever that is."""
    texts = []
    for bit in (0, 0x20):
        builder = begun(dialect, framing)
        unit = builder.begin()
        columns = b"\1\0" + builder.pack("H", 2) + SHORT.descriptors(True)
        head = bytes(74 + 4 * (form == "v10")) + builder.pack("II", bit, len(columns))
        unit.dms(128, SHORT, head + columns, 0x52)
        unit.commit()
        texts.append(opened(tmp_path, builder.bytes(), tables=(SHORT,)).opening_warnings)
    assert texts[0] == ()
    (warning,) = texts[1]
    assert warning.startswith("S.T: changed with NOT LOGGED INITIALLY")


K = Col("K", "INTEGER", null=True)


def short_rows(folder: Path, *added: Col, texts: bool = False) -> LuwLog:
    """Rows older than ``added``, of which the log has the addition (``texts``) or not."""
    builder = begun("v7", "lsn6")
    insert(builder, SHORT, 1, "a")
    insert(builder, SHORT, 2, None)
    table = Tab(2, 5, "S", "T", (*SHORT.columns, *added))
    if texts:
        widen(builder, table, 2)
    unit = builder.begin()
    unit.delete(SHORT, (2, None), (1, 2))
    unit.commit()
    return opened(folder, builder.bytes(), tables=(table,))


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (replace(K, default="7"), "7"),
        (replace(K, default="-7", null=False), "-7"),
        (replace(K, default=""), "NULL"),
        (Col("K", "DECIMAL", 7, 2, default="1.5"), "1.50"),
        (Col("K", "CHARACTER", 4, default="'it'"), "'it'"),
        (Col("K", "VARCHAR", 9, null=True, default="'a''b'"), "'a''b'"),
        (Col("K", "DATE", default="'03/15/2024'"), "'2024-03-15'"),
        (Col("K", "TIME", default="'10.20.30'"), "'10:20:30'"),
    ],
)
def test_rows_older_than_a_column_have_its_default(tmp_path: Path, column: Col, said: str) -> None:
    log = short_rows(tmp_path, column)
    assert script(log, tmp_path)[1][0] == f"INSERT INTO s.t (id, v, k) VALUES (1, 'a', {said});"
    undone = script(log, tmp_path, "undo")[1]
    assert undone[0] == f"INSERT INTO s.t (id, v, k) VALUES (2, NULL, {said});"


@pytest.mark.parametrize(
    "column",
    [
        K,
        replace(K, null=False),
        replace(K, default="USER"),
        Col("K", "DATE", default="CURRENT DATE"),
    ],
)
def test_rows_older_than_a_column_whose_default_nobody_says_are_set_aside(
    tmp_path: Path, column: Col
) -> None:
    bundle, lines = script(short_rows(tmp_path, column), tmp_path)
    assert lines == []
    assert len(bundle.manifest["quarantined_units"]) == 3


@pytest.mark.parametrize(
    ("column", "clause"),
    [
        (replace(K, flags=4, null=False), "INTEGER DEFAULT 0"),
        (replace(K, flags=4, null=False, default="7"), "INTEGER DEFAULT 0"),
        (replace(K, flags=8, default="7"), "INTEGER DEFAULT 7"),
        (replace(K, default="7"), "INTEGER"),
        (Col("K", "CHARACTER", 4, flags=4), "CHAR(4) DEFAULT ''"),
    ],
)
def test_columns_are_added_with_what_rows_get_in_them(
    tmp_path: Path, column: Col, clause: str
) -> None:
    _, lines = script(short_rows(tmp_path, column, texts=True), tmp_path)
    assert lines[2] == f"ALTER TABLE s.t ADD COLUMN k {clause};"


@pytest.mark.parametrize("column", [replace(K, flags=8), Col("K", "DATE", flags=4)])
def test_a_column_that_comes_with_a_default_nobody_says_is_refused(
    tmp_path: Path, column: Col
) -> None:
    log = short_rows(tmp_path, column, texts=True)
    with pytest.raises(LogReplayError, match=r"default of S\.T\.K") as caught:
        script(log, tmp_path)
    assert caught.value.code == "LR3003"


@pytest.mark.parametrize(
    ("column", "texts", "said"),
    [
        (K, ["ALTER TABLE T ADD COLUMN K INTEGER DEFAULT 7"], "7"),
        (replace(K, default="9"), ["ALTER TABLE T ADD K INT DEFAULT 7 ADD L INT"], "7"),
        (
            replace(K, default="9"),
            ['ALTER TABLE s."T" ADD K INT', "ALTER TABLE U ADD K INT"],
            "NULL",
        ),
        (K, ["ALTER TABLE T ADD K INT NOT NULL WITH DEFAULT"], "0"),
        (replace(K, default="9"), ["ALTER TABLE T ALTER COLUMN K SET DEFAULT 9"], None),
        (replace(K, default=""), ["ALTER TABLE T ALTER COLUMN K DROP DEFAULT"], None),
        (replace(K, default=""), ["ALTER TABLE T ADD K INT DEFAULT SOMETHING"], None),
        (replace(K, default=""), ["ALTER TABLE T RENAME COLUMN J TO K"], None),
        (
            replace(K, default="9"),
            ["ALTER TABLE T ADD K INT DEFAULT 7", "ALTER TABLE T ALTER K SET DEFAULT 9"],
            "7",
        ),
        (replace(K, default="9"), ["ALTER TABLE OTHER.T ADD K INT DEFAULT 7"], "9"),
        (replace(K, default="9"), ["CREATE VIEW V AS SELECT * FROM T"], "9"),
        (replace(K, default="9"), ["ALTER TABLE T DROP COLUMN J"], None),
        (replace(K, default="9"), ["ALTER TABLE T ALTER COLUMN V SET DATA TYPE CLOB"], None),
        (replace(K, default="9"), ["ALTER TABLE T ALTER COLUMN V SET DATA TYPE VARCHAR(20)"], "9"),
    ],
)
def test_what_rows_have_in_a_younger_column_is_what_its_statement_says(
    tmp_path: Path, column: Col, texts: list[str], said: str | None
) -> None:
    """None: what the statement does not tell is set aside, whatever the export has today."""
    builder = begun("v10", "flt56")
    insert(builder, SHORT, 1, "a")
    unit = builder.begin()
    for text in texts:
        unit.statement(text, cut=len(text) // 2)
    unit.statement("ALTER TABLE T ADD COLUMN K INTEGER DEFAULT 8")
    unit.statement("ALTER TABLE T ADD COLUMN K INTEGER DEFAULT 8", undo=True)
    unit.commit()
    aborted(lambda unit: unit.statement("ALTER TABLE T ADD K INT DEFAULT 6"))(builder)
    log = opened(tmp_path, builder.bytes(), tables=(Tab(2, 5, "S", "T", (*SHORT.columns, column)),))
    bundle, lines = script(log, tmp_path)
    assert lines == [f"INSERT INTO s.t (id, v, k) VALUES (1, 'a', {said});"] * (said is not None)
    assert bool(bundle.manifest["quarantined_units"]) == (said is None)


def test_a_statement_says_what_rows_get_in_a_column_of_which_the_descriptor_does_not(
    tmp_path: Path,
) -> None:
    builder = begun("v10", "flt56")
    table = Tab(2, 5, "S", "T", (*SHORT.columns, replace(K, flags=8)))
    insert(builder, SHORT, 1, "a")
    unit = builder.begin()
    unit.add_columns(table, 2)
    unit.statement("ALTER TABLE T ADD COLUMN K INTEGER DEFAULT 7")
    unit.commit()
    _, lines = script(opened(tmp_path, builder.bytes(), tables=(table,)), tmp_path)
    assert lines == [
        "INSERT INTO s.t (id, v) VALUES (1, 'a');",
        "ALTER TABLE s.t ADD COLUMN k INTEGER DEFAULT 7;",
    ]


def test_rows_of_a_table_whose_number_is_used_again_are_not_another_ones(tmp_path: Path) -> None:
    """The export is from after, and nothing in the log says how the second table was made."""
    builder = begun("v97", "flt16")
    insert(builder, SHORT, 1, "jan")
    unit = builder.begin()
    unit.drop(SHORT)
    unit.commit()
    insert(builder, SHORT, 2, "feb")
    log = opened(tmp_path, builder.bytes(), tables=(SHORT,))
    (warning,) = log.opening_warnings
    assert warning.startswith("table 5 of table space 2 is dropped, and its number used again by S")
    bundle, lines = script(log, tmp_path)
    assert lines == ["INSERT INTO s.t (id, v) VALUES (2, 'feb');"]
    (finding,) = bundle.manifest["findings"]["shown"]
    assert finding.startswith("LR2011")
    assert "record 1" in finding


def test_a_table_that_is_dropped_and_does_not_come_again_is_that_of_the_export(
    tmp_path: Path,
) -> None:
    builder = begun("v97", "flt16")
    insert(builder, SHORT, 1, "jan")
    unit = builder.begin()
    unit.drop(SHORT)
    unit.commit()
    _, lines = script(opened(tmp_path, builder.bytes(), tables=(SHORT,)), tmp_path)
    assert lines == ["INSERT INTO s.t (id, v) VALUES (1, 'jan');", "DROP TABLE s.t;"]


def test_a_table_that_is_created_without_its_columns_is_warned_of(tmp_path: Path) -> None:
    builder = begun("v97", "flt16")
    unit = builder.begin()
    unit.dom(101, SHORT, bytes(56))
    unit.commit()
    aborted(lambda unit: unit.dom(101, replace(SHORT, id=6), bytes(56)))(builder)
    insert(builder, SHORT, 1, "a")
    (warning,) = opened(tmp_path, builder.bytes(), tables=(SHORT,)).opening_warnings
    assert warning.startswith("S.T is created, and the log does not say with which columns")


def test_a_transaction_id_that_is_used_again_names_no_unit(tmp_path: Path) -> None:
    builder = begun("v97", "flt16")
    insert(builder, SHORT, 1, "a")
    builder.next_tid -= 1
    insert(builder, SHORT, 2, "b")
    insert(builder, SHORT, 3, "c")
    log = opened(tmp_path, builder.bytes(), tables=(SHORT,))
    bundle, lines = script(log, tmp_path)
    assert len(lines) == 3
    text = "".join(path.read_text() for path in sorted(bundle.folder.glob("*.sql")))
    assert re.findall("TID=([0-9A-F]+)", text) == [
        "00000000000000000A1F", "00000001000000000A1F", "000000000A20",
    ]  # fmt: skip
    taken = {
        name: Selection(units=(unit_of(name),))
        for name in ("00000000000000000A1F", "00000001000000000A1F", "000000000A20")
    }
    for number, (name, selection) in enumerate(taken.items(), 1):
        folder = tmp_path / name
        folder.mkdir()
        (line,) = script(log, folder, selection=place(selection, log))[1]
        assert line.startswith(f"INSERT INTO s.t (id, v) VALUES ({number},")
    names = "00000000000000000A1F, 00000001000000000A1F"
    with pytest.raises(UsageError, match=f"found 000000000A1F, a transaction id.*: {names}"):
        place(Selection(units=(unit_of("000000000A1F"),)), log)
