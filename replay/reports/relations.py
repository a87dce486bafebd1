"""What a log holds as relations of a database that lives as long as a question: DuckDB, with
queries from the files in ``queries``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa

from replay.errors import UsageError

#: What a database keeps in memory; more goes to the folder of its question.
_MEMORY = "1GB"

#: Rows of a query by the names of its columns.
Lines = list[dict[str, Any]]


@cache
def _text_of(name: str) -> str:
    return files("replay.reports").joinpath("queries", f"{name}.sql").read_text(encoding="utf-8")


class Relations:
    """An empty database whose larger parts lie in ``folder``. Files and the network cannot be
    reached from it. ``warnings``: what is said of the log that is put into it."""

    def __init__(self, folder: Path) -> None:
        import duckdb

        self.warnings: tuple[str, ...] = ()
        self.connection = duckdb.connect(
            ":memory:",
            config={
                "temp_directory": str(folder / "duckdb"),
                "memory_limit": _MEMORY,
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "python_enable_replacements": "false",
            },
        )
        self.connection.execute("SET enable_external_access = false")

    def add(self, name: str, rows: pa.Table) -> None:
        """Append rows to a table, by the names of its columns."""
        self.connection.register("added", rows)
        self.connection.execute(f"INSERT INTO {name} BY NAME SELECT * FROM added")
        self.connection.unregister("added")

    def run(self, name: str) -> None:
        """Carry out the statements of a file of ``queries``."""
        self.connection.execute(_text_of(name))

    def lines(self, name: str, groups: str = "", **values: Any) -> Lines:
        """What a query of ``queries`` gives, a dictionary a row: ``groups`` stand where it has that
        in braces, ``values`` for its parameters."""
        table = self.select(_text_of(name).replace("{groups}", groups), **values)
        return list(table.to_pylist(maps_as_pydicts="strict"))

    def ask(self, name: str) -> pa.Table:
        """What a query of ``queries`` gives."""
        return self.select(_text_of(name))

    def select(self, text: str, **values: Any) -> pa.Table:
        """What a query gives."""
        return self.connection.sql(text, params=values or None).to_arrow_table()

    def one(self, text: str) -> Any:
        """The one value that a query gives."""
        return self.connection.sql(text).fetchall()[0][0]

    def execute(self, text: str) -> None:
        """Carry out some statements. UsageError (LR1001) where DuckDB cannot."""
        with _explained():
            self.connection.execute(text)

    def make(self, name: str, columns: Sequence[str], rows: pa.Table, append: bool = False) -> None:
        """A table of ``columns`` (expressions) of some rows, or more rows of it."""
        self.connection.register("added", rows)
        verb = f"INSERT INTO {name}" if append else f"CREATE TABLE {name} AS"
        self.execute(f"{verb} SELECT {', '.join(columns)} FROM added")
        self.connection.unregister("added")

    def asked(self, query: str) -> pa.Table:
        """The rows of a user's query, which can change no setting. UsageError (LR1001) where it
        cannot be carried out, or is no query."""
        import duckdb

        self.execute("SET lock_configuration = true")
        with _explained():
            kinds = [one.type for one in self.connection.extract_statements(query)]
            if kinds == [duckdb.StatementType.SELECT]:
                return self.select(query)
        raise UsageError("LR1001", "found no query; expected one SELECT")


@contextmanager
def _explained() -> Iterator[None]:
    """Errors of DuckDB as UsageError (LR1001)."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        # the first paragraph: what is wrong, and names that would do
        message = " ".join(str(error).split("\n\n")[0].split()).rstrip(".!")
        raise UsageError(
            "LR1001",
            f"found a query that cannot be carried out: {message}",
            hint="logreplay sql LOG without a query lists relations and columns",
        ) from None


def quoted(name: str) -> str:
    """A name as DuckDB takes it, whatever it is made of."""
    return '"' + name.replace('"', '""') + '"'
