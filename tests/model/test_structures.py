"""Tables that change amid their rows, in both families: no wrong row comes out."""

from __future__ import annotations

import contextlib
import csv
import json
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.model.case import Answer, Verdict, answer_of
from tests.model.compare import canonical, definition, unloaded
from tests.model.rows import Table
from tests.model.structures import (
    Act,
    LuwStructures,
    Part,
    Shape,
    SolidStructures,
    State,
    Structures,
    Unit,
    after,
    apply,
    copied,
    without,
)
from tests.support.seeds import seeds

MAKERS: dict[str, Any] = {"db2luw": LuwStructures, "soliddb": SolidStructures}
PATTERNS = {"db2luw": r"^-- unit TID=([0-9A-F]{12})", "soliddb": r"^-- unit TRXID=(\d+)"}
#: What is said of a statement that the user has to repeat.
NOTED = re.compile("its statement is not in the log|the log does not say with which columns")
#: A table whose columns or name the log does not tell has a name of its numbers.
NUMBERED = re.compile(r"\bts\d+\.t\d+", re.I)


def table_of(shape: Shape) -> Table:
    names = {part.ident: part.name for part in shape.columns}
    key = tuple(names[ident] for ident in shape.key)
    return Table(f"APP.{shape.name}", shape.shown, key)


def filled(state: State) -> sqlite3.Connection:
    base = sqlite3.connect(":memory:", isolation_level=None)
    base.execute("ATTACH ':memory:' AS app")
    for shape, rows in state.values():
        base.execute(definition(table_of(shape), "primary", "sqlite"))
        marks = ", ".join("?" * len(shape.shown))
        for row in rows.values():
            values = [loaded(part, row[part.ident]) for part in shape.shown]
            base.execute(f"INSERT INTO app.{shape.name} VALUES ({marks})", values)
    return base


def loaded(part: Part, value: Any) -> Any:
    """A value in SQLite, which compares texts; solidDB has nine digits of a second."""
    if part.kind == "timestamp" and value is not None:
        return f"{value}000"
    return value if value is None or isinstance(value, int | bytes) else str(value)


def shown(part: Part, value: Any) -> Any:
    if isinstance(value, str) and part.kind in ("integer", "bigint"):
        value = int(value)
    return canonical(value, part)


def bag(shape: Shape, rows: Sequence[dict[int, Any]]) -> Counter[tuple[Any, ...]]:
    parts = sorted(shape.shown, key=lambda part: part.name)
    return Counter(tuple(shown(part, row[part.ident]) for part in parts) for row in rows)


def differs(base: sqlite3.Connection, state: State, more: bool) -> str:
    """How a database is not as it should be; ``more``: it may have tables beside, or lack empty
    ones."""
    asked = "SELECT name FROM app.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    found = {name.upper() for (name,) in base.execute(asked)}
    wanted = {shape.name for shape, _ in state.values()}
    if (wanted - found or found - wanted) and not more:
        return f"tables {sorted(found)}, not {sorted(wanted)}"
    for shape, rows in state.values():
        if shape.name not in found and not rows:
            continue
        names = {one.upper() for _, one, *_ in base.execute(f"PRAGMA app.table_info({shape.name})")}
        parts = sorted(shape.shown, key=lambda part: part.name)
        if names != {part.name for part in parts}:
            return f"{shape.name}: columns {sorted(names)}, not {[part.name for part in parts]}"
        listed = ", ".join(part.name for part in parts)
        have = Counter(
            tuple(shown(part, value) for part, value in zip(parts, row, strict=True))
            for row in base.execute(f"SELECT {listed} FROM app.{shape.name}")
        )
        want = bag(shape, [*rows.values()])
        if have != want:
            return f"{shape.name} lacks {want - have}, has {have - want} beside"
    return ""


