"""Proof instead of hope: is a target in the state that it should be in, and does undo take back exactly what redo did?

The expected state is made in a scratch database of the target's own kind: a state folder, and the log replayed onto it up to where the target
stands. Both sides hash their tables in buckets of rows, in the database; rows are fetched only from buckets that differ.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import replay
from replay import live
from replay.errors import EXIT_ERROR, EXIT_OK, Refusal, TargetError, UsageError, Where
from replay.live import Work
from replay.position import Store, point_text
from replay.survey import survey
from replay.targets import Session, TableFacts, Target, target_of
from sqlgen.dialects import profile_named
from sqlgen.names import target_name

#: Rows of a bucket, about, and buckets at most.
_BUCKET_ROWS, _BUCKETS = 1000, 65_536
#: Differing rows that are named for each table; all are counted.
_SHOWN = 20

Echo = Callable[[str], None]
Row = tuple[Any, ...]


@dataclass
class TableVerdict:
    """What the comparison of one table found: rows in all, and the rows that differ, in words (the first of them)."""

    table: str
    rows: int
    differing: int = 0
    shown: list[str] = field(default_factory=list)

    def describe(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {"table": self.table, "rows": self.rows, "differing": self.differing, "shown": self.shown}


def state(
    url: str, schema: str | None, folder: Path, work: Work | None, echo: Echo, scratch: str | None = None
) -> tuple[int, dict[str, Any]]:
    """Compare the target with the state ``folder``, brought by ``part`` to where the target stands; (exit code, findings as JSON-able data).

    The target is only read, in one snapshot. ``scratch`` names a server for the expected state, where one is needed. Raises
    TargetError (LR4002) when the target lacks a table.
    """
    target = target_of(url)
    with closing(target.connect(url)) as session:
        session.snapshot()
        position = Store(session).position()
        if position is not None and work is not None and (ahead := Store(session).ahead()):
            message = f"{len(ahead):,} units are in the target ahead of its position ({point_text(position.key)}): several sessions were interrupted"
            raise Refusal("LR4007", message, hint="Run replay again, it brings the position there")
        schema = schema or _schema_of(work)
        tables = sorted(target.state_tables(folder))
        definitions = {table: _definition(session, schema, table) for table in tables}
        with target.scratch(scratch) as place:
            _make(target, place, schema, folder, definitions)
            if work is not None:
                until = None if position is None else position.key
                _replay(work, place, until, forward=True)
            with closing(target.connect(place)) as expected:
                verdicts = [_compare(session, expected, schema, table, definitions[table][1]) for table in tables]
        session.rollback()
        rejected = 0 if position is None else position.rejected
    at = "after the whole log" if position is None else f"at {point_text(position.key)}"
    echo(f"Compared {target.shown(url)} with the state expected {at if work is not None else 'in ' + str(folder)}")
    for verdict in verdicts:
        echo(f"  {verdict.table}: {verdict.rows:,} rows, " + (f"{verdict.differing:,} DIFFER" if verdict.differing else "all as expected"))
        for line in verdict.shown:
            echo(f"    {line}")
    differing = sum(verdict.differing for verdict in verdicts)
    if differing and rejected:
        echo(f"note: {rejected:,} changes were not applied as the log says (status --rejects); what they left out differs")
    echo("SAME" if not differing else f"DIFFERENT in {differing:,} rows")
    found = {"target": target.shown(url), "position": at, "same": not differing, "tables": [verdict.describe() for verdict in verdicts]}
    return (EXIT_ERROR if differing else EXIT_OK), found


def roundtrip(
    url: str | None, ddl: Path | None, schema: str | None, folder: Path, work: Work, echo: Echo, scratch: str | None = None
) -> tuple[int, dict[str, Any]]:
    """Prove in a scratch database that undo takes back what redo did, and that redo repeats; (exit code, the certificate as JSON-able data).

    Tables are made as the target ``url`` has them, or by the script ``ddl``; ``scratch`` names a server for them, where one is needed.
    """
    target = target_of(url or scratch or "postgresql:")
    schema = schema or _schema_of(work)
    tables = sorted(target.state_tables(folder))
    with target.scratch(scratch) as place:
        if url is not None:
            with closing(target.connect(url)) as session:
                definitions = {table: _definition(session, schema, table) for table in tables}
            _make(target, place, schema, folder, definitions)
        elif ddl is not None:
            target.run_scripts(place, [ddl])
            target.load_state(place, schema, folder)
        else:
            raise UsageError("LR1001", "verify --roundtrip needs to know the tables", hint="Give --to (as they are there) or --ddl F")
        with closing(target.connect(place)) as session:
            states = [_hash_all(session, schema, tables)]
            counts = []
            for forward in (True, False, True):
                counts.append(_replay(work, place, None, forward))
                states.append(_hash_all(session, schema, tables))
            certificate = _certificate(work, session, folder, tables, states, counts)
    echo(text_of(certificate))
    return (EXIT_OK if certificate["holds"] else EXIT_ERROR), certificate


def _certificate(
    work: Work, session: Session, folder: Path, tables: list[str], states: list[dict[str, str]], counts: list[tuple[int, int]]
) -> dict[str, Any]:
    before, after, undone, again = states
    found = survey(work.log)
    body = {
        "claim": "undo(redo(S)) = S and redo(undo(redo(S))) = redo(S)",
        "holds": before == undone and after == again,
        "program": f"logreplay {replay.__version__}",
        "versions": {"database": session.version(), "python": platform.python_version()},
        "made_at": str(session.query("SELECT CURRENT_TIMESTAMP")[0][0]),
        "source": work.log.source,
        "inputs": [_file(Path(name)) for name in work.log.inputs()],
        "state": [_file(path) for path in sorted(folder.iterdir()) if path.is_file()],
        "options": live.identity_of(work.log, work.selection, work.options),
        "first_commit_lrsn": None if found.first is None else found.first.hex().upper(),
        "last_commit_lrsn": None if found.last is None else found.last.hex().upper(),
        "units": counts[0][0],
        "statements": {"redo": counts[0][1], "undo": counts[1][1], "redo again": counts[2][1]},
        "tables": [
            {"table": t, "before": before[t], "redone": after[t], "undone": undone[t], "redone_again": again[t],
             "holds": before[t] == undone[t] and after[t] == again[t]}
            for t in tables
        ],
    }  # fmt: skip
    digest = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    return {**body, "sha256": digest}


def text_of(certificate: Mapping[str, Any]) -> str:
    """The certificate for people."""
    lines = [
        f"Certificate: {certificate['claim']}",
        f"  {'HOLDS' if certificate['holds'] else 'DOES NOT HOLD'} for {len(certificate['tables'])} tables, {certificate['units']:,} units of "
        f"recovery and {certificate['statements']['redo']:,} statements",
        f"  log: {certificate['source']}, commit LRSN {certificate['first_commit_lrsn']} to {certificate['last_commit_lrsn']}",
        f"  made at {certificate['made_at']} by {certificate['program']} on {certificate['versions']['database']}",
    ]
    lines += [f"  input {entry['name']}: SHA-256 {entry['sha256']}" for entry in certificate["inputs"]]
    for entry in certificate["tables"]:
        lines.append(
            f"  {entry['table']}: {'holds' if entry['holds'] else 'DOES NOT HOLD'}, before and undone {entry['undone'][:16]}…, redone {entry['redone'][:16]}…"
        )
    return "\n".join([*lines, f"  SHA-256 of this certificate: {certificate['sha256']}"])


def _file(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return {"name": path.name, "size": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


# -- making the expected state --------------------------------------------------------------------------------------------------------------


def _schema_of(work: Work | None) -> str:
    """The one schema of the log's tables, as the target spells it."""
    names = set() if work is None else {version.table.schema for version in work.log.catalog.versions}
    if work is None or len(names) != 1:
        raise UsageError("LR1001", f"found {len(names) or 'no'} schemas to compare; expected one", hint="Name it with --target-schema")
    return target_name(names.pop(), profile_named(work.options.dialect), work.options.names)


