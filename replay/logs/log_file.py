"""What an open log gives, whatever family it is of: its records, its row images and what is known
beside them.

A reader reports what stands in the log. It does not filter, sort, pair, guess a table or render a
value; others decide.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy.typing as npt
import pyarrow as pa

from replay.arrays import Bytes, Hashes, Index, Lengths, Mask, Records, Versions
from replay.changes.catalog import Catalog, TableVersion
from replay.changes.envelope import Change, Envelope
from replay.changes.position import Position
from replay.decoding.image_layouts import PlainRows
from replay.errors import Finding
from sqlgen.schema import Constraints

if TYPE_CHECKING:
    from sqlgen.structure import StructureChange


@dataclass(frozen=True, slots=True)
class Split:
    """A byte range ``start:stop`` of a data file at whose start a record begins: the
    ``first_record``-th (from 1) of the file."""

    file: int
    start: int
    stop: int
    first_record: int


@dataclass(frozen=True)
class Images:
    """Row images of ``n`` changes of one table: ``buffer`` with (start, end), ``int64[n]`` each, of
    the before and after images, None where the kind of change has none. ``bad`` (``bool[n]``) rows
    have no usable bounds; ``reason(row)`` gives (found, expected, hint) of one of them."""

    buffer: Bytes
    before: tuple[Index, Index] | None
    after: tuple[Index, Index] | None
    bad: Mask
    reason: Callable[[int], tuple[str, str, str]]

    def take(self, rows: Index) -> Images:
        """The images of some of the changes."""
        before, after = (
            None if side is None else (side[0][rows], side[1][rows])
            for side in (self.before, self.after)
        )
        return Images(
            self.buffer, before, after, self.bad[rows], lambda row: self.reason(int(rows[row]))
        )


class Walk(Protocol):
    """Where the columns of ``n`` row images of one table version lie. ``index`` is a column's place
    in the table version's format (:attr:`replay.changes.catalog.RowFormat.columns`); nothing said
    of the columns of a bad image counts. No method raises an error for damaged images: what is
    wrong with them is data."""

    @property
    def bad(self) -> Mask:
        """``bool[n]``: images that do not fit the table."""
        ...

    def reason(self, row: int) -> tuple[str, str, str]:
        """Of the bad image ``row`` (0 to ``n - 1``): (field, found, expected), for messages."""
        ...

    def equal(self, other: Any, index: int) -> Mask:
        """``bool[n]``: where a column holds the same in the image of this walk and in that of
        ``other``, a walk of the same family, table version and ``n``. Null equals null only."""
        ...

    def decode(self, index: int, rows: Index | None = None) -> tuple[pa.Array, Mask | None]:
        """Values of a column in ``rows`` (``int64[m]``; all ``n`` when None) as an Arrow array of
        ``m`` values by the contract of :mod:`sqlgen.schema`, and ``bool[m]``: which of them cannot
        be decoded (None: all can). What cannot be decoded is any value of the right type."""
        ...

    def explain(self, index: int, row: int) -> tuple[str, str]:
        """Of a value of image ``row`` that :meth:`decode` cannot decode: (found, expected)."""
        ...


@runtime_checkable
class NullTelling(Protocol):
    """A walk that tells nulls without decoding, and raises no error for damaged images. Those that
    do not are asked for the values."""

    def nulls(self, index: int) -> Mask | None:
        """``bool[n]``: where a column is null (None: nowhere)."""
        ...


@runtime_checkable
class Judging(Protocol):
    """A walk that tells of which columns :meth:`Walk.decode` can decode any value; others are asked
    for the values. Errors are those of :meth:`Walk.decode`."""

    def readable(self, index: int) -> bool:
        """Whether any bytes are a value of a column."""
        ...


@runtime_checkable
class PartialWalk(Protocol):
    """A walk whose images may lack values that the row has: they are neither null nor damaged, and
    :meth:`Walk.decode` has none. In ``before.equal(after, …)`` what the row became and the log does
    not tell was not changed. Those that are none have whole images. Raises no error."""

    def absent(self, index: int) -> Mask | None:
        """``bool[n]``: where the value of a column is not in the image (None: nowhere)."""
        ...


class DataFile(Protocol):
    """One data file of a log. No member raises an error."""

    @property
    def name(self) -> str:
        """The path as the user gave it, for messages."""
        ...


class RecordSource(Protocol):
    """The records of a log, and what is known of them without a look at row images.

    ``file`` is a place in :attr:`files`. ``offsets`` (``int64[n]``) and ``lengths`` (``int32[n]``,
    bytes) say where records are, without framing; the ``number`` of a record counts from 1 in its
    file. ``envelope`` is one that this log made, of ``n`` records. No member raises an error but
    those that it names, and OSError where a file is gone: damaged records are data.
    """

    @property
    def files(self) -> Sequence[DataFile]:
        """The data files, in the order of the log."""
        ...

    @property
    def has_offsets(self) -> bool:
        """Whether ``offset`` is a place in a file of bytes, which messages name; else it is the
        number of a row, from 0."""
        ...

    def splits(self, split_bytes: int) -> Iterator[tuple[Split, Index, Lengths]]:
        """The whole log, in order, in ranges of about ``split_bytes`` bytes that begin and end at
        records: (split, offsets ``int64[n]``, lengths ``int32[n]``) with at least one record
        each. InputError where a file's framing is damaged."""
        ...

    def records(self, split: Split, batch: int) -> Iterator[tuple[int, Index, Lengths]]:
        """The ``n`` records of a split, at most ``batch`` at a time: (number of the first one,
        offsets ``int64[n]``, lengths ``int32[n]``). InputError as :meth:`splits`."""
        ...

    def envelope(
        self, files: int | npt.NDArray[Any], offsets: npt.NDArray[Any], lengths: npt.NDArray[Any]
    ) -> Envelope:
        """The envelope of ``n`` records, in the order given. ``files``: the file of all of them, or
        ``[n]``, the file of each. Headers that are cut off are as if zeros followed."""
        ...

    def classify(self, envelope: Any) -> tuple[Bytes, Versions]:
        """(``uint8[n]``, ``int32[n]``): the :class:`replay.changes.envelope.Change` of each record
        (0: none that is known) and the index of its table version in :attr:`LogFacts.catalog` (-1:
        none)."""
        ...

    def check(
        self, envelope: Any, lengths: npt.NDArray[Any], change: Bytes, version: Versions
    ) -> Mask:
        """``bool[n]``: records with a header that cannot be right, which damages their unit of
        recovery. ``change`` and ``version`` are what :meth:`classify` said."""
        ...

    def names_its_unit(self, envelope: Any, lengths: npt.NDArray[Any]) -> Mask:
        """``bool[n]``, asked of records that :meth:`check` marks: whether commit position and unit
        of recovery can be believed all the same. Where they cannot, the run ends."""
        ...

    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding:
        """What is wrong with one record that :meth:`check` marks."""
        ...

    def commit_keys(self, envelope: Any) -> Records:
        """``V22[n]``: what only records of one unit of recovery share, to tell units apart that
        have the same id and commit position."""
        ...

    def change_hashes(self, envelope: Any) -> Hashes:
        """``uint64[n]``: equal for records with the same unit, position and segment that are of one
        change, which is in the log twice."""
        ...

    def row_ids(self, envelope: Any) -> Hashes:
        """Where the row of each change lies in its database (RID), ``uint64[n]``; 0 where the log
        does not tell. Equal ids of changes of one table are evidence for one row; different ones
        are none against it, because a row may move, unless :attr:`ids_part`."""
        ...

    def new_values(self, envelope: Any) -> Mask:
        """``bool[n]``: updates by which a key has other values, of this row or of another one that
        took it: the log does not tell, so they count as changes of every column."""
        ...

    @property
    def ids_part(self) -> bool:
        """Whether :meth:`row_ids` are those of rows wherever they are not 0, so that an insert and
        a delete with different ids are of two rows, or of one that moved in between."""
        ...

    def whole_table(self, envelope: Any, lengths: npt.NDArray[Any]) -> Mask:
        """``bool[n]``, asked of mass deletes and truncates: whether all rows of the table go, not
        those of a part of it."""
        ...


