"""The key spaces of a log's tables: the rows, keys and whole tables that changes touch; and values
of keys that no row has.

A *key space* is one key of one table: its row identity (primary key, else a unique key, else the
whole row image), a further unique key, or the table as a whole. Of tens of thousands of tables most
have one version and are named by no constraint: what is to be said of these is made when a change
of them comes along.

Rows that exchange unique keys wait at values that no row has: where no row may be removed for a
moment, because others refer to it, one of them gets such a value until its new one is free. A
unique key that had the value already would refuse it: the script stops, and no row is wrong.
"""

from __future__ import annotations

import weakref
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from replay.arrays import Index, Mask
from replay.changes.catalog import Catalog, TableVersion, VersionColumns, names_apart
from sqlgen.names import alike
from sqlgen.schema import ARROW_TYPES, Column, Constraints, SqlType, Table


@dataclass(frozen=True)
class KeySpace:
    """One key of one table (``OWNER.NAME``). ``kind`` is ``row``, ``unique``, ``image`` (no key:
    the whole row) or ``table``."""

    number: int
    table: str
    columns: tuple[str, ...]
    kind: str


@dataclass(frozen=True)
class SpaceKinds:
    """What key spaces are, ``bool`` by number each: what tells the rows of a table version apart,
    by a key (``row``) or as a whole (``image``), other ``unique`` keys, keys that others refer to
    (``parent``), those ``listed`` as keys of rows. ``table``: by space that of its table;
    ``keyed``: by table version whether it has a key of any kind."""

    row: Mask
    image: Mask
    unique: Mask
    parent: Mask
    listed: Mask
    table: Index
    keyed: Mask


@dataclass(frozen=True)
class KeyUse:
    """How rows of a table version touch a space: as the ``row`` itself, as a further ``unique``
    key, or as a ``child`` that refers to it. ``textual``: integers are hashed as decimals, because
    other rows have decimals there."""

    space: int
    columns: tuple[str, ...]
    how: str
    textual: frozenset[str] = frozenset()

    @property
    def in_order(self) -> Sequence[str]:
        """The columns in the order in which they are hashed."""
        return self.columns if self.how == "child" else sorted(self.columns)


Made = TypeVar("Made")


class Numbered(Generic[Made]):
    """By number what there is of each, made when somebody asks for it and kept from then on:
    ``known`` is there already. IndexError for numbers beyond ``count``."""

    def __init__(self, count: int, make: Callable[[int], Made], known: Mapping[int, Made]) -> None:
        self._count, self._make, self._made = count, make, dict(known)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> Made:
        made = self._made.get(number)
        if made is None:
            if not 0 <= number < self._count:
                raise IndexError(number)
            made = self._made[number] = self._make(number)
        return made

    def __iter__(self) -> Iterator[Made]:
        return map(self.__getitem__, range(self._count))


@dataclass(frozen=True)
class _Alone:
    """Tables that nothing ties to another version: by version the space of the table (``first``),
    behind which that of its rows follows."""

    columns: VersionColumns
    first: Index

    def space(self, number: int) -> KeySpace:
        """A space of one of these tables."""
        (index,) = self.versions(number)
        name = self.columns.name(index).upper()
        if number == self.first[index]:
            return KeySpace(number, name, (), "table")
        key = self.columns.key(index)
        return KeySpace(number, name, key, "row" if key else "image")

    def versions(self, number: int) -> list[int]:
        """The version of the table of a space."""
        return [int(np.searchsorted(self.first, number, "right")) - 1]

    def uses(self, index: int) -> tuple[KeyUse, ...]:
        """The use of one of these versions."""
        return (KeyUse(int(self.first[index]) + 1, self.columns.key(index), "row"),)

    def forms(self, index: int) -> tuple[tuple[int, int], ...]:
        """They have one form."""
        return ()

    def places(self, index: int) -> tuple[int, ...]:
        """The places of the columns, in the order of their names."""
        places = self.columns.format(index).places
        rank = {name: place for place, name in enumerate(sorted(places), 1)}
        return tuple(rank[entry.column.name] for entry in self.columns.format(index).columns)


