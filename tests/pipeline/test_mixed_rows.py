"""Row changes of all tables and kinds of a chunk, written together, give the script that groups of
one table and kind give."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import replay
from replay import native
from replay.changes.envelope import Change
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.errors import LogReplayError
from replay.native import fast_path, fast_program
from replay.pipeline import partition
from replay.pipeline.mixed_rows import MixedChanges, MixedRows, MixedStatements
from replay.pipeline.row_batch import OPS
from replay.pipeline.rows import RowDecoder
from sqlgen.dialects import profile_named
from sqlgen.mapping import TableMap, TableMapping
from sqlgen.masking import mask_key
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Constraints, SqlType
from tests.pipeline.test_fast_path import (
    EBCDIC,
    GREEK,
    KINDS,
    LATIN,
    ROWS,
    Kind,
    Spec,
    plain,
    watch_the_room,
    written_by,
)
from tests.support.logbuilder import ACCT, Col, LogBuilder, Tab, acct

TEXT = Tab(
    "TEXT",
    (
        Col("A", "INT", 4, key=1),
        Col("N", "CHAR", 3, nulls="Y", subtype="S"),
        Col("V", "VCHR", 40, subtype="S"),
    ),
    obid=5,
)
NUMBERS = Tab("NUMBERS", (Col("K", "INT", 8, key=1), Col("D", "DEC", 5, scale=2)), obid=6)
TABLES = (ACCT, TEXT, NUMBERS)


def row_of(pick: random.Random, table: Tab) -> tuple[Any, ...]:
    """A row; some have a letter that is left to the other way, or of two octets."""
    few = pick.randrange(30)
    if table is ACCT:
        return acct(few, pick.choice((None, "ab'c", "")), "1.00")
    if table is NUMBERS:
        return few, pick.choice(("1.25", "-3.00"))
    long = pick.choice(("", "abc'", "é" * 40, "é" * 40, "x" * 40, "a\nb"))
    return few, pick.choice((None, "a", "'")), long


def log_of(seed: int, damaged: bool = True) -> LogBuilder:
    """Units of changes of three tables: rows that are left to the other way, changes in several
    segments, updates that change a key or nothing, damaged images, work that was rolled back,
    tables that are emptied."""
    pick, log = random.Random(seed), LogBuilder(TABLES)
    for _ in range(40):
        unit = log.unit(**{"UORDISP": "A", "LOGRECDISP": "A"} if pick.random() < 0.1 else {})
        for _ in range(pick.randrange(1, 12)):
            table = pick.choice(TABLES)
            one, cuts = row_of(pick, table), (9,) if pick.random() < 0.05 else ()
            if pick.random() < 0.4:
                other = (one[0], *row_of(pick, table)[1:])
                if pick.random() < 0.1:
                    other = row_of(pick, table)
                unit.update(table, one, other, cuts)
            else:
                pick.choice((unit.insert, unit.delete))(table, one, cuts)
        if pick.random() < 0.05:
            unit.event(NUMBERS, "MD")
        if damaged and pick.random() < 0.1:
            unit.insert(NUMBERS, (99, "1.00")).images[0] = b"\0\0"
    return log


def written(folder: Path, log: LogBuilder, mode: str, files: int, **how: Any) -> dict[str, bytes]:
    """Scripts by name, and what the manifest says of the balance and of findings; or why there are
    none. The log is written when it is not in the folder yet."""
    control = folder / "t.ctl"
    if not control.exists():
        log.write(folder, files=files, seed=1)
    data = sorted(folder.glob("t*.dat"))
    out = folder / f"out-{len(list(folder.iterdir()))}"
    how = {"constraints": Constraints(), **how}
    try:
        replay.write_script(control, data, out, mode=mode, **how)
    except LogReplayError as error:
        return {"refused": str(error).replace(out.name, "").encode(), "as both ways do": b""}
    told = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    said = json.dumps([told[name] for name in ("balance", "findings", "statements")])
    scripts = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.sql")}
    return {**scripts, "manifest": said.encode()}


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many changes were settled together, call by call."""
    counts: list[int] = []
    real = MixedRows.statements

    def told(self: MixedRows, changes: MixedChanges) -> Iterator[MixedStatements]:
        for made in real(self, changes):
            counts.append(int(made.settled.sum()))
            yield made

    monkeypatch.setattr(MixedRows, "statements", told)
    return counts


