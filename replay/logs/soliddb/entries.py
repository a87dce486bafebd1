"""Entries of the index of a solidDB log. Only committed work is in SYS_LOG, and neither times nor names are."""

from __future__ import annotations

from typing import ClassVar

from replay.logs import entries


class Entries(entries.Entries):
    """``place``: statements that move keys have their deletes first."""

    place: ClassVar[str] = "place"
