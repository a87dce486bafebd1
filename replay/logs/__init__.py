"""Log families. A family is a folder of layout tables plus a reader that implements :class:`LogFile`; it is found by name.

A reader reports what stands in the log. It does not filter, sort, pair, guess a table or render a value; others decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from replay.catalog import Catalog
from replay.changes import Change, Envelope
from replay.errors import Finding, UsageError

Bytes = npt.NDArray[np.uint8]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Split:
    """A byte range ``start:stop`` of a data file at whose start a record begins: the ``first_record``-th (from 1) of the file."""

    file: int
    start: int
    stop: int
    first_record: int


@dataclass(frozen=True)
class Images:
    """Row images of ``n`` changes of one table: ``buffer`` with (start, end) of the before and after images, None where the change has none.
    ``bad`` rows have no usable bounds; ``reason(row)`` gives (found, expected, hint)."""

    buffer: Bytes
    before: tuple[Index, Index] | None
    after: tuple[Index, Index] | None
    bad: Mask
    reason: Callable[[int], tuple[str, str, str]]


class Walk(Protocol):
    """Where the columns of ``n`` row images of one table version lie. ``bad`` images do not fit the table; nothing said of their columns counts."""

    @property
    def bad(self) -> Mask: ...
    def reason(self, row: int) -> tuple[str, str, str]:
        """Of a bad image: (field, found, expected)."""
        ...

    def equal(self, other: Any, index: int) -> Mask:
        """Where column ``index`` (its place in the table version's format) is the same in two images."""
        ...

    def decode(self, index: int, rows: Index | None = None) -> tuple[pa.Array, Mask | None]:
        """Values of a column in ``rows`` (all when None) by the contract of :mod:`sqlgen.schema`, and which cannot be decoded (None: all can)."""
        ...

    def explain(self, index: int, row: int) -> tuple[str, str]:
        """Of a value that cannot be decoded: (found, expected)."""
        ...


class DataFile(Protocol):
    """One data file of a log."""

    @property
    def name(self) -> str: ...


class LogFile(Protocol):
    """An open log: cheap to pickle, because workers open the files themselves. A family gets back the envelopes it made (``Any``). ``source`` names
    the database that wrote it, the same for all its logs."""

    catalog: Catalog

    @property
    def source(self) -> str: ...
    @property
    def files(self) -> Sequence[DataFile]: ...
    @property
    def dependent_position(self) -> bytes | None: ...
    def inputs(self) -> list[str]: ...
    def splits(self, split_bytes: int) -> Iterator[tuple[Split, Index, npt.NDArray[np.int32]]]: ...
    def records(self, split: Split, batch: int) -> Iterator[tuple[int, Index, npt.NDArray[np.int32]]]: ...
    def envelope(self, file: int, offsets: Index, lengths: npt.NDArray[np.int32]) -> Envelope: ...
    def envelope_of(self, files: npt.NDArray[Any], offsets: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> Envelope: ...
    def envelope_batch(self, file: int, first_record: int, offsets: Index, lengths: npt.NDArray[np.int32]) -> pa.RecordBatch: ...
    def classify(self, envelope: Any) -> tuple[Bytes, npt.NDArray[np.int32]]: ...
    def check(self, envelope: Any, lengths: npt.NDArray[Any], change: Bytes, version: npt.NDArray[np.int32]) -> Mask: ...
    def names_its_unit(self, envelope: Any, lengths: npt.NDArray[Any]) -> Mask: ...
    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding: ...
    def commit_keys(self, envelope: Any) -> npt.NDArray[np.void]: ...
    def same_change(self, one: Any, other: Any) -> Mask: ...
    def whole_table(self, envelope: Any, lengths: npt.NDArray[Any]) -> Mask: ...
    def images(self, records: npt.NDArray[np.void], heads: Index, weights: Index, kind: Change) -> Iterator[tuple[Index, Images]]: ...
    def walk(self, version: int, buffer: Bytes, start: Index, end: Index) -> Walk: ...
    def unit_fields(self, envelope: Any) -> Mapping[str, pa.Array]: ...
    def trace(self, envelope: Any) -> pa.Array: ...


def source_named(name: str) -> Callable[..., LogFile]:
    """The function that opens a log of a family: ``open(control, data, **options)``. UsageError for an unknown name."""
    for point in entry_points(group="logreplay.logs", name=name):
        opener: Callable[..., LogFile] = point.load()
        return opener
    known = ", ".join(sorted(point.name for point in entry_points(group="logreplay.logs")))
    raise UsageError("LR1001", f"found log family {name!r}; expected one of: {known}")
