"""Logical logs of Log Master that somebody else wrote by the format notes: scripts, exports and
parts of a log end in the true rows, with machine code and without.

Three seeds and two of the day judge each commit. One seed:
``scripts/run test -n 0 -k "log_master and 17"``.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise, product
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.native import fast_path
from tests.independent.judge import DEFECT, Case
from tests.independent.tables import Column, Table, Target, exactly
from tests.independent.values import Value
from tests.independent.zos_history import Effect, History, Unit, Wants, form_of, parts
from tests.independent.zos_records import Generation, write
from tests.support.seeds import FIXED, seeds

SEEDS = range(20)
#: What takes the machine code of large logs, and from what size on.
LARGE = ((fast_path, "WORTH", 0),)
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


@pytest.mark.long
@pytest.mark.parametrize("seed", seeds(long=17))
def test_rows_longer_than_a_record(seed: int, tmp_path: Path) -> None:
    form = replace(form_of(seed), reading="A")
    made = History(f"long {seed}", form, Wants(changes=40, tables=2, long=True))
    assert case_of(made, tmp_path).complaint() is None


@pytest.mark.long
@pytest.mark.parametrize("seed", seeds(long=17))
def test_tables_that_are_emptied(seed: int, tmp_path: Path) -> None:
    made = History(f"mass {seed}", form_of(seed), Wants(mass=True))
    case = case_of(made, tmp_path)
    code, said, out = case.run("redo", "redo")
    assert code in FINE, said
    target = Target.of(case.tables, case.before)
    with closing(target.base):
        assert (target.apply(out) or target.difference(case.after, exactly)) is None
    if any(not change.images for _, effect in parts(made) if (change := effect.change)):
        code, said, _ = case.run("undo", "undo", "--schema", "none")
        assert (code, "LR3002" in said) == (8, True), said


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


def named(made: History, unit: Unit) -> tuple[str, str]:
    """A unit as scripts name it."""
    return made.log.headers.rba(unit.facts.urid).hex().upper(), str(unit.facts.member)


def units_of(case: Case, name: str) -> set[tuple[str, str]]:
    text = b"".join(case.scripts(name)).decode()
    return set(re.findall(r"^-- unit URID=([0-9A-F]+) member=(\d+)", text, re.MULTILINE))


@pytest.mark.long
@pytest.mark.parametrize("seed", seeds(long=17))
def test_a_part_and_what_needs_it(seed: int, tmp_path: Path) -> None:
    """A user's work is taken back, or left out, with all that builds on it."""
    made, pick = history(seed, changes=70, rows=25), random.Random(f"part {seed}")
    case = case_of(made, tmp_path)
    changing = [number for number, unit in enumerate(made.done) if unit.effects]
    user = made.done[pick.choice(changing)].facts.authid
    chosen = {number for number in changing if made.done[number].facts.authid == user}
    for command, words, rows in (
        ("undo", ("--authid", user, "--cascade", "all"), case.after),
        ("redo", ("--except", f"authid={user}"), case.before),
    ):
        code, said, out = case.run(command, command, *words, "--schema", "none")
        assert code in FINE, said
        names = units_of(case, command)
        there = {number for number in changing if named(made, made.done[number]) in names}
        left = there if command == "undo" else set(changing) - there
        assert chosen <= left
        target = Target.of(case.tables, rows)
        with closing(target.base):
            wrong = target.apply(out) or target.difference(made.without(left), exactly)
        assert wrong is None, command


def damage(made: History, pick: random.Random) -> set[int]:
    """Mark a unit as incomplete, with an image of something else; those that began later may depend
    on it. The units (places in ``done``) that do, by rows and keys."""
    number = pick.randrange(len(made.done))
    unit = made.done[number]
    unit.facts.incomplete = True
    updates = [effect.change for effect in unit.effects if len(effect.change.images) == 2]
    if updates:
        change = pick.choice(updates)
        old, new = change.images
        change.images = pick.choice(((new, new), (pick.randbytes(len(old)), new), (old[:2], new)))
    needed, found, lives = set[object](), set[int](), Counter[object]()
    for other, later in enumerate(made.done):
        later.facts.depends = later is not unit and later.facts.lrsn >= unit.facts.lrsn
        touched = set[object]()
        for effect in later.effects:
            table, place = effect.table, (effect.table.name, effect.place)
            lives[place] += effect.before is None
            for row in (effect.before, effect.after):
                if row is not None:
                    touched.add(
                        (table.name, table.key_of(row)) if table.key else (place, lives[place])
                    )
        if other == number or touched & needed:
            needed |= touched
            found.add(other)
    return found


