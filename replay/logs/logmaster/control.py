"""The control file: what it says about the log and the layout of its data record headers (format
notes, sections 2 to 5)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from replay.changes.catalog import Catalog
from replay.decoding.layout import Layout
from replay.errors import InputError, Where
from replay.logs.logmaster import framing
from replay.logs.logmaster.control_catalog import CatalogBuilder, digits_of, widened
from replay.logs.logmaster.framing import Framing, RecordShape, detect_control
from replay.logs.logmaster.layouts import (
    CONTROL,
    DICL,
    DICL_ENTRY,
    FIXED_LENGTH,
    NAMED_ONLY,
    REMAKE_CONTROL,
    ControlRecord,
    header_layout,
)

_NO_POSITION = {bytes(10), b"\xff" * 10, b"\0" + b"\xff" * 6 + bytes(3), bytes(4) + b"\xff" * 6}


@dataclass(frozen=True)
class ControlFile:
    """A control file. ``common`` is the XTYP record's fields, ``data_set`` those of DLDS and
    ``end`` those of DLGE (empty when there is none)."""

    name: str
    framing: Framing
    common: Mapping[str, Any]
    data_set: Mapping[str, Any]
    end: Mapping[str, Any]
    header: Layout
    header_described: bool
    catalog: Catalog
    counts: Mapping[str, int]
    unknown: Mapping[str, int] = field(default_factory=dict)
    filters: tuple[str, ...] = ()

    @property
    def system_id(self) -> bytes:
        """CNTLFILESYSID as it stands in the data records: four EBCDIC bytes."""
        return str(self.common["CNTLFILESYSID"]).ljust(4).encode("cp037")

    @property
    def dependent_position(self) -> bytes | None:
        """DLGE.DEPENDENTRBA, None where there is no record or it says "none" (section 7.4)."""
        value = self.end.get("DEPENDENTRBA")
        return None if value is None or value in _NO_POSITION else value


def read_control(
    raw: bytes,
    name: str,
    framed: Framing | None,
    ccsids: Mapping[str, int],
    known: dict[bytes, Catalog] | None = None,
) -> ControlFile:
    """Parse a control file. ``ccsids`` overrides the single-byte CCSID per encoding scheme (keys A,
    E, U); ``known`` keeps the catalogs of control files, for others that say the same.

    Raises InputError with the record's number and offset for a missing record, an unusable field or
    columns that contradict each other.
    """
    kind = detect_control(raw[:16], name, framed)
    records = list(control_records(raw, kind, name))
    by_tag: dict[str, list[ControlRecord]] = {}
    for record in records:
        by_tag.setdefault(record.tag, []).append(record)
    common = CONTROL["XTYP"].read(by_tag["XTYP"][0].raw)
    if common["CNTLFILETYPE"] != "DB2":
        first = by_tag["XTYP"][0]
        raise InputError(
            "LR2009",
            f"found {common['CNTLFILETYPE']!r}; expected 'DB2'",
            Where(name, first.number, first.offset, "CNTLFILETYPE"),
            REMAKE_CONTROL,
        )
    data_set = CONTROL["DLDS"].read(by_tag["DLDS"][0].raw) if "DLDS" in by_tag else {}
    end = _end(by_tag["DLGE"][0].raw) if "DLGE" in by_tag else {}
    header = header_layout(by_tag.get("XHDF", []), name)
    catalog = _catalog(CatalogBuilder(name, common, data_set, ccsids), by_tag, known)
    counts = Counter(record.tag for record in records)
    return ControlFile(
        name,
        kind,
        common,
        data_set,
        end,
        header,
        "XHDF" in by_tag,
        catalog,
        counts,
        {tag: count for tag, count in counts.items() if tag not in CONTROL},
        tuple(
            CONTROL["DFDS"].read(record.raw)["DESCRIPTION"] or ""
            for record in by_tag.get("DFDS", [])
        ),
    )


#: Control records whose text is of one log alone, beside what the settings of
#: :class:`CatalogBuilder` say.
_OF_ONE_LOG = frozenset({"XTYP", "DLDS", "DLGE", "DFID", "DFDS"})


def _catalog(
    tables: CatalogBuilder,
    by_tag: Mapping[str, list[ControlRecord]],
    known: dict[bytes, Catalog] | None,
) -> Catalog:
    """The catalog of a control file, or that of another one with the same records and settings."""
    if known is None:
        return tables.catalog(by_tag)
    digest = hashlib.sha256(repr(tables.settings).encode())
    for tag in sorted(set(by_tag) - _OF_ONE_LOG):
        for record in by_tag[tag]:
            digest.update(len(record.raw).to_bytes(4))
            digest.update(record.raw)
    key = digest.digest()
    if key not in known:
        known[key] = tables.catalog(by_tag)
    return known[key]


def _end(raw: bytes) -> dict[str, Any]:
    """The DLGE record, with the positions of releases before v11.1 (:func:`digits_of`) as they are
    in their logs (:func:`widened`)."""
    values = CONTROL["DLGE"].read(raw)
    for name in ("ENDRBA", "DEPENDENTRBA"):
        if digits := digits_of("DLGE", raw, name):
            values[name] = widened(digits)
    return values


# -- records
# -------------------------------------------------------------------------------------------------

#: Bytes of a control file whose records are found at once.
_CONTROL_BLOCK = 32 << 20


def control_records(raw: bytes, kind: Framing, name: str) -> Iterator[ControlRecord]:
    """The records of a control file in order. InputError where one ends after the file does."""
    if kind is Framing.NONE:
        yield from _bare_records(raw, name)
        return
    buffer = np.frombuffer(raw, np.uint8)
    number = 1
    for block in framing.blocks(buffer, kind, RecordShape(0, b""), name, _CONTROL_BLOCK):
        offsets = block.offsets.tolist()
        ends = (block.offsets + block.lengths).tolist()
        records = [raw[start:end] for start, end in zip(offsets, ends, strict=True)]
        tags = [record[:4] for record in records]
        names = {tag: tag.decode("cp037") for tag in set(tags)}
        numbers = range(number, number + len(records))
        yield from map(
            ControlRecord._make,
            zip([names[tag] for tag in tags], records, numbers, offsets, strict=True),
        )
        number += len(records)


#: Lengths that records of some releases have in place of the layout's: the page of DTBI ends it at
#: 704 and 703 bytes too, before its last fields (section 4.6).
_SHORTER = {"DTBI": (704, 703)}


def _bare_records(raw: bytes, name: str) -> Iterator[ControlRecord]:
    """Records without descriptor words: known lengths where they are certain, else up to the next
    known tag (section 2.3). All records of a tag that is of fixed length are as long as the first,
    so that one which the end of the file cuts off is told from a shorter layout."""
    tags = [tag.encode("cp037") for tag in (*CONTROL, *NAMED_ONLY)]
    place, number = 0, 1
    lengths: dict[str, int] = {}
    while place < len(raw):
        tag = raw[place : place + 4].decode("cp037")
        sizes: tuple[int, ...] = ()
        if tag in FIXED_LENGTH:
            any_of = (CONTROL[tag].size, *_SHORTER.get(tag, ()))
            sizes = (lengths[tag],) if tag in lengths else any_of
        elif tag == "DICL" and place + DICL.size <= len(raw):
            count = DICL.read(raw[place : place + DICL.size])["IXCOLRECKEYCOUNT"] or 0
            sizes = (DICL.size + DICL_ENTRY.size * count,)
        end = next(
            (
                place + size
                for size in sizes
                if place + size == len(raw) or raw[place + size : place + size + 4] in tags
            ),
            0,
        )
        if end:
            lengths.setdefault(tag, end - place)
        else:
            found = (raw.find(known, place + 4) for known in tags)
            end = min((at for at in found if at >= 0), default=len(raw))
            least = sizes[0] if sizes else 0
            if end == len(raw) and end - place < least:
                hint = "The file is truncated: transfer it again"
                raise InputError(
                    "LR2006",
                    f"found the end of the file at {end}; expected record {tag} to go on to"
                    f" {place + least}",
                    Where(name, number, place),
                    hint,
                )
        yield ControlRecord(tag, raw[place:end], number, place)
        place, number = end, number + 1
