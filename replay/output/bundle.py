"""A bundle: a folder of scripts in order, or of datasets, and ``manifest.json`` that says what is
in it and where it came from. It appears whole or not at all (:mod:`replay.output.whole_folder`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay.changes.balance import Tally
from replay.changes.catalog import TableVersion, ended_tables
from replay.changes.envelope import Change
from replay.changes.position import Position
from replay.changes.selection import BUILT_ON, LEFT_TO_TARGET, REASONS
from replay.engine.contract import Engine
from replay.errors import InputError, Refusal, Where, counted, first_finding_error, some_of
from replay.logs import LogFile
from replay.logs.record_facts import long_before_end
from replay.output.continuation import (
    Continuation,
    can_continue,
    check_continuation,
    plan_after,
    positions,
    refuse_other_options,
    refuse_other_types,
)
from replay.output.run_plan import CompletedRun, carry_out
from replay.output.whole_folder import whole_folder, write_manifest
from replay.pipeline.input_digests import Digests
from replay.pipeline.plan import BucketResult, Plan
from replay.pipeline.positions import LogPosition, table_ids
from replay.pipeline.script_client import JOB, check_sizes, job_of
from replay.storage import Place
from replay.version import __version__
from sqlgen.lazy_imports import when_used
from sqlgen.schema import Constraints

if TYPE_CHECKING:
    from replay.dependencies.baseline import StateBefore

with when_used():  # what some outputs alone need
    from replay.output import datasets, quarantine, structure
    from replay.pipeline import extent


@dataclass(frozen=True)
class Bundle:
    """A written bundle: where it is, the ``contents`` of its manifest (of which the units that are
    pending may be many: each is made as it is looked at), and the exit code its balance sheet calls
    for."""

    folder: Place
    contents: dict[str, Any]
    tally: Tally
    exit_code: int

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest as ``json.load`` has it."""
        ended = self.contents.get("positions")
        if ended is None:
            return self.contents
        after = {**ended["after"], "pending": dict(ended["after"]["pending"])}
        return {**self.contents, "positions": {**ended, "after": after}}


def write_bundle(
    plan: Plan,
    log: LogFile,
    out: Place,
    engine: Engine,
    *,
    overwrite: bool = False,
    warnings: list[str] | None = None,
    constraints: Constraints | None = None,
    state: StateBefore | None = None,
    before: Continuation | None = None,
    adjoining: bool = False,
    goes_on: bool = False,
) -> Bundle:
    """Run ``plan`` and publish its scripts (or datasets) and manifest as the folder ``out``.
    ``state``: the rows before the log (redo, export) or now (undo), to compare with. ``before``:
    the bundle to go on from, as :func:`replay.output.continuation.check_continuation` has it;
    ``goes_on``: it is one of a chain, or the first.

    Raises UsageError when ``out`` is in use, Refusal when a selected change cannot be expressed,
    InputError when damage leaves no unit trustworthy or, with ``--strict``, at the first finding.
    Nothing is left behind then.
    """
    if before is not None:
        check_continuation(before, plan, log, adjoining, engine)
        plan = plan_after(plan, log, before)
    with whole_folder(out, overwrite) as folder, Digests(log, plan.digests) as digests:
        work, stored = folder.work, folder.stored
        asked = replace(plan, constraints=constraints or Constraints())
        warnings = [*(warnings or []), *refuse_drops(asked, log)]
        outcome = carry_out(asked, log, engine, work, state, stored)
        plan, tally = outcome.plan, outcome.tally
        raise_for(plan, tally)
        warnings += refuse_other_tables(plan, log, tally, before.ended if before else None)
        apart = (
            quarantine.write_quarantine(outcome, log, engine, work, stored)
            if tally.quarantined_units
            else None
        )
        warnings = [
            *warnings,
            *consequences_told(outcome, log),
            *([] if outcome.differences is None else outcome.differences.warnings()),
            *outcome.contradictions(),
            *selection_warnings(plan, log, tally, engine),
            *_left_standing(plan, tally),
            *([] if apart is None else quarantine.flags_alone(plan, apart.get("taken"))),
        ]
        contents = (
            _scripts(plan, outcome.results)
            if plan.export is None
            else datasets.export_contents(plan, log, outcome.results)
        )
        manifest = manifest_of(plan, log, tally, contents, digests.wait(), warnings)
        if can_continue(plan):
            units = [one.units for one in outcome.results]
            manifest["positions"] = positions(
                before, log, plan, tally.quarantined_units, units, goes_on, tally.changes
            )
            if plan.export is None and plan.options != asked.options:  # changed for this run alone
                manifest["positions"]["options"] = _options(asked)
        if before is not None:
            refuse_other_options(before, manifest)
            if plan.export is not None:
                refuse_other_types(manifest, before.folder, [before.manifest])
        if engine.reason:
            manifest["engine"] = {"name": engine.name, "reason": engine.reason}
        if apart is not None:
            manifest["quarantine"] = apart
        if outcome.differences is not None:
            manifest["baseline"] = outcome.differences.describe()
        if outcome.consequences is not None:
            manifest["consequences"] = outcome.consequences.describe()
        if plan.export is not None:
            for name, text in datasets.files_beside(plan, log, outcome.results).items():
                (work / name).write_text(text, encoding="utf-8")
        _write_job(plan, log, contents, work)
        write_manifest(manifest, work / "manifest.json")
    return Bundle(out, manifest, tally, manifest["exit_code"])


