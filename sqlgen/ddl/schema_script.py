"""The DDL script for the tables of a log: schemas, tables with their keys, further unique keys,
foreign keys, and a note wherever the target's type is not the source's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlgen import ddl
from sqlgen.ddl import TableIndex, TypeNote, type_rule
from sqlgen.ddl.schema_file import Declared, column_clauses
from sqlgen.dialects import EXACT, Profile
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import exp
from sqlgen.names import alike, check_collisions, identifier, table_expression
from sqlgen.schema import Column, Constraints, ForeignKey, Table
from sqlgen.script import search_path

#: Dialects that can add a foreign key to a table that is there.
_ADDS_FOREIGN_KEYS = frozenset({"postgres", "mysql", "mariadb", "oracle", "tsql", "db2"})


_NOTHING = Declared("")


@dataclass(frozen=True)
class SchemaScript:
    """``tables``: lines that make schemas and tables with their keys; ``foreign_keys``: lines that
    add these, for when the rows are there; ``notes`` on columns whose type is not exactly the
    source's; ``left_out``: what the dialect cannot say, in words; ``outside``: foreign keys of
    these tables to others, in words; ``afterwards``: statements about identity columns for when the
    rows are there.
    """

    tables: tuple[str, ...]
    foreign_keys: tuple[str, ...]
    notes: tuple[TypeNote, ...]
    left_out: tuple[str, ...]
    outside: tuple[str, ...] = ()
    afterwards: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole script."""
        return "\n".join([*self.tables, *self.foreign_keys]) + "\n"


def schema_script(
    tables: Sequence[Table],
    constraints: Constraints,
    profile: Profile,
    names: str = "lower",
    declared: Mapping[str, Declared] | None = None,
) -> SchemaScript:
    """The script that makes ``tables``. Foreign keys come last, so that the order of the tables
    does not matter. ``declared``: what else is known of tables, by OWNER.NAME in upper case; of
    tables whose names differ in case only neither it nor ``constraints`` says which one it means.

    SqlgenError (LR3003) for a column without a type in the target and for tables that are longer
    than it takes, LR3005 for names that collide there or that it has for itself.
    """
    named = [(f"{table.schema}.{table.name}".upper(), table) for table in tables]
    doubles = alike(f"{table.schema}.{table.name}" for table in tables)
    stated = {name: one for name, one in (declared or {}).items() if name not in doubles}
    named = [(name, stated.get(name, _NOTHING).sized(table)) for name, table in named]
    tables = [table for _, table in named]
    check_collisions(tables, profile, names)
    check_limits(tables, constraints, profile)
    lines = [
        f"-- logreplay ddl script for {profile.name}. Stop at the first error, for example:"
        f" {profile.client}"
    ]
    lines += [f"-- {quirk}" for quirk in profile.quirks]
    lines += search_path(profile)
    schemas = dict.fromkeys(table.schema for table in tables if table.schema)
    lines += [
        statement for schema in schemas if (statement := ddl.create_schema(schema, profile, names))
    ]
    notes: list[TypeNote] = []
    known = {name: table for name, table in named if name not in doubles}
    keyed = {
        *(declared or {}),
        *(name for name, _ in constraints.keys),
        *(foreign.table for foreign in constraints.foreign_keys),
    }
    left_out = [
        f"what the schema states of {table.schema}.{table.name}, whose name differs from another"
        " table's in case only"
        for name, table in named
        if name in doubles and name in keyed
    ]
    afterwards: list[str] = []
    within: dict[str, list[str]] = {name: [] for name in known}
    for foreign in constraints.foreign_keys:
        if foreign.table in known and _is_within(foreign, known, profile):
            key = _foreign_key(foreign, known, profile, names)
            within[foreign.table].append(key.sql(profile.sqlglot))
    for name, table in named:
        more = column_clauses(stated.get(name, _NOTHING), table, profile, names)
        left_out += more.left_out
        afterwards += more.afterwards
        own = [note for note in ddl.type_notes(table, profile) if note.fidelity != EXACT]
        lines += [
            f"-- {note.column}: {note.source} becomes {note.target}, {note.fidelity}: {note.note}"
            for note in own
        ]
        clauses = [*more.constraints, *within.get(name, ())]
        lines.append(ddl.create_table(table, profile, names, more.words, clauses))
        keys = constraints.keys_of(name) if name in known else ()
        lines += _unique_keys(table, keys, profile, names)
        notes += own
    further, lacking, outside = _apart(constraints, known, profile, names)
    left_out += lacking
    further += [f"-- not available in {profile.name}: {entry}" for entry in left_out]
    further += [f"-- not here, for it refers to a table that is not: {entry}" for entry in outside]
    return SchemaScript(
        tuple(lines),
        tuple(further),
        tuple(notes),
        tuple(left_out),
        tuple(outside),
        tuple(afterwards),
    )


