"""Logs that are looked at a few records at a time, as large ones are, and read in short ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from replay import spill
from replay.arrays import Bytes
from replay.logs import files
from replay.logs.db2luw import framing, scan
from replay.logs.soliddb import export_files, index


def in_pieces(patch: pytest.MonkeyPatch) -> None:
    """From now on a window has few records, or rows; large arrays lie in files; logs of Db2 are
    looked at by threads, and read as those in a store are; exports come in pieces."""
    for module, name, value in (
        (spill, "WINDOW", 5),
        (spill, "BUDGET", 64),
        (scan, "_BATCH", 4),
        (scan, "cores", lambda: 3),
        (framing, "_TOGETHER", 7),
        (framing, "RANGE", 700),
        (framing, "is_url", lambda path: True),
        (framing, "mapped", _nothing_else),
        (index, "_BATCH", 4),
        (export_files, "_ROWS", 7),
        (export_files, "_SMALL_BLOCK", 1 << 12),
        (export_files, "_BUFFER", 1 << 9),
    ):
        patch.setattr(module, name, value)


def _nothing_else(path: str, start: Any = None, stop: Any = None) -> Bytes:
    """The bytes of a file of which only those are there that are asked for."""
    whole = files.mapped(path)
    if start is None or stop is None:
        return whole
    some = np.zeros_like(whole)
    for low, high in zip(np.atleast_1d(start), np.atleast_1d(stop), strict=True):
        some[low:high] = whole[low:high]
    return some