#: Units that are named in a warning at most.
_FEW = 5


def consequences_told(outcome: CompletedRun, log: LogFile) -> list[str]:
    """What a user must know of the changes that built on what was undone or left out."""
    dependents, selection = outcome.consequences, outcome.plan.selection
    if dependents is not None and selection.excepted is not None and not dependents.chosen.any():
        told = "--except takes no change of this log that took effect: nothing is left out"
        return [told, *extent.unknown_units(log, selection.excepted)]
    if dependents is None or not dependents.conflicts:
        return []
    count = counted(len(dependents.units), "unit depends", "units depend")
    few = len(dependents.units) <= _FEW
    named = ", ".join(map(str, dependents.units)) if few else "the manifest names them"
    summary = f"{count} on what was chosen (the log was read to its end): {named}"
    if outcome.plan.mode == "redo":
        return [f"{summary}; they are left out too"]
    blocked = dependents.blocked_by_table()
    left = counted(sum(blocked.values()), "change")
    left += f" of {some_of((f'{name} ({n:,})' for name, n in blocked.items()), len(blocked))}"
    records = outcome.tally.skipped.get(BUILT_ON, 0)
    if records != sum(blocked.values()):  # the balance sheet counts these
        left += f" ({counted(records, 'record')}; a long row is several)"
    action = {
        "all": "they are undone too",
        "non-conflicting": f"not undone: {left}, so units are undone in part",
        "force": "later changes are kept; the selected changes are undone beneath them",
    }
    return [f"{summary}; {action[selection.cascade]} (--cascade {selection.cascade})"]


def _left_standing(plan: Plan, tally: Tally) -> list[str]:
    """What a user must know of an undo that leaves units alone: unless a redo filled the database,
    what these changed is in it."""
    if (
        plan.mode != "undo"
        or not tally.quarantined_units
        or not tally.statements
        or plan.selection.cascade == "force"
    ):
        return []
    if plan.options.render.where_columns == "key":
        return [
            "units are quarantined; where one changed a row after a unit that is undone here, its"
            " change is overwritten: see quarantine/ first"
        ]
    if plan.options.render.assert_rows:
        return [
            "units are quarantined; the script stops where one changed a row later, as its"
            " statements"
            " name the old values (--where-columns) and rows are counted (--assert)"
        ]
    return [
        "units are quarantined; a statement that undoes what one changed later touches no row,"
        " as it"
        " names the old values (--where-columns)"
    ]


def _left_to_target(plan: Plan, log: LogFile, tally: Tally) -> list[str]:
    """What foreign keys and triggers of the target will not do, although it was left to them."""
    by_keys = tally.skipped[log.in_words(REASONS[LEFT_TO_TARGET[0]])]
    if plan.mode == "undo" and by_keys:
        return [
            f"left out (--ri skip): {counted(by_keys, 'change')} that foreign keys made. No foreign"
            " key undoes what it did: deleted rows do not come back; --ri apply brings them back"
        ]
    if plan.mode == "redo" and tally.without_cause:
        return [
            "left to the target (--ri skip, --triggers skip):"
            f" {counted(tally.without_cause, 'change')} whose cause is not written, so the"
            " target does not make them: choose the tables and operations of the causes as well, or"
            " have these changes applied"
        ]
    return [] if plan.steps else without_cascades(plan, log, tally)


