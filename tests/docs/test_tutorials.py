"""Tutorials of several steps: every command is run, and prints what the text shows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.docs.console import run_page

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.usefixtures("as_a_user")
def test_a_migration_with_little_downtime(
    fresh_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.symlink(ROOT / "fixtures", "fixtures")
    run_page(ROOT / "replay" / "docs" / "tutorials" / "migration.md", fresh_database)