def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on nothing is written together."""
    monkeypatch.setattr(MixedRows, "statements", lambda *_: iter(()))


MASKS = TableMap(
    {},
    {
        "TESTOWN.TEXT": TableMapping(mask=("V",)),
        "TESTOWN.NUMBERS": TableMapping("figures", mask=("K", "D")),
    },
    mask_key(b"sixteen letters!"),
)
WAYS: tuple[tuple[dict[str, Any], bool], ...] = (
    ({}, True),
    ({"options": ScriptOptions("oracle", render=RenderOptions(where_columns="all"))}, True),
    ({"options": ScriptOptions("mariadb", trace=True, commit_every=3)}, True),
    ({"options": ScriptOptions(render=RenderOptions(upsert=True))}, True),
    ({"options": ScriptOptions(render=RenderOptions(exclude_columns=("N", "BAL")))}, True),
    ({"options": ScriptOptions(render=RenderOptions(assert_rows=True))}, True),
    ({"constraints": Constraints(keys=(("TESTOWN.NUMBERS", ("D",)),))}, True),
    ({"options": ScriptOptions(mapping=MASKS)}, False),
    ({"selection": Selection(where="A > 7")}, False),
)
#: Each way in both directions and with one file and several; not all four pairs of them. What
#: judges each commit is each way in one direction.
CASES = [
    pytest.param(
        how,
        together,
        1 + 2 * (number % 2 == (mode == "redo")),
        mode,
        marks=[pytest.mark.long] if mode == ("redo", "undo")[number // 2 % 2] else [],
    )
    for number, (how, together) in enumerate(WAYS)
    for mode in ("redo", "undo")
]


@pytest.mark.long
@pytest.mark.parametrize(("how", "together", "files", "mode"), CASES, ids=str)
def test_the_script_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settled: list[int], how: dict[str, Any],
    together: bool, files: int, mode: str,
) -> None:  # fmt: skip
    log = log_of(files + 10 * (mode == "undo"), "assert" not in str(how))
    monkeypatch.setattr(partition, "CHUNK", 100)
    one = written(tmp_path, log, mode, files, **how)
    assert (sum(settled) > 50) is together
    apart(monkeypatch)
    assert written(tmp_path, log, mode, files, **how) == one
    monkeypatch.setattr(native, "WORTH", 1 << 62)
    assert written(tmp_path, log, mode, files, **how) == one
    assert len(one) > 1


def test_nothing_is_written_behind_the_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settled: list[int]
) -> None:
    """Programs whose rows take very different room, in a buffer that grows row by row."""
    calls, log = watch_the_room(monkeypatch), log_of(5)
    one = written(tmp_path, log, "redo", 1)
    assert len(calls) > len(settled) > 0
    apart(monkeypatch)
    assert written(tmp_path, log, "redo", 1) == one


def test_a_row_goes_where_the_text_of_the_last_chunk_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settled: list[int]
) -> None:
    """Long units are written piece by piece into the same room."""
    log = LogBuilder(TABLES)
    unit, pick = log.unit(), random.Random(3)
    for number in range(400):
        table = pick.choice(TABLES[1:])
        unit.insert(table, (number, *row_of(pick, table)[1:]))
    monkeypatch.setattr(partition, "CHUNK", 64)
    one = written(tmp_path, log, "undo", 1)
    assert len(settled) > 4
    apart(monkeypatch)
    assert written(tmp_path, log, "undo", 1) == one


@pytest.mark.parametrize("crossing", [False, True], ids=["keys apart", "keys that meet"])
@pytest.mark.parametrize("where", [None, "D > 1.5"])
def test_keys_that_meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crossing: bool, where: str | None
) -> None:
    """Changes that ``--where`` leaves out touch keys, too."""
    log = LogBuilder((NUMBERS,))
    for number in range(20):
        unit = log.unit()
        unit.insert(NUMBERS, (number, "1.00"))
        unit.update(NUMBERS, (100 + number, "1.00"), (200 + number, "2.00"))
    if crossing and where:  # only what takes the key is in the script
        unit = log.unit()
        unit.insert(NUMBERS, (1, "2.00"))
        unit.update(NUMBERS, (1, "1.00"), (1, "1.25"))
    elif crossing:  # 1 -> 2 while another row has 2: in the order of the log it could not be
        unit = log.unit()
        unit.update(NUMBERS, (1, "1.00"), (2, "1.00"))
        unit.update(NUMBERS, (2, "2.00"), (3, "2.00"))
    how = {"selection": Selection(where=where)}
    one = written(tmp_path, log, "redo", 1, **how)
    apart(monkeypatch)
    assert written(tmp_path, log, "redo", 1, **how) == one


def test_what_a_condition_leaves_out_need_not_be_written(tmp_path: Path) -> None:
    """A text that the target cannot hold, in a change that nobody selects, is no reason to leave
    the unit out; in one that is selected it is."""
    log = LogBuilder((ACCT,))
    unit = log.unit()
    unit.insert(ACCT, acct(1, "a\0b"))
    unit.insert(ACCT, acct(2))
    control, data = log.write(tmp_path)
    found = []
    for number, where in enumerate(("id = 2", "id < 3")):
        how = {"selection": Selection(where=where), "out": tmp_path / f"out-{number}"}
        bundle = replay.write_script(control, data, **how)
        found.append((bundle.tally.statements, bundle.exit_code))
    assert found == [(1, 0), (0, 8)]


def test_tables_of_other_character_sets_and_widths() -> None:
    """Programs side by side write what each of them writes alone, row for row in any order."""
    render, rng = fast_path.compiled(), np.random.default_rng(4)
    assert render is not None
    programs, images, expected, edges, base = [], [], [], [], 0
    buffers = []
    for number, charset in enumerate((LATIN, EBCDIC, GREEK, EBCDIC)):
        text = Kind(SqlType.VARCHAR, 9, varying=True, ccsid=charset)
        spec = Spec(
            ((KINDS[1], False, False), (text, True, False)) + ((KINDS[3], True, False),) * number, 1
        )
        kind = (Change.UPDATE, Change.INSERT)[number % 2]
        way = fast_path.FastPath(False, profile_named("postgres"), RenderOptions())
        image, version = spec.images(rng, kind), spec.version()
        alone = way.statements(version, OPS[kind], image, plain(version))
        program = way.program(version, OPS[kind], plain(version))
        assert alone is not None
        assert program is not None
        programs.append(program)
        images.append(2 if kind is Change.UPDATE else 1)
        expected += zip(written_by(alone).to_pylist(), alone.output.status.tolist(), strict=True)
        bounds = fast_program.KernelInput.of(image).bounds + base
        edges.append(bounds if len(bounds) == 4 else bounds[[0, 1, 1, 1]])
        buffers.append(image.buffer)
        base += len(image.buffer)
    order = rng.permutation(len(expected))
    bounds = np.ascontiguousarray(np.concatenate(edges, axis=1)[:, order])
    program_of = np.repeat(np.arange(len(programs)), ROWS)[order]
    known = fast_program.KernelTables.of(programs, images)
    room = fast_program.Room()
    for _ in range(2):  # the second time there is room
        made = fast_path.written(render, known, program_of, np.concatenate(buffers), bounds, room)
        said = list(zip(made.strings().to_pylist(), made.status.tolist(), strict=True))
        assert said == [expected[row] for row in order]
    assert sum(status == 0 for _, status in expected) > 2 * ROWS


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize("together", [True, False])
def test_comments_of_excluded_columns_need_no_statements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, together: bool
) -> None:
    """Updates of excluded columns only are said with what finds their rows, and nothing else of
    them is made."""
    log = LogBuilder((NUMBERS, TEXT))
    for number in range(9):
        unit = log.unit()
        unit.insert(NUMBERS, (number, "1.00"))
        unit.update(NUMBERS, (number, "1.00"), (number, "2.00"))
        unit.update(TEXT, (number, "a", "b'"), (number, None, "c"))
    render = RenderOptions(exclude_columns=("D", "N", "V"))
    how: dict[str, Any] = {"options": ScriptOptions(trace=True, render=render)}
    with monkeypatch.context() as patch:
        patch.setattr(fast_path, "compiled", lambda: None)
        expected = written(tmp_path, log, mode, 1, **how)
    assert b"".join(expected.values()).count(b"-- left out, only") == 18
    if not together:
        apart(monkeypatch)
    monkeypatch.setattr(RowDecoder, "_statements", None)
    assert written(tmp_path, log, mode, 1, **how) == expected
