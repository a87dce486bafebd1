"""What Java and Spark's Python workers say on their standard error, without what nobody needs to
know: greetings at the start, and tracebacks of workers whose run was ended on purpose."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import cast

#: Lines that Java and Spark print whatever happens.
_GREETINGS = (
    "WARNING: Using incubator modules",
    "Setting default log level to",
    "To adjust logging level use",
    "Using Spark's default log4j profile",
    "Picked up JAVA_TOOL_OPTIONS",
    "Picked up _JAVA_OPTIONS",
    "NOTE: Picked up JDK_JAVA_OPTIONS",
    # of spark.executor.pyspark.memory, in each worker
    "Setting mem limits to",
    "Current mem limits:",
)
_TRACEBACK = "Traceback (most recent call last)"
#: How the traceback of a process ends whose other side went away, or that was interrupted.
_EXPECTED = (
    "KeyboardInterrupt",
    "BrokenPipeError",
    "ConnectionResetError",
    "EOFError",
    "SystemExit",
)
#: What Spark says of executors of a standalone cluster that ended (see log4j2.properties).
_EXECUTORS = re.compile(
    r"[\d:]+ spark ERROR (?:StandaloneSchedulerBackend|StandaloneAppClient\$ClientEndpoint):"
    r" (?:Application has been killed\. Reason: )?(.*)"
)
#: The executor's number says nobody anything.
_UPDATED = re.compile(r"Executor updated: \S+ is now (\w+) \((.*)\)")
#: After that Spark says nothing new: what it said before is why.
_AT_LAST = "Master removed our application"
#: Seconds within which a process is gone once it does not answer any more.
_GOING = 5
_BETWEEN = re.compile(r"\s|During handling of|The above exception|\^|$")


def worth_saying(lines: Iterable[str]) -> Iterator[str]:
    """The lines without greetings, and without tracebacks that end in an expected exception."""
    held: list[str] = []
    for line in lines:
        text = line.rstrip("\n")
        if held:
            held.append(line)
            if _BETWEEN.match(text) or text.startswith(_TRACEBACK):
                continue
            if not text.startswith(_EXPECTED):
                yield from held
            held = []
        elif text.startswith(_TRACEBACK):
            held = [line]
        elif text and not text.startswith(_GREETINGS):
            yield line
    if held and not any(line.startswith(_EXPECTED) for line in held):
        yield from held


class QuietPipe:
    """A place for a process to write its errors to; what is :func:`worth_saying` goes on to ours,
    until :meth:`hush`. ``executors`` is the last that was said of these, which is for an error to
    say, and ``ended`` how many of a standalone cluster ended; ``process``: the process, once it is
    known."""

    def __init__(self) -> None:
        self.executors, self.ended = "", 0
        self.process = cast("subprocess.Popen[bytes] | None", None)
        self._read, self.write = os.pipe()
        self._hushed = threading.Event()
        threading.Thread(target=self._pass_on, daemon=True, name="java-words").start()

    def started(self) -> None:
        """The process has it; we do not write to it."""
        os.close(self.write)

    def hush(self) -> None:
        """The run is over: pass nothing on any more."""
        self._hushed.set()

    def has_ended(self) -> bool:
        """Whether the process, which did not answer, is gone, or goes within some seconds."""
        if self.process is None:
            return False
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_GOING)
        return self.process.poll() is not None

    def kill(self) -> None:
        """End the process, which waits for something that does not come."""
        if self.process is not None:
            self.process.kill()

    def _pass_on(self) -> None:
        with os.fdopen(self._read, encoding="utf-8", errors="replace") as lines:
            for line in worth_saying(lines):
                if found := _EXECUTORS.match(line):
                    said, ended = _UPDATED.subn(r"executor \1: \2", found[1].strip())
                    self.ended += ended
                    why = self.executors if said.startswith(_AT_LAST) else ""
                    self.executors = ": ".join(filter(None, [said, why])) or self.executors
                elif not self._hushed.is_set():
                    sys.stderr.write(line)
                    sys.stderr.flush()
