"""The layout of data record headers: that of v11.1, or what the XHDF records of a control file
describe (format notes, section 4)."""

from __future__ import annotations

from typing import NamedTuple

from replay.decoding.layout import Field, FieldKind, Layout
from replay.errors import InputError, Where
from replay.logs.logmaster.layouts import CONTROL, LLDF

#: Header fields without which nothing can be ordered or decoded.
NEEDED = (
    "LENGTH", "SYSTEMID", "DBID", "PSID", "TBOBID", "LOGLRSN", "LOGRBA", "MEMBERID", "CHANGETYPE",
    "SQLTYPE", "LOGRECDISP", "SQLSRCTYPE", "UORCOMMITTIMESTAMP", "UORDISP", "UORIDLRSN", "UORID",
    "TOTALSEGS", "SEGNUM", "UORCOMMITLRSN", "UORCOMMITPOINT",
)  # fmt: skip
REMAKE_CONTROL = "Make the control file again with the log, or give the right one"


class ControlRecord(NamedTuple):
    """One control record: its bytes, its tag, and where it stands."""

    tag: str
    raw: bytes
    number: int
    offset: int


class _Described(NamedTuple):
    """A field of the header as one XHDF record describes it."""

    position: int
    length: int
    name: str
    kind: str
    record: ControlRecord


def header_layout(records: list[ControlRecord], name: str) -> Layout:
    """The header layout that XHDF records describe, or that of v11.1 when there are none. ``name``:
    the control file's. InputError LR2008 where fields are missing that are needed, LR2009
    for fields that cannot be used."""
    if not records:
        return LLDF
    standard = {entry.replace(" ", ""): field for entry, field in LLDF.names.items()}
    described = sorted((_read(record, name) for record in records), key=lambda one: one.position)
    _check_names(described, name)
    base = next(one.position for one in described if one.name == "LENGTH")
    fields: list[Field] = []
    place = 0
    for position, length, spelled, kind, record in described:
        start = position - base
        if start < place:
            message = (
                f"found {spelled} at {position}, inside the field before it; expected"
                f" {place + base} or more"
            )
            raise InputError(
                "LR2009",
                message,
                Where(name, record.number, record.offset, "HEADFIELDPOS"),
                REMAKE_CONTROL,
            )
        if start > place:
            fields.append(Field("", place, start - place, FieldKind.RESERVED))
        _check_length(
            standard.get(spelled),
            spelled,
            length,
            Where(name, record.number, record.offset, "HEADFIELDLEN"),
        )
        fields.append(_header_field(standard.get(spelled), spelled, start, length, kind))
        place = start + length
    return Layout(
        "LLDF", "Data change record header, as the XHDF records describe it", place, tuple(fields)
    )


def _read(record: ControlRecord, name: str) -> _Described:
    values = CONTROL["XHDF"].read(record.raw)
    spelled = str(values["HEADFIELDNAME"] or "").replace(" ", "")
    if values["HEADFIELDPOS"] is None or not values["HEADFIELDLEN"]:
        raise InputError(
            "LR2009",
            f"found no length or position for {spelled}; expected numbers",
            Where(name, record.number, record.offset, "HEADFIELDPOS"),
            REMAKE_CONTROL,
        )
    place = values["HEADFIELDPOS"], values["HEADFIELDLEN"]
    return _Described(*place, spelled, str(values["HEADFIELDTYPE"]), record)


def _check_names(described: list[_Described], name: str) -> None:
    """Each field is described once, and those that are needed are."""
    present: set[str] = set()
    for _, _, spelled, _, record in described:
        if spelled in present:
            raise InputError(
                "LR2009",
                f"found a second XHDF record for {spelled}; expected one",
                Where(name, record.number, record.offset, "HEADFIELDNAME"),
                REMAKE_CONTROL,
            )
        present.add(spelled)
    missing = [wanted for wanted in NEEDED if wanted not in present]
    if missing:
        raise InputError(
            "LR2008",
            f"found no XHDF record for {', '.join(missing)}; expected all fields that order and"
            " decode need",
            Where(name),
            REMAKE_CONTROL,
        )


#: Lengths that header fields of a kind may have, besides the one in the v11.1 layout.
_OTHER_LENGTHS = {
    FieldKind.POSITION: (6,),
    FieldKind.PACKED_TIME: (26,),
    FieldKind.UNSIGNED: (2, 4),
}


def _check_length(standard: Field | None, spelled: str, length: int, where: Where) -> None:
    if standard is None or spelled not in NEEDED:
        return
    usable = {
        standard.length,
        *(_OTHER_LENGTHS.get(standard.kind, ()) if spelled != "LENGTH" else ()),
    }
    if length not in usable:
        expected = " or ".join(map(str, sorted(usable)))
        raise InputError(
            "LR2009",
            f"found length {length} for {spelled}; expected {expected}",
            where,
            REMAKE_CONTROL,
        )


def _header_field(
    standard: Field | None, spelled: str, start: int, length: int, kind: str
) -> Field:
    if standard is not None:
        return Field(standard.name, start, length, standard.kind)
    return Field(
        spelled,
        start,
        length,
        FieldKind.TEXT
        if kind == "CHAR"
        else FieldKind.UNSIGNED
        if length <= 8
        else FieldKind.BYTES,
    )
