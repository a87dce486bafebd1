"""Programs of other databases than Db2 for z/OS."""

from __future__ import annotations

from sqlgen.clients import Client

_CLP = (
    "https://www.ibm.com/support/knowledgecenter/SSEPGG_11.5.0/com.ibm.db2.luw.admin.cmd.doc/doc/"
    "r0010410.html"
)
_SQLPLUS = "https://docs.oracle.com/cd/B19306_01/server.102/b14357"
_WHENEVER = f"{_SQLPLUS}/ch12052.htm"

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
}
