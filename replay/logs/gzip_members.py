"""Gzip files of several members (RFC 1952: such files may follow one another in one file, as BGZF's
blocks do), whose members are unpacked side by side.

Where a member begins is known when the one before it is unpacked; ahead of that it is a guess: a
place that looks like a header, and from which some bytes can be unpacked. Threads unpack from such
places on. A guess is proven by what is unpacked before it, which must end exactly there; the first
one is the beginning of the file. What is not proven is not used: the members are those of one walk
from beginning to end. Where zlib finds a member damaged, :mod:`gzip` reads on from its beginning,
so that it decides what is wrong, as if it had read the whole file.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import shutil
import tempfile
import threading
import zlib
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn, Protocol

from replay.machine import is_full
from replay.temp_folders import scratch_file

#: How a member begins, with the one method of compression that there is; flags that none has.
_BEGIN, _RESERVED = b"\x1f\x8b\x08", 0xE0
#: Bytes of a file from one guess to the next, at least; those that are searched for one at a time,
#: and those from which some must be unpacked.
PIECE, _SEARCHED, _TRIED = 1 << 20, 1 << 20, 4 << 10
#: Bytes that are given to zlib at a time, at first and at most, and that it makes of them.
_FED, _MOST_FED, _BLOCK = 16 << 10, 256 << 10, 1 << 20
#: Bytes in memory of all that is unpacked ahead, and of one piece; the rest waits in scratch files
#: of so many bytes, which go as they are read.
_HELD, _HELD_OF_PIECE, _FILE = 256 << 20, 16 << 20, 256 << 20
#: Pieces that are unpacked ahead, beside those that threads work on.
_AHEAD = 2
_GZIP_WINDOW = 31


class PackedBytes(Protocol):
    """A gzip file. Threads read it side by side. No member raises an error but those that it
    names."""

    @property
    def size(self) -> int:
        """Its bytes."""
        ...

    def read(self, start: int, stop: int) -> bytes:
        """The bytes from ``start`` to ``stop``; fewer where it ends before. Raises OSError."""
        ...


@dataclass(frozen=True)
class WalkEnd:
    """Where a walk ended: at the beginning of a member or the end of the file; or at a member that
    zlib does not unpack, of which ``done`` bytes were made."""

    place: int
    done: int | None = None


#: Blocks of what is unpacked, and where that ended.
Walk = Generator[bytes, None, WalkEnd]


def unpacked_members(
    packed: PackedBytes, threads: int, folder: Path | None, most: int
) -> Generator[bytes, None, None]:
    """The bytes of a gzip file, unpacked, in blocks. What is made ahead of them lies in memory and,
    where it is much, in files without a name in ``folder`` (None: where temporary files lie), which
    take half of the room there at most, and ``most`` bytes for what begins at one place. Raises
    OSError, EOFError and zlib.error as :class:`gzip.GzipFile`, of the same damage. Whoever wants no
    more must close it."""
    return _Members(packed, threads, folder, most).blocks()


def walk_members(packed: PackedBytes, place: int, goal: int) -> Walk:
    """Unpack members, the first of which begins at ``place``, up to the first one that begins at
    ``goal`` or behind it. Raises OSError."""
    while place < min(goal, packed.size):
        inflater, begin, done, fed = zlib.decompressobj(_GZIP_WINDOW), place, 0, _FED
        while not inflater.eof:
            data = packed.read(place, min(place + fed, packed.size))
            try:
                block = inflater.decompress(data, _BLOCK)
            except zlib.error:
                return WalkEnd(begin, done)
            if not data and not block and not inflater.eof:
                return WalkEnd(begin, done)
            rest = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            place += len(data) - len(rest)
            done, fed = done + len(block), min(2 * fed, _MOST_FED)
            if block:
                yield block
        place = _behind_zeros(packed, place)
    return WalkEnd(place)


def _behind_zeros(packed: PackedBytes, place: int) -> int:
    """The first byte from ``place`` on that is none of the zeros that may stand behind a member;
    the end of the file where there is none."""
    size = 16
    while place < packed.size:
        data = bytes(packed.read(place, min(place + size, packed.size)))
        rest = data.lstrip(b"\0")
        place += len(data) - len(rest)
        if rest or not data:
            break
        size = _SEARCHED
    return place


def _judged(packed: PackedBytes, end: WalkEnd) -> Walk:
    """What :mod:`gzip` makes of a file from a member on that zlib does not unpack, without what
    came before. Raises what it raises."""
    with gzip.GzipFile(fileobj=io.BufferedReader(_From(packed, end.place)), mode="rb") as file:
        again = end.done or 0
        while block := file.read(min(again, _BLOCK) or _BLOCK):
            if again:
                again -= len(block)
            else:
                yield block
    return WalkEnd(packed.size)


def likely_begin(packed: PackedBytes, start: int, stop: int) -> int | None:
    """The first place in ``start:stop`` at which a member may begin; None where there is none. A
    guess. Raises OSError."""
    stop = min(stop, packed.size)
    while start < stop:
        end = min(start + _SEARCHED, stop)
        found = bytes(packed.read(start, end + len(_BEGIN) - 1)).find(_BEGIN)
        if found < 0:
            start = end
        elif _may_begin(packed, start + found):
            return start + found
        else:
            start += found + 1
    return None


def _may_begin(packed: PackedBytes, place: int) -> bool:
    data = bytes(packed.read(place, place + _TRIED))
    if len(data) <= len(_BEGIN) or data[len(_BEGIN)] & _RESERVED:
        return False
    with suppress(zlib.error):
        zlib.decompressobj(_GZIP_WINDOW).decompress(data, _BLOCK)
        return True
    return False


class _From(io.RawIOBase):
    """A file from a place on."""

    def __init__(self, packed: PackedBytes, place: int) -> None:
        self.packed, self.place = packed, place

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read the bytes that follow."""
        stop = min(self.place + len(buffer), self.packed.size)
        data = self.packed.read(self.place, stop)
        buffer[: len(data)] = data
        self.place += len(data)
        return len(data)


