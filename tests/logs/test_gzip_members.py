"""Members of gzip files are unpacked side by side; what comes out, or is wrong, is what one walk
from beginning to end finds."""

from __future__ import annotations

import errno
import gzip
import io
import os
import random
import struct
import threading
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from replay.errors import InputError
from replay.logs import files, gzip_members

#: Flags of a header: CRC of it, extra field, name, comment.
CRC, EXTRA, NAME, COMMENT = 2, 4, 8, 16


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is done by pieces is, with the smallest of files."""
    for name, value in (
        ("PIECE", 100), ("_SEARCHED", 64), ("_TRIED", 40), ("_FED", 16), ("_MOST_FED", 64),
        ("_BLOCK", 50), ("_HELD_OF_PIECE", 150), ("_FILE", 200),
    ):  # fmt: skip
        monkeypatch.setattr(gzip_members, name, value)


class Held:
    """A file in memory."""

    def __init__(self, content: bytes) -> None:
        self.content, self.size = content, len(content)

    def read(self, start: int, stop: int) -> bytes:
        return self.content[start:stop]


def member(content: bytes, flags: int = 0, level: int = 6, extra: bytes = b"") -> bytes:
    """A member with a header of all kinds."""
    deflate = zlib.compressobj(level, zlib.DEFLATED, -15)
    head = b"\x1f\x8b\x08" + struct.pack("<BIBB", flags, 0, 0, 255)
    if flags & EXTRA:
        head += struct.pack("<H", len(extra)) + extra
    head += (b"name\0" if flags & NAME else b"") + (b"comment\0" if flags & COMMENT else b"")
    head += struct.pack("<H", zlib.crc32(head) & 0xFFFF) if flags & CRC else b""
    body = deflate.compress(content) + deflate.flush()
    return head + body + struct.pack("<II", zlib.crc32(content), len(content))


def bgzf(content: bytes, size: int) -> bytes:
    """Blocks that say in their headers how long they are, and the empty one at the end."""
    parts = [content[at : at + size] for at in range(0, len(content), size)]
    blocks = []
    for part in (*parts, b""):
        bare = member(part, EXTRA, extra=b"BC\2\0\0\0")
        blocks.append(member(part, EXTRA, extra=b"BC\2\0" + struct.pack("<H", len(bare) - 1)))
    return b"".join(blocks)


def outcome(blocks: Iterable[bytes]) -> bytes | tuple[type, str]:
    """All bytes, or what is wrong."""
    try:
        return b"".join(blocks)
    except (OSError, EOFError, zlib.error) as error:
        return type(error), str(error)


def one_walk(content: bytes) -> bytes | tuple[type, str]:
    """What Python's own reader finds."""

    def blocks() -> Iterator[bytes]:
        with gzip.open(io.BytesIO(content)) as file:
            while block := file.read(1000):
                yield block

    return outcome(blocks())


def side_by_side(content: bytes, threads: int = 3, most: int = 1 << 30) -> object:
    return outcome(gzip_members.unpacked_members(Held(content), threads, None, most))


