"""What a PostgreSQL tells about a table: its columns and what they hold, its keys, and what acts by
itself, on the table, its partitions and its inheritance children. Each kind of hazard is a query;
all that is told of a table is asked for at once, for a target may be far away.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from replay.targets import TableFacts, TargetForeignKey
from replay.targets.hazards import Hazard, HazardKind, Under
from sqlgen.type_capacity import Holding, ValueKind, holding_of

Query = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
#: The schema and the name of a table.
Place = tuple[str, str]
#: What a query answers, as JSON.
Rows = list[list[Any]]


def table_facts(query: Query, places: Sequence[Place]) -> dict[Place, TableFacts | None]:
    """The facts of tables by schema and name, None where there is none of that name. ``query`` asks
    the database: once, for to plan this takes longer than to answer it for a table."""
    found = query(_ALL, ([schema for schema, _ in places], [table for _, table in places]))
    return dict.fromkeys(places) | {(row[0], row[1]): _facts(*row[2:]) for row in found}


def _facts(
    kind: str,
    columns: Rows,
    told: Rows,
    keys: Rows,
    privileges: Rows,
    foreign_keys: Rows,
    movable: Rows,
    calls: Rows,
    encodings: Rows,
) -> TableFacts:
    hazards = [
        Hazard(HazardKind(code), what, column or "", Under(under))
        for code, column, what, under in told
    ]
    if kind in _OTHER_KINDS:
        hazards.append(Hazard(HazardKind.NO_TABLE, _OTHER_KINDS[kind]))
    encoding = encodings[0][0]
    return TableFacts(
        tuple(name for name, *_ in columns),
        tuple(name for name, generated, *_ in columns if generated),
        tuple(name for name, _, identity, *_ in columns if identity == "a"),
        tuple(tuple(names) for (names,) in keys),
        tuple(name for name, has in privileges if not has),
        tuple(kind for _, _, _, kind, _, _ in columns),
        tuple(_holding(base, declared, encoding) for *_, base, declared in columns),
        tuple(hazards),
        tuple(_foreign_key(*row) for row in foreign_keys),
        bool(movable[0][0]),
        bool(calls[0][0]),
    )


def _foreign_key(
    schema: str, table: str, columns: list[str], of_schema: str, of: str, referred: list[str]
) -> TargetForeignKey:
    return TargetForeignKey((schema, table), tuple(columns), (of_schema, of), tuple(referred))


def _holding(base: str, declared: str, encoding: str) -> Holding:
    holding = replace(holding_of(base, "postgres"), declared=declared)
    return replace(holding, codec=_codec(encoding)) if holding.kind is ValueKind.TEXT else holding


def _codec(encoding: str) -> str:
    """Python's name of a database's encoding, '' where it has all characters (or checks none)."""
    if encoding in ("UTF8", "SQL_ASCII"):
        return ""
    try:
        return codecs.lookup(_ENCODINGS.get(encoding, encoding.replace("WIN", "cp"))).name
    except LookupError:
        return ""


_ENCODINGS = {
    "LATIN6": "iso8859-10",
    "LATIN7": "iso8859-13",
    "LATIN8": "iso8859-14",
    "LATIN9": "iso8859-15",
    "LATIN10": "iso8859-16",
    "KOI8R": "koi8-r",
    "KOI8U": "koi8-u",
}
#: What has columns and is no table.
_OTHER_KINDS = {"v": "a view", "m": "a materialized view", "f": "a foreign table"}
#: (name, generated, identity, type without length, base type of a domain, type in full)
_COLUMNS = """WITH RECURSIVE base (attnum, type, size) AS (
    SELECT attnum, atttypid, atttypmod FROM pg_catalog.pg_attribute
    WHERE attrelid = asked.oid AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT b.attnum, t.typbasetype, t.typtypmod FROM base b
    JOIN pg_catalog.pg_type t ON t.oid = b.type WHERE t.typtype = 'd'),
own AS (SELECT b.*, t.typname, t.typtype FROM base b
    JOIN pg_catalog.pg_type t ON t.oid = b.type WHERE t.typtype <> 'd')
SELECT a.attname, a.attgenerated <> '', a.attidentity::text,
    pg_catalog.format_type(a.atttypid, -1),
    CASE WHEN o.typtype = 'e' THEN 'enum' WHEN o.typname = 'citext' THEN 'citext'
        ELSE pg_catalog.format_type(o.type, o.size) END,
    pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_attribute a JOIN own o ON o.attnum = a.attnum
