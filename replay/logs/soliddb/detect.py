"""Which framing a log was written with, found out from its own rows (section 7.3).

A candidate survives when every image of a sample closes exactly and holds only values that can be.
Several that read different values, or none, are errors that say how to settle it: nothing is
guessed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import RowFormat
from replay.decoding import codecs
from replay.errors import InputError, Where
from replay.logs.long_arrays import windows
from replay.logs.soliddb import layouts
from replay.logs.soliddb.layouts import COLUMN_LISTS, InternalType, ValueFraming
from replay.logs.soliddb.rows import SolidRowWalk, in_range, walk
from replay.logs.soliddb.tables import Attribute

#: Images looked at first; what survives them is held against all others.
SAMPLE = 2000
#: Images of a table that are looked at before all others of a stretch of a log.
_FIRST = 100
CALIBRATE = (
    "Run scripts/calibrate_soliddb.py on a server of this kind and give its result (--log-option"
    " calibration=DIR), or name what you know: --framing, --log-option columns=A, B or C"
)


@dataclass(frozen=True)
class SolidShape:
    """``framing`` of row images, and which list of columns they hold (a key of
    :data:`layouts.COLUMN_LISTS`)."""

    framing: ValueFraming
    columns: str

    def __str__(self) -> str:
        return f"framing {self.framing}, column list {self.columns}"


@dataclass(frozen=True)
class TableImages:
    """Images of one table with all its attributes: where they lie in the data, and the number of
    each one's row."""

    name: str
    attributes: tuple[Attribute, ...]
    start: Index
    end: Index
    row: Index

    def format(self, columns: str) -> RowFormat:
        """The layout of the images by a list of columns."""
        return RowFormat(tuple(entry.format for entry in listed(self.attributes, columns)))

    def part(self, chosen: Index | slice) -> TableImages:
        """Some of its images."""
        return TableImages(
            self.name, self.attributes, self.start[chosen], self.end[chosen], self.row[chosen]
        )


def _in_windows(groups: Sequence[TableImages]) -> Iterator[TableImages]:
    """The images of each table, so many at a time as memory should hold."""
    for group in groups:
        for part in windows(len(group.start)):
            yield group.part(part)


def listed(attributes: Sequence[Attribute], columns: str) -> tuple[Attribute, ...]:
    """The attributes that a list of columns takes, by number."""
    kinds = COLUMN_LISTS[columns]
    return tuple(entry for entry in attributes if kinds is None or entry.kind in kinds)


def settle(
    groups: Sequence[TableImages],
    buffer: Bytes,
    file: str,
    framing: str | None = None,
    columns: str | None = None,
) -> tuple[SolidShape, tuple[str, ...]]:
    """The shape of a log and which others read the same. ``framing`` and ``columns``: what the user
    named; a named framing may leave damaged images open.

    InputError LR2004 where none fits, LR2018 where several fit and read different values.
    """
    candidates, lists = _candidates(framing, columns)
    groups = [group for group in groups if len(group.start)]
    if not groups:
        return SolidShape(candidates[0], lists[0]), ()
    sample = sampled(groups)
    for name in lists:
        survivors = [
            candidate for candidate in candidates if _fits(sample, buffer, candidate, name)
        ]
        if survivors:
            return _decided(survivors, groups, buffer, name, file)
    if framing:
        closed = [sum(_closing(sample, buffer, candidates[0], name)) for name in lists]
        if max(closed):
            return SolidShape(candidates[0], lists[closed.index(max(closed))]), ()
    raise _none_fits(sample, buffer, candidates, lists[0], file)


@dataclass(frozen=True)
class FittingFramings:
    """What the images of a stretch of a log, of some ``tables``, say by a list of columns of the
    framings that close all of them, by name: whether one reads ``text``, and a digest of where it
    finds ``values``. Where there is none, but one by another list: of which tables each
    of them closes no image (``none``)."""

    tables: frozenset[int] = frozenset()
    text: Mapping[str, bool] = field(default_factory=dict)
    values: Mapping[str, bytes] = field(default_factory=dict)
    none: Mapping[str, frozenset[int]] = field(default_factory=dict)


def _candidates(framing: str | None, columns: str | None) -> tuple[list[ValueFraming], list[str]]:
    """The framings and lists of columns that a log may have."""
    return (
        [layouts.FRAMINGS[framing]] if framing else list(layouts.FRAMINGS.values()),
        [columns] if columns else list(COLUMN_LISTS),
    )


def fitting(
    groups: Mapping[int, TableImages],
    buffer: Bytes,
    framing: str | None,
    columns: str | None,
    *,
    none: bool = False,
) -> list[FittingFramings]:
    """What the images of a stretch of a log, by table, say by each list of columns. ``none``: of
    which tables no image closes is said also where no framing closes all images by any list."""
    candidates, lists = _candidates(framing, columns)
    there = {table: group for table, group in groups.items() if len(group.start)}
    found = [_fitting(there, buffer, candidates, name) for name in lists]
    if not none and not any(each.values for each in found):
        return found  # an image is damaged
    return [
        each if each.values else replace(each, none=_none(there, buffer, candidates, name))
        for each, name in zip(found, lists, strict=True)
    ]


