"""Exports cut into ranges of rows, which tasks read side by side.

A range of a Parquet file are some of its row groups, one of a text file some of its bytes: its rows
begin behind the first end of a line. Whether such an end is within a value of a CSV file is not
guessed: where the quotes of each line close, from the beginning of the file on, none is. A packed
file is one range.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from replay import storage
from replay.logs import Split
from replay.logs.by_tasks import OddError
from replay.logs.files import mapped, size_of
from replay.logs.soliddb import export_files
from replay.logs.soliddb.export_files import csv_options, format_of, json_tables, named_tables
from replay.storage.ranges import versioned

#: Bytes of a range of text, and of row groups, unpacked, that are one.
RANGE_BYTES = 32 << 20
#: Bytes of text that become one table, rows of one; the same where few are wanted.
_PIECE, _ROWS, _FEW_BYTES, _FEW_ROWS = 8 << 20, 1 << 16, 1 << 18, 1 << 12
#: Bytes that are searched for the end of a line at a time.
_LINE = 1 << 16
_NEWLINE, _RETURN, _QUOTE = 10, 13, 34


@dataclass(frozen=True)
class RangedExport:
    """A file as the user named it, and where tasks find it."""

    name: str
    place: str

    @classmethod
    def of(cls, name: str) -> RangedExport:
        """A file. Raises OSError."""
        url = storage.is_url(name)
        return cls(name, versioned(name) if url else os.path.abspath(name))

    @property
    def path(self) -> str:
        """Where it is, without its version."""
        return storage.unversioned(self.place)

    @property
    def packed(self) -> bool:
        """Whether it is read from its beginning to its end."""
        return self.path.lower().endswith(".gz")


@dataclass(frozen=True)
class ExportLog:
    """The files of an export; cheap to pickle."""

    files: Sequence[RangedExport]

    def ranges(self) -> list[Split]:
        """All of it, in order, by number from 1: row groups, bytes, or a whole file. Raises
        OSError, pyarrow.ArrowException and InputError."""
        cuts: list[tuple[int, int, int]] = []
        for number, file in enumerate(self.files):
            if file.packed:
                cuts.append((number, 0, 1))
            elif format_of(file.name) == "parquet":
                cuts += [(number, *cut) for cut in _row_groups(file)]
            else:
                size = size_of(file.place)
                for start in range(0, size, RANGE_BYTES):
                    cuts.append((number, start, min(start + RANGE_BYTES, size)))
        return [Split(*cut, at + 1) for at, cut in enumerate(cuts)]

    def tables(self, split: Split, few: bool, kinds: dict[str, str]) -> Iterator[pa.Table]:
        """The rows of a range, some at a time (``few``: only the first ones are wanted). ``kinds``
        as :func:`replay.logs.soliddb.export_files.json_tables`. Errors as
        :func:`replay.logs.soliddb.export.read_rows`; OddError where lines of CSV do not end with
        their rows."""
        file = self.files[split.file]
        kind = format_of(file.name)
        if kind == "parquet":
            found = _groups(file, split, few)
        elif file.packed:
            found = export_files.packed_tables(file.path, kinds)
        elif kind == "json":
            found = json_tables((bytes(piece) for piece in _pieces(file, split, 0, few)), kinds)
        else:
            found = _csv(file, split, few)
        return named_tables(file.name, found)


def _row_groups(file: RangedExport) -> Iterator[tuple[int, int]]:
    """The row groups of a file as ranges (start, stop)."""
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(storage.for_arrow(file.path, unpacked=False)) as opened:
        about = opened.metadata
        start = size = 0
        for number in range(about.num_row_groups):
            mine = about.row_group(number).total_byte_size
            if number > start and size + mine > RANGE_BYTES:
                yield start, number
                start, size = number, 0
            size += mine
        if about.num_row_groups:
            yield start, about.num_row_groups


def _groups(file: RangedExport, split: Split, few: bool) -> Iterator[pa.Table]:
    import pyarrow.parquet as parquet

    place = storage.for_arrow(file.path, unpacked=False)
    with parquet.ParquetFile(place, buffer_size=1 << 20, pre_buffer=False) as opened:
        rows = _FEW_ROWS if few else _ROWS
        groups = [*range(split.start, split.stop)]
        for batch in opened.iter_batches(rows, row_groups=groups, use_threads=False):
            yield pa.Table.from_batches([batch])


def _pieces(file: RangedExport, split: Split, begin: int, few: bool) -> Iterator[memoryview]:
    """The whole lines of a range of text, many at a time; those of the file start at ``begin``."""
    size = size_of(file.place)
    start, stop = (
        _line_start(file, max(place, begin), begin, size) for place in (split.start, split.stop)
    )
    step = _FEW_BYTES if few else _PIECE
    while start < stop:
        end = min(_line_start(file, start + step, begin, size), stop)
        lines = mapped(file.place, start, end)[start:end]
        if not _blank(lines[:_LINE]) or not _blank(lines):
            yield lines.data
        start = end


def _blank(lines: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> bool:
    return not lines.tobytes().strip()


def _line_start(file: RangedExport, place: int, begin: int, size: int) -> int:
    """Where the first line begins at a place or behind it."""
    if place <= begin:
        return begin
    place -= 1
    while place < size:
        end = min(place + _LINE, size)
        found = np.flatnonzero(mapped(file.place, place, end)[place:end] == _NEWLINE)
        if len(found):
            return place + int(found[0]) + 1
        place = end
    return size


def _csv(file: RangedExport, split: Split, few: bool) -> Iterator[pa.Table]:
    from pyarrow import csv

    parse, options = csv_options(file.path)
    begin = _line_start(file, 1, 0, size_of(file.place))
    header = mapped(file.place, 0, begin)[:begin].tobytes()
    delimiter = ord(parse.delimiter)
    _check_quotes(np.frombuffer(header, np.uint8), delimiter)
    if not header.strip():
        raise OddError("CSV whose first line is blank")
    for piece in _pieces(file, split, begin, few):
        _check_quotes(np.frombuffer(piece, np.uint8), delimiter)
        lines = header + piece
        reading = csv.ReadOptions(block_size=len(lines) + 1)
        yield csv.read_csv(pa.BufferReader(lines), reading, parse, options)


def _check_quotes(lines: np.ndarray[tuple[int], np.dtype[np.uint8]], delimiter: int) -> None:
    """OddError where lines have quotes that do not begin or end a value, or leave one open."""
    at = np.flatnonzero(lines == _QUOTE)
    if not len(at):
        return
    line = np.searchsorted(np.flatnonzero(lines == _NEWLINE), at)
    first = np.flatnonzero(np.append(True, line[1:] != line[:-1]))
    rank = np.arange(len(at)) - np.repeat(first, np.diff(np.append(first, len(at))))
    ends = rank % 2 > 0
    edges = (delimiter, _NEWLINE, _RETURN)
    padded = np.concatenate([[_NEWLINE], lines, [_NEWLINE]])
    before, after = np.isin(padded[at], edges), np.isin(padded[at + 2], edges)
    # a quote within a value stands there twice: one ends, and the next one begins again
    twice = np.zeros(len(at), bool)
    twice[:-1] = (at[1:] == at[:-1] + 1) & ends[:-1]
    again = np.append(False, twice[:-1])
    good = np.where(ends, after | twice, before | again)
    closes = ends[np.append(first[1:] - 1, len(at) - 1)]
    if not good.all() or not closes.all():
        raise OddError("CSV with values of several lines, or quotes within values")
