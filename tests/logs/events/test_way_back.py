"""What logreplay's own replay wrote is no work of users, and what has PostgreSQL record theirs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import psycopg
import pytest

from replay.cli.main import main
from tests.logs.events.builder import BinlogTopic, Table, Topic
from tests.logs.events.test_rules import Log, log, row

__all__ = ["log"]
T = Table("t")
REASON = "made by logreplay's own replay (--log-option replayed)"


@pytest.fixture(params=[Topic, BinlogTopic], ids=["postgres", "mysql"])
def topic(request: pytest.FixtureRequest) -> Topic:
    """A log of each connector."""
    made: Callable[[], Topic] = request.param
    return made()


def replay_of(topic: Topic, unit: int, number: int) -> None:
    """A transaction of a replay: rows, and the position, whose old row has nothing."""
    position, old = Table("position"), row(1, "") if isinstance(topic, BinlogTopic) else None
    topic.transaction(
        unit, (T, "c", None, row(number, "old")), (position, "u", old, row(1, str(unit)))
    )
    text = json.dumps(topic.lines).replace('"app", "table": "pos', '"logreplay", "table": "pos')
    topic.lines[:] = json.loads(text.replace('"app.pos', '"logreplay.pos'))


def test_work_of_a_replay_is_passed_over_and_counted(topic: Topic, log: Log) -> None:
    replay_of(topic, 1, 1)
    replay_of(topic, 2, 2)
    topic.transaction(3, (T, "u", row(1, "old"), row(1, "new")), (T, "c", None, row(3, "c")))
    words = ["--schema", "none"]
    code, said, statements = log.run(topic, *words)
    assert code == 4
    assert "2 transaction(s) of logreplay's own replay are skipped" in said
    assert [one.split("(")[0].split(" SET")[0] for one in statements] == [
        "UPDATE app.t",
        "INSERT INTO app.t ",
    ]
    manifest = json.loads((log.folder / "out-redo" / "manifest.json").read_text("utf-8"))
    assert manifest["balance"]["skipped"][REASON] == 4
    code, said, same = log.run(topic, *words, "--log-option", "replayed=skip")
    assert (code, same) == (0, statements)
    assert "are skipped" not in said
    code, _, undone = log.run(topic, *words, "--log-option", "replayed=skip", mode="undo")
    assert (code, len(undone)) == (0, 2)
    code, said, every = log.run(topic, *words, "--log-option", "replayed=keep")
    assert (code, len(every)) == (0, 6)
    assert sum("logreplay" in one for one in every) == 2


def test_a_source_that_changed_since_is_refused(topic: Topic, log: Log) -> None:
    topic.transaction(1, (T, "c", None, row(1, "a")))
    replay_of(topic, 2, 2)
    code, said, _ = log.run(topic, "--schema", "none")
    assert code == 8
    assert "LR3020" in said
    assert "the source has changed after others began to work here" in said
    code, _, statements = log.run(topic, "--schema", "none", "--log-option", "replayed=skip")
    assert (code, len(statements)) == (0, 1)
    code, said, _ = log.run(topic, "--log-option", "replayed=no")
    assert code == 12
    assert "expected skip or keep" in said


def test_a_position_in_the_snapshot_is_no_row_of_users(topic: Topic, log: Log) -> None:
    topic.state(T, row(1, "a"), row(2, "b"), row(3, "c"))
    topic.lines[1]["value"]["payload"]["source"]["table"] = "position"
    replay_of(topic, 2, 7)
    topic.transaction(3, (T, "c", None, row(4, "d")))
    words = ["--schema", "none", "--log-option", "snapshot=insert"]
    code, _, statements = log.run(topic, *words, "--log-option", "replayed=skip")
    assert code == 0
    assert [one.split("(")[-1] for one in statements] == ["1, 'a');", "3, 'c');", "4, 'd');"]


@pytest.mark.live
def test_what_prepare_shows_is_what_postgresql_takes(
    fresh_database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with psycopg.connect(fresh_database, autocommit=True) as connection:
        for text in (
            "CREATE SCHEMA shop",
            'CREATE TABLE shop."T one" (id int PRIMARY KEY)',
            "CREATE TABLE shop.parts (id int) PARTITION BY RANGE (id)",
            "CREATE TABLE shop.low PARTITION OF shop.parts FOR VALUES FROM (0) TO (9)",
            "CREATE TABLE shop.whole (id int)",
            "ALTER TABLE shop.whole REPLICA IDENTITY FULL",
            "CREATE TABLE public.beside (id int)",
        ):
            connection.execute(text.encode())
        words = ["prepare", "--way-back", "--to", fresh_database]
        assert main([*words, "--target-schema", "shop", "--role", "someone"]) == 0
        shown = capsys.readouterr().out.replace("someone", "CURRENT_USER").replace('"CUR', "CUR")
        statements = [one.strip() for one in shown.replace('USER"', "USER").split(";\n")][:-1]
        assert "beside" not in shown
        assert statements[-1].startswith("SELECT pg_create_logical_replication_slot(")
        for text in statements[:-1]:
            if "ALTER SYSTEM" not in text:
                connection.execute(text.encode())
        published = connection.execute(
            "SELECT schemaname || '.' || tablename FROM pg_publication_tables ORDER BY 1"
        ).fetchall()
        assert published == [
            ("logreplay.position",), ("shop.T one",), ("shop.parts",), ("shop.whole",)
        ]  # fmt: skip
        identities = connection.execute(
            "SELECT relname, relreplident FROM pg_class WHERE relnamespace = 'shop'::regnamespace"
            " AND relkind IN ('r', 'p') ORDER BY 1"
        ).fetchall()
        assert identities == [("T one", "f"), ("low", "f"), ("parts", "f"), ("whole", "f")]
        assert main([*words, "--target-schema", "shop"]) == 0
        assert "REPLICA IDENTITY" not in capsys.readouterr().out
        assert main(words) == 0
        assert 'ALTER TABLE "public"."beside" REPLICA IDENTITY FULL;' in capsys.readouterr().out
        assert main([*words, "--target-schema", "nowhere"]) == 12
        assert "found no tables in schema nowhere" in capsys.readouterr().err


def test_other_databases_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.duckdb"
    duckdb.connect(str(path)).close()
    assert main(["prepare", "--way-back", "--to", f"duckdb:///{path}"]) == 12
    assert "found --way-back for DuckDB; expected PostgreSQL" in capsys.readouterr().err
