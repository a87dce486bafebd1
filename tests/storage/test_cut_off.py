"""A store's reply may be cut off, which its library does not tell: what is missing is asked for
again, and where it does not come that is an error, never the end of the file."""

from __future__ import annotations

import io

import pytest

from replay import storage

DATA = bytes(range(200)) * 5


class Replies(io.BytesIO):
    """A file whose replies have ``most`` bytes, and none from ``silent`` on."""

    def __init__(self, most: int, silent: int = len(DATA)) -> None:
        super().__init__(DATA)
        self.most, self.silent = most, silent

    def size(self) -> int:
        return len(DATA)

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self.silent - self.tell())
        return super().read(min(left, self.most, len(DATA) if size in (None, -1) else int(size)))

    def read_at(self, size: int, start: int) -> bytes:
        self.seek(start)
        return self.read(size)


def opened(monkeypatch: pytest.MonkeyPatch, replies: Replies) -> storage.StoredFile:
    monkeypatch.setattr(storage.StoredPath, "asked", lambda *_: replies)
    return storage.StoredFile("s3://x/y")


def test_what_is_missing_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert io.BufferedReader(opened(monkeypatch, Replies(7)), 64).read() == DATA
    assert opened(monkeypatch, Replies(7)).read() == DATA
    file = opened(monkeypatch, Replies(7))
    assert file.read_at(100, 950) == DATA[950:]
    assert file.read_at(100, 20) == DATA[20:120]
    assert file.read_at(5, len(DATA)) == b""


def test_what_does_not_come_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "the store gave nothing at byte 300, of"
    with pytest.raises(OSError, match=words):
        io.BufferedReader(opened(monkeypatch, Replies(64, 300)), 64).read()
    with pytest.raises(OSError, match=words):
        opened(monkeypatch, Replies(64, 300)).read_at(100, 250)
