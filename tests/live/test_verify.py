"""Verify: the target against the state it should be in, and the round trip with its certificate."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.live.test_dry_run import options
from tests.support.replayed import AT_END, PIT1, rows
from tests.support.words import of_log_master

Replay = Callable[..., int]


def test_a_target_as_it_should_be(
    replay: Replay, database: str, sakila: Path, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """At any position the expected state is the first state with the log up to there; nothing is
    written to the target."""
    verify = [
        "verify",
        "--to",
        database,
        "--expected",
        str(sakila / "initial"),
        "--engine",
        "local",
    ]
    assert main([*verify, "--target-schema", "sakila"]) == 0
    assert rows(database, "SELECT 1 FROM pg_namespace WHERE nspname = 'logreplay'") == []
    assert replay("--until-lrsn", PIT1) == 0
    assert main([*verify, *log]) == 0
    shown = capsys.readouterr().out
    assert "sakila.payment: 15,950 rows, all as expected" in shown
    assert shown.endswith("SAME\n")
    assert (
        main(
            [
                "verify",
                "--to",
                database,
                "--expected",
                str(sakila / "pit1"),
                "--target-schema",
                "sakila",
            ]
        )
        == 0
    )


def test_a_target_that_lacks_a_table(
    database: str, sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows(database, "DROP TABLE sakila.store")
    assert (
        main(
            [
                "verify",
                "--to",
                database,
                "--expected",
                str(sakila / "initial"),
                "--target-schema",
                "sakila",
            ]
        )
        == 8
    )
    assert "LR4002 table sakila.store" in capsys.readouterr().err


def test_a_table_of_the_state_that_neither_log_nor_target_has_is_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, state = tmp_path / "shop.db", tmp_path / "state"
    with closing(sqlite3.connect(file)) as shop, shop:
        shop.execute("CREATE TABLE item (n INTEGER PRIMARY KEY, word TEXT)")
        shop.execute("INSERT INTO item VALUES (1, 'b'), (2, 'b'), (4, 'z')")
    state.mkdir()
    (state / "item.csv").write_text("n,word\n1,a\n2,a\n3,x\n")
    (state / "stray.csv").write_text("a\n1\n")
    words = ["verify", *options(tmp_path), "--to", f"sqlite:///{file}", "--engine", "local"]
    assert main([*words, "--expected", str(state)]) == 0
    said = capsys.readouterr().out
    assert "  not compared: table stray: neither the log nor the database has it" in said
    assert said.endswith("SAME\n")


@pytest.mark.long
@pytest.mark.parametrize("from_target", [True, False])
def test_the_round_trip_and_its_certificate(
    database: str, sakila: Path, log: list[str], tmp_path: Path, from_target: bool
) -> None:
    out = tmp_path / "certificate.json"
    tables = ["--to", database] if from_target else ["--ddl", str(sakila / "schema.sql")]
    state = ["--expected", str(sakila / "initial"), "--certificate", str(out)]
    assert main(["verify", "--roundtrip", *log, *tables, *state, "--engine", "local"]) == 0
    certificate = json.loads(out.read_text())
    digest = certificate.pop("sha256")
    assert (
        digest
        == hashlib.sha256(
            json.dumps(certificate, sort_keys=True, ensure_ascii=False).encode()
        ).hexdigest()
    )
    assert certificate["holds"]
    assert certificate["units"], certificate["statements"]["undo"] == AT_END
    assert (
        certificate["inputs"][1]["sha256"]
        == hashlib.sha256((sakila / "sakila.dat.gz").read_bytes()).hexdigest()
    )
    tables_of = {entry["table"]: entry for entry in certificate["tables"]}
    assert tables_of["film"]["before"] == tables_of["film"]["undone"] != tables_of["film"]["redone"]
    assert tables_of["store"]["before"] == tables_of["store"]["redone"]
    assert rows(database, "SELECT 1 FROM pg_namespace WHERE nspname = 'logreplay'") == []


def test_a_round_trip_into_types_that_round(
    database: str,
    sakila: Path,
    sakila_small: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Padded there and back is the same state each time; it is not that of the log's values."""
    ddl = tmp_path / "schema.sql"
    narrow = "ALTER TABLE sakila.film ALTER COLUMN title TYPE char(255);"
    ddl.write_text((sakila / "schema.sql").read_text() + narrow)
    options = ["--expected", str(sakila / "initial"), "--engine", "local", "--ddl", str(ddl)]
    log = of_log_master(sakila_small / "small.ctl", sakila_small / "small.dat")
    assert main(["verify", "--roundtrip", *log, *options]) == 8
    said = capsys.readouterr().out
    assert "film: DOES NOT HOLD" in said
    assert "redone again: 1,000 rows DIFFER" in said
    assert re.search(r"film_id = \d+: title: expected '([^']+)', found '\1 +'", said)
    assert "payment: holds" in said


def test_zones_that_the_target_does_not_keep(
    fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A moment is the same whatever zone it is written in."""
    (tmp_path / "moment.csv").write_text(
        "id,at\n1,2024-03-15 10:00:00+02:00\n2,2024-03-15 10:00:00.5Z\n"
    )
    rows(
        fresh_database,
        "CREATE SCHEMA s; CREATE TABLE s.moment (id int PRIMARY KEY, at timestamptz); INSERT INTO"
        " s.moment VALUES (1, '2024-03-15 08:00:00Z'), (2, '2024-03-15 12:00:00.6+02')",
    )
    verify = ["verify", "--to", fresh_database, "--expected", str(tmp_path)]
    assert main([*verify, "--target-schema", "s"]) == 8
    said = capsys.readouterr().out
    assert "not compared: zone of moment.at: the target keeps the moment only" in said
    wanted = "id = 2: at: expected '2024-03-15 10:00:00.5', found '2024-03-15 10:00:00.6'"
    assert wanted in said
    assert "1 DIFFER" in said


def test_values_and_rows_that_are_not_told_apart_are_named(
    fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "base.csv").write_text("id,x\n1,0.0\n2,1.5\n")
    rows(
        fresh_database,
        "CREATE SCHEMA s; CREATE TABLE s.base (id int PRIMARY KEY, x double precision);"
        " CREATE TABLE s.heir () INHERITS (s.base);"
        " INSERT INTO s.base VALUES (1, '-0.0'); INSERT INTO s.heir VALUES (2, 1.5)",
    )
    verify = ["verify", "--to", fresh_database, "--expected", str(tmp_path)]
    assert main([*verify, "--target-schema", "s"]) == 0
    said = capsys.readouterr().out
    assert "not compared: sign of zeros in base.x: -0.0 and 0.0 count as the same" in said
    assert "not compared: rows of base that are in heir, which inherits from it" in said


def test_what_verify_must_be_told(
    sakila: Path, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    state = ["--expected", str(sakila / "initial")]
    assert main(["verify", *state]) == 12
    assert main(["verify", *state, "--roundtrip"]) == 12
    assert main(["verify", *state, *log, "--roundtrip", "--engine", "local"]) == 12
    assert main(["verify", *state, *log[:2], "--to", "postgresql://"]) == 12
    said = capsys.readouterr().err
    assert said.count("LR1001") == 4
    for option, way in (("--ri", ["--to", "postgresql://"]), ("--triggers", ["--roundtrip"])):
        assert main(["verify", *state, *log, *way, "--engine", "local", option, "skip"]) == 12
        assert f"found {option} skip with verify" in capsys.readouterr().err
    assert main(["verify", *state, "--to", "oracle://x"]) == 12
    assert "found target 'oracle'" in capsys.readouterr().err
