"""One wait for stores, with a limit: a store that takes a request and never replies is an error,
and not a hang. Libraries have time limits of their own, or none; each call is made in a thread that
is not waited for longer than :data:`PATIENCE`, or :data:`HURRY` once the run is to end."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, TypeVar

#: Seconds in which a store must answer. (The library for S3 itself gives up after some 100.)
PATIENCE = 150.0
#: The same where the run was interrupted; behind the first call without an answer none is waited
#: for.
HURRY = 5.0
#: Seconds between two looks whether it was.
_LOOKS = 0.2

Result = TypeVar("Result")


class StoreError(OSError):
    """What a library says of a store, as text alone. ``place``: the URL it was asked for."""

    def __init__(self, text: str, place: str = "") -> None:
        super().__init__(text)
        self.place = place


class _Haste:
    """Since when the run is to end, and whether a store was silent since."""

    since: float | None = None
    silent = False

    def limit(self, began: float) -> tuple[float, float]:
        """When a call that ``began`` so is given up, and after how many seconds that is."""
        if self.since is None:
            return began + PATIENCE, PATIENCE
        last = 0.0 if self.silent else max(began, self.since) + HURRY
        return min(last, began + PATIENCE), min(HURRY, PATIENCE)


_haste = _Haste()
#: Calls that did not come back yet.
_under_way: set[Future[Any]] = set()


def hurry(wanted: bool) -> None:
    """The run is to end: stores must answer soon, also those that are being waited for; or it is
    not, any more."""
    _haste.silent = False
    _haste.since = time.monotonic() if wanted else None


def unanswered() -> int:
    """How many calls did not come back yet: once a run is over, those that nobody waits for."""
    return len(_under_way)


def _started(call: Callable[[], Result]) -> Future[Result]:
    """A call in a thread for which nobody has to wait to the end."""
    future: Future[Result] = Future()
    _under_way.add(future)

    def run() -> None:
        try:
            result = call()
        except Exception as error:  # noqa: BLE001 (raised by who waits)
            _under_way.discard(future)
            future.set_exception(error)
        else:
            _under_way.discard(future)
            future.set_result(result)

    threading.Thread(target=run, daemon=True).start()
    return future


def answered(place: str, call: Callable[..., Result], *given: Any, **named: Any) -> Result:
    """What a call to the store of a place gives. Raises what it raises (StoreError for an OSError
    that has no number), and OSError where it does not come back."""
    began = time.monotonic()
    future: Future[Result] | None = None
    while (left := (limit := _haste.limit(began))[0] - time.monotonic()) > 0:
        future = future or _started(partial(call, *given, **named))
        if wait([future], min(left, _LOOKS)).done:
            break
    if future is None or not future.done():
        _haste.silent = True
        message = f"the store gave no answer within {limit[1]:g} s"
        raise OSError(errno.ETIMEDOUT, message, place)
    try:
        return future.result()
    except OSError as error:
        if error.errno is None and type(error) is OSError:
            raise StoreError(str(error), place) from error
        raise
