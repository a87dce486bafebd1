"""The state before a log, as it was unloaded: ``TABLE.csv`` or ``OWNER.TABLE.csv`` (``.gz`` too)
with the columns' names in the first line, ``\\N`` for NULL, bytes as ``\\x`` and hexadecimal
digits. Read into the rows that a log would have inserted, or counted for the dependency graph."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import IO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from replay.arrays import Index
from replay.changes.catalog import masked_value
from replay.dependencies.baseline import CountedRows, Lookup, StateBefore
from replay.errors import InputError, Where
from replay.logs import LogFile
from replay.storage import Place, file_name, for_arrow, opened, readable
from sqlgen.ddl import source_type
from sqlgen.rows import Op, Rows
from sqlgen.schema import ARROW_TYPES, FLOATS, Column, SqlType, Table

#: Bytes of a file that are read at once.
_BLOCK = 16 << 20
_TRUTH = {"t": True, "true": True, "1": True, "f": False, "false": False, "0": False}
_INTEGER = r"^-?\d+$"
_NUMBER = r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_DAY = r"\d{4}-\d\d-\d\d"
_CLOCK = r"(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,12})?|24:00:00(\.0{1,12})?)"
_PATTERNS = {
    SqlType.SMALLINT: _INTEGER,
    SqlType.INTEGER: _INTEGER,
    SqlType.BIGINT: _INTEGER,
    SqlType.DECIMAL: r"^-?\d+(\.\d+)?$",
    SqlType.REAL: f"^{_NUMBER}$",
    SqlType.DOUBLE: f"^{_NUMBER}$",
    SqlType.DECFLOAT: f"^({_NUMBER}|-?(s?NaN|Infinity))$",
    SqlType.DATE: f"^{_DAY}$",
    SqlType.TIME: r"^(([01]\d|2[0-3]):[0-5]\d:[0-5]\d|24:00:00)$",
    SqlType.TIMESTAMP: f"^{_DAY} {_CLOCK}$",
    SqlType.TIMESTAMP_TZ: f"^{_DAY} {_CLOCK}[+-]\\d\\d:[0-5]\\d$",
    SqlType.BOOLEAN: f"^({'|'.join(_TRUTH)})$",
}
_BYTES = frozenset({SqlType.BINARY, SqlType.VARBINARY, SqlType.BLOB})
_INTEGERS = frozenset({SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT})
_DAYS = frozenset({SqlType.DATE, SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ})
_TEXTS = frozenset({SqlType.CHAR, SqlType.VARCHAR})
_EXPECTED = {
    SqlType.DATE: "YYYY-MM-DD",
    SqlType.TIME: "HH:MM:SS",
    SqlType.TIMESTAMP: "YYYY-MM-DD HH:MM:SS.ffffff",
    SqlType.TIMESTAMP_TZ: "YYYY-MM-DD HH:MM:SS.ffffff+HH:MM",
    SqlType.BOOLEAN: "t or f",
}


class StateFiles:
    """The files of a state: those of tables in a folder, which is listed once."""

    def __init__(self, folder: Place) -> None:
        self.folder = folder

    @cached_property
    def _by_name(self) -> dict[str, list[Place]]:
        """Those that may be of tables, by their folded names. InputError (LR2001) for a folder that
        cannot be read."""
        files: dict[str, list[Place]] = {}
        with readable(self.folder, "the state folder"):
            entries: list[Place] = [*self.folder.iterdir()]
        for path in sorted(entries, key=lambda one: one.name):
            if path.name.endswith((".csv", ".csv.gz")):
                files.setdefault(_folded(_stem(path)), []).append(path)
        return files

    def of(
        self,
        tables: Sequence[Table],
        among: Sequence[Table] | None = None,
        partial: bool = False,
    ) -> dict[str, Place]:
        """OWNER.NAME -> its file, of some ``tables`` (``among`` others). InputError (LR2001) for a
        folder that cannot be read, a table without a file (not where it may be ``partial``), or one
        with several."""
        by_table: dict[str, Place] = {}
        every = {(table.schema, table.name) for table in among or tables}
        whole = Counter(_folded(f"{schema}.{name}") for schema, name in every)
        schemas: dict[str, set[str]] = {}
        for schema, short in every:
            schemas.setdefault(_folded(short), set()).add(schema)
        for table in tables:
            name = f"{table.schema}.{table.name}"
            # Of tables whose names differ in case only, each has the file that is spelled as it is.
            alike = whole[_folded(name)] > 1
            names = [name, full_file_name(table.schema, table.name)]
            if len(schemas[_folded(table.name)]) == 1 and _folded(table.name) not in whole:
                names += [table.name, file_name(table.name)]
            paths = list(
                dict.fromkeys(
                    path
                    for one in names
                    for path in self._by_name.get(_folded(one), ())
                    if not alike or _stem(path) == one
                )
            )
            if not paths and partial:
                continue
            if not paths:
                hint = (
                    "An empty table has a file with the first line alone. Leave a table out with"
                    " --exclude-table"
                )
                raise InputError(
                    "LR2001",
                    f"found no file {name}.csv or {table.name}.csv; expected one for each table of"
                    " the log",
                    Where(str(self.folder)),
                    hint,
                )
            if len(paths) > 1:
                raise InputError(
                    "LR2001",
                    f"found {paths[0].name} and {paths[1].name}; expected one file for a table",
                    Where(str(self.folder)),
                )
            by_table[name] = paths[0]
        return by_table

    def others(self, taken: Iterable[Place]) -> list[str]:
        """The names of the files that are not ``taken``."""
        names = {path.name for paths in self._by_name.values() for path in paths}
        return sorted(names - {path.name for path in taken})


def full_file_name(schema: str, name: str) -> str:
    """``owner.table`` as the name of a file: a dot in one of them is ``%2E``."""
    return ".".join(file_name(part).replace(".", "%2E") for part in (schema, name))


def _folded(name: str) -> str:
    """A name for which case does not count: a Turkish İ in lower case has another upper one."""
    return name.lower().upper()


def _stem(path: Place) -> str:
    return path.name.removesuffix(".gz").removesuffix(".csv")


def state_rows(path: Place, table: Table, masked: Collection[str] = ()) -> Iterator[Rows]:
    """The rows of a table's file as inserts, in parts. InputError (LR2035) where the file is not
    one of this table, or a value not one of its column; values of ``masked`` columns are not
    told."""
    columns = _columns(path, table, bool(masked))
    texts = {column.name: pa.string() for column in columns}
    options = pa_csv.ConvertOptions(
        column_types=texts,
        null_values=["\\N"],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    reading = pa_csv.ReadOptions(
        block_size=_BLOCK, column_names=[column.name for column in columns], skip_rows=1
    )
    first = 2
    try:
        # an empty line is a row, an empty text, where a table has one column
        parsing = pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(columns) > 1)
        with pa_csv.open_csv(for_arrow(path), reading, parsing, options) as reader:
            for batch in reader:
                after = {
                    column.name: state_values(
                        values,
                        column,
                        Where(str(path), first, table=f"{table.schema}.{table.name}"),
                        column.name in masked,
                    )
                    for column, values in zip(columns, batch.columns, strict=True)
                }
                yield Rows(table, Op.INSERT, batch.num_rows, {}, after, {})
                first += batch.num_rows
    except pa.ArrowInvalid as error:
        if "Empty CSV file" in str(error) or "Could not skip initial" in str(error):
            return
        why = str(error)
        if masked:  # it may quote a row
            why = "a row has more or fewer values, or a quote is not closed"
        raise InputError(
            "LR2035",
            f"the file is not CSV with the columns of its first line: {why}",
            Where(str(path)),
        ) from error


def _columns(path: Place, table: Table, masked: bool) -> list[Column]:
    """The columns that the first line names. It is not told where values are ``masked``: a file
    without names begins with a row."""
    with readable(path), opened(path) as raw:
        plain = cast(IO[bytes], gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw)
        with io.TextIOWrapper(plain, encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file), [])
    known = {_folded(column.name): column for column in table.columns}
    wrong = sorted(
        {name for name in names if _folded(name) not in known}
        | {name for name in known if name not in map(_folded, names)}
    )
    if wrong or len(names) != len(known):
        expected = ", ".join(known)
        named = f"the columns {', '.join(names) or 'of no first line'}"
        if masked and names:
            named = "other columns in its first line, or none"
        found = f"found {named}; expected those of the log's table: {expected}"
        hint = "A table that changed within the log had other columns before it: --generation first"
        raise InputError(
            "LR2035", found, Where(str(path), table=f"{table.schema}.{table.name}"), hint
        )
    return [known[_folded(name)] for name in names]


def state_values(texts: pa.Array, column: Column, where: Where, masked: bool = False) -> pa.Array:
    """Texts as values (value contract: :mod:`sqlgen.schema`); ``where`` the first of them stands.
    InputError (LR2035) for a text that is no value of the column, which tells it unless it is
    ``masked``."""
    bad = _unfit(texts, column)
    if bad is not None:
        where = replace(where, record=(where.record or 1) + bad, field=column.name)
        shown = "NULL" if texts[bad].as_py() is None else repr(texts[bad].as_py())[:100]
        expected = (
            "a value"
            if shown == "NULL"
            else (
                f"a value of {source_type(column)}, as"
                f" {_EXPECTED.get(column.type, 'the log would have it')}"
            )
        )
        if masked and shown != "NULL":
            shown = masked_value(column.name)
        raise InputError(
            "LR2035",
            f"found {shown}; expected {expected}",
            where,
            "Records are counted with the first line as 1",
        )
    if column.type is SqlType.DECIMAL:
        plain = _padded(pc.replace_substring_regex(texts, r"^(-?)0+(\d)", r"\1\2"), column.scale)
        return pc.replace_substring_regex(plain, r"^-(0(\.0*)?)$", r"\1")
    if column.type is SqlType.TIMESTAMP:
        return _padded(texts, column.length)
    if column.type is SqlType.TIMESTAMP_TZ:
        return pc.binary_join_element_wise(
            _padded(pc.utf8_slice_codeunits(texts, 0, -6), column.length),
            pc.utf8_slice_codeunits(texts, -6),
            "",
        )
    if column.type in _BYTES:
        return pa.array(
            [None if text is None else bytes.fromhex(text[2:]) for text in texts.to_pylist()],
            pa.binary(),
        )
    if column.type is SqlType.BOOLEAN:
        return pa.array(
            [None if text is None else _TRUTH[text] for text in texts.to_pylist()], pa.bool_()
        )
    return texts.cast(ARROW_TYPES[column.type])


def _unfit(texts: pa.Array, column: Column) -> int | None:
    """The first value that is none of the column."""
    if not column.nullable and texts.null_count:
        return int(pc.index(pc.is_null(texts), True).as_py())
    for fits in _tests(texts, column):
        first = -1 if fits is None else pc.index(fits, False).as_py()
        if first >= 0:
            return int(first)
    return None


def _tests(texts: pa.Array, column: Column) -> Iterator[pa.Array | None]:
    """What a column asks of its texts, one test after the other: each may count on those before it.
    None: all pass."""
    kind = column.type
    if kind in _PATTERNS:
        yield pc.match_substring_regex(texts, _PATTERNS[kind])
    if kind is SqlType.DECIMAL:
        yield pc.match_substring_regex(
            texts, rf"^-?0*\d{{0,{column.length - column.scale}}}(\.\d{{0,{column.scale}}}0*)?$"
        )
    elif kind in (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ):
        yield pc.match_substring_regex(
            texts, rf"^[^.]*(\.\d{{0,{column.length}}}0*)?([+-]\d\d:\d\d)?$"
        )
    elif kind in _INTEGERS:
        yield _cast_fits(
            texts,
            {SqlType.SMALLINT: pa.int16(), SqlType.INTEGER: pa.int32()}.get(
                kind, ARROW_TYPES[kind]
            ),
        )
    elif kind in FLOATS:
        yield pc.is_finite(texts.cast(ARROW_TYPES[kind]))
    elif kind in _BYTES:
        yield pc.match_substring_regex(texts, r"^\\x([0-9A-Fa-f]{2})*$")
        if kind is SqlType.BINARY:
            yield pc.equal(pc.binary_length(texts), 2 + 2 * column.length)
        elif kind is SqlType.VARBINARY:
            yield pc.less_equal(pc.binary_length(texts), 2 + 2 * column.length)
    elif kind in _TEXTS:  # a length may be in bytes, and no character has less than one
        yield pc.less_equal(
            pc.utf8_length(pc.utf8_rtrim(texts, " ") if kind is SqlType.CHAR else texts),
            column.length,
        )
    if kind in _DAYS:
        yield _cast_fits(pc.utf8_slice_codeunits(texts, 0, 10), pa.date32())


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
    fraction = pc.utf8_slice_codeunits(
        pc.replace_substring_regex(texts, r"^[^.]*\.?", ""), 0, digits
    )
    return pc.binary_join_element_wise(whole, pc.utf8_rpad(fraction, digits, "0"), ".")


class FolderState:
    """The folder ``folder`` of a log with ``tables``, as :mod:`replay.output.initial_load` reads it
    (:class:`replay.dependencies.baseline.StateRows`). Each file is read once, part by part; what is
    kept is in proportion to the lookups. ``partial``: tables may lack a file, and then nothing is
    known of their rows."""

    def __init__(self, folder: Place, tables: Sequence[Table], partial: bool = False) -> None:
        self.files, self.tables, self.partial = StateFiles(folder), tables, partial

    @property
    def name(self) -> str:
        """The folder."""
        return str(self.files.folder)

    def counts(self, lookups: Sequence[Lookup]) -> list[Index]:
        """The counts. InputError (LR2001, LR2035) as for an initial load."""
        groups: dict[Table, dict[tuple[tuple[str, ...], bool], list[int]]] = {}
        for number, lookup in enumerate(lookups):
            of_table = groups.setdefault(lookup.table, defaultdict(list))
            of_table[lookup.columns, lookup.exact].append(number)
        count_of: dict[int, Index] = {}
        for table, of_table in groups.items():
            numbers = [number for same in of_table.values() for number in same]
            files = self.files.of([table], self.tables, self.partial)
            if not files:
                for number in numbers:
                    count_of[number] = np.full(len(lookups[number].values[0]), -1, np.int64)
                continue
            counted = {
                key: CountedRows([lookups[number] for number in same])
                for key, same in of_table.items()
            }
            for rows in state_rows(files[f"{table.schema}.{table.name}"], table):
                for (columns, _), counter in counted.items():
                    counter.add([rows.after[name] for name in columns])
            for key, same in of_table.items():
                count_of.update(zip(same, counted[key].counts(), strict=True))
        return [count_of[number] for number in range(len(lookups))]


def proof_in(folder: Place, log: LogFile) -> StateBefore:
    """The state before ``log`` that is given for its rows (to load them, to go on from them, to
    compare with them), as what proves flagged units: the rows that differ from the log are not
    looked for, and tables may lack a file."""
    tables = [version.source for version in log.catalog.versions]
    return StateBefore(FolderState(folder, tables, partial=True), compared=False)