class _DroppedError(Exception):
    """Nobody wants what is unpacked."""


class _Piece:
    """What is unpacked from one beginning on, which waits for its turn. ``end`` is where that
    ended, None while it goes on, and where it was given up."""

    def __init__(self, start: int, held: int, filed: int, folder: Path | None) -> None:
        self.start, self.folder = start, folder
        #: Bytes that may wait in memory, and those that may be written to files.
        self.held, self.filed = held, filed
        self.end: WalkEnd | None = None
        self._changed = threading.Condition()
        self._wanted = self._dropped = self._over = False
        self._blocks: deque[bytes] = deque()
        self._size = 0
        self._files: deque[_ScratchPart] = deque()

    def run(self, walk: Walk) -> None:
        """Unpack what a walk gives. Raises what it raises."""
        try:
            while True:
                try:
                    block = next(walk)
                except StopIteration as stop:
                    self.end = stop.value
                    return
                self._put(block)
        except _DroppedError:
            return
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def _put(self, block: bytes) -> None:
        """Keep a block: in memory where there is room, else in a file; where its turn has come, it
        waits for room."""
        with self._changed:
            while not self._dropped:
                if not self._files and self._size < self.held:
                    self._blocks.append(block)
                    self._size += len(block)
                    self._changed.notify_all()
                    return
                if not self._wanted and self._written(block):
                    return
                self._changed.wait()
        raise _DroppedError

    def _written(self, block: bytes) -> bool:
        """Put a block into a scratch file; False where there is no room for it, or no file."""
        if len(block) > self.filed:
            return False
        if not self._files or self._files[-1].written >= _FILE:
            try:
                self._files.append(_ScratchPart(self.folder))
            except OSError:
                return False
        written = self._files[-1].put(block)
        self.filed -= len(block) if written else 0
        return written

    def taken(self) -> Iterator[bytes]:
        """The blocks, whose turn has come, while they are unpacked."""
        while True:
            with self._changed:
                self._wanted = True
                self._changed.notify_all()
                while not (self._blocks or self._files or self._over):
                    self._changed.wait()
                if self._blocks:
                    block = self._blocks.popleft()
                    self._size -= len(block)
                elif self._files:
                    block = self._files[0].get()
                    if not block:
                        self._files.popleft().close()
                        continue
                else:
                    return
            yield block

    def drop(self) -> None:
        """Nobody wants it, any more."""
        with self._changed:
            self._dropped = True
            self._changed.notify_all()
            while self._files:
                self._files.popleft().close()


