"""Tables of solidDB that change all the time, replayed into PostgreSQL read session by read
session: after each of them it has the tables, the columns and the rows that there should be."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest

from replay.cli.main import main
from tests.independent.solid_ddl import KINDS, Attribute, Changing, Relation
from tests.independent.solid_export import form_of

SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 6)))
WAYS = ((), (), ("--mode", "bulk"))


def fill(url: str, tables: Sequence[Relation]) -> None:
    with psycopg.connect(url, autocommit=True) as base:
        run: Any = base.execute
        run("CREATE SCHEMA dba")
        for table in tables:
            parts = [
                f"{one.name} {KINDS[one.kind][1]}{'' if one.nullable else ' NOT NULL'}"
                for one in table.columns
            ]
            parts += [f"PRIMARY KEY ({', '.join(table.key)})"] if table.key else []
            run(f"CREATE TABLE dba.{table.name} ({', '.join(parts)})")
            for row in table.rows:
                marks = ", ".join(
                    "%s" if one.kind == "VARBINARY" else f"%s::text::{KINDS[one.kind][1]}"
                    for one in table.columns
                )
                run(f"INSERT INTO dba.{table.name} VALUES ({marks})", list(row.values()))


def shown(column: Attribute, value: object) -> object:
    if value is None or column.kind == "VARBINARY":
        return value
    text = str(value)
    if column.kind != "TIMESTAMP":
        return text
    moment, _, fraction = text.partition(".")
    return f"{moment}.{fraction:<06.6}"


def difference(url: str, tables: Sequence[Relation]) -> str | None:
    """What is otherwise in the database, of the first table that differs."""
    with psycopg.connect(url) as base:
        run: Any = base.execute
        asked = "SELECT table_name, column_name FROM information_schema.columns"
        found = Counter(run(f"{asked} WHERE table_schema = 'dba'").fetchall())
        names = Counter((t.name.lower(), one.name.lower()) for t in tables for one in t.shown())
        if found != names:
            return f"lacks {names - found}, has {found - names} beside"
        for table in tables:
            columns = table.shown()
            texts = ", ".join(
                one.name if one.kind == "VARBINARY" else f"{one.name}::text" for one in columns
            )
            have = Counter(
                tuple(map(shown, columns, row))
                for row in run(f"SELECT {texts} FROM dba.{table.name}").fetchall()
            )
            want = Counter(
                tuple(shown(one, row[one.name]) for one in columns) for row in table.rows
            )
            if have != want:
                return f"{table.name} lacks {want - have}, has {have - want} beside"
    return None


@pytest.mark.parametrize("seed", SEEDS)
def test_tables_that_change_all_the_time(
    seed: int, fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pick = random.Random(f"sessions {seed}")
    form = replace(form_of(seed), hidden=False, nothing=False)
    made = Changing(seed, form, 20)
    assert made.acts > 2
    fill(fresh_database, made.before)
    assert difference(fresh_database, made.before) is None
    ends = sorted(pick.sample(range(len(made.stands) - 1), pick.choice((0, 1, 3))))
    stands = [made.stands[at] for at in [*ends, len(made.stands) - 1]]
    starts = [0, *(stand.lines for stand in stands)]
    for (start, end), stand in zip(pairwise(starts), stands, strict=True):
        source = made.write(start, stand, tmp_path / str(end))
        words = [*source, "--engine", "local", "--accept", "type", *pick.choice(WAYS)]
        code = main(["replay", *words, "--to", fresh_database, "--apply"])
        said = capsys.readouterr()
        assert code == 0, said.out + said.err
        assert difference(fresh_database, stand.tables) is None
