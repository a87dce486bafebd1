"""Replay into databases of this process: to every point and back, exactly once, and what is refused or found out."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from replay.cli import main
from replay.logs.logmaster.reader import open_log
from replay.targets import Target, target_named
from sqlgen import ddl
from sqlgen.dialects import profile_named
from tests.replayed import AT_END, START

KINDS = ["duckdb"]


@pytest.fixture(params=KINDS)
def target(request: pytest.FixtureRequest) -> Target:
    return target_named(request.param)


@pytest.fixture(scope="module")
def states(sakila: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The states of the Sakila workload, with the tables that its log describes."""
    folder = tmp_path_factory.mktemp("states")
    log = open_log(sakila / "sakila.ctl", [sakila / "sakila.dat.gz"], scratch=folder)
    known = {version.table.name.lower() for version in log.catalog.versions}
    for state in ("initial", "pit1", "pit2", "pit3", "final"):
        (folder / state).mkdir()
        for path in (sakila / state).iterdir():
            if path.name.split(".csv")[0] in known:
                (folder / state / path.name).symlink_to(path)
    return folder


@pytest.fixture
def database(target: Target, sakila: Path, states: Path, tmp_path: Path) -> Iterator[str]:
    """The URL of a database in the state before the Sakila log, its tables made by our DDL."""
    log = open_log(sakila / "sakila.ctl", [sakila / "sakila.dat.gz"], scratch=tmp_path)
    profile = profile_named(target.dialect)
    with target.scratch() as url:
        with closing(target.connect(url)) as session:
            session.make_schema("sakila")
            for table in {version.name: version.table for version in log.catalog.versions}.values():
                session.execute(ddl.create_table(table, profile).rstrip(";"))
        target.load_state(url, "sakila", states / "initial")
        yield url


def arguments(sakila: Path, url: str) -> list[str]:
    log = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz"), "--engine", "local"]
    return [*log, "--to", url]


def rows(target: Target, url: str, statement: str) -> list[tuple[Any, ...]]:
    with closing(target.connect(url)) as session:
        if statement.startswith("SELECT"):
            return session.query(statement)
        session.begin()
        session.execute(statement)
        session.commit()
        return []


def home(target: Target, url: str, table: str) -> str:
    with closing(target.connect(url)) as session:
        return session.own(table)


def same(target: Target, url: str, states: Path, state: str) -> bool:
    return target.compare_states(url, "sakila", states / state) == []


def test_every_point_forward_and_back(
    target: Target, database: str, states: Path, sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = arguments(sakila, database)
    assert main(["replay", *run]) == 0
    assert "Nothing was written" in capsys.readouterr().out
    points = [(point["dir"], point["commit_lrsn"]) for point in json.loads((sakila / "manifest.json").read_text())["points_in_time"]]
    for state, lrsn in points:
        assert main(["replay", *run, "--apply", "--until-lrsn", lrsn]) == 0
        assert same(target, database, states, state)
    assert main(["replay", *run, "--apply"]) == 0
    assert same(target, database, states, "final")
    where = home(target, database, "position")
    assert rows(target, database, f"SELECT units, statements, rejected FROM {where}") == [(*AT_END, 0)]
    capsys.readouterr()
    assert main(["replay", *run, "--apply"]) == 0
    assert "0 units of recovery with 0 statements" in capsys.readouterr().out
    assert main(["verify", *run, "--expected", str(states / "initial")]) == 0
    assert main(["mark", "end", "--to", database]) == 0
    for state, lrsn in [*reversed(points), ("initial", START)]:
        assert main(["replay", *run, "--apply", "--until-lrsn", lrsn]) == 0
        assert same(target, database, states, state)
    capsys.readouterr()
    assert main(["status", "--to", database]) == 0
    assert "mark end" in capsys.readouterr().out


def test_a_changed_row_stops_the_replay_and_is_named(
    target: Target, database: str, states: Path, sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = arguments(sakila, database)
    rows(target, database, "UPDATE sakila.film_stock SET on_hand = 77 WHERE film_id = 819 AND store_id = 1")
    assert main(["replay", *run, "--apply"]) == 8
    said = capsys.readouterr().err
    assert "LR4006" in said
    assert "no-row" in said
    assert "'on_hand': '77'" in said
    assert main(["verify", *run, "--expected", str(states / "initial")]) == 8
    assert "film_id = 819, store_id = 1: on_hand: expected" in capsys.readouterr().out
    rows(target, database, "UPDATE sakila.film_stock SET on_hand = 2 WHERE film_id = 819 AND store_id = 1")
    assert main(["replay", *run, "--apply"]) == 0
    assert same(target, database, states, "final")


def test_other_options_and_missing_things_are_refused(
    target: Target, database: str, states: Path, sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = arguments(sakila, database)
    assert main(["replay", *run, "--apply", "--until-lrsn", "00DECBF4DD6635100000"]) == 0
    assert main(["replay", *run, "--apply", "--table", "SAKILA.FILM"]) == 8
    assert "LR4005" in capsys.readouterr().err
    rows(target, database, "DROP TABLE sakila.kiosk_scan")
    assert main(["replay", *run, "--apply"]) == 8
    assert "SAKILA.KIOSK_SCAN: the target has no such table" in capsys.readouterr().err
    assert main(["replay", *run[:-1], database + "x", "--apply"]) == 8
    assert "LR4003" in capsys.readouterr().err


def test_roundtrip(target: Target, database: str, states: Path, sakila: Path, tmp_path: Path) -> None:
    certificate = tmp_path / "certificate.json"
    expected = ["--expected", str(states / "initial"), "--certificate", str(certificate)]
    assert main(["verify", *arguments(sakila, database), "--roundtrip", *expected]) == 0
    assert json.loads(certificate.read_text())["holds"] is True


def test_killed_and_run_again(target: Target, database: str, states: Path, sakila: Path, tmp_path: Path) -> None:
    """The client dies at points of its work; what was committed is what the position says, and the rest follows."""
    job = {
        "url": database,
        "control": str(sakila / "sakila.ctl"),
        "data": str(sakila / "sakila.dat.gz"),
        "until": None,
        "commit_every": 200,
    }
    deaths = [("statements run", 1), ("position moved", 2), ("committed", 2), ("batch run", 5)]
    lines = [
        json.dumps({**job, "merged": 0, "sessions": 1, "scratch": str(tmp_path), "point": point, "times": times}) for point, times in deaths
    ]
    process = [sys.executable, "-m", "tests.live.replayer"]
    done = subprocess.run(process, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    assert done.stdout.split() == [str(-signal.SIGKILL)] * len(deaths), done.stderr
    assert main(["replay", *arguments(sakila, database), "--apply"]) == 0
    assert same(target, database, states, "final")
    assert rows(target, database, f"SELECT units, statements FROM {home(target, database, 'position')}") == [AT_END]
