"""Order, read sessions and transactions of a SYS_LOG export (sections 4, 5, 6 and 10): which unit
of recovery each row belongs to.

The order of the rows is the order of the commits. What contradicts that ends the reading: rows that
come out of order or twice cannot be told from rows that are missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Hashes, Index, Mask
from replay.decoding.hashes import mixed
from replay.errors import InputError, Refusal, Where
from replay.logs.long_arrays import LongArrays, windows
from replay.logs.soliddb import layouts
from replay.logs.soliddb.export import NONE, Named, SyslogRows
from replay.logs.soliddb.layouts import Rec
from replay.logs.soliddb.manifest import Manifest
from replay.logs.soliddb.rows import same_bytes

#: RECIDs of rows that hold nothing.
BLANK = (NONE, int(Rec.EMPTY))
_ORDER = "Give the files in the order in which they were exported, each once and whole, with SEQ"
_AGAIN = "Export the log again from the last commit that was read whole"


@dataclass(frozen=True)
class Joined:
    """The rows of all files behind each other: ``file`` and ``row`` (within it) of each, numbers,
    addresses, DATA in one buffer, and what :class:`replay.logs.soliddb.export.SyslogRows` has;
    ``named_session`` is SESSION, ``session`` the read session. ``arrays`` makes others of that
    length."""

    files: Sequence[SyslogRows]
    file: Index
    row: Index
    numbers: dict[str, Index]
    named: Named
    address: Bytes
    address_null: Mask
    data: Bytes
    start: Index
    end: Index
    data_null: Mask
    sequence: Index | None
    named_session: Index | None
    session: Index
    arrays: LongArrays

    def __len__(self) -> int:
        return len(self.file)

    def where(self, row: int, field: str | None = None) -> Where:
        """The place of a row, for messages."""
        return Where(self.files[int(self.file[row])].name, int(self.row[row]) + 1, None, field)

    def address_of(self, row: int) -> bytes:
        """LOGADDR of a row; empty for NULL."""
        return b"" if self.address_null[row] else self.address[row].tobytes()

    def addresses(self, rows: Index) -> npt.NDArray[np.bytes_]:
        """LOGADDR of rows, which compare as it does; zeros for NULL."""
        octets = np.ascontiguousarray(self.address[rows])
        return octets.view(f"S{self.address.shape[1]}").reshape(-1)


@dataclass
class OutsideRows:
    """Rows that belong to no whole transaction: ``endless`` ones of such as have no commit;
    ``headless`` ones before the first transaction, whether a commit is among these (``commit``),
    and the number of the ``first`` row behind them, from 1 (0: there is none); kinds of others
    (``strange``). ``sequence``: the SEQ of the first row of all."""

    endless: int = 0
    headless: int = 0
    commit: bool = False
    first: int = 0
    strange: set[int] = field(default_factory=set)
    sequence: int = 0

    def words(self) -> list[str]:
        """What is to be said of them."""
        texts = []
        if self.endless:
            texts.append(
                f"{self.endless} row(s) at an end of the log are of transactions whose commit is"
                " not in it; they are left out"
            )
        if self.headless:
            begin = (
                f"the first whole one begins at record {self.first}"
                if self.first
                else "no whole one follows"
            )
            texts.append(
                f"{self.headless} row(s) at the beginning belong to a transaction whose start is"
                f" not in the log; {begin}. Begin an export at the LOGADDR of a COMMIT"
            )
        if self.strange:
            kinds = ", ".join(map(str, sorted(self.strange)))
            texts.append(
                f"records of unpublished kinds (RECID {kinds}) outside of transactions were passed"
                " over"
            )
        if self.commit and not self.headless:
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
    (C, or F where its end is not in the log), whether it is ``whole``, a transaction that an
    earlier read session held already (``repeated``), and its start record's FLAGS. ``outside``:
    rows that are in no whole one."""

    unit: Index
    first: Index
    last: Index
    disposition: Bytes
    whole: Mask
    repeated: Mask
    flags: Index
    outside: OutsideRows = field(default_factory=OutsideRows)

    def begin(self) -> int:
        """The first row of the first unit; where there is none, the end of the log."""
        return int(self.first[0]) if len(self.first) else len(self.unit)