def drawn(draw: random.Random, most: int = 400) -> bytes:
    """Content of a member: what packs well, what does not, nothing, and other members as they
    are."""
    size = draw.choice([0, 1, draw.randrange(most), draw.randrange(most)])
    kind = draw.randrange(4)
    if kind == 0:
        return draw.randbytes(size)
    if kind == 1:
        return b"abc" * size
    if kind == 2:
        return draw.randbytes(20) + member(draw.randbytes(size)) + draw.randbytes(size // 5)
    return b"\x1f\x8b\x08\x00" * (size // 4)


def drawn_member(draw: random.Random) -> bytes:
    flags = draw.choice([0, 0, CRC, EXTRA, NAME, COMMENT, CRC | EXTRA | NAME | COMMENT])
    extra = b"BC\2\0" + draw.randbytes(2) + draw.randbytes(draw.randrange(9))
    return member(drawn(draw), flags, draw.choice([0, 0, 1, 6, 9]), extra)


@pytest.mark.parametrize("seed", range(12))
def test_members_of_all_kinds(seed: int) -> None:
    """With zeros behind them, cut off, with something else behind them, and damaged."""
    draw = random.Random(seed)
    good = b"".join(
        drawn_member(draw) + bytes(draw.choice([0, 0, 0, 1, 20, 100])) for _ in range(12)
    )
    assert isinstance(one_walk(good), bytes)
    assert side_by_side(good) == one_walk(good)
    for _ in range(25):
        place = draw.randrange(len(good))
        bad = bytearray(good)
        bad[place] ^= 1 << draw.randrange(8)
        tail = draw.choice([draw.randbytes(9), b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x08", b"\0" * 9])
        for content in (bytes(bad), good[:place], good + tail, good[:place] + good[place + 1 :]):
            assert side_by_side(content) == one_walk(content)


def test_cut_off_anywhere() -> None:
    parts = [b"one" * 40, random.Random(1).randbytes(150), b"", b"three" * 100]
    whole = b"".join(map(member, parts)) + bytes(7)
    for size in range(1, len(whole) + 1):
        assert side_by_side(whole[:size]) == one_walk(whole[:size]), size


@pytest.mark.parametrize("size", [40, 90, 250, 5000])
def test_blocks_that_say_how_long_they_are(size: int) -> None:
    text = b"".join(b"%d;" % number for number in range(2000))
    assert side_by_side(bgzf(text, size)) == text


def test_a_member_within_a_member() -> None:
    """What looks like members, and can be unpacked as such, is part of the content."""
    within = b"".join(member(random.Random(n).randbytes(120)) for n in range(20))
    whole = member(within, level=0) + member(b"behind")
    assert within in whole
    assert side_by_side(whole) == within + b"behind"


@pytest.mark.parametrize("flags", [CRC, 0x20, 0x80])
def test_headers_that_only_python_takes(flags: int) -> None:
    """It neither looks at the header's checksum nor at flags that nobody has."""
    strange = bytearray(member(b"strange" * 30, CRC if flags == CRC else 0))
    if flags == CRC:
        strange[10] ^= 1
    else:
        strange[3] |= flags
    whole = member(random.Random(1).randbytes(300)) + bytes(strange) + member(b"end" * 100)
    assert isinstance(one_walk(whole), bytes)
    assert side_by_side(whole) == one_walk(whole)


def test_two_members_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are begun before either is done, and each is unpacked once."""
    both, inner, begun = threading.Barrier(2), gzip_members.walk_members, list[int]()

    def met(packed: gzip_members.PackedBytes, place: int, goal: int) -> gzip_members.Walk:
        begun.append(place)
        both.wait(60)
        return (yield from inner(packed, place, goal))

    monkeypatch.setattr(gzip_members, "walk_members", met)
    draw = random.Random(1)
    parts = [draw.randbytes(500), draw.randbytes(700)]
    first, second = map(member, parts)
    assert side_by_side(first + second, 2) == b"".join(parts)
    assert sorted(begun) == [0, len(first)]


@pytest.mark.parametrize("room", ["none", "little", "no folder"])
def test_no_room_for_what_comes_later(monkeypatch: pytest.MonkeyPatch, room: str) -> None:
    left = [600]

    def full(file: int, block: bytes, place: int) -> int:
        left[0] -= 50
        if room == "none" or left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(file, block, place)

    def missing(_: object) -> None:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))

    real = os.pwrite
    if room == "no folder":
        monkeypatch.setattr(gzip_members, "scratch_file", missing)
    else:
        monkeypatch.setattr(os, "pwrite", full)
    parts = [random.Random(n).randbytes(1000) for n in range(9)]
    assert side_by_side(b"".join(map(member, parts))) == b"".join(parts)


def test_what_grows_too_much_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for its turn, where somebody finds out."""
    written, real = [0], os.pwrite

    def counted(file: int, block: bytes, place: int) -> int:
        written[0] += len(block)
        return real(file, block, place)

    monkeypatch.setattr(os, "pwrite", counted)
    whole = member(random.Random(1).randbytes(400)) + member(bytes(100_000))
    assert side_by_side(whole, 2, most=1000) == one_walk(whole)
    assert written[0] <= 2000


def test_a_disk_that_fails() -> None:
    class Failing(Held):
        def read(self, start: int, stop: int) -> bytes:
            if stop > 900:
                raise OSError(errno.EIO, "it fails")
            return super().read(start, stop)

    whole = b"".join(member(random.Random(n).randbytes(200)) for n in range(9))
    blocks = gzip_members.unpacked_members(Failing(whole), 3, None, 1 << 30)
    assert outcome(blocks) == (OSError, "[Errno 5] it fails")


def test_whoever_wants_no_more_ends_it() -> None:
    before = threading.active_count()
    whole = b"".join(member(random.Random(n).randbytes(500)) for n in range(50))
    blocks = gzip_members.unpacked_members(Held(whole), 3, None, 1 << 30)
    first = next(blocks)
    blocks.close()
    assert random.Random(0).randbytes(500).startswith(first)
    assert threading.active_count() == before


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that is written is the same, and so are the words about a damaged one."""
    parts = [random.Random(n).randbytes(500) for n in range(20)]
    packed = tmp_path / "log.gz"
    packed.write_bytes(b"".join(map(member, parts)))
    threads: list[int] = []
    inner = gzip_members.unpacked_members

    def seen(packed: gzip_members.PackedBytes, count: int, *given: object) -> Iterator[bytes]:
        threads.append(count)
        yield from inner(packed, count, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(gzip_members, "unpacked_members", seen)
    told = []
    for count in (1, 3):
        monkeypatch.setattr(files, "cores", lambda count=count: count)
        assert Path(files.unpacked(str(packed), str(tmp_path), 0)).read_bytes() == b"".join(parts)
        broken = tmp_path / "broken.gz"
        broken.write_bytes(packed.read_bytes()[:-9] + b"123456789")
        with pytest.raises(InputError, match="LR2006") as caught:
            files.unpacked(str(broken), str(tmp_path), 1)
        told.append(str(caught.value))
    assert threads == [3, 3]
    assert told[0] == told[1]
