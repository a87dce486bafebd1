"""What the user sees: text without characters that would act on a terminal, and messages without
passwords that others put there (libraries, and the parser of the command line); and a command line
that other users of the machine can read, without them too. And how far a run is, on a terminal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO, cast

from replay.redaction import HIDDEN, hidden, is_secret_setting, secrets_of
from sqlgen.hidden import visible

#: What standard output is called where it takes no more.
OUTPUT = "standard output"

#: Environment variables that hold a password.
_PASSWORDS = ("PGPASSWORD", "MYSQL_PWD", "PGSSLPASSWORD")
#: Places of the first and last byte of the command line among the fields of /proc/self/stat, after
#: the name of the program.
_ARGUMENTS = slice(45, 47)


class Shown:
    """A stream of text that hides ``secrets``, and with ``whole`` shows characters that are not
    meant to be seen as ``\\uXXXX``. ``raw`` is the stream itself; everything else is the stream's.
    ``beside``: messages, whose loss is no error."""

    def __init__(
        self, raw: TextIO, secrets: frozenset[str], whole: bool, beside: bool = False
    ) -> None:
        self.raw, self._secrets, self._whole = raw, secrets, whole
        self._errors = partial(suppress, OSError) if beside else _named

    def write(self, text: str) -> int:
        """Write a text; its length."""
        shown = hidden(text, self._secrets)
        with self._errors():
            self.raw.write(visible(shown, "\n\t") if self._whole else shown)
        return len(text)

    def flush(self) -> None:
        """Give what was written to whoever reads it."""
        with self._errors():
            self.raw.flush()

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


@contextmanager
def _named() -> Iterator[None]:
    """Have an error of a stream, which has no name, say that it is the output's."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = OUTPUT
        raise


@contextmanager
def shown(arguments: Sequence[str]) -> Iterator[None]:
    """Have what is printed meanwhile be shown so. Standard output may be data (a script, JSON), in
    which a value may be that of a password: nothing is hidden there, and where no terminal reads
    it, it is as it is."""
    given = frozenset(_of_settings(arguments)).union(*map(secrets_of, _urls(arguments)))
    secrets = given | {value for name in _PASSWORDS if (value := os.environ.get(name))}
    hide_on_command_line(given)
    before = sys.stdout, sys.stderr
    sys.stdout = cast(TextIO, Shown(sys.stdout, frozenset(), sys.stdout.isatty()))
    sys.stderr = cast(TextIO, Shown(sys.stderr, secrets, True, beside=True))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _of_settings(arguments: Sequence[str]) -> Iterator[str]:
    """The values of ``--conf NAME=VALUE`` that are secret."""
    for before, word in pairwise(["", *arguments]):
        setting = word if before == "--conf" else word.removeprefix("--conf=")
        name, _, value = setting.partition("=")
        if (before == "--conf" or setting != word) and value and is_secret_setting(name):
            yield value


def _urls(arguments: Sequence[str]) -> list[str]:
    """Arguments, or values of theirs, that are URLs of databases or lists of keywords."""
    values = [
        argument.partition("=")[2] if argument.startswith("--") else argument
        for argument in arguments
    ]
    return [value for value in values if "://" in value or "password" in value.lower()]


def hide_on_command_line(secrets: frozenset[str]) -> None:
    """Overwrite secrets in the command line that ``ps`` shows (on Linux; elsewhere it stays)."""
    spelled = [secret.encode() for secret in secrets if secret]
    if not spelled:
        return
    import ctypes

    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace")
        start, stop = (int(field) for field in fields.rpartition(")")[2].split()[_ARGUMENTS])
        if not 0 < start < stop:
            return
        line = ctypes.string_at(start, stop - start)
        for secret in sorted(spelled, key=len, reverse=True):
            place = line.find(secret)
            while place >= 0:
                ctypes.memset(start + place, ord(HIDDEN[0]), len(secret))
                place = line.find(secret, place + 1)


def show(text: str) -> None:
    """Print a text; through a pager (PAGER, else less) where it is longer than the terminal."""
    height = shutil.get_terminal_size().lines
    pager = os.environ.get("PAGER") or ("less -FRX" if shutil.which("less") else "")
    whole = text.count("\n") < height or os.environ.get("TERM", "dumb") == "dumb"
    if whole or not pager or not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    shown = visible(text, "\n\t").encode(sys.stdout.encoding, "backslashreplace")
    with suppress(KeyboardInterrupt):
        subprocess.run(pager, shell=True, input=shown, check=False)


class Bar:
    """Call it with (stage, done, total). Silent unless ``stream`` is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = getattr(stream, "raw", stream)  # past what shows a bar's characters as text
        self._bar: Any = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if not self.stream.isatty():
            return
        if self._bar is None or self._bar.desc.rstrip(": ") != stage:
            if self._bar is not None:
                self._bar.close()
            from tqdm import tqdm  # terminals alone need it

            from replay.engine.contract import READING

            unit = {"unit": "B", "unit_scale": True} if stage == READING else {}
            self._bar = tqdm(total=total, desc=stage, file=self.stream, leave=False, **unit)
        self._bar.n = done
        self._bar.refresh()
