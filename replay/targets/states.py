"""What targets share: the files of a state, and databases that are files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from replay.errors import InputError, TargetError, UsageError, Where
from replay.redaction import public
from replay.storage import is_database, name_in_file, readable
from sqlgen.errors import did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

#: Text of a script that is sent at once, up to the end of a statement.
_SCRIPT_BYTES = 1 << 20


def state_tables(folder: Path) -> dict[str, Path]:
    """The files of a state by table name; InputError (LR2001) when the folder holds none."""
    hint = "Export the rows of the database: TABLE.csv for each table"
    with readable(folder, "the state folder", hint * is_database(str(folder))):
        paths = sorted(folder.iterdir())
    tables = {
        name_in_file(path.name.removesuffix(".gz").removesuffix(".csv")): path
        for path in paths
        if path.name.endswith((".csv", ".csv.gz"))
    }
    if not tables:
        raise InputError(
            "LR2001",
            "found no .csv or .csv.gz file in the state folder; expected one for each table",
            Where(file=str(folder)),
            "logreplay state writes them with --format csv",
        )
    return tables


def statements_of(text: bytes) -> list[str]:
    """The statements of a text of ours, where each stands on a line of its own (control characters
    in values are written as functions), between comments."""
    return [line for line in text.decode().split("\n") if line and not line.startswith("--")]


def script_parts(script: Path) -> Iterator[bytes]:
    """The text of a script, in pieces that end with a statement."""
    held: list[bytes] = []
    size = 0
    with script.open("rb") as lines:
        for line in lines:
            held.append(line)
            size += len(line)
            if size >= _SCRIPT_BYTES and line.endswith(b";\n"):
                yield b"".join(held)
                held, size = [], 0
    if any(line.strip() and not line.startswith(b"--") for line in held):
        yield b"".join(held)


#: Bytes of rows that are parsed at once.
_BLOCK = 16 << 20


def text_batches(blocks: Iterable[bytes | bytearray | memoryview], names: Sequence[str]) -> (
    Iterator[pa.RecordBatch]
):  # fmt: skip
    """Rows of CSV, one in each block, in batches: all values texts, nothing between commas NULL."""
    held: list[bytes | bytearray | memoryview] = []
    size = 0
    for block in blocks:
        held.append(block)
        size += len(block)
        if size > _BLOCK:
            yield from _parsed(b"".join(held), names)
            held, size = [], 0
    if held:
        yield from _parsed(b"".join(held), names)


def _parsed(text: bytes, names: Sequence[str]) -> list[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    from replay.csv_states.state_csv import csv_forms

    reading = pa_csv.ReadOptions(column_names=list(names), block_size=len(text) + 1)
    rows = pa_csv.read_csv(pa.BufferReader(text), reading, *csv_forms(names, names))
    batches: list[pa.RecordBatch] = rows.combine_chunks().to_batches()
    return batches


def no_server(url: str | None) -> None:
    """Raises UsageError (LR1001) for a server to make a scratch database on, where databases are
    files."""
    if url is not None:
        raise UsageError(
            "LR1001", f"found --scratch {public(url)}; expected none: a temporary file is used"
        )


def no_roles(role: str) -> list[str]:
    """Raises UsageError (LR1001) for a role, where databases are files."""
    raise UsageError(
        "LR1001",
        f"found --role {role}; expected none: whoever may write to the file may replay into it",
    )


def path_of(url: str) -> Path:
    """The path in ``kind:///relative/path`` or ``kind:////absolute/path``."""
    return Path(unquote(urlsplit(url).path.removeprefix("/")))


def parameters_of(url: str, known: Iterable[str]) -> dict[str, str]:
    """The parameters of a URL (``?name=value``). UsageError (LR1001) for those that are not
    ``known``: what they would say is not so."""
    given = {name: values[-1] for name, values in parse_qs(urlsplit(url).query).items()}
    names = sorted(known)
    if unknown := sorted(given.keys() - set(names)):
        expected = f"expected one of: {', '.join(names)}" if names else "expected none"
        raise UsageError(
            "LR1001",
            f"found the option {unknown[0]!r} in {public(url)}; {expected}"
            + did_you_mean(unknown, names),
        )
    return given


def new_file_of(url: str) -> Path | None:
    """The file that a URL names, if it could be made: there is nothing of that name, and the folder
    is there."""
    path = path_of(url)
    free = not urlsplit(url).netloc and path.name and not path.exists() and path.parent.is_dir()
    return path if free else None


def file_of(url: str) -> Path:
    """The file that a URL names. TargetError (LR4003) when there is none: a target is never made by
    a slip of the pen."""
    parts, path = urlsplit(url), path_of(url)
    if parts.netloc or not path.is_file():
        hint = (
            "Three slashes before a relative path, four before an absolute one:"
            f" {parts.scheme}:////data/shop.db"
        )
        raise TargetError(
            "LR4003", f"cannot connect to {public(url)}: found no such file", hint=hint
        )
    return path
