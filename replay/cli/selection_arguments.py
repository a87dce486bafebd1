"""Options that say which changes are taken."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from replay.changes.choices import (
    SETTING_ASIDE,
    BehindDamage,
    CascadeMode,
    Derived,
    Incomplete,
    Operation,
)
from replay.cli.argument_types import (
    numbers,
    position,
    rid,
    time,
    unit,
    unit_choice,
)


def add_selection(
    parser: argparse.ArgumentParser,
    script: bool = True,
    copies: bool = False,
    undone: bool = True,
) -> None:
    """Which changes; ``script``: of a range too; ``copies``: for a copy of the log, which holds
    what whoever reads it leaves out; ``undone``: rolled-back work can be shown."""
    group = parser.add_argument_group("selection (all of it combines)")
    if script:
        add_range(group, undone and not copies)
    add_tables(group)
    group.add_argument(
        "--op",
        action="append",
        default=[],
        choices=sorted(Operation),
        help="only these operations (repeatable)",
    )
    group.add_argument(
        "--ur",
        action="append",
        default=[],
        type=unit,
        metavar="URID[/MEMBER]",
        help="only these units of recovery (repeatable)",
    )
    for name, what in (
        ("authid", "authorization ids"),
        ("plan", "plans"),
        ("correlation", "correlation ids"),
        ("connection", "connection ids"),
    ):
        group.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="GLOB",
            help=f"only these {what} (repeatable)",
        )
    group.add_argument(
        "--member",
        action="append",
        default=[],
        type=int,
        metavar="N",
        help="only this data sharing member (repeatable)",
    )
    _add_places(group)
    group.add_argument(
        "--where",
        metavar="SQL",
        help=(
            "only changes whose values satisfy a condition: before.col, after.col, or col (either"
            " image)"
        ),
    )
    _add_derived(group)
    if copies:
        _add_copied(group)
        return
    _add_set_aside(group)
    group.add_argument(
        "--from-recovery-point",
        action="store_true",
        help="also records of SQLTYPE R (after a REDO recovery point)",
    )


def _add_derived(group: argparse._ArgumentGroup) -> None:
    """What becomes of changes that the database made by itself."""
    group.add_argument(
        "--ri",
        choices=tuple(Derived),
        default=Derived.APPLY,
        help=(
            "changes caused by RI (with or without a trigger): skip where the target's foreign keys"
            " do the same"
        ),
    )
    group.add_argument(
        "--triggers",
        choices=tuple(Derived),
        default=Derived.APPLY,
        help="changes caused by triggers alone: skip where the target's triggers do the same",
    )


def _add_set_aside(group: argparse._ArgumentGroup) -> None:
    """What becomes of units that lack changes, and of what may build on them."""
    group.add_argument(
        "--incomplete",
        choices=SETTING_ASIDE,
        default=Incomplete.RESOLVE,
        help=(
            "incomplete units: set aside those and what provably depends on them (default), every"
            " unit the log flags, or all from DEPENDENTRBA on (Log Master's rules, which go by the"
            " log's flags alone)"
        ),
    )
    group.add_argument(
        "--behind-damage",
        choices=tuple(BehindDamage),
        help=(
            "units that change a table after a damaged record in it whose row cannot be told: set"
            " aside (hold; the default of follow, --grow and --after, where the damaged unit"
            " comes when it is whole) or taken (take)"
        ),
    )


def _add_copied(group: argparse._ArgumentGroup) -> None:
    """What becomes of what a reader of the copy would leave out, and of units taken in part."""
    group.add_argument(
        "--incomplete",
        choices=tuple(Incomplete),
        default=Incomplete.KEEP,
        help=(
            "incomplete units: keep them, flagged as they are (default), or leave out those and"
            " what provably depends on them (resolve), every unit the log flags (quarantine), or"
            " all from DEPENDENTRBA on"
        ),
    )
    group.add_argument(
        "--committed-only",
        action="store_true",
        help="leave out rolled-back work (default: keep it, marked as rolled back)",
    )
    group.add_argument(
        "--whole-units",
        action="store_true",
        help="take all changes of a unit of recovery that has a selected one (default: only those)",
    )


def add_positions(group: Any) -> None:
    """From which commit position to which."""
    group.add_argument(
        "--from-position",
        "--from-lrsn",
        type=position,
        metavar="X",
        help="lowest commit position, inclusive",
    )
    group.add_argument(
        "--until-position",
        "--until-lrsn",
        type=position,
        metavar="X",
        help="highest commit position, inclusive",
    )
    group.add_argument(
        "--from-mark",
        metavar="NAME",
        help="only what committed after a mark; NAME(-1): the last but one of that name",
    )
    group.add_argument(
        "--until-mark", metavar="NAME", help="only what committed at or before a mark"
    )
    add_marks(group)


def add_marks(group: Any, what: str = "a mark") -> None:
    """The file of marks."""
    group.add_argument(
        "--marks",
        metavar="FILE|URL",
        help=f"the file in which {what} is looked up (default: logreplay-marks.jsonl beside the"
        " first data file; see logreplay mark)",
    )


def add_range(group: Any, undone: bool = True) -> None:
    """From where to where in the log; ``undone`` as for :func:`add_selection`."""
    add_positions(group)
    group.add_argument(
        "--from-time",
        type=partial(time, False),
        metavar="T",
        help="earliest commit time, inclusive, as in the log",
    )
    group.add_argument(
        "--until-time",
        type=partial(time, True),
        metavar="T",
        help="latest commit time, inclusive; '2026-03-02 10:15' means up to the end of that minute",
    )
    if not undone:
        return
    group.add_argument(
        "--include-aborted",
        action="store_true",
        help="show rolled-back work too: as comments of scripts, in a folder of its own (export),"
        " or marked as such (history, report)",
    )


def add_tables(group: argparse._ArgumentGroup) -> None:
    """Which tables."""
    group.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="GLOB",
        help="only tables OWNER.NAME (repeatable)",
    )
    group.add_argument(
        "--exclude-table",
        action="append",
        default=[],
        metavar="GLOB",
        help="not these tables (repeatable)",
    )


def _add_places(group: argparse._ArgumentGroup) -> None:
    """Which logical units of work, and where rows lie."""
    texts: tuple[tuple[str, str, str], ...] = (
        (
            "luw",
            "NETWORK.NAME.INSTANCE[.SEQUENCE]",
            "only these logical units of work (LUWIDs; globs, repeatable)",
        ),
        ("database", "GLOB|DBID", "only tables of this database, by name or id (repeatable)"),
        (
            "tablespace",
            "GLOB|DATABASE.GLOB|ID",
            "only tables of this table space, by name or id (repeatable)",
        ),
    )
    for name, form, what in texts:
        group.add_argument(f"--{name}", action="append", default=[], metavar=form, help=what)
    for name, what in (
        ("partition", "only rows of these partitions (repeatable)"),
        (
            "page",
            "only rows of these pages, as the RID in the log has them; 0x1F or 31 (repeatable)",
        ),
    ):
        group.add_argument(
            f"--{name}",
            action="append",
            default=[],
            type=numbers,
            metavar="N|FIRST-LAST",
            help=what,
        )
    group.add_argument(
        "--rid",
        action="append",
        default=[],
        type=rid,
        metavar="X",
        help="only the row with this identifier, in the hexadecimal digits of the log (repeatable)",
    )


def add_dependents(parser: argparse.ArgumentParser, mode: str) -> None:
    """What becomes of changes that depend on others."""
    group = parser.add_argument_group("dependencies")
    if mode == "undo":
        group.add_argument(
            "--cascade",
            choices=tuple(CascadeMode),
            default=CascadeMode.NONE,
            help=(
                "later changes that depend on what is undone: none: refuse and name them (default);"
                " all: undo them too; non-conflicting: do not undo what they depend on; force: undo"
                " the selected changes all the same, and leave theirs"
            ),
        )
    else:
        group.add_argument(
            "--except",
            dest="excepted",
            action="append",
            default=[],
            type=unit_choice,
            metavar="URID[/M] or KIND=GLOB",
            help=(
                "all but these units of recovery and those that depend on them; KIND is ur, authid,"
                " plan, correlation, connection or luw (repeatable: all that one of them names)"
            ),
        )


def add_baseline(parser: argparse.ArgumentParser, when: str) -> None:
    """A state that rows are compared with."""
    group = parser.add_argument_group("known state of the rows")
    proves = (
        "; a unit that may depend on an incomplete one is taken if this state proves that it does"
        " not"
        if when == "before the log"
        else ""
    )
    group.add_argument(
        "--baseline",
        metavar="DIR|URL",
        help=(
            f"the rows {when}: a folder with a TABLE.csv for each table, or a database; rows that"
            f" differ there from what the log says are counted and named{proves}"
        ),
    )
