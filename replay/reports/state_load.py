"""The rows of a state into the tables of a database."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from replay.errors import TargetError
from replay.leftovers import WorkFolder
from replay.output.bundle import write_file
from replay.output.state_files import TableRows, write_state
from replay.targets import target_of
from sqlgen.constraints import Constraints
from sqlgen.dialects import profile_named
from sqlgen.names import check_collisions, target_name
from sqlgen.schema import Table
from sqlgen.schema_script import schema_script


def load_rows(url: str, tables: Sequence[TableRows]) -> int:
    """Put the rows of a state into the tables of a database; those that are not there are made. The
    number of rows. SqlgenError (LR3005) for tables that become one there, TargetError (LR4002) for
    a table that has rows already, and what the database refuses."""
    target = target_of(url)
    profile = profile_named(target.dialect)
    check_collisions([table_of(table) for table in tables], profile, "lower")
    missing: list[Table] = []
    with closing(target.connect(url)) as session:
        for table in tables:
            schema, name = (target_name(part, profile, "lower") for part in names_of(table))
            if session.facts(schema, name) is None:
                missing.append(table_of(table))
            elif session.count(schema, name):
                raise TargetError(
                    "LR4002",
                    f"found rows in {schema}.{name} of {target.public_url(url)}; expected an empty"
                    " table, or none",
                )
    with WorkFolder() as scratch:
        if missing:
            script = Path(scratch) / "tables.sql"
            text = schema_script(missing, Constraints(), profile, "lower").text
            write_file(script, text)
            target.run_scripts(url, [script])
        rows = 0
        by_owner: dict[str, list[TableRows]] = {}
        for table in tables:
            by_owner.setdefault(target_name(names_of(table)[0], profile, "lower"), []).append(table)
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
