"""The rows of a state into the tables of a database."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from replay.errors import TargetError
from replay.output.state_files import TableRows, write_state
from replay.redaction import public
from replay.targets import Target, target_of
from replay.temp_folders import WorkFolder
from sqlgen.ddl import create_table
from sqlgen.dialects import Profile, profile_named
from sqlgen.names import check_collisions, target_name
from sqlgen.schema import Table

#: A database that is a file, and what is kept beside it while it is written to: left behind, that
#: would be taken for the next one's of this name.
_BESIDE = ("", "-journal", "-wal", "-shm", ".wal")


def load_rows(url: str, tables: Sequence[TableRows]) -> int:
    """Put the rows of a state into the tables of a database; those that are not there are made, and
    so is a database that is a file. The number of rows. SqlgenError (LR3005) for tables that become
    one there, TargetError (LR4002) for a table that has rows already, and what the database
    refuses."""
    target = target_of(url)
    profile = profile_named(target.dialect)
    check_collisions([table_of(table) for table in tables], profile, "lower")
    made = target.make(url)
    try:
        return _load(target, url, tables, profile)
    except BaseException:
        for end in _BESIDE if made is not None else ():
            Path(f"{made}{end}").unlink(missing_ok=True)
        raise


def _load(target: Target, url: str, tables: Sequence[TableRows], profile: Profile) -> int:
    missing: list[tuple[str, str]] = []
    with closing(target.connect(url)) as session:
        for table in tables:
            schema, name = (target_name(part, profile, "lower") for part in names_of(table))
            if session.facts(schema, name) is None:
                missing.append((schema, create_table(table_of(table), profile)))
            elif session.count(schema, name):
                raise TargetError(
                    "LR4002",
                    f"found rows in {schema}.{name} of {public(url)}; expected an empty"
                    " table, or none",
                )
        for schema in dict.fromkeys(schema for schema, _ in missing):
            session.make_schema(schema)
        for _, statement in missing:
            session.execute(statement.replace("%", "%%"))
    rows = 0
    by_owner: dict[str, list[TableRows]] = {}
    for table in tables:
        by_owner.setdefault(target_name(names_of(table)[0], profile, "lower"), []).append(table)
    with WorkFolder() as scratch:
        for number, (schema, mine) in enumerate(by_owner.items()):
            folder = Path(scratch) / str(number)
            write_state(mine, folder, "csv", {})
            rows += target.load_state(url, schema, folder)
    return rows


def names_of(table: TableRows) -> tuple[str, str]:
    """Owner and name of a table in the log."""
    return table.dataset.table.schema, table.dataset.table.name


def table_of(table: TableRows) -> Table:
    """The table that rows are of, with the columns that they have."""
    return replace(table.dataset.table, columns=table.dataset.columns)
