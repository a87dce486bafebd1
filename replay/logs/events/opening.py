"""Files of change events -> an index of changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Records
from replay.changes.catalog import Catalog, TableVersion
from replay.changes.envelope import Change
from replay.changes.position import Position
from replay.decoding.hashes import hash_ranges, mixed
from replay.errors import InputError, Refusal, UsageError, Where, some_of
from replay.logs import Inputs
from replay.logs.events import (
    catalog_schemas,
    lines,
    pgoutput,
    reader,
    rows,
    rules,
    schemas,
    sources,
)
from replay.logs.files import mapped, unpacked_together
from replay.logs.indexed_log import IndexedFile, save
from replay.logs.made_images import forget
from replay.spill import Growing
from sqlgen.schema import Table

_KINDS = {
    "c": rules.CREATE,
    "u": rules.UPDATE,
    "d": rules.DELETE,
    "t": rules.TRUNCATE,
    "r": rules.SNAPSHOT,
}
_STATUS = {"BEGIN": rules.BEGIN, "END": rules.END}
#: Where logreplay keeps how far it has replayed.
_OWN_SCHEMA = "logreplay"
_ROWS = (rules.CREATE, rules.UPDATE, rules.DELETE)
_SETTINGS = "provide.transaction.metadata=true, and the topic TOPIC.PREFIX.transaction"


@dataclass
class _Tables:
    """The tables that events are of, as they are found."""

    versions: list[TableVersion] = field(default_factory=list)
    known: dict[tuple[str, str, str | None, str | None], int] = field(default_factory=dict)
    layouts: dict[int, schemas.RowSchema] = field(default_factory=dict)
    identities: dict[str, rows.OldRows] = field(default_factory=dict)
    unread: dict[str, dict[str, str]] = field(default_factory=dict)
    declared: schemas.DeclaredTypes = field(default_factory=dict)
    #: The DDL of tables whose events have no schemas, its path where it was not read yet.
    catalog: str | catalog_schemas.DeclaredTables | None = None
    by_catalog: set[int] = field(default_factory=set)
    full: set[int] = field(default_factory=set)

    def version(
        self,
        name: tuple[str, str],
        text: str | None,
        key: str | None,
        path: str,
        binlog: bool,
        row: str | None,
    ) -> int:
        """The number of a table version, of which ``row`` is one. InputError LR2031 for a schema
        that is none."""
        known = self.known.get((*name, text, key))
        if known is not None:
            return known
        asked, given = (*name, text, key), text is not None
        try:
            if text is None and self.catalog is not None:
                if isinstance(self.catalog, str):
                    self.catalog = catalog_schemas.DeclaredTables(self.catalog, binlog)
                text, key = self.catalog.schemas(name, row) or (None, None)
            layout = None if text is None else schemas.row_schema(text, binlog)
            names = schemas.key_names(key)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                "LR2031",
                f"found a schema that cannot be read ({error}); expected one of Connect",
                Where(path, table=".".join(name)),
            ) from None
        if layout is None or text is None:
            raise InputError(
                "LR2031",
                "found an event without the schema of its rows; expected it beside the payload, or"
                " the table's DDL (--catalog)",
                Where(path, table=".".join(name)),
                "Have the connector write schemas: value.converter.schemas.enable=true (Kafka"
                " Connect) or debezium.format.schemas.enable=true (Debezium Server). Or name a file"
                " with the CREATE TABLE statements: --catalog FILE --log-option settings=default",
            )
        number = len(self.versions)
        columns = tuple(entry.column for entry in layout.format.columns)
        places = {(one.table.schema, one.table.name): one.obid for one in self.versions}
        nothing = bytes(Position.SIZE)
        self.versions.append(
            TableVersion(
                number,
                Table(*name, columns, names),
                0,
                0,
                places.get(name, len(places) + 1),
                number + 1,
                number,
                nothing,
                nothing,
                *name,
                layout.format,
            )
        )
        self.layouts[number] = layout
        self.known[asked] = number
        if not given:
            self.by_catalog.add(number)
        if schemas.is_full(text):
            self.full.add(number)
        if layout.unread:
            self.unread.setdefault(".".join(name), {}).update(layout.unread)
        return number

    def unfit(self, version: int, found: str, path: str) -> InputError:
        """What is wrong with rows that the DDL does not describe."""
        return InputError(
            "LR2031",
            f"found {found}; expected rows as --catalog declares, by the connector's default"
            " settings",
            Where(path, table=self.versions[version].name),
            "Where a table was changed in between, give the events before and after it by"
            " themselves, each with its DDL",
        )

    def is_whole(self, version: int) -> bool:
        """Whether old rows are whole without a look at them, or nobody asks for them."""
        return version in self.full or _is_own(self.versions[version])

    def identity(self, version: int, gaps: bool) -> rows.OldRows:
        """What the old rows of a table say so far. ``gaps``: they are whole but for long values."""
        said = rows.OldRows(gaps=set() if gaps else None)
        return self.identities.setdefault(self.versions[version].name, said)


@dataclass
class _Pile:
    """What the files give, piece by piece: a record a line, and images behind each other.
    ``snapshot``: its rows are inserts."""

    found: Growing
    images: Growing
    snapshot: rules.Snapshot | None
    sources: sources.EventSources = field(default_factory=sources.EventSources)
    #: GTIDs of changes of structure.
    structure: list[Index] = field(default_factory=list)


def open_log(inputs: Inputs) -> reader.EventLog:
    """Open files of change events. InputError for files that cannot be read, UsageError for
    settings, Refusal (LR3020) where they lack what gives an order."""
    whole = _option(inputs, "identity", "full")
    signed = _option(inputs, "bigint", "signed")
    _option(inputs, "cascades", "logged")
    unavailable = inputs.options.get("unavailable", rows.UNAVAILABLE)
    tables, files = _Tables(catalog=_catalog(inputs)), list[IndexedFile]()
    snapshot = rules.Snapshot() if _option(inputs, "snapshot", "insert") else None
    pile = _Pile(Growing(rules.LINE, inputs.scratch), Growing(np.uint8, inputs.scratch), snapshot)
    first, connection = 0, pgoutput.Connection()
    there = unpacked_together(inputs.log, inputs.scratch)
    for number, path in enumerate(inputs.log):
        raw = mapped(there[number])
        if not len(raw):
            raise InputError("LR2002", "found an empty file; expected events", Where(path))
        count = 0
        messages = pgoutput.is_pgoutput(raw) or connection.goes_on(raw)
        absent = pgoutput.UNAVAILABLE if messages else unavailable
        for table, sizes in _tables_of(raw, path, connection if messages else None):
            _take(path, number, count, table, sizes, tables, pile, whole, absent)
            count += len(sizes)
        files.append(IndexedFile(name=path, first=first, count=count))
        first += count
    pile.sources.check(inputs.log[0])
    binlog = pile.sources.binlog
    if pile.sources.connector == sources.ORACLE and not whole:
        raise _unproven(inputs.log[0])
    found, buffer = pile.found.array(), pile.images.array()
    _admit_order(found, inputs.log[0])
    commits = sources.Commits.of(pile.sources, found["lsn"]) if pile.sources.other else None
    for version in tables.versions:
        # where no index is the identity: a key of zeros, or a row with its key
        one = tables.identities.get(version.name, rows.OldRows())
        if not one.unkeyed or (one.proven and not one.partial):
            found["unkeyed"][found["version"] == version.index] = False
    made = rules.ordered(found, binlog, commits)
    passed = _pass_own(made, tables, inputs)
    if snapshot is not None:
        snapshot.check(*made.committed, inputs.log[0])
    units = found["unit"][found["unit"] >= 0]
    if binlog:
        sources.check_one_server(*made.committed, inputs.log[0])
        tables.versions[:] = [
            schemas.with_declared(one, tables.declared, signed) for one in tables.versions
        ]
    missing = sources.gaps(units, np.concatenate([np.zeros(0, np.int64), *pile.structure]))
    lacking = {} if whole or binlog else _forget(found, buffer, tables)
    old_rows = {name: _said(one) for name, one in tables.identities.items()}
    return reader.EventLog(
        files=files,
        catalog=Catalog(tuple(tables.versions)),
        catalog_files=[] if inputs.catalog is None else [inputs.catalog],
        arrays=save((made.entries, made.units, buffer), inputs.scratch),
        changes={},
        source="events",
        opening_warnings=(*_warnings(made, tables, missing, len(connection.sent)), *passed),
        lacking=lacking,
        unread=tables.unread,
        snapshot=made.snapshot,
        empty=made.empty,
        identities=old_rows,
        updated_only=frozenset(
            name
            for name, one in tables.identities.items()
            if one.partial and not (one.keyed or one.unkeyed)
        ),
        connector=pile.sources.connector,
        givers=pile.sources.givers,
        cascades_logged=not binlog or inputs.options.get("cascades", "") == "logged",
    )


def _option(inputs: Inputs, name: str, expected: str) -> bool:
    """Whether an option is given. UsageError LR1001 for another value than the one it has."""
    given = inputs.options.get(name, "").strip()
    if given not in ("", expected):
        raise UsageError("LR1001", f"found --log-option {name}={given}; expected {expected}")
    return bool(given)


def _catalog(inputs: Inputs) -> str | None:
    """The DDL for events without schemas. UsageError LR1001 where nobody says how their values are
    written."""
    if inputs.catalog is not None and not _option(inputs, "settings", "default"):
        raise UsageError(
            "LR1001",
            "found --catalog without --log-option settings=default; expected both",
            hint="Events without schemas do not say how their values are written: settings=default"
            " says that decimal.handling.mode, binary.handling.mode and time.precision.mode of the"
            " connector are as they are by default",
        )
    return inputs.catalog


def _unproven(path: str) -> Refusal:
    return Refusal(
        "LR3020",
        "found events of Oracle, which do not say whether rows are whole: without supplemental"
        " logging of all columns those that did not change are null; expected whole rows",
        Where(path),
        "--log-option identity=full says that ALTER TABLE … ADD SUPPLEMENTAL LOG DATA (ALL) COLUMNS"
        " was so for each table",
    )


def _said(identity: rows.OldRows) -> str:
    if identity.partial:
        return "old rows have the key alone"
    if identity.gaps is not None:
        return "old rows may lack long values" if identity.gaps else "old rows are whole"
    return "old rows are whole" if identity.proven else "old rows are not proven to be whole"


# -- one part of a file
# -------------------------------------------------------------------------------------------------


def _tables_of(
    raw: Bytes, path: str, connection: pgoutput.Connection | None
) -> Iterator[tuple[pa.Table, Index]]:
    """What the lines, or messages, of a file say, part by part, and their sizes."""
    if connection is not None:
        yield from pgoutput.Reader(raw, path, connection).tables()
        return
    form = lines.form_of(raw, path)
    for row, texts in lines.windows(raw):
        yield lines.read(texts, form, path, row), np.asarray(pc.binary_length(texts))


def _take(
    path: str,
    file: int,
    row: int,
    table: pa.Table,
    sizes: Index,
    tables: _Tables,
    pile: _Pile,
    whole: bool,
    unavailable: str,
) -> None:
    """Add the records and images of some lines."""
    table = table.combine_chunks()
    columns = {name: table.column(name).chunk(0) for name in table.column_names}
    found = np.zeros(len(table), rules.LINE)
    found["file"], found["row"] = file, row + np.arange(len(table))
    found["size"] = sizes
    found["kind"] = _kinds(columns, path, row)
    rows_of_state = found["kind"] == rules.SNAPSHOT
    if pile.snapshot is not None:
        pile.snapshot.take(found, rows_of_state, columns["snapshot"])
    for name in ("unit", "lsn", "previous", "version", "before", "after", "events"):
        found[name] = -1
    changes = np.isin(found["kind"], (*_ROWS, rules.TRUNCATE))
    of_unit = changes | np.isin(found["kind"], (rules.BEGIN, rules.END))
    old, new = (np.asarray(columns[name].is_valid()) for name in ("before", "after"))
    has_old = np.isin(found["kind"], (rules.UPDATE, rules.DELETE))
    has_new = np.isin(found["kind"], (rules.CREATE, rules.UPDATE))
    found["unfit"] = changes & ((old & ~has_old) | (new != has_new))
    spoken = np.flatnonzero(changes | rows_of_state)
    if len(spoken):
        pile.sources.add(columns, spoken)
    _place(columns, found, changes, of_unit, pile.sources, path, row)
    structure = np.flatnonzero(np.asarray(columns["ddl"].is_valid()))
    if len(structure):
        there = pa.array(structure)
        schemas.add_declared(columns["structure"].take(there), tables.declared)
        pile.structure.append(sources.units_of_binlog(columns["gtid"].take(there), pile.sources))
    ends = np.flatnonzero(columns["collections"].is_valid())
    found["tables"][ends] = sources.told_of_tables(columns["collections"].take(pa.array(ends)))
    binlog = pile.sources.binlog
    whole = whole or binlog
    for version, chosen in _by_version(columns, spoken, tables, path, binlog):
        found["version"][chosen] = version
        found["tables"][chosen] = sources.code_of_table(tables.versions[version].name)
        of_rows = chosen[np.isin(found["kind"][chosen], _ROWS)]
        if len(of_rows):
            _images(columns, found, of_rows, version, tables, pile, whole, unavailable, path)
    pile.found.add(found)


def _kinds(columns: Mapping[str, pa.Array], path: str, row: int) -> npt.NDArray[np.uint8]:
    """What each line is. InputError LR2012 for one that is nothing that is known."""
    kinds = np.full(len(columns["op"]), 255, np.uint8)
    for name, meanings in (("op", _KINDS), ("status", _STATUS)):
        known = pa.array(list(meanings))
        place = pc.fill_null(pc.index_in(columns[name], known), -1).to_numpy(zero_copy_only=False)
        hits = np.flatnonzero(place >= 0)
        kinds[hits] = np.array(list(meanings.values()), np.uint8)[place[hits]]
    nothing, message = lines.mask(columns["nothing"]), lines.mask(pc.equal(columns["op"], "m"))
    # a heartbeat, or what became of a structure
    plain = np.asarray(columns["op"].is_null()) & np.asarray(columns["status"].is_null())
    beat = np.asarray(pc.or_(columns["beat"].is_valid(), columns["ddl"].is_valid()))
    kinds[(kinds == 255) & (nothing | message | (plain & beat))] = rules.OTHER
    strange = np.flatnonzero(kinds == 255)
    if len(strange):
        at = int(strange[0])
        said = columns["op"][at].as_py() or columns["status"][at].as_py()
        raise InputError(
            "LR2012",
            f"found an event of kind {said!r}" if said else "found a line that is no event",
            Where(path, row + at + 1),
            "Files of one topic, or of all, have events alone, each in the same form",
        )
    return kinds


def _place(
    columns: Mapping[str, pa.Array],
    found: Records,
    changes: npt.NDArray[np.bool_],
    of_unit: npt.NDArray[np.bool_],
    known: sources.EventSources,
    path: str,
    row: int,
) -> None:
    """Fill in what orders the lines. Refusal LR3020 for a change that names no transaction."""
    # a TRUNCATE is a transaction by itself in binary logs, and of Oracle
    alone = (found["kind"] == rules.TRUNCATE) & np.asarray(columns["transaction"].is_null())
    gtid = pc.if_else(pa.array(alone), columns["gtid"], columns["transaction"])
    names = pc.if_else(pa.array(changes), gtid, columns["id"])
    number_of_state = found["total"].copy()
    for name in ("micros", "total_order", "events"):
        number = sources.numbers(columns[name])
        found["total" if name == "total_order" else name][of_unit] = number[of_unit]
    unit, lsn, previous = sources.of_postgres(names, columns["sequence"])
    unit = np.where(unit >= 0, unit, sources.units_of_binlog(names, known))
    place = sources.numbers(columns["lsn"])
    if known.binlog:
        place = sources.places_of_binlog(columns["file"], sources.numbers(columns["pos"]), known)
        found["alone"] = alone
        found["total"][alone] = 1
        unit[alone & (unit < 0)] = place[alone & (unit < 0)]
    of_others = np.flatnonzero((of_unit | found["snapshot"]) & (unit < 0) & (place < 0))
    if len(of_others) and not known.binlog:
        there = pa.array(of_others)
        told = {name: columns[name].take(there) for name in ("commit", "record", "scn")}
        unit[of_others], made = sources.places_of_others(names.take(there), told, known)
        place, lsn = place.copy(), lsn.copy()
        place[of_others] = lsn[of_others] = made
        found["alone"] = alone & known.other
        found["total"][found["alone"]] = 1
    found["total"][~changes] = 0
    state = found["snapshot"]
    unit[state], found["alone"][state] = rules.STATE, True
    found["total"][state] = number_of_state[state]
    found["unit"][of_unit] = unit[of_unit]
    found["lsn"][changes] = place[changes]
    found["lsn"][~changes & of_unit] = lsn[~changes & of_unit]
    found["previous"][changes] = previous[changes]
    of_table = columns["table_name"], columns["db" if known.binlog else "schema_name"]
    nameless = np.asarray(pc.or_(*(one.is_null() for one in of_table)))
    unknown = changes & ((found["lsn"] < 0) | (found["total"] <= 0) | nameless)
    lost = np.flatnonzero((of_unit & (found["unit"] < 0)) | unknown)
    if len(lost):
        at = int(lost[0])
        raise Refusal(
            "LR3020",
            "found a change that names no transaction, no table or no place in the log of its"
            " database; expected them, and its number in the transaction, because nothing else"
            " tells the order of changes and whether one is missing",
            Where(path, row + at + 1),
            f"Set {_SETTINGS}; what was recorded without cannot be read, nor can XA transactions of"
            " MySQL, which are sent before they are committed, nor Oracle's events without"
            " commit_scn, which the adapter for LogMiner writes",
        )


def _by_version(
    columns: Mapping[str, pa.Array], chosen: Index, tables: _Tables, path: str, binlog: bool
) -> Iterator[tuple[int, Index]]:
    """The changes of each table version."""
    if not len(chosen):
        return
    names = ("db" if binlog else "schema_name", "table_name", "schema", "key_schema")
    taken = [columns[name].take(pa.array(chosen)).dictionary_encode() for name in names]
    codes = np.stack(
        [pc.fill_null(one.indices, -1).to_numpy(zero_copy_only=False) for one in taken], axis=1
    )
    different, place = np.unique(codes, axis=0, return_inverse=True)
    first = {number: int(np.flatnonzero(place == number)[0]) for number in range(len(different))}
    for number in sorted(first, key=first.__getitem__):
        schema, name, text, key = (
            None if code < 0 else one.dictionary[int(code)].as_py()
            for one, code in zip(taken, different[number], strict=True)
        )
        at = int(chosen[first[number]])
        row = columns["after"][at].as_py() or columns["before"][at].as_py()
        version = tables.version((schema or "", name or ""), text, key, path, binlog, row)
        yield version, chosen[place == number]


def _images(
    columns: Mapping[str, pa.Array],
    found: Records,
    chosen: Index,
    version: int,
    tables: _Tables,
    pile: _Pile,
    whole: bool,
    unavailable: str,
    path: str,
) -> None:
    """Add the images of changes of one table version."""
    places = pa.array(chosen)
    sides = [columns[name].take(places) for name in ("before", "after")]
    if not pa.types.is_list(sides[0].type):  # (messages name their table and its columns)
        for side in sides:
            wrong, said = rows.unlike(side, tables.layouts[version])
            if said and version in tables.by_catalog:
                raise tables.unfit(version, said, path)
            found["unfit"][chosen] |= wrong
        row = pc.coalesce(sides[1], sides[0])
        of_key = tables.versions[version].table.key
        found["unfit"][chosen] |= rows.of_other_keys(columns["key"].take(places), row, of_key)
    updates = np.asarray(found["kind"][chosen] == rules.UPDATE)
    bare = updates & (whole and not _is_own(tables.versions[version]))
    found["unfit"][chosen] |= bare & ~lines.mask(sides[0].is_valid())
    made = rows.images_of(
        sides[0],
        sides[1],
        updates,
        tables.layouts[version],
        tables.versions[version].table.key,
        None if whole or tables.is_whole(version) else tables.identity(version, pile.sources.other),
        unavailable,
    )
    found["unkeyed"][chosen] = made.unkeyed
    hashes = np.zeros(len(chosen), np.uint64)
    for name, side in (("before", made.before), ("after", made.after)):
        taken, begin, size = sources.bytes_of(side)
        start = np.where(np.asarray(side.is_valid()), begin + len(pile.images), -1)
        found[name][chosen], found[f"{name}_size"][chosen] = start, size
        hashes = mixed(hashes) ^ hash_ranges(taken, begin, begin + size)
        pile.images.add(taken)
    found["content"][chosen] = hashes


# -- the log as a whole
# -------------------------------------------------------------------------------------------------


def _admit_order(found: Records, path: str) -> None:
    """Refusal LR3020 where there is no topic of transactions."""
    changes = np.isin(found["kind"], _ROWS) & ~found["snapshot"]
    if changes.any() and not (found["kind"] == rules.END).any():
        raise Refusal(
            "LR3020",
            "found changes and no END of a transaction; expected the events of the topic of"
            " transactions, which tell where transactions commit and how many changes they have",
            Where(path),
            f"Set {_SETTINGS}, and give its file beside the others",
        )


def _pass_own(made: rules.Ordered, tables: _Tables, inputs: Inputs) -> list[str]:
    """Pass over what logreplay's own replay wrote: brought back to where it came from, it would run
    in a circle. A warning where nobody said it. Refusal LR3020 where others worked before it."""
    asked = inputs.options.get("replayed", "").strip()
    if asked not in ("", "skip", "keep"):
        raise UsageError("LR1001", f"found --log-option replayed={asked}; expected skip or keep")
    own = [one.index for one in tables.versions if _is_own(one)]
    if not own or asked == "keep":
        return []
    chosen, behind = rules.replayed(made, own)
    if behind and not asked:
        raise Refusal(
            "LR3020",
            "found transactions of logreplay's own replay after those of others: the source has"
            " changed after others began to work here; expected none since the cut-over",
            Where(inputs.log[0]),
            "Brought back, changes could run in a circle. --log-option replayed=keep reads all that"
            " happened in this database, replayed=skip the work of others alone",
        )
    made.entries["change"][chosen] = Change.REPLAYED
    units = len(np.unique(made.entries["unit"][chosen]))
    if asked or not units:
        return []
    return [
        f"{units:,} transaction(s) of logreplay's own replay are skipped: --log-option"
        " replayed=skip says that this is right, replayed=keep takes them"
    ]


def _is_own(version: TableVersion) -> bool:
    return version.table.schema.lower() == _OWN_SCHEMA


def _forget(found: Records, buffer: Bytes, tables: _Tables) -> dict[str, tuple[str, ...]]:
    """Make absent what old rows do not tell; which columns that are, by table."""
    lacking = dict[str, tuple[str, ...]]()
    for version in tables.versions:
        if tables.is_whole(version.index):
            continue
        names = [column.name for column in version.table.columns]
        identity = tables.identities.get(version.name, rows.OldRows())
        here = (found["version"] == version.index) & (found["before"] >= 0)
        places = identity.lacking(names, version.table.key) if here.any() else []
        if places:
            forget(buffer, found["before"][here], len(names), places)
            lost = {*lacking.get(version.name, ()), *(names[place] for place in places)}
            lacking[version.name] = tuple(sorted(lost))
    return lacking


def _warnings(
    made: rules.Ordered, tables: _Tables, missing: int, uncommitted: int
) -> Iterator[str]:
    if missing:
        yield (
            f"{missing:,} GTID(s) between those of the log are not in it: a TRUNCATE that the"
            " connector skips (skipped.operations, as it is by default), changes of tables that it"
            " does not capture, or of structure"
        )
    if uncommitted:
        yield (
            f"{uncommitted:,} transaction(s) had sent changes and neither committed nor rolled back"
            " when the log ends: these changes are in no transaction of it"
        )
    if made.absent:
        yield (
            f"{made.absent:,} transaction(s) that others name as the one before them are not in the"
            " log: a file, or a part of one, is not there"
        )
    if made.empty:
        yield (
            f"{made.empty:,} transaction(s) ended without an event: a TRUNCATE that the connector"
            " skips (skipped.operations, as it is by default), changes of tables that it does not"
            " capture, or of structure"
        )
    keyless = sorted({one.name for one in tables.versions if not one.table.key})
    if keyless:
        yield (
            f"events of {some_of(keyless, len(keyless))} have no key: their rows are identified by"
            " all of their values, or by a key that --schema states"
        )
