"""The schema ``logreplay`` of a PostgreSQL, and the rights of a user: whether it is as we make it
(nothing in it acts by itself, and nobody who may not be trusted owns it), what the user lacks to
replay, and whether the server takes changes at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from replay.targets import OwnTable

Query = Callable[..., list[tuple[Any, ...]]]

#: How PostgreSQL calls types of ours.
_SPELLED = {"varchar": "character varying", "timestamp": "timestamp without time zone"}


def strange_owners(query: Query, tables: Mapping[str, OwnTable]) -> list[str]:
    """Who may have our tables act, and may not be trusted."""
    strange = [
        f"{what} belongs to {owner}, who is neither this user, a role of this user"
        f"{', the owner of the database' if not superuser else ''} nor a superuser"
        for what, owner, superuser in query(_OWNERS, (list(tables),))
    ]
    return strange + [
        f"{grantee} may make triggers on logreplay.{name}"
        for name, grantee in query(_TRIGGER_RIGHTS, (list(tables),))
    ]


def spelled(kind: str) -> str:
    """A type of ours as PostgreSQL calls it."""
    name, bracket, rest = kind.partition("(")
    return f"{_SPELLED.get(name, name)}{bracket}{rest}"


#: Relations under our names.
_OURS = """ours AS (SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'logreplay' AND c.relname = ANY(%s))"""
KINDS = f"""WITH {_OURS} SELECT relname, CASE WHEN relkind <> 'r' THEN 'is not a table'
    WHEN relpersistence <> 'p' THEN 'is a table that a crash empties (UNLOGGED)'
    WHEN relispartition THEN 'is a partition' ELSE 'is a table with inheritance' END
FROM ours WHERE relkind <> 'r' OR relpersistence <> 'p' OR relispartition
OR EXISTS (SELECT FROM pg_inherits h WHERE ours.oid IN (h.inhrelid, h.inhparent)) ORDER BY 1"""
ACTING = f"""WITH {_OURS} SELECT relname, 'has ' || a.what FROM (
    SELECT tgrelid AS place, format('the trigger %%I', tgname) AS what FROM pg_trigger
        WHERE NOT tgisinternal
    UNION ALL SELECT ev_class, format('the rule %%I', rulename) FROM pg_rewrite
    UNION ALL SELECT adrelid, 'a column with a default' FROM pg_attrdef
    UNION ALL SELECT polrelid, format('the row-level security policy %%I', polname) FROM pg_policy
    UNION ALL SELECT oid, 'row-level security' FROM pg_class
        WHERE relrowsecurity OR relforcerowsecurity
    UNION ALL SELECT conrelid, format('the constraint %%I', conname) FROM pg_constraint
        WHERE contype NOT IN ('p', 'n')
    UNION ALL SELECT confrelid, format('a foreign key to it, %%I', conname) FROM pg_constraint
        WHERE contype = 'f'
    UNION ALL SELECT indrelid, format('the index %%s', indexrelid::regclass) FROM pg_index
        WHERE NOT indisprimary OR indexprs IS NOT NULL OR indpred IS NOT NULL
    UNION ALL SELECT attrelid, format('a collation of its own for %%I', attname) FROM pg_attribute
        WHERE attnum > 0 AND NOT attisdropped AND attcollation NOT IN (0, 100)
) AS a JOIN ours ON ours.oid = a.place WHERE relkind = 'r' ORDER BY 1, 2"""
COLUMNS = f"""WITH {_OURS} SELECT relname, a.attname,
CASE t.typnamespace WHEN 'pg_catalog'::regnamespace THEN '' ELSE 'foreign ' END
    || format_type(a.atttypid, a.atttypmod)
FROM ours JOIN pg_attribute a ON a.attrelid = ours.oid JOIN pg_type t ON t.oid = a.atttypid
WHERE relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY relname, a.attnum"""
#: Whoever owns a table can have it act later, with the rights of whoever writes to it. A superuser
#: trusts superusers only; others trust who gave them their rights, too.
_OWNERS = f"""WITH {_OURS},
me AS (SELECT oid, rolsuper FROM pg_roles WHERE rolname = current_user)
SELECT o.what, r.rolname, me.rolsuper FROM (
    SELECT 'the schema logreplay' AS what, nspowner AS owner FROM pg_namespace
        WHERE nspname = 'logreplay'
    UNION ALL SELECT format('logreplay.%%I', relname), relowner FROM ours
) AS o JOIN pg_roles r ON r.oid = o.owner CROSS JOIN me
WHERE o.owner <> me.oid AND NOT r.rolsuper AND (me.rolsuper OR NOT (
    pg_has_role(o.owner, 'MEMBER')
    OR o.owner = (SELECT datdba FROM pg_database WHERE datname = current_database())))
ORDER BY 1"""
_TRIGGER_RIGHTS = f"""WITH {_OURS} SELECT relname, CASE a.grantee WHEN 0 THEN 'everybody'
    ELSE pg_get_userbyid(a.grantee)::text END
FROM ours CROSS JOIN LATERAL aclexplode(relacl) AS a
WHERE a.privilege_type = 'TRIGGER' AND a.grantee <> relowner ORDER BY 1, 2"""


# -- what a user lacks
# -------------------------------------------------------------------------------------------------


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
