"""Mapping files (TOML): read into a mapping, and their way back, as far as there is one.

::

    [schemas]
    SAKILA = "shop"

    [tables."SAKILA.FILM"]
    name = "movie"                       # or "other_schema.movie"
    columns = { FILM_ID = "movie_id" }
    types = { RENTAL_RATE = "numeric(9, 2)" }
    exclude = ["DESCRIPTION"]
    mask = ["TITLE"]
    constants = { origin = "N" }         # in each row, and in the table's key

Names on the left are those of the log, in any case; names on the right are spelled as ``--names``
says.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any
from unicodedata import combining, normalize

from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import errors, exp, sqlglot
from sqlgen.mapping import TableMap, TableMapping
from sqlgen.masking import cannot_mask, fingerprint, mask_kind
from sqlgen.names import check_collisions, target_name
from sqlgen.render_options import RenderOptions, identity, shown_columns
from sqlgen.schema import Column, SqlType, Table

_TOP = {"schemas", "tables"}
_ENTRIES = {
    "name": str, "columns": dict, "types": dict, "exclude": list, "mask": list, "constants": dict
}  # fmt: skip
#: Comments and control characters, which sqlglot passes over.
_BEYOND_A_TYPE = re.compile(r"--|/\*|#|[\x00-\x1f\x7f]")
#: Problems of a file that are told at once.
_SHOWN = 20
#: A length that a mask has room in.
_ROOM = 1000


def parse_mapping(
    text: str,
    tables: Sequence[Table],
    profile: Profile,
    options: RenderOptions,
    key: bytes | None,
    typed: bool = True,
    continued: bool = False,
) -> TableMap:
    """The mapping in ``text``, checked against all forms of the log's tables. SqlgenError (LR1011)
    names everything that is wrong with it; ``key`` is None where none is given. ``typed``: types
    are those of the dialect, and used; ``continued``: tables that this log does not have may be in
    others."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SqlgenError("LR1011", f"the mapping is not TOML: {error}") from None
    problems: list[str] = []
    unknown: list[str] = [] if continued else problems
    mapping = mapping_of(document, tables, problems, unknown)
    problems += _type_problems(mapping, profile) if typed else []
    masks = [f"{name}.{column}" for name, entry in mapping.tables.items() for column in entry.mask]
    if masks and key is None:
        problems.append(
            f"{masks[0]} is masked, and there is no key; expected one (--mask-key-file)"
        )
    told = json.dumps(document, sort_keys=True, ensure_ascii=False, default=str)
    secret = key if key and masks else b""
    told += fingerprint(secret) if secret else ""
    mapping = replace(
        mapping,
        key=secret,
        digest=sha256(told.encode()).hexdigest(),
        unknown=tuple(unknown) if continued else (),
        options=options,
    )
    if not problems:
        problems += _name_problems(mapping, tables, profile, options.names)
    if problems:
        more = f" ({len(problems) - _SHOWN} more)" if len(problems) > _SHOWN else ""
        raise SqlgenError(
            "LR1011",
            "the mapping cannot be used: " + "; ".join(problems[:_SHOWN]) + more,
            "Nothing was written",
        )
    return mapping


def mapping_of(
    document: Mapping[str, Any],
    tables: Sequence[Table],
    problems: list[str],
    unknown: list[str],
) -> TableMap:
    """The mapping that a file's document is. What is wrong with it is added to ``problems``, what
    it says of other tables than ``tables`` to ``unknown``."""
    problems += [
        f"found [{name}]; expected one of: {', '.join(sorted(_TOP))}"
        for name in document.keys() - _TOP
    ]
    versions: dict[str, list[Table]] = {}
    for table in tables:
        versions.setdefault(f"{table.schema}.{table.name}", []).append(table)
    owners = {table.schema.upper() for table in tables}
    schemas = {}
    for name, value in _section(document, "schemas", problems).items():
        if name.upper() not in owners:
            unknown.append(
                f"schemas.{name}: the log has no such schema; expected one of:"
                f" {', '.join(sorted(owners))}"
            )
        elif not isinstance(value, str) or not value or "." in value:
            problems.append(f"schemas.{name}: found {value!r}; expected a name")
        elif name.upper() in schemas:
            problems.append(
                f"schemas.{name}: found it twice; expected each schema once, in whatever case"
            )
        else:
            schemas[name.upper()] = value
    entries = {}
    for name, value in _section(document, "tables", problems).items():
        source = _known(name, versions)
        if source is None:
            unknown.append(
                f"tables.{name}: the log has no such table; expected one of:"
                f" {', '.join(sorted(versions)[:_SHOWN])}"
            )
        elif not isinstance(value, dict):
            problems.append(f"tables.{name}: found {value!r}; expected a table of entries")
        elif source in entries:
            problems.append(
                f"tables.{name}: found {source} twice; expected each table once, in whatever case"
            )
        else:
            entries[source] = _entry_of(f"tables.{name}", value, versions[source], problems)
    return TableMap(schemas, entries)


