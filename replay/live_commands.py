"""The commands on live databases: replay, verify, status and mark; their arguments, and what they hand on. The command line gives the tools that all
commands share."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from replay import live, status, verify
from replay.apply import Pace
from replay.errors import UsageError
from replay.logs import LogFile
from replay.plan import ScriptOptions
from replay.progress import Bar
from replay.responses import responses_of
from replay.selection import Selection
from replay.stages import Engine
from sqlgen.constraints import Constraints

#: What the commands here have instead of the options of scripts.
_NOT_ASKED: dict[str, Any] = {
    "from_lrsn": None, "from_time": None, "include_aborted": False, "records_per_file": 250_000, "trace": False, "strict": False,
}  # fmt: skip
_ALL_OF_IT: dict[str, Any] = {**_NOT_ASKED, "until_lrsn": None, "until_time": None, "commit_every": 1}

Arguments = argparse.Namespace
Echo = Callable[[str], None]


@dataclass(frozen=True)
class Adders:
    """What adds the arguments that commands share to a parser, and the types of some."""

    log: Callable[[argparse.ArgumentParser], None]
    statements: Callable[[argparse.ArgumentParser, str], None]
    selection: Callable[[argparse.ArgumentParser, bool], None]
    schema: Callable[[argparse.ArgumentParser], None]
    engine: Callable[[argparse.ArgumentParser], None]
    position: Callable[[str], bytes]
    time: Callable[[str], bytes]
    positive: Callable[[str], int]


@dataclass(frozen=True)
class Makers:
    """What makes values of the arguments that commands share."""

    log: Callable[[Arguments, str, str], LogFile]
    selection: Callable[[Arguments], Selection]
    options: Callable[[Arguments], ScriptOptions]
    placed: Callable[[Selection, LogFile], Selection]
    check: Callable[[LogFile, Selection, ScriptOptions, str], list[str]]
    constraints: Callable[[Arguments, LogFile], Constraints]
    engine: Callable[[Arguments, Callable[[str, int, int], None]], Engine]


# -- commands ---------------------------------------------------------------------------------------------------------------------------


def _replay(make: Makers, echo: Echo, arguments: Arguments) -> int:
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch:
        log = make.log(arguments, "redo", scratch)
        asked = make.selection(arguments)
        selection = make.placed(replace(asked, until_position=None, until_time=None), log)
        options = make.options(arguments)
        for warning in make.check(log, selection, options, "replay"):
            echo(f"warning: {warning}")
        request = live.Request(
            arguments.to,
            arguments.apply,
            until=None if arguments.until_lrsn is None else log.placed(arguments.until_lrsn, True),
            until_time=arguments.until_time,
            until_mark=arguments.until_mark,
            at=None if arguments.at_lrsn is None else log.placed(arguments.at_lrsn, True),
            adjoining=arguments.adjoining,
            enforcement=arguments.enforcement == "on",
            responses=responses_of(arguments.on),
            pace=Pace(arguments.commit_every, arguments.commit_statements, arguments.tries),
        )
        with Bar(sys.stderr) as progress:
            work = live.Work(log, selection, options, make.constraints(arguments, log), make.engine(arguments, progress))
            return live.run(work, request, echo, progress, arguments.split_mb << 20)


def _verify(make: Makers, echo: Echo, arguments: Arguments) -> int:
    logged = bool(arguments.control or arguments.data or arguments.log)
    if arguments.roundtrip and not logged:
        raise UsageError("LR1001", "verify --roundtrip needs a log", hint="Give the options that name one, such as --control and --data")
    if arguments.to is None and not arguments.roundtrip:
        raise UsageError("LR1001", "found neither --to nor --roundtrip", hint="Say which database is to be compared")
    with tempfile.TemporaryDirectory(prefix="logreplay-") as scratch, Bar(sys.stderr) as progress:
        work = None
        if logged:
            log = make.log(arguments, "undo" if arguments.roundtrip else "redo", scratch)
            selection, options = make.placed(make.selection(arguments), log), make.options(arguments)
            work = live.Work(log, selection, options, make.constraints(arguments, log), make.engine(arguments, progress))
        if arguments.roundtrip:
            assert work is not None
            code, found = verify.roundtrip(arguments.to, arguments.ddl, arguments.target_schema, arguments.expected, work, echo)
        else:
            code, found = verify.state(arguments.to, arguments.target_schema, arguments.expected, work, echo)
    if arguments.certificate is not None:
        verify.write_certificate(found, arguments.certificate)
    return code


def _status(echo: Echo, arguments: Arguments) -> int:
    found = status.of(arguments.to, arguments.runs)
    if arguments.rejects is not None:
        status.write_rejects(found, arguments.rejects)
    echo(json.dumps(found, indent=1, ensure_ascii=False) if arguments.json else status.text(found))
    return 0


def _mark(echo: Echo, arguments: Arguments) -> int:
    if arguments.lrsn is not None and len(arguments.lrsn) != 10:
        raise UsageError("LR1001", "found --lrsn with fewer than 20 digits; expected 20, because no log is there to place them")
    echo(status.mark(arguments.to, arguments.name, arguments.lrsn))
    return 0


# -- parsers ------------------------------------------------------------------------------------------------------------------------------


def add_to(commands: Any, layout: dict[str, Any], add: Adders, make: Makers, echo: Echo) -> None:
    """Add the commands of this module to the parser's."""
    _add_replay(commands, layout, add).set_defaults(run=partial(_replay, make, echo), **_NOT_ASKED)
    _add_verify(commands, layout, add).set_defaults(run=partial(_verify, make, echo), **_ALL_OF_IT)

    command = commands.add_parser("status", help="how far a database has been replayed", **layout)
    _add_target(command)
    command.add_argument("--json", action="store_true", help="as JSON")
    command.add_argument("--runs", type=add.positive, default=10, metavar="N", help="how many runs to show (default 10)")
    what = "write all changes that were not applied as the log says, one JSON object a line"
    command.add_argument("--rejects", type=Path, metavar="F", help=what)
    command.set_defaults(run=partial(_status, echo))

    command = commands.add_parser("mark", help="name a point, for replay --until-mark", **layout)
    command.add_argument("name", metavar="NAME")
    command.add_argument("--lrsn", type=add.position, metavar="X", help="the commit LRSN, 20 digits (default: where the target stands)")
    _add_target(command)
    command.set_defaults(run=partial(_mark, echo))