def _definition(session: Session, schema: str, table: str) -> tuple[list[str], TableFacts]:
    facts = session.facts(schema, table)
    if facts is None:
        raise TargetError("LR4002", "the database lacks a table of the expected state", Where(table=f"{schema}.{table}"))
    return session.definition(schema, table), facts


def _make(target: Target, place: str, schema: str, folder: Path, definitions: Mapping[str, tuple[list[str], TableFacts]]) -> None:
    with closing(target.connect(place)) as session:
        session.make_schema(schema)
        for statements, _ in definitions.values():
            for statement in statements:
                session.execute(statement)
    target.load_state(place, schema, folder)


def _replay(work: Work, place: str, until: bytes | None, forward: bool) -> tuple[int, int]:
    """Replay the log into the scratch database, up to a key, or all of it back; (units, statements) that it holds afterwards."""
    request = live.Request(place, True, until_key=until) if forward else live.Request(place, True, bytes(10))
    said: list[str] = []
    options = replace(work.options, render=replace(work.options.render, where_columns="guard"))
    live.run(replace(work, options=options), replace(request, enforcement=False), said.append, lambda *_: None)
    with closing(target_of(place).connect(place)) as session:
        runs = Store(session).runs(1)
    return (runs[0].units or 0, runs[0].statements or 0) if runs else (0, 0)


