"""The dependency graph against a live PostgreSQL with keys and foreign keys enforced: every
statement of what is left finds exactly one row."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

import replay
from replay.changes.position import UnitId
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.errors import Refusal
from replay.logs.logmaster.opening import open_log
from replay.output.bundle import Bundle
from replay.targets import target_named
from sqlgen.constraints import parse_constraints
from tests.support.history import CHILD, DEPT, EMP, LOOSE, PARENT, SCHEMA, History, Maker
from tests.support.logbuilder import LogBuilder
from tests.support.states import compare_states

POSTGRES = target_named("postgres")
HISTORIES = 40
UNITS = 30


@pytest.fixture(scope="module")
def database(postgres: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS testown CASCADE")
        connection.execute(SCHEMA)
        yield connection
        connection.execute("DROP SCHEMA testown CASCADE")


def emptied(database: psycopg.Connection[Any]) -> None:
    database.execute("TRUNCATE testown.parent, testown.child, testown.loose")


def run(database: psycopg.Connection[Any], bundle: Bundle) -> None:
    """Run a bundle line by line; every change must find exactly one row."""
    for path in sorted(bundle.folder.glob("*.sql")):
        for line in path.read_text().splitlines():
            if line and not line.startswith("--"):
                cursor = database.execute(line.encode())
                if re.match(r"INSERT|UPDATE|DELETE", line):
                    assert cursor.rowcount == 1, line


def state(database: psycopg.Connection[Any]) -> dict[str, list[tuple[Any, ...]]]:
    return {
        name: sorted(database.execute(f"SELECT * FROM testown.{name}".encode()).fetchall())
        for name in ("parent", "child", "loose")
    }


class Case:
    """A history with its log; ``names`` are the units as the program names them."""

    def __init__(self, seed: int, folder: Path, **marked: frozenset[int]) -> None:
        self.history: History = Maker(seed, UNITS).history
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.control, self.data = self.history.log(folder, seed=seed, **marked)
        self.log = open_log(self.control, self.data)
        self.constraints = parse_constraints(
            SCHEMA, "postgres", [version.table for version in self.log.catalog.versions]
        )
        heads = {record["unit"].tobytes(): record["commit"].tobytes() for record in self._records()}
        self.names = [
            str(UnitId(unit)) for unit, _ in sorted(heads.items(), key=lambda entry: entry[1])
        ]
        assert len(self.names) == UNITS

    def _records(self) -> Any:
        from replay.pipeline.scan import sort_records

        for split, offsets, lengths in self.log.splits(1 << 20):
            import numpy as np

            envelope = self.log.envelope(split.file, offsets, lengths)
            yield from sort_records(
                split.file,
                1,
                offsets,
                lengths,
                envelope,
                *self.log.classify(envelope),
                np.arange(len(offsets)),
            )

    def script(
        self, name: str, mode: str, selection: Selection, baseline: Path | None = None
    ) -> Bundle:
        return replay.write_script(
            self.control,
            self.data,
            self.folder / name,
            mode=mode,
            selection=selection,
            constraints=self.constraints,
            baseline=baseline,
            overwrite=True,
        )

    def units(self, numbers: frozenset[int]) -> tuple[tuple[bytes, int | None], ...]:
        return tuple(
            (bytes.fromhex(self.names[n].partition("/")[0]), int(self.names[n].partition("/")[2]))
            for n in sorted(numbers)
        )


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_undo_with_all_dependents_equals_redo_of_the_others(
    database: psycopg.Connection[Any], tmp_path: Path, seed: int
) -> None:
    case = Case(seed, tmp_path / "log")
    chosen = frozenset(random.Random(seed).sample(range(UNITS), 2))
    whole = case.script("whole", "redo", Selection())
    emptied(database)
    run(database, whole)
    assert state(database) == case.history.state()

    undo = case.script("undo", "undo", Selection(units=case.units(chosen), cascade="all"))
    run(database, undo)
    undone = state(database)
    gone = chosen | {case.names.index(name) for name in undo.manifest["consequences"]["units"]}
    assert undone == case.history.state(gone)

    emptied(database)
    others = case.script("except", "redo", Selection(excepted=Selection(units=case.units(chosen))))
    assert {
        case.names.index(name) for name in others.manifest["consequences"]["units"]
    } | chosen == gone
    run(database, others)
    assert state(database) == undone


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_what_is_released_needs_nothing_that_is_held(
    database: psycopg.Connection[Any], tmp_path: Path, seed: int
) -> None:
    incomplete = frozenset(random.Random(seed).sample(range(UNITS // 2), 2))
    flagged = frozenset(range(min(incomplete) + 1, UNITS)) - incomplete
    case = Case(1000 + seed, tmp_path / "log", incomplete=incomplete, flagged=flagged)
    by_the_log = held_by(case.script("out", "redo", Selection()), case)
    nothing = tmp_path / "initial"  # histories begin with empty tables
    nothing.mkdir()
    for table in (PARENT, CHILD, LOOSE):
        header = ",".join(column.name for column in table.columns)
        (nothing / f"{table.name}.csv").write_text(header + "\n")
    bundle = case.script("out", "redo", Selection(), nothing)
    assert held_by(bundle, case) <= by_the_log
    emptied(database)
    run(database, bundle)
    held = held_by(bundle, case)
    assert incomplete <= held
    assert state(database) == case.history.state(frozenset(held))
    assert bundle.exit_code == 4
    assert bundle.manifest["balance"]["closes"]
    reasons = json.loads((bundle.folder / "quarantine" / "manifest.json").read_text())["units"]
    assert {case.names.index(entry["unit"]) for entry in reasons} == held
    for entry in reasons:
        check_path(case, incomplete, entry)


def held_by(bundle: Bundle, case: Case) -> set[int]:
    return {case.names.index(entry["unit"]) for entry in bundle.manifest["quarantined_units"]}


def touched(case: Case, unit: str) -> set[str]:
    """The keys a unit wrote or referred to, as reasons name them."""
    keys = set()
    for step in case.history.units[case.names.index(unit)]:
        for row in (step.before, step.after):
            if row is None:
                continue
            if step.table == "LOOSE":
                keys.add("loose/(row without key)")
            else:
                keys.add(f"{step.table.lower()}/{row[0]}")
                keys.add(f"parent/{row[1]}")
    return keys


def check_path(case: Case, incomplete: frozenset[int], entry: dict[str, Any]) -> None:
    """A reason is a real path: it begins at an incomplete unit, goes forward in commit order, and
    both ends of each step touched its key."""
    if case.names.index(entry["unit"]) in incomplete:
        assert entry["path"] == []
        return
    assert case.names.index(entry["path"][0]["unit"]) in incomplete
    assert entry["path"][-1]["next"] == entry["unit"]
    for step in entry["path"]:
        assert case.names.index(step["unit"]) < case.names.index(step["next"])
        assert step["key"] in touched(case, step["unit"]) & touched(case, step["next"])


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_one_unit_is_undone_cleanly_or_refused_by_name(
    database: psycopg.Connection[Any], tmp_path: Path, seed: int
) -> None:
    case = Case(2000 + seed, tmp_path / "log")
    whole = case.script("whole", "redo", Selection())
    applied = refused = 0
    for number in random.Random(seed).sample(range(UNITS), 8):
        emptied(database)
        run(database, whole)
        only = Selection(units=case.units(frozenset({number})))
        try:
            undo = case.script("undo", "undo", only)
        except Refusal as refusal:
            named = [name for name in case.names[number + 1 :] if name in str(refusal)]
            refused += refusal.code == "LR3010" and len(named) > 0
            continue
        run(database, undo)
        assert state(database) == case.history.state(frozenset({number}))
        applied += 1
    assert applied + refused == 8


@pytest.mark.long
def test_independent_units_commute(database: psycopg.Connection[Any], tmp_path: Path) -> None:
    swapped = 0
    for seed in range(10):
        case = Case(3000 + seed, tmp_path / f"log{seed}")
        for number in range(0, UNITS - 1, 3):
            pair = frozenset({number})
            without = case.script(
                "except", "redo", Selection(excepted=Selection(units=case.units(pair)))
            )
            if case.names[number + 1] in without.manifest["consequences"]["units"]:
                continue
            history = History([*case.history.units])
            history.units[number], history.units[number + 1] = (
                history.units[number + 1],
                history.units[number],
            )
            assert history.state() == case.history.state()
            swapped += 1
    assert swapped > 20


def test_the_independent_state_is_reached(
    fresh_database: str, incomplete: Path, tmp_path: Path
) -> None:
    bundle = replay.write_script(
        incomplete / "incomplete.ctl",
        [incomplete / "incomplete.dat"],
        tmp_path / "redo",
        baseline=incomplete / "initial",
    )
    known = json.loads((incomplete / "dependencies.json").read_text())
    units = json.loads((bundle.folder / "quarantine" / "manifest.json").read_text())["units"]

    def name(entry: dict[str, Any]) -> str:
        return f"{entry['uorid'].upper()}/{entry['member']}"

    assert {entry["unit"] for entry in units if not entry["path"]} == {
        name(entry) for entry in known["incomplete"]
    }
    assert {entry["unit"]: entry["keys"] for entry in units if entry["path"]} == {
        name(entry): sorted(entry["keys"]) for entry in known["really_dependent"]
    }
    assert bundle.manifest["quarantine"]["released"] == len(known["flagged_incompletedep"]) - len(
        known["really_dependent"]
    )
    POSTGRES.run_scripts(fresh_database, [incomplete / "schema.sql"])
    POSTGRES.load_state(fresh_database, "sakila", incomplete / "initial")
    POSTGRES.run_scripts(fresh_database, sorted(bundle.folder.glob("*.sql")))
    assert compare_states(fresh_database, "sakila", incomplete / "independent") == []


def test_one_row_of_a_partitioned_table_without_key(fresh_database: str, tmp_path: Path) -> None:
    """Rows of two partitions lie at the same place in their files; only the one that is meant
    goes."""
    log = LogBuilder((LOOSE,))
    unit = log.unit()
    unit.delete(LOOSE, ("p", 1))
    unit.update(LOOSE, ("q", 2), ("q", 3))
    bundle = log.script(tmp_path)
    with psycopg.connect(fresh_database, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA testown")
        connection.execute(
            "CREATE TABLE testown.loose (t varchar(8) NOT NULL, n integer NOT NULL) PARTITION BY"
            " LIST (t)"
        )
        for value in "pqr":
            connection.execute(
                f"CREATE TABLE testown.loose_{value} PARTITION OF testown.loose FOR VALUES IN"
                f" ('{value}')".encode()
            )
            connection.execute(
                f"INSERT INTO testown.loose VALUES ('{value}', 1), ('{value}', 2)".encode()
            )
        run(connection, bundle)
        assert sorted(connection.execute("SELECT * FROM testown.loose").fetchall()) == [
            ("p", 2),
            ("q", 1),
            ("q", 3),
            ("r", 1),
            ("r", 2),
        ]


STAFF = """CREATE SCHEMA testown;
CREATE TABLE testown.dept (id int PRIMARY KEY, head int);
CREATE TABLE testown.emp (id int PRIMARY KEY, boss int REFERENCES testown.emp, dept int REFERENCES
testown.dept, code int UNIQUE);
ALTER TABLE testown.dept ADD CONSTRAINT head FOREIGN KEY (head) REFERENCES testown.emp DEFERRABLE;
CREATE UNIQUE INDEX only_some ON testown.emp (dept) WHERE dept > 90;
INSERT INTO testown.dept VALUES (5, NULL);
INSERT INTO testown.emp VALUES (1, NULL, 5), (2, 1, 5), (3, 2, NULL);
UPDATE testown.dept SET head = 1;"""


def test_a_target_says_what_needs_what(fresh_database: str, tmp_path: Path) -> None:
    """The log has a parent's delete before that of its children, and rows that need each other: its
    order runs neither forward nor back."""
    log = LogBuilder((EMP, DEPT))
    unit = log.unit()
    unit.delete(DEPT, (5, 1))
    for row in ((1, None, 5), (2, 1, 5), (3, 2, None)):
        unit.delete(EMP, row, SQLSRCTYPE="R")
    control, data = log.write(tmp_path)
    arguments = [
        "--control",
        str(control),
        "--data",
        str(data[0]),
        "--engine",
        "local",
        "--schema",
        fresh_database,
    ]
    with psycopg.connect(fresh_database, autocommit=True) as connection:
        connection.execute(STAFF)
        for mode, count in (("redo", 0), ("undo", 4)):
            assert main([mode, *arguments, "--out", str(tmp_path / mode)]) == 0
            POSTGRES.run_scripts(fresh_database, sorted((tmp_path / mode).glob("*.sql")))
            query = (
                "SELECT (SELECT count(*) FROM testown.dept) + (SELECT count(*) FROM testown.emp)"
            )
            assert connection.execute(query.encode()).fetchall() == [(count,)]
    replayed = [*arguments[:-2], "--to", fresh_database, "--apply"]
    assert main(["replay", *replayed]) == 0
    assert main(["replay", *replayed, "--until-lrsn", "0" * 20]) == 0


def test_keys_of_a_target_are_those_of_its_ddl(
    fresh_database: str, sakila: Path, tmp_path: Path
) -> None:
    POSTGRES.run_scripts(fresh_database, [sakila / "schema-ri.sql"])
    log = open_log(sakila / "sakila.ctl", [sakila / "sakila.dat.gz"], scratch=tmp_path)
    tables = [version.table for version in log.catalog.versions]
    stated = parse_constraints((sakila / "schema-ri.sql").read_text(), "postgres", tables)
    found = parse_constraints(
        POSTGRES.keys(fresh_database, [table.name for table in tables]),
        "postgres",
        tables,
        lenient=True,
    )
    assert {(name, frozenset(columns)) for name, columns in found.keys} == {
        (name, frozenset(columns)) for name, columns in stated.keys
    }
    assert len(found.foreign_keys) == 8
    assert {(key.table, key.columns, key.parent, key.on_delete) for key in found.foreign_keys} == {
        (key.table, key.columns, key.parent, key.on_delete) for key in stated.foreign_keys
    }


@pytest.mark.long
def test_what_the_target_proves_is_expected_of_it_too(
    fresh_database: str, incomplete: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The state before the log proves flagged units, whoever is given it: a replay that applies
    them has them in the state that ``verify`` expects, and a round trip holds."""
    log = ["--control", f"{incomplete}/incomplete.ctl", "--data", f"{incomplete}/incomplete.dat"]
    POSTGRES.run_scripts(fresh_database, [incomplete / "schema.sql"])
    POSTGRES.load_state(fresh_database, "sakila", incomplete / "initial")
    expected = ["--expected", str(incomplete / "initial")]
    roundtrip = ["verify", *log, *expected, "--roundtrip", "--ddl", str(incomplete / "schema.sql")]
    assert main([*roundtrip, "--scratch", fresh_database]) == 0
    assert "HOLDS for 11 tables, 469 units" in capsys.readouterr().out
    assert main(["replay", *log, "--to", fresh_database, "--apply"]) == 4
    assert "469 units and 1,334 statements applied" in capsys.readouterr().out
    # units that are set aside are in neither
    assert main(["verify", *log, "--to", fresh_database, *expected]) == 4
    assert capsys.readouterr().out.endswith("SAME\n")
    assert compare_states(fresh_database, "sakila", incomplete / "independent") == []


