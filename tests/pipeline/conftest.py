"""Fixtures of tests whose executors are on machines of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.networks import Network
    from tests.support.s3 import Store


@pytest.fixture(scope="module")
def wires() -> Iterator[Network]:
    """A network of machines."""
    from tests.support.networks import network

    with network() as running:
        yield running


@pytest.fixture(autouse=True)
def no_driver_stays(request: pytest.FixtureRequest) -> Iterator[None]:
    """A driver that a test started, and did not see end, ends with it; a second try of a test finds
    nothing of the first."""
    if "wires" not in request.fixturenames:
        yield
        return
    from tests.support import drivers

    if getattr(request.node, "execution_count", 1) > 1:
        drivers.clear()
        request.getfixturevalue("store").clear()
    yield
    drivers.end_all()


@pytest.fixture(scope="module")
def store(wires: Network) -> Iterator[Store]:
    """An S3 server at its hub."""
    from tests.support.s3 import store_at

    with store_at(wires) as running:
        yield running


@pytest.fixture(scope="module")
def logs(
    sakila: Path, store: Store, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    """The same work in the words of each family, in that store."""
    from tests.support.s3 import logs_in

    return logs_in(store, sakila, tmp_path_factory.mktemp("logs"))
