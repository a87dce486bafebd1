"""A mapping: how tables and columns are called, typed, left out or masked in the target, read from
a TOML file.

::

    [schemas]
    SAKILA = "shop"

    [tables."SAKILA.FILM"]
    name = "movie"                       # or "other_schema.movie"
    columns = { FILM_ID = "movie_id" }
    types = { RENTAL_RATE = "numeric(9, 2)" }
    exclude = ["DESCRIPTION"]
    mask = ["TITLE"]

Names on the left are those of the log, in any case; names on the right are spelled as ``--names``
says.
"""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlgen.constraints import Constraints, ForeignKey
from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import errors, exp, sqlglot, when_used
from sqlgen.masking import MASKS, cannot_mask, fingerprint, mask_kind, masked
from sqlgen.names import check_collisions, target_name
from sqlgen.render_options import RenderOptions, identity, shown_columns
from sqlgen.rows import Rows
from sqlgen.schema import Column, Table

if TYPE_CHECKING:
    from sqlgen.ddl.schema_file import Declared

with when_used():  # where there is a mapping
    import tomllib

_TOP = {"schemas", "tables"}
_ENTRIES = {"name": str, "columns": dict, "types": dict, "exclude": list, "mask": list}
#: What people look for in an entry, and what there is instead.
_INSTEAD = dict.fromkeys(
    ("constants", "constant", "values", "add"),
    " (a column that the log does not have is the target's: give it a constant as its DEFAULT)",
)
#: Comments and control characters, which sqlglot passes over.
_BEYOND_A_TYPE = re.compile(r"--|/\*|#|[\x00-\x1f\x7f]")
#: Problems of a file that are told at once.
_SHOWN = 20


