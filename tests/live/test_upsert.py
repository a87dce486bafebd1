"""Scripts of ``--upsert`` on PostgreSQL, which takes three of its kinds: applied again they change
nothing, over a part they lead to the same end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from replay.cli import main
from replay.targets import target_named
from sqlgen import ddl
from sqlgen.dialects import Upsert, profile_named
from tests.support import upserts
from tests.support.history import Maker
from tests.support.states import compare_states

POSTGRES = target_named("postgres")
PROFILE = profile_named("postgres")


def scripts_of(sakila: Path, out: Path, mode: str, *options: str) -> list[Path]:
    log = [
        "--control",
        str(sakila / "sakila.ctl"),
        "--data",
        str(sakila / "sakila.dat.gz"),
        "--engine",
        "local",
        "--schema",
        "none",
    ]
    assert (
        main.main([mode, *log, "--exclude-table", "*.KIOSK_SCAN", "--out", str(out), *options]) == 0
    )
    return sorted(out.glob("*.sql"))


def differing(url: str, folder: Path) -> list[str]:
    """Tables that differ from a state; the one without a key is not in the scripts."""
    found = [table for table, *_ in compare_states(url, "sakila", folder)]
    return [name for name in found if name != "sakila.kiosk_scan"]


@pytest.mark.long
def test_sakila_again_and_over_a_part(database: str, sakila: Path, tmp_path: Path) -> None:
    """A plain script is applied up to a point in time and in the middle of the rest an upsert
    script stops; then all of it, twice."""
    many = ("--upsert", "--records-per-file", "5000", "--trace", "--commit-every", "7")
    for mode, state in (("redo", "final"), ("undo", "initial")):
        first, *_ = scripts_of(
            sakila, tmp_path / f"{mode}-once", mode, "--records-per-file", "5000"
        )
        scripts = scripts_of(sakila, tmp_path / mode, mode, *many)
        assert len(scripts) == 4
        POSTGRES.run_scripts(database, [first])
        assert differing(database, sakila / state) != []
        POSTGRES.run_scripts(database, scripts)
        assert differing(database, sakila / state) == []
        POSTGRES.run_scripts(database, scripts[1:3])
        POSTGRES.run_scripts(database, scripts)
        assert differing(database, sakila / state) == []


@pytest.mark.parametrize(
    "kind",
    [Upsert("conflict"), Upsert("merge"), Upsert("merge", joined=True), Upsert("replace")],
    ids=repr,
)
def test_histories(fresh_database: str, kind: Upsert) -> None:
    profile = replace(PROFILE, upsert=kind)
    with psycopg.connect(fresh_database, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA testown")
        for table in upserts.TABLES.values():
            connection.execute(ddl.create_table(table, profile).encode())

        def state() -> dict[str, list[Any]]:
            names = upserts.TITLES.values()
            return {
                name: sorted(
                    connection.execute(f"SELECT * FROM testown.{name}".encode()).fetchall()
                )
                for name in names
            }

        def run(lines: Sequence[str]) -> None:
            if lines:
                connection.execute("\n".join(lines).encode())

        for seed in range(25):
            upserts.check(Maker(seed, 20, spread=5).history, profile, run, state, seed)
