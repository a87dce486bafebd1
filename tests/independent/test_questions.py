"""What commands say of logs of Log Master that somebody else wrote, held against the true history:
rows at a point, changes that a condition takes, values under masks, and changes as CSV.

The first seed judges each commit. One seed: ``scripts/run test -n 0 -k "questions and 17"``.
"""

from __future__ import annotations

import csv
import json
import operator
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from glob import escape
from pathlib import Path

import pytest

from tests.independent.tables import Column, Row, State, Table, Target, exactly, place_of, stored
from tests.independent.test_log_master import FINE, case_of, history, lines, named, position
from tests.independent.values import Value
from tests.independent.zos_history import History, parts

SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 20)))
_FLOATS = ("REAL", "DOUBLE")


def in_csv(column: Column, value: Value) -> str:
    """A value as files of a state have it; CHAR without its padding."""
    match value:
        case None:
            return "\\N"
        case bytes():
            return f"\\x{value.hex()}"
        case Decimal():
            return format(value, "f")
    return str(value).rstrip(" ") if column.kind == "CHAR" else str(value)


def read_csv(column: Column, text: str) -> str:
    return str(float(text)) if column.kind in _FLOATS and text != "\\N" else text


def written(folder: Path, tables: list[Table], state: State) -> Path:
    folder.mkdir()
    for table in tables:
        rows = [[column.name.lower() for column in table.columns]]
        rows += [list(map(in_csv, table.columns, row)) for row in state[table.name]]
        texts = (",".join("" if text == "\\N" else quoted(text) for text in row) for row in rows)
        path = folder / f"{table.name.lower()}.csv"
        path.write_text("\n".join(texts) + "\n", encoding="utf-8", newline="")
    return folder


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def lines_of(text: str) -> Iterator[list[str]]:
    """The lines of a state's file, ``\\N`` for nothing between commas."""
    values: list[str] = []
    for value, end in re.findall(r'("(?:[^"]|"")*"|[^",\n]*)([,\n])', text):
        values.append(
            value.removeprefix('"').removesuffix('"').replace('""', '"') if value else "\\N"
        )
        if end == "\n":
            yield values
            values = []


def states(made: History, commits: dict[tuple[str, str], str]) -> dict[str, State]:
    """The rows after each commit position that has changes, and at the start."""
    rows = {table.name: dict(made._start[table.name]) for table in made.tables}
    point, found = "start", {"start": {name: list(here.values()) for name, here in rows.items()}}
    for unit in made.done:
        for effect in unit.effects:
            if effect.before is not None:
                del rows[effect.table.name][effect.place]
            if effect.after is not None:
                rows[effect.table.name][effect.place] = effect.after
        point = commits.get(named(made, unit), point)
        found[point] = {name: list(here.values()) for name, here in rows.items()}
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_at_a_point(seed: int, tmp_path: Path) -> None:
    """From the rows before the log, and from those after it."""
    made, pick = history(2 * seed, changes=40), random.Random(f"points {seed}")
    case = case_of(made, tmp_path)
    assert case.export("--format", "jsonl")[0] in FINE
    commits = {
        (str(line["urid"]), str(line["member"])): str(line["commit_lrsn"])
        for line in lines(tmp_path / "export")
    }
    found = states(made, commits)
    ends = {
        "start": written(tmp_path / "before", made.tables, made.before),
        "end": written(tmp_path / "after", made.tables, made.after),
    }
    for point in pick.sample(sorted(found), min(3, len(found))):
        for end, folder in ends.items():
            words = ("--at", point, "--initial", str(folder), "--initial-at", end)
            code, said, out = case._run("state", f"{point} {end}", *words, "--format", "csv")
            assert code in FINE, said
            for table in made.tables:
                path = out / f"{table.name.lower()}.csv"
                _, *rows = lines_of(path.read_bytes().decode())
                assert Counter(tuple(map(read_csv, table.columns, row)) for row in rows) == Counter(
                    tuple(map(in_csv, table.columns, row)) for row in found[point][table.name]
                )


Truth = Callable[[Row | None, Row | None], bool | None]
_COMPARES = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def condition(pick: random.Random, table: Table, rows: list[Row]) -> tuple[str, Truth]:
    """A condition on the values of a table, and what is true of two images: NULL is unknown, and so
    is whatever is asked of an image that a change does not have."""
    if pick.random() < 0.35:
        (one, first), (two, second) = (condition(pick, table, rows) for _ in "12")
        if pick.random() < 0.3:
            return f"not ({one})", lambda b, a: None if (t := first(b, a)) is None else not t
        word, strong = pick.choice((("and", False), ("or", True)))

        def joined(before: Row | None, after: Row | None) -> bool | None:
            both = first(before, after), second(before, after)
            return strong if strong in both else None if None in both else not strong

        return f"({one}) {word} ({two})", joined
    able = [
        (number, column)
        for number, column in enumerate(table.columns)
        if column.kind not in (*_FLOATS, "TIMESTAMPTZ") and not column.bit
    ]
    number, column = pick.choice(able)
    side = pick.choice(("before", "after"))
    name = f"{side}.{quoted(column.name)}"

    def value(before: Row | None, after: Row | None) -> Value:
        row = before if side == "before" else after
        found = None if row is None else row[number]
        return found.rstrip(" ") if isinstance(found, str) and column.kind == "CHAR" else found

    some = [found for row in rows if (found := value(row, row)) is not None]
    if not some or pick.random() < 0.2:
        return (
            f"{name} is null",
            lambda b, a: None if (b if side == "before" else a) is None else value(b, a) is None,
        )
    other, word = pick.choice(some), pick.choice(sorted(_COMPARES))
    shown = format(other, "f") if isinstance(other, Decimal) else str(other)
    if isinstance(other, str):
        shown = "'" + other.replace("'", "''") + "'"

    def compared(before: Row | None, after: Row | None) -> bool | None:
        mine = value(before, after)
        if mine is None:
            return None
        if isinstance(mine, str) and isinstance(other, str):
            return bool(_COMPARES[word](mine.encode(), other.encode()))
        return bool(_COMPARES[word](mine, other))

    return f"{name} {word} {shown}", compared


