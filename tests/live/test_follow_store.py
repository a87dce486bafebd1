"""``logreplay follow`` of what names in a store begin with: logs are brought to an S3 server, which
is away for a while, replaces objects while they are read, and gives out lists in pages."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer
from pyarrow import fs

from replay import storage
from replay.changes.choices import Arrival
from replay.cli.main import main
from replay.errors import InputError, UsageError
from replay.logs import files, source_named
from replay.logs.arrivals import arrived
from replay.logs.files import mapped, unpacked, whole
from replay.logs.named import expanded
from replay.storage import ranges
from tests.live.test_follow import Site
from tests.support.endpoints import asking


@dataclass
class Bucket:
    """A bucket of an S3 server."""

    server: ThreadedMotoServer
    system: fs.FileSystem
    name: str

    @property
    def url(self) -> str:
        return f"s3://{self.name}/in"

    def put(self, name: str, content: bytes) -> str:
        with self.system.open_output_stream(f"{self.name}/in/{name}", compression=None) as out:
            out.write(content)
        return f"{self.url}/{name}"

    def hold(self, contents: Mapping[str, bytes]) -> None:
        """Many objects, which nobody sends: the server is a thread of this process."""
        backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
        for name, content in contents.items():
            backend.put_object(self.name, f"in/{name}", content)


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[ThreadedMotoServer, fs.FileSystem]]:
    running = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    with asking(f"http://{host}:{port}"):
        system, _ = fs.FileSystem.from_uri("s3://logs/?allow_bucket_creation=true")
        yield running, system
    running.stop()


@pytest.fixture
def bucket(server: tuple[ThreadedMotoServer, fs.FileSystem], tmp_path: Path) -> Bucket:
    running, system = server
    name = f"b{abs(hash(tmp_path)):x}"
    system.create_dir(name)
    return Bucket(running, system, name)


class StoredSite(Site):
    """Logs are made in a folder, and brought to the store."""

    def __init__(self, folder: Path, bucket: Bucket) -> None:
        super().__init__(folder)
        self.bucket = bucket

    def bring(self, *names: str) -> None:
        for path in sorted(self.logs.iterdir()):
            if not names or path.name in names:
                self.bucket.put(path.name, path.read_bytes())
                path.unlink()

    def words(self, *more: str) -> list[str]:
        words = super().words(*more)
        words[words.index(str(self.logs))] = self.bucket.url
        return words


@pytest.fixture
def site(tmp_path: Path, bucket: Bucket) -> StoredSite:
    return StoredSite(tmp_path, bucket)


def events(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    return [json.loads(line) for line in lines]


def test_logs_are_applied_as_they_arrive(
    site: StoredSite, capsys: pytest.CaptureFixture[str]
) -> None:
    assert site.once("--log-json") == 0  # nothing begins so yet
    (told,) = events(capsys)
    assert told["event"] == "no log"
    assert f"no file of a log is in {site.bucket.url} yet" in told["because"]
    site.arrive(0, range(3))
    site.bring("night-0.dat")
    assert site.once("--log-json") == 0
    assert site.keys() == []
    site.bring()
    assert site.once("--log-json") == 0
    assert site.keys() == [0, 1, 2]
    for number in (1, 2):
        site.arrive(number, range(3 * number, 3 * number + 2))
    site.bring()
    assert site.once("--log-json") == 0
    assert site.keys() == [0, 1, 2, 3, 4, 6, 7]
    found = events(capsys)
    assert [entry["units"] for entry in found if entry["event"] == "applied"] == [3, 4]
    (unneeded,) = [entry for entry in found if entry["event"] == "no longer needed"][-1:]
    assert unneeded["names"][0].startswith(site.bucket.url)


@pytest.mark.parametrize("how", ["marker", "stable"])
def test_a_log_that_is_not_whole(site: StoredSite, how: str) -> None:
    site.arrive(0, range(2))
    site.bring()
    settle = ["--settle", "3600"] if how == "stable" else []
    assert site.once("--arrival", how, *settle) == 0
    assert site.keys() == []
    if how == "marker":
        site.bucket.put("night-0.done", b"")
    else:
        time.sleep(1.1)
        settle = ["--settle", "1"]
    assert site.once("--arrival", how, *settle) == 0
    assert site.keys() == [0, 1]


def test_pause_and_resume(site: StoredSite) -> None:
    site.arrive(0, range(2))
    site.bring()
    assert main(["pause", site.bucket.url]) == 0
    assert site.once() == 0
    assert site.keys() == []
    assert main(["resume", site.bucket.url]) == 0
    assert main(["resume", site.bucket.url]) == 0
    assert site.once() == 0
    assert site.keys() == [0, 1]


def test_a_pause_of_a_place_that_is_mistyped(
    site: StoredSite, capsys: pytest.CaptureFixture[str]
) -> None:
    """Any name is a place in a store, so what is not there is said."""
    site.arrive(0, range(2))
    site.bring()
    for place, mistyped in ((site.bucket.url, False), (f"{site.bucket.url}n", True)):
        capsys.readouterr()
        assert main(["pause", place]) == 0
        assert ("or the name is mistyped" in capsys.readouterr().out) is mistyped
        assert main(["resume", place]) == 0
        assert "goes on" in capsys.readouterr().out
        assert main(["resume", place]) == 0
        assert "was not paused" in capsys.readouterr().out


def test_a_store_that_is_away_is_waited_for(
    site: StoredSite, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each request fails for a while, the first in the midst of a run."""
    site.arrive(0, range(2))
    site.bring()
    really, asked = storage.system_of, [0]

    def flaky(url: str) -> tuple[fs.FileSystem, str]:
        asked[0] += 1
        if 4 < asked[0] < 12:
            raise InputError("LR2001", "the store cannot be reached: away")
        return really(url)

    flaky.cache_clear = really.cache_clear  # type: ignore[attr-defined]
    monkeypatch.setattr(storage, "system_of", flaky)
    assert site.once("--log-json") == 8
    assert site.keys() == []
    assert site.once("--log-json", "--on-trouble", "stop") == 12
    while asked[0] < 12:
        site.once("--log-json")
    assert site.once("--log-json") == 0
    assert site.keys() == [0, 1]
    waiting = [entry["because"] for entry in events(capsys) if entry["event"] == "waiting"]
    assert waiting
    assert all("cannot be reached" in because for because in waiting)