def _fitting(
    groups: Mapping[int, TableImages], buffer: Bytes, candidates: list[ValueFraming], name: str
) -> FittingFramings:
    images = [*groups.values()]
    first = [group.part(slice(0, _FIRST)) for group in images]
    fit = [one for one in candidates if _fits(first, buffer, one, name)]
    fit = [one for one in fit if _fits(images, buffer, one, name)]
    text, values = {}, {}
    for one in fit:
        digest = hashlib.sha256()
        for group in _in_windows(images if len(fit) > 1 else []):
            for cells in walk(group.format(name), buffer, group.start, group.end, one).columns:
                for said in (cells.place, cells.length, cells.null):
                    digest.update(np.ascontiguousarray(said).data)
        text[str(one)] = len(fit) > 1 and _has_text(images, buffer, one, name)
        values[str(one)] = digest.digest()
    return FittingFramings(frozenset(groups), text, values)


def _none(
    groups: Mapping[int, TableImages], buffer: Bytes, candidates: list[ValueFraming], name: str
) -> dict[str, frozenset[int]]:
    """The tables of which each framing closes no image."""
    return {
        str(one): frozenset(
            table
            for table, group in groups.items()
            if not any(_closes_any(part, buffer, one, name) for part in _in_windows([group]))
        )
        for one in candidates
    }


def settled(
    told: Sequence[Sequence[FittingFramings]], framing: str | None, columns: str | None, file: str
) -> tuple[SolidShape, tuple[str, ...]] | None:
    """As :func:`settle`, of what the stretches of a log say. None where no framing closes all
    images, nor is it certain that none closes those of a sample. InputError LR2018."""
    candidates, lists = _candidates(framing, columns)
    if not any(each.tables for stretch in told for each in stretch):
        return SolidShape(candidates[0], lists[0]), ()
    for name, by_list in zip(lists, zip(*told, strict=True), strict=True):
        there = [each for each in by_list if each.tables]
        survivors = [one for one in candidates if all(str(one) in each.values for each in there)]
        if survivors:
            return _told(survivors, there, name, file)
        if not all(_closes_none_of_one(one, there) for one in candidates):
            return None
    return None


def none_fits(
    told: Sequence[Sequence[FittingFramings]], framing: str | None, columns: str | None
) -> bool:
    """Whether it is certain, by what the stretches of a log say, that :func:`settle` finds that no
    framing fits (LR2004)."""
    candidates = _candidates(framing, columns)[0]
    by_lists = [[each for each in by_list if each.tables] for by_list in zip(*told, strict=True)]
    return not framing and all(
        _closes_none_of_one(one, there) for there in by_lists for one in candidates
    )


def _closes_none_of_one(framing: ValueFraming, told: Sequence[FittingFramings]) -> bool:
    """Whether it is certain that a framing closes no image of one of the tables, of each of which
    some are in a sample."""
    tables = frozenset[int]().union(*(each.tables for each in told))
    closed = (each.tables - each.none.get(str(framing), frozenset()) for each in told)
    return bool(tables.difference(*closed))


def _told(
    survivors: list[ValueFraming], told: Sequence[FittingFramings], columns: str, file: str
) -> tuple[SolidShape, tuple[str, ...]]:
    """The first survivor, when all others read the same values, as stretches of a log say."""

    def has_text(one: ValueFraming) -> bool:
        return any(each.text[str(one)] for each in told)

    def same(one: ValueFraming, other: ValueFraming) -> bool:
        return all(each.values[str(one)] == each.values[str(other)] for each in told)

    return _first_of(survivors, has_text, same, columns, file)


