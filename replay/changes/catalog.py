"""Tables of a log by identity and generation, with the layout of their row images."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np

from replay.arrays import Bytes, Index, Mask, Versions
from replay.changes.position import HIGHEST, LOWEST, sortable
from sqlgen.schema import Column, Table


@dataclass(frozen=True)
class ColumnFormat:
    """How one column lies in a row image. ``code`` is LLCOLUMNTYPE, ``length`` LLCOLUMNLEN (bytes;
    of a varying column the maximum), ``encoding`` A, E or U, ``ccsid`` None for bit data and for
    what is not text, ``expanded`` with EXPANDVAR = Y, ``position`` LLCOLUMNPOS (-1 unknown),
    ``raw``: a type that is not known, kept as bytes; ``lob``: the value is not in the log;
    ``wide``: a short hexadecimal float that is taken as a double; ``initial``: the constant of SQL
    that rows have in it which are older than the column (None: not known)."""

    column: Column
    code: str
    length: int
    scale: int = 0
    nullable: bool = False
    variable: bool = False
    encoding: str = "E"
    subtype: str = ""
    ccsid: int | None = None
    expanded: bool = False
    position: int = -1
    key_sequence: int = 0
    raw: bool = False
    lob: bool = False
    wide: bool = False
    initial: str | None = None


@dataclass(frozen=True)
class RowFormat:
    """The columns of a row image in order, and ``date_format`` (``ISO`` or ``SAS``) of its date and
    time text."""

    columns: tuple[ColumnFormat, ...]
    date_format: str = "ISO"

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each column, by name."""
        return {entry.column.name: number for number, entry in enumerate(self.columns)}

    def without_places(self) -> RowFormat:
        """The same without the places of its columns, which hang on how a log's DATA is read."""
        return replace(self, columns=tuple(replace(entry, position=-1) for entry in self.columns))


@dataclass(frozen=True)
class TableVersion:
    """One generation of a table: valid from ``created`` up to ``dropped`` (10 bytes each; zero or
    all X'FF' = still there). ``unlogged``: how many of its columns the log lacks. ``logged``: the
    table as the log has it, where ``table`` (and the names in ``format``) are as a mapping makes
    them: column by column the same, and behind them those that it adds, which no image has."""

    index: int
    table: Table
    dbid: int
    psid: int
    obid: int
    sequence: int
    version: int
    created: bytes
    dropped: bytes
    format: RowFormat
    row_type: str = "V"
    edit_proc: str = ""
    indexes: tuple[str, ...] = ()
    unlogged: int = 0
    logged: Table | None = None

    @property
    def source(self) -> Table:
        """The table as the log has it."""
        return self.table if self.logged is None else self.logged

    @property
    def name(self) -> str:
        """OWNER.NAME in the log."""
        return f"{self.source.schema}.{self.source.name}"

    @property
    def title(self) -> str:
        """:attr:`name`, and what the target calls the table where that is another name."""
        target = f"{self.table.schema}.{self.table.name}"
        return self.name if target == self.name else f"{self.name} ({target})"

    def target_name(self, column: str) -> str:
        """What the target calls a column of the log."""
        if self.logged is None:
            return column
        return self._renamed.get(column, column)

    def source_name(self, column: str) -> str:
        """What the log calls a column of the target."""
        if self.logged is None:
            return column
        return self._original.get(column, column)

    @cached_property
    def _original(self) -> dict[str, str]:
        """The target's name of each column -> the log's."""
        return {new: old for old, new in self._renamed.items()}

    @cached_property
    def _renamed(self) -> dict[str, str]:
        """The log's name of each column -> the target's."""
        pairs = zip(self.source.columns, self.in_images, strict=True)
        return {old.name: new.name for old, new in pairs}

    @cached_property
    def constants(self) -> Mapping[str, Column]:
        """The columns that a mapping adds, by name."""
        return {one.name: one for one in self.table.columns if one.constant is not None}

    @property
    def in_images(self) -> tuple[Column, ...]:
        """The columns of the table without those that a mapping adds."""
        return self.table.columns[: len(self.source.columns)]

    @property
    def key_in_images(self) -> tuple[str, ...]:
        """The identity columns without those that a mapping adds."""
        return self.table.key[: len(self.source.key)]

    def index_of(self, column: str) -> int:
        """The place of a column in the row format."""
        return self.format.places[column]


def shown_name(table: Table) -> str:
    """OWNER.NAME of a table as it is shown."""
    return f"{table.schema}.{table.name}"


def names_apart(names: Iterable[str]) -> dict[str, str]:
    """By name of a table (``OWNER.NAME``) what it is known as, whatever the case it is asked for
    in: its name in upper case, or as it is where several differ in case only."""
    spelled: dict[str, set[str]] = {}
    for name in names:
        spelled.setdefault(name.upper(), set()).add(name)
    return {
        name: folded if len(several) == 1 else name
        for folded, several in spelled.items()
        for name in several
    }


