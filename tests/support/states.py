"""States of a database held against files, by the database itself: it shares no code with
:mod:`replay.live.verify`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa

from replay.csv_states.state_csv import StateCsv, first_line
from replay.targets import Session, target_of
from replay.targets.states import state_tables
from sqlgen.schema import Column, SqlType

#: How a table is made that has the columns of another one, where not ``AS SELECT``; and how values
#: are compared where there is no EXCEPT ALL.
_LIKE = {"mariadb": "LIKE {}", "mysql": "LIKE {}"}
_COUNTED = {"sqlite": "quote({})", "mariadb": "{}", "mysql": "{}"}


def compare_states(
    url: str, schema: str, folder: Path, overlay: Path | None = None
) -> list[tuple[str, int, int]]:
    """(table, rows too many, rows too few) of the tables of ``schema`` whose rows are not those of
    the state, duplicates counted. Tables of ``overlay`` replace those of ``folder``. TargetError
    (LR4002) when a table or column of the state does not exist."""
    expected = state_tables(folder) | (state_tables(overlay) if overlay is not None else {})
    with closing(target_of(url).connect(url)) as session:
        found = [(name, *_compared(session, schema, name, path)) for name, path in expected.items()]
    return [(f"{schema}.{name}", *counts) for name, *counts in sorted(found) if any(counts)]


def state_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The rows of a state's file, all values text."""
    columns = [Column(name, SqlType.VARCHAR) for name in first_line(path)]
    return StateCsv(path, path.stem, columns, logged=False).batches()


def _compared(session: Session, schema: str, table: str, path: Path) -> tuple[int, int]:
    """How many rows a table has too many, and how many too few."""
    actual, dialect = session.quoted(schema, table), session.dialect
    expected = session.quoted(schema, "expected") if dialect in _LIKE else _temporary(dialect)
    if session.columns(schema, table):
        how = _LIKE.get(dialect, "AS SELECT * FROM {} LIMIT 0").format(actual)
        session.execute(f"CREATE TEMPORARY TABLE {expected} {how}")
    session.load(expected, schema, table, path)
    columns = [session.quoted(name) for name in first_line(path)]
    counts = (
        _only_in(session, actual, expected, columns),
        _only_in(session, expected, actual, columns),
    )
    session.execute(f"DROP TABLE {expected}")
    return counts


def _temporary(dialect: str) -> str:
    return "pg_temp.expected" if dialect == "postgres" else "temp.expected"


def _only_in(session: Session, one: str, other: str, columns: list[str]) -> int:
    """How many rows of a table another one has not."""
    form = _COUNTED.get(session.dialect, "{}")
    mine, theirs = (
        f"SELECT {', '.join(map(form.format, columns))} FROM {table}" for table in (one, other)
    )
    if session.dialect in _COUNTED:
        return (Counter(session.query(mine)) - Counter(session.query(theirs))).total()
    return int(session.query(f"SELECT count(*) FROM ({mine} EXCEPT ALL {theirs}) r")[0][0])