WHERE a.attrelid = asked.oid ORDER BY a.attnum"""
#: An invalid index, one whose making beside other work failed, may hold equal keys.
_KEYS = """SELECT array_agg(a.attname::text ORDER BY k.place) FROM pg_catalog.pg_index i
CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = asked.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
AND i.indexprs IS NULL AND k.place <= i.indnkeyatts
GROUP BY i.indexrelid ORDER BY min(i.indexrelid)"""
#: Of either side: (schema, table, columns) of the child and of the parent.
_FOREIGN_KEYS = """SELECT n.nspname::text, c.relname::text,
    (SELECT array_agg(a.attname::text ORDER BY u.place) FROM unnest(k.conkey) WITH ORDINALITY
        AS u (attnum, place) JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid
        AND a.attnum = u.attnum),
    m.nspname::text, p.relname::text,
    (SELECT array_agg(a.attname::text ORDER BY u.place) FROM unnest(k.confkey) WITH ORDINALITY
        AS u (attnum, place) JOIN pg_catalog.pg_attribute a ON a.attrelid = k.confrelid
        AND a.attnum = u.attnum)
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class p ON p.oid = k.confrelid
JOIN pg_catalog.pg_namespace m ON m.oid = p.relnamespace
WHERE k.contype = 'f' AND asked.oid IN (k.conrelid, k.confrelid) ORDER BY k.conname, k.oid"""
#: First oid of what is not PostgreSQL's own.
_FIRST_OID = 16384
#: A table that is neither parent, partition nor child of another, without triggers, rules,
#: policies and domains, whose foreign keys compare as its columns do, and each of whose unique
#: indexes is valid, over whole columns, compares as they do and takes nulls for different.
_MOVABLE = f"""SELECT c.relkind = 'r' AND NOT c.relispartition AND NOT c.relhasrules
    AND NOT c.relrowsecurity
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE c.oid IN (h.inhrelid, h.inhparent))
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid
        AND NOT t.tgisinternal AND t.tgenabled <> 'D')
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t
        ON t.oid = a.atttypid WHERE a.attrelid = c.oid AND a.attnum > 0 AND t.typtype = 'd')
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid
        AND (i.indisexclusion OR (i.indisunique AND (i.indpred IS NOT NULL
        OR i.indexprs IS NOT NULL OR NOT i.indisvalid
        OR {_FIRST_OID} <= ANY (i.indclass::oid[])
        OR EXISTS (SELECT FROM pg_catalog.pg_collation l
            WHERE l.oid = ANY (i.indcollation::oid[]) AND NOT l.collisdeterministic)
        OR coalesce(to_jsonb(i)->>'indnullsnotdistinct' = 'true', false)))))
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.contype = 'f'
        AND c.oid IN (k.conrelid, k.confrelid) AND ({_FIRST_OID} <= ANY (k.conpfeqop)
        OR EXISTS (SELECT FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_collation l
            ON l.oid = a.attcollation WHERE a.attrelid = k.confrelid
            AND a.attnum = ANY (k.confkey) AND NOT l.collisdeterministic)))
FROM pg_catalog.pg_class c WHERE c.oid = asked.oid"""
#: Whether a check, a domain's check, a default or a computed column of a table, its partitions and
#: inheritance children calls a function or an operator that somebody made, not an extension's; or
#: whether a function is called wherever a staging table is made.
_CALLS = """WITH RECURSIVE tree AS (SELECT asked.oid AS oid
    UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree ON i.inhparent = tree.oid),
domain AS (SELECT a.atttypid AS oid FROM tree
    JOIN pg_catalog.pg_attribute a ON a.attrelid = tree.oid
    UNION SELECT t.typbasetype FROM domain JOIN pg_catalog.pg_type t ON t.oid = domain.oid
        AND t.typtype = 'd'),
expression AS (SELECT 'pg_catalog.pg_constraint'::regclass AS classid, k.oid
    FROM pg_catalog.pg_constraint k WHERE k.contype = 'c'
    AND (k.conrelid IN (SELECT oid FROM tree) OR k.contypid IN (SELECT oid FROM domain))
    UNION ALL SELECT 'pg_catalog.pg_attrdef'::regclass, e.oid FROM pg_catalog.pg_attrdef e
    JOIN tree ON e.adrelid = tree.oid)
