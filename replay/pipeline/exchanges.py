"""Exchanges of a table with its clone: both have other rows from then on."""

from __future__ import annotations

import numpy as np

from replay.arrays import Index, Lengths
from replay.logs import LogFile


def other_versions(log: LogFile, file: Index, offset: Index, length: Lengths) -> list[Index]:
    """The table versions of the other table of each exchange, of which these are the records; all
    versions where a record does not tell it."""
    versions = log.catalog.versions
    found = []
    for name in log.clones(file, offset, length):
        rows = [
            version.index
            for version in versions
            if name is None or version.name.upper() == name.upper()
        ]
        found.append(np.array(rows, np.int64))
    return found
