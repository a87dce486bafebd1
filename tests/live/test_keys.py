"""Rows of one statement that take each other's keys, replayed into databases that enforce every key
at once: forward and back, in every mode."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.errors import TargetError
from replay.targets import target_named
from tests.support.logbuilder import Col, LogBuilder, Tab

TABLE = Tab(
    "KEYED",
    (Col("K", "INT", 4, key=1), Col("U", "INT", 4), Col("T", "VCHR", 20)),
)
DDL = "CREATE TABLE testown.keyed (k int PRIMARY KEY, u int UNIQUE, t varchar(20))"
Row = tuple[int, int, str]
BEFORE: list[Row] = [(number, 100 + number, f"row {number}") for number in range(1, 6)]

#: What the statements of a unit do: (row before, row after) as the log lists them, None for none.
Moves = list[tuple[Row | None, Row | None]]


def moved(*pairs: tuple[int, int]) -> Moves:
    """Rows of :data:`BEFORE` under other keys."""
    return [(BEFORE[old - 1], (new, *BEFORE[old - 1][1:])) for old, new in pairs]


CASES: dict[str, Moves] = {
    "shift up": moved((1, 2), (2, 3), (3, 4), (4, 5), (5, 6)),
    "shift down": moved((5, 4), (4, 3), (3, 2), (2, 1), (1, 0)),
    "exchange": moved((1, 2), (2, 1)),
    "circle": moved((1, 3), (3, 5), (5, 1)),
    "takeover": [*moved((1, 2)), (BEFORE[1], None)],
    "unique": [
        (BEFORE[0], (1, 102, "row 1")),
        (BEFORE[1], (2, 103, "row 2")),
        (BEFORE[2], (3, 101, "row 3")),
    ],
    "insert first": [(None, (1, 101, "new")), (BEFORE[0], None)],
}


def log_of(moves: Moves, folder: Path, more: tuple[Tab, ...] = ()) -> list[str]:
    log = LogBuilder((TABLE, *more))
    unit = log.unit()
    for before, after in moves:
        if before is None and after is not None:
            unit.insert(TABLE, after)
        elif after is None and before is not None:
            unit.delete(TABLE, before)
        elif before is not None and after is not None:
            unit.update(TABLE, before, after)
    control, (data,) = log.write(folder)
    return ["--control", str(control), "--data", str(data), "--engine", "local"]


def expected(moves: Moves) -> list[Row]:
    state = set(BEFORE) - {before for before, _ in moves}
    return sorted(state | {after for _, after in moves if after is not None})


@pytest.fixture
def sqlite(tmp_path: Path) -> tuple[str, Callable[[], list[Row]]]:
    """A database file with the table, and what it holds."""
    path = tmp_path / "testown.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(DDL.replace("testown.", ""))
        connection.executemany("INSERT INTO keyed VALUES (?, ?, ?)", BEFORE)
        connection.commit()

    def read() -> list[Row]:
        with closing(sqlite3.connect(path)) as connection:
            return sorted(connection.execute("SELECT k, u, t FROM keyed"))

    return f"sqlite:///{path}", read


def test_a_row_that_is_not_there_to_be_removed_is_not_put_back(
    sqlite: tuple[str, Callable[[], list[Row]]], tmp_path: Path
) -> None:
    """Of an exchange one row is removed early and put back last. Where it is not in the target and
    that is to be skipped, the change is left out as a whole, as any other update would be."""
    url, read = sqlite
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        connection.execute("DELETE FROM keyed WHERE k = 1")
        connection.commit()
    go = ["replay", *log_of(CASES["exchange"], tmp_path), "--to", url, "--apply"]
    assert main(go) == 8
    assert read() == BEFORE[1:]
    assert main([*go, "--on", "no-row=skip"]) == 4
    there = sorted([(1, *BEFORE[1][1:]), *BEFORE[2:]])
    assert read() == there
    path = tmp_path / "rejects.jsonl"
    assert main(["status", "--to", url, "--rejects", str(path)]) == 0
    rejects = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [entry["operation"] for entry in rejects] == ["delete", "insert"]
    assert [entry["condition"] for entry in rejects] == ["no-row", "no-row"]
    script = tmp_path / "rejects.sql"
    assert main(["status", "--to", url, "--rejects", str(script)]) == 0
    with pytest.raises(TargetError, match="touched 0 rows"):
        target_named("sqlite").run_scripts(url, [script])
    assert read() == there
    assert main([*go, "--until-position", "0" * 20]) == 0
    assert read() == BEFORE[1:]


def test_a_long_unit_is_ordered_as_a_whole(
    sqlite: tuple[str, Callable[[], list[Row]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units longer than a chunk are written in pieces, unless rows take each other's keys."""
    monkeypatch.setattr("replay.pipeline.partition.CHUNK", 2)
    url, read = sqlite
    log = log_of(CASES["shift up"], tmp_path)
    assert main(["replay", *log, "--to", url, "--apply"]) == 0
    assert read() == expected(CASES["shift up"])


def test_a_long_unit_beyond_all_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("replay.pipeline.partition.CHUNK", 2)
    monkeypatch.setattr("replay.output.scripts.LONGEST_CROSSED", 10)
    log = log_of(CASES["shift up"], tmp_path)
    assert main(["redo", *log, "--out", str(tmp_path / "out")]) == 8
    assert "LR3012" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
