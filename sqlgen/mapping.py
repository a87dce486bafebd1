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
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlgen.constraints import Constraints, ForeignKey
from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.late import LateModule, errors, exp, sqlglot
from sqlgen.masking import cannot_mask, fingerprint, mask_kind, masked
from sqlgen.names import check_collisions, target_name
from sqlgen.render_options import RenderOptions, identity, shown_columns
from sqlgen.rows import Rows
from sqlgen.schema import Column, Table

if TYPE_CHECKING:
    import tomllib

    from sqlgen.ddl.schema_file import Declared
else:  # where there is a mapping
    tomllib = LateModule("tomllib")

_TOP = {"schemas", "tables"}
_ENTRIES = {"name": str, "columns": dict, "types": dict, "exclude": list, "mask": list}
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
    nothing is masked)."""

    schemas: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, TableMapping] = field(default_factory=dict)
    key: bytes = b""

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
        told = {"mask_key": fingerprint(self.key)} if self.key else {}
        return {"schemas": dict(self.schemas), "tables": tables, **told}

    def excluded(self) -> tuple[str, ...]:
        """The columns that are left out, as ``--exclude-columns`` names them."""
        return tuple(
            glob.escape(f"{name}.{column}")
            for name, entry in self.tables.items()
            for column in entry.exclude
        )

    def masked(self) -> frozenset[str]:
        """The columns that are masked, as OWNER.NAME.COLUMN."""
        return frozenset(
            f"{name}.{column}" for name, entry in self.tables.items() for column in entry.mask
        )

    def mask(self, table: Table, name: str, values: pa.Array) -> pa.Array:
        """The values of a column of a table as the target has them."""
        masks = name in self._entry(table).mask
        return masked(values, table.column(name), self.key) if masks else values

    def masked_columns(self, table: Table) -> tuple[str, ...]:
        """The columns of a table that are masked."""
        return self._entry(table).mask

    def keeps_whole(self, table: Table, options: RenderOptions) -> bool:
        """Whether the rows of a table have every column that the target's have: the mapping leaves
        out the others, not the options."""
        shown = {column.name for column in shown_columns(table, options)}
        hidden = {column.name for column in table.columns} - shown
        return hidden <= set(self._entry(table).exclude)

    def name(self, table: Table) -> tuple[str, str]:
        """(schema, name) of a table in the target."""
        entry = self._entry(table)
        schema, dot, name = entry.name.rpartition(".")
        return (
            schema if dot else self.schemas.get(table.schema.upper(), table.schema)
        ), name or table.name

    def table(self, table: Table, options: RenderOptions) -> Table:
        """A table as the target has it, with the columns that are shown. SqlgenError (LR3006) when
        what finds a row is left out."""
        entry = self._entry(table)
        identity(table, options)
        schema, name = self.name(table)
        shown = tuple(
            replace(
                column,
                name=entry.columns.get(column.name, column.name),
                declared=entry.types.get(column.name, ""),
            )
            for column in shown_columns(table, options)
        )
        return Table(
            schema, name, shown, tuple(entry.columns.get(column, column) for column in table.key)
        )

    def rows(self, rows: Rows, options: RenderOptions) -> Rows:
        """Rows as the target has them. They are whole without the columns that the mapping leaves
        out, which the target does not have, but not without those that the options hide."""
        entry = self._entry(rows.table)

        def side(image: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
            return {
                entry.columns.get(name, name): self.mask(rows.table, name, values)
                for name, values in image.items()
            }

        shown = {column.name for column in shown_columns(rows.table, options)}
        # what is left out may have the name that another column gets
        changed = {
            entry.columns.get(name, name) if name in shown else f"{name}\0": mask
            for name, mask in rows.changed.items()
        }
        whole = rows.whole if self.keeps_whole(rows.table, options) else None
        table = self.table(rows.table, options)
        return replace(
            rows,
            table=table,
            before=side(rows.before),
            after=side(rows.after),
            changed=changed,
            whole=whole,
        )

    def constraints(
        self, constraints: Constraints, tables: Sequence[Table], options: RenderOptions
    ) -> Constraints:
        """Keys and foreign keys as the target has them; those with a column or table that is left
        out go, and are named."""
        known = {f"{table.schema}.{table.name}".upper(): table for table in tables}
        unused = list(constraints.unused)

        def shown(name: str, columns: Iterable[str]) -> bool:
            return name in known and set(columns) <= {
                column.name for column in shown_columns(known[name], options)
            }

        def mapped(name: str, columns: Iterable[str]) -> tuple[str, tuple[str, ...]]:
            entry = self._entry(known[name])
            return ".".join(self.name(known[name])).upper(), tuple(
                entry.columns.get(column, column) for column in columns
            )

        keys = [mapped(name, columns) for name, columns in constraints.keys if shown(name, columns)]
        for name, columns in constraints.keys:
            if name in known and not shown(name, columns):
                unused.append(f"key ({', '.join(columns)}) of {name}: a column of it is left out")
        foreign_keys: list[ForeignKey] = []
        for foreign in constraints.foreign_keys:
            if not shown(foreign.table, foreign.columns) or not shown(
                foreign.parent, foreign.parent_columns
            ):
                if foreign.table in known:
                    unused.append(
                        f"foreign key {foreign.name or '(unnamed)'} of {foreign.table}: a column or"
                        " table of it is left out"
                    )
                continue
            table, columns = mapped(foreign.table, foreign.columns)
            parent, parent_columns = mapped(foreign.parent, foreign.parent_columns)
            foreign_keys.append(
                replace(
                    foreign,
                    table=table,
                    columns=columns,
                    parent=parent,
                    parent_columns=parent_columns,
                )
            )
        outside = tuple(
            (mapped(name, ())[0], said) for name, said in constraints.outside if name in known
        )
        return replace(
            constraints,
            keys=tuple(keys),
            foreign_keys=tuple(foreign_keys),
            unused=tuple(unused),
            outside=outside,
        )

    def check_masks(
        self, constraints: Constraints, tables: Sequence[Table], options: RenderOptions
    ) -> None:
        """SqlgenError (LR1011) where the two sides of a foreign key get different masks: rows that
        refer to each other part ways."""
        known = {f"{table.schema}.{table.name}".upper(): table for table in tables}
        for foreign in constraints.foreign_keys:
            child, parent = known.get(foreign.table), known.get(foreign.parent)
            if child is None or parent is None:
                continue
            names = [
                {column.name for column in shown_columns(table, options)}
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
        self, declared: Mapping[str, Declared], tables: Sequence[Table], options: RenderOptions
    ) -> dict[str, Declared]:
        """What else DDL declares, by the target's OWNER.NAME in upper case; nothing is said of
        columns that are masked or left out."""
        renamed = {}
        for table in tables:
            known = declared.get(f"{table.schema}.{table.name}".upper())
            if known is None:
                continue
            entry = self._entry(table)
            shown = {column.name for column in shown_columns(table, options)} - set(entry.mask)
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
    text: str, tables: Sequence[Table], profile: Profile, options: RenderOptions, key: bytes | None
) -> TableMap:
    """The mapping in ``text``, checked against all forms of the log's tables. SqlgenError (LR1011)
    names everything that is wrong with it; ``key`` is None where none is given."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SqlgenError("LR1011", f"the mapping is not TOML: {error}") from None
    problems: list[str] = []
    mapping = _mapping_of(document, tables, problems)
    problems += _type_problems(mapping, profile)
    masks = [f"{name}.{column}" for name, entry in mapping.tables.items() for column in entry.mask]
    if masks and key is None:
        problems.append(
            f"{masks[0]} is masked, and there is no key; expected one (--mask-key-file)"
        )
    mapping = replace(mapping, key=key if masks and key else b"")
    if not problems:
        problems += _name_problems(mapping, tables, profile, options)
    if problems:
        more = f" ({len(problems) - _SHOWN} more)" if len(problems) > _SHOWN else ""
        raise SqlgenError(
            "LR1011",
            "the mapping cannot be used: " + "; ".join(problems[:_SHOWN]) + more,
            "Nothing was written",
        )
    return mapping