def without_cascades(plan: Plan, log: LogFile, tally: Tally) -> list[str]:
    """What is left to foreign keys of the target, where it is known to have none that acts."""
    by_keys = tally.skipped[log.in_words(REASONS[LEFT_TO_TARGET[0]])]
    acts = any(key.on_delete not in ("NO ACTION", "RESTRICT") for key in plan.acting.foreign_keys)
    if plan.mode == "undo" or not by_keys or acts or not plan.constraints.tell_foreign_keys:
        return []
    return [
        f"left to the target (--ri skip): {counted(by_keys, 'change')} that foreign keys made. No"
        " foreign key of it acts: rows would stay whose parents go; --ri apply makes these changes"
    ]


def selection_warnings(plan: Plan, log: LogFile, tally: Tally, engine: Engine) -> list[str]:
    """What a user must know whose selection takes nothing of the log, or by times that go back, or
    leaves to the target what that will not do."""
    told = tally.clock.warnings() + _left_to_target(plan, log, tally)
    first, last = tally.first_commit, tally.last_commit
    if last is None or first is None or long_before_end(log, first, last):
        told += extent.data_end_early(log, first, last, engine)
    if tally.outcomes != sum(tally.skipped.values()):
        named = {unit for unit, _ in plan.selection.units}
        if tally.units + len(tally.quarantined_units) < len(named):
            told += extent.unknown_units(log, plan.selection)
        return told
    return told + extent.nothing_left(log, plan.selection, tally.skipped, engine)


def raise_for(plan: Plan, tally: Tally) -> None:
    """Raise what a tally says that nothing can be published after: InputError for damage that
    leaves no unit trustworthy, or with ``--strict`` for the first finding; Refusal for a change
    that cannot be expressed."""
    if tally.fatal:
        finding = tally.fatal[0]
        more = f" ({len(tally.fatal) - 1} more such records)" if len(tally.fatal) > 1 else ""
        found = (
            f"found {finding.found}; expected {finding.expected}; a record with such a header may"
            f" be of any unit, so no unit can be trusted{more}"
        )
        raise InputError(finding.code, found, finding.where, finding.hint)
    if plan.options.strict and tally.findings:
        raise first_finding_error(tally.findings[0])
    if tally.refusals:
        first = tally.refusals[0]
        more = f" ({len(tally.refusals)} such changes)" if len(tally.refusals) > 1 else ""
        raise Refusal(
            first.code,
            f"found {first.found}; expected {first.expected}{more}",
            first.where,
            first.hint,
        )


#: What no record of a log does where only its catalog knows that a table was dropped.
_STAY = "no change takes away the rows that it had till then"


def refuse_other_tables(
    plan: Plan,
    log: LogFile,
    tally: Tally,
    before: LogPosition | None,
    is_empty: Callable[[TableVersion], bool] = lambda _: False,
) -> list[str]:
    """Refusal (LR3002, LR3003) for changes of a table whose name another one had in the logs
    ``before``: it was dropped between, and the rows of the one would stay in the other, but where
    that ``is_empty``. What a user must know of an export that has such."""
    told, undo = [], plan.mode == "undo"
    known = {} if before is None or plan.copies else before.tables
    for index in sorted({version for version, _ in tally.changes}) if known else ():
        version = log.catalog.versions[index]
        name, now = version.name, table_ids(log, [index]).get(version.name)
        was = known.get(name, now)
        if now is None or now == was or (not undo and is_empty(version)):
            continue
        found = (
            f"found changes of {name} (DBID.PSID.OBID {now}), which was another table ({was}) in"
            " the logs before: it was dropped and made again"
        )
        if plan.export is not None and plan.export.format != "debezium":
            told.append(f"{found}, and {_STAY}")
            continue
        at = before.position.commit.above if before is not None and before.position else None
        start = f" --from-position {at.hexadecimal}" if at is not None else ""
        hint = (
            "Empty the table, or make it anew as it was made then: a replay goes on where it"
            f" stands, scripts and events as another chain or folder (--after none{start})"
        )
        if undo:
            hint = "Take a copy of the target from before that: its rows do not come back"
        raise Refusal(
            "LR3002" if undo else "LR3003",
            f"{found}; expected the same table: {_STAY}",
            Where(table=name),
            hint,
        )
    return told


