"""Queries of the dependency graph: which units really depend on incomplete ones, and which on
the changes to be undone.

Every question takes the three passes of :mod:`replay.dependencies.passes`. What is kept at the end
is in proportion to what is reached; the edges in between are 16 bytes for each pair of units. Both
lie in files where they are long (:mod:`replay.spill`).
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from replay.arrays import Index, Mask, Records, take_rows
from replay.changes import order
from replay.changes.envelope import (
    RECORD,
    as_bytes,
)
from replay.changes.position import (
    HIGHEST,
    POSITION,
    UNIT,
    UnitId,
    lowest_of,
    unit_of,
    unit_positions,
)
from replay.changes.units import (
    DAMAGED,
    AppliedUnits,
    UnitCommits,
    UnitRows,
    UnitSet,
    Verdicts,
    unit_column,
)
from replay.decoding.hashes import unit_hash, unit_hashes
from replay.dependencies.graph import (
    DependencyGraph,
    Edges,
    Paths,
    grouped,
)
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.links import (
    LINK,
    Link,
    Links,
    column_links,
    form_links,
    joined,
    links,
    others,
    row_spaces,
    touch_order,
)
from replay.dependencies.passes import (
    FOLLOWER,
    UNREAD,
    CollectJob,
    EdgeJob,
    FollowJob,
    HeaderSurvey,
    StartUnits,
    SurveyJob,
    change_places,
    collected,
    first_blind,
    torn_changes,
)
from replay.dependencies.preconditions import QUESTION, Ask, AskedUnits
from replay.dependencies.why_held import verdicts
from replay.dependencies.write_sets import TOUCH, ChangeBatch, KeyRole, WriteSets
from replay.engine.contract import Runner
from replay.logs import LogFile, Split
from replay.spill import PARTS, Growing, in_parts, spilled
from sqlgen.render_options import RenderOptions

# -- links between changes
# -------------------------------------------------------------------------------------------------
# The links between the changes of a question, of any number of them.
#
# Touches come from the tasks that collect the changes (those of changes in segments are taken here,
# some at a time) and wait in files, those of one key in one part; a part is sorted and linked in
# memory, and the links wait in files likewise until they are sorted.


#: Changes whose touches are taken together; links and units that are looked at together.
TOGETHER = 1 << 18


@dataclass
class ChangeLinks:
    """Finds the links between the changes of ``batch``. ``known`` are touches of those that are in
    one piece, numbered by :func:`replay.dependencies.passes.change_places`; ``rows`` as in
    :func:`replay.dependencies.links.links`; ``masks``: with which columns changed and written of
    each update (:meth:`replay.dependencies.write_sets.WriteSets.column_masks`) the versions of rows
    are linked, None: whatever the columns. ``chains`` are then those whatever the columns, along
    rows and keys. OSError where there is no room for files."""

    write_sets: WriteSets
    batch: ChangeBatch
    known: Records
    rows: Mask
    masks: tuple[Mapping[int, int], Mapping[int, int]] | None = None
    chains: list[Links] = field(default_factory=list)

    def sorted(self) -> Records:
        """The links (:data:`replay.dependencies.links.LINK`) by target, source, kind, space, and
        whether the key is gone."""
        count = len(self.batch.head)
        parts = min(-(-count // TOGETHER) or 1, PARTS)
        whole = Growing(LINK)
        for linked in in_parts(
            self._links(parts), lambda some: some["target"] * parts // count, parts, LINK
        ):
            names = ("gone", "space", "kind", "source", "target")
            rising = np.lexsort([np.ascontiguousarray(linked[name]) for name in names])
            whole.add(take_rows(linked, rising))
        return whole.array()

    def _links(self, parts: int) -> Iterator[Records]:
        for touches in in_parts(self._touches(), lambda some: _part(some, parts), parts, TOUCH):
            if len(touches):
                yield self._linked(take_rows(touches, touch_order(touches)))

    def _touches(self) -> Iterator[Records]:
        """Those that are known, and those of changes in segments; each change has all of its own
        together."""
        places = change_places(self.batch.records[self.batch.head])
        order = spilled(np.argsort(places, kind="stable"))
        places = spilled(places[order])
        for low in range(0, len(self.known) if len(places) else 0, TOGETHER):
            touches = self.known[low : low + TOGETHER]
            wanted = np.ascontiguousarray(touches["change"])
            place = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
            there = places[place] == wanted  # not those that damage put among segments
            touches = take_rows(touches, np.flatnonzero(there))
            touches["change"] = order[place[there]]
            yield touches
        cut = np.flatnonzero(self.batch.records["segments"][self.batch.head] > 1)
        for low in range(0, len(cut), TOGETHER):
            rows = cut[low : low + TOGETHER]
            touches = self.write_sets.touches(self.batch.part(rows)).copy()
            touches["change"] = rows[touches["change"]]
            yield touches

    def _linked(self, touches: Records) -> Records:
        """The links among sorted touches."""
        between = joined([links(touches, self.rows), form_links(touches)])
        change = np.ascontiguousarray(touches["change"])
        if self.masks is not None:
            chain = np.isin(between.kind, (Link.ROW, Link.KEY))
            self.chains.append(
                Links(
                    change[between.source[chain]],
                    change[between.target[chain]],
                    between.kind[chain],
                )
            )
            by_column = column_links(touches, self.rows, *self.masks)
            between = joined([others(between, Link.ROW), by_column])
        linked = np.zeros(len(between.kind), LINK)
        linked["source"], linked["target"] = change[between.source], change[between.target]
        linked["kind"], linked["space"] = between.kind, touches["space"][between.target]
        linked["gone"] = np.isin(
            touches["role"][between.target], (KeyRole.DESTROY, KeyRole.RELEASE)
        )
        return linked


def _part(touches: Records, parts: int) -> Index:
    """The part of each of some touches, by its key."""
    key = np.ascontiguousarray(touches["key"]) >> np.uint64(32)
    return (key % np.uint64(parts)).astype(np.int64)


# -- what is reached
# -------------------------------------------------------------------------------------------------


@dataclass
class Subgraph:
    """What a question reaches: the changes of all units in ``graph`` in commit order, and the links
    between them (dtype :data:`LINK`). ``torn`` are flagged units that found a row other than the
    log last left it, ``unproven`` those of which nothing proves what they found (a question each,
    dtype :data:`~replay.dependencies.preconditions.QUESTION`); ``linked_chains`` are the links
    along rows and keys, whatever the columns, as places of changes, where they are not among
    ``links``; ``followers`` are units that changed a table after a change of it that cannot be
    read, with the table's key space (dtype :data:`replay.dependencies.passes.FOLLOWER`)."""

    log: LogFile
    spaces: KeySpaces
    survey: HeaderSurvey
    torn: UnitSet
    unproven: UnitRows
    batch: ChangeBatch
    links: Records
    linked_chains: Links | None
    graph: DependencyGraph
    followers: UnitRows = field(default_factory=UnitRows)

    @cached_property
    def chains(self) -> Links:
        """The links along rows and keys, whatever the columns, as places of changes."""
        if self.linked_chains is not None:
            return self.linked_chains
        some = self.links[np.isin(self.links["kind"], (Link.ROW, Link.KEY))]
        source, target, kind = (
            np.ascontiguousarray(some[name]) for name in ("source", "target", "kind")
        )
        return Links(source, target, kind)

    @cached_property
    def lineage(self) -> Index:
        """The number of the changes that hang together by rows and keys, of each change."""
        return grouped(self.chains.source, self.chains.target, len(self.batch.head))

    @cached_property
    def row(self) -> Index:
        """The number of the changes of one row, of each change."""
        rows = self.chains.kind == Link.ROW
        return grouped(self.chains.source[rows], self.chains.target[rows], len(self.batch.head))

    def unit(self, change: int) -> UnitId:
        """The unit of a change."""
        return unit_of(self.batch.records[self.batch.head[change]])


