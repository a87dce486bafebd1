"""A file of a state, ``TABLE.csv`` or ``TABLE.csv.gz``: what PostgreSQL's ``COPY … CSV``, DuckDB's
``COPY``, Db2's ``EXPORT … OF DEL`` and we write, with or without names in the first line, read as
texts of one spelling. Nothing between commas is NULL, ``""`` the empty text, and bytes are ``\\x``
and hexadecimal digits, unless another writer is named
(:class:`replay.csv_states.CsvForm`); what can be read in two ways is refused (LR2035)."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from replay.csv_states import CsvForm
from replay.csv_states.state_values import BYTES, TEXTS, is_value, spelled, unreadable
from replay.errors import InputError, Where
from replay.storage import Place, for_arrow, opened, readable
from sqlgen.schema import Column, SqlType

#: Bytes of a file that are read at once.
_BLOCK = 16 << 20
#: What some write for NULL, and PostgreSQL for a text of these characters.
_BARE = "\\N"
#: Bytes in hexadecimal digits, and as DuckDB writes them: what is printed is itself.
_DIGITS = r"^\\x([0-9A-Fa-f]{2})*$"
_ESCAPED = r"""^([ !#-&(-\[\]-~]|\\x[0-9A-F]{2})*$"""
#: Where Db2 put a large value that is not in the file.
_ELSEWHERE = r"\.\d{3}\.(lob|xml)\.\d+\.\d+/$"


class StateCsv:
    """A file of a table's rows before or after a log. ``columns``: those of the table, in order,
    ``table`` its name in messages; ``partial``: the file may have some of them only. Values of
    ``masked`` tables are not told. ``logged``: the columns have the log's lengths and scales.
    InputError: LR2001 for a file that cannot be read, LR2035 for one that is not of this table."""

    def __init__(
        self,
        path: Place,
        table: str,
        columns: Sequence[Column],
        form: CsvForm | None = None,
        *,
        masked: bool = False,
        partial: bool = False,
        logged: bool = True,
    ) -> None:
        self.path, self.table, self.form = path, table, form
        self.masked, self._logged = masked, logged
        first = first_line(path)
        named = _columns_named(first, columns)
        self.headed = named is not None and (partial or len(named) == len(columns))
        if self.headed and form == CsvForm.DB2 and not self._begins_with_quote():
            raise self._refusal(
                "the columns' names in the first line",
                "rows alone, as Db2 writes them",
                "Leave --csv out, or the line",
                1,
            )
        self.headed = self.headed and form != CsvForm.DB2
        if self.headed:
            assert named is not None
            #: The columns of the file, in its order.
            self.columns = named
        elif self._is_row(first, columns):
            self.columns = list(columns)
        else:
            raise self._not_of_this_table(first, columns)

    # -- what the file is
    # ---------------------------------------------------------------------------------------------

    def _is_row(self, first: Sequence[str], columns: Sequence[Column]) -> bool:
        """Whether the first line is a row: a value of a column that is no text tells."""
        if first and len(first) != len(columns):
            return False
        if not first or self.form == CsvForm.DB2:
            return self.form == CsvForm.DB2
        telling = [
            (spelled(pa.array([text]), column.type)[0].as_py(), column)
            for text, column in zip(first, columns, strict=True)
            if column.type not in TEXTS | BYTES and text
        ]
        return bool(telling) and all(is_value(*one, self._logged) for one in telling)

    def _not_of_this_table(self, first: Sequence[str], columns: Sequence[Column]) -> InputError:
        named = f"the columns {', '.join(first)[:200] or 'of no first line'}"
        if self.masked and first:
            named = "other columns in its first line, or none"
        hint = (
            "A table that changed within the log had other columns before it: --generation first."
            " A file without names in its first line needs a number or a date there that tells it"
            " from names (--csv db2: it has none)"
        )
        expected = f"those of the log's table: {', '.join(column.name for column in columns)}"
        if not self._logged:
            expected = f"those of the table: {', '.join(column.name for column in columns)}"
        return self._refusal(named, expected, hint, None)

    # -- reading
    # ---------------------------------------------------------------------------------------------

    def batches(self, wanted: Collection[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows in batches, each value a text in our spelling, bytes as ``\\x`` and hexadecimal
        digits, null for NULL; columns by the names that they have in the table, all or those
        ``wanted``."""
        start = 0
        columns = [one for one in self.columns if wanted is None or one.name in wanted]
        names = [one.name for one in columns]
        for batch in self._parsed(names):
            arrays = []
            for values, column in zip(batch.columns, columns, strict=True):
                if self.form is None and pc.index(values, _BARE).as_py() >= 0:
                    self._refuse_bare(column)
                if column.type in BYTES:
                    values = self._bytes_of(values, column, start)
                elif column.type in (SqlType.CLOB, SqlType.XML):
                    self._refuse_references(values, column, start)
                arrays.append(spelled(values, column.type))
            yield pa.RecordBatch.from_arrays(arrays, names)
            start += batch.num_rows

    def where(self, row: int, column: str) -> Where:
        """The place of a value in the ``row``-th row, counted from 0."""
        return Where(str(self.path), line=self._line(row), column=column, table=self.table)

    def places(self, start: int, column: str) -> Callable[[int], Where]:
        """The place of each value of a part whose first row is the ``start``-th."""
        return lambda row: self.where(start + row, column)

    def _refuse_bare(self, column: Column) -> None:
        """InputError (LR2035) where a column has ``\\N`` without quotes: NULL or a text."""
        start = 0
        for batch in self._parsed([column.name], _BARE):
            there = pc.index(pc.is_null(batch.column(0)), True).as_py()
            if there >= 0:
                raise InputError(
                    "LR2035",
                    f"found {_BARE} without quotes, which is NULL to some and a text to PostgreSQL;"
                    f' expected nothing between commas for NULL, or "{_BARE}" for the text',
                    self.where(start + there, column.name),
                    f"Write the file without NULL '{_BARE}'; where it is a text: --csv postgres",
                )
            start += batch.num_rows

    def _bytes_of(self, values: pa.Array, column: Column, start: int) -> pa.Array:
        escaped = self.form == CsvForm.DUCKDB
        fits = pc.match_substring_regex(values, _ESCAPED if escaped else _DIGITS)
        wrong = pc.index(fits, False).as_py()
        if wrong >= 0:
            text = values[wrong].as_py()
            raise unreadable(text, column, self.where(start + wrong, column.name), self.masked)
        return pa.array(map(_hexadecimal, values.to_pylist()), pa.string()) if escaped else values

    def _refuse_references(self, values: pa.Array, column: Column, start: int) -> None:
        """InputError (LR2035) for values that Db2 wrote into files of their own."""
        if self.headed:
            return
        there = pc.index(pc.match_substring_regex(values, _ELSEWHERE), True).as_py()
        if there >= 0:
            raise InputError(
                "LR2035",
                "found a reference to another file; expected the value itself",
                self.where(start + there, column.name),
                "Write the file again without LOBSINFILE and XML TO",
            )

    def _parsed(self, wanted: list[str], null: str = "") -> Iterator[pa.RecordBatch]:
        """The values of columns as they are written, all of them text."""
        names = [column.name for column in self.columns]
        reading = pa_csv.ReadOptions(
            block_size=_BLOCK, column_names=names, skip_rows=int(self.headed)
        )
        forms = csv_forms(names, wanted, null)
        try:
            with pa_csv.open_csv(for_arrow(self.path), reading, *forms) as reader:
                yield from reader
        except pa.ArrowInvalid as error:
            if "Empty CSV file" not in str(error) and "Could not skip initial" not in str(error):
                raise self._not_csv(error) from error

    def _not_csv(self, error: Exception) -> InputError:
        """What is raised for a file that cannot be parsed: the first line that is wrong."""
        wanted, line = len(self.columns), 0
        try:
            for line, fields in self._records():
                if len(fields) != wanted:
                    return self._refusal(
                        f"{len(fields)} values", f"{wanted}, one for each column", "", line
                    )
        except UnicodeDecodeError:
            line = self._strange_line()
            return self._refusal("bytes that are not UTF-8", "text in UTF-8", "", line)
        except csv.Error:
            return self._refusal("what is not CSV", "values between commas", "", line + 1)
        why = "a quote that is not closed" if self.masked else f"what is not CSV ({error})"
        return self._refusal(why, "values between commas", "", None)

    def _strange_line(self) -> int:
        """The first line that is not UTF-8."""
        with _unpacked(self.path) as lines:
            for number, line in enumerate(lines, 1):
                try:
                    line.decode()
                except UnicodeDecodeError:
                    return number
        return 1

    def _line(self, row: int) -> int:
        """The line that the ``row``-th row begins in, counted from 1."""
        for number, (line, _) in enumerate(self._records(), -int(self.headed)):
            if number == row:
                return line
        return 1

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """(line that it begins in, values) of each record, the names too."""
        csv.field_size_limit(1 << 31)
        with _text(self.path) as file:
            records, line = csv.reader(file), 1
            for fields in records:
                if fields or len(self.columns) == 1:
                    yield line, fields or [""]
                line = records.line_num + 1

    def _begins_with_quote(self) -> bool:
        with readable(self.path), _unpacked(self.path) as file:
            return file.read(4).removeprefix(b"\xef\xbb\xbf").startswith(b'"')

    def _refusal(self, found: str, expected: str, hint: str, line: int | None) -> InputError:
        where = Where(str(self.path), line=line, table=self.table)
        return InputError("LR2035", f"found {found}; expected {expected}", where, hint)


def csv_forms(
    names: Sequence[str], wanted: Sequence[str], null: str = ""
) -> tuple[pa_csv.ParseOptions, pa_csv.ConvertOptions]:
    """How Arrow reads columns ``wanted`` of rows of CSV with these columns: all values texts,
    null for what is ``null`` without quotes; an empty line is a row of one column."""
    return (
        pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(names) > 1),
        pa_csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            null_values=[null],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            include_columns=wanted,
        ),
    )


def first_line(path: Place) -> list[str]:
    """The values of a file's first line. InputError (LR2001) where it cannot be read."""
    with readable(path), _text(path, "replace") as file:
        return next(csv.reader(file), [])


@contextmanager
def _unpacked(path: Place) -> Iterator[IO[bytes]]:
    with opened(path) as raw:
        packed = path.name.endswith(".gz")
        yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw


@contextmanager
def _text(path: Place, errors: str = "strict") -> Iterator[IO[str]]:
    with _unpacked(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", errors, newline="") as file:
        yield file


def folded(name: str) -> str:
    """A name for which case does not count: a Turkish İ in lower case has another upper one."""
    return name.lower().upper()


def _columns_named(names: Sequence[str], columns: Sequence[Column]) -> list[Column] | None:
    """The columns with these names, each once, their case as it is or any; None where one of the
    names is of none."""
    exact = {column.name: column for column in columns}
    alike: dict[str, Column] = {folded(column.name): column for column in columns}
    found = [exact.get(name, alike.get(folded(name))) for name in names]
    kept = [column for column in found if column is not None]
    once = len({column.name for column in kept}) == len(found)
    return kept if names and once and len(kept) == len(found) else None


def _hexadecimal(text: str | None) -> str | None:
    """Bytes of DuckDB's as ``\\x`` and hexadecimal digits."""
    if text is None:
        return None
    plain = re.sub(r"\\x(..)", lambda found: chr(int(found[1], 16)), text)
    return f"\\x{plain.encode('latin-1').hex()}"
