"""A process that replays for the kill tests: it reads one job a line, forks, and says how the child
ended. The child kills itself (SIGKILL) at the point that the job names; this process has no
threads, so forking is safe and costs no start-up.

A job: ``{"url", "control", "data", "until", "commit_every", "merged", "sessions", "point",
"times"}``; ``merged`` statements are folded together (0: strict order); with ``point`` null the
``times``-th point of any name counts, with ``times`` 0 the child lives. With ``"exchange"`` the
scripts, of 2,000 records each, lie below that URL. The answer: the exit code, or minus the signal.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from dataclasses import replace
from itertools import count
from typing import Any

from replay.changes.options import ScriptOptions
from replay.changes.position import Position
from replay.changes.selection import Selection
from replay.live import replay as live
from replay.live.pace import ApplyMode, Pace
from replay.live.route import Destination
from replay.logs.logmaster.opening import open_log
from replay.pipeline import local
from replay.targets import target_of
from sqlgen.constraints import Constraints
from sqlgen.render_options import RenderOptions


def replay(job: dict[str, Any]) -> int:
    """Carry out a job; does not come back from the point where it is to die."""
    passed = count(1)

    def reached(point: str) -> None:
        if job["point"] in (None, point) and next(passed) == job["times"]:
            os.kill(os.getpid(), signal.SIGKILL)

    log = open_log(job["control"], [job["data"]], scratch=job["scratch"])
    until = None if job["until"] is None else Position.from_hex(job["until"])
    pace = Pace(units=job["commit_every"], wait=0.05, sessions=job["sessions"])
    if job.get("bulk"):
        pace = replace(pace, mode=ApplyMode.BULK)
    if job["merged"]:
        pace = replace(pace, mode=ApplyMode.MERGED, merged_statements=job["merged"])
    request = live.ReplayRequest(job["url"], True, Destination(until), pace=pace, reached=reached)
    options = ScriptOptions(
        dialect=target_of(job["url"]).dialect, render=RenderOptions(where_columns="guard")
    )
    engine = local.ENGINE
    if job.get("exchange"):
        engine = replace(engine, exchange=job["exchange"])
        options = replace(options, records_per_file=2000)
    work = live.ReplayInput(log, Selection(), options, Constraints(), engine)
    return live.run(work, request, lambda _: None, lambda *_: None)


for line in sys.stdin:
    child = os.fork()
    if not child:
        code = 99
        try:
            code = replay(json.loads(line))
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            sys.stderr.flush()
            os._exit(code)
    sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
    sys.stdout.flush()
