"""Undo of chosen changes, and redo of all but some: who built on them, and what follows from that.

Decided by row versions, not by values, and by column: a later update of other columns of the row is
no conflict; one that set a column and set it back is. Columns that the statements do not name
(``--columns``) count only against what takes a whole row back. The log is always read to its end,
whatever the selection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.changes import order
from replay.changes.envelope import ROW_CHANGES, Envelope
from replay.changes.position import UNIT_POSITION_FIELDS, UnitId, unit_of
from replay.changes.selection import (
    BUILDS_ON_EXCLUDED,
    EXCLUDED,
    LEFT_TO_TARGET,
    REASON,
    RecordFacts,
    Selection,
    VerdictCodes,
    decide,
)
from replay.changes.units import UnitSet
from replay.dependencies.analysis import DependencyAnalysis, Subgraph
from replay.dependencies.links import (
    LINK_WORDS,
    Link,
)
from replay.dependencies.passes import StartUnits
from replay.dependencies.why_held import key_texts
from replay.errors import Refusal
from replay.pipeline.plan import Plan, UnitDecisions, places_of
from replay.pipeline.rows import RowDecoder
from replay.spill import spilled
from sqlgen.dialects import profile_named


@dataclass(frozen=True)
class Conflict:
    """A change outside of what is undone (or left out) that builds on a change inside of it."""

    unit: UnitId
    on: UnitId
    key: str
    link: Link

    def __str__(self) -> str:
        return f"unit {self.unit} {LINK_WORDS[self.link]}: {self.key}, of unit {self.on}"

    def describe(self) -> dict[str, str]:
        """As JSON-able data."""
        return {
            "unit": str(self.unit),
            "on": str(self.on),
            "key": self.key,
            "link": self.link.name.lower(),
        }


@dataclass(frozen=True)
class Consequences:
    """What undoing some changes entails. ``chosen``: which changes of the subgraph were asked for;
    ``conflicts``: one a dependent unit and the unit it builds on directly; ``units``: the
    dependents, and theirs, that must go too; ``blocked``: chosen changes that others built on.
    """

    subgraph: Subgraph
    chosen: Mask
    conflicts: list[Conflict]
    units: list[UnitId]
    blocked: Mask

    @property
    def chosen_units(self) -> list[UnitId]:
        """The units with a change that was asked for, in commit order."""
        numbers, unit = _unit_numbers(self.subgraph)
        return [numbers[index] for index in np.unique(unit[self.chosen]).tolist()]

    def describe(self) -> dict[str, Any]:
        """As JSON-able data; ``unread``: units of which a change cannot be read, where any."""
        unread = self.subgraph.survey.unread
        return {
            "scanned_to": self.subgraph.survey.last.hexadecimal,
            "conflicts": [conflict.describe() for conflict in self.conflicts],
            "units": [str(unit) for unit in self.units],
            **({"unread": sorted(map(str, unread))} if unread else {}),
            "blocked_changes": int(self.blocked.sum()),
            "blocked_by_table": self.blocked_by_table(),
        }

    def blocked_by_table(self) -> dict[str, int]:
        """How many changes others built on, by table, the most first."""
        versions = self.subgraph.batch.version[self.blocked].tolist()
        names = Counter(self.subgraph.log.catalog.versions[one].name for one in versions)
        return dict(names.most_common())


def limits_changes(selection: Selection) -> bool:
    """Whether a selection can leave out a change that committed later than one it takes."""
    return bool(selection.tables or selection.exclude_tables or not selection.whole_to_the_end)


def taken_units(analysis: DependencyAnalysis, plan: Plan) -> frozenset[UnitId]:
    """The units with a change that the plan's selection takes, by the values of rows too."""
    survey = analysis.survey(StartUnits(selection=plan.selection))
    if plan.selection.where is None:
        return frozenset(survey.start)
    subgraph = analysis.reached(survey, by_column=False)
    chosen = _chosen(subgraph, plan)
    return frozenset(subgraph.unit(change) for change in np.flatnonzero(chosen).tolist())


