"""Which framing a log was written with, found out from its own rows (section 7.3).

A candidate survives when every image of a sample closes exactly and holds only values that can be.
Several that read different values, or none, are errors that say how to settle it: nothing is
guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import RowFormat
from replay.decoding import codecs
from replay.errors import InputError, Where, counted
from replay.logs.soliddb import layouts
from replay.logs.soliddb.layouts import COLUMN_LISTS, InternalType, ValueFraming
from replay.logs.soliddb.rows import SolidRowWalk, in_range, walk
from replay.logs.soliddb.tables import Attribute
from replay.spill import windows

#: Images looked at first; what survives them is held against all others.
SAMPLE = 2000
CALIBRATE = (
    "Run scripts/calibrate_soliddb.py on a server of this kind and give what it prints, or name"
    " what you know: --framing, --log-option columns=A, B or C"
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
    candidates = [layouts.FRAMINGS[framing]] if framing else list(layouts.FRAMINGS.values())
    lists = [columns] if columns else list(COLUMN_LISTS)
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
    if any(candidate.nul for candidate in survivors) and _has_text(
        groups, buffer, survivors[0], columns
    ):
        survivors = [candidate for candidate in survivors if candidate.nul]
    first = survivors[0]
    for other in survivors[1:]:
        if not all(_same(group, buffer, columns, first, other) for group in _in_windows(groups)):
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
        f"found {counted(total, 'row image')} and no known framing that fits ({reasons});"
        " expected one that closes all"
    )
    hint = (
        "The catalog export may be of another time than the log, or of another database."
        f" {CALIBRATE}"
    )
    return InputError("LR2004", message, Where(file, field="DATA"), hint)
