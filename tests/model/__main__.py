"""``python -m tests.model``: histories from seeds, and what logreplay makes of their logs."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.model import special
from tests.model.checks import ALL_CHECKS, KINDS_OF, Options, run_case
from tests.model.histories import KINDS

#: Where there is one, the logs are written there: most of the work is small files.
MEMORY = "/dev/shm"

Job = tuple[str, int, str, tuple[str, ...], tuple[str, ...]]
Result = tuple[int, list[tuple[str, str, str]], str]


def run(job: Job) -> Result:
    """One case, in a process of its own or in this one."""
    family, seed, kind, checks, targets = job
    if kind in special.SPECIAL:
        verdicts, text = [*special.SPECIAL[kind](seed)], ""
    else:
        verdicts, text = run_case(family, seed, kind, checks, Options(targets=targets))
    return seed, [(one.check, one.result, one.detail) for one in verdicts], text


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.model", description=__doc__)
    parser.add_argument("--family", default="logmaster", choices=KINDS_OF)
    parser.add_argument("--seeds", type=int, default=100, help="how many, for every kind")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--kinds", default="default", help="default, special, or names with commas")
    parser.add_argument("--check", default="all", help="all, or names with commas")
    parser.add_argument("--targets", default="sqlite", help="sqlite, duckdb, postgres")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="show the kinds and the checks")
    return parser


def say(text: str = "") -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(argv: list[str] | None = None) -> int:
    """Run the cases and say how many hold; 1 where one does not."""
    options = arguments().parse_args(argv)
    if Path(MEMORY).is_dir():
        tempfile.tempdir = MEMORY
    if options.list:
        for kind, meaning in KINDS.items():
            say(f"{'*' if kind in KINDS_OF[options.family] else ' '} {kind:18} {meaning}")
        for name, check in ALL_CHECKS.items():
            say(f"  --check {name:14} {(check.__doc__ or '').splitlines()[0]}")
        return 0
    kinds = {
        "default": KINDS_OF[options.family],
        "special": [kind for kind in special.SPECIAL if kind.startswith(options.family)],
    }.get(options.kinds, options.kinds.split(","))
    checks = tuple(ALL_CHECKS if options.check == "all" else options.check.split(","))
    seeds = range(options.first, options.first + options.seeds)
    bad = 0
    for kind in kinds:
        targets = tuple(options.targets.split(","))
        jobs = [(options.family, seed, kind, checks, targets) for seed in seeds]
        began = time.perf_counter()
        if options.processes > 1:
            with ProcessPoolExecutor(options.processes) as pool:
                results: Iterable[Result] = list(pool.map(run, jobs, chunksize=4))
        else:
            results = [run(job) for job in jobs]
        bad += told(kind, [*results], time.perf_counter() - began)
    return 1 if bad else 0


def told(kind: str, results: list[Result], seconds: float) -> int:
    """A line for a kind, one for each check that does not hold, and the shortest story of it."""
    failing: dict[tuple[str, str], list[tuple[int, int, str, str]]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for seed, verdicts, text in results:
        for check, result, detail in verdicts:
            counts[check, result] += 1
            if result != "ok":
                failing.setdefault((check, result), []).append((len(text), seed, detail, text))
    failed = {seed for cases in failing.values() for _, seed, _, _ in cases}
    seen = f"{counts.total()} comparisons in {seconds:.0f} s"
    say(f"{kind}: {len(results) - len(failed)} of {len(results)} seeds hold; {seen}")
    for (check, result), cases in sorted(failing.items()):
        numbers = " ".join(str(seed) for _, seed, _, _ in sorted(cases, key=lambda c: c[1])[:8])
        say(f"  {check}: {result} {len(cases)}, ok {counts[check, 'ok']}; seeds {numbers}")
        _, seed, detail, text = min(cases)
        say("    " + f"seed {seed}: {detail}".replace("\n", "\n      "))
        say("      | " + text.replace("\n", "\n      | "))
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