class VersionColumns:
    """The table versions of a catalog as columns, of which each version is made when somebody asks
    for it: of tens of thousands a task needs few. What many of them share, as their columns, stands
    there once. Pickled it is small, and soon read. TypeError for versions of a subclass."""

    def __init__(self, versions: Sequence[TableVersion]) -> None:
        if any(type(version) is not TableVersion for version in versions):
            raise TypeError("found versions of another class; expected TableVersion")
        self._count = len(versions)
        self._of_table = {
            name: _column([getattr(version.table, name) for version in versions], name)
            for name in _TABLE_FIELDS
        }
        self._own = {
            name: _column([getattr(version, name) for version in versions], name)
            for name in _VERSION_FIELDS
        }

    def __len__(self) -> int:
        return self._count

    def version(self, index: int) -> TableVersion:
        """The version with a number."""
        table = Table(**{name: column[index] for name, column in self._of_table.items()})
        own = {name: column[index] for name, column in self._own.items()}
        return TableVersion(index=index, table=table, **own)

    def key(self, index: int) -> tuple[str, ...]:
        """The identity columns of a version's table that its images have."""
        found: tuple[str, ...] = self._of_table["key"][index]
        logged: Table | None = self._own["logged"][index]
        return found if logged is None else found[: len(logged.key)]

    def format(self, index: int) -> RowFormat:
        """The row format of a version."""
        found: RowFormat = self._own["format"][index]
        return found

    def name(self, index: int) -> str:
        """OWNER.NAME of a version in the log."""
        logged: Table | None = self._own["logged"][index]
        if logged is not None:
            return f"{logged.schema}.{logged.name}"
        return f"{self._of_table['schema'][index]}.{self._of_table['name'][index]}"

    def names(self) -> list[str]:
        """OWNER.NAME of each version in the log."""
        if any(self._own["logged"]):
            return [self.name(index) for index in range(self._count)]
        schema, name = (_every(self._of_table[part]) for part in ("schema", "name"))
        return [f"{owner}.{table}" for owner, table in zip(schema, name, strict=True)]

    def ids(self) -> list[tuple[int, int, int]]:
        """DBID, PSID and OBID of each version."""
        columns = (_every(self._own[name]) for name in ("dbid", "psid", "obid"))
        return list(zip(*columns, strict=True))

    def keyed(self) -> Mask:
        """Which versions are of a table with a key."""
        column = self._of_table["key"]
        if isinstance(column, _Shared):
            return np.array([bool(key) for key in column.values], bool)[column.place]
        return np.array([bool(key) for key in column], bool)


@dataclass(frozen=True)
class _Shared:
    """Values that are repeated: the different ones, and which of them stands where."""

    values: list[Any]
    place: Versions

    def __getitem__(self, index: int) -> Any:
        return self.values[self.place[index]]

    def __iter__(self) -> Iterator[Any]:
        return map(self.values.__getitem__, self.place.tolist())


def _every(column: list[Any] | _Shared) -> list[Any]:
    return column if isinstance(column, list) else list(column)


def _column(values: list[Any], name: str) -> list[Any] | _Shared:
    """The values of a field, repeated ones once where that makes them fewer."""
    # to compare what is deep takes longer than it saves
    keys: list[Hashable] = list(map(id, values)) if name in _DEEP else values
    first = dict(zip(reversed(keys), reversed(values), strict=True))  # of equal ones the first
    if 2 * len(first) > len(values):
        return values
    place = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    different = [first[key] for key in place]
    return _Shared(different, np.fromiter(map(place.__getitem__, keys), np.int32, len(keys)))


_DEEP = frozenset({"columns", "format", "logged"})
_TABLE_FIELDS = tuple(field.name for field in fields(Table))
_VERSION_FIELDS = tuple(
    field.name for field in fields(TableVersion) if field.name not in ("index", "table")
)


class _Versions(Sequence[TableVersion]):
    """The versions of columns, each made once when it is asked for."""

    def __init__(self, columns: VersionColumns) -> None:
        self.columns = columns
        self._made: dict[int, TableVersion] = {}

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, index: int) -> TableVersion: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[TableVersion, ...]: ...

    def __getitem__(self, index: int | slice) -> TableVersion | tuple[TableVersion, ...]:
        if isinstance(index, slice):
            return tuple(self[number] for number in range(len(self))[index])
        number = range(len(self))[index]
        made = self._made.get(number)
        if made is None:
            made = self._made[number] = self.columns.version(number)
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


def _unpickled(columns: VersionColumns) -> Catalog:
    catalog = Catalog(_Versions(columns))
    catalog.__dict__["columns"] = columns
    return catalog


