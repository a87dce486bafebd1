"""Undo of chosen changes, and redo of all but some: who built on them, and what follows from that.

Decided by row versions, not by values, and by column: a later update of other columns of the row is no conflict; one that set a column and
set it back is. The log is always read to its end, whatever the selection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from replay import order
from replay.changes import ROW_CHANGES, Change, unit_text
from replay.decode import RowDecoder
from replay.errors import Refusal
from replay.graph import LINK_WORDS, Evidence, Link
from replay.keys import Index, Mask
from replay.plan import Plan, Resolved, place_of
from replay.resolve import Answer, Asker, Seeds, key_text
from replay.selection import BUILDS_ON_EXCLUDED, EXCLUDED, REASON, Facts, Selection, decide
from sqlgen.dialects import profile_named

#: What ``--cascade`` accepts.
MODES = ("none", "all", "non-conflicting", "force")
#: Dependents named in a message; the manifest and ``whatif`` name all.
_NAMED = 20


@dataclass(frozen=True)
class Conflict:
    """A change outside of what is undone (or left out) that builds on a change inside of it."""

    unit: bytes
    on: bytes
    key: str
    link: Link

    def __str__(self) -> str:
        return f"unit {unit_text(self.unit)} {LINK_WORDS[self.link]}: {self.key}, of unit {unit_text(self.on)}"

    def describe(self) -> dict[str, str]:
        """As JSON-able data."""
        return {"unit": unit_text(self.unit), "on": unit_text(self.on), "key": self.key, "link": self.link.name.lower()}


@dataclass(frozen=True)
class Consequences:
    """What undoing some changes entails. ``chosen``: which changes of the answer were asked for; ``conflicts``: one a dependent unit and the unit it
    builds on directly; ``units``: the dependents, and theirs, that must go too; ``blocked``: chosen changes that others built on."""

    answer: Answer
    chosen: Mask
    conflicts: list[Conflict]
    units: list[bytes]
    blocked: Mask

    def describe(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "scanned_to": self.answer.survey.last.hex().upper(),
            "conflicts": [conflict.describe() for conflict in self.conflicts],
            "units": [unit_text(unit) for unit in self.units],
            "blocked_changes": int(self.blocked.sum()),
        }


def limits_changes(selection: Selection) -> bool:
    """Whether a selection can leave out a change that committed later than one it takes."""
    names = (
        *("until_position", "until_time", "tables", "exclude_tables", "ops", "units", "authids", "plans", "correlations", "connections"),
        *("members", "where"),
    )
    return any(getattr(selection, name) for name in names)


def consequences(asker: Asker, plan: Plan) -> Consequences:
    """Who built on the changes that the plan's selection takes."""
    survey = asker.survey(Seeds(selection=plan.selection))
    answer = asker.ask(survey, by_column=plan.options.render.where_columns != "all")
    chosen = _chosen(answer, plan)
    links = answer.links
    source, target = np.ascontiguousarray(links["source"]), np.ascontiguousarray(links["target"])
    outside = chosen[source] & ~chosen[target]
    conflicts: dict[tuple[bytes, bytes], Conflict] = {}
    for one, other, kind, space, gone in links[outside].tolist():
        pair = answer.unit(other), answer.unit(one)
        if pair not in conflicts:
            conflicts[pair] = Conflict(*pair, key_text(answer, Evidence(Link(kind), space, one, other, gone)), Link(kind))
    units = _closure(answer, chosen, source, target)
    return Consequences(answer, chosen, list(conflicts.values()), units, _blocked(answer, chosen, source, target))


def _chosen(answer: Answer, plan: Plan) -> Mask:
    """Which changes of the answer the selection takes. Changes that ``--ri skip`` and ``--triggers skip`` leave to the target count as taken."""
    batch, log = answer.batch, answer.log
    heads = batch.records[batch.head]
    envelope = log.envelope_of(heads["file"], heads["offset"], heads["length"])
    verdict = decide(plan.selection, envelope, Facts(batch.change, batch.version, plan.version_taken, log.dependent_position, True))
    left_to_target = (REASON["caused by RI (--ri skip)"], REASON["caused by a trigger (--triggers skip)"])
    chosen = (verdict == 0) | np.isin(verdict, left_to_target)
    if plan.selection.where is not None:
        decoder = RowDecoder(plan, log, profile_named(plan.options.dialect))
        for version in np.unique(batch.version).tolist():
            for kind in ROW_CHANGES:
                rows = np.flatnonzero(chosen & (batch.version == version) & (batch.change == kind))
                for part, images in log.images(batch.records, batch.head[rows], batch.weight[rows], kind) if len(rows) else ():
                    chosen[rows[part]] = decoder.wanted(version, kind, images)
    return np.asarray(chosen)