def consequences(analysis: DependencyAnalysis, plan: Plan) -> Consequences:
    """Who built on the changes that the plan's selection takes, by the columns that it writes."""
    survey = analysis.survey(StartUnits(selection=plan.selection))
    subgraph = analysis.reached(survey, by_column=True, written=plan.options.render)
    chosen = _chosen(subgraph, plan)
    links = subgraph.links
    source, target = np.ascontiguousarray(links["source"]), np.ascontiguousarray(links["target"])
    outside = chosen[source] & ~chosen[target]
    first: dict[tuple[UnitId, UnitId], int] = {}
    for row in np.flatnonzero(outside).tolist():
        first.setdefault((subgraph.unit(int(target[row])), subgraph.unit(int(source[row]))), row)
    found = links[np.array([*first.values()], np.int64)]
    conflicts = [
        Conflict(*pair, key, Link(kind))
        for pair, key, kind in zip(
            first, key_texts(subgraph, found), found["kind"].tolist(), strict=True
        )
    ]
    units = _closure(subgraph, chosen, source, target)
    return Consequences(
        subgraph,
        chosen,
        conflicts,
        units,
        _blocked(subgraph, chosen, source, target),
    )


def written_dependents(analysis: DependencyAnalysis, plan: Plan, units: UnitSet) -> UnitSet:
    """The units that build on some of ``units``, over any number of steps, and of which the plan
    writes a change."""
    subgraph = analysis.reached(analysis.survey(StartUnits(units=units)))
    graph, batch = subgraph.graph, subgraph.batch
    built_on = UnitSet.of(
        np.ascontiguousarray(
            graph.units.view(UNIT_POSITION_FIELDS)["unit"][graph.paths(units).nodes()]
        )
    )
    envelope, verdict = _verdicts(subgraph, plan, plan.flags_resolved)
    heads = batch.records[batch.head]
    if plan.decisions is not None:
        verdict = plan.decisions.judge(verdict, envelope, heads["file"], heads["offset"])
    verdict = plan.without_taken(verdict, envelope)
    written = _by_values(subgraph, plan, verdict == 0)
    return (built_on & UnitSet.of(spilled(heads["unit"][written]))) - units


def _chosen(subgraph: Subgraph, plan: Plan) -> Mask:
    """Which changes of the subgraph the selection takes. Changes that ``--ri skip`` and
    ``--triggers skip`` leave to the target count as taken."""
    _, verdict = _verdicts(subgraph, plan, True)
    return _by_values(subgraph, plan, (verdict == 0) | np.isin(verdict, LEFT_TO_TARGET))


def _verdicts(
    subgraph: Subgraph, plan: Plan, flags_resolved: bool
) -> tuple[Envelope, VerdictCodes]:
    """The headers of the changes of the subgraph, and what the selection says of them."""
    batch, log = subgraph.batch, subgraph.log
    heads = batch.records[batch.head]
    envelope = log.envelope(heads["file"], heads["offset"], heads["length"])
    facts = RecordFacts(
        batch.change, batch.version, plan.version_taken, log.dependent_position, flags_resolved
    )
    return envelope, decide(plan.selection, envelope, facts)


def _by_values(subgraph: Subgraph, plan: Plan, chosen: Mask) -> Mask:
    """Those of the chosen changes of the subgraph whose rows ``--where`` takes."""
    batch, log = subgraph.batch, subgraph.log
    if plan.selection.where is not None:
        decoder = RowDecoder(plan, log, profile_named(plan.options.dialect))
        for version in np.unique(batch.version).tolist():
            for kind in ROW_CHANGES:
                rows = np.flatnonzero(chosen & (batch.version == version) & (batch.change == kind))
                for part, images in (
                    log.images(batch.records, batch.head[rows], batch.weight[rows], kind)
                    if len(rows)
                    else ()
                ):
                    chosen[rows[part]] = decoder.judged(version, kind, images)[0]
    return np.asarray(chosen)


def _closure(subgraph: Subgraph, chosen: Mask, source: Index, target: Index) -> list[UnitId]:
    """The units that must go with the chosen changes, in commit order."""
    numbers, unit = _unit_numbers(subgraph)
    taken, added = chosen.copy(), np.zeros(len(numbers), bool)
    while True:
        reached = np.unique(unit[target[taken[source] & ~taken[target]]])
        if not len(reached):
            return [numbers[index] for index in np.flatnonzero(added).tolist()]
        added[reached] = True
        taken |= added[unit]


