"""The words that name a log on the command line, for commands that are proposed: how to look at
what a message is about."""

from __future__ import annotations

import argparse
import re

from replay.changes.choices import EngineName
from replay.public import command, public

#: A unit of recovery in a message.
_UNIT = re.compile(r"\b(?:unit (?=[0-9A-F]{20})|URID=)?([0-9A-F]{20}/\d+)")


def log_words(arguments: argparse.Namespace, keys: bool = True) -> tuple[str, ...]:
    """The options that name a log and where it is read, as others may see them; ``keys``: and its
    keys. Not ``--conf``."""
    words: list[str] = []
    if arguments.source != "logmaster":
        words += ["--source", arguments.source]
    for option, values in getattr(arguments, "in_turn", ()):
        words += [f"--{option}", *values]
    for option, values in (("--log", arguments.log), ("--logs", arguments.logs)):
        words += [option, *values] if values else []
    for option, value in (("--catalog", arguments.catalog), ("--gaps", arguments.gaps)):
        words += [option, value] if value else []
    words += ["--framing", arguments.framing] if arguments.framing else []
    for name, value in arguments.log_option:
        words += ["--log-option", f"{name}={value}"]
    for scheme, number in arguments.ccsid:
        words += ["--ccsid", f"{scheme}={number}"]
    if keys and getattr(arguments, "schema", None):
        words += ["--schema", arguments.schema]
        if arguments.schema_dialect != "postgres":
            words += ["--schema-dialect", arguments.schema_dialect]
        if arguments.schema_encoding:
            words += ["--schema-encoding", arguments.schema_encoding]
    if getattr(arguments, "engine", EngineName.AUTO) != EngineName.AUTO:
        words += ["--engine", arguments.engine]
    if getattr(arguments, "master", None):
        words += ["--master", arguments.master]
    if getattr(arguments, "work", None):
        words += ["--work", arguments.work]
    return tuple(map(public, words))


def look_at(unit: str, arguments: argparse.Namespace) -> str:
    """How to see what a unit of recovery did."""
    return f"what unit {unit} did: {command('history', *log_words(arguments), '--ur', unit)}"


def ways_to_look(
    message: str, record: int | None, file: str | None, arguments: argparse.Namespace
) -> list[str]:
    """How to look at the unit and the record that an error names, where it is about a log."""
    if not hasattr(arguments, "source") or not hasattr(arguments, "log_option"):
        return []
    lines = []
    unit = _UNIT.search(message)
    if unit:
        lines.append(look_at(unit.group(1), arguments))
    files = [*arguments.data, *arguments.log]
    if record is not None and file in files:
        words = [*log_words(arguments, False), "--record", str(record)]
        words += ["--file", str(files.index(file) + 1)] if len(files) > 1 else []
        lines.append(f"record {record}: {command('inspect', *words)} --hex")
    return lines
