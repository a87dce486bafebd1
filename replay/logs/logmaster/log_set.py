"""Several logical logs read as one: a log whose files are those of all of them. What hangs on the
control file of a record (header, reading of DATA, tables) is asked of its own log; tables are
numbered as in the catalog that all control files make together. Logs stand in the order of what
they cover: where one ends and the next begins, where both cover the same, where a hole is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Hashes, Index, Mask, Versions
from replay.changes.catalog import TableVersion
from replay.changes.envelope import Change, compare, distinct
from replay.changes.position import Position
from replay.decoding.hashes import unit_hash
from replay.decoding.layout import FieldKind, Layout
from replay.errors import Finding, InputError, counted
from replay.logs.logmaster import set_repeats
from replay.logs.logmaster.headers import Headers, timestamp_text
from replay.logs.logmaster.reader import CHANGES, LogmasterLog
from replay.logs.logmaster.set_repeats import Settled, within
from replay.logs.text import hexadecimal

#: Contradictions between logs that are named.
_NAMED = 20
#: So many changes of a file are read without those of other files.
_MANY = 4096
#: What is said of records that do not count, in the words of all families and in ours.
REPEATED = "repeated by another read session"
IN_ANOTHER_LOG = "in another log of the set too"
#: A blank in EBCDIC.
_BLANK = 0x40


class SetHeaders(Headers):
    """Headers of records of several logs in one layout. ``files``: the file of all of them, or of
    each. ``repeated``: which are of no account, because another log has the copy that counts (None:
    none). ``open_units`` and ``open_dependents``: hashes of units of several logs that are marked
    in one of them, ``answered``: by file, whether its INCOMPLETEDEP says nothing any more. ``end``:
    where the set ends, if that is told."""

    def __init__(
        self,
        layout: Layout,
        block: Bytes,
        files: int | Index,
        repeated: Mask | None,
        open_units: Hashes,
        open_dependents: Hashes,
        answered: Mask,
        end: Position | None,
    ) -> None:
        super().__init__(layout, block)
        self.files, self.repeated, self.end = files, repeated, end
        self.open_units, self.open_dependents = open_units, open_dependents
        self.answered = answered

    def take(self, rows: Index) -> SetHeaders:
        """The headers of some rows."""
        return SetHeaders(
            self.layout,
            self.block[rows],
            self.files if isinstance(self.files, int) else self.files[rows],
            None if self.repeated is None else self.repeated[rows],
            self.open_units,
            self.open_dependents,
            self.answered,
            self.end,
        )

    def incomplete_unit(self) -> Mask:
        """INCOMPLETETRANS, of a unit in several logs that of any record that counts; and whether
        the unit commits behind the end of the set, so that a log to come has more of it."""
        marked = self._of_unit(super().incomplete_unit(), self.open_units)
        return marked if self.end is None else marked | (compare(self.commit(), self.end) > 0)

    def unfinished_unit(self) -> Mask:
        """Incomplete ones, of a set that others go on from."""
        return super().unfinished_unit() if self.end is None else self.incomplete_unit()

    def incomplete_dependency(self) -> Mask:
        """INCOMPLETEDEP, in the same way, of logs of which an incomplete unit is left."""
        marked = super().incomplete_dependency()
        if self.answered.any():
            marked = marked & ~self.answered[self.files]
        return self._of_unit(marked, self.open_dependents)

    def _of_unit(self, mask: Mask, units: Hashes) -> Mask:
        return mask | within(unit_hash(self.unit()), units) if len(units) else mask


@dataclass
class LogSet(LogmasterLog):
    """Logs in the order of what they cover. ``first_files`` (rising) are the numbers of their first
    files among ``files``, ``places`` the indexes of their table versions in ``catalog``, ``spans``
    what they cover, ``end`` up to where that is certain, ``repeats`` which of their
    records are there more than once, ``owing`` the logs whose incomplete units no later one has
    whole, ``dependent`` the lowest DEPENDENTRBA of these, ``dependents`` the hashes of units in
    several logs whose INCOMPLETEDEP counts, ``answered``: by file, whether none of it does,
    ``ids``: whether the ids of a table alone tell its version in every log. ``refuses_holes``,
    ``tells_holes``: what becomes of a hole."""

    members: tuple[LogmasterLog, ...] = ()
    first_files: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    places: tuple[Versions, ...] = ()
    spans: tuple[Span, ...] = ()
    repeats: Settled = set_repeats.NOTHING_REPEATED
    dependent: Position | None = None
    owing: tuple[int, ...] = ()
    dependents: Hashes = field(default_factory=lambda: np.zeros(0, np.uint64))
    answered: Mask = field(default_factory=lambda: np.zeros(0, bool))
    end: Position | None = None
    ids: bool = False
    refuses_holes: bool = True
    tells_holes: bool = True

    @property
    def dependent_position(self) -> Position | None:
        """The lowest DEPENDENTRBA of the logs whose incomplete units no later one has whole."""
        return self.dependent

    @property
    def begins(self) -> Position | None:
        """The lowest position that the logs cover, as far as anything tells."""
        told = [place for span in self.spans for place in (span.begin, span.first) if place]
        return min(told, default=None)

    def in_words(self, reason: str) -> str:
        """The reason in the words of a log set."""
        return IN_ANOTHER_LOG if reason == REPEATED else reason

    @property
    def stated_end(self) -> Position | None:
        """Where the last log states that it ends, where others may come."""
        return self.end

    @property
    def final_position(self) -> Position | None:
        """None: another log may come."""
        return None

    def owing_logs(self) -> Collection[int]:
        """The logs with a DEPENDENTRBA that counts."""
        return self.owing

    def untold(self) -> Mapping[str, str]:
        """What the headers of one of the logs have no field for."""
        return {fact: why for log in self.members for fact, why in log.untold().items()}

    def inputs(self) -> list[str]:
        """The files the user named."""
        return [name for member in self.members for name in member.inputs()]

    def arrived_logs(self) -> Sequence[tuple[str, Sequence[int]]]:
        """The control file, and the numbers of the data files, of each log."""
        firsts = self.first_files.tolist()
        return [
            (member.control_path, range(first, first + len(member.files)))
            for member, first in zip(self.members, firsts, strict=True)
        ]

    def owner(self, file: int) -> tuple[LogmasterLog, int]:
        """The log whose control file describes a file, and the number of the file in it."""
        member, number = self.member_of(file)
        return self.members[member], number

    def member_of(self, file: int) -> tuple[int, int]:
        """(log, number of the file in it) of a file of the set."""
        member = int(np.searchsorted(self.first_files, file, side="right")) - 1
        return member, file - int(self.first_files[member])

    def _members_of(self, files: npt.NDArray[Any]) -> Index:
        return np.searchsorted(self.first_files, files, side="right").astype(np.int64) - 1

    # -- what is wrong with the set
    # ---------------------------------------------------------------------------------------------

    def admit(self) -> None:
        """InputError (LR2037) where a hole is between the logs and nobody said that it may be."""
        found = list(holes(self.spans)) if self.refuses_holes else []
        if found:
            more = f", and {counted(len(found) - 1, 'more gap')}" if len(found) > 1 else ""
            raise InputError(
                "LR2037",
                f"found a gap in the log set: {found[0]}{more}; expected logs of which each begins"
                " where one before it ends",
                hint="Give the logs that are missing, or go on without them: --gaps warn (units"
                " that lack records are quarantined, changes in the gap are missing)",
            )

    def warnings(self, taken: Sequence[TableVersion]) -> list[str]:
        """What a user should know before trusting scripts for these table versions."""
        found = list(holes(self.spans)) if self.tells_holes else []
        texts = [f"the log set has a gap: {hole}; the changes of it are missing" for hole in found]
        texts += [
            f"{one.control} and {other.control} hold the same"
            f" {counted(one.records, 'record')}, taken once: was a log given twice?"
            for one, other in self._twice()[:_NAMED]
        ]
        for one, other in list(self.repeats.differing)[:_NAMED]:
            texts.append(
                f"two logs of the set hold different bytes for one change: {self._named(one)} and"
                f" {self._named(other)}; its unit of recovery is quarantined"
            )
        return texts + super().warnings(taken)

    def _named(self, copy: np.void) -> str:
        return f"{self.files[int(copy['file'])].name} record {int(copy['number'])}"

    def _twice(self) -> list[tuple[Span, Span]]:
        """Logs of which all records are in another one that covers the same, and that one."""
        found: list[tuple[Span, Span]] = []
        known: dict[tuple[object, ...], Span] = {}
        for span, repeated in zip(reversed(self.spans), reversed(self._repeated()), strict=True):
            same = known.setdefault((span.records, span.first, span.last, span.end), span)
            if same is not span and repeated == span.records > 0:
                found.append((span, same))
        return found

    def _repeated(self) -> list[int]:
        """Of each log, how many of its records another one has that counts."""
        files = (self.repeats.left & 0xFFFF).astype(np.int64)
        return list(map(int, np.bincount(self._members_of(files), minlength=len(self.members))))

    def timeline(self) -> list[dict[str, Any]]:
        """The logs and what is between them, as JSON-able data."""
        return described_timeline(self.spans, self._repeated())

    # -- records
    # ---------------------------------------------------------------------------------------------

    def envelope(
        self, files: int | npt.NDArray[Any], offsets: npt.NDArray[Any], lengths: npt.NDArray[Any]
    ) -> SetHeaders:
        """The headers of records, in one layout."""
        block = super().envelope(files, offsets, lengths).block
        if not isinstance(files, int):
            files = np.ascontiguousarray(files).astype(np.int64)
            files = int(files[0]) if len(files) and (files == files[0]).all() else files
        left = self.repeats.left
        repeated = within(set_repeats.places(files, offsets), left) if len(left) else None
        return SetHeaders(
            self.control.header,
            block,
            files,
            repeated,
            self.repeats.open,
            self.dependents,
            self.answered,
            self.end,
        )

    def _headers(self, file: int, offsets: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> Headers:
        member, number = self.member_of(file)
        layout = self.control.header
        found = self.members[member].envelope(number, offsets, lengths)
        return Headers(layout, in_layout(found, layout))

    def classify(self, envelope: Headers) -> tuple[Bytes, Versions]:
        """(change, index of the table version) of each record. A table that the control file of a
        record does not describe is looked for in those of the other logs."""
        assert isinstance(envelope, SetHeaders)
        change = CHANGES[envelope.change_type()]
        if envelope.repeated is not None:
            change[envelope.repeated] = Change.REPEATED
        if self.ids:
            return change, super().classify(envelope)[1]
        version = np.full(len(envelope), -1, np.int32)
        for member, rows, part in self._by_member(envelope):
            own = self.members[member].classify(part)[1]
            version[rows] = np.append(self.places[member], np.int32(-1))[own]
        strange = np.flatnonzero(version < 0)
        if len(strange):
            version[strange] = super().classify(envelope.take(strange))[1]
        return change, version

    def _by_member(self, envelope: SetHeaders) -> Iterator[tuple[int, Index, SetHeaders]]:
        """(log, rows, headers) of records."""
        if isinstance(envelope.files, int):
            yield self.member_of(envelope.files)[0], np.arange(len(envelope)), envelope
            return
        members = self._members_of(envelope.files)
        for member in distinct(members):
            rows = np.flatnonzero(members == member)
            yield int(member), rows, envelope.take(rows)

    def check(
        self, envelope: Headers, lengths: npt.NDArray[Any], change: Bytes, version: Versions
    ) -> Mask:
        """Which records have a header that cannot be right; of a repeated one, nothing is asked."""
        assert isinstance(envelope, SetHeaders)
        damaged = np.zeros(len(envelope), bool)
        for member, rows, part in self._by_member(envelope):
            damaged[rows] = self.members[member].check(
                part, lengths[rows], change[rows], version[rows]
            )
        return damaged if envelope.repeated is None else damaged & ~envelope.repeated

    def names_its_unit(self, envelope: Headers, lengths: npt.NDArray[Any]) -> Mask:
        """Whether what identifies the unit of recovery can be believed although something else in
        the header is wrong."""
        assert isinstance(envelope, SetHeaders)
        good = np.zeros(len(envelope), bool)
        for member, rows, part in self._by_member(envelope):
            good[rows] = self.members[member].names_its_unit(part, lengths[rows])
        return good

    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding:
        """What is wrong with one record's header."""
        member, own = self.member_of(file)
        return self.members[member].header_finding(own, number, offset, length)

    # -- images
    # ---------------------------------------------------------------------------------------------

    def _read_in_place(self, files: Index) -> Mask:
        """Which changes are of files with so many of them that it pays to look at each alone."""
        counts = np.bincount(files)
        return np.asarray((counts >= _MANY)[files] | ((counts > 0).sum() == 1))

    def _read_alike(self, files: Index, rows: Index) -> Iterator[tuple[Index, LogmasterLog]]:
        """Changes of logs with one reading of DATA, and one of these logs."""
        members = self._members_of(files[rows])
        logs = [self.members[int(member)] for member in distinct(members)]
        for log in {log.reading: log for log in logs}.values():
            alike = np.array([member.reading is log.reading for member in self.members], bool)
            yield rows[alike[members]], log


