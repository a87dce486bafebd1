"""What an SQLite database tells about a table: its columns and what they hold, its keys, and what
acts by itself. Some of it stands in the text of its DDL only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from replay.targets import TableFacts
from replay.targets.hazards import Hazard, HazardKind, Under
from replay.targets.outcomes import Reference, comparisons
from replay.targets.outcomes import standard_name as name
from sqlgen.type_capacity import holding_of

Query = Callable[..., list[tuple[Any, ...]]]
#: Strings, quoted names and comments of DDL.
_APART = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/""", re.S
)
_CONFLICT = re.compile(r"\bON\s+CONFLICT\s+(REPLACE|IGNORE|FAIL|ROLLBACK)\b", re.I)
#: A foreign key of another spelling does not wait.
_WAITS = re.compile(r"(?<!\bNOT) DEFERRABLE INITIALLY DEFERRED\b", re.I)
#: A number in digits.
_DIGITS = re.compile(r"-?\d+(\.\d*)?(e[-+]?\d+)?", re.I)
#: Texts that a collation may take for 'a'.
_LIKE_A = {"A": "upper and lower case", "a ": "blanks at the end"}


def table_facts(query: Query, schema: str, table: str) -> TableFacts | None:
    """The facts of a table, None when there is none of that name. ``query`` asks the database."""
    columns = columns_of(query, schema, table)
    if not columns:
        return None
    kind, ddl = query(
        f"SELECT type, coalesce(sql, '') FROM {name(schema)}.sqlite_master WHERE lower(name) ="
        " lower(%s) AND type IN ('table', 'view')",
        (table,),
    )[0]
    listed = [row for row in query(f"PRAGMA {name(schema)}.table_list({name(table)})") if row]
    without_row_id, strict = (bool(flag) for flag in (listed[0][4:6] if listed else (0, 0)))
    words = _APART.sub(" ", ddl)
    hazards = [*_hazards(query, schema, table, words)]
    hazards += comparisons(query, name(schema, table), [column for column, *_ in columns], _LIKE_A)
    if kind == "view" or re.match(r"\s*CREATE\s+VIRTUAL\b", words, re.I):
        hazards.append(
            Hazard(HazardKind.NO_TABLE, "a view" if kind == "view" else "a virtual table")
        )
    elif without_row_id or re.search(r"\bWITHOUT\s+ROWID\b", words, re.I):
        hazards.append(Hazard(HazardKind.NO_ROW_ID, "it is WITHOUT ROWID"))
    elif any(column.lower() == "_rowid_" for column, *_ in columns):
        hazards.append(Hazard(HazardKind.NO_ROW_ID, "a column of it is called _rowid_"))
    return TableFacts(
        tuple(column for column, *_ in columns),
        tuple(column for column, *_, hidden in columns if hidden),
        unique_keys=tuple(_unique_keys(query, schema, table, columns)),
        types=tuple(kind for _, kind, *_ in columns),
        holdings=tuple(holding_of(kind, "sqlite", strict) for _, kind, *_ in columns),
        hazards=tuple(hazards),
    )


def columns_of(query: Query, schema: str, table: str) -> list[tuple[str, str, bool, int, bool]]:
    """(name, declared type, NOT NULL, place in the primary key or 0, computed) in order."""
    return [
        (column, kind, bool(strict), key, hidden > 1)
        for _, column, kind, strict, _, key, hidden in _pragma(query, schema, "table_xinfo", table)
    ]


def foreign_keys(query: Query, schema: str, table: str) -> list[Reference]:
    """The foreign keys of a table."""
    keys: dict[int, Reference] = {}
    for number, _, parent, column, other, on_update, on_delete, _ in _pragma(
        query, schema, "foreign_key_list", table
    ):
        key = keys.setdefault(number, Reference((schema, parent), [], [], on_delete, on_update))
        key.columns.append(column)
        key.parent_columns.append(other)
    waiting = _waiting(query, schema, table) if keys else []
    return [
        keys[number]._replace(waits=len(waiting) == len(keys) and waiting[-1 - place])
        for place, number in enumerate(sorted(keys))
    ]


