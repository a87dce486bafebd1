"""What the real connector recorded of a real PostgreSQL (scripts/record_events.py): scripts are run
in another one, and its rows are the truth."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from replay.cli.main import main

FOLDER = Path(__file__).parents[3] / "fixtures" / "events"
LOG = FOLDER / "postgres.jsonl.gz"
SCHEMA = str(FOLDER / "postgres.sql")
ROWS: dict[str, list[str]] = json.loads((FOLDER / "postgres.json").read_text(encoding="utf-8"))
#: Tables that some statement of the workload makes another one in a way that events do not tell:
#: structure, TRUNCATE, an index as identity, values that are not exact.
APART = ("app.grown", "app.plain", "app.byindex", "app.odd")
#: Columns of types that PostgreSQL does not compare with what statements say.
UNCOMPARED = ("--exclude-columns", "app.kinds.m", "--exclude-columns", "app.kinds.j")
#: Tables whose old rows are their keys alone.
KEYS_ALONE = ("app.dept", "app.doc", "app.byindex", "app.zeros")


@contextmanager
def prepared(url: str) -> Iterator[psycopg.Connection[Any]]:
    """A database as it was when recording began."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute((FOLDER / "postgres.sql").read_bytes())
        connection.execute("INSERT INTO app.control VALUES (0, 'started')")
        yield connection


def rows(connection: psycopg.Connection[Any]) -> dict[str, list[str]]:
    """All rows of each table, as text."""
    names = "SELECT 'app.' || tablename FROM pg_tables WHERE schemaname = 'app' ORDER BY 1"
    return {
        name: sorted(
            row
            for (row,) in connection.execute(
                f"SELECT whole_row::text FROM {name} whole_row".encode()
            )
        )
        for (name,) in connection.execute(names.encode()).fetchall()
    }


def script(folder: Path, mode: str, *words: str) -> tuple[int, bytes]:
    """(exit code, script) of a run over the recording."""
    out = folder / f"out-{mode}"
    code = main([mode, str(LOG), "--dialect", "postgres", "--out", str(out), *words])
    return code, b"\n".join(path.read_bytes() for path in sorted(out.glob("*.sql")))


def without(tables: tuple[str, ...]) -> list[str]:
    return [word for name in tables for word in ("--exclude-table", name)]


@pytest.mark.live
def test_redo_makes_the_database_that_the_source_became(
    fresh_database: str, tmp_path: Path
) -> None:
    code, text = script(tmp_path, "redo", *without(APART), "--schema", SCHEMA)
    assert code == 4  # of a table that is left out, two transactions are damaged
    with prepared(fresh_database) as connection:
        connection.execute(text)
        found = rows(connection)
    assert {name: found[name] for name in found if name not in APART} == {
        name: ROWS[name] for name in ROWS if name not in APART
    }


@pytest.mark.live
def test_a_snapshot_and_the_changes_make_the_database(fresh_database: str, tmp_path: Path) -> None:
    """Zeros at the end of a NUMERIC without scale are lost, and types of app.zeros are not
    exact."""
    apart = (*APART, "app.zeros", "app.account")
    words = [*without(apart), "--schema", SCHEMA]
    code, text = script(tmp_path, "redo", *words, "--log-option", "snapshot=insert")
    assert code == 4
    with prepared(fresh_database) as connection:
        connection.execute(f"TRUNCATE {', '.join(ROWS)}".encode())
        connection.execute(text)
        found = rows(connection)
    assert {name: found[name] for name in found if name not in apart} == {
        name: ROWS[name] for name in ROWS if name not in apart
    }


@pytest.mark.live
def test_undo_makes_the_database_that_was_there_before(fresh_database: str, tmp_path: Path) -> None:
    # a reference to a table that cannot be undone would not hold
    words = [*without((*KEYS_ALONE, "app.grown", "app.odd")), "--schema", SCHEMA]
    with prepared(fresh_database) as connection:
        connection.execute("ALTER TABLE app.emp DROP CONSTRAINT emp_dept_fkey")
        before = rows(connection)
        connection.execute(script(tmp_path, "redo", *words)[1])
        assert rows(connection) != before
        connection.execute(script(tmp_path, "undo", *words, *UNCOMPARED)[1])
        assert rows(connection) == before


