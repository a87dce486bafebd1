"""The options that name a log, as a command takes them."""

from __future__ import annotations

from pathlib import Path


def of_log_master(control: str | Path, *data: str | Path) -> list[str]:
    """A logical log of Log Master."""
    return ["--control", str(control), "--data", *map(str, data)]


def of_family(source: str, log: str | Path, catalog: str | Path) -> list[str]:
    """A log of another family, and what describes its tables."""
    return ["--source", source, "--log", str(log), "--catalog", str(catalog)]
