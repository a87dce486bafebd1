"""Folders of many small logs: which files are opened, and how often."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support.cutlogs import write_pair
from tests.support.logbuilder import ACCT, LogBuilder, acct, frame, lrsn

STEP = 1000
#: Runs a command and says what it opened.
PROGRAM = """
import json, sys
opened = []
sys.addaudithook(lambda event, facts: opened.append(str(facts[0])) if event == "open" else None)
from replay.cli.main import main
code = main(sys.argv[1:])
print()
print(json.dumps([code, [name for name in opened if name.endswith((".ctl", ".dat"))]]))
"""


def make_logs(folder: Path, count: int, lacking: int | None = None) -> None:
    """Logs of one unit each; that of the log ``lacking`` is marked as incomplete."""
    folder.mkdir()
    log = LogBuilder()
    for number in range(count):
        log.clock = number * STEP
        mark = {"INCOMPLETETRANS": "Y"} if number == lacking else {}
        log.unit(commit=number * STEP + 900, **mark).insert(ACCT, acct(number))
        raw = frame(log.control_records(), "rdw")
        write_pair(folder, f"n{number:04d}", raw, log.records(), lrsn((number + 1) * STEP))
        log.changes.clear()


def opened_by(*words: str | Path) -> Counter[str]:
    """How often each file of a log was opened, by its name."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, words)], capture_output=True, text=True
    )
    code, opened = json.loads(done.stdout.splitlines()[-1])
    assert code in (0, 4), done.stderr
    return Counter(Path(name).name for name in opened)


@pytest.mark.long
@pytest.mark.parametrize("command", ["redo", "inspect"])
def test_a_file_is_opened_as_often_however_many_there_are(command: str, tmp_path: Path) -> None:
    most = []
    for count in (280, 350):  # more than are kept mapped
        logs = tmp_path / str(count)
        make_logs(logs, count)
        more = ["--out", tmp_path / f"out{count}", "--dialect", "postgres", "--engine", "local"]
        opened = opened_by(command, "--logs", logs, *(more if command == "redo" else []))
        assert len(opened) == 2 * count
        most.append(max(opened.values()))
    assert most[1] <= most[0] <= 12


@pytest.mark.long
@pytest.mark.parametrize("lacking", [None, 290])
def test_one_more_log_opens_few_others(lacking: int | None, tmp_path: Path) -> None:
    count, logs, later = 300, tmp_path / "logs", tmp_path / "later"
    make_logs(logs, count + 3, lacking)
    later.mkdir()
    names = sorted(path.name for path in logs.iterdir())
    for name in names[2 * count :]:
        (logs / name).rename(later / name)
    follow = ["follow", "--logs", logs, "--export", tmp_path / "out", "--format", "jsonl"]
    follow += ["--once", "--settle", "0", "--engine", "local"]
    first = opened_by(*follow)
    data = [name for name in names if name.endswith(".dat")]
    assert {name for name in first if name.endswith(".dat")} == set(data[:count])
    for number in range(count, count + 3):
        for name in names[2 * number : 2 * number + 2]:
            (later / name).rename(logs / name)
        opened = opened_by(*follow)
        begin = number - 2 if lacking is None else lacking
        read = {name for name in opened if name.endswith(".dat")}
        assert {name for name in read if opened[name] > 1} == set(data[begin : number + 1])
        past = [opened[name] for name in opened if name < data[begin].replace(".dat", "")]
        assert max(past) <= 4
