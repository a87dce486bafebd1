"""Files that hold rows of a table, as users export them: Parquet, CSV or JSON lines, with VARBINARY
as bytes or as hexadecimal digits.

SYS_LOG rows come as :class:`SyslogRows` in the order of the file; rows of system tables as
:class:`pyarrow.Table` of text (sections 3 and 14).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay import storage
from replay.arrays import Bytes, Index, Mask
from replay.errors import InputError, Where
from replay.logs.files import unpacked_blocks
from replay.logs.soliddb import layouts
from replay.storage import Place

#: A number that is NULL.
NONE = -(1 << 63)
#: Columns that must be there, and those that may be (section 3).
NEEDED = ("RECID", "TRXID", "STMTTRXID", "RELID", "FLAGS", "LOGADDR", "DATA")
_NUMBERS = ("RECID", "TRXID", "STMTTRXID", "RELID", "FLAGS")
#: Bytes of a block of text: the longest row must fit.
_BLOCK = 128 << 20
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
    ``offsets``; ``sequence`` None where the file has no SEQ; ``texts``: rows with a TEXTDATA.
    """

    name: str
    numbers: dict[str, Index]
    names: pa.Array
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


def read_rows(path: str) -> SyslogRows:
    """Read one file of SYS_LOG rows.

    InputError LR2001 where it cannot be read, LR2002 where it is empty, LR2008 where it lacks a
    column, LR2010 for an unusable value.
    """
    table = read_table(path)
    missing = [name for name in NEEDED if name not in table.column_names]
    if missing:
        message = (
            f"found an export without {', '.join(missing)}; expected the columns"
            f" {', '.join(NEEDED)}"
        )
        raise InputError(
            "LR2008",
            message,
            Where(path),
            "Export SYS_LOG with scripts/export_soliddb.py, or select all of its columns",
        )
    if not table.num_rows:
        raise InputError(
            "LR2002", "found no rows; expected rows of SYS_LOG", Where(path), "Export it again"
        )
    numbers = {name: _numbers(path, table, name) for name in _NUMBERS}
    sequence = _numbers(path, table, "SEQ") if "SEQ" in table.column_names else None
    session = _numbers(path, table, "SESSION") if "SESSION" in table.column_names else None
    if sequence is None and path.lower().endswith(".parquet"):
        raise InputError(
            "LR2008",
            "found no column SEQ; expected the number of each row in fetch order",
            Where(path),
            _NO_ORDER,
        )
    address, begin, address_null = _octets(path, table, "LOGADDR")
    data, offsets, data_null = _octets(path, table, "DATA")
    names = (
        table["RECNAME"].combine_chunks()
        if "RECNAME" in table.column_names
        else pa.nulls(table.num_rows, pa.string())
    )
    texts = table.num_rows - table["TEXTDATA"].null_count if "TEXTDATA" in table.column_names else 0
    square = _addresses(path, address, begin, address_null)
    return SyslogRows(
        path,
        numbers,
        names,
        sequence,
        session,
        square,
        address_null,
        data,
        offsets,
        data_null,
        texts,
    )


_NO_ORDER = (
    "The order of rows is the order of commits: export SEQ (0, 1, 2 …, in fetch order) with them"
)


def read_table(path: str) -> pa.Table:
    """A file as a table whose columns have upper-case names; CSV has only text. InputError LR2001,
    LR2002, LR2003."""
    lower = path.lower().removesuffix(".gz")
    try:
        if not storage.size_of(path):
            raise InputError("LR2002", "the file is empty", Where(path), "Export it again")
        if lower.endswith(".parquet"):
            import pyarrow.parquet as parquet

            table = parquet.read_table(storage.for_arrow(path, unpacked=False))
        elif lower.endswith((".jsonl", ".json", ".ndjson")):
            table = _json(path)
        elif lower.endswith((".csv", ".txt", ".tsv")):
            table = _csv(path)
        else:
            raise InputError(
                "LR2001",
                f"found a file whose name does not say what it is; expected {_FORMATS}",
                Where(path),
                "Rename it",
            )
        names = [name.strip().upper() for name in table.column_names]
        table.validate(full=True)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, pa.ArrowException) as error:
        text = str(error).partition("\n")[0]
        raise InputError(
            "LR2001",
            f"the file cannot be read: {text}",
            Where(path),
            "It is damaged, or not what its name says",
        ) from None
    if len(set(names)) < len(names):
        raise InputError(
            "LR2008",
            f"found columns {', '.join(names)}; expected each once",
            Where(path),
            "Export it again",
        )
    return table.rename_columns(names)


