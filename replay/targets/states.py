"""What targets share: the files of a state, and databases that are files."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.csv as pa_csv

from replay.errors import InputError, TargetError, UsageError, Where


def state_tables(folder: Path) -> dict[str, Path]:
    """The files of a state by table name; InputError (LR2001) when the folder holds none."""
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise InputError("LR2001", f"cannot read the state folder: {error}", Where(file=str(folder))) from error
    tables = {path.name.split(".csv")[0]: path for path in paths if path.name.endswith((".csv", ".csv.gz"))}
    if not tables:
        raise InputError("LR2001", "found no .csv or .csv.gz file in the state folder", Where(file=str(folder)))
    return tables


def statements_of(text: bytes) -> list[str]:
    """The statements of a text of ours, where each stands on a line of its own (control characters in values are written as functions), between
    comments."""
    return [line for line in text.decode().split("\n") if line and not line.startswith("--")]


def state_rows(path: Path) -> pa.Table:
    """The rows of a state's file, all values as text; ``\\N`` without quotes is NULL, an empty line the empty text of a table's one column."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as file:
        names = next(csv.reader(file), [])
    return pa_csv.read_csv(
        path,
        parse_options=pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(names) > 1),
        convert_options=pa_csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            null_values=["\\N"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def no_server(url: str | None) -> None:
    """Raises UsageError (LR1001) for a server to make a scratch database on, where databases are files."""
    if url is not None:
        raise UsageError("LR1001", f"found --scratch {url}; expected none: a temporary file serves")


def path_of(url: str) -> Path:
    """The path in ``kind:///relative/path`` or ``kind:////absolute/path``."""
    return Path(unquote(urlsplit(url).path.removeprefix("/")))


def file_of(url: str) -> Path:
    """The file that a URL names. TargetError (LR4003) when there is none: a target is never made by a slip of the pen."""
    parts, path = urlsplit(url), path_of(url)
    if parts.netloc or not path.is_file():
        hint = f"Three slashes before a relative path, four before an absolute one: {parts.scheme}:////data/shop.db"
        raise TargetError("LR4003", f"cannot connect to {url}: found no such file", hint=hint)
    return path
