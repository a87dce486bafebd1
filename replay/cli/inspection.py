"""The commands that look at a log as a whole: what is in it, and whether it agrees with itself.
Arguments in, text and exit code out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from replay.changes.selection import Selection
from replay.cli.progress import Bar
from replay.cli.request import LogInput
from replay.errors import EXIT_OK, UsageError
from replay.logs import inspect
from replay.pipeline.request import Demand, OpenLog
from replay.temp_folders import WorkFolder
from sqlgen.constraints import Constraints
from sqlgen.late import LateModule

if TYPE_CHECKING:
    from replay.dependencies import agreement
else:  # what one of the commands needs
    agreement = LateModule("replay.dependencies.agreement")


def _inspect(arguments: argparse.Namespace) -> int:
    reading = LogInput.of(arguments)
    with WorkFolder() as scratch:
        opened = reading.open(scratch)
        family, log = opened.family, opened.log
        if arguments.record is not None and arguments.json:
            raise UsageError(
                "LR1001",
                "found --record with --json; expected one of them: a record is shown as text",
            )
        if arguments.record is not None:
            for line in family.dump_record(log, arguments.record, arguments.file, arguments.hex):
                print(line)
            return EXIT_OK
        description = inspect.describe(family, log)
        checked = _agreement(reading, opened) if arguments.deep else None
    code, values = description.exit_code, dict(description.values)
    if checked is not None:
        code = max(code, checked.exit_code)
        values |= {"agreement": checked.describe(), "exit_code": code}
    print(
        json.dumps(values, indent=1, ensure_ascii=False) if arguments.json else description.text()
    )
    if checked is not None and not arguments.json:
        print(f"\n{checked}")
    return code


def _agreement(
    reading: LogInput, opened: OpenLog, constraints: Constraints | None = None
) -> agreement.Agreement:
    """Whether a log agrees with itself."""
    with Bar(sys.stderr) as progress:
        engine = reading.engine_for(opened.log, progress)
        return agreement.agreement_of(opened, engine, reading.split_bytes, constraints)


def _check(arguments: argparse.Namespace) -> int:
    reading = LogInput.of(arguments)
    with WorkFolder() as scratch:
        request = reading.request(scratch, Demand(continued=True), Selection())
        checked = _agreement(reading, request.opened, request.constraints)
    print(
        json.dumps(checked.describe(), indent=1, ensure_ascii=False)
        if arguments.json
        else str(checked)
    )
    return checked.exit_code


INSPECTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "inspect": _inspect,
    "check": _check,
}
