"""What a MariaDB or MySQL tells about a table: its columns and what they hold, its keys, what acts
by itself, and what it hides from a user who lacks the rights to see it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from replay.targets import TableFacts
from replay.targets.hazards import Hazard, HazardKind, Under
from replay.targets.outcomes import Reference
from sqlgen.type_capacity import Holding, ValueKind, holding_of

Query = Callable[..., list[tuple[Any, ...]]]
#: What InnoDB's own table of foreign keys has for each action.
_ACTION_BITS = ((1, "ON DELETE CASCADE"), (2, "ON DELETE SET NULL"), (4, "ON UPDATE CASCADE"),
    (8, "ON UPDATE SET NULL"))  # fmt: skip
_OTHER_KINDS = {"VIEW": "a view", "SYSTEM VIEW": "a view", "SEQUENCE": "a sequence"}
#: Python's names of character sets ('': all characters).
_CODECS = {
    "utf8mb4": "", "utf16": "", "utf16le": "", "utf32": "", "utf8": "utf-8-bmp",
    "utf8mb3": "utf-8-bmp", "ucs2": "utf-8-bmp", "latin1": "cp1252", "latin2": "iso8859-2",
    "latin5": "iso8859-9", "latin7": "iso8859-13", "greek": "iso8859-7", "hebrew": "iso8859-8",
    "cp1250": "cp1250", "cp1251": "cp1251", "cp1256": "cp1256", "cp1257": "cp1257",
    "cp850": "cp850", "cp852": "cp852", "cp866": "cp866", "koi8r": "koi8-r", "koi8u": "koi8-u",
    "sjis": "shift_jis", "cp932": "cp932", "ujis": "euc-jp", "euckr": "euc-kr", "gbk": "gbk",
    "gb2312": "gb2312", "gb18030": "gb18030", "big5": "big5", "tis620": "tis-620",
}  # fmt: skip


@dataclass(frozen=True)
class MysqlCatalog:
    """Asks one server about its tables. ``query`` runs a query with ``%s`` for values."""

    query: Query
    dialect: str

    def facts(self, schema: str, table: str) -> TableFacts | None:
        """The facts of a table, None when there is none of that name."""
        tables = [row[1:] for row in self.query(_TABLE, (schema, table)) if row[0] == table]
        if not tables:
            return None
        kind, engine = tables[0]
        columns = self.query(_COLUMNS, (schema, table))
        hazards = [*self._table_hazards(kind, engine), *self._column_hazards(schema, table)]
        if kind not in _OTHER_KINDS:
            hazards += self._acts(schema, table)
        return TableFacts(
            tuple(name for name, *_ in columns),
            tuple(name for name, *_, generated, _ in columns if generated),
            unique_keys=tuple(self.unique_keys(schema, table)),
            types=tuple(data_type for _, data_type, *_ in columns),
            holdings=tuple(
                self._holding(kind, charset, null) for _, _, kind, charset, _, null, *_ in columns
            ),
            hazards=tuple(hazards),
        )

    def unique_keys(self, schema: str, table: str) -> list[tuple[str, ...]]:
        """The unique keys over whole columns, the primary key first."""
        rows = self.query(_KEYS, (schema, table))
        keys = [
            [(column, part) for _, column, part in group]
            for _, group in groupby(rows, key=lambda row: row[0])
        ]
        return [
            tuple(column for column, _ in key)
            for key in keys
            if all(column is not None and part is None for column, part in key)
        ]

    def foreign_keys(self, schema: str, table: str) -> list[Reference]:
        """The foreign keys of a table."""
        keys: dict[str, Reference] = {}
        for name, parent_schema, parent, column, parent_column, *rules in self.query(
            _FOREIGN_KEYS, (schema, table)
        ):
            key = keys.setdefault(name, Reference((parent_schema, parent), [], [], *rules))
            key.columns.append(column)
            key.parent_columns.append(parent_column)
        return list(keys.values())

    @staticmethod
    def _table_hazards(kind: str, engine: str | None) -> Iterator[Hazard]:
        if kind in _OTHER_KINDS:
            yield Hazard(HazardKind.NO_TABLE, _OTHER_KINDS[kind])
            return
        if kind == "SYSTEM VERSIONED":
            yield Hazard(HazardKind.VERSIONED, "WITH SYSTEM VERSIONING")
        if engine != "InnoDB":
            yield Hazard(HazardKind.NO_TRANSACTION, f"its engine {engine} has no transactions")

    def _column_hazards(self, schema: str, table: str) -> Iterator[Hazard]:
        for name, kind, _, _, collation, _, required, generated, extra in self.query(
            _COLUMNS, (schema, table)
        ):
            if generated:
                yield Hazard(HazardKind.GENERATED, "an expression", name)
            if required and not generated and "auto_increment" not in extra.lower():
                yield Hazard(HazardKind.REQUIRED, "NOT NULL", name)
            if "on update" in extra.lower():
                yield Hazard(HazardKind.CHANGES_ITSELF, "with every UPDATE (ON UPDATE)", name)
            if collation and not collation.endswith(("nopad_bin", "0900_bin")):
                padded = collation.endswith("_bin")
                if not padded or kind in ("char", "varchar"):
                    yield Hazard(HazardKind.COMPARISON, f"collation {collation}", name)

    def _acts(self, schema: str, table: str) -> Iterator[Hazard]:
        """Triggers and foreign keys; and whether there may be some that this user cannot see."""
        for (trigger,) in self.query(_TRIGGERS, (schema, table)):
            yield Hazard(HazardKind.TRIGGER, trigger)
        if not self._has("TRIGGER", schema, table):
            yield Hazard(HazardKind.UNSEEN, "its triggers (the TRIGGER privilege shows them)")
        seen = set()
        for child_schema, child in self.query(_RELATED, (schema, table, schema, table)):
            for key in self.foreign_keys(child_schema, child):
                if key.acts and (schema, table) in ((child_schema, child), key.parent):
                    place = child if child_schema == schema else f"{child_schema}.{child}"
                    what = key.described(place)
                    yield Hazard(HazardKind.FOREIGN_KEY_ACTION, what, under=Under.ON)
                seen.add((child_schema, child))
        if self._has("SELECT", "", ""):
            return
        if not self._has("PROCESS", "", ""):
            what = "what refers to it in all databases (SELECT ON *.*, or PROCESS, shows that)"
            yield Hazard(HazardKind.UNSEEN, what, under=Under.ON)
            return
        for child_schema, child, acts in self._unlisted_children(schema, table):
            if (child_schema, child) not in seen:
                what = f"{child_schema}.{child} to {table} ({', '.join(acts)})"
                yield Hazard(HazardKind.FOREIGN_KEY_ACTION, what, under=Under.ON)

    def _unlisted_children(self, schema: str, table: str) -> Iterator[tuple[str, str, list[str]]]:
        """Children with actions after InnoDB's own list, which hides none from who may read it."""
        source = "innodb_sys_foreign" if self.dialect == "mariadb" else "innodb_foreign"
        for child, parent, kind in self.query(
            f"SELECT for_name, ref_name, type FROM information_schema.{source} WHERE type & 15 <> 0"
        ):
            child_schema, _, child_name = _plain_name(child).partition("/")
            if _plain_name(parent) == f"{schema}/{table}":
                acts = [text for bit, text in _ACTION_BITS if kind & bit]
                yield child_schema, child_name, acts

    def _has(self, privilege: str, schema: str, table: str) -> bool:
        """Whether this user has a privilege on a table ('' for schema and table: on all)."""
        for grant in self._grants:
            if grant.covers(privilege, schema, table):
                return not any(
                    g.revoked and g.covers(privilege, schema, table) for g in self._grants
                )
        return False

    @cached_property
    def _grants(self) -> list[Grant]:
        texts = [str(text) for (text,) in self.query("SHOW GRANTS")]
        return [grant for text in texts if (grant := Grant.read(text)) is not None]

    @cached_property
    def _null_becomes_now(self) -> bool:
        """Whether a TIMESTAMP column that is NOT NULL takes NULL for the present moment."""
        if self.dialect == "mariadb":
            return True
        return not self.query("SELECT @@explicit_defaults_for_timestamp")[0][0]

    def _holding(self, kind: str, charset: str | None, null: str) -> Holding:
        holding = holding_of(kind, self.dialect)
        if holding.kind is ValueKind.TEXT and charset is not None:
            return replace(holding, codec=_CODECS.get(charset, "ascii"))
        if kind.startswith("timestamp") and null == "NO" and self._null_becomes_now:
            return replace(holding, null=False)
        return holding


