"""A block of data record headers, field by field, in one form whatever release wrote them.

Headers before v11.1 hold 6-byte LRSNs and RBAs and 26-character timestamps (spec 4.2). Here every
position has 10 bytes and every timestamp the 17 packed bytes of the current layout, placed as the
seed's footnote says: a 6-byte LRSN at byte 1, a 6-byte RBA at byte 4.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index, Mask
from replay.changes.envelope import (
    DISPOSITIONS,
    ORIGINS,
    SQLTYPES,
    UNIT_DISPOSITIONS,
)
from replay.decoding import codecs
from replay.decoding.layout import Layout
from replay.logs.change_types import CHANGE_OF_TYPE
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
