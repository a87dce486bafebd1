"""The control file of a copy: the records of the control files it comes from, as they are, but for
what the copy says otherwise: its tables, its flags, its end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from replay.changes.catalog import TableVersion
from replay.changes.envelope import Change
from replay.changes.position import LOWEST, Position
from replay.decoding.layout import TEXT_CODE_PAGE
from replay.logs import CopyFacts
from replay.logs.files import whole
from replay.logs.logmaster.control import control_records
from replay.logs.logmaster.layouts import CONTROL, ControlRecord
from replay.logs.logmaster.log_set import LogSet
from replay.logs.logmaster.reader import LogmasterLog

#: Fields, by record, that the logs of a copy must agree in: code pages and how values are written.
ALIKE: dict[str, tuple[str, ...]] = {
    "XTYP": (
        "MIXED",
        *(
            f"{scheme}{width}CCSID"
            for scheme in ("EBCDIC", "ASCII", "UNICODE")
            for width in ("SINGLE", "DOUBLE", "MIXED")
        ),
    ),
    "DLDS": ("EXPANDVAR", "DATEFORMAT"),
}
#: Who made the filter that a copy was made with, what it is called, and the first number it may
#: have.
_MAKER, _FILTER, _FIRST_FILTER, _LAST_FILTER = "LOGREPLY", "EXTRACT", 1, 9999
#: No position at all, as DEPENDENTRBA says it.
_NONE = b"\xff" * 10

#: A generation of a table in one control file: DBID, TBOBID, SEQUENCENUMBER.
_Own = tuple[int, int, int]


def kept_versions(log: LogmasterLog, facts: CopyFacts) -> list[int]:
    """The table versions that a copy describes, in the order of its DTBI records."""
    found: list[int] = []
    members, places = _members(log)
    for member, place in zip(members, places, strict=True):
        for own in range(len(member.control.catalog.versions)):
            version = int(place[own])
            if facts.versions[version] and version not in found:
                found.append(version)
    return found


def records_of(log: LogmasterLog, facts: CopyFacts) -> Iterator[bytes]:
    """The control records of a copy, XTYP first and DLGE last."""
    members, places = _members(log)
    described = _Described(log, facts)
    sources = [
        _Source(number, member, place, _records(member))
        for number, (member, place) in enumerate(zip(members, places, strict=True))
    ]
    for source in sources:
        described.look(source)
    yield next(record.raw for record in sources[-1].records if record.tag == "XTYP")
    data_sets = [one for source in sources for one in source.records if one.tag == "DLDS"]
    if data_sets:
        merged = len(members) > 1 or any(_says(one, "MERGED") for one in data_sets)
        yield _data_set(data_sets, facts, merged)
    seen: dict[bytes, int] = {}
    headers = next((s for s in sources if any(r.tag == "XHDF" for r in s.records)), None)
    for source in sources:
        for record in source.records:
            if record.tag == "XHDF":
                if source is headers and _names_a_field(record, log):
                    yield record.raw
            elif record.tag not in ("XTYP", "DLDS", "DLGE"):
                yield from described.records(source, record, seen)
    if facts.described:
        yield from _filter(facts.described, seen)
    end = _end(log, members, sources, facts)
    if end is not None:
        yield end


def _members(log: LogmasterLog) -> tuple[tuple[LogmasterLog, ...], tuple[np.ndarray, ...]]:
    """The logs, and of each the numbers of its table versions in the catalog of all."""
    if isinstance(log, LogSet):
        return log.members, log.places
    return (log,), (np.arange(len(log.catalog.versions), dtype=np.int32),)


@dataclass
class _Source:
    """A control file: its records, and ``tables``, the table version (of the catalog of all) of
    each generation in it; ``indexes`` likewise by DBID, PSID and SEQUENCENUMBER of the index."""

    number: int
    log: LogmasterLog
    place: np.ndarray
    records: list[ControlRecord]
    tables: dict[_Own, int] = field(default_factory=dict)
    indexes: dict[_Own, _Own] = field(default_factory=dict)


def _records(log: LogmasterLog) -> list[ControlRecord]:
    path = log.control_path
    return list(control_records(whole(path), log.control.framing, path))


@dataclass
class _Described:
    """Which table versions a copy describes: ``owner`` is the control file whose records do, and
    the generation in it; ``sequence`` the number of each generation in the copy."""

    log: LogmasterLog
    facts: CopyFacts
    owner: dict[int, tuple[int, _Own]] = field(default_factory=dict)
    sequence: dict[int, int] = field(default_factory=dict)
    taken: set[_Own] = field(default_factory=set)

    def look(self, source: _Source) -> None:
        """Note the tables and indexes of a control file."""
        number = 0
        for record in source.records:
            if record.tag == "DTBI":
                values = CONTROL["DTBI"].read(record.raw)
                own = values["DBID"], values["TBOBID"], values["SEQUENCENUMBER"] or 1
                version = int(source.place[number])
                number += 1
                source.tables[own] = version
                if self.facts.versions[version] and version not in self.owner:
                    self.owner[version] = source.number, own
                    self.sequence[version] = self._free(own)
        for record in source.records:
            if record.tag in ("DIXI", "DCXI"):
                values = CONTROL[record.tag].read(record.raw)
                sequence = values["SEQUENCENUMBER"] or 1
                own = values["DBID"], values["TBOBID"], sequence
                if own in source.tables:
                    source.indexes[values["DBID"], values["PSID"], sequence] = own

    def _free(self, own: _Own) -> int:
        """The number of a generation: its own, or where another log has it for another one, the
        next."""
        database, table, sequence = own
        while (database, table, sequence) in self.taken:
            sequence += 1
        self.taken.add((database, table, sequence))
        return sequence

    def records(
        self, source: _Source, record: ControlRecord, seen: dict[bytes, int]
    ) -> Iterator[bytes]:
        """What becomes of a record: itself with the number of its generation, or nothing."""
        own = self._generation(source, record)
        version = -1 if own is None else source.tables.get(own, -1)
        if own is None:
            if seen.setdefault(record.raw, source.number) == source.number:
                yield record.raw
        elif self.owner.get(version) == (source.number, own):
            raw = _patched(record.tag, record.raw, "SEQUENCENUMBER", self.sequence[version])
            if record.tag == "DTBI":
                raw = self._dropped(raw, version)
            yield raw

    def _generation(self, source: _Source, record: ControlRecord) -> _Own | None:
        """The generation of a table that a record describes, of large objects one that is not
        there where their table is not described; None for a record that is of none."""
        if record.tag in ("DLOB", "DXML"):
            values = CONTROL[record.tag].read(record.raw)
            base = values["BASEDBID"], values["BASEOBID"]
            kept = {(one.dbid, one.obid) for one in self._kept()}
            return None if base in kept or None in base else (-1, -1, -1)
        if record.tag not in ("DTBI", "DLCI", "DIXI", "DCXI", "DICL"):
            return None
        values = CONTROL[record.tag].read(record.raw)
        sequence = values["SEQUENCENUMBER"] or 1
        if record.tag == "DICL":
            return source.indexes.get((values["DBID"], values["PSID"], sequence))
        return values["DBID"], values["TBOBID"], sequence

    def _kept(self) -> Iterable[TableVersion]:
        return (self.log.catalog.versions[version] for version in self.owner)

    def _dropped(self, raw: bytes, version: int) -> bytes:
        """The DTBI record with the end of the generation that a later log tells of."""
        place = CONTROL["DTBI"].names["DROPRBA"]
        dropped = self.log.catalog.versions[version].dropped
        if len(raw) < place.end or raw[place.offset : place.end] == dropped:
            return raw
        return raw[: place.offset] + dropped + raw[place.end :]


def _patched(tag: str, raw: bytes, name: str, value: int | str | bytes) -> bytes:
    """A record with another value in a field, where it says another one and has the field."""
    entry = CONTROL[tag].names[name]
    old = raw[entry.offset : entry.end]
    if len(old) < entry.length or entry.value(old) == value:
        return raw
    if name == "SEQUENCENUMBER" and entry.value(old) is None and value == 1:
        return raw
    return raw[: entry.offset] + entry.encode(value) + raw[entry.end :]


def _says(record: ControlRecord, name: str) -> bool:
    return bool(CONTROL[record.tag].read(record.raw)[name] == "Y")


def _data_set(records: list[ControlRecord], facts: CopyFacts, merged: bool) -> bytes:
    """The DLDS record: that of the first log, with the flags of the copy."""
    raw = records[0].raw
    for name in ("LOBSINCLUDED", "XMLINCLUDED", "XMLSTRINGINCLUDED"):
        if any(_says(record, name) for record in records):
            raw = _patched("DLDS", raw, name, "Y")
    for name, there in (
        ("SEGMENTED", facts.segmented),
        ("DDLOBJECTS", Change.CATALOG in facts.kinds),
        ("MERGED", merged),
        ("CMDSINCLUDED", Change.COMMAND in facts.kinds),
    ):
        if there != _says(records[0]._replace(raw=raw), name):
            raw = _patched("DLDS", raw, name, "Y" if there else "N")
    return raw


def _names_a_field(record: ControlRecord, log: LogmasterLog) -> bool:
    """Whether a field that an XHDF record describes counts. An ORDERVALUE does not that the log
    leaves empty, or that would number the changes of several logs."""
    name = str(CONTROL["XHDF"].read(record.raw)["HEADFIELDNAME"] or "").replace(" ", "")
    return name != "ORDERVALUE" or name in log.control.header.names


def _filter(described: str, seen: dict[bytes, int]) -> Iterator[bytes]:
    """The filter that the copy was made with."""
    used = {
        str(CONTROL["DFID"].read(raw)["FILTERID"])
        for raw in seen
        if raw[:4] == "DFID".encode(TEXT_CODE_PAGE)
    }
    numbers = (f"{n:04d}" for n in range(_FIRST_FILTER, _LAST_FILTER + 1))
    number = next((text for text in numbers if text not in used), None)
    if number is None:
        return
    size = CONTROL["DFDS"].names["DESCRIPTION"].length
    text = described.encode(TEXT_CODE_PAGE, "replace").decode(TEXT_CODE_PAGE)
    yield CONTROL["DFID"].build(
        CNTLRECORDTYPE="DFID",
        FILTERUSERID=_MAKER,
        FILTERNAME=_FILTER,
        FILTERID=number,
        DATEFORMAT="ISO",
    )
    yield CONTROL["DFDS"].build(
        CNTLRECORDTYPE="DFDS",
        FILTERID=number,
        DESCRIPTION=text if len(text) <= size else text[: size - 3] + "...",
    )


def _end(
    log: LogmasterLog,
    members: tuple[LogmasterLog, ...],
    sources: list[_Source],
    facts: CopyFacts,
) -> bytes | None:
    """The DLGE record: that of the log that goes furthest, with the end of the copy and with what
    is still incomplete in all logs together."""
    ends = [
        (member.control.end.get("ENDRBA") or LOWEST, record.raw, member)
        for member, source in zip(members, sources, strict=True)
        for record in source.records
        if record.tag == "DLGE"
    ]
    if not ends:
        return None
    stated, raw, member = max(ends, key=lambda entry: entry[0])
    if facts.reach is not None:
        raw = _patched("DLGE", raw, "ENDRBA", _nearer(log, stated, facts.reach))
    wanted = log.dependent_position if facts.keeps_incomplete else None
    if wanted != member.dependent_position:
        raw = _dependent(raw, wanted)
    return raw


def _nearer(log: LogmasterLog, stated: bytes, reach: Position) -> bytes:
    """The end of a copy that does not go as far as its log; zeros where the log states its own in
    positions of another kind, or nobody can tell."""
    alike = any(stated[1:4]) == log.uses_lrsn()
    return min(stated, bytes(reach)) if alike and stated != LOWEST else bytes(LOWEST)


def _dependent(raw: bytes, position: Position | None) -> bytes:
    """A DLGE record with another DEPENDENTRBA, which older releases have as text (section 4.4)."""
    entry = CONTROL["DLGE"].names["DEPENDENTRBA"]
    text = raw[entry.offset : entry.offset + 12].decode(TEXT_CODE_PAGE)
    if re.fullmatch("[0-9A-F]{12}", text):
        octets = _NONE[:6] if position is None else bytes(position)[1:7]
        own = octets.hex().upper().encode(TEXT_CODE_PAGE)
        return raw[: entry.offset] + own + raw[entry.offset + 12 :]
    return _patched("DLGE", raw, "DEPENDENTRBA", _NONE if position is None else bytes(position))
