"""What a look at a folder of many small logs costs, for ``follow`` and streams: CPU seconds and
memory of the first look and of the next ones, with ever more past logs.

    python scripts/bench_looks.py --logs 100 1000 10000 --dir FOLDER

Run it from the clone. Each log has one unit of recovery. Where looks are as they should be, ten
times the logs cost ten times the CPU, and never more.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from replay.frames.options import read_options
from replay.frames.stream import Stream
from tests.support.cutlogs import with_end
from tests.support.logbuilder import ACCT, LogBuilder, acct, frame, lrsn

#: Positions from the commit of one unit to that of the next.
STEP = 1000


def make_logs(folder: Path, count: int, lacking: int | None = None) -> None:
    """So many logs of one unit each; the unit of the log ``lacking`` is marked as incomplete."""
    folder.mkdir(parents=True)
    log = LogBuilder()
    for number in range(count):
        log.clock = number * STEP
        mark: dict[str, Any] = {"INCOMPLETETRANS": "Y"} if number == lacking else {}
        unit = log.unit(commit=(number + 1) * STEP, **mark)
        unit.insert(ACCT, acct(number))
        unit.update(ACCT, acct(number), acct(number, "ZZ"))
    control, records = frame(log.control_records(), "rdw"), log.records()
    for number in range(count):
        end = lrsn((number + 1) * STEP + 10)
        (folder / f"n{number:05d}.ctl").write_bytes(with_end(control, end))
        data = frame(records[2 * number : 2 * number + 2], "rdw")
        (folder / f"n{number:05d}.dat").write_bytes(data)


def looks(folder: Path, work: str) -> tuple[float, float, int]:
    """CPU seconds of the first look and of a next one, and how many logs were seen."""
    options = read_options({"logs": str(folder), "rows": "changes", "arrival": "rename"})
    stream = Stream(options, work)
    begin = time.process_time()
    seen = len(stream.logs())
    middle = time.process_time()
    stream.logs()
    return middle - begin, time.process_time() - middle, seen


def main(words: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--dir", type=Path, required=True, help="where the logs are made")
    arguments = parser.parse_args(words)
    print(f"{'logs':>8}  {'first look':>12}  {'next look':>12}  {'memory':>8}")
    for count in arguments.logs:
        folder = arguments.dir / str(count)
        make_logs(folder, count)
        with tempfile.TemporaryDirectory() as work:
            first, then, seen = looks(folder, work)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        print(f"{seen:>8,}  {first:>10.2f} s  {then:>10.3f} s  {memory:>5} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
