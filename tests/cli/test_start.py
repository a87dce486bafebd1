"""What costs nothing to ask: help texts and the version import none of the libraries that do the
work."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from replay import machine
from replay.changes.choices import SOURCES
from replay.cli.main import _MODULES
from replay.logs import FAMILIES
from replay.options.command_table import BY_NAME
from sqlgen.choices import DIALECTS
from sqlgen.dialects import BUILT_IN

HEAVY = {"numpy", "pyarrow", "sqlglot", "pandas", "duckdb", "networkx", "pyspark", "tqdm", "numba"}
PROGRAM = """
import json, sys
import contextlib, io
from replay.cli.main import main
with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
    main(sys.argv[1:])
print(json.dumps([sorted(sys.modules), out.getvalue()]))
"""


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], *([command, "-h"] for command in BY_NAME)],
    ids=" ".join,
)
def test_help_is_light(arguments: list[str]) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True
    )
    modules, text = json.loads(ended.stdout)
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
    assert "logreplay" in text
    assert len(modules) < 200  # 160; each costs time that every call of the command pays


def test_the_names_of_light_modules_are_those_that_are_there() -> None:
    assert tuple(FAMILIES) == SOURCES
    assert tuple(BUILT_IN) == DIALECTS
    for one in BY_NAME.values():
        module = import_module(f"replay.cli.{_MODULES[one.group]}")
        assert one.name in module.COMMANDS


def test_a_look_into_a_small_log_imports_no_sql(sakila_small: Path) -> None:
    named = ["inspect", "--control", str(sakila_small / "small.ctl")]
    named += ["--data", str(sakila_small / "small.dat")]
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *named], capture_output=True, text=True, check=True
    )
    modules, _ = json.loads(ended.stdout)
    used = {name.partition(".")[0] for name in modules}
    assert used & HEAVY == {"numpy", "pyarrow"}
    assert not {"replay.live.replay", "replay.output.bundle", "sqlgen.ddl.ddl_grammar"} & set(
        modules
    )


def test_a_small_run_imports_what_it_uses(sakila_small: Path, tmp_path: Path) -> None:
    named = ["redo", "--control", str(sakila_small / "small.ctl"), "--out", str(tmp_path / "out")]
    named += ["--data", str(sakila_small / "small.dat")]
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *named], capture_output=True, text=True, check=True
    )
    modules, _ = json.loads(ended.stdout)
    used = {name.partition(".")[0] for name in modules}
    assert used & {"pandas", "networkx", "pyspark", "duckdb", "numba", "psycopg"} == set()
    assert not {"pyarrow.parquet", "pyarrow.fs", "ssl"} & set(modules)
    assert {"numpy", "pyarrow", "sqlglot"} <= used


GIVEN_BACK = """
import sys
import numpy as np, pyarrow as pa
from pathlib import Path
from replay.machine import give_back_memory

def held():
    (line,) = (s for s in Path("/proc/self/status").read_text().split("\\n") if "RssAnon" in s)
    return int(line.split()[1]) >> 10

if sys.argv[1] == "settled":
    give_back_memory()
size = 12 << 20
del [np.ones(size, np.uint8)][0]  # from now on glibc would keep so much
large, small, before = np.ones(size, np.uint8), [], held()
small.append(np.ones(1 << 17, np.uint8))  # behind it
del large
print(before - held(), pa.default_memory_pool().backend_name)
"""


@pytest.mark.parametrize(("how", "freed"), [("settled", (11, 12)), ("as it is", (-1, 1))])
def test_large_arrays_are_given_back(how: str, freed: tuple[int, int]) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", GIVEN_BACK, how], capture_output=True, text=True, check=True
    )
    megabytes, pool = ended.stdout.split()
    assert freed[0] <= int(megabytes) <= freed[1]
    assert (pool == "system") is (how == "settled")


BETWEEN = """
import sys
from pathlib import Path
from replay.machine import give_back_free

def held():
    (line,) = (s for s in Path("/proc/self/status").read_text().split("\\n") if "RssAnon" in s)
    return int(line.split()[1]) >> 10

pieces = [bytes(b"1" * 50_000) for _ in range(600)]
pieces[:] = pieces[::100]
before = held()
give_back_free(int(sys.argv[1]))
print(before - held())
"""


@pytest.mark.parametrize(
    ("size", "least", "most"), [(machine.MUCH - 1, 0, 1), (machine.MUCH, 20, 30)]
)
def test_memory_between_what_is_used_is_given_back_after_much_work(
    size: int, least: int, most: int
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", BETWEEN, str(size)], capture_output=True, text=True, check=True
    )
    assert least <= int(ended.stdout) <= most
