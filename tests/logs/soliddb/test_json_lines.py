"""JSON lines of an export are read piece by piece: whatever those hold, the rows are the same."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from replay.errors import InputError
from replay.logs.soliddb import export_files
from replay.logs.soliddb.export import NONE, read_rows
from replay.logs.soliddb.export_files import whole_lines
from tests.logs.soliddb.test_structure import OLD, unit
from tests.support.solidbuilder import LogBuilder, write_rows

LINES = b'{"a": 1}\n\n{"a": "long one"}\r\n{"a": 2}'


@pytest.mark.parametrize("size", [1, 2, 5, 20, 100])
@pytest.mark.parametrize("wanted", [1, 9, 20, 100])
def test_pieces_are_whole_lines(size: int, wanted: int) -> None:
    blocks = [LINES[start : start + size] for start in range(0, len(LINES), size)]
    pieces = list(whole_lines(blocks, wanted))
    lines = [line for piece in pieces for line in piece.split(b"\n") if line.strip()]
    assert lines == [line for line in LINES.split(b"\n") if line.strip()]
    assert all(piece.strip() for piece in pieces)
    if size == 1:
        assert len(pieces) == {1: 3, 9: 3, 20: 2, 100: 1}[wanted]


def said(path: Path) -> Any:
    """The rows of a file, or the error."""
    try:
        rows = read_rows(str(path))
    except InputError as error:
        return str(error).replace(path.name, "")
    arrays = [*rows.numbers.values(), rows.named, rows.sequence, rows.session, rows.address]
    arrays += [rows.address_null, rows.data, rows.offsets, rows.data_null]
    return [None if array is None else array.tolist() for array in arrays], rows.texts


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz"])
def test_columns_that_come_late_or_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """What is null may be left out, in the first lines too; a line may be longer than a piece."""
    log = LogBuilder()
    for number in range(6):
        unit(log, lambda made, number=number: made.insert(OLD, (number, "Ann" * 20 * number)))
    path = write_rows(tmp_path / "all.jsonl", log.rows)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for number, row in enumerate(rows):
        row["SESSION"] = None if number < 8 else 7
        row["TEXTDATA"] = "text" if number == 9 else None
        row["TRXID"] = str(row["TRXID"])
    sparse = [{key: value for key, value in row.items() if value is not None} for row in rows]
    whole = said(written(tmp_path / "all.jsonl", rows))
    assert whole[1] == 1
    assert whole[0][7] == [NONE] * 8 + [7] * 10
    for size in (1, 300, 1000):
        monkeypatch.setattr(export_files, "_SMALL_BLOCK", size)
        for some in (rows, sparse):
            assert said(written(tmp_path / f"some.{kind}", some)) == whole, size
    for row in sparse:
        row.pop("DATA", None)
    assert "LR2008" in said(written(tmp_path / f"some.{kind}", sparse))
    assert "export without DATA" in said(written(tmp_path / f"some.{kind}", sparse))


def test_values_of_two_kinds_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are within a piece, which then depends on nothing."""
    log = LogBuilder()
    unit(log, lambda made: [made.insert(OLD, (number, "Ann")) for number in range(8)])
    path = write_rows(tmp_path / "all.jsonl", log.rows)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[-1]["RELID"] = "10300"
    path = written(tmp_path / "log.jsonl", rows)
    for size in (1 << 20, 1):
        monkeypatch.setattr(export_files, "_SMALL_BLOCK", size)
        assert "LR2001" in said(path)
        assert "Column(/RELID) changed from number to string" in said(path)


def test_a_file_of_blank_lines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n \n\n")
    assert "LR2001" in said(path)
