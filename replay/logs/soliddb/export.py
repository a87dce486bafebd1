"""Files that hold rows of a table, as users export them: Parquet, CSV or JSON lines, with VARBINARY
as bytes or as hexadecimal digits.

SYS_LOG rows come as :class:`SyslogRows` in the order of the file; rows of system tables as
:class:`pyarrow.Table` of text (sections 3 and 14).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay import storage
from replay.arrays import Bytes, Index, Mask
from replay.errors import InputError, Where
from replay.logs.files import unpacked_blocks
from replay.logs.long_arrays import LongArrays
from replay.logs.soliddb import layouts
from replay.storage import Place

if TYPE_CHECKING:
    from pyarrow import csv

#: RECIDs that names mean.
Named = npt.NDArray[np.int16]

#: A number that is NULL.
NONE = -(1 << 63)
#: Columns that must be there, and those that may be (section 3).
NEEDED = ("RECID", "TRXID", "STMTTRXID", "RELID", "FLAGS", "LOGADDR", "DATA")
_NUMBERS = ("RECID", "TRXID", "STMTTRXID", "RELID", "FLAGS")
_ORDERS = ("SEQ", "SESSION")
#: RECNAME that is not there, or empty.
UNNAMED = -2
#: Bytes of a block of text in which the longest row must fit, and of blocks that are read first;
#: rows that are looked at together, and bytes of a file that are read at a time.
_BLOCK, _SMALL_BLOCK = 128 << 20, 8 << 20
_ROWS, _BUFFER = 1 << 16, 1 << 20
_FORMATS = "Parquet (.parquet), CSV (.csv, .csv.gz) or JSON lines (.jsonl, .jsonl.gz)"
_HEX = "bytes in hexadecimal digits"
#: Bytes in which the first line of a CSV file ends.
_FIRST_LINE = 1 << 20
#: Characters of an unusable value in a message.
_SHOWN = 64


@dataclass(frozen=True)
class SyslogRows:
    """``n`` rows of a SYS_LOG export: numbers as ``int64`` (:data:`NONE` for NULL), ``address``
    ``uint8[n, size]`` (zeros for NULL; ``size`` 0 where all are), ``data`` with ``n + 1``
    ``offsets``; ``named`` the RECID of which RECNAME is the name (:data:`UNNAMED` where there is
    none, -1 for a name of nothing); ``sequence`` None where the file has no SEQ; ``texts``: rows
    with a TEXTDATA.
    """

    name: str
    numbers: dict[str, Index]
    named: Named
    sequence: Index | None
    session: Index | None
    address: Bytes
    address_null: Mask
    data: Bytes
    offsets: Index
    data_null: Mask
    texts: int

    def __len__(self) -> int:
        return len(self.address_null)


def read_rows(path: str, folder: str | None = None) -> SyslogRows:
    """Read one file of SYS_LOG rows, a piece at a time. ``folder``: where large arrays lie (None:
    in memory).

    InputError LR2001 where it cannot be read, LR2002 where it is empty, LR2008 where it lacks a
    column, LR2010 for an unusable value.
    """
    reading: ExportReading | None = None
    for table in _pieces(path):
        if reading is None:
            reading = ExportReading(path, table.column_names, LongArrays(folder))
        reading.add(table)
    assert reading is not None
    rows = reading.rows()
    pa.default_memory_pool().release_unused()
    return rows


class ExportReading:
    """Takes rows piece by piece. What is wrong is told at the end, as if each column was looked at
    as a whole, one behind the other. Pieces of JSON lines may have other columns than the first.
    InputError LR2008 where columns are missing."""

    def __init__(self, path: str, columns: Sequence[str], arrays: LongArrays) -> None:
        self.path, self.arrays, self.count, self.texts = path, arrays, 0, 0
        self.columns = set(columns)
        self.open = format_of(path) == "json"
        if not self.open:
            self._check_columns()
        self.numbers = {name: arrays.growing(np.int64) for name in _NUMBERS}
        self.named = arrays.growing(np.int16)
        self.address, self.data = arrays.growing(np.uint8), arrays.growing(np.uint8, kept=True)
        self.address_null, self.data_null = arrays.growing(np.bool_), arrays.growing(np.bool_)
        self.offsets = arrays.growing(np.int64)
        self.offsets.add(np.zeros(1, np.int64))
        #: Octets of an address (0: none so far), the first rows of other sizes, and what is wrong
        #: with a column, by its place among them.
        self.size = 0
        self.sizes: dict[int, int] = {}
        self.wrong: dict[str, InputError] = {}

    def add(self, table: pa.Table) -> None:
        """Take some rows, which come behind those before."""
        if not table.num_rows:
            return
        self.columns |= set(table.column_names)
        for name in _ORDERS:
            if name in self.columns and name not in self.numbers:
                self.numbers[name] = self.arrays.growing(np.int64)
                self.numbers[name].add(np.full(self.count, NONE))
        rows = _Piece(self.path, table, self.count)
        self.named.add(_named(table))
        for name in (*self.numbers, "LOGADDR", "DATA"):
            if name in self.wrong:
                continue
            try:
                if name in self.numbers:
                    self.numbers[name].add(rows.numbers(name))
                elif name == "DATA":
                    self._add_data(*rows.octets(name))
                else:
                    self._add_addresses(*rows.octets(name))
            except InputError as error:  # of the first piece that has one
                self.wrong[name] = error
        if "TEXTDATA" in table.column_names:
            self.texts += table.num_rows - table["TEXTDATA"].null_count
        self.count += table.num_rows

    def _add_data(self, data: Bytes, offsets: Index, null: Mask) -> None:
        self.offsets.add(offsets[1:] + self.data.count)
        self.data.add(data)
        self.data_null.add(null)

    def _add_addresses(self, raw: Bytes, offsets: Index, null: Mask) -> None:
        size = np.diff(offsets)
        used, first = np.unique(size[~null], return_index=True)
        for one, place in zip(used.tolist(), np.flatnonzero(~null)[first].tolist(), strict=True):
            self.sizes.setdefault(one, self.count + place)
        if not self.size and len(used):
            self.size = int(used[0])
            self.address.add(np.zeros(self.count * self.size, np.uint8))
        self.address_null.add(null)
        if self.size and len(self.sizes) == 1:
            square = np.zeros((len(null), self.size), np.uint8)
            square[~null] = raw.reshape(-1, self.size)
            self.address.add(square.reshape(-1))

    def rows(self) -> SyslogRows:
        """All of them. Errors as :func:`read_rows`."""
        self._check_columns()
        if not self.count:
            raise InputError(
                "LR2002",
                "found no rows; expected rows of SYS_LOG",
                Where(self.path),
                "Export it again",
            )
        for name in (*_NUMBERS, *_ORDERS, "", "LOGADDR", "DATA"):
            if name in self.wrong:
                raise self.wrong[name]
            if not name and "SEQ" not in self.numbers and self.path.lower().endswith(".parquet"):
                raise InputError(
                    "LR2008",
                    "found no column SEQ; expected the number of each row in fetch order",
                    Where(self.path),
                    _NO_ORDER,
                )
        self._check_sizes()
        held = {name: growing.array() for name, growing in self.numbers.items()}
        address = self.address.array()
        return SyslogRows(
            self.path,
            {name: held[name] for name in _NUMBERS},
            self.named.array(),
            held.get("SEQ"),
            held.get("SESSION"),
            address.reshape(-1, self.size) if self.size else np.zeros((self.count, 0), np.uint8),
            self.address_null.array(),
            self.data.array(),
            self.offsets.array(),
            self.data_null.array(),
            self.texts,
        )

    def _check_columns(self) -> None:
        """InputError LR2008 for columns that are not there."""
        missing = [name for name in NEEDED if name not in self.columns]
        if missing:
            message = (
                f"found an export without {', '.join(missing)}; expected the columns"
                f" {', '.join(NEEDED)}"
            )
            raise InputError(
                "LR2008",
                message,
                Where(self.path),
                "Export SYS_LOG with scripts/export_soliddb.py, or select all of its columns",
            )

    def _check_sizes(self) -> None:
        """InputError LR2010 for LOGADDRs of other lengths than 20 and 28, and for a mix of them."""
        wrong = [
            (row, size) for size, row in self.sizes.items() if size not in layouts.ADDRESS_SIZES
        ]
        if wrong:
            row, size = min(wrong)
            raise _unusable(self.path, row, "LOGADDR", f"{size} bytes", "20 or 28")
        if len(self.sizes) > 1:
            row = self.sizes[max(self.sizes)]
            raise _unusable(self.path, row, "LOGADDR", "20 and 28 bytes in one file", "one length")


def _named(table: pa.Table) -> Named:
    """The RECID that each RECNAME is the name of, as :class:`SyslogRows` has it."""
    if "RECNAME" not in table.column_names:
        return np.full(table.num_rows, UNNAMED, np.int16)
    texts = table["RECNAME"].cast(pa.string()).combine_chunks().dictionary_encode()
    kinds = {name: int(kind) for kind, name in layouts.REC_NAMES.items()}
    meant = np.full(len(texts.dictionary) + 1, UNNAMED, np.int16)
    for place, text in enumerate(texts.dictionary.to_pylist()):
        bare = text.strip().upper().removeprefix(layouts.REC_PREFIX)
        meant[place] = kinds.get(bare, -1) if bare else UNNAMED
    indices = pc.fill_null(texts.indices, len(texts.dictionary))
    return np.asarray(meant[indices.to_numpy(zero_copy_only=False)])


_NO_ORDER = (
    "The order of rows is the order of commits: export SEQ (0, 1, 2 …, in fetch order) with them"
)


def read_table(path: str) -> pa.Table:
    """A file as a table whose columns have upper-case names; CSV has only text. InputError LR2001,
    LR2002, LR2003."""
    return next(_pieces(path, whole=True))


def _pieces(path: str, *, whole: bool = False) -> Iterator[pa.Table]:
    """The same as tables of some rows, of which there is one at least, or as a ``whole`` one.
    Errors as :func:`read_table`."""
    readers = {"parquet": _parquet, "json": _json, "csv": _csv}

    def tables() -> Iterator[pa.Table]:
        if not storage.size_of(path):
            raise InputError("LR2002", "the file is empty", Where(path), "Export it again")
        kind = format_of(path)
        if kind not in readers:
            raise InputError(
                "LR2001",
                f"found a file whose name does not say what it is; expected {_FORMATS}",
                Where(path),
                "Rename it",
            )
        yield from readers[kind](path, whole)

    return named_tables(path, tables())


def format_of(path: str) -> str:
    """What a file is by its name: ``parquet``, ``json`` (lines), ``csv``; '' for none of them."""
    lower = path.lower().removesuffix(".gz")
    endings = {
        "parquet": (".parquet",),
        "json": (".jsonl", ".json", ".ndjson"),
        "csv": (".csv", ".txt", ".tsv"),
    }
    return next((kind for kind, ends in endings.items() if lower.endswith(ends)), "")


def named_tables(path: str, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Tables of a file with their columns in upper case. InputError LR2001 where it cannot be read,
    LR2008 where two columns have one name."""
    try:
        for table in tables:
            names = [name.strip().upper() for name in table.column_names]
            table.validate(full=True)
            if len(set(names)) < len(names):
                raise InputError(
                    "LR2008",
                    f"found columns {', '.join(names)}; expected each once",
                    Where(path),
                    "Export it again",
                )
            yield table.rename_columns(names)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, pa.ArrowException) as error:
        text = str(error).partition("\n")[0]
        raise InputError(
            "LR2001",
            f"the file cannot be read: {text}",
            Where(path),
            "It is damaged, or not what its name says",
        ) from None


