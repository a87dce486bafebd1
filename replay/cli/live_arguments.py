"""The options of commands that work on a live database."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from replay.changes.choices import (
    ApplyMode,
    BehindDamage,
    Enforcement,
)
from replay.cli.argument_groups import (
    add_following,
    add_formats,
    add_how,
    add_log,
    add_target,
)
from replay.cli.argument_types import (
    place,
    position,
    positive,
    time,
)
from replay.cli.mark_arguments import add_mark
from replay.cli.selection_arguments import (
    add_marks,
)
from replay.targets.hazards import ACCEPTABLE

#: What commands on live databases have instead of the options of scripts.
_NOT_ASKED: dict[str, Any] = {
    "from_position": None, "from_time": None, "include_aborted": False, "records_per_file": 250_000,
    "trace": False, "strict": False,
}  # fmt: skip
_ALL_OF_IT: dict[str, Any] = {
    **_NOT_ASKED,
    "until_position": None,
    "until_time": None,
    "commit_every": 1,
}


def add_live(
    commands: Any, layout: dict[str, Any], run: Mapping[str, Callable[[argparse.Namespace], int]]
) -> None:
    """Add the commands, each with its function in ``run``; ``layout`` is what all have."""
    _add_replay(commands, layout).set_defaults(run=run["replay"], continues=True, **_NOT_ASKED)
    _add_follow(commands, layout, run)
    _add_verify(commands, layout).set_defaults(run=run["verify"], **_ALL_OF_IT)

    what = (
        "create logreplay's own tables in a target beforehand, so that replay needs no CREATE right"
    )
    command = commands.add_parser("prepare", help=what, description=what, **layout)
    add_target(command)
    command.add_argument(
        "--role", metavar="NAME", help="also grant role NAME the rights on them that replay needs"
    )
    command.add_argument(
        "--print", dest="only_print", action="store_true", help="only show the statements"
    )
    command.set_defaults(run=run["prepare"])

    what = "how far a database has been replayed; given a log, also when that position committed"
    command = commands.add_parser("status", help=what, description=what, **layout)
    add_target(command)
    add_log(command)
    command.add_argument("--json", action="store_true", help="print the status as JSON")
    command.add_argument(
        "--runs", type=positive, default=10, metavar="N", help="how many runs to show (default 10)"
    )
    command.add_argument(
        "--watch", action="store_true", help="repeat until interrupted, printing what has changed"
    )
    command.add_argument(
        "--every",
        type=positive,
        default=5,
        metavar="S",
        help="--watch: every S seconds (default 5)",
    )
    what = (
        "write all changes that were not applied as logged to this file: as JSON lines or, where"
        " its name ends in .sql, as a script that applies them, each with the check of its row"
    )
    command.add_argument("--rejects", type=place, metavar="F", help=what)
    command.set_defaults(run=run["status"])

    add_mark(commands, layout).set_defaults(run=run["mark"])


def _add_follow(
    commands: Any, layout: dict[str, Any], run: Mapping[str, Callable[[argparse.Namespace], int]]
) -> None:
    what = "watch a folder, and bring a live database or an export up to date as logs arrive"
    command = commands.add_parser("follow", help=what, description=what, **layout)
    _add_replaying(command, required=False)
    add_following(command)
    group = command.add_argument_group("export (beside --to, or without it)")
    group.add_argument(
        "--export",
        type=place,
        metavar="DIR",
        help="the folder whose datasets grow by one commit each time logs arrive",
    )
    add_formats(group)
    command.set_defaults(
        run=run["follow"], until_told=True, behind_damage=BehindDamage.HOLD, **_NOT_ASKED
    )
    for name, what in (
        ("pause", "tell every `logreplay follow` of a folder to wait"),
        ("resume", "tell every `logreplay follow` of a folder to go on"),
    ):
        command = commands.add_parser(name, help=what, description=what, **layout)
        command.add_argument(
            "folder", metavar="DIR|URL", help="the folder of logs that is followed, or its URL"
        )
        command.set_defaults(run=run[name])


def _add_replay(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    what = "bring a live database to a point in time; without --apply only show what would happen"
    command: argparse.ArgumentParser = commands.add_parser(
        "replay", help=what, description=what, **layout
    )
    act = command.add_mutually_exclusive_group()
    act.add_argument("--apply", action="store_true", help="write to the database")
    act.add_argument(
        "--dry-run",
        dest="apply",
        action="store_false",
        help="only show what would happen (default)",
    )
    return _add_replaying(command)


def _add_replaying(
    command: argparse.ArgumentParser, required: bool = True
) -> argparse.ArgumentParser:
    """The options of a replay into a live database."""
    add_log(command)
    add_target(command, required)
    group = command.add_argument_group("replay")
    until = group.add_mutually_exclusive_group()
    what = (
        "up to this commit position, inclusive; one below the target's position takes the units"
        " after it back"
    )
    until.add_argument("--until-position", "--until-lrsn", type=position, metavar="X", help=what)
    until.add_argument(
        "--until-time",
        type=partial(time, True),
        metavar="T",
        help="up to this commit time, inclusive, as in the log",
    )
    until.add_argument(
        "--until-mark",
        metavar="NAME",
        help="up to a point named with logreplay mark, in the target or beside the log",
    )
    add_marks(group)
    what = (
        "the commit position of the data in a target that was never replayed (default: before the"
        " log)"
    )
    group.add_argument("--at-position", "--at-lrsn", type=position, metavar="X", help=what)
    group.add_argument(
        "--adjoining",
        action="store_true",
        help="accept that this log continues where the last one ended, although they share no unit",
    )
    what = (
        "what to do when a statement fails. CONDITION is no-row, several-rows, duplicate-key,"
        " foreign-key, other, or a SQLSTATE; OP is insert, update or delete; RESPONSE is stop"
        " (default), skip, overwrite or retry. Repeatable; the last one that matches counts. A full"
        " disk and the like, which any statement would end in, can be tried again only"
    )
    group.add_argument(
        "--on", action="append", default=[], metavar="CONDITION[:OP]=RESPONSE", help=what
    )
    _add_applying(group)
    add_how(command)
    return command


def _add_applying(group: Any) -> None:
    """How changes are applied to a live database: in which transactions and mode."""
    what = "whether the target's triggers and foreign keys act on the replay (default on)"
    group.add_argument(
        "--enforcement", choices=tuple(Enforcement), default=Enforcement.ON, help=what
    )
    what = (
        "go ahead in spite of a refusal, on your responsibility; CODE is in the refusal's text"
        f" (repeatable; kept in the target's history): {', '.join(ACCEPTABLE)}"
    )
    group.add_argument(
        "--accept", action="append", default=[], choices=ACCEPTABLE, metavar="CODE", help=what
    )
    what = "units of recovery in one transaction (default 1000)"
    group.add_argument("--commit-every", type=positive, default=1000, metavar="N", help=what)
    what = "or as many whole units as have N statements (default 10000)"
    group.add_argument("--commit-statements", type=positive, metavar="N", help=what)
    what = (
        "strict: every statement in commit order (default); bulk (PostgreSQL): the same, but rows"
        " of a transaction come in together where nothing can tell their order"
    )
    group.add_argument("--mode", choices=tuple(ApplyMode), default=ApplyMode.STRICT, help=what)
    what = "tries after a deadlock, a lost connection or an --on …=retry (default 8)"
    group.add_argument("--tries", type=positive, default=8, metavar="N", help=what)


def _add_verify(commands: Any, layout: dict[str, Any]) -> argparse.ArgumentParser:
    what = (
        "compare a database, row by row, with the state that it should be in; prove that undo"
        " takes back what redo did; or check the certificate of an earlier verification"
    )
    command: argparse.ArgumentParser = commands.add_parser(
        "verify", help=what, description=what, **layout
    )
    add_log(command)
    add_target(command, required=False)
    group = command.add_argument_group("verify")
    what = (
        "the expected rows, TABLE.csv or TABLE.csv.gz for each table; given a log: the rows before"
        " it, to which its changes are added"
    )
    group.add_argument("--expected", type=place, metavar="DIR", help=what)
    group.add_argument(
        "--target-schema",
        metavar="NAME",
        help="the schema of the tables in the target (default: that of the log)",
    )
    what = "redo, undo and redo the log in a scratch database, and certify the result"
    group.add_argument("--roundtrip", action="store_true", help=what)
    group.add_argument(
        "--ddl",
        type=place,
        metavar="F",
        help="for --roundtrip without --to: a script that makes the tables",
    )
    group.add_argument(
        "--scratch",
        metavar="URL",
        help="server for the scratch database (an empty one for MariaDB and MySQL, which need it)",
    )
    what = (
        "write the result as JSON; without --expected: check this existing certificate (with the"
        " log and --to: that it is about this log, and that the database still has these rows)"
    )
    group.add_argument("--certificate", type=place, metavar="FILE", help=what)
    what = "sign the certificate with this private key (Ed25519, PEM)"
    group.add_argument("--sign-key", type=place, metavar="FILE", help=what)
    what = "check that the certificate was signed with the private half of this key (PEM)"
    group.add_argument("--public-key", type=place, metavar="FILE", help=what)
    add_how(command)
    return command
