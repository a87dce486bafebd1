"""Columns whose values are not in the log: never a value made up for them, and a way on without
them."""

from __future__ import annotations

from pathlib import Path

import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.output.bundle import Bundle
from sqlgen.render_options import RenderOptions
from tests.support.logbuilder import Col, LogBuilder, Tab, statements

NOTE = Tab(
    "NOTE", (Col("ID", "INT", 4, key=1), Col("TEXT", "CLOB", 4, nulls="L"), Col("SIZE", "INT", 4))
)
#: What a row holds of a large object, and of another one.
ONE, OTHER = b"\x00\x00\x00\x01", b"\x00\x00\x00\x02"


def bundle_of(folder: Path, mode: str, *excluded: str, upsert: bool = False) -> Bundle:
    """One unit each: an insert with a value, one with null, an update of another column, one of the
    value only, a delete."""
    log = LogBuilder((NOTE,))
    log.unit().insert(NOTE, (1, ONE, 10))
    log.unit().insert(NOTE, (2, None, 20))
    log.unit().update(NOTE, (3, ONE, 30), (3, ONE, 31))
    log.unit().update(NOTE, (4, ONE, 40), (4, OTHER, 40))
    log.unit().delete(NOTE, (5, ONE, 50))
    control, data = log.write(folder)
    options = ScriptOptions(render=RenderOptions(exclude_columns=excluded, upsert=upsert))
    return replay.write_script(control, data, folder / "out", mode=mode, options=options)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (Col("TEXT", "VCHR", 20, nulls="Y", subtype="I"), "the first part"),
        (Col("TEXT", "INT", 8, nulls="Y", subtype="D"), 7),
    ],
)
def test_part_of_a_value_is_no_value(tmp_path: Path, column: Col, value: str | int) -> None:
    """The inline part of a large object, and the number of an XML document in place of the
    document."""
    table = Tab("NOTE", (Col("ID", "INT", 4, key=1), column))
    log = LogBuilder((table,))
    log.unit().insert(table, (1, value))
    log.unit().insert(table, (2, None))
    control, data = log.write(tmp_path)
    bundle = replay.write_script(control, data, tmp_path / "out", mode="redo")
    assert bundle.exit_code == 8
    assert statements(bundle) == ["INSERT INTO testown.note (id, text) VALUES (2, NULL);"]
    options = ScriptOptions(render=RenderOptions(exclude_columns=("TEXT",)))
    whole = replay.write_script(control, data, tmp_path / "without", mode="redo", options=options)
    assert statements(whole) == [
        "INSERT INTO testown.note (id) VALUES (1);",
        "INSERT INTO testown.note (id) VALUES (2);",
    ]


@pytest.mark.parametrize(("mode", "lost", "left"), [("redo", 2, 3), ("undo", 2, 3)])
def test_what_needs_the_value_is_set_aside(tmp_path: Path, mode: str, lost: int, left: int) -> None:
    bundle = bundle_of(tmp_path, mode)
    assert bundle.exit_code == 8
    assert len(bundle.manifest["quarantined_units"]) == lost
    assert len(statements(bundle)) == left
    assert not any("X'" in line or "\\x" in line for line in statements(bundle))
    assert (
        "NULL" in "".join(line for line in statements(bundle) if "INSERT" in line) or mode == "undo"
    )
    shown = str(bundle.manifest["findings"]["shown"][0])
    assert "a value in large object column TEXT" in shown
    assert "--exclude-columns TESTOWN.NOTE.TEXT" in shown
    assert any(
        "its change is overwritten" in warning for warning in bundle.manifest["warnings"]
    ) is (mode == "undo")


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (
            "redo",
            [
                "INSERT INTO testown.note (id, size) VALUES (1, 10);",
                "INSERT INTO testown.note (id, size) VALUES (2, 20);",
                "UPDATE testown.note SET size = 31 WHERE id = 3;",
                "DELETE FROM testown.note WHERE id = 5;",
            ],
        ),
        (
            "undo",
            [
                "INSERT INTO testown.note (id, size) VALUES (5, 50);",
                "UPDATE testown.note SET size = 30 WHERE id = 3;",
                "DELETE FROM testown.note WHERE id = 2;",
                "DELETE FROM testown.note WHERE id = 1;",
            ],
        ),
    ],
)
def test_without_the_column(tmp_path: Path, mode: str, expected: list[str]) -> None:
    bundle = bundle_of(tmp_path, mode, "TEXT")
    assert statements(bundle) == expected
    assert bundle.manifest["balance"]["skipped"] == {"update touches excluded columns only": 1}
    assert not bundle.manifest["quarantined_units"]


