"""Updates of excluded columns only: no statement, but a comment in its place that says which row
and which columns, in every dialect."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import replay
from replay import native
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.output.bundle import Bundle
from sqlgen.dialects import BUILT_IN, profile_named
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Constraints
from tests.support.few import few
from tests.support.logbuilder import Col, LogBuilder, Tab, text_of

ITEM = Tab(
    "ITEM",
    (
        Col("N", "INT", 4, key=1),
        Col("WORD", "VCHR", 20, nulls="Y", subtype="S"),
        Col("SEEN", "INT", 4),
        Col("TIMES", "INT", 4),
    ),
    "SHOP",
)
LOOSE = Tab("LOOSE", (Col("WORD", "VCHR", 20, subtype="S"), Col("SEEN", "INT", 4)), "SHOP", obid=4)
EXCLUDED = ("SEEN", "TIMES")
START = "-- left out, only excluded columns changed"


def log() -> LogBuilder:
    """Of row 1 a column changes that is written and two that are not, those alone, and one of
    them in a unit of its own; of a table without a key a column that is not written."""
    made = LogBuilder((ITEM, LOOSE))
    unit = made.unit()
    unit.update(ITEM, (1, "a", 0, 0), (1, "b", 1, 0))
    unit.update(ITEM, (1, "b", 1, 0), (1, "b", 2, 7))
    unit.update(ITEM, (1, "b", 2, 7), (1, "c", 2, 7))
    unit.update(ITEM, (1, "c", 2, 7), (1, "c", 2, 7))
    made.unit().update(ITEM, (1, "c", 2, 7), (1, "c", 3, 7))
    made.unit().update(LOOSE, ("x\n;", 1), ("x\n;", 2))
    return made


def written(folder: Path, mode: str = "redo", **how: Any) -> Bundle:
    control, data = log().write(folder)
    how.setdefault("render", RenderOptions(exclude_columns=EXCLUDED))
    how.setdefault("commit_every", 1)
    return replay.write_script(
        control,
        data,
        folder / f"out-{len(list(folder.iterdir()))}",
        mode=mode,
        selection=how.pop("selection", None),
        constraints=Constraints(),
        options=ScriptOptions(**how),
    )


def remarks(text: str) -> list[str]:
    return [line for line in text.split("\n") if "left out" in line]


@pytest.mark.parametrize("asserts", ["none", "rows"])
@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_a_comment_stands_where_the_statement_would(
    tmp_path: Path, mode: str, asserts: str
) -> None:
    bundle = written(tmp_path, mode, asserts=asserts)
    lines = [
        line
        for line in text_of(bundle).split("\n")
        if line.startswith((START, "UPDATE", "BEGIN", "COMMIT"))
    ]
    item = [
        ["UPDATE shop.item SET word = 'b' WHERE n = 1;"],
        [f"{START}: UPDATE shop.item (seen, times) WHERE n = 1"],
        ["UPDATE shop.item SET word = 'c' WHERE n = 1;"],
    ]
    if mode == "undo":
        item = [
            ["UPDATE shop.item SET word = 'b' WHERE n = 1;"],
            [f"{START}: UPDATE shop.item (seen, times) WHERE n = 1"],
            ["UPDATE shop.item SET word = 'a' WHERE n = 1;"],
        ]
    units = [
        [line for part in item for line in part],
        [f"{START}: UPDATE shop.item (seen) WHERE n = 1"],
        [f"{START}: UPDATE shop.loose (seen) WHERE word = E'x\\n;'"],
    ]
    if mode == "undo":
        units.reverse()
    assert lines == [line for unit in units for line in ("BEGIN;", *unit, "COMMIT;")]
    assert bundle.manifest["balance"]["skipped"] == {
        "update touches excluded columns only": 3,
        "update changes nothing": 1,
    }
    assert (bundle.manifest["statements"], bundle.manifest["units"]) == (2, 1)


#: Dialects of scripts that are text.
PLAIN = sorted(name for name in BUILT_IN if not profile_named(name).clients)


@pytest.mark.parametrize("dialect", few(PLAIN, "postgres", "mysql", "tsql"))
@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_every_dialect_says_so_and_does_nothing_else_than_before(
    tmp_path: Path, dialect: str, mode: str
) -> None:
    """The statements are those of a log without these updates."""
    bundle = written(tmp_path, mode, dialect=dialect, selection=Selection(tables=("SHOP.ITEM",)))
    text = text_of(bundle)
    assert len(remarks(text)) == 2
    assert all(re.fullmatch(rf"{START}: UPDATE \S+ \([`\"\[\]\w, ]+\) WHERE .*1.*", line)
               for line in remarks(text))  # fmt: skip
    bare = LogBuilder((ITEM, LOOSE))
    unit = bare.unit()
    unit.update(ITEM, (1, "a", 0, 0), (1, "b", 1, 0))
    unit.update(ITEM, (1, "b", 2, 7), (1, "c", 2, 7))
    (tmp_path / "bare").mkdir()
    control, data = bare.write(tmp_path / "bare")
    other = replay.write_script(
        control,
        data,
        tmp_path / "bare" / "out",
        mode=mode,
        constraints=Constraints(),
        options=ScriptOptions(
            dialect=dialect, render=RenderOptions(exclude_columns=EXCLUDED), commit_every=1
        ),
    )
    assert statements(text) == statements(text_of(other))


def statements(text: str) -> list[str]:
    """What touches rows, with its checks; not where transactions begin and end."""
    return [
        line
        for line in text.split("\n")
        if not line.startswith("--") and "item" in line.lower() and "statement" not in line
    ]


def test_both_ways_of_writing_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = text_of(written(tmp_path))
    monkeypatch.setattr(native, "WORTH", 0)
    assert text_of(written(tmp_path)) == slow
    assert len(remarks(slow)) == 3


def test_an_upsert_and_a_trace_say_so_too(tmp_path: Path) -> None:
    upsert = RenderOptions(exclude_columns=EXCLUDED, upsert=True)
    item = Selection(tables=("SHOP.ITEM",))
    text = text_of(written(tmp_path, render=upsert, trace=True, selection=item))
    shown = [re.sub("[0-9A-F]{20}", "X", line) for line in remarks(text)]
    assert shown == [
        f"{START}: UPDATE shop.item (seen, times) WHERE n = 1 -- lrsn=X rba=X",
        f"{START}: UPDATE shop.item (seen) WHERE n = 1 -- lrsn=X rba=X",
    ]


def test_a_mapping_says_it_in_names_of_the_target(tmp_path: Path) -> None:
    """A column that the mapping leaves out has no name there; it has the log's."""
    file = tmp_path / "mapping.toml"
    file.write_text(
        '[tables."SHOP.ITEM"]\nname = "thing"\ncolumns = { N = "number" }\nexclude = ["SEEN"]\n'
    )
    control, data = log().write(tmp_path)
    files = ["--control", str(control), "--data", *map(str, data), "--out", str(tmp_path / "out")]
    how = ["--mapping", str(file), "--exclude-columns", "TIMES", "--table", "SHOP.ITEM"]
    assert main(["redo", *files, *how]) == 0
    assert remarks((tmp_path / "out" / "0000-redo.sql").read_text()) == [
        f"{START}: UPDATE shop.thing (seen, times) WHERE number = 1",
        f"{START}: UPDATE shop.thing (seen) WHERE number = 1",
    ]


