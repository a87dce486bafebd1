"""Options from a file: ``--config``, or ``logreplay.toml`` beside the log. They become words of the
command line in front of those that were given; an option that was given there is not taken from the
file.

At the top stand options of every command that has them, in ``[COMMAND]`` those of one, in
``[selections.NAME]`` those that ``--selection NAME`` adds. Paths are relative to the file.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay.cli.examples import commands_of
from replay.errors import UsageError, Where, cause_of
from replay.storage import refuse_secrets
from sqlgen.late import LateModule

if TYPE_CHECKING:
    import tomllib
else:
    tomllib = LateModule("tomllib")

#: The name of a file that is found beside the log.
BESIDE = "logreplay.toml"
#: Options that name files of the user, to be read.
_PATHS = frozenset(
    {
        *("control", "data", "log", "logs", "catalog", "schema", "mapping", "mask-key-file"),
        *("initial", "baseline", "expected", "ddl", "marks", "sign-key", "public-key"),
    }
)
_WORDS = ("config", "selection")


def with_config(argv: Sequence[str], parser: argparse.ArgumentParser) -> list[str]:
    """The words of a command line with those of its file. UsageError (LR1001) for a file that
    cannot be used, and for an option in it that no command has."""
    commands = commands_of(parser)
    place = next((at for at, word in enumerate(argv) if word in commands), None)
    if place is None or not _has(commands[argv[place]], "config"):
        return list(argv)
    command, given = argv[place], argv[place + 1 :]
    taker = commands[command]
    if any(word in ("-h", "--help") for word in given):
        return list(argv)
    named = _value(taker, given, "--config")
    selection = _value(taker, given, "--selection")
    for text in filter(None, (named, selection)):
        refuse_secrets(text)
    path = Path(named) if named is not None else _beside(taker, given)
    if path is None:
        if selection is not None:
            raise UsageError(
                "LR1001",
                f"found --selection {selection} without a file that has it; expected --config, or"
                f" {BESIDE} beside the log",
            )
        return list(argv)
    settings = _read(path)
    words = list(_words(settings, command, commands, given, selection, path))
    return [*argv[: place + 1], *words, *given]


def _option(parser: argparse.ArgumentParser, word: str) -> str | None:
    """The option that a word names, in full or cut short as the parser takes it."""
    name = word.partition("=")[0]
    known = parser._option_string_actions
    if name in known:
        return name
    like = [option for option in known if option.startswith(name)] if name[2:] else []
    return like[0] if len({id(known[option]) for option in like}) == 1 else None


def _value(parser: argparse.ArgumentParser, words: Sequence[str], option: str) -> str | None:
    for at, word in enumerate(words):
        if not word.startswith("--") or _option(parser, word) != option:
            continue
        if "=" in word:
            return word.partition("=")[2]
        if at + 1 < len(words):
            return words[at + 1]
    return None


def _beside(parser: argparse.ArgumentParser, words: Sequence[str]) -> Path | None:
    """The file beside the first file of the log that is named."""
    for option in ("--control", "--data", "--log", "--logs"):
        named = _value(parser, words, option)
        if named is None:
            continue
        folder = Path(named) if option == "--logs" and Path(named).is_dir() else Path(named).parent
        with suppress(PermissionError):  # nor can the log be read there, which is said then
            if (path := folder / BESIDE).is_file():
                return path
    return None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(
            "LR1001",
            f"the options cannot be read: {cause_of(error)}; expected TOML",
            Where(str(path)),
        ) from None


def _words(
    settings: Mapping[str, Any],
    command: str,
    commands: Mapping[str, argparse.ArgumentParser],
    given: Sequence[str],
    selection: str | None,
    path: Path,
) -> Iterator[str]:
    sections = [{name: value for name, value in settings.items() if not isinstance(value, dict)}]
    sections.append(settings.get(command, {}))
    stored = settings.get("selections", {})
    if selection is not None:
        if selection not in stored:
            raise _unusable(path, f"no selection {selection}", f"one of: {', '.join(stored)}")
        sections.append(stored[selection])
    for name in settings:
        if isinstance(settings[name], dict) and name not in (*commands, "selections"):
            raise _unusable(path, f"[{name}]", "[selections.NAME], or a command")
    chosen: dict[str, Any] = {}
    for section in sections:
        chosen |= {name.replace("_", "-"): value for name, value in section.items()}
    for name, value in chosen.items():
        if name == "log" and isinstance(value, list) and any(isinstance(e, dict) for e in value):
            taker = commands[command]
            if _has(taker, "logs") and not _names_a_log(taker, given):
                yield f"--logs={path}"
            continue
        if name in _WORDS or not any(_has(one, name) for one in commands.values()):
            raise _unusable(path, f"{name}", "the name of an option without --")
        if _has(commands[command], name) and not _is_given(commands[command], name, given):
            yield from _spelled(name, value, path)


def _names_a_log(parser: argparse.ArgumentParser, given: Sequence[str]) -> bool:
    """Whether the command line names a log, in place of the list of logs in a file."""
    named = (_option(parser, word) for word in given if word.startswith("--"))
    return any(option in ("--control", "--data", "--log", "--logs") for option in named)


def _unusable(path: Path, found: str, expected: str) -> UsageError:
    return UsageError("LR1001", f"found {found}; expected {expected}", Where(str(path)))


def _has(parser: argparse.ArgumentParser, name: str) -> bool:
    return f"--{name}" in parser._option_string_actions


def _is_given(parser: argparse.ArgumentParser, name: str, given: Sequence[str]) -> bool:
    """Whether an option is on the command line, under any of its names, in full or cut short."""
    names = parser._option_string_actions[f"--{name}"].option_strings
    return any(_option(parser, word) in names for word in given if word.startswith("--"))


def _spelled(name: str, value: Any, path: Path) -> Iterator[str]:
    if isinstance(value, bool):
        yield from [f"--{name}"] if value else []
        return
    for one in value if isinstance(value, list) else [value]:
        text = str(one)
        if name in _PATHS and "://" not in text and text != "none":
            text = str(path.parent / text)
        yield f"--{name}={text}"