def _closure(answer: Answer, chosen: Mask, source: Index, target: Index) -> list[bytes]:
    """The units that must go with the chosen changes, in commit order."""
    numbers, unit = _unit_numbers(answer)
    taken, added = chosen.copy(), np.zeros(len(numbers), bool)
    while True:
        reached = np.unique(unit[target[taken[source] & ~taken[target]]])
        if not len(reached):
            return [numbers[index] for index in np.flatnonzero(added).tolist()]
        added[reached] = True
        taken |= added[unit]


def _unit_numbers(answer: Answer) -> tuple[list[bytes], Index]:
    """(units in commit order, the number of the unit of each change)."""
    heads = answer.batch.records["unit"][answer.batch.head]
    starts = order.run_starts(heads)
    number = np.zeros(len(heads), np.int64)
    number[starts[1:]] = 1
    return [heads[start].tobytes() for start in starts.tolist()], np.cumsum(number)


def _blocked(answer: Answer, chosen: Mask, source: Index, target: Index) -> Mask:
    """Chosen changes that a change outside builds on, those that blocked ones build on, and all of a cause of which one is blocked."""
    batch = answer.batch
    heads = batch.records[batch.head]
    envelope = answer.log.envelope_of(heads["file"], heads["offset"], heads["length"])
    _, unit = _unit_numbers(answer)
    group = order.cause_groups(unit, envelope.origin() == ord(" "), batch.change, batch.version)[0] if len(unit) else unit
    derived = np.zeros(int(group.max()) + 1 if len(group) else 0, bool)
    derived[group[envelope.origin() != ord(" ")]] = True
    blocked = np.zeros(len(chosen), bool)
    while True:
        wrong = chosen[source] & ~blocked[source] & (~chosen[target] | blocked[target])
        fresh = source[wrong]
        if not len(fresh):
            return blocked
        blocked[fresh] = True
        whole = np.zeros(len(derived), bool)
        whole[group[blocked]] = True
        blocked |= chosen & (whole & derived)[group]


# -- undo ----------------------------------------------------------------------------------------------------------------------------------


def cascade(plan: Plan, found: Consequences, mode: str) -> Plan:
    """The plan of an undo with ``--cascade``: ``none`` refuses when anything built on the chosen changes, ``all`` undoes the dependents too,
    ``non-conflicting`` leaves out what others built on, ``force`` changes nothing.

    Refusal LR3010 (none; all when a dependent unit is incomplete).
    """
    known = plan.resolved or Resolved()
    if mode == "none" and found.conflicts:
        shown = "; ".join(map(str, found.conflicts[:_NAMED]))
        more = f" and {len(found.conflicts) - _NAMED} more" if len(found.conflicts) > _NAMED else ""
        message = f"found later changes that build on what shall be undone: {shown}{more}; expected none"
        hint = (
            f"--cascade all undoes {len(found.units)} more unit(s) first, --cascade non-conflicting leaves out {int(found.blocked.sum())} change(s), "
            "--cascade force undoes what was asked for all the same; logreplay whatif shows all of it"
        )
        raise Refusal("LR3010", message, hint=hint)
    if mode == "all" and found.units:
        _check_complete(found)
        return replace(plan, resolved=replace(known, added=frozenset(found.units)))
    if mode == "non-conflicting" and found.blocked.any():
        batch = found.answer.batch
        rows = np.repeat(batch.head[found.blocked], batch.weight[found.blocked])
        first = np.cumsum(batch.weight[found.blocked]) - batch.weight[found.blocked]
        rows = rows + np.arange(len(rows)) - np.repeat(first, batch.weight[found.blocked])
        places = [place_of(int(record["file"]), np.array([record["offset"]])) for record in batch.records[rows]]
        return replace(plan, resolved=replace(known, left=np.sort(np.concatenate(places))))
    return plan