def in_order(files: Sequence[SyslogRows]) -> tuple[list[SyslogRows], list[str]]:
    """The files in the order of the commits in them, whose addresses rise, and a warning where they
    were named in another one. A file that begins with a SEQ above 0 goes on with the one before,
    and one without commits stays behind it."""
    groups: list[list[SyslogRows]] = []
    for part in files:
        if not groups or (part.sequence is not None and len(part) and not int(part.sequence[0])):
            groups.append([])
        groups[-1].append(part)
    firsts: list[bytes] = []
    for group in groups:
        commits = (
            part.address[window][commit]
            for part in group
            for window in windows(len(part))
            for commit in np.flatnonzero(
                (part.numbers["RECID"][window] == Rec.COMMIT) & ~part.address_null[window]
            )[:1].tolist()
        )
        first = next((own.tobytes() for own in commits), None)
        firsts.append(first if first is not None else firsts[-1] if firsts else b"")
    order = sorted(range(len(groups)), key=firsts.__getitem__)
    moved = [number for number, place in enumerate(order) if number != place]
    if not moved:
        return list(files), []
    told = (
        "read sessions are taken in the order of their commits, not as they are named:"
        f" {groups[order[moved[0]]][0].name} comes before {groups[moved[0]][0].name}"
    )
    return [part for number in order for part in groups[number]], [told]


