"""The rows of tables at one point, as files: Parquet in parts, or CSV as a
state before a log is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from replay.output.formats import Dataset
from replay.output.formats.exported_values import BYTES, csv_text, number_text
from replay.output.formats.parquet import Parquet
from replay.output.initial_load import full_file_name
from replay.output.whole_folder import whole_folder, write_manifest
from replay.storage import Place, file_name
from replay.version import __version__
from sqlgen.literals import Policy, hexadecimal
from sqlgen.schema import FLOATS, Column, SqlType
from sqlgen.statements import joined, one_array

#: Rows of a file of Parquet.
_ROWS_TOGETHER = 1_000_000
_QUOTED = (SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB, SqlType.XML)


@dataclass(frozen=True)
class TableRows:
    """The rows of a table: a column for each of the dataset's, with the source's names."""

    dataset: Dataset
    rows: pa.Table


@dataclass(frozen=True)
class RowsLeft:
    """What a log leaves of a table: ``rows`` that it touched as they are in the end; ``touched``, a
    row for each ``key`` that it touched, or without a key, what ``rows`` were in the beginning.
    ``whole``: the table has no other rows."""

    rows: TableRows
    touched: TableRows
    key: tuple[str, ...]
    whole: bool


def state_csv(table: TableRows) -> str:
    """The rows with a header, nothing for NULL, ``""`` for the empty text, bytes as ``\\x`` and
    hexadecimal digits: what ``--initial`` reads."""
    parts: list[str | pa.Array] = []
    for column in table.dataset.columns:
        values = _text(one_array(table.rows[column.name]), column)
        parts += [*([","] if parts else []), pc.fill_null(values, "")]
    names = ",".join(
        name if name.replace("_", "").isalnum() else '"' + name.replace('"', '""') + '"'
        for name in table.dataset.names
    )
    lines = joined([*parts, "\n"], len(table.rows)).to_pylist() if len(table.rows) else []
    return "".join([names, "\n", *lines])


def _text(values: pa.Array, column: Column) -> pa.Array:
    if column.type in BYTES:
        return pc.binary_join_element_wise("\\x", hexadecimal(values), "")
    if column.type is SqlType.BOOLEAN:
        return pc.if_else(values, "t", "f")
    if column.type in _QUOTED:
        odd = pc.match_substring_regex(values, '[",\r\n\\\\]|^$')
        return pc.if_else(odd, csv_text(values), values)
    return number_text(values, column) if column.type in FLOATS else values.cast(pa.string())


def parquet_rows(table: TableRows) -> pa.Table:
    """The rows with types that every reader of Parquet knows, and the names of exports."""
    columns = {column.name: one_array(table.rows[column.name]) for column in table.dataset.columns}
    form = Parquet(False, Policy())
    images, _ = form.images(table.dataset, None, columns, len(table.rows))
    after = one_array(images["after"])
    return pa.Table.from_arrays(after.flatten(), list(table.dataset.names))


def write_state(
    tables: Sequence[TableRows],
    out: Place,
    form: str,
    about: Mapping[str, Any],
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write tables into the folder ``out`` as ``parquet`` or ``csv``, whole or not at all, and say
    ``about`` in its manifest, which is returned. UsageError (LR1002) for a folder in use."""
    with whole_folder(out, overwrite) as folder:
        work = folder.work
        described: list[dict[str, Any]] = []
        names = file_names(tables)
        for table, name in zip(tables, names, strict=True):
            files = _parquet(table, work) if form == "parquet" else [f"{name}.csv"]
            if form == "csv":
                (work / files[0]).write_text(state_csv(table), encoding="utf-8", newline="")
            described.append(
                {"table": _name(table.dataset), "rows": len(table.rows), "files": files}
            )
        manifest = {
            "program": f"logreplay {__version__}",
            "mode": "state",
            "format": form,
            **about,
            "tables": described,
            "files": [name for entry in described for name in entry["files"]],
        }
        write_manifest(manifest, work / "manifest.json")
    return manifest


def file_names(tables: Sequence[TableRows]) -> list[str]:
    """``table``, or ``owner.table`` where several owners have one; a name that is both is the
    latter. They are as :func:`replay.storage.file_name` spells them."""
    short = [table.dataset.topic[1] for table in tables]
    full = [full_file_name(*table.dataset.topic) for table in tables]
    return [
        file_name(name) if short.count(name) == 1 and file_name(name) not in full else whole
        for name, whole in zip(short, full, strict=True)
    ]


def _name(dataset: Dataset) -> str:
    return f"{dataset.table.schema}.{dataset.table.name}"


def _parquet(table: TableRows, work: Path) -> list[str]:
    folder = table.dataset.name.partition("@")[0]
    (work / folder).mkdir()
    rows, files = parquet_rows(table), []
    for number, start in enumerate(range(0, max(len(rows), 1), _ROWS_TOGETHER)):
        name = f"{folder}/part-{number:04d}.parquet"
        pq.write_table(rows.slice(start, _ROWS_TOGETHER), work / name, compression="zstd")
        files.append(name)
    return files