def test_an_object_that_is_replaced_while_it_is_read(
    site: StoredSite, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ranges of two objects are never put together: the run ends, and the next one reads the new
    object."""
    site.arrive(0, range(3))
    content = (site.logs / "night-0.dat").read_bytes()
    site.bring()
    really, count = ranges.StoredRanges._range, [0]

    def replacing(self: ranges.StoredRanges, piece: tuple[int, int]) -> bytes:
        got = really(self, piece)
        count[0] += 1
        if count[0] == 1:
            site.bucket.put("night-0.dat", content[:-1] + bytes([content[-1] ^ 1]))
        return got

    monkeypatch.setattr(ranges.StoredRanges, "_range", replacing)
    assert site.once("--log-json") == 8
    assert site.keys() == []
    site.bucket.put("night-0.dat", content)
    assert site.once("--log-json") == 0
    assert site.keys() == [0, 1, 2]
    (trouble,) = [entry["because"] for entry in events(capsys) if entry["event"] == "waiting"]
    assert "it has changed since the log was opened" in trouble


def test_objects_of_one_second_and_size_are_told_apart(bucket: Bucket) -> None:
    url = bucket.put("one", b"abc")
    place = unpacked(url, None, 0)
    assert bytes(mapped(place)) == b"abc"
    bucket.put("one", b"xyz")
    ranges.ranges.cache_clear()
    with pytest.raises(InputError, match="it has changed since the log was opened"):
        mapped(place)


def test_a_small_file_that_is_replaced_while_it_is_read(bucket: Bucket) -> None:
    url = bucket.put("one", b"abc" * 100)

    def read() -> None:
        with storage.opened(url, whole=True) as file:
            file.read(3)
            bucket.put("one", b"xyz" * 100)

    with pytest.raises(OSError, match="it has changed since it was opened"):
        read()
    assert whole(url) == b"xyz" * 100


def test_a_list_in_pages(site: StoredSite, bucket: Bucket, tmp_path: Path) -> None:
    """A store gives out 1,000 names at a time: those of some logs, most of which are of others."""
    pair = site.arrive(0, range(1))
    control, data = (Path(name).read_bytes() for name in (pair.control, *pair.data))
    bucket.hold({f"n-{number:04d}.txt": b"" for number in range(900)})
    bucket.hold({f"n-{number:04d}.ctl": control for number in range(900, 980)})
    bucket.hold({f"n-{number:04d}.dat": data for number in range(900, 980)})
    bucket.put("deeper/n-9999.ctl", control)  # not of this place
    family = source_named("logmaster")
    found = arrived(bucket.url, family, Arrival.RENAME, 0, time.time())
    assert len(found.pairs) == 80
    assert not found.waiting
    assert found.pairs[-1].control == f"{bucket.url}/n-0979.ctl"
    asked: list[str] = []
    really = files.head

    def heads(path: str, size: int = 64) -> bytes:
        asked.append(path)
        return really(path, size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "head", heads)
        bucket.put("n-0980.ctl", control)
        again = arrived(bucket.url, family, Arrival.RENAME, 0, time.time())
    assert asked == [f"{bucket.url}/n-0980.ctl"]  # what is known is not asked for again
    assert list(again.waiting) == asked
    assert len(expanded([f"{bucket.url}/n-*.ctl"])) == 81
    with pytest.raises(UsageError, match="LR1004"):
        expanded([f"{bucket.url}/x-*.ctl"])


@pytest.mark.parametrize("logs", ["in", "in/", "in/night-*.ctl"])
def test_other_commands_take_a_place_in_a_store(
    site: StoredSite, tmp_path: Path, logs: str
) -> None:
    for number in range(2):
        site.arrive(number, range(2 * number, 2 * number + 2))
    here = tmp_path / "here"
    shutil.copytree(site.logs, here)
    site.bring()
    for words in (["redo", "--schema", "none"], ["export", "--format", "jsonl"]):
        made: list[dict[str, bytes]] = []
        for place in (str(here), f"s3://{site.bucket.name}/{logs}"):
            out = tmp_path / f"{words[0]}-{len(made)}"
            assert main([*words, "--logs", place, "--engine", "local", "--out", str(out)]) == 0
            made.append(
                {
                    p.name: p.read_bytes()
                    for p in out.rglob("*")
                    if p.name.endswith(("sql", "jsonl"))
                }
            )
        assert made[0] == made[1]
        assert made[0]


def test_an_export_grows_on_this_machine_only(
    site: StoredSite, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    site.arrive(0, range(2))
    site.bring()
    words = ["follow", "--logs", site.bucket.url, "--once", "--settle", "0", "--engine", "local"]
    assert main([*words, "--export", f"{site.bucket.url}/out"]) == 12
    told = capsys.readouterr().err
    assert "LR1002" in told
    assert "expected a folder of this machine" in told
    assert "grow a folder of this machine and copy it" in told
    assert main([*words, "--export", str(tmp_path / "out")]) == 0
    assert list((tmp_path / "out").rglob("*.parquet"))