def join(
    files: Sequence[SyslogRows],
    sessions: Sequence[Mapping[str, Any]] = (),
    folder: str | None = None,
) -> Joined:
    """All files as one log; ``sessions`` is what a manifest says of their read sessions. What is of
    one file is not copied; large arrays lie in ``folder`` (None: in memory).

    InputError LR2030 where they cannot be in fetch order, LR2010 where LOGADDRs have two lengths.
    """
    if len(files) > 1 and any(part.sequence is None for part in files):
        name = next(part.name for part in files if part.sequence is None)
        raise InputError(
            "LR2030",
            f"found {len(files)} files and no SEQ; expected SEQ in each, which gives their order",
            Where(name),
            _ORDER,
        )
    sizes = {part.address.shape[1] for part in files if part.address.shape[1]}
    if len(sizes) > 1:
        raise InputError(
            "LR2010",
            "found LOGADDRs of 20 and of 28 bytes; expected one length",
            Where(files[-1].name),
            _ORDER,
        )
    size = max(sizes, default=layouts.ADDRESS_SIZES[0])
    arrays = LongArrays(folder)
    count = sum(map(len, files))

    def behind(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Arrays behind each other; one alone as it is."""
        return parts[0] if len(parts) == 1 else arrays.collected(parts, parts[0].dtype)

    def optional(parts: Sequence[Index | None]) -> Index | None:
        return None if any(part is None for part in parts) else behind(cast(list[Index], parts))

    file, row, start, end = (arrays.zeros(count, np.int64) for _ in range(4))
    first = base = 0
    for number, part in enumerate(files):
        for window in windows(len(part)):
            here = slice(first + window.start, first + window.stop)
            file[here], row[here] = number, np.arange(window.start, window.stop)
            start[here] = part.offsets[window] + base
            end[here] = part.offsets[window.start + 1 : window.stop + 1] + base
        first, base = first + len(part), base + len(part.data)
    joined = Joined(
        files,
        file,
        row,
        {name: behind([part.numbers[name] for part in files]) for name in files[0].numbers},
        behind([part.named for part in files]),
        behind([_addresses(part, size, arrays) for part in files]).reshape(-1, size),
        behind([part.address_null for part in files]),
        behind([part.data for part in files]),
        start,
        end,
        behind([part.data_null for part in files]),
        optional([part.sequence for part in files]),
        optional([part.session for part in files]),
        arrays.zeros(count, np.int64),
        arrays,
    )
    count_sessions(joined, sessions)
    return joined


def _addresses(part: SyslogRows, size: int, arrays: LongArrays) -> Bytes:
    """LOGADDRs behind each other, zeros for those of a file that has none."""
    if part.address.shape[1]:
        return part.address.reshape(-1)
    return arrays.zeros(len(part) * size, np.uint8)


def count_sessions(rows: Joined, manifest: Sequence[Mapping[str, Any]]) -> None:
    """Fill in the read session of each row, from 0: a new one begins where SESSION changes, after a
    shutdown, where a file begins with SEQ 0, and, without SESSION, behind each commit that the
    manifest calls the last of its session. InputError LR2030 where rows are not in fetch order."""
    named, flags = rows.named_session, rows.numbers["FLAGS"]
    ends = np.zeros(0, np.int64)
    if named is None:
        ends = np.array(sorted(_recorded_ends(rows, manifest)), np.int64)
    else:
        for part in _pairs(len(rows)):
            down = np.flatnonzero(named[part][1:] < named[part][:-1])
            if len(down):
                raise InputError(
                    "LR2030",
                    "found a lower SESSION after a higher one; expected them rising",
                    rows.where(part.start + int(down[0]) + 1),
                    _ORDER,
                )
    session = 0
    for part in _pairs(len(rows)):
        first = min(part.start, 1)  # the row before is among them
        new = np.zeros(part.stop - part.start, bool)
        if named is not None:
            new[1:] = named[part][1:] != named[part][:-1]
        mine = ends[(ends >= part.start) & (ends < part.stop)]
        new[mine - part.start] = True
        stopped = (flags[part] != NONE) & ((flags[part] & layouts.FLAG_SHUTDOWN) > 0)
        new[1:] |= stopped[:-1] & ~stopped[1:]
        if rows.sequence is not None:
            _check_sequence(rows, rows.sequence, part, new)
        rows.session[part.start + first : part.stop] = np.cumsum(new[first:]) + session
        session = int(rows.session[part.stop - 1])


def _pairs(count: int) -> Iterator[slice]:
    """Windows of rows, each but the first with the row before it."""
    for part in windows(count):
        yield slice(max(part.start - 1, 0), part.stop)


def _check_sequence(rows: Joined, sequence: Index, part: slice, new: Mask) -> None:
    """Mark the sessions that begin with SEQ 0 of a file among the ``new`` ones. InputError LR2030
    where a row does not follow the one before it."""
    held, file = sequence[part], rows.file[part]
    again = held == 0
    new[1:] |= (file[1:] != file[:-1]) & again[1:]
    good = held[1:] == held[:-1] + 1
    wrong = np.flatnonzero(~good & ~(new[1:] & again[1:]))
    if len(wrong):
        at = int(wrong[0]) + 1
        message = (
            f"found SEQ {held[at]} after {held[at - 1]}; expected every row once, in fetch order"
        )
        raise InputError("LR2030", message, rows.where(part.start + at, "SEQ"), _ORDER)


def _recorded_ends(rows: Joined, manifest: Sequence[Mapping[str, Any]]) -> list[int]:
    """The rows behind the commits that the manifest calls the last of a session, in its order."""
    recid, ends = rows.numbers["RECID"], list[int]()
    commits = rows.arrays.places(
        len(rows), lambda part: (recid[part] == Rec.COMMIT) & ~rows.address_null[part]
    )
    for entry in held_sessions(manifest)[:-1]:
        last = np.frombuffer(entry["last_commit_logaddr"], np.uint8)
        if len(last) != rows.address.shape[1]:
            continue
        begin = int(np.searchsorted(commits, ends[-1] if ends else 0))
        for part in windows(len(commits) - begin):
            mine = commits[begin + part.start : begin + part.stop]
            same = mine[(rows.address[mine] == last).all(axis=1)]
            if len(same):
                ends.append(int(same[0]) + 1)
                break
    return [end for end in ends if end < len(rows)]


def held_sessions(manifest: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Read sessions of a manifest that have a commit."""
    return [
        entry
        for entry in manifest
        if entry["last_commit_logaddr"] not in (None, entry["start_logaddr"])
    ]


# -- transactions
# -------------------------------------------------------------------------------------------------


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
    outside.commit = any(
        (rows.numbers["RECID"][part] == Rec.COMMIT).any() for part in windows(bounds.begin())
    )
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
        lone &= (first.count + np.cumsum(count) - count > 0) | (session[row] > 0)
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
        arrays.zeros(first.count, bool),
        arrays.zeros(first.count, np.int64),
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
        _ORDER,
    )


