"""``--also``: more outputs of the same changes, from the log as it is open."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from replay.changes.choices import CascadeMode, Incomplete, Mode
from replay.changes.options import Export, ScriptOptions
from replay.changes.selection import Selection
from replay.cli.keep_commands import copy_request
from replay.cli.outcome import check_file
from replay.cli.parser import parse
from replay.cli.request import LogInput, data_options_of, options_of, selection_of
from replay.cli.terminal import Bar
from replay.errors import UsageError, usage_errors
from replay.logs import source_named
from replay.options.command_options import COPIED, OF_VALUES
from replay.options.command_options import options_of as options_named
from replay.options.option import REPORT
from replay.output.continuation import NOTHING
from replay.output.extraction import writer_of
from replay.output.formats import export_request
from replay.output.whole_folder import check_output
from replay.pipeline.mapped_catalog import MappingFile
from replay.pipeline.request import Demand, OpenLog, Request, make_request
from replay.reports.layout import ReportFormat, written
from replay.reports.make_report import report_of
from replay.reports.report_kinds import ReportKind, ReportOptions
from replay.storage import Place
from replay.storage.durable import write_file
from sqlgen.errors import choice

#: The kinds of output that are no scripts: data, and a log again.
EXPORT, EXTRACT = "export", "extract"


#: Groups of options that a selection of its own may set.
_SELECTING = ("selection (all of it combines)", "dependencies")


@dataclass(frozen=True)
class Also:
    """An output beside the first as it is asked for: its kind, its place, and the arguments of its
    selection (the command's own, unless it names a stored selection)."""

    kind: str
    place: Path
    arguments: argparse.Namespace


def check_also(mode: Mode, arguments: argparse.Namespace) -> list[Also]:
    """The outputs beside the first. UsageError (LR1001, LR1002) for those that cannot be had beside
    it, before anything is read."""
    if arguments.also and (arguments.dry_run is not None or str(arguments.out) == "-"):
        raise UsageError("LR1001", "found --also without a folder in --out; expected both")
    _check_chains(arguments)
    places: list[Path] = [Path(str(arguments.out)).absolute()]
    others = [_asked(spelled, place, arguments) for spelled, place in arguments.also]
    for one in others:
        other = one.kind == Mode.UNDO or mode is Mode.UNDO
        if other and one.kind != mode:
            _refuse_meant_for(mode, one.kind, one.arguments)
        if one.kind == EXTRACT:
            _check_copied(one.arguments)
        if one.kind.startswith(REPORT):
            _kind_of_report(one.kind)
            check_file(one.place, arguments.overwrite)
        else:
            check_output(one.place, arguments.overwrite)
        path = Path(str(one.place)).absolute()
        if any(path == taken or path in taken.parents or taken in path.parents for taken in places):
            raise UsageError(
                "LR1002",
                f"found {one.place} for two outputs; expected a folder of its own for each",
            )
        places.append(path)
    return others


def _asked(spelled: str, place: Path, arguments: argparse.Namespace) -> Also:
    """An output as it is spelled. UsageError (LR1001) for a selection that is not stored, or that
    says more than which changes."""
    kind, _, name = spelled.partition("@")
    if not name:
        return Also(kind, place, arguments)
    if getattr(arguments, "after", None) is not None:
        raise UsageError("LR1001", f"found --also {spelled} with --after; expected two commands")
    configured = arguments.configured.with_selection(name, kind)
    own, first = (parse(one.words, one.given) for one in (configured, arguments.configured))
    made = argparse.Namespace(**vars(arguments))
    made.chosen = own.chosen
    for option in options_named(arguments.command.name):
        if option.group in _SELECTING:
            setattr(made, option.dest, getattr(own, option.dest))
        elif getattr(own, option.dest) != getattr(first, option.dest):
            raise UsageError(
                "LR1001",
                f"found {option.name} in a selection, and --also {spelled}; expected options that"
                " say which changes: the log is opened once",
            )
    return Also(kind, place, made)


def _check_chains(arguments: argparse.Namespace) -> None:
    """UsageError (LR1001) where an output does not say what it goes on from, or cannot."""
    after, chains = getattr(arguments, "after", None), dict(getattr(arguments, "also_after", ()))
    kinds = [kind for kind, _ in arguments.also]
    strange = sorted(chains.keys() - set(kinds))
    if strange or (chains and after is None):
        missing = f"--also {strange[0]}:DIR" if strange else "--after"
        kind = strange[0] if strange else min(chains)
        raise UsageError("LR1001", f"found --also-after {kind} without {missing}; expected both")
    if after is None:
        return
    for kind in kinds:
        if kind.startswith(REPORT):
            raise UsageError(
                "LR1001",
                f"found --also {kind} with --after; expected a command of its own, for a report is"
                " on all that the selection takes, not on what is new",
            )
        if kind == Mode.UNDO:
            raise UsageError(
                "LR1001",
                "found --also undo with --after; expected redo, export or extract, of which one"
                " goes on where another ended",
                hint="An undo of what is new: logreplay undo with --from-mark or --from-position",
            )
        if kind not in chains and str(after) != NOTHING:
            raise UsageError(
                "LR1001",
                f"found --after without what the {kind} of --also goes on from; expected"
                f" --also-after {kind}:MANIFEST",
                hint=f"--also-after {kind}:none begins a chain, with all changes of these logs",
            )


def _check_copied(arguments: argparse.Namespace) -> None:
    """UsageError (LR1001) for what a copy of the log cannot have, Refusal (LR3020) for families
    whose logs cannot be written."""
    writer_of(source_named(arguments.source))
    for option in OF_VALUES:
        if getattr(arguments, option.removeprefix("--").replace("-", "_")):
            raise UsageError(
                "LR1001", f"found {option} with --also extract; expected one of them: {COPIED}"
            )


def _refuse_meant_for(mode: Mode, kind: str, arguments: argparse.Namespace) -> None:
    """UsageError (LR1001) for an option that means something else in the other direction."""
    meant = {
        "--baseline": arguments.baseline is not None,
        "--except": bool(getattr(arguments, "excepted", None)),
        "--cascade": getattr(arguments, "cascade", CascadeMode.NONE) != CascadeMode.NONE,
        "--upsert": arguments.upsert,
    }
    given = [option for option, is_given in meant.items() if is_given]
    if given:
        raise UsageError(
            "LR1001",
            f"found {given[0]} of {mode} with --also {kind}, for which it means something else;"
            " expected two commands",
        )


@dataclass(frozen=True)
class OtherOutput:
    """An output beside the first: its kind, what is wanted, its folder or file, and what it goes on
    from; of a report, the changes that it is about, and the options that say so."""

    kind: str
    request: Request
    out: Path
    after: Place | None
    selection: Selection
    mapping: MappingFile | None
    chosen: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def is_report(self) -> bool:
        """Whether it is a report, and so no bundle."""
        return self.kind.startswith(REPORT)


def also_outputs(
    opened: OpenLog,
    others: list[Also],
    reading: LogInput,
    first: Demand,
    usual: tuple[argparse.Namespace, Selection],
    scratch: str,
) -> list[OtherOutput]:
    """What is wanted of an open log beside the ``first`` output. ``usual``: the command's arguments
    and what they select. Errors as those of :func:`replay.pipeline.request.make_request`."""
    made = []
    for one in others:
        demand, (arguments, selection) = first, usual
        if one.arguments is not arguments:
            selection = selection_of(one.arguments)
            options = options_of(one.arguments, one.arguments.dialect, selection)
            demand = replace(first, options=options)
            selection = reading.settled(opened, selection, scratch)
        chains = dict(getattr(arguments, "also_after", ()))
        made.append(
            OtherOutput(
                one.kind,
                _request(one.kind, opened, one.arguments, reading, demand, selection),
                one.place,
                # what it goes on from is none where it does not say
                chains.get(one.kind, getattr(arguments, "after", None)),
                selection,
                demand.mapping,
                one.arguments.chosen,
            )
        )
    return made


def _kind_of_report(kind: str) -> ReportKind:
    with usage_errors():
        return choice(ReportKind, kind.removeprefix(REPORT), "--also report")


def write_report(opened: OpenLog, other: OtherOutput, reading: LogInput, scratch: str) -> int:
    """Write a report beside the first output; its exit code. Errors as those of
    :func:`replay.reports.make_report.report_of`."""
    with Bar(sys.stderr) as progress, usage_errors():
        asked = reading.asked(opened, scratch, progress, None, other.chosen)
        asked = replace(asked, mapping=other.mapping)
        report = report_of(asked, _kind_of_report(other.kind), other.selection, ReportOptions())
    suffix = Path(str(other.out)).suffix.removeprefix(".").lower()
    form = ReportFormat(suffix) if suffix in set(ReportFormat) else ReportFormat.TEXT
    write_file(other.out, written(report, form))
    print(f"written to {other.out}")
    return report.exit_code


def _request(
    kind: str,
    opened: OpenLog,
    arguments: argparse.Namespace,
    reading: LogInput,
    first: Demand,
    selection: Selection,
) -> Request:
    if kind == EXTRACT:
        # what the other outputs quarantine stays in the copy, flagged, as extract has it; unless
        # units are left out by what the log itself says of them
        kept = arguments.incomplete == Incomplete.RESOLVE
        selection = replace(
            selection,
            incomplete=Incomplete.KEEP if kept else Incomplete(arguments.incomplete),
            include_aborted=True,
            from_recovery_point=True,
        )
        options = first.options or ScriptOptions()
        options = replace(options, dialect=options.dialect or ScriptOptions().dialect)
        return copy_request(opened, selection, reading, options)
    if kind == EXPORT:
        options = data_options_of(arguments, selection)
        demand = Demand(
            options=options,
            mapping=first.mapping,
            export=Export("parquet"),
            baseline=arguments.baseline,
            csv=arguments.csv,
        )
        return export_request(opened, selection, demand, reading.keys())
    mode = first.mode if kind.startswith(REPORT) else Mode(kind)
    return make_request(opened, selection, replace(first, mode=mode), reading.keys())
