"""Tables of a solidDB log: the export of the system tables (section 11), and which of
them a user wants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from replay.arrays import Index, Mask
from replay.changes.catalog import ColumnFormat, RowFormat, TableVersion
from replay.errors import InputError, Where
from replay.logs.indexed_log import version_named
from replay.logs.soliddb import export_files, layouts
from replay.logs.soliddb.layouts import InternalType
from replay.logs.soliddb.manifest import Manifest
from replay.storage import Place, at
from sqlgen.constraints import Constraints, ForeignKey
from sqlgen.schema import Column, SqlType, Table

_HINT = "Export the system tables with scripts/export_soliddb.py"
_TABLES = ("ID", "TABLE_NAME", "TABLE_TYPE", "TABLE_SCHEMA")
_COLUMNS = (
    "REL_ID",
    "COLUMN_NAME",
    "COLUMN_NUMBER",
    "SQL_DATA_TYPE_NUM",
    "DATA_TYPE_NUMBER",
    "NULLABLE",
)
_KEYS = ("ID", "REL_ID", "KEY_PRIMARY", "KEY_NREF")
_PARTS = ("ID", "KEYP_NO", "ATTR_ID", "ATTR_NO", "ATTR_TYPE")
_UTF16 = 1200

#: The system tables that are read.
_FILES = ("sys_tables", "sys_columns", "sys_keys", "sys_keyparts", "sys_forkeys", "sys_forkeyparts")


@dataclass(frozen=True)
class Attribute:
    """A column of SYS_COLUMNS: ``number`` COLUMN_NUMBER, ``kind`` ATTR_TYPE, ``former`` the name
    that a removed one had."""

    number: int
    kind: int
    format: ColumnFormat
    former: str = ""


@dataclass(frozen=True)
class SolidTable:
    """A table of the export: its id, names, all attributes by number, the names of its key, and
    whether its rows are the server's own business."""

    id: int
    catalog: str
    schema: str
    name: str
    attributes: tuple[Attribute, ...]
    key: tuple[str, ...]
    shadow: bool = False


# -- system tables
# -------------------------------------------------------------------------------------------------


def files_of(folder: str, manifest: Manifest) -> list[str]:
    """The files of a catalog folder that are read."""
    place = _meta(folder)
    files = [export_files.find(place, name) for name in _FILES]
    return [
        *([manifest.path] if manifest.path else []),
        *(str(path) for path in files if path is not None),
    ]


def _meta(folder: str) -> Place:
    place = at(folder)
    return place / "meta" if (place / "meta").is_dir() else place


def read_catalog(folder: str, manifest: Manifest, charset: int) -> dict[int, SolidTable]:
    """The tables of an export, by id. ``charset`` is the CCSID of CHAR columns.

    InputError LR2031 where the export lacks a table or column, has an unusable value, or does not
    say which columns are a table's key.
    """
    place = _meta(folder)
    tables = {_number(row, "ID", place): row for row in _records(place, "sys_tables", _TABLES)}
    columns: dict[int, list[Mapping[str, str | None]]] = {}
    for row in _records(place, "sys_columns", _COLUMNS):
        columns.setdefault(_number(row, "REL_ID", place), []).append(row)
    keys_of_manifest = _keys_of_manifest(manifest, tables)
    keys = _keys(place, set(keys_of_manifest), bool(keys_of_manifest), columns)
    exported = {}
    for relid, row in tables.items():
        if row["TABLE_TYPE"] in ("VIEW", "SYNONYM"):
            continue
        schema, name = row["TABLE_SCHEMA"] or "", row["TABLE_NAME"] or ""
        if relid < layouts.FIRST_USER_TABLE:
            exported[relid] = SolidTable(
                relid, row.get("TABLE_CATALOG") or "", schema, name, (), (), True
            )
            continue
        key = keys_of_manifest.get(relid, keys.get(relid, ()))
        attributes = [_attribute(place, entry, key, charset) for entry in columns.get(relid, ())]
        attributes.sort(key=lambda entry: entry.number)
        if len({entry.number for entry in attributes}) < len(attributes):
            raise _unusable(
                place, "sys_columns", f"a COLUMN_NUMBER twice in {schema}.{name}", "each once"
            )
        seen = {entry.format.column.name for entry in attributes if entry.kind == layouts.ATTR_USER}
        if unknown := [column for column in key if column not in seen]:
            raise _unusable(
                place,
                "sys_keyparts",
                f"{', '.join(unknown)} in the key of {schema}.{name}",
                "columns of the table",
            )
        shadow = row["TABLE_TYPE"] in layouts.SHADOWS
        exported[relid] = SolidTable(
            relid, row.get("TABLE_CATALOG") or "", schema, name, tuple(attributes), key, shadow
        )
    return exported


