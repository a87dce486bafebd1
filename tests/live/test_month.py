"""A month of hourly logs, simulated at speed, with drawn faults: a target and an export that follow
hold what the site's units left behind after each hour, every unit once.

``LOGREPLAY_MONTH_HOURS`` says how many hours (720 are a month), ``LOGREPLAY_MONTH_SEED`` which.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import psycopg
import pytest

from replay.cli.main import main
from replay.targets import embedded
from tests.support.month import HOUR, HourLog, Month, Row, exported
from tests.support.month_encoders import IndependentEncoder

HOURS = int(os.environ.get("LOGREPLAY_MONTH_HOURS", "26"))
SEED = int(os.environ.get("LOGREPLAY_MONTH_SEED", "1"))
TABLES = """create schema testown;
create table testown.ledger (k integer primary key, v integer not null);
create table testown.stock (k integer primary key, v integer not null, w integer)"""


@pytest.fixture
def server() -> Iterator[str]:
    """A server of its own, for it is brought down."""
    with embedded.server() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(TABLES)
        yield url


class Driver:
    """Writes the logs, breaks things, and compares."""

    def __init__(self, folder: Path, url: str, seed: int) -> None:
        self.draw = random.Random(seed)
        self.month = Month(self.draw, IndependentEncoder(self.draw))
        self.url, self.logs, self.out = url, folder / "logs", folder / "out"
        self.logs.mkdir()
        self.low = 0
        self.made: list[HourLog] = []
        self.unneeded: set[str] = set()
        self.told: list[dict[str, Any]] = []

    # -- following
    # ---------------------------------------------------------------------------------------------

    def words(self, *more: str) -> list[str]:
        where = ["--logs", str(self.logs), "--to", self.url, "--export", str(self.out)]
        how = ["--format", "jsonl", "--schema", "none", "--engine", "local", "--settle", "0"]
        paces = ["--commit-every", str(self.draw.choice((1, 3, 1000))), "--log-json"]
        return ["follow", *where, *how, *paces, *more]

    def once(self, *more: str) -> int:
        """One look; its exit code. What it says is kept."""
        told = io.StringIO()
        with redirect_stdout(told), redirect_stderr(told):
            code = main(self.words("--once", *more))
        lines = told.getvalue().splitlines()
        self.told = [json.loads(line) for line in lines if line.startswith("{")]
        self.said = told.getvalue()
        for entry in self.told:
            if entry["event"] == "no longer needed":
                self.unneeded |= set(entry["names"])
        return code

    def started(self, *more: str, small: int | None = None) -> subprocess.Popen[bytes]:
        """A follower of its own; ``small``: no file may have more octets."""

        def limit() -> None:
            if small is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (small, small))

        words = [sys.executable, "-m", "replay", *self.words(*more)]
        return subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit
        )

    def up_to_date(self, *more: str, codes: tuple[int, ...] = (0, 4)) -> None:
        """Follow until all that has arrived is there, and compare."""
        code = self.once(*more)
        assert code in codes, self.said
        self.compare()

    def compare(self) -> None:
        """The target and the export are what the units that are due make of them."""
        state = self.month.state()
        assert self.target() == state
        assert exported(self.out) == self.month.exported()

    def target(self) -> dict[str, dict[int, Row]]:
        tables: dict[str, dict[int, Row]] = {}
        with psycopg.connect(self.url) as connection:
            for name, columns in (("LEDGER", "k, v"), ("STOCK", "k, v, w")):
                query = f"select {columns} from testown.{name.lower()}"
                rows = connection.execute(query.encode()).fetchall()
                # a row of the first generation of STOCK has two columns
                kept = [row[:2] if row[-1] is None else row for row in rows]
                tables[name] = {row[0]: tuple(row) for row in kept}
        return tables

    # -- logs
    # ---------------------------------------------------------------------------------------------

    def hour(self, hour: int, crossing: int | None = None, lane: int | None = None) -> HourLog:
        """An hour passes; its log, which has not arrived yet."""
        if crossing is None:
            crossing = self.draw.choice((0, 0, 1, 2))
        low = hour * HOUR
        before = self.month.open_at(low) if self.later != "split" else []
        self.month.work(hour, crossing, lane)
        self.later = self.draw.choice(("split", "left", "flagged"))
        if lane is None and self.draw.random() < 0.3:
            low -= self.draw.randrange(1, HOUR // 2)
        log = self.month.log(f"log-{hour:05d}", max(0, low), (hour + 1) * HOUR, self.later, before)
        self.made.append(log)
        return log

    later = "split"

    def arrive(self, *logs: HourLog) -> None:
        for log in logs:
            log.arrive(self.logs)
            self.month.arrived |= log.has

    # -- what goes wrong
    # ---------------------------------------------------------------------------------------------

    def plain(self, hour: int) -> int:
        self.arrive(self.hour(hour))
        self.up_to_date()
        return 1

    def at_once(self, hour: int) -> int:
        """Several logs arrive between two looks, the last one first."""
        logs = [self.hour(hour + number) for number in range(3)]
        self.arrive(*reversed(logs))
        self.up_to_date()
        return 3

    def killed(self, hour: int) -> int:
        """The program is killed at a drawn moment, again and again."""
        self.arrive(self.hour(hour))
        for _ in range(2):
            process = self.started("--every", "1")
            time.sleep(self.draw.uniform(0.6, 2.2))
            process.send_signal(signal.SIGKILL)
            process.communicate()
        self.up_to_date()
        return 1

    def late(self, hour: int) -> int:
        """A log comes behind a later one."""
        if self.month.open_at(hour * HOUR):
            return self.plain(hour)
        first, second = self.hour(hour, 0, 0), self.hour(hour + 1, 0, 1)
        self.arrive(second)
        assert self.once() in (0, 4), self.said
        before = set(self.logs.iterdir())
        self.arrive(first)
        assert self.once() == 8, self.said
        assert "LR2039" in self.said
        self.start_over(set(self.logs.iterdir()) - before)
        self.up_to_date()
        return 2

    def start_over(self, files: set[Path]) -> None:
        """Do what was said of a log that came behind later ones, of these files."""
        because = " ".join(entry["because"] for entry in self.told if "because" in entry)
        aside = self.out.parent / "aside"
        aside.mkdir(exist_ok=True)
        for path in files:
            path.rename(aside / path.name)
        (point,) = set(re.findall(r"--until-position ([0-9A-F]{20})", because))
        log = ["--logs", str(self.logs), "--schema", "none", "--engine", "local"]
        back = ["replay", *log, "--to", self.url, "--until-position", point, "--apply"]
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            assert main(back) in (0, 4)
        for path in files:
            (aside / path.name).rename(path)
        (number,) = set(re.findall(r"--grow --back-to (\d+)", because))
        export = ["export", *log, "--out", str(self.out), "--format", "jsonl", "--grow"]
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            assert main([*export, "--back-to", number]) in (0, 4)

    def repeated(self, hour: int) -> int:
        """A log is there a second time, under another name, and then the next."""
        if self.made:
            again = self.draw.choice(self.made[-3:])
            again.arrive(self.logs, f"again-{hour:05d}")
            self.up_to_date()
        return self.plain(hour)

    def repeated_longer(self, hour: int) -> int:
        """A scan is run again from the same start, up to a later end."""
        self.arrive(self.hour(hour, 0))
        self.up_to_date()
        self.month.work(hour + 1, 0)
        log = self.month.log(f"log-{hour:05d}-again", hour * HOUR, (hour + 2) * HOUR, "split")
        self.later = "split"
        self.arrive(log)
        self.up_to_date()
        return 2

    def truncated(self, hour: int) -> int:
        """A log ends within a record, and is sent again. (Where it ends between two records, it
        cannot be told from a whole one: nothing counts the records of a log.)"""
        log = self.hour(hour)
        end = self.draw.choice([end for end in range(100, len(log.data)) if end not in log.ends])
        log.arrive(self.logs, data=log.data[:end])
        assert self.once() == 8, self.said
        self.compare()
        self.arrive(log)
        self.up_to_date()
        return 1

    def damaged(self, hour: int) -> int:
        """A row is damaged, so its unit is set aside, until the log is sent again."""
        log = self.hour(hour)
        data = bytearray(log.data)
        data[log.images] ^= 0x7F  # their length
        log.arrive(self.logs, data=bytes(data))
        assert self.once() == 8, self.said
        self.arrive(log)
        self.up_to_date()
        return 1

    def target_crashes(self, hour: int) -> int:
        """A process of the server is killed, so it ends all sessions and recovers."""
        self.arrive(self.hour(hour))
        process = self.started("--every", "1")
        time.sleep(self.draw.uniform(0.6, 2.0))
        with psycopg.connect(self.url) as connection:
            os.kill(connection.info.backend_pid, signal.SIGKILL)
        time.sleep(self.draw.uniform(0.0, 1.0))
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[0]
        assert process.returncode in (0, -signal.SIGTERM), said
        self.up_to_date()
        return 1

    def disk_full(self, hour: int) -> int:
        """No file can be written to its end, for a while."""
        self.arrive(self.hour(hour))
        process = self.started("--once", small=self.draw.randrange(1, 4000))
        said = process.communicate(timeout=60)[0].decode()
        assert process.returncode == 8, said
        assert "Traceback" not in said
        self.up_to_date()
        return 1

    def pruned(self, hour: int) -> int:
        """Logs that nobody needs any more are removed."""
        for name in self.unneeded:
            for path in self.logs.glob(f"{Path(name).stem}.*"):
                path.unlink()
        self.unneeded.clear()
        self.up_to_date()
        return self.plain(hour)

    def generation(self, hour: int) -> int:
        """A table is dropped and created again with other columns."""
        if self.month.widths["STOCK"] == 3 or self.month.open_at(hour * HOUR):
            return self.plain(hour)
        self.month.new_generation(hour)
        return self.plain(hour)

    def paused(self, hour: int) -> int:
        """Logs arrive while the folder is paused."""
        before = self.target()
        with redirect_stdout(io.StringIO()):
            assert main(["pause", str(self.logs)]) == 0
        self.arrive(self.hour(hour))
        assert self.once() == 0, self.said
        assert self.target() == before
        with redirect_stdout(io.StringIO()):
            assert main(["resume", str(self.logs)]) == 0
        self.up_to_date()
        return 1


FAULTS = (
    *("plain", "at_once", "killed", "late", "repeated", "repeated_longer", "truncated", "damaged"),
    *("target_crashes", "disk_full", "pruned", "generation", "paused"),
)


def live_through(driver: Driver, hours: int, faults: Sequence[str]) -> None:
    """So many hours, in which all of the faults come in a drawn order, again and again."""
    hour, left, seen = 0, list[str](), Counter[str]()
    while hour < hours:
        if not left:
            left = driver.draw.sample(faults, len(faults))
        fault = left.pop()
        seen[fault] += 1
        try:
            hour += getattr(driver, fault)(hour)
        except Exception as error:
            error.add_note(f"seed {SEED}, hour {hour}: {fault}, after {', '.join(seen)}")
            raise
    driver.arrive(driver.hour(hour, 0))
    driver.up_to_date()
    assert len(driver.month.due()) == len(driver.month.units)
    assert hours < 2 * len(faults) or not set(faults) - set(seen)


@pytest.mark.long
def test_a_month_of_logs_with_drawn_faults(tmp_path: Path, server: str) -> None:
    live_through(Driver(tmp_path, server, SEED), HOURS, FAULTS)