class KeySpaces:
    """The key spaces of a log's tables and what each table version has to do with them. Cheap to
    make and to pickle where there are many tables: what is said of one that has one version, which
    no constraint names, is made when somebody asks for it. ``masked``: columns (OWNER.NAME.COLUMN)
    whose values must not be shown."""

    def __init__(
        self,
        catalog: Catalog,
        constraints: Constraints | None = None,
        masked: frozenset[str] = frozenset(),
    ) -> None:
        self.masked = masked
        self.constraints = constraints or Constraints()
        every = catalog.columns.names()
        apart = names_apart(every)
        names = [apart[name] for name in every]
        #: Tables of which constraints do not tell which one they mean. Rows that are put in order
        #: by a key of another table come out in a wrong one.
        self._alike = alike(every)
        self._known: dict[tuple[str, tuple[str, ...], str], int] = {}
        #: Of versions that are tied to others, by number: their spaces, tables and uses.
        self._spaces: dict[int, KeySpace] = {}
        self._tables, tied = tied_tables(names, catalog.columns.ids(), self.constraints)
        #: The versions of each of these tables, by its name in upper case, as constraints have it.
        self.of_name: dict[str, list[int]] = {}
        for index in tied:
            self.of_name.setdefault(names[index].upper(), []).append(index)
        # another version takes a number for its table, and one for its rows
        self._next, behind = 0, 0
        width, space = np.full(len(names), 2), dict[int, int]()
        self._uses: dict[int, tuple[KeyUse, ...]] = {}
        for index in tied:
            self._next += 2 * (index - behind)
            first, behind = self._next, index + 1
            version, table = catalog.versions[index], self._tables[index]
            space[index] = self._space(table, (), "table")
            self._uses[index] = tuple(self._uses_of(version, table, catalog))
            width[index] = self._next - first
        self._next += 2 * (len(names) - behind)
        self._alone = _Alone(catalog.columns, np.cumsum(width) - width)
        own = self._alone.first.copy()
        own[list(space)] = list(space.values())
        #: By version the space of its table.
        self.table_space: list[int] = own.tolist()
        #: Of tied versions, how many each table has, by its space.
        self._generations = Counter(space.values())
        versions = [catalog.versions[index] for index in tied]
        sharing = self._sharing(versions)
        self._compare_values(sharing)
        self._forms = self._forms_of(sharing)
        self._places = self._places_of(versions)
        self._keyed: Mask = catalog.columns.keyed()
        self._open()

    def _open(self) -> None:
        alone, count = self._alone, len(self.table_space)
        self.spaces = Numbered(self._next, alone.space, self._spaces)
        #: By version: its uses (the row's first), its forms as (space, form), and the place of each
        #: of its columns among those of all generations of the table.
        self.uses = Numbered(count, alone.uses, self._uses)
        self.forms = Numbered(count, alone.forms, self._forms)
        self.column_places = Numbered(count, alone.places, self._places)

    def __getstate__(self) -> dict[str, Any]:
        opened = ("spaces", "uses", "forms", "column_places", "kinds")
        return {name: value for name, value in self.__dict__.items() if name not in opened}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()

    @cached_property
    def kinds(self) -> SpaceKinds:
        """What the spaces are, of all at once."""
        own, tied = np.array(self.table_space, np.int64), list(self._uses)
        lone = np.ones(len(own), bool)
        lone[tied] = False
        rows = own[lone] + 1
        row, image, unique, parent, listed = (np.zeros(self._next, bool) for _ in range(5))
        table = np.zeros(self._next, np.int64)
        table[own] = own
        table[rows] = own[lone]
        row[rows], image[rows] = self._keyed[lone], ~self._keyed[lone]
        listed[rows] = self._keyed[lone]
        keyed = self._keyed.copy()
        for index, uses in self._uses.items():
            keyed[index] = any(use.columns for use in uses)
            (row if uses[0].columns else image)[uses[0].space] = True
            for use in uses[1:]:
                (parent if use.how == "child" else unique)[use.space] = True
        tables = {table: own[index] for index, table in self._tables.items()}
        for number, one in self._spaces.items():
            table[number] = tables[one.table]
            listed[number] = one.kind == "row"
        return SpaceKinds(row, image, unique, parent, listed, table, keyed)

    def generations(self, version: int) -> int:
        """How many versions the table of a version has."""
        return self._generations.get(self.table_space[version], 1)

    def versions_of(self, space: int) -> list[int]:
        """The versions, rising, that may have a use of a space."""
        known = self._spaces.get(space)
        return self._alone.versions(space) if known is None else sorted(self._uses)

    def several_forms(self) -> set[int]:
        """The spaces that stand for the forms of a table or key that has several."""
        return {number for forms in self._forms.values() for number, _ in forms}

    def _space(self, table: str, columns: tuple[str, ...], kind: str) -> int:
        known_as = kind if kind in ("table", "image", "forms") else "key"
        key = (table, tuple(sorted(columns)), known_as)
        if key not in self._known:
            self._known[key] = number = self._next
            self._next += 1
            shown = "table" if kind == "forms" else kind
            self._spaces[number] = KeySpace(number, table, columns, shown)
        number = self._known[key]
        if kind == "row" and self._spaces[number].kind == "unique":  # known as a child's parent
            self._spaces[number] = replace(self._spaces[number], columns=columns, kind=kind)
        return number

    def _uses_of(self, version: TableVersion, table: str, catalog: Catalog) -> Iterator[KeyUse]:
        columns = {column.name for column in version.in_images}
        name, key = version.name.upper(), version.key_in_images
        known = () if name in self._alike else self.constraints.keys_of(name)
        unique = [entry for entry in known if set(entry) <= columns]
        row = key or (unique[0] if unique else ())
        yield KeyUse(self._space(table, row, "row" if row else "image"), row, "row")
        for entry in unique:
            if set(entry) != set(row):
                yield KeyUse(self._space(table, entry, "unique"), entry, "unique")
        for foreign in self.constraints.foreign_keys_of(name):
            parents = [
                (catalog.versions[parent].key_in_images, self._tables[parent])
                for parent in self.of_name.get(foreign.parent, ())
            ]
            if not set(foreign.columns) <= columns:
                continue
            targets = [(foreign.parent_columns or key, of) for key, of in parents]
            for target, of in dict.fromkeys(targets):
                if len(target) == len(foreign.columns):
                    ordered = tuple(sorted(zip(target, foreign.columns, strict=True)))
                    space = self._space(of, tuple(column for column, _ in ordered), "unique")
                    yield KeyUse(space, tuple(column for _, column in ordered), "child")

    def _sharing(self, versions: Sequence[TableVersion]) -> list[TableVersion]:
        """Those versions that share a table or a space with another one."""
        tables = Counter(self._tables[version.index] for version in versions)
        spaces = Counter(use.space for uses in self._uses.values() for use in uses)
        return [
            version
            for version in versions
            if tables[self._tables[version.index]] > 1
            or any(spaces[use.space] > 1 for use in self._uses[version.index])
        ]

    def _compare_values(self, sharing: Sequence[TableVersion]) -> None:
        """Where rows of one form have integers and those of another decimals, both are hashed as
        decimals."""
        kinds: dict[tuple[int, int], set[str]] = defaultdict(set)
        for version in sharing:
            for use in self._uses[version.index]:
                for place, name in enumerate(use.in_order):
                    kinds[use.space, place].add(_comparison(version.table.column(name).type))
        for version in sharing:
            self._uses[version.index] = tuple(
                replace(
                    use,
                    textual=frozenset(
                        name
                        for place, name in enumerate(use.in_order)
                        if {"integer", "decimal"} <= kinds[use.space, place]
                        and _comparison(version.table.column(name).type) == "integer"
                    ),
                )
                for use in self._uses[version.index]
            )

    def _forms_of(self, sharing: Sequence[TableVersion]) -> dict[int, tuple[tuple[int, int], ...]]:
        """The forms of each table and of each key whose values are hashed in several ways."""
        groups: dict[tuple[str, int], dict[Hashable, int]] = defaultdict(dict)
        members: dict[int, list[tuple[tuple[str, int], int]]] = defaultdict(list)

        def add(index: int, group: tuple[str, int], form: Hashable) -> None:
            forms = groups[group]
            members[index].append((group, forms.setdefault(form, len(forms))))

        for version in sharing:
            index = version.index
            own, *more = self._uses[index]
            layout = None if own.columns else version.format
            unique = frozenset(use.space for use in more if use.how == "unique")
            add(index, (self._tables[index], -1), (own.space, layout, unique))
            for use in self._uses[index]:
                if use.columns:
                    kinds = tuple(
                        "decimal" if name in use.textual else _comparison(column.type)
                        for name in use.in_order
                        for column in (version.table.column(name),)
                    )
                    add(index, (self._spaces[use.space].table, use.space), kinds)
        found = {}
        for index, entries in members.items():
            several = [(group, form) for group, form in entries if len(groups[group]) > 1]
            found[index] = tuple(
                dict.fromkeys(
                    (self._space(table, (str(number),), "forms"), form)
                    for (table, number), form in several
                )
            )
        return found

    def _places_of(self, versions: Sequence[TableVersion]) -> dict[int, tuple[int, ...]]:
        """Columns that not all generations of a table have share place 0: one may be another under
        a new name."""
        formats = defaultdict(list)
        for version in versions:
            formats[self._tables[version.index]].append(version.format)
        shared: dict[tuple[int, ...], dict[str, int]] = {}
        places: dict[tuple[int, ...], tuple[int, ...]] = {}
        found = {}
        for version in versions:
            table = self._tables[version.index]
            alike = tuple(map(id, formats[table]))
            if alike not in shared:
                names = set.intersection(*(set(one.places) for one in formats[table]))
                shared[alike] = {name: place for place, name in enumerate(sorted(names), 1)}
            own = (id(version.format), *alike)
            if own not in places:
                columns = version.format.columns
                places[own] = tuple(shared[alike].get(one.column.name, 0) for one in columns)
            found[version.index] = places[own]
        return found

    def row_space(self, version: int) -> KeySpace:
        """The space of a table version's row identity."""
        return self.spaces[self.uses[version][0].space]


