"""What connectors say of transactions and of places in the log of their database, as numbers to
order by.

* PostgreSQL: a transaction is ``txId:LSN``; places are LSNs.
* MySQL, MariaDB: a transaction is a GTID (``uuid:number``, ``domain-server-number``) or, without
  GTIDs, ``file=…,pos=…`` of its begin. A GTID is a name and no order. Places are the number of the
  binary log's file and the position in it, within one server. A transaction lies there as a whole.
* SQL Server, Db2: a transaction is the LSN of its commit. Oracle: it is a number (XID), and commits
  at an SCN, which several transactions may have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index
from replay.decoding.hashes import hash_ranges
from replay.errors import InputError, Refusal, Where, some_of

POSTGRES, BINLOG, ORACLE, SQL_SERVER = "postgresql", ("mysql", "mariadb"), "oracle", "sqlserver"
#: Connectors that are read by their documentation alone, and the dialects of their databases.
#: ``source`` holds the names that :data:`replay.logs.events.lines.PLACES` reads: SQL Server and Db2
#: ("Data change events" of their pages) ``commit_lsn``, which is ``transaction.id`` too, and
#: ``change_lsn``; Oracle ("Change event values") ``commit_scn``, ``scn``, ``rs_id``, ``ssn`` and
#: ``txId``, which is ``transaction.id``.
OTHERS = {SQL_SERVER: "tsql", ORACLE: "oracle", "db2": "db2"}
#: An LSN: of 10 bytes, or of Db2 for Linux, UNIX and Windows of 16, six of them zero.
_LSN = re.compile(r"(?:00000000:)?([0-9a-f]{8}):(?:([0-9a-f]{8}:[0-9a-f]{4})|0000([0-9a-f]{12}))")
_SCN = re.compile(r"[0-9]{1,18}")
#: The number of a transaction of Oracle: its rollback segment, slot and sequence, or 8 bytes.
_XID = re.compile(r"([0-9]{1,5})[.]([0-9]{1,5})[.]([0-9]{1,10})|([0-9a-f]{16})")
#: A place of a change of these: the number of its commit, whether it is not before it, and a hash
#: of its record.
_COMMIT_BITS, _AT_COMMIT = 32, 1 << 31
_OF_POSTGRES = r"^(?P<id>[0-9]{1,18}):(?P<lsn>[0-9]{1,19})$"
_OF_MYSQL = r"^(?P<of>[0-9a-fA-F-]{36}(?P<tag>:[a-z_][a-z0-9_]{0,31})?):(?P<id>[0-9]{1,14})$"
_OF_MARIADB = r"^(?P<of>[0-9]{1,10}-[0-9]{1,10})-(?P<id>[0-9]{1,14})$"
_OF_PLACE = r"^file=(?P<of>.*)[.](?P<file>[0-9]{1,9}),pos=(?P<pos>[0-9]{1,10})$"
_FILE = r"^(?P<of>.*)[.](?P<file>[0-9]{1,9})$"
_COMMIT = r'^\["(?P<commit>[0-9]{1,18})"'
_COLLECTION = r'"data_collection":("(?:[^"\\]|\\.)*"),"event_count":([0-9]{1,18})\b'
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
    units: NameNumbers = field(default_factory=lambda: NameNumbers())
    commits: NameNumbers = field(default_factory=lambda: NameNumbers())

    @property
    def connector(self) -> str:
        """The one connector; PostgreSQL's where there are no changes."""
        return min(self.found)[0] if self.found else POSTGRES

    @property
    def binlog(self) -> bool:
        """Whether events come from a binary log."""
        return self.connector in BINLOG

    @property
    def other(self) -> bool:
        """Whether transactions have names whose order is found when all are known."""
        return self.connector in OTHERS

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
        known = (POSTGRES, *BINLOG, *OTHERS)
        if self.connector not in known:
            raise Refusal(
                "LR3020",
                f"found events of Debezium's connector for {self.connector}; expected one of"
                f" {', '.join(known)}, whose order of transactions is known",
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


@dataclass
class NameNumbers:
    """Names, numbered as they are met."""

    known: dict[str, int] = field(default_factory=dict)

    def numbers(self, names: pa.Array) -> Index:
        """The numbers of names; -1 for nulls."""
        coded = names.dictionary_encode()
        codes = [
            self.known.setdefault(one, len(self.known)) for one in coded.dictionary.to_pylist()
        ]
        places = numbers(coded.indices)
        return np.array([*codes, -1], np.int64)[places]


def places_of_others(
    names: pa.Array, columns: Mapping[str, pa.Array], sources: EventSources
) -> tuple[Index, Index]:
    """(transaction, place) of lines of other connectors by the names of their transactions; -1 for
    none. Refusal LR3020 for a change behind its commit."""
    is_lsn = pc.match_substring_regex(names, f"^{_LSN.pattern}$")
    named = pc.or_(is_lsn, pc.match_substring_regex(names, f"^({_XID.pattern})$"))
    nothing = pa.scalar(None, pa.string())
    units = sources.units.numbers(pc.if_else(named, names, nothing)) + 1
    commit = pc.coalesce(columns["commit"], pc.if_else(is_lsn, names, nothing))
    placed = pc.match_substring_regex(commit, f"^({_LSN.pattern}|{_SCN.pattern})$")
    commit = pc.if_else(placed, commit, nothing)
    scn = columns["scn"]
    ahead = numbers(scn) - numbers(pc.if_else(scn.is_valid(), commit, nothing))
    if (ahead > 0).any():
        raise Refusal(
            "LR3020",
            "found a change whose scn is behind the commit_scn of its transaction; expected both of"
            " one transaction, as Debezium from 2.1 on writes them",
        )
    at_commit = np.asarray(scn.is_valid()) & (ahead == 0)
    data, start, size = bytes_of(columns["record"].cast(pa.binary()))
    record = (hash_ranges(data, start, start + size) % _AT_COMMIT).astype(np.int64)
    codes = sources.commits.numbers(commit)
    places = codes << _COMMIT_BITS | np.where(at_commit, _AT_COMMIT, 0) | record
    return np.where(units > 0, units, -1), np.where(codes >= 0, places, -1)


def code_of_table(name: str) -> int:
    """A number of a table by its schema and name, behind which sums of changes can be told apart.
    Before them a database may be named."""
    return crc32(".".join(name.split(".")[-2:]).encode()) + 1


def told_of_tables(collections: pa.Array) -> npt.NDArray[np.uint64]:
    """The sums of the numbers of tables, of as many events as ENDs tell of each (text of JSON)."""
    coded = collections.dictionary_encode()
    sums = [_sum(text) for text in coded.dictionary.to_pylist()]
    return np.array(sums, np.uint64)[numbers(coded.indices)]


def _sum(text: str) -> int:
    told = re.findall(_COLLECTION, text)
    return sum(code_of_table(json.loads(name)) * int(count) for name, count in told) % 2**64


def bytes_of(texts: pa.Array) -> tuple[Bytes, Index, Index]:
    """(bytes, start, size) of binary values; of nulls nothing."""
    size = pc.fill_null(pc.binary_length(texts), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    data = pc.fill_null(texts, b"").buffers()[2]
    return np.frombuffer(data or b"", np.uint8)[: int(size.sum())], np.cumsum(size) - size, size


def _position(text: str) -> bytes:
    """The LSN or SCN of a commit as a position. Those of one database compare as it does."""
    lsn = _LSN.fullmatch(text)
    if lsn is None:
        return int(text).to_bytes(10)
    return bytes.fromhex("".join(filter(None, lsn.groups())).replace(":", ""))


def _unit(text: str) -> bytes:
    """The name of a transaction as a unit."""
    xid = _XID.fullmatch(text)
    if xid is None:
        return _position(text) + bytes(2)
    if xid[4]:
        return b"\xff\xff" + bytes.fromhex(xid[4]) + bytes(2)
    segment, slot, sequence = (int(one) & (1 << 48) - 1 for one in xid.groups()[:3])
    return segment.to_bytes(3)[1:] + slot.to_bytes(3)[1:] + sequence.to_bytes(6) + bytes(2)


@dataclass(frozen=True)
class Commits:
    """Where transactions of other connectors commit: all positions, in their order, and the
    transactions by number."""

    positions: npt.NDArray[np.void]
    units: npt.NDArray[np.void]

    @staticmethod
    def of(sources: EventSources, places: Index) -> Commits:
        """Number the commits of ``places`` anew, in their order."""
        values = [_position(text) for text in sources.commits.known]
        ranks = {value: rank for rank, value in enumerate(sorted({*values}))}
        there = np.flatnonzero(places >= 0)
        rank = np.array([ranks[value] for value in values] or [0], np.int64)
        behind = places[there] & ((1 << _COMMIT_BITS) - 1)
        places[there] = rank[places[there] >> _COMMIT_BITS] << _COMMIT_BITS | behind
        units = [bytes(12), *map(_unit, sources.units.known)]
        return Commits(np.array([*ranks] or [bytes(10)], "V10"), np.array(units, "V12"))

    def at(self, places: Index) -> npt.NDArray[np.void]:
        """The positions of commits by places."""
        ranks = np.minimum(places >> _COMMIT_BITS, len(self.positions) - 1)
        found: npt.NDArray[np.void] = self.positions[np.maximum(ranks, 0)]
        return found


def contradicting(first: Index, latest: Index, commit: Index) -> npt.NDArray[np.bool_]:
    """Which transactions of other connectors name several commits, or one that another has, too, of
    which a change was made when the other committed: nothing tells which was first."""
    ranks = [one >> _COMMIT_BITS for one in (first, latest, commit)]
    several = (ranks[0] != ranks[1]) | (ranks[1] != ranks[2])
    _, same, count = np.unique(ranks[2], return_inverse=True, return_counts=True)
    return np.asarray(several | ((latest & _AT_COMMIT > 0) & (count[same] > 1)))


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


def entangled(units: Index, first: Index, latest: Index) -> npt.NDArray[np.bool_]:
    """Which transactions do not lie in one file of a binary log as a whole, by the places of their
    begin, if they are named by it, and of their first and last events."""
    begin = np.where(units >> _GTID == 1, first, units)
    early, first = first < begin, np.minimum(first, begin)
    found = early | (first >> _POSITION != latest >> _POSITION)
    turn = np.argsort(first, kind="stable")
    behind = first[turn][1:] <= np.maximum.accumulate(latest[turn])[:-1]
    found[turn[1:][behind]] = True
    return np.asarray(found)


def gaps(units: Index, spoken: Index) -> int:
    """How many GTIDs between the first and the last one of each server are neither those of
    transactions nor of other events (``spoken``)."""
    found = np.unique(np.concatenate([units[units >> _GTID == 1], spoken[spoken >> _GTID == 1]]))
    steps = np.diff(found)[np.diff(found >> _NUMBER) == 0]
    return int((steps - 1).sum())


def binlog_place(place: int) -> str:
    """A place as people read it, ``000003:1234``: the number of the file and the position."""
    return f"{place >> _POSITION:06d}:{place & ((1 << _POSITION) - 1)}"


def lsn_of(place: int) -> str:
    """An LSN as PostgreSQL writes it, ``0/16B3748``."""
    return f"{place >> 32:X}/{place & 0xFFFFFFFF:X}"


def _gtid(unit: int, givers: Mapping[int, str]) -> str:
    """A transaction of a binary log as the database names it."""
    if unit >> _GTID != 1:
        return binlog_place(unit)
    giver, number = unit >> _NUMBER & ((1 << _SOURCES) - 1), unit & ((1 << _NUMBER) - 1)
    name = givers.get(giver, "")
    return f"{name}{':' if len(name) > 21 else '-'}{number}"  # a UUID, or MariaDB's two numbers


def _xid(unit: bytes) -> str:
    """A transaction of Oracle as the database names it."""
    if unit[:2] == b"\xff\xff":
        return unit[2:10].hex()
    return ".".join(str(int.from_bytes(unit[a:b])) for a, b in ((0, 2), (2, 4), (4, 10)))


def unit_texts(
    connector: str, units: Bytes, commits: Bytes, givers: Mapping[int, str]
) -> dict[str, pa.Array]:
    """Transactions and their commits (rows of bytes) in the words of their database, by name."""
    ids, places = ([row.tobytes() for row in one] for one in (units, commits))
    unit, commit = [int.from_bytes(one[2:10]) for one in ids], [*map(int.from_bytes, places)]
    said = {"transaction": [*map(str, unit)], "commit-lsn": [*map(lsn_of, commit)]}
    if connector in BINLOG:
        names = [_gtid(one, givers) for one in unit]
        said = {"transaction": names, "binlog": [*map(binlog_place, commit)]}
    elif connector == ORACLE:
        said = {"transaction": [*map(_xid, ids)], "commit-scn": [*map(str, commit)]}
    elif connector in OTHERS:
        said = {"commit-lsn": [f"{a[:4].hex()}:{a[4:8].hex()}:{a[8:].hex()}" for a in places]}
    return {name: pa.array(texts, pa.string()) for name, texts in said.items()}