@dataclass(frozen=True)
class Grant:
    """A line of SHOW GRANTS: privileges on ``schema`` (a pattern) and ``table``, ``*`` for all."""

    privileges: frozenset[str]
    schema: str
    table: str
    revoked: bool = False

    @classmethod
    def read(cls, text: str) -> Grant | None:
        """A line, None for one that is about no table (of a role, of a routine)."""
        match = _GRANT.match(text)
        if match is None:
            return None
        privileges = re.sub(r"\([^)]*\)", "", match["privileges"]).upper()
        schema, table = (part.strip("`").replace("``", "`") for part in match.group("db", "table"))
        names = frozenset(name.strip() for name in privileges.split(","))
        return cls(names, schema, table, match["verb"] == "REVOKE")

    def covers(self, privilege: str, schema: str, table: str) -> bool:
        """Whether the line is about a privilege on a table ('' for schema and table: on all)."""
        if not {privilege, "ALL PRIVILEGES", "ALL"} & self.privileges:
            return False
        if self.schema == "*":
            return True
        if not schema or self.table not in ("*", table):
            return False
        pattern = re.sub(r"\\([_%])|([_%])|(.)", _pattern_part, self.schema)
        return re.fullmatch(pattern, schema, re.S) is not None


def _pattern_part(match: re.Match[str]) -> str:
    if match[2]:
        return ".*" if match[2] == "%" else "."
    return re.escape(match[1] or match[3])


