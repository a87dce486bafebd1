"""A layout is a checked value: it reads what it builds, and refuses tables with gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.decoding.layout import Field, FieldKind, Layout, layout
from replay.logs.logmaster.layouts import CONTROL, LLDF
from tests.support.examples import examples

TEXT = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 $#@_-.", max_size=200)


def values_of(entry: Field) -> st.SearchStrategy[Any]:
    """Values that survive being built and read."""
    if entry.kind is FieldKind.UNSIGNED:
        return st.integers(0, 256**entry.length - 1)
    if entry.kind is FieldKind.TEXT:
        return TEXT.map(lambda text: text[: entry.length].rstrip())
    if entry.kind is FieldKind.NUMBER:
        return st.integers(
            -(10 ** (entry.length - 1)) + 1 if entry.length > 1 else 0, 10**entry.length - 1
        )
    if entry.kind is FieldKind.HEX:
        return st.integers(0, 16**entry.length - 1)
    return st.binary(min_size=entry.length, max_size=entry.length)


#: Layout -> values of its fields.
VALUES = {
    table.tag: st.fixed_dictionaries(
        {name: values_of(entry) for name, entry in table.names.items()}
    )
    for table in (LLDF, *CONTROL.values())
}


@pytest.mark.parametrize("table", [LLDF, *CONTROL.values()], ids=lambda table: table.tag)
@settings(max_examples=examples(40))
@given(data=st.data())
def test_built_records_read_back(table: Layout, data: st.DataObject) -> None:
    values = data.draw(VALUES[table.tag])
    record = table.build(**values)
    assert len(record) == table.size
    assert table.read(record) == values
    assert table.read(record + b"\xff" * 7) == values, "a longer record"
    for entry in table.fields:
        if entry.kind is FieldKind.RESERVED:
            assert record[entry.offset : entry.end] == bytes(entry.length)


@given(st.integers(0, 288))
def test_short_records_lack_their_last_fields(length: int) -> None:
    values = LLDF.read(bytes(length))
    for name, entry in LLDF.names.items():
        assert (values[name] is None) == (entry.end > length), name


@given(st.lists(st.binary(min_size=288, max_size=288), min_size=1, max_size=5))
def test_batches_read_like_single_records(records: list[bytes]) -> None:
    block = np.frombuffer(b"".join(records), np.uint8).reshape(-1, 288)
    for name, entry in LLDF.names.items():
        assert [bytes(row) for row in LLDF.slice(block, name)] == [
            record[entry.offset : entry.end] for record in records
        ]
        if entry.kind is FieldKind.UNSIGNED:
            assert LLDF.integers(block, name).tolist() == [
                LLDF.read(record)[name] for record in records
            ]
    assert LLDF.integers(block, "RID").tolist() == [
        int.from_bytes(record[99:104], "big") for record in records
    ]
    columns = np.asfortranarray(block)
    assert LLDF.integers(columns, "DBID").tolist() == LLDF.integers(block, "DBID").tolist()


@pytest.mark.parametrize(
    ("fields", "size", "says"),
    [
        ([("A", 0, 2), ("B", 3, 2)], 5, "B is at 3, the field before it ends at 2"),
        ([("A", 0, 4), ("B", 2, 2)], 4, "B is at 2, the field before it ends at 4"),
        ([("A", 1, 2)], 3, "A is at 1, the field before it ends at 0"),
        ([("B", 2, 2), ("A", 0, 2)], 4, "B is at 2"),
        ([("A", 0, 2)], 3, "has 3 bytes, its fields end at 2"),
        ([("A", 0, 4)], 3, "has 3 bytes, its fields end at 4"),
    ],
)
def test_gaps_and_overlaps_are_refused(
    fields: list[tuple[str, int, int]], size: int, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        Layout(
            "T",
            "a table",
            size,
            tuple(Field(name, offset, length, FieldKind.BYTES) for name, offset, length in fields),
        )


def test_two_fields_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="TWICE"):
        Layout(
            "T",
            "a table",
            4,
            (Field("TWICE", 0, 2, FieldKind.BYTES), Field("TWICE", 2, 2, FieldKind.BYTES)),
        )


def test_page_text_makes_a_layout() -> None:
    table = layout("T", "a table", "CHANGE TYPE 0 C 2\n- 2 R 3\nCOUNT 5 U 2")
    assert [(entry.name, entry.offset, entry.length, entry.kind) for entry in table.fields] == [
        ("CHANGE TYPE", 0, 2, FieldKind.TEXT), ("", 2, 3, FieldKind.RESERVED),
        ("COUNT", 5, 2, FieldKind.UNSIGNED),
    ]  # fmt: skip
    assert list(table.names) == ["CHANGE TYPE", "COUNT"]
    assert "| CHANGE TYPE | 0 | 00 | 2 | EBCDIC text, blank padded |" in table.page()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (FieldKind.TEXT, "ABC"),
        (FieldKind.BYTES, b"ABC"),
        (FieldKind.BYTES, b"A"),
        (FieldKind.UNSIGNED, 65_536),
        (FieldKind.NUMBER, 100),
        (FieldKind.HEX, 256),
    ],
)
def test_values_that_do_not_fit_are_refused(kind: FieldKind, value: object) -> None:
    with pytest.raises((ValueError, OverflowError)):
        Field("F", 0, 2, kind).encode(value)


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(KeyError, match="LLDF has no field NOSUCH"):
        LLDF.build(NOSUCH=1)


def test_dump_shows_what_a_cut_record_lacks() -> None:
    table = layout("T", "a table", "NAME 0 C 4\nCOUNT 4 U 2\n- 6 R 2\nLAST 8 B 2")
    record = table.build(NAME="AB", COUNT=258, LAST=b"\x01\xff")
    assert table.dump(record) == [
        ("NAME", 0, "C1C24040", "AB"), ("COUNT", 4, "0102", "258"), ("(reserved)", 6, "0000", ""),
        ("LAST", 8, "01FF", ""),
    ]  # fmt: skip
    assert table.dump(record[:5])[-1] == ("COUNT", 4, "01", "*** 1 bytes are missing")
    assert table.dump(b"") == []
