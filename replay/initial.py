"""The state before a log, as it was unloaded: ``TABLE.csv`` or ``OWNER.TABLE.csv`` (``.gz`` too) with the columns' names in the first line, ``\\N`` for
NULL, bytes as ``\\x`` and hexadecimal digits. Read into the rows that a log would have inserted."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from replay.errors import InputError, Where
from sqlgen.rows import Op, Rows
from sqlgen.schema import ARROW_TYPES, Column, SqlType, Table

#: Bytes of a file that are read at once.
_BLOCK = 16 << 20
_TRUTH = {"t": True, "true": True, "1": True, "f": False, "false": False, "0": False}
_INTEGER = r"^-?\d+$"
_PATTERNS = {
    SqlType.SMALLINT: _INTEGER,
    SqlType.INTEGER: _INTEGER,
    SqlType.BIGINT: _INTEGER,
    SqlType.DECIMAL: r"^-?\d+(\.\d+)?$",
    SqlType.DATE: r"^\d{4}-\d\d-\d\d$",
    SqlType.TIME: r"^\d\d:\d\d:\d\d$",
    SqlType.TIMESTAMP: r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,12})?$",
    SqlType.TIMESTAMP_TZ: r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,12})?[+-]\d\d:\d\d$",
    SqlType.BOOLEAN: f"^({'|'.join(_TRUTH)})$",
}
_BYTES = frozenset({SqlType.BINARY, SqlType.VARBINARY, SqlType.BLOB})
_EXPECTED = {
    SqlType.DATE: "YYYY-MM-DD",
    SqlType.TIME: "HH:MM:SS",
    SqlType.TIMESTAMP: "YYYY-MM-DD HH:MM:SS.ffffff",
    SqlType.BOOLEAN: "t or f",
}


def state_files(folder: Path, tables: Sequence[Table]) -> dict[str, Path]:
    """OWNER.NAME -> its file. InputError (LR2001) for a folder that cannot be read, a table without a file, or a name that fits several tables."""
    try:
        files = {path.name.split(".csv")[0].upper(): path for path in sorted(folder.iterdir()) if path.name.endswith((".csv", ".csv.gz"))}
    except OSError as error:
        raise InputError("LR2001", f"cannot read the state folder: {error}", Where(str(folder))) from error
    found = {}
    short = [table.name.upper() for table in tables]
    for table in tables:
        name = f"{table.schema}.{table.name}"
        path = files.get(name.upper()) or (files.get(table.name.upper()) if short.count(table.name.upper()) == 1 else None)
        if path is None:
            hint = "An empty table has a file with the first line alone. Leave a table out with --exclude-table"
            raise InputError(
                "LR2001", f"found no file {name}.csv or {table.name}.csv; expected one for each table of the log", Where(str(folder)), hint
            )
        found[name] = path
    return found


def state_rows(path: Path, table: Table) -> Iterator[Rows]:
    """The rows of a table's file as inserts, in parts. InputError (LR2035) where the file is not one of this table, or a value not one of its column."""
    columns = _columns(path, table)
    texts = {column.name: pa.string() for column in columns}
    options = pa_csv.ConvertOptions(column_types=texts, null_values=["\\N"], strings_can_be_null=True, quoted_strings_can_be_null=False)
    reading = pa_csv.ReadOptions(block_size=_BLOCK, column_names=[column.name for column in columns], skip_rows=1)
    first = 2
    try:
        with pa_csv.open_csv(path, reading, pa_csv.ParseOptions(newlines_in_values=True), options) as reader:
            for batch in reader:
                after = {
                    column.name: _values(values, column, table, path, first) for column, values in zip(columns, batch.columns, strict=True)
                }
                yield Rows(table, Op.INSERT, batch.num_rows, {}, after, {})
                first += batch.num_rows
    except pa.ArrowInvalid as error:
        if "Empty CSV file" in str(error):
            return
        raise InputError("LR2035", f"the file is not CSV with the columns of its first line: {error}", Where(str(path))) from error


