"""Selection: which changes of a log a run is about, as data, and the verdict for each record it
leads to.

Everything but ``--where`` is decided from header fields, before anything is shuffled.
:data:`REASONS` is the balance sheet's list of why a record was left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Mask, Versions, one_of
from replay.changes.catalog import Catalog
from replay.changes.choices import BehindDamage, CascadeMode, Derived, Incomplete, Operation
from replay.changes.envelope import CANCELLED, OP_NAMES, Change, Envelope, compare
from replay.changes.position import UNIT, urids_of
from replay.changes.units import UnitSet
from replay.errors import UsageError, counted
from sqlgen.errors import choice, settle_choices, settle_kinds
from sqlgen.schema import Constraints

#: Verdict codes of a record: 0 goes on, the others say why it does not. The index is the code.
REASONS: tuple[str, ...] = (
    "",
    "unit of recovery aborted",
    "record aborted (LOGRECDISP A)",
    "rolled back to savepoint (LOGRECDISP S)",
    "reversed by Db2 (LOGRECDISP O)",
    "catalog change, not a row (CO)",
    "Db2 command (CM)",
    "status change (SC)",
    "REDO set only (SQLTYPE R)",
    "before the range (--from-*)",
    "after the range (--until-*)",
    "table not selected",
    "operation not selected (--op)",
    "unit not selected (--ur)",
    "user not selected (--user)",
    "plan not selected (--plan)",
    "job not selected (--job)",
    "connection not selected (--connection)",
    "member not selected (--member)",
    "logical unit of work not selected (--luw)",
    "database not selected (--database)",
    "table space not selected (--tablespace)",
    "partition not selected (--partition)",
    "page not selected (--page)",
    "row not selected (--rid)",
    "caused by RI (--ri skip)",
    "caused by a trigger (--triggers skip)",
    "does not satisfy --where",
    "update changes nothing",
    "update touches excluded columns only",
    "a later change depends on it (--cascade non-conflicting)",
    "excluded (--except)",
    "depends on an excluded unit (--except)",
    "not quarantined",
    "control record of the log",
    "compensation record: takes another back",
    "unit of recovery in flight at the end of the log",
    "unit of recovery in doubt (prepared)",
    "repeated by another read session",
    "not to be propagated (CAPTURE_OFF)",
    "unit of recovery begins before the log",
    "table of another catalog (--log-option catalog)",
    "made by logreplay's own replay (--log-option replayed)",
    "taken by the output folder before (--after)",
    "inserted and deleted by one statement",
    "row of a history table, which the database writes (--history skip)",
)
REASON = {name: code for code, name in enumerate(REASONS)}
#: VerdictCodes that are not skips: the record's unit is incomplete and set aside.
INCOMPLETE = 250

#: The reasons that say what the user chose; the dependency graph may take such units all the same.
#: (RI and trigger policies are none of them.)
CHOSEN_BY = tuple(range(REASON["before the range (--from-*)"], REASON["caused by RI (--ri skip)"]))
#: Positions, times and marks limit a range; where a run goes on, so does what was taken before.
BEFORE_RANGE, AFTER_RANGE = "before the range (--from-*)", "after the range (--until-*)"
UNSATISFIED = "does not satisfy --where"
#: The reason of records of other tables.
OTHER_TABLE = "table not selected"
#: Of changes that a selection takes and whose statement leaves nothing of them.
CANCELLED_OUT = "inserted and deleted by one statement"
TAKEN_BEFORE = "taken by the output folder before (--after)"
HISTORY_ROW = "row of a history table, which the database writes (--history skip)"
#: Reasons that the dependency graph gives.
BUILT_ON = "a later change depends on it (--cascade non-conflicting)"
EXCLUDED, BUILDS_ON_EXCLUDED = "excluded (--except)", "depends on an excluded unit (--except)"
NOT_ASKED = "not quarantined"
#: Records that are no changes of tables, and why they are left out.
_NO_CHANGES = (
    (Change.CATALOG, "catalog change, not a row (CO)"),
    (Change.COMMAND, "Db2 command (CM)"),
    (Change.STATUS, "status change (SC)"),
    (Change.CONTROL, "control record of the log"),
    (Change.COMPENSATION, "compensation record: takes another back"),
    (Change.REPEATED, "repeated by another read session"),
    (Change.UNCAPTURED, "not to be propagated (CAPTURE_OFF)"),
    (Change.HEADLESS, "unit of recovery begins before the log"),
    (Change.ELSEWHERE, "table of another catalog (--log-option catalog)"),
    (Change.REPLAYED, "made by logreplay's own replay (--log-option replayed)"),
)

#: Field of :class:`Selection` -> the reason of those that it names, where what it names may be
#: nowhere in the log.
_BY_NAME = {
    "units": "unit not selected (--ur)",
    "query_units": "unit not selected (--ur)",
    "authids": "user not selected (--user)",
    "plans": "plan not selected (--plan)",
    "correlations": "job not selected (--job)",
    "connections": "connection not selected (--connection)",
    "members": "member not selected (--member)",
    "luws": "logical unit of work not selected (--luw)",
    "databases": "database not selected (--database)",
    "tablespaces": "table space not selected (--tablespace)",
    "partitions": "partition not selected (--partition)",
    "pages": "page not selected (--page)",
    "rids": "row not selected (--rid)",
}

#: Fields of :class:`Selection` that leave changes of a table out by what a record's header says,
#: wherever it lies in the log.
BY_HEADER = ("ops", "unit_query", *_BY_NAME)
#: Those of them that say where rows lie.
BY_LOCATION = ("databases", "tablespaces", "partitions", "pages", "rids")

#: Reasons of changes that are left out although others of their unit are taken, whose rows and
#: keys they may have changed in between.
UNWRITTEN = (
    REASON["operation not selected (--op)"],
    REASON["caused by RI (--ri skip)"],
    REASON["caused by a trigger (--triggers skip)"],
)

#: Those of changes that are left to the target, which is to do the same: by foreign keys, and by
#: triggers.
LEFT_TO_TARGET = UNWRITTEN[1:]

#: Fields of :class:`Selection` that are ends of its range.
_ENDS = tuple(f"{end}_{kind}" for end in ("from", "until") for kind in ("position", "mark", "time"))

#: Fields of :class:`Selection` that hold several values.
_SEVERAL = (
    "tables",
    "exclude_tables",
    "ops",
    *_BY_NAME,
    "columns",
    "exclude_columns",
)

VerdictCodes = Bytes


@dataclass(frozen=True)
class Selection:
    """What the user asked for. ``from_mark`` and ``until_mark`` are names in the file ``marks``
    (None: the one beside the log), which become positions where the log is known. Positions are 10
    bytes (or what the log places: 6, 8, a whole LOGADDR), times 17 packed bytes (as in the header),
    ``databases`` and ``tablespaces`` globs of names or ids in decimal digits, ``partitions`` and
    ``pages`` first and last numbers, ``rids`` the bytes of row identifiers; None and empty mean no
    limit. A unit that is text is the last digits of its id, and ``unit_query`` a query (DuckDB) for
    units: :func:`replay.reports.sql.settled` finds both in a log, and puts the bytes of the units
    of the query into ``query_units``. ``any_name``: of units, names and places it is enough that
    one takes a change. ``history``: ``apply``, ``skip`` or ``skip=TABLE,…``, of which
    :mod:`replay.pipeline.request` makes ``history_tables``, and the numbers of their
    versions in the log. ``behind_damage`` None: as :meth:`going_on` says, else they are taken.
    SqlgenError (LR1001) for a word that no option has, and for a value of another kind."""

    from_position: bytes | None = None
    until_position: bytes | None = None
    from_mark: str | None = None
    until_mark: str | None = None
    marks: str | None = None
    from_time: bytes | None = None
    until_time: bytes | None = None
    tables: tuple[str, ...] = ()
    exclude_tables: tuple[str, ...] = ()
    ops: tuple[Operation, ...] = ()
    units: tuple[tuple[bytes | str, int | None], ...] = ()
    unit_query: str | None = None
    query_units: bytes | None = None
    authids: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()
    correlations: tuple[str, ...] = ()
    connections: tuple[str, ...] = ()
    members: tuple[int, ...] = ()
    luws: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()
    tablespaces: tuple[str, ...] = ()
    partitions: tuple[tuple[int, int], ...] = ()
    pages: tuple[tuple[int, int], ...] = ()
    rids: tuple[bytes, ...] = ()
    where: str | None = None
    columns: tuple[str, ...] = ()
    exclude_columns: tuple[str, ...] = ()
    include_aborted: bool = False
    ri: Derived = Derived.APPLY
    triggers: Derived = Derived.APPLY
    history: str | None = None
    history_tables: tuple[str, ...] = ()
    history_versions: tuple[int, ...] = ()
    incomplete: Incomplete = Incomplete.RESOLVE
    behind_damage: BehindDamage | None = None
    from_recovery_point: bool = False
    cascade: CascadeMode = CascadeMode.NONE
    excepted: Selection | None = None
    any_name: bool = False

    def __post_init__(self) -> None:
        settle_choices(
            self,
            ri=Derived,
            triggers=Derived,
            incomplete=Incomplete,
            cascade=CascadeMode,
        )
        if self.behind_damage is not None:
            settle_choices(self, behind_damage=BehindDamage)
        for name in _SEVERAL:
            value = getattr(self, name)
            if isinstance(value, str):
                object.__setattr__(self, name, (value,))
            elif isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
                object.__setattr__(self, name, tuple(value))
        if isinstance(self.ops, tuple):
            ops = tuple(choice(Operation, op, "--op") for op in self.ops)
            object.__setattr__(self, "ops", ops)
        settle_kinds(self)

    @property
    def whole_tables(self) -> bool:
        """Whether all changes of the tables that it takes are taken, between its two ends."""
        return not any(getattr(self, name) for name in (*BY_HEADER, "where", "excepted"))

    @property
    def whole_to_the_end(self) -> bool:
        """Whether all that was changed in a table after a change that it takes is taken too."""
        return self.whole_tables and not (self.until_position or self.until_time)

    @property
    def parts_units(self) -> bool:
        """Whether changes of :data:`UNWRITTEN` may lie between others of their row."""
        several = len({*self.ops} & {"insert", "update", "delete"}) > 1
        return several or self.ri == "skip" or self.triggers == "skip"

    @property
    def ends(self) -> tuple[str, ...]:
        """The options of the ends of its range."""
        return tuple(f"--{name.replace('_', '-')}" for name in _ENDS if getattr(self, name))

    def without_ends(self) -> Selection:
        """The selection of the whole log."""
        return replace(
            self,
            from_position=None,
            until_position=None,
            from_mark=None,
            until_mark=None,
            from_time=None,
            until_time=None,
        )

    def of_whole_units(self) -> Selection:
        """The selection without what leaves out single changes of units."""
        return replace(self, ops=(), ri=Derived.APPLY, triggers=Derived.APPLY)

    def going_on(self) -> Selection:
        """The selection for output that later runs go on from: what may build on a damaged record
        waits with it, unless the user says otherwise, for the unit comes when it is whole, and
        would come behind what built on it."""
        if self.behind_damage is not None:
            return self
        return replace(self, behind_damage=BehindDamage.HOLD)

    def named_history(self) -> tuple[str, ...]:
        """The tables that ``--history skip=TABLE,…`` names. UsageError (LR1001) for what the option
        does not have."""
        said, sign, names = (self.history or "apply").partition("=")
        tables = tuple(filter(None, map(str.strip, names.split(","))))
        if (
            said not in ("skip", "apply")
            or bool(sign) != bool(tables)
            or (tables and said != "skip")
        ):
            expected = "expected skip, skip=TABLE,… or apply"
            raise UsageError("LR1001", f"found --history {self.history}; {expected}")
        return tables

    def without_history(self, catalog: Catalog, keys: Callable[[], Constraints]) -> Selection:
        """The selection without the history tables that it is to skip: those named, else those that
        the schema states (``keys``). UsageError (LR1001) where it states none."""
        tables = self.named_history()
        if self.history == "skip" and not (tables := tuple(name for name, _ in keys().history)):
            raise UsageError(
                "LR1001",
                "found --history skip, and no schema (--schema) states a history table of the log;"
                " expected ADD VERSIONING USE HISTORY TABLE or HISTORY_TABLE = …, or --history"
                " skip=TABLE,…",
            )
        taken = catalog.taken_by(Selection(tables=tables).takes_tables) if tables else ()
        numbers = tuple(map(int, np.flatnonzero(taken)))
        return replace(self, history_tables=tables, history_versions=numbers)

    def describe(self) -> dict[str, Any]:
        """The selection as JSON-able data for the manifest: only what limits something, plus the
        three policies."""
        shown: dict[str, Any] = {}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            # no path is told, and nothing that may differ in each run of a chain
            apart = ("marks", "behind_damage", "history_tables", "history_versions")
            if value in (None, (), False) or name in apart:
                continue
            if (name, value) in (("cascade", "none"), ("history", "apply")):
                continue
            if isinstance(value, Selection):
                value = {
                    key: shown
                    for key, shown in value.describe().items()
                    if key not in ("ri", "triggers", "incomplete")
                }
            if name == "units":
                value = [unit_text(*unit) for unit in value]
            elif name == "query_units":
                value = len(value) // UNIT.itemsize
            elif name in ("partitions", "pages"):
                value = [str(low) if low == high else f"{low}-{high}" for low, high in value]
            elif name == "rids":
                value = [rid.hex().upper() for rid in value]
            shown[name] = (
                value.hex().upper()
                if isinstance(value, bytes)
                else list(value)
                if isinstance(value, tuple)
                else value
            )
        return shown

    def takes_table(self, qualified: str) -> bool:
        """Whether ``OWNER.NAME`` is selected by ``--table`` and ``--exclude-table`` (globs, upper
        and lower case alike, of the whole name or of NAME alone)."""
        return bool(self.takes_tables([qualified])[0])

    def takes_tables(self, names: Sequence[str]) -> Mask:
        """``bool[n]``: which of all tables of a log are selected. Of those whose names differ in
        case only, a glob that fits some as they are spelled takes these alone."""
        alike: dict[str, set[str]] = {}
        for name in names:
            alike.setdefault(name.upper(), set()).add(name)

        def fits(globs: Sequence[str], name: str) -> bool:
            others = alike[name.upper()]
            return any(
                _fits(name.upper(), glob.upper())
                and (_fits(name, glob) or not any(_fits(one, glob) for one in others))
                for glob in globs
            )

        left = (*self.exclude_tables, *self.history_tables)
        return np.array(
            [
                (not self.tables or fits(self.tables, name)) and not fits(left, name)
                for name in names
            ],
            bool,
        )


def _fits(qualified: str, glob: str) -> bool:
    """Whether a glob is one of a table: without a point, of its name without its owner too."""
    name = qualified.partition(".")[2]
    return fnmatchcase(qualified, glob) or ("." not in glob and fnmatchcase(name, glob))


def unit_text(urid: bytes | str, member: int | None) -> str:
    """A unit of a selection as it is typed."""
    digits = urid if isinstance(urid, str) else urid.hex().upper()
    return digits + ("" if member is None else f"/{member}")


#: What a condition may say of who did the work, though no table has such a column.
WHO = frozenset({"authid", "plan", "correlation", "connection"})
_NAMES_WHO = re.compile(rf"\b(?:{'|'.join(WHO)})\b", re.IGNORECASE)


def by_log(selection: Selection) -> bool:
    """Whether the units that a selection is about are (or may be) found in the log first."""
    mine = selection.unit_query is not None and selection.query_units is None
    mine |= selection.where is not None and _NAMES_WHO.search(selection.where) is not None
    last_digits = any(isinstance(unit, str) for unit, _ in selection.units)
    return mine or last_digits or (selection.excepted is not None and by_log(selection.excepted))


@lru_cache(maxsize=4)
def units_of_query(ids: bytes) -> UnitSet:
    """The units that a query gave (:attr:`Selection.query_units`)."""
    return UnitSet.of(np.frombuffer(ids, UNIT))


@dataclass(frozen=True)
class RecordFacts:
    """What :func:`decide` needs to know about each record besides its header: ``change``
    (:class:`Change`, 0 unknown) and the index of its table version (-1 unknown), plus per table
    version whether the selection takes it, DLGE.DEPENDENTRBA when the log has one, and whether the
    dependency graph has ``resolved`` which units are incomplete (else their flags count)."""

    change: Bytes
    version: Versions
    version_taken: Mask
    dependent: bytes | None
    resolved: bool = False


def decide(selection: Selection, envelope: Envelope, facts: RecordFacts) -> VerdictCodes:
    """The verdict of each record: 0, an index of :data:`REASONS`, or :data:`INCOMPLETE`. The first
    reason that applies is the one given."""
    verdict = np.zeros(len(envelope), np.uint8)

    def leave(mask: Mask, reason: str | int) -> None:
        code = REASON[reason] if isinstance(reason, str) else reason
        verdict[mask & (verdict == 0)] = code

    headless = lacks_its_beginning(envelope, facts.change)
    for change, reason in _NO_CHANGES:
        leave((facts.change == change) & ~headless, reason)
    leave(
        envelope.unit_disposition() == ord("F"), "unit of recovery in flight at the end of the log"
    )
    leave(envelope.unit_disposition() == ord("P"), "unit of recovery in doubt (prepared)")
    if not selection.include_aborted:
        _leave_uncommitted(envelope, leave)
    _leave_by_range(selection, envelope, leave)
    known = facts.version >= 0
    if selection.history_versions:
        leave(np.isin(facts.version, selection.history_versions), HISTORY_ROW)
    leave(known & ~facts.version_taken[np.where(known, facts.version, 0)], OTHER_TABLE)
    if selection.ops:
        wanted = [change for name in selection.ops for change in OP_NAMES[name]]
        leave(~one_of(facts.change, wanted), "operation not selected (--op)")
    _leave_by_name(selection, envelope, leave)
    origin = envelope.origin()
    if selection.ri == "skip":
        leave(one_of(origin, b"RB"), "caused by RI (--ri skip)")
    if selection.triggers == "skip":
        leave(origin == ord("T"), "caused by a trigger (--triggers skip)")
    if not selection.from_recovery_point:
        leave(envelope.sqltype() == ord("R"), "REDO set only (SQLTYPE R)")
    if not facts.resolved:
        leave(held_by_flags(selection, envelope, facts.dependent), INCOMPLETE)
    leave(headless, INCOMPLETE)
    return verdict


def lacks_its_beginning(envelope: Envelope, change: Bytes) -> Mask:
    """Which records end units of recovery of which other records are not in the log, and which are
    set aside for that."""
    headless = np.asarray(change == Change.HEADLESS)
    return headless & envelope.incomplete_unit() if headless.any() else headless


#: Kinds of records that are no changes of tables, and stand in the log for whoever reads it.
BESIDE_CHANGES = (Change.CATALOG, Change.COMMAND, Change.STATUS)
#: Fields of :class:`Selection` that are about rows, which such records have none of.
_ABOUT_ROWS = ("tables", "exclude_tables", "ops", *BY_LOCATION, "where")


def decide_copy(selection: Selection, envelope: Envelope, facts: RecordFacts) -> VerdictCodes:
    """As :func:`decide`, for a copy of the log: records of :data:`BESIDE_CHANGES` go on too, where
    the selection is not about rows and takes their position, time, unit and names."""
    verdict = decide(selection, envelope, facts)
    beside = np.flatnonzero(one_of(facts.change, BESIDE_CHANGES))
    if len(beside) and not any(getattr(selection, name) for name in _ABOUT_ROWS):
        whole = replace(
            selection,
            include_aborted=True,
            from_recovery_point=True,
            incomplete=Incomplete.KEEP,
        )
        unknown = np.zeros(len(beside), np.uint8), np.full(len(beside), -1, np.int32)
        verdict[beside] = decide(
            whole,
            envelope.take(beside),
            RecordFacts(*unknown, facts.version_taken, facts.dependent),
        )
    return verdict


Leave = Callable[[Mask, "str | int"], None]


def _leave_uncommitted(envelope: Envelope, leave: Leave) -> None:
    disposition = envelope.disposition()
    leave(envelope.unit_disposition() != ord("C"), "unit of recovery aborted")
    leave(disposition == ord("A"), "record aborted (LOGRECDISP A)")
    leave(disposition == ord("S"), "rolled back to savepoint (LOGRECDISP S)")
    reversed_by_db2 = (disposition != ord("C")) & (disposition != CANCELLED)
    leave(reversed_by_db2, "reversed by Db2 (LOGRECDISP O)")


def _leave_by_range(selection: Selection, envelope: Envelope, leave: Leave) -> None:
    if selection.from_position or selection.until_position:
        commit = envelope.commit()
        leave(_less(commit, selection.from_position), BEFORE_RANGE)
        leave(_greater(commit, selection.until_position), AFTER_RANGE)
    if selection.from_time or selection.until_time:
        time = envelope.commit_time()
        leave(_less(time, selection.from_time), BEFORE_RANGE)
        leave(_greater(time, selection.until_time), AFTER_RANGE)


def beyond(values: Bytes, low: bytes | None, high: bytes | None) -> Mask:
    """Which values (``uint8[n, w]``) lie below ``low`` or above ``high`` (None: no limit)."""
    return _less(values, low) | _greater(values, high)


def _less(values: Bytes, bound: bytes | None) -> Mask:
    return np.zeros(len(values), bool) if bound is None else compare(values, bound) < 0


def _greater(values: Bytes, bound: bytes | None) -> Mask:
    return np.zeros(len(values), bool) if bound is None else compare(values, bound) > 0


def _leave_by_name(selection: Selection, envelope: Envelope, leave: Leave) -> None:
    named = _named(selection, envelope)
    if selection.any_name:
        taken = dict(named)
        if taken:
            leave(~np.logical_or.reduce(list(taken.values())), _BY_NAME[next(iter(taken))])
        return
    for name, wanted in named:
        leave(~wanted, _BY_NAME[name])


def _named(selection: Selection, envelope: Envelope) -> Iterator[tuple[str, Mask]]:
    """Each field of :data:`_BY_NAME` that limits something, and which records it takes."""
    if selection.units:
        urid, member = urids_of(envelope.unit()), envelope.member()
        wanted = np.zeros(len(envelope), bool)
        for unit, unit_member in selection.units:
            assert isinstance(unit, bytes), "last digits are found in the log first"
            wanted |= (compare(urid, unit) == 0) & (
                True if unit_member is None else member == unit_member
            )
        yield "units", wanted
    if selection.unit_query is not None:
        assert selection.query_units is not None, "queries are carried out first"
        units = np.ascontiguousarray(envelope.unit()).view(UNIT).reshape(-1)
        yield "query_units", units_of_query(selection.query_units).mask(units)
    for kind in ("authid", "plan", "correlation", "connection"):
        globs = getattr(selection, f"{kind}s")
        if globs:
            yield f"{kind}s", _matches(envelope.name(kind), globs)
    if selection.members:
        yield "members", np.isin(envelope.member(), selection.members)
    if selection.luws:
        whole = tuple(form for glob in selection.luws for form in (glob, f"{glob}.????"))
        yield "luws", _matches(envelope.name("luw"), whole)
    for kind in ("database", "tablespace"):
        if wanted_objects := getattr(selection, f"{kind}s"):
            yield f"{kind}s", _of_objects(envelope, kind, wanted_objects)
    for kind in ("partition", "page"):
        if ranges := getattr(selection, f"{kind}s"):
            number, wanted = envelope.location(kind), np.zeros(len(envelope), bool)
            for low, high in ranges:
                wanted |= (number >= low) & (number <= high)
            yield f"{kind}s", wanted
    if selection.rids:
        rid, wanted = envelope.rid(), np.zeros(len(envelope), bool)
        for wanted_rid in selection.rids:
            if rid.shape[1] == len(wanted_rid):
                wanted |= compare(rid, wanted_rid) == 0
        yield "rids", wanted


def is_id(text: str) -> bool:
    """Whether a database or table space is named by its id."""
    return text.isascii() and text.isdigit()


def _of_objects(envelope: Envelope, kind: str, wanted: tuple[str, ...]) -> Mask:
    """Which records are of one of these databases or table spaces: ids, globs of names, globs of
    DATABASE.TABLESPACE."""
    ids = [int(text) for text in wanted if is_id(text)]
    globs = tuple(text for text in wanted if not is_id(text))
    taken = np.isin(envelope.location(kind), ids) if ids else np.zeros(len(envelope), bool)
    plain = tuple(glob for glob in globs if kind == "database" or "." not in glob)
    if plain:
        taken |= _matches(envelope.name(kind), plain)
    for glob in set(globs) - set(plain):
        database, _, space = glob.partition(".")
        taken |= _matches(envelope.name("database"), (database,)) & _matches(
            envelope.name("tablespace"), (space,)
        )
    return taken


def _matches(names: npt.NDArray[np.bytes_], globs: tuple[str, ...]) -> Mask:
    values, inverse = np.unique(names, return_inverse=True)
    texts = [bytes(value).decode("ascii", "replace").rstrip().upper() for value in values]
    taken = np.array(
        [any(fnmatchcase(text, glob.upper()) for glob in globs) for text in texts], bool
    )
    return taken[inverse]


def held_by_flags(selection: Selection, envelope: Envelope, dependent: bytes | None) -> Mask:
    """Which records are of units that the log's own marks hold back. ``dependent``: the position
    from which on units may depend on incomplete ones, if any."""
    if selection.incomplete == "keep":
        return envelope.unfinished_unit()
    if selection.incomplete == "dependentrba":
        # no unit before DEPENDENTRBA is incomplete; where one says so, that counts
        behind = False if dependent is None else ~_less(envelope.unit_position(), dependent)
        return np.asarray(envelope.incomplete_unit() | behind)
    return envelope.incomplete_unit() | envelope.incomplete_dependency()


#: What a selection says beside which changes it takes.
_HOW = (
    "ri",
    "triggers",
    "incomplete",
    "include_aborted",
    "from_recovery_point",
    "cascade",
)


def limits(selection: Selection, but: Set[str] = frozenset()) -> bool:
    """Whether a selection leaves out anything that committed, ``but`` for some fields."""
    return bool(selection.describe().keys() - set(_HOW) - but)


def left_out(selection: Selection, skipped: Mapping[str, int]) -> str | None:
    """Why nothing is left, in words, where a choice of the user had a part in it (else None: the
    log has nothing to be written); ``skipped`` as in the balance sheet, of all records."""
    chosen = limits(selection) or any(skipped.get(REASONS[code]) for code in LEFT_TO_TARGET)
    if not chosen:
        return None
    asked = selection.describe()
    named = {reason: name for name, reason in _BY_NAME.items() if name in asked}
    reasons = []
    for reason, count in sorted(skipped.items(), key=lambda entry: (-entry[1], entry[0])):
        words = reason
        if reason == OTHER_TABLE:
            words = " ".join(
                f"{option} {' '.join(asked[name])}"
                for name, option in (("tables", "--table"), ("exclude_tables", "--exclude-table"))
                if name in asked
            )
        elif reason in named:
            option, values = reason.rpartition("(")[2].rstrip(")"), asked[named[reason]]
            several = isinstance(values, list)
            words = f"{option} {' '.join(map(str, values))}" if several else "--units"
        reasons.append(f"{words} leaves out {counted(count, 'record')}")
    return "nothing is left to be written: " + (", ".join(reasons) or "the log has none of it")


def balance_of(verdicts: VerdictCodes) -> Mapping[str, int]:
    """How many records each reason holds back (verdict 0 and :data:`INCOMPLETE` left out)."""
    codes, counts = np.unique(verdicts, return_counts=True)
    return {
        REASONS[code]: int(count)
        for code, count in zip(codes, counts, strict=True)
        if 0 < code < INCOMPLETE
    }