class ImageSource(Protocol):
    """The row images of a log's changes, and what its records say of table structure. ``records``
    have dtype :data:`replay.changes.envelope.RECORD`. No member raises an error but OSError where a
    file is gone: bad images are data."""

    def images(
        self, records: Records, heads: Index, weights: Index, kind: Change
    ) -> Iterator[tuple[Index, Images]]:
        """Row images of the ``m`` changes of one ``kind`` (insert, update or delete) whose first
        records are ``records[heads]``; the records of a change are the next ``weights`` ones (both
        ``int64[m]``). Yields (places among the changes, their images) so that each change comes
        once."""
        ...

    def walk(self, version: int, buffer: Bytes, start: Index, end: Index) -> Walk:
        """Where the columns of the images ``buffer[start:end]`` (offsets ``int64[n]``) of a table
        version (its index in the catalog) lie. Images that do not fit are bad."""
        ...

    def plain_rows(self, version: int) -> PlainRows | None:
        """How the images of a table version lie, so that compiled code may read those that are as
        it says, where :meth:`walk` finds and decodes the same; None where nothing is said."""
        ...

    def clones(self, file: Index, offset: Index, length: Lengths) -> Iterator[str | None]:
        """Of exchanges of a table with its clone, whose records lie there (``int64[n]`` each): the
        name of the other table, None where a record does not tell it."""
        ...

    def structure(self, records: Records) -> Sequence[StructureChange]:
        """What each of the ``n`` records of :attr:`replay.changes.envelope.Change.STRUCTURE` says,
        in their order. Families that have none are never asked."""
        ...


