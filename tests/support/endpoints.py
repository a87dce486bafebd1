"""The S3 server that this process asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from replay import storage
from replay.storage import ranges


@contextmanager
def asking(server: str, secret: str = "testing") -> Iterator[None]:
    """The environment leads to a server for a while, and nothing that was found there is kept
    longer: bucket names of tests repeat, and a process keeps what leads to one. Not for two
    servers at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", server)
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", secret)
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        _forget()
        yield
        _forget()


def _forget() -> None:
    storage.system_of.cache_clear()
    ranges.ranges.cache_clear()
