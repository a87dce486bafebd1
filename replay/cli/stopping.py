"""How long-running commands notice that they are to stop: SIGTERM and SIGINT, from their first
moment on. Nothing is raised, for an exception out of a signal may be lost on its way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
#: Set by a signal that came before there was anything to stop.
_early = threading.Event()


def hear_early() -> None:
    """Keep signals for :func:`told_to_stop`, which comes when everything is imported."""
    _early.clear()
    for number in _SIGNALS:
        signal.signal(number, lambda number, frame: _early.set())


@contextmanager
def told_to_stop(stop: threading.Event) -> Iterator[None]:
    """SIGTERM and SIGINT set ``stop`` for a while; it is set if one came before."""

    def end(number: int, frame: FrameType | None) -> None:
        stop.set()

    former = {number: signal.signal(number, end) for number in _SIGNALS}
    if _early.is_set():
        _early.clear()
        stop.set()
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
