"""Ctrl-C while a store is silent: a run ends within seconds, in one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from replay.storage import timeouts
from tests.support.gated_store import gated_store
from tests.support.places import FIXTURES, ROOT

#: Seconds in which a run ends that was interrupted; the library for S3 itself takes 100.
WITHIN = 90


@dataclass
class Gate:
    """An S3 server that answers nothing while it is ``silent``."""

    bucket: str = ""
    silent: bool = False
    stalled: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def gate() -> Iterator[Gate]:
    made, end = Gate(), threading.Event()

    def stall(*_: Any) -> None:
        if made.silent:
            made.stalled.set()
            end.wait(300)

    with gated_store("silent", stall) as (system, made.bucket):
        for name in ("incomplete.ctl", "incomplete.dat"):
            with system.open_output_stream(f"{made.bucket}/in/{name}") as out:
                out.write((FIXTURES / "incomplete" / "log" / name).read_bytes())
        made.silent = True
        yield made
        end.set()


@pytest.mark.long
def test_ctrl_c_while_a_store_is_silent(gate: Gate, tmp_path: Path) -> None:
    """Half a second after the store fell silent."""
    log, out = f"s3://{gate.bucket}/in/incomplete", f"s3://{gate.bucket}/out"
    words = ["redo", f"--control={log}.ctl", f"--data={log}.dat", f"--out={out}"]
    words += ["--engine=local", "--ri=apply"]
    with subprocess.Popen(
        [sys.executable, "-m", "replay", *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # in a shell's background SIGINT is ignored, and who is started there ignores it too
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        try:
            assert gate.stalled.wait(120)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            said, wrong = process.communicate(timeout=WITHIN)
        finally:
            process.kill()
    assert said == ""
    lines = [line for line in wrong.splitlines() if not line.startswith("note: ")]
    assert lines == ["logreplay: interrupted; nothing was published"]
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []


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


def test_ctrl_c_before_the_program_is_loaded() -> None:
    """While the command looks for its packages: it ended in a traceback."""
    pressed = "class Pressed:\n def find_spec(name, *rest): raise KeyboardInterrupt\n"
    start = "import sys, importlib.util, logreplay_command\nsys.meta_path.insert(0, Pressed)\n"
    words = [sys.executable, "-c", f"{pressed}{start}sys.exit(logreplay_command.main())"]
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (130, "logreplay: interrupted; nothing was published\n")