class LogFacts(Protocol):
    """What is known of a log beside its records. No member raises an error but those that it
    names: what a log cannot tell is refused when it is opened, or told as not known."""

    @property
    def source(self) -> str:
        """The name of the database that wrote the log, the same for all its logs: positions of one
        source are comparable."""
        ...

    @property
    def catalog(self) -> Catalog:
        """The versions of the tables that the log changes."""
        ...

    @property
    def constraints(self) -> Constraints:
        """The unique keys and foreign keys that came with the log, for where nobody names others;
        empty where none did."""
        ...

    @property
    def has_structure(self) -> bool:
        """Whether the log changes the structure of tables, so that statements may speak of what is
        not there before."""
        ...

    @property
    def dependent_position(self) -> Position | None:
        """Where units that begin there or later may depend on units that the log lacks a part of;
        None: no unit is incomplete."""
        ...

    @property
    def begins(self) -> Position | None:
        """From where on all is in the log, where it says so: before its first unit there may be
        transactions without rows. None: not known."""
        ...

    @property
    def ends(self) -> Position | None:
        """Up to where all is in the log, where it says so: behind its last unit there may be
        transactions without rows. None: not known."""
        ...

    def inputs(self) -> list[str]:
        """Every file that was read, as the user named it, for the manifest's digests."""
        ...

    def warnings(self, taken: Sequence[TableVersion]) -> list[str]:
        """What a user should know before trusting scripts for these table versions, a sentence
        each."""
        ...

    def in_words(self, reason: str) -> str:
        """A reason of the balance sheet or of a unit that is set aside in words that users of such
        logs know; they are given in those of Log Master."""
        ...

    def placed(self, position: bytes, last: bool) -> Position:
        """A commit position as the user gave it (6, 8 or 10 bytes, or as many as an address of the
        log has) in the form of this log's envelopes; of several that it may mean, the ``last`` or
        the first one. UsageError for a form that the log does not have."""
        ...

    def placed_unit(self, unit: bytes) -> bytes:
        """The id of a unit of recovery as the user gave it (6, 8 or 10 bytes) as the 10 bytes of
        :attr:`replay.changes.position.UnitId.urid`."""
        ...

    def unit_fields(self, envelope: Any) -> Mapping[str, pa.Array]:
        """What the comment before a unit says: name -> string array of ``n``, from the first record
        of each of ``n`` units."""
        ...

    def trace(self, envelope: Any) -> pa.Array:
        """Where each record is in the words of its database (``lrsn=… rba=…``), a string array of
        ``n``, for ``--trace``."""
        ...