# -- sessions
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SessionChain:
    """How read sessions follow one another: ``warnings``, where the first one begins (as far as a
    manifest says it), and the last commit of all, also of one without rows; LOGADDRs."""

    warnings: tuple[str, ...]
    begins: bytes | None
    ends: bytes | None


def check_sessions(
    rows: Joined, bounds: SolidTransactions, manifest: Manifest, accept: bool
) -> SessionChain:
    """Hold the read sessions against the manifest and each other; mark transactions that an earlier
    session held. Warnings are about accepted gaps.

    InputError LR2006 where rows are missing that the manifest knows of, LR2017 where a transaction
    comes twice with different rows; Refusal LR2034 where changes may be missing between two
    sessions.
    """
    there = set[int]()
    for part in windows(len(rows)):
        holds = ~np.isin(rows.numbers["RECID"][part], BLANK)
        there.update(np.unique(rows.session[part][holds]).tolist())
    filled = np.array(sorted(there), np.int64)
    # the last whole unit of each session, -1 for none
    newest = np.full(len(filled), -1, np.int64)
    for part in windows(len(bounds.last)):
        whole = np.flatnonzero(bounds.whole[part]) + part.start
        of = np.searchsorted(filled, rows.session[bounds.last[whole]])
        np.maximum.at(newest, of, whole)
    ends = [
        rows.address_of(int(bounds.last[unit])) if unit >= 0 else None for unit in newest.tolist()
    ]
    if sum(end is not None for end in ends) > 1:  # those of one session rise
        _mark_repeated(rows, bounds)
    recorded = _recorded_sessions(rows, filled, manifest)
    if not recorded:
        _check_recorded(rows, bounds, manifest)
    for number, entry in enumerate(recorded):
        end = ends[number]
        if entry["last_commit_logaddr"] is not None and end != entry["last_commit_logaddr"]:
            text = (
                f"found {end.hex().upper() if end else 'none'} as the last commit of session"
                f" {number}"
            )
            message = (
                f"{text}; expected {entry['last_commit_logaddr'].hex().upper()}, as the manifest"
                " says"
            )
            raise InputError(
                "LR2006", message, Where(rows.files[-1].name), "Give all files of the export, whole"
            )
    warnings: list[str] = []
    reached: bytes | None = None
    for number in range(len(filled)):
        start = recorded[number]["start_logaddr"] if recorded else None
        if number and (start is None or reached is None or start > reached):
            between = (
                f"session {number - 1} ends at"
                f" {reached.hex().upper() if reached else 'an unknown position'}"
            )
            message = (
                f"{between} and session {number} begins at"
                f" {start.hex().upper() if start else 'an unknown position'}"
            )
            if not accept:
                hint = (
                    "Export what lies between, name the sessions in the manifest, or accept it:"
                    " --log-option gaps=accept"
                )
                where = rows.where(int(np.searchsorted(rows.session, filled[number])))
                raise Refusal(
                    "LR2034",
                    f"found that {message}; expected each to begin where the last one ended",
                    where,
                    hint,
                )
            warnings.append(f"changes may be missing: {message}")
        ended = ends[number] if newest[number] >= 0 else start
        reached = max(filter(None, (reached, ended)), default=None)
    held = recorded or held_sessions(manifest.sessions)
    return SessionChain(tuple(warnings), held[0]["start_logaddr"] if held else None, reached)


