"""Exports of solidDB are indexed a window at a time: columns that change, read sessions, ids that
come again and batches give the same index, whatever a window holds."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from replay.logs import Inputs
from replay.logs.soliddb import reader
from tests.logs.soliddb.test_structure import NEW, OLD, unit
from tests.logs.test_index_in_parts import compare, drawn_sizes
from tests.support.few import few
from tests.support.solidbuilder import Col, LogBuilder, Tab, Unit, write_catalog, write_rows

KINDS = ["csv", "parquet", "jsonl", "jsonl.gz", "csv.gz"]


def log_of(folder: Path, log: LogBuilder, *tables: Any, **more: Any) -> Inputs:
    write_catalog(folder, tables or (OLD,))
    path = write_rows(folder / "syslog.csv", log.rows)
    return Inputs(log=(str(path),), catalog=str(folder), scratch=str(folder), **more)


def insert(number: int) -> Callable[[Unit], None]:
    return lambda made: made.insert(OLD, (number, "Ann"))


ADD = "ALTER TABLE T ADD COLUMN MORE INTEGER"
WIDE = replace(NEW, columns=(*NEW.columns, Col("LAST", "VARCHAR", 9)))


def altered(*steps: tuple[str | None, Tab]) -> LogBuilder:
    """Rows of a table, each stretch of them behind an ALTER TABLE (but the first one)."""
    log = LogBuilder()
    for number, (text, table) in enumerate(steps):
        if number:
            unit(log, lambda made, text=text: made.ddl(22, "T", OLD.relid, text))
        values = "Ann", 5, "x"
        for at in range(9):
            row = (10 * number + at, *values[: len(table.user()) - 1])
            unit(log, lambda made, table=table, row=row: made.insert(table, row))
    return log


MORE_TEXT = "ALTER TABLE T ADD COLUMN LAST VARCHAR(9)"
STEPS: dict[str, tuple[tuple[str | None, Tab], ...]] = {
    "added": (("", OLD), (ADD, NEW)),
    "added without a statement": (("", OLD), (None, NEW)),
    "twice": (("", OLD), (ADD, NEW), (MORE_TEXT, WIDE)),
    "twice without statements": (("", OLD), (None, NEW), (None, WIDE)),
    "widened": (("", NEW), (ADD, NEW)),
    "widened twice": (("", WIDE), (ADD, WIDE), (MORE_TEXT, WIDE)),
    "partly widened": (("", NEW), (ADD, NEW), (MORE_TEXT, WIDE)),
    "renamed": (("", OLD), ("ALTER TABLE T RENAME COLUMN LABEL NAME", OLD)),
    "not understood": (("", OLD), ("ALTER TABLE T MODIFY COLUMN NAME VARCHAR(20)", OLD)),
}


@pytest.mark.parametrize("kind", few(STEPS, "added", "widened", "renamed"))
def test_columns_that_change(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With their statements or without, before images that are as they were, or have been widened
    to the columns of now; the export of the system tables is of the end, or of the beginning."""
    steps = STEPS[kind]
    log = altered(*steps)
    for seed, table in enumerate((steps[-1][1], steps[0][1])):
        if seed:
            at = {"metadata_logaddr": log.commits[3].hex()}
            (tmp_path / "manifest.json").write_text(json.dumps(at), encoding="utf-8")
        draw = random.Random(f"{kind} {seed}")
        inputs = log_of(tmp_path, log, table)
        compare(reader.open_log, inputs, monkeypatch, drawn_sizes(draw))


@pytest.mark.parametrize("seed", range(8))
def test_read_sessions(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a session each, named by SESSION, by the manifest or by SEQ alone; ends that the
    server told; gaps between them that the manifest knows of; units that have no commit."""
    draw, log = random.Random(f"sessions {seed}"), LogBuilder()
    files, sessions, start = [], list[dict[str, Any]](), None
    named = seed % 3 == 0
    for number in range(4):
        log.rows.clear()
        for at in range(draw.randrange(1, 6)):
            unit(log, insert(100 * number + at))
            if draw.random() < 0.2:
                log.nop()
        if draw.random() < 0.3:
            log.begin().insert(OLD, (100 * number + 50, "Bea"))
            for _ in range(draw.randrange(2)):
                log.nop()
        if draw.random() < 0.5:
            log.shutdown()
        rows = [{**row, "SESSION": number} if named else dict(row) for row in log.rows]
        files.append(str(write_rows(tmp_path / f"{number}.{draw.choice(KINDS)}", rows)))
        end = log.commits[-1].hex() if log.commits else None
        if draw.random() < 0.1:
            end = f"{'9' * 40}"
        sessions.append({"start_logaddr": start, "last_commit_logaddr": end})
        start = end if draw.random() < 0.9 else log.address().hex()
    write_catalog(tmp_path, (OLD,))
    if seed % 2:
        told = {"sessions": sessions, "metadata_logaddr": log.commits[0].hex()}
        (tmp_path / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
    inputs = Inputs(
        log=tuple(files), catalog=str(tmp_path), scratch=str(tmp_path),
        options={} if seed % 4 > 1 else {"gaps": "accept"},
    )  # fmt: skip
    compare(reader.open_log, inputs, monkeypatch, drawn_sizes(draw))


@pytest.mark.parametrize(
    ("policy", "batches"),
    few(
        [
            (None, 1),
            ("apply", 5),
            (None, 5),
            ("skip-deletes", 1),
            ("skip-deletes", 5),
            ("skip-all", 1),
        ],
        ("apply", 5),
    ),
)
def test_ids_that_come_again_flags_and_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str | None, batches: int
) -> None:
    """What a unit is called depends on all before it; warnings count what all windows have."""
    draw, log = random.Random(f"ids {policy} {batches}"), LogBuilder()
    for number in range(40):
        log.next_id = 5 + draw.randrange(6)
        made = log.begin(0x41 if draw.random() < 0.2 else 1 | draw.choice([0, 0, 8, 16]))
        made.insert(OLD, (number, "Ann"))
        made.update(OLD, (number, "Ann"), (number, "Bea"))
        if draw.random() < 0.2:
            made.id += 100
        if draw.random() < 0.3:
            made.delete(OLD, (number, "Bea"))
        made.commit()
        if draw.random() < 0.1:
            log.rows[-2]["TEXTDATA"] = "text"
    options = {} if policy is None else {"capture-off": policy}
    inputs = log_of(tmp_path, log, options=options)
    (tmp_path / "manifest.json").write_text(json.dumps({"batch_size": batches}), encoding="utf-8")
    compare(reader.open_log, inputs, monkeypatch, drawn_sizes(draw))
