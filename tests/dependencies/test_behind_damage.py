"""``--behind-damage``: nobody can tell the row of a damaged record, so what changes its table after
it may build on it, and must not be overtaken by it when it comes whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from tests.dependencies.test_unread import no_images, short_after, short_before
from tests.output.test_continuation import manifest
from tests.support.logbuilder import Change, Col, LogBuilder, Tab, Unit, frame, rba, unframe

COLUMNS = (Col("ID", "INT", 4, key=1), Col("V", "INT", 4))
STOCK, OTHER = Tab("STOCK", COLUMNS), Tab("OTHER", COLUMNS, obid=2)
DAMAGE = pytest.mark.parametrize("damage", [no_images, short_after, short_before])


def log(damage: Callable[[Change], None] | None) -> tuple[LogBuilder, list[Unit]]:
    """STOCK 1 goes from 10 by way of 11 (which is damaged) to 12; OTHER builds on STOCK's units and
    stands alone."""
    builder = LogBuilder((STOCK, OTHER))
    builder.clock += 0x1000
    units = [builder.unit() for _ in range(6)]
    units[0].insert(STOCK, (2, 20))
    change = units[1].update(STOCK, (1, 10), (1, 11))
    units[2].insert(OTHER, (1, 1))
    units[3].update(STOCK, (1, 11), (1, 12))
    units[3].insert(OTHER, (2, 2))
    units[4].update(OTHER, (2, 2), (2, 3))
    units[5].update(OTHER, (1, 1), (1, 4))
    if damage is not None:
        damage(change)
    return builder, units


def words(folder: Path, builder: LogBuilder, stem: str = "log") -> list[str]:
    (folder / stem).mkdir(exist_ok=True)
    control, (data,) = builder.write(folder / stem)
    return ["--control", str(control), "--data", str(data), "--schema", "none"]


def aside(bundle: Path) -> dict[str, str]:
    return {
        entry["unit"]: entry["reason"] for entry in manifest(bundle).get("quarantined_units", ())
    }


def redo(folder: Path, given: Sequence[str], *more: Any) -> dict[str, str]:
    out = folder / "out"
    assert main(["redo", *given, "--out", str(out), *map(str, more)]) == 8
    return aside(out)


@DAMAGE
def test_what_changed_the_table_after_it_is_held(
    tmp_path: Path, damage: Callable[[Change], None]
) -> None:
    builder, units = log(damage)
    found = redo(tmp_path, words(tmp_path, builder), "--behind-damage", "hold")
    assert found.keys() == {unit.name for unit in (units[1], units[3], units[4])}
    if damage is no_images:
        reason = "it is a unit that changed stock after a damaged record whose row is not known"
        assert found[units[3].name] == f"LR3011 {reason}"
    assert found[units[4].name].startswith("LR3011 it depends on a unit that")
    assert manifest(tmp_path / "out")["behind_damage"] == "hold"


def test_a_bundle_by_itself_takes_what_it_can(tmp_path: Path) -> None:
    builder, units = log(no_images)
    assert redo(tmp_path, words(tmp_path, builder)).keys() == {units[1].name}
    for given in ("take", "hold"):
        after = [*words(tmp_path, builder), "--after", "none", "--behind-damage", given]
        found = redo(tmp_path, after, "--overwrite")
        assert (units[3].name in found) == (given == "hold")


def test_a_record_of_an_unknown_table_may_be_of_any(tmp_path: Path) -> None:
    builder, units = log(lambda change: change.fields.update(TBOBID=99))
    found = redo(tmp_path, words(tmp_path, builder), "--behind-damage", "hold")
    assert found.keys() == {unit.name for unit in units[1:]}


def test_a_change_that_lacks_a_segment(tmp_path: Path) -> None:
    builder, (_, unit, _, later, last, _) = log(None)
    builder.changes[1].cuts = (5,)
    given = words(tmp_path, builder)
    data = Path(given[3])
    records = unframe(data.read_bytes())
    data.write_bytes(frame([*records[:2], *records[3:]], "rdw"))
    found = redo(tmp_path, given, "--behind-damage", "hold")
    assert found.keys() == {one.name for one in (unit, later, last)}


def test_units_of_one_commit_position_may_be_in_either_order(tmp_path: Path) -> None:
    builder, _ = log(None)
    places = {number: rba(0x900000 + number) for number in (1, 2, 3)}
    units = [
        builder.unit(commit=builder.clock + (1 << 25), member=number, UORCOMMITPOINT=place)
        for number, place in places.items()
    ]
    for unit in units:
        unit.more["UORCOMMITLRSN"] = units[0].more["UORCOMMITLRSN"]
    units[0].update(STOCK, (5, 5), (5, 6))
    no_images(units[1].update(STOCK, (6, 6), (6, 7)))
    units[2].update(OTHER, (7, 7), (7, 8))
    found = redo(tmp_path, words(tmp_path, builder), "--behind-damage", "hold")
    assert found.keys() == {units[0].name, units[1].name}


def grown(folder: Path, *how: str) -> Path:
    """An export that grew by a row of STOCK, then by a log that is damaged, and then by the same
    log when it came again."""
    first, out = LogBuilder((STOCK, OTHER)), folder / "out"
    first.unit().insert(STOCK, (1, 10))
    for builder, code in ((first, 0), (log(no_images)[0], 8), (log(None)[0], 0)):
        given = words(folder, builder, f"log{builder.clock}{code}{id(builder)}")
        assert main(["export", *given, *how, "--out", str(out)]) == code
    return out


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_a_grown_dataset_has_the_changes_of_a_row_in_their_order(tmp_path: Path, form: str) -> None:
    out = grown(tmp_path, "--grow", "--format", form)
    commits = [manifest(out / "_logreplay" / f"{number:06d}") for number in (2, 3)]
    assert [commit["changes"] for commit in commits] == [3, 4]


def chain(folder: Path, *how: str) -> list[Path]:
    """Bundles that go on from one another, as :func:`grown`."""
    first, bundles = LogBuilder((STOCK, OTHER)), [Path("none")]
    first.unit().insert(STOCK, (1, 10))
    for number, (builder, code) in enumerate(
        ((first, 0), (log(no_images)[0], 8), (log(None)[0], 0))
    ):
        given = [*words(folder, builder, f"log{number}"), "--after", str(bundles[-1])]
        bundles.append(folder / f"out{number}")
        assert main(["redo", *given, *how, "--out", str(bundles[-1])]) == code
    return bundles[1:]


def run(bundle: Path, database: sqlite3.Connection) -> None:
    for script in sorted(bundle.glob("*.sql")):
        database.executescript(script.read_text())


@pytest.mark.parametrize("behind", ["hold", "take"])
def test_a_script_stops_at_a_row_that_a_later_unit_changed(tmp_path: Path, behind: str) -> None:
    bundles = chain(tmp_path, "--dialect", "sqlite", "--behind-damage", behind)
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.execute("attach ':memory:' as testown")
    for one in ("stock", "other"):
        database.execute(f"create table testown.{one} (id integer primary key, v integer)")
    for bundle in bundles[:2]:
        run(bundle, database)
    if behind == "take":
        with pytest.raises(sqlite3.Error):
            run(bundles[2], database)
    else:
        run(bundles[2], database)
    rows = database.execute("select * from testown.stock order by id").fetchall()
    assert rows == [(1, 12), (2, 20)]


def test_bundles_go_on_whatever_they_come_upon(tmp_path: Path) -> None:
    bundles = chain(tmp_path, "--behind-damage", "take")
    assert [manifest(one)["options"]["where_columns"] for one in bundles] == ["key", "key", "guard"]
    more = LogBuilder((STOCK, OTHER))
    more.clock += 0x2000
    more.unit().insert(STOCK, (3, 30))
    given = [*words(tmp_path, more, "more"), "--after", str(bundles[-1]), "--gaps", "warn"]
    assert main(["redo", *given, "--out", str(tmp_path / "more-out")]) in (0, 4)
    assert manifest(tmp_path / "more-out")["options"]["where_columns"] == "key"