def _unit_numbers(subgraph: Subgraph) -> tuple[list[UnitId], Index]:
    """(units in commit order, the number of the unit of each change)."""
    heads = subgraph.batch.records["unit"][subgraph.batch.head]
    starts = order.run_starts(heads)
    number = np.zeros(len(heads), np.int64)
    number[starts[1:]] = 1
    return [UnitId(heads[start].tobytes()) for start in starts.tolist()], np.cumsum(number)


def _blocked(subgraph: Subgraph, chosen: Mask, source: Index, target: Index) -> Mask:
    """Chosen changes that a change outside builds on, those that blocked ones build on, and all of
    a cause of which one is blocked. Of a row, what one unit did to it is undone or left as a whole,
    and where that of one is left, so is that of those before it."""
    batch = subgraph.batch
    heads = batch.records[batch.head]
    envelope = subgraph.log.envelope(heads["file"], heads["offset"], heads["length"])
    _, unit = _unit_numbers(subgraph)
    group = (
        order.cause_groups(unit, envelope.origin() == ord(" "), batch.change, batch.version)[0]
        if len(unit)
        else unit
    )
    derived = np.zeros(int(group.max()) + 1 if len(group) else 0, bool)
    derived[group[envelope.origin() != ord(" ")]] = True
    blocked = np.zeros(len(chosen), bool)
    while True:
        before = blocked.copy()
        blocked[source[chosen[source] & (~chosen[target] | blocked[target])]] = True
        whole = np.zeros(len(derived), bool)
        whole[group[blocked]] = True
        blocked |= chosen & (whole & derived)[group]
        last = np.full(len(chosen), -1, np.int64)
        np.maximum.at(last, subgraph.lineage[blocked], unit[blocked])
        blocked |= chosen & (unit <= last[subgraph.lineage])
        if np.array_equal(blocked, before):
            return blocked


# -- undo
# -------------------------------------------------------------------------------------------------


def cascade(plan: Plan, dependents: Consequences, mode: str) -> Plan:
    """The plan of an undo with ``--cascade``: ``none`` refuses when anything built on the chosen
    changes, ``all`` undoes the dependents too, ``non-conflicting`` leaves out what others built on,
    ``force`` changes nothing: the rows are taken to be as the chosen changes left them.

    Refusal LR3010 (none; all when a dependent unit is incomplete).
    """
    decisions = plan.decisions or UnitDecisions()
    if mode == "none" and dependents.conflicts:
        raise Refusal("LR3010", _found_dependents(dependents), hint=_ways_out(dependents))
    taken = dependents.chosen
    if mode == "all" and dependents.units:
        _check_complete(dependents)
        decisions = replace(decisions, added=frozenset(dependents.units))
        taken = taken | of_units(dependents.subgraph, decisions.added)
    if mode == "non-conflicting" and dependents.blocked.any():
        batch = dependents.subgraph.batch
        rows = np.repeat(batch.head[dependents.blocked], batch.weight[dependents.blocked])
        first = np.cumsum(batch.weight[dependents.blocked]) - batch.weight[dependents.blocked]
        rows = rows + np.arange(len(rows)) - np.repeat(first, batch.weight[dependents.blocked])
        decisions = replace(decisions, left=_places(batch.records[rows]))
        taken = taken & ~dependents.blocked
    if mode == "force":
        return plan
    return replace(
        plan, decisions=replace(decisions, unlike=_unlike(dependents.subgraph, taken, undo=True))
    )


def _found_dependents(dependents: Consequences) -> str:
    """The later units that depend on what is to be undone: how many there are, and a table of the
    first ones."""
    conflicts, units = dependents.conflicts, dependents.units
    direct = len({conflict.unit for conflict in conflicts})
    lines = [
        f"found {_number(len(units), 'later unit')} that depend{'s' * (len(units) == 1)} on what is"
        f" to be undone, {direct:,} of them directly; expected none"
    ]
    shown = [(str(one.unit), LINK_WORDS[one.link], one.key, str(one.on)) for one in conflicts[:8]]
    rows = [("unit", "why", "row", "of unit"), *shown]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(f"  {'  '.join(cells)}".rstrip())
    if len(conflicts) > len(shown):
        lines.append(f"  and {len(conflicts) - len(shown):,} more")
    return "\n".join(lines)


