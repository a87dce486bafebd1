"""Change events as a log family: lines of Debezium, or messages of pgoutput."""

from __future__ import annotations

from replay.logs import FACTS, Capabilities, Family
from replay.logs.events.event_reader import EventReader
from replay.logs.events.opening import open_log
from replay.logs.pgoutput.rows import Pgoutput
from sqlgen.lazy_imports import when_used

with when_used():  # a run that only writes scripts needs none of them
    from replay.logs.events import inspect

_KNOWN = frozenset({"before images", "commit times"})
_UNKNOWN = {
    **{fact: "events do not have it" for fact in FACTS if fact not in _KNOWN},
    "structure": "events hold rows; what became of tables is not read from them",
    "rolled-back work": "the connector sends committed work only",
    "authorization ids": "events do not say who made a change",
    "origins": "events do not say whether a foreign key or a trigger made a change",
}

FAMILY = Family(
    name="events",
    title="log of Debezium's change events",
    dialect="postgres",
    capabilities=Capabilities(_KNOWN, _UNKNOWN),
    needs=("log",),
    takes=("log", "catalog"),
    framings=(),
    decimal_units=True,
    options={
        "identity": (
            "full: each table has REPLICA IDENTITY FULL, so old rows are whole (default: found out"
            " by their rows)"
        ),
        "snapshot": (
            "insert: rows of the connector's snapshot are inserts of one transaction before the log"
            " (default: they are ignored)"
        ),
        "bigint": (
            "signed: no column of MySQL or MariaDB is BIGINT UNSIGNED with a number above 2^63"
            " (default: known from events of structure, or from declared types)"
        ),
        "cascades": (
            "logged: MySQL writes what foreign keys cascade to its binary log, as from 9.6 on"
            " (default: it does not)"
        ),
        "settings": (
            "default: with --catalog, for events without schemas: the connector's settings that say"
            " how values are written are those that it has by default"
        ),
        "replayed": (
            "skip, keep: whether transactions that logreplay's own replay made, which change its"
            " position too, are skipped or taken (default: skipped with a warning; refused"
            " where others worked before them)"
        ),
        "unavailable": (
            "what stands for a value that the connector does not have (its"
            " unavailable.value.placeholder; default: __debezium_unavailable_value)"
        ),
    },
    open=lambda inputs: open_log(inputs, (Pgoutput, EventReader)),
    describe=lambda log: inspect.describe(log),
    dump_record=lambda *record: inspect.dump_record(*record),
    checkup=lambda log: inspect.checkup(log),
)