class StructureCase:
    """A history, its log, and how the command is asked of it."""

    def __init__(self, family: str, seed: object, folder: Path) -> None:
        pick = random.Random(f"case {family} {seed}")
        self.told = pick.choice((1.0, 1.0, 0.5))
        self.made = Structures(seed, family, self.told)  # type: ignore[arg-type]
        self.log = MAKERS[family](self.made)
        self.family, self.folder, self.pick, self.runs = family, folder, pick, 0
        folder.mkdir(exist_ok=True)
        self.source = self.log.write(folder)
        self.units = [unit for unit in self.made.units if unit.committed]
        self.names = {self.log.name(unit): unit for unit in self.units}

    def ask(self, command: str, *words: str) -> Answer:
        self.runs += 1
        out = self.folder / f"out{self.runs}"
        argv = [command, *self.source, "--engine", "local", "--out", str(out), *words]
        return answer_of(argv, out, re.compile(PATTERNS[self.family], re.MULTILINE))

    def emitted(self, answer: Answer) -> list[Unit]:
        return [unit for unit in self.units if self.log.name(unit) in answer.units]

    def describe(self) -> str:
        lines = [f"{self.family}, {self.log.form}"]
        for shape, rows in self.made.before.values():
            lines += [f"{shape}", *map(repr, rows.items())]
        for unit in self.made.units:
            lines.append(f"unit {self.log.name(unit) if unit.committed else unit.number}")
            lines += [f"  taken back {brief(act)}" for act in unit.taken]
            lines += [f"  {brief(act)}" for act in unit.acts]
        return "\n".join(lines)


def brief(act: Act) -> str:
    if act.of_row:
        return f"table {act.number} row {act.rid}: {act.before} -> {act.after}"
    return f"table {act.number}: {act.text}{'' if act.told else ' (not in the log)'}"


def outcome(case: StructureCase, check: str, answer: Answer, first: State, last: State) -> Verdict:
    """The scripts lead from one state to the other."""
    with contextlib.closing(filled(first)) as base:
        for script in answer.scripts:
            lines = [line for line in script.splitlines() if not NUMBERED.search(line)]
            try:
                base.executescript("\n".join(lines))
            except sqlite3.Error as error:
                if answer.code and NOTED.search(answer.text):
                    return Verdict(check, "ok")
                return Verdict(check, "failed", f"exit code {answer.code}: {error}")
        other = differs(base, last, more=answer.code != 0)
    return Verdict(check, "wrong" if other else "ok", f"exit code {answer.code}: {other}"[:900])


def check_scripts(case: StructureCase) -> Iterator[Verdict]:
    for mode in ("redo", "undo"):
        answer = case.ask(mode, "--dialect", "sqlite", "--schema", "none")
        if answer.code == 99 or "defect" in answer.text:
            yield Verdict(mode, "crashed", answer.text[-600:])
        elif not answer.written:
            yield Verdict(mode, "refused", f"exit code {answer.code}: {answer.reason}")
        else:
            yield of_units(case, mode, answer)
        if mode == "redo":
            yield from check_images(case)
        if mode == "redo" and answer.written and not answer.held:
            yield from check_points(case, answer)


def of_units(case: StructureCase, mode: str, answer: Answer) -> Verdict:
    """The scripts lead where the units in them do: from the rows before the log; and back from what
    they left, or from what all units left."""
    made, found = case.made, Verdict(mode, "wrong", "a unit cannot be without another")
    some = case.emitted(answer) if answer.held else case.units
    for ends in (after, without):
        try:
            first, last = ends(made, some)
        except KeyError:
            continue
        if mode == "undo":
            first, last = last, first
        elif ends is without:
            break
        found = outcome(case, mode, answer, first, last)
        if not found.bad:
            break
    return found


def check_images(case: StructureCase) -> Iterator[Verdict]:
    """Each image of an export has the values that the row had."""
    answer = case.ask("export", "--format", "jsonl")
    if answer.code == 99 or "defect" in answer.text:
        yield Verdict("export", "crashed", answer.text[-600:])
    out, state = case.folder / f"out{case.runs}", copied(case.made.before)
    wanted: dict[str, list[dict[str, Any]]] = {}
    for unit in case.units:
        for act in unit.acts:
            if act.of_row:
                shape = state[act.number][0]
                wanted.setdefault(f"app.{shape.name}".lower(), []).extend(
                    {part.name: shown(part, row[part.ident]) for part in shape.shown}
                    for row in (act.before, act.after)
                    if row is not None
                )
            apply(state, act)
    bad = ""
    for path in sorted(out.glob("app.*/**/*.jsonl")):
        name = unquote(path.relative_to(out).parts[0]).partition("@")[0]
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
            change = json.loads(line, parse_float=str)
            for image in (change["before"], change["after"]):
                if image and not any(is_that(image, one) for one in chain(*wanted.values())):
                    bad = f"{name}: {line}"
    yield Verdict("export", "wrong" if bad else "ok", f"exit code {answer.code}: {bad}"[:900])


def is_that(image: dict[str, Any], row: dict[str, Any]) -> bool:
    """Whether an image is that of a row; it may have columns that came later."""
    image = {name.upper(): value for name, value in image.items()}
    return {*row} <= {*image} and all(text_of(image[name]) == text_of(row[name]) for name in row)