@pytest.mark.long
@pytest.mark.parametrize("seed", seeds(long=17))
def test_units_that_could_not_be_completed(seed: int, tmp_path: Path) -> None:
    """They stay out, and so does all that needs them."""
    made = History(f"incomplete {seed}", form_of(seed), Wants(changes=60))
    needing = damage(made, random.Random(f"incomplete {seed}"))
    first = next(unit.facts for unit in made.done if unit.facts.incomplete)
    head = made.log.headers
    dependent = head.rba(first.urid) if made.form.zero_lrsn else head.lrsn(first.lrsn)
    if made.form.header == "old" and not made.form.sharing:
        dependent = b"\0" + head.rba(first.urid)[4:] + bytes(3)
    source = write(made.log, made.tables, tmp_path, made.end, dependent=dependent)
    case = Case(source, made.tables, made.before, made.after, tmp_path)
    code, said, out = case.run("redo", "redo", "--schema", "none")
    assert code in (4, 8), said
    names = units_of(case, "redo")
    left = {n for n, unit in enumerate(made.done) if named(made, unit) not in names}
    assert {number for number in needing if made.done[number].effects} <= left
    target = Target.of(case.tables, case.before)
    with closing(target.base):
        assert (target.apply(out) or target.difference(made.without(left), exactly)) is None


@pytest.mark.long
@pytest.mark.parametrize("seed", seeds(long=17))
def test_a_log_in_many(seed: int, tmp_path: Path) -> None:
    """Logs that follow one another, or overlap, make the scripts of one; a chain of bundles has
    each unit once."""
    made, pick = history(seed), random.Random(f"many {seed}")
    # ORDERVALUE counts the records of one log.
    made.log.form = replace(made.form, ordervalue=False)
    case = case_of(made, tmp_path)
    commits = sorted({change.unit.commit_lrsn for change in made.log.changes})
    inner = pick.sample(commits[:-1], min(len(commits) - 1, pick.randint(1, 3)))
    edges = [0, *sorted(inner), commits[-1]]
    sources = []
    for number, (start, end) in enumerate(pairwise(edges)):
        if number and pick.random() < 0.5:
            start = pick.choice([0, *(at for at in commits if at <= start)])
        some = [c for c in made.log.changes if start < c.unit.commit_lrsn <= end]
        end = made.end if end == commits[-1] else end
        sources.append(write(made.log, made.tables, tmp_path, end, f"log{number}", some))
    assert case.run("redo", "one")[0] in FINE
    mixed = pick.sample(sources, len(sources))
    many = replace(case, source=tuple(word for source in mixed for word in source))
    code, said, _ = many.run("redo", "many")
    assert code in FINE, said
    assert many.scripts("many") == case.scripts("one")
    target, before = Target.of(case.tables, case.before), "none"
    with closing(target.base):
        for number in range(len(sources)):
            words = tuple(word for source in sources[: number + 1] for word in source)
            step = replace(case, source=words)
            code, said, out = step.run("redo", f"step{number}", "--after", before)
            assert code in FINE, said
            assert target.apply(out) is None
            before = str(out)
        assert target.difference(case.after, exactly) is None


@pytest.mark.long
@pytest.mark.parametrize("seed", seeds(long=17))
def test_damage_of_log_master(seed: int, tmp_path: Path) -> None:
    """A damaged file of either kind is no defect of the command."""
    made, pick = history(seed, changes=20, tables=2), random.Random(f"harm {seed}")
    case = case_of(made, tmp_path)
    sound = {path: path.read_bytes() for path in map(Path, case.source[1::2])}
    for _ in range(4):
        for path, found in sound.items():
            harmed = bytearray(found)
            for _ in range(pick.choice((0, 1, 1, 3))):
                at, size = pick.randrange(len(found)), pick.choice((1, 2, 4, 50))
                match pick.randrange(3):
                    case 0:
                        harmed[at : at + 1] = pick.randbytes(1)
                    case 1:
                        del harmed[at : at + size]
                    case _:
                        harmed[at:at] = pick.randbytes(size)
            path.write_bytes(harmed)
        for command, words in (("redo", ()), ("undo", ("--schema", "none", "--cascade", "all"))):
            code, said, _ = case.run(command, command, *words)
            assert code in (0, 4, 8, 12), said
            assert DEFECT not in said


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