def _columns(path: Path, table: Table) -> list[Column]:
    """The columns that the first line names."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", newline="") as file:
            names = next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise InputError("LR2001", f"the file cannot be read: {error}", Where(str(path))) from error
    known = {column.name.upper(): column for column in table.columns}
    wrong = sorted({name for name in names if name.upper() not in known} | {name for name in known if name not in map(str.upper, names)})
    if wrong or len(names) != len(known):
        expected = ", ".join(known)
        found = f"found the columns {', '.join(names) or 'of no first line'}; expected those of the log's table: {expected}"
        raise InputError("LR2035", found, Where(str(path), table=f"{table.schema}.{table.name}"))
    return [known[name.upper()] for name in names]


def _values(texts: pa.Array, column: Column, table: Table, path: Path, first: int) -> pa.Array:
    """Texts as values (value contract: :mod:`sqlgen.schema`)."""
    bad = _unfit(texts, column)
    if bad is not None:
        where = Where(str(path), first + bad, field=column.name, table=f"{table.schema}.{table.name}")
        shown = "NULL" if texts[bad].as_py() is None else repr(texts[bad].as_py())[:100]
        expected = (
            "a value" if shown == "NULL" else f"a value of {column.type.value}, as {_EXPECTED.get(column.type, 'the log would have it')}"
        )
        raise InputError("LR2035", f"found {shown}; expected {expected}", where, "Records are counted with the first line as 1")
    if column.type is SqlType.DECIMAL:
        return _padded(texts, column.scale)
    if column.type is SqlType.TIMESTAMP:
        return _padded(texts, column.length)
    if column.type in _BYTES:
        return pa.array([None if text is None else bytes.fromhex(text[2:]) for text in texts.to_pylist()], pa.binary())
    if column.type is SqlType.BOOLEAN:
        return pa.array([None if text is None else _TRUTH[text] for text in texts.to_pylist()], pa.bool_())
    return texts.cast(ARROW_TYPES[column.type])


def _unfit(texts: pa.Array, column: Column) -> int | None:
    """The first value that is none of the column."""
    if not column.nullable and texts.null_count:
        return int(pc.index(pc.is_null(texts), True).as_py())
    fits = pc.match_substring_regex(texts, _PATTERNS[column.type]) if column.type in _PATTERNS else None
    if column.type is SqlType.DECIMAL:
        pattern = rf"^-?0*\d{{0,{column.length - column.scale}}}(\.\d{{0,{column.scale}}}0*)?$"
        fits = pc.and_(fits, pc.match_substring_regex(texts, pattern))
    elif column.type is SqlType.TIMESTAMP:
        fits = pc.and_(fits, pc.match_substring_regex(texts, rf"^[^.]*(\.\d{{0,{column.length}}}0*)?$"))
    elif column.type in (SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT, SqlType.REAL, SqlType.DOUBLE):
        target = {SqlType.SMALLINT: pa.int16(), SqlType.INTEGER: pa.int32()}.get(column.type, ARROW_TYPES[column.type])
        if fits is None or pc.all(fits).as_py() is not False:
            fits = _cast_fits(texts, target)
    elif column.type in _BYTES:
        fits = pc.match_substring_regex(texts, r"^\\x([0-9A-Fa-f]{2})*$")
    if fits is None:
        return None
    first = pc.index(fits, False).as_py()
    return None if first < 0 else int(first)


def _cast_fits(texts: pa.Array, target: pa.DataType) -> pa.Array | None:
    """Which texts can be cast, None for all; looked at one by one only when one cannot."""
    try:
        texts.cast(target)
    except pa.ArrowInvalid:
        fits: list[bool] = []
        for at in range(len(texts)):
            try:
                texts[at : at + 1].cast(target)
            except pa.ArrowInvalid:
                return pa.array([*fits, False])
            fits.append(True)
    return None


def _padded(texts: pa.Array, digits: int) -> pa.Array:
    """Texts with so many digits after the point, and no point without digits."""
    whole = pc.replace_substring_regex(texts, r"\..*$", "")
    if not digits:
        return whole
    fraction = pc.utf8_slice_codeunits(pc.replace_substring_regex(texts, r"^[^.]*\.?", ""), 0, digits)
    return pc.binary_join_element_wise(whole, pc.utf8_rpad(fraction, digits, "0"), ".")