def _keys_of_manifest(
    manifest: Manifest, tables: Mapping[int, Mapping[str, str | None]]
) -> dict[int, tuple[str, ...]]:
    """The keys that the manifest gives, by table id. It may name a table by schema and name, with
    its catalog, or by its id."""
    keys, unknown = dict[int, tuple[str, ...]](), set(manifest.keys)
    for relid, row in tables.items():
        name = f"{row['TABLE_SCHEMA']}.{row['TABLE_NAME']}".upper()
        for spelled in (str(relid), f"{row.get('TABLE_CATALOG')}.{name}".upper(), name):
            if spelled in manifest.keys:
                keys.setdefault(relid, manifest.keys[spelled])
                unknown.discard(spelled)
    if unknown:
        message = (
            f"found primary_keys of {', '.join(sorted(unknown))}, of which SYS_TABLES knows"
            " nothing; expected tables as SCHEMA.NAME"
        )
        raise InputError(
            "LR2031", message, Where(manifest.path or ""), "Correct the name in the manifest"
        )
    return keys


def _records(place: Place, name: str, needed: tuple[str, ...]) -> list[dict[str, str | None]]:
    path = export_files.find(place, name)
    if path is None:
        files = f"{name}.parquet, .csv or .jsonl"
        raise InputError(
            "LR2031",
            f"found no {files}; expected the export of {name.upper()}",
            Where(str(place)),
            _HINT,
        )
    return export_files.records(path, needed)


def _unusable(place: Place, name: str, found: str, expected: str) -> InputError:
    return InputError(
        "LR2031",
        f"found {found}; expected {expected}",
        Where(str(export_files.find(place, name) or place)),
        _HINT,
    )


def _number(
    row: Mapping[str, str | None], name: str, place: Place, default: int | None = None
) -> int:
    text = row.get(name)
    if text is None and default is not None:
        return default
    try:
        return int(float(text)) if text and "." in text else int(text or "")
    except ValueError:
        raise InputError(
            "LR2031", f"found {text!r}; expected a number", Where(str(place), field=name), _HINT
        ) from None


