"""What a user wants of a log, opened, placed and checked: the one way in, for the command line and
the library alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from replay import storage
from replay.changes.catalog import TableVersion
from replay.changes.choices import SETTING_ASIDE, Incomplete, Mode
from replay.changes.options import Export, ScriptOptions
from replay.changes.selection import Selection
from replay.csv_states import CsvForm
from replay.engine.contract import SPLIT_BYTES, Engine
from replay.errors import UsageError, usage_errors
from replay.logs import (
    Family,
    Inputs,
    LogFile,
    LosesCascades,
    OwnDialect,
    PartialImages,
    source_named,
)
from replay.pipeline.mapped_catalog import of_one_table, with_unique_keys
from replay.pipeline.request_checks import (
    applied_history,
    asserting,
    check_cascades,
    check_columns,
    check_needs,
    check_statements,
    check_told,
    key_notes,
    no_foreign_keys,
    none_stated,
    strange_schema,
    taken_versions,
    unread_keys,
)
from replay.pipeline.script_client import with_client
from sqlgen.choices import RealPolicy
from sqlgen.errors import choice
from sqlgen.lazy_imports import when_used
from sqlgen.schema import Constraints, Table

if TYPE_CHECKING:
    from replay.pipeline.plan import Plan

with when_used():  # what a look into a log, or a usual script, does without
    from replay.changes import value_filter
    from replay.pipeline import mapped_catalog, resolve_positions
    from replay.pipeline import plan as planning
    from sqlgen import mapping as mappings
    from sqlgen.render import upsert


@dataclass(frozen=True)
class TargetKeys:
    """Reads the keys of tables from the database that is written to, which has them under the names
    that a mapping gives."""

    read: Callable[[Sequence[Table]], Constraints]

    def __call__(self, tables: Sequence[Table]) -> Constraints:
        """The keys of tables of that database."""
        return self.read(tables)


#: What is known of the tables' keys: as it is, or made of the tables of the log, once all else is
#: checked (a database may have to be asked).
KeySource = Constraints | Callable[[Sequence[Table]], Constraints] | None


@dataclass(frozen=True)
class OpenLog:
    """A log that is open, and its family."""

    family: Family
    log: LogFile

    @property
    def dialect(self) -> str:
        """That of the database that wrote the log."""
        return self.log.dialect if isinstance(self.log, OwnDialect) else self.family.dialect


@dataclass(frozen=True)
class Request:
    """A log that is open, and what is wanted of it: positions are placed as this log places them,
    and everything that can be refused before a record is read has been.

    ``versions`` are the table versions that are taken and have columns, in the order of the
    catalog; ``constraints`` what is known of the tables' keys; ``warnings`` what the result
    carries; ``notes`` what a user may want to know beside it. ``export``: data is written, not
    scripts. ``baseline``: where the state is that the rows are compared with, ``csv`` how its files
    are written.
    """

    opened: OpenLog
    mode: Mode
    selection: Selection
    options: ScriptOptions
    versions: tuple[TableVersion, ...]
    constraints: Constraints = field(default_factory=Constraints)
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    export: Export | None = None
    baseline: str | None = None
    csv: CsvForm | None = None

    @property
    def log(self) -> LogFile:
        """The log."""
        return self.opened.log

    def plan(self, split_bytes: int = SPLIT_BYTES, engine: Engine | None = None) -> Plan:
        """The plan of it. Raises what :func:`replay.pipeline.plan.make_plan` raises."""
        plan = planning.make_plan(
            self.log, self.mode, self.selection, self.options, split_bytes, engine
        )
        return replace(plan, export=self.export, constraints=self.constraints)


@dataclass(frozen=True)
class Demand:
    """What is to be made: ``mode``; ``options`` of statements and values, None where none are
    written; ``structure``: changes of table structure alone. ``continued``: runs over several logs
    with the same words, so a table that is not in this one is a warning; and where it goes to is
    said apart from the selection. ``dependencies``: who built on whom is asked for; ``baseline``:
    the folder or URL of the state before the log (undo: of now), ``csv`` how its files are written;
    ``wide_reals``: REAL columns of
    hexadecimal floats are doubles; ``copied``: records become a log again as they are."""

    mode: Mode = Mode.REDO
    options: ScriptOptions | None = None
    mapping: mapped_catalog.MappingFile | None = None
    structure: bool = False
    continued: bool = False
    export: Export | None = None
    dependencies: bool = False
    baseline: str | None = None
    csv: CsvForm | None = None
    wide_reals: bool = False
    copied: bool = False

    @property
    def exact_reals(self) -> bool:
        """Whether hexadecimal floats of REAL are doubles: where asked for, and in each export."""
        policy = (self.options or ScriptOptions()).render.policy
        return self.wide_reals or self.export is not None or policy.reals is RealPolicy.DOUBLE


def open_source(
    source: str, inputs: Inputs, demand: Demand | None = None, selection: Selection | None = None
) -> OpenLog:
    """Open the log of a family. UsageError for a family, files or settings that do not fit; Refusal
    (LR3020), before anything is read, for what its logs cannot know (``demand``,
    ``selection``)."""
    family = source_named(source)
    inputs = _settled(inputs)
    if demand is not None:
        _check_needs(family, demand, selection or Selection())
    _check_files("--data", [*inputs.data, *(path for pair in inputs.pairs for path in pair.data)])
    _check_files("--control", [pair.control for pair in inputs.pairs])
    _check_files("--log", inputs.log)
    return OpenLog(family, family.open_log(inputs))


def _settled(inputs: Inputs) -> Inputs:
    """The inputs with URLs as this program spells them (:func:`replay.storage.settled`)."""
    options = {name: storage.settled(value) for name, value in inputs.options.items()}
    return replace(
        inputs,
        control=None if inputs.control is None else storage.settled(inputs.control),
        catalog=None if inputs.catalog is None else storage.settled(inputs.catalog),
        data=tuple(map(storage.settled, inputs.data)),
        log=tuple(map(storage.settled, inputs.log)),
        options=options,
        pairs=tuple(
            replace(
                pair,
                control=storage.settled(pair.control),
                data=tuple(map(storage.settled, pair.data)),
            )
            for pair in inputs.pairs
        ),
    )


def _check_files(option: str, paths: Sequence[str]) -> None:
    """UsageError (LR1001) for a file that is given twice: each of its changes would be made
    twice."""
    known: dict[str, str] = {}
    for path in paths:
        place = storage.same(path)
        if place in known:
            raise UsageError(
                "LR1001",
                f"found {option} {path}, which is {known[place]} again; expected each file once",
            )
        known[place] = path


def _in_dialect(
    opened: OpenLog, demand: Demand, options: ScriptOptions
) -> tuple[LogFile, ScriptOptions]:
    """The log and the options with the dialect that is wanted, or the log's own."""
    mapped = demand.mapping is not None or options.mapping is not None
    options, log = options.of_log(opened.dialect, mapped), opened.log
    return log.in_dialect(options.dialect) if isinstance(log, OwnDialect) else log, options


