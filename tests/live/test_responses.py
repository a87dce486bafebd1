"""Conditions and responses: what happens when a row of the target is not as the log says, and what
was told to be done about it."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest

from replay.changes.position import UnitPosition
from replay.cli.main import main
from replay.errors import TargetError, UsageError
from replay.live.error_policy import Response, error_policy_of
from replay.live.position_store import Store
from replay.targets import Condition, StatementCounts, StatementFailure
from sqlgen.schema import Op
from tests.support.replayed import AT_PIT1, PIT1, START, position, rows, same

Replay = Callable[..., int]

#: Condition -> (what brings it about before the replay, the statement that it ends in).
TROUBLE = {
    "no-row:update": (
        "UPDATE sakila.film_stock SET on_hand = 99 WHERE film_id = 819 AND store_id = 1",
        "update",
        "SAKILA.FILM_STOCK",
    ),
    "duplicate-key:insert": (
        "INSERT INTO sakila.inventory VALUES (4583, 1, 1, '2001-01-01')",
        "insert",
        "SAKILA.INVENTORY",
    ),
    "several-rows:update": (
        (
            "CREATE TABLE sakila.more () INHERITS (sakila.film_stock); INSERT INTO sakila.more"
            " SELECT * FROM ONLY sakila.film_stock WHERE film_id = 819"
        ),
        "update",
        "SAKILA.FILM_STOCK",
    ),
    "other:insert": (
        "ALTER TABLE sakila.inventory ADD CHECK (inventory_id <> 4583)",
        "insert",
        "SAKILA.INVENTORY",
    ),
}


def trouble(url: str, name: str) -> None:
    rows(url, TROUBLE[name][0])


def entries(url: str, tmp_path: Path) -> list[dict[str, object]]:
    path = tmp_path / "rejects.jsonl"
    assert main(["status", "--to", url, "--rejects", str(path)]) == 0
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    "name", ["no-row:update", "duplicate-key:insert", "several-rows:update", "other:insert"]
)
def test_stop_is_what_happens_by_itself(
    replay: Replay, database: str, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    trouble(database, name)
    assert replay("--until-lrsn", PIT1) == 8
    said = capsys.readouterr().err
    condition, op = name.split(":")
    for part in (
        "LR4006",
        f"{condition}: the {op} in {TROUBLE[name][2]}",
        "statement:",
        "after image:",
        "Nothing of this unit was applied",
    ):
        assert part in said
    if condition == "duplicate-key":
        assert "SQLSTATE 23505" in said
        assert "in the target: {'inventory_id': '4583', 'film_id': '1'" in said
    units = position(database)[2]
    assert units < 10
    assert rows(database, "SELECT outcome LIKE 'LR4006%', units FROM logreplay.run") == [
        (True, units)
    ]


@pytest.mark.parametrize("sqlstate", ["53100", "57014"])
def test_what_the_server_ends_is_no_change_to_leave_out(
    replay: Replay,
    database: str,
    sakila: Path,
    capsys: pytest.CaptureFixture[str],
    sqlstate: str,
) -> None:
    """A full disk had changes skipped, one after the other."""
    rows(
        database,
        "CREATE FUNCTION sakila.trouble(n integer) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN IF n"
        f" = 4583 THEN RAISE 'trouble' USING ERRCODE = '{sqlstate}'; END IF; RETURN true; END$$;"
        " ALTER TABLE sakila.inventory ADD CONSTRAINT trouble CHECK (sakila.trouble(inventory_id))",
    )
    told = ["--on", "other=skip", "--on", f"{sqlstate}=skip", "--on", "no-row=skip"]
    assert replay("--until-lrsn", PIT1, *told) == 8
    said = capsys.readouterr().err
    assert f"server: the insert in SAKILA.INVENTORY failed: SQLSTATE {sqlstate}: trouble" in said
    assert "Remove the cause; then run replay again" in said
    assert rows(database, "SELECT count(*) FROM logreplay.reject") == [(0,)]
    rows(database, "ALTER TABLE sakila.inventory DROP CONSTRAINT trouble")
    assert replay("--until-lrsn", PIT1, *told) == 0
    assert same(database, sakila, "pit1")


@pytest.mark.parametrize(
    "name", ["no-row:update", "duplicate-key:insert", "several-rows:update", "other:insert"]
)
def test_skip(replay: Replay, database: str, tmp_path: Path, name: str) -> None:
    trouble(database, name)
    later = "--on=no-row=skip"  # what comes after a change that was left out may miss it
    assert replay("--until-lrsn", PIT1, "--on", f"{name}=skip", later) == 4
    found = entries(database, tmp_path)
    condition, op = name.split(":")
    assert (
        found[0]["condition"],
        found[0]["operation"],
        found[0]["response"],
        found[0]["table"],
    ) == (
        condition,
        op,
        "skip",
        TROUBLE[name][2],
    )
    assert found[0]["after"] is not None
    assert "record" in str(found[0]["place"])
    assert position(database)[2:] == (*AT_PIT1, len(found))


def test_skip_what_the_database_names(replay: Replay, database: str, tmp_path: Path) -> None:
    trouble(database, "other:insert")
    later = "--on=no-row=skip"
    assert replay("--until-lrsn", PIT1, "--on", "23505=skip", later) == 8
    assert replay("--until-lrsn", PIT1, "--on", "23514:insert=skip", later) == 4
    assert entries(database, tmp_path)[0]["sqlstate"] == "23514"


@pytest.mark.parametrize("name", ["no-row:update", "duplicate-key:insert", "several-rows:update"])
def test_overwrite(replay: Replay, database: str, sakila: Path, tmp_path: Path, name: str) -> None:
    """The log's row is in place afterwards, so everything after it fits and the state is the
    log's."""
    trouble(database, name)
    assert replay("--until-lrsn", PIT1, "--on", f"{name}=overwrite") == 4
    found = entries(database, tmp_path)
    assert found[0]["response"] == "overwrite"
    assert found[0]["found"] != []
    if name == "several-rows:update":
        rows(database, "DROP TABLE sakila.more")
    assert same(database, sakila, "pit1")


