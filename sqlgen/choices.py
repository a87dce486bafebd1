"""The closed choices of how SQL is written, and the dialects of this package by name. Nothing heavy
is imported here: a help text needs no more than this."""

from __future__ import annotations

from enum import StrEnum


class Choices(StrEnum):
    """A closed set of words. A member is its word, in every format too, and shows itself as one."""

    def __repr__(self) -> str:
        return repr(self.value)


class Names(Choices):
    """How names are spelled: folded as the target folds them, or as they are; as they are in the
    database that wrote a log, else folded (auto). They are quoted where they must be."""

    AUTO = "auto"
    LOWER = "lower"
    EXACT = "exact"


class WhereColumns(Choices):
    """What finds a row: its key; key and the old values of what changes; all columns."""

    KEY = "key"
    GUARD = "guard"
    ALL = "all"


class Deferral(Choices):
    """Which foreign keys a dialect can leave to the end of a transaction: those that were declared
    deferrable, or any."""

    NONE = "none"
    DECLARED = "declared"
    ANY = "any"


class Assertion(Choices):
    """What a script asserts: that every statement touches exactly one row, or nothing."""

    ROWS = "rows"
    NONE = "none"


class NulPolicy(Choices):
    """What becomes of X'00' in text."""

    REFUSE = "refuse"
    STRIP = "strip"
    SPACE = "space"


class TimestampPolicy(Choices):
    """What becomes of more fraction digits than the target holds."""

    REFUSE = "refuse"
    TRUNCATE = "truncate"
    ROUND = "round"


class PaddingPolicy(Choices):
    """What becomes of blanks at the end of CHAR."""

    STRIP = "strip"
    KEEP = "keep"


class MidnightPolicy(Choices):
    """What becomes of hour 24 where the target has none."""

    REFUSE = "refuse"
    NEXT = "next"


class EmptyTextPolicy(Choices):
    """What becomes of empty text where the target takes it for NULL."""

    REFUSE = "refuse"
    NULL = "null"
    SPACE = "space"


class RealPolicy(Choices):
    """What a REAL of hexadecimal floating point becomes, which reaches further than an IEEE single:
    a single, where it fits; a double always."""

    SINGLE = "single"
    DOUBLE = "double"


#: The dialects that come with the package (:mod:`sqlgen.dialects`). Others are entry points.
DIALECTS = (
    "postgres",
    "sqlite",
    "duckdb",
    "mysql",
    "mariadb",
    "oracle",
    "db2",
    "db2zos",
    "soliddb",
    "tsql",
    "snowflake",
    "bigquery",
    "redshift",
    "spark",
    "trino",
)
