"""What tests ask a database that was replayed into."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg

from tests.support.states import compare_states

#: Positions of the Sakila log: before it, and its first point in time with the units and statements
#: up to there.
START, PIT1 = "0" * 20, "00DECBF4DD6635100000"
AT_PIT1 = (655, 5067)
#: Units and statements of the whole log.
AT_END = (2598, 19549)


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query, or none where a statement gives none."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(query.encode())
        return cursor.fetchall() if cursor.description else []


def position(url: str) -> tuple[Any, ...]:
    """Commit LRSN and unit (hexadecimal), units, statements, rejects."""
    return rows(
        url, "SELECT commit_lrsn, unit, units, statements, rejected FROM logreplay.position"
    )[0]


def same(url: str, sakila: Path, state: str) -> bool:
    """Whether the database is in a state of the Sakila workload."""
    return compare_states(url, "sakila", sakila / state) == []
