"""Logs that lie in a store: the same bytes come out as of local files, and only the ranges are read
that somebody asks for. The store is fsspec's, in memory."""

from __future__ import annotations

import errno
import gzip
import os
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFile, MemoryFileSystem

from replay import storage
from replay.cli.main import main
from replay.errors import EXIT_UNUSABLE, InputError, UsageError
from replay.logs import files
from replay.logs.files import mapped, unpacked
from replay.storage import ranges, timeouts
from tests.support.gated_store import gated_store
from tests.support.stored import written

Upload = Callable[[Path], str]


@pytest.fixture
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges so small that what nobody asked for is not there."""
    monkeypatch.setattr(ranges, "_BLOCK", 256)
    monkeypatch.setattr(ranges, "_REQUEST", 4096)


@pytest.mark.usefixtures("small_ranges")
@pytest.mark.parametrize("data", ["small.dat", "small-nordw.dat"])
@pytest.mark.parametrize("command", ["redo", "undo", "export"])
def test_logmaster(
    sakila_small: Path, tmp_path: Path, upload: Upload, command: str, data: str
) -> None:
    control = sakila_small / data.replace(".dat", ".ctl")
    schema = [] if command == "export" else ["--schema", "none"]
    here = written(
        tmp_path / "here",
        *(command, "--control", str(control), "--data", str(sakila_small / data), *schema),
    )
    stored = written(
        tmp_path / "stored",
        *(command, "--control", upload(control), "--data", upload(sakila_small / data), *schema),
    )
    assert stored == here


def test_packed(sakila_small: Path, tmp_path: Path, upload: Upload) -> None:
    packed = tmp_path / "small.dat.gz"
    packed.write_bytes(gzip.compress((sakila_small / "small.dat").read_bytes()))
    control = str(sakila_small / "small.ctl")
    here = written(tmp_path / "here", "redo", "--control", control, "--data", str(packed))
    stored = written(
        tmp_path / "stored", "redo", "--control", f"file://{control}", "--data", upload(packed)
    )
    assert stored == here


def test_the_state_beside_a_log(sakila: Path, tmp_path: Path, upload: Upload) -> None:
    log = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    word = ["migrate", *log, "--schema", "none"]
    here = written(tmp_path / "here", *word, "--initial", str(sakila / "initial"))
    stored = written(tmp_path / "stored", *word, "--initial", upload(sakila / "initial"))
    assert stored == here


def test_a_database_is_compared_with_a_stored_state(
    tmp_path: Path, upload: Upload, capsys: pytest.CaptureFixture[str]
) -> None:
    with duckdb.connect(str(tmp_path / "shop.db")) as database:
        database.execute("CREATE TABLE item (id INT PRIMARY KEY, name TEXT)")
        database.execute("INSERT INTO item VALUES (1, 'one'), (2, 'two')")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "item.csv").write_text("id,name\n1,one\n2,two\n", encoding="utf-8")
    words = ["verify", "--to", f"duckdb:///{tmp_path}/shop.db", "--target-schema", "main"]
    assert main([*words, "--expected", upload(tmp_path / "state")]) == 0
    assert "2 rows" in capsys.readouterr().out
    (tmp_path / "state" / "item.csv").write_text("id,name\n1,one\n2,TWO\n", encoding="utf-8")
    assert main([*words, "--expected", upload(tmp_path / "state")]) == 8
    assert main([*words, "--expected", "memory://nowhere/state"]) == EXIT_UNUSABLE
    assert "LR2001 memory://nowhere/state" in capsys.readouterr().err


@pytest.mark.usefixtures("small_ranges")
def test_large_objects_are_fetched_once(
    tmp_path: Path, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However they are read."""
    data = np.random.default_rng(1).integers(1, 256, 400_000).astype(np.uint8)
    (tmp_path / "data").write_bytes(data.tobytes())
    place = unpacked(upload(tmp_path / "data"), None, 0)
    really, fetched = ranges.StoredRanges._range, [0]

    def counting(self: ranges.StoredRanges, piece: tuple[int, int]) -> bytes:
        fetched[0] += piece[1] - piece[0]
        return really(self, piece)

    monkeypatch.setattr(ranges.StoredRanges, "_range", counting)
    for low in np.random.default_rng(2).integers(0, 399_000, 500).tolist():
        found = mapped(place, low, low + 900)
        assert (found[low : low + 900] == data[low : low + 900]).all()
    assert 300_000 < fetched[0] <= len(data)


@pytest.mark.usefixtures("small_ranges")
def test_ranges(tmp_path: Path, upload: Upload) -> None:
    data = np.random.default_rng(1).integers(0, 256, 200_000).astype(np.uint8)
    (tmp_path / "data").write_bytes(data.tobytes())
    place = unpacked(upload(tmp_path / "data"), None, 0)
    first = mapped(place, 100_000, 100_010)
    assert len(first) == len(data)
    assert (first[100_000:100_010] == data[100_000:100_010]).all()
    assert not first[:50_000].any()
    start = np.arange(0, 190_000, 5_000)
    for row in range(0, len(start), 5):
        part = start[row : row + 5]
        found = mapped(place, part, part + 700)
        for low in part.tolist():
            assert (found[low : low + 700] == data[low : low + 700]).all()
    assert (first[100_000:100_010] == data[100_000:100_010]).all()
    assert (mapped(place) == data).all()