def _recorded_sessions(
    rows: Joined, filled: Index, manifest: Manifest
) -> Sequence[Mapping[str, Any]]:
    """What the manifest says of each read session that has rows: by the number in SESSION, else in
    order where it has as many."""
    if rows.named_session is not None:
        values = rows.named_session[np.searchsorted(rows.session, filled)].tolist()
        if len(set(values)) == len(filled) and all(
            0 <= value < len(manifest.sessions) for value in values
        ):
            return [manifest.sessions[value] for value in values]
    held = held_sessions(manifest.sessions)
    return next(
        (entries for entries in (manifest.sessions, held) if len(entries) == len(filled)), ()
    )


def _check_recorded(rows: Joined, bounds: SolidTransactions, manifest: Manifest) -> None:
    """InputError LR2006 where the manifest names a commit that is not there."""
    wanted = {
        bytes(entry["last_commit_logaddr"]): entry for entry in held_sessions(manifest.sessions)
    }
    size = rows.address.shape[1]
    left = {address for address in wanted if len(address) == size}
    missing = set(wanted) - left
    for part in windows(len(bounds.last)):
        mine = rows.address[bounds.last[part][bounds.whole[part]]]
        for address in list(left):
            if (mine == np.frombuffer(address, np.uint8)).all(axis=1).any():
                left.remove(address)
    for address in wanted:
        if address in left | missing:
            message = (
                f"found no commit at {address.hex().upper()}; expected it, as"
                " the last one of a session in the manifest"
            )
            raise InputError(
                "LR2006", message, Where(rows.files[-1].name), "Give all files of the export, whole"
            )


def _mark_repeated(rows: Joined, bounds: SolidTransactions) -> None:
    """Mark the units that have the commit of one before them. InputError LR2017 for the first one
    whose rows are others."""
    differs = len(bounds.last)
    for group in _of_one_address(rows, bounds):
        by_address: dict[bytes, int] = {}
        for unit in group.tolist():
            first = by_address.setdefault(rows.address_of(int(bounds.last[unit])), unit)
            if first == unit:
                continue
            if not _same_rows(rows, bounds, first, unit):
                differs = min(differs, unit)
            bounds.repeated[unit] = True
    if differs < len(bounds.last):
        address = rows.address_of(int(bounds.last[differs]))
        message = (
            f"found the transaction of {address.hex().upper()} twice, with different"
            " rows; expected the same"
        )
        raise InputError(
            "LR2017", message, rows.where(int(bounds.first[differs])), "Export the log again"
        )


def _of_one_address(rows: Joined, bounds: SolidTransactions) -> Iterator[Index]:
    """Whole units of which several may have the same commit, in log order."""

    def key(units: Index) -> Hashes:
        octets = np.zeros((len(units), 32), np.uint8)
        octets[:, : rows.address.shape[1]] = rows.address[bounds.last[units]]
        words = octets.view(np.uint64)
        keys = mixed(words[:, 0])
        for number in range(1, words.shape[1]):
            keys = mixed(keys ^ words[:, number])
        return keys

    whole = rows.arrays.places(len(bounds.last), lambda part: bounds.whole[part])
    ordered, left = rows.arrays.by(whole, key), whole[:0]
    for part in windows(len(ordered)):
        mine = np.concatenate([left, ordered[part]])
        keys = key(mine)
        groups = np.split(mine, np.flatnonzero(keys[1:] != keys[:-1]) + 1)
        if part.stop < len(ordered):
            left = groups.pop()
        yield from (group for group in groups if len(group) > 1)


def _same_rows(rows: Joined, bounds: SolidTransactions, one: int, other: int) -> bool:
    mine, theirs = (
        np.flatnonzero(bounds.unit[bounds.first[unit] : bounds.last[unit] + 1] >= 0)
        + bounds.first[unit]
        for unit in (one, other)
    )
    if len(mine) != len(theirs) or any(
        (rows.numbers[name][mine] != rows.numbers[name][theirs]).any() for name in rows.numbers
    ):
        return False
    length = rows.end[mine] - rows.start[mine]
    if (length != rows.end[theirs] - rows.start[theirs]).any():
        return False
    return bool(
        same_bytes(rows.data, rows.start[mine], rows.data, rows.start[theirs], length).all()
    )
