"""The dependency graph against a live PostgreSQL with keys and foreign keys enforced: every
statement of what is left finds exactly one row."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

import replay
from replay.changes.position import UnitId
from replay.cli.main import main
from replay.logs.logmaster.opening import open_log
from replay.output.bundle import Bundle
from replay.targets import target_named
from sqlgen.ddl.ddl_reader import parse_constraints
from tests.support.history import DEPT, EMP, LOOSE, PARENT
from tests.support.logbuilder import LogBuilder
from tests.support.states import compare_states
from tests.support.words import of_log_master

POSTGRES = target_named("postgres")


def run(database: psycopg.Connection[Any], bundle: Bundle) -> None:
    """Run a bundle line by line; every change must find exactly one row."""
    for path in sorted(bundle.folder.glob("*.sql")):
        for line in path.read_text().splitlines():
            if line and not line.startswith("--"):
                cursor = database.execute(line.encode())
                if re.match(r"INSERT|UPDATE|DELETE", line):
                    assert cursor.rowcount == 1, line


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
    arguments = [*of_log_master(control, data[0]), "--engine", "local", "--schema", fresh_database]
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
    said = [line for line in capsys.readouterr().err.splitlines() if "by the log's flags" in line]
    name = str(UnitId(built.more["UORID"] + built.more["MEMBERID"].to_bytes(2, "big")))
    assert len(said) == (0 if ended else 1)
    assert all(name in line for line in said)