def _parquet(path: str, whole: bool) -> Iterator[pa.Table]:
    import pyarrow.parquet as parquet

    place = storage.for_arrow(path, unpacked=False)
    if whole:
        yield parquet.read_table(place)
        return
    with parquet.ParquetFile(place, buffer_size=_BUFFER, pre_buffer=False) as file:
        yield file.schema_arrow.empty_table()
        for batch in file.iter_batches(_ROWS, use_threads=False):
            yield pa.Table.from_batches([batch])


def _parts_of(table: pa.Table, whole: bool = False) -> Iterator[pa.Table]:
    """A table in parts; an empty one, or a ``whole`` one, as it is."""
    size = max(table.num_rows, 1) if whole else _ROWS
    for first in range(0, max(table.num_rows, 1), size):
        yield table.slice(first, size)


def _json(path: str, whole: bool) -> Iterator[pa.Table]:
    if whole:
        yield json_table(b"".join(_blocks_of(path)))
        return
    none = True
    for table in json_tables(whole_lines(_blocks_of(path), _SMALL_BLOCK), {}):
        none = False
        yield table
    if none:
        yield json_table(b"")  # which says so


def packed_tables(path: str, kinds: dict[str, str]) -> Iterator[pa.Table]:
    """The rows of a packed text file from its beginning on, one thread unpacking it. ``kinds`` as
    :func:`json_tables`. Errors as :func:`read_rows`, of which those of libraries are yet to be put
    into words."""
    if format_of(path) == "json":
        return json_tables(whole_lines(unpacked_blocks(path, threads=1), _SMALL_BLOCK), kinds)
    return _csv(path, False)