SELECT EXISTS (SELECT FROM expression JOIN pg_catalog.pg_depend d
    ON d.classid = expression.classid AND d.objid = expression.oid
    WHERE d.refclassid IN ('pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_operator'::regclass)
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend x WHERE x.classid = d.refclassid
        AND x.objid = d.refobjid AND x.deptype = 'e'))
    OR EXISTS (SELECT FROM pg_catalog.pg_event_trigger v WHERE v.evtenabled <> 'D'
        AND v.evtevent LIKE 'ddl_command_%%'
        AND (v.evttags IS NULL OR 'CREATE TABLE' = ANY (v.evttags)))"""
_PRIVILEGES = """SELECT p, pg_catalog.has_table_privilege(asked.oid, p)
FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS p"""

#: Which ``--enforcement`` a trigger or a rule acts under.
_UNDER = "CASE {0} WHEN 'O' THEN 'on' WHEN 'R' THEN 'off' ELSE 'both' END"
_ACTION = """CASE {0} WHEN 'c' THEN '{1} CASCADE' WHEN 'n' THEN '{1} SET NULL'
    WHEN 'd' THEN '{1} SET DEFAULT' END"""
#: The type of a column ``a`` and, of a domain, those that it is made of.
_TYPES = """(WITH RECURSIVE made (type) AS (SELECT a.atttypid UNION ALL SELECT d.typbasetype
    FROM made JOIN pg_catalog.pg_type d ON d.oid = made.type WHERE d.typtype = 'd')
    SELECT o.typname, o.typnotnull FROM made JOIN pg_catalog.pg_type o ON o.oid = made.type)"""
#: Kind of hazard -> (column, words, enforcement). ``tree`` is the table with its partitions and
#: inheritance children, ``root`` the table itself. What a partition has from its parent is told
#: once.
_QUERIES: dict[HazardKind, str] = {
    # Statement-level triggers of children do not fire for a statement on the parent.
    HazardKind.TRIGGER: f"""SELECT NULL, t.tgname || CASE WHEN t.tgrelid = root.oid THEN ''
        ELSE ' on ' || t.tgrelid::regclass END, {_UNDER.format("t.tgenabled")}
    FROM root, pg_catalog.pg_trigger t WHERE t.tgrelid IN (SELECT oid FROM tree)
    AND NOT t.tgisinternal AND t.tgenabled <> 'D'
    AND (t.tgrelid = root.oid OR t.tgtype & 1 = 1)
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger p WHERE p.oid = t.tgparentid
        AND p.tgenabled = t.tgenabled AND p.tgrelid IN (SELECT oid FROM tree))""",
    HazardKind.FOREIGN_KEY_ACTION: f"""SELECT NULL, format('%%s of %%s (%%s)', k.conname,
        k.conrelid::regclass, concat_ws(', ', {_ACTION.format("k.confdeltype", "ON DELETE")},
        {_ACTION.format("k.confupdtype", "ON UPDATE")})),
        CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgconstraint = k.oid
            AND g.tgenabled IN ('A', 'R')) THEN 'both' ELSE 'on' END
    FROM pg_catalog.pg_constraint k WHERE k.contype = 'f'
    AND (k.conrelid IN (SELECT oid FROM tree) OR k.confrelid IN (SELECT oid FROM tree))
    AND (k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd'))
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint p WHERE p.oid = k.conparentid
        AND (p.conrelid IN (SELECT oid FROM tree) OR p.confrelid IN (SELECT oid FROM tree)))""",
    HazardKind.RULE: f"""SELECT NULL, r.rulename, {_UNDER.format("r.ev_enabled")}
    FROM root, pg_catalog.pg_rewrite r WHERE r.ev_class = root.oid
    AND r.ev_type IN ('2', '3', '4') AND r.ev_enabled <> 'D'""",
    HazardKind.ROW_SECURITY: """SELECT NULL, coalesce((SELECT string_agg(polname, ', ')
        FROM pg_catalog.pg_policy WHERE polrelid = root.oid), 'no policy, so no row is seen'),
        'both' FROM root WHERE pg_catalog.row_security_active(root.oid)""",
    HazardKind.GENERATED: """SELECT a.attname, 'an expression', 'both'
    FROM root, pg_catalog.pg_attribute a WHERE a.attrelid = root.oid AND a.attgenerated <> ''
    AND NOT a.attisdropped""",
    # What a row is given comes from the root, whatever partition it goes to.
    HazardKind.REQUIRED: f"""SELECT a.attname, 'NOT NULL', 'both'
    FROM root JOIN pg_catalog.pg_attribute a ON a.attrelid = root.oid
    JOIN pg_catalog.pg_type y ON y.oid = a.atttypid
    WHERE a.attnum > 0 AND NOT a.attisdropped AND NOT a.atthasdef AND a.attidentity = ''
    AND y.typdefault IS NULL
    AND ((y.typtype = 'd' AND EXISTS (SELECT FROM {_TYPES} u WHERE u.typnotnull))
        OR EXISTS (SELECT FROM tree WHERE (tree.oid = root.oid
        OR (SELECT p.relispartition FROM pg_catalog.pg_class p WHERE p.oid = tree.oid))
        AND (SELECT b.attnotnull FROM pg_catalog.pg_attribute b
            WHERE b.attrelid = tree.oid AND b.attname = a.attname)))""",
    HazardKind.COMPARISON: f"""SELECT a.attname, CASE WHEN l.collisdeterministic THEN 'citext'
        ELSE 'collation ' || l.collname END, 'both'
    FROM root, pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
    WHERE a.attrelid = root.oid AND a.attnum > 0 AND NOT a.attisdropped
    AND (NOT l.collisdeterministic
        OR EXISTS (SELECT FROM {_TYPES} u WHERE u.typname = 'citext'))""",
    HazardKind.EXCLUSION: """SELECT NULL, x.relname, 'both' FROM pg_catalog.pg_index i
    JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
    WHERE i.indrelid IN (SELECT oid FROM tree) AND i.indisexclusion
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits h
        JOIN pg_catalog.pg_index p ON p.indexrelid = h.inhparent
        WHERE h.inhrelid = i.indexrelid AND p.indrelid IN (SELECT oid FROM tree))""",
    # A unique index is of one table, and statements on the root find the rows of all.
    HazardKind.INHERITED: """SELECT NULL, c.oid::regclass::text, 'both'
    FROM root, pg_catalog.pg_class c
    WHERE c.oid IN (SELECT oid FROM tree) AND c.oid <> root.oid AND NOT c.relispartition
    AND EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = root.oid AND i.indisunique)""",
    HazardKind.UNLOGGED: """SELECT NULL, c.oid::regclass || ' is UNLOGGED', 'both'
    FROM pg_catalog.pg_class c WHERE c.oid IN (SELECT oid FROM tree)
    AND c.relpersistence = 'u' AND c.relkind = 'r'""",
    # A publication lists the root of a tree of partitions, or each of them; what counts is the
    # identity of the table that holds a row.
    HazardKind.PUBLISHED: """SELECT NULL, c.oid::regclass || ' in '
        || string_agg(p.pubname, ', ' ORDER BY p.pubname), 'both'
    FROM pg_catalog.pg_class c CROSS JOIN pg_catalog.pg_publication p
    WHERE c.oid IN (SELECT oid FROM tree) AND c.relkind = 'r' AND c.relreplident <> 'f'
    AND pg_catalog.pg_get_replica_identity_index(c.oid) IS NULL AND (p.pubupdate OR p.pubdelete)
    AND EXISTS (SELECT FROM pg_catalog.pg_publication_tables l
        JOIN pg_catalog.pg_namespace n ON n.nspname = l.schemaname
        JOIN pg_catalog.pg_class o ON o.relnamespace = n.oid AND o.relname = l.tablename
        WHERE l.pubname = p.pubname AND (o.oid = c.oid
        OR o.oid IN (SELECT relid FROM pg_catalog.pg_partition_ancestors(c.oid))))
    GROUP BY c.oid""",
    HazardKind.NO_TRANSACTION: """SELECT NULL, c.oid::regclass || ' is a foreign table', 'both'
    FROM root, pg_catalog.pg_class c WHERE c.oid IN (SELECT oid FROM tree)
    AND c.relkind = 'f' AND c.oid <> root.oid""",
}
_PARTS = " UNION ALL ".join(
    f"SELECT '{kind}' AS kind, q.* FROM ({query}) AS q (on_column, what, enforcement)"
    for kind, query in _QUERIES.items()
)
_HAZARDS = f"""WITH RECURSIVE root AS (SELECT asked.oid AS oid), tree AS (SELECT oid FROM root
    UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree ON i.inhparent = tree.oid)
