"""Events without schemas, with the DDL of their tables: real recordings of which the schemas were
taken away give the scripts that they give with them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from tests.logs.events.builder import Table, Topic
from tests.logs.events.test_rules import Log, log, row

__all__ = ["log"]
FOLDER = Path(__file__).parents[3] / "fixtures" / "events"
DEFAULT = ("--log-option", "settings=default")
T = Table("t")


def bare(line: dict[str, Any]) -> dict[str, Any]:
    """A line as a connector without schemas writes it."""
    return line | {
        side: line[side] and line[side]["payload"] for side in ("key", "value") if side in line
    }


def recorded(kind: str) -> list[dict[str, Any]]:
    """The lines of a recording, without the transactions of the table that was changed."""
    text = gzip.decompress((FOLDER / f"{kind}.jsonl.gz").read_bytes()).decode("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]

    def unit(line: dict[str, Any]) -> str:
        payload = (line["value"] or {}).get("payload") or {}
        name = payload.get("id") or (payload.get("transaction") or {}).get("id") or ""
        return str(name if kind == "mysql" else name.split(":")[0])

    def of_grown(line: dict[str, Any]) -> bool:
        return ".app.grown" in line["topic"] or ".app.odd" in line["topic"]

    apart = {unit(line) for line in lines if of_grown(line)} - {""}
    return [line for line in lines if not of_grown(line) and unit(line) not in apart]


def written(folder: Path, kind: str, lines: list[dict[str, Any]], *words: str) -> tuple[int, str]:
    path = Topic(lines).write(folder / f"{len(words)}.jsonl")
    out = folder / f"out{len(words)}"
    schema = str(FOLDER / f"{kind}.sql") if kind == "postgres" else "none"
    code = main(["redo", str(path), "--schema", schema, "--out", str(out), *words])
    return code, "".join(one.read_text("utf-8") for one in sorted(out.glob("*.sql")))


@pytest.mark.parametrize("kind", ["postgres", "mysql"])
def test_scripts_are_those_of_events_with_schemas(kind: str, tmp_path: Path) -> None:
    lines = recorded(kind)
    ddl = tmp_path / "catalog.sql"
    text = (FOLDER / f"{kind}.sql").read_text("utf-8")
    for declared in ("app.mood", " char(4)", " char(5)"):  # the connector tells no lengths
        text = text.replace(declared, " text")  # nor which types are enumerations
    ddl.write_text(text, encoding="utf-8")
    code, script = written(tmp_path, kind, lines)
    words = ["--catalog", str(ddl), *DEFAULT]
    again, same = written(tmp_path, kind, [bare(line) for line in lines], *words)
    assert again == code
    assert same == script
    assert script.count("\n") > 50


def test_values_of_types_that_are_not_known_are_named(tmp_path: Path, log: Log) -> None:
    ddl = tmp_path / "ddl.sql"
    ddl.write_text("CREATE TABLE app.t (id int PRIMARY KEY, name app.mood);", encoding="utf-8")
    topic = Topic()
    topic.transaction(1, (T, "c", None, row(1, "sad")))
    topic.transaction(2, (T, "c", None, row(2, None)))
    lines = [bare(line) for line in topic.lines]
    code, said, statements = log.run(lines, "--catalog", str(ddl), *DEFAULT)
    assert code == 8
    assert "in column name" in said
    assert statements == ["INSERT INTO app.t (id, name) VALUES (2, NULL);"]


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ("id int PRIMARY KEY, name numeric(5, 2)", ""),
        ("id int PRIMARY KEY, name int", "column name written as JSON's VARCHAR"),
        ("id text PRIMARY KEY, name text", "column id written as JSON's UBIGINT"),
        ("id int PRIMARY KEY", "columns id, name, other than"),
        ("id int PRIMARY KEY, name text, more text", "columns id, name, other than"),
        ("id int PRIMARY KEY, name text[]", ""),
    ],
)
def test_ddl_that_does_not_fit_is_refused(
    columns: str, found: str, tmp_path: Path, log: Log
) -> None:
    ddl = tmp_path / "ddl.sql"
    ddl.write_text(f"CREATE TABLE app.t ({columns});", encoding="utf-8")
    topic = Topic()
    topic.transaction(1, (T, "c", None, row(1, "no base64!")))
    code, said, statements = log.run(
        [bare(line) for line in topic.lines], "--catalog", str(ddl), *DEFAULT
    )
    assert statements == []
    if found:
        assert code == 12
        assert "LR2031" in said
        assert found in said
    else:
        assert code == 8
        assert "in column name" in said


def test_who_says_nothing_of_the_settings_is_asked(tmp_path: Path, log: Log) -> None:
    ddl = tmp_path / "ddl.sql"
    ddl.write_text("CREATE TABLE app.other (id int);", encoding="utf-8")
    topic = Topic()
    topic.transaction(1, (T, "c", None, row(1, "a")))
    lines = [bare(line) for line in topic.lines]
    code, said, _ = log.run(lines, "--catalog", str(ddl))
    assert code == 12
    assert "--log-option settings=default" in said
    code, said, _ = log.run(lines, "--catalog", str(ddl), *DEFAULT)
    assert code == 12
    assert "table app.t" in said
    assert "(--catalog)" in said
    code, said, _ = log.run(lines, "--catalog", str(tmp_path / "none.sql"), *DEFAULT)
    assert code == 12
    assert "none.sql" in said