def _attribute(
    place: Place, row: Mapping[str, str | None], key: tuple[str, ...], charset: int
) -> Attribute:
    number, kind = (
        _number(row, "COLUMN_NUMBER", place),
        _number(row, "ATTR_TYPE", place, layouts.ATTR_USER),
    )
    sql = _number(row, "SQL_DATA_TYPE_NUM", place, None if kind == layouts.ATTR_USER else 0)
    code = _number(row, "DATA_TYPE_NUMBER", place)
    name = row["COLUMN_NAME"] or ""
    former = (
        name.removeprefix(layouts.REMOVED_PREFIX).partition("_")[2]
        if name.startswith(layouts.REMOVED_PREFIX)
        else ""
    )
    sql = layouts.SAME_SQL_TYPE.get(sql, sql)
    if code not in list(InternalType):
        raise _unusable(
            place,
            "sys_columns",
            f"DATA_TYPE_NUMBER {code} of column {name}",
            f"0 to {max(InternalType)}",
        )
    if kind == layouts.ATTR_USER and (
        sql not in layouts.SQL_TYPES or InternalType(code) not in layouts.KINDS_OF[sql]
    ):
        raise _unusable(
            place,
            "sys_columns",
            f"types {sql} and {code} of column {name}",
            "SQL_DATA_TYPE_NUM and DATA_TYPE_NUMBER that agree",
        )
    user = kind in (layouts.ATTR_USER, layouts.ATTR_REMOVED)
    nullable = (row["NULLABLE"] or "").strip().upper() != "NO" or kind != layouts.ATTR_USER
    scale = row.get("NUMERIC_SCALE")
    length = _number(row, "CHAR_MAX_LENGTH", place, 0)
    sequence = key.index(name) + 1 if name in key and kind == layouts.ATTR_USER else 0
    precision = _number(row, "NUMERIC_PRECISION", place, 0)
    digits = None if scale is None else _number(row, "NUMERIC_SCALE", place)
    layout = column_format(
        name,
        sql if user else -5,
        InternalType(code),
        length,
        precision,
        digits,
        nullable,
        charset,
        number,
        sequence,
    )
    return Attribute(number, kind, replace(layout, initial=_initial(row, nullable)), former)


def _initial(row: Mapping[str, str | None], nullable: bool) -> str | None:
    """What a column came with, as far as the export says: its default of today, or NULL where it
    has none."""
    default = (row.get("DEFAULT_VAL") or "").strip()
    return default or ("NULL" if nullable and "DEFAULT_VAL" in row else None)


@lru_cache(maxsize=1 << 16)  # tables share what they have alike
def column_format(
    name: str,
    sql: int,
    kind: InternalType,
    length: int,
    precision: int,
    scale: int | None,
    nullable: bool,
    charset: int,
    number: int,
    key: int = 0,
) -> ColumnFormat:
    """A column by its catalog values. ``code`` is the SQL type's name, ``subtype`` the internal
    type's, ``position`` COLUMN_NUMBER. A DECIMAL whose ``scale`` is not known keeps the digits that
    were logged."""
    spelled, type_ = layouts.SQL_TYPES.get(sql, ("unknown", SqlType.VARBINARY))
    limited = 0 < length < layouts.NO_LIMIT
    if type_ in (SqlType.CHAR, SqlType.VARCHAR, SqlType.BINARY, SqlType.VARBINARY) and not limited:
        type_ = SqlType.CLOB if type_ in (SqlType.CHAR, SqlType.VARCHAR) else SqlType.BLOB
    if type_ is SqlType.DECIMAL:
        most = precision if spelled == "NUMERIC" and precision else layouts.MOST_DIGITS
        column = (
            Column(name, SqlType.DECFLOAT, nullable)
            if scale is None
            else Column(name, type_, nullable, most, scale)
        )
    elif type_ is SqlType.REAL and kind is InternalType.DOUBLE:  # stored with all digits
        column = Column(name, SqlType.DOUBLE, nullable)
    elif type_ is SqlType.TIMESTAMP:
        column = Column(name, type_, nullable, 9, unsized=True)
    else:
        column = Column(
            name,
            type_,
            nullable,
            length if limited and type_ not in (SqlType.CLOB, SqlType.BLOB) else 0,
        )
    ccsid = (
        charset if kind is InternalType.CHAR else _UTF16 if kind is InternalType.UNICODE else None
    )
    variable = kind not in layouts.WIDTHS
    return ColumnFormat(
        column, spelled, length, column.scale, nullable, variable, "U", kind.name, ccsid,
        position=number, key_sequence=key,
    )  # fmt: skip


