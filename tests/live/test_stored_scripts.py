"""A replay of which tasks give the scripts to this machine through an S3 server: few of them are
here at a time, and none is applied that is not as its task wrote it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from pyarrow import fs

from replay.changes.options import ScriptOptions
from replay.changes.position import Position
from replay.changes.selection import Selection
from replay.engine import local
from replay.errors import InputError
from replay.live import replay as live
from replay.live.pace import ApplyMode, Pace
from replay.live.route import Destination
from replay.logs.logmaster.opening import open_log
from replay.output import stored_scripts
from replay.output.steps import STEP
from sqlgen.constraints import Constraints
from sqlgen.render_options import RenderOptions
from tests.support.gated_store import gated_store
from tests.support.places import ROOT, SUPPORT
from tests.support.replayed import AT_END, START, position, same

#: Scripts of the Sakila log with 2,000 records each, and the one that tests damage.
SCRIPTS, BAD = 10, 6
IN_ORDER = Pace(units=20)


@dataclass
class Store:
    """A bucket of an S3 server; requests for what has one of the ``refused`` words in its path are
    not served."""

    system: fs.FileSystem
    refused: list[str]
    bucket: str

    @property
    def url(self) -> str:
        return f"s3://{self.bucket}/work"

    def paths(self, end: str = "") -> list[str]:
        selector = fs.FileSelector(f"{self.bucket}/work", allow_not_found=True, recursive=True)
        infos = self.system.get_file_info(selector)
        return sorted(
            (info.path for info in infos if info.is_file and info.path.endswith(end)),
            key=lambda path: path.rpartition("/")[2],
        )

    def statements(self) -> list[int]:
        """How many statements lie before each script, and in all."""
        sizes = [self.system.get_file_info(path).size for path in self.paths(".steps")]
        return [0, *np.cumsum(np.array(sizes) // STEP.itemsize).tolist()]


@pytest.fixture
def store() -> Iterator[Store]:
    refused: list[str] = []

    def refuse(environ: dict[str, Any], start: Any) -> Any:
        if any(word in environ["PATH_INFO"] for word in refused):
            start("403 Forbidden", [("Content-Length", "0")])
            return [b""]
        return None

    with gated_store("scripts", refuse) as (system, bucket):
        yield Store(system, refused, bucket)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files lie."""
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


Run = Callable[..., live.ReplayReport]


@pytest.fixture
def run(database: str, sakila: Path, store: Store, here: Path, tmp_path: Path) -> Run:
    """Replays the Sakila log into ``database``, with scripts in the store."""
    (tmp_path / "scratch").mkdir()

    def start(
        reached: Callable[[str], None] = lambda _: None,
        pace: Pace = IN_ORDER,
        until: str | None = None,
    ) -> live.ReplayReport:
        log = open_log(
            sakila / "sakila.ctl", [sakila / "sakila.dat.gz"], scratch=tmp_path / "scratch"
        )
        options = ScriptOptions(
            dialect="postgres",
            render=RenderOptions(where_columns="guard"),
            records_per_file=2000,
        )
        engine = replace(local.ENGINE, exchange=store.url)
        to = Destination(None if until is None else Position.from_hex(until))
        request = live.ReplayRequest(database, True, to, pace=pace, reached=reached)
        source = live.ReplayInput(log, Selection(), options, Constraints(), engine)
        with live.plan_replay(source, request) as plan:
            return plan.apply()

    return start