@pytest.mark.usefixtures("small_ranges")
def test_ranges_that_several_threads_read(tmp_path: Path, upload: Upload) -> None:
    """None takes away what another one reads."""
    data = np.random.default_rng(1).integers(1, 256, 400_000).astype(np.uint8)
    (tmp_path / "data").write_bytes(data.tobytes())
    place = unpacked(upload(tmp_path / "data"), None, 0)

    def read(seed: int) -> int:
        wrong = 0
        for low in np.random.default_rng(seed).integers(0, 370_000, 40).tolist():
            found = mapped(place, low, low + 30_000)[low : low + 30_000]
            wrong += int((found != data[low : low + 30_000]).sum())
        return wrong

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(4))) == [0] * 4


@pytest.mark.usefixtures("small_ranges")
def test_a_disk_that_has_no_room_for_what_was_read(
    sakila_small: Path,
    tmp_path: Path,
    upload: Upload,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    real, left = os.pwrite, [2_000]

    def write(file: int, content: bytes, at: int) -> int:
        left[0] -= len(content)
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(file, content, at)

    monkeypatch.setattr(ranges.os, "pwrite", write)
    words = ["redo", "--control", str(sakila_small / "small.ctl"), "--engine", "local"]
    words += ["--data", upload(sakila_small / "small.dat"), "--out", str(tmp_path / "out")]
    assert main(words) == EXIT_UNUSABLE
    said = capsys.readouterr().err
    assert "LR1006 found No space left on device" in said
    assert "--work" in said
    assert not (tmp_path / "out").exists()


def test_an_object_that_changed(tmp_path: Path, upload: Upload) -> None:
    (tmp_path / "data").write_bytes(b"one")
    place = unpacked(upload(tmp_path / "data"), None, 0)
    (tmp_path / "data").write_bytes(b"other")
    upload(tmp_path / "data")
    with pytest.raises(InputError, match="has changed since the log was opened") as caught:
        mapped(place)
    assert caught.value.code == "LR2001"
    assert "#" not in str(caught.value)


def test_spellings() -> None:
    assert storage.settled("s3a://bucket/a%20b") == "s3://bucket/a%20b"
    assert storage.settled("file:///data/a%20b") == "/data/a b"
    assert storage.settled("abfs://box@store.dfs.core.windows.net/x").startswith("abfs://box@")
    assert storage.settled("logs/x.dat") == "logs/x.dat"
    assert not storage.is_url("postgresql://host/db")
    assert storage.is_database("postgresql://host/db")
    assert str(storage.at("s3://b/logs") / "x.csv.gz") == "s3://b/logs/x.csv.gz"


@pytest.mark.parametrize(
    "url",
    [
        "s3://name:hidden@bucket/x",
        "s3://hidden@bucket/x",
        "abfs://box@store/x?sig=hidden",
        "gs://bucket/x?access_token=hidden",
        "s3://[hidden/x",
    ],
)
def test_secrets_are_refused_and_not_repeated(
    url: str, sakila_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        storage.settled(url)
    assert caught.value.code == "LR1001"
    control = str(sakila_small / "small.ctl")
    words = ["redo", "--control", control, "--data", url, "--out", str(tmp_path / "out")]
    assert main(words) == EXIT_UNUSABLE
    assert "hidden" not in str(caught.value) + "".join(capsys.readouterr())


def test_a_file_that_is_not_there(
    sakila_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    control, data = str(sakila_small / "small.ctl"), "memory://nowhere/none.dat"
    words = ["redo", "--control", control, "--data", data, "--out", str(tmp_path / "out")]
    assert main(words) == EXIT_UNUSABLE
    assert "LR2001 memory://nowhere/none.dat" in capsys.readouterr().err


def _hanging(end: threading.Event) -> Callable[..., None]:
    def hang(*_: object, **__: object) -> None:
        end.wait(60)
        raise OSError("too late")

    return hang


def test_a_store_that_never_answers(
    sakila_small: Path,
    tmp_path: Path,
    upload: Upload,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever it is asked: a command ends, and says which store it was."""
    url, never = upload(sakila_small / "small.dat"), threading.Event()
    monkeypatch.setattr(timeouts, "PATIENCE", 0.3)
    words = ["redo", "--control", str(sakila_small / "small.ctl"), "--data", url]
    for number, (owner, name) in enumerate(
        [(MemoryFileSystem, "info"), (MemoryFileSystem, "_open"), (MemoryFile, "read")]
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, _hanging(never))
            assert main([*words, "--out", str(tmp_path / str(number))]) == EXIT_UNUSABLE
        told = capsys.readouterr().err
        assert f"LR2001 {url}" in told
        assert "the store gave no answer within 0.3 s" in told
    never.set()


def test_a_store_that_takes_what_is_written_and_never_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    never = threading.Event()
    monkeypatch.setattr(timeouts, "PATIENCE", 0.3)
    place = storage.at(f"memory://{tmp_path}/out")
    assert isinstance(place, storage.StoredPath)
    for name in ("write", "commit"):
        with monkeypatch.context() as patch:
            patch.setattr(MemoryFile, name, _hanging(never))
            with pytest.raises(OSError, match="no answer within 0.3 s") as caught:
                storage.put(b"onetwo", place)
            assert caught.value.filename == str(place)
    never.set()
    monkeypatch.undo()
    storage.put(b"onetwo", place)
    assert place.read_bytes() == b"onetwo"
    place.unlink()


def test_a_packed_object(tmp_path: Path, upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is unpacked to this machine; one that is replaced meanwhile is an error."""
    parts = [np.random.default_rng(n).bytes(900_000) for n in range(4)]
    (tmp_path / "log.gz").write_bytes(b"".join(map(gzip.compress, parts)))
    url = upload(tmp_path / "log.gz")
    assert Path(unpacked(url, str(tmp_path), 0)).read_bytes() == b"".join(parts)
    with pytest.raises(InputError, match="LR2001 .* no folder to unpack it to"):
        unpacked(url, None, 0)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "log.gz").write_bytes(b"".join(map(gzip.compress, parts[1:])))
    blocks = files.unpacked_blocks

    def replacing(path: str) -> Iterator[bytes]:
        for number, block in enumerate(blocks(path)):
            if number == 1:
                storage.put(tmp_path / "other" / "log.gz", storage.StoredPath(url))
            yield block

    monkeypatch.setattr(files, "_BLOCK", 1 << 16)
    monkeypatch.setattr(files, "unpacked_blocks", replacing)
    with pytest.raises(InputError, match="LR2006"):
        unpacked(url, str(tmp_path), 0)


@pytest.mark.parametrize(
    "words",
    [
        ["--control", "a.ctl", "--data", "a.dat"],
        ["--logs", "set"],
        ["--source", "db2luw", "--log", "a.log", "--catalog", "c.csv"],
        ["--source", "soliddb", "--log", "a.parquet", "--catalog", "c"],
    ],
    ids=["logmaster", "set", "db2luw", "soliddb"],
)
@pytest.mark.parametrize("command", ["inspect", "redo"])
def test_a_store_that_does_not_let_us_in(
    command: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(environ: dict[str, Any], start: Any) -> Any:
        if "/in" not in environ["PATH_INFO"] and "prefix=in" not in environ["QUERY_STRING"]:
            return None
        start("403 Forbidden", [("Content-Length", "0")])
        return [b""]

    out = ["--out", str(tmp_path / "out")] if command == "redo" else []
    with gated_store("closed", refuse) as (_, bucket):
        of_log = [f"s3://{bucket}/in/{word}" if word[0] != "-" else word for word in words]
        if "--source" in words:
            of_log[1] = words[1]
        assert main([command, *of_log, *out]) == EXIT_UNUSABLE
    told = capsys.readouterr().err
    assert f"logreplay: LR2001 s3://{bucket}/in/" in told
    assert "ACCESS_DENIED" in told
    assert "defect" not in told


def test_names_with_blanks_and_letters_of_others() -> None:
    with gated_store("names", lambda *_: None) as (_, bucket):
        out = storage.StoredPath(f"s3://{bucket}/out")
        names = "a b.csv", "Ünïcode.csv", 'quoted "T".csv', "50%.csv", "emp#.csv", "a?b=%41#1.csv"
        for name in names:
            (out / name).write_text(name)
            assert (out / name).read_text() == name
            assert (out / name).name == name
            assert (out / name).stem + ".csv" == name
            assert storage.at(f"s3://{bucket}/out/{quote(name)}").read_text() == name
        assert storage.at(f"s3://{bucket}/out/emp#.csv").read_text() == "emp#.csv"
        place = ranges.versioned(str(storage.at(f"s3://{bucket}/out/emp#.csv")))
        assert len(ranges.ranges(place)) == len("emp#.csv")
        found = {path.name: path.read_text() for path in out.iterdir()}
        assert found == {name: name for name in names}
        assert set(storage.names_below(out)) == set(names)
        assert {file.name for file in storage.files_in(out)} == set(names)


def test_commands_that_are_proposed_name_the_folder_that_was_given(
    sakila_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They named that of the run, which is gone by then."""
    work = str(tmp_path / "work")
    Path(work).mkdir()
    (tmp_path / "work" / "kept").write_text("of somebody else")
    words = ["--control", str(sakila_small / "small.ctl"), "--engine", "local", "--work", work]
    words += ["--data", str(sakila_small / "small.dat")]
    words += ["--table", "*.PAYMENT", "--where", "amount > 0"]
    assert main(["history", *words]) in (0, 4)
    said = capsys.readouterr().out
    named = re.findall(r"--work (\S+)", said)
    assert named
    assert set(named) == {work}
