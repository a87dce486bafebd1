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
from replay.storage import at
from sqlgen.schema import Column, Constraints, ForeignKey, SqlType, Table

_HINT = "Export the system tables with scripts/export_soliddb.py"
_UTF16 = 1200

#: The system tables that are read, and the columns without which they are of no use.
_NEEDED = {
    "sys_tables": ("ID", "TABLE_NAME", "TABLE_TYPE", "TABLE_SCHEMA"),
    "sys_columns": (
        *("REL_ID", "COLUMN_NAME", "COLUMN_NUMBER"),
        *("SQL_DATA_TYPE_NUM", "DATA_TYPE_NUMBER", "NULLABLE"),
    ),
    "sys_keys": ("ID", "REL_ID", "KEY_PRIMARY", "KEY_NREF"),
    "sys_keyparts": ("ID", "KEYP_NO", "ATTR_ID", "ATTR_NO", "ATTR_TYPE"),
    "sys_forkeys": ("ID", "REF_REL_ID", "CREATE_REL_ID", "REF_TYPE", "KEY_NAME", "KEY_ACTION"),
    "sys_forkeyparts": ("ID", "KEYP_NO", "ATTR_NO", "ATTR_ID", "ATTR_TYPE", "CONST_VALUE"),
}
_PRIMARY = ("sys_keys", "sys_keyparts")
_FOREIGN = ("sys_forkeys", "sys_forkeyparts")
#: REF_TYPE of the row of the referencing table, and of the referenced one.
_CHILD, _PARENT = 1, 2
#: The low byte of KEY_ACTION, less one.
_ON_DELETE = ("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION")
_Row = Mapping[str, str | None]


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