def _keys(
    place: Place,
    with_key: set[int],
    optional: bool,
    columns: Mapping[int, list[Mapping[str, str | None]]],
) -> dict[int, tuple[str, ...]]:
    """The columns of each table's primary key, in key order. ``with_key``: tables whose key the
    manifest names; ``optional``: it names some."""
    if optional and (
        export_files.find(place, "sys_keys") is None
        or export_files.find(place, "sys_keyparts") is None
    ):
        return {}
    primary = {
        _number(row, "ID", place): row
        for row in _records(place, "sys_keys", _KEYS)
        if (row["KEY_PRIMARY"] or "").upper() == "YES"
    }
    parts = _parts_of(place, "sys_keyparts", _PARTS)
    keys = {}
    for key, row in primary.items():
        relid = _number(row, "REL_ID", place)
        if relid < layouts.FIRST_USER_TABLE or relid in with_key:
            continue
        chosen = _user_parts(parts.get(key, []), place)
        count = _number(row, "KEY_NREF", place)
        if len(chosen) not in (count, count - 1):
            message = (
                f"{len(chosen)} parts of key {key} of table {relid}, whose KEY_NREF is {count}"
            )
            raise _unusable(
                place,
                "sys_keyparts",
                message,
                "KEY_NREF or one less; or the key in the manifest (primary_keys)",
            )
        keys[relid] = _named(place, relid, chosen, columns.get(relid, []))
    return keys


def _named(
    place: Place,
    relid: int,
    parts: list[Mapping[str, str | None]],
    columns: list[Mapping[str, str | None]],
) -> tuple[str, ...]:
    """The names of key parts, by ATTR_ID or else ATTR_NO."""
    by_id = {row["ID"]: row for row in columns if row.get("ID") is not None}
    by_number = {_number(row, "COLUMN_NUMBER", place): row for row in columns}
    names = []
    for part in parts:
        row = by_id.get(part["ATTR_ID"]) if part["ATTR_ID"] is not None else None
        if row is None and part["ATTR_NO"] is not None:
            row = by_number.get(_number(part, "ATTR_NO", place))
        if row is None:
            raise _unusable(
                place,
                "sys_keyparts",
                f"a key part of table {relid} without a column",
                "ATTR_ID or ATTR_NO of one",
            )
        names.append(row["COLUMN_NAME"] or "")
    return tuple(names)


# -- other keys
# -------------------------------------------------------------------------------------------------

_FOREIGN = ("ID", "REF_REL_ID", "CREATE_REL_ID", "REF_TYPE", "KEY_NAME", "KEY_ACTION")
_FOREIGN_PARTS = ("ID", "KEYP_NO", "ATTR_NO", "ATTR_ID", "ATTR_TYPE", "CONST_VALUE")
#: REF_TYPE of the row of the referencing table, and of the referenced one.
_CHILD, _PARENT = 1, 2
#: The tables of the catalog that tell of foreign keys.
_FOREIGN_TABLES = ("sys_forkeys", "sys_forkeyparts")
#: The low byte of KEY_ACTION, less one.
_ON_DELETE = ("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION")


def read_constraints(folder: str, exported: Mapping[int, SolidTable]) -> Constraints:
    """The unique keys and foreign keys of an export, as far as it has them. InputError LR2031 for
    an unusable value."""
    place = _meta(folder)
    names = {
        relid: f"{entry.schema}.{entry.name}".upper()
        for relid, entry in exported.items()
        if not entry.shadow
    }
    columns: dict[int, list[Mapping[str, str | None]]] = {}
    for row in _records(place, "sys_columns", _COLUMNS):
        columns.setdefault(_number(row, "REL_ID", place), []).append(row)
    keys = []
    if export_files.find(place, "sys_keys") and export_files.find(place, "sys_keyparts"):
        parts = _parts_of(place, "sys_keyparts", _PARTS)
        for row in _records(place, "sys_keys", _KEYS):
            relid = _number(row, "REL_ID", place)
            if (
                relid in names
                and (row.get("KEY_UNIQUE") or "").upper() == "YES"
                and (row["KEY_PRIMARY"] or "").upper() != "YES"
            ):
                records = _named(
                    place,
                    relid,
                    _user_parts(parts.get(_number(row, "ID", place), []), place),
                    columns.get(relid, []),
                )
                keys += [(names[relid], records)] if records else []
    return Constraints(
        tuple(keys),
        tuple(_foreign_keys(place, names, columns)),
        complete=all(export_files.find(place, name) is not None for name in _FOREIGN_TABLES),
    )