def text_of(value: Any) -> str:
    """A value as JSON has it, without zeros at the end of a fraction."""
    if isinstance(value, bytes):
        return value.hex()
    text = str(float(value)) if isinstance(value, Fraction) else str(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def check_points(case: StructureCase, whole: Answer) -> Iterator[Verdict]:
    """Up to a unit: the scripts, and the rows that a state has."""
    text = "\n".join(whole.scripts)
    named = re.findall(r"^-- unit \w+=(\w+) .*?commit-[a-z]+=(\w+)", text, re.M)
    if not named:
        return
    name, position = case.pick.choice(named)
    stand = case.made.stands[case.units.index(case.names[name])]
    words = ("--until-position", position)
    answer = case.ask("redo", "--dialect", "sqlite", *words)
    if answer.written and not answer.held:
        yield outcome(case, "until", answer, case.made.before, stand)
    initial = case.folder / "initial"
    initial.mkdir(exist_ok=True)
    for shape, rows in case.made.before.values():
        parts = shape.shown
        lines = [",".join(f'"{part.name}"' for part in parts)]
        lines += [",".join(unloaded(r[part.ident], part) for part in parts) for r in rows.values()]
        text = "".join(f"{line}\n" for line in lines)
        (initial / f"{shape.name}.csv").write_text(text, encoding="utf-8", newline="")
    for known in ([], ["--initial", str(initial)]):
        answer = case.ask("state", "--at", position, "--format", "csv", *known)
        out = case.folder / f"out{case.runs}"
        if answer.code == 99 or "defect" in answer.text:
            yield Verdict("state", "crashed", answer.text[-600:])
        elif answer.code in (0, 4):
            bad = state_differs(out, stand, whole=bool(known))
            yield Verdict(f"state {known[:1]}", "wrong" if bad else "ok", bad[:900])


def state_differs(out: Path, state: State, whole: bool) -> str:
    """A state of rows: all of them, or some."""
    for shape, rows in state.values():
        path = out / f"{shape.name.lower()}.csv"
        if not path.exists():
            continue
        with path.open(encoding="utf-8", newline="") as file:
            names, *lines = csv.reader(file, quoting=csv.QUOTE_MINIMAL)
        parts = {part.name: part for part in shape.shown}
        names = [name.upper() for name in names]
        if {*names} != {*parts}:
            return f"{shape.name}: columns {names}, not {[*parts]}"
        order = sorted(range(len(names)), key=lambda at: names[at])
        have = Counter(tuple(read(parts[names[at]], line[at]) for at in order) for line in lines)
        want = Counter(
            tuple("" if value in (None, "") else value for value in row)
            for row in bag(shape, [*rows.values()]).elements()
        )
        if have - want or (whole and have != want):
            return f"{shape.name} lacks {want - have}, has {have - want} beside"
    return ""


def read(part: Part, text: str) -> Any:
    """A value of a file; whether nothing is NULL or no text is not told here."""
    if not text:
        return ""
    value: Any = bytes.fromhex(text.removeprefix("\\x")) if part.kind == "varbinary" else text
    return shown(part, value)


def judged(case: StructureCase, verdict: Verdict) -> Verdict:
    """What an exit code of 4 or 8 names is not repeated in scripts and exports, and states of
    tables whose statements are not in the log are told of: the rows are others then."""
    acts = (act for unit in case.units for act in unit.acts)
    silent = "exit code 0" in verdict.detail
    if verdict.check.startswith("state"):
        silent = all(act.told for act in acts)
    if verdict.result == "wrong" and not silent:
        return Verdict(verdict.check, "named", verdict.detail)
    return verdict


def run_case(family: str, seed: object, folder: Path) -> tuple[list[Verdict], str]:
    case = StructureCase(family, seed, folder)
    found = [judged(case, one) for one in check_scripts(case)]
    return found, case.describe() if any(one.bad for one in found) else ""


#: A refusal is none.
HARM = ("wrong", "failed", "crashed")


@pytest.mark.parametrize("seed", seeds(long=40))
@pytest.mark.parametrize("family", MAKERS)
def test_no_wrong_row_of_tables_that_change(family: str, seed: int, tmp_path: Path) -> None:
    for more in range(3):
        verdicts, story = run_case(family, f"{seed}.{more}", tmp_path / str(more))
        bad = [f"{v.check}: {v.result}: {v.detail}" for v in verdicts if v.result in HARM]
        assert not bad, "\n".join([*bad, story])
