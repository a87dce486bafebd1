"""A mapping: how tables and columns are called, typed, left out, masked or added in the target."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import starmap
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlgen.errors import SqlgenError
from sqlgen.masking import MASKS, fingerprint, mask_kind, masked
from sqlgen.render_options import RenderOptions, shown_columns
from sqlgen.schema import Column, Constraints, ForeignKey, Rows, SqlType, Table

if TYPE_CHECKING:
    from sqlgen.ddl.schema_file import Declared


@dataclass(frozen=True)
class TableMapping:
    """What becomes of one table; column names are those of the log, ``name`` has the schema in
    front where it is another. ``constants``: columns that the log does not have, by the target's
    name, and what is in each row."""

    name: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()
    constants: Mapping[str, str | int] = field(default_factory=dict)


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
        taken = {name.upper() for name in (*names.values(), *entry.constants)}
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
        key = tuple(names[column] for column in table.key)
        return Table(
            *self.name(table),
            (*columns, *self.constants(table)),
            (*key, *entry.constants) if key else (),
            tuple(names[name] for name in unnamed if name in entry.exclude),
            tuple(names[name] for name in unnamed if name not in entry.exclude),
        )

    def constants(self, table: Table) -> tuple[Column, ...]:
        """The columns that a table gets beside those of the log."""
        return tuple(starmap(_constant_column, self._entry(table).constants.items()))

    def joined(self, tables: Sequence[Table]) -> list[Table]:
        """The tables that the target has instead of these, each once. SqlgenError (LR1011) where
        several become one and have other columns."""
        made: dict[tuple[str, str], Table] = {}
        for table in tables:
            target = self.table(table).in_target()
            other = made.setdefault(self.name(table), target)
            if _shape(other) != _shape(target):
                raise SqlgenError(
                    "LR1011",
                    f"found {table.schema}.{table.name}, which becomes {'.'.join(self.name(table))}"
                    " with other columns or types than another table; expected the same of both",
                    "Leave columns out (exclude), or give both one type (types); or make that"
                    " table yourself",
                )
            if _constant_lengths(target) > _constant_lengths(other):
                made[self.name(table)] = target
        return list(made.values())

    def rows(self, rows: Rows) -> Rows:
        """Rows of a table of the log as the target has them."""
        names = self.names(rows.table)

        def side(image: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
            mapped = {
                names[name]: self.mask(rows.table, name, values) for name, values in image.items()
            }
            if image:
                mapped |= {one.name: one.constants(rows.count) for one in added}
            return mapped

        added = self.constants(rows.table)

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
        """Keys and foreign keys of the target's tables by the names of the log, of each table that
        becomes one of them; what a mapping adds is no part of them. SqlgenError (LR1011) where a
        key of several tables lacks it."""
        known: dict[str, dict[str, Table]] = {}
        for table in tables:
            place = ".".join(self.name(table)).upper()
            known.setdefault(place, {})[_log_name(table)] = table
        self._check_keys(constraints, known)

        def of(place: str) -> Sequence[Table | str]:
            return list(known[place].values()) if place in known else [place]

        return replace(
            constraints,
            keys=tuple(
                (_log_name(table), self._in_log(table, columns))
                for place, columns in constraints.keys
                for table in of(place)
            ),
            deferrable=frozenset(
                (_log_name(table), frozenset(self._in_log(table, columns)))
                for place, columns in constraints.deferrable
                for table in of(place)
            ),
            foreign_keys=tuple(
                replace(
                    foreign,
                    table=_log_name(child),
                    columns=self._in_log(child, foreign.columns),
                    parent=_log_name(parent),
                    parent_columns=self._in_log(parent, foreign.parent_columns),
                    set_columns=self._in_log(child, foreign.set_columns),
                )
                for foreign in constraints.foreign_keys
                for child in of(foreign.table)
                for parent in of(foreign.parent)
                if self._joins(foreign, child, parent)
            ),
            outside=tuple(
                (_log_name(table), said)
                for place, said in constraints.outside
                for table in of(place)
            ),
        )

    def _check_keys(
        self, constraints: Constraints, known: Mapping[str, Mapping[str, Table]]
    ) -> None:
        """SqlgenError (LR1011) for a key of the target that rows of several tables can share."""
        for place, columns in constraints.keys:
            several = known.get(place, {})
            values = [
                {one.name: one.constant for one in self.constants(t)} for t in several.values()
            ]
            if len({tuple(map(one.get, columns)) for one in values}) < len(several):
                raise SqlgenError(
                    "LR1011",
                    f"found the key ({', '.join(columns)}) of {place}, which"
                    f" {' and '.join(several)} become; expected their constant in it, for rows of"
                    " both may have one key",
                    "Make that key of the target with the column of the constant",
                )

    def _in_log(self, table: Table | str, columns: Iterable[str]) -> tuple[str, ...]:
        """The log's names of columns of the target, without those that are added."""
        if isinstance(table, str):
            return tuple(columns)
        names = {new: old for old, new in self.names(table).items()}
        added = self._entry(table).constants
        return tuple(names.get(column, column) for column in columns if column not in added)

    def _joins(self, foreign: ForeignKey, child: Table | str, parent: Table | str) -> bool:
        """Whether rows of ``child`` refer to those of ``parent`` by a foreign key of the target:
        both sides have the same constants in it. SqlgenError (LR1011) where one side is a column
        of the log, so that each row says which table it refers to."""
        if isinstance(child, str) or isinstance(parent, str):
            return True
        own, others = self._entry(child).constants, self._entry(parent).constants
        targets = foreign.parent_columns or self.table(parent).key
        pairs = [
            (own.get(one), others.get(other))
            for one, other in zip(foreign.columns, targets, strict=False)
            if one in own or other in others
        ]
        if any(None in pair for pair in pairs):
            raise SqlgenError(
                "LR1011",
                f"found a constant on one side of foreign key {foreign.name or '(unnamed)'} of"
                f" {foreign.table}; expected it on both",
                "Give the table of the other side the same constant",
            )
        return all(one == other for one, other in pairs)

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

        added = {_log_name(table): self._entry(table).constants for table in tables}

        def mapped(name: str) -> str:
            return f"{known[name].schema}.{known[name].name}".upper()

        keys = {
            (mapped(name), (*columns, *added[name])): None
            for name, columns in constraints.keys
            if shown(name, columns)
        }
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
                more = tuple(added[foreign.parent])
                if added[foreign.parent].items() - added[foreign.table].items():
                    unused.append(
                        f"foreign key {foreign.name or '(unnamed)'} of {foreign.table}: the key of"
                        f" {foreign.parent} has a constant ({', '.join(more)}) that it lacks"
                    )
                    continue
                foreign = replace(
                    foreign,
                    table=child,
                    columns=(*foreign.columns, *more),
                    parent=parent,
                    parent_columns=foreign.parent_columns and (*foreign.parent_columns, *more),
                )
                if foreign not in foreign_keys:
                    foreign_keys.append(foreign)
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


def _log_name(table: Table | str) -> str:
    """A table as keys name it."""
    return table if isinstance(table, str) else f"{table.schema}.{table.name}".upper()


def _constant_column(name: str, value: str | int) -> Column:
    """A column with one value."""
    if isinstance(value, str):
        return Column(name, SqlType.VARCHAR, False, len(value.encode()), constant=value)
    kind = SqlType.INTEGER if -(2**31) <= value < 2**31 else SqlType.BIGINT
    return Column(name, kind, False, constant=value)


def _shape(table: Table) -> tuple[object, ...]:
    """What tables that become one have in common: all but the values of constants."""
    columns = (
        one if one.constant is None else replace(one, constant=None, length=0)
        for one in table.columns
    )
    return frozenset(columns), frozenset(table.key)


def _constant_lengths(table: Table) -> int:
    return sum(one.length for one in table.columns if one.constant is not None)


def plain(options: RenderOptions) -> RenderOptions:
    """The options for rows that a mapping made: which columns are shown is settled."""
    return replace(options, columns=(), exclude_columns=())
