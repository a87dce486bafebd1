"""A log family that somebody else wrote: a package outside of logreplay, found by one line of its
metadata, goes through the commands like those that are built in."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from replay.logs import FAMILIES
from tests.logs import jsonlines_family

MODULE = "jsonlines_logs"
CATALOG = {
    "APP.T": {"columns": [["ID", "INTEGER"], ["NAME", "VARCHAR"]], "key": ["ID"]},
    "APP.U": {"columns": [["ID", "BIGINT"]], "key": ["ID"]},
}
LINES: list[dict[str, Any]] = [
    {"unit": 1, "table": "APP.T", "op": "insert", "after": {"ID": 1, "NAME": "Ann's"}},
    {"unit": 2, "table": "APP.U", "op": "insert", "after": {"ID": 7}},
    {"unit": 3, "table": "APP.T", "op": "insert", "after": {"ID": 9, "NAME": "never"}},
    {"unit": 2, "end": "commit"},
    {
        "unit": 1, "table": "APP.T", "op": "update",
        "before": {"ID": 2, "NAME": "Bob"}, "after": {"ID": 2, "NAME": None},
    },
    {"unit": 3, "end": "rollback"},
    {"unit": 1, "table": "APP.T", "op": "delete", "before": {"ID": 3, "NAME": "Cy"}},
    {"unit": 1, "end": "commit"},
]  # fmt: skip
BEFORE = ([(2, "Bob"), (3, "Cy")], [])
AFTER = ([(1, "Ann's"), (2, None)], [(7,)])


def installed(folder: Path) -> Path:
    """The family as an installed package: its module, and metadata with the one line that names
    it."""
    shutil.copy(jsonlines_family.__file__, folder / f"{MODULE}.py")
    metadata = folder / f"{MODULE}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Name: jsonlines-logs\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(
        f"[logreplay.logs]\njsonlines = {MODULE}:FAMILY\n", encoding="utf-8"
    )
    return folder


class Commands:
    """Commands on the log, with the family installed in ``folder / "site"``."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.site, self.capsys = folder, folder / "site", capsys
        self.site.mkdir()
        installed(self.site)
        (folder / "catalog.json").write_text(json.dumps(CATALOG), encoding="utf-8")

    def run(
        self, command: str, *options: str, lines: Sequence[Mapping[str, Any]] = LINES
    ) -> tuple[int, str]:
        """(exit code, output)."""
        log, catalog = self.folder / "x.jsonl", self.folder / "catalog.json"
        log.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        inputs = ["--source", "jsonlines", "--log", str(log), "--catalog", str(catalog)]
        self.capsys.readouterr()
        code = main([command, *inputs, *options])
        output = self.capsys.readouterr()
        return code, output.out + output.err

    def script(self, mode: str, *options: str) -> str:
        """The statements that ``redo`` or ``undo`` writes for SQLite."""
        out = self.folder / mode
        code, output = self.run(
            mode, "--out", str(out), "--engine", "local", "--dialect", "sqlite", *options
        )
        assert code == 0, output
        return "\n".join(file.read_text(encoding="utf-8") for file in sorted(out.glob("*.sql")))


@pytest.fixture
def commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Commands]:
    monkeypatch.syspath_prepend(tmp_path / "site")
    yield Commands(tmp_path, capsys)
    sys.modules.pop(MODULE, None)


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    """The tables as they were before the log."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("ATTACH ':memory:' AS app")
        connection.executescript(
            "CREATE TABLE app.t (id INTEGER PRIMARY KEY, name TEXT);"
            "CREATE TABLE app.u (id INTEGER PRIMARY KEY)"
        )
        connection.executemany("INSERT INTO app.t VALUES (?, ?)", BEFORE[0])
        yield connection


def state(database: sqlite3.Connection) -> tuple[list[Any], list[Any]]:
    return (
        database.execute("SELECT id, name FROM app.t ORDER BY id").fetchall(),
        database.execute("SELECT id FROM app.u ORDER BY id").fetchall(),
    )


def test_redo_and_undo_of_a_family_from_outside(
    commands: Commands, database: sqlite3.Connection
) -> None:
    redo, undo = commands.script("redo"), commands.script("undo", "--schema", "none")
    assert redo.index("'Ann''s'") > redo.index("(7)")  # unit 2 is committed first
    database.executescript(redo)
    assert state(database) == AFTER
    database.executescript(undo)
    assert state(database) == BEFORE


def test_what_the_family_says_stands_in_comments(commands: Commands) -> None:
    redo = commands.script("redo", "--trace")
    assert "unit 1" in redo.replace("=", " ")
    assert "line=1" in redo
    assert "line=3" not in redo, "the unit was rolled back"


def test_positions_are_placed_by_the_family(commands: Commands) -> None:
    assert "'Ann''s'" not in commands.script("redo", "--until-lrsn", f"{1:020X}")


def test_what_it_cannot_know_is_refused(commands: Commands) -> None:
    code, output = commands.run("redo", "--plan", "P", "--out", str(commands.folder / "out"))
    assert code == 8
    assert "LR3020" in output
    assert "lines do not say" in output


def test_inspect_and_dump(commands: Commands) -> None:
    code, output = commands.run("inspect")
    assert code == 0
    assert "insert 3" in output
    assert "Cannot be known" in output
    code, output = commands.run("inspect", "--record", "4")
    assert (code, f"line 4, unit {2:020X}/0" in output) == (0, True)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ({"unit": 1, "table": "APP.V", "op": "insert", "after": {"ID": 1}}, "LR2011"),
        ({"unit": 1, "table": "APP.U", "op": "insert", "after": {"ID": "one"}}, "LR201"),
        ({"unit": 1, "table": "APP.U", "op": "insert", "after": {}}, "LR201"),
    ],
    ids=["no such table", "no such value", "no such image"],
)
def test_damaged_changes_set_their_unit_aside(
    commands: Commands, line: Mapping[str, Any], code: str
) -> None:
    out = commands.folder / "out"
    options = ("--out", str(out), "--engine", "local", "--dialect", "sqlite")
    exit_code, output = commands.run("redo", *options, lines=[line, *LINES])
    assert exit_code == 8, output
    assert code in output
    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(out.glob("*.sql")))
    assert "(7)" in text, "the other unit is written"
    assert "'Ann''s'" not in text, "of the damaged unit nothing is"


def test_without_its_line_of_metadata_it_is_unknown(commands: Commands) -> None:
    (commands.site / f"{MODULE}-1.0.dist-info" / "entry_points.txt").unlink()
    code, output = commands.run("inspect")
    assert code == 12
    assert "LR1001 found log family 'jsonlines'" in output
    assert "jsonlines" not in FAMILIES