# -- comparing --------------------------------------------------------------------------------------------------------------------------------


def _hash_all(session: Session, schema: str, tables: Iterable[str]) -> dict[str, str]:
    """The digest of all rows of each table."""
    found = {}
    for table in tables:
        facts = session.facts(schema, table)
        assert facts is not None
        hashes = session.hashes(schema, table, facts.columns, _key(facts), 1)
        found[table] = hashlib.sha256(json.dumps(sorted(hashes.items())).encode()).hexdigest()
    return found


def _key(facts: TableFacts) -> tuple[str, ...]:
    return facts.unique_keys[0] if facts.unique_keys else facts.columns


def _compare(target: Session, expected: Session, schema: str, table: str, facts: TableFacts) -> TableVerdict:
    columns = tuple(name for name in facts.columns if name not in facts.generated)
    key = _key(facts)
    count = expected.count(schema, table)
    buckets = max(1, min(_BUCKETS, count // _BUCKET_ROWS))
    here, there = (session.hashes(schema, table, columns, key, buckets) for session in (target, expected))
    verdict = TableVerdict(f"{schema}.{table}", sum(rows for rows, _ in here.values()))
    for bucket in sorted({*here, *there}):
        if here.get(bucket) != there.get(bucket):
            found, wanted = (session.bucket(schema, table, columns, key, bucket, buckets) for session in (target, expected))
            _name(verdict, columns, key, found, wanted)
    return verdict


def _name(verdict: TableVerdict, columns: tuple[str, ...], key: tuple[str, ...], found: list[Row], wanted: list[Row]) -> None:
    """Name the rows of a bucket that differ: by key what is other in which column, else whole rows."""
    places = [columns.index(name) for name in key]

    def by_key(rows: Counter[Row]) -> dict[Row, list[Row]]:
        grouped: dict[Row, list[Row]] = {}
        for row in sorted(rows.elements(), key=repr):
            grouped.setdefault(tuple(row[place] for place in places), []).append(row)
        return grouped

    extra, missing = Counter(found) - Counter(wanted), Counter(wanted) - Counter(found)
    here, there = by_key(extra), by_key(missing)
    for at in sorted({*here, *there}, key=repr):
        ours, theirs = here.get(at, []), there.get(at, [])
        verdict.differing += max(len(ours), len(theirs))
        if len(verdict.shown) >= _SHOWN:
            continue
        name = ", ".join(f"{column} = {value}" for column, value in zip(key, at, strict=True))
        if ours and theirs:
            other = [f"{c}: expected {e!r}, found {f!r}" for c, f, e in zip(columns, ours[0], theirs[0], strict=True) if f != e]
            verdict.shown.append(f"{name}: {'; '.join(other)}")
        else:
            verdict.shown.append(
                f"{name}: {'row not expected' if ours else 'row missing'}"
                + (f" ({len(ours or theirs)} times)" if len(ours or theirs) > 1 else "")
            )


def write_certificate(found: Mapping[str, Any], path: Path) -> None:
    """Write what was found as JSON."""
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