SELECT kind, on_column::text, what::text, enforcement FROM ({_PARTS}) AS hazards ORDER BY 1, 2, 3"""
_ENCODING = "SELECT pg_catalog.current_setting('server_encoding')"


def _as_one(*parts: tuple[str, int]) -> str:
    """One query for the rows of several queries of the table ``asked.oid``, each with the number of
    its columns: schema, name and kind of each table asked for, and lists of rows as JSON."""
    lists = []
    for text, count in parts:
        names = ", ".join(f"c{number}" for number in range(count))
        lists.append(
            f"(SELECT coalesce(json_agg(json_build_array({names})), '[]')"
            f" FROM ({text}) AS q ({names}))"
        )
    return f"""SELECT space.nspname::text, asked.relname::text, asked.relkind::text,
    {", ".join(lists)} FROM pg_catalog.pg_class asked
    JOIN pg_catalog.pg_namespace space ON space.oid = asked.relnamespace
    WHERE (space.nspname, asked.relname) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
    AND asked.relkind IN ('r', 'p', 'v', 'm', 'f')"""


_ALL = _as_one(
    (_COLUMNS, 6),
    (_HAZARDS, 4),
    (_KEYS, 1),
    (_PRIVILEGES, 2),
    (_FOREIGN_KEYS, 6),
    (_MOVABLE, 1),
    (_CALLS, 1),
    (_ENCODING, 1),
)
