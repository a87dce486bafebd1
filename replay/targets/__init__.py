"""Targets: databases that scripts are run on and whose states are compared. One module each, found by name.

A target is a module (entry-point group ``logreplay.targets``) with the functions of :class:`Target`. Drivers are imported inside functions,
so that writing scripts needs none of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol, cast

from replay.errors import UsageError


@dataclass(frozen=True, slots=True)
class Difference:
    """A table whose rows are not the expected ones: how many rows are there too many and too few, with an example of each."""

    table: str
    unexpected: int
    missing: int
    unexpected_example: str | None = None
    missing_example: str | None = None

    def __str__(self) -> str:
        parts = [f"{self.table}: {self.unexpected:,} rows not expected, {self.missing:,} expected rows missing"]
        if self.unexpected_example is not None:
            parts.append(f"  found    {self.unexpected_example}")
        if self.missing_example is not None:
            parts.append(f"  expected {self.missing_example}")
        return "\n".join(parts)


class Target(Protocol):
    """What a target module offers. ``url`` names one database; a state is a folder of ``<table>.csv`` or ``<table>.csv.gz``."""

    def run_scripts(self, url: str, scripts: Iterable[Path]) -> None:
        """Run scripts in the given order with the database's own client; stop at the first error (TargetError)."""

    def load_state(self, url: str, schema: str, folder: Path) -> int:
        """Put the rows of a state into existing tables; the number of rows."""

    def compare_states(self, url: str, schema: str, folder: Path, overlay: Path | None = None) -> list[Difference]:
        """Compare tables with a state, by type and counting duplicates. Tables of ``overlay`` replace those of ``folder``."""


def target_named(name: str) -> Target:
    """The target registered under ``name``; UsageError (LR1001) when there is none."""
    found = {point.name: point for point in entry_points(group="logreplay.targets")}
    if name in found:
        return cast(Target, found[name].load())
    raise UsageError("LR1001", f"found target {name!r}; expected one of: {', '.join(sorted(found)) or 'none is installed'}")
