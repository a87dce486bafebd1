"""Bundles that are written into a store: the same bytes as on this machine, the manifest last, and
nothing of attempts that do not count. The store is fsspec's, in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import fsspec
import pytest

import replay
from replay import storage
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.errors import EXIT_UNUSABLE, InputError
from replay.logs.logmaster.opening import open_log
from replay.output.bundle import write_bundle
from replay.output.whole_folder import StoredFolder
from replay.pipeline.plan import Plan, make_plan
from tests.output.test_attempts import Twice
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.made_engine import MadeEngine
from tests.support.places import FIXTURES
from tests.support.stored import objects, stored, written


@pytest.fixture
def out(tmp_path: Path) -> Iterator[str]:
    """The URL of a folder that is not there yet."""
    url, store = f"memory://{tmp_path.name}/out", fsspec.filesystem("memory")
    yield url
    if store.exists(f"/{tmp_path.name}"):
        store.rm(f"/{tmp_path.name}", recursive=True)


@pytest.fixture
def small(sakila_small: Path) -> list[str]:
    return [
        *("--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")),
        *("--records-per-file", "50"),
    ]


@pytest.mark.parametrize(
    "words", [["redo"], ["undo", "--schema", "none"], ["export"], ["export", "--format", "csv"]]
)
def test_the_same_bytes(small: list[str], tmp_path: Path, out: str, words: list[str]) -> None:
    here = written(tmp_path / "here", *words, *small)
    assert stored(out, *words, *small) == here
    assert stored(out, *words, *small, "--overwrite") == here


@pytest.mark.parametrize(
    "words", [["export", "--format", "csv"], ["state", "--at", "end", "--format", "csv"]]
)
def test_names_of_tables_that_mean_something_in_urls(
    tmp_path: Path, out: str, words: list[str]
) -> None:
    """``#`` is a letter of names in Db2, and others are where names are quoted."""
    columns = (Col("T", "VCHR", 8), Col("N", "INT", 4))
    tables = [
        Tab(name, columns, obid=7 + n) for n, name in enumerate(["EMP#", "A?B", "P%41", "X Y"])
    ]
    log = LogBuilder(tables)
    unit = log.unit()
    for table in tables:
        unit.insert(table, ("row", 1))
    control, data = log.write(tmp_path, name="log")
    words += ["--control", str(control), "--data", *map(str, data), "--schema", "none"]
    here = written(tmp_path / "here", *words)
    assert len(here) == len(tables) + 1
    assert stored(out, *words) == here
    assert stored(out, *words, "--overwrite") == here


