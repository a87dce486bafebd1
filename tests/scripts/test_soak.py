"""The soak: its checker sees what is wrong, and a seed draws the same again."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.places import ROOT

SCRIPT = ROOT / "scripts" / "soak.py"


@pytest.fixture(scope="module")
def soak() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPT.parent))
        return importlib.import_module("soak")


DAMAGE: dict[str, tuple[str, str]] = {
    "a row changed": ("UPDATE loose SET n = n + 100 WHERE rowid = (SELECT min(rowid) FROM loose)",
        "loose after"),
    "a row lost": ("DELETE FROM loose WHERE rowid = (SELECT min(rowid) FROM loose)", "loose after"),
    "a row twice": ("INSERT INTO loose SELECT * FROM loose LIMIT 1", "loose after"),
    "the position": ("UPDATE logreplay_position SET commit_lrsn = '00000000000000000000'",
        " too much"),
    "its units": ("UPDATE logreplay_position SET units = units + 1", "the position counts"),
    "a reject": ("UPDATE logreplay_position SET rejected = 1", "1 rejects in the position"),
    "the history": ("UPDATE logreplay_run SET ended_at = NULL", "a run is done and has not ended"),
}  # fmt: skip


@pytest.mark.parametrize("damage", [None, *DAMAGE])
def test_the_checker_sees_what_is_wrong(
    soak: ModuleType, tmp_path: Path, damage: str | None
) -> None:
    workload = soak.make_workload(random.Random(5), tmp_path)
    database = soak.Sqlite(tmp_path)
    database.make()
    replay: Callable[[list[str]], int] = soak.logreplay
    assert replay(["replay", *workload.options, "--to", database.url, "--apply"]) == 0
    if damage is None:
        seen = soak.check(database, workload)
        assert seen.applied == set(range(len(workload.keys)))
        return
    statement, said = DAMAGE[damage]
    assert database.execute(statement) >= 1
    with pytest.raises(soak.Wrong, match=said):
        soak.check(database, workload)


def test_a_seed_draws_the_same_again(soak: ModuleType) -> None:
    first, again = (soak.Soak(11, [soak.Sqlite]) for _ in range(2))
    assert first.workload.keys == again.workload.keys
    moves = [[one._drawn() for _ in range(20)] for one in (first, again)]
    for one, other in zip(*moves, strict=True):
        assert (one.until, one.how, one.fault, one.at) == (
            other.until,
            other.how,
            other.fault,
            other.at,
        )