@pytest.mark.parametrize(("mode", "size"), [("redo", 31), ("undo", 30)])
def test_an_upsert_leaves_the_value_alone(tmp_path: Path, mode: str, size: int) -> None:
    """An update of a row with a value sets what changed."""
    bundle = bundle_of(tmp_path, mode, upsert=True)
    assert len(bundle.manifest["quarantined_units"]) == 2
    put = "ON CONFLICT(id) DO UPDATE SET text = EXCLUDED.text, size = EXCLUDED.size;"
    others = {
        "redo": [
            f"INSERT INTO testown.note (id, text, size) VALUES (2, NULL, 20) {put}",
            "DELETE FROM testown.note WHERE id = 5;",
        ],
        "undo": [
            "DELETE FROM testown.note WHERE id = 2;",
            "DELETE FROM testown.note WHERE id = 1;",
        ],
    }
    assert sorted(statements(bundle)) == sorted(
        [f"UPDATE testown.note SET size = {size} WHERE id = 3;", *others[mode]]
    )


@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_an_upsert_of_a_row_that_is_not_whole_cannot_change_its_key(
    tmp_path: Path, mode: str
) -> None:
    """In an undo that must leave a unit out no row is known to be whole: that unit may have written
    it later."""
    log = LogBuilder((NOTE,))
    log.unit().update(NOTE, (3, ONE, 30), (6, ONE, 30))
    log.unit().update(NOTE, (4, None, 40), (7, None, 40))
    log.unit().update(NOTE, (5, None, 50), (5, None, 51))
    control, data = log.write(tmp_path)
    bundle = replay.write_script(
        control,
        data,
        tmp_path / "out",
        mode=mode,
        options=ScriptOptions(render=RenderOptions(upsert=True)),
    )
    assert bundle.exit_code == 8
    shown = bundle.manifest["findings"]["shown"]
    assert all(
        found.startswith("LR3013") and "a change of the key of a row of TESTOWN.NOTE" in found
        for found in shown
    )
    assert "Leave --upsert away" in shown[0]
    put = "ON CONFLICT(id) DO UPDATE SET text = EXCLUDED.text, size = EXCLUDED.size;"
    whole = [
        "DELETE FROM testown.note WHERE id = 4;",
        f"INSERT INTO testown.note (id, text, size) VALUES (7, NULL, 40) {put}",
        f"INSERT INTO testown.note (id, text, size) VALUES (5, NULL, 51) {put}",
    ]
    assert statements(bundle) == (
        whole if mode == "redo" else ["UPDATE testown.note SET size = 50 WHERE id = 5;"]
    )
    assert bundle.manifest["statements"] == len(statements(bundle))
    assert bundle.manifest["units"] == 3 - len(shown)
    without = ScriptOptions(render=RenderOptions(upsert=True, exclude_columns=("TEXT",)))
    again = replay.write_script(control, data, tmp_path / "less", mode=mode, options=without)
    assert again.manifest["findings"]["count"] == 2
    assert statements(again) == [
        f"UPDATE testown.note SET size = {51 if mode == 'redo' else 50} WHERE id = 5;"
    ]
