"""Change the modules that decide, one small change at a time, and see whether the tests notice.

    scripts/run mutate                  all modules of MODULES
    scripts/run mutate order position   these
    scripts/run mutate order --only 'cause_groups'    functions whose name has this in it
    scripts/run mutate statements --sample 3          changes whose number ends in 3: a tenth

A change that no unit test of the module notices *survives*; it is printed as a difference. Either
a test is missing, or nobody can tell the change: then its line belongs in EQUAL. The exit code is 1
where more than SURVIVORS of a module's changes survive.

mutmut makes the changes, in a copy of the clone, and runs the tests that reach the function changed
in a process each, forked from one that has loaded the tests and run none: templates of statements
and other things that are made once would hide a change in a process that has made them before.
Only files of tests that are about the module are run, properties try EXAMPLES examples and do not
look for the smallest one that fails: what counts is whether one does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: Share of changes that may survive.
SURVIVORS = 0.05

#: Seconds that one module may take.
LIMIT = 3600

#: Examples that a property of the tests tries at most (tests/support/examples.py).
EXAMPLES = 25

_OF_IMAGES = (
    "tests/decoding/test_images.py",
    "tests/decoding/test_image_equality.py",
    "tests/golden/test_row_images.py",
)

#: Module -> its file and the tests that are about it.
MODULES: dict[str, tuple[str, tuple[str, ...]]] = {
    "position": (
        "replay/changes/position.py",
        ("tests/changes/test_position.py", "tests/changes/test_position_columns.py"),
    ),
    "order": (
        "replay/changes/order.py",
        ("tests/changes/test_order.py", "tests/changes/test_cause_groups.py"),
    ),
    "codecs": (
        "replay/decoding/codecs.py",
        ("tests/decoding/test_codecs.py", "tests/decoding/test_codec_edges.py"),
    ),
    "images": ("replay/decoding/images.py", _OF_IMAGES),
    "image_layouts": (
        "replay/decoding/image_layouts.py",
        (*_OF_IMAGES, "tests/pipeline/test_fast_path.py"),
    ),
    "write_sets": (
        "replay/dependencies/write_sets.py",
        (
            "tests/dependencies/test_write_sets.py",
            "tests/golden/test_write_sets.py",
            "tests/dependencies/test_graph.py",
            "tests/dependencies/test_by_column.py",
            "tests/dependencies/test_forms.py",
            "tests/dependencies/test_unread.py",
            "tests/dependencies/test_agreement.py",
            "tests/dependencies/test_cascade.py",
            "tests/dependencies/test_consequences.py",
            "tests/dependencies/test_unwritten.py",
            "tests/dependencies/test_null_keys.py",
        ),
    ),
    "cascade": (
        "replay/dependencies/cascade.py",
        (
            "tests/dependencies/test_cascade.py",
            "tests/dependencies/test_consequences.py",
            "tests/dependencies/test_graph.py",
            "tests/dependencies/test_by_column.py",
            "tests/dependencies/test_unread.py",
        ),
    ),
    "render_options": ("sqlgen/render_options.py", ("tests/sqlgen/test_statement_parts.py",)),
    "statements": (
        "sqlgen/statements.py",
        (
            "tests/sqlgen/test_statements.py",
            "tests/sqlgen/test_statement_parts.py",
            "tests/sqlgen/test_float_bounds.py",
            "tests/golden/test_shapes.py",
            "tests/golden/test_statement_forms.py",
        ),
    ),
    "literals": (
        "sqlgen/literals.py",
        (
            "tests/sqlgen/test_literals.py",
            "tests/sqlgen/test_traps.py",
            "tests/golden/test_shapes.py",
            "tests/golden/test_literal_examples.py",
        ),
    ),
    "upsert": (
        "sqlgen/render/upsert.py",
        (
            "tests/sqlgen/test_upsert.py",
            "tests/sqlgen/test_upsert_problems.py",
            "tests/golden/test_shapes.py",
        ),
    ),
}

#: Lines that a change makes of a module and that make no difference to anybody: the words NumPy has
#: for one thing, numbers that are only compared, work that is done once more than needed.
EQUAL: dict[str, tuple[str, ...]] = {
    "order": (
        # the size of -1 and of -2 is found alike; int64 is what integers are without a word
        'np.ascontiguousarray(raw[:, :8]).view(f">u{min(width, 8)}").astype(np.uint64).reshape(-2)',
        'last = tail.view(">u8").astype(np.uint64).reshape(-2)',
        "here = np.unique(here, return_inverse=True)[1].reshape(None).astype(np.uint64)",
        "here = np.unique(here, return_inverse=True)[1].reshape(-2).astype(np.uint64)",
        "order = np.arange(count, dtype=None)",
        "order = np.arange(count, )",
        "return np.arange(count - 1, -1, -1, dtype=None)",
        "return np.arange(count - 1, -1, -1, )",
        "position = np.arange(count, dtype=None)",
        "position = np.arange(count, )",
        # the early end of a loop whose further steps change nothing
        "if int(number[-1]) == count + 1:",
        "if int(number[-2]) == count - 1:",
        "step = (number[1:] == number[:-1]) | (here[1:] != here[:-1])",
        # numbers that are only compared with others
        "groups = int(group[-1]) + 2",
        "follower_rank = np.zeros(count, None)",
        "key = group[followers] * (int(table.max()) + 2) + table[followers] - 1",
        "key = group[followers] * (int(table.max()) + 3) + table[followers] + 1",
        "key = group[followers] * (int(table.max()) + 2) + table[followers] + 2",
        "follower_rank[own & again[group] & (change[leader] == Change.DELETE)] = -2",
        "follower_rank[moved & cause & late] = count + 2",
    ),
    "cascade": (
        # blocked changes are chosen ones, and each is as late as the last one of its row at most
        "blocked = chosen & (unit <= last[subgraph.lineage])",
        # without a group nothing is asked of it
        "derived = np.zeros(int(group.max()) + 1 if len(group) else 1, bool)",
    ),
    "codecs": (
        # to cut off nothing; room that is there anyway
        "if int(short.min()) <= width:",
        "text[:, shape + 1 - min(scale, digits) : shape + 2] = characters[",
        "late = np.flatnonzero(start >= len(buf) - width)",
        # what is a float in the end; what is one piece of memory in any shape; what int64 is anyway
        "fraction = (raw & np.uint64((1 << bits) - 1)).astype(None).astype(np.float64)",
        "packed.reshape(None), np.arange(0, packed.size + 1, packed.shape[1], dtype=np.int64),"
        " None",
        "packed.reshape(-1), np.arange(0, packed.size + 1, packed.shape[1], ), None",
    ),
    "image_layouts": (
        # without a column that is open, no reading of it differs
        "else (True,)",
    ),
    "images": (
        # what is looked at once more, column by column
        "if (self.cursor + size >= self.end).any():",
        "flags = self.buffer[self.cursor + edge] if (not self.result.empty) or True else flags",
        # a number that is put in words
        "numbers = (flags.astype(None), self.cursor + edge - self.result.start)",
    ),
    "literals": (
        # a null is one of any type here, and an offset ends after its minutes
        "return pc.if_else(empty, pa.scalar(None, ), values), []",
        "pc.cast(pc.utf8_slice_codeunits(offset, 4, None), pa.int64()),",
        "pc.cast(pc.utf8_slice_codeunits(offset, 4, ), pa.int64()),",
        # a text that is refused is not used
        'return pc.replace_substring(values, "XX\\0XX", ""), problems',
    ),
    "position": (
        # a name that only fills a place
        'first = np.dtype([("first", ">u8"), ("XXrestXX", "V2")])',
        'first = np.dtype([("first", ">u8"), ("REST", "V2")])',
    ),
    "statements": (
        # a number of texts without any value between, and every statement has a condition's
        "text = joined([head.begin, *condition, head.end], None)",
        "text = joined([begin, *sets, between, *condition, head.end], None)",
        # zero is dealt with apart; four numbers up from the least there is are some number
        "low = np.where(numbers >= 0, np.maximum(low, least), low)",
        "high = np.where(numbers <= 0, np.minimum(high, -least), high)",
        "low, high = np.clip(low, -largest, largest), np.clip(high, None, largest)",
        "low, high = np.clip(low, -largest, None), np.clip(high, -largest, largest)",
        # a verb and a blank; no choice is as good as one of all; None is false
        "verb, rest = text.split(None, 1)",
        'return piece if (pc.all(mask).as_py()) and False else pc.if_else(mask, piece, "")',
        'rows.before[column.name], column, " AND ", None, profile, options, guard_problems',
    ),
    "upsert": (
        # sqlglot takes what is not said for False
        "[exp.When(matched=True, then=exp.Update(expressions=sets))]",
        "whens.append(exp.When(matched=False, source=None, then=new))",
        "whens.append(exp.When(matched=False, then=new))",
        # no dialect that merges has a type for literals of floats
        "value = self._column(column, _SOURCE) if upsert.joined else self._literal(place, None)",
        # a number of texts without any value between, and every statement has a key's
        "return joined(parts, None), problems",
    ),
    "write_sets": (
        # numbers of 32 bits, which a float holds as well; nulls that nobody asks for; None is false
        "upper = (whole >> np.uint64(32)).astype(None)",
        "return (mixed(whole), upper, np.ones(len(rows), bool)), np.zeros(len(rows), None)",
        'yield made("after", come, every, None, True)',
        'yield made("before", gone, every, True, None)',
        'yield made("before", gone, moved, True, None)',
        'yield made("after", come, moved, None, True)',
        # no key is without columns; what is neither an insert nor a delete; hashes of fewer bits
        'known_as = kind if kind in ("table", "IMAGE", "forms") else "key"',
        'known_as = kind if kind in ("table", "XXimageXX", "forms") else "key"',
        "yield from _touches_of_use(base, use, None, sides, images)",
        "hashes = mixed(hashes) & hash_values(values, column.type)",
    ),
}

#: What libraries take alike: (in a changed line, in the line as it was). Arrow asks whether
#: ``zero_copy_only`` holds, and sqlglot's trees that nobody else has may be copied or not; NumPy
#: finds a size for any negative one, and Python a codec by a name in capitals.
ALIKE = (
    ("zero_copy_only=None", "zero_copy_only=False"),
    ("copy=True", "copy=False"),
    ("reshape(-2)", "reshape(-1)"),
    ('"ASCII"', '"ascii"'),
    ('"CP037"', '"cp037"'),
)

#: What guards against mistakes only: ``strict`` of a zip over things that are of one length.
GUARD = re.compile(r",?\s*strict=\w+")

#: What the copy needs beside the two packages.
ALSO = ("tests", "fixtures", "scripts", "pyproject.toml", "constraints.txt")

SETTINGS = """
[tool.mutmut]
source_paths = ["replay", "sqlgen"]
only_mutate = ["{file}"]
also_copy = ["fixtures", "scripts", "constraints.txt"]
pytest_add_cli_args = ["-n", "0", "-p", "no:cacheprovider", "-W", "ignore"]
pytest_add_cli_args_test_selection = [{tests}]
timeout_multiplier = 10.0
timeout_constant = 5.0
process_isolation = "forkserver"
use_git_change_detection = false
"""

#: What mutmut writes down of a change: the exit code of its tests; that there are none; that they
#: could not be run (pytest did not know a test by its name, say), which says nothing of the change.
SURVIVED, NO_TESTS, NOT_RUN = 0, 33, 255


@dataclass(frozen=True)
class Result:
    """What became of the changes of one module that make a difference: their number, those that
    survived with the difference they make, those that no test reaches."""

    changes: int
    survivors: dict[str, str]
    untested: list[str]

    @property
    def share(self) -> float:
        """Of the changes, how many nobody noticed."""
        return (len(self.survivors) + len(self.untested)) / max(self.changes, 1)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("modules", nargs="*", choices=[[], *MODULES], default=[], metavar="MODULE")
    parser.add_argument("--only", default="", help="functions whose name has this in it")
    parser.add_argument(
        "--sample", default="", help="changes whose number ends in one of these digits"
    )
    parser.add_argument("--limit", type=int, default=LIMIT, help="seconds that a module may take")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    worst = 0.0
    for module in options.modules or MODULES:
        began = time.monotonic()
        result = mutate(module, options.only, options.sample, options.limit, options.jobs)
        for text in result.survivors.values():
            print(text)
        for name in result.untested:
            print(f"no test reaches it: {name}")
        print(
            f"{module}: {result.changes} changes, {len(result.survivors)} survived,"
            f" {len(result.untested)} without tests: {result.share:.1%};"
            f" {time.monotonic() - began:.0f} s",
            flush=True,
        )
        worst = max(worst, result.share)
    return 1 if worst > SURVIVORS else 0


def mutate(module: str, only: str, sample: str, limit: int, jobs: int) -> Result:
    """Change one module in every way that mutmut knows, or in those of a sample, in a copy of the
    clone."""
    file, tests = MODULES[module]
    with tempfile.TemporaryDirectory(prefix="logreplay-mutate-") as folder:
        copy = Path(folder)
        for name in ("replay", "sqlgen", *ALSO):
            copy_of(ROOT / name, copy / name)
        settings = SETTINGS.format(file=file, tests=", ".join(f'"{test}"' for test in tests))
        with (copy / "pyproject.toml").open("a", encoding="utf-8") as project:
            project.write(settings)
        names = [f"{file.removesuffix('.py').replace('/', '.')}*{only}*"]
        if sample:
            names = [f"{names[0]}__mutmut_*[{sample}]", f"{names[0]}__mutmut_[{sample}]"]
        environment = {**os.environ, "LOGREPLAY_EXAMPLES": str(EXAMPLES)}
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(jobs), *names]
        try:
            run = subprocess.run(
                command,
                cwd=copy,
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
                env=environment,
            )
        except subprocess.TimeoutExpired:
            raise SystemExit(f"mutate.py: {module} took longer than {limit} s") from None
        results = copy / "mutants" / f"{file}.meta"
        codes = json.loads(results.read_text())["exit_code_by_key"] if results.exists() else {}
        codes = {name: code for name, code in codes.items() if code is not None}
        if not codes:
            raise SystemExit(f"mutate.py: {module}: {(run.stdout + run.stderr)[-3000:]}")
        if not_run := [name for name, code in codes.items() if code == NOT_RUN]:
            raise SystemExit(
                f"mutate.py: {module}: the tests of {len(not_run)} changes could not be run, as of"
                f" {not_run[0]}; are the names of tests plain words?"
            )
        untested = [name for name, code in codes.items() if code == NO_TESTS]
        survivors = differences(copy, [name for name, code in codes.items() if code == SURVIVED])
        equal = [
            name
            for name, text in survivors.items()
            if changed_lines(text, "+") in EQUAL.get(module, ()) or is_alike(text)
        ]
        for name in equal:
            del survivors[name]
        return Result(len(codes) - len(equal), survivors, untested)


#: Prints what changes are, as differences of lines, by name.
SHOW = """
import json, sys
from mutmut.mutation.diff_apply import find_mutant, get_diff_for_mutant
print(json.dumps({
    name: get_diff_for_mutant(name, path=find_mutant(name).path) for name in sys.argv[1:]
}))
"""


def differences(copy: Path, names: Sequence[str]) -> dict[str, str]:
    """What changes are, as differences of lines."""
    if not names:
        return {}
    run = subprocess.run(
        [sys.executable, "-c", SHOW, *names], cwd=copy, capture_output=True, text=True, check=True
    )
    shown = json.loads(run.stdout.splitlines()[-1])
    return {name: f"survived: {name}\n{text.strip()}\n" for name, text in shown.items()}


def changed_lines(text: str, sign: str) -> str:
    """The lines that a difference adds (``+``) or takes away (``-``), as one."""
    lines = [line[1:].strip() for line in text.split("\n") if line.startswith(f"{sign} ")]
    return "\n".join(lines)


def is_alike(text: str) -> bool:
    """Whether a difference is one that a library does not see."""
    added, taken = changed_lines(text, "+"), changed_lines(text, "-")
    if "strict=" in taken and packed(GUARD.sub("", taken)) == packed(GUARD.sub("", added)):
        return True
    return any(new in added and added.replace(new, old) == taken for new, old in ALIKE)


def packed(text: str) -> str:
    """Code without its blanks, and without commas that only end a list."""
    return re.sub(r",(?=[)\]}])", "", re.sub(r"\s", "", text)).rstrip(",")


def copy_of(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy2(source, target)


if __name__ == "__main__":
    sys.exit(main())
