"""Programs that run scripts, as data: what a :class:`Client` can read, and how it is run. Each fact
has the page that states it; what no page states is not relied on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from sqlgen.errors import SqlgenError, did_you_mean


@dataclass(frozen=True)
class Client:
    """One program.

    * ``dialects``: those whose scripts it runs. ``command``: how it is run, with ``{terminator}``.
    * ``width``: how much of a line it reads (bytes of its encoding; 0: any line), and ``record``
      the length of its records, where these have no line end (0: lines). ``concat``: what joins the
      pieces of a literal that is longer than a line, ``no_end`` what no line may end with.
    * ``unicode``: what stands before a literal of UTF-16 in hexadecimal digits, which says
      characters that the encoding lacks ('': it refuses them).
    * ``terminator`` of statements, and ``set_terminator``, the line that changes it, where there is
      one: then a statement that has the terminator in it gets another one, out of ``terminators``.
      ``whole_terminator``: where there is none, a statement may not have the terminator in it.
      ``bad_terminators``: what none can be.
    * ``longest``: how many bytes a statement has at most, ``longest_script`` a script (0: no page
      says that there is a limit). How long a literal may be, the dialect says.
    * ``head``: its own words before the first statement.
    * ``selects``: it runs queries. ``stops``: what makes it stop at the first error and roll the
      unit back ('': no page says that it does, so checks count for nothing).
    * ``ebcdic``: it reads EBCDIC. ``in_jobs``: it is run by a job (JCL), with ``parameters``.
    * ``pages``: the page that states a fact, by the field that has it.
    """

    name: str
    dialects: tuple[str, ...]
    command: str
    width: int = 0
    record: int = 0
    concat: str = ""
    no_end: str = ""
    unicode: str = ""
    terminator: str = ";"
    set_terminator: str = ""
    terminators: str = ""
    whole_terminator: bool = False
    bad_terminators: str = ""
    longest: int = 0
    longest_script: int = 0
    head: tuple[str, ...] = ()
    selects: bool = True
    stops: str = ""
    ebcdic: bool = False
    in_jobs: bool = False
    parameters: str = ""
    pages: Mapping[str, str] = field(default_factory=dict)

    @property
    def reads_all(self) -> bool:
        """Whether it reads a script of plain SQL as it is."""
        plain = self.terminator == ";" and not (self.set_terminator or self.whole_terminator)
        return plain and not (self.width or self.record)

    def facts(self) -> dict[str, object]:
        """What differs from the usual, by field: each has its page."""
        plain = {"name", "dialects", "pages"}
        return {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name not in plain and getattr(self, one.name) != one.default
        }


# -- Db2 for z/OS: SPUFI, and the sample programs DSNTEP2, DSNTEP4 and DSNTIAD under IKJEFT01
# -------------------------------------------------------------------------------------------------

_DOCS = "https://www.ibm.com/docs"
#: Which columns are read: 1 to 71 of records of 79 bytes, 1 to 72 of records of 80 bytes. Column 72
#: is left blank, so nothing hangs on whether a blank is put between two records.
_COLUMNS = f"{_DOCS}/en/db2-for-zos/12.0.0?topic=messages-dsne601i"
#: Vertical bars have other codes in other code pages.
_CONCAT = f"{_DOCS}/SSEPEK_12.0.0/sqlref/src/tpc/db2z_withconcatoperator.html"
#: ``--#SET TERMINATOR character``, a character that is not used within the statement.
_TERMINATOR = f"{_DOCS}/en/SSEPEK_12.0.0/apsg/src/tpc/db2z_setsqlterminator.html"
#: ``UX`` and the UTF-16 of a text, which only a Unicode table holds.
_UNICODE = f"{_DOCS}/SSEPEK_13.0.0/sqlref/src/tpc/db2z_graphicstringconstants.html"
_SPUFI = f"{_DOCS}/en/db2-for-zos/13?topic=zos-executing-sql-by-using-spufi"
_DSNTEP = f"{_DOCS}/SSEPEK_12.0.0/appdevsamp/src/tpc/db2z_dsntep24.html"
_DSNTIAD = f"{_DOCS}/en/db2-for-zos/13.0.0?topic=programs-dsntiad-sample-program"
_LIMITS = f"{_DOCS}/ja/SSEPEK_12.0.0/sqlref/src/tpc/db2z_limits.html"
_PREPARED = f"{_DOCS}/SSEPEK_12.0.0/comref/src/tpc/db2z_cmd_run.html"

_SPUFI_CLIENT = Client(
    name="spufi",
    dialects=("db2zos",),
    command="SPUFI with AUTOCOMMIT NO, then COMMIT or ROLLBACK",
    width=71,
    record=80,
    concat="CONCAT",
    unicode="UX",
    set_terminator="--#SET TERMINATOR {}",
    # the same in every EBCDIC code page
    terminators=";%?&:+/*",
    bad_terminators=" ,\"()'_",
    longest=2_097_152,
    ebcdic=True,
    pages={
        "longest": _LIMITS,
        "command": _SPUFI,
        "width": _COLUMNS,
        "record": _COLUMNS,
        "concat": _CONCAT,
        "unicode": _UNICODE,
        "set_terminator": _TERMINATOR,
        "terminators": _TERMINATOR,
        "bad_terminators": _TERMINATOR,
        "ebcdic": _SPUFI,
    },
)
#: What DSNTEP2 does at the end of its input and after an error was on no page that could be read:
#: its output has to be looked at, and checks count for nothing.
_DSNTEP2 = replace(
    _SPUFI_CLIENT,
    name="dsntep2",
    command="RUN PROGRAM(DSNTEP2) under DSN, this data set as SYSIN",
    in_jobs=True,
    pages={
        **_SPUFI_CLIENT.pages,
        "command": _DSNTEP,
        "in_jobs": _PREPARED,
        "set_terminator": _DSNTEP,
    },
)

# -- other databases, and services
# -------------------------------------------------------------------------------------------------

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


#: The clients by name.
CLIENTS: dict[str, Client] = {
    "dsntep2": _DSNTEP2,
    "dsntep4": replace(
        _DSNTEP2,
        name="dsntep4",
        command="RUN PROGRAM(DSNTEP4) under DSN, this data set as SYSIN",
    ),
    "spufi": _SPUFI_CLIENT,
    "dsntiad": replace(
        _DSNTEP2,
        name="dsntiad",
        command="RUN PROGRAM(DSNTIAD) under DSN, this data set as SYSIN",
        set_terminator="",
        terminators="",
        whole_terminator=True,
        selects=False,
        parameters="SQLTERM({terminator})",
        pages={
            **_DSNTEP2.pages,
            "command": _DSNTIAD,
            "bad_terminators": _DSNTIAD,
            "whole_terminator": _DSNTIAD,
            "selects": _DSNTIAD,
            "parameters": _DSNTIAD,
        },
    ),
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


def client_named(name: str) -> Client:
    """The client of a name. SqlgenError (LR1001) for a name that none has."""
    if name not in CLIENTS:
        known = f"{', '.join(CLIENTS)}{did_you_mean(name, CLIENTS)}"
        raise SqlgenError("LR1001", f"found client {name!r}; expected one of: {known}")
    return CLIENTS[name]
