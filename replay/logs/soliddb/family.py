"""solidDB's SYS_LOG as a log family."""

from __future__ import annotations

from replay.logs import FACTS, Capabilities, Family, OrderRules, positions_rise
from replay.logs.soliddb.layouts import FRAMINGS
from replay.logs.soliddb.reader import open_log
from sqlgen.lazy_imports import when_used

with when_used():  # a run that only writes scripts needs none of them
    from replay.logs.soliddb import checkup, inspect

_NAMES = "SYS_LOG names a transaction by its number only"
_ROWS = "SYS_LOG says of a row which table it is of, and nothing of where it lies"
_UNKNOWN = {
    "commit times": (
        "SYS_LOG has no times; a point in time is a LOGADDR (--until-position) or a transaction"
        " (--ur)"
    ),
    "origins": "rows written by triggers and foreign keys look like all others",
    "rolled-back work": "SYS_LOG holds only what was committed",
    "incomplete units": (
        "transactions are in the log whole or, where an export cuts them, known to be cut"
    ),
    "recovery sets": "the log has no recovery points",
    "authorization ids": _NAMES,
    "plans": _NAMES,
    "correlation ids": _NAMES,
    "connections": _NAMES,
    "members": "there is one log",
    "logical units of work": _NAMES,
    "databases": _ROWS,
    "table spaces": _ROWS,
    "table space names": _ROWS,
    "partitions": _ROWS,
    "pages": _ROWS,
    "row identifiers": _ROWS,
}

FAMILY = Family(
    name="soliddb",
    title="solidDB SYS_LOG export",
    dialect="soliddb",
    capabilities=Capabilities(frozenset(FACTS) - set(_UNKNOWN), _UNKNOWN),
    needs=("log", "catalog"),
    takes=("log", "catalog"),
    framings=tuple(FRAMINGS),
    options={
        "columns": "A, B or C: which columns of SYS_COLUMNS row images hold (default: found out)",
        "charset": (
            "of CHAR columns: a name such as latin-1, or a CCSID (default: the manifest's, else"
            " UTF-8)"
        ),
        "capture-off": (
            "what becomes of transactions flagged CAPTURE_OFF: apply, skip-deletes or skip-all"
        ),
        "gaps": "accept: go on where read sessions do not chain and changes may be missing",
        "foreign-keys": (
            "ignore: do without those of the export, which order the rows of a transaction"
        ),
        "catalog": "take the tables of this catalog only",
        "database": (
            "its name, which the log does not hold; tells the logs of several databases apart"
        ),
    },
    open=open_log,
    describe=lambda log: inspect.describe(log),
    dump_record=lambda *record: inspect.dump_record(*record),
    order=OrderRules(rising=positions_rise),
    decimal_units=True,
    checkup=lambda log: checkup.checkup(log),
)