def _check_complete(found: Consequences) -> None:
    answer, units = found.answer, set(found.units)
    records = answer.batch.records
    envelope = answer.log.envelope_of(records["file"], records["offset"], records["length"])
    for row in np.flatnonzero(envelope.incomplete_unit()).tolist():
        unit = records["unit"][row].tobytes()
        if unit in units:
            message = f"found unit {unit_text(unit)} among the dependents, which is incomplete (INCOMPLETETRANS); expected units that can be undone"
            raise Refusal("LR3010", message, hint="--cascade non-conflicting leaves alone what it built on")


# -- redo of all but some ------------------------------------------------------------------------------------------------------------------


def leave_out(plan: Plan, found: Consequences) -> Plan:
    """The plan of a redo without the units that the selection behind ``found`` takes, and without what builds on them."""
    chosen = {found.answer.unit(change) for change in np.flatnonzero(found.chosen).tolist()}
    dropped = dict.fromkeys(found.units, BUILDS_ON_EXCLUDED) | dict.fromkeys(chosen, EXCLUDED)
    return replace(plan, resolved=replace(plan.resolved or Resolved(), dropped=dropped))


# -- what if -------------------------------------------------------------------------------------------------------------------------------


def what_if(found: Consequences) -> dict[str, Any]:
    """The consequences of doing without the chosen changes, as JSON-able data: who must go too, which rows and tables, and the two ways to
    get there, undo with cascade and redo of all the others, side by side; ``statements`` at most, as an update that changes nothing needs none."""
    answer = found.answer
    chosen = [unit for unit, mine in _by_unit(answer, found.chosen) if mine]
    gone = {*chosen, *found.units}
    inside = np.array([answer.unit(change) in gone for change in range(len(answer.batch.head))], bool)
    tables: dict[str, Counter[str]] = {}
    for version, change in zip(answer.batch.version[inside].tolist(), answer.batch.change[inside].tolist(), strict=True):
        tables.setdefault(answer.log.catalog.versions[version].name, Counter())[Change(change).name.lower()] += 1
    statements = int(inside.sum())
    return {
        "without": [unit_text(unit) for unit in chosen],
        **found.describe(),
        "tables": {name: dict(sorted(counts.items())) for name, counts in sorted(tables.items())},
        "undo_cascade": {"units": len(gone), "statements": statements},
        "redo_except": {"statements": answer.survey.changes - statements, "left_out": statements},
    }


def _by_unit(answer: Answer, mask: npt.NDArray[np.bool_]) -> Iterable[tuple[bytes, bool]]:
    units, number = _unit_numbers(answer)
    return zip(units, (np.bincount(number, mask, len(units)) > 0).tolist(), strict=True)


def what_if_text(found: dict[str, Any]) -> str:
    """:func:`what_if` for the terminal."""
    lines = [f"without {', '.join(found['without']) or 'any unit'} (the log was read to its end, commit LRSN {found['scanned_to']})", ""]
    if not found["units"]:
        lines.append("nothing in the log builds on it")
    else:
        lines.append(f"{len(found['units'])} units must go too:")
        why = {entry["unit"]: entry for entry in reversed(found["conflicts"])}
        for unit in found["units"]:
            entry = why.get(unit)
            words = f"{LINK_WORDS[Link[entry['link'].upper()]]}: {entry['key']}, of {entry['on']}" if entry else "builds on one of these"
            lines.append(f"  {unit}  {words}")
    lines += ["", "changes that would not have happened:"]
    for name, counts in found["tables"].items():
        lines.append(f"  {name}  " + ", ".join(f"{count:,} {kind}" for kind, count in counts.items()))
    undo, redo = found["undo_cascade"], found["redo_except"]
    lines += [
        "",
        f"undo --cascade all   {undo['statements']:>12,} statements at most, on the database as it is after the log",
        f"redo --except        {redo['statements']:>12,} statements at most, on the database as it was before the log",
    ]
    return "\n".join(lines)
