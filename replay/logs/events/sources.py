"""What connectors say of transactions and of places in the log of their database, as numbers to
order by.

* PostgreSQL: a transaction is ``txId:LSN``; places are LSNs.
* MySQL, MariaDB: a transaction is a GTID (``uuid:number``, ``domain-server-number``) or, without
  GTIDs, ``file=…,pos=…`` of its begin. A GTID is a name and no order. Places are the number of the
  binary log's file and the position in it, within one server. A transaction lies there as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Index
from replay.errors import InputError, Refusal, Where, some_of

POSTGRES, BINLOG = "postgresql", ("mysql", "mariadb")
_OF_POSTGRES = r"^(?P<id>[0-9]{1,18}):(?P<lsn>[0-9]{1,19})$"
_OF_MYSQL = r"^(?P<of>[0-9a-fA-F-]{36}(?P<tag>:[a-z_][a-z0-9_]{0,31})?):(?P<id>[0-9]{1,14})$"
_OF_MARIADB = r"^(?P<of>[0-9]{1,10}-[0-9]{1,10})-(?P<id>[0-9]{1,14})$"
_OF_PLACE = r"^file=(?P<of>.*)[.](?P<file>[0-9]{1,9}),pos=(?P<pos>[0-9]{1,10})$"
_FILE = r"^(?P<of>.*)[.](?P<file>[0-9]{1,9})$"
_COMMIT = r'^\["(?P<commit>[0-9]{1,18})"'
#: A unit is the number of its GTID behind 14 bits of who gave it, and a bit that says so; or the
#: file (30 bits) and the position (32 bits) of its begin.
_GTID, _NUMBER, _POSITION, _SOURCES = 62, 48, 32, 14
_FILES = 1 << (_GTID - _POSITION)


@dataclass
class EventSources:
    """Which databases events come from. ``found``: connector, server and database; ``givers``: who
    gave GTIDs, by number; ``logs``: base names of the files of binary logs."""

    found: set[tuple[str, ...]] = field(default_factory=set)
    givers: dict[int, str] = field(default_factory=dict)
    logs: set[str] = field(default_factory=set)

    @property
    def connector(self) -> str:
        """The one connector; PostgreSQL's where there are no changes."""
        return min(self.found)[0] if self.found else POSTGRES

    @property
    def binlog(self) -> bool:
        """Whether events come from a binary log."""
        return self.connector in BINLOG

    def add(self, columns: Mapping[str, pa.Array], rows: Index) -> None:
        """Note what some lines, which are changes, say of where they come from."""
        names = ("connector", "server", "db")
        told = pa.table({name: columns[name].take(pa.array(rows)) for name in names})
        for one in told.group_by(list(names)).aggregate([]).to_pylist():
            database = "" if one["connector"] in BINLOG else str(one["db"])
            self.found.add((str(one["connector"]), str(one["server"]), database))

    def check(self, path: str) -> None:
        """InputError LR2007 for events of several databases; Refusal LR3020 for a connector whose
        order is not known, and for binary logs of several servers."""
        if len(self.found) > 1:
            shown = sorted(" ".join(filter(None, one)) for one in self.found)
            raise InputError(
                "LR2007",
                f"found events of {len(shown)} databases ({some_of(shown, len(shown))}); expected"
                " those of one",
                Where(path),
            )
        if self.connector not in (POSTGRES, *BINLOG):
            raise Refusal(
                "LR3020",
                f"found events of Debezium's connector for {self.connector}; expected one of"
                f" {POSTGRES}, {', '.join(BINLOG)}, whose order of transactions is known",
                Where(path),
            )
        if len(self.logs) > 1:
            raise _several(f"files of binary logs named {' and '.join(sorted(self.logs))}", path)

    def giver(self, name: str) -> int:
        """The number of who gave a GTID. InputError LR2007 for two with one number."""
        number = crc32(name.lower().encode()) & ((1 << _SOURCES) - 1)
        if self.givers.setdefault(number, name.lower()) != name.lower():
            raise InputError(
                "LR2007",
                f"found GTIDs of {name} and of {self.givers[number]}, which cannot be told apart"
                " here; expected those of one server",
            )
        return number


def _several(found: str, path: str) -> Refusal:
    return Refusal(
        "LR3020",
        f"found {found}; expected the binary log of one server, because positions in those of"
        " several cannot be compared",
        Where(path),
        "After a change of the server (failover) give the events before and after it as logs of"
        " their own",
    )


