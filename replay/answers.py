"""File systems of stores that answer, or raise: a store that takes a request and never replies is
an error, and not a hang. Libraries have time limits of their own, or none; each call here is made
in a thread that is not waited for longer than :data:`PATIENCE`, or :data:`HURRY` once the run is
to end."""

from __future__ import annotations

import errno
import io
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from pyarrow import fs

#: Seconds in which a store must answer. (The library for S3 itself gives up after some 100.)
PATIENCE = 150.0
#: The same where the run was interrupted; behind the first call without an answer none is waited
#: for.
HURRY = 5.0
#: Seconds between two looks whether it was.
_LOOKS = 0.2

#: Bytes of a stream that are asked for at a time.
_READ = 4 << 20

Result = TypeVar("Result")


class StoreError(OSError):
    """What a library says of a store, in words alone. ``place``: the URL it was asked for."""

    def __init__(self, words: str, place: str = "") -> None:
        super().__init__(words)
        self.place = place


class Running(Generic[Result]):
    """A call in a thread for which nobody has to wait to the end."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self._future: Future[Result] = Future()
        threading.Thread(target=self._run, args=(call,), daemon=True).start()

    def _run(self, call: Callable[[], Result]) -> None:
        try:
            self._future.set_result(call())
        except Exception as error:  # noqa: BLE001 (raised by who waits)
            self._future.set_exception(error)

    def result(self, timeout: float) -> Result:
        """What the call gave. Raises what it raised, and TimeoutError."""
        return self._future.result(timeout)

    def ended(self) -> bool:
        """Whether it came back."""
        return self._future.done()


class _Haste:
    """Since when the run is to end, and whether a store was silent since."""

    def __init__(self) -> None:
        self.since: float | None = None
        self.silent = False

    def over(self, began: float) -> tuple[float, float]:
        """When a call that ``began`` so is given up, and after how many seconds that is."""
        if self.since is None:
            return began + PATIENCE, PATIENCE
        last = 0.0 if self.silent else max(began, self.since) + HURRY
        return min(last, began + PATIENCE), min(HURRY, PATIENCE)


_haste = _Haste()
#: Calls that nobody waits for any more.
_given_up: list[Running[Any]] = []
_keeping = threading.Lock()


def hurry(wanted: bool) -> None:
    """The run is to end: stores must answer soon, also those that are being waited for; or it is
    not, any more."""
    _haste.silent = False
    _haste.since = time.monotonic() if wanted else None


def unanswered() -> int:
    """How many calls are under way that nobody waits for any more."""
    return sum(not running.ended() for running in _given_up)


def answered(place: str, call: Callable[..., Result], *given: Any, **named: Any) -> Result:
    """What a call to the store of a place gives. Raises what it raises (StoreError for an OSError
    that has no number), and OSError where it does not come back."""
    began = time.monotonic()
    if _haste.since is not None and _haste.silent:
        raise _no_answer(place, HURRY)
    running = Running(lambda: call(*given, **named))
    try:
        while True:
            end, seconds = _haste.over(began)
            try:
                return running.result(max(0.0, min(_LOOKS, end - time.monotonic())))
            except TimeoutError:
                if running.ended():  # just now; or the error is the store's own
                    return running.result(0)
                if time.monotonic() >= end:
                    _haste.silent = True
                    raise _no_answer(place, seconds) from None
    except OSError as error:
        if error.errno is None and type(error) is OSError:
            raise StoreError(str(error), place) from error
        raise
    finally:
        if not running.ended():
            with _keeping:  # what came after all is let go of
                _given_up[:] = [*(one for one in _given_up if not one.ended()), running]


def _cut_off(place: str, at: int, size: int) -> OSError:
    return OSError(errno.EIO, f"the store gave nothing at byte {at}, of {size}", place)


def _no_answer(place: str, seconds: float) -> OSError:
    message = f"the store gave no answer within {seconds:g} s"
    return OSError(errno.ETIMEDOUT, message, place)


class AnsweringFile(io.RawIOBase):
    """An open file of a store, as :mod:`io` has files. Raises OSError."""

    def __init__(self, place: str, file: Any) -> None:
        super().__init__()
        self._place, self._file, self._lost = place, file, False
        self._writes = bool(file.writable())

    def readable(self) -> bool:
        """Whether it was opened to be read."""
        return bool(self._file.readable())

    def writable(self) -> bool:
        """Whether it was opened to be written."""
        return self._writes

    def seekable(self) -> bool:
        """Whether one may go to and fro in it."""
        return bool(self._file.seekable())

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, with the next bytes, as far as they come; 0 at the end. OSError where none
        come before that, for a reply may be cut off."""
        got = self._answered(self._file.read, len(buffer))
        if not got and len(buffer) and (at := self.tell()) < (size := self.size()):
            raise _cut_off(self._place, at, size)
        buffer[: len(got)] = got
        return len(got)

    def read_at(self, size: int, start: int) -> bytes:
        """Bytes from ``start`` on: as many as there are, or OSError, for a reply may be cut off."""
        got: bytes = self._answered(self._file.read_at, size, start)
        if len(got) == size:
            return got
        wanted = max(0, min(size, self.size() - start))
        while len(got) < wanted:
            more = self._answered(self._file.read_at, wanted - len(got), start + len(got))
            if not more:
                raise _cut_off(self._place, start + len(got), start + wanted)
            got += more
        return got

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place in it."""
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        """The place in it."""
        return int(self._file.tell())

    def size(self) -> int:
        """Its bytes."""
        return int(self._answered(self._file.size))

    def metadata(self) -> dict[str, Any]:
        """What the store says of it."""
        return dict(self._answered(self._file.metadata) or {})

    def write(self, block: Any) -> int:
        """Write a block."""
        self._answered(self._file.write, block)
        return len(block)

    def close(self) -> None:
        """Close it: what was written appears. Where the store gave no answer it is not asked
        again, and of what was read it need not be told."""
        if not self.closed:
            super().close()
            if self._writes and not self._lost:
                self._answered(self._file.close)

    def _answered(self, call: Callable[..., Result], *given: Any) -> Result:
        try:
            return answered(self._place, call, *given)
        except OSError as error:
            self._lost = error.errno == errno.ETIMEDOUT
            raise


class AnsweringSystem:
    """A file system of a store, its calls as :class:`pyarrow.fs.FileSystem` has them. Raises
    OSError. ``place``: what is named where it does not answer."""

    def __init__(self, system: fs.FileSystem, place: str) -> None:
        self.system, self.place = system, place
        self.type_name: str = system.type_name

    def get_file_info(self, what: str | Sequence[str] | fs.FileSelector) -> Any:
        """What is known of a file, of several, or of those in a folder."""
        return answered(self.place, self.system.get_file_info, what)

    def open_input_stream(self, path: str, buffer_size: int) -> io.BufferedReader:
        """A file that is read from its beginning."""
        # a stream of pyarrow's takes a reply that is cut off for the end of the file
        return io.BufferedReader(self.open_input_file(path), max(buffer_size, _READ))

    def open_input_file(self, path: str) -> AnsweringFile:
        """A file of which ranges are read."""
        return AnsweringFile(self.place, answered(self.place, self.system.open_input_file, path))

    def open_output_stream(self, path: str) -> AnsweringFile:
        """A file that is written, and appears when it is closed."""
        # a name that ends in .gz is no wish to pack
        call = self.system.open_output_stream
        return AnsweringFile(self.place, answered(self.place, call, path, compression=None))

    def create_dir(self, path: str) -> None:
        """Make a folder, and those above it."""
        answered(self.place, self.system.create_dir, path, recursive=True)

    def copy_file(self, source: str, target: str) -> None:
        """Copy a file within the store."""
        answered(self.place, self.system.copy_file, source, target)

    def delete_file(self, path: str) -> None:
        """Remove a file."""
        answered(self.place, self.system.delete_file, path)

    def delete_dir(self, path: str) -> None:
        """Remove all below a folder."""
        answered(self.place, self.system.delete_dir, path)