def test_an_object_that_could_not_be_written_whole_is_not_there(
    out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stores publish what was written when it is closed."""

    def content(_: object) -> Iterator[bytes]:
        yield b"the beginning"
        raise OSError(5, "the disk cannot be read")

    place = storage.at(out) / "part"
    assert isinstance(place, storage.StoredPath)
    with monkeypatch.context() as patch:
        patch.setattr(storage, "_blocks_of", content)
        with pytest.raises(OSError, match="cannot be read"):
            storage.put(b"", place)
    assert not place.exists()
    storage.put(b"the whole", place)
    assert storage.size_of(place) == 9


def test_units_that_are_set_aside(tmp_path: Path, out: str) -> None:
    log = FIXTURES / "incomplete" / "log"
    (control,), (data,) = log.glob("*.ctl"), log.glob("*.dat*")
    words = ["redo", "--control", str(control), "--data", str(data)]
    codes = [
        main([*words, "--engine", "local", "--out", place]) for place in (str(tmp_path / "b"), out)
    ]
    assert codes[0] == codes[1]
    assert set(objects(out)) == {
        path.relative_to(tmp_path / "b").as_posix()
        for path in (tmp_path / "b").rglob("*")
        if path.is_file()
    }


def test_what_is_there_stays(
    small: list[str], out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = fsspec.filesystem("memory")
    store.pipe("/" + out.partition("://")[2] + "/precious.txt", b"x")
    for words in (["redo", *small], ["redo", *small, "--overwrite"]):
        assert main([*words, "--engine", "local", "--out", out]) == EXIT_UNUSABLE
        assert "LR1002" in capsys.readouterr().err
    assert list(objects(out)) == ["precious.txt"]


def planned(sakila_small: Path, tmp_path: Path) -> tuple[Plan, replay.logs.LogFile]:
    log = open_log(sakila_small / "small.ctl", [sakila_small / "small.dat"], scratch=tmp_path)
    return make_plan(log, "redo", Selection(), ScriptOptions(records_per_file=50), 1 << 20), log


def test_attempts_that_do_not_count(sakila_small: Path, tmp_path: Path, out: str) -> None:
    plan, log = planned(sakila_small, tmp_path)
    twice = Twice()
    written_ = write_bundle(plan, log, storage.at(out), MadeEngine(twice.execute))
    before = objects(out)
    assert set(before) == {
        "manifest.json",
        *(script["name"] for script in written_.manifest["scripts"]),
    }
    for job, *rest in twice.late:
        with pytest.raises(InputError, match="the run that this task is of has ended"):
            list(job.reduce(*rest))
    assert objects(out) == before


@pytest.mark.parametrize(
    ("size", "said"), [(4, "bytes of it are there"), (None, "the bytes that are there have")]
)
def test_a_file_that_is_not_what_was_sent(
    sakila_small: Path,
    tmp_path: Path,
    out: str,
    monkeypatch: pytest.MonkeyPatch,
    size: int | None,
    said: str,
) -> None:
    """It is shorter, or has other bytes (``size`` None)."""
    plan, log = planned(sakila_small, tmp_path)
    plain = storage.copy_all

    def torn(pairs: list[tuple[storage.StoredPath, storage.StoredPath]]) -> None:
        plain(pairs)
        storage.put(bytes(size or storage.size_of(pairs[0][1])), pairs[0][1])

    monkeypatch.setattr(storage, "copy_all", torn)
    with pytest.raises(InputError, match=f"LR2001.*{said}"):
        write_bundle(plan, log, storage.at(out), replay.engine.local.ENGINE)
    assert objects(out) == {}


def test_an_attempt_that_sleeps_while_it_sends_its_last_file(
    sakila_small: Path, tmp_path: Path, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, log = planned(sakila_small, tmp_path)
    twice, plain = Twice(), storage.put
    write_bundle(plan, log, storage.at(out), MadeEngine(twice.execute))
    before = objects(out)
    job, *rest = twice.late[-1]
    plain(b"", job.folder / "open")

    def slept(source: Path, target: storage.StoredPath) -> None:
        (job.folder / "open").unlink()
        plain(source, target)

    monkeypatch.setattr(storage, "put", slept)
    with pytest.raises(InputError, match="the run that this task is of has ended"):
        list(job.reduce(*rest))
    assert objects(out) == before


def test_an_attempt_that_takes_back_its_files_while_they_are_removed(
    sakila_small: Path, tmp_path: Path, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, log = planned(sakila_small, tmp_path)
    plain = storage.names_below

    def vanishing(folder: storage.Place) -> list[str]:
        found = plain(folder)
        if folder.name.startswith(".attempts-"):
            for name in found:
                (folder / name).unlink()
        return found

    monkeypatch.setattr(storage, "names_below", vanishing)
    write_bundle(plan, log, storage.at(out), MadeEngine(Twice().execute))
    there = objects(out)
    assert "manifest.json" in there
    assert not any(name.startswith(".attempts-") for name in there)


class Killed(BaseException):
    """From here on the process does nothing any more."""


@pytest.mark.long
@pytest.mark.parametrize("words", [[], ["--overwrite"]], ids=["new", "overwrite"])
def test_a_driver_that_is_killed_at_any_moment(
    small: list[str], tmp_path: Path, out: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the same command again gives the same bundle, and nothing else stays."""
    of_path = storage.StoredPath
    plain: dict[tuple[Any, str], Any] = {
        (owner, name): getattr(owner, name)
        for owner, name in (
            (storage, "put"),
            (storage, "remove_folder"),
            (storage, "copy_all"),
            (of_path, "unlink"),
        )
    }
    left = 0

    def stopping(owner: Any, name: str) -> Callable[..., None]:
        def run(first: Any, *more: Any) -> None:
            nonlocal left
            for part in [[pair] for pair in first] if name == "copy_all" else [first]:
                left -= 1
                if left < 0:
                    raise Killed
                plain[owner, name](part, *more)

        return run

    small = [*small[:-1], "150"]  # records a file
    whole = written(tmp_path / "here", "redo", *small)
    command = ["redo", *small, *words, "--engine", "local", "--out", out]
    moments = 0
    while left <= 0:
        storage.remove_folder(storage.StoredPath(out))
        if words:
            assert main(["export", *small, "--engine", "local", "--out", out]) in (0, 4)
        moments, left = moments + 1, moments
        with monkeypatch.context() as patch:
            for owner, name in plain:
                patch.setattr(owner, name, stopping(owner, name))
            with suppress(Killed):
                assert main(command) in (0, 4)
        published = "redo.sql" in "".join(objects(out)) and "manifest.json" in objects(out)
        ended = main(command)
        assert ended in ((EXIT_UNUSABLE,) if published and not words else (0, 4)), moments
        assert objects(out) == whole, moments
    assert moments > 8


def test_what_a_killed_run_was_publishing_is_no_excuse(
    small: list[str], out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other files stay as ever."""
    left = StoredFolder.begun(storage.StoredPath(out))
    storage.put(b'["0000-redo.sql"]', left.staging / "publishes")
    storage.put(b"half", left.out / "0000-redo.sql")
    storage.put(b"x", left.out / "precious.txt")
    for more in ([], ["--overwrite"]):
        words = ["redo", *small, *more, "--engine", "local", "--out", out]
        assert main(words) == EXIT_UNUSABLE
        assert "LR1002" in capsys.readouterr().err
    (left.out / "precious.txt").unlink()
    assert main(words[:-5] + words[-4:]) in (0, 4)
    assert "precious.txt" not in objects(out)


def test_what_a_killed_run_left(small: list[str], tmp_path: Path, out: str) -> None:
    left = StoredFolder.begun(storage.StoredPath(out))
    storage.put(b"half", left.staging / "0-x" / "0000-redo.sql")
    assert stored(out, "redo", *small) == written(tmp_path / "here", "redo", *small)


def test_single_files(sakila: Path, sakila_small: Path, tmp_path: Path, out: str) -> None:
    log = [
        *("--control", str(sakila_small / "small.ctl")),
        *("--data", str(sakila_small / "small.dat")),
    ]
    assert main(["graph", *log, "--schema", "none", "--format", "json", "--out", out]) in (0, 4)
    assert json.loads(storage.at(out).read_bytes())
