"""How commands notice that they are to stop. Those that run until they are told to hear SIGTERM and
SIGINT from their first moment on, and nothing is raised, for an exception out of a signal may be
lost on its way. The others are interrupted, and remember it: what goes wrong afterwards (a
connection cut in the middle of a question, a server that heard the same signal) is no defect."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from replay.storage import timeouts

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
#: A terminal that closes ends what runs in it, too.
_ENDING = (*_SIGNALS, signal.SIGHUP)
#: Set by a signal that came before there was anything to stop.
_early = threading.Event()
#: What was done with signals before :func:`hear_early`, until that is put back.
_former: dict[signal.Signals, Any] = {}
#: Set by a signal that interrupted the run.
_interrupted = threading.Event()
#: The first signal that did.
_first: list[int] = []
#: Seconds in which signals that come behind the first one are that one: ``timeout`` sends it to the
#: process and to its group, and whoever cleans up would be interrupted in it.
_TOGETHER = 1.0
#: When the run was interrupted (``time.monotonic``), and may be again.
_since: list[float] = []
#: What was done with exceptions that could not be raised.
_hooks: list[Callable[[sys.UnraisableHookArgs], Any]] = []
#: Seconds after which an interruption comes again that could not be raised.
_AGAIN = 0.05
#: The exit code of a run that ends while a store is silent.
_leaves: list[int] = []
#: The exit code of a process whose run is over.
_ends: list[int] = []


def interruptible() -> None:
    """SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt from now on, as Ctrl-C does (whoever ends
    a run wants its temporary folders gone), and :func:`interrupted` tells that they did. Those that
    come within a second are one. A signal that is ignored stays so: a run was started to outlive
    its terminal, or behind a shell's ``&``."""
    _since.clear()
    _first.clear()
    if _interrupted.is_set():
        _interrupted.clear()
        timeouts.hurry(False)
        _hush(False)
    _handle(_interrupt)
    if sys.unraisablehook is not _unraisable:
        _hooks.append(sys.unraisablehook)
        sys.unraisablehook = _unraisable


def interrupted() -> bool:
    """Whether a signal interrupted the run."""
    return _interrupted.is_set()


def code_of_signal() -> int:
    """The exit code of a run that a signal ended, as shells have it: 130 of Ctrl-C, 143 of
    SIGTERM, 129 of a terminal that closed."""
    return 128 + (_first[0] if _first else signal.SIGINT)


def end_at_once(code: int) -> None:
    """The run is over and what it has to say is said: a signal that comes while the process goes
    ends it with the same exit code, and raises nothing any more. Nor does the process wait for
    stores that did not answer, as their library would."""
    _ends.append(code)  # in one step, for a signal may come before the next one
    _handle(_interrupt)  # libraries have handlers of their own
    stores = sys.modules.get("pyarrow.fs")
    if timeouts.unanswered() and stores is not None:
        atexit.unregister(stores.ensure_s3_finalized)
        _leaves.append(code)


def last_moments() -> None:
    """To be registered for the exit of the process before anything else is, and so called last:
    signals are ignored where Python has no handlers any more."""
    _handle(signal.SIG_IGN)
    if _leaves and timeouts.unanswered():
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(_leaves[0])


def _handle(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    if threading.current_thread() is threading.main_thread():
        for number in _ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _ends:
        os._exit(_ends[0])
    now = time.monotonic()
    if _since and now - _since[0] < _TOGETHER:
        return
    _since[:] = [now]
    _first.append(number)
    _interrupted.set()
    timeouts.hurry(True)
    _hush(True)
    raise KeyboardInterrupt


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    """An interruption that came while an object was being let go of (Python cannot raise anything
    there) comes again a moment later."""
    if issubclass(lost.exc_type, KeyboardInterrupt) and _interrupted.is_set():
        _since.clear()
        again = threading.Timer(_AGAIN, signal.pthread_kill, (_main(), signal.SIGTERM))
        again.daemon = True
        again.start()
    else:
        _hooks[-1](lost)


def _main() -> int:
    number = threading.main_thread().ident
    assert number is not None
    return number


def _hush(quiet: bool) -> None:
    """Libraries log the interruption they meet, with its traceback; nobody needs that."""
    logging = sys.modules.get("logging")
    if logging is not None:
        logging.disable(logging.CRITICAL if quiet else logging.NOTSET)


def hear_early() -> None:
    """Keep SIGTERM and SIGINT for :func:`told_to_stop`, which comes when everything is imported."""
    _early.clear()
    if threading.current_thread() is not threading.main_thread():
        return
    for number in _SIGNALS:
        handler = signal.signal(number, lambda number, frame: _early.set())
        _former.setdefault(number, handler)


@contextmanager
def told_to_stop(stop: threading.Event) -> Iterator[None]:
    """SIGTERM and SIGINT set ``stop`` for a while, and stores must answer soon from then on; it is
    set if one came before. Afterwards they do what they did before anything was heard."""

    def end(*_: object) -> None:
        stop.set()
        timeouts.hurry(True)

    former = {number: signal.signal(number, end) for number in _SIGNALS} | _former
    _former.clear()
    if _early.is_set():
        _early.clear()
        end()
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        if not _interrupted.is_set():
            timeouts.hurry(False)
