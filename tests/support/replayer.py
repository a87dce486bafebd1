"""A process that replays for the kill tests: it reads one job a line, forks, and says how the child
ended. The child kills itself (SIGKILL) at the point that the job names; this process has no
threads, so forking is safe and costs no start-up.

A job: ``{"url", "control", "data", "until", "commit_every", "point", "times"}``; with ``point``
null the ``times``-th point of any name counts, with ``times`` 0 the child lives. With ``"bulk"``
rows come in together; ``"mapping"`` is the file of one. The answer: the exit code, or minus the
signal.

``"blow"`` names what happens at the point where it is not the client that is killed: ``server``
(the backend is, so PostgreSQL restarts), ``connection`` (the server ends it), ``answer`` (it ends
it when it has carried out the commit that follows), ``in flight`` (the client is killed while that
commit waits). The answer is 98 where such a point was never reached.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from replay.changes.options import ScriptOptions
from replay.changes.position import Position
from replay.changes.selection import Selection
from replay.engine import local
from replay.live import preflight
from replay.live import replay as live
from replay.live.route import Destination
from replay.live.transaction_size import ApplyMode, Pace
from replay.logs.logmaster.opening import open_log
from replay.pipeline.mapped_catalog import mapped_log, mapping_file, table_map
from replay.targets import Session, Target, target_of
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Constraints

#: The answer where the point of a blow was never reached.
MISSED = 98
#: Statements that tell a session's number, end that session, and ask whether it is still there.
ENDING = {
    "postgres": (
        "SELECT pg_backend_pid()",
        "SELECT pg_terminate_backend({})",
        "SELECT 1 FROM pg_stat_activity WHERE pid = {}",
    ),
    "mysql": (
        "SELECT CONNECTION_ID()",
        "KILL {}",
        "SELECT 1 FROM information_schema.processlist WHERE id = {}",
    ),
}
ENDING["mariadb"] = ENDING["mysql"]
IN_FLIGHT = ENDING["postgres"][2] + " AND wait_event = 'SyncRep'"


class Blow:
    """What happens to a replay at the ``times``-th ``point`` (None: any)."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.url, self.how = job["url"], job.get("blow", "client")
        self.point, self.times = job["point"], job["times"]
        self.passed = count(1)
        self.missed = "blow" in job
        self.session: Session | None = None

    def reached(self, point: str) -> None:
        """Strike, if this is the place."""
        if self.point not in (None, point) or next(self.passed) != self.times:
            return
        self.missed = False
        session = self.session
        if self.how == "client" or session is None:
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.how == "server":
            os.kill(self._number(session), signal.SIGKILL)
        elif self.how == "connection":
            self._end(session)
        else:
            losing = self._lose_answer if self.how == "answer" else self._die_in_flight
            commit = session.commit
            vars(session)["commit"] = lambda: losing(session, commit)

    def _lose_answer(self, session: Session, commit: Callable[[], None]) -> None:
        commit()
        self._end(session)
        commit()

    def _die_in_flight(self, session: Session, commit: Callable[[], None]) -> None:
        number = self._number(session)
        session.execute("SET LOCAL synchronous_commit = on")

        def kill() -> None:
            other = target_of(self.url).connect(self.url)
            while not other.query(IN_FLIGHT.format(number)):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGKILL)

        threading.Thread(target=kill).start()
        commit()

    @staticmethod
    def _number(session: Session) -> int:
        return int(session.query(ENDING[session.dialect][0])[0][0])

    def _end(self, session: Session) -> None:
        """Have the server end a session; come back when it is gone."""
        _, end, there = (text.format(self._number(session)) for text in ENDING[session.dialect])
        with closing(target_of(self.url).connect(self.url)) as other:
            other.execute(end)
            while other.query(there):
                time.sleep(0.01)


@dataclass(frozen=True)
class StruckRequest(live.ReplayRequest):
    """A request whose session a blow can reach."""

    blow: Blow = field(kw_only=True)

    def connect_locked(self, target: Target) -> Session:
        session = super().connect_locked(target)
        self.blow.session = session
        return session


def replay(job: dict[str, Any]) -> int:
    """Carry out a job; does not come back from the point where it is to die."""
    blow = Blow(job)
    log = open_log(job["control"], [job["data"]], scratch=job["scratch"])
    until = None if job["until"] is None else Position.from_hex(job["until"])
    # tried until a busy machine has recovered its database
    pace = Pace(units=job["commit_every"], wait=0.05, tries=14)
    if job.get("bulk"):
        pace = replace(pace, mode=ApplyMode.BULK)
    request = StruckRequest(
        job["url"], True, Destination(until), pace=pace, reached=blow.reached, blow=blow
    )
    options = ScriptOptions(
        dialect=target_of(job["url"]).dialect, render=RenderOptions(where_columns="guard")
    )
    if named := mapping_file(job.get("mapping"), None):
        mapping = table_map(named, log, options, True, True)
        log, options = mapped_log(log, mapping), replace(options, mapping=mapping)
    work = live.ReplayInput(log, Selection(), options, Constraints(), local.ENGINE)
    code = live.run(work, request, lambda _: blow.reached("told"), lambda *_: None)
    return MISSED if blow.missed else code


preflight.LOCK_SECONDS = 300.0  # as long as a busy server needs to miss a client that was killed


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
