"""Transactions of a SYS_LOG export (sections 5 and 6): which unit of recovery each row belongs to,
which rows belong to none, what LOGADDRs say about the rows between a start and its commit, and what
is to be told of all that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from replay.arrays import Bytes, Index, Mask
from replay.errors import InputError, counted
from replay.logs.soliddb import layouts
from replay.logs.soliddb.export import NONE
from replay.logs.soliddb.joined_rows import ORDER, Joined
from replay.logs.soliddb.layouts import Rec
from replay.spill import windows

_AGAIN = "Export the log again from the last commit that was read whole"


@dataclass
class OutsideRows:
    """Rows that belong to no whole transaction: ``endless`` ones of such as have no commit;
    ``headless`` ones before the first transaction, the place of the ``commit`` among these (-1:
    there is none), and the number of the ``first`` row behind them, from 1 (0: there is none);
    kinds of others (``strange``). ``sequence``: the SEQ of the first row of all."""

    endless: int = 0
    headless: int = 0
    commit: int = -1
    first: int = 0
    strange: set[int] = field(default_factory=set)
    sequence: int = 0

    def words(self) -> list[str]:
        """What is to be said of them."""
        texts = []
        if self.endless:
            texts.append(
                f"left out: {counted(self.endless, 'row')} at an end of the log, of transactions"
                " whose commit is not in it"
            )
        if self.headless:
            begin = (
                f"the first whole one begins at record {self.first}"
                if self.first
                else "no whole one follows"
            )
            texts.append(
                f"{counted(self.headless, 'row')} at the beginning: the start of the transaction is"
                f" not in the log; {begin}. Begin an export at the LOGADDR of a COMMIT"
            )
        if self.strange:
            kinds = ", ".join(map(str, sorted(self.strange)))
            texts.append(
                f"records of unpublished kinds (RECID {kinds}) outside of transactions were skipped"
            )
        if self.commit >= 0 and not self.headless:
            texts.append(
                "the log begins with the commit of a transaction that is not in it; begin an export"
                " at the LOGADDR of a COMMIT"
            )
        if self.sequence > 1:
            texts.append(
                f"the rows begin with SEQ {self.sequence}; those before it are not in the files"
                " that were given"
            )
        return texts


@dataclass
class SolidTransactions:
    """``unit`` of each row (-1 none); of each unit its ``first`` and ``last`` row, ``disposition``
    (C, or F where its end is not in the log), whether it is ``whole``, the unit before it of which
    it is a copy, in another read session (``copy_of``, -1 none), and its start record's FLAGS.
    ``outside``: rows that are in no whole one."""

    unit: Index
    first: Index
    last: Index
    disposition: Bytes
    whole: Mask
    copy_of: Index
    flags: Index
    outside: OutsideRows = field(default_factory=OutsideRows)

    def begin(self) -> int:
        """The first row of the first unit; where there is none, the end of the log."""
        return int(self.first[0]) if len(self.first) else len(self.unit)


def find_transactions(rows: Joined) -> SolidTransactions:
    """The units of a log. InputError LR2030 where rows stand outside of transactions, or
    commits are out of order."""
    bounds = _spans(rows)
    flags, outside = rows.numbers["FLAGS"], bounds.outside
    for part in windows(len(bounds.first)):
        given = flags[bounds.first[part]]
        bounds.flags[part] = np.where(given == NONE, 0, given)
    for part in windows(len(rows)):
        row = np.arange(part.start, part.stop)
        unit = np.searchsorted(bounds.first, row, side="right") - 1
        inside = (unit >= 0) & ~_empty(rows, part)
        inside[inside] = row[inside] <= bounds.last[unit[inside]]
        bounds.unit[part] = np.where(inside, unit, -1)
        outside.endless += int((bounds.disposition[unit[inside]] == ord("F")).sum())
    _orphans(rows, bounds)
    for part in windows(bounds.begin()):
        commits = np.flatnonzero(rows.numbers["RECID"][part] == Rec.COMMIT)
        if len(commits) and outside.commit < 0:
            outside.commit = part.start + int(commits[0])
    if rows.sequence is not None and len(rows):
        outside.sequence = int(rows.sequence[0])
    _commits_rise(rows, bounds)
    return bounds


def _empty(rows: Joined, part: slice) -> Mask:
    """Rows that hold nothing."""
    recid = rows.numbers["RECID"][part]
    nop = ((recid == Rec.EMPTY) | (recid == NONE)) & (rows.start[part] == rows.end[part])
    nop &= (rows.numbers["RELID"][part] == NONE) | (rows.numbers["FLAGS"][part] == 0)
    return np.asarray(nop)


def _spans(rows: Joined) -> SolidTransactions:
    """The units, as far as starts and commits, shutdowns and ends of sessions tell them."""
    arrays, opened, session = rows.arrays, -1, rows.session
    first, last = arrays.growing(np.int64), arrays.growing(np.int64)
    disposition, whole = arrays.growing(np.uint8), arrays.growing(np.bool_)
    for part in windows(len(rows)):
        recid, flags = rows.numbers["RECID"][part], rows.numbers["FLAGS"][part]
        holds = ~_empty(rows, part)
        starts, commits = holds & (recid == Rec.START), holds & (recid == Rec.COMMIT)
        closes = (flags != NONE) & ((flags & layouts.FLAG_SHUTDOWN) > 0)
        following = session[part.start + 1 : part.stop + 1]
        closes[: len(following)] |= following != session[part][: len(following)]
        closes[len(following) :] = True  # the last row
        at = np.flatnonzero(starts | commits | closes)
        if not len(at):
            continue
        begins, ends, row = starts[at], commits[at], at + part.start
        # what is open behind each of these rows, and before it
        behind = np.where(begins & ~closes[at], row, -1)
        before = np.append(opened, behind[:-1])
        opened = int(behind[-1])
        #: The unit that was open, and one that begins and ends in this row.
        there = np.stack([before >= 0, begins & closes[at]], axis=1)
        count = there.sum(axis=1)
        lone = ends & (before < 0)
        lone &= (len(first) + np.cumsum(count) - count > 0) | (session[row] > 0)
        if lone.any():
            raise InputError(
                "LR2030",
                "found a commit without a start; expected both",
                rows.where(int(row[lone.argmax()]), "RECID"),
                _AGAIN,
            )
        letter = np.where(begins | ends, ord("C"), ord("F"))
        first.add(np.stack([before, row], axis=1)[there])
        last.add(np.stack([row - begins, row], axis=1)[there])
        disposition.add(
            np.stack([letter, np.full_like(letter, ord("F"))], axis=1)[there].astype(np.uint8)
        )
        whole.add(np.stack([ends, np.zeros(len(ends), bool)], axis=1)[there])
    return SolidTransactions(
        arrays.full(len(rows), -1, np.int64),
        first.array(),
        last.array(),
        disposition.array(),
        whole.array(),
        arrays.full(len(first), -1, np.int64),
        arrays.zeros(len(first), np.int64),
    )


def _orphans(rows: Joined, bounds: SolidTransactions) -> None:
    """Rows outside of transactions: those before the first one are the rest of a unit that began
    earlier; others cannot be."""
    begin, outside = bounds.begin(), bounds.outside
    for part in windows(len(rows)):
        recid, table = rows.numbers["RECID"][part], rows.numbers["RELID"][part]
        loose = (bounds.unit[part] < 0) & ~_empty(rows, part)
        holds = loose & (
            np.isin(recid, layouts.DATA_RECS)
            | ((table >= layouts.FIRST_USER_TABLE) & (recid != Rec.COMMIT))
        )
        wrong = np.flatnonzero(holds & (np.arange(part.start, part.stop) >= begin))
        if len(wrong):
            message = (
                "found a row outside of any transaction; expected it between a start and a commit"
            )
            where = rows.where(part.start + int(wrong[0]), "RECID")
            raise InputError("LR2030", message, where, _AGAIN)
        outside.headless += int(holds.sum())
        kinds = np.unique(recid[loose & ~holds & ~np.isin(recid, list(Rec))])
        outside.strange.update(kinds.tolist())
    outside.first = int(rows.row[begin]) + 1 if len(bounds.first) else 0


def _commits_rise(rows: Joined, bounds: SolidTransactions) -> None:
    """Commits come in the order of their addresses within a read session (section 6)."""
    before = np.zeros(0, np.int64)
    for part in windows(len(bounds.last)):
        mine = bounds.last[part][bounds.whole[part]]
        done = np.concatenate([before, mine])
        wrong = rows.address_null[done].copy()
        if rows.address.shape[1]:
            at, session = rows.addresses(done), rows.session[done]
            wrong[1:] |= (session[1:] == session[:-1]) & (at[1:] <= at[:-1])
        if wrong.any():
            _refuse_commit(rows, done, int(wrong.argmax()))
        before = done[-1:]


def _refuse_commit(rows: Joined, done: Index, place: int) -> None:
    """InputError for a commit without an address, LR2010, or with one that is not above that of
    the one before it, LR2030."""
    row = int(done[place])
    if rows.address_null[row]:
        raise InputError(
            "LR2010",
            "found a commit without LOGADDR; expected one",
            rows.where(row, "LOGADDR"),
            "Export it again",
        )
    found_text = (
        f"found a commit at {rows.address_of(row).hex().upper()} after"
        f" {rows.address_of(int(done[place - 1])).hex().upper()}"
    )
    raise InputError(
        "LR2030",
        f"{found_text}; expected commits in log order",
        rows.where(row, "LOGADDR"),
        ORDER,
    )


# -- addresses (section 6)
# -------------------------------------------------------------------------------------------------

#: So many pairs of rows, with one exception and one more in so many, are a habit.
_MANY, _RARE = 12, 500


@dataclass(frozen=True)
class AddressFaults:
    """Rows whose address is not above that of the row before in their transaction (``falls``), and
    those before which rows of it are missing (``gaps``), of so many ``pairs`` of rows.

    It is not published whether LOGADDRs rise within a transaction, nor what their parts mean, so a
    log is asked for its own habit: where they rise from nearly every row to the next, one that does
    not is damage; where the number at their beginning rises by one, rows are missing where it rises
    by more."""

    pairs: int
    falls: Index
    gaps: Index

    @property
    def rises(self) -> bool:
        """Whether one that does not rise is damage."""
        return self.pairs >= _MANY and len(self.falls) <= 1 + self.pairs // _RARE

    @property
    def counts(self) -> bool:
        """Whether one that leaves out numbers says that rows are missing."""
        return self.rises and len(self.gaps) <= 1 + self.pairs // _RARE


def address_faults(rows: Joined, bounds: SolidTransactions) -> AddressFaults:
    """Where the addresses within transactions do not go on as those of most logs do."""
    last = np.zeros(0, np.int64)
    falls, gaps = rows.arrays.growing(np.int64), rows.arrays.growing(np.int64)
    pairs = 0
    for part in windows(len(rows)):
        inside = (bounds.unit[part] >= 0) & ~rows.address_null[part]
        mine = np.concatenate([last, np.flatnonzero(inside) + part.start])
        one, other = mine[:-1], mine[1:]
        same = bounds.unit[one] == bounds.unit[other]
        one, other = one[same], other[same]
        pairs, last = pairs + len(one), mine[-1:]
        if not len(one):
            continue
        before, after = rows.address[one], rows.address[other]
        different = before != after
        first = different.argmax(axis=1)
        at = np.arange(len(one))
        fallen = ~different.any(axis=1) | (before[at, first] > after[at, first])
        start, end = (
            np.ascontiguousarray(each[:, :8]).view(">u8").reshape(-1).astype(np.uint64)
            for each in (before, after)
        )
        falls.add(other[fallen])
        gaps.add(other[~fallen & (end - start != 1)])
    return AddressFaults(pairs, falls.array(), gaps.array())


#: TRXIDs that a warning shows.
SHOWN = 10


@dataclass
class IndexNotes:
    """What is to be told of rows that are read: statements that belong to no DDL record
    (``lost_texts``), batches of ``several`` transactions and TRXIDs of the first of them
    (``ids``), bits of FLAGS that are ``unknown``, and rows with TEXTDATA (``texts``)."""

    lost_texts: int = 0
    several: int = 0
    ids: list[int] = field(default_factory=list)
    unknown: int = 0
    texts: int = 0

    def words(self, outside: OutsideRows, of_values: Iterable[str]) -> list[str]:
        """In words, with those of rows outside of transactions and of values."""
        texts = outside.words()
        if self.lost_texts:
            texts.append(
                f"not repeated: {counted(self.lost_texts, 'SQL record')} without a DDL record"
            )
        texts += of_values
        if self.several:
            texts.append(
                f"{self.several} batch(es) of several transactions are kept as one unit each"
                f" (TRXIDs {', '.join(map(str, self.ids))} …)"
            )
        if self.unknown:
            texts.append(
                f"FLAGS with unpublished bits (X'{self.unknown:X}'); they are not looked at"
            )
        if self.texts:
            texts.append(
                f"{counted(self.texts, 'row has', 'rows have')} a TEXTDATA, which is documented as"
                " always NULL; it is not looked at"
            )
        return texts
