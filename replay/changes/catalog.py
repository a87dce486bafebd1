"""Tables of a log by identity and generation, with the layout of their row images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

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
    ``wide``: a short hexadecimal float that is taken as a double."""

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


@dataclass(frozen=True)
class TableVersion:
    """One generation of a table: valid from ``created`` up to ``dropped`` (10 bytes each; zero or
    all X'FF' = still there). ``unlogged``: how many of its columns the log lacks."""

    index: int
    table: Table
    dbid: int
    psid: int
    obid: int
    sequence: int
    version: int
    created: bytes
    dropped: bytes
    short_owner: str
    short_name: str
    format: RowFormat
    row_type: str = "V"
    edit_proc: str = ""
    indexes: tuple[str, ...] = ()
    unlogged: int = 0

    @property
    def name(self) -> str:
        """OWNER.NAME."""
        return f"{self.table.schema}.{self.table.name}"

    def index_of(self, column: str) -> int:
        """The place of a column in the row format."""
        return self.format.places[column]


@dataclass(frozen=True)
class Catalog:
    """All table versions of a log; ``versions[i].index == i``."""

    versions: tuple[TableVersion, ...]

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

    @property
    def has_generations(self) -> bool:
        """Whether a table has several."""
        return bool(self._by_id[2])

    @cached_property
    def _by_id(self) -> tuple[Index, Versions, dict[int, list[TableVersion]]]:
        """(ids in order, a version of each, the versions of those that have several)."""
        generations: dict[int, list[TableVersion]] = {}
        for version in self.versions:
            generations.setdefault(
                (version.dbid << 32) | (version.psid << 16) | version.obid, []
            ).append(version)
        for versions in generations.values():
            versions.sort(
                key=lambda version: version.created
            )  # where two would fit, the later one counts
        keys = sorted(generations)
        latest = np.array([generations[key][-1].index for key in keys], np.int32)
        return (
            np.array(keys, np.int64),
            latest,
            {key: versions for key, versions in generations.items() if len(versions) > 1},
        )


def _within(positions: Bytes, version: TableVersion) -> Mask:
    values = sortable(positions)
    inside = values >= np.bytes_(version.created)
    if version.dropped not in (LOWEST, HIGHEST):
        inside &= values < np.bytes_(version.dropped)
    return np.asarray(inside)
