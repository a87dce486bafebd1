"""What a target says about itself: how far it has been replayed, its runs, marks, units set aside and rejects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from replay.changes import unit_text
from replay.errors import UsageError
from replay.position import Store, point_text
from replay.targets import target_of


def of(url: str, runs: int) -> dict[str, Any]:
    """Everything that is kept in the target, as JSON-able data; nothing is written."""
    target = target_of(url)
    session = target.connect(url)
    try:
        store = Store(session)
        position = store.position()
        found: dict[str, Any] = {
            "target": target.shown(url),
            "position": None,
            "marks": {n: c.hex().upper() for n, c in store.marks().items()},
        }
        if position is None:
            return {**found, "runs": [], "set_aside": [], "ahead": 0, "rejects": []}
        found["position"] = {
            "source": position.source,
            "commit_lrsn": position.key[:10].hex().upper(),
            "unit": position.key[10:].hex().upper(),
            "text": point_text(position.key),
            "changed_at": position.changed_at,
            "units": position.units,
            "statements": position.statements,
            "rejected": position.rejected,
            "options": position.options,
        }
        found["runs"] = [
            {
                "run": run.number,
                "direction": run.direction,
                "started_at": run.started_at,
                "ended_at": run.ended_at,
                "outcome": run.outcome or ("under way or interrupted" if run.number == position.run else "interrupted"),
                "units": run.units,
                "statements": run.statements,
                "seconds": run.seconds,
            }
            for run in store.runs(runs)
        ]
        found["set_aside"] = [{"unit": unit_text(unit), "reason": reason} for unit, reason in sorted(store.pending().items())]
        found["ahead"] = len(store.ahead())
        found["rejects"] = store.rejects()
        return found
    finally:
        session.close()


def text(found: Mapping[str, Any]) -> str:
    """The status for the terminal."""
    lines = [f"Target {found['target']}"]
    position = found["position"]
    if position is None:
        return "\n".join([*lines, "Nothing was replayed into it.", *_marks(found)])
    lines += [
        f"Replayed from {position['source']} up to {position['text']} (changed {position['changed_at']})",
        f"  {position['units']:,} units and {position['statements']:,} statements are in it, {position['rejected']:,} not as the log says",
        f"  options: {json.dumps(position['options'], ensure_ascii=False)}",
    ]
    if found["ahead"]:
        lines.append(f"  {found['ahead']:,} units are in it ahead of that position: several sessions were interrupted; run replay again")
    lines += [f"set aside: unit {unit['unit']}: {unit['reason']}" for unit in found["set_aside"][:20]]
    if len(found["set_aside"]) > 20:
        lines.append(f"… {len(found['set_aside']) - 20} more units set aside; see --json")
    for entry in found["rejects"][:20]:
        lines.append(f"not as logged: unit {entry['unit']}: {entry['condition']}, {entry['response']}: {entry['reason']}")
    if len(found["rejects"]) > 20:
        lines.append(f"… {len(found['rejects']) - 20} more; see --rejects F")
    lines += _marks(found)
    for run in found["runs"]:
        amount = "" if run["units"] is None else f", {run['units']:,} units, {run['statements']:,} statements in {run['seconds']:.1f} s"
        lines.append(f"run {run['run']}: {run['direction']}, {run['started_at']}: {run['outcome']}{amount}")
    return "\n".join(lines)


def _marks(found: Mapping[str, Any]) -> list[str]:
    return [f"mark {name}: commit LRSN {commit}" for name, commit in found["marks"].items()]


def write_rejects(found: Mapping[str, Any], path: Path) -> None:
    """Write the rejects, one JSON object a line."""
    path.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in found["rejects"]), encoding="utf-8")


def mark(url: str, name: str, commit: bytes | None) -> str:
    """Name a commit position (None: where the target stands) in the target; a sentence that says so."""
    target = target_of(url)
    session = target.connect(url)
    try:
        store = Store(session)
        if commit is None:
            position = store.position()
            if position is None:
                raise UsageError("LR1001", "the target has no position", hint="Say which point is meant (--lrsn)")
            commit = position.commit
        store.make()
        store.mark(name, commit)
    finally:
        session.close()
    return f"mark {name}: commit LRSN {commit.hex().upper()} in {target.shown(url)}"
