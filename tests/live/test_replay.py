"""Replay into a live PostgreSQL: to every point and back, exactly once, and what is refused."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from replay.changes.position import Position
from replay.cli.main import main
from replay.targets import target_named
from tests.support.logcut import cut
from tests.support.replayed import AT_END, AT_PIT1, PIT1, START, position, rows, same
from tests.support.states import compare_states

POSTGRES = target_named("postgres")
#: A unit whose rows no other unit up to the first point in time touches.
INDEPENDENT = "00DECBEAF16EA1900000"

Replay = Callable[..., int]


@pytest.mark.long
def test_every_point_forward_and_back(replay: Replay, database: str, sakila: Path) -> None:
    manifest = json.loads((sakila / "manifest.json").read_text())
    points = [(point["dir"], point["commit_lrsn"]) for point in manifest["points_in_time"]]
    for state, lrsn in points:
        assert replay("--until-lrsn", lrsn) == 0
        assert same(database, sakila, state)
    assert replay() == 0
    assert same(database, sakila, "final")
    assert position(database)[2:] == (*AT_END, 0)
    for state, lrsn in reversed(points):
        assert replay("--until-lrsn", lrsn) == 0
        assert same(database, sakila, state)
    assert replay("--until-lrsn", START) == 0
    assert same(database, sakila, "initial")
    assert position(database)[2:] == (0, 0, 0)
    assert replay() == 0
    assert same(database, sakila, "final")


def test_time_and_mark(
    replay: Replay,
    database: str,
    log: list[str],
    sakila: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    point = json.loads((sakila / "manifest.json").read_text())["points_in_time"][1]
    assert replay("--until-time", point["commit_timestamp"]) == 0
    assert same(database, sakila, point["dir"])
    assert main(["mark", "here", "--to", database]) == 0
    assert replay() == 0
    assert replay("--until-mark", "here") == 0
    assert same(database, sakila, point["dir"])
    assert replay("--until-mark", "there") == 12
    assert "LR1004" in capsys.readouterr().err
    assert main(["status", "--to", database]) == 0
    shown = capsys.readouterr().out
    assert f"mark here: commit LRSN {point['commit_lrsn']}" in shown
    assert "run 3: backward" in shown
    # with the log, when that was committed
    assert "committed" not in shown
    assert main(["status", *log, "--to", database]) == 0
    told, moment = capsys.readouterr().out, point["commit_timestamp"][:26]
    assert f"commit LRSN {point['commit_lrsn']}, committed {moment}" in told
    assert f"(committed {moment}, changed" in told
    assert main(["status", *log, "--to", database, "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert described["position"]["committed"] == described["mark_times"]["here"] == moment
    solid = sakila.parents[1] / "soliddb"
    other = ["--source", "soliddb", "--log", str(solid / "syslog.csv"), "--catalog", str(solid)]
    assert main(["status", *other, "--to", database]) == 12
    assert "found a log of soliddb" in capsys.readouterr().err
    assert main(["status", *log, "--to", database, "--watch"]) == 12
    assert "found --watch with a log" in capsys.readouterr().err


def test_nothing_is_written_without_apply(
    replay: Replay, database: str, sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replay(apply=False) == 0
    shown = capsys.readouterr().out
    assert "2,598 units of recovery with 19,549 statements are to be applied" in shown
    assert "SAKILA.FILM           update 1,360" in shown
    assert "Estimated time" in shown
    assert same(database, sakila, "initial")
    assert rows(database, "SELECT 1 FROM pg_namespace WHERE nspname = 'logreplay'") == []
    assert main(["status", "--to", database]) == 0
    assert "Nothing was replayed into it" in capsys.readouterr().out


def test_logs_that_overlap(
    database: str, sakila: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    points = json.loads((sakila / "manifest.json").read_text())["points_in_time"]
    whole = sakila / "sakila.ctl", sakila / "sakila.dat.gz"
    early = cut(*whole, tmp_path / "early", high=points[1]["commit_lrsn"])
    late = cut(*whole, tmp_path / "late", low=points[0]["commit_lrsn"])
    go = ["--to", database, "--engine", "local", "--apply"]
    assert main(["replay", *early, *go]) == 0
    assert same(database, sakila, points[1]["dir"])
    assert main(["replay", *late, *go]) == 12
    assert "LR2039" in (said := capsys.readouterr().err)
    assert "give that one too" in said
    assert main(["replay", *early, *late, *go]) == 0
    assert same(database, sakila, "final")
    assert position(database)[2:4] == AT_END
    assert main(["replay", *early, *go, "--until-lrsn", points[0]["commit_lrsn"]]) == 8
    assert main(["replay", *late, *go, "--until-lrsn", points[1]["commit_lrsn"]]) == 0
    assert main(["replay", *early, *go, "--until-lrsn", START]) == 0
    assert same(database, sakila, "initial")


def test_logs_that_adjoin(
    database: str, sakila: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    point = json.loads((sakila / "manifest.json").read_text())["points_in_time"][1]
    whole = sakila / "sakila.ctl", sakila / "sakila.dat.gz"
    early = cut(*whole, tmp_path / "early", high=point["commit_lrsn"])
    late = cut(*whole, tmp_path / "late", low=Position.from_hex(point["commit_lrsn"]).above.hex())
    go = ["--to", database, "--engine", "local", "--apply"]
    assert main(["replay", *early, *go]) == 0
    assert main(["replay", *late, *go]) == 8
    assert "say so with --adjoining" in capsys.readouterr().err
    assert main(["replay", *late, *go, "--adjoining"]) == 0
    assert same(database, sakila, "final")


def test_a_unit_that_a_later_log_completes(
    database: str, sakila: Path, tmp_path: Path, replay: Replay
) -> None:
    """A unit is incomplete in the first log. The second one brings it whole, below the position,
    and it is applied once."""
    point = json.loads((sakila / "manifest.json").read_text())["points_in_time"][0]
    whole = sakila / "sakila.ctl", sakila / "sakila.dat.gz"
    early = cut(*whole, tmp_path / "early", high=point["commit_lrsn"], incomplete=INDEPENDENT)
    go = ["--to", database, "--engine", "local", "--apply"]
    assert main(["replay", *early, *go]) == 4
    assert position(database)[2] == 654
    assert [unit for (unit,) in rows(database, "SELECT unit FROM logreplay.pending")] != []
    assert main(["replay", *early, *go]) == 4
    assert replay("--until-lrsn", point["commit_lrsn"]) == 0
    assert rows(database, "SELECT unit FROM logreplay.pending") == []
    assert same(database, sakila, point["dir"])
    assert position(database)[2:4] == AT_PIT1
    assert replay() == 0
    assert same(database, sakila, "final")


def test_a_target_that_stands_elsewhere(fresh_database: str, sakila: Path, log: list[str]) -> None:
    """A copy of the database at a later point is taken back without ever having been replayed."""
    points = json.loads((sakila / "manifest.json").read_text())["points_in_time"]
    POSTGRES.run_scripts(fresh_database, [sakila / "schema.sql"])
    POSTGRES.load_state(fresh_database, "sakila", sakila / points[1]["dir"])
    go = ["replay", *log, "--to", fresh_database, "--engine", "local", "--apply"]
    assert (
        main([*go, "--at-lrsn", points[1]["commit_lrsn"], "--until-lrsn", points[0]["commit_lrsn"]])
        == 0
    )
    assert same(fresh_database, sakila, points[0]["dir"])
    assert main([*go, "--at-lrsn", points[1]["commit_lrsn"]]) == 12
    assert main(go) == 0
    assert same(fresh_database, sakila, "final")


def test_other_options_or_source(
    replay: Replay, database: str, sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replay("--until-lrsn", PIT1) == 0
    before = position(database)
    capsys.readouterr()
    assert replay("--exclude-table", "SAKILA.FILM") == 8
    said = capsys.readouterr().err
    assert "LR4005" in said
    assert "exclude_tables: not given before, ['SAKILA.FILM'] now" in said
    assert "DROP SCHEMA logreplay CASCADE" in said
    rows(database, "UPDATE logreplay.position SET source = 'logmaster DB2X'")
    assert replay() == 8
    assert "the target was replayed from logmaster DB2X" in capsys.readouterr().err
    rows(database, "UPDATE logreplay.position SET source = 'logmaster DB2P'")
    assert position(database) == before


def test_a_gap_between_position_and_log(
    database: str, replay: Replay, sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replay("--until-lrsn", PIT1) == 0
    rows(database, "UPDATE logreplay.position SET commit_lrsn = '00000000000000000001'")
    assert replay() == 8
    assert "LR4007" in capsys.readouterr().err
    rows(database, "UPDATE logreplay.position SET commit_lrsn = '00F00000000000000000'")
    assert replay("--until-lrsn", PIT1) == 8
    assert "Go back through the later log first" in capsys.readouterr().err
    assert replay() == 0
    assert "Nothing to do" in capsys.readouterr().out
    rows(database, "UPDATE logreplay.position SET commit_lrsn = '00DECBF4DD6635100000'")
    assert replay("--until-lrsn", "00DECBE000000000000A") == 8
    assert "nothing shows what lies between" in capsys.readouterr().err


def test_a_row_that_somebody_changed(
    replay: Replay, database: str, sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first unit that touches the row stops the replay; all before it are applied, and nothing
    of it."""
    rows(database, "UPDATE sakila.film SET last_update = '1999-01-01' WHERE film_id = 819")
    assert replay() == 8
    said = capsys.readouterr().err
    for part in (
        "LR4006",
        "no-row",
        "the update in SAKILA.FILM touched 0 rows",
        "statement: UPDATE sakila.film SET",
        "before image: {'FILM_ID': '819'",
    ):
        assert part in said
    assert "'last_update': '1999-01-01 00:00:00'" in said
    commit, unit, units, statements, _ = position(database)
    assert 0 < units < 2598
    assert f"unit {unit[:20]}/" not in said
    rows(database, "UPDATE sakila.film SET last_update = '2001-01-01' WHERE film_id = 819")
    assert replay() == 8
    assert position(database)[:4] == (commit, unit, units, statements)
    rows(
        database,
        f"UPDATE sakila.film SET last_update = (SELECT '{film_before(sakila)}'::timestamp) WHERE"
        " film_id = 819",
    )
    assert replay() == 0
    assert same(database, sakila, "final")


