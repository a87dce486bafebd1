"""What a unit that may depend on incomplete ones (INCOMPLETEDEP) found before it changed anything,
and whether the log proves it.

A record that is missing may have changed any row, freed or taken any key, and inserted any parent.
A flagged unit is as if it had not happened only if every row and key it touches was before it as
the rest of the log leaves it. Where the log mentions the row or key before, it says so, or it says
the contrary; where it does not, that is an :class:`Ask` to the state before the log.

Flags go by what a unit itself touches, so they may pass over foreign keys: a unit that deletes a
parent builds on the missing update that took the last child away from it. Units that commit after
an incomplete one are asked about their references too, whatever their flag; there only an answer
to the contrary counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from replay.arrays import Hashes, Index, Mask, Records, take_rows
from replay.changes.envelope import as_bytes, compare
from replay.changes.position import POSITION, UNIT, Position
from replay.changes.units import AppliedUnits
from replay.decoding.hashes import unit_hash
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.links import idle_updates
from replay.dependencies.row_chains import Visits, row_visits, states_of
from replay.dependencies.write_sets import KeyRole


class Ask(IntEnum):
    """What must have been so before the log for a change to find what it found: the row as in its
    image (one, or of a table without key ``count`` of them), no row with its key, either of these
    two, a row that its foreign key refers to, ``count`` rows that refer to its key. CONTRARY: the
    log says that it was not so. UNKNOWN: neither the log nor the state before it can tell (the
    table was emptied or had another form, or large objects changed meanwhile)."""

    ROW = 1
    NO_ROW = 2
    EITHER = 3
    PARENT = 4
    CHILDREN = 5
    CONTRARY = 6
    UNKNOWN = 7


ASK_WORDS = {
    Ask.ROW: "nothing proves what its row was before the log",
    Ask.NO_ROW: "nothing proves that its key was free before the log",
    Ask.EITHER: "nothing proves whether its row was there before the log",
    Ask.PARENT: "nothing proves that the row it refers to was there before the log",
    Ask.CHILDREN: "nothing proves that no row referred to its row any more",
    Ask.UNKNOWN: "its row cannot be compared with what the log left",
}

#: One question: the unit that it is about with its commit position, the place of the change
#: (:func:`replay.dependencies.passes.change_places`), whether the values to look for are in its
#: ``after`` image, the key space, ``count``, and whether the log says that the unit does not depend
#: (``unflagged``), so that only an answer to the contrary counts.
QUESTION = np.dtype(
    [
        ("unit", UNIT),
        ("commit", POSITION),
        ("ask", "u1"),
        ("change", "<i8"),
        ("after", "?"),
        ("space", "<u4"),
        ("count", "<i8"),
        ("unflagged", "?"),
    ]
)


@dataclass(frozen=True)
class AskedUnits:
    """Units that are asked about: the ``flagged`` ones (sorted hashes) and, about references alone,
    all but the ``incomplete`` ones (sorted hashes) that commit ``after`` a position; with
    ``parents`` also whether the rows are there that they came to refer to. ``settled``: units that
    the state which is asked has already."""

    flagged: Hashes
    incomplete: Hashes
    after: Position | None = None
    parents: bool = False
    settled: AppliedUnits | None = None

    def unflagged(self, touches: Records, hashes: Hashes) -> Mask:
        """Which touches are of units that are asked about references alone."""
        if self.after is None:
            return np.zeros(len(touches), bool)
        later = compare(as_bytes(np.ascontiguousarray(touches["commit"])), self.after) > 0
        return later & ~np.isin(hashes, self.flagged) & ~np.isin(hashes, self.incomplete)


@dataclass(frozen=True)
class SpaceRoles:
    """What key spaces are, ``bool`` by number each: identities of rows by a key (``row``), by the
    whole row (``image``), other ``unique`` keys, keys that others refer to (``parent``); and those
    of tables that were emptied or have several forms (``unsure``): what the log does not mention
    there may still have been touched."""

    row: Mask
    image: Mask
    unique: Mask
    parent: Mask
    unsure: Mask
    emptied: Mask

    @classmethod
    def of(cls, spaces: KeySpaces, evented: frozenset[int]) -> SpaceRoles:
        """The roles of the key spaces of a log, in which the tables ``evented`` were emptied."""
        if not len(spaces.spaces):
            return cls(*(np.zeros(1, bool) for _ in range(6)))
        kinds = spaces.kinds
        emptied = np.isin(kinds.table, list(evented))
        several = kinds.table[list(spaces.several_forms())]
        unsure = emptied | np.isin(kinds.table, several)
        return cls(kinds.row, kinds.image, kinds.unique & ~kinds.row, kinds.parent, unsure, emptied)


def questions(
    touches: Records, about: AskedUnits, roles: SpaceRoles, first_version: Index
) -> Records:
    """The questions (dtype :data:`QUESTION`) about what units found that the touches of their keys
    leave open or contradict.

    ``touches`` stand in :func:`replay.dependencies.links.touch_order`, all those of a key are among
    them, and their ``change`` is as in QUESTION. ``first_version``: by table version, that of the
    table at the beginning of the log.
    """
    hashes = unit_hash(as_bytes(np.ascontiguousarray(touches["unit"])))
    ours, unflagged = np.isin(hashes, about.flagged), about.unflagged(touches, hashes)
    roled = (KeyRole.DESTROY, KeyRole.REFER) if about.parents else (KeyRole.DESTROY,)
    referred = unflagged & np.isin(touches["role"], roled)
    referred &= roles.parent[np.ascontiguousarray(touches["space"])]
    idle = idle_updates(touches)
    group = _runs(touches, ("space", "key", "check"))
    asked = np.zeros(int(group[-1]) + 1 if len(group) else 0, bool)
    asked[group[(ours & ~idle) | referred]] = True
    kept = np.flatnonzero(asked[group] & ~(ours & idle)) if len(group) else group
    if not len(kept):
        return np.zeros(0, QUESTION)
    part = take_rows(touches, kept)
    chains = _Chains(part, ours[kept], roles, first_version, unflagged[kept], about)
    return np.concatenate(list(chains.questions()), dtype=QUESTION)


def first_versions(spaces: KeySpaces) -> Index:
    """By table version, the first one of its table."""
    first: dict[int, int] = {}
    return np.array(
        [first.setdefault(space, index) for index, space in enumerate(spaces.table_space)],
        np.int64,
    )


def last_versions(spaces: KeySpaces) -> Index:
    """By table version, the last one of its table."""
    last = {space: index for index, space in enumerate(spaces.table_space)}
    return np.array([last[space] for space in spaces.table_space], np.int64)


def touched_rows(touches: Records, roles: SpaceRoles, after: bool) -> tuple[Records, int]:
    """(questions about the state that each row was in before its first change or, ``after``, is in
    after its last one; the number of rows that cannot be asked about). ``touches`` as in
    :func:`questions`."""
    write = np.ascontiguousarray(touches["role"]) <= KeyRole.DESTROY
    space = np.ascontiguousarray(touches["space"])
    kept = np.flatnonzero(write & (roles.row | roles.image)[space])
    if not len(kept):
        return np.zeros(0, QUESTION), 0
    part = take_rows(touches, kept)
    chains = _Chains(part, np.ones(len(part), bool), roles, np.zeros(0, np.int64))
    rows, skipped = chains.ends(after)
    return np.concatenate([rows, chains.bags(after)], dtype=QUESTION), skipped


def contrary_rows(touches: Records, roles: SpaceRoles) -> int:
    """How many visits found a row with a key other than the visit before left it, or no row, or one
    where there was none; ``touches`` as in :func:`questions`."""
    write = np.ascontiguousarray(touches["role"]) <= KeyRole.DESTROY
    space = np.ascontiguousarray(touches["space"])
    kept = np.flatnonzero(write & (roles.row & ~roles.unsure)[space])
    if not len(kept):
        return 0
    visits = row_visits(take_rows(touches, kept))
    before = _latest(visits.open, visits.follows)
    known = (before >= 0) & visits.open
    same = (visits.version == visits.version[before]) & (visits.version >= 0)
    end = visits.end[before]
    differ = np.where(same, end != visits.begin, (end == 0) != (visits.begin == 0))
    return int((known & differ).sum())


def _runs(touches: Records, names: tuple[str, ...]) -> Index:
    """The number of the run of equal values that each touch is in."""
    begins = np.zeros(len(touches), bool)
    for name in names:
        column = np.ascontiguousarray(touches[name])
        begins[1:] |= column[1:] != column[:-1]
    return np.cumsum(begins)


class _Chains:
    """Touches by key and then in commit order, of which those of flagged units (``ours``) are asked
    about, and the references of ``unflagged`` ones (``about`` says more)."""

    def __init__(
        self,
        touches: Records,
        ours: Mask,
        roles: SpaceRoles,
        first_version: Index,
        unflagged: Mask | None = None,
        about: AskedUnits | None = None,
    ) -> None:
        none = np.zeros(len(touches), bool)
        self.unflagged = none if unflagged is None else unflagged
        self.parents = about is not None and about.parents
        #: Touches that the state which is asked has already: nothing of them is counted in it.
        self.settled = (
            about.settled.mask(*(np.ascontiguousarray(touches[n]) for n in ("commit", "unit")))
            if about is not None and about.settled is not None
            else none
        )
        self.touches, self.ours, self.roles, self.first_version = (
            touches,
            ours,
            roles,
            first_version,
        )
        self.role, self.space = (np.ascontiguousarray(touches[name]) for name in ("role", "space"))
        self.group = _runs(touches, ("space", "key", "check"))
        self.visit = _runs(touches, ("space", "key", "check", "commit", "unit"))
        self.write = self.role <= KeyRole.DESTROY
        #: What each touch does to the number of rows that have the key.
        self.step = (self.role == KeyRole.CREATE).astype(np.int64) - (self.role == KeyRole.DESTROY)

    def questions(self) -> Iterator[Records]:
        """Of every sort."""
        yield self._rows()
        yield self._unique()
        yield self._images()
        yield self._references()
        yield self._parents()

    def _asking(
        self, ask: Ask | Index, places: Index, after: Mask | bool, count: Index | int = 0
    ) -> Records:
        asking = np.zeros(len(places), QUESTION)
        for name in ("unit", "commit", "space", "change"):
            asking[name] = self.touches[name][places]
        asking["ask"], asking["after"], asking["count"] = ask, after, count
        asking["unflagged"] = self.unflagged[places]
        asked: Records = asking[~(asking["unflagged"] & (asking["ask"] == Ask.UNKNOWN))]
        return asked

    # -- rows with a key
    # ---------------------------------------------------------------------------------------------

    def _rows(self) -> Records:
        place = np.flatnonzero(self.write & self.roles.row[self.space])
        if not len(place):
            return np.zeros(0, QUESTION)
        part = take_rows(self.touches, place)
        visits = row_visits(part)
        before = _latest(visits.open, visits.follows)
        ours = self.ours[place][visits.first]
        space = self.space[place][visits.first]
        ask = np.zeros(len(visits.first), np.int64)
        known = before >= 0
        end = np.where(known, visits.end[before], 0)
        same = known & (visits.version == visits.version[before]) & (visits.version >= 0)
        ask[known & visits.open & ((end == 0) != (visits.begin == 0))] = Ask.CONTRARY
        both = known & visits.open & (end != 0) & (visits.begin != 0)
        ask[both & ~same] = Ask.UNKNOWN
        ask[both & same & (end != visits.begin)] = Ask.CONTRARY
        ask[known & visits.closed & ~same] = Ask.UNKNOWN
        ask[known & visits.closed & same & ~visits.has_state(end)] = Ask.CONTRARY
        ask[~known & visits.open] = np.where(visits.begin != 0, Ask.ROW, Ask.NO_ROW)[
            ~known & visits.open
        ]
        ask[~known & visits.closed] = Ask.EITHER
        later = visits.version >= 0  # below, there is no one version
        later[later] = visits.version[later] != self.first_version[visits.version[later]]
        unsure = self.roles.unsure[space] | later | (visits.version < -1)
        ask[~known & unsure] = Ask.UNKNOWN
        ask[self.roles.emptied[space] & (ask == 0)] = Ask.UNKNOWN
        ask[~visits.open & ~visits.closed] = Ask.CONTRARY
        rows = np.flatnonzero(ours & (ask > 0))
        image = self._image(part, visits, rows)
        asking = self._asking(ask[rows], place[image], False)
        asking["after"] = np.isin(self.role[place[image]], (KeyRole.CREATE,))
        return asking

    def _image(self, part: Records, visits: Visits, rows: Index) -> Index:
        """Of some visits, the touch with the image that they begin with, else their first one."""
        before = states_of(part, "before")
        of = np.repeat(np.arange(len(visits.first)), visits.last - visits.first + 1)
        nearest = visits.first.copy()
        hits = np.flatnonzero((before == visits.begin[of]) & (before != 0))[::-1]
        nearest[of[hits]] = hits
        creates = np.flatnonzero(
            (visits.begin[of] == 0) & (np.ascontiguousarray(part["role"]) == KeyRole.CREATE)
        )[::-1]
        nearest[of[creates]] = creates
        return nearest[rows]

    def ends(self, after: bool) -> tuple[Records, int]:
        """(questions about the states that rows with a key begin, or end, in, those not asked)."""
        place = np.flatnonzero(self.roles.row[self.space])
        if not len(place):
            return np.zeros(0, QUESTION), 0
        part = take_rows(self.touches, place)
        visits = row_visits(part)
        group = self.group[place][visits.first]
        if after:
            at = np.flatnonzero(np.append(group[1:] != group[:-1], True))
            open_one = _latest(visits.open, visits.follows, with_itself=True)[at]
            rows = open_one[open_one >= 0]
        else:
            first = np.flatnonzero(~visits.follows)
            rows = first[visits.open[first]]
        rows = rows[~self.roles.unsure[self.space[place]][visits.first[rows]]]
        skipped = int((~visits.follows).sum()) - len(rows)
        if after:
            image = self._last_image(part, visits, rows)
            there = visits.end[rows] != 0
        else:
            image = self._image(part, visits, rows)
            there = visits.begin[rows] != 0
        ask = np.where(there, Ask.ROW, Ask.NO_ROW)
        return self._asking(ask, place[image], there if after else ~there), skipped

    def _last_image(self, part: Records, visits: Visits, rows: Index) -> Index:
        """Of some visits, the touch with the image that they end with, or that removes the row."""
        image = states_of(part, "after")
        of = np.repeat(np.arange(len(visits.first)), visits.last - visits.first + 1)
        gone = np.ascontiguousarray(part["role"]) == KeyRole.DESTROY
        nearest = visits.last.copy()
        hits = np.flatnonzero(
            (image == visits.end[of]) & np.where(visits.end[of] == 0, gone, image != 0)
        )
        nearest[of[hits]] = hits
        return nearest[rows]

    def bags(self, after: bool) -> Records:
        """Questions about rows of tables without a key: as many as the log took must have been
        there, as many as it left must be there."""
        place = np.flatnonzero(self.roles.image[self.space] & ~self.roles.unsure[self.space])
        if not len(place):
            return np.zeros(0, QUESTION)
        step, follows = self.step[place], self._follows(place)
        total = _running_sum(step, follows)
        least = _running_least(np.minimum(total, 0), self.group[place])
        last = np.flatnonzero(np.append(~follows[1:], True))
        count = (total - least)[last] if after else -least[last]
        role = KeyRole.CREATE if after else KeyRole.DESTROY
        one = np.full(int(self.group[place][-1]) + 1, -1, np.int64)
        fitting = np.flatnonzero(self.role[place] == role)
        one[self.group[place][fitting]] = fitting
        at = one[self.group[place][last]]
        kept = (count > 0) & (at >= 0)
        return self._asking(Ask.ROW, place[at[kept]], after, count[kept])

    # -- other unique keys
    # ---------------------------------------------------------------------------------------------

    def _unique(self) -> Records:
        place = np.flatnonzero(self.write & self.roles.unique[self.space])
        first, of, net = self._visits(place)
        if not len(place):
            return np.zeros(0, QUESTION)
        settled = net != 0
        before = _latest(settled, self._follows(place[first]))
        known = before >= 0
        there = np.where(known, net[before] > 0, False)
        creates = place[self.role[place] == KeyRole.CREATE][::-1]
        one = place[first].copy()
        one[of[np.searchsorted(place, creates)]] = creates
        begins_free = (net > 0) | ((net == 0) & (self.role[place[first]] == KeyRole.CREATE))
        ask = np.zeros(len(first), np.int64)
        ask[known & settled & (there == (net > 0))] = Ask.CONTRARY
        ask[~known & begins_free] = Ask.NO_ROW
        space = self.space[place[first]]
        ask[self.roles.unsure[space] & begins_free & ~known] = Ask.UNKNOWN
        ask[self.roles.emptied[space] & begins_free] = Ask.UNKNOWN
        rows = np.flatnonzero(self.ours[place[first]] & (ask > 0))
        asking = self._asking(ask[rows], one[rows], False)
        asking["after"] = self.role[one[rows]] == KeyRole.CREATE
        return asking

    def _visits(self, place: Index) -> tuple[Index, Index, Index]:
        """(first touch of each visit among ``place``, the visit of each, the net step of each)."""
        visit = self.visit[place]
        begins = np.ones(len(place), bool)
        begins[1:] = visit[1:] != visit[:-1]
        of = np.cumsum(begins) - 1
        first = np.flatnonzero(begins)
        net = np.bincount(of, self.step[place], len(first)).astype(np.int64)
        return first, of, net

    def _follows(self, place: Index) -> Mask:
        group = self.group[place]
        follows = np.zeros(len(place), bool)
        follows[1:] = group[1:] == group[:-1]
        return follows

    # -- tables without a key
    # ---------------------------------------------------------------------------------------------

    def _images(self) -> Records:
        """A row that goes must be one that was there: the log tells of some."""
        place = np.flatnonzero(self.write & self.roles.image[self.space])
        if not len(place):
            return np.zeros(0, QUESTION)
        group, ours = self.group[place], self.ours[place]
        step = np.where(self.settled[place], 0, self.step[place])
        follows = self._follows(place)
        total = _running_sum(step, follows)
        least = _running_least(np.where(ours, 0, np.minimum(total, 0)), group)
        wrong = ours & (step < 0) & (total - least < 0)
        ask = np.where(self.roles.unsure[self.space[place]], Ask.UNKNOWN, Ask.ROW)
        ask = np.where(self.roles.emptied[self.space[place]] & ours & (step < 0), Ask.UNKNOWN, ask)
        rows = np.flatnonzero(wrong | (ours & (step < 0) & (ask == Ask.UNKNOWN)))
        return self._asking(ask[rows], place[rows], False, -total[rows])

    # -- foreign keys
    # ---------------------------------------------------------------------------------------------

    def _references(self) -> Records:
        """A row that refers to another must find it."""
        place = np.flatnonzero(self.roles.parent[self.space] & (self.role <= KeyRole.RELEASE))
        if not len(place):
            return np.zeros(0, QUESTION)
        role, ours = self.role[place], self.ours[place]
        if self.parents:
            ours = ours | self.unflagged[place]
        shows = (role <= KeyRole.DESTROY) | ~ours  # that others refer to it shows that it is there
        state = np.where(role == KeyRole.DESTROY, 0, 1)
        at = _latest(shows, self._follows(place), with_itself=True)
        refers = ours & (role == KeyRole.REFER)
        own = np.isin(self.visit[place], self.visit[place[role <= KeyRole.DESTROY]])
        ask = np.zeros(len(place), np.int64)
        ask[at < 0] = Ask.PARENT
        ask[(at >= 0) & (state[at] == 0)] = Ask.CONTRARY
        ask[(at < 0) & self.roles.unsure[self.space[place]]] = Ask.UNKNOWN
        ask[self.roles.emptied[self.space[place]]] = Ask.UNKNOWN
        rows = np.flatnonzero(refers & ~own & (ask > 0))
        return self._asking(ask[rows], place[rows], True)

    def _parents(self) -> Records:
        """A row that goes must leave none that refers to it."""
        place = np.flatnonzero(self.roles.parent[self.space] & (self.role <= KeyRole.RELEASE))
        if not len(place):
            return np.zeros(0, QUESTION)
        role = self.role[place]
        references = (role == KeyRole.REFER).astype(np.int64) - (role == KeyRole.RELEASE)
        follows = self._follows(place)
        first, of, net = self._visits(place)
        last = np.append(first[1:], len(place)) - 1
        left = _running_sum(references, follows)[last]
        unsettled = _running_sum(np.where(self.settled[place], 0, references), follows)[last]
        group = self.group[place]
        fresh = np.zeros(int(group[-1]) + 1, bool)
        opening = np.flatnonzero(~follows)
        fresh[group[opening]] = role[opening] == KeyRole.CREATE
        destroys = np.flatnonzero(role == KeyRole.DESTROY)[::-1]
        one = first.copy()
        one[of[destroys]] = destroys
        made_here = fresh[group[first]]
        ask = np.where(made_here, np.where(left == 0, 0, Ask.CONTRARY), Ask.CHILDREN)
        ask[self.roles.emptied[self.space[place[first]]]] = Ask.UNKNOWN
        ours = (self.ours | self.unflagged)[place[first]]
        rows = np.flatnonzero(ours & (net < 0) & (ask > 0))
        return self._asking(ask[rows], place[one[rows]], False, -unsettled[rows])


def _latest(wanted: Mask, follows: Mask, with_itself: bool = False) -> Index:
    """For each place the latest wanted one before it that is of the same key, -1 for none;
    ``follows``: places of the same key as the one before."""
    number = np.arange(len(wanted))
    begins = np.maximum.accumulate(np.where(follows, 0, number))
    latest = np.maximum.accumulate(np.where(wanted, number, -1))
    if not with_itself:
        latest = np.append(-1, latest[:-1]) if len(latest) else latest
    return np.where(latest >= begins, latest, -1)


def _running_sum(step: Index, follows: Mask) -> Index:
    """The sum of the steps of a key up to each place, with it."""
    total = np.cumsum(step)
    begin = np.maximum.accumulate(np.where(follows, 0, np.arange(len(step))))
    return np.asarray(total - total[begin] + step[begin])


def _running_least(values: Index, group: Index) -> Index:
    """The least value of a key up to each place, at most 0; ``values`` are at most 0."""
    wide = int(-values.min(initial=0)) + 1
    return np.asarray(np.minimum.accumulate(values - group * wide) + group * wide)
