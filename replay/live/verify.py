"""Proof instead of hope: is a target in the state that it should be in, and does undo take back
exactly what redo did?

What should be there is computed in logreplay's own types: the rows of a state's files, and what the
log adds to them and takes away (:mod:`replay.live.expected`), as comparable texts
(:mod:`replay.live.comparable`). Both sides are added up by buckets of keys
(:mod:`replay.live.differences`); only what differs is read again, and named with both values.
"""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from replay.changes.choices import Enforcement
from replay.changes.position import Position
from replay.changes.selection import Selection
from replay.csv_states import CsvForm
from replay.errors import EXIT_ERROR, EXIT_OK, EXIT_WARNING, TargetError, UsageError, Where, counted
from replay.live import certificate
from replay.live.compared_tables import (
    ComparedTable,
    Comparison,
    compared_tables,
    found_rows,
    initial_rows,
    named_rows,
)
from replay.live.differences import RowDifferences, RowHash, SignedRows, differences_of, totals_of
from replay.live.expected import LogChanges
from replay.live.own_tables import HIDDEN
from replay.live.position_store import Store, TargetPosition
from replay.live.preflight import check_mapping, identity_of
from replay.live.replay import plan_replay
from replay.live.replay_request import ReplayInput, ReplayRequest
from replay.live.route import Destination
from replay.logs.words import said_of
from replay.pipeline.extent import log_extent
from replay.redaction import public
from replay.storage import Place, at, on_this_machine
from replay.targets import Session, TableFacts, Target, target_of
from replay.targets.hazards import ACCEPTABLE
from replay.temp_folders import WorkFolder
from replay.version import __version__
from sqlgen.choices import WhereColumns
from sqlgen.schema import SqlType

#: What is said where the state that is given is what the target should become.
_AFTER = (
    "the target has the rows of --expected as they are: they are those after the log. With a log,"
    " those before it are expected; leave the log out"
)


def compare(
    url: str | None,
    expected: Place,
    work: ReplayInput | None,
    out: Callable[[str], None],
    both_ways: bool,
    ddl: str | Path | None,
    target_schema: str | None,
    scratch: str | None,
    csv: CsvForm | None = None,
) -> tuple[int, dict[str, Any]]:
    """Carry out a comparison, or (``both_ways``) a round trip: (exit code, findings). UsageError
    (LR1001) where the log or the database lacks. ``csv``: how the files are written."""
    if both_ways:
        if work is None:
            raise UsageError(
                "LR1001",
                "verify --roundtrip needs a log",
                hint="Give the options that name one, such as --control and --data",
            )
        if work.options.mapping is not None:
            raise UsageError(
                "LR1001",
                "found --mapping with verify --roundtrip; expected one of them: a round trip loads"
                " the state's files as they are",
                hint="Compare a target of the mapping: verify --to URL --expected DIR",
            )
        with ExitStack() as places:
            folder = places.enter_context(on_this_machine(expected))
            script = None if ddl is None else places.enter_context(on_this_machine(at(ddl)))
            return roundtrip(url, script, target_schema, folder, work, out, scratch, csv)
    if url is None:
        raise UsageError(
            "LR1001",
            "found neither --to nor --roundtrip",
            hint="Say which database is to be compared",
        )
    with on_this_machine(expected) as folder:
        return state(url, target_schema, folder, work, out, csv)


def check_verifiable(selection: Selection) -> None:
    """UsageError (LR1001) for changes left to the target's foreign keys and triggers: the expected
    state is made without them."""
    for option in ("ri", "triggers"):
        if getattr(selection, option) == "skip":
            message = (
                f"found --{option} skip with verify; the expected state is made without the"
                " target's foreign keys and triggers"
            )
            hint = (
                "Compare with a state that you unloaded: verify --to URL --expected DIR,"
                " without a log"
            )
            raise UsageError(
                "LR1001", f"{message}, so what was left to them is not in it", hint=hint
            )


