"""The benchmark runs, and the log that it makes is a sound one, the same for the same seed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.logs.logmaster.opening import open_log
from replay.output.bundle import write_bundle
from replay.pipeline.plan import make_plan
from tests.support.places import ROOT

SCRIPTS = ROOT / "scripts"
RECORDS = 3000


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_log", SCRIPTS / "generate_log.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_local_engine_reads_all(generator: ModuleType, tmp_path: Path, mode: str) -> None:
    control, data = generator.generate(tmp_path, RECORDS)
    log = open_log(control, [data])
    plan = make_plan(log, mode, Selection(), ScriptOptions(records_per_file=1000))
    bundle = write_bundle(plan, log, tmp_path / "out", local.ENGINE)
    assert bundle.exit_code == 0
    assert bundle.manifest["findings"]["count"] == 0
    balance = bundle.tally
    assert balance.read == RECORDS
    assert balance.emitted + sum(balance.skipped.values()) == RECORDS
    assert balance.quarantined == balance.failed == 0
    assert balance.emitted > RECORDS * 0.95
    counts = [
        sum(table.get(kind, 0) for table in bundle.manifest["tables"].values())
        for kind in ("insert", "update", "delete")
    ]
    assert [round(count / RECORDS, 1) for count in counts] == [0.4, 0.4, 0.2]
    assert len(bundle.manifest["tables"]) == 3
    assert RECORDS / 12 < bundle.manifest["units"] < RECORDS / 5


def test_a_seed_settles_every_byte(generator: ModuleType, tmp_path: Path) -> None:
    first = [path.read_bytes() for path in generator.generate(tmp_path / "a", RECORDS, seed=7)]
    again = [path.read_bytes() for path in generator.generate(tmp_path / "b", RECORDS, seed=7)]
    other = [path.read_bytes() for path in generator.generate(tmp_path / "c", RECORDS, seed=8)]
    assert first == again
    assert first[1] != other[1]
