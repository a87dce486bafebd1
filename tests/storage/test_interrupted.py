"""Ctrl-C while a store is silent: a run ends within seconds, in one line, with what it had in the
store removed as far as the store timeouts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

from replay.storage import timeouts
from tests.support.gated_store import gated_store
from tests.support.places import FIXTURES, ROOT

#: Seconds in which a run ends that was interrupted; the library for S3 itself takes 100.
WITHIN = 90

Stalls = Callable[[dict[str, Any]], bool]


@dataclass
class Gate:
    """An S3 server that stops answering requests of a kind."""

    system: fs.FileSystem
    stalls: list[Stalls]
    stalled: threading.Event
    bucket: str

    def names(self) -> list[str]:
        selector = fs.FileSelector(f"{self.bucket}/out", allow_not_found=True, recursive=True)
        return [info.path for info in self.system.get_file_info(selector)]


@pytest.fixture
def gate() -> Iterator[Gate]:
    stalls: list[Stalls] = []
    end, stalled = threading.Event(), threading.Event()

    def stall(environ: dict[str, Any], _: Any) -> None:
        if any(wanted(environ) for wanted in stalls):
            stalled.set()
            end.wait(300)

    with gated_store("silent", stall) as (system, bucket):
        for name in ("incomplete.ctl", "incomplete.dat"):
            with system.open_output_stream(f"{bucket}/in/{name}") as out:
                out.write((FIXTURES / "incomplete" / "log" / name).read_bytes())
        yield Gate(system, stalls, stalled, bucket)
        end.set()


def _range(environ: dict[str, Any]) -> bool:
    return "HTTP_RANGE" in environ and environ["PATH_INFO"].endswith(".dat")


def _written(environ: dict[str, Any]) -> bool:
    return environ["REQUEST_METHOD"] in ("PUT", "POST") and ".sql" in environ["PATH_INFO"]


def stopped(gate: Gate, words: list[str], work: Path, sign: signal.Signals) -> tuple[str, str, int]:
    """What a command says (stdout, stderr) that gets a signal half a second after the store fell
    silent, and its exit code; ``work``: where it has its temporary files."""
    with subprocess.Popen(
        [sys.executable, "-m", "replay", *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(work)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # in a shell's background SIGINT is ignored, and who is started there ignores it too
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        try:
            assert gate.stalled.wait(120)
            time.sleep(0.5)
            process.send_signal(sign)
            said, wrong = process.communicate(timeout=WITHIN)
        finally:
            process.kill()
    return said, wrong, process.returncode


@pytest.mark.long
@pytest.mark.parametrize(
    "stalls", [lambda _: True, _range, _written], ids=["all", "ranges", "writes"]
)
def test_ctrl_c_while_a_store_is_silent(gate: Gate, tmp_path: Path, stalls: Stalls) -> None:
    gate.stalls.append(stalls)
    log, out = f"s3://{gate.bucket}/in/incomplete", f"s3://{gate.bucket}/out"
    words = ["redo", f"--control={log}.ctl", f"--data={log}.dat", f"--out={out}"]
    words += ["--engine=local", "--ri=apply"]
    said, wrong, code = stopped(gate, words, tmp_path, signal.SIGINT)
    assert said == ""
    lines = [line for line in wrong.splitlines() if not line.startswith("note: ")]
    assert lines == ["logreplay: interrupted; nothing was published"]
    assert code == 130
    assert list(tmp_path.iterdir()) == []
    gate.stalls.clear()
    left = gate.names()
    assert not any("manifest" in name for name in left)
    if stalls is not _written:
        assert left == []


@pytest.mark.long
@pytest.mark.parametrize("stalls", [lambda _: True, _range], ids=["all", "ranges"])
def test_follow_is_told_to_stop_while_a_store_is_silent(
    gate: Gate, tmp_path: Path, stalls: Stalls
) -> None:
    """It ends as ever, and so does its time to wait for the store."""
    gate.stalls.append(stalls)
    work = tmp_path / "work"
    work.mkdir()
    words = ["follow", "--logs", f"s3://{gate.bucket}/in", "--export", str(tmp_path / "out")]
    words += ["--arrival=stable", "--settle=0", "--every=1"]
    said, wrong, code = stopped(gate, words, work, signal.SIGTERM)
    assert "stopped" in said.splitlines()[-1]
    assert code == 0, wrong
    assert "defect" not in wrong
    assert list(work.iterdir()) == []
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_calls_of_a_run_that_is_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may take so long; where one gave no answer, no other is waited for at all."""
    asked, never, again = threading.Event(), threading.Event(), threading.Event()
    monkeypatch.setattr(timeouts, "PATIENCE", 600.0)
    monkeypatch.setattr(timeouts, "HURRY", 600.0)
    failed: list[OSError] = []

    def silent() -> None:
        asked.set()
        never.wait()

    def wait() -> None:
        try:
            timeouts.answered("s3://a", silent)
        except OSError as error:
            failed.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    asked.wait()
    try:
        timeouts.hurry(True)
        assert timeouts.answered("s3://a", lambda: 1) == 1
        monkeypatch.setattr(timeouts, "HURRY", 0.5)
        with pytest.raises(OSError, match="no answer"):
            timeouts.answered("s3://a", never.wait)
        waiting.join(300)
        assert len(failed) == 1
        monkeypatch.setattr(timeouts, "HURRY", 600.0)
        with pytest.raises(OSError, match="no answer"):
            timeouts.answered("s3://a", lambda: 1)
        assert timeouts.unanswered() == 2
    finally:
        timeouts.hurry(False)
        never.set()
    while timeouts.unanswered():
        time.sleep(0.01)
    monkeypatch.setattr(timeouts, "PATIENCE", 0.1)
    with pytest.raises(OSError, match="no answer"):
        timeouts.answered("s3://a", again.wait)
    assert timeouts.unanswered() == 1
    again.set()
    monkeypatch.undo()
    assert timeouts.answered("s3://a", lambda: 1) == 1