#: Key spaces that were made, as long as their catalog is there.
_MADE: list[tuple[weakref.ref[Catalog], Constraints, KeySpaces]] = []


def key_spaces(
    catalog: Catalog, constraints: Constraints, masked: frozenset[str] = frozenset()
) -> KeySpaces:
    """The key spaces of a catalog, which are made once in a process for all its tasks."""
    made = [entry for entry in _MADE if entry[0]() is not None]
    for known, stated, spaces in made:
        if known() is catalog and stated == constraints and spaces.masked == masked:
            return spaces
    spaces = KeySpaces(catalog, constraints, masked)
    _MADE[:] = [*made[-3:], (weakref.ref(catalog), constraints, spaces)]
    return spaces


def tied_tables(
    names: Sequence[str], ids: Sequence[tuple[int, int, int]], constraints: Constraints
) -> tuple[dict[int, str], list[int]]:
    """The versions (rising) that have their name or id in common with others, or whose table a
    constraint names, and the name of the table of each of them (``OWNER.NAME``), the same for all
    its generations: those of one name, and those of one object in the database, which was renamed
    or whose number was taken again. Of several names, the last one. ``names`` as
    :func:`replay.changes.catalog.names_apart` has them."""
    named = Counter(name.upper() for name in names)
    numbered = Counter(one for one in ids if any(one))
    stated = {name for name, _ in constraints.keys}
    for foreign in constraints.foreign_keys:
        stated |= {foreign.table, foreign.parent}
    tied = [
        index
        for index, (name, number) in enumerate(zip(names, ids, strict=True))
        if named[name.upper()] > 1 or numbered[number] > 1 or name.upper() in stated
    ]
    leader: dict[Hashable, Hashable] = {}

    def find(member: Hashable) -> Hashable:
        while leader.setdefault(member, member) != member:
            member = leader[member]
        return member

    for index in tied:
        if any(ids[index]):
            leader[find(ids[index])] = find(names[index])
    last = {find(names[index]): names[index] for index in tied}
    return {index: last[find(names[index])] for index in tied}, tied


