"""Bundles of solidDB's read sessions, each of which begins where the one before ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from tests.support import solidbuilder

TABLE = solidbuilder.Tab(
    10_001,
    "TESTOWN",
    "T",
    (solidbuilder.Col("K", "INTEGER"), solidbuilder.Col("V", "INTEGER")),
    ("K",),
)


class Sessions:
    """Exports in folders of their own, as read sessions that follow one another. ``numbered``: all
    manifests name all sessions, and rows say of which one they are."""

    def __init__(self, folder: Path, numbered: bool = False) -> None:
        self.folder, self.log, self.numbered = folder, solidbuilder.LogBuilder(), numbered
        self.said: list[dict[str, Any]] = []
        self.start, self.done = self.log.address(), 0

    def session(self, *keys: int | None) -> list[str]:
        """A session with a transaction for each key, one without rows where there is none; the
        words that name it."""
        for key in keys:
            unit = self.log.begin()
            if key is not None:
                unit.insert(TABLE, (key, key))
            last = unit.commit()
        ends = {"start_logaddr": self.start.hex(), "last_commit_logaddr": last.hex()}
        self.said.append(ends)
        number, self.start = len(self.said) - 1, last
        rows = [{**row, "SEQ": seq} for seq, row in enumerate(self.log.rows[self.done :])]
        self.done = len(self.log.rows)
        if self.numbered:
            rows = [{**row, "SESSION": number} for row in rows]
        place = self.folder / f"session-{number}"
        manifest = {"sessions": self.said if self.numbered else [ends]}
        solidbuilder.write_catalog(place, [TABLE], manifest)
        path = solidbuilder.write_rows(place / "syslog.parquet", rows)
        return ["--source", "soliddb", "--catalog", str(place), "--log", str(path)]


def redo(folder: Path, after: str, words: list[str], *more: str) -> int:
    out = folder / f"out-{len(list(folder.glob('out-*')))}"
    options = ["--schema", "none", "--engine", "local", "--out", str(out), "--after"]
    behind = after if after == "none" else str(folder / after)
    return main(["redo", *words, *options, behind, *more])


def keys(folder: Path) -> list[str]:
    texts = [path.read_text() for path in sorted(folder.glob("out-*/*.sql"))]
    lines = "".join(texts).splitlines()
    return [line.split("VALUES (")[1].split(",")[0] for line in lines if "VALUES (" in line]


@pytest.mark.parametrize("second", [(3, 4), (None, 3)])
@pytest.mark.parametrize("first", [(1, 2), (1, 2, None), (1, 2, None, None)])
def test_sessions_that_end_in_transactions_without_rows(
    tmp_path: Path, first: tuple[int | None, ...], second: tuple[int | None, ...]
) -> None:
    sessions = Sessions(tmp_path)
    assert redo(tmp_path, "none", sessions.session(*first)) == 0
    assert redo(tmp_path, "out-0", sessions.session(None)) in (0, 4)
    assert redo(tmp_path, "out-1", sessions.session(*second)) == 0
    assert keys(tmp_path) == [*"12", *(str(key) for key in second if key is not None)]


@pytest.mark.parametrize("numbered", [False, True])
def test_a_session_that_is_missing_is_a_hole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], numbered: bool
) -> None:
    """Whatever the manifest says of sessions that are not given."""
    sessions = Sessions(tmp_path, numbered)
    assert redo(tmp_path, "none", sessions.session(1, None)) == 0
    sessions.session(2)
    words = sessions.session(3)
    assert redo(tmp_path, "out-0", words) == 12
    assert "LR2037" in capsys.readouterr().err
    assert redo(tmp_path, "out-0", words, "--gaps", "warn") in (0, 4)


def test_a_bundle_that_ends_within_a_log_does_not_reach_its_end(tmp_path: Path) -> None:
    """The next one must have what it left."""
    sessions = Sessions(tmp_path)
    words = sessions.session(1, 2, 3, None)
    position = Path(tmp_path / "session-0" / "manifest.json").read_text()
    start = json.loads(position)["sessions"][0]["start_logaddr"]
    first = int(start[:16], 16) + 3  # start, row, commit
    assert redo(tmp_path, "none", words, "--until-position", f"{first:016x}0000") == 0
    assert keys(tmp_path) == ["1"]
    assert redo(tmp_path, "out-0", sessions.session(4)) == 12
