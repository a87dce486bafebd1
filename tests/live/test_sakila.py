"""The bundled logs against a live PostgreSQL: every state that the workload's own database had must
come out of the scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.targets import target_named
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Constraints
from tests.support.few import few
from tests.support.states import compare_states

POSTGRES = target_named("postgres")


def played(url: str, log: Path, schema: str, initial: str, scripts: list[Path]) -> None:
    """Load a state and run the scripts of bundles."""
    POSTGRES.run_scripts(url, [log / schema])
    POSTGRES.load_state(url, "sakila", log / initial)
    for folder in scripts:
        POSTGRES.run_scripts(url, sorted(folder.glob("*.sql")))


def sakila_script(
    sakila: Path,
    out: Path,
    mode: str,
    selection: Selection | None = None,
    options: ScriptOptions | None = None,
) -> Path:
    bundle = replay.write_script(
        sakila / "sakila.ctl",
        [sakila / "sakila.dat.gz"],
        out,
        mode=mode,
        constraints=Constraints(),
        selection=selection,
        options=options,
    )
    # that nothing cascades is stated, so what is left to foreign keys is warned of
    warned = selection is not None and (selection.cascade == "force" or selection.ri == "skip")
    assert bundle.exit_code == (4 if warned else 0)
    assert bundle.manifest["balance"]["closes"]
    assert (
        bundle.manifest["balance"]["read"]
        == json.loads((sakila / "manifest.json").read_text())["physical_records"]
    )
    return bundle.folder


@pytest.mark.parametrize("where", few(["key", "guard", "all"], "all"))
def test_redo_then_undo(fresh_database: str, sakila: Path, tmp_path: Path, where: str) -> None:
    options = ScriptOptions(
        render=RenderOptions(where_columns=where),
        records_per_file=7000,
        commit_every=50 if where == "all" else 1,
    )
    redo = sakila_script(sakila, tmp_path / "redo", "redo", options=options)
    undo = sakila_script(sakila, tmp_path / "undo", "undo", options=options)
    assert len(list(redo.glob("*.sql"))) > 1
    played(fresh_database, sakila, "schema.sql", "initial", [redo])
    assert compare_states(fresh_database, "sakila", sakila / "final") == []
    POSTGRES.run_scripts(fresh_database, sorted(undo.glob("*.sql")))
    assert compare_states(fresh_database, "sakila", sakila / "initial") == []


@pytest.mark.parametrize(
    ("rule", "state"), [("quarantine", "unflagged"), ("dependentrba", "before_dependentrba")]
)
def test_incomplete_units_are_set_aside(
    fresh_database: str, incomplete: Path, tmp_path: Path, rule: str, state: str
) -> None:
    bundle = replay.write_script(
        incomplete / "incomplete.ctl",
        [incomplete / "incomplete.dat"],
        tmp_path / "redo",
        selection=Selection(incomplete=rule),
    )
    assert bundle.exit_code == 4
    assert bundle.manifest["balance"]["closes"]
    assert all(
        unit["reason"].startswith("LR3004 ") for unit in bundle.manifest["quarantined_units"]
    )
    assert len(bundle.manifest["quarantined_units"]) == bundle.manifest["quarantine"]["units"] > 100
    assert bundle.manifest["quarantine"]["statements"] + bundle.manifest["statements"] == 1378
    played(fresh_database, incomplete, "schema.sql", "initial", [bundle.folder])
    assert compare_states(fresh_database, "sakila", incomplete / state) == []
