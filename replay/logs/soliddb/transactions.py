"""Order, read sessions and transactions of a SYS_LOG export (sections 4, 5, 6 and 10): which unit
of recovery each row belongs to.

The order of the rows is the order of the commits. What contradicts that ends the reading: rows that
come out of order or twice cannot be told from rows that are missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index, Mask
from replay.errors import InputError, Refusal, Where
from replay.logs.scratch_arrays import collected
from replay.logs.soliddb import layouts
from replay.logs.soliddb.export import NONE, SyslogRows
from replay.logs.soliddb.layouts import Rec
from replay.logs.soliddb.manifest import Manifest
from replay.logs.soliddb.rows import same_bytes

_ORDER = "Give the files in the order in which they were exported, each once and whole, with SEQ"
_AGAIN = "Export the log again from the last commit that was read whole"


@dataclass(frozen=True)
class Joined:
    """The rows of all files behind each other: ``file`` and ``row`` (within it) of each, numbers,
    addresses, and DATA in one buffer."""

    files: Sequence[SyslogRows]
    file: Index
    row: Index
    numbers: dict[str, Index]
    address: Bytes
    address_null: Mask
    data: Bytes
    start: Index
    end: Index
    data_null: Mask
    session: Index

    def __len__(self) -> int:
        return len(self.file)

    def where(self, row: int, field: str | None = None) -> Where:
        """The place of a row, for messages."""
        return Where(self.files[int(self.file[row])].name, int(self.row[row]) + 1, None, field)

    def address_of(self, row: int) -> bytes:
        """LOGADDR of a row; empty for NULL."""
        return b"" if self.address_null[row] else self.address[row].tobytes()


@dataclass
class SolidTransactions:
    """``unit`` of each row (-1 none); of each unit its ``first`` and ``last`` row, ``disposition``
    (C, or F where its end is not in the log), whether it is ``whole``, a transaction that an
    earlier read session held already (``repeated``), and its start record's FLAGS. ``headless``:
    rows before the first whole transaction."""

    unit: Index
    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    disposition: list[int] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    repeated: list[bool] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    headless: int = 0
    warnings: list[str] = field(default_factory=list)


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
            part.address[(part.numbers["RECID"] == Rec.COMMIT) & ~part.address_null]
            for part in group
        )
        first = next((own[0].tobytes() for own in commits if len(own)), None)
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
    one file is not copied; of several, large arrays lie in ``folder`` (None: in memory).

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
    address = _behind(
        [
            part.address if part.address.shape[1] else np.zeros((len(part), size), np.uint8)
            for part in files
        ]
    )
    base = np.cumsum([0, *(len(part.data) for part in files[:-1])])
    joined = Joined(
        files,
        np.repeat(np.arange(len(files)), [len(part) for part in files]),
        np.concatenate([np.arange(len(part)) for part in files]),
        {name: _behind([part.numbers[name] for part in files]) for name in files[0].numbers},
        address,
        _behind([part.address_null for part in files]),
        files[0].data if len(files) == 1 else _data(files, folder),
        np.concatenate([part.offsets[:-1] + at for part, at in zip(files, base, strict=True)]),
        np.concatenate([part.offsets[1:] + at for part, at in zip(files, base, strict=True)]),
        _behind([part.data_null for part in files]),
        np.zeros(sum(map(len, files)), np.int64),
    )
    joined.session[:] = _sessions(joined, sessions)
    return joined


def _behind(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Arrays behind each other; one alone as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _data(files: Sequence[SyslogRows], folder: str | None) -> Bytes:
    return collected((part.data for part in files), np.dtype(np.uint8), folder)


def _sessions(rows: Joined, manifest: Sequence[Mapping[str, Any]]) -> Index:
    """The read session of each row, from 0: a new one begins where SESSION changes, after a
    shutdown, where a file begins with SEQ 0, and, without SESSION, behind each commit that the
    manifest calls the last of its session."""
    new = np.zeros(len(rows), bool)
    numbers = [part.session for part in rows.files]
    if all(session is not None for session in numbers):
        values = np.concatenate([session for session in numbers if session is not None])
        new[1:] = values[1:] != values[:-1]
        down = np.flatnonzero(values[1:] < values[:-1])
        if len(down):
            raise InputError(
                "LR2030",
                "found a lower SESSION after a higher one; expected them rising",
                rows.where(int(down[0]) + 1),
                _ORDER,
            )
    else:
        new[_recorded_ends(rows, manifest)] = True
    flags = rows.numbers["FLAGS"]
    stopped = (flags != NONE) & ((flags & layouts.FLAG_SHUTDOWN) > 0)
    new[1:] |= stopped[:-1] & ~stopped[1:]
    if rows.files[0].sequence is not None:
        sequence = np.concatenate(
            [part.sequence for part in rows.files if part.sequence is not None]
        )
        begins = np.zeros(len(rows), bool)
        begins[1:] = rows.file[1:] != rows.file[:-1]
        again = sequence == 0
        new[1:] |= (begins & again)[1:]
        good = sequence[1:] == sequence[:-1] + 1
        wrong = np.flatnonzero(~good & ~(new[1:] & again[1:]))
        if len(wrong):
            at = int(wrong[0]) + 1
            message = (
                f"found SEQ {sequence[at]} after {sequence[at - 1]}; expected every row once, in"
                " fetch order"
            )
            raise InputError("LR2030", message, rows.where(at, "SEQ"), _ORDER)
    return np.cumsum(new)


def _recorded_ends(rows: Joined, manifest: Sequence[Mapping[str, Any]]) -> list[int]:
    """The rows behind the commits that the manifest calls the last of a session, in its order."""
    commits = np.flatnonzero((rows.numbers["RECID"] == Rec.COMMIT) & ~rows.address_null)
    ends: list[int] = []
    for entry in _held(manifest)[:-1]:
        later = commits[commits >= (ends[-1] if ends else 0)]
        last = np.frombuffer(entry["last_commit_logaddr"], np.uint8)
        if len(last) == rows.address.shape[1] and len(
            same := later[(rows.address[later] == last).all(axis=1)]
        ):
            ends.append(int(same[0]) + 1)
    return [end for end in ends if end < len(rows)]


def _held(manifest: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
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
    bounds = SolidTransactions(np.full(len(rows), -1, np.int64))
    recid = rows.numbers["RECID"]
    flags = np.where(rows.numbers["FLAGS"] == NONE, 0, rows.numbers["FLAGS"])
    nop = ((recid == Rec.EMPTY) | (recid == NONE)) & (rows.start == rows.end)
    nop &= (rows.numbers["RELID"] == NONE) | (rows.numbers["FLAGS"] == 0)
    ends = np.append(rows.session[1:] != rows.session[:-1], True)
    stopped = (flags & layouts.FLAG_SHUTDOWN) > 0
    control = ~nop & ((recid == Rec.START) | (recid == Rec.COMMIT))
    open_at = -1
    for row in np.flatnonzero(control | stopped | ends).tolist():
        if control[row] and recid[row] == Rec.START:
            if open_at >= 0:
                _close(bounds, open_at, row - 1, "C", False, flags)
            open_at = row
        elif control[row]:
            if open_at >= 0:
                _close(bounds, open_at, row, "C", True, flags)
            elif bounds.first or rows.session[row]:
                raise InputError(
                    "LR2030",
                    "found a commit without a start; expected both",
                    rows.where(row, "RECID"),
                    _AGAIN,
                )
            open_at = -1
        if (stopped[row] or ends[row]) and open_at >= 0:
            _close(bounds, open_at, row, "F", False, flags)
            open_at = -1
    for number, (first, last) in enumerate(zip(bounds.first, bounds.last, strict=True)):
        bounds.unit[first : last + 1] = number
    bounds.unit[nop] = -1
    open_rows = int((np.append(np.array(bounds.disposition), 0)[bounds.unit] == ord("F")).sum())
    if open_rows:
        bounds.warnings.append(
            f"{open_rows} row(s) at an end of the log are of transactions whose commit is not in"
            " it; they are left out"
        )
    _orphans(rows, bounds, nop)
    begin = bounds.first[0] if bounds.first else len(rows)
    if not bounds.headless and (recid[:begin] == Rec.COMMIT).any():
        bounds.warnings.append(
            "the log begins with the commit of a transaction that is not in it; begin an export at"
            " the LOGADDR of a COMMIT"
        )
    sequence = rows.files[0].sequence
    if sequence is not None and sequence[0] > 1:
        bounds.warnings.append(
            f"the rows begin with SEQ {sequence[0]}; those before it are not in the files that were"
            " given"
        )
    _commits_rise(rows, bounds)
    return bounds


def _close(
    bounds: SolidTransactions, first: int, last: int, disposition: str, whole: bool, flags: Index
) -> None:
    bounds.first.append(first)
    bounds.last.append(last)
    bounds.disposition.append(ord(disposition))
    bounds.whole.append(whole)
    bounds.repeated.append(False)
    bounds.flags.append(int(flags[first]))


def _orphans(rows: Joined, bounds: SolidTransactions, nop: Mask) -> None:
    """Rows outside of transactions: those before the first one are the rest of a unit that began
    earlier; others cannot be."""
    recid = rows.numbers["RECID"]
    table = rows.numbers["RELID"]
    loose = (bounds.unit < 0) & ~nop
    holds = loose & (
        np.isin(recid, layouts.DATA_RECS)
        | ((table >= layouts.FIRST_USER_TABLE) & (recid != Rec.COMMIT))
    )
    begin = bounds.first[0] if bounds.first else len(rows)
    wrong = np.flatnonzero(holds & (np.arange(len(rows)) >= begin))
    if len(wrong):
        message = "found a row outside of any transaction; expected it between a start and a commit"
        raise InputError("LR2030", message, rows.where(int(wrong[0]), "RECID"), _AGAIN)
    bounds.headless = int(holds.sum())
    if bounds.headless:
        first = (
            f"the first whole one begins at record {int(rows.row[begin]) + 1}"
            if bounds.first
            else "no whole one follows"
        )
        bounds.warnings.append(
            f"{bounds.headless} row(s) at the beginning belong to a transaction whose start is not"
            f" in the log; {first}. Begin an export at the LOGADDR of a COMMIT"
        )
    strange = np.unique(recid[loose & ~holds & ~np.isin(recid, list(Rec))]).tolist()
    if strange:
        bounds.warnings.append(
            f"records of unpublished kinds (RECID {', '.join(map(str, strange))}) outside of"
            " transactions were passed over"
        )


def _commits_rise(rows: Joined, bounds: SolidTransactions) -> None:
    """Commits come in the order of their addresses within a read session (section 6)."""
    done = [last for last, whole in zip(bounds.last, bounds.whole, strict=True) if whole]
    before: dict[int, int] = {}
    for row in done:
        if rows.address_null[row]:
            raise InputError(
                "LR2010",
                "found a commit without LOGADDR; expected one",
                rows.where(row, "LOGADDR"),
                "Export it again",
            )
        session = int(rows.session[row])
        if session in before and rows.address_of(row) <= rows.address_of(before[session]):
            found_text = (
                f"found a commit at {rows.address_of(row).hex().upper()} after"
                f" {rows.address_of(before[session]).hex().upper()}"
            )
            raise InputError(
                "LR2030",
                f"{found_text}; expected commits in log order",
                rows.where(row, "LOGADDR"),
                _ORDER,
            )
        before[session] = row


# -- sessions
# -------------------------------------------------------------------------------------------------


def check_sessions(
    rows: Joined, bounds: SolidTransactions, manifest: Manifest, accept: bool
) -> list[str]:
    """Hold the read sessions against the manifest and each other; mark transactions that an earlier
    session held. Warnings about accepted gaps.

    InputError LR2006 where rows are missing that the manifest knows of, LR2017 where a transaction
    comes twice with different rows; Refusal LR2034 where changes may be missing between two
    sessions.
    """
    filled = np.unique(rows.session[~np.isin(rows.numbers["RECID"], (NONE, Rec.EMPTY))])
    commits: list[list[int]] = [[] for _ in filled]
    for unit, last in enumerate(bounds.last):
        if bounds.whole[unit]:
            commits[int(np.searchsorted(filled, rows.session[last]))].append(unit)
    _mark_repeated(rows, bounds, commits)
    recorded = _recorded_sessions(rows, filled, manifest)
    if not recorded:
        _check_recorded(rows, bounds, manifest)
    for number, entry in enumerate(recorded):
        end = rows.address_of(bounds.last[commits[number][-1]]) if commits[number] else None
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
    warnings = []
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
        ended = rows.address_of(bounds.last[commits[number][-1]]) if commits[number] else start
        reached = max(filter(None, (reached, ended)), default=None)
    return warnings


def _recorded_sessions(
    rows: Joined, filled: Index, manifest: Manifest
) -> Sequence[Mapping[str, Any]]:
    """What the manifest says of each read session that has rows: by the number in SESSION, else in
    order where it has as many."""
    if all(part.session is not None for part in rows.files):
        first = np.searchsorted(rows.session, filled)
        values = np.concatenate([part.session for part in rows.files if part.session is not None])[
            first
        ].tolist()
        if len(set(values)) == len(filled) and all(
            0 <= value < len(manifest.sessions) for value in values
        ):
            return [manifest.sessions[value] for value in values]
    held = _held(manifest.sessions)
    return next(
        (entries for entries in (manifest.sessions, held) if len(entries) == len(filled)), ()
    )


def _check_recorded(rows: Joined, bounds: SolidTransactions, manifest: Manifest) -> None:
    """InputError LR2006 where the manifest names a commit that is not there."""
    there = {
        rows.address_of(last)
        for last, whole in zip(bounds.last, bounds.whole, strict=True)
        if whole
    }
    for entry in _held(manifest.sessions):
        if entry["last_commit_logaddr"] not in there:
            message = (
                f"found no commit at {entry['last_commit_logaddr'].hex().upper()}; expected it, as"
                " the last one of a session in the manifest"
            )
            raise InputError(
                "LR2006", message, Where(rows.files[-1].name), "Give all files of the export, whole"
            )


def _mark_repeated(rows: Joined, bounds: SolidTransactions, commits: list[list[int]]) -> None:
    by_address: dict[bytes, int] = {}
    for units in commits:
        for unit in units:
            address = rows.address_of(bounds.last[unit])
            if address in by_address:
                if not _same_rows(rows, bounds, by_address[address], unit):
                    message = (
                        f"found the transaction of {address.hex().upper()} twice, with different"
                        " rows; expected the same"
                    )
                    raise InputError(
                        "LR2017", message, rows.where(bounds.first[unit]), "Export the log again"
                    )
                bounds.repeated[unit] = True
            by_address.setdefault(address, unit)


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
