"""How the records of a file are framed, recognised from its first bytes (format notes,
section 2)."""

from __future__ import annotations

from replay.errors import InputError, Where
from replay.logs.logmaster.framing import AGAIN, LEAD, Framing

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