def state(
    url: str,
    schema: str | None,
    folder: Path,
    work: ReplayInput | None,
    out: Callable[[str], None],
    csv: CsvForm | None = None,
) -> tuple[int, dict[str, Any]]:
    """Compare the target with the state ``folder``, brought by ``work`` to where the target stands;
    (exit code, the certificate as JSON-able data).

    The target is only read, in one snapshot. Raises TargetError (LR4002) when the target lacks a
    table, InputError for a state or log that cannot be read.
    """
    target = target_of(url)
    with closing(target.connect(url)) as session, WorkFolder() as temporary:  # fmt: skip
        session.snapshot()
        store = Store(session)
        row = store.position()
        if work is not None:
            check_mapping(row, work.options)
        hidden = work is not None and row is None and store.is_hidden()
        files = target.state_tables(folder)
        if schema is not None:
            schemas = [schema]
        else:
            schemas = [_schema_with(session, files)] if work is None else _schemas_of(work)
        log, aside = None, 0
        if work is not None:
            until = None if row is None else row.position
            pending = frozenset(store.pending()) if row is not None else frozenset()
            aside = len(pending)
            log = LogChanges(work, until, pending, Path(temporary), folder, csv)
        comparison = compared_tables(session, schemas, folder, files, log, csv)
        differences = [_differences(session, table, log, work) for table in comparison.tables]
        remaining = [at[1] for at, one in session.facts_of(comparison.gone).items() if one]
        session.rollback()
        pairs = list(zip(comparison.tables, differences, strict=True))
        as_given = work is not None and _as_given(session, comparison, pairs, work)
        versions = session.version()
    at = said_of(row.source, f"at {row.position}") if row else "after the whole log"
    where = f"the state expected {at if work is not None else 'in ' + str(folder)}"
    out(f"Compared {public(url)} with {where}")
    verdicts = [_described(table, one) for table, one in pairs]
    differing = _report(verdicts, comparison, remaining, out)
    for note in _notes(row, work, differing):
        out(f"note: {note}")
    if as_given:
        out(f"note: {_AFTER}")
    if aside:
        out(
            f"warning: {counted(aside, 'quarantined unit')} of recovery, neither in the target nor"
            " in what was expected; logreplay status names them"
        )
    for name in comparison.torn:
        out(
            f"warning: {name} is not proven, for the log moves its rows to other keys and a part of"
            " their changes is left out; compare it with rows that were unloaded: --expected"
            " without a log"
        )
    if hidden:
        out(f"warning: {HIDDEN}: the rows after the whole log were expected")
    same = not (differing or comparison.is_empty)
    out(_verdict(differing, same))
    body = {
        "claim": f"the rows of the target are those of {where}",
        "holds": same,
        "target": public(url),
        "schema": schemas[0] if len(schemas) == 1 else schemas,
        "position": at,
        "accepted": [] if row is None else list(row.accepted),
        "same": same,
        **_about(work, folder, versions),
        "not_compared": list(comparison.not_compared),
        "tables": verdicts,
    }
    warned = aside or hidden or comparison.torn
    code = EXIT_ERROR if not same else EXIT_WARNING if warned else EXIT_OK
    return code, certificate.sealed(body)


def _as_given(
    session: Session,
    comparison: Comparison,
    pairs: Sequence[tuple[ComparedTable, RowDifferences]],
    work: ReplayInput,
) -> bool:
    """Whether tables that differ from what the log makes of them are as the state has them, and so
    are all that the log changes."""
    wrong = tuple(table for table, one in pairs if one.differing)
    applied = any(t.changes and t.changes.changes and not one.differing for t, one in pairs)
    if not wrong or applied:
        return False
    plainly = _differ(session, replace(comparison, tables=wrong), None, work)
    return not any(one.differing for one in plainly.values())


def _differences(
    session: Session,
    table: ComparedTable,
    log: LogChanges | None,
    work: ReplayInput | None,
) -> RowDifferences:
    """How the rows of a table differ from those expected."""
    return differences_of(
        table.form,
        lambda: _expected(table, log, work),
        lambda: found_rows(session, table.schema, table.name, table.types),
        session.count(table.schema, table.name),
    )


def _described(table: ComparedTable, differences: RowDifferences) -> dict[str, Any]:
    """What a certificate says of a table."""
    named = named_rows(table.place, table.types)
    return {
        "table": table.place,
        "rows": differences.found.count,
        "differing": differences.differing,
        "expected": differences.expected.digest(named),
        "found": differences.found.digest(named),
        **table.describe(),
        "shown": list(differences.examples),
    }


def _expected(
    table: ComparedTable, log: LogChanges | None, work: ReplayInput | None
) -> Iterator[SignedRows]:
    """The rows of a table that should be there."""
    changes, form = table.changes, table.form
    if table.files and (changes is None or changes.emptied is None):
        yield from initial_rows(table, work)
    if log is not None and changes is not None:
        yield from log.rows(changes, table.columns, form)