def _known(name: str, names: Iterable[str]) -> str | None:
    """The one of ``names`` that is meant: the same, or the only one that differs in case; None when
    there is none."""
    same = [known for known in names if known.upper() == name.upper()]
    return name if name in same else same[0] if len(same) == 1 else None


def _section(document: Mapping[str, Any], name: str, problems: list[str]) -> Mapping[str, Any]:
    section = document.get(name, {})
    if isinstance(section, dict):
        return section
    problems.append(f"{name}: found {section!r}; expected a table")
    return {}


def _entry_of(
    place: str, value: Mapping[str, Any], versions: Sequence[Table], problems: list[str]
) -> TableMapping:
    columns: dict[str, list[Column]] = {}
    for table in versions:
        for column in table.columns:
            columns.setdefault(column.name, []).append(column)
    problems += [
        f"{place}.{name}: expected one of: {', '.join(_ENTRIES)}"
        for name in value.keys() - _ENTRIES
    ]
    for name, kind in _ENTRIES.items():
        if name in value and not isinstance(value[name], kind):
            problems.append(
                f"{place}.{name}: found {value[name]!r}; expected a"
                f" {'text' if kind is str else 'list' if kind is list else 'table'}"
            )
            return TableMapping()
    if "name" in value and (not all(value["name"].split(".")) or value["name"].count(".") > 1):
        problems.append(f"{place}.name: found {value['name']!r}; expected NAME or SCHEMA.NAME")
    own: dict[str, dict[str, str]] = {}  # the log's name -> the name as the file has it
    for name in ("columns", "types", "exclude", "mask"):
        own[name] = _own_columns(f"{place}.{name}", value.get(name, ()), columns, problems)
    for name in ("columns", "types"):
        problems += [
            f"{place}.{name}.{c}: found {v!r}; expected a text"
            for c, v in value.get(name, {}).items()
            if not isinstance(v, str) or not v
        ]
    entry = TableMapping(
        value.get("name", ""),
        {column: str(value["columns"][said]) for column, said in own["columns"].items()},
        {column: str(value["types"][said]) for column, said in own["types"].items()},
        tuple(own["exclude"]),
        tuple(own["mask"]),
        value.get("constants", {}),
    )
    problems += [
        f"{place}.constants.{name}: found {said!r}; expected a text or an integer of 64 bits"
        for name, said in entry.constants.items()
        if not (isinstance(said, str) and said)
        and not (type(said) is int and -(2**63) <= said < 2**63)
    ]
    for name in entry.mask:
        reasons = dict.fromkeys(filter(None, map(cannot_mask, columns[name])))
        problems += [
            f"{place}.mask: {name} cannot be masked: {reason}; expected it under exclude"
            for reason in reasons
        ]
        kinds = sorted({mask_kind(column) for column in columns[name]})
        if not reasons and len(kinds) > 1:
            problems.append(
                f"{place}.mask: {name} has several types in this log ({', '.join(kinds)}), so that"
                " a value would get several masks; expected it under exclude, or the table"
                " left out"
            )
    problems += [
        f"{place}: {name} is masked and has a type of its own; expected one of these"
        for name in entry.mask
        if name in entry.types
    ]
    return entry


