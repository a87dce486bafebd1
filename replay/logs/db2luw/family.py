"""Logs of Db2 for Linux, UNIX and Windows as a log family."""

from __future__ import annotations

from replay.logs import FACTS, Capabilities, Family, OrderRules, positions_rise
from replay.logs.db2luw.layouts import FRAMINGS
from replay.logs.db2luw.reader import open_log
from sqlgen.lazy_imports import when_used

with when_used():  # a run that only writes scripts needs none of them
    from replay.logs.db2luw import checkup, inspect

_UNKNOWN = {
    "origins": (
        "no record says where a change came from; those of triggers and foreign keys look like all"
        " others"
    ),
    "incomplete units": (
        "units that begin before the log are found and quarantined; where units that depend on them"
        " begin is not in the log"
    ),
    "recovery sets": "the log has no recovery points",
    "plans": "records name a transaction and, at its end, an authorization id",
    "correlation ids": "records name a transaction and, at its end, an authorization id",
    "connections": "records name a transaction and, at its end, an authorization id",
    "logical units of work": "records name a transaction by its number only (--ur)",
    "databases": "a log is of one database, which it does not name",
    "table space names": "records hold the id of the table space, a number",
    "partitions": "records name the table space and object of a partition, not its number",
    "pages": (
        "which part of a RID is the page is not published for all releases; whole ones are"
        " compared (--rid)"
    ),
}

FAMILY = Family(
    name="db2luw",
    title="log of Db2 for Linux, UNIX and Windows",
    dialect="db2",
    capabilities=Capabilities(frozenset(FACTS) - set(_UNKNOWN), _UNKNOWN),
    needs=("log",),
    takes=("log", "catalog"),
    framings=tuple(FRAMINGS),
    options={
        "byte-order": "big or little: that of the server (default: found out)",
        "dialect": "v7, v95, v97 or v10 (default: found out; v95 must be named)",
        "codepage": "of the database, where the catalog export does not say (default utf-8)",
        "database": (
            "its name, which the log does not hold; tells the logs of several databases apart"
        ),
        "headless": (
            "set-aside (default) or apply: units that begin before the log, or have records that"
            " lie between its files"
        ),
        "partitions": "export of SYSCAT.DATAPARTITIONS, for range-partitioned tables",
    },
    open=open_log,
    describe=lambda log: inspect.describe(log),
    dump_record=lambda *record: inspect.dump_record(*record),
    order=OrderRules(rising=positions_rise),
    checkup=lambda log: checkup.checkup(log),
)