def _report(
    verdicts: list[dict[str, Any]],
    comparison: Comparison,
    remaining: list[str],
    out: Callable[[str], None],
) -> int:
    """Say what was found; how many rows (and tables) differ."""
    for verdict in verdicts:
        out(
            f"  {verdict['table']}: {counted(verdict['rows'], 'row')}, "
            + (f"{verdict['differing']:,} DIFFER" if verdict["differing"] else "all as expected")
        )
        for line in verdict["shown"]:
            out(f"    {line}")
    for name in remaining:
        out(f"  {name}: table not expected, the log drops it")
    for note in comparison.not_compared:
        out(f"  not compared: {note}")
    return int(sum(verdict["differing"] for verdict in verdicts)) + len(remaining)


def _verdict(differing: int, same: bool) -> str:
    if same:
        return "SAME"
    return f"DIFFERENT in {counted(differing, 'row')}" if differing else "NOTHING COMPARED"


def _notes(row: TargetPosition | None, work: ReplayInput | None, differing: int) -> Iterator[str]:
    if row is None:
        return
    if row.rejected and differing:
        yield (
            f"not applied as the log says: {counted(row.rejected, 'change')} (status --rejects);"
            " what was left out differs"
        )
    last = None if work is None else log_extent(work.log, engine=work.engine).last
    if last is not None and row.position.commit > last:
        yield (
            f"the target stands after the last unit of this log ({last.hexadecimal}): what later"
            " logs did is not expected"
        )


def _about(work: ReplayInput | None, folder: Path, database: str) -> dict[str, Any]:
    """What a certificate is about: log, options, state, versions."""
    about: dict[str, Any] = {
        "program": f"logreplay {__version__}",
        "versions": {"database": database, "python": platform.python_version()},
        "state": [
            certificate.file_facts(path) for path in sorted(folder.iterdir()) if path.is_file()
        ],
    }
    if work is None:
        return {**about, "source": None, "inputs": [], "options": None}
    extent = log_extent(work.log, engine=work.engine)
    return {
        **about,
        "source": work.log.source,
        "inputs": [certificate.file_facts(at(name)) for name in work.log.inputs()],
        "options": identity_of(work.selection, work.options),
        "first_commit_lrsn": None if extent.first is None else extent.first.hexadecimal,
        "last_commit_lrsn": None if extent.last is None else extent.last.hexadecimal,
    }


# -- round trip
# -------------------------------------------------------------------------------------------------


def roundtrip(
    url: str | None,
    ddl: Path | None,
    schema: str | None,
    folder: Path,
    work: ReplayInput,
    out: Callable[[str], None],
    scratch: str | None = None,
    csv: CsvForm | None = None,
) -> tuple[int, dict[str, Any]]:
    """Prove in a scratch database that undo takes back what redo did, that redo repeats, and that
    both states are those of the log's values; (exit code, the certificate as JSON-able data).

    Tables are made as the target ``url`` has them, or by the script ``ddl``; ``scratch`` names a
    server for them, where one is needed.
    """
    target = target_of(url or scratch or "postgresql://")
    schema = schema or _only_one(set(_schemas_of(work)))
    files = target.state_tables(folder)
    with target.scratch(scratch) as place, WorkFolder() as temporary:  # fmt: skip
        if url is not None:
            with closing(target.connect(url)) as session:
                definitions = {table: _definition(session, schema, table) for table in files}
            _make(target, place, schema, definitions)
            target.load_state(place, schema, folder, csv, _types(work, schema))
        elif ddl is not None:
            target.run_scripts(place, [ddl])
            target.load_state(place, schema, folder, csv, _types(work, schema))
        else:
            raise UsageError(
                "LR1001",
                "verify --roundtrip needs to know the tables",
                hint="Give --to (as they are there) or --ddl F",
            )
        log = LogChanges(work, None, frozenset(), Path(temporary), folder, csv)
        with closing(target.connect(place)) as session:
            comparison = compared_tables(session, [schema], folder, files, log, csv)
            states = [_differ(session, comparison, None, work)]
            counts = []
            for forward in (True, False, True):
                counts.append(_replay(work, place, forward))
                states.append(_differ(session, comparison, log if forward else None, work))
            versions = session.version()
            made_at = str(session.query("SELECT CURRENT_TIMESTAMP")[0][0])
    body = {
        "claim": "undo(redo(S)) = S and redo(undo(redo(S))) = redo(S)",
        "holds": all(not one.differing for by_table in states for one in by_table.values()),
        "made_at": made_at,
        **_about(work, folder, versions),
        "units": counts[0][0],
        "statements": {"redo": counts[0][1], "undo": counts[1][1], "redo again": counts[2][1]},
        "not_compared": list(comparison.not_compared),
        "tables": [_trip(table, states) for table in comparison.tables],
    }
    certified = certificate.sealed(body)
    out(text_of(certified))
    return (EXIT_OK if certified["holds"] else EXIT_ERROR), certified