class SystemTables:
    """The export of the system tables in a folder; each is read once. InputError LR2031 where it
    lacks a table or column, has an unusable value, or does not say which columns are a table's
    key."""

    def __init__(self, folder: str) -> None:
        place = at(folder)
        self.place = place / "meta" if (place / "meta").is_dir() else place
        self._read: dict[str, list[dict[str, str | None]]] = {}
        self._sorted: dict[tuple[str, str], dict[int, list[_Row]]] = {}

    def files(self) -> list[str]:
        """The files that are read."""
        found = (export_files.find(self.place, name) for name in _NEEDED)
        return [str(path) for path in found if path is not None]

    def tables(self, manifest: Manifest, charset: int) -> dict[int, SolidTable]:
        """The tables by id. ``charset`` is the CCSID of CHAR columns."""
        rows = {self._number(row, "ID"): row for row in self._rows("sys_tables")}
        columns = self._by("sys_columns", "REL_ID")
        named = _keys_of_manifest(manifest, rows)
        keys = self._keys(named)
        exported = {}
        for relid, row in rows.items():
            if row["TABLE_TYPE"] in ("VIEW", "SYNONYM"):
                continue
            catalog = row.get("TABLE_CATALOG") or ""
            schema, name = row["TABLE_SCHEMA"] or "", row["TABLE_NAME"] or ""
            if relid < layouts.FIRST_USER_TABLE:
                exported[relid] = SolidTable(relid, catalog, schema, name, (), (), True)
                continue
            key = named.get(relid, keys.get(relid, ()))
            attributes = [self._attribute(entry, key, charset) for entry in columns.get(relid, ())]
            attributes.sort(key=lambda entry: entry.number)
            if len({entry.number for entry in attributes}) < len(attributes):
                found = f"a COLUMN_NUMBER twice in {schema}.{name}"
                raise self._unusable("sys_columns", found, "each once")
            seen = [one.format.column.name for one in attributes if one.kind == layouts.ATTR_USER]
            if unknown := [column for column in key if column not in seen]:
                found = f"{', '.join(unknown)} in the key of {schema}.{name}"
                raise self._unusable("sys_keyparts", found, "columns of the table")
            shadow = row["TABLE_TYPE"] in layouts.SHADOWS
            exported[relid] = SolidTable(
                relid, catalog, schema, name, tuple(attributes), key, shadow
            )
        return exported

    def constraints(self, exported: Mapping[int, SolidTable]) -> Constraints:
        """The unique keys and foreign keys, as far as the export has them."""
        names = {
            relid: f"{entry.schema}.{entry.name}".upper()
            for relid, entry in exported.items()
            if not entry.shadow
        }
        unique = []
        has_keys = self._has(_PRIMARY)
        parts = self._by("sys_keyparts", "ID") if has_keys else {}
        for row in self._rows("sys_keys") if has_keys else ():
            relid = self._number(row, "REL_ID")
            is_unique = (row.get("KEY_UNIQUE") or "").upper() == "YES" and not _is_primary(row)
            if relid in names and is_unique:
                own = parts.get(self._number(row, "ID"), [])
                columns = self._columns(relid, self._user_parts(own))
                unique += [(names[relid], columns)] if columns else []
        whole = self._has(_FOREIGN)
        foreign = tuple(self._foreign_keys(names)) if whole else ()
        return Constraints(tuple(unique), foreign, complete=whole)

    def _has(self, names: Sequence[str]) -> bool:
        return all(export_files.find(self.place, name) is not None for name in names)

    def _rows(self, name: str) -> list[dict[str, str | None]]:
        if name not in self._read:
            path = export_files.find(self.place, name)
            if path is None:
                found = f"found no {name}.parquet, .csv or .jsonl"
                message = f"{found}; expected the export of {name.upper()}"
                raise InputError("LR2031", message, Where(str(self.place)), _HINT)
            self._read[name] = export_files.records(path, _NEEDED[name])
        return self._read[name]

    def _by(self, name: str, column: str) -> dict[int, list[_Row]]:
        """The rows of a system table by a number in them."""
        if (name, column) not in self._sorted:
            groups: dict[int, list[_Row]] = {}
            for row in self._rows(name):
                groups.setdefault(self._number(row, column), []).append(row)
            self._sorted[name, column] = groups
        return self._sorted[name, column]

    def _unusable(self, name: str, found: str, expected: str) -> InputError:
        where = Where(str(export_files.find(self.place, name) or self.place))
        return InputError("LR2031", f"found {found}; expected {expected}", where, _HINT)

    def _number(self, row: _Row, name: str, default: int | None = None) -> int:
        text = row.get(name)
        if text is None and default is not None:
            return default
        try:
            return int(float(text)) if text and "." in text else int(text or "")
        except ValueError:
            where = Where(str(self.place), field=name)
            message = f"found {text!r}; expected a number"
            raise InputError("LR2031", message, where, _HINT) from None

    def _attribute(self, row: _Row, key: tuple[str, ...], charset: int) -> Attribute:
        number = self._number(row, "COLUMN_NUMBER")
        kind = self._number(row, "ATTR_TYPE", layouts.ATTR_USER)
        user, name = kind == layouts.ATTR_USER, row["COLUMN_NAME"] or ""
        sql = self._number(row, "SQL_DATA_TYPE_NUM", None if user else 0)
        sql = layouts.SAME_SQL_TYPE.get(sql, sql)
        code = self._number(row, "DATA_TYPE_NUMBER")
        if code not in list(InternalType):
            found = f"DATA_TYPE_NUMBER {code} of column {name}"
            raise self._unusable("sys_columns", found, f"0 to {max(InternalType)}")
        if user and (
            sql not in layouts.SQL_TYPES or InternalType(code) not in layouts.KINDS_OF[sql]
        ):
            expected = "SQL_DATA_TYPE_NUM and DATA_TYPE_NUMBER that agree"
            found = f"types {sql} and {code} of column {name}"
            raise self._unusable("sys_columns", found, expected)
        nullable = (row["NULLABLE"] or "").strip().upper() != "NO" or not user
        layout = column_format(
            name,
            sql if user or kind == layouts.ATTR_REMOVED else -5,
            InternalType(code),
            self._number(row, "CHAR_MAX_LENGTH", 0),
            self._number(row, "NUMERIC_PRECISION", 0),
            None if row.get("NUMERIC_SCALE") is None else self._number(row, "NUMERIC_SCALE"),
            nullable,
            charset,
            number,
            key.index(name) + 1 if name in key and user else 0,
        )
        removed = name.startswith(layouts.REMOVED_PREFIX)
        former = name.removeprefix(layouts.REMOVED_PREFIX).partition("_")[2] if removed else ""
        return Attribute(number, kind, replace(layout, initial=_initial(row, nullable)), former)

    def _keys(self, named: Mapping[int, tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
        """The columns of each table's primary key, in key order. ``named``: tables whose key the
        manifest names."""
        if named and not self._has(_PRIMARY):
            return {}
        parts, keys = self._by("sys_keyparts", "ID"), {}
        for row in filter(_is_primary, self._rows("sys_keys")):
            key, relid = self._number(row, "ID"), self._number(row, "REL_ID")
            if relid < layouts.FIRST_USER_TABLE or relid in named:
                continue
            chosen = self._user_parts(parts.get(key, []))
            count = self._number(row, "KEY_NREF")
            if len(chosen) not in (count, count - 1):
                found = (
                    f"{len(chosen)} parts of key {key} of table {relid}, whose KEY_NREF is {count}"
                )
                expected = "KEY_NREF or one less; or the key in the manifest (primary_keys)"
                raise self._unusable("sys_keyparts", found, expected)
            keys[relid] = self._columns(relid, chosen)
        return keys

    def _user_parts(self, parts: Sequence[_Row]) -> list[_Row]:
        """The parts of a key that are columns of users, up to the first hidden one; constants stand
        before them."""
        chosen: list[_Row] = []
        for part in sorted(parts, key=lambda entry: self._number(entry, "KEYP_NO")):
            kind = self._number(part, "ATTR_TYPE", -1)
            if kind in layouts.ENDS_KEY:
                break
            if kind in (layouts.ATTR_USER, layouts.ATTR_COLLATION):
                chosen += [part] if part.get("CONST_VALUE") is None else []
        return chosen

    def _columns(self, relid: int, parts: Sequence[_Row]) -> tuple[str, ...]:
        """The names of key parts, by ATTR_ID or else ATTR_NO."""
        columns = self._by("sys_columns", "REL_ID").get(relid, [])
        by_id = {row["ID"]: row for row in columns if row.get("ID") is not None}
        by_number = {self._number(row, "COLUMN_NUMBER"): row for row in columns}
        names = []
        for part in parts:
            row = by_id.get(part["ATTR_ID"]) if part["ATTR_ID"] is not None else None
            if row is None and part["ATTR_NO"] is not None:
                row = by_number.get(self._number(part, "ATTR_NO"))
            if row is None:
                found = f"a key part of table {relid} without a column"
                raise self._unusable("sys_keyparts", found, "ATTR_ID or ATTR_NO of one")
            names.append(row["COLUMN_NAME"] or "")
        return tuple(names)

    def _foreign_keys(self, names: Mapping[int, str]) -> Iterator[ForeignKey]:
        """Each constraint has two rows of one name and creating table: the columns that refer, and
        those they refer to."""
        parts = self._by("sys_forkeyparts", "ID")
        sides: dict[tuple[str, int], dict[int, _Row]] = {}
        for row in self._rows("sys_forkeys"):
            key = row["KEY_NAME"] or "", self._number(row, "CREATE_REL_ID")
            sides.setdefault(key, {})[self._number(row, "REF_TYPE")] = row
        for (name, _), rows in sorted(sides.items()):
            relids = {side: self._number(row, "REF_REL_ID") for side, row in rows.items()}
            if set(rows) != {_CHILD, _PARENT} or not set(relids.values()) <= set(names):
                continue
            child, parent = (
                self._columns(
                    relids[side], self._user_parts(parts.get(self._number(rows[side], "ID"), []))
                )
                for side in (_CHILD, _PARENT)
            )
            action = (self._number(rows[_CHILD], "KEY_ACTION", 0) & 0xFF) - 1
            if child and len(child) == len(parent):
                on_delete = _ON_DELETE[action] if 0 <= action < len(_ON_DELETE) else "NO ACTION"
                yield ForeignKey(
                    name, names[relids[_CHILD]], child, names[relids[_PARENT]], parent, on_delete
                )


def _is_primary(key: _Row) -> bool:
    return (key["KEY_PRIMARY"] or "").upper() == "YES"


def _keys_of_manifest(manifest: Manifest, tables: Mapping[int, _Row]) -> dict[int, tuple[str, ...]]:
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


def _initial(row: _Row, nullable: bool) -> str | None:
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