def sampled(groups: Sequence[TableImages]) -> list[TableImages]:
    """Up to about :data:`SAMPLE` images, of every table some, from all over the log."""
    share = max(1, SAMPLE // len(groups))
    return [
        group.part(
            np.unique(
                np.linspace(0, len(group.start) - 1, min(share, len(group.start))).astype(np.int64)
            )
        )
        for group in groups
    ]


def _fits(
    groups: Sequence[TableImages], buffer: Bytes, framing: ValueFraming, columns: str
) -> bool:
    """Whether all images close. Most framings are wrong ones, and that shows in the first columns
    of the first table."""
    for group in _in_windows(groups):
        images = walk(
            group.format(columns), buffer, group.start, group.end, framing, until_bad=True
        )
        if images.bad.any() or not possible(images).all():
            return False
    return True


def _closing(
    groups: Sequence[TableImages], buffer: Bytes, framing: ValueFraming, columns: str
) -> list[int]:
    """How many images of each table close."""
    return [
        int(possible(walk(group.format(columns), buffer, group.start, group.end, framing)).sum())
        for group in groups
    ]


def _closes_any(group: TableImages, buffer: Bytes, framing: ValueFraming, columns: str) -> bool:
    """Whether any image of a table closes. Of a wrong framing that shows in the first columns."""
    where = group.start, group.end
    return bool(
        possible(walk(group.format(columns), buffer, *where, framing, until_none=True)).any()
    )


def possible(images: SolidRowWalk) -> Mask:
    """Which images close and have moments whose fields can be such."""
    good = ~images.bad
    if not good.any():  # such a walk may have ended before the last column
        return good
    for column, cells in zip(images.format.columns, images.columns, strict=True):
        if InternalType[column.subtype] is InternalType.DATE:
            there = np.flatnonzero(good & ~cells.null)
            good[there] = in_range(
                codecs.gather_padded(images.buffer, cells.place[there], cells.length[there], 11)
            )
    return good


def _decided(
    survivors: list[ValueFraming],
    groups: Sequence[TableImages],
    buffer: Bytes,
    columns: str,
    file: str,
) -> tuple[SolidShape, tuple[str, ...]]:
    """The first survivor, when all others read the same values."""
    if len(survivors) > 1:
        whole = [candidate for candidate in survivors if _fits(groups, buffer, candidate, columns)]
        survivors = whole or survivors

    def same(one: ValueFraming, other: ValueFraming) -> bool:
        return all(_same(group, buffer, columns, one, other) for group in _in_windows(groups))

    return _first_of(
        survivors, lambda one: _has_text(groups, buffer, one, columns), same, columns, file
    )


def _first_of(
    survivors: list[ValueFraming],
    has_text: Callable[[ValueFraming], bool],
    same: Callable[[ValueFraming, ValueFraming], bool],
    columns: str,
    file: str,
) -> tuple[SolidShape, tuple[str, ...]]:
    """The first of framings that close all images, and the others, which read the same values."""
    if any(candidate.nul for candidate in survivors) and has_text(survivors[0]):
        survivors = [candidate for candidate in survivors if candidate.nul]
    first = survivors[0]
    for other in survivors[1:]:
        if not same(first, other):
            message = (
                f"found images that {first} and {other} read differently and both to the last byte;"
                " expected one framing"
            )
            raise InputError("LR2018", message, Where(file, field="DATA"), CALIBRATE)
    return SolidShape(first, columns), tuple(str(candidate) for candidate in survivors[1:])


def _has_text(
    groups: Sequence[TableImages], buffer: Bytes, framing: ValueFraming, columns: str
) -> bool:
    for group in _in_windows(groups):
        images = walk(group.format(columns), buffer, group.start, group.end, framing)
        for column, cells in zip(images.format.columns, images.columns, strict=True):
            if InternalType[column.subtype] in layouts.TEXTS and not cells.null.all():
                return True
    return False


def _same(
    group: TableImages, buffer: Bytes, columns: str, one: ValueFraming, other: ValueFraming
) -> bool:
    first, second = (
        walk(group.format(columns), buffer, group.start, group.end, framing)
        for framing in (one, other)
    )
    return all(
        np.array_equal(mine.place, theirs.place)
        and np.array_equal(mine.length, theirs.length)
        and np.array_equal(mine.null, theirs.null)
        for mine, theirs in zip(first.columns, second.columns, strict=True)
    )


def _none_fits(
    groups: Sequence[TableImages],
    buffer: Bytes,
    candidates: Sequence[ValueFraming],
    columns: str,
    file: str,
) -> InputError:
    """What the two candidates that fit most images fail on."""
    failures = []
    for candidate in candidates:
        count, first = 0, None
        for group in groups:
            images = walk(group.format(columns), buffer, group.start, group.end, candidate)
            wrong = np.flatnonzero(~possible(images))
            count += len(wrong)
            if len(wrong) and first is None:
                field, what, expected = images.reason(int(wrong[0]))
                first = (
                    int(group.row[wrong[0]]),
                    f"{group.name}, {field or 'a date or time'}: {what}, not {expected}",
                )
        if first is not None:
            failures.append((count, candidate, first))
    failures.sort(key=lambda entry: entry[0])
    reasons = "; ".join(
        f"{candidate}: record {row + 1}, {text}" for _, candidate, (row, text) in failures[:2]
    )
    total = sum(len(group.start) for group in groups)
    message = (
        f"found {total} row images that no known framing closes ({reasons}); expected one that"
        " closes all"
    )
    hint = (
        "The catalog export may be of another time than the log, or of another database."
        f" {CALIBRATE}"
    )
    return InputError("LR2004", message, Where(file, field="DATA"), hint)
