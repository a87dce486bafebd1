"""The life of rows: every version that the log has of them, who made it, when, and what changed.

A row is followed by its key through changes of the key and of the table's layout. A key that was
given up and taken again belongs to two rows, and both lives are shown. Rows of tables without a key
are told by their content.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from replay.errors import EXIT_ERROR, EXIT_OK, EXIT_WARNING, counted
from replay.logs import LogFile
from replay.output.formats import Dataset
from replay.output.row_changes import IN_ORDER, RowChanges, fate_text
from replay.reports.images import literal, shown_image, with_texts
from replay.reports.layout import preformatted
from sqlgen.schema import Column
from sqlgen.structure import Action

#: Kinds of change that are about all rows of a table.
_EVENTS = ("truncate", "schema")
_DROPS = re.compile(r"\s*DROP\s+TABLE\b", re.I)
_FACTS = (
    "op",
    "commit_lrsn",
    "commit_time",
    "authid",
    "plan",
    "correlation_id",
    "connection_id",
    "origin",
    "sequence",
    "log_position",
    "log_file",
    "log_record",
)

#: The columns that are a row's identity, by dataset; none: the whole row.
Keys = Callable[[Dataset], Sequence[Column]]


@dataclass(frozen=True)
class Version:
    """One change of a row. ``row`` numbers the rows of a history from 1; ``key`` are its values
    after the change (of a delete, before); ``changed`` has both values of each column that is
    another; ``fate`` is what became of it."""

    row: int
    table: str
    unit: str
    fate: str
    key: Mapping[str, Any]
    changed: Mapping[str, tuple[Any, Any]]
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    facts: Mapping[str, Any]

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def describe(self) -> dict[str, Any]:
        """As JSON-able data."""
        facts = dict(self.facts)
        time = facts["commit_time"]
        facts["commit_time"] = None if time is None else str(time)
        return {
            "row": self.row,
            "table": self.table,
            "key": dict(self.key),
            **facts,
            "unit": self.unit,
            "fate": self.fate,
            "changed": {name: list(pair) for name, pair in self.changed.items()},
            "before": None if self.before is None else dict(self.before),
            "after": None if self.after is None else dict(self.after),
        }


@dataclass(frozen=True)
class RowHistory:
    """The versions that were asked for, in commit order. ``of`` says of which rows; ``notes`` what
    is not shown; ``reason`` why there is none; ``commands`` (what it does, command) take back what
    the last version did."""

    of: str
    versions: tuple[Version, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    reason: str = ""
    commands: tuple[tuple[str, str], ...] = field(default=())
    damaged: bool = False

    @property
    def exit_code(self) -> int:
        """4 where nothing was found, or with warnings; 8 where changes cannot be read
        (``damaged``)."""
        if self.damaged:
            return EXIT_ERROR
        return EXIT_OK if self.versions and not self.warnings else EXIT_WARNING

    def __str__(self) -> str:
        return history_text(self, False)

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def describe(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "of": self.of,
            "versions": [version.describe() for version in self.versions],
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            **({"reason": self.reason} if self.reason else {}),
            "take_back": [{"what": what, "command": text} for what, text in self.commands],
        }


@dataclass(frozen=True)
class DatasetChanges:
    """Changes of one dataset with the texts that tell rows and images apart: ``key_before``,
    ``key_after``, ``image_before`` and ``image_after`` (:func:`replay.reports.images.image_texts`).
    """

    dataset: Dataset
    rows: pa.Table

    @classmethod
    def of(cls, dataset: Dataset, rows: pa.Table, key: Sequence[Column]) -> DatasetChanges:
        """The changes ``rows`` with their texts."""
        return cls(dataset, with_texts(rows, dataset.columns, key))

    def about(self, keys: pa.Array) -> pa.Array:
        """Which changes are of one of some keys, or of the whole table."""
        mask = pc.is_in(self.rows["op"], pa.array(_EVENTS))
        for side in ("before", "after"):
            mask = pc.or_(mask, pc.is_in(self.rows[f"key_{side}"], keys))
        return mask


def dataset_changes(changes: RowChanges, keys: Keys) -> Iterable[DatasetChanges]:
    """All changes with their texts, a bucket and dataset at a time."""
    for dataset, rows in changes.tables():
        yield DatasetChanges.of(dataset, rows, keys(dataset))


def reached_keys(changes: RowChanges, keys: Keys, start: set[str]) -> set[str]:
    """The keys ``start``, and those that their rows had before and after by a change of the key."""
    links: dict[str, set[str]] = defaultdict(set)
    for part in dataset_changes(changes, keys):
        if not keys(part.dataset):
            moved = pc.and_(
                pc.is_valid(part.rows["key_before"]), pc.is_valid(part.rows["key_after"])
            )
        else:
            moved = pc.fill_null(
                pc.not_equal(part.rows["key_before"], part.rows["key_after"]), False
            )
        pairs = part.rows.filter(moved)
        for one, other in zip(
            pairs["key_before"].to_pylist(), pairs["key_after"].to_pylist(), strict=True
        ):
            links[one].add(other)
            links[other].add(one)
    reached, waiting = set(start), list(start)
    while waiting:
        for key in links.get(waiting.pop(), set()) - reached:
            reached.add(key)
            waiting.append(key)
    return reached


class _Follower:
    """Which row each of some changes in commit order is of."""

    def __init__(self) -> None:
        #: By key the rows that have it for the moment: the row, its image, whether it took the key
        #: in the unit that is looked at.
        self.holders: dict[str, list[tuple[int, str, bool]]] = defaultdict(list)
        self.taken: set[str] = set()
        self.undone: dict[str, int] = {}
        self.rows = 0
        self.table = "committed"

    def row_of(self, change: Mapping[str, Any]) -> int:
        """The row of the next change, numbered from 0; it is as the change leaves it from here
        on."""
        before, after = change["key_before"], change["key_after"]
        if change["fate"] > 0:  # it was taken back, so rows stay where they are
            held = self.holders.get(before, []) if before is not None else []
            at = self._place(held, change["image_before"])
            if before is not None and before in self.undone:
                row = self.undone[before]
            else:
                row = self._new() if at is None else held[at][0]
            if after is not None:
                self.undone[after] = row
            return row
        if before is None:
            row, taken = self._new(), False
        else:
            held = self.holders[before]
            at = self._place(held, change["image_before"])
            row, _, taken = (self._new(), "", False) if at is None else held.pop(at)
        if after is not None:
            taken = after != before or taken
            self.holders[after].append((row, change["image_after"], taken))
            if taken:
                self.taken.add(after)
        return row

    def emptied(self) -> None:
        """All rows of the table are gone."""
        self.holders.clear()

    def unit_ends(self) -> None:
        """What was taken back inside of a unit is no more, and each key has one row again."""
        self.undone.clear()
        for key in self.taken:
            self.holders[key] = [(row, image, False) for row, image, _ in self.holders[key]]
        self.taken.clear()

    def _new(self) -> int:
        self.rows += 1
        return self.rows - 1

    @staticmethod
    def _place(held: Sequence[tuple[int, str, bool]], image: str) -> int | None:
        """Which of the rows that have a key for the moment is meant: the one with that image, else
        the one that had the key before the unit, of which a change may not be in the log. None
        where it is no row that is known: within a unit a key may have passed to another row."""
        same = next((at for at, (_, known, _) in enumerate(held) if known == image), None)
        if same is not None:
            return same
        return next((at for at, (_, _, taken) in enumerate(held) if not taken), None)


def lives(
    parts: Sequence[DatasetChanges], wanted: Callable[[Mapping[str, Any]], bool]
) -> list[dict]:  # type: ignore[type-arg]
    """The changes of rows of which one is ``wanted``, in commit order, as dictionaries with
    ``row`` (from 0), ``dataset`` and ``wanted``; changes of the whole table are of every row that
    is shown, and have row -1."""
    every: list[dict[str, Any]] = []
    for part in parts:
        for change in part.rows.to_pylist():
            every.append({**change, "dataset": part.dataset})
    names = [name for name, _ in IN_ORDER]
    every.sort(key=lambda change: tuple(_sortable(change[name]) for name in names))
    followers: dict[str, _Follower] = defaultdict(_Follower)
    numbers: dict[tuple[str, int], int] = {}
    chosen: set[int] = set()
    unit = None
    for change in every:
        here = change["commit_lrsn"], change["urid"], change["member"]
        if here != unit:
            unit = here
            for each in followers.values():
                each.unit_ends()
        table = change["identity"]
        if change["op"] in _EVENTS:
            change["row"], change["wanted"] = -1, False
            gone = change["op"] == "truncate" or drops_table(change["after"])
            if gone and change["fate"] <= 0:
                followers[table].emptied()
            continue
        row = followers[table].row_of(change)
        change["row"] = numbers.setdefault((table, row), len(numbers))
        change["wanted"] = wanted(change)
        if change["wanted"]:
            chosen.add(change["row"])
    tables = {change["identity"] for change in every if change["row"] in chosen}
    kept = [
        change
        for change in every
        if change["row"] in chosen or (change["row"] == -1 and change["identity"] in tables)
    ]
    order = {
        row: at for at, row in enumerate(dict.fromkeys(c["row"] for c in kept if c["row"] >= 0))
    }
    return [{**change, "row": order.get(change["row"], -1)} for change in kept]


def drops_table(image: Mapping[str, Any] | None) -> bool:
    """Whether a change of structure (its image) drops its table: one that has the name later is
    another one."""
    if image is None:
        return False
    said = _DROPS.match(image.get("statement") or "") is not None
    return said or image.get("action") == Action.DROP_TABLE.value


def _sortable(value: Any) -> Any:
    return -1 if value is None else value


def version_of(change: Mapping[str, Any], key: Sequence[Column], log: LogFile) -> Version:
    """A change (:func:`lives`) of a log as a version to be shown."""
    before, after = shown_image(change["before"]), shown_image(change["after"])
    names = [column.name for column in change["dataset"].columns]
    changed: dict[str, tuple[Any, Any]] = {}
    for name in names:
        pair = (before or {}).get(name), (after or {}).get(name)
        if pair[0] != pair[1] and before is not None and after is not None:
            changed[name] = pair
    image = after if after is not None else before
    key_names = [column.name for column in key]
    return Version(
        change["row"] + 1,
        _table_of(change),
        f"{change['urid']}/{change['member'] or 0}",
        fate_text(change["fate"], log),
        {name: (image or {}).get(name) for name in key_names},
        changed,
        before,
        after,
        {name: change[name] for name in _FACTS},
    )


def _table_of(change: Mapping[str, Any]) -> str:
    """OWNER.NAME of the table that a change is about."""
    if change["dataset"].table.schema:
        return str(change["table"])
    return f"{change['after']['table_owner']}.{change['after']['table_name']}"


# -- text
# -------------------------------------------------------------------------------------------------


def history_text(history: RowHistory, whole: bool) -> str:
    """A history for the terminal: columns that changed, or (``whole``) all of them."""
    lines = [f"warning: {warning}" for warning in history.warnings]
    count = len(history.versions)
    rows = len({version.row for version in history.versions if version.row})
    lines.append(f"{history.of}: {counted(count, 'version')} of {counted(rows, 'row')}")
    if history.reason:
        lines.append(history.reason)
    several = rows > 1
    width = max((len(_who(version)) for version in history.versions), default=0)
    for version in history.versions:
        time = version.facts["commit_time"]
        moment = str(time)[:23] if time is not None else version.facts["commit_lrsn"]
        parts = [
            f"row {version.row}" if several and version.row else "",
            moment,
            f"{version.facts['op']:<8}",
            f"{_who(version):<{width}}",
            f"unit {version.unit}",
            version.facts["origin"] or "",
            "" if version.fate == "committed" else f"[{version.fate}]",
        ]
        lines += ["", "  ".join(part for part in parts if part.strip())]
        lines.append(
            f"  {_name(version)}  (record {version.facts['log_record']:,} of"
            f" {version.facts['log_file']}, commit {version.facts['commit_lrsn']})"
        )
        lines += [f"    {line}" for line in _content(version, whole)]
    lines += [f"note: {note}" for note in history.notes]
    if history.commands:
        lines += ["", "To undo (the last of these):"]
        for what, command in history.commands:
            lines += [f"  {what}", f"    {command}"]
    return "\n".join(lines)


def _who(version: Version) -> str:
    names = ("authid", "plan", "correlation_id")
    return " ".join(version.facts[name] for name in names if version.facts[name])


def _name(version: Version) -> str:
    key = ", ".join(f"{name}={literal(value)}" for name, value in version.key.items())
    return f"{version.table} {key}" if key else version.table


def _content(version: Version, whole: bool) -> list[str]:
    if version.before is not None and version.after is not None and not whole:
        pairs = version.changed
    else:
        names = {**(version.before or {}), **(version.after or {})}
        pairs = {
            name: ((version.before or {}).get(name), (version.after or {}).get(name))
            for name in names
        }
    width = max(map(len, pairs), default=0)
    lines = []
    for name, (old, new) in pairs.items():
        if version.before is None:
            text = literal(new)
        elif version.after is None or (name not in version.changed):
            text = literal(old)
        else:
            text = f"{literal(old)} -> {literal(new)}"
        lines.append(f"{name:<{width}}  {text}")
    return lines


#: Columns of a history as a table.
COLUMNS = (
    "row",
    "table",
    "key",
    "op",
    "fate",
    "commit_time",
    "commit_lrsn",
    "unit",
    "authid",
    "plan",
    "correlation_id",
    "connection_id",
    "origin",
    "changed",
    "before",
    "after",
    "log_file",
    "log_record",
)


def history_rows(history: RowHistory) -> list[dict[str, Any]]:
    """A line for each version, with the names of :data:`COLUMNS`."""
    return [
        {name: entry.get(name) for name in COLUMNS}
        for entry in (version.describe() for version in history.versions)
    ]


def hidden_notes(hidden: Counter[str]) -> list[str]:
    """What is said of versions that are not shown, by what became of them."""
    return [
        f"{counted(count, 'change')} not shown: {fate} (--include-aborted)"
        for fate, count in sorted(hidden.items())
    ]