def _blocks_of(path: str) -> Iterator[bytes]:
    """The bytes of a file, unpacked."""
    if path.lower().endswith(".gz"):
        yield from unpacked_blocks(path)
        return
    with storage.opened(path, whole=True) as file:
        while block := file.read(_BUFFER):
            yield block


def whole_lines(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Blocks of bytes as pieces of whole lines that have about ``size`` bytes or one line; blank
    ones are left out."""
    held: list[bytes] = []
    count = 0
    for block in blocks:
        held.append(block)
        count += len(block)
        if count < size or b"\n" not in block:
            continue
        lines, end, rest = b"".join(held).rpartition(b"\n")
        held, count = [rest], len(rest)
        if lines.strip():
            yield lines + end
    rest = b"".join(held)
    if rest.strip():
        yield rest


def json_table(lines: bytes) -> pa.Table:
    """Lines of JSON as a table. Raises pyarrow.ArrowException."""
    import pyarrow.json as json

    options = json.ReadOptions(block_size=len(lines) + 1)
    return json.read_json(pa.BufferReader(lines), options)


def json_tables(pieces: Iterable[bytes], kinds: dict[str, str]) -> Iterator[pa.Table]:
    """Pieces of JSON lines as tables. ``kinds`` gets the kind of values of each column, which must
    be the same in all pieces. Raises pyarrow.ArrowException."""
    for lines in pieces:
        table = json_table(lines)
        for field in table.schema:
            kind = _json_kind(field.type)
            if kind and kinds.setdefault(field.name, kind) != kind:
                raise pa.ArrowInvalid(
                    f"JSON parse error: Column(/{field.name}) changed from {kinds[field.name]} to"
                    f" {kind}"
                )
        yield table


def _json_kind(of: pa.DataType) -> str:
    if pa.types.is_null(of):
        return ""
    if pa.types.is_integer(of) or pa.types.is_floating(of):
        return "number"
    return "string" if pa.types.is_string(of) or pa.types.is_timestamp(of) else str(of)


def _csv(path: str, whole: bool) -> Iterator[pa.Table]:
    """A CSV file block by block; of one that cannot be read so, which may have rows that are longer
    than a block, all that is left together."""
    from pyarrow import csv

    parse, options = csv_options(path)
    done, pieces = 0, 0
    try:
        reading = csv.ReadOptions(block_size=_SMALL_BLOCK)
        if not whole:
            with csv.open_csv(storage.for_arrow(path), reading, parse, options) as reader:
                for batch in reader:
                    yield pa.Table.from_batches([batch])
                    done, pieces = done + batch.num_rows, pieces + 1
    except pa.ArrowInvalid:
        pieces = 0
    if not pieces:
        reading = csv.ReadOptions(block_size=_BLOCK)
        table = csv.read_csv(storage.for_arrow(path), reading, parse, options)
        yield from _parts_of(table.slice(done), whole)


def csv_options(path: str) -> tuple[csv.ParseOptions, csv.ConvertOptions]:
    """How a CSV file is read: all values are text. InputError LR2003 where it is none."""
    from pyarrow import csv

    packed = path.lower().endswith(".gz")
    for _ in unpacked_blocks(path) if packed else ():
        pass  # none too many
    with storage.opened(path) as raw:
        begin = (gzip.GzipFile(fileobj=raw) if packed else raw).read(_FIRST_LINE)
    first = begin.partition(b"\n")[0]
    if first.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("LR2003", "found UTF-16; expected UTF-8", Where(path), "Write it as UTF-8")
    head = first.decode("utf-8-sig", "replace")
    delimiter = max(",;|\t", key=head.count)
    columns = [name.strip().strip('"') for name in head.strip().split(delimiter)]
    options = csv.ConvertOptions(
        column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=True, null_values=[""]
    )
    return csv.ParseOptions(delimiter=delimiter, newlines_in_values=True), options


def numbers_of(path: str, table: pa.Table, name: str) -> Index:
    """A column of numbers of some rows of a file. InputError LR2010."""
    return _Piece(path, table, 0).numbers(name)


@dataclass(frozen=True)
class _Piece:
    """Some rows of a file, of which the first has the number ``first``, from 0."""

    path: str
    table: pa.Table
    first: int

    def _column(self, name: str) -> pa.Array:
        """A column; nulls where it is not there."""
        if name not in self.table.column_names:
            return pa.nulls(self.table.num_rows)
        return self.table[name].combine_chunks()

    def numbers(self, name: str) -> Index:
        """A column of numbers. InputError LR2010."""
        column = self._column(name)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            digits = pc.utf8_trim_whitespace(column)
            wrong = np.flatnonzero(
                ~pc.fill_null(pc.match_substring_regex(digits, r"^-?\d{1,18}$"), True).to_numpy(
                    zero_copy_only=False
                )
            )
            if len(wrong):
                raise _unusable(
                    self.path,
                    self.first + int(wrong[0]),
                    name,
                    repr(column[int(wrong[0])].as_py()[:_SHOWN]),
                    "a whole number",
                )
            column = digits
        try:
            values = column.cast(pa.int64())
        except pa.ArrowException:
            raise InputError(
                "LR2010",
                f"found {column.type} values; expected whole numbers",
                Where(self.path, field=name),
                "Export it again",
            ) from None
        return np.asarray(_filled(values, NONE).to_numpy(zero_copy_only=False), np.int64)

    def octets(self, name: str) -> tuple[Bytes, Index, Mask]:
        """(bytes, ``n + 1`` offsets, nulls) of a binary column."""
        column = self._column(name)
        null = np.asarray(column.is_null().to_numpy(zero_copy_only=False), bool)
        if pa.types.is_null(column.type):
            return np.zeros(0, np.uint8), np.zeros(len(column) + 1, np.int64), null
        text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if text:
            column = _bare(column.cast(pa.large_string()))
        try:
            values = _filled(column.cast(pa.large_binary()), b"")
        except pa.ArrowException:
            raise InputError(
                "LR2010",
                f"found {column.type} values; expected bytes",
                Where(self.path, field=name),
                "Export it again",
            ) from None
        offsets = np.frombuffer(values.buffers()[1], np.int64)[
            values.offset : values.offset + len(values) + 1
        ]
        raw = values.buffers()[2]
        data = (
            np.frombuffer(raw, np.uint8)[offsets[0] : offsets[-1]]
            if raw is not None
            else np.zeros(0, np.uint8)
        )
        offsets = offsets - offsets[0]
        if not text:
            return data, offsets, null
        odd = np.flatnonzero(np.diff(offsets) % 2)
        nibbles = _NIBBLE[data]
        wrong = np.flatnonzero(nibbles > 15)
        bad = [*odd[:1].tolist(), *(np.searchsorted(offsets, wrong[:1], side="right") - 1).tolist()]
        if bad:
            row = min(bad)
            raise _unusable(
                self.path,
                self.first + row,
                name,
                repr(self.table[name][row].as_py()[:_SHOWN]),
                _HEX,
            )
        return np.asarray((nibbles[0::2] << 4) | nibbles[1::2], np.uint8), offsets // 2, null


_NIBBLE = np.full(256, 255, np.uint8)
for _value in range(16):
    _NIBBLE[ord(f"{_value:x}")] = _NIBBLE[ord(f"{_value:X}")] = _value


def _filled(column: pa.Array, missing: int | bytes) -> pa.Array:
    """A column with ``missing`` for its nulls; itself where it has none, of which Arrow makes a
    copy."""
    return pc.fill_null(column, missing) if column.null_count else column


def _bare(column: pa.Array) -> pa.Array:
    """Hexadecimal digits without ``0x`` or ``X'…'`` around them."""
    if not pc.any(pc.match_substring_regex(column, "^(0[xX]|[xX]')")).as_py():
        return column
    return pc.replace_substring_regex(
        column, "^0[xX]([0-9a-fA-F]*)$|^[xX]'([0-9a-fA-F]*)'$", r"\1\2"
    )


def _unusable(path: str, row: int, field: str, found: str, expected: str) -> InputError:
    return InputError(
        "LR2010",
        f"found {found}; expected {expected}",
        Where(path, row + 1, None, field),
        "Export it again",
    )


def find(folder: Place, name: str) -> Place | None:
    """The file of a system table in a folder, whatever its format, its name in lower or upper
    case."""
    for suffix in (".parquet", ".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".json"):
        for path in (folder / f"{name}{suffix}", folder / f"{name.upper()}{suffix}"):
            if path.is_file():
                return path
    return None


def records(path: Place, needed: Sequence[str]) -> list[dict[str, str | None]]:
    """The rows of a system table as text, by column. InputError LR2031 where it lacks a column."""
    table = read_table(str(path))
    missing = [name for name in needed if name not in table.column_names]
    if missing:
        message = f"found {path.stem} without {', '.join(missing)}; expected {', '.join(needed)}"
        raise InputError(
            "LR2031", message, Where(str(path)), "Export it with scripts/export_soliddb.py"
        )
    names = [
        [None if value is None else str(value).strip() for value in table[name].to_pylist()]
        for name in table.column_names
    ]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*names, strict=True)]