@pytest.mark.parametrize("seed", SEEDS)
def test_changes_that_a_condition_takes(seed: int, tmp_path: Path) -> None:
    made, pick = history(2 * seed, tables=2), random.Random(f"where {seed}")
    case = case_of(made, tmp_path)
    effects = {position(made, effect): effect for _, effect in parts(made)}
    for table in made.tables:
        mine = {place: effect for place, effect in effects.items() if effect.table is table}
        rows = [row for e in mine.values() for row in (e.before, e.after) if row is not None]
        kinds = {"BIT" if column.bit else column.kind for column in table.columns}
        if not rows or not kinds - {*_FLOATS, "TIMESTAMPTZ", "BIT"}:
            continue
        for _ in range(3):
            text, truth = condition(pick, table, rows)
            words = ("--table", escape(f"{table.schema}.{table.name}"), "--where", text)
            code, said, out = case.export("--format", "jsonl", *words)
            assert code in FINE, said
            taken = {(line["member"], line["log_position"]) for line in lines(out)}
            true = {place for place, e in mine.items() if truth(e.before, e.after)}
            same = {place for place in true if mine[place].before == mine[place].after}
            assert true - same <= taken <= true, text  # an update of nothing may stay out


def kind_of(column: Column) -> tuple[object, ...] | None:
    """Columns whose masks belong together; None where there is no mask."""
    match column.kind:
        case "SMALLINT" | "INTEGER" | "BIGINT":
            return (column.kind,)
        case "DECIMAL":
            return column.kind, column.length // 2, column.scale
        case "CHAR" | "VARCHAR" if column.length >= 16:
            return (column.bit,)
    return None


def masked_rows(target: Target, table: Table, rows: list[Row]) -> Iterator[tuple[Row, Row]]:
    """Rows of a target beside the true ones, found by what is not masked, where that is unique."""
    plain = [n for n, column in enumerate(table.columns) if kind_of(column) is None]

    def shown(row: Row) -> tuple[object, ...]:
        return tuple(exactly(table.columns[n], stored(row[n])) for n in plain)

    found = target.base.execute(f"SELECT * FROM {place_of(table)}").fetchall()
    count = Counter(map(shown, rows))
    assert Counter(map(shown, found)) == count
    true = {shown(row): row for row in rows}
    yield from ((true[shown(row)], row) for row in found if count[shown(row)] == 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_masks(seed: int, tmp_path: Path) -> None:
    """A value has one mask in all tables, no two whole numbers have the same one, and an undo takes
    back what a redo wrote."""
    made = history(2 * seed, changes=60, rows=0)
    case = case_of(made, tmp_path)
    lists = (
        f"[tables.{json.dumps(f'{table.schema}.{table.name}')}]\nmask = {json.dumps(names)}\n"
        for table in made.tables
        if (names := [c.name for c in table.columns if kind_of(c) is not None])
    )
    (tmp_path / "masks.toml").write_text("".join(lists))
    (tmp_path / "key").write_text("a secret of thirty-two characters")
    words = ("--mapping", str(tmp_path / "masks.toml"), "--mask-key-file", str(tmp_path / "key"))
    code, said, out = case.run("redo", "redo", *words)
    assert code in FINE, said
    masks = dict[object, Value]()
    target = Target.of(made.tables, made.before)
    with closing(target.base):
        assert target.apply(out) is None
        for table in made.tables:
            for true, found in masked_rows(target, table, list(made.after[table.name])):
                for column, value, mask in zip(table.columns, true, found, strict=True):
                    kind = kind_of(column)
                    assert (value is None) is (mask is None)
                    if kind is not None and value is not None:
                        plain = value.rstrip(" ") if isinstance(value, str) else value
                        assert masks.setdefault((kind, plain), mask) == mask
        kinds = [(key[0], mask) for key, mask in masks.items() if isinstance(key, tuple)]
        assert len(set(kinds)) == len(kinds)
        code, said, out = case.run("undo", "undo", "--schema", "none", *words)
        assert code in FINE, said
        assert (target.apply(out) or target.difference(made.before, exactly)) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_changes_as_csv(seed: int, tmp_path: Path) -> None:
    made = history(seed)
    code, said, out = case_of(made, tmp_path).export("--format", "csv", "--csv-null", "\\N")
    assert code in FINE, said
    true = {position(made, effect): effect for _, effect in parts(made)}
    for path in out.rglob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                effect = true.pop((int(line["member"]), line["log_position"]))
                for side, row in (("before", effect.before), ("after", effect.after)):
                    for number, column in enumerate(effect.table.columns):
                        shown = line.get(f"{side}_{column.name.lower()}", "\\N")
                        value = None if row is None else row[number]
                        hexed = value.hex() if isinstance(value, bytes) else in_csv(column, value)
                        assert read_csv(column, shown) == hexed, column
    assert not any(effect.before != effect.after for effect in true.values())