class Prover(Protocol):
    """Knows more of rows than the log does. Errors of :mod:`replay.errors` where what it knows them
    from cannot be read."""

    @property
    def settled(self) -> AppliedUnits | None:
        """Units whose changes are in what it knows, so that nothing has to be proven of them; None
        where it is the state before the log."""
        ...

    def proven(self, analysis: DependencyAnalysis, asked: Records, pieces: Records) -> Mask:
        """``bool[n]``: which of ``n`` questions (dtype
        :data:`replay.dependencies.preconditions.QUESTION`) have the answer that the log
        needs; ``pieces`` are the records of its segmented changes (dtype
        :data:`replay.changes.envelope.RECORD`)."""
        ...


class DependencyAnalysis:
    """Asks questions about one log with one engine. ``prover``: answers what the log leaves open of
    the rows before it."""

    def __init__(
        self,
        run: Runner,
        log: LogFile,
        splits: Sequence[Split],
        spaces: KeySpaces,
        prover: Prover | None = None,
    ) -> None:
        self.run, self.log, self.splits, self.spaces = run, log, splits, spaces
        self.prover = prover

    def survey(self, start: StartUnits) -> HeaderSurvey:
        """The first pass."""
        survey = HeaderSurvey()
        for blob in self.run(SurveyJob(self.spaces, start), self.log, self.splits):
            survey.add(pickle.loads(blob))
        return survey

    def reached(
        self,
        survey: HeaderSurvey,
        *,
        by_column: bool = False,
        gaps: bool = False,
        whole: Collection[UnitId] = (),
        back: bool = False,
        written: RenderOptions | None = None,
        behind: bool = False,
    ) -> Subgraph:
        """The second and third pass: what can be reached from where a survey starts.

        ``by_column``: a later update of the row builds on an earlier one only where both changed
        the same column, one of those that statements with the options ``written`` name. ``gaps``:
        flagged units that found what the log does not prove, or that it contradicts, are starting
        points too. ``whole``: starting points that lack no change. ``back``: also what these
        built on. ``behind``: units that changed a table after a change of a starting point that
        cannot be read are starting points too.
        """
        pieces = np.frombuffer(b"".join(survey.pieces), RECORD)
        job = EdgeJob(
            self.spaces, frozenset(survey.evented), pieces, asked=self._asked(survey, gaps, whole)
        )
        found = _Found()
        edges = Edges(found.edges_of(self.run(job, self.log, self.splits)))
        asked = found.asked.array()
        survey.contrary = found.contrary
        found.unread.add(torn_changes(self.log, pieces))
        unread = found.unread.array()
        survey.unread = UnitSet.of(unread["unit"])
        if behind:
            commits = UnitCommits()
            lowest = unit_column(whole)
            commits.put(lowest, np.full(len(lowest), np.frombuffer(HIGHEST, POSITION)[0]))
            commits.put(survey.start.units().column(), survey.start.commits())
            survey.blind = first_blind(self.spaces, unread, commits)
        followers = self._followers(survey) if survey.blind else UnitRows()
        contrary = np.ascontiguousarray(asked["ask"]) == Ask.CONTRARY
        torn = UnitSet.of(asked["unit"][contrary])
        asked = asked[~contrary]
        if self.prover is None:
            unflagged = np.ascontiguousarray(asked["unflagged"])
            survey.untold = UnitSet.of(asked["unit"][unflagged]) - torn
            asked = asked[~unflagged]
        unproven = self._unproven(asked, torn, pieces)
        known = (survey.start.units(), torn, unproven.units(), followers.units())
        start = np.unique(np.concatenate([unit_hashes(units) for units in known]))
        reached = (
            np.union1d(edges.reach(start), edges.turned().reach(start))
            if back
            else edges.reach(start)
        )
        collect = CollectJob(self.spaces, reached, frozenset(survey.evented))
        changes = collected(self.run(collect, self.log, self.splits))
        subgraph = self._subgraph(survey, torn, unproven, changes, by_column, written)
        return replace(subgraph, followers=followers)

    def _followers(self, survey: HeaderSurvey) -> UnitRows:
        """The units that are behind what a survey found no row of, each with the key space of the
        table."""
        found, followers = Growing(FOLLOWER), UnitRows()
        for block in self.run(FollowJob(self.spaces, survey.blind), self.log, self.splits):
            found.add(np.frombuffer(block, FOLLOWER))
        every = found.array()
        every = every[~survey.start.units().mask(every["unit"])]
        every = every[np.argsort(every["space"], kind="stable")[::-1]]  # the lowest one counts
        followers.put(every["unit"], every)
        return followers

    def _asked(
        self, survey: HeaderSurvey, gaps: bool, whole: Collection[UnitId]
    ) -> AskedUnits | None:
        """The units that are asked about where some of a survey may lack changes."""
        if not gaps or not (survey.start or survey.flagged):
            return None
        started = survey.start.units()
        incomplete = unit_hashes(started)
        flagged = unit_hashes(survey.flagged.units() - started)
        lacking = survey.start.commits(started - whole)
        after = lowest_of(lacking) if len(lacking) else None
        if self.prover is None:
            return AskedUnits(flagged, incomplete, after)
        return AskedUnits(flagged, incomplete, after, parents=True, settled=self.prover.settled)

    def _unproven(self, asked: Records, torn: UnitSet, pieces: Records) -> UnitRows:
        """The units of questions that the state before the log does not answer as the log needs it,
        with the first such question of each."""
        asked = asked[~np.isin(unit_hash(as_bytes(asked["unit"])), unit_hashes(torn))]
        if self.prover is not None and len(asked):
            asked = asked[~self.prover.proven(self, asked, pieces)]
        asked = asked[np.lexsort([asked["change"], asked["ask"]])][::-1]
        unproven = UnitRows()
        unproven.put(asked["unit"], asked)
        return unproven

    def _subgraph(
        self,
        survey: HeaderSurvey,
        torn: UnitSet,
        unproven: UnitRows,
        changes: tuple[ChangeBatch, Records],
        by_column: bool,
        written: RenderOptions | None,
    ) -> Subgraph:
        batch, touches = changes
        write_sets = WriteSets(
            self.log, self.spaces, frozenset(survey.evented), with_forms=True, each=True
        )
        masks = write_sets.column_masks(batch, written) if by_column else None
        rows = row_spaces(self.spaces, survey.evented)
        finds = ChangeLinks(write_sets, batch, touches, rows, masks)
        linked = finds.sorted()
        chains = None
        if by_column:
            none = np.zeros(0, np.int64)
            chains = joined([Links(none, none, np.zeros(0, np.uint8)), *finds.chains])
        graph = _graph(batch, linked)
        return Subgraph(self.log, self.spaces, survey, torn, unproven, batch, linked, chains, graph)


