"""The programs that run scripts on Db2 for z/OS: SPUFI, and the sample programs DSNTEP2, DSNTEP4
and DSNTIAD under IKJEFT01."""

from __future__ import annotations

from dataclasses import replace

from sqlgen.clients import Client

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
CLIENTS = {
    "spufi": _SPUFI_CLIENT,
    "dsntep2": _DSNTEP2,
    "dsntep4": replace(
        _DSNTEP2,
        name="dsntep4",
        command="RUN PROGRAM(DSNTEP4) under DSN, this data set as SYSIN",
    ),
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
}
