"""``logreplay follow``: a folder is watched, and a target brought up to date as logs arrive."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from replay.cli.follow_sinks import ExportReceiver
from replay.cli.following import Follower
from replay.cli.main import main
from replay.cli.parser import parse
from replay.cli.stopping import told_to_stop
from replay.logs import LogPair
from tests.support.cutlogs import half_a_unit_arrives, with_end, write_pair
from tests.support.logbuilder import Col, LogBuilder, Tab, frame, lrsn

TABLE = Tab("T", (Col("K", "INT", 4, key=1), Col("V", "INT", 4)))


class Site:
    """A folder of logs, and a SQLite file as the target."""

    def __init__(self, folder: Path) -> None:
        self.logs = folder / "logs"
        self.logs.mkdir()
        self.folder = folder
        self.url = f"sqlite:///{folder / 'testown.db'}"
        with closing(sqlite3.connect(folder / "testown.db")) as database:
            database.execute("create table t (k integer not null primary key, v integer not null)")
            database.commit()
        self.log = LogBuilder(tables=(TABLE,))
        self.mapping: list[str] = []

    def rename(self) -> None:
        """From now on the target has other names than the logs, of the key too."""
        with closing(sqlite3.connect(self.folder / "testown.db")) as database:
            database.execute("alter table t rename column k to v2")
            database.execute("alter table t rename to u")
        names = '[tables."TESTOWN.T"]\nname = "u"\ncolumns = { K = "v2" }\n'
        (self.folder / "map.toml").write_text(names, encoding="utf-8")
        self.mapping = ["--mapping", str(self.folder / "map.toml")]

    def arrive(self, number: int, keys: range, where: Path | None = None) -> LogPair:
        """A log arrives that inserts rows."""
        self.log.clock = 10_000 * number
        for key in keys:
            self.log.unit(commit=self.log.clock + 40).insert(TABLE, (key, number))
        raw = frame(self.log.control_records(), "rdw")
        end = lrsn(10_000 * (number + 1))
        pair = write_pair(where or self.logs, f"night-{number}", raw, self.log.records(), end)
        Path(pair.control).write_bytes(with_end(raw, end))
        self.log.changes.clear()
        return pair

    def words(self, *more: str) -> list[str]:
        names = ["--logs", str(self.logs), "--to", self.url, "--engine", "local"]
        settle = [] if {"--settle", "marker", "rename"} & {*more} else ["--settle", "0"]
        return ["follow", *names, *settle, *self.mapping, *more]

    def once(self, *more: str) -> int:
        return main(self.words("--once", *more))

    def keys(self) -> list[int]:
        with closing(sqlite3.connect(self.folder / "testown.db")) as database:
            asked = "select v2 from u order by 1" if self.mapping else "select k from t order by 1"
            return [key for (key,) in database.execute(asked)]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def follower_of(words: list[str]) -> Follower:
    arguments = parse(words)
    return Follower(arguments, arguments.logs[0])


def events(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    return [json.loads(line) for line in lines]


def test_logs_are_applied_as_they_arrive(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert site.once("--log-json") == 0
    assert site.keys() == []
    site.arrive(0, range(3))
    assert site.once("--log-json") == 0
    assert site.keys() == [0, 1, 2]
    site.arrive(1, range(3, 5))
    site.arrive(2, range(5, 6))
    assert site.once("--log-json") == 0
    assert site.keys() == list(range(6))
    assert site.once("--log-json") == 0
    found = events(capsys)
    assert [entry["units"] for entry in found if entry["event"] == "applied"] == [3, 3]
    assert any(entry["event"] == "no longer needed" for entry in found)


def test_a_unit_that_waits_for_the_next_log(site: Site) -> None:
    raw, records = half_a_unit_arrives(site.log, TABLE, site.logs)
    assert site.once() == 4
    assert site.keys() == []
    write_pair(site.logs, "night-1", raw, records[1:], lrsn(2000))
    assert site.once() in (0, 4)
    assert site.keys() == [1, 2]


@pytest.mark.parametrize("how", ["marker", "stable", "rename"])
def test_a_log_that_is_still_being_written(site: Site, how: str) -> None:
    pair = site.arrive(0, range(2))
    if how == "rename":
        path = Path(pair.data[0])
        path.rename(path.with_suffix(".dat.part"))
    settle = ["--settle", "3600"] if how == "stable" else []
    assert site.once("--arrival", how, *settle) == 0
    assert site.keys() == []
    if how == "rename":
        path.with_suffix(".dat.part").rename(path)
    elif how == "marker":
        (site.logs / "night-0.done").touch()
    else:
        for file in (pair.control, *pair.data):
            os.utime(file, (1, 1))
    assert site.once("--arrival", how, *settle) == 0
    assert site.keys() == [0, 1]


def test_seconds_without_a_change_have_fractions(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.arrive(0, range(2))
    time.sleep(0.3)
    assert site.once("--settle", "0.25") == 0
    assert site.keys() == [0, 1]
    for wrong in ("-1", "nan", "inf", "soon"):
        with pytest.raises(SystemExit):
            main(site.words("--once", f"--settle={wrong}"))
        assert "expected a number of seconds" in capsys.readouterr().err


def test_a_folder_without_a_log_is_named_once(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing is, and where only halves of logs are: a name may be mistyped, or two may not
    fit, and nothing else would say so."""
    follower = follower_of(site.words("--once", "--export", str(site.folder / "out")))
    assert [follower.run(), follower.run()] == [0, 0]
    told = capsys.readouterr().out
    assert told.count("\n") == 1
    assert f" no log: no file of a log is in {site.logs} yet (or the name is" in told
    assert "because" not in told
    pair = site.arrive(0, range(2))
    odd = site.logs / "other.dat"
    Path(pair.data[0]).rename(odd)
    assert [follower.run(), follower.run()] == [0, 0]
    told = capsys.readouterr().out
    assert told.count("\n") == 1
    assert f" no log: in {site.logs} 2 files wait to be whole" in told
    assert "night-0.ctl" in told
    odd.rename(pair.data[0])
    assert follower.run() == 0
    assert site.keys() == [0, 1]
    assert follower.seen.without_logs is None


