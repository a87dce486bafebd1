"""A block of data record headers, field by field, in one form whatever release wrote them; and
whether they can be right.

Headers before v11.1 hold 6-byte LRSNs and RBAs and 26-character timestamps (spec 4.2). Here every
position has 10 bytes and every timestamp the 17 packed bytes of the current layout, placed as the
seed's footnote says: a 6-byte LRSN at byte 1, a 6-byte RBA at byte 4.

What the headers of one log have in common is learned from its first records and asked of all: that
a change lies between the begin and the commit of its unit, that positions are filled, what SEGLEN
counts. What the first records do not show is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index, Mask, Versions
from replay.changes.envelope import (
    DISPOSITIONS,
    ORIGINS,
    SQLTYPES,
    UNIT_DISPOSITIONS,
    Change,
)
from replay.decoding import codecs
from replay.decoding.layout import Layout
from replay.errors import InputError
from replay.logs import urids
from replay.logs.change_types import CHANGE_OF_TYPE
from replay.logs.logmaster.framing import RecordShape
from replay.logs.logmaster.layouts import CLOCK
from replay.logs.text import hexadecimal

_RBA_FIELDS = frozenset({"LOGRBA", "UORID", "UORCOMMITPOINT"})

#: Header text is EBCDIC of the originating subsystem; names, ids and codes use its invariant
#: characters, on which all code pages agree.
TO_ASCII = np.frombuffer(bytes(range(256)).decode("cp037").encode("latin-1", "replace"), np.uint8)

_NAMES = {
    "authid": "AUTHID",
    "plan": "PLAN",
    "correlation": "CORRELATIONID",
    "connection": "CONNECTID",
    "database": "DBNAME",
    "tablespace": "TSNAME",
}
_NUMBERS = {"database": "DBID", "tablespace": "PSID", "partition": "PARTNUM"}
_LUW = ("LUWNETWORKID", "LUWNAME", "LUWINSTANCENO", "LUWSEQUENCENO")

#: Facts, and the header fields that hold them; a header that XHDF records describe may lack some.
OPTIONAL: dict[str, tuple[str, ...]] = {
    "authorization ids": ("AUTHID",),
    "plans": ("PLAN",),
    "correlation ids": ("CORRELATIONID",),
    "connections": ("CONNECTID",),
    "logical units of work": _LUW,
    "databases": ("DBNAME",),
    "table space names": ("TSNAME",),
    "partitions": ("PARTNUM",),
    "pages": ("RID",),
    "row identifiers": ("RID",),
}


#: What codes mean, by field.
CODE_MEANINGS: dict[str, Mapping[str, str]] = {
    "CHANGE TYPE": {
        code.strip(): kind.name.lower().replace("_", " ") for code, kind in CHANGE_OF_TYPE.items()
    },
    "LOGRECDISP": DISPOSITIONS,
    "UORDISP": UNIT_DISPOSITIONS,
    "SQLSRCTYPE": {code.strip() or "blank": meaning for code, meaning in ORIGINS.items()},
    "SQLTYPE": {code.strip() or "blank": meaning for code, meaning in SQLTYPES.items()},
}


def zero(position: Bytes) -> Mask:
    """Which rows of ``uint8[n, 10]`` are zero: by two machine words, as any(axis=1) costs four
    times as much."""
    unfilled: Mask = (
        position[:, :8].view(np.uint64)[:, 0] | position[:, 8:].view(np.uint16)[:, 0]
    ) == 0
    return unfilled


class Headers:
    """``block`` is ``uint8[n, H]``, one header a row; ``layout`` names its fields. Implements
    :class:`replay.changes.envelope.Envelope`."""

    def __init__(self, layout: Layout, block: Bytes) -> None:
        self.layout = layout
        self.block = block
        self._codes: dict[str, Bytes] = {}
        self._numbers: dict[str, Index] = {}

    def __len__(self) -> int:
        return len(self.block)

    def raw(self, name: str) -> Bytes:
        """The bytes of a field, ``uint8[n, width]``."""
        return self.layout.slice(self.block, name)

    def number(self, name: str) -> Index:
        """An unsigned big-endian field."""
        if name not in self._numbers:
            self._numbers[name] = self.layout.integers(self.block, name)
        return self._numbers[name]

    def code(self, name: str) -> Bytes:
        """A one-character field as its ASCII code."""
        if name not in self._codes:
            self._codes[name] = TO_ASCII[self.raw(name)[:, 0]]
        return self._codes[name]

    def position(self, name: str) -> Bytes:
        """An LRSN or RBA as ``uint8[n, 10]``; one of 6 bytes as section 3 widens it."""
        raw = self.raw(name)
        if raw.shape[1] == 10:
            return raw
        wide = np.zeros((len(raw), 10), np.uint8)
        lrsn = (raw[:, 0] >= CLOCK) & (name not in _RBA_FIELDS)
        wide[lrsn, 1:7], wide[~lrsn, 4:] = raw[lrsn], raw[~lrsn]
        return wide

    def time(self, name: str) -> Bytes:
        """A timestamp as 34 packed digits, ``uint8[n, 17]``."""
        raw = self.raw(name)
        if raw.shape[1] == 17:
            return raw
        digits = (
            raw[:, [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 22, 23, 24, 25]] & 0x0F
        )
        packed = np.zeros((len(raw), 17), np.uint8)
        packed[:, :10] = (digits[:, 0::2] << 4) | digits[:, 1::2]
        return packed

    def commit(self) -> Bytes:
        """UORCOMMITLRSN, or UORCOMMITPOINT where that is zero (spec section 8, without data
        sharing)."""
        commit = self.position("UORCOMMITLRSN")
        unfilled = zero(commit)
        return (
            np.where(unfilled[:, None], self.position("UORCOMMITPOINT"), commit)
            if unfilled.any()
            else commit
        )

    def log_position(self) -> Bytes:
        """LOGRBA. A header that names ORDERVALUE is ordered by that (data file page)."""
        if "ORDERVALUE" in self.layout.names:
            raw = self.raw("ORDERVALUE")[:, -10:]
            wide = np.zeros((len(raw), 10), np.uint8)
            wide[:, 10 - raw.shape[1] :] = raw
            return wide
        return self.position("LOGRBA")

    def unplaced(self) -> Mask:
        """Which records do not say where they stand in the log: LOGRBA is zero, and there is no
        ORDERVALUE."""
        return (
            np.zeros(len(self), bool)
            if "ORDERVALUE" in self.layout.names
            else zero(self.position("LOGRBA"))
        )

    def unit(self) -> Bytes:
        """UORID + MEMBERID."""
        return np.concatenate([self.position("UORID"), self.raw("MEMBERID")[:, -2:]], axis=1)

    def unit_position(self) -> Bytes:
        """UORIDLRSN."""
        return self.position("UORIDLRSN")

    def commit_time(self) -> Bytes:
        """UORCOMMITTIMESTAMP."""
        return self.time("UORCOMMITTIMESTAMP")

    def member(self) -> Index:
        """MEMBERID."""
        return self.number("MEMBERID")

    def change_type(self) -> npt.NDArray[np.uint16]:
        """CHANGE TYPE as two ASCII codes, first character high."""
        code = TO_ASCII[self.raw("CHANGE TYPE")].astype(np.uint16)
        return ((code[:, 0] << 8) | code[:, 1]).astype(np.uint16)

    def disposition(self) -> Bytes:
        """LOGRECDISP."""
        return self.code("LOGRECDISP")

    def unit_disposition(self) -> Bytes:
        """UORDISP."""
        return self.code("UORDISP")

    def origin(self) -> Bytes:
        """SQLSRCTYPE."""
        return self.code("SQLSRCTYPE")

    def sqltype(self) -> Bytes:
        """SQLTYPE."""
        return self.code("SQLTYPE")

    def incomplete_unit(self) -> Mask:
        """INCOMPLETETRANS = Y."""
        return self._flag("INCOMPLETETRANS")

    def incomplete_dependency(self) -> Mask:
        """INCOMPLETEDEP = Y."""
        return self._flag("INCOMPLETEDEP")

    def unfinished_unit(self) -> Mask:
        """False: no other log comes."""
        return np.zeros(len(self), bool)

    def _flag(self, name: str) -> Mask:
        return (
            self.code(name) == ord("Y") if name in self.layout.names else np.zeros(len(self), bool)
        )

    def segment(self) -> Index:
        """SEGNUM."""
        return self.number("SEGNUM")

    def segments(self) -> Index:
        """TOTALSEGS."""
        return self.number("TOTALSEGS")

    def take(self, rows: Index) -> Headers:
        """The headers of some rows."""
        return Headers(self.layout, self.block[rows])

    def name(self, kind: str) -> npt.NDArray[np.bytes_]:
        """A name of the unit or of the table's place as ASCII bytes; empty where the header has no
        such field."""
        if kind == "luw":
            return self._logical_units()
        if _NAMES[kind] not in self.layout.names:
            return np.zeros(len(self), "S1")
        text = np.ascontiguousarray(TO_ASCII[self.raw(_NAMES[kind])])
        return text.view(f"S{text.shape[1]}").reshape(-1)

    def _logical_units(self) -> npt.NDArray[np.bytes_]:
        """NETWORK.NAME.INSTANCE.SEQUENCE, the numbers in hexadecimal digits."""
        if not all(name in self.layout.names for name in _LUW):
            return np.zeros(len(self), "S1")
        parts = [self.raw(name) for name in _LUW]
        whole = np.ascontiguousarray(np.concatenate(parts, axis=1))
        values, number = np.unique(
            whole.view(f"V{whole.shape[1]}").reshape(-1), return_inverse=True
        )
        texts = []
        for value in values:
            octets, fields = value.tobytes(), []
            for part in parts:
                fields.append(octets[: part.shape[1]])
                octets = octets[part.shape[1] :]
            names = [
                TO_ASCII[np.frombuffer(field, np.uint8)].tobytes().strip(b" \0")
                for field in fields[:2]
            ]
            texts.append(
                b".".join([*names, *(field.hex().upper().encode() for field in fields[2:])])
            )
        return np.array(texts or [b""], np.bytes_)[number]

    def location(self, kind: str) -> Index:
        """DBID, PSID, PARTNUM, or the page: all of RID but its last byte."""
        if kind != "page":
            name = _NUMBERS[kind]
            found = name in self.layout.names
            return self.number(name).astype(np.int64) if found else np.full(len(self), -1, np.int64)
        page = np.zeros(len(self), np.int64)
        for octet in self.rid()[:, :-1].T:
            page = (page << 8) | octet
        return page if self.rid().shape[1] else np.full(len(self), -1, np.int64)

    def rid(self) -> Bytes:
        """RID: page and row number."""
        return self.raw("RID") if "RID" in self.layout.names else np.zeros((len(self), 0), np.uint8)


def timestamp_text(value: bytes) -> str | None:
    """A packed (or, of older releases, character) timestamp as text; None for zeros, the digits
    where they are no time."""
    block = np.frombuffer(value, np.uint8).reshape(1, -1)
    if len(value) != 17:
        return str(codecs.ebcdic_text(block)[0].as_py())
    texts, bad = codecs.decode_log_timestamp(block)
    return f"{hexadecimal(value)} (not a time)" if bad is not None else texts[0].as_py()


# -- what headers must be
# -------------------------------------------------------------------------------------------------

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