def _add_replay(commands: Any, layout: dict[str, Any], add: Adders) -> argparse.ArgumentParser:
    what = "bring a live database to a point in time; without --apply only say what would happen"
    command: argparse.ArgumentParser = commands.add_parser("replay", help=what, description=what, **layout)
    add.log(command)
    _add_target(command)
    group = command.add_argument_group("replay")
    act = group.add_mutually_exclusive_group()
    act.add_argument("--apply", action="store_true", help="do it")
    act.add_argument("--dry-run", dest="apply", action="store_false", help="only say what would happen (default)")
    until = group.add_mutually_exclusive_group()
    what = "up to this commit LRSN, inclusive; below the target's position: back to it"
    until.add_argument("--until-lrsn", type=add.position, metavar="X", help=what)
    until.add_argument("--until-time", type=add.time, metavar="T", help="up to this commit time, inclusive, as in the log")
    until.add_argument("--until-mark", metavar="NAME", help="up to a point named with: logreplay mark")
    what = "where a target stands that was never replayed (default: before the log)"
    group.add_argument("--at-lrsn", type=add.position, metavar="X", help=what)
    group.add_argument("--adjoining", action="store_true", help="the log continues where the last one ended, although they share no unit")
    what = (
        "no-row, several-rows, duplicate-key, foreign-key or other, of insert, update or delete: stop (default), skip, overwrite or retry; the "
        "last one that fits counts"
    )
    group.add_argument("--on", action="append", default=[], metavar="CONDITION[:OP]=RESPONSE", help=what)
    what = "whether the target's triggers and foreign keys act on the replay (default on)"
    group.add_argument("--enforcement", choices=("on", "off"), default="on", help=what)
    what = "units of recovery in one transaction (default 1000)"
    group.add_argument("--commit-every", type=add.positive, default=1000, metavar="N", help=what)
    what = "or as many whole units as have N statements (default 10000)"
    group.add_argument("--commit-statements", type=add.positive, default=10_000, metavar="N", help=what)
    what = "tries after deadlocks, lost connections and with retry (default 8)"
    group.add_argument("--tries", type=add.positive, default=8, metavar="N", help=what)
    _add_how(command, add)
    return command


def _add_verify(commands: Any, layout: dict[str, Any], add: Adders) -> argparse.ArgumentParser:
    what = "compare a database with the state that it should be in, row by row; or prove that undo takes back what redo did"
    command: argparse.ArgumentParser = commands.add_parser("verify", help=what, description=what, **layout)
    add.log(command)
    _add_target(command, required=False)
    group = command.add_argument_group("verify")
    what = "the state: TABLE.csv or TABLE.csv.gz for each table; with a log: before it"
    group.add_argument("--expected", required=True, type=Path, metavar="DIR", help=what)
    group.add_argument("--target-schema", metavar="NAME", help="the schema of the tables in the target (default: that of the log)")
    what = "redo, undo and redo the log in a scratch database, and certify what comes out"
    group.add_argument("--roundtrip", action="store_true", help=what)
    group.add_argument("--ddl", type=Path, metavar="F", help="for --roundtrip without --to: a script that makes the tables")
    group.add_argument("--certificate", type=Path, metavar="F", help="write what was found as JSON")
    _add_how(command, add)
    return command


def _add_how(command: argparse.ArgumentParser, add: Adders) -> None:
    add.statements(command, "guard")
    add.selection(command, False)
    add.schema(command)
    add.engine(command)


def _add_target(parser: argparse.ArgumentParser, required: bool = True) -> None:
    group = parser.add_argument_group("target")
    what = "the database, as in postgresql://user@host/database; better without a password: PGPASSWORD, PGSERVICE and ~/.pgpass are heard"
    group.add_argument("--to", required=required, metavar="URL", help=what)
