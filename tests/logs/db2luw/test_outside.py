"""Values that lie outside their rows: a Db2 LUW row holds where they are, and that is never written
as the value."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from replay.changes.options import ScriptOptions
from replay.logs.db2luw.tables import column_format
from sqlgen.ddl import type_rule
from sqlgen.dialects import BUILT_IN, profile_named
from sqlgen.render_options import RenderOptions
from sqlgen.schema import SqlType
from tests.logs.db2luw.test_damage import opened
from tests.support.luwbuilder import Col, LogBuilder, Tab
from tests.support.scripted import script

FRAMINGS = {"v7": "lsn6", "v97": "flt16", "v10": "flt56"}
WITHOUT = ScriptOptions(render=RenderOptions(exclude_columns=("S.DOCS.X",)))


def docs(kind: str) -> Tab:
    return Tab(
        4,
        4,
        "S",
        "DOCS",
        (Col("ID", "INTEGER", key=1), Col("X", kind, 1000, null=True), Col("V", "VARCHAR", 10)),
    )


def outside(row: bytes, big: bool) -> bytes:
    """The row with the mark of a value out of row at its second column."""
    order, place = ">H" if big else "<H", 12
    return (
        row[:place]
        + struct.pack(order, struct.unpack_from(order, row, place)[0] | 0x8000)
        + row[place + 2 :]
    )


@pytest.mark.parametrize(
    ("dialect", "kind", "raw"),
    [
        *((dialect, kind, raw) for dialect in FRAMINGS for kind in ("LONG VARCHAR",
            "LONG VARGRAPHIC", "DATALINK", "XML")
          for raw in (b"\x69\0\0\0some", b"\x80" + bytes(11))),
        *(("v7", kind, raw) for kind in ("BLOB", "CLOB", "DBCLOB") for raw in (b"\x69\0\0\0some",
            b"\x80" + bytes(11))),
    ],
)  # fmt: skip
def test_where_a_value_lies_is_not_the_value(
    tmp_path: Path, dialect: str, kind: str, raw: bytes
) -> None:
    table = docs(kind)
    builder = LogBuilder(dialect, True, FRAMINGS[dialect])
    unit = builder.begin()
    blank = table.row((1, None, "v"), True)[8:]
    fixed, rest = blank[:13], blank[13:]
    place = struct.pack(">HHB", len(fixed), len(raw), 0)
    last = struct.pack(">HH", len(fixed) + len(raw), 1)
    body = fixed[:4] + place + last + raw + rest
    unit.one(
        118 if dialect == "v7" else 162,
        table,
        (1, 1),
        struct.pack(">BBHBBH", 0, 0, 8 + len(body), 1, 0, len(fixed)) + body,
    )
    unit.commit()
    other = builder.begin()
    other.insert(table, (2, None, "w"), (1, 2))
    other.commit()
    log = opened(tmp_path, builder.bytes(), tables=(table,))
    bundle, lines = script(log, tmp_path)
    assert lines == ["INSERT INTO s.docs (id, x, v) VALUES (2, NULL, 'w');"]
    assert [finding.code for finding in bundle.tally.findings] == ["LR2015"]
    assert script(log, tmp_path / "without", options=WITHOUT)[1] == [
        "INSERT INTO s.docs (id, v) VALUES (1, 'v');",
        "INSERT INTO s.docs (id, v) VALUES (2, 'w');",
    ]


@pytest.mark.parametrize("kind", ["CLOB", "VARCHAR"])
@pytest.mark.parametrize("big", [True, False])
def test_a_value_out_of_row_can_be_left_out(tmp_path: Path, kind: str, big: bool) -> None:
    table = docs(kind)
    builder = LogBuilder("v10", big, "flt56")
    unit = builder.begin()
    rows = [outside(_with(table, number, text, big), big) for number, text in ((1, "v"), (1, "w"))]
    unit.one(162, table, (1, 1), rows[0])
    unit.commit()
    unit = builder.begin()
    unit.update(table, rows[0], rows[1], (1, 1))
    unit.commit()
    log = opened(tmp_path, builder.bytes(), tables=(table,))
    bundle, lines = script(log, tmp_path)
    assert not lines
    assert {finding.code for finding in bundle.tally.findings} == {"LR2015"}
    assert script(log, tmp_path / "without", options=WITHOUT)[1] == [
        "INSERT INTO s.docs (id, v) VALUES (1, 'v');",
        "UPDATE s.docs SET v = 'w' WHERE id = 1;",
    ]


def test_a_bit_that_marks_no_value_out_of_row_is_damage(tmp_path: Path) -> None:
    table = docs("VARCHAR")
    builder = LogBuilder("v10", True, "flt56")
    unit = builder.begin()
    unit.one(162, table, (1, 1), outside(table.row((1, "x" * 23, "v"), True), True))
    unit.commit()
    bundle, lines = script(opened(tmp_path, builder.bytes(), tables=(table,)), tmp_path)
    assert not lines
    assert [finding.code for finding in bundle.tally.findings] == ["LR2014"]


def _with(table: Tab, number: int, text: str, big: bool) -> bytes:
    """A row whose second column has a descriptor of 24 bytes; the encoder puts 4 before those of
    large objects."""
    return table.row((number, bytes(20 if table.columns[1].type == "CLOB" else 24), text), big)


@pytest.mark.parametrize("dialect", sorted(BUILT_IN))
def test_a_target_has_room_for_large_objects(dialect: str) -> None:
    """Nothing tells how much of them a row holds, so no length of the target may say it either."""
    profile = profile_named(dialect)
    kinds = ("CLOB", "DBCLOB", "LONG VARCHAR", "LONG VARGRAPHIC", "BLOB", "XML")
    for kind, page in [*((kind, 1208) for kind in kinds), ("LONG VARCHAR", 0)]:
        column = column_format("X", kind, 1000, 0, True, page, 0).column
        assert not column.length
        rule = type_rule(column, profile)
        of_bytes = SqlType.BLOB if kind in ("BLOB", "XML") or not page else SqlType.CLOB
        assert column.type is of_bytes
        assert "(1)" not in rule.text, kind
        assert "(1 " not in rule.text, kind
