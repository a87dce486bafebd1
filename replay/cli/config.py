"""Options from a file: ``--config``, that of LOGREPLAY_CONFIG, or ``logreplay.toml`` beside the log
or in the current folder. They become words of the
command line in front of those that were given; an option that was given there is not taken from the
file, nor is its log where another one is named.

At the top stand options of every command that has them, in ``[COMMAND]`` those of one, in
``[selections.NAME]`` those that ``--selection NAME`` adds. Paths are relative to the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.cli.parser import log_words, named_option, parser_of
from replay.errors import UsageError, Where, cause_of
from replay.options.command_options import OPTIONS, options_of
from replay.options.command_table import BY_NAME
from replay.options.option import Option
from replay.redaction import options, public
from replay.storage import refuse_secrets
from sqlgen.lazy_imports import when_used

with when_used():
    import tomllib

#: The name of a file that is found beside the log.
BESIDE = "logreplay.toml"
#: The variable that names one.
ENVIRONMENT = "LOGREPLAY_CONFIG"
#: Options that say what a log is.
_LOG_GROUP = "log"
_WORDS = ("config", "selection")
_OF_LOG = ("--control", "--data", "--log", "--logs")


@dataclass(frozen=True)
class FromFile:
    """An option that is taken from a file: its name there, its words, and its line."""

    name: str
    words: tuple[str, ...]
    line: int

    @property
    def values(self) -> Iterator[str]:
        """What it is set to; nothing where it is there or not."""
        return (word.partition("=")[2] for word in self.words if "=" in word)

    @property
    def as_in_messages(self) -> Iterator[str]:
        """How messages name it: the option, a value in quotes, a path. Other words are also about
        other things."""
        yield f"--{self.name}"
        for value in self.values:
            yield value if "/" in value else repr(value)


@dataclass(frozen=True)
class Configured:
    """The words of a command line with those of its file; ``found``: nobody named the file;
    ``given``: the command line itself; ``selecting``: options of the stored selection."""

    words: list[str]
    path: Path | None = None
    taken: tuple[FromFile, ...] = ()
    found: bool = False
    given: tuple[str, ...] = ()
    selecting: tuple[str, ...] = ()

    def with_selection(self, name: str, kind: str) -> Configured:
        """The same command line with another stored selection, for an output of a kind. UsageError
        (LR1001) as :func:`with_config`; for options of it that were typed, which would win; and for
        those that only the command of this kind has."""
        command, *words = self.given
        made = with_config(self.given, name)
        typed = [named_option(command, word) for word in words]
        for option in made.selecting:
            known = named_option(command, f"--{option}")
            if known and known in typed:
                raise UsageError(
                    "LR1001",
                    f"found {known.name} beside the selection {name}, which has it too; expected"
                    " it in one of them",
                )
            if not known and kind in BY_NAME and named_option(kind, f"--{option}"):
                raise UsageError(
                    "LR1001",
                    f"found {option} in the selection {name}, which {command} does not have;"
                    f" expected it in a command {kind}",
                )
        return made

    @property
    def note(self) -> str:
        """What is taken from a file that nobody named, for it changes the answer; else ''."""
        if not (self.found and self.taken):
            return ""
        words = (part for one in self.taken for word in one.words for part in _as_typed(word))
        return f"note: options from {self.path}: {options(*words)}"

    def origin(self, message: str) -> str:
        """Where the options come from that a message is about; '' where they are not the
        file's."""
        lines = [
            f"{options(*map(public, one.values)) or one.name} is in {self.path}, line {one.line}"
            for one in self.taken
            if any(_names(message, word) for word in one.as_in_messages)
        ]
        return "\n".join(lines)


def _as_typed(word: str) -> list[str]:
    name, sign, value = word.partition("=")
    return [name, public(value)] if sign else [name]


