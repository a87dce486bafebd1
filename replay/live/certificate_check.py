"""Checking a certificate again: its seals, the log that it is of, the database it was about."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from replay.errors import EXIT_ERROR, EXIT_OK
from replay.live.certificate import faults_of, other_inputs, read
from replay.live.compared_tables import found_rows, named_rows
from replay.live.preflight import identity_of
from replay.live.replay_request import ReplayInput
from replay.live.row_sums import RowHash, totals_of
from replay.targets import target_of
from sqlgen.schema import SqlType


def check(
    path: Path,
    out: Callable[[str], None],
    public_key: Path | None = None,
    work: ReplayInput | None = None,
    url: str | None = None,
) -> tuple[int, dict[str, Any]]:
    """Check a certificate again: its seals, that it is of this log (``work``), and that the target
    ``url`` still has the rows that it had; (exit code, what was found)."""
    certificate = read(path)
    faults, notes = faults_of(certificate, public_key)
    if work is not None:
        faults += other_inputs(certificate, map(Path, work.log.inputs()))
        options = identity_of(work.selection, work.options)
        if certificate.get("options") != json.loads(json.dumps(options)):
            faults.append("it was made with other options")
    if url is not None:
        faults += _changed_tables(certificate, url)
    out(f"Certificate {path.name}: {certificate.get('claim', 'it claims nothing')}")
    if certificate.get("holds") is not True:
        out("  the claim did NOT hold when it was made")
    for note in notes:
        out(f"  {note}")
    for fault in faults:
        out(f"  WRONG: {fault}")
    out("VALID" if not faults else "NOT VALID")
    good = not faults and certificate.get("holds") is True
    return (EXIT_OK if good else EXIT_ERROR), {"valid": not faults, "faults": faults}


def _changed_tables(certificate: Mapping[str, Any], url: str) -> list[str]:
    """The tables of a target whose rows are others than when the certificate was made."""
    schema = certificate.get("schema")
    if not isinstance(schema, str):
        return ["it is of a round trip in a scratch database, and tells of no other"]
    target = target_of(url)
    faults = []
    with closing(target.connect(url)) as session:
        session.snapshot()
        for entry in certificate["tables"]:
            name = entry["table"].removeprefix(f"{schema}.")
            types = {one["name"]: SqlType(one["type"]) for one in entry["columns"]}
            facts = session.facts(schema, name)
            if facts is None or not set(types) <= set(facts.columns):
                faults.append(f"the target lacks {entry['table']}, or columns of it")
                continue
            form = RowHash(tuple(types), tuple(entry["key"]), entry["cells"])
            total = totals_of(found_rows(session, schema, name, types), form)
            if total.digest(named_rows(schema, name, types)) != entry["found"]:
                faults.append(f"the rows of {entry['table']} are others now")
        session.rollback()
    return faults