def _json(path: str) -> pa.Table:
    import pyarrow.json as json

    if path.lower().endswith(".gz"):
        size = _longest_line(unpacked_blocks(path))
    else:
        size = storage.size_of(path)
    options = json.ReadOptions(block_size=min(max(size + 1, 16 << 20), _BLOCK))
    return json.read_json(storage.for_arrow(path), options)


def _longest_line(blocks: Iterable[bytes]) -> int:
    """The bytes of the longest line, with its end."""
    longest = held = 0
    for block in blocks:
        first, *others = block.split(b"\n")
        held += len(first)
        longest = max(longest, held + 1)
        if others:
            longest = max(longest, *(len(line) + 1 for line in others))
            held = len(others[-1])
    return longest


def _csv(path: str) -> pa.Table:
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
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    reading = csv.ReadOptions(block_size=_BLOCK)
    return csv.read_csv(storage.for_arrow(path), reading, parse, options)


def _numbers(path: str, table: pa.Table, name: str) -> Index:
    column = table[name].combine_chunks()
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        digits = pc.utf8_trim_whitespace(column)
        wrong = np.flatnonzero(
            ~pc.fill_null(pc.match_substring_regex(digits, r"^-?\d{1,18}$"), True).to_numpy(
                zero_copy_only=False
            )
        )
        if len(wrong):
            raise _unusable(
                path,
                int(wrong[0]),
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
            Where(path, field=name),
            "Export it again",
        ) from None
    return np.asarray(pc.fill_null(values, NONE).to_numpy(zero_copy_only=False), np.int64)


def _octets(path: str, table: pa.Table, name: str) -> tuple[Bytes, Index, Mask]:
    """(bytes, ``n + 1`` offsets, nulls) of a binary column."""
    column = table[name].combine_chunks()
    null = np.asarray(column.is_null().to_numpy(zero_copy_only=False), bool)
    if pa.types.is_null(column.type):
        return np.zeros(0, np.uint8), np.zeros(len(column) + 1, np.int64), null
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if text:
        column = _bare(column.cast(pa.large_string()))
    try:
        values = pc.fill_null(column.cast(pa.large_binary()), b"")
    except pa.ArrowException:
        raise InputError(
            "LR2010",
            f"found {column.type} values; expected bytes",
            Where(path, field=name),
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
        raise _unusable(path, row, name, repr(table[name][row].as_py()[:_SHOWN]), _HEX)
    return np.asarray((nibbles[0::2] << 4) | nibbles[1::2], np.uint8), offsets // 2, null


_NIBBLE = np.full(256, 255, np.uint8)
for _value in range(16):
    _NIBBLE[ord(f"{_value:x}")] = _NIBBLE[ord(f"{_value:X}")] = _value


def _bare(column: pa.Array) -> pa.Array:
    """Hexadecimal digits without ``0x`` or ``X'…'`` around them."""
    if not pc.any(pc.match_substring_regex(column, "^(0[xX]|[xX]')")).as_py():
        return column
    return pc.replace_substring_regex(
        column, "^0[xX]([0-9a-fA-F]*)$|^[xX]'([0-9a-fA-F]*)'$", r"\1\2"
    )


def _addresses(path: str, raw: Bytes, offsets: Index, null: Mask) -> Bytes:
    """LOGADDRs as ``uint8[n, size]``. InputError LR2010 for other lengths than 20 and 28, and for a
    mix of them."""
    size = np.diff(offsets)
    used = np.unique(size[~null])
    if not len(used):
        return np.zeros((len(null), 0), np.uint8)
    wrong = np.flatnonzero(~null & ~np.isin(size, layouts.ADDRESS_SIZES))
    if len(wrong):
        raise _unusable(path, int(wrong[0]), "LOGADDR", f"{size[wrong[0]]} bytes", "20 or 28")
    if len(used) > 1:
        row = int(np.flatnonzero(~null & (size == used[1]))[0])
        raise _unusable(path, row, "LOGADDR", "20 and 28 bytes in one file", "one length")
    square = np.zeros((len(null), int(used[0])), np.uint8)
    square[~null] = raw.reshape(-1, int(used[0]))
    return square


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
