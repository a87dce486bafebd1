"""What is said and done about a server of Spark Connect; that it gives the same bytes is in
``test_standalone.py``."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import PySparkException

from replay.errors import UsageError
from replay.logs import Split
from replay.pipeline import connect, stages
from replay.pipeline.cluster_trouble import Limits, why_failed
from replay.pipeline.libraries import versions
from tests.support.places import FIXTURES, ROOT


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port at which something listens, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:  # the system accepts
        yield server.getsockname()[1]


def test_a_server_that_is_not_there_is_named_without_its_token() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(UsageError, match=f"LR1005 found that sc://127.0.0.1:{port} can") as caught:
        connect.start_session(f"sc://127.0.0.1:{port}/;token=hidden", {}, 5)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("url", ["sc://", "sc://;token=hidden", "sc:///;x=y"])
def test_a_url_without_a_host(url: str) -> None:
    with pytest.raises(UsageError, match="expected sc://HOST:PORT") as caught:
        connect.start_session(url, {}, 5)
    assert "hidden" not in str(caught.value)


def test_a_server_that_never_answers(silent_port: int, tmp_path: Path) -> None:
    """In a process of its own: the client goes on trying, in a thread that nobody waits for."""
    log = FIXTURES / "incomplete" / "log"
    words = ["redo", f"--control={log}/incomplete.ctl", f"--data={log}/incomplete.dat"]
    words += [f"--out={tmp_path}/out", "--executor-timeout=2"]
    words.append(f"--master=sc://127.0.0.1:{silent_port}/;token=hidden")
    run = subprocess.run(
        [sys.executable, "-m", "replay", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 12
    assert f"LR1005 found no answer of sc://127.0.0.1:{silent_port} within 2 s" in run.stderr
    assert "hidden" not in run.stderr


def test_a_server_behind_a_proxy() -> None:
    """Whom the client asks; this machine does not even know the server's name."""
    program = (
        "import sys; from replay.pipeline.connect import start_session\n"
        "start_session('sc://server.invalid:443/;use_ssl=true', {}, 30)"
    )
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.settimeout(60)
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        environment = {**os.environ, "https_proxy": address}
        words = [sys.executable, "-c", program]
        with subprocess.Popen(
            words, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL
        ) as client:
            asked = proxy.accept()[0]
            with asked:
                assert asked.recv(100).startswith(b"CONNECT server.invalid:443 ")
            client.kill()


def test_an_old_server_is_refused(silent_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql.connect.session import SparkSession

    session = SimpleNamespace(version="4.0.1", stop=lambda: None)
    builder = SimpleNamespace(create=lambda: session)
    builder.channelBuilder = builder.config = lambda *_: builder
    monkeypatch.setattr(SparkSession, "builder", builder)
    monkeypatch.setattr("grpc.channel_ready_future", lambda _: SimpleNamespace(result=int))
    with pytest.raises(UsageError, match=r"found Spark 4\.0\.1 at sc://.*; expected 4\.1 or newer"):
        connect.start_session(f"sc://127.0.0.1:{silent_port}", {}, 2)


class Session:
    """A session whose server says of its tasks what it is told to."""

    def __init__(self, inflight: int, seconds: float, ends: bool = False) -> None:
        self.inflight, self.seconds, self.ends = inflight, seconds, ends
        self.interrupted = threading.Event()
        self.tags: set[str] = set()

    def registerProgressHandler(self, handler: Any) -> None:
        self.handler = handler

    def removeProgressHandler(self, handler: Any) -> None:
        assert handler == self.handler

    def addTag(self, tag: str) -> None:
        self.tags.add(tag)

    def interruptTag(self, tag: str) -> None:
        assert tag in self.tags
        self.interrupted.set()

    def rows(self, count: int = 1) -> Iterator[str]:
        end, looks = time.monotonic() + self.seconds, 0
        while time.monotonic() < end and not self.interrupted.wait(0.05):
            looks += self.ends
            stage = SimpleNamespace(num_tasks=1000, num_completed_tasks=looks)
            self.handler([stage], self.inflight, "", False)
        yield from ["result"] * count


@pytest.mark.parametrize(
    ("inflight", "came", "result"), [(0, False, []), (1, True, ["result"])], ids=["none", "some"]
)
def test_a_job_without_tasks_is_given_up(inflight: int, came: bool, result: list[str]) -> None:
    session = Session(inflight, 3)
    watch = connect._Watch(session, [Split(0, 0, 10, 1)], lambda *_: None, Limits(executors=1))
    assert [*watch.over(session.rows())] == result
    assert watch.came is came
    assert watch.expired == (None if result else 1)
    assert session.interrupted.is_set() is not bool(result)
    told = str(why_failed({"spark.master": "sc://h"}, RuntimeError(), "sort", 1, came))
    assert ("found no executor" in told) is not came


@pytest.mark.parametrize("ends", [True, False])
def test_a_job_whose_tasks_do_not_end_is_given_up(ends: bool) -> None:
    """Where now and then a task ends, the job goes on."""
    session = Session(1, 2.5, ends)
    watch = connect._Watch(session, [Split(0, 0, 10, 1)], lambda *_: None, Limits(5, 1))
    assert [*watch.over(session.rows())] == (["result"] if ends else [])
    assert watch.stalled == (None if ends else 1)
    assert session.interrupted.is_set() is not ends


def test_results_are_taken_as_they_come() -> None:
    """Of the rows few are ahead of those that were taken; a job is not given up because its results
    are not; and one of which not all are wanted ends."""
    session, asked = Session(1, 0), list[int]()
    watch = connect._Watch(session, [Split(0, 0, 10, 1)], lambda *_: None, Limits(1, 1))

    def rows() -> Iterator[int]:
        for number in range(9):
            asked.append(number)
            yield number

    taken = watch.over(rows())
    assert next(taken) == 0
    time.sleep(1.5)
    assert next(taken) == 1
    assert len(asked) < 5
    assert not session.interrupted.is_set()
    taken.close()
    assert session.interrupted.is_set()
    time.sleep(1)
    assert (watch.expired, watch.stalled) == (None, None)
    assert len(asked) < 5


def test_what_the_client_raises_is_raised_behind_the_rows_before_it() -> None:
    session = Session(1, 0)
    watch = connect._Watch(session, [Split(0, 0, 10, 1)], lambda *_: None, Limits(1, 1))

    def rows() -> Iterator[int]:
        yield 1
        raise ZeroDivisionError

    taken = watch.over(rows())
    assert next(taken) == 1
    with pytest.raises(ZeroDivisionError):
        next(taken)


def test_blocks_go_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "_BATCH", 10)
    blocks = [(number, bytes(size)) for number, size in enumerate([4, 4, 4, 25, 0, 9, 1, 1])]
    batches = [*connect._batches(blocks)]
    assert [batch.num_rows for batch in batches] == [2, 1, 1, 3, 1]
    assert [*connect._pairs(batches)] == blocks
    assert [*connect._batches([])] == []