def film_before(sakila: Path) -> str:
    with gzip.open(sakila / "initial" / "film.csv.gz", "rt", encoding="utf-8") as file:
        return next(line for line in file if line.startswith("819,")).strip().rsplit(",", 1)[1]


@pytest.mark.long
def test_triggers_and_cascades_of_the_target(
    fresh_database: str, sakila: Path, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    POSTGRES.run_scripts(fresh_database, [sakila / "schema-ri.sql"])
    POSTGRES.load_state(fresh_database, "sakila", sakila / "initial")
    go = ["replay", *log, "--to", fresh_database, "--engine", "local", "--apply"]
    assert main(go) == 8
    said = capsys.readouterr()
    assert "LR4008" in said.err
    assert "foreign keys of the target would change rows that the log changes as well" in said.out
    assert "ON DELETE CASCADE" in said.out
    assert main([*go, "--enforcement", "off"]) == 0
    assert same(fresh_database, sakila, "final")
    assert main([*go, "--until-lrsn", PIT1]) == 8
    assert "--accept foreign-key-action" in capsys.readouterr().err
    assert main([*go, "--until-lrsn", PIT1, "--accept", "foreign-key-action"]) == 0
    assert same(fresh_database, sakila, "pit1")
    rows(
        fresh_database,
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    )
    rows(
        fresh_database,
        "CREATE TRIGGER watcher AFTER UPDATE ON sakila.film FOR EACH ROW EXECUTE FUNCTION f()",
    )
    assert main([*go, "--until-lrsn", START]) == 8
    assert "triggers of the target would fire again: watcher" in capsys.readouterr().err


def test_foreign_keys_left_to_the_target(fresh_database: str, sakila: Path, log: list[str]) -> None:
    POSTGRES.run_scripts(fresh_database, [sakila / "schema-ri.sql"])
    POSTGRES.load_state(fresh_database, "sakila", sakila / "initial")
    assert (
        main(
            ["replay", *log, "--to", fresh_database, "--engine", "local", "--apply", "--ri", "skip"]
        )
        == 0
    )
    assert (
        compare_states(fresh_database, "sakila", sakila / "final", sakila / "final_without_ri")
        == []
    )


def test_a_target_that_lacks_something(
    replay: Replay, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows(database, "ALTER TABLE sakila.film DROP COLUMN rating")
    rows(database, "ALTER TABLE sakila.rental DROP CONSTRAINT rental_pkey CASCADE")
    rows(database, "DROP TABLE sakila.kiosk_scan")
    invalid = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'sakila.{}'::regclass"
    rows(database, invalid.format("customer_pkey"))
    assert replay() == 8
    said = capsys.readouterr().out
    assert "refused: SAKILA.FILM: the target's table has no column RATING. Add it" in said
    assert "refused: SAKILA.RENTAL: no unique key of the target lies within rental_id" in said
    assert "refused: SAKILA.CUSTOMER: no unique key of the target lies within customer_id" in said
    assert "identifies rows in the log. Make one: a primary key" in said
    assert "refused: SAKILA.KIOSK_SCAN: the target has no such table" in said


def test_more_shapes_than_a_session_keeps(
    replay: Replay, database: str, sakila: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replay.targets.postgres_session._PREPARED", 3)
    monkeypatch.setattr("replay.changes.options.ScriptOptions.records_per_file", 2000)
    assert replay() == 0
    assert same(database, sakila, "final")


def test_identity_and_generated_columns(
    replay: Replay, database: str, sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows(database, "ALTER TABLE sakila.address ALTER address_id ADD GENERATED ALWAYS AS IDENTITY")
    rows(
        database,
        "ALTER TABLE sakila.payment ADD COLUMN cents bigint GENERATED ALWAYS AS (amount * 100)"
        " STORED",
    )
    assert replay(apply=False) == 0
    planned = capsys.readouterr().out
    assert planned.count("will be moved on to the highest value") == 1
    assert "sequence sakila.address_address_id_seq (address_id) will be moved on" in planned
    assert replay() == 0
    assert same(database, sakila, "final")
    highest = rows(database, "SELECT max(address_id) FROM sakila.address")[0][0]
    assert rows(
        database, "SELECT nextval(pg_get_serial_sequence('sakila.address', 'address_id'))"
    ) == [(highest + 1,)]


def test_incomplete_units_come_with_a_later_log(
    fresh_database: str, incomplete: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Units set aside are noted in the target; once a log brings them whole they are applied, below
    the position as they are."""
    POSTGRES.run_scripts(fresh_database, [incomplete / "schema.sql"])
    POSTGRES.load_state(fresh_database, "sakila", incomplete / "initial")
    log = [
        "--control",
        str(incomplete / "incomplete.ctl"),
        "--data",
        str(incomplete / "incomplete.dat"),
    ]
    assert (
        main(
            [
                "replay",
                *log,
                "--to",
                fresh_database,
                "--engine",
                "local",
                "--apply",
                "--incomplete",
                "quarantine",
            ]
        )
        == 4
    )
    assert compare_states(fresh_database, "sakila", incomplete / "unflagged") == []
    pending = rows(fresh_database, "SELECT unit FROM logreplay.pending")
    assert pending
    assert main(["status", "--to", fresh_database]) == 0
    assert f"set aside: unit {pending[0][0][:20]}/" in capsys.readouterr().out


def test_no_password_is_shown(
    replay: Replay, database: str, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    secret = database.split(":")[2].split("@")[0]
    assert replay("--until-lrsn", PIT1) == 0
    assert main(["status", "--to", database, "--json"]) == 0
    assert (
        main(["replay", *log, "--to", database.replace(secret, "wrong-word"), "--engine", "local"])
        == 12
    )
    said = capsys.readouterr()
    assert "LR4003" in said.err
    assert secret not in said.out + said.err
    assert "wrong-word" not in said.out + said.err
    assert rows(database, f"SELECT 1 FROM logreplay.run WHERE run::text LIKE '%{secret}%'") == []