def _apart(
    constraints: Constraints, known: Mapping[str, Table], profile: Profile, names: str
) -> tuple[list[str], list[str], list[str]]:
    """Statements that add foreign keys to ``known`` tables; in words the keys that the dialect
    cannot say, and those that refer to other tables."""
    further, left_out = [], []
    outside = [said for table, said in constraints.outside if table in known]
    for foreign in constraints.foreign_keys:
        said = f"foreign key {foreign.name or '(unnamed)'} of {foreign.table} to {foreign.parent}"
        if foreign.table not in known:
            continue
        if foreign.parent not in known:
            outside.append(said)
        elif foreign.set_columns and profile.name != "postgres":
            left_out.append(
                f"{said}, which sets {', '.join(foreign.set_columns)} alone on a delete"
            )
        elif profile.sqlglot in _ADDS_FOREIGN_KEYS:
            further.append(_added(foreign, known, profile, names))
        elif not _is_within(foreign, known, profile):
            left_out.append(said)
    return further, left_out, outside


def _unique_keys(
    table: Table, keys: Sequence[tuple[str, ...]], profile: Profile, names: str
) -> Iterator[str]:
    """Unique indexes for the keys that are not the table's own."""
    further = [key for key in keys if set(key) != set(table.key)]
    for number, key in enumerate(further, 1):
        index = TableIndex(
            f"{table.name}_U{number}", table, tuple((column, False) for column in key), unique=True
        )
        if statement := ddl.create_index(index, profile, names):
            yield statement


def _is_within(foreign: ForeignKey, tables: Mapping[str, Table], profile: Profile) -> bool:
    """Whether a foreign key is part of CREATE TABLE: in SQLite, which checks it only where it is
    told to, and knows tables of the same file alone. DuckDB refuses units that delete a row and its
    parent."""
    parent, child = tables.get(foreign.parent), tables[foreign.table]
    same = parent is not None and parent.schema == child.schema
    return profile.name == "sqlite" and same and not foreign.set_columns


def _added(foreign: ForeignKey, tables: Mapping[str, Table], profile: Profile, names: str) -> str:
    """What adds a foreign key to a table that is there."""
    tree = exp.Alter(
        kind="TABLE",
        this=table_expression(tables[foreign.table], profile, names),
        actions=[exp.AddConstraint(expressions=[_foreign_key(foreign, tables, profile, names)])],
    )
    return tree.sql(dialect=profile.sqlglot) + ";"


def _foreign_key(
    foreign: ForeignKey, tables: Mapping[str, Table], profile: Profile, names: str
) -> exp.Expr:
    parent = tables[foreign.parent]

    def identifiers(columns: Sequence[str]) -> list[exp.Identifier]:
        return [identifier(column, profile, names) for column in columns]

    options = (
        []
        if foreign.on_delete == "NO ACTION"
        or (profile.name == "tsql" and foreign.on_delete == "RESTRICT")
        else [foreign.on_delete]
    )
    target = exp.Schema(
        this=exp.Table(this=identifier(parent.name, profile, names))
        if profile.name == "sqlite"
        else table_expression(parent, profile, names),
        expressions=identifiers(foreign.parent_columns or parent.key),
    )
    some = ", ".join(one.sql(profile.sqlglot) for one in identifiers(foreign.set_columns))
    behind = f" ({some})" if some else ""
    reference = exp.Reference(
        this=target, options=[f"ON DELETE {option}{behind}" for option in options]
    )
    key: exp.Expr = exp.ForeignKey(expressions=identifiers(foreign.columns), reference=reference)
    if foreign.name:
        key = exp.Constraint(this=identifier(foreign.name, profile, names), expressions=[key])
    return key