def in_layout(headers: Headers, layout: Layout) -> Bytes:
    """The bytes of headers under another layout: positions and times in its widths, fields that
    the headers do not have as zeros."""
    if headers.layout.fields == layout.fields:
        return headers.block
    block = np.zeros((len(headers), layout.size), np.uint8)
    for name, entry in layout.names.items():
        if name not in headers.layout.names:
            continue
        raw = (
            headers.position(name)
            if entry.kind is FieldKind.POSITION
            else headers.time(name)
            if entry.kind is FieldKind.PACKED_TIME
            else headers.raw(name)
        )
        width = min(raw.shape[1], entry.length)
        text = entry.kind is FieldKind.TEXT
        part = raw[:, :width] if text else raw[:, raw.shape[1] - width :]
        start = entry.offset if text else entry.end - width
        block[:, start : start + width] = part
        if text:
            block[:, start + width : entry.end] = _BLANK
    return block


# -- what the logs cover
# -------------------------------------------------------------------------------------------------

#: What stands between a log and those before it.
FIRST, JOINS, OVERLAPS, HOLE, UNTOLD = "first", "joins", "overlaps", "hole", "not told"


@dataclass(frozen=True)
class Span:
    """What a log covers. ``begin`` is what a list of logs says of it, ``end`` that or DLGE.ENDRBA;
    ``first`` and ``last`` are the lowest and the highest position of its records (LRSN in data
    sharing, RBA otherwise). None: nothing tells."""

    control: str
    data: tuple[str, ...]
    records: int
    begin: Position | None
    end: Position | None
    first: Position | None
    last: Position | None
    end_time: bytes | None
    dependent: Position | None

    @property
    def reach(self) -> Position | None:
        """How far the log goes, as far as anything tells."""
        told = [position for position in (self.end, self.last) if position is not None]
        return max(told) if told else None

    @property
    def order(self) -> tuple[bytes, bytes, bytes]:
        """What the logs of a set are sorted by."""
        return self.reach or b"", self.last or b"", self.begin or self.first or b""


