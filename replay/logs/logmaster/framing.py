"""Physical records: how a VB data set looks after its transfer, walked along (format notes, section
2).

The walk is exact and verified. It is cut at many points, a record start is guessed after each, all
chains are advanced one record per NumPy step, and every chain must land on the next chain's start;
where one does not, the block is walked one record at a time, so that an error names the very
record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index, Lengths, Mask
from replay.decoding import codecs
from replay.errors import InputError, Where

#: Bytes between two chains of the parallel walk, and the block that is walked at once.
CHAIN_BYTES = 32 << 10
#: How far after a cut a record start is looked for; where none is found, the chain before goes on.
GUESS_BYTES = 4 << 10
BLOCK_BYTES = 64 << 20
#: How far behind a range its last record (or block of records) may go on: tried one after another.
_BEYOND = (128 << 10, 16 << 20)
#: How far a place is looked for from which a file can be walked: twice the longest block.
_SOUGHT = 64 << 10
#: The bytes of a file, of which those from the first number up to the second are there.
Reach = Callable[[int, int], Bytes]
#: In FTP block mode the end of the file may come as an empty block of its own.
_FTP_END = b"\x40\0\0"

#: What to do where a transfer lost the descriptor words.
AGAIN = (
    "Transfer both files again in binary mode with record descriptor words (for FTP: TYPE I and"
    " SITE RDW)"
)


class Framing(Enum):
    """What precedes each record. The value is how many bytes from the start of the file to the
    first record's first byte."""

    NONE = "none"
    RDW = "rdw"
    BDW = "bdw"
    FTP = "ftp"


#: Bytes from the start of a file to the first byte of its first record.
LEAD = {Framing.NONE: 0, Framing.RDW: 4, Framing.BDW: 8, Framing.FTP: 3}


@dataclass(frozen=True)
class RecordShape:
    """What a data record looks like, for guessing record starts and for files without descriptor
    words: LENGTH and SYSTEMID."""

    header: int
    system_id: bytes

    @property
    def pattern(self) -> bytes:
        """The first six bytes of every data record."""
        return self.header.to_bytes(2, "big") + self.system_id


@dataclass(frozen=True)
class Block:
    """Records of the byte range ``start:stop``: where each begins (after its framing bytes) and how
    long it is."""

    start: int
    stop: int
    first_record: int
    offsets: Index
    lengths: Lengths


def blocks(
    buffer: Bytes, framing: Framing, shape: RecordShape, name: str, block_bytes: int = BLOCK_BYTES
) -> Iterator[Block]:
    """As :func:`blocks_of`, of the bytes of a file that are all there. Errors as there."""
    return blocks_of(lambda *_: buffer, len(buffer), framing, shape, name, block_bytes)


