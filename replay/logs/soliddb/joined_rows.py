"""The rows of all files of a SYS_LOG export as one log, in the order in which they were exported,
and the read session of each (sections 4 and 10).

The order of the rows is the order of the commits. What contradicts that ends the reading: rows that
come out of order or twice cannot be told from rows that are missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index, Mask
from replay.errors import InputError, Where
from replay.logs.soliddb import layouts
from replay.logs.soliddb.export import NONE, Named, SyslogRows
from replay.logs.soliddb.layouts import Rec
from replay.spill import Spill, windows

#: RECIDs of rows that hold nothing.
BLANK = (NONE, int(Rec.EMPTY))

#: What to do where rows are not in order.
ORDER = "Give the files in the order in which they were exported, each once and whole, with SEQ"


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
    arrays: Spill

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


def in_order(files: Sequence[SyslogRows]) -> tuple[list[SyslogRows], list[str]]:
    """The files in the order of the commits in them, whose addresses rise, and a warning where they
    were named in another one. A file that begins with a SEQ above 0 goes on with the one before,
    and one without commits stays behind it."""
    groups = _going_on(files)
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
    taken = [part for number in order for part in groups[number]]
    moved = [pair for pair in zip(taken, files, strict=True) if pair[0] is not pair[1]]
    told = [
        "read sessions are taken in the order of their commits, not as they are named:"
        f" {one.name} comes before {other.name}"
        for one, other in moved[:1]
    ]
    return taken, told


def _going_on(files: Sequence[SyslogRows]) -> list[list[SyslogRows]]:
    """Files that go on with each other by SEQ, one behind the other."""
    next_of: dict[int, int] = {}
    for nearest in (True, False):
        for number, part in enumerate(files):
            begin = int(part.sequence[0]) if part.sequence is not None and len(part) else 0
            if not begin or number in next_of.values():
                continue
            for before in [number - 1] if nearest else range(len(files)):
                ends = files[before].sequence if before >= 0 and before not in next_of else None
                if ends is not None and len(ends) and int(ends[-1]) + 1 == begin:
                    next_of[before] = number
                    break
    groups = []
    for first in sorted(set(range(len(files))) - set(next_of.values())):
        group = [first]
        while group[-1] in next_of:
            group.append(next_of[group[-1]])
        groups.append([files[number] for number in group])
    return groups


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
            ORDER,
        )
    sizes = {part.address.shape[1] for part in files if part.address.shape[1]}
    if len(sizes) > 1:
        raise InputError(
            "LR2010",
            "found LOGADDRs of 20 and of 28 bytes; expected one length",
            Where(files[-1].name),
            ORDER,
        )
    size = max(sizes, default=layouts.ADDRESS_SIZES[0])
    arrays = Spill(folder)
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
    _count_sessions(joined, sessions)
    return joined


def _addresses(part: SyslogRows, size: int, arrays: Spill) -> Bytes:
    """LOGADDRs behind each other, zeros for those of a file that has none."""
    if part.address.shape[1]:
        return part.address.reshape(-1)
    return arrays.zeros(len(part) * size, np.uint8)


def _count_sessions(rows: Joined, manifest: Sequence[Mapping[str, Any]]) -> None:
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
                    ORDER,
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
        raise InputError("LR2030", message, rows.where(part.start + at, "SEQ"), ORDER)


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