def _comparison(kind: SqlType) -> str:
    """Types whose values have one hash where they are equal have one word."""
    return _COMPARISON.get(kind, kind.value)


_COMPARISON = {
    SqlType.SMALLINT: "integer",
    SqlType.INTEGER: "integer",
    SqlType.BIGINT: "integer",
    SqlType.DECIMAL: "decimal",
    SqlType.REAL: "float",
    SqlType.DOUBLE: "float",
    SqlType.CHAR: "text",
    SqlType.VARCHAR: "text",
}


# -- values that no row has
# -------------------------------------------------------------------------------------------------

#: In a longer unit no row is parked: so many values each type has.
MOST = 36**3
_LOWEST = {SqlType.SMALLINT: 15, SqlType.INTEGER: 31, SqlType.BIGINT: 63}


def parking(
    spaces: KeySpaces, version: int, table: Table, nulls_equal: bool
) -> Iterator[tuple[frozenset[str], Column, bool]]:
    """(columns, the one that gets another value, whether that is null) of each unique key of a
    table version whose rows may be parked: no other row refers to it."""
    uses = spaces.uses[version]
    name = spaces.spaces[spaces.table_space[version]].table
    known = spaces.constraints
    referred = [
        {*map(str.upper, one.parent_columns)} for one in known.foreign_keys if one.parent == name
    ]
    referred += [{*columns} for parent, columns in known.referred if parent == name]
    unique = [use for use in uses if use.how == "unique"]
    free = [use for use in unique if {*map(str.upper, use.columns)} not in referred]
    fixed = {column for use in uses if use not in free for column in use.columns}
    for use in free:
        for column in map(table.column, use.columns):
            others = [other for other in unique if other is not use]
            alone = len(use.columns) == 1 and not any(column.name in one.columns for one in others)
            null = column.nullable and alone and not nulls_equal
            if column.name not in fixed and (null or _has_values(column)):
                yield frozenset(use.columns), column, null
                break


def _has_values(column: Column) -> bool:
    if column.type is SqlType.DECIMAL:
        return column.length - column.scale > 5
    text = column.type in (SqlType.CHAR, SqlType.VARCHAR) and not column.bit_data
    return column.type in _LOWEST or (text and column.length > 3)


def parked_values(column: Column, null: bool, numbers: Index) -> pa.Array:
    """A value of its own by number: none, or the lowest ones of the type."""
    kind = ARROW_TYPES[column.type]
    if null:
        return pa.nulls(len(numbers), kind)
    if column.type in _LOWEST:
        return pa.array(numbers - 2 ** _LOWEST[column.type], kind)
    if column.type is SqlType.DECIMAL:
        low = 10 ** (column.length - column.scale) - 1
        end = "." + "0" * column.scale if column.scale else ""
        return pa.array([f"{number - low}{end}" for number in numbers.tolist()], kind)
    return pa.array([f"~{np.base_repr(number, 36):0>3}" for number in numbers.tolist()], kind)
