"""Which records of several logs are there more than once, and which copy of them counts.

Log Master delivers a unit of recovery that was open at the end of a scan again with the next one,
and a run that is repeated writes all of its units again. So a change may be in several logs. The
whole copy counts, among whole ones one that is not marked as incomplete, among those the one of
the latest log; of a change none of which is whole, each segment counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Hashes, Index, Mask, Records
from replay.changes.envelope import as_bytes
from replay.changes.order import lexical_order, words
from replay.changes.position import POSITION, UNIT, Position
from replay.decoding.hashes import hash_ranges, mixed, unit_hash
from replay.logs.logmaster.headers import Headers

#: A record of a unit that is in several logs. ``marked`` and ``dependent``: INCOMPLETETRANS and
#: INCOMPLETEDEP; ``again``: its unit begins at DEPENDENTRBA or later. ``row`` tells the changes
#: of one LOGRBA apart; ``data`` is a hash of the bytes behind the header.
_COPY = np.dtype(
    [
        ("unit", UNIT),
        ("position", POSITION),
        ("row", "<u8"),
        ("member", "<i4"),
        ("segment", "<u2"),
        ("segments", "<u2"),
        ("marked", "?"),
        ("dependent", "?"),
        ("again", "?"),
        ("file", "<i4"),
        ("offset", "<i8"),
        ("number", "<i8"),
        ("data", "<u8"),
    ]
)
_ROW = ("DBID", "PSID", "TBOBID", "RID", "CHANGE TYPE")


@dataclass(frozen=True)
class Batch:
    """Some records of a log: ``number`` of the first one in the ``file`` of the set; ``buffer`` are
    the bytes of that, ``body`` where DATA begins and ``end`` where it ends in it."""

    file: int
    number: int
    offsets: Index
    headers: Headers
    buffer: Bytes
    body: Index
    end: Index


@dataclass
class UnitsOfLog:
    """The units of a log by their hash, rising: ``marked`` are those that the log marks as
    incomplete, ``again`` those that begin at DEPENDENTRBA or later, which the next log of an
    ongoing scan delivers again."""

    units: Hashes
    marked: Hashes
    again: Hashes


def units_of(batches: Iterable[Headers], dependent: Position | None) -> UnitsOfLog:
    """The units of a log, of the headers of its records."""
    units, marked, again = [], [], []
    for headers in batches:
        hashes = unit_hash(headers.unit())
        units.append(np.unique(hashes))
        marked.append(np.unique(hashes[headers.incomplete_unit()]))
        if dependent is not None:
            late = octets_at_least(headers.unit_position(), dependent)
            again.append(np.unique(hashes[late]))
    return UnitsOfLog(*(_union(parts) for parts in (units, marked, again)))


def _union(parts: Sequence[Hashes]) -> Hashes:
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.uint64)


def octets_at_least(values: Bytes, bound: bytes) -> Mask:
    """``bool[n]``: which of ``uint8[n, 10]`` are not below a bound."""
    return np.asarray(
        np.ascontiguousarray(values).view("S10").reshape(-1) >= np.bytes_(bound), bool
    )


def shared_units(logs: Sequence[UnitsOfLog]) -> Hashes:
    """The hashes (``uint64``) of units that are in more than one log, each once, rising."""
    if not logs:
        return np.zeros(0, np.uint64)
    hashes, counts = np.unique(np.concatenate([log.units for log in logs]), return_counts=True)
    return np.asarray(hashes[counts > 1])


def within(values: npt.NDArray[np.integer], rising: npt.NDArray[np.integer]) -> Mask:
    """``bool[n]``: which values are among some that rise."""
    if not len(rising):
        return np.zeros(len(values), bool)
    place = np.minimum(np.searchsorted(rising, values), len(rising) - 1)
    return np.asarray(rising[place] == values)


def copies_of(batch: Batch, member: int, shared: Hashes, dependent: Position | None) -> Records:
    """The records of a batch that are of units in several logs; ``dependent``: DLGE.DEPENDENTRBA
    of their log, from where on the next log has better ones."""
    headers = batch.headers
    rows = np.flatnonzero(within(unit_hash(headers.unit()), shared))
    found = np.zeros(len(rows), _COPY)
    if not len(rows):
        return found
    taken = headers.take(rows)
    found["unit"] = np.ascontiguousarray(taken.unit()).view(UNIT).reshape(-1)
    found["position"] = np.ascontiguousarray(taken.log_position()).view(POSITION).reshape(-1)
    found["row"] = _row_hash(taken)
    found["member"], found["file"] = member, batch.file
    found["segments"] = taken.segments()
    found["segment"] = np.where(found["segments"] <= 1, 1, taken.segment())
    found["marked"], found["dependent"] = taken.incomplete_unit(), taken.incomplete_dependency()
    found["offset"], found["number"] = batch.offsets[rows], batch.number + rows
    if dependent is not None:
        found["again"] = octets_at_least(taken.unit_position(), dependent)
    found["data"] = hash_ranges(
        batch.buffer, batch.body[rows], np.maximum(batch.end[rows], batch.body[rows])
    )
    return found


def _row_hash(headers: Headers) -> Hashes:
    """A hash of what tells the changes of one LOGRBA apart."""
    total = np.zeros(len(headers), np.uint64)
    for name in _ROW:
        if name not in headers.layout.names:
            continue
        for column in headers.raw(name).T:
            total = mixed((total << np.uint64(8)) ^ column)
    return total


@dataclass(frozen=True)
class Settled:
    """``left``: the records that do not count, as :func:`places` has them, rising. ``open`` and, by
    log, ``dependent``: the hashes of units of which a copy that counts is marked by INCOMPLETETRANS
    or INCOMPLETEDEP. ``differing``: pairs of records (each a row of the copies) that are of one
    change and hold different bytes, both unmarked: both count, so that their unit is set aside."""

    left: Index
    open: Hashes
    dependent: Mapping[int, Hashes]
    differing: Sequence[tuple[np.void, np.void]]


_NO_HASHES: Hashes = np.zeros(0, np.uint64)
NOTHING_REPEATED = Settled(np.zeros(0, np.int64), _NO_HASHES, {}, ())


def places(files: npt.NDArray[np.integer] | int, offsets: Index) -> Index:
    """Records of files as one number each: ``int64[n]``, the offset above 16 bits of the file's
    number."""
    return np.asarray((offsets.astype(np.int64) << 16) | files)


def settle(copies: Records) -> Settled:
    """Which of the copies (:func:`copies_of` of all logs) count."""
    if not len(copies):
        return NOTHING_REPEATED
    unmarked = ~(copies["marked"] | copies["dependent"] | copies["again"])
    change = _numbered(copies, ("unit", "position", "row"))
    part = _combined(change, copies["member"])
    total = np.maximum(copies["segments"], 1).astype(np.int64)
    count = np.bincount(part.number)[part.number]
    whole = count == total
    flagged = np.zeros(len(part.first), bool)
    np.logical_or.at(flagged, part.number, ~unmarked)
    rank = (
        (whole.astype(np.int64) << 40)
        | ((~flagged[part.number]).astype(np.int64) << 39)
        | copies["member"]
    )
    best = np.zeros(int(change.max()) + 1, np.int64)
    np.maximum.at(best, change, rank)
    best_whole = (best >> 40 > 0)[change]
    left = best_whole & (rank < best[change])
    # of changes that no log has whole, each segment once
    pieces = _combined(change, copies["segment"]).number
    piece_rank = (unmarked.astype(np.int64) << 39) | copies["member"]
    best_piece = np.zeros(int(pieces.max()) + 1, np.int64)
    np.maximum.at(best_piece, pieces, piece_rank)
    left |= ~best_whole & (piece_rank < best_piece[pieces])
    differing = _differing(copies, pieces, left, unmarked)
    left[np.isin(pieces, pieces[[one for one, _ in differing]])] = False
    dependent = ~left & copies["dependent"]
    return Settled(
        np.sort(places(copies["file"][left], copies["offset"][left])),
        _hashes(copies["unit"][~left & copies["marked"]]),
        {
            member: _hashes(copies["unit"][dependent & (copies["member"] == member)])
            for member in np.unique(copies["member"][dependent]).tolist()
        },
        [(copies[one], copies[other]) for one, other in differing],
    )


def _hashes(units: Records) -> Hashes:
    return np.unique(unit_hash(as_bytes(units))) if len(units) else _NO_HASHES


def _differing(copies: Records, pieces: Index, left: Mask, plain: Mask) -> list[tuple[int, int]]:
    """Records that hold other bytes than the copy that counts, where neither is marked."""
    keeper = np.full(int(pieces.max()) + 1, -1, np.int64)
    kept = np.flatnonzero(~left & plain)
    keeper[pieces[kept]] = kept
    against = keeper[pieces]
    wrong = left & plain & (against >= 0)
    wrong &= copies["data"] != copies["data"][np.maximum(against, 0)]
    rows = np.flatnonzero(wrong)
    _, first = np.unique(pieces[rows], return_index=True)
    return [(int(against[row]), int(row)) for row in rows[first]]


@dataclass(frozen=True)
class _Numbers:
    """A number from 0 for each row, the same for equal ones, and the first row of each number."""

    number: Index
    first: Index


def _numbered(copies: Records, names: Sequence[str]) -> Index:
    """Numbers from 0 that equal rows share, by some of their fields."""
    columns: list[Hashes] = []
    for name in names:
        column = np.ascontiguousarray(copies[name])
        columns += words(column) if column.dtype.kind == "V" else [column.astype(np.uint64)]
    order = lexical_order(columns)
    step = np.zeros(len(order), np.int64)
    for column in columns:
        here = column[order]
        step[1:] |= here[1:] != here[:-1]
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(step)
    return number


def _combined(number: Index, other: npt.NDArray[np.integer]) -> _Numbers:
    """Numbers that rows share which are equal in both."""
    both = (number << 32) | other.astype(np.int64)
    _, first, inverse = np.unique(both, return_index=True, return_inverse=True)
    return _Numbers(inverse.reshape(-1).astype(np.int64), first)