def test_tasks_use_the_folders_of_spark_where_it_names_some(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/as/before")
    for folders in ("", ",", "/not/there"):
        monkeypatch.setenv("SPARK_LOCAL_DIRS", folders)
        stages._use_folders_of_spark()
        assert tempfile.tempdir == "/as/before"
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},")
    stages._use_folders_of_spark()
    assert tempfile.tempdir == str(tmp_path)


def test_a_bucket_in_two_pieces_is_never_reduced_as_two() -> None:
    job: Any = SimpleNamespace(
        buckets=3, reduce=lambda _log, _bucket, blocks: iter([b"".join(blocks)])
    )
    log: Any = None
    assert [*stages.reduced(job, log, [(0, b"a"), (0, b"b"), (2, b"c")])] == [(3, b"ab"), (3, b"c")]
    with pytest.raises(AssertionError, match="bucket 0"):
        [*stages.reduced(job, log, [(0, b"a"), (2, b"c"), (0, b"b")])]


def test_what_is_beside_buckets_comes_to_one_task_in_any_order() -> None:
    job: Any = SimpleNamespace(buckets=3, meetings=2)
    log: Any = None
    beside = [(3, b"result"), (4, b"error"), (3, b"another"), (5, b"note"), (4, b"one more")]
    assert [*stages.reduced(job, log, beside)] == beside
    there = [(number - 1, block) for number, block in beside]
    assert [*stages.met(job, there)] == there
    assert [stages.place(3, number) for number in range(6)] == [0, 1, 2, 3, 3, 3]


#: In a process of its own, which has imported neither package.
HIDDEN = """
from replay.machine import hidden
from replay.pipeline.connect import _look_again

with hidden("pandas", "google"):
    from pyspark.testing.utils import should_test_connect
assert not should_test_connect
_look_again()
from pyspark.sql.connect.functions import expr
from pyspark.testing.utils import should_test_connect
print(should_test_connect)
"""


def test_a_command_on_spark_before_it_hides_no_package() -> None:
    """A command starts Spark where pandas cannot be found, to be ready sooner."""
    ended = subprocess.run([sys.executable, "-c", HIDDEN], capture_output=True, text=True)
    assert ended.stdout == "True\n", ended.stderr


class Settings:
    """Settings of a session, of which some are refused."""

    def __init__(self, known: dict[str, str], refused: str = "") -> None:
        self.known, self.refused = known, refused

    def get(self, name: str, default: None) -> str | None:
        return self.known.get(name, default)

    def set(self, name: str, value: str) -> None:
        if name == self.refused:
            raise PySparkException(f"[CANNOT_MODIFY_CONFIG] Cannot modify {name}\nSee also")
        self.known[name] = value

    def unset(self, name: str) -> None:
        del self.known[name]


@pytest.mark.parametrize("refused", ["", *connect.DEFAULTS])
def test_settings_of_a_session_come_back_where_one_is_refused(refused: str) -> None:
    known = {"spark.sql.adaptive.enabled": "true"}
    session = SimpleNamespace(conf=Settings(dict(known), refused))
    if refused:
        words = (
            rf"LR1005 found that the server refuses {refused}=.*Cannot modify {refused}; expected"
        )
        with pytest.raises(UsageError, match=words), connect._settings("the server", session):
            pytest.fail("there is no such session")
    else:
        with connect._settings("the server", session):
            assert session.conf.known == connect.DEFAULTS
    assert session.conf.known == known


def test_a_lost_connection_hides_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    session = SimpleNamespace(conf=Settings({}))

    def lost(name: str) -> None:
        raise PySparkException(f"no answer about {name}")

    def job() -> None:
        with connect._settings("the server", session):
            monkeypatch.setattr(session.conf, "unset", lost)
            raise UsageError("LR1005", "the first thing that was wrong")

    with pytest.raises(UsageError, match="LR1005 the first thing that was wrong"):
        job()


def test_tasks_of_another_program_are_refused() -> None:
    """One that is installed at the server, and comes before ours."""
    here = versions(), "logreplay-0.0.0-0.zip"
    [batch] = connect._in_task(here, 4, "job", lambda *_: iter(()), [])
    [(number, error)] = connect._pairs([batch])
    assert number == 5
    assert "LR1005 found logreplay in" in str(pickle.loads(error))
    assert "expected that of the driver, logreplay-0.0.0-0.zip" in str(pickle.loads(error))
