"""Runs a case of the matrix in this process and tells the digests of what it publishes."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import shlex
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from tests.bytes.logs import FIXTURES, LOGS
from tests.bytes.matrix import FILES

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("digests.json")
#: Commands that publish a folder, or a file of this name.
FOLDERS = ("redo", "undo", "export", "migrate")
GRAPH = "graph.out"
#: Commands that read with an engine.
WITH_ENGINE = (*FOLDERS, "graph", "whatif")
VERSION = re.compile(rb"logreplay \d+\.\d+[\w.+]*")
#: Columns of tables that are printed: they are as wide as the paths in them.
GAP = re.compile(r"  +")
#: What is said of the file of options that the tests have.
OF_FILE = re.compile(r"^note: options from .*\n", re.MULTILINE)
#: Under this name the list has what a command printed, where it published nothing else.
PRINTED = "(printed)"
#: Under this name the list has the exit code.
CODE = "(exit code)"

Digests = dict[str, str]


@dataclass
class Bench:
    """A folder in which the logs are written once and each case gets a folder of its own."""

    folder: Path
    written: dict[str, list[str]] = field(default_factory=dict)

    def log(self, name: str) -> list[str]:
        """The options that name a log; it is written when it is asked for first."""
        if name not in self.written:
            place = self.folder / name
            place.mkdir()
            self.written[name] = LOGS[name](place)
        return self.written[name]

    def files(self) -> Path:
        """The folder of the files that options name."""
        place = self.folder / "files"
        if not place.exists():
            place.mkdir()
            for name, text in FILES.items():
                (place / name).write_text(text, encoding="utf-8")
        return place

    def words(self, case: str, out: Path) -> list[str]:
        """The command line of a case."""
        log, command, *options = shlex.split(case)
        known = {"log": self.folder / log, "fixtures": FIXTURES, "files": self.files()}
        words = [command, *self.log(log), *(option.format(**known) for option in options)]
        if command in WITH_ENGINE:
            words += ["--engine", "local"]
        if command in FOLDERS:
            words += ["--out", str(out / "out")]
        elif command == "graph":
            words += ["--out", str(out / GRAPH)]
        elif "--out" in words:
            place = words.index("--out") + 1
            words[place] = str(out / words[place])
        return words

    def run(self, case: str) -> Digests:
        """What a case publishes: file -> SHA-256, beside the exit code and what it printed."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="case-") as made:
            out = Path(made)
            words = self.words(case, out)
            printed, said = io.StringIO(), io.StringIO()
            try:
                with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
                    code = program()(words)
            except SystemExit:
                raise ValueError(f"{case}: {said.getvalue()}") from None
            found = {
                path.relative_to(out).as_posix(): self.digest(path.read_bytes(), out)
                for path in sorted(out.rglob("*"))
                if path.is_file()
            }
            if not found:
                text = printed.getvalue() + OF_FILE.sub("", said.getvalue())
                found[PRINTED] = self.digest(GAP.sub("  ", text).encode(), out)
            return {**found, CODE: str(code)}

    def digest(self, data: bytes, out: Path) -> str:
        """SHA-256 of what a file says, whatever the version and wherever it lies."""
        for place, name in ((out, "<out>"), (self.folder, "<logs>"), (ROOT, "<root>")):
            data = data.replace(str(place).encode(), name.encode())
        return hashlib.sha256(VERSION.sub(b"logreplay <version>", data)).hexdigest()


def program() -> Callable[[list[str]], int]:
    """The function of the command, by what pyproject.toml says."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    module, _, function = settings["project"]["scripts"]["logreplay"].partition(":")
    found: Callable[[list[str]], int] = getattr(import_module(module), function)
    return found


def listed() -> dict[str, Digests]:
    """The list as it is kept."""
    found: dict[str, Digests] = json.loads(LIST.read_text(encoding="utf-8"))
    return found


def changed(old: Digests, new: Digests) -> list[str]:
    """The files of a case that are not what they were."""
    return [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
