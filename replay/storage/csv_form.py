"""How files of states are written; nothing heavy is imported here."""

from __future__ import annotations

from sqlgen.choices import Choices


class CsvForm(Choices):
    """How a state's files are written where it is not found out. ``logreplay``: ``\\N`` is NULL,
    nothing between commas the empty text; all others: nothing is NULL. ``postgres``: bytes as
    ``\\x`` and digits, ``duckdb``: as DuckDB escapes them, ``db2``: no names in the first line."""

    LOGREPLAY = "logreplay"
    POSTGRES = "postgres"
    DUCKDB = "duckdb"
    DB2 = "db2"
