"""What a command costs with one commit and with another, in turns: CPU seconds, seconds on the
clock and most memory, and whether both write the same bytes.

::

    scripts/run python scripts/bench_commits.py OLD [NEW]
    scripts/run python scripts/bench_commits.py v0.9 --cores 1 --records 240000 -- undo --upsert

NEW is the work tree unless a commit is named. The words after ``--`` are a command of logreplay
and its options, without those of inputs and ``--out``; by default ``redo --engine local``. Both run
with the same Python and libraries, each once before the clock is looked at, so that bytecode and
machine code are made. Medians are told: on a machine with other things to do read the ratios only.
Exit code 1: a run failed, or what they wrote differs (``manifest.json`` apart, for it tells times).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from shutil import rmtree

from generate_log import generate

ROOT = Path(__file__).resolve().parent.parent
#: What tells when a bundle was made.
TIMES = "manifest.json"
#: Folders that no command needs.
NOT_NEEDED = ("fixtures", "tests")
#: Runs a command, and waits for all that it started: Java ends after the process that started it,
#: and the system tells CPU seconds to whoever waits. 36 is PR_SET_CHILD_SUBREAPER: processes whose
#: parent is gone become ours.
COUNTED = """
import ctypes, os, sys
os.sched_setaffinity(0, {cores})
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
command, code = os.fork(), 0
if not command:
    from {module} import {function}
    sys.exit({function}())
while True:
    try:
        ended, status = os.wait()
    except ChildProcessError:
        sys.exit(code)
    if ended == command:
        code = os.waitstatus_to_exitcode(status)
"""


@dataclass(frozen=True)
class Run:
    """What one run took: CPU seconds of all its processes, seconds, and the most memory of one of
    them in bytes; and the digest of what it wrote."""

    cpu: float
    clock: float
    memory: int
    digest: str


def tree_of(commit: str | None, folder: Path) -> Path:
    """The files of a commit in a folder of their own; of none: the work tree. ValueError where
    there is no such commit."""
    if commit is None:
        return ROOT
    packed = subprocess.run(
        ["git", "archive", commit, "--", ".", *(f":!{name}" for name in NOT_NEEDED)],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if packed.returncode:
        raise ValueError(packed.stderr.decode(errors="replace").strip())
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def run(tree: Path, words: list[str], out: Path, cores: set[int]) -> Run:
    """Run a command of the logreplay in ``tree`` that writes to ``out``, which is removed
    afterwards. RuntimeError where it fails."""
    environment = os.environ | {"PYTHONPATH": str(tree)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    begin = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-c", started(tree, cores), *words, "--out", str(out)],
        cwd=out.parent,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert child.stderr is not None
    with child.stderr as stream:
        said = stream.read()
    _, status, usage = os.wait4(child.pid, 0)
    clock = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 4):
        text = said.decode(errors="replace").strip()
        raise RuntimeError(f"{tree}: exit code {child.returncode}: {text}")
    digest = digest_of(out)
    rmtree(out)
    return Run(usage.ru_utime + usage.ru_stime, clock, usage.ru_maxrss << 10, digest)


def started(tree: Path, cores: set[int]) -> str:
    """The Python text that starts the command on some cores, by what the tree's own
    ``pyproject.toml`` says of it: its place was another one in older commits."""
    project = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))
    module, _, function = project["project"]["scripts"]["logreplay"].partition(":")
    return COUNTED.format(cores=cores, module=module, function=function)


def digest_of(folder: Path) -> str:
    """SHA-256 over names and contents of all files but :data:`TIMES`."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != TIMES:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(folder)}\0{content}\n".encode())
    return digest.hexdigest()


def main(words: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", help="a commit")
    parser.add_argument("new", nargs="?", help="another one (default: the work tree)")
    parser.add_argument("--records", type=int, default=1_200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "logreplay-bench")
    parser.add_argument("--json", type=Path, help="also write the figures into this file")
    given = list(sys.argv[1:] if words is None else words)
    command = given[given.index("--") + 1 :] if "--" in given else []
    options = parser.parse_args(given[: given.index("--")] if "--" in given else given)
    control, data = generate(options.dir, options.records, options.seed)
    command = command or ["redo", "--engine", "local"]
    command += ["--control", str(control), "--data", str(data)]
    cores = set(sorted(os.sched_getaffinity(0))[: options.cores])
    with tempfile.TemporaryDirectory(dir=options.dir) as made:
        folder = Path(made)
        try:
            trees = {
                name: tree_of(commit, folder / name)
                for name, commit in (("old", options.old), ("new", options.new))
            }
            return compare(trees, command, folder / "out", cores, options)
        except (ValueError, RuntimeError) as error:
            print(f"bench_commits: {error}", file=sys.stderr)
            return 1


def compare(
    trees: dict[str, Path],
    command: list[str],
    out: Path,
    cores: set[int],
    options: argparse.Namespace,
) -> int:
    """Run both in turns and print what they took."""
    runs: dict[str, list[Run]] = defaultdict(list)
    for number in range(options.runs + 1):
        for name, tree in trees.items():
            taken = run(tree, command, out, cores)
            if number:
                runs[name].append(taken)
    medians = {
        name: {
            kind: statistics.median(getattr(one, kind) for one in taken)
            for kind in ("cpu", "clock", "memory")
        }
        for name, taken in runs.items()
    }
    same = len({one.digest for taken in runs.values() for one in taken}) == 1
    print(f"{options.records:,} records, {len(cores)} core(s), medians of {options.runs} runs")
    print(f"{'':<8}{'CPU s':>9}{'clock s':>9}{'MB':>9}")
    for name, row in medians.items():
        print(f"{name:<8}{row['cpu']:>9.2f}{row['clock']:>9.2f}{row['memory'] / 1e6:>9.0f}")
    ratios = {kind: medians["new"][kind] / medians["old"][kind] for kind in medians["old"]}
    print(f"{'ratio':<8}{ratios['cpu']:>9.2f}{ratios['clock']:>9.2f}{ratios['memory']:>9.2f}")
    print("both wrote the same bytes" if same else "they did not write the same bytes")
    if options.json is not None:
        figures = {**medians, "ratio": ratios, "same": same, "command": command}
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0 if same else 1


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        raise SystemExit(main())
    raise SystemExit(130)
