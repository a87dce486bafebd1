"""How the read sessions of a SYS_LOG export follow one another (section 10): what lies between them
may be missing, and what two of them hold is there once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from replay.arrays import Hashes, Index
from replay.decoding.codecs import same_bytes
from replay.decoding.hashes import mixed
from replay.errors import InputError, Refusal, Where
from replay.logs.soliddb.joined_rows import BLANK, Joined, held_sessions
from replay.logs.soliddb.manifest import Manifest
from replay.logs.soliddb.transactions import SolidTransactions
from replay.spill import windows


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
            bounds.copy_of[unit] = first
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