class LogFile(RecordSource, ImageSource, LogFacts, Protocol):
    """An open log: its records, its row images, and what is known beside them. Cheap to pickle,
    because workers open the files themselves. It is read by several processes at once, and never
    changes. Errors are those of the three."""


@runtime_checkable
class TellsLess(Protocol):
    """A log that may lack facts which other logs of its family hold. Raises no error."""

    def untold(self) -> Mapping[str, str]:
        """Those of :data:`replay.logs.FACTS` that it lacks, and why."""
        ...


@dataclass(frozen=True)
class SqlText:
    """How a subsystem reads SQL: the CCSID of its text (None: not known), what stands around a
    literal, and the decimal point."""

    ccsid: int | None
    delimiter: str = "'"
    point: str = "."


@runtime_checkable
class TellsSqlText(Protocol):
    """A log that says how the subsystem which wrote it reads SQL. Raises no error."""

    def sql_text(self) -> SqlText:
        """As the log has it."""
        ...


@runtime_checkable
class PartialImages(Protocol):
    """A log whose rows as they were before may lack values (:class:`PartialWalk`)."""

    def check_whole(self, taken: Iterable[TableVersion], what: str) -> None:
        """Refusal LR3002, by table, where ``what`` is made of rows that are not whole."""
        ...


@runtime_checkable
class OwnDialect(Protocol):
    """A log that says which SQL its database has."""

    @property
    def dialect(self) -> str:
        """The name of it. Raises no error."""
        ...

    def in_dialect(self, dialect: str) -> Any:
        """The log with types as a dialect has them. Raises no error."""
        ...


@runtime_checkable
class LosesCascades(Protocol):
    """A log that may lack what foreign keys change by themselves."""

    def knowing_keys(self, constraints: Any, undo: bool) -> tuple[Any, tuple[str, ...]]:
        """The log that knows for an ``undo`` which changes foreign keys passed on, and warnings.
        Raises no error."""
        ...

    def passed_on(self, records: Any) -> Any:
        """Which changes foreign keys passed on to other rows, so that none of them can be undone:
        ``header_finding`` tells. Raises no error."""
        ...


@runtime_checkable
class ListsUnits(Protocol):
    """A log whose units of recovery are listed when it is opened. Raises no error."""

    #: Whether ids of units count how often the id was used in the files before, and each commit
    #: position has one unit.
    numbers_units: bool
    #: Whether units that are taken are whole, so that of such a one no other file has more.
    whole_units: bool

    def units(self) -> Records:
        """All units of recovery (``[n]``, fields ``unit`` and ``commit``). Raises no error."""
        ...

    @property
    def positions_are_places(self) -> bool:
        """Whether commit positions are places in the files, which move where a file comes between
        others. Raises no error."""
        ...

    @property
    def rest_of(self) -> Position | None:
        """Where a unit of recovery commits that begins before the log, and is no unit of it. None:
        there is none. Raises no error."""
        ...


