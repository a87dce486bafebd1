"""The audit of the tested versions: what it says when nobody answers, and of what is known."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.places import ROOT


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import audit

    yield audit
    for name in ("audit", "package"):
        sys.modules.pop(name, None)


KNOWN = {"name": "one", "version": "1.0", "vulns": []}
WEAK = {"name": "two", "version": "2.0", "vulns": [{"id": "V-1", "fix_versions": ["2.1"]}]}
SKIPPED = {"name": "three", "skip_reason": "not found"}
SAID: dict[str, tuple[list[dict[str, Any]], int, str]] = {
    "nothing is known": ([KNOWN], 0, "1 packages asked about, 0 known weaknesses"),
    "a weakness": ([KNOWN, WEAK], 8, "two 2.0: V-1 (mended in 2.1)"),
    "a part": ([KNOWN, SKIPPED], 0, "1 that the index does not know of were not asked about"),
    "an index that knows of nothing": ([SKIPPED], 0, "no index answered"),
}


@pytest.mark.parametrize(("entries", "code", "words"), SAID.values(), ids=SAID)
def test_what_is_said(
    audit: ModuleType, entries: list[dict[str, Any]], code: int, words: str
) -> None:
    found, lines = audit.judged(json.dumps({"dependencies": entries, "fixes": []}))
    assert found == code
    assert words in "\n".join(lines)


@pytest.mark.parametrize("output", ["", "Traceback", "[]", "null"])
def test_no_answer_is_told_as_that(audit: ModuleType, output: str) -> None:
    assert audit.judged(output) == (0, [audit.NOBODY])


def test_an_audit_that_cannot_be_installed(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def offline(folder: Path, *packages: str) -> Path:
        raise subprocess.CalledProcessError(1, "pip")

    monkeypatch.setattr(audit, "environment", offline)
    assert audit.main() == 0
    assert "no index answered" in capsys.readouterr().out
