"""The programs of MariaDB, MySQL, DuckDB, Spark and Trino, and of services: bq, snowsql, sqlcmd."""

from __future__ import annotations

from sqlgen.clients import Client

_MARIADB = "https://mariadb.com/kb/en/mariadb-command-line-client/"
_MYSQL = "https://man.docs.euro-linux.com/EL%207/mariadb/mysql.1.en.html"
_DUCKDB = "https://duckdb.org/docs/current/clients/cli/dot_commands"
_SPARK = "https://spark.apache.org/docs/latest/sql-distributed-sql-engine-spark-sql-cli.html"
_TRINO = "https://trino.io/docs/current/client/cli.html"
_SNOWSQL = "https://docs.snowflake.com/user-guide/snowsql-config"
_SQLCMD = "https://gist.github.com/jetstreamin/00444ca93b5e36c4ff50"
_BATCH = "in a batch it ends at the first error, without --force"


def _of_mysql(name: str, page: str) -> Client:
    """What a backslash, ``delimiter`` and X'00' mean to it is switched off by --binary-mode."""
    options = "--binary-mode --default-character-set=utf8mb4"
    return Client(
        name=name,
        dialects=(name,),
        command=f"{name} {options} < FILE",
        # max_allowed_packet, as server and client have it
        longest=16 * 2**20,
        stops=_BATCH,
        pages=dict.fromkeys(("command", "longest", "stops"), page),
    )


CLIENTS = {
    "mariadb": _of_mysql("mariadb", _MARIADB),
    "mysql": _of_mysql("mysql", _MYSQL),
    "duckdb": Client(
        name="duckdb",
        dialects=("duckdb",),
        command="duckdb DATABASE < FILE",
        head=(".bail on",),
        stops=".bail on",
        pages=dict.fromkeys(("command", "head", "stops"), _DUCKDB),
    ),
    "sqlcmd": Client(
        name="sqlcmd",
        dialects=("tsql",),
        command="sqlcmd -b -x -I -f 65001 -i FILE",
        stops="-b, and SET XACT_ABORT ON in the script",
        pages=dict.fromkeys(("command", "stops"), _SQLCMD),
    ),
    "snowsql": Client(
        name="snowsql",
        dialects=("snowflake",),
        command="snowsql -o exit_on_error=true -o variable_substitution=false -f FILE",
        # the transaction of a session that went is detached: it is rolled back when another one has
        # waited for it for five minutes (https://github.com/airbytehq/airbyte/pull/29903)
        stops="exit_on_error",
        pages=dict.fromkeys(("command", "stops"), _SNOWSQL),
    ),
    "bq": Client(
        name="bq",
        dialects=("bigquery",),
        command="bq query --use_legacy_sql=false < FILE",
        longest_script=1024 * 1000,
        stops="a script is one query, and its transaction goes with it",
        pages={
            "command": "https://cloud.google.com/bigquery/docs/reference/bq-cli-reference",
            "longest_script": "https://www.github.com/elementary-data/dbt-data-reliability/issues/675",
            "stops": "https://cloud.google.com/bigquery/docs/transactions",
        },
    ),
    # nothing is rolled back: each statement is a transaction
    "spark-sql": Client(
        name="spark-sql",
        dialects=("spark",),
        command="spark-sql -f FILE",
        stops="it ends at the first error",
        pages=dict.fromkeys(("command", "stops"), _SPARK),
    ),
    "trino": Client(
        name="trino",
        dialects=("trino",),
        command="trino --file FILE",
        stops="it ends at the first error, without --ignore-errors",
        pages=dict.fromkeys(("command", "stops"), _TRINO),
    ),
}
