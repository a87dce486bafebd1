"""What is in a log of any family: the family's own description, and what its logs cannot tell."""

from __future__ import annotations

from dataclasses import replace

from replay.logs import FACTS, Family, LogFile
from replay.logs.description import Description


def describe(family: Family, log: LogFile) -> Description:
    """What is in a log."""
    described = family.describe(log)
    unknown = dict(family.capabilities.unknown)
    values = {"source": family.name, **described.values, "cannot_be_known": unknown}
    meanings = {**described.meanings, "cannot_be_known": FACTS}
    return replace(described, values=values, meanings=meanings)
