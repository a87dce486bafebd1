"""Tasks that run twice, or die half way, or wake up late: the bundle is that of tasks that ran
once."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from replay.changes.choices import EngineName, ExportFormat
from replay.changes.options import Export, ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.engine.contract import Job
from replay.errors import InputError, UsageError
from replay.logs import LogFile, Split
from replay.logs.logmaster.opening import open_log
from replay.output.bundle import write_bundle
from replay.output.run_plan import RenderJob, write
from replay.pipeline.plan import make_plan
from tests.support.made_engine import MadeEngine


@dataclass
class Twice:
    """An engine that runs every reducing task more than once, as speculation does: an attempt dies
    half way, one ends whose result is lost, one ends after the run (``late``)."""

    late: list[tuple[Any, ...]] = field(default_factory=list)

    def execute(self, job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        return local.ENGINE.execute(_Repeated(job, self.late), log, splits)


@dataclass
class _Repeated:
    job: Job
    late: list[tuple[Any, ...]]

    @property
    def title(self) -> str:
        return self.job.title

    @property
    def buckets(self) -> int:
        return self.job.buckets

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        return self.job.scan(log, split)

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        blocks = list(blocks)
        if isinstance(self.job, RenderJob):
            if isinstance(self.job.folder, Path):
                (self.job.folder / f"{bucket}-dead").mkdir()
                (self.job.folder / f"{bucket}-dead" / "0001-redo.sql").write_bytes(b"\0" * 100)
            list(self.job.reduce(log, bucket, blocks))
            self.late.append((self.job, log, bucket, blocks))
        return iter(list(self.job.reduce(log, bucket, blocks)))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    "export",
    [
        pytest.param(None, id="redo"),
        pytest.param(Export(ExportFormat.CSV), id="export", marks=pytest.mark.long),
    ],
)
def test_the_bundle_is_that_of_single_attempts(
    sakila_small: Path, tmp_path: Path, export: Export | None
) -> None:
    log = open_log(sakila_small / "small.ctl", [sakila_small / "small.dat"], scratch=tmp_path)
    plan = make_plan(log, "redo", Selection(), ScriptOptions(records_per_file=50), 1 << 20)
    plan = replace(plan, export=export)
    once = write_bundle(plan, log, tmp_path / "once", local.ENGINE)
    twice = Twice()
    again = write_bundle(plan, log, tmp_path / "twice", MadeEngine(twice.execute))
    assert len(twice.late) > 1
    assert contents(again.folder) == contents(once.folder)
    for job, *rest in twice.late:
        with pytest.raises(InputError, match="LR2001"):
            list(job.reduce(*rest))
    assert contents(again.folder) == contents(once.folder)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_file_that_is_not_whole(sakila_small: Path, tmp_path: Path) -> None:
    log = open_log(sakila_small / "small.ctl", [sakila_small / "small.dat"], scratch=tmp_path)
    plan = make_plan(log, "redo", Selection(), ScriptOptions(), 1 << 20)

    def torn(job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        for blob in local.ENGINE.execute(job, log, splits):
            bucket, value = pickle.loads(blob)
            if bucket >= 0:
                path = job.folder / value.folder / value.result.files[0].name  # type: ignore[attr-defined]
                path.write_bytes(path.read_bytes()[:-1])
            yield blob

    with pytest.raises(InputError, match=r"LR2001.*bytes of it are there"):
        write_bundle(plan, log, tmp_path / "out", MadeEngine(torn))
    assert not (tmp_path / "out").exists()


def test_a_file_of_other_bytes(
    sakila_small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the right size: what a machine makes of blocks that never came to the disk."""
    log = open_log(sakila_small / "small.ctl", [sakila_small / "small.dat"], scratch=tmp_path)
    plan = make_plan(log, "redo", Selection(), ScriptOptions(records_per_file=50), 1 << 20)

    def torn(job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        for blob in local.ENGINE.execute(job, log, splits):
            if isinstance(job, RenderJob):
                bucket, value = pickle.loads(blob)
                if bucket == 2:
                    path = job.folder / value.folder / value.result.files[0].name
                    path.write_bytes(path.read_bytes()[:-30] + b"\0" * 30)
            yield blob

    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"LR2001.*a task wrote 0002-redo.sql with the SHA-256"):
        write_bundle(plan, log, Path("out"), MadeEngine(torn, EngineName.SPARK))
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == []


@pytest.mark.parametrize("folder", ["not/here", "denied"])
def test_tasks_that_do_not_find_the_folder_or_may_not_write_there(
    sakila_small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    made = tempfile.mkdtemp

    def denied(suffix: str | None = None, prefix: str | None = None, dir: Any = None) -> str:
        if str(dir).endswith("denied"):
            raise PermissionError(13, "Permission denied", str(dir))
        return made(suffix, prefix, dir)

    monkeypatch.setattr(tempfile, "mkdtemp", denied)
    log = open_log(sakila_small / "small.ctl", [sakila_small / "small.dat"], scratch=tmp_path)
    plan = make_plan(log, "redo", Selection(), ScriptOptions(records_per_file=50), 1 << 20)

    def elsewhere(job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        assert isinstance(job, RenderJob)
        yield from local.ENGINE.execute(replace(job, folder=tmp_path / folder), log, splits)

    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match=r"LR2001.*cannot write there.*URL of a store"):
        write(MadeEngine(elsewhere, EngineName.SPARK), plan, log, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("url", ["s3a://bucket/out", "hdfs://host/out", "file:///out"])
def test_urls_are_no_folders(
    sakila_small: Path, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = open_log(sakila_small / "small.ctl", [sakila_small / "small.dat"], scratch=tmp_path)
    plan = make_plan(log, "redo", Selection(), ScriptOptions(), 1 << 20)
    with pytest.raises(UsageError, match="is a URL"):
        write_bundle(plan, log, Path(url), local.ENGINE)
    assert list(tmp_path.iterdir()) == []