@pytest.mark.long
@pytest.mark.parametrize(
    "pace",
    [
        IN_ORDER,
        Pace(units=200, mode=ApplyMode.BULK),
    ],
    ids=["strict", "bulk"],
)
def test_few_scripts_are_here_at_a_time(
    database: str,
    sakila: Path,
    store: Store,
    here: Path,
    run: Run,
    pace: Pace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The one that is applied, the one behind it, and two before: also on the way back."""
    most, stored = 0, set()

    def reached(point: str) -> None:
        nonlocal most
        # folders go meanwhile: what is not there any more counts for nothing
        folders = [names for _, _, names in os.walk(here)]
        scripts = [names for names in folders if any(name.endswith(".sql") for name in names)]
        assert all(len(names) <= 4 for names in scripts)
        most = max(most, len(scripts))
        if point == "committed":
            stored.add(len(store.paths(".sql")))

    run(reached, pace)
    assert same(database, sakila, "final")
    assert position(database)[2:4] == AT_END
    assert stored == {SCRIPTS}
    assert 2 <= most <= 5
    assert list(here.iterdir()) == []
    assert store.paths() == []
    most = 0
    run(reached, IN_ORDER, START)
    assert same(database, sakila, "initial")
    assert 2 <= most <= 5
    assert store.paths() == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("end", "how"),
    [
        *((end, "changed") for end in (".sql", ".steps", ".records", ".shapes")),
        *((".sql", how) for how in ("cut off", "gone", "refused")),
    ],
)
def test_a_script_that_is_not_what_it_was(
    database: str, sakila: Path, store: Store, here: Path, run: Run, end: str, how: str
) -> None:
    """None of its statements runs, all before it are committed, and the next run goes on there."""
    before: list[int] = []

    def reached(point: str) -> None:
        if point != "committed" or before:
            return
        before.extend(store.statements())
        path = store.paths(end)[BAD]
        with store.system.open_input_stream(path) as file:
            content = file.read()
        if how == "changed":
            content = content[:-2] + bytes([content[-2] ^ 1]) + content[-1:]
        elif how == "cut off":
            content = content[:-1]
        if how == "gone":
            store.system.delete_file(path)
        elif how == "refused":
            store.refused.append(path.rpartition("/")[2])
        else:
            with store.system.open_output_stream(path) as out:
                out.write(content)

    said = {
        "changed": "a task wrote .* with the SHA-256 .* but the bytes that are there have",
        "cut off": "a task wrote .* but .* bytes of it are there",
        "gone": "a task wrote .* but it is not there",
        "refused": "it cannot be read: .*",
    }
    with pytest.raises(InputError, match=f"LR2001.*{said[how]}") as raised:
        run(reached)
    assert raised.value.where is not None
    assert str(raised.value.where.file).startswith(f"{store.url}/")
    assert position(database)[3] <= before[BAD]
    assert position(database)[3] > before[BAD - 1]
    assert list(here.iterdir()) == []
    store.refused.clear()
    for _ in range(2):
        run()
        assert same(database, sakila, "final")
        assert position(database)[2:4] == AT_END


def test_what_failed_ahead_is_tried_again(
    database: str, sakila: Path, store: Store, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that is away while the script before is applied is no reason to stop."""
    failed = []
    fetch = stored_scripts.StoredFolder.fetch

    def once(folder: Any, names: list[str], place: Path) -> None:
        if len(names) == 4 and not failed and place.name.startswith(f"{BAD}-"):
            failed.append(threading.current_thread())
            raise InputError("LR2001", "away")
        fetch(folder, names, place)

    monkeypatch.setattr(stored_scripts.StoredFolder, "fetch", once)
    run()
    assert len(failed) == 1
    assert same(database, sakila, "final")


def test_after_a_lost_connection_scripts_behind_are_not_fetched_again(
    database: str, sakila: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[int] = []
    fetch, lost = stored_scripts.StoredFolder.fetch, []

    def noted(folder: Any, names: list[str], place: Path) -> None:
        if len(names) == 4:
            fetched.append(int(place.name.partition("-")[0]))
        fetch(folder, names, place)

    def reached(point: str) -> None:
        if point == "committed" and BAD + 1 in fetched and not lost:
            lost.append(point)
            _end_sessions(database)

    monkeypatch.setattr(stored_scripts.StoredFolder, "fetch", noted)
    run(reached)
    assert same(database, sakila, "final")
    assert lost
    assert sorted(set(fetched)) == list(range(SCRIPTS))
    assert fetched.count(0) == fetched.count(1) == 1


def _end_sessions(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'logreplay' AND datname = current_database()"
        )


def test_a_replay_that_is_killed_goes_on(
    database: str, sakila: Path, store: Store, tmp_path: Path
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    job = {
        "url": database,
        "control": str(sakila / "sakila.ctl"),
        "data": str(sakila / "sakila.dat.gz"),
        "scratch": str(tmp_path),
        "exchange": store.url,
    }
    job |= {"until": None, "commit_every": 20}  # type: ignore[dict-item]
    with subprocess.Popen(
        [sys.executable, str(SUPPORT / "replayer.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        done = 0
        for point, times in [
            ("begun", 1),
            ("position moved", 30),
            ("committed", 40),
            ("statements run", 20),
            (None, 0),
        ]:
            process.stdin.write(json.dumps({**job, "point": point, "times": times}) + "\n")
            process.stdin.flush()
            ended = int(process.stdout.readline())
            assert ended == (-signal.SIGKILL if times else 0)
            assert position(database)[3] >= done
            done = position(database)[3]
        process.stdin.close()
    assert same(database, sakila, "final")
    assert position(database)[2:4] == AT_END