def _parts_of(
    place: Place, name: str, needed: tuple[str, ...]
) -> dict[int, list[Mapping[str, str | None]]]:
    parts: dict[int, list[Mapping[str, str | None]]] = {}
    for row in _records(place, name, needed):
        parts.setdefault(_number(row, "ID", place), []).append(row)
    return parts


def _user_parts(
    parts: list[Mapping[str, str | None]], place: Place
) -> list[Mapping[str, str | None]]:
    """The parts of a key that are columns of users, up to the first hidden one; constants stand
    before them."""
    chosen: list[Mapping[str, str | None]] = []
    for part in sorted(parts, key=lambda entry: _number(entry, "KEYP_NO", place)):
        kind = _number(part, "ATTR_TYPE", place, -1)
        if kind in layouts.ENDS_KEY:
            break
        constant = part.get("CONST_VALUE") is not None
        chosen += (
            [part] if kind in (layouts.ATTR_USER, layouts.ATTR_COLLATION) and not constant else []
        )
    return chosen


def _foreign_keys(
    place: Place, names: Mapping[int, str], columns: Mapping[int, list[Mapping[str, str | None]]]
) -> Iterator[ForeignKey]:
    """Each constraint has two rows of one name and creating table: the columns that refer, and
    those they refer to."""
    if any(export_files.find(place, name) is None for name in _FOREIGN_TABLES):
        return
    parts = _parts_of(place, "sys_forkeyparts", _FOREIGN_PARTS)
    sides: dict[tuple[str, int], dict[int, Mapping[str, str | None]]] = {}
    for row in _records(place, "sys_forkeys", _FOREIGN):
        key = row["KEY_NAME"] or "", _number(row, "CREATE_REL_ID", place)
        sides.setdefault(key, {})[_number(row, "REF_TYPE", place)] = row
    for (name, _), rows in sorted(sides.items()):
        relids = {side: _number(row, "REF_REL_ID", place) for side, row in rows.items()}
        if set(rows) != {_CHILD, _PARENT} or not set(relids.values()) <= set(names):
            continue
        columns_of = {
            side: _named(
                place,
                relids[side],
                _user_parts(parts.get(_number(row, "ID", place), []), place),
                columns.get(relids[side], []),
            )
            for side, row in rows.items()
        }
        action = (_number(rows[_CHILD], "KEY_ACTION", place, 0) & 0xFF) - 1
        if columns_of[_CHILD] and len(columns_of[_CHILD]) == len(columns_of[_PARENT]):
            on_delete = _ON_DELETE[action] if 0 <= action < len(_ON_DELETE) else "NO ACTION"
            yield ForeignKey(
                name,
                names[relids[_CHILD]],
                columns_of[_CHILD],
                names[relids[_PARENT]],
                columns_of[_PARENT],
                on_delete,
            )


# -- versions
# -------------------------------------------------------------------------------------------------


def version_of(
    index: int,
    table_of_export: SolidTable,
    attributes: tuple[Attribute, ...],
    sequence: int,
    names: tuple[str, str] | None = None,
) -> TableVersion:
    """A table version whose images hold ``attributes``; its columns are those that users see, under
    their names of that time (``names``: schema and name where they were others)."""
    schema, name = names or (table_of_export.schema, table_of_export.name)
    seen = {
        entry.number: entry.format.column for entry in attributes if entry.kind == layouts.ATTR_USER
    }
    numbers = [
        entry.number
        for part in table_of_export.key
        for entry in table_of_export.attributes
        if (entry.format.column.name, entry.kind) == (part, 0)
    ]
    key = tuple(seen[number].name for number in numbers) if set(numbers) <= set(seen) else ()
    table = Table(schema, name, tuple(seen.values()), key)
    fmt = RowFormat(tuple(entry.format for entry in attributes))
    return version_named(index, table, fmt, number=table_of_export.id, sequence=sequence)


