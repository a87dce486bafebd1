"""Log families. A family is a folder of layout tables plus a reader that implements :class:`LogFile`; it is found by name, and says as data what
its logs can tell.

A reader reports what stands in the log. It does not filter, sort, pair, guess a table or render a value; others decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from replay.catalog import Catalog, TableVersion
from replay.changes import Change, Envelope, unit_text
from replay.errors import Finding, UsageError, Where
from sqlgen.constraints import Constraints
from sqlgen.structure import StructureChange

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

    def take(self, rows: Index) -> Images:
        """The images of some of the changes."""
        before, after = (None if side is None else (side[0][rows], side[1][rows]) for side in (self.before, self.after))
        return Images(self.buffer, before, after, self.bad[rows], lambda row: self.reason(int(rows[row])))


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
    def has_offsets(self) -> bool:
        """Whether records are found by byte offset; else they are rows, and their number says where they are."""
        ...

    @property
    def has_structure(self) -> bool:
        """Whether the log changes the structure of tables, so that statements may speak of what is not there before."""
        ...

    @property
    def dependent_position(self) -> bytes | None: ...
    @property
    def constraints(self) -> Constraints:
        """The unique keys and foreign keys that came with the log, for where nobody names others."""
        ...

    def inputs(self) -> list[str]: ...
    def warnings(self, taken: Sequence[TableVersion]) -> list[str]:
        """What a user should know before trusting scripts for these table versions."""
        ...

    def placed(self, position: bytes, last: bool) -> bytes:
        """A commit position as the user gave it (6, 8 or 10 bytes), as the 10 bytes of this log's envelopes; of several that it may mean, the
        ``last`` or the first one."""
        ...

    def placed_unit(self, unit: bytes) -> bytes:
        """The same for the id of a unit of recovery."""
        ...

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
    def structure(self, records: npt.NDArray[np.void]) -> Sequence[StructureChange]:
        """What records of :attr:`replay.changes.Change.STRUCTURE` say. Families that have none are never asked."""
        ...

    def walk(self, version: int, buffer: Bytes, start: Index, end: Index) -> Walk: ...
    def image_reading(self, version: int) -> int | None:
        """The reading under which :func:`replay.images.walk` reads the images of a table version; None where :meth:`walk` is something else."""
        ...

    def unit_fields(self, envelope: Any) -> Mapping[str, pa.Array]: ...
    def trace(self, envelope: Any) -> pa.Array: ...


def where_of(log: LogFile, record: np.void, field: str | None = None, table: str | None = None) -> Where:
    """The place of a sort record (dtype :data:`replay.changes.RECORD`), for messages."""
    offset = int(record["offset"]) if log.has_offsets else None
    return Where(log.files[int(record["file"])].name, int(record["number"]), offset, field, table, unit_text(record["unit"].tobytes()))


#: What commands may need to know of a change or a log, and the options that need it.
FACTS: dict[str, str] = {
    "before images": "the rows as they were before",
    "structure": "changes of table structure, in order (DDL)",
    "rolled-back work": "the changes of units that were not committed",
    "commit times": "when units of recovery were committed",
    "origins": "whether a change was made by a foreign key or a trigger",
    "incomplete units": "which units lack records, and where units that depend on them begin",
    "recovery sets": "which records come after a recovery point",
    "authorization ids": "who did it",
    "plans": "the plan",
    "correlation ids": "the correlation id",
    "connections": "the connection",
    "members": "the member of a data sharing group, or the log stream",
}


@dataclass(frozen=True)
class Capabilities:
    """Which of :data:`FACTS` the logs of a family hold, and for each other one why it cannot be known. Checked when made."""

    known: frozenset[str]
    unknown: Mapping[str, str]

    def __post_init__(self) -> None:
        if set(self.known) & set(self.unknown) or set(self.known) | set(self.unknown) != set(FACTS):
            raise ValueError("every fact is either known or unknown, with the reason")


@dataclass(frozen=True)
class Inputs:
    """The files and settings a user named. ``options`` are ``--log-option`` NAME=VALUE pairs; ``scratch`` is a folder for temporary files."""

    control: str | None = None
    data: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    catalog: str | None = None
    framing: str | None = None
    ccsids: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    scratch: str | None = None


@dataclass(frozen=True)
class Family:
    """A log family: what its logs can tell and what it does with them. ``needs`` and ``takes`` are fields of :class:`Inputs`, ``framings``
    and ``options`` (name -> meaning) what ``--framing`` and ``--log-option`` accept. ``describe`` gives JSON-able data with an ``exit_code``,
    ``text`` shows it, ``dump_record(log, number, file, with_hex)`` shows one record."""

    name: str
    title: str
    capabilities: Capabilities
    needs: tuple[str, ...]
    takes: tuple[str, ...]
    framings: tuple[str, ...]
    options: Mapping[str, str]
    open: Callable[[Inputs], LogFile]
    describe: Callable[[Any], dict[str, Any]]
    text: Callable[[Mapping[str, Any]], str]
    dump_record: Callable[[Any, int, int, bool], list[str]]

    def open_log(self, inputs: Inputs) -> LogFile:
        """Open a log. UsageError when the files or settings are not those of this family, else as ``open``."""
        for name in ("control", "data", "log", "catalog"):
            if getattr(inputs, name) and name not in self.takes:
                expected = " and ".join(f"--{needed}" for needed in self.takes)
                raise UsageError("LR1001", f"found --{name} with --source {self.name}; expected {expected}")
            if name in self.needs and not getattr(inputs, name):
                raise UsageError("LR1001", f"found no --{name}; expected one with --source {self.name} ({self.title})")
        if inputs.framing is not None and inputs.framing not in self.framings:
            raise UsageError("LR1001", f"found --framing {inputs.framing}; expected one of: {', '.join(self.framings)}")
        if inputs.ccsids and "ccsids" not in self.takes:
            raise UsageError(
                "LR1001", f"found --ccsid with --source {self.name}; expected it with logs that name character sets by CCSID only"
            )
        for name in inputs.options:
            if name not in self.options:
                known = ", ".join(self.options) or f"none ({self.name} has no such options)"
                raise UsageError("LR1001", f"found --log-option {name}; expected one of: {known}")
        return self.open(inputs)


#: The families of this package. Others come through the entry-point group ``logreplay.logs``, whose entries name a :class:`Family`.
FAMILIES: dict[str, str] = {
    "logmaster": "replay.logs.logmaster.family:FAMILY",
    "db2luw": "replay.logs.db2luw.family:FAMILY",
    "soliddb": "replay.logs.soliddb.family:FAMILY",
}


def source_named(name: str) -> Family:
    """The log family called ``name``. UsageError when neither this package nor an installed one has it."""
    if name in FAMILIES:
        module, _, attribute = FAMILIES[name].partition(":")
        built_in: Family = getattr(import_module(module), attribute)
        return built_in
    points = {point.name: point for point in entry_points(group="logreplay.logs")}
    if name not in points:
        raise UsageError("LR1001", f"found log family {name!r}; expected one of: {', '.join(sorted({*FAMILIES, *points}))}")
    family: Family = points[name].load()
    return family
