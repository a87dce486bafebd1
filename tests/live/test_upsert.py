"""Scripts of ``--upsert`` on PostgreSQL, which takes three of its kinds: applied again they change
nothing, over a part they lead to the same end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from sqlgen import ddl
from sqlgen.dialects import Upsert, profile_named
from tests.support import upserts
from tests.support.history import Maker

PROFILE = profile_named("postgres")


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
