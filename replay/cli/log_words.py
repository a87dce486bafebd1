"""Commands that are proposed: how to look at what a message is about."""

from __future__ import annotations

import re

from replay.cli.request import LogInput
from replay.public import command

#: A unit of recovery in a message.
_UNIT = re.compile(r"\b(?:unit (?=[0-9A-F]{20})|URID=)?([0-9A-F]{20}/\d+)")


def look_at(unit: str, reading: LogInput) -> str:
    """How to see what a unit of recovery did."""
    return f"what unit {unit} did: {command('history', *reading.words(), '--ur', unit)}"


def ways_to_look(
    message: str, record: int | None, file: str | None, reading: LogInput
) -> list[str]:
    """How to look at the unit and the record that an error names."""
    lines = []
    unit = _UNIT.search(message)
    if unit:
        lines.append(look_at(unit.group(1), reading))
    if record is not None and file in reading.files:
        words = [*reading.words(False), "--record", str(record)]
        if len(reading.files) > 1:
            words += ["--file", str(reading.files.index(file) + 1)]
        lines.append(f"record {record}: {command('inspect', *words)} --hex")
    return lines
