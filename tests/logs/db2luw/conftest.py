"""Each rule is tried on logs that are looked at in pieces: what is whole is one of them."""

from __future__ import annotations

import pytest

from tests.support.pieces import in_pieces


@pytest.fixture(autouse=True)
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows, batches and ranges of few records."""
    in_pieces(monkeypatch)
