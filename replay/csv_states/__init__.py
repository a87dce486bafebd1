"""Files of states in CSV: who wrote them, how they are read
(:mod:`replay.csv_states.state_csv`) and what their values mean
(:mod:`replay.csv_states.state_values`). Nothing heavy is imported here."""

from __future__ import annotations

from sqlgen.choices import Choices


class CsvForm(Choices):
    """Who wrote a state's files, where not logreplay. ``postgres``: ``\\N`` without quotes is a
    text, ``duckdb``: bytes as DuckDB escapes them, ``db2``: no names in the first line."""

    POSTGRES = "postgres"
    DUCKDB = "duckdb"
    DB2 = "db2"
