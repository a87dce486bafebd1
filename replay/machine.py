"""What there is of the machine that this process runs on: its cores, which tasks share in threads,
and how its memory and Arrow are used.

Threads are enough: what a task spends its time on (NumPy, Arrow, machine code, digests, files) lets
go of the interpreter's lock.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Generic, TypeVar

#: What the system says where there is no room: on a disk, within a quota or the largest size of a
#: file.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_full(error: BaseException) -> bool:
    """Whether an error says that there is no room to write."""
    return isinstance(error, OSError) and error.errno in _NO_ROOM


@contextmanager
def room_for(place: str | os.PathLike[str]) -> Iterator[None]:
    """Have an error that says that there is no room say where, if it does not."""
    try:
        yield
    except OSError as error:
        if is_full(error) and error.filename is None:
            error.filename = str(place)
        raise


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux tells
        return os.cpu_count() or 1


class _Hides:
    """A finder that does not find modules, for the thread that it was made in: others import what
    they like meanwhile."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names, self.thread = names, threading.get_ident()

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Nothing of others; ImportError for the names."""
        if name in self.names and threading.get_ident() == self.thread:
            raise ImportError(name)


@contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Have this thread not find modules that were not imported before: libraries import them where
    they are installed, to know their types if they should meet them, and do without them else."""
    finder: Any = _Hides(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def start_arrow() -> None:
    """Make pyarrow's first array where pandas is not to be had. Arrow imports pandas, where it is
    installed, to know its types when it meets them, and dateutil to know its time zones; no command
    and no task has any, and the import takes longer than the rest of a small run."""
    if "pandas" in sys.modules:
        return
    with hidden("pandas", "dateutil"):
        import pyarrow as pa

        pa.array([0])


#: Bytes from which on memory is given back when they are worked through.
MUCH = 4 << 20
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


def give_back_free(size: int) -> None:
    """Have the C library give memory back that is free, when ``size`` bytes were worked through: it
    lies in pieces among what is still used, so that it would keep it."""
    if size >= MUCH:
        import ctypes

        with suppress(AttributeError, OSError, TypeError):  # only glibc has it
            ctypes.CDLL(None).malloc_trim(0)


# -- tasks in threads
# -------------------------------------------------------------------------------------------------

#: Bytes that tasks which run together may have been given.
TOGETHER = 64 << 20

Result = TypeVar("Result")


@dataclass(frozen=True)
class Task(Generic[Result]):
    """Something to do, and the bytes that it was given: its memory is a multiple of them."""

    call: Callable[[], Result]
    size: int = 0


def in_threads(tasks: Iterable[Task[Result]], threads: int) -> Iterator[Result]:
    """What tasks give, in their order; ``threads`` of them work at a time, and one more is held.
    With one thread, or one task, this one does it. Raises what the first task in that order raised,
    or ``tasks``; those begun after it have ended then."""
    tasks = iter(tasks)
    first = [*islice(tasks, min(threads, 2))]
    tasks = chain(first, tasks)
    if len(first) < 2:
        for task in tasks:
            yield task.call()
        return
    with ThreadPoolExecutor(threads, "task") as pool:
        running = deque[tuple[Future[Result], int]]()
        size = 0
        try:
            for task in tasks:
                while running and (len(running) > threads or size + task.size > TOGETHER):
                    future, freed = running.popleft()
                    yield future.result()
                    size -= freed
                running.append((pool.submit(task.call), task.size))
                size += task.size
            while running:
                yield running.popleft()[0].result()
        finally:
            for future, _ in running:
                future.cancel()
