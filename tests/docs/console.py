"""Runs the commands of a tutorial: the ``console`` blocks of its text, with what they print."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import pytest

from replay.cli import main
from replay.targets import target_named
from replay.targets.embedded import client_environment, psql_path

POSTGRES = target_named("postgres")
#: The database of the texts.
SHOP = "postgresql://app@host/shop"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
_SETTING = re.compile(r'([A-Z]+)="(.*)"')
#: In what a text shows: any lines; the rest of a line.
_ANY, _REST = "…", " …"


@dataclass(frozen=True)
class Step:
    """A command and what it prints, its exit code at the end where that is not 0."""

    command: str
    printed: list[str]


def steps(text: str) -> Iterator[Step]:
    """The commands of a text, in order."""
    for block in _BLOCK.findall(text):
        for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.M)[1:]:
            command, *printed = part.rstrip("\n").split("\n")
            yield Step(command, printed)


def same(shown: list[str], found: list[str]) -> bool:
    """Whether what is found is what a text shows."""
    if not shown:
        return not found
    if shown[0].strip() == _ANY:
        return any(same(shown[1:], found[start:]) for start in range(len(found) + 1))
    if not found:
        return False
    line = shown[0]
    fits = (
        found[0].startswith(line.removesuffix(_REST))
        if line.endswith(_REST)
        else found[0].rstrip() == line.rstrip()
    )
    return fits and same(shown[1:], found[1:])


@dataclass
class Console:
    """Runs commands in this process, with ``url`` for the database of the texts."""

    url: str
    names: dict[str, str] = field(default_factory=dict)

    def run(self, command: str) -> list[str]:
        """What a command prints, line by line; its exit code at the end where that is not 0."""
        if setting := _SETTING.fullmatch(command):
            self.names[setting[1]] = setting[2]
            return []
        for name, value in self.names.items():
            command = command.replace(f"${name}", value)
        if command.startswith(("psql ", "cat ")):
            return self._hidden(self._shell(command))
        words = [word.replace(SHOP, self.url) for word in shlex.split(command)]
        run = {
            "logreplay": self._logreplay,
            "head": self._head,
            "mv": self._mv,
        }
        return self._hidden(run[words[0]](words[1:]))

    def _hidden(self, printed: list[str]) -> list[str]:
        """What is printed, with the database of the texts."""
        shown = re.compile(r"postgresql://\S+?:\d+/\w+")
        return [shown.sub(SHOP, line.replace(self.url, SHOP)) for line in printed]

    @staticmethod
    def _logreplay(words: list[str]) -> list[str]:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = main.main(words)
        lines = printed.getvalue().rstrip("\n").split("\n")
        return [*lines, f"[exit code {code}]"] if code else lines

    def _shell(self, command: str) -> list[str]:
        """A shell does it, as it would for a reader of the page: psql says what it says."""
        folders = (str(psql_path().parent), client_environment()["PATH"])
        done = subprocess.run(
            ["/bin/sh", "-c", command.replace(SHOP, self.url)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**client_environment(), "PATH": os.pathsep.join(folders)},
            text=True,
            check=False,
        )
        lines = done.stdout.splitlines()
        return [*lines, f"[exit code {done.returncode}]"] if done.returncode else lines

    @staticmethod
    def _mv(words: list[str]) -> list[str]:
        moved = [path for name in words[:-1] for path in sorted(Path().glob(name))]
        assert moved
        for path in moved:
            path.rename(Path(words[-1]) / path.name)
        return []

    @staticmethod
    def _head(words: list[str]) -> list[str]:
        with Path(words[1]).open(encoding="utf-8") as file:
            return [line.rstrip("\n") for line in islice(file, int(words[0][1:]))]


def run_page(page: Path, url: str, console: Console | None = None) -> None:
    """Run the commands of a page, each of which must print what the page shows."""
    console = console or Console(url)
    for step in steps(page.read_text(encoding="utf-8")):
        found = console.run(step.command)
        failed = found[-1:] != step.printed[-1:] and "".join(found[-1:]).startswith("[exit code")
        if failed or not same(step.printed, found):
            shown = "\n".join([f"$ {step.command}", *found])
            pytest.fail(f"{page.name}: found\n{shown}", pytrace=False)