def test_comments_are_no_statements_of_a_transaction(tmp_path: Path) -> None:
    made = LogBuilder((ITEM, LOOSE))
    for number in range(4):
        unit = made.unit()
        unit.update(ITEM, (1, "a", 0, 0), (1, "a", 1, 0))
        unit.update(ITEM, (1, str(number), 0, 0), (1, str(number + 1), 1, 0))
    control, data = made.write(tmp_path)
    bundle = replay.write_script(
        control,
        data,
        tmp_path / "out",
        mode="redo",
        constraints=Constraints(),
        options=ScriptOptions(commit_statements=2, render=RenderOptions(exclude_columns=EXCLUDED)),
    )
    text = text_of(bundle)
    assert len(remarks(text)) == 4
    assert [part.count("UPDATE shop.item SET") for part in text.split("BEGIN;")[1:]] == [2, 2]


def test_work_that_was_rolled_back_leaves_no_such_comment(tmp_path: Path) -> None:
    made = LogBuilder((ITEM, LOOSE))
    unit = made.unit()
    unit.update(ITEM, (1, "a", 0, 0), (1, "b", 0, 0))
    unit.update(ITEM, (1, "b", 0, 0), (1, "b", 1, 0), LOGRECDISP="S")
    control, data = made.write(tmp_path)
    bundle = replay.write_script(
        control,
        data,
        tmp_path / "out",
        mode="redo",
        selection=Selection(include_aborted=True),
        constraints=Constraints(),
        options=ScriptOptions(render=RenderOptions(exclude_columns=EXCLUDED)),
    )
    assert remarks(text_of(bundle)) == []
