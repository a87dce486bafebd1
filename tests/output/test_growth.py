"""Datasets that grow in place, commit by commit: ``export --grow`` and ``follow --export``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from replay.changes.balance import Tally
from replay.cli.main import main
from replay.errors import Refusal, UsageError
from replay.logs import LogPair
from replay.output import growth
from replay.output.bundle import Bundle
from replay.output.growth import GrowingFolder
from tests.support.cutlogs import with_end, write_pair
from tests.support.logbuilder import Col, LogBuilder, Tab, frame, lrsn

TABLE = Tab("T", (Col("K", "INT", 4, key=1), Col("V", "INT", 4)))


class Site:
    """A folder of logs, and a dataset that grows from them."""

    def __init__(self, folder: Path) -> None:
        self.logs, self.out = folder / "logs", folder / "out"
        self.logs.mkdir()
        self.log = LogBuilder(tables=(TABLE,))

    def arrive(self, number: int, keys: range) -> LogPair:
        """A log arrives that inserts rows, each in a unit of recovery of its own."""
        self.log.clock = 10_000 * number
        for key in keys:
            self.log.unit(commit=self.log.clock + 40).insert(TABLE, (key, number))
        return self.end(f"night-{number}", 10_000 * (number + 1))

    def end(self, name: str, clock: int) -> LogPair:
        """The changes so far are a log, which ends at a tick."""
        raw = frame(self.log.control_records(), "rdw")
        pair = write_pair(self.logs, name, raw, self.log.records(), lrsn(clock))
        Path(pair.control).write_bytes(with_end(raw, lrsn(clock)))
        self.log.changes.clear()
        return pair

    def grow(self, *more: str) -> int:
        words = ["export", "--grow", "--logs", str(self.logs), "--out", str(self.out)]
        how = ["--format", "jsonl", "--schema", "none", "--engine", "local"]
        return main([*words, *how, *more])

    def follow(self, *more: str) -> int:
        words = ["follow", "--logs", str(self.logs), "--export", str(self.out), "--settle", "0"]
        how = ["--format", "jsonl", "--schema", "none", "--engine", "local", "--once"]
        return main([*words, *how, *more])

    def rows(self) -> list[int]:
        """The keys that the visible files of the table hold, in the order of their names."""
        lines = [
            line
            for path in sorted(self.out.glob("testown.t/**/*.jsonl"))
            for line in path.read_text().splitlines()
        ]
        return [json.loads(line)["after"]["k"] for line in lines]

    def stand(self) -> dict[str, Any]:
        return dict(GrowingFolder(self.out).stand())


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.mark.parametrize("how", ["grow", "follow"])
def test_a_dataset_grows_by_what_is_new(site: Site, how: str) -> None:
    site.arrive(0, range(3))
    assert getattr(site, how)() == 0
    assert site.rows() == [0, 1, 2]
    site.arrive(1, range(3, 5))
    site.arrive(2, range(5, 6))
    assert getattr(site, how)() == 0
    assert site.rows() == list(range(6))
    assert site.stand()["growth"] == {"commit": 2, "units": 6, "changes": 6}
    files = [file["name"] for entry in site.stand()["datasets"] for file in entry["files"]]
    assert files
    assert all((site.out / name).is_file() and "/part-000002-" in name for name in files)


def test_what_brings_nothing_is_no_commit(site: Site) -> None:
    site.arrive(0, range(3))
    assert [site.grow(), site.grow(), site.follow()] == [0, 0, 0]
    assert site.rows() == [0, 1, 2]
    assert [path.name for path in (site.out / "_logreplay").iterdir()] == ["000001"]


class Killed(BaseException):
    """Stands for the end of the process."""


#: Renames of a commit: its one file within the bundle, itself, and the file into its place.
@pytest.fixture(params=[0, 1, 2])
def killed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The process ends before a rename of growth."""
    rename, left = Path.rename, [int(request.param)]

    def until_killed(path: Path, target: Path) -> Path:
        if "part-0000" in str(target) or path.name == "commit":
            if not left[0]:
                raise Killed
            left[0] -= 1
        return rename(path, target)

    monkeypatch.setattr(growth.Path, "rename", until_killed)
    yield
    assert left == [0]


def test_a_run_that_is_killed_adds_all_or_nothing(
    site: Site, killed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.arrive(0, range(3))
    with pytest.raises(Killed):
        site.grow()
    assert site.rows() == []
    monkeypatch.undo()
    site.arrive(1, range(3, 4))
    assert site.grow() == 0
    assert site.rows() == [0, 1, 2, 3]
    assert not [path for path in site.out.iterdir() if path.name.startswith(".")]


def test_two_runs_that_grow_one_folder(site: Site) -> None:
    site.arrive(0, range(3))
    assert site.grow() == 0
    folder = GrowingFolder(site.out)

    def while_another_commits(out: Path, after: object) -> Bundle:
        site.arrive(1, range(3, 5))
        assert site.grow() == 0
        words = ["export", "--logs", str(site.logs), "--out", str(out), "--after", str(after)]
        assert main([*words, "--format", "jsonl", "--schema", "none", "--engine", "local"]) == 0
        manifest = json.loads((out / "manifest.json").read_text())
        return Bundle(out, manifest, Tally(), 0)

    with pytest.raises(Refusal, match="LR4004"):
        folder.grow(while_another_commits)
    assert site.rows() == [0, 1, 2, 3, 4]


def test_other_options_and_other_folders_are_refused(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.arrive(0, range(3))
    assert site.grow() == 0
    assert site.grow("--table", "*.T") == 12
    assert "expected None, as in the output folder before" in capsys.readouterr().err
    assert site.grow("--overwrite") == 12
    assert site.grow("--after", "none") == 12
    assert site.follow("--until-time", "2030-01-01") == 12
    assert site.rows() == [0, 1, 2]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").touch()
    with pytest.raises(UsageError, match="holds letter.txt"):
        GrowingFolder(tmp_path / "other")
    site.out = tmp_path / "new"
    assert site.grow("--until-time", "2030-01-01") == 12
    assert site.rows() == []


def test_an_export_up_to_a_point(site: Site) -> None:
    site.arrive(0, range(2))
    site.arrive(1, range(2, 4))
    assert site.follow("--until-lrsn", lrsn(9999).hex()) == 0
    assert site.rows() == [0, 1]
    assert site.follow() == 0
    assert site.rows() == [0, 1, 2, 3]