def _names(message: str, word: str) -> bool:
    """Whether a message has a word, and not as a part of another."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", message) is not None


def with_config(argv: Sequence[str], other: str | None = None) -> Configured:
    """The words of a command line with those of its file; ``other``: a stored selection that counts
    instead of the one that is named. UsageError (LR1001) for a file that
    cannot be used, and for an option in it that no command has; a value that is not understood ends
    the process with the line that it is in, as one of the command line does."""
    command, *given = argv
    taken = {option.name.removeprefix("--"): option for option in options_of(command)}
    if "config" not in taken or any(word in ("-h", "--help") for word in given):
        return Configured(list(argv))
    named = _value(command, given, "--config")
    selection = other or _value(command, given, "--selection")
    for text in filter(None, (named, selection)):
        refuse_secrets(text)
    path = Path(named) if named is not None else _found(command, given)
    if path is None:
        if selection is not None:
            raise UsageError(
                "LR1001",
                f"found --selection {selection} without a file that has it; expected --config, or"
                f" {BESIDE} beside the log or in the current folder",
            )
        return Configured(list(argv), given=tuple(argv))
    text, settings = _read(path)
    sections = [("", settings), (command, settings.get(command, {}))]
    stored = settings.get("selections", {})
    if selection is not None:
        if selection not in stored:
            raise _unusable(path, f"no selection {selection}", f"one of: {', '.join(stored)}")
        sections.append((f"selections.{selection}", stored[selection]))
    for name in settings:
        if isinstance(settings[name], dict) and name not in (*BY_NAME, "selections"):
            raise _unusable(path, f"[{name}]", "[selections.NAME], or a command")
    chosen: dict[str, tuple[str, Any]] = {}
    for section, values in sections:
        chosen |= {
            name.replace("_", "-"): (section, value)
            for name, value in values.items()
            if section or not isinstance(value, dict)
        }
    of_file = tuple(_taken(chosen, command, taken, given, path, text))
    words = [word for one in of_file for word in one.words]
    selecting = tuple(name.replace("_", "-") for name in stored.get(selection, ()))
    words = [command, *words, *given]
    return Configured(words, path, of_file, named is None, tuple(argv), selecting)


def _taken(
    chosen: Mapping[str, tuple[str, Any]],
    command: str,
    taken: Mapping[str, Option],
    given: Sequence[str],
    path: Path,
    text: str,
) -> Iterator[FromFile]:
    """The options of a file: those that the command has, and that are not given, nor one that
    excludes them."""
    known = {name.removeprefix("--") for option in OPTIONS for name in option.names}
    typed = [option for word in given if (option := named_option(command, word))]
    either = {option.either for option in typed if option.either}
    there = {option.name for option in typed}
    there |= {option.name for option in taken.values() if option.either in either}
    named = log_words(command, given)
    if named or (path.parent == Path() and not there.isdisjoint(_OF_LOG)):
        there |= set(_OF_LOG)
        if path.parent == Path():  # what a file in the current folder says of a log, is of its own
            there |= {option.name for option in taken.values() if option.group == _LOG_GROUP}
    for name, (section, value) in chosen.items():
        line = _line_of(text, section, name)
        if name == "log" and isinstance(value, list) and any(isinstance(e, dict) for e in value):
            if "logs" in taken and there.isdisjoint(_OF_LOG):
                yield FromFile("logs", (f"--logs={path}",), line)
            continue
        if name in _WORDS or name not in known:
            raise _unusable(path, name, "the name of an option without --")
        option = named_option(command, f"--{name}")
        if option is None or option.name in there or not _means_something(option, given):
            continue
        try:
            words = tuple(_spelled(option, name, value, path))
        except UsageError as error:
            parser_of(command).error(f"{path}, line {line}: {name}: {error.message}")
        if words:
            yield FromFile(name, words, line)


def _means_something(option: Option, given: Sequence[str]) -> bool:
    """Whether a report is of a kind that an option is for: a file has those of several."""
    needed, _, kinds = option.only.partition("=")
    return needed != "kind" or any(word in kinds.split(",") for word in given)


def _spelled(option: Option, name: str, value: Any, path: Path) -> Iterator[str]:
    """The words of an option. UsageError for a value that it does not take."""
    if option.kind.words == 0:
        if not isinstance(value, bool):
            raise UsageError("LR1001", f"found {value!r}; expected true or false")
        yield from [f"--{name}"] if value else []
        return
    for one in value if isinstance(value, list) else [value]:
        text = str(one)
        if option.beside and "://" not in text and text != "none":
            text = str(path.parent / text)
        option.kind.value(text)
        yield f"--{name}={text}"


def _line_of(text: str, section: str, name: str) -> int:
    """The line of a file that has an option of a section, '' being what stands before all."""
    found, current = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*\[([^\[\]]+)\]", line):
            current = head.group(1).replace('"', "").replace(" ", "")
        elif current == section and re.match(rf"\s*\W?{name.replace('-', '[-_]')}\W?\s*=", line):
            found = number
    return found


def _value(command: str, words: Sequence[str], name: str) -> str | None:
    for at, word in enumerate(words):
        option = named_option(command, word)
        if option is None or name not in option.names:
            continue
        if "=" in word:
            return word.partition("=")[2]
        if at + 1 < len(words):
            return words[at + 1]
    return None


def _found(command: str, words: Sequence[str]) -> Path | None:
    """The file that LOGREPLAY_CONFIG names, or that lies beside the first file of the log that is
    named, or in the current folder."""
    if named := os.environ.get(ENVIRONMENT):
        return Path(named).absolute()
    given = [_value(command, words, option) for option in _OF_LOG]
    for name in (*log_words(command, words)[:1], *filter(None, given)):
        folder = Path(name) if Path(name).is_dir() else Path(name).parent
        with suppress(PermissionError):  # nor can the log be read there, which is said then
            if (path := folder / BESIDE).is_file():
                return path.absolute()
    with suppress(PermissionError):
        return Path(BESIDE) if Path(BESIDE).is_file() else None
    return None


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(
            "LR1001",
            f"the options cannot be read: {cause_of(error)}; expected TOML",
            Where(str(path)),
        ) from None


def _unusable(path: Path, found: str, expected: str) -> UsageError:
    return UsageError("LR1001", f"found {found}; expected {expected}", Where(str(path)))
