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
            "columns in the WHERE of an UPDATE or DELETE: the key; the key and the old values of"
            f" the columns that change (guard); or all (default {where})"
        ),
    )
    add_columns(group, "an update of nothing else is counted, and a comment in scripts")
    add_policies(group)
    group.add_argument(
        "--empty-text",
        choices=tuple(EmptyTextPolicy),
        default=EmptyTextPolicy.REFUSE,
        help="what to do with empty text where the target takes it for NULL (Oracle; default:"
        " refuse); null is for empty bit data too",
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
        help="which form of a table whose structure changed within the log (default last)",
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
        help="what to do with X'00' in text (default: refuse, which sets the unit aside)",
    )
    group.add_argument(
        "--timestamps",
        choices=tuple(TimestampPolicy),
        default=TimestampPolicy.REFUSE,
        help="what to do with more fraction digits than the target holds (default: refuse where"
        " digits other than 0 would be lost)",
    )
    group.add_argument(
        "--char-padding",
        choices=tuple(PaddingPolicy),
        default=PaddingPolicy.STRIP,
        help="what to do with blanks at the end of CHAR and GRAPHIC values (default strip; U+3000,"
        " the blank of double-byte code pages, stays)",
    )
    group.add_argument(
        "--midnight",
        choices=tuple(MidnightPolicy),
        default=MidnightPolicy.REFUSE,
        help=(
            "what to do with hour 24 where the target has none (default: refuse; next: hour 0, of"
            " the next day in a timestamp)"
        ),
    )


def add_reals(group: argparse._ArgumentGroup) -> None:
    """What hexadecimal floats become."""
    group.add_argument(
        "--reals",
        choices=tuple(RealPolicy),
        default=RealPolicy.SINGLE,
        help=(
            "type for REAL of Db2 for z/OS, whose range is wider than that of an IEEE single:"
            " single (default; units with a value out of range are set aside) or double (columns"
            " become double precision); exports always have doubles"
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
            "a file with the DDL of the tables, or a database that has them: their unique and"
            " foreign keys decide which units depend on which; none: you state that there are none"
        ),
    )
    group.add_argument(
        "--schema-dialect",
        default="postgres",
        metavar="NAME",
        help="SQL dialect of the file: db2, soliddb, or one of sqlglot (default postgres)",
    )
    group.add_argument(
        "--schema-encoding",
        default="",
        metavar="NAME",
        help="code page of a file that is no UTF-8, such as cp1252 or cp037",
    )