@dataclass
class _Found:
    """What the second pass gives beside edges: questions, how many changes contradict the one
    before, and those that cannot be read."""

    asked: Growing = field(default_factory=lambda: Growing(QUESTION))
    unread: Growing = field(default_factory=lambda: Growing(UNREAD))
    contrary: int = 0

    def edges_of(self, blobs: Iterable[bytes]) -> Iterator[bytes]:
        """The edges; the rest is kept."""
        for blob in blobs:
            edges, asked, contrary, unread = pickle.loads(blob)
            self.asked.add(np.frombuffer(asked, QUESTION))
            self.unread.add(np.frombuffer(unread, UNREAD))
            self.contrary += contrary
            yield edges


def _graph(batch: ChangeBatch, linked: Records) -> DependencyGraph:
    """The graph of the units of changes, which are in commit order, and of the links between
    them. A unit with several commit positions stands at the last one."""
    commit, unit = (spilled(batch.records[name][batch.head]) for name in ("commit", "unit"))
    runs = order.run_starts(unit)
    units = unit[runs]
    _, last, same = np.unique(
        units.view(f"S{UNIT.itemsize}")[::-1], return_index=True, return_inverse=True
    )
    kept = np.sort(len(units) - 1 - last)
    node_of_run = np.searchsorted(kept, (len(units) - 1 - last)[same[::-1]])
    node = spilled(np.repeat(node_of_run, np.diff(np.append(runs, len(unit)))))
    positions = unit_positions(commit[runs], units)
    source, target, apart = Growing(np.int64), Growing(np.int64), Growing(LINK)
    for low in range(0, len(linked), TOGETHER):
        some = linked[low : low + TOGETHER]
        one, other = node[some["source"]], node[some["target"]]
        rows = np.flatnonzero(one != other)
        source.add(one[rows])
        target.add(other[rows])
        apart.add(take_rows(some, rows))
    return DependencyGraph(positions[kept], source.array(), target.array(), apart.array())


