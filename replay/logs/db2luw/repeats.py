"""Records that an earlier file of the log holds too: a log was collected twice, or from an earlier
position on than where the last collection ended.

db2ReadLog starts wherever its caller says, so files of one log overlap. What repeats is known by
its bytes: a file begins as another one goes on, record by record, framing included, up to the end
of one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Mask, Records
from replay.decoding.hashes import mixed
from replay.errors import counted
from replay.logs.db2luw.framing import OpenedFile, lsns_rise
from replay.logs.db2luw.scan import first_record
from replay.spill import Spill, windows

#: What a header says; records that differ in it are not compared by their bytes.
_HEADER = ("part", "tid", "lsn", "lfs", "lso", "previous", "type", "length")


def in_order(files: Sequence[OpenedFile]) -> tuple[list[int], list[str]]:
    """The files in the order of the positions of their first records, and a warning where they were
    named in another one. They stay as they are where positions are not told, or where there are
    several log streams, each of which counts its own."""
    as_named = list(range(len(files)))
    heads = [first_record(file) for file in files]
    if len(heads) < 2 or not all(map(len, heads)):
        return as_named, []
    firsts = np.concatenate(heads)
    streams = np.unique(firsts["tid"] >> np.uint64(48))
    told = firsts["lso"] if firsts["lso"].all() else firsts["lsn"]
    if len(streams) > 1 or not told.all() or not all(lsns_rise(file.shape) for file in files):
        return as_named, []
    order = np.lexsort((told, firsts["lfs"])).tolist()
    if order == as_named:
        return as_named, []
    moved = next(number for number, place in enumerate(order) if number != place)
    text = (
        "files are taken in the order of their positions, not as they are named:"
        f" {files[order[moved]].name} comes before {files[moved].name}"
    )
    return order, [text]


def repeated(
    records: Records, files: Sequence[OpenedFile], edges: Sequence[int], arrays: Spill
) -> Mask:
    """Which of the records of all files (dtype :data:`replay.logs.db2luw.scan.SCANNED`) repeat
    those of files before their own: ``bool[n]``. ``edges``: where each file begins among them, and
    the last one ends."""
    again = arrays.zeros(len(records), bool)
    begins = [begin for begin, end in pairwise(edges) if begin < end]
    if len(begins) < 2:
        return again
    firsts = _keys_of(records[begins[1:]])
    rows = np.concatenate(
        [
            np.flatnonzero(np.isin(_keys_of(records[part]), firsts)) + part.start
            for part in windows(len(records))
        ]
    )
    keys = _keys_of(records[rows])
    for begin, end in pairwise(edges):
        if begin == end or begin == begins[0]:
            continue
        places = rows[(rows < begin) & (keys == _keys_of(records[begin : begin + 1]))]
        places = places[~again[places]]
        if not len(places):
            continue
        kept = arrays.places(begin, lambda part: ~again[part])
        starts = np.searchsorted(kept, places).tolist()
        counts = (_run(records, files, kept, int(start), begin, end) for start in starts)
        again[begin : begin + max(counts)] = True
    return again


def whole_files(again: Mask, records: Records, files: Sequence[OpenedFile]) -> list[str]:
    """A warning about files of which every record stands in others: one of them may have been meant
    to be another."""
    held, left = np.zeros((2, len(files)), np.int64)
    for part in windows(len(records)):
        file = records["file"][part]
        held += np.bincount(file, minlength=len(files))
        left += np.bincount(file[~again[part]], minlength=len(files))
    return [
        f"{file.name}: in other files of the log too, and taken once: {counted(count, 'record')},"
        " all that it has"
        for file, count, new in zip(files, held.tolist(), left.tolist(), strict=True)
        if count > new == 0
    ]


def _keys_of(records: Records) -> Hashes:
    """A hash (``uint64[n]``) of where the header of each record says that it stands, and of its
    length."""
    keys = mixed(records["lsn"] ^ mixed(records["lso"]))
    keys = mixed(keys ^ records["previous"])
    return mixed(keys ^ records["tid"]) + records["length"].astype(np.uint64)


def _run(
    records: Records, files: Sequence[OpenedFile], kept: Index, start: int, begin: int, end: int
) -> int:
    """How many records of a file, ``begin`` to ``end``, repeat those which are kept, from number
    ``start`` of these on; none if they do not go on alike until one of both ends, or nothing in
    them says where they stand in the log."""
    count = min(len(kept) - start, end - begin)
    if start + count < len(kept) and records["part"][kept[start + count]] > 0:
        return 0  # within the rows of one record
    told = False
    for part in windows(count):
        theirs = records[kept[start + part.start : start + part.stop]]
        mine = records[begin + part.start : begin + part.stop]
        if not all(np.array_equal(theirs[name], mine[name]) for name in _HEADER):
            return 0
        told |= bool(mine["lsn"].any() or mine["lso"].any() or mine["previous"].any())
        if not np.array_equal(_octets(theirs, files), _octets(mine, files)):
            return 0
    return count if told else 0


def _octets(records: Records, files: Sequence[OpenedFile]) -> Bytes:
    """The bytes of some records and of their framing, one behind the other."""
    whole = records[records["part"] == 0]
    if not len(whole):
        return np.zeros(0, np.uint8)
    edges = np.flatnonzero(np.diff(whole["file"]) != 0) + 1
    parts = []
    for part in np.split(whole, edges):
        file = files[int(part["file"][0])]
        size = file.shape.framing.size
        low, high = part["offset"] - size, part["offset"] + part["length"]
        for one in np.split(np.arange(len(part)), np.flatnonzero(low[1:] != high[:-1]) + 1):
            begin, end = int(low[one[0]]), int(high[one[-1]])
            parts.append(file.buffer(begin, end)[begin:end])
    return np.concatenate(parts)