def _plain_name(name: str) -> str:
    """A name as files of the server have it, where characters other than letters and digits are
    ``@`` and four hexadecimal digits."""
    return re.sub(r"@([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), name)


_GRANT = re.compile(
    r"(?P<verb>GRANT|REVOKE) (?P<privileges>.+?) ON (?:TABLE )?"
    r"(?P<db>\*|`(?:[^`]|``)+`)\.(?P<table>\*|`(?:[^`]|``)+`) (?:TO|FROM) ",
    re.S,
)
_TABLE = """SELECT table_name, table_type, engine FROM information_schema.tables
WHERE table_schema = %s AND table_name = %s"""
_COLUMNS = """SELECT column_name, data_type, column_type, character_set_name, collation_name,
is_nullable, is_nullable = 'NO' AND column_default IS NULL,
coalesce(generation_expression, '') <> '', extra
FROM information_schema.columns WHERE table_schema = %s AND table_name = %s
ORDER BY ordinal_position"""
_KEYS = """SELECT index_name, column_name, sub_part FROM information_schema.statistics
WHERE table_schema = %s AND table_name = %s AND non_unique = 0
ORDER BY index_name <> 'PRIMARY', index_name, seq_in_index"""
_FOREIGN_KEYS = """SELECT k.constraint_name, k.referenced_table_schema, k.referenced_table_name,
k.column_name, k.referenced_column_name,
r.delete_rule, r.update_rule FROM information_schema.key_column_usage k JOIN
information_schema.referential_constraints r
ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name AND
r.table_name = k.table_name
WHERE k.table_schema = %s AND k.table_name = %s AND k.referenced_table_name IS NOT NULL ORDER BY
k.constraint_name, k.ordinal_position"""
_RELATED = """SELECT DISTINCT table_schema, table_name FROM information_schema.key_column_usage
WHERE referenced_table_name IS NOT NULL
AND ((table_schema = %s AND table_name = %s) OR (referenced_table_schema = %s AND
referenced_table_name = %s)) ORDER BY 1, 2"""
_TRIGGERS = """SELECT trigger_name FROM information_schema.triggers
WHERE event_object_schema = %s AND event_object_table = %s ORDER BY 1"""
