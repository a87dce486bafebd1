"""The embedded server is not the only PostgreSQL: the same functions on a server in a container,
over the network."""

from __future__ import annotations

from pathlib import Path

import psycopg

from replay.cli.main import main
from replay.targets.postgres import POSTGRES as postgres
from tests.support.replayed import START
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
