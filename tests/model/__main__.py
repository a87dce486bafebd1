"""``python -m tests.model``: histories from seeds, and what logreplay makes of their logs."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

MEMORY = "/dev/shm"
"""Where there is one, the logs are written there: most of the work is small files."""

Job = tuple[str, int, str, tuple[str, ...], tuple[str, ...]]


def run(job: Job) -> tuple[Job, list[tuple[str, str, str]], str]:
    """One case, in a process of its own or in this one."""
    family, seed, kind, checks, targets = job
    module: Any = importlib.import_module(f"tests.model.{family}_checks")
    verdicts, text = module.run_case(seed, kind, checks, module.Options(targets=targets))
    return job, [(v.check, v.result, v.detail) for v in verdicts], text


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.model", description=__doc__)
    parser.add_argument("--family", default="logmaster", help="logmaster, luw or solid")
    parser.add_argument("--seeds", type=int, default=100, help="how many, for every kind")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="this one only, with its story")
    parser.add_argument("--kinds", default="default", help="default, all, or names with commas")
    parser.add_argument("--check", default="default", help="default, all, or names with commas")
    parser.add_argument("--targets", default="sqlite", help="sqlite, duckdb, postgres")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--stories", type=int, default=1, help="failing stories of each sort")
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
    module: Any = importlib.import_module(f"tests.model.{options.family}_checks")
    if options.list:
        for kind, meaning in module.KINDS.items():
            mark = "*" if kind in module.KINDS_BY_DEFAULT else " "
            say(f"{mark} {kind:18} {meaning}")
        for name, check in module.ALL_CHECKS.items():
            mark = "*" if name in module.CHECKS_BY_DEFAULT else " "
            say(f"{mark} --check {name:14} {(check.__doc__ or '').splitlines()[0]}")
        return 0
    kinds = {"default": module.KINDS_BY_DEFAULT, "all": tuple(module.KINDS)}.get(
        options.kinds, tuple(options.kinds.split(","))
    )
    checks = {"default": module.CHECKS_BY_DEFAULT, "all": tuple(module.ALL_CHECKS)}.get(
        options.check, tuple(options.check.split(","))
    )
    targets = tuple(options.targets.split(","))
    seeds = (
        [options.seed]
        if options.seed is not None
        else list(range(options.first, options.first + options.seeds))
    )
    bad = 0
    for kind in kinds:
        jobs = [(options.family, seed, kind, checks, targets) for seed in seeds]
        bad += kind_of_history(kind, jobs, options)
    return 1 if bad else 0


def kind_of_history(kind: str, jobs: list[Job], options: argparse.Namespace) -> int:
    """All seeds of a kind: one line for it, one for each check that does not hold, stories."""
    began, worked = time.perf_counter(), time.process_time()
    counts: Counter[tuple[str, str]] = Counter()
    failing: dict[tuple[str, str], list[tuple[int, int, str, str]]] = {}
    failed_seeds = 0
    seen = 0
    if options.processes > 1:
        with ProcessPoolExecutor(options.processes) as pool:
            results = list(pool.map(run, jobs, chunksize=4))
    else:
        results = [run(job) for job in jobs]
    for job, verdicts, text in results:
        failed_seeds += any(result != "ok" for _, result, _ in verdicts)
        for check, result, detail in verdicts:
            seen += 1
            counts[check, result] += 1
            if result != "ok":
                failing.setdefault((check, result), []).append((len(text), job[1], detail, text))
    took, worked = time.perf_counter() - began, time.process_time() - worked
    speed = f"{seen / took:.0f} a second"
    if options.processes == 1:
        speed += f", {seen / worked:.0f} a CPU second"
    say(
        f"{kind}: {len(jobs) - failed_seeds} of {len(jobs)} seeds hold; {seen} comparisons, {speed}"
    )
    told: set[int] = set()
    for (check, result), cases in sorted(failing.items()):
        good = counts[check, "ok"]
        numbers = " ".join(str(seed) for _, seed, _, _ in sorted(cases, key=lambda c: c[1])[:8])
        say(f"  {check}: {result} {len(cases)}, ok {good}; seeds {numbers}")
        for _, seed, detail, text in sorted(cases)[: options.stories]:
            say("    " + f"seed {seed}: {detail}".replace("\n", "\n      "))
            if seed not in told and options.stories:
                say("      | " + text.replace("\n", "\n      | "))
                told.add(seed)
    return failed_seeds


if __name__ == "__main__":
    sys.exit(main())
