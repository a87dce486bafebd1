"""The tables of several control files as one catalog: generations joined, contradictions named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from replay.arrays import Versions
from replay.changes.catalog import Catalog, RowFormat, TableVersion
from replay.changes.position import HIGHEST, LOWEST
from replay.errors import InputError, Where
from replay.logs.logmaster.control import ControlFile

#: DBID, PSID, OBID, CREATERBA and VERSION: what tells the generations of tables apart.
_Generation = tuple[int, int, int, bytes, int]


@dataclass(frozen=True)
class JoinedCatalog:
    """``catalog`` of all control files; ``places[k]`` (``int32[m]``) are the indexes in it of the
    ``m`` table versions of control file ``k``."""

    catalog: Catalog
    places: tuple[Versions, ...]


def join_catalogs(controls: Sequence[ControlFile]) -> JoinedCatalog:
    """One catalog of the tables of control files, in the order of the log. InputError (LR2038)
    where two of them describe one generation of a table differently."""
    known: dict[tuple[_Generation, RowFormat], int] = {}
    first: dict[_Generation, tuple[TableVersion, ControlFile]] = {}
    versions: list[TableVersion] = []
    places = []
    done: dict[int, Versions] = {}
    for control in controls:
        if id(control.catalog) not in done:
            mine = [_place(version, control, first, known, versions) for version in
                    control.catalog.versions]  # fmt: skip
            done[id(control.catalog)] = np.array(mine, np.int32)
        places.append(done[id(control.catalog)])
    return JoinedCatalog(Catalog(tuple(versions)), tuple(places))


def _place(
    version: TableVersion,
    control: ControlFile,
    first: dict[_Generation, tuple[TableVersion, ControlFile]],
    known: dict[tuple[_Generation, RowFormat], int],
    versions: list[TableVersion],
) -> int:
    """The index of a table version among all, where it is put if it is not there."""
    generation = (version.dbid, version.psid, version.obid, version.created, version.version)
    other, elsewhere = first.setdefault(generation, (version, control))
    _refuse_contradiction(version, control, other, elsewhere)
    form = _placeless(version.format)
    index = known.setdefault((generation, form), len(versions))
    if index == len(versions):
        versions.append(replace(version, index=index, format=form))
    elif versions[index].dropped in (LOWEST, HIGHEST):
        versions[index] = replace(versions[index], dropped=version.dropped)
    return index


def _placeless(form: RowFormat) -> RowFormat:
    """A row format without LLCOLUMNPOS, which hangs on the reading of DATA of its own log."""
    return replace(form, columns=tuple(replace(column, position=-1) for column in form.columns))


def _bare(version: TableVersion) -> RowFormat:
    """What control files must agree in: not how a log's settings lay values out."""
    columns = tuple(
        replace(column, position=-1, expanded=False) for column in version.format.columns
    )
    return RowFormat(columns)


def _refuse_contradiction(
    version: TableVersion, control: ControlFile, other: TableVersion, elsewhere: ControlFile
) -> None:
    if version.table == other.table and _bare(version) == _bare(other):
        return
    found, expected = _difference(version, other)
    raise InputError(
        "LR2038",
        f"found {found}; expected {expected}, as {elsewhere.name} describes the same generation of"
        f" table {other.name} (DBID/PSID/OBID {other.dbid:04X}/{other.psid:04X}/{other.obid:04X},"
        f" CREATERBA {other.created.hex().upper()}, VERSION {other.version})",
        Where(control.name, field="DTBI", table=version.name),
        "The control files are not of one database, or one of them is damaged: leave out the log"
        " that does not belong to the others",
    )


def _difference(one: TableVersion, other: TableVersion) -> tuple[str, str]:
    """What the first of two versions has that the other has not, and what that has instead."""
    if one.name != other.name:
        return f"table {one.name}", other.name
    columns, others = _bare(one).columns, _bare(other).columns
    for column, against in zip(columns, others, strict=False):
        if column != against:
            return tuple(
                f"column {entry.column.name} ({entry.code}, length {entry.length}, scale"
                f" {entry.scale}, {'nullable' if entry.nullable else 'not null'}, CCSID"
                f" {entry.ccsid}, key {entry.key_sequence or 'no'})"
                for entry in (column, against)
            )  # type: ignore[return-value]
    return f"{len(columns)} columns", f"{len(others)}"
