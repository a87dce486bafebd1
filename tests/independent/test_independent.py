"""Logs of Db2 LUW and solidDB that somebody else wrote by the format notes: redo and undo end in
the true rows, with machine code and without, and damage is never passed over in silence.

Three seeds and two of the day judge each commit. One seed:
``scripts/run test -n 0 -k "luw and 17"``.
"""

from __future__ import annotations

import ast
import random
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from replay import native
from tests.independent import luw_history, luw_records
from tests.independent.harm import harmed_export, harmed_log
from tests.independent.judge import Case
from tests.independent.luw_records import VARYING
from tests.independent.solid_export import PROFILES, Export, form_of
from tests.independent.tables import Column, exactly
from tests.independent.values import Value
from tests.model.histories import draw_story
from tests.model.sites import Files, SolidSite, plain
from tests.support.pieces import in_pieces
from tests.support.seeds import FIXED, seeds

SEEDS = range(20)
#: Damaged logs of each seed.
HARMED = 3
HERE = Path(__file__).parent


def luw(seed: int) -> luw_history.History:
    return luw_history.History(seed, luw_history.form_of(seed), luw_history.wants_of(seed))


def small_luw(seed: int) -> luw_history.History:
    wants = luw_history.Wants(changes=25, tables=2, rows=4, values=False)
    return luw_history.History(f"harm {seed}", luw_history.form_of(seed), wants)


def shown(column: Column, value: Value) -> object:
    """As a database compares them: solidDB logs decimals with digits of their own."""
    is_decimal = value is not None and column.kind == "DECIMAL"
    return Decimal(str(value)) if is_decimal else exactly(column, value)


def solid(kind: str, seed: int, folder: Path, told: bool) -> tuple[SolidSite, Case]:
    """A history of the model as an export; ``told``: the command is told its framing."""
    pick = random.Random(f"solid {kind} {seed}")
    history = draw_story(pick, kind, steps=40, digits=9).history
    site = SolidSite(history, pick, folder, form_of(seed), Files(), told)
    made = [*zip(history.database.tables.values(), site.tables.values(), strict=True)]
    before, after = (
        {table.name: [plain(of, row) for row in at.rows[of.name].values()] for of, table in made}
        for at in (history.initial, history.database)
    )
    return site, Case(
        tuple(site.source), [*site.tables.values()], before, after, folder, shown, fine=(0, 4)
    )


def both_ways(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are right; what is looked at in pieces, without machine code, writes the same."""
    assert case.complaint() is None
    quick = case.scripts("redo"), case.scripts("undo")
    assert any(b"COMMIT" in text.upper() for text in quick[0])
    monkeypatch.setattr(native, "WORTH", 1 << 62)
    in_pieces(monkeypatch)
    assert case.run("redo", "redo")[0] == 0
    assert case.run("undo", "undo", "--schema", "none")[0] == 0
    assert (case.scripts("redo"), case.scripts("undo")) == quick


@pytest.mark.parametrize("seed", seeds(long=17))
def test_rows_of_luw(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both_ways(luw_history.case_of(luw(seed), tmp_path), monkeypatch)


@pytest.mark.parametrize("seed", seeds(long=17))
def test_log_streams_of_a_cluster(seed: int, tmp_path: Path) -> None:
    """Members number their units alike. Merged, as db2ReadLog gives them, they are one log; their
    files one behind the other are none, and are refused."""
    pick = random.Random(f"streams {seed}")
    framing = luw_records.FRAMINGS["v10"][seed % 4]
    form = luw_history.Form("v10", pick.choice(luw_history.ORDERS), framing, streams=2)
    history = luw_history.History(f"streams {seed}", form, luw_history.wants_of(seed))
    case = luw_history.case_of(history, tmp_path)
    assert {record.stream for record in history.log.records} == {0, 1}
    assert case.complaint() is None
    files = [str(tmp_path / f"member{number}") for number in range(2)]
    for number, file in enumerate(files):
        mine = [record.bytes for record in history.log.records if record.stream == number]
        Path(file).write_bytes(b"".join(mine))
    for names in (files, files[::-1]):
        source = (*case.source[:2], "--log", *names, *case.source[4:])
        code, said, _ = replace(case, source=source).run("redo", "redo")
        assert (code, "LR2030" in said) == (12, True), said


@pytest.mark.parametrize("seed", seeds(long=17))
def test_framings_of_solid_are_found(seed: int, tmp_path: Path) -> None:
    """Or asked for, where rows read in several ways."""
    found = solid("edges", seed, tmp_path, told=False)[1].complaint()
    assert found is None or (seed >= FIXED and "LR2018" in found)


@pytest.mark.parametrize("seed", seeds(long=17))
def test_damage_of_luw(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_pieces(monkeypatch)
    history, pick = small_luw(seed), random.Random(f"harm luw {seed}")
    case = luw_history.case_of(history, tmp_path)
    for _ in range(HARMED):
        what, data = harmed_log(history.log, pick)
        (tmp_path / "log").write_bytes(data)
        assert case.harm() is None, what


@pytest.mark.parametrize("seed", seeds(long=17))
def test_damage_of_solid(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_pieces(monkeypatch)
    pick = random.Random(f"harm solid {seed}")
    site, case = solid("plain", seed, tmp_path, told=True)
    for _ in range(HARMED):
        what, lines = harmed_export(site.export, pick)
        Export(site.export.form, lines).write(tmp_path)
        assert case.harm() is None, what


@pytest.mark.parametrize("release", ["v7", "v10"])
def test_values_in_another_order_are_refused(release: str, tmp_path: Path) -> None:
    """The notes say where a value lies and not in which order (10.2): a catalog's tables have them
    in the order of their columns."""
    form = luw_history.Form(release, "little", "raw", backwards=True)
    history = luw_history.History("backwards", form, luw_history.Wants(changes=30, tables=4))
    kinds = [[c.kind for c in table.columns] for table in history.tables]
    assert any(sum(kind in VARYING for kind in found) > 1 for found in kinds)
    code, said, _ = luw_history.case_of(history, tmp_path).run("redo", "redo")
    assert code == 8
    assert "LR2014" in said


def test_histories_have_what_they_are_for() -> None:
    """The first seeds alone have every sort of record, and all releases and byte orders."""
    count: Counter[str] = Counter()
    forms = set()
    for seed in SEEDS:
        made = luw(seed)
        count += made.count
        if seed < FIXED:
            forms |= {made.form.release, made.form.order}
        count += Counter(record.what for record in made.log.records)
    assert forms == {"v7", "v97", "v10", "big", "little"}
    for what in ("moves", "many", "shifts", "savepoints", "aborts", "in flight", "tables"):
        assert count[what] > 2, what
    for function in (118, 162, 165):
        assert count[f"insert {function}"] > 4
    for what in ("no insert 131", "no delete 166", "no inserts 168", "no update 112"):
        assert count[what], what
    assert {form_of(seed).profile for seed in SEEDS} == set(PROFILES)


def test_nothing_of_the_decoders_is_used() -> None:
    """What writes the logs knows the command of the program, and nothing else of it."""
    for path in HERE.glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        used = {n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module}
        ours = {name for name in used if name.startswith(("replay", "sqlgen"))}
        others = {name for name in used if name.startswith("tests.model")}
        if not path.name.startswith("test_"):
            assert ours <= {"replay.cli.main"}, path.name
            assert not others, path.name
