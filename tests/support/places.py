"""Where the files of the project lie."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
GOLDEN = ROOT / "tests" / "golden"
SUPPORT = ROOT / "tests" / "support"
