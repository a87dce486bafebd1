"""Replay into a live PostgreSQL: to every point and back, exactly once, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from replay.changes.position import Position
from replay.cli.main import main
from replay.targets import target_named
from tests.support.cutlogs import cut
from tests.support.replayed import AT_END, AT_PIT1, PIT1, START, position, rows, same

POSTGRES = target_named("postgres")
#: A unit whose rows no other unit up to the first point in time touches.
INDEPENDENT = "00DECBEAF16EA1900000"

Replay = Callable[..., int]


def test_time_and_mark(
    replay: Replay,
    database: str,
    log: list[str],
    sakila: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    point = json.loads((sakila / "manifest.json").read_text())["points_in_time"][1]
    assert replay("--until-time", point["commit_timestamp"]) == 0
    assert f" to {point['commit_timestamp'][:23]}" in capsys.readouterr().out
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
    database: str,
    sakila: Path,
    tmp_path: Path,
    replay: Replay,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A unit is incomplete in the first log. The second one brings it whole, below the position,
    and it is applied once."""
    point = json.loads((sakila / "manifest.json").read_text())["points_in_time"][0]
    whole = sakila / "sakila.ctl", sakila / "sakila.dat.gz"
    early = cut(*whole, tmp_path / "early", high=point["commit_lrsn"], incomplete=INDEPENDENT)
    go = ["--to", database, "--engine", "local", "--apply"]
    assert main(["replay", *early, *go]) == 4
    assert position(database)[2] == 654
    ((unit,), *_) = rows(database, "SELECT unit FROM logreplay.pending")
    capsys.readouterr()
    assert main(["status", "--to", database]) == 0
    assert f"quarantined: unit {unit[:20]}/" in capsys.readouterr().out
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


def test_an_index_that_is_not_valid_is_no_key(
    replay: Replay, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    invalid = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'sakila.{}'::regclass"
    rows(database, invalid.format("customer_pkey"))
    assert replay() == 8
    said = capsys.readouterr().out
    assert "refused: SAKILA.CUSTOMER: no unique key of the target lies within customer_id" in said
    assert "identifies rows in the log. Make one: a primary key" in said


def test_more_shapes_than_a_session_keeps(
    replay: Replay, database: str, sakila: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replay.targets.postgres_session._PREPARED", 3)
    monkeypatch.setattr("replay.changes.options.ScriptOptions.records_per_file", 2000)
    assert replay() == 0
    assert same(database, sakila, "final")
