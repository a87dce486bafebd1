"""A bundle: a folder of scripts in order, or of datasets, and ``manifest.json`` that says what is in it and where it came from.

A bundle appears whole or not at all: everything is written into a temporary folder beside the target and renamed at the end.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import replay
from replay.bucket import BucketResult
from replay.changes import Change
from replay.errors import InputError, Refusal, UsageError, first_finding_error
from replay.export import export_contents
from replay.logs import LogFile
from replay.plan import Plan
from replay.quarantine import write_quarantine
from replay.report import Tally
from replay.run import Outcome, carry_out
from replay.selection import unmatched
from replay.stages import Engine
from sqlgen.constraints import Constraints


@dataclass(frozen=True)
class Bundle:
    """A written bundle: where it is, its manifest, and the exit code its balance sheet calls for."""

    folder: Path
    manifest: dict[str, Any]
    tally: Tally
    exit_code: int


#: Names of the files of a bundle: manifests, plans, scripts, parts of datasets.
_OURS = re.compile(r"manifest\.json|PLAN\.md|\d{2,}-.+\.sql|part-\d+(-\d+)?\.\w+")


def write_file(path: Path, text: str) -> None:
    """Write one file whole or not at all. UsageError (LR1002) for a folder."""
    if path.is_dir():
        raise UsageError("LR1002", f"{path} is a folder; expected a file")
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}-", delete=False) as work:
        work.write(text)
    Path(work.name).chmod(0o644)
    Path(work.name).rename(path)


def check_output(folder: Path, overwrite: bool) -> None:
    """Refuse an output folder that holds something, unless ``overwrite``; refuse a file."""
    if folder.exists() and not folder.is_dir():
        raise UsageError("LR1002", f"{folder} is a file; --out names a folder")
    if folder.is_dir() and any(folder.iterdir()):
        if not overwrite:
            raise UsageError("LR1002", f"{folder} is not empty", hint="Name another folder, or use --overwrite to replace a bundle")
        strange = _strange(folder)
        if strange is not None:
            raise UsageError("LR1002", f"{folder} {strange}, so it is not a bundle", hint="--overwrite replaces bundles only")


def _strange(folder: Path) -> str | None:
    """Why a folder is no bundle of ours, or holds more than that; None where it may be replaced."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "is not empty and holds no manifest.json"
    except (OSError, ValueError):
        return "holds a manifest.json that cannot be read"
    if not isinstance(manifest, dict) or not str(manifest.get("program", "")).startswith("logreplay "):
        return "holds a manifest.json that logreplay did not write"
    for path in sorted(folder.rglob("*")):
        if not path.is_dir() and not _OURS.fullmatch(path.name):
            return f"holds {path.relative_to(folder)}, which logreplay did not write"
    return None