def make_request(
    opened: OpenLog, selection: Selection, demand: Demand, keys: KeySource = None
) -> Request:
    """Place and check what is wanted of a log.

    ``keys``: what is known of the tables' keys (None: what came with the log). Refusal LR3020 for
    what the family cannot know; UsageError LR1001 (positions, times, ranges, contradictions),
    LR1003 (``where``), LR1004 (tables and columns that are not there), LR1011 (mapping), LR3005,
    LR3006, LR3013 (names, keys and upserts that the target cannot have).
    """
    with usage_errors():
        demand = replace(demand, mode=choice(Mode, demand.mode, "mode"))
        _check_needs(opened.family, demand, selection)
        _check_units(demand, selection)
        check_told(opened.log, "structure" if demand.structure else demand.mode, selection)
        opened.family.admit(opened.log)
        if demand.exact_reals and opened.family.with_wide_reals is not None:
            opened = replace(opened, log=opened.family.with_wide_reals(opened.log))
        placed = resolve_positions.place(selection, opened.log)
        resolve_positions.check_ranges(placed)
        log, options = _in_dialect(opened, demand, _of_columns(placed, demand))
        placed = placed.without_history(log.catalog, lambda: _known_keys(keys, log, None))
        versions, strange = taken_versions(log, placed, demand.continued)
        check_columns(versions, options.render)
        mapping, shown = _mapping_of(demand, log, options), options.render
        if mapping is not None:
            shown = mapping.shown
            strange += [f"the mapping: {entry}" for entry in mapping.unknown]
            options = replace(options, mapping=mapping, render=mappings.plain(options.render))
        undo = demand.mode is Mode.UNDO
        if isinstance(log, PartialImages) and (undo or demand.export or demand.baseline):
            log.check_whole(versions, "an undo" if undo else "whole rows")
        if demand.options is not None and demand.export is None:
            check_statements(_in_target(versions, mapping), placed, options)
            check_cascades(demand.mode, placed, options)
            usual = None if demand.continued or demand.structure else demand.mode
            options = asserting(with_client(log, options), placed, usual)
        if placed.where is not None:
            value_filter.ValueFilter(placed.where, log.catalog)
        writes = demand.options is not None or demand.copied or demand.structure
        notes = list(resolve_positions.mark_notes(selection, log)) if writes else []
        constraints = _known_keys(keys, log, mapping)
        notes += [] if keys is None else key_notes(constraints)
        if not isinstance(keys, Constraints | TargetKeys):
            notes += none_stated(demand, placed, constraints)
        _check_masks(mapping, log, constraints)
        constraints, found = of_one_table(log, constraints)
        notes += found if writes else []
        lost: tuple[str, ...] = ()
        if isinstance(log, LosesCascades):
            log, lost = log.knowing_keys(constraints, undo)
        if (demand.options is not None and demand.export is None) or demand.dependencies:
            log, found = with_unique_keys(log, constraints, shown)
            notes += found if writes else []
            versions = [log.catalog.versions[version.index] for version in versions]
            _check_upserts(options, _in_target(versions, mapping))
        warnings = (
            *strange_schema(constraints, log),
            *no_foreign_keys(demand, placed, constraints),
            *unread_keys(constraints),
            *([] if demand.options is None else applied_history(placed, versions, constraints)),
            *strange,
            *lost,
            *log.warnings([] if demand.copied else versions),
        )
        if mapping is not None:
            log, constraints = mapped_catalog.mapped(log, constraints, mapping)
    return Request(
        replace(opened, log=log),
        demand.mode,
        placed,
        options,
        tuple(log.catalog.versions[version.index] for version in versions),
        constraints,
        warnings,
        tuple(notes),
        demand.export,
        demand.baseline,
        demand.csv,
    )


