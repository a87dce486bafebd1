"""CPU seconds and memory of this process and all below it, read from Linux's /proc."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import defaultdict
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> tuple[str, int, float] | None:
    """(command, parent, CPU seconds) of a process; None when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    command, rest = (
        text[text.index("(") + 1 : text.rindex(")")],
        text[text.rindex(")") + 2 :].split(),
    )
    return command, int(rest[1]), (int(rest[11]) + int(rest[12])) / TICK


def _anonymous(pid: int) -> int:
    """Bytes of memory that a process has for itself."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) << 10
    return 0


def family() -> dict[int, tuple[str, float]]:
    """This process and all below it: (what it is, CPU seconds)."""
    processes = {
        int(entry): stat
        for entry in os.listdir("/proc")
        if entry.isdigit() and (stat := _stat(int(entry))) is not None
    }
    known = {os.getpid()}
    size = 0
    while len(known) > size:
        size = len(known)
        known |= {pid for pid, (_, parent, _) in processes.items() if parent in known}
    return {
        pid: (_kind(pid, processes[pid][0]), processes[pid][2]) for pid in known if pid in processes
    }


def _kind(pid: int, command: str) -> str:
    if pid == os.getpid():
        return "driver"
    return "java" if command == "java" else "python"


class Watch:
    """Looks at all processes five times a second. The CPU seconds of each are kept when it ends:
    not every process waits for its children, so that nobody else can be asked for them. What the
    looking takes itself is left out: it grows with the time on the clock and the machine's
    processes. Of memory: the most that all of a kind had at one time, and the most that one process
    had.
    """

    def __init__(self) -> None:
        self.together: dict[str, int] = {}
        self.one: dict[str, int] = {}
        self._seconds: dict[int, tuple[str, float]] = {}
        #: CPU seconds that the looking took.
        self.own = 0.0
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._look()  # what took no time is seen too

    def cpu(self) -> dict[str, float]:
        """CPU seconds so far by kind of process."""
        with self._lock:
            self._seconds.update(family())
            total: dict[str, float] = defaultdict(float)
            for kind, seconds in self._seconds.values():
                total[kind] += seconds
            total["driver"] -= self.own
            return dict(total)

    def _watch(self) -> None:
        while not self._done.wait(0.2):
            self._look()
            self.own = time.thread_time()

    def _look(self) -> None:
        there = family()
        with self._lock:
            self._seconds.update(there)
        now: dict[str, list[int]] = defaultdict(list)
        for pid, (kind, _) in there.items():
            now[kind].append(_anonymous(pid))
        for kind, sizes in now.items():
            self.together[kind] = max(self.together.get(kind, 0), sum(sizes))
            self.one[kind] = max(self.one.get(kind, 0), *sizes)