def _parts(text: pa.Array, pattern: str) -> dict[str, pa.Array]:
    found = pc.extract_regex(text, pattern)
    return {
        found.type.field(place).name: pc.struct_field(found, place)
        for place in range(found.type.num_fields)
    }


def numbers(text: pa.Array) -> npt.NDArray[np.int64]:
    """Whole numbers; -1 for nulls."""
    return np.asarray(
        pc.fill_null(pc.cast(text, pa.int64()), -1).to_numpy(zero_copy_only=False), np.int64
    )


def of_postgres(names: pa.Array, sequence: pa.Array) -> tuple[Index, Index, Index]:
    """(transaction, LSN in its name, commit of the one before) of lines; -1 for none."""
    parts = _parts(names, _OF_POSTGRES)
    previous = _parts(sequence, _COMMIT)["commit"]
    return numbers(parts["id"]), numbers(parts["lsn"]), numbers(previous)


def units_of_binlog(names: pa.Array, sources: EventSources) -> Index:
    """Transactions of lines by their names; -1 for none."""
    place = _parts(names, _OF_PLACE)
    file = numbers(place["file"])
    units = np.where(file >= 0, file << _POSITION | numbers(place["pos"]), -1)
    units[file >= _FILES] = -1
    for pattern in (_OF_MYSQL, _OF_MARIADB):
        gtid = _parts(names, pattern)
        number = numbers(gtid["id"])
        chosen = np.flatnonzero((number >= 0) & (number < 1 << _NUMBER))
        if len(chosen):
            givers = gtid["of"].take(pa.array(chosen)).dictionary_encode()
            known = [sources.giver(name) for name in givers.dictionary.to_pylist()]
            of = np.array(known, np.int64)[givers.indices.to_numpy(zero_copy_only=False)]
            units[chosen] = 1 << _GTID | of << _NUMBER | number[chosen]
    return units


def places_of_binlog(file: pa.Array, position: Index, sources: EventSources) -> Index:
    """Places of events by the file of the binary log and the position in it; -1 for none."""
    parts = _parts(file, _FILE)
    number = numbers(parts["file"])
    sources.logs |= {str(name) for name in pc.unique(pc.drop_null(parts["of"])).to_pylist()}
    known = (number >= 0) & (number < _FILES) & (position >= 0) & (position < 1 << _POSITION)
    return np.where(known, number << _POSITION | position, -1)


def check_one_server(units: Index, commit: Index, path: str) -> None:
    """Refusal LR3020 where GTIDs of one server do not rise as the positions of their transactions
    do: another server's binary log begins there."""
    rows = np.flatnonzero((units >> _GTID == 1) & (commit >= 0))
    rows = rows[np.argsort(commit[rows], kind="stable")]
    giver, number = units[rows] >> _NUMBER, units[rows] & ((1 << _NUMBER) - 1)
    turn = np.argsort(giver, kind="stable")
    falls = (np.diff(number[turn]) < 0) & (np.diff(giver[turn]) == 0)
    if falls.any():
        raise _several("GTIDs of one server that fall while positions rise", path)


def gaps(units: Index, spoken: Index) -> int:
    """How many GTIDs between the first and the last one of each server are neither those of
    transactions nor of other events (``spoken``)."""
    found = np.unique(np.concatenate([units[units >> _GTID == 1], spoken[spoken >> _GTID == 1]]))
    steps = np.diff(found)[np.diff(found >> _NUMBER) == 0]
    return int((steps - 1).sum())


def binlog_place(places: Index) -> pa.Array:
    """Places as people read them, ``000003:1234``: the number of the file and the position."""
    file, position = places >> _POSITION, places & ((1 << _POSITION) - 1)
    shown = [f"{a:06d}:{b}" for a, b in zip(file.tolist(), position.tolist(), strict=True)]
    return pa.array(shown, pa.string())


def unit_name(unit: int, givers: Mapping[int, str]) -> str:
    """A transaction of a binary log as the database names it."""
    if unit >> _GTID != 1:
        return f"{unit >> _POSITION:06d}:{unit & ((1 << _POSITION) - 1)}"
    giver, number = unit >> _NUMBER & ((1 << _SOURCES) - 1), unit & ((1 << _NUMBER) - 1)
    name = givers.get(giver, "")
    return f"{name}{':' if len(name) > 21 else '-'}{number}"  # a UUID, or MariaDB's two numbers