@runtime_checkable
class MadeOfLogs(Protocol):
    """A log made of logs that arrive one by one, in an order that positions do not tell."""

    def arrived_logs(self) -> Sequence[tuple[str, Sequence[int]]]:
        """The name of the file by which each of them is known, and the numbers of its data files
        in ``files``, as many entries as there are logs. Raises no error."""
        ...

    def data_places(self, files: Sequence[int]) -> Sequence[str]:
        """Where the data of some files are, unpacked; none where the file by which their log is
        known has them. Raises no error."""
        ...

    @property
    def stated_end(self) -> Position | None:
        """Where the logs say that they end, for whom units may go on in one to come; None where
        they do not, or none may. Raises no error."""
        ...

    @property
    def final_position(self) -> Position | None:
        """Behind which nothing commits, by the control file of a log that is whole by itself; None
        where nothing says so, or logs may come. Raises no error."""
        ...

    def record_places(self, envelope: Any) -> Bytes | None:
        """Where records lie among commit positions (``uint8[n, 10]``); None where a unit that
        begins before the logs is known by other means. Raises no error."""
        ...

    def owing_logs(self) -> Collection[int] | None:
        """Which of them (places in :meth:`arrived_logs`) lack records of units, so that units of
        later logs may depend on what is not there; None where a log is read with all of those
        before it. Raises no error."""
        ...


@runtime_checkable
class MakesFiles(Protocol):
    """A log whose opening made files that tasks need. Raises no error."""

    def made_files(self) -> list[str]:
        """Their paths, on the machine where it was opened."""
        ...


@runtime_checkable
class BufferedLog(Protocol):
    """A log of files of bytes, of which any range can be had. ``file`` is a place among its
    files."""

    def buffer(
        self,
        file: int,
        start: npt.NDArray[Any] | int | None = None,
        stop: npt.NDArray[Any] | int | None = None,
    ) -> Bytes:
        """The bytes of a data file (``uint8[size]``), of which those of ``start:stop`` (numbers, or
        ``int64[n]`` each) are there. InputError LR2001 where it cannot be read."""
        ...


@runtime_checkable
class RangedLog(BufferedLog, Protocol):
    """A log of files with records one after the other. Places in a file are bytes from its
    beginning. No member raises an error but those that
    it names."""

    @property
    def files(self) -> Sequence[DataFile]:
        """The data files, in the order of the log."""
        ...

    @property
    def walks_ranges(self) -> bool:
        """Whether a walk by ranges learns all that one from beginning to end does."""
        ...

    def size(self, file: int) -> int:
        """Bytes of a data file. InputError LR2001 where it cannot be read."""
        ...

    def read_in_place(self, file: int) -> str | None:
        """The input, as the user named it, whose very bytes are those of a data file; None where
        the data file was made of it."""
        ...

    def walked(
        self, file: int, start: int, stop: int, first_record: int
    ) -> tuple[int, Index, Lengths]:
        """The ``n`` records that begin in ``start:stop``, where ``start`` is the begin of one
        (number ``first_record``) or of a block of them: (where the last one ends, offsets
        ``int64[n]``, lengths ``int32[n]``). InputError where the framing is damaged, or none."""
        ...

    def likely_starts(self, file: int, start: int, stop: int) -> Iterator[int]:
        """Places in ``start:stop`` at which a record may begin, rising: some records follow one
        another from there. A guess, for whoever can prove it."""
        ...


@dataclass(frozen=True)
class FoundImages:
    """Where the images of some ``changes`` (rising) lie in a ``buffer``: (start, end) of the first
    image and of the second one, int64[2 | 4, n]. The second one of a change that has one is empty
    and lies where the first ends."""

    changes: Index
    buffer: Bytes
    bounds: Index


@runtime_checkable
class PlainImages(Protocol):
    """A log that finds the row images of changes of several kinds together. No member raises an
    error but OSError where a file is gone."""

    def plain_images(
        self, records: Records, heads: Index, weights: Index, updates: Mask
    ) -> Iterator[FoundImages]:
        """The images of inserts, deletes and ``updates`` (bool[m]); ``heads`` and ``weights`` as
        for :meth:`replay.logs.ImageSource.images`. Each change comes at most once: those that are
        missing need that method. ``changes`` of each part rise; all bounds lie in the buffer."""
        ...
