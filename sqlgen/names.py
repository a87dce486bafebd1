"""Identifiers: a source's names as a dialect spells them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import exp
from sqlgen.schema import Table

_PLAIN = {"lower": re.compile(r"[a-z_][a-z0-9_]*\Z"), "upper": re.compile(r"[A-Z][A-Z0-9_]*\Z")}


def target_name(name: str, profile: Profile, names: str) -> str:
    """The name in the target: as it is (``names="exact"``), else folded as the dialect folds.

    SqlgenError (LR3005) for an empty name, one with a control character, or one that is too long.
    """
    spelled = (
        name if names == "exact" else name.lower() if profile.fold == "lower" else name.upper()
    )
    if not spelled or any(unicodedata.category(character) == "Cc" for character in spelled):
        raise SqlgenError(
            "LR3005",
            f"found the name {name!r}; expected at least one character and no control character",
        )
    size, unit = (
        (len(spelled), "characters")
        if profile.name_characters
        else (len(spelled.encode()), "bytes")
    )
    if size > profile.name_length:
        hint = (
            "Give it another name (--mapping), or leave it out (--exclude-table, --exclude-columns)"
        )
        raise SqlgenError(
            "LR3005",
            f"found the name {name!r} of {size} {unit}; {profile.name} takes {profile.name_length}",
            hint,
        )
    return spelled


def identifier(name: str, profile: Profile, names: str) -> exp.Identifier:
    """The sqlglot identifier of a name, quoted only where it must be."""
    spelled = target_name(name, profile, names)
    plain = (
        _PLAIN[profile.fold].match(spelled) is not None and spelled.lower() not in profile.reserved
    )
    return exp.Identifier(this=spelled, quoted=not plain)


def table_expression(table: Table, profile: Profile, names: str) -> exp.Table:
    """The schema-qualified table."""
    schema = identifier(table.schema, profile, names) if table.schema else None
    return exp.Table(this=identifier(table.name, profile, names), db=schema)


def check_collisions(tables: Sequence[Table], profile: Profile, names: str) -> None:
    """SqlgenError (LR3005) when two columns of a table, or two tables, become the same name in the
    target, or a column has the name of one that the target has for itself."""
    seen: dict[tuple[str, ...], tuple[str, str]] = {}
    for table in tables:
        spelled: tuple[str, ...] = (
            target_name(table.schema, profile, names) if table.schema else "",
            target_name(table.name, profile, names),
        )
        source = (table.schema, table.name)
        if "tables" in profile.one_case:
            spelled = tuple(map(str.lower, spelled))
        if seen.setdefault(spelled, source) != source:
            both = f"{'.'.join(seen[spelled])} and {'.'.join(source)}"
            raise SqlgenError(
                "LR3005",
                f"found tables {both}, which both become {'.'.join(spelled)}",
                _remedy(profile, names, "tables"),
            )
        columns: dict[str, str] = {}
        for column in table.in_target().columns:
            name = target_name(column.name, profile, names)
            if "columns" in profile.one_case:
                name = name.lower()
            if name in profile.system_columns:
                raise SqlgenError(
                    "LR3005",
                    f"found column {column.name} of {'.'.join(source)}; {profile.name} has a column"
                    " of that name of its own in each table",
                    "Give it another name (--mapping), or leave it out (--exclude-columns)",
                )
            if columns.setdefault(name, column.name) != column.name:
                both = f"{columns[name]!r} and {column.name!r} of {'.'.join(source)}"
                raise SqlgenError(
                    "LR3005",
                    f"found columns {both}, which both become {name!r}",
                    _remedy(profile, names, "columns"),
                )


def alike(names: Iterable[str]) -> frozenset[str]:
    """The names, in upper case, that several of some names have but for their case: which of them
    is meant by what is known of a name in upper case is not told."""
    times = Counter(name.upper() for name in set(names))
    return frozenset(name for name, count in times.items() if count > 1)


def _remedy(profile: Profile, names: str, what: str) -> str:
    """What to do about names that become one."""
    if names != "exact" and what not in profile.one_case:
        return "Use --names exact"
    return (
        f"{profile.name} takes names of {what} that differ in case only for one. Give one of them"
        " another name (--mapping), or leave it out (--exclude-table,"
        " --exclude-columns)"
    )
