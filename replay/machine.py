"""What there is of the machine that this process runs on, and how its memory and Arrow are used."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux tells
        return os.cpu_count() or 1


class _NoPandas:
    """A finder that finds neither pandas nor dateutil."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name in ("pandas", "dateutil"):
            raise ImportError(name)


def start_arrow() -> None:
    """Make pyarrow's first array where pandas is not to be had. Arrow imports pandas, where it is
    installed, to know its types when it meets them, and dateutil to know its time zones; no command
    and no task has any, and the import takes longer than the rest of a small run."""
    if "pandas" in sys.modules or "pyarrow" in sys.modules:
        return
    finder: Any = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa

        pa.array([0])
    finally:
        sys.meta_path.remove(finder)


#: glibc's mallopt(3): free memory at the end of the heap beyond which it is given back, bytes from
#: which on memory is mapped for itself, and the numbers of these parameters.
_FREE_AT_END, _MAPPED_FROM = (-1, 4 << 20), (-3, 4 << 20)


def give_back_memory() -> None:
    """Have large arrays given back to the operating system when they are freed, by Arrow too, which
    has an allocator of its own that keeps much. Without a word glibc keeps those that are as large
    as one that was freed before."""
    import ctypes

    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())
    with suppress(AttributeError, OSError, TypeError):  # another C library
        tell = ctypes.CDLL(None).mallopt
        for parameter in (_FREE_AT_END, _MAPPED_FROM):
            tell(*parameter)
