"""Options that say how statements are written: dialect, names, columns, values, keys."""

from __future__ import annotations

import argparse

from replay.changes.choices import (
    Generation,
)
from replay.cli.argument_types import (
    place,
)
from sqlgen.choices import (
    DEFAULT_DIALECT,
    DIALECTS,
    EmptyTextPolicy,
    MidnightPolicy,
    Names,
    NulPolicy,
    PaddingPolicy,
    RealPolicy,
    TimestampPolicy,
    WhereColumns,
)


def add_statements(parser: argparse.ArgumentParser, where: str, dialect: bool = True) -> None:
    """How statements are written; ``where`` is the default of ``--where-columns``."""
    group = parser.add_argument_group("statements")
    if dialect:
        add_dialect(group)
    add_names(group)
    group.add_argument(
        "--where-columns",
        choices=tuple(WhereColumns),
        default=where,
        help=(
            "what finds a row: its key; key and the old values of what changes (guard); all"
            f" columns (default {where})"
        ),
    )
    add_columns(group, "an update of nothing else is counted, and a comment in scripts")
    add_policies(group)
    group.add_argument(
        "--empty-text",
        choices=tuple(EmptyTextPolicy),
        default=EmptyTextPolicy.REFUSE,
        help="empty text where the target takes it for NULL (Oracle; default: refuse)",
    )
    add_reals(group)


def add_dialect(group: argparse._ArgumentGroup) -> None:
    """The SQL dialect."""
    group.add_argument(
        "--dialect",
        default=DEFAULT_DIALECT,
        help=f"SQL dialect: {', '.join(DIALECTS)} (default {DEFAULT_DIALECT})",
    )


def add_names(group: argparse._ArgumentGroup) -> None:
    """How names are spelled."""
    group.add_argument(
        "--names",
        choices=tuple(Names),
        default=Names.LOWER,
        help="lower: fold to lower case, quote where needed; exact: as they are, quoted",
    )


def add_generation(group: argparse._ArgumentGroup) -> None:
    """Which form of a table."""
    group.add_argument(
        "--generation",
        choices=tuple(Generation),
        default=Generation.LAST,
        help="of tables that changed within the log (default last)",
    )


def add_columns(group: argparse._ArgumentGroup, otherwise: str) -> None:
    """Which columns; ``otherwise``: what becomes of an update of others."""
    group.add_argument(
        "--columns",
        action="append",
        default=[],
        metavar="GLOB",
        help="only these columns (COLUMN or OWNER.TABLE.COLUMN)",
    )
    group.add_argument(
        "--exclude-columns",
        action="append",
        default=[],
        metavar="GLOB",
        help=f"not these columns; {otherwise}",
    )


def add_policies(group: argparse._ArgumentGroup) -> None:
    """What becomes of values that the target cannot hold."""
    group.add_argument(
        "--nul",
        choices=tuple(NulPolicy),
        default=NulPolicy.REFUSE,
        help="X'00' in text (default: refuse, the unit is set aside)",
    )
    group.add_argument(
        "--timestamps",
        choices=tuple(TimestampPolicy),
        default=TimestampPolicy.REFUSE,
        help="more fraction digits than the target holds (default: refuse on loss)",
    )
    group.add_argument(
        "--char-padding",
        choices=tuple(PaddingPolicy),
        default=PaddingPolicy.STRIP,
        help="blanks at the end of CHAR (default strip)",
    )
    group.add_argument(
        "--midnight",
        choices=tuple(MidnightPolicy),
        default=MidnightPolicy.REFUSE,
        help=(
            "hour 24 where the target has none (default: refuse; next: hour 0, of the next day in a"
            " timestamp)"
        ),
    )


def add_reals(group: argparse._ArgumentGroup) -> None:
    """What hexadecimal floats become."""
    group.add_argument(
        "--reals",
        choices=tuple(RealPolicy),
        default=RealPolicy.SINGLE,
        help=(
            "REAL of Db2 for z/OS, which reaches further than an IEEE single: single (default; what"
            " does not fit is set aside) or double (columns are double precision); exports have"
            " doubles always"
        ),
    )


def add_mapping(command: argparse.ArgumentParser) -> None:
    """Names, types, exclusions and masks of the target."""
    group = command.add_argument_group("mapping")
    group.add_argument(
        "--mapping",
        type=place,
        metavar="F",
        help="names, types, exclusions and masks of the target (TOML; see logreplay docs)",
    )
    group.add_argument(
        "--mask-key-file",
        type=place,
        metavar="F",
        help="the key for masks: at least 16 bytes that nobody else knows",
    )


def add_schema(parser: argparse.ArgumentParser) -> None:
    """Keys that the log does not know."""
    group = parser.add_argument_group("keys that the log does not know")
    group.add_argument(
        "--schema",
        metavar="FILE|URL|none",
        help=(
            "DDL of the tables, or a database that has them: unique keys and foreign keys, for what"
            " depends on what; none: there are none, I know"
        ),
    )
    group.add_argument(
        "--schema-dialect",
        default="postgres",
        metavar="NAME",
        help="SQL dialect of the file: db2, soliddb, or one of sqlglot (default postgres)",
    )
