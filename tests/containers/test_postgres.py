"""The embedded server is not the only PostgreSQL: the same functions on a server in a container,
over the network."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psycopg
import pytest

from replay.cli.main import main
from replay.targets.postgres import POSTGRES as postgres
from tests.conftest import SMALL_DISK
from tests.support.replayed import AT_END, START, position, rows, same
from tests.support.states import compare_states
from tests.support.words import of_log_master


def test_the_server_is_the_release_that_the_readme_names(container_postgres: str) -> None:
    with psycopg.connect(container_postgres) as connection:
        assert connection.info.server_version // 10_000 == 18


def test_a_log_is_replayed_forward_and_back_on_a_server_in_a_container(
    container_database: str, sakila: Path
) -> None:
    postgres.run_scripts(container_database, [sakila / "schema.sql"])
    postgres.load_state(container_database, "sakila", sakila / "initial")
    log = [*of_log_master(sakila / "sakila.ctl", sakila / "sakila.dat.gz"), "--engine", "local"]
    assert main(["replay", *log, "--to", container_database, "--apply"]) == 0
    assert compare_states(container_database, "sakila", sakila / "final") == []
    verify = ["verify", *log, "--to", container_database]
    assert main([*verify, "--expected", str(sakila / "initial")]) == 0
    assert main(["replay", *log, "--to", container_database, "--apply", "--until-lrsn", START]) == 0
    assert compare_states(container_database, "sakila", sakila / "initial") == []


@pytest.mark.long
@pytest.mark.parametrize("mode", ["strict", "bulk"])
def test_the_disk_of_the_target_is_full(
    container_database: str, sakila: Path, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    """The replay ends with the database's reason, at a position that agrees with the data; with
    room made, it goes on and nothing comes twice."""
    postgres.run_scripts(container_database, [sakila / "schema.sql"])
    postgres.load_state(container_database, "sakila", sakila / "initial")
    space = f"{SMALL_DISK}/{mode}"
    rows(
        container_database,
        f"COPY (SELECT 1) TO PROGRAM 'cat > /dev/null && mkdir {space} && chmod 700 {space}'",
    )
    rows(container_database, f"CREATE TABLESPACE {mode} LOCATION '{space}'")
    rows(container_database, f"ALTER TABLE sakila.payment_audit SET TABLESPACE {mode}")
    rows(container_database, f"CREATE TABLE public.filler (t text) TABLESPACE {mode}")
    with contextlib.suppress(psycopg.errors.DiskFull):
        for _ in range(10_000):
            rows(
                container_database,
                "INSERT INTO public.filler SELECT repeat('x', 2000) FROM generate_series(1, 8)",
            )
    log = [*of_log_master(sakila / "sakila.ctl", sakila / "sakila.dat.gz"), "--engine", "local"]
    go = ["replay", *log, "--to", container_database, "--apply"]
    assert main([*go, "--mode", mode, "--commit-statements", "500"]) == 8
    said = capsys.readouterr().err
    assert "LR4006" in said
    assert "SQLSTATE 53100" in said
    stood = position(container_database)
    assert 0 < stood[2] < AT_END[0]
    rows(container_database, "DROP TABLE public.filler")
    assert main([*go, "--mode", mode]) == 0
    assert same(container_database, sakila, "final")
    assert position(container_database)[2:] == (*AT_END, 0)
    rows(container_database, "ALTER TABLE sakila.payment_audit SET TABLESPACE pg_default")
    rows(container_database, f"DROP TABLESPACE {mode}")
