"""Scripts of ``--upsert`` on SQLite, DuckDB and MariaDB: applied again they change nothing, and
over a part of themselves they lead to the same end."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from sqlgen.render_options import RenderOptions
from tests.support.engines import Place, run_all, statements_of
from tests.support.logbuilder import Col, LogBuilder, Tab

WIDE = Tab("WIDE", (Col("ID", "INT", 4, key=1), *(Col(name, "INT", 4) for name in "ABCD")))
FIRST = Selection(members=(1,))
PARTS = {
    "of a member": ("redo", FIRST),
    "all but a member": ("redo", Selection(excepted=FIRST)),
    "of an operation": ("redo", Selection(ops=("update",))),
    "of a value": ("redo", Selection(where="after.A < 5")),
    "of a member, and what depends on it": ("undo", replace(FIRST, cascade="all")),
    "of a member, but for what others built on": (
        "undo",
        replace(FIRST, cascade="non-conflicting"),
    ),
    "of an operation, but for what others built on": (
        "undo",
        Selection(ops=("update",), cascade="non-conflicting"),
    ),
}


def wide_history(
    seed: int,
) -> tuple[LogBuilder, dict[int, tuple[int, ...]], dict[int, tuple[int, ...]]]:
    """Units of two members that update columns of the same rows, and insert and delete rows of
    their own: (log, rows before it, rows after it)."""
    choice = random.Random(seed)
    rows = {key: (key, *choice.choices(range(9), k=4)) for key in range(8)}
    before, owner = dict(rows), dict.fromkeys(rows, 0)
    log = LogBuilder((WIDE,))
    for number in range(25):
        member = 1 + choice.randrange(2)
        unit = log.unit(member=member)
        mine = sorted(key for key in rows if owner[key] in (0, member))
        kind = choice.choice(["insert", "delete", *["update"] * 6])
        if kind == "insert":
            rows[100 + number], owner[100 + number] = (
                (
                    100 + number,
                    *choice.choices(range(9), k=4),
                ),
                member,
            )
            unit.insert(WIDE, rows[100 + number])
        elif kind == "delete" and [key for key in mine if owner[key]]:
            unit.delete(WIDE, rows.pop(choice.choice([key for key in mine if owner[key]])))
        else:
            key = choice.choice(mine)
            after = (
                key,
                *(
                    choice.randrange(9) if choice.random() < 0.3 else value
                    for value in rows[key][1:]
                ),
            )
            unit.update(WIDE, rows[key], after)
            rows[key] = after
    return log, before, rows


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_the_changes_writes_no_others(part: str, tmp_path: Path) -> None:
    """Of rows that changes outside of the selection wrote too, an upsert script writes what the
    plain one does."""
    mode, selection = PARTS[part]
    different = 0
    for seed in range(12):
        log, before, after = wide_history(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        control, data = log.write(folder, seed=seed)
        ends = []
        for again in (False, True):
            options = ScriptOptions(dialect="sqlite", render=RenderOptions(upsert=again))
            bundle = replay.write_script(
                control, data, folder / str(again), mode=mode, selection=selection, options=options
            )
            assert bundle.manifest["findings"]["count"] == 0
            lines = list(statements_of(bundle.folder.glob("*.sql")))
            with Place("sqlite").engine("testown") as engine:
                engine.run("CREATE TABLE testown.wide (id INTEGER PRIMARY KEY, a, b, c, d)")
                for row in (before if mode == "redo" else after).values():
                    engine.run(f"INSERT INTO testown.wide VALUES {row}")
                for _ in range(3 if again else 1):
                    run_all(engine, lines)
                ends.append(sorted(engine.rows("SELECT * FROM testown.wide")))
        assert ends[0] == ends[1], seed
        different += ends[0] not in (sorted(before.values()), sorted(after.values()))
    assert different > 6