def test_what_a_cut_over_without_logs_says(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(site.words("--cut-over", "--expected", str(tmp_path))) == 12
    told = capsys.readouterr().err
    assert f"found no log: no file of a log is in {site.logs} yet" in told
    assert "--control" not in told


def test_pause_and_resume(site: Site) -> None:
    site.arrive(0, range(2))
    assert main(["pause", str(site.logs)]) == 0
    assert site.once() == 0
    assert site.keys() == []
    assert main(["resume", str(site.logs)]) == 0
    assert site.once() == 0
    assert site.keys() == [0, 1]
    assert main(["pause", str(site.logs / "none")]) == 12
    assert main(["resume", str(site.logs / "none")]) == 12


def test_a_damaged_log_is_waited_for(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.arrive(0, range(2))
    assert site.once() == 0
    pair = site.arrive(1, range(2, 4))
    path = Path(pair.data[0])
    good = path.read_bytes()
    path.write_bytes(good[:-30])
    assert site.once("--log-json") == 8
    assert "LR2006" in next(e for e in events(capsys) if e["event"] == "waiting")["because"]
    assert site.once("--on-trouble", "stop") == 12
    assert site.keys() == [0, 1]
    path.write_bytes(good)
    assert site.once() == 0
    assert site.keys() == [0, 1, 2, 3]


def test_a_log_that_is_missing_is_waited_for(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.arrive(0, range(2))
    assert site.once() == 0
    for path in site.logs.iterdir():
        path.unlink()
    site.arrive(2, range(4, 6))
    assert site.once() == 8
    assert "LR4007" in capsys.readouterr().out
    assert site.keys() == [0, 1]
    site.arrive(0, range(2))
    site.arrive(1, range(2, 4))
    assert site.once() == 0
    assert site.keys() == list(range(6))


def test_a_target_that_is_down_is_waited_for(site: Site, tmp_path: Path) -> None:
    site.arrive(0, range(2))
    words = site.words("--once")
    words[words.index("--to") + 1] = "postgresql://nobody@127.0.0.1:1/none"
    assert main(words) == 8


def test_a_log_that_comes_behind_a_later_one_is_refused(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says so, with the command that starts over, and goes on when that is done."""
    out = site.folder / "changes"
    both = ["--export", str(out), "--format", "jsonl"]
    site.arrive(0, range(3))
    assert site.once(*both) == 0
    site.arrive(2, range(5, 6))
    assert site.once(*both) == 0
    late = site.arrive(1, range(3, 5))
    capsys.readouterr()
    assert site.once(*both, "--log-json") == 8
    because = [entry["because"] for entry in events(capsys) if entry["event"] == "waiting"]
    assert len(because) == 2
    assert all("LR2039" in text and "found 2 units" in text for text in because)
    assert site.keys() == [0, 1, 2, 5]
    back = re.findall(r"--until-position ([0-9A-F]{20})", because[0])
    names = [late.control, *late.data]
    for name in names:
        Path(name).rename(site.folder / Path(name).name)
    words = ["replay", "--logs", str(site.logs), "--to", site.url, "--engine", "local", "--apply"]
    assert main([*words, "--until-position", *back]) == 0
    assert site.keys() == [0, 1, 2]
    for name in names:
        (site.folder / Path(name).name).rename(name)
    assert "--grow --back-to 1" in because[1]
    export = ["export", "--logs", str(site.logs), "--grow", "--out", str(out), "--format", "jsonl"]
    assert main([*export, "--back-to", "1", "--engine", "local"]) == 0
    assert site.once(*both) == 0
    assert site.keys() == list(range(6))
    lines = "".join(path.read_text() for path in sorted(out.glob("testown.t/**/*.jsonl")))
    assert [json.loads(line)["after"]["k"] for line in lines.splitlines()] == list(range(6))


@pytest.mark.parametrize("how", ["data grow", "clock ahead", "control grows", "part"])
def test_logs_are_taken_in_the_order_of_their_positions(
    site: Site, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    """An earlier log that is not whole yet is not overtaken by a later one that is."""
    out = site.folder / "changes"
    both = ["--export", str(out), "--format", "jsonl", "--log-json", "--settle", "3600"]
    pairs = [site.arrive(number, range(2 * number, 2 * number + 2)) for number in range(3)]
    past = time.time() - 7200
    for pair in pairs:
        for name in (pair.control, *pair.data):
            os.utime(name, (past, past))
    slow = Path(pairs[1].data[0])
    whole = slow.read_bytes()
    if how == "part":
        slow.rename(slow.with_name(f"{slow.name}.part"))
    elif how == "control grows":
        os.utime(pairs[1].control, (time.time() + 3600, time.time() + 3600))
    else:
        slow.write_bytes(whole[:-20] if how == "data grow" else whole)
        ahead = time.time() + (3600 if how == "clock ahead" else 0)
        os.utime(slow, (ahead, ahead))
    words = site.words("--every", "1", *both)
    follower = follower_of(words)
    assert follower._round() == 0
    assert site.keys() == [0, 1]
    said = [entry["because"] for entry in events(capsys) if entry["event"] == "waiting"]
    assert any("night-2.ctl, after one that is not whole yet (night-1" in one for one in said)
    if how == "part":
        slow.with_name(f"{slow.name}.part").rename(slow)
    slow.write_bytes(whole)
    for name in (pairs[1].control, slow):
        os.utime(name, (past, past))
    assert follower._round() == 0
    assert site.keys() == list(range(6))
    lines = [
        json.loads(line)["after"]["k"]
        for path in sorted(out.glob("testown.t/**/*.jsonl"))
        for line in path.read_text().splitlines()
    ]
    assert lines == list(range(6))


@pytest.mark.parametrize("back_to", [19_000, 10_040, 40])
def test_the_way_back_refuses_a_log_that_was_not_read(
    site: Site, capsys: pytest.CaptureFixture[str], back_to: int
) -> None:
    """Units of it below the point that the target goes back to are not there either, and units
    beyond it are not there to be taken back."""
    for number, keys in ((0, range(3)), (2, range(5, 6))):
        site.arrive(number, keys)
        assert site.once() == 0
    site.arrive(1, range(3, 5))
    back = ["replay", "--logs", str(site.logs), "--to", site.url, "--engine", "local", "--apply"]
    back += ["--until-lrsn", lrsn(back_to).hex().upper()]
    capsys.readouterr()
    assert main(back) == 12
    assert "found 2 units" in capsys.readouterr().err
    assert site.keys() == [0, 1, 2, 5]


def test_a_log_that_is_there_again_is_known(site: Site) -> None:
    both = ["--export", str(site.folder / "changes"), "--format", "jsonl"]
    for number in range(3):
        site.arrive(number, range(number, number + 1))
        assert site.once(*both) == 0
    raw = Path(site.logs / "night-0.ctl").read_bytes()
    (site.logs / "again-0.ctl").write_bytes(with_end(raw, lrsn(9_998)))
    (site.logs / "again-0.dat").write_bytes((site.logs / "night-0.dat").read_bytes())
    assert site.once(*both) == 0
    assert site.keys() == [0, 1, 2]
    (site.logs / "night-0.ctl").unlink()
    (site.logs / "night-0.dat").unlink()
    assert site.once(*both) == 0
    assert site.keys() == [0, 1, 2]


def test_a_target_and_an_export(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.arrive(0, range(2))
    out = site.folder / "changes"
    words = site.words("--once", "--export", str(out), "--format", "csv", "--log-json")
    down = list(words)
    down[down.index("--to") + 1] = "postgresql://nobody@127.0.0.1:1/none"
    assert main(down) == 8
    assert main(words) == 0
    assert site.keys() == [0, 1]
    files = list(out.glob("testown.t/**/*.csv"))
    assert [len(path.read_text().splitlines()) for path in files] == [3]
    found = [entry for entry in events(capsys) if entry["event"] == "applied"]
    assert [(entry["of"], entry["units"]) for entry in found] == [("export", 2), ("target", 2)]


def test_a_full_disk_is_named(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The system does not say which one it is: the folder with less room is."""
    site.arrive(0, range(2))
    out = site.folder / "deep" / "changes"
    both = ["--export", str(out), "--format", "jsonl", "--log-json"]
    with monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def usage(path: str | Path) -> SimpleNamespace:
            return SimpleNamespace(free=0 if Path(path) == site.folder else 10)

        patch.setattr(ExportReceiver, "take", full)
        patch.setattr("shutil.disk_usage", usage)
        assert site.once(*both) == 8
    (told,) = [entry for entry in events(capsys) if entry["event"] == "waiting"]
    assert told["of"] == "export"
    first = f"LR1006 found No space left on device: {out} (0 bytes free) or "
    assert told["because"].startswith(first)
    assert site.once(*both) == 0
    assert list(out.rglob("*.jsonl"))


def test_a_point_to_stop_at(site: Site) -> None:
    site.arrive(0, range(2))
    site.arrive(1, range(2, 4))
    assert main(site.words("--until-lrsn", lrsn(999).hex(), "--every", "1")) == 0
    assert site.keys() == [0, 1]
    assert main(site.words("--until-lrsn", lrsn(1).hex(), "--every", "1")) == 0
    assert site.keys() == [0, 1]


def test_cut_over(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tmp_path / "before"
    before.mkdir()
    (before / "t.csv").write_text("k,v\n")
    site.arrive(0, range(2))
    cut_over = ["--cut-over", "--expected", str(before), "--log-json"]
    assert main(site.words(*cut_over)) == 0
    assert events(capsys)[-1]["event"] == "equal"
    with closing(sqlite3.connect(site.folder / "testown.db")) as database:
        database.execute("update t set v = 99 where k = 1")
        database.commit()
    assert main(site.words(*cut_over)) != 0
    assert events(capsys)[-1]["event"] == "not equal"


@pytest.mark.parametrize("kept", ["beside the log", "in the target"])
def test_a_mark_to_stop_at(site: Site, kept: str) -> None:
    first = site.arrive(0, range(2))
    if kept == "beside the log":
        named = ["--control", first.control, "--data", *first.data]
        assert main(["mark", "NIGHT", *named, "--position", lrsn(9_999).hex()]) == 0
    else:
        assert site.once() == 0
        assert main(["mark", "NIGHT", "--to", site.url]) == 0
    site.arrive(1, range(2, 4))
    assert main(site.words("--until-mark", "NIGHT", "--every", "1")) == 0
    assert site.keys() == [0, 1]
    assert site.once() == 0
    assert site.keys() == [0, 1, 2, 3]


def test_a_cut_over_while_units_are_set_aside(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the logs have only in part is neither in the target nor expected."""
    before = tmp_path / "before"
    before.mkdir()
    (before / "t.csv").write_text("k,v\n")
    raw, records = half_a_unit_arrives(site.log, TABLE, site.logs)
    cut_over = ["--cut-over", "--expected", str(before), "--log-json"]
    assert main(site.words(*cut_over)) == 4
    last = events(capsys)[-1]
    assert (last["event"], last["pending"]) == ("equal", 1)
    write_pair(site.logs, "night-1", raw, records[1:], lrsn(2000))
    assert main(site.words(*cut_over)) == 0
    last = events(capsys)[-1]
    assert (last["event"], last["pending"]) == ("equal", 0)
    assert site.keys() == [1, 2]


def test_what_a_cut_over_waits_for(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.arrive(0, range(2))
    (site.logs / "other.dat").write_bytes(b"half a log")
    follower = follower_of(site.words("--cut-over", "--expected", str(tmp_path), "--every", "1"))
    waited: list[float] = []

    def heard() -> None:
        if waited:
            follower.stop.set()
        waited.append(1)

    follower.heard = heard
    assert follower.run() == 0
    told = capsys.readouterr().out
    assert told.count("before the cut-over, 1 file waits to be whole") == 1
    assert "other.dat" in told
    assert "equal" not in told


@pytest.fixture
def mapped(site: Site, request: pytest.FixtureRequest) -> bool:
    if request.param:
        site.rename()
    return bool(request.param)


@pytest.fixture
def follower(site: Site, mapped: bool) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-m", "replay", *site.words("--every", "1", "--log-json")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


@pytest.mark.long
@pytest.mark.parametrize("mapped", [False, True], indirect=True, ids=["", "mapped"])
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_follower_that_is_ended_loses_nothing(
    site: Site, follower: subprocess.Popen[str], how: signal.Signals
) -> None:
    site.arrive(0, range(200))
    until = time.monotonic() + 300
    while not site.keys() and time.monotonic() < until:
        time.sleep(0.05)
    follower.send_signal(how)
    assert follower.wait(300) == (0 if how is signal.SIGTERM else -signal.SIGKILL)
    site.arrive(1, range(200, 210))
    assert site.once() == 0
    assert site.keys() == list(range(210))


def test_a_follower_that_is_ended_before_it_looks(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site.arrive(0, range(2))

    def early(stop: threading.Event) -> AbstractContextManager[None]:
        signal.raise_signal(signal.SIGTERM)
        return told_to_stop(stop)

    monkeypatch.setattr("replay.cli.following.told_to_stop", early)
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    assert main(site.words()) == 0
    assert not capsys.readouterr().err
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
    assert main(["follow", "--to", site.url]) == 12
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
    assert site.keys() == []


def test_what_cannot_be_followed(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["follow", "--to", site.url]) == 12
    assert main([*site.words("--once"), "--cut-over"]) == 12
    words = site.words("--once")
    words[words.index("--logs") + 1] = str(site.logs / "none")
    assert main(words) == 12
    assert "no folder" in capsys.readouterr().err


def _spoil(path: Path) -> None:
    """Whoever reads it stumbles."""
    path.write_bytes(b"no log at all".ljust(path.stat().st_size, b"."))


def test_past_logs_are_not_read(site: Site) -> None:
    both = ["--export", str(site.folder / "changes"), "--format", "jsonl"]
    for number in range(6):
        site.arrive(number, range(number, number + 1))
    assert site.once(*both) == 0
    for path in sorted(site.logs.glob("night-[0-3].dat")):
        _spoil(path)
    site.arrive(6, range(6, 7))
    assert site.once(*both) == 0
    assert site.keys() == list(range(7))
    site.arrive(7, range(7, 8))
    _spoil(site.logs / "night-6.dat")
    assert site.once(*both) == 8


def _lacking(site: Site, number: int, key: int, **more: str) -> None:
    """A unit of the next log that lacks a record, or (``INCOMPLETETRANS="N"``) has it."""
    site.log.clock = 5_000 + number
    fields = {"INCOMPLETETRANS": "Y", **more}
    site.log.unit(commit=35_000, **fields).insert(TABLE, (key, 3))


def test_past_logs_before_the_first_unit_that_is_set_aside_are_not_read(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ["--export", str(site.folder / "changes"), "--format", "jsonl"]
    for number in range(6):
        if number == 3:
            _lacking(site, 3, 99)
        site.arrive(number, range(number, number + 1))
    capsys.readouterr()
    assert site.once(*both, "--log-json") == 4
    told = [entry["names"] for entry in events(capsys) if entry["event"] == "no longer needed"]
    assert [[Path(name).stem for name in names] for names in told] == [
        ["night-0", "night-1", "night-2"]
    ]
    for path in sorted(site.logs.glob("night-[0-2].dat")):
        _spoil(path)
    for number in (6, 7):
        site.arrive(number, range(number, number + 1))
        assert site.once(*both) == 4
        assert site.keys() == list(range(number + 1))
    good = (site.logs / "night-3.dat").read_bytes()
    _spoil(site.logs / "night-3.dat")
    site.arrive(8, range(8, 9))
    assert site.once(*both) == 8
    (site.logs / "night-3.dat").write_bytes(good)
    _lacking(site, 3, 99, INCOMPLETETRANS="N")
    site.arrive(9, range(9, 10))
    capsys.readouterr()
    assert site.once(*both, "--log-json") == 0
    assert site.keys() == [*range(10), 99]
    told = [entry["names"] for entry in events(capsys) if entry["event"] == "no longer needed"]
    assert Path(told[-1][-1]).stem == "night-7"


@pytest.mark.parametrize("forgotten", ["target", "export"])
def test_where_nothing_says_which_logs_have_a_unit_all_are_read(site: Site, forgotten: str) -> None:
    out = site.folder / "changes"
    both = ["--export", str(out), "--format", "jsonl"]
    _lacking(site, 3, 99)
    for number in (3, 4, 5):
        site.arrive(number, range(number, number + 1))
    assert site.once(*both) == 4
    manifest = out / "_logreplay" / "000001" / "manifest.json"
    stand = json.loads(manifest.read_text())
    assert len(stand["positions"]["after"].pop("pending_logs")) == 1
    if forgotten == "export":
        manifest.write_text(json.dumps(stand))
    else:
        with closing(sqlite3.connect(site.folder / "testown.db")) as database:
            ((number, told),) = database.execute("select id, position_after from logreplay_run")
            kept = json.loads(told)
            assert len(kept.pop("pending_logs")) == 1
            where = (json.dumps(kept), number)
            database.execute("update logreplay_run set position_after = ? where id = ?", where)
            database.commit()
    good = (site.logs / "night-3.dat").read_bytes()
    _spoil(site.logs / "night-3.dat")
    site.arrive(6, range(6, 7))
    assert site.once(*both) == 8
    (site.logs / "night-3.dat").write_bytes(good)
    assert site.once(*both) == 4
    stand = json.loads((out / "_logreplay" / "000002" / "manifest.json").read_text())
    assert "pending_logs" in stand["positions"]["after"]


def test_a_mark_of_a_target_is_taken_back(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.arrive(0, range(2))
    assert site.once() == 0
    assert main(["mark", "A", "--to", site.url]) == 0
    assert main(["mark", "B", "--to", site.url]) == 0
    assert main(["mark", "--delete", "A", "--to", site.url]) == 0
    capsys.readouterr()
    assert main(["mark", "--to", site.url, "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["B"]
    assert main(["mark", "--delete", "A", "--to", site.url]) == 12
    assert "LR1004 found no mark 'A'" in capsys.readouterr().err
    assert main(["mark", "--delete", "B", "--to", site.url, "--marks", "m.jsonl"]) == 12