@dataclass(frozen=True)
class Catalog:
    """All table versions of a log; ``versions[i].index == i``. It travels as ``columns``, and where
    it arrives versions are made as they are asked for."""

    versions: Sequence[TableVersion]

    def __reduce__(self) -> tuple[Callable[[VersionColumns], Catalog], tuple[VersionColumns]]:
        return _unpickled, (self.columns,)

    @cached_property
    def columns(self) -> VersionColumns:
        """The versions as columns."""
        return VersionColumns(self.versions)

    def taken_by(self, takes: Callable[[Sequence[str]], Mask]) -> Mask:
        """``bool[n]``: the table versions whose tables are taken, as ``takes`` says of names; of
        no version at all, one that is not."""
        return takes(self.columns.names()) if self.versions else np.zeros(1, bool)

    def lookup(
        self,
        dbid: Index,
        psid: Index,
        obid: Index,
        positions: Callable[[], Bytes],
    ) -> Versions:
        """The index of the table version of each record, -1 where no version fits.

        ``positions`` gives the LRSN in data sharing and the RBA otherwise (``uint8[n, 10]``). The
        only generation of a table is taken whatever the position, and then nobody asks for it; of
        several, the one with CREATERBA <= position < DROPRBA (format notes, section 3), and where
        drops are unknown the last one created.
        """
        result = np.full(len(dbid), -1, np.int32)
        if not self.versions:
            return result
        wanted = (dbid << 32) | (psid << 16) | obid
        keys, latest, several = self._by_id
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        listed = keys[place] == wanted
        result[listed] = latest[place[listed]]
        places = positions() if several else None
        for key, versions in several.items():
            assert places is not None
            rows = np.flatnonzero(wanted == key)
            result[rows] = -1
            for version in versions:
                result[rows[_within(places[rows], version)]] = version.index
        return result

    @cached_property
    def _by_id(self) -> tuple[Index, Versions, dict[int, list[TableVersion]]]:
        """(ids in order, a version of each, the versions of those that have several)."""
        ids = np.array(
            [(dbid << 32) | (psid << 16) | obid for dbid, psid, obid in self.columns.ids()],
            np.int64,
        )
        rising = np.argsort(ids, kind="stable")
        last = np.flatnonzero(np.append(np.diff(ids[rising]), 1)[: len(ids)])
        latest, size = rising[last], np.diff(last, prepend=-1)
        several = {}
        for end, count in zip(last[size > 1].tolist(), size[size > 1].tolist(), strict=True):
            versions = [self.versions[int(index)] for index in rising[end - count + 1 : end + 1]]
            # where two would fit, the later one counts
            versions.sort(key=lambda version: version.created)
            several[int(ids[rising[end]])] = versions
        keys = ids[latest]
        for key, versions in several.items():
            latest[np.searchsorted(keys, key)] = versions[-1].index
        return keys, latest.astype(np.int32), several


def _within(positions: Bytes, version: TableVersion) -> Mask:
    values = sortable(positions)
    inside = values >= np.bytes_(version.created)
    if version.dropped not in (LOWEST, HIGHEST):
        inside &= values < np.bytes_(version.dropped)
    return np.asarray(inside)


class EndedTable(NamedTuple):
    """A table that a catalog has dropped ``at`` a position: the indexes of its ``own`` versions,
    and of those of tables that have its ``name`` (OWNER.NAME) ``later``."""

    name: str
    at: bytes
    own: list[int]
    later: list[int]


def ended_tables(versions: Iterable[TableVersion]) -> list[EndedTable]:
    """The tables that are dropped, or whose name another one has later. A generation that begins
    where one with its ids ends is of the same table, which was altered."""
    tables: list[list[TableVersion]] = []
    for version in sorted(versions, key=lambda one: (_ids(one), one.created, one.version)):
        last = tables[-1][-1] if tables else version
        if tables and _ids(last) == _ids(version) and version.created <= _end(last):
            tables[-1].append(version)
        else:
            tables.append([version])
    named: dict[str, list[list[TableVersion]]] = defaultdict(list)
    for table in tables:
        named[table[-1].name].append(table)
    found = []
    for name, some in named.items():
        some.sort(key=lambda table: (_end(table[-1]), table[0].created))
        for number, table in enumerate(some):
            later = [version for other in some[number + 1 :] for version in other]
            at = _end(table[-1])
            if at == HIGHEST and later:
                at = later[0].created
            if at not in (LOWEST, HIGHEST):
                own, others = ([one.index for one in each] for each in (table, later))
                found.append(EndedTable(name, at, own, others))
    return found


def _ids(version: TableVersion) -> tuple[int, int, int]:
    return version.dbid, version.psid, version.obid


def _end(version: TableVersion) -> bytes:
    return version.dropped if version.dropped != LOWEST else HIGHEST


# -- masked columns
# -------------------------------------------------------------------------------------------------
# Which values messages, reports and manifests must not tell: those of columns that a mapping masks,
# which are named as OWNER.NAME.COLUMN everywhere.


#: What stands in place of the values of a key.
MASKED_KEY = "(masked)"


def any_masked(masked: Set[str], table: str, columns: Iterable[str]) -> bool:
    """Whether one of some columns of a table (OWNER.NAME) is among those that are ``masked``."""
    return any(f"{table}.{column}" in masked for column in columns)