def _mapping_of(demand: Demand, log: LogFile, options: ScriptOptions) -> mappings.TableMap | None:
    """The mapping of a demand; errors as :func:`replay.pipeline.mapped_catalog.table_map`."""
    if demand.mapping is not None:
        typed = demand.options is not None and demand.export is None
        return mapped_catalog.table_map(demand.mapping, log, options, typed, demand.continued)
    return None if options.mapping is None else replace(options.mapping, options=options.render)


def _in_target(
    versions: list[TableVersion], mapping: mappings.TableMap | None
) -> list[TableVersion]:
    """Table versions as the target has them."""
    if mapping is None:
        return versions
    return [mapped_catalog.mapped_version(version, mapping) for version in versions]


def _known_keys(keys: KeySource, log: LogFile, mapping: mappings.TableMap | None) -> Constraints:
    """What is known of the keys of the log's tables, by their names in the log."""
    if keys is None:
        return log.constraints
    tables = [version.table for version in log.catalog.versions]
    if isinstance(keys, Constraints):
        known = keys
    elif isinstance(keys, TargetKeys) and mapping is not None:
        known = mapped_catalog.keys_of_target(mapping, keys, tables)
    else:
        known = keys(tables)
    return replace(known, complete=not known.strange)


def _check_upserts(options: ScriptOptions, versions: Sequence[TableVersion]) -> None:
    """SqlgenError (LR3013) for upserts into a table of which no key is known."""
    if options.render.upsert:
        upsert.check_keys(version.table for version in versions)


def _check_masks(mapping: mappings.TableMap | None, log: LogFile, constraints: Constraints) -> None:
    """SqlgenError (LR1011) where a key and what refers to it get different masks, by foreign keys
    of the log, too: a target may have none."""
    if mapping is None:
        return
    for known in (constraints, log.constraints):
        mapping.check_masks(known, [version.table for version in log.catalog.versions])


def _check_needs(family: Family, demand: Demand, selection: Selection) -> None:
    check_needs(family, "structure" if demand.structure else demand.mode, selection)


def _check_units(demand: Demand, selection: Selection) -> None:
    """UsageError (LR1001) where incomplete units would be written as if they were whole."""
    if selection.incomplete is Incomplete.KEEP and demand.options is not None:
        raise UsageError(
            "LR1001",
            f"found --incomplete keep; expected one of: {', '.join(SETTING_ASIDE)}",
            hint="Only a copy of the log (extract) can keep incomplete units, flagged as they are",
        )


def _of_columns(selection: Selection, demand: Demand) -> ScriptOptions:
    """The options with the columns that a selection names, where they name none themselves."""
    options = demand.options or ScriptOptions()
    render, named = options.render, selection.columns or selection.exclude_columns
    if not named or render.columns or render.exclude_columns:
        return options
    chosen = replace(render, columns=selection.columns, exclude_columns=selection.exclude_columns)
    return replace(options, render=chosen)