def _ways_out(dependents: Consequences) -> str:
    """The three ways out, each with what it does, as options of the same command."""
    left = int(dependents.blocked.sum())
    rest = _number(int(dependents.chosen.sum()) - left, "change")
    return (
        "Three ways out, with the same command and:\n"
        f"  --cascade non-conflicting  undoes {rest}, and leaves {left:,} that later work depends"
        " on\n"
        f"  --cascade all              undoes {_number(len(dependents.units), 'more unit')}, the"
        " dependent ones first\n"
        "  --cascade force            undoes what was asked for, without any check\n"
        "logreplay whatif shows all of it"
    )


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def of_units(subgraph: Subgraph, units: Collection[UnitId]) -> Mask:
    """Which changes are of some units."""
    numbers, unit = _unit_numbers(subgraph)
    return np.array([number in units for number in numbers] or [False], bool)[unit]


def _unlike(subgraph: Subgraph, taken: Mask, *, undo: bool) -> Index:
    """The places of changes that are written and whose row is not as their images show it, because
    a change of other columns of the row is not written too: one after it (``undo``), else one
    before it. ``taken``: what is undone, or what is left out of a redo."""
    every, row = np.arange(len(taken)), subgraph.row
    if undo:
        last = np.full(len(taken), -1, np.int64)
        np.maximum.at(last, row[~taken], every[~taken])
        found = taken & (last[row] > every)
    else:
        first = np.full(len(taken), len(taken), np.int64)
        np.minimum.at(first, row[taken], every[taken])
        found = ~taken & (first[row] < every)
    batch = subgraph.batch
    return _places(batch.records[batch.head[found]])


def rows_touched(analysis: DependencyAnalysis, units: UnitSet) -> Index | None:
    """The places of changes of other units whose row a change of ``units``, which a redo leaves
    out, touched before; None where a change of these cannot be read."""
    subgraph = analysis.reached(analysis.survey(StartUnits(units=units)))
    if subgraph.survey.unread & units:
        return None
    return _unlike(subgraph, of_units(subgraph, units), undo=False)


def _places(records: Records) -> Index:
    """The places of records, rising."""
    files, offsets = (records[name].astype(np.int64) for name in ("file", "offset"))
    return np.sort(places_of(files, offsets))


def _check_complete(dependents: Consequences) -> None:
    subgraph, units = dependents.subgraph, set(dependents.units)
    records = subgraph.batch.records
    envelope = subgraph.log.envelope(records["file"], records["offset"], records["length"])
    for row in np.flatnonzero(envelope.incomplete_unit()).tolist():
        unit = unit_of(records[row])
        if unit in units:
            incomplete = subgraph.log.in_words("incomplete (INCOMPLETETRANS)")
            message = (
                f"found unit {unit} among the dependents, which is "
                f"{incomplete}; expected units that can be undone"
            )
            raise Refusal(
                "LR3010", message, hint="--cascade non-conflicting leaves alone what it depends on"
            )


# -- redo of all but some
# -------------------------------------------------------------------------------------------------


def leave_out(plan: Plan, dependents: Consequences) -> Plan:
    """The plan of a redo without the units that the selection behind ``dependents`` takes, and
    without what builds on them. Refusal LR3010 where a change of one of them cannot be read."""
    chosen = dependents.chosen_units
    unread = dependents.subgraph.survey.unread_units({*chosen, *dependents.units})
    if unread:
        raise Refusal(
            "LR3010",
            "found changes that cannot be read in the units to leave out, so the units that"
            f" depend on them are not known: units {unread}; expected units whose changes"
            " can be read",
            hint="logreplay check names the records: transfer the log again. A redo sets such units"
            " aside by itself, with what provably depends on them",
        )
    dropped = dict.fromkeys(dependents.units, REASON[BUILDS_ON_EXCLUDED])
    dropped |= dict.fromkeys(chosen, REASON[EXCLUDED])
    left = of_units(dependents.subgraph, dropped.keys())
    decisions = replace(
        plan.decisions or UnitDecisions(),
        dropped=dropped,
        unlike=_unlike(dependents.subgraph, left, undo=False),
    )
    return replace(plan, decisions=decisions)
