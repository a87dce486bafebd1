"""Statements that are picked from where they were made give the script that joining them gives."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import replay
from replay import native
from replay.changes.options import ScriptOptions
from replay.output import script_file
from replay.output.script_file import Sink, Written
from replay.pipeline import partition
from sqlgen import row_checks
from sqlgen.choices import Assertion
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Constraints
from tests.support import solidsakila
from tests.support.logbuilder import ACCT, LogBuilder, acct
from tests.support.solidbuilder import Framing, write_catalog, write_rows
from tests.support.stored import written


def log_of(seed: int) -> LogBuilder:
    """Units of changes, some damaged or rolled back, one of them long."""
    pick, log = random.Random(seed), LogBuilder()
    for number in range(40):
        unit = log.unit(**{"UORDISP": "A", "LOGRECDISP": "A"} if pick.random() < 0.1 else {})
        for _ in range(90 if number == 20 else pick.randrange(1, 6)):
            row = acct(pick.randrange(20), pick.choice((None, "ab'c", "")), "1.00")
            if pick.random() < 0.3:
                unit.update(ACCT, row, acct(row[0], "other"))
            else:
                pick.choice((unit.insert, unit.delete))(ACCT, row)
        if pick.random() < 0.1:
            unit.insert(ACCT, acct(99)).images[0] = b"\0\0"
    unit = log.unit()
    for _ in range(60):
        unit.insert(ACCT, acct(log.tick()))
    if seed % 2:
        unit.insert(ACCT, acct(5)).images[0] = b"\0\0"  # what was written of it is cut off again
    return log


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, list[Path]]]:
    """The log of each direction, which is written once."""
    folders = {mode: tmp_path_factory.mktemp(mode) for mode in MODES}
    return {
        mode: log_of(1 + (mode == "undo")).write(folder, seed=1) for mode, folder in folders.items()
    }


def text_of(
    folder: Path, log: tuple[Path, list[Path]], mode: str, options: ScriptOptions
) -> dict[str, bytes]:
    out = folder / f"out-{len(list(folder.iterdir()))}"
    replay.write_script(*log, out, mode=mode, options=options, constraints=Constraints())
    scripts_of = out.rglob("*.sql")
    return {str(path.relative_to(out)): path.read_bytes() for path in scripts_of}


MODES = ("redo", "undo")
#: What changes where statements lie is tried in both directions; the others in one each, in turn,
#: for whoever joins statements knows no direction.
BOTH: tuple[dict[str, Any], ...] = ({}, {"trace": True})
IN_TURN: tuple[dict[str, Any], ...] = (
    {"commit_every": 3},
    {"commit_statements": 5},
    {"render": RenderOptions(upsert=True)},
    {"render": RenderOptions(upsert=True), "trace": True},
    *(
        {
            "dialect": dialect,
            "render": RenderOptions(where_columns="guard"),
            "asserts": Assertion.ROWS,
            "trace": trace,
        }
        for number, dialect in enumerate(("postgres", "oracle", "mariadb", "db2"))
        for trace in (number % 2 == 0, number % 2 == 1)
    ),
)
CASES = [(how, mode) for how in BOTH for mode in MODES] + [
    (how, MODES[number % 2]) for number, how in enumerate(IN_TURN)
]


@pytest.mark.long
@pytest.mark.parametrize(("how", "mode"), CASES, ids=str)
def test_the_script_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logs: dict[str, tuple[Path, list[Path]]],
    how: dict[str, Any], mode: str,
) -> None:  # fmt: skip
    log, options = logs[mode], ScriptOptions(**how)
    monkeypatch.setattr(partition, "CHUNK", 32)
    monkeypatch.setattr(row_checks, "IN_BLOCK", 7)
    with pytest.MonkeyPatch.context() as without:
        without.setattr(script_file, "available_here", lambda: False)
        joined = text_of(tmp_path, log, mode, options)
    picked = list[Written]()
    write = Sink.write

    def told(self: Sink, part: Written) -> None:
        if part.picked is not None and "quarantined" not in self.path.name:
            picked.append(part)
        write(self, part)

    monkeypatch.setattr(Sink, "write", told)
    assert script_file.available_here()
    for at_once in (script_file._AT_ONCE, 1, 700):  # all lines, each alone, and some: within units
        monkeypatch.setattr(script_file, "_AT_ONCE", at_once)
        assert text_of(tmp_path, log, mode, options) == joined
    assert joined
    assert picked


def test_changes_that_take_each_other_back_are_no_statements(
    sakila: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """solidDB writes updates of a key so; the manifest counts what the script has."""
    made = solidsakila.encode(sakila, Framing("len32"), 20)
    write_catalog(tmp_path / "catalog", made.tables)
    rows = write_rows(tmp_path / "syslog.parquet", made.log.rows)
    words = ["redo", "--source", "soliddb", "--log", str(rows)]
    found = []
    for worth in (0, 1 << 30):
        monkeypatch.setattr(native, "WORTH", worth)
        out = tmp_path / f"out-{worth}"
        found.append(written(out, *words, "--catalog", str(tmp_path / "catalog")))
    assert found[0] == found[1]
    text = (out / "0000-redo.sql").read_text(encoding="utf-8")
    statements = re.findall("^(?:INSERT|UPDATE|DELETE) ", text, re.MULTILINE)
    assert json.loads((out / "manifest.json").read_text())["statements"] == len(statements)