def test_overwrite_a_delete_of_a_row_that_is_gone(
    replay: Replay, database: str, sakila: Path
) -> None:
    assert replay("--until-lrsn", PIT1) == 0
    rows(database, "DELETE FROM sakila.inventory WHERE inventory_id = 4583")
    assert replay("--until-lrsn", START, "--on", "no-row:delete=overwrite") == 4
    assert same(database, sakila, "initial")


def test_undo_leaves_out_what_was_skipped(replay: Replay, database: str, sakila: Path) -> None:
    """The row with the inserted key is not the log's; taking the insert back must not delete it."""
    trouble(database, "duplicate-key:insert")
    assert replay("--until-lrsn", PIT1, "--on", "duplicate-key=skip") == 4
    assert position(database)[4] == 1
    assert replay("--until-lrsn", START) == 0
    assert rows(database, "SELECT film_id FROM sakila.inventory WHERE inventory_id = 4583") == [
        (1,)
    ]
    rows(database, "DELETE FROM sakila.inventory WHERE inventory_id = 4583")
    assert same(database, sakila, "initial")
    assert position(database)[2:] == (0, 0, 0)


def test_undo_refuses_what_was_overwritten(
    replay: Replay, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    trouble(database, "duplicate-key:insert")
    assert replay("--until-lrsn", PIT1, "--on", "duplicate-key=overwrite") == 4
    assert replay("--until-lrsn", START) == 8
    assert "this change overwrote a row that was not the log's" in capsys.readouterr().err


def test_a_missing_parent(
    database: str,
    sakila: Path,
    log: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Foreign keys that can wait are checked at the end of the unit, others with the statement;
    both name the unit."""
    rows(database, "CREATE TABLE parent (id int PRIMARY KEY)")
    rows(
        database,
        "INSERT INTO parent SELECT DISTINCT inventory_id FROM sakila.inventory UNION VALUES (4582),"
        " (4584)",
    )
    key = (
        "ALTER TABLE sakila.inventory ADD CONSTRAINT of_parent FOREIGN KEY (inventory_id)"
        " REFERENCES parent"
    )
    go = [
        "replay",
        *log,
        "--to",
        database,
        "--engine",
        "local",
        "--apply",
        "--until-lrsn",
        PIT1,
    ]
    rows(database, key)
    assert main(go) == 8
    said = capsys.readouterr().err
    assert "foreign-key: the insert in SAKILA.INVENTORY failed: SQLSTATE 23503" in said
    assert 'Key (inventory_id)=(4583) is not present in table "parent"' in said
    at = position(database)
    rows(database, "ALTER TABLE sakila.inventory DROP CONSTRAINT of_parent")
    rows(database, key + " DEFERRABLE")
    assert main(go) == 8
    said = capsys.readouterr().err
    assert "the check at the end of the unit failed: SQLSTATE 23503" in said
    assert ".." not in said
    assert position(database) == at
    rows(database, "ALTER TABLE sakila.inventory DROP CONSTRAINT of_parent")
    rows(database, key)
    rows(database, "INSERT INTO parent SELECT generate_series(4585, 9999)")
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        if not waits:  # the parent comes while the insert waits to be tried again
            rows(database, "INSERT INTO parent VALUES (4583)")
        waits.append(seconds)

    # of this module alone: others sleep as well while they wait
    monkeypatch.setattr("replay.live.strict.time", SimpleNamespace(sleep=sleep))
    assert main([*go, "--on", "foreign-key:insert=retry"]) == 0
    assert len(waits) == 1
    assert same(database, sakila, "pit1")


#: Rows that the replay locks the other way round.
LATE, EARLY = (
    f"SELECT FROM sakila.film_stock WHERE (film_id, store_id) = ({film}, 1) FOR UPDATE"
    for film in (725, 819)
)


@pytest.mark.long
def test_a_deadlock_with_somebody_else(
    replay: Replay, database: str, sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows are locked against the order of the replay, which the database ends, because it looks
    for a deadlock first; it is tried again."""
    rows(database, f"ALTER DATABASE {database.rsplit('/', 1)[1]} SET deadlock_timeout = '1500ms'")
    ended = []

    def other() -> None:
        waiting = (
            "SELECT 1 FROM pg_stat_activity WHERE application_name = 'logreplay' AND"
            " wait_event_type = 'Lock'"
        )
        with (
            psycopg.connect(database) as connection,
            psycopg.connect(database, autocommit=True) as watching,
        ):
            # longer than the replay waits for a lock in all
            connection.execute("SET deadlock_timeout = '10min'")
            connection.execute(LATE.encode())
            while not watching.execute(waiting).fetchone():
                time.sleep(0.02)
            connection.execute(EARLY.encode())
            ended.append("granted")

    thread = threading.Thread(target=other)
    thread.start()
    assert replay("--until-lrsn", PIT1) == 0
    thread.join()
    assert ended == ["granted"]
    said = capsys.readouterr().out
    assert re.search(r"^(1 transaction was|\d+ transactions were) tried again$", said, re.MULTILINE)
    assert same(database, sakila, "pit1")
    assert position(database)[2:4] == AT_PIT1


def test_the_error_policy() -> None:
    policy = error_policy_of(
        [
            "no-row=skip",
            "no-row:delete=overwrite",
            "duplicate-key=overwrite",
            "other:update=skip",
            "other=stop",
        ]
    )
    assert policy.response_to(Op.UPDATE, Condition.NO_ROW) == Response.SKIP
    assert policy.response_to(Op.DELETE, Condition.NO_ROW) == Response.OVERWRITE
    assert policy.response_to(Op.INSERT, Condition.DUPLICATE_KEY) == Response.OVERWRITE
    assert policy.response_to(Op.UPDATE, Condition.DUPLICATE_KEY) == Response.STOP
    assert policy.response_to(Op.UPDATE, Condition.OTHER) == Response.STOP
    assert policy.watches
    assert not error_policy_of([]).watches


def test_the_last_definition_that_fits_counts() -> None:
    policy = error_policy_of(["other=skip", "23514=stop", "40001:update=retry"])
    assert policy.response_to(Op.INSERT, Condition.OTHER, "22001") == Response.SKIP
    assert policy.response_to(Op.INSERT, Condition.OTHER, "23514") == Response.STOP
    assert policy.response_to(Op.UPDATE, Condition.OTHER, "40001") == Response.RETRY
    assert policy.response_to(Op.INSERT, Condition.OTHER, "40001") == Response.SKIP
    again = error_policy_of(["other=skip", "23514=stop", "other=skip"])
    assert again.response_to(Op.INSERT, Condition.OTHER, "23514") == Response.SKIP


def test_what_any_statement_would_end_in_can_only_be_tried_again() -> None:
    left_out = error_policy_of(["other=skip", "53100=skip"])
    assert left_out.response_to(Op.INSERT, Condition.SERVER, "53100") == Response.STOP
    assert left_out.response_to(Op.INSERT, Condition.OTHER, "22001") == Response.SKIP
    again = error_policy_of(["other=skip", "57014:update=retry"])
    assert again.response_to(Op.UPDATE, Condition.SERVER, "57014") == Response.RETRY
    assert again.response_to(Op.DELETE, Condition.SERVER, "57014") == Response.STOP
    every = error_policy_of(["other=retry"])
    assert every.response_to(Op.DELETE, Condition.SERVER, "error 1021") == Response.RETRY


@pytest.mark.parametrize(
    "text",
    [
        "server=skip",
        "no-row",
        "2351=skip",
        "23514=overwrite",
        "no-row=",
        "norow=skip",
        "no-row:merge=skip",
        "no-row=ignore",
        "foreign-key=overwrite",
        "other:insert=overwrite",
    ],
)
def test_definitions_that_mean_nothing(text: str) -> None:
    with pytest.raises(UsageError, match="LR1001"):
        error_policy_of([text])


def test_a_position_that_cannot_be_moved() -> None:
    """Says what became of the transaction, and what to do."""

    class Cancelled:
        def own(self, table: str) -> str:
            return f"logreplay.{table}"

        def run(self, text: bytes) -> StatementCounts:
            failure = StatementFailure(Condition.SERVER, "57014", "canceling statement")
            return StatementCounts([], failure)

    there = UnitPosition(bytes(22))
    with pytest.raises(TargetError, match=r"LR4001 .*57014.*then run replay again"):
        Store(Cancelled()).move(there, there, 1, 1, 0)  # type: ignore[arg-type]
