"""An extract: the selected records of a log, or of a set of logs, as one log of their family again,
in the order of commit, with ``manifest.json`` beside it.

It appears whole or not at all, as a bundle does, and only once it was read again: the same records,
the same damage, the same readings of what its layouts leave open.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from replay import storage
from replay.changes.balance import Tally
from replay.changes.choices import USUAL_NAME
from replay.changes.notation import time_text
from replay.changes.position import LOWEST, Position, UnitId
from replay.changes.selection import Selection, limits
from replay.changes.units import Verdict, Verdicts
from replay.engine.contract import Engine
from replay.errors import Refusal, UsageError, counted
from replay.logs import CopyFacts, Family, LogFile, LogWriter
from replay.output.bundle import (
    Bundle,
    consequences_told,
    manifest_of,
    raise_for,
    selection_warnings,
)
from replay.output.continuation import (
    Continuation,
    can_continue,
    check_continuation,
    plan_after,
    positions,
    refuse_other_options,
)
from replay.output.extract_bucket import CopyCounts, CopyResult
from replay.output.run_plan import CompletedRun, carry_out, clear, write
from replay.output.whole_folder import (
    StoredFolder,
    whole_folder,
    write_manifest,
)
from replay.pipeline.input_digests import Digests
from replay.pipeline.plan import Plan, UnitDecisions

_NAME = re.compile(r"[A-Za-z0-9_@#$-][A-Za-z0-9_@#$.-]*")
#: Bytes of a part that are copied at a time.
_COPIED = 4 << 20
#: What a manifest says of units that are in a copy and wanted again.
_INCOMPLETE = Verdict("", "it is in the copy as far as the logs have it")


def writer_of(family: Family) -> LogWriter:
    """What writes logs of a family. Refusal (LR3020) where nothing does."""
    if family.writer is None:
        raise Refusal(
            "LR3020",
            f"found --source {family.name}; expected logmaster: there is no published layout"
            f" in which a part of a {family.title} would be a log of its own",
            hint="Keep the changes as data (logreplay export --format parquet, csv, jsonl or"
            " debezium), or the log files as they are, and select when they are read",
        )
    return family.writer()


def check_name(name: str) -> None:
    """UsageError (LR1001) for a name that no file of an extract can have."""
    if not _NAME.fullmatch(name) or name == "manifest":
        raise UsageError(
            "LR1001",
            f"found --name {name}; expected letters, digits and . _ - @ # $, without a folder",
        )


@dataclass(frozen=True)
class ExtractOptions:
    """How an extract is written: the ``name`` of its files (without what is behind the dot),
    whether what is in the folder already is replaced, whether units of recovery come whole, whether
    the log continues that of the extract before (``adjoining``)."""

    name: str = USUAL_NAME
    overwrite: bool = False
    whole_units: bool = False
    adjoining: bool = False


def write_extract(
    plan: Plan,
    log: LogFile,
    writer: LogWriter,
    out: storage.Place,
    engine: Engine,
    options: ExtractOptions,
    warnings: Sequence[str] = (),
    before: Continuation | None = None,
) -> Bundle:
    """Run ``plan`` (whose ``copies`` names the family of ``writer``) and publish the log and its
    manifest as the folder ``out``. ``before``: the extract to go on from, as
    :func:`replay.output.continuation.check_continuation` has it.

    Raises UsageError when ``out`` is in use, Refusal (LR3022) for what cannot be one log, or would
    be read otherwise than the log it comes from, InputError where a record names no unit, or at the
    first finding with ``--strict``. Nothing is left behind then.
    """
    check_name(options.name)
    writer.admit(log)
    if before is not None:
        check_continuation(before, plan, log, options.adjoining, engine)
        plan = plan_after(plan, log, before)
    with whole_folder(out, options.overwrite) as folder, Digests(log, plan.digests) as digests:
        work, stored = folder.work, folder.stored
        if options.whole_units:
            plan = _with_whole_units(plan, log, engine, work, stored)
        outcome = carry_out(plan, log, engine, work, None, stored)
        raise_for(outcome.plan, outcome.tally)
        names = tuple(f"{options.name}{suffix}" for suffix in writer.suffixes)
        facts = _facts(outcome, log)
        data = _joined(outcome, work, work / names[1], stored)
        control = writer.control(log, facts)
        (work / names[0]).write_bytes(control)
        writer.read_again(log, str(work / names[0]), str(work / names[1]), facts)
        files = {
            names[0]: {"size": len(control), "sha256": hashlib.sha256(control).hexdigest()},
            names[1]: {**data, "records": facts.records},
        }
        said = [
            *warnings,
            *consequences_told(outcome, log),
            *selection_warnings(outcome.plan, log, outcome.tally, engine),
            *_links_lost(outcome, log),
            *_damage(outcome.tally),
        ]
        counts = sorted(_counts(outcome).kinds.items())
        contents = {
            "family": plan.copies,
            "files": files,
            "reach": None if facts.reach is None else facts.reach.hexadecimal,
            "kinds": {kind.name.lower(): count for kind, count in counts},
        }
        manifest = manifest_of(outcome.plan, log, outcome.tally, contents, digests.wait(), said)
        if outcome.consequences is not None:
            manifest["consequences"] = outcome.consequences.describe()
        if options.whole_units:
            manifest["options"] = {"whole_units": True}
        if can_continue(plan):
            manifest["positions"] = _positions(before, outcome, log)
        if before is not None:
            refuse_other_options(before, manifest)
        if engine.reason:
            manifest["engine"] = {"name": engine.name, "reason": engine.reason}
        write_manifest(manifest, work / "manifest.json")
    return Bundle(out, manifest, outcome.tally, manifest["exit_code"])


def _positions(before: Continuation | None, outcome: CompletedRun, log: LogFile) -> dict[str, Any]:
    """What the manifest says of where the copy began and ended. Incomplete units are in it as they
    are, and are wanted again where a later log has more of them."""
    copies = [result for result in outcome.results if isinstance(result, CopyResult)]
    aside = Verdicts()
    for result in copies:
        aside.set_all(result.incomplete, _INCOMPLETE)
    aside = aside.with_own(outcome.tally.quarantined_units)
    return positions(before, log, outcome.plan, aside, [result.copied for result in copies], True)


def _with_whole_units(
    plan: Plan, log: LogFile, engine: Engine, work: Path, stored: StoredFolder | None
) -> Plan:
    """The plan with all changes of the units that it takes one of, which a first run tells."""
    results = write(engine, plan, log, work, stored)[1]
    clear(work)
    taken = [result.taken for result in results if isinstance(result, CopyResult)]
    units = frozenset(UnitId(unit.tobytes()) for part in taken for unit in part)
    return replace(plan, decisions=UnitDecisions(added=units))


def _joined(
    outcome: CompletedRun, work: Path, data: Path, stored: StoredFolder | None
) -> dict[str, Any]:
    """Put the parts of a copy one behind the other; the size and digest of the whole."""
    parts = sorted(file.name for result in outcome.results for file in result.files)
    digest, size = hashlib.sha256(), 0
    if stored is not None:
        stored.fetch(work)
        stored.taken.clear()
    with data.open("wb") as whole:
        for name in parts:
            with (work / name).open("rb") as part:
                while block := part.read(_COPIED):
                    whole.write(block)
                    digest.update(block)
                    size += len(block)
            (work / name).unlink()
    return {"size": size, "sha256": digest.hexdigest()}


def _counts(outcome: CompletedRun) -> CopyCounts:
    counts = CopyCounts()
    for result in outcome.results:
        assert isinstance(result, CopyResult)
        counts.add(result.counts)
    return counts


def _facts(outcome: CompletedRun, log: LogFile) -> CopyFacts:
    """What is in the copy."""
    selection, tally, counts = outcome.plan.selection, outcome.tally, _counts(outcome)
    reach = selection.until_position
    if selection.until_time is not None:  # which is no position: what is there, is there
        last = tally.last_commit or LOWEST
        reach = last if reach is None else min(last, reach)
    versions = outcome.plan.version_taken.copy()
    versions[list(counts.versions)] = True
    return CopyFacts(
        tally.emitted,
        counts.damaged,
        versions,
        frozenset(counts.images),
        frozenset(counts.kinds),
        counts.segmented > 0,
        None if reach is None else Position(reach),
        selection.incomplete == "keep",
        _described(selection),
    )


def _described(selection: Selection) -> str:
    """What was asked for, in words, where it was not all of the log."""
    policies = selection.ri == "skip" or selection.triggers == "skip"
    if not (limits(selection) or policies or selection.incomplete != "keep"):
        return ""
    left = ("cascade", "from_recovery_point", "include_aborted")
    told = {name: value for name, value in selection.describe().items() if name not in left}
    for name in ("from_time", "until_time"):
        if (moment := getattr(selection, name)) is not None:
            told[name] = time_text(moment)
    for name, usual in (("ri", "apply"), ("triggers", "apply"), ("incomplete", "keep")):
        if told.get(name) == usual:
            del told[name]
    return "; ".join(
        f"{name} {','.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in told.items()
    )


def _links_lost(outcome: CompletedRun, log: LogFile) -> list[str]:
    """A part of a log tells less of what depends on incomplete units than the log does."""
    selection = outcome.plan.selection
    if selection.incomplete != "keep" or log.dependent_position is None or not limits(selection):
        return []
    return [
        "the log has incomplete units, and what is left out may be what links others to them: a"
        " redo of this copy may take units that one of the log quarantines; --incomplete resolve"
        " leaves them out by what the whole log tells"
    ]


def _damage(tally: Tally) -> list[str]:
    if not tally.finding_count:
        return []
    return [
        f"damaged, or in contradiction to others: {counted(tally.finding_count, 'record')} of the"
        " log; the copy has them as they are, so whoever reads it quarantines their units too"
    ]
