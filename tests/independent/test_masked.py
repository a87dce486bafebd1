"""Drawn histories under a mapping that masks what it can, with columns left out: nothing that a run
writes or says has a masked value.

One seed: ``scripts/run test -n 0 -k "masked and 40"``.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.independent.judge import DEFECT, Case
from tests.independent.tables import Column, Table, stored
from tests.independent.values import Value
from tests.independent.zos_history import History, Wants, form_of, parts
from tests.independent.zos_records import write

#: What judges each commit: one with rows that take each other's keys, in a table without one
#: column.
SEEDS = (40, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(12)))


def masks(column: Column) -> bool:
    """Whether a column can be masked: a text needs room for its mask."""
    if column.kind in ("CHAR", "VARCHAR"):
        return column.length >= 20
    return column.kind in ("SMALLINT", "INTEGER", "BIGINT", "DECIMAL")


def left_out(table: Table) -> str:
    """A column that no key has, as the mapping leaves it out; nothing where all are of the key."""
    names = [c.name for n, c in enumerate(table.columns) if n not in table.key]
    return f"[{quoted(names[0])}]" if table.key and names else "[]"


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def text_of(value: Value) -> str:
    shown = stored(value)
    return shown.hex() if isinstance(shown, bytes) else str(shown).rstrip(" ")


@pytest.mark.parametrize("seed", SEEDS)
def test_masked_values_are_nowhere(seed: int, tmp_path: Path) -> None:
    made = History(seed, form_of(seed), Wants(60, 3, 10))
    lines, hidden, shown = list[str](), set[str](), set[str]()
    for table in made.tables:
        out = left_out(table)
        kept = [c for c in table.columns if masks(c) and quoted(c.name) not in out]
        lines.append(f"[tables.{quoted(f'{table.schema}.{table.name}')}]")
        lines.append(f"mask = [{', '.join(quoted(column.name) for column in kept)}]")
        lines.append(f"exclude = {out}")
        rows = [row for _, e in parts(made) for row in (e.before, e.after) if e.table is table]
        for row in filter(None, rows):
            for column, value in zip(table.columns, row, strict=True):
                if value is not None:
                    (hidden if column in kept else shown).add(text_of(value))
    mapping, key = tmp_path / "map.toml", tmp_path / "key"
    mapping.write_text("\n".join(lines), encoding="utf-8")
    key.write_text("nobody knows this text")
    source = write(made.log, made.tables, tmp_path, made.end)
    case = Case(source, made.tables, made.before, made.after, tmp_path)
    words = ("--schema", "none", "--mapping", str(mapping), "--mask-key-file", str(key))
    told = ""
    for command in ("redo", "undo"):
        code, said, folder = case.run(command, command, "--include-aborted", *words)
        assert code in (0, 4, 8), said
        assert DEFECT not in said
        files = [file.read_text(encoding="utf-8") for file in folder.rglob("*") if file.is_file()]
        told += "".join((said, *files))
    others = "\n".join(shown)
    secret = {text for text in hidden if len(text) >= 7 and text not in others}
    # digits alone may be a position or a part of a digest
    secret = {text for text in secret if not re.fullmatch("[0-9]{1,9}", text)}
    assert not [text for text in secret if text in told]
