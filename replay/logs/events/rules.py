"""What becomes of the lines of a log: one array of narrow records, one a line, becomes entries and
transactions. Rules are functions of that array.

PostgreSQL: the id of a transaction is ``txId:LSN``, and the LSN is another one in BEGIN, in each
event and in END, where it is that of the commit. All events of a transaction have the commit of
the one before in ``sequence``, and their number in ``total_order``. MySQL, MariaDB: END has no
place; a transaction lies in the binary log as a whole, and commits at its last event. Others: each
event says where its transaction commits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Index, Mask, Records
from replay.changes.envelope import Change
from replay.errors import Refusal, Where
from replay.logs.events import sources

#: Kinds of lines.
OTHER, BEGIN, END, SNAPSHOT, CREATE, UPDATE, DELETE, TRUNCATE = range(8)
#: One line. ``unit``: the number of the transaction in its database (-1: none); ``lsn`` of the
#: event, of BEGIN, or of the commit (END), or its place in a binary log (BEGIN, END: -1);
#: ``previous``: the commit before (-1: none is named); ``total``: its number in the transaction,
#: ``events`` (END): how many there are; ``tables``: a number of its table, or (END) the sum of
#: those of all events (0: not told); ``alone``: no END belongs to it; ``snapshot``: a row of the
#: state before the log.
LINE = np.dtype(
    [
        ("file", "<u4"),
        ("row", "<i8"),
        ("size", "<i4"),
        ("kind", "u1"),
        ("unit", "<i8"),
        ("lsn", "<i8"),
        ("previous", "<i8"),
        ("total", "<i8"),
        ("events", "<i8"),
        ("tables", "<u8"),
        ("micros", "<i8"),
        ("version", "<i4"),
        ("unkeyed", "?"),
        ("unfit", "?"),
        ("alone", "?"),
        ("snapshot", "?"),
        ("content", "<u8"),
        ("before", "<i8"),
        ("before_size", "<i4"),
        ("after", "<i8"),
        ("after_size", "<i4"),
    ]
)
_KEPT = "file row unit version size lsn total before before_size after after_size".split()
ENTRY = np.dtype(
    [
        *((name, LINE[name]) for name in _KEPT),
        ("change", "u1"),
        ("fault", "u1"),
        ("segment", "<u2"),
        ("segments", "<u2"),
    ]
)
UNIT = np.dtype(
    [
        ("commit", "V10"),
        ("unit", "V12"),
        ("start", "V10"),
        ("time", "V17"),
        ("disposition", "u1"),
        ("events", "<i8"),
        ("there", "<i8"),
    ]
)
#: What may be wrong with a line.
MISSING, NO_END, DIFFERENT, OTHER_END, UNKEYED, CASCADED, MISPLACED, UNFIT = range(1, 9)
_CHANGES = (CREATE, UPDATE, DELETE, TRUNCATE)
_CHANGE_OF = {
    CREATE: Change.INSERT,
    UPDATE: Change.UPDATE,
    DELETE: Change.DELETE,
    TRUNCATE: Change.TRUNCATE,
}
#: The transaction that is the state before the log.
STATE = 0
_NEVER = np.iinfo(np.int64).max
#: Microseconds to the year 10000, which no time of four digits of a year has.
_LATEST = np.datetime64("10000-01-01", "us").astype(np.int64)


@dataclass(frozen=True)
class Ordered:
    """Entries, one a line, in the order of the lines, and transactions. ``committed``: their
    numbers, and where they commit. ``absent``: how many are not there, though the next one names
    them. ``micros``: when they committed (0: not known)."""

    entries: Records
    units: Records
    empty: int
    snapshot: int
    committed: tuple[Index, Index]
    absent: int
    micros: Index


def ordered(
    found: Records, binlog: bool = False, commits: sources.Commits | None = None
) -> Ordered:
    """The lines of a log as entries and transactions; ``binlog``: places are those of a binary log;
    ``commits``: those of other connectors."""
    entries = np.zeros(len(found), ENTRY)
    for name in _KEPT:
        entries[name] = found[name]
    entries["segment"] = entries["segments"] = 1
    changes = np.isin(found["kind"], _CHANGES)
    entries["change"] = Change.CONTROL
    for kind, change in _CHANGE_OF.items():
        entries["change"][found["kind"] == kind] = change
    entries["version"][~changes] = -1
    entries["fault"][changes & found["unkeyed"]] = UNKEYED
    entries["fault"][changes & found["unfit"]] = UNFIT
    ids, place = np.unique(found["unit"][found["unit"] >= 0], return_inverse=True)
    entries["unit"] = -1
    entries["unit"][found["unit"] >= 0] = place
    _repeats(found, entries, changes)
    _moved_keys(found, entries, changes)
    units, wrong, commit, absent, micros = _units(found, entries, ids, changes, binlog, commits)
    if len(ids):
        of_wrong = np.where(entries["unit"] >= 0, wrong[np.maximum(entries["unit"], 0)], 0)
        blamed = (of_wrong > 0) & (entries["fault"] == 0) & (entries["change"] != Change.REPEATED)
        entries["fault"][blamed] = of_wrong[blamed]
    empty = int((found["events"][found["kind"] == END] == 0).sum())
    snapshot = int((found["kind"] == SNAPSHOT).sum())
    return Ordered(entries, units, empty, snapshot, (ids, commit), absent, micros)


def replayed(made: Ordered, versions: Sequence[int]) -> tuple[Mask, bool]:
    """Which changes are of transactions that write logreplay's own tables (``versions``), so that
    its replay made them; and whether one that changes other tables too commits behind a transaction
    that did not. Of a state before the log those tables alone are passed over."""
    entries, (ids, commit) = made.entries, made.committed
    unit = entries["unit"]
    changes = (entries["version"] >= 0) & (unit >= 0) & (entries["change"] != Change.REPEATED)
    marks = changes & np.isin(entries["version"], versions)
    own, with_rows = np.zeros((2, len(ids)), bool)
    own[unit[marks]] = True
    with_rows[unit[changes & ~marks]] = True
    own[ids == STATE] = with_rows[ids == STATE] = False
    others = commit[with_rows & ~own & (commit >= 0)]
    behind = bool(len(others) and (commit[own & with_rows] > others.min()).any())
    return marks | (changes & own[np.maximum(unit, 0)]), behind


def _in_turn(found: Records, chosen: Mask) -> Index:
    """The chosen lines by transaction, number in it and place."""
    rows = np.flatnonzero(chosen)
    keys = (found[name][rows] for name in ("row", "file", "total", "unit"))
    return rows[np.lexsort(tuple(keys))]


def _repeats(found: Records, entries: Records, changes: Mask) -> None:
    """Mark lines that deliver again what others have, and those that contradict them. Delivery is
    at least once: after a fault the connector sends again what it had sent."""
    for chosen, named, fault in (
        (changes, ("content", "lsn", "kind", "version"), DIFFERENT),
        (found["kind"] == END, ("lsn", "events"), OTHER_END),
    ):
        rows = _in_turn(found, chosen)
        if len(rows) < 2:
            continue
        here, before = rows[1:], rows[:-1]
        same = found["unit"][here] == found["unit"][before]
        same &= found["total"][here] == found["total"][before]
        alike = same.copy()
        for name in named:
            alike &= found[name][here] == found[name][before]
        entries["change"][here[alike]] = Change.REPEATED
        differ = same & ~alike
        entries["fault"][here[differ]] = fault
        entries["fault"][before[differ]] = fault


def _moved_keys(found: Records, entries: Records, changes: Mask) -> None:
    """Take a delete and a create that come of one record of the database's log as the update of a
    key that they are."""
    rows = _in_turn(found, changes & (entries["change"] != Change.REPEATED))
    gone, come = rows[:-1], rows[1:]
    pairs = (found["kind"][gone] == DELETE) & (found["kind"][come] == CREATE)
    for name in ("unit", "lsn", "version"):
        pairs &= found[name][gone] == found[name][come]
    pairs &= found["total"][gone] + 1 == found["total"][come]
    gone, come = gone[pairs], come[pairs]
    entries["change"][come] = Change.UPDATE
    for name in ("before", "before_size"):
        entries[name][come] = found[name][gone]
    taken = np.maximum(entries["fault"][come], entries["fault"][gone])
    entries["fault"][come] = taken
    entries["change"][gone] = Change.CONTROL
    entries["version"][gone] = -1
    entries["fault"][gone] = 0


def _units(
    found: Records,
    entries: Records,
    ids: Index,
    changes: Mask,
    binlog: bool,
    commits: sources.Commits | None,
) -> tuple[Records, npt.NDArray[np.uint8], Index, int, Index]:
    """The transactions, what is wrong with each (0: nothing), where it commits (-1: not known), how
    many others they name that are not there, and when each committed."""
    count = len(ids)
    units, wrong = np.zeros(count, UNIT), np.zeros(count, np.uint8)
    of = entries["unit"]
    live = changes & (entries["change"] != Change.REPEATED)
    there = np.bincount(of[live & (of >= 0)], minlength=count)
    most, first, latest = np.zeros(count, np.int64), np.full(count, _NEVER), np.full(count, -1)
    rows = np.flatnonzero(of >= 0)
    placed = rows[found["lsn"][rows] >= 0]
    np.maximum.at(most, of[live], found["total"][live])
    np.maximum.at(latest, of[live], found["lsn"][live])
    np.minimum.at(first, of[placed], found["lsn"][placed])
    previous = np.full(count, _NEVER)
    named = np.flatnonzero(changes & (found["previous"] >= 0))
    np.minimum.at(previous, of[named], found["previous"][named])
    chained = previous < _NEVER
    previous = np.where(chained, previous, first - 1)
    ends = np.flatnonzero((found["kind"] == END) | found["alone"])
    commit, events, ended = np.full(count, -1), np.full(count, -1), np.zeros(count, bool)
    commit[of[ends]], ended[of[ends]] = found["lsn"][ends], True
    events[of[ends]] = np.where(found["alone"][ends], 1, found["events"][ends])
    events[ids == STATE] = there[ids == STATE]
    commit = _placed(np.where(ended & (commit < 0), latest, commit), ended)
    micros = np.zeros(count, np.int64)
    timed = rows[found["micros"][rows] > 0]
    np.maximum.at(micros, of[timed], found["micros"][timed])
    last = int(commit.max(initial=-1))
    chained &= ended
    places = np.sort(commit[ended])
    between = np.searchsorted(places, commit) > np.searchsorted(places, previous, "right")
    wrong[chained & (between | (commit <= latest))] = MISPLACED
    if binlog:
        lies = np.flatnonzero((there > 0) & (ids != STATE))
        wrong[lies[sources.entangled(ids[lies], first[lies], latest[lies])]] = MISPLACED
    if commits is None:
        wrong[_turned(found, of, live & ~found["snapshot"])] = MISPLACED
    else:
        contradicts = sources.contradicting(first, latest, commit)
        wrong[ended & (there > 0) & (ids != STATE) & contradicts] = MISPLACED
    sums, told = np.zeros((2, count), np.uint64)
    np.add.at(sums, of[live], found["tables"][live])
    told[of[ends]] = found["tables"][ends]
    others = (told > 0) & (told != sums) & ~np.isin(ids, of[found["alone"]])
    wrong[ended & ((there != events) | (most != events) | others)] = MISSING
    lost = ~ended & (previous < last) & (there > 0)
    wrong[lost] = NO_END
    named = np.setdiff1d(previous[chained & (previous > places[:1].sum())], places)
    commit[lost] = previous[lost] + 1
    known = ended | lost
    units["disposition"] = np.where(known, ord("C"), ord("F"))
    positions = partial(_padded, size=10) if commits is None else commits.at
    units["commit"] = np.where(known, positions(commit), np.void(b"\xff" * 10))
    units["start"] = positions(first)
    units["unit"] = _padded(ids, size=12) if commits is None else commits.units[ids]
    units["time"] = packed(micros)
    units["events"], units["there"] = events, there
    return units, wrong, commit, max(len(named) - int(lost.sum()), 0), micros


def _turned(found: Records, of: Index, live: Mask) -> Index:
    """Transactions whose changes by number are not in the order of their places."""
    rows = _in_turn(found, live & (of >= 0))
    same = found["unit"][rows[1:]] == found["unit"][rows[:-1]]
    turned: Index = of[rows[1:][same & (found["lsn"][rows[1:]] < found["lsn"][rows[:-1]])]]
    return turned


def _placed(commit: Index, ended: Mask) -> Index:
    """Where transactions commit. One whose END is there and no event has no place in a binary log:
    it is given that of the transaction whose number comes before."""
    where = np.maximum.accumulate(np.where(commit >= 0, np.arange(len(commit)), -1))
    before = np.where(where >= 0, commit[np.maximum(where, 0)], 0)
    return np.where(ended & (commit < 0), before, commit)


def _padded(values: Index, size: int) -> npt.NDArray[np.void]:
    """Numbers in bytes of which the first two, and those behind the tenth, are zeros."""
    raw = np.zeros((len(values), size), np.uint8)
    raw[:, 2:10] = np.ascontiguousarray(values.astype(">i8")).view(np.uint8).reshape(-1, 8)
    return raw.view(f"V{size}").reshape(-1)


def packed(micros: Index) -> npt.NDArray[np.void]:
    """Microseconds since 1970 as 34 packed digits; zeros for none, and for those behind 9999."""
    made = np.zeros((len(micros), 17), np.uint8)
    rows = np.flatnonzero((micros > 0) & (micros < _LATEST))
    if len(rows):
        text = micros[rows].astype("datetime64[us]").astype("S26").view("S1").reshape(-1, 26)
        digits = np.delete(text, (4, 7, 10, 13, 16, 19), axis=1).view(np.uint8) - ord("0")
        made[rows, :10] = digits[:, ::2] << 4 | digits[:, 1::2]
    return made.view("V17").reshape(-1)


# -- the connector's snapshot
# -------------------------------------------------------------------------------------------------


@dataclass
class Snapshot:
    """Rows of a snapshot: how many of each table (by database, schema and name) have each mark,
    which says where in it they are."""

    tables: dict[tuple[str, ...], Counter[str]] = field(default_factory=dict)

    @property
    def marks(self) -> Counter[str]:
        """How many rows have each mark."""
        return sum(self.tables.values(), Counter())

    def take(self, found: Records, rows: Mask, columns: Mapping[str, pa.Array]) -> None:
        """Make some lines inserts of the state, numbered in their order."""
        chosen = np.flatnonzero(rows)
        found["kind"][chosen] = CREATE
        found["snapshot"][chosen] = True
        found["total"][chosen] = self.marks.total() + 1 + np.arange(len(chosen))
        names = ["db", "schema_name", "table_name", "snapshot"]
        taken = [pc.fill_null(columns[name].take(pa.array(chosen)), "") for name in names]
        counts = pa.table(taken, names).group_by(names).aggregate([([], "count_all")])
        for *table, mark, count in zip(*counts.to_pydict().values(), strict=True):
            self.tables.setdefault(tuple(table), Counter())[mark] += count

    def _begins(self) -> bool:
        """Whether its first row is there, and that of each table where they are marked, as those
        of a table with one row are not."""
        first, last, among = "first", "last", "_in_data_collection"
        if not any(mark.endswith(among) for mark in self.marks):
            return self.marks.total() == 1 or bool(self.marks[first])
        return all(
            of.total() == 1 or ((of[first] or of[first + among]) and (of[last] or of[last + among]))
            for of in self.tables.values()
        )

    def check(self, ids: Index, commit: Index, path: str) -> None:
        """Refusal LR3020 where it is none, or not whole, or not of the beginning of the log."""
        others, own = commit[(ids != STATE) & (commit >= 0)], commit[ids == STATE]
        wrong = {
            "no snapshot": not self.marks,
            "rows of an incremental snapshot, which was taken while changes went on": (
                "incremental" in self.marks
            ),
            "several snapshots, or one that was begun again": (
                self.marks["first"] > 1 or self.marks["last"] > 1
            ),
            "a snapshot without its last row": not self.marks["last"],
            "a snapshot without the first row, or the last one, of a table": not self._begins(),
            "a snapshot behind changes of the log": bool(
                len(own) and len(others) and others.min() <= own.max()
            ),
        }
        for found, holds in wrong.items():
            if holds:
                raise Refusal(
                    "LR3020",
                    f"found {found}; expected one whole snapshot before all changes",
                    Where(path),
                    "Leave --log-option snapshot=insert out: snapshots are then ignored",
                )
