"""Files of rows of a table, as users export them: Parquet, CSV or JSON lines, as tables of Arrow
whose columns have upper-case names (sections 3 and 14)."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from replay import storage
from replay.errors import InputError, Where
from replay.logs.files import unpacked_blocks
from replay.storage import Place

if TYPE_CHECKING:
    from pyarrow import csv

#: Bytes of a block of text in which the longest row must fit, and of blocks that are read first;
#: rows that are looked at together, and bytes of a file that are read at a time.
_BLOCK, _SMALL_BLOCK = 128 << 20, 8 << 20
_ROWS, _BUFFER = 1 << 16, 1 << 20
_FORMATS = "Parquet (.parquet), CSV (.csv, .csv.gz) or JSON lines (.jsonl, .jsonl.gz)"
#: Bytes in which the first line of a CSV file ends.
_FIRST_LINE = 1 << 20


def read_table(path: str) -> pa.Table:
    """A file as a table whose columns have upper-case names; CSV has only text. InputError LR2001,
    LR2002, LR2003."""
    return next(pieces(path, whole=True))


def pieces(path: str, *, whole: bool = False) -> Iterator[pa.Table]:
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

    return _named_tables(path, tables())


def format_of(path: str) -> str:
    """What a file is by its name: ``parquet``, ``json`` (lines), ``csv``; '' for none of them."""
    lower = path.lower().removesuffix(".gz")
    endings = {
        "parquet": (".parquet",),
        "json": (".jsonl", ".json", ".ndjson"),
        "csv": (".csv", ".txt", ".tsv"),
    }
    return next((kind for kind, ends in endings.items() if lower.endswith(ends)), "")


def _named_tables(path: str, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
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
        yield _json_table(b"".join(_blocks_of(path)))
        return
    none = True
    for table in _json_tables(whole_lines(_blocks_of(path), _SMALL_BLOCK), {}):
        none = False
        yield table
    if none:
        yield _json_table(b"")  # which says so


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


def _json_table(lines: bytes) -> pa.Table:
    """Lines of JSON as a table. Raises pyarrow.ArrowException."""
    import pyarrow.json as json

    options = json.ReadOptions(block_size=len(lines) + 1)
    return json.read_json(pa.BufferReader(lines), options)


def _json_tables(pieces: Iterable[bytes], kinds: dict[str, str]) -> Iterator[pa.Table]:
    """Pieces of JSON lines as tables. ``kinds`` gets the kind of values of each column, which must
    be the same in all pieces. Raises pyarrow.ArrowException."""
    for lines in pieces:
        table = _json_table(lines)
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

    parse, options = _csv_options(path)
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


def _csv_options(path: str) -> tuple[csv.ParseOptions, csv.ConvertOptions]:
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