def blocks_of(
    reach: Reach,
    size: int,
    framing: Framing,
    shape: RecordShape,
    name: str,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[Block]:
    """All records of a file of ``size`` bytes, in blocks of about ``block_bytes``; every block but
    the last ends where the next begins.

    InputError names the file, record and offset of the first record whose length is impossible or
    that is cut off; all records before it come first.
    """
    start, first = 0, 1
    while start < size:
        try:
            stop = min(start + block_bytes, size)
            block = walk_range(reach, size, framing, shape, name, start, stop, first)
        except InputError as error:
            if error.where.offset is not None and error.where.offset > start:
                stop = error.where.offset
                yield walk_range(reach, size, framing, shape, name, start, stop, first)
            raise
        yield block
        start, first = block.stop, first + len(block.offsets)


def walk_range(
    reach: Reach,
    size: int,
    framing: Framing,
    shape: RecordShape,
    name: str,
    start: int,
    stop: int,
    first_record: int,
) -> Block:
    """As :func:`walk`, of a file of ``size`` bytes whose bytes must be asked for: those behind
    ``stop`` too, as far as a record that begins before it goes on."""
    for beyond in _BEYOND:
        end = min(stop + beyond, size)
        try:
            block = walk(reach(start, end), framing, shape, name, start, stop, first_record)
        except InputError:
            if end < size and beyond < _BEYOND[-1]:
                continue
            raise
        if block.stop <= end:
            return block
    return walk(reach(start, size), framing, shape, name, start, stop, first_record)


def likely_starts(
    reach: Reach, size: int, framing: Framing, shape: RecordShape, start: int, stop: int
) -> Iterator[int]:
    """Places in ``start:stop`` of a file of ``size`` bytes where :func:`walk` may begin: the
    pattern of a record stands there, and records follow one another for a while. None where there
    is none within the length of the longest block of records."""
    lead, pattern = LEAD[framing], shape.pattern
    end = min(stop + lead + len(pattern), start + _SOUGHT, size)
    window = reach(start, end)[start:end].tobytes()
    place = window.find(pattern, lead)
    while 0 <= place < stop - start + lead:
        begin = start + place - lead
        with suppress(InputError):
            walk_range(reach, size, framing, shape, "", begin, min(begin + CHAIN_BYTES, stop), 1)
            yield begin
        place = window.find(pattern, place + 1)


def walk(
    buffer: Bytes,
    framing: Framing,
    shape: RecordShape,
    name: str,
    start: int,
    stop: int,
    first_record: int,
) -> Block:
    """The records that begin in ``start:stop``; ``start`` must be a record's (for BDW a block's)
    start."""
    if framing in (Framing.RDW, Framing.NONE) and stop - start > 4 * CHAIN_BYTES:
        block = _walk_parallel(buffer, framing, shape, start, stop, first_record)
        if block is not None:
            return block
    return _walk_scalar(buffer, framing, shape, name, start, stop, first_record)


def _walk_parallel(
    buffer: Bytes, framing: Framing, shape: RecordShape, start: int, stop: int, first_record: int
) -> Block | None:
    """All chains at once; None when a chain does not close (the scalar walk then finds out why)."""
    lead, pattern = LEAD[framing], shape.pattern
    if not shape.system_id:  # nothing tells where else a record begins
        return None
    begins = [start]
    for cut in range(start + CHAIN_BYTES, stop, CHAIN_BYTES):
        place = buffer[cut + lead : min(cut + GUESS_BYTES, stop)].tobytes().find(pattern)
        if place >= 0 and cut + place > begins[-1]:
            begins.append(cut + place)
    chains = np.array(begins, np.int64)
    goal = np.append(chains[1:], stop)
    position, active = chains.copy(), np.arange(len(chains))
    steps: list[tuple[Index, Index, Index]] = []
    while len(active):
        here = position[active]
        following, size = _next(buffer, framing, shape, here)
        if following is None:
            return None
        steps.append((active, here + lead, size))
        position[active] = following
        if (following > goal[active])[active < len(chains) - 1].any() or (
            following > len(buffer)
        ).any():
            return None
        active = active[following < goal[active]]
    if (position[:-1] != goal[:-1]).any():
        return None
    chain = np.concatenate([step[0] for step in steps])
    order = np.argsort(
        chain.astype(np.uint16) if len(chains) <= 1 << 16 else chain, kind="stable"
    )  # sorting 16 bits is counting
    offsets = np.concatenate([step[1] for step in steps])[order]
    lengths = np.concatenate([step[2] for step in steps])[order].astype(np.int32)
    return Block(start, int(position[-1]), first_record, offsets, lengths)


def _next(
    buffer: Bytes, framing: Framing, shape: RecordShape, here: Index
) -> tuple[Index | None, Index]:
    """(start of the following record or None where something is wrong, length of the record) for
    records that begin at ``here``."""
    if framing is Framing.RDW:
        if int(here.max()) + 4 > len(buffer):
            return None, here
        words: npt.NDArray[np.uint32] = np.ndarray((len(buffer) - 3,), ">u4", buffer, 0, (1,))
        word = words[here].astype(np.int64)
        size = word >> 16
        if (size <= 4).any() or (word & 0xFFFF).any():
            return None, here
        return here + size, size - 4
    if int(here.max()) + shape.header + 2 > len(buffer):
        return None, here
    header = codecs.halfwords(buffer, here)
    if (header != shape.header).any():
        return None, here
    alone = _starts_record(buffer, shape, here + header)  # a record may end with its header
    size = np.where(alone, header, header + codecs.halfwords(buffer, here + header))
    if not _starts_record(buffer, shape, here + size).all():
        return None, here
    return here + size, size


def _starts_record(buffer: Bytes, shape: RecordShape, places: Index) -> Mask:
    """Whether a data record (or the end of the file) is at each place."""
    good: Mask = places == len(buffer)
    inside = places + 6 <= len(buffer)
    pattern = np.frombuffer(shape.pattern, np.uint8)
    rows = np.flatnonzero(inside)
    good[rows] = (buffer[places[rows][:, None] + np.arange(6)] == pattern).all(axis=1)
    return good


def _walk_scalar(
    buffer: Bytes,
    framing: Framing,
    shape: RecordShape,
    name: str,
    start: int,
    stop: int,
    first_record: int,
) -> Block:
    view = memoryview(np.ascontiguousarray(buffer).data)
    step = {Framing.RDW: _rdw, Framing.NONE: _bare, Framing.FTP: _ftp}
    offsets: list[int] = []
    lengths: list[int] = []
    place, number = start, first_record
    while place < stop:
        if framing is Framing.BDW:
            end = _bdw_end(view, place, name, number)
            place += 4
            while place < end:
                offset, size, place = _rdw(view, place, shape, name, number)
                if place > end:
                    found = f"a record that ends at {place}"
                    expected = f"within its block, which ends at {end}"
                    raise _broken(found, expected, Where(name, number, offset - 4, "RDW"))
                offsets.append(offset)
                lengths.append(size)
                number += 1
            continue
        if framing is Framing.FTP and view[place:] == _FTP_END:
            place = len(view)
            break
        offset, size, place = step[framing](view, place, shape, name, number)
        offsets.append(offset)
        lengths.append(size)
        number += 1
    return Block(
        start, place, first_record, np.array(offsets, np.int64), np.array(lengths, np.int32)
    )


def _broken(found: str, expected: str, where: Where) -> InputError:
    return InputError("LR2005", f"found {found}; expected {expected}", where, AGAIN)


def _cut_off(name: str, number: int, place: int, needed: int, size: int) -> InputError:
    message = (
        f"found the end of the file at {size}; expected the record that begins here to go on to"
        f" {place + needed}"
    )
    return InputError(
        "LR2006",
        message,
        Where(name, number, place),
        "The file is truncated: transfer it again, and check that the job that wrote it ended",
    )


def _rdw(
    view: memoryview, place: int, shape: RecordShape, name: str, number: int
) -> tuple[int, int, int]:
    if place + 4 > len(view):
        raise _cut_off(name, number, place, 4, len(view))
    size = int.from_bytes(view[place : place + 2], "big")
    if size <= 4:
        expected = "more than the 4 bytes of the descriptor itself"
        raise _broken(f"length {size}", expected, Where(name, number, place, "RDW"))
    if view[place + 2] or view[place + 3]:
        found = f"X'{view[place : place + 4].hex().upper()}'"
        raise _broken(found, "a length and two zero bytes", Where(name, number, place, "RDW"))
    if place + size > len(view):
        raise _cut_off(name, number, place, size, len(view))
    return place + 4, size - 4, place + size


def _bdw_end(view: memoryview, place: int, name: str, number: int) -> int:
    if place + 4 > len(view):
        raise _cut_off(name, number, place, 4, len(view))
    word = int.from_bytes(view[place : place + 4], "big")
    size = word & 0x7FFFFFFF if word & 0x80000000 else word >> 16
    if size <= 8 or (not word & 0x80000000 and word & 0xFFFF):
        expected = "a block length and two zero bytes"
        raise _broken(f"X'{word:08X}'", expected, Where(name, number, place, "BDW"))
    if place + size > len(view):
        raise _cut_off(name, number, place, size, len(view))
    return place + size


def _ftp(
    view: memoryview, place: int, shape: RecordShape, name: str, number: int
) -> tuple[int, int, int]:
    if place + 3 > len(view):
        raise _cut_off(name, number, place, 3, len(view))
    descriptor, size = view[place], int.from_bytes(view[place + 1 : place + 3], "big")
    where = Where(name, number, place, "FTP block header")
    if not descriptor & 0x80 and not (descriptor & 0x40 and place + 3 + size >= len(view)):
        expected = "X'80' (end of record): records that span FTP blocks are not read"
        raise _broken(f"descriptor X'{descriptor:02X}'", expected, where)
    if size == 0:
        raise _broken("length 0", "a record", where)
    if place + 3 + size > len(view):
        raise _cut_off(name, number, place, 3 + size, len(view))
    return place + 3, size, place + 3 + size


def _bare(
    view: memoryview, place: int, shape: RecordShape, name: str, number: int
) -> tuple[int, int, int]:
    """A record without descriptor: LENGTH, then DATA, whose first halfword is its length; a record
    may also end with its header."""
    where = Where(name, number, place, "LENGTH")
    if place + shape.header > len(view):
        raise _cut_off(name, number, place, shape.header, len(view))
    header = int.from_bytes(view[place : place + 2], "big")
    if header != shape.header:
        hint = (
            "Without record descriptor words a damaged length leaves no way to find the next"
            " record. " + AGAIN
        )
        raise InputError("LR2010", f"found {header}; expected {shape.header}", where, hint)
    size = (
        int.from_bytes(view[place + header : place + header + 2], "big")
        if place + header + 2 <= len(view)
        else 0
    )
    for length in (header, header + size):
        end = place + length
        if end <= len(view) and shape.pattern.startswith(
            bytes(view[end : end + 6])
        ):  # the next one may be cut off
            return place, length, end
    if place + header + max(size, 2) > len(view):
        raise _cut_off(name, number, place, header + max(size, 2), len(view))
    system = shape.system_id.decode("cp037")
    found = f"DATA length {size}, after which no record of {system!r} begins"
    raise _broken(found, "one", Where(name, number, place + header, "DATA"))


# -- how the records of a file are framed
# -------------------------------------------------------------------------------------------------

XTYP_EBCDIC = "XTYP".encode("cp037")
XTYP_ASCII = b"XTYP"
_OTHER_TAGS = frozenset(
    tag.encode("cp037")
    for tag in ("DLDS", "XHDF", "DTBI", "DLCI", "DIXI", "DCXI", "DICL", "DLGE", "DFID", "DFDS")
)


def detect_control(head: bytes, name: str, named: Framing | None = None) -> Framing:
    """The framing of a control file from its first bytes; ``named`` is what the user says.
    InputError for an empty, text-mode, swapped or unknown file, and for one that is framed
    otherwise."""
    if not head:
        raise InputError(
            "LR2002", "found an empty file; expected a Log Master control file", Where(name)
        )
    for framing, lead in LEAD.items():
        if head[lead : lead + 4] == XTYP_EBCDIC:
            return _agreed(framing, named, name)
    if XTYP_ASCII in head[:16]:
        message = (
            "found the ASCII text XTYP; expected EBCDIC (X'E7E3E8D7'): the transfer translated the"
            " file and destroyed its binary fields"
        )
        raise InputError(
            "LR2003",
            message,
            Where(name, offset=head.index(XTYP_ASCII)),
            "Transfer both files again in binary mode",
        )
    for lead in LEAD.values():
        if head[lead : lead + 4] in _OTHER_TAGS:
            message = (
                f"found a {head[lead : lead + 4].decode('cp037')} record; expected the XTYP record"
                " first"
            )
            raise InputError(
                "LR2008",
                message,
                Where(name, 1, lead),
                "Make the control file again with the log, or give the right one",
            )
    if _data_framing(head) is not None:
        raise InputError(
            "LR2007",
            "found a data record; expected the XTYP record of a control file",
            Where(name, 1, 0),
            "Are --control and --data swapped?",
        )
    message = (
        f"found X'{head[:12].hex().upper()}'; expected an XTYP record (X'E7E3E8D7') at byte 0, 3, 4"
        " or 8"
    )
    raise InputError("LR2004", message, Where(name, 1, 0), "Is this the control file? " + AGAIN)


def is_data(head: bytes) -> bool:
    """Whether a file that begins so looks like one of data records, of whatever subsystem."""
    return _data_framing(head) is not None


def _data_framing(head: bytes, system_id: bytes | None = None) -> Framing | None:
    """The framing under which the first bytes look like a data record: LENGTH of a header, then
    four letters or digits (or ``system_id``)."""
    for framing in (Framing.RDW, Framing.BDW, Framing.FTP, Framing.NONE):
        lead = LEAD[framing]
        ident = head[lead + 2 : lead + 6]
        if len(ident) < 4:
            continue
        if system_id is not None:
            if ident == system_id and _plausible_lead(head, framing):
                return framing
        elif (
            _plausible_lead(head, framing)
            and 100 <= int.from_bytes(head[lead : lead + 2], "big") <= 1000
            and min(ident[:2]) >= 0xC1
        ):
            return framing
    return None


def _plausible_lead(head: bytes, framing: Framing) -> bool:
    if framing is Framing.RDW:
        return head[2:4] == b"\0\0"
    if framing is Framing.BDW:
        return head[6:8] == b"\0\0"
    return framing is Framing.NONE or head[0] in (0x40, 0x80, 0xC0)


def _agreed(detected: Framing, named: Framing | None, name: str) -> Framing:
    if named is not None and named is not detected:
        raise InputError(
            "LR2004",
            f"found framing {detected.value}; expected {named.value}, as --framing says",
            Where(name, 1, 0),
            "Leave --framing out",
        )
    return detected


def detect_data(head: bytes, system_id: bytes, name: str, named: Framing | None = None) -> Framing:
    """The framing of a data file: SYSTEMID of the control file's subsystem must stand where a
    header has it, under the framing that the user has ``named`` where there is one (format notes,
    section 2). InputError LR2002 for an empty file, LR2003 for one that was transferred as text,
    LR2004 where no framing fits, or another one than named, LR2007 for a file of something else."""
    if not head:
        raise InputError(
            "LR2002", "found an empty file; expected Log Master data records", Where(name)
        )
    if any(head[lead : lead + 4] == XTYP_EBCDIC for lead in LEAD.values()):
        raise InputError(
            "LR2007",
            "found the XTYP record of a control file; expected a data record",
            Where(name, 1, 0),
            "Are --control and --data swapped?",
        )
    if named is not None and head[LEAD[named] + 2 : LEAD[named] + 6] == system_id:
        return named
    framing = _data_framing(head, system_id)
    if framing is not None:
        return _agreed(framing, named, name)
    ascii_id = system_id.decode("cp037").encode("ascii", "replace")
    if any(head[lead + 2 : lead + 6] == ascii_id for lead in LEAD.values()):
        message = (
            f"found SYSTEMID {ascii_id.decode()} in ASCII; expected EBCDIC: the transfer translated"
            " the file and destroyed its binary fields"
        )
        raise InputError(
            "LR2003", message, Where(name, 1), "Transfer both files again in binary mode"
        )
    other = _data_framing(head)
    if other is not None:
        lead = LEAD[other]
        ident = head[lead + 2 : lead + 6].decode("cp037")
        message = (
            f"found SYSTEMID {ident!r}; expected {system_id.decode('cp037')!r}, the subsystem of"
            " the control file"
        )
        raise InputError(
            "LR2007",
            message,
            Where(name, 1, lead + 2, "SYSTEMID"),
            "Give the control file that was written with this data file",
        )
    message = (
        f"found X'{head[:12].hex().upper()}'; expected a data record of subsystem"
        f" {system_id.decode('cp037')!r}"
    )
    raise InputError(
        "LR2004",
        message,
        Where(name, 1, 0),
        "Name the framing (--framing rdw|bdw|ftp|none) if you know it. " + AGAIN,
    )
