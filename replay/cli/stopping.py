"""How long-running commands notice that they are to stop: SIGTERM and SIGINT, from their first
moment on. Nothing is raised, for an exception out of a signal may be lost on its way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
#: Set by a signal that came before there was anything to stop.
_early = threading.Event()
#: What was done with signals before :func:`hear_early`, until that is put back.
_former: dict[signal.Signals, Any] = {}


def hear_early() -> None:
    """Keep signals for :func:`told_to_stop`, which comes when everything is imported."""
    _early.clear()
    for number in _SIGNALS:
        handler = signal.signal(number, lambda number, frame: _early.set())
        _former.setdefault(number, handler)


@contextmanager
def told_to_stop(stop: threading.Event) -> Iterator[None]:
    """SIGTERM and SIGINT set ``stop`` for a while; it is set if one came before. Afterwards they do
    what they did before anything was heard."""

    def end(number: int, frame: FrameType | None) -> None:
        stop.set()

    former = {number: signal.signal(number, end) for number in _SIGNALS} | _former
    _former.clear()
    if _early.is_set():
        _early.clear()
        stop.set()
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
