"""Fixtures of tests whose executors are on machines of their own: one cluster for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.networks import Network
    from tests.support.s3 import Store
    from tests.support.standalone import Standalone


@pytest.fixture(scope="session")
def wires() -> Iterator[Network]:
    """A network of machines."""
    from tests.support.networks import network

    with network() as running:
        yield running


@pytest.fixture(autouse=True)
def no_driver_stays(request: pytest.FixtureRequest) -> Iterator[None]:
    """A driver that a test started, and did not see end, ends with it."""
    yield
    if "wires" in request.fixturenames:
        from tests.support import drivers

        drivers.end_all()


@pytest.fixture(scope="session")
def store(wires: Network) -> Iterator[Store]:
    """An S3 server at its hub."""
    from tests.support.s3 import store_at

    with store_at(wires) as running:
        yield running


@pytest.fixture(scope="session")
def logs(
    sakila: Path, store: Store, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    """The same work in the words of each family, in that store."""
    from tests.support.s3 import logs_in

    return logs_in(store, sakila, tmp_path_factory.mktemp("logs"))


@pytest.fixture(scope="session")
def workers(
    wires: Network, store: Store, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Standalone]:
    """A master and two workers of Spark, which share nothing with the driver but that store."""
    from tests.support.standalone import cluster

    base = tmp_path_factory.mktemp("cluster")
    (base / "driver").mkdir()
    with cluster(wires, base / "spark", base, store.environment) as running:
        yield running
