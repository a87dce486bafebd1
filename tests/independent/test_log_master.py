"""Logical logs of Log Master that somebody else wrote by the format notes: scripts and exports end
in the true rows, with machine code and without.

Three seeds and two of the day judge each commit. One seed:
``scripts/run test -n 0 -k "log_master and 17"``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import product
from pathlib import Path

import pytest

from replay import native
from replay.cli.main import main
from tests.independent.judge import Case
from tests.independent.tables import Column, Table
from tests.independent.values import Value
from tests.independent.zos_history import Effect, History, Wants, form_of, parts
from tests.independent.zos_records import Generation, write
from tests.support.seeds import FIXED, seeds

SEEDS = range(20)
#: What takes the machine code of large logs, and from what size on.
LARGE = ((native, "WORTH", 0),)
#: Warned of: several generations of a table, and LONG VARCHAR that may hold bits.
FINE = (0, 4)


def history(seed: int, changes: int = 50, tables: int = 3, rows: int = 10) -> History:
    """A history of a seed; every other one has tables that get columns."""
    return History(seed, form_of(seed), Wants(changes, tables, rows, short=seed % 2 == 1))


def case_of(made: History, folder: Path) -> Case:
    source = write(made.log, made.tables, folder, made.end)
    return Case(source, made.tables, made.before, made.after, folder, fine=FINE)


@pytest.mark.parametrize("seed", seeds(long=17))
def test_rows_of_log_master(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_of(history(seed), tmp_path)
    assert case.complaint() is None
    general = case.scripts("redo"), case.scripts("undo")
    for module, name, size in LARGE:
        monkeypatch.setattr(module, name, size)
    assert case.run("redo", "redo")[0] in FINE
    assert case.run("undo", "undo", "--schema", "none")[0] in FINE
    assert (case.scripts("redo"), case.scripts("undo")) == general


@pytest.mark.parametrize("scheme", [1, 2])
def test_graphic_columns_of_either_unit(scheme: int, tmp_path: Path) -> None:
    """Targets get columns of so many characters, whether the log's lengths count these or bytes."""
    kinds = ("GRAPHIC", "VARGRAPHIC", "LONG VARGRAPHIC")
    columns = tuple(
        Column(f"C{length}{kind[0]}{nullable}", kind, length, nullable=nullable)
        for kind, length, nullable in product(kinds, (2, 3, 10), (True, False))
    )
    found = list[str]()
    for unit in (1, 2):
        form = replace(form_of(0), graphic=unit)
        made = History(f"graphic {unit}", form, Wants(changes=3, tables=1))
        table = Table("S9", "WIDE", (0x999, 3 + scheme), columns, (), len(columns))
        made.log.generations[table.name] = [Generation(1, 5, 0, len(columns))]
        source = write(made.log, [*made.tables, table], tmp_path, made.end, f"unit{unit}")
        words = ("--dialect", "postgres", "--table", "S9.WIDE")
        out = tmp_path / f"ddl{unit}.sql"
        assert main(["ddl", *source, *words, "--out", str(out)]) in FINE
        found.append(out.read_text())
    assert "VARCHAR(10)" in found[0].upper()
    assert found[0] == found[1]


def position(made: History, effect: Effect) -> tuple[int, str]:
    """Where a change stands, as exports say it: its member and its LOGRBA or ORDERVALUE."""
    change = effect.change
    rba = made.log.headers.rba(change.rba).hex().upper()
    return change.unit.member, f"{change.order:020X}" if made.form.ordervalue else rba


def as_json(column: Column, value: Value) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def lines(out: Path) -> Iterator[dict[str, object]]:
    """The changes of an export in lines of JSON."""
    for file in out.rglob("*.jsonl"):
        for line in file.read_text(encoding="utf-8").split("\n"):
            if line:
                yield json.loads(line)


@pytest.mark.parametrize("seed", seeds(long=17))
def test_changes_as_data(seed: int, tmp_path: Path) -> None:
    """Each change once, with the values of both images."""
    made = history(seed)
    code, said, out = case_of(made, tmp_path).export("--format", "jsonl")
    assert code in FINE, said
    true = {position(made, effect): effect for _, effect in parts(made)}
    for line in lines(out):
        member = line["member"]
        assert isinstance(member, int)
        effect = true.pop((member, str(line["log_position"])))
        for image, row in (("before", effect.before), ("after", effect.after)):
            found = line[image]
            if row is None or not isinstance(found, dict):
                assert row is found
                continue
            for column, value in zip(effect.table.columns, row, strict=True):
                shown = found.pop(column.name.lower(), None)
                if column.kind in ("REAL", "DOUBLE") and shown is not None:
                    shown = float(shown)
                assert (None if shown is None else str(shown)) == (
                    None if value is None else as_json(column, value)
                ), column
            assert not found
    assert not any(effect.before != effect.after for effect in true.values())


def test_logs_have_what_they_are_for() -> None:
    """The first seeds have every sort of record, and most choices that the notes leave."""
    count: Counter[str] = Counter()
    for seed in SEEDS:
        made = history(seed)
        count += made.count
        form = made.form
        count.update((form.framing, form.reading, form.header))
        choices = ("sharing", "expand", "segments", "graphic")
        count.update(f"{name} {getattr(form, name)}" for name in choices)
        count.update(column.kind for table in made.tables for column in table.columns)
        count.update(effect.change.source for _, effect in parts(made))
    for what in ("shifts", "savepoints", "reversed", "aborts", "others", "widened", "together"):
        assert count[what] > 2, what
    for what in ("rdw", "bdw", "ftp", "none", "A", "B", "B'", "plain", "described", "shuffled"):
        assert count[what], what
    for what in ("old", "sharing False", "expand True", "segments True", "graphic 1", "R", "T"):
        assert count[what], what
    assert SEEDS.stop > FIXED
