"""The rows of SYS_LOG exports as :class:`SyslogRows`, in the order of the file, and
their values: whole numbers, and VARBINARY as bytes or as hexadecimal digits (section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.errors import InputError, Where
from replay.logs.soliddb import layouts
from replay.logs.soliddb.export_files import format_of, pieces
from replay.spill import Spill

#: RECIDs that names mean.
Named = npt.NDArray[np.int16]

#: Columns that must be there, and those that may be (section 3).
NEEDED = ("RECID", "TRXID", "STMTTRXID", "RELID", "FLAGS", "LOGADDR", "DATA")
_NUMBERS = ("RECID", "TRXID", "STMTTRXID", "RELID", "FLAGS")
_ORDERS = ("SEQ", "SESSION")
#: RECNAME that is not there, or empty.
UNNAMED = -2


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
    for table in pieces(path):
        if reading is None:
            reading = ExportReading(path, table.column_names, Spill(folder))
        reading.add(table)
    assert reading is not None
    rows = reading.rows()
    pa.default_memory_pool().release_unused()
    return rows


class ExportReading:
    """Takes rows piece by piece. What is wrong is told at the end, as if each column was looked at
    as a whole, one behind the other. Pieces of JSON lines may have other columns than the first.
    InputError LR2008 where columns are missing."""

    def __init__(self, path: str, columns: Sequence[str], arrays: Spill) -> None:
        self.path, self.arrays, self.count, self.texts = path, arrays, 0, 0
        self.columns = set(columns)
        self.open = format_of(path) == "json"
        if not self.open:
            self._check_columns()
        self.numbers = {name: arrays.growing(np.int64) for name in _NUMBERS}
        self.named = arrays.growing(np.int16)
        self.address, self.data = arrays.growing(np.uint8), arrays.growing(np.uint8)
        self.address_null, self.data_null = arrays.growing(np.bool_), arrays.growing(np.bool_)
        self.offsets = arrays.growing(np.int64)
        self.offsets.add(np.zeros(1, np.int64))
        #: Bytes of an address (0: none so far), the first rows of other sizes, and what is wrong
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
        rows = SomeRows(self.path, table, self.count)
        self.named.add(_named(table))
        for name in (*self.numbers, "LOGADDR", "DATA"):
            if name in self.wrong:
                continue
            try:
                if name in self.numbers:
                    self.numbers[name].add(rows.numbers(name))
                elif name == "DATA":
                    self._add_data(*rows.as_bytes(name))
                else:
                    self._add_addresses(*rows.as_bytes(name))
            except InputError as error:  # of the first piece that has one
                self.wrong[name] = error
        if "TEXTDATA" in table.column_names:
            self.texts += table.num_rows - table["TEXTDATA"].null_count
        self.count += table.num_rows

    def _add_data(self, data: Bytes, offsets: Index, null: Mask) -> None:
        self.offsets.add(offsets[1:] + len(self.data))
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
            raise unusable(self.path, row, "LOGADDR", f"{size} bytes", "20 or 28")
        if len(self.sizes) > 1:
            row = self.sizes[max(self.sizes)]
            raise unusable(self.path, row, "LOGADDR", "20 and 28 bytes in one file", "one length")


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


# -- values
# -------------------------------------------------------------------------------------------------

#: A number that is NULL.
NONE = -(1 << 63)
_HEX = "bytes in hexadecimal digits"
#: Characters of an unusable value in a message.
_SHOWN = 64


@dataclass(frozen=True)
class SomeRows:
    """Some rows of a file, of which the first has the number ``first``, from 0."""

    path: str
    table: pa.Table
    first: int

    def _column(self, name: str) -> pa.Array:
        """A column; nulls where it is not there."""
        if name not in self.table.column_names:
            return pa.nulls(self.table.num_rows)
        return self.table[name].combine_chunks()

    def _cast(self, column: pa.Array, name: str, kind: pa.DataType, expected: str) -> pa.Array:
        try:
            return column.cast(kind)
        except pa.ArrowException:
            raise InputError(
                "LR2010",
                f"found {column.type} values; expected {expected}",
                Where(self.path, field=name),
                "Export it again",
            ) from None

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
                raise unusable(
                    self.path,
                    self.first + int(wrong[0]),
                    name,
                    repr(column[int(wrong[0])].as_py()[:_SHOWN]),
                    "a whole number",
                )
            column = digits
        values = self._cast(column, name, pa.int64(), "whole numbers")
        return np.asarray(_filled(values, NONE).to_numpy(zero_copy_only=False), np.int64)

    def as_bytes(self, name: str) -> tuple[Bytes, Index, Mask]:
        """(bytes, ``n + 1`` offsets, nulls) of a binary column."""
        column = self._column(name)
        null = np.asarray(column.is_null().to_numpy(zero_copy_only=False), bool)
        if pa.types.is_null(column.type):
            return np.zeros(0, np.uint8), np.zeros(len(column) + 1, np.int64), null
        text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if text:
            column = _bare(column.cast(pa.large_string()))
        values = _filled(self._cast(column, name, pa.large_binary(), "bytes"), b"")
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
            raise unusable(
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


def unusable(path: str, row: int, field: str, found: str, expected: str) -> InputError:
    """LR2010 for a value of the ``row``, counted from 0."""
    return InputError(
        "LR2010",
        f"found {found}; expected {expected}",
        Where(path, row + 1, None, field),
        "Export it again",
    )