def _differ(
    session: Session,
    comparison: Comparison,
    log: LogChanges | None,
    work: ReplayInput,
) -> dict[str, RowDifferences]:
    """How each table differs from the state, with the log or without."""
    session.snapshot()
    differences = {}
    for table in comparison.tables:
        if log is None:
            form = RowHash(table.form.columns, table.form.key)
            table = replace(table, form=form, changes=None)
        differences[table.name] = _differences(session, table, log, work)
    session.rollback()
    return differences


def _trip(table: ComparedTable, stages: list[dict[str, RowDifferences]]) -> dict[str, Any]:
    """What a round trip did to a table."""
    states = [one[table.name] for one in stages]
    names = ("before", "redone", "undone", "redone_again")
    named = named_rows(table.place, table.types)
    return {
        "table": table.name,
        **{name: one.found.digest(named) for name, one in zip(names, states, strict=True)},
        **table.describe(),
        "holds": not any(one.differing for one in states),
        "differing": {
            name: {"rows": one.differing, "shown": list(one.examples)}
            for name, one in zip(names, states, strict=True)
            if one.differing
        },
    }


def text_of(sealed: Mapping[str, Any]) -> str:
    """The certificate of a round trip for people."""
    lines = [
        f"Certificate: {sealed['claim']}",
        (
            f"  {'HOLDS' if sealed['holds'] else 'DOES NOT HOLD'} for"
            f" {counted(len(sealed['tables']), 'table')},"
            f" {counted(sealed['units'], 'unit')} of recovery and"
            f" {counted(sealed['statements']['redo'], 'statement')}"
        ),
        said_of(
            sealed["source"],
            f"  log: {sealed['source']}, commit LRSN {sealed['first_commit_lrsn']} to"
            f" {sealed['last_commit_lrsn']}",
        ),
        f"  made at {sealed['made_at']} by {sealed['program']} on {sealed['versions']['database']}",
    ]
    lines += [f"  input {entry['name']}: SHA-256 {entry['sha256']}" for entry in sealed["inputs"]]
    for entry in sealed["tables"]:
        lines.append(
            f"  {entry['table']}: {'holds' if entry['holds'] else 'DOES NOT HOLD'}, before and"
            f" undone {entry['undone'][:16]}…, redone {entry['redone'][:16]}…"
        )
        for name, differing in entry["differing"].items():
            rows = counted(differing["rows"], "row")
            lines.append(f"    {name.replace('_', ' ')}: {rows} DIFFER")
            lines += [f"      {line}" for line in differing["shown"]]
    lines += [f"  not compared: {note}" for note in sealed["not_compared"]]
    return "\n".join([*lines, f"  SHA-256 of this certificate: {sealed['sha256']}"])


# -- scratch databases
# -------------------------------------------------------------------------------------------------


def _schemas_of(work: ReplayInput) -> list[str]:
    """The schemas of the log's tables that are taken, as the target spells them."""
    catalog = work.log.catalog
    taken = catalog.taken_by(work.selection.takes_tables)
    names = {one.table.schema for one in catalog.versions if taken[one.index]}
    return sorted(map(work.options.spelled, names)) or [_only_one(names)]


def _schema_with(session: Session, files: Iterable[str]) -> str:
    """The one schema of the target that has most of the tables of a state."""
    wanted = {name.rpartition(".")[2].lower() for name in files}
    found = Counter(schema for schema, name in session.tables() if name.lower() in wanted)
    most = max(found.values(), default=0)
    return _only_one({schema for schema, count in found.items() if count == most})


def _only_one(schemas: set[str]) -> str:
    if len(schemas) == 1:
        return schemas.pop()
    hint = "Name it with --target-schema"
    if schemas:
        hint = (
            f"Compare them one by one ({', '.join(sorted(schemas))}): {hint}, and with --expected"
            " a folder that has the files of its tables alone"
        )
    raise UsageError(
        "LR1001", f"found {len(schemas) or 'no'} schemas to compare; expected one", hint=hint
    )