@pytest.mark.parametrize("ended", [False, True])
def test_a_replay_says_what_builds_on_units_that_flags_set_aside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ended: bool
) -> None:
    """Of the units that it takes."""
    log = LogBuilder((PARENT,))
    bad, first, built = log.unit(INCOMPLETETRANS="Y"), log.unit(), log.unit()
    bad.update(PARENT, (1, "A", 1, 1), (1, "B", 1, 1))
    first.insert(PARENT, (2, "C", 1, 1))
    built.update(PARENT, (1, "B", 1, 1), (1, "D", 1, 1))
    control, (data,) = log.write(tmp_path)
    path = tmp_path / "testown.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY, code, a, b)")
    end = ["--until-position", first.more["UORCOMMITLRSN"].hex()] if ended else []
    arguments = ["--control", str(control), "--data", str(data), "--engine", "local"]
    arguments += ["--to", f"sqlite:///{path}", "--enforcement", "off"]
    assert main(["replay", *arguments, "--incomplete", "quarantine", *end]) == 4
    said = [line for line in capsys.readouterr().out.splitlines() if "by the log's flags" in line]
    name = str(UnitId(built.more["UORID"] + built.more["MEMBERID"].to_bytes(2, "big")))
    assert len(said) == (0 if ended else 1)
    assert all(name in line for line in said)
