"""Row images with what is found in them, as text to be read: where each column lies, its value or
what is wrong with it, and the image as it is shown to people. ``REWRITE_GOLDEN=1`` writes the file
again; look at the difference before you keep it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from replay.changes.catalog import ColumnFormat, RowFormat
from replay.decoding import images
from replay.decoding.image_layouts import Cell, layouts
from replay.decoding.images import describe_image
from replay.errors import InputError
from sqlgen.schema import ARROW_TYPES, SqlType
from tests.decoding.test_images import column

GOLDEN = Path(__file__).parent / "row_images.txt"

T = SqlType


def fixed(name: str, kind: SqlType, length: int, code: str = "", scale: int = 0) -> ColumnFormat:
    return column(name, kind, code, length, scale=scale)


def nullable(entry: ColumnFormat) -> ColumnFormat:
    return replace(entry, nullable=True)


def varying(name: str, length: int, code: str = "VCHR", kind: SqlType = T.VARCHAR) -> ColumnFormat:
    return column(name, kind, code, length, variable=True)


SMALL, LAST = fixed("N", T.SMALLINT, 2), fixed("M", T.SMALLINT, 2)
VARYING = nullable(varying("V", 5))
EXPANDED = replace(VARYING, expanded=True)
GRAPHIC = replace(nullable(varying("G", 4, "VGRF")), ccsid=1200)
LONG_GRAPHIC = replace(varying("L", 3, "LVGR"), ccsid=1200, expanded=True)
GRAPHIC_CHAR = replace(fixed("C", T.CHAR, 2, "GRPH"), ccsid=1200)
LOB = replace(nullable(varying("O", 3, "CLOB", T.CLOB)), lob=True)
ROWID = replace(varying("R", 3, "ROWI", T.VARBINARY), ccsid=None)
BITS = replace(nullable(varying("B", 3, kind=T.VARBINARY)), ccsid=None)
RAW = replace(nullable(fixed("X", T.VARBINARY, 2)), raw=True, ccsid=None)

#: What it is about, the columns, images in hexadecimal.
CASES: list[tuple[str, tuple[ColumnFormat, ...], tuple[str, ...]]] = [
    ("no columns", (), ("", "00")),
    ("one column", (SMALL,), ("8001", "80", "800100")),
    (
        "columns that move others",
        (SMALL, VARYING, LAST),
        (
            "0001 00 0000 0002",
            "0001 00 0003 C1C2C3 0002",
            "0001 FF 0000 0002",
            "0001 FF 0001 C1 0002",
            "0001 00 0005 C1C2C3C4C5 0002",
            "0001 00 0006 C1C2C3C4C5C6 0002",  # longer than the column is
            "0001 00 0003 C1C2 0002",
            "0001 00 0002 C1C2C3 0002",
            "0001 00 0001 C1 00",
            "0001 00 00",
            "0001 00",
            "0001",
            "00",
            "",
            "0001 80 0000 0002",
            "0001 00 FFFF 0002",
        ),
    ),
    ("a damaged null byte comes first", (VARYING, VARYING), ("01 0000 00 0000", "00 0000 FE 0000")),
    *(
        (f"one image that fits, {damage}", (VARYING, VARYING, SMALL), texts)
        for damage, *texts in (
            ("behind a null byte", "01 0000 00 0000 0000", "00 0001 C1 FF 0000 0002"),
            ("behind a second null byte", "00 0000 01 0000 0000", "00 0001 C1 FF 0000 0002"),
            ("behind a length", "00 FFFF 00 0000 0000", "FF 0000 00 0001 C1 0002"),
            ("before a length", "FF 0000 00 0001 C1 0002", "00 0000 00 FFFF 0000"),
            ("behind a short one", "00", "00 0001 C1 00 0001 C1 0002"),
            ("before a long one", "00 0000 00 0001 C1 0002", "00 0001 C1 00 0000 0002 00"),
        )
    ),
    ("damage in all images", (VARYING, SMALL), ("01 0000 0000", "00 0009 0000", "00")),
    (
        "expanded",
        (EXPANDED, LAST),
        (
            "00 0002 C1C2404040 0002",
            "00 0005 C1C240C4C5 0002",
            "00 0009 C1C240C4C5 0002",
            "FF 0000 4040404040 0002",
            "00 0000 4040404040 0002",
            "00 0002 C1C2 0002",
        ),
    ),
    ("graphic in characters", (GRAPHIC, LAST), ("00 0002 00610062 0007", "FF 0000 0007")),
    ("graphic in bytes", (GRAPHIC, LAST), ("00 0004 00610062 0007", "00 0002 0061 0007")),
    ("graphic in either", (GRAPHIC, LAST), ("00 0002 00610062 0007", "00 0004 00610062 0007")),
    ("padded graphic in characters", (LONG_GRAPHIC, LAST), ("0001 006100200020 0007",)),
    ("padded graphic in bytes", (LONG_GRAPHIC, LAST), ("0002 006120 0007",)),
    ("padded graphic, bytes of characters", (LONG_GRAPHIC,), ("0006 006100200020",)),
    ("fixed graphic of two bytes", (GRAPHIC_CHAR, LAST), ("0061 0007",)),
    ("fixed graphic of two characters", (GRAPHIC_CHAR, LAST), ("00610020 0007",)),
    (
        "both graphic",
        (GRAPHIC, GRAPHIC_CHAR, LAST),
        ("00 0002 00610062 0061 0007", "00 0001 0061 00610062 0007"),
    ),
    ("text as long as its length says", (varying("V", 2), GRAPHIC), ("0003 C1C2C3 00 0001 0061",)),
    ("large object", (SMALL, LOB, LAST), ("0001 00 0002 AABB 0002", "0001 FF 0000 0002")),
    ("large object of fixed length", (SMALL, LOB, LAST), ("0001 00 AABBCC 0002",)),
    ("large object of neither", (SMALL, LOB, LAST), ("0001 00 AABBCCDDEE 0002", "0001 00")),
    ("large objects that leave bytes over", (SMALL, LOB, LOB, LAST), (
        "0001 00 0001 AA 00 0000 0002 00", "0001 FF 0000 FF 0000 0002"
    )),
    ("row identifier", (ROWID, LAST), ("0003 AABBCC 0002", "0001 AA 0002")),
    ("row identifier of fixed length", (ROWID, LAST), ("AABBCC 0002",)),
    ("all that is open", (LOB, GRAPHIC, GRAPHIC_CHAR), ("00 AABBCC 00 0002 0061 00610062",)),
    ("bits", (BITS, RAW), ("00 0002 00FF 00 01FE", "FF 0000 FF 0000", "00 0000 00 0000")),
    (
        "no CCSID",
        (replace(varying("V", 5), ccsid=None, encoding="A"),),
        ("0001 41",),
    ),
    ("no CCSID, fixed", (replace(fixed("F", T.CHAR, 1), ccsid=None),), ("41",)),
    (
        "characters that there are none of",
        tuple(replace(of, ccsid=1208) for of in (VARYING, fixed("F", T.CHAR, 1))),
        ("00 0001 FF 41", "00 0000 FF", "FF 0000 41", "00 0002 C3A9 41"),
    ),
    (
        "long texts that are none",
        (replace(varying("V", 99), ccsid=1208),),
        tuple(f"{size:04X}{'FE' * size}" for size in (43, 64, 65)),
    ),
    ("long texts", (varying("V", 99), fixed("D", T.DATE, 10)), (
        "0041" + "C1" * 65 + "40" * 10, "0040" + "C1" * 64 + "40" * 10
    )),
    *(
        (
            f"{kind.name} of {len(value) // 2} bytes",
            (nullable(fixed("A", kind, len(value) // 2, scale=scale)),),
            (f"00{value}", f"FF{value}", f"00{'40' * (len(value) // 2)}"),
        )
        for kind, scale, value in (
            (T.SMALLINT, 0, "FFFE"),
            (T.INTEGER, 0, "FFFFFFFE"),
            (T.BIGINT, 0, "FFFFFFFFFFFFFFFE"),
            (T.INTEGER, 0, "FFFFFE"),
            (T.DECIMAL, 1, "1D"),
            (T.DECIMAL, 2, "12" * 15 + "1C"),
            (T.DECIMAL, 2, "12" * 16 + "1C"),
            (T.DECIMAL, 0, ""),
            (T.REAL, 0, "C1180000"),
            (T.REAL, 0, "7FFFFFFF"),
            (T.REAL, 0, "C118000000"),
            (T.DOUBLE, 0, "C118000000000000"),
            (T.DOUBLE, 0, "C1180000"),
            (T.DATE, 0, b"2024-02-29".hex()),
            (T.DATE, 0, b"2024-02-2".hex()),
            (T.TIME, 0, b"23.59.58".hex()),
            (T.TIME, 0, b"23.59.5".hex()),
            (T.TIMESTAMP, 0, b"2024-02-29-23.59.58".hex()),
            (T.TIMESTAMP, 0, b"2024-02-29-23.59.58.".hex()),
            (T.TIMESTAMP, 1, b"2024-02-29-23.59.58.7".hex()),
            (T.TIMESTAMP, 12, b"2024-02-29-23.59.58.123456789012".hex()),
            (T.TIMESTAMP, 12, b"2024-02-29-23.59.58.1234567890123".hex()),
            (T.TIMESTAMP_TZ, 0, b"2024-02-29-23.59.58-05:30".hex()),
            (T.TIMESTAMP_TZ, 0, b"2024-02-29-23.59.58.-05:30".hex()),
            (T.TIMESTAMP_TZ, 12, b"2024-02-29-23.59.58.123456789012-05:30".hex()),
            (T.TIMESTAMP_TZ, 12, b"2024-02-29-23.59.58.1234567890123-05:30".hex()),
            (T.CHAR, 0, "C140"),
            (T.BINARY, 0, "00FF"),
        )
    ),
    ("a short float as a double", (replace(fixed("A", T.DOUBLE, 4), wide=True),), ("C1180000",)),
    ("no short float", (replace(fixed("A", T.DOUBLE, 8), wide=True),), ("00" * 8,)),
]  # fmt: skip


def layout(cells: tuple[Cell, ...]) -> str:
    """A reading of a format: per column whether it is nullable, its length or what counts it."""
    return "  ".join(
        f"{'null+' if cell.nullable else ''}"
        f"{f'length*{cell.unit}' if cell.variable else 'fixed'}:{cell.width}"
        f"{' padded' if cell.expanded else ''}"
        for cell in cells
    )


def value(found: images.ImageWalk, index: int, row: int) -> str:
    """One value by both ways of asking, or why there is none."""
    try:
        everything, bad = found.decode(index)
    except InputError as error:
        return f"{error}"
    everything.validate(full=True)
    assert everything.type == ARROW_TYPES[found.format.columns[index].column.type]
    chosen, chosen_bad = found.decode(index, np.array([row, row]))
    assert chosen.type == everything.type
    assert chosen.to_pylist() == [everything[row].as_py()] * 2
    assert bad is None or bad.dtype == bool
    if bad is not None and bad[row]:
        assert chosen_bad is not None
        assert chosen_bad.tolist() == [True, True]
        assert everything[row].as_py() is None
        return " | ".join(("bad", *found.explain(index, row)))
    assert chosen_bad is None or not chosen_bad.any()
    return repr(everything[row].as_py())


def places(found: images.ImageWalk, row: int) -> Iterator[str]:
    """Where the columns of an image lie, and their values."""
    if found.bad[row]:
        yield "  BAD " + " | ".join(found.reason(row))
        return
    assert found.reason(row) == ("", "nothing wrong", images._EXACT)
    for index, entry in enumerate(found.format.columns):
        null, length = found.nulls(index), found.length[index]
        assert null is None or null.any() or found.bad.any()
        size = length if isinstance(length, int) else int(length[row])
        begin = int(found.at(index)[row] - found.start[row])
        what = "NULL" if null is not None and null[row] else f"{begin}+{size}"
        yield f"  {entry.column.name} {what} {value(found, index, row)}"


def check_nothing_is_there(found: images.ImageWalk) -> None:
    """Columns of images of which none fits hold nulls of their type."""
    everywhere = np.arange(len(found.bad))
    for index, entry in enumerate(found.format.columns):
        for rows in (None, everywhere, everywhere[:0]):
            values, bad = found.decode(index, rows)
            assert bad is None
            assert values.type == ARROW_TYPES[entry.column.type]
            assert values.to_pylist() == [None] * (len(found.bad) if rows is None else len(rows))
        assert found.nulls(index) is None
        assert found.equal(found, index).tolist() == [False] * len(found.bad)


def lines() -> Iterator[str]:
    for title, columns, texts in CASES:
        fmt = RowFormat(columns=columns)
        rows = [bytes.fromhex(text) for text in texts]
        edges = np.cumsum([3, *(len(row) + 2 for row in rows)])
        buffer = np.frombuffer(b"\x01\x02\x03" + b"".join(row + b"\xee\xdd" for row in rows), "u1")
        found = images.walk(fmt, buffer, edges[:-1], edges[1:] - 2)
        yield f"== {title}"
        for number, cells in enumerate(layouts(fmt)):
            settled = images.walk(fmt, buffer, edges[:-1], edges[1:] - 2, reading=number)
            assert settled.reading == number
            mark = "->" if found.reading == number else "  "
            yield f"{mark} {layout(cells)} bad {settled.bad.sum()}"
        if found.empty:
            check_nothing_is_there(found)
        for number, row in enumerate(rows):
            yield f"{row.hex().upper()}"
            yield from places(found, number)
            for name, begin, piece, text in describe_image(fmt, row):
                yield f"    {name or '-'} {begin} {piece} {text!r}"


def test_row_images_are_as_reviewed() -> None:
    text = "".join(f"{line}\n" for line in lines())
    if os.environ.get("REWRITE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text.splitlines() == GOLDEN.read_text(encoding="utf-8").splitlines()
