"""Units that may depend on incomplete ones: released by proof only, from the log or from a state
beside it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.errors import InputError, TargetError
from replay.output.bundle import Bundle, write_bundle
from replay.output.initial_load import proof_in
from sqlgen.schema import Constraints, ForeignKey
from tests.support.history import CHILD, LOOSE, PARENT
from tests.support.logbuilder import ACCT, LogBuilder, Tab, Unit, acct

FK = Constraints(
    keys=(("TESTOWN.PARENT", ("CODE",)),),
    foreign_keys=(ForeignKey("FK", "TESTOWN.CHILD", ("PID",), "TESTOWN.PARENT"),),
)
#: A state: rows by table.
State = Mapping[str, Sequence[tuple[Any, ...]]]


class Suspects:
    """A log with an incomplete unit, and units that may depend on it. Units commit in the order in
    which they are made."""

    def __init__(self, *tables: Tab) -> None:
        self.log = LogBuilder(tables or (ACCT,))
        self.tables = tables or (ACCT,)
        self.bad = self.log.unit(INCOMPLETETRANS="Y")
        self.finished = False

    def flagged(self) -> Unit:
        return self.log.unit(INCOMPLETEDEP="Y")

    def finish(self) -> None:
        """The incomplete unit is in the log with a row of its own."""
        self.finished = True
        table = self.tables[0]
        rows: dict[str, tuple[Any, ...]] = {
            "ACCT": acct(999),
            "PARENT": (999, "ZZ", 0, 0),
            "LOOSE": ("z", 999),
        }
        self.bad.insert(table, rows[table.name])

    def redo(self, folder: Path, baseline: Any = None, **how: Any) -> Bundle:
        if not self.finished:
            self.finish()
        control, data = self.log.write(folder, seed=1)
        return replay.write_script(
            control,
            data,
            folder / "out",
            baseline=baseline,
            constraints=how.pop("constraints", None),
            mode=how.pop("mode", "redo"),
            options=ScriptOptions(how.pop("dialect", "postgres")),
            selection=Selection(**how),
            overwrite=True,
        )


def held(bundle: Bundle, suspects: Suspects) -> dict[str, str]:
    """Why units are set aside, without the incomplete one."""
    return {
        entry["unit"]: entry["reason"]
        for entry in bundle.manifest["quarantined_units"]
        if entry["unit"] != suspects.bad.name
    }


def unloaded(folder: Path, state: State) -> Path:
    """A state as a folder."""
    columns = {tab.name: [column.name for column in tab.columns] for tab in TABS}
    place = folder / "state"
    place.mkdir(exist_ok=True)
    for table, rows in state.items():
        lines = [columns[table], *rows]
        text = "".join(
            ",".join("" if value is None else str(value) for value in line) + "\n" for line in lines
        )
        (place / f"{table}.csv").write_text(text, encoding="utf-8")
    return place


def database(folder: Path, state: State) -> str:
    """A state as a SQLite database."""
    path = folder / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        for tab in TABS:
            names = ", ".join(
                column.name.lower() + " PRIMARY KEY" * (column.key == 1) for column in tab.columns
            )
            connection.execute(f"CREATE TABLE {tab.name.lower()} ({names})")
            for row in state.get(tab.name, ()):
                marks = ", ".join("?" for _ in row)
                connection.execute(f"INSERT INTO {tab.name} VALUES ({marks})", row)
        connection.commit()
    return f"sqlite:///{path}?schema=testown"


TABS = (ACCT, PARENT, CHILD, LOOSE)
STATES = (unloaded, database)


def test_a_row_that_the_log_mentions_for_the_first_time_proves_nothing(tmp_path: Path) -> None:
    suspects = Suspects()
    update, insert, built = suspects.flagged(), suspects.flagged(), suspects.log.unit()
    update.update(ACCT, acct(1), acct(1, "NEW"))
    insert.insert(ACCT, acct(2))
    built.delete(ACCT, acct(1, "NEW"))
    bundle = suspects.redo(tmp_path)
    reasons = held(bundle, suspects)
    assert set(reasons) == {update.name, insert.name, built.name}
    assert reasons[update.name] == (
        "LR3014 it may depend on an incomplete unit (INCOMPLETEDEP): nothing proves what its row"
        " was before the log, acct/1"
    )
    assert "that its key was free before the log, acct/2" in reasons[insert.name]
    assert reasons[built.name].startswith("LR3014 it depends on a unit that may depend on")
    balance = bundle.manifest["balance"]
    assert (balance["quarantined"], balance["quarantined_unproven"]) == (4, 3)
    assert bundle.manifest["quarantine"]["unproven"] == 3
    apart = json.loads((bundle.folder / "quarantine" / "manifest.json").read_text())
    assert [entry["unit"] for entry in apart["missing_inputs"]] == [suspects.bad.name]
    assert bundle.exit_code == 4


def test_what_the_log_left_proves_what_was_found(tmp_path: Path) -> None:
    suspects = Suspects()
    known, update, delete, insert = (
        suspects.log.unit(),
        suspects.flagged(),
        suspects.flagged(),
        suspects.flagged(),
    )
    known.insert(ACCT, acct(1))
    update.update(ACCT, acct(1), acct(1, "NEW"))
    delete.delete(ACCT, acct(1, "NEW"))
    insert.insert(ACCT, acct(1, "AGAIN"))
    bundle = suspects.redo(tmp_path)
    assert not held(bundle, suspects)
    assert bundle.manifest["quarantine"]["released"] == 3
    assert "quarantined_unproven" not in bundle.manifest["balance"]


def test_an_idle_update_of_a_flagged_unit_needs_no_proof_and_holds_nobody(tmp_path: Path) -> None:
    suspects = Suspects()
    idle, later = suspects.flagged(), suspects.log.unit()
    idle.update(ACCT, acct(1), acct(1))
    later.update(ACCT, acct(1), acct(1, "NEW"))
    assert not held(suspects.redo(tmp_path), suspects)


def test_a_unit_with_whole_and_damaged_images_of_a_row(tmp_path: Path) -> None:
    """No one form of the table is that of both."""
    suspects = Suspects()
    later = suspects.flagged()
    damaged = suspects.bad.update(ACCT, acct(1), acct(1, "ONE"))
    damaged.images[0] = damaged.images[0][:2]
    suspects.bad.update(ACCT, acct(1, "ONE"), acct(1, "TWO"))
    later.update(ACCT, acct(1, "TWO"), acct(1, "THREE"))
    assert set(held(suspects.redo(tmp_path), suspects)) == {later.name}


def test_rows_without_a_key_are_counted(tmp_path: Path) -> None:
    suspects = Suspects(LOOSE)
    known, one, two = suspects.log.unit(), suspects.flagged(), suspects.flagged()
    known.insert(LOOSE, ("a", 1))
    one.delete(LOOSE, ("a", 1))
    two.delete(LOOSE, ("a", 1))
    reasons = held(suspects.redo(tmp_path), suspects)
    assert set(reasons) == {two.name}
    assert "loose/(row without key)" in reasons[two.name]


@pytest.mark.parametrize(("there", "released"), [(0, False), (1, True)])
def test_a_state_has_the_rows_that_the_log_takes(
    tmp_path: Path, there: int, released: bool
) -> None:
    suspects = Suspects(LOOSE)
    known, one, two = suspects.log.unit(), suspects.flagged(), suspects.flagged()
    known.insert(LOOSE, ("a", 1))
    one.delete(LOOSE, ("a", 1))
    two.delete(LOOSE, ("a", 1))
    state = {"LOOSE": [("a", 1)] * there}
    for make in STATES:
        bundle = suspects.redo(tmp_path, make(tmp_path, state), dialect="sqlite")
        assert (two.name not in held(bundle, suspects)) == released


def test_a_state_releases_what_it_proves(tmp_path: Path) -> None:
    suspects = Suspects()
    same, other, gone, free, taken = (suspects.flagged() for _ in range(5))
    same.update(ACCT, acct(1, None), acct(1, "NEW"))
    other.update(ACCT, acct(2, "100%s"), acct(2, "NEW"))
    gone.delete(ACCT, acct(3))
    free.insert(ACCT, acct(4))
    taken.insert(ACCT, acct(5))
    state = {"ACCT": [acct(1, None), acct(2, "OTHER"), acct(5, "THERE")]}
    for make in STATES:
        bundle = suspects.redo(tmp_path, make(tmp_path, state), dialect="sqlite")
        assert set(held(bundle, suspects)) == {other.name, gone.name, taken.name}
        baseline = bundle.manifest["baseline"]
        assert (baseline["rows"], baseline["differing"]) == (6, 3)
        assert sorted(baseline["shown"]) == ["acct/2", "acct/3", "acct/5"]
        assert any("not in" in text and "acct/2" in text for text in bundle.manifest["warnings"])
    right = {"ACCT": [acct(1, None), acct(2, "100%s"), acct(3)]}
    (tmp_path / "state.db").unlink()
    for make in STATES:
        bundle = suspects.redo(tmp_path, make(tmp_path, right), dialect="sqlite")
        assert not held(bundle, suspects)
        assert bundle.manifest["baseline"]["differing"] == 0
        assert not bundle.manifest["warnings"]


def test_a_parent_must_be_there_and_a_deleted_one_alone(tmp_path: Path) -> None:
    suspects = Suspects(PARENT, CHILD)
    known = suspects.log.unit()
    refers, deletes, empty, unknown = (suspects.flagged() for _ in range(4))
    known.insert(PARENT, (1, "A", 0, 0))
    known.insert(PARENT, (2, "B", 0, 0))
    known.insert(CHILD, (10, 2, 0))
    known.delete(CHILD, (11, 3, 0))
    known.insert(CHILD, (12, None, 0))
    refers.update(CHILD, (12, None, 0), (12, 3, 0))
    deletes.delete(PARENT, (2, "B", 0, 0))
    empty.delete(PARENT, (1, "A", 0, 0))
    unknown.update(CHILD, (10, 2, 0), (10, 4, 0))
    reasons = held(suspects.redo(tmp_path, constraints=FK), suspects)
    assert set(reasons) == {deletes.name, unknown.name}
    assert "a record is missing" in reasons[deletes.name]
    assert "that the row it refers to was there before the log, parent/4" in reasons[unknown.name]
    assert not held(suspects.redo(tmp_path), suspects)


def test_a_state_knows_of_parents_children_and_other_keys(tmp_path: Path) -> None:
    suspects = Suspects(PARENT, CHILD)
    known = suspects.log.unit()
    refers, deletes, keeps, code, twice = (suspects.flagged() for _ in range(5))
    for number in (12, 13):
        known.insert(CHILD, (number, None, 0))
    refers.update(CHILD, (12, None, 0), (12, 4, 0))
    deletes.delete(PARENT, (1, "A", 0, 0))
    keeps.delete(PARENT, (2, "B", 0, 0))
    code.insert(PARENT, (7, "G", 0, 0))
    twice.insert(PARENT, (8, "D", 0, 0))
    state = {
        "PARENT": [(1, "A", 0, 0), (2, "B", 0, 0), (4, "D", 0, 0)],
        "CHILD": [(5, 2, 0), (6, 4, 0)],
    }
    for make in STATES:
        bundle = suspects.redo(tmp_path, make(tmp_path, state), constraints=FK, dialect="sqlite")
        reasons = held(bundle, suspects)
        assert set(reasons) == {keeps.name, twice.name}
        assert "that no row referred to its row any more, parent/2" in reasons[keeps.name]
        assert "its key was free before the log, parent/D" in reasons[twice.name]


def test_what_flags_pass_over_is_asked_of_a_state_or_said(tmp_path: Path) -> None:
    """Units without a flag, behind an incomplete one that may have changed references to a parent,
    or its key."""
    suspects = Suspects(PARENT, CHILD)
    known, left, alone, orphan, found = (suspects.log.unit() for _ in range(5))
    for number in (12, 13):
        known.insert(CHILD, (number, None, 0))
    left.delete(PARENT, (1, "A", 0, 0))
    alone.delete(PARENT, (2, "B", 0, 0))
    orphan.update(CHILD, (12, None, 0), (12, 9, 0))
    found.update(CHILD, (13, None, 0), (13, 4, 0))
    bundle = suspects.redo(tmp_path, constraints=FK)
    assert not held(bundle, suspects)
    said = " ".join(bundle.manifest["warnings"])
    assert "2 units of recovery deleted rows that others may refer to" in said
    assert left.name in said
    assert alone.name in said
    state = {"PARENT": [(1, "A", 0, 0), (2, "B", 0, 0), (4, "D", 0, 0)], "CHILD": [(5, 1, 0)]}
    for make in STATES:
        bundle = suspects.redo(tmp_path, make(tmp_path, state), constraints=FK, dialect="sqlite")
        reasons = held(bundle, suspects)
        assert set(reasons) == {left.name, orphan.name}
        assert "an incomplete unit commits before it" in reasons[left.name]
        assert "may refer to" not in " ".join(bundle.manifest["warnings"])


@pytest.mark.parametrize("flag", ["Y", "N"])
def test_what_a_target_has_already_is_not_counted_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str
) -> None:
    """A child was taken from its parent by a unit that the target has, another one by a unit that
    it lacks."""
    suspects = Suspects(PARENT, CHILD)
    before, after = suspects.log.unit(), suspects.log.unit()
    before.update(CHILD, (5, 1, 0), (5, 2, 0))
    after.delete(CHILD, (6, 1, 0))
    last = suspects.log.unit(INCOMPLETEDEP=flag)
    last.delete(PARENT, (1, "A", 0, 0))
    suspects.finish()
    control, data = suspects.log.write(tmp_path, seed=1)
    state = {"PARENT": [(1, "A", 0, 0), (2, "B", 0, 0)], "CHILD": [(5, 1, 0), (6, 1, 0)]}
    url = database(tmp_path, state)
    schema = tmp_path / "schema.sql"
    schema.write_text(
        "CREATE TABLE testown.parent (id integer PRIMARY KEY);"
        "CREATE TABLE testown.child (id integer PRIMARY KEY,"
        " pid integer REFERENCES testown.parent (id))"
    )
    words = ["replay", "--control", str(control), "--data", *map(str, data), "--engine", "local"]
    words += ["--to", url, "--schema", str(schema), "--apply"]
    until = before.more["UORCOMMITLRSN"].hex()
    assert main([*words, "--until-position", until]) == 4, capsys.readouterr()
    assert main(words) == 4, capsys.readouterr()
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        assert connection.execute("SELECT id FROM parent").fetchall() == [(2,)]
        assert connection.execute("SELECT id, pid FROM child").fetchall() == [(5, 2)]


def test_nothing_is_known_of_a_table_that_was_emptied(tmp_path: Path) -> None:
    suspects = Suspects(LOOSE, ACCT)
    empties, flagged = suspects.log.unit(), suspects.flagged()
    empties.event(ACCT, "DM")
    flagged.insert(ACCT, acct(1))
    reasons = held(suspects.redo(tmp_path), suspects)
    assert "LR3014" in reasons[flagged.name]
    assert "cannot be compared" in reasons[flagged.name]


def test_undo_and_whatif_compare_with_the_state_after_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = LogBuilder()
    one, two = log.unit(), log.unit()
    one.insert(ACCT, acct(1))
    one.insert(ACCT, acct(2))
    two.update(ACCT, acct(2), acct(2, "NEW"))
    two.delete(ACCT, acct(3))
    control, data = log.write(tmp_path, seed=1)
    words = [
        "--control",
        str(control),
        "--data",
        *map(str, data),
        "--engine",
        "local",
        "--schema",
        "none",
    ]
    for rows, code in (([acct(1), acct(2, "NEW")], 0), ([acct(2), acct(3)], 4)):
        folder = unloaded(tmp_path, {"ACCT": rows})
        given = [*words, "--baseline", str(folder)]
        assert main(["undo", *given, "--out", str(tmp_path / f"out{code}")]) == code
        manifest = json.loads((tmp_path / f"out{code}" / "manifest.json").read_text())
        assert manifest["baseline"]["rows"] == 3
        assert manifest["baseline"]["differing"] == (0 if code == 0 else 3)
        capsys.readouterr()
        assert main(["whatif", *given, "--ur", two.name, "--json"]) == code
        answer = json.loads(capsys.readouterr().out)
        assert answer["baseline"]["differing"] == (0 if code == 0 else 3)
    assert main(["redo", *words, "--baseline", str(folder), "--out", str(tmp_path / "redo")]) == 4
    shown = json.loads((tmp_path / "redo" / "manifest.json").read_text())["baseline"]
    assert (shown["differing"], shown["shown"]) == (1, ["acct/2"])


def test_a_log_that_contradicts_itself_is_told_of_where_the_graph_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = LogBuilder()
    one, two = log.unit(), log.unit()
    one.insert(ACCT, acct(1))
    two.update(ACCT, acct(1, "DAMAGED"), acct(1, "NEW"))
    control, data = log.write(tmp_path, seed=1)
    bundle = replay.write_script(
        control,
        data,
        tmp_path / "out",
        mode="undo",
        constraints=Constraints(complete=True),
        selection=Selection(units=(two.key,)),
    )
    (warning,) = bundle.manifest["warnings"]
    assert warning.startswith("1 change found their row other than the one before in the log")
    assert bundle.exit_code == 4
    words = ["--control", str(control), "--data", *map(str, data), "--engine", "local"]
    assert main(["whatif", *words, "--schema", "none", "--ur", two.name]) == 4
    assert "logreplay check names them" in capsys.readouterr().err


def test_a_state_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    suspects = Suspects()
    suspects.flagged().insert(ACCT, acct(1))
    with pytest.raises(InputError, match="LR2001"):
        suspects.redo(tmp_path, tmp_path / "nowhere")
    path = tmp_path / "empty.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (c)")
    with pytest.raises(TargetError, match=r"LR4002.*testown\.acct"):
        suspects.redo(tmp_path, f"sqlite:///{path}?schema=testown", dialect="sqlite")


@pytest.mark.parametrize("amount", ["ID", "BAL"])
def test_a_database_is_asked_by_the_names_of_a_mapping(tmp_path: Path, amount: str) -> None:
    """What the target does not have of a row proves nothing against it."""
    suspects = Suspects()
    same, other = suspects.flagged(), suspects.flagged()
    same.update(ACCT, acct(1), acct(1, "NEW"))
    other.update(ACCT, acct(2), acct(2, "NEW"))
    suspects.finish()
    control, data = suspects.log.write(tmp_path, seed=1)
    mapping = tmp_path / "map.toml"
    left_out = "" if amount == "ID" else 'exclude = ["BAL"]\n'
    mapping.write_text(
        f'[tables."TESTOWN.ACCT"]\nname = "account"\ncolumns = {{ ID = "number" }}\n{left_out}'
    )
    url = database(tmp_path, {"ACCT": [acct(1), acct(2, "OTHER")]})
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        connection.execute("ALTER TABLE acct RENAME TO account")
        connection.execute("ALTER TABLE account RENAME COLUMN id TO number")
        if left_out:
            connection.execute("ALTER TABLE account DROP COLUMN bal")
    with replay.open_log(control=control, data=data) as opened:
        scripts = opened.select().redo(
            "sqlite", mapping=mapping, baseline=url, schema=Constraints()
        )
        found = held(scripts.write(tmp_path / "out"), suspects)
    assert set(found) == {other.name}


def test_a_replay_takes_its_target_as_the_baseline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suspects = Suspects()
    same, other = suspects.flagged(), suspects.flagged()
    same.update(ACCT, acct(1), acct(1, "NEW"))
    other.update(ACCT, acct(2), acct(2, "NEW"))
    suspects.finish()
    control, data = suspects.log.write(tmp_path, seed=1)
    url = database(tmp_path, {"ACCT": [acct(1), acct(2, "OTHER")]})
    words = [
        "replay",
        "--control",
        str(control),
        "--data",
        *map(str, data),
        "--engine",
        "local",
        "--to",
        url,
    ]
    for _ in range(2):  # what is applied is not asked about again
        assert main([*words, "--apply"]) == 4, capsys.readouterr()
        with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
            rows = connection.execute("SELECT name FROM acct ORDER BY id").fetchall()
        assert rows == [("NEW",), ("OTHER",)]


@pytest.mark.parametrize("missing", ["ACCT", "LOOSE"])
def test_a_table_without_a_file_proves_nothing(tmp_path: Path, missing: str) -> None:
    """Neither that a row is there nor that a key is free is known of a table that a state lacks,
    where states may lack some."""
    suspects = Suspects(ACCT, LOOSE)
    free, there, loose = (suspects.flagged() for _ in range(3))
    free.insert(ACCT, acct(1))
    there.update(ACCT, acct(2), acct(2, "NEW"))
    loose.delete(LOOSE, ("a", 1))
    suspects.finish()
    control, data = suspects.log.write(tmp_path, seed=1)
    state = {"ACCT": [acct(2)], "LOOSE": [("a", 1)]}
    folder = unloaded(tmp_path, {name: rows for name, rows in state.items() if name != missing})
    with replay.open_log(control=control, data=data) as opened:
        request = opened.select().redo("sqlite", schema=Constraints()).request
        bundle = write_bundle(
            request.plan(), request.log, tmp_path / "out", opened.engine,
            state=proof_in(folder, request.log),
        )  # fmt: skip
    unknown = {"ACCT": {free.name, there.name}, "LOOSE": {loose.name}}[missing]
    assert set(held(bundle, suspects)) == unknown
    assert "baseline" not in bundle.manifest


def test_a_migration_takes_its_initial_state_as_the_baseline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suspects = Suspects()
    same, other = suspects.flagged(), suspects.flagged()
    same.update(ACCT, acct(1), acct(1, "NEW"))
    other.update(ACCT, acct(2), acct(2, "NEW"))
    suspects.finish()
    control, data = suspects.log.write(tmp_path, seed=1)
    folder = unloaded(tmp_path, {"ACCT": [acct(1), acct(2, "OTHER")]})
    words = ["migrate", "--control", str(control), "--data", *map(str, data)]
    assert main([*words, "--initial", str(folder), "--out", str(tmp_path / "out")]) == 4
    manifest = json.loads((tmp_path / "out" / "30-redo" / "manifest.json").read_text())
    aside = {entry["unit"] for entry in manifest["quarantined_units"]}
    assert aside == {suspects.bad.name, other.name}
    assert "LR3014" in capsys.readouterr().out


@pytest.mark.parametrize("flag", ["INCOMPLETETRANS", "INCOMPLETEDEP"])
@pytest.mark.parametrize("mode", ["redo", "undo", "export"])
def test_what_is_chosen_is_judged_as_in_the_whole_log(mode: str, flag: str, tmp_path: Path) -> None:
    """A unit without a flag that builds on one that stays out stays out, also where no change of a
    flagged unit is chosen."""
    log = LogBuilder((PARENT, CHILD))
    first = log.unit(**{flag: "Y"})
    first.update(PARENT, (1, "A", 0, 0), (1, "A", 1, 0))
    later = log.unit()
    later.update(PARENT, (1, "A", 1, 0), (1, "A", 2, 0))
    later.insert(CHILD, (7, 1, 0))
    control, data = log.write(tmp_path)
    for number, chosen in enumerate(([], ["--ur", later.name], ["--table", "*.CHILD"])):
        out = tmp_path / str(number)
        words = ["--control", str(control), "--data", *map(str, data), "--out", str(out)]
        assert main([mode, *words, *chosen, "--schema", "none"]) == 4
        manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
        aside = {entry["unit"] for entry in manifest["quarantined_units"]}
        assert later.name in aside, (first.name, chosen)
        assert manifest["balance"]["emitted"] == 0
