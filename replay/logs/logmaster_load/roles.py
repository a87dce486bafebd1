"""The informational columns of LOAD files: which of them says what of a change.

Published where we could read it (BMC, additional informational columns in load files): that they
come first in each record, and the names and meanings of the first nine. The names of the others are
ours, which ``export --format load`` writes; ``--log-option ROLE=#NAME`` names those of a site, as
its LOAD control file has them.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Role -> (the column's name, meaning). The first nine names are published.
ROLES: dict[str, tuple[str, str]] = {
    "connection-type": ("#CONNECTION_TYPE", "the kind of connection"),
    "connection": ("#CONNECTION_ID", "the connection"),
    "correlation": ("#CORRELATION_ID", "the correlation id"),
    "authid": ("#AUTH_ID", "the authorization id"),
    "plan": ("#PLAN_NAME", "the plan"),
    "begin": ("#URIDLRSN", "where the unit of recovery begins (LRSN)"),
    "unit": ("#URIDBEGINPOINT", "the unit of recovery (RBA)"),
    "member": ("#URIDMEMBERID", "the data sharing member"),
    "time": ("#URIDTIMESTAMP", "date and time of the unit of recovery"),
    "table": ("#TABLE", "the table, OWNER.NAME: held against the LOAD statement"),
    "commit": ("#COMMITLRSN", "where the unit was committed: units are ordered by it"),
    "position": ("#LOGRBA", "where the change is in the log of its member"),
    "origin": ("#SQLSRCTYPE", "whether a foreign key or a trigger made the change"),
    "action": ("#RECORD_TYPE", "what happened: I, U, D, or a CHANGE TYPE"),
}
#: Without these there is no order, and nothing to do.
NEEDED = ("unit", "commit", "position", "action")
#: What each of the others tells (see :data:`replay.logs.FACTS`).
TELLS: dict[str, str] = {
    "connection": "connections",
    "correlation": "correlation ids",
    "authid": "authorization ids",
    "plan": "plans",
    "member": "members",
    "time": "commit times",
    "origin": "origins",
}


def column_of(role: str, options: Mapping[str, str]) -> str:
    """The informational column of a role: the one that the user named, else the usual one."""
    return options.get(role, ROLES[role][0])
