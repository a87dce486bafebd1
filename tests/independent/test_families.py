"""Tables that refer to one another, in logs of Log Master that somebody else wrote: what foreign
keys and triggers did comes along, into targets without any, with foreign keys that do nothing
themselves, and with ones that do the same."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.independent.tables import State
from tests.independent.zos_family import Family
from tests.independent.zos_history import form_of
from tests.independent.zos_records import write

SEEDS = (0, 1, 2, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 16)))
FINE = (0, 4)
#: As the source's own triggers.
TRIGGERS = (
    "CREATE TRIGGER s0.td AFTER DELETE ON c BEGIN INSERT INTO a"
    " VALUES ((SELECT coalesce(max(id), 0) + 1 FROM a), 'c' || old.id); END",
    "CREATE TRIGGER s0.ti AFTER INSERT ON c WHEN new.pid IS NOT NULL BEGIN"
    " UPDATE p SET v = v + 1 WHERE id = new.pid; END",
)


def made_by(seed: int) -> Family:
    return Family(seed, replace(form_of(seed), ordervalue=False), (15, 40, 80)[seed % 3])


def database(path: Path, made: Family, rules: bool | None, triggers: bool) -> sqlite3.Connection:
    """A database in the state before; ``rules`` as in :meth:`Family.ddl`."""
    path.unlink(missing_ok=True)
    base = sqlite3.connect(":memory:", isolation_level=None)
    base.execute(f"ATTACH '{path}' AS s0")
    for statement in made.ddl(rules):
        base.execute(statement.replace("REFERENCES s0.", "REFERENCES "))
    for table in made.tables:
        marks = ", ".join("?" * len(table.columns))
        base.executemany(
            f"INSERT INTO {made.reach(table)} VALUES ({marks})", made.before[table.name]
        )
    for trigger in TRIGGERS if triggers else ():
        base.execute(trigger)
    base.execute("PRAGMA foreign_keys = ON")
    return base


def difference(base: sqlite3.Connection, made: Family, state: State, numbered: bool) -> str | None:
    """The first table whose rows differ; ``numbered``: A's rows have the source's numbers."""
    for table in made.tables:
        first = 0 if numbered or table is not made.a else 1
        rows = base.execute(f"SELECT * FROM {made.reach(table)}").fetchall()
        found, true = (Counter(row[first:] for row in some) for some in (rows, state[table.name]))
        if found != true:
            return f"{table.name} lacks {true - found}, has {found - true} beside"
    return None


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("target", ["bare", "idle keys", "the same"])
def test_scripts_and_replays(seed: int, target: str, tmp_path: Path) -> None:
    made, same = made_by(seed), target == "the same"
    source = write(made.log, made.tables, tmp_path, made.end)
    rules = {"bare": None, "idle keys": False, "the same": True}[target]
    schema, path = tmp_path / "schema.sql", tmp_path / "s0.db"
    schema.write_text(";\n".join([*made.ddl(bool(rules)), ""]))
    theirs = ["--ri", "skip", "--triggers", "skip"] if same else []
    common = [*source, "--engine", "local"]
    with closing(database(path, made, rules, same and made.triggers)) as base:
        for command, state in (("redo", made.after), ("undo", made.before)):
            out = tmp_path / command
            words = ["--dialect", "sqlite", "--schema", str(schema), "--out", str(out), *theirs]
            assert main([command, *common, *words]) in FINE
            for file in sorted(out.glob("*.sql")):
                for line in file.read_text().split("\n"):
                    if line and not line.startswith("--"):
                        base.execute(line)
            assert difference(base, made, state, not same) is None, command
            if same:  # taken back, the target's own triggers would fire anew
                break
    accept = ["--accept", "trigger", "--accept", "foreign-key-action"] if same else []
    to = ["--to", f"sqlite:///{path}", "--apply", "--commit-every", str(seed % 4 + 1)]
    with closing(database(path, made, rules, same and made.triggers)) as base:
        if same and (made.triggers or any(one.rule != "NO ACTION" for one in made.references)):
            assert main(["replay", *common, *to]) == 8
            assert difference(base, made, made.before, True) is None
        assert main(["replay", *common, *to, *theirs, *accept]) in FINE
        assert difference(base, made, made.after, not same) is None
        if not same:
            assert main(["replay", *common, *to, "--until-position", "00" * 10]) in FINE
            assert difference(base, made, made.before, True) is None


def test_logs_have_what_they_are_for() -> None:
    sources: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    for seed in range(16):
        made = made_by(seed)
        sources.update(change.source for change in made.log.changes)
        rules.update(one.rule for one in made.references)
    assert all(sources[one] > 2 for one in " RTB"), sources
    assert all(rules[one] > 2 for one in ("CASCADE", "SET NULL", "NO ACTION")), rules