def _mapping_of(
    document: Mapping[str, Any], tables: Sequence[Table], problems: list[str]
) -> TableMap:
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
            problems.append(
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
            problems.append(
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
        f"{place}.{name}: expected one of: {', '.join(_ENTRIES)}"
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
    mapping: TableMap, tables: Sequence[Table], profile: Profile, options: RenderOptions
) -> Iterator[str]:
    """What is wrong with the names and keys that come out."""
    hidden = replace(options, exclude_columns=(*options.exclude_columns, *mapping.excluded()))
    try:
        renamed = [(table, mapping.table(table, hidden)) for table in tables]
        latest = {f"{table.schema}.{table.name}": target for table, target in renamed}
        check_collisions(list(latest.values()), profile, options.names)
    except SqlgenError as error:
        yield error.message
        return
    seen: dict[tuple[str, str], str] = {}
    for name, table in latest.items():
        spelled = (
            (table.schema.lower(), table.name.lower())
            if options.names == "lower"
            else (table.schema, table.name)
        )
        if (other := seen.setdefault(spelled, name)) != name:
            yield f"{other} and {name} both become {'.'.join(spelled)}"
    collisions: set[str] = set()
    for table, target in renamed:
        columns: dict[str, str] = {}
        for source, column in zip(shown_columns(table, hidden), target.columns, strict=True):
            spelled_column = target_name(column.name, profile, options.names)
            if (first := columns.setdefault(spelled_column, source.name)) != source.name:
                collisions.add(
                    f"{table.schema}.{table.name}: the columns {first} and {source.name} both"
                    f" become {spelled_column!r}"
                )
    yield from sorted(collisions)