class _ScratchPart:
    """A file of blocks that wait, which are read once."""

    def __init__(self, folder: Path | None) -> None:
        self._file: IO[bytes] = scratch_file(folder)
        self.written = self._got = 0

    def put(self, block: bytes) -> bool:
        """Write a block behind the others. False where the disk has no room for it."""
        rest, place = memoryview(block), self.written
        try:
            while rest:
                count = os.pwrite(self._file.fileno(), rest, place)
                rest, place = rest[count:], place + count
        except OSError as error:
            if is_full(error):
                return False
            raise
        self.written = place
        return True

    def get(self) -> bytes:
        """The next block; none where all were read."""
        size = min(_BLOCK, self.written - self._got)
        block = os.pread(self._file.fileno(), size, self._got)
        if len(block) != size:
            raise OSError(errno.EIO, "a scratch file is shorter than what was written to it")
        self._got += size
        return block

    def close(self) -> None:
        """The file goes."""
        self._file.close()


class _Members:
    """Threads that unpack pieces of a file, in the order in which they begin."""

    def __init__(self, packed: PackedBytes, threads: int, folder: Path | None, most: int) -> None:
        self.packed, self.threads, self.folder = packed, threads, folder
        ahead = threads + _AHEAD
        self._room = threading.Semaphore(ahead)
        self._held = min(_HELD_OF_PIECE, _HELD // ahead)
        free = shutil.disk_usage(folder or tempfile.gettempdir()).free
        self._filed = min(most, free // (2 * ahead))
        self._searching = threading.Lock()
        self._known = threading.Condition()
        self._pieces: deque[_Piece] = deque()
        self._searched = 0
        #: Up to where the file is unpacked and proven; no thread begins before.
        self._proven = 0
        self._ended = self._failed = False
        self._workers: list[Future[None]] = []

    def blocks(self) -> Generator[bytes, None, None]:
        """The blocks of the file."""
        with ThreadPoolExecutor(self.threads, thread_name_prefix="members") as pool:
            try:
                self._workers = [pool.submit(self._work) for _ in range(self.threads)]
                while self._proven < self.packed.size:
                    end = yield from self._next_blocks()
                    if end.done is not None:
                        end = yield from _judged(self.packed, end)
                    self._proven = end.place
            finally:
                self._end()

    def _next_blocks(self) -> Walk:
        """The blocks from the proven place on: those of the piece that begins there, else those up
        to the next piece, unpacked here."""
        piece = self._next_piece()
        if piece is None or piece.start > self._proven:
            goal = self.packed.size if piece is None else piece.start
            return (yield from walk_members(self.packed, self._proven, goal))
        yield from piece.taken()
        self._drop_first()
        if piece.end is None:
            self._raise()
        return piece.end

    def _next_piece(self) -> _Piece | None:
        """The first piece that does not begin before the proven place; None where none comes."""
        while True:
            with self._known:
                while not (self._pieces or self._failed or self._searched >= self.packed.size):
                    self._known.wait()
                piece = self._pieces[0] if self._pieces else None
            if piece is None:
                if self._failed:
                    self._raise()
                return None
            if piece.start >= self._proven:
                return piece
            self._drop_first()

    def _drop_first(self) -> None:
        with self._known:
            piece = self._pieces.popleft()
        piece.drop()
        self._room.release()

    def _raise(self) -> NoReturn:
        """Raise what a thread raised."""
        self._end()
        for worker in self._workers:
            worker.result()
        raise AssertionError("a thread gave up, and none failed")

    def _end(self) -> None:
        with self._known:
            self._ended = True
            for piece in self._pieces:
                piece.drop()
        for _ in range(self.threads):
            self._room.release()

    # -- threads
    # ---------------------------------------------------------------------------------------------

    def _work(self) -> None:
        well = False
        try:
            while True:
                self._room.acquire()
                with self._searching:
                    piece = self._found()
                if piece is None:
                    break
                piece.run(walk_members(self.packed, piece.start, piece.start + PIECE))
            well = True
        finally:
            if not well:
                with self._known:
                    self._failed = True
                    self._known.notify_all()

    def _found(self) -> _Piece | None:
        """The next piece, which others know of from now on; None where there is no more."""
        start = self._likely_begin()
        with self._known:
            if start is None or self._ended:
                self._searched = self.packed.size
                self._known.notify_all()
                return None
            piece = _Piece(start, self._held, self._filed, self.folder)
            self._pieces.append(piece)
            self._searched = start + PIECE
            self._known.notify_all()
            return piece

    def _likely_begin(self) -> int | None:
        """The first place from the one that was searched on at which a member may begin; the first
        one of all is the beginning of the file. A guess."""
        place = self._searched
        if not place:
            return 0
        while place < self.packed.size and not self._ended:
            place = max(place, self._proven)
            found = likely_begin(self.packed, place, place + _SEARCHED)
            if found is not None:
                return found
            place += _SEARCHED
        return None
