"""The way back of a mapping: the mapping that makes the log's names of the target's, as far as
there is one."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlgen.errors import SqlgenError
from sqlgen.mapping import TableMapping, mapping_of
from sqlgen.schema import Column, SqlType, Table

#: A length that a mask has room in.
_ROOM = 1000


@dataclass(frozen=True)
class InverseMapping:
    """The ``text`` of a mapping file (TOML), and what of the mapping has no way back (``lost``), a
    sentence for each."""

    text: str
    lost: tuple[str, ...]


def inverse_mapping(text: str) -> InverseMapping:
    """The inverse of the mapping in ``text``, which needs no log. SqlgenError (LR1011) for a text
    that is no mapping."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SqlgenError("LR1011", f"the mapping is not TOML: {error}") from None
    problems: list[str] = []
    tables = _tables_of(document, problems)
    mapping = mapping_of(document, list(tables.values()), problems, problems)
    if problems:
        raise SqlgenError("LR1011", "the mapping cannot be used: " + "; ".join(problems))
    lost: list[str] = []
    spelled = {name: str(value) for name, value in document.get("schemas", {}).items()}
    targets = Counter(spelled.values())
    lines = ["[schemas]"] if spelled else []
    for name, target in spelled.items():
        if targets[target] > 1:
            lost.append(
                f"schema {name} becomes {target}, as another one does: its tables that the mapping"
                " does not name do not come back"
            )
        else:
            lines.append(f"{_quoted(target)} = {_quoted(name)}")
    known: dict[tuple[str, str], str] = {}
    for name, entry in mapping.tables.items():
        place = mapping.name(tables[name])
        if (other := known.setdefault(place, name)) != name:
            lost.append(f"table {name} becomes {'.'.join(place)}, as {other} does")
            continue
        alone = targets[place[0]] < 2 and "." not in entry.name
        lines += ["", *_table_lines(name, tables[name], place, entry, alone)]
        lost += _losses(name, entry)
    head = ["# The way back of a mapping: from the target's names to those of the log."]
    head += [f"# No way back: {' '.join(one.split())}" for one in lost]
    return InverseMapping("\n".join([*head, "", *lines]).rstrip() + "\n", tuple(lost))


def _tables_of(document: Mapping[str, Any], problems: list[str]) -> dict[str, Table]:
    """The tables that a mapping names, with the columns that it names, and one of each schema."""
    tables: dict[str, Table] = {}
    sections = {
        name: section if isinstance(section := document.get(name, {}), dict) else {}
        for name in ("schemas", "tables")
    }
    for name, value in sections["tables"].items():
        schema, dot, table = name.partition(".")
        if not (schema and dot and table):
            problems.append(f"tables.{name}: found a name without its schema; expected OWNER.NAME")
            continue
        entry = value if isinstance(value, dict) else {}
        named = [
            column
            for part in ("columns", "types", "exclude", "mask")
            if isinstance(entry.get(part, ()), dict | list)
            for column in entry.get(part, ())
            if isinstance(column, str)
        ]
        folded = {column.upper(): column for column in reversed(named)}
        columns = tuple(Column(one, SqlType.VARCHAR, True, _ROOM) for one in folded.values())
        tables[name] = Table(schema, table, columns)
    for schema in sections["schemas"]:
        tables.setdefault(f"{schema}.", Table(schema, "", ()))
    return tables


def _table_lines(
    name: str, table: Table, place: tuple[str, str], entry: TableMapping, alone: bool
) -> list[str]:
    """The entry of a table. ``alone``: its schema comes back by itself."""
    lines = [
        f"[tables.{_quoted('.'.join(place))}]",
        f"name = {_quoted(table.name if alone else name)}",
    ]
    pairs = ", ".join(
        f"{_quoted(new)} = {_quoted(old)}"
        for old, new in entry.columns.items()
        if old not in entry.exclude
    )
    return [*lines, f"columns = {{ {pairs} }}"] if pairs else lines


def _losses(name: str, entry: TableMapping) -> list[str]:
    """What of a table does not come back."""
    return [
        *(f"{name}.{one} is left out: its values are not there" for one in entry.exclude),
        *(f"{name}.{one} is masked: masks do not become values again" for one in entry.mask),
        *(
            f"{name}.{one} is {kind} there: its type before is not in the mapping, and what the"
            " other type rounded or cut does not come back"
            for one, kind in entry.types.items()
            if one not in entry.exclude
        ),
    ]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