# -- what a user wants of them
# -------------------------------------------------------------------------------------------------

#: What ``capture-off`` accepts.
POLICIES = ("apply", "skip-deletes", "skip-all")


@dataclass(frozen=True)
class Settings:
    """What the user named: framing and column list (None: found out), policy for CAPTURE_OFF, CCSID
    of CHAR columns and whether it was named."""

    framing: str | None = None
    columns: str | None = None
    capture_off: str | None = None
    charset: int = 1208
    charset_named: bool = False
    batches: bool = False
    catalog: str | None = None


@dataclass(frozen=True)
class WantedTables:
    """The ``tables`` of users by id, those that are the system's ``own``, and those of catalogs
    that are left out (``elsewhere``). ``low_ids``: low ids are of the system, too, for an export
    without system tables does not tell which there are."""

    tables: Mapping[int, SolidTable]
    own: Sequence[int]
    elsewhere: Sequence[int]
    low_ids: bool

    @classmethod
    def of(cls, tables: Mapping[int, SolidTable], settings: Settings) -> WantedTables:
        """Those of the export of the system tables."""
        own = [relid for relid, entry in tables.items() if entry.shadow]
        users = {relid: entry for relid, entry in tables.items() if not entry.shadow}
        wanted = settings.catalog
        away = [
            relid
            for relid, entry in users.items()
            if wanted is not None and entry.catalog.upper() != wanted.upper()
        ]
        mine = {relid: entry for relid, entry in users.items() if relid not in away}
        return cls(mine, own, away, not any(relid < layouts.FIRST_USER_TABLE for relid in own))

    def system(self, table: Index) -> Mask:
        """Which tables are the system's own."""
        mine = np.isin(table, self.own)
        if self.low_ids:
            mine |= (table >= 0) & (table < layouts.FIRST_USER_TABLE)
        return np.asarray(mine)

    def away(self, table: Index) -> Mask:
        """Which tables are of a catalog that is left out."""
        return np.asarray(np.isin(table, self.elsewhere))

    def check_names(self, spans: Mapping[int, tuple[int, int]], file: str) -> None:
        """Tables of one name in several catalogs cannot be told apart in a target, nor can those of
        one catalog that are changed by turns; one that is changed behind the other is its next
        generation. ``spans``: the first and the last row of a committed change of each table.
        InputError LR2031 where several of them are changed."""
        changed = {relid for relid in spans if relid in self.tables}
        seen: dict[tuple[str, str], list[int]] = {}
        for relid in sorted(changed):
            entry = self.tables[relid]
            others = seen.setdefault((entry.schema.upper(), entry.name.upper()), [])
            other = next((one for one in others if not self._succeeds(one, relid, spans)), None)
            others.append(relid)
            if other is not None:
                self._refuse_names(self.tables[other], entry, file)

    def _succeeds(self, one: int, other: int, spans: Mapping[int, tuple[int, int]]) -> bool:
        """Whether all changes of one of two tables of a catalog stand behind those of the other."""
        if self.tables[one].catalog != self.tables[other].catalog:
            return False
        mine, theirs = spans[one], spans[other]
        return mine[1] < theirs[0] or theirs[1] < mine[0]

    def _refuse_names(self, other: SolidTable, entry: SolidTable, file: str) -> None:
        message = (
            f"found changes of {other.catalog}.{other.schema}.{other.name} and of"
            f" {entry.catalog}.{entry.schema}.{entry.name}"
        )
        hint = (
            f"Take one catalog at a time: --log-option catalog={other.catalog}"
            if entry.catalog != other.catalog
            else "Two tables of one name are changed by turns: export the system tables again"
        )
        raise InputError(
            "LR2031",
            f"{message}; expected tables that their schema and name tell apart",
            Where(file),
            hint,
        )