def _own_columns(
    place: str, said: Iterable[Any], columns: Iterable[str], problems: list[str]
) -> dict[str, str]:
    """The log's names of the columns that a part of the file names -> as they are said there."""
    own_names: dict[str, str] = {}
    for name in said:
        known = _known(name, columns) if isinstance(name, str) else None
        if known is None:
            problems.append(
                f"{place}: {name!r} is no column; expected one of: {', '.join(columns)}"
            )
        elif known in own_names:
            problems.append(
                f"{place}: found {known} twice; expected each column once, in whatever case"
            )
        else:
            own_names[known] = name
    return own_names


def _type_problems(mapping: TableMap, profile: Profile) -> Iterator[str]:
    for table, entry in mapping.tables.items():
        for column, kind in entry.types.items():
            if not _is_type(kind, profile):
                yield (
                    f"tables.{table}.types.{column}: found {kind!r}; expected a type of"
                    f" {profile.name}"
                )


def _is_type(kind: str, profile: Profile) -> bool:
    """Whether a text is a type of the dialect, and nothing more."""
    try:
        tree = sqlglot.parse_one(f"CREATE TABLE t (c {kind})", read=profile.sqlglot)
    except errors.SqlglotError:
        return False
    if (
        not isinstance(tree, exp.Create)
        or not isinstance(tree.this, exp.Schema)
        or len(tree.this.expressions) != 1
        or _BEYOND_A_TYPE.search(kind)
    ):
        return False
    column = tree.this.expressions[0]
    return (
        isinstance(column, exp.ColumnDef)
        and isinstance(column.kind, exp.DataType)
        and not column.args.get("constraints")
    )


def _name_problems(
    mapping: TableMap, tables: Sequence[Table], profile: Profile, spelling: str
) -> Iterator[str]:
    """What is wrong with the names and keys that come out."""
    try:
        for table in tables:
            identity(table, RenderOptions(exclude_columns=mapping.excluded()))
        renamed = [(table, mapping.table(table)) for table in tables]
        latest = {f"{table.schema}.{table.name}": target for table, target in renamed}
        check_collisions(list(latest.values()), profile, spelling)
    except SqlgenError as error:
        yield error.message
        return
    masks_of = {
        f"{table.schema}.{table.name}": {
            mapping.names(table)[n] for n in mapping.masked_columns(table)
        }
        for table in tables
    }
    seen: dict[tuple[str, str], dict[str, Table]] = {}
    for name, table in latest.items():
        spelled = (
            (table.schema.lower(), table.name.lower())
            if spelling == "lower"
            else (table.schema, table.name)
        )
        others = seen.setdefault(spelled, {})
        for other, one in others.items():
            if other != name and not (
                _told_apart(one, table) and masks_of[other] == masks_of[name]
            ):
                yield (
                    f"{other} and {name} both become {'.'.join(spelled)}; expected a table each, or"
                    " constants that tell their rows apart (constants), with the same key and masks"
                    " of both, for rows of both may have one key"
                )
        others[name] = table
    collisions: set[str] = set()
    for table, target in renamed:
        columns: dict[str, str] = {}
        sources = (*shown_columns(table, mapping.shown), *mapping.constants(table))
        for source, column in zip(sources, target.in_target().columns, strict=True):
            spelled_column = target_name(column.name, profile, spelling)
            if columns.setdefault(spelled_column, source.name) is not source.name:
                first = columns[spelled_column]
                collisions.add(
                    f"{table.schema}.{table.name}: the columns {first} and {source.name} both"
                    f" become {spelled_column!r}"
                )
    yield from sorted(collisions)


def _told_apart(one: Table, other: Table) -> bool:
    """Whether rows of two tables that become one differ: both have a constant of one type in the
    same key."""
    values = [
        {c.name: c for c in table.columns if c.constant is not None} for table in (one, other)
    ]
    return set(one.key) == set(other.key) and any(
        type(column.constant) is type(values[1][name].constant)
        and _folded(column.constant) != _folded(values[1][name].constant)
        for name, column in values[0].items()
        if name in values[1]
    )


def _folded(constant: str | int | None) -> str:
    """What of a constant tells it apart in every database: not case, accents and blanks at its
    end."""
    letters = (one for one in normalize("NFKD", str(constant)) if not combining(one))
    return "".join(letters).casefold().rstrip(" ")


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
    lines += [f"columns = {{ {pairs} }}"] if pairs else []
    added = ", ".join(map(_quoted, entry.constants))
    return [*lines, f"exclude = [{added}]"] if added else lines


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