# -- incomplete units
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Resolution:
    """Which units stay out and why (``held``), which flagged ones are ``released``, and what proves
    it: the ``paths`` to each held unit, from one that is incomplete or damaged, that found what
    nothing proves, or that is behind a change that cannot be read. ``damage``: what is wrong with
    units of which something is, as a message says it."""

    held: Verdicts
    released: UnitSet
    subgraph: Subgraph
    paths: Paths
    damage: str = DAMAGED


def resolve_incomplete(
    analysis: DependencyAnalysis,
    damaged: Iterable[UnitId] = (),
    *,
    incomplete: bool = True,
    behind: bool = False,
    damage: str = DAMAGED,
) -> Resolution:
    """Units with INCOMPLETETRANS (unless not ``incomplete``), units known to be ``damaged`` (which
    is what ``damage`` says), and all that provably builds on one of them, are held.

    Units that are only flagged (INCOMPLETEDEP) are released where what they found is as the log, or
    the state before it (the prover of ``analysis``), says; else they are held, and what builds on
    them. ``behind``: units that may build on a change of such a unit that cannot be read, because
    they changed its table after it, are held too.
    """
    damaged_units = UnitSet(damaged)
    survey = analysis.survey(StartUnits(incomplete, units=damaged_units))
    subgraph = analysis.reached(survey, gaps=incomplete, whole=damaged_units, behind=behind)
    graph = subgraph.graph
    paths = graph.paths(survey.start.units() | subgraph.torn)
    paths = paths.or_else(graph.paths(subgraph.followers))
    paths = paths.or_else(graph.paths(subgraph.unproven))
    held = verdicts(subgraph, paths, damaged_units, damage)
    return Resolution(held, survey.flagged.units() - held.units(), subgraph, paths, damage)