# -- limits of targets
# -------------------------------------------------------------------------------------------------
# What tables of MySQL and MariaDB may be at most: how many bytes their keys and rows have.
#
# Facts are those of "InnoDB limits" and "Limits on table column count and row size" in the manual
# of MySQL 8.4, tried on MySQL 9 and MariaDB 10.11. MariaDB takes longer unique keys by their hash.


_KEY_BYTES, _ROW_BYTES = 3_072, 65_535
#: Bytes of a character of utf8mb4.
_CHARACTER = 4
_SIZED = re.compile(r"(CHAR|VARCHAR|VARBINARY|BINARY|DECIMAL|DATETIME)\((\d+)(?:, (\d+))?\)")
_FIXED = {
    "SMALLINT": 2, "INT": 4, "BIGINT": 8, "FLOAT": 4, "DOUBLE": 8, "DATE": 3, "TIME": 3,
    "BOOLEAN": 1,
}  # fmt: skip
#: What a value that lies outside of its row takes inside of it.
_OUTSIDE = 12
#: Bytes of the digits of a DECIMAL that fill no group of nine.
_DIGITS = (0, 1, 1, 2, 2, 3, 3, 4, 4)


def check_limits(tables: Sequence[Table], constraints: Constraints, profile: Profile) -> None:
    """SqlgenError (LR3003) for a table that is longer than the target takes: before anything is
    written."""
    if profile.name not in ("mysql", "mariadb"):
        return
    for table in tables:
        name = f"{table.schema}.{table.name}"
        columns = {column.name: column for column in table.columns}
        unique = [] if profile.name == "mariadb" else constraints.keys_of(name.upper())
        for key in dict.fromkeys((table.key, *unique)):
            _check_key(name, key, columns, profile)
        size = sum(_in_row(column, profile) for column in table.columns)
        size += (sum(column.nullable for column in table.columns) + 7) // 8
        if size > _ROW_BYTES:
            raise SqlgenError(
                "LR3003",
                f"found table {name}, of up to {size:,} bytes a row; {profile.name} takes"
                f" {_ROW_BYTES:,}",
                "Give wide columns the type LONGTEXT or LONGBLOB (types in --mapping), or leave"
                " some out (--exclude-columns)",
            )


def _check_key(
    table: str, key: Sequence[str], columns: Mapping[str, Column], profile: Profile
) -> None:
    sizes = [_in_key(columns[name], profile) for name in key if name in columns]
    large = any(size is None for size in sizes)
    size = sum(size or 0 for size in sizes)
    if large or size > _KEY_BYTES:
        found = "with a column of large values" if large else f"of up to {size:,} bytes"
        raise SqlgenError(
            "LR3003",
            f"found the key ({', '.join(key)}) of {table}, {found}; {profile.name} takes"
            f" {_KEY_BYTES:,} bytes",
            "Give its columns types that are shorter there (types in --mapping)",
        )


def _in_key(column: Column, profile: Profile) -> int | None:
    """Bytes of a column in a key, None where it can be in none; 0 where a mapping gives a type of
    its own."""
    text = type_rule(column, profile).text
    if column.declared or not text:
        return 0
    if text.startswith(("LONGTEXT", "LONGBLOB")):
        return None
    sized = _SIZED.match(text)
    if sized is None:
        return _FIXED.get(text.partition(" ")[0], 0)
    kind, length = sized[1], int(sized[2])
    if kind == "DECIMAL":
        scale = int(sized[3] or 0)
        return sum(part // 9 * 4 + _DIGITS[part % 9] for part in (length - scale, scale))
    if kind == "DATETIME":
        return 5 + (length + 1) // 2
    return length * (_CHARACTER if kind in ("CHAR", "VARCHAR") else 1)


def _in_row(column: Column, profile: Profile) -> int:
    size = _in_key(column, profile)
    varies = type_rule(column, profile).text.startswith("VAR") and not column.declared
    return _OUTSIDE if size is None else size + varies * (2 if size > 255 else 1)
