"""The records of a control file, one after another, with record descriptor words or without (format
notes, sections 2 and 4)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from replay.errors import InputError, Where
from replay.logs.logmaster import framing
from replay.logs.logmaster.framing import Framing, RecordShape
from replay.logs.logmaster.header_layout import ControlRecord
from replay.logs.logmaster.layouts import CONTROL, DICL, DICL_ENTRY, FIXED_LENGTH, NAMED_ONLY

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