def _definition(session: Session, schema: str, table: str) -> tuple[list[str], TableFacts]:
    facts = session.facts(schema, table)
    if facts is None:
        raise TargetError(
            "LR4002",
            "the database lacks a table of the expected state",
            Where(table=f"{schema}.{table}"),
        )
    return session.definition(schema, table), facts


def _make(
    target: Target,
    place: str,
    schema: str,
    definitions: Mapping[str, tuple[list[str], TableFacts]],
) -> None:
    with closing(target.connect(place)) as session:
        session.make_schema(schema)
        for statements, _ in definitions.values():
            for statement in statements:
                session.execute(statement)


def _types(work: ReplayInput, schema: str) -> dict[str, dict[str, SqlType]]:
    """The types of the log's columns by the names of tables and columns in the target."""
    spelled = work.options.spelled
    return {
        spelled(version.table.name): {spelled(one.name): one.type for one in version.table.columns}
        for version in work.log.catalog.versions
        if spelled(version.table.schema) == schema
    }


def _replay(work: ReplayInput, place: str, forward: bool) -> tuple[int, int]:
    """Replay the log into the scratch database, or all of it back; (units, statements) that it
    holds afterwards."""
    destination = Destination() if forward else Destination(Position(bytes(10)))
    request = ReplayRequest(
        place,
        True,
        destination,
        enforcement=Enforcement.OFF,
        accepted=frozenset(ACCEPTABLE),
    )
    options = replace(
        work.options, render=replace(work.options.render, where_columns=WhereColumns.GUARD)
    )
    with plan_replay(replace(work, options=options), request) as plan:
        plan.apply()
    with closing(target_of(place).connect(place)) as session:
        runs = Store(session).runs(1)
    return (runs[0].units or 0, runs[0].statements or 0) if runs else (0, 0)


# -- checking a certificate again
# -------------------------------------------------------------------------------------------------


def check_certificate(
    path: Path,
    out: Callable[[str], None],
    public_key: Path | None = None,
    work: ReplayInput | None = None,
    url: str | None = None,
) -> tuple[int, dict[str, Any]]:
    """Check a certificate again: its seals, that it is of this log (``work``), and that the target
    ``url`` still has the rows that it had; (exit code, what was found)."""
    held = certificate.read(path)
    faults, notes = certificate.faults_of(held, public_key)
    if work is not None:
        faults += certificate.other_inputs(held, map(Path, work.log.inputs()))
        options = identity_of(work.selection, work.options)
        if held.get("options") != json.loads(json.dumps(options)):
            faults.append("it was made with other options")
    if url is not None:
        faults += _changed_tables(held, url)
    out(f"Certificate {path.name}: {held.get('claim', 'it claims nothing')}")
    if held.get("holds") is not True:
        out("  the claim did NOT hold when it was made")
    for note in notes:
        out(f"  {note}")
    for fault in faults:
        out(f"  WRONG: {fault}")
    out("VALID" if not faults else "NOT VALID")
    good = not faults and held.get("holds") is True
    return (EXIT_OK if good else EXIT_ERROR), {"valid": not faults, "faults": faults}


def _changed_tables(held: Mapping[str, Any], url: str) -> list[str]:
    """The tables of a target whose rows are others than when the certificate was made."""
    schemas = held.get("schema")
    if schemas is None:
        return ["it is of a round trip in a scratch database, and tells of no other"]
    target = target_of(url)
    faults = []
    with closing(target.connect(url)) as session:
        session.snapshot()
        for entry in held["tables"]:
            place = entry["table"]
            homes = [schemas] if isinstance(schemas, str) else schemas
            schema = max((one for one in homes if place.startswith(f"{one}.")), key=len)
            name = place.removeprefix(f"{schema}.")
            types = {one["name"]: SqlType(one["type"]) for one in entry["columns"]}
            facts = session.facts(schema, name)
            if facts is None or not set(types) <= set(facts.columns):
                faults.append(f"the target lacks {entry['table']}, or columns of it")
                continue
            form = RowHash(tuple(types), tuple(entry["key"]), entry["cells"])
            total = totals_of(found_rows(session, schema, name, types), form)
            if total.digest(named_rows(place, types)) != entry["found"]:
                faults.append(f"the rows of {entry['table']} are others now")
        session.rollback()
    return faults