@dataclass(frozen=True)
class TableMapping:
    """What becomes of one table; column names are those of the log, ``name`` has the schema in
    front where it is another."""

    name: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableMap:
    """The mapping of a log. ``tables`` by OWNER.NAME; ``key`` for masks (32 bytes, empty where
    nothing is masked). ``digest``: what tells it from others, a SHA-256 of all that its file says
    and of what tells the key; ``unknown``: what the file says of tables that the log does not
    have, in words. ``options``: which columns the user has shown beside."""

    schemas: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, TableMapping] = field(default_factory=dict)
    key: bytes = b""
    digest: str = ""
    unknown: tuple[str, ...] = ()
    options: RenderOptions = field(default_factory=RenderOptions)

    @cached_property
    def shown(self) -> RenderOptions:
        """Which columns of the log's tables are shown."""
        excluded = (*self.options.exclude_columns, *self.excluded())
        return RenderOptions(columns=self.options.columns, exclude_columns=excluded)

    def describe(self) -> dict[str, Any]:
        """The mapping as JSON-able data; of the key only what tells it from others."""
        tables = {
            name: {
                field: list(value) if isinstance(value, tuple) else value
                for field, value in vars(entry).items()
                if value
            }
            for name, entry in sorted(self.tables.items())
        }
        told = {"mask_key": fingerprint(self.key), "masks": MASKS} if self.key else {}
        told |= {"sha256": self.digest} if self.digest else {}
        return {"schemas": dict(self.schemas), "tables": tables, **told}

    def excluded(self) -> tuple[str, ...]:
        """The columns that are left out, as ``--exclude-columns`` names them."""
        return tuple(
            glob.escape(f"{name}.{column}")
            for name, entry in self.tables.items()
            for column in entry.exclude
        )

    def masked(self) -> frozenset[str]:
        """The columns that are masked, as OWNER.NAME.COLUMN: by their names in the log and by those
        in the target."""
        return frozenset(
            f"{name}.{spelled}"
            for name, entry in self.tables.items()
            for column in entry.mask
            for spelled in (column, entry.columns.get(column, column))
        )

    def mask(self, table: Table, name: str, values: pa.Array) -> pa.Array:
        """The values of a column of a table as the target has them."""
        masks = name in self._entry(table).mask
        return masked(values, table.column(name), self.key) if masks else values

    def masked_columns(self, table: Table) -> tuple[str, ...]:
        """The columns of a table that are masked."""
        return self._entry(table).mask

    def name(self, table: Table) -> tuple[str, str]:
        """(schema, name) of a table in the target."""
        entry = self._entry(table)
        schema, dot, name = entry.name.rpartition(".")
        return (
            schema if dot else self.schemas.get(table.schema.upper(), table.schema)
        ), name or table.name

    def names(self, table: Table) -> dict[str, str]:
        """The log's name of each column of a table -> the target's. Columns that are not shown keep
        theirs, marked where another one gets that name."""
        entry = self._entry(table)
        shown = {column.name for column in shown_columns(table, self.shown)}
        names = {name: entry.columns.get(name, name) for name in shown}
        taken = {name.upper() for name in names.values()}
        return {
            column.name: names.get(column.name)
            or (f"{column.name}\0" if column.name.upper() in taken else column.name)
            for column in table.columns
        }

    def table(self, table: Table) -> Table:
        """A table of the log as the target has it."""
        entry = self._entry(table)
        names = self.names(table)
        shown = {column.name for column in shown_columns(table, self.shown)}
        unnamed = [name for name in names if name not in shown]
        columns = tuple(
            replace(column, name=names[column.name], declared=entry.types.get(column.name, ""))
            for column in table.columns
        )
        return Table(
            *self.name(table),
            columns,
            tuple(names[column] for column in table.key),
            tuple(names[name] for name in unnamed if name in entry.exclude),
            tuple(names[name] for name in unnamed if name not in entry.exclude),
        )

    def rows(self, rows: Rows) -> Rows:
        """Rows of a table of the log as the target has them."""
        names = self.names(rows.table)

        def side(image: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
            return {
                names[name]: self.mask(rows.table, name, values) for name, values in image.items()
            }

        return replace(
            rows,
            table=self.table(rows.table),
            before=side(rows.before),
            after=side(rows.after),
            changed={names[name]: mask for name, mask in rows.changed.items()},
        )

    def renamed_keys(self, constraints: Constraints, tables: Sequence[Table]) -> Constraints:
        """Keys and foreign keys of the log's tables, which keep their names, with the columns as
        the target has them."""
        known = {f"{table.schema}.{table.name}".upper(): self.names(table) for table in tables}

        def renamed(name: str, columns: Iterable[str]) -> tuple[str, ...]:
            names = known.get(name, {})
            return tuple(names.get(column, column) for column in columns)

        return replace(
            constraints,
            keys=tuple((name, renamed(name, columns)) for name, columns in constraints.keys),
            foreign_keys=tuple(
                replace(
                    foreign,
                    columns=renamed(foreign.table, foreign.columns),
                    parent_columns=renamed(foreign.parent, foreign.parent_columns),
                    set_columns=renamed(foreign.table, foreign.set_columns),
                )
                for foreign in constraints.foreign_keys
            ),
        )

    def keys_of_log(self, constraints: Constraints, tables: Sequence[Table]) -> Constraints:
        """Keys and foreign keys of the target's tables by the names of the log."""
        known: dict[str, tuple[str, dict[str, str]]] = {}
        for table in tables:
            columns = {new: old for old, new in self.names(table).items()}
            place = ".".join(self.name(table)).upper()
            known[place] = (f"{table.schema}.{table.name}".upper(), columns)

        def renamed(place: str, columns: Iterable[str]) -> tuple[str, tuple[str, ...]]:
            name, names = known.get(place, (place, {}))
            return name, tuple(names.get(column, column) for column in columns)

        foreign_keys = []
        for foreign in constraints.foreign_keys:
            table_name, own = renamed(foreign.table, foreign.columns)
            parent, others = renamed(foreign.parent, foreign.parent_columns)
            foreign_keys.append(
                replace(
                    foreign,
                    table=table_name,
                    columns=own,
                    parent=parent,
                    parent_columns=others,
                    set_columns=renamed(foreign.table, foreign.set_columns)[1],
                )
            )
        return replace(
            constraints,
            keys=tuple(renamed(name, columns) for name, columns in constraints.keys),
            deferrable=frozenset(
                (name, frozenset(columns))
                for name, columns in (renamed(*one) for one in constraints.deferrable)
            ),
            foreign_keys=tuple(foreign_keys),
            outside=tuple((renamed(name, ())[0], said) for name, said in constraints.outside),
        )

    def constraints(self, constraints: Constraints, tables: Sequence[Table]) -> Constraints:
        """Keys and foreign keys (:meth:`renamed_keys`) by the target's names of tables too; those
        with a column or table that is left out go, and are named."""
        known = {
            f"{table.schema}.{table.name}".upper(): self.table(table).in_target()
            for table in tables
        }
        unused = list(constraints.unused)

        def shown(name: str, columns: Iterable[str]) -> bool:
            return name in known and set(columns) <= {one.name for one in known[name].columns}

        def mapped(name: str) -> str:
            return f"{known[name].schema}.{known[name].name}".upper()

        keys = [
            (mapped(name), columns) for name, columns in constraints.keys if shown(name, columns)
        ]
        for name, columns in constraints.keys:
            if name in known and not shown(name, columns):
                listed = ", ".join(column.rstrip("\0") for column in columns)
                unused.append(f"key ({listed}) of {name}: a column of it is left out")
        foreign_keys: list[ForeignKey] = []
        for foreign in constraints.foreign_keys:
            if shown(foreign.table, foreign.columns) and shown(
                foreign.parent, foreign.parent_columns
            ):
                child, parent = mapped(foreign.table), mapped(foreign.parent)
                foreign_keys.append(replace(foreign, table=child, parent=parent))
            elif foreign.table in known:
                unused.append(
                    f"foreign key {foreign.name or '(unnamed)'} of {foreign.table}: a column or"
                    " table of it is left out"
                )
        return replace(
            constraints,
            keys=tuple(keys),
            foreign_keys=tuple(foreign_keys),
            unused=tuple(unused),
            outside=tuple(
                (mapped(name), said) for name, said in constraints.outside if name in known
            ),
        )

    def check_masks(self, constraints: Constraints, tables: Sequence[Table]) -> None:
        """SqlgenError (LR1011) where the two sides of a foreign key get different masks: rows that
        refer to each other part ways."""
        known = {f"{table.schema}.{table.name}".upper(): table for table in tables}
        for foreign in constraints.foreign_keys:
            child, parent = known.get(foreign.table), known.get(foreign.parent)
            if child is None or parent is None:
                continue
            names = [
                {column.name for column in shown_columns(table, self.shown)}
                for table in (child, parent)
            ]
            for pair in zip(foreign.columns, foreign.parent_columns or parent.key, strict=False):
                if pair[0] in names[0] and pair[1] in names[1]:
                    self._check_pair(foreign, (child, parent), pair)

    def _check_pair(
        self, foreign: ForeignKey, tables: Sequence[Table], pair: tuple[str, str]
    ) -> None:
        masks = [
            mask_kind(table.column(name)) if name in self._entry(table).mask else ""
            for table, name in zip(tables, pair, strict=True)
        ]
        if masks[0] == masks[1]:
            return
        found = " and ".join(
            f"{table.schema}.{table.name}.{name} {f'masked as {mask}' if mask else 'not masked'}"
            for table, name, mask in zip(tables, pair, masks, strict=True)
        )
        raise SqlgenError(
            "LR1011",
            f"found {found}; expected one mask: foreign key {foreign.name or '(unnamed)'} joins"
            " them",
            "Mask both columns, which must have the same type, or neither; or leave one out",
        )

    def declared(
        self, declared: Mapping[str, Declared], tables: Sequence[Table]
    ) -> dict[str, Declared]:
        """What else DDL declares, by the target's OWNER.NAME in upper case; nothing is said of
        columns that are masked or left out."""
        renamed = {}
        for table in tables:
            known = declared.get(f"{table.schema}.{table.name}".upper())
            if known is None:
                continue
            entry = self._entry(table)
            shown = {column.name for column in shown_columns(table, self.shown)} - set(entry.mask)
            names = {name: entry.columns.get(name, name) for name in shown}
            renamed[".".join(self.name(table)).upper()] = known.renamed(
                names.get, f"{table.schema}.{table.name}"
            )
        return renamed

    def _entry(self, table: Table) -> TableMapping:
        return self.tables.get(f"{table.schema}.{table.name}", _AS_IT_IS)


_AS_IT_IS = TableMapping()


def plain(options: RenderOptions) -> RenderOptions:
    """The options for rows that a mapping made: which columns are shown is settled."""
    return replace(options, columns=(), exclude_columns=())


def parse_mapping(
    text: str,
    tables: Sequence[Table],
    profile: Profile,
    options: RenderOptions,
    key: bytes | None,
    typed: bool = True,
    continued: bool = False,
) -> TableMap:
    """The mapping in ``text``, checked against all forms of the log's tables. SqlgenError (LR1011)
    names everything that is wrong with it; ``key`` is None where none is given. ``typed``: types
    are those of the dialect, and used; ``continued``: tables that this log does not have may be in
    others."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SqlgenError("LR1011", f"the mapping is not TOML: {error}") from None
    problems: list[str] = []
    unknown: list[str] = [] if continued else problems
    mapping = mapping_of(document, tables, problems, unknown)
    problems += _type_problems(mapping, profile) if typed else []
    masks = [f"{name}.{column}" for name, entry in mapping.tables.items() for column in entry.mask]
    if masks and key is None:
        problems.append(
            f"{masks[0]} is masked, and there is no key; expected one (--mask-key-file)"
        )
    told = json.dumps(document, sort_keys=True, ensure_ascii=False, default=str)
    secret = key if key and masks else b""
    told += fingerprint(secret) if secret else ""
    mapping = replace(
        mapping,
        key=secret,
        digest=sha256(told.encode()).hexdigest(),
        unknown=tuple(unknown) if continued else (),
        options=options,
    )
    if not problems:
        problems += _name_problems(mapping, tables, profile, options.names)
    if problems:
        more = f" ({len(problems) - _SHOWN} more)" if len(problems) > _SHOWN else ""
        raise SqlgenError(
            "LR1011",
            "the mapping cannot be used: " + "; ".join(problems[:_SHOWN]) + more,
            "Nothing was written",
        )
    return mapping


def mapping_of(
    document: Mapping[str, Any],
    tables: Sequence[Table],
    problems: list[str],
    unknown: list[str],
) -> TableMap:
    """The mapping that a file's document is. What is wrong with it is added to ``problems``, what
    it says of other tables than ``tables`` to ``unknown``."""
    problems += [
        f"found [{name}]; expected one of: {', '.join(sorted(_TOP))}"
        for name in document.keys() - _TOP
    ]
    versions: dict[str, list[Table]] = {}
    for table in tables:
        versions.setdefault(f"{table.schema}.{table.name}", []).append(table)
    owners = {table.schema.upper() for table in tables}
    schemas = {}
    for name, value in _section(document, "schemas", problems).items():
        if name.upper() not in owners:
            unknown.append(
                f"schemas.{name}: the log has no such schema; expected one of:"
                f" {', '.join(sorted(owners))}"
            )
        elif not isinstance(value, str) or not value or "." in value:
            problems.append(f"schemas.{name}: found {value!r}; expected a name")
        elif name.upper() in schemas:
            problems.append(
                f"schemas.{name}: found it twice; expected each schema once, in whatever case"
            )
        else:
            schemas[name.upper()] = value
    entries = {}
    for name, value in _section(document, "tables", problems).items():
        source = _known(name, versions)
        if source is None:
            unknown.append(
                f"tables.{name}: the log has no such table; expected one of:"
                f" {', '.join(sorted(versions)[:_SHOWN])}"
            )
        elif not isinstance(value, dict):
            problems.append(f"tables.{name}: found {value!r}; expected a table of entries")
        elif source in entries:
            problems.append(
                f"tables.{name}: found {source} twice; expected each table once, in whatever case"
            )
        else:
            entries[source] = _entry_of(f"tables.{name}", value, versions[source], problems)
    return TableMap(schemas, entries)


def _known(name: str, names: Iterable[str]) -> str | None:
    """The one of ``names`` that is meant: the same, or the only one that differs in case; None when
    there is none."""
    same = [known for known in names if known.upper() == name.upper()]
    return name if name in same else same[0] if len(same) == 1 else None


def _section(document: Mapping[str, Any], name: str, problems: list[str]) -> Mapping[str, Any]:
    section = document.get(name, {})
    if isinstance(section, dict):
        return section
    problems.append(f"{name}: found {section!r}; expected a table")
    return {}


def _entry_of(
    place: str, value: Mapping[str, Any], versions: Sequence[Table], problems: list[str]
) -> TableMapping:
    columns: dict[str, list[Column]] = {}
    for table in versions:
        for column in table.columns:
            columns.setdefault(column.name, []).append(column)
    problems += [
        f"{place}.{name}: expected one of: {', '.join(_ENTRIES)}{_INSTEAD.get(name, '')}"
        for name in value.keys() - _ENTRIES
    ]
    for name, kind in _ENTRIES.items():
        if name in value and not isinstance(value[name], kind):
            problems.append(
                f"{place}.{name}: found {value[name]!r}; expected a"
                f" {'text' if kind is str else 'list' if kind is list else 'table'}"
            )
            return TableMapping()
    if "name" in value and (not all(value["name"].split(".")) or value["name"].count(".") > 1):
        problems.append(f"{place}.name: found {value['name']!r}; expected NAME or SCHEMA.NAME")
    own: dict[str, dict[str, str]] = {}  # the log's name -> the name as the file has it
    for name in ("columns", "types", "exclude", "mask"):
        own[name] = _own_columns(f"{place}.{name}", value.get(name, ()), columns, problems)
    for name in ("columns", "types"):
        problems += [
            f"{place}.{name}.{c}: found {v!r}; expected a text"
            for c, v in value.get(name, {}).items()
            if not isinstance(v, str) or not v
        ]
    entry = TableMapping(
        value.get("name", ""),
        {column: str(value["columns"][said]) for column, said in own["columns"].items()},
        {column: str(value["types"][said]) for column, said in own["types"].items()},
        tuple(own["exclude"]),
        tuple(own["mask"]),
    )
    for name in entry.mask:
        reasons = dict.fromkeys(filter(None, map(cannot_mask, columns[name])))
        problems += [
            f"{place}.mask: {name} cannot be masked: {reason}; expected it under exclude"
            for reason in reasons
        ]
        kinds = sorted({mask_kind(column) for column in columns[name]})
        if not reasons and len(kinds) > 1:
            problems.append(
                f"{place}.mask: {name} has several types in this log ({', '.join(kinds)}), so that"
                " a value would get several masks; expected it under exclude, or the table"
                " left out"
            )
    problems += [
        f"{place}: {name} is masked and has a type of its own; expected one of these"
        for name in entry.mask
        if name in entry.types
    ]
    return entry


def _own_columns(
    place: str, said: Iterable[Any], columns: Iterable[str], problems: list[str]
) -> dict[str, str]:
    """The log's names of the columns that a part of the file names -> as they are said there."""
    own_names: dict[str, str] = {}
    for name in said:
        known = _known(name, columns) if isinstance(name, str) else None
        if known is None:
            problems.append(
                f"{place}: {name!r} is no column; expected one of: {', '.join(columns)}"
            )
        elif known in own_names:
            problems.append(
                f"{place}: found {known} twice; expected each column once, in whatever case"
            )
        else:
            own_names[known] = name
    return own_names


def _type_problems(mapping: TableMap, profile: Profile) -> Iterator[str]:
    for table, entry in mapping.tables.items():
        for column, kind in entry.types.items():
            if not _is_type(kind, profile):
                yield (
                    f"tables.{table}.types.{column}: found {kind!r}; expected a type of"
                    f" {profile.name}"
                )


def _is_type(kind: str, profile: Profile) -> bool:
    """Whether a text is a type of the dialect, and nothing more."""
    try:
        tree = sqlglot.parse_one(f"CREATE TABLE t (c {kind})", read=profile.sqlglot)
    except errors.SqlglotError:
        return False
    if (
        not isinstance(tree, exp.Create)
        or not isinstance(tree.this, exp.Schema)
        or len(tree.this.expressions) != 1
        or _BEYOND_A_TYPE.search(kind)
    ):
        return False
    column = tree.this.expressions[0]
    return (
        isinstance(column, exp.ColumnDef)
        and isinstance(column.kind, exp.DataType)
        and not column.args.get("constraints")
    )


def _name_problems(
    mapping: TableMap, tables: Sequence[Table], profile: Profile, spelling: str
) -> Iterator[str]:
    """What is wrong with the names and keys that come out."""
    try:
        for table in tables:
            identity(table, RenderOptions(exclude_columns=mapping.excluded()))
        renamed = [(table, mapping.table(table)) for table in tables]
        latest = {f"{table.schema}.{table.name}": target for table, target in renamed}
        check_collisions(list(latest.values()), profile, spelling)
    except SqlgenError as error:
        yield error.message
        return
    seen: dict[tuple[str, str], str] = {}
    for name, table in latest.items():
        spelled = (
            (table.schema.lower(), table.name.lower())
            if spelling == "lower"
            else (table.schema, table.name)
        )
        if (other := seen.setdefault(spelled, name)) != name:
            yield (
                f"{other} and {name} both become {'.'.join(spelled)}; expected a table each, for"
                " rows of both may have one key (join them in the target by a view with UNION ALL)"
            )
    collisions: set[str] = set()
    for table, target in renamed:
        columns: dict[str, str] = {}
        for source, column in zip(
            shown_columns(table, mapping.shown), target.in_target().columns, strict=True
        ):
            spelled_column = target_name(column.name, profile, spelling)
            if (first := columns.setdefault(spelled_column, source.name)) != source.name:
                collisions.add(
                    f"{table.schema}.{table.name}: the columns {first} and {source.name} both"
                    f" become {spelled_column!r}"
                )
    yield from sorted(collisions)
