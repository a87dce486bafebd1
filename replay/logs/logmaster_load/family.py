"""Log Master's LOAD files as a log family."""

from __future__ import annotations

from replay.logs import Capabilities, Family
from replay.logs.logmaster_load.control import ROLES, TELLS
from replay.logs.logmaster_load.opening import open_log
from sqlgen.lazy_imports import when_used

with when_used():  # a run that only writes scripts needs none of them
    from replay.logs.logmaster_load import inspect

_NOWHERE = "LOAD files say of a row which table it is of, and nothing of where it lies"
_KNOWN = {"before images", *TELLS.values()}
_UNKNOWN = {
    "structure": "LOAD files hold rows; what became of tables is not in them",
    "rolled-back work": "LOAD files do not say what became of a unit of recovery",
    "incomplete units": "LOAD files do not flag units that lack records",
    "recovery sets": "LOAD files do not say which records come after a recovery point",
    "logical units of work": "LOAD files have no LUWID",
    **dict.fromkeys(
        (
            "databases",
            "table spaces",
            "table space names",
            "partitions",
            "pages",
            "row identifiers",
        ),
        _NOWHERE,
    ),
}

FAMILY = Family(
    name="logmaster-load",
    title="BMC AMI Log Master LOAD file (CSV)",
    dialect="db2zos",
    capabilities=Capabilities(frozenset(_KNOWN), _UNKNOWN),
    needs=("control", "data", "catalog"),
    takes=("control", "data", "catalog"),
    framings=(),
    options={
        **{
            role: f"informational column that says {meaning} (default: {name})"
            for role, (name, meaning) in ROLES.items()
        },
        "ccsid": "of the text in the LOAD files (default: the LOAD statement's, else 1208)",
        "images": "after-before (default) or before-after: which image of an update comes first",
        "dispositions": "committed: the LOGSCAN took committed work only",
    },
    open=open_log,
    describe=lambda log: inspect.describe(log),
    dump_record=lambda *record: inspect.dump_record(*record),
    checkup=lambda log: inspect.checkup(log),
)
