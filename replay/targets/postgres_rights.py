"""What a user lacks on a PostgreSQL to replay into it, and whether the server takes changes at
all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Query = Callable[..., list[tuple[Any, ...]]]


def read_only(query: Query) -> str:
    """Why nothing can be written to this server; empty where something can."""
    if query("SELECT pg_is_in_recovery()")[0][0]:
        return "the server is a standby (it is in recovery) and takes no changes: name its primary"
    if query("SHOW transaction_read_only")[0][0] == "on":
        return "sessions of this user only read (transaction_read_only is on)"
    return ""


def missing_rights(query: Query, schema: str, table: str, empties: bool) -> list[str]:
    """Rights on a table that a user lacks, beside those that its facts name."""
    missing = [f"USAGE on the schema {name}" for (name,) in query(_SCHEMA, (schema,))]
    missing += [
        f"SELECT and UPDATE on the sequence {name}"
        for (name,) in query(_SEQUENCES, (schema, table))
    ]
    if empties:
        missing += ["TRUNCATE" for _ in query(_TRUNCATE, (schema, table))]
    return missing


def missing_for_own(query: Query, missing: Iterable[str]) -> list[str]:
    """Rights on the place for our tables that a user lacks; ``missing`` are those tables that are
    yet to be made."""
    if not query("SELECT 1 FROM pg_namespace WHERE nspname = 'logreplay'"):
        return [f"CREATE on the database {name}" for (name,) in query(_DATABASE)]
    lacking = ["USAGE on the schema logreplay" for _ in query(_SCHEMA, ("logreplay",))]
    if list(missing):
        lacking += ["CREATE on the schema logreplay" for _ in query(_CREATE)]
    return lacking + [f"{right} on logreplay.{name}" for name, right in query(_OWN)]


_SCHEMA = """SELECT nspname FROM pg_namespace
WHERE nspname = %s AND NOT has_schema_privilege(oid, 'USAGE')"""
#: What PostgreSQL moves by itself, or a replay moves behind the highest value.
_SEQUENCES = """SELECT DISTINCT s.oid::regclass::text FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_depend d ON d.refobjid = c.oid AND d.refclassid = 'pg_class'::regclass
    AND d.classid = 'pg_class'::regclass AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i')
JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
WHERE n.nspname = %s AND c.relname = %s
AND NOT (has_sequence_privilege(s.oid, 'UPDATE') AND has_sequence_privilege(s.oid, 'SELECT'))
ORDER BY 1"""
_TRUNCATE = """SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND NOT has_table_privilege(c.oid, 'TRUNCATE')"""
_DATABASE = """SELECT current_database()
WHERE NOT has_database_privilege(current_database(), 'CREATE')"""
_CREATE = """SELECT 1 FROM pg_namespace WHERE nspname = 'logreplay'
AND NOT has_schema_privilege(oid, 'CREATE')"""
_OWN = """SELECT c.relname, p FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS p
WHERE n.nspname = 'logreplay' AND c.relkind = 'r' AND NOT has_table_privilege(c.oid, p)
ORDER BY 1, 2"""
