"""Files of change events -> an index of changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask, Records
from replay.changes.catalog import Catalog, TableVersion
from replay.changes.envelope import Change
from replay.decoding.hashes import hash_ranges, mixed
from replay.errors import InputError, Refusal, UsageError, Where
from replay.logs import Inputs
from replay.logs.events import reader, rows, rules, schemas, sources
from replay.logs.events.event_reader import EventReader
from replay.logs.files import mapped, unpacked_together
from replay.logs.indexed_log import IndexedFile, save, version_named
from replay.logs.made_images import forget, mask
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
#: What options may say.
_VALUES = {
    "identity": ("full",),
    "snapshot": ("insert",),
    "bigint": ("signed",),
    "cascades": ("logged",),
    "settings": ("default",),
    "replayed": ("skip", "keep"),
}
#: Statements that leave rows as they are.
_OF_INDEXES = re.compile(
    r"\s*(CREATE|DROP)\s+((UNIQUE|FULLTEXT|SPATIAL)\s+)?INDEX\b", re.IGNORECASE
)
#: Seconds that no clock is set back.
_LONG = 3600
#: A place behind all others.
_NEVER = np.iinfo(np.int64).max
_SETTINGS = "provide.transaction.metadata=true, and the topic TOPIC.PREFIX.transaction"


@dataclass
class _Opening:
    """What is known while files are read, piece by piece: a record a line (``found``), ``images``
    behind each other, and the tables that events are of. ``identity``: old rows are whole;
    ``snapshot``: its rows are inserts; ``structure``: GTIDs of changes of structure; ``altered``:
    the place of each change of a table's structure in a binary log (-1: of another log), the
    table, and the statement."""

    found: Growing
    images: Growing
    events: EventReader
    identity: bool
    snapshot: rules.Snapshot | None
    sources: sources.EventSources = field(default_factory=sources.EventSources)
    structure: list[Index] = field(default_factory=list)
    altered: list[tuple[int, str, str]] = field(default_factory=list)
    versions: list[TableVersion] = field(default_factory=list)
    of_table: dict[tuple[str, str], list[TableVersion]] = field(default_factory=dict)
    known: dict[tuple[str, str, str | None, str | None], int] = field(default_factory=dict)
    identities: dict[str, rows.OldRows] = field(default_factory=dict)
    unread: dict[str, dict[str, str]] = field(default_factory=dict)
    declared: schemas.DeclaredTypes = field(default_factory=dict)
    full: set[int] = field(default_factory=set)

    @property
    def whole(self) -> bool:
        """Whether old rows are whole without a look at them."""
        return self.identity or self.sources.binlog

    def version(
        self,
        name: tuple[str, str],
        described: tuple[str | None, str | None],
        row: str | None,
        where: str,
    ) -> int:
        """The number of a table version: as :meth:`EventReader.shape`."""
        asked, number = (*name, *described), len(self.versions)
        if asked in self.known:
            return self.known[asked]
        shape = self.events.shape(name, described, row, where, self.sources.binlog)
        others = self.of_table.setdefault(name, [])
        for one in others:  # a schema that was only written otherwise
            if (one.format, one.table.key) == (shape.format, shape.key):
                return self.known.setdefault(asked, one.index)
        table = Table(*name, tuple(entry.column for entry in shape.format.columns), shape.key)
        place = others[0].obid if others else len(self.of_table)
        made = version_named(number, table, shape.format, number=place, sequence=number + 1)
        self.versions.append(made)
        others.append(made)
        self.known[asked] = number
        if _is_own(made) or shape.whole:
            self.full.add(number)
        if shape.inexact:
            self.unread.setdefault(made.name, {}).update(shape.inexact)
        return number

    def old_rows(self, version: int) -> rows.OldRows | None:
        """What the old rows of a table say so far; None where they are whole without a look at
        them, or nobody asks for them."""
        if self.whole or version in self.full:
            return None
        # SQL Server's and others' are whole but for long values
        said = rows.OldRows(gaps=set() if self.sources.other else None)
        return self.identities.setdefault(self.versions[version].name, said)


def open_log(inputs: Inputs, readers: Sequence[type[EventReader]]) -> reader.EventLog:
    """Open files of change events, by the first of some readers that reads them. InputError for
    files that cannot be read, UsageError for settings, Refusal (LR3020) where they lack what gives
    an order."""
    options = _options(inputs)
    there = unpacked_together(inputs.log, inputs.scratch)
    begin = mapped(there[0])
    events = next(one for one in readers if one.reads(begin))(inputs)
    opening = _Opening(
        Growing(rules.LINE, inputs.scratch),
        Growing(np.uint8, inputs.scratch),
        events,
        "identity" in options,
        rules.Snapshot() if "snapshot" in options else None,
    )
    first, files = 0, list[IndexedFile]()
    for number, path in enumerate(inputs.log):
        raw, count = mapped(there[number]), 0
        if not len(raw):
            raise InputError("LR2002", "found an empty file; expected events", Where(path))
        for table, sizes in events.batches(raw, path):
            _take(opening, _Part.of(path, number, count, table, sizes))
            count += len(sizes)
        files.append(IndexedFile(name=path, first=first, count=count))
        first += count
    known, identities = opening.sources, opening.identities
    known.check(inputs.log[0])
    if known.connector == sources.ORACLE and not opening.identity:
        raise _unproven(inputs.log[0])
    found, buffer = opening.found.array(), opening.images.array()
    _admit_order(found, inputs.log[0])
    commits = sources.Commits.of(known, found["lsn"]) if known.other else None
    for version in opening.versions:
        # where no index is the identity: a key of zeros, or a row with its key
        one = identities.get(version.name, rows.OldRows())
        if not one.unkeyed or (one.proven and not one.partial):
            found["unkeyed"][found["version"] == version.index] = False
    made = rules.ordered(found, known.binlog, commits)
    passed = _pass_own(made, opening.versions, options.get("replayed"), inputs.log[0])
    if opening.snapshot is not None:
        opening.snapshot.check(*made.committed, inputs.log[0])
    units, versions = found["unit"][found["unit"] >= 0], opening.versions
    if known.binlog:
        sources.check_one_server(*made.committed, inputs.log[0])
        versions = [
            schemas.with_declared(one, opening.declared, "bigint" in options) for one in versions
        ]
    missing = sources.gaps(units, np.concatenate([np.zeros(0, np.int64), *opening.structure]))
    return reader.EventLog(
        files=files,
        catalog=Catalog(tuple(versions)),
        catalog_files=[] if inputs.catalog is None else [inputs.catalog],
        changes={},
        source="events",
        opening_warnings=(
            *_warnings(made, missing, events.uncommitted),
            *_went_back(made),
            *passed,
        ),
        lacking={} if opening.whole else _forget(found, buffer, opening),
        arrays=save((made.entries, made.units, buffer), inputs.scratch),
        unread=opening.unread,
        altered=_between(opening.altered, found, opening.versions),
        walks=events.WALK,
        snapshot=made.snapshot,
        empty=made.empty,
        identities={name: str(one) for name, one in identities.items()},
        updated_only=frozenset(
            name
            for name, one in identities.items()
            if one.partial and not (one.keyed or one.unkeyed)
        ),
        connector=known.connector,
        givers=known.givers,
        cascades_logged=not known.binlog or "cascades" in options,
    )


def _options(inputs: Inputs) -> dict[str, str]:
    """The options that are given. UsageError LR1001 for a value that one does not have, and where
    nobody says how values are written that have no schemas."""
    given = {name: value.strip() for name, value in inputs.options.items() if value.strip()}
    for name, values in _VALUES.items():
        if given.get(name, values[0]) not in values:
            raise UsageError(
                "LR1001",
                f"found --log-option {name}={given[name]}; expected {' or '.join(values)}",
            )
    if inputs.catalog is not None and "settings" not in given:
        raise UsageError(
            "LR1001",
            "found --catalog without --log-option settings=default; expected both",
            hint="Events without schemas do not say how their values are written: settings=default"
            " says that decimal.handling.mode, binary.handling.mode and time.precision.mode of the"
            " connector are as they are by default",
        )
    return given


def _unproven(path: str) -> Refusal:
    return Refusal(
        "LR3020",
        "found events of Oracle, which do not say whether rows are whole: without supplemental"
        " logging of all columns those that did not change are null; expected whole rows",
        Where(path),
        "--log-option identity=full says that ALTER TABLE … ADD SUPPLEMENTAL LOG DATA (ALL) COLUMNS"
        " was so for each table",
    )


# -- one part of a file
# -------------------------------------------------------------------------------------------------


class _Columns(dict[str, pa.Array]):
    """What lines say, by name; what their framing does not have is null."""

    def __missing__(self, name: str) -> pa.Array:
        return pa.nulls(len(self["op"]), pa.string())


@dataclass(frozen=True)
class _Part:
    """Some lines of a file, from ``row`` on: what they say by name, and their records."""

    path: str
    row: int
    columns: Mapping[str, pa.Array]
    found: Records

    @staticmethod
    def of(path: str, file: int, row: int, table: pa.Table, sizes: Index) -> _Part:
        """That of a table; nothing is known of the records but their kinds and sizes."""
        table = table.combine_chunks()
        columns = _Columns(
            zip(table.column_names, (one.chunk(0) for one in table.columns), strict=True)
        )
        found = np.zeros(len(table), rules.LINE)
        found["file"], found["row"], found["size"] = file, row + np.arange(len(table)), sizes
        found["kind"] = _kinds(columns, path, row)
        for name in ("unit", "lsn", "previous", "version", "before", "after", "events"):
            found[name] = -1
        return _Part(path, row, columns, found)

    def said(self, name: str, rows: Index) -> pa.Array:
        """What some lines say."""
        return self.columns[name].take(pa.array(rows))


def _take(opening: _Opening, part: _Part) -> None:
    """Add the records and images of some lines."""
    columns, found = part.columns, part.found
    rows_of_state = found["kind"] == rules.SNAPSHOT
    if opening.snapshot is not None:
        opening.snapshot.take(found, rows_of_state, columns)
    changes = np.isin(found["kind"], (*_ROWS, rules.TRUNCATE))
    old, new = (np.asarray(columns[name].is_valid()) for name in ("before", "after"))
    has_old = np.isin(found["kind"], (rules.UPDATE, rules.DELETE))
    has_new = np.isin(found["kind"], (rules.CREATE, rules.UPDATE))
    found["unfit"] = changes & ((old & ~has_old) | (new != has_new))
    spoken = np.flatnonzero(changes | rows_of_state)
    if len(spoken):
        opening.sources.add(columns, spoken)
    _place(part, changes, opening.sources)
    structure = np.flatnonzero(np.asarray(columns["ddl"].is_valid()))
    if len(structure):
        schemas.add_declared(part.said("structure", structure), opening.declared)
        gtids = part.said("gtid", structure)
        opening.structure.append(sources.units_of_binlog(gtids, opening.sources))
        opening.altered += _altered(part, structure, opening.sources)
    ends = np.flatnonzero(columns["collections"].is_valid())
    found["tables"][ends] = sources.told_of_tables(part.said("collections", ends))
    for version, chosen in _by_version(opening, part, spoken):
        found["version"][chosen] = version
        found["tables"][chosen] = sources.code_of_table(opening.versions[version].name)
        of_rows = chosen[np.isin(found["kind"][chosen], _ROWS)]
        if len(of_rows):
            _images(opening, part, of_rows, version)
    opening.found.add(found)


def _altered(
    part: _Part, structure: Index, known: sources.EventSources
) -> Iterator[tuple[int, str, str]]:
    """The changes of structure that may change rows: those of a snapshot and of indexes do not."""
    place = np.full(len(structure), -1)
    if known.binlog:
        file, position = part.said("file", structure), part.said("pos", structure)
        place = sources.places_of_binlog(file, sources.numbers(position), known)
    names = ("ddl", "structure", "db" if known.binlog else "schema_name", "table_name", "snapshot")
    said = (part.said(name, structure).to_pylist() for name in names)
    for at, ddl, changes, schema, table, snapshot in zip(place.tolist(), *said, strict=True):
        if snapshot not in (None, "false") or _OF_INDEXES.match(ddl):
            continue
        tables = {".".join(parts[-2:]) for parts, _ in schemas.tables_of_change(changes)}
        for name in sorted(tables | ({f"{schema}.{table}"} if table else set())):
            yield at, name, " ".join(ddl.split())


def _kinds(columns: Mapping[str, pa.Array], path: str, row: int) -> npt.NDArray[np.uint8]:
    """What each line is. InputError LR2012 for one that is nothing that is known."""
    kinds = np.full(len(columns["op"]), 255, np.uint8)
    for name, meanings in (("op", _KINDS), ("status", _STATUS)):
        known = pa.array(list(meanings))
        place = pc.fill_null(pc.index_in(columns[name], known), -1).to_numpy(zero_copy_only=False)
        hits = np.flatnonzero(place >= 0)
        kinds[hits] = np.array(list(meanings.values()), np.uint8)[place[hits]]
    nothing, message = mask(columns["nothing"]), mask(pc.equal(columns["op"], "m"))
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


def _place(part: _Part, changes: Mask, known: sources.EventSources) -> None:
    """Fill in what orders the lines. Refusal LR3020 for a change that names no transaction."""
    columns, found = part.columns, part.found
    of_unit = changes | np.isin(found["kind"], (rules.BEGIN, rules.END))
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
        unit[alone & (unit < 0)] = place[alone & (unit < 0)]
    of_others = np.flatnonzero((of_unit | found["snapshot"]) & (unit < 0) & (place < 0))
    if len(of_others) and not known.binlog:
        told = {name: part.said(name, of_others) for name in ("commit", "record", "scn")}
        unit[of_others], made = sources.places_of_others(
            names.take(pa.array(of_others)), told, known
        )
        place, lsn = place.copy(), lsn.copy()
        place[of_others] = lsn[of_others] = made
    found["alone"] = alone & (known.binlog or known.other)
    found["total"][found["alone"]] = 1
    found["total"][~changes] = 0
    state = found["snapshot"]
    unit[state], found["alone"][state] = rules.STATE, True
    found["total"][state] = number_of_state[state]
    found["unit"][of_unit] = unit[of_unit]
    found["lsn"] = np.where(changes, place, np.where(of_unit, lsn, -1))
    found["previous"][changes] = previous[changes]
    of_table = columns["table_name"], columns["db" if known.binlog else "schema_name"]
    nameless = np.asarray(pc.or_(*(one.is_null() for one in of_table)))
    unknown = changes & ((found["lsn"] < 0) | (found["total"] <= 0) | nameless)
    if known.other:
        unknown |= changes & ~found["snapshot"] & np.asarray(columns["record"].is_null())
    lost = np.flatnonzero((of_unit & (found["unit"] < 0)) | unknown)
    if len(lost):
        raise Refusal(
            "LR3020",
            "found a change that names no transaction, no table or no place in the log of its"
            " database; expected them, and its number in the transaction, because nothing else"
            " tells the order of changes and whether one is missing",
            Where(part.path, part.row + int(lost[0]) + 1),
            f"Set {_SETTINGS}; what was recorded without cannot be read, nor can XA transactions of"
            " MySQL, which are sent before they are committed, nor Oracle's events without"
            " commit_scn, which the adapter for LogMiner writes",
        )


def _by_version(opening: _Opening, part: _Part, chosen: Index) -> Iterator[tuple[int, Index]]:
    """The changes of each table version."""
    if not len(chosen):
        return
    database = "db" if opening.sources.binlog else "schema_name"
    names = (database, "table_name", "schema", "key_schema")
    taken = [part.said(name, chosen).dictionary_encode() for name in names]
    codes = np.stack([sources.numbers(one.indices) for one in taken], axis=1)
    different, place = np.unique(codes, axis=0, return_inverse=True)
    first = {number: int(np.flatnonzero(place == number)[0]) for number in range(len(different))}
    for number in sorted(first, key=first.__getitem__):
        schema, name, text, key = (
            None if code < 0 else one.dictionary[int(code)].as_py()
            for one, code in zip(taken, different[number], strict=True)
        )
        at = int(chosen[first[number]])
        row = part.columns["after"][at].as_py() or part.columns["before"][at].as_py()
        yield (
            opening.version((schema or "", name or ""), (text, key), row, part.path),
            chosen[place == number],
        )


def _images(opening: _Opening, part: _Part, chosen: Index, number: int) -> None:
    """Add the images of changes of one table version."""
    found, version = part.found, opening.versions[number]
    before, after = part.said("before", chosen), part.said("after", chosen)
    key = part.said("key", chosen)
    found["unfit"][chosen] |= opening.events.misfits((before, after), key, version, part.path)
    updates = np.asarray(found["kind"][chosen] == rules.UPDATE)
    bare = updates & (opening.whole and not _is_own(version))
    found["unfit"][chosen] |= bare & ~mask(before.is_valid())
    identity = opening.old_rows(number)
    *made, found["unkeyed"][chosen] = rows.images_of(
        before, after, updates, version, identity, opening.events
    )
    hashes = np.zeros(len(chosen), np.uint64)
    for name, side in zip(("before", "after"), made, strict=True):
        taken, begin, size = sources.bytes_of(side)
        start = np.where(np.asarray(side.is_valid()), begin + len(opening.images), -1)
        found[name][chosen], found[f"{name}_size"][chosen] = start, size
        hashes = mixed(hashes) ^ hash_ranges(taken, begin, begin + size)
        opening.images.add(taken)
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


def _pass_own(
    made: rules.Ordered, versions: Sequence[TableVersion], asked: str | None, path: str
) -> list[str]:
    """Pass over what logreplay's own replay wrote: brought back to where it came from, it would run
    in a circle. A warning where nobody said it. Refusal LR3020 where others worked before it."""
    own = [one.index for one in versions if _is_own(one)]
    if not own or asked == "keep":
        return []
    chosen, behind = rules.replayed(made, own)
    if behind and not asked:
        raise Refusal(
            "LR3020",
            "found transactions of logreplay's own replay after those of others: the source has"
            " changed after others began to work here; expected none since the cut-over",
            Where(path),
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


def _forget(found: Records, buffer: Bytes, opening: _Opening) -> dict[str, tuple[str, ...]]:
    """Make absent what old rows do not tell; which columns that are, by table."""
    lacking = dict[str, tuple[str, ...]]()
    for version in opening.versions:
        if version.index in opening.full:
            continue
        names = [column.name for column in version.table.columns]
        identity = opening.identities.get(version.name, rows.OldRows())
        here = (found["version"] == version.index) & (found["before"] >= 0)
        places = identity.lacking(names, version.table.key) if here.any() else []
        if places:
            forget(buffer, found["before"][here], len(names), places)
            lost = {*lacking.get(version.name, ()), *(names[place] for place in places)}
            lacking[version.name] = tuple(sorted(lost))
    return lacking


def _between(
    altered: Sequence[tuple[int, str, str]], found: Records, versions: Sequence[TableVersion]
) -> dict[str, tuple[str, ...]]:
    """Statements that changed a table after changes of its rows, by table."""
    if not altered:
        return {}
    rows = (found["version"] >= 0) & ~found["snapshot"]
    places = np.full(len(versions), _NEVER)
    np.minimum.at(places, found["version"][rows], found["lsn"][rows])
    first = dict[str, int]()
    for version, place in zip(versions, places.tolist(), strict=True):
        first[version.name] = min(first.get(version.name, _NEVER), place)
    late = [one for one in altered if one[0] < 0 or one[0] > first.get(one[1], _NEVER)]
    return {
        table: tuple(dict.fromkeys(ddl for _, of, ddl in late if of == table))
        for table in sorted({of for _, of, _ in late})
    }


def _went_back(made: rules.Ordered) -> Iterator[str]:
    """A warning where transactions that commit behind others did so long before them."""
    ids, commit = made.committed
    known = np.flatnonzero((commit >= 0) & (made.micros > 0) & (ids != rules.STATE))
    time = made.micros[known[np.argsort(commit[known], kind="stable")]]
    back = int((np.maximum.accumulate(time) - time).max(initial=0)) // 1_000_000
    if back >= _LONG:
        yield (
            f"commit times go back by {timedelta(seconds=back)} where places go on: if files are of"
            " two databases, or of one that was made anew, they are two logs, each read by itself"
        )


def _warnings(made: rules.Ordered, missing: int, uncommitted: int) -> Iterator[str]:
    skipped = (
        "a TRUNCATE that the connector skips (skipped.operations, as it is by default), changes of"
        " tables that it does not capture, or of structure"
    )
    told = {
        f"GTID(s) between those of the log are not in it: {skipped}": missing,
        "transaction(s) had sent changes and neither committed nor rolled back when the log ends:"
        " these changes are in no transaction of it": uncommitted,
        "transaction(s) that others name as the one before them are not in the log: a file, or a"
        " part of one, is not there": made.absent,
        f"transaction(s) ended without an event: {skipped}": made.empty,
    }
    yield from (f"{count:,} {text}" for text, count in told.items() if count)