def refuse_drops(
    plan: Plan, log: LogFile, is_empty: Callable[[TableVersion], bool] = lambda _: False
) -> list[str]:
    """Refusal (LR3002, LR3003) for what goes over the drop of a table, of which only the catalog of
    the log knows: no statement takes away the rows of the one, so they would stay in another one,
    but where that ``is_empty``. What a user must know of an export that does."""
    told, undo, until = [], plan.mode == "undo", plan.selection.until_position
    again = not plan.copies and any(one.later for one in ended_tables(log.catalog.versions))
    for drop in structure.catalog_drops(log, plan) if again else ():
        there = plan.steps and until is not None and until <= drop.there
        if not (drop.before and not there if undo else drop.over):
            continue
        if not drop.before and is_empty(log.catalog.versions[drop.table.later[0]]):
            continue
        at, name = drop.table.at.hex().upper(), drop.table.name
        found = f"found changes of {name}, which was dropped at {at} and made again"
        last, following = (one.hexadecimal for one in (drop.there, drop.there.above))
        if plan.export is not None and plan.export.format != "debezium":
            told.append(f"{found}: {_STAY}")
            continue
        raise Refusal(
            "LR3002" if undo else "LR3003",
            f"{found}; expected changes before that or after it: no record of the log takes away"
            " the rows that the table had",
            Where(table=name),
            f"Take what comes before (--until-position {last}), empty the table or make it anew as"
            f" it was made then, and take the rest (--from-position {following}; a replay goes on"
            " where it stands). Undo only what came after it, or leave the table out"
            " (--exclude-table)",
        )
    return told


def manifest_of(
    plan: Plan,
    log: LogFile,
    tally: Tally,
    contents: Mapping[str, Any],
    inputs: list[dict[str, Any]],
    warnings: list[str],
) -> dict[str, Any]:
    """What the manifest of every kind of bundle says: what was read and chosen, its ``contents``,
    and what became of the log's records."""
    kind = "export" if plan.export is not None else "extract" if plan.copies else plan.mode
    return {
        "program": f"logreplay {__version__}",
        "mode": kind,
        "inputs": inputs,
        "selection": plan.selection.describe(),
        **({"behind_damage": chosen} if (chosen := plan.selection.behind_damage) else {}),
        **contents,
        "first_commit_lrsn": _hex(tally.first_commit),
        "last_commit_lrsn": _hex(tally.last_commit),
        "units": tally.units,
        "changes" if kind in ("export", "extract") else "statements": tally.statements,
        "tables": changes_by_table(log, tally.changes),
        **tally.account(),
        "warnings": warnings,
        "exit_code": tally.exit_code(warnings),
    }


def _write_job(plan: Plan, log: LogFile, contents: Mapping[str, Any], work: Path) -> None:
    """Write the job that runs scripts, where it is asked for. UsageError (LR1001) for a script that
    is too long for its client."""
    if plan.options.client is None or plan.export is not None:
        return
    sizes = {entry["name"]: entry["size"] for entry in contents["scripts"]}
    check_sizes(plan.options, sizes)
    if plan.options.jcl:
        (work / JOB).write_bytes(job_of(plan.options, plan.mode, log, sizes))


def _options(plan: Plan) -> dict[str, Any]:
    """How scripts are written, as JSON-able data."""
    options = plan.options
    return {
        "names": options.names,
        "commit_every": options.commit_every,
        **(
            {"commit_statements": options.commit_statements}
            if options.commit_statements is not None
            else {}
        ),
        **{
            name: value
            for name in ("client", "terminator", "encoding")
            if (value := getattr(options, name)) is not None
        },
        "records_per_file": options.records_per_file,
        "trace": options.trace,
        "strict": options.strict,
        **options.render.describe(),
        **({} if options.mapping is None else {"mapping": options.mapping.describe()}),
    }


def _scripts(plan: Plan, results: list[BucketResult]) -> dict[str, Any]:
    return {
        "dialect": plan.options.dialect,
        "options": _options(plan),
        "scripts": [
            {
                "name": file.name,
                "size": file.size,
                "sha256": file.sha256,
                "statements": file.changes,
                "units": tally.units,
                "first_commit_lrsn": _hex(tally.first_commit),
                "last_commit_lrsn": _hex(tally.last_commit),
            }
            for file, tally in sorted(
                ((file, r.tally) for r in results for file in r.files),
                key=lambda entry: entry[0].name,
            )
        ],
    }


def changes_by_table(
    log: LogFile, changes: Mapping[tuple[int, int], int]
) -> dict[str, dict[str, int]]:
    """How many changes of each kind each table has, from counts by (table version, kind of
    change)."""
    tables: dict[str, dict[str, int]] = {}
    for (version, change), count in sorted(changes.items()):
        counts = tables.setdefault(log.catalog.versions[version].name, {})
        name = Change(change).name.lower()
        counts[name] = counts.get(name, 0) + count
    return tables


def _hex(position: Position | None) -> str | None:
    return None if position is None else position.hexadecimal
