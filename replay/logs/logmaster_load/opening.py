"""LOAD files, their LOAD statements and the DDL of the tables -> an index of changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask, Records
from replay.changes.catalog import Catalog, ColumnFormat, RowFormat, TableVersion
from replay.changes.envelope import Change
from replay.decoding import codecs
from replay.errors import InputError, UsageError, Where, counted
from replay.logs import Inputs
from replay.logs.change_types import CHANGE_OF_TYPE
from replay.logs.files import mapped, unpacked_together
from replay.logs.indexed_log import IndexedFile, save, version_named
from replay.logs.logmaster_load import reader
from replay.logs.logmaster_load.control import (
    DEFAULT_CCSID,
    NEEDED,
    ROLES,
    TELLS,
    IntoTable,
    LoadStatement,
    column_of,
    read_control,
)
from replay.logs.logmaster_load.reader import ENTRY, NAMES, UNIT
from replay.logs.logmaster_load.records import (
    DelimitedRecords,
    cut,
    parts,
    without_mark,
)
from replay.logs.made_images import images
from replay.storage import read_text
from sqlgen.ddl.schema_file import defined_tables
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import when_used
from sqlgen.schema import Column, Constraints, SqlType, Table

with when_used():  # where there is DDL
    from sqlgen.ddl import ddl_reader

#: Rows whose images are made at once.
_BATCH = 65_536
_LARGE = (SqlType.CLOB, SqlType.BLOB, SqlType.XML)
_HEX = "^([0-9A-F]{12}|[0-9A-F]{16}|[0-9A-F]{20})$"
_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[- ][0-9]{2}[.:][0-9]{2}[.:][0-9]{2}([.][0-9]{1,12})?$"
#: Bytes of a position, and of an RBA and LRSN before they were extended.
_POSITION, _SHORT = 10, 6
_ACTIONS = {name.strip(): change for name, change in CHANGE_OF_TYPE.items()} | {
    "U": Change.UPDATE,
    "INSERT": Change.INSERT,
    "UPDATE": Change.UPDATE,
    "DELETE": Change.DELETE,
}
_SETTINGS = {
    "images": ("after-before", "before-after"),
    "dispositions": ("unknown", "committed"),
}


@dataclass
class _Pile:
    """What the files give, piece by piece."""

    entries: list[Records]
    units: list[Records]
    images: list[Bytes]
    size: int = 0


def open_log(inputs: Inputs) -> reader.LoadLog:
    """Open LOAD files. InputError for files that cannot be read, that do not fit their LOAD
    statements or the DDL, or whose informational columns give no order; UsageError for settings."""
    for name, accepted in _SETTINGS.items():
        if inputs.options.get(name, accepted[0]) not in accepted:
            raise UsageError(
                "LR1001",
                f"found --log-option {name}={inputs.options[name]}; expected one of:"
                f" {', '.join(accepted)}",
            )
    control = inputs.control or ""
    statements = _paired(control, inputs.data)
    text = _text(inputs.catalog or "")
    try:
        tables = defined_tables(text, "db2")
        constraints = ddl_reader.parse_constraints(text, "db2", tables)
    except SqlgenError as error:
        raise InputError("LR2031", error.message, Where(inputs.catalog), error.hint) from None
    versions: dict[str, TableVersion] = {}
    pile, files = _Pile([], [], []), list[IndexedFile]()
    first = 0
    there = unpacked_together(inputs.data, inputs.scratch)
    for number, (path, statement) in enumerate(zip(inputs.data, statements, strict=True)):
        ccsid = _ccsid(inputs.options, statement)
        raw = without_mark(mapped(there[number]), ccsid)
        if not len(raw):
            raise InputError("LR2002", "found an empty file; expected a LOAD file", Where(path))
        records = cut(raw, statement, ccsid, path)
        made, units = np.zeros(len(records), ENTRY), np.zeros(len(records), UNIT)
        made["file"], made["row"], made["size"] = number, np.arange(len(records)), records.sizes()
        for into, rows in _by_table(path, records, statement.tables):
            version = _version(control, into, tables, versions, ccsid)
            load = _LoadedTable(path, rows, records.some(rows, into), version, inputs.options)
            load.take(made, units, pile)
        pile.entries.append(made)
        pile.units.append(units)
        files.append(IndexedFile(name=path, first=first, count=len(records)))
        first += len(records)
    entries = np.concatenate(pile.entries)
    entries["unit"], units = _units(np.concatenate(pile.units), files)
    named = _columns(statements)
    return reader.LoadLog(
        files=files,
        catalog=Catalog(tuple(versions.values())),
        catalog_files=[control, inputs.catalog or ""],
        arrays=save(
            (entries, units, np.concatenate([np.zeros(0, np.uint8), *pile.images])), inputs.scratch
        ),
        changes={},
        source="logmaster-load",
        opening_warnings=tuple(_warnings(inputs.options)),
        constraints=_of_log(constraints, versions),
        lacking=_lacking(named, inputs.options),
        by_lrsn=bool(units["member"].any()),
        columns=named,
    )


def _text(path: str) -> str:
    return read_text(
        path,
        "utf-8-sig",
        "--control is the LOAD control file, --catalog the DDL of its tables, both as text; a"
        " logical log is read with --source logmaster",
    )


def _paired(control: str, data: Sequence[str]) -> list[LoadStatement]:
    """The LOAD statement of each file: the one that names it, the only one, or as many as there
    are files, in order."""
    statements = read_control(control, _text(control))
    named = [
        [one for one in statements if one.file and f"/{path}".endswith(f"/{one.file}")]
        for path in data
    ]
    if all(len(found) == 1 for found in named):
        return [found[0] for found in named]
    if len(statements) == 1:
        return statements * len(data)
    if len(statements) != len(data):
        inputs = ", ".join(statement.inddn for statement in statements)
        raise InputError(
            "LR2007",
            f"found {counted(len(data), 'LOAD file')} for"
            f" {counted(len(statements), 'LOAD statement')} ({inputs});"
            " expected one for each, in their order",
            Where(control),
            "Name the files with --data in the order of INDDN in the LOAD control file",
        )
    return statements


def _ccsid(options: Mapping[str, str], statement: LoadStatement) -> int:
    given = options.get("ccsid")
    if given is None:
        return statement.ccsid or DEFAULT_CCSID
    if not given.isdecimal():
        raise UsageError("LR1001", f"found --log-option ccsid={given}; expected a number")
    return int(given)


def _columns(statements: Sequence[LoadStatement]) -> tuple[str, ...]:
    """The informational columns that every table has."""
    every = [into for statement in statements for into in statement.tables]
    lists = [[one.name for one in into.fields[: into.info]] for into in every]
    return tuple(name for name in lists[0] if all(name in other for other in lists))


def _lacking(named: Sequence[str], options: Mapping[str, str]) -> dict[str, str]:
    return {
        fact: f"the LOAD control file lists no column {column_of(role, options)}"
        for role, fact in TELLS.items()
        if column_of(role, options) not in named
    }


def _warnings(options: Mapping[str, str]) -> Iterator[str]:
    if options.get("dispositions") != "committed":
        yield (
            "LOAD files do not say whether work was committed or undone: every record counts as"
            " committed; --log-option dispositions=committed says that the LOGSCAN took nothing"
            " else"
        )
    if column_of("commit", options) == column_of("time", options):
        yield (
            "units are ordered by the time in the LOAD files, which is not documented to be that"
            " of the commit; units with equal times are in no order"
        )


def _of_log(constraints: Constraints, versions: Mapping[str, TableVersion]) -> Constraints:
    return Constraints(
        tuple(key for key in constraints.keys if key[0] in versions),
        tuple(
            key
            for key in constraints.foreign_keys
            if key.table in versions and key.parent in versions
        ),
        constraints.unused,
        complete=True,
    )


def _version(
    control: str,
    into: IntoTable,
    tables: Sequence[Table],
    versions: dict[str, TableVersion],
    ccsid: int,
) -> TableVersion:
    """The table of an INTO TABLE clause: its columns are those of the LOAD statement, their types
    and the key those of the DDL."""
    table, columns = _definition(control, into, tables)
    known = versions.get(f"{table.schema}.{table.name}")
    if known is not None:
        if known.table.columns != columns:
            raise InputError(
                "LR2031",
                "found LOAD statements with different columns; expected one list of columns",
                Where(control, table=into.given),
                "Read the files in runs of their own",
            )
        return known
    layout = RowFormat(
        tuple(
            ColumnFormat(
                column, column.type.value, column.length, column.scale, column.nullable, ccsid=ccsid
            )
            for column in columns
        )
    )
    number = len(versions)
    version = version_named(
        number,
        Table(table.schema, table.name, columns, table.key),
        layout,
        number=number + 1,
        unlogged=len(table.columns) - len(columns),
    )
    versions[version.name] = version
    return version


def _definition(
    control: str, into: IntoTable, tables: Sequence[Table]
) -> tuple[Table, tuple[Column, ...]]:
    """The table in the DDL that an INTO TABLE clause means, and the columns that it loads."""
    given = into.given
    same = [
        table for table in tables if table.name == into.name and into.schema in ("", table.schema)
    ]
    if len(same) != 1:
        raise InputError(
            "LR2031",
            f"found {len(same)} definitions of {given}; expected one in the DDL (--catalog)",
            Where(control, table=given),
        )
    table = same[0]
    names = [one.name for one in into.fields[into.info :]]
    defined = {column.name: column for column in table.columns}
    unknown = [name for name in names if name not in defined]
    lost = [name for name in table.key if name not in names]
    large = [name for name in names if name in defined and defined[name].type in _LARGE]
    for wrong, found, expected in (
        (
            unknown,
            "columns that the DDL does not have, or of a type of its own",
            "columns of the table, of Db2's types",
        ),
        (lost, "no columns of the primary key", "all of them"),
        (large, "large object columns", "none: what LOAD files hold of them is not published"),
    ):
        if wrong:
            raise InputError(
                "LR2031",
                f"found {found}: {', '.join(wrong)}; expected {expected}",
                Where(control, table=given),
            )
    return table, tuple(defined[name] for name in names)


def _by_table(
    path: str, records: DelimitedRecords, tables: Sequence[IntoTable]
) -> Iterator[tuple[IntoTable, Index]]:
    """Each table with the records of a file that are of it: those of no table before, which hold
    what its WHEN says. Tables without records count. InputError LR2011 for a record of none."""
    left = np.ones(len(records), bool)
    for into in tables:
        here, names = left.copy(), [one.name for one in into.fields]
        for condition in into.when:
            if condition.name not in names:
                raise InputError(
                    "LR2009",
                    "found a WHEN about bytes or another field; expected one about a field of"
                    " the LOAD statement",
                    Where(path, table=into.name),
                )
            every = records.some(np.arange(len(records)), into)
            value = pc.fill_null(every.text(names.index(condition.name)), "")
            here &= np.asarray(pc.equal(value, condition.value.strip()))
        left &= ~here
        yield into, np.flatnonzero(here)
    for row in np.flatnonzero(left)[:1].tolist():
        raise InputError(
            "LR2011",
            "found a record that no WHEN of the LOAD statement takes; expected one of its tables",
            Where(path, row + 1),
        )


@dataclass
class _LoadedTable:
    """The records of one table in a file, which are ``rows`` of it, on their way into the index."""

    path: str
    rows: Index
    records: DelimitedRecords
    version: TableVersion
    options: Mapping[str, str]

    def __post_init__(self) -> None:
        self.fields = self.records.table.fields
        self.info = [one.name for one in self.fields[: self.records.table.info]]

    def take(self, entries: Records, units: Records, pile: _Pile) -> None:
        """Fill in the entries and units of the file, and add the images."""
        if not len(self.rows):
            return
        said = self._role("table")
        if said is not None:
            same = pc.fill_null(pc.equal(said, self.version.name), False)
            self._need(
                np.asarray(same.to_numpy(zero_copy_only=False), bool),
                column_of("table", self.options),
                f"records of {self.version.name}, for which this LOAD statement is",
            )
        part = np.array(entries[self.rows])
        part["version"], part["segment"], part["segments"] = self.version.index, 1, 1
        action = pc.utf8_upper(pc.fill_null(self._role("action"), ""))
        for name, change in _ACTIONS.items():
            is_it = np.asarray(pc.equal(action, name).to_numpy(zero_copy_only=False), bool)
            part["change"][is_it] = change
        part["fault"][part["change"] == 0] = reader.UNKNOWN_ACTION
        part["position"] = self._position("position", False)
        part["origin"] = ord(" ")
        origin = self._role("origin")
        if origin is not None:
            first = pc.utf8_slice_codeunits(pc.utf8_rpad(pc.fill_null(origin, ""), 1), 0, 1)
            part["origin"] = parts(first.cast(pa.binary()))[0]
        units[self.rows] = self._unit()
        for change, before, after in (
            (Change.INSERT, False, True),
            (Change.DELETE, True, False),
            (Change.UPDATE, True, True),
        ):
            self._images(part, change, (before, after), pile)
        entries[self.rows] = part

    def _role(self, role: str) -> pa.Array | None:
        name = column_of(role, self.options)
        if name in self.info:
            return self.records.text(self.info.index(name))
        if role in NEEDED:
            there = ", ".join(self.info) or "none"
            raise InputError(
                "LR2008",
                f"found no informational column {name} ({ROLES[role][1]}); found: {there};"
                " expected it in the LOAD control file",
                Where(self.path, table=self.records.table.name),
                f"Name the column that says it: --log-option {role}=#NAME; or have LOGSCAN write"
                " all informational columns (INFO COLUMNS, URID FIELDS ALL)",
            )
        return None

    def _images(self, part: Records, change: Change, sides: tuple[bool, bool], pile: _Pile) -> None:
        """Row images of the changes of one kind. Of an insert or delete the only one is first."""
        mine = np.flatnonzero((part["change"] == change) & (part["fault"] == 0))
        both = all(sides)
        bad = self.records.bad(mine, 2 if both else 1)
        part["fault"][mine[bad]] = reader.WRONG_FIELDS
        if both and bad.any():
            alone = bad & ~self.records.bad(mine, 1)
            part["fault"][mine[alone]] = reader.NO_BEFORE_IMAGE
        good = mine[~bad]
        first = both and self.options.get("images") == "before-after"
        for side, there, shift in (
            ("before", sides[0], int(both and not first)),
            ("after", sides[1], int(both and first)),
        ):
            part[side][mine] = -1
            if not there:
                continue
            for low in range(0, len(good), _BATCH):
                chosen = good[low : low + _BATCH]
                made = images(
                    [
                        self.records.values(chosen, number, shift)
                        for number in range(len(self.info), len(self.fields))
                    ]
                )
                data, offsets = parts(made)
                part[side][chosen] = pile.size + offsets[:-1]
                part[f"{side}_size"][chosen] = np.diff(offsets)
                pile.images.append(data)
                pile.size += len(data)

    def _unit(self) -> Records:
        made = np.zeros(len(self.rows), UNIT)
        member = self._role("member")
        if member is not None:
            fits = np.asarray(pc.fill_null(pc.match_substring_regex(member, "^[0-9]{1,5}$"), False))
            self._need(fits, column_of("member", self.options), "a number")
            made["member"] = np.asarray(pc.cast(member, pa.int64()))
        by_lrsn = bool(made["member"].any())
        made["commit"] = self._position("commit", by_lrsn)
        urid = self._position("unit", False)
        made["unit"] = (
            np.concatenate(
                [
                    urid.view(np.uint8).reshape(-1, _POSITION),
                    made["member"].astype(">u2").view(np.uint8).reshape(-1, 2),
                ],
                axis=1,
            )
            .view("V12")
            .reshape(-1)
        )
        begin = self._role("begin")
        named = begin is not None and pc.all(pc.match_substring_regex(begin, _HEX)).as_py()
        made["start"] = self._position("begin", by_lrsn) if named else urid
        time = self._role("time")
        if time is not None:
            made["time"] = _packed(time)
        made["disposition"] = ord("C")
        for name in NAMES:
            value = self._role(name)
            if value is not None:
                data, offsets = parts(value.cast(pa.binary()))
                block = codecs.gather_padded(data, offsets[:-1], np.diff(offsets), NAMES[name])
                made[name] = np.ascontiguousarray(block).view(f"S{NAMES[name]}").reshape(-1)
        return made

    def _position(self, role: str, lrsn: bool) -> npt.NDArray[np.void]:
        """Positions, V10, of hexadecimal digits: 20, or 12 as before they were extended (an LRSN
        behind a zero byte, an RBA at the end). Of commits also a timestamp."""
        text = pc.utf8_upper(pc.fill_null(self._role(role), ""))
        name = column_of(role, self.options)
        if role == "commit" and name == column_of("time", self.options):
            fits = np.asarray(pc.match_substring_regex(text, _MOMENT))
            self._need(fits, name, "a timestamp")
            return (
                np.ascontiguousarray(_packed(text).view(np.uint8).reshape(-1, 17)[:, :10])
                .view("V10")
                .reshape(-1)
            )
        fits = np.asarray(pc.match_substring_regex(text, _HEX))
        self._need(fits, name, "20 hexadecimal digits, or 12 or 16")
        short = np.asarray(pc.binary_length(text)) == 2 * _SHORT
        wide = pc.utf8_lpad(text, 2 * _POSITION, "0")
        if lrsn and short.any():
            moved = pc.utf8_rpad(pc.binary_join_element_wise("00", text, ""), 2 * _POSITION, "0")
            wide = pc.if_else(pa.array(short), moved, wide)
        digits, _ = parts(wide.cast(pa.binary()))
        octets = np.frombuffer(bytes.fromhex(digits.tobytes().decode()), np.uint8)
        return octets.reshape(-1, _POSITION).view("V10").reshape(-1)

    def _need(self, fits: Mask, name: str, expected: str) -> None:
        """End where an order is not to be had."""
        if not fits.all():
            row = int(self.rows[np.flatnonzero(~fits)[0]])
            raise InputError(
                "LR2010",
                f"found an impossible {name}; expected {expected}: without it the position of"
                " the change is unknown",
                Where(self.path, row + 1, field=name),
            )


def _packed(text: pa.Array) -> npt.NDArray[np.void]:
    """Timestamps as 34 packed digits (V17); zeros for what is none."""
    fits = pc.fill_null(pc.match_substring_regex(text, _MOMENT), False)
    digits = pc.replace_substring_regex(pc.if_else(fits, text, ""), "[^0-9]", "")
    padded, _ = parts(pc.utf8_rpad(digits, 34, "0").cast(pa.binary()))
    return np.frombuffer(bytes.fromhex(padded.tobytes().decode()), "V17")


def _units(found: Records, files: Sequence[IndexedFile]) -> tuple[Index, Records]:
    """(the unit of each record, the units) where each has one. InputError LR2016 where records of
    a unit name several commits."""
    whole = np.ascontiguousarray(found["unit"]).view(np.uint8).reshape(len(found), 12)
    codes = codecs.binary_rows(whole).dictionary_encode()
    unit = np.asarray(codes.indices).astype(np.int64)
    _, first = np.unique(unit, return_index=True)
    units = np.array(found[first])
    other = np.flatnonzero(found["commit"] != units["commit"][unit])
    if len(other):
        row = int(other[0])
        file = next(one for one in reversed(files) if one.first <= row)
        raise InputError(
            "LR2016",
            "found a record with another commit than others of its unit of recovery; expected one",
            Where(file.name, row - file.first + 1),
        )
    return unit, units
