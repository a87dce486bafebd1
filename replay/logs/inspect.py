"""What is in a log of any family: the family's own description, and what its logs cannot tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.logs import FACTS, Family, LogFile
from replay.logs.text import wrapped


def describe(family: Family, log: LogFile) -> dict[str, Any]:
    """What is in a log, as JSON-able data with an ``exit_code``: 0, 4 with warnings, 8 with damaged
    records, 12 where a file cannot be read on."""
    return {
        "source": family.name,
        **family.describe(log),
        "cannot_be_known": dict(family.capabilities.unknown),
    }


def text(family: Family, description: Mapping[str, Any]) -> str:
    """The description for a terminal."""
    unknown = [
        f"  {fact}, {FACTS[fact]}: {why}" for fact, why in description["cannot_be_known"].items()
    ]
    lines = [family.text(description)]
    if unknown:
        lines += ["", f"What a {family.title} cannot tell", *map(wrapped, unknown)]
    return "\n".join(lines)