def _waiting(query: Query, schema: str, table: str) -> list[bool]:
    """Of each foreign key of a table, as its DDL lists them (SQLite numbers them from the last):
    whether it waits, which is said nowhere else."""
    ((ddl,),) = query(
        f"SELECT coalesce(sql, '') FROM {name(schema)}.sqlite_master WHERE lower(name) = lower(%s)"
        " AND type = 'table'",
        (table,),
    )
    words = " ".join(_APART.sub(" ", ddl).split())
    _, *clauses = re.split(r"\bREFERENCES\b", words, flags=re.I)
    return [_WAITS.search(clause) is not None for clause in clauses]


def _hazards(query: Query, schema: str, table: str, words: str) -> Iterator[Hazard]:
    fired = query(
        f"SELECT name FROM {name(schema)}.sqlite_master WHERE type = 'trigger' AND"
        " lower(tbl_name) = lower(%s) ORDER BY name",
        (table,),
    )
    for (trigger,) in fired:
        yield Hazard(HazardKind.TRIGGER, str(trigger))
    for (child,) in query(f"SELECT name FROM {name(schema)}.sqlite_master WHERE type = 'table'"):
        for key in foreign_keys(query, schema, child):
            if key.acts and table.lower() in (child.lower(), key.parent[1].lower()):
                yield Hazard(HazardKind.FOREIGN_KEY_ACTION, key.described(child), under=Under.ON)
    for clause in _CONFLICT.findall(words):
        yield Hazard(HazardKind.CONFLICT_CLAUSE, f"ON CONFLICT {clause.upper()}")
    columns = _pragma(query, schema, "table_xinfo", table)
    # the key of which there is no index is the number of the row, which SQLite gives
    numbered = all(origin != "pk" for *_, origin, _ in _pragma(query, schema, "index_list", table))
    for _, column, _, not_null, default, key, hidden in columns:
        if hidden > 1:
            yield Hazard(HazardKind.GENERATED, "an expression", column)
        elif not_null and default is None and not hidden and not (key and numbered):
            yield Hazard(HazardKind.REQUIRED, "NOT NULL", column)


def _unique_keys(
    query: Query, schema: str, table: str, columns: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[str, ...]]:
    places = sorted((place, column) for column, _, _, place, _ in columns if place)
    primary = tuple(column for _, column in places)
    if primary:
        yield primary
    for _, index, is_unique, _, partial in _pragma(query, schema, "index_list", table):
        names = [column for _, _, column in _pragma(query, schema, "index_info", index)]
        if is_unique and not partial and None not in names and set(names) != set(primary):
            yield tuple(names)


def _pragma(query: Query, schema: str, pragma: str, argument: str) -> list[tuple[Any, ...]]:
    return query(f"PRAGMA {name(schema)}.{pragma}({name(argument)})")


def bound(texts: Sequence[str | None], kind: str) -> list[Any]:
    """A state's texts as values for a column of a type: bytes of a BLOB; of a float the number
    that SQLite, which rounds twice, may not make of its digits."""
    if "BLOB" in kind:
        return [None if text is None else bytes.fromhex(text.removeprefix("\\x")) for text in texts]
    if any(word in kind for word in ("REAL", "FLOA", "DOUB")):
        return [float(text) if text and _DIGITS.fullmatch(text) else text for text in texts]
    return list(texts)


def shown(value: Any) -> str | None:
    """A value as text, whatever its storage class."""
    if value is None or isinstance(value, str):
        return value
    return f"\\x{value.hex()}" if isinstance(value, bytes) else repr(value)


def decimal_shown(value: Any) -> str | None:
    """The same of a decimal: the double that SQLite makes of its digits may be the next one."""
    return f"{value:.15g}" if isinstance(value, float) else shown(value)