def write_bundle(
    plan: Plan,
    log: LogFile,
    out: Path,
    engine: Engine,
    *,
    overwrite: bool = False,
    warnings: list[str] | None = None,
    constraints: Constraints | None = None,
) -> Bundle:
    """Run ``plan`` and publish its scripts (or datasets) and manifest as the folder ``out``.

    Raises UsageError when ``out`` is in use, Refusal when a selected change cannot be expressed, InputError when damage leaves no unit
    trustworthy or, with ``--strict``, at the first finding. Nothing is left behind then.
    """
    check_output(out, overwrite)
    out.parent.mkdir(parents=True, exist_ok=True)
    digests = Digests(log)
    work = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        outcome = carry_out(replace(plan, constraints=constraints or Constraints()), log, engine, work)
        plan, tally = outcome.plan, outcome.tally
        raise_for(plan, tally)
        apart = write_quarantine(outcome, log, engine, work)
        warnings = [*(warnings or []), *_consequences(outcome), *nothing_left(plan, tally), *_left_standing(plan, tally)]
        exit_code = tally.exit_code(warnings)
        manifest = _manifest(plan, log, tally, outcome.results, digests.wait(), warnings, exit_code)
        if apart is not None:
            manifest["quarantine"] = apart
        if outcome.consequences is not None:
            manifest["consequences"] = outcome.consequences.describe()
        (work / "manifest.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        publish(work, out)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    return Bundle(out, manifest, tally, exit_code)


def _consequences(outcome: Outcome) -> list[str]:
    """What a user must know of the changes that built on what was undone or left out."""
    found, selection = outcome.consequences, outcome.plan.selection
    if found is None or not found.conflicts:
        return []
    dependents = f"{len(found.units)} units build on what was chosen (the log was read to its end); the manifest names them"
    if outcome.plan.mode == "redo":
        return [f"{dependents}; they are left out too"]
    said = {
        "all": "they are undone too",
        "non-conflicting": f"{int(found.blocked.sum())} changes are left as they are, so units are undone in part",
        "force": "their changes stay, and what was built on is undone under them",
    }
    return [f"{dependents}; {said[selection.cascade]} (--cascade {selection.cascade})"]


def _left_standing(plan: Plan, tally: Tally) -> list[str]:
    """What a user must know of an undo that leaves units alone: unless a redo filled the database, what these changed is in it."""
    if plan.mode != "undo" or not tally.quarantined_units or not tally.statements or plan.selection.cascade == "force":
        return []
    if plan.options.render.where_columns == "key":
        return [
            "units are set aside; where one changed a row after a unit that is undone here, its change is overwritten: see quarantine/ first"
        ]
    return [
        "units are set aside; a statement that undoes what one changed later touches no row, as it names the old values (--where-columns)"
    ]


def nothing_left(plan: Plan, tally: Tally) -> list[str]:
    """What a user must know who named units, users and the like that the log does not have: nothing is wrong, and nothing comes of it."""
    return [] if tally.outcomes != sum(tally.skipped.values()) else unmatched(plan.selection, tally.skipped)


def publish(work: Path, out: Path) -> None:
    """Rename ``work`` to ``out``; an old bundle is moved aside first and removed last."""
    work.chmod(0o755)
    aside = None
    if out.exists():
        aside = Path(tempfile.mkdtemp(prefix=f".{out.name}-old-", dir=out.parent))
        out.rename(aside / out.name)
    work.rename(out)
    if aside is not None:
        shutil.rmtree(aside)


def raise_for(plan: Plan, tally: Tally) -> None:
    """Raise what a tally says that nothing can be published after: InputError for damage that leaves no unit trustworthy, or with ``--strict`` for
    the first finding; Refusal for a change that cannot be expressed."""
    if tally.fatal:
        finding = tally.fatal[0]
        more = f" ({len(tally.fatal) - 1} more such records)" if len(tally.fatal) > 1 else ""
        found = f"found {finding.found}; expected {finding.expected}; a record with such a header may be of any unit, so no unit can be trusted{more}"
        raise InputError(finding.code, found, finding.where, finding.hint)
    if plan.options.strict and tally.findings:
        raise first_finding_error(tally.findings[0])
    if tally.refusals:
        first = tally.refusals[0]
        more = f" ({len(tally.refusals)} such changes)" if len(tally.refusals) > 1 else ""
        raise Refusal(first.code, f"found {first.found}; expected {first.expected}{more}", first.where, first.hint)
    if tally.read == 0:
        raise InputError("LR2002", "found no record in the data files; expected at least one", hint="Was the right data file given?")


class Digests:
    """SHA-256 of the inputs, computed in a thread while the engine runs (hashing releases the interpreter lock)."""

    def __init__(self, log: LogFile) -> None:
        self.log = log
        self.found: list[dict[str, Any]] = []
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        for path in self.log.inputs():
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            self.found.append({"name": Path(path).name, "size": Path(path).stat().st_size, "sha256": digest})

    def wait(self) -> list[dict[str, Any]]:
        """Name, size and digest of each input."""
        self.thread.join()
        return self.found


def _manifest(
    plan: Plan, log: LogFile, tally: Tally, results: list[BucketResult], inputs: list[dict[str, Any]], warnings: list[str], exit_code: int
) -> dict[str, Any]:
    contents = _scripts(plan, results) if plan.export is None else export_contents(plan, log, results)
    return {
        "program": f"logreplay {replay.__version__}",
        "mode": plan.mode if plan.export is None else "export",
        "inputs": inputs,
        "selection": plan.selection.describe(),
        **contents,
        "first_commit_lrsn": _hex(tally.first_commit),
        "last_commit_lrsn": _hex(tally.last_commit),
        "units": tally.units,
        "statements" if plan.export is None else "changes": tally.statements,
        "tables": changes_by_table(log, tally.changes),
        "balance": tally.balance(),
        "quarantined_units": tally.quarantine(),
        "findings": {"count": tally.finding_count, "shown": [str(finding) for finding in sorted(tally.findings, key=str)]},
        "warnings": warnings,
        "exit_code": exit_code,
    }


def _scripts(plan: Plan, results: list[BucketResult]) -> dict[str, Any]:
    options = plan.options
    return {
        "dialect": options.dialect,
        "options": {
            "names": options.names,
            "commit_every": options.commit_every,
            "records_per_file": options.records_per_file,
            "trace": options.trace,
            "strict": options.strict,
            **options.render.describe(),
            **({} if options.mapping is None else {"mapping": options.mapping.describe()}),
        },
        "scripts": [
            {
                "name": file.name,
                "size": file.size,
                "sha256": file.sha256,
                "statements": file.changes,
                "units": found.units,
                "first_commit_lrsn": _hex(found.first_commit),
                "last_commit_lrsn": _hex(found.last_commit),
            }
            for file, found in sorted(((file, r.tally) for r in results for file in r.files), key=lambda entry: entry[0].name)
        ],
    }


def changes_by_table(log: LogFile, changes: Mapping[tuple[int, int], int]) -> dict[str, dict[str, int]]:
    """How many changes of each kind each table has, from counts by (table version, kind of change)."""
    tables: dict[str, dict[str, int]] = {}
    for (version, change), count in sorted(changes.items()):
        table = log.catalog.versions[version].table
        counts = tables.setdefault(f"{table.schema}.{table.name}", {})
        name = Change(change).name.lower()
        counts[name] = counts.get(name, 0) + count
    return tables


def _hex(position: bytes | None) -> str | None:
    return None if position is None else position.hex().upper()