@dataclass(frozen=True)
class Junction:
    """What is between a log and those before it, up to ``reach``. Of a ``hole``: from where to
    where nothing is covered."""

    kind: str
    reach: Position | None = None
    begin: Position | None = None


def junctions(spans: Sequence[Span]) -> list[Junction]:
    """What is between each log and those before it; ``spans`` in order."""
    found = []
    reach: Position | None = None
    told = True
    for place, span in enumerate(spans):
        found.append(_junction(span, reach, told) if place else Junction(FIRST))
        told = span.end is not None
        reach = max((p for p in (reach, span.reach) if p is not None), default=None)
    return found


def _junction(span: Span, reach: Position | None, told: bool) -> Junction:
    begin = span.begin
    if reach is not None and begin is not None and (begin <= reach or told):
        kind = HOLE if begin > reach else JOINS if begin == reach else OVERLAPS
        return Junction(kind, reach, begin)
    if reach is not None and span.first is not None and span.first <= reach:
        return Junction(OVERLAPS, reach, span.first)
    return Junction(UNTOLD, reach, span.first)


def holes(spans: Sequence[Span]) -> Iterator[str]:
    """Each hole between the logs, in words."""
    for place, junction in enumerate(junctions(spans)):
        if junction.kind == HOLE:
            assert junction.reach is not None
            assert junction.begin is not None
            yield (
                f"nothing covers {hexadecimal(junction.reach)} to {hexadecimal(junction.begin)},"
                f" between {spans[place - 1].control} and {spans[place].control}"
            )


def described_timeline(spans: Sequence[Span], repeated: Sequence[int]) -> list[dict[str, Any]]:
    """The timeline as JSON-able data; ``repeated``: of each log, the records of which another one
    has the copy that counts."""
    return [
        {
            "control": span.control,
            "data": list(span.data),
            "records": span.records,
            "repeated": repeated[place],
            "begin": _hex(span.begin),
            "end": _hex(span.end),
            "end_time": None if span.end_time is None else timestamp_text(span.end_time),
            "first": _hex(span.first),
            "last": _hex(span.last),
            "dependent_position": _hex(span.dependent),
            "joint": junction.kind,
            "hole": (
                [_hex(junction.reach), _hex(junction.begin)] if junction.kind == HOLE else None
            ),
        }
        for place, (span, junction) in enumerate(zip(spans, junctions(spans), strict=True))
    ]


def _hex(position: Position | None) -> str | None:
    return None if position is None else hexadecimal(position)
