"""Programs of other databases than Db2 for z/OS, and of services."""

from __future__ import annotations

from sqlgen.clients import Client

_CLP = (
    "https://www.ibm.com/support/knowledgecenter/SSEPGG_11.5.0/com.ibm.db2.luw.admin.cmd.doc/doc/"
    "r0010410.html"
)
_SQLPLUS = "https://docs.oracle.com/cd/B19306_01/server.102/b14357"
_WHENEVER = f"{_SQLPLUS}/ch12052.htm"
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
    # -s stops at an error, +c commits nothing by itself. The back-end process keeps the connection,
    # and with it the unit that is open (r0010409): it is rolled back by the second command.
    "clp": Client(
        name="clp",
        dialects=("db2",),
        command="db2 +c -s -td{terminator} -vf FILE || db2 rollback",
        terminator="@",
        bad_terminators=" ,\"()'_",
        longest=2_097_152,
        stops="+c -s, and db2 rollback",
        pages={
            "command": _CLP,
            # ends a statement at the end of a line only
            "terminator": "https://datageek.blog/en/2017/07/13/db2-basics-statement-terminators/",
            "bad_terminators": _CLP,
            "longest": "https://ibm.com/support/knowledgecenter/ja/SSEPGG_11.1.0/"
            "com.ibm.db2.luw.sql.ref.doc/doc/r0001029.html",
            "stops": _CLP,
        },
    ),
    # how it takes a file, what it does at an error, and what it makes of a semicolon in a literal
    # is on no page that could be read
    "solsql": Client(
        name="solsql",
        dialects=("soliddb",),
        command="solsql, which commits nothing by itself and is not known to stop at an error",
        whole_terminator=True,
        pages=dict.fromkeys(
            ("command", "whole_terminator"),
            "https://support.unicomsi.com/manuals/soliddb/7/SQL_Guide/A_SQLStatements.09.014.html",
        ),
    ),
    "psql": Client(
        name="psql",
        dialects=("postgres", "redshift"),
        command="psql -X -f FILE",
        head=(r"\set ON_ERROR_STOP on",),
        stops="ON_ERROR_STOP",
        pages=dict.fromkeys(
            ("command", "head", "stops"),
            "https://postgrespro.com/list/id/4087.1304608809@sss.pgh.pa.us",
        ),
    ),
    "sqlite3": Client(
        name="sqlite3",
        dialects=("sqlite",),
        command="sqlite3 DATABASE < FILE (ATTACH a file for each schema first)",
        longest=1_000_000_000,
        head=(".bail on",),
        stops=".bail on",
        pages={
            **dict.fromkeys(
                ("command", "head", "stops"),
                "https://gist.github.com/Gerst20051/a881ac8f5e47bd570e6f88c9a64f664f",
            ),
            "longest": "https://docs.rs/fsqlite-types/latest/fsqlite_types/limits/"
            "constant.MAX_SQL_LENGTH.html",
        },
    ),
    "sqlplus": Client(
        name="sqlplus",
        dialects=("oracle",),
        command="sqlplus -S USER@DATABASE @FILE",
        # a line of 2,500 characters and more is passed over, and that is no SQL error
        width=2499,
        concat="||",
        # which continues a command on the next line
        no_end="-",
        head=("WHENEVER SQLERROR EXIT FAILURE ROLLBACK", "SET DEFINE OFF"),
        stops="WHENEVER SQLERROR EXIT FAILURE ROLLBACK",
        pages={
            "command": _WHENEVER,
            "width": f"{_SQLPLUS}/apa.htm",
            "concat": "https://docs.oracle.com/database/122/SQLRF/Concatenation-Operator.htm",
            "no_end": "https://docs.oracle.com/database/122/SQPUG/DEFINE.htm",
            "head": "https://www.oreilly.com/library/view/oracle-sql-the/1565926978/"
            "1565926978_ch06-142-fm2xml.html",
            "stops": _WHENEVER,
        },
    ),
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
