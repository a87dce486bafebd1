"""Whether the header of a data record can be right, field by field; and what the headers of
one log have in common, learned from its first records and asked of all: that a change lies between
the begin and the commit of its unit, that positions are filled, what SEGLEN counts. What the first
records do not show is not asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Mask, Versions
from replay.changes.envelope import Change
from replay.decoding import codecs
from replay.errors import InputError
from replay.logs import urids
from replay.logs.logmaster.framing import RecordShape
from replay.logs.logmaster.headers import TO_ASCII, Headers, zero

#: What may be wrong where a header or the images behind it are.
DAMAGED_OR_FOREIGN = "The record is damaged, or the control file belongs to another log"
#: Codes of what a wrong field means; LR2010 for others.
_CODES = {"CHANGE TYPE": "LR2012", "TBOBID": "LR2011", "SYSTEMID": "LR2007"}


def broken_checks(
    envelope: Headers,
    lengths: npt.NDArray[Any],
    change: Bytes,
    version: Versions,
    shape: RecordShape,
    rules: HeaderRules,
) -> Iterator[tuple[str, str, Mask]]:
    """(field, what is expected of it, which of ``n`` records break it) of each check.

    ``lengths`` are the bytes of the records, ``change`` and ``version`` what
    :meth:`replay.logs.logmaster.reader.LogmasterLog.classify` says of them; ``shape`` and ``rules``
    are those of the log."""
    yield (
        "LENGTH",
        f"a record of at least {shape.header} bytes",
        lengths < shape.header,
    )
    yield (
        "LENGTH",
        f"{shape.header}, as in the other records",
        envelope.number("LENGTH") != shape.header,
    )
    yield (
        "SYSTEMID",
        f"{shape.system_id.decode('cp037')!r}",
        ~_of_system(envelope, shape),
    )
    yield (
        "CHANGE TYPE",
        "a known change type: UB, I, IL, D, DM, DT, DR, E, CO, CM or SC",
        change == 0,
    )
    needs_table = (change > 0) & (change <= Change.EXCHANGE)
    of_a_unit = needs_table | (
        change == 0
    )  # what the page says of commands, status and catalog changes leaves their unit open
    for name, codes, meaning in (
        ("LOGRECDISP", "CASO", "C, A, S or O"),
        ("UORDISP", "CA", "C or A"),
        ("SQLTYPE", "UR ", "U, R or blank"),
        ("SQLSRCTYPE", " RBTH", "blank, R, B, T or H"),
    ):
        unknown = np.ones(256, bool)
        unknown[[ord(code) for code in codes]] = False
        yield name, meaning, unknown[envelope.code(name)] & of_a_unit
    yield (
        "UORCOMMITTIMESTAMP",
        "34 packed decimal digits",
        ~_all_digits(envelope.commit_time()) & of_a_unit,
    )
    yield (
        "LOGRBA",
        "the RBA of the change, by which changes are ordered",
        envelope.unplaced() & needs_table,
    )
    segment, total = envelope.segment(), envelope.segments()
    yield "SEGNUM", "no more than TOTALSEGS", segment > np.maximum(total, 1)
    unit, record = envelope.unit_disposition(), envelope.disposition()
    yield (
        "LOGRECDISP",
        "C, S or O in a committed unit of recovery",
        (unit == ord("C")) & (record == ord("A")),
    )
    yield (
        "LOGRECDISP",
        "A, S or O in an aborted unit of recovery",
        (unit == ord("A")) & (record == ord("C")) & of_a_unit,
    )
    yield (
        "TBOBID",
        "a table that a DTBI record of the control file describes",
        needs_table & (version < 0),
    )
    nameless = needs_table & zero(envelope.position("UORID"))
    yield "UORID", "the RBA at which the unit begins", nameless
    yield from rules.broken(envelope, lengths, change)


def code_of(field: str) -> str:
    """The code of an error in a field."""
    return _CODES.get(field, "LR2010")


def unit_is_told(
    envelope: Headers, lengths: npt.NDArray[Any], shape: RecordShape, needed: int
) -> Mask:
    """Whether what identifies the unit of recovery can be believed although something else in the
    header is wrong, of each of ``n`` records of ``lengths`` bytes, of which a header takes
    ``needed``."""
    good: Mask = (lengths >= needed) & _of_system(envelope, shape)
    good &= np.isin(envelope.unit_disposition(), (ord("C"), ord("A"))) & _all_digits(
        envelope.commit_time()
    )
    return good & envelope.commit().any(axis=1) & urids(envelope).any(axis=1)


def _of_system(envelope: Headers, shape: RecordShape) -> Mask:
    return codecs.equal_rows(
        envelope.raw("SYSTEMID"), np.frombuffer(shape.system_id, np.uint8)[None, :]
    )


def field_found(envelope: Headers, name: str, length: int) -> str:
    """What a field of the only header, of a record of ``length`` bytes, holds, for messages."""
    if name == "TBOBID":
        ids = (bytes(envelope.raw(part)[0]).hex().upper() for part in ("DBID", "PSID", "TBOBID"))
        return f"DBID/PSID/TBOBID {'/'.join(ids)}"
    if name == "LENGTH":
        return f"{int(envelope.number('LENGTH')[0])} in a record of {length} bytes"
    raw = bytes(envelope.raw(name)[0])
    if name in ("SEGNUM", "UORCOMMITTIMESTAMP", "LOGRBA"):
        return f"X'{raw.hex().upper()}'"
    text = bytes(TO_ASCII[np.frombuffer(raw, np.uint8)]).decode("latin-1")
    return f"X'{raw.hex().upper()}' ({text!r})"


def _all_digits(packed: Bytes) -> Mask:
    """Whether every nibble of ``uint8[n, 17]`` is a decimal digit: one above 9 has its highest bit
    set and one of the two below it."""
    wrong = np.zeros(len(packed), np.uint64)
    for word in (
        packed[:, :8].view(np.uint64)[:, 0],
        packed[:, 8:16].view(np.uint64)[:, 0],
        packed[:, 16].astype(np.uint64),
    ):
        wrong |= (word >> 3) & ((word >> 2) | (word >> 1)) & 0x1111_1111_1111_1111
    return np.asarray(wrong == 0)


# -- what the headers of one log have in common
# -------------------------------------------------------------------------------------------------

#: (earlier field, later field) of the log of one member.
_RISING = (
    ("UORID", "LOGRBA"),
    ("LOGRBA", "UORCOMMITPOINT"),
    ("UORIDLRSN", "LOGLRSN"),
    ("LOGLRSN", "UORCOMMITLRSN"),
)


@dataclass(frozen=True)
class HeaderRules:
    """``rising``: pairs of positions that never stand the other way round; ``commits``: units have
    commit LRSNs, or have none and commit at RBAs (None: no record tells); ``lengths``: by how many
    bytes SEGLEN exceeds the length of a first, and of a later, segment, None where it has no one
    meaning."""

    rising: tuple[tuple[str, str], ...] = ()
    commits: bool | None = None
    lengths: tuple[int | None, int | None] = (None, None)

    @classmethod
    def settled(
        cls, envelope: Headers, lengths: npt.NDArray[np.integer], change: Bytes, header: int
    ) -> HeaderRules:
        """The rules that these records keep, but for a few that are damaged. InputError (LR2007)
        where some units commit at LRSNs and some at RBAs, which tell no order."""
        rows = _of_rows(change)
        names = envelope.layout.names
        ordered = () if "ORDERVALUE" in names else _RISING
        pairs = [pair for pair in ordered if set(pair) <= set(names)]
        rising = tuple(pair for pair in pairs if _most(~_fallen(envelope, *pair)[rows]))
        done = rows & (envelope.unit_disposition() == ord("C"))
        filled = ~zero(envelope.position("UORCOMMITLRSN"))[done]
        commits = True if _most(filled) else False if _most(~filled) else None
        if commits is None and len(filled):
            raise InputError(
                "LR2007",
                f"found UORCOMMITLRSN of zero in {len(filled) - int(filled.sum()):,} of"
                f" {len(filled):,} records; expected it in all or none: LRSNs and RBAs of commits"
                " cannot be compared",
                hint="Give the logs from before and after data sharing began in runs of their own",
            )
        excess: list[int | None] = [None, None]
        if "SEGLEN" in names:
            more = _excess(envelope, lengths)
            for place, segments in enumerate(_first_and_later(envelope)):
                mine = more[rows & segments]
                kept = [n for n in (0, 4, -header, -header - 2) if _most(mine == n & 0xFFFF)]
                excess[place] = kept[0] if kept else None
        return cls(rising, commits, (excess[0], excess[1]))

    def broken(
        self, envelope: Headers, lengths: npt.NDArray[np.integer], change: Bytes
    ) -> Iterator[tuple[str, str, Mask]]:
        """(field, what is expected of it, records that break it)."""
        rows = _of_rows(change)
        for earlier, later in self.rising:
            field = earlier if earlier.startswith("LOG") else later
            other = later if field == earlier else earlier
            where = f"at most {other}" if field == earlier else f"at least {other}"
            yield field, f"{where}, within the unit", _fallen(envelope, earlier, later) & rows
        if self.commits is not None:
            unfilled = zero(envelope.position("UORCOMMITLRSN"))
            committed = (envelope.member() != 0) | (envelope.unit_disposition() == ord("C"))
            yield (
                "UORCOMMITLRSN",
                "the LRSN of the commit, as other records have it"
                if self.commits
                else "zero, as in other records: their units commit at RBAs",
                rows & (unfilled & committed if self.commits else ~unfilled),
            )
        if self.lengths != (None, None) and "SEGLEN" in envelope.layout.names:
            more = _excess(envelope, lengths)
            for excess, segments in zip(self.lengths, _first_and_later(envelope), strict=True):
                if excess is not None:
                    wrong = (more != excess & 0xFFFF) & segments & rows
                    yield "SEGLEN", "the length of the segment", wrong


def _of_rows(change: Bytes) -> Mask:
    return np.asarray((change > 0) & (change <= Change.DELETE))


def _most(kept: Mask) -> bool:
    """Whether all keep a rule but one, or one in fifty."""
    breaks = len(kept) - int(kept.sum())
    return breaks * 2 < len(kept) and breaks <= max(1, len(kept) // 50)


def _fallen(envelope: Headers, earlier: str, later: str) -> Mask:
    """Records whose later position lies before the earlier one; zeros tell nothing."""
    first, first_low = _words(envelope.position(earlier))
    second, second_low = _words(envelope.position(later))
    fallen = (first > second) | ((first == second) & (first_low > second_low))
    return np.asarray(fallen & ((second | second_low) != 0))


def _words(position: Bytes) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint16]]:
    return (
        position[:, :8].view(">u8")[:, 0].astype(np.uint64),
        position[:, 8:].view(">u2")[:, 0].astype(np.uint16),
    )


def _excess(envelope: Headers, lengths: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """By how much SEGLEN exceeds the length of each record, in 16 bits."""
    return np.asarray((envelope.number("SEGLEN").astype(np.int64) - lengths) & 0xFFFF)


def _first_and_later(envelope: Headers) -> tuple[Mask, Mask]:
    first = np.asarray(envelope.segment() <= 1)
    return first, ~first


def position_faults(log: Any, envelope: Headers) -> Sequence[tuple[str, str, str, Mask]]:
    """(field, found, expected, records) for changes that lie outside of their unit, for ``logreplay
    check``: what is told of both positions must not stand the other way round; zeros tell
    nothing."""
    found = []
    for earlier, later in _RISING:
        wrong = _fallen(envelope, earlier, later)
        if wrong.any():
            name = earlier if earlier.startswith("LOG") else later
            found.append((name, f"{earlier} above {later}", f"at most {later}", wrong))
    return found


def records_rise(log: Any) -> bool:
    """Whether records are placed by LOGRBA."""
    return "ORDERVALUE" not in log.control.header.names