def test_undo_of_keys_alone_is_refused_by_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["undo", str(LOG), "--dialect", "postgres", "--out", str(tmp_path / "out")]) == 8
    said = capsys.readouterr().err
    assert "LR3002" in said
    for name in KEYS_ALONE:
        assert f"ALTER TABLE {name} REPLICA IDENTITY FULL" in said
    assert "app.emp" not in said
    assert not (tmp_path / "out").exists()


def test_values_that_are_not_exact_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["redo", str(LOG), "--dialect", "postgres", "--table", "app.odd"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 8
    said = "".join(capsys.readouterr())
    for column in ("iv", "tz", "vb", "pt", "ia", "dt", "ts", "tstz"):
        assert f"in column {column}" in said
    assert said.count("quarantined:") == 10


def test_an_index_as_identity_is_damage_where_it_lacks_the_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = script(tmp_path, "redo", "--table", "app.byindex")
    assert code == 8
    said = "".join(capsys.readouterr())
    assert said.count("an old row without its key") == 3  # one of them was not sent
    assert b"WHERE id = 0" not in text
    assert b"UPDATE app.byindex" not in text


def test_what_is_in_it_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(LOG), "--json"]) == 8
    printed = capsys.readouterr()
    assert "warning: found damaged records; the description lists them" in printed.err
    said = json.loads(printed.out)
    assert said["records"]["snapshot"] == 22
    assert said["units"] == {"count": 45, "in_flight": 0, "without_events": 1}
    assert sorted(said["lacking"]) == sorted(KEYS_ALONE)
    assert said["old_rows"]["app.kinds"] == "old rows are whole"
    assert [one["columns"] for one in said["tables"] if one["name"] == "app.grown"] == [3, 4, 3]


def test_check_and_doctor_take_what_is_absent_for_no_damage(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", str(LOG)]) == 8
    said = "".join(capsys.readouterr())
    assert "13 contradictions" in said  # three of byindex, ten values of odd
    assert "app.dept" not in said
    assert main(["doctor", str(LOG)]) in (0, 4, 8)


def lines() -> list[dict[str, Any]]:
    with gzip.open(LOG, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.mark.parametrize(
    "form", ["value", "tabs", "wrapped text", "kcat", "cloud event", "one file a topic"]
)
def test_every_form_of_file_gives_the_same_script(form: str, tmp_path: Path) -> None:
    usual = script(tmp_path, "redo")[1]
    folder = tmp_path / "log"
    folder.mkdir()
    made: dict[str, list[str]] = {}
    for line in lines():
        topic = line["topic"] if form == "one file a topic" else "all"
        key, value = (json.dumps(line[name]) for name in ("key", "value"))
        whole = {
            "value": value,
            "tabs": f"{key}\t{value}",
            "wrapped text": json.dumps({"key": key, "value": value}),
            "kcat": json.dumps({"topic": line["topic"], "key": key, "payload": value}),
            "cloud event": json.dumps({"specversion": "1.0", "id": "1", "data": line["value"]}),
        }.get(form, json.dumps(line))
        made.setdefault(topic, []).append(whole)
    for topic, texts in made.items():
        (folder / f"{topic}.jsonl").write_text("\n".join(texts) + "\n", encoding="utf-8")
    out = tmp_path / "again"
    words = ["redo", str(folder), "--dialect", "postgres", "--out", str(out)]
    if form in ("value", "cloud event"):  # no keys: rows are told by keys of the schema
        words += ["--schema", SCHEMA]
        assert main(words) == 8
        return
    assert main(words) == 8
    assert (out / "0000-redo.sql").read_bytes() == usual
