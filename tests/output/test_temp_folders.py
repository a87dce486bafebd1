"""Nothing of a killed run stays: its temporary folders and hidden output folders are removed by the
next one, by their lock. What is published follows the umask."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.storage.durable import write_file
from replay.temp_folders import ASIDE, WorkFolder
from tests.support.places import ROOT
from tests.support.words import of_log_master

HOLDS = """
import sys, time
from pathlib import Path
from replay.temp_folders import WorkFolder
folders = [WorkFolder(prefix, Path(sys.argv[1])) for prefix in sys.argv[2:]]
for folder in folders:
    (Path(folder.name) / "rows").write_text("secret rows")
print("ready", flush=True)
time.sleep(60)
"""


def holder(place: Path, *prefixes: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(place), *prefixes], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "logreplay-mine").mkdir()
    killed, alive = holder(tmp_path, "", ".out-"), holder(tmp_path, "", ".out-")
    assert len(list(tmp_path.iterdir())) == 5
    killed.kill()
    killed.communicate()
    with WorkFolder(parent=tmp_path) as own:
        left = {path for path in tmp_path.iterdir() if path.name != "logreplay-mine"}
        assert len(left) == 3
        assert Path(own) in left
        assert sum((path / "rows").exists() for path in left) == 2
    alive.kill()
    alive.communicate()
    WorkFolder(parent=tmp_path).cleanup()
    assert [path.name for path in tmp_path.iterdir()] == ["logreplay-mine"]


def test_the_only_copy_of_a_bundle_stays(tmp_path: Path) -> None:
    """A run may be killed after it moved the old bundle aside and before the new one has its
    name."""
    killed = holder(tmp_path, f".out{ASIDE}", f".other{ASIDE}")
    killed.kill()
    killed.communicate()
    (tmp_path / "other").mkdir()
    WorkFolder(parent=tmp_path).cleanup()
    kept = [path.name for path in tmp_path.iterdir() if path.name != "other"]
    assert len(kept) == 1
    assert kept[0].startswith(f".out{ASIDE}")


def test_a_store_is_no_folder_for_temporary_files(
    sakila_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]
    words = ["redo", *log, "--engine", "local", "--out", str(tmp_path / "out")]
    assert main([*words, "--work", "s3://bucket/work"]) == 12
    assert "LR1006 found no folder s3://bucket/work" in capsys.readouterr().err


def test_what_was_put_aside_goes_with_the_next_bundle(sakila_small: Path, tmp_path: Path) -> None:
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]
    killed = holder(tmp_path, f".out{ASIDE}", ".out-")
    killed.kill()
    killed.communicate()
    words = ["redo", *log, "--engine", "local", "--out", str(tmp_path / "out"), "--overwrite"]
    assert main(words) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_another_run_wrote_meanwhile(
    sakila_small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from replay.output import whole_folder

    files = of_log_master(sakila_small / "small.ctl", sakila_small / "small.dat")
    out, renamed = tmp_path / "out", whole_folder.rename_durably

    def late(work: Path, place: Path) -> None:
        place.mkdir()
        (place / "theirs").touch()
        renamed(work, place)

    monkeypatch.setattr(whole_folder, "rename_durably", late)
    assert main(["redo", *files, "--engine", "local", "--out", str(out)]) == 12
    assert "LR1002 found" in (said := capsys.readouterr().err)
    assert "written by another run meanwhile" in said
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "theirs"]


@pytest.mark.parametrize(("mask", "folder", "file"), [(0o077, 0o700, 0o600), (0o002, 0o775, 0o664)])
def test_what_is_published_follows_the_umask(
    sakila_small: Path, tmp_path: Path, mask: int, folder: int, file: int
) -> None:
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]
    before = os.umask(mask)
    try:
        for command in (["redo"], ["export", "--format", "csv"], ["export"]):
            out = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
            arguments = [*command, *log, "--engine", "local", "--out", str(out)]
            assert main([*arguments, *(["--schema", "none"] if command == ["redo"] else [])]) == 0
            modes = {path: path.stat().st_mode & 0o777 for path in (out, *out.rglob("*"))}
            assert set(modes.values()) == {folder, file}
            assert modes[out] == folder
            assert modes[out / "manifest.json"] == file
        write_file(tmp_path / "page.html", "x")
        assert (tmp_path / "page.html").stat().st_mode & 0o777 == file
    finally:
        os.umask(before)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
